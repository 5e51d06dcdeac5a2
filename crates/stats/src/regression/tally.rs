//! The findings of a run so far.

use serde::Serialize;

use crate::rating::Estimate;
use crate::sprt::{EloModel, StrengthDifference};

/// The numbers of sets, matches and faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Judged sets.
    pub sets: u32,
    /// Sets that count in the scores.
    pub counted: u32,
    /// Sets dropped because of a fault of `base`.
    pub dropped: u32,
    /// Copies of earlier sets that do not count.
    pub repeated: u32,
    /// Sets with different moves.
    pub distinct_sets: u32,
    /// The openings, or deals, of the sets that count.
    pub openings: u32,
    /// Sets with a void match.
    pub void: u32,
    /// Counted sets in which both bots played the same moves.
    pub alike: u32,
    /// Matches of the judged sets.
    pub matches: u32,
    /// Matches with a fault of `new`.
    pub faults_of_new: u32,
    /// Matches with a fault of `base`.
    pub faults_of_base: u32,
    /// Matches with a fault of either.
    pub faulty: u32,
}

impl Tally {
    /// The share of matches with a fault, with the interval of C. J. Clopper and E. S. Pearson (*Biometrika* 26, 1934,
    /// 404-413).
    pub fn fault_rate(&self) -> Estimate {
        let value = f64::from(self.faulty) / f64::from(self.matches.max(1));
        let end = |is_beyond: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = (0.0, 1.0);
            while high - low > 1e-9 {
                let middle = 0.5 * (low + high);
                *if is_beyond(middle) { &mut high } else { &mut low } = middle;
            }
            0.5 * (low + high)
        };
        let (faulty, matches) = (self.faulty, self.matches);
        let low = end(&|rate| at_least(faulty, matches, rate) > TAIL);
        let high = end(&|rate| at_least(faulty + 1, matches, rate) > 1.0 - TAIL);
        Estimate {
            value,
            low: if faulty == 0 { 0.0 } else { low },
            high: if faulty >= matches { 1.0 } else { high },
        }
    }

    /// Returns whether the interval of the fault rate lies above this limit.
    pub(super) fn exceeds(&self, limit: f64) -> bool {
        f64::from(self.faulty) > limit * f64::from(self.matches)
            && at_least(self.faulty, self.matches, limit) < TAIL
    }
}

/// The probability on each side of a 95% interval.
const TAIL: f64 = 0.025;

/// The probability of at least `count` of `trials` with this rate, by the binomial distribution.
fn at_least(count: u32, trials: u32, rate: f64) -> f64 {
    if rate <= 0.0 || rate >= 1.0 {
        return f64::from(u8::from(count == 0 || rate >= 1.0 && count <= trials));
    }
    let trials = f64::from(trials);
    // In logarithms, since the probability of none may be too small for a number.
    let mut exactly = trials * (-rate).ln_1p();
    let mut fewer = 0.0;
    for number in 0..count {
        fewer += exactly.exp();
        let number = f64::from(number);
        exactly += ((trials - number) / (number + 1.0) * rate / (1.0 - rate)).ln();
    }
    1.0 - fewer
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// The score counts.
    Counted,
    /// `base` made a fault in it.
    Dropped,
    /// The set is a copy of an earlier one, and no opening has given two different sets so far.
    Repeated,
    /// The set has a void match.
    Void,
}

/// A judged set, with the statistics up to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedSet {
    pub set: u32,
    pub fate: Fate,
    /// The score of `new`, from 0 to 1, even if it does not count.
    pub score: f64,
    /// The log-likelihood ratio after it; `None` in a run of fixed length.
    pub llr: Option<f64>,
    /// The estimate from all counted sets; `None` from fewer than two distinct sets.
    pub difference: Option<StrengthDifference>,
    /// The sets with different moves up to it.
    pub distinct_sets: u32,
    /// The openings or deals.
    pub openings: u32,
}

/// The bounds from sets that both bots played alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SetsPlayedAlike {
    pub sets: u32,
    /// The confidence of the bounds, from 0 to 1.
    pub confidence: f64,
    /// The maximum share of all sets that may differ.
    pub differing: f64,
    /// The maximum difference either way, if one of the bots wins all of those, in the model of the test.
    pub elo: f64,
    /// The definition of `elo`.
    pub elo_model: EloModel,
    /// The number of such sets that decides the test; `None` if equality lies between H0 and H1.
    pub needed_sets: Option<u32>,
}
