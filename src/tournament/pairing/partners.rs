//! Rotations of partners: teams of two that change in every match.
//!
//! In a cycle every two entrants are partners once. With two sides and 4k or 4k + 1 entrants, up to 33, a cycle is a
//! whist tournament (`whist.rs`), in which every two are also opponents exactly twice.
//!
//! In other fields, with three sides and for late entries, opponents are balanced as far as possible. All
//! partnerships are played in the order of the circle method, each against the one (two with three sides) that fits,
//! is of the earliest round, and whose members have met least often. If the remaining partnerships share entrants,
//! because their number is odd for 6, 7, 10, 11, ... entrants, partnerships that have been played are repeated, the
//! least used first. So the numbers of times that two were partners differ by at most one, except after a late entry:
//! all partnerships of the new entrant share it, so more of the others are repeated.

use super::whist;
use crate::core::{MAX_SEATS, Seating};
use crate::tournament::{Entrant, Lineup};

/// The error for other seatings.
pub(crate) const NEEDS: &str = "rotations of partners need sides of two seats";

/// How often two entrants were together, by pair.
struct Meetings {
    entrants: usize,
    count: Vec<u32>,
}

impl Meetings {
    fn at(&mut self, a: usize, b: usize) -> &mut u32 {
        &mut self.count[a.min(b) * self.entrants + a.max(b)]
    }

    fn of(&self, a: usize, b: usize) -> u32 {
        self.count[a.min(b) * self.entrants + a.max(b)]
    }
}

/// The two members of a team.
pub(super) type Partners = [usize; 2];

struct Rotation {
    sides: usize,
    partners: Meetings,
    opponents: Meetings,
    /// How often each entrant had each side.
    places: Vec<[u32; MAX_SEATS]>,
    list: Vec<Vec<Partners>>,
}

fn are_disjoint(a: Partners, b: Partners) -> bool {
    !a.contains(&b[0]) && !a.contains(&b[1])
}

impl Rotation {
    /// How often the members have met, if these teams can play each other.
    fn met(&self, teams: &[Partners], next: Partners) -> Option<u32> {
        let are_free = teams.iter().all(|&team| are_disjoint(team, next));
        let each = teams.iter().flatten().flat_map(|&a| next.map(|b| self.opponents.of(a, b)));
        are_free.then(|| each.sum())
    }

    /// Plays all partnerships of the first `entrants` with fewer than `target` matches.
    fn play(&mut self, entrants: usize, target: u32) {
        if self.sides == 2
            && self.is_complete(entrants, target - 1)
            && let Some(matches) = whist::tournament(entrants)
        {
            return matches.into_iter().for_each(|teams| self.seat(teams.to_vec()));
        }
        let order: Vec<Partners> = circle(entrants);
        let in_rounds = order.iter().enumerate().map(|(at, &team)| (at / (entrants / 2), team));
        let mut left: Vec<(usize, Partners)> =
            in_rounds.filter(|&(_, [a, b])| self.partners.of(a, b) < target).collect();
        while !left.is_empty() {
            let mut teams = vec![left.remove(0).1];
            while teams.len() < self.sides {
                let fitting = left
                    .iter()
                    .enumerate()
                    .filter_map(|(at, &(round, team))| Some((round, self.met(&teams, team)?, at)));
                if let Some((_, _, at)) = fitting.min() {
                    teams.push(left.remove(at).1);
                    continue;
                }
                let again = order.iter().filter_map(|&team| {
                    Some((self.partners.of(team[0], team[1]), self.met(&teams, team)?, team))
                });
                let Some((_, _, team)) = again.min() else { return };
                teams.push(team);
            }
            self.seat(teams);
        }
    }

    /// Whether every two of the first `entrants` have been partners `times` times.
    fn is_complete(&self, entrants: usize, times: u32) -> bool {
        (0..entrants).all(|a| (0..a).all(|b| self.partners.of(a, b) == times))
    }

    /// How much more often a member had this side than its rarest one.
    fn surplus(&self, member: usize, side: usize) -> u32 {
        let had = &self.places[member][..self.sides];
        had[side] - had.iter().min().copied().unwrap_or(0)
    }

    /// Assigns sides to the teams, so that each entrant has each side about equally often.
    fn seat(&mut self, mut teams: Vec<Partners>) {
        for (at, &team) in teams.iter().enumerate() {
            *self.partners.at(team[0], team[1]) += 1;
            for &other in &teams[at + 1..] {
                for (a, b) in team.into_iter().flat_map(|a| other.map(|b| (a, b))) {
                    *self.opponents.at(a, b) += 1;
                }
            }
        }
        let load = |order: &[Partners]| -> u32 {
            let each = order.iter().enumerate().flat_map(|(side, team)| team.map(|member| (side, member)));
            // The fourth power, because one large surplus is worse than several small ones.
            each.map(|(side, member)| self.surplus(member, side).pow(4)).sum()
        };
        let rotations = (0..teams.len()).flat_map(|by| {
            let mut order = teams.clone();
            order.rotate_left(by);
            let mut mirrored = order.clone();
            mirrored[1..].reverse();
            [order, mirrored]
        });
        if let Some(best) = rotations.min_by_key(|order| load(order)) {
            teams = best;
        }
        for (side, team) in teams.iter_mut().enumerate() {
            for &member in team.iter() {
                self.places[member][side] += 1;
            }
            // The order of the two alternates from match to match.
            if (self.list.len() + side) % 2 == 1 {
                team.reverse();
            }
        }
        self.list.push(teams);
    }
}

/// All pairs, round after round of the circle method.
fn circle(entrants: usize) -> Vec<Partners> {
    super::table::berger(entrants).into_iter().map(|[a, b]| [a.index(), b.index()]).collect()
}

/// The matches of `cycles` cycles of the `field`, then those of each late entrant.
pub fn rotations(seating: Seating, field: usize, all: usize, cycles: u32) -> Vec<Lineup> {
    let meetings = || Meetings { entrants: all, count: vec![0; all * all] };
    let mut rotation = Rotation {
        sides: seating.sides(),
        partners: meetings(),
        opponents: meetings(),
        places: vec![[0; MAX_SEATS]; all],
        list: Vec::new(),
    };
    for cycle in 1..=cycles {
        rotation.play(field, cycle);
    }
    for entrants in field + 1..=all {
        for cycle in 1..=cycles {
            rotation.play(entrants, cycle);
        }
    }
    let lineup = |teams: &Vec<Partners>| {
        let seats: Vec<Entrant> =
            (0..2).flat_map(|place| teams.iter().map(move |team| Entrant(team[place] as u16))).collect();
        Lineup::of_seats(seating, &seats)
    };
    rotation.list.iter().filter_map(lineup).collect()
}
