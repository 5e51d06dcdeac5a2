//! The rounds of a Swiss tournament.

use super::{Pair, Schedule};
use crate::tournament::pairing::swiss;
use crate::tournament::{Entrant, MatchResult};

impl Schedule {
    pub(super) fn next_swiss(&mut self, rounds: u32, sets: u32) {
        for pair in std::mem::take(&mut self.pairs) {
            self.award_unplayed(&pair);
            self.write_down(&pair);
        }
        for award in &self.awards {
            if award.round == self.round {
                self.swiss[award.entrant.index()].points += 2 * u64::from(award.matches);
            }
        }
        if self.round == rounds {
            self.is_over = true;
            return;
        }
        let round = self.round + 1;
        let known = self.swiss.len()..self.plan.entrants.len();
        self.swiss.extend(known.map(|index| swiss::Card {
            entrant: Entrant(index as u16),
            points: 0,
            byes: 0,
            surplus: 0,
            met: Vec::new(),
            float: 0,
        }));
        let there = |card: &&swiss::Card| self.plan.entrants[card.entrant.index()].is_there(round);
        let cards: Vec<swiss::Card> = self.swiss.iter().filter(there).cloned().collect();
        if cards.len() < 2 {
            self.is_over = true;
            return;
        }
        self.round = round;
        let paired = swiss::pair(cards);
        for entrants in paired.pairs {
            self.add_pair(entrants, sets);
        }
        if let Some(entrant) = paired.bye {
            self.swiss[entrant.index()].byes += 1;
            self.swiss[entrant.index()].float = 1;
            self.award(entrant, sets * self.legs);
        }
    }

    /// Records the results of a pair on its cards.
    fn write_down(&mut self, pair: &Pair) {
        let before = pair.entrants.map(|entrant| self.swiss[entrant.index()].points);
        let points = self.points(pair.entrants, &pair.sets);
        let numbers: Vec<usize> = pair.sets.iter().flat_map(|&set| self.matches_of(set)).collect();
        for (at, &entrant) in pair.entrants.iter().enumerate() {
            let first = |result: &MatchResult| result.lineup.side(0).any(|other| other == entrant);
            let played = numbers.iter().filter_map(|&number| self.results[number].as_ref());
            let surplus: i32 = played.map(|result| if first(result) { 1 } else { -1 }).sum();
            let card = &mut self.swiss[entrant.index()];
            card.points += points[at];
            card.surplus += surplus;
            card.float = before[at].cmp(&before[1 - at]) as i8;
            if numbers.iter().any(|&number| self.results[number].is_some()) {
                card.met.push(pair.entrants[1 - at]);
            }
        }
    }
}
