//! Schedules under interruptions, late entries, withdrawals and void matches.

use std::collections::{BTreeMap, BTreeSet};

use crate::schedules::{TWO, check, drawn, plan, play, scheduled};
use crate::simulation::runs;
use proptest::collection::vec;
use proptest::prelude::*;
use referee::game::Seating;
use referee::report::tournament::live_story;
use referee::stats::schedule::{DueMatch, Format, Participation, Plan, Schedule};
use referee::stats::standings::Withdrawn;
use referee::stats::{Deals, Entrant, Lineup, MatchResult};

fn numbered(schedule: &Schedule) -> Vec<(u32, MatchResult)> {
    let legs = schedule.legs();
    let number = |result: &MatchResult| {
        let first = schedule.sets()[result.set as usize - 1].first;
        let legs_of = (0..legs).find(|&leg| schedule.plan().deals.leg(first, leg as usize) == result.lineup);
        (result.set - 1) * legs + legs_of.unwrap() + 1
    };
    schedule.results().map(|result| (number(result), *result)).collect()
}

/// The parts of a schedule that a user sees.
fn seen(schedule: &Schedule) -> impl PartialEq + std::fmt::Debug {
    let due: Vec<(DueMatch, String)> =
        schedule.due().map(|due| (due, schedule.plan().deal(due.id))).collect();
    let results: Vec<MatchResult> = schedule.results().copied().collect();
    (schedule.sets().to_vec(), due, results, schedule.awards(), schedule.is_over(), schedule.champion())
}

fn formats() -> impl Strategy<Value = (Format, Seating, Deals)> {
    let formats = [
        (Format::RoundRobin { cycles: 2 }, TWO),
        (Format::RoundRobin { cycles: 1 }, Seating::new(6, 3)),
        (Format::RoundRobin { cycles: 1 }, Seating::new(4, 4)),
        (Format::Gauntlet { cycles: 1 }, Seating::new(3, 3)),
        (Format::Gauntlet { cycles: 2 }, TWO),
        (Format::Swiss { rounds: 5, sets: 1 }, TWO),
        (Format::Swiss { rounds: 3, sets: 2 }, Seating::new(4, 2)),
        (Format::Knockout { best_of: 2, tie_breaks: 2 }, TWO),
        (Format::Knockout { best_of: 5, tie_breaks: 1 }, TWO),
        (Format::Partners { cycles: 1 }, Seating::new(4, 2)),
    ];
    let deals = [Deals::Single, Deals::Mirrored, Deals::AllOrders];
    (0..formats.len(), 0usize..3)
        .prop_map(move |(format, deal)| (formats[format].0, formats[format].1, deals[deal]))
}

#[test]
fn interruptions_do_not_change_the_schedule() {
    check(
        300,
        (formats(), 4usize..11, any::<u64>(), vec((0usize..6, 0u8..8), 1..200)),
        |(format, entrants, seed, moments)| {
            let (format, seating, deals) = format;
            let plan = plan(format, seating, deals, entrants, 0);
            let mut whole = scheduled(plan.clone());
            play(&mut whole, |due| drawn(seed, due));
            prop_assert!(whole.is_over());

            // Concurrent matches end in any order, and sometimes everything is killed.
            let mut broken = scheduled(plan.clone());
            let mut stored: Vec<(u32, MatchResult)> = Vec::new();
            for &(job, chance) in moments.iter().cycle().take(100_000) {
                let jobs: Vec<DueMatch> = broken.due().take(6).collect();
                let Some(due) = jobs.get(job % jobs.len().max(1)) else { break };
                if chance == 0 && stored.len() % 3 == job % 3 {
                    let by = job.min(stored.len());
                    stored.rotate_left(by);
                    let (again, refused) =
                        Schedule::resume(plan.clone(), stored.iter().copied(), []).unwrap();
                    prop_assert!(refused.is_empty(), "{:?}", refused);
                    prop_assert_eq!(seen(&again), seen(&broken));
                    broken = again;
                }
                let result = MatchResult::played(due.set, due.lineup, &drawn(seed, due));
                prop_assert_eq!(broken.record(due.id.number, result), Ok(()));
                stored.push((due.id.number, result));
            }
            prop_assert_eq!(seen(&broken), seen(&whole));
            let (again, refused) = Schedule::resume(plan, stored, []).unwrap();
            prop_assert!(refused.is_empty());
            prop_assert_eq!(seen(&again), seen(&broken));
            Ok(())
        },
    );
}

