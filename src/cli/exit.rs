//! The exit codes, which are the same for every subcommand: documented API.

use std::error::Error;
use std::process::ExitCode;
use std::{fmt, io};

use crate::bot::sandbox::Unavailable;
use crate::game::Chain;
#[cfg(feature = "http")]
use crate::league::ActError;
use crate::report::site::SiteError;
use crate::runs::config::{ListenError, OpeningsError, SandboxError};
#[cfg(feature = "http")]
use crate::runs::league::config::LeagueConfigError;
#[cfg(feature = "http")]
use crate::runs::league::{FinalsError, LeagueError};
use crate::runs::regression::{BadResults, RegressionError, ResultsDefect};
use crate::runs::tournament::{ConfigError, TournamentError};
use crate::runs::workers::WorkersError;
use crate::runs::workshop::WorkshopError;
use crate::workers::packing::NotPacked;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or passed.
    Done = 0,
    /// It ran, with a negative result: a record differs, or a match had a fault under `--strict`.
    No = 1,
    /// The command line or a configuration is invalid.
    Usage = 2,
    /// A test reached its limit without a verdict.
    Undecided = 3,
    /// A test is invalid: too many faults.
    Invalid = 4,
    /// It could not run: a bot does not start, an error of the disk or the network.
    CannotRun = 5,
    Interrupted = 130,
}

/// The exit codes, for `--help`.
pub(super) const HELP: &str = "Exit codes of every subcommand:
  0    done, or passed
  1    it ran, and the answer is no (a record differs; a fault under --strict)
  2    usage or configuration
  3    undecided
  4    invalid: too many faults
  5    could not run: a bot does not start, disk, network
  130  interrupted";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub error: anyhow::Error,
}

impl Failure {
    /// An invalid command line or configuration.
    pub fn usage(what: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
        Failure { exit: Exit::Usage, error: anyhow::Error::from_boxed(what.into()) }
    }

    /// One of both: what was asked for is wrong, or the machine cannot do it.
    pub(super) fn of(is_usage: bool, what: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
        if is_usage { Failure::usage(what) } else { Failure::cannot_run(what) }
    }

    /// An error that prevents the subcommand from running.
    pub fn cannot_run(what: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
        Failure { exit: Exit::CannotRun, error: anyhow::Error::from_boxed(what.into()) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Chain(&*self.error).fmt(f)
    }
}

impl From<io::Error> for Failure {
    /// An error of standard output, or a closed reader.
    fn from(error: io::Error) -> Failure {
        let exit = if error.kind() == io::ErrorKind::BrokenPipe { Exit::Done } else { Exit::CannotRun };
        Failure { exit, error: anyhow::Error::new(error).context("standard output") }
    }
}

/// Errors of a request, some of them errors of the machine.
pub(super) trait AskedFor: Error {
    /// Returns whether the request is wrong; otherwise the machine is.
    fn is_usage(&self) -> bool;
}

impl<E: AskedFor + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::of(error.is_usage(), error)
    }
}

/// Returns whether a file that cannot be read is the wrong one.
fn is_wrong_file(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge)
}

impl AskedFor for NotPacked {
    fn is_usage(&self) -> bool {
        true
    }
}

impl AskedFor for SandboxError {
    fn is_usage(&self) -> bool {
        matches!(self.0, Unavailable::Limit(_))
    }
}

impl AskedFor for OpeningsError {
    fn is_usage(&self) -> bool {
        !matches!(self, OpeningsError::Unreadable { why, .. } if !is_wrong_file(why))
    }
}

impl AskedFor for BadResults {
    fn is_usage(&self) -> bool {
        match &self.why {
            ResultsDefect::Unreadable(error) => is_wrong_file(error),
            ResultsDefect::NotWritten(_) => false,
            _ => true,
        }
    }
}

impl AskedFor for RegressionError {
    fn is_usage(&self) -> bool {
        !matches!(self, RegressionError::Results(error) if !error.is_usage())
    }
}

impl AskedFor for WorkersError {
    fn is_usage(&self) -> bool {
        !matches!(
            self,
            WorkersError::NoCertificate { .. }
                | WorkersError::Bind { .. }
                | WorkersError::Directory { .. }
                | WorkersError::Leases(_)
                | WorkersError::Start(_)
        )
    }
}

impl AskedFor for ConfigError {
    fn is_usage(&self) -> bool {
        match self {
            ConfigError::NotWritten(_) | ConfigError::Listen(ListenError::SelfSigned(_)) => false,
            ConfigError::Sandbox(error) => error.is_usage(),
            ConfigError::Openings(error) => error.is_usage(),
            _ => true,
        }
    }
}

impl AskedFor for SiteError {
    fn is_usage(&self) -> bool {
        matches!(self, SiteError::Foreign(_))
    }
}

impl AskedFor for TournamentError {
    fn is_usage(&self) -> bool {
        match self {
            TournamentError::Config(error) => error.is_usage(),
            TournamentError::Workers(error) => error.is_usage(),
            TournamentError::Site(error) => error.is_usage(),
            TournamentError::NoTournament(_)
            | TournamentError::Exists(_)
            | TournamentError::Schedule(_)
            | TournamentError::Rules(_)
            | TournamentError::OpeningsChanged(_)
            | TournamentError::EntrantChanged(_)
            | TournamentError::Change(_)
            | TournamentError::NotPacked(_) => true,
            _ => false,
        }
    }
}

impl AskedFor for WorkshopError {
    fn is_usage(&self) -> bool {
        match self {
            WorkshopError::File(_)
            | WorkshopError::Wrong(_)
            | WorkshopError::Exists(_)
            | WorkshopError::NoWorkshop { .. }
            | WorkshopError::Start { .. }
            | WorkshopError::Pack(_) => true,
            WorkshopError::Sandbox(error) => error.is_usage(),
            WorkshopError::Tournament(error) => error.is_usage(),
            WorkshopError::Config(error) => error.is_usage(),
            WorkshopError::Regression(error) => error.is_usage(),
            _ => false,
        }
    }
}

#[cfg(feature = "http")]
impl AskedFor for ActError {
    fn is_usage(&self) -> bool {
        !matches!(self, ActError::Store(_))
    }
}

#[cfg(feature = "http")]
impl AskedFor for LeagueConfigError {
    fn is_usage(&self) -> bool {
        match self {
            LeagueConfigError::Sandbox { why, .. } => why.is_usage(),
            LeagueConfigError::Submitted(_) => false,
            _ => true,
        }
    }
}

#[cfg(feature = "http")]
impl AskedFor for LeagueError {
    fn is_usage(&self) -> bool {
        match self {
            LeagueError::Config(error) => error.is_usage(),
            LeagueError::Programs(error) => error.is_usage(),
            LeagueError::Workers(error) => error.is_usage(),
            LeagueError::NotPacked(_) | LeagueError::NoWorkers | LeagueError::Limits(_) => true,
            _ => false,
        }
    }
}

#[cfg(feature = "http")]
impl AskedFor for FinalsError {
    fn is_usage(&self) -> bool {
        !matches!(self, FinalsError::Io(_) | FinalsError::Bot { .. })
    }
}
