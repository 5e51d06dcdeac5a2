//! Ratings and strength tests with simulated results of known strengths.

use std::collections::HashMap;

use referee::core::chance::{RandomStream, Seed};
use referee::core::{Seat, SeatSet, Seating, Uniform};
use referee::tournament::estimates::Estimates;
use referee::tournament::rating::{bradley_terry, glicko2, weng_lin};
use referee::tournament::regression::{BASE, NEW, Regression, StoppingRules, Verdict};
use referee::tournament::schedule::{Format, Plan, Schedule};
use referee::tournament::sprt::{Decision, EloModel, SetScores, Sprt};
use referee::tournament::{Deals, Entrant, Lineup, MatchResult};

const TWO: Seating = Seating::new(2, 2);

fn stream(name: &str) -> RandomStream {
    Seed([42; 32]).match_key("simulation", name, &["", ""]).stream()
}

/// Uniform in [0, 1).
fn unit(stream: &mut RandomStream) -> f64 {
    stream.uniform(1 << 53) as f64 / (1u64 << 53) as f64
}

fn expected(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The ranks of two with an expected score of `p` for the first, from a number of [`unit`]; `draws` is the draw rate.
fn ranks(p: f64, draws: f64, x: f64) -> [u8; 2] {
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
fn mirrored_set(
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

/// A simulated comparison of two bots.
#[derive(Clone, Copy)]
struct Scenario {
    /// The strength advantage of `new`, including its faults.
    elo: f64,
    /// The fault rates of `new` and `base`.
    faults: [f64; 2],
    /// Whether the faults of `base` are reported as such. Otherwise they are losses.
    are_told: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Outcomes {
    passed: u32,
    failed: u32,
    others: u32,
    sets: u64,
    runs: u32,
}

impl Outcomes {
    fn rate(&self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.runs)
    }

    /// Three standard errors above a rate of 5%.
    fn most(&self) -> f64 {
        most(self.runs)
    }
}

const RUNS: u32 = 3000;
const ALPHA: f64 = 0.05;

/// Three standard errors above a rate of 5%.
fn most(runs: u32) -> f64 {
    ALPHA + 3.0 * (ALPHA * (1.0 - ALPHA) / f64::from(runs)).sqrt()
}

fn simulate(name: &str, sprt: Sprt, scenario: Scenario) -> Outcomes {
    // The likelihood of normalized Elo takes many times longer.
    let runs = if sprt.model() == EloModel::Normalized { runs(400, RUNS) } else { RUNS };
    let mut stream = stream(name);
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    // The strength by play that, with the matches lost by faults, gives the intended expected score.
    let by_play = expected(scenario.elo) / (1.0 - scenario.faults[0]);
    let mut outcomes = Outcomes { runs, ..Outcomes::default() };
    for _ in 0..runs {
        // The limit is far above the simulated rates, to show the effect of faults on the test.
        let terms = StoppingRules { max_fault_rate: 0.2, ..StoppingRules::new(Some(sprt), 20_000) };
        let mut run = Regression::new(terms, TWO, Deals::Mirrored).unwrap();
        for set in 1.. {
            let mut legs = mirrored_set(set, first, [by_play, 1.0 - by_play], 0.4, &mut stream);
            for leg in &mut legs {
                let x = unit(&mut stream);
                let at_fault = match () {
                    () if x < scenario.faults[0] => NEW,
                    () if x < scenario.faults[0] + scenario.faults[1] => BASE,
                    () => continue,
                };
                let seats = leg.lineup.seats_of(at_fault);
                let loser = seats.iter().next().map_or(0, Seat::index);
                leg.places[loser] = 2;
                leg.places[1 - loser] = 1;
                leg.faulted = if at_fault == BASE && !scenario.are_told { SeatSet::EMPTY } else { seats };
            }
            run.add(set, legs, None);
            if let Some(verdict) = run.verdict() {
                match verdict {
                    Verdict::Passed => outcomes.passed += 1,
                    Verdict::Failed => outcomes.failed += 1,
                    _ => outcomes.others += 1,
                }
                outcomes.sets += u64::from(run.tally().sets);
                break;
            }
        }
    }
    println!(
        "{name}: {runs} tests, H1 {:.2}%, H0 {:.2}%, neither {:.2}%, {:.0} sets on average",
        100.0 * outcomes.rate(outcomes.passed),
        100.0 * outcomes.rate(outcomes.failed),
        100.0 * outcomes.rate(outcomes.others),
        outcomes.sets as f64 / f64::from(runs)
    );
    outcomes
}

const NO_FAULTS: Scenario = Scenario { elo: 0.0, faults: [0.0, 0.0], are_told: true };

fn logistic() -> Sprt {
    Sprt::new(0.0, 25.0, ALPHA, ALPHA, EloModel::Logistic).unwrap()
}

#[test]
fn the_sequential_test_has_the_promised_error_rates() {
    let null = simulate("null", logistic(), NO_FAULTS);
    assert!(null.rate(null.passed) <= null.most(), "{null:?}");
    let alternative = simulate("alternative", logistic(), Scenario { elo: 25.0, ..NO_FAULTS });
    assert!(alternative.rate(alternative.failed) <= alternative.most(), "{alternative:?}");
    assert_eq!(null.others + alternative.others, 0);
}

#[test]
fn faults_of_both_bots_preserve_the_error_rates() {
    let faults = [0.02, 0.02];
    let null = simulate("null with faults", logistic(), Scenario { faults, ..NO_FAULTS });
    assert!(null.rate(null.passed) <= null.most(), "{null:?}");
    let alternative =
        simulate("alternative with faults", logistic(), Scenario { elo: 25.0, faults, ..NO_FAULTS });
    assert!(alternative.rate(alternative.failed) <= alternative.most(), "{alternative:?}");
}

#[test]
fn crashes_of_the_base_do_not_look_like_strength() {
    let faults = [0.0, 0.1];
    let told = simulate("base crashes", logistic(), Scenario { faults, ..NO_FAULTS });
    assert!(told.rate(told.passed) <= told.most(), "{told:?}");
    let untold = Scenario { faults, are_told: false, ..NO_FAULTS };
    let naive = simulate("base crashes, counted as losses", logistic(), untold);
    assert!(naive.rate(naive.passed) > 0.3, "the rule is needed: {naive:?}");
}

#[test]
fn the_test_in_normalized_elo_has_the_promised_error_rates() {
    // With 40% draws and dependent legs, the deviation of a set is known from many sets.
    let mut scores = SetScores::new(2, 1);
    let mut stream = stream("normalized");
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    let p = expected(40.0);
    for set in 0..200_000 {
        let legs = mirrored_set(set, first, [p, 1.0 - p], 0.4, &mut stream);
        scores.add(legs.iter().filter_map(|leg| leg.score(NEW)).sum::<f64>() / 2.0);
    }
    let elo = Estimates::fixed(&scores).unwrap().normalized_elo.unwrap().value;
    let sprt = Sprt::new(0.0, elo, ALPHA, ALPHA, EloModel::Normalized).unwrap();
    let null = simulate("normalized, null", sprt, NO_FAULTS);
    assert!(null.rate(null.passed) <= null.most(), "{null:?}");
    let alternative = simulate("normalized, alternative", sprt, Scenario { elo: 40.0, ..NO_FAULTS });
    assert!(alternative.rate(alternative.failed) <= alternative.most(), "{alternative:?}");
}

/// Random ranks of three sides: each is next with a probability proportional to its strength, so that every two
/// compare as by Elo.
fn three_ranks(elo: [f64; 3], stream: &mut RandomStream) -> [u8; 3] {
    let mut weights = elo.map(|elo| 10f64.powf(elo / 400.0));
    let mut ranks = [0; 3];
    for rank in 1..=3 {
        let mut x = unit(stream) * weights.iter().sum::<f64>();
        let next = weights.iter().position(|weight| {
            x -= weight;
            x < 0.0
        });
        let next = next.unwrap_or_else(|| (0..3).find(|&side| ranks[side] == 0).unwrap());
        weights[next] = 0.0;
        ranks[next] = rank;
    }
    ranks
}

#[test]
fn the_test_has_the_promised_error_rates_with_three_teams() {
    let seating = Seating::new(6, 3);
    let sprt = Sprt::new(0.0, 60.0, ALPHA, ALPHA, EloModel::Logistic).unwrap();
    let schedule =
        Schedule::new(Plan::new(Format::Duel { sets: 4000 }, seating, Deals::Mirrored, 2)).unwrap();
    let mut stream = stream("three teams");
    for (name, elo) in [("three teams, null", 0.0), ("three teams, alternative", 60.0)] {
        let (mut wrong, mut sets) = (0, 0);
        for _ in 0..RUNS {
            let mut run =
                Regression::new(StoppingRules::new(Some(sprt), 4000), seating, Deals::Mirrored).unwrap();
            for (set, number) in schedule.sets().iter().zip(1..) {
                let legs = (0..3).map(|leg| {
                    let lineup = Deals::Mirrored.leg(set.first, leg);
                    let of = |side: usize| if lineup.seats()[side] == NEW { elo } else { 0.0 };
                    MatchResult::played(number, lineup, &three_ranks([of(0), of(1), of(2)], &mut stream))
                });
                run.add(number, legs.collect(), None);
                if run.verdict().is_some() {
                    break;
                }
            }
            let is_wrong = run.verdict() != Some(if elo == 0.0 { Verdict::Failed } else { Verdict::Passed });
            wrong += u32::from(is_wrong);
            sets += run.tally().sets;
        }
        println!(
            "{name}: {RUNS} tests, {:.2}% wrong, {} sets on average",
            100.0 * f64::from(wrong) / f64::from(RUNS),
            sets / RUNS
        );
        assert!(f64::from(wrong) / f64::from(RUNS) <= most(RUNS), "{name}: {wrong} of {RUNS} wrong");
    }
}

#[test]
fn fixed_length_intervals_cover_the_truth_in_95_percent() {
    let mut stream = stream("fixed");
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    let p = expected(30.0);
    let covered = (0..2000).filter(|_| {
        let mut scores = SetScores::new(2, 1);
        for set in 0..200 {
            let legs = mirrored_set(set, first, [p, 1.0 - p], 0.4, &mut stream);
            scores.add(legs.iter().filter_map(|leg| leg.score(NEW)).sum::<f64>() / 2.0);
        }
        let elo = scores.estimate().unwrap().elo;
        elo.low <= 30.0 && 30.0 <= elo.high
    });
    let covered = covered.count();
    println!("fixed length: {covered} of 2000 intervals cover the truth");
    assert!((1900 - 35..=1900 + 35).contains(&covered), "{covered} of 2000");
}

/// The number of runs of a simulation: all with LONG_TESTS, otherwise `short`.
fn runs(short: u32, all: u32) -> u32 {
    if std::env::var_os("LONG_TESTS").is_some() { all } else { short }
}

/// The probability of each score of a set of `legs` matches. In a share of the sets of two matches, `tied`, chance
/// favours the first seat in both.
fn set_distribution(elo: f64, draws: f64, tied: f64, legs: u32) -> Vec<f64> {
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
fn normalized(distribution: &[f64], legs: u32) -> f64 {
    let steps = (distribution.len() - 1) as f64;
    let each = || distribution.iter().enumerate().map(|(at, p)| (at as f64 / steps, p));
    let mean: f64 = each().map(|(score, p)| score * p).sum();
    let variance: f64 = each().map(|(score, p)| (score - mean).powi(2) * p).sum();
    800.0 / std::f64::consts::LN_10 * (mean - 0.5) / (variance * f64::from(legs)).sqrt()
}

/// The difference in Elo with this normalized Elo.
fn with_normalized(elo: f64, draws: f64, tied: f64, legs: u32) -> f64 {
    let (mut low, mut high) = (-1200.0, 1200.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if normalized(&set_distribution(middle, draws, tied, legs), legs) < elo {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

fn add_set(scores: &mut SetScores, distribution: &[f64], stream: &mut RandomStream) {
    let mut x = unit(stream);
    let at = distribution.iter().position(|p| {
        x -= p;
        x < 0.0
    });
    scores.add(at.unwrap_or(distribution.len() - 1) as f64 / (distribution.len() - 1) as f64);
}

fn ended_test(sprt: &Sprt, distribution: &[f64], legs: u32, stream: &mut RandomStream) -> SetScores {
    let mut scores = SetScores::new(legs, 1);
    while sprt.decide(sprt.llr(&scores)) == Decision::Continue {
        add_set(&mut scores, distribution, stream);
    }
    scores
}

#[test]
fn sequential_estimates_are_median_unbiased_with_correct_intervals() {
    use EloModel::{Logistic, Normalized};
    let cases: &[(EloModel, f64, f64)] = match runs(0, 1) {
        0 => &[(Normalized, 0.0, 100.0), (Logistic, 0.0, 30.0), (Logistic, 0.0, 200.0)],
        _ => &[
            (Normalized, 0.0, 30.0),
            (Normalized, -10.0, 20.0),
            (Normalized, 0.0, 100.0),
            (Logistic, 0.0, 10.0),
            (Logistic, -10.0, 0.0),
            (Logistic, 0.0, 30.0),
            (Logistic, -50.0, 0.0),
            (Logistic, 0.0, 100.0),
            (Logistic, 0.0, 200.0),
        ],
    };
    for &(model, elo0, elo1) in cases {
        let (middle, width) = (0.5 * (elo0 + elo1), elo1 - elo0);
        for (draws, tied) in [(0.4, 0.5), (0.05, 0.0), (0.8, 0.3)] {
            for truth in [elo0 - 0.5 * width, elo0, middle, elo1, elo1 + width, 200.0] {
                // Where the ratio depends most on the estimated variance, and many sets are drawn.
                let is_short_case = match model {
                    Normalized => truth == middle && draws < 0.5,
                    Logistic => truth == middle || truth == 200.0,
                };
                if runs(0, 1) == 0 && !is_short_case {
                    continue;
                }
                let sprt = Sprt::new(elo0, elo1, ALPHA, ALPHA, model).unwrap();
                let distribution = set_distribution(truth, draws, tied, 2);
                // The distribution has discrete steps.
                let mean: f64 = distribution.iter().enumerate().map(|(at, p)| at as f64 / 4.0 * p).sum();
                let truth = 400.0 * (mean / (1.0 - mean)).log10();
                let normalized_truth = normalized(&distribution, 2);
                let name = format!("{model:?} {elo0} to {elo1}, truth {truth:.0}, {draws} draws");
                let (mut stream, runs) = (stream(&name), runs(if truth > 190.0 { 400 } else { 100 }, 1000));
                let (mut above, mut covered, mut naive, mut sets) = (0, 0, 0, 0);
                let (mut bias, mut naive_bias) = (0.0, 0.0);
                let (mut shown, mut covered_normalized) = (0, 0);
                for _ in 0..runs {
                    let scores = ended_test(&sprt, &distribution, 2, &mut stream);
                    let estimates = Estimates::sequential(&scores, &sprt).unwrap();
                    let elo = estimates.difference.elo;
                    above += u32::from(elo.value > truth);
                    covered += u32::from(elo.low <= truth && truth <= elo.high);
                    bias += elo.value.min(1000.0) - truth;
                    let fixed = scores.estimate().unwrap().elo;
                    naive += u32::from(fixed.low <= truth && truth <= fixed.high);
                    naive_bias += fixed.value.min(1000.0) - truth;
                    sets += scores.sets();
                    if let Ok(elo) = estimates.normalized_elo {
                        shown += 1;
                        covered_normalized +=
                            u32::from(elo.low <= normalized_truth && normalized_truth <= elo.high);
                    }
                }
                let part = |count: u32, all: u32| f64::from(count) / f64::from(all.max(1));
                let (above, covered) = (part(above, runs), part(covered, runs));
                println!(
                    "{name}: {:.0} sets, {:.1}% too high, bias {:+.1} (fixed {:+.1}), {:.1}% covered (fixed {:.1}%), \
                     normalized {:.1}% of {shown}",
                    sets as f64 / f64::from(runs),
                    100.0 * above,
                    bias / f64::from(runs),
                    naive_bias / f64::from(runs),
                    100.0 * covered,
                    100.0 * part(naive, runs),
                    100.0 * part(covered_normalized, shown),
                );
                // Three standard errors and the known bias of tests of few sets.
                let error = |p: f64| 3.0 * (p * (1.0 - p) / f64::from(runs)).sqrt();
                let off = match (model, sets / u64::from(runs)) {
                    (_, 60..) => 0.02,
                    (Logistic, 35..) => 0.05,
                    _ => 0.1,
                };
                assert!((above - 0.5).abs() < error(0.5) + off, "{name}: {above} too high");
                // The coverage that the module documents.
                let (least, most) = match (model, sets / u64::from(runs)) {
                    (Normalized, _) => (0.93, 0.98),
                    (Logistic, 100..) => (0.93, 0.98),
                    (Logistic, 35..) => (0.93, 1.0),
                    (Logistic, _) => (0.90, 1.0),
                };
                let is_covered = covered > least - error(0.95) && covered < most + error(0.97);
                assert!(is_covered, "{name}: {covered}");
                if shown > runs / 2 {
                    let covered = part(covered_normalized, shown);
                    assert!(covered > least - error(0.95), "{name}: {covered} of normalized Elo");
                }
            }
        }
    }
}

/// The results of sets, by score, with their weights: all that are possible, with their probabilities, for single matches,
/// and else simulated ones.
fn results(
    sets: u64,
    distribution: &[f64],
    simulated: u32,
    stream: &mut RandomStream,
) -> Vec<(Vec<u64>, f64)> {
    let &[lost, drawn, won] = distribution else {
        let result = |_| {
            let mut scores = SetScores::new(distribution.len() as u32 / 2, 1);
            (0..sets).for_each(|_| add_set(&mut scores, distribution, stream));
            (scores.counts().to_vec(), f64::from(simulated).recip())
        };
        return (0..simulated).map(result).collect();
    };
    let log_factorial = |n: u64| (1..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let power = |p: f64, n: u64| if n == 0 { 0.0 } else { n as f64 * p.ln() - log_factorial(n) };
    let of = |l: u64, d: u64| {
        let counts = vec![l, d, sets - l - d];
        let log = power(lost, l) + power(drawn, d) + power(won, counts[2]);
        (counts, (log_factorial(sets) + log).exp())
    };
    (0..=sets).flat_map(|l| (0..=sets - l).map(move |d| of(l, d))).collect()
}

/// What the text of [`referee::tournament::estimates`] promises, rounded to percent.
#[test]
fn intervals_of_normalized_elo_cover_the_truth_in_93_to_97_percent_or_are_not_shown() {
    let is_long = runs(0, 1) == 1;
    let cases: &[(u32, &[u64])] = match is_long {
        false => &[(1, &[20]), (2, &[40])],
        true => &[(1, &[20, 25, 30, 40, 60, 100]), (2, &[20, 40, 150, 1000]), (3, &[20, 60])],
    };
    let (mut shown_of_all, mut covered_of_all) = (0.0, 0.0);
    for (legs, sets) in cases.iter().flat_map(|&(legs, all)| all.iter().map(move |&sets| (legs, sets))) {
        let mut intervals = HashMap::new();
        for (draws, tied) in
            [(0.0, 0.0), (0.05, 0.0), (0.4, 0.3), (0.6, 0.3), (0.8, 0.5), (0.9, 0.3), (0.95, 0.0)]
        {
            for truth in [0.0, 50.0, 100.0, 150.0, 200.0, 300.0, 400.0, 500.0] {
                // A simulation takes much longer than the sum over all results of single matches.
                let is_simulated = match is_long {
                    false => (draws, truth) == (0.4, 300.0),
                    true => {
                        [0.0, 0.4, 0.8, 0.95].contains(&draws) && [0.0, 150.0, 300.0, 500.0].contains(&truth)
                    }
                };
                if legs > 1 && !is_simulated {
                    continue;
                }
                let elo = with_normalized(truth, draws, tied, legs);
                let distribution = set_distribution(elo, draws, tied, legs);
                // The distribution is made in steps.
                let truth = normalized(&distribution, legs);
                let name = format!("{sets} sets of {legs}, {truth:.0} normalized Elo, {draws} draws");
                let simulated = runs(60, 400);
                let (mut shown, mut covered) = (0.0, 0.0);
                for (counts, weight) in results(sets, &distribution, simulated, &mut stream(&name)) {
                    // What hardly ever happens has no effect on a percentage.
                    if weight < 1e-9 {
                        continue;
                    }
                    let interval = *intervals.entry(counts).or_insert_with_key(|counts| {
                        let scores = SetScores::of(legs, counts.clone()).unwrap();
                        Estimates::fixed(&scores).unwrap().normalized_elo.ok().map(|elo| (elo.low, elo.high))
                    });
                    let Some((low, high)) = interval else { continue };
                    shown += weight;
                    covered += if low <= truth && truth <= high { weight } else { 0.0 };
                }
                (shown_of_all, covered_of_all) = (shown_of_all + shown, covered_of_all + covered);
                let part = covered / shown;
                println!("{name}: {:.0}% shown, {:.1}% of them cover the truth", 100.0 * shown, 100.0 * part);
                let error = match legs {
                    1 => 0.0,
                    _ => 3.0 * (0.05 * 0.95 / f64::from(simulated)).sqrt(),
                };
                let is_right = part > 0.925 - error && part < 0.975 + error;
                assert!(shown < 0.9 || is_right, "{name}: {part}");
            }
        }
    }
    let part = covered_of_all / shown_of_all;
    println!("normalized Elo: {:.2}% of all intervals cover the truth", 100.0 * part);
    assert!((0.93..=0.97).contains(&part), "{part}");
}

/// The range for which the module documents its error rates.
#[test]
fn error_rates_hold_over_the_documented_range() {
    use EloModel::{Logistic, Normalized};
    let runs = runs(400, 3000);
    let is_short = runs < 3000;
    for model in [Logistic, Normalized] {
        for (elo0, elo1) in
            [(0.0, 60.0), (0.0, 100.0), (-60.0, 0.0), (100.0, 150.0), (150.0, 250.0), (250.0, 350.0)]
        {
            for (draws, tied) in [(0.0, 0.0), (0.1, 0.3), (0.4, 0.3), (0.8, 0.5)] {
                for legs in [1, 2] {
                    if is_short && (model, elo0, draws, legs) != (Logistic, 150.0, 0.1, 2) {
                        continue;
                    }
                    let sprt = Sprt::new(elo0, elo1, ALPHA, ALPHA, model).unwrap();
                    let name = format!("{model:?} {elo0} to {elo1}, {draws} draws, {legs} matches");
                    let mut stream = stream(&name);
                    let rates =
                        [(elo0, Decision::AcceptH1), (elo1, Decision::AcceptH0)].map(|(elo, wrong)| {
                            let elo = match model {
                                Logistic => elo,
                                Normalized => with_normalized(elo, draws, tied, legs),
                            };
                            let distribution = set_distribution(elo, draws, tied, legs);
                            let (mut errors, mut sets) = (0, 0);
                            for _ in 0..runs {
                                let scores = ended_test(&sprt, &distribution, legs, &mut stream);
                                errors += u32::from(sprt.decide(sprt.llr(&scores)) == wrong);
                                sets += scores.sets();
                            }
                            (f64::from(errors) / f64::from(runs), sets as f64 / f64::from(runs))
                        });
                    let [(first, sets0), (second, sets1)] = rates;
                    println!(
                        "{name}: {:.1}% pass at H0 after {sets0:.0} sets, {:.1}% fail at H1 after {sets1:.0}",
                        100.0 * first,
                        100.0 * second
                    );
                    let error = 3.0 * (0.06 * 0.94 / f64::from(runs)).sqrt();
                    let most = MOST_ERRORS + error;
                    assert!(first < most && second < most, "{name}: {rates:?}");
                }
            }
        }
    }
}

/// The error rate that [`referee::tournament::sprt`] documents for alpha = beta = 5%.
const MOST_ERRORS: f64 = 0.062;

/// A simulated tournament of entrants with known strengths.
fn played(plan: Plan, elo: &[f64], advantage: f64, stream: &mut RandomStream) -> Vec<MatchResult> {
    let deals = plan.deals;
    let schedule = Schedule::new(plan).unwrap();
    let strength = |lineup: &Lineup, side: usize| {
        let members: Vec<f64> = lineup.side(side).map(|entrant| elo[entrant.index()]).collect();
        members.iter().sum::<f64>() / members.len() as f64
    };
    let mut results = Vec::new();
    for (set, number) in schedule.sets().iter().zip(1..) {
        let p = [0, 1].map(|leg| {
            let lineup = deals.leg(set.first, leg);
            expected(strength(&lineup, 0) - strength(&lineup, 1) + advantage)
        });
        let legs = mirrored_set(number, set.first, p, 0.4, stream);
        results.extend(legs.into_iter().take(deals.legs(set.first.seating())));
    }
    results
}

fn assert_covers(name: &str, plan: &Plan, elo: &[f64], runs: u32) {
    let mut stream = stream(name);
    let entrants = elo.len();
    let advantage = 35.0;
    let (mut covered, mut covered_advantage, mut covered_difference) = (0, 0, 0);
    let mut bias = vec![0.0; entrants];
    for _ in 0..runs {
        let results = played(plan.clone(), elo, advantage, &mut stream);
        let strengths = bradley_terry::fit(&bradley_terry::Counts::of(entrants, &results));
        for (index, (estimate, truth)) in strengths.elo.iter().zip(elo).enumerate() {
            covered += u32::from(estimate.low <= *truth && *truth <= estimate.high);
            bias[index] += (estimate.value - truth) / f64::from(runs);
        }
        let found = strengths.advantage[0];
        covered_advantage += u32::from(found.low <= advantage && advantage <= found.high);
        let difference = strengths.difference(Entrant(0), Entrant(1));
        covered_difference +=
            u32::from(difference.low <= elo[0] - elo[1] && elo[0] - elo[1] <= difference.high);
    }
    let part = |covered: u32, all: u32| f64::from(covered) / f64::from(all);
    let all = part(covered, runs * entrants as u32);
    let [of_advantage, of_difference] =
        [covered_advantage, covered_difference].map(|covered| part(covered, runs));
    println!(
        "{name}: {runs} tournaments, {:.2}% of the intervals cover the strength, {:.2}% the seat advantage, {:.2}% a \
         difference; greatest bias {:.2} Elo",
        100.0 * all,
        100.0 * of_advantage,
        100.0 * of_difference,
        bias.iter().fold(0.0f64, |most, bias| most.max(bias.abs()))
    );
    assert!((0.935..=0.965).contains(&all), "{all}");
    // Three standard errors of one interval per tournament.
    let error = 3.0 * (0.05 * 0.95 / f64::from(runs)).sqrt();
    for covered in [of_advantage, of_difference] {
        assert!((covered - 0.95).abs() < error, "{covered}");
    }
    assert!(bias.iter().all(|bias| bias.abs() < 3.0), "{bias:?}");
}

#[test]
fn elo_recovers_known_strengths_with_correct_coverage() {
    let elo = [180.0, 95.0, 40.0, 0.0, -35.0, -60.0, -100.0, -120.0];
    let round_robin = Plan::new(Format::RoundRobin { cycles: 12 }, TWO, Deals::Mirrored, elo.len());
    assert_covers("round robin, mirrored", &round_robin, &elo, 800);
    let single = Plan::new(Format::RoundRobin { cycles: 20 }, TWO, Deals::Single, elo.len());
    assert_covers("round robin, single", &single, &elo, 800);
}

#[test]
fn intervals_from_few_sets_are_conservative() {
    let elo = [60.0, 20.0, -10.0, -70.0];
    for cycles in 1..=3 {
        let plan = Plan::new(Format::RoundRobin { cycles }, TWO, Deals::Mirrored, elo.len());
        let mut stream = stream(&format!("few sets, {cycles}"));
        let (mut covered, runs) = (0, 500);
        for _ in 0..runs {
            let results = played(plan.clone(), &elo, 35.0, &mut stream);
            let strengths = bradley_terry::fit(&bradley_terry::Counts::of(elo.len(), &results));
            let found = strengths.elo.iter().zip(elo);
            covered += found.filter(|(found, truth)| found.low <= *truth && *truth <= found.high).count();
        }
        let part = covered as f64 / (runs * elo.len()) as f64;
        println!("{cycles} cycles of four: {:.2}% of the intervals cover the strength", 100.0 * part);
        assert!(part >= 0.93, "{cycles} cycles: {part}");
    }
}

#[test]
fn elo_of_rotating_partners_recovers_individual_strengths() {
    let elo = [150.0, 60.0, 0.0, -20.0, -70.0, -120.0];
    let partners = Plan::new(Format::Partners { cycles: 30 }, Seating::new(4, 2), Deals::Mirrored, elo.len());
    assert_covers("partners", &partners, &elo, 400);
}

#[test]
fn other_ratings_give_the_same_order() {
    let elo = [150.0, 50.0, -50.0, -150.0];
    let plan = Plan::new(Format::RoundRobin { cycles: 60 }, TWO, Deals::Mirrored, elo.len());
    let results = played(plan, &elo, 0.0, &mut stream("other ratings"));
    for ratings in [glicko2::rate(4, &results), weng_lin::rate(4, &results)] {
        let rated: Vec<_> = ratings.rows.iter().map(|row| row.estimate()).collect();
        assert!(rated.windows(2).all(|pair| pair[0].value > pair[1].value), "{rated:?}");
        assert!(rated[0].low > rated[3].high, "{rated:?}");
    }
}
