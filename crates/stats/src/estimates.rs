//! The difference in strength that sets show, with 95% intervals: after a fixed number of sets, and after a
//! sequential test.
//!
//! **Normalized Elo of a fixed number of sets.** The interval holds the middle 95% of 4,000 distributions drawn from
//! the posterior of the scores, a Dirichlet distribution with a prior that is worth about one set. It includes the
//! uncertainty of the deviation, by which normalized Elo divides. It is not shown for fewer than [`LEAST_SETS`] sets, if
//! the sum of the scores can take too few values, and beyond 1000.
//!
//! Scores are discrete, so no interval has a coverage of 95% for every truth: with few sets that differ in score, the
//! coverage jumps as the truth passes the end of one of the few possible intervals. In simulations of 20 to 1,000 sets of
//! one, two and three matches, with 0% to 95% draws and 0 to 500 normalized Elo, 93% to 97% of the intervals hold the truth
//! where at least nine of ten results have one, and so do 93% to 97% of all together (`tests/library/estimates.rs`). Where fewer
//! results have an interval, those that do are unusual for their truth, and more or fewer of them hold it.
//!
//! **After a sequential test** the estimates of a fixed number of sets are too far from 0: a test stops when the scores
//! are extreme, so that it has seen more luck than a run of fixed length. The estimate here is median-unbiased: it is the
//! difference at which an outcome at least as good as the observed one has a probability of 1/2, and the ends of the
//! interval are those at which it is 2.5% and 97.5%. Outcomes are ordered as they speak for the new version: H1 accepted,
//! the earlier the better; then no decision yet, by the ratio; then H0 accepted, the later the better (D. Siegmund,
//! *Estimation following sequential tests*, Biometrika 65 (1978), 341-349).
//!
//! The probability is that of a Brownian motion. If the mean score is m, the ratio grows by r + c (m - s) a set, with r
//! the observed ratio per set, s the observed mean score, and c how fast the ratio grows with the score. The variance of
//! this growth is c² times that of the scores about m. The barriers are 0.583 deviations further out, which is how far a
//! random walk overshoots on average (D. Siegmund, *Sequential Analysis*, 1985, chapter 10). Neither r nor s is smoothed
//! by a prior: one that is worth a single set makes 57% of the estimates too high after 70 sets of which many are drawn,
//! because it raises the deviation of the scores and so lowers r.
//!
//! In a test in normalized Elo, c is the deviation of a set's part of the ratio, ln(p₁ / p₀), over that of its score, where
//! p₀ and p₁ are the likeliest distributions under the hypotheses. In a test in logistic Elo the ratio also depends on the
//! variance of the scores, and far from the hypotheses it hardly depends on their mean any more: the variance about the
//! hypotheses grows with the mean. There the time at which a test ends says little about the difference, and outcomes are
//! in the order of their mean scores instead (S. S. Emerson, T. R. Fleming, *Parameter estimation following group
//! sequential hypothesis testing*, Biometrika 77 (1990), 875-892): the ratio is taken for that of scores with the variance
//! v that they were observed to have about the middle of the hypotheses, and c = (s₁ - s₀) / v.
//!
//! Normalized Elo is that of the mean scores and the observed deviation. Its interval is as much wider as the deviation
//! is uncertain with a fixed number of sets, by the delta method.
//!
//! In simulations of tests of [0, 30], [-10, 20] and [0, 100] in normalized Elo, and from [-10, 0] and [0, 10] to [0, 200]
//! in logistic Elo, with 5% to 80% draws and true differences from below H0 to 200 Elo (400 Elo for [0, 200]), with the sets
//! that tests take on average (`tests/library/estimates.rs`, with its seed and another):
//!
//! | sets | estimates of Elo that are too high | intervals that hold the truth: normalized test | logistic test |
//! |---|---|---|---|
//! | 100 and more | 45% to 55% | 93% to 97% | 93% to 98% |
//! | 60 to 100 | 46% to 56% | 94% to 97% | 94% to 99% |
//! | 35 to 60 | 44% to 56% | 94% to 98% | 93% to 99% |
//! | 10 to 35 | 38% to 62% | 92% to 96% | 93% to 100% |
//! | fewer than 10 | 42% to 70% | | 98% to 100% |
//!
//! Of the estimates of normalized Elo, 44% to 60% are too high where at least nine of ten results have one.
//! (Estimates of a fixed number of sets would hold it in 84% to 97%.) The score of fewer than 10 sets takes so few values
//! that a single one can have a probability of 40%, and no estimate that depends on it is nearly median-unbiased:
//! [`Estimates::caution`] says so, as for sets of which few differ in score: their interval is at least that which the
//! likelihood ratio gives a fixed number of sets. An interval is shown after short tests, too: if only the intervals of longer runs were
//! shown, their coverage would be worse, because a long run of a test that is short on average is an unlucky one.

