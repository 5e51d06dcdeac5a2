//! Folders and files that mean what they meant when they were opened.
//!
//! Whoever may write to a folder can plant a link, a FIFO or another folder in it. A [`Folder`] is held open, names in
//! it are looked up through that handle, a link is never followed, and a new file is never an old one. What stands in
//! the way is an error that names it.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::store::regular::{at, check_regular, kind};

/// A folder that is held open.
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
    /// Opens a folder. A path that the user names may lead through links.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| at(path, error))?;
        Ok(Folder { handle: handle.into(), path: path.to_owned() })
    }

    /// Opens a folder, which is made with mode 0700 where it is missing. Warns of one that others may write to.
    ///
    /// # Errors
    /// When it cannot be made or opened.
    pub fn make(path: &Path) -> io::Result<Folder> {
        match DirBuilder::new().recursive(true).mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(refused(path, "it is no folder: name a new or an empty one"));
            }
            made => made.map_err(|error| at(path, error))?,
        }
        let folder = Folder::open(path)?;
        folder.warn_of_others()?;
        Ok(folder)
    }

    /// The same for a folder in this one, which is no link.
    ///
    /// # Errors
    /// When it cannot be made or opened, and when something else has its name.
    pub fn make_within(&self, name: &str) -> io::Result<Folder> {
        let path = self.path.join(name);
        match rustix::fs::mkdirat(&self.handle, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(at(&path, error)),
        }
        match self.kind_of(name)? {
            Some(FileType::Directory) => {}
            Some(other) => {
                return Err(refused(&path, &format!("{} is in the place of a folder", kind(other))));
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
            tracing::warn!("the folder {path} belongs to another user, who may change what is in it");
        } else if found.mode() & 0o022 != 0 {
            tracing::warn!("others may write to the folder {path}: `chmod go-w {path}` keeps them out");
        }
        Ok(())
    }

    /// What has this name, if anything has.
    fn kind_of(&self, name: &str) -> io::Result<Option<FileType>> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(at(&self.path.join(name), error)),
        }
    }

    /// Refuses a name that is neither free nor that of a regular file. True where there is such a file.
    ///
    /// # Errors
    /// When something else has the name.
    pub fn has_file(&self, name: &str) -> io::Result<bool> {
        match self.kind_of(name)? {
            None => Ok(false),
            Some(FileType::RegularFile) => Ok(true),
            Some(other) => {
                let what = format!("{} is in the place of a file", kind(other));
                Err(refused(&self.path.join(name), &what))
            }
        }
    }

    /// Its path, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in it, in no order.
    ///
    /// # Errors
    /// When it cannot be read.
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

    /// Makes a file that its user alone may read.
    ///
    /// # Errors
    /// When the name is taken, by whatever.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(file.into()),
            Err(Errno::EXIST) => {
                let other = self.kind_of(name)?.map_or("something", kind);
                Err(refused(&self.path.join(name), &format!("{other} has this name already")))
            }
            Err(error) => Err(at(&self.path.join(name), error)),
        }
    }

    /// Opens a file to read it, or one that is made where it is missing to append to it.
    ///
    /// # Errors
    /// When there is none, or something else has the name.
    pub fn open_file(&self, name: &str, is_appended: bool) -> io::Result<File> {
        let flags = match is_appended {
            false => READ,
            true => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        };
        self.has_file(name)?;
        let path = self.path.join(name);
        // It may have become a FIFO meanwhile, which is not waited for.
        let opened =
            rustix::fs::openat(&self.handle, name, flags | OFlags::NONBLOCK, Mode::RUSR | Mode::WUSR);
        let file = File::from(opened.map_err(|error| at(&path, error))?);
        check_regular(&path, &file)?;
        Ok(file)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`Folder::open_file`].
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.open_file(name, false)?.read_to_end(&mut bytes);
        read.map_err(|error| at(&self.path.join(name), error))?;
        Ok(bytes)
    }

    /// Gives a file another name, which must be free.
    ///
    /// # Errors
    /// When it is taken, by whatever.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let path = self.path.join(to);
        let rename = |flags| rustix::fs::renameat_with(&self.handle, from, &self.handle, to, flags);
        let taken = |other: Option<FileType>| {
            refused(&path, &format!("{} has this name already", other.map_or("something", kind)))
        };
        match rename(RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(taken(self.kind_of(to)?)),
            // Some file systems of networks and of other systems cannot do it in one step.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match self.kind_of(to)? {
                None => rename(RenameFlags::empty()).map_err(|error| at(&path, error)),
                other => Err(taken(other)),
            },
            Err(error) => Err(at(&path, error)),
        }
    }

    /// Removes a file. That it is not there is no error.
    ///
    /// # Errors
    /// When it is a folder, and those of the disk.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(at(&self.path.join(name), error)),
        }
    }

    /// Waits until the names in it are on the disk.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.handle.sync_all().map_err(|error| at(&self.path, error))
    }

    /// Whether it is still where it was.
    ///
    /// # Errors
    /// When nothing or another folder has its path.
    pub fn check_in_place(&self) -> io::Result<()> {
        let is_own = |found: fs::Metadata| {
            self.handle.metadata().is_ok_and(|own| (found.dev(), found.ino()) == (own.dev(), own.ino()))
        };
        if fs::metadata(&self.path).is_ok_and(is_own) {
            return Ok(());
        }
        let what = format!("the folder {} was removed or replaced during the run", self.path.display());
        Err(io::Error::new(io::ErrorKind::NotFound, what))
    }
}
