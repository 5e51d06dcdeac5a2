//! Elo from a Bradley-Terry fit over all results.
//!
//! **Model** (R. A. Bradley, M. E. Terry, *Biometrika* 39, 1952, 324-345): side d does better than side e with the
//! log-odds s(d) - s(e). The strength s of a side is the mean of the strengths of its entrants plus the advantage of
//! the side's seats; that of the last side is 0. Elo is 400 / ln 10 times the log-odds. With three sides, every two
//! are compared.
//!
//! **Draws** count as half a win and half a loss, so the model is one of the expected score, which is what Elo
//! differences mean elsewhere too ([`crate::sprt`]), and needs no further parameter (unlike R. R. Davidson,
//! *Journal of the American Statistical Association* 65, 1970, 317-328).
//!
//! **Fit** ([`fit`]): the strengths of the field are taken to be drawn from a normal distribution, whose deviation is
//! estimated with them. So the estimates are finite even if an entrant won or lost everything or fields never met (the
//! condition of L. R. Ford, *American Mathematical Monthly* 64, 1957, 28-33), and it is of no consequence how results led
//! to pairings (D. B. Rubin, *Biometrika* 63, 1976, 581-592): one fit serves all formats. Without the distribution, an
//! entrant that was lucky in a Swiss tournament or in a knockout and therefore met the stronger is rated up to twice too far
//! from the mean, and in a round robin of one cycle in a spread field the intervals hold 84% to 92% of the strengths.
//!
//! * The deviation of the distribution is integrated over. Its prior is the exponential distribution with a mean of 217 Elo, its
//!   likelihood comes from Laplace's method with the
//!   terms of the next order (S. W. Raudenbush, M.-L. Yang, M. Yosef, *Journal of Computational and Graphical
//!   Statistics* 9, 2000, 141-157), without which it is too small with few matches an entrant.
//! * Draws and mirrored sets vary less than the binomial distribution: a result counts as 1 / d results, where d is
//!   measured over all sets, as in a quasi-likelihood (R. W. M. Wedderburn, *Biometrika* 61, 1974, 439-447).
//! * With each deviation a strength is taken to be normally distributed: its mean with the correction to the first order,
//!   its own deviation from the curvature that is averaged over the strengths. The estimate is the mean of the mixture over
//!   all deviations, the interval holds the middle 95% of the mixture. It is skewed for the best and the worst of a field.
//! * Each side also draws one comparison against the last. The strengths are relative to the mean of the field. An entrant
//!   without a match has an infinite interval, and is not part of the mean.
//!
//! **Openings** ([`Counts::with_moves`]): copies of sets between deterministic bots do not count, and d is the variance between
//! clusters of sets on one opening if that is greater than between sets. [`Strengths::is_of_played_openings`] states
//! whether there are enough openings.
//!
//! In simulated Swiss tournaments, knockouts, round robins and gauntlets of 8 to 64 entrants, with strengths that have a
//! deviation of 100 to 400 Elo, single matches and mirrored sets, 0 to 40% draws, 92% to 97% of the intervals hold the
//! strength (`tests/library/ratings.rs`); with a deviation of 800 Elo 92% to 96%, in gauntlets 83% to 86%.
//!
//! Intervals cover 95% on average over a field that is so distributed, not for each entrant: the best of a field that
//! falls into two classes is taken for weaker than it is.
//!
//! **Ladders**: [`fit_anchored`] has the same distribution of strengths. It keeps the strengths of anchors fixed, so that the scale of a ladder does not move, and lets
//! a later version of a program start from the strength of the earlier one, and a season from the ratings of the one before. Its intervals count a set as one observation,
//! by the measured variance d of all sets. The weight of a single pair is limited.
//!
//! **Speed**: sets with the same lineups and places are counted together, so the cost of the fit does not depend on
//! the number of matches.

mod anchored;
mod clusters;
mod dispersion;
mod field;
mod packed_set;

pub use anchored::{Anchored, EarlierRating, FitConstraints, fit_anchored};
pub use clusters::Origin;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use self::clusters::{Clusters, SetsOnOpenings};
use self::packed_set::{PackedSet, PlayedLeg};
use super::linear;
use super::{ELO_PER_LOGIT, Estimate};
use crate::sample::MatchMoves;
use crate::{Entrant, Lineup, MatchResult};
use referee_game::MAX_SEATS;

