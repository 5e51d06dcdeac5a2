//! The directory of a game: which of its files identify the rules, and their private copy.
//!
//! The files are read once, when the game is loaded. The program runs in the copy, which has nothing else: what a record does
//! not identify, it cannot depend on, and a process that starts later runs the same files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

#[cfg(feature = "wasm")]
use crate::WasmModule;
use crate::{Manifest, ManifestProgram};
use referee_bots::Command;
use referee_files::{FoundFile, ResolvedFolder, open_regular, read_limited};
use referee_game::{Wrong, hex};

/// The file that describes a game.
pub const MANIFEST: &str = "game.toml";
/// The maximum number of files that are hashed.
const MOST_FILES: usize = 1000;
/// The maximum size of all of them, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// The maximum size of the manifest and of the rules page, in bytes.
const MOST_TEXT: u64 = 1 << 20;
/// The maximum size of a WebAssembly module, in bytes.
#[cfg(feature = "wasm")]
const MOST_MODULE: u64 = 16 << 20;
/// Directories that are no part of a game: what Python compiles, installed packages, and records.
const OTHER_DIRECTORIES: [&str; 3] = ["__pycache__", "node_modules", "records"];
/// Extensions of files that are no part of a game: prose, what editors and version control leave, records and
/// results.
const OTHER_ENDINGS: [&str; 14] = [
    ".md",
    "~",
    "#",
    ".bak",
    ".orig",
    ".rej",
    ".tmp",
    ".jsonl",
    ".jsonl.gz",
    ".unsealed",
    ".html",
    ".sqlite",
    ".sqlite-shm",
    ".sqlite-wal",
];
/// Prefixes of the names of prose files.
const PROSE: [&str; 4] = ["README", "LICENSE", "COPYING", "CHANGELOG"];

/// The origin of a game's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryOrigin {
    Author,
    /// A copy, which was made for a run: it has the files of the program only, with the rules page beside it, and the program
    /// may be unable to run here.
    Kept,
}

/// A game's directory as the referee has read it.
#[derive(Debug)]
pub(crate) struct GameDirectory {
    pub(crate) manifest: Manifest,
    /// The rules page, in Markdown.
    pub(crate) page: String,
    /// The definitions of views, moves and events, by name.
    pub(crate) schema: Map<String, Value>,
    /// The text of the manifest.
    pub(crate) text: String,
    /// SHA-256 by path, of the files that identify the rules.
    pub(crate) files: BTreeMap<String, String>,
    /// The command, if the program is one.
    pub(crate) command: Option<Command>,
    pub(crate) copy: GameCopy,
}

/// A private copy of the files of a game, which is removed with this value.
#[derive(Debug)]
pub(crate) struct GameCopy {
    place: tempfile::TempDir,
    /// The files, relative to the directory.
    pub(crate) files: BTreeSet<PathBuf>,
}

impl GameCopy {
    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }
}

