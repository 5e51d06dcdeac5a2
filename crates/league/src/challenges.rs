//! Matches that were asked for.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use referee_stats::ladder::Name;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::acts::{ActError, Refusal};
use super::{League, failed, utc};
use referee_game::json;
use referee_store::{StoreError, parsed_column};

/// The time for which a challenge waits for its players.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// A match that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Challenge {
    /// The number in the database.
    pub id: i64,
    /// The names of the players, in no order of seats.
    pub players: Vec<String>,
    /// The id of the owner who asked; `None`: the organiser.
    #[serde(skip)]
    pub asked_by: Option<String>,
    /// In UTC.
    pub asked_at: String,
}

impl Challenge {
    /// Challenges that were asked for before this time, in UTC, have expired now: their players did not come.
    pub fn expired_before(now: SystemTime) -> String {
        utc(now.checked_sub(KEPT).unwrap_or(SystemTime::UNIX_EPOCH))
    }
}

impl League {
    /// The matches that were asked for on a ladder and have not ended, in order.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn challenges(&self, ladder: &str) -> Result<Vec<Challenge>, StoreError> {
        let sql = "SELECT * FROM challenges WHERE ladder = ?1 ORDER BY id";
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let rows = query.query_map([ladder], |row| {
            Ok(Challenge {
                id: row.get("id")?,
                players: parsed_column(row, "players")?,
                asked_by: row.get("asked_by")?,
                asked_at: row.get("asked_at")?,
            })
        });
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Removes challenges that were played, or cannot be any more.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn remove_challenges(&mut self, ids: impl IntoIterator<Item = i64>) -> Result<(), StoreError> {
        self.change(|db| {
            let mut remove = db.prepare_cached("DELETE FROM challenges WHERE id = ?1")?;
            ids.into_iter().try_for_each(|id| remove.execute([id]).map(drop))
        })
    }
}

/// Checks that players of a ladder can meet. Returns their owners.
pub(super) fn check_players(
    db: &Connection,
    ladder: &str,
    players: &[String],
) -> Result<Vec<String>, ActError> {
    let names: Vec<Name> = players.iter().map(|player| Name::parse(player)).collect();
    let mut owners = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let Name { bot, version } = name;
        let sql = "SELECT owner, coalesce(json_type(ladders), 'null') = 'null' OR EXISTS \
                   (SELECT 1 FROM json_each(ladders) WHERE value = ?2), version FROM bots \
                   WHERE name = ?1 AND revoked_at IS NULL";
        let row =
            db.query_row(sql, [bot.as_str(), ladder], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        let found: Option<(String, bool, Option<u32>)> = row.optional()?;
        let (owner, is_here, submitted) = found.ok_or_else(|| ActError::NoOpponent(bot.clone()))?;
        if !is_here {
            return Err(Refusal::Invalid.because(format_args!("`{bot}` does not play on {ladder}")));
        }
        if let Some(version) = version {
            let exists = match submitted {
                Some(current) => *version == current.to_string(),
                None => {
                    let sql = "SELECT 1 FROM players WHERE ladder = ?1 AND name = ?2";
                    db.query_row(sql, [ladder, &name.to_string()], |_| Ok(())).optional()?.is_some()
                }
            };
            if !exists {
                return Err(Refusal::Invalid.because(format_args!(
                    "`{name}` does not play on {ladder}: `{bot}` stands for the newest version that is there"
                )));
            }
        }
        // A bot without a version stands for any of its versions.
        let is_same = |other: &Name| {
            other.bot == *bot && (other == name || other.version.is_none() || version.is_none())
        };
        if names[..at].iter().any(is_same) {
            return Err(Refusal::Invalid.because(format_args!("`{bot}` is named twice")));
        }
        owners.push(owner);
    }
    Ok(owners)
}

/// Checks that no challenge between these players waits, and that none of their bots is paused.
pub(super) fn check_new(db: &Connection, ladder: &str, players: &[String]) -> Result<(), ActError> {
    let names = |players: &[String]| -> BTreeSet<String> {
        players.iter().map(|player| Name::parse(player).to_string()).collect()
    };
    let asked = names(players);
    for name in &asked {
        let bot = Name::parse(name).bot;
        let sql = "SELECT 1 FROM bots WHERE name = ?1 AND is_paused > 0";
        if db.query_row(sql, [&bot], |_| Ok(())).optional()?.is_some() {
            return Err(Refusal::Conflict.because(format_args!("`{bot}` is paused")));
        }
    }
    let mut query = db.prepare_cached("SELECT players FROM challenges WHERE ladder = ?1")?;
    for waiting in query.query_map([ladder], |row| parsed_column::<Vec<String>>(row, "players"))? {
        if names(&waiting?) == asked {
            return Err(Refusal::Conflict.because("a challenge between them waits, or is played, already"));
        }
    }
    Ok(())
}

/// Takes back a challenge of an owner. Returns the action for the log.
pub(super) fn take_back(db: &Connection, id: i64, owner: &str) -> Result<String, ActError> {
    if db.execute("DELETE FROM challenges WHERE id = ?1 AND asked_by = ?2", params![id, owner])? == 0 {
        return Err(Refusal::NotFound.because(format_args!("no challenge {id} of yours waits")));
    }
    Ok(format!("take back challenge {id}"))
}

