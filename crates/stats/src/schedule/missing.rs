//! The number of matches still to be played.

use super::{Format, Schedule};
use crate::Entrant;

/// The number of matches still to be played if no entrant joins or withdraws. In a knockout it depends on results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchesLeft {
    pub least: u64,
    pub most: u64,
}

impl MatchesLeft {
    fn exactly(matches: u64) -> MatchesLeft {
        MatchesLeft { least: matches, most: matches }
    }

    /// Returns whether the number does not depend on results.
    pub fn is_certain(self) -> bool {
        self.least == self.most
    }
}

impl Schedule {
    /// The number of matches without a result, including those of rounds that are not paired yet.
    pub fn missing(&self) -> MatchesLeft {
        let due = self.due().count() as u64;
        match self.plan.format {
            Format::Swiss { rounds, sets } => MatchesLeft::exactly(due + self.later_rounds(rounds, sets)),
            Format::Knockout { best_of, tie_breaks } if !self.is_over => {
                let pairs = self.later_pairs();
                let sets = [best_of / 2 + 1, best_of + tie_breaks * self.tie_break_sets()];
                let [least, most] = sets.map(|sets| pairs * u64::from(sets * self.legs));
                MatchesLeft { least: due + least, most: self.most_of_round(tie_breaks) + most }
            }
            Format::Race(_) | Format::Grade(_) if !self.is_over => {
                MatchesLeft { least: due, most: self.most_matches() - (self.results.len() as u64 - due) }
            }
            _ => MatchesLeft::exactly(due),
        }
    }

    /// The matches of the rounds of a Swiss tournament that are not paired yet.
    fn later_rounds(&self, rounds: u32, sets: u32) -> u64 {
        let pairs = (self.round + 1..=rounds).map(|round| self.plan.paired(round).count() as u64 / 2);
        pairs.sum::<u64>() * u64::from(sets * self.legs)
    }

    /// The pairs of later rounds of a knockout. Each pair with a withdrawn entrant has one of these less to play.
    fn later_pairs(&self) -> u64 {
        let losers = self.pairs.iter().enumerate().filter_map(|(at, pair)| {
            let winner = self.winner(at)?;
            pair.entrants.into_iter().find(|&entrant| entrant != winner)
        });
        let losers: Vec<Entrant> = losers.collect();
        let there = || self.bracket.iter().flatten();
        let rest = there().count() - self.pairs.len();
        let left =
            there().filter(|entrant| !losers.contains(entrant) && self.has_left(**entrant, self.round));
        (rest - 1).saturating_sub(left.count()) as u64
    }

    /// The maximum number of open matches of the current round of a knockout.
    fn most_of_round(&self, tie_breaks: u32) -> u64 {
        let sets = (tie_breaks - self.extra) * self.tie_break_sets();
        let of_pair = |at: usize| {
            let open: Vec<u32> =
                self.pairs[at].sets.iter().copied().filter(|&set| !self.is_closed(set)).collect();
            let may_be_tied = self.winner(at).is_none();
            self.open(&open) + if may_be_tied { u64::from(sets * self.legs) } else { 0 }
        };
        (0..self.pairs.len()).map(of_pair).sum()
    }
}
