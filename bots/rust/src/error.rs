//! Why a bot stopped.

use std::{fmt, io};

/// Why a bot stopped before the referee said so.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing failed.
    Io(io::Error),
    /// No connection came about.
    Unreachable {
        /// Host and port.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// The command line is not right.
    Usage(String),
    /// The bot chose a legal move that there is not.
    NoSuchMove {
        /// What it chose.
        index: usize,
        /// How many legal moves the turn had.
        legal: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(source) => write!(f, "lost the referee: {source}"),
            Error::Unreachable { address, source } => write!(f, "no referee at {address}: {source}"),
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
            Error::Usage(_) | Error::NoSuchMove { .. } => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Error::Io(source)
    }
}
