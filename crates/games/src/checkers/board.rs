//! The board: pieces, side to move, move generation.

use std::fmt;

use super::moves::Move;
use super::table::{Count, Moves, Table};
use referee_game::Seat;

/// The place of each square, 0 to 31, by its index: square s + 1 is bit `PLACES[s]` of a set.
///
/// Places are numbered so that a step is a rotation of the set: one square south-east adds 7 to the place and one
/// square south-west adds 1, modulo 32, in every row. In columns x and rows y from 0 to 7, (x + y - 1) / 2 counts the
/// steps south-east from the north-western edge, and (7 + y - x) / 2 the steps south-west from the north-eastern one.
const PLACES: [u8; 32] = {
    let mut places = [0; 32];
    let mut index = 0;
    while index < 32 {
        let y = index / 4;
        let x = 2 * (index % 4) + 1 - y % 2;
        places[index] = ((7 * ((x + y - 1) / 2) + (7 + y - x) / 2) % 32) as u8;
        index += 1;
    }
    places
};

/// The inverse of [`PLACES`].
const INDICES: [u8; 32] = {
    let mut indices = [0; 32];
    let mut index = 0;
    while index < 32 {
        indices[PLACES[index] as usize] = index as u8;
        index += 1;
    }
    indices
};

/// The place of the square with this index, 0 to 31.
pub(super) const fn place(index: u32) -> u32 {
    PLACES[index as usize] as u32
}

/// The index, 0 to 31, of the square at a place.
pub(super) const fn index(place: u32) -> u32 {
    INDICES[place as usize] as u32
}

/// Returns the set with this one place.
pub(super) const fn bit(place: u32) -> u32 {
    1 << place
}

/// The set with each place replaced by its index: bit i is square i + 1.
const fn by_index(set: u32) -> u32 {
    /// The result for each value of each byte of the set.
    const BY_BYTE: [[u32; 256]; 4] = {
        let mut sets = [[0; 256]; 4];
        let mut at = 0;
        while at < 4 * 256 * 8 {
            let (byte, value, bit) = (at / 8 / 256, at / 8 % 256, at % 8);
            sets[byte][value] |= ((value as u32 >> bit) & 1) << index((8 * byte + bit) as u32);
            at += 1;
        }
        sets
    };
    let [a, b, c, d] = set.to_le_bytes();
    BY_BYTE[0][a as usize] | BY_BYTE[1][b as usize] | BY_BYTE[2][c as usize] | BY_BYTE[3][d as usize]
}

/// The inverse of [`by_index`].
const fn by_place(mut indexed: u32) -> u32 {
    let mut set = 0;
    while indexed != 0 {
        set |= bit(place(indexed.trailing_zeros()));
        indexed &= indexed - 1;
    }
    set
}

/// The members of a set, ascending.
fn members(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(place)
    })
}

const fn union([one, other]: [u32; 2]) -> u32 {
    one | other
}

/// The indices, 0 to 31, of the squares of a set, ascending.
pub(super) fn squares(set: u32) -> impl Iterator<Item = u32> {
    members(by_index(set))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Colour {
    /// Seat 0; moves first, towards square 32.
    Black,
    /// Seat 1; moves towards square 1.
    White,
}

impl Colour {
    pub const fn seat(self) -> Seat {
        Seat(self as u8)
    }

    pub const fn other(self) -> Colour {
        match self {
            Colour::Black => Colour::White,
            Colour::White => Colour::Black,
        }
    }

    /// The row on which its men are crowned.
    pub(super) const fn crowning_row(self) -> u32 {
        match self {
            Colour::Black => SOUTH,
            Colour::White => NORTH,
        }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Colour::Black => "Black",
            Colour::White => "White",
        })
    }
}

/// A diagonal direction. North is the row of squares 1 to 4.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Diagonal {
    NorthWest,
    NorthEast,
    SouthWest,
    SouthEast,
}

/// The two directions of the men of a colour.
#[derive(Clone, Copy)]
pub(super) enum Heading {
    North,
    South,
}

impl Heading {
    pub(super) const fn ways(self) -> [Diagonal; 2] {
        match self {
            Heading::North => [Diagonal::NorthWest, Diagonal::NorthEast],
            Heading::South => [Diagonal::SouthWest, Diagonal::SouthEast],
        }
    }

    /// The directions in which the men of a colour move, and those of its kings alone.
    const fn of<const BLACK: bool>() -> [Heading; 2] {
        if BLACK { [Heading::South, Heading::North] } else { [Heading::North, Heading::South] }
    }
}

/// The edges of the board. North and south are the crowning rows.
const NORTH: u32 = by_place(0x0000_000f);
const SOUTH: u32 = by_place(0xf000_0000);
const EAST: u32 = by_place(0x0808_0808);
const WEST: u32 = by_place(0x1010_1010);

