//! Reasons why a bridge ends.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::FAILED;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("the referee is gone")]
    Over,
    #[error("the engine `{program}` cannot be started")]
    NotStarted {
        program: String,
        #[source]
        error: io::Error,
    },
    #[error("the engine {}{}", ended(*.status), last_line(.last))]
    Ended { status: ExitStatus, last: String },
    #[error("the engine has closed its standard output{}", last_line(.last))]
    Closed { last: String },
    #[error(
        "the engine does not answer `{asked}` with `{expected}` within {seconds} s: does it speak {dialect}?{}",
        last_line(.last)
    )]
    Silent { asked: &'static str, expected: &'static str, seconds: u64, dialect: &'static str, last: String },
    #[error("the engine writes a line of more than {0} bytes")]
    LongLine(usize),
    #[error("{0}")]
    Option(String),
    #[error("the engine answers `{asked}` with `{answer}`")]
    Refused { asked: String, answer: String },
    #[error("the engine cannot play this match: {0}")]
    CannotPlay(String),
    #[error("the engine does not stop thinking; it is started again for the next match")]
    Stuck,
    #[error("the referee sends what cannot be read")]
    Unreadable(#[from] serde_json::Error),
    #[error("the streams of the bridge")]
    Io(#[from] io::Error),
}

impl Trouble {
    /// The exit code of the bridge: that of the engine, if it has ended by itself with an error.
    pub(crate) fn code(&self) -> u8 {
        let Trouble::Ended { status, .. } = self else { return FAILED };
        let code = status.code().or_else(|| Some(128 + status.signal()?));
        code.and_then(|code| u8::try_from(code).ok()).filter(|&code| code > 0).unwrap_or(FAILED)
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("has ended with status {code}"),
        (None, signal) => format!("was killed by signal {}", signal.unwrap_or_default()),
    }
}

fn last_line(last: &str) -> String {
    if last.is_empty() { String::new() } else { format!("; its last line is `{last}`") }
}
