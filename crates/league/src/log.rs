//! Changes of a league and the users who made them.

use std::time::SystemTime;

use rusqlite::{Connection, params};
use serde::Serialize;

use super::{League, failed, utc};
use referee_store::StoreError;

/// A change of a league by a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeagueChange {
    /// In UTC.
    pub at: String,
    /// The user of the operating system.
    pub user: String,
    /// The action in the words of the command line.
    pub action: String,
}

impl League {
    /// Notes a change.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn log(&mut self, user: &str, action: &str, at: SystemTime) -> Result<(), StoreError> {
        self.change(|db| note(db, user, action, at))
    }

    /// The number of changes whose action begins with this word that a user made on this day (UTC).
    ///
    /// # Errors
    /// Errors of the database.
    pub fn actions_of_day(&self, user: &str, word: &str, day: SystemTime) -> Result<u32, StoreError> {
        actions_of_day(&self.db, user, word, day).map_err(failed)
    }

    /// Reads the last `limit` changes, the latest last.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn log_entries(&self, limit: usize) -> Result<Vec<LeagueChange>, StoreError> {
        let sql = "SELECT at, user, action FROM log ORDER BY id DESC LIMIT ?1";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let rows = query.query_map([limit as i64], |row| {
            Ok(LeagueChange { at: row.get(0)?, user: row.get(1)?, action: row.get(2)? })
        });
        let mut entries: Vec<LeagueChange> =
            rows.and_then(|rows| rows.collect::<Result<_, _>>()).map_err(failed)?;
        entries.reverse();
        Ok(entries)
    }
}

pub(super) fn note(db: &Connection, user: &str, action: &str, at: SystemTime) -> rusqlite::Result<()> {
    let sql = "INSERT INTO log (at, user, action) VALUES (?1, ?2, ?3)";
    db.execute(sql, params![utc(at), user, action]).map(drop)
}

pub(super) fn actions_of_day(
    db: &Connection,
    user: &str,
    word: &str,
    day: SystemTime,
) -> rusqlite::Result<u32> {
    let sql = "SELECT count(*) FROM log WHERE user = ?1 AND at >= ?2 AND substr(action, 1, length(?3)) = ?3";
    db.query_row(sql, params![user, &utc(day)[..10], word], |row| row.get(0))
}
