//! The bots of a league.

use std::collections::BTreeSet;
use std::path::PathBuf;

use referee_game::name;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::submissions::follow_bot;
use super::{League, failed, parsed};
use crate::error::StoreError;
use crate::rows::json;

/// A bot of a league.
#[derive(Clone, Debug, PartialEq)]
pub struct LeagueBot {
    /// Its name, without a version.
    pub name: String,
    /// Bots of the same owner do not meet.
    pub owner: String,
    /// SHA-256 of its token, if it connects.
    pub token: Option<[u8; 32]>,
    /// Its command line, if the server starts it.
    pub command: Option<String>,
    /// The working directory of the command.
    pub directory: Option<PathBuf>,
    /// Its fixed rating, in Elo.
    pub anchor: Option<f64>,
    /// The ladders that a program plays on; `None`: all.
    pub ladders: Option<BTreeSet<String>>,
    /// Whether the file of the league lists it.
    pub is_of_file: bool,
    /// Whether it is not paired for the time being.
    pub is_paused: bool,
    /// When it was added, in UTC.
    pub added_at: String,
    /// Since when it does not take part any more.
    pub revoked_at: Option<String>,
    /// Why the server does not start its command.
    pub refused: Option<String>,
    /// What people see instead of its name.
    pub display_name: Option<String>,
    /// The version of the submission whose program it is; its directory is then relative to that of the league.
    pub version: Option<u32>,
}

impl League {
    /// All bots, including those that do not take part any more, in the order in which they were added.
    ///
    /// # Errors
    /// Those of the database.
    pub fn bots(&self) -> Result<Vec<LeagueBot>, StoreError> {
        read_bots(&self.db).map_err(failed)
    }

    /// The bots that take part, and those of the others that anchor ratings or have a display name.
    ///
    /// # Errors
    /// Those of the database.
    pub fn current_bots(&self) -> Result<Vec<LeagueBot>, StoreError> {
        let current = "WHERE revoked_at IS NULL OR anchor IS NOT NULL OR display_name IS NOT NULL";
        read_bots_that(&self.db, current, []).map_err(failed)
    }

    /// The bots of an owner, including those that do not take part any more.
    ///
    /// # Errors
    /// Those of the database.
    pub fn bots_of(&self, owner: &str) -> Result<Vec<LeagueBot>, StoreError> {
        read_bots_that(&self.db, "WHERE owner = ?1", [owner]).map_err(failed)
    }

    /// The names of the bots of an owner that take part, and of its submissions that are not decided.
    ///
    /// # Errors
    /// Those of the database.
    pub fn own_names(&self, owner: &str) -> Result<BTreeSet<String>, StoreError> {
        own_names(&self.db, owner).map_err(failed)
    }

    /// Adds a bot, or replaces the one with this name.
    ///
    /// # Errors
    /// If another bot has a name that looks alike: `AlreadyExists` with its name; or I/O errors.
    pub fn put_bot(&mut self, bot: &LeagueBot) -> Result<(), StoreError> {
        let other = self.change(|db| {
            let other = insert_bot(db, bot)?;
            if other.is_none() {
                follow_bot(db, bot)?;
            }
            Ok(other)
        })?;
        match other {
            None => Ok(()),
            Some(other) => Err(StoreError::Exists(other)),
        }
    }

    /// Stores why the server does not start this command of a bot, or that it does.
    ///
    /// # Errors
    /// Those of the database.
    pub fn set_refused(&mut self, name: &str, command: &str, why: Option<&str>) -> Result<(), StoreError> {
        let sql = "UPDATE bots SET refused = ?3 WHERE name = ?1 AND command = ?2";
        self.change(|db| db.execute(sql, params![name, command, why])).map(drop)
    }
}

/// All bots, in the order in which they were added.
pub(super) fn read_bots(db: &Connection) -> rusqlite::Result<Vec<LeagueBot>> {
    read_bots_that(db, "", [])
}

