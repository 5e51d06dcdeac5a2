//! Takes results back.

use std::path::Path;

use crate::cli::exit::Failure;
use crate::cli::find_game::known_games;
use crate::game::{Catalog, Chain};
use crate::runs::tournament::LockedTournament;

/// Takes back the results of the matches that a worker has played; they are played again when the tournament is resumed.
/// Returns their ids.
pub(in crate::cli) fn void_matches_of(
    dir: &Path,
    worker: &str,
    catalog: &Catalog,
) -> Result<Vec<String>, Failure> {
    let mut locked = LockedTournament::open(dir, &known_games(catalog)?, true)?;
    let numbers = locked.folder.results.void_worker(worker);
    let numbers =
        numbers.map_err(|error| Failure::cannot_run(format!("{}: {}", dir.display(), Chain(&error))))?;
    Ok(numbers.into_iter().map(|number| format!("m{number}")).collect())
}
