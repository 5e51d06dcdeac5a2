//! Results in the format of `--json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use referee_bots::sandbox::Sandbox;
use referee_game::seat::Seat;
use referee_match::record::{Difference, RecordSummary};
use referee_match::{AbortReason, Faults};
use referee_protocol::referee::Fault;
use referee_protocol::words::{EndedBy, FaultCode};
use referee_stats::rating::Estimate;
use referee_stats::sample::Sample;
use referee_stats::{Cause, Wdl};
use serde::Serialize;

use crate::runner::evidence::{self, Evidence, FirstFaults};

/// A mirrored set, in the format of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "set")]
pub struct SetReport {
    /// The set id.
    pub id: String,
    /// The deal of its matches.
    pub deal: String,
    /// Its matches that have ended.
    pub matches: Vec<String>,
    /// The names of the bots, in the order of the command line.
    pub bots: Vec<String>,
    /// The sum of scores by bot; `None` if a match is missing or was aborted.
    pub scores: Option<Vec<f64>>,
}

/// Why a match has no result: the cause of the abort; without an abort, all bots had failed.
pub(super) fn cause_of(abort: Option<&AbortReason>) -> Cause {
    match abort {
        None => Cause::NoBots,
        Some(AbortReason::Paused { .. }) => Cause::Paused,
        Some(AbortReason::NoOpening { .. }) => Cause::NoOpening,
        Some(AbortReason::RulesFailed(_)) => Cause::RulesFailed,
        Some(
            AbortReason::Interrupted
            | AbortReason::RulesInterrupted { .. }
            | AbortReason::ByHost
            | AbortReason::HostLeft
            | AbortReason::Other { .. },
        ) => Cause::Interrupted,
    }
}

/// A match that was played, in the format of `--json`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "match")]
pub struct MatchReport {
    /// The match id.
    pub id: String,
    /// The game.
    pub game: String,
    /// The names of the bots by seat.
    pub seats: Vec<String>,
    /// Their command lines by seat.
    pub bots: Vec<String>,
    /// By seat; `None` if aborted.
    pub ranks: Option<Vec<u8>>,
    /// By seat; `None` if aborted.
    pub scores: Option<Vec<f64>>,
    /// What ended it.
    pub ended_by: EndedBy,
    /// The rule, the fault code, or the value of `ended_by`.
    pub reason: String,
    /// Why it was aborted; omitted if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Whether it has no result and is not replayed; omitted if false.
    #[serde(rename = "void", skip_serializing_if = "std::ops::Not::not")]
    pub is_void: bool,
    /// The fault that ended it.
    pub fault: Option<Fault>,
    /// By seat: code -> count.
    pub faults: Vec<Faults>,
    /// Faults that other matches list too, because they shared a process or connection; omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Loss>,
    /// What led to these faults; omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The number of moves.
    pub decisions: u32,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    /// The longest delay of an answer by the referee's own lag, in milliseconds.
    pub lag_ms: u64,
    /// How long the referee was suspended during the match, in milliseconds. The clocks stood still.
    pub paused_ms: u64,
    /// By seat: processor time since the bot's last match, in milliseconds with a resolution of 10; `None` if the
    /// process has ended.
    pub cpu_ms: Vec<Option<u64>>,
    /// The path of the record. In a mirrored set it exists once the set is complete.
    pub record: Option<PathBuf>,
    /// The worker that played it; omitted if this process did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Whether it was aborted because the run ended.
    #[serde(skip)]
    pub is_cut_off: bool,
}

/// The loss of a process or connection during several matches: one fault, listed in each of them.
#[derive(Clone, Debug, Serialize)]
pub struct Loss {
    /// The seat.
    pub seat: Seat,
    /// The fault.
    pub code: FaultCode,
    /// The match in which it counts for the bot.
    pub counted_in: String,
    /// All affected matches; only in the match in which it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<String>>,
}

impl MatchReport {
    /// The report of a match whose result was stored; `faults` has the counts by seat and code. All other fields are empty.
    pub fn stored(
        id: String,
        seats: Vec<String>,
        ended_by: &str,
        reason: String,
        faults: &[BTreeMap<String, u32>],
    ) -> MatchReport {
        let of_seat = |counts: &BTreeMap<String, u32>| {
            let mut faults = Faults::default();
            for code in FaultCode::ALL {
                faults.add_many(*code, counts.get(code.as_str()).copied().unwrap_or(0));
            }
            faults
        };
        MatchReport {
            id,
            game: String::new(),
            cpu_ms: vec![None; seats.len()],
            seats,
            bots: Vec::new(),
            ranks: None,
            scores: None,
            // Matches that do not count have no result.
            ended_by: EndedBy::ALL
                .iter()
                .copied()
                .find(|by| by.as_str() == ended_by)
                .unwrap_or(EndedBy::Aborted),
            reason,
            cause: None,
            is_void: false,
            fault: None,
            faults: faults.iter().map(of_seat).collect(),
            lost: Vec::new(),
            evidence: Vec::new(),
            decisions: 0,
            duration_us: 0,
            lag_ms: 0,
            paused_ms: 0,
            record: None,
            worker: None,
            is_cut_off: false,
        }
    }

