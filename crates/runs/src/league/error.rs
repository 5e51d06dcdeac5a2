//! What does not fit a ladder.

use referee_game::Chain;
use referee_league::LadderError;
use referee_match::record::Difference;
use referee_store::StoreError;

/// Why the results of a ladder are not completed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotRecovered {
    #[error("{}: {why}; move the file away", .path.display())]
    Record {
        /// The file.
        path: std::path::PathBuf,
        why: NotOfLadder,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Storage(#[from] std::io::Error),
    /// The database cannot be read or written.
    #[error(transparent)]
    Database(#[from] StoreError),
}

/// Why a file is not the record of a match on a ladder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotOfLadder {
    #[error("`{0}` is not the id of a match")]
    NoMatch(String),
    #[error("its record differs: {}", list(.0))]
    Differs(Vec<Difference>),
    #[error("it is the record of {0}")]
    OtherMatch(String),
    #[error("it was not played with the seed of this ladder")]
    OtherSeed,
    /// It does not fit the ladder.
    #[error(transparent)]
    Ladder(#[from] LadderError),
}

fn list(differences: &[Difference]) -> String {
    differences.iter().map(|difference| Chain(difference).to_string()).collect::<Vec<_>>().join("; ")
}
