//! Time use and sandboxes, computed from the records.
//!
//! The time of an answer is `took_us` less the referee's own `lag_us`: the time of the bot itself. A late answer
//! counts with its time, a missing one with the time until the limit.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use referee_bots::sandbox::{Layer, Mode, Sandbox};
use referee_files::{read_regular, unsealed};
use referee_game::Chain;
use referee_match::record::{AnswerTime, CUT_OFF, times};
use referee_protocol::referee::Clock;
use referee_results::Roster;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::clocks::clock_option;
use super::histogram::Histogram;

/// A record and its entrants by seat.
pub(super) struct RecordFile {
    pub(super) file: String,
    /// The index of its attempt.
    pub(super) attempt: usize,
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

/// Matches in which the rules had to be asked again: a process of theirs failed, and another one answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RulesRestarts {
    pub matches: u32,
    /// The number of times in all of them.
    pub restarts: u64,
}

impl RulesRestarts {
    fn add(&mut self, other: RulesRestarts) {
        self.matches += other.matches;
        self.restarts += other.restarts;
    }
}

/// A sandbox of bots that the referee started.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SandboxUse {
    /// The mode; `none` for bots without one.
    pub mode: Mode,
    /// The layers that were in force.
    pub layers: Vec<Layer>,
    /// The layers of the mode that were left out because the machine lacked them.
    pub left_out: Vec<Layer>,
    /// The number of seats of matches with this sandbox.
    pub seats: u64,
    /// The mode and its layers in words.
    #[serde(skip)]
    pub in_words: String,
}

/// The data that the report takes from the records.
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
    /// `None` if the rules never had to be asked again.
    pub rules_restarts: Option<RulesRestarts>,
    /// Records without a readable file.
    pub unread: u32,
    /// By attempt: the clock, as the option `--clock` gives it.
    pub clocks: BTreeMap<usize, String>,
    /// The sandboxes, the strictest first; empty if the referee started no bot.
    pub sandboxes: Vec<SandboxUse>,
    /// By bot: what it says of itself in `hello`, each different form once, at most 8.
    pub said: Vec<BTreeSet<BTreeMap<String, String>>>,
}

/// The maximum number of forms of a bot's details in a report.
pub(super) const SAID: usize = 8;

/// The counts of a reader thread.
struct TimeCounts {
    think_times: Vec<Histogram>,
    lag: Histogram,
    paused: Paused,
    rules_restarts: RulesRestarts,
    unread: u32,
    clocks: BTreeMap<usize, String>,
    sandboxes: BTreeMap<(Mode, Vec<Layer>), (Sandbox, u64)>,
    said: Vec<BTreeSet<BTreeMap<String, String>>>,
}

/// The clock and the bots, as the header of a record states them.
#[derive(Deserialize)]
struct HeaderFacts {
    clock: Option<Clock>,
    seats: Vec<SeatInHeader>,
}

#[derive(Deserialize)]
struct SeatInHeader {
    bot: Option<BotInHeader>,
}

#[derive(Deserialize)]
struct BotInHeader {
    /// Only of a bot that the referee started.
    command: Option<IgnoredAny>,
    #[serde(default)]
    sandbox: Sandbox,
    #[serde(default)]
    details: BTreeMap<String, String>,
}

impl TimeCounts {
    fn new(entrants: usize) -> TimeCounts {
        TimeCounts {
            think_times: vec![Histogram::default(); entrants],
            lag: Histogram::default(),
            paused: Paused::default(),
            rules_restarts: RulesRestarts::default(),
            unread: 0,
            clocks: BTreeMap::new(),
            sandboxes: BTreeMap::new(),
            said: vec![BTreeSet::new(); entrants],
        }
    }

    fn add_header(&mut self, header: &[u8], recorded: &RecordFile) {
        let Ok(HeaderFacts { clock, seats }) = serde_json::from_slice(header) else { return };
        self.clocks.insert(recorded.attempt, clock_option(clock));
        for (seat, &of) in seats.into_iter().zip(&recorded.lineup) {
            let Some(BotInHeader { command, sandbox, details }) = seat.bot else { continue };
            if let Some(said) = self.said.get_mut(usize::from(of)).filter(|_| !details.is_empty()) {
                said.insert(details);
                while said.len() > SAID {
                    said.pop_last();
                }
            }
            if command.is_none() {
                continue;
            }
            let key = (sandbox.mode(), sandbox.layers().iter().copied().collect());
            self.sandboxes.entry(key).or_insert((sandbox, 0)).1 += 1;
        }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// When it is not valid, or lacks its seal where `is_sealed`.
    fn add(&mut self, record: &[u8], recorded: &RecordFile, is_sealed: bool) -> Result<(), Box<dyn Error>> {
        let times = times(record)?;
        if is_sealed && !times.is_sealed {
            return Err(CUT_OFF.into());
        }
        let header = record.split(|&byte| byte == b'\n').next().unwrap_or_default();
        self.add_header(header, recorded);
        for AnswerTime { seat, took_us, lag_us } in times.answers {
            let bot =
                recorded.lineup.get(seat.index()).and_then(|&bot| self.think_times.get_mut(usize::from(bot)));
            let bot = bot.ok_or_else(|| format!("the match has no seat {seat}"))?;
            bot.record(took_us.saturating_sub(lag_us));
            self.lag.record(lag_us);
        }
        if times.paused_us > 0 {
            self.paused.add(&Paused { matches: 1, longest_us: times.paused_us });
        }
        if times.rules_restarts > 0 {
            self.rules_restarts.add(RulesRestarts { matches: 1, restarts: times.rules_restarts.into() });
        }
        Ok(())
    }

    /// Adds the record of a match, sealed or not. A record without a readable file is only counted.
    fn read(&mut self, folder: &Path, recorded: &RecordFile) -> io::Result<()> {
        let sealed = folder.join(&recorded.file);
        let aside = unsealed(&sealed);
        let found = read_regular(&sealed).map(|record| (sealed, record, true));
        let found = found.or_else(|_| read_regular(&aside).map(|record| (aside, record, false)));
        let Ok((path, record, is_sealed)) = found else {
            self.unread += 1;
            return Ok(());
        };
        let invalid = |what: Box<dyn Error>| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {}", path.display(), Chain(&*what)))
        };
        self.add(&record, recorded, is_sealed).map_err(invalid)
    }

