//! Judges the outcomes of workers.

use std::sync::Arc;

use super::{Dispatcher, SetPhase, because};
use crate::carrier::{Order, OutcomeVerdict};
use crate::committer::{CommitRequest, CommitResult, Committed};
use crate::unit::{EncodedOutcome, UnitId};
use crate::verdicts::OutcomeArrival;
use crate::verify::Unstarted;
use referee_engine::runner::{Halt, RunFailure, SetScheduler};
use referee_results::FinishedMatch;

/// The maximum number of outcomes of a set that wait until another one is verified.
const MOST_WAITING: usize = 4;

impl<S: SetScheduler> Dispatcher<'_, S> {
    /// Takes the outcome that a worker has sent, perhaps again.
    pub(super) fn played(&mut self, outcome: EncodedOutcome, worker: String) -> Result<(), Halt> {
        match self.coordinator.verdicts.arrive(&outcome.unit, &worker) {
            OutcomeArrival::New => return self.judge(outcome, worker),
            OutcomeArrival::Judging => {}
            OutcomeArrival::Judged(verdict) => {
                self.coordinator.order(Order::Verdict { unit: outcome.unit, worker, verdict });
            }
        }
        Ok(())
    }

    /// Has an outcome verified and stored, unless another one of its set is.
    fn judge(&mut self, outcome: EncodedOutcome, worker: String) -> Result<(), Halt> {
        let id = &outcome.unit;
        let is_of_run = id.run == self.coordinator.run;
        let is_alone = !self.coordinator.fleet.has_others(&[&worker]);
        let is_sound = self.coordinator.fleet.is_sound(&worker);
        let open = self.open.get_mut(&id.set).filter(|open| is_of_run && id.attempt >= open.since);
        let Some(open) = open else { return self.duplicate(outcome, worker) };
        let is_tried_elsewhere = open.unstarted.as_ref().is_some_and(|(other, _)| *other != worker);
        if open.committing.is_some() {
            if open.waiting.len() >= MOST_WAITING {
                return self.duplicate(outcome, worker);
            }
            open.waiting.push_back((outcome, worker));
            return Ok(());
        }
        open.committing = Some(worker.clone());
        let to_commit = CommitRequest::Outcome {
            unit: Arc::clone(&open.unit),
            fixtures: open.due.fixtures.clone(),
            outcome,
            worker,
            is_final: is_tried_elsewhere || is_alone && is_sound,
        };
        self.to_commit.send(to_commit).map_err(|_| RunFailure::panicked().into())
    }

    /// Counts an outcome that came too late, and tells its worker.
    fn duplicate(&mut self, outcome: EncodedOutcome, worker: String) -> Result<(), Halt> {
        self.coordinator.fleet.count(&worker, |row| row.duplicates += 1);
        self.coordinator.fleet.store(&self.coordinator.leases, &worker).map_err(because)?;
        self.coordinator.give_verdict(outcome.unit, worker, OutcomeVerdict::Duplicate);
        Ok(())
    }

    /// Handles an outcome that was stored or refused.
    pub(super) fn commit(&mut self, committed: Committed) -> Result<(), Halt> {
        let Committed { unit: id, worker, result } = committed;
        let (matches, unstarted) = match result {
            CommitResult::Counted { matches, unstarted } => (matches, unstarted),
            CommitResult::Unstarted(unstarted) => return self.retry_elsewhere(id, worker, unstarted),
            CommitResult::Refused(why) => return self.refuse(id, worker, why),
            CommitResult::Failed(halt) => return Err(halt),
        };
        let Some(open) = self.open.remove(&id.set) else { return Ok(()) };
        let (played, unplayed) = open.due.fixtures.split_at(matches.len());
        for (fixture, finished) in played.iter().zip(&matches) {
            self.schedule.ended(fixture, finished);
        }
        unplayed.iter().for_each(|fixture| self.schedule.put_back(fixture));
        self.is_exhausted = false;
        let leases = &self.coordinator.leases;
        let is_left = matches.iter().any(FinishedMatch::is_to_be_replayed);
        let closed = if is_left { leases.retire(id.set) } else { leases.close(id.set) };
        closed.map_err(because)?;
        if open.is_elsewhere(&id, &worker) {
            self.coordinator.order(Order::Withdraw(open.unit.id.clone()));
        }
        self.coordinator.give_verdict(id.clone(), worker.clone(), OutcomeVerdict::Counted);
        for (outcome, worker) in open.waiting {
            self.duplicate(outcome, worker)?;
        }
        if unstarted.is_none() {
            self.coordinator.fleet.note_sound(&worker);
            if let Some((failed, why)) = open.unstarted {
                self.note_unstarted(&failed, &id, &why)?;
            }
        }
        if let Some(why) = self.coordinator.fleet.judge(&worker, &matches) {
            self.put_aside(&worker, why)?;
        }
        self.coordinator.fleet.store(&self.coordinator.leases, &worker).map_err(because)
    }

    /// Lets another machine try a set before the outcome counts: a bot did not start, and the machine may be the cause.
    fn retry_elsewhere(&mut self, id: UnitId, worker: String, unstarted: Unstarted) -> Result<(), Halt> {
        let Unstarted { bot, why, .. } = &unstarted;
        tracing::warn!(
            "{id}: the bot `{bot}` does not start on the worker `{worker}` ({why}); it is tried again"
        );
        let verdict = OutcomeVerdict::Retried(format!("the bot `{bot}` does not start: {why}"));
        self.coordinator.give_verdict(id.clone(), worker.clone(), verdict);
        let has_others = self.coordinator.fleet.has_others(&[&worker]);
        if unstarted.did_others {
            self.coordinator.fleet.note_sound(&worker);
        } else if !has_others {
            self.note_unstarted(&worker, &id, &unstarted)?;
        }
        let Some(open) = self.open.get_mut(&id.set) else { return Ok(()) };
        open.committing = None;
        open.unstarted = Some((worker.clone(), unstarted));
        if let Some((outcome, worker)) = open.waiting.pop_front() {
            return self.judge(outcome, worker);
        }
        if matches!(&open.phase, SetPhase::Out(other) if *other != worker) {
            // The set is with another worker already.
            return Ok(());
        }
        let avoid = if has_others { vec![worker] } else { Vec::new() };
        self.try_again(id.set, avoid)
    }

    /// Notes that a bot did not start on a worker, and did on another one, or this one is alone and no bot has ever started on it.
    fn note_unstarted(&mut self, worker: &str, id: &UnitId, unstarted: &Unstarted) -> Result<(), Halt> {
        match self.coordinator.fleet.note_unstarted(worker, id, unstarted) {
            Some(why) => self.put_aside(worker, why),
            None => Ok(()),
        }
    }

    /// Refuses an outcome that does not match its unit.
    fn refuse(&mut self, id: UnitId, worker: String, why: String) -> Result<(), Halt> {
        self.coordinator.fleet.count(&worker, |row| row.refused += 1);
        self.put_aside(&worker, format!("it sent another outcome than {id} asks for: {why}"))?;
        self.coordinator.fleet.store(&self.coordinator.leases, &worker).map_err(because)?;
        self.coordinator.give_verdict(id.clone(), worker.clone(), OutcomeVerdict::Refused(why));
        let Some(open) = self.open.get_mut(&id.set) else { return Ok(()) };
        open.committing = None;
        if let Some((outcome, worker)) = open.waiting.pop_front() {
            return self.judge(outcome, worker);
        }
        if open.phase == SetPhase::Out(worker) { self.hand_out_again(id.set) } else { Ok(()) }
    }
}
