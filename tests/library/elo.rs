//! Ratings of simulated bots whose strengths are known.

use crate::simulation::{TWO, expected, is_long, mirrored_set, normal, runs, stream};
use referee::game::Seating;
use referee::game::chance::RandomStream;
use referee::stats::rating::{bradley_terry, weng_lin};
use referee::stats::schedule::{Format, Plan, Schedule};
use referee::stats::{Deals, Entrant, Lineup, MatchResult};

/// A simulated tournament of entrants with known strengths.
fn played(schedule: &Schedule, elo: &[f64], advantage: f64, stream: &mut RandomStream) -> Vec<MatchResult> {
    let deals = schedule.plan().deals;
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

/// Strengths of a normal distribution with this deviation, relative to their mean.
fn drawn(deviation: f64, entrants: usize, stream: &mut RandomStream) -> Vec<f64> {
    let mut elo: Vec<f64> = (0..entrants).map(|_| deviation * normal(stream)).collect();
    let mean = elo.iter().sum::<f64>() / entrants as f64;
    elo.iter_mut().for_each(|x| *x -= mean);
    elo
}

/// `length`: the number of tournaments in a short and in a long run of the tests.
fn assert_covers(name: &str, plan: &Plan, deviation: f64, length: (u32, u32)) {
    let runs = runs(length.0, length.1);
    let mut stream = stream(name);
    let entrants = plan.entrants.len();
    let advantage = 35.0;
    let (mut covered, mut covered_advantage, mut covered_difference) = (0, 0, 0);
    let (mut of_both, mut of_found) = (0.0, 0.0);
    let schedule = Schedule::new(plan.clone()).unwrap();
    for _ in 0..runs {
        let elo = drawn(deviation, entrants, &mut stream);
        let results = played(&schedule, &elo, advantage, &mut stream);
        let strengths = bradley_terry::fit(&bradley_terry::Counts::of(entrants, &results));
        for (estimate, truth) in strengths.elo.iter().zip(&elo) {
            covered += u32::from(estimate.low <= *truth && *truth <= estimate.high);
            of_both += truth * estimate.value;
            of_found += estimate.value * estimate.value;
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
    // The ratio of true to estimated differences.
    let slope = of_both / of_found;
    println!(
        "{name}: {runs} tournaments, {:.2}% of the intervals cover the strength, {:.2}% the seat advantage, {:.2}% a \
         difference; slope {slope:.3}",
        100.0 * all,
        100.0 * of_advantage,
        100.0 * of_difference,
    );
    // Three standard errors, with entrants of a tournament taken for half as many.
    let error = |of: u32| 3.0 * (0.05 * 0.95 / f64::from(of)).sqrt();
    assert!((all - 0.95).abs() < 0.005 + error(runs * entrants as u32 / 2), "{all}");
    for covered in [of_advantage, of_difference] {
        assert!((covered - 0.95).abs() < 0.01 + error(runs), "{covered}");
    }
    let most = if is_long() { 0.04 } else { 0.1 };
    assert!((slope - 1.0).abs() < most, "{slope}");
}

#[test]
fn elo_recovers_known_strengths_with_correct_coverage() {
    let round_robin = Plan::new(Format::RoundRobin { cycles: 12 }, TWO, Deals::Mirrored, 8);
    assert_covers("round robin, mirrored", &round_robin, 100.0, (20, 800));
    let single = Plan::new(Format::RoundRobin { cycles: 20 }, TWO, Deals::Single, 8);
    assert_covers("round robin, single", &single, 100.0, (20, 800));
}

#[test]
fn intervals_from_few_sets_have_their_coverage() {
    for cycles in 1..=3 {
        let plan = Plan::new(Format::RoundRobin { cycles }, TWO, Deals::Mirrored, 4);
        let mut stream = stream(&format!("few sets, {cycles}"));
        let (mut covered, runs) = (0, runs(60, 1000) as usize);
        let schedule = Schedule::new(plan).unwrap();
        for _ in 0..runs {
            let elo = drawn(55.0, 4, &mut stream);
            let results = played(&schedule, &elo, 35.0, &mut stream);
            let strengths = bradley_terry::fit(&bradley_terry::Counts::of(4, &results));
            let found = strengths.elo.iter().zip(elo);
            covered += found.filter(|(found, truth)| found.low <= *truth && *truth <= found.high).count();
        }
        let part = covered as f64 / (runs * 4) as f64;
        println!("{cycles} cycles of four: {:.2}% of the intervals cover the strength", 100.0 * part);
        assert!(part >= 0.93, "{cycles} cycles: {part}");
    }
}

#[test]
fn elo_of_rotating_partners_recovers_individual_strengths() {
    let partners = Plan::new(Format::Partners { cycles: 30 }, Seating::new(4, 2), Deals::Mirrored, 6);
    assert_covers("partners", &partners, 100.0, (20, 400));
}

#[test]
fn weng_lin_gives_the_same_order() {
    let elo = [150.0, 50.0, -50.0, -150.0];
    let plan = Plan::new(Format::RoundRobin { cycles: 60 }, TWO, Deals::Mirrored, elo.len());
    let results = played(&Schedule::new(plan).unwrap(), &elo, 0.0, &mut stream("other ratings"));
    let rated: Vec<_> = weng_lin::rate(4, &results).rows.iter().map(|row| row.estimate()).collect();
    assert!(rated.windows(2).all(|pair| pair[0].value > pair[1].value), "{rated:?}");
    assert!(rated[0].low > rated[3].high, "{rated:?}");
}
