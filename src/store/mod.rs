//! Persistent storage.

mod folder;
mod journal;
mod records;
mod regular;
mod results;
mod rows;

pub use folder::Folder;
pub use journal::Journal;
pub use records::{Records, unsealed};
pub use regular::{open_regular, read_regular, read_secret};
pub use results::{About, Changes, Results, is_void_for};
pub use rows::{BadRow, EntrantRow, MatchRow, VOID};
