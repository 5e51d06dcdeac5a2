//! Pairing tables that are known in advance.
//!
//! The first field of n entrants is paired by Berger's tables (FIDE Handbook C.05, Annex 1; the circle method with
//! the seats of J. Berger, *Schach-Jahrbücher*, 1893-94): with an odd number of entrants each has both seats equally
//! often in a cycle, with an even number the counts differ by one. Every second cycle swaps the seats, so after an
//! even number of cycles they are equal. A late entrant meets all earlier ones, in seats that keep everyone within
//! one.
//!
//! With three to six sides, a round robin has all groups of so many entrants.

use std::collections::VecDeque;

use referee_game::MAX_SEATS;

use crate::Entrant;

/// The entrants of a match by side.
pub type Sides = Vec<Entrant>;

fn entrant(index: usize) -> Entrant {
    Entrant(index as u16)
}

/// Swaps the seats in every second cycle.
fn in_cycle(cycle: u32, mut pair: [Entrant; 2]) -> Sides {
    if !cycle.is_multiple_of(2) {
        pair.reverse();
    }
    pair.to_vec()
}

/// Returns one cycle of a round robin, in rounds; first seat first.
pub fn berger(entrants: usize) -> Vec<[Entrant; 2]> {
    let even = entrants + entrants % 2;
    let fixed = even.saturating_sub(1);
    let mut pairs = Vec::new();
    for round in 0..fixed {
        // In Berger's tables, rounds advance by half the field; the first of a row meets the fixed entrant.
        let first = round * (even / 2) % fixed;
        for row in 0..even / 2 {
            let (a, b) = match row {
                0 if round % 2 == 0 => (first, fixed),
                0 => (fixed, first),
                _ => ((first + row) % fixed, (first + fixed - row) % fixed),
            };
            if a < entrants && b < entrants {
                pairs.push([entrant(a), entrant(b)]);
            }
        }
    }
    pairs
}

/// A cycle of a late entrant against the `before` earlier ones. `surplus`: how much more often each had the first
/// seat than the second.
fn late(before: usize, surplus: &mut Vec<i32>) -> Vec<[Entrant; 2]> {
    surplus.push(0);
    let mut pairs = Vec::new();
    for other in 0..before {
        // Before this cycle, either all have the same number of both seats, or as many have one more as one less.
        let is_first = surplus[other] > 0 || (surplus[other] == 0 && surplus[before] <= 0);
        let (first, second) = if is_first { (before, other) } else { (other, before) };
        surplus[first] += 1;
        surplus[second] -= 1;
        pairs.push([entrant(first), entrant(second)]);
    }
    pairs
}

/// A round robin of `cycles` cycles: first the `field`, then for each late entrant, in order, all matches with those
/// before. More entrants only make the list longer.
pub fn round_robin(field: usize, all: usize, cycles: u32) -> Vec<Sides> {
    let one = berger(field);
    let mut surplus = vec![0; field];
    for pair in &one {
        surplus[pair[0].index()] += 1;
        surplus[pair[1].index()] -= 1;
    }
    let repeated = |pairs: Vec<[Entrant; 2]>| -> Vec<Sides> {
        (0..cycles).flat_map(|cycle| pairs.iter().map(move |&pair| in_cycle(cycle, pair))).collect()
    };
    let mut list = repeated(one);
    for newcomer in field..all {
        list.extend(repeated(late(newcomer, &mut surplus)));
    }
    list
}

/// Entrant 0 against each of the others in `cycles` cycles, alternating the seats. Late entrants play all their
/// cycles at the end.
pub fn gauntlet(field: usize, all: usize, cycles: u32) -> Vec<Sides> {
    let meet = |other: usize, cycle: u32| {
        let pair = [entrant(0), entrant(other)];
        in_cycle(cycle + other as u32 + 1, pair)
    };
    let of_field = (0..cycles).flat_map(|cycle| (1..field).map(move |other| meet(other, cycle)));
    let of_late = (field..all).flat_map(|other| (0..cycles).map(move |cycle| meet(other, cycle)));
    of_field.chain(of_late).collect()
}

