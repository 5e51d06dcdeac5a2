//! A round that is over, and what is told of it.

use serde::{Deserialize, Serialize};

use super::pawn::{Pawn, Pawns};
use crate::core::{self, Seat, Viewer};

/// How a ring was won.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The winner moved the chosen pawn onto the ring.
    Entered,
    /// The loser did, but the winner had chosen the same pawn.
    EnteredRival,
    /// The winner said which pawn the loser had chosen.
    Accused,
    /// The loser said it wrongly.
    AccusedWrongly,
}

/// A round that is over. Now everybody knows what was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Who won the ring.
    pub winner: Seat,
    /// What the seats had chosen.
    pub choices: [Pawn; 2],
    /// How it was won.
    pub reason: Reason,
}

/// An event of the game's own. Everybody sees all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fact {
    /// The pawns were set up.
    Setup {
        /// Where they stand.
        pawns: Pawns,
    },
    /// A round ended.
    Round(Round),
}

impl core::Fact for Fact {
    fn as_seen_by(&self, _: Viewer) -> impl Serialize {
        self
    }
}
