//! The journals of the matches in progress.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use referee_game::Wrong;
use referee_game::json::{Object, opening};
use serde::{Deserialize, Serialize};

use crate::Folder;

/// The version of the format of journals.
const FORMAT: u32 = 1;
/// The suffix of a journal that cannot be used.
const SET_ASIDE: &str = ".damaged";

/// The maximum number of files of ended matches that are kept open, to be used again.
const KEPT: usize = 64;
/// The length up to which the file of a journal is used again, in bytes.
const REUSED: u64 = 64 * 1024;
/// The last line of a journal that is on the disk completely.
const CLOSED: &[u8] = b"{\"type\":\"closed\"}\n";

/// A directory with a journal for each match in progress, named by the match and readable by its owner only:
/// it has secrets of the match. Writing does not wait for the disk, so that a journal is valid until the
/// machine stops, unless it was closed before.
#[derive(Clone, Debug)]
pub struct RunningMatches(Arc<JournalFolder>);

/// The directory, and files for further journals: a file system needs much longer to create, extend and remove a file than
/// to rename and overwrite one.
#[derive(Debug)]
struct JournalFolder {
    folder: Folder,
    /// The files of matches that have ended, and the lengths of their journals, by id: their results may not be stored yet.
    ended: Mutex<BTreeMap<String, (File, u64)>>,
    /// Files of zeros, with the ids of earlier matches.
    free: Mutex<Vec<(String, File)>>,
}

impl Drop for JournalFolder {
    fn drop(&mut self) {
        for (id, _) in self.free.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // The next server removes files without a line too.
            let _ = self.folder.remove(&id);
        }
    }
}

/// The first line that a process writes to a journal.
#[derive(Debug, Serialize, Deserialize)]
struct FirstLine {
    format: u32,
    /// The start of the machine during which it was written; `None` where this is unknown.
    boot: Option<String>,
}

