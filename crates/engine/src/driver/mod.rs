//! A lane: the matches and streams of one thread. A lane handles byte streams, whatever their source.

pub(crate) mod bot_fault;
mod buffered_stream;
mod clock;
mod detached_session;
mod dispatch;
mod flush;
mod hello;
pub mod incoming;
mod keys;
mod lane;
mod match_clock;
mod match_journal;
mod matches;
mod notice;
mod plan;
mod ready_queue;
mod reconnect;
mod role;
mod round_clock;
pub mod route;
mod serve;
mod session;
mod session_end;
mod spin;
#[cfg(test)]
mod tests;
mod timers;
mod unacknowledged;

pub use bot_fault::BotFault;
pub use clock::LaneClock;
pub use detached_session::DetachedSession;
pub use hello::{BotHello, HelloError};

pub use keys::{MatchKey, SessionKey};
pub use lane::Lane;
pub use match_journal::{JournalWriter, JournaledSeat, MatchJournal};
pub use matches::SeatOccupant;
pub use notice::{Finished, Notice};
#[cfg(test)]
pub(crate) use plan::match_of_checkers;
pub use plan::{MatchPlan, PlannedSeat, Run, Terms, check_clock};
pub(crate) use reconnect::REPLACED;
pub use role::Role;
pub use unacknowledged::{BotInstance, Unacknowledged};
