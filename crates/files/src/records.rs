//! A directory of records.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::{Folder, StorageWait, keep_private};

/// A directory with one file per match.
#[derive(Clone, Debug)]
pub struct Records {
    inner: Arc<RecordFiles>,
    wait: StorageWait,
}

#[derive(Debug)]
struct RecordFiles {
    folder: Folder,
    is_durable: bool,
    /// Files written since the last [`Records::sync`].
    unsynced: Mutex<Vec<String>>,
    /// Files to be removed once those are on the disk.
    obsolete: Mutex<Vec<String>>,
}

/// The path of an unsealed record, whose seal would reveal the deal of a match that is still to be played.
pub fn unsealed(record: &Path) -> PathBuf {
    record.with_extension("unsealed")
}

/// Returns the time at which a record was written.
///
/// # Errors
/// Errors of the disk.
pub fn written_at(record: &Path) -> io::Result<SystemTime> {
    std::fs::metadata(record)?.modified()
}

/// File name extensions: a record, an unsealed record, a record that is being written.
const ENDINGS: [&str; 3] = [".jsonl", ".unsealed", ".part"];

impl Records {
    /// Opens this directory, created if missing; if it contains records of an earlier run, the first of `FOLDER-2`,
    /// `FOLDER-3`, ... without records. So no record is overwritten, and runs are not mixed. New directories are
    /// readable by their owner only. `is_durable`: [`Records::sync`] waits for the disk.
    ///
    /// # Errors
    /// If it cannot be created or read, or if its path ends in a name that cannot be numbered.
    pub fn open(folder: &Path, is_durable: bool) -> io::Result<Records> {
        let first = Folder::make(folder)?;
        if !holds_records(&first)? {
            return Ok(Records::of(first, is_durable));
        }
        let name = folder.file_name().ok_or_else(|| {
            let what = format!("{}: it contains records: name a new or an empty directory", folder.display());
            io::Error::new(io::ErrorKind::AlreadyExists, what)
        })?;
        let mut number = 2_u64;
        loop {
            let mut next = name.to_owned();
            next.push(format!("-{number}"));
            let next = Folder::make(&folder.with_file_name(next))?;
            if !holds_records(&next)? {
                let (old, new) = (folder.display(), next.path().display());
                tracing::warn!("{old} contains the records of an earlier run: using {new}");
                return Ok(Records::of(next, is_durable));
            }
            number += 1;
        }
    }

    /// Opens the directory `records` of a tournament, which may contain records. Removes incomplete files of a killed
    /// process.
    ///
    /// # Errors
    /// If it cannot be created, or if the name of a record belongs to something else.
    pub fn reopen(tournament: &Folder, is_durable: bool) -> io::Result<Records> {
        let folder = tournament.make_within("records")?;
        for name in folder.files(is_record)? {
            if name.ends_with(".part") {
                folder.remove(&name)?;
            }
        }
        if is_durable {
            // The directory itself may be new.
            tournament.sync()?;
        }
        Ok(Records::of(folder, is_durable))
    }

    fn of(folder: Folder, is_durable: bool) -> Records {
        keep_private(folder.path());
        let inner =
            RecordFiles { folder, is_durable, unsynced: Mutex::default(), obsolete: Mutex::default() };
        Records { inner: Arc::new(inner), wait: StorageWait::default() }
    }

    /// Waits from now on while the disk is full.
    #[must_use]
    pub fn waiting(self, wait: StorageWait) -> Records {
        Records { wait, ..self }
    }

    pub fn folder(&self) -> &Path {
        self.inner.folder.path()
    }

    pub fn path(&self, match_id: &str) -> PathBuf {
        self.inner.folder.path().join(sealed_name(match_id))
    }

    /// Writes the record of a match. The file appears as a whole or not at all, and survives the end of the process;
    /// call [`Records::sync`] for it to survive a power failure.
    ///
    /// # Errors
    /// I/O errors, or if it exists already.
    pub fn keep(&self, match_id: &str, record: &[u8]) -> io::Result<()> {
        self.write(&sealed_name(match_id), record)
    }

