//! The sequential probability ratio test, and estimates after a fixed number of sets.
//!
//! **The unit is the set**: its score is the mean score of one entrant over all its matches, from 0 to 1 in equal
//! steps. For two seats and mirrored deals these are the five scores of the pentanomial model, for other sets as many
//! as there are ([`SetScores`]). Matches on one deal depend on each other; sets do not.
//!
//! **The test** is Wald's (*Annals of Mathematical Statistics* 16, 1945, 117-186) with the generalised likelihood
//! ratio: with p the distribution of the scores that is most likely under a hypothesis, LLR = N Σ p̂ ln(p₁ / p₀). It
//! accepts H1 from ln((1 - beta) / alpha) on and H0 from ln(beta / (1 - alpha)) down.
//!
//! * [`EloModel::Logistic`]: a hypothesis fixes the mean score s = 1 / (1 + 10^(-elo / 400)).
//! * [`EloModel::Normalized`]: a hypothesis fixes t = (mean - 1/2) / deviation, so that the length of a test does not
//!   depend on how many sets are drawn. For a set of L matches t = √L · elo / (800 / ln 10); 800 / ln 10 makes both Elo
//!   equal for small differences without draws. M. Van den Bergh, *Comments on Normalized Elo*, section 4.1,
//!   <https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>. √L presumes matches of a set that are independent.
//!
//! Counts of 0 are taken as 0.001, as fishtest and fastchess do, so that the ratio exists from the first set on.
//!
//! **How exact**: the variance is estimated, which makes tests err a little more often, and as in fastchess the
//! overshoot at the bounds is not corrected, which makes them err less often. In simulations with alpha = beta = 5%,
//! tests in logistic Elo from [-10, 0] and [0, 10] up to [250, 350], with 0 to 80% draws and one or two matches a set, err in
//! at most 6.2%, and much less often where they take fewer than 30 sets on average. Tests in normalized Elo from 0 to 25 err in
//! 3.9% to 5.2%, from 150 to 250 with few draws in 3.0% to 5.5%, and others up to [250, 350] in
//! 1.5% to 6.5% of 400 tests each (`tests/library/strength.rs`). Nothing is promised for a
//! test of fewer than 10 sets, or beyond a difference of 350.

use serde::{Deserialize, Serialize};

use super::brownian::normal_cdf;
use super::likelihood::{self, Likeliest, root};
use crate::rating::{ELO_PER_LOGIT, Estimate, Z95};
use referee_game::Wrong;

/// The definition of Elo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EloModel {
    /// The expected score is 1 / (1 + 10^(-elo / 400)).
    Logistic,
    /// 800 / ln 10 times the surplus of the mean score over 1/2 in standard deviations of a match.
    #[default]
    Normalized,
}

/// The number of sets per score.
#[derive(Clone, Debug, PartialEq)]
pub struct SetScores {
    legs: u32,
    counts: Vec<u64>,
}

impl SetScores {
    /// Creates empty counts. A set has `legs` matches with `comparisons` comparisons each (see
    /// [`super::MatchResult::comparisons`]; two sides have 1).
    pub fn new(legs: u32, comparisons: u32) -> SetScores {
        let steps = 2 * legs.max(1) as usize * comparisons.max(1) as usize;
        SetScores { legs: legs.max(1), counts: vec![0; steps + 1] }
    }

    /// Counts of two-seat mirrored sets that scored 0, 1/4, 1/2, 3/4 and 1.
    pub fn pentanomial(counts: [u64; 5]) -> SetScores {
        SetScores { legs: 2, counts: counts.to_vec() }
    }

    /// Counts of single matches: losses, draws, wins.
    pub fn trinomial(counts: [u64; 3]) -> SetScores {
        SetScores { legs: 1, counts: counts.to_vec() }
    }

    /// Counts of sets of `legs` matches per score, from 0 to 1 in equal steps.
    ///
    /// # Errors
    /// If there are no legs, the number of scores is not one more than a multiple of 2 `legs`, or there are more than
    /// 10^15 sets.
    pub fn of(legs: u32, counts: Vec<u64>) -> Result<SetScores, Wrong> {
        let steps = counts.len().saturating_sub(1);
        if legs == 0 || steps == 0 || !steps.is_multiple_of(2 * legs as usize) {
            return Err(Wrong::from(format!(
                "{} counts do not fit sets of {legs} matches: single matches have 3, sets of two 5, and so on",
                counts.len()
            )));
        }
        let sets = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
        if sets.is_none_or(|sets| sets > 1_000_000_000_000_000) {
            return Err(Wrong::new("more than 10^15 sets are not counted exactly"));
        }
        Ok(SetScores { legs, counts })
    }

