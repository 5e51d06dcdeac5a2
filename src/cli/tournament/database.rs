//! The database in the directory of a tournament.

use std::path::Path;

use crate::cli::Failure;
use crate::store::Results;

/// Opens the results in the directory of a tournament.
pub(super) fn open(folder: &Path) -> Result<Results, Failure> {
    let path = folder.join("results.sqlite");
    if !path.exists() {
        let what = "is not the directory of a tournament: it has no results.sqlite";
        return Err(Failure::usage(format!("{} {what}", folder.display())));
    }
    Results::open(&path).map_err(|error| unreadable(folder, &error))
}

pub(super) fn unreadable(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::cannot_run(format!("{}: {error}", folder.display()))
}
