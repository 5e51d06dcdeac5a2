//! Conflicts with a ladder.

use referee_game::{Chain, Wrong};
use referee_match::record::Difference;

/// Reports that a record differs from its replay.
pub(super) fn differing(differences: Vec<Difference>) -> Wrong {
    let all: Vec<String> = differences.iter().map(|difference| Chain(difference).to_string()).collect();
    format!("its record differs: {}", all.join("; ")).into()
}
