//! The error rates of sequential tests on scores with the luck taken out.

use referee::game::chance::RandomStream;

use crate::simulation::{expected, is_long, most, normal, runs, stream, unit};

/// A match that luck decides but for this probability: the adjusted score of a side with the expected score `p`. The values
/// are exact but for a noise with this standard deviation.
fn adjusted(p: f64, open: f64, noise: f64, stream: &mut RandomStream) -> f64 {
    let is_lucky = unit(stream) < (p - open) / (1.0 - 2.0 * open);
    let value = if is_lucky { 1.0 - open } else { open };
    let score = f64::from(u8::from(unit(stream) < value));
    score - (value - p) + noise * normal(stream)
}

/// Returns whether the likelihood ratio of normally distributed scores of an unknown variance accepts the
/// second of two means, at 5% for both errors and from the tenth score on.
fn accepts(means: [f64; 2], mut score: impl FnMut() -> f64) -> bool {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    loop {
        let x = score();
        (count, sum, squares) = (count + 1.0, sum + x, squares + x * x);
        let [from_first, from_second] = means.map(|mean| squares - 2.0 * mean * sum + count * mean * mean);
        let ratio = 0.5 * count * (from_first / from_second).ln();
        if count >= 10.0 && ratio.abs() >= 19f64.ln() {
            return ratio > 0.0;
        }
    }
}

/// The share of tests that accept the wrong one of two differences in Elo, by which is true.
fn errors(elo: [f64; 2], open: f64, noise: f64, runs: u32) -> [f64; 2] {
    let means = elo.map(expected);
    let mut stream = stream(&format!("luck {elo:?} {open} {noise}"));
    [0, 1].map(|truth| {
        let mut is_wrong =
            || accepts(means, || adjusted(means[truth], open, noise, &mut stream)) == (truth == 0);
        (0..runs).filter(|_| is_wrong()).count() as f64 / f64::from(runs)
    })
}

#[test]
fn sequential_tests_on_adjusted_scores_keep_errors_between_equals() {
    let runs = runs(300, 5000);
    let mut greatest = [0.0f64; 2];
    for (elo, open, noise) in [
        ([0.0, 10.0], 0.15, 0.1),
        ([0.0, 10.0], 0.025, 0.0),
        ([0.0, 10.0], 0.005, 0.1),
        ([-10.0, 0.0], 0.01, 0.02),
        ([0.0, 50.0], 0.3, 0.0),
        ([0.0, 50.0], 0.15, 0.1),
        ([0.0, 50.0], 0.025, 0.0),
        ([0.0, 50.0], 0.025, 0.1),
        ([0.0, 100.0], 0.15, 0.1),
        ([200.0, 210.0], 0.1, 0.0),
        ([200.0, 250.0], 0.1, 0.0),
        ([200.0, 250.0], 0.02, 0.1),
        ([300.0, 350.0], 0.02, 0.05),
    ] {
        // The short form leaves out tests of thousands of sets.
        if !is_long() && elo[1] - elo[0] < 20.0 && open > 0.03 {
            continue;
        }
        let factor = 0.25 / (open * (1.0 - open) + noise * noise);
        let found = errors(elo, open, noise, runs);
        let [h0, h1] = found.map(|share| 100.0 * share);
        println!("{elo:?} Elo, factor {factor:.1}, noise {noise}: {h0:.1}% at H0, {h1:.1}% at H1");
        let group = &mut greatest[usize::from(elo[0] >= 200.0)];
        *group = found.into_iter().fold(*group, f64::max);
    }
    assert!(greatest[0] <= most(runs), "{greatest:?}");
    // Its first ten sets have seen no upset, and tell nothing of the variance: why verdicts come from the plain scores.
    assert!(greatest[1] > 0.2, "{greatest:?}");
}
