//! `referee export`: writes records in other notations.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::files::{OutputOptions, expand, read};
use crate::cli::find_game::with_games;
use crate::cli::output::TolerantStdout;
use crate::cli::screen::{self, Screen};
use crate::cli::{Exit, Failure};
use crate::game::Catalog;
use crate::record;

/// Export records to a notation that other programs read: PDN for checkers, PGN for chess
///
/// Every record is verified first. A record with errors is rejected: the errors are printed to standard error, the
/// exit code is 1, and the other records are still exported. `referee rules GAME` describes the notation. In PDN, 1-0 is a
/// win of Black, who has seat 0 and moves first. PGN has the time of each move, and score and depth if the bot sends them
/// as `info`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee export records --pdn > games.pdn
  referee export records/m1.jsonl records/m2.jsonl --pgn -o games.pgn")]
pub(super) struct Args {
    /// Records, or directories of records
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Export PDN, for checkers
    #[arg(long, required_unless_present = "pgn", conflicts_with = "pgn")]
    pdn: bool,
    /// Export PGN, for chess
    #[arg(long)]
    pgn: bool,
    /// The directory of a game whose rules are a program, for its records; may be repeated
    #[arg(long = "game", value_name = "DIR")]
    games: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputOptions,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let files = expand(&args.files, &["jsonl", "html"])?;
    let catalog = &with_games(&args.games, catalog)?;
    let mut out = Screen(TolerantStdout::new());
    let mut exit = Exit::Done;
    let mut text = String::new();
    let name = if args.pgn { "PGN" } else { "PDN" };
    for file in &files {
        match record::sheet(&read(file)?, catalog) {
            Ok((game, sheet)) => {
                let rules = catalog.find(&game).ok().and_then(|rules| rules.notation());
                let notation = rules.filter(|notation| notation.name() == name);
                let wrong = |what: &dyn Display| Failure::usage(format!("{}: {what}", file.display()));
                let notation =
                    notation.ok_or_else(|| wrong(&format_args!("{game} has no {name} notation")))?;
                notation.write(&sheet, &mut text).map_err(|what| wrong(&what))?;
            }
            Err(differences) => {
                exit = Exit::No;
                for difference in differences {
                    screen::stderr_line(format_args!("{}: {difference}", file.display()));
                }
            }
        }
        if !args.output.is_file() {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    if args.output.is_file() {
        args.output.write(text.as_bytes())?;
    }
    out.0.end(exit)
}