impl GameDirectory {
    /// Reads, hashes and copies the files of a game.
    ///
    /// # Errors
    /// Names the file and its defect.
    pub(crate) fn read(directory: &Path, origin: DirectoryOrigin) -> Result<GameDirectory, Wrong> {
        let folder = ResolvedFolder::open(directory)?;
        let path = directory.join(MANIFEST);
        let text = read_text(&folder.resolve(Path::new(MANIFEST))?)?;
        let manifest = match Manifest::read(&text) {
            Ok(manifest) => manifest,
            Err(what) => return Err(Wrong::at(path.display().to_string(), what)),
        };
        let below = |key, file: &str| {
            let parts = Path::new(file).components().filter(|part| *part != Component::CurDir);
            let inner: Option<PathBuf> =
                parts.map(|part| matches!(part, Component::Normal(_)).then_some(part)).collect();
            inner.ok_or_else(|| {
                Wrong::from(format!(
                    "{}: {key}: `{file}` is not a path below the directory: no record would identify it; \
                     copy it there",
                    path.display()
                ))
            })
        };
        let page_file = manifest.rules.as_deref().map(|page| below("rules", page)).transpose()?;
        let kept_page = directory.with_extension("md");
        let page = match (&page_file, origin) {
            (Some(page), DirectoryOrigin::Author) => read_text(&folder.resolve(page)?)?,
            (Some(_), DirectoryOrigin::Kept) if kept_page.is_file() => read_text(&kept_page)?,
            _ => format!("# {}\n", manifest.title),
        };
        let (command, module) = match manifest.program() {
            ManifestProgram::Command(command) => match command.parse::<Command>() {
                Ok(command) => (Some(command), None),
                Err(error) => return Err(Wrong::at(format!("{}: command", path.display()), error)),
            },
            ManifestProgram::Wasm(file) => (None, Some(below("wasm", file)?)),
        };
        let (mut program, mut scripts) = (None, BTreeSet::new());
        for (at, word) in command.iter().flat_map(|command| &command.argv).enumerate() {
            let file = Path::new(word);
            // A program without a slash is looked up in PATH; an absolute one is an interpreter of the machine.
            if at == 0 && (!word.contains('/') || file.is_absolute() && !file.starts_with(directory)) {
                continue;
            }
            let leaves = file.is_absolute() && file.exists()
                || file.components().any(|part| part == Component::ParentDir);
            if leaves {
                return Err(format!(
                    "{}: command: `{word}` is not a path below the directory: no record would identify it; \
                     copy it there",
                    path.display()
                )
                .into());
            }
            if !word.is_empty() && directory.join(file).is_file() {
                let file = below("command", word)?;
                match at {
                    0 => program = Some(file),
                    _ => _ = scripts.insert(file),
                }
            }
        }
        let schema_file = manifest.schema.as_deref().map(|file| below("schema", file)).transpose()?;

        let mut listed = ListedFiles { folder: &folder, files: BTreeSet::new() };
        match &manifest.files {
            None => {
                listed.add_all(Path::new(""))?;
                listed.files.extend(program.clone());
            }
            Some(files) => {
                files.iter().try_for_each(|file| listed.add(below("files", file)?))?;
            }
        }
        let mut identified = listed.files;
        identified.extend(scripts.into_iter().chain(module));
        let (page_file, manifest_file) = (page_file.unwrap_or_default(), PathBuf::from(MANIFEST));
        identified.retain(|file| *file != page_file && *file != manifest_file);
        let answers = |file: &PathBuf| schema_file.as_ref() != Some(file);
        if !identified.iter().any(answers) {
            return Err(format!(
                "{}: files: the rules page and the manifest do not answer requests; expected the files \
                 of the program, or no `files` for all",
                path.display()
            )
            .into());
        }
        identified.extend(schema_file.clone());

        let mut copying = CopiedFiles::new(&folder)?;
        let mut files =
            BTreeMap::from([(MANIFEST.to_owned(), copying.write(&manifest_file, text.as_bytes(), 0o600)?)]);
        for file in &identified {
            let name = file
                .to_str()
                .ok_or_else(|| format!("{}: its name is not UTF-8", directory.join(file).display()))?;
            files.insert(name.to_owned(), copying.copy(file)?);
        }
        // A program built from identified sources need not have the same bytes on other machines.
        if let Some(program) = program.filter(|program| !identified.contains(program)) {
            copying.copy(&program)?;
        }
        let copy = copying.copy;
        let schema = match &schema_file {
            None => Map::new(),
            Some(file) => read_schema(&copy.path().join(file), &directory.join(file))?,
        };
        Ok(GameDirectory { manifest, page, schema, text, files, command, copy })
    }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Wrong {
    |error| Wrong::at(path.display().to_string(), error)
}

/// Reads a file of this size at most.
fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_limited(open_regular(path, OpenOptions::new().read(true))?, most)
}

fn read_text(path: &Path) -> Result<String, Wrong> {
    let text = read(path, MOST_TEXT).and_then(|bytes| {
        String::from_utf8(bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
    });
    text.map_err(unreadable(path))
}

/// Reads the schemas from the copy; errors name `path`.
fn read_schema(copy: &Path, path: &Path) -> Result<Map<String, Value>, Wrong> {
    let bad = |what| {
        Wrong::from(format!(
            "{}: {what}; expected an object of JSON Schemas, such as `View`, `Move` and `Event`",
            path.display()
        ))
    };
    let schemas: Map<String, Value> =
        serde_json::from_str(&read_text(copy)?).map_err(|error| bad(error.to_string()))?;
    match schemas.iter().find(|(_, schema)| !schema.is_object() && !schema.is_boolean()) {
        None => Ok(schemas),
        Some((name, _)) => Err(bad(format!("`{name}` is no schema"))),
    }
}

/// Loads the WebAssembly module of a game from the copy of its directory.
///
/// # Errors
/// If it cannot be read, or cannot be rules.
#[cfg(feature = "wasm")]
pub(crate) fn load_module(
    directory: &Path,
    copy: &GameCopy,
    file: &str,
    manifest: &Manifest,
) -> Result<WasmModule, Wrong> {
    let path = directory.join(file);
    let bytes = read(&copy.path().join(file), MOST_MODULE).map_err(unreadable(&path))?;
    WasmModule::new(file, &bytes, manifest).map_err(|what| Wrong::at(path.display().to_string(), what))
}

struct ListedFiles<'a> {
    folder: &'a ResolvedFolder,
    /// The paths, relative to the folder.
    files: BTreeSet<PathBuf>,
}

