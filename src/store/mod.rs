//! What stays on disk.

mod journal;
mod records;
mod results;

pub use journal::Journal;
pub use records::{Records, unsealed};
pub use results::{About, EntrantRow, MatchRow, Results, VOID};
