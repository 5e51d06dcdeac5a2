//! Paths that no bot may see in the sandbox `strict`: files with secrets, and directories with results, records and other bots.
//!
//! The list is that of the process and is made where they are opened, so that no command can forget one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static PATHS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Adds a file, or a directory with its content. The sandbox of a bot that starts later shows no directory in
/// which it is.
pub fn keep_private(path: &Path) {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    // The file that a link names, and the link.
    paths.extend(path.canonicalize());
    paths.insert(path);
}

/// The paths that have been added, absolute, and with links followed.
pub fn private_paths() -> Vec<PathBuf> {
    PATHS.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}
