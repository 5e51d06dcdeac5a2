//! The events of the game.

use serde::Serialize;

use super::cards::Hand;
use super::hands::Hands;
use referee_game::{Seat, Viewer};

/// A game-specific event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Every seat got its cards for a round. A seat sees only its own.
    Deal(Hands),
    /// A seat could play none of its cards and put all of them on the pile (K7). All viewers see them.
    HandIn { seat: Seat, cards: Hand },
}

impl referee_game::Fact for Fact {
    fn as_seen_by(&self, viewer: Viewer) -> impl Serialize {
        match *self {
            Fact::HandIn { seat, cards } => Seen::HandIn { seat, cards },
            Fact::Deal(hands) => match viewer {
                Viewer::Seat(seat) => Seen::Deal { hand: Some(hands.of(seat)), hands: None },
                Viewer::Public => Seen::Deal { hand: None, hands: None },
                Viewer::Omniscient => Seen::Deal { hand: None, hands: Some(hands) },
            },
        }
    }
}

/// An event as one viewer may see it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Seen {
    /// A round begins.
    Deal {
        /// The viewer's hand; `null` for spectators and in records.
        hand: Option<Hand>,
        /// The hands of all seats; only in records.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Hands"))]
        hands: Option<Hands>,
    },
    /// A seat could play none of its cards and put them on the pile (K7).
    HandIn {
        /// The seat whose cards are discarded.
        seat: Seat,
        /// The cards, in the order on the pile.
        cards: Hand,
    },
}
