//! Results for people.

mod junit;
mod scoresheet;
mod table;

pub use junit::junit;
pub use scoresheet::Scoresheet;
pub use table::{result_line, sets_line, summary_table, table};
