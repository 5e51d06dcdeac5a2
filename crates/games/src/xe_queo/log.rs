//! The moves of a round, without heap allocation.

use std::fmt;

use super::pawn::{PAWNS, Pawn};
use super::position::other;
use super::square::Square;
use referee_game::Seat;

/// Maximum number of moves of a pawn in a round: there are at most 27 different distances to the ring on a 7x7
/// board, and each move decreases the distance.
pub(super) const MOVES_OF_A_PAWN: usize = 26;

/// Maximum number of moves of a round.
pub(super) const CAPACITY: usize = PAWNS * MOVES_OF_A_PAWN;

/// The seats that made this many alternating moves of a round, given the seat whose turn it is now.
pub(super) fn movers(count: usize, to_move: Seat) -> impl Iterator<Item = Seat> {
    (0..count).map(move |at| if (count - at).is_multiple_of(2) { to_move } else { other(to_move) })
}

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

    /// The moves with their seats, given the seat whose turn it is now.
    pub(super) fn by_seat(&self, to_move: Seat) -> impl Iterator<Item = (Seat, Pawn, Square)> {
        let moved = self.moved();
        movers(moved.len(), to_move).zip(moved).map(|(seat, &(pawn, to))| (seat, pawn, to))
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
