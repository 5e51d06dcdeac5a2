//! Seats, sides and viewers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The maximum number of seats in a match.
pub const MAX_SEATS: usize = 6;

/// A player's place in a match, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Seat(pub u8);

impl Seat {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of seats below 8, as a bit set. A match has at most [`MAX_SEATS`] seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeatSet(u8);

impl SeatSet {
    pub const EMPTY: SeatSet = SeatSet(0);

    const fn bit(seat: Seat) -> u8 {
        if seat.0 < 8 { 1 << seat.0 } else { 0 }
    }

    pub const fn one(seat: Seat) -> SeatSet {
        SeatSet(SeatSet::bit(seat))
    }

    /// Returns the set of the seats 0 to `count - 1`.
    pub const fn first(count: usize) -> SeatSet {
        if count < 8 { SeatSet((1 << count) - 1) } else { SeatSet(u8::MAX) }
    }

    pub const fn contains(self, seat: Seat) -> bool {
        self.0 & SeatSet::bit(seat) != 0
    }

    pub const fn insert(&mut self, seat: Seat) {
        self.0 |= SeatSet::bit(seat);
    }

    pub const fn remove(&mut self, seat: Seat) {
        self.0 &= !SeatSet::bit(seat);
    }

    /// The number of seats in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The number of seats of the set before this one.
    pub const fn rank(self, seat: Seat) -> usize {
        (self.0 & SeatSet::bit(seat).wrapping_sub(1)).count_ones() as usize
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The seats in ascending order.
    pub fn iter(self) -> impl Iterator<Item = Seat> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let seat = (left != 0).then(|| Seat(left.trailing_zeros() as u8))?;
            left &= left - 1;
            Some(seat)
        })
    }
}

impl FromIterator<Seat> for SeatSet {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> Self {
        let mut set = SeatSet::EMPTY;
        for seat in seats {
            set.insert(seat);
        }
        set
    }
}

/// The assignment of seats to sides. A side is a single seat or a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seating {
    count: u8,
    sides: u8,
}

impl Seating {
    /// Assigns `seats` seats to `sides` sides: seat s is on side s modulo `sides`.
    ///
    /// # Panics
    /// When there are more than [`MAX_SEATS`] seats or the sides are not of equal size.
    pub const fn new(seats: u8, sides: u8) -> Seating {
        assert!(seats as usize <= MAX_SEATS && sides > 0 && seats.is_multiple_of(sides));
        Seating { count: seats, sides }
    }

    pub const fn seats(self) -> usize {
        self.count as usize
    }

    pub const fn sides(self) -> usize {
        self.sides as usize
    }

    pub const fn side(self, seat: Seat) -> usize {
        (seat.0 % self.sides) as usize
    }

    pub const fn all(self) -> SeatSet {
        SeatSet::first(self.count as usize)
    }

    pub fn members(self, side: usize) -> SeatSet {
        self.all().iter().filter(|&seat| self.side(seat) == side).collect()
    }
}

/// The recipient of a view or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A player.
    Seat(Seat),
    /// A spectator.
    Public,
    /// The record, which contains everything.
    Omniscient,
}

impl Viewer {
    /// Returns whether this viewer may see the private information of `seat`.
    pub fn shares(self, seat: Seat) -> bool {
        self == Viewer::Seat(seat) || self == Viewer::Omniscient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_set_contains_a_seat_out_of_range() {
        let mut set = SeatSet::first(MAX_SEATS);
        for seat in [8, 64, 200, 255].map(Seat) {
            set.insert(seat);
            assert!(!set.contains(seat));
            set.remove(seat);
            assert_eq!((set, SeatSet::one(seat)), (SeatSet::first(MAX_SEATS), SeatSet::EMPTY));
        }
        assert_eq!(SeatSet::first(8).len(), 8);
        assert_eq!(SeatSet::first(200).len(), 8);
    }
}
