//! The position as everybody sees it, on the wire and on a terminal.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::Checkers;
use super::board::{Board, bit};
use crate::core::Seat;

/// The position as every seat and all spectators see it.
#[derive(Debug, Serialize)]
pub struct View {
    #[serde(serialize_with = "as_list")]
    to_move: Option<Seat>,
    board: Letters,
    fen: Board,
    quiet_plies: u32,
}

impl View {
    pub(super) fn of(position: &Checkers) -> View {
        let board = position.board;
        View {
            to_move: position.outcome().is_none().then(|| board.to_move.seat()),
            board: Letters(board),
            fen: board,
            quiet_plies: position.quiet_plies,
        }
    }
}

fn as_list<S: Serializer>(seat: &Option<Seat>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(seat)
}

/// A view read back. Its FEN tells what its other fields tell, but for the count.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Seen {
    /// The pieces and the side to move.
    #[serde(rename = "fen")]
    pub board: Board,
    /// Plies in a row without capture or crowning.
    pub quiet_plies: u32,
}

/// The board as a letter for each square: `b` `w` men, `B` `W` kings, `.` empty.
#[derive(Debug)]
struct Letters(Board);

impl Board {
    fn letter(&self, square: u32) -> u8 {
        let Board { pieces: [black, white], kings, .. } = self;
        let on = |set: &u32| set & bit(square) != 0;
        match (on(black), on(white), on(kings)) {
            (true, _, false) => b'b',
            (true, _, true) => b'B',
            (_, true, false) => b'w',
            (_, true, true) => b'W',
            (false, false, _) => b'.',
        }
    }
}

impl Serialize for Letters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let letters: [u8; 32] = std::array::from_fn(|square| self.0.letter(square as u32));
        serializer.serialize_str(
            std::str::from_utf8(&letters).unwrap_or_else(|_| unreachable!("letters are ASCII")),
        )
    }
}

/// The board with White below. Empty squares show their numbers, the edges the first and the last of each row.
pub(super) fn draw(position: &Checkers, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let board = position.board;
    for row in 0..8 {
        let first = 4 * row;
        write!(f, "{:>2} |", first + 1)?;
        for square in first..first + 4 {
            let piece = match board.letter(square) {
                b'.' => (square + 1).to_string(),
                letter => char::from(letter).to_string(),
            };
            if row % 2 == 0 {
                write!(f, "   {piece:>3}")?;
            } else {
                write!(f, "{piece:>3}   ")?;
            }
        }
        writeln!(f, " | {}", first + 4)?;
    }
    match position.outcome() {
        None => write!(f, "{} to move", board.to_move)?,
        Some(outcome) => write!(f, "over: {}", outcome.reason)?,
    }
    if position.quiet_plies > 0 {
        write!(f, ", quiet plies: {}", position.quiet_plies)?;
    }
    writeln!(f)
}
