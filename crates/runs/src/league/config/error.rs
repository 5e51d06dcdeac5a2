//! What is wrong with the file of a league.

use std::io;
use std::path::PathBuf;
use std::string::FromUtf8Error;

use referee_bots::InvalidCommand;
use referee_bots::sandbox::Unavailable;
use referee_game::Misconfigured;
use referee_game::name::NameError;
use referee_transport::BadCertificate;

use super::events::BadEvent;
use super::owners::BadOwners;
use super::retention::BadRetention;
use crate::config::{FilesError, GameError, OpeningsError, SandboxError, Unpaired, WithSuggestion};
use crate::league::notices::{UnreadableNotices, WrongLength};
use crate::submissions::BadSubmissions;
use crate::workers::WorkersConfigError;

/// A league that cannot be played as its file says. As text the keys have their names in the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeagueConfigError {
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        #[source]
        why: Box<LeagueFileError>,
    },
    #[error("ladder {ladder}")]
    Ladder {
        ladder: String,
        #[source]
        why: Box<LadderConfigError>,
    },
    #[error("program {program}")]
    Files {
        /// The name of the program.
        program: String,
        #[source]
        why: FilesError,
    },
    #[error("program {program}")]
    Sandbox {
        program: String,
        #[source]
        why: SandboxError,
    },
    /// What owners hand in cannot be confined.
    #[error(transparent)]
    Submitted(#[from] Unavailable),
    /// `[pages]` has texts that cannot be shown.
    #[error(transparent)]
    Pages(#[from] UnreadableNotices),
    /// `[owners]` is not valid.
    #[error(transparent)]
    Owners(#[from] BadOwners),
    /// `[retention]` is not valid.
    #[error(transparent)]
    Retention(#[from] BadRetention),
    /// `[submissions]` is not valid.
    #[error(transparent)]
    Submissions(#[from] BadSubmissions),
    /// `[submissions]` without `[owners]`, through whose server programs are handed in.
    #[error("[submissions] needs [owners]: owners hand in programs on the server that it configures")]
    NoOwners,
    /// `[workers]` is not valid.
    #[error("[workers]")]
    Workers(#[from] WorkersConfigError),
}

/// A file that is not that of a league.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeagueFileError {
    #[error("there is no such file; `referee init league DIR` writes one")]
    Missing,
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// It is not text.
    #[error(transparent)]
    NoText(#[from] FromUtf8Error),
    /// It is not valid.
    #[error(transparent)]
    Syntax(#[from] WithSuggestion),
    #[error("`ladders`: there is none; add [[ladders]] with a `name` and a `game`")]
    NoLadder,
    /// The name of a ladder cannot be that of a directory.
    #[error(
        "ladder {0}: the name of a ladder has 1 to 64 characters: ASCII letters, digits, `.`, `_` and `-`, and does not \
         begin with `.`"
    )]
    LadderName(String),
    #[error("ladder {0}: the name is not unique")]
    LadderTwice(String),
    #[error("program {program}")]
    Program {
        program: String,
        #[source]
        why: ProgramError,
    },
    /// An event cannot take place.
    #[error(transparent)]
    Event(#[from] BadEvent),
    /// A text of `[pages]` has another length.
    #[error(transparent)]
    Pages(#[from] WrongLength),
}

/// A program that cannot take part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Its name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Its command line cannot be parsed.
    #[error(transparent)]
    Command(#[from] InvalidCommand),
    #[error("anchor is not a rating from -100000 to 100000")]
    Anchor,
    #[error("there is no ladder `{0}`")]
    NoLadder(String),
}

/// A ladder that cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LadderConfigError {
    /// There is no such game.
    #[error(transparent)]
    Game(#[from] GameError),
    #[error("its directory `games`")]
    Kept(#[source] io::Error),
    #[error("seats")]
    Seats(#[source] Misconfigured),
    #[error("{key}: {value} is not from 1 to {most}")]
    Range {
        key: &'static str,
        value: u32,
        /// The largest value.
        most: u32,
    },
    /// The game does not allow this fault policy.
    #[error(transparent)]
    OnFault(Misconfigured),
    /// Its matches cannot be adjudicated.
    #[error(transparent)]
    Adjudication(Misconfigured),
    /// There are no such openings.
    #[error(transparent)]
    Openings(#[from] OpeningsError),
    /// A file of the certificate is missing.
    #[error(transparent)]
    Unpaired(#[from] Unpaired),
    #[error("tls_cert, tls_key")]
    Certificate(#[from] BadCertificate),
    #[error("tls_cert needs `listen`")]
    NoListener,
    #[error("visitors needs `watch`")]
    NoPages,
}
