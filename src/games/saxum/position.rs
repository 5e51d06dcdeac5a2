//! All that matters for how the game goes on, and what a move does to it.

use super::board::{Board, Field, fields, other};
use super::dice::{Dice, SIX};
use super::moves::Move;
use crate::core::Seat;

/// How many insurance stones a player has in the beginning. Who has handed in all of them has lost (S4).
pub(super) const INSURANCE: u8 = 7;
/// What turning a six costs, in points.
const TURNING: u32 = 6;
/// How many rows are scored for so many lines that one stone completes.
const ROWS: [u32; 3] = [0, 1, 3];

/// A position without counters. What belongs to a player is listed by seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The stones on the board.
    pub board: Board,
    /// What lies on the table of this turn's roll.
    pub dice: Dice,
    /// Whose turn it is.
    pub to_move: Seat,
    /// The scores. They never go below zero (S5).
    pub points: [u32; 2],
    /// Rows scored.
    pub rows: [u32; 2],
    /// Insurance stones left, 0 to 7.
    pub insurance: [u8; 2],
}

impl Default for Position {
    /// The position at the beginning.
    fn default() -> Position {
        Position {
            board: Board::default(),
            dice: Dice::NONE,
            to_move: Seat(0),
            points: [0; 2],
            rows: [0; 2],
            insurance: [INSURANCE; 2],
        }
    }
}

impl Position {
    const fn own_points(&self) -> u32 {
        self.points[self.to_move.index()]
    }

    const fn can_put(&self) -> bool {
        self.board.supply(self.to_move) > 0
    }

    /// Whether resolved dice leave the player nothing to do (S6). Who has a stone in supply and an insurance stone left
    /// can use any field.
    pub(super) fn is_stuck(&self) -> bool {
        let own = self.board.stones(self.to_move);
        self.dice.are_resolved() && !self.can_put() && self.dice.fields() & own == 0
    }

    /// Adds the legal moves. Both dice must lie on the table.
    pub(super) fn legal_moves(&self, out: &mut Vec<Move>) {
        for die in self.dice.sixes() {
            out.push(Move::Reroll(die));
            if self.own_points() >= TURNING {
                out.extend((1..SIX).map(|face| Move::Turn(die, face)));
            }
        }
        // Sixes come before anything else: while there is one, no field is given.
        let rolled = self.dice.fields();
        if self.can_put() {
            let free = rolled & self.board.free();
            if free != 0 {
                // S1: also when the other field is one's own.
                out.extend(fields(free).map(Move::Place));
                return;
            }
            for field in fields(rolled & self.board.stones(other(self.to_move))) {
                if self.own_points() >= self.board.group(field) {
                    out.push(Move::Pay(field));
                }
                out.push(Move::Insure(field));
            }
        }
        out.extend(fields(rolled & self.board.stones(self.to_move)).map(Move::Score));
    }

    /// Plays a legal move. Whether it used a field, which ends the turn.
    pub(super) fn play(&mut self, mv: Move) -> bool {
        let own = self.to_move.index();
        match mv {
            Move::Reroll(die) => self.dice.lift(die),
            Move::Turn(die, face) => {
                self.points[own] -= TURNING;
                self.dice.turn(die, face);
            }
            Move::Place(field) => self.put(field),
            Move::Score(field) => {
                self.points[own] = self.points[own].saturating_add(self.board.group(field));
            }
            Move::Pay(field) => {
                self.points[own] -= self.board.group(field);
                self.put(field);
            }
            Move::Insure(field) => {
                self.insurance[own] -= 1;
                // S4: the payment comes first, and the last one ends the game before a stone is put down.
                if self.insurance[own] > 0 {
                    self.put(field);
                }
            }
        }
        !matches!(mv, Move::Reroll(_) | Move::Turn(..))
    }

    /// Puts an own stone down and scores the rows that it completes (S7: in place of an enemy stone, too).
    fn put(&mut self, field: Field) {
        let rows = &mut self.rows[self.to_move.index()];
        *rows = rows.saturating_add(ROWS[self.board.put(self.to_move, field)]);
    }

    /// Ends the turn: the dice leave the table, and the opponent is next.
    pub(super) const fn end_turn(&mut self) {
        self.dice = Dice::NONE;
        self.to_move = other(self.to_move);
    }
}
