//! The exit codes, which are the same for every subcommand: documented API.

use std::process::ExitCode;

#[cfg(feature = "http")]
use crate::league::ActError;
use crate::runs::config::SandboxError;
#[cfg(feature = "http")]
use crate::runs::league::LeagueError;
#[cfg(feature = "http")]
use crate::runs::league::config::LeagueConfigError;
use crate::runs::regression::{BadResults, RegressionError};
use crate::runs::tournament::{ConfigError, TournamentError};
use crate::runs::workers::WorkersError;
use crate::runs::workshop::WorkshopError;
use crate::workers::packing::NotPacked;

/// An exit code.
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
    /// Interrupted.
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

/// Why a subcommand failed.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// The error message.
    pub error: anyhow::Error,
}

impl Failure {
    /// An invalid command line or configuration.
    pub fn usage(what: impl std::fmt::Display) -> Failure {
        Failure { exit: Exit::Usage, error: anyhow::anyhow!("{what}") }
    }

    /// One of both: what was asked for is wrong, or the machine cannot do it.
    pub(super) fn of(is_usage: bool, what: impl std::fmt::Display) -> Failure {
        if is_usage { Failure::usage(what) } else { Failure::cannot_run(what) }
    }

    /// An error that prevents the subcommand from running.
    pub fn cannot_run(what: impl std::fmt::Display) -> Failure {
        Failure { exit: Exit::CannotRun, error: anyhow::anyhow!("{what}") }
    }
}

impl From<std::io::Error> for Failure {
    /// An error of standard output, or a closed reader.
    fn from(error: std::io::Error) -> Failure {
        let exit = if error.kind() == std::io::ErrorKind::BrokenPipe { Exit::Done } else { Exit::CannotRun };
        Failure { exit, error: anyhow::Error::new(error).context("standard output") }
    }
}

/// The failures of errors that know whether what was asked for is wrong.
macro_rules! failure_of {
    ($($error:ty),+) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::of(error.is_usage(), error)
            }
        }
    )+};
}

#[cfg(feature = "http")]
failure_of!(ActError, LeagueConfigError, LeagueError);

failure_of!(
    BadResults,
    ConfigError,
    RegressionError,
    SandboxError,
    TournamentError,
    WorkersError,
    WorkshopError
);

impl From<NotPacked> for Failure {
    fn from(error: NotPacked) -> Failure {
        Failure::usage(error)
    }
}
