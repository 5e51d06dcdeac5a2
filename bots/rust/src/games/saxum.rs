//! Saxum: dice, faces, rows and columns are numbered from 1.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Misspelled;
use super::text::{number, words};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The seat to move; empty when the game is over.
    pub to_move: Vec<u8>,
    pub phase: Phase,
    /// The faces of die 1 and die 2; `None` before a roll, which never occurs in a turn.
    pub dice: Option<[u8; 2]>,
    /// The rows, with one character per column: `0` and `1` for the seats' stones, `.` for a free field.
    pub board: [String; 5],
    /// Points, by seat.
    pub points: [u32; 2],
    /// Rows scored, by seat.
    pub rows: [u32; 2],
    /// Insurance stones left, by seat.
    pub insurance: [u8; 2],
    /// Stones not on the board, by seat.
    pub supply: [u8; 2],
}

words! {
    /// Uses of the dice.
    Phase("phase of Saxum") {
        /// A six has to be resolved:
        Six = "six",
        /// The dice determine fields:
        Field = "field",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    /// 1 to 5.
    pub row: u8,
    /// 1 to 5.
    pub column: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `reroll 1`: a die.
    Reroll(u8),
    /// `turn 2 5`: a die and its new face; costs points.
    Turn(u8, u8),
    /// `place 4 3`
    Place(Field),
    /// `score 4 3`
    Score(Field),
    /// `pay 4 3`: replaces an enemy stone for points.
    Pay(Field),
    /// `insure 4 3`: replaces an enemy stone for an insurance stone.
    Insure(Field),
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.row, self.column)
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Reroll(die) => write!(f, "reroll {die}"),
            Move::Turn(die, face) => write!(f, "turn {die} {face}"),
            Move::Place(field) => write!(f, "place {field}"),
            Move::Score(field) => write!(f, "score {field}"),
            Move::Pay(field) => write!(f, "pay {field}"),
            Move::Insure(field) => write!(f, "insure {field}"),
        }
    }
}

impl FromStr for Move {
    type Err = Misspelled;

    fn from_str(text: &str) -> Result<Move, Misspelled> {
        let field = |row, column| Some(Field { row: number(row, 1..=5)?, column: number(column, 1..=5)? });
        let read = match text.split(' ').collect::<Vec<_>>()[..] {
            ["reroll", die] => number(die, 1..=2).map(Move::Reroll),
            ["turn", die, face] => {
                number(die, 1..=2).and_then(|die| Some(Move::Turn(die, number(face, 1..=5)?)))
            }
            ["place", row, column] => field(row, column).map(Move::Place),
            ["score", row, column] => field(row, column).map(Move::Score),
            ["pay", row, column] => field(row, column).map(Move::Pay),
            ["insure", row, column] => field(row, column).map(Move::Insure),
            _ => None,
        };
        read.ok_or_else(|| Misspelled::new(text, "move of Saxum"))
    }
}