/// Results, counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    entrants: usize,
    sides: usize,
    /// The courses of sets, and how often they occurred.
    by_set: BTreeMap<PackedSet, u32>,
    /// The sets that share openings.
    clusters: Clusters,
    origin: Origin,
}

/// The pairs of sides of a lineup that are compared.
fn pairs(lineup: &Lineup) -> impl Iterator<Item = (usize, usize)> {
    let sides = lineup.seating().sides();
    let all = (0..sides).flat_map(move |d| (d + 1..sides).map(move |e| (d, e)));
    all.filter(|&(d, e)| lineup.side(d).all(|entrant| lineup.side(e).all(|other| other != entrant)))
}

impl Counts {
    /// Counts results of entrants 0 to `entrants - 1`, ignoring others. Each set has an opening or deal of its own.
    pub fn of<'a>(entrants: usize, results: impl IntoIterator<Item = &'a MatchResult>) -> Counts {
        Counts::with_moves(entrants, results.into_iter().map(|result| (result, None)))
    }

    /// Counts results with the moves of their matches, if sets can share openings.
    pub fn with_moves<'a>(
        entrants: usize,
        results: impl IntoIterator<Item = (&'a MatchResult, Option<MatchMoves>)>,
    ) -> Counts {
        let mut counts = Counts { entrants, ..Counts::default() };
        let mut by_set: FxHashMap<PackedSet, u32> = FxHashMap::default();
        let mut on_openings = SetsOnOpenings::default();
        let mut legs: SmallVec<[(PlayedLeg, Option<MatchMoves>); 6]> = SmallVec::new();
        let mut set = 0;
        let mut close = |legs: &mut SmallVec<[(PlayedLeg, Option<MatchMoves>); 6]>| {
            // The same set of matches that began with another one of them.
            legs.sort_unstable();
            let packed = PackedSet::of(legs.iter().map(|(leg, _)| *leg));
            let moves: Option<SmallVec<[MatchMoves; 6]>> = legs.drain(..).map(|(_, moves)| moves).collect();
            match moves {
                _ if packed == PackedSet::default() => {}
                Some(moves) => on_openings.add(packed, &moves),
                None => *by_set.entry(packed).or_default() += 1,
            }
        };
        for (leg, moves) in results {
            if leg.set != set {
                close(&mut legs);
                set = leg.set;
            }
            if leg.lineup.seats().iter().all(|entrant| entrant.index() < entrants) {
                legs.push(((leg.lineup, leg.places), moves));
                counts.sides = counts.sides.max(leg.lineup.seating().sides());
            }
        }
        close(&mut legs);
        (counts.clusters, counts.origin) = on_openings.close(&mut by_set);
        counts.by_set = by_set.into_iter().collect();
        counts
    }

    /// The sets behind the results.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Adds a result, as a set of its own.
    pub fn add(&mut self, result: &MatchResult) {
        let MatchResult { lineup, places, .. } = *result;
        let highest = lineup.seats().iter().map(|entrant| entrant.index() + 1).max();
        self.grow(highest.unwrap_or(0));
        self.sides = self.sides.max(lineup.seating().sides());
        *self.by_set.entry(PackedSet::of([(lineup, places)])).or_default() += 1;
    }

    /// Adds the second result of a set whose first one was added before.
    pub fn complete(&mut self, first: &MatchResult, second: &MatchResult) {
        let [first, second] = [first, second].map(|result| (result.lineup, result.places));
        let alone = PackedSet::of([first]);
        if let Some(times) = self.by_set.get_mut(&alone) {
            *times -= 1;
            if *times == 0 {
                self.by_set.remove(&alone);
            }
        }
        *self.by_set.entry(PackedSet::of([first, second])).or_default() += 1;
    }

    /// Adds entrants without results until there are this many.
    pub fn grow(&mut self, entrants: usize) {
        self.entrants = self.entrants.max(entrants);
    }

    /// The matches of all sets, with the number of sets that had these lineups and places.
    fn legs(&self) -> impl Iterator<Item = (PlayedLeg, f64)> {
        self.by_set.iter().flat_map(|(packed, &times)| packed.legs().map(move |leg| (leg, f64::from(times))))
    }

    /// The entrants with a result.
    fn played(&self) -> BTreeSet<usize> {
        let mut played = BTreeSet::new();
        for ((lineup, _), _) in self.legs() {
            played.extend(lineup.seats().iter().map(|entrant| entrant.index()));
        }
        played
    }
}

