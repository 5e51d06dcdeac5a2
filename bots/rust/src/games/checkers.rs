//! Checkers: squares are numbered 1 to 32, seat 0 is Black and moves first.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Misspelled;
use super::text::number;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The seat to move; empty when the game is over.
    pub to_move: Vec<u8>,
    /// One character per square, from square 1: `b` `w` men, `B` `W` kings, `.` empty.
    pub board: String,
    /// The position as PDN's FEN.
    pub fen: String,
    /// Consecutive plies without capture or crowning.
    pub quiet_plies: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `11-15`: origin and destination.
    Step([u8; 2]),
    /// `15x24x31`: every square that the piece visits.
    Capture(Vec<u8>),
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (squares, between) = match self {
            Move::Step(squares) => (&squares[..], '-'),
            Move::Capture(squares) => (&squares[..], 'x'),
        };
        for (i, square) in squares.iter().enumerate() {
            if i > 0 {
                write!(f, "{between}")?;
            }
            write!(f, "{square}")?;
        }
        Ok(())
    }
}

impl FromStr for Move {
    type Err = Misspelled;

    fn from_str(text: &str) -> Result<Move, Misspelled> {
        let squares =
            |between: char| text.split(between).map(|text| number(text, 1..=32)).collect::<Option<Vec<u8>>>();
        let step = squares('-').and_then(|squares| Some(Move::Step(squares.try_into().ok()?)));
        let capture = || squares('x').filter(|squares| squares.len() > 1).map(Move::Capture);
        step.or_else(capture).ok_or_else(|| Misspelled::new(text, "move of checkers"))
    }
}