    /// Counts a set; `score` from 0 to 1 is rounded to the nearest step.
    pub fn add(&mut self, score: f64) {
        let steps = (self.counts.len() - 1) as f64;
        self.counts[(score.clamp(0.0, 1.0) * steps).round() as usize] += 1;
    }

    /// Counts the sets of `other` also, which has the same kind of sets, and empties it.
    pub(super) fn take_all(&mut self, other: &mut SetScores) {
        for (count, more) in self.counts.iter_mut().zip(&mut other.counts) {
            *count += std::mem::take(more);
        }
    }

    /// No sets of the same kind.
    pub(super) fn emptied(&self) -> SetScores {
        SetScores { legs: self.legs, counts: vec![0; self.counts.len()] }
    }

    /// Returns whether all sets have the same score.
    pub(super) fn is_one_score(&self) -> bool {
        self.counts.iter().filter(|&&count| count > 0).count() == 1
    }

    /// The number of sets per score, 0 first and 1 last.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    pub fn sets(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(super) fn scores(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        let steps = (self.counts.len() - 1) as f64;
        self.counts.iter().enumerate().map(move |(at, &count)| (at as f64 / steps, count as f64))
    }

    /// Scores with their nonzero probabilities, and the number of sets.
    fn distribution(&self) -> (Vec<(f64, f64)>, f64) {
        let counts = self.scores().map(|(score, count)| (score, if count == 0.0 { 1e-3 } else { count }));
        let sets: f64 = counts.clone().map(|(_, count)| count).sum();
        (counts.map(|(score, count)| (score, count / sets)).collect(), sets)
    }

    /// Scores with their posterior mean probabilities, for a prior with the same weight for each.
    pub(super) fn smoothed(&self) -> Vec<(f64, f64)> {
        let prior = self.prior();
        let sets = self.sets() as f64 + prior * self.counts.len() as f64;
        self.scores().map(|(score, count)| (score, (count + prior) / sets)).collect()
    }

    /// The number of sets of each score that the prior of estimates is worth: 1.5 sets in total for three scores, 1.2
    /// for five and 0.8 for thirteen, which gives intervals their coverage in simulations.
    pub(super) fn prior(&self) -> f64 {
        let scores = self.counts.len() as f64;
        3.0 / (scores + 1.0).sqrt() / scores
    }

    /// The number of standard deviations of a set by which the mean exceeds 1/2, per unit of normalized Elo.
    pub(super) fn t_of_elo(&self) -> f64 {
        f64::from(self.legs).sqrt() / (2.0 * ELO_PER_LOGIT)
    }

    /// The mean score; NaN without sets.
    pub(super) fn mean(&self) -> f64 {
        self.moments().map_or(f64::NAN, |(mean, _)| mean)
    }

    /// The mean and the variance of the scores of sets; `None` without sets.
    fn moments(&self) -> Option<(f64, f64)> {
        let sets = self.sets() as f64;
        let mean = self.scores().map(|(score, count)| score * count).sum::<f64>() / sets;
        let variance = self.scores().map(|(score, count)| (score - mean).powi(2) * count).sum::<f64>() / sets;
        (sets > 0.0).then_some((mean, variance))
    }

    /// The variance of the scores of sets, with a lower bound; NaN without sets.
    pub(super) fn variance(&self) -> f64 {
        self.moments().map_or(f64::NAN, |(mean, variance)| variance.max(self.least_variance(mean)))
    }

    /// The lower bound of the variance of a set's score: sets with equal scores have no variance, and few with nearly
    /// equal scores too little. It is a fraction of the variance of independent matches without draws: all of it up
    /// to 2 sets, then 1 / (N - 1), as in [`crate::rating::bradley_terry`] with one parameter. One
    /// additional drawn match keeps it above 0 at all scores.
    fn least_variance(&self, score: f64) -> f64 {
        let sets = self.sets() as f64;
        let (matches, legs) = (sets * f64::from(self.legs), f64::from(self.legs));
        let p = (matches * score + 0.5) / (matches + 1.0);
        p * (1.0 - p) / legs / (sets - 1.0).max(1.0)
    }

    /// The estimate of the difference in strength if the number of sets was fixed in advance; `None` without sets.
    /// See also [`super::estimates`].
    ///
    /// The estimate is the mean score s of the N sets, the interval s ± 1.96 √(v / N) with the variance v of their scores,
    /// both mapped to Elo by 400 log₁₀(s / (1 - s)); the likelihood of superiority is Φ((s - 1/2) / √(v / N)). cutechess and
    /// fastchess use the same formulas (<https://www.chessprogramming.org/Match_Statistics>).
    ///
    /// The interval of fewer than [`LEAST_NORMAL_SETS`] sets, and of sets of which too few differ in score, has the scores
    /// that the likelihood ratio does not exclude, and superiority is Φ of the signed root of twice the logarithm of the likelihood
    /// ratio of the estimate to equality. If one side won all sets, superiority is what the uniform prior makes of N wins,
    /// 1 - 2^-(N + 1).
    pub fn estimate(&self) -> Option<StrengthDifference> {
        let (score, _) = self.moments()?;
        let sets = self.sets() as f64;
        let doubt = 0.5f64.powf(sets + 1.0);
        let (score, superiority) = if self.sets() < LEAST_NORMAL_SETS || !self.has_variation() {
            let root = (2.0 * self.deviance(0.5)).max(0.0).sqrt().copysign(score - 0.5);
            let superiority = match score {
                1.0 => 1.0 - doubt,
                0.0 => doubt,
                0.5 => 0.5,
                _ => normal_cdf(root),
            };
            (self.likelihood_interval(), superiority)
        } else {
            let error = (self.variance() / sets).sqrt();
            (Estimate::normal(score, error), normal_cdf((score - 0.5) / error))
        };
        let clamped = |part: f64| part.clamp(0.0, 1.0);
        let score = Estimate { value: score.value, low: clamped(score.low), high: clamped(score.high) };
        Some(StrengthDifference::of(score, superiority))
    }

    /// The logarithm of the likelihood ratio of the observed distribution to the likeliest with this mean score.
    fn deviance(&self, mean: f64) -> f64 {
        let (observed, sets) = self.distribution();
        -sets * likelihood::with_mean(&observed, mean).value
    }

    /// The mean scores that the likelihood ratio does not exclude at 95%: those at which twice its logarithm is at most
    /// t², the 97.5% quantile of Student's distribution with N - 1 degrees of freedom, squared (A. B. Owen, *Biometrika* 75,
    /// 1988, 237-249). Distributions with scores that were not observed take part.
    ///
    /// If all sets have the same score the ends are those at which this has a probability of 2.5%, at most: for sets that
    /// one side won, the interval of C. J. Clopper, E. S. Pearson, *Biometrika* 26 (1934), 404-413. No interval is wider than
    /// by that ratio. Of 5 to 20 sets of one or two matches, 94% to 100% of the intervals hold the truth, with 0% to
    /// 80% draws and up to 600 Elo.
    ///
    /// The counts must not all be 0.
    pub(super) fn likelihood_interval(&self) -> Estimate {
        let (value, sets) = (self.mean(), self.sets());
        if self.is_one_score() {
            // The remaining sets could all be lost, or won.
            let same = 0.025f64.powf((sets as f64).recip());
            return Estimate { value, low: same * value, high: 1.0 - same * (1.0 - value) };
        }
        let ratio = student_95((sets - 1) as f64).powi(2).min(-2.0 * 0.025f64.ln());
        let excess = |mean: f64| self.deviance(mean) - 0.5 * ratio;
        let end = |bound: f64| {
            // The likelihood of a mean next to 0 or 1 is nearly 0.
            let outer = bound + 1e-12 * (value - bound);
            let at_value = (value, -0.5 * ratio);
            if value == bound { bound } else { root((outer, excess(outer)), at_value, 1e-9, excess) }
        };
        Estimate { value, low: end(0.0), high: end(1.0) }
    }

    /// Returns whether the sum of the scores takes enough values for a normal approximation.
    pub(super) fn has_variation(&self) -> bool {
        self.variation() >= LEAST_VARIATION
    }

    /// The variance of the sum of the scores, in squares of the greatest step that all differences between observed scores
    /// are multiples of; 0 if all scores are the same.
    fn variation(&self) -> f64 {
        let observed = || self.counts.iter().zip(0u32..).filter(|&(&count, _)| count > 0);
        let Some((_, first)) = observed().next() else { return 0.0 };
        let step = observed().fold(0, |step, (_, at)| greatest_divisor(at - first, step));
        let sum = |part: &dyn Fn(f64) -> f64| {
            observed().map(|(&count, at)| count as f64 * part(f64::from(at))).sum::<f64>()
        };
        let mean = sum(&|at| at) / self.sets() as f64;
        sum(&|at| (at - mean).powi(2)) / f64::from(step.max(1)).powi(2)
    }
}

