//! Byes, withdrawals and returns in Swiss tournaments.

use std::collections::BTreeMap;

use crate::schedules::{TWO, plan, play, scheduled};
use referee::stats::schedule::{ByePoints, DueMatch, Format, Plan, Schedule, Set};
use referee::stats::standings::Unplayed;
use referee::stats::{Deals, Entrant, MatchResult};

fn swiss(rounds: u32, entrants: usize) -> Plan {
    plan(Format::Swiss { rounds, sets: 1 }, TWO, Deals::Mirrored, entrants, 0)
}

/// The first in the list of entrants wins.
fn favourite(due: &DueMatch) -> Vec<u8> {
    if due.lineup.seats()[0] < due.lineup.seats()[1] { vec![1, 2] } else { vec![2, 1] }
}

/// Plays the matches of the current round without these entrants.
fn play_round(schedule: &mut Schedule, without: &[u16]) -> Vec<(u32, MatchResult)> {
    let round = schedule.next_round();
    let mut played = Vec::new();
    while schedule.next_round() == round {
        let is_played = |due: &DueMatch| without.iter().all(|&other| !due.lineup.has(Entrant(other)));
        let Some(due) = schedule.due().find(is_played) else { break };
        let result = MatchResult::played(due.set, due.lineup, &favourite(&due));
        schedule.record(due.id.number, result).unwrap();
        played.push((due.id.number, result));
    }
    played
}

/// The entrants of a round that got points without play for this reason.
fn unplayed(schedule: &Schedule, round: u32, reason: Unplayed) -> Vec<u16> {
    let awards = schedule.awards().into_iter();
    awards
        .filter(|award| (award.round, award.reason) == (round, reason))
        .map(|award| award.entrant.0)
        .collect()
}

fn points(schedule: &Schedule) -> BTreeMap<u16, f64> {
    schedule.standings().rows.iter().map(|row| (row.entrant.0, row.points)).collect()
}

#[test]
fn a_win_over_a_withdrawn_opponent_counts_as_a_bye() {
    let mut schedule = scheduled(swiss(3, 4));
    // 0 meets 2. 3 withdraws before it meets 1.
    let mut results = play_round(&mut schedule, &[3]);
    let mut plan = schedule.without(Entrant(3)).unwrap().plan().clone();
    let mut schedule = Schedule::resume(plan.clone(), results.clone(), []).unwrap().0;
    assert_eq!(unplayed(&schedule, 1, Unplayed::Withdrawal), [1]);
    assert_eq!(unplayed(&schedule, 2, Unplayed::Bye), [2], "the lowest score group");
    results.extend(play_round(&mut schedule, &[]));
    // Of 0, 1 and 2 only the leader has won no round without play.
    assert_eq!(unplayed(&schedule, 3, Unplayed::Bye), [0]);
    assert_eq!(points(&schedule)[&0], 6.0, "two rounds won, and the bye");
    plan.byes = ByePoints { allocated: 1, requested: 0 };
    let again = Schedule::resume(plan, results, []).unwrap().0;
    assert_eq!(unplayed(&again, 3, Unplayed::Bye), [0], "a bye of half points is a bye too");
    assert_eq!(points(&again)[&2], 1.0, "half a point for each of two matches");
}

#[test]
fn entrant_gets_half_points_for_bye_that_it_requests() {
    let mut plan = swiss(3, 6);
    plan.entrants[0].absent.insert(2);
    let mut schedule = scheduled(plan);
    assert_eq!(schedule.missing().most, schedule.most_matches());
    assert_eq!(schedule.most_matches(), 6 + 4 + 6, "five are left in the second round");
    play(&mut schedule, favourite);
    assert!(schedule.is_over() && schedule.results().count() == 16);
    assert_eq!(unplayed(&schedule, 2, Unplayed::Requested), [0]);
    assert_eq!(unplayed(&schedule, 2, Unplayed::Bye).len(), 1);
    assert_eq!(points(&schedule)[&0], 2.0 + 1.0 + 2.0);
    let of_round = &schedule.rounds()[1];
    let bye = of_round.iter().find(|pair| pair.entrants[0] == Some(Entrant(0))).unwrap();
    assert!(bye.is_bye && bye.points == [1.0, 0.0]);
    // It may still get the bye of an odd field: it has not had all points of a round without play.
    assert!(unplayed(&schedule, 3, Unplayed::Bye).is_empty());
}

