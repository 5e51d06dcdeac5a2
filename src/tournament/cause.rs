//! Matches without a result.

use serde::Serialize;

/// How often a match is played at most that ends without a result: what breaks it off may come again.
const ATTEMPTS: u32 = 3;

/// Why a match was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The run ends.
    Interrupted,
    /// The referee did not run for too long.
    Paused,
    /// No bot was left, under the policy `random`.
    NoBots,
    /// No opening was found.
    NoOpening,
}

impl Cause {
    /// Those for which a match can be void.
    pub const OF_VOID: [Cause; 3] = [Cause::Paused, Cause::NoBots, Cause::NoOpening];

    /// The word of results and databases.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Interrupted => "interrupted",
            Cause::Paused => "paused",
            Cause::NoBots => "no_bots",
            Cause::NoOpening => "no_opening",
        }
    }

    /// Whether a match is void when this aborts its attempt of this number, from 1; else it is played again. Bots that have
    /// all left get no other deal by that.
    pub const fn is_void(self, attempt: u32) -> bool {
        match self {
            Cause::Interrupted => false,
            Cause::NoBots => true,
            Cause::Paused | Cause::NoOpening => attempt >= ATTEMPTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_that_of_json() {
        for cause in [Cause::Interrupted, Cause::Paused, Cause::NoBots, Cause::NoOpening] {
            assert_eq!(serde_json::to_string(&cause).unwrap(), format!("\"{}\"", cause.as_str()));
        }
    }

    #[test]
    fn a_match_is_played_three_times_unless_its_bots_have_left() {
        let voids = |cause: Cause| [1, 2, 3, 4].map(|attempt| cause.is_void(attempt));
        assert_eq!(voids(Cause::Paused), [false, false, true, true]);
        assert_eq!(voids(Cause::NoOpening), [false, false, true, true]);
        assert_eq!(voids(Cause::NoBots), [true; 4]);
        assert_eq!(voids(Cause::Interrupted), [false; 4]);
    }
}
