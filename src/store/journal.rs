//! Which matches of a run have begun.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::thread::sleep;
use std::time::Duration;

use crate::store::Folder;

/// The file of a tournament's folder.
const NAME: &str = "begun";

/// How often a lock is tried, every 10 ms: a process that was just killed keeps it until the system has taken it apart.
const TRIES: u32 = 200;

/// A file with a line for every match that has begun: its id and its entrants by seat, as `m17.2 0,3`. A line costs one
/// write, and is there as soon as it is made, whatever becomes of the process. The file is locked: a run is played by
/// one process at a time. The lock ends with the process, and no bot inherits it.
#[derive(Debug)]
pub struct Journal(File);

impl Journal {
    /// Opens or makes it.
    ///
    /// # Errors
    /// Those of the disk; `WouldBlock` when another process has it open.
    pub fn open(folder: &Folder) -> io::Result<Journal> {
        let file = folder.open_file(NAME, true)?;
        let mut tries = 1;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Journal(file)),
                Err(TryLockError::WouldBlock) if tries < TRIES => tries += 1,
                Err(error) => return Err(error.into()),
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Whether a process has it open, so that the run is played now.
    ///
    /// # Errors
    /// Those of the disk.
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

    /// Matches begin: their ids and entrants.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn begin<'a>(&mut self, matches: impl Iterator<Item = (&'a str, &'a [usize])>) -> io::Result<()> {
        let line = |(id, entrants): (&str, &[usize])| {
            let entrants: Vec<String> = entrants.iter().map(ToString::to_string).collect();
            format!("{id} {}\n", entrants.join(","))
        };
        self.0.write_all(matches.map(line).collect::<String>().as_bytes())
    }

    /// All that has begun, in order: ids and entrants. A line that was cut off is left out: nothing followed from it.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn read(&mut self) -> io::Result<Vec<(String, Vec<usize>)>> {
        let mut text = Vec::new();
        self.0.rewind()?;
        self.0.read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let line = |line: &str| {
            let (id, entrants) = line.split_once(' ')?;
            let entrants: Result<Vec<usize>, _> = entrants.split(',').map(str::parse).collect();
            Some((id.to_owned(), entrants.ok()?))
        };
        Ok(whole.lines().filter_map(line).collect())
    }

    /// Begins anew: everything in it is known elsewhere.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn clear(&mut self) -> io::Result<()> {
        self.0.set_len(0)
    }
}
