//! A ruling as JSON.

use serde::Serialize;

use crate::store::{RuledMatch, RulingAct, RulingRow};

/// A ruling, as its organiser sees it.
#[derive(Serialize)]
#[serde(tag = "type", rename = "ruling")]
pub(in crate::cli) struct RulingLine<'a> {
    /// From 1.
    id: u32,
    /// In UTC.
    at: &'a str,
    /// The user of the operating system.
    user: &'a str,
    act: RulingAct,
    /// The same in words.
    decision: String,
    /// The ladder of a league; `null` in tournaments, and for all ladders.
    ladder: Option<&'a str>,
    matches: &'a [RuledMatch],
    /// The entrant or bot that is disqualified or renamed.
    name: Option<&'a str>,
    /// Whether all results of a disqualified one are annulled.
    is_from_start: bool,
    reason: &'a str,
    /// Whether reports and pages show the reason.
    is_public: bool,
    /// `null` while it is in force.
    undone: Option<UndoneLine<'a>>,
}

/// How a ruling was undone.
#[derive(Serialize)]
struct UndoneLine<'a> {
    /// In UTC.
    at: &'a str,
    /// The user of the operating system.
    user: &'a str,
    reason: &'a str,
}

impl RulingLine<'_> {
    pub(in crate::cli) fn of(row: &RulingRow) -> RulingLine<'_> {
        RulingLine {
            id: row.id,
            at: &row.at,
            user: &row.user,
            act: row.act,
            decision: row.words(),
            ladder: row.ladder.as_deref(),
            matches: &row.matches,
            name: row.name.as_deref(),
            is_from_start: row.is_from_start,
            reason: &row.reason,
            is_public: row.is_public,
            undone: row.undone.as_ref().map(|undone| UndoneLine {
                at: &undone.at,
                user: &undone.user,
                reason: &undone.reason,
            }),
        }
    }
}
