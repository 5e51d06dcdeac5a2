//! The versions of the rules of a ladder: which files have changed, and since which match the new ones are played.

use std::fmt;
use std::path::Path;

use referee_game::erased::Rules;
use referee_league::{League, RulesVersion};
use referee_match::record::differing_files;
use referee_program::{keep, version};
use referee_store::{StoreError, now, utc};

use crate::RunError;
use crate::league::config::LadderGame;

/// Files of the rules of a ladder that have changed.
#[derive(Debug)]
pub struct ChangedRules {
    /// The files that differ.
    pub files: Vec<String>,
    /// The first match that is played with them, and when that was, in UTC; `None` until the league is played again.
    pub since: Option<(u32, String)>,
}

impl fmt::Display for ChangedRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.files.join(", ");
        match &self.since {
            Some((number, at)) => write!(f, "{files}: changed; played since match {number} ({at})"),
            None => write!(f, "{files}: changed; played after a restart of the server"),
        }
    }
}

impl ChangedRules {
    /// Every change of the rules of a ladder, the latest last, including one that is not played yet.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn all(league: &League, ladder: &str, game: &LadderGame) -> Result<Vec<ChangedRules>, StoreError> {
        let versions = league.rules_versions(ladder)?;
        let pending = changed(&versions, game).map(|files| ChangedRules { files, since: None });
        let played = versions.into_iter().skip(1).map(ChangedRules::of);
        Ok(played.chain(pending).collect())
    }

    fn of(version: RulesVersion) -> ChangedRules {
        ChangedRules { files: version.changed, since: Some((version.since, version.at)) }
    }
}

/// The files of a ladder's game that differ from those of the version that was played last, if it was another one.
fn changed(versions: &[RulesVersion], game: &LadderGame) -> Option<Vec<String>> {
    let last = versions.last().filter(|last| version(game.rules).as_ref() != Some(&last.version))?;
    let mut kept = game.catalog.versions(game.rules.meta().id);
    let kept = kept.find(|rules| version(*rules).as_ref() == Some(&last.version));
    let files = kept.and_then(Rules::program).zip(game.rules.program());
    Some(files.map_or_else(Vec::new, |(before, now)| differing_files(before, now)))
}

/// Keeps the rules of a ladder that is about to be played in its directory, and notes since which match they are played.
pub(super) fn note_rules(
    league: &mut League,
    ladder: &str,
    game: &LadderGame,
    own: &Path,
    next: u32,
) -> Result<(), RunError> {
    let Some(version) = version(game.rules) else { return Ok(()) };
    keep(game.rules, own)?;
    let versions = league.rules_versions(ladder)?;
    if versions.last().is_some_and(|last| last.version == version) {
        return Ok(());
    }
    let changed = changed(&versions, game).unwrap_or_default();
    if !versions.is_empty() {
        tracing::warn!(
            "{ladder}: {}: changed; played from match {next} on. Earlier matches are replayed with the files in {}",
            changed.join(", "),
            own.join("games").display()
        );
    }
    let version = RulesVersion { version, since: next, at: utc(now()), changed };
    Ok(league.add_rules_version(ladder, version)?)
}
