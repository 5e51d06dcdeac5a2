//! The ids of matches.

use std::fmt;
use std::str::FromStr;

use referee_game::Wrong;

/// The id of a match: m17, and m17.2 for its second attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId {
    /// From 1.
    pub number: u32,
    /// From 1.
    pub attempt: u32,
}

impl MatchId {
    /// The number of its set, from 1, if sets have `legs` matches.
    pub fn set(self, legs: u32) -> u32 {
        (self.number - 1) / legs + 1
    }
}

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.attempt {
            1 => write!(f, "m{}", self.number),
            attempt => write!(f, "m{}.{attempt}", self.number),
        }
    }
}

impl FromStr for MatchId {
    type Err = Wrong;
    fn from_str(text: &str) -> Result<MatchId, Wrong> {
        let parts = text.strip_prefix('m').map(|rest| rest.split_once('.').unwrap_or((rest, "1")));
        let positive = |text: &str| text.parse().ok().filter(|&number: &u32| number > 0);
        parts
            .and_then(|(number, attempt)| {
                Some(MatchId { number: positive(number)?, attempt: positive(attempt)? })
            })
            // A match has one id: not m017, m+17 or m17.1.
            .filter(|id| id.to_string() == text)
            .ok_or_else(|| Wrong::from(format!("invalid match id `{text}`; expected e.g. m17 or m17.2")))
    }
}
