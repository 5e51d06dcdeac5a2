//! Events of lanes and reporter for the spectators of a run.
//!
//! Neither waits for the receiver. Events that it has not taken yet are merged: one step per match with
//! everything that happened since. Results wait as long as it takes; they are small. Their records are left
//! out beyond [`MOST_BYTES`].

use std::collections::BTreeMap;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use referee_game::erased::{Rules, Table};
use referee_game::{Meta, Viewer};
use referee_match::{Faults, GivenInfo, Match};
use referee_protocol::referee::Clock;
use tokio::sync::mpsc;

use crate::runner::fixture::Fixture;
use crate::runner::run_event::EndedMatch;

/// The maximum number of matches in progress whose positions are passed on.
pub const MOST_BOARDS: usize = 64;
/// The maximum number of steps of a match that wait for the receiver. Later positions are merged into the last one.
const MOST_STEPS: usize = 32;
/// The maximum size of the records that wait for the receiver, in bytes.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The part of a match that is public from its beginning.
#[derive(Debug)]
pub struct LiveHeader {
    pub id: String,
    pub game: &'static Meta,
    /// The name and the number of the side, by seat.
    pub seats: Vec<(String, u8)>,
    /// The clock of seats without their own clock.
    pub clock: Option<Clock>,
    pub began_at: SystemTime,
    pub visibility: Visibility,
}

/// Parts of a match in progress that spectators see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The public positions.
    Live,
    /// No positions before the set is complete: other matches of the deal would reveal its chance or secrets.
    Held,
    /// No positions before the end of the match: [`MOST_BOARDS`] others are shown.
    Crowded,
}

/// A position and the steps to it.
#[derive(Debug)]
pub struct LiveStep {
    /// The position. The receiver shows the view of the feed's viewer.
    pub table: Box<dyn Table>,
    /// The events as the viewer of the feed sees them, one JSON object per line.
    pub events: Vec<u8>,
    /// `info` of bots since the step before. Empty unless the feed passes it on, and in games with hidden
    /// information, since it may tell secrets.
    pub infos: Vec<GivenInfo>,
    /// By seat: the faults so far.
    pub faults: Vec<Faults>,
    /// By seat: the time in the bank, in milliseconds; `None` without a clock.
    pub banks_ms: Vec<Option<u64>>,
}

impl LiveStep {
    /// Joins this step to the one before it.
    #[must_use]
    pub fn after(self, earlier: LiveStep) -> LiveStep {
        let mut events = earlier.events;
        events.extend_from_slice(&self.events);
        let mut infos = earlier.infos;
        infos.extend(self.infos);
        LiveStep { events, infos, ..self }
    }
}

#[derive(Debug)]
pub enum LiveEvent {
    /// A match has begun, or has a new position.
    Moved(Arc<LiveHeader>, Option<LiveStep>),
    Ended(Box<EndedMatch>),
}

/// Events that wait for the receiver.
#[derive(Debug, Default)]
struct LiveBacklog {
    /// By match: what has happened since the receiver took its last position, in [`MOST_STEPS`] steps at most.
    moved: BTreeMap<String, (Arc<LiveHeader>, Vec<LiveStep>)>,
    ended: Vec<EndedMatch>,
    /// The size of the records in `ended`.
    bytes: usize,
}

impl LiveBacklog {
    fn moved(&mut self, header: &Arc<LiveHeader>, step: Option<LiveStep>) {
        let (_, waiting) =
            self.moved.entry(header.id.clone()).or_insert_with(|| (header.clone(), Vec::new()));
        if let Some(step) = step {
            let earlier = if waiting.len() < MOST_STEPS { None } else { waiting.pop() };
            waiting.push(match earlier {
                Some(earlier) => step.after(earlier),
                None => step,
            });
        }
    }

    fn ended(&mut self, mut end: EndedMatch) {
        let size = end.record.len();
        if self.bytes + size > MOST_BYTES {
            end.record = Vec::new();
            // The last positions of the match are part of its replay.
            if let Some((_, steps)) = self.moved.get_mut(&end.finished.id) {
                steps.clear();
            }
        } else {
            self.bytes += size;
        }
        self.ended.push(end);
    }
}

fn lock(backlog: &Mutex<LiveBacklog>) -> MutexGuard<'_, LiveBacklog> {
    backlog.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sender of a run's events.
#[derive(Clone, Debug)]
pub struct LiveFeed {
    backlog: Arc<Mutex<LiveBacklog>>,
    wake: mpsc::Sender<()>,
    /// The number of matches in progress whose positions are passed on.
    boards: Arc<AtomicUsize>,
    viewer: Viewer,
    /// Whether the `info` of bots is passed on.
    has_infos: bool,
}

/// The receiver of a run's events.
#[derive(Debug)]
pub struct LiveReceiver {
    backlog: Arc<Mutex<LiveBacklog>>,
    wake: mpsc::Receiver<()>,
}

