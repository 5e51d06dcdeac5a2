//! Mean amounts: how often their intervals contain the mean of simulated amounts.

use std::collections::BTreeMap;

use referee::game::Uniform;
use referee::game::chance::RandomStream;
use referee::stats::amounts::{AmountSample, FEWEST_SETS};
use referee::stats::schedule::{Format, Plan, RankBy, Schedule};
use referee::stats::{Deals, Entrant, MatchResult, SideAmounts};

use crate::simulation::{TWO, normal, runs, stream, unit};

/// A distribution of the amounts of sets: its name, its mean, and how to draw from it.
struct Amounts {
    name: &'static str,
    mean: f64,
    draw: fn(&mut RandomStream) -> f64,
}

const KINDS: [Amounts; 5] = [
    Amounts { name: "normally distributed", mean: 3.0, draw: |stream| 3.0 + 10.0 * normal(stream) },
    // Of the four pairs of first moves, two have showdowns of mean 0, and `bet`, `pass` wins 1 in a quarter. `pass`, `bet` and
    // then `pass` loses 1 in an eighth.
    Amounts { name: "a hand of Kuhn poker between two random players", mean: 0.125, draw: kuhn_hand },
    Amounts {
        name: "an agreement on 5 of 10 in one of five",
        mean: 1.0,
        draw: |stream| if unit(stream) < 0.2 { 5.0 } else { 0.0 },
    },
    Amounts {
        name: "one small blind, and a stack of 100 in one of twenty",
        mean: 0.0,
        draw: |stream| {
            let size = if unit(stream) < 0.05 { 100.0 } else { 1.0 };
            if unit(stream) < 0.5 { size } else { -size }
        },
    },
    Amounts {
        name: "+1 in 99 of 100, -99 in one",
        mean: 0.0,
        draw: |stream| if unit(stream) < 0.01 { -99.0 } else { 1.0 },
    },
];

/// The winnings in a hand of the first of two players that move at random.
fn kuhn_hand(stream: &mut RandomStream) -> f64 {
    let bets = |stream: &mut RandomStream| stream.uniform(2) == 0;
    let is_higher = stream.uniform(2) == 0;
    let showdown = |chips: f64| if is_higher { chips } else { -chips };
    match (bets(stream), bets(stream)) {
        (true, true) => showdown(2.0),
        (true, false) => 1.0,
        (false, false) => showdown(1.0),
        (false, true) if bets(stream) => showdown(2.0),
        (false, true) => -1.0,
    }
}

/// The share of samples of so many sets that have an interval, and of those the share whose interval contains the mean.
fn coverage(kind: &Amounts, sets: u64) -> [f64; 2] {
    let mut stream = stream(&format!("{} {sets}", kind.name));
    let (runs, mut shown, mut hits) = (runs(400, 4000), 0, 0);
    for _ in 0..runs {
        let mut sample = AmountSample::default();
        (0..sets).for_each(|_| sample.add((kind.draw)(&mut stream)));
        if let Some((low, high)) = sample.mean().and_then(|mean| mean.low.zip(mean.high)) {
            shown += 1;
            hits += u32::from((low..=high).contains(&kind.mean));
        }
    }
    [f64::from(shown) / f64::from(runs), f64::from(hits) / f64::from(shown)]
}

#[test]
fn intervals_of_mean_amounts_contain_mean_as_often_as_stated() {
    let least = [
        [0.91; 4],
        [0.90, 0.91, 0.91, 0.92],
        [0.80, 0.91, 0.91, 0.92],
        [0.0, 0.0, 0.0, 0.90],
        [0.0, 0.0, 0.0, 0.88],
    ];
    for (kind, least) in KINDS.iter().zip(least) {
        for (sets, least) in [FEWEST_SETS, 30, 100, 1000].into_iter().zip(least) {
            let [shown, hit] = coverage(kind, sets);
            println!("| {} | {sets} | {:.1}% | {:.1}% |", kind.name, 100.0 * shown, 100.0 * hit);
            assert!(hit >= least, "{}, {sets} sets: {hit}", kind.name);
        }
    }
}

