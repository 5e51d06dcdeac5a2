//! The rounds of a Swiss tournament and the bracket of a knockout.

use std::collections::BTreeMap;

use referee_stats::Entrant;
use referee_stats::schedule::{Format, RoundPair, Schedule};
use referee_store::EntrantRow;
use serde::Serialize;

use super::ListedMatch;
use super::text::points;
use crate::page::halves;

/// A round of a Swiss tournament or a knockout.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BracketRound {
    /// From 1.
    pub round: u32,
    /// `Final`, `Semi-finals`, `Round 1`.
    pub title: String,
    /// In the order of pairing. In a knockout all positions of the bracket: pair k of a round leads to pair k / 2 of
    /// the next, counted from 0.
    pub pairs: Vec<PairReport>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairReport {
    /// The names; `None` if not known yet, or for the opponent of a bye.
    pub entrants: [Option<String>; 2],
    /// Whether the entrant has no opponent in this round.
    pub is_bye: bool,
    /// The points of each, also of a bye.
    pub points: [f64; 2],
    /// The matches with a result.
    pub matches: Vec<String>,
    /// The entrant that advances in a knockout, once known.
    pub winner: Option<String>,
}

impl PairReport {
    /// Returns whether any entrant of the pair is known.
    pub(super) fn is_known(&self) -> bool {
        self.entrants.iter().any(Option::is_some)
    }

    /// The text at a position: a name or a placeholder.
    pub(super) fn name(&self, place: usize) -> &str {
        match &self.entrants[place] {
            Some(name) => name,
            None if self.is_bye => "bye",
            None => "?",
        }
    }

    /// The score at a position for pages: `1½`.
    pub(super) fn in_halves(&self, place: usize) -> String {
        if self.score(place).is_empty() { String::new() } else { halves(self.points[place]) }
    }

    /// The score at a position, if there was a match or a bye with points.
    pub(super) fn score(&self, place: usize) -> String {
        let is_empty = self.matches.is_empty() && self.points[place] == 0.0;
        if is_empty { String::new() } else { points(self.points[place]) }
    }
}

/// The rounds, with the listed matches.
pub(super) fn rounds(
    schedule: &Schedule,
    entrants: &[EntrantRow],
    matches: &[ListedMatch],
) -> Vec<BracketRound> {
    let mut of_set: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for listed in matches.iter().filter(|listed| listed.ranks.is_some()) {
        of_set.entry(&listed.set).or_default().push(listed.id.clone());
    }
    let of_set = |set: u32| of_set.get(&*format!("s{set}")).cloned().unwrap_or_default();
    let names: Vec<&str> = entrants.iter().map(|entrant| &*entrant.name).collect();
    told(schedule, &names, of_set)
}

/// The bracket of a knockout in progress, with these names of the entrants; `None` in another format.
pub fn live_bracket(schedule: &Schedule, names: &[&str]) -> Option<Vec<BracketRound>> {
    if !matches!(schedule.plan().format, Format::Knockout { .. }) {
        return None;
    }
    let mut of_set: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (number, result) in schedule.numbered_results() {
        of_set.entry(result.set).or_default().push(format!("m{number}"));
    }
    Some(told(schedule, names, |set| of_set.get(&set).cloned().unwrap_or_default()))
}

/// Returns the name of a round of a knockout with this number of rounds.
pub(super) fn stage(round: usize, rounds: usize) -> String {
    match rounds - round {
        0 => "Final".to_owned(),
        1 => "Semi-finals".to_owned(),
        2 => "Quarter-finals".to_owned(),
        _ => format!("Round {round}"),
    }
}

fn told(schedule: &Schedule, names: &[&str], of_set: impl Fn(u32) -> Vec<String>) -> Vec<BracketRound> {
    let name = |entrant: Entrant| names[entrant.index()].to_owned();
    let pair = |RoundPair { entrants, is_bye, sets, points, winner }: RoundPair| PairReport {
        entrants: entrants.map(|entrant| entrant.map(name)),
        is_bye,
        points,
        matches: sets.into_iter().flat_map(&of_set).collect(),
        winner: winner.map(name),
    };
    let rounds = schedule.rounds();
    let (is_knockout, last) = (matches!(schedule.plan().format, Format::Knockout { .. }), rounds.len());
    let title = |round| if is_knockout { stage(round, last) } else { format!("Round {round}") };
    let report = |(round, pairs): (usize, Vec<RoundPair>)| BracketRound {
        round: round as u32,
        title: title(round),
        pairs: pairs.into_iter().map(pair).collect(),
    };
    (1..).zip(rounds).map(report).collect()
}

/// The maximum number of positions in the first round of a bracket that is drawn as text.
const DRAWN: usize = 64;

/// Draws a bracket, the final to the right. `None` without a bracket, or if it is too large.
pub(super) fn drawn(rounds: &[BracketRound], is_knockout: bool) -> Option<String> {
    let places = 2 * rounds.first()?.pairs.len();
    if !is_knockout || places > DRAWN {
        return None;
    }
    let height = 2 * places - 1;
    // The row of a position of a round: in the middle of those that lead to it.
    let row = |round: usize, place: usize| ((2 * place + 1) << round) - 1;
    let mut lines = vec![String::new(); height];
    for (at, BracketRound { pairs, .. }) in rounds.iter().enumerate() {
        let cells: Vec<[String; 2]> = pairs
            .iter()
            .flat_map(|pair| [0, 1].map(|place| [pair.name(place).to_owned(), pair.score(place)]))
            .collect();
        let width = |part: usize| cells.iter().map(|cell| cell[part].chars().count()).max().unwrap_or(0);
        let [names, scores] = [0, 1].map(width);
        for (y, line) in lines.iter_mut().enumerate() {
            let here = (0..cells.len()).find(|&place| row(at, place) == y);
            let [name, score] = here.map_or(["", ""], |place| [&*cells[place][0], &*cells[place][1]]);
            let mark = (0..pairs.len()).find_map(|pair| {
                let (top, bottom) = (row(at, 2 * pair), row(at, 2 * pair + 1));
                Some(match y {
                    y if y == top => "─┐ ",
                    y if y == bottom => "─┘ ",
                    y if y == row(at + 1, pair) => " ├─",
                    y if top < y && y < bottom => " │ ",
                    _ => return None,
                })
            });
            *line += &format!("{name:names$} {score:>scores$} {}", mark.unwrap_or("   "));
        }
    }
    let winner = rounds.last()?.pairs.first()?.winner.as_deref().unwrap_or("?");
    lines[row(rounds.len(), 0)] += winner;
    Some(lines.iter().map(|line| format!("{}\n", line.trim_end())).collect())
}
