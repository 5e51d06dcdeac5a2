//! The rounds of a knockout.

use super::{Format, Pair, Schedule};
use crate::tournament::{Deals, Entrant};

impl Schedule {
    pub(super) fn next_knockout(&mut self, best_of: u32, tie_breaks: u32) {
        if self.extra < tie_breaks {
            let tied: Vec<usize> = (0..self.pairs.len()).filter(|&at| self.is_tied(at)).collect();
            if !tied.is_empty() {
                self.extra += 1;
                let count = self.tie_break_sets();
                for at in tied {
                    let Pair { entrants, mut sets } = self.pairs[at].clone();
                    self.add_sets(entrants, count, &mut sets);
                    self.pairs[at].sets = sets;
                }
                return;
            }
        }
        if self.round > 0 {
            for at in 0..self.pairs.len() {
                let [one, other] = self.pairs[at].entrants;
                let goes_out = if self.goes_on(at) == one { other } else { one };
                self.out[goes_out.index()] = Some(self.round);
            }
            let is_in = |entrant: &Entrant| self.out[entrant.index()].is_none();
            let next = |places: &[Option<Entrant>]| places.iter().copied().flatten().find(is_in);
            self.bracket = self.bracket.chunks(2).map(next).collect();
            self.pairs.clear();
        }
        if self.bracket.len() < 2 {
            self.is_over = true;
            return;
        }
        self.round += 1;
        self.extra = 0;
        for places in self.bracket.clone().chunks(2) {
            if let [Some(one), Some(other)] = *places {
                let mut sets = Vec::new();
                self.add_sets([one, other], best_of, &mut sets);
                self.pairs.push(Pair { entrants: [one, other], sets });
            }
        }
    }

    /// How many sets break a tie: each pair in both seats.
    pub(super) fn tie_break_sets(&self) -> u32 {
        if self.plan.deals == Deals::Single { 2 } else { 1 }
    }

    /// Who of a pair goes on when it plays no more.
    fn goes_on(&self, pair: usize) -> Entrant {
        let [one, other] = self.pairs[pair].entrants;
        self.winner(pair).unwrap_or(one.min(other))
    }

    /// Who of a pair has won; none as long as that is open or they are equal.
    fn winner(&self, pair: usize) -> Option<Entrant> {
        let pair = &self.pairs[pair];
        let [one, other] = pair.entrants;
        let points = self.points(pair);
        let open = 2 * self.open(pair);
        if points[0] > points[1] + open {
            Some(one)
        } else if points[1] > points[0] + open {
            Some(other)
        } else {
            match [one, other].map(|entrant| self.has_left(entrant, self.round)) {
                [true, false] => Some(other),
                [false, true] => Some(one),
                [true, true] => Some(one.min(other)),
                [false, false] => None,
            }
        }
    }

    /// Whether a pair has played all its sets and is equal. Also of one that has left meanwhile: its tie-break, which
    /// nobody plays any more, may have been in the schedule before.
    fn is_tied(&self, pair: usize) -> bool {
        let pair = &self.pairs[pair];
        let points = self.points(pair);
        points[0] == points[1] && self.open(pair) == 0
    }

    /// Whether a set has not begun and its pair is decided without it.
    pub(super) fn is_needless(&self, set: u32) -> bool {
        let at = self.pairs.iter().position(|pair| pair.sets.contains(&set));
        let has_not_begun = || self.results[self.matches_of(set)].iter().all(Option::is_none);
        matches!(self.plan.format, Format::Knockout { .. })
            && has_not_begun()
            && at.is_some_and(|at| self.winner(at).is_some())
    }
}
