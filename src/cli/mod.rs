//! The command line: one file per subcommand.

mod check;
mod completions;
mod debug;
mod exit;
mod export;
mod files;
mod games;
mod human;
mod log;
mod man;
mod openings;
mod options;
mod output;
mod perft;
mod person;
mod play;
mod progress;
mod regress;
mod relay;
mod rules;
mod schema;
mod screen;
mod show;
mod signals;
mod spec;
mod sprt;
mod stdio;
mod tournament;
mod verify;

pub use exit::{Exit, Failure};
pub use screen::complain;

use clap::{Parser, Subcommand, ValueEnum};
use rustix::process::{Resource, getrlimit, setrlimit};
use tracing::level_filters::LevelFilter;

use crate::bot::{Launch, OrphanReaper};
use crate::cli::log::Log;
use crate::cli::screen::{OneLine, Screen};

/// The headless referee for programs that play board games against each other.
#[derive(Debug, Parser)]
#[command(name = "referee", version, after_help = exit::HELP, arg_required_else_help = true)]
pub struct Cli {
    /// The log level on standard error: off, error, warn, info, debug or trace
    #[arg(long, global = true, help_heading = "Logging", value_name = "LEVEL", default_value = "warn")]
    log_level: LevelFilter,
    /// The log format
    #[arg(long, global = true, help_heading = "Logging", value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    Play(Box<play::Args>),
    Regress(Box<regress::Args>),
    Sprt(sprt::Args),
    Human(human::Args),
    Stdio(stdio::Args),
    Tournament(tournament::Args),
    Check(check::Args),
    Debug(debug::Args),
    Verify(verify::Args),
    Show(show::Args),
    Export(export::Args),
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
    pub fn run(self) -> Result<Exit, Failure> {
        let _log = self.start_logging()?;
        match self.command {
            Command::Play(args) => play::run(*args),
            Command::Regress(args) => regress::run(*args),
            Command::Sprt(args) => sprt::run(&args),
            Command::Human(args) => human::run(args),
            Command::Stdio(args) => stdio::run(args),
            Command::Tournament(args) => tournament::run(args),
            Command::Check(args) => check::run(args),
            Command::Debug(args) => debug::run(&args),
            Command::Verify(args) => verify::run(&args),
            Command::Show(args) => show::run(&args),
            Command::Export(args) => export::run(&args),
            Command::Games(args) => games::run(&args),
            Command::Rules(args) => rules::run(&args),
            Command::Spec(args) => spec::run(&args),
            Command::Schema(args) => schema::run(&args),
            Command::Perft(args) => perft::run(&args),
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args),
            Command::Relay(args) => relay::run(&args),
        }
    }

    fn start_logging(&self) -> Result<Log, Failure> {
        let log = Log::open().map_err(Failure::cannot_run)?;
        let entry = log.entry();
        let format = tracing_subscriber::fmt().with_max_level(self.log_level);
        match self.log_format {
            LogFormat::Text => format.with_writer(move || Screen(entry.clone())).with_ansi(false).init(),
            LogFormat::Json => format.with_writer(move || OneLine(entry.clone())).json().init(),
        }
        Ok(log)
    }
}

/// Raises the limit of open files. Each process needs three descriptors and each connection one; many systems have a
/// soft limit of 1,024.
fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "cannot raise the limit of open files");
    }
}

/// How this program starts bots.
fn launch() -> Result<Launch, Failure> {
    Launch::through_this_program()
        .map_err(|error| Failure::cannot_run(format!("cannot find the path of this program: {error}")))
}

/// Runs a future on the current thread.
fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::cannot_run)?;
    Ok(with_bots(|| runtime.block_on(future)))
}

/// Runs a function that starts bots. No bot process is left when it returns.
fn with_bots<T>(work: impl FnOnce() -> T) -> T {
    // A bot of the same user must not read the referee's memory, which contains seeds and secrets of other bots.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)
    {
        tracing::warn!(%error, "cannot make the referee non-dumpable");
    }
    raise_open_files();
    let orphanage = OrphanReaper::open();
    let result = work();
    orphanage.close();
    result
}
