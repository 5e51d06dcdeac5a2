//! What `verify` finds.

use std::error::Error;
use std::fmt;

use referee_game::Chain;
use referee_game::erased::{NotOpened, RulesFailed};
use serde::{Serialize, Serializer};

use crate::record::BadLine;
use crate::record::replay::{MOST_BYTES, MOST_LINES, NotReplayed};

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
    /// What differs.
    #[serde(serialize_with = "as_text")]
    pub what: Box<DifferenceKind>,
    /// Whether the rules failed during the replay, so that nothing is known about the record from this line on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rules_failed: bool,
}

/// What differs between a record and its replay. Lines are shortened.
#[derive(Debug, thiserror::Error)]
pub enum DifferenceKind {
    #[error(transparent)]
    Line(#[from] BadLine),
    #[error("no line of a record")]
    NotALine(#[source] BadLine),
    #[error("a line of a record has at most {MOST_BYTES} bytes")]
    LongLine,
    #[error("a record has at most {MOST_LINES} lines")]
    TooManyLines,
    #[error("the record is cut off: it does not end with a seal")]
    CutOff,
    #[error("the seal has other fields than {0}")]
    SealFields(String),
    #[error("the SHA-256 in the seal is not that of the record: it was changed after it was sealed")]
    Changed,
    #[error("the seed is not revealed")]
    SeedNotRevealed,
    #[error("seed and salt are 64 lower-case hex digits each")]
    InvalidSeed,
    #[error("the revealed seed and salt do not give the commitment of line 1")]
    OtherSeed,
    #[error("deal or nonces in the seal are not those of the match")]
    OtherReveal,
    #[error(transparent)]
    NotReplayed(#[from] NotReplayed),
    #[error("line 1 has other fields than a set-up: {0}")]
    HeaderFields(String),
    #[error("missing: {0}")]
    MissingLine(String),
    #[error("the record has no result")]
    NoResult,
    #[error("`bots` has other seats than the match")]
    OtherSeats,
    #[error("recorded {recorded}, but the rules give {given}")]
    OtherLine { recorded: String, given: String },
    #[error("this cannot happen here: {0}")]
    Impossible(String),
    #[error(transparent)]
    RulesFailed(#[from] RulesFailed),
    #[error(transparent)]
    NotReopened(NotOpened),
}

impl Difference {
    /// A difference in a line, of a match that is not known.
    pub(super) fn at(line: usize, what: impl Into<DifferenceKind>) -> Difference {
        let what = what.into();
        let rules_failed = matches!(
            what,
            DifferenceKind::RulesFailed(_)
                | DifferenceKind::NotReopened(_)
                | DifferenceKind::NotReplayed(NotReplayed::NotOpened(NotOpened::RulesFailed(_)))
        );
        Difference { match_id: None, turn: None, line, what: Box::new(what), rules_failed }
    }
}

fn as_text<S: Serializer>(what: &DifferenceKind, serializer: S) -> Result<S::Ok, S::Error> {
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
