//! The bots of a league.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use referee_game::Wrong;
use referee_game::name;
use referee_stats::ladder::Name;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::acts::{ActError, Refusal};
use super::{League, failed, utc};
use referee_game::json;
use referee_store::{StoreError, parsed_column, read_row, stored_words};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeagueBot {
    /// The name, without a version.
    pub name: String,
    /// The owner; bots of the same owner do not meet.
    pub owner: String,
    /// SHA-256 of its token, if it connects.
    #[serde(skip)]
    pub token: Option<[u8; 32]>,
    /// The command line, if the server starts it.
    pub command: Option<String>,
    /// The working directory of the command.
    pub directory: Option<PathBuf>,
    /// The fixed rating, in Elo.
    pub anchor: Option<f64>,
    /// The ladders that a program plays on; `None`: all.
    pub ladders: Option<BTreeSet<String>>,
    /// Whether the file of the league lists the bot.
    #[serde(skip)]
    pub is_of_file: bool,
    /// Whether the bot is not paired for the time being.
    #[serde(rename = "paused")]
    pub is_paused: bool,
    /// In UTC.
    pub added_at: String,
    /// The end of its participation, in UTC.
    pub revoked_at: Option<String>,
    /// The reason why the server does not start its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The name that people see instead of its name.
    pub display_name: Option<String>,
    /// The version of the submission whose program it is; its directory is then relative to that of the league.
    #[serde(skip)]
    pub version: Option<u32>,
}

/// Reasons why a bot takes part no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BotEnd {
    /// The owner ended it, or left.
    Retired,
    /// The organiser ended it.
    Revoked,
    /// A ruling that is in force disqualified it.
    Disqualified,
}

stored_words!(BotEnd {
    Retired => "retired",
    Revoked => "revoked",
    Disqualified => "disqualified",
});

impl LeagueBot {
    /// The number of the submission whose program it is, if it was handed in.
    pub fn submission(&self) -> Option<u32> {
        let directory = self.version.and(self.directory.as_ref())?;
        directory.file_name()?.to_str()?.parse().ok()
    }

    /// Returns whether it takes part, and can: a bot of a restored backup has no token, and the server may
    /// refuse its command.
    pub(super) fn is_admitted(&self) -> bool {
        let can_play = self.token.is_some() || (self.command.is_some() && self.refused.is_none());
        self.revoked_at.is_none() && can_play
    }
}

#[derive(Clone, Debug, Default)]
pub struct BotDisplayNames(BTreeMap<String, String>);

impl BotDisplayNames {
    pub fn of(bots: &[LeagueBot]) -> BotDisplayNames {
        let shown = bots.iter().filter_map(|bot| Some((bot.name.clone(), bot.display_name.clone()?)));
        BotDisplayNames(shown.collect())
    }

    /// The display name of a player: its version follows the display name of its bot.
    pub fn of_player(&self, player: &str) -> Option<String> {
        let Name { bot, version } = Name::parse(player);
        let display = self.0.get(&bot)?.clone();
        Some(Name { bot: display, version }.to_string())
    }
}

/// A bot that is added, or takes part again. The fields are those of [`LeagueBot`].
#[derive(Clone, Debug, Default)]
pub struct NewBot<'a> {
    pub name: &'a str,
    /// `None`: the one before, or the name of the bot.
    pub owner: Option<&'a str>,
    pub token: Option<[u8; 32]>,
    pub command: Option<&'a str>,
    pub directory: Option<&'a Path>,
    pub anchor: Option<f64>,
    pub ladders: Option<&'a BTreeSet<String>>,
    pub is_of_file: bool,
    pub version: Option<u32>,
    /// The display name, only of a bot that was not there.
    pub display_name: Option<&'a str>,
}

