//! Time use, computed from the records.
//!
//! The time of an answer is `took_us` less the referee's own `lag_us`: the time of the bot itself. A late answer
//! counts with its time, a missing one with the time until the limit.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::core::MAX_SEATS;
use crate::server::Roster;
use crate::store::{read_regular, unsealed};

/// A record and its entrants by seat.
pub(super) struct Recorded {
    pub(super) file: String,
    pub(super) lineup: Vec<u16>,
}

/// The time use of an entrant. Times have a precision of 0.1%.
#[derive(Clone, Debug, Serialize)]
pub struct Timed {
    /// The number of requests that it answered or let pass.
    pub answers: u64,
    /// Half of the answers took at most this long, in microseconds.
    pub p50_us: u64,
    /// 99 of 100 answers took at most this long, in microseconds.
    pub p99_us: u64,
    /// The longest, in microseconds.
    pub max_us: u64,
}

/// The delays caused by the referee itself.
#[derive(Clone, Debug, Serialize)]
pub struct Lag {
    /// 99 of 100 answers waited at most this long, in microseconds.
    pub p99_us: u64,
    /// The longest, in microseconds.
    pub max_us: u64,
}

/// Suspensions of the referee, during which no limit ran.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Paused {
    /// Attempts at matches with a suspension.
    pub matches: u32,
    /// The longest suspension in an attempt, in microseconds.
    pub longest_us: u64,
}

impl Paused {
    fn add(&mut self, other: &Paused) {
        self.matches += other.matches;
        self.longest_us = self.longest_us.max(other.longest_us);
    }
}

/// The timing data of the records.
#[derive(Debug)]
pub struct Timing {
    /// By entrant; `None` if no answer was read.
    pub entrants: Vec<Option<Timed>>,
    /// By bot, including each bot of a team.
    pub bots: Vec<Option<Timed>>,
    /// `None` if no answer was read.
    pub lag: Option<Lag>,
    /// `None` if the referee was never suspended.
    pub paused: Option<Paused>,
    /// Records that could not be read.
    pub unread: u32,
}

/// The counts of a reader thread.
struct Reading {
    thought: Vec<Histogram<u64>>,
    lag: Histogram<u64>,
    paused: Paused,
    unread: u32,
}

/// The record lines with timing data.
#[derive(Deserialize)]
struct Line<'a> {
    r#type: &'a str,
    seat: u8,
    turn: Option<u32>,
    #[serde(borrow)]
    code: Option<&'a str>,
    took_us: Option<u64>,
    #[serde(default)]
    lag_us: u64,
}

/// A suspension of the referee.
#[derive(Deserialize)]
struct Pause {
    paused_us: u64,
}

/// With a precision of three digits.
fn histogram() -> Histogram<u64> {
    Histogram::new(3).unwrap_or_else(|error| unreachable!("{error}"))
}

impl Reading {
    fn new(entrants: usize) -> Reading {
        Reading {
            thought: (0..entrants).map(|_| histogram()).collect(),
            lag: histogram(),
            paused: Paused::default(),
            unread: 0,
        }
    }

