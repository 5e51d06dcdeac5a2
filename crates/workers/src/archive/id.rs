//! The name of an archive.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use referee_game::{Wrong, hex};

/// The SHA-256 of an archive, written as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArchiveId([u8; 32]);

impl ArchiveId {
    pub(super) fn of(hash: Sha256) -> ArchiveId {
        ArchiveId(hash.finalize().into())
    }
}

impl fmt::Display for ArchiveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for ArchiveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ArchiveId {
    type Err = Wrong;
    fn from_str(text: &str) -> Result<ArchiveId, Wrong> {
        hex::decode32(text)
            .map(ArchiveId)
            .ok_or(Wrong::new("an archive is named by 64 lower-case hex digits"))
    }
}

impl TryFrom<String> for ArchiveId {
    type Error = Wrong;
    fn try_from(text: String) -> Result<ArchiveId, Wrong> {
        text.parse()
    }
}

impl From<ArchiveId> for String {
    fn from(id: ArchiveId) -> String {
        id.to_string()
    }
}
