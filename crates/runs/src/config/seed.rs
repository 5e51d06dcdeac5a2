//! The run seed.

use std::path::Path;

use referee_files::read_secret;
use referee_game::chance::Seed;
use referee_game::hex;

/// Why there is no seed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    #[error("a seed has 64 lower-case hex digits, but this has {0} characters")]
    Form(usize),
    #[error(transparent)]
    File(#[from] std::io::Error),
    #[error("the operating system provides no seed")]
    Random(#[from] getrandom::Error),
}

/// Parses 64 hex digits.
///
/// # Errors
/// If the text has others.
pub fn parse_seed(text: &str) -> Result<Seed, SeedError> {
    hex::decode32(text).map(Seed).ok_or_else(|| SeedError::Form(text.chars().count()))
}

/// Reads the seed in a private file.
///
/// # Errors
/// If it cannot be read, or has no seed.
pub fn read_seed(path: &Path) -> Result<Seed, SeedError> {
    parse_seed(read_secret(path)?.trim())
}

/// Gets a seed from the operating system.
///
/// # Errors
/// If it has none.
pub fn random_seed() -> Result<Seed, SeedError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(Seed(bytes))
}
