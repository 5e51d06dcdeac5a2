//! A match as a bridge follows it.

use referee_bots::Budget;
use referee_protocol::referee::{Clock, Start, Turn};
use serde_json::Value;
use serde_json::value::RawValue;

/// The start position of chess.
pub(crate) const CHESS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/// The time of a move without a clock and a budget, in milliseconds.
const FREE: u64 = 1000;
/// The number of moves to go above which an engine is not told how many there are: it plans for a whole match.
const MOVES_TO_GO: u32 = 40;

#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) id: String,
    pub(crate) game: String,
    pub(crate) seat: u8,
    pub(crate) seats: usize,
    pub(crate) options: Value,
    pub(crate) clock: Option<Clock>,
    /// The moves so far, with the seats that made them.
    pub(crate) moves: Vec<(u8, String)>,
    pub(crate) turn: Option<u32>,
}

/// The limit of an engine for its move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Budget(Budget),
    /// Milliseconds for this move.
    Move(u64),
    Clock(Time),
}

/// The clocks of a match, in milliseconds. A delay counts as an increment that is added before the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) own: u64,
    pub(crate) other: u64,
    pub(crate) increment: u64,
    /// The delay, which is part of `own`, `other` and `increment`.
    pub(crate) delay: u64,
    pub(crate) moves_to_go: Option<u32>,
}

impl Match {
    pub(crate) fn of(start: &Start<&RawValue>) -> Result<Match, serde_json::Error> {
        Ok(Match {
            id: start.r#match.clone(),
            game: start.game.clone(),
            seat: start.seat,
            seats: start.seats.len(),
            options: serde_json::from_str(start.options.get())?,
            clock: start.clock,
            moves: Vec::new(),
            turn: None,
        })
    }

    /// The start position, if an option of the game has one of these names.
    pub(crate) fn position(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.options[name].as_str()).filter(|text| !text.is_empty())
    }

    /// A number among the options of the game, by the first of these names that there is.
    pub(crate) fn number(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|name| self.options[name].as_f64())
    }

    /// The limit of the engine for a turn.
    pub(crate) fn limit(&self, budget: Budget, turn: &Turn<'_, &RawValue>) -> Limit {
        if budget != Budget::default() {
            return Limit::Budget(budget);
        }
        let (Some(clock), Some(left)) = (self.clock, turn.clock) else { return Limit::Move(FREE) };
        if clock.bank_ms == 0 && clock.increment_ms == 0 {
            // The answer takes a moment to arrive.
            let reserve = (left.limit_ms / 20).clamp(1, 10);
            return Limit::Move(left.limit_ms.saturating_sub(reserve).max(1));
        }
        let other = (usize::from(self.seat) + 1) % self.seats.max(1);
        let other = turn.banks_ms.as_ref().and_then(|banks| *banks.get(other)?);
        let moves_to_go = turn.turns_left.map(|left| left.div_ceil(self.seats.max(1) as u32));
        Limit::Clock(Time {
            own: left.limit_ms.max(1),
            other: (other.unwrap_or(left.bank_ms) + clock.delay_ms).max(1),
            increment: clock.increment_ms + clock.delay_ms,
            delay: clock.delay_ms,
            moves_to_go: moves_to_go.filter(|&left| left <= MOVES_TO_GO),
        })
    }
}
