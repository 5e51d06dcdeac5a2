//! Sessions with bots, and driving matches over them.

mod alarm;
mod dispatch;
mod incoming;
mod lane;
mod play;
mod results;
mod run;
mod session;
mod stdio;
mod wakes;

pub use lane::{Finished, Lane, MatchKey, Notice, Place};
pub use play::{Play, Played, SET, Step, can_mirror};
pub use results::{BotSummary, MatchReport, SetReport, Sets, Summary};
pub use run::{Plan, PlannedSeat, Run, Terms, check_clock};
pub use session::{BotHello, Role, SessionKey};
pub use stdio::{HostMatches, HostPlayed, HostRun, serve_host};
