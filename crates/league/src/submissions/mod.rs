//! Programs that owners hand in.

mod files;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use referee_game::json;
use referee_game::name::Likeness;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

pub use files::{ArrivingArchive, IntakeLimits, KeptOnLadder, SUBMISSIONS, SubmissionFiles, SubmissionSpace};

use referee_store::stored_words;
use referee_store::{StoreError, parsed_column, read_row};

use super::acts::{ActError, OwnerCredential, Refusal, user_of};
use super::bots::{self, NewBot, own_names, read_bots, taken_name};
use super::events::check_all_thawed;
use super::log::note;
use super::owners::owner_by;
use super::{League, failed, utc};

/// The progress of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubmissionState {
    /// The submission is in the queue.
    Received,
    /// The submission is unpacked and built.
    Building,
    /// The bot plays test matches.
    Checking,
    /// The submission has passed, and the organiser has to approve it.
    Waiting,
    /// The bot takes part.
    Playing,
    /// A later version has replaced it, or the bot takes part no longer.
    Retired,
    /// The submission did not pass, or the organiser rejected it.
    Failed,
}

stored_words!(SubmissionState {
    Received => "received",
    Building => "building",
    Checking => "checking",
    Waiting => "waiting",
    Playing => "playing",
    Retired => "retired",
    Failed => "failed",
});

impl SubmissionState {
    pub const fn words(self) -> &'static str {
        match self {
            SubmissionState::Waiting => "waiting for approval",
            other => other.as_str(),
        }
    }

    /// Returns whether it has not been decided yet.
    pub const fn is_pending(self) -> bool {
        matches!(
            self,
            SubmissionState::Received
                | SubmissionState::Building
                | SubmissionState::Checking
                | SubmissionState::Waiting
        )
    }
}

/// A program that an owner has handed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Submission {
    /// From 1.
    pub id: u32,
    /// The id of the owner: see [`LeagueBot::owner`](super::LeagueBot::owner).
    #[serde(skip)]
    pub owner: String,
    /// The name of its bot, once its `bot.toml` has been read.
    pub bot: Option<String>,
    /// The number of this submission of the bot, from 1; the player is `NAME@VERSION`.
    pub version: Option<u32>,
    /// The language, for display.
    pub language: Option<String>,
    /// The command line of the bot.
    #[serde(skip)]
    pub command: Option<String>,
    /// SHA-256 of the archive, in hex.
    pub archive: String,
    /// The size of the archive, in bytes.
    pub size: u64,
    /// SHA-256 of the archive of the build, in hex.
    pub built: Option<String>,
    /// The ladders whose check it has passed.
    pub ladders: BTreeSet<String>,
    pub state: SubmissionState,
    /// Whether the organiser has approved the submission.
    #[serde(rename = "approved")]
    pub is_approved: bool,
    #[serde(skip)]
    pub attempts: u32,
    /// The report of the build and the check.
    #[serde(skip)]
    pub log: String,
    /// In UTC.
    pub received_at: String,
    /// The last change of the state, in UTC.
    pub changed_at: String,
}

/// The bot's description in `bot.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmittedBot<'a> {
    pub name: &'a str,
    pub command: &'a str,
    /// The language, for display.
    pub language: Option<&'a str>,
}

/// The limits of submissions of one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionQuota {
    pub waiting: u32,
    /// The number allowed on one day (UTC).
    pub per_day: u32,
    /// The number of bots that it may have.
    pub bots: u32,
}

/// The submissions for which work is left to do.
const DUE: &str = "state IN ('received', 'building', 'checking') OR (state = 'waiting' AND is_approved = 1)";

/// The server in the log of the league.
const SERVER: &str = "server";

/// The text in place of a log that was erased.
const ERASED: &str = "[this log was erased: logs of what does not play are kept for 30 days]\n";

