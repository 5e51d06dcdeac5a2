//! Rulings of the organiser on matches.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::schedules::{TWO, check, drawn, plan, play, scheduled};
use referee::stats::schedule::{DueMatch, Format, MatchId, MatchRuling, Ruling, Schedule};
use referee::stats::standings::Unplayed;
use referee::stats::{Deals, Entrant, MatchResult};

fn ruling(schedule: &Schedule, number: u32, decides: MatchRuling) -> Ruling {
    Ruling { decides, id: MatchId { number, attempt: 1 }, since: schedule.next_round(), until: None }
}

/// The first in the list of entrants wins.
fn favourite(due: &DueMatch) -> Vec<u8> {
    if due.lineup.seats()[0] < due.lineup.seats()[1] { vec![1, 2] } else { vec![2, 1] }
}

fn points(schedule: &Schedule) -> BTreeMap<u16, f64> {
    schedule.standings().rows.iter().map(|row| (row.entrant.0, row.points)).collect()
}

fn pairs(schedule: &Schedule) -> Vec<Vec<[Option<Entrant>; 2]>> {
    let rounds = schedule.rounds().into_iter();
    rounds.map(|round| round.into_iter().map(|pair| pair.entrants).collect()).collect()
}

const AWARDED_TO_LAST: MatchRuling = MatchRuling::Award { winner: Some(Entrant(2)) };

#[test]
fn a_round_robin_follows_its_rulings() {
    let mut schedule = scheduled(plan(Format::RoundRobin { cycles: 1 }, TWO, Deals::Mirrored, 3, 0));
    play(&mut schedule, favourite);
    assert_eq!(points(&schedule), BTreeMap::from([(0, 4.0), (1, 2.0), (2, 0.0)]));
    let first_of_last = schedule
        .numbered_results()
        .find(|(_, result)| result.lineup.has(Entrant(2)) && result.lineup.has(Entrant(0)))
        .map(|(number, _)| number)
        .unwrap();
    let awarded = schedule.with_rulings(&[ruling(&schedule, first_of_last, AWARDED_TO_LAST)]).unwrap();
    assert_eq!(points(&awarded), BTreeMap::from([(0, 3.0), (1, 2.0), (2, 1.0)]));
    assert_eq!(awarded.results().count(), 5, "an award is no evidence of strength");
    let void = schedule.with_rulings(&[ruling(&schedule, first_of_last, MatchRuling::Void)]).unwrap();
    assert_eq!(points(&void), BTreeMap::from([(0, 3.0), (1, 2.0), (2, 0.0)]));
    assert!(void.is_over(), "a void match is not played again");
    let drawn = MatchRuling::Award { winner: None };
    let drawn = awarded.with_rulings(&[ruling(&awarded, first_of_last, drawn)]).unwrap();
    assert_eq!(points(&drawn), BTreeMap::from([(0, 3.5), (1, 2.0), (2, 0.5)]), "the last ruling counts");
    let undone = awarded.without_rulings(&[0]).unwrap();
    assert_eq!(points(&undone), points(&schedule));
    assert_eq!(
        schedule.with_rulings(&[ruling(&schedule, 99, MatchRuling::Void)]).unwrap_err().to_string(),
        "there is no match m99 in the schedule"
    );
}

#[test]
fn a_replayed_set_has_a_new_deal() {
    let mut schedule = scheduled(plan(Format::RoundRobin { cycles: 1 }, TWO, Deals::Mirrored, 3, 0));
    let not_played = schedule.with_rulings(&[ruling(&schedule, 3, MatchRuling::Replay)]);
    assert_eq!(not_played.unwrap_err().to_string(), "m3 has not been played yet");
    play(&mut schedule, favourite);
    let both = [3, 4].map(|number| ruling(&schedule, number, MatchRuling::Replay));
    let mut replayed = schedule.with_rulings(&both).unwrap();
    // The shell counts the attempts that it has stored.
    [3, 4].into_iter().for_each(|number| replayed.cut_off(number));
    let due: Vec<(String, String)> =
        replayed.due().map(|due| (due.id.to_string(), replayed.plan().deal(due.id))).collect();
    let pair = |id: &str, deal: &str| (id.to_owned(), deal.to_owned());
    assert_eq!(due, [pair("m3.2", "s2.2"), pair("m4.2", "s2.2")]);
    assert_eq!(replayed.plan().deal(MatchId { number: 3, attempt: 1 }), "s2");
    assert_eq!(replayed.plan().deal(MatchId { number: 1, attempt: 1 }), "s1");
}

