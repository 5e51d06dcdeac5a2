//! Ratings and tests of strength against simulated results whose truth is known.

use referee::core::chance::{Seed, Stream};
use referee::core::{Seat, SeatSet, Seating, Uniform};
use referee::tournament::rating::{bootstrap, bradley_terry, glicko2, weng_lin};
use referee::tournament::regression::{BASE, NEW, Regression, Terms, Verdict};
use referee::tournament::schedule::{Format, Plan, Schedule};
use referee::tournament::sprt::{EloModel, SetScores, Sprt};
use referee::tournament::{Deals, Entrant, Lineup, MatchResult};

const TWO: Seating = Seating::new(2, 2);

fn stream(name: &str) -> Stream {
    Seed([42; 32]).match_key("simulation", name, &["", ""]).stream()
}

/// From 0 to below 1.
fn unit(stream: &mut Stream) -> f64 {
    stream.uniform(1 << 53) as f64 / (1u64 << 53) as f64
}

fn expected(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// Ranks of two with an expected score of `p` for the first, from a number of [`unit`]; a part of the matches is drawn.
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

/// The two matches of a set: chance favours the first seat in both or in none, so that they depend on each other.
fn mirrored_set(set: u32, first: Lineup, p: [f64; 2], draws: f64, stream: &mut Stream) -> Vec<MatchResult> {
    let x = unit(stream);
    let y = if stream.uniform(2) == 0 { x } else { unit(stream) };
    [x, y]
        .into_iter()
        .enumerate()
        .map(|(leg, x)| MatchResult::played(set, Deals::Mirrored.leg(first, leg), &ranks(p[leg], draws, x)))
        .collect()
}

/// How a comparison of two bots is simulated.
#[derive(Clone, Copy)]
struct Scenario {
    /// What `new` is better by, its faults included.
    elo: f64,
    /// The parts of the matches in which `new` and `base` make a fault.
    faults: [f64; 2],
    /// Whether the faults of `base` are told. Else they are simply losses.
    are_told: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Outcomes {
    passed: u32,
    failed: u32,
    others: u32,
    sets: u64,
}

impl Outcomes {
    fn rate(count: u32) -> f64 {
        f64::from(count) / f64::from(RUNS)
    }
}

const RUNS: u32 = 3000;
const ALPHA: f64 = 0.05;

/// Three standard errors above a rate of 5%.
fn most() -> f64 {
    ALPHA + 3.0 * (ALPHA * (1.0 - ALPHA) / f64::from(RUNS)).sqrt()
}

fn simulate(name: &str, sprt: Sprt, scenario: Scenario) -> Outcomes {
    let mut stream = stream(name);
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    // The strength by play that gives the wanted expected score together with the matches that faults lose.
    let by_play = expected(scenario.elo) / (1.0 - scenario.faults[0]);
    let mut outcomes = Outcomes::default();
    for _ in 0..RUNS {
        // The limit is far above the simulated rates: here it is to be seen what the faults do to the test.
        let terms = Terms { max_fault_rate: 0.2, ..Terms::new(Some(sprt), 20_000) };
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
        "{name}: {RUNS} tests, H1 {:.2}%, H0 {:.2}%, neither {:.2}%, {:.0} sets on average",
        100.0 * Outcomes::rate(outcomes.passed),
        100.0 * Outcomes::rate(outcomes.failed),
        100.0 * Outcomes::rate(outcomes.others),
        outcomes.sets as f64 / f64::from(RUNS)
    );
    outcomes
}

const NO_FAULTS: Scenario = Scenario { elo: 0.0, faults: [0.0, 0.0], are_told: true };

fn logistic() -> Sprt {
    Sprt::new(0.0, 25.0, ALPHA, ALPHA, EloModel::Logistic).unwrap()
}

#[test]
fn the_sequential_test_errs_as_rarely_as_promised() {
    let null = simulate("null", logistic(), NO_FAULTS);
    assert!(Outcomes::rate(null.passed) <= most(), "{null:?}");
    let alternative = simulate("alternative", logistic(), Scenario { elo: 25.0, ..NO_FAULTS });
    assert!(Outcomes::rate(alternative.failed) <= most(), "{alternative:?}");
    assert_eq!(null.others + alternative.others, 0);
}

#[test]
fn the_sequential_test_errs_as_rarely_as_promised_when_both_bots_make_faults() {
    let faults = [0.02, 0.02];
    let null = simulate("null with faults", logistic(), Scenario { faults, ..NO_FAULTS });
    assert!(Outcomes::rate(null.passed) <= most(), "{null:?}");
    let alternative =
        simulate("alternative with faults", logistic(), Scenario { elo: 25.0, faults, ..NO_FAULTS });
    assert!(Outcomes::rate(alternative.failed) <= most(), "{alternative:?}");
}

#[test]
fn crashes_of_the_base_do_not_pass_for_strength() {
    let faults = [0.0, 0.1];
    let told = simulate("base crashes", logistic(), Scenario { faults, ..NO_FAULTS });
    assert!(Outcomes::rate(told.passed) <= most(), "{told:?}");
    let untold = Scenario { faults, are_told: false, ..NO_FAULTS };
    let naive = simulate("base crashes, counted as losses", logistic(), untold);
    assert!(Outcomes::rate(naive.passed) > 0.3, "the rule is needed: {naive:?}");
}

#[test]
fn the_test_in_normalized_elo_errs_as_rarely_as_promised() {
    // With 40% draws and legs that depend on each other the deviation of a set is known from many sets.
    let mut scores = SetScores::new(2, 1);
    let mut stream = stream("normalized");
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    let p = expected(40.0);
    for set in 0..200_000 {
        let legs = mirrored_set(set, first, [p, 1.0 - p], 0.4, &mut stream);
        scores.add(legs.iter().filter_map(|leg| leg.score(NEW)).sum::<f64>() / 2.0);
    }
    let elo = scores.estimate().unwrap().normalized_elo.unwrap().value;
    let sprt = Sprt::new(0.0, elo, ALPHA, ALPHA, EloModel::Normalized).unwrap();
    let null = simulate("normalized, null", sprt, NO_FAULTS);
    assert!(Outcomes::rate(null.passed) <= most(), "{null:?}");
    let alternative = simulate("normalized, alternative", sprt, Scenario { elo: 40.0, ..NO_FAULTS });
    assert!(Outcomes::rate(alternative.failed) <= most(), "{alternative:?}");
}

/// Ranks of three sides by lot: each is next with a chance proportional to its strength, so that each two compare as by
/// Elo.
fn three_ranks(elo: [f64; 3], stream: &mut Stream) -> [u8; 3] {
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
fn with_three_teams_the_test_errs_as_rarely_as_promised_too() {
    let seating = Seating::new(6, 3);
    let sprt = Sprt::new(0.0, 60.0, ALPHA, ALPHA, EloModel::Logistic).unwrap();
    let schedule =
        Schedule::new(Plan::new(Format::Duel { sets: 4000 }, seating, Deals::Mirrored, 2)).unwrap();
    let mut stream = stream("three teams");
    for (name, elo) in [("three teams, null", 0.0), ("three teams, alternative", 60.0)] {
        let (mut wrong, mut sets) = (0, 0);
        for _ in 0..RUNS {
            let mut run = Regression::new(Terms::new(Some(sprt), 4000), seating, Deals::Mirrored).unwrap();
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
            100.0 * Outcomes::rate(wrong),
            sets / RUNS
        );
        assert!(Outcomes::rate(wrong) <= most(), "{name}: {wrong} of {RUNS} wrong");
    }
}

#[test]
fn intervals_of_a_run_of_fixed_length_cover_the_truth_in_95_percent() {
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

/// A tournament of entrants with known strengths, played out.
fn played(plan: Plan, elo: &[f64], advantage: f64, stream: &mut Stream) -> Vec<MatchResult> {
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
    // Three standard errors of one interval a tournament.
    let error = 3.0 * (0.05 * 0.95 / f64::from(runs)).sqrt();
    for covered in [of_advantage, of_difference] {
        assert!((covered - 0.95).abs() < error, "{covered}");
    }
    assert!(bias.iter().all(|bias| bias.abs() < 3.0), "{bias:?}");
}

#[test]
fn elo_recovers_known_strengths_and_its_intervals_cover_them_at_their_rate() {
    let elo = [180.0, 95.0, 40.0, 0.0, -35.0, -60.0, -100.0, -120.0];
    let round_robin = Plan::new(Format::RoundRobin { cycles: 12 }, TWO, Deals::Mirrored, elo.len());
    assert_covers("round robin, mirrored", &round_robin, &elo, 800);
    let single = Plan::new(Format::RoundRobin { cycles: 20 }, TWO, Deals::Single, elo.len());
    assert_covers("round robin, single", &single, &elo, 800);
}

#[test]
fn intervals_from_few_sets_are_rather_too_wide_than_too_narrow() {
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
fn elo_of_free_partners_recovers_the_strength_of_each() {
    let elo = [150.0, 60.0, 0.0, -20.0, -70.0, -120.0];
    let partners = Plan::new(Format::Partners { cycles: 30 }, Seating::new(4, 2), Deals::Mirrored, elo.len());
    assert_covers("partners", &partners, &elo, 400);
}

#[test]
fn bootstrap_intervals_are_as_wide_as_those_of_the_fit_and_other_ratings_order_alike() {
    let elo = [150.0, 50.0, -50.0, -150.0];
    let plan = Plan::new(Format::RoundRobin { cycles: 60 }, TWO, Deals::Mirrored, elo.len());
    let results = played(plan, &elo, 0.0, &mut stream("bootstrap"));
    let rate = |results: &[MatchResult]| -> Vec<f64> {
        let strengths = bradley_terry::fit(&bradley_terry::Counts::of(4, results));
        strengths.elo.iter().map(|elo| elo.value).collect()
    };
    let drawn = bootstrap::intervals(&results, 400, &mut stream("draws"), rate);
    let fitted = bradley_terry::fit(&bradley_terry::Counts::of(4, &results));
    for (drawn, fitted) in drawn.iter().zip(&fitted.elo) {
        let ratio = (drawn.high - drawn.low) / (fitted.high - fitted.low);
        assert!((0.8..1.25).contains(&ratio), "{drawn:?} {fitted:?}");
        assert!(drawn.low < drawn.value && drawn.value < drawn.high);
    }
    for rate in [
        |results: &[MatchResult]| glicko2::rate(4, results).values(),
        |results: &[MatchResult]| weng_lin::rate(4, results).values(),
    ] {
        let rated = bootstrap::intervals(&results, 100, &mut stream("other draws"), rate);
        assert!(rated.windows(2).all(|pair| pair[0].value > pair[1].value), "{rated:?}");
        assert!(rated[0].low > rated[3].high, "{rated:?}");
    }
}
