//! A bot of a comparison, as its results identify it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One of the two bots of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedBot {
    /// Its command line, or `tcp:NAME`.
    pub command: String,
    /// Its working directory; omitted if that is the referee's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// The commit that git has checked out where its program is, with `-dirty` if tracked files differ from it; omitted
    /// elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The SHA-256 of its program and scripts, by path.
    pub files: BTreeMap<String, String>,
}

impl TestedBot {
    /// The first of its files that is not the same as earlier, and how it differs.
    pub fn changed_file(&self, earlier: &TestedBot) -> Option<String> {
        let short = |hash: &str| hash.get(..12).unwrap_or(hash).to_owned();
        let differing = |path: &&String| self.files.get(*path) != earlier.files.get(*path);
        let path = self.files.keys().chain(earlier.files.keys()).find(differing)?;
        Some(match (earlier.files.get(path), self.files.get(path)) {
            (Some(old), Some(new)) => format!("SHA-256 of {path} is {}, was {}", short(new), short(old)),
            (Some(_), None) => format!("{path} is no file of its command line any more"),
            (None, _) => format!("{path} is a new file of its command line"),
        })
    }

    /// Whether another bot has the same program and scripts, though not the same command line and directory.
    pub fn is_other_command_of_same_files(&self, other: &TestedBot) -> bool {
        let hashes = |bot: &TestedBot| bot.files.values().cloned().collect::<Vec<_>>();
        let (mut own, mut others) = (hashes(self), hashes(other));
        own.sort_unstable();
        others.sort_unstable();
        let is_same_command = (&self.command, &self.directory) == (&other.command, &other.directory);
        !own.is_empty() && own == others && !is_same_command
    }
}

impl std::fmt::Display for TestedBot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.command)?;
        if let Some(directory) = &self.directory {
            write!(f, " in {}", directory.display())?;
        }
        if let Some(commit) = &self.commit {
            write!(f, ", commit {commit}")?;
        }
        Ok(())
    }
}
