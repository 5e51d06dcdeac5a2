//! A folder of records.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder that takes one file a match.
#[derive(Clone, Debug)]
pub struct Records(PathBuf);

/// Where a record is as long as its seal would tell the deal of a match that is still to be played.
pub fn unsealed(record: &Path) -> PathBuf {
    record.with_extension("unsealed")
}

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

    /// Takes a folder that may hold records already, of a run that goes on.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn reopen(folder: &Path) -> io::Result<Records> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
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
        self.write(&self.path(match_id), record)
    }

    /// Keeps the record of a match that is not sealed yet, beside the one that [`Records::keep`] will keep.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn set_aside(&self, match_id: &str, record: &[u8]) -> io::Result<()> {
        self.write(&self.aside(match_id), record)
    }

    /// The matches whose records are set aside, in no order.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn set_aside_matches(&self) -> io::Result<Vec<String>> {
        let mut matches = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let path = entry?.path();
            if let (Some(name), Some("unsealed")) =
                (path.file_stem(), path.extension().and_then(|extension| extension.to_str()))
            {
                matches.push(name.to_string_lossy().into_owned());
            }
        }
        Ok(matches)
    }

    /// Removes what was set aside for a match, if anything was.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn put_away(&self, match_id: &str) -> io::Result<()> {
        match fs::remove_file(self.aside(match_id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// What was set aside for a match.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn take_up(&self, match_id: &str) -> io::Result<Vec<u8>> {
        fs::read(self.aside(match_id))
    }

    fn aside(&self, match_id: &str) -> PathBuf {
        unsealed(&self.path(match_id))
    }

    fn write(&self, path: &Path, record: &[u8]) -> io::Result<()> {
        let mut unfinished = path.to_owned().into_os_string();
        unfinished.push(".part");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(record)?;
        fs::rename(&unfinished, path)
    }
}
