//! Rows of matches whose records become older.

use std::io;
use std::time::SystemTime;

use rusqlite::params;

use super::matches::{COLUMNS, LeagueMatch, read_match};
use super::{League, failed, utc};

impl League {
    /// The matches of a ladder after this number that ended before this time, so many at most, up to the first one that ended
    /// later.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn ended_before(
        &self,
        ladder: &str,
        after: u32,
        before: SystemTime,
        most: usize,
    ) -> io::Result<Vec<LeagueMatch>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM matches WHERE ladder = ?1 AND number > ?2 ORDER BY number LIMIT ?3"
        );
        let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
        let rows = query.query_map(params![ladder, after, most as i64], read_match);
        let rows: Vec<LeagueMatch> = rows.and_then(Iterator::collect).map_err(failed)?;
        let before = utc(before);
        Ok(rows.into_iter().take_while(|row| row.ended_at < before).collect())
    }

    /// Stores the SHA-256 of another form of the record of a match.
    ///
    /// # Errors
    /// Those of the database.
    pub fn set_seal(&mut self, ladder: &str, number: u32, seal: &str) -> io::Result<()> {
        let sql = "UPDATE matches SET seal = ?3 WHERE ladder = ?1 AND number = ?2";
        self.change(|db| db.execute(sql, params![ladder, number, seal])).map(drop)
    }
}
