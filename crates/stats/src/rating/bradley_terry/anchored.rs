//! The fit for a ladder: anchors have a fixed strength, and a later version starts from the earlier one.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::dispersion;
use super::field::{Mixture, Moments};
use rustc_hash::FxHashMap;

use super::{Counts, ELO_PER_LOGIT, Estimate, Fit, PriorTerm, ordered};
use crate::rating::Z95;
use crate::{Entrant, opponents};

/// The number of sets with the binomial variance that the prior of the variance of sets is worth. It gives the ratio of
/// both a standard deviation of 0.1, so that few sets do not make the intervals of newcomers change.
const BINOMIAL_SETS: f64 = 200.0;

/// An entrant with this number of matches has half of the weight in the mean of the field that one with many has, so that
/// newcomers, whose strength is uncertain, hardly move it.
const HALF_WEIGHT: f64 = 30.0;

/// The results of a pair differ from what the ratings expect by this number of standard errors at most; beyond that, they
/// count less.
const MOST_ERRORS: f64 = 2.0;

/// The additional difference allowed, in points, as in the inequality of S. N. Bernstein: few results of
/// unequal players are skewed, and to limit the rare upset would stretch the ratings.
const ALLOWANCE: f64 = 2.0 / 3.0;

/// The maximum number of times that the weights of pairs are computed. A few suffice.
const MOST_ROUNDS: u32 = 30;

/// Prior knowledge of entrants besides their results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitConstraints {
    /// Entrants whose strength is fixed, in Elo. Without one, strengths are relative to the field.
    pub anchors: BTreeMap<Entrant, f64>,
    /// Entrants that are a later version of another one.
    pub predecessors: BTreeMap<Entrant, Entrant>,
    /// Ratings of entrants relative to each other, from results that do not count any more.
    pub earlier: BTreeMap<Entrant, EarlierRating>,
    /// The standard deviation of the distance from the anchors to the entrants with an earlier rating, in Elo: an error of
    /// it is the same for all of them. `None` if nothing but the results tells the distance.
    pub earlier_distance: Option<f64>,
    /// Whether no entrant loses on purpose, so that every result counts in full. Otherwise a pair whose results differ much
    /// from what its ratings expect counts less.
    pub is_trusted: bool,
}

/// A rating from results that do not count any more: a normal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlierRating {
    /// The mean, in Elo on the scale of the anchors or, without one, relative to 0.
    pub elo: f64,
    /// The standard deviation, in Elo.
    pub deviation: f64,
}

impl EarlierRating {
    /// A rating whose 95% interval has this margin, in Elo.
    pub fn within(elo: f64, margin: f64) -> EarlierRating {
        EarlierRating { elo, deviation: margin / Z95 }
    }
}

/// The comparisons with the mean of the anchors that the distance of the field draws before any result. One half leaves
/// an interval of 960 Elo to both sides, and 680 after matches of which one side has won all.
const DISTANCE_DRAWS: f64 = 0.5;

impl FitConstraints {
    /// The mean of the anchors, in Elo.
    fn origin(&self) -> f64 {
        mean(self.anchors.values().copied())
    }

