//! Directories of tables of endgames.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use referee_game::endgames::{TableFile, TableFiles};

/// A directory of tables. A table is read where it is needed, and never mapped: a file that is cut off meanwhile is an error.
/// Two are equal if they have the same files, with the same lengths and times of their last changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFolder {
    path: PathBuf,
    /// By name; `None` for a file that cannot be looked at.
    files: BTreeMap<String, Option<(u64, SystemTime)>>,
}

impl TableFolder {
    /// Lists the files of a directory.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open(path: &Path) -> io::Result<TableFolder> {
        let state = |path| fs::metadata(path).and_then(|found| Ok((found.len(), found.modified()?))).ok();
        let file = |entry: DirEntry| Some((entry.file_name().into_string().ok()?, state(entry.path())));
        let files = fs::read_dir(path)?.map(|entry| entry.map(file)).filter_map(Result::transpose);
        Ok(TableFolder { path: path.to_owned(), files: files.collect::<io::Result<_>>()? })
    }
}

impl TableFiles for TableFolder {
    fn names(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn TableFile>> {
        Ok(Box::new(BufReader::new(File::open(self.path.join(name))?)))
    }
}