/// A pseudorandom number below `below`.
fn next(random: &mut u64, below: usize) -> usize {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) as usize % below
}

/// Plays several concurrent matches, which end in any order. Sometimes everything is killed: matches in progress are
/// cut off, and the last results are lost before they are stored. A match without ranks is void. Returns the schedule
/// and the matches that were played.
fn play_at_once(
    plan: &Plan,
    (jobs, kills): (usize, usize),
    mut random: u64,
    rank: impl Fn(&DueMatch) -> Option<Vec<u8>>,
) -> (Schedule, BTreeSet<u32>) {
    let mut schedule = scheduled(plan.clone());
    let (mut running, mut played) = (Vec::new(), BTreeSet::new());
    let mut stored: Vec<(u32, Lineup, Option<MatchResult>)> = Vec::new();
    let mut kills_left = kills;
    loop {
        let free = schedule
            .due()
            .filter(|due| running.iter().all(|other: &DueMatch| other.id.number != due.id.number));
        let free: Vec<DueMatch> = free.take(jobs - running.len()).collect();
        running.extend(free);
        if running.is_empty() {
            return (schedule, played);
        }
        if kills_left > 0 && next(&mut random, 10) == 0 {
            kills_left -= 1;
            running.clear();
            let lost = next(&mut random, jobs).min(stored.len());
            stored.truncate(stored.len() - lost);
            let by = next(&mut random, stored.len() + 1);
            let mut in_any_order = stored.clone();
            in_any_order.rotate_left(by);
            let results = in_any_order.iter().filter_map(|&(number, _, result)| Some((number, result?)));
            let voids = in_any_order.iter().filter(|(_, _, result)| result.is_none());
            let voids = voids.map(|&(number, lineup, _)| (number, lineup));
            let (again, refused) = Schedule::resume(plan.clone(), results, voids).unwrap();
            let refused: BTreeSet<u32> = refused.iter().map(|refused| refused.number()).collect();
            stored.retain(|(number, _, _)| !refused.contains(number));
            schedule = again;
            continue;
        }
        let due = running.swap_remove(next(&mut random, running.len()));
        let result = rank(&due).map(|ranks| MatchResult::played(due.set, due.lineup, &ranks));
        let taken = match result {
            Some(result) => schedule.record(due.id.number, result),
            None => schedule.void(due.id.number),
        };
        taken.unwrap_or_else(|error| panic!("{error}"));
        stored.push((due.id.number, due.lineup, result));
        played.insert(due.id.number);
    }
}

#[test]
fn concurrency_and_kills_do_not_change_the_matches() {
    let formats = vec![
        (Format::RoundRobin { cycles: 2 }, TWO),
        (Format::RoundRobin { cycles: 1 }, Seating::new(6, 3)),
        (Format::Gauntlet { cycles: 3 }, TWO),
        (Format::Swiss { rounds: 5, sets: 1 }, TWO),
        (Format::Swiss { rounds: 4, sets: 3 }, Seating::new(4, 2)),
        (Format::Knockout { best_of: 1, tie_breaks: 3 }, TWO),
        (Format::Knockout { best_of: 3, tie_breaks: 1 }, TWO),
        (Format::Knockout { best_of: 4, tie_breaks: 0 }, Seating::new(4, 2)),
        (Format::Knockout { best_of: 9, tie_breaks: 2 }, TWO),
        (Format::Partners { cycles: 1 }, Seating::new(4, 2)),
    ];
    let deals = vec![Deals::Single, Deals::Mirrored];
    let format = (prop::sample::select(formats), prop::sample::select(deals));
    check(
        400,
        (format, 4usize..12, any::<u64>(), any::<u64>(), 1usize..9, (0usize..4, 0u64..6)),
        |(((format, seating), deals), entrants, seed, random, jobs, (kills, voids))| {
            let plan = plan(format, seating, deals, entrants, 0);
            // In half of the tournaments, some of each eight matches are void.
            let is_void = |due: &DueMatch| (seed ^ (u64::from(due.id.number) * 0x9e37_79b9)) % 8 + 3 < voids;
            let rank = |due: &DueMatch| (!is_void(due)).then(|| drawn(seed, due));
            let (whole, expected) = play_at_once(&plan, (1, 0), 0, rank);
            let (parallel, played) = play_at_once(&plan, (jobs, kills), random, rank);
            prop_assert!(whole.is_over());
            prop_assert_eq!(seen(&parallel), seen(&whole));
            prop_assert_eq!(parallel.standings(), whole.standings());
            // No match was played in vain.
            prop_assert_eq!(&played, &expected);
            prop_assert_eq!(expected.len(), whole.results().count() + whole.voids());
            Ok(())
        },
    );
}

