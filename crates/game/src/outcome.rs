//! The outcome of a game by its own rules.

use crate::seat::{MAX_SEATS, Seating};

/// Computes ranks and scores of the seats from the standings of the sides. Smaller standings are better.
pub fn ranks_and_scores<S: Ord>(seating: Seating, standing: &[S; MAX_SEATS]) -> (Vec<u8>, Vec<f64>) {
    let sides = &standing[..seating.sides()];
    let per_seat = |seat| &sides[seating.side(seat)];
    let ranks = seating
        .all()
        .iter()
        .map(|seat| 1 + sides.iter().filter(|&other| other < per_seat(seat)).count() as u8);
    let scores = seating.all().iter().map(|seat| {
        let own = per_seat(seat);
        let halves: usize =
            sides.iter().map(|other| usize::from(own < other) + usize::from(own <= other)).sum();
        // The side itself counted as one half.
        (halves - 1) as f64 / 2.0 / (sides.len() - 1).max(1) as f64
    });
    (ranks.collect(), scores.collect())
}

/// The least and the most that a side can get in a game whose results are amounts. A side that forfeits or resigns gets the
/// least; the last side that is left without an end by the rules gets the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmountRange {
    pub least: f64,
    pub most: f64,
}

/// The outcome of a game: the order of the sides and the rule that ended it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    standing: [u8; MAX_SEATS],
    amounts: Option<[f64; MAX_SEATS]>,
    /// The protocol's identifier of the rule.
    pub reason: &'static str,
    /// Whether the turn limit ended the game.
    pub turn_limit: bool,
}

impl Outcome {
    /// Returns the outcome in which one side wins and all others share second place.
    pub fn win(side: usize, reason: &'static str) -> Outcome {
        let mut standing = [1; MAX_SEATS];
        standing[side] = 0;
        Outcome { standing, amounts: None, reason, turn_limit: false }
    }

    /// Returns the outcome in which the sides have these places, 0 for the best; only the order is meaningful.
    ///
    /// # Panics
    /// When there are more than [`MAX_SEATS`] sides.
    pub fn places(places: &[u8], reason: &'static str) -> Outcome {
        let mut standing = [0; MAX_SEATS];
        standing[..places.len()].copy_from_slice(places);
        Outcome { standing, amounts: None, reason, turn_limit: false }
    }

    pub const fn draw(reason: &'static str) -> Outcome {
        Outcome { standing: [0; MAX_SEATS], amounts: None, reason, turn_limit: false }
    }

    /// Returns the outcome in which all sides are equal because the turn limit is reached.
    pub const fn turn_limit() -> Outcome {
        Outcome { turn_limit: true, ..Outcome::draw("turn_limit") }
    }

    /// The same outcome with the amount that each side gets.
    ///
    /// # Panics
    /// When there are more than [`MAX_SEATS`] sides.
    #[must_use]
    pub fn with_amounts(self, by_side: &[f64]) -> Outcome {
        let mut amounts = [0.0; MAX_SEATS];
        amounts[..by_side.len()].copy_from_slice(by_side);
        Outcome { amounts: Some(amounts), ..self }
    }

    /// The amount that a side gets; `None` in a game without amounts.
    pub fn amount(&self, side: usize) -> Option<f64> {
        self.amounts.map(|amounts| amounts[side])
    }

    /// The amounts of the seats, each that of its side; `None` in a game without amounts.
    pub fn amounts(&self, seating: Seating) -> Option<Vec<f64>> {
        let amounts = self.amounts?;
        Some(seating.all().iter().map(|seat| amounts[seating.side(seat)]).collect())
    }

    /// The place of a side, 0 for the best. Only the order is meaningful.
    pub const fn standing(&self, side: usize) -> u8 {
        self.standing[side]
    }

    pub fn ranks_and_scores(&self, seating: Seating) -> (Vec<u8>, Vec<f64>) {
        ranks_and_scores(seating, &self.standing)
    }

    /// The winner, if exactly one side has the first place.
    pub fn winner(&self, seating: Seating) -> Option<usize> {
        let mut first = (0..seating.sides()).filter(|&side| self.standing[side] == 0);
        first.next().filter(|_| first.next().is_none())
    }
}
