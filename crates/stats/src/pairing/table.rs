//! Pairing tables that are known in advance.
//!
//! The first field of n entrants is paired by Berger's tables (FIDE Handbook C.05, Annex 1; the circle method with
//! the seats of J. Berger, *Schach-Jahrbücher*, 1893-94): with an odd number of entrants each has both seats equally
//! often in a cycle, with an even number the counts differ by one. Every second cycle swaps the seats, so after an
//! even number of cycles they are equal. A late entrant meets all earlier ones, in seats that keep everyone within
//! one.

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

/// One cycle of a round robin, in rounds; first seat first.
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

/// All groups of three entrants: every two meet n - 2 times in a cycle.
///
/// They are generated in orbits `i, i + a, i + b` modulo n. In an orbit each entrant has each side once, so an
/// incomplete table is nearly balanced. An orbit of n / 3 groups gives each entrant one match. A late entrant plays
/// with each pair of earlier ones, in the order that balances the sides.
pub fn threes(field: usize, all: usize, cycles: u32) -> Vec<Sides> {
    let mut list = Vec::new();
    let rotated = |three: [usize; 3], by: u32| -> Sides {
        (0..3).map(|side| entrant(three[(side + by as usize) % 3])).collect()
    };
    let mut of_field = Vec::new();
    for a in 1..field {
        for b in a + 1..field {
            // The gaps between the three around the circle; each orbit is represented by its least rotation.
            let gaps = [a, b - a, field - b];
            let is_least = gaps <= [gaps[1], gaps[2], gaps[0]] && gaps <= [gaps[2], gaps[0], gaps[1]];
            if is_least {
                let length = if gaps[0] == gaps[1] && gaps[1] == gaps[2] { field / 3 } else { field };
                of_field.extend((0..length).map(|i| [i, (i + a) % field, (i + b) % field]));
            }
        }
    }
    let mut had = vec![[0u32; 3]; all];
    for three in &of_field {
        for (side, &member) in three.iter().enumerate() {
            had[member][side] += 1;
        }
    }
    list.extend((0..cycles).flat_map(|cycle| of_field.iter().map(move |&three| rotated(three, cycle))));
    for newcomer in field..all {
        let mut of_late = Vec::new();
        for i in 0..newcomer {
            for j in i + 1..newcomer {
                let orders = [
                    [newcomer, i, j],
                    [newcomer, j, i],
                    [i, newcomer, j],
                    [j, newcomer, i],
                    [i, j, newcomer],
                    [j, i, newcomer],
                ];
                let load =
                    |order: &[usize; 3]| -> u32 { (0..3).map(|side| had[order[side]][side].pow(2)).sum() };
                let Some(best) = orders.into_iter().min_by_key(load) else { continue };
                for (side, &member) in best.iter().enumerate() {
                    had[member][side] += 1;
                }
                of_late.push(best);
            }
        }
        list.extend((0..cycles).flat_map(|cycle| of_late.iter().map(move |&three| rotated(three, cycle))));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_for_4_and_6_are_those_that_berger_published() {
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
