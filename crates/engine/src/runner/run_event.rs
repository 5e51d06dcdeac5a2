//! The events of a run.

use std::net::SocketAddr;

use referee_game::seat::Seat;
use referee_match::Leg;
use referee_protocol::referee::Reveal;
use referee_results::FinishedMatch;

use crate::runner::fixture::Fixture;
use crate::runner::run_failure::RunFailure;

/// A bot that could not play a match at all.
#[derive(Clone, Debug)]
pub struct NoShow {
    /// The index of the bot.
    pub entrant: usize,
    pub seat: Seat,
    /// A sentence with the name of the bot.
    pub why: String,
}

/// A match of a run that has ended, with its record.
#[derive(Debug)]
pub struct EndedMatch {
    pub fixture: Fixture,
    pub finished: FinishedMatch,
    /// The record, without the seal. Empty for spectators if too many records wait for them.
    pub record: Vec<u8>,
    /// SHA-256 of the record, as in its seal; `None` before it is written, and if the run keeps no records.
    pub seal: Option<String>,
    pub reveal: Reveal,
    /// The bot that could not play at all, if there was one.
    pub no_show: Option<NoShow>,
}

impl EndedMatch {
    /// Returns whether no other match of its deal is left to play.
    pub fn completes_its_deal(&self) -> bool {
        match self.fixture.leg {
            Leg::Open => true,
            Leg::Earlier => false,
            Leg::Only | Leg::Last => !self.finished.is_to_be_replayed(),
        }
    }
}

/// A match of checkers that was aborted for this cause.
#[cfg(test)]
pub(super) fn aborted(id: &str, cause: referee_stats::Cause) -> FinishedMatch {
    let ended_by = referee_protocol::words::EndedBy::Aborted;
    let ending = referee_match::Ending {
        ended_by,
        reason: ended_by.to_string(),
        ranks: None,
        scores: None,
        amounts: None,
        fault: None,
    };
    let attempt = id.parse().map_or(1, |id: referee_stats::schedule::MatchId| id.attempt);
    FinishedMatch {
        cause: Some(cause),
        is_void: cause.is_void(attempt),
        ..FinishedMatch::new(id.to_owned(), referee_game::Seating::new(2, 2), vec![String::new(); 2], ending)
    }
}

#[derive(Debug)]
pub enum RunEvent<'a> {
    /// Bots can connect to this address.
    Listening(SocketAddr),
    /// A match waits for a bot of this name to connect.
    Waiting(&'a str),
    /// A bot of this name that a match waited for has connected.
    Connected(&'a str),
    /// News of the watched match, as text.
    Moved(&'a str),
    Ended(&'a EndedMatch),
    /// No other match has ended in between. All records are on the disk.
    Settled,
}

/// Reasons why the receiver of the events ends a run.
#[derive(Debug)]
pub enum Halt {
    /// The receiver needs no more matches.
    Done,
    Failed(RunFailure),
}

impl<E: Into<RunFailure>> From<E> for Halt {
    fn from(why: E) -> Halt {
        Halt::Failed(why.into())
    }
}
