//! Loading a game from its directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

#[cfg(feature = "wasm")]
use crate::directory::load_module;
use crate::directory::{DirectoryOrigin, GameCopy, GameDirectory, MANIFEST};
use crate::processes::RulesProcesses;
use crate::{Carrier, Manifest, ManifestProgram, ProgramRules};
use referee_bots::sandbox::{BotLimits, Layer, Mode, Sandbox, Size};
use referee_bots::{Command, Launch};
use referee_game::Wrong;
use referee_game::erased::Rules;

/// The games that were loaded, by directory.
static LOADED: Mutex<BTreeMap<PathBuf, LoadedGame>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Debug)]
struct LoadedGame {
    rules: &'static dyn Rules,
    copy: Arc<GameCopy>,
}

/// The maximum memory of a process of rules.
const MEMORY: Size = Size::mebibytes(2048);
/// The maximum number of its processes and threads.
const PROCESSES: u32 = 64;

/// Returns whether a directory has the manifest of a game.
pub fn is_game(directory: &Path) -> bool {
    directory.join(MANIFEST).is_file()
}

/// Loads a game from the directory of its author, once in a process. Its program starts when it is first asked, in a private
/// copy of the files that records identify.
///
/// # Errors
/// Names the file and its defect.
pub fn load(directory: &Path, launch: &Launch) -> Result<&'static dyn Rules, Wrong> {
    load_from(directory, DirectoryOrigin::Author, launch)
}

/// Loads a game as [`load`] does, from a copy that was made for a run. It has no rules page, and its program need not be
/// able to run here.
///
/// # Errors
/// Names the file and its defect.
pub fn load_kept(directory: &Path, launch: &Launch) -> Result<&'static dyn Rules, Wrong> {
    load_from(directory, DirectoryOrigin::Kept, launch)
}

fn load_from(
    directory: &Path,
    origin: DirectoryOrigin,
    launch: &Launch,
) -> Result<&'static dyn Rules, Wrong> {
    let place = canonical(directory)?;
    let mut loaded = loaded();
    if let Some(game) = loaded.get(&place) {
        return Ok(game.rules);
    }
    let ReadGame { manifest, page, schema, copy, description, carrier } = read_from(&place, origin, launch)?;
    let rules: &'static dyn Rules =
        Box::leak(Box::new(ProgramRules::new(&manifest, &page, schema, description, carrier)));
    loaded.insert(place, LoadedGame { rules, copy });
    Ok(rules)
}

fn loaded() -> MutexGuard<'static, BTreeMap<PathBuf, LoadedGame>> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy_of(rules: &dyn Rules) -> Option<Arc<GameCopy>> {
    let is_it = |game: &&LoadedGame| std::ptr::eq(game.rules.meta(), rules.meta());
    loaded().values().find(is_it).map(|game| game.copy.clone())
}

/// The directory with the files of a game that was loaded, and their relative paths; `None` for a game of the referee.
pub fn files(rules: &dyn Rules) -> Option<(PathBuf, Vec<PathBuf>)> {
    let copy = copy_of(rules)?;
    Some((copy.path().to_owned(), copy.files.iter().cloned().collect()))
}

/// Removes the private copies of all games. Their programs cannot start any more.
pub fn remove_copies() {
    for game in loaded().values() {
        // A program that still runs may write to it meanwhile. The rest is a temporary file like any other.
        let _ = std::fs::remove_dir_all(game.copy.path());
    }
}

/// A game before its program is asked for anything.
pub(crate) struct ReadGame {
    pub(crate) manifest: Manifest,
    /// The rules page, in Markdown.
    pub(crate) page: String,
    /// The definitions of views, moves and events, by name.
    pub(crate) schema: Map<String, Value>,
    copy: Arc<GameCopy>,
    /// The identity of the program in records.
    pub(crate) description: Box<RawValue>,
    pub(crate) carrier: Box<dyn Carrier>,
}

fn canonical(directory: &Path) -> Result<PathBuf, Wrong> {
    let unreadable = |error| Wrong::at(directory.display().to_string(), error);
    directory.canonicalize().map_err(unreadable)
}

#[cfg(feature = "schema")]
pub(crate) fn read(directory: &Path, launch: &Launch) -> Result<ReadGame, Wrong> {
    read_from(&canonical(directory)?, DirectoryOrigin::Author, launch)
}

fn read_from(place: &Path, origin: DirectoryOrigin, launch: &Launch) -> Result<ReadGame, Wrong> {
    let GameDirectory { manifest, page, schema, text, files, command, copy } =
        GameDirectory::read(place, origin)?;
    let copy = Arc::new(copy);
    let carrier: Box<dyn Carrier> = match (manifest.program(), command) {
        (ManifestProgram::Command(_), command) => {
            let command = in_copy(command.unwrap_or_default(), &copy, launch);
            if origin == DirectoryOrigin::Author {
                let seen_by_author = Command { directory: Some(place.to_owned()), ..command.clone() };
                seen_by_author.check().map_err(|error| {
                    Wrong::at(format!("{}: command", place.join(MANIFEST).display()), error)
                })?;
            }
            let limits = [manifest.start_limit_ms, manifest.limit_ms];
            Box::new(RulesProcesses::new(command, limits, launch.clone(), copy.clone()))
        }
        #[cfg(feature = "wasm")]
        (ManifestProgram::Wasm(file), _) => Box::new(load_module(place, &copy, file, &manifest)?),
        #[cfg(not(feature = "wasm"))]
        (ManifestProgram::Wasm(_), _) => return Err(format!(
            "{}: wasm: this program was built without WebAssembly: `cargo install referee --features wasm`",
            place.join(MANIFEST).display()
        )
        .into()),
    };
    let description = to_raw_value(&json!({ "manifest": text, "files": files }))
        .unwrap_or_else(|error| unreachable!("it has string keys: {error}"));
    Ok(ReadGame { manifest, page, schema, copy, description, carrier })
}

/// The command of a game, as it runs in a copy of its files.
fn in_copy(command: Command, copy: &GameCopy, launch: &Launch) -> Command {
    let directory = Some(copy.path().to_owned());
    Command { directory: directory.clone(), files: directory, sandbox: sandbox(launch), ..command }
}

/// The sandbox of rules: the strictest that this machine has. They need no network.
pub fn sandbox(launch: &Launch) -> Sandbox {
    if matches!(launch, Launch::Directly) {
        // A sandbox needs a launcher.
        return Sandbox::default();
    }
    let limits = || BotLimits {
        memory: Some(MEMORY),
        processes: Some(PROCESSES),
        network: Some(false),
        ..BotLimits::default()
    };
    let strict = Sandbox::new(Mode::Strict, &[Layer::Cgroup].into(), limits());
    let sandbox = strict.or_else(|_| Sandbox::new(Mode::Basic, &[].into(), limits()));
    sandbox.unwrap_or_else(|why| {
        tracing::warn!("rules run without a sandbox: {why}");
        Sandbox::default()
    })
}