/// Adds a challenge, whose players can meet. Returns the action for the log.
pub(super) fn insert_challenge(
    db: &Connection,
    ladder: &str,
    players: &[String],
    asked_by: Option<&str>,
    at: SystemTime,
) -> rusqlite::Result<String> {
    let players: Vec<String> = players.iter().map(|player| Name::parse(player).to_string()).collect();
    let sql = "INSERT INTO challenges (ladder, players, asked_by, asked_at) VALUES (?1, ?2, ?3, ?4)";
    db.execute(sql, params![ladder, json::text(&players), asked_by, utc(at)])?;
    Ok(format!("challenge {} --ladder {ladder}", players.join(" ")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use referee_files::Folder;

    use referee_game::Chain;

    use super::*;
    use crate::{LeagueOwner, NewBot, OrganiserAct, OwnerAct, OwnerCredential, OwnerState};

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn league(folder: &Path) -> League {
        let mut league = League::open(&Folder::open(folder).unwrap()).unwrap();
        let long = ["long".to_owned()].into();
        let token = Some([1; 32]);
        let command = Some("./bot");
        for bot in [
            NewBot { name: "ada-1", owner: Some("ada"), token, ..NewBot::default() },
            NewBot { name: "ada-2", owner: Some("ada"), token, ..NewBot::default() },
            NewBot { name: "ben-1", owner: Some("ben"), token, ..NewBot::default() },
            NewBot { name: "gone", owner: Some("ben"), token, ..NewBot::default() },
            NewBot { name: "other", owner: Some("ben"), command, ladders: Some(&long), ..NewBot::default() },
            NewBot { name: "mouse", owner: Some("ben"), command, version: Some(2), ..NewBot::default() },
        ] {
            league.act("root", OrganiserAct::AddBot(&bot), NOW).unwrap();
        }
        league.act("root", OrganiserAct::Revoke { bot: "gone" }, NOW).unwrap();
        let ada = LeagueOwner {
            id: "ada".to_owned(),
            display_name: None,
            affiliation: None,
            contact: None,
            state: OwnerState::Active,
            token: None,
            network: None,
            joined_at: utc(NOW),
            left_at: None,
        };
        league.act("root", OrganiserAct::AddOwner(&ada), NOW).unwrap();
        let sql =
            "INSERT INTO players VALUES ('short', 0, 'ben-1@1', '', ''), ('short', 1, 'ben-1@2', '', '')";
        league.change(|db| db.execute(sql, [])).unwrap();
        league
    }

    #[test]
    fn only_matches_that_can_be_played_are_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut league = league(folder.path());
        let mut ask = |players: [&str; 2]| {
            let players = players.map(str::to_owned);
            let challenge = OrganiserAct::Challenge { ladder: "short", players: &players };
            league.act("root", challenge, NOW).map_err(|error| Chain(&error).to_string())
        };
        assert_eq!(ask(["ada-1", "ben-1"]), Ok(()));
        assert_eq!(ask(["ada-1", "ben-1@2"]), Ok(()));
        assert_eq!(ask(["ben-1@1", "ben-1@2"]), Ok(()), "two versions of a bot");
        assert_eq!(ask(["ada-1", "mouse@2"]), Ok(()));
        let stands = "stands for the newest version that is there";
        for (players, why) in [
            (["ada-1", "nobody"], "no bot called `nobody` takes part".to_owned()),
            (["ada-1", "gone"], "no bot called `gone` takes part".to_owned()),
            (["ada-1", "other"], "`other` does not play on short".to_owned()),
            (["ada-1", "ben-1@3"], format!("`ben-1@3` does not play on short: `ben-1` {stands}")),
            (["ada-1", "mouse@1"], format!("`mouse@1` does not play on short: `mouse` {stands}")),
            (["ada-1", "ada-1"], "`ada-1` is named twice".to_owned()),
            (["ben-1", "ben-1@2"], "`ben-1` is named twice".to_owned()),
        ] {
            assert_eq!(ask(players), Err(why));
        }
    }

    #[test]
    fn owner_asks_for_limited_matches_of_own_bots_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let mut league = league(folder.path());
        let mut ask = |players: [&str; 2]| {
            let players = players.map(str::to_owned);
            let challenge = OwnerAct::Challenge { ladder: "short", players: &players, per_day: 2 };
            let by = OwnerCredential::Proxy("ada".to_owned());
            league.act_as_owner(&by, challenge, NOW).map(drop).map_err(|error| Chain(&error).to_string())
        };
        assert_eq!(ask(["ben-1", "mouse"]), Err("one of them is yours".to_owned()));
        assert_eq!([ask(["ada-1", "ben-1"]), ask(["ada-2", "ben-1"])], [Ok(()), Ok(())]);
        assert!(ask(["ada-1", "mouse"]).unwrap_err().starts_with("2 challenges a day are allowed"));
        let asked = league.challenges("short").unwrap();
        assert_eq!(asked.iter().map(|one| one.asked_by.as_deref()).collect::<Vec<_>>(), [Some("ada"); 2]);
        // A number is never used again, so that readers of later ones miss none.
        league.remove_challenges(asked.iter().map(|one| one.id)).unwrap();
        let players = ["ada-1", "ben-1"].map(str::to_owned);
        let challenge = OrganiserAct::Challenge { ladder: "short", players: &players };
        league.act("root", challenge, NOW).unwrap();
        assert!(league.challenges("short").unwrap()[0].id > asked[1].id);
    }
}