    /// The report of a match from its record: `attempt` is the number of the attempt.
    pub fn of_record(summary: &RecordSummary, attempt: u32) -> MatchReport {
        let RecordSummary {
            header,
            ending,
            abort,
            faults,
            decisions,
            lag_ms,
            paused_ms,
            duration_us,
            cpu_ms,
            ..
        } = summary;
        let cause = ending.ranks.is_none().then(|| cause_of(abort.as_ref()));
        MatchReport {
            id: header.r#match.clone(),
            game: header.game.clone(),
            seats: header.seats.iter().map(|seat| seat.name.clone()).collect(),
            bots: Vec::new(),
            is_cut_off: cause == Some(Cause::Interrupted),
            cause,
            is_void: cause.is_some_and(|cause| cause.is_void(attempt)),
            ranks: ending.ranks.clone(),
            scores: ending.scores.clone(),
            ended_by: ending.ended_by,
            reason: ending.reason.clone(),
            fault: ending.fault.as_ref().map(Into::into),
            faults: faults.clone(),
            lost: Vec::new(),
            evidence: Vec::new(),
            decisions: *decisions,
            duration_us: *duration_us,
            lag_ms: *lag_ms,
            paused_ms: *paused_ms,
            cpu_ms: cpu_ms.clone(),
            record: None,
            worker: None,
        }
    }

    /// Adds what led to its faults, from its record without the seal and what its bots wrote to standard error, by seat.
    ///
    /// # Errors
    /// The first invalid line of the record.
    pub fn add_evidence(&mut self, record: &[u8], stderr: &[&str]) -> Result<(), Difference> {
        if self.faults.iter().any(|faults| faults.total() > 0) {
            self.evidence = evidence::collect(record, &BTreeMap::new(), stderr)?;
        }
        Ok(())
    }

    /// Whether the match still has to be played to an end.
    pub fn is_to_be_replayed(&self) -> bool {
        self.ranks.is_none() && !self.is_void
    }

    /// The faults of a seat that count in sums over matches.
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
    /// The report of an aborted match for two.
    pub(crate) fn aborted(id: &str, cause: Cause, is_void: bool) -> MatchReport {
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
            worker: None,
            is_cut_off: cause == Cause::Interrupted,
        }
    }
}

/// A bot's results, in the format of `--json`.
#[derive(Debug, Serialize)]
pub struct BotSummary {
    /// Its name.
    pub bot: String,
    /// Its command line.
    pub command: String,
    /// Matches that were not aborted.
    pub matches: u32,
    /// Their results.
    #[serde(flatten)]
    pub wdl: Wdl,
    /// The sum of its scores.
    pub score: f64,
    /// Complete mirrored sets; omitted if each deal is played once. A set is won by the bot with the highest sum of scores,
    /// and drawn by bots that share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sets: Option<Wdl>,
    /// Code -> count. A lost process or connection counts once, however many matches it played.
    pub faults: Faults,
    /// Processor time, in milliseconds.
    pub cpu_ms: u64,
    /// Its sandbox; omitted for a bot that connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
}

/// The difference in strength between the first and the second of two bots, in the format of `--json`.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The number of complete mirrored sets, or of matches without mirroring, that count.
    pub sets: u64,
    /// The number of copies of others that do not count.
    pub copies: u64,
    /// The number of sets with different moves.
    pub distinct_sets: u64,
    /// The number of openings or deals; without mirroring an opening counts once for each seat of the first bot.
    pub openings: u64,
    /// The number of sets per score of the first bot, from 0 to 1 in equal steps.
    pub counts: Vec<u64>,
    /// The mean score of the first bot; `None` for fewer than two distinct sets.
    pub score: Option<Estimate>,
    /// The difference in logistic Elo; infinite values are `null`.
    pub elo: Option<Estimate>,
    /// The same on openings like these, if sets share openings and there is more than one.
    pub elo_of_openings_like_these: Option<Estimate>,
    /// The likelihood of superiority: the probability that the first bot is stronger.
    pub superiority: Option<f64>,
}

impl From<&Sample> for Comparison {
    fn from(sample: &Sample) -> Comparison {
        let scores = sample.scores();
        let difference = scores.estimate().filter(|_| sample.distinct_sets() > 1);
        Comparison {
            sets: scores.sets(),
            copies: sample.copies(),
            distinct_sets: sample.distinct_sets(),
            openings: sample.openings(),
            counts: scores.counts().to_vec(),
            score: difference.map(|difference| difference.score),
            elo: difference.map(|difference| difference.elo),
            elo_of_openings_like_these: difference
                .and_then(|difference| sample.of_openings_like_these(&difference)),
            superiority: difference.map(|difference| difference.superiority),
        }
    }
}

/// All results, in the format of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "summary")]
pub struct RunSummary {
    /// The game.
    pub game: String,
    /// Matches that ended with a result.
    pub matches: u32,
    /// Attempts at matches that were aborted.
    pub aborted: u32,
    /// Matches that have no result and are not replayed.
    pub void: u32,
    /// Attempts at matches during which the referee was suspended.
    pub paused: u32,
    /// The bots in the order of the command line.
    pub bots: Vec<BotSummary>,
    /// The difference in strength of two bots; omitted for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Comparison>,
    /// The run seed: the same seed and the same answers give the same matches.
    pub seed: String,
    /// Whether the bots were trusted to remember nothing of earlier matches; omitted without mirrored sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_bots: Option<bool>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// The first fault of each bot and code, for people; the matches have all of them.
    #[serde(skip)]
    pub first_faults: FirstFaults,
}