fn read_submission(row: &Row<'_>) -> rusqlite::Result<Submission> {
    Ok(read_row!(row as Submission {
        id, owner, bot, version, language, command, archive, built, state, is_approved, attempts, log,
        received_at, changed_at
    } with {
        size: row.get::<_, i64>("size")?.unsigned_abs(),
        ladders: parsed_column(row, "ladders")?,
    }))
}

impl Submission {
    /// `BOT@VERSION`, once it is known.
    pub fn player(&self) -> Option<String> {
        Some(format!("{}@{}", self.bot.as_ref()?, self.version?))
    }
}

impl League {
    /// Checks that an owner may hand in another program at this time.
    ///
    /// # Errors
    /// [`Refusal::TooMany`], or those of the database.
    fn check_quota(&self, owner: &str, quota: SubmissionQuota, at: SystemTime) -> Result<(), ActError> {
        check_all_thawed(&self.db)?;
        check_quota(&self.db, owner, quota, at)
    }

    /// Adds a submission of the owner with this credential. `store` puts the archive in its place, whose number it gets, before the submission is in the database.
    ///
    /// # Errors
    /// If the owner is not admitted or has reached a limit, those of `store` and of the database.
    pub fn submit(
        &mut self,
        by: &OwnerCredential,
        archive: &str,
        size: u64,
        quota: SubmissionQuota,
        at: SystemTime,
        store: impl FnOnce(u32) -> std::io::Result<()>,
    ) -> Result<u32, ActError> {
        self.try_change(|db| {
            let owner = owner_by(db, by)?;
            owner.check_approved()?;
            check_all_thawed(db)?;
            check_quota(db, &owner.id, quota, at)?;
            let id = db.query_row(
                "INSERT INTO submissions (owner, archive, size, state, received_at, changed_at) VALUES (?1, ?2, ?3, \
                 ?4, ?5, ?5) RETURNING id",
                params![owner.id, archive, size as i64, SubmissionState::Received, utc(at)],
                |row| row.get(0),
            )?;
            store(id).map_err(StoreError::from)?;
            note(db, &user_of(&owner.id), &format!("submit {id}"), at)?;
            Ok(id)
        })
    }