use serde::Serialize;

use super::brownian::Motion;
use super::likelihood::root;
use super::rating::Estimate;
use super::sprt::{EloModel, SetScores, Sprt, StrengthDifference, TestState, logistic_score};
use referee_game::Uniform;
use referee_game::chance::{RandomStream, Seed};

/// The minimum number of sets for normalized Elo.
pub const LEAST_SETS: u64 = 20;

/// The minimum number of sets for estimates after a sequential test to be nearly median-unbiased.
pub const LEAST_SEQUENTIAL_SETS: u64 = 10;

/// The maximum normalized Elo that is reported.
const GREATEST: f64 = 1000.0;

/// The mean overshoot of a random walk with normal steps over a barrier, in deviations of a step: -ζ(1/2) /
/// √(2 π).
const OVERSHOOT: f64 = 0.582_597_157_939_010_6;

/// The basis of the number of sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The value was fixed in advance.
    Fixed,
    /// By a sequential test, which may have ended after each set.
    Sequential,
}

/// Reasons why there is no normalized Elo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    #[error("fewer than {LEAST_SETS} sets")]
    FewSets,
    #[error("too few sets differ in score for an interval: {different} of {sets}")]
    Alike {
        /// The number of sets with a score other than the most frequent one.
        different: u64,
        sets: u64,
    },
    #[error("the result is one-sided: it would be beyond {GREATEST}")]
    OneSided,
}

/// Reasons why estimates are less exact than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Caution {
    #[error("the estimate may be biased: fewer than {LEAST_SEQUENTIAL_SETS} sets have few possible scores")]
    FewSets,
    #[error("the estimate may be biased: few sets differ in score")]
    Alike,
}

/// Estimates of the difference in strength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimates {
    /// The assumption about the number of sets.
    pub basis: Basis,
    /// The score, Elo and the likelihood of superiority.
    pub difference: StrengthDifference,
    /// In normalized Elo, unless the deviation is too uncertain.
    pub normalized_elo: Result<Estimate, Unknown>,
    /// The reason why the estimates are less exact than others.
    pub caution: Option<Caution>,
}

impl Estimates {
    /// The estimates for a number of sets that was fixed in advance; `None` without sets.
    pub fn fixed(scores: &SetScores) -> Option<Estimates> {
        let difference = scores.estimate()?;
        let normalized_elo = is_known(scores).and_then(|()| shown(posterior(scores)));
        Some(Estimates { basis: Basis::Fixed, difference, normalized_elo, caution: None })
    }

