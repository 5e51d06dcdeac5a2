//! What is to be played next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::referee::{Leg, Opening};
use crate::server::post::Order;
use crate::server::results::MatchReport;

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
    /// The entrants by seat. One that stands in several seats gets a process or connection for each.
    pub entrants: Vec<usize>,
}

/// What a schedule has to offer.
pub enum Next {
    /// A match.
    Match(Fixture),
    /// Nothing now; something may come when a match that runs has ended.
    Later,
    /// Nothing any more.
    Never,
    /// It cannot go on, and why.
    Broken(String),
}

/// Hands out the matches of a run, each once.
pub trait Schedule: Send {
    /// The next match. `among`: only one whose seats these entrants fill, in whatever order.
    fn next(&mut self, among: Option<&[usize]>) -> Next;

    /// A match has ended. True where more matches can be played now than before.
    fn ended(&mut self, fixture: &Fixture, report: &MatchReport) -> bool;
}

/// Matches that have ended but are not reported yet; with more of them no new ones begin, so that a slow disk does not
/// fill the memory.
const MOST_UNREPORTED: usize = 1024;

/// A schedule that several lanes draw from.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<Inner>>);

struct Inner {
    schedule: Box<dyn Schedule>,
    /// Matches that run.
    open: usize,
    unreported: usize,
    /// Lanes that were told to wait.
    waiting: Vec<(usize, mpsc::UnboundedSender<Order>)>,
}

impl Inner {
    fn wake(&mut self) {
        for (_, lane) in self.waiting.drain(..) {
            // A lane that is done plays nothing more.
            let _ = lane.send(Order::Wake);
        }
    }
}

impl Shared {
    pub(super) fn new(schedule: Box<dyn Schedule>) -> Shared {
        let inner = Inner { schedule, open: 0, unreported: 0, waiting: Vec::new() };
        Shared(Arc::new(Mutex::new(inner)))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a lane plays next. If it has to wait it will be woken.
    pub(super) fn next(
        &self,
        (lane, orders): (usize, &mpsc::UnboundedSender<Order>),
        among: Option<&[usize]>,
    ) -> Next {
        let mut inner = self.lock();
        let next = if inner.unreported < MOST_UNREPORTED { inner.schedule.next(among) } else { Next::Later };
        match next {
            Next::Match(_) => inner.open += 1,
            Next::Later if inner.waiting.iter().all(|(waiting, _)| *waiting != lane) => {
                inner.waiting.push((lane, orders.clone()));
            }
            Next::Later | Next::Never | Next::Broken(_) => {}
        }
        next
    }

    /// A match has ended, and is going to be reported.
    pub(super) fn ended(&self, fixture: &Fixture, report: &MatchReport) {
        let mut inner = self.lock();
        inner.unreported += 1;
        inner.open -= 1;
        // What has ended last leaves nothing to wait for.
        if inner.schedule.ended(fixture, report) || inner.open == 0 {
            inner.wake();
        }
    }

    /// A match is reported.
    pub(super) fn reported(&self) {
        let mut inner = self.lock();
        inner.unreported -= 1;
        if inner.unreported + 1 == MOST_UNREPORTED {
            inner.wake();
        }
    }
}
