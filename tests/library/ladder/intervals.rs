//! The coverage of a ladder's intervals.

use referee::game::Uniform;
use referee::stats::Entrant;
use referee::stats::rating::Estimate;
use referee::stats::rating::bradley_terry::fit_anchored;

use super::{Simulation, stream};
use crate::simulation::{is_long, normal, runs};

/// The share of ladders of equal players, after this many matches of each, on which the first is said to be stronger than
/// the second with a probability of 95% or more.
fn claimed(players: usize, after: u64, runs: u32) -> f64 {
    let is_claimed = |run: u32| {
        let name = format!("equals {players} {after} {run}");
        let mut ladder = Simulation::new(&name, (players / 4).max(1), vec![0.0; players]);
        ladder.rated_every = 200;
        while ladder.played < after * players as u64 / 2 {
            ladder.step();
        }
        let fit = fit_anchored(&ladder.counts, &ladder.known);
        let mut order: Vec<u16> = (0..players as u16).collect();
        let elo = |player: &u16| fit.elo[usize::from(*player)].value;
        order.sort_by(|one, other| elo(other).total_cmp(&elo(one)));
        let difference = fit.difference(Entrant(order[0]), Entrant(order[1]));
        difference.probability_above_zero().is_some_and(|found| found >= 0.95)
    };
    (0..runs).filter(|&run| is_claimed(run)).count() as f64 / f64::from(runs)
}

#[test]
fn equal_players_of_a_ladder_are_rarely_said_to_differ() {
    let cells = [(2, 30, runs(400, 4000)), (2, 100, runs(400, 4000)), (20, 100, runs(4, 200))];
    for (players, after, runs) in cells {
        let share = claimed(players, after, runs);
        println!(
            "{players} equals, {after} matches each: the first is called stronger in {:.1}%",
            100.0 * share
        );
        // 5% for each of both sides; three standard errors more.
        let most = 0.10 + 3.0 * (0.1 * 0.9 / f64::from(runs)).sqrt();
        assert!(share <= most, "{players} {after}: {share}");
    }
}

/// A ladder whose first player is an anchor at 0, and whose others are this much stronger on average. Returns the share of
/// the intervals of the others that contain their strength after each number of matches, over all runs.
fn covered_at(distance: f64, deviation: f64, players: usize, after: &[u64], runs: u32) -> Vec<f64> {
    let mut covered = vec![0.0; after.len()];
    for run in 0..runs {
        let name = format!("anchor {distance} {players} {run}");
        let mut rng = stream(&name);
        let mut strengths: Vec<f64> = (0..players).map(|_| distance + deviation * normal(&mut rng)).collect();
        strengths.insert(0, 0.0);
        let mut ladder = Simulation::new(&name, (players / 4).max(1), strengths);
        ladder.known.anchors = [(Entrant(0), 0.0)].into();
        ladder.rated_every = 2 * players as u64;
        for (covered, &after) in covered.iter_mut().zip(after) {
            while ladder.played < after * players as u64 / 2 {
                ladder.step();
            }
            let elo = fit_anchored(&ladder.counts, &ladder.known).elo;
            let holds = |(elo, truth): &(&Estimate, &f64)| (elo.low..=elo.high).contains(truth);
            let found = elo.iter().zip(&ladder.strengths).skip(1).filter(holds).count();
            *covered += found as f64 / (players as f64 * f64::from(runs));
        }
    }
    covered
}

#[test]
fn intervals_of_ladder_contain_distance_to_its_anchor() {
    // The intervals of a run share the error of the distance: a run is one observation rather than as many as it has players.
    let (after, runs, least): (&[u64], u32, f64) =
        if is_long() { (&[16, 30, 100, 400], 40, 0.88) } else { (&[30], 6, 0.75) };
    let fields = [(700.0, 20), (-700.0, 20), (400.0, 50), (-400.0, 50), (200.0, 20)];
    for (distance, players) in fields.into_iter().take(if is_long() { 5 } else { 2 }) {
        let covered = covered_at(distance, 100.0, players, after, runs);
        println!(
            "{players} players {distance} Elo above the anchor: {covered:.3?} covered after {after:?} matches each"
        );
        assert!(covered.iter().all(|share| *share >= least), "{distance} {players}: {covered:?}");
    }
}

