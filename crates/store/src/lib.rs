//! Results, leagues and leases of sets in SQLite.
//!
//! * [`Results`] is the database of a tournament: [`About`] it, its [`EntrantRow`]s, and a [`MatchRow`] for each attempt at a
//!   match
//! * [`League`] is the database of a server that plays without an end: its bots, players, matches and challenges
//! * [`Leases`] lists the sets that are queued or that a worker has
//! * [`Requests`] to the process that plays wait in one of them
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
mod league;
mod leases;
mod requests;
mod results;
mod rows;
mod rulings;
mod words;

pub use error::{StoreError, ValueDefect};
pub use league::{
    ActError, Challenge, ChallengeError, IntakeError, Invitation, InvitationError, KeptRating, League,
    LeagueBot, LeagueChange, LeagueMatch, LeagueOwner, LeaguePlayer, MatchFilter, MatchKind, NewBot,
    NotAdmitted, OrganiserAct, OwnerAct, OwnerCredential, OwnerError, OwnerState, OwnerToken, ProgramName,
    RatingPoint, RulesVersion, Season, SeasonError, Submission, SubmissionError, SubmissionQuota,
    SubmissionState, SubmittedBot, match_id, now, parse_match_id, utc,
};
pub use leases::{Lease, Leases, WorkerRow};
pub use requests::Requests;
pub use results::{About, Results, TournamentChange, is_void_for};
pub use rows::{BadRow, EntrantRow, MatchRow, RowDefect, VOID};
pub use rulings::{RuledMatch, RulingAct, RulingRow, UndoneRuling};
