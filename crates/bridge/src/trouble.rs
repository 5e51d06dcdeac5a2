//! Reasons why a bridge ends.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use referee_game::Wrong;

use crate::FAILED;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("the referee is gone")]
    Over,
    #[error("the engine {}{}", ended(*.status), last_line(.last))]
    Ended { status: ExitStatus, last: String },
    #[error("the engine does not stop thinking; it is started again for the next match")]
    Stuck,
    #[error(transparent)]
    Option(Wrong),
    #[error(transparent)]
    Wrong(#[from] Wrong),
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Trouble {
        Wrong::at("the referee sends what cannot be read", error).into()
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Wrong::at("the streams of the bridge", error).into()
    }
}

impl Trouble {
    pub(crate) fn option(what: impl Into<Wrong>) -> Trouble {
        Trouble::Option(what.into())
    }

    pub(crate) fn refused(asked: &str, answer: &str) -> Trouble {
        Wrong::from(format!("the engine answers `{asked}` with `{answer}`")).into()
    }

    pub(crate) fn cannot_play(why: &str) -> Trouble {
        Wrong::from(format!("the engine cannot play this match: {why}")).into()
    }

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

pub(crate) fn last_line(last: &str) -> String {
    if last.is_empty() { String::new() } else { format!("; its last line is `{last}`") }
}
