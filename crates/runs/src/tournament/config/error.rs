//! What is wrong with a tournament file.

use std::io;
use std::path::PathBuf;
use std::string::FromUtf8Error;

use referee_bots::sandbox::InvalidLimit;
use referee_bots::{CommandDefect, InvalidCommand};
use referee_engine::driver::InvalidClock;
use referee_game::disguise::NotDisguised;
use referee_game::name::NameError;
use referee_game::{Misconfigured, counted};

use crate::config::{
    FilesError, GameError, ListenError, OpeningsError, SandboxError, SeedError, Unpaired, WithSuggestion,
};
use crate::play::NotRestartable;
use crate::workers::WorkersConfigError;

/// A tournament file that cannot be played. As text the keys have their names in the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    #[error("{}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        why: io::Error,
    },
    #[error("{}: {why}", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
        why: FromUtf8Error,
    },
    #[error("{}: {why}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        why: WithSuggestion,
    },
    /// It cannot be written as a file.
    #[error(transparent)]
    NotWritten(#[from] toml::ser::Error),
    /// There is no such game.
    #[error(transparent)]
    Game(#[from] GameError),
    #[error("disguise: {0}")]
    Disguise(NotDisguised),
    #[error("`seed` and `seed_file` are mutually exclusive")]
    TwoSeeds,
    #[error("seed: {0}")]
    Seed(SeedError),
    #[error("seed_file {}: {why}", path.display())]
    SeedFile {
        /// The file.
        path: PathBuf,
        why: SeedError,
    },
    #[error("seats: {0}")]
    Seats(Misconfigured),
    #[error("format: {0}")]
    Format(Misconfigured),
    #[error("rank_by: `{0}` has no amounts; expected \"points\"")]
    RankBy(&'static str),
    #[error("mirror: {0}; `trust_bots = true` overrides this check")]
    Mirror(NotRestartable),
    /// The fault policy does not fit the game.
    #[error(transparent)]
    Policy(Misconfigured),
    /// The matches cannot be adjudicated.
    #[error(transparent)]
    Adjudication(Misconfigured),
    #[error("a race draws an opening for each set: omit `order` and `opening_start`")]
    DrawnOpenings,
    /// The openings cannot be used.
    #[error(transparent)]
    Openings(#[from] OpeningsError),
    #[error("opening_start: 0 is no opening: the first is 1")]
    OpeningZero,
    #[error("opening_start needs `openings`")]
    StartOfNothing,
    #[error("{key}: {value} is not from 1 to {most}")]
    Range {
        key: &'static str,
        value: u32,
        /// The largest value.
        most: u32,
    },
    #[error("processes: {given} is less than the {} needed for `jobs` = {jobs} with {seats} seats", jobs * seats)]
    Processes {
        /// The maximum number of processes.
        given: usize,
        /// The number of jobs.
        jobs: usize,
        /// The number of seats.
        seats: usize,
    },
    /// Bots cannot connect.
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error("{}", match .0 {
        Unpaired::NoKey => "listen.tls_cert needs listen.tls_key",
        Unpaired::NoChain => "listen.tls_key needs listen.tls_cert",
    })]
    Certificate(#[from] Unpaired),
    #[error("[workers]: {0}")]
    Workers(#[from] WorkersConfigError),
    /// There is no such sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("entrant {entrant}: {why}")]
    Entrant {
        /// Its name or number.
        entrant: String,
        why: EntrantError,
    },
    #[error("display_name `{0}`: the entrant needs a `name`, too")]
    DisplayOfNobody(String),
}

impl ConfigError {
    /// Whether the file is wrong, not the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            ConfigError::NotWritten(_) | ConfigError::Listen(ListenError::SelfSigned(_)) => false,
            ConfigError::Sandbox(error) => error.is_usage(),
            ConfigError::Openings(OpeningsError::File { why, .. }) => why.is_usage(),
            _ => true,
        }
    }
}

/// Why an entrant cannot play.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EntrantError {
    /// Its name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("display_name: {0}")]
    DisplayName(NameError),
    #[error("clock_factor {0} is not from 0.01 to 100")]
    ClockFactor(f64),
    #[error("clock_factor {factor}: {why}")]
    Clock { factor: f64, why: InvalidClock },
    /// Its command line cannot be read.
    #[error(transparent)]
    Command(#[from] InvalidCommand),
    /// Its program cannot start.
    #[error(transparent)]
    Defect(#[from] CommandDefect),
    #[error("limits: {0}")]
    Limits(#[from] InvalidLimit),
    /// The directory of its files cannot be used.
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error("`files` are those of a `command`")]
    FilesOfConnection,
    #[error("it needs either a `command` or a `tcp` name")]
    NoSource,
    #[error("a team needs a `name`")]
    NamelessTeam,
    #[error("`team`: {game} with {seats} seats has no partners")]
    NoPartners {
        /// The id of the game.
        game: String,
        /// The number of seats.
        seats: usize,
    },
    #[error("a `team` is fixed, but the format `partners` pairs all entrants with each other")]
    FixedPartners,
    #[error("its team has {}, but a side of {game} has {seats} seats", counted(*bots, "bot", "bots"))]
    TeamSize {
        /// The number of bots.
        bots: usize,
        /// The id of the game.
        game: String,
        /// The number of seats of a side.
        seats: usize,
    },
    #[error("a bot of a team cannot have a `team` itself")]
    TeamInTeam,
    /// It has keys of a bot.
    #[error(
        "only `name`, `display_name` and `absent` are allowed beside `team`: other keys belong to its bots"
    )]
    KeysOfBot,
    #[error("`absent` and `display_name` belong to the team, not to one of its bots")]
    KeysOfTeam,
    #[error("bot {bot}: {why}")]
    Bot {
        /// Its name, or its number in the team.
        bot: String,
        why: Box<EntrantError>,
    },
}
