//! The organisers who sign in on the page for them.

use referee_game::hex;
use rusqlite::{Connection, OptionalExtension};

use super::acts::{ActError, Refusal};
use super::{League, failed};
use referee_store::StoreError;

/// The prefix of the keys of the table `league` for the SHA-256 of organisers' tokens, in hex.
const ORGANISER: &str = "organiser:";

/// Adds an organiser, or replaces the token of the one with this name.
pub(super) fn add_organiser(db: &Connection, name: &str, hash: &[u8; 32]) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO league VALUES (?1, ?2)";
    db.execute(sql, [format!("{ORGANISER}{name}"), hex::encode(hash)]).map(drop)
}

pub(super) fn remove_organiser(db: &Connection, name: &str) -> Result<(), ActError> {
    if db.execute("DELETE FROM league WHERE key = ?1", [format!("{ORGANISER}{name}")])? == 0 {
        let why = format_args!("there is no organiser `{name}`; `referee league organiser list` lists them");
        return Err(Refusal::Conflict.because(why));
    }
    Ok(())
}

impl League {
    /// The names of those who sign in on the page of organisers.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn organisers(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT substr(key, 11) FROM league WHERE key LIKE 'organiser:%' ORDER BY key";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The name of the organiser whose token has this SHA-256.
    ///
    /// # Errors
    /// If there is none, or those of the database.
    pub fn organiser_by(&self, hash: &[u8; 32]) -> Result<String, ActError> {
        let sql = "SELECT substr(key, 11) FROM league WHERE key LIKE 'organiser:%' AND value = ?1";
        let mut query = self.db.prepare_cached(sql)?;
        let found = query.query_row([hex::encode(hash)], |row| row.get(0)).optional()?;
        found.ok_or_else(|| {
            Refusal::NotOwner.because("no organiser has this token: `referee league organiser add` makes one")
        })
    }
}
