//! Moves as UCI writes them.

use std::fmt;
use std::str::FromStr;

use cozy_chess::{Piece, Square};

use referee_game::Wrong;

/// A move in the notation of UCI: `e2e4`, `e7e8q`. Castling is the move of the king, `e1g1`, and in Chess960 that of the
/// king to the square of its rook, `e1h1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move(pub(super) cozy_chess::Move);

impl Move {
    /// The origin and the destination, of castling as the text has it.
    pub const fn squares(self) -> [Square; 2] {
        [self.0.from, self.0.to]
    }

    /// The piece that a pawn is promoted to.
    pub const fn promotion(self) -> Option<Piece> {
        self.0.promotion
    }

    /// Passes its text, which is ASCII, to `push` byte by byte.
    pub(super) fn spell(self, mut push: impl FnMut(u8)) {
        for square in self.squares() {
            push(b'a' + square.file() as u8);
            push(b'1' + square.rank() as u8);
        }
        if let Some(piece) = self.promotion() {
            push(letter(piece));
        }
    }
}

/// The lower-case letter of a piece.
pub(super) const fn letter(piece: Piece) -> u8 {
    b"pnbrqk"[piece as usize]
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const NO_MOVE: Wrong = Wrong::new(
    "a move is two squares like e2e4, with the letter q, r, b or n after them for a promotion, like e7e8q",
);

impl FromStr for Move {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Move, Wrong> {
        let is_whole = text.is_ascii()
            && match text.as_bytes() {
                [_, _, _, _] => true,
                [_, _, _, _, promotion] => b"nbrq".contains(promotion),
                _ => false,
            };
        // Without this check, the library would ignore text after the move.
        if !is_whole {
            return Err(NO_MOVE);
        }
        text.parse().map(Move).map_err(|_| NO_MOVE)
    }
}