    /// Writes an unsealed record, beside the one that [`Records::keep`] will write.
    ///
    /// # Errors
    /// I/O errors, or if it exists already.
    pub fn keep_unsealed(&self, match_id: &str, record: &[u8]) -> io::Result<()> {
        self.write(&aside_name(match_id), record)
    }

    /// Returns whether [`Records::sync`] waits for the disk.
    pub fn is_durable(&self) -> bool {
        self.inner.is_durable
    }

    /// Waits until everything written is on the disk, unless the run is not durable.
    ///
    /// # Errors
    /// I/O errors, or if the directory has been moved.
    pub fn sync(&self) -> io::Result<()> {
        let RecordFiles { folder, is_durable, unsynced, obsolete } = &*self.inner;
        let take = |names: &Mutex<Vec<String>>| {
            std::mem::take(&mut *names.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let (names, obsolete) = (take(unsynced), take(obsolete));
        if names.is_empty() && obsolete.is_empty() {
            return Ok(());
        }
        folder.check_in_place()?;
        if *is_durable {
            let names = names.iter().filter(|name| !obsolete.contains(name)).map(String::as_str);
            folder.sync_files(&names.collect::<Vec<_>>())?;
        }
        obsolete.iter().try_for_each(|name| folder.remove(name))
    }

    /// The ids of matches with records, and of those with unsealed records, in unspecified order.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn matches(&self) -> io::Result<(Vec<String>, Vec<String>)> {
        let names = self.inner.folder.names()?;
        let with = |ending: &str| {
            names.iter().filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
        };
        Ok((with(".jsonl"), with(".unsealed")))
    }

    /// Removes the unsealed record of a match, if there is one, after the next [`Records::sync`].
    pub fn remove_unsealed(&self, match_id: &str) {
        self.inner.obsolete.lock().unwrap_or_else(PoisonError::into_inner).push(aside_name(match_id));
    }

    /// Renames an invalid record, so that the match can be played again and nothing is lost: `.invalid` is appended to
    /// the name, or `.invalid-2`, ... if that is taken. Returns the new path.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn set_aside(&self, match_id: &str) -> io::Result<PathBuf> {
        self.set_file_aside(&sealed_name(match_id))
    }

    /// Renames an invalid unsealed record, as [`Records::set_aside`] does.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn set_unsealed_aside(&self, match_id: &str) -> io::Result<PathBuf> {
        self.set_file_aside(&aside_name(match_id))
    }

    fn set_file_aside(&self, name: &str) -> io::Result<PathBuf> {
        let folder = &self.inner.folder;
        let mut free = format!("{name}.invalid");
        for number in 2_u64.. {
            match folder.rename(name, &free) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    free = format!("{name}.invalid-{number}");
                }
                renamed => return renamed.map(|()| folder.path().join(free)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Removes an unsealed record, if there is one.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn discard_unsealed(&self, match_id: &str) -> io::Result<()> {
        self.inner.folder.remove(&aside_name(match_id))
    }

    /// Reads the record of a match.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn read(&self, match_id: &str) -> io::Result<Vec<u8>> {
        self.inner.folder.read(&sealed_name(match_id))
    }

    /// Reads an unsealed record.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn read_unsealed(&self, match_id: &str) -> io::Result<Vec<u8>> {
        self.inner.folder.read(&aside_name(match_id))
    }

    fn write(&self, name: &str, record: &[u8]) -> io::Result<()> {
        let RecordFiles { folder, unsynced, .. } = &*self.inner;
        let unfinished = format!("{name}.part");
        self.wait.retry(name, || {
            let written = folder.create(&unfinished)?.write_all(record);
            written.and_then(|()| folder.rename(&unfinished, name)).inspect_err(|_| {
                // The first error is reported.
                let _ = folder.remove(&unfinished);
            })
        })?;
        unsynced.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
        Ok(())
    }
}

