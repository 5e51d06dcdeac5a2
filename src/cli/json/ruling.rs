//! A ruling as JSON.

use serde::Serialize;

use crate::store::RulingRow;

/// A ruling, as its organiser sees it.
#[derive(Serialize)]
#[serde(tag = "type", rename = "ruling")]
pub(in crate::cli) struct RulingLine<'a> {
    #[serde(flatten)]
    row: &'a RulingRow,
    decision: String,
}

impl RulingLine<'_> {
    pub(in crate::cli) fn of(row: &RulingRow) -> RulingLine<'_> {
        RulingLine { row, decision: row.words() }
    }
}
