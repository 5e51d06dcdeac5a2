//! One timer for all that a lane waits for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::server::watchdog::LaneClock;

/// So many that are gone do not matter.
const FEW: usize = 1024;

/// Times that have to be looked at. A time that moves later costs nothing: it is looked at when it was first due.
pub(super) struct Timers<K> {
    due: BinaryHeap<Reverse<(u64, K)>>,
    sleep: Pin<Box<Sleep>>,
    armed: Option<Instant>,
}

impl<K: Copy + Ord> Timers<K> {
    pub(super) fn new() -> Self {
        Timers { due: BinaryHeap::new(), sleep: Box::pin(tokio::time::sleep(Duration::ZERO)), armed: None }
    }

    /// Looks at `key` at this time. The caller keeps what is set, and does not set it again for later times.
    pub(super) fn set(&mut self, at: u64, key: K) {
        self.due.push(Reverse((at, key)));
    }

    /// Drops what is gone, once that is most of what is set. So much is there.
    pub(super) fn tidy(&mut self, there: usize, is_there: impl Fn(&K) -> bool) {
        if self.due.len() > 4 * there + FEW {
            self.due.retain(|Reverse((_, key))| is_there(key));
        }
    }

    /// The earliest that is due.
    pub(super) fn pop(&mut self, now: u64) -> Option<K> {
        let &Reverse((at, key)) = self.due.peek()?;
        (at <= now).then(|| {
            self.due.pop();
            key
        })
    }

    /// For how long the earliest has been due.
    pub(super) fn overdue(&self, now: u64) -> u64 {
        self.due.peek().map_or(0, |&Reverse((at, _))| now.saturating_sub(at))
    }

    /// Wakes the task when the next is due. Ready when it is due already.
    pub(super) fn poll(&mut self, clock: &LaneClock, cx: &mut Context<'_>) -> Poll<()> {
        let Some(&Reverse((at, _))) = self.due.peek() else {
            self.armed = None;
            return Poll::Pending;
        };
        // It is later than it was when the clock has stood still meanwhile.
        let at = Instant::from(clock.instant(at));
        if self.armed != Some(at) {
            self.armed = Some(at);
            self.sleep.as_mut().reset(at);
        } else if !self.sleep.is_elapsed() {
            // Polled before at this time: the timer holds our waker.
            return Poll::Pending;
        }
        self.sleep.as_mut().poll(cx)
    }
}
