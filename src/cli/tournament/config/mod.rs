//! The tournament file.

mod bots;
mod entrant;
mod prepare;

use std::io;
use std::path::{Component, Path, PathBuf};

use referee_protocol::words::OnFault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cli::openings::OpeningOrder;
use crate::cli::options::{SLOTS, seed, seed_of_file};
use crate::cli::publish_config::PublishConfig;
use crate::cli::sandbox::SandboxConfig;
use crate::cli::syntax::suggest;
use crate::cli::workers::WorkersConfig;
use crate::cli::{Failure, defaults};
use crate::files::read_regular;
use crate::game::Misconfigured;
use crate::game::chance::Seed;
use crate::runner::Roster;
use crate::sources::BotSpec;

pub(super) use entrant::EntrantConfig;
pub(super) use prepare::PreparedTournament;

/// The contents of the file; `examples/tournament.toml` shows and explains all keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) game: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    seats: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirror: Option<MirrorConfig>,
    #[serde(default)]
    trust_bots: bool,
    #[serde(default)]
    opening_plies: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) openings: Option<PathBuf>,
    #[serde(default = "defaults::one")]
    opening_start: u32,
    #[serde(default)]
    order: OpeningOrder,
    #[serde(default = "default_clock")]
    pub(super) clock: String,
    #[serde(default = "defaults::margin")]
    margin: String,
    #[serde(default)]
    pub(super) on_fault: OnFault,
    #[serde(default = "defaults::hello_limit")]
    hello_limit: String,
    #[serde(default = "defaults::ready_limit")]
    ready_limit: String,
    #[serde(default = "defaults::one")]
    pub(super) jobs: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<u32>,
    #[serde(default = "slots")]
    slots: u32,
    #[serde(default)]
    pin: bool,
    #[serde(default)]
    restart: Restart,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed_file: Option<PathBuf>,
    format: FormatConfig,
    #[serde(default)]
    options: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) listen: Option<ListenConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workers: Option<WorkersConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<SandboxConfig>,
    #[serde(default, skip_serializing_if = "PublishConfig::is_default")]
    pub(super) publish: PublishConfig,
    pub(super) entrants: Vec<EntrantConfig>,
    /// The base of relative paths: the directory of the file or of the tournament.
    #[serde(skip)]
    folder: PathBuf,
}

