//! The owners of bots: people and teams who have signed up.

use std::time::{Duration, SystemTime};

use referee_game::name;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::words::stored_words;

use super::{League, failed, utc};

/// SHA-256 of a token or of the secret of an invitation.
type SecretHash = [u8; 32];

/// Whether an owner takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerState {
    /// The organiser has to approve it.
    Waiting,
    /// It takes part.
    Active,
    /// It has left, or was removed.
    Left,
}

stored_words!(OwnerState {
    Waiting => "waiting",
    Active => "active",
    Left => "left",
});

/// An owner of bots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeagueOwner {
    /// As in [`LeagueBot::owner`](super::LeagueBot::owner).
    pub id: String,
    /// What people see instead of the id.
    pub display_name: Option<String>,
    /// A school or a company, for display.
    pub affiliation: Option<String>,
    /// How the organiser can reach the owner. Only the organiser sees it.
    pub contact: Option<String>,
    /// Whether it takes part.
    pub state: OwnerState,
    /// Its token; `None` if a proxy vouches for it, and once it has left.
    pub token: Option<OwnerToken>,
    /// The network from which it signed up without an invitation.
    pub network: Option<String>,
    /// When it signed up, in UTC.
    pub joined_at: String,
    /// When it left.
    pub left_at: Option<String>,
}

impl LeagueOwner {
    /// SHA-256 of the tokens that are valid at this time.
    pub fn tokens(&self, now: SystemTime) -> Vec<[u8; 32]> {
        let Some(token) = self.token.as_ref().filter(|_| self.state == OwnerState::Active) else {
            return Vec::new();
        };
        let now = utc(now);
        let former = token.former.as_ref().filter(|(_, until)| *until > now);
        [token.hash].into_iter().chain(former.map(|(hash, _)| *hash)).collect()
    }
}

/// The token of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerToken {
    /// SHA-256 of it.
    pub hash: [u8; 32],
    /// When it was made, in UTC.
    pub made_at: String,
    /// SHA-256 of the one before it, and until when that one is valid.
    pub former: Option<([u8; 32], String)>,
}

/// How long a token that was replaced is valid.
const FORMER: Duration = Duration::from_secs(60 * 60);

impl OwnerToken {
    /// A new token with this SHA-256. The one before it is valid for another hour, so that no connection is lost.
    pub fn new(hash: [u8; 32], before: Option<OwnerToken>, now: SystemTime) -> OwnerToken {
        let former = before.map(|before| (before.hash, utc(now + FORMER)));
        OwnerToken { hash, made_at: utc(now), former }
    }
}

/// A link that admits owners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// From 1; ignored when it is added.
    pub id: u32,
    /// SHA-256 of its secret.
    pub secret: [u8; 32],
    /// The id that the owner gets; `None` for any.
    pub owner: Option<String>,
    /// How many owners it admits.
    pub uses: u32,
    /// How many it has admitted.
    pub used: u32,
    /// In UTC.
    pub expires_at: String,
    /// In UTC.
    pub made_at: String,
    /// The user of the operating system who made it.
    pub made_by: String,
}

/// Why nobody can sign up with an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitationError {
    /// No invitation has this secret.
    #[error("there is no such invitation, or it was taken back: ask the organiser for another one")]
    Unknown,
    /// It admitted as many owners as it may.
    #[error("the invitation has been used: ask the organiser for another one")]
    Used,
    /// It is too old.
    #[error("the invitation has expired: ask the organiser for another one")]
    Expired,
    /// It is for another id.
    #[error("the invitation is for another id")]
    OtherOwner,
}

impl InvitationError {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            InvitationError::Unknown => "unknown",
            InvitationError::Used => "used",
            InvitationError::Expired => "expired",
            InvitationError::OtherOwner => "for another id",
        }
    }
}