    /// The mean of the earlier ratings or, without one, of the anchors, in Elo.
    fn start(&self) -> f64 {
        if self.earlier.is_empty() { self.origin() } else { mean(self.earlier.values().map(|of| of.elo)) }
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// The result of [`fit_anchored`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Anchored {
    /// By entrant, in Elo. An anchor has an interval of width 0.
    pub elo: Vec<Estimate>,
    /// By entrant: the distance to the ends of the 95% interval of its difference to the field, in Elo.
    pub margins_in_field: Vec<f64>,
    /// By side except the last: the advantage of its seats over those of the last side in Elo.
    pub advantage: Vec<Estimate>,
    /// The covariance of the entrants, in squares of Elo.
    covariance: Vec<f64>,
}

impl Anchored {
    /// The difference in strength of two entrants, in Elo. Its interval cannot be derived from theirs, which share the
    /// uncertainty of what both are compared with.
    pub fn difference(&self, one: Entrant, other: Entrant) -> Estimate {
        super::difference(&self.elo, &self.covariance, one, other)
    }
}

/// The fit for a ladder.
///
/// Strengths are normally distributed about the *level* of the field, which is fitted with them, and so is the deviation: it is
/// of no consequence that ratings decide who meets (see [`super`]). A later version draws one comparison against its
/// predecessor instead. So an entrant without a match has the level, with an interval that covers the field, or the strength
/// of its predecessor, with an interval of about 680 Elo to both sides. The level draws half a comparison against the mean of
/// the anchors: one comparison for the whole field, since a comparison for each entrant would be as many observations of
/// one unknown distance, and would pull a strong field towards a weak anchor.
///
/// An entrant with an earlier rating starts from its distribution instead, relative to the level. The level then starts
/// from the mean of the earlier ratings, with the uncertainty of their distance to the anchors.
///
/// The *field* is the mean of all entrants that are not anchors, in which one with n matches has the weight n / (n + 30). If
/// anchors are far away, all strengths are uncertain by the distance to them, which is of no consequence for the order of
/// the others: their differences to the field are known better. An entrant that alone meets anchors is compared with these.
///
/// **Collusion**: if the results of a pair differ from what all ratings expect by more than two standard errors, they count
/// less, so that they differ by two (the weights of P. J. Huber, *Annals of Mathematical Statistics* 35, 1964, 73-101, by
/// pair). The gain of a rating from accomplices that lose on purpose therefore grows with the root of the number of their
/// matches only, while what the other results say grows with the number.
///
/// A set is one observation: the variance of the sets of the whole ladder, relative to the binomial distribution, widens
/// or narrows all intervals. A sandwich is too narrow here: it assumes that each entrant has played many matches, and on a
/// ladder some have just arrived.
pub fn fit_anchored(counts: &Counts, known: &FitConstraints) -> Anchored {
    let origin = known.origin();
    // Entrants, then sides except the last, then the level.
    let level = counts.entrants + counts.sides.saturating_sub(1);
    let n = level + 1;
    let start = (known.start() - origin) / ELO_PER_LOGIT;
    let mut theta = vec![start; n];
    theta[counts.entrants..level].fill(0.0);
    let earlier = known.earlier.iter().map(|(entrant, earlier)| (entrant, &earlier.elo));
    for (entrant, elo) in earlier.chain(&known.anchors) {
        if let Some(theta) = theta[..counts.entrants].get_mut(entrant.index()) {
            *theta = (elo - origin) / ELO_PER_LOGIT;
        }
    }
    let mut fit = Fit { known: Some((known, origin)), theta, ..Fit::new(counts) }.computed();
    for _ in 0..2 {
        fit.dispersion = dispersion::of_sets(&fit, BINOMIAL_SETS);
        fit = fit.with_likeliest_deviation();
    }
    if !known.is_trusted {
        fit = fit.with_limited_pairs();
    }
    let Moments { theta, covariance } = Mixture::about(&fit).moments();
    let weights = fit.weights_in_field();
    let of_field = |row: &[f64]| weights.iter().zip(row).map(|(weight, x)| weight * x).sum::<f64>();
    // The covariance of each parameter with the field.
    let with_field: Vec<f64> = covariance.chunks_exact(n).map(of_field).collect();
    let variance_in_field =
        |at: usize| covariance[at * n + at] - 2.0 * with_field[at] + of_field(&with_field);
    let in_elo = |variance: f64| ELO_PER_LOGIT * variance.max(0.0).sqrt();
    let estimate = |at: usize| match known.anchors.get(&Entrant(at as u16)) {
        Some(&elo) => Estimate::normal(elo, 0.0),
        None if known.anchors.is_empty() => {
            let value = theta[at] - of_field(&theta);
            Estimate::normal(ELO_PER_LOGIT * value, in_elo(variance_in_field(at)))
        }
        None => Estimate::normal(origin + ELO_PER_LOGIT * theta[at], in_elo(covariance[at * n + at])),
    };
    let of_seat = |at: usize| Estimate::normal(ELO_PER_LOGIT * theta[at], in_elo(covariance[at * n + at]));
    Anchored {
        elo: (0..counts.entrants).map(estimate).collect(),
        margins_in_field: (0..counts.entrants).map(|at| Z95 * in_elo(variance_in_field(at))).collect(),
        advantage: (counts.entrants..level).map(of_seat).collect(),
        covariance: (0..counts.entrants)
            .flat_map(|at| &covariance[at * n..][..counts.entrants])
            .map(|x| x * ELO_PER_LOGIT * ELO_PER_LOGIT)
            .collect(),
    }
}

impl<'a> Fit<'a> {
    /// The entrant of which another one is a later version.
    fn predecessor(&self, at: usize) -> Option<usize> {
        let (known, _) = self.known.filter(|_| at < self.counts.entrants)?;
        let found = known.predecessors.get(&Entrant(at as u16))?.index();
        (found < self.counts.entrants && !known.earlier.contains_key(&Entrant(at as u16))).then_some(found)
    }

