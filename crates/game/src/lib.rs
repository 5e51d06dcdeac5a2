//! Board games without files, processes, sockets, clocks and random sources.
//!
//! * [`Game`] are the rules of a game: positions as values, legal moves, views, outcomes; [`Chance`], [`Imagine`],
//!   [`Openings`](openings) and [`Notation`] are what only some games have
//! * [`erased`] is the same for a game that is known only at run time, [`Catalog`] a list of such games
//! * [`chance`] draws from a seed that anyone can check later; [`seat`] has seats and teams, [`clock`] the clocks as values
//! * [`perft`] counts positions and [`playout`] plays random matches, to test and to measure rules
//! * [`scene`] describes pictures of positions

mod blocks;
pub mod catalog;
mod chain;
pub mod chance;
pub mod clock;
pub mod counted;
pub mod disguise;
pub mod endgames;
pub mod erased;
pub mod excerpt;
pub mod game;
pub mod hex;
mod hmac;
pub mod json;
pub mod json_scanner;
#[cfg(feature = "names")]
pub mod name;
pub mod notation;
pub mod openings;
pub mod outcome;
pub mod perft;
pub mod playout;
pub mod printable;
pub mod scene;
#[cfg(feature = "schema")]
pub mod schema;
pub mod seat;
mod setting;
pub mod test_length;
mod wrong;

pub use blocks::extend_in_blocks;
pub use catalog::Catalog;
pub use chain::Chain;
pub use chance::{Draw, Uniform};
pub use counted::counted;
pub use game::{
    Chance, DrawOf, Drawn, Fact, Game, Imagination, Imagine, Known, Meta, NoDraw, NoFact, OptionMeta,
    ReasonMeta, Turn,
};
pub use notation::{CheckedGame, Flaw, MatchTags, MoveNote, Notation, Sheet, SheetDraw, Validity};
pub use openings::{GivenOpening, OpeningFile};
pub use outcome::{AmountRange, Outcome};
pub use scene::Scene;
#[cfg(feature = "schema")]
pub use schema::Schemas;
pub use seat::{MAX_SEATS, Seat, SeatSet, Seating, Viewer};
pub use setting::{SettingNames, keys};
pub use wrong::Wrong;
