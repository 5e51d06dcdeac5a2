//! The timers of a lane, driven by one `tokio` sleep.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::server::watchdog::LaneClock;

/// Stale timers below this number are not cleaned up.
const FEW: usize = 1024;

/// A queue of timers. A timer that moves to a later time is not updated: it fires at its first time, and its owner
/// sets it again.
#[derive(Debug)]
pub(super) struct Timers<K> {
    due: BinaryHeap<Reverse<(u64, K)>>,
    sleep: Pin<Box<Sleep>>,
    armed: Option<Instant>,
}

impl<K: Copy + Ord> Timers<K> {
    pub(super) fn new() -> Self {
        Timers { due: BinaryHeap::new(), sleep: Box::pin(tokio::time::sleep(Duration::ZERO)), armed: None }
    }

    /// Adds a timer. The caller stores the time, and does not set the timer again for a later time.
    pub(super) fn set(&mut self, at: u64, key: K) {
        self.due.push(Reverse((at, key)));
    }

    /// Drops stale timers once they are the majority. `there` is the number of live keys.
    pub(super) fn tidy(&mut self, there: usize, is_there: impl Fn(&K) -> bool) {
        if self.due.len() > 4 * there + FEW {
            self.due.retain(|Reverse((_, key))| is_there(key));
        }
    }

    /// Takes the earliest timer that is due.
    pub(super) fn pop(&mut self, now: u64) -> Option<K> {
        let &Reverse((at, key)) = self.due.peek()?;
        (at <= now).then(|| {
            self.due.pop();
            key
        })
    }

    /// Returns how long the earliest timer has been due, or 0.
    pub(super) fn overdue(&self, now: u64) -> u64 {
        self.due.peek().map_or(0, |&Reverse((at, _))| now.saturating_sub(at))
    }

    /// Wakes the task when the next timer is due. Ready if one is due already.
    pub(super) fn poll(&mut self, clock: &LaneClock, cx: &mut Context<'_>) -> Poll<()> {
        let Some(&Reverse((at, _))) = self.due.peek() else {
            self.armed = None;
            return Poll::Pending;
        };
        // The clock may have stood still since the timer was armed; then the instant is later.
        let at = Instant::from(clock.instant(at));
        if self.armed != Some(at) {
            self.armed = Some(at);
            self.sleep.as_mut().reset(at);
        } else if !self.sleep.is_elapsed() {
            // The timer was polled at this time before: it holds the waker.
            return Poll::Pending;
        }
        self.sleep.as_mut().poll(cx)
    }
}
