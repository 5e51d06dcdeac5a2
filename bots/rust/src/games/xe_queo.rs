//! Xe Queo!: squares are `a1` to `g7`; pawns are named by colour.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Misspelled;
use super::text::{json_as_text, square, words};

/// The position as a seat may see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The round, counted from 1.
    pub round: u32,
    pub phase: Phase,
    /// The seats to decide; empty when the game is over.
    pub to_move: Vec<u8>,
    /// Rings won, by seat.
    pub rings: [u8; 2],
    pub pawns: BTreeMap<Pawn, Square>,
    /// The square of the ring; `None` until it is placed.
    pub ring: Option<Square>,
    /// The viewer's secret choice; `None` before it is made, and for spectators.
    pub choice: Option<Pawn>,
    /// This round's moves so far: seat, pawn and destination.
    pub moves: Vec<(u8, Pawn, Square)>,
    /// The outcome of the previous round; `None` in the first.
    pub last_round: Option<Round>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// The seat that won the ring.
    pub winner: u8,
    /// The secret choices, by seat.
    pub choices: [Pawn; 2],
    /// `entered`, `entered_rival`, `accused` or `accused_wrongly`.
    pub reason: String,
}

words! {
    /// The parts of a round.
    Phase("phase of Xe Queo!") {
        /// The ring is placed:
        Ring = "ring",
        /// Both seats choose secretly:
        Choose = "choose",
        /// Pawns move:
        Play = "play",
        /// The game is over:
        Over = "over",
    }
}

words! {
    Pawn("pawn of Xe Queo!") {
        Red = "red",
        Orange = "orange",
        Yellow = "yellow",
        Green = "green",
        Blue = "blue",
        Purple = "purple",
        Black = "black",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square {
    /// `a` to `g`.
    pub file: char,
    /// 1 to 7.
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
        let (file, rank) = square(text, 7).ok_or_else(|| Misspelled::new(text, "square of Xe Queo!"))?;
        Ok(Square { file: char::from(b'a' + file), rank: rank + 1 })
    }
}

json_as_text! { Square }

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `ring d4`
    Ring(Square),
    /// `choose red`
    Choose(Pawn),
    /// `move red d4`: pawn and destination.
    Move(Pawn, Square),
    /// `accuse blue`
    Accuse(Pawn),
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Ring(square) => write!(f, "ring {square}"),
            Move::Choose(pawn) => write!(f, "choose {pawn}"),
            Move::Move(pawn, square) => write!(f, "move {pawn} {square}"),
            Move::Accuse(pawn) => write!(f, "accuse {pawn}"),
        }
    }
}

impl FromStr for Move {
    type Err = Misspelled;

    fn from_str(text: &str) -> Result<Move, Misspelled> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            ["ring", square] => Ok(Move::Ring(square.parse()?)),
            ["choose", pawn] => Ok(Move::Choose(pawn.parse()?)),
            ["move", pawn, square] => Ok(Move::Move(pawn.parse()?, square.parse()?)),
            ["accuse", pawn] => Ok(Move::Accuse(pawn.parse()?)),
            _ => Err(Misspelled::new(text, "move of Xe Queo!")),
        }
    }
}