fn ordered(one: Entrant, other: Entrant) -> (Entrant, Entrant) {
    if one < other { (one, other) } else { (other, one) }
}

fn score(places: &[u8; MAX_SEATS], d: usize, e: usize) -> f64 {
    match places[d].cmp(&places[e]) {
        std::cmp::Ordering::Less => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Greater => 0.0,
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strengths {
    /// By entrant: Elo relative to the mean of the field; 0 with an infinite interval for an entrant without a match.
    pub elo: Vec<Estimate>,
    /// By side except the last: the advantage of its seats over those of the last side in Elo. With two sides, that
    /// of the first seat.
    pub advantage: Vec<Estimate>,
    /// Whether the intervals are valid only for the openings that were played and not for openings like these: too few
    /// openings were played to tell how openings differ.
    pub is_of_played_openings: bool,
    /// The covariance of the entrants, in squares of Elo.
    covariance: Vec<f64>,
}

impl Strengths {
    /// The difference in strength of two entrants, in Elo. Its interval cannot be derived from theirs.
    pub fn difference(&self, one: Entrant, other: Entrant) -> Estimate {
        difference(&self.elo, &self.covariance, one, other)
    }
}

/// The difference in strength of two entrants in Elo, given the covariance of all in squares of Elo. 0 with an interval of
/// width 0 for an entrant that is not among them.
fn difference(elo: &[Estimate], covariance: &[f64], one: Entrant, other: Entrant) -> Estimate {
    let n = elo.len();
    let (a, b) = (one.index(), other.index());
    if a >= n || b >= n {
        return Estimate::default();
    }
    let variance = covariance[a * n + a] + covariance[b * n + b] - 2.0 * covariance[a * n + b];
    Estimate::normal(elo[a].value - elo[b].value, variance.max(0.0).sqrt())
}

impl Strengths {
    /// The score that a side of a lineup is expected to have against another one, from 0 to 1.
    pub fn expected(&self, lineup: &Lineup, side: usize, other: usize) -> f64 {
        let strength = |side: usize| {
            let entrants = lineup.side(side).filter_map(|entrant| self.elo.get(entrant.index()));
            let (sum, count) = entrants.fold((0.0, 0.0), |(sum, count), elo| (sum + elo.value, count + 1.0));
            sum / f64::max(count, 1.0) + self.advantage.get(side).map_or(0.0, |advantage| advantage.value)
        };
        1.0 / (1.0 + 10.0_f64.powf((strength(other) - strength(side)) / 400.0))
    }
}

/// Computes the strengths of all entrants, with a distribution of strengths that is fitted to the field.
pub fn fit(counts: &Counts) -> Strengths {
    field::strengths(counts)
}

/// A term of the logarithm of the prior density: it, its derivative by a difference in log-odds, and the negative second
/// derivative.
#[derive(Clone, Copy, Debug)]
struct PriorTerm {
    log: f64,
    slope: f64,
    curve: f64,
}

impl PriorTerm {
    /// A difference that is normally distributed about 0.
    fn normal(difference: f64, deviation: f64) -> PriorTerm {
        let curve = deviation.powi(-2);
        let log = -0.5 * curve * difference.powi(2) - deviation.ln();
        PriorTerm { log, slope: -curve * difference, curve }
    }

    /// Returns the term of this number of comparisons that are draws.
    fn draws(draws: f64, difference: f64) -> PriorTerm {
        let p = 1.0 / (1.0 + (-difference).exp());
        // ln p + ln(1 - p) = -|x| - 2 ln(1 + exp(-|x|)).
        let log = -0.5 * draws * (difference.abs() + 2.0 * (-difference.abs()).exp().ln_1p());
        PriorTerm { log, slope: draws * (0.5 - p), curve: draws * p * (1.0 - p) }
    }
}

/// The comparisons of two sides of a lineup, in all its matches.
#[derive(Clone, Debug)]
struct Comparison {
    lineup: Lineup,
    sides: (usize, usize),
    /// The parameters in which the sides differ, with their weights.
    contrast: Vec<(usize, f64)>,
    times: f64,
    /// The sum of the scores of the results.
    score: f64,
    /// The weight of each, if less than 1.
    weight: f64,
}

#[derive(Clone)]
struct Fit<'a> {
    counts: &'a Counts,
    comparisons: Rc<Vec<Comparison>>,
    /// The standard deviation of the strengths of the field, in log-odds.
    deviation: f64,
    /// The number of comparisons that each side draws against the last one before any result.
    side_draws: f64,
    /// The number of results that count as one.
    dispersion: f64,
    /// Prior knowledge besides results, and the strength in Elo at which log-odds are 0.
    known: Option<(&'a FitConstraints, f64)>,
    /// Log-odds: entrants, then sides except the last, then the level of a ladder.
    theta: Vec<f64>,
    /// The negative second derivatives.
    curvature: Vec<f64>,
}

impl<'a> Fit<'a> {
    /// The fit of equal strengths, which [`Fit::computed`] improves.
    fn new(counts: &'a Counts) -> Fit<'a> {
        let mut fit = Fit {
            counts,
            comparisons: Rc::default(),
            deviation: field::DEVIATION,
            side_draws: 1.0,
            dispersion: 1.0,
            known: None,
            theta: vec![0.0; counts.entrants + counts.sides.saturating_sub(1)],
            curvature: Vec::new(),
        };
        let mut by_lineup: BTreeMap<(Lineup, (usize, usize)), [f64; 2]> = BTreeMap::new();
        for ((lineup, places), times) in counts.legs() {
            for (d, e) in pairs(&lineup) {
                let [all, scores] = by_lineup.entry((lineup, (d, e))).or_default();
                *all += times;
                *scores += times * score(&places, d, e);
            }
        }
        let comparisons = by_lineup.into_iter().map(|((lineup, sides), [times, score])| {
            let mut contrast = Vec::new();
            fit.contrast(&lineup, sides.0, sides.1, &mut contrast);
            Comparison { lineup, sides, contrast, times, score, weight: 1.0 }
        });
        fit.comparisons = Rc::new(comparisons.collect());
        fit
    }

    fn computed(mut self) -> Fit<'a> {
        let parameters = self.theta.len();
        for _ in 0..200 {
            let gradient = self.differentiate();
            let Some(l) = linear::cholesky(&self.curvature, parameters) else { break };
            let mut step = linear::solve(&l, parameters, &gradient);
            let longest = step.iter().fold(0.0f64, |longest, x| longest.max(x.abs()));
            if longest > 2.0 {
                step.iter_mut().for_each(|x| *x *= 2.0 / longest);
            }
            self.theta.iter_mut().zip(&step).for_each(|(theta, step)| *theta += step);
            // Steps of Newton's method converge quadratically: the error that is left is about the square.
            if longest < 1e-6 {
                break;
            }
        }
        self.differentiate();
        self
    }

    /// The fit with another deviation of the strengths, starting at this one.
    fn with_deviation(&self, deviation: f64) -> Fit<'a> {
        Fit { deviation, ..self.clone() }.computed()
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

    fn odds(&self, contrast: &[(usize, f64)]) -> f64 {
        contrast.iter().map(|&(at, weight)| weight * self.theta[at]).sum()
    }

    fn expected(&self, contrast: &[(usize, f64)]) -> f64 {
        1.0 / (1.0 + (-self.odds(contrast)).exp())
    }

    /// The log-likelihood of the results, without the prior.
    fn log_likelihood(&self) -> f64 {
        let log = |of: &Comparison| {
            let odds = self.odds(&of.contrast);
            // ln p = -ln(1 + exp(-odds)), and ln(1 - p) = ln p - odds.
            let log_p = odds.min(0.0) - (-odds.abs()).exp().ln_1p();
            of.weight * (of.times * log_p - (of.times - of.score) * odds)
        };
        self.comparisons.iter().map(log).sum()
    }

    /// The prior of a parameter, unless [`Fit::is_known`].
    fn prior(&self, at: usize) -> PriorTerm {
        if at < self.counts.entrants {
            PriorTerm::normal(self.theta[at], self.deviation)
        } else {
            PriorTerm::draws(self.side_draws, self.theta[at])
        }
    }

    /// The logarithm of the density of the prior.
    fn log_prior(&self) -> f64 {
        let unknown = (0..self.theta.len()).filter(|&at| !self.is_known(at));
        unknown.map(|at| self.prior(at).log).sum::<f64>() + self.log_known()
    }

    /// The gradient of the log-likelihood; also computes the curvature.
    fn differentiate(&mut self) -> Vec<f64> {
        let n = self.theta.len();
        let mut gradient = vec![0.0; n];
        let mut curvature = vec![0.0; n * n];
        for of in self.comparisons.iter() {
            let p = self.expected(&of.contrast);
            let counted = of.weight / self.dispersion;
            let [slope, curve] = [of.score - of.times * p, of.times * p * (1.0 - p)].map(|x| counted * x);
            for &(i, x) in &of.contrast {
                gradient[i] += x * slope;
                for &(j, y) in &of.contrast {
                    curvature[i * n + j] += x * y * curve;
                }
            }
        }
        for i in (0..n).filter(|&i| !self.is_known(i)) {
            let PriorTerm { slope, curve, .. } = self.prior(i);
            gradient[i] += slope;
            curvature[i * n + i] += curve;
        }
        if self.known.is_some() {
            self.add_known(&mut gradient, &mut curvature);
        } else {
            // Only differences of strengths matter, so their sum is held at 0.
            let entrants = self.counts.entrants;
            let sum: f64 = self.theta[..entrants].iter().sum();
            for i in 0..entrants {
                gradient[i] -= sum;
                curvature[i * n..][..entrants].iter_mut().for_each(|x| *x += 1.0);
            }
        }
        self.curvature = curvature;
        gradient
    }
}

impl Strengths {
    /// Converts parameters in log-odds and their covariance.
    fn of(counts: &Counts, theta: &[f64], mut covariance: Vec<f64>) -> Strengths {
        let n = theta.len();
        if n == 0 {
            return Strengths { covariance, ..Strengths::default() };
        }
        let (entrants, played) = (counts.entrants, counts.played());
        let is_idle = |at: usize| at < entrants && !played.contains(&at);
        let mean = played.iter().map(|&i| theta[i]).sum::<f64>() / played.len().max(1) as f64;
        center(&mut covariance, n, &played);
        (0..entrants).filter(|&at| is_idle(at)).for_each(|at| covariance[at * n + at] = f64::INFINITY);
        let estimate = |at: usize| {
            let value = match at {
                at if is_idle(at) => 0.0,
                at if at < entrants => theta[at] - mean,
                at => theta[at],
            };
            let error = covariance[at * n + at].max(0.0).sqrt();
            Estimate::normal(ELO_PER_LOGIT * value, ELO_PER_LOGIT * error)
        };
        let of_entrants = (0..entrants).flat_map(|i| &covariance[i * n..][..entrants]);
        Strengths {
            elo: (0..entrants).map(estimate).collect(),
            advantage: (entrants..n).map(estimate).collect(),
            is_of_played_openings: false,
            covariance: of_entrants.map(|x| x * ELO_PER_LOGIT * ELO_PER_LOGIT).collect(),
        }
    }
}

/// Transforms the covariance of `n` parameters to that of strengths relative to the mean of `played`.
fn center(covariance: &mut [f64], n: usize, played: &BTreeSet<usize>) {
    let count = played.len().max(1) as f64;
    for row in covariance.chunks_exact_mut(n) {
        let mean = played.iter().map(|&i| row[i]).sum::<f64>() / count;
        played.iter().for_each(|&i| row[i] -= mean);
    }
    for column in 0..n {
        let mean = played.iter().map(|&i| covariance[i * n + column]).sum::<f64>() / count;
        played.iter().for_each(|&i| covariance[i * n + column] -= mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Deals;
    use referee_game::Seating;

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

    /// The fit without a prior of strengths, and the covariance of its parameters.
    fn fitted(counts: &Counts) -> (Fit<'_>, Vec<f64>) {
        let fit = Fit { deviation: f64::INFINITY, side_draws: 0.0, ..Fit::new(counts) }.computed();
        let triangle = linear::cholesky(&fit.curvature, 8).unwrap();
        let covariance = linear::inverse(&triangle, 8);
        (fit, covariance)
    }

    #[test]
    fn baseball_1987_has_the_published_abilities_and_home_advantage() {
        // Agresti, table 10.11, column 5, and page 438: a home advantage of 0.302 with a standard error of 0.131.
        let counts = baseball();
        let (fit, covariance) = fitted(&counts);
        let mut abilities: Vec<f64> = fit.theta[..7].iter().map(|theta| theta.exp()).collect();
        let sum: f64 = abilities.iter().sum();
        abilities.sort_by(f64::total_cmp);
        let rounded: Vec<f64> = abilities.iter().map(|x| (1000.0 * x / sum).round() / 1000.0).collect();
        assert_eq!(rounded, [0.044, 0.088, 0.137, 0.157, 0.164, 0.190, 0.220]);
        assert!((fit.theta[7] - 0.302).abs() < 0.0005, "{}", fit.theta[7]);
        let error = covariance[7 * 8 + 7].sqrt();
        assert!((error - 0.131).abs() < 0.001, "{error}");
    }

    #[test]
    fn baseball_1987_has_the_published_standard_errors_of_differences() {
        // Agresti, page 438: "about 0.3" for each team against Baltimore.
        let counts = baseball();
        let (_, covariance) = fitted(&counts);
        for team in 1..7 {
            let error = (covariance[team * 9] + covariance[0] - 2.0 * covariance[team]).sqrt();
            assert!((0.25..0.40).contains(&error), "{error}");
        }
    }

    #[test]
    fn unbeaten_entrant_has_finite_strength_and_wide_interval() {
        let lineup = Lineup::of_sides(Seating::new(2, 2), &[Entrant(0), Entrant(1)]).unwrap();
        let results: Vec<MatchResult> =
            (1..=20).map(|set| MatchResult::played(set, lineup, &[1, 2])).collect();
        let difference = fit(&Counts::of(2, &results)).difference(Entrant(0), Entrant(1));
        assert!(difference.value > 100.0 && difference.value < 2000.0, "{difference:?}");
        assert!(difference.high - difference.low > 300.0, "{difference:?}");
    }

    #[test]
    fn intervals_of_sets_shrink_with_their_number() {
        let first = Lineup::of_sides(Seating::new(2, 2), &[Entrant(0), Entrant(1)]).unwrap();
        let error = |sets: u32, ranks: [u8; 2]| {
            let legs = (1..=sets).flat_map(|set| {
                [0, 1].map(|leg| MatchResult::played(set, Deals::Mirrored.leg(first, leg), &ranks))
            });
            let strengths = fit(&Counts::of(2, &legs.collect::<Vec<_>>()));
            let difference = strengths.difference(Entrant(0), Entrant(1));
            assert!(difference.value.abs() < 1e-6);
            difference.high / super::super::Z95
        };
        // The binomial standard errors of 2, 20 and 200 matches are 246, 78 and 25 Elo.
        let drawn = [1, 10, 100].map(|sets| error(sets, [1, 1]));
        assert!((100.0..246.0).contains(&drawn[0]), "{drawn:?}");
        assert!((20.0..78.0).contains(&drawn[1]), "{drawn:?}");
        assert!((2.0..25.0).contains(&drawn[2]), "{drawn:?}");
        // A single set, in which the first seat won both.
        assert!(error(1, [1, 2]) > 100.0);
    }

    #[test]
    fn entrant_without_matches_is_unknown_and_does_not_affect_others() {
        let lineup = Lineup::of_sides(Seating::new(2, 2), &[Entrant(0), Entrant(2)]).unwrap();
        let results: Vec<MatchResult> =
            (1..=60).map(|set| MatchResult::played(set, lineup, &[1 + (set % 3 == 0) as u8, 2])).collect();
        let strengths = fit(&Counts::of(3, &results));
        let idle = Estimate { value: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
        assert_eq!(strengths.elo[1], idle);
        let difference = strengths.difference(Entrant(0), Entrant(1));
        assert_eq!((difference.low, difference.high), (idle.low, idle.high));
        let lineup = Lineup::of_sides(Seating::new(2, 2), &[Entrant(0), Entrant(1)]).unwrap();
        let results: Vec<MatchResult> =
            results.into_iter().map(|result| MatchResult { lineup, ..result }).collect();
        let alone = fit(&Counts::of(2, &results));
        for (one, other) in [(0, 0), (2, 1)] {
            let (one, other) = (strengths.elo[one], alone.elo[other]);
            assert!(
                (one.value - other.value).abs() < 5.0 && (one.high - other.high).abs() < 10.0,
                "{one:?} {other:?}"
            );
        }
    }

    #[test]
    fn empty_input_gives_no_strengths_and_no_panic() {
        assert!(fit(&Counts::of(0, &[])).elo.is_empty());
        let strengths = fit(&Counts::of(3, &[]));
        assert!(strengths.elo.iter().all(|elo| elo.value == 0.0));
    }
}
