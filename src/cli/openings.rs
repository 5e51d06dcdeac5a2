//! The options for openings, and `referee openings`.

mod make;

pub(super) use make::{Args, run};

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use serde_json::{Map, Value};

use crate::cli::exit::Failure;
use crate::cli::options::option_names;
use crate::cli::screen::stderr_line;
use crate::game::Seating;
use crate::game::chance::Seed;
use crate::game::erased::Rules;
use crate::referee::opening;
use crate::runner::Openings;
use crate::runs::config::{OpeningBook, OpeningOrder, OpeningSource};

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
    #[arg(long, requires = "openings", default_value = "file", value_parser = PossibleValuesParser::new(["file", "random"]).map(order))]
    order: OpeningOrder,
}

fn order(word: String) -> OpeningOrder {
    if word == "random" { OpeningOrder::Random } else { OpeningOrder::File }
}

impl OpeningOptions {
    /// `plies` is the default number of random moves.
    pub(super) fn source(self, plies: u32) -> OpeningSource {
        match self.openings {
            Some(path) => OpeningSource::File(OpeningBook {
                path,
                order: self.order,
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
    let (openings, left_out) = source.openings(rules, seating, set, run, option_names)?;
    if let Some(left_out) = left_out {
        stderr_line(format_args!("--openings: {left_out}"));
    }
    Ok(openings)
}
