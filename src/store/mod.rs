//! What stays on disk.

mod journal;
mod records;
mod results;

pub use journal::Journal;
pub use records::Records;
pub use results::{About, EntrantRow, MatchRow, Results, VOID};
