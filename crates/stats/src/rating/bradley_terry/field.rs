//! The fit with a distribution of the strengths of the field: [`super`] describes the estimates.

use std::collections::BTreeMap;

use super::dispersion::Dispersion;
use super::{Counts, Fit, Prior, Strengths};
use crate::Lineup;
use crate::brownian::normal_cdf;
use crate::rating::{ELO_PER_LOGIT, linear};

/// The mode of the prior of the deviation of strengths, in log-odds: 217 Elo.
const SCALE: f64 = 1.25;

/// The range of deviations that is searched, in log-odds.
const DEVIATIONS: [f64; 2] = [0.02, 10.0];

/// The integral over the logarithm of the deviation is a sum over this number of points on both sides of its mode.
const NODES: i32 = 3;

/// Their distance, in standard deviations.
const SPACING: f64 = 0.75;

/// A fit with one deviation of strengths.
struct Candidate<'a> {
    fit: Fit<'a>,
    covariance: Vec<f64>,
    /// The logarithm of the posterior density of the logarithm of the deviation, but for a constant.
    density: f64,
}

/// The fits with each deviation, and their weights.
struct Mixture<'a> {
    candidates: Vec<(Candidate<'a>, f64)>,
    dispersion: Dispersion,
}

/// Computes strengths with a fitted distribution of strengths.
pub(super) fn strengths(counts: &Counts) -> Strengths {
    let n = counts.entrants + counts.sides.saturating_sub(1);
    let mut theta = vec![0.0; n];
    let mut covariance = vec![0.0; n * n];
    let Mixture { candidates, dispersion } = Mixture::of(counts);
    let of_sides =
        candidates.first().map_or_else(Vec::new, |(candidate, _)| candidate.fit.side_dispersions());
    let moments: Vec<(Vec<f64>, Vec<f64>, f64)> = candidates
        .iter()
        .map(|(candidate, part)| {
            let mean = candidate.fit.mean(&candidate.covariance);
            let mut covariance = candidate.fit.averaged(&mean, &candidate.covariance);
            let strengths = covariance.chunks_exact_mut(n).take(counts.entrants);
            strengths.flatten().for_each(|x| *x *= dispersion.widening.powi(2));
            for (side, of_side) in of_sides.iter().enumerate() {
                let at = counts.entrants + side;
                covariance[at * n + at] *= of_side / dispersion.value;
            }
            (mean, covariance, *part)
        })
        .collect();
    for (mean, _, part) in &moments {
        theta.iter_mut().zip(mean).for_each(|(sum, x)| *sum += part * x);
    }
    for (mean, of_candidate, part) in &moments {
        let off: Vec<f64> = mean.iter().zip(&theta).map(|(x, mean)| x - mean).collect();
        for (i, row) in covariance.chunks_exact_mut(n).enumerate() {
            for (j, sum) in row.iter_mut().enumerate() {
                *sum += part * (of_candidate[i * n + j] + off[i] * off[j]);
            }
        }
    }
    let mut strengths = Strengths {
        is_of_played_openings: dispersion.is_of_played_openings,
        ..Strengths::of(counts, &theta, covariance)
    };
    let played = counts.played();
    let centred: Vec<(Vec<f64>, Vec<f64>, f64)> = moments
        .into_iter()
        .map(|(mean, mut covariance, part)| {
            super::center(&mut covariance, n, &played);
            let of_field = played.iter().map(|&i| mean[i]).sum::<f64>() / played.len() as f64;
            let by_entrant = |i: usize| mean[i] - if i < counts.entrants { of_field } else { 0.0 };
            let errors = (0..n).map(|i| covariance[i * n + i].max(0.0).sqrt()).collect();
            ((0..n).map(by_entrant).collect(), errors, part)
        })
        .collect();
    for (i, found) in strengths.elo.iter_mut().chain(&mut strengths.advantage).enumerate() {
        if i >= counts.entrants || played.contains(&i) {
            let parts = centred.iter().map(|(mean, error, part)| (mean[i], error[i], *part));
            [found.low, found.high] =
                [0.025, 0.975].map(|level| ELO_PER_LOGIT * quantile(parts.clone(), level));
        }
    }
    strengths
}

