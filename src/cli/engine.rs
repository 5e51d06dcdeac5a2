//! `referee engine`: an engine that speaks a dialect of its field, as a bot.

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::bot::{Budget, Dialect, EngineCommand};
use crate::bridge;
use crate::cli::exit::{Exit, Failure};

/// Play with an engine that speaks UCI, xboard, USI, GTP or Hub
///
/// This is a bot: it starts the engine and translates between it and the referee. `uci:stockfish?Hash=16` is short for it
/// wherever a bot stands. `referee play` and other subcommands start it; `guide/engines.md` says which games an engine
/// plays.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee play chess uci:stockfish xboard:hoichess
  referee play chess 'uci:stockfish?Hash=16&nodes=10000' 'uci:./mine?Clear%20Hash' -n 20 --mirror
  referee play chess 'referee engine uci --option Hash=16 --budget nodes=10000 -- stockfish' uci:./mine
  referee check uci:./mine")]
pub(super) struct Args {
    /// What the engine speaks
    #[arg(value_parser = dialects())]
    dialect: Dialect,
    /// An option of the engine; a button has no value; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    option: Vec<String>,
    /// What it may use for each move, instead of the clock: nodes=N, depth=N or movetime=MS; may be repeated
    #[arg(long, value_name = "LIMIT=N")]
    budget: Vec<String>,
    /// Let it think while the opponent does
    #[arg(long)]
    ponder: bool,
    /// The program of the engine and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

fn dialects() -> impl TypedValueParser<Value = Dialect> {
    let words = Dialect::ALL.map(Dialect::word);
    PossibleValuesParser::new(words)
        .try_map(|word| Dialect::ALL.into_iter().find(|dialect| dialect.word() == word).ok_or("no dialect"))
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let mut budget = Budget::default();
    for part in &args.budget {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        budget.set(name, value).map_err(|error| Failure::usage(format!("--budget: {error}")))?;
    }
    let options = args.option.iter().map(|option| match option.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (option.clone(), None),
    });
    let Args { dialect, ponder, command: argv, .. } = args;
    let engine = EngineCommand { dialect, argv, options: options.collect(), budget, ponder };
    Ok(match bridge::run(&engine, None) {
        0 => Exit::Done,
        2 => Exit::Usage,
        _ => Exit::CannotRun,
    })
}
