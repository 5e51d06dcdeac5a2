//! Temporary exclusion of players whose matches end by their faults.

use super::SECOND;

/// The number of matches in a row that end by a player's fault after which it is excluded from pairing for a while.
pub const STRIKES: u32 = 3;
/// The duration of the first exclusion; each further one lasts twice as long.
const FIRST: u64 = 60 * SECOND;
const LONGEST: u64 = 60 * FIRST;

/// Excludes a player temporarily if its matches keep ending by its faults: such matches show nothing about its opponents,
/// and a bot that fails at once would be free for every pairing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultExclusion {
    /// Matches in a row that ended by its fault.
    strikes: u32,
    /// The number of exclusions in a row.
    times: u32,
    until: u64,
}

impl FaultExclusion {
    /// Counts a match that ended at this time. Returns the end of the exclusion if one begins.
    pub fn ended(&mut self, is_its_fault: bool, now: u64) -> Option<u64> {
        if !is_its_fault {
            *self = FaultExclusion { until: self.until, ..FaultExclusion::default() };
            return None;
        }
        self.strikes += 1;
        (self.strikes >= STRIKES).then(|| self.exclude(now))
    }

    /// Excludes a player that could not start. Returns the end of the exclusion.
    pub fn exclude(&mut self, now: u64) -> u64 {
        self.strikes = 0;
        self.until = now + (FIRST << self.times.min(6)).min(LONGEST);
        self.times += 1;
        self.until
    }

    /// Continues the exclusions of an earlier server: matches in a row that ended by a fault, exclusions in a row, and the
    /// end of the last one.
    pub fn resumed(strikes: u32, times: u32, until: u64) -> FaultExclusion {
        FaultExclusion { strikes, times, until }
    }

    /// The arguments of [`FaultExclusion::resumed`].
    pub fn state(&self) -> (u32, u32, u64) {
        (self.strikes, self.times, self.until)
    }

    /// The end of its exclusion; a time in the past if it is not excluded.
    pub fn until(&self) -> u64 {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_faults_in_row_put_player_out_longer_each_time() {
        let mut exclusion = FaultExclusion::default();
        let mut now = 0;
        let mut pauses = Vec::new();
        for _ in 0..9 {
            assert_eq!([exclusion.ended(true, now), exclusion.ended(true, now)], [None, None]);
            let until = exclusion.ended(true, now).unwrap();
            pauses.push((until - now) / FIRST);
            now = until;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    }

    #[test]
    fn a_match_without_a_fault_clears_the_count() {
        let mut exclusion = FaultExclusion::default();
        for _ in 0..9 {
            assert_eq!(exclusion.ended(true, 0), None);
            assert_eq!(exclusion.ended(true, 0), None);
            assert_eq!(exclusion.ended(false, 0), None);
        }
        assert_eq!(exclusion.exclude(5), 5 + FIRST);
        assert_eq!(exclusion.exclude(5), 5 + 2 * FIRST);
    }
}