fn default_clock() -> String {
    "delay=5s,bank=60s".to_owned()
}
fn default_wait() -> String {
    "5m".to_owned()
}
fn slots() -> u32 {
    SLOTS
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MirrorConfig {
    None,
    Rotations,
    All,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Restart {
    /// After a crash.
    #[default]
    Died,
    /// For every match.
    Always,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum FormatConfig {
    RoundRobin {
        #[serde(default = "defaults::one")]
        cycles: u32,
    },
    Gauntlet {
        #[serde(default = "defaults::one")]
        cycles: u32,
    },
    Swiss {
        rounds: u32,
        #[serde(default = "defaults::one")]
        sets: u32,
        #[serde(default)]
        bye: ByeValue,
        #[serde(default = "ByeValue::half")]
        requested_bye: ByeValue,
    },
    Knockout {
        #[serde(default = "defaults::one")]
        best_of: u32,
        #[serde(default = "three")]
        tie_breaks: u32,
    },
    Partners {
        #[serde(default = "defaults::one")]
        cycles: u32,
    },
}

/// The points of a bye per match: 1, 0.5 or 0.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
struct ByeValue {
    half_points: u32,
}

impl ByeValue {
    fn half() -> ByeValue {
        ByeValue { half_points: 1 }
    }
}

impl Default for ByeValue {
    fn default() -> Self {
        ByeValue { half_points: 2 }
    }
}

impl TryFrom<f64> for ByeValue {
    type Error = Misconfigured;
    fn try_from(points: f64) -> Result<ByeValue, Misconfigured> {
        let found = (0..=2).find(|&half_points| f64::from(half_points) == 2.0 * points);
        let wrong = || Misconfigured(format!("a bye of {points} points; expected 1, 0.5 or 0"));
        Ok(ByeValue { half_points: found.ok_or_else(wrong)? })
    }
}

impl From<ByeValue> for f64 {
    fn from(value: ByeValue) -> f64 {
        f64::from(value.half_points) / 2.0
    }
}

fn three() -> u32 {
    3
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListenConfig {
    pub(super) address: std::net::SocketAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_file: Option<PathBuf>,
    #[serde(default = "defaults::connections")]
    connections: u32,
    #[serde(default = "default_wait")]
    wait: String,
    #[serde(default = "defaults::reconnect")]
    reconnect: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_key: Option<PathBuf>,
}

impl ListenConfig {
    pub(super) fn new(address: std::net::SocketAddr) -> ListenConfig {
        let (connections, wait, reconnect) = (defaults::connections(), default_wait(), defaults::reconnect());
        ListenConfig {
            address,
            token_file: None,
            connections,
            wait,
            reconnect,
            tls_cert: None,
            tls_key: None,
        }
    }
}

impl Config {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Config, Failure> {
        let wrong = |what: String| Failure::usage(format!("{}: {what}", path.display()));
        let text = read_regular(path).map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8(text).map_err(|error| wrong(error.to_string()))?;
        let config = Config::parse(&text).map_err(wrong)?;
        let file = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
        Ok(config.with_base(file.parent().unwrap_or(Path::new("/"))))
    }

    /// Parses the text of a file.
    pub(super) fn parse(text: &str) -> Result<Config, String> {
        toml::from_str(text).map_err(|error| suggest(&error.to_string()))
    }

    /// The configuration as TOML.
    pub(super) fn to_toml(&self) -> Result<String, Failure> {
        toml::to_string(self).map_err(Failure::cannot_run)
    }

    /// Resolves relative paths against this directory.
    pub(super) fn with_base(self, folder: &Path) -> Config {
        Config { folder: folder.to_owned(), ..self }
    }

    /// The configuration for a file in another directory. Relative paths stay relative, so that both directories can
    /// be moved together. `is_program`: the game is a directory.
    pub(super) fn moved_to(&self, folder: &Path, is_program: bool) -> io::Result<Config> {
        let mut config = self.clone().with_base(folder);
        let up = relative_path(folder, &self.folder)?;
        if is_program {
            // Only a path has a slash.
            config.game = Path::new(".").join(&up).join(&self.game).to_string_lossy().into_owned();
        }
        let listen = config.listen.iter_mut();
        let of_listen = listen.flat_map(|l| [&mut l.token_file, &mut l.tls_cert, &mut l.tls_key]);
        let of_workers = config.workers.iter_mut().flat_map(WorkersConfig::paths);
        let own = [&mut config.openings, &mut config.seed_file];
        for path in of_listen.chain(of_workers).chain(own).flatten() {
            *path = up.join(&path);
        }
        for entrant in config.entrants.iter_mut().flat_map(EntrantConfig::bots_mut) {
            // A bot with `files` runs in them by default.
            let directory = match (entrant.directory.take(), &entrant.files) {
                (None, Some(_)) => None,
                (directory, _) => Some(up.join(directory.unwrap_or_default())),
            };
            entrant.directory = directory;
            entrant.files = entrant.files.take().map(|files| up.join(files));
        }
        let common = config.sandbox.iter_mut().map(|sandbox| &mut sandbox.limits);
        let own = config.entrants.iter_mut().flat_map(EntrantConfig::bots_mut).map(|bot| &mut bot.limits);
        for path in common.chain(own).flat_map(|limits| &mut limits.read) {
            *path = up.join(&path);
        }
        Ok(config)
    }

    /// The base of its relative paths.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Resolves one of its paths.
    pub(super) fn resolve(&self, path: &Path) -> PathBuf {
        let (mut folder, mut rest) = (self.folder.as_path(), path);
        // The directory of a tournament is not a symbolic link, so this only shortens the displayed path.
        while let (Ok(after), Some(parent)) = (rest.strip_prefix(".."), folder.parent()) {
            (folder, rest) = (parent, after);
        }
        folder.join(rest)
    }

    /// The path of its opening file.
    pub(super) fn openings_file(&self) -> Option<PathBuf> {
        self.openings.as_deref().map(|path| self.resolve(path))
    }

    /// The label of the tournament, by default the id of its game.
    pub(super) fn title<'a>(&'a self, game: &'a str) -> &'a str {
        self.name.as_deref().unwrap_or(game)
    }

    /// The run seed, if it has one.
    pub(super) fn seed(&self) -> Result<Option<Seed>, Failure> {
        let named = |what: &str| {
            let what = what.to_owned();
            move |error: String| Failure::usage(format!("{what}: {error}"))
        };
        match (&self.seed, &self.seed_file) {
            (Some(_), Some(_)) => Err(Failure::usage("`seed` and `seed_file` are mutually exclusive")),
            (Some(text), None) => seed(text).map(Some).map_err(named("seed")),
            (None, Some(path)) => {
                let path = self.resolve(path);
                let wrong = named(&format!("seed_file {}", path.display()));
                seed_of_file(&path).map(Some).map_err(wrong)
            }
            (None, None) => Ok(None),
        }
    }

    /// All bots, in the order of the entrants.
    pub(super) fn bots(&self) -> impl Iterator<Item = &EntrantConfig> {
        self.entrants.iter().flat_map(EntrantConfig::bots)
    }

    /// The bots of each entrant.
    pub(super) fn roster(&self) -> Roster {
        Roster::of(self.entrants.iter().map(|entrant| entrant.bots().len()))
    }

    /// The names of the entrants, after [`Config::keep_names`].
    pub(super) fn names(&self) -> Vec<String> {
        self.entrants.iter().map(|entrant| entrant.name.clone().unwrap_or_default()).collect()
    }

    /// The names of each entrant's bots, after [`Config::keep_names`].
    pub(super) fn bot_names(&self) -> Vec<Vec<String>> {
        let name = |bot: &EntrantConfig| bot.name.clone().unwrap_or_default();
        self.entrants.iter().map(|entrant| entrant.bots().iter().map(name).collect()).collect()
    }

    /// Stores the name of every bot, which may have been derived from a script that can disappear.
    pub(super) fn keep_names(&mut self, bots: &[BotSpec]) {
        let configs = self.entrants.iter_mut().flat_map(EntrantConfig::bots_mut);
        for (config, entrant) in configs.zip(bots) {
            config.name = Some(entrant.name.clone());
        }
    }
}

/// The relative path from one directory to another.
pub(super) fn relative_path(from: &Path, to: &Path) -> io::Result<PathBuf> {
    let (from, to) = (from.canonicalize()?, to.canonicalize()?);
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    Ok(up.chain(to.components().skip(common)).collect())
}
