//! Moves and their text form.

use std::fmt;
use std::str::FromStr;

use super::grid::{Direction, Field, GRID};
use referee_game::Wrong;

/// A move of one of the four kinds (rule 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `place b3 E`: places a stone from the supply on an empty field.
    Place {
        at: Field,
        /// The direction of the stone.
        facing: Direction,
    },
    /// `rotate b3 SE`: rotates an own stone.
    Rotate {
        at: Field,
        /// The new direction of the stone.
        facing: Direction,
    },
    /// `capture c3 b3`: captures an enemy stone and moves to its field.
    Capture {
        /// The field of the capturing stone.
        from: Field,
        /// The field of the captured stone.
        to: Field,
    },
    /// `claim`: claims Jeex, correctly or not.
    Claim,
}

/// The moves of a stone on each cell to each direction, so that a generator copies them in one go.
static PLACEMENTS: [[Move; 8]; GRID] = {
    let mut moves = [[Move::Claim; 8]; GRID];
    let mut cell = 0;
    while cell < GRID {
        let mut to = 0;
        while to < 8 {
            moves[cell][to] = Move::Place { at: Field(cell as u8), facing: Direction::ALL[to] };
            to += 1;
        }
        cell += 1;
    }
    moves
};

/// The rotations, by cell and by the direction before.
static ROTATIONS: [[[Move; 7]; 8]; GRID] = {
    let mut moves = [[[Move::Claim; 7]; 8]; GRID];
    let mut cell = 0;
    while cell < GRID {
        let mut from = 0;
        while from < 8 {
            let mut at = 0;
            while at < 7 {
                let facing = Direction::ALL[if at < from { at } else { at + 1 }];
                moves[cell][from][at] = Move::Rotate { at: Field(cell as u8), facing };
                at += 1;
            }
            from += 1;
        }
        cell += 1;
    }
    moves
};

impl Move {
    /// The placements of a stone on a field, clockwise from the north.
    pub(super) fn placements(at: Field) -> &'static [Move; 8] {
        &PLACEMENTS[at.0 as usize]
    }

    /// The rotations of a stone that points in this direction, clockwise from the north.
    pub(super) fn rotations(at: Field, from: Direction) -> &'static [Move; 7] {
        &ROTATIONS[at.0 as usize][from as usize]
    }
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

pub(super) const NO_MOVE: Wrong = Wrong::new(
    "a move is like one of these, with single spaces: place b3 E, rotate b3 SE, capture c3 b3, claim",
);
pub(super) const NO_FIELD: Wrong =
    Wrong::new("a field is a file a to e and a rank 1 to 3 like b3, but not the centre c2");
pub(super) const NO_DIRECTION: Wrong = Wrong::new("a direction is one of N, NE, E, SE, S, SW, W, NW");
pub(super) const UNREACHED: Wrong = Wrong::new(
    "a capture goes to the next field in one of the eight directions, or straight across the centre",
);

fn field(name: &str) -> Result<Field, Wrong> {
    Field::named(name).ok_or(NO_FIELD)
}

fn direction(name: &str) -> Result<Direction, Wrong> {
    Direction::named(name).ok_or(NO_DIRECTION)
}

impl FromStr for Move {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Move, Wrong> {
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
                    Err(UNREACHED)
                }
            }
            [Some("claim"), None, ..] => Ok(Move::Claim),
            _ => Err(NO_MOVE),
        }
    }
}
