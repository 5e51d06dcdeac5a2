//! Strength tests and tournaments of simulated bots with books of openings: error rates and intervals.

use std::collections::HashMap;
use std::f64::consts::{LN_10, PI};

use crate::simulation::{TWO, expected, is_long, most, normal, ranks, runs, stream, unit};
use referee::game::Uniform;
use referee::game::chance::RandomStream;
use referee::stats::rating::bradley_terry::{self, Counts};
use referee::stats::regression::{BASE, NEW, Regression, StoppingRules, Verdict};
use referee::stats::sample::{MatchMoves, MovesDigest, Sample, SetMoves};
use referee::stats::schedule::{Format, Plan, Schedule};
use referee::stats::sprt::{EloModel, SetScores, Sprt};
use referee::stats::{Deals, Lineup, MatchResult};

/// The probabilities of the five scores of a set on one opening.
type OfOpening = [f64; 5];

/// Two matches with this expected score; 5% of matches between equals are drawn.
fn of_matches(p: f64) -> OfOpening {
    let drawn = 0.1 * p.min(1.0 - p);
    let of = [1.0 - p - drawn / 2.0, drawn, p - drawn / 2.0];
    let mut set = [0.0; 5];
    for (one, first) in of.iter().enumerate() {
        for (other, second) in of.iter().enumerate() {
            set[one + other] += first * second;
        }
    }
    set
}

fn normalized(book: &[OfOpening]) -> f64 {
    let each = || book.iter().flat_map(|of| of.iter().zip(0..).map(|(p, at)| (f64::from(at) / 4.0, p)));
    let mean = each().map(|(score, p)| score * p).sum::<f64>() / book.len() as f64;
    let variance = each().map(|(score, p)| (score - mean).powi(2) * p).sum::<f64>() / book.len() as f64;
    800.0 / LN_10 * (mean - 0.5) / (2.0 * variance).sqrt()
}

/// A book in which this share of the openings always has the same set. Openings differ in their expected score by `spread`
/// either way. All together have the difference `elo`, in normalized Elo.
fn book(lines: usize, same: f64, spread: f64, elo: f64, stream: &mut RandomStream) -> Vec<OfOpening> {
    loop {
        // The part of all sets on the opening that are worse than the fixed one.
        let fixed: Vec<Option<f64>> =
            (0..lines).map(|_| (unit(stream) < same).then(|| unit(stream))).collect();
        let effects: Vec<f64> = (0..lines).map(|_| spread * (2.0 * unit(stream) - 1.0)).collect();
        let with = |shift: f64| -> Vec<OfOpening> {
            let of_line = |(fixed, effect): (&Option<f64>, f64)| {
                let of = of_matches((0.5 + shift + effect).clamp(0.02, 0.98));
                fixed.map_or(of, |worse| {
                    let at = drawn(&of, worse);
                    std::array::from_fn(|score| f64::from(u8::from(score == at)))
                })
            };
            fixed.iter().zip(effects.iter().copied()).map(of_line).collect()
        };
        let (mut low, mut high) = (-0.45, 0.45);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if normalized(&with(middle)) < elo { low = middle } else { high = middle }
        }
        let found = with(0.5 * (low + high));
        // With few openings that vary, the others can be too far from the difference.
        if (normalized(&found) - elo).abs() < 0.5 {
            return found;
        }
    }
}

/// The index of the score that a number of [`unit`] selects.
fn drawn(of: &OfOpening, mut x: f64) -> usize {
    let at = of.iter().position(|p| {
        x -= p;
        x < 0.0
    });
    at.unwrap_or(4)
}

/// A set on the opening of a book: the index of its score, and its moves. Sets with other results have other moves. Quick
/// losses of both matches have the same moves each time, long matches have their own.
fn play(number: u32, opening: usize, of: &OfOpening, stream: &mut RandomStream) -> (usize, SetMoves) {
    let at = drawn(of, unit(stream));
    let is_fixed = of.contains(&1.0);
    let digest = |number: u64| -> MovesDigest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_le_bytes());
        digest
    };
    let all = if is_fixed || at == 0 { opening as u64 } else { (1 << 40) + u64::from(number) };
    let opening = digest(opening as u64);
    (at, SetMoves { opening, start: opening, all: digest(all) })
}