    /// The submission with this number.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn submission(&self, id: u32) -> Result<Option<Submission>, StoreError> {
        let sql = "SELECT * FROM submissions WHERE id = ?1";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        query.query_row([id], read_submission).optional().map_err(failed)
    }

    /// Returns all submissions, or those of an owner, in the order in which they came.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn submissions(&self, owner: Option<&str>) -> Result<Vec<Submission>, StoreError> {
        let sql = "SELECT * FROM submissions WHERE ?1 IS NULL OR owner = ?1 ORDER BY id";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([owner], read_submission).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The submissions to work on, in this order: those that were approved, then those of the owner whose last turn was the
    /// longest ago, of each first those that were begun least often.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn submissions_due(&self) -> Result<Vec<u32>, StoreError> {
        let sql = format!(
            "SELECT id FROM submissions AS due WHERE {DUE} ORDER BY state <> 'waiting', (SELECT max(changed_at) FROM \
             submissions WHERE owner = due.owner AND attempts > 0), attempts, id"
        );
        self.submission_ids(&sql, [])
    }

    /// The submissions of an owner.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn submissions_of(&self, owner: &str) -> Result<Vec<u32>, StoreError> {
        self.submission_ids("SELECT id FROM submissions WHERE owner = ?1", [owner])
    }

    fn submission_ids(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<u32>, StoreError> {
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map(params, |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Begins the work on a submission: from its start, or to make the bot of one that has passed take part. Returns how often
    /// it was begun, this time included; `None` if there is nothing to do any more.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn begin_submission(&mut self, id: u32, at: SystemTime) -> Result<Option<u32>, StoreError> {
        let sql = format!(
            "UPDATE submissions SET attempts = attempts + 1, changed_at = ?2, state = iif(state = 'waiting', state, 'building'), \
             log = iif(state = 'waiting', log, ''), built = iif(state = 'waiting', built, NULL) WHERE id = ?1 AND ({DUE}) \
             RETURNING attempts"
        );
        self.change(|db| db.query_row(&sql, params![id, utc(at)], |row| row.get(0)).optional())
    }

    /// Puts a submission back into the queue: what the server needs for it failed. `counts`: as one of its attempts. Returns
    /// how often it was begun; `None` if there is nothing to do any more.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn put_back_submission(
        &mut self,
        id: u32,
        counts: bool,
        at: SystemTime,
    ) -> Result<Option<u32>, StoreError> {
        let sql = format!(
            "UPDATE submissions SET attempts = max(attempts - ?2, 0), changed_at = ?3, state = iif(state = 'waiting', state, 'received') \
             WHERE id = ?1 AND ({DUE}) RETURNING attempts"
        );
        self.change(|db| db.query_row(&sql, params![id, !counts, utc(at)], |row| row.get(0)).optional())
    }

    /// Stores the description of a submission's bot in `bot.toml`, and returns its version. The name is its
    /// owner's from now on.
    ///
    /// # Errors
    /// If the owner cannot have a bot with this name, or those of the database.
    pub fn name_submission(
        &mut self,
        id: u32,
        bot: SubmittedBot<'_>,
        quota: SubmissionQuota,
    ) -> Result<u32, ActError> {
        self.try_change(|db| {
            let (owner, version): (String, Option<u32>) =
                db.query_row("SELECT owner, version FROM submissions WHERE id = ?1", [id], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
            check_bot_name(db, &owner, bot.name)?;
            let own = own_names(db, &owner)?;
            if !own.contains(bot.name) && own.len() >= quota.bots as usize {
                return Err(Refusal::Conflict.because(format_args!(
                    "bot.toml: `{}` would be another bot of yours, and {} are allowed: retire one",
                    bot.name, quota.bots
                )));
            }
            let version = match version {
                Some(version) => version,
                None => db.query_row(
                    "SELECT coalesce(max(version), 0) + 1 FROM submissions WHERE bot = ?1",
                    [bot.name],
                    |row| row.get(0),
                )?,
            };
            db.execute(
                "UPDATE submissions SET bot = ?2, version = ?3, command = ?4, language = ?5 WHERE id = ?1",
                params![id, bot.name, version, bot.command, bot.language],
            )?;
            Ok(version)
        })
    }

    /// Notes that the bot of a submission is built, with the report of the build. `built`: SHA-256 of the
    /// archive of the result, in hex.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn check_submission(
        &mut self,
        id: u32,
        built: &str,
        log: &str,
        at: SystemTime,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE submissions SET state = 'checking', built = ?2, log = ?3, changed_at = ?4 WHERE id = ?1 AND state = \
                   'building'";
        self.change(|db| db.execute(sql, params![id, built, log, utc(at)])).map(drop)
    }

    /// Notes that a submission has passed the check on these ladders, with the report. It then waits for
    /// approval.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn pass_submission(
        &mut self,
        id: u32,
        ladders: &BTreeSet<String>,
        is_approved: bool,
        log: &str,
        at: SystemTime,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE submissions SET state = 'waiting', ladders = ?2, is_approved = ?3, log = ?4, changed_at = ?5, \
                   attempts = iif(?3, attempts, 0) WHERE id = ?1 AND state = 'checking'";
        self.change(|db| db.execute(sql, params![id, json::text(ladders), is_approved, log, utc(at)]))
            .map(drop)
    }

    /// Notes that a submission has failed, with the log of the last attempt.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn fail_submission(&mut self, id: u32, log: &str, at: SystemTime) -> Result<(), StoreError> {
        // The organiser may have rejected it meanwhile.
        let sql = "UPDATE submissions SET state = 'failed', log = iif(state = 'waiting', log || ?2, ?2), changed_at = ?3 WHERE id = ?1 AND state NOT IN \
                   ('playing', 'retired', 'failed')";
        self.change(|db| match db.execute(sql, params![id, log, utc(at)])? {
            0 => Ok(()),
            _ => note(db, SERVER, &format!("submission fail {id}"), at),
        })
    }

    /// Makes the bot of a submission that has passed take part, from this directory, relative to that of the league. The
    /// version before it is retired.
    ///
    /// # Errors
    /// If it does not wait, if the owner cannot have a bot with this name, or those of the database.
    pub fn install_submission(
        &mut self,
        id: u32,
        directory: &Path,
        at: SystemTime,
    ) -> Result<Submission, ActError> {
        self.try_change(|db| {
            let passed = waiting(db, id)?;
            let (Some(name), Some(version), Some(command)) = (&passed.bot, passed.version, &passed.command)
            else {
                return Err(not_waiting(id, passed.state));
            };
            check_bot_name(db, &passed.owner, name)?;
            let bot = NewBot {
                name,
                owner: Some(&passed.owner),
                command: Some(command),
                directory: Some(directory),
                ladders: Some(&passed.ladders),
                version: Some(version),
                ..NewBot::default()
            };
            if let Some(taken) = bots::insert(db, &bot, at)? {
                return Err(name_taken(name, &taken));
            }
            let sql = "UPDATE submissions SET state = 'retired', changed_at = ?3 WHERE bot = ?1 AND id <> ?2 AND \
                       state = 'playing'";
            db.execute(sql, params![name, id, utc(at)])?;
            let sql = "UPDATE submissions SET state = 'playing', changed_at = ?2 WHERE id = ?1";
            db.execute(sql, params![id, utc(at)])?;
            note(db, SERVER, &format!("submission play {id}"), at)?;
            Ok(passed)
        })
    }

    /// Erases the logs of submissions that have failed or were replaced before this time.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn erase_submission_logs(&mut self, before: SystemTime) -> Result<(), StoreError> {
        let sql = "UPDATE submissions SET log = ?2 WHERE state IN ('failed', 'retired') AND changed_at < ?1 AND log NOT IN \
                   ('', ?2)";
        self.change(|db| db.execute(sql, params![utc(before), ERASED])).map(drop)
    }

    /// The last two versions before the present one of each submitted bot that takes part: their archives stay, so that owners can
    /// go back to them.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn former_submissions(&self) -> Result<BTreeSet<u32>, StoreError> {
        let sql = "SELECT id FROM submissions AS s WHERE state = 'retired' AND EXISTS (SELECT 1 FROM bots WHERE \
                   bots.name = s.bot AND revoked_at IS NULL) AND (SELECT count(*) FROM submissions AS later WHERE \
                   later.bot = s.bot AND later.state = 'retired' AND later.id > s.id) < 2";
        Ok(self.submission_ids(sql, [])?.into_iter().collect())
    }

    /// The submissions that play or may play later, and those that were decided after this time.
    ///
    /// # Errors
    /// Errors of the database.
    pub(super) fn current_submissions(&self, since: SystemTime) -> Result<BTreeSet<u32>, StoreError> {
        let sql = "SELECT id FROM submissions WHERE state NOT IN ('retired', 'failed') OR changed_at > ?1";
        Ok(self.submission_ids(sql, [utc(since)])?.into_iter().collect())
    }

    /// The submissions whose files are still needed: the pending ones, those of bots as they are or would be if they took
    /// part again, and those that were decided after this time.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn submissions_with_files(&self, since: SystemTime) -> Result<BTreeSet<u32>, StoreError> {
        let sql = "SELECT id FROM submissions AS s WHERE state NOT IN ('retired', 'failed') OR changed_at > ?1 OR EXISTS \
                   (SELECT 1 FROM bots WHERE bots.name = s.bot AND bots.version = s.version)";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([utc(since)], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}

