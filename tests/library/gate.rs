//! The default test of `referee regress` with simulated bots: pass rates and numbers of sets. The figures in its help
//! come from the long form.

use std::f64::consts::LN_10;

use referee::game::chance::{RandomStream, Seed};
use referee::game::{Seating, Uniform};
use referee::stats::regression::{BASE, NEW, Regression, StoppingRules, Verdict};
use referee::stats::sprt::{EloModel, Sprt};
use referee::stats::{Deals, Lineup, MatchResult};

const TWO: Seating = Seating::new(2, 2);

/// The number of runs: all with LONG_TESTS, otherwise `short`.
fn runs(short: u32, all: u32) -> u32 {
    if std::env::var_os("LONG_TESTS").is_some() { all } else { short }
}

fn stream(name: &str) -> RandomStream {
    Seed([7; 32]).match_key("simulation", name, &["", ""]).stream()
}

/// Uniform in [0, 1).
fn unit(stream: &mut RandomStream) -> f64 {
    stream.uniform(1 << 53) as f64 / (1u64 << 53) as f64
}

/// The probabilities of a loss and a draw of the new version, with this expected score and draw rate.
fn losses_and_draws(score: f64, draws: f64) -> [f64; 2] {
    let drawn = draws * 2.0 * score.min(1.0 - score);
    [1.0 - score - drawn / 2.0, drawn]
}

fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The expected score with this normalized Elo.
fn score_of_normalized(elo: f64, draws: f64) -> f64 {
    let (mut low, mut high) = (0.001, 0.999);
    for _ in 0..50 {
        let score = 0.5 * (low + high);
        let [lost, drawn] = losses_and_draws(score, draws);
        let mean_of_squares = drawn / 4.0 + (1.0 - lost - drawn);
        let deviation = (mean_of_squares - score * score).sqrt();
        if 800.0 / LN_10 * (score - 0.5) / deviation < elo { low = score } else { high = score }
    }
    0.5 * (low + high)
}

/// Simulated bots: in this share of the sets both play alike, in the others matches are independent.
#[derive(Clone, Copy)]
struct Bots {
    alike: f64,
    /// Whether the moves show it; otherwise these sets are even by other moves.
    is_seen: bool,
    losses_and_draws: [f64; 2],
}

/// The pass rate and the mean number of sets.
fn simulate(name: &str, sprt: Sprt, bots: Bots, runs: u32) -> (f64, f64) {
    let mut stream = stream(name);
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    let (mut passed, mut sets) = (0, 0);
    for _ in 0..runs {
        let mut run = Regression::new(StoppingRules::new(Some(sprt), 100_000), TWO, Deals::Mirrored).unwrap();
        for set in 1.. {
            let is_alike = unit(&mut stream) < bots.alike;
            let legs: Vec<MatchResult> = (0..2)
                .map(|leg| {
                    let [lost, drawn] = bots.losses_and_draws;
                    let of_new = match unit(&mut stream) {
                        _ if is_alike => [1, 2],
                        x if x < lost => [2, 1],
                        x if x < lost + drawn => [1, 1],
                        _ => [1, 2],
                    };
                    let [one, other] = of_new;
                    let ranks = if leg == 0 || is_alike { [one, other] } else { [other, one] };
                    MatchResult::played(set, Deals::Mirrored.leg(first, leg), &ranks)
                })
                .collect();
            if is_alike && bots.is_seen {
                run.add_alike(set, legs, None);
            } else {
                run.add(set, legs, None);
            }
            if let Some(verdict) = run.verdict() {
                passed += u32::from(matches!(verdict, Verdict::Passed | Verdict::PassedAlike));
                sets += run.tally().sets;
                break;
            }
        }
    }
    let (passed, sets) = (f64::from(passed) / f64::from(runs), f64::from(sets) / f64::from(runs));
    println!("{name}: {:.1}% of {runs} pass, {sets:.0} sets on average", 100.0 * passed);
    (passed, sets)
}

fn gate(elo0: f64, elo1: f64) -> Sprt {
    Sprt::new(elo0, elo1, 0.05, 0.05, EloModel::Normalized).unwrap()
}

/// Draw rates of sample bots against themselves: saxum, keezen and Xe Queo! have none; jeex 3% to 7%, checkers 2% (random)
/// and 71% (greedy).
const DRAWS: [f64; 3] = [0.0, 0.05, 0.7];

/// Three standard errors of a rate.
fn error(part: f64, runs: u32) -> f64 {
    3.0 * (part * (1.0 - part) / f64::from(runs)).sqrt()
}

/// Simulates bots that never play alike, and compares with the documented figures.
fn check(sprt: Sprt, (elo, draws): (f64, f64), (part, sets): (f64, f64), runs: u32) {
    let losses_and_draws = losses_and_draws(score_of_normalized(elo, draws), draws);
    let name = format!("{} to {}, {elo} normalized Elo, {draws} draws", sprt.elo0(), sprt.elo1());
    let found = simulate(&name, sprt, Bots { alike: 0.0, is_seen: true, losses_and_draws }, runs);
    assert!((found.0 - part).abs() <= error(part, runs) + 0.02, "{name}: {found:?}");
    let tolerance = if runs < 100 { 0.4 } else { 0.15 };
    assert!((found.1 - sets).abs() <= tolerance * sets, "{name}: {found:?}");
}

