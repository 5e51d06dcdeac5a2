//! A move and its text.

use std::fmt;
use std::str::FromStr;

use super::grid::{Direction, Field};

/// One of the four things that a turn can be (rule 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `place b3 E`: a stone from the supply, onto an empty field.
    Place {
        /// Where to.
        at: Field,
        /// Where its point looks.
        facing: Direction,
    },
    /// `rotate b3 SE`: an own stone, on its field.
    Rotate {
        /// Where it lies.
        at: Field,
        /// Where its point looks from now on.
        facing: Direction,
    },
    /// `capture c3 b3`: an own stone takes the field of an enemy stone.
    Capture {
        /// Where it comes from.
        from: Field,
        /// The field that it points at.
        to: Field,
    },
    /// `claim`: Jeex, rightly or wrongly.
    Claim,
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Place { at, facing } => write!(f, "place {at} {facing}"),
            Move::Rotate { at, facing } => write!(f, "rotate {at} {facing}"),
            Move::Capture { from, to } => write!(f, "capture {from} {to}"),
            Move::Claim => f.write_str("claim"),
        }
    }
}

/// A text that is no move on any board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMove {
    /// It is built in another way.
    #[error(
        "a move is like one of these, with single spaces: place b3 E, rotate b3 SE, capture c3 b3, claim"
    )]
    Form,
    /// A field is none.
    #[error("a field is a file a to e and a rank 1 to 3 like b3, but not the centre c2")]
    Field,
    /// A direction is none.
    #[error("a direction is one of N, NE, E, SE, S, SW, W, NW")]
    Direction,
    /// No stone points from the one field at the other.
    #[error("a capture goes to the next field in one of the eight directions, or straight across the centre")]
    Reach,
}

fn field(name: &str) -> Result<Field, BadMove> {
    Field::named(name).ok_or(BadMove::Field)
}

fn direction(name: &str) -> Result<Direction, BadMove> {
    Direction::named(name).ok_or(BadMove::Direction)
}

impl FromStr for Move {
    type Err = BadMove;

    fn from_str(text: &str) -> Result<Move, BadMove> {
        let mut words = text.split(' ');
        match [words.next(), words.next(), words.next(), words.next()] {
            [Some("place"), Some(at), Some(facing), None] => {
                Ok(Move::Place { at: field(at)?, facing: direction(facing)? })
            }
            [Some("rotate"), Some(at), Some(facing), None] => {
                Ok(Move::Rotate { at: field(at)?, facing: direction(facing)? })
            }
            [Some("capture"), Some(from), Some(to), None] => {
                let (from, to) = (field(from)?, field(to)?);
                let mut reached = Direction::ALL.into_iter().map(|way| way.adjacent(from.bit()));
                if reached.any(|field| field == to.bit()) {
                    Ok(Move::Capture { from, to })
                } else {
                    Err(BadMove::Reach)
                }
            }
            [Some("claim"), None, ..] => Ok(Move::Claim),
            _ => Err(BadMove::Form),
        }
    }
}