#[test]
fn disqualified_entrant_has_no_results_however_many_it_has_played() {
    let mut schedule = scheduled(plan(Format::RoundRobin { cycles: 1 }, TWO, Deals::Single, 4, 0));
    play(&mut schedule, favourite);
    let mut plan = schedule.plan().clone();
    plan.entrants[0].leaves = Some(schedule.next_round());
    let results: Vec<(u32, MatchResult)> =
        schedule.numbered_results().map(|(number, result)| (number, *result)).collect();
    let withdrawn = Schedule::resume(plan.clone(), results.clone(), []).unwrap().0;
    assert_eq!(points(&withdrawn)[&0], 3.0, "it has played all matches");
    plan.entrants[0].is_disqualified = true;
    let disqualified = Schedule::resume(plan, results, []).unwrap().0;
    let standings = disqualified.standings();
    assert_eq!(standings.rows.last().unwrap().entrant, Entrant(0));
    assert_eq!(points(&disqualified)[&1], 2.0);
}

#[test]
fn a_knockout_has_rulings_on_its_current_round_only() {
    let format = Format::Knockout { best_of: 1, tie_breaks: 0 };
    let mut schedule = scheduled(plan(format, TWO, Deals::Mirrored, 4, 0));
    play(&mut schedule, favourite);
    assert_eq!(schedule.champion(), Some(Entrant(0)));
    let final_ = schedule.rounds()[1][0].sets[0] * 2;
    let other = schedule.rounds()[1][0].entrants.into_iter().flatten().find(|&entrant| entrant != Entrant(0));
    let award = |number| ruling(&schedule, number, MatchRuling::Award { winner: other });
    let awarded = schedule.with_rulings(&[award(final_ - 1), award(final_)]).unwrap();
    assert_eq!(awarded.champion(), other);
    assert_eq!(
        schedule.with_rulings(&[award(1)]).unwrap_err().to_string(),
        "m1 is of round 1, and round 2 of the knockout is paired by its result"
    );
    assert_eq!(awarded.without_rulings(&[0, 1]).unwrap().champion(), Some(Entrant(0)));
}

#[test]
fn later_swiss_rounds_follow_ruling_and_earlier_ones_stay() {
    let mut schedule = scheduled(plan(Format::Swiss { rounds: 3, sets: 1 }, TWO, Deals::Single, 4, 0));
    while schedule.next_round() == 2 {
        let due = schedule.due().next().unwrap();
        let result = MatchResult::played(due.set, due.lineup, &favourite(&due));
        schedule.record(due.id.number, result).unwrap();
    }
    let before = pairs(&schedule);
    let loser = schedule
        .numbered_results()
        .next()
        .map(|(_, result)| result.lineup.seats().iter().copied().max().unwrap());
    let late = ruling(&schedule, 1, MatchRuling::Award { winner: loser });
    let mut ruled = schedule.with_rulings(&[late]).unwrap();
    assert_eq!(pairs(&ruled), before, "round 2 is paired already");
    assert_eq!(points(&ruled)[&loser.unwrap().0], 1.0, "the standings follow at once");
    let replay = ruling(&schedule, 1, MatchRuling::Replay);
    assert_eq!(
        schedule.with_rulings(&[replay]).unwrap_err().to_string(),
        "m1 is of round 1, and round 2 is paired: it can be void or awarded, but not replayed"
    );
    play(&mut schedule, favourite);
    play(&mut ruled, favourite);
    assert_ne!(pairs(&ruled)[2], pairs(&schedule)[2], "round 3 is paired by the new points");
}

/// An event of a tournament.
#[derive(Clone, Debug)]
enum Happening {
    Played,
    Ruled { at: usize, how: u8 },
    Undone { at: usize },
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => Just(Happening::Played),
        2 => (any::<usize>(), 0..3u8).prop_map(|(at, how)| Happening::Ruled { at, how }),
        1 => any::<usize>().prop_map(|at| Happening::Undone { at }),
    ]
}

