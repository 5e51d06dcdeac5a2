//! The board: stones, supplies, side to move, move generation.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::grid::{BATTLEFIELDS, Direction, FIELDS, Field, fields};
use super::moves::Move;
use referee_game::Seat;

/// Initial supply of each side.
pub(super) const STONES: u8 = 7;

/// The colour of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "u8")]
pub enum Colour {
    /// Seat 0; moves first.
    White,
    /// Seat 1.
    Black,
}

impl Colour {
    /// The colours, by seat.
    pub const ALL: [Colour; 2] = [Colour::White, Colour::Black];

    pub const fn seat(self) -> Seat {
        Seat(self as u8)
    }

    pub const fn other(self) -> Colour {
        match self {
            Colour::White => Colour::Black,
            Colour::Black => Colour::White,
        }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Colour::White => "White",
            Colour::Black => "Black",
        })
    }
}

impl TryFrom<u8> for Colour {
    type Error = &'static str;

    fn try_from(seat: u8) -> Result<Colour, &'static str> {
        Colour::ALL.get(usize::from(seat)).copied().ok_or("a stone belongs to seat 0 or 1")
    }
}

/// A phase of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The time until each side has placed its first stone.
    Opening,
    /// The time after the opening.
    Play,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Opening => "opening",
            Phase::Play => "play",
        })
    }
}

/// The union over all directions.
fn union(of: impl Fn(Direction) -> u16) -> u16 {
    Direction::ALL.into_iter().fold(0, |set, direction| set | of(direction))
}

/// The fields of a set for each direction, sorted by direction, then by name.
fn oriented(sets: [u16; 8]) -> impl Iterator<Item = (Field, Direction)> {
    let mut left = sets.into_iter().rev().fold(0, |left, set| left << 16 | u128::from(set));
    std::iter::from_fn(move || {
        let next = (left != 0).then(|| left.trailing_zeros())?;
        left &= left - 1;
        Some((Field(next as u8 % 16), Direction::ALL[next as usize / 16]))
    })
}

/// A position without counters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Board {
    /// The fields with stones of each colour.
    stones: [u16; 2],
    /// The fields with stones of either colour that point in each direction.
    facing: [u16; 8],
    pub(super) supply: [u8; 2],
    pub(super) removed: u8,
    pub(super) phase: Phase,
    pub(super) to_move: Colour,
    /// Whether the side to move has claimed Jeex, which ends the game.
    pub(super) claimed: bool,
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Board { supply, removed, phase, to_move, claimed, .. } = self;
        f.debug_map().entries(self.stones()).finish()?;
        let does = if *claimed { "has claimed" } else { "to move" };
        write!(f, " supply {supply:?} removed {removed} {phase}: {to_move} {does}")
    }
}

impl Default for Board {
    /// The empty board, White to move.
    fn default() -> Board {
        Board {
            stones: [0; 2],
            facing: [0; 8],
            supply: [STONES; 2],
            removed: 0,
            phase: Phase::Opening,
            to_move: Colour::White,
            claimed: false,
        }
    }
}

impl Board {
    /// The side to move; after a claim, the claimant.
    pub const fn to_move(&self) -> Colour {
        self.to_move
    }

    /// Returns the phase: the opening, or the play after it.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The supply of a side, 0 to 13.
    pub const fn supply(&self, colour: Colour) -> u8 {
        self.supply[colour as usize]
    }

    /// The number of stones captured on battlefields, which are removed from the game.
    pub const fn removed(&self) -> u8 {
        self.removed
    }

    /// The stones on the board with owner and direction, sorted by field name.
    pub fn stones(&self) -> impl Iterator<Item = (Field, (Colour, Direction))> {
        let [white, black] = self.stones;
        fields(white | black).map(move |at| {
            let owner = if white & at.bit() != 0 { Colour::White } else { Colour::Black };
            (at, (owner, self.direction(at)))
        })
    }

    /// A side's stones that attack the centre, as a set.
    pub(super) fn attackers(&self, colour: Colour) -> u16 {
        union(|direction| self.pointing(colour, direction) & direction.towards_centre())
    }

    /// Returns whether a claim of Jeex by this side is correct: it attacks the centre and its opponent does
    /// not.
    pub fn is_jeex_for(&self, colour: Colour) -> bool {
        self.attackers(colour) != 0 && self.attackers(colour.other()) == 0
    }

