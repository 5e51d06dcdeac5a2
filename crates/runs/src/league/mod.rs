//! A league: ladders that a server plays without an end, between bots that come and go.
//!
//! [`LeagueServer`] opens the league of a file, completes its results if an earlier server was killed, and plays it until it
//! is stopped. A [`LadderTally`](referee_league::LadderTally) counts the results of a ladder and rates its players; [`audit_ladder`] verifies them against the
//! records. The database is [`referee_league::League`].
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let catalog = referee_game::Catalog::empty();
//! use referee_runs::config::KnownGames;
//! use referee_runs::league::config::LeagueConfig;
//! use referee_runs::league::{LeagueEvent, LeagueServer};
//! use referee_runs::workers::WorkersConfig;
//!
//! let games = KnownGames::new(&catalog, referee_bots::Launch::Directly);
//! let config = LeagueConfig::read("league.toml".as_ref())?;
//! let league = LeagueServer::open(&config, &games, &WorkersConfig::default())?;
//! let stop = league.stop();
//! league.play(&|event| {
//!     if let LeagueEvent::Ended { ladder, rows } = event {
//!         println!("{ladder}: {} matches have ended", rows.len());
//!         stop.drain();
//!     }
//! })?;
//! # Ok(())
//! # }
//! ```

mod audit;
pub mod config;
mod error;
mod finals;
mod folder;
mod history;
mod ladder;
mod notices;
mod recover;
mod resume;
mod retention;
mod rules_versions;
mod seed;
mod send;
mod server;

pub use audit::{
    LadderAudit, LadderDifference, LadderRecords, OnRecord, ReadRecord, RecordError, RecordedMatch,
    audit_ladder,
};
pub use finals::{Absentee, Finalist, FinalsTerms, finalists, write_finals};
pub use folder::ladder_folder;
pub use ladder::{LadderLimits, LadderMemory};
pub use notices::{NoticeFiles, PagesConfig};
pub use retention::Retention;
pub use rules_versions::ChangedRules;
pub use seed::LadderSeed;
pub use send::SendCommand;
pub use server::{LeagueEvent, LeagueNotice, LeagueReload, LeagueServer, LeagueStop};

use history::RatingHistory;
use ladder::{Ladder, LadderScheduler, SharedLadder};
use recover::{deal_of, recorded, recover, row_of};
use resume::{resume, resume_on_workers};
use retention::{RetainedLadder, seal_of};
use rules_versions::note_rules;
use send::SendError;
