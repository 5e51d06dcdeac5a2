//! What is wrong with a tournament file.

use std::io;
use std::path::PathBuf;
use std::string::FromUtf8Error;

use referee_bots::sandbox::InvalidSandbox;
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
    #[error("{}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        why: io::Error,
    },
    #[error("{}", path.display())]
    NoText {
        path: PathBuf,
        #[source]
        why: FromUtf8Error,
    },
    #[error("{}", path.display())]
    Invalid {
        path: PathBuf,
        #[source]
        why: WithSuggestion,
    },
    #[error(transparent)]
    NotWritten(#[from] toml::ser::Error),
    #[error(transparent)]
    Game(#[from] GameError),
    #[error("disguise")]
    Disguise(#[source] NotDisguised),
    #[error("`seed` and `seed_file` are mutually exclusive")]
    TwoSeeds,
    #[error("seed")]
    Seed(#[source] SeedError),
    #[error("seed_file {}", path.display())]
    SeedFile {
        path: PathBuf,
        #[source]
        why: SeedError,
    },
    #[error("seats")]
    Seats(#[source] Misconfigured),
    #[error("format")]
    Format(#[source] Misconfigured),
    #[error("rank_by: `{0}` has no amounts; expected \"points\"")]
    RankBy(&'static str),
    #[error("mirror: {0}; `trust_bots = true` overrides this check")]
    Mirror(NotRestartable),
    #[error(transparent)]
    Policy(Misconfigured),
    #[error(transparent)]
    Adjudication(Misconfigured),
    #[error("a race or a grade draws an opening for each set: omit `order` and `opening_start`")]
    DrawnOpenings,
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
    Processes { given: usize, jobs: usize, seats: usize },
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error("{}", match .0 {
        Unpaired::NoKey => "listen.tls_cert needs listen.tls_key",
        Unpaired::NoChain => "listen.tls_key needs listen.tls_cert",
    })]
    Certificate(Unpaired),
    #[error("[workers]")]
    Workers(#[from] WorkersConfigError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("entrant {entrant}")]
    Entrant {
        entrant: String,
        #[source]
        why: EntrantError,
    },
    #[error("display_name `{0}`: the entrant needs a `name`, too")]
    DisplayOfNobody(String),
}

/// Why an entrant cannot play.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EntrantError {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("display_name")]
    DisplayName(#[source] NameError),
    #[error("clock_factor {0} is not from 0.01 to 100")]
    ClockFactor(f64),
    #[error("clock_factor {factor}")]
    Clock {
        factor: f64,
        #[source]
        why: InvalidClock,
    },
    #[error(transparent)]
    Command(#[from] InvalidCommand),
    #[error(transparent)]
    Defect(#[from] CommandDefect),
    #[error("limits")]
    Limits(#[from] InvalidSandbox),
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error("`files` are those of a `command`")]
    FilesOfConnection,
    #[error("it needs either a `command` or a `tcp` name")]
    NoSource,
    #[error("a team needs a `name`")]
    NamelessTeam,
    #[error("`team`: {game} with {seats} seats has no partners")]
    NoPartners { game: String, seats: usize },
    #[error("a `team` is fixed, but the format `partners` pairs all entrants with each other")]
    FixedPartners,
    #[error("its team has {}, but a side of {game} has {seats} seats", counted(*bots, "bot", "bots"))]
    TeamSize { bots: usize, game: String, seats: usize },
    #[error("a bot of a team cannot have a `team` itself")]
    TeamInTeam,
    #[error(
        "only `name`, `display_name` and `absent` are allowed beside `team`: other keys belong to its bots"
    )]
    KeysOfBot,
    #[error("`absent` and `display_name` belong to the team, not to one of its bots")]
    KeysOfTeam,
    #[error("bot {bot}")]
    Bot {
        bot: String,
        #[source]
        why: Box<EntrantError>,
    },
}
