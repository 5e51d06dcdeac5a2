//! What does not fit a ladder.

use referee_store::StoreError;

/// A match that cannot be added to a ladder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LadderError {
    /// There are more than 65,536 players.
    #[error("the ladder has too many players")]
    TooManyPlayers,
    #[error("{id} does not fit the {seats} seats of its ladder")]
    Misfit {
        /// The match id.
        id: String,
        /// The number of seats.
        seats: usize,
    },
    #[error("{id}: its deal is `{deal}`, expected an earlier match")]
    OtherDeal {
        /// The match id.
        id: String,
        /// The deal in its record.
        deal: String,
    },
}

/// Why the results of a ladder cannot be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotCounted {
    /// A match does not fit the ladder.
    #[error(transparent)]
    Ladder(#[from] LadderError),
    /// The database cannot be read.
    #[error(transparent)]
    Database(#[from] StoreError),
}
