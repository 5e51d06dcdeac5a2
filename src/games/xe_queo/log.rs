//! The moves of a round, without memory from the heap.

use std::fmt;

use super::pawn::{PAWNS, Pawn};
use super::square::Square;

/// The most moves that a pawn can make in a round: the squares of a board of 7x7 lie at 27 distances from one of them, and
/// each move makes the pawn's smaller.
pub(super) const MOVES_OF_A_PAWN: usize = 26;

/// The most moves of a round.
pub(super) const CAPACITY: usize = PAWNS * MOVES_OF_A_PAWN;

/// What was moved in a round, in turn.
#[derive(Clone)]
pub(super) struct Log {
    len: usize,
    moved: [(Pawn, Square); CAPACITY],
}

impl Log {
    pub(super) const EMPTY: Log = Log { len: 0, moved: [(Pawn::Red, Square::A1); CAPACITY] };

    pub(super) fn moved(&self) -> &[(Pawn, Square)] {
        &self.moved[..self.len]
    }

    /// Adds a move. There is room for all that are legal in a round.
    pub(super) fn push(&mut self, pawn: Pawn, to: Square) {
        if let Some(next) = self.moved.get_mut(self.len) {
            *next = (pawn, to);
            self.len += 1;
        }
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.moved().fmt(f)
    }
}
