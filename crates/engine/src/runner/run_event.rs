//! The events of a run.

use std::net::SocketAddr;

use referee_game::seat::Seat;
use referee_match::Detail;
use referee_protocol::referee::Reveal;
use referee_protocol::words::FaultCode;

use crate::runner::fixture::Fixture;
use crate::runner::results::MatchReport;
use crate::runner::run_failure::RunFailure;

/// A bot that could not play a match at all.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct NoShow {
    /// The index of the bot.
    pub entrant: usize,
    /// The seat.
    pub seat: Seat,
    /// The reason.
    pub why: Box<StartFailure>,
}

/// Why a bot does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartFailure {
    /// It did not start on this machine.
    #[error("the bot `{name}` does not start ({code}: {detail}): `{command}`{}", own_line(.stderr))]
    Here {
        /// Its name.
        name: String,
        /// The fault.
        code: FaultCode,
        /// The details of the fault.
        detail: Detail,
        /// How it is started.
        command: String,
        /// The last lines of its standard error.
        stderr: Option<String>,
    },
    /// It did not start on a worker.
    #[error("the bot `{name}` does not start: {detail}")]
    OnWorker {
        /// Its name.
        name: String,
        /// The details of its fault.
        detail: String,
    },
}

fn own_line(text: &Option<String>) -> String {
    text.as_ref().map(|text| format!("\n{text}")).unwrap_or_default()
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
    Failed(RunFailure),
}

impl<E: Into<RunFailure>> From<E> for Halt {
    fn from(why: E) -> Halt {
        Halt::Failed(why.into())
    }
}
