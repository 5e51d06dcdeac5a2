//! Results as `--json` prints them.

use std::path::PathBuf;

use referee_protocol::referee::Fault;
use referee_protocol::words::{EndedBy, FaultCode};
use serde::Serialize;

use crate::core::seat::Seat;
use crate::referee::{Abort, Faults};
use crate::server::evidence::{Evidence, FirstFaults};
use crate::tournament::Cause;
use crate::tournament::rating::Estimate;
use crate::tournament::sprt::SetScores;

/// A mirrored set that was played, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "set")]
pub struct SetReport {
    /// The set.
    pub id: String,
    /// The deal of its matches.
    pub deal: String,
    /// Its matches that have ended.
    pub matches: Vec<String>,
    /// The names of the bots in the order of the command line.
    pub bots: Vec<String>,
    /// By bot: the sum of its scores; none when a match is missing or was aborted.
    pub scores: Option<Vec<f64>>,
}

/// Why a match has no result, by what broke it off; where nothing did, no bot was left.
pub fn cause_of(abort: Option<&Abort>) -> Cause {
    match abort {
        None => Cause::NoBots,
        Some(Abort::Paused { .. }) => Cause::Paused,
        Some(Abort::NoOpening { .. }) => Cause::NoOpening,
        // Records of format 1 have words alone.
        Some(Abort::Other { text }) if text.starts_with("no opening") => Cause::NoOpening,
        Some(Abort::Other { text }) if text.starts_with("the referee was paused") => Cause::Paused,
        Some(Abort::Interrupted | Abort::ByHost | Abort::HostLeft | Abort::Other { .. }) => {
            Cause::Interrupted
        }
    }
}

/// A match that was played, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "match")]
pub struct MatchReport {
    /// The match.
    pub id: String,
    /// The game.
    pub game: String,
    /// The names of the bots by seat.
    pub seats: Vec<String>,
    /// Their command lines by seat.
    pub bots: Vec<String>,
    /// By seat; none when aborted.
    pub ranks: Option<Vec<u8>>,
    /// By seat; none when aborted.
    pub scores: Option<Vec<f64>>,
    /// What ended it.
    pub ended_by: EndedBy,
    /// The rule, the fault's code or the word of `ended_by`.
    pub reason: String,
    /// Why it was aborted; left out where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Whether it has no result and is not played again; left out where it is not.
    #[serde(rename = "void", skip_serializing_if = "std::ops::Not::not")]
    pub is_void: bool,
    /// The fault that ended it.
    pub fault: Option<Fault>,
    /// By seat: code -> count.
    pub faults: Vec<Faults>,
    /// Those of these faults that are the same one in other matches, too; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Loss>,
    /// What led to these faults; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Moves made.
    pub decisions: u32,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    /// The longest that the referee kept one answer waiting, in milliseconds.
    pub lag_ms: u64,
    /// How long the referee did not run meanwhile, in milliseconds. No limit ran on.
    pub paused_ms: u64,
    /// By seat: processor time since the bot's last match, in milliseconds in steps of 10; none where the process has ended.
    pub cpu_ms: Vec<Option<u64>>,
    /// The record. In a mirrored set it is there when the set is complete.
    pub record: Option<PathBuf>,
    /// Whether it was aborted because the run ends.
    #[serde(skip)]
    pub is_cut_off: bool,
}

/// A process or connection was lost on which several matches ran: one fault, which each of them tells.
#[derive(Clone, Debug, Serialize)]
pub struct Loss {
    /// Whose it was.
    pub seat: Seat,
    /// The fault.
    pub code: FaultCode,
    /// The match in which it counts for the bot.
    pub counted_in: String,
    /// All these matches; only in the one in which it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<String>>,
}

impl MatchReport {
    /// Whether the match is still to be played to an end.
    pub(super) fn is_to_come(&self) -> bool {
        self.ranks.is_none() && !self.is_void
    }