/// Two matches with this score of the new version, in quarters.
fn matches(number: u32, score: usize) -> Vec<MatchResult> {
    let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
    let points = [score.min(2), score.saturating_sub(2)];
    (0..2)
        .map(|leg| {
            let ranks = [[2, 1], [1, 1], [1, 2]][points[leg]];
            let ranks = if leg == 0 { ranks } else { [ranks[1], ranks[0]] };
            MatchResult::played(number, Deals::Mirrored.leg(first, leg), &ranks)
        })
        .collect()
}

/// The end of a test with a book.
struct Ended {
    verdict: Verdict,
    sets: u32,
    /// Whether the verdict speaks of openings like those of the book.
    is_of_openings_like_these: bool,
}

/// The line of the book that a set plays.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// From the first to the last, again and again.
    InTurn,
    /// One that the set draws at random.
    Drawn,
}

fn run(book: &[OfOpening], order: Order, stream: &mut RandomStream) -> Ended {
    let sprt = Sprt::new(-50.0, 0.0, 0.05, 0.05, EloModel::Normalized).unwrap();
    let run = Regression::new(StoppingRules::new(Some(sprt), 10_000), TWO, Deals::Mirrored).unwrap();
    let mut run = run.with_drawn_openings(order == Order::Drawn);
    for number in 1.. {
        let opening = match order {
            Order::InTurn => (number as usize - 1) % book.len(),
            Order::Drawn => stream.uniform(book.len() as u64) as usize,
        };
        let (score, moves) = play(number, opening, &book[opening], stream);
        run.add(number, matches(number, score), Some(moves));
        if let Some(verdict) = run.verdict() {
            let is_of_openings_like_these = !run.sample().is_of_played_openings();
            return Ended { verdict, sets: run.tally().sets, is_of_openings_like_these };
        }
    }
    unreachable!()
}

/// The wrong verdicts of equal versions, and of those at H0.
const WRONG: [(f64, Verdict); 2] = [(-50.0, Verdict::Passed), (0.0, Verdict::Failed)];

/// Plays tests with books, and prints the shares of wrong verdicts: of all, and of those that speak of openings like these.
fn wrong(
    name: &str,
    runs: u32,
    wrong: Verdict,
    order: Order,
    mut book: impl FnMut(&mut RandomStream) -> Vec<OfOpening>,
) -> [f64; 2] {
    let mut stream = stream(name);
    let (mut errors, mut of_others, mut decided, mut sets) = (0, 0, 0, 0);
    for _ in 0..runs {
        let book = book(&mut stream);
        let ended = run(&book, order, &mut stream);
        let is_wrong = ended.verdict == wrong;
        errors += u32::from(is_wrong);
        of_others += u32::from(is_wrong && ended.is_of_openings_like_these);
        decided += u32::from(matches!(ended.verdict, Verdict::Passed | Verdict::Failed));
        sets += ended.sets;
    }
    let part = |count: u32| f64::from(count) / f64::from(runs);
    let [all, of_others] = [errors, of_others].map(part);
    println!(
        "{name}: {:.1}% wrong, {:.1}% of openings like these, {:.1}% decided, {} sets",
        100.0 * all,
        100.0 * of_others,
        100.0 * part(decided),
        sets / runs
    );
    [all, of_others]
}

