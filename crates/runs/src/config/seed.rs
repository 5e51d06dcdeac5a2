//! The run seed.

use std::path::Path;

use crate::RunError;
use referee_files::read_secret;
use referee_game::chance::Seed;
use referee_game::{Wrong, hex};

/// Parses 64 hex digits.
///
/// # Errors
/// If the text has others.
pub fn parse_seed(text: &str) -> Result<Seed, Wrong> {
    hex::decode32(text).map(Seed).ok_or_else(|| {
        Wrong::from(format!(
            "a seed has 64 lower-case hex digits, but this has {} characters",
            text.chars().count()
        ))
    })
}

/// Reads the seed in a private file.
///
/// # Errors
/// If it cannot be read, or has no seed.
pub fn read_seed(path: &Path) -> Result<Seed, Wrong> {
    parse_seed(read_secret(path)?.trim())
}

/// Gets a seed from the operating system.
///
/// # Errors
/// If it has none.
pub fn random_seed() -> Result<Seed, RunError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| RunError::machine(Wrong::at("the operating system provides no seed", error)))?;
    Ok(Seed(bytes))
}
