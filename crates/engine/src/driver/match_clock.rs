//! The time of a match.

use referee_game::clock::Tick;
use referee_match::Stamp;

/// Converts the time of a lane into that of a match, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchClock {
    /// The lane's time when the lane got the match.
    since: u64,
    /// The time of the match at that moment: 0 unless it was continued.
    base: u64,
    /// The time spent so far on writing the requests of the match.
    writing: u64,
}

impl MatchClock {
    pub(super) fn new(since: u64, base: Tick) -> MatchClock {
        MatchClock { since, base: base.0, writing: 0 }
    }

    /// Notes the time that writing requests of the match took, in microseconds.
    pub(super) fn note_writing(&mut self, us: u64) {
        self.writing += us;
    }

    pub(super) fn at(&self, now: u64) -> Tick {
        Tick(self.base + now.saturating_sub(self.since))
    }

    /// The timestamp of an event that may have waited for `waited` microseconds.
    pub(super) fn stamp(&self, now: u64, waited: u64) -> Stamp {
        Stamp { at: self.at(now), lag: self.writing + waited }
    }

    /// The lane's time at this time of the match.
    pub(super) fn due(&self, at: Tick) -> u64 {
        self.since + at.0.saturating_sub(self.base)
    }
}