/// Bots that are random after the first move, deterministic ones and mixtures, with books of 1 to 1,000 lines. The
/// difference is that on the openings of the book.
#[test]
fn verdicts_on_a_book_err_in_at_most_5_percent() {
    let runs = runs(30, 3000);
    let is_long = runs > 30;
    for lines in if is_long { &[1, 2, 10, 100, 1000][..] } else { &[1, 10, 100] } {
        for (same, spread) in [(0.0, 0.0), (0.0, 0.4), (0.3, 0.2), (0.7, 0.0), (1.0, 0.2)] {
            // A book with one fixed line has no difference other than of this one set.
            let is_possible = *lines >= 100 || same < 1.0 && (*lines > 1 || same == 0.0);
            if !is_possible || !is_long && (*lines == 100) != (same == 1.0) {
                continue;
            }
            for (elo, verdict) in WRONG {
                let name = format!("{lines} lines, {same} of them the same, spread {spread}, {elo}");
                let book = |stream: &mut RandomStream| book(*lines, same, spread, elo, stream);
                let [rate, _] = wrong(&name, runs, verdict, Order::InTurn, book);
                assert!(rate <= most(runs) + 0.005, "{name}: {rate}");
            }
        }
    }
}

/// With the difference on all openings from which books are drawn: verdicts that speak of openings like
/// these. Verdicts with small books do not.
#[test]
fn verdicts_on_book_openings_err_at_most_5_percent() {
    let runs = runs(20, 3000);
    let is_long = runs > 20;
    for lines in if is_long { &[1, 10, 100, 1000][..] } else { &[1000] } {
        for (same, spread) in
            [(0.0, 0.4), (1.0, 0.2), (0.3, 0.2)].into_iter().take(if is_long { 3 } else { 2 })
        {
            for (elo, verdict) in WRONG {
                let name = format!("{lines} drawn lines, {same} of them the same, spread {spread}, {elo}");
                let all = book(2000, same, spread, elo, &mut stream(&format!("openings for {name}")));
                let [_, rate] = wrong(&name, runs, verdict, Order::InTurn, |stream| {
                    (0..*lines).map(|_| all[stream.uniform(all.len() as u64) as usize]).collect()
                });
                assert!(rate <= most(runs) + 0.005, "{name}: {rate}");
            }
        }
    }
}

/// Sets that draw their openings, as those of random moves do: the difference is that on all of them.
#[test]
fn verdicts_on_drawn_openings_err_in_at_most_5_percent() {
    let runs = runs(20, 3000);
    let is_long = runs > 20;
    for lines in if is_long { &[7, 50, 300, 3000][..] } else { &[50] } {
        for (same, spread) in
            [(0.0, 0.4), (0.3, 0.2), (1.0, 0.2)].into_iter().take(if is_long { 3 } else { 2 })
        {
            if same == 1.0 && *lines < 300 {
                continue;
            }
            for (elo, verdict) in WRONG {
                let name = format!("{lines} openings to draw from, {same} the same, spread {spread}, {elo}");
                let all = book(*lines, same, spread, elo, &mut stream(&format!("openings for {name}")));
                let [rate, of_others] = wrong(&name, runs, verdict, Order::Drawn, |_| all.clone());
                assert!(rate <= most(runs) + 0.005, "{name}: {rate}");
                assert_eq!(rate, of_others, "{name}: every verdict speaks of openings like these");
            }
        }
    }
}

#[test]
fn book_that_deterministic_bots_have_played_through_ends_run() {
    let mut stream = stream("deterministic");
    for lines in [1, 2, 10, 30] {
        let book = book_of_fixed(lines, &mut stream);
        let ended = run(&book, Order::InTurn, &mut stream);
        assert_eq!((ended.verdict, ended.sets), (Verdict::OnlyRepeats, lines as u32 + 100), "{lines}");
    }
}

fn book_of_fixed(lines: usize, stream: &mut RandomStream) -> Vec<OfOpening> {
    let fixed = |_| {
        let at = 1 + stream.uniform(3) as usize;
        std::array::from_fn(|score| f64::from(score == at))
    };
    (0..lines).map(fixed).collect()
}

