//! The board: pieces, side to move, move generation.

use std::fmt;

use super::moves::Move;
use crate::core::Seat;

/// The bit of a square in a set: the lowest bit is square 1, the highest square 32.
pub(super) const fn bit(square: u32) -> u32 {
    1 << square
}

/// The indices, 0 to 31, of the squares of a set, ascending.
pub(super) fn squares(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let square = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(square)
    })
}

/// The colour of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Colour {
    /// Seat 0; moves first, towards square 32.
    Black,
    /// Seat 1; moves towards square 1.
    White,
}

impl Colour {
    /// The seat that plays it.
    pub const fn seat(self) -> Seat {
        Seat(self as u8)
    }

    /// The opponent's colour.
    pub const fn other(self) -> Colour {
        match self {
            Colour::Black => Colour::White,
            Colour::White => Colour::Black,
        }
    }

    /// The row on which its men are crowned.
    pub(super) const fn crowning_row(self) -> u32 {
        match self {
            Colour::Black => 0xf000_0000,
            Colour::White => 0x0000_000f,
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
pub(super) enum Way {
    NorthWest,
    NorthEast,
    SouthWest,
    SouthEast,
}

/// The rows 1-4, 9-12, 17-20 and 25-28. The squares of the other rows are offset to the west.
const SHIFTED: u32 = 0x0f0f_0f0f;
/// These rows without their last square, which has no eastern neighbour.
const EASTWARD: u32 = SHIFTED & !0x0808_0808;
/// The other rows without their first square, which has no western neighbour.
const WESTWARD: u32 = !SHIFTED & !0x1010_1010;

impl Way {
    pub(super) const ALL: [Way; 4] = [Way::NorthWest, Way::NorthEast, Way::SouthWest, Way::SouthEast];

    const fn back(self) -> Way {
        match self {
            Way::NorthWest => Way::SouthEast,
            Way::NorthEast => Way::SouthWest,
            Way::SouthWest => Way::NorthEast,
            Way::SouthEast => Way::NorthWest,
        }
    }

    /// Whether men of this colour move this way.
    const fn is_forward(self, colour: Colour) -> bool {
        matches!(self, Way::SouthWest | Way::SouthEast) == matches!(colour, Colour::Black)
    }

    /// Moves a set by one square; squares that leave the board are dropped.
    pub(super) const fn step(self, set: u32) -> u32 {
        match self {
            Way::NorthWest => (set & SHIFTED) >> 4 | (set & WESTWARD) >> 5,
            Way::NorthEast => (set & EASTWARD) >> 3 | (set & !SHIFTED) >> 4,
            Way::SouthWest => (set & SHIFTED) << 4 | (set & WESTWARD) << 3,
            Way::SouthEast => (set & EASTWARD) << 5 | (set & !SHIFTED) << 4,
        }
    }
}

/// A position without counters. Its text form is PDN's FEN.
///
/// Sets of squares are bits: bit i is square i + 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Board {
    pub(super) pieces: [u32; 2],
    pub(super) kings: u32,
    pub(super) to_move: Colour,
}

impl Default for Board {
    /// The initial position.
    fn default() -> Board {
        Board { pieces: [0x0000_0fff, 0xfff0_0000], kings: 0, to_move: Colour::Black }
    }
}

impl Board {
    /// The side to move.
    pub const fn to_move(&self) -> Colour {
        self.to_move
    }

    /// The squares of a colour's men.
    pub const fn men(&self, colour: Colour) -> u32 {
        self.pieces[colour as usize] & !self.kings
    }

    /// The squares of a colour's kings.
    pub const fn kings(&self, colour: Colour) -> u32 {
        self.pieces[colour as usize] & self.kings
    }

    /// Whether the side to move has no piece.
    pub(super) const fn is_bare(&self) -> bool {
        self.own() == 0
    }

    const fn own(&self) -> u32 {
        self.pieces[self.to_move as usize]
    }

    const fn enemy(&self) -> u32 {
        self.pieces[self.to_move.other() as usize]
    }

    const fn empty(&self) -> u32 {
        !(self.pieces[0] | self.pieces[1])
    }

    /// The pieces of the side to move that can move this way: men only forward, kings in all directions.
    const fn going(&self, way: Way) -> u32 {
        if way.is_forward(self.to_move) { self.own() } else { self.own() & self.kings }
    }

    /// The empty squares that a step this way can reach.
    const fn steps(&self, way: Way) -> u32 {
        way.step(self.going(way)) & self.empty()
    }

    /// The pieces of the side to move that can capture this way.
    const fn jumpers(&self, way: Way) -> u32 {
        let back = way.back();
        back.step(back.step(self.empty()) & self.enemy()) & self.going(way)
    }

    pub(super) fn can_move(&self) -> bool {
        Way::ALL.into_iter().any(|way| self.steps(way) != 0 || self.jumpers(way) != 0)
    }

    /// Appends the legal moves: captures if there are any, otherwise steps.
    pub(super) fn legal_moves(&self, out: &mut Vec<Move>) {
        let jumpers = Way::ALL.into_iter().fold(0, |set, way| set | self.jumpers(way));
        if jumpers == 0 {
            for way in Way::ALL {
                for to in squares(self.steps(way)) {
                    out.push(Move::from_square(way.back().step(bit(to)).trailing_zeros()).then(to));
                }
            }
        }
        for square in squares(jumpers) {
            // The origin counts as empty during the capture: the piece may pass or end there.
            let jumper = Jumper { board: self, from: bit(square), empty: self.empty() | bit(square) };
            jumper.extend(Move::from_square(square), bit(square), self.enemy(), out);
        }
    }

    /// Plays a legal move. Returns whether it captured or crowned.
    pub(super) fn play(&mut self, mv: Move) -> bool {
        let (from, to) = (bit(mv.first()), bit(mv.last()));
        let is_king = self.kings & from != 0;
        let crowns = !is_king && to & self.to_move.crowning_row() != 0;
        let jumped = if mv.is_capture() { mv.jumped() } else { 0 };
        let [own, enemy] = [self.to_move, self.to_move.other()].map(|colour| colour as usize);
        self.pieces[own] = self.pieces[own] & !from | to;
        self.pieces[enemy] &= !jumped;
        self.kings &= !(from | jumped);
        if is_king || crowns {
            self.kings |= to;
        }
        self.to_move = self.to_move.other();
        crowns || jumped != 0
    }
}

/// A piece during a capture.
struct Jumper<'a> {
    board: &'a Board,
    from: u32,
    empty: u32,
}

impl Jumper<'_> {
    /// Extends a capture recursively in all directions. `enemy` is the set of pieces not jumped yet. A capture never
    /// lands on a jumped square (it lies in a row of the other parity), so `empty` does not grow. A man on its
    /// crowning row has no forward direction, which ends its turn as the rules require.
    fn extend(&self, path: Move, at: u32, enemy: u32, out: &mut Vec<Move>) {
        let mut is_end = true;
        for way in Way::ALL {
            if self.board.going(way) & self.from == 0 {
                continue;
            }
            let over = way.step(at) & enemy;
            let landing = way.step(over) & self.empty;
            if landing != 0 {
                is_end = false;
                self.extend(path.then(landing.trailing_zeros()), landing, enemy & !over, out);
            }
        }
        if is_end {
            out.push(path);
        }
    }
}
