//! Rotations of partners: teams of two that change in every match.
//!
//! In a cycle every two entrants are partners once. All partnerships are played about in the order of the circle method,
//! each against the one (two with three sides) that fits, is of the earliest round, and whose members have met least
//! often. If the partnerships of a cycle do not fill all matches, because their number is odd for 6, 7, 10, 11, ...
//! entrants, the matches of two cycles (three with three sides) are chosen together; in the last cycles partnerships
//! that have been played are repeated, the least used first. So the numbers of times that two were partners differ by
//! at most one, except after a late entry: all partnerships of the new entrant share it, so more of the others are
//! repeated.
//!
//! Then the schedule is balanced:
//!
//! * **Opponents**: with two sides and 4k or 4k + 1 entrants, up to 33, a cycle is a whist tournament (`whist.rs`), in
//!   which every two are opponents exactly twice. Elsewhere a local search (`search.rs`) swaps teams between matches. It
//!   finds designs of small fields in which all meet equally often, such as two cycles of 6, 7 or 10 entrants, or 9
//!   entrants with three sides.
//! * **Sides, seats within a side, left neighbours** (the entrant in the next seat): a second search swaps the sides of
//!   teams and the seats of partners.
//!
//! A search takes at most 1,920 steps per match and 48,000 altogether, and all searches of a schedule at most `BUDGET`. The
//! matches of a late entrant leave the earlier ones as they are.

use super::search::{self, LocalSearch, SplitMix, least_squares};
use super::whist;
use crate::{Entrant, Lineup};
use referee_game::Seating;

/// The error for other seatings.
pub(crate) const NEEDS: &str = "rotations of partners need sides of two seats";

/// The maximum number of entrants.
pub const MAX_ENTRANTS: usize = 100;

/// The maximum number of steps of all searches of a schedule.
const BUDGET: u32 = 500_000;

/// The number of times that two entrants were together, by pair.
#[derive(Clone)]
struct Meetings {
    entrants: usize,
    count: Vec<u32>,
    /// The sum of the squares of the counts.
    squares: i64,
}

impl Meetings {
    fn new(entrants: usize) -> Meetings {
        Meetings { entrants, count: vec![0; entrants * entrants], squares: 0 }
    }

    fn of(&self, a: usize, b: usize) -> u32 {
        self.count[a.min(b) * self.entrants + a.max(b)]
    }

    fn add(&mut self, a: usize, b: usize) {
        let count = &mut self.count[a.min(b) * self.entrants + a.max(b)];
        self.squares += 2 * i64::from(*count) + 1;
        *count += 1;
    }

    fn remove(&mut self, a: usize, b: usize) {
        let count = &mut self.count[a.min(b) * self.entrants + a.max(b)];
        *count -= 1;
        self.squares -= 2 * i64::from(*count) + 1;
    }

    /// The mean over the pairs of the first `entrants`, rounded down.
    fn mean(&self, entrants: usize) -> u32 {
        let total: u64 = self.count.iter().copied().map(u64::from).sum();
        (total / pairs(entrants)) as u32
    }

    /// The least sum of squares with the same total.
    fn least(&self, entrants: usize) -> i64 {
        least_squares(self.count.iter().copied().map(u64::from).sum(), pairs(entrants))
    }
}

fn pairs(entrants: usize) -> u64 {
    (entrants * (entrants - 1) / 2) as u64
}

/// The two members of a team.
pub(super) type Partners = [usize; 2];

fn are_disjoint(a: Partners, b: Partners) -> bool {
    !a.contains(&b[0]) && !a.contains(&b[1])
}

/// The teams of each match, with the meetings of these and all earlier matches.
#[derive(Clone)]
struct Teams {
    /// The entrants that take part.
    entrants: usize,
    sides: usize,
    partners: Meetings,
    opponents: Meetings,
    /// The number of matches above which those of a partnership are repeated ones.
    mean: u32,
    least: i64,
    matches: Vec<Vec<Partners>>,
}

impl Teams {
    /// The number of times that the members have met, if these teams can play each other.
    fn met(&self, teams: &[Partners], next: Partners) -> Option<u32> {
        let are_free = teams.iter().all(|&team| are_disjoint(team, next));
        let each = teams.iter().flatten().flat_map(|&a| next.map(|b| self.opponents.of(a, b)));
        are_free.then(|| each.sum())
    }

    fn add(&mut self, teams: Vec<Partners>) {
        for (at, &team) in teams.iter().enumerate() {
            self.partners.add(team[0], team[1]);
            for &other in &teams[at + 1..] {
                team.into_iter()
                    .flat_map(|a| other.map(|b| (a, b)))
                    .for_each(|(a, b)| self.opponents.add(a, b));
            }
        }
        self.matches.push(teams);
    }

