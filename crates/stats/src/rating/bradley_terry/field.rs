//! The fit with a distribution of the strengths of the field: [`super`] describes the estimates.

use super::dispersion::Dispersion;
use super::{Counts, Fit, Strengths};
use crate::brownian::normal_cdf;
use crate::rating::{ELO_PER_LOGIT, linear};

/// The shape and the mean of the prior of the deviation of strengths, in log-odds: the mean is 217 Elo.
const OF_TOURNAMENT: (f64, f64) = (1.0, 1.25);

/// The gamma prior of ladders, with a mean of 300 Elo: the first few players may be equals, but those that
/// come later differ, and start with an interval of about 650 Elo to both sides.
const OF_LADDER: (f64, f64) = (4.0, 1.73);

/// The deviation from which the search starts.
pub(super) const DEVIATION: f64 = 1.25;

/// The range of deviations that is searched, in log-odds.
const DEVIATIONS: [f64; 2] = [0.02, 10.0];

/// The number of points on both sides of the mode in the sum for the integral over the logarithm of the deviation.
const NODES: i32 = 3;

/// The distance, in standard deviations.
const SPACING: f64 = 0.75;

/// A deviation whose logarithm is known with this standard deviation is not integrated over: that would widen intervals by 1%,
/// and fits of large fields would take three times as long.
const KNOWN: f64 = 0.2;

/// The expansions about the maximum fail for an entrant that has won or lost everything against opponents of other strength:
/// any greater distance explains the results. Its strength then has about a half-normal distribution, whose mean differs
/// from its mode by this number of standard deviations, the root of 2 / π.
const MOST_SHIFT: f64 = 0.8;

/// The share of the integral that Laplace's method misses there, at most: the most that the terms of the next order add for
/// each entrant.
const MOST_BEYOND: f64 = 0.2;

/// A fit with one deviation of strengths.
struct Candidate<'a> {
    fit: Fit<'a>,
    covariance: Vec<f64>,
    /// The logarithm of the posterior density of the logarithm of the deviation, but for a constant.
    density: f64,
}

/// The mean and the covariance of all parameters, in log-odds.
pub(super) struct Moments {
    pub(super) theta: Vec<f64>,
    pub(super) covariance: Vec<f64>,
}

/// The fits with each deviation, and their weights.
pub(super) struct Mixture<'a>(Vec<(Candidate<'a>, f64)>);

