//! Gradings: tournaments of the format `grade`, each of one bot that was handed in.

use std::path::{Path, PathBuf};

use crate::RunError;
use crate::config::KnownGames;
use crate::tournament::Tournament;
use crate::tournament::stored::RESULTS;

/// The directory of the bot in that of its grading.
pub const GRADED_BOT: &str = "bot";

#[derive(Debug)]
pub enum GradingPlace {
    /// The grading has begun, with the anchors and the game as they are now.
    Begun(Box<Tournament>),
    /// The grading begins in this directory, which has no results.
    New(PathBuf),
}

/// Finds the measurement with this key in a directory of measurements.
///
/// # Errors
/// If it cannot be read, or another process plays it.
pub fn find_grading(
    place: &Path,
    key: &str,
    games: &KnownGames,
    is_durable: bool,
) -> Result<GradingPlace, RunError> {
    let mut number = 1;
    loop {
        let path = place.join(if number == 1 { key.to_owned() } else { format!("{key}-{number}") });
        if !path.join(RESULTS).exists() {
            return Ok(GradingPlace::New(path));
        }
        let opened = Tournament::open(&path, games, is_durable);
        let opened = opened.and_then(|opened| opened.check_files(false).map(|()| opened));
        match opened {
            Ok(opened) => return Ok(GradingPlace::Begun(Box::new(opened))),
            Err(RunError::Changed(_)) => number += 1,
            Err(error) => return Err(error),
        }
    }
}
