//! The mean amount of an entrant in games whose results are amounts.

use serde::Serialize;

use crate::sprt::student_95;

/// The fewest sets of which the mean has an interval.
pub const FEWEST_SETS: u64 = 10;

/// The amounts of an entrant, by set: the mean of each over its matches. Sets are the unit, since the matches of a mirrored one
/// depend on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AmountSample {
    sets: u64,
    mean: f64,
    /// The sum of the squared differences from the mean (B. P. Welford, *Technometrics* 4, 1962, 419-420).
    squares: f64,
}

/// The mean amount of an entrant in a match.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanAmount {
    /// The number of sets, or of matches where each deal is played once.
    pub sets: u64,
    /// The mean over the sets.
    pub mean: f64,
    /// The lower end of the 95% interval; `None` for fewer than [`FEWEST_SETS`], and if all sets have the same amount.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl AmountSample {
    /// Adds the mean amount of a set.
    pub fn add(&mut self, amount: f64) {
        self.sets += 1;
        let before = amount - self.mean;
        self.mean += before / self.sets as f64;
        self.squares += before * (amount - self.mean);
    }

    /// The mean with its interval: mean ± t √(s² / N), with the variance s² of the amounts of N sets and the 97.5% quantile t of
    /// Student's distribution with N - 1 degrees of freedom. `None` without a set.
    pub fn mean(&self) -> Option<MeanAmount> {
        let AmountSample { sets, mean, squares } = *self;
        let freedom = sets.checked_sub(1)? as f64;
        let half = student_95(freedom) * (squares / freedom / sets as f64).sqrt();
        let is_known = sets >= FEWEST_SETS && half > 0.0;
        let [low, high] = [mean - half, mean + half].map(|end| is_known.then_some(end));
        Some(MeanAmount { sets, mean, low, high })
    }
}