/// A round robin of matches with more than two sides: all groups of `size` entrants, in which every two meet equally often.
/// Late entrants, in order, play with all groups of earlier ones.
///
/// The groups of the field are generated in orbits `i, i + a, i + b, ...` modulo its size. In an orbit each entrant has each
/// side once, so an incomplete table is nearly balanced; each cycle rotates the sides. `balanced` removes the imbalance that
/// orbits of another length leave.
pub fn groups(size: usize, field: usize, all: usize, cycles: u32) -> Vec<Sides> {
    let mut had = vec![[0; MAX_SEATS]; all];
    let mut list = in_cycles(orbits(field, size), cycles, &mut had);
    for newcomer in field..all {
        let of_late = subsets(newcomer, size - 1).into_iter().enumerate().map(|(at, mut others)| {
            others.insert(0, newcomer);
            others.rotate_left(at % size);
            others
        });
        list.extend(in_cycles(of_late.collect(), cycles, &mut had));
    }
    list
}

/// A gauntlet of matches with more than two sides: entrant 0 with all groups of `size - 1` others. The others meet it
/// equally often, and each other too.
pub fn gauntlet_of_groups(size: usize, field: usize, all: usize, cycles: u32) -> Vec<Sides> {
    let mut had = vec![[0; MAX_SEATS]; all];
    let seated = |groups: Vec<Vec<usize>>, fixed: &[usize]| -> Vec<Vec<usize>> {
        let seated = groups.into_iter().enumerate().map(|(at, others)| {
            let mut group = [fixed, &others].concat();
            group.rotate_left(at % size);
            group
        });
        seated.collect()
    };
    let shifted = |group: Vec<usize>| group.into_iter().map(|other| other + 1).collect();
    let of_field = orbits(field - 1, size - 1).into_iter().map(shifted).collect();
    let mut list = in_cycles(seated(of_field, &[0]), cycles, &mut had);
    for newcomer in field..all {
        let earlier = subsets(newcomer - 1, size - 2).into_iter().map(shifted).collect();
        list.extend(in_cycles(seated(earlier, &[0, newcomer]), cycles, &mut had));
    }
    list
}

/// Returns all subsets of 0 to `n - 1` with this size, each in ascending order.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    let first = (size <= n).then(|| (0..size).collect());
    let next = |subset: &Vec<usize>| {
        let at = (0..size).rfind(|&at| subset[at] < n - size + at)?;
        let (mut next, least) = (subset.clone(), subset[at] + 1);
        (at..size).for_each(|index| next[index] = least + index - at);
        Some(next)
    };
    std::iter::successors(first, next).collect()
}

/// Returns all subsets of 0 to `n - 1` with this size, by orbits of the rotations modulo n.
fn orbits(n: usize, size: usize) -> Vec<Vec<usize>> {
    let mut list = Vec::new();
    for others in subsets(n - 1, size - 1) {
        let base: Vec<usize> = std::iter::once(0).chain(others.into_iter().map(|other| other + 1)).collect();
        // The gaps around the circle; each orbit is represented by its least rotation.
        let gaps: Vec<usize> =
            (0..size).map(|at| base.get(at + 1).copied().unwrap_or(n) - base[at]).collect();
        let rotated = |by: usize| [&gaps[by..], &gaps[..by]].concat();
        if (1..size).any(|by| rotated(by) < gaps) {
            continue;
        }
        let period = (1..size).find(|&by| rotated(by) == gaps).unwrap_or(size);
        let length = gaps[..period].iter().sum();
        list.extend((0..length).map(|i: usize| base.iter().map(|other| (i + other) % n).collect()));
    }
    list
}

