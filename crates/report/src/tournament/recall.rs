//! The recall gap: what the names of a game are worth to entrants, by the same tournament in disguise.

use referee_stats::rating::Estimate;
use serde::Serialize;

use super::StandingsReport;

/// The gaps, the largest first.
#[derive(Debug, Serialize)]
pub struct RecallReport {
    pub entrants: Vec<RecallGap>,
}

/// In Elo, with 95% intervals; infinite values are `null`.
#[derive(Debug, Serialize)]
pub struct RecallGap {
    pub name: String,
    pub plain: Estimate,
    pub disguised: Estimate,
    /// The first less the second.
    pub gap: Estimate,
}

/// An entrant that plays in one of the tournaments only.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` did not play")]
pub struct NotTwins {
    pub name: String,
    /// Whether the entrant is missing in the tournament in disguise.
    pub in_disguised: bool,
}

/// The difference of two independent estimates.
fn difference(one: Estimate, other: Estimate) -> Estimate {
    let value = one.value - other.value;
    let down = (one.value - one.low).hypot(other.high - other.value);
    let up = (one.high - one.value).hypot(other.value - other.low);
    Estimate { value, low: value - down, high: value + up }
}

impl RecallReport {
    /// The gaps of entrants between a tournament and the same one in disguise.
    ///
    /// # Errors
    /// If they do not have the same entrants.
    pub fn of(plain: &StandingsReport, disguised: &StandingsReport) -> Result<RecallReport, NotTwins> {
        let missing = |one: &StandingsReport, other: &StandingsReport| {
            let has = |name: &String| other.entrants.iter().any(|of| of.name == *name);
            one.entrants.iter().map(|row| &row.name).find(|&name| !has(name)).cloned()
        };
        for (name, in_disguised) in [(missing(plain, disguised), true), (missing(disguised, plain), false)] {
            if let Some(name) = name {
                return Err(NotTwins { name, in_disguised });
            }
        }
        let pairs = plain.entrants.iter().filter_map(|row| {
            let twin = disguised.entrants.iter().find(|of| of.name == row.name)?;
            let gap = difference(row.elo, twin.elo);
            Some(RecallGap { name: row.name.clone(), plain: row.elo, disguised: twin.elo, gap })
        });
        let mut entrants: Vec<RecallGap> = pairs.collect();
        entrants.sort_by(|one, other| other.gap.value.total_cmp(&one.gap.value));
        Ok(RecallReport { entrants })
    }
}