/// The minimum number of sets for an interval from their variance.
pub const LEAST_NORMAL_SETS: u64 = 30;

/// The minimum variance of the sum of the scores for a normal approximation, in squares of the greatest step that all
/// differences between observed scores are multiples of. A sum with a smaller variance has so few possible values that the
/// coverage of an interval changes by more than 1% with each of them.
const LEAST_VARIATION: f64 = 12.0;

/// The greatest common divisor.
fn greatest_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// The 97.5% quantile of Student's distribution: exact for one and two degrees of freedom, else the series of R. A.
/// Fisher and E. A. Cornish, *Technometrics* 2 (1960), 209-225, 1% too low at most.
pub(crate) fn student_95(freedom: f64) -> f64 {
    if freedom < 1.5 {
        return (0.475 * std::f64::consts::PI).tan();
    }
    if freedom < 2.5 {
        return 4.302_653;
    }
    let z = Z95;
    z + (z.powi(3) + z) / (4.0 * freedom)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom.powi(2))
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * freedom.powi(3))
}

/// The estimated difference in strength, with 95% intervals from the variance of the sets' scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrengthDifference {
    pub score: Estimate,
    /// In logistic Elo; infinite at scores of 0 and 1.
    pub elo: Estimate,
    /// The likelihood of superiority: the probability of being stronger.
    pub superiority: f64,
}