    /// Returns whether a side has no stones on the board, after the opening.
    pub(super) fn is_deserted(&self) -> bool {
        self.phase == Phase::Play && self.stones.contains(&0)
    }

    /// Puts a stone on an empty field without taking it from a supply.
    pub(super) const fn put(&mut self, at: Field, owner: Colour, direction: Direction) {
        self.stones[owner as usize] |= at.bit();
        self.facing[direction as usize] |= at.bit();
    }

    /// Removes the stone on a field.
    fn take(&mut self, at: Field) {
        for set in self.stones.iter_mut().chain(&mut self.facing) {
            *set &= !at.bit();
        }
    }

    /// The direction of the stone on this field; there must be one.
    fn direction(&self, at: Field) -> Direction {
        Direction::ALL
            .into_iter()
            .find(|&direction| self.facing[direction as usize] & at.bit() != 0)
            .unwrap_or_else(|| unreachable!("every stone has a direction"))
    }

    const fn empty(&self) -> u16 {
        FIELDS & !(self.stones[0] | self.stones[1])
    }

    /// The stones of a colour that point this way.
    const fn pointing(&self, colour: Colour, direction: Direction) -> u16 {
        self.stones[colour as usize] & self.facing[direction as usize]
    }

    /// Appends the legal moves. The game must not be over.
    pub(super) fn legal_moves(&self, out: &mut Vec<Move>) {
        match self.phase {
            Phase::Opening => self.first_stones(out),
            Phase::Play => {
                let own = Direction::ALL.map(|direction| self.pointing(self.to_move, direction));
                self.placements(own, out);
                // Rule 4
                for (at, direction) in oriented(own) {
                    out.extend_from_slice(Move::rotations(at, direction));
                }
                self.captures(own, out);
                out.push(Move::Claim);
            }
        }
    }

    /// Rule 1. When White opens, the board is empty, so only attacks on the centre are excluded.
    fn first_stones(&self, out: &mut Vec<Move>) {
        let other = self.to_move.other();
        let pointed_at = union(|direction| direction.adjacent(self.pointing(other, direction)));
        for facing in Direction::ALL {
            let would_point_at_it = facing.back().adjacent(self.stones[other as usize]);
            let refused = facing.towards_centre() | would_point_at_it | pointed_at;
            out.extend(fields(self.empty() & !refused).map(|at| Move::Place { at, facing }));
        }
    }

    /// Rule 3.
    fn placements(&self, own: [u16; 8], out: &mut Vec<Move>) {
        if self.supply[self.to_move as usize] == 0 {
            return;
        }
        let by_point_or_tail = oriented(own)
            .fold(0, |set, (at, direction)| set | at.adjacent(direction) | at.adjacent(direction.back()));
        for at in fields(by_point_or_tail & self.empty()) {
            out.extend_from_slice(Move::placements(at));
        }
    }

    /// Rule 5.
    fn captures(&self, own: [u16; 8], out: &mut Vec<Move>) {
        let enemy = self.stones[self.to_move.other() as usize];
        let mut captured = [0; 8];
        for (from, direction) in oriented(own) {
            captured[direction as usize] |= from.adjacent(direction) & enemy;
        }
        for (to, direction) in oriented(captured) {
            let captor = to.adjacent(direction.back());
            out.extend(fields(captor).map(|from| Move::Capture { from, to }));
        }
    }

    /// Plays a legal move.
    pub(super) fn play(&mut self, mv: Move) {
        let own = self.to_move;
        match mv {
            Move::Place { at, facing } => {
                self.put(at, own, facing);
                self.supply[own as usize] -= 1;
                if own == Colour::Black {
                    self.phase = Phase::Play;
                }
            }
            Move::Rotate { at, facing } => {
                self.take(at);
                self.put(at, own, facing);
            }
            Move::Capture { from, to } => {
                let direction = self.direction(from);
                self.take(from);
                self.take(to);
                self.put(to, own, direction);
                if to.bit() & BATTLEFIELDS == 0 {
                    self.supply[own as usize] += 1;
                } else {
                    self.removed += 1;
                }
            }
            Move::Claim => {
                self.claimed = true;
                return;
            }
        }
        self.to_move = own.other();
    }
}
