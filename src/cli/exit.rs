//! The exit codes, which are the same for every subcommand: documented API.

use std::error::Error;
use std::process::ExitCode;
use std::{fmt, io};

use anyhow::anyhow;

use crate::game::Chain;
#[cfg(feature = "http")]
use crate::league::ActError;
use crate::report::site::SiteError;
use crate::runs::RunError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command is done, or a test passed.
    Done = 0,
    /// The command ran, with a negative result: a record differs, or a match had a fault under `--strict`.
    No = 1,
    /// The command line or a configuration is invalid.
    Usage = 2,
    /// A test reached its limit without a verdict.
    Undecided = 3,
    /// A test is invalid: too many faults.
    Invalid = 4,
    /// The command could not run: a bot does not start, an error of the disk or the network.
    CannotRun = 5,
    Interrupted = 130,
}

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

    /// Puts a text before the message.
    pub(super) fn after(self, text: &str) -> Failure {
        Failure { exit: self.exit, error: anyhow!("{text}{self}") }
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

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Wrong(_) | RunError::Changed(_) => Failure::usage(error),
            RunError::Machine(_) => Failure::cannot_run(error),
        }
    }
}

impl From<SiteError> for Failure {
    fn from(error: SiteError) -> Failure {
        RunError::from(error).into()
    }
}

#[cfg(feature = "http")]
impl From<ActError> for Failure {
    fn from(error: ActError) -> Failure {
        RunError::from(error).into()
    }
}
