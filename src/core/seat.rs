//! Seats, sides, and who looks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most seats that a match can have.
pub const MAX_SEATS: usize = 6;

/// A place at the table, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seat(pub u8);

impl Seat {
    /// The seat as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeatSet(u8);

impl SeatSet {
    /// No seat.
    pub const EMPTY: SeatSet = SeatSet(0);

    /// One seat.
    pub const fn one(seat: Seat) -> SeatSet {
        SeatSet(1 << seat.0)
    }

    /// The seats 0 to `count - 1`.
    pub const fn first(count: usize) -> SeatSet {
        SeatSet(((1u16 << count) - 1) as u8)
    }

    /// Whether the seat is in it.
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 & (1 << seat.0) != 0
    }

    /// Puts a seat in.
    pub const fn insert(&mut self, seat: Seat) {
        self.0 |= 1 << seat.0;
    }

    /// Takes a seat out.
    pub const fn remove(&mut self, seat: Seat) {
        self.0 &= !(1 << seat.0);
    }

    /// How many seats are in it.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no seat is in it.
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

/// Which seats play together. A side is a seat or a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seating {
    count: u8,
    sides: u8,
}

impl Seating {
    /// `seats` seats in `sides` sides: seat s is on side s modulo `sides`.
    ///
    /// # Panics
    /// When there are more than [`MAX_SEATS`] seats or the sides are not equally large.
    pub const fn new(seats: u8, sides: u8) -> Seating {
        assert!(seats as usize <= MAX_SEATS && sides > 0 && seats.is_multiple_of(sides));
        Seating { count: seats, sides }
    }

    /// How many seats there are.
    pub const fn seats(self) -> usize {
        self.count as usize
    }

    /// How many sides there are.
    pub const fn sides(self) -> usize {
        self.sides as usize
    }

    /// The side of a seat.
    pub const fn side(self, seat: Seat) -> usize {
        (seat.0 % self.sides) as usize
    }

    /// All seats.
    pub const fn all(self) -> SeatSet {
        SeatSet::first(self.count as usize)
    }

    /// The seats of a side.
    pub fn members(self, side: usize) -> SeatSet {
        self.all().iter().filter(|&seat| self.side(seat) == side).collect()
    }
}

/// Who looks at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A player.
    Seat(Seat),
    /// A spectator.
    Public,
    /// The record: everything.
    Omniscient,
}

impl Viewer {
    /// Whether this viewer may see what only `seat` knows.
    pub fn shares(self, seat: Seat) -> bool {
        self == Viewer::Seat(seat) || self == Viewer::Omniscient
    }
}