    fn add(&mut self, record: &[u8], lineup: &[u16]) {
        let mut answered = [None; MAX_SEATS];
        let kinds: [&[u8]; 3] =
            [br#"{"type":"answer","#, br#"{"type":"accept_draw","#, br#"{"type":"fault","#];
        let mut paused_us = 0;
        for text in record.split(|&byte| byte == b'\n') {
            if text.starts_with(br#"{"type":"pause","#)
                && let Ok(pause) = serde_json::from_slice::<Pause>(text)
            {
                paused_us = pause.paused_us.saturating_add(paused_us);
            }
            if !kinds.iter().any(|kind| text.starts_with(kind)) {
                continue;
            }
            let Ok(line) = serde_json::from_slice::<Line<'_>>(text) else { continue };
            let seat = usize::from(line.seat);
            let Some(&entrant) = lineup.get(seat) else { continue };
            let entrant = usize::from(entrant);
            if entrant >= self.thought.len() || seat >= MAX_SEATS {
                continue;
            }
            let is_fault = line.r#type == "fault";
            let is_time_out = is_fault && line.code == Some("timeout");
            // A late answer has its own line before that of its fault.
            let is_told = line.turn.is_some() && line.turn == answered[seat];
            if let Some(took) = line.took_us
                && (!is_fault || (is_time_out && !is_told))
            {
                // The histogram resizes as needed.
                let _ = self.thought[entrant].record(took.saturating_sub(line.lag_us));
                let _ = self.lag.record(line.lag_us);
                answered[seat] = line.turn;
            }
        }
        if paused_us > 0 {
            self.paused.add(&Paused { matches: 1, longest_us: paused_us });
        }
    }

    fn merge(&mut self, other: &Reading) {
        for (own, other) in self.thought.iter_mut().zip(&other.thought) {
            let _ = own.add(other);
        }
        let _ = self.lag.add(&other.lag);
        self.paused.add(&other.paused);
        self.unread += other.unread;
    }
}

impl Timing {
    /// Reads records in a directory, on all CPUs. `tick` receives the number of records that have been read, and the
    /// total.
    pub(super) fn of(
        folder: &Path,
        records: &[Recorded],
        roster: &Roster,
        tick: impl Fn(u64, u64) + Sync,
    ) -> Timing {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let all = Mutex::new(Reading::new(roster.len()));
        let read = || {
            let mut own = Reading::new(roster.len());
            while let Some(Recorded { file, lineup }) = records.get(next.fetch_add(1, Ordering::Relaxed)) {
                let path = folder.join(file);
                match read_regular(&path).or_else(|_| read_regular(&unsealed(&path))) {
                    Ok(record) => own.add(&record, lineup),
                    Err(_) => own.unread += 1,
                }
                tick(done.fetch_add(1, Ordering::Relaxed) + 1, records.len() as u64);
            }
            all.lock().unwrap_or_else(std::sync::PoisonError::into_inner).merge(&own);
        };
        std::thread::scope(|scope| {
            for _ in 0..threads.min(records.len()) {
                scope.spawn(read);
            }
        });
        let Reading { thought, lag, paused, unread } =
            all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let timed = |thought: &Histogram<u64>| {
            (!thought.is_empty()).then(|| Timed {
                answers: thought.len(),
                p50_us: thought.value_at_quantile(0.5),
                p99_us: thought.value_at_quantile(0.99),
                max_us: thought.max(),
            })
        };
        let of_entrant = |entrant: usize| {
            let mut all = histogram();
            for thought in &thought[roster.bots(entrant)] {
                // The histogram resizes as needed.
                let _ = all.add(thought);
            }
            timed(&all)
        };
        let entrants = (0..roster.entrants()).map(of_entrant).collect();
        let bots = thought.iter().map(timed).collect();
        let lag = (!lag.is_empty()).then(|| Lag { p99_us: lag.value_at_quantile(0.99), max_us: lag.max() });
        let paused = Some(paused).filter(|paused| paused.matches > 0);
        Timing { entrants, bots, lag, paused, unread }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_times_exclude_lag_and_a_late_answer_counts_once() {
        let record = br#"{"type":"answer","at_us":1,"seat":0,"turn":0,"move":"a","took_us":150,"lag_us":50}
{"type":"answer","at_us":2,"seat":0,"turn":1,"move":"a","took_us":9000000,"lag_us":0}
{"type":"fault","at_us":2,"seat":0,"turn":1,"code":"timeout","detail":"late","took_us":9000000,"lag_us":0}
{"type":"fault","at_us":3,"seat":1,"turn":0,"code":"timeout","detail":"none","took_us":700,"lag_us":20}
{"type":"pause","at_us":4,"paused_us":2000}
{"type":"fault","at_us":4,"seat":1,"code":"exited"}
{"type":"pause","at_us":4,"paused_us":500}
"#;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("m1.jsonl"), record).unwrap();
        let recorded = |file: &str| Recorded { file: file.to_owned(), lineup: vec![1, 0] };
        let timing = Timing::of(
            folder.path(),
            &[recorded("m1.jsonl"), recorded("m2.jsonl")],
            &Roster::alone(2),
            |_, _| (),
        );
        let one = timing.entrants[1].as_ref().unwrap();
        assert_eq!((one.answers, one.p50_us), (2, 100));
        assert!(one.max_us.abs_diff(9_000_000) < 9_000, "{one:?}");
        let other = timing.entrants[0].as_ref().unwrap();
        assert_eq!((other.answers, other.max_us), (1, 680));
        assert_eq!((timing.lag.unwrap().max_us, timing.unread), (50, 1));
        let paused = timing.paused.unwrap();
        assert_eq!((paused.matches, paused.longest_us), (1, 2500));
    }
}
