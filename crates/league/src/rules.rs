//! Versions of the rules that a ladder has played, if they are a program.

use serde::{Deserialize, Serialize};

use super::League;
use referee_game::json;
use referee_store::StoreError;
use referee_store::from_json;

/// A version of the rules of a ladder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesVersion {
    /// The identity of the files.
    pub version: String,
    /// The number of the first match that is played with it.
    pub since: u32,
    /// The time of the first match with these rules, in UTC.
    pub at: String,
    /// The files that differ from those of the version before; none for the first version.
    pub changed: Vec<String>,
}

impl League {
    fn rules_key(ladder: &str) -> String {
        format!("rules:{ladder}")
    }

    /// The versions of the rules of a ladder, the latest last; none if they are part of the referee.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn rules_versions(&self, ladder: &str) -> Result<Vec<RulesVersion>, StoreError> {
        let text = self.value(&League::rules_key(ladder))?;
        let read = |text: String| from_json(&format!("table `league`, row `rules:{ladder}`"), &text);
        Ok(text.map(read).transpose()?.unwrap_or_default())
    }

    /// Notes another version of the rules of a ladder.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn add_rules_version(&mut self, ladder: &str, version: RulesVersion) -> Result<(), StoreError> {
        let mut versions = self.rules_versions(ladder)?;
        versions.push(version);
        self.set_value(&League::rules_key(ladder), &json::text(&versions))
    }
}
