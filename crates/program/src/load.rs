//! Loading a game from its directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

#[cfg(feature = "wasm")]
use crate::directory::load_module;
use crate::directory::{BadGame, GameDirectory, MANIFEST};
use crate::processes::RulesProcesses;
use crate::{Carrier, Manifest, ManifestProgram, ProgramRules};
use referee_bots::sandbox::{BotLimits, Layer, Mode, Sandbox, Size};
use referee_bots::{Command, Launch};
use referee_game::erased::Rules;

/// The games that were loaded, by directory.
static LOADED: Mutex<BTreeMap<PathBuf, LoadedGame>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Debug)]
struct LoadedGame {
    rules: &'static dyn Rules,
    /// The files that records identify, relative to the directory.
    files: Vec<PathBuf>,
}

/// The maximum memory of a process of rules.
const MEMORY: Size = Size::mebibytes(2048);
/// The maximum number of its processes and threads.
const PROCESSES: u32 = 64;

/// Whether a directory has the manifest of a game.
pub fn is_game(directory: &Path) -> bool {
    directory.join(MANIFEST).is_file()
}

/// Loads a game from its directory, once in a process. Its program starts when it is first asked.
///
/// # Errors
/// Names the file and what is wrong with it.
pub fn load(directory: &Path, launch: &Launch) -> Result<&'static dyn Rules, BadGame> {
    let place = canonical(directory)?;
    let mut loaded = loaded();
    if let Some(game) = loaded.get(&place) {
        return Ok(game.rules);
    }
    let ReadGame { manifest, page, schema, files, description, carrier } = read(&place, launch)?;
    let rules: &'static dyn Rules =
        Box::leak(Box::new(ProgramRules::new(&manifest, &page, schema, description, carrier)));
    loaded.insert(place, LoadedGame { rules, files });
    Ok(rules)
}

fn loaded() -> MutexGuard<'static, BTreeMap<PathBuf, LoadedGame>> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The directory of a game that was loaded, and the files in it that records identify; `None` for a game of the referee.
pub fn files(rules: &dyn Rules) -> Option<(PathBuf, Vec<PathBuf>)> {
    let is_it = |game: &LoadedGame| std::ptr::eq(game.rules.meta(), rules.meta());
    loaded().iter().find(|(_, game)| is_it(game)).map(|(place, game)| (place.clone(), game.files.clone()))
}

/// A game before its program is asked for anything.
pub(crate) struct ReadGame {
    pub(crate) manifest: Manifest,
    /// The rules page, in Markdown.
    pub(crate) page: String,
    /// The definitions of views, moves and events, by name.
    pub(crate) schema: Map<String, Value>,
    /// The files that are hashed.
    pub(crate) files: Vec<PathBuf>,
    /// What identifies the program in records.
    pub(crate) description: Box<RawValue>,
    pub(crate) carrier: Box<dyn Carrier>,
}

fn canonical(directory: &Path) -> Result<PathBuf, BadGame> {
    let unreadable = |error| BadGame::Unreadable { path: directory.to_owned(), error };
    directory.canonicalize().map_err(unreadable)
}

pub(crate) fn read(directory: &Path, launch: &Launch) -> Result<ReadGame, BadGame> {
    let place = canonical(directory)?;
    let GameDirectory { manifest, page, schema, text, files } = GameDirectory::read(&place)?;
    let carrier: Box<dyn Carrier> = match manifest.program() {
        ManifestProgram::Command(command) => Box::new(processes(&place, command, &manifest, launch)?),
        #[cfg(feature = "wasm")]
        ManifestProgram::Wasm(file) => Box::new(load_module(&place, file, &manifest)?),
        #[cfg(not(feature = "wasm"))]
        ManifestProgram::Wasm(_) => return Err(BadGame::NoWasm { path: place.join(MANIFEST) }),
    };
    let description = to_raw_value(&json!({ "manifest": text, "files": files }))
        .unwrap_or_else(|error| unreachable!("it has string keys: {error}"));
    let files = files.into_keys().map(PathBuf::from).collect();
    Ok(ReadGame { manifest, page, schema, files, description, carrier })
}

/// The processes of a game whose rules are a command.
fn processes(
    place: &Path,
    command: &str,
    manifest: &Manifest,
    launch: &Launch,
) -> Result<RulesProcesses, BadGame> {
    let path = place.join(MANIFEST);
    let command: Command = match command.parse() {
        Ok(command) => command,
        Err(error) => return Err(BadGame::Command { path, error }),
    };
    let of_game = Some(place.to_owned());
    let command = Command { directory: of_game.clone(), files: of_game, sandbox: sandbox(launch), ..command };
    command.check().map_err(|defect| BadGame::Program { path, defect })?;
    let limits = [manifest.start_limit_ms, manifest.limit_ms];
    Ok(RulesProcesses::new(command, limits, launch.clone()))
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