/// Computes strengths with a fitted distribution of strengths.
pub(super) fn strengths(counts: &Counts) -> Strengths {
    let n = counts.entrants + counts.sides.saturating_sub(1);
    if counts.by_set.is_empty() {
        return Strengths::of(counts, &vec![0.0; n], vec![0.0; n * n]);
    }
    let mut mode = Fit::new(counts).computed();
    for _ in 0..2 {
        mode.dispersion = Dispersion::of(&mode).value;
        mode = mode.with_likeliest_deviation();
    }
    let dispersion = Dispersion::of(&mode);
    mode.dispersion = dispersion.value;
    let mixture = Mixture::about(&mode);
    let [of_entrants, of_sides] = mixture.0.first().map_or_else(Default::default, |(candidate, _)| {
        [candidate.fit.entrant_dispersions(), candidate.fit.side_dispersions()]
    });
    let mut parts = mixture.parts();
    for (Moments { covariance, .. }, _) in &mut parts {
        let strengths = covariance.chunks_exact_mut(n).take(counts.entrants);
        strengths.flatten().for_each(|x| *x *= dispersion.widening.powi(2));
        for (at, of_entrant) in of_entrants.iter().enumerate() {
            let factor = of_entrant.sqrt();
            (0..n).for_each(|other| covariance[at * n + other] *= factor);
            (0..n).for_each(|other| covariance[other * n + at] *= factor);
        }
        for (side, of_side) in of_sides.iter().enumerate() {
            let at = counts.entrants + side;
            covariance[at * n + at] *= of_side / dispersion.value;
        }
    }
    let Moments { theta, covariance } = Moments::of(&parts, n);
    let mut strengths = Strengths {
        is_of_played_openings: dispersion.is_of_played_openings,
        ..Strengths::of(counts, &theta, covariance)
    };
    let played = counts.played();
    let centred: Vec<(Vec<f64>, Vec<f64>, f64)> = parts
        .into_iter()
        .map(|(Moments { theta, mut covariance }, part)| {
            super::center(&mut covariance, n, &played);
            let of_field = played.iter().map(|&i| theta[i]).sum::<f64>() / played.len() as f64;
            let by_entrant = |i: usize| theta[i] - if i < counts.entrants { of_field } else { 0.0 };
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

impl Moments {
    /// The moments of a mixture of normal distributions of `n` parameters, each with its weight.
    fn of(parts: &[(Moments, f64)], n: usize) -> Moments {
        let (mut theta, mut covariance) = (vec![0.0; n], vec![0.0; n * n]);
        for (of_part, part) in parts {
            theta.iter_mut().zip(&of_part.theta).for_each(|(sum, x)| *sum += part * x);
        }
        for (of_part, part) in parts {
            let off: Vec<f64> = of_part.theta.iter().zip(&theta).map(|(x, mean)| x - mean).collect();
            for (i, row) in covariance.chunks_exact_mut(n).enumerate() {
                for (j, sum) in row.iter_mut().enumerate() {
                    *sum += part * (of_part.covariance[i * n + j] + off[i] * off[j]);
                }
            }
        }
        Moments { theta, covariance }
    }
}

impl<'a> Mixture<'a> {
    /// The fits with deviations about the likeliest one, which `mode` has.
    pub(super) fn about(mode: &Fit<'a>) -> Mixture<'a> {
        let at = |log_deviation: f64| Candidate::of(mode.with_deviation(log_deviation.exp()));
        // The vertex of a parabola approximates the maximum of the density.
        let (mut centre, step) = (mode.deviation.ln(), 0.3);
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
            if error < KNOWN {
                break;
            }
        }
        let most = if error < KNOWN { 0 } else { NODES };
        let nodes = (-most..=most).filter_map(|node| at(centre + SPACING * error * f64::from(node)));
        let nodes: Vec<Candidate<'a>> = nodes.collect();
        let greatest = nodes.iter().map(|node| node.density).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = nodes.iter().map(|node| (node.density - greatest).exp()).sum();
        let weighted = nodes.into_iter().map(|node| {
            let part = (node.density - greatest).exp() / sum;
            (node, part)
        });
        Mixture(weighted.collect())
    }

    /// The moments of each fit, with its weight.
    fn parts(&self) -> Vec<(Moments, f64)> {
        let of_candidate = |(candidate, part): &(Candidate<'a>, f64)| {
            let theta = candidate.fit.mean(&candidate.covariance);
            let covariance = candidate.fit.averaged(&theta, &candidate.covariance);
            (Moments { theta, covariance }, *part)
        };
        self.0.iter().map(of_candidate).collect()
    }

    pub(super) fn moments(&self) -> Moments {
        Moments::of(&self.parts(), self.0.first().map_or(0, |(candidate, _)| candidate.fit.theta.len()))
    }
}

/// The logarithm of the density of the logarithm of the deviation of strengths, by a gamma distribution as the prior.
///
/// The tail is exponential: results tell a deviation of 800 Elo from one of 400, and a normal distribution would outweigh
/// them. One that falls as a power outweighs nothing: in a field whose entrants won or lost everything, any greater deviation
/// explains the results.
fn log_prior_of_deviation(deviation: f64, (shape, mean): (f64, f64)) -> f64 {
    shape * (deviation.ln() - deviation / mean)
}

/// The logarithm of the marginal likelihood by Laplace's method, times the density of the logarithm of the deviation.
fn density(fit: &Fit<'_>, triangle: &[f64]) -> f64 {
    let (n, entrants) = (fit.theta.len(), fit.counts.entrants as f64);
    let determinant: f64 = (0..n).map(|i| 2.0 * triangle[i * n + i].ln()).sum();
    // Without the direction in which all strengths of a tournament change alike: results do not depend on it.
    let (alike, of_deviation) = match fit.known {
        None => (0.5 * (entrants + fit.deviation.powi(-2)).ln() + fit.deviation.ln(), OF_TOURNAMENT),
        Some(_) => (0.0, OF_LADDER),
    };
    fit.log_likelihood() / fit.dispersion + fit.log_prior() - determinant / 2.0
        + alike
        + log_prior_of_deviation(fit.deviation, of_deviation)
}

impl<'a> Fit<'a> {
    /// The fit with the deviation of the greatest density, by golden sections.
    pub(super) fn with_likeliest_deviation(&self) -> Fit<'a> {
        let part = (5f64.sqrt() - 1.0) / 2.0;
        let evaluated = |at: f64, from: &Fit<'a>| {
            let fit = from.with_deviation(at.exp());
            let triangle = linear::cholesky(&fit.curvature, fit.theta.len());
            (at, triangle.map_or(f64::NEG_INFINITY, |triangle| density(&fit, &triangle)), fit)
        };
        let [mut low, mut high] = DEVIATIONS.map(f64::ln);
        let mut one = evaluated(high - part * (high - low), self);
        let mut other = evaluated(low + part * (high - low), self);
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
        if one.1 > other.1 { one.2 } else { other.2 }
    }
}

impl<'a> Candidate<'a> {
    fn of(fit: Fit<'a>) -> Option<Candidate<'a>> {
        let n = fit.theta.len();
        let triangle = linear::cholesky(&fit.curvature, n)?;
        let covariance = fit.inverse(&triangle);
        let density = density(&fit, &triangle) + fit.beyond_laplace(&covariance);
        Some(Candidate { fit, covariance, density })
    }
}

/// A comparison of two sides in the expansion of the likelihood about its maximum.
struct Term<'a> {
    contrast: &'a [(usize, f64)],
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
    /// The covariance of the parameters, of which fixed ones have none, from the triangle of negative second derivatives.
    fn inverse(&self, triangle: &[f64]) -> Vec<f64> {
        let n = self.theta.len();
        let mut covariance = linear::inverse(triangle, n);
        (0..n).filter(|&at| self.is_fixed(at)).for_each(|at| covariance[at * n + at] = 0.0);
        covariance
    }

    fn terms(&self, covariance: &[f64]) -> Vec<Term<'_>> {
        let terms = self.comparisons.iter().map(|of| {
            let p = self.expected(&of.contrast);
            let curvature = p * (1.0 - p) * of.times * of.weight / self.dispersion;
            let own = between(&of.contrast, &of.contrast, covariance, self.theta.len());
            let third = -curvature * (1.0 - 2.0 * p);
            let fourth = -curvature * (1.0 - 6.0 * p * (1.0 - p));
            Term { contrast: &of.contrast, third, fourth, own }
        });
        terms.collect()
    }

    /// The difference between the mean of each parameter's gradient and its value at the maximum.
    fn skew(&self, terms: &[Term<'_>]) -> Vec<f64> {
        let mut skew = vec![0.0; self.theta.len()];
        for term in terms {
            for &(i, x) in term.contrast {
                skew[i] += 0.5 * term.third * term.own * x;
            }
        }
        skew
    }

    /// The means of the parameters, of which the fit is the mode.
    fn mean(&self, covariance: &[f64]) -> Vec<f64> {
        let skew = self.skew(&self.terms(covariance));
        let rows = covariance.chunks_exact(self.theta.len());
        let shift = |(at, row): (usize, &[f64])| {
            let most = MOST_SHIFT * row[at].sqrt();
            row.iter().zip(&skew).map(|(x, y)| x * y).sum::<f64>().clamp(-most, most)
        };
        rows.enumerate().zip(&self.theta).map(|(row, theta)| theta + shift(row)).collect()
    }

    /// The covariance of the parameters: the inverse of the mean curvature, not of that at one point.
    fn averaged(&self, mean: &[f64], covariance: &[f64]) -> Vec<f64> {
        let n = self.theta.len();
        let mut curvature = self.curvature.clone();
        for of in self.comparisons.iter() {
            let own = between(&of.contrast, &of.contrast, covariance, n);
            let average = averaged_variance(odds(&of.contrast, mean), own);
            let p = self.expected(&of.contrast);
            let change = (average - p * (1.0 - p)) * of.times * of.weight / self.dispersion;
            for &(i, x) in &of.contrast {
                for &(j, y) in &of.contrast {
                    curvature[i * n + j] += x * y * change;
                }
            }
        }
        self.fix(&mut curvature);
        let Some(triangle) = linear::cholesky(&curvature, n) else { return covariance.to_vec() };
        self.inverse(&triangle)
    }

    /// The next-order terms of Laplace's method. The smallest part of the terms of two comparisons without a common
    /// entrant is omitted.
    fn beyond_laplace(&self, covariance: &[f64]) -> f64 {
        let most = MOST_BEYOND * self.counts.entrants as f64;
        let n = self.theta.len();
        let terms = self.terms(covariance);
        let mut sum: f64 = terms.iter().map(|term| term.fourth * term.own * term.own / 8.0).sum();
        let skew = self.skew(&terms);
        for (row, x) in covariance.chunks_exact(n).zip(&skew) {
            sum += 0.5 * x * row.iter().zip(&skew).map(|(x, y)| x * y).sum::<f64>();
        }
        // By entrant: the terms before the current one.
        let mut by_entrant: Vec<Vec<usize>> = vec![Vec::new(); self.counts.entrants];
        // By term: the last one with which it was combined, since two terms may share several entrants.
        let mut combined = vec![usize::MAX; terms.len()];
        // The covariance of the current term's log-odds with each parameter.
        let mut with_term = vec![0.0; n];
        for (at, term) in terms.iter().enumerate() {
            sum += term.third.powi(2) * term.own.powi(3) / 12.0;
            combined[at] = at;
            with_term.fill(0.0);
            for &(i, x) in term.contrast {
                linear::add_times(&mut with_term, x, &covariance[i * n..][..n]);
            }
            let mut of_others = 0.0;
            for &(i, _) in term.contrast.iter().filter(|&&(i, _)| i < self.counts.entrants) {
                for &other in &by_entrant[i] {
                    if std::mem::replace(&mut combined[other], at) != at {
                        of_others += terms[other].third * odds(terms[other].contrast, &with_term).powi(3);
                    }
                }
                by_entrant[i].push(at);
            }
            sum += term.third * of_others / 6.0;
        }
        sum.clamp(-most, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entrant, Lineup, MatchResult};
    use referee_game::chance::Seed;
    use referee_game::test_length::long_or;
    use referee_game::{Seating, Uniform};

    const DEVIATIONS_TO_TRY: [f64; 3] = [0.4, 0.8, 1.4];

    /// Moments of the strengths of three entrants and of the seat advantage by summing over a grid, and the logarithm
    /// of the sum, with each deviation.
    fn slowly(counts: &Counts, dispersion: f64) -> [([f64; 3], [f64; 3], f64); 3] {
        let mut fit = Fit { dispersion, ..Fit::new(counts) };
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

    /// [`Fit::beyond_laplace`] by its definition.
    fn beyond_laplace_slowly(fit: &Fit<'_>, covariance: &[f64]) -> f64 {
        let (n, terms) = (fit.theta.len(), fit.terms(covariance));
        let skew = fit.skew(&terms);
        let mut sum: f64 = terms.iter().map(|term| term.fourth * term.own.powi(2) / 8.0).sum();
        for (i, x) in skew.iter().enumerate() {
            sum += skew.iter().enumerate().map(|(j, y)| 0.5 * x * y * covariance[i * n + j]).sum::<f64>();
        }
        for (one, other) in terms.iter().flat_map(|one| terms.iter().map(move |other| (one, other))) {
            let is_shared = |&(i, _): &(usize, f64)| {
                i < fit.counts.entrants && other.contrast.iter().any(|&(j, _)| i == j)
            };
            if one.contrast.iter().any(is_shared) {
                let shared = between(one.contrast, other.contrast, covariance, n);
                sum += one.third * other.third * shared.powi(3) / 12.0;
            }
        }
        sum
    }

    #[test]
    fn the_terms_beyond_laplace_are_those_of_their_definition() {
        let mut stream = Seed([6; 32]).match_key("test", "beyond", &["", ""]).stream();
        for (seats, sides) in [(2, 2), (3, 3), (4, 2), (6, 3)] {
            let seating = Seating::new(seats, sides);
            let mut order: Vec<u16> = (0..9).collect();
            let results: Vec<MatchResult> = (1..=60)
                .map(|set| {
                    stream.shuffle(&mut order);
                    let mut entrants: Vec<Entrant> =
                        order[..usize::from(seats)].iter().copied().map(Entrant).collect();
                    if set % 4 == 0 {
                        // An entrant with all seats of a side.
                        (seating.members(0).iter()).for_each(|seat| entrants[seat.index()] = Entrant(9));
                    }
                    let lineup =
                        Lineup::of_seats(seating, &entrants).expect("sides have the same number of seats");
                    let winner = stream.uniform(sides.into()) as u8;
                    let ranks: Vec<u8> = (0..sides).map(|side| if side == winner { 1 } else { 2 }).collect();
                    MatchResult::played(set, lineup, &ranks)
                })
                .collect();
            let counts = Counts::of(10, &results);
            let fit = Fit::new(&counts).computed();
            let covariance = Candidate::of(fit.clone()).expect("a curved density").covariance;
            let (found, expected) =
                (fit.beyond_laplace(&covariance), beyond_laplace_slowly(&fit, &covariance));
            assert!(expected.abs() > 1e-3 && (found - expected).abs() < 1e-9, "{seats}: {found} {expected}");
        }
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
                let fit = Fit { deviation, dispersion, ..Fit::new(&counts) }.computed();
                let found = Candidate::of(fit).unwrap();
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
                (log, found.density - log_prior_of_deviation(deviation, OF_TOURNAMENT))
            });
            for (one, other) in [(0, 1), (1, 2)] {
                let [expected, found] = [logs[other].0 - logs[one].0, logs[other].1 - logs[one].1];
                assert!((expected - found).abs() < 0.05, "{case}: {expected} {found}");
            }
        }
    }
}
