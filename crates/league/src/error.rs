//! What does not fit a ladder.

use referee_game::Wrong;
use referee_store::StoreError;

/// Why the results of a ladder cannot be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotCounted {
    /// A match does not fit the ladder.
    #[error(transparent)]
    Ladder(#[from] Wrong),
    /// The database cannot be read.
    #[error(transparent)]
    Database(#[from] StoreError),
}
