//! The outcome of a game by its own rules.

use crate::core::seat::{MAX_SEATS, Seating};

/// The outcome of a game: the order of the sides and the rule that ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    standing: [u8; MAX_SEATS],
    /// The protocol's identifier of the rule.
    pub reason: &'static str,
    /// Whether the turn limit ended the game.
    pub turn_limit: bool,
}

impl Outcome {
    /// One side wins; all others share the place behind it.
    pub fn win(side: usize, reason: &'static str) -> Outcome {
        let mut standing = [1; MAX_SEATS];
        standing[side] = 0;
        Outcome { standing, reason, turn_limit: false }
    }

    /// All sides are equal.
    pub const fn draw(reason: &'static str) -> Outcome {
        Outcome { standing: [0; MAX_SEATS], reason, turn_limit: false }
    }

    /// All sides are equal because the turn limit is reached.
    pub const fn turn_limit() -> Outcome {
        Outcome { standing: [0; MAX_SEATS], reason: "turn_limit", turn_limit: true }
    }

    /// The place of a side, 0 for the best. Only the order is meaningful.
    pub const fn standing(&self, side: usize) -> u8 {
        self.standing[side]
    }

    /// The winner, if exactly one side has the first place.
    pub fn winner(&self, seating: Seating) -> Option<usize> {
        let mut first = (0..seating.sides()).filter(|&side| self.standing[side] == 0);
        first.next().filter(|_| first.next().is_none())
    }
}
