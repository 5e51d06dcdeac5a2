//! What follows from a move or a roll.

use serde::Serialize;

use crate::core::{self, Seat, Viewer};

/// An event of the game's own. Everybody sees all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fact {
    /// The seat's dice were rolled, or one of them again.
    Roll {
        /// Whose turn it is.
        seat: Seat,
        /// Both dice as they now lie, each 1 to 6.
        dice: [u8; 2],
    },
    /// The seat's turn ended because it could do nothing (S6).
    Pass {
        /// Whose turn it was.
        seat: Seat,
    },
}

impl core::Fact for Fact {
    fn as_seen_by(&self, _: Viewer) -> impl Serialize {
        self
    }
}
