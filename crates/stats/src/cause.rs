//! Matches without a result.

use serde::Serialize;

/// The maximum number of attempts at a match without a result: the cause may recur.
const ATTEMPTS: u32 = 3;

/// The maximum number of attempts in an outage, which may last: ten in a row end a run, so that three runs that end so cost no
/// result.
const ATTEMPTS_IN_OUTAGES: u32 = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    Interrupted,
    /// The referee was suspended for too long.
    Paused,
    /// The bots had all failed, under the policy `random`.
    NoBots,
    NoOpening,
    RulesFailed,
    /// The chooser of a bot's moves could not be reached.
    Unavailable,
}

impl Cause {
    /// The causes that can make a match void.
    pub const OF_VOID: [Cause; 5] =
        [Cause::Paused, Cause::NoBots, Cause::NoOpening, Cause::RulesFailed, Cause::Unavailable];

    /// The identifier in results and databases.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Interrupted => "interrupted",
            Cause::Paused => "paused",
            Cause::NoBots => "no_bots",
            Cause::NoOpening => "no_opening",
            Cause::RulesFailed => "rules_failed",
            Cause::Unavailable => "unavailable",
        }
    }

    /// Returns whether a match is void if its attempt of this number, from 1, is aborted for this cause;
    /// otherwise it is replayed. Bots that have all failed do not get another deal; rules fail after a second
    /// try.
    pub const fn is_void(self, attempt: u32) -> bool {
        match self {
            Cause::Interrupted => false,
            Cause::NoBots | Cause::RulesFailed => true,
            Cause::Paused | Cause::NoOpening => attempt >= ATTEMPTS,
            Cause::Unavailable => attempt >= ATTEMPTS_IN_OUTAGES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identifier_is_that_of_json() {
        for cause in [Cause::Interrupted].into_iter().chain(Cause::OF_VOID) {
            assert_eq!(serde_json::to_string(&cause).unwrap(), format!("\"{}\"", cause.as_str()));
        }
    }

    #[test]
    fn a_match_has_three_attempts_unless_all_bots_have_failed() {
        let voids = |cause: Cause| [1, 2, 3, 4].map(|attempt| cause.is_void(attempt));
        assert_eq!(voids(Cause::Paused), [false, false, true, true]);
        assert_eq!(voids(Cause::NoOpening), [false, false, true, true]);
        assert_eq!([10, 29, 30].map(|attempt| Cause::Unavailable.is_void(attempt)), [false, false, true]);
        assert_eq!(voids(Cause::NoBots), [true; 4]);
        assert_eq!(voids(Cause::Interrupted), [false; 4]);
    }
}
