//! The finals of a ladder, which is a tournament of its own.

use referee_store::{StoreError, damaged};
use serde::{Deserialize, Serialize};

use super::League;

/// The page on which people watch the finals of a ladder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalsLink {
    pub name: String,
    pub url: String,
}

/// The key in the table `league`.
pub(super) fn finals_of(ladder: &str) -> String {
    format!("finals:{ladder}")
}

impl League {
    /// The finals to which the pages of a ladder lead.
    ///
    /// # Errors
    /// Errors of the database, or if the value is damaged.
    pub fn finals(&self, ladder: &str) -> Result<Option<FinalsLink>, StoreError> {
        let key = finals_of(ladder);
        let Some(text) = self.value(&key)? else { return Ok(None) };
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|error| damaged("league", format!("{error}: {text:?}")))
    }
}
