//! The ratings of players over time.

use std::time::SystemTime;

use referee_stats::rating::Estimate;
use rusqlite::params;
use serde::Serialize;

use super::{League, failed, utc};
use referee_store::StoreError;

/// The rating of a player at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatingPoint {
    /// In UTC.
    pub at: String,
    /// Elo with its 95% interval.
    pub rating: Estimate,
    /// The number of its rated matches so far.
    pub matches: u32,
}

/// A rating of a player that is kept.
#[derive(Clone, Debug)]
pub struct KeptRating {
    pub player: String,
    /// Elo with its 95% interval.
    pub rating: Estimate,
    /// The number of its rated matches so far.
    pub matches: u32,
    pub is_provisional: bool,
}

impl League {
    /// Stores the ratings of players of a ladder.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn add_ratings(
        &mut self,
        ladder: &str,
        at: SystemTime,
        ratings: &[KeptRating],
    ) -> Result<(), StoreError> {
        let at = utc(at);
        let sql = "INSERT OR REPLACE INTO ratings (ladder, player, at, value, low, high, matches, \
                   is_provisional) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.change(|db| {
            let mut insert = db.prepare_cached(sql)?;
            for KeptRating { player, rating: Estimate { value, low, high }, matches, is_provisional } in
                ratings
            {
                insert.execute(params![ladder, player, at, value, low, high, matches, is_provisional])?;
            }
            Ok(())
        })
    }

    /// The players of a ladder that had a rating at a time, in the order of the standings.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn order_at(&self, ladder: &str, at: SystemTime) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT name FROM players JOIN ratings AS of ON of.ladder = ?1 AND of.player = name AND of.at = \
                   (SELECT max(at) FROM ratings WHERE ladder = ?1 AND player = name AND at <= ?2) \
                   WHERE players.ladder = ?1 ORDER BY is_provisional, value DESC, name";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map(params![ladder, utc(at)], |row| row.get(0));
        rows.and_then(|rows| rows.collect::<Result<_, _>>()).map_err(failed)
    }

    /// Reads the last `limit` ratings of a player, the oldest first.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn ratings(&self, ladder: &str, player: &str, limit: usize) -> Result<Vec<RatingPoint>, StoreError> {
        let sql = "SELECT at, value, low, high, matches FROM ratings WHERE ladder = ?1 AND player = ?2 \
                   ORDER BY at DESC LIMIT ?3";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map(params![ladder, player, limit as i64], |row| {
            let rating = Estimate { value: row.get(1)?, low: row.get(2)?, high: row.get(3)? };
            Ok(RatingPoint { at: row.get(0)?, rating, matches: row.get(4)? })
        });
        let mut points: Vec<RatingPoint> =
            rows.and_then(|rows| rows.collect::<Result<_, _>>()).map_err(failed)?;
        points.reverse();
        Ok(points)
    }
}
