//! The scores that are possible with three sides.

use serde::Serialize;

use super::NEW;
use crate::MatchResult;
use crate::sprt::logistic_elo;

/// The mean scores that a run allows. Of two sides of one version at most one comes first; if the second one then draws
/// with the other version, a version that wins every match scores less than 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PossibleScores {
    pub least: f64,
    pub most: f64,
}

impl PossibleScores {
    /// The empty sum.
    pub(super) const NONE: PossibleScores = PossibleScores { least: 0.0, most: 0.0 };

    /// Adds those of another set.
    pub(super) fn add(&mut self, other: PossibleScores) {
        self.least += other.least;
        self.most += other.most;
    }

    /// The possible scores of a set; `None` with two sides, or if a match has an order behind its winner.
    pub(super) fn of(matches: &[MatchResult]) -> Option<PossibleScores> {
        let mut sum = PossibleScores::NONE;
        for result in matches {
            let sides = result.lineup.seating().sides();
            let mut places = result.places[..sides].to_vec();
            places.sort_unstable();
            let has_order = places.iter().skip(1).any(|&place| place != places[sides - 1]);
            if sides != 3 || (has_order && result.faulted.is_empty()) {
                return None;
            }
            let of_new = (0..sides).filter(|&side| result.lineup.side(side).any(|entrant| entrant == NEW));
            let (least, most) = if of_new.count() == 1 { (0.25, 1.0) } else { (0.0, 0.75) };
            sum.least += least / matches.len() as f64;
            sum.most += most / matches.len() as f64;
        }
        Some(sum)
    }

    /// The differences in logistic Elo with these scores.
    pub fn elo(self) -> PossibleScores {
        PossibleScores { least: logistic_elo(self.least), most: logistic_elo(self.most) }
    }
}
