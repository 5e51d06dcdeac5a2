//! Exit codes: the same for every subcommand, documented API.

use std::process::ExitCode;

/// What the process ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or passed.
    Done = 0,
    /// It ran, and the answer is no: a record differs, a match had a fault under `--strict`.
    No = 1,
    /// The command line or a configuration is wrong.
    Usage = 2,
    /// Undecided at its limit.
    Undecided = 3,
    /// Invalid: too many faults.
    Invalid = 4,
    /// It could not run: a bot does not start, disk, network.
    CannotRun = 5,
    /// Interrupted.
    Interrupted = 130,
}

/// The same for `--help`.
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

/// Why a subcommand did not do what it was asked.
#[derive(Debug)]
pub struct Failure {
    /// What the process ends with.
    pub exit: Exit,
    /// For the person who asked.
    pub error: anyhow::Error,
}

impl Failure {
    /// The command line or a configuration is wrong.
    pub fn usage(what: impl std::fmt::Display) -> Failure {
        Failure { exit: Exit::Usage, error: anyhow::anyhow!("{what}") }
    }

    /// It could not run.
    pub fn cannot_run(what: impl std::fmt::Display) -> Failure {
        Failure { exit: Exit::CannotRun, error: anyhow::anyhow!("{what}") }
    }
}

impl From<std::io::Error> for Failure {
    /// Output that nobody reads any more, or that cannot be written.
    fn from(error: std::io::Error) -> Failure {
        let exit = if error.kind() == std::io::ErrorKind::BrokenPipe { Exit::Done } else { Exit::CannotRun };
        Failure { exit, error: anyhow::Error::new(error).context("standard output") }
    }
}