impl League {
    /// Returns all bots, including those that do not take part any more, in the order in which they were added.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn bots(&self) -> Result<Vec<LeagueBot>, StoreError> {
        read_bots(&self.db).map_err(failed)
    }

    /// The bots that take part, and those of the others that anchor ratings or have a display name.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn current_bots(&self) -> Result<Vec<LeagueBot>, StoreError> {
        let current = "WHERE revoked_at IS NULL OR anchor IS NOT NULL OR display_name IS NOT NULL";
        read_bots_that(&self.db, current, []).map_err(failed)
    }

    /// The bots of an owner, including those that do not take part any more.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn bots_of(&self, owner: &str) -> Result<Vec<LeagueBot>, StoreError> {
        read_bots_that(&self.db, "WHERE owner = ?1", [owner]).map_err(failed)
    }

    /// The reason why bots, or those of an owner, take part no longer, by name.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn ended_bots(&self, owner: Option<&str>) -> Result<BTreeMap<String, BotEnd>, StoreError> {
        let sql = "SELECT name, CASE WHEN EXISTS (SELECT 1 FROM rulings AS r WHERE r.act = 'disqualify' AND r.name = b.name AND \
                   r.matches = '[]' AND r.undone_at IS NULL) THEN 'disqualified' WHEN EXISTS (SELECT 1 FROM log WHERE \
                   at = b.revoked_at AND action = 'retire ' || b.name) OR EXISTS (SELECT 1 FROM owners WHERE id = b.owner AND \
                   left_at = b.revoked_at) THEN 'retired' ELSE 'revoked' END FROM bots AS b \
                   WHERE revoked_at IS NOT NULL AND (?1 IS NULL OR owner = ?1)";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([owner], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// The names of the bots of an owner that take part, and of its submissions that are not decided.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn own_names(&self, owner: &str) -> Result<BTreeSet<String>, StoreError> {
        own_names(&self.db, owner).map_err(failed)
    }

    /// Stores the programs of the file of the league. Programs that are not listed any more are revoked. A
    /// program whose name another bot has is left out, so that the name of an owner's bot does not keep the
    /// server from starting.
    ///
    /// # Errors
    /// Errors of the database. Then nothing changes.
    pub fn set_programs(&mut self, programs: &[NewBot<'_>], at: SystemTime) -> Result<Vec<Wrong>, ActError> {
        self.try_change(|db| {
            let known = read_bots(db)?;
            let mut notices = Vec::new();
            for program in programs {
                let name = program.name;
                let mut added = known.iter().filter(|bot| !bot.is_of_file && bot.revoked_at.is_none());
                if added.clone().any(|bot| bot.name == program.name) {
                    notices.push(Wrong::from(format!(
                        "program {name} does not play: another bot has this name; rename the program, or `referee league revoke {name}`"
                    )));
                    continue;
                }
                let skeleton = name::skeleton(program.name);
                let alike = added.find(|bot| name::skeleton(&bot.name) == skeleton);
                notices.extend(alike.map(|LeagueBot { name: other, .. }| {
                    let revokes = format!("`referee league revoke {other}` removes that one");
                    Wrong::from(format!(
                        "program {name}: its name looks like that of the bot `{other}`; {revokes}"
                    ))
                }));
                admit(db, program, at)?;
            }
            let is_listed = |bot: &LeagueBot| programs.iter().any(|program| program.name == bot.name);
            for bot in known.iter().filter(|bot| bot.is_of_file && !is_listed(bot)) {
                let sql = "UPDATE bots SET revoked_at = ?2 WHERE name = ?1 AND revoked_at IS NULL";
                db.execute(sql, [&bot.name, &utc(at)])?;
            }
            Ok(notices)
        })
    }

    /// Stores why the server does not start this command of a bot, or that it does.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn set_refused(&mut self, name: &str, command: &str, why: Option<&str>) -> Result<(), StoreError> {
        let sql = "UPDATE bots SET refused = ?3 WHERE name = ?1 AND command = ?2";
        self.change(|db| db.execute(sql, params![name, command, why])).map(drop)
    }
}

/// Reads all bots, in the order in which they were added.
pub(super) fn read_bots(db: &Connection) -> rusqlite::Result<Vec<LeagueBot>> {
    read_bots_that(db, "", [])
}

