//! Elo from a Bradley-Terry fit over all results.
//!
//! **Model** (R. A. Bradley, M. E. Terry, *Biometrika* 39, 1952, 324-345): side d does better than side e with the
//! log-odds s(d) - s(e). The strength s of a side is the mean of the strengths of its entrants plus the advantage of
//! the side's seats; that of the last side is 0. Elo is 400 / ln 10 times the log-odds. With three sides each two are
//! compared.
//!
//! **Draws** count as half a win and half a loss, so the model is one of the expected score, which is what Elo
//! differences mean elsewhere too ([`crate::tournament::sprt`]), and needs no further parameter (unlike R. R. Davidson,
//! *Journal of the American Statistical Association* 65, 1970, 317-328).
//!
//! **Fit**: Newton's method on the log-likelihood, which is concave. Everyone also draws one comparison against an
//! opponent of the mean strength, and every side one against the last, as in R. Coulom's BayesElo: so the estimates are
//! finite when someone won or lost everything or fields never met (the condition of L. R. Ford, *American Mathematical
//! Monthly* 64, 1957, 28-33). The strengths are given relative to the mean of the field.
//!
//! **Intervals**: of draws and of the two legs of a mirrored set the binomial variance is wrong: too large or too
//! small. So the covariance is the sandwich of P. J. Huber (1967) and H. White (*Econometrica* 50, 1982, 1-25) with
//! sets as clusters (K.-Y. Liang, S. L. Zeger, *Biometrika* 73, 1986, 13-22), times G / (G - k) for G sets and k
//! parameters. 95% means plus and minus 1.96 standard errors.
//!
//! **Speed**: results are counted per line-up and per course of a set first, so the fit does not grow with the number
//! of matches.

use std::collections::{BTreeMap, HashMap};

use super::linear;
use super::{ELO_PER_LOGIT, Estimate};
use crate::core::MAX_SEATS;
use crate::tournament::{Entrant, Lineup, MatchResult};

/// Pairs of six sides.
const PAIRS: usize = MAX_SEATS * (MAX_SEATS - 1) / 2;

/// A match as far as the model looks at it.
type Leg = (Lineup, [u8; MAX_SEATS]);

#[derive(Clone, Debug, Default)]
struct Count {
    matches: f64,
    /// By pair of sides: what the first one scored.
    scores: [f64; PAIRS],
}

/// Results, counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    entrants: usize,
    sides: usize,
    by_lineup: BTreeMap<Lineup, Count>,
    /// What happened in sets, and how often.
    by_course: BTreeMap<Vec<Leg>, u32>,
}

/// The pairs of sides of a line-up that are compared, with their place in [`Count::scores`].
fn pairs(lineup: &Lineup) -> impl Iterator<Item = (usize, usize, usize)> {
    let sides = lineup.seating().sides();
    let all = (0..sides).flat_map(move |d| (d + 1..sides).map(move |e| (d, e)));
    all.enumerate()
        .map(|(at, (d, e))| (at, d, e))
        .filter(|&(_, d, e)| lineup.side(d).all(|entrant| lineup.side(e).all(|other| other != entrant)))
}

impl Counts {
    /// Of entrants 0 to `entrants - 1`. Results of others are left out.
    pub fn of(entrants: usize, results: &[MatchResult]) -> Counts {
        let mut counts = Counts { entrants, ..Counts::default() };
        let mut course: Vec<Leg> = Vec::new();
        let mut by_course: HashMap<Vec<Leg>, u32> = HashMap::new();
        for set in results.chunk_by(|a, b| a.set == b.set) {
            let legs = set.iter().filter(|leg| leg.lineup.seats().iter().all(|e| e.index() < entrants));
            course.clear();
            course.extend(legs.map(|leg| (leg.lineup, leg.places)));
            match by_course.get_mut(course.as_slice()) {
                Some(times) => *times += 1,
                None => {
                    by_course.insert(course.clone(), 1);
                }
            }
        }
        by_course.remove([].as_slice());
        counts.by_course = by_course.into_iter().collect();
        for (course, &times) in &counts.by_course {
            for &(lineup, places) in course {
                counts.sides = counts.sides.max(lineup.seating().sides());
                let count = counts.by_lineup.entry(lineup).or_default();
                count.matches += f64::from(times);
                for (at, d, e) in pairs(&lineup) {
                    count.scores[at] += f64::from(times) * score(&places, d, e);
                }
            }
        }
        counts
    }
}