    /// What counts of the faults of a seat when they are added up over matches.
    pub(super) fn counted_faults(&self, seat: usize) -> Faults {
        let mut faults = self.faults[seat];
        for loss in self.lost.iter().filter(|loss| loss.seat.index() == seat && loss.counted_in != self.id) {
            faults.remove(loss.code);
        }
        faults
    }
}

#[cfg(test)]
impl MatchReport {
    /// That of a match for two without anything else to tell.
    pub(super) fn aborted(id: &str, cause: Cause, is_void: bool) -> MatchReport {
        MatchReport {
            id: id.to_owned(),
            game: "checkers".to_owned(),
            seats: vec!["one".to_owned(), "other".to_owned()],
            bots: Vec::new(),
            ranks: None,
            scores: None,
            ended_by: EndedBy::Aborted,
            reason: EndedBy::Aborted.to_string(),
            cause: Some(cause),
            is_void,
            fault: None,
            faults: vec![Faults::default(); 2],
            lost: Vec::new(),
            evidence: Vec::new(),
            decisions: 0,
            duration_us: 0,
            lag_ms: 0,
            paused_ms: 0,
            cpu_ms: vec![None; 2],
            record: None,
            is_cut_off: cause == Cause::Interrupted,
        }
    }
}

/// A bot's results, as `--json` prints them.
#[derive(Debug, Serialize)]
pub struct BotSummary {
    /// Its name.
    pub bot: String,
    /// Its command line.
    pub command: String,
    /// Matches that were not aborted.
    pub matches: u32,
    /// Ranked first alone.
    pub wins: u32,
    /// Ranked equal to another side, with none ahead.
    pub draws: u32,
    /// Another side did better.
    pub losses: u32,
    /// The sum of its scores.
    pub score: f64,
    /// Mirrored sets; none where each deal is played once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sets: Option<Sets>,
    /// Code -> count; a process or connection that is lost counts once, however many matches ran on it.
    pub faults: Faults,
    /// Processor time, in milliseconds.
    pub cpu_ms: u64,
}

/// A bot's mirrored sets that are complete: a set is won by the bot with the highest sum of scores, drawn by
/// those that share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sets {
    /// Sets in which it scored more than every other.
    pub wins: u32,
    /// Sets in which another had the same highest sum.
    pub draws: u32,
    /// Sets in which another scored more.
    pub losses: u32,
}

/// How much stronger the first of two bots is than the second, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The mirrored sets that are complete; where each deal is played once, the matches.
    pub sets: u64,
    /// How many of them scored how much for the first bot, from 0 to 1 in equal steps.
    pub counts: Vec<u64>,
    /// The mean score of the first bot; none for fewer than two sets.
    pub score: Option<Estimate>,
    /// The difference in logistic Elo; what is infinite is `null`.
    pub elo: Option<Estimate>,
    /// The likelihood of superiority: the probability that the first bot is the stronger one.
    pub superiority: Option<f64>,
}

impl From<&SetScores> for Comparison {
    fn from(scores: &SetScores) -> Comparison {
        let difference = scores.estimate().filter(|_| scores.sets() > 1);
        Comparison {
            sets: scores.sets(),
            counts: scores.counts().to_vec(),
            score: difference.map(|difference| difference.score),
            elo: difference.map(|difference| difference.elo),
            superiority: difference.map(|difference| difference.superiority),
        }
    }
}

/// All results, as `--json` prints them.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "summary")]
pub struct RunSummary {
    /// The game.
    pub game: String,
    /// Matches that ended with a result.
    pub matches: u32,
    /// Attempts at matches that were broken off.
    pub aborted: u32,
    /// Matches that have no result and are not played again.
    pub void: u32,
    /// Attempts at matches during which the referee was paused.
    pub paused: u32,
    /// The bots in the order of the command line.
    pub bots: Vec<BotSummary>,
    /// The difference in strength of two bots; left out for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Comparison>,
    /// The run seed: the same seed and the same answers give the same matches.
    pub seed: String,
    /// Whether the bots were taken to remember nothing of earlier matches; none without mirrored sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_bots: Option<bool>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// What is told of faults beside their counts; the matches have all of it.
    #[serde(skip)]
    pub first_faults: FirstFaults,
}