    /// Adds all partnerships with fewer than `target` matches.
    fn play(&mut self, target: u32) {
        if self.sides == 2
            && self.is_complete(target - 1)
            && let Some(matches) = whist::tournament(self.entrants)
        {
            return matches.into_iter().for_each(|teams| self.add(teams.to_vec()));
        }
        let order: Vec<Partners> = circle(self.entrants);
        let in_rounds = order.iter().enumerate().map(|(at, &team)| (at / (self.entrants / 2), team));
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
            self.add(teams);
        }
    }

    /// Returns whether every two have been partners `times` times.
    fn is_complete(&self, times: u32) -> bool {
        (0..self.entrants).all(|a| (0..a).all(|b| self.partners.of(a, b) == times))
    }

    /// Returns whether a team can replace one of a match.
    fn fits(&self, number: usize, at: usize, team: Partners) -> bool {
        let others = self.matches[number].iter().enumerate();
        others.filter(|&(other, _)| other != at).all(|(_, &other)| are_disjoint(other, team))
    }

    /// Replaces a team of a match in the counts of opponents, not in the match. Its other teams are those of the match.
    fn replace(&mut self, number: usize, at: usize, [old, new]: [Partners; 2]) {
        let (teams, opponents) = (&self.matches[number], &mut self.opponents);
        for (_, &other) in teams.iter().enumerate().filter(|&(other, _)| other != at) {
            for member in other {
                old.into_iter().for_each(|one| opponents.remove(one, member));
                new.into_iter().for_each(|one| opponents.add(one, member));
            }
        }
    }

    /// Swaps two teams of different matches.
    fn swap(&mut self, [one, other]: [(usize, usize); 2], threshold: i64) {
        let [a, b] = [one, other].map(|(number, at)| self.matches[number][at]);
        if !self.fits(one.0, one.1, b) || !self.fits(other.0, other.1, a) {
            return;
        }
        let before = self.opponents.squares;
        self.replace(one.0, one.1, [a, b]);
        self.replace(other.0, other.1, [b, a]);
        if self.opponents.squares <= before + threshold {
            self.matches[one.0][one.1] = b;
            self.matches[other.0][other.1] = a;
        } else {
            self.replace(one.0, one.1, [b, a]);
            self.replace(other.0, other.1, [a, b]);
        }
    }

    /// Repeats another partnership instead of a repeated one.
    fn repeat_another(&mut self, (number, at): (usize, usize), new: Partners, threshold: i64) {
        let old = self.matches[number][at];
        let is_repeated = self.partners.of(old[0], old[1]) > self.mean;
        let may_be_repeated = new[0] != new[1] && self.partners.of(new[0], new[1]) <= self.mean;
        if !is_repeated || !may_be_repeated || !self.fits(number, at, new) {
            return;
        }
        let before = self.opponents.squares;
        self.replace(number, at, [old, new]);
        if self.opponents.squares <= before + threshold {
            self.partners.remove(old[0], old[1]);
            self.partners.add(new[0], new[1]);
            self.matches[number][at] = new;
        } else {
            self.replace(number, at, [new, old]);
        }
    }
}

impl LocalSearch for Teams {
    const SCALE: i64 = 1;

    fn cost(&self) -> i64 {
        self.opponents.squares
    }

    fn least(&self) -> i64 {
        self.least
    }

    fn matches(&self) -> usize {
        self.matches.len()
    }

    fn step(&mut self, random: &mut SplitMix, threshold: i64) {
        let [one, other] = [(); 2].map(|()| (random.below(self.matches.len()), random.below(self.sides)));
        if one.0 == other.0 {
            let new = [(); 2].map(|()| random.below(self.entrants));
            self.repeat_another(one, new, threshold);
        } else {
            self.swap([one, other], threshold);
        }
    }
}

/// The entrants of each match by seat, with the counts of these and all earlier matches.
#[derive(Clone)]
struct Seats {
    sides: usize,
    /// By entrant and side.
    of_side: Vec<u32>,
    /// By entrant and seat within its side.
    within: Vec<u32>,
    /// By entrant and the one in the next seat.
    left: Vec<u32>,
    entrants: usize,
    cost: i64,
    least: i64,
    matches: Vec<Vec<usize>>,
}

/// The costs of an uneven count of sides, of seats within a side, and of left neighbours.
const WEIGHTS: [i64; 3] = [6, 3, 1];

impl Seats {
    fn new(sides: usize, entrants: usize) -> Seats {
        Seats {
            sides,
            of_side: vec![0; entrants * sides],
            within: vec![0; entrants * 2],
            left: vec![0; entrants * entrants],
            entrants,
            cost: 0,
            least: 0,
            matches: Vec::new(),
        }
    }

    /// Adds a match to the counts, or removes it.
    fn count(&mut self, seats: &[usize], is_added: bool) {
        for (seat, &entrant) in seats.iter().enumerate() {
            let next = seats[(seat + 1) % seats.len()];
            let counts = [
                &mut self.of_side[entrant * self.sides + seat % self.sides],
                &mut self.within[entrant * 2 + seat / self.sides],
                &mut self.left[entrant * self.entrants + next],
            ];
            for (count, weight) in counts.into_iter().zip(WEIGHTS) {
                if is_added {
                    self.cost += weight * (2 * i64::from(*count) + 1);
                    *count += 1;
                } else {
                    *count -= 1;
                    self.cost -= weight * (2 * i64::from(*count) + 1);
                }
            }
        }
    }

