//! The journal of match starts of a run.

use std::fs::{File, TryLockError};
use std::io::{self, Seek, Write};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use crate::regular::{MOST_READ, read_limited};
use crate::{Folder, StorageWait};

/// The file name in the tournament's directory.
const NAME: &str = "begun";

/// The number of tries to lock, one every 10 ms: a process that was just killed holds its lock until the
/// system has cleaned it up.
const TRIES: u32 = 200;

/// A file with a line for every match that has started: its id and its entrants by seat, as `m17.2 0,3`. A line costs
/// one write, and survives the end of the process. The file is locked, so that only one process plays the run. The
/// lock ends with the process, and bots do not inherit it.
#[derive(Debug)]
pub struct Journal {
    file: Arc<File>,
    is_durable: bool,
    wait: StorageWait,
}

impl Journal {
    /// Opens or creates it.
    ///
    /// # Errors
    /// I/O errors; `WouldBlock` if another process has locked it.
    pub fn open(folder: &Folder) -> io::Result<Journal> {
        let file = folder.open_file(NAME, true)?;
        let mut tries = 1;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    let (file, wait) = (Arc::new(file), StorageWait::default());
                    return Ok(Journal { file, is_durable: false, wait });
                }
                Err(TryLockError::WouldBlock) if tries < TRIES => tries += 1,
                Err(error) => return Err(error.into()),
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Returns another handle of it. The lock lasts until both are closed.
    #[must_use]
    pub fn share(&self) -> Journal {
        let Journal { file, is_durable, wait } = self;
        Journal { file: Arc::clone(file), is_durable: *is_durable, wait: wait.clone() }
    }

    /// Lets the journal wait for the disk, so that entries survive a power failure too.
    #[must_use]
    pub fn durable(self) -> Journal {
        Journal { is_durable: true, ..self }
    }

    /// Lets the journal wait while the disk is full.
    #[must_use]
    pub fn waiting(self, wait: StorageWait) -> Journal {
        Journal { wait, ..self }
    }

    /// Returns whether a process has locked it, so that the run is in progress.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn is_open(folder: &Folder) -> io::Result<bool> {
        if !folder.has_file(NAME)? {
            return Ok(false);
        }
        match folder.open_file(NAME, false)?.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(false),
        }
    }

    /// Records the start of matches, with their ids and entrants.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn begin<'a>(&mut self, matches: impl Iterator<Item = (&'a str, &'a [usize])>) -> io::Result<()> {
        let line = |(id, entrants): (&str, &[usize])| {
            let entrants: Vec<String> = entrants.iter().map(ToString::to_string).collect();
            format!("{id} {}\n", entrants.join(","))
        };
        let lines: String = matches.map(line).collect();
        let Journal { file, is_durable, wait } = self;
        let end = file.metadata()?.len();
        wait.retry("the journal of matches", || {
            let written = (&**file).write_all(lines.as_bytes());
            written.and_then(|()| if *is_durable { file.sync_data() } else { Ok(()) }).inspect_err(|_| {
                // Part of it may have been written. The first error is reported.
                let _ = file.set_len(end);
            })
        })
    }

    /// Reads all entries, in order: ids and entrants. A truncated line is ignored: its match had not started.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn read(&mut self) -> io::Result<Vec<(String, Vec<usize>)>> {
        (&*self.file).rewind()?;
        let text = read_limited(&*self.file, MOST_READ)?;
        let text = String::from_utf8_lossy(&text);
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let line = |line: &str| {
            let (id, entrants) = line.split_once(' ')?;
            let entrants: Result<Vec<usize>, _> = entrants.split(',').map(str::parse).collect();
            Some((id.to_owned(), entrants.ok()?))
        };
        Ok(whole.lines().filter_map(line).collect())
    }

    /// Removes all entries.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)
    }
}