fn is_record(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn holds_records(folder: &Folder) -> io::Result<bool> {
    Ok(folder.names()?.iter().any(|name| is_record(name)))
}

fn sealed_name(match_id: &str) -> String {
    format!("{match_id}.jsonl")
}

fn aside_name(match_id: &str) -> String {
    format!("{match_id}.unsealed")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn fifo(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }

    #[test]
    fn a_record_is_never_written_through_a_planted_file() {
        let place = tempfile::tempdir().unwrap();
        let victim = place.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        for name in ["m1.jsonl", "m1.jsonl.part"] {
            type Plant<'a> = (&'a str, &'a dyn Fn(&Path));
            let plants: [Plant<'_>; 5] = [
                ("a symbolic link", &|path| symlink(&victim, path).unwrap()),
                ("a FIFO", &fifo),
                ("a directory", &|path| fs::create_dir(path).unwrap()),
                ("a socket", &|path| drop(UnixListener::bind(path).unwrap())),
                ("a file", &|path| fs::write(path, "older").unwrap()),
            ];
            for (what, plant) in plants {
                let folder = tempfile::tempdir().unwrap();
                let records = Records::open(&folder.path().join("new"), true).unwrap();
                let path = folder.path().join("new").join(name);
                plant(&path);
                let error = records.keep("m1", b"record").unwrap_err().to_string();
                assert!(error.contains(name) && error.contains(what), "{name}, {what}: {error}");
                assert!(what != "a file" || fs::read(&path).unwrap() == b"older");
            }
        }
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }

    #[test]
    fn an_obstacle_to_resuming_is_named() {
        for (name, refused) in
            [("records", "records"), ("records/m1.jsonl", "m1.jsonl"), ("records/m1.unsealed", "m1")]
        {
            let place = tempfile::tempdir().unwrap();
            if name.contains('/') {
                fs::create_dir(place.path().join("records")).unwrap();
            }
            fifo(&place.path().join(name));
            let error = Records::reopen(&Folder::open(place.path()).unwrap(), true).unwrap_err().to_string();
            assert!(error.contains(refused) && error.contains("a FIFO"), "{error}");
        }
        let (place, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(other.path(), place.path().join("records")).unwrap();
        let error = Records::reopen(&Folder::open(place.path()).unwrap(), true).unwrap_err().to_string();
        assert!(error.contains("expected a directory, found a symbolic link"), "{error}");
    }

    #[test]
    fn incomplete_files_of_a_killed_process_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let records = Records::reopen(&folder, true).unwrap();
        records.keep("m1", b"whole").unwrap();
        let path = place.path().join("records");
        fs::write(path.join("m2.jsonl.part"), "ha").unwrap();
        fs::write(path.join("m3.unsealed.part"), "").unwrap();
        let records = Records::reopen(&folder, true).unwrap();
        assert_eq!(folder.make_within("records").unwrap().names().unwrap(), ["m1.jsonl"]);
        records.keep("m2", b"again").unwrap();
        records.sync().unwrap();
        assert_eq!(records.read("m2").unwrap(), b"again");
    }

    #[test]
    fn invalid_records_are_kept_under_other_names() {
        let place = tempfile::tempdir().unwrap();
        let records = Records::reopen(&Folder::open(place.path()).unwrap(), true).unwrap();
        let path = place.path().join("records");
        for (content, name) in [("one", "m1.jsonl.invalid"), ("two", "m1.jsonl.invalid-2")] {
            records.keep("m1", content.as_bytes()).unwrap();
            assert_eq!(records.set_aside("m1").unwrap(), path.join(name));
            assert_eq!(fs::read_to_string(path.join(name)).unwrap(), content);
        }
        records.keep_unsealed("m1", b"three").unwrap();
        assert_eq!(records.set_unsealed_aside("m1").unwrap(), path.join("m1.unsealed.invalid"));
        assert_eq!(records.matches().unwrap(), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_directory_that_vanishes_or_is_replaced_is_an_error() {
        for is_replaced in [false, true] {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("records");
            let records = Records::open(&path, false).unwrap();
            records.keep("m1", b"record").unwrap();
            records.sync().unwrap();
            records.keep("m2", b"record").unwrap();
            fs::rename(&path, place.path().join("elsewhere")).unwrap();
            if is_replaced {
                fs::create_dir(&path).unwrap();
            }
            let error = records.sync().unwrap_err().to_string();
            assert!(error.contains("removed or replaced"), "{error}");
        }
    }
}
