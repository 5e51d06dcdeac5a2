//! Runs from their beginning to their end: what opens, recovers and plays them.
//!
//! * [`config`]: settings that the files of tournaments and of leagues have in common
//! * [`workers`]: the workers of a run
//! * [`play`]: matches between the same bots
//! * [`regression`]: whether a new version of a bot is weaker or stronger than its base
//! * [`tournament`]: tournaments in a directory
//! * [`league`]: ladders that a server plays without an end
//! * [`submissions`]: programs that owners hand in, until they play
//! * [`workshop`]: agents that write bots, round by round
//!
//! Plays a tournament, or resumes it after an interruption:
//!
//! ```no_run
//! # use std::path::Path;
//! use referee_files::StorageWait;
//! use referee_runs::config::{KnownGames, random_seed};
//! use referee_runs::Placement;
//! use referee_runs::tournament::{Tournament, TournamentConfig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let catalog = referee_game::Catalog::empty();
//! let games = KnownGames::new(&catalog, referee_bots::Launch::Directly);
//! let directory = Path::new("cup");
//! let cup = match directory.exists() {
//!     true => Tournament::open(directory, &games, true)?,
//!     false => {
//!         let config = TournamentConfig::read(Path::new("cup.toml"))?;
//!         Tournament::create(directory, config, random_seed()?, &games, true)?
//!     }
//! };
//! let never = std::future::pending;
//! let end = cup.play(Placement::Here, &StorageWait::new(), || None, never, &mut |_| ())?;
//! for row in &end.schedule.look().standings().rows {
//!     println!("{}: {} points", row.entrant.index(), row.points);
//! }
//! # Ok(())
//! # }
//! ```

mod budget;
pub mod config;
mod error;
#[cfg(feature = "http")]
pub mod league;
mod placement;
pub mod play;
pub mod regression;
mod relay_socket;
pub mod submissions;
pub mod tournament;
pub mod workers;
pub mod workshop;

pub use error::RunError;
pub use placement::Placement;
pub use relay_socket::RelaySocket;
