//! Lineups, and the matches of a set.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use referee_game::{MAX_SEATS, Seat, SeatSet, Seating};

/// The index of an entrant in the list of entrants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Entrant(pub u16);

impl Entrant {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The entrants of a match by seat.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lineup {
    entrants: [Entrant; MAX_SEATS],
    count: u8,
    sides: u8,
}

impl Lineup {
    /// Seats one entrant in each seat; `None` if the number is wrong.
    pub fn of_seats(seating: Seating, entrants: &[Entrant]) -> Option<Lineup> {
        if entrants.len() != seating.seats() {
            return None;
        }
        let mut seats = [Entrant(0); MAX_SEATS];
        seats[..entrants.len()].copy_from_slice(entrants);
        Some(Lineup { entrants: seats, count: entrants.len() as u8, sides: seating.sides() as u8 })
    }

    /// Seats one entrant on each side, in all its seats; `None` if the number is wrong.
    pub fn of_sides(seating: Seating, entrants: &[Entrant]) -> Option<Lineup> {
        if entrants.len() != seating.sides() {
            return None;
        }
        let by_seat: Vec<Entrant> = seating.all().iter().map(|seat| entrants[seating.side(seat)]).collect();
        Lineup::of_seats(seating, &by_seat)
    }

    pub const fn seating(&self) -> Seating {
        Seating::new(self.count, self.sides)
    }

    /// The entrants in seat order.
    pub fn seats(&self) -> &[Entrant] {
        &self.entrants[..self.count as usize]
    }

    /// The entrants of a side in seat order.
    pub fn side(&self, side: usize) -> impl Iterator<Item = Entrant> {
        self.seats().iter().skip(side).step_by(self.sides as usize).copied()
    }

    pub fn has(&self, entrant: Entrant) -> bool {
        self.seats().contains(&entrant)
    }

    pub fn seats_of(&self, entrant: Entrant) -> SeatSet {
        self.seating().all().iter().filter(|seat| self.entrants[seat.index()] == entrant).collect()
    }

    /// Permutes the sides: side d gets the entrants of side `order[d]`.
    fn reordered(&self, order: &[usize]) -> Lineup {
        let mut entrants = self.entrants;
        let sides = self.sides as usize;
        for seat in 0..self.count as usize {
            entrants[seat] = self.entrants[seat - seat % sides + order[seat % sides]];
        }
        Lineup { entrants, ..*self }
    }
}

impl fmt::Debug for Lineup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides = (0..self.sides as usize).map(|side| {
            let names: Vec<String> = self.side(side).map(|entrant| entrant.0.to_string()).collect();
            names.join("+")
        });
        f.write_str(&sides.collect::<Vec<_>>().join(" - "))
    }
}

/// The number of matches per deal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deals {
    /// One match: every match has its own deal.
    #[default]
    Single,
    /// As many matches as there are sides: each side's entrants play each side once. With two sides these are all orders.
    Mirrored,
    /// One match for every order of the sides: with three sides 6 instead of 3, so that the order of play between entrants is
    /// balanced as well.
    AllOrders,
}

const ROTATIONS_OF_THREE: [[usize; 3]; 6] =
    [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [1, 0, 2], [0, 2, 1]];

impl Deals {
    /// The number of matches of a set.
    pub const fn legs(self, seating: Seating) -> usize {
        match (self, seating.sides()) {
            (Deals::Single, _) => 1,
            (Deals::AllOrders, 3) => 6,
            (_, sides) => sides,
        }
    }

    /// The lineup of a match of a set whose first match is `first`; `leg` counts from 0.
    pub fn leg(self, first: Lineup, leg: usize) -> Lineup {
        let sides = first.seating().sides();
        if self == Deals::AllOrders && sides == 3 {
            return first.reordered(&ROTATIONS_OF_THREE[leg % 6]);
        }
        let order: [usize; MAX_SEATS] = std::array::from_fn(|side| (side + leg) % sides);
        first.reordered(&order)
    }
}

/// The amount of each side in a match: a finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideAmounts([f64; MAX_SEATS]);

impl SideAmounts {
    /// Takes the amounts of sides from those of seats: the first seats are on one side each.
    pub fn of_seats(amounts: &[f64]) -> SideAmounts {
        SideAmounts(std::array::from_fn(|side| amounts.get(side).copied().unwrap_or_default()))
    }
}

// No amount is NaN, and 0 has no sign.
impl Eq for SideAmounts {}

impl Hash for SideAmounts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.map(f64::to_bits).hash(state);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatchResult {
    /// The number of its set, from 1.
    pub set: u32,
    /// The entrants by seat.
    pub lineup: Lineup,
    /// The place of each side. Lower is better; only the order is meaningful.
    pub places: [u8; MAX_SEATS],
    /// The amount of each side; `None` in a game without amounts.
    pub amounts: Option<SideAmounts>,
    pub faulted: SeatSet,
    /// Seats that lost by a fault, and their partners. Under the policy `random` a fault does not lose.
    pub forfeited: SeatSet,
}

