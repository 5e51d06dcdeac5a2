//! The pairs of each round.

use std::collections::{BTreeMap, BTreeSet};

use super::{Format, Schedule};
use crate::Entrant;
use crate::pairing::knockout::bracket;

/// A pair of a round of a Swiss tournament, or a position of a knockout's bracket.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundPair {
    /// The entrants; `None` if not known yet, or for the opponent of a bye.
    pub entrants: [Option<Entrant>; 2],
    /// Whether the entrant has no opponent in this round.
    pub is_bye: bool,
    /// The numbers of their sets, from 1.
    pub sets: Vec<u32>,
    /// The points of each in these sets, or of a bye.
    pub points: [f64; 2],
    /// The entrant that advances in a knockout, once known.
    pub winner: Option<Entrant>,
}

impl RoundPair {
    fn bye(entrant: Entrant, points: f64, winner: Option<Entrant>) -> RoundPair {
        RoundPair {
            entrants: [Some(entrant), None],
            is_bye: true,
            sets: Vec::new(),
            points: [points, 0.0],
            winner,
        }
    }
}

/// The pairs of a round with their sets, in the order of pairing.
type PlayedPairs = Vec<([Entrant; 2], Vec<u32>)>;

impl Schedule {
    /// The rounds of a Swiss tournament that are paired, or the whole bracket of a knockout, first round first; pair
    /// k of a bracket round leads to pair k / 2 of the next. Empty in formats that are known in advance.
    pub fn rounds(&self) -> Vec<Vec<RoundPair>> {
        match self.plan.format {
            Format::Swiss { .. } => self.swiss_rounds(),
            Format::Knockout { .. } => self.bracket_rounds(),
            _ => Vec::new(),
        }
    }

    fn played(&self) -> Vec<PlayedPairs> {
        let mut rounds: Vec<PlayedPairs> = vec![Vec::new(); self.round as usize];
        for (at, set) in self.sets.iter().enumerate() {
            let pairs = &mut rounds[set.round as usize - 1];
            if set.pair == pairs.len() {
                let entrants = [0, 1].map(|side| set.first.side(side).next().unwrap_or_default());
                pairs.push((entrants, Vec::new()));
            }
            pairs[set.pair].1.push(at as u32 + 1);
        }
        rounds
    }

    fn pairing(&self, entrants: [Entrant; 2], sets: Vec<u32>, winner: Option<Entrant>) -> RoundPair {
        let points = self.points(entrants, &sets).map(|halves| halves as f64 / 2.0);
        RoundPair { entrants: entrants.map(Some), is_bye: false, sets, points, winner }
    }

    fn swiss_rounds(&self) -> Vec<Vec<RoundPair>> {
        let of_round = |(number, played): (u32, PlayedPairs)| {
            let paired: BTreeSet<Entrant> = played.iter().flat_map(|(pair, _)| *pair).collect();
            let byes = self.awards.iter().filter(|award| award.round == number);
            let byes = byes.filter(|award| !paired.contains(&award.entrant));
            let byes: Vec<RoundPair> = byes
                .map(|award| RoundPair::bye(award.entrant, f64::from(award.half_points) / 2.0, None))
                .collect();
            let pairs = played.into_iter().map(|(entrants, sets)| self.pairing(entrants, sets, None));
            pairs.chain(byes).collect()
        };
        (1..).zip(self.played()).map(of_round).collect()
    }

    fn bracket_rounds(&self) -> Vec<Vec<RoundPair>> {
        let places = bracket(self.plan.entrants.len());
        let mut places: Vec<Option<Entrant>> =
            places.into_iter().map(|seed| seed.map(|seed| Entrant(seed as u16))).collect();
        let mut played = self.played().into_iter();
        // The winner by first entrant of a pair of the current round.
        let winners = self.pairs.iter().enumerate().map(|(at, pair)| (pair.entrants[0], self.winner(at)));
        let winners: BTreeMap<Entrant, Option<Entrant>> = winners.collect();
        let mut rounds = Vec::new();
        while places.len() > 1 {
            let (number, pairs) = (rounds.len() as u32 + 1, played.next().unwrap_or_default());
            let sets: BTreeMap<Entrant, Vec<u32>> =
                pairs.into_iter().map(|(pair, sets)| (pair[0], sets)).collect();
            let is_out = |entrant: Entrant| self.out[entrant.index()] == Some(number);
            let pairing = |two: &[Option<Entrant>]| match *two {
                [Some(one), Some(other)] => {
                    let sets = sets.get(&one).cloned().unwrap_or_default();
                    let winner = match (is_out(one), is_out(other)) {
                        (true, _) => Some(other),
                        (_, true) => Some(one),
                        _ => winners.get(&one).copied().flatten().filter(|_| number == self.round),
                    };
                    self.pairing([one, other], sets, winner)
                }
                [Some(one), None] | [None, Some(one)] if number == 1 => RoundPair::bye(one, 0.0, Some(one)),
                _ => RoundPair {
                    entrants: [two[0], two[1]],
                    is_bye: false,
                    sets: Vec::new(),
                    points: [0.0; 2],
                    winner: None,
                },
            };
            let round: Vec<RoundPair> = places.chunks_exact(2).map(pairing).collect();
            places = round.iter().map(|pairing| pairing.winner).collect();
            rounds.push(round);
        }
        rounds
    }
}
