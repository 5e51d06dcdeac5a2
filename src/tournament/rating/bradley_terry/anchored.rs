//! The fit for a ladder: anchors have a fixed strength, and a later version starts from the earlier one.

use std::collections::BTreeMap;

use super::adaptive::measured;
use super::{Counts, ELO_PER_LOGIT, Estimate, Fit, Prior, linear};
use crate::tournament::Entrant;

/// The number of sets with the binomial variance that the prior of the variance of sets is worth. It gives the ratio of
/// both a standard deviation of 0.1, so that few sets do not make the intervals of newcomers change.
const BINOMIAL_SETS: f64 = 200.0;

/// What is known of entrants besides their results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitConstraints {
    /// Entrants whose strength is fixed, in Elo. Without one, strengths are relative to the mean of the field.
    pub anchors: BTreeMap<Entrant, f64>,
    /// Entrants that are a later version of another one.
    pub predecessors: BTreeMap<Entrant, Entrant>,
}

impl FitConstraints {
    /// The mean of the anchors, in Elo.
    fn origin(&self) -> f64 {
        self.anchors.values().sum::<f64>() / self.anchors.len().max(1) as f64
    }
}

/// The result of [`fit_anchored`].
#[derive(Clone, Debug, PartialEq)]
pub struct Anchored {
    /// By entrant, in Elo. An anchor has an interval of width 0.
    pub elo: Vec<Estimate>,
    /// By side except the last: the advantage of its seats over those of the last side in Elo.
    pub advantage: Vec<Estimate>,
}

/// The fit for a ladder.
///
/// Each entrant also draws one comparison: a later version against its predecessor, others against an opponent with
/// the mean strength of the anchors. So an entrant without a match has the strength of its predecessor, or the mean,
/// with an interval of about 680 Elo to both sides.
///
/// A set is one observation: the variance of the sets of the whole ladder, relative to the binomial distribution, widens
/// or narrows all intervals. A sandwich is too narrow here: it assumes that each entrant has played many matches, and on a
/// ladder some have just arrived.
pub fn fit_anchored(counts: &Counts, known: &FitConstraints) -> Anchored {
    let origin = known.origin();
    let n = counts.entrants + counts.sides.saturating_sub(1);
    let mut theta = vec![0.0; n];
    for (anchor, elo) in &known.anchors {
        if let Some(theta) = theta[..counts.entrants].get_mut(anchor.index()) {
            *theta = (elo - origin) / ELO_PER_LOGIT;
        }
    }
    let prior = Prior::Draws(1.0);
    let known_here = Some((known, origin));
    let fit =
        Fit { counts, prior, dispersion: 1.0, known: known_here, theta, curvature: Vec::new() }.computed();
    let fit = Fit { dispersion: measured(&fit, BINOMIAL_SETS), ..fit }.computed();
    let covariance = match linear::cholesky(&fit.curvature, n) {
        Some(l) => linear::inverse(&l, n),
        None => vec![f64::INFINITY; n * n],
    };
    let estimate = |at: usize, origin: f64| {
        let error = covariance[at * n + at].max(0.0).sqrt();
        let fixed = known.anchors.get(&Entrant(at as u16)).filter(|_| fit.is_fixed(at));
        match fixed {
            Some(&elo) => Estimate::normal(elo, 0.0),
            None => Estimate::normal(origin + ELO_PER_LOGIT * fit.theta[at], ELO_PER_LOGIT * error),
        }
    };
    Anchored {
        elo: (0..counts.entrants).map(|at| estimate(at, origin)).collect(),
        advantage: (counts.entrants..n).map(|at| estimate(at, 0.0)).collect(),
    }
}