#[test]
fn few_sets_and_equal_sets_have_no_interval() {
    let mut sample = AmountSample::default();
    assert_eq!(sample.mean(), None);
    for sets in 1..2 * FEWEST_SETS {
        sample.add(2.0);
        let mean = sample.mean().unwrap();
        assert_eq!((mean.sets, mean.mean, mean.low.or(mean.high)), (sets, 2.0, None));
    }
    sample.add(3.0);
    assert!(sample.mean().unwrap().low.is_some());
}

#[test]
fn a_mean_amount_is_that_of_all_amounts_at_once() {
    let mut stream = stream("mean amounts");
    for sets in FEWEST_SETS..60 {
        let amounts: Vec<f64> = (0..sets).map(|_| 1e6 + 5.0 * normal(&mut stream)).collect();
        let mut sample = AmountSample::default();
        amounts.iter().for_each(|&amount| sample.add(amount));
        let mean = amounts.iter().sum::<f64>() / sets as f64;
        let variance = amounts.iter().map(|amount| (amount - mean).powi(2)).sum::<f64>() / (sets - 1) as f64;
        let found = sample.mean().unwrap();
        assert!((found.mean - mean).abs() < 1e-6);
        // Of Student's distribution with 9 to 58 degrees of freedom.
        let quantile = (found.high.unwrap() - mean) / (variance / sets as f64).sqrt();
        assert!((2.0..2.2625).contains(&quantile), "{sets}: {quantile}");
    }
}

#[test]
fn standings_by_amounts_are_those_of_complete_sets() {
    let mut stream = stream("standings by amounts");
    for played in 0..=36 {
        let mut plan = Plan::new(Format::RoundRobin { cycles: 3 }, TWO, Deals::Mirrored, 4);
        plan.rank_by = RankBy::Amounts;
        let mut schedule = Schedule::new(plan).unwrap();
        // By set: the amounts of each entrant.
        let mut sets: BTreeMap<u32, Vec<(Entrant, f64)>> = BTreeMap::new();
        for _ in 0..played {
            let due = schedule.due().next().unwrap();
            let amount = stream.uniform(41) as f64 - 20.0;
            // The ranks say the opposite.
            let ranks = if amount > 0.0 { [2, 1] } else { [1, 2] };
            for (entrant, amount) in due.lineup.seats().iter().zip([amount, -amount]) {
                sets.entry(due.set).or_default().push((*entrant, amount));
            }
            let amounts = Some(SideAmounts::of_seats(&[amount, -amount]));
            let result = MatchResult { amounts, ..MatchResult::played(due.set, due.lineup, &ranks) };
            schedule.record(due.id.number, result).unwrap();
        }
        let complete = || sets.values().filter(|amounts| amounts.len() == 4);
        let mean = |entrant: Entrant| {
            let of_sets: Vec<f64> = complete()
                .filter(|amounts| amounts.iter().any(|&(of, _)| of == entrant))
                .map(|amounts| amounts.iter().filter(|&&(of, _)| of == entrant).map(|of| of.1 / 2.0).sum())
                .collect();
            (!of_sets.is_empty()).then(|| of_sets.iter().sum::<f64>() / of_sets.len() as f64)
        };
        let standings = schedule.standings();
        for row in &standings.rows {
            let found = row.amount.map(|amount| amount.mean);
            let is_same = match (found, mean(row.entrant)) {
                (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
                (found, expected) => found == expected,
            };
            assert!(is_same, "{played} matches, {:?}: {found:?}", row.entrant);
        }
        let means = standings.rows.iter().map(|row| row.amount.map_or(f64::NEG_INFINITY, |of| of.mean));
        assert!(means.is_sorted_by(|one, other| *one >= *other - 1e-9), "{played} matches");
    }
}
