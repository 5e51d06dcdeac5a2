//! Errors on which no code branches.

use std::borrow::Cow;
use std::error::Error;
use std::io;

use crate::erased::NotOpened;
#[cfg(feature = "names")]
use crate::name::NameError;
use crate::{Chain, Misconfigured, UnknownGame};

/// A defect as a sentence for people that says what would be right; or its place, with the defect as the
/// source. Errors on which code branches have types of their own.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Wrong {
    what: Cow<'static, str>,
    #[source]
    why: Option<Box<dyn Error + Send + Sync>>,
}

impl Wrong {
    pub const fn new(what: &'static str) -> Wrong {
        Wrong { what: Cow::Borrowed(what), why: None }
    }

    /// Another error on which no code branches, with its sources.
    pub fn of(error: &dyn Error) -> Wrong {
        Chain(error).to_string().into()
    }

    /// This place, in which something is wrong.
    pub fn at(place: impl Into<Cow<'static, str>>, why: impl Into<Box<dyn Error + Send + Sync>>) -> Wrong {
        Wrong { what: place.into(), why: Some(why.into()) }
    }
}

impl From<UnknownGame> for Wrong {
    fn from(error: UnknownGame) -> Wrong {
        Wrong::of(&error)
    }
}

impl From<NotOpened> for Wrong {
    fn from(error: NotOpened) -> Wrong {
        Wrong::of(&error)
    }
}

impl From<Misconfigured> for Wrong {
    fn from(Misconfigured(what): Misconfigured) -> Wrong {
        what.into()
    }
}

#[cfg(feature = "names")]
impl From<NameError> for Wrong {
    fn from(error: NameError) -> Wrong {
        Wrong::of(&error)
    }
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Wrong {
        Wrong::of(&error)
    }
}

impl From<&'static str> for Wrong {
    fn from(what: &'static str) -> Wrong {
        Wrong::new(what)
    }
}

impl From<String> for Wrong {
    fn from(what: String) -> Wrong {
        Wrong { what: what.into(), why: None }
    }
}
