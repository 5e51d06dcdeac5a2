//! The workers of a run, and their rows.

use std::collections::BTreeMap;

use referee_protocol::words::FaultCode;

use crate::machine::{Machine, MachineState};
use crate::unit::UnitId;
use crate::verify::Unstarted;
use referee_results::FinishedMatch;
use referee_store::{Leases, StoreError, WorkerRow};

/// The number of matches below which a worker is not judged.
const LEAST_MATCHES: u32 = 20;
/// The number of matches with faults below which a worker is not judged.
const LEAST_FAULTS: u32 = 5;
/// The number of standard deviations above the rate of faults of the others at which a worker is put aside.
const SIGMAS: f64 = 3.0;
/// The maximum number of matches that are named when a worker is put aside.
const MOST_NAMED: usize = 50;
/// A worker is put aside after this number of sets in which a bot did not start there, but does on other workers.
const MOST_UNSTARTED: usize = 3;
/// The maximum number of workers that are named when none is left.
const MOST_REASONS: usize = 5;

/// The reason why a noisy machine is put aside.
const NOISY: &str = "other programs disturb its clocks, and the matches have clocks (`referee worker check` measures it, \
                     `referee worker --noisy false` overrides it)";

#[derive(Debug, Default)]
struct FleetWorker {
    row: WorkerRow,
    machine: Machine,
    state: MachineState,
    /// The matches in which a bot ran out of time.
    timed_out: Vec<String>,
    /// Whether a bot has ever started on the worker, or the operator has activated it.
    is_sound: bool,
}

/// The workers of a run, by name.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    workers: BTreeMap<String, FleetWorker>,
    /// By bot and worker: the first attempts in which the bot did not start.
    unstarted: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

impl Fleet {
    /// The workers of an earlier coordinator. None is connected.
    pub(super) fn open(leases: &Leases) -> Result<Fleet, StoreError> {
        leases.disconnect_all()?;
        let member = |row: WorkerRow| {
            let row = WorkerRow { is_connected: false, ..row };
            let state = MachineState::parse(&row.state).unwrap_or_default();
            let machine = serde_json::from_str(&row.machine).unwrap_or_default();
            (row.name.clone(), FleetWorker { row, machine, state, ..FleetWorker::default() })
        };
        let workers = leases.workers()?.into_iter().map(member).collect();
        Ok(Fleet { workers, unstarted: BTreeMap::new() })
    }

    fn member(&mut self, name: &str) -> &mut FleetWorker {
        self.workers.entry(name.to_owned()).or_insert_with(|| {
            let row = WorkerRow { name: name.to_owned(), joined_at: Leases::now(), ..WorkerRow::default() };
            FleetWorker { row, ..FleetWorker::default() }
        })
    }

    /// The number of sets that the connected workers play concurrently.
    pub(super) fn slots(&self) -> usize {
        let active =
            self.workers.values().filter(|of| of.row.is_connected && of.state == MachineState::Active);
        active.map(|of| of.machine.slots as usize).sum()
    }

    /// Returns whether a worker is active that is not one of these.
    pub(super) fn has_others(&self, except: &[impl AsRef<str>]) -> bool {
        let is_excepted = |name: &str| except.iter().any(|of| of.as_ref() == name);
        let mut active =
            self.workers.iter().filter(|(_, of)| of.row.is_connected && of.state == MachineState::Active);
        active.any(|(name, _)| !is_excepted(name))
    }

    /// Returns whether bots that do not start on a worker are at fault themselves if there is no other worker
    /// to try.
    pub(super) fn is_sound(&self, name: &str) -> bool {
        self.workers.get(name).is_some_and(|of| of.is_sound)
    }

    /// Notes that a bot has started on a worker.
    pub(super) fn note_sound(&mut self, name: &str) {
        self.member(name).is_sound = true;
    }

    /// Notes that a bot did not start on a worker, and did on another one, or no bot has ever started on this one. Returns why the worker
    /// is to be put aside. A bot that does not start on several workers is not counted: it may do so on purpose.
    pub(super) fn note_unstarted(
        &mut self,
        name: &str,
        id: &UnitId,
        unstarted: &Unstarted,
    ) -> Option<String> {
        let Unstarted { bot, why, .. } = unstarted;
        let attempts = self.unstarted.entry(bot.clone()).or_default().entry(name.to_owned()).or_default();
        // A further attempt changes nothing.
        if attempts.len() < MOST_UNSTARTED {
            attempts.push(id.to_string());
        }
        let of_this =
            self.unstarted.values().filter(|workers| workers.len() == 1).filter_map(|of| of.get(name));
        let attempts: Vec<&str> = of_this.flatten().map(String::as_str).collect();
        (attempts.len() >= MOST_UNSTARTED).then(|| {
            format!(
                "bots do not start on it that start elsewhere, or none does: `{bot}` ({why}) in {}",
                attempts.join(", ")
            )
        })
    }

    /// The number of connected workers that get no sets.
    pub(super) fn inactive(&self) -> usize {
        let connected = self.workers.values().filter(|of| of.row.is_connected);
        connected.filter(|of| of.state != MachineState::Active).count()
    }

