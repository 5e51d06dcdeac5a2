//! Time inside a match: integer microseconds. The shell supplies all timestamps.

use std::ops::{Add, Sub};

use referee_protocol::referee::{Clock as ClockMs, TurnClock};
use serde::{Deserialize, Serialize};

/// Microseconds since the match opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tick(pub u64);

impl Add<u64> for Tick {
    type Output = Tick;
    fn add(self, us: u64) -> Tick {
        Tick(self.0.saturating_add(us))
    }
}

impl Sub for Tick {
    type Output = u64;
    /// Microseconds from `earlier` to `self`; 0 if `earlier` is later.
    fn sub(self, earlier: Tick) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A time control, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    delay: u64,
    bank: u64,
    increment: u64,
}

impl From<ClockMs> for TimeControl {
    fn from(ms: ClockMs) -> TimeControl {
        TimeControl { delay: ms.delay_ms * 1000, bank: ms.bank_ms * 1000, increment: ms.increment_ms * 1000 }
    }
}

/// The least limit of a request, in microseconds. With 0, a bot would have lost before it could read the request.
const LEAST_LIMIT: u64 = 1_000;

/// The remaining time of a seat. It can be negative: time used in the grace period is deducted too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank {
    clock: TimeControl,
    left: i64,
}

impl Bank {
    pub const fn new(clock: TimeControl) -> Bank {
        Bank { clock, left: clock.bank as i64 }
    }

    /// The time limit for the next answer.
    pub fn limit(&self) -> u64 {
        ((self.clock.delay as i64).saturating_add(self.left).max(0) as u64).max(LEAST_LIMIT)
    }

    /// Deducts the time that an answer took, beyond the delay.
    pub fn bill(&mut self, took: u64) {
        self.left = self.left.saturating_sub_unsigned(took.saturating_sub(self.clock.delay));
    }

    /// Adds the increment for an answer in time.
    pub fn credit(&mut self) {
        self.left = self.left.saturating_add_unsigned(self.clock.increment);
    }

    /// The clock as shown in a request, after `used` microseconds of its limit have passed.
    #[inline]
    pub fn shown(&self, used: u64) -> TurnClock {
        TurnClock {
            bank_ms: self.left.max(0) as u64 / 1000,
            limit_ms: self.limit().saturating_sub(used).max(LEAST_LIMIT) / 1000,
        }
    }
}