impl StrengthDifference {
    pub(super) fn of(score: Estimate, superiority: f64) -> StrengthDifference {
        let [value, low, high] = [score.value, score.low, score.high].map(logistic_elo);
        StrengthDifference { score, elo: Estimate { value, low, high }, superiority }
    }
}

pub(super) fn logistic_elo(score: f64) -> f64 {
    let score = score.clamp(0.0, 1.0);
    ELO_PER_LOGIT * (score / (1.0 - score)).ln()
}

pub(super) fn logistic_score(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / ELO_PER_LOGIT).exp())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestState {
    /// No decision yet.
    Continue,
    /// H0: not stronger than `elo0`.
    AcceptH0,
    /// H1: stronger by at least `elo1`.
    AcceptH1,
}

/// A sequential test of H0 (a difference of `elo0`) against H1 (`elo1`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: EloModel,
}

impl Sprt {
    /// Creates a test that accepts H1 with a probability of at most `alpha` if H0 is true, and H0 with at most `beta`
    /// if H1 is.
    ///
    /// # Errors
    /// If `elo0` is not below `elo1`, one of them is beyond ±1000, or `alpha` and `beta` are not between 0 and 1/2,
    /// exclusive.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64, model: EloModel) -> Result<Sprt, Wrong> {
        if elo0.is_nan() || elo1.is_nan() || elo0 >= elo1 || elo0 < -1000.0 || elo1 > 1000.0 {
            return Err(Wrong::from(format!(
                "elo0 = {elo0} and elo1 = {elo1}: elo0 must be below elo1, both from -1000 to 1000"
            )));
        }
        for (name, value) in [("alpha", alpha), ("beta", beta)] {
            if value.is_nan() || value <= 0.0 || value >= 0.5 {
                return Err(Wrong::from(format!("{name} = {value}: it must be above 0 and below 0.5")));
            }
        }
        Ok(Sprt { elo0, elo1, alpha, beta, model })
    }

    /// The log-likelihood ratios that accept H0 and H1.
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The log-likelihood ratio of H1 to H0.
    pub fn llr(&self, scores: &SetScores) -> f64 {
        if scores.sets() == 0 {
            return 0.0;
        }
        let (observed, sets) = scores.distribution();
        let [h0, h1] = [self.elo0, self.elo1].map(|elo| self.likeliest(scores, &observed, elo).value);
        sets * (h1 - h0)
    }

    /// The likeliest distribution with a difference of `elo`, for sets with the `observed` distribution.
    pub(super) fn likeliest(&self, scores: &SetScores, observed: &[(f64, f64)], elo: f64) -> Likeliest {
        match self.model {
            EloModel::Logistic => likelihood::with_mean(observed, logistic_score(elo)),
            EloModel::Normalized => likelihood::with_t(observed, elo * scores.t_of_elo()),
        }
    }

    /// Returns whether the test may have ended with these sets or still continues: there is a last set
    /// without which it would have continued.
    pub fn may_end_with(&self, scores: &SetScores) -> bool {
        self.decide(self.llr(scores)) == TestState::Continue
            || (0..scores.counts.len()).any(|last| {
                let mut before = scores.clone();
                before.counts[last] = before.counts[last].saturating_sub(1);
                scores.counts[last] > 0 && self.decide(self.llr(&before)) == TestState::Continue
            })
    }

    /// The probability of accepting H1 at a difference of `elo`, if the test runs without an end.
    ///
    /// This is Wald's approximation of the operating characteristic (*Sequential Analysis*, 1947, section 3.4): the
    /// log-likelihood ratio is a Brownian motion between the bounds, whose drift over its variance rises linearly from
    /// -1/2 at H0 to 1/2 at H1, in t or, for logistic Elo, in the mean score.
    pub fn acceptance_of_h1(&self, elo: f64) -> f64 {
        let at = |elo| match self.model {
            EloModel::Logistic => logistic_score(elo),
            EloModel::Normalized => elo,
        };
        let (t0, t1) = (at(self.elo0), at(self.elo1));
        let slope = (2.0 * at(elo) - t0 - t1) / (t1 - t0);
        let (lower, upper) = self.bounds();
        if slope.abs() < 1e-9 {
            return -lower / (upper - lower);
        }
        let (below, above) = ((-slope * lower).exp_m1(), (-slope * upper).exp_m1());
        below / (below - above)
    }

    /// The greatest share of even sets with a difference of `elo`, above 0, either way: the other sets are all lost.
    pub(super) fn most_even(&self, scores: &SetScores, elo: f64) -> f64 {
        match self.model {
            EloModel::Logistic => 2.0 * logistic_score(-elo),
            EloModel::Normalized => 1.0 / (1.0 + (elo * scores.t_of_elo()).powi(2)),
        }
    }

    /// The inverse of [`Sprt::most_even`]: the difference if this share of the sets is even and the others are lost.
    pub(super) fn least_elo(&self, scores: &SetScores, even: f64) -> f64 {
        match self.model {
            EloModel::Logistic => -logistic_elo(0.5 * even),
            EloModel::Normalized => ((1.0 - even) / even).sqrt() / scores.t_of_elo(),
        }
    }

    /// Returns the difference of H0, in Elo of the model.
    pub fn elo0(&self) -> f64 {
        self.elo0
    }

    /// Returns the difference of H1, in Elo of the model.
    pub fn elo1(&self) -> f64 {
        self.elo1
    }

    /// The probability of accepting H1 if H0 is true.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The probability of accepting H0 if H1 is true.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    pub fn model(&self) -> EloModel {
        self.model
    }

    /// The decision for a log-likelihood ratio.
    pub fn decide(&self, llr: f64) -> TestState {
        let (lower, upper) = self.bounds();
        match llr {
            llr if llr >= upper => TestState::AcceptH1,
            llr if llr <= lower => TestState::AcceptH0,
            _ => TestState::Continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operating_characteristic_has_the_error_rates_of_the_test() {
        for model in [EloModel::Logistic, EloModel::Normalized] {
            for (elo0, elo1, alpha, beta) in [(-50.0, 0.0, 0.05, 0.05), (0.0, 10.0, 0.01, 0.2)] {
                let sprt = Sprt::new(elo0, elo1, alpha, beta, model).unwrap();
                assert!((sprt.acceptance_of_h1(elo0) - alpha).abs() < 1e-12);
                assert!((sprt.acceptance_of_h1(elo1) - (1.0 - beta)).abs() < 1e-12);
                assert!(sprt.acceptance_of_h1(elo0 - 50.0) < alpha);
            }
            let sprt = Sprt::new(-50.0, 50.0, 0.05, 0.05, model).unwrap();
            assert!((sprt.acceptance_of_h1(0.0) - 0.5).abs() < 1e-9);
        }
    }

    /// fastchess, app/tests/sprt_test.cpp at 74deac2. It gives two decimals; pairs as LL, LD, LW + DD, DW, WW.
    #[test]
    fn log_likelihood_ratios_agree_with_those_of_fastchess() {
        use EloModel::{Logistic, Normalized};
        let tri = |wins, losses, draws| SetScores::trinomial([losses, draws, wins]);
        let penta = |ll, ld, wl: u64, dd: u64, wd, ww| SetScores::pentanomial([ll, ld, wl + dd, wd, ww]);
        for (scores, elo0, elo1, model, expected) in [
            (tri(36433, 36027, 68692), 0.0, 2.0, Normalized, 0.92),
            (tri(10871, 10650, 20431), -1.75, 0.25, Normalized, 2.30),
            (tri(4250, 0, 0), 0.0, 10.0, Normalized, 120.56),
            (tri(21404, 21184, 40708), 0.5, 2.5, Logistic, -1.57),
            (tri(57433, 57030, 106593), 0.0, 2.0, Logistic, -2.59),
            (penta(365, 16618, 36029, 200, 16974, 390), 0.0, 2.0, Normalized, 2.25),
            (penta(127, 4883, 10311, 401, 5150, 104), -1.75, 0.25, Normalized, 3.01),
            (penta(0, 0, 0, 0, 0, 5550), 0.0, 5.0, Normalized, 111.82),
            (penta(223, 9863, 20279, 1000, 10037, 246), 0.5, 2.5, Logistic, -3.07),
            (penta(871, 26175, 55003, 980, 26678, 821), 0.0, 2.0, Logistic, -4.98),
        ] {
            let llr = Sprt::new(elo0, elo1, 0.05, 0.05, model).unwrap().llr(&scores);
            // fastchess compares to 1%; where all sets end alike its figures are 0.02% off those of exact arithmetic.
            let tolerance = 0.0051 + 3e-4 * (llr.abs() - 5.0).max(0.0);
            assert!((llr - expected).abs() < tolerance, "{scores:?}: {llr}, not {expected}");
        }
    }

    /// fastchess, app/tests/elo_test.cpp at 74deac2; normalized Elo is in [`crate::estimates`].
    #[test]
    fn elo_and_superiority_agree_with_fastchess() {
        let tri = |wins, losses, draws| SetScores::trinomial([losses, draws, wins]);
        let penta = |ll, ld, wl: u64, dd: u64, wd, ww| SetScores::pentanomial([ll, ld, wl + dd, wd, ww]);
        for (scores, score, elo, superiority) in [
            (tri(76, 89, 123), 0.477, None, 0.1553),
            (tri(136, 96, 111), 0.558, Some((40.70, 30.43)), 0.9960),
            (tri(34, 356, 0), 0.087, None, 0.0),
            (penta(34, 54, 31, 32, 64, 75), 0.579, Some((55.58, 27.65)), 1.0),
            (penta(332, 433, 457, 41, 333, 334), 0.488, Some((-8.64, 10.33)), 0.0505),
            (penta(7895, 8757, 5485, 200, 568, 9999), 0.470, Some((-21.04, 2.95)), 0.0),
        ] {
            let found = scores.estimate().unwrap();
            assert!((found.score.value - score).abs() < 0.00051, "{found:?}");
            if let Some((value, bar)) = elo {
                let half = (found.elo.high - found.elo.low) / 2.0;
                assert!((found.elo.value - value).abs() < 0.0051, "{found:?}, not {value}");
                assert!((half - bar).abs() < 0.0051, "{found:?}, not +- {bar}");
            }
            assert!((found.superiority - superiority).abs() < 0.000_051, "{found:?}");
        }
    }

    #[test]
    fn newton_step_next_to_pole_does_not_pass_weaker_version() {
        let llr = |counts, elo0, elo1| {
            Sprt::new(elo0, elo1, 0.05, 0.05, EloModel::Normalized)
                .unwrap()
                .llr(&SetScores::pentanomial(counts))
        };
        assert!((llr([1, 5, 12, 23, 11], 0.0, 10.0) - 1.169).abs() < 0.001);
        assert!((llr([1, 5, 12, 23, 11], -10.0, 0.0) - 1.248).abs() < 0.001);
        // 116 Elo weaker.
        assert!(llr([11, 23, 12, 5, 1], -10.0, 0.0) < -1.0);
    }

    #[test]
    fn bounds_are_those_of_wald() {
        let (lower, upper) = Sprt::new(0.0, 5.0, 0.05, 0.05, EloModel::Logistic).unwrap().bounds();
        assert!((upper - 2.944_438_979).abs() < 1e-9 && (lower + upper).abs() < 1e-12);
    }

    #[test]
    fn invalid_hypotheses_are_rejected_and_no_sets_decide_nothing() {
        for (elo0, elo1, alpha, beta) in [
            (5.0, 5.0, 0.05, 0.05),
            (0.0, f64::NAN, 0.05, 0.05),
            (0.0, 5.0, 0.0, 0.05),
            (0.0, 5.0, 0.05, 0.5),
        ] {
            assert!(Sprt::new(elo0, elo1, alpha, beta, EloModel::Logistic).is_err());
        }
        let none = SetScores::new(2, 1);
        assert_eq!(none.estimate(), None);
        let sprt = Sprt::new(0.0, 5.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        assert_eq!((sprt.llr(&none), sprt.decide(sprt.llr(&none))), (0.0, TestState::Continue));
    }

    #[test]
    fn intervals_of_sets_with_equal_scores_shrink_with_their_number() {
        let estimate = |sets: u64, score: f64| {
            let mut scores = SetScores::new(2, 1);
            (0..sets).for_each(|_| scores.add(score));
            scores.estimate().unwrap()
        };
        // Of ten sets a share of 0.6915 is even with a probability of 2.5%, and all others may be lost.
        let ten = estimate(10, 0.5);
        assert!(
            (ten.score.low - 0.6915 / 2.0).abs() < 1e-4
                && (ten.score.high - (1.0 - 0.6915 / 2.0)).abs() < 1e-4
        );
        assert_eq!(ten.superiority, 0.5);
        let bars = [2, 10, 100].map(|sets| estimate(sets, 0.5).elo.high);
        assert!(
            bars[0] > 300.0 && (100.0..120.0).contains(&bars[1]) && (10.0..15.0).contains(&bars[2]),
            "{bars:?}"
        );
        // A bot that wins 0.69 of its sets wins ten in a row with a probability of 2.5%.
        assert!((estimate(10, 1.0).score.low - 0.6915).abs() < 1e-4);
        assert!((estimate(10, 0.0).score.high - 0.3085).abs() < 1e-4);
        assert!((estimate(2, 1.0).superiority - 0.875).abs() < 1e-12);
        let lows = [1, 3, 30].map(|sets| estimate(sets, 1.0).elo.low);
        assert!(lows[0] < 100.0 && lows[0] < lows[1] && lows[1] < lows[2], "{lows:?}");
        let won = [1, 3, 30].map(|sets| estimate(sets, 1.0).superiority);
        assert!(won[0] < won[1] && won[1] <= won[2] && won[2] > 0.999, "{won:?}");
    }

    #[test]
    fn quantiles_of_student_agree_with_tables() {
        for (freedom, quantile) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (3.0, 3.182),
            (4.0, 2.776),
            (9.0, 2.262),
            (29.0, 2.045),
            (1e6, 1.960),
        ] {
            let found = student_95(freedom);
            assert!((found / quantile - 1.0).abs() < 0.01, "{freedom}: {found}, not {quantile}");
        }
    }

    #[test]
    fn single_set_with_any_score_has_finite_ratio_and_estimate() {
        for (legs, comparisons) in [(1, 1), (2, 1), (3, 2), (6, 2)] {
            let empty = SetScores::new(legs, comparisons);
            for at in 0..empty.counts().len() {
                let mut scores = empty.clone();
                scores.add(at as f64 / (empty.counts().len() - 1) as f64);
                for model in [EloModel::Logistic, EloModel::Normalized] {
                    let llr = Sprt::new(-5.0, 30.0, 0.05, 0.05, model).unwrap().llr(&scores);
                    assert!(llr.is_finite(), "{scores:?} {model:?}: {llr}");
                }
                assert!((0.0..=1.0).contains(&scores.estimate().unwrap().superiority));
            }
        }
    }
}
