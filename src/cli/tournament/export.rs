//! `referee tournament export`: exports the matches of a tournament.

use std::path::{Path, PathBuf};

use crate::cli::exit::{Exit, Failure};
use crate::cli::export::notation;
use crate::cli::files::{OutputOptions, read};
use crate::cli::json::ExportedMatch;
use crate::cli::screen;
use crate::cli::tournament::unreadable;
use crate::files::unsealed;
use crate::game::counted;
use crate::game::json;
use crate::game::{Catalog, Chain, Sheet};
use crate::record;
use crate::report::tournament::{MatchList, match_headings, movetext};
use crate::runs::config::KnownGames;
use crate::runs::tournament::{StoredTournament, open_results};
use crate::store::{MatchRow, Results};

/// Export the matches of a tournament to a format that other programs read
///
/// csv has one row and json one object per attempt at a match, including aborted ones: the entrants, the round, the
/// time, the result, and the record. text has tags and the moves of each match, for every game; pdn is PDN, for
/// checkers, and pgn is PGN, for chess; a game whose rules are a program has the notations that its `game.toml` names. These are generated from the records, which are verified first: a record with errors is rejected, the
/// errors are printed to standard error, the exit code is 1, and the other records are still exported. They omit
/// matches without a record and those of incomplete sets, whose records would reveal the deal; standard error has
/// their number.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee tournament export cup --format csv -o matches.csv
  referee tournament export cup --format json | jq .ended_by
  referee tournament export cup --format pdn -o games.pdn")]
pub(super) struct Args {
    /// The directory of the tournament
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// csv, json, text, or a notation of the game, such as pdn or pgn
    #[arg(long, value_name = "FORMAT")]
    format: String,
    #[command(flatten)]
    output: OutputOptions,
}

pub(super) fn run(args: &Args, games: &KnownGames) -> Result<Exit, Failure> {
    let db = open_results(&args.folder)?;
    let failed = |error| unreadable(&args.folder, &error);
    let about = db.about().map_err(failed)?;
    let names: Vec<String> = db.entrants().map_err(failed)?.into_iter().map(|row| row.name).collect();
    let stored = StoredTournament::read(&args.folder, &db, games)?;
    let matches = MatchList::of(&stored.schedule, names, &stored.config.bot_names(), &stored.rulings);
    let mut records = SheetReader::of(&args.folder, stored.games.catalog());
    let mut out = Output { options: &args.output, kept: Vec::new() };
    match &*args.format {
        "csv" => {
            out.add(match_headings(about.seating.seats()).as_bytes())?;
            each(&args.folder, &db, |row| out.add(matches.report(row).csv().as_bytes()))?;
        }
        "json" => each(&args.folder, &db, |row| {
            let json = json::text(&ExportedMatch { report: &matches.report(row) });
            out.add((json + "\n").as_bytes())
        })?,
        "text" => each(&args.folder, &db, |row| match records.sheet(row)? {
            Some(sheet) => {
                let sheet = Sheet { tags: matches.tags(&about, row), ..sheet };
                out.add(movetext(&about, row, &sheet).as_bytes())
            }
            None => Ok(()),
        })?,
        name => {
            let notation = notation(stored.games.catalog(), &about.game, name);
            let notation = notation.map_err(|what| {
                Failure::usage(format!("--format {name}: {what}; every game has csv, json and text"))
            })?;
            each(&args.folder, &db, |row| {
                let Some(sheet) = records.sheet(row)? else { return Ok(()) };
                let sheet = Sheet { tags: matches.tags(&about, row), ..sheet };
                let mut text = String::new();
                notation
                    .write(&sheet, &mut text)
                    .map_err(|what| Failure::cannot_run(format!("{}: {}", row.id, Chain(&what))))?;
                out.add(text.as_bytes())
            })?;
        }
    }
    out.close()?;
    Ok(records.into_exit())
}

/// Writes every attempt at a match, up to the first error.
fn each(
    folder: &Path,
    db: &Results,
    mut each: impl FnMut(&MatchRow) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut failure = None;
    let read = db.for_each_match(|row| {
        each(&row).map_err(|error| {
            failure = Some(error);
            std::io::Error::from(std::io::ErrorKind::Other).into()
        })
    });
    match failure {
        Some(failure) => Err(failure),
        None => read.map_err(|error| unreadable(folder, &error)),
    }
}

/// Standard output, written at once, or a file, written at the end.
struct Output<'a> {
    options: &'a OutputOptions,
    kept: Vec<u8>,
}

impl Output<'_> {
    fn add(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if !self.options.is_file() {
            return self.options.write(bytes);
        }
        self.kept.extend(bytes);
        Ok(())
    }

    fn close(self) -> Result<(), Failure> {
        if self.options.is_file() { self.options.write(&self.kept) } else { Ok(()) }
    }
}

/// Reads the records of the tournament.
struct SheetReader<'a> {
    folder: PathBuf,
    catalog: &'a Catalog,
    /// The exit code: whether all records were valid.
    exit: Exit,
    /// The number of matches whose record is not sealed yet.
    unsealed: u32,
    /// The number of matches whose record is missing.
    missing: u32,
}

impl<'a> SheetReader<'a> {
    fn of(tournament: &Path, catalog: &'a Catalog) -> SheetReader<'a> {
        let folder = tournament.join("records");
        SheetReader { folder, catalog, exit: Exit::Done, unsealed: 0, missing: 0 }
    }

    fn into_exit(self) -> Exit {
        for (count, why) in [
            (self.unsealed, "their records are sealed when no match of the deal is left to play"),
            (self.missing, "their records are missing"),
        ] {
            if count > 0 {
                let are = counted(count, "match is", "matches are");
                screen::stderr_line(format_args!("{are} left out: {why}"));
            }
        }
        self.exit
    }

    /// The contents of a record; `None` if it is missing or invalid.
    fn sheet(&mut self, row: &MatchRow) -> Result<Option<Sheet>, Failure> {
        let Some(name) = &row.record else { return Ok(None) };
        let path = self.folder.join(name);
        if !path.exists() {
            *(if unsealed(&path).exists() { &mut self.unsealed } else { &mut self.missing }) += 1;
            return Ok(None);
        }
        Ok(match record::sheet(&read(&path)?, self.catalog) {
            Ok((_, sheet)) => Some(sheet),
            Err(differences) => {
                self.exit = Exit::No;
                for difference in differences {
                    screen::stderr_line(format_args!("{}: {}", path.display(), Chain(&difference)));
                }
                None
            }
        })
    }
}
