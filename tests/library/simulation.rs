//! Results of simulated bots of known strength.

use referee::game::chance::{RandomStream, Seed};
use referee::game::{Seating, Uniform};
use referee::stats::sprt::{SetScores, Sprt, TestState};
use referee::stats::{Deals, Lineup, MatchResult};

pub(crate) const TWO: Seating = Seating::new(2, 2);

pub(crate) fn stream(name: &str) -> RandomStream {
    Seed([42; 32]).match_key("simulation", name, &["", ""]).stream()
}

/// Uniform in [0, 1).
pub(crate) fn unit(stream: &mut RandomStream) -> f64 {
    stream.uniform(1 << 53) as f64 / (1u64 << 53) as f64
}

/// Normally distributed, by the method of G. E. P. Box and M. E. Muller.
pub(crate) fn normal(stream: &mut RandomStream) -> f64 {
    (-2.0 * (1.0 - unit(stream)).ln()).sqrt() * (std::f64::consts::TAU * unit(stream)).cos()
}

pub(crate) fn expected(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The ranks of two with an expected score of `p` for the first, from a number of [`unit`]; `draws` is the draw rate.
pub(crate) fn ranks(p: f64, draws: f64, x: f64) -> [u8; 2] {
    let drawn = draws * 2.0 * p.min(1.0 - p);
    if x < p - drawn / 2.0 {
        [1, 2]
    } else if x < p + drawn / 2.0 {
        [1, 1]
    } else {
        [2, 1]
    }
}

/// The two matches of a set: chance favours the first seat in both or in neither, so that they are dependent.
pub(crate) fn mirrored_set(
    set: u32,
    first: Lineup,
    p: [f64; 2],
    draws: f64,
    stream: &mut RandomStream,
) -> Vec<MatchResult> {
    let x = unit(stream);
    let y = if stream.uniform(2) == 0 { x } else { unit(stream) };
    [x, y]
        .into_iter()
        .enumerate()
        .map(|(leg, x)| MatchResult::played(set, Deals::Mirrored.leg(first, leg), &ranks(p[leg], draws, x)))
        .collect()
}

pub(crate) const ALPHA: f64 = 0.05;

/// Three standard errors above a rate of 5%.
pub(crate) fn most(runs: u32) -> f64 {
    ALPHA + 3.0 * (ALPHA * (1.0 - ALPHA) / f64::from(runs)).sqrt()
}

/// Returns whether simulations run at full length.
pub(crate) fn is_long() -> bool {
    std::env::var_os("LONG_TESTS").is_some()
}

/// The number of runs of a simulation: all with LONG_TESTS, otherwise `short`.
pub(crate) fn runs(short: u32, all: u32) -> u32 {
    if is_long() { all } else { short }
}

/// The probability of each score of a set of `legs` matches. In a share of the sets of two matches, `tied`, chance
/// favours the first seat in both.
pub(crate) fn set_distribution(elo: f64, draws: f64, tied: f64, legs: u32) -> Vec<f64> {
    let p = expected(elo);
    let steps = 2 * legs as usize;
    // In fine steps of the random number that decides a match.
    const STEPS: usize = 20_000;
    let points = |x: f64| match ranks(p, draws, x) {
        [1, 2] => 2,
        [1, 1] => 1,
        _ => 0,
    };
    let mut of_match = [0.0; 3];
    let mut of_tied = vec![0.0; steps + 1];
    for step in 0..STEPS {
        let x = (step as f64 + 0.5) / STEPS as f64;
        of_match[points(x)] += 1.0 / STEPS as f64;
        if legs == 2 {
            of_tied[points(x) + points(1.0 - x)] += tied / STEPS as f64;
        }
    }
    let mut free = vec![1.0];
    for _ in 0..legs {
        let mut longer = vec![0.0; free.len() + 2];
        for (at, part) in free.iter().enumerate() {
            for (more, of_match) in of_match.iter().enumerate() {
                longer[at + more] += part * of_match;
            }
        }
        free = longer;
    }
    let tied = if legs == 2 { tied } else { 0.0 };
    free.iter().zip(&of_tied).map(|(free, of_tied)| (1.0 - tied) * free + of_tied).collect()
}

/// In normalized Elo.
pub(crate) fn normalized(distribution: &[f64], legs: u32) -> f64 {
    let steps = (distribution.len() - 1) as f64;
    let each = || distribution.iter().enumerate().map(|(at, p)| (at as f64 / steps, p));
    let mean: f64 = each().map(|(score, p)| score * p).sum();
    let variance: f64 = each().map(|(score, p)| (score - mean).powi(2) * p).sum();
    800.0 / std::f64::consts::LN_10 * (mean - 0.5) / (variance * f64::from(legs)).sqrt()
}

/// The difference in Elo with this normalized Elo.
pub(crate) fn with_normalized(elo: f64, draws: f64, tied: f64, legs: u32) -> f64 {
    let (mut low, mut high) = (-1200.0, 1200.0);
    // To a thousandth of an Elo.
    for _ in 0..22 {
        let middle = 0.5 * (low + high);
        if normalized(&set_distribution(middle, draws, tied, legs), legs) < elo {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

pub(crate) fn add_set(scores: &mut SetScores, distribution: &[f64], stream: &mut RandomStream) {
    let mut x = unit(stream);
    let at = distribution.iter().position(|p| {
        x -= p;
        x < 0.0
    });
    scores.add(at.unwrap_or(distribution.len() - 1) as f64 / (distribution.len() - 1) as f64);
}

pub(crate) fn ended_test(
    sprt: &Sprt,
    distribution: &[f64],
    legs: u32,
    stream: &mut RandomStream,
) -> SetScores {
    let mut scores = SetScores::new(legs, 1);
    while sprt.decide(sprt.llr(&scores)) == TestState::Continue {
        add_set(&mut scores, distribution, stream);
    }
    scores
}