#[test]
fn a_knockout_pair_plays_concurrently_only_what_it_needs() {
    let due = |wins: &[u32]| {
        let knockout = Format::Knockout { best_of: 5, tie_breaks: 0 };
        let mut schedule = scheduled(plan(knockout, TWO, Deals::Single, 2, 0));
        for &number in wins {
            let due = schedule.due().find(|due| due.id.number == number).unwrap();
            // The first entrant always wins.
            let ranks = if due.lineup.seats()[0] == Entrant(0) { [1, 2] } else { [2, 1] };
            schedule.record(number, MatchResult::played(due.set, due.lineup, &ranks)).unwrap();
        }
        let late = MatchResult::played(5, schedule.sets()[4].first, &[1, 2]);
        let refused = schedule.record(5, late).unwrap_err().to_string();
        assert!(
            refused
                .starts_with("match m5 is not due: an entrant has withdrawn, or its pair is decided or may")
        );
        schedule.due().map(|due| due.id.number).collect::<Vec<_>>()
    };
    assert_eq!(due(&[]), [1, 2, 3]);
    assert_eq!(due(&[3]), [1, 2]);
    assert_eq!(due(&[3, 1]), [2]);
    assert_eq!(due(&[3, 1, 2]), [0; 0]);
}

#[test]
fn a_withdrawn_entrant_keeps_its_results_and_others_play_on() {
    check(
        300,
        (formats(), 5usize..10, any::<u64>(), 0usize..60, 0u16..5),
        |(format, entrants, seed, moment, who)| {
            let (format, seating, deals) = format;
            let mut before = scheduled(plan(format, seating, deals, entrants, 0));
            let mut stored: Vec<(u32, MatchResult)> = Vec::new();
            for _ in 0..moment {
                let Some(due) = before.due().next() else { break };
                let result = MatchResult::played(due.set, due.lineup, &drawn(seed, &due));
                before.record(due.id.number, result).unwrap();
                stored.push((due.id.number, result));
            }
            let mut plan = before.plan().clone();
            plan.entrants[who as usize].leaves = Some(before.next_round());
            let (mut after, refused) = Schedule::resume(plan.clone(), stored.iter().copied(), []).unwrap();
            prop_assert!(refused.is_empty(), "{:?}", refused);
            prop_assert_eq!(&after.sets()[..before.sets().len()], before.sets());
            loop {
                let Some(due) = after.due().next() else { break };
                prop_assert!(!due.lineup.has(Entrant(who)));
                let result = MatchResult::played(due.set, due.lineup, &drawn(seed, &due));
                after.record(due.id.number, result).unwrap();
                stored.push((due.id.number, result));
            }
            prop_assert!(after.is_over());
            let (again, refused) = Schedule::resume(plan, stored.into_iter().rev(), []).unwrap();
            prop_assert!(refused.is_empty(), "{:?}", refused);
            prop_assert_eq!(seen(&again), seen(&after));
            Ok(())
        },
    );
}