    /// Returns whether a parameter starts from prior knowledge instead of the prior: all but the seats of a
    /// ladder.
    pub(super) fn is_known(&self, at: usize) -> bool {
        self.known.is_some() && (at < self.counts.entrants || at + 1 == self.theta.len())
    }

    /// Returns whether a parameter is the strength of an anchor.
    pub(super) fn is_fixed(&self, at: usize) -> bool {
        let is_anchor = |known: &FitConstraints| known.anchors.contains_key(&Entrant(at as u16));
        at < self.counts.entrants && self.known.is_some_and(|(known, _)| is_anchor(known))
    }

    /// The fit in which the results of each pair differ from the expectation by the ratings by a limited
    /// amount.
    fn with_limited_pairs(mut self) -> Fit<'a> {
        for _ in 0..MOST_ROUNDS {
            let before = self.theta.clone();
            let limits = self.limited_pairs();
            for of in Rc::make_mut(&mut self.comparisons) {
                let (d, e) = of.sides;
                let weight = |(one, other)| limits.get(&ordered(one, other)).copied().unwrap_or(1.0);
                // A set counts as the pair of its entrants that counts least.
                of.weight = opponents(&of.lineup, d, e).map(weight).fold(1.0, f64::min);
            }
            self = self.computed();
            if self.theta.iter().zip(before).all(|(theta, before)| (theta - before).abs() < 1e-4) {
                break;
            }
        }
        self
    }

    /// The weights of the results of each pair, if less than 1.
    fn limited_pairs(&self) -> FxHashMap<(Entrant, Entrant), f64> {
        let mut pairs: FxHashMap<(Entrant, Entrant), [f64; 2]> = FxHashMap::default();
        for of in self.comparisons.iter() {
            let p = self.expected(&of.contrast);
            let off = of.score - of.times * p;
            for (one, other) in opponents(&of.lineup, of.sides.0, of.sides.1) {
                let [sum, variance] = pairs.entry(ordered(one, other)).or_default();
                *sum += if one < other { off } else { -off };
                *variance += of.times * p * (1.0 - p) * self.dispersion;
            }
        }
        let weight = |[sum, variance]: [f64; 2]| (MOST_ERRORS * variance.sqrt() + ALLOWANCE) / sum.abs();
        let weighted = pairs.into_iter().map(|(pair, of_pair)| (pair, weight(of_pair)));
        weighted.filter(|(_, weight)| *weight < 1.0).collect()
    }

