//! Access to directories and files that is safe against manipulation by other users.
//!
//! A user with write access to a directory can plant a link, a FIFO or another directory in it. A [`Folder`] is an
//! open handle; names are resolved relative to it, links are never followed, and new files never replace existing
//! ones, except with [`Folder::replace`]. Obstacles are errors that name them.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::regular::{MOST_READ, at, check_regular, kind, read_limited};

#[derive(Debug)]
pub struct Folder {
    handle: File,
    path: PathBuf,
    /// Whether files created in the folder are for all users, as far as the umask allows.
    is_public: bool,
}

fn refused(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{}: {what}", path.display()))
}

/// The temporary name of a file.
fn unfinished(name: &str) -> String {
    format!("{name}.part")
}

const PRIVATE_DIRECTORY: Mode = Mode::RWXU;
const PUBLIC_DIRECTORY: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
const PUBLIC_FILE: Mode =
    PRIVATE_FILE.union(Mode::RGRP).union(Mode::WGRP).union(Mode::ROTH).union(Mode::WOTH);

const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

impl Folder {
    /// Opens a directory. A path given by the user may contain links.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| at(path, error))?;
        Ok(Folder { handle: handle.into(), path: path.to_owned(), is_public: false })
    }

    /// Opens the directory of a file, and returns the name of the file in it.
    ///
    /// # Errors
    /// If it does not exist, or if the path does not end in a name.
    pub fn of_file(path: &Path) -> io::Result<(Folder, String)> {
        let name = path.file_name().and_then(OsStr::to_str);
        let name = name.ok_or_else(|| at(path, io::Error::from(io::ErrorKind::InvalidFilename)))?.to_owned();
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        Ok((Folder::open(parent.unwrap_or(Path::new(".")))?, name))
    }

    /// Opens a directory; creates it with mode 0700 if it is missing. Warns if other users can write to it.
    ///
    /// # Errors
    /// If it cannot be created or opened.
    pub fn make(path: &Path) -> io::Result<Folder> {
        let folder = Folder::make_with(path, PRIVATE_DIRECTORY)?;
        folder.warn_of_others()?;
        Ok(folder)
    }

    /// Opens a directory; creates it if it is missing. Files created in it are for all users, as far as the
    /// umask allows.
    ///
    /// # Errors
    /// If it cannot be created or opened.
    pub fn make_public(path: &Path) -> io::Result<Folder> {
        Ok(Folder::make_with(path, PUBLIC_DIRECTORY)?.public())
    }

    fn make_with(path: &Path, mode: Mode) -> io::Result<Folder> {
        match DirBuilder::new().recursive(true).mode(mode.as_raw_mode()).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(refused(path, "it is not a directory: name a new or an empty one"));
            }
            made => made.map_err(|error| at(path, error))?,
        }
        Folder::open(path)
    }

    /// Creates files and directories from now on for all users, as far as the umask allows.
    #[must_use]
    pub fn public(self) -> Folder {
        Folder { is_public: true, ..self }
    }

    /// Creates or opens a subdirectory, which must not be a link.
    ///
    /// # Errors
    /// If it cannot be created or opened, or if the name belongs to something else.
    pub fn make_within(&self, name: &str) -> io::Result<Folder> {
        let path = self.path.join(name);
        let mode = if self.is_public { PUBLIC_DIRECTORY } else { PRIVATE_DIRECTORY };
        match rustix::fs::mkdirat(&self.handle, name, mode) {
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
        let folder = Folder { handle: handle.into(), path, is_public: self.is_public };
        if !self.is_public {
            folder.warn_of_others()?;
        }
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

    /// The names of the files in it that are wanted, in unspecified order.
    ///
    /// # Errors
    /// If it cannot be read, or if a wanted name belongs to something else than a file.
    pub fn files(&self, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        self.for_each_entry(|name, kind| {
            if is_wanted(&name) {
                // Most file systems tell the type with the name, which is much faster for a million files.
                if kind == FileType::RegularFile || self.has_file(&name)? {
                    names.push(name);
                }
            }
            Ok(())
        })?;
        Ok(names)
    }

    /// The names in it, in unspecified order.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        self.for_each_entry(|name, _| {
            names.push(name);
            Ok(())
        })?;
        Ok(names)
    }

    fn for_each_entry(&self, mut each: impl FnMut(String, FileType) -> io::Result<()>) -> io::Result<()> {
        let entries = rustix::fs::Dir::read_from(&self.handle).map_err(|error| at(&self.path, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| at(&self.path, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                each(name, entry.file_type())?;
            }
        }
        Ok(())
    }

    /// Creates a file, which only its owner can read unless the directory is public.
    ///
    /// # Errors
    /// If the name is in use.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if self.is_public { PUBLIC_FILE } else { PRIVATE_FILE };
        match rustix::fs::openat(&self.handle, name, flags, mode) {
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
        let opened = rustix::fs::openat(&self.handle, name, flags | OFlags::NONBLOCK, PRIVATE_FILE);
        let file = File::from(opened.map_err(|error| at(&path, error))?);
        check_regular(&path, &file)?;
        Ok(file)
    }

    /// Reads a file of 1 GiB at most.
    ///
    /// # Errors
    /// Errors of [`Folder::open_file`], or if it is larger.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let read = read_limited(self.open_file(name, false)?, MOST_READ);
        read.map_err(|error| at(&self.path.join(name), error))
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

    /// Writes a file as a whole, in place of a file with this name.
    ///
    /// # Errors
    /// If the name belongs to something else, and I/O errors.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create_unfinished(name)?;
        let written = file.write_all(bytes).map_err(|error| at(&self.path.join(name), error));
        written.and_then(|()| self.finish(name)).inspect_err(|_| {
            // The first error is reported.
            let _ = self.discard_unfinished(name);
        })
    }

    /// Creates a file under a temporary name, which [`Folder::finish`] renames.
    ///
    /// # Errors
    /// If one of the names belongs to something else than a file, and I/O errors.
    pub fn create_unfinished(&self, name: &str) -> io::Result<File> {
        self.has_file(name)?;
        let temporary = unfinished(name);
        // The file of a killed process is discarded.
        if self.has_file(&temporary)? {
            self.remove(&temporary)?;
        }
        self.create(&temporary)
    }

    /// Lets a file of [`Folder::create_unfinished`] replace the file with its name, if there is one.
    ///
    /// # Errors
    /// If the name belongs to something else than a file, and I/O errors.
    pub fn finish(&self, name: &str) -> io::Result<()> {
        self.has_file(name)?;
        let renamed = rustix::fs::renameat(&self.handle, unfinished(name), &self.handle, name);
        renamed.map_err(|error| at(&self.path.join(name), error))
    }

    /// Removes a file of [`Folder::create_unfinished`].
    ///
    /// # Errors
    /// On an I/O error.
    pub fn discard_unfinished(&self, name: &str) -> io::Result<()> {
        self.remove(&unfinished(name))
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
            // The file may be removed by another process meanwhile: the last one that closes a database removes its log.
            let found = match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                found => found.map_err(failed)?,
            };
            if found.st_mode & 0o077 != 0 {
                match rustix::fs::chmodat(&self.handle, name, PRIVATE_FILE, AtFlags::empty()) {
                    Err(Errno::NOENT) => continue,
                    changed => changed.map_err(failed)?,
                }
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
    /// Errors of the disk.
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
    /// Errors of the disk.
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn file_is_replaced_as_whole_and_nothing_else_is() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let folder = Folder::make_public(&path("made")).unwrap();
        fs::write(path("made/page.part"), "of a killed process").unwrap();
        folder.replace("page", b"one").unwrap();
        folder.replace("page", b"two").unwrap();
        assert_eq!(fs::read(path("made/page")).unwrap(), b"two");
        assert_eq!(folder.names().unwrap(), ["page"]);
        fs::write(path("victim"), "precious").unwrap();
        symlink(path("victim"), path("made/link")).unwrap();
        symlink(path("victim"), path("made/other.part")).unwrap();
        fs::create_dir(path("made/folder")).unwrap();
        for (name, what) in
            [("link", "a symbolic link"), ("other", "a symbolic link"), ("folder", "a directory")]
        {
            let error = folder.replace(name, b"new").unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(what), "{error}");
        }
        assert_eq!(fs::read(path("victim")).unwrap(), b"precious");
    }

    #[test]
    fn private_and_public_files_have_their_modes() {
        let place = tempfile::tempdir().unwrap();
        let modes = |folder: &Folder| {
            folder.replace("file", b"").unwrap();
            let within = folder.make_within("within").unwrap();
            let mode = |path: PathBuf| fs::metadata(path).unwrap().mode() & 0o777;
            (mode(folder.path().join("file")), mode(within.path().to_owned()))
        };
        assert_eq!(modes(&Folder::make(&place.path().join("private")).unwrap()), (0o600, 0o700));
        let (file, directory) = modes(&Folder::make_public(&place.path().join("public")).unwrap());
        // The umask of the test may restrict the modes further.
        assert!(file & 0o044 == directory & 0o044 && file & 0o111 == 0, "{file:o} {directory:o}");
    }
}
