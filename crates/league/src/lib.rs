//! Leagues, without playing them.
//!
//! * [`League`] is the database of a league: its bots, owners, submissions, players, matches, challenges, rulings and seasons.
//!   `league.sql` documents the tables
//! * [`OrganiserAct`] and [`OwnerAct`] are what the organiser and the owners decide, as values: [`League::act`] and
//!   [`League::act_as_owner`] decide and apply one in a transaction, [`League::rule`] a ruling
//! * [`LadderTally`] counts the results of a ladder and rates its players: [`LadderRow`] is a row of standings, [`FinalStandings`]
//!   are those of a season that has ended, [`LadderSnapshot`] is what is shown of a ladder while it is played

mod acts;
mod bots;
mod challenges;
mod events;
mod finals;
mod history;
mod ladder_rulings;
mod ladder_season;
mod log;
mod matches;
mod organisers;
mod owners;
mod retention;
mod rules;
mod seasons;
mod snapshot;
mod submissions;
mod tally;

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

pub use acts::{ActError, LadderMatches, LeaguePart, OrganiserAct, OwnerAct, OwnerCredential, Refusal};

pub use bots::{BotDisplayNames, BotEnd, LeagueBot, NewBot};
pub use challenges::Challenge;
pub use events::{EventEffects, EventKind, PlannedEvent};
pub use finals::FinalsLink;
pub use history::{KeptRating, RatingPoint};
pub use ladder_rulings::LadderRulings;
pub use ladder_season::{FinalStandings, LadderSeason};
pub use log::LeagueChange;
pub use matches::{LeagueMatch, MatchFilter};
pub use owners::{Admission, Invitation, LeagueOwner, NamedToken, OwnerState, OwnerToken};
pub use rules::RulesVersion;
pub use seasons::Season;
pub use snapshot::{LadderSnapshot, LeadTaken, PlayerState, PublishedLadder, ShownOwner, WaitingMatch};
pub use submissions::{
    ArrivingArchive, IntakeLimits, KeptOnLadder, SUBMISSIONS, Submission, SubmissionFiles, SubmissionQuota,
    SubmissionSpace, SubmissionState, SubmittedBot,
};

pub use tally::{LadderRow, LadderSeats, LadderTally, RatingInputs, Standing, ranking};

use referee_files::{Folder, keep_private};
use referee_store::{
    BUSY, RULINGS, RulingRow, Schema, StoreError, damaged, data_version, database_files, read_rulings, utc,
};

/// The page cache of a connection in KiB. A server has several connections for months, and mostly appends.
const CACHE: i64 = 256;
const SCHEMA: Schema = Schema { name: "league", version: 17, tables: &[include_str!("league.sql"), RULINGS] };
/// The file name in the directory of the league.
const NAME: &str = "league.sqlite";

/// The database of a league. Several processes may use it concurrently.
#[derive(Debug)]
pub struct League {
    db: Connection,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaguePlayer {
    /// `NAME` or `NAME@VERSION`.
    pub name: String,
    /// The first connection, in UTC.
    pub joined_at: String,
    /// The end of the last match, or the first connection without one, in UTC.
    pub last_seen: String,
}

/// The key of whether the league is paused.
const PAUSED: &str = "paused";

/// Returns the key of whether a ladder is paused.
fn paused_ladder(name: &str) -> String {
    format!("paused:{name}")
}

fn failed(error: rusqlite::Error) -> StoreError {
    SCHEMA.failed(error)
}

impl League {
    /// Opens the database in the directory of a league; creates it if it is missing.
    ///
    /// # Errors
    /// If it has an unknown version, or on I/O errors.
    pub fn open(folder: &Folder) -> Result<League, StoreError> {
        if !folder.has_file(NAME)? {
            // The database contains seeds: other users must not read it.
            drop(folder.create(NAME)?);
        }
        keep_private(folder.path());
        // New files of SQLite have the mode of the database; those that are there may be of a restored copy.
        folder.make_private(&database_files(NAME))?;
        League::at(&folder.path().join(NAME))
    }

    fn at(path: &Path) -> Result<League, StoreError> {
        let mut db = SCHEMA.connect(path, true)?;
        // A negative size is in KiB.
        db.pragma_update(None, "cache_size", -CACHE).map_err(failed)?;
        SCHEMA.create_if_new(&mut db, |_| Ok(()))?;
        Ok(League { db })
    }

    fn change<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let transaction =
            self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let result = work(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(result)
    }

    /// Like [`League::change`], for work that can be refused.
    fn try_change<T, E: From<rusqlite::Error>>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    /// Returns a number that changes whenever another connection has written to the database.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        data_version(&self.db).map_err(failed)
    }

