//! All that matters for how the game goes on, and what a move does to it.

use serde::{Deserialize, Serialize};

use super::moves::Move;
use super::pawn::{Pawn, Pawns};
use super::round::{Reason, Round};
use super::square::{Square, away_from, reached, squares};
use crate::core::Seat;

/// Who has won so many rings wins.
pub(super) const GOAL: u8 = 4;

/// The opponent of a seat.
pub(super) const fn other(seat: Seat) -> Seat {
    Seat(1 - seat.0)
}

/// What a round is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The loser of the round before puts the ring down; in round one seat 1 (X5).
    Ring,
    /// Both choose a pawn.
    Choose,
    /// They move in turn; the winner of the round before begins, in round one seat 0.
    Play,
    /// Nothing: the game is over.
    Over,
}

/// A position without its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Where the pawns stand; none before they are set up.
    pub pawns: Option<Pawns>,
    /// Where the ring lies.
    pub ring: Option<Square>,
    /// What the seats have chosen in this round.
    pub choices: [Option<Pawn>; 2],
    /// The rings that the seats have won, 0 to 4.
    pub rings: [u8; 2],
    /// Until both have chosen: who puts the ring down. Then whose turn it is.
    pub to_move: Seat,
}

impl Default for Position {
    /// The position before the pawns are set up.
    fn default() -> Position {
        Position { pawns: None, ring: None, choices: [None; 2], rings: [0; 2], to_move: Seat(1) }
    }
}

impl Position {
    /// What the round is waiting for. Before the pawns are set up that is the ring, too.
    pub fn phase(&self) -> Phase {
        match (self.ring, self.choices) {
            _ if self.rings.contains(&GOAL) => Phase::Over,
            (None, _) => Phase::Ring,
            (_, [Some(_), Some(_)]) => Phase::Play,
            _ => Phase::Choose,
        }
    }

    /// Adds the legal moves of a seat that decides now.
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
                        to &= !ring.bit(); // X3
                    }
                    let distance = from.distance(ring);
                    let nearer = squares(to).filter(|to| to.distance(ring) < distance);
                    out.extend(nearer.map(|to| Move::Move(pawn, to)));
                }
                // X4: always, and any of them. So there is always something to do.
                out.extend(Pawn::ALL.map(Move::Accuse));
            }
            (Phase::Play | Phase::Over, _) => {}
        }
    }

    /// Plays a legal move of a seat. The round, if that ends it.
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

    /// Gives the ring to its winner. The loser is to put the next one down; the pawns stay where they stand.
    fn end_round(&mut self, winner: Seat, reason: Reason) -> Round {
        let [Some(zero), Some(one)] = std::mem::take(&mut self.choices) else {
            unreachable!("nobody moves or accuses before both have chosen");
        };
        self.ring = None;
        self.rings[winner.index()] += 1;
        self.to_move = other(winner);
        Round { winner, choices: [zero, one], reason }
    }
}
