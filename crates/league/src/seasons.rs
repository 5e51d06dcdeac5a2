//! The seasons of a league.

use std::time::SystemTime;

use referee_game::name::check_name;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use super::acts::{ActError, Refusal};
use super::matches::{self, LeagueMatch, read_match};
use super::{League, failed, utc};
use referee_store::RulingRow;
use referee_store::{StoreError, read_row};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Season {
    /// From 1, in order.
    pub number: u32,
    pub name: String,
    /// In UTC. Matches whose results came later belong to the next season.
    pub ended_at: String,
    /// Whether players have started the next season from their ratings.
    pub keeps_ratings: bool,
    /// The user of the operating system who ended it.
    pub ended_by: String,
}

impl Season {
    /// The rulings that were in force when it ended, of all rulings.
    pub fn rulings(&self, mut all: Vec<RulingRow>) -> Vec<RulingRow> {
        all.retain(|ruling| ruling.at <= self.ended_at);
        for ruling in &mut all {
            ruling.undone.take_if(|undone| undone.at > self.ended_at);
        }
        all
    }
}

/// SQL: the number of the season in progress.
pub(super) const CURRENT: &str = "(SELECT count(*) + 1 FROM seasons)";

fn read(row: &Row<'_>) -> rusqlite::Result<Season> {
    Ok(read_row!(row as Season {
        number, name, ended_at, keeps_ratings, ended_by
    }))
}

/// Ends the season in progress on all ladders.
pub(super) fn end(
    db: &Connection,
    name: &str,
    at: SystemTime,
    keeps_ratings: bool,
    user: &str,
) -> Result<(), ActError> {
    let refused = |why: &str| Refusal::Conflict.because(why);
    check_name(name).map_err(|why| refused(&format!("season {name}: {why}")))?;
    let sql = "SELECT 1 FROM seasons WHERE name = ?1";
    if db.query_row(sql, [name], |_| Ok(())).optional()?.is_some() {
        return Err(refused(&format!("season {name} has ended before: take another name")));
    }
    let sql = format!("SELECT 1 FROM matches WHERE season = {CURRENT} LIMIT 1");
    if db.query_row(&sql, [], |_| Ok(())).optional()?.is_none() {
        return Err(refused("no match has been played in this season"));
    }
    let sql = format!("INSERT INTO seasons VALUES ({CURRENT}, ?1, ?2, ?3, ?4)");
    db.execute(&sql, params![name, utc(at), keeps_ratings, user])?;
    Ok(())
}

impl League {
    /// The seasons that have ended, in order.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn seasons(&self) -> Result<Vec<Season>, StoreError> {
        let sql = "SELECT * FROM seasons ORDER BY number";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([], read);
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// The number of the season in progress.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn current_season(&self) -> Result<u32, StoreError> {
        self.db.query_row(&format!("SELECT {CURRENT}"), [], |row| row.get(0)).map_err(failed)
    }

    /// The season of a match of a ladder, if it is stored.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn season_of(&self, ladder: &str, number: u32) -> Result<Option<u32>, StoreError> {
        let sql = "SELECT season FROM matches WHERE ladder = ?1 AND number = ?2";
        self.db.query_row(sql, params![ladder, number], |row| row.get(0)).optional().map_err(failed)
    }

    /// The last matches of a ladder in a season with a number below `before`, the newest first.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn matches_of_season(
        &self,
        season: u32,
        ladder: &str,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Vec<LeagueMatch>, StoreError> {
        let sql = format!(
            "SELECT {} FROM matches WHERE ladder = ?1 AND season = ?2 AND number < ?3 ORDER BY number DESC LIMIT ?4",
            matches::COLUMNS
        );
        let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
        let values = params![ladder, season, before.unwrap_or(u32::MAX), limit as i64];
        let rows = query.query_map(values, read_match);
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// The final standings of a ladder in a season, JSON; `None` while they are not computed.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn final_standings(&self, season: u32, ladder: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT standings FROM final_standings WHERE season = ?1 AND ladder = ?2";
        self.db.query_row(sql, params![season, ladder], |row| row.get(0)).optional().map_err(failed)
    }

    /// Stores the final standings of a ladder in a season, unless it has some.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn add_final_standings(
        &mut self,
        season: u32,
        ladder: &str,
        standings: &str,
    ) -> Result<(), StoreError> {
        let sql = "INSERT OR IGNORE INTO final_standings (season, ladder, standings) VALUES (?1, ?2, ?3)";
        self.change(|db| db.execute(sql, params![season, ladder, standings])).map(drop)
    }
}
