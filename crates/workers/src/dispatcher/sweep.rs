//! The coordinator's periodic checks: sets without progress, lost workers, requested changes.

use std::sync::Arc;

use tokio::time::Instant;

use super::{Dispatcher, MOST_DELIVERIES, OpenSet, POLL_INTERVAL, SetPhase, because};
use crate::carrier::{Order, RECONNECT_WINDOW};
use crate::machine::RequestedState;
use crate::unit::{UnitId, WorkUnit};
use referee_engine::runner::{Halt, SetScheduler};
use referee_game::Wrong;

impl<S: SetScheduler> Dispatcher<'_, S> {
    /// Carries out requests of other processes.
    pub(super) fn apply_requests(&mut self) -> Result<(), Halt> {
        while let Some(requested) = self.coordinator.leases.requests().take().map_err(because)? {
            let RequestedState { worker, state } = requested;
            self.set_state(&worker, state, None)?;
        }
        Ok(())
    }

    /// Notes how many sets the active workers play concurrently. Lost workers may return soon.
    pub(super) fn note_slots(&mut self) {
        let (slots, now) = (self.coordinator.fleet.slots(), Instant::now());
        if slots > 0 {
            self.active_at = now;
        }
        if slots != self.slots && (slots > 0 || now - self.active_at >= RECONNECT_WINDOW) {
            self.slots = slots;
            self.schedule.set_slots(slots);
        }
        self.coordinator.activity.set(slots, self.coordinator.fleet.inactive());
    }

    /// Moves all times by how long this process did not run: it has not read what workers have sent since.
    pub(super) fn deduct_absence(&mut self) {
        let now = Instant::now();
        let absence = (now - self.looked_at).saturating_sub(POLL_INTERVAL);
        self.looked_at = now;
        if absence < POLL_INTERVAL {
            return;
        }
        let later = |time: Instant| (time + absence).min(now);
        for open in self.open.values_mut() {
            open.moved_at = later(open.moved_at);
            if let SetPhase::Expected(until) = &mut open.phase {
                *until += absence;
            }
        }
        self.active_at = later(self.active_at);
    }

    /// Gives sets without progress to other workers. Without workers, sets go back to an endless schedule, and another run
    /// ends if its workers were put aside.
    pub(super) fn sweep(&mut self) -> Result<(), Halt> {
        self.replace_overdue()?;
        if self.schedule.is_endless() {
            return if self.slots == 0 { self.take_back() } else { Ok(()) };
        }
        match self.coordinator.fleet.why_aside() {
            Some(why) if self.active_at.elapsed() >= self.coordinator.timeout => {
                Err(because(Wrong::from(format!(
                    "no worker is left: {why}. Mend this, let the workers play with `referee worker \
                     activate`, and resume"
                ))))
            }
            _ => Ok(()),
        }
    }

    /// Puts the sets back that no worker has.
    fn take_back(&mut self) -> Result<(), Halt> {
        let is_queued = |open: &OpenSet| open.phase == SetPhase::Queued && open.committing.is_none();
        let queued = self.open.iter().filter(|(_, open)| is_queued(open)).map(|(&set, _)| set);
        for set in queued.collect::<Vec<u32>>() {
            let Some(open) = self.open.remove(&set) else { continue };
            self.coordinator.order(Order::Withdraw(open.unit.id.clone()));
            // The number of the set is not used again: a worker may still have an outcome.
            self.coordinator.leases.retire(set).map_err(because)?;
            open.due.fixtures.iter().for_each(|fixture| self.schedule.put_back(fixture));
        }
        Ok(())
    }

    /// Returns whether a set waits for a worker other than those that are active.
    fn is_avoided_by_all(&self, open: &OpenSet) -> bool {
        !open.unit.avoid.is_empty() && !self.coordinator.fleet.has_others(&open.unit.avoid)
    }

    /// Gives sets without progress to other workers.
    fn replace_overdue(&mut self) -> Result<(), Halt> {
        let now = Instant::now();
        let mut overdue = Vec::new();
        for (&set, open) in self.open.iter().filter(|(_, open)| open.committing.is_none()) {
            let is_overdue = match &open.phase {
                SetPhase::Expected(until) => *until <= now,
                // The others may return soon.
                SetPhase::Queued if self.is_avoided_by_all(open) => now - open.moved_at > RECONNECT_WINDOW,
                SetPhase::Out(_) | SetPhase::Queued => now - open.moved_at > self.coordinator.timeout,
            };
            if is_overdue {
                overdue.push((set, self.is_avoided_by_all(open)));
            }
        }
        for (set, is_avoided) in overdue {
            let Some(open) = self.open.get_mut(&set) else { continue };
            match open.phase.clone() {
                // A new attempt, since the carrier has handed out the old one to the lost worker.
                SetPhase::Expected(_) => self.replace(set)?,
                SetPhase::Queued if is_avoided => self.try_again(set, Vec::new())?,
                SetPhase::Queued => {
                    // The carrier may have lost it.
                    open.moved_at = now;
                    let unit = (*open.unit).clone();
                    self.coordinator.order(Order::Publish(Box::new(unit)));
                }
                SetPhase::Out(worker) => {
                    self.coordinator.fleet.count(&worker, |row| row.lost += 1);
                    self.coordinator.fleet.store(&self.coordinator.leases, &worker).map_err(because)?;
                    self.replace(set)?;
                }
            }
        }
        Ok(())
    }

    /// Replaces an attempt that makes no progress by a new one.
    fn replace(&mut self, set: u32) -> Result<(), Halt> {
        let Some(open) = self.open.get(&set) else { return Ok(()) };
        let (old, attempt) = (open.unit.id.clone(), open.unit.id.attempt + 1);
        tracing::warn!(
            "{old} makes no progress: it is handed out again as {}",
            UnitId { attempt, ..old.clone() }
        );
        let avoid = open.unit.avoid.clone();
        self.try_again(set, avoid)
    }

    /// Starts a new attempt at a set, which these workers do not get.
    pub(super) fn try_again(&mut self, set: u32, avoid: Vec<String>) -> Result<(), Halt> {
        let Some(open) = self.open.get_mut(&set) else { return Ok(()) };
        if open.deliveries >= MOST_DELIVERIES {
            return self.give_up(set);
        }
        let old = open.unit.id.clone();
        let mut unit = WorkUnit { avoid, ..(*open.unit).clone() };
        unit.id.attempt += 1;
        open.unit = Arc::new(unit.clone());
        (open.phase, open.moved_at) = (SetPhase::Queued, Instant::now());
        let deliveries = open.deliveries;
        let text = serde_json::to_string(&unit).map_err(because)?;
        let queued = self.coordinator.leases.queue(set, unit.id.attempt, deliveries, &text);
        queued.map_err(because)?;
        self.coordinator.order(Order::Withdraw(old));
        self.coordinator.order(Order::Publish(Box::new(unit)));
        Ok(())
    }
}
