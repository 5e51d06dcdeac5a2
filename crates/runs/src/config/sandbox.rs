//! The sandboxes of bots.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use referee_bots::Command;
use referee_bots::sandbox::{BotLimits, InvalidLimit, Layer, Mode, Sandbox, Unavailable};
use referee_engine::sources::Source;
use referee_game::{Chain, SettingNames, Wrong};
use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::config::RunNotice;

/// The table `[sandbox]` of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxConfig {
    pub mode: Mode,
    /// Layers that the machine may lack.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub allow_missing: BTreeSet<Layer>,
    /// The limits of bots without limits of their own.
    #[serde(default)]
    pub limits: BotLimits,
}

/// The reason why there is no such sandbox.
pub(crate) fn unavailable(why: Unavailable, names: SettingNames) -> RunError {
    match why {
        Unavailable::Limit(InvalidLimit { limit, why }) => {
            Wrong::at(names(&format!("sandbox.limits.{limit}"), None), why).into()
        }
        why @ Unavailable::Layers(..) => {
            let allow = names("sandbox.allow_missing", Some("[\"LAYER\"]"));
            RunError::machine(format!("{why}\n`{allow}` does without a layer, which records then say"))
        }
    }
}

impl SandboxConfig {
    /// `strict` with all of its layers.
    pub fn strict() -> SandboxConfig {
        SandboxConfig { mode: Mode::Strict, allow_missing: BTreeSet::new(), limits: BotLimits::default() }
    }

    /// The sandbox. `resolve` makes paths absolute.
    ///
    /// # Errors
    /// If a limit is not valid, or this machine lacks a layer.
    pub fn sandbox(
        &self,
        resolve: impl Fn(&Path) -> PathBuf,
        names: SettingNames,
    ) -> Result<Sandbox, RunError> {
        let SandboxConfig { mode, allow_missing, limits } = self;
        let read = limits.read.iter().map(|path| resolve(path)).collect();
        Sandbox::new(*mode, allow_missing, BotLimits { read, ..limits.clone() })
            .map_err(|why| unavailable(why, names))
    }
}

fn one_line(why: Unavailable) -> String {
    match why {
        Unavailable::Limit(what) => Chain(&what).to_string(),
        Unavailable::Layers(_, missing) => {
            let missing: Vec<String> =
                missing.iter().map(|(layer, why)| format!("{layer} {}", Chain(why))).collect();
            missing.join("; ")
        }
    }
}

/// The sandbox if none is configured: `basic`, or none if this machine lacks a layer of it.
pub fn default_sandbox(names: SettingNames, notices: &mut Vec<RunNotice>) -> Sandbox {
    Sandbox::new(Mode::Basic, &BTreeSet::new(), BotLimits::default()).unwrap_or_else(|why| {
        let none = names("sandbox.mode", Some("\"none\""));
        notices.push(RunNotice::NoSandbox { why: one_line(why), none });
        Sandbox::default()
    })
}

/// Changes the commands of those of these bots that the referee starts, all at once.
pub fn change_commands<T>(bots: &mut [Arc<dyn Source>], change: impl FnOnce(Vec<&mut Command>) -> T) -> T {
    let mut commands: Vec<Option<Command>> = bots.iter().map(|bot| bot.command().cloned()).collect();
    let changed = change(commands.iter_mut().flatten().collect());
    for (bot, command) in bots.iter_mut().zip(commands) {
        if let Some(command) = command {
            *bot = Arc::new(command);
        }
    }
    changed
}

/// Checks the directory of a bot's files, which the bot sees as a whole: not with these.
///
/// # Errors
/// If it contains one of them, or the command does not fit it.
pub fn check_files(command: &Command, own: &[PathBuf]) -> Result<(), Wrong> {
    let Some(files) = &command.files else { return Ok(()) };
    let canonical = |path: &Path| {
        // An empty path is the current directory.
        let canonical = Path::new(".").join(path).canonicalize();
        canonical.map_err(|why| Wrong::at(path.display().to_string(), why))
    };
    let whole = canonical(files)?;
    for own in own.iter().filter(|own| own.exists()) {
        if canonical(own)?.starts_with(&whole) {
            return Err(format!(
                "files: {} contains {}: give the bot a directory of its own",
                files.display(),
                own.display()
            )
            .into());
        }
    }
    let is_within = |word: &str| Path::new(word).is_absolute() && Path::new(word).starts_with(&whole);
    if let Some(word) = command.words().find(|word| is_within(word)) {
        return Err(format!(
            "command: `{word}` is in `files`: give its path relative to the working directory"
        )
        .into());
    }
    match &command.directory {
        Some(directory) if !canonical(directory)?.starts_with(&whole) => {
            Err(format!("directory: {} is not in `files`, {}", directory.display(), files.display()).into())
        }
        _ => Ok(()),
    }
}
