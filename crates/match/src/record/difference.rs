//! Findings of `verify`.

use std::error::Error;
use std::fmt;

use referee_game::erased::RulesError;
use referee_game::{Chain, Wrong};
use serde::{Serialize, Serializer};

/// A difference between a record and its replay.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// The match, if known.
    #[serde(rename = "match")]
    pub match_id: Option<String>,
    /// The latest request before the difference.
    pub turn: Option<u32>,
    /// The line, counted from 1.
    pub line: usize,
    /// The defect of the record, or the difference between it and its replay. Lines are shortened.
    #[serde(serialize_with = "as_text")]
    pub what: Wrong,
    /// Whether the rules failed during the replay, so that nothing is known about the record from this line on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rules_failed: bool,
}

impl Difference {
    /// A difference in a line, of a match that is not known.
    pub(super) fn at(line: usize, what: impl Into<RulesError>) -> Difference {
        let what = what.into();
        let rules_failed = matches!(what, RulesError::RulesFailed(_));
        Difference { match_id: None, turn: None, line, what: what.into(), rules_failed }
    }
}

fn as_text<S: Serializer>(what: &Wrong, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Chain(what))
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
        Ok(())
    }
}

impl Error for Difference {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.what)
    }
}
