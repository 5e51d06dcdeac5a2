//! Strengths of entrants.
//!
//! * [`bradley_terry`]: Elo differences with 95% intervals from one fit over all results; the order of play does not
//!   matter. The figure to trust
//! * [`weng_lin`]: ratings for teams and many sides, from the crate `skillratings`; they depend on the order of
//!   play. Their intervals are 1.96 of the algorithm's own deviations. (Ratings of sets drawn again, as by the
//!   bootstrap, are those of another order of play: in a knockout, such intervals miss the rating itself.)
//!
//! Results come in the order of their sets; the matches of a set stand together.

pub mod bradley_terry;
mod linear;
pub mod weng_lin;

use serde::{Deserialize, Serialize};

use crate::brownian::normal_cdf;

/// The two-sided 95% quantile of the normal distribution.
pub(crate) const Z95: f64 = 1.959_963_984_540_054;

/// The Elo of a natural unit of log-odds: a difference of 400 is odds of 10 to 1.
pub const ELO_PER_LOGIT: f64 = 400.0 / std::f64::consts::LN_10;

/// A figure with its 95% interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// An estimate with a normal interval at 95%; `error` is its standard error.
    pub(crate) fn normal(value: f64, error: f64) -> Estimate {
        Estimate { value, low: value - Z95 * error, high: value + Z95 * error }
    }

    /// The probability that the figure is above 0, taken as normally distributed; `None` without data.
    pub fn probability_above_zero(&self) -> Option<f64> {
        let error = (self.high - self.low) / (2.0 * Z95);
        (error.is_finite() && error > 0.0).then(|| normal_cdf(self.value / error))
    }

    /// Returns whether it is based on any data; otherwise the interval is infinite, and `null` in JSON.
    pub fn is_known(&self) -> bool {
        self.low.is_finite() || self.high.is_finite()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ratings {
    /// The algorithm, as named in reports.
    pub algorithm: &'static str,
    /// The library and its version, because other versions may give other figures.
    pub version: &'static str,
    /// By entrant.
    pub rows: Vec<Rating>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rating {
    /// In the algorithm's own unit.
    pub rating: f64,
    /// The algorithm's own standard deviation.
    pub deviation: f64,
}

impl Rating {
    /// The rating with 1.96 times its deviation on both sides.
    pub fn estimate(&self) -> Estimate {
        Estimate::normal(self.rating, self.deviation)
    }
}

/// The library behind [`weng_lin`].
pub const LIBRARY: &str = "skillratings 0.29.2";

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_in_reports_is_the_one_that_is_linked() {
        let manifest = include_str!("../../Cargo.toml");
        let (name, version) = super::LIBRARY.split_once(' ').unwrap();
        assert!(manifest.contains(&format!("{name} = \"={version}\"")));
    }
}
