//! Time as the match knows it: integer microseconds that the shell stamps.

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
    /// The microseconds from `earlier` to this; 0 if it is not earlier.
    fn sub(self, earlier: Tick) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The rules of a clock, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    delay: u64,
    bank: u64,
    increment: u64,
}

impl From<ClockMs> for Clock {
    fn from(ms: ClockMs) -> Clock {
        Clock { delay: ms.delay_ms * 1000, bank: ms.bank_ms * 1000, increment: ms.increment_ms * 1000 }
    }
}

/// What a seat has left. It may have gone below zero by what was forgiven but billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank {
    clock: Clock,
    left: i64,
}

impl Bank {
    /// A full bank.
    pub const fn new(clock: Clock) -> Bank {
        Bank { clock, left: clock.bank as i64 }
    }

    /// All the time there is for an answer.
    pub fn limit(&self) -> u64 {
        (self.clock.delay as i64).saturating_add(self.left).max(0) as u64
    }

    /// Takes what an answer used.
    pub fn bill(&mut self, took: u64) {
        self.left = self.left.saturating_sub_unsigned(took.saturating_sub(self.clock.delay));
    }

    /// Adds what an answer in time earns.
    pub fn credit(&mut self) {
        self.left = self.left.saturating_add_unsigned(self.clock.increment);
    }

    /// As a request shows it when `used` microseconds of it are gone already.
    pub fn shown(&self, used: u64) -> TurnClock {
        TurnClock {
            bank_ms: self.left.max(0) as u64 / 1000,
            limit_ms: self.limit().saturating_sub(used) / 1000,
        }
    }
}
