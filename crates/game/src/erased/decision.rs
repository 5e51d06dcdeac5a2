//! Open decisions.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::erased::RulesFailed;
use crate::seat::{Seat, SeatSet};

/// Reasons why a move text was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveError {
    /// The text matches no legal move.
    Illegal,
    /// The text is a short form of all of these moves.
    Ambiguous(Vec<String>),
    /// The legal moves are not listed, and the rules refuse this one: why.
    Refused(String),
    RulesFailed(RulesFailed),
}

/// An open decision: the legal moves of the seats that decide in one position of one [`Table`](crate::erased::Table).
///
/// Only [`Table::ask`](crate::erased::Table::ask) creates it, and [`Table::play`](crate::erased::Table::play) consumes it:
///
/// ```
/// use referee_game::Seat;
///
/// let rules = referee_games::catalog().find("checkers")?;
/// let mut table = rules.open(&rules.default_options(), rules.meta().seatings[0])?;
/// let decision = table.ask().decide().expect("a seat decides");
/// assert_eq!(table.count(&decision, Seat(0)), 7);
/// let choice = table.find(&decision, Seat(0), "11-15").expect("a legal move");
/// table.play(decision, &[choice])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail
/// # use referee_game::Seat;
/// # let rules = referee_games::catalog().find("checkers").unwrap();
/// # let mut table = rules.open(&rules.default_options(), rules.meta().seatings[0]).unwrap();
/// let decision = table.ask().decide().expect("a seat decides");
/// table.play(decision, &[0]).unwrap();
/// table.play(decision, &[0]).unwrap(); // It is consumed.
/// ```
#[derive(Debug)]
pub struct OpenDecision {
    seats: SeatSet,
    position: PositionId,
}

impl OpenDecision {
    /// An open decision of these seats. Only implementations of [`Table`](crate::erased::Table) call it, in [`Table::ask`](crate::erased::Table::ask).
    pub const fn new(seats: SeatSet, position: PositionId) -> OpenDecision {
        OpenDecision { seats, position }
    }

    pub const fn seats(&self) -> SeatSet {
        self.seats
    }

    /// Checks that it belongs to a position.
    ///
    /// # Panics
    /// If it belongs to another one.
    pub fn check(&self, position: PositionId) {
        assert_eq!(self.position, position, "the decision belongs to another position");
    }

    /// The rank of a seat among those that decide.
    ///
    /// # Panics
    /// If the seat does not decide.
    pub fn rank(&self, seat: Seat) -> usize {
        assert!(self.seats.contains(seat), "seat {seat} does not decide");
        self.seats.rank(seat)
    }
}

/// Identifies a position among those of all tables of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionId {
    table: u64,
    /// The number of decisions and draws before it on this table.
    number: u64,
}

impl PositionId {
    /// The first position of a new table.
    pub fn first() -> PositionId {
        static TABLES: AtomicU64 = AtomicU64::new(0);
        PositionId { table: TABLES.fetch_add(1, Ordering::Relaxed), number: 0 }
    }

    /// The number of decisions and draws before it on its table.
    pub const fn number(self) -> u64 {
        self.number
    }

    /// Goes on to the next position.
    pub const fn advance(&mut self) {
        self.number += 1;
    }
}
