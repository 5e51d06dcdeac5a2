//! A league: ladders that a server plays without an end, between bots that come and go.
//!
//! A [`Book`] counts the results of a ladder and rates its players. A [`Ladder`] is its state while it is played, which
//! the scheduler of its matches ([`LadderScheduler`]) shares with the server. [`recover`] completes the results after the
//! server was killed, and [`resume`] reads the matches that go on. The database is [`referee_store::League`].

mod book;
mod error;
mod folder;
mod history;
mod ladder;
mod recover;
mod resume;
mod retention;
mod rulings;
mod season;
mod send;

pub use book::{Book, LadderRow, LadderSeats, RatingInputs, number, plays_sets};
pub use error::{LadderError, NotCounted, NotOfLadder, NotRecovered};
pub use folder::ladder_folder;
pub use history::RatingHistory;
pub use ladder::{
    Ladder, LadderLimits, LadderMemory, LadderScheduler, LadderSnapshot, LeadTaken, PlayerState, Recount,
    SharedLadder, WaitingMatch, WaitingReason,
};
pub use recover::{deal_of, recorded, recover, row_of};
pub use resume::{resume, resume_on_workers};
pub use retention::{RetainedLadder, Retention, seal_of};
pub use rulings::LadderRulings;
pub use season::{FinalRow, FinalStandings, LadderSeason};
pub use send::{SendCommand, SendCommandError, SendError, SendStatus};
