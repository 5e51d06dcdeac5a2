//! The squares of the board, and sets of them.

use std::fmt;

/// The number of ranks and files.
pub(super) const SIDE: u8 = 7;
pub(super) const SQUARES: u16 = 49;

/// The distance of ranks in a set, whose lowest bit is a1. A step over the edge of a rank lands on an unused bit.
const RANK: u8 = 8;
const BOARD: u64 = 0x007f_7f7f_7f7f_7f7f;
/// Bit distances of neighbours: sideways, upwards, and along the two diagonals.
const WAYS: [u8; 4] = [1, RANK, RANK + 1, RANK - 1];

/// The squares of a set, rank by rank.
pub(super) fn squares(mut set: u64) -> impl Iterator<Item = Square> {
    std::iter::from_fn(move || {
        let square = (set != 0).then(|| Square::first(set))?;
        set &= set - 1;
        Some(square)
    })
}

/// A set with all adjacent squares, including diagonals.
const fn with_adjacent(set: u64) -> u64 {
    let wide = (set | set << 1 | set >> 1) & BOARD;
    (wide | wide << RANK | wide >> RANK) & BOARD
}

/// The squares neither in the set nor adjacent to it.
pub(super) const fn away_from(set: u64) -> u64 {
    BOARD & !with_adjacent(set)
}

/// The destinations of the pawn in `from`, with the other pawns on `others`: one step, or jumps, which end on the
/// ring (X1, X2). May include its own square.
pub(super) fn reached(from: u64, others: u64, ring: u64) -> u64 {
    let free = BOARD & !others;
    let beside = with_adjacent(from);
    if beside & others == 0 {
        return beside;
    }
    let mut landed = 0;
    let mut arrivals = from;
    while arrivals != 0 {
        let mut next = 0;
        for way in WAYS {
            next |= (arrivals << way & others) << way | (arrivals >> way & others) >> way;
        }
        let before = landed;
        landed |= next & free;
        arrivals = landed & !before & !ring;
    }
    landed | beside & free
}

/// A square of the board. Its text form is file and rank: `d4`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Square(u8);

impl Square {
    pub(super) const A1: Square = Square::at(0, 0);

    /// The first square of a set; none of the board if the set is empty.
    pub(super) const fn first(set: u64) -> Square {
        Square(set.trailing_zeros() as u8)
    }

    /// Returns the square with this file and rank, each 0 to 6.
    pub(super) const fn at(file: u8, rank: u8) -> Square {
        Square(rank * RANK + file)
    }

    /// The square with this number: a1, b1, ..., g1, a2, ..., g7 are 0 to 48.
    pub(super) const fn numbered(number: u16) -> Square {
        let number = number as u8;
        Square::at(number % SIDE, number / SIDE)
    }

    pub const fn named(name: &str) -> Option<Square> {
        match *name.as_bytes() {
            [file @ b'a'..=b'g', rank @ b'1'..=b'7'] => Some(Square::at(file - b'a', rank - b'1')),
            _ => None,
        }
    }

    /// The file, 0 to 6 for a to g.
    pub const fn file(self) -> u8 {
        self.0 % RANK
    }

    /// Returns 0 to 6 for 1 to 7.
    pub const fn rank(self) -> u8 {
        self.0 / RANK
    }

    /// The squared Euclidean distance to another square, 0 to 72 (X6).
    pub const fn distance(self, to: Square) -> u8 {
        let (files, ranks) = (self.file().abs_diff(to.file()), self.rank().abs_diff(to.rank()));
        files * files + ranks * ranks
    }

    /// The squares whose distance to this one is less than `distance`, 0 to 72, as a set.
    pub(super) const fn nearer_than(self, distance: u8) -> u64 {
        NEARER[self.0 as usize][distance as usize]
    }

    pub(super) const fn bit(self) -> u64 {
        1 << self.0
    }
}

/// The sets of [`Square::nearer_than`], by square and distance.
static NEARER: [[u64; 73]; 64] = {
    let mut sets = [[0; 73]; 64];
    let mut number = 0;
    while number < SQUARES * SQUARES {
        let (centre, square) = (Square::numbered(number / SQUARES), Square::numbered(number % SQUARES));
        let mut distance = centre.distance(square) as usize + 1;
        while distance < 73 {
            sets[centre.0 as usize][distance] |= square.bit();
            distance += 1;
        }
        number += 1;
    }
    sets
};

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.file()), self.rank() + 1)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
