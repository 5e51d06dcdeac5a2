//! Moves and their text form.

use std::fmt;
use std::str::FromStr;

use super::board::Field;
use super::dice::{Die, SIX};
use referee_game::Wrong;

/// A move: resolves a six, or uses a rolled field.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// `reroll 1`: rerolls a die that shows a six.
    Reroll(Die),
    /// `turn 1 4`: turns a die that shows a six to this face, 1 to 5, for six points.
    Turn(Die, u8),
    /// `place 4 3`: puts a stone on a free field (S1).
    Place(Field),
    /// `score 4 3`: scores the size of the own group that contains the field (S2, S5).
    Score(Field),
    /// `pay 4 3`: replaces an enemy stone; costs the size of its group in points (S2, S3, S7).
    Pay(Field),
    /// `insure 4 3`: replaces an enemy stone; costs an insurance stone, and the seventh loses (S2, S3, S4, S7).
    Insure(Field),
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Reroll(die) => write!(f, "reroll {}", die.number()),
            Move::Turn(die, face) => write!(f, "turn {} {face}", die.number()),
            Move::Place(field) => write!(f, "place {field}"),
            Move::Score(field) => write!(f, "score {field}"),
            Move::Pay(field) => write!(f, "pay {field}"),
            Move::Insure(field) => write!(f, "insure {field}"),
        }
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const NO_MOVE: Wrong = Wrong::new(
    "a move is `reroll 1` (a die, 1 or 2), `turn 1 4` (a die and its new face, 1 to 5), or `place`, `score`, `pay` or \
     `insure` with the row and the column of a field, 1 to 5, like `place 4 3`",
);

/// The value of an ASCII digit; for other bytes a value that is not a valid face, row or column.
const fn digit(byte: u8) -> u8 {
    byte.wrapping_sub(b'0')
}

const fn die(byte: u8) -> Option<Die> {
    match byte {
        b'1' => Some(Die::First),
        b'2' => Some(Die::Second),
        _ => None,
    }
}

fn read(text: &str) -> Option<Move> {
    let (verb, rest) = text.split_once(' ')?;
    match *rest.as_bytes() {
        [which] if verb == "reroll" => die(which).map(Move::Reroll),
        [which, b' ', face] if verb == "turn" => {
            let face = Some(digit(face)).filter(|face| (1..SIX).contains(face))?;
            Some(Move::Turn(die(which)?, face))
        }
        [row, b' ', column] => {
            let on_field = match verb {
                "place" => Move::Place,
                "score" => Move::Score,
                "pay" => Move::Pay,
                "insure" => Move::Insure,
                _ => return None,
            };
            Field::at(digit(row), digit(column)).map(on_field)
        }
        _ => None,
    }
}

impl FromStr for Move {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Move, Wrong> {
        read(text).ok_or(NO_MOVE)
    }
}
