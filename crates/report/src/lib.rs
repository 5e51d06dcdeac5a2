//! Results for people.
//!
//! * [`table`](table()) writes plain tables, [`summary_table`] the results of a run, [`result_line`] that of a match;
//!   [`interval`](interval()) writes an estimate
//! * [`Scoresheet`] writes a match as it is played or replayed, [`evidence_lines`] what a bot did wrong
//! * [`RegressionReport`] is the test of a new version, [`tournament`] the report of a tournament in each format
//! * [`replay`] has pictures of positions and the page that plays matches, [`site`] the pages of a tournament,
//!   [`preview`] the pictures that other sites show of them
//!
//! ```
//! use referee_report::{interval, origin, table};
//! use referee_stats::rating::Estimate;
//!
//! let elo = interval(Estimate { value: 12.34, low: -4.5, high: 29.1 }, 1);
//! assert_eq!(elo, "+12.3 (-4.5 to +29.1)");
//! assert_eq!(origin(97_u64, 10_u64), "from 97 distinct sets on 10 openings or deals");
//! let text = table(&["bot", "Elo"], vec![vec!["deep".to_owned(), elo]], 1..2).to_string();
//! assert!(text.contains("deep"), "{text}");
//! ```

mod answers;
mod evidence;
mod github;
mod interval;
mod junit;
mod note;
pub mod page;
pub mod preview;
mod regression;
pub mod replay;
mod ruling;
mod scoresheet;
pub mod site;
pub mod story;
mod summary;
mod table;
mod tested_bot;
pub mod tournament;
mod words;

pub use answers::{ReportedTable, cost, reported_tables};
pub use evidence::evidence_lines;
pub use interval::{Population, interval, origin, percent_interval};
pub use junit::{JunitStep, StepStatus, junit};
pub use note::{EventText, Kind, result_words};
pub use regression::{
    RegressionFindings, RegressionOutcome, RegressionReport, RegressionSetting, SetVersions, cautioned,
    model_name,
};
pub use ruling::{PublicRuling, RulingOnMatch, RulingsByMatch};
pub use scoresheet::Scoresheet;
pub use summary::{BotSummary, Comparison, RunSummary, SetReport};
pub use table::{answers_tables, difference_lines, result_line, sets_line, summary_table, table};
pub use tested_bot::TestedBot;
pub use tournament::csv_line;
pub use words::{ToldMatch, ending_in_words, fault_code_in_words, fault_in_words};