    /// The weight of each entrant in the mean of the field; 0 for all if fewer than two players beside anchors have played.
    fn weights_in_field(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.counts.entrants];
        for ((lineup, _), times) in self.counts.legs() {
            lineup.seats().iter().for_each(|entrant| weights[entrant.index()] += times);
        }
        for (at, weight) in weights.iter_mut().enumerate() {
            *weight = if self.is_fixed(at) { 0.0 } else { *weight / (*weight + HALF_WEIGHT) };
        }
        let sum: f64 = weights.iter().sum();
        let has_field = weights.iter().filter(|weight| **weight > 0.0).nth(1).is_some();
        weights.iter_mut().for_each(|weight| *weight = if has_field { *weight / sum } else { 0.0 });
        weights
    }

    /// The start of an entrant: its difference to the strength of another parameter.
    fn start(&self, at: usize, known: &FitConstraints) -> (usize, PriorTerm) {
        let level = self.theta.len() - 1;
        let above = self.theta[at] - self.theta[level];
        if let Some(&EarlierRating { elo, deviation }) = known.earlier.get(&Entrant(at as u16)) {
            let earlier = (elo - known.start()) / ELO_PER_LOGIT;
            return (level, PriorTerm::normal(above - earlier, deviation / ELO_PER_LOGIT));
        }
        match self.predecessor(at) {
            Some(before) => (before, PriorTerm::draws(1.0, self.theta[at] - self.theta[before])),
            None => (level, PriorTerm::normal(above, self.deviation)),
        }
    }

    fn level_start(&self, (known, origin): (&FitConstraints, f64)) -> PriorTerm {
        let above = self.theta[self.theta.len() - 1] - (known.start() - origin) / ELO_PER_LOGIT;
        match known.earlier_distance {
            Some(deviation) => PriorTerm::normal(above, deviation / ELO_PER_LOGIT),
            None => PriorTerm::draws(DISTANCE_DRAWS, above),
        }
    }

    /// The share of a parameter that prior knowledge determines, from 0 to 1.
    pub(super) fn share_of_prior(&self, at: usize, covariance: &[f64]) -> f64 {
        let n = self.theta.len();
        match self.known.filter(|_| self.is_known(at)) {
            None => covariance[at * n + at] * self.prior(at).curve,
            Some(_) if self.is_fixed(at) || at == n - 1 => 1.0,
            Some((known, _)) => {
                let (of, term) = self.start(at, known);
                let own = covariance[at * n + at] + covariance[of * n + of] - 2.0 * covariance[at * n + of];
                own * term.curve
            }
        }
    }

    /// The entrants whose strength is not fixed.
    fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.counts.entrants).filter(|&at| !self.is_fixed(at))
    }

    /// The logarithm of the density of the prior knowledge of the strengths and the level.
    pub(super) fn log_known(&self) -> f64 {
        let Some((known, origin)) = self.known else { return 0.0 };
        let of_entrants: f64 = self.free().map(|at| self.start(at, known).1.log).sum();
        of_entrants + self.level_start((known, origin)).log
    }

    /// Adds prior knowledge of the strengths and the level to the derivatives, and removes those by fixed
    /// parameters.
    pub(super) fn add_known(&self, gradient: &mut [f64], curvature: &mut [f64]) {
        let Some((known, origin)) = self.known else { return };
        let n = gradient.len();
        let level = n - 1;
        for i in self.free() {
            let (of, PriorTerm { slope, curve, .. }) = self.start(i, known);
            gradient[i] += slope;
            gradient[of] -= slope;
            for (row, column, sign) in [(i, i, 1.0), (of, of, 1.0), (i, of, -1.0), (of, i, -1.0)] {
                curvature[row * n + column] += sign * curve;
            }
        }
        let PriorTerm { slope, curve, .. } = self.level_start((known, origin));
        gradient[level] += slope;
        curvature[level * n + level] += curve;
        (0..n).filter(|&at| self.is_fixed(at)).for_each(|at| gradient[at] = 0.0);
        self.fix(curvature);
    }

    /// Removes fixed parameters from the negative second derivatives.
    pub(super) fn fix(&self, curvature: &mut [f64]) {
        let n = self.theta.len();
        for at in (0..n).filter(|&at| self.is_fixed(at)) {
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
    use crate::{Lineup, MatchResult};
    use referee_game::Seating;

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
    fn difference_of_two_is_that_of_their_score() {
        let mut counts = Counts::default();
        play(&mut counts, 0, 1, 20, 34);
        let superiority = |known: &FitConstraints| {
            let difference = fit_anchored(&counts, known).difference(Entrant(0), Entrant(1));
            difference.probability_above_zero().unwrap()
        };
        // 20 of 34 matches: Φ of ln(20 / 14) / sqrt(1 / 20 + 1 / 14) is 84.7%.
        let relative = superiority(&FitConstraints::default());
        assert!((0.83..0.855).contains(&relative), "{relative}");
        let anchors = [(Entrant(0), 1500.0)].into();
        let anchored = superiority(&FitConstraints { anchors, ..FitConstraints::default() });
        // Two of a field are drawn towards its level, by a prior of which these results tell little.
        assert!((anchored - relative).abs() < 0.03, "{anchored} {relative}");
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
    fn new_version_starts_from_old_one_with_wide_interval() {
        let mut counts = Counts::default();
        play(&mut counts, 1, 0, 90, 100);
        counts.grow(4);
        let known = FitConstraints {
            anchors: [(Entrant(0), 0.0)].into(),
            predecessors: [(Entrant(2), Entrant(1))].into(),
            ..FitConstraints::default()
        };
        let fit = fit_anchored(&counts, &known);
        assert!(fit.elo[1].value > 250.0 && (fit.elo[2].value - fit.elo[1].value).abs() < 1.0, "{fit:?}");
        let width = fit.elo[2].high - fit.elo[2].value;
        assert!(width > 600.0 && width.is_finite(), "{fit:?}");
        // The second newcomer starts from the level of the field and not from the anchor.
        assert!((200.0..fit.elo[1].value).contains(&fit.elo[3].value), "{fit:?}");
        // The results of the new version soon outweigh those of the old one.
        play(&mut counts, 0, 2, 50, 100);
        let fit = fit_anchored(&counts, &known);
        assert!(fit.elo[2].value.abs() < 10.0 && fit.elo[1].value > 250.0, "{fit:?}");
    }

    #[test]
    fn an_earlier_rating_is_where_an_entrant_starts() {
        let earlier = |elo, deviation| EarlierRating { elo, deviation };
        let of_both = [(Entrant(1), earlier(300.0, 50.0)), (Entrant(2), earlier(100.0, 50.0))];
        let mut counts = Counts::default();
        counts.grow(4);
        for anchors in [BTreeMap::new(), [(Entrant(0), 0.0)].into()] {
            // The third entrant is a later version of the first one.
            let predecessors = [(Entrant(3), Entrant(1))].into();
            let earlier = of_both.into();
            let known = FitConstraints {
                anchors,
                predecessors,
                earlier,
                earlier_distance: Some(0.1),
                ..FitConstraints::default()
            };
            let fit = fit_anchored(&counts, &known);
            let found = [1, 2].map(|at| (fit.elo[at].value, fit.elo[at].high - fit.elo[at].value));
            for ((value, margin), expected) in found.into_iter().zip([300.0, 100.0]) {
                // The later version draws one comparison with the first one, which tells next to nothing.
                assert!((value - expected).abs() < 0.01 && (margin - 98.0).abs() < 1.0, "{fit:?}");
            }
            assert!((fit.elo[3].value - 300.0).abs() < 0.01, "{fit:?}");
            // Many results outweigh it: equals, whose mean is that of both ratings on the scale of an anchor.
            let mut played = counts.clone();
            play(&mut played, 1, 2, 1_000, 2_000);
            let fit = fit_anchored(&played, &known);
            let mean = if known.anchors.is_empty() { 0.0 } else { 200.0 };
            assert!(
                (fit.elo[1].value - mean).abs() < 3.0 && (fit.elo[2].value - mean).abs() < 3.0,
                "{fit:?}"
            );
        }
    }

    #[test]
    fn error_of_distance_between_earlier_ratings_and_anchors_is_shared() {
        let mut counts = Counts::default();
        // Two equals, which win 35 of 36 matches against the anchor: 618 Elo.
        play(&mut counts, 1, 0, 70, 72);
        play(&mut counts, 2, 0, 70, 72);
        let earlier = EarlierRating { elo: 180.0, deviation: 20.0 };
        let fit = |earlier_distance| {
            let known = FitConstraints {
                anchors: [(Entrant(0), 0.0)].into(),
                earlier: [(Entrant(1), earlier), (Entrant(2), earlier)].into(),
                earlier_distance,
                ..FitConstraints::default()
            };
            fit_anchored(&counts, &known)
        };
        let (certain, uncertain) = (fit(Some(1.0)), fit(Some(300.0)));
        assert!((certain.elo[1].value - 180.0).abs() < 20.0, "{certain:?}");
        assert!(uncertain.elo[1].value > 450.0 && uncertain.elo[1].high > 618.0, "{uncertain:?}");
        assert!(uncertain.margins_in_field[1] < 40.0, "{uncertain:?}");
    }

    #[test]
    fn without_an_anchor_intervals_do_not_contain_the_scale() {
        let mut counts = Counts::default();
        // Two bots after 20,000 matches: a difference has a standard error of 2 / sqrt(20,000), each half of it.
        play(&mut counts, 0, 1, 10_000, 20_000);
        let fit = fit_anchored(&counts, &FitConstraints::default());
        let margin = fit.elo[0].high - fit.elo[0].value;
        assert!((2.2..2.6).contains(&margin) && (fit.margins_in_field[0] - margin).abs() < 1e-6, "{fit:?}");
        // A newcomer changes neither their ratings nor their intervals by much: with two matches it has a share of 3% in the
        // mean of the field, and its own interval reaches 544 Elo.
        counts.grow(3);
        play(&mut counts, 2, 0, 2, 2);
        let with = fit_anchored(&counts, &FitConstraints::default());
        assert!((with.elo[0].value - fit.elo[0].value).abs() < 10.0, "{with:?}");
        assert!(with.elo[0].high - with.elo[0].value < 20.0, "{with:?}");
        assert!(with.elo[2].high - with.elo[2].value > 200.0, "{with:?}");
    }

    #[test]
    fn a_distant_anchor_leaves_players_certain_in_their_field() {
        let mut counts = Counts::default();
        // The anchor has won 2 of 400 matches.
        for player in 1..5 {
            play(&mut counts, 0, player, if player < 3 { 0 } else { 2 }, 100);
            (1..player).for_each(|other| play(&mut counts, player, other, 150, 300));
        }
        let known = FitConstraints { anchors: [(Entrant(0), 0.0)].into(), ..FitConstraints::default() };
        let fit = fit_anchored(&counts, &known);
        for player in 1..5 {
            assert!(fit.elo[player].high - fit.elo[player].value > 100.0, "{fit:?}");
            assert!(fit.margins_in_field[player] < 25.0, "{fit:?}");
        }
        // A player that alone meets the anchor has no other field.
        let mut alone = Counts::default();
        play(&mut alone, 0, 1, 2, 100);
        let fit = fit_anchored(&alone, &known);
        assert!((fit.elo[1].high - fit.elo[1].value - fit.margins_in_field[1]).abs() < 1e-6, "{fit:?}");
    }

    #[test]
    fn accomplices_that_lose_on_purpose_weigh_little() {
        // The Elo by which three of 19 opponents lift an average player, after this many matches against each.
        let lifted = |each: u32| {
            let mut counts = Counts::default();
            for one in 0..20 {
                for other in one + 1..20 {
                    let won = if one == 0 && other < 4 { each } else { each / 2 };
                    play(&mut counts, one, other, won, each);
                }
            }
            fit_anchored(&counts, &FitConstraints::default()).elo[0].value
        };
        let found = [20, 80, 320].map(lifted);
        // Without a limit 50 to 60 Elo, after any number.
        assert!(found[0] < 40.0 && found[1] < 20.0 && found[2] < 10.0, "{found:?}");
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
