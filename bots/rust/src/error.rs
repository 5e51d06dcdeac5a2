//! Errors of the SDK.

use std::{fmt, io};

/// Reasons why a bot stopped before the referee's `bye`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing failed.
    Io(io::Error),
    /// The connection could not be established.
    Unreachable { address: String, source: io::Error },
    /// The referee rejected the bot before its first match, for example for a wrong token.
    Refused {
        /// The code of the referee's `error`, such as `wrong_token`.
        code: String,
        message: String,
    },
    /// The command line is invalid.
    Usage(String),
    /// The bot chose an index beyond the legal moves.
    NoSuchMove {
        index: usize,
        /// The number of legal moves in the turn.
        legal: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(source) => write!(f, "lost the referee: {source}"),
            Error::Unreachable { address, source } => write!(f, "no referee at {address}: {source}"),
            Error::Refused { code, message } => {
                write!(f, "the referee refused the bot: {code}: {message}")
            }
            Error::Usage(what) => f.write_str(what),
            Error::NoSuchMove { index, legal } => {
                write!(
                    f,
                    "the bot chose legal[{index}], but the turn has {legal} legal moves, counted from 0"
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(source) | Error::Unreachable { source, .. } => Some(source),
            Error::Refused { .. } | Error::Usage(_) | Error::NoSuchMove { .. } => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Error::Io(source)
    }
}
