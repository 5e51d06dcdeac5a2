//! Intervals by drawing sets again.
//!
//! As many sets as there are are drawn from them with replacement and rated, many times; the 2.5% and 97.5% quantiles
//! of the ratings are the interval (B. Efron, R. J. Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13).
//! Sets are drawn whole, because the matches on one deal depend on each other. The ratings of one entrant in different
//! draws differ also because the order of play does, for the algorithms that look at it.

use super::Estimate;
use crate::core::Uniform;
use crate::core::chance::Stream;
use crate::tournament::MatchResult;

/// By entrant: the rating of all results with its 95% interval. `rate` rates results; it is called `draws` + 1 times.
/// From 200 draws on the intervals are useful.
pub fn intervals(
    results: &[MatchResult],
    draws: u32,
    stream: &mut Stream,
    mut rate: impl FnMut(&[MatchResult]) -> Vec<f64>,
) -> Vec<Estimate> {
    let sets: Vec<&[MatchResult]> = results.chunk_by(|a, b| a.set == b.set).collect();
    let values = rate(results);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); values.len()];
    let mut sample = Vec::with_capacity(results.len());
    for _ in 0..if sets.is_empty() { 0 } else { draws } {
        sample.clear();
        for set in 1..=sets.len() as u32 {
            let chosen = sets[stream.uniform(sets.len() as u64) as usize];
            sample.extend(chosen.iter().map(|&result| MatchResult { set, ..result }));
        }
        for (all, rating) in drawn.iter_mut().zip(rate(&sample)) {
            all.push(rating);
        }
    }
    let quantile = |sorted: &[f64], value: f64, part: f64| match sorted.len() {
        0 => value,
        count => sorted[((count - 1) as f64 * part).round() as usize],
    };
    drawn
        .into_iter()
        .zip(values)
        .map(|(mut all, value)| {
            all.sort_by(f64::total_cmp);
            Estimate { value, low: quantile(&all, value, 0.025), high: quantile(&all, value, 0.975) }
        })
        .collect()
}
