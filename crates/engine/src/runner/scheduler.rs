//! Chooses the next match.

use referee_game::Wrong;
use referee_results::FinishedMatch;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::runner::fixture::Fixture;
use crate::runner::lane_messages::{LaneHandle, LaneOrder};

/// The answer of a scheduler.
#[derive(Debug)]
pub enum Next {
    Match(Fixture),
    /// No match now; there may be matches when one in progress has ended.
    Later,
    /// No more matches.
    Never,
}

/// The answer of a [`SetScheduler`].
#[derive(Debug)]
pub enum NextSet {
    Set(DueSet),
    /// No set now; there may be sets when one in progress has ended.
    Later,
    /// No more sets.
    Never,
}

/// The matches of a set that are left to play.
#[derive(Clone, Debug)]
pub struct DueSet {
    /// From 1.
    pub number: u32,
    /// The matches, in the order in which they are played.
    pub fixtures: Vec<Fixture>,
}

/// A scheduler that can also hand out whole sets.
pub trait SetScheduler: Scheduler {
    /// The next set. [`Scheduler::ended`] is called for each of its matches that was played, [`Scheduler::put_back`] for
    /// the others.
    fn next_set(&mut self) -> NextSet;

    /// Sets the number of sets that workers play concurrently.
    fn set_slots(&mut self, _slots: usize) {}

    /// Returns whether the run continues without sets, until it is drained or interrupted. Sets that no
    /// worker has are then put back while there are no workers.
    fn is_endless(&self) -> bool {
        false
    }

    /// A set ended its workers too often and is not played. Only called if the run is endless; another one ends incomplete.
    fn give_up(&mut self, _set: &DueSet) {}
}

/// Hands out the matches of a run, each once.
pub trait Scheduler: fmt::Debug + Send {
    /// The next match. `among`: only one whose seats these bots fill, in any order.
    fn next(&mut self, among: Option<&[usize]>) -> Next;

    /// Takes a match that has ended. Returns whether more matches can be played now.
    fn ended(&mut self, fixture: &Fixture, finished: &FinishedMatch) -> bool;

    /// Puts back a match that has not begun, because one of its bots is not connected. Not called for
    /// [`Wait::Always`](crate::runner::Wait::Always).
    fn put_back(&mut self, _fixture: &Fixture) {}

    /// A bot joins the run, with this index.
    ///
    /// # Errors
    /// Why it cannot play.
    fn join(&mut self, _bot: usize, name: &str) -> Result<(), Wrong> {
        Err(format!("`{name}` cannot join: the bots of this run are fixed").into())
    }

    /// Sets the number of connections of a bot that joined by connecting.
    fn set_connections(&mut self, _bot: usize, _connections: usize) {}

    /// Notes that a bot has disconnected, or has connected again.
    fn set_absent(&mut self, _entrant: usize, _is_absent: bool) {}
}

/// The limits of unreported matches and of bytes of their records above which no new match starts, so that a slow disk does
/// not fill the memory.
const MOST_UNREPORTED: Backlog = Backlog { matches: 1024, bytes: 256 * 1024 * 1024 };

/// Matches that have ended but have not been reported.
#[derive(Debug, Default)]
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

    /// Returns whether there is room again.
    pub(super) fn remove(&mut self, record: usize) -> bool {
        let was_full = self.is_full();
        self.matches -= 1;
        self.bytes -= record;
        was_full && !self.is_full()
    }
}

/// A scheduler that several lanes share.
#[derive(Clone)]
pub(super) struct SharedScheduler(Arc<Mutex<SchedulerState>>);

#[derive(Debug)]
struct SchedulerState {
    schedule: Box<dyn Scheduler>,
    /// The number of matches in progress.
    open: usize,
    unreported: Backlog,
    /// Whether no new match may start.
    is_draining: bool,
    /// Lanes that wait for matches.
    waiting: Vec<LaneHandle>,
}

impl SchedulerState {
    fn wake(&mut self) {
        for lane in self.waiting.drain(..) {
            // A lane that is done plays no more matches.
            let _ = lane.orders.send(LaneOrder::Wake);
        }
    }
}

impl SharedScheduler {
    pub(super) fn new(schedule: Box<dyn Scheduler>) -> SharedScheduler {
        let inner = SchedulerState {
            schedule,
            open: 0,
            unreported: Backlog::default(),
            is_draining: false,
            waiting: Vec::new(),
        };
        SharedScheduler(Arc::new(Mutex::new(inner)))
    }

    fn lock(&self) -> MutexGuard<'_, SchedulerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next match for a lane. A lane that has to wait will be woken.
    pub(super) fn next(&self, lane: &LaneHandle, among: Option<&[usize]>) -> Next {
        let mut inner = self.lock();
        let next = match &mut *inner {
            SchedulerState { is_draining: true, .. } => Next::Never,
            SchedulerState { unreported, .. } if unreported.is_full() => Next::Later,
            SchedulerState { schedule, .. } => schedule.next(among),
        };
        match next {
            Next::Match(_) => inner.open += 1,
            Next::Later if inner.waiting.iter().all(|waiting| waiting.number != lane.number) => {
                inner.waiting.push(lane.clone());
            }
            Next::Later | Next::Never => {}
        }
        next
    }

    /// Notes that a match of an earlier run continues.
    pub(super) fn resumed(&self) {
        self.lock().open += 1;
    }

    /// Counts a match that has ended and will be reported. `record`: the size of its record in bytes.
    pub(super) fn ended(&self, fixture: &Fixture, finished: &FinishedMatch, record: usize) {
        let mut inner = self.lock();
        inner.unreported.add(record);
        inner.open -= 1;
        // After the last match there is nothing left to wait for.
        if inner.schedule.ended(fixture, finished) || inner.open == 0 {
            inner.wake();
        }
    }

    /// Stops starting matches; those in progress continue.
    pub(super) fn drain(&self) {
        let mut inner = self.lock();
        inner.is_draining = true;
        inner.wake();
    }

    pub(super) fn put_back(&self, fixture: &Fixture) {
        let mut inner = self.lock();
        inner.open -= 1;
        inner.schedule.put_back(fixture);
        inner.wake();
    }

    /// Asks the schedule again for matches, since there may be more now.
    pub(super) fn wake(&self) {
        self.lock().wake();
    }

    pub(super) fn join(&self, bot: usize, name: &str) -> Result<(), Wrong> {
        let mut inner = self.lock();
        let joined = inner.schedule.join(bot, name);
        inner.wake();
        joined
    }

    /// The number of connections of a bot that joined has changed.
    pub(super) fn set_connections(&self, bot: usize, connections: usize) {
        let mut inner = self.lock();
        inner.schedule.set_connections(bot, connections);
        inner.wake();
    }

    /// Notes that bots have disconnected, or have connected again.
    pub(super) fn set_absent(&self, entrants: impl Iterator<Item = usize>, is_absent: bool) {
        let mut inner = self.lock();
        entrants.for_each(|entrant| inner.schedule.set_absent(entrant, is_absent));
        if !is_absent {
            inner.wake();
        }
    }

    /// Counts a match that has been reported. `record`: the size of its record in bytes.
    pub(super) fn reported(&self, record: usize) {
        let mut inner = self.lock();
        if inner.unreported.remove(record) {
            inner.wake();
        }
    }
}