/// Reports that a match does not continue from its journal.
fn unusable(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

impl FirstLine {
    const START: &[u8] = b"{\"type\":\"journal\",";

    fn today() -> FirstLine {
        static BOOT: OnceLock<Option<String>> = OnceLock::new();
        let read = || fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let boot = BOOT.get_or_init(|| Some(read()?.trim().to_owned()));
        FirstLine { format: FORMAT, boot: boot.clone() }
    }

    fn line(&self) -> Vec<u8> {
        let mut line = Vec::new();
        Object::open(&mut line, opening!("journal")).fields(self).end_line();
        line
    }

    fn check(&self, is_closed: bool) -> Result<(), Wrong> {
        let FirstLine { boot, .. } = FirstLine::today();
        if self.format != FORMAT {
            return Err(format!("journal format {}; this program reads {FORMAT}", self.format).into());
        }
        if self.boot != boot && !is_closed {
            return Err("the machine was restarted, so that its end may be missing".into());
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
    /// The length in bytes.
    length: u64,
    /// Whether the journal was continued: then the file is open for appending, and cannot be overwritten for another match.
    is_continued: bool,
    shared: Arc<JournalFolder>,
}

impl RunningMatches {
    /// Opens the directory in that of a ladder; creates it if it is missing.
    ///
    /// # Errors
    /// If it cannot be created or opened.
    pub fn open(ladder: &Folder) -> io::Result<RunningMatches> {
        let folder = ladder.make_within("running")?;
        Ok(RunningMatches(Arc::new(JournalFolder {
            folder,
            ended: Mutex::default(),
            free: Mutex::default(),
        })))
    }

    /// Creates the journal of a match.
    ///
    /// # Errors
    /// I/O errors, or if it exists.
    pub fn begin(&self, id: &str) -> io::Result<RunningMatch> {
        let free = lock(&self.0.free).pop();
        let reuse = |(earlier, file): (String, File)| self.0.folder.rename(&earlier, id).ok().map(|()| file);
        let file = match free.and_then(reuse) {
            Some(file) => file,
            None => self.0.folder.create(id)?,
        };
        let mut journal = self.journal(id, file);
        journal.write(&FirstLine::today().line()).inspect_err(|_| journal.discard())?;
        Ok(journal)
    }

    fn journal(&self, id: &str, file: File) -> RunningMatch {
        let shared = self.0.clone();
        RunningMatch { id: id.to_owned(), file: Some(file), length: 0, is_continued: false, shared }
    }

    /// The ids of the matches with a journal.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn ids(&self) -> io::Result<Vec<String>> {
        let mut ids = self.0.folder.names()?;
        ids.retain(|name| !name.ends_with(SET_ASIDE));
        ids.sort_unstable();
        Ok(ids)
    }

    /// Continues a journal. Returns the complete lines of the match, and how long ago it was written last, in
    /// microseconds. An incomplete last line is removed: its effects were not sent.
    ///
    /// # Errors
    /// If it cannot be read, or was written by another version or, without being closed, before the machine was
    /// restarted.
    pub fn resume(&self, id: &str) -> io::Result<(RunningMatch, Vec<u8>, u64)> {
        let mut lines = self.0.folder.read(id)?;
        // A file that is used again is longer than its journal.
        lines.truncate(lines.iter().rposition(|&byte| byte != 0).map_or(0, |end| end + 1));
        lines.truncate(lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        let is_closed = lines.ends_with(CLOSED);
        lines.truncate(lines.len() - if is_closed { CLOSED.len() } else { 0 });
        let file = self.0.folder.open_file(id, true)?;
        let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
        let mut rest = Vec::with_capacity(lines.len());
        let mut last = None;
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            if last.is_none() || line.starts_with(FirstLine::START) {
                last = Some(serde_json::from_slice::<FirstLine>(line).map_err(unusable)?);
            } else {
                rest.extend_from_slice(line);
            }
        }
        if let Some(last) = last {
            last.check(is_closed).map_err(unusable)?;
        }
        file.set_len(lines.len() as u64)?;
        let mut journal = self.journal(id, file);
        (journal.length, journal.is_continued) = (lines.len() as u64, true);
        if is_closed {
            // Not closed any more, also if the machine stops.
            journal.sync()?;
            journal.append(&FirstLine::today().line());
        }
        Ok((journal, rest, age.as_micros() as u64))
    }

    /// Removes the journal of a match whose result is stored, if there is one.
    ///
    /// # Errors
    /// I/O errors.
    pub fn remove(&self, id: &str) -> io::Result<()> {
        let ended = lock(&self.0.ended).remove(id);
        let clear =
            |(file, length): (File, u64)| file.write_all_at(&vec![0; length as usize], 0).ok().map(|()| file);
        match ended.filter(|&(_, length)| length <= REUSED).and_then(clear) {
            Some(file) => lock(&self.0.free).push((id.to_owned(), file)),
            None => self.0.folder.remove(id)?,
        }
        Ok(())
    }

    /// Renames a journal that cannot be used. Returns the new name.
    ///
    /// # Errors
    /// I/O errors, or if the new name is in use.
    pub fn set_aside(&self, id: &str) -> io::Result<String> {
        let name = format!("{id}{SET_ASIDE}");
        lock(&self.0.ended).remove(id);
        self.0.folder.rename(id, &name)?;
        Ok(self.0.folder.path().join(name).display().to_string())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunningMatch {
    /// Appends complete lines. After an error the match continues without a journal.
    pub fn append(&mut self, lines: &[u8]) {
        if let Err(error) = self.write(lines) {
            let id = &self.id;
            tracing::warn!(
                "{id}: its journal cannot be written: {error}; it will not continue after a restart"
            );
            self.discard();
        }
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if let Some(file) = &self.file {
            file.write_all_at(lines, self.length)?;
            self.length += lines.len() as u64;
        }
        Ok(())
    }

    /// Waits until the journal is on the disk, so that the match can continue after a restart of the machine.
    pub fn close(&mut self) {
        self.append(CLOSED);
        if let Err(error) = self.sync() {
            let id = &self.id;
            tracing::warn!("{id}: its journal may not survive a restart of the machine: {error}");
        }
    }

    fn sync(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        file.sync_data()?;
        self.shared.folder.sync()
    }

    pub fn discard(&mut self) {
        if self.file.take().is_some()
            && let Err(error) = self.shared.folder.remove(&self.id)
        {
            tracing::warn!("{}: its journal cannot be removed: {error}", self.id);
        }
    }
}

impl Drop for RunningMatch {
    fn drop(&mut self) {
        if let Some(file) = self.file.take().filter(|_| !self.is_continued) {
            let free = lock(&self.shared.free).len();
            let mut ended = lock(&self.shared.ended);
            if ended.len() + free < KEPT {
                ended.insert(std::mem::take(&mut self.id), (file, self.length));
            }
        }
    }
}
