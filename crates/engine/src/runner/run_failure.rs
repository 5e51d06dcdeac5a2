//! Reasons why runs end before their matches.

use std::error::Error;
use std::io;
use std::net::SocketAddr;

use referee_game::Wrong;
use referee_game::erased::NotOpened;
use referee_match::record::Difference;

use crate::runner::archive::NotKept;
use crate::runner::record_sink::{MOST_RULES_FAILED, MOST_UNAVAILABLE};
use crate::runner::run_event::NoShow;

/// Reasons why a run ends before its matches.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunFailure {
    #[error(
        "a match needs up to {needed} file descriptors, but the limit is {limit}: raise it (`ulimit -Hn`)"
    )]
    TooFewDescriptors { needed: u64, limit: u64 },
    #[error(transparent)]
    NoRuntime(io::Error),
    #[error("no bot can be started")]
    NoLauncher(#[source] io::Error),
    #[error("a thread cannot be started")]
    NoThread(#[source] io::Error),
    #[error("cannot create a pipe")]
    NoPipe(#[source] io::Error),
    #[error("lanes cannot be pinned: cannot get the CPUs of this process")]
    NoCpus(#[source] io::Error),
    #[error("cannot listen at {address}")]
    NotListening {
        address: SocketAddr,
        #[source]
        error: io::Error,
    },
    #[error("a thread panicked")]
    Panicked,
    #[error("a lane panicked")]
    LanePanicked,
    #[error("the journal's thread panicked")]
    JournalPanicked,
    #[error("cannot journal the start of {}", .matches.join(", "))]
    NotJournaled {
        matches: Vec<String>,
        #[source]
        error: io::Error,
    },
    #[error("the schedule confuses the bots of two pairings")]
    ConfusedPairings,
    #[error(transparent)]
    NotOpened(#[from] NotOpened),
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error(transparent)]
    NoShow(#[from] NoShow),
    #[error(transparent)]
    NotKept(#[from] NotKept),
    #[error("the record of {match_id}")]
    InvalidRecord {
        match_id: String,
        #[source]
        difference: Difference,
    },
    #[error("the rules failed in {MOST_RULES_FAILED} matches in a row")]
    RulesFailed,
    #[error("what chooses the moves of a bot could not be reached in {MOST_UNAVAILABLE} matches in a row")]
    Unavailable,
    #[error(
        "the rules had to be asked again {MOST_RULES_FAILED} times in a row: processes failed, and others answered (see the log)"
    )]
    RulesRestarted,
    #[error("workers were lost with these sets: {}", .0.join("; "))]
    GivenUp(Vec<String>),
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

impl RunFailure {
    pub(crate) fn invalid_record(match_id: &str, difference: Difference) -> RunFailure {
        RunFailure::InvalidRecord { match_id: match_id.to_owned(), difference }
    }

    /// An error of the receiver of events, or of the player elsewhere.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> RunFailure {
        RunFailure::Other(error.into())
    }
}
