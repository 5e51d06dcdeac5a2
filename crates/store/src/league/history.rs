//! The ratings of players over time.

use std::time::SystemTime;

use referee_stats::rating::Estimate;
use rusqlite::params;
use serde::Serialize;

use super::{League, failed, utc};
use crate::error::StoreError;

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

impl League {
    /// Stores the ratings of players of a ladder with the numbers of their matches.
    ///
    /// # Errors
    /// Those of the database.
    pub fn add_ratings(
        &mut self,
        ladder: &str,
        at: SystemTime,
        ratings: &[(String, Estimate, u32)],
    ) -> Result<(), StoreError> {
        let at = utc(at);
        let sql = "INSERT OR REPLACE INTO ratings (ladder, player, at, value, low, high, matches) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.change(|db| {
            let mut insert = db.prepare_cached(sql)?;
            for (player, Estimate { value, low, high }, matches) in ratings {
                insert.execute(params![ladder, player, at, value, low, high, matches])?;
            }
            Ok(())
        })
    }

    /// The ratings of the players of a ladder at a time, for those that had one.
    ///
    /// # Errors
    /// Those of the database.
    pub fn ratings_at(&self, ladder: &str, at: SystemTime) -> Result<Vec<(String, f64)>, StoreError> {
        let sql = "SELECT name, (SELECT value FROM ratings WHERE ladder = ?1 AND player = name AND at <= ?2 \
                   ORDER BY at DESC LIMIT 1) AS value FROM players WHERE ladder = ?1 AND value IS NOT NULL";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map(params![ladder, utc(at)], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.and_then(|rows| rows.collect::<Result<_, _>>()).map_err(failed)
    }

    /// The last so many ratings of a player, the oldest first.
    ///
    /// # Errors
    /// Those of the database.
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