    /// Adds a match in the best order of its sides and partners.
    fn add(&mut self, teams: &[Partners]) {
        let orders: &[&[usize]] = match self.sides {
            2 => &[&[0, 1], &[1, 0]],
            _ => &[&[0, 1, 2], &[0, 2, 1], &[1, 0, 2], &[1, 2, 0], &[2, 0, 1], &[2, 1, 0]],
        };
        let orders =
            orders.iter().flat_map(|order| (0..1usize << self.sides).map(move |flips| (order, flips)));
        let seated = |(order, flips): (&&[usize], usize)| -> Vec<usize> {
            let member = |place: usize, side: usize| teams[order[side]][place ^ (flips >> side & 1)];
            (0..2).flat_map(|place| (0..order.len()).map(move |side| member(place, side))).collect()
        };
        let all: Vec<Vec<usize>> = orders.map(seated).collect();
        let best = all.into_iter().min_by_key(|seats| {
            let before = self.cost;
            self.count(seats, true);
            let cost = self.cost - before;
            self.count(seats, false);
            cost
        });
        if let Some(best) = best {
            self.count(&best, true);
            self.matches.push(best);
        }
    }

    /// The least cost with the same matches of each entrant.
    fn bound(&self, entrants: usize) -> i64 {
        let of = |entrant: usize| {
            let matches: u32 = self.within[entrant * 2..][..2].iter().sum();
            let parts = [self.sides, 2, entrants - 1];
            let each = parts.into_iter().zip(WEIGHTS);
            each.map(|(parts, weight)| weight * least_squares(matches.into(), parts as u64)).sum::<i64>()
        };
        (0..entrants).map(of).sum()
    }
}

impl LocalSearch for Seats {
    const SCALE: i64 = 2;

    fn cost(&self) -> i64 {
        self.cost
    }

    fn least(&self) -> i64 {
        self.least
    }

    fn matches(&self) -> usize {
        self.matches.len()
    }

    fn step(&mut self, random: &mut SplitMix, threshold: i64) {
        let (number, sides) = (random.below(self.matches.len()), self.sides);
        let (one, other, flips) = (random.below(sides), random.below(sides), random.below(4));
        let old = std::mem::take(&mut self.matches[number]);
        let mut new = old.clone();
        if one == other {
            new.swap(one, one + sides);
        } else {
            new.swap(one, other);
            new.swap(one + sides, other + sides);
            for side in [one, other]
                .into_iter()
                .enumerate()
                .filter(|(at, _)| flips >> at & 1 == 1)
                .map(|(_, side)| side)
            {
                new.swap(side, side + sides);
            }
        }
        let before = self.cost;
        self.count(&old, false);
        self.count(&new, true);
        if self.cost <= before + threshold {
            self.matches[number] = new;
        } else {
            self.count(&new, false);
            self.count(&old, true);
            self.matches[number] = old;
        }
    }
}

/// Returns all pairs, round after round of the circle method.
fn circle(entrants: usize) -> Vec<Partners> {
    super::table::berger(entrants).into_iter().map(|[a, b]| [a.index(), b.index()]).collect()
}

/// The matches of `cycles` cycles of the `field`, then those of each late entrant.
pub fn rotations(seating: Seating, field: usize, all: usize, cycles: u32) -> Vec<Lineup> {
    let sides = seating.sides();
    let mut teams = Teams {
        entrants: field,
        sides,
        partners: Meetings::new(all),
        opponents: Meetings::new(all),
        mean: 0,
        least: 0,
        matches: Vec::new(),
    };
    let mut seats = Seats::new(sides, all);
    let (mut budget, mut lineups) = (BUDGET, Vec::new());
    for entrants in field..=all {
        teams.entrants = entrants;
        // The number of cycles that have whole matches.
        let together = (1..sides as u32)
            .find(|&cycles| (u64::from(cycles) * pairs(entrants)).is_multiple_of(sides as u64));
        let together = together.unwrap_or(sides as u32);
        let mut done = 0;
        while done < cycles {
            let until = cycles.min(done + together);
            (done + 1..=until).for_each(|cycle| teams.play(cycle));
            teams.mean = teams.partners.mean(entrants);
            teams.least = teams.opponents.least(entrants);
            teams = search::improved(teams, &mut budget);
            teams.matches.drain(..).for_each(|teams| seats.add(&teams));
            done = until;
        }
        seats.least = seats.bound(entrants);
        seats = search::improved(seats, &mut budget);
        let seated = seats.matches.drain(..);
        lineups.extend(seated.filter_map(|seated| {
            let seated: Vec<Entrant> = seated.into_iter().map(|entrant| Entrant(entrant as u16)).collect();
            Lineup::of_seats(seating, &seated)
        }));
    }
    lineups
}