#[test]
fn missing_matches_are_counted_through_all_rounds() {
    let at_once = |format, entrants| {
        let missing = scheduled(plan(format, TWO, Deals::Mirrored, entrants, 0)).missing();
        (missing.least, missing.most)
    };
    assert_eq!(at_once(Format::RoundRobin { cycles: 1 }, 5), (20, 20));
    assert_eq!(at_once(Format::Swiss { rounds: 5, sets: 1 }, 9), (40, 40), "one of nine has a bye");
    assert_eq!(at_once(Format::Knockout { best_of: 3, tie_breaks: 1 }, 5), (16, 32));
}

#[test]
fn the_number_of_missing_matches_is_exact_at_any_moment() {
    check(
        300,
        (formats(), 5usize..12, any::<u64>(), 0usize..60, 0u16..10),
        |(format, entrants, seed, moment, who)| {
            let (format, seating, deals) = format;
            let mut schedule = scheduled(plan(format, seating, deals, entrants, 0));
            let mut missing_counts = vec![schedule.missing()];
            let mut next = |schedule: &mut Schedule| {
                let Some(due) = schedule.due().next() else { return false };
                let result = MatchResult::played(due.set, due.lineup, &drawn(seed, &due));
                schedule.record(due.id.number, result).unwrap();
                missing_counts.push(schedule.missing());
                true
            };
            let before = (0..moment).take_while(|_| next(&mut schedule)).count();
            if usize::from(who) < entrants && !schedule.is_over() {
                let mut plan = schedule.plan().clone();
                plan.entrants[usize::from(who)].leaves = Some(schedule.next_round());
                let results: Vec<(u32, MatchResult)> = numbered(&schedule);
                schedule = Schedule::resume(plan, results, []).unwrap().0;
            }
            while next(&mut schedule) {}
            prop_assert!(schedule.is_over());
            // Numbers from before the withdrawal do not apply any more.
            missing_counts.drain(..before);
            missing_counts[0] =
                Schedule::resume(schedule.plan().clone(), numbered(&schedule).into_iter().take(before), [])
                    .unwrap()
                    .0
                    .missing();
            let all = missing_counts.len() as u64 - 1;
            for (at, missing) in missing_counts.iter().enumerate() {
                let rest = all - at as u64;
                prop_assert!(missing.least <= rest && rest <= missing.most, "{:?}: {}", missing, rest);
                let is_knockout = matches!(format, Format::Knockout { .. });
                prop_assert!(missing.is_certain() || is_knockout);
            }
            Ok(())
        },
    );
}

#[test]
fn entrant_that_gauntlet_is_about_wins_nothing_by_playing_more() {
    let mut schedule = scheduled(plan(Format::Gauntlet { cycles: 10 }, TWO, Deals::Single, 5, 0));
    // It wins 13 of 40 matches: 3 or 4 against each of the others.
    let won = 13;
    play(&mut schedule, |due| {
        let wins = due.set % 3 == 0;
        let is_first = due.lineup.seats()[0] == Entrant(0);
        if wins == is_first { vec![1, 2] } else { vec![2, 1] }
    });
    let standings = schedule.standings();
    let hero = standings.rows.last().unwrap();
    assert_eq!((hero.entrant, hero.place, hero.points, hero.matches), (Entrant(0), None, f64::from(won), 40));
    assert_eq!(standings.rows[0].place, Some(1));
    assert!(standings.rows[..4].iter().all(|row| row.points >= 6.0 && row.place.is_some()));
    let names = ["hero", "ann", "bob", "cid", "dan"];
    let story = live_story("Trial", &names, &names, &schedule, &standings, None);
    assert_eq!(story.heading, format!("hero scored {won} of 40 points in Trial"));
    assert!(
        story.text().starts_with(&format!("hero won {won} of 40 matches and lost {}.", 40 - won)),
        "{story:?}"
    );
    assert!(!story.text().contains("Nobody could catch it") && story.deciding_match.is_none(), "{story:?}");
}