impl MatchResult {
    /// The result of a match without faults. `ranks` are those of `end`, by seat.
    pub fn played(set: u32, lineup: Lineup, ranks: &[u8]) -> MatchResult {
        let mut places = [0; MAX_SEATS];
        let sides = lineup.seating().sides();
        places[..sides.min(ranks.len())].copy_from_slice(&ranks[..sides.min(ranks.len())]);
        MatchResult { set, lineup, places, amounts: None, faulted: SeatSet::EMPTY, forfeited: SeatSet::EMPTY }
    }

    /// Returns the places by seat.
    pub fn ranks(&self) -> Vec<u8> {
        let seating = self.lineup.seating();
        seating.all().iter().map(|seat| self.places[seating.side(seat)]).collect()
    }

    /// The score of a side against another: 1 if it did better, 0.5 if equal, otherwise 0.
    pub fn against(&self, side: usize, other: usize) -> f64 {
        match self.places[side].cmp(&self.places[other]) {
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 0.0,
        }
    }

    /// Every pair of different sides, each in both orders, that do not share an entrant.
    pub fn comparisons(&self) -> impl Iterator<Item = (usize, usize)> {
        let sides = self.lineup.seating().sides();
        let pairs = (0..sides).flat_map(move |side| (0..sides).map(move |other| (side, other)));
        pairs.filter(move |&(side, other)| {
            side != other
                && !self.lineup.side(side).any(|entrant| self.lineup.side(other).any(|e| e == entrant))
        })
    }

    /// The score of an entrant: the mean over the comparisons of its sides with other entrants' sides. `None` if
    /// there are none.
    pub fn score(&self, entrant: Entrant) -> Option<f64> {
        let has = |side| self.lineup.side(side).any(|other| other == entrant);
        let (mut sum, mut count) = (0.0, 0);
        for (side, other) in self.comparisons().filter(|&(side, _)| has(side)) {
            sum += self.against(side, other);
            count += 1;
        }
        (count > 0).then(|| sum / f64::from(count))
    }

    /// The amount of an entrant: the mean over its seats. `None` if it has none, and in a game without
    /// amounts.
    pub fn amount(&self, entrant: Entrant) -> Option<f64> {
        let SideAmounts(amounts) = self.amounts?;
        let (seating, seats) = (self.lineup.seating(), self.lineup.seats_of(entrant));
        let sum: f64 = seats.iter().map(|seat| amounts[seating.side(seat)]).sum();
        (!seats.is_empty()).then(|| sum / seats.len() as f64)
    }

    /// Returns whether a side lost by a fault.
    pub fn is_forfeited(&self, side: usize) -> bool {
        self.lineup.seating().members(side).iter().any(|seat| self.forfeited.contains(seat))
    }

    /// Returns whether a seat of a side made a fault.
    pub fn is_faulted(&self, side: usize) -> bool {
        self.lineup.seating().members(side).iter().any(|seat| self.faulted.contains(seat))
    }

    /// Returns whether an entrant made a fault.
    pub fn is_fault_of(&self, entrant: Entrant) -> bool {
        self.faulted.iter().any(|seat: Seat| self.lineup.seats().get(seat.index()) == Some(&entrant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entrants(ids: &[u16]) -> Vec<Entrant> {
        ids.iter().copied().map(Entrant).collect()
    }

    #[test]
    fn two_entrants_fill_four_seats_by_teams_and_swap() {
        let first = Lineup::of_sides(Seating::new(4, 2), &entrants(&[7, 8])).unwrap();
        assert_eq!(first.seats(), entrants(&[7, 8, 7, 8]));
        assert_eq!(Deals::Mirrored.leg(first, 1).seats(), entrants(&[8, 7, 8, 7]));
        assert_eq!(Deals::AllOrders.legs(Seating::new(4, 2)), 2);
    }

    #[test]
    fn partners_stay_together_when_sides_change_places() {
        let first = Lineup::of_seats(Seating::new(4, 2), &entrants(&[1, 2, 3, 4])).unwrap();
        assert_eq!(Deals::Mirrored.leg(first, 1).seats(), entrants(&[2, 1, 4, 3]));
    }

    #[test]
    fn three_teams_rotate_sides_in_three_and_orders_in_six() {
        let seating = Seating::new(6, 3);
        let first = Lineup::of_sides(seating, &entrants(&[0, 1, 2])).unwrap();
        for (deals, each_side) in [(Deals::Mirrored, 1), (Deals::AllOrders, 2)] {
            let legs: Vec<Lineup> = (0..deals.legs(seating)).map(|leg| deals.leg(first, leg)).collect();
            for entrant in 0..3 {
                for side in 0..3 {
                    let there = legs.iter().filter(|leg| leg.side(side).all(|e| e == Entrant(entrant)));
                    assert_eq!(there.count(), each_side);
                }
            }
            let distinct: std::collections::BTreeSet<&Lineup> = legs.iter().collect();
            assert_eq!(distinct.len(), legs.len());
        }
    }

    #[test]
    fn an_entrant_with_two_sides_is_not_compared_with_itself() {
        let lineup = Lineup::of_sides(Seating::new(3, 3), &entrants(&[0, 1, 1])).unwrap();
        let result = MatchResult::played(1, lineup, &[2, 1, 3]);
        assert_eq!(result.score(Entrant(0)), Some(0.5));
        assert_eq!(result.score(Entrant(1)), Some(0.5));
        assert_eq!(result.score(Entrant(2)), None);
        assert_eq!(result.comparisons().count(), 4);
    }
}
