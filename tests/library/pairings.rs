//! Properties of pairings, tested with hundreds of random tournaments.

use std::collections::{BTreeMap, BTreeSet};

use crate::schedules::{TWO, check, drawn, plan, play, scheduled};
use crate::simulation::runs;
use proptest::prelude::*;
use referee::game::Seating;
use referee::stats::schedule::{Balance, CountRange, Format, Schedule};
use referee::stats::{Deals, Entrant, Lineup};

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

/// The entrants of the first matches of the sets, each in ascending order, with the number of sets.
fn groups(schedule: &Schedule) -> BTreeMap<Vec<u16>, u32> {
    let mut count = BTreeMap::new();
    for set in schedule.sets() {
        let sides = set.first.seating().sides();
        let mut group: Vec<u16> = (0..sides).map(|side| set.first.side(side).next().unwrap().0).collect();
        group.sort_unstable();
        *count.entry(group).or_default() += 1;
    }
    count
}

/// All groups of so many entrants, by trying all sets of entrants.
fn slow_groups(size: usize, all: usize) -> impl Iterator<Item = Vec<u16>> {
    let members = move |set: u32| (0..all as u16).filter(move |&entrant| set & (1 << entrant) != 0);
    (0..1u32 << all)
        .filter(move |set| set.count_ones() as usize == size)
        .map(move |set| members(set).collect())
}

/// A number of sides from 3 to 6, and a field for it with late entrants, of at most 11.
fn fields_of_groups() -> impl Strategy<Value = (Seating, usize, usize, u32)> {
    (3u8..7, 0usize..6, 0usize..3, 1u32..4).prop_map(|(sides, more, late, cycles)| {
        let seats = if sides == 3 && more.is_multiple_of(2) { 6 } else { sides };
        (Seating::new(seats, sides), usize::from(sides) + more.min(9 - usize::from(sides)), late, cycles)
    })
}

#[test]
fn matches_of_three_to_six_sides_balance_all_groups() {
    check(150, fields_of_groups(), |(seating, field, late, cycles)| {
        let all = field + late;
        let format = Format::RoundRobin { cycles };
        let schedule = scheduled(plan(format, seating, Deals::Single, field, late));
        let expected = slow_groups(seating.sides(), all).map(|group| (group, cycles));
        prop_assert_eq!(groups(&schedule), expected.collect::<BTreeMap<_, _>>());
        let meetings = meetings(&schedule, false);
        prop_assert_eq!(meetings.len(), pairs(all));
        let often: BTreeSet<u32> = meetings.into_values().collect();
        prop_assert_eq!(often.len(), 1, "each pair meets equally often");
        prop_assert!(imbalance(&schedule, all) <= 1, "{}", imbalance(&schedule, all));
        let mirrored = scheduled(plan(format, seating, Deals::Mirrored, field, late));
        prop_assert_eq!(imbalance(&mirrored, all), 0);
        let longer = scheduled(plan(format, seating, Deals::Single, field, late + 1));
        prop_assert_eq!(&longer.sets()[..schedule.sets().len()], schedule.sets());
        Ok(())
    });
}

#[test]
fn gauntlets_of_three_to_six_sides_include_first_entrant() {
    check(150, fields_of_groups(), |(seating, field, late, cycles)| {
        let all = field + late;
        let format = Format::Gauntlet { cycles };
        let schedule = scheduled(plan(format, seating, Deals::Single, field, late));
        let expected = slow_groups(seating.sides(), all).filter(|group| group[0] == 0);
        prop_assert_eq!(groups(&schedule), expected.map(|group| (group, cycles)).collect::<BTreeMap<_, _>>());
        let meetings = meetings(&schedule, false);
        for is_first in [true, false] {
            let of_kind = meetings.iter().filter(|((one, _), _)| (*one == 0) == is_first);
            let often: BTreeSet<u32> = of_kind.map(|(_, &count)| count).collect();
            prop_assert_eq!(often.len(), 1, "each pair meets equally often");
        }
        prop_assert!(imbalance(&schedule, all) <= 1, "{}", imbalance(&schedule, all));
        let longer = scheduled(plan(format, seating, Deals::Single, field, late + 1));
        prop_assert_eq!(&longer.sets()[..schedule.sets().len()], schedule.sets());
        Ok(())
    });
}

