//! The tournament file.

mod bots;
mod entrant;
mod grade;
mod prepare;

use std::io;
use std::path::{Component, Path, PathBuf};

use referee_engine::sources::BotSpec;
use referee_files::read_regular;
use referee_game::Wrong;
use referee_game::chance::Seed;
use referee_results::Roster;
use referee_stats::grade::GradeScale;
use referee_stats::race::RaceTerms;
use referee_stats::schedule::RankBy;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::RunError;
use crate::config::{
    Dollars, ListenConfig, OpeningConfig, PublishConfig, SandboxConfig, SharedKeys, TermsConfig, defaults,
    from_toml, parse_seed, read_seed,
};
use crate::workers::WorkersConfig;

pub use entrant::EntrantConfig;
pub use prepare::PreparedTournament;

/// The contents of the file; `examples/tournament.toml` shows and explains all keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TournamentConfig {
    /// The label; by default the id of its game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The id of its game, or the directory of one that is a program.
    pub game: String,
    /// The text from which other names for its squares, pieces and moves derive.
    #[serde(skip_serializing_if = "Option::is_none")]
    disguise: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seats: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirror: Option<MirrorConfig>,
    #[serde(default)]
    trust_bots: bool,
    #[serde(rename = "{openings}", default, skip_serializing)]
    pub openings: OpeningConfig,
    #[serde(rename = "{terms}", default, skip_serializing)]
    pub terms: TermsConfig,
    /// Whether all requests come without the list of legal moves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hide_legal: bool,
    /// The number of pairings that are played concurrently.
    #[serde(default = "defaults::one")]
    pub jobs: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<u32>,
    #[serde(default = "slots")]
    slots: u32,
    #[serde(default)]
    pin: bool,
    #[serde(default)]
    restart: Restart,
    /// The cost of matches at which the run is interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::tournament) max_cost: Option<Dollars>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed_file: Option<PathBuf>,
    #[serde(default)]
    rank_by: RankBy,
    format: FormatConfig,
    #[serde(default)]
    options: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<ListenConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<WorkersConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<SandboxConfig>,
    #[serde(default, skip_serializing_if = "PublishConfig::is_default")]
    pub publish: PublishConfig,
    /// The grades of the format `grade`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grades: Option<GradeScale>,
    pub entrants: Vec<EntrantConfig>,
    /// The base of relative paths: the directory of the file or of the tournament.
    #[serde(skip)]
    folder: PathBuf,
}

