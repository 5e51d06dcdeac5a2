//! The rounds of a Swiss tournament.

use super::{ByePoints, Pair, Schedule};
use crate::pairing::swiss;
use crate::standings::Unplayed;
use crate::{Entrant, MatchResult};

impl Schedule {
    /// Closes the round, and pairs the next one.
    pub(super) fn next_swiss(&mut self, rounds: u32, sets: u32) {
        let matches = sets * self.legs;
        let ByePoints { allocated, requested } = self.plan.byes;
        self.close_round(matches);
        let round = self.round + 1;
        let has_pairs = |round: u32| self.plan.paired(round).nth(1).is_some();
        if !(round..=rounds).any(has_pairs) {
            self.is_over = true;
            return;
        }
        let known = self.swiss.len()..self.plan.entrants.len();
        self.swiss.extend(known.map(|index| swiss::Card::new(Entrant(index as u16), self.round)));
        self.round = round;
        let on_request = |entrant: &Entrant| {
            let entry = &self.plan.entrants[entrant.index()];
            entry.takes_part(round) && entry.absent.contains(&round)
        };
        let on_request: Vec<Entrant> =
            self.swiss.iter().map(|card| card.entrant).filter(on_request).collect();
        for entrant in on_request {
            self.award(entrant, Unplayed::Requested, matches, requested * matches);
        }
        let cards = self.plan.paired(round).map(|entrant| self.swiss[entrant.index()].clone()).collect();
        let paired = swiss::pair(cards);
        for entrants in paired.pairs {
            self.add_pair(entrants, sets);
        }
        if let Some(entrant) = paired.bye {
            self.award(entrant, Unplayed::Bye, matches, allocated * matches);
        }
        self.apply_late_rulings();
    }

    /// Enters a round with this number of matches per pair on the cards.
    fn close_round(&mut self, matches: u32) {
        let pairs = std::mem::take(&mut self.pairs);
        let mut has_played = vec![false; self.swiss.len()];
        for pair in &pairs {
            self.award_unplayed(pair);
            let is_played = self.write_down(pair);
            pair.entrants.iter().for_each(|entrant| has_played[entrant.index()] = is_played);
        }
        for award in self.awards.iter().filter(|award| award.round == self.round) {
            let card = &mut self.swiss[award.entrant.index()];
            card.points += u64::from(award.half_points);
            let is_bye = award.reason == Unplayed::Bye || award.half_points == 2 * matches;
            card.byes += u32::from(is_bye);
        }
        for (card, _) in self.swiss.iter_mut().zip(has_played).filter(|(_, has_played)| !has_played) {
            card.unplayed += 1;
            card.floated(1);
        }
    }

    /// Enters the results of a pair on its cards. Returns whether it has played.
    fn write_down(&mut self, pair: &Pair) -> bool {
        let before = pair.entrants.map(|entrant| self.swiss[entrant.index()].points);
        let points = self.points(pair.entrants, &pair.sets);
        let numbers: Vec<usize> = pair.sets.iter().flat_map(|&set| self.matches_of(set)).collect();
        let is_played = numbers.iter().any(|&number| self.results[number].is_some());
        for (at, &entrant) in pair.entrants.iter().enumerate() {
            let first = |result: &MatchResult| result.lineup.side(0).any(|other| other == entrant);
            let played = numbers.iter().filter_map(|&number| self.results[number].as_ref());
            let surplus: i32 = played.map(|result| if first(result) { 1 } else { -1 }).sum();
            let card = &mut self.swiss[entrant.index()];
            card.points += points[at];
            card.seats.extend(Some(surplus).filter(|&surplus| surplus != 0));
            if is_played {
                card.floated(before[at].cmp(&before[1 - at]) as i8);
                card.met.push(pair.entrants[1 - at]);
            }
        }
        is_played
    }
}