fn not_waiting(id: u32, state: SubmissionState) -> ActError {
    Refusal::Conflict
        .because(format_args!("submission {id} is {state}; only one that waits for approval can be decided"))
}

fn name_taken(name: &str, taken: &str) -> ActError {
    let likeness = Likeness::of(name, taken);
    Refusal::Conflict.because(format_args!("bot.toml: the name {likeness}: choose another one"))
}

fn waiting(db: &Connection, id: u32) -> Result<Submission, ActError> {
    let sql = "SELECT * FROM submissions WHERE id = ?1";
    let found = db.query_row(sql, [id], read_submission).optional()?;
    let found = found.ok_or_else(|| ActError::no_submission(id))?;
    if found.state == SubmissionState::Waiting { Ok(found) } else { Err(not_waiting(id, found.state)) }
}

/// Approves a submission that waits for it: the server makes its bot take part.
pub(super) fn approve(db: &Connection, id: u32) -> Result<(), ActError> {
    waiting(db, id)?;
    db.execute("UPDATE submissions SET is_approved = 1 WHERE id = ?1", [id])?;
    Ok(())
}

/// Takes back a submission of an owner that does not play yet.
pub(super) fn withdraw(db: &Connection, id: u32, owner: &str, at: SystemTime) -> Result<(), ActError> {
    let sql = "UPDATE submissions SET state = 'failed', is_approved = 0, log = log || 'withdrawn by its owner' || char(10), \
               changed_at = ?3 WHERE id = ?1 AND owner = ?2 AND state IN ('received', 'building', 'checking', 'waiting')";
    if db.execute(sql, params![id, owner, utc(at)])? == 0 {
        return Err(Refusal::Conflict
            .because(format_args!("submission {id} of yours is decided already, or there is none")));
    }
    Ok(())
}

