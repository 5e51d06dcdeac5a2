//! Moves and their text form.

use std::fmt;
use std::str::FromStr;

use super::pawn::Pawn;
use super::square::Square;
use referee_game::Wrong;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// `ring d4`: places the ring on an empty square without adjacent pawns (X7).
    Ring(Square),
    /// `choose red`: secretly chooses a pawn.
    Choose(Pawn),
    /// `move red d4`: moves any pawn to a square nearer to the ring (X1 to X3).
    Move(Pawn, Square),
    /// `accuse blue`: guesses the pawn that the opponent has chosen (X4).
    Accuse(Pawn),
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Ring(square) => write!(f, "ring {square}"),
            Move::Choose(pawn) => write!(f, "choose {pawn}"),
            Move::Move(pawn, to) => write!(f, "move {pawn} {to}"),
            Move::Accuse(pawn) => write!(f, "accuse {pawn}"),
        }
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const NO_MOVE: Wrong = Wrong::new(
    "a move is `ring d4` (a square, a1 to g7), `choose red`, `move red d4` or `accuse blue`; the pawns are red, orange, \
     yellow, green, blue, purple and black",
);

fn read(text: &str) -> Option<Move> {
    let (verb, rest) = text.split_once(' ')?;
    match verb {
        "ring" => Square::named(rest).map(Move::Ring),
        "choose" => Pawn::named(rest).map(Move::Choose),
        "move" => {
            let (pawn, to) = rest.split_once(' ')?;
            Some(Move::Move(Pawn::named(pawn)?, Square::named(to)?))
        }
        "accuse" => Pawn::named(rest).map(Move::Accuse),
        _ => None,
    }
}

impl FromStr for Move {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Move, Wrong> {
        read(text).ok_or(NO_MOVE)
    }
}
