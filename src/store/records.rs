//! A folder of records.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder that takes one file a match.
#[derive(Clone, Debug)]
pub struct Records(PathBuf);

impl Records {
    /// Makes the folder, which nobody else may read, or takes an existing one without records.
    ///
    /// # Errors
    /// When it cannot be made or read, or holds records already: nothing recorded is ever overwritten.
    pub fn open(folder: &Path) -> io::Result<Records> {
        if folder.exists() && !folder.is_dir() {
            let what = "it is no folder: name a new or an empty one";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                let what = format!("it holds {} already: name a new or an empty folder", path.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
        }
        Ok(Records(folder.to_owned()))
    }

    /// Where the record of a match is kept.
    pub fn path(&self, match_id: &str) -> PathBuf {
        self.0.join(format!("{match_id}.jsonl"))
    }

    /// Keeps the record of a match. It is there whole or not at all.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn keep(&self, match_id: &str, record: &[u8]) -> io::Result<()> {
        let path = self.path(match_id);
        let unfinished = self.0.join(format!("{match_id}.jsonl.part"));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(record)?;
        fs::rename(&unfinished, &path)
    }
}
