//! Parts of a run that are played separately.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use referee_game::Wrong;

/// A part of the sets of a run: every `of`th, starting with `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// From 1 to `of`.
    pub number: u32,
    pub of: u32,
}

impl Shard {
    /// Returns whether a set, counted from 1, belongs to it.
    pub fn has(self, set: u32) -> bool {
        set > 0 && (set - 1) % self.of == self.number - 1
    }

    /// The number of the first `sets` sets that belong to it.
    pub fn count(self, sets: u32) -> u32 {
        (sets + self.of - self.number) / self.of
    }

    /// The index of a set among those of the shard, from 1.
    pub fn place(self, set: u32) -> u32 {
        (set - 1) / self.of + 1
    }

    /// The set at an index, from 1.
    pub fn set(self, place: u32) -> u32 {
        (place - 1) * self.of + self.number
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = Wrong;
    fn from_str(text: &str) -> Result<Shard, Wrong> {
        let parts =
            text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let shard = parts.map(|(number, of)| Shard { number, of });
        shard.filter(|shard| (1..=shard.of).contains(&shard.number) && shard.of <= 10_000).ok_or_else(|| {
            Wrong::from(format!(
                "invalid shard `{text}`; expected e.g. 2/4: the second of four, at most 10000"
            ))
        })
    }
}
