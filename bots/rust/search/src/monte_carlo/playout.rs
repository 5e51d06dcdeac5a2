//! Random playouts.

use referee_game::{DrawOf, Game, MAX_SEATS, Outcome, Seat, SeatSet, Seating, Turn, Uniform};

use crate::deadline::Deadline;
use crate::dice::Dice;

/// Maximum length of a playout in decisions. A longer one carries no information and counts as a draw.
const LONGEST: u32 = 5000;
/// Number of decisions between two checks of the deadline.
const BETWEEN_LOOKS: u32 = 64;
/// The number of times that a move that loses immediately is redrawn.
const SECOND_THOUGHTS: u32 = 3;

/// The value of a playout for each side: 1 ahead of all others, 0 behind all others.
pub(super) type Worth = [f64; MAX_SEATS];

/// Runs playouts. Reuses its buffers.
pub(super) struct Playout<G: Game> {
    pub(super) seating: Seating,
    moves: Vec<G::Move>,
    drawn: Vec<u32>,
}

impl<G: Game> Playout<G> {
    pub(super) fn new(seating: Seating) -> Playout<G> {
        Playout { seating, moves: Vec::new(), drawn: Vec::new() }
    }

    /// Resolves chance until a seat has to decide or the game is over.
    pub(super) fn waits_for(&mut self, position: &mut G, rng: &mut Dice) -> Result<SeatSet, Worth> {
        loop {
            match position.turn() {
                Turn::Draw(draw) => {
                    rng.draw(draw.into(), &mut self.drawn);
                    draw.settle(position, &self.drawn, &mut |_| {});
                }
                Turn::Decide(seats) => return Ok(seats),
                Turn::Over(outcome) => return Err(self.worth(&outcome)),
            }
        }
    }

    /// Chooses a playout move for a seat.
    pub(super) fn decide(&mut self, position: &mut G, seat: Seat, rng: &mut Dice) {
        self.moves.clear();
        position.legal_moves(seat, &mut self.moves);
        let mut any = || self.moves[rng.uniform(self.moves.len() as u64) as usize];
        // With hidden information, detecting a losing move would use the hidden information.
        if !G::META.hidden {
            for _ in 0..SECOND_THOUGHTS {
                let mut next = position.clone();
                next.play_unchecked(seat, any(), &mut |_| {});
                let loses = match next.turn() {
                    Turn::Over(outcome) => outcome.standing(self.seating.side(seat)) > 0,
                    _ => false,
                };
                if !loses {
                    *position = next;
                    return;
                }
            }
        }
        position.play_unchecked(seat, any(), &mut |_| {});
    }

    /// Plays to the end. `None` when the time is up first.
    pub(super) fn finish(&mut self, mut position: G, rng: &mut Dice, deadline: &Deadline) -> Option<Worth> {
        for decision in 1..=LONGEST {
            match self.waits_for(&mut position, rng) {
                Ok(seats) => seats.iter().for_each(|seat| self.decide(&mut position, seat, rng)),
                Err(worth) => return Some(worth),
            }
            if decision.is_multiple_of(BETWEEN_LOOKS) && deadline.is_over() {
                return None;
            }
        }
        Some([0.5; MAX_SEATS])
    }

    /// Per side, the mean over the other sides of 1, 0.5, 0, as in match results.
    fn worth(&self, outcome: &Outcome) -> Worth {
        let sides = self.seating.sides();
        let mut worth = [0.0; MAX_SEATS];
        for (side, worth) in worth.iter_mut().enumerate().take(sides) {
            let against = |other| match outcome.standing(side).cmp(&outcome.standing(other)) {
                std::cmp::Ordering::Less => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 0.0,
            };
            let sum: f64 = (0..sides).filter(|&other| other != side).map(against).sum();
            *worth = sum / (sides - 1) as f64;
        }
        worth
    }
}
