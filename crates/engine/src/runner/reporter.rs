//! Stores records and reports events, on a thread of its own. Neither a slow disk nor a slow reader blocks a lane or
//! the runner.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use referee_match::Match;
use referee_match::record::{self, BotLine};
use referee_results::last_lines;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use crate::runner::bots::BotUsage;
use crate::runner::common::RunContext;
use crate::runner::lane_messages::{EndedOnLane, ReportEvent};
use crate::runner::record_sink::RecordSink;
use crate::runner::run_event::{EndedMatch, Halt, NoShow, RunEvent};
use crate::runner::scheduler::SharedScheduler;
use referee_game::Wrong;

/// Describes the news of a match as text.
pub type Watch = Box<dyn FnMut(&Match, &[u8]) -> String + Send>;

/// The maximum number of records that are synchronized at once.
const BATCH: usize = 64;
/// The time for which the record of a match waits for others to be synchronized with it. The disk is slow,
/// whether one record or many are written.
const SYNC_WINDOW: Duration = Duration::from_millis(20);

/// Stores records and reports events.
pub(super) struct Reporter<F> {
    common: Arc<RunContext>,
    schedule: SharedScheduler,
    record_sink: RecordSink<F>,
    /// The sizes in the backlog of matches that are not reported yet.
    unreported: Vec<usize>,
    /// The number of bytes of news that have not been reported yet.
    queued: Arc<AtomicUsize>,
    halts: UnboundedSender<Halt>,
}

impl<F: FnMut(RunEvent<'_>) -> Result<(), Halt>> Reporter<F> {
    pub(super) fn new(
        common: Arc<RunContext>,
        schedule: SharedScheduler,
        record_sink: RecordSink<F>,
        queued: Arc<AtomicUsize>,
        halts: UnboundedSender<Halt>,
    ) -> Reporter<F> {
        Reporter { common, schedule, record_sink, unreported: Vec::new(), queued, halts }
    }

    /// Handles events until the run is over.
    pub(super) fn work(mut self, reports: Receiver<ReportEvent>) {
        let mut is_over = false;
        while !is_over && let Ok(report) = reports.recv() {
            // A single synchronization covers all matches that end within a moment.
            let until =
                Instant::now() + if self.record_sink.is_durable() { SYNC_WINDOW } else { Duration::ZERO };
            let mut next = Some(report);
            while let Some(report) = next {
                is_over = matches!(report, ReportEvent::Over { .. });
                let taken = self.take(report);
                self.halt_unless_ok(taken);
                let left = until.saturating_duration_since(Instant::now());
                next = if is_over || self.record_sink.len() >= BATCH {
                    None
                } else if self.record_sink.is_empty() || left.is_zero() {
                    reports.try_recv().ok()
                } else {
                    reports.recv_timeout(left).ok()
                };
            }
            let settled = self.settle();
            self.halt_unless_ok(settled);
        }
    }

    fn halt_unless_ok(&self, result: Result<(), Halt>) {
        if let Err(halt) = result {
            // The runner has ended if the run is failing.
            let _ = self.halts.send(halt);
        }
    }

    fn take(&mut self, report: ReportEvent) -> Result<(), Halt> {
        match report {
            ReportEvent::Listening(address) => self.record_sink.emit(RunEvent::Listening(address)),
            ReportEvent::Waiting(name) => self.record_sink.emit(RunEvent::Waiting(&name)),
            ReportEvent::Connected(name) => self.record_sink.emit(RunEvent::Connected(&name)),
            ReportEvent::Moved(text) => {
                let reported = self.record_sink.emit(RunEvent::Moved(&text));
                self.queued.fetch_sub(text.len(), Ordering::Relaxed);
                reported
            }
            ReportEvent::Ended(ended) => self.keep(*ended),
            // A complete run does not continue its incomplete sets.
            ReportEvent::Over { is_complete } => {
                let settled = self.settle();
                let closed = self.record_sink.close(is_complete && settled.is_ok());
                settled.and(closed)
            }
        }
    }

    /// Writes the record of a match that has ended.
    fn keep(&mut self, ended: EndedOnLane) -> Result<(), Halt> {
        let EndedOnLane { fixture, mut finished, record, reveal, malformed, bots, mut no_show } = ended;
        let bytes = record.len();
        let mut record = record.text();
        let bots: Vec<BotLine> = bots.into_iter().map(BotUsage::complete).collect();
        if let Some(NoShow { seat, why, .. }) = &mut no_show
            && let Some(stderr) = last_lines(&bots[seat.index()].stderr)
        {
            why.push('\n');
            why.push_str(&stderr);
        }
        let stderr: Vec<&str> = bots.iter().map(|bot| &*bot.stderr).collect();
        let added = finished.add_evidence(&record, &malformed, &stderr);
        added.map_err(|difference| Wrong::at(format!("the record of {}", finished.id), difference))?;
        let is_started = |&entrant: &usize| self.common.bots.get(entrant).source.is_started();
        let has_news = fixture.bots.iter().any(is_started) || bots.iter().any(|bot| !bot.outages.is_empty());
        let restarts = finished.rules_restarts;
        if (self.common.describes_bots && has_news) || restarts > 0 {
            record::add_bots(&mut record, &bots, restarts);
        }
        let ended = EndedMatch { fixture, finished, record, seal: None, reveal, no_show };
        self.record_sink.keep(ended).inspect_err(|_| self.schedule.reported(bytes))?;
        self.unreported.push(bytes);
        Ok(())
    }

    /// Synchronizes the records, then reports the matches that have ended.
    fn settle(&mut self) -> Result<(), Halt> {
        let settled = self.record_sink.settle();
        self.unreported.drain(..).for_each(|bytes| self.schedule.reported(bytes));
        settled
    }
}

