//! Runs with known results.

use super::*;
use crate::Lineup;
use crate::sprt::EloModel;
use referee_game::{Seat, SeatSet};

const TWO: Seating = Seating::new(2, 2);

fn run(max_sets: u32) -> Regression {
    let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Logistic).unwrap();
    Regression::new(StoppingRules::new(Some(sprt), max_sets), TWO, Deals::Mirrored).unwrap()
}

/// The two matches of a set: the ranks of `new` and `base`, and the entrant with a fault in the first.
fn set(number: u32, ranks: [[u8; 2]; 2], at_fault: Option<Entrant>) -> Vec<MatchResult> {
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    let mut legs = vec![
        MatchResult::played(number, first, &ranks[0]),
        MatchResult::played(number, Deals::Mirrored.leg(first, 1), &[ranks[1][1], ranks[1][0]]),
    ];
    legs[0].faulted = at_fault.map_or(SeatSet::EMPTY, |entrant| first.seats_of(entrant));
    legs
}

const WON: [[u8; 2]; 2] = [[1, 2], [1, 2]];

#[test]
fn fault_of_base_drops_set_and_fault_of_new_loses() {
    let mut run = run(100_000);
    run.add(1, set(1, WON, Some(BASE)), None);
    assert_eq!((run.scores().sets(), run.tally().dropped), (0, 1));
    // Under the policy `random` it may have won in spite of its fault.
    run.add(2, set(2, WON, Some(NEW)), None);
    assert_eq!(run.scores().counts(), [0, 0, 1, 0, 0]);
    assert_eq!((run.tally().faults_of_new, run.tally().faults_of_base, run.tally().faulty), (1, 1, 2));
}

#[test]
fn set_with_void_match_counts_only_for_its_faults() {
    let mut run = run(1000);
    run.add(2, set(2, WON, None), None);
    let judged = run.add_void(1, set(1, WON, Some(BASE)));
    assert_eq!(judged.iter().map(|judged| judged.fate).collect::<Vec<_>>(), [Fate::Void, Fate::Counted]);
    assert_eq!((run.scores().sets(), run.tally().void, run.tally().dropped), (1, 1, 0));
    assert_eq!((run.tally().faults_of_base, run.tally().faulty), (1, 1));
}

#[test]
fn sets_count_in_the_order_of_their_numbers() {
    let mut run = run(1000);
    run.add(2, set(2, WON, None), None);
    assert_eq!(run.tally().sets, 0);
    run.add(1, set(1, WON, None), None);
    assert_eq!(run.tally().sets, 2);
}

/// The moves of a set by opening and by the moves on it.
fn moves(opening: u8, all: u8) -> Option<SetMoves> {
    Some(SetMoves { opening: [opening; 32], start: [opening; 32], all: [all; 32] })
}

#[test]
fn copies_of_deterministic_bots_do_not_count() {
    let mut run = run(1000);
    for number in 1..=102 {
        assert_eq!(run.verdict(), None);
        let opening = (number % 2) as u8;
        run.add(number, set(number, WON, None), moves(opening, opening));
    }
    assert_eq!((run.tally().counted, run.tally().repeated), (2, 100));
    assert_eq!((run.tally().distinct_sets, run.tally().openings), (2, 2));
    assert_eq!(run.verdict(), Some(Verdict::OnlyRepeats));
    assert!(!run.sample().is_of_played_openings());
}

#[test]
fn all_copies_count_once_opening_has_given_two_different_sets() {
    let mut run = run(1000);
    let losses = [[2, 1], [2, 1]];
    for number in 1..=20 {
        // Each loss has the same moves, no other set has.
        let (opening, ranks) = if number % 2 == 0 { (0, losses) } else { (1, EVEN) };
        let all = if opening == 0 { 100 } else { number as u8 };
        let judged = run.add(number, set(number, ranks, None), moves(opening, all));
        assert_eq!(judged[0].fate, Fate::Counted);
    }
    assert_eq!(run.scores().counts(), [10, 0, 10, 0, 0]);
    assert_eq!((run.tally().repeated, run.tally().distinct_sets, run.tally().openings), (0, 11, 2));

    // Copies before the first difference count afterwards.
    let mut run = self::run(1000);
    for number in 1..=4 {
        run.add(number, set(number, losses, None), moves(0, 1));
    }
    assert_eq!((run.tally().counted, run.tally().repeated), (1, 3));
    run.add(5, set(5, WON, None), moves(0, 2));
    assert_eq!((run.tally().counted, run.tally().repeated), (5, 0));
    assert_eq!(run.scores().counts(), [4, 0, 0, 0, 1]);
    assert!(run.sample().is_of_played_openings());
}