    /// The estimates for sets after which `sprt` ended or will continue; `None` without sets.
    ///
    /// Returns the estimates for a fixed number if the test would have ended before the last set in any order.
    pub fn sequential(scores: &SetScores, sprt: &Sprt) -> Option<Estimates> {
        if scores.sets() == 0 {
            return None;
        }
        if !sprt.may_end_with(scores) {
            return Estimates::fixed(scores);
        }
        let ended = SprtState::new(scores, sprt);
        let in_order = |[value, low, high]: [f64; 3]| Estimate { value, low, high };
        let of_mean = |score: f64| ended.rank_of_mean(score);
        let rank = |level: f64| quantile(level, MEANS, [0.0, 1.0], of_mean);
        let mut score = in_order(match scores.mean() {
            // The first outcome that ends the test in that direction: the exact interval is that of a fixed number of sets.
            value @ (0.0 | 1.0) => [value; 3],
            _ => [0.5, 0.025, 0.975].map(rank),
        });
        if !scores.has_variation() {
            let likely = scores.likelihood_interval();
            (score.low, score.high) = (score.low.min(likely.low), score.high.max(likely.high));
        }
        let difference = StrengthDifference::of(score, 1.0 - of_mean(0.5));
        let normalized_elo = is_known(scores).and_then(|()| {
            // The deviation is as uncertain as it is with a fixed number of sets.
            let deviation = scores.variance().sqrt();
            let [value, low, high] =
                [score.value, score.low, score.high].map(|score| (score - 0.5) / deviation);
            let wider = wider(&scores.smoothed());
            let t = [value, value + wider * (low - value), value + wider * (high - value)];
            shown(in_order(t.map(|t| t / scores.t_of_elo())))
        });
        let caution = if scores.sets() < LEAST_SEQUENTIAL_SETS {
            Some(Caution::FewSets)
        } else {
            (!scores.has_variation()).then_some(Caution::Alike)
        };
        Some(Estimates { basis: Basis::Sequential, difference, normalized_elo, caution })
    }
}

/// The search interval of mean scores.
const MEANS: [f64; 2] = [1e-4, 1.0 - 1e-4];

/// The factor by which t is more uncertain than if the deviation were known, by the delta method.
fn wider(observed: &[(f64, f64)]) -> f64 {
    let mean: f64 = observed.iter().map(|&(score, p)| p * score).sum();
    let moment = |power| observed.iter().map(|&(score, p)| p * (score - mean).powi(power)).sum::<f64>();
    let deviation = moment(2).sqrt();
    let t = (mean - 0.5) / deviation;
    let (skewness, kurtosis) = (moment(3) / deviation.powi(3), moment(4) / deviation.powi(4));
    (1.0 - t * skewness + t * t * (kurtosis - 1.0) / 4.0).max(1.0).sqrt()
}

/// The mean number of sets that `sprt` takes if the difference is `elo` in its model, and the scores vary as these
/// do; `None` without sets.
pub fn expected_sets(scores: &SetScores, sprt: &Sprt, elo: f64) -> Option<f64> {
    let observed = scores.smoothed();
    (scores.sets() > 0)
        .then(|| motion(&observed, sprt, scores, &sprt.likeliest(scores, &observed, elo).p).mean_time())
}

/// Checks that the deviation is known well enough.
fn is_known(scores: &SetScores) -> Result<(), Unknown> {
    let sets = scores.sets();
    if sets < LEAST_SETS {
        return Err(Unknown::FewSets);
    }
    if !scores.has_variation() {
        let most = scores.counts().iter().copied().max().unwrap_or(0);
        return Err(Unknown::Alike { different: sets - most, sets });
    }
    Ok(())
}

/// Rejects values that are too large.
fn shown(elo: Estimate) -> Result<Estimate, Unknown> {
    if elo.value.abs() <= GREATEST { Ok(elo) } else { Err(Unknown::OneSided) }
}

/// The motion of the ratio if `p` is the truth.
fn motion(observed: &[(f64, f64)], sprt: &Sprt, scores: &SetScores, p: &[f64]) -> Motion {
    let truth: Vec<(f64, f64)> = observed.iter().zip(p).map(|(&(score, _), &p)| (score, p)).collect();
    let [h0, h1] = [sprt.elo0(), sprt.elo1()].map(|elo| sprt.likeliest(scores, &truth, elo).p);
    let parts: Vec<f64> = h0.iter().zip(&h1).map(|(p0, p1)| (p1 / p0).ln()).collect();
    let drift: f64 = p.iter().zip(&parts).map(|(p, part)| p * part).sum();
    let variance: f64 = p.iter().zip(&parts).map(|(p, part)| p * (part - drift).powi(2)).sum();
    between_bounds(sprt, drift, variance.max(f64::MIN_POSITIVE))
}

