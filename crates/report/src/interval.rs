//! Estimates with their intervals, as text.

use referee_game::counted;
use referee_stats::rating::Estimate;
use serde::Serialize;

/// The openings of which figures speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Population {
    /// Openings or deals like those that were played.
    OpeningsLikeThese,
    /// The openings that were played.
    TheseOpenings,
}

impl Population {
    /// Returns the openings for which figures are valid: openings like those that were played, or only these.
    pub fn new(is_of_played_openings: bool) -> Population {
        if is_of_played_openings { Population::TheseOpenings } else { Population::OpeningsLikeThese }
    }
}

/// A figure with its interval: +12.3 (-4.5 to +29.1). Infinite ends are omitted, as in +12.3 (above -4.5), and so is
/// an infinite figure.
pub fn interval(Estimate { value, low, high }: Estimate, decimals: usize) -> String {
    let [value, low, high] = [value, low, high].map(|value| plain_zero(value, decimals));
    let range = match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{low:+.decimals$} to {high:+.decimals$}"),
        (true, false) => format!("above {low:+.decimals$}"),
        (false, true) => format!("below {high:+.decimals$}"),
        (false, false) => "unbounded".to_owned(),
    };
    if value.is_finite() { format!("{value:+.decimals$} ({range})") } else { range }
}

/// The basis of an estimate: from 97 distinct sets on 10 openings or deals.
pub fn origin(distinct_sets: impl Into<u64>, openings: impl Into<u64>) -> String {
    let (sets, openings): (u64, u64) = (distinct_sets.into(), openings.into());
    let sets = counted(sets, "distinct set", "distinct sets");
    format!("from {sets} on {}", counted(openings, "opening or deal", "openings or deals"))
}

/// A score with its interval: 53.1% (49.5% to 56.7%).
pub fn percent_interval(Estimate { value, low, high }: Estimate) -> String {
    let [value, low, high] = [value, low, high].map(|part| 100.0 * part.clamp(0.0, 1.0));
    format!("{value:.1}% ({low:.1}% to {high:.1}%)")
}

/// The value, or 0 without a sign if it is shown as 0 with this number of decimals.
pub(super) fn plain_zero(value: f64, decimals: usize) -> f64 {
    if (value * 10_f64.powi(decimals as i32)).abs() <= 0.5 { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_minus() {
        assert_eq!(interval(Estimate { value: -0.2, low: -0.5, high: 3.0 }, 0), "+0 (+0 to +3)");
        assert_eq!(interval(Estimate { value: -0.04, low: -0.06, high: -0.0 }, 1), "+0.0 (-0.1 to +0.0)");
    }

    #[test]
    fn an_interval_names_its_finite_ends_only() {
        let text = |value, low, high| interval(Estimate { value, low, high }, 1);
        let infinite = f64::INFINITY;
        assert_eq!(text(12.34, -4.5, 29.1), "+12.3 (-4.5 to +29.1)");
        assert_eq!(text(636.4, 440.0, infinite), "+636.4 (above +440.0)");
        assert_eq!(text(-636.4, -infinite, -440.0), "-636.4 (below -440.0)");
        assert_eq!(text(infinite, 140.2, infinite), "above +140.2");
        assert_eq!(text(0.0, -infinite, infinite), "+0.0 (unbounded)");
    }
}
