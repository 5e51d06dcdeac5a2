//! Results and leases of sets in SQLite, and what databases have in common.
//!
//! * [`Results`] is the database of a tournament: [`About`] it, its [`EntrantRow`]s, and a [`MatchRow`] for each attempt at a
//!   match
//! * [`Leases`] lists the sets that are queued or that a worker has
//! * [`Requests`] to the process that plays wait in one of them
//! * [`RulingRow`]s are decisions of the organiser of a tournament or a league
//! * A [`Schema`] opens and creates a database
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use referee_game::Seating;
//! use referee_store::{About, EntrantRow, Results};
//!
//! # fn main() -> Result<(), referee_store::StoreError> {
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("results.sqlite");
//! let about = About {
//!     name: "spring".to_owned(),
//!     game: "checkers".to_owned(),
//!     rules: 1,
//!     program: None,
//!     seating: Seating::new(2, 2),
//!     config: "game = 'checkers'".to_owned(),
//!     openings: None,
//!     seed: "07".repeat(32),
//! };
//! let entrant = EntrantRow {
//!     name: "random".to_owned(),
//!     display_name: None,
//!     source: "python3 random_bot.py".to_owned(),
//!     files: BTreeMap::new(),
//!     joins: 0,
//!     leaves: None,
//!     missed: Vec::new(),
//!     interruptions: 0,
//! };
//! Results::create(&path, &about, &[entrant])?;
//! // A process that resumes the tournament reads what it is.
//! assert_eq!(Results::open(&path)?.about()?.name, "spring");
//! # Ok(())
//! # }
//! ```

mod checkpoints;
mod database;
mod error;
mod leases;
mod match_kind;
mod requests;
mod results;
mod rows;
mod rulings;
mod time;
mod words;

pub use database::{BUSY, Schema, data_version, database_files};
pub use error::{StoreError, damaged};
pub use leases::{Lease, Leases, WorkerRow};
pub use match_kind::{MatchKind, match_id, parse_match_id};
pub use requests::Requests;
pub use results::{About, Results, TournamentChange, is_void_for};
pub use rows::{BadRow, EntrantRow, MatchRow, VOID, from_json, parsed_column};
pub use rulings::{
    DisqualifiedFrom, RULINGS, RequestedDecision, RequestedRuling, RuledMatch, RulingAct, RulingRow,
    UndoneRuling, insert_ruling, only_opponent, read_rulings, undo_ruling,
};
pub use time::{now, utc};