/// A feed of events as this viewer sees them, and its receiver. `has_infos`: whether the `info` of bots is
/// passed on.
pub fn live_feed(viewer: Viewer, has_infos: bool) -> (LiveFeed, LiveReceiver) {
    let (wake, woken) = mpsc::channel(1);
    let backlog = Arc::<Mutex<LiveBacklog>>::default();
    let receiver = LiveReceiver { backlog: backlog.clone(), wake: woken };
    (LiveFeed { backlog, wake, boards: Arc::default(), viewer, has_infos }, receiver)
}

impl LiveReceiver {
    /// The events since the last call, as soon as there are some: matches that have ended, each with its last positions and its
    /// end, then the positions of the others. `None` once the feed and its clones are dropped and nothing is left.
    pub async fn next(&mut self) -> Option<Vec<LiveEvent>> {
        let woken = self.wake.recv().await;
        let events = self.take();
        (woken.is_some() || !events.is_empty()).then_some(events)
    }

    /// The events since the last call.
    pub(crate) fn take(&self) -> Vec<LiveEvent> {
        let LiveBacklog { mut moved, ended, .. } = mem::take(&mut *lock(&self.backlog));
        let of_match = |(header, steps): (Arc<LiveHeader>, Vec<LiveStep>)| {
            let begun = steps.is_empty().then(|| LiveEvent::Moved(header.clone(), None));
            let steps = steps.into_iter().map(move |step| LiveEvent::Moved(header.clone(), Some(step)));
            begun.into_iter().chain(steps)
        };
        let mut events = Vec::new();
        // Interleaved with the ends, the matches do not all seem to be in progress at the same time.
        for end in ended {
            events.extend(moved.remove(&end.finished.id).into_iter().flat_map(of_match));
            events.push(LiveEvent::Ended(Box::new(end)));
        }
        events.extend(moved.into_values().flat_map(of_match));
        events
    }
}

impl LiveFeed {
    /// Passes on the end of a match. Its record is on the disk if the run keeps records. Never blocks.
    pub(crate) fn end(&self, ended: EndedMatch) {
        self.send(|backlog| backlog.ended(ended));
    }

    fn send(&self, change: impl FnOnce(&mut LiveBacklog)) {
        change(&mut lock(&self.backlog));
        // If it is full, the receiver is about to take everything. If it is closed, the server has failed, and the run
        // continues.
        let _ = self.wake.try_send(());
    }

    pub(super) fn viewer(&self) -> Viewer {
        self.viewer
    }

    pub(super) fn visibility(&self, rules: &dyn Rules, fixture: &Fixture) -> Visibility {
        if fixture.is_held(rules.meta()) {
            Visibility::Held
        } else if self.boards.load(Ordering::Relaxed) >= MOST_BOARDS {
            Visibility::Crowded
        } else {
            Visibility::Live
        }
    }

    /// Passes on the beginning of a match.
    pub(super) fn open(&self, play: &Match, visibility: Visibility) -> LiveMatch {
        let header = &play.setup().header;
        let header = Arc::new(LiveHeader {
            id: header.r#match.clone(),
            game: play.table().meta(),
            seats: header.seats.iter().map(|seat| (seat.name.clone(), seat.team)).collect(),
            clock: header.clock,
            began_at: began_at(play),
            visibility,
        });
        if visibility == Visibility::Live {
            self.boards.fetch_add(1, Ordering::Relaxed);
        } else {
            self.send(|backlog| backlog.moved(&header, None));
        }
        let mut opened = LiveMatch { feed: self.clone(), header };
        opened.show(play, &[], Vec::new());
        opened
    }
}

/// Dates the opening of a match: one that goes on after a restart has taken some time before.
#[expect(clippy::disallowed_methods, reason = "the beginning is dated, but no result depends on it")]
fn began_at(play: &Match) -> SystemTime {
    let took = Duration::from_micros(play.now().0.saturating_add(play.paused()));
    let now = SystemTime::now();
    now.checked_sub(took).unwrap_or(now)
}

/// A match in progress that has spectators.
#[derive(Debug)]
pub(super) struct LiveMatch {
    feed: LiveFeed,
    header: Arc<LiveHeader>,
}

impl LiveMatch {
    /// Passes on the position after these events and the `info` of bots since. Never blocks.
    pub(super) fn show(&mut self, play: &Match, events: &[u8], mut infos: Vec<GivenInfo>) {
        if self.header.visibility == Visibility::Live {
            if !self.feed.has_infos || self.header.game.hidden {
                infos.clear();
            }
            let step = step(play, events.to_vec(), infos);
            self.feed.send(|backlog| backlog.moved(&self.header, Some(step)));
        }
    }
}

