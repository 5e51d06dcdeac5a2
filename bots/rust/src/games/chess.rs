//! Chess: squares are `a1` to `h8`; seat 0 is White.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Misspelled;
use super::text::{json_as_text, square, words};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The seat to move; empty when the game is over.
    pub to_move: Vec<u8>,
    /// One letter per square, from a8 to h8, then a7 to h7, to h1: those of FEN, `.` empty.
    pub board: String,
    pub fen: String,
    /// The squares of the pieces that give check.
    pub checks: Vec<Square>,
    /// The number of occurrences of the position, including now.
    pub occurrences: u32,
    /// Moves since the last capture, move of a pawn or loss of a castling right.
    pub since: Line,
}

/// A position and the moves that follow it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub fen: String,
    pub moves: Vec<Move>,
}

words! {
    /// Pieces to which a pawn is promoted.
    Piece("piece to promote to") {
        Queen = "q",
        Rook = "r",
        Bishop = "b",
        Knight = "n",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square {
    /// `a` to `h`.
    pub file: char,
    /// 1 to 8.
    pub rank: u8,
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.file, self.rank)
    }
}

impl FromStr for Square {
    type Err = Misspelled;

    fn from_str(text: &str) -> Result<Square, Misspelled> {
        let (file, rank) = square(text, 8).ok_or_else(|| Misspelled::new(text, "square of chess"))?;
        Ok(Square { file: char::from(b'a' + file), rank: rank + 1 })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `e2e4`: origin and destination. It is castling, too: the king's move, in Chess960 to the square of its rook.
    Move(Square, Square),
    /// `e7e8q`: origin, destination and the new piece.
    Promote(Square, Square, Piece),
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Move(from, to) => write!(f, "{from}{to}"),
            Move::Promote(from, to, piece) => write!(f, "{from}{to}{piece}"),
        }
    }
}

impl FromStr for Move {
    type Err = Misspelled;

    fn from_str(text: &str) -> Result<Move, Misspelled> {
        let (Some(from), Some(to), Some(piece)) = (text.get(..2), text.get(2..4), text.get(4..)) else {
            return Err(Misspelled::new(text, "move of chess"));
        };
        let (from, to) = (from.parse()?, to.parse()?);
        Ok(if piece.is_empty() { Move::Move(from, to) } else { Move::Promote(from, to, piece.parse()?) })
    }
}

json_as_text! { Square Move }