/// The maximum number of bytes of news that wait to be reported. Further news is dropped.
const MOST_QUEUED: usize = 16 * 1024 * 1024;

/// Sends the news of a watched match to the reporter.
pub(super) struct WatchFeed {
    watch: Watch,
    reports: Sender<ReportEvent>,
    queued: Arc<AtomicUsize>,
    /// The number of dropped texts since the last one that was sent.
    left_out: u32,
}

impl WatchFeed {
    pub(super) fn new(watch: Watch, reports: Sender<ReportEvent>, queued: Arc<AtomicUsize>) -> WatchFeed {
        WatchFeed { watch, reports, queued, left_out: 0 }
    }

    /// Reports the news of a match. Never blocks on a slow reader.
    pub(super) fn show(&mut self, play: &Match, news: &[u8]) {
        let text = (self.watch)(play, news);
        let is_over = play.ending().is_some();
        let has_room = self.queued.load(Ordering::Relaxed) + text.len() <= MOST_QUEUED;
        if !has_room {
            self.left_out += 1;
        }
        if self.left_out > 0 && (has_room || is_over) {
            let times = mem::take(&mut self.left_out);
            self.send(format!("({times} updates dropped: the reader is too slow)\n\n"));
        }
        if has_room {
            self.send(text);
        }
    }

    fn send(&self, text: String) {
        self.queued.fetch_add(text.len(), Ordering::Relaxed);
        // The channel is closed if the run is failing.
        let _ = self.reports.send(ReportEvent::Moved(text));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::driver::match_of_checkers;

    #[test]
    fn news_that_slow_reader_cannot_take_is_dropped_and_counted() {
        let (reports, received) = channel();
        let queued = Arc::<AtomicUsize>::default();
        let half = "x".repeat(MOST_QUEUED / 2);
        let watch: Watch = Box::new(move |_, _| half.clone());
        let mut watched = WatchFeed::new(watch, reports, queued.clone());
        let (setup, table) = match_of_checkers(None, true);
        let play = Match::open(setup, table);
        let next = || match received.try_recv() {
            Ok(ReportEvent::Moved(text)) => Some(text),
            _ => None,
        };
        for _ in 0..5 {
            watched.show(&play, b"");
        }
        let read: usize = [next(), next()].iter().flatten().map(String::len).sum();
        assert_eq!((read, next()), (MOST_QUEUED, None), "the rest is dropped");
        queued.fetch_sub(read, Ordering::Relaxed);
        watched.show(&play, b"");
        assert!(next().unwrap().starts_with("(3 updates "));
        assert_eq!(next().unwrap().len(), MOST_QUEUED / 2);
    }
}
