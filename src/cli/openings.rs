//! The options for openings, and `referee openings`.

mod make;

pub(super) use make::{Args, run};

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use serde_json::{Map, Value};

use crate::cli::exit::AskedFor as _;
use crate::cli::exit::Failure;
use crate::cli::screen::stderr_line;
use crate::game::chance::Seed;
use crate::game::erased::Rules;
use crate::game::{Chain, Seating};
use crate::referee::opening;
use crate::runner::Openings;
use crate::runs::config::{OpeningBook, OpeningOrder, OpeningSource, OpeningsError};

#[derive(Debug, ClapArgs)]
pub(super) struct OpeningOptions {
    /// Start each match with this number of random moves, derived from its seed, in games that have openings
    /// [default: 0, in `regress` 6 for checkers, 8 for chess and 4 for jeex]; with --openings, cut each game of the file after this
    /// number of moves, and leave out games that are shorter or invalid until then; 0 uses whole games
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(opening::MAX_PLIES)))]
    opening_plies: Option<u32>,
    /// Start each match, with --mirror each set, with the next opening of this file; after the last, start again from
    /// the first. `referee rules GAME` describes the formats: .pdn and .fen for checkers, .pgn, .epd
    /// and .fen for chess, .txt for jeex
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Begin with this opening of the order, counted from 1, for a run that continues where another one ended in a file
    #[arg(long, value_name = "K", requires = "openings", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    opening_start: u32,
    /// The order of the openings; the random order is derived from the run seed
    #[arg(long, value_enum, requires = "openings", default_value_t = OrderOption::File)]
    order: OrderOption,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OrderOption {
    File,
    Random,
}

impl OpeningOptions {
    /// `plies` is the default number of random moves.
    pub(super) fn source(self, plies: u32) -> OpeningSource {
        match self.openings {
            Some(path) => OpeningSource::File(OpeningBook {
                path,
                order: match self.order {
                    OrderOption::File => OpeningOrder::File,
                    OrderOption::Random => OpeningOrder::Random,
                },
                plies: self.opening_plies.unwrap_or(0),
                start: self.opening_start,
            }),
            None => OpeningSource::Random { plies: self.opening_plies.unwrap_or(plies) },
        }
    }
}

/// Reads and validates the openings of a run of a game with these options, and says which are left out.
pub(super) fn read_openings(
    source: &OpeningSource,
    rules: &dyn Rules,
    seating: Seating,
    set: Map<String, Value>,
    run: &Seed,
) -> Result<Openings, Failure> {
    let (openings, left_out) =
        source.openings(rules, seating, set, run).map_err(|error| with_flags(&error))?;
    if let Some(left_out) = left_out {
        stderr_line(format_args!("--openings: {left_out}"));
    }
    Ok(openings)
}

/// The error with the names of options instead of keys.
pub(super) fn with_flags(error: &OpeningsError) -> Failure {
    let text = match error {
        OpeningsError::Random { plies, why } => format!("--opening-plies {plies}: {why}"),
        OpeningsError::File { path, why } => format!("--openings {}: {why}", path.display()),
        OpeningsError::Unreadable { path, why } => {
            return Failure::of(error.is_usage(), format!("--openings {}: {why}", path.display()));
        }
        OpeningsError::SetsOption { path, option } => {
            let path = path.display();
            format!("--openings {path}: its openings set `{option}` themselves: omit --set {option}")
        }
        OpeningsError::Flawed { flaws, is_cut: true } => format!("--openings:{flaws}"),
        OpeningsError::Flawed { flaws, is_cut: false } => format!(
            "--openings:{flaws}\n`--opening-plies N` cuts the games of a collection, and leaves out those that are invalid"
        ),
        error => Chain(&error).to_string(),
    };
    Failure::usage(text)
}
