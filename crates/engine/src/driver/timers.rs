//! The timers of a lane, driven by one `tokio` sleep.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::driver::clock::LaneClock;

/// A queue of timers, at most one for each key. Its owner stores the time of its timer and cancels it in the end. A
/// timer that moves to a later time is not updated: it fires at its first time, and its owner sets it again.
#[derive(Debug)]
pub(super) struct Timers<K> {
    due: BTreeSet<(u64, K)>,
    sleep: Pin<Box<Sleep>>,
    armed: Option<Instant>,
}

impl<K: Copy + Ord> Timers<K> {
    pub(super) fn new() -> Self {
        Timers { due: BTreeSet::new(), sleep: Box::pin(tokio::time::sleep(Duration::ZERO)), armed: None }
    }

    /// Sets the timer of a key, whose current time is `alarm`, unless it fires earlier anyway.
    pub(super) fn set(&mut self, alarm: &mut Option<u64>, at: u64, key: K) {
        if alarm.is_none_or(|alarm| at < alarm) {
            self.cancel(alarm.replace(at), key);
            self.due.insert((at, key));
        }
    }

    /// Removes the timer of a key, whose current time is `alarm`.
    pub(super) fn cancel(&mut self, alarm: Option<u64>, key: K) {
        if let Some(at) = alarm {
            self.due.remove(&(at, key));
        }
    }

    /// Takes the earliest timer that is due.
    pub(super) fn pop(&mut self, now: u64) -> Option<K> {
        let &(at, key) = self.due.first()?;
        (at <= now).then(|| {
            self.due.pop_first();
            key
        })
    }

    /// Returns how long the earliest timer has been due, or 0.
    pub(super) fn overdue(&self, now: u64) -> u64 {
        self.due.first().map_or(0, |&(at, _)| now.saturating_sub(at))
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> impl Iterator<Item = K> {
        self.due.iter().map(|&(_, key)| key)
    }

    /// Wakes the task when the next timer is due. Ready if one is due already.
    pub(super) fn poll(&mut self, clock: &LaneClock, cx: &mut Context<'_>) -> Poll<()> {
        let Some(&(at, _)) = self.due.first() else {
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
