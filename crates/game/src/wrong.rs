//! Errors on which no code branches.

use std::borrow::Cow;
use std::error::Error;
use std::io;
use std::sync::Arc;

use crate::Chain;
use crate::erased::RulesError;

/// A defect as a sentence for people that says what would be right; or its place, with the defect as the
/// source. Errors that callers tell apart have types of their own. Two are equal if their texts are.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{what}")]
pub struct Wrong {
    what: Cow<'static, str>,
    #[source]
    why: Option<Arc<dyn Error + Send + Sync>>,
}

impl Wrong {
    pub const fn new(what: &'static str) -> Wrong {
        Wrong { what: Cow::Borrowed(what), why: None }
    }

    /// Takes over the text of an error on which no code branches, and of its sources.
    pub fn of(error: &dyn Error) -> Wrong {
        Chain(error).to_string().into()
    }

    /// Names the place of a defect.
    pub fn at(place: impl Into<Cow<'static, str>>, why: impl Into<Box<dyn Error + Send + Sync>>) -> Wrong {
        Wrong { what: place.into(), why: Some(why.into().into()) }
    }
}

impl PartialEq for Wrong {
    fn eq(&self, other: &Wrong) -> bool {
        Chain(self).to_string() == Chain(other).to_string()
    }
}

impl From<RulesError> for Wrong {
    fn from(error: RulesError) -> Wrong {
        match error {
            RulesError::Wrong(wrong) => wrong,
            RulesError::RulesFailed(failed) => Wrong::of(&failed),
        }
    }
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Wrong {
        Wrong::of(&error)
    }
}

impl From<serde_json::Error> for Wrong {
    fn from(error: serde_json::Error) -> Wrong {
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
