//! Typed views of the six games, and parsing and formatting of their moves.
//!
//! ```
//! use referee_bot::games::saxum;
//!
//! let mv: saxum::Move = "place 4 3".parse()?;
//! assert_eq!(mv, saxum::Move::Place(saxum::Field { row: 4, column: 3 }));
//! assert_eq!(mv.to_string(), "place 4 3");
//! # Ok::<(), referee_bot::games::Misspelled>(())
//! ```
//!
//! In a bot `turn.view::<saxum::View>()` is the position, and each of `turn.legal()` can be parsed into a `saxum::Move`.

pub mod checkers;
pub mod chess;
pub mod jeex;
pub mod keezen;
pub mod saxum;
mod text;
pub mod xe_queo;

pub use text::Misspelled;
