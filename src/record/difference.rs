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
