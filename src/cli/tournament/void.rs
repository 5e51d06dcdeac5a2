//! Takes results back.

use std::path::Path;

use super::folder::LockedTournament;
use crate::cli::Failure;
use crate::game::Catalog;

/// Takes back the results of the matches that a worker has played; they are played again when the tournament is resumed.
/// Returns their ids.
pub(in crate::cli) fn void_matches_of(
    dir: &Path,
    worker: &str,
    catalog: &Catalog,
) -> Result<Vec<String>, Failure> {
    let wrong = |error: std::io::Error| Failure::cannot_run(format!("{}: {error}", dir.display()));
    let LockedTournament { mut results, .. } = LockedTournament::open(dir, catalog, true)?;
    let numbers = results.void_worker(worker).map_err(wrong)?;
    Ok(numbers.into_iter().map(|number| format!("m{number}")).collect())
}