/// Statements of openings like those of a book: their difference is that of all openings that the book is
/// drawn from.
#[test]
fn intervals_for_openings_like_these_cover_the_truth() {
    let runs = runs(300, 5000);
    for (lines, sets, spread, same) in
        [(10, 100, 0.4, 0.0), (10, 100, 0.0, 0.0), (30, 300, 0.4, 0.3), (3, 60, 0.4, 0.0), (50, 75, 0.2, 0.5)]
    {
        let name = format!("{sets} sets on {lines} lines, spread {spread}, {same} of them the same");
        let mut stream = stream(&name);
        let (mut covered, mut only_played) = (0, 0);
        for _ in 0..runs {
            // Equal strength on all openings together.
            let book: Vec<OfOpening> = (0..lines)
                .map(|_| {
                    if unit(&mut stream) < same {
                        return book_of_fixed(1, &mut stream)[0];
                    }
                    of_matches(0.5 + spread * (2.0 * unit(&mut stream) - 1.0))
                })
                .collect();
            let mut sample = Sample::new(SetScores::new(2, 1));
            for number in 1..=sets {
                let opening = (number as usize - 1) % lines;
                let (score, moves) = play(number, opening, &book[opening], &mut stream);
                sample.add(score as f64 / 4.0, Some(moves));
            }
            let difference = sample.scores().estimate().unwrap();
            let elo = sample.of_openings_like_these(&difference).unwrap();
            covered += u32::from(elo.low <= 0.0 && 0.0 <= elo.high);
            only_played += u32::from(difference.elo.low <= 0.0 && 0.0 <= difference.elo.high);
        }
        let part = |count: u32| 100.0 * f64::from(count) / f64::from(runs);
        println!("{name}: {:.1}% covered, {:.1}% if sets were independent", part(covered), part(only_played));
        assert!(part(covered) >= 92.0 - 300.0 * (0.05 * 0.95 / f64::from(runs)).sqrt(), "{name}: {covered}");
    }
}

/// Entrants of tournaments. Strengths have a deviation of 200 Elo, and a share of the entrants is deterministic: two of them
/// play the same match each time on the same opening.
struct Field {
    deterministic: f64,
    /// The deviations of an opening's effect on the difference of a pairing and on the strength of an
    /// entrant, in Elo.
    of_pairing: f64,
    of_entrant: f64,
}

/// The coverage of the intervals of simulated tournaments.
#[derive(Debug, Default)]
struct Coverage {
    /// Of all intervals, and of those that speak of openings like these.
    all: f64,
    like_these: f64,
    /// The share of tournaments whose intervals speak of openings like these.
    part: f64,
    /// Of all intervals, if sets on one opening counted like others.
    by_sets: f64,
}