/// The share of the intervals of a ladder without an anchor that contain the strength relative to the field, after each number
/// of matches of each player, over runs with these strengths.
fn covered(
    name: &str,
    after: &[u64],
    runs: u32,
    is_deterministic: bool,
    strengths: impl Fn(&str) -> Vec<f64>,
) -> Vec<f64> {
    let mut covered = vec![0.0; after.len()];
    for run in 0..runs {
        let name = format!("{name} {run}");
        let strengths = strengths(&name);
        let players = strengths.len();
        let mut ladder = Simulation::new(&name, players / 4, strengths);
        ladder.rated_every = 2 * players as u64;
        ladder.deterministic = is_deterministic.then(Default::default);
        for (covered, &after) in covered.iter_mut().zip(after) {
            while ladder.played < after * players as u64 / 2 {
                ladder.step();
            }
            let elo = fit_anchored(&ladder.counts, &ladder.known).elo;
            // By the definition of the field: a player with n matches has the weight n / (n + 30).
            let weights: Vec<f64> = (ladder.meetings().iter())
                .map(|of| f64::from(of.values().sum::<u32>()))
                .map(|matches| matches / (matches + 30.0))
                .collect();
            let sum: f64 = weights.iter().zip(&ladder.strengths).map(|(weight, elo)| weight * elo).sum();
            let field = sum / weights.iter().sum::<f64>();
            let holds = |(elo, truth): &(&Estimate, &f64)| (elo.low..=elo.high).contains(&(**truth - field));
            let found = elo.iter().zip(&ladder.strengths).filter(holds).count();
            *covered += found as f64 / (players as f64 * f64::from(runs));
        }
    }
    covered
}

/// Normally distributed strengths.
fn normal_field(name: &str, deviation: f64, players: u32) -> Vec<f64> {
    let mut rng = stream(name);
    (0..players).map(|_| deviation * normal(&mut rng)).collect()
}

/// Strengths that are spread evenly over a distance, in any order.
fn even_field(name: &str, distance: f64, players: u32) -> Vec<f64> {
    let part = |player: u32| distance * f64::from(player) / f64::from(players - 1);
    let mut strengths: Vec<f64> = (0..players).map(part).collect();
    stream(name).shuffle(&mut strengths);
    strengths
}

#[test]
fn intervals_of_ladder_contain_strengths_although_ratings_decide_who_meets() {
    let after: &[u64] = if is_long() { &[30, 100, 400] } else { &[30] };
    let least = if is_long() { 0.93 } else { 0.88 };
    let narrow = covered("narrow", after, runs(4, 100), false, |name| normal_field(name, 150.0, 20));
    println!("20 players with a deviation of 150 Elo: {narrow:.3?} covered after {after:?} matches each");
    let wide = covered("wide", after, runs(1, 20), false, |name| even_field(name, 1950.0, 60));
    println!("60 players over 1,950 Elo: {wide:.3?} covered after {after:?} matches each");
    assert!(narrow.iter().chain(&wide).all(|share| *share >= least), "{narrow:?} {wide:?}");
}

#[test]
fn copies_of_matches_do_not_narrow_intervals_of_ladder() {
    let after: &[u64] = if is_long() { &[30, 100, 400] } else { &[100] };
    let found = covered("copies", after, runs(4, 100), true, |name| normal_field(name, 150.0, 20));
    println!("20 deterministic players without openings: {found:.3?} covered after {after:?} matches each");
    // Each copy as a match of its own: 90%, 66% and 36%.
    assert!(found.iter().all(|share| *share >= 0.88), "{found:?}");
}
