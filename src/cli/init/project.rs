//! A directory of new files.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::cli::exit::Failure;

/// The test of the project in a workflow of GitHub Actions.
pub(super) const WORKFLOW: &str = ".github/workflows/test.yml";

/// The files of a project, with their paths in its directory.
#[derive(Debug, Default)]
pub(in crate::cli) struct Project {
    files: Vec<(String, String)>,
}

impl Project {
    /// Adds a file. A script, whose first line names its interpreter, becomes executable.
    pub(in crate::cli) fn add(&mut self, path: &str, text: String) {
        self.files.push((path.to_owned(), text));
    }

    /// Writes the files to a directory that is empty or does not exist.
    pub(in crate::cli) fn write(&self, directory: &Path) -> Result<(), Failure> {
        let named =
            |path: &Path, error: &io::Error| Failure::cannot_run(format!("{}: {error}", path.display()));
        fs::create_dir_all(directory).map_err(|error| named(directory, &error))?;
        let mut entries = fs::read_dir(directory).map_err(|error| named(directory, &error))?;
        if entries.next().is_some() {
            let what = format!("{} is not empty: name a new directory", directory.display());
            return Err(Failure::usage(what));
        }
        for (path, text) in &self.files {
            let path = directory.join(path);
            let parent = path.parent().unwrap_or(directory);
            let mode = if text.starts_with("#!") { 0o777 } else { 0o666 };
            let written = fs::create_dir_all(parent)
                .and_then(|()| OpenOptions::new().write(true).create_new(true).mode(mode).open(&path))
                .and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|error| named(&path, &error))?;
        }
        Ok(())
    }
}

/// The name of a directory, as far as names in the protocol allow its characters.
pub(in crate::cli) fn name_of(directory: &Path) -> String {
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).take(64).collect();
    if name.is_empty() { "mybot".to_owned() } else { name }
}
