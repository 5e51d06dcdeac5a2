//! The rounds of a knockout.

use super::{Format, Schedule};
use crate::{Deals, Entrant};

impl Schedule {
    pub(super) fn next_knockout(&mut self, best_of: u32, tie_breaks: u32) {
        if self.extra < tie_breaks {
            let tied: Vec<usize> = (0..self.pairs.len()).filter(|&at| self.is_tied(at)).collect();
            if !tied.is_empty() {
                self.extra += 1;
                let count = self.tie_break_sets();
                for at in tied {
                    self.add_sets(at, count);
                }
                return;
            }
        }
        if self.round > 0 {
            for at in 0..self.pairs.len() {
                let [one, other] = self.pairs[at].entrants;
                let goes_out = if self.advancing(at) == one { other } else { one };
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
                self.add_pair([one, other], best_of);
            }
        }
    }

    /// The number of sets that break a tie: each pair in both seats.
    pub(super) fn tie_break_sets(&self) -> u32 {
        if self.plan.deals == Deals::Single { 2 } else { 1 }
    }

    /// The entrant of a pair that advances, once the pair plays no more.
    fn advancing(&self, pair: usize) -> Entrant {
        let [one, other] = self.pairs[pair].entrants;
        self.winner(pair).unwrap_or(one.min(other))
    }

    /// The winner of a pair; `None` while it is open or tied.
    pub(super) fn winner(&self, pair: usize) -> Option<Entrant> {
        let pair = &self.pairs[pair];
        let [one, other] = pair.entrants;
        let points = self.points(pair.entrants, &pair.sets);
        let open = 2 * self.open(&pair.sets);
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

    /// Returns whether a pair has played all its sets and is tied. Also true if an entrant has withdrawn
    /// since: its tie-break, which is not played, may have been in the schedule before.
    fn is_tied(&self, pair: usize) -> bool {
        let pair = &self.pairs[pair];
        let points = self.points(pair.entrants, &pair.sets);
        points[0] == points[1] && self.open(&pair.sets) == 0
    }

    /// Returns whether earlier sets decide the pair, whatever their open matches bring.
    pub(super) fn is_needless(&self, set: u32) -> bool {
        self.before(set).is_some_and(|ScoreBefore { lead, open, rest }| lead > open + rest)
    }

    /// Returns whether earlier sets leave the pair open, whatever their open matches bring.
    pub(super) fn is_needed(&self, set: u32) -> bool {
        self.before(set).is_none_or(|ScoreBefore { lead, open, rest }| lead + open <= rest)
    }

    /// The score of a pair before a set of a knockout round.
    fn before(&self, set: u32) -> Option<ScoreBefore> {
        if !matches!(self.plan.format, Format::Knockout { .. }) {
            return None;
        }
        let pair = &self.pairs[self.sets[set as usize - 1].pair];
        let (before, rest) = pair.sets.split_at(pair.sets.partition_point(|&other| other < set));
        let points = self.points(pair.entrants, before);
        Some(ScoreBefore {
            lead: points[0].abs_diff(points[1]),
            open: 2 * self.open(before),
            rest: 2 * rest.len() as u64 * u64::from(self.legs),
        })
    }
}

/// The score before a set, in half points.
struct ScoreBefore {
    /// The lead of one entrant in the earlier sets.
    lead: u64,
    /// The points of open matches of these sets.
    open: u64,
    /// The points of the set and later ones.
    rest: u64,
}
