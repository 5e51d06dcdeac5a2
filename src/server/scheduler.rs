//! What is to be played next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::referee::{Leg, Opening};
use crate::server::lane_messages::LaneOrder;
use crate::server::results::MatchReport;

/// What a match does when one of its bots is not connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It waits, and its bot loses by a fault when it has been away for too long.
    Always,
    /// The same, unless another bot connects meanwhile, so that there may be other matches to play.
    AsLastResort,
    /// It goes back to the schedule.
    Never,
}

/// A match that is to be played.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// m1, m2, ...
    pub id: String,
    /// The deal, where it is not the match's own: that of a mirrored set.
    pub deal: Option<String>,
    /// Which match of its deal it is.
    pub leg: Leg,
    /// The options of the game.
    pub options: Arc<RawValue>,
    /// What it begins with.
    pub opening: Arc<Opening>,
    /// The bots by seat. One that stands in several seats gets a process or connection for each.
    pub entrants: Vec<usize>,
    /// What it does when one of them is not connected.
    pub wait: Wait,
}

/// What a schedule has to offer.
pub enum Next {
    /// A match.
    Match(Fixture),
    /// Nothing now; something may come when a match that runs has ended.
    Later,
    /// Nothing any more.
    Never,
}

/// Hands out the matches of a run, each once.
pub trait Scheduler: Send {
    /// The next match. `among`: only one whose seats these entrants fill, in whatever order.
    fn next(&mut self, among: Option<&[usize]>) -> Next;

    /// A match has ended. True where more matches can be played now than before.
    fn ended(&mut self, fixture: &Fixture, report: &MatchReport) -> bool;

    /// A match has not begun, because one of its bots is not connected. Only of those that do not always wait.
    fn put_back(&mut self, _fixture: &Fixture) {}

    /// An entrant is not connected, or is again.
    fn set_absent(&mut self, _entrant: usize, _is_absent: bool) {}
}

/// With so many matches that are not reported, or so many bytes of their records, no new match begins, so that a slow
/// disk does not fill the memory.
const MOST_UNREPORTED: Backlog = Backlog { matches: 1024, bytes: 256 * 1024 * 1024 };

/// Matches that have ended but are not reported yet.
#[derive(Default)]
pub(super) struct Backlog {
    matches: usize,
    bytes: usize,
}

impl Backlog {
    pub(super) fn is_full(&self) -> bool {
        self.matches >= MOST_UNREPORTED.matches || self.bytes >= MOST_UNREPORTED.bytes
    }

    pub(super) fn add(&mut self, record: usize) {
        self.matches += 1;
        self.bytes += record;
    }

    pub(super) fn remove(&mut self, record: usize) {
        self.matches -= 1;
        self.bytes -= record;
    }
}

/// A schedule that several lanes draw from.
#[derive(Clone)]
pub(super) struct SharedScheduler(Arc<Mutex<Inner>>);

struct Inner {
    schedule: Box<dyn Scheduler>,
    /// Matches that run.
    open: usize,
    unreported: Backlog,
    /// Whether no match begins any more.
    is_draining: bool,
    /// Lanes that were told to wait.
    waiting: Vec<(usize, mpsc::UnboundedSender<LaneOrder>)>,
}

impl Inner {
    fn wake(&mut self) {
        for (_, lane) in self.waiting.drain(..) {
            // A lane that is done plays nothing more.
            let _ = lane.send(LaneOrder::Wake);
        }
    }
}

impl SharedScheduler {
    pub(super) fn new(schedule: Box<dyn Scheduler>) -> SharedScheduler {
        let inner = Inner {
            schedule,
            open: 0,
            unreported: Backlog::default(),
            is_draining: false,
            waiting: Vec::new(),
        };
        SharedScheduler(Arc::new(Mutex::new(inner)))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a lane plays next. If it has to wait it will be woken.
    pub(super) fn next(
        &self,
        (lane, orders): (usize, &mpsc::UnboundedSender<LaneOrder>),
        among: Option<&[usize]>,
    ) -> Next {
        let mut inner = self.lock();
        let next = match &mut *inner {
            Inner { is_draining: true, .. } => Next::Never,
            Inner { unreported, .. } if unreported.is_full() => Next::Later,
            Inner { schedule, .. } => schedule.next(among),
        };
        match next {
            Next::Match(_) => inner.open += 1,
            Next::Later if inner.waiting.iter().all(|(waiting, _)| *waiting != lane) => {
                inner.waiting.push((lane, orders.clone()));
            }
            Next::Later | Next::Never => {}
        }
        next
    }

    /// A match has ended, and is going to be reported. Its record has so many bytes.
    pub(super) fn ended(&self, fixture: &Fixture, report: &MatchReport, record: usize) {
        let mut inner = self.lock();
        inner.unreported.add(record);
        inner.open -= 1;
        // What has ended last leaves nothing to wait for.
        if inner.schedule.ended(fixture, report) || inner.open == 0 {
            inner.wake();
        }
    }

    /// From now on no match begins: those that run come to their end.
    pub(super) fn drain(&self) {
        let mut inner = self.lock();
        inner.is_draining = true;
        inner.wake();
    }

    /// A match has not begun.
    pub(super) fn put_back(&self, fixture: &Fixture) {
        let mut inner = self.lock();
        inner.open -= 1;
        inner.schedule.put_back(fixture);
        inner.wake();
    }

    /// Entrants are not connected, or are again.
    pub(super) fn set_absent(&self, entrants: impl Iterator<Item = usize>, is_absent: bool) {
        let mut inner = self.lock();
        entrants.for_each(|entrant| inner.schedule.set_absent(entrant, is_absent));
        if !is_absent {
            inner.wake();
        }
    }

    /// A match is reported whose record had so many bytes.
    pub(super) fn reported(&self, record: usize) {
        let mut inner = self.lock();
        let was_full = inner.unreported.is_full();
        inner.unreported.remove(record);
        if was_full && !inner.unreported.is_full() {
            inner.wake();
        }
    }
}