/// A quantile of a mixture of normal distributions, each with its mean, standard deviation and weight.
fn quantile(parts: impl Iterator<Item = (f64, f64, f64)> + Clone, level: f64) -> f64 {
    let ends = parts.clone().fold([f64::MAX, f64::MIN], |[low, high], (mean, error, _)| {
        [low.min(mean - 3.0 * error), high.max(mean + 3.0 * error)]
    });
    let [mut low, mut high] = ends;
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let below: f64 =
            parts.clone().map(|(mean, error, part)| part * normal_cdf((middle - mean) / error)).sum();
        if below < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

impl<'a> Mixture<'a> {
    fn of(counts: &'a Counts) -> Mixture<'a> {
        if counts.by_set.is_empty() {
            return Mixture { candidates: Vec::new(), dispersion: Dispersion::UNKNOWN };
        }
        let mut prior = (SCALE.ln(), 1.0);
        let mut theta = vec![0.0; counts.entrants + counts.sides.saturating_sub(1)];
        for _ in 0..2 {
            theta = fit(counts, prior, theta).theta;
            prior.1 = Dispersion::of(&fit(counts, prior, theta.clone())).value;
            (prior.0, theta) = search(counts, prior.1, theta);
        }
        let dispersion = Dispersion::of(&fit(counts, prior, theta.clone()));
        let at =
            |log_deviation: f64| Candidate::of(fit(counts, (log_deviation, dispersion.value), theta.clone()));
        // The vertex of a parabola approximates the maximum of the density.
        let (mut centre, step) = (prior.0, 0.3);
        let mut error = 1.0;
        for _ in 0..2 {
            let [below, here, above] =
                [-step, 0.0, step].map(|by| at(centre + by).map_or(f64::NEG_INFINITY, |found| found.density));
            let curvature = (2.0 * here - below - above) / (step * step);
            if !curvature.is_finite() {
                break;
            }
            error = curvature.max(1.5).powf(-0.5);
            centre += ((above - below) / (2.0 * step) * error * error).clamp(-0.6, 0.6);
        }
        let nodes = (-NODES..=NODES).filter_map(|node| at(centre + SPACING * error * f64::from(node)));
        let nodes: Vec<Candidate<'a>> = nodes.collect();
        let greatest = nodes.iter().map(|node| node.density).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = nodes.iter().map(|node| (node.density - greatest).exp()).sum();
        let weighted = nodes.into_iter().map(|node| {
            let part = (node.density - greatest).exp() / sum;
            (node, part)
        });
        Mixture { candidates: weighted.collect(), dispersion }
    }
}

fn fit(counts: &Counts, (log_deviation, dispersion): (f64, f64), theta: Vec<f64>) -> Fit<'_> {
    Fit::from(counts, (Prior::Normal { deviation: log_deviation.exp() }, dispersion), theta)
}

/// The logarithm of the marginal likelihood by Laplace's method, times the density of the logarithm of the deviation.
fn density(fit: &Fit<'_>, triangle: &[f64]) -> f64 {
    let Prior::Normal { deviation } = fit.prior else { return f64::NEG_INFINITY };
    let (n, entrants) = (fit.theta.len(), fit.counts.entrants);
    let squares: f64 = fit.theta[..entrants].iter().map(|x| x * x).sum();
    let determinant: f64 = (0..n).map(|i| 2.0 * triangle[i * n + i].ln()).sum();
    // Without the direction in which all strengths change alike: results do not depend on it.
    let alike = (entrants as f64 + deviation.powi(-2)).ln();
    fit.log_likelihood() / fit.dispersion
        - squares / (2.0 * deviation * deviation)
        - (entrants as f64 - 1.0) * deviation.ln()
        - (determinant - alike) / 2.0
        + deviation.ln()
        - (deviation / SCALE).powi(2) / 2.0
}

/// The logarithm of the deviation with the greatest density, and the parameters there, by golden sections.
fn search(counts: &Counts, dispersion: f64, theta: Vec<f64>) -> (f64, Vec<f64>) {
    let part = (5f64.sqrt() - 1.0) / 2.0;
    let evaluated = |at: f64, theta: &[f64]| {
        let fit = fit(counts, (at, dispersion), theta.to_vec());
        let triangle = linear::cholesky(&fit.curvature, theta.len());
        (at, triangle.map_or(f64::NEG_INFINITY, |triangle| density(&fit, &triangle)), fit.theta)
    };
    let [mut low, mut high] = DEVIATIONS.map(f64::ln);
    let mut one = evaluated(high - part * (high - low), &theta);
    let mut other = evaluated(low + part * (high - low), &theta);
    while high - low > 0.2 {
        if one.1 > other.1 {
            high = other.0;
            other = one;
            one = evaluated(high - part * (high - low), &other.2);
        } else {
            low = one.0;
            one = other;
            other = evaluated(low + part * (high - low), &one.2);
        }
    }
    let (at, _, theta) = if one.1 > other.1 { one } else { other };
    (at, theta)
}

impl<'a> Candidate<'a> {
    fn of(fit: Fit<'a>) -> Option<Candidate<'a>> {
        let n = fit.theta.len();
        let triangle = linear::cholesky(&fit.curvature, n)?;
        let covariance = linear::inverse(&triangle, n);
        let density = density(&fit, &triangle) + fit.beyond_laplace(&covariance);
        Some(Candidate { fit, covariance, density })
    }
}

/// A comparison of two sides in the expansion of the likelihood about its maximum.
struct Term {
    contrast: Vec<(usize, f64)>,
    /// The third and the fourth derivative of the logarithm of the likelihood by its log-odds.
    third: f64,
    fourth: f64,
    /// The variance of its log-odds.
    own: f64,
}

pub(super) fn between(one: &[(usize, f64)], other: &[(usize, f64)], covariance: &[f64], n: usize) -> f64 {
    let row = |i: usize| other.iter().map(|&(j, y)| y * covariance[i * n + j]).sum::<f64>();
    one.iter().map(|&(i, x)| x * row(i)).sum()
}

pub(super) fn odds(contrast: &[(usize, f64)], theta: &[f64]) -> f64 {
    contrast.iter().map(|&(at, weight)| weight * theta[at]).sum()
}

/// The mean of p(1 - p) where the log-odds of p are normally distributed, by the three points of Gauss and Hermite.
pub(super) fn averaged_variance(odds: f64, of_odds: f64) -> f64 {
    let at = |odds: f64| {
        let p = 1.0 / (1.0 + (-odds).exp());
        p * (1.0 - p)
    };
    let error = (3.0 * of_odds).sqrt();
    (4.0 * at(odds) + at(odds - error) + at(odds + error)) / 6.0
}

impl Fit<'_> {
    fn terms(&self, covariance: &[f64]) -> Vec<Term> {
        let n = self.theta.len();
        let mut by_lineup: BTreeMap<Lineup, f64> = BTreeMap::new();
        for ((lineup, _), times) in self.counts.legs() {
            *by_lineup.entry(lineup).or_default() += times;
        }
        let mut terms = Vec::new();
        for (lineup, matches) in &by_lineup {
            for (d, e) in super::pairs(lineup) {
                let mut contrast = Vec::new();
                self.contrast(lineup, d, e, &mut contrast);
                let p = self.expected(&contrast);
                let curvature = p * (1.0 - p) * matches / self.dispersion;
                let own = between(&contrast, &contrast, covariance, n);
                let third = -curvature * (1.0 - 2.0 * p);
                let fourth = -curvature * (1.0 - 6.0 * p * (1.0 - p));
                terms.push(Term { contrast, third, fourth, own });
            }
        }
        terms
    }

    /// The difference between the mean of each parameter's gradient and its value at the maximum.
    fn skew(&self, terms: &[Term]) -> Vec<f64> {
        let mut skew = vec![0.0; self.theta.len()];
        for term in terms {
            for &(i, x) in &term.contrast {
                skew[i] += 0.5 * term.third * term.own * x;
            }
        }
        skew
    }

    /// The means of the parameters, of which the fit is the mode.
    fn mean(&self, covariance: &[f64]) -> Vec<f64> {
        let skew = self.skew(&self.terms(covariance));
        let rows = covariance.chunks_exact(self.theta.len());
        let shift = |row: &[f64]| row.iter().zip(&skew).map(|(x, y)| x * y).sum::<f64>();
        rows.zip(&self.theta).map(|(row, theta)| theta + shift(row)).collect()
    }

    /// The covariance of the parameters: the inverse of the mean curvature, not of that at one point.
    fn averaged(&self, mean: &[f64], covariance: &[f64]) -> Vec<f64> {
        let n = self.theta.len();
        let mut curvature = self.curvature.clone();
        let mut contrast = Vec::new();
        for ((lineup, _), times) in self.counts.legs() {
            for (d, e) in super::pairs(&lineup) {
                self.contrast(&lineup, d, e, &mut contrast);
                let own = between(&contrast, &contrast, covariance, n);
                let average = averaged_variance(odds(&contrast, mean), own);
                let p = self.expected(&contrast);
                let change = (average - p * (1.0 - p)) * times / self.dispersion;
                for &(i, x) in &contrast {
                    for &(j, y) in &contrast {
                        curvature[i * n + j] += x * y * change;
                    }
                }
            }
        }
        match linear::cholesky(&curvature, n) {
            Some(triangle) => linear::inverse(&triangle, n),
            None => covariance.to_vec(),
        }
    }

    /// The next-order terms of Laplace's method. The smallest part of the terms of two comparisons without a common
    /// entrant is omitted.
    fn beyond_laplace(&self, covariance: &[f64]) -> f64 {
        let n = self.theta.len();
        let terms = self.terms(covariance);
        let mut sum: f64 = terms.iter().map(|term| term.fourth * term.own * term.own / 8.0).sum();
        let skew = self.skew(&terms);
        for (row, x) in covariance.chunks_exact(n).zip(&skew) {
            sum += 0.5 * x * row.iter().zip(&skew).map(|(x, y)| x * y).sum::<f64>();
        }
        let mut by_entrant: Vec<Vec<usize>> = vec![Vec::new(); self.counts.entrants];
        let of_entrants = |term: &Term| -> Vec<usize> {
            term.contrast.iter().map(|&(i, _)| i).filter(|&i| i < self.counts.entrants).collect()
        };
        for (at, term) in terms.iter().enumerate() {
            of_entrants(term).into_iter().for_each(|i| by_entrant[i].push(at));
        }
        for (at, term) in terms.iter().enumerate() {
            let mut others: Vec<usize> =
                of_entrants(term).into_iter().flat_map(|i| by_entrant[i].iter().copied()).collect();
            others.sort_unstable();
            others.dedup();
            for other in others.into_iter().filter(|&other| other >= at) {
                let shared = between(&term.contrast, &terms[other].contrast, covariance, n);
                let times = if other == at { 1.0 } else { 2.0 };
                sum += times * term.third * terms[other].third * shared.powi(3) / 12.0;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entrant, MatchResult};
    use referee_game::chance::Seed;
    use referee_game::test_length::long_or;
    use referee_game::{Seating, Uniform};

    const DEVIATIONS_TO_TRY: [f64; 3] = [0.4, 0.8, 1.4];

    /// Moments of the strengths of three entrants and of the seat advantage by summing over a grid, and the logarithm
    /// of the sum, with each deviation.
    fn slowly(counts: &Counts, dispersion: f64) -> [([f64; 3], [f64; 3], f64); 3] {
        let mut fit = fit(counts, (0.0, dispersion), vec![0.0; 4]);
        let step = 0.2;
        let mut sums = [(0.0, [0.0; 3], [0.0; 3]); 3];
        for a in -25..=25 {
            for b in -25..=25 {
                for advantage in -12..=12 {
                    let [a, b] = [a, b].map(|x| f64::from(x) * step);
                    fit.theta.copy_from_slice(&[a, b, -a - b, 2.0 * step * f64::from(advantage)]);
                    let p = 1.0 / (1.0 + (-fit.theta[3]).exp());
                    let squares_of: f64 = fit.theta[..3].iter().map(|x| x * x).sum();
                    // The results depend on the strengths, not on their deviation.
                    let of_results = fit.log_likelihood() / dispersion + 0.5 * (p * (1.0 - p)).ln();
                    for ((sum, means, squares), deviation) in sums.iter_mut().zip(DEVIATIONS_TO_TRY) {
                        let log =
                            of_results - squares_of / (2.0 * deviation * deviation) - 2.0 * deviation.ln();
                        let part = log.exp();
                        *sum += part;
                        for (at, x) in fit.theta[..3].iter().enumerate() {
                            means[at] += part * x;
                            squares[at] += part * x * x;
                        }
                    }
                }
            }
        }
        sums.map(|(sum, means, squares)| {
            let means = means.map(|x| x / sum);
            let errors = [0, 1, 2].map(|at| (squares[at] / sum - means[at] * means[at]).sqrt());
            (means, errors, sum.ln())
        })
    }

    #[test]
    fn moments_and_densities_agree_with_a_sum_over_all_strengths() {
        let mut stream = Seed([5; 32]).match_key("test", "adaptive", &["", ""]).stream();
        for case in 0..long_or(6, 3) {
            let matches = 6 + 6 * case;
            let results: Vec<MatchResult> = (1..=matches)
                .map(|set| {
                    let one = stream.uniform(3) as u16;
                    let other = (one + 1 + stream.uniform(2) as u16) % 3;
                    let sides = [one, other].map(Entrant);
                    let lineup = Lineup::of_sides(Seating::new(2, 2), &sides).unwrap();
                    // Lower numbers win two of three.
                    let wins = (stream.uniform(3) > 0) == (one < other);
                    let ranks = if stream.uniform(5) == 0 {
                        [1, 1]
                    } else if wins {
                        [1, 2]
                    } else {
                        [2, 1]
                    };
                    MatchResult::played(set, lineup, &ranks)
                })
                .collect();
            let counts = Counts::of(3, &results);
            let dispersion = if case % 2 == 0 { 1.0 } else { 0.7 };
            let slowly = slowly(&counts, dispersion);
            let logs = [0, 1, 2].map(|at| {
                let (deviation, (means, errors, log)) = (DEVIATIONS_TO_TRY[at], slowly[at]);
                let found = Candidate::of(fit(&counts, (deviation.ln(), dispersion), vec![0.0; 4])).unwrap();
                let mean = found.fit.mean(&found.covariance);
                let covariance = found.fit.averaged(&mean, &found.covariance);
                for at in 0..3 {
                    // The sum of all strengths is 0 here, and has a variance there.
                    let variance = covariance[at * 4 + at] - 1.0 / (9.0 + 3.0 / (deviation * deviation));
                    assert!((mean[at] - means[at]).abs() < 0.1 * errors[at], "{case}: {mean:?} {means:?}");
                    assert!(
                        (variance.sqrt() / errors[at] - 1.0).abs() < 0.06,
                        "{case}: {variance} {errors:?}"
                    );
                }
                let of_prior = deviation.ln() - (deviation / SCALE).powi(2) / 2.0;
                (log, found.density - of_prior)
            });
            for (one, other) in [(0, 1), (1, 2)] {
                let [expected, found] = [logs[other].0 - logs[one].0, logs[other].1 - logs[one].1];
                assert!((expected - found).abs() < 0.05, "{case}: {expected} {found}");
            }
        }
    }
}
