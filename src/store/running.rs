//! The journals of the matches in progress.

use std::fs::{self, File};
use std::io::{self, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::core::json::{Object, opening};
use crate::store::Folder;

/// The version of the format of journals.
const FORMAT: u32 = 1;
/// What follows the name of a journal that cannot be used.
const SET_ASIDE: &str = ".damaged";

/// A directory with a journal for each match in progress, named by the match and readable by its owner only: it has what
/// the bots of the match must not know. Nothing waits for the disk, so that journals are valid until the machine stops.
#[derive(Clone, Debug)]
pub struct RunningMatches(Arc<Folder>);

/// The first line of a journal.
#[derive(Debug, Serialize, Deserialize)]
struct FirstLine {
    format: u32,
    /// The start of the machine during which it was written; `None` where this is unknown.
    boot: Option<String>,
}

impl FirstLine {
    fn today() -> FirstLine {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        FirstLine { format: FORMAT, boot: boot.map(|id| id.trim().to_owned()) }
    }

    fn check(&self) -> Result<(), String> {
        let FirstLine { boot, .. } = FirstLine::today();
        if self.format != FORMAT {
            return Err(format!("journal format {}; this program reads {FORMAT}", self.format));
        }
        if self.boot != boot {
            return Err("the machine was restarted, so that its end may be missing".to_owned());
        }
        Ok(())
    }
}

/// The open journal of a match.
#[derive(Debug)]
pub struct RunningMatch {
    id: String,
    /// `None` after an error.
    file: Option<File>,
    folder: Arc<Folder>,
}

impl RunningMatches {
    /// Opens the directory in that of a ladder; creates it if it is missing.
    ///
    /// # Errors
    /// If it cannot be created or opened.
    pub fn open(ladder: &Folder) -> io::Result<RunningMatches> {
        Ok(RunningMatches(Arc::new(ladder.make_within("running")?)))
    }

    /// Creates the journal of a match.
    ///
    /// # Errors
    /// I/O errors, or if it exists.
    pub fn begin(&self, id: &str) -> io::Result<RunningMatch> {
        let mut file = self.0.create(id)?;
        let mut first = Vec::new();
        Object::open(&mut first, opening!("journal")).fields(&FirstLine::today()).end_line();
        let written = file.write_all(&first);
        let journal = RunningMatch { id: id.to_owned(), file: Some(file), folder: self.0.clone() };
        written.inspect_err(|_| journal.remove())?;
        Ok(journal)
    }

    /// The ids of the matches with a journal.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn ids(&self) -> io::Result<Vec<String>> {
        let mut ids = self.0.names()?;
        ids.retain(|name| !name.ends_with(SET_ASIDE));
        ids.sort_unstable();
        Ok(ids)
    }

    /// Continues a journal. Returns its complete lines after the first, and how long ago it was written last, in
    /// microseconds. An incomplete last line is removed: its effects were not sent.
    ///
    /// # Errors
    /// If it cannot be read, or was written by another version or before the machine was restarted.
    pub fn resume(&self, id: &str) -> io::Result<(RunningMatch, Vec<u8>, u64)> {
        let mut lines = self.0.read(id)?;
        lines.truncate(lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        let file = self.0.open_file(id, true)?;
        let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
        file.set_len(lines.len() as u64)?;
        let rest = match lines.iter().position(|&byte| byte == b'\n') {
            None => Vec::new(),
            Some(end) => {
                let first: FirstLine = serde_json::from_slice(&lines[..end]).map_err(io::Error::other)?;
                first.check().map_err(io::Error::other)?;
                lines.split_off(end + 1)
            }
        };
        let journal = RunningMatch { id: id.to_owned(), file: Some(file), folder: self.0.clone() };
        Ok((journal, rest, age.as_micros() as u64))
    }

    /// Removes the journal of a match whose result is stored, if there is one.
    ///
    /// # Errors
    /// I/O errors.
    pub fn remove(&self, id: &str) -> io::Result<()> {
        self.0.remove(id)
    }

    /// Renames a journal that cannot be used. Returns the new name.
    ///
    /// # Errors
    /// I/O errors, or if the new name is in use.
    pub fn set_aside(&self, id: &str) -> io::Result<String> {
        let name = format!("{id}{SET_ASIDE}");
        self.0.rename(id, &name)?;
        Ok(self.0.path().join(name).display().to_string())
    }
}

impl RunningMatch {
    /// Appends complete lines. After an error the match goes on without a journal.
    pub fn append(&mut self, lines: &[u8]) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(lines) {
            let id = &self.id;
            tracing::warn!(
                "{id}: its journal cannot be written: {error}; it will not continue after a restart"
            );
            self.discard();
        }
    }

    /// Removes the journal.
    pub fn discard(&mut self) {
        if self.file.take().is_some() {
            self.remove();
        }
    }

    fn remove(&self) {
        if let Err(error) = self.folder.remove(&self.id) {
            tracing::warn!("{}: its journal cannot be removed: {error}", self.id);
        }
    }
}