#[test]
fn more_matches_do_not_put_partners_first() {
    // Eight equal entrants in three sides of two: some play 8 matches and some 7.
    let empty = scheduled(plan(Format::Partners { cycles: 1 }, Seating::new(6, 3), Deals::Single, 8, 0));
    let runs = runs(600, 8_000);
    let mut first: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for run in 0..runs {
        let mut schedule = empty.clone();
        play(&mut schedule, |due| drawn(u64::from(run), due));
        let rows = schedule.standings().rows;
        let winners = rows.iter().filter(|row| row.place == Some(1)).count() as f64;
        for row in &rows {
            let (wins, entrants) = first.entry(row.matches).or_default();
            *wins += if row.place == Some(1) { 1.0 / winners } else { 0.0 };
            *entrants += 1.0;
        }
    }
    println!("by number of matches, the times that an entrant came first, and the chances: {first:?}");
    let shares: Vec<f64> = first.values().map(|(wins, chances)| wins / chances).collect();
    assert!(shares.len() > 1 && shares.iter().all(|share| (0.095..0.155).contains(share)), "{shares:?}");
}

/// A round robin of five from which the first entrant withdraws after this number of its four matches; the first of
/// each pair wins.
fn left_after(matches: usize) -> Schedule {
    let mut schedule = scheduled(plan(Format::RoundRobin { cycles: 1 }, TWO, Deals::Single, 5, 0));
    while schedule.results().filter(|result| result.lineup.has(Entrant(0))).count() < matches {
        let due = schedule.due().find(|due| due.lineup.has(Entrant(0))).unwrap();
        let result = MatchResult::played(due.set, due.lineup, &[1, 2]);
        schedule.record(due.id.number, result).unwrap();
    }
    let mut plan = schedule.plan().clone();
    plan.entrants[0].leaves = Some(schedule.next_round());
    let mut schedule = Schedule::resume(plan, numbered(&schedule), []).unwrap().0;
    play(&mut schedule, |_| vec![1, 1]);
    schedule
}

#[test]
fn withdrawal_before_half_of_the_matches_annuls_results() {
    let schedule = left_after(1);
    assert_eq!(schedule.withdrawn()[0], Some(Withdrawn::Annulled));
    let standings = schedule.standings();
    let last = standings.rows.last().unwrap();
    assert_eq!((last.entrant, last.points, last.matches), (Entrant(0), 0.0, 1));
    assert_eq!(last.withdrawn, Some(Withdrawn::Annulled));
    // Three draws each, including opponents of the withdrawn entrant.
    assert!(standings.rows[..4].iter().all(|row| (row.points, row.matches, row.place) == (1.5, 3, Some(1))));
    assert!(schedule.awards().is_empty());
    assert_eq!(schedule.results().count(), 7, "ratings take them all in");
}

#[test]
fn withdrawal_after_half_of_the_matches_keeps_results() {
    let schedule = left_after(2);
    assert_eq!(schedule.withdrawn(), [Some(Withdrawn::Counted), None, None, None, None]);
    let awarded: Vec<u32> = schedule.awards().iter().map(|award| award.matches).collect();
    assert_eq!(awarded, [1, 1]);
    let points: f64 = schedule.standings().rows.iter().map(|row| row.points).sum();
    assert_eq!(points, 10.0, "one for each of the matches");
}

#[test]
fn later_entrants_do_not_affect_an_earlier_withdrawal() {
    let schedule = left_after(2);
    let mut plan = schedule.plan().clone();
    for _ in 0..4 {
        let joins = Schedule::new(plan.clone()).unwrap().next_round();
        plan.entrants.push(Participation { joins, ..Participation::default() });
    }
    let (schedule, _) = Schedule::resume(plan, numbered(&schedule), []).unwrap();
    assert_eq!(schedule.withdrawn()[0], Some(Withdrawn::Counted));
    assert_eq!(schedule.awards().iter().map(|award| award.matches).sum::<u32>(), 2);
}

