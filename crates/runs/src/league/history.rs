//! The selection of ratings for the history of players.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use referee_league::{KeptRating, LadderRow, Standing};
use referee_stats::MatchCounts;

/// The time between two ratings of a player that are kept. Before that, one is kept whenever its matches have doubled.
const APART: Duration = Duration::from_secs(600);

/// The ratings that were kept last.
#[derive(Debug, Default)]
pub(super) struct RatingHistory {
    /// The time of the last kept rating and the number of matches before it, by player.
    kept: BTreeMap<String, (Instant, u32)>,
}

impl RatingHistory {
    pub(super) fn due(&mut self, standings: &[LadderRow]) -> Vec<KeptRating> {
        let now = Instant::now();
        let mut due = Vec::new();
        for LadderRow { player, standing, .. } in standings {
            let Standing { rating, counts: MatchCounts { matches, .. }, is_provisional, .. } = *standing;
            let is_due = match self.kept.get(player) {
                None => matches > 0,
                // With fewer matches than before a new season has begun.
                Some(&(_, before)) if matches < before => matches > 0,
                Some(&(at, before)) => matches > before && (matches >= 2 * before || now >= at + APART),
            };
            if is_due {
                self.kept.insert(player.clone(), (now, matches));
                due.push(KeptRating { player: player.clone(), rating, matches, is_provisional });
            }
        }
        due
    }
}
