//! What a bot decides.

use serde_json::Value;

/// A bot's decision on a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Plays a move.
    Move(Move),
    /// Takes the draw that the turn shows as `draw_offered`.
    AcceptDraw,
    /// Gives up.
    Resign,
}

/// A move and what goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// The move.
    pub pick: Pick,
    /// Whether a draw is offered with it; heard only in games with draws by agreement.
    pub offer_draw: bool,
    /// What the bot thought, for the record: an object of at most 4 KiB with, say, `score`, `depth`, `nodes`, `pv` and
    /// `text`.
    pub info: Option<Value>,
}

/// Which move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The index in [`Turn::legal`](crate::Turn::legal).
    Legal(usize),
    /// The text, for a bot that knows the moves by itself.
    Text(String),
}

impl Answer {
    /// The legal move with this index.
    pub fn legal(index: usize) -> Self {
        Move::legal(index).into()
    }

    /// The move with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Move::text(text).into()
    }
}

impl Move {
    /// The legal move with this index.
    pub fn legal(index: usize) -> Self {
        Pick::Legal(index).into()
    }

    /// The move with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Pick::Text(text.into()).into()
    }

    /// Offers a draw with it.
    #[must_use]
    pub fn offering_draw(self) -> Self {
        Move { offer_draw: true, ..self }
    }

    /// Adds what the bot thought: an object, as [`json!`](serde_json::json) writes it.
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
