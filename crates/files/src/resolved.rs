//! A directory whose files are found by their resolved paths: no link leads out of it.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use referee_game::Wrong;
use referee_game::printable::printable;

/// Reasons why a path is not in a directory.
#[derive(Debug, thiserror::Error)]
pub enum NotInFolder {
    #[error("{}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error(transparent)]
    Wrong(#[from] Wrong),
}

impl From<NotInFolder> for Wrong {
    fn from(error: NotInFolder) -> Wrong {
        Wrong::of(&error)
    }
}

/// An entry below a directory that is no directory itself.
#[derive(Debug)]
pub enum FoundFile {
    /// A file, or something else, such as a FIFO.
    File(Metadata),
    /// A link to this path in the directory, where it leads in the end.
    Link(PathBuf),
}

/// A directory whose files are packed, published or identified.
#[derive(Clone, Debug)]
pub struct ResolvedFolder(PathBuf);

impl ResolvedFolder {
    /// Opens a directory. It may itself be behind a link.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn open(path: &Path) -> Result<ResolvedFolder, NotInFolder> {
        path.canonicalize().map(ResolvedFolder).map_err(|error| unreadable(path, error))
    }

    /// The absolute path without links.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The absolute path of the final target of a path in it.
    ///
    /// # Errors
    /// If that does not exist, or is outside the directory.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, NotInFolder> {
        let full = self.0.join(path);
        let end = full.canonicalize().map_err(|error| match full.is_symlink() {
            true => Wrong::at(format!("`{}`: the link leads nowhere", shown(path)), error).into(),
            false => unreadable(&full, error),
        })?;
        match end.starts_with(&self.0) {
            true => Ok(end),
            false => {
                let (path, end) = (shown(path), shown(&end));
                Err(Wrong::from(format!("`{path}`: it links to {end}, which is outside the directory"))
                    .into())
            }
        }
    }

    /// Calls `each` for all files and links below the directory `from` in it, in unspecified order. `selects` gets each path in
    /// it, and whether that is a directory; what it does not select, and what is below that, is not looked at.
    ///
    /// # Errors
    /// Errors of `each`; if something cannot be read; if a link that is selected leads out of it.
    pub fn walk<E: From<NotInFolder>>(
        &self,
        from: &Path,
        selects: &mut impl FnMut(&Path, bool) -> bool,
        each: &mut impl FnMut(PathBuf, FoundFile) -> Result<(), E>,
    ) -> Result<(), E> {
        let folder = self.0.join(from);
        for entry in fs::read_dir(&folder).map_err(|error| unreadable(&folder, error))? {
            let path = from.join(entry.map_err(|error| unreadable(&folder, error))?.file_name());
            let full = self.0.join(&path);
            let of = fs::symlink_metadata(&full).map_err(|error| unreadable(&full, error))?;
            if !selects(&path, of.is_dir()) {
                continue;
            }
            if of.is_dir() {
                self.walk(&path, selects, each)?;
            } else if of.is_symlink() {
                let end = self.resolve(&path)?;
                let end = end.strip_prefix(&self.0).unwrap_or(&end).to_owned();
                each(path, FoundFile::Link(end))?;
            } else {
                each(path, FoundFile::File(of))?;
            }
        }
        Ok(())
    }
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

fn unreadable(path: &Path, error: io::Error) -> NotInFolder {
    NotInFolder::Unreadable { path: path.to_owned(), error }
}
