//! `referee export`: writes records in other notations.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::files::{OutputOptions, expand, read};
use crate::cli::find_game::with_games;
use crate::cli::output::TolerantStdout;
use crate::cli::screen::{self, Screen};
use crate::game::erased::RulesError;
use crate::game::{Catalog, Chain, Notation, Wrong};
use crate::record;

/// Export records to a notation that other programs read, such as PDN for checkers or PGN for chess
///
/// Every record is verified first. A record with errors is rejected: the errors are printed to standard error, the
/// exit code is 1, and the other records are still exported. `referee rules GAME` describes the notation. In PDN, 1-0 is a
/// win of Black, who has seat 0 and moves first. PGN has the time of each move, and score and depth if the bot sends them
/// as `info`. A game whose rules are a program has the notations that its `game.toml` names.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee export records --format pdn > games.pdn
  referee export records/m1.jsonl records/m2.jsonl --format pgn -o games.pgn
  referee export records --game examples/games/go --format sgf")]
pub(super) struct Args {
    /// Records, or directories of records
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The notation: pdn for checkers, pgn for chess, or one of a game whose rules are a program
    #[arg(long, value_name = "NAME")]
    format: String,
    /// The directory of a game whose rules are a program, for its records; may be repeated
    #[arg(long = "game", value_name = "DIR")]
    games: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputOptions,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    args.output.check()?;
    let files = expand(&args.files, &["jsonl", "html"])?;
    let catalog = &with_games(&args.games, catalog)?;
    let mut out = Screen(TolerantStdout::new());
    let mut exit = Exit::Done;
    let mut text = String::new();
    for file in &files {
        match record::sheet(&read(file)?, catalog) {
            Ok((game, sheet)) => {
                let of_file = |what: &dyn Display| format!("{}: {what}", file.display());
                let notation = notation(catalog, &game, &args.format);
                let notation = notation.map_err(|what| Failure::usage(of_file(&what)))?;
                notation.write(&sheet, &mut text).map_err(|what| match what {
                    RulesError::RulesFailed(failed) => Failure::cannot_run(of_file(&failed)),
                    what => Failure::usage(of_file(&Chain(&what))),
                })?;
            }
            Err(differences) => {
                exit = Exit::No;
                for difference in differences {
                    screen::stderr_line(format_args!("{}: {}", file.display(), Chain(&difference)));
                }
            }
        }
        if !args.output.is_file() {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    // Without a valid record, nothing is left in its place.
    if args.output.is_file() && !text.is_empty() {
        args.output.write(text.as_bytes())?;
    }
    out.0.end(exit)
}

/// The notation of a game.
///
/// # Errors
/// Names those that the game has.
pub(super) fn notation<'a>(catalog: &'a Catalog, game: &str, name: &str) -> Result<&'a dyn Notation, Wrong> {
    let rules = catalog.find(game)?;
    rules.notation(name).ok_or_else(|| {
        let known: Vec<String> =
            rules.notations().iter().map(|notation| notation.name().to_ascii_lowercase()).collect();
        let others = if known.is_empty() {
            ", nor any other".to_owned()
        } else {
            format!("; it has {}", known.join(", "))
        };
        format!("{game} has no {} notation{others}", name.to_ascii_uppercase()).into()
    })
}
