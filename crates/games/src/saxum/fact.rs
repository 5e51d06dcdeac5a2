//! The events of the game.

use serde::Serialize;

use referee_game::{Seat, Viewer};

/// A game-specific event. All viewers see the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fact {
    /// The seat's dice were rolled, or one was rerolled.
    Roll {
        /// The seat whose turn it is.
        seat: Seat,
        /// The faces of both dice, each 1 to 6.
        #[cfg_attr(feature = "schema", schemars(inner(range(min = 1, max = 6))))]
        dice: [u8; 2],
    },
    /// The seat's turn ended without a possible action (S6).
    Pass {
        /// The seat whose turn it was.
        seat: Seat,
    },
}

impl referee_game::Fact for Fact {
    fn as_seen_by(&self, _: Viewer) -> impl Serialize {
        self
    }
}
