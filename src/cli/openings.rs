//! Openings of a run, and `referee openings`.

mod make;

pub(super) use make::{Args, run};

use serde_json::{Map, Value};

use crate::cli::exit::Failure;
use crate::cli::options::option_names;
use crate::cli::screen::stderr_line;
use crate::game::Seating;
use crate::game::chance::Seed;
use crate::game::erased::Rules;
use crate::runner::Openings;
use crate::runs::config::OpeningSource;

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