impl ListedFiles<'_> {
    fn add(&mut self, file: PathBuf) -> Result<(), Wrong> {
        if self.folder.resolve(&file)?.is_dir() {
            return self.add_all(&file);
        }
        if self.files.len() == MOST_FILES {
            return Err(format!(
                "{}: more than {MOST_FILES} files or {} MiB; `files` lists what counts",
                self.folder.path().join(MANIFEST).display(),
                MOST_BYTES >> 20
            )
            .into());
        }
        self.files.insert(file);
        Ok(())
    }

    /// Adds the files of a directory, except those that are no part of a game.
    fn add_all(&mut self, from: &Path) -> Result<(), Wrong> {
        let folder = self.folder;
        let mut is_part = |path: &Path, is_directory: bool| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            !(is_other(&name, is_directory) || is_directory && has_database(&folder.path().join(path)))
        };
        folder.walk(from, &mut is_part, &mut |path, of| match of {
            // The files behind the link are there by their own paths, and it could lead around in circles.
            FoundFile::Link(end) if folder.path().join(&end).is_dir() => Ok(()),
            _ => self.add(path),
        })
    }
}

/// Returns whether a directory is that of a tournament, a league or a worker.
fn has_database(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| PathBuf::from(entry.file_name()));
    names.any(|name| name.extension().is_some_and(|ending| ending == "sqlite"))
}

/// The SHA-256 of a file, by an empty path, or of the files of a directory that can be part of a program, by their paths: as
/// those of a game. `None` if they cannot be read, or are too many or too large for a game.
pub fn content(path: &Path) -> Option<BTreeMap<String, String>> {
    let mut left = MOST_BYTES;
    let mut hash = |path: &Path| {
        let bytes = read(path, left).ok()?;
        left -= bytes.len() as u64;
        Some(hex::encode(&Sha256::digest(bytes)))
    };
    if path.is_file() {
        return Some(BTreeMap::from([(String::new(), hash(path)?)]));
    }
    let folder = ResolvedFolder::open(path).ok()?;
    let mut listed = ListedFiles { folder: &folder, files: BTreeSet::new() };
    listed.add_all(Path::new("")).ok()?;
    let hashed = listed.files.iter().map(|file| Some((file.to_str()?.to_owned(), hash(&path.join(file))?)));
    hashed.collect()
}

/// Returns whether a file or directory is no part of a game unless the manifest names it.
fn is_other(name: &str, is_directory: bool) -> bool {
    name.starts_with('.')
        || match is_directory {
            true => OTHER_DIRECTORIES.contains(&name),
            false => {
                OTHER_ENDINGS.iter().any(|ending| name.ends_with(ending))
                    || PROSE.iter().any(|prose| name.starts_with(prose))
            }
        }
}

/// Copies the files of a game.
struct CopiedFiles<'a> {
    folder: &'a ResolvedFolder,
    copy: GameCopy,
    bytes: u64,
}

impl CopiedFiles<'_> {
    fn new(folder: &ResolvedFolder) -> Result<CopiedFiles<'_>, Wrong> {
        let place = tempfile::Builder::new().prefix("referee-game-").tempdir();
        let place = place.map_err(unreadable(&std::env::temp_dir()))?;
        Ok(CopiedFiles { folder, copy: GameCopy { place, files: BTreeSet::new() }, bytes: 0 })
    }

    /// Copies a file. Returns its SHA-256.
    fn copy(&mut self, file: &Path) -> Result<String, Wrong> {
        let path = self.folder.resolve(file)?;
        let bytes = read(&path, MOST_BYTES - self.bytes).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => Wrong::from(format!(
                "{}: more than {MOST_FILES} files or {} MiB; `files` lists what counts",
                self.folder.path().join(MANIFEST).display(),
                MOST_BYTES >> 20
            )),
            _ => unreadable(&path)(error),
        })?;
        self.bytes += bytes.len() as u64;
        let is_program = fs::metadata(&path).is_ok_and(|of| of.permissions().mode() & 0o111 != 0);
        self.write(file, &bytes, if is_program { 0o700 } else { 0o600 })
    }

    /// Writes a file of the copy. Returns its SHA-256.
    fn write(&mut self, file: &Path, bytes: &[u8], mode: u32) -> Result<String, Wrong> {
        let path = self.copy.path().join(file);
        let write = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?.write_all(bytes)
        };
        write().map_err(unreadable(&path))?;
        self.copy.files.insert(file.to_owned());
        Ok(hex::encode(&Sha256::digest(bytes)))
    }
}
