//! Results for people.

mod evidence;
mod github;
mod junit;
mod note;
pub mod replay;
mod scoresheet;
mod table;
pub mod tournament;
mod trial;

pub use evidence::evidence_lines;
pub use junit::junit;
pub use note::{Kind, Told};
pub use scoresheet::Scoresheet;
pub use table::{difference_lines, result_line, sets_line, summary_table, table};
pub use trial::{TrialOutcome, TrialReport, interval, model_name, percent_interval};