/// Why an owner is not stored.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    /// Another owner has this id, a display name that looks like it, or the organiser's bots have it.
    #[error("`{given}` looks like `{taken}`, which is taken: choose another one")]
    Taken {
        /// The id or the display name.
        given: String,
        /// What it looks like.
        taken: String,
    },
    /// The invitation does not admit it.
    #[error(transparent)]
    Invitation(#[from] InvitationError),
    /// The database cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for OwnerError {
    fn from(error: rusqlite::Error) -> OwnerError {
        OwnerError::Store(failed(error))
    }
}

const OWNER: &str = "id, display_name, affiliation, contact, state, token, token_at, former_token, former_until, \
                     network, joined_at, left_at";

fn read_owner(row: &Row<'_>) -> rusqlite::Result<LeagueOwner> {
    let hash: Option<SecretHash> = row.get(5)?;
    let former = row.get::<_, Option<SecretHash>>(7)?.zip(row.get(8)?);
    let made_at: Option<String> = row.get(6)?;
    let token = hash.zip(made_at).map(|(hash, made_at)| OwnerToken { hash, made_at, former });
    Ok(LeagueOwner {
        id: row.get(0)?,
        display_name: row.get(1)?,
        affiliation: row.get(2)?,
        contact: row.get(3)?,
        state: row.get(4)?,
        token,
        network: row.get(9)?,
        joined_at: row.get(10)?,
        left_at: row.get(11)?,
    })
}

fn read_invitation(row: &Row<'_>) -> rusqlite::Result<Invitation> {
    Ok(Invitation {
        id: row.get(0)?,
        secret: row.get(1)?,
        owner: row.get(2)?,
        uses: row.get(3)?,
        used: row.get(4)?,
        expires_at: row.get(5)?,
        made_at: row.get(6)?,
        made_by: row.get(7)?,
    })
}

const INVITATION: &str = "id, secret, owner, uses, used, expires_at, made_at, made_by";

/// Adds an owner, or replaces the one with this id, unless it could be taken for another one.
fn insert_owner(db: &Connection, owner: &LeagueOwner) -> Result<(), OwnerError> {
    let names = [Some(&owner.id), owner.display_name.as_ref()];
    let mut query = db.prepare_cached("SELECT id, display_name FROM owners WHERE id <> ?1")?;
    let mut others = query.query([&owner.id])?;
    while let Some(other) = others.next()? {
        let taken: [Option<String>; 2] = [other.get(0)?, other.get(1)?];
        for given in names.into_iter().flatten() {
            let looks_like = |taken: &&String| name::skeleton(taken) == name::skeleton(given);
            if let Some(taken) = taken.iter().flatten().find(looks_like) {
                return Err(OwnerError::Taken { given: given.clone(), taken: taken.clone() });
            }
        }
    }
    let LeagueOwner { id, display_name, affiliation, contact, state, network, joined_at, left_at, .. } =
        owner;
    let token = owner.token.as_ref();
    let former = token.and_then(|token| token.former.as_ref());
    db.prepare_cached(&format!(
        "INSERT INTO owners ({OWNER}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO UPDATE \
         SET display_name = ?2, affiliation = ?3, contact = ?4, state = ?5, token = ?6, token_at = ?7, former_token = ?8, \
         former_until = ?9, network = ?10, left_at = ?12"
    ))?
    .execute(params![
        id,
        display_name,
        affiliation,
        contact,
        state,
        token.map(|token| token.hash),
        token.map(|token| &token.made_at),
        former.map(|(hash, _)| hash),
        former.map(|(_, until)| until),
        network,
        joined_at,
        left_at,
    ])?;
    Ok(())
}