impl Fit<'_> {
    /// The entrant of which another one is a later version.
    pub(super) fn predecessor(&self, at: usize) -> Option<usize> {
        let (known, _) = self.known.filter(|_| at < self.counts.entrants)?;
        let found = known.predecessors.get(&Entrant(at as u16))?.index();
        (found < self.counts.entrants).then_some(found)
    }

    /// Whether a parameter is the strength of an anchor.
    fn is_fixed(&self, at: usize) -> bool {
        let is_anchor = |known: &FitConstraints| known.anchors.contains_key(&Entrant(at as u16));
        at < self.counts.entrants && self.known.is_some_and(|(known, _)| is_anchor(known))
    }

    /// Adds the comparisons of versions to the derivatives, and removes those by fixed parameters.
    pub(super) fn add_known(&self, gradient: &mut [f64], curvature: &mut [f64]) {
        let n = gradient.len();
        for i in 0..self.counts.entrants {
            let Some(of) = self.predecessor(i) else { continue };
            let p = self.expected(&[(i, 1.0), (of, -1.0)]);
            gradient[i] += 0.5 - p;
            gradient[of] -= 0.5 - p;
            for (row, column, sign) in [(i, i, 1.0), (of, of, 1.0), (i, of, -1.0), (of, i, -1.0)] {
                curvature[row * n + column] += sign * p * (1.0 - p);
            }
        }
        for at in (0..n).filter(|&at| self.is_fixed(at)) {
            gradient[at] = 0.0;
            for other in 0..n {
                curvature[at * n + other] = 0.0;
                curvature[other * n + at] = 0.0;
            }
            curvature[at * n + at] = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Seating;
    use crate::tournament::{Lineup, MatchResult};

    /// Adds matches, half of them in each order, of which the first entrant wins this many and loses the rest.
    fn play(counts: &mut Counts, one: u16, other: u16, won: u32, of: u32) {
        for (seats, ranks) in [([one, other], [1, 2]), ([other, one], [2, 1])] {
            let lineup = Lineup::of_sides(Seating::new(2, 2), &seats.map(Entrant)).unwrap();
            for number in 0..of / 2 {
                let ranks = if number < won / 2 { ranks } else { [ranks[1], ranks[0]] };
                counts.add(&MatchResult::played(number + 1, lineup, &ranks));
            }
        }
    }

    #[test]
    fn anchors_keep_their_strength_and_fix_the_scale() {
        let mut counts = Counts::default();
        play(&mut counts, 0, 1, 300, 400);
        play(&mut counts, 2, 0, 300, 400);
        let known = FitConstraints { anchors: [(Entrant(0), 1500.0)].into(), ..FitConstraints::default() };
        let fit = fit_anchored(&counts, &known);
        assert_eq!(fit.elo[0], Estimate { value: 1500.0, low: 1500.0, high: 1500.0 });
        // Odds of 3 to 1 are 191 Elo.
        assert!((fit.elo[2].value - 1691.0).abs() < 8.0, "{fit:?}");
        assert!((fit.elo[1].value - 1309.0).abs() < 8.0, "{fit:?}");
        assert!((20.0..50.0).contains(&(fit.elo[2].high - fit.elo[2].value)), "{fit:?}");
        let moved = fit_anchored(&counts, &FitConstraints { anchors: [(Entrant(0), 0.0)].into(), ..known });
        assert!((fit.elo[1].value - 1500.0 - moved.elo[1].value).abs() < 1e-6);
    }

    #[test]
    fn two_anchors_that_contradict_results_stay_where_they_are() {
        let mut counts = Counts::default();
        play(&mut counts, 0, 1, 10, 100);
        play(&mut counts, 2, 1, 50, 100);
        let anchors = [(Entrant(0), 200.0), (Entrant(1), 0.0)].into();
        let fit = fit_anchored(&counts, &FitConstraints { anchors, ..FitConstraints::default() });
        assert_eq!([fit.elo[0].value, fit.elo[1].value], [200.0, 0.0]);
        assert!(fit.elo[2].value.abs() < 5.0, "{fit:?}");
    }

    #[test]
    fn a_new_version_starts_from_the_old_one_with_a_wide_interval() {
        let mut counts = Counts::default();
        play(&mut counts, 1, 0, 90, 100);
        counts.grow(4);
        let known = FitConstraints {
            anchors: [(Entrant(0), 0.0)].into(),
            predecessors: [(Entrant(2), Entrant(1))].into(),
        };
        let fit = fit_anchored(&counts, &known);
        assert!(fit.elo[1].value > 250.0 && (fit.elo[2].value - fit.elo[1].value).abs() < 1.0, "{fit:?}");
        let width = fit.elo[2].high - fit.elo[2].value;
        assert!(width > 600.0 && width.is_finite(), "{fit:?}");
        assert!(fit.elo[3].value.abs() < 1e-6, "{fit:?}");
        // Its own results soon outweigh those of the old version.
        play(&mut counts, 0, 2, 50, 100);
        let fit = fit_anchored(&counts, &known);
        assert!(fit.elo[2].value.abs() < 10.0 && fit.elo[1].value > 250.0, "{fit:?}");
    }

    #[test]
    fn counting_one_by_one_equals_counting_at_once() {
        let lineup = Lineup::of_sides(Seating::new(3, 3), &[2, 0, 1].map(Entrant)).unwrap();
        let results: Vec<MatchResult> =
            (1..=9).map(|set| MatchResult::played(set, lineup, &[1 + (set % 3) as u8, 2, 2])).collect();
        let mut counts = Counts::default();
        results.iter().for_each(|result| counts.add(result));
        let known = FitConstraints::default();
        assert_eq!(fit_anchored(&counts, &known), fit_anchored(&Counts::of(3, &results), &known));
    }

    #[test]
    fn a_ladder_without_results_has_ratings() {
        assert!(fit_anchored(&Counts::default(), &FitConstraints::default()).elo.is_empty());
        let mut counts = Counts::default();
        counts.grow(2);
        let anchors = [(Entrant(1), 700.0), (Entrant(9), 700.0)].into();
        let fit = fit_anchored(&counts, &FitConstraints { anchors, ..FitConstraints::default() });
        assert_eq!([fit.elo[0].value, fit.elo[1].value], [700.0, 700.0]);
    }
}