/// The groups in each cycle, with sides that rotate from cycle to cycle and are balanced. `had`: how often each entrant had
/// each side before.
fn in_cycles(groups: Vec<Vec<usize>>, cycles: u32, had: &mut [[u32; MAX_SEATS]]) -> Vec<Sides> {
    let rotated = |group: &Vec<usize>, by: u32| {
        let mut group = group.clone();
        let by = by as usize % group.len();
        group.rotate_left(by);
        group
    };
    let mut all: Vec<Vec<usize>> =
        (0..cycles).flat_map(|cycle| groups.iter().map(move |group| rotated(group, cycle))).collect();
    balance(&mut all, had);
    all.into_iter().map(|group| group.into_iter().map(entrant).collect()).collect()
}

/// Exchanges sides within groups until no entrant has one side two times more often than another one, and adds the sides
/// to `had`.
///
/// Of two sides, each group is an edge from the entrant with the first one to that with the second one. Reversing a path
/// from an entrant with too many of the first to one with fewer of the first than of the second moves one from the first
/// to the second at its start, and back at its end. Without earlier matches there always is such a path.
fn balance(groups: &mut [Vec<usize>], had: &mut [[u32; MAX_SEATS]]) {
    for group in &*groups {
        for (side, &member) in group.iter().enumerate() {
            had[member][side] += 1;
        }
    }
    let size = groups.first().map_or(0, Vec::len);
    let pairs = (0..size).flat_map(|one| (0..size).map(move |other| (one, other)));
    let pairs: Vec<(usize, usize)> = pairs.filter(|(one, other)| one != other).collect();
    loop {
        let moved = pairs.iter().filter(|&&pair| move_one(groups, had, pair)).count();
        if moved == 0 {
            return;
        }
    }
}

/// Reverses a path of groups, as [`balance`] describes. Returns false if there is none.
fn move_one(groups: &mut [Vec<usize>], had: &mut [[u32; MAX_SEATS]], (from, to): (usize, usize)) -> bool {
    let has_too_many = |member: &usize| had[*member][from] >= had[*member][to] + 2;
    let mut queue: VecDeque<usize> = (0..had.len()).filter(has_too_many).collect();
    if queue.is_empty() {
        return false;
    }
    let mut edges = vec![Vec::new(); had.len()];
    for (at, group) in groups.iter().enumerate() {
        edges[group[from]].push(at);
    }
    let mut is_reached = vec![false; had.len()];
    queue.iter().for_each(|&start| is_reached[start] = true);
    // By member: the group over which it was reached.
    let mut over: Vec<Option<usize>> = vec![None; had.len()];
    while let Some(member) = queue.pop_front() {
        if had[member][to] > had[member][from] {
            had[member][to] -= 1;
            had[member][from] += 1;
            let mut at = member;
            while let Some(group) = over[at] {
                at = groups[group][from];
                groups[group].swap(from, to);
            }
            had[at][from] -= 1;
            had[at][to] += 1;
            return true;
        }
        for &group in &edges[member] {
            let other = groups[group][to];
            if !is_reached[other] {
                is_reached[other] = true;
                over[other] = Some(group);
                queue.push_back(other);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_for_4_and_6_are_those_that_berger_published() {
        let one_based =
            |n| -> Vec<(u16, u16)> { berger(n).iter().map(|pair| (pair[0].0 + 1, pair[1].0 + 1)).collect() };
        assert_eq!(one_based(4), [(1, 4), (2, 3), (4, 3), (1, 2), (2, 4), (3, 1)]);
        assert_eq!(
            one_based(6),
            [
                [(1, 6), (2, 5), (3, 4)],
                [(6, 4), (5, 3), (1, 2)],
                [(2, 6), (3, 1), (4, 5)],
                [(6, 5), (1, 4), (2, 3)],
                [(3, 6), (4, 2), (5, 1)],
            ]
            .concat()
        );
    }
}
