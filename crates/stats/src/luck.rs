//! Scores with the luck taken out, beside the plain ones.
//!
//! The unit of inference is the set, or the match if there is no set: all matches of two bots on one deal. Intervals are s ± t
//! √(v / N), with the variance v of the scores of N units and the 97.5% quantile t of Student's distribution with N - 1 degrees
//! of freedom.
//!
//! The factor f is the variance of the plain scores over that of the adjusted ones. Both belong to the same units, so its
//! interval is the one of E. J. G. Pitman and W. A. Morgan (*Biometrika* 31, 1939, 9-12 and 13-19): f (K ± √(K² - 1)) with K = 1 +
//! 2 (1 - r²) t² / (N - 2), the correlation r of the two scores and the quantile t for N - 2 degrees of freedom. It presumes
//! normally distributed scores, so it is approximate.

use crate::rating::Estimate;
use crate::sprt::student_95;

/// Plain and adjusted scores of one bot against another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdjustedScores {
    pub units: usize,
    pub plain: Estimate,
    /// The mean score less the luck.
    pub adjusted: Estimate,
    /// The amount by which the variance fell; `None` if a score does not vary, or of fewer than three units.
    pub factor: Option<Estimate>,
}

impl AdjustedScores {
    /// Adjusts the scores by units, given as the plain and the adjusted score; `None` from fewer than two.
    pub fn new(units: &[[f64; 2]]) -> Option<AdjustedScores> {
        let count = units.len() as f64;
        if units.len() < 2 {
            return None;
        }
        let mean = |of: usize| units.iter().map(|unit| unit[of]).sum::<f64>() / count;
        let means = [mean(0), mean(1)];
        let product = |a: usize, b: usize| {
            let sum: f64 = units.iter().map(|unit| (unit[a] - means[a]) * (unit[b] - means[b])).sum();
            sum / (count - 1.0)
        };
        let variances = [product(0, 0), product(1, 1)];
        let estimate = |of: usize| {
            let half = student_95(count - 1.0) * (variances[of] / count).sqrt();
            Estimate { value: means[of], low: means[of] - half, high: means[of] + half }
        };
        let factor = (variances.iter().all(|&variance| variance > 1e-12) && units.len() > 2).then(|| {
            let value = variances[0] / variances[1];
            let squared = (product(0, 1).powi(2) / variances[0] / variances[1]).min(1.0);
            let k = 1.0 + 2.0 * (1.0 - squared) * student_95(count - 2.0).powi(2) / (count - 2.0);
            let root = (k * k - 1.0).sqrt();
            Estimate { value, low: value * (k - root), high: value * (k + root) }
        });
        Some(AdjustedScores { units: units.len(), plain: estimate(0), adjusted: estimate(1), factor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_intervals_and_the_factor_are_those_of_the_formulas() {
        let scores = AdjustedScores::new(&[[0.0, 0.25], [1.0, 0.75], [1.0, 1.0], [0.0, 0.0]]).unwrap();
        assert_eq!((scores.units, scores.plain.value, scores.adjusted.value), (4, 0.5, 0.5));
        // Variances 1/3 and 5/24, covariance 1/4; the quantiles are 3.182 and 4.303.
        let half = scores.plain.high - 0.5;
        assert!((half / (3.182_446 * (1.0f64 / 12.0).sqrt()) - 1.0).abs() < 0.01, "{half}");
        let factor = scores.factor.unwrap();
        assert!((factor.value - 1.6).abs() < 1e-12, "{factor:?}");
        let k = 1.0 + 2.0 * (1.0 - 0.9) * 4.302_653f64.powi(2) / 2.0;
        let root = (k * k - 1.0).sqrt();
        assert!((factor.low - 1.6 * (k - root)).abs() < 1e-9, "{factor:?}");
        assert!((factor.high - 1.6 * (k + root)).abs() < 1e-9, "{factor:?}");
        assert_eq!(AdjustedScores::new(&[[0.0, 0.0]]), None);
        assert_eq!(AdjustedScores::new(&[[0.5, 0.5]; 9]).unwrap().factor, None);
    }
}