/// The bots that fulfil a condition, in the order in which they were added.
fn read_bots_that(
    db: &Connection,
    condition: &str,
    params: impl rusqlite::Params,
) -> rusqlite::Result<Vec<LeagueBot>> {
    let sql = format!("SELECT * FROM bots {condition} ORDER BY id");
    let read = |row: &Row<'_>| -> rusqlite::Result<LeagueBot> {
        Ok(read_row!(row as LeagueBot {
            name, owner, token, command, anchor, is_of_file, is_paused, added_at, revoked_at, refused,
            display_name, version
        } with {
            directory: row.get::<_, Option<String>>("directory")?.map(PathBuf::from),
            ladders: parsed_column(row, "ladders")?,
        }))
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

/// Lets a bot take part: a new one, or one with this name, which keeps its display name and whether it is paused.
pub(super) fn admit(db: &Connection, bot: &NewBot<'_>, at: SystemTime) -> Result<(), ActError> {
    match insert(db, bot, at)? {
        None => Ok(()),
        Some(taken) => Err(Refusal::Invalid.because(format_args!(
            "`{}` looks like `{taken}`, which is taken; choose a name that cannot be confused with it",
            bot.name
        ))),
    }
}

/// Like [`admit`]. Returns the name of another bot that looks alike, and then changes nothing.
pub(super) fn insert(db: &Connection, bot: &NewBot<'_>, at: SystemTime) -> rusqlite::Result<Option<String>> {
    let skeleton = name::skeleton(bot.name);
    let sql = "SELECT 1 FROM bots WHERE name = ?1";
    let is_new = db.prepare_cached(sql)?.query_row([bot.name], |_| Ok(())).optional()?.is_none();
    // The organiser decides on the names in the file: no bot of an owner keeps the server from starting.
    if is_new && !bot.is_of_file {
        let other = taken_name(db, bot.name, bot.version.and(bot.owner))?;
        if other.is_some() {
            return Ok(other);
        }
    }
    db.execute(
        "INSERT INTO bots (name, skeleton, owner, token, command, directory, anchor, ladders, is_of_file, version, added_at, \
         display_name) VALUES (?1, ?2, coalesce(?3, ?1), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
         ON CONFLICT (name) DO UPDATE SET owner = coalesce(?3, owner), token = ?4, command = ?5, directory = ?6, anchor = ?7, \
         ladders = ?8, is_of_file = ?9, version = ?10, revoked_at = NULL, refused = NULL \
         WHERE revoked_at IS NOT NULL OR (owner, token, command, directory, anchor, ladders, is_of_file, version) IS NOT \
         (coalesce(?3, owner), ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            bot.name,
            skeleton,
            bot.owner,
            bot.token,
            bot.command,
            bot.directory.map(Path::to_string_lossy),
            bot.anchor,
            bot.ladders.map(json::text),
            bot.is_of_file,
            bot.version,
            utc(at),
            bot.display_name,
        ],
    )?;
    // A submission may have been built meanwhile.
    let sql = "UPDATE bots SET is_paused = is_paused | 4 WHERE name = ?1 AND is_paused < 4 AND owner IN \
               (SELECT id FROM owners WHERE state = 'banned')";
    db.prepare_cached(sql)?.execute([bot.name])?;
    follow_bot(db, bot.name)?;
    Ok(None)
}

/// Keeps the state of the submission that is the program of a bot in step with whether the bot takes part.
pub(super) fn follow_bot(db: &Connection, name: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE submissions SET state = iif(state = 'playing', 'retired', 'playing'), \
               changed_at = coalesce(b.revoked_at, changed_at) FROM bots AS b WHERE b.name = ?1 AND bot = b.name AND \
               submissions.version = b.version AND \
               state = iif(b.revoked_at IS NULL AND b.command IS NOT NULL, 'retired', 'playing')";
    db.execute(sql, [name]).map(drop)
}