fn score(places: &[u8; MAX_SEATS], d: usize, e: usize) -> f64 {
    match places[d].cmp(&places[e]) {
        std::cmp::Ordering::Less => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Greater => 0.0,
    }
}

/// The result of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Strengths {
    /// By entrant: Elo relative to the mean of the field.
    pub elo: Vec<Estimate>,
    /// By side but the last: the advantage of its seats over those of the last side in Elo. With two sides that of the
    /// first seat.
    pub advantage: Vec<Estimate>,
    covariance: Vec<f64>,
}

impl Strengths {
    /// How much stronger one is than the other, in Elo. The interval is not what their two intervals add up to.
    pub fn difference(&self, one: Entrant, other: Entrant) -> Estimate {
        let n = self.elo.len();
        let (a, b) = (one.index(), other.index());
        if a >= n || b >= n {
            return Estimate::default();
        }
        let variance =
            self.covariance[a * n + a] + self.covariance[b * n + b] - 2.0 * self.covariance[a * n + b];
        Estimate::normal(self.elo[a].value - self.elo[b].value, variance.max(0.0).sqrt())
    }

    /// The probability that one is stronger than the other, in the normal approximation.
    pub fn superiority(&self, one: Entrant, other: Entrant) -> f64 {
        let difference = self.difference(one, other);
        let error = (difference.high - difference.value) / super::Z95;
        crate::tournament::sprt::normal_cdf(if error > 0.0 { difference.value / error } else { 0.0 })
    }
}

/// The fit. With few sets more than entrants the intervals are rough: see [`super::bootstrap`].
pub fn fit(counts: &Counts) -> Strengths {
    Fit::new(counts, 1.0).strengths()
}

struct Fit<'a> {
    counts: &'a Counts,
    /// How many comparisons everyone draws against the mean.
    prior: f64,
    /// Log-odds: entrants, then sides but the last.
    theta: Vec<f64>,
    /// The negative second derivatives.
    curvature: Vec<f64>,
}