fn tournaments(plan: &Plan, lines: u32, field: &Field, runs: u32) -> Coverage {
    let Field { deterministic, of_pairing, of_entrant } = *field;
    let entrants = plan.entrants.len();
    let mut stream = stream(&format!("{plan:?} {lines} {deterministic} {of_pairing} {of_entrant}"));
    // The expected score over all openings is that of a difference that is smaller by this factor.
    let variance = (of_pairing.powi(2) + 2.0 * of_entrant.powi(2)) * (LN_10 / 400.0).powi(2);
    let scale = (1.0 + PI * variance / 8.0).powf(-0.5);
    let mut found = Coverage::default();
    for _ in 0..runs {
        let mut elo: Vec<f64> = (0..entrants).map(|_| 200.0 * normal(&mut stream)).collect();
        let mean = elo.iter().sum::<f64>() / entrants as f64;
        elo.iter_mut().for_each(|elo| *elo -= mean);
        let is_fixed: Vec<bool> = (0..entrants).map(|_| unit(&mut stream) < deterministic).collect();
        let (mut of_pairings, mut of_entrants, mut fixed) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut moves = HashMap::new();
        let mut schedule = Schedule::new(plan.clone()).unwrap();
        loop {
            let Some(due) = schedule.due().next() else { break };
            let line = (due.set - 1) % lines;
            let [one, other] = [0, 1].map(|seat| due.lineup.seats()[seat].index());
            let mut of_pairing = *of_pairings
                .entry((one.min(other), one.max(other), line))
                .or_insert_with(|| of_pairing * normal(&mut stream));
            if one > other {
                of_pairing = -of_pairing;
            }
            let [first, second] = [one, other].map(|entrant| {
                elo[entrant]
                    + *of_entrants.entry((entrant, line)).or_insert_with(|| of_entrant * normal(&mut stream))
            });
            let are_fixed = is_fixed[one] && is_fixed[other];
            let x = if are_fixed {
                *fixed.entry((one, other, line)).or_insert_with(|| unit(&mut stream))
            } else {
                unit(&mut stream)
            };
            let all = if are_fixed { 0 } else { due.id.number.into() };
            moves.insert(due.id.number, MatchMoves { opening: line.into(), all });
            let ranks = ranks(expected(first - second + 20.0 + of_pairing), 0.2, x);
            schedule.record(due.id.number, MatchResult::played(due.set, due.lineup, &ranks)).unwrap();
        }
        let results =
            schedule.numbered_results().map(|(number, result)| (result, moves.get(&number).copied()));
        let fitted = bradley_terry::fit(&Counts::with_moves(entrants, results));
        let by_sets = bradley_terry::fit(&Counts::of(entrants, schedule.results()));
        let like_these = f64::from(u8::from(!fitted.is_of_played_openings));
        found.part += like_these / f64::from(runs);
        for (at, elo) in elo.into_iter().enumerate() {
            let [covered, by_sets] = [fitted.elo[at], by_sets.elo[at]].map(|found| {
                let is_within = found.low <= scale * elo && scale * elo <= found.high;
                f64::from(u8::from(is_within)) / f64::from(runs * entrants as u32)
            });
            found.all += covered;
            found.like_these += like_these * covered;
            found.by_sets += by_sets;
        }
    }
    found.like_these /= found.part;
    println!(
        "{entrants} entrants, {:?}, {:?}, {lines} lines, {:.0}% deterministic, openings add {of_pairing} and {of_entrant} \
         Elo: {:.1}% covered; {:.1}% of the {:.0}% that speak of openings like these; {:.1}% if sets counted alike",
        plan.format,
        plan.deals,
        100.0 * deterministic,
        100.0 * found.all,
        100.0 * found.like_these,
        100.0 * found.part,
        100.0 * found.by_sets,
    );
    found
}

/// Bots that are deterministic, random or of both kinds, and openings that suit entrants or pairings.
#[test]
fn tournament_intervals_on_a_book_cover_the_strengths() {
    let field = |deterministic, of_pairing, of_entrant| Field { deterministic, of_pairing, of_entrant };
    let fields = [
        field(1.0, 0.0, 0.0),
        field(0.0, 170.0, 0.0),
        field(0.0, 0.0, 120.0),
        field(0.5, 170.0, 0.0),
        field(0.5, 0.0, 0.0),
        field(0.0, 0.0, 0.0),
        field(1.0, 0.0, 120.0),
    ];
    let formats = [
        (Format::RoundRobin { cycles: 10 }, 10),
        (Format::RoundRobin { cycles: 40 }, 4),
        (Format::Gauntlet { cycles: 10 }, 10),
        (Format::Duel { sets: 100 }, 2),
        (Format::Swiss { rounds: 7, sets: 2 }, 16),
        (Format::Knockout { best_of: 5, tie_breaks: 3 }, 16),
    ];
    for field in &fields[..if is_long() { 7 } else { 3 }] {
        for (format, entrants) in formats.into_iter().take(if is_long() { 6 } else { 1 }) {
            for &lines in if is_long() { &[1, 2, 3, 7, 10, 31, 100, 1000][..] } else { &[2, 10] } {
                let plan = Plan::new(format, TWO, Deals::Mirrored, entrants);
                let runs = if is_long() { 2400 / entrants as u32 } else { 16 };
                let found = tournaments(&plan, lines, field, runs);
                if !is_long() {
                    assert!(found.part == 1.0 && found.like_these > 0.88, "{found:?}");
                    assert!(found.by_sets < 0.88, "{found:?}: clusters are not needed");
                } else if found.part > 0.2 {
                    assert!(found.like_these > 0.83, "{found:?}");
                }
                // Without differences between openings, intervals hold for each book.
                if field.of_pairing + field.of_entrant == 0.0 {
                    assert!(found.all > if is_long() { 0.92 } else { 0.88 }, "{found:?}");
                }
            }
        }
    }
}
