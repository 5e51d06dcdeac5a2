//! The seven pawns, which belong to neither player.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::square::Square;

/// A pawn, by its colour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pawn {
    Red,
    Orange,
    Yellow,
    Green,
    Blue,
    Purple,
    Black,
}

pub(super) const PAWNS: usize = 7;

impl Pawn {
    /// The pawns, in set-up order.
    pub const ALL: [Pawn; PAWNS] =
        [Pawn::Red, Pawn::Orange, Pawn::Yellow, Pawn::Green, Pawn::Blue, Pawn::Purple, Pawn::Black];

    /// The colour in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Pawn::Red => "red",
            Pawn::Orange => "orange",
            Pawn::Yellow => "yellow",
            Pawn::Green => "green",
            Pawn::Blue => "blue",
            Pawn::Purple => "purple",
            Pawn::Black => "black",
        }
    }

    /// The pawn with this colour.
    pub fn named(name: &str) -> Option<Pawn> {
        Pawn::ALL.into_iter().find(|pawn| pawn.name() == name)
    }

    /// The letter on the text board: the first of its colour, K for black.
    pub(super) const fn letter(self) -> char {
        ['R', 'O', 'Y', 'G', 'B', 'P', 'K'][self as usize]
    }
}

impl fmt::Display for Pawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Pawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The squares of the pawns, all different.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pawns([Square; PAWNS]);

impl Pawns {
    /// Places the pawns on these squares, which must differ, in the order of [`Pawn::ALL`].
    pub(super) const fn on(squares: [Square; PAWNS]) -> Pawns {
        Pawns(squares)
    }

    pub const fn square(&self, pawn: Pawn) -> Square {
        self.0[pawn as usize]
    }

    pub fn at(&self, square: Square) -> Option<Pawn> {
        self.iter().find(|&(_, at)| at == square).map(|(pawn, _)| pawn)
    }

    /// The pawns and their squares, in the order of [`Pawn::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Pawn, Square)> {
        Pawn::ALL.into_iter().zip(self.0)
    }

    pub(super) const fn put(&mut self, pawn: Pawn, to: Square) {
        self.0[pawn as usize] = to;
    }

    /// Returns whether all squares differ.
    pub(super) fn are_apart(&self) -> bool {
        self.occupied().count_ones() as usize == PAWNS
    }

    /// The squares of all pawns, as a set.
    pub(super) fn occupied(&self) -> u64 {
        self.0.iter().fold(0, |set, square| set | square.bit())
    }
}

impl fmt::Debug for Pawns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
