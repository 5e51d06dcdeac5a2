//! Tournaments: their file, their directory, and what plays, changes and verifies them.
//!
//! * [`TournamentConfig`]: the file
//! * [`Tournament`]: a directory that this process plays
//! * [`StoredTournament`]: what the database of a directory says, also while another process plays it
//! * [`RequestedChange`]: entrants that join or withdraw, other settings, rulings
//! * [`KeptSite`]: its pages, kept up to date
//! * `FollowedTournament`: the pages for spectators of one that another process plays
//! * [`verify`]: whether results and records agree

mod audit;
mod change;
mod config;
mod entrant_row;
mod grading;
mod kept_site;
mod play;
mod recover;
mod ruling;
#[cfg(feature = "http")]
mod spectators;
mod stored;
mod verify;

pub use audit::NotOfTournament;
pub use change::{Applied, ChangeEffect, MadeChange, RequestedChange, change};
pub use config::{EntrantConfig, PreparedTournament, TournamentConfig, relative_path};
pub use grading::{GRADED_BOT, GradingPlace, find_grading};
pub use kept_site::KeptSite;
pub use play::{TournamentEnd, TournamentEvent};
pub use recover::{LockedTournament, Tournament, TournamentFolder, reveal};
#[cfg(feature = "http")]
pub use spectators::{FollowedTournament, show_standings};
pub use stored::{StoredTournament, open_results};
pub use verify::{Audit, AuditSummary, PointsByRecords, verify};