/// The points of each entrant and the most that it could have, counted match by match.
fn slow_points(schedule: &Schedule, played: &BTreeMap<u32, MatchResult>) -> BTreeMap<u16, (f64, u32)> {
    let entrants = schedule.plan().entrants.len() as u16;
    let mut points: BTreeMap<u16, (f64, u32)> = (0..entrants).map(|entrant| (entrant, (0.0, 0))).collect();
    let mut add = |entrant: Entrant, score: f64, matches: u32| {
        let of = points.get_mut(&entrant.0).unwrap();
        *of = (of.0 + score, of.1 + matches);
    };
    for award in schedule.awards().iter().filter(|award| award.reason != Unplayed::Ruling) {
        add(award.entrant, f64::from(award.half_points) / 2.0, award.matches);
    }
    let last = |number: u32| {
        let mut of_match = schedule.plan().rulings.iter().filter(|ruling| ruling.id.number == number);
        of_match.rfind(|ruling| ruling.until.is_none())
    };
    for (&number, result) in played {
        for &entrant in result.lineup.seats() {
            let score = match last(number).map(|ruling| ruling.decides) {
                None | Some(MatchRuling::Replay) => result.score(entrant).unwrap(),
                Some(MatchRuling::Void) => continue,
                Some(MatchRuling::Award { winner: None }) => 0.5,
                Some(MatchRuling::Award { winner: Some(winner) }) => f64::from(u8::from(winner == entrant)),
            };
            add(entrant, score, 1);
        }
    }
    points
}

#[test]
fn rulings_give_points_of_manual_count_and_survive_restart() {
    let formats =
        prop_oneof![Just(Format::Swiss { rounds: 4, sets: 1 }), Just(Format::RoundRobin { cycles: 1 }),];
    let inputs = (formats, 4..9usize, any::<u64>(), proptest::collection::vec(happening(), 1..60));
    check(150, inputs, |(format, field, seed, happenings)| {
        let mut schedule = scheduled(plan(format, TWO, Deals::Mirrored, field, 0));
        let mut played: BTreeMap<u32, MatchResult> = BTreeMap::new();
        for happening in happenings {
            let before = pairs(&schedule);
            match happening {
                Happening::Played => {
                    let Some(due) = schedule.due().next() else { continue };
                    let result = MatchResult::played(due.set, due.lineup, &drawn(seed, &due));
                    schedule.record(due.id.number, result).unwrap();
                    played.insert(due.id.number, result);
                }
                Happening::Ruled { at, how } => {
                    let Some((&number, result)) = played.iter().nth(at % played.len().max(1)) else {
                        continue;
                    };
                    let winner = result.lineup.seats()[at % 2];
                    let decides = match how {
                        0 => MatchRuling::Void,
                        1 => MatchRuling::Award { winner: None },
                        _ => MatchRuling::Award { winner: Some(winner) },
                    };
                    let made = ruling(&schedule, number, decides);
                    schedule = schedule.with_rulings(&[made]).unwrap();
                    prop_assert_eq!(&pairs(&schedule)[..before.len()], &before[..]);
                }
                Happening::Undone { at } => {
                    let in_force: Vec<usize> = (0..schedule.plan().rulings.len())
                        .filter(|&index| schedule.plan().rulings[index].until.is_none())
                        .collect();
                    let Some(&index) = in_force.get(at % in_force.len().max(1)) else { continue };
                    schedule = schedule.without_rulings(&[index]).unwrap();
                    prop_assert_eq!(&pairs(&schedule)[..before.len()], &before[..]);
                }
            }
            let rows = schedule.standings().rows;
            let counted: BTreeMap<u16, (f64, u32)> =
                rows.iter().map(|row| (row.entrant.0, (row.points, row.possible))).collect();
            prop_assert_eq!(counted, slow_points(&schedule, &played));
            prop_assert!(rows.iter().all(|row| row.points <= f64::from(row.possible)));
            let stored: Vec<(u32, MatchResult)> =
                played.iter().map(|(&number, &result)| (number, result)).collect();
            let (again, refused) = Schedule::resume(schedule.plan().clone(), stored, []).unwrap();
            prop_assert!(refused.is_empty(), "{refused:?}");
            prop_assert_eq!(pairs(&again), pairs(&schedule));
            prop_assert_eq!(points(&again), points(&schedule));
        }
        Ok(())
    });
}
