//! Grades: how strong one bot is by its matches against anchors, whose strengths are known.
//!
//! The bot plays sets against the anchors in rounds, until two gradings of the same bot differ by at most the tolerance in
//! 95% of all cases ([`GradeTerms::suffices`]). Its strength is the fit for a ladder, in which anchors do not move
//! ([`fit_anchored`](crate::rating::bradley_terry::fit_anchored)).
//!
//! A set tells most about a bot against an anchor of its strength: the information is p (1 - p), where p is the expected
//! score. The anchors share the sets in proportion to the *square* of it ([`next_anchors`]). To play only the
//! nearest anchor would take fewer sets, but a bot that plays better against one anchor than against its neighbours would
//! be graded by whichever of them happened to come first.

use std::cmp::Ordering;

use referee_game::Wrong;
use serde::{Deserialize, Serialize};

use crate::Entrant;
use crate::rating::{ELO_PER_LOGIT, Estimate};

/// The minimum number of sets. Before, the strength is not normally distributed enough for an interval.
const LEAST_SETS: u32 = 16;
/// The number of sets with a fault of an anchor from which on a grade ends, if they are more than a quarter of those that count.
const MOST_DROPPED: u32 = 8;
/// The minimum number of sets of a round, and the share of all sets that it is at least.
const ROUND: (usize, usize) = (8, 16);

/// The conditions under which a bot counts as graded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradeTerms {
    /// The difference of two gradings of the same bot that 95% of all cases do not exceed, in Elo.
    pub within: f64,
    /// The strength below which bots all have the same grade, so that it does not matter how weak they are. In Elo.
    pub low: f64,
    /// The strength above which bots all have the same grade. In Elo.
    pub high: f64,
    /// The maximum number of sets; then the bot is graded with a greater tolerance.
    pub max_sets: u32,
}

impl GradeTerms {
    /// Checks their values.
    ///
    /// # Errors
    /// Which one is out of range.
    pub fn check(&self) -> Result<(), Wrong> {
        let GradeTerms { within, low, high, .. } = *self;
        if !(within > 0.0 && within.is_finite() && low < high) {
            return Err(Wrong::from(format!("grades within {within} Elo from {low} to {high} Elo")));
        }
        Ok(())
    }

    /// Returns whether a strength is known well enough. The difference of two gradings has twice the variance
    /// of one.
    pub fn suffices(&self, elo: &Estimate) -> bool {
        let margin = (elo.high - elo.low) / 2.0 * std::f64::consts::SQRT_2;
        let graded = |elo: f64| elo.clamp(self.low, self.high);
        let value = graded(elo.value);
        graded(elo.value + margin) - value <= self.within && value - graded(elo.value - margin) <= self.within
    }
}

/// The grading of a bot so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grading {
    /// The strength. The error of those of the anchors is not part of the interval.
    pub elo: Estimate,
    /// The number of sets that count.
    pub sets: u32,
    /// The number of sets that do not, because an anchor made a fault.
    pub dropped: u32,
    /// Whether the strength of the bot is known well enough.
    pub is_graded: bool,
}

impl Grading {
    /// Judges a bot after this number of sets that count.
    pub fn new(elo: Estimate, sets: u32, dropped: u32, terms: &GradeTerms) -> Grading {
        Grading { elo, sets, dropped, is_graded: sets >= LEAST_SETS && terms.suffices(&elo) }
    }

    /// Returns whether the anchors make too many faults to go on.
    pub fn is_spoiled(&self) -> bool {
        self.dropped >= MOST_DROPPED && self.dropped > self.sets / 4
    }
}

/// An anchor that takes part.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    pub entrant: Entrant,
    pub elo: f64,
    /// The number of sets that have been paired with it.
    pub sets: u32,
}

/// The anchors of the next round, one for each set.
pub fn next_anchors(elo: f64, anchors: &mut [Anchor]) -> Vec<Entrant> {
    let weight = |anchor: &Anchor| {
        let p = 1.0 / (1.0 + ((anchor.elo - elo) / ELO_PER_LOGIT).exp());
        // Of very distant anchors, the nearest one still counts most.
        (p * (1.0 - p)).max(f64::MIN_POSITIVE.sqrt()).powi(2)
    };
    let sum: f64 = anchors.iter().map(weight).sum();
    let (least, share) = ROUND;
    let before: usize = anchors.iter().map(|anchor| anchor.sets as usize).sum();
    let size = least.max(before / share);
    let all = (before + size) as f64;
    let mut next = Vec::new();
    for _ in 0..size {
        let missing = |anchor: &Anchor| all * weight(anchor) / sum - f64::from(anchor.sets);
        let most = anchors.iter_mut().max_by(|one, other| missing(one).total_cmp(&missing(other)));
        let Some(most) = most else { break };
        most.sets += 1;
        next.push(most.entrant);
    }
    next
}

/// A grade: from which strength on a bot has it, and with how many points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradeStep {
    pub grade: String,
    /// The strength from which on a bot has it. The first grade is also that of weaker bots.
    pub elo: f64,
    /// The points of a bot of exactly this strength. In between they grow in proportion to the strength.
    pub points: f64,
}

/// Grades by strength.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<GradeStep>", into = "Vec<GradeStep>")]
pub struct GradeScale(Vec<GradeStep>);

impl TryFrom<Vec<GradeStep>> for GradeScale {
    type Error = Wrong;