/// A motion that ends as far beyond the bounds of a test as a random walk does on average.
fn between_bounds(sprt: &Sprt, drift: f64, variance: f64) -> Motion {
    let ((lower, upper), over) = (sprt.bounds(), OVERSHOOT * variance.sqrt());
    Motion { drift, variance, lower: lower - over, upper: upper + over }
}

/// The state of a sequential test.
struct SprtState<'a> {
    scores: &'a SetScores,
    sprt: &'a Sprt,
    llr: f64,
    /// The slope of the ratio of a set by its score.
    slope: f64,
}

impl<'a> SprtState<'a> {
    fn new(scores: &'a SetScores, sprt: &'a Sprt) -> SprtState<'a> {
        let slope = match sprt.model() {
            EloModel::Logistic => {
                let [s0, s1] = [sprt.elo0(), sprt.elo1()].map(logistic_score);
                (s1 - s0) / (scores.variance() + (scores.mean() - 0.5 * (s0 + s1)).powi(2))
            }
            EloModel::Normalized => {
                let observed = scores.smoothed();
                let p: Vec<f64> = observed.iter().map(|&(_, p)| p).collect();
                let mean: f64 = observed.iter().map(|&(score, p)| p * score).sum();
                let variance: f64 = observed.iter().map(|&(score, p)| p * (score - mean).powi(2)).sum();
                (motion(&observed, sprt, scores, &p).variance / variance).sqrt()
            }
        };
        SprtState { scores, sprt, llr: sprt.llr(scores), slope }
    }

    /// The probability of an outcome that is at least as good if the mean score is `mean`, and scores vary as
    /// observed.
    fn rank_of_mean(&self, mean: f64) -> f64 {
        let (sets, observed) = (self.scores.sets() as f64, self.scores.mean());
        // The variance of the scores about their own mean is certain. That about another one is greater.
        let variance = self.scores.variance() * sets / (sets - 1.0).max(1.0) + (mean - observed).powi(2);
        let drift = self.llr / sets + self.slope * (mean - observed);
        self.rank(between_bounds(self.sprt, drift, self.slope * self.slope * variance))
    }

    /// Returns the rank, in which half a set accounts for sets that end the test at the same time.
    fn rank(&self, motion: Motion) -> f64 {
        let sets = self.scores.sets() as f64;
        match self.sprt.decide(self.llr) {
            TestState::AcceptH1 => motion.up_by(sets - 0.5),
            TestState::AcceptH0 => 1.0 - motion.down_by(sets - 0.5),
            TestState::Continue => motion.up_by(sets) + motion.at_least(self.llr, sets),
        }
    }
}

/// The point at which the increasing function `rank` has the value `level`: between the ends, or one of
/// `beyond`.
fn quantile(level: f64, ends: [f64; 2], beyond: [f64; 2], rank: impl Fn(f64) -> f64) -> f64 {
    let at = ends.map(|end| (end, rank(end) - level));
    match at {
        [(_, low), _] if low >= 0.0 => beyond[0],
        [_, (_, high)] if high <= 0.0 => beyond[1],
        [low, high] => root(low, high, 1e-7, |x| rank(x) - level),
    }
}

/// Normalized Elo of a fixed number of sets.
fn posterior(scores: &SetScores) -> Estimate {
    const DRAWS: usize = 4000;
    // A fixed seed: equal scores have equal intervals.
    let mut stream = Seed([0; 32]).match_key("normalized-elo", "posterior", &[""; 0]).stream();
    let prior = scores.prior();
    let t = |distribution: &mut dyn Iterator<Item = (f64, f64)>| {
        let (mut weight, mut first, mut second) = (0.0, 0.0, 0.0);
        for (score, p) in distribution {
            let b = score - 0.5;
            (weight, first, second) = (weight + p, first + p * b, second + p * b * b);
        }
        let mean = first / weight;
        mean / (second / weight - mean * mean).max(f64::MIN_POSITIVE).sqrt()
    };
    let mut drawn: Vec<f64> = (0..DRAWS)
        .map(|_| t(&mut scores.scores().map(|(score, count)| (score, gamma(count + prior, &mut stream)))))
        .collect();
    drawn.sort_by(f64::total_cmp);
    let value = t(&mut scores.scores());
    let [low, high] = [0.025, 0.975].map(|part| drawn[((DRAWS - 1) as f64 * part).round() as usize]);
    // The prior holds the interval back from the value that a run of nearly equal scores suggests.
    let [value, low, high] = [value, low.min(value), high.max(value)].map(|t| t / scores.t_of_elo());
    Estimate { value, low, high }
}

