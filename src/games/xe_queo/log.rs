//! The moves of a round, without heap allocation.

use std::fmt;

use super::pawn::{PAWNS, Pawn};
use super::square::Square;

/// Maximum number of moves of a pawn in a round: there are at most 27 different distances to the ring on a 7x7
/// board, and each move decreases the distance.
pub(super) const MOVES_OF_A_PAWN: usize = 26;

/// Maximum number of moves of a round.
pub(super) const CAPACITY: usize = PAWNS * MOVES_OF_A_PAWN;

/// The moves of a round, in order.
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

    /// Appends a move. The capacity suffices for every legal round.
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