impl Drop for LiveMatch {
    fn drop(&mut self) {
        if self.header.visibility == Visibility::Live {
            self.feed.boards.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn step(play: &Match, events: Vec<u8>, infos: Vec<GivenInfo>) -> LiveStep {
    let seats = play.setup().seating.all();
    LiveStep {
        table: play.table().fork(),
        events,
        infos,
        faults: seats.iter().map(|seat| play.faults(seat)).collect(),
        banks_ms: seats.iter().map(|seat| play.bank_ms(seat)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use referee_game::clock::Tick;
    use referee_game::{Seat, Turn};
    use referee_match::{Event, Leg, Opening, Stamp};
    use referee_protocol::referee::{Clock, Reveal};
    use referee_stats::Cause;
    use serde_json::{Value, json};

    use super::*;
    use crate::driver::match_of_checkers;
    use crate::runner::fixture::Wait;
    use crate::runner::run_event::aborted;

    const SEATS: [Seat; 2] = [Seat(0), Seat(1)];

    /// A match of checkers in which both are ready.
    fn checkers() -> Match {
        let clock = Clock { delay_ms: 100, bank_ms: 1000, increment_ms: 10 };
        let (setup, table) = match_of_checkers(Some(clock), true);
        let mut play = Match::open(setup, table);
        for seat in SEATS {
            play.poll_transmit(seat, Stamp { at: Tick(0), lag: 0 });
        }
        play
    }

    fn handle(play: &mut Match, event: Event<'_>) {
        let now = Stamp { at: Tick(0), lag: 0 };
        play.handle(now, event);
        for seat in SEATS {
            play.poll_transmit(seat, now);
        }
    }

    fn fixture() -> Fixture {
        Fixture {
            id: "m1".to_owned(),
            deal: None,
            leg: Leg::Only,
            options: Arc::from(serde_json::value::to_raw_value(&json!({})).expect("JSON")),
            opening: Arc::new(Opening::None),
            bots: vec![0, 1],
            wait: Wait::Always,
            secret: None,
        }
    }

    /// Plays the first legal move. Returns it and the events.
    fn moved(play: &mut Match) -> (String, Vec<u8>) {
        let mut table = play.table().fork();
        let Turn::Decide(decision) = table.ask() else { panic!("the match is over") };
        let seat = decision.seats().iter().next().expect("a seat");
        let text = table.text(&decision, seat, 0).to_owned();
        let turn = play.open_request(seat).expect("an open request");
        handle(play, Event::Answer { seat, turn: turn.into(), text: &text, offer_draw: false, info: None });
        (text, mem::take(play.news()))
    }

    /// The moves in the events of a step.
    fn moves(step: &LiveStep) -> Vec<String> {
        let lines = step.events.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let events = lines.map(|line| serde_json::from_slice::<Value>(line).expect("JSON"));
        let moves = events.filter(|event| event["kind"] == "move");
        moves.map(|event| event["move"].as_str().expect("a move").to_owned()).collect()
    }

    /// The steps that the receiver gets now.
    fn received(queue: &LiveReceiver) -> Vec<LiveStep> {
        let step = |event| match event {
            LiveEvent::Moved(_, step) => step,
            LiveEvent::Ended(_) => None,
        };
        queue.take().into_iter().filter_map(step).collect()
    }

    #[test]
    fn positions_beyond_those_that_may_wait_are_merged() {
        let (feed, queue) = live_feed(Viewer::Public, false);
        let (mut play, mut played) = (checkers(), Vec::new());
        let mut live = feed.open(&play, Visibility::Live);
        assert_eq!(received(&queue).len(), 1);
        for _ in 0..MOST_STEPS + 8 {
            let (text, events) = moved(&mut play);
            played.push(text);
            live.show(&play, &events, Vec::new());
        }
        let steps = received(&queue);
        assert_eq!(steps.len(), MOST_STEPS);
        assert_eq!(steps.iter().flat_map(moves).collect::<Vec<_>>(), played);
        let last = &steps[MOST_STEPS - 1];
        assert_eq!(moves(last).len(), 9, "the last step has everything since");
        let view = |table: &dyn Table| table.view(Viewer::Public).unwrap();
        assert_eq!(view(&*last.table), view(play.table()), "the step shows the latest position");
        assert!(received(&queue).is_empty());
    }

    fn ended(number: usize) -> EndedMatch {
        let id = format!("m{number}");
        EndedMatch {
            fixture: Fixture { id: id.clone(), ..fixture() },
            finished: aborted(&id, Cause::Interrupted),
            record: vec![0; 20_000],
            seal: None,
            reveal: Reveal {
                seed: String::new(),
                salt: String::new(),
                deal: "m1".to_owned(),
                nonces: Vec::new(),
            },
            no_show: None,
        }
    }

    #[test]
    fn results_pass_idle_receiver_and_records_are_left_out() {
        const MATCHES: usize = 5000;
        let (feed, queue) = live_feed(Viewer::Public, false);
        for number in 0..MATCHES {
            feed.end(ended(number));
        }
        let mut bytes = 0;
        let events = queue.take();
        assert_eq!(events.len(), MATCHES);
        for event in events {
            let LiveEvent::Ended(end) = event else { panic!("{event:?}") };
            bytes += end.record.len();
        }
        assert!((MOST_BYTES - 20_000..=MOST_BYTES).contains(&bytes), "{bytes}");
    }
}
