//! What `verify` finds.

use std::fmt;

use serde::Serialize;

/// A difference between a record and its replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The match, if known.
    #[serde(rename = "match")]
    pub match_id: Option<String>,
    /// The latest request before the difference.
    pub turn: Option<u32>,
    /// The line, counted from 1.
    pub line: usize,
    /// What differs.
    pub what: String,
    /// Whether the rules failed during the replay, so that nothing is known about the record from this line on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rules_failed: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(id) = &self.match_id {
            write!(f, ", match {id}")?;
        }
        if let Some(turn) = self.turn {
            write!(f, ", turn {turn}")?;
        }
        write!(f, ": {}", self.what)
    }
}