/// The bots that fulfil a condition, in the order in which they were added.
fn read_bots_that(
    db: &Connection,
    condition: &str,
    params: impl rusqlite::Params,
) -> rusqlite::Result<Vec<LeagueBot>> {
    let sql = format!(
        "SELECT name, owner, token, command, directory, anchor, ladders, is_of_file, is_paused, added_at, revoked_at, \
         refused, display_name, version FROM bots {condition} ORDER BY id"
    );
    let read = |row: &Row<'_>| -> rusqlite::Result<LeagueBot> {
        Ok(LeagueBot {
            name: row.get(0)?,
            owner: row.get(1)?,
            token: row.get(2)?,
            command: row.get(3)?,
            directory: row.get::<_, Option<String>>(4)?.map(PathBuf::from),
            anchor: row.get(5)?,
            ladders: row.get::<_, Option<String>>(6)?.map(|text| parsed(&text, 6)).transpose()?,
            is_of_file: row.get(7)?,
            is_paused: row.get(8)?,
            added_at: row.get(9)?,
            revoked_at: row.get(10)?,
            refused: row.get(11)?,
            display_name: row.get(12)?,
            version: row.get(13)?,
        })
    };
    db.prepare_cached(&sql)?.query_map(params, read)?.collect()
}

/// The name of a bot, or of a submission that has not failed, that looks like this one. Submissions with this name by the owner
/// who hands it in do not count.
pub(super) fn taken_name(
    db: &Connection,
    given: &str,
    submitted_by: Option<&str>,
) -> rusqlite::Result<Option<String>> {
    // Not by the stored skeletons: other versions may have computed them.
    let sql = "SELECT name, NULL FROM bots UNION SELECT bot, owner FROM submissions WHERE bot IS NOT NULL AND state <> 'failed'";
    let skeleton = name::skeleton(given);
    let mut query = db.prepare_cached(sql)?;
    let mut names = query.query([])?;
    while let Some(row) = names.next()? {
        let (name, owner): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let is_own = name == given && owner.is_some() && owner.as_deref() == submitted_by;
        if !is_own && name::skeleton(&name) == skeleton {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The names of the bots of an owner that take part, and of its submissions that are not decided.
pub(super) fn own_names(db: &Connection, owner: &str) -> rusqlite::Result<BTreeSet<String>> {
    let sql = "SELECT name FROM bots WHERE owner = ?1 AND revoked_at IS NULL UNION SELECT bot FROM submissions \
               WHERE owner = ?1 AND bot IS NOT NULL AND state IN ('received', 'building', 'checking', 'waiting')";
    db.prepare_cached(sql)?.query_map([owner], |row| row.get(0))?.collect()
}

/// Adds a bot, or replaces the one with this name. Returns the name of another one that looks alike, and then does neither.
pub(super) fn insert_bot(db: &Connection, bot: &LeagueBot) -> rusqlite::Result<Option<String>> {
    let skeleton = name::skeleton(&bot.name);
    let is_new = db
        .prepare_cached("SELECT 1 FROM bots WHERE name = ?1")?
        .query_row([&bot.name], |_| Ok(()))
        .optional()?
        .is_none();
    // The organiser decides on the names in the file: no bot of an owner keeps the server from starting.
    if is_new && !bot.is_of_file {
        let other = taken_name(db, &bot.name, bot.version.map(|_| &*bot.owner))?;
        if other.is_some() {
            return Ok(other);
        }
    }
    db.execute(
        "INSERT INTO bots (name, skeleton, owner, token, command, directory, anchor, ladders, is_of_file, \
         is_paused, added_at, revoked_at, refused, display_name, version) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) \
         ON CONFLICT (name) DO UPDATE SET owner = ?3, token = ?4, command = ?5, directory = ?6, anchor = ?7, \
         ladders = ?8, is_of_file = ?9, is_paused = ?10, revoked_at = ?12, refused = ?13, display_name = ?14, \
         version = ?15",
        params![
            bot.name,
            skeleton,
            bot.owner,
            bot.token,
            bot.command,
            bot.directory.as_ref().map(|path| path.to_string_lossy()),
            bot.anchor,
            bot.ladders.as_ref().map(json),
            bot.is_of_file,
            bot.is_paused,
            bot.added_at,
            bot.revoked_at,
            bot.refused,
            bot.display_name,
            bot.version,
        ],
    )?;
    Ok(None)
}
