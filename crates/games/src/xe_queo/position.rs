//! The position, and the effects of moves.

use serde::{Deserialize, Serialize};

use super::moves::Move;
use super::pawn::{Pawn, Pawns};
use super::round::{Reason, Round};
use super::square::{Square, away_from, reached, squares};
use referee_game::{Seat, extend_in_blocks};

/// Rings needed to win.
pub(super) const GOAL: u8 = 4;

pub(super) const fn other(seat: Seat) -> Seat {
    Seat(1 - seat.0)
}

/// The phase of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The loser of the previous round places the ring; in round one seat 1 (X5).
    Ring,
    /// Both seats choose a pawn.
    Choose,
    /// The seats move in turn; the winner of the previous round begins, in round one seat 0.
    Play,
    /// The game is over.
    Over,
}

/// A position without its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The pawns; `None` before they are set up.
    pub pawns: Option<Pawns>,
    pub ring: Option<Square>,
    /// The secret choices of this round.
    pub choices: [Option<Pawn>; 2],
    /// The rings won by each seat, 0 to 4.
    pub rings: [u8; 2],
    /// The seat that places the ring until both have chosen; afterwards the seat whose turn it is.
    pub to_move: Seat,
}

impl Default for Position {
    /// The position before the pawns are set up.
    fn default() -> Position {
        Position { pawns: None, ring: None, choices: [None; 2], rings: [0; 2], to_move: Seat(1) }
    }
}

impl Position {
    /// The phase of the round; [`Phase::Ring`] also before the pawns are set up.
    pub fn phase(&self) -> Phase {
        match (self.ring, self.choices) {
            _ if self.rings.contains(&GOAL) => Phase::Over,
            (None, _) => Phase::Ring,
            (_, [Some(_), Some(_)]) => Phase::Play,
            _ => Phase::Choose,
        }
    }

    /// Appends the legal moves of a seat that has to decide now.
    pub(super) fn legal_moves(&self, seat: Seat, out: &mut Vec<Move>) {
        let Some(pawns) = &self.pawns else { return };
        match (self.phase(), self.ring) {
            (Phase::Ring, _) => out.extend(squares(away_from(pawns.occupied())).map(Move::Ring)),
            (Phase::Choose, _) => out.extend(Pawn::ALL.map(Move::Choose)),
            (Phase::Play, Some(ring)) => {
                let occupied = pawns.occupied();
                for (pawn, from) in pawns.iter() {
                    let mut to = reached(from.bit(), occupied & !from.bit(), ring.bit());
                    if self.choices[seat.index()] != Some(pawn) {
                        to &= !ring.bit(); // Rule X3.
                    }
                    to &= ring.nearer_than(from.distance(ring));
                    extend_in_blocks::<4, _>(out, to.count_ones(), || {
                        let square = Square::first(to);
                        to &= to.wrapping_sub(1);
                        Move::Move(pawn, square)
                    });
                }
                // X4: any pawn can be accused at any time, so there is always a legal move.
                out.extend(Pawn::ALL.map(Move::Accuse));
            }
            (Phase::Play | Phase::Over, _) => {}
        }
    }

    /// Plays a legal move of a seat. Returns the round if the move ends it.
    pub(super) fn play(&mut self, seat: Seat, mv: Move) -> Option<Round> {
        match mv {
            Move::Ring(square) => self.ring = Some(square),
            Move::Choose(pawn) => {
                self.choices[seat.index()] = Some(pawn);
                if self.phase() == Phase::Play {
                    self.to_move = other(self.to_move);
                }
            }
            Move::Move(pawn, to) => {
                if let Some(pawns) = &mut self.pawns {
                    pawns.put(pawn, to);
                }
                if self.ring == Some(to) {
                    return Some(if self.choices[other(seat).index()] == Some(pawn) {
                        self.end_round(other(seat), Reason::EnteredRival)
                    } else {
                        self.end_round(seat, Reason::Entered)
                    });
                }
                self.to_move = other(seat);
            }
            Move::Accuse(pawn) => {
                return Some(if self.choices[other(seat).index()] == Some(pawn) {
                    self.end_round(seat, Reason::Accused)
                } else {
                    self.end_round(other(seat), Reason::AccusedWrongly)
                });
            }
        }
        None
    }

    /// Gives the ring to the winner. The loser places the next ring; the pawns stay where they are.
    fn end_round(&mut self, winner: Seat, reason: Reason) -> Round {
        let [Some(zero), Some(one)] = std::mem::take(&mut self.choices) else {
            unreachable!("moves and accusations come after both choices");
        };
        self.ring = None;
        self.rings[winner.index()] += 1;
        self.to_move = other(winner);
        Round { winner, choices: [zero, one], reason }
    }
}
