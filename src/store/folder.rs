//! Access to directories and files that is safe against manipulation by other users.
//!
//! A user with write access to a directory can plant a link, a FIFO or another directory in it. A [`Folder`] is an
//! open handle; names are resolved relative to it, links are never followed, and new files never replace existing
//! ones. Obstacles are errors that name them.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::store::regular::{at, check_regular, kind};

/// An open directory.
#[derive(Debug)]
pub struct Folder {
    handle: File,
    path: PathBuf,
}

fn refused(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{}: {what}", path.display()))
}

const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

impl Folder {
    /// Opens a directory. A path given by the user may contain links.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| at(path, error))?;
        Ok(Folder { handle: handle.into(), path: path.to_owned() })
    }

    /// Opens a directory; creates it with mode 0700 if it is missing. Warns if other users can write to it.
    ///
    /// # Errors
    /// If it cannot be created or opened.
    pub fn make(path: &Path) -> io::Result<Folder> {
        match DirBuilder::new().recursive(true).mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(refused(path, "it is not a directory: name a new or an empty one"));
            }
            made => made.map_err(|error| at(path, error))?,
        }
        let folder = Folder::open(path)?;
        folder.warn_of_others()?;
        Ok(folder)
    }

    /// The same for a subdirectory, which must not be a link.
    ///
    /// # Errors
    /// If it cannot be created or opened, or if the name belongs to something else.
    pub fn make_within(&self, name: &str) -> io::Result<Folder> {
        let path = self.path.join(name);
        match rustix::fs::mkdirat(&self.handle, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(at(&path, error)),
        }
        match self.kind_of(name)? {
            Some(FileType::Directory) => {}
            Some(other) => {
                return Err(refused(&path, &format!("expected a directory, found {}", kind(other))));
            }
            None => return Err(at(&path, Errno::NOENT)),
        }
        let handle = rustix::fs::openat(&self.handle, name, READ | OFlags::DIRECTORY, Mode::empty())
            .map_err(|error| at(&path, error))?;
        let folder = Folder { handle: handle.into(), path };
        folder.warn_of_others()?;
        Ok(folder)
    }

    fn warn_of_others(&self) -> io::Result<()> {
        let found = self.handle.metadata().map_err(|error| at(&self.path, error))?;
        let path = self.path.display();
        if found.uid() != rustix::process::geteuid().as_raw() && found.uid() != 0 {
            tracing::warn!("the directory {path} belongs to another user, who can change its contents");
        } else if found.mode() & 0o022 != 0 {
            tracing::warn!(
                "other users can write to the directory {path}: `chmod go-w {path}` prevents this"
            );
        }
        Ok(())
    }

    /// The type of the file with this name, if there is one.
    fn kind_of(&self, name: &str) -> io::Result<Option<FileType>> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(at(&self.path.join(name), error)),
        }
    }

    /// Returns whether a regular file with this name exists.
    ///
    /// # Errors
    /// If the name belongs to something else.
    pub fn has_file(&self, name: &str) -> io::Result<bool> {
        match self.kind_of(name)? {
            None => Ok(false),
            Some(FileType::RegularFile) => Ok(true),
            Some(other) => {
                let what = format!("expected a file, found {}", kind(other));
                Err(refused(&self.path.join(name), &what))
            }
        }
    }

    /// The path with which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in it, in unspecified order.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = rustix::fs::Dir::read_from(&self.handle).map_err(|error| at(&self.path, error))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| at(&self.path, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Creates a file that only its owner can read.
    ///
    /// # Errors
    /// If the name is in use.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(file.into()),
            Err(Errno::EXIST) => {
                let other = self.kind_of(name)?.map_or("something", kind);
                Err(refused(&self.path.join(name), &format!("{other} with this name exists already")))
            }
            Err(error) => Err(at(&self.path.join(name), error)),
        }
    }

    /// Opens a file for reading, or for appending, which creates it if it is missing.
    ///
    /// # Errors
    /// If it does not exist, or if the name belongs to something else.
    pub fn open_file(&self, name: &str, is_appended: bool) -> io::Result<File> {
        let flags = match is_appended {
            false => READ,
            true => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        };
        self.has_file(name)?;
        let path = self.path.join(name);
        // Nonblocking, because it may have been replaced by a FIFO since.
        let opened =
            rustix::fs::openat(&self.handle, name, flags | OFlags::NONBLOCK, Mode::RUSR | Mode::WUSR);
        let file = File::from(opened.map_err(|error| at(&path, error))?);
        check_regular(&path, &file)?;
        Ok(file)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Those of [`Folder::open_file`].
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.open_file(name, false)?.read_to_end(&mut bytes);
        read.map_err(|error| at(&self.path.join(name), error))?;
        Ok(bytes)
    }

    /// Renames a file to a name that is not in use.
    ///
    /// # Errors
    /// If the new name is in use.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let path = self.path.join(to);
        let rename = |flags| rustix::fs::renameat_with(&self.handle, from, &self.handle, to, flags);
        let taken = |other: Option<FileType>| {
            refused(&path, &format!("{} with this name exists already", other.map_or("something", kind)))
        };
        match rename(RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(taken(self.kind_of(to)?)),
            // Some file systems do not support this in one step.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match self.kind_of(to)? {
                None => rename(RenameFlags::empty()).map_err(|error| at(&path, error)),
                other => Err(taken(other)),
            },
            Err(error) => Err(at(&path, error)),
        }
    }

    /// Sets the modes of these files, so far as they exist, so that only their owner can read them. A copy that was
    /// restored may have other modes. They are not opened: closing one would release the locks of SQLite.
    ///
    /// # Errors
    /// If a name belongs to something else, or if the file belongs to another user.
    pub fn make_private(&self, names: &[String]) -> io::Result<()> {
        for name in names {
            if !self.has_file(name)? {
                continue;
            }
            let path = self.path.join(name);
            let failed = |error| at(&path, error);
            let found = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
            if found.st_mode & 0o077 != 0 {
                let mode = Mode::RUSR | Mode::WUSR;
                rustix::fs::chmodat(&self.handle, name, mode, AtFlags::empty()).map_err(failed)?;
                let before = found.st_mode & 0o777;
                tracing::warn!("{}: its mode was {before:03o} and is 600 now", path.display());
            }
        }
        Ok(())
    }

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// If it is a directory, or on an I/O error.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(at(&self.path.join(name), error)),
        }
    }

    /// Waits until these files, which were written since the last call, and the entries are on the disk.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn sync_files(&self, names: &[&str]) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if names.len() > 1 {
            // Flushing the file system once takes a tenth of the CPU time of flushing each of many small files.
            return rustix::fs::syncfs(&self.handle).map_err(|error| at(&self.path, error));
        }
        for name in names {
            self.open_file(name, false)?.sync_all().map_err(|error| at(&self.path.join(name), error))?;
        }
        self.sync()
    }

    /// Waits until its entries are on the disk.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.handle.sync_all().map_err(|error| at(&self.path, error))
    }

    /// Checks that the directory has not been moved.
    ///
    /// # Errors
    /// If its path is missing or leads to another directory.
    pub fn check_in_place(&self) -> io::Result<()> {
        let is_own = |found: fs::Metadata| {
            self.handle.metadata().is_ok_and(|own| (found.dev(), found.ino()) == (own.dev(), own.ino()))
        };
        if fs::metadata(&self.path).is_ok_and(is_own) {
            return Ok(());
        }
        let what = format!("the directory {} was removed or replaced during the run", self.path.display());
        Err(io::Error::new(io::ErrorKind::NotFound, what))
    }
}