#[test]
fn rounds_with_too_few_entrants_are_skipped() {
    let mut plan = swiss(3, 2);
    plan.entrants[1].absent.insert(2);
    let mut schedule = scheduled(plan);
    play(&mut schedule, favourite);
    let rounds: Vec<u32> = schedule.sets().iter().map(|set| set.round).collect();
    assert_eq!(rounds, [1, 3]);
    assert_eq!(unplayed(&schedule, 2, Unplayed::Bye), [0]);
}

#[test]
fn an_entrant_returns_after_a_withdrawal() {
    let mut schedule = scheduled(swiss(5, 6));
    let mut results = play_round(&mut schedule, &[]);
    let plan = schedule.without(Entrant(0)).unwrap().plan().clone();
    let mut schedule = Schedule::resume(plan, results.clone(), []).unwrap().0;
    // The second round is paired already: its opponent wins.
    results.extend(play_round(&mut schedule, &[]));
    assert_eq!(unplayed(&schedule, 2, Unplayed::Withdrawal).len(), 1);
    let mut schedule = schedule.with_returned(Entrant(0)).unwrap();
    let missed = &schedule.plan().entrants[0].missed;
    assert_eq!((missed.len(), missed[0].clone()), (1, 3..4));
    assert_eq!(schedule.plan().entrants[0].leaves, None);
    let plan = schedule.plan().clone();
    results.extend(play_round(&mut schedule, &[]));
    assert_eq!(unplayed(&schedule, 3, Unplayed::Bye).len(), 1, "the third round has five entrants");
    play(&mut schedule, favourite);
    let of_0 = |set: &&Set| set.first.has(Entrant(0));
    let rounds: Vec<u32> = schedule.sets().iter().filter(of_0).map(|set| set.round).collect();
    assert_eq!(rounds, [1, 2, 4, 5]);
    // The first round and the last two: no points for the second and the third.
    assert_eq!(points(&schedule)[&0], 6.0);
    let (again, refused) = Schedule::resume(plan, results.into_iter().rev(), []).unwrap();
    assert!(refused.is_empty() && again.sets()[..] == schedule.sets()[..again.sets().len()]);
}

#[test]
fn returned_entrant_of_round_robin_plays_its_missing_matches() {
    let mut schedule = scheduled(plan(Format::RoundRobin { cycles: 1 }, TWO, Deals::Single, 5, 0));
    let due = schedule.due().find(|due| due.lineup.has(Entrant(0))).unwrap();
    schedule.record(due.id.number, MatchResult::played(due.set, due.lineup, &[1, 2])).unwrap();
    let mut gone = schedule.without(Entrant(0)).unwrap();
    play(&mut gone, favourite);
    assert!(gone.is_over());
    let mut returned = gone.with_returned(Entrant(0)).unwrap();
    assert_eq!(returned.withdrawn()[0], None);
    assert_eq!(returned.due().filter(|due| due.lineup.has(Entrant(0))).count(), 3);
    play(&mut returned, favourite);
    assert_eq!(returned.results().count(), 10);
}

#[test]
fn nothing_returns_to_a_knockout_or_after_the_last_round() {
    let knockout = plan(Format::Knockout { best_of: 1, tie_breaks: 1 }, TWO, Deals::Mirrored, 4, 0);
    let gone = scheduled(knockout).without(Entrant(1)).unwrap();
    assert_eq!(
        gone.with_returned(Entrant(1)).unwrap_err().to_string(),
        "no entrant can return to a knockout: its opponent has advanced"
    );
    let gone = scheduled(swiss(1, 4)).without(Entrant(1)).unwrap();
    assert_eq!(
        gone.with_returned(Entrant(1)).unwrap_err().to_string(),
        "no entrant can return any more: round 1, the last one, is paired"
    );
}

#[test]
fn byes_on_request_are_for_rounds_of_swiss_tournaments() {
    let refused = |format: Format, round: u32| {
        let mut plan = plan(format, TWO, Deals::Mirrored, 4, 0);
        plan.entrants[1].absent.insert(round);
        Schedule::new(plan).unwrap_err().to_string()
    };
    assert_eq!(refused(Format::RoundRobin { cycles: 1 }, 1), "round robin has no byes on request");
    let swiss = Format::Swiss { rounds: 3, sets: 1 };
    for round in [0, 4] {
        let why = format!("a Swiss tournament of 3 rounds has no round {round} for a bye on request");
        assert_eq!(refused(swiss, round), why);
    }
}
