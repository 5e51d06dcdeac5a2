//! A league: ladders that a server plays without an end, between bots that come and go.
//!
//! A [`Book`] counts the results of a ladder and rates its players. A [`Ladder`] is its state while it is played, which
//! the scheduler of its matches ([`LadderScheduler`]) shares with the server. [`recover`] completes the results after the
//! server was killed. The database is [`crate::store::League`].

mod book;
mod history;
mod ladder;
mod recover;

pub use book::{Book, Standing};
pub use history::RatingHistory;
pub use ladder::{Ladder, LadderScheduler, Limits, SharedLadder, row_of};
pub use recover::{recorded, recover};
