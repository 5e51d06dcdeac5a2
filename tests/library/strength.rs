//! The error rates of strength tests with simulated bots.

use crate::simulation::{
    ALPHA, TWO, ended_test, expected, is_long, mirrored_set, most, runs, set_distribution, stream, unit,
    with_normalized,
};
use referee::game::chance::RandomStream;
use referee::game::{Seat, SeatSet, Seating};
use referee::stats::estimates::Estimates;
use referee::stats::regression::{BASE, NEW, Regression, StoppingRules, Verdict};
use referee::stats::schedule::{Format, Plan, Schedule};
use referee::stats::sprt::{EloModel, SetScores, Sprt, TestState};
use referee::stats::{Deals, Lineup, MatchResult};

/// A simulated comparison of two bots.
#[derive(Clone, Copy)]
struct Scenario {
    /// The strength advantage of `new`, including its faults.
    elo: f64,
    /// The fault rates of `new` and `base`.
    faults: [f64; 2],
    /// The share of its wins that `base` loses by a fault.
    of_wins: f64,
    /// Whether the faults of `base` are reported as such. Otherwise they are losses.
    are_told: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Outcomes {
    passed: u32,
    /// Including those that pass only without the faults of the base.
    failed: u32,
    others: u32,
    /// Runs that the test without the dropped sets would pass.
    passed_without_dropped: u32,
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

fn simulate(name: &str, sprt: Sprt, scenario: Scenario) -> Outcomes {
    // The likelihood of normalized Elo takes many times longer.
    let runs = runs(if sprt.model() == EloModel::Normalized { 200 } else { 400 }, RUNS);
    let mut stream = stream(name);
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    // The strength by play that, with the matches lost by faults, gives the intended expected score.
    let by_play = expected(scenario.elo) / (1.0 - scenario.faults[0]);
    let mut outcomes = Outcomes { runs, ..Outcomes::default() };
    for _ in 0..runs {
        // The limit is far above the simulated rates, to show the effect of faults on the test.
        let terms = StoppingRules { max_fault_rate: 0.2, ..StoppingRules::new(Some(sprt), 20_000) };
        let mut run = Regression::new(terms, TWO, Deals::Mirrored).unwrap();
        let mut without_dropped = None;
        for set in 1.. {
            let mut legs = mirrored_set(set, first, [by_play, 1.0 - by_play], 0.4, &mut stream);
            for leg in &mut legs {
                let x = unit(&mut stream);
                let is_of_wins = leg.score(BASE) == Some(1.0) && unit(&mut stream) < scenario.of_wins;
                let at_fault = match () {
                    () if x < scenario.faults[0] => NEW,
                    () if x < scenario.faults[0] + scenario.faults[1] || is_of_wins => BASE,
                    () => continue,
                };
                let seats = leg.lineup.seats_of(at_fault);
                let loser = seats.iter().next().map_or(0, Seat::index);
                leg.places[loser] = 2;
                leg.places[1 - loser] = 1;
                leg.faulted = if at_fault == BASE && !scenario.are_told { SeatSet::EMPTY } else { seats };
            }
            let llr = run.add(set, legs, None)[0].llr.unwrap();
            let state = sprt.decide(llr);
            without_dropped = without_dropped.or(Some(state).filter(|&state| state != TestState::Continue));
            if let Some(verdict) = run.verdict() {
                outcomes.passed_without_dropped += u32::from(without_dropped == Some(TestState::AcceptH1));
                match verdict {
                    Verdict::Passed => outcomes.passed += 1,
                    Verdict::Failed | Verdict::OnlyWithoutFaults => outcomes.failed += 1,
                    _ => outcomes.others += 1,
                }
                outcomes.sets += u64::from(run.tally().sets);
                break;
            }
        }
    }
    println!(
        "{name}: {runs} tests, H1 {:.2}% ({:.2}% without dropped sets), H0 {:.2}%, neither {:.2}%, {:.0} sets on average",
        100.0 * outcomes.rate(outcomes.passed),
        100.0 * outcomes.rate(outcomes.passed_without_dropped),
        100.0 * outcomes.rate(outcomes.failed),
        100.0 * outcomes.rate(outcomes.others),
        outcomes.sets as f64 / f64::from(runs)
    );
    outcomes
}

const NO_FAULTS: Scenario = Scenario { elo: 0.0, faults: [0.0, 0.0], of_wins: 0.0, are_told: true };

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
    // As many faults as the default limit allows.
    let faults = [0.005, 0.005];
    let alternative =
        simulate("alternative with faults", logistic(), Scenario { elo: 25.0, faults, ..NO_FAULTS });
    // The dropped sets count as wins of the base, which is worth 1.7 Elo of 25.
    assert!(alternative.rate(alternative.failed) <= alternative.most() + 0.03, "{alternative:?}");
}

#[test]
fn crashes_of_the_base_do_not_look_like_strength() {
    let faults = [0.0, 0.1];
    let simulated = simulate("base crashes", logistic(), Scenario { faults, ..NO_FAULTS });
    assert!(simulated.rate(simulated.passed) <= simulated.most(), "{simulated:?}");
    let untold = Scenario { faults, are_told: false, ..NO_FAULTS };
    let naive = simulate("base crashes, counted as losses", logistic(), untold);
    assert!(naive.rate(naive.passed) > 0.3, "the rule is needed: {naive:?}");
}

#[test]
fn faults_of_base_in_wins_pass_no_weaker_versions() {
    use EloModel::{Logistic, Normalized};
    // Both are disturbed by faults to the same degree, and the first takes fewer sets.
    let tests: &[(EloModel, f64, f64)] = if is_long() {
        &[(Logistic, -20.0, 0.04), (Normalized, -10.0, 0.016)]
    } else {
        &[(Logistic, -20.0, 0.04)]
    };
    for &(model, elo0, share) in tests {
        let sprt = Sprt::new(elo0, 0.0, ALPHA, ALPHA, model).unwrap();
        // In this simulation half of the sets are tied.
        let weaker = if model == Logistic { elo0 } else { with_normalized(elo0, 0.4, 0.5, 2) };
        let of_wins = Scenario { of_wins: share, ..NO_FAULTS };
        let name = |what: &str| format!("{what}, [{elo0}, 0], {:.1}% of the wins of the base", 100.0 * share);
        let null = simulate(&name("weaker"), sprt, Scenario { elo: weaker, ..of_wins });
        assert!(null.rate(null.passed) <= null.most(), "{null:?}");
        assert!(null.rate(null.passed_without_dropped) > null.most(), "the rule is needed: {null:?}");
        let equal = simulate(&name("equal"), sprt, of_wins);
        assert!(equal.rate(equal.failed) <= equal.most(), "{equal:?}");
        let alike = Scenario { faults: [0.0, share / 2.0], ..NO_FAULTS };
        let null = simulate(&name("weaker, in all alike"), sprt, Scenario { elo: weaker, ..alike });
        assert!(null.rate(null.passed) <= null.most(), "{null:?}");
        simulate(&name("equal, in all alike"), sprt, alike);
    }
}

/// A base with faults in 0.8% of the matches, where 1% may have one.
#[test]
fn a_fault_rate_below_the_limit_makes_few_runs_invalid() {
    let sprt = Sprt::new(-50.0, 0.0, ALPHA, ALPHA, EloModel::Normalized).unwrap();
    let runs = runs(200, RUNS);
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    for (rate, least, most) in [(0.008, 0.0, 0.025), (0.05, 0.8, 1.0)] {
        let mut stream = stream(&format!("fault rate {rate}"));
        let mut invalid = 0;
        for _ in 0..runs {
            let mut run =
                Regression::new(StoppingRules::new(Some(sprt), 10_000), TWO, Deals::Mirrored).unwrap();
            for set in 1.. {
                let mut legs = mirrored_set(set, first, [0.5, 0.5], 0.4, &mut stream);
                for leg in &mut legs {
                    let is_at_fault = unit(&mut stream) < rate;
                    leg.faulted = if is_at_fault { leg.lineup.seats_of(BASE) } else { SeatSet::EMPTY };
                }
                run.add(set, legs, None);
                if let Some(verdict) = run.verdict() {
                    invalid += u32::from(verdict == Verdict::Invalid);
                    break;
                }
            }
        }
        let share = f64::from(invalid) / f64::from(runs);
        println!(
            "faults in {:.1}% of the matches: {:.1}% of {runs} runs are invalid",
            100.0 * rate,
            100.0 * share
        );
        let error = 3.0 * (0.03 / f64::from(runs)).sqrt();
        assert!(share > least - error && share < most + error, "{rate}: {share}");
    }
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
    let (mut stream, runs) = (stream("three teams"), runs(1000, RUNS));
    for (name, elo) in [("three teams, null", 0.0), ("three teams, alternative", 60.0)] {
        let (mut wrong, mut sets) = (0, 0);
        for _ in 0..runs {
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
            "{name}: {runs} tests, {:.2}% wrong, {} sets on average",
            100.0 * f64::from(wrong) / f64::from(runs),
            sets / runs
        );
        assert!(f64::from(wrong) / f64::from(runs) <= most(runs), "{name}: {wrong} of {runs} wrong");
    }
}

/// The error rate that [`referee::stats::sprt`] documents for alpha = beta = 5%.
const MOST_ERRORS: f64 = 0.062;

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
                        [(elo0, TestState::AcceptH1), (elo1, TestState::AcceptH0)].map(|(elo, wrong)| {
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