    fn merge(&mut self, other: &TimeCounts) {
        for (own, other) in self.think_times.iter_mut().zip(&other.think_times) {
            own.add(other);
        }
        self.lag.add(&other.lag);
        self.paused.add(&other.paused);
        self.rules_restarts.add(other.rules_restarts);
        self.unread += other.unread;
        self.clocks.extend(other.clocks.iter().map(|(attempt, clock)| (*attempt, clock.clone())));
        for (own, other) in self.said.iter_mut().zip(&other.said) {
            own.extend(other.iter().cloned());
            while own.len() > SAID {
                own.pop_last();
            }
        }
        for (key, (sandbox, seats)) in &other.sandboxes {
            self.sandboxes.entry(key.clone()).or_insert_with(|| (sandbox.clone(), 0)).1 += seats;
        }
    }
}

impl Timing {
    /// Reads records in a directory, on all CPUs. `tick` receives the number of records that have been read, and the
    /// total.
    ///
    /// # Errors
    /// When a record is not valid: its path, and what is wrong.
    pub(super) fn of(
        folder: &Path,
        records: &[RecordFile],
        roster: &Roster,
        tick: impl Fn(u64, u64) + Sync,
    ) -> io::Result<Timing> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let all = Mutex::new(TimeCounts::new(roster.len()));
        let read = || {
            let mut own = TimeCounts::new(roster.len());
            while let Some(recorded) = records.get(next.fetch_add(1, Ordering::Relaxed)) {
                own.read(folder, recorded)?;
                tick(done.fetch_add(1, Ordering::Relaxed) + 1, records.len() as u64);
            }
            all.lock().unwrap_or_else(std::sync::PoisonError::into_inner).merge(&own);
            Ok(())
        };
        std::thread::scope(|scope| -> io::Result<()> {
            let readers: Vec<_> = (0..threads.min(records.len())).map(|_| scope.spawn(read)).collect();
            let join = |reader: std::thread::ScopedJoinHandle<'_, io::Result<()>>| {
                reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            readers.into_iter().try_for_each(join)
        })?;
        let TimeCounts { think_times, lag, paused, rules_restarts, unread, clocks, sandboxes, said } =
            all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let timed = |think_times: &Histogram| {
            Some(Timed {
                answers: think_times.len(),
                p50_us: think_times.quantile(0.5)?,
                p99_us: think_times.quantile(0.99)?,
                max_us: think_times.max()?,
            })
        };
        let of_entrant = |entrant: usize| {
            let mut all = Histogram::default();
            think_times[roster.bots(entrant)].iter().for_each(|think_times| all.add(think_times));
            timed(&all)
        };
        let entrants = (0..roster.entrants()).map(of_entrant).collect();
        let bots = think_times.iter().map(timed).collect();
        let lag = lag.quantile(0.99).zip(lag.max()).map(|(p99_us, max_us)| Lag { p99_us, max_us });
        let paused = Some(paused).filter(|paused| paused.matches > 0);
        let rules_restarts = Some(rules_restarts).filter(|restarts| restarts.matches > 0);
        let sandboxes = sandboxes.into_values().rev().map(|(sandbox, seats)| SandboxUse {
            mode: sandbox.mode(),
            layers: sandbox.layers().iter().copied().collect(),
            left_out: sandbox.left_out().into_iter().collect(),
            seats,
            in_words: sandbox.to_string(),
        });
        let sandboxes = sandboxes.collect();
        Ok(Timing { entrants, bots, lag, paused, rules_restarts, unread, clocks, sandboxes, said })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first line of a record.
    fn header() -> &'static str {
        let record =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/records/xe_queo.jsonl"));
        record.lines().next().unwrap()
    }

    #[test]
    fn answer_times_exclude_lag_and_a_late_answer_counts_once() {
        let lines = r#"{"type":"answer","at_us":1,"seat":0,"turn":0,"move":"a","took_us":150,"lag_us":50}
{"type":"answer","at_us":2,"seat":0,"turn":1,"move":"a","took_us":9000000,"lag_us":0}
{"type":"fault","at_us":2,"seat":0,"turn":1,"code":"timeout","detail":{"kind":"no_answer","limit_ms":100},"took_us":9000000,"lag_us":0}
{"type":"fault","at_us":3,"seat":1,"turn":0,"code":"timeout","detail":{"kind":"no_answer","limit_ms":100},"took_us":700,"lag_us":20}
{"type":"pause","at_us":4,"paused_us":2000}
{"type":"fault","at_us":4,"seat":1,"code":"exited"}
{"type":"pause","at_us":4,"paused_us":500}
"#;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("m1.unsealed"), format!("{}\n{lines}", header())).unwrap();
        let recorded = |file: &str| RecordFile { file: file.to_owned(), attempt: 0, lineup: vec![1, 0] };
        let timing = Timing::of(
            folder.path(),
            &[recorded("m1.jsonl"), recorded("m2.jsonl")],
            &Roster::alone(2),
            |_, _| (),
        );
        let timing = timing.unwrap();
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
