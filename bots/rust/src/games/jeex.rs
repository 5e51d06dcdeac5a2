//! Jeex: fields are `a1` to `e3` except the centre `c2`; seat 0 is White.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Misspelled;
use super::text::{json_as_text, square, words};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The seat to move; empty when the game is over.
    pub to_move: Vec<u8>,
    /// Whether both first stones have been placed.
    pub phase: Phase,
    /// The stones on the board: owner and direction.
    pub stones: BTreeMap<Field, (u8, Direction)>,
    /// Stones that each seat can still place.
    pub supply: [u8; 2],
    /// Number of stones removed from the game.
    pub removed: u8,
    /// Consecutive rotations.
    pub quiet_plies: u32,
}

words! {
    /// The parts of a game.
    Phase("phase of Jeex") {
        Opening = "opening",
        Play = "play",
    }
}

words! {
    /// The direction that a stone faces.
    Direction("direction") {
        North = "N",
        NorthEast = "NE",
        East = "E",
        SouthEast = "SE",
        South = "S",
        SouthWest = "SW",
        West = "W",
        NorthWest = "NW",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    /// `a` to `e`.
    pub file: char,
    /// 1 to 3.
    pub rank: u8,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.file, self.rank)
    }
}

impl FromStr for Field {
    type Err = Misspelled;

    fn from_str(text: &str) -> Result<Field, Misspelled> {
        // The files a, b, d and e have three ranks; c lacks the middle one.
        match square(text, 5) {
            Some((file, rank @ 0..3)) if (file, rank) != (2, 1) => {
                Ok(Field { file: char::from(b'a' + file), rank: rank + 1 })
            }
            _ => Err(Misspelled::new(text, "field of Jeex")),
        }
    }
}

json_as_text! { Field }

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `place b3 E`
    Place(Field, Direction),
    /// `rotate b3 SE`
    Rotate(Field, Direction),
    /// `capture c3 b3`: origin and destination.
    Capture(Field, Field),
    Claim,
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Place(at, facing) => write!(f, "place {at} {facing}"),
            Move::Rotate(at, facing) => write!(f, "rotate {at} {facing}"),
            Move::Capture(from, to) => write!(f, "capture {from} {to}"),
            Move::Claim => f.write_str("claim"),
        }
    }
}

impl FromStr for Move {
    type Err = Misspelled;

    fn from_str(text: &str) -> Result<Move, Misspelled> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            ["place", at, facing] => Ok(Move::Place(at.parse()?, facing.parse()?)),
            ["rotate", at, facing] => Ok(Move::Rotate(at.parse()?, facing.parse()?)),
            ["capture", from, to] => Ok(Move::Capture(from.parse()?, to.parse()?)),
            ["claim"] => Ok(Move::Claim),
            _ => Err(Misspelled::new(text, "move of Jeex")),
        }
    }
}
