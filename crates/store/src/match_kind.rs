//! The kinds of ladders' matches, and the ids that tell them apart.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

/// The kind of a match. The database has the number of the variant, the id of the match its letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// The ladder paired the players. Matches of tournaments are of this kind.
    #[default]
    Pairing = 0,
    /// A challenge, which is not rated.
    Challenge = 1,
    /// A challenge on a ladder where challenges are rated.
    RatedChallenge = 2,
}

impl MatchKind {
    const ALL: [MatchKind; 3] = [MatchKind::Pairing, MatchKind::Challenge, MatchKind::RatedChallenge];

    fn letter(self) -> char {
        match self {
            MatchKind::Pairing => 'm',
            MatchKind::Challenge => 'c',
            MatchKind::RatedChallenge => 'r',
        }
    }

    /// Returns whether it was requested with `referee league challenge`.
    pub fn is_challenge(self) -> bool {
        self != MatchKind::Pairing
    }

    /// Returns whether such matches count for ratings.
    pub fn is_rated(self) -> bool {
        self != MatchKind::Challenge
    }
}

impl ToSql for MatchKind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok((*self as i64).into())
    }
}

impl FromSql for MatchKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<MatchKind> {
        let number = value.as_i64()?;
        let kind = MatchKind::ALL.into_iter().find(|&kind| kind as i64 == number);
        kind.ok_or(FromSqlError::OutOfRange(number))
    }
}

/// The id of a match: m17; c17 or, if it is rated, r17 for a challenge.
pub fn match_id(number: u32, kind: MatchKind) -> String {
    format!("{}{number}", kind.letter())
}

/// The number in a match id, and the kind of the match.
pub fn parse_match_id(id: &str) -> Option<(u32, MatchKind)> {
    let kind = MatchKind::ALL.into_iter().find(|kind| id.starts_with(kind.letter()))?;
    let number = id[1..].parse().ok().filter(|&number| number > 0)?;
    (match_id(number, kind) == id).then_some((number, kind))
}
