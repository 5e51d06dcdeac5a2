//! Which matches of a run have begun.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// A file with a line for every match that has begun: its id and its entrants by seat, as `m17.2 0,3`. A line costs one
/// write, and is there as soon as it is made, whatever becomes of the process. The file is locked: a run is played by
/// one process at a time.
#[derive(Debug)]
pub struct Journal(File);

impl Journal {
    /// Opens or makes it.
    ///
    /// # Errors
    /// Those of the disk; `WouldBlock` when another process has it open.
    pub fn open(path: &Path) -> io::Result<Journal> {
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Journal(file))
    }

    /// A match begins.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn begin(&mut self, id: &str, entrants: &[usize]) -> io::Result<()> {
        let entrants: Vec<String> = entrants.iter().map(ToString::to_string).collect();
        self.0.write_all(format!("{id} {}\n", entrants.join(",")).as_bytes())
    }

    /// All that has begun, in order: ids and entrants. A line that was cut off is left out: nothing followed from it.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn read(&mut self) -> io::Result<Vec<(String, Vec<usize>)>> {
        let mut text = String::new();
        self.0.rewind()?;
        self.0.read_to_string(&mut text)?;
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
