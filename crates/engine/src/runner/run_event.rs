//! The events of a run.

use std::net::SocketAddr;

use referee_game::seat::Seat;
use referee_protocol::referee::Reveal;

use crate::runner::archive::NotKept;
use crate::runner::fixture::Fixture;
use crate::runner::results::MatchReport;

/// A bot that could not play a match at all.
#[derive(Debug)]
pub struct NoShow {
    /// The index of the bot.
    pub entrant: usize,
    /// The seat.
    pub seat: Seat,
    /// The reason.
    pub why: String,
}

/// An event of a run.
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
    /// A match has ended.
    Ended {
        /// The match.
        fixture: &'a Fixture,
        /// The result.
        report: &'a MatchReport,
        /// The record, without the seal.
        record: &'a [u8],
        /// SHA-256 of the record, as in its seal.
        seal: Option<String>,
        /// The content of its seal.
        reveal: &'a Reveal,
        /// One of its bots could not play at all.
        no_show: Option<NoShow>,
    },
    /// No other match has ended in between. All records are on the disk.
    Settled,
}

/// Why the receiver of the events ends a run.
#[derive(Debug)]
pub enum Halt {
    /// It needs no more matches.
    Done,
    /// An error.
    Because(String),
}

impl From<NotKept> for Halt {
    fn from(why: NotKept) -> Halt {
        Halt::Because(why.to_string())
    }
}

impl From<String> for Halt {
    fn from(why: String) -> Halt {
        Halt::Because(why)
    }
}