#[test]
fn a_fault_rate_above_the_limit_makes_the_run_invalid() {
    // 10 sets of 2 matches: with a rate of 1% two faults or more in 20 have a probability of 1.7%, one or more 18%.
    let mut early = run(10);
    early.add(1, set(1, WON, Some(BASE)), None);
    assert_eq!(early.verdict(), None);
    early.add(2, set(2, WON, Some(BASE)), None);
    assert_eq!(early.verdict(), Some(Verdict::Invalid));
    // 8 in 200 matches would be fine for 1000 sets, but not when the test ends after 100.
    let mut late = run(1000);
    for number in 1.. {
        let at_fault = Some(NEW).filter(|_| number <= 8);
        late.add(number, set(number, if number % 3 == 0 { [[1, 2], [2, 1]] } else { WON }, at_fault), None);
        if late.verdict().is_some() {
            assert!(late.tally().matches < 300, "{:?}", late.tally());
            break;
        }
    }
    assert_eq!(late.verdict(), Some(Verdict::Invalid));
}

#[test]
fn interval_of_fault_rate_is_exact_binomial_one() {
    // The tables of the binomial distribution: 3 of 300, none of 20, all of 5.
    for (faulty, matches, low, high) in
        [(3, 300, 0.002_067, 0.028_946), (0, 20, 0.0, 0.168_433), (5, 5, 0.478_176, 1.0)]
    {
        let rate = Tally { faulty, matches, ..Tally::default() }.fault_rate();
        assert!((rate.low - low).abs() < 1e-5 && (rate.high - high).abs() < 1e-5, "{rate:?}");
    }
    for limit in [0.0, 0.001, 0.01, 0.5] {
        for faulty in 0..=40 {
            let tally = Tally { faulty, matches: 400, ..Tally::default() };
            assert_eq!(tally.exceeds(limit), tally.fault_rate().low > limit, "{faulty} at {limit}");
        }
    }
    // The probability of no fault in as many matches is 0 in a double.
    assert!(Tally { faulty: 20_500, matches: 2_000_000, ..Tally::default() }.exceeds(0.01));
    assert!(!Tally { faulty: 20_200, matches: 2_000_000, ..Tally::default() }.exceeds(0.01));
}

#[test]
fn wins_by_faults_of_base_count_for_it_under_h1() {
    let rules = |max_sets| StoppingRules {
        max_fault_rate: 1.0,
        ..StoppingRules::new(Some(Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Logistic).unwrap()), max_sets)
    };
    let played = |dropped_in: u32| {
        let mut run = Regression::new(rules(2000), TWO, Deals::Mirrored).unwrap();
        for number in 1.. {
            let ranks = if number % 3 == 0 { EVEN } else { WON };
            let at_fault = Some(BASE).filter(|_| dropped_in > 0 && number % dropped_in == 0);
            run.add(number, set(number, ranks, at_fault), None);
            if run.verdict().is_some() {
                return run;
            }
        }
        unreachable!()
    };
    let without = played(0);
    assert_eq!((without.verdict(), without.with_dropped()), (Some(Verdict::Passed), None));
    let some = played(20);
    assert_eq!(some.verdict(), Some(Verdict::Passed));
    assert!(some.tally().sets > without.tally().sets + 1, "{:?}", some.tally());
    let with_dropped = some.with_dropped().unwrap();
    assert_eq!(with_dropped.sets(), u64::from(some.tally().sets));
    // In each dropped set one match has a fault: the base has won that one.
    assert_eq!(with_dropped.counts()[2], some.scores().counts()[2] + u64::from(some.tally().dropped));
}

#[test]
fn version_that_is_stronger_only_without_faults_of_base_fails() {
    let sprt = Sprt::new(-50.0, 0.0, 0.05, 0.05, EloModel::Logistic).unwrap();
    let rules = StoppingRules { max_fault_rate: 1.0, ..StoppingRules::new(Some(sprt), 2000) };
    let mut run = Regression::new(rules, TWO, Deals::Mirrored).unwrap();
    for number in 1.. {
        let ranks = if number % 4 == 0 { [[1, 2], [2, 1]] } else { [[2, 1], [2, 1]] };
        let (ranks, at_fault) = if number % 4 < 2 { ([[2, 1], [1, 2]], None) } else { (ranks, Some(BASE)) };
        run.add(number, set(number, ranks, at_fault), None);
        if run.verdict().is_some() {
            break;
        }
    }
    assert_eq!(run.verdict(), Some(Verdict::OnlyWithoutFaults), "{:?}", run.tally());
}

