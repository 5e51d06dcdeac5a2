//! Properties of pairings, tested with hundreds of random tournaments.

use std::collections::{BTreeMap, BTreeSet};

use crate::schedules::{TWO, check, drawn, plan, play, scheduled};
use proptest::prelude::*;
use referee::core::Seating;
use referee::tournament::schedule::{Format, Schedule};
use referee::tournament::{Deals, Entrant, Lineup};

/// The lineups of all matches.
fn lineups(schedule: &Schedule) -> Vec<Lineup> {
    let legs = schedule.legs() as usize;
    let deals = schedule.plan().deals;
    schedule.sets().iter().flat_map(|set| (0..legs).map(move |leg| deals.leg(set.first, leg))).collect()
}

/// By pair of entrants: the number of sets with them on different sides (or on the same one).
fn meetings(schedule: &Schedule, on_same_side: bool) -> BTreeMap<(u16, u16), u32> {
    let mut count = BTreeMap::new();
    for set in schedule.sets() {
        let sides = set.first.seating().sides();
        for (a, b) in (0..sides).flat_map(|a| (0..sides).map(move |b| (a, b))) {
            let both = set.first.side(a).flat_map(|one| set.first.side(b).map(move |other| (one, other)));
            for (one, other) in both.collect::<BTreeSet<(Entrant, Entrant)>>() {
                if one < other && (a == b) == on_same_side {
                    *count.entry((one.0, other.0)).or_default() += 1;
                }
            }
        }
    }
    count
}

/// The maximum difference between the numbers of times that an entrant had two sides.
fn imbalance(schedule: &Schedule, entrants: usize) -> u32 {
    let mut had = vec![[0u32; 6]; entrants];
    let lineups = lineups(schedule);
    for lineup in &lineups {
        let sides = 0..lineup.seating().sides();
        let seated = sides.flat_map(|side| lineup.side(side).map(move |member| (side, member)));
        for (side, member) in seated.collect::<BTreeSet<(usize, Entrant)>>() {
            had[member.index()][side] += 1;
        }
    }
    let sides = schedule.plan().seating.sides();
    let spread = |had: &[u32; 6]| had[..sides].iter().max().unwrap() - had[..sides].iter().min().unwrap();
    had.iter().map(spread).max().unwrap_or(0)
}

fn pairs(entrants: usize) -> usize {
    entrants * (entrants - 1) / 2
}

#[test]
fn round_robins_are_balanced_and_late_entrants_only_add_matches() {
    check(300, (2usize..14, 0usize..5, 1u32..5, any::<bool>()), |(field, late, cycles, mirrored)| {
        let deals = if mirrored { Deals::Mirrored } else { Deals::Single };
        let format = Format::RoundRobin { cycles };
        let schedule = scheduled(plan(format, TWO, deals, field, late));
        let meetings = meetings(&schedule, false);
        prop_assert_eq!(meetings.len(), pairs(field + late));
        prop_assert!(meetings.values().all(|&count| count == cycles));
        prop_assert!(imbalance(&schedule, field + late) <= 1);
        let longer = scheduled(plan(format, TWO, deals, field, late + 1));
        prop_assert_eq!(&longer.sets()[..schedule.sets().len()], schedule.sets());
        Ok(())
    });
}

#[test]
fn gauntlets_are_balanced() {
    check(200, (2usize..12, 0usize..4, 1u32..5), |(field, late, cycles)| {
        let schedule = scheduled(plan(Format::Gauntlet { cycles }, TWO, Deals::Single, field, late));
        let meetings = meetings(&schedule, false);
        prop_assert_eq!(meetings.len(), field + late - 1);
        prop_assert!(meetings.iter().all(|(&(one, _), &count)| one == 0 && count == cycles));
        prop_assert!(imbalance(&schedule, field + late) <= 1);
        Ok(())
    });
}

#[test]
fn three_teams_meet_in_every_combination_balanced() {
    check(60, (3usize..12, 0usize..3, 1u32..4), |(field, late, cycles)| {
        let all = field + late;
        let schedule =
            scheduled(plan(Format::RoundRobin { cycles }, Seating::new(6, 3), Deals::Single, field, late));
        let threes: BTreeSet<Vec<Entrant>> = schedule
            .sets()
            .iter()
            .map(|set| {
                let mut three: Vec<Entrant> = (0..3).filter_map(|side| set.first.side(side).next()).collect();
                three.sort();
                three
            })
            .collect();
        prop_assert_eq!(threes.len(), all * (all - 1) * (all - 2) / 6);
        prop_assert!(meetings(&schedule, false).values().all(|&count| count == cycles * (all as u32 - 2)));
        let most = if late == 0 { 1 } else { 2 };
        prop_assert!(imbalance(&schedule, all) <= most);
        Ok(())
    });
}

