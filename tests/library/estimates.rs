//! Estimates and intervals after strength tests of simulated bots.

use std::collections::HashMap;

use crate::simulation::{
    ALPHA, TWO, add_set, ended_test, expected, mirrored_set, normalized, runs, set_distribution, stream,
    with_normalized,
};
use referee::game::chance::RandomStream;
use referee::stats::Lineup;
use referee::stats::estimates::{Caution, Estimates, LEAST_SEQUENTIAL_SETS};
use referee::stats::regression::{BASE, NEW};
use referee::stats::sprt::{EloModel, SetScores, Sprt};

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
    let mut failures = Vec::new();
    for &(model, elo0, elo1) in cases {
        let (middle, width) = (0.5 * (elo0 + elo1), elo1 - elo0);
        for (draws, tied) in [(0.4, 0.5), (0.05, 0.0), (0.8, 0.3)] {
            for truth in [elo0 - 0.5 * width, elo0, middle, elo1, elo1 + width, 200.0] {
                // The case in which the ratio depends most on the estimated variance, and many sets are
                // drawn.
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
                let (mut near, mut clearly_above, mut cautioned) = (0, 0, 0);
                for _ in 0..runs {
                    let scores = ended_test(&sprt, &distribution, 2, &mut stream);
                    let estimates = Estimates::sequential(&scores, &sprt).unwrap();
                    let elo = estimates.difference.elo;
                    above += u32::from(elo.value > truth);
                    // The mean score is a multiple of 1 / 4N: no estimate can be nearer to all truths than half of that.
                    let off = estimates.difference.score.value - mean;
                    let is_near = off.abs() < 0.125 / scores.sets() as f64;
                    near += u32::from(is_near);
                    clearly_above += u32::from(!is_near && off > 0.0);
                    cautioned += u32::from(estimates.caution == Some(Caution::FewSets));
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
                    (Logistic, ..35) => 0.1,
                    _ => 0.05,
                };
                // Fewer than seven sets have so few possible scores that an estimate within half a step of the truth
                // counts for both sides.
                let has_few_scores = sets < 7 * u64::from(runs);
                let above =
                    if has_few_scores { part(clearly_above, runs) + 0.5 * part(near, runs) } else { above };
                if sets < LEAST_SEQUENTIAL_SETS * u64::from(runs) && cautioned < runs / 2 {
                    failures.push(format!("{name}: {cautioned} of {runs} with a caution"));
                }
                if (above - 0.5).abs() >= error(0.5) + off {
                    failures.push(format!("{name}: {above} too high"));
                }
                // The coverage that the module documents.
                let (least, most) = match (model, sets / u64::from(runs)) {
                    (Normalized, _) => (0.93, 0.98),
                    (Logistic, 100..) => (0.93, 0.98),
                    (Logistic, 35..) => (0.93, 1.0),
                    (Logistic, _) => (0.90, 1.0),
                };
                let is_covered = covered > least - error(0.95) && covered < most + error(0.97);
                if !is_covered {
                    failures.push(format!("{name}: {covered} covered"));
                }
                let covered = part(covered_normalized, shown);
                if shown > runs / 2 && covered <= least - error(0.95) {
                    failures.push(format!("{name}: {covered} of normalized Elo covered"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Of the sets of the default test most are even, and few are lost or won.
#[test]
fn estimates_of_similar_sets_have_wide_intervals_or_caution() {
    let sprt = Sprt::new(-50.0, 0.0, ALPHA, ALPHA, EloModel::Normalized).unwrap();
    let runs = runs(60, 1000);
    for (lost, won) in [(0.04, 0.0), (0.02, 0.02), (0.02, 0.0), (0.1, 0.0), (0.07, 0.05), (0.1, 0.1)] {
        let distribution = [lost, 0.0, 1.0 - lost - won, 0.0, won];
        let mean = 0.5 + 0.5 * (won - lost);
        let mut stream = stream(&format!("few differ, {lost} and {won}"));
        let (mut covered, mut above, mut cautioned, mut above_without, mut sets) = (0, 0, 0, 0, 0);
        for _ in 0..runs {
            let scores = ended_test(&sprt, &distribution, 2, &mut stream);
            let estimates = Estimates::sequential(&scores, &sprt).unwrap();
            let score = estimates.difference.score;
            covered += u32::from(score.low <= mean && mean <= score.high);
            above += u32::from(score.value > mean);
            match estimates.caution {
                Some(_) => cautioned += 1,
                None => above_without += u32::from(score.value > mean),
            }
            sets += scores.sets();
        }
        let part = |count: u32, all: u32| 100.0 * f64::from(count) / f64::from(all.max(1));
        println!(
            "{:.0}% lost, {:.0}% won: {} sets, {:.1}% covered, {:.1}% too high, {:.1}% with a caution; without one {:.1}% too \
             high",
            100.0 * lost,
            100.0 * won,
            sets / u64::from(runs),
            part(covered, runs),
            part(above, runs),
            part(cautioned, runs),
            part(above_without, runs - cautioned)
        );
        let error = 300.0 * (0.05 * 0.95 / f64::from(runs)).sqrt();
        assert!(part(covered, runs) > 93.0 - error, "{lost} and {won}: {covered} of {runs}");
        let is_biased = (part(above, runs) - 50.0).abs() > 12.0 + 3.0 * error;
        assert!(!is_biased || cautioned > runs / 2, "{lost} and {won}: {above} of {runs}, {cautioned}");
    }
}

#[test]
fn many_draws_do_not_turn_the_sequential_correction_round() {
    let sprt = Sprt::new(0.0, 30.0, ALPHA, ALPHA, EloModel::Normalized).unwrap();
    let distribution = set_distribution(60.0, 0.8, 0.3, 2);
    let mut stream = stream("many draws");
    let runs = 400;
    let [mut fixed, mut sequential] = [0.0; 2];
    for _ in 0..runs {
        let scores = ended_test(&sprt, &distribution, 2, &mut stream);
        fixed += scores.estimate().unwrap().elo.value / f64::from(runs);
        sequential += Estimates::sequential(&scores, &sprt).unwrap().difference.elo.value / f64::from(runs);
    }
    println!("60 Elo: {fixed:.1} on average as if the length was fixed, {sequential:.1} corrected");
    assert!(sequential < fixed - 0.5, "{sequential} of {fixed}");
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

/// All results of few single matches, with their probabilities.
#[test]
fn intervals_of_few_sets_cover_truth_in_93_percent() {
    for sets in [5, 10, 20] {
        for draws in [0.0, 0.05, 0.4, 0.8] {
            for truth in [0.0, 100.0, 200.0, 418.0, 600.0] {
                let distribution = set_distribution(truth, draws, 0.0, 1);
                let mean = 0.5 * distribution[1] + distribution[2];
                let covered: f64 = results(sets, &distribution, 0, &mut stream("few"))
                    .into_iter()
                    .filter(|(counts, weight)| {
                        let score = SetScores::of(1, counts.clone()).unwrap().estimate().unwrap().score;
                        *weight > 1e-9 && score.low <= mean && mean <= score.high
                    })
                    .map(|(_, weight)| weight)
                    .sum();
                println!("{sets} sets, {truth} Elo, {draws} draws: {:.1}% covered", 100.0 * covered);
                assert!(covered > 0.93, "{sets} sets, {truth} Elo, {draws} draws: {covered}");
            }
        }
    }
}

/// The promise of [`referee::stats::estimates`], rounded to percent.
#[test]
fn intervals_of_normalized_elo_cover_truth_or_are_hidden() {
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
                    // Improbable outcomes have no effect on a percentage.
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
