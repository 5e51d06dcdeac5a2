//! Rows of matches whose records become older.

use std::ops::RangeInclusive;
use std::time::SystemTime;

use rusqlite::{Connection, params};

use super::matches::{COLUMNS, LeagueMatch, read_match};
use super::{League, failed, utc};
use referee_store::StoreError;

impl League {
    /// Reads at most `limit` matches of a ladder after this number that ended before this time, up to the first one that ended
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
    ) -> Result<Vec<LeagueMatch>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM matches WHERE ladder = ?1 AND number > ?2 ORDER BY number LIMIT ?3"
        );
        let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
        let rows = query.query_map(params![ladder, after, most as i64], read_match);
        let rows: Vec<LeagueMatch> = rows.and_then(Iterator::collect).map_err(failed)?;
        let before = utc(before);
        Ok(rows.into_iter().take_while(|row| row.ended_at < before).collect())
    }

    /// The matches of a ladder with these numbers, in order.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn matches_numbered(
        &self,
        ladder: &str,
        numbers: RangeInclusive<u32>,
    ) -> Result<Vec<LeagueMatch>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM matches WHERE ladder = ?1 AND number BETWEEN ?2 AND ?3 ORDER BY number"
        );
        let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
        let rows = query.query_map(params![ladder, numbers.start(), numbers.end()], read_match);
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Stores the SHA-256 of another form of the record of a match.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn set_seal(&mut self, ladder: &str, number: u32, seal: &str) -> Result<(), StoreError> {
        self.change(|db| set_seal(db, ladder, number, seal))
    }

    /// Stores that a pack is written anew, so that it has to be sent, and the SHA-256 of those of its records that have another
    /// form, by the numbers of their matches.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn put_pack(&mut self, ladder: &str, first: u32, seals: &[(u32, String)]) -> Result<(), StoreError> {
        self.change(|db| {
            for (number, seal) in seals {
                set_seal(db, ladder, *number, seal)?;
            }
            let sql = "INSERT OR REPLACE INTO packs (ladder, first, sent_at) VALUES (?1, ?2, NULL)";
            db.execute(sql, params![ladder, first]).map(drop)
        })
    }

    /// The numbers of the first matches of the packs of a ladder that have not been sent since they were written, in order.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn unsent_packs(&self, ladder: &str) -> Result<Vec<u32>, StoreError> {
        let sql = "SELECT first FROM packs WHERE ladder = ?1 AND sent_at IS NULL ORDER BY first";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([ladder], |row| row.get(0));
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Stores that a pack was sent.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn pack_sent(&mut self, ladder: &str, first: u32, at: SystemTime) -> Result<(), StoreError> {
        let sql = "UPDATE packs SET sent_at = ?3 WHERE ladder = ?1 AND first = ?2";
        self.change(|db| db.execute(sql, params![ladder, first, utc(at)])).map(drop)
    }
}

fn set_seal(db: &Connection, ladder: &str, number: u32, seal: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE matches SET seal = ?3 WHERE ladder = ?1 AND number = ?2";
    db.prepare_cached(sql)?.execute(params![ladder, number, seal]).map(drop)
}
