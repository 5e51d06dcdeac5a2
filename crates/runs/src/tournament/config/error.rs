//! What is wrong with a tournament file.

use std::io;
use std::path::PathBuf;
use std::string::FromUtf8Error;

use referee_bots::sandbox::InvalidLimit;
use referee_bots::{CommandDefect, InvalidCommand};
use referee_engine::driver::InvalidClock;
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
    /// The file cannot be read.
    #[error("{}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// The file is not text.
    #[error("{}: {why}", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: FromUtf8Error,
    },
    /// The file is not valid.
    #[error("{}: {why}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: WithSuggestion,
    },
    /// It cannot be written as a file.
    #[error(transparent)]
    NotWritten(#[from] toml::ser::Error),
    /// There is no such game.
    #[error(transparent)]
    Game(#[from] GameError),
    /// There are two seeds.
    #[error("`seed` and `seed_file` are mutually exclusive")]
    TwoSeeds,
    /// The seed is not valid.
    #[error("seed: {0}")]
    Seed(SeedError),
    /// The file of the seed is not valid.
    #[error("seed_file {}: {why}", path.display())]
    SeedFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: SeedError,
    },
    /// The game has no such number of seats.
    #[error("seats: {0}")]
    Seats(Misconfigured),
    /// The format does not fit the entrants.
    #[error("format: {0}")]
    Format(Misconfigured),
    /// The game has no amounts to rank by.
    #[error("rank_by: `{0}` has no amounts; expected \"points\"")]
    RankBy(&'static str),
    /// A deal would be known to a bot that plays it again.
    #[error("mirror: {0}; `trust_bots = true` overrides this check")]
    Mirror(NotRestartable),
    /// The fault policy does not fit the game.
    #[error(transparent)]
    Policy(Misconfigured),
    /// A race has no order of openings.
    #[error("a race draws an opening for each set: omit `order` and `opening_start`")]
    DrawnOpenings,
    /// The openings cannot be used.
    #[error(transparent)]
    Openings(#[from] OpeningsError),
    /// Openings are counted from one.
    #[error("opening_start: 0 is no opening: the first is 1")]
    OpeningZero,
    /// There is no file whose openings could be counted.
    #[error("opening_start needs `openings`")]
    StartOfNothing,
    /// A number is out of its range.
    #[error("{key}: {value} is not from 1 to {most}")]
    Range {
        /// The key.
        key: &'static str,
        /// Its value.
        value: u32,
        /// The largest value.
        most: u32,
    },
    /// Not all seats of all jobs can have a process.
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
    /// Half of a certificate is missing.
    #[error("{}", match .0 {
        Unpaired::NoKey => "listen.tls_cert needs listen.tls_key",
        Unpaired::NoChain => "listen.tls_key needs listen.tls_cert",
    })]
    Certificate(#[from] Unpaired),
    /// Workers cannot play.
    #[error("[workers]: {0}")]
    Workers(#[from] WorkersConfigError),
    /// There is no such sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// An entrant cannot play.
    #[error("entrant {entrant}: {why}")]
    Entrant {
        /// Its name or number.
        entrant: String,
        /// Why not.
        why: EntrantError,
    },
    /// A displayed name has no name.
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
    /// The name that people see cannot be used.
    #[error("display_name: {0}")]
    DisplayName(NameError),
    /// Its time is out of range.
    #[error("clock_factor {0} is not from 0.01 to 100")]
    ClockFactor(f64),
    /// No match can have its clock.
    #[error("clock_factor {factor}: {why}")]
    Clock {
        /// The factor.
        factor: f64,
        /// Why not.
        why: InvalidClock,
    },
    /// Its command line cannot be read.
    #[error(transparent)]
    Command(#[from] InvalidCommand),
    /// Its program cannot start.
    #[error(transparent)]
    Defect(#[from] CommandDefect),
    /// A limit is not valid.
    #[error("limits: {0}")]
    Limits(#[from] InvalidLimit),
    /// The directory of its files cannot be used.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// It connects, and has no files here.
    #[error("`files` are those of a `command`")]
    FilesOfConnection,
    /// Nothing says which bot it is.
    #[error("it needs either a `command` or a `tcp` name")]
    NoSource,
    /// A team has no name.
    #[error("a team needs a `name`")]
    NamelessTeam,
    /// The game has no teams.
    #[error("`team`: {game} with {seats} seats has no partners")]
    NoPartners {
        /// The id of the game.
        game: String,
        /// The number of seats.
        seats: usize,
    },
    /// The format makes teams itself.
    #[error("a `team` is fixed, but the format `partners` pairs all entrants with each other")]
    FixedPartners,
    /// It has too many or too few bots.
    #[error("its team has {}, but a side of {game} has {seats} seats", counted(*bots, "bot", "bots"))]
    TeamSize {
        /// The number of bots.
        bots: usize,
        /// The id of the game.
        game: String,
        /// The number of seats of a side.
        seats: usize,
    },
    /// One of its bots is a team.
    #[error("a bot of a team cannot have a `team` itself")]
    TeamInTeam,
    /// It has keys of a bot.
    #[error(
        "only `name`, `display_name` and `absent` are allowed beside `team`: other keys belong to its bots"
    )]
    KeysOfBot,
    /// One of its bots has keys of the team.
    #[error("`absent` and `display_name` belong to the team, not to one of its bots")]
    KeysOfTeam,
    /// One of its bots cannot play.
    #[error("bot {bot}: {why}")]
    Bot {
        /// Its name, or its number in the team.
        bot: String,
        /// Why not.
        why: Box<EntrantError>,
    },
}
