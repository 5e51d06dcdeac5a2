//! A bot of a comparison, as its results identify it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use referee_game::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The characters shown of a hash.
const SHORT: usize = 12;

/// A bot of a comparison of two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedBot {
    /// The command line, or `tcp:NAME`.
    pub command: String,
    /// The working directory; omitted if that is the referee's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// The commit that git has checked out where its program is, with `-dirty` if tracked files differ from it, or
    /// `-unchecked` if the checkout belongs to another user; omitted elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The SHA-256 of the changes of tracked files; omitted without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// The SHA-256 of its program, its scripts and the files that are named beside them, by path.
    pub files: BTreeMap<String, String>,
}

fn short(hash: &str) -> &str {
    hash.get(..SHORT).unwrap_or(hash)
}

impl TestedBot {
    fn hashes(&self) -> Vec<&String> {
        let mut hashes: Vec<&String> = self.files.values().collect();
        hashes.sort_unstable();
        hashes
    }

    /// The difference from the bot that played earlier: the first of its files that is another one, or its
    /// commit. The same files may be in another directory.
    pub fn change(&self, earlier: &TestedBot) -> Option<String> {
        if self.hashes() != earlier.hashes() {
            let differing = |path: &&String| self.files.get(*path) != earlier.files.get(*path);
            let path = self.files.keys().chain(earlier.files.keys()).find(differing)?;
            return Some(match (earlier.files.get(path), self.files.get(path)) {
                (Some(old), Some(new)) => format!("SHA-256 of {path} is {}, was {}", short(new), short(old)),
                (Some(_), None) => format!("{path} is no file of its command line any more"),
                (None, _) => format!("{path} is a new file of its command line"),
            });
        }
        let (now, then) = (self.commit.as_ref()?, earlier.commit.as_ref()?);
        if now != then {
            return Some(format!("its commit is {now}, was {then}"));
        }
        (self.changes != earlier.changes).then(|| format!("files of its checkout {now} are others"))
    }

    /// Returns the identity of the version: its commit with the hash of changes, or a hash of its files.
    pub fn version(&self) -> String {
        match (&self.commit, &self.changes) {
            (Some(commit), None) => commit.clone(),
            (Some(commit), Some(changes)) => format!("{commit}-{}", short(changes)),
            (None, _) => {
                let hashes: String = self.hashes().into_iter().flat_map(|hash| [hash, "\n"]).collect();
                format!("files-{}", short(&hex::encode(&Sha256::digest(hashes))))
            }
        }
    }

    /// The command line, with its files by their names alone.
    pub fn plain_command(&self) -> String {
        let name = |path: &str| Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
        self.files.keys().rev().fold(self.command.clone(), |command, path| match name(path) {
            Some(name) => command.replace(path, &name),
            None => command,
        })
    }

    /// Returns whether another bot has the same program, scripts and named files.
    pub fn has_same_files(&self, other: &TestedBot) -> bool {
        !self.files.is_empty() && self.hashes() == other.hashes()
    }

    /// Returns whether another bot is the same command in the same directory.
    pub fn is_same_command(&self, other: &TestedBot) -> bool {
        (&self.command, &self.directory) == (&other.command, &other.directory)
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