/// A random number between 0 and 1, exclusive.
fn unit(stream: &mut RandomStream) -> f64 {
    (stream.uniform(1 << 52) as f64 + 0.5) / (1u64 << 52) as f64
}

/// A random number of the gamma distribution with this shape and scale 1: G. Marsaglia, W. W. Tsang, *A simple method
/// for generating gamma variables*, ACM Transactions on Mathematical Software 26 (2000), 363-372.
fn gamma(shape: f64, stream: &mut RandomStream) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, stream) * unit(stream).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = (-2.0 * unit(stream).ln()).sqrt() * (std::f64::consts::TAU * unit(stream)).cos();
        let v = (1.0 + c * normal).powi(3);
        if v > 0.0 && unit(stream).ln() < 0.5 * normal * normal + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fastchess, app/tests/elo_test.cpp at 74deac2. Its error bars take the deviation as known, which matters little
    /// near 0.
    #[test]
    fn normalized_elo_agrees_with_that_of_fastchess() {
        let tri = |wins, losses, draws| SetScores::trinomial([losses, draws, wins]);
        let penta = |ll, ld, wl: u64, dd: u64, wd, ww| SetScores::pentanomial([ll, ld, wl + dd, wd, ww]);
        for (scores, value, bar) in [
            (tri(76, 89, 123), -20.76, Some(40.13)),
            (tri(136, 96, 111), 49.77, Some(36.77)),
            (tri(34, 356, 0), -508.44, None),
            (penta(34, 54, 31, 32, 64, 75), 57.94, Some(28.28)),
            (penta(332, 433, 457, 41, 333, 334), -9.17, Some(10.96)),
            (penta(7895, 8757, 5485, 200, 568, 9999), -19.01, Some(2.65)),
        ] {
            let found = Estimates::fixed(&scores).unwrap().normalized_elo.unwrap();
            assert!((found.value - value).abs() < 0.0051, "{found:?}, not {value}");
            if let Some(bar) = bar {
                let ratio = (found.high - found.low) / 2.0 / bar;
                assert!((0.95..1.07).contains(&ratio), "{found:?}, not +- {bar}");
            }
        }
    }

    #[test]
    fn interval_of_normalized_elo_matches_t_test() {
        // 240 sets with nearly normal scores, two deviations above 1/2: the exact interval is from the noncentral t
        // distribution, nearly the estimate with a standard error of sqrt(1 + t^2 / 2) / sqrt(240).
        let counts = [0, 0, 0, 0, 0, 0, 1, 6, 24, 54, 70, 54, 24, 6, 1, 0, 0].to_vec();
        let scores = SetScores::of(8, counts).unwrap();
        let found = Estimates::fixed(&scores).unwrap().normalized_elo.unwrap();
        let t = found.value * scores.t_of_elo();
        let half = (found.high - found.low) / 2.0 * scores.t_of_elo();
        let expected = 1.96 * ((1.0 + t * t / 2.0) / 240.0).sqrt();
        assert!(t > 1.0 && (half / expected - 1.0).abs() < 0.1, "t = {t} +- {half}, not {expected}");
    }

    #[test]
    fn one_sided_and_short_results_have_no_normalized_elo() {
        let of = |counts| Estimates::fixed(&SetScores::pentanomial(counts)).unwrap().normalized_elo;
        assert_eq!(of([1, 5, 3, 5, 5]), Err(Unknown::FewSets));
        for (counts, different, sets) in [
            ([2399, 1, 0, 0, 0], 1, 2400),
            ([0, 0, 0, 0, 30], 0, 30),
            ([0, 5, 90, 5, 0], 10, 100),
            ([0, 0, 1, 4, 20], 5, 25),
            // The sum of these scores takes 25 values at most, as that of 24 coin tosses.
            ([12, 0, 0, 0, 12], 12, 24),
        ] {
            assert_eq!(of(counts), Err(Unknown::Alike { different, sets }));
        }
        assert_eq!(of([40_000, 15, 0, 0, 0]), Err(Unknown::OneSided));
        assert!(of([0, 1, 2, 4, 14]).is_ok() && of([0, 6, 90, 7, 0]).is_ok());
        let sprt = Sprt::new(0.0, 10.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        let of = |counts| Estimates::sequential(&SetScores::pentanomial(counts), &sprt).unwrap();
        assert_eq!(of([0, 0, 0, 0, 60]).normalized_elo, Err(Unknown::Alike { different: 0, sets: 60 }));
        assert_eq!(Estimates::sequential(&SetScores::pentanomial([0; 5]), &sprt), None);
    }

    #[test]
    fn estimates_of_mirrored_results_of_a_mirrored_test_are_mirrored() {
        let course = [0.5, 0.75, 0.25, 1.0, 0.75, 0.5, 0.75];
        for model in [EloModel::Logistic, EloModel::Normalized] {
            for sets in [20, 41, 300] {
                let of = |is_mirrored: bool| {
                    let [elo0, elo1] = if is_mirrored { [-40.0, 0.0] } else { [0.0, 40.0] };
                    let sprt = Sprt::new(elo0, elo1, 0.05, 0.05, model).unwrap();
                    let mut scores = SetScores::new(2, 1);
                    for score in course.into_iter().cycle().take(sets) {
                        scores.add(if is_mirrored { 1.0 - score } else { score });
                        if sprt.decide(sprt.llr(&scores)) != TestState::Continue {
                            break;
                        }
                    }
                    assert!(sprt.may_end_with(&scores));
                    let estimates = Estimates::sequential(&scores, &sprt).unwrap();
                    assert_eq!(estimates.basis, Basis::Sequential);
                    (estimates.difference.elo, estimates.normalized_elo.unwrap())
                };
                let ((elo, normalized), (mirrored, mirrored_normalized)) = (of(false), of(true));
                for (one, other) in [(elo, mirrored), (normalized, mirrored_normalized)] {
                    for (one, other) in
                        [(one.value, other.value), (one.low, other.high), (one.high, other.low)]
                    {
                        assert!((one + other).abs() < 0.01, "{one} and {other} after {sets} sets");
                    }
                }
            }
        }
    }

    #[test]
    fn sets_that_cannot_end_test_count_as_fixed_number() {
        let sprt = Sprt::new(0.0, 10.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        let scores = SetScores::pentanomial([0, 10, 200, 700, 500]);
        assert!(!sprt.may_end_with(&scores));
        assert_eq!(Estimates::sequential(&scores, &sprt), Estimates::fixed(&scores));
    }

    #[test]
    fn estimates_and_expected_lengths_are_in_order_for_any_counts() {
        let mut stream = Seed([3; 32]).match_key("estimates", "any", &["", ""]).stream();
        for _ in 0..25 {
            let scale = 1 + stream.uniform(12).pow(3);
            let counts: Vec<u64> = (0..5).map(|_| stream.uniform(scale).saturating_sub(scale / 3)).collect();
            let scores = SetScores::of(2, counts).unwrap();
            for model in [EloModel::Logistic, EloModel::Normalized] {
                let sprt = Sprt::new(-5.0, 30.0, 0.05, 0.05, model).unwrap();
                let Some(estimates) = Estimates::sequential(&scores, &sprt) else { continue };
                let StrengthDifference { score, elo, superiority } = estimates.difference;
                for found in [Some(score), Some(elo), estimates.normalized_elo.ok()].into_iter().flatten() {
                    assert!(
                        found.low <= found.value && found.value <= found.high,
                        "{scores:?}: {estimates:?}"
                    );
                }
                assert!((0.0..=1.0).contains(&superiority), "{scores:?}: {estimates:?}");
                let expected = expected_sets(&scores, &sprt, 30.0).unwrap();
                assert!(expected > 1.0 && expected.is_finite(), "{scores:?}: {expected}");
            }
        }
    }
}