impl Diagonal {
    pub(super) const ALL: [Diagonal; 4] =
        [Diagonal::NorthWest, Diagonal::NorthEast, Diagonal::SouthWest, Diagonal::SouthEast];

    pub(super) const fn back(self) -> Diagonal {
        match self {
            Diagonal::NorthWest => Diagonal::SouthEast,
            Diagonal::NorthEast => Diagonal::SouthWest,
            Diagonal::SouthWest => Diagonal::NorthEast,
            Diagonal::SouthEast => Diagonal::NorthWest,
        }
    }

    /// The number that a step adds to a place, modulo 32.
    pub(super) const fn turn(self) -> u32 {
        match self {
            Diagonal::NorthWest => 32 - 7,
            Diagonal::NorthEast => 32 - 1,
            Diagonal::SouthWest => 1,
            Diagonal::SouthEast => 7,
        }
    }

    /// The squares from which a step leaves the board.
    const fn edge(self) -> u32 {
        match self {
            Diagonal::NorthWest => NORTH | WEST,
            Diagonal::NorthEast => NORTH | EAST,
            Diagonal::SouthWest => SOUTH | WEST,
            Diagonal::SouthEast => SOUTH | EAST,
        }
    }

    /// Moves a set by one square; squares that leave the board are dropped.
    pub(super) const fn step(self, set: u32) -> u32 {
        (set & !self.edge()).rotate_left(self.turn())
    }
}

/// The place halfway between the ends of a jump. A jump turns the place by twice a step.
pub(super) const fn jumped_place(from: u32, to: u32) -> u32 {
    let turn = to.wrapping_sub(from) << 27; // Moves the sign of a five-bit number to the sign bit.
    from.wrapping_add(((turn as i32) >> 28) as u32) & 31
}

/// A position without counters. Its text form is PDN's FEN.
///
/// A set of squares has a bit for each place, see `PLACES`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Board {
    /// The pieces of the side to move.
    own: u32,
    /// The pieces of the other side.
    enemy: u32,
    pub(super) kings: u32,
    pub(super) to_move: Colour,
}

impl Default for Board {
    /// Returns the initial position.
    fn default() -> Board {
        Board {
            own: by_place(0x0000_0fff),
            enemy: by_place(0xfff0_0000),
            ..Board::without_pieces(Colour::Black)
        }
    }
}

impl Board {
    pub(super) const fn without_pieces(to_move: Colour) -> Board {
        Board { own: 0, enemy: 0, kings: 0, to_move }
    }

    pub const fn to_move(&self) -> Colour {
        self.to_move
    }

    /// The squares of a colour's men: bit i is square i + 1.
    pub const fn men(&self, colour: Colour) -> u32 {
        by_index(self.pieces(colour) & !self.kings)
    }

    /// The squares of a colour's kings: bit i is square i + 1.
    pub const fn kings(&self, colour: Colour) -> u32 {
        by_index(self.pieces(colour) & self.kings)
    }

    /// Returns whether the side to move has no piece.
    pub(super) const fn is_bare(&self) -> bool {
        self.own == 0
    }

    pub(super) const fn pieces(&self, colour: Colour) -> u32 {
        if colour as u8 == self.to_move as u8 { self.own } else { self.enemy }
    }

    pub(super) const fn add(&mut self, colour: Colour, set: u32) {
        *(if colour as u8 == self.to_move as u8 { &mut self.own } else { &mut self.enemy }) |= set;
    }

    /// The squares without a piece.
    pub(super) const fn empty(&self) -> u32 {
        !(self.own | self.enemy)
    }

    /// The empty squares that a step of `pieces` this way reaches.
    const fn steps(&self, pieces: u32, way: Diagonal) -> u32 {
        way.step(pieces) & self.empty()
    }

    /// The squares from which a piece could jump an enemy this way.
    const fn jumps(&self, way: Diagonal) -> u32 {
        let back = way.back();
        back.step(back.step(self.empty()) & self.enemy)
    }

    /// Returns whether the side to move has a legal move. Usually one is a step forward.
    #[inline]
    pub(super) fn can_move(&self) -> bool {
        let [forward, backward] = match self.to_move {
            Colour::Black => Heading::of::<true>(),
            Colour::White => Heading::of::<false>(),
        };
        let ([left, right], own) = (forward.ways(), self.own);
        self.steps(own, left) | self.steps(own, right) != 0 || self.can_jump_or_retreat(forward, backward)
    }

    #[cold]
    fn can_jump_or_retreat(&self, forward: Heading, backward: Heading) -> bool {
        let (own, kings) = (self.own, self.own & self.kings);
        forward.ways().into_iter().any(|way| self.jumps(way) & own != 0)
            || backward.ways().into_iter().any(|way| self.jumps(way) & kings | self.steps(kings, way) != 0)
    }

