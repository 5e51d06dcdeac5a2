//! The rounds of a grade.

use super::Schedule;
use crate::grade::{Anchor, GradeTerms, Grading, next_anchors};
use crate::rating::bradley_terry::{Counts, FitConstraints, fit_anchored};
use crate::{Entrant, MatchResult};

const GRADED: Entrant = Entrant(0);

impl Schedule {
    /// Grades by the sets so far, and pairs the next round.
    pub(super) fn next_grade(&mut self, terms: &GradeTerms) {
        let entries = (0..).map(Entrant).zip(&self.plan.entrants);
        let known = FitConstraints {
            anchors: entries.clone().filter_map(|(entrant, entry)| Some((entrant, entry.elo?))).collect(),
            is_trusted: true,
            ..FitConstraints::default()
        };
        let round = self.round + 1;
        let anchors = entries.filter(|(entrant, entry)| *entrant != GRADED && entry.takes_part(round));
        let mut anchors: Vec<Anchor> = anchors
            .filter_map(|(entrant, entry)| Some(Anchor { entrant, elo: entry.elo?, sets: 0 }))
            .collect();
        for anchor in &mut anchors {
            let paired = self.sets.iter().filter(|set| set.first.has(anchor.entrant));
            anchor.sets = paired.count() as u32;
        }
        // A set with a void match does not count, nor one in which an anchor was not itself.
        let is_fault_of_anchor = |result: &MatchResult| {
            result.lineup.seats().iter().any(|&entrant| entrant != GRADED && result.is_fault_of(entrant))
        };
        let whole =
            self.results.chunks_exact(self.legs as usize).filter(|set| set.iter().all(Option::is_some));
        let (dropped, sets): (Vec<&[Option<MatchResult>]>, Vec<_>) =
            whole.partition(|set| set.iter().flatten().any(is_fault_of_anchor));
        let counts = Counts::of(self.plan.entrants.len(), sets.iter().copied().flatten().flatten());
        let elo = fit_anchored(&counts, &known).elo.first().copied().unwrap_or_default();
        let grading = Grading::new(elo, sets.len() as u32, dropped.len() as u32, terms);
        self.grading = Some(grading);
        self.pairs.clear();
        let is_over = grading.is_graded
            || grading.is_spoiled()
            || !self.plan.entrants[GRADED.index()].takes_part(round);
        let mut next = if is_over { Vec::new() } else { next_anchors(grading.elo.value, &mut anchors) };
        next.truncate((terms.max_sets as usize).saturating_sub(self.sets.len()));
        self.is_over = next.is_empty();
        if !self.is_over {
            self.round = round;
        }
        for (anchor, at) in next.into_iter().zip(0..) {
            let pair = [GRADED, anchor];
            self.add_pair(if at % 2 == 0 { pair } else { [anchor, GRADED] }, 1);
        }
    }
}
