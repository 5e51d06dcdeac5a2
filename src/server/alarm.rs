//! One timer for all that a lane waits for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::Sleep;

/// Times that have to be looked at. A time that moves later costs nothing: it is looked at when it was first due.
pub(super) struct Alarms<K> {
    due: BinaryHeap<Reverse<(u64, K)>>,
    sleep: Pin<Box<Sleep>>,
    armed: Option<u64>,
}

impl<K: Copy + Ord> Alarms<K> {
    pub(super) fn new() -> Self {
        Alarms { due: BinaryHeap::new(), sleep: Box::pin(tokio::time::sleep(Duration::ZERO)), armed: None }
    }

    /// Looks at `key` at this time. The caller keeps what is set, and does not set it again for later times.
    pub(super) fn set(&mut self, at: u64, key: K) {
        self.due.push(Reverse((at, key)));
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
    pub(super) fn poll(&mut self, start: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let Some(&Reverse((at, _))) = self.due.peek() else {
            self.armed = None;
            return Poll::Pending;
        };
        if self.armed != Some(at) {
            self.armed = Some(at);
            self.sleep.as_mut().reset((start + Duration::from_micros(at)).into());
        } else if !self.sleep.is_elapsed() {
            // Polled before at this time: the timer holds our waker.
            return Poll::Pending;
        }
        self.sleep.as_mut().poll(cx)
    }
}
