//! The results of every two entrants, against and with each other.

use std::collections::BTreeMap;

use referee_stats::rating::bradley_terry::Strengths;
use referee_stats::schedule::{Format, MatchId, Schedule};
use referee_stats::{Entrant, MatchResult, Wdl};
use serde::Serialize;

use super::standings::StandingsData;

/// The results of one entrant against or with another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeadToHead {
    /// Matches; with three sides, the share of them between these two.
    pub matches: f64,
    pub score: f64,
    /// The matches in which the entrant was ranked before or after the other one; of partners, their results.
    #[serde(flatten)]
    pub wdl: Wdl,
    /// The score expected by the fitted strengths of all; `None` for partners.
    pub expected: Option<f64>,
    pub match_ids: Vec<String>,
}

impl HeadToHead {
    fn add(&mut self, id: &str, score: f64) {
        // A match may have several seats of both.
        if self.match_ids.last().is_none_or(|last| last != id) {
            self.match_ids.push(id.to_owned());
            self.wdl.count(0.5_f64.total_cmp(&score).into(), 1);
        }
    }
}

/// Results by both orders of two entrants.
type Encounters = BTreeMap<(Entrant, Entrant), HeadToHead>;

fn id(attempts: &BTreeMap<u32, MatchId>, number: u32) -> String {
    attempts.get(&number).map_or_else(|| format!("m{number}"), MatchId::to_string)
}

/// Adds a match to the encounters of the entrants of both sides.
fn meet(encounters: &mut Encounters, id: &str, result: &MatchResult, strengths: &Strengths) {
    for (side, other) in result.comparisons() {
        let expected = strengths.expected(&result.lineup, side, other);
        for entrant in result.lineup.side(side) {
            for opponent in result.lineup.side(other) {
                let met = encounters.entry((entrant, opponent)).or_default();
                let before = met.match_ids.len();
                met.add(id, result.against(side, other));
                if met.match_ids.len() > before {
                    *met.expected.get_or_insert(0.0) += expected;
                }
            }
        }
    }
}

/// The results of opponents.
pub(super) fn opponents(schedule: &Schedule, standing: &StandingsData) -> Encounters {
    let mut encounters = Encounters::new();
    for (number, result) in schedule.numbered_results() {
        meet(&mut encounters, &id(&standing.attempts, number), result, &standing.strengths);
    }
    for ((entrant, other), met) in &mut encounters {
        let counted = standing.table.between(*entrant, *other);
        let share = counted.matches / met.match_ids.len() as f64;
        met.expected = met.expected.map(|expected| expected * share);
        (met.matches, met.score) = (counted.matches, counted.score);
    }
    // Annulled results do not count.
    encounters.retain(|_, met| met.matches > 0.0);
    encounters
}

/// The results of partners; `None` if partners are not drawn.
pub(super) fn partners(schedule: &Schedule, attempts: &BTreeMap<u32, MatchId>) -> Option<Encounters> {
    if !matches!(schedule.plan().format, Format::Partners { .. }) {
        return None;
    }
    let mut encounters = Encounters::new();
    for (number, result) in schedule.numbered_results() {
        let id = id(attempts, number);
        for side in 0..result.lineup.seating().sides() {
            for entrant in result.lineup.side(side) {
                for other in result.lineup.side(side).filter(|&other| other != entrant) {
                    let score = result.score(entrant).unwrap_or_default();
                    let met = encounters.entry((entrant, other)).or_default();
                    met.add(&id, score);
                    met.matches += 1.0;
                    met.score += score;
                }
            }
        }
    }
    Some(encounters)
}
