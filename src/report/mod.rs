//! Results for people.

mod scoresheet;
mod table;

pub use scoresheet::Scoresheet;
pub use table::{result_line, sets_line, summary_table, table};
