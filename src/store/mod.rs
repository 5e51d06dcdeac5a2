//! Results, leagues and leases of sets in SQLite.

mod checkpoints;
mod database;
mod league;
mod leases;
mod results;
mod rows;

pub use league::{
    Challenge, League, LeagueBot, LeagueChange, LeagueMatch, LeaguePlayer, MatchKind, RatingPoint, match_id,
    parse_match_id, utc,
};
pub use leases::{Lease, Leases, WorkerRow};
pub use results::{About, Results, TournamentChange, is_void_for};
pub use rows::{BadRow, EntrantRow, MatchRow, VOID};
