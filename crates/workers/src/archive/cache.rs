//! The archives on a worker.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::{Builder, NamedTempFile, TempDir};

use super::{ArchiveError, ArchiveId, ArchiveLimits, unpack};
use referee_files::Folder;
use referee_game::{Chain, Wrong};

/// The directory of unpacked bots and incoming archives. Each belongs to one process, which holds a lock of it.
const WORK: &str = "work";
/// The file that is locked while something is created or removed in [`WORK`].
const LOCK: &str = "lock";

/// The ending of the names of archives.
const ENDING: &str = ".tar";

fn file_name(id: &ArchiveId) -> String {
    format!("{id}{ENDING}")
}

/// A directory of archives of limited size, which several workers can share.
///
/// A bot runs from a copy of its own, which [`Cache::get`] unpacks; so a bot that changes its files changes neither the
/// archive nor other bots. The contents are verified whenever they are unpacked.
#[derive(Debug)]
pub struct Cache {
    folder: Folder,
    /// The directory [`WORK`] in it.
    work: Folder,
    /// The size of all archives, in bytes.
    limit: u64,
}

impl Cache {
    /// Opens a cache; creates the directory with mode 0700 if it is missing. Removes the remains of killed
    /// workers.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open(folder: &Path, limit: u64) -> io::Result<Cache> {
        Folder::make(folder)?;
        // The path has to be absolute, since bots are started in it.
        let folder = Folder::open(&folder.canonicalize()?)?;
        let cache = Cache { work: folder.make_within(WORK)?, folder, limit };
        cache.clean()?;
        Ok(cache)
    }

    /// The directory if none is configured: `referee/bots` in `$XDG_CACHE_HOME`, by default `~/.cache`.
    ///
    /// # Errors
    /// If there is no home directory.
    pub fn usual_folder() -> Result<PathBuf, Wrong> {
        let caches = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = caches.or_else(|| Some(std::env::home_dir()?.join(".cache")));
        let none = "there is no home directory for the archives of bots: name a directory for them";
        Ok(caches.ok_or(none)?.join("referee/bots"))
    }

    /// Removes files of which no process holds a lock.
    fn clean(&self) -> io::Result<()> {
        let _lock = self.lock()?;
        for name in self.work.names()? {
            let path = self.work.path().join(name);
            let found = match path.symlink_metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                found => found?,
            };
            if !found.is_dir() && !found.is_file() {
                // No worker has made it, and opening it could block.
                fs::remove_file(&path)?;
                continue;
            }
            match File::open(&path).and_then(|file| Ok(file.try_lock()?)) {
                Ok(()) if path.is_dir() => fs::remove_dir_all(&path)?,
                Ok(()) => fs::remove_file(&path)?,
                // The entry is in use, or its owner has just removed it.
                Err(error)
                    if [io::ErrorKind::WouldBlock, io::ErrorKind::NotFound].contains(&error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn lock(&self) -> io::Result<File> {
        let lock = self.folder.open_file(LOCK, true)?;
        lock.lock()?;
        Ok(lock)
    }

    fn path(&self, id: &ArchiveId) -> PathBuf {
        self.folder.path().join(file_name(id))
    }

    /// Unpacks an archive; `None` if the cache does not have it. An archive whose contents have changed is removed.
    ///
    /// # Errors
    /// I/O errors.
    pub fn get(&self, id: &ArchiveId) -> Result<Option<Unpacked>, ArchiveError> {
        let archive = match self.folder.open_file(&file_name(id), false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        archive.lock_shared()?;
        match self.unpack(id, &archive) {
            Err(ArchiveError::Wrong(error)) => {
                tracing::warn!(path = %self.path(id).display(), "a cached archive is damaged: {}", Chain(&error));
                self.folder.remove(&file_name(id))?;
                Ok(None)
            }
            unpacked => {
                let (folder, held) = unpacked?;
                Ok(Some(Unpacked { folder, _held: held, _archive: archive }))
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the time of the last use, which no result depends on")]
    fn unpack(&self, id: &ArchiveId, archive: &File) -> Result<(TempDir, File), ArchiveError> {
        let (folder, held) = {
            let _lock = self.lock()?;
            let folder = Builder::new().prefix("bot-").tempdir_in(self.work.path())?;
            let held = File::open(folder.path())?;
            held.lock()?;
            (folder, held)
        };
        unpack(archive, id, folder.path(), ArchiveLimits::BOT)?;
        // The order of removal depends on it, nothing else.
        let _ = archive.set_modified(SystemTime::now());
        Ok((folder, held))
    }

    /// A new file for an archive that arrives. It is removed if the process is killed.
    ///
    /// # Errors
    /// I/O errors.
    pub fn incoming(&self) -> io::Result<NamedTempFile> {
        let _lock = self.lock()?;
        let file = Builder::new().prefix("incoming-").tempfile_in(self.work.path())?;
        file.as_file().lock()?;
        Ok(file)
    }

    /// Verifies, unpacks and stores the archive in a file of [`Cache::incoming`].
    ///
    /// # Errors
    /// If it is another archive or invalid, which removes it; I/O errors.
    pub fn insert(&self, id: &ArchiveId, mut file: NamedTempFile) -> Result<Unpacked, ArchiveError> {
        file.as_file_mut().rewind()?;
        let (folder, held) = self.unpack(id, file.as_file())?;
        let archive = file.persist(self.path(id)).map_err(|error| error.error)?;
        archive.lock_shared()?;
        self.evict()?;
        Ok(Unpacked { folder, _held: held, _archive: archive })
    }

    /// Removes the archives that were not used for the longest time, until the rest is within the limit.
    /// Archives in use stay.
    fn evict(&self) -> io::Result<()> {
        let _lock = self.lock()?;
        let mut archives = Vec::new();
        for name in self.folder.names()?.into_iter().filter(|name| name.ends_with(ENDING)) {
            let file = match self.folder.open_file(&name, false) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            let of = file.metadata()?;
            archives.push((of.modified()?, of.len(), name, file));
        }
        archives.sort_by_key(|(used, ..)| *used);
        let mut size: u64 = archives.iter().map(|(_, size, ..)| size).sum();
        for (_, bytes, name, file) in archives {
            if size <= self.limit {
                break;
            }
            match file.try_lock() {
                Ok(()) => {
                    self.folder.remove(&name)?;
                    size -= bytes;
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The files of a bot, unpacked. Dropping it removes them.
#[derive(Debug)]
pub struct Unpacked {
    folder: TempDir,
    /// Locked: other processes leave the directory alone.
    _held: File,
    /// Locked: it stays in the cache.
    _archive: File,
}

impl Unpacked {
    /// The absolute path of its directory.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}
