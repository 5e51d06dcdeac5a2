//! The directory of a game.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{BadManifest, Manifest, ManifestProgram};
#[cfg(feature = "wasm")]
use crate::{BadModule, WasmModule};
use referee_bots::{CommandDefect, InvalidCommand};
use referee_files::{FoundFile, NotInFolder, ResolvedFolder, open_regular, read_limited};
use referee_game::hex;

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
/// Directories that are not hashed: what Python compiles, and installed packages.
const IGNORED: [&str; 2] = ["__pycache__", "node_modules"];

/// Why a directory is no game.
#[derive(Debug, thiserror::Error)]
pub enum BadGame {
    /// A file or directory cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The manifest is invalid.
    #[error("{}: {what}", path.display())]
    Manifest {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        what: BadManifest,
    },
    /// The command is no command line.
    #[error("{}: command: {error}", path.display())]
    Command {
        /// The path of the manifest.
        path: PathBuf,
        /// What is wrong.
        error: InvalidCommand,
    },
    /// The command cannot be run.
    #[error("{}: command: {defect}", path.display())]
    Program {
        /// The path of the manifest.
        path: PathBuf,
        /// What is wrong.
        defect: CommandDefect,
    },
    /// The WebAssembly module cannot be rules.
    #[cfg(feature = "wasm")]
    #[error("{}: {what}", path.display())]
    Module {
        /// The path of the module.
        path: PathBuf,
        /// What is wrong.
        what: BadModule,
    },
    /// The rules are a WebAssembly module, which this program cannot run.
    #[cfg(not(feature = "wasm"))]
    #[error(
        "{}: wasm: this program was built without WebAssembly: `cargo install referee --features wasm`",
        path.display()
    )]
    NoWasm {
        /// The path of the manifest.
        path: PathBuf,
    },
    /// The file of schemas is none.
    #[error("{}: {what}; expected an object of JSON Schemas, such as `View`, `Move` and `Event`", path.display())]
    Schema {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file of the manifest is elsewhere.
    #[error("{}: {key}: `{file}` is not below the directory", path.display())]
    Outside {
        /// The path of the manifest.
        path: PathBuf,
        /// `rules`, `schema`, `files` or `wasm`.
        key: &'static str,
        /// The file.
        file: String,
    },
    /// A link leads out of the directory, or to nothing.
    #[error(transparent)]
    Link(NotInFolder),
    /// There are more or larger files than a record identifies.
    #[error("{}: more than {MOST_FILES} files or {} MiB; `files` lists what counts", path.display(), MOST_BYTES >> 20)]
    TooLarge {
        /// The path of the manifest.
        path: PathBuf,
    },
    /// The name of a file cannot be recorded.
    #[error("{}: its name is not UTF-8", .0.display())]
    Name(PathBuf),
}

impl From<NotInFolder> for BadGame {
    fn from(error: NotInFolder) -> BadGame {
        match error {
            NotInFolder::Unreadable { path, error } => BadGame::Unreadable { path, error },
            link => BadGame::Link(link),
        }
    }
}

/// What the referee knows of the directory of a game.
#[derive(Debug)]
pub(crate) struct GameDirectory {
    pub(crate) manifest: Manifest,
    /// The rules page, in Markdown.
    pub(crate) page: String,
    /// The definitions of views, moves and events, by name.
    pub(crate) schema: Map<String, Value>,
    /// The text of the manifest.
    pub(crate) text: String,
    /// SHA-256 by path.
    pub(crate) files: BTreeMap<String, String>,
}