#[test]
fn rotating_partners_are_balanced() {
    let seatings = [Seating::new(4, 2), Seating::new(6, 3)];
    let cases = runs(30, 150);
    check(cases, (0usize..2, 6usize..16, 0usize..2, 1u32..4), |(seating, field, late, cycles)| {
        let format = Format::Partners { cycles };
        let schedule = scheduled(plan(format, seatings[seating], Deals::Mirrored, field, late));
        let partners = meetings(&schedule, true);
        prop_assert_eq!(partners.len(), pairs(field + late));
        let (least, most) = (partners.values().min().unwrap(), partners.values().max().unwrap());
        // All partnerships of a late entrant share it, so those of the others are repeated.
        prop_assert!(*least == cycles && (late > 0 || *most <= cycles + 1), "{} to {}", least, most);
        prop_assert_eq!(imbalance(&schedule, field + late), 0);
        let single = scheduled(plan(format, seatings[seating], Deals::Single, field, late));
        let most = if late == 0 { 2 } else { 3 };
        prop_assert!(imbalance(&single, field + late) <= most, "{}", imbalance(&single, field + late));
        if late == 0 {
            let Balance { opponents, seats_of_side, left_neighbours, .. } = single.balance().unwrap();
            prop_assert!(opponents.most - opponents.least <= 3, "{:?}", opponents);
            prop_assert!(seats_of_side.most - seats_of_side.least <= 3, "{:?}", seats_of_side);
            prop_assert!(left_neighbours.most - left_neighbours.least <= 6, "{:?}", left_neighbours);
        }
        Ok(())
    });
}

/// The balance of a rotation of partners with a deal for each match.
fn balance(seating: Seating, entrants: usize, cycles: u32) -> Balance {
    scheduled(plan(Format::Partners { cycles }, seating, Deals::Single, entrants, 0)).balance().unwrap()
}

#[test]
fn rotating_partners_meet_all_others_equally_often_where_design_exists() {
    for (seating, entrants, cycles, opponents) in [
        (Seating::new(4, 2), 6, 2, 4),
        (Seating::new(4, 2), 6, 6, 12),
        (Seating::new(4, 2), 7, 2, 4),
        (Seating::new(4, 2), 10, 2, 4),
        (Seating::new(6, 3), 7, 1, 4),
        (Seating::new(6, 3), 8, 3, 12),
        (Seating::new(6, 3), 9, 1, 4),
        (Seating::new(6, 3), 10, 1, 4),
    ] {
        let balance = balance(seating, entrants, cycles);
        let always = |times: u32| CountRange { least: times, most: times };
        let what = format!("{entrants} entrants, {cycles} cycles: {balance:?}");
        assert_eq!((balance.partners, balance.opponents), (always(cycles), always(opponents)), "{what}");
    }
}

#[test]
fn seven_partners_balance_sides_and_seats_in_two_cycles() {
    let Balance { sides, seats_of_side, left_neighbours, .. } = balance(Seating::new(4, 2), 7, 2);
    // 12 matches each.
    assert_eq!([sides, seats_of_side], [CountRange { least: 6, most: 6 }; 2]);
    assert_eq!(left_neighbours, CountRange { least: 1, most: 3 });
}

#[test]
fn late_entrant_leaves_earlier_matches_of_partners_as_they_are() {
    let format = Format::Partners { cycles: 2 };
    let schedule = |late: usize| scheduled(plan(format, Seating::new(4, 2), Deals::Single, 7, late));
    let (shorter, longer) = (schedule(0), schedule(2));
    assert_eq!(longer.sets()[..shorter.sets().len()], *shorter.sets());
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

/// Of a round of a Swiss tournament: rematches, pairs in which both must have the same seat, the score group of the bye
/// from the lowest one, and the squares of the distances between score groups.
type RoundCost = (u32, u32, u32, u32);

const IMPOSSIBLE: RoundCost = (u32::MAX, 0, 0, 0);

fn total(a: RoundCost, b: RoundCost) -> RoundCost {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3)
}

/// The minimum cost over all pairings.
fn least_cost(
    players: &[Player],
    left: u32,
    bye_among: Option<u32>,
    memo: &mut BTreeMap<(u32, bool), RoundCost>,
) -> RoundCost {
    if left == 0 {
        return if bye_among.is_some() { IMPOSSIBLE } else { (0, 0, 0, 0) };
    }
    if let Some(&known) = memo.get(&(left, bye_among.is_some())) {
        return known;
    }
    let first = left.trailing_zeros() as usize;
    let rest = left & !(1 << first);
    let mut best = IMPOSSIBLE;
    let mut consider = |without: RoundCost, added: RoundCost| {
        if without != IMPOSSIBLE {
            best = best.min(total(without, added));
        }
    };
    if let Some(byes) = bye_among
        && players[first].byes == byes
    {
        consider(least_cost(players, rest, None, memo), bye_cost(players, first));
    }
    for other in (0..players.len()).filter(|other| rest & (1 << other) != 0) {
        let without = least_cost(players, rest & !(1 << other), bye_among, memo);
        consider(without, pair_cost(players, first, other));
    }
    memo.insert((left, bye_among.is_some()), best);
    best
}

