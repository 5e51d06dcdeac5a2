//! Persistent storage.

mod checkpoints;
mod database;
mod folder;
mod journal;
mod league;
mod leases;
mod private;
mod records;
mod regular;
mod results;
mod rows;
mod running;
mod wait;

pub use folder::Folder;
pub use journal::Journal;
pub use league::{
    Challenge, League, LeagueBot, LeagueChange, LeagueMatch, LeaguePlayer, MatchKind, RatingPoint, match_id,
    parse_match_id, utc,
};
pub use leases::{Lease, Leases, WorkerRow};
pub use private::{keep_private, private_paths};
pub use records::{Records, unsealed, written_at};
pub use regular::{most_unpacked, open_regular, read_limited, read_regular, read_secret};
pub use results::{About, Results, TournamentChange, is_void_for};
pub use rows::{BadRow, EntrantRow, MatchRow, VOID};
pub use running::{RunningMatch, RunningMatches};
pub use wait::StorageWait;