/// Uses an invitation for an owner.
fn use_invitation(
    db: &Connection,
    secret: &SecretHash,
    owner: &str,
    now: &str,
) -> Result<Invitation, OwnerError> {
    let sql = format!("SELECT {INVITATION} FROM invitations WHERE secret = ?1");
    let found = db.query_row(&sql, [secret], read_invitation).optional()?;
    let invitation = found.ok_or(InvitationError::Unknown)?;
    invitation.check(now)?;
    if invitation.owner.as_ref().is_some_and(|own| own != owner) {
        return Err(InvitationError::OtherOwner.into());
    }
    db.execute("UPDATE invitations SET used = used + 1 WHERE id = ?1", [invitation.id])?;
    Ok(invitation)
}

impl Invitation {
    /// Checks that it admits another owner at this time, in UTC.
    ///
    /// # Errors
    /// [`InvitationError::Used`], or [`InvitationError::Expired`].
    pub fn check(&self, now: &str) -> Result<(), InvitationError> {
        if self.used >= self.uses {
            return Err(InvitationError::Used);
        }
        if self.expires_at.as_str() <= now { Err(InvitationError::Expired) } else { Ok(()) }
    }
}

impl League {
    /// All owners who have signed up, in the order of their ids.
    ///
    /// # Errors
    /// Those of the database.
    pub fn owners(&self) -> Result<Vec<LeagueOwner>, StoreError> {
        let mut query =
            self.db.prepare_cached(&format!("SELECT {OWNER} FROM owners ORDER BY id")).map_err(failed)?;
        let rows = query.query_map([], read_owner).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The owner with this id.
    ///
    /// # Errors
    /// Those of the database.
    pub fn owner(&self, id: &str) -> Result<Option<LeagueOwner>, StoreError> {
        let sql = format!("SELECT {OWNER} FROM owners WHERE id = ?1");
        let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
        query.query_row([id], read_owner).optional().map_err(failed)
    }

    /// The owner whose token has this SHA-256 and is valid at this time. It may wait for approval.
    ///
    /// # Errors
    /// Those of the database.
    pub fn owner_of_token(
        &self,
        hash: &[u8; 32],
        now: SystemTime,
    ) -> Result<Option<LeagueOwner>, StoreError> {
        let sql = format!(
            "SELECT {OWNER} FROM owners WHERE token = ?1 OR (former_token = ?1 AND former_until > ?2)"
        );
        let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
        query.query_row(params![hash, utc(now)], read_owner).optional().map_err(failed)
    }

    /// The number of owners who have signed up without an invitation on this day (UTC), and from this network on this day.
    ///
    /// # Errors
    /// Those of the database.
    pub fn sign_ups(&self, day: SystemTime, network: &str) -> Result<(u32, u32), StoreError> {
        let sql = "SELECT count(*), count(*) FILTER (WHERE network = ?2) FROM owners WHERE network IS NOT NULL AND \
                   substr(joined_at, 1, 10) = ?1";
        let day = utc(day);
        let counted = self.db.query_row(sql, [&day[..10], network], |row| Ok((row.get(0)?, row.get(1)?)));
        counted.map_err(failed)
    }

    /// Adds an owner, with an invitation or without one. If bots in the league name this id as their owner already, only an
    /// invitation for this id admits the owner, so that nobody takes over the bots of others.
    ///
    /// # Errors
    /// If the invitation does not admit it, if it could be taken for another one, or those of the database.
    pub fn sign_up(
        &mut self,
        owner: &LeagueOwner,
        invitation: Option<&[u8; 32]>,
        now: SystemTime,
    ) -> Result<(), OwnerError> {
        self.try_change(|db| {
            let invitation =
                invitation.map(|secret| use_invitation(db, secret, &owner.id, &utc(now))).transpose()?;
            let is_named = invitation.is_some_and(|invitation| invitation.owner.is_some());
            let taken = |taken: String| OwnerError::Taken { given: owner.id.clone(), taken };
            let sql = "SELECT id FROM owners WHERE id = ?1 AND NOT (?2 AND state = 'left')";
            if let Some(other) =
                db.query_row(sql, params![owner.id, is_named], |row| row.get(0)).optional()?
            {
                return Err(taken(other));
            }
            let mut query = db.prepare_cached("SELECT DISTINCT owner FROM bots")?;
            for other in query.query_map([], |row| row.get::<_, String>(0))? {
                let other = other?;
                let is_own = is_named && other == owner.id;
                if !is_own && name::skeleton(&other) == name::skeleton(&owner.id) {
                    return Err(taken(other));
                }
            }
            insert_owner(db, owner)
        })
    }

    /// Replaces the owner with this id.
    ///
    /// # Errors
    /// If it could be taken for another one, or those of the database.
    pub fn put_owner(&mut self, owner: &LeagueOwner) -> Result<(), OwnerError> {
        self.try_change(|db| insert_owner(db, owner))
    }

    /// Erases what an owner said of itself, and ends the participation of its bots. People see a number instead of their
    /// names; results stay. Programs in the file of the league stay, too.
    ///
    /// # Errors
    /// Those of the database.
    pub fn leave(&mut self, id: &str, at: SystemTime) -> Result<(), StoreError> {
        self.change(|db| {
            db.execute(
                "UPDATE bots SET revoked_at = coalesce(revoked_at, ?2), token = NULL, display_name = 'Former ' || id \
                 WHERE owner = ?1 AND is_of_file = 0",
                [id, &utc(at)],
            )?;
            db.execute(
                "UPDATE owners SET state = 'left', display_name = NULL, affiliation = NULL, contact = NULL, token = NULL, \
                 token_at = NULL, former_token = NULL, former_until = NULL, network = iif(network IS NULL, NULL, ''), left_at = ?2 WHERE id = ?1",
                [id, &utc(at)],
            )
        })
        .map(drop)
    }

    /// Adds an invitation.
    ///
    /// # Errors
    /// Those of the database.
    pub fn invite(&mut self, invitation: &Invitation) -> Result<(), StoreError> {
        let Invitation { secret, owner, uses, expires_at, made_at, made_by, .. } = invitation;
        let sql = "INSERT INTO invitations (secret, owner, uses, expires_at, made_at, made_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.change(|db| db.execute(sql, params![secret, owner, uses, expires_at, made_at, made_by]))
            .map(drop)
    }

    /// All invitations, in the order in which they were made.
    ///
    /// # Errors
    /// Those of the database.
    pub fn invitations(&self) -> Result<Vec<Invitation>, StoreError> {
        let sql = format!("SELECT {INVITATION} FROM invitations ORDER BY id");
        let mut query = self.db.prepare(&sql).map_err(failed)?;
        let rows = query.query_map([], read_invitation).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Takes back an invitation. Returns whether there was one.
    ///
    /// # Errors
    /// Those of the database.
    pub fn revoke_invitation(&mut self, id: u32) -> Result<bool, StoreError> {
        self.change(|db| db.execute("DELETE FROM invitations WHERE id = ?1", [id])).map(|count| count > 0)
    }
}

#[cfg(test)]
mod tests {
    use referee_files::Folder;

    use super::*;
    use crate::league::LeagueBot;

    fn owner(id: &str, token: u8) -> LeagueOwner {
        LeagueOwner {
            id: id.to_owned(),
            display_name: None,
            affiliation: None,
            contact: None,
            state: OwnerState::Active,
            token: Some(OwnerToken { hash: [token; 32], made_at: utc(at(0)), former: None }),
            network: Some("192.0.2.1".to_owned()),
            joined_at: utc(at(0)),
            left_at: None,
        }
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn invitation(secret: u8, owner: Option<&str>, uses: u32) -> Invitation {
        Invitation {
            id: 0,
            secret: [secret; 32],
            owner: owner.map(str::to_owned),
            uses,
            used: 0,
            expires_at: utc(at(100)),
            made_at: utc(at(0)),
            made_by: "root".to_owned(),
        }
    }

    fn bot_of(owner: &str) -> LeagueBot {
        LeagueBot {
            name: format!("bot of {owner}"),
            owner: owner.to_owned(),
            token: None,
            command: Some("./bot".to_owned()),
            directory: None,
            anchor: None,
            ladders: None,
            is_of_file: true,
            is_paused: false,
            added_at: utc(at(0)),
            revoked_at: None,
            refused: None,
            display_name: None,
            version: None,
        }
    }

    #[test]
    fn an_invitation_admits_so_many_owners_until_it_expires() {
        let folder = tempfile::tempdir().unwrap();
        let mut league = League::open(&Folder::open(folder.path()).unwrap()).unwrap();
        league.invite(&invitation(1, None, 2)).unwrap();
        let mut sign_up = |id: &str, token, now| {
            let result = league.sign_up(&owner(id, token), Some(&[1; 32]), at(now));
            result.map_err(|error| error.to_string())
        };
        assert_eq!(sign_up("ada", 1, 0), Ok(()));
        assert_eq!(sign_up("ben", 2, 100), Err(InvitationError::Expired.to_string()));
        // What is refused uses nothing up.
        assert_eq!(
            sign_up("Ada", 2, 1),
            Err("`Ada` looks like `ada`, which is taken: choose another one".to_owned())
        );
        assert_eq!(sign_up("ben", 2, 99), Ok(()));
        assert_eq!(sign_up("cleo", 3, 99), Err(InvitationError::Used.to_string()));
        assert_eq!(league.sign_ups(at(7), "192.0.2.1").unwrap(), (2, 2));
        assert_eq!(league.sign_ups(at(86_400), "192.0.2.1").unwrap(), (0, 0));
        assert!(matches!(
            league.sign_up(&owner("dan", 4), Some(&[9; 32]), at(0)),
            Err(OwnerError::Invitation(InvitationError::Unknown))
        ));
    }

    #[test]
    fn nobody_becomes_the_owner_of_bots_that_are_there_but_by_an_invitation_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let mut league = League::open(&Folder::open(folder.path()).unwrap()).unwrap();
        league.put_bot(&bot_of("ada")).unwrap();
        for id in ["ada", "A-D-A"] {
            let refused = league.sign_up(&owner(id, 1), None, at(0));
            assert!(
                matches!(&refused, Err(OwnerError::Taken { taken, .. }) if taken == "ada"),
                "{refused:?}"
            );
        }
        league.invite(&invitation(1, Some("ada"), 1)).unwrap();
        let other = league.sign_up(&owner("ben", 1), Some(&[1; 32]), at(0));
        assert!(matches!(other, Err(OwnerError::Invitation(InvitationError::OtherOwner))), "{other:?}");
        league.sign_up(&owner("ada", 1), Some(&[1; 32]), at(0)).unwrap();
    }

    #[test]
    fn a_former_token_is_valid_until_its_time_and_none_of_an_owner_who_waits() {
        let folder = tempfile::tempdir().unwrap();
        let mut league = League::open(&Folder::open(folder.path()).unwrap()).unwrap();
        let former = Some(([1; 32], utc(at(60))));
        let token = Some(OwnerToken { hash: [2; 32], made_at: utc(at(0)), former });
        let ada = LeagueOwner { token, ..owner("ada", 1) };
        league.put_owner(&ada).unwrap();
        let found = |hash: u8, now| league.owner_of_token(&[hash; 32], at(now)).unwrap();
        assert_eq!(found(2, 90), Some(ada.clone()));
        assert_eq!(found(1, 59), Some(ada.clone()));
        assert_eq!(found(1, 60), None);
        assert_eq!(ada.tokens(at(59)), [[2; 32], [1; 32]]);
        assert_eq!(ada.tokens(at(60)), [[2; 32]]);
        assert_eq!(LeagueOwner { state: OwnerState::Waiting, ..ada }.tokens(at(0)), [[0; 32]; 0]);
    }
}