    /// A value of the table `league`.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn value(&self, key: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT value FROM league WHERE key = ?1";
        self.db.query_row(sql, [key], |row| row.get(0)).optional().map_err(failed)
    }

    /// Returns whether no match of the league begins.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn is_paused(&self) -> Result<bool, StoreError> {
        Ok(self.value(PAUSED)?.is_some_and(|value| value == "1"))
    }

    /// Returns whether no match of a ladder begins until it is resumed. The league may be paused as well, and an event may have closed it.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn is_ladder_paused(&self, ladder: &str) -> Result<bool, StoreError> {
        Ok(self.value(&paused_ladder(ladder))?.is_some_and(|value| value == "1"))
    }

    /// A number of the table `league`.
    ///
    /// # Errors
    /// Errors of the database, or if the value is not a number.
    pub fn number(&self, key: &str) -> Result<Option<u32>, StoreError> {
        let number = |text: String| {
            let key = key.to_owned();
            text.parse().map_err(|_| damaged("league", format!("`{key}` is `{text}`, expected a number")))
        };
        self.value(key)?.map(number).transpose()
    }

    /// Stores a value in the table `league`.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn set_value(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.change(|db| db.execute("INSERT OR REPLACE INTO league VALUES (?1, ?2)", [key, value])).map(drop)
    }

    /// Stores a value in the table `league` without waiting for another process that writes.
    ///
    /// # Errors
    /// Errors of the database, also if it is locked.
    pub fn set_value_at_once(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.db.busy_timeout(std::time::Duration::ZERO).map_err(failed)?;
        let set = self.set_value(key, value);
        self.db.busy_timeout(BUSY).map_err(failed)?;
        set
    }

    /// The players of a ladder, by their ids.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn players(&self, ladder: &str) -> Result<Vec<LeaguePlayer>, StoreError> {
        let sql = "SELECT name, joined_at, last_seen FROM players WHERE ladder = ?1 ORDER BY id";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([ladder], |row| {
            Ok(LeaguePlayer { name: row.get(0)?, joined_at: row.get(1)?, last_seen: row.get(2)? })
        });
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Returns whether a ladder has, or had, this player.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn has_player(&self, ladder: &str, name: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM players WHERE ladder = ?1 AND name = ?2";
        let found = self.db.query_row(sql, [ladder, name], |_| Ok(())).optional();
        found.map(|row| row.is_some()).map_err(failed)
    }

    /// Reads all rulings, in the order in which they were made.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn rulings(&self) -> Result<Vec<RulingRow>, StoreError> {
        read_rulings(&self.db).map_err(failed)
    }

    /// Returns a text that changes whenever bots or owners do.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn changes(&self) -> Result<Option<String>, StoreError> {
        self.value("changes")
    }

    /// Writes a copy without seeds to a new file, with or without the hashes of tokens, also while the league runs.
    ///
    /// # Errors
    /// I/O errors, also if the file exists.
    pub fn export(&self, path: &Path, has_tokens: bool) -> Result<(), StoreError> {
        // Only its owner can read it. SQLite writes to an empty file.
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        self.db.execute("VACUUM INTO ?1", [path.to_string_lossy()]).map_err(failed)?;
        let copy = Connection::open(path).map_err(failed)?;
        let tokens = "UPDATE bots SET token = NULL; \
             UPDATE owners SET token = NULL, token_at = NULL, former_token = NULL, former_until = NULL, network = NULL; \
             DELETE FROM owner_tokens; DELETE FROM invitations; DELETE FROM league WHERE key LIKE 'organiser:%';";
        let seeds = "DELETE FROM league WHERE key LIKE 'seed:%' OR key LIKE 'seed-from:%'; VACUUM;";
        // VACUUM overwrites what was deleted; `secure_delete` leaves traces.
        copy.execute_batch(&format!("{}{seeds}", if has_tokens { "" } else { tokens })).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use referee_game::hex;
    use rusqlite::params;

    use super::*;

    #[test]
    fn an_export_has_no_trace_of_secrets() {
        let place = tempfile::tempdir().unwrap();
        let mut league = League::open(&Folder::open(place.path()).unwrap()).unwrap();
        let now = SystemTime::UNIX_EPOCH;
        let secret = |kind: u8, number: u8| [[kind, number]; 16].concat().try_into().unwrap();
        for number in 0..20 {
            let name = format!("bot-{number}");
            let sql = "INSERT INTO bots (name, skeleton, owner, token, is_of_file, added_at) VALUES (?1, ?1, ?1, ?2, 0, '')";
            let token: [u8; 32] = secret(201, number);
            league.change(|db| db.execute(sql, params![name, token])).unwrap();
            let token = OwnerToken::new(secret(202, number), now);
            let owner = LeagueOwner {
                id: name,
                display_name: None,
                affiliation: None,
                contact: None,
                state: OwnerState::Active,
                token: Some(token),
                network: None,
                joined_at: utc(now),
                left_at: None,
            };
            league.act("root", OrganiserAct::AddOwner(&owner), now).unwrap();
            let further =
                OrganiserAct::NameToken { owner: &owner.id, name: "ann", hash: secret(203, number) };
            league.act("root", further, now).unwrap();
            league.set_value(&format!("seed:{number}"), "precious seed").unwrap();
            let organiser = OrganiserAct::AddOrganiser { name: &owner.id, hash: secret(204, number) };
            league.act("root", organiser, now).unwrap();
        }
        let path = place.path().join("export");
        league.export(&path, false).unwrap();
        let bytes = fs::read(&path).unwrap();
        let has = |what: &[u8]| bytes.windows(what.len()).any(|found| found == what);
        assert!(has(b"bot-17") && !has(b"precious seed"));
        for number in 0..20 {
            for kind in [201, 202, 203, 204] {
                let secret: [u8; 32] = secret(kind, number);
                assert!(!has(&secret[..16]), "{kind} {number}");
                assert!(!has(hex::encode(&secret[..16]).as_bytes()), "{kind} {number}");
            }
        }
    }
}
