//! A finished match.

use std::collections::BTreeMap;
use std::path::PathBuf;

use referee_game::{Seat, Seating};
use referee_match::record::{Difference, RecordSummary};
use referee_match::{AbortReason, Ending, Faults, InfoTotals, Match};
use referee_protocol::words::FaultCode;
use referee_stats::sample::SetMoves;
use referee_stats::schedule::MatchId;
use referee_stats::{Cause, SideResult};
use serde::Serialize;

use crate::evidence::{self, Evidence};
use crate::moves::moves_of_match;

/// A match that has ended. Lists by seat have a value for each seat, unless they are empty because it is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedMatch {
    pub id: String,
    pub seating: Seating,
    /// The names of the bots by seat.
    pub seats: Vec<String>,
    /// The command lines by seat.
    pub commands: Vec<String>,
    pub ending: Ending,
    /// The reason why it was aborted; `None` if it has a result.
    pub cause: Option<Cause>,
    /// Whether the match has no result and is not replayed.
    pub is_void: bool,
    /// By seat.
    pub faults: Vec<Faults>,
    /// By seat: what the bot reported in `info`.
    pub totals: Vec<InfoTotals>,
    /// Faults that other matches list too, because they shared a process or connection.
    pub shared_faults: Vec<SharedFault>,
    /// The causes of the faults.
    pub evidence: Vec<Evidence>,
    /// The moves as digests, by which copies are found; `None` if they are not known.
    pub moves: Option<SetMoves>,
    /// The number of moves.
    pub decisions: u32,
    /// The time from opening to end, in microseconds.
    pub duration_us: u64,
    /// The longest delay of an answer by the referee's own lag, in milliseconds.
    pub lag_ms: u64,
    /// The time for which the referee was suspended during the match, in milliseconds. The clocks stood
    /// still.
    pub paused_ms: u64,
    /// The number of times that the rules had to be asked again: a process of theirs failed, and another one
    /// answered.
    pub rules_restarts: u32,
    /// By seat: processor time since the bot's last match, in milliseconds with a resolution of 10; `None` if the
    /// process has ended.
    pub cpu_ms: Vec<Option<u64>>,
    /// The path of the record. In a mirrored set it exists once the set is complete.
    pub record: Option<PathBuf>,
    /// The worker that played it; `None` if this process did.
    pub worker: Option<String>,
}

/// The loss of a process or connection during several matches: one fault, listed in each of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedFault {
    pub seat: Seat,
    pub code: FaultCode,
    /// The match in which it counts for the bot.
    pub counted_in: String,
    /// The affected matches; only in the match in which the fault counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<String>>,
}

impl FinishedMatch {
    /// The match of this state machine, which has ended in this way; as far as the state machine knows it.
    pub fn of(play: &Match, ending: Ending, duration_us: u64) -> FinishedMatch {
        let setup = play.setup();
        let id = setup.header.r#match.clone();
        let cause = ending.ranks.is_none().then(|| cause_of(play.broken_off()));
        let attempt = id.parse().map_or(1, |MatchId { attempt, .. }| attempt);
        FinishedMatch {
            id,
            seating: setup.seating,
            seats: setup.header.seats.iter().map(|seat| seat.name.clone()).collect(),
            commands: Vec::new(),
            ending,
            cause,
            is_void: cause.is_some_and(|cause| cause.is_void(attempt)),
            faults: setup.seating.all().iter().map(|seat| play.faults(seat)).collect(),
            totals: setup.seating.all().iter().map(|seat| play.totals(seat)).collect(),
            shared_faults: Vec::new(),
            evidence: Vec::new(),
            moves: Some(moves_of_match(play)),
            decisions: play.decisions(),
            duration_us,
            lag_ms: play.worst_lag() / 1000,
            paused_ms: play.paused() / 1000,
            rules_restarts: play.table().restarts(),
            cpu_ms: Vec::new(),
            record: None,
            worker: None,
        }
    }

    pub fn of_record(summary: &RecordSummary) -> FinishedMatch {
        let &RecordSummary { ref play, ref ending, duration_us, ref cpu_ms, rules_restarts, .. } = summary;
        let cpu_ms = cpu_ms.clone();
        FinishedMatch { cpu_ms, rules_restarts, ..FinishedMatch::of(play, ending.clone(), duration_us) }
    }

    /// A match that ended in this way, of which nothing else is known.
    pub fn new(id: String, seating: Seating, seats: Vec<String>, ending: Ending) -> FinishedMatch {
        FinishedMatch {
            id,
            seating,
            seats,
            commands: Vec::new(),
            ending,
            cause: None,
            is_void: false,
            faults: vec![Faults::default(); seating.seats()],
            totals: vec![InfoTotals::default(); seating.seats()],
            shared_faults: Vec::new(),
            evidence: Vec::new(),
            moves: None,
            decisions: 0,
            duration_us: 0,
            lag_ms: 0,
            paused_ms: 0,
            rules_restarts: 0,
            cpu_ms: Vec::new(),
            record: None,
            worker: None,
        }
    }

    /// Adds the evidence for its faults: from its record without the seal, and by seat from lines that were
    /// no messages and from the standard error of the bots.
    ///
    /// # Errors
    /// The first invalid line of the record.
    pub fn add_evidence(
        &mut self,
        record: &[u8],
        malformed: &BTreeMap<Seat, String>,
        stderr: &[&str],
    ) -> Result<(), Difference> {
        if self.has_faults() {
            self.evidence = evidence::collect(record, malformed, stderr)?;
        }
        Ok(())
    }

    /// Returns whether a seat made a fault.
    pub fn has_faults(&self) -> bool {
        self.faults.iter().any(|faults| faults.total() > 0)
    }

    /// Returns whether it was aborted because the run ended.
    pub fn is_cut_off(&self) -> bool {
        self.cause == Some(Cause::Interrupted)
    }

    /// Returns whether the match still has to be played to an end.
    pub fn is_to_be_replayed(&self) -> bool {
        self.ending.ranks.is_none() && !self.is_void
    }

    /// The result for a seat; `None` if the match has none.
    pub fn result_of(&self, seat: Seat) -> Option<SideResult> {
        SideResult::of_seat(seat, self.ending.ranks.as_ref()?, self.seating)
    }

    /// The faults of a seat that count in sums over matches.
    pub fn counted_faults(&self, seat: Seat) -> Faults {
        let mut faults = self.faults[seat.index()];
        let shared = self.shared_faults.iter().filter(|shared| shared.seat == seat);
        shared.filter(|shared| shared.counted_in != self.id).for_each(|shared| faults.remove(shared.code));
        faults
    }
}

/// The reason why a match has no result: the cause of the abort; without an abort, all bots had failed.
fn cause_of(abort: Option<&AbortReason>) -> Cause {
    match abort {
        None => Cause::NoBots,
        Some(AbortReason::Paused { .. }) => Cause::Paused,
        Some(AbortReason::NoOpening { .. }) => Cause::NoOpening,
        Some(AbortReason::RulesFailed(_)) => Cause::RulesFailed,
        Some(AbortReason::Unavailable { .. }) => Cause::Unavailable,
        Some(
            AbortReason::Interrupted
            | AbortReason::RulesInterrupted { .. }
            | AbortReason::ByHost
            | AbortReason::HostLeft
            | AbortReason::Other { .. },
        ) => Cause::Interrupted,
    }
}