#[test]
fn rotating_partners_are_balanced() {
    let seatings = [Seating::new(4, 2), Seating::new(6, 3)];
    check(150, (0usize..2, 6usize..16, 0usize..2, 1u32..4), |(seating, field, late, cycles)| {
        let schedule =
            scheduled(plan(Format::Partners { cycles }, seatings[seating], Deals::Mirrored, field, late));
        let partners = meetings(&schedule, true);
        prop_assert_eq!(partners.len(), pairs(field + late));
        let (least, most) = (partners.values().min().unwrap(), partners.values().max().unwrap());
        // All partnerships of a late entrant share it, so those of the others are repeated.
        prop_assert!(*least == cycles && (late > 0 || *most <= cycles + 1), "{} to {}", least, most);
        prop_assert_eq!(imbalance(&schedule, field + late), 0);
        let single =
            scheduled(plan(Format::Partners { cycles }, seatings[seating], Deals::Single, field, late));
        prop_assert!(imbalance(&single, field + late) <= 3, "{}", imbalance(&single, field + late));
        Ok(())
    });
}

#[test]
fn rotating_partners_form_a_whist_tournament_if_one_exists() {
    for (entrants, cycles) in [4, 5, 8, 9, 12, 13, 16, 21, 29].into_iter().flat_map(|n| [(n, 1), (n, 2)]) {
        let schedule =
            scheduled(plan(Format::Partners { cycles }, Seating::new(4, 2), Deals::Single, entrants, 0));
        assert_eq!(schedule.sets().len(), cycles as usize * pairs(entrants) / 2);
        assert!(meetings(&schedule, true).values().all(|&count| count == cycles), "{entrants}");
        assert!(meetings(&schedule, false).values().all(|&count| count == 2 * cycles), "{entrants}");
        assert_eq!(meetings(&schedule, false).len(), pairs(entrants), "{entrants}");
    }
}

/// The minimum cost of a round of a Swiss tournament over all pairings: rematches, then seat surpluses beyond one.
fn least_cost(
    players: &[Player],
    left: u32,
    bye_among: Option<u32>,
    memo: &mut BTreeMap<(u32, bool), (u32, u32)>,
) -> (u32, u32) {
    if left == 0 {
        return (0, 0);
    }
    if let Some(&known) = memo.get(&(left, bye_among.is_some())) {
        return known;
    }
    let first = left.trailing_zeros() as usize;
    let rest = left & !(1 << first);
    let mut best = (u32::MAX, u32::MAX);
    if let Some(byes) = bye_among
        && players[first].byes == byes
    {
        best = least_cost(players, rest, None, memo);
    }
    for other in (0..players.len()).filter(|other| rest & (1 << other) != 0) {
        let (met, surplus) = least_cost(players, rest & !(1 << other), bye_among, memo);
        if met < u32::MAX {
            let (a, b) = (&players[first], &players[other]);
            let again = a.met.iter().filter(|&&met| met == other).count() as u32;
            best = best.min((met + again, surplus + beyond(a.surplus, b.surplus)));
        }
    }
    memo.insert((left, bye_among.is_some()), best);
    best
}

/// The necessary excess of surpluses over one after these two have met.
fn beyond(a: i32, b: i32) -> u32 {
    (a.min(b) + 1).unsigned_abs().saturating_sub(1) + (a.max(b) - 1).unsigned_abs().saturating_sub(1)
}

#[derive(Clone, Default)]
struct Player {
    byes: u32,
    met: Vec<usize>,
    surplus: i32,
}

#[test]
fn swiss_rounds_minimise_rematches_and_surpluses_and_share_byes() {
    let mut rematches = 0;
    let unavoidable = std::cell::Cell::new(0);
    check(300, (2usize..12, 1u32..14, any::<u64>(), any::<bool>()), |(entrants, rounds, seed, mirrored)| {
        let deals = if mirrored { Deals::Mirrored } else { Deals::Single };
        let mut schedule = scheduled(plan(Format::Swiss { rounds, sets: 1 }, TWO, deals, entrants, 0));
        play(&mut schedule, |due| drawn(seed, due));
        let mut players = vec![Player::default(); entrants];
        for round in 1..=rounds {
            let sets: Vec<Lineup> =
                schedule.sets().iter().filter(|set| set.round == round).map(|set| set.first).collect();
            prop_assert_eq!(sets.len(), entrants / 2);
            let odd = entrants % 2 == 1;
            let fewest = players.iter().map(|player| player.byes).min();
            let mut memo = BTreeMap::new();
            let least = least_cost(&players, (1 << entrants) - 1, fewest.filter(|_| odd), &mut memo);
            let mut there = vec![false; entrants];
            let mut cost = (0, 0);
            for lineup in sets {
                let [a, b] = [lineup.seats()[0].index(), lineup.seats()[1].index()];
                there[a] = true;
                there[b] = true;
                cost.0 += players[a].met.iter().filter(|&&met| met == b).count() as u32;
                cost.1 += beyond(players[a].surplus, players[b].surplus);
                players[a].met.push(b);
                players[b].met.push(a);
                if !mirrored {
                    players[a].surplus += 1;
                    players[b].surplus -= 1;
                }
            }
            prop_assert_eq!(cost, least, "round {}", round);
            unavoidable.set(unavoidable.get() + cost.0);
            for (player, _) in players.iter_mut().zip(&there).filter(|(_, there)| !**there) {
                player.byes += 1;
            }
            let byes = players.iter().map(|player| player.byes);
            prop_assert!(byes.clone().max() <= byes.min().map(|least| least + 1));
        }
        Ok(())
    });
    rematches += unavoidable.get();
    assert!(rematches > 0, "the cases also had rounds in which rematches were unavoidable");
}