#[test]
fn the_default_test_has_the_documented_pass_rates() {
    let runs = runs(20, 3000);
    for draws in if runs > 20 { &DRAWS[..] } else { &DRAWS[2..] } {
        for (elo, part, sets) in
            [(0.0, 0.95, 135.0), (-20.0, 0.64, 220.0), (-50.0, 0.05, 135.0), (-100.0, 0.0, 53.0)]
        {
            check(gate(-50.0, 0.0), (elo, *draws), (part, sets), runs);
        }
    }
}

/// The pass rates for losses in Elo that is not normalized, printed in the long form.
#[test]
fn losses_in_elo_are_detected_better_with_more_draws() {
    let runs = runs(20, 1000);
    for elo in if runs > 20 { &[-20.0, -50.0, -100.0][..] } else { &[-50.0] } {
        let passed = DRAWS.map(|draws| {
            let losses_and_draws = losses_and_draws(score_of_elo(*elo), draws);
            let name = format!("-50 to 0, {elo} Elo, {draws} draws");
            simulate(&name, gate(-50.0, 0.0), Bots { alike: 0.0, is_seen: true, losses_and_draws }, runs).0
        });
        assert!(passed[2] <= passed[0] + error(0.05, runs), "{elo}: {passed:?}");
    }
}

#[test]
fn other_hypotheses_take_the_documented_numbers_of_sets() {
    if runs(0, 1) == 1 {
        check(gate(-10.0, 0.0), (0.0, 0.05), (0.95, 3100.0), 1000);
        check(gate(-20.0, 0.0), (0.0, 0.05), (0.95, 790.0), 500);
        check(gate(0.0, 20.0), (20.0, 0.05), (0.95, 790.0), 500);
    }
    check(gate(0.0, 20.0), (100.0, 0.05), (1.0, 105.0), runs(20, 500));
}

/// The probabilities of a loss and a draw in the sets that differ, so that all sets together have the difference `elo`.
fn losses_in_differing(differing: f64, elo: f64, model: EloModel) -> [f64; 2] {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let p = 0.5 * (low + high);
        let mean = differing * (p - 0.5);
        let second = differing * ((p - 0.5) * (p - 0.5) + p * (1.0 - p) / 2.0);
        let found = match model {
            EloModel::Logistic => 400.0 * ((0.5 + mean) / (0.5 - mean)).log10(),
            EloModel::Normalized => 800.0 / LN_10 * mean / (2.0 * (second - mean * mean)).sqrt(),
        };
        if found < elo { low = p } else { high = p }
    }
    losses_and_draws(0.5 * (low + high), 0.0)
}

/// Versions at the difference of H0 that play most sets as the base does: with the fewest sets that differ, all of which
/// are lost, 5% pass because all sets until then are alike.
#[test]
fn sets_played_alike_pass_at_most_5_percent_at_limit() {
    use EloModel::{Logistic, Normalized};
    let runs = runs(40, 5000);
    for (model, elo0, parts) in [
        (Normalized, -50.0, &[0.0, 0.003, 0.1, 0.5, 0.99][..]),
        (Logistic, -50.0, &[0.0, 0.3, 0.6, 0.99]),
        (Normalized, -100.0, &[0.0, 0.1]),
        (Logistic, -10.0, &[0.99]),
    ] {
        let least = match model {
            Logistic => 1.0 - 2.0 * score_of_elo(elo0),
            Normalized => {
                let t = 2f64.sqrt() * elo0 / (800.0 / LN_10);
                t * t / (1.0 + t * t)
            }
        };
        let sprt = Sprt::new(elo0, 0.0, 0.05, 0.05, model).unwrap();
        for part in parts {
            let differing = least + (1.0 - least) * part;
            let name = format!("{model:?} {elo0}, {:.2}% of sets differ", 100.0 * differing);
            let losses_and_draws = losses_in_differing(differing, elo0, model);
            let bots = Bots { alike: 1.0 - differing, is_seen: true, losses_and_draws };
            let (passed, _) = simulate(&name, sprt, bots, runs);
            assert!(passed <= 0.055 + error(0.05, runs), "{name}: {passed}");
        }
    }
}

/// Versions at H0 whose sets are nearly all even, but not by the same moves: the test has few sets from which to
/// estimate the variance.
#[test]
fn nearly_even_sets_pass_at_most_8_percent() {
    let runs = runs(40, 5000);
    for even in [0.5, 0.8, 0.9, 0.95, 0.96] {
        let losses_and_draws = losses_in_differing(1.0 - even, -50.0, EloModel::Normalized);
        let bots = Bots { alike: even, is_seen: false, losses_and_draws };
        let name = format!("{:.0}% of sets even by other moves", 100.0 * even);
        let (passed, _) = simulate(&name, gate(-50.0, 0.0), bots, runs);
        assert!(passed <= 0.08 + error(0.08, runs), "{name}: {passed}");
    }
}

/// With --gain, equally: a version that is 20 normalized Elo stronger because it wins the few sets that differ.
#[test]
fn alike_sets_fail_at_most_5_percent_of_stronger_versions() {
    let runs = runs(10, 2000);
    let t = 2f64.sqrt() * 20.0 / (800.0 / LN_10);
    let differing = t * t / (1.0 + t * t);
    let bots = Bots { alike: 1.0 - differing, is_seen: true, losses_and_draws: [0.0, 0.0] };
    let (passed, _) = simulate("gain 20, few sets differ", gate(0.0, 20.0), bots, runs);
    assert!(1.0 - passed <= 0.055 + error(0.05, runs), "{passed}");
}