fn slots() -> u32 {
    defaults::SLOTS
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
    /// Restarts a bot after a crash.
    #[default]
    Died,
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
    Race(RaceTerms),
    Grade {
        /// The tolerance, in points of the scale.
        #[serde(default = "two")]
        within: f64,
        #[serde(default = "sets_of_grade")]
        max_sets: u32,
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
    type Error = Wrong;
    fn try_from(points: f64) -> Result<ByeValue, Wrong> {
        let found = (0..=2).find(|&half_points| f64::from(half_points) == 2.0 * points);
        let wrong = || Wrong::from(format!("a bye of {points} points; expected 1, 0.5 or 0"));
        Ok(ByeValue { half_points: found.ok_or_else(wrong)? })
    }
}

impl From<ByeValue> for f64 {
    fn from(value: ByeValue) -> f64 {
        f64::from(value.half_points) / 2.0
    }
}

fn two() -> f64 {
    2.0
}

fn sets_of_grade() -> u32 {
    5_000
}

fn three() -> u32 {
    3
}

impl TournamentConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not valid.
    pub fn read(path: &Path) -> Result<TournamentConfig, RunError> {
        let unreadable = |why| RunError::from(Wrong::at(path.display().to_string(), why));
        let text = String::from_utf8(read_regular(path).map_err(unreadable)?);
        let text = text.map_err(|why| RunError::from(Wrong::at(path.display().to_string(), why)))?;
        let config = TournamentConfig::parse(&text)
            .map_err(|why| RunError::from(Wrong::at(path.display().to_string(), why)))?;
        let file = std::path::absolute(path).map_err(unreadable)?;
        Ok(config.with_base(file.parent().unwrap_or(Path::new("/"))))
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn parse(text: &str) -> Result<TournamentConfig, Wrong> {
        let [adjudication, terms] = TermsConfig::keys();
        let openings = SharedKeys::of::<OpeningConfig>("{openings}");
        from_toml(text, &[adjudication, terms, openings], |root| vec![root])
    }

    /// The configuration as TOML.
    ///
    /// # Errors
    /// If a value cannot be written.
    pub fn to_toml(&self) -> Result<String, RunError> {
        // The parts without tables come first.
        let (openings, terms) = (toml::to_string(&self.openings)?, toml::to_string(&self.terms.to_table()?)?);
        Ok([openings, terms, toml::to_string(self)?].concat())
    }

    /// Resolves relative paths against this directory.
    pub fn with_base(self, folder: &Path) -> TournamentConfig {
        TournamentConfig { folder: folder.to_owned(), ..self }
    }

    /// The configuration for a file in another directory. Relative paths stay relative, so that both directories can
    /// be moved together. `is_program`: the game is a directory.
    pub fn moved_to(&self, folder: &Path, is_program: bool) -> io::Result<TournamentConfig> {
        let mut config = self.clone().with_base(folder);
        let up = relative_path(folder, &self.folder)?;
        if is_program {
            // Only a path has a slash.
            config.game = Path::new(".").join(&up).join(&self.game).to_string_lossy().into_owned();
        }
        let listen = config.listen.iter_mut();
        let of_listen = listen.flat_map(|l| [&mut l.token_file, &mut l.tls_cert, &mut l.tls_key]);
        let of_workers = config.workers.iter_mut().flat_map(WorkersConfig::paths);
        let (openings, tables) = (&mut config.openings.openings, &mut config.terms.adjudication.syzygy);
        let own = [openings, &mut config.seed_file, tables];
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
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn resolve(&self, path: &Path) -> PathBuf {
        let (mut folder, mut rest) = (self.folder.as_path(), path);
        // The directory of a tournament is not a symbolic link, so this only shortens the displayed path.
        while let (Ok(after), Some(parent)) = (rest.strip_prefix(".."), folder.parent()) {
            (folder, rest) = (parent, after);
        }
        folder.join(rest)
    }

    pub fn openings_file(&self) -> Option<PathBuf> {
        self.openings.openings.as_deref().map(|path| self.resolve(path))
    }

    /// The label of the tournament, by default the id of its game.
    pub fn title<'a>(&'a self, game: &'a str) -> &'a str {
        self.name.as_deref().unwrap_or(game)
    }

    /// The run seed, if it has one.
    ///
    /// # Errors
    /// If it is not valid, or its file cannot be read.
    pub fn seed(&self) -> Result<Option<Seed>, RunError> {
        match (&self.seed, &self.seed_file) {
            (Some(_), Some(_)) => {
                Err(RunError::from(Wrong::new("`seed` and `seed_file` are mutually exclusive")))
            }
            (Some(text), None) => {
                parse_seed(text).map(Some).map_err(|why| RunError::from(Wrong::at("seed", why)))
            }
            (None, Some(path)) => {
                let path = self.resolve(path);
                read_seed(&path)
                    .map(Some)
                    .map_err(|why| RunError::from(Wrong::at(format!("seed_file {}", path.display()), why)))
            }
            (None, None) => Ok(None),
        }
    }

    /// Returns all bots, in the order of the entrants.
    pub fn bots(&self) -> impl Iterator<Item = &EntrantConfig> {
        self.entrants.iter().flat_map(EntrantConfig::bots)
    }

    /// The bots of each entrant.
    pub fn roster(&self) -> Roster {
        Roster::of(self.entrants.iter().map(|entrant| entrant.bots().len()))
    }

    /// The names of the entrants; empty for one without a name, which a stored tournament does not have.
    pub fn names(&self) -> Vec<String> {
        self.entrants.iter().map(|entrant| entrant.name.clone().unwrap_or_default()).collect()
    }

    /// The names of each entrant's bots, likewise.
    pub fn bot_names(&self) -> Vec<Vec<String>> {
        let name = |bot: &EntrantConfig| bot.name.clone().unwrap_or_default();
        self.entrants.iter().map(|entrant| entrant.bots().iter().map(name).collect()).collect()
    }

    /// Stores the name of every bot, which may have been derived from a script that can disappear.
    pub(in crate::tournament) fn keep_names(&mut self, bots: &[BotSpec]) {
        let configs = self.entrants.iter_mut().flat_map(EntrantConfig::bots_mut);
        for (config, entrant) in configs.zip(bots) {
            config.name = Some(entrant.name.clone());
        }
    }
}

/// The relative path from one directory to another.
pub fn relative_path(from: &Path, to: &Path) -> io::Result<PathBuf> {
    let (from, to) = (from.canonicalize()?, to.canonicalize()?);
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    Ok(up.chain(to.components().skip(common)).collect())
}
