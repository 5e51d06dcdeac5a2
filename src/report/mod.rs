//! Results for people.

mod evidence;
mod github;
mod interval;
mod junit;
mod note;
pub mod replay;
mod scoresheet;
pub mod site;
mod table;
mod tested_bot;
pub mod tournament;
mod trial;

pub use evidence::evidence_lines;
pub use interval::{Population, interval, origin, percent_interval};
pub use junit::junit;
pub(crate) use note::result_words;
pub use note::{EventText, Kind};
pub use scoresheet::Scoresheet;
pub use table::{difference_lines, result_line, sets_line, summary_table, table};
pub use tested_bot::TestedBot;
pub use trial::{TrialOutcome, TrialReport, TrialSetting, cautioned, model_name};