    /// The reason why workers were put aside; `None` if none was.
    pub(super) fn why_aside(&self) -> Option<String> {
        let is_aside = |of: &&FleetWorker| !matches!(of.state, MachineState::Active | MachineState::Drained);
        let why = self
            .workers
            .values()
            .filter(is_aside)
            .filter_map(|of| Some(format!("`{}`: {}", of.row.name, of.row.reason.as_ref()?)));
        let why: Vec<String> = why.take(MOST_REASONS).collect();
        (!why.is_empty()).then(|| why.join("; "))
    }

    /// Returns whether a worker is connected.
    pub(super) fn is_connected(&self, name: &str) -> bool {
        self.workers.get(name).is_some_and(|of| of.row.is_connected)
    }

    /// Admits a worker that has connected with these units. Returns whether it gets others: a noisy machine none with a clock,
    /// and one that was drained only if it has ended since then.
    pub(super) fn join(&mut self, machine: Machine, holding: &[UnitId], is_timed: bool) -> MachineState {
        let is_noisy = machine.noisy && is_timed;
        let member = self.member(&machine.name);
        member.row.machine = serde_json::to_string(&machine).unwrap_or_default();
        member.row.is_connected = true;
        member.machine = machine;
        let is_free = match member.state {
            MachineState::Active | MachineState::Noisy | MachineState::Incompatible => true,
            MachineState::Drained => holding.is_empty(),
            MachineState::Aside => false,
        };
        if is_free {
            (member.state, member.row.reason) = match is_noisy {
                true => (MachineState::Noisy, Some(NOISY.to_owned())),
                false => (MachineState::Active, None),
            };
        }
        member.state
    }

    /// Notes that a worker has disconnected.
    pub(super) fn leave(&mut self, name: &str) {
        self.member(name).row.is_connected = false;
    }

    /// Counts something of a worker.
    pub(super) fn count(&mut self, name: &str, count: impl FnOnce(&mut WorkerRow)) {
        count(&mut self.member(name).row);
    }

    /// Changes whether a worker gets sets. Returns whether that is a change.
    pub(super) fn set_state(&mut self, name: &str, state: MachineState, reason: Option<String>) -> bool {
        let member = self.member(name);
        let is_change = member.state != state;
        // The operator vouches for it.
        member.is_sound |= state == MachineState::Active;
        if is_change {
            member.row.reason = reason;
        }
        member.state = state;
        is_change
    }

    pub(super) fn store(&mut self, leases: &Leases, name: &str) -> Result<(), StoreError> {
        let member = self.member(name);
        member.state.as_str().clone_into(&mut member.row.state);
        leases.set_worker(&member.row)
    }

    /// Counts the matches of an outcome. Returns why the worker is to be put aside, if its bots make significantly more
    /// faults than those of the others.
    pub(super) fn judge(&mut self, name: &str, matches: &[FinishedMatch]) -> Option<String> {
        let member = self.member(name);
        member.row.sets += 1;
        for finished in matches {
            member.row.matches += 1;
            member.row.faults += u32::from(finished.has_faults());
            let is_late = |faults: &referee_match::Faults| {
                faults.iter().any(|(code, count)| code == FaultCode::Timeout && count > 0)
            };
            if finished.faults.iter().any(is_late) && member.timed_out.len() < MOST_NAMED {
                member.timed_out.push(finished.id.clone());
            }
        }
        let WorkerRow { matches, faults, .. } = member.row;
        if member.state != MachineState::Active || matches < LEAST_MATCHES || faults < LEAST_FAULTS {
            return None;
        }
        let timed_out = member.timed_out.join(", ");
        let others = self.workers.values().filter(|of| of.row.name != name);
        let (of_others, faulty) =
            others.fold((0, 0), |(all, faulty), of| (all + of.row.matches, faulty + of.row.faults));
        if of_others < LEAST_MATCHES || !is_high((faults, matches), (faulty, of_others)) {
            return None;
        }
        let named = if timed_out.is_empty() { String::new() } else { format!("; timeouts in {timed_out}") };
        Some(format!(
            "bots made a fault in {faults} of its {matches} matches, and in {faulty} of {of_others} elsewhere{named}"
        ))
    }
}

/// Returns whether a rate is significantly above another one: the test of two proportions with a pooled
/// variance.
fn is_high((faults, matches): (u32, u32), (others, of_others): (u32, u32)) -> bool {
    let [x, n, y, m] = [faults, matches, others, of_others].map(f64::from);
    let pooled = (x + y) / (n + m);
    let deviation = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    deviation > 0.0 && (x / n - y / m) / deviation > SIGMAS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_significantly_higher_rate_of_faults_is_high() {
        assert!(is_high((10, 30), (3, 90)));
        assert!(!is_high((5, 30), (8, 90)), "by chance");
        assert!(!is_high((30, 30), (90, 90)), "a bot that always fails");
        assert!(!is_high((0, 30), (0, 90)));
    }
}