#[test]
fn swiss_rounds_pair_score_groups_and_halves() {
    let mut schedule = scheduled(plan(Format::Swiss { rounds: 4, sets: 1 }, TWO, Deals::Mirrored, 16, 0));
    let first_round: Vec<(u16, u16)> = schedule
        .sets()
        .iter()
        .map(|set| {
            (
                set.first.seats()[0].0.min(set.first.seats()[1].0),
                set.first.seats()[0].0.max(set.first.seats()[1].0),
            )
        })
        .collect();
    assert_eq!(first_round, (0..8).map(|seed| (seed, seed + 8)).collect::<Vec<_>>());
    // The lower number always wins: without upsets all pairs are within score groups, and after four rounds one has
    // won all matches.
    play(
        &mut schedule,
        |due| if due.lineup.seats()[0] < due.lineup.seats()[1] { vec![1, 2] } else { vec![2, 1] },
    );
    let mut points = [0.0; 16];
    for round in 1..=4 {
        let before = points;
        for result in
            schedule.results().filter(|result| schedule.sets()[result.set as usize - 1].round == round)
        {
            let [a, b] = [0, 1].map(|seat| result.lineup.seats()[seat]);
            assert_eq!(before[a.index()], before[b.index()], "round {round}");
            points[a.index()] += result.score(a).unwrap();
            points[b.index()] += result.score(b).unwrap();
        }
    }
    assert_eq!(points.iter().filter(|&&points| points == 8.0).count(), 1);
    assert_eq!(points[0], 8.0);
}

#[test]
fn the_strongest_wins_a_knockout_and_others_lose_once() {
    check(150, (2usize..40, 1u32..4, any::<u64>(), any::<bool>()), |(entrants, best_of, seed, mirrored)| {
        let deals = if mirrored { Deals::Mirrored } else { Deals::Single };
        let mut schedule =
            scheduled(plan(Format::Knockout { best_of, tie_breaks: 2 }, TWO, deals, entrants, 0));
        let strength = |entrant: Entrant| (u64::from(entrant.0) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        play(&mut schedule, |due| {
            let [a, b] = [0, 1].map(|seat| strength(due.lineup.seats()[seat]));
            if a > b { vec![1, 2] } else { vec![2, 1] }
        });
        prop_assert!(schedule.is_over());
        let strongest = (0..entrants as u16).map(Entrant).max_by_key(|&entrant| strength(entrant));
        prop_assert_eq!(schedule.champion(), strongest);
        let losers: BTreeSet<Entrant> = schedule
            .results()
            .map(|result| result.lineup.seats()[usize::from(result.places[0] == 1)])
            .collect();
        prop_assert_eq!(losers.len(), entrants - 1);
        // Best of 3 mirrored sets: the second one decides.
        let played = schedule.results().count();
        let most = (entrants - 1) * best_of as usize * schedule.legs() as usize;
        prop_assert!(played <= most && (best_of < 3 || played < most));
        Ok(())
    });
}

#[test]
fn a_tie_is_broken_by_further_sets_then_by_seeds() {
    let knockout = Format::Knockout { best_of: 2, tie_breaks: 3 };
    let mut schedule = scheduled(plan(knockout, TWO, Deals::Mirrored, 2, 0));
    play(&mut schedule, |_| vec![1, 1]);
    assert_eq!((schedule.sets().len(), schedule.champion()), (5, Some(Entrant(0))));
    let mut decided = scheduled(plan(knockout, TWO, Deals::Mirrored, 2, 0));
    play(&mut decided, |due| match due.lineup.seats()[0] {
        Entrant(1) if due.set == 3 => vec![1, 2],
        _ => vec![1, 1],
    });
    assert_eq!((decided.sets().len(), decided.champion()), (3, Some(Entrant(1))));
}