/// The number of different scores below a player's.
fn scores_below(players: &[Player], player: usize) -> u32 {
    let below = players.iter().map(|other| other.points).filter(|&points| points < players[player].points);
    below.collect::<BTreeSet<u32>>().len() as u32
}

fn bye_cost(players: &[Player], player: usize) -> RoundCost {
    (0, 0, scores_below(players, player), 0)
}

fn pair_cost(players: &[Player], one: usize, other: usize) -> RoundCost {
    let (a, b) = (&players[one], &players[other]);
    let rematches = a.met.iter().filter(|&&met| met == other).count() as u32;
    let is_clash = a.needs_seat().is_some() && a.needs_seat() == b.needs_seat();
    let distance = scores_below(players, one).abs_diff(scores_below(players, other));
    (rematches, u32::from(is_clash), 0, distance * distance)
}

#[derive(Clone, Default)]
struct Player {
    byes: u32,
    met: Vec<usize>,
    /// The seats in the rounds so far, 0 or 1.
    seats: Vec<usize>,
    /// In half points.
    points: u32,
}

impl Player {
    /// The seat that it must have.
    fn needs_seat(&self) -> Option<usize> {
        let had = |seat: usize| self.seats.iter().filter(|&&other| other == seat).count();
        match (had(0), had(1)) {
            (first, second) if first > second + 1 => Some(1),
            (first, second) if second > first + 1 => Some(0),
            _ => match self.seats[..] {
                [.., before, last] if before == last => Some(1 - last),
                _ => None,
            },
        }
    }
}

#[test]
fn swiss_rounds_keep_rules_of_c_04_in_their_order() {
    let (unavoidable, leaders) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
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
            let before = players.clone();
            let mut there = vec![false; entrants];
            let mut cost = (0, 0, 0, 0);
            for lineup in sets {
                let pair = [0, 1].map(|seat| lineup.seats()[seat].index());
                cost = total(cost, pair_cost(&before, pair[0], pair[1]));
                for seat in [0, 1] {
                    there[pair[seat]] = true;
                    players[pair[seat]].met.push(pair[1 - seat]);
                    players[pair[seat]].seats.extend(Some(seat).filter(|_| !mirrored));
                }
            }
            for result in
                schedule.results().filter(|result| schedule.sets()[result.set as usize - 1].round == round)
            {
                for &entrant in result.lineup.seats() {
                    players[entrant.index()].points += (2.0 * result.score(entrant).unwrap()) as u32;
                }
            }
            for one in (0..entrants).filter(|&one| !there[one]) {
                cost = total(cost, bye_cost(&before, one));
                players[one].byes += 1;
                players[one].points += 2 * schedule.legs();
                let is_leader = before.iter().all(|other| other.points <= before[one].points);
                leaders.set(leaders.get() + u32::from(is_leader && scores_below(&before, one) > 0));
            }
            prop_assert_eq!(cost, least, "round {}", round);
            unavoidable.set(unavoidable.get() + cost.0);
            let byes = players.iter().map(|player| player.byes);
            prop_assert!(byes.clone().max() <= byes.min().map(|least| least + 1));
        }
        Ok(())
    });
    assert!(unavoidable.get() > 0, "the cases also had rounds in which rematches were unavoidable");
    assert!(leaders.get() > 0, "the cases also had byes of leaders, to avoid second byes and rematches");
}

#[test]
fn a_leader_gets_no_bye_while_others_can() {
    let (mut of_leaders, mut all) = (0, 0);
    for seed in 0..200 {
        let format = Format::Swiss { rounds: 3, sets: 1 };
        let mut schedule = scheduled(plan(format, TWO, Deals::Single, 5, 0));
        play(&mut schedule, |due| drawn(seed, due));
        for round in 2..=3 {
            let mut points = [0.0; 5];
            for result in schedule.results() {
                if schedule.sets()[result.set as usize - 1].round < round {
                    for &entrant in result.lineup.seats() {
                        points[entrant.index()] += result.score(entrant).unwrap();
                    }
                }
            }
            let awards = schedule.awards();
            for award in awards.iter().filter(|award| award.round < round) {
                points[award.entrant.index()] += 1.0;
            }
            let bye = awards.iter().find(|award| award.round == round).unwrap().entrant;
            of_leaders += u32::from(points.iter().all(|&other| other <= points[bye.index()]));
            all += 1;
        }
    }
    assert_eq!((of_leaders, all), (0, 400));
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
