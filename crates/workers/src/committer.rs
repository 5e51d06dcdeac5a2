//! Verifies outcomes and stores their records, on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use referee_protocol::words::FaultCode;
use referee_results::FinishedMatch;
use tokio::sync::mpsc::UnboundedSender;

use crate::job::{Job, JobBots};
use crate::unit::{EncodedOutcome, UnitId, WorkUnit};
use crate::verify::{NotVerified, Unstarted, VerifiedMatch, verify};
use referee_engine::runner::{EndedMatch, Fixture, Halt, NoShow, RecordSink, RunEvent};
use referee_files::Records;
use referee_game::seat::Seat;
use referee_game::{Catalog, Chain, Wrong};
use referee_match::Leg;

/// The maximum number of matches whose records are synchronized at once.
const BATCH: usize = 64;

#[derive(Debug)]
pub(super) enum CommitRequest {
    Outcome {
        /// The unit as it was handed out last.
        unit: Arc<WorkUnit>,
        fixtures: Vec<Fixture>,
        /// The outcome, perhaps of an earlier attempt.
        outcome: EncodedOutcome,
        worker: String,
        /// Whether the outcome counts although a bot did not start.
        is_final: bool,
    },
    /// The last message.
    Over {
        /// Whether all sets were played.
        is_complete: bool,
    },
}

#[derive(Debug)]
pub(super) struct Committed {
    pub(super) unit: UnitId,
    pub(super) worker: String,
    pub(super) result: CommitResult,
}

/// The result of committing an outcome.
#[derive(Debug)]
pub(super) enum CommitResult {
    /// The outcome counts and is stored.
    Counted {
        matches: Vec<FinishedMatch>,
        /// The bot that did not start, if one did not.
        unstarted: Option<Unstarted>,
    },
    /// The outcome does not count: a bot did not start.
    Unstarted(Unstarted),
    /// The outcome does not match the unit.
    Refused(String),
    /// The outcome cannot be stored, which ends the run.
    Failed(Halt),
}

/// Verifies and stores outcomes.
pub(super) struct Committer<F> {
    record_sink: RecordSink<F>,
    catalog: Catalog,
    records: Option<Records>,
    bots: JobBots,
}

impl<F: FnMut(RunEvent<'_>) -> Result<(), Halt>> Committer<F> {
    pub(super) fn new(job: &mut Job, on_event: F) -> Committer<F> {
        let record_sink =
            RecordSink::new(job.records.clone(), job.unsealed.take(), job.live.clone(), on_event);
        let record_sink = if job.judges_rules { record_sink } else { record_sink.tolerating_rules() };
        let (catalog, records) = (job.catalog.clone(), job.records.clone());
        Committer { record_sink, catalog, records, bots: job.bots.clone() }
    }

    /// Stores outcomes until the coordinator has no more.
    pub(super) fn work(mut self, outcomes: &Receiver<CommitRequest>, to: &UnboundedSender<Committed>) {
        while let Ok(first) = outcomes.recv() {
            self.step(first, outcomes, to);
        }
    }

    /// Stores this outcome and those that have arrived: one synchronization covers all.
    pub(super) fn step(
        &mut self,
        first: CommitRequest,
        outcomes: &Receiver<CommitRequest>,
        to: &UnboundedSender<Committed>,
    ) {
        let mut stored = Vec::new();
        let (mut next, mut over) = (Some(first), None);
        while let Some(to_commit) = next.take() {
            match to_commit {
                CommitRequest::Outcome { unit, fixtures, outcome, worker, is_final } => {
                    let unit_id = outcome.unit.clone();
                    match self.keep(&unit, fixtures, &outcome, &worker, is_final) {
                        CommitResult::Counted { matches, unstarted } => {
                            stored.push((unit_id, worker, (matches, unstarted)));
                        }
                        result => {
                            let _ = to.send(Committed { unit: unit_id, worker, result });
                        }
                    }
                }
                CommitRequest::Over { is_complete } => over = Some(is_complete),
            }
            next = if self.record_sink.len() < BATCH { outcomes.try_recv().ok() } else { None };
        }
        let mut halt = self.record_sink.settle().err();
        if halt.is_some() {
            // The error ends the run, and nothing waits for the others.
            stored.truncate(1);
        }
        for (unit, worker, (matches, unstarted)) in stored {
            let counted = CommitResult::Counted { matches, unstarted };
            let result = halt.take().map_or(counted, CommitResult::Failed);
            // The coordinator waits for it.
            let _ = to.send(Committed { unit, worker, result });
        }
        if let Some(is_complete) = over
            && let Err(Halt::Failed(why)) = self.record_sink.close(is_complete)
        {
            tracing::error!("{}", Chain(&why));
        }
    }

    /// Verifies an outcome and writes its records, unless a bot did not start and it is not final.
    fn keep(
        &mut self,
        unit: &WorkUnit,
        fixtures: Vec<Fixture>,
        outcome: &EncodedOutcome,
        worker: &str,
        is_final: bool,
    ) -> CommitResult {
        let decoded = outcome.decode().map_err(NotVerified::from);
        let verified = match decoded.and_then(|outcome| verify(unit, &outcome, &self.catalog)) {
            Ok(verified) => verified,
            Err(why @ NotVerified::RulesFailed(..)) => {
                let failure = Wrong::at(outcome.unit.to_string(), why);
                return CommitResult::Failed(failure.into());
            }
            Err(why) => return CommitResult::Refused(Chain(&why).to_string()),
        };
        let unstarted = verified.iter().find_map(|found| found.unstarted.clone());
        if let Some(unstarted) = unstarted.as_ref().filter(|_| !is_final) {
            return CommitResult::Unstarted(unstarted.clone());
        }
        let is_left = verified.last().is_some_and(|last| last.finished.is_to_be_replayed());
        let mut matches = Vec::with_capacity(verified.len());
        for (mut fixture, found) in fixtures.into_iter().zip(verified) {
            let VerifiedMatch { mut finished, record, reveal, .. } = found;
            if is_left && fixture.leg == Leg::Last {
                // The deal is still to be played.
                fixture.leg = Leg::Earlier;
            }
            finished.commands = fixture.bots.iter().map(|&bot| self.bots.command(bot)).collect();
            finished.record = self.records.as_ref().map(|records| records.path(&fixture.id));
            finished.worker = Some(worker.to_owned());
            let no_show = no_show(&fixture, &finished);
            matches.push(finished.clone());
            let ended = EndedMatch { fixture, finished, record, seal: None, reveal, no_show };
            if let Err(halt) = self.record_sink.keep(ended) {
                return CommitResult::Failed(halt);
            }
        }
        CommitResult::Counted { matches, unstarted }
    }
}

/// The seat whose bot did not start.
fn no_show(fixture: &Fixture, finished: &FinishedMatch) -> Option<NoShow> {
    let is_absent = |faults: &referee_match::Faults| {
        faults.iter().any(|(code, count)| code == FaultCode::NoStart && count > 0)
    };
    let seat = finished.faults.iter().position(is_absent)?;
    let said = finished.evidence.iter().find(|evidence| evidence.seat.index() == seat);
    let detail = said.and_then(|evidence| evidence.detail.clone()).unwrap_or_default();
    let why = format!("the bot `{}` does not start: {detail}", finished.seats[seat]);
    Some(NoShow { entrant: fixture.bots[seat], seat: Seat(seat as u8), why })
}