#[test]
fn base_with_faults_in_every_match_makes_run_invalid() {
    let mut run = run(100_000);
    for number in 1.. {
        let mut legs = set(number, WON, Some(BASE));
        legs[1].faulted = legs[1].lineup.seats_of(BASE);
        run.add(number, legs, None);
        if run.verdict().is_some() {
            break;
        }
    }
    assert_eq!((run.verdict(), run.tally().sets), (Some(Verdict::Invalid), 2));
}

#[test]
fn crash_of_new_fails_run_and_counts_as_fault() {
    let mut run = run(1000);
    run.add(1, set(1, WON, None), None);
    run.add_crash(&set(2, WON, Some(NEW))[..1]);
    assert_eq!(run.verdict(), Some(Verdict::Crashed));
    assert_eq!((run.tally().sets, run.tally().matches, run.tally().faults_of_new), (1, 3, 1));
    run.add(2, set(2, WON, None), None);
    assert_eq!(run.tally().sets, 1);
}

/// The first seat wins both.
const EVEN: [[u8; 2]; 2] = [[1, 2], [2, 1]];

/// After how many sets played alike a test in this model ends, and how.
fn end_of_alike_sets(elo0: f64, elo1: f64, model: EloModel) -> (u32, Verdict) {
    let sprt = Sprt::new(elo0, elo1, 0.05, 0.05, model).unwrap();
    let mut run = Regression::new(StoppingRules::new(Some(sprt), 500), TWO, Deals::Mirrored).unwrap();
    for number in 1.. {
        run.add_alike(number, set(number, EVEN, None), None);
        if let Some(verdict) = run.verdict() {
            return (number, verdict);
        }
    }
    unreachable!()
}

#[test]
fn sets_played_alike_end_the_test_at_the_binomial_bound() {
    use EloModel::{Logistic, Normalized};
    // ln 0.05 / ln(1 / (1 + t^2)) = 73.8 with t = sqrt(2) 50 / 347.4, 453.6 for 20 Elo.
    assert_eq!(end_of_alike_sets(-50.0, 0.0, Normalized), (74, Verdict::PassedAlike));
    assert_eq!(end_of_alike_sets(0.0, 20.0, Normalized), (454, Verdict::FailedAlike));
    assert_eq!(end_of_alike_sets(-20.0, -5.0, Normalized), (454, Verdict::PassedAlike));
    assert_eq!(end_of_alike_sets(-5.0, 5.0, Normalized), (500, Verdict::AtLimit));
    // ln 0.05 / ln(2 / (1 + 10^(50 / 400))) = 19.4, for 10 Elo 102.6.
    assert_eq!(end_of_alike_sets(-50.0, 0.0, Logistic), (20, Verdict::PassedAlike));
    assert_eq!(end_of_alike_sets(-10.0, 0.0, Logistic), (103, Verdict::PassedAlike));
}

#[test]
fn bound_of_sets_played_alike_is_exact_binomial_one() {
    for (model, needed) in [(EloModel::Logistic, 20), (EloModel::Normalized, 74)] {
        let sprt = Sprt::new(-50.0, 0.0, 0.05, 0.05, model).unwrap();
        let mut run = Regression::new(StoppingRules::new(Some(sprt), 100), TWO, Deals::Mirrored).unwrap();
        for number in 1..=10 {
            run.add_alike(number, set(number, EVEN, None), None);
        }
        let alike = run.alike().unwrap();
        assert_eq!((alike.sets, alike.confidence, alike.needed_sets), (10, 0.95, Some(needed)));
        assert!(((1.0 - alike.differing).powi(10) - 0.05).abs() < 1e-12, "{alike:?}");
        // Sets that are even or lost, in the shares of the bound.
        let (mean, second) = (-0.5 * alike.differing, 0.25 * alike.differing);
        let elo = match model {
            EloModel::Logistic => -400.0 * ((0.5 - mean) / (0.5 + mean)).log10(),
            EloModel::Normalized => {
                800.0 / std::f64::consts::LN_10 * mean / (second - mean * mean).sqrt() / 2f64.sqrt()
            }
        };
        assert!((alike.elo + elo).abs() < 1e-9, "{alike:?}, not {elo}");
    }
}

