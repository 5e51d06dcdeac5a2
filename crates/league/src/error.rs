//! Conflicts with a ladder.

use referee_game::Wrong;
use referee_store::StoreError;

/// Reasons why the results of a ladder cannot be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotCounted {
    #[error(transparent)]
    Ladder(#[from] Wrong),
    #[error(transparent)]
    Database(#[from] StoreError),
}