/// Rejects a submission that waits for approval. The reason is added to its log.
pub(super) fn reject(db: &Connection, id: u32, reason: &str, at: SystemTime) -> Result<(), ActError> {
    waiting(db, id)?;
    db.execute(
        "UPDATE submissions SET state = 'failed', is_approved = 0, log = log || ?2, changed_at = ?3 WHERE id = ?1",
        params![id, format!("rejected by the organiser: {reason}\n"), utc(at)],
    )?;
    Ok(())
}

fn check_quota(db: &Connection, owner: &str, quota: SubmissionQuota, at: SystemTime) -> Result<(), ActError> {
    let day = &utc(at)[..10];
    let (pending, today): (u32, u32) = db.query_row(
        "SELECT count(*) FILTER (WHERE state IN ('received', 'building', 'checking', 'waiting')), \
         count(*) FILTER (WHERE substr(received_at, 1, 10) = ?2) FROM submissions WHERE owner = ?1",
        [owner, day],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if pending >= quota.waiting {
        return Err(Refusal::TooMany.because(format_args!(
            "undecided submissions of an owner: {} at most; wait until one of yours is decided",
            quota.waiting
        )));
    }
    if today >= quota.per_day {
        return Err(Refusal::TooMany.because(format_args!(
            "submissions of an owner a day (UTC): {} at most; try again tomorrow",
            quota.per_day
        )));
    }
    Ok(())
}

/// Checks that the bot of a submission may have this name.
fn check_bot_name(db: &Connection, owner: &str, given: &str) -> Result<(), ActError> {
    let sql = "SELECT 1 FROM owners WHERE id = ?1 AND state = 'left'";
    if db.query_row(sql, [owner], |_| Ok(())).optional()?.is_some() {
        return Err(Refusal::Conflict.because("the owner has left"));
    }
    for bot in read_bots(db)? {
        if bot.name == given && bot.owner == owner && bot.version.is_some() {
            if bot.revoked_at.is_some() {
                return Err(Refusal::Conflict.because(format_args!(
                    "bot.toml: `{given}` takes part no longer: ask the organiser, or choose another name"
                )));
            }
            return Ok(());
        }
    }
    match taken_name(db, given, Some(owner))? {
        Some(taken) => Err(name_taken(given, &taken)),
        None => Ok(()),
    }
}
