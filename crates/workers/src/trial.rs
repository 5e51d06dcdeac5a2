//! Trials of programs that were handed in to a league: a worker builds and checks one, in place of the server.
//!
//! A trial travels as the units of a worker do, beside them: [`TrialQueue`] hands one out, and the worker's
//! [`TrialMachine`] does the work. The server trusts nothing of the result: it verifies the archive as it does with one that is
//! handed in. A trial whose worker is lost goes to another one, [`MOST_LOST`] times at most.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::sync::Arc;

use referee_bots::sandbox::BotLimits;
use referee_game::Catalog;
use referee_game::erased::Rules;
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};

use crate::archive::{ArchiveId, ArchiveLimits};
use crate::carrier::Order;
use crate::unit::OUTCOME_BYTES;

/// The maximum size of the archive of a worker's build, in bytes.
pub const BUILT_BYTES: usize = OUTCOME_BYTES;
/// The number of workers that may be lost with a trial before it is given up.
pub const MOST_LOST: u32 = 3;

/// A program that is to be built and checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialJob {
    /// The number, which no other trial of the server has.
    pub id: u64,
    /// The archive that was handed in.
    pub archive: ArchiveId,
    pub limits: ArchiveLimits,
    /// The limits of the archive of the build.
    pub result: ArchiveLimits,
    /// The limit of the build's duration, in milliseconds.
    pub build_ms: u64,
    /// The limit of the check's duration on each ladder, in milliseconds.
    pub check_ms: u64,
    /// The limits of the build in its sandbox, which is `strict`.
    pub build: BotLimits,
    /// The limits of the bot that is checked.
    pub bot: BotLimits,
    pub ladders: Vec<TrialLadder>,
}

impl TrialJob {
    /// Returns a job for tests, on no ladder.
    #[cfg(test)]
    pub(super) fn of_test(id: u64, archive: ArchiveId) -> TrialJob {
        TrialJob {
            id,
            archive,
            limits: ArchiveLimits::BOT,
            result: ArchiveLimits::BOT,
            build_ms: 1000,
            check_ms: 1000,
            build: BotLimits::default(),
            bot: BotLimits::default(),
            ladders: Vec::new(),
        }
    }

    /// A random number for a trial.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new_id() -> io::Result<u64> {
        let mut id = [0; 8];
        getrandom::fill(&mut id)?;
        Ok(u64::from_ne_bytes(id))
    }

    /// The archives that a machine needs for it.
    pub(super) fn archives(&self) -> impl Iterator<Item = ArchiveId> {
        self.ladders.iter().filter_map(|ladder| ladder.game_files).chain([self.archive])
    }
}

/// A ladder on which a program is checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialLadder {
    pub name: String,
    pub game: String,
    /// The version of the rules.
    pub rules: u32,
    /// The archive of the directory of the game, if its rules are a program.
    pub game_files: Option<ArchiveId>,
    /// The limit of a decision, in milliseconds.
    pub move_ms: u64,
    /// Timeout for `hello`, from the start, in milliseconds.
    pub hello_ms: u64,
    /// Timeout for the first `ready`, in milliseconds.
    pub ready_ms: u64,
    /// Timeout for `ready` in later matches, in milliseconds.
    pub later_ready_ms: u64,
}

/// A worker's reply to a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialReply {
    /// The report of the build and the check, for the owner.
    pub log: String,
    pub verdict: TrialVerdict,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialVerdict {
    /// The program plays on these ladders. With a build, there is the archive of the result.
    Passed {
        /// The names of the ladders.
        ladders: BTreeSet<String>,
        /// The archive, if something was built.
        built: Option<ArchiveId>,
    },
    /// The program has not passed, for this reason.
    Failed(String),
    /// The machine could not do it, which is no defect of the program.
    Unable(String),
    /// The machine cannot do it while its disk is full.
    Full(String),
}

/// The archive of a worker's build.
#[derive(Clone, Debug, Default)]
pub struct BuiltArchive {
    /// The archive; empty if nothing was built.
    pub bytes: Vec<u8>,
    /// The memory that is reserved for it.
    pub place: Option<Arc<OwnedSemaphorePermit>>,
}

#[derive(Clone, Debug)]
pub enum TrialEvent {
    /// The worker with this name has got it.
    Taken(String),
    /// The worker with this name was lost with it; another one will get it.
    Lost(String),
    /// Too many workers were lost with it. This is the last event.
    GivenUp,
    /// The worker with this name reports it. This is the last event.
    Reported(String, TrialReply, BuiltArchive),
}

/// A trial that a carrier hands out.
#[derive(Debug)]
pub(super) struct PendingTrial {
    pub(super) job: Box<TrialJob>,
    reply: UnboundedSender<TrialEvent>,
    /// The number of workers that were lost with it.
    lost: u32,
}

impl PendingTrial {
    /// A trial whose events go to `reply`.
    pub(super) fn new(job: Box<TrialJob>, reply: UnboundedSender<TrialEvent>) -> PendingTrial {
        PendingTrial { job, reply, lost: 0 }
    }

    /// Returns whether it was withdrawn: its events are not received any more.
    pub(super) fn is_withdrawn(&self) -> bool {
        self.reply.is_closed()
    }

    fn emit(&self, event: TrialEvent) {
        // The trial may be withdrawn.
        let _ = self.reply.send(event);
    }

    /// Reports that this worker has begun with the trial.
    pub(super) fn taken(&self, worker: &str) {
        self.emit(TrialEvent::Taken(worker.to_owned()));
    }

    /// Reports that this worker was lost with the trial. Returns the trial unless it is given up.
    pub(super) fn lose(mut self, worker: &str) -> Option<PendingTrial> {
        self.lost += 1;
        if self.lost >= MOST_LOST {
            self.emit(TrialEvent::GivenUp);
            return None;
        }
        self.emit(TrialEvent::Lost(worker.to_owned()));
        Some(self)
    }

    pub(super) fn reported(self, worker: &str, reply: TrialReply, built: BuiltArchive) {
        self.emit(TrialEvent::Reported(worker.to_owned(), reply, built));
    }
}

/// Does trials on the machine of a worker.
pub trait TrialMachine: Debug + Send + Sync {
    /// Builds and checks a program, with the rules of the ladders of the job in their order. Blocks until it
    /// has ended. Returns the archive of the build, too.
    fn run(
        &self,
        job: &TrialJob,
        archive: File,
        rules: &[&'static dyn Rules],
        catalog: &Catalog,
    ) -> (TrialReply, Vec<u8>);
}

/// Hands trials out to the workers of a carrier.
#[derive(Clone, Debug)]
pub struct TrialQueue {
    orders: WeakUnboundedSender<Order>,
}

impl TrialQueue {
    /// Creates the queue of a carrier that takes these orders, as long as it has others.
    pub(super) fn new(orders: &UnboundedSender<Order>) -> TrialQueue {
        TrialQueue { orders: orders.downgrade() }
    }

    /// Hands a trial out as soon as a worker can take it. If the events are dropped, it is not done any more. `None` once the
    /// carrier ends.
    pub fn hand_out(&self, job: TrialJob) -> Option<UnboundedReceiver<TrialEvent>> {
        let (reply, events) = unbounded_channel();
        self.orders.upgrade()?.send(Order::Try(Box::new(job), reply)).ok()?;
        Some(events)
    }
}
