//! A bot's answers.

use referee_protocol::bot::Inability;
use serde_json::Value;

/// A bot's decision on a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Move(Move),
    /// Accepts the draw that the turn shows as `draw_offered`.
    AcceptDraw,
    Resign,
    /// Says that the bot has no move. [`Inability::NoLegalMove`] is a fault. [`Inability::Unavailable`] makes the match void
    /// where the organiser trusts bots; elsewhere it is a fault.
    Unable {
        because: Inability,
        /// As in [`Move::info`].
        info: Option<Value>,
    },
}

/// A move with optional draw offer and search info.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    pub pick: Pick,
    /// Whether to offer a draw with the move; ignored in games without draws by agreement.
    pub offer_draw: bool,
    /// Search info for the record: an object of at most 4 KiB, for example with `score`, `depth`, `nodes`, `pv` and
    /// `text`.
    pub info: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The index in [`Turn::legal`](crate::Turn::legal).
    Legal(usize),
    /// The text of the move, for bots that generate moves themselves.
    Text(String),
}

impl Answer {
    /// The legal move with this index.
    pub fn legal(index: usize) -> Self {
        Move::legal(index).into()
    }

    pub fn text(text: impl Into<String>) -> Self {
        Move::text(text).into()
    }
}

impl Move {
    /// The legal move with this index.
    pub fn legal(index: usize) -> Self {
        Pick::Legal(index).into()
    }

    pub fn text(text: impl Into<String>) -> Self {
        Pick::Text(text.into()).into()
    }

    /// Offers a draw with the move.
    #[must_use]
    pub fn offering_draw(self) -> Self {
        Move { offer_draw: true, ..self }
    }

    /// Adds search info: an object, for example from [`json!`](serde_json::json).
    #[must_use]
    pub fn with_info(self, info: Value) -> Self {
        Move { info: Some(info), ..self }
    }
}

impl From<Pick> for Move {
    fn from(pick: Pick) -> Self {
        Move { pick, offer_draw: false, info: None }
    }
}

impl From<Move> for Answer {
    fn from(r#move: Move) -> Self {
        Answer::Move(r#move)
    }
}
