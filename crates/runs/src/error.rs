//! Reasons why something cannot be opened, played, recovered, verified or judged.

use std::borrow::Cow;
use std::error::Error;
use std::io;
use std::path::Path;

use referee_bots::StartError;
use referee_bots::sandbox::Unavailable;
use referee_engine::runner::RunFailure;
use referee_game::Wrong;
use referee_league::ActError;
use referee_match::record::OtherRules;
use referee_report::site::SiteError;
use referee_stats::schedule::ScheduleError;
use referee_store::StoreError;
use referee_workers::packing::NotPacked;

/// An error of a run: the variant says whether the user or the machine is wrong.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Settings, a file or a directory that the user gave.
    #[error(transparent)]
    Wrong(Box<dyn Error + Send + Sync>),
    /// Other files than those with which a run began.
    #[error(transparent)]
    Changed(Wrong),
    /// An error of the disk, the network or a process.
    #[error(transparent)]
    Machine(io::Error),
}

impl RunError {
    pub fn machine(why: impl Into<Box<dyn Error + Send + Sync>>) -> RunError {
        RunError::Machine(io::Error::other(why))
    }

    /// Adds the place of the error.
    pub(crate) fn within(self, place: impl Into<Cow<'static, str>>) -> RunError {
        match self {
            RunError::Wrong(why) => Wrong::at(place, why).into(),
            RunError::Changed(why) => RunError::Changed(Wrong::at(place, why)),
            RunError::Machine(why) => RunError::Machine(io::Error::new(why.kind(), Wrong::at(place, why))),
        }
    }

    /// The error of a file that the user gave: it is the wrong one if it is missing or too large.
    pub(crate) fn unreadable(place: impl Into<Cow<'static, str>>, why: io::Error) -> RunError {
        match why.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge => Wrong::at(place, why).into(),
            _ => RunError::from(why).within(place),
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn of_ladder(ladder: &str, why: impl Into<RunError>) -> RunError {
        RunError::machine(Wrong::at(format!("ladder {ladder}"), why.into()))
    }

    /// An error of the machine with this file or directory.
    pub(crate) fn at(path: &Path, why: impl Into<Box<dyn Error + Send + Sync>>) -> RunError {
        RunError::machine(Wrong::at(path.display().to_string(), why))
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> RunError {
        RunError::Machine(error)
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> RunError {
        RunError::Machine(io::Error::new(error.kind(), error))
    }
}

impl From<SiteError> for RunError {
    fn from(error: SiteError) -> RunError {
        match error {
            SiteError::Foreign(_) => RunError::Wrong(error.into()),
            error => RunError::machine(error),
        }
    }
}

impl From<Unavailable> for RunError {
    fn from(error: Unavailable) -> RunError {
        match error {
            Unavailable::Limit(what) => RunError::Wrong(what.into()),
            error => RunError::machine(error),
        }
    }
}

impl From<ActError> for RunError {
    fn from(error: ActError) -> RunError {
        match error {
            ActError::Store(error) => error.into(),
            error => RunError::Wrong(error.into()),
        }
    }
}

macro_rules! from {
    ($make:path: $($error:ty),+) => {
        $(impl From<$error> for RunError {
            fn from(error: $error) -> RunError {
                let why: Box<dyn Error + Send + Sync> = error.into();
                $make(why)
            }
        })+
    };
}

from!(RunError::Wrong: Wrong, OtherRules, ScheduleError, NotPacked);
from!(RunError::machine: RunFailure, StartError, serde_json::Error, toml::ser::Error);

impl From<&'static str> for RunError {
    fn from(what: &'static str) -> RunError {
        Wrong::new(what).into()
    }
}

impl From<String> for RunError {
    fn from(what: String) -> RunError {
        Wrong::from(what).into()
    }
}

impl From<RunError> for Wrong {
    fn from(error: RunError) -> Wrong {
        Wrong::of(&error)
    }
}
