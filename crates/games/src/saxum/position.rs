//! The position, and the effects of moves.

use super::board::{Board, Field, fields, other};
use super::dice::{Dice, SIX};
use super::moves::Move;
use referee_game::Seat;

/// Initial number of insurance stones. A player who has handed in all of them has lost (S4).
pub(super) const INSURANCE: u8 = 7;
/// The cost of turning a six, in points.
const TURNING: u32 = 6;
/// Rows scored, by the number of lines that one stone completes.
const ROWS: [u32; 3] = [0, 1, 3];

/// A position without counters. Arrays are indexed by seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub board: Board,
    pub dice: Dice,
    /// The seat whose turn it is.
    pub to_move: Seat,
    /// Points, never negative (S5).
    pub points: [u32; 2],
    pub rows: [u32; 2],
    /// Insurance stones left, 0 to 7.
    pub insurance: [u8; 2],
}

impl Default for Position {
    /// Returns the initial position.
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

    /// Returns whether resolved dice leave the player without a possible action (S6). A player with a stone
    /// in supply and an insurance stone can use any field.
    pub(super) fn is_stuck(&self) -> bool {
        let own = self.board.stones(self.to_move);
        self.dice.are_resolved() && !self.can_put() && self.dice.fields() & own == 0
    }

    /// Appends the legal moves. Both dice must have been rolled.
    pub(super) fn legal_moves(&self, out: &mut Vec<Move>) {
        for die in self.dice.sixes() {
            out.push(Move::Reroll(die));
            if self.own_points() >= TURNING {
                out.extend((1..SIX).map(|face| Move::Turn(die, face)));
            }
        }
        // Sixes must be resolved first; until then the dice give no field.
        let rolled = self.dice.fields();
        if self.can_put() {
            let free = rolled & self.board.free();
            if free != 0 {
                // S1: even if the other field has an own stone.
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

    /// Plays a legal move. Returns whether it used a field, which ends the turn.
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
                // S4: payment comes first; paying the last insurance stone ends the game before a stone is placed.
                if self.insurance[own] > 0 {
                    self.put(field);
                }
            }
        }
        !matches!(mv, Move::Reroll(_) | Move::Turn(..))
    }

    /// Places an own stone and scores the rows that it completes (S7: also when it replaces an enemy stone).
    fn put(&mut self, field: Field) {
        let rows = &mut self.rows[self.to_move.index()];
        *rows = rows.saturating_add(ROWS[self.board.put(self.to_move, field)]);
    }

    /// Ends the turn: clears the dice and passes the turn to the opponent.
    pub(super) const fn end_turn(&mut self) {
        self.dice = Dice::NONE;
        self.to_move = other(self.to_move);
    }
}