impl GameDirectory {
    /// Reads and hashes the files of a game.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub(crate) fn read(directory: &Path) -> Result<GameDirectory, BadGame> {
        let folder = ResolvedFolder::open(directory)?;
        let path = directory.join(MANIFEST);
        let text = read_text(&folder.resolve(Path::new(MANIFEST))?)?;
        let manifest = match Manifest::read(&text) {
            Ok(manifest) => manifest,
            Err(what) => return Err(BadGame::Manifest { path, what }),
        };
        let below = |key, file: &str| {
            let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
            match Path::new(file).components().all(is_below) {
                true => Ok(folder.resolve(Path::new(file))?),
                false => Err(BadGame::Outside { path: path.clone(), key, file: file.to_owned() }),
            }
        };
        let page = match &manifest.rules {
            None => format!("# {}\n", manifest.title),
            Some(page) => read_text(&below("rules", page)?)?,
        };
        let schema = match &manifest.schema {
            None => Map::new(),
            Some(file) => read_schema(&below("schema", file)?)?,
        };
        let module = match manifest.program() {
            ManifestProgram::Command(_) => None,
            ManifestProgram::Wasm(file) => {
                below("wasm", file)?;
                Some(file)
            }
        };
        let mut hashed = HashedFiles { folder: &folder, files: BTreeMap::new(), bytes: 0 };
        match &manifest.files {
            None => hashed.add_all(Path::new(""))?,
            Some(files) => {
                for file in files {
                    below("files", file)?;
                }
                let others = [MANIFEST].into_iter().chain(module).chain(manifest.schema.as_deref());
                for file in files.iter().map(String::as_str).chain(others) {
                    hashed.add(Path::new(file))?;
                }
            }
        }
        Ok(GameDirectory { manifest, page, schema, text, files: hashed.files })
    }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> BadGame {
    |error| BadGame::Unreadable { path: path.to_owned(), error }
}

/// Reads a file of this size at most.
fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_limited(open_regular(path, OpenOptions::new().read(true))?, most)
}

fn read_text(path: &Path) -> Result<String, BadGame> {
    let text = read(path, MOST_TEXT).and_then(|bytes| {
        String::from_utf8(bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
    });
    text.map_err(unreadable(path))
}

fn read_schema(path: &Path) -> Result<Map<String, Value>, BadGame> {
    let bad = |what| BadGame::Schema { path: path.to_owned(), what };
    let schemas: Map<String, Value> =
        serde_json::from_str(&read_text(path)?).map_err(|error| bad(error.to_string()))?;
    match schemas.iter().find(|(_, schema)| !schema.is_object() && !schema.is_boolean()) {
        None => Ok(schemas),
        Some((name, _)) => Err(bad(format!("`{name}` is no schema"))),
    }
}

/// Loads the WebAssembly module of a game.
///
/// # Errors
/// If it cannot be read, or cannot be rules.
#[cfg(feature = "wasm")]
pub(crate) fn load_module(directory: &Path, file: &str, manifest: &Manifest) -> Result<WasmModule, BadGame> {
    let path = directory.join(file);
    let bytes = read(&path, MOST_MODULE).map_err(unreadable(&path))?;
    WasmModule::new(file, &bytes, manifest).map_err(|what| BadGame::Module { path, what })
}

struct HashedFiles<'a> {
    folder: &'a ResolvedFolder,
    files: BTreeMap<String, String>,
    bytes: u64,
}

impl HashedFiles<'_> {
    /// Adds a file or the files of a directory, by its path in the directory of the game.
    fn add(&mut self, name: &Path) -> Result<(), BadGame> {
        let path = self.folder.resolve(name)?;
        if path.is_dir() {
            return self.add_all(name);
        }
        let too_large = || BadGame::TooLarge { path: self.folder.path().join(MANIFEST) };
        if self.files.len() == MOST_FILES {
            return Err(too_large());
        }
        let bytes = read(&path, MOST_BYTES - self.bytes).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => too_large(),
            _ => unreadable(&path)(error),
        })?;
        self.bytes += bytes.len() as u64;
        let parts = name.components().filter(|part| matches!(part, Component::Normal(_)));
        let text: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
        let text = text.ok_or_else(|| BadGame::Name(self.folder.path().join(name)))?.join("/");
        self.files.insert(text, hex::encode(&Sha256::digest(bytes)));
        Ok(())
    }

    /// Adds the files of a directory, except hidden ones.
    fn add_all(&mut self, from: &Path) -> Result<(), BadGame> {
        let mut is_part = |path: &Path, _: bool| {
            let name = path.file_name().and_then(OsStr::to_str);
            !name.is_some_and(|name| name.starts_with('.') || IGNORED.contains(&name))
        };
        let folder = self.folder;
        folder.walk(from, &mut is_part, &mut |path, of| match of {
            // Its files are there by their own paths, and it could lead around in circles.
            FoundFile::Link(end) if folder.path().join(&end).is_dir() => Ok(()),
            _ => self.add(&path),
        })
    }
}
