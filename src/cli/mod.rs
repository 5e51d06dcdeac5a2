//! The command line: one file per subcommand.
//!
//! [`main`] is the whole command `referee` with the games of a [`Catalog`]. A program with a game of its own is
//!
//! ```no_run
//! # use referee::games::jeex::Jeex as MyGame;
//! fn main() -> std::process::ExitCode {
//!     referee::cli::main(referee::game::Catalog::empty().with::<MyGame>())
//! }
//! ```

mod best;
mod bots;
mod check;
mod completions;
mod debug;
mod engine;
mod exit;
mod export;
mod files;
mod find_game;
#[cfg(feature = "http")]
mod follow;
mod game;
mod games;
mod grade;
mod human;
mod imagine;
mod init;
mod json;
#[cfg(feature = "http")]
mod league;
mod listen;
mod log;
mod luck;
mod man;
mod mcp;
mod openings;
mod options;
mod output;
mod perft;
mod person;
mod play;
mod progress;
mod publish;
mod regress;
mod relay;
mod rules;
mod ruling;
mod sandbox;
mod schema;
mod screen;
mod seat;
#[cfg(feature = "http")]
mod serve;
#[cfg(feature = "http")]
mod service;
mod show;
mod signals;
mod spec;
mod sprt;
mod start;
mod stdio;
#[cfg(feature = "http")]
mod submit;
mod submitted;
mod tournament;
mod user;
mod verify;
mod watch;
mod worker;
mod workers;
mod workshop;

pub use exit::{Exit, Failure};
#[cfg(feature = "fuzzing")]
pub(crate) use imagine::ImagineServer;
use screen::stderr_line;
#[cfg(feature = "fuzzing")]
pub(crate) use tournament::read_file as read_tournament;

use std::io::Write;
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::bot::{EXEC, exec_with};
use crate::bridge;
use crate::cli::log::StderrLog;
use crate::cli::screen::{OneLine, Screen};
use crate::game::Catalog;
use crate::program::remove_copies;
use crate::runs::submissions::BUILTIN;

/// Runs the command line of this process with the games of the catalog, and returns its exit code.
///
/// Bots are started through this program itself, so `main` of an embedding program calls nothing else before it.
pub fn main(catalog: Catalog) -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == EXEC) {
        return exec_with(args, &[BUILTIN, bridge::BUILTIN]);
    }
    let cli = Cli::try_parse().unwrap_or_else(|error| without_game_option(error).exit());
    let ended = cli.run(&catalog);
    remove_copies();
    match ended {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // The reader has closed standard output, which is not an error.
            if failure.exit != Exit::Done {
                stderr_line(format_args!("error: {failure}"));
            }
            failure.exit.into()
        }
    }
}

