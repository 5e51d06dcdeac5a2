//! Shared types and traits, on which all other modules build.

mod blocks;
pub mod catalog;
pub mod chance;
pub mod clock;
pub mod counted;
pub mod erased;
pub mod excerpt;
pub mod game;
pub mod hex;
pub mod json;
#[cfg(feature = "shell")]
pub mod name;
pub mod notation;
pub mod openings;
pub mod outcome;
pub mod perft;
pub mod playout;
pub mod printable;
pub mod scene;
pub mod scenes;
#[cfg(feature = "schema")]
pub mod schema;
pub mod seat;
#[cfg(test)]
pub(crate) mod test_length;

pub(crate) use blocks::extend_in_blocks;
pub use catalog::{Catalog, UnknownGame};
pub use chance::{Draw, Uniform};
pub use counted::counted;
pub use game::{
    Chance, DrawOf, Drawn, Fact, Game, IllegalMove, Imagination, Imagine, Known, Meta, Misconfigured, NoDraw,
    NoFact, OptionMeta, Turn,
};
pub use notation::{Checked, Flaw, MatchTags, Notation, Sheet, Validity};
pub use openings::{GivenOpening, OpeningFile};
pub use outcome::Outcome;
pub use scene::Scene;
pub use scenes::Scenes;
#[cfg(feature = "schema")]
pub use schema::Schemas;
pub use seat::{MAX_SEATS, Seat, SeatSet, Seating, Viewer};
