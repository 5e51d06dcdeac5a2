//! Directories of tables of endgames.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use referee_game::endgames::{TableFile, TableFiles};

/// A directory of tables. A table is read where it is needed, and never mapped: a file that is cut off meanwhile is an error.
#[derive(Debug)]
pub struct TableFolder {
    path: PathBuf,
    names: Vec<String>,
}

impl TableFolder {
    /// Lists the files of a directory.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open(path: &Path) -> io::Result<TableFolder> {
        let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        let names = names.filter_map(Result::transpose).collect::<io::Result<Vec<String>>>()?;
        Ok(TableFolder { path: path.to_owned(), names })
    }
}

impl TableFiles for TableFolder {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn TableFile>> {
        Ok(Box::new(BufReader::new(File::open(self.path.join(name))?)))
    }
}