/// Replaces the tip of an error about `--game`: the game is an argument.
fn without_game_option(mut error: clap::Error) -> clap::Error {
    let option = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    if error.kind() == ErrorKind::UnknownArgument && option.as_deref() == Some("--game") {
        let mut args = std::env::args().skip(1);
        let command = args.next().unwrap_or_default();
        let game = args.skip_while(|arg| arg != "--game").nth(1).unwrap_or_else(|| "GAME".to_owned());
        let tip = format!("the game is an argument, not an option: 'referee {command} {game} ...'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// The headless referee for programs that play board games against each other.
#[derive(Debug, Parser)]
#[command(name = "referee", version, after_help = exit::HELP)]
pub struct Cli {
    /// The log level on standard error: off, error, warn, info, debug or trace [default: warn; for `serve` info]
    #[arg(long, global = true, help_heading = "Logging", value_name = "LEVEL")]
    log_level: Option<LevelFilter>,
    /// The log format
    #[arg(long, global = true, help_heading = "Logging", value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Play(Box<play::Args>),
    Regress(Box<regress::Args>),
    Best(Box<best::Args>),
    Grade(Box<grade::Args>),
    Openings(Box<openings::Args>),
    Sprt(sprt::Args),
    Human(Box<human::Args>),
    Mcp(Box<mcp::Args>),
    Stdio(stdio::Args),
    Engine(engine::Args),
    Imagine(imagine::Args),
    Tournament(Box<tournament::Args>),
    #[cfg(feature = "http")]
    Serve(serve::Args),
    #[cfg(feature = "http")]
    League(league::Args),
    #[cfg(feature = "http")]
    Submit(submit::Args),
    Workshop(workshop::Args),
    Worker(worker::Args),
    Check(Box<check::Args>),
    Debug(Box<debug::Args>),
    Sandbox(sandbox::Args),
    Verify(verify::Args),
    Luck(luck::Args),
    Publish(publish::Args),
    Show(show::Args),
    Export(export::Args),
    Game(game::Args),
    Games(games::Args),
    Rules(rules::Args),
    Spec(spec::Args),
    Schema(schema::Args),
    Perft(perft::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    Relay(relay::Args),
}

impl Cli {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// The error message and the exit code.
    pub fn run(self, catalog: &Catalog) -> Result<Exit, Failure> {
        let _log = self.start_logging()?;
        let Some(command) = self.command else {
            let mut out = output::stdout();
            out.write_all(start::FIRST_STEPS.as_bytes())?;
            out.flush()?;
            return Ok(Exit::Usage);
        };
        match command {
            Command::Init(args) => init::run(&args, catalog),
            Command::Play(args) => play::run(*args, catalog),
            Command::Regress(args) => regress::run(*args, catalog),
            Command::Best(args) => best::run(*args, catalog),
            Command::Grade(args) => grade::run(&args, catalog),
            Command::Openings(args) => openings::run(*args, catalog),
            Command::Sprt(args) => sprt::run(&args),
            Command::Human(args) => human::run(*args, catalog),
            Command::Mcp(args) => mcp::run(*args, catalog),
            Command::Stdio(args) => stdio::run(args, catalog),
            Command::Engine(args) => engine::run(args),
            Command::Imagine(args) => imagine::run(&args, catalog),
            Command::Tournament(args) => tournament::run(*args, catalog),
            #[cfg(feature = "http")]
            Command::Serve(args) => serve::run(&args, catalog),
            #[cfg(feature = "http")]
            Command::League(args) => league::run(args, catalog),
            #[cfg(feature = "http")]
            Command::Submit(args) => submit::run(&args),
            Command::Workshop(args) => workshop::run(args, catalog),
            Command::Worker(args) => worker::run(args, catalog),
            Command::Check(args) => check::run(*args, catalog),
            Command::Debug(args) => debug::run(&args, catalog),
            Command::Sandbox(args) => sandbox::run(&args),
            Command::Verify(args) => verify::run(&args, catalog),
            Command::Luck(args) => luck::run(&args, catalog),
            Command::Publish(args) => publish::run(&args),
            Command::Show(args) => show::run(&args, catalog),
            Command::Export(args) => export::run(&args, catalog),
            Command::Game(args) => game::run(&args),
            Command::Games(args) => games::run(&args, catalog),
            Command::Rules(args) => rules::run(&args, catalog),
            Command::Spec(args) => spec::run(&args),
            Command::Schema(args) => schema::run(&args, catalog),
            Command::Perft(args) => perft::run(&args, catalog),
            Command::Completions(args) => completions::run(&args, Cli::command(), catalog),
            Command::Man(args) => man::run(&args, Cli::command()),
            Command::Relay(args) => relay::run(&args),
        }
    }

    fn start_logging(&self) -> Result<StderrLog, Failure> {
        let log = StderrLog::open().map_err(Failure::cannot_run)?;
        let entry = log.entry();
        let usual = match self.command {
            #[cfg(feature = "http")]
            Some(Command::Serve(_)) => LevelFilter::INFO,
            _ => LevelFilter::WARN,
        };
        // Libraries log warnings only, unless --log-level asks for more.
        let others = self.log_level.unwrap_or(LevelFilter::WARN);
        let targets =
            Targets::new().with_default(others).with_target("referee", self.log_level.unwrap_or(usual));
        let format = tracing_subscriber::fmt::layer();
        let registry = tracing_subscriber::registry().with(targets);
        match self.log_format {
            LogFormat::Text => {
                registry.with(format.with_writer(move || Screen(entry.clone()))).init();
            }
            LogFormat::Json => {
                registry.with(format.with_writer(move || OneLine(entry.clone())).json()).init();
            }
        }
        Ok(log)
    }
}
