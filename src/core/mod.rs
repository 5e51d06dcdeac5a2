//! The vocabulary of everything else.

pub mod chance;
pub mod clock;
pub mod erased;
pub mod excerpt;
pub mod game;
pub mod hex;
pub mod json;
pub mod notation;
pub mod openings;
pub mod outcome;
pub mod perft;
pub mod seat;

pub use chance::Uniform;
pub use game::{Draw, Drawn, Fact, Game, Known, Meta, Misconfigured, NoFact, OptionMeta, Turn};
pub use notation::{Checked, Flaw, Notation, Sheet, Verdict};
pub use openings::{GivenOpening, OpeningFile};
pub use outcome::Outcome;
pub use seat::{MAX_SEATS, Seat, SeatSet, Seating, Viewer};
