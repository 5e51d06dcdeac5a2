//! Shared types and traits, on which all other modules build.

pub mod chance;
pub mod clock;
pub mod counted;
pub mod erased;
pub mod excerpt;
pub mod game;
pub mod hex;
pub mod json;
pub mod notation;
pub mod openings;
pub mod outcome;
pub mod perft;
pub mod printable;
pub mod scene;
pub mod seat;

pub use chance::Uniform;
pub use counted::counted;
pub use game::{Draw, Drawn, Fact, Game, Known, Meta, Misconfigured, NoFact, OptionMeta, Turn};
pub use notation::{Checked, Flaw, Notation, Occasion, Sheet, Validity};
pub use openings::{GivenOpening, OpeningFile};
pub use outcome::Outcome;
pub use scene::Scene;
pub use seat::{MAX_SEATS, Seat, SeatSet, Seating, Viewer};