impl<'a> Fit<'a> {
    fn new(counts: &'a Counts, prior: f64) -> Fit<'a> {
        let parameters = counts.entrants + counts.sides.saturating_sub(1);
        let mut fit = Fit { counts, prior, theta: vec![0.0; parameters], curvature: Vec::new() };
        for _ in 0..200 {
            let gradient = fit.differentiate();
            let Some(l) = linear::cholesky(&fit.curvature, parameters) else { break };
            let mut step = linear::solve(&l, parameters, &gradient);
            let longest = step.iter().fold(0.0f64, |longest, x| longest.max(x.abs()));
            if longest > 2.0 {
                step.iter_mut().for_each(|x| *x *= 2.0 / longest);
            }
            fit.theta.iter_mut().zip(&step).for_each(|(theta, step)| *theta += step);
            if longest < 1e-10 {
                break;
            }
        }
        fit.differentiate();
        fit
    }

    /// The parameters in which two sides differ, with their weights.
    fn contrast(&self, lineup: &Lineup, d: usize, e: usize, out: &mut Vec<(usize, f64)>) {
        out.clear();
        let seats = lineup.seating().seats() / lineup.seating().sides();
        for (side, sign) in [(d, 1.0), (e, -1.0)] {
            out.extend(lineup.side(side).map(|entrant| (entrant.index(), sign / seats as f64)));
            if side + 1 < self.counts.sides {
                out.push((self.counts.entrants + side, sign));
            }
        }
    }

    fn expected(&self, contrast: &[(usize, f64)]) -> f64 {
        let odds: f64 = contrast.iter().map(|&(at, weight)| weight * self.theta[at]).sum();
        1.0 / (1.0 + (-odds).exp())
    }

    /// The gradient of the log-likelihood; sets the curvature too.
    fn differentiate(&mut self) -> Vec<f64> {
        let n = self.theta.len();
        let mut gradient = vec![0.0; n];
        let mut curvature = vec![0.0; n * n];
        let mut contrast = Vec::new();
        for (lineup, count) in &self.counts.by_lineup {
            for (at, d, e) in pairs(lineup) {
                self.contrast(lineup, d, e, &mut contrast);
                let p = self.expected(&contrast);
                for &(i, x) in &contrast {
                    gradient[i] += x * (count.scores[at] - count.matches * p);
                    for &(j, y) in &contrast {
                        curvature[i * n + j] += x * y * count.matches * p * (1.0 - p);
                    }
                }
            }
        }
        for i in 0..n {
            let p = self.expected(&[(i, 1.0)]);
            gradient[i] += self.prior * (0.5 - p);
            curvature[i * n + i] += self.prior * p * (1.0 - p);
        }
        // Strengths are differences only: their sum is held at 0.
        let entrants = self.counts.entrants;
        let sum: f64 = self.theta[..entrants].iter().sum();
        for i in 0..entrants {
            gradient[i] -= sum;
            curvature[i * n..][..entrants].iter_mut().for_each(|x| *x += 1.0);
        }
        self.curvature = curvature;
        gradient
    }

    /// The sum over sets of the squares of their gradients.
    fn spread(&self) -> Vec<f64> {
        let n = self.theta.len();
        let mut spread = vec![0.0; n * n];
        let mut contrast = Vec::new();
        let mut of_set: Vec<(usize, f64)> = Vec::new();
        let mut sets = 0.0;
        for (course, &times) in &self.counts.by_course {
            of_set.clear();
            for (lineup, places) in course {
                for (_, d, e) in pairs(lineup) {
                    self.contrast(lineup, d, e, &mut contrast);
                    let residual = score(places, d, e) - self.expected(&contrast);
                    for &(i, x) in &contrast {
                        match of_set.iter_mut().find(|(j, _)| *j == i) {
                            Some((_, sum)) => *sum += x * residual,
                            None => of_set.push((i, x * residual)),
                        }
                    }
                }
            }
            for &(i, x) in &of_set {
                for &(j, y) in &of_set {
                    spread[i * n + j] += f64::from(times) * x * y;
                }
            }
            sets += f64::from(times);
        }
        let correction = sets / (sets - n as f64).max(1.0);
        spread.iter_mut().for_each(|x| *x *= correction);
        for i in 0..n {
            spread[i * n + i] += (self.prior * (0.5 - self.expected(&[(i, 1.0)]))).powi(2);
        }
        spread
    }

    fn strengths(&self) -> Strengths {
        let n = self.theta.len();
        if n == 0 {
            return Strengths { elo: Vec::new(), advantage: Vec::new(), covariance: Vec::new() };
        }
        let entrants = self.counts.entrants;
        let bread = match linear::cholesky(&self.curvature, n) {
            Some(l) => linear::inverse(&l, n),
            None => vec![f64::INFINITY; n * n],
        };
        let mut covariance =
            linear::times_symmetric(&linear::times_symmetric(&bread, &self.spread(), n), &bread, n);
        let mut theta = self.theta.clone();
        center(&mut theta, &mut covariance, entrants);
        let estimate = |at: usize| {
            let error = covariance[at * n + at].max(0.0).sqrt();
            Estimate::normal(ELO_PER_LOGIT * theta[at], ELO_PER_LOGIT * error)
        };
        let of_entrants = (0..entrants).flat_map(|i| covariance[i * n..][..entrants].iter());
        Strengths {
            elo: (0..entrants).map(estimate).collect(),
            advantage: (entrants..n).map(estimate).collect(),
            covariance: of_entrants.map(|x| x * ELO_PER_LOGIT * ELO_PER_LOGIT).collect(),
        }
    }
}

/// Makes the strengths relative to their mean.
fn center(theta: &mut [f64], covariance: &mut [f64], entrants: usize) {
    let n = theta.len();
    let mean = theta[..entrants].iter().sum::<f64>() / entrants as f64;
    theta[..entrants].iter_mut().for_each(|x| *x -= mean);
    for row in covariance.chunks_exact_mut(n) {
        let mean = row[..entrants].iter().sum::<f64>() / entrants as f64;
        row[..entrants].iter_mut().for_each(|x| *x -= mean);
    }
    for column in 0..n {
        let mean = (0..entrants).map(|row| covariance[row * n + column]).sum::<f64>() / entrants as f64;
        (0..entrants).for_each(|row| covariance[row * n + column] -= mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Seating;

    /// American League East 1987: home team, away team, home wins, away wins, with Baltimore, Boston, Cleveland,
    /// Detroit, Milwaukee, New York, Toronto as 0 to 6. A. Agresti, *Categorical Data Analysis*, 2nd edition 2002,
    /// table 10.10.
    const BASEBALL: [(u16, u16, u32, u32); 42] = [
        (4, 3, 4, 3),
        (4, 6, 4, 2),
        (4, 5, 4, 3),
        (4, 1, 6, 1),
        (4, 2, 4, 2),
        (4, 0, 6, 0),
        (3, 4, 3, 3),
        (3, 6, 4, 2),
        (3, 5, 4, 3),
        (3, 1, 6, 0),
        (3, 2, 6, 1),
        (3, 0, 4, 3),
        (6, 4, 2, 5),
        (6, 3, 4, 3),
        (6, 5, 2, 4),
        (6, 1, 4, 3),
        (6, 2, 4, 2),
        (6, 0, 6, 0),
        (5, 4, 3, 3),
        (5, 3, 5, 1),
        (5, 6, 2, 5),
        (5, 1, 4, 3),
        (5, 2, 4, 2),
        (5, 0, 6, 1),
        (1, 4, 5, 1),
        (1, 3, 2, 5),
        (1, 6, 3, 3),
        (1, 5, 4, 2),
        (1, 2, 5, 2),
        (1, 0, 6, 0),
        (2, 4, 2, 5),
        (2, 3, 3, 3),
        (2, 6, 3, 4),
        (2, 5, 4, 3),
        (2, 1, 4, 2),
        (2, 0, 2, 4),
        (0, 4, 2, 5),
        (0, 3, 1, 5),
        (0, 6, 1, 6),
        (0, 5, 2, 4),
        (0, 1, 1, 6),
        (0, 2, 3, 4),
    ];

    fn baseball() -> Counts {
        let mut results = Vec::new();
        for (home, away, home_wins, away_wins) in BASEBALL {
            let lineup = Lineup::of_sides(Seating::new(2, 2), &[Entrant(home), Entrant(away)]).unwrap();
            for game in 0..home_wins + away_wins {
                let ranks = if game < home_wins { [1, 2] } else { [2, 1] };
                results.push(MatchResult::played(results.len() as u32 + 1, lineup, &ranks));
            }
        }
        Counts::of(7, &results)
    }

    #[test]
    fn baseball_1987_has_the_published_abilities_and_home_advantage() {
        // Agresti, table 10.11, column 5, and page 438: a home advantage of 0.302 with a standard error of 0.131.
        let counts = baseball();
        let fit = Fit::new(&counts, 0.0);
        let mut abilities: Vec<f64> = fit.theta[..7].iter().map(|theta| theta.exp()).collect();
        let sum: f64 = abilities.iter().sum();
        abilities.sort_by(f64::total_cmp);
        let rounded: Vec<f64> = abilities.iter().map(|x| (1000.0 * x / sum).round() / 1000.0).collect();
        assert_eq!(rounded, [0.044, 0.088, 0.137, 0.157, 0.164, 0.190, 0.220]);
        assert!((fit.theta[7] - 0.302).abs() < 0.0005, "{}", fit.theta[7]);
        let advantage = fit.strengths().advantage[0];
        let error = (advantage.high - advantage.value) / super::super::Z95 / ELO_PER_LOGIT;
        assert!((error - 0.131).abs() < 0.01, "{error}");
    }

    #[test]
    fn baseball_1987_has_the_published_standard_errors_of_differences() {
        // Agresti, page 438: "about 0.3" for each team against Baltimore.
        let counts = baseball();
        let strengths = Fit::new(&counts, 0.0).strengths();
        for team in 1..7 {
            let difference = strengths.difference(Entrant(team), Entrant(0));
            let error = (difference.high - difference.value) / super::super::Z95 / ELO_PER_LOGIT;
            assert!((0.25..0.40).contains(&error), "{error}");
        }
    }

    #[test]
    fn who_won_everything_has_a_finite_strength_and_a_wide_interval() {
        let lineup = Lineup::of_sides(Seating::new(2, 2), &[Entrant(0), Entrant(1)]).unwrap();
        let results: Vec<MatchResult> =
            (1..=20).map(|set| MatchResult::played(set, lineup, &[1, 2])).collect();
        let difference = fit(&Counts::of(2, &results)).difference(Entrant(0), Entrant(1));
        assert!(difference.value > 200.0 && difference.value < 2000.0, "{difference:?}");
        assert!(difference.high - difference.low > 300.0, "{difference:?}");
    }

    #[test]
    fn nobody_and_nothing_give_no_strengths_and_no_panic() {
        assert!(fit(&Counts::of(0, &[])).elo.is_empty());
        let strengths = fit(&Counts::of(3, &[]));
        assert!(strengths.elo.iter().all(|elo| elo.value == 0.0));
    }
}
