//! The directory of a game.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use sha2::{Digest, Sha256};

use crate::game::hex;
use crate::program::Manifest;

/// The file that describes a game.
pub const MANIFEST: &str = "game.toml";
/// The maximum number of files that are hashed.
const MOST_FILES: usize = 1000;
/// The maximum size of all of them, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// The maximum size of the manifest and of the rules page, in bytes.
const MOST_TEXT: u64 = 1 << 20;
/// What is not hashed: programs make it, or it belongs to other programs.
const IGNORED: [&str; 2] = ["__pycache__", "node_modules"];

/// What the referee knows of the directory of a game.
#[derive(Debug)]
pub(super) struct GameDirectory {
    pub(super) manifest: Manifest,
    /// The rules page, in Markdown.
    pub(super) page: String,
    /// The text of the manifest.
    pub(super) text: String,
    /// SHA-256 by path.
    pub(super) files: BTreeMap<String, String>,
}

impl GameDirectory {
    /// Reads and hashes the files of a game.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub(super) fn read(directory: &Path) -> Result<GameDirectory, String> {
        let path = directory.join(MANIFEST);
        let text = read_text(&path)?;
        let manifest = Manifest::read(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let at_manifest = |what: String| format!("{}: {what}", path.display());
        let page = match &manifest.rules {
            None => format!("# {}\n", manifest.title),
            Some(page) => {
                read_text(&inside(directory, page).map_err(|what| at_manifest(format!("rules: {what}")))?)?
            }
        };
        let mut hashed = Hashed { directory, files: BTreeMap::new(), bytes: 0 };
        match &manifest.files {
            None => hashed.add_all(directory).map_err(at_manifest)?,
            Some(files) => {
                for file in files.iter().map(String::as_str).chain([MANIFEST]) {
                    let path = inside(directory, file);
                    let added = path.and_then(|path| hashed.add(&path));
                    added.map_err(|what| at_manifest(format!("files: {what}")))?;
                }
            }
        }
        Ok(GameDirectory { manifest, page, text, files: hashed.files })
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let wrong = |what: String| format!("{}: {what}", path.display());
    let size = fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
    if size > MOST_TEXT {
        return Err(wrong(format!("it has {size} bytes; at most {MOST_TEXT}")));
    }
    fs::read_to_string(path).map_err(|error| wrong(error.to_string()))
}

/// The path of a file of the game.
fn inside(directory: &Path, file: &str) -> Result<std::path::PathBuf, String> {
    let is_plain =
        Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_plain { Ok(directory.join(file)) } else { Err(format!("`{file}` is not below the directory")) }
}

struct Hashed<'a> {
    directory: &'a Path,
    files: BTreeMap<String, String>,
    bytes: u64,
}

impl Hashed<'_> {
    /// Adds a file or the files of a directory.
    fn add(&mut self, path: &Path) -> Result<(), String> {
        let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let meta = fs::metadata(path).map_err(|error| wrong(&error))?;
        if meta.is_dir() {
            return self.add_all(path);
        }
        if !meta.is_file() {
            return Err(wrong(&"it is neither a file nor a directory"));
        }
        self.bytes += meta.len();
        if self.files.len() == MOST_FILES || self.bytes > MOST_BYTES {
            return Err(format!(
                "more than {MOST_FILES} files or {} MiB; `files` lists what counts",
                MOST_BYTES >> 20
            ));
        }
        let name = path.strip_prefix(self.directory).unwrap_or(path);
        let name: Option<Vec<&str>> = name.iter().map(|part| part.to_str()).collect();
        let name = name.ok_or_else(|| wrong(&"its name is not UTF-8"))?.join("/");
        let name = name.trim_start_matches("./").to_owned();
        let bytes = fs::read(path).map_err(|error| wrong(&error))?;
        self.files.insert(name, hex::encode(&Sha256::digest(bytes)));
        Ok(())
    }

    /// Adds the files of a directory, except hidden ones.
    fn add_all(&mut self, directory: &Path) -> Result<(), String> {
        let wrong = |error: std::io::Error| format!("{}: {error}", directory.display());
        for entry in fs::read_dir(directory).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let name = entry.file_name();
            let is_hidden =
                name.to_str().is_some_and(|name| name.starts_with('.') || IGNORED.contains(&name));
            // A link could lead around in circles.
            let is_link_to_directory =
                entry.file_type().map_err(wrong)?.is_symlink() && entry.path().is_dir();
            if !is_hidden && !is_link_to_directory {
                self.add(&entry.path())?;
            }
        }
        Ok(())
    }
}
