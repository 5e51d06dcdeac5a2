//! Finished rounds, and the events of the game.

use serde::{Deserialize, Serialize};

use super::pawn::{Pawn, Pawns};
use referee_game::{Seat, Viewer};

/// The way in which a ring was won.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The winner moved the chosen pawn onto the ring.
    Entered,
    /// The loser moved its chosen pawn onto the ring, but the winner had chosen the same pawn.
    EnteredRival,
    /// The winner accused correctly.
    Accused,
    /// The loser accused wrongly.
    AccusedWrongly,
}

/// The outcome of a round. The choices are public now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Round {
    /// The seat that won the ring.
    pub winner: Seat,
    /// The choices, by seat.
    pub choices: [Pawn; 2],
    /// The way in which the ring was won.
    pub reason: Reason,
}

/// A game-specific event. All viewers see the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fact {
    /// The pawns were set up.
    Setup {
        /// The squares of the pawns.
        pawns: Pawns,
    },
    /// A round ended.
    Round(Round),
}

impl referee_game::Fact for Fact {
    fn as_seen_by(&self, _: Viewer) -> impl Serialize {
        self
    }
}
