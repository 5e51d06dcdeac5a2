//! Sessions with bots, and driving matches over them.

mod alarm;
mod arena;
mod bots;
mod contest;
mod dispatch;
mod entrant;
mod glances;
mod house;
pub(crate) mod incoming;
mod lane;
mod lobby;
mod openings;
mod play;
mod post;
mod results;
mod run;
mod schedule;
mod session;
mod stdio;
mod trial;
mod wakes;
mod worker;

pub use contest::{Board, Contest, Scoring};
pub use entrant::{Entrant, Source, check_name};
pub use house::{Halt, Happening, House, Stopped, Unsealed};
pub use lane::{Finished, Lane, MatchKey, Notice, Place};
pub use lobby::Listen;
pub use openings::Openings;
pub use play::{Mirror, Play, Played, Step, check_fresh, is_told_by_a_deal, seating_for};
pub use results::{BotSummary, Loss, MatchReport, SetReport, Sets, Summary};
pub use run::{Plan, PlannedSeat, Run, Terms, check_clock};
pub use schedule::{Fixture, Next, Schedule};
pub use session::{BotHello, Moving, Role, SessionKey};
pub use stdio::{HostMatches, HostPlayed, HostRun, serve_host};
pub use trial::{SetOfTrial, Trial};
pub use worker::Watch;