    fn try_from(steps: Vec<GradeStep>) -> Result<GradeScale, Wrong> {
        let is_valid = |step: &GradeStep| {
            (-10_000.0..=10_000.0).contains(&step.elo) && (0.0..=1_000_000.0).contains(&step.points)
        };
        if let Some(step) = steps.iter().find(|step| !is_valid(step)) {
            let what = "expected from -10000 to 10000 Elo, and at most 1000000 points";
            return Err(Wrong::from(format!("grade {}: {what}", step.grade)));
        }
        let grows = |two: &[GradeStep]| {
            two[0].elo.total_cmp(&two[1].elo) == Ordering::Less && two[0].points < two[1].points
        };
        if steps.len() < 2 || !steps.windows(2).all(grows) {
            let what = "expected two or more, the lowest first, each with more `elo` and more `points` than the one before";
            return Err(Wrong::from(what.to_owned()));
        }
        Ok(GradeScale(steps))
    }
}

impl From<GradeScale> for Vec<GradeStep> {
    fn from(GradeScale(steps): GradeScale) -> Vec<GradeStep> {
        steps
    }
}

impl GradeScale {
    fn ends(&self) -> (&GradeStep, &GradeStep) {
        let [first, .., last] = &self.0[..] else { unreachable!("a scale has two steps") };
        (first, last)
    }

    /// The maximum number of points.
    pub fn most_points(&self) -> f64 {
        self.ends().1.points
    }

    /// The grade of a bot of this strength.
    pub fn grade(&self, elo: f64) -> &str {
        let found = self.0.iter().rev().find(|step| step.elo <= elo);
        &found.unwrap_or(self.ends().0).grade
    }

    /// The points of a bot of this strength.
    pub fn points(&self, elo: f64) -> f64 {
        let (first, last) = self.ends();
        let pair = self.0.windows(2).find(|pair| elo < pair[1].elo);
        match pair {
            None => last.points,
            Some(_) if elo <= first.elo => first.points,
            Some(pair) => {
                let share = (elo - pair[0].elo) / (pair[1].elo - pair[0].elo);
                pair[0].points + share * (pair[1].points - pair[0].points)
            }
        }
    }

    /// The points that a strength and the ends of its interval are worth.
    pub fn points_of(&self, elo: &Estimate) -> Estimate {
        let points = |elo| self.points(elo);
        Estimate { value: points(elo.value), low: points(elo.low), high: points(elo.high) }
    }

    /// Returns the terms under which a bot is graded within so many points, wherever it is on the scale.
    pub fn terms(&self, points: f64, max_sets: u32) -> GradeTerms {
        let steepness = |pair: &[GradeStep]| (pair[1].points - pair[0].points) / (pair[1].elo - pair[0].elo);
        let steepest = self.0.windows(2).map(steepness).fold(0.0, f64::max);
        let (first, last) = self.ends();
        GradeTerms { within: points / steepest, low: first.elo, high: last.elo, max_sets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale() -> GradeScale {
        let step = |grade: &str, elo, points| GradeStep { grade: grade.to_owned(), elo, points };
        vec![step("F", 0.0, 0.0), step("C", 400.0, 60.0), step("A", 1200.0, 100.0)].try_into().unwrap()
    }

    #[test]
    fn points_grow_between_the_steps_of_a_scale() {
        let scale = scale();
        let found = [-500.0, 0.0, 200.0, 400.0, 800.0, 1199.9, 1200.0, 3000.0]
            .map(|elo| (scale.grade(elo).to_owned(), scale.points(elo).round()));
        let expected = [
            ("F", 0.0),
            ("F", 0.0),
            ("F", 30.0),
            ("C", 60.0),
            ("C", 80.0),
            ("C", 100.0),
            ("A", 100.0),
            ("A", 100.0),
        ];
        assert_eq!(found, expected.map(|(grade, points)| (grade.to_owned(), points)));
        // The steepest part has 60 points in 400 Elo.
        let terms = scale.terms(2.0, 100);
        assert!((terms.within - 40.0 / 3.0).abs() < 1e-9 && (terms.low, terms.high) == (0.0, 1200.0));
        assert!(GradeScale::try_from(Vec::from(scale)[..1].to_vec()).is_err());
    }

    #[test]
    fn lead_over_best_grade_does_not_matter() {
        let terms = scale().terms(2.0, 100);
        let estimate =
            |value: f64, margin: f64| Estimate { value, low: value - margin, high: value + margin };
        assert!(!terms.suffices(&estimate(800.0, 10.0)) && terms.suffices(&estimate(800.0, 9.0)));
        assert!(terms.suffices(&estimate(1500.0, 200.0)) && !terms.suffices(&estimate(1500.0, 300.0)));
        assert!(terms.suffices(&estimate(-300.0, 200.0)));
    }

    #[test]
    fn near_anchors_play_most_and_distant_ones_catch_up_nothing() {
        let mut anchors: Vec<Anchor> = (0..8)
            .map(|at| Anchor { entrant: Entrant(at + 1), elo: 200.0 * f64::from(at), sets: 0 })
            .collect();
        // The first round is far off.
        next_anchors(1400.0, &mut anchors);
        for _ in 0..40 {
            next_anchors(300.0, &mut anchors);
        }
        let sets: Vec<u32> = anchors.iter().map(|anchor| anchor.sets).collect();
        let all: u32 = sets.iter().sum();
        assert!(sets[1].abs_diff(sets[2]) <= 1 && sets[1] + sets[2] > all / 2, "{sets:?}");
        assert!(sets[7] < 8 && sets[0].abs_diff(sets[3]) <= 1, "{sets:?}");
    }
}