#[test]
fn late_swiss_entrant_is_paired_from_next_round_on() {
    let swiss = Format::Swiss { rounds: 4, sets: 1 };
    let mut schedule = scheduled(plan(swiss, TWO, Deals::Mirrored, 6, 0));
    let mut stored = Vec::new();
    for _ in 0..4 {
        let due = schedule.due().next().unwrap();
        let result = MatchResult::played(due.set, due.lineup, &[1, 2]);
        schedule.record(due.id.number, result).unwrap();
        stored.push((due.id.number, result));
    }
    let mut plan = schedule.plan().clone();
    plan.entrants.push(Participation { joins: schedule.next_round(), ..Participation::default() });
    let (mut schedule, _) = Schedule::resume(plan, stored, []).unwrap();
    play(&mut schedule, |_| vec![1, 2]);
    let rounds: BTreeSet<u32> =
        schedule.sets().iter().filter(|set| set.first.has(Entrant(6))).map(|set| set.round).collect();
    assert!(!rounds.contains(&1) && rounds.len() + schedule.awards().len() >= 3, "{rounds:?}");
    // Seven is odd: one bye in each of the rounds 2 to 4, for different entrants.
    let byes: BTreeSet<Entrant> = schedule.awards().iter().map(|award| award.entrant).collect();
    assert_eq!((schedule.awards().len(), byes.len()), (3, 3));
}

#[test]
fn match_that_was_cut_off_gets_new_deal_unless_mirrored() {
    let format = Format::RoundRobin { cycles: 1 };
    let ids = |deals| {
        let mut schedule = scheduled(plan(format, TWO, deals, 3, 0));
        let first = schedule.due().next().unwrap();
        schedule.record(1, MatchResult::played(1, first.lineup, &[1, 2])).unwrap();
        schedule.cut_off(2);
        let due = schedule.due().next().unwrap();
        (due.id.to_string(), schedule.plan().deal(due.id))
    };
    assert_eq!(ids(Deals::Single), ("m2.2".to_owned(), "m2.2".to_owned()));
    assert_eq!(ids(Deals::Mirrored), ("m2.2".to_owned(), "s1".to_owned()));
}

/// Plays all due matches: those with these numbers are void, the first entrant wins all others.
fn with_voids(plan: &Plan, void: &[u32]) -> Schedule {
    let mut schedule = scheduled(plan.clone());
    loop {
        let Some(due) = schedule.due().next() else { break };
        if void.contains(&due.id.number) {
            schedule.void(due.id.number).unwrap();
            continue;
        }
        let ranks = if due.lineup.seats()[0] < due.lineup.seats()[1] { [1, 2] } else { [2, 1] };
        schedule.record(due.id.number, MatchResult::played(due.set, due.lineup, &ranks)).unwrap();
    }
    assert!(schedule.is_over());
    schedule
}

#[test]
fn a_void_match_is_not_replayed_and_gives_no_points() {
    for format in [Format::RoundRobin { cycles: 1 }, Format::Swiss { rounds: 3, sets: 1 }] {
        let schedule = with_voids(&plan(format, TWO, Deals::Single, 4, 0), &[2, 3]);
        assert_eq!((schedule.results().count(), schedule.voids()), (4, 2), "{format:?}");
        let points: f64 = schedule.standings().rows.iter().map(|row| row.points).sum();
        assert_eq!(points, 4.0, "{format:?}");
        assert!(schedule.awards().is_empty());
    }
}

#[test]
fn void_match_does_not_count_as_meeting_in_swiss_tournament() {
    let swiss = plan(Format::Swiss { rounds: 2, sets: 1 }, TWO, Deals::Single, 2, 0);
    let schedule = with_voids(&swiss, &[1]);
    assert_eq!((schedule.results().count(), schedule.voids()), (1, 1));
}

#[test]
fn knockout_pair_with_void_matches_uses_tie_breaks_then_seeds() {
    let knockout =
        |best_of, tie_breaks| plan(Format::Knockout { best_of, tie_breaks }, TWO, Deals::Mirrored, 2, 0);
    let champion = |plan: &Plan, void: &[u32]| {
        let schedule = with_voids(plan, void);
        (schedule.champion().unwrap().0, schedule.results().count())
    };
    assert_eq!(champion(&knockout(1, 1), &[2]), (0, 1), "the other match decides");
    assert_eq!(champion(&knockout(1, 1), &[1, 2]), (0, 2), "a tie-break decides");
    assert_eq!(champion(&knockout(1, 1), &[1, 2, 3, 4]), (0, 0), "the higher seed goes on");
    assert_eq!(champion(&knockout(3, 0), &[1, 2, 3, 4, 5, 6]), (0, 0));
}

