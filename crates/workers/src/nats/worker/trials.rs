//! The programs that this worker is asked to build and check.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{MOST_OVER, Unconfirmed, WorkerService};
use crate::archive::ArchiveId;
use crate::carrier::Assignment;
use crate::machine::MachineState;
use crate::nats::message::{ToCoordinator, encode_report, program_object, report_object};
use crate::trial::{TrialJob, TrialReply};
use referee_game::Chain;
use referee_game::Wrong;

/// A trial that a desk wants.
pub(super) struct HeldTrial {
    desk: String,
    job: Box<TrialJob>,
    /// The last time at which the desk asked for the trial.
    asked: Instant,
    is_begun: bool,
    report: Option<Unconfirmed>,
}

impl WorkerService {
    /// Returns whether a message of a desk is later than its last one: one that is repeated changes nothing.
    fn is_later(&mut self, desk: &str, at: u64) -> bool {
        if self.desks.len() >= MOST_OVER && !self.desks.contains_key(desk) {
            self.desks.clear();
        }
        self.desks.insert(desk.to_owned(), at).is_none_or(|before| before < at)
    }

    /// Takes the request of a desk for a trial, which may be repeated.
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    pub(super) async fn asked(&mut self, desk: String, at: u64, job: Box<TrialJob>) {
        if !self.is_later(&desk, at) {
            return;
        }
        let (id, asked) = (job.id, Instant::now());
        let held = self.trials.entry(id).or_insert_with(|| {
            let job = job.clone();
            HeldTrial { desk: desk.clone(), job, asked, is_begun: false, report: None }
        });
        if held.desk != desk {
            return;
        }
        held.asked = asked;
        match held.is_begun {
            true => self.send_trying(desk, id).await,
            false => self.begin_trials().await,
        }
    }

    /// Begins with the trials that wait, in the free slots. A set that arrives for such a slot goes back.
    pub(super) async fn begin_trials(&mut self) {
        if !self.is_connected || self.runs.values().any(|run| run.state != MachineState::Active) {
            return;
        }
        while self.free > 0 {
            let Some((&id, held)) = self.trials.iter_mut().find(|(_, held)| !held.is_begun) else { return };
            held.is_begun = true;
            let (desk, job) = (held.desk.clone(), held.job.clone());
            self.free -= 1;
            self.send_trying(desk, id).await;
            // A program that kills its worker counts as lost with it.
            let _ = self.connection.finish().await;
            self.assign(Assignment::Try(job));
        }
    }

    async fn send_trying(&self, desk: String, trial: u64) {
        let subject = self.connection.run(&desk, &self.machine.name);
        let session = self.session.clone();
        self.send(subject, ToCoordinator::Trying { session, trial }, &[]).await;
    }

    /// The archive of a program for a trial is an object of its own.
    pub(super) fn object_of(&self, archive: ArchiveId) -> String {
        let wanting = self.trials.values().find(|held| held.is_begun && held.job.archive == archive);
        wanting.map_or_else(|| archive.to_string(), |held| program_object(held.job.id))
    }

    pub(super) async fn tried(&mut self, id: u64, reply: &TrialReply, built: &[u8]) {
        // The trial may have been withdrawn.
        let Some(held) = self.trials.get_mut(&id) else { return };
        let Ok(bytes) = encode_report(reply, built) else { return };
        let most = self.connection.client.max_payload();
        let object = report_object(id, &self.session);
        held.report = Some(Unconfirmed::new(bytes, object, most, self.times.resend));
        self.send_reports(self.times.resend).await;
    }

    /// Sends the reports that were not sent for this time.
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    pub(super) async fn send_reports(&mut self, age: Duration) {
        let now = Instant::now();
        let due = |held: &mut HeldTrial| held.report.as_mut().is_some_and(|report| report.take_due(age, now));
        let due = self.trials.iter_mut().filter_map(|(&id, held)| due(held).then_some(id));
        for id in due.collect::<Vec<u64>>() {
            let Some(held) = self.trials.get_mut(&id) else { continue };
            let Some(report) = &mut held.report else { continue };
            let bytes = Arc::clone(&report.bytes);
            match report.object.clone() {
                None => self.send_tried(id, &bytes).await,
                Some(_) if report.is_storing => {}
                Some(name) => {
                    report.is_storing = true;
                    let connection = self.connection.clone();
                    self.reports.spawn(async move { (id, connection.put(&name, &bytes).await) });
                }
            }
        }
    }

    /// Tells a desk where a report is.
    pub(super) async fn report_stored(&mut self, id: u64, result: Result<(), Wrong>) {
        let report = self.trials.get_mut(&id).and_then(|held| held.report.as_mut());
        let Some(report) = report else { return self.delete(report_object(id, &self.session)) };
        report.is_storing = false;
        match result {
            Ok(()) => self.send_tried(id, &[]).await,
            Err(error) => tracing::debug!(error = %Chain(&error), "a report cannot be stored now"),
        }
    }

    /// Sends a report; without bytes, it is an object.
    async fn send_tried(&self, id: u64, bytes: &[u8]) {
        let Some(held) = self.trials.get(&id) else { return };
        let subject = self.connection.run(&held.desk, &self.machine.name);
        let (session, is_stored) = (self.session.clone(), bytes.is_empty());
        self.send(subject, ToCoordinator::Tried { session, trial: id, is_stored }, bytes).await;
    }

    /// Ends a trial whose report the desk has, or does not want any more.
    pub(super) fn trial_over(&mut self, desk: &str, at: u64, id: u64) {
        if self.is_later(desk, at) && self.trials.get(&id).is_some_and(|held| held.desk == desk) {
            self.forget_trial(id);
        }
    }

    fn forget_trial(&mut self, id: u64) {
        let report = self.trials.remove(&id).and_then(|held| held.report);
        if let Some(object) = report.and_then(|report| report.object) {
            self.delete(object);
        }
    }

    /// Forgets the trials of desks that are gone, except those in progress.
    pub(super) fn forget_silent_trials(&mut self, now: Instant) {
        let most = 2 * self.times.lost;
        let is_gone = |held: &HeldTrial| now - held.asked > most && (!held.is_begun || held.report.is_some());
        let gone = self.trials.iter().filter(|(_, held)| is_gone(held)).map(|(&id, _)| id);
        gone.collect::<Vec<u64>>().into_iter().for_each(|id| self.forget_trial(id));
    }
}