    /// Appends the legal moves: captures if there are any, otherwise steps.
    #[inline(always)]
    pub(super) fn legal_moves(&self, out: &mut impl Moves) {
        // A generator for each colour, in which the directions are constants.
        match self.to_move {
            Colour::Black => self.generate::<true>(out),
            Colour::White => self.generate::<false>(out),
        }
    }

    /// Returns the number of legal moves.
    #[inline]
    pub(super) fn count_legal_moves(&self) -> usize {
        let mut count = Count::default();
        self.legal_moves(&mut count);
        count.0
    }

    #[inline(always)]
    fn generate<const BLACK: bool>(&self, out: &mut impl Moves) {
        let [forward, backward] = Heading::of::<BLACK>();
        let (own, kings) = (self.own, self.own & self.kings);
        let jumps = forward.ways().map(|way| self.jumps(way));
        let jumps_back = if kings == 0 { [0; 2] } else { backward.ways().map(|way| self.jumps(way)) };
        let jumpers = jumps.map(|from| from & own);
        let jumpers_back = jumps_back.map(|from| from & kings);
        if union(jumpers) | union(jumpers_back) == 0 {
            self.push_steps(own, forward, out);
            if kings != 0 {
                self.push_steps(kings, backward, out);
            }
            return;
        }
        let again = union(jumps) | union(jumps_back);
        self.push_captures::<BLACK>(jumpers, forward, again, out);
        if kings != 0 {
            self.push_captures::<BLACK>(jumpers_back, backward, again, out);
        }
    }

    #[inline(always)]
    fn push_steps(&self, pieces: u32, heading: Heading, out: &mut impl Moves) {
        let to = heading.ways().map(|way| self.steps(pieces, way));
        out.extend::<5>(Table::steps(heading), to);
    }

    /// Appends the captures that begin with a jump of these pieces in the two directions of a heading. `again` is the set
    /// of squares from which a second jump may follow: the first frees only its origin, which the second cannot reach.
    #[inline(always)]
    fn push_captures<const BLACK: bool>(
        &self,
        jumpers: [u32; 2],
        heading: Heading,
        again: u32,
        out: &mut impl Moves,
    ) {
        let ways = heading.ways();
        let landed = [0, 1].map(|which: usize| ways[which].step(ways[which].step(jumpers[which])));
        if union(landed) & again == 0 {
            out.extend::<2>(Table::jumps(heading), jumpers);
            return;
        }
        for (way, jumpers) in ways.into_iter().zip(jumpers) {
            for from in members(jumpers) {
                self.jump::<BLACK>(Move::from_place(from), bit(from), way, self.enemy, out);
            }
        }
    }

    /// Extends a capture by a jump, and then recursively in all directions. `enemy` is the set of pieces not jumped
    /// yet. A capture never lands on a jumped square (it lies in a row of the other parity), so no square becomes empty
    /// but the origin, which the piece may pass or end on. A man on its crowning row has no forward direction, which
    /// ends its turn as the rules require.
    fn jump<const BLACK: bool>(&self, path: Move, at: u32, way: Diagonal, enemy: u32, out: &mut impl Moves) {
        let over = way.step(at);
        let (at, enemy) = (way.step(over), enemy & !over);
        let path = path.then(at.trailing_zeros());
        let origin = bit(path.first());
        let empty = self.empty() | origin;
        let mut is_end = true;
        let mut go = |way: Diagonal| {
            if way.step(way.step(at) & enemy) & empty != 0 {
                is_end = false;
                self.jump::<BLACK>(path, at, way, enemy, out);
            }
        };
        let [forward, backward] = Heading::of::<BLACK>();
        forward.ways().into_iter().for_each(&mut go);
        if self.kings & origin != 0 {
            backward.ways().into_iter().for_each(go);
        }
        if is_end {
            out.push(path);
        }
    }

    /// Plays a legal move. Returns whether it captured or crowned.
    #[inline]
    pub(super) fn play(&mut self, mv: Move) -> bool {
        let (from, to) = (bit(mv.first()), bit(mv.last()));
        // Empty if a capture returns to its origin.
        let moved = from ^ to;
        let is_king = self.kings & from != 0;
        let crowned = if is_king { 0 } else { to & self.to_move.crowning_row() };
        let is_capture = mv.is_capture();
        let jumped = if is_capture { mv.jumped() } else { 0 };
        let own = self.own ^ moved;
        self.kings = (self.kings ^ if is_king { moved } else { crowned }) & !jumped;
        (self.own, self.enemy, self.to_move) = (self.enemy & !jumped, own, self.to_move.other());
        is_capture || crowned != 0
    }
}