#[test]
fn shards_divide_the_sets_among_them() {
    for (sets, of) in [(10, 3), (9, 3), (2, 4), (7, 1)] {
        let shards: Vec<Shard> = (1..=of).map(|number| format!("{number}/{of}").parse().unwrap()).collect();
        for set in 1..=sets {
            let with: Vec<&Shard> = shards.iter().filter(|shard| shard.has(set)).collect();
            assert_eq!((with.len(), with[0].set(with[0].place(set))), (1, set));
        }
        assert_eq!(shards.iter().map(|shard| shard.count(sets)).sum::<u32>(), sets);
    }
    for text in ["0/2", "3/2", "1", "1/0", "a/b", "1/10001"] {
        assert!(text.parse::<Shard>().is_err(), "{text}");
    }
}

#[test]
fn set_that_differs_leaves_decision_to_sequential_test() {
    let sprt = Sprt::new(-50.0, 0.0, 0.05, 0.05, EloModel::Normalized).unwrap();
    for at in [1, 19] {
        let mut run = Regression::new(StoppingRules::new(Some(sprt), 60), TWO, Deals::Mirrored).unwrap();
        for number in 1..=60 {
            if number == at {
                run.add(number, set(number, EVEN, None), None);
            } else {
                run.add_alike(number, set(number, EVEN, None), None);
            }
        }
        assert_eq!((run.verdict(), run.alike()), (Some(Verdict::AtLimit), None), "{at}");
    }
}

#[test]
fn fixed_run_is_measured_and_others_end_at_limit() {
    let mut fixed = Regression::new(StoppingRules::new(None, 2), TWO, Deals::Mirrored).unwrap();
    let mut tested = run(2);
    for number in 1..=2 {
        fixed.add(number, set(number, WON, None), None);
        tested.add(number, set(number, [[1, 2], [2, 1]], None), None);
    }
    assert_eq!(fixed.verdict(), Some(Verdict::Measured));
    assert_eq!(tested.verdict(), Some(Verdict::AtLimit));
}

#[test]
fn with_three_teams_only_comparisons_between_new_and_base_count() {
    let seating = Seating::new(6, 3);
    let first = Lineup::of_sides(seating, &[NEW, BASE, BASE]).unwrap();
    let results: Vec<MatchResult> = (0..3)
        .map(|leg| {
            // `new` is second, between the two of `base`.
            let lineup = Deals::Mirrored.leg(first, leg);
            let own = (0..3).find(|&side| lineup.side(side).any(|e| e == NEW)).unwrap();
            let mut ranks = [0; 3];
            for behind in 0..3 {
                ranks[(own + behind) % 3] = [2, 1, 3][behind];
            }
            MatchResult::played(1, lineup, &ranks)
        })
        .collect();
    assert_eq!(score(&results, false), 0.5);
    let mut with_fault = results;
    with_fault[0].faulted = SeatSet::one(Seat(0));
    assert_eq!(score(&with_fault, false), 1.0 / 3.0);
}

/// A set of three sides, one or two of them of `new`, in which a side of `winner` wins every match.
fn won_by(number: u32, winner: Entrant) -> Vec<MatchResult> {
    let entrants = if number % 2 == 1 { [NEW, BASE, BASE] } else { [BASE, NEW, NEW] };
    let first = Lineup::of_sides(Seating::new(6, 3), &entrants).unwrap();
    let won = |leg| {
        let lineup = Deals::Mirrored.leg(first, leg);
        let side = (0..3).find(|&side| lineup.side(side).all(|entrant| entrant == winner)).unwrap();
        let ranks: Vec<u8> = (0..3).map(|other| if other == side { 1 } else { 2 }).collect();
        MatchResult::played(number, lineup, &ranks)
    };
    (0..3).map(won).collect()
}

#[test]
fn version_that_wins_every_three_sided_match_has_greatest_score() {
    for (winner, score) in [(NEW, 0.875), (BASE, 0.125)] {
        let rules = StoppingRules::new(None, 4);
        let mut run = Regression::new(rules, Seating::new(6, 3), Deals::Mirrored).unwrap();
        assert_eq!(run.possible_scores(), None);
        for number in 1..=4 {
            run.add(number, won_by(number, winner), None);
        }
        assert_eq!(run.scores().estimate().unwrap().score.value, score);
        assert_eq!(run.possible_scores(), Some(PossibleScores { least: 0.125, most: 0.875 }));
    }
    let mut two = run(4);
    two.add(1, set(1, WON, None), None);
    assert_eq!(two.possible_scores(), None, "two sides");
}