#[test]
fn only_due_matches_can_be_void() {
    let mut schedule = scheduled(plan(Format::RoundRobin { cycles: 1 }, TWO, Deals::Single, 3, 0));
    let due = schedule.due().next().unwrap();
    let result = MatchResult::played(due.set, due.lineup, &[1, 2]);
    assert!(schedule.void(0).is_err() && schedule.void(99).is_err());
    schedule.void(1).unwrap();
    assert!(schedule.void(1).is_err() && schedule.record(1, result).is_err());
    assert_eq!(schedule.due().map(|due| due.id.number).collect::<Vec<_>>(), [2, 3]);
    // Another lineup: it is another match.
    let other = schedule.due().next().unwrap().lineup;
    let (again, _) = Schedule::resume(schedule.plan().clone(), [], [(1, other)]).unwrap();
    assert_eq!((again.due().count(), again.voids()), (3, 0));
}

#[test]
fn results_that_do_not_fit_are_rejected_without_a_change() {
    let mut schedule = scheduled(plan(Format::RoundRobin { cycles: 1 }, TWO, Deals::Mirrored, 3, 0));
    let due = schedule.due().next().unwrap();
    let result = MatchResult::played(due.set, due.lineup, &[1, 2]);
    for (number, result, why) in [
        (0, result, "there is no match m0 in the schedule"),
        (99, result, "there is no match m99 in the schedule"),
        (2, result, "match m2 has other seats in the schedule"),
    ] {
        assert_eq!(schedule.record(number, result).unwrap_err().to_string(), why);
    }
    schedule.record(1, result).unwrap();
    assert_eq!(schedule.record(1, result).unwrap_err().to_string(), "match m1 has a result already");
    let (_, refused) =
        Schedule::resume(schedule.plan().clone(), [(1, result), (2, result), (77, result)], []).unwrap();
    assert_eq!(refused.len(), 2);
}

#[test]
fn inconsistent_plans_are_rejected_with_the_reason() {
    let three = Seating::new(6, 3);
    for (format, seating, entrants, why) in [
        (
            Format::Swiss { rounds: 3, sets: 1 },
            three,
            6,
            "a Swiss tournament does not support 3 sides: take a round robin or a gauntlet, which play all groups of 3",
        ),
        (
            Format::Knockout { best_of: 1, tie_breaks: 0 },
            Seating::new(5, 5),
            6,
            "a knockout does not support 5 sides: take a round robin or a gauntlet, which play all groups of 5",
        ),
        (
            Format::Gauntlet { cycles: 1 },
            Seating::new(4, 4),
            3,
            "a gauntlet needs from 4 to 65535 entrants, not 3",
        ),
        (
            Format::Partners { cycles: 1 },
            TWO,
            6,
            "rotations of partners need sides of two seats, not 2 seats in 2 sides",
        ),
        (Format::RoundRobin { cycles: 0 }, TWO, 6, "round robin needs at least one cycle, round or set"),
        (Format::RoundRobin { cycles: 1 }, three, 2, "round robin needs from 3 to 65535 entrants, not 2"),
        (Format::Duel { sets: 10 }, TWO, 3, "a duel has 2 entrants, not 3"),
        (
            Format::Swiss { rounds: 1001, sets: 1 },
            TWO,
            8,
            "a Swiss tournament has at most 1000 rounds, not 1001",
        ),
    ] {
        let plan = Plan::new(format, seating, Deals::Mirrored, entrants);
        assert_eq!(Schedule::new(plan).unwrap_err().to_string(), why);
    }
    for (sides, entrants) in [(2, 60_000), (3, 2_000), (6, 60_000)] {
        let (format, seating) = (Format::RoundRobin { cycles: u32::MAX }, Seating::new(sides, sides));
        assert!(Schedule::new(Plan::new(format, seating, Deals::Mirrored, entrants)).is_err());
    }
    let longest = Plan::new(Format::Swiss { rounds: 1000, sets: 1 }, TWO, Deals::Mirrored, 500);
    assert_eq!(longest.check(), Ok(()), "500,000 matches");
}
