//! The time of a match.

use crate::core::clock::Tick;
use crate::referee::Stamp;

/// How the time of a match follows from that of its lane, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchClock {
    /// The lane's time when the lane got the match.
    since: u64,
    /// The lane's lag at that moment.
    lag: u64,
    /// The time of the match at that moment: 0 unless it was continued.
    base: u64,
}

impl MatchClock {
    pub(super) fn new(since: u64, lag: u64, base: Tick) -> MatchClock {
        MatchClock { since, lag, base: base.0 }
    }

    /// The time of the match.
    pub(super) fn at(&self, now: u64) -> Tick {
        Tick(self.base + now.saturating_sub(self.since))
    }

    /// The timestamp of an event.
    pub(super) fn stamp(&self, now: u64, lag: u64) -> Stamp {
        Stamp { at: self.at(now), lag: lag - self.lag }
    }

    /// The lane's time at this time of the match.
    pub(super) fn due(&self, at: Tick) -> u64 {
        self.since + at.0.saturating_sub(self.base)
    }
}
