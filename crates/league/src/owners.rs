//! The owners of bots: people and teams who have signed up.

use std::time::{Duration, SystemTime};

use referee_game::{hex, name};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use referee_store::{StoreError, parsed_column, read_row, stored_words};

use super::acts::{ActError, OwnerCredential, Refusal, user_of};
use super::bots::follow_bot;
use super::events::check_thawed;
use super::log::note;
use super::{League, failed, utc};

/// SHA-256 of a token or of the secret of an invitation.
type SecretHash = [u8; 32];

/// The state of an owner's participation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerState {
    /// The organiser has to approve it.
    Waiting,
    /// The owner takes part.
    Active,
    /// The organiser keeps it and its bots away until it is admitted again.
    Banned,
    /// The owner has left, or was removed.
    Left,
}

stored_words!(OwnerState {
    Waiting => "waiting",
    Active => "active",
    Banned => "banned",
    Left => "left",
});

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeagueOwner {
    /// The id, which [`LeagueBot::owner`](super::LeagueBot::owner) has.
    pub id: String,
    /// The name that people see instead of the id.
    pub display_name: Option<String>,
    /// A school or a company, for display.
    pub affiliation: Option<String>,
    /// The organiser's way to reach the owner. Only the organiser sees it.
    pub contact: Option<String>,
    pub state: OwnerState,
    /// The token; `None` if a proxy vouches for it, and once it has left.
    #[serde(skip)]
    pub token: Option<OwnerToken>,
    /// The network from which it signed up without an invitation.
    #[serde(skip)]
    pub network: Option<String>,
    /// In UTC.
    pub joined_at: String,
    pub left_at: Option<String>,
}

impl LeagueOwner {
    /// Checks that the organiser has approved it.
    ///
    /// # Errors
    /// [`Refusal::NotAllowed`].
    pub fn check_approved(&self) -> Result<(), ActError> {
        match self.state {
            OwnerState::Active => Ok(()),
            _ => Err(Refusal::NotAllowed.because("the organiser has not approved you yet")),
        }
    }

    /// SHA-256 of the tokens with which its bots may connect at this time.
    pub fn tokens(&self, now: SystemTime) -> Vec<[u8; 32]> {
        let Some(token) = self.token.as_ref().filter(|_| self.state == OwnerState::Active) else {
            return Vec::new();
        };
        let now = utc(now);
        let former = token.former.as_ref().filter(|(_, until)| *until > now);
        let named = token.named.iter().map(|named| named.hash);
        [token.hash].into_iter().chain(former.map(|(hash, _)| *hash)).chain(named).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerToken {
    /// The SHA-256 of the token.
    pub hash: [u8; 32],
    /// In UTC.
    pub made_at: String,
    /// SHA-256 of the one before it, and until when bots may connect with that one.
    pub former: Option<([u8; 32], String)>,
    pub named: Vec<NamedToken>,
}

/// A further token of an owner, such as that of a member of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedToken {
    pub name: String,
    /// The SHA-256 of the token.
    pub hash: [u8; 32],
    /// In UTC.
    pub made_at: String,
}

/// The time for which bots may connect with a token that was replaced.
pub(super) const FORMER: Duration = Duration::from_secs(60 * 60);

impl OwnerToken {
    /// The first token of an owner, with this SHA-256.
    pub fn new(hash: [u8; 32], now: SystemTime) -> OwnerToken {
        OwnerToken { hash, made_at: utc(now), former: None, named: Vec::new() }
    }
}

/// A link that admits owners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Invitation {
    /// From 1; ignored when it is added.
    #[serde(skip)]
    pub id: u32,
    /// The SHA-256 of the secret.
    #[serde(skip)]
    pub secret: [u8; 32],
    /// The id that the owner gets; `None` for any.
    pub owner: Option<String>,
    /// The display name, unless the owner gives another one at sign-up.
    pub display_name: Option<String>,
    pub affiliation: Option<String>,
    pub contact: Option<String>,
    /// The number of owners that it admits.
    pub uses: u32,
    /// The number of owners that it has admitted.
    pub used: u32,
    /// In UTC.
    pub expires_at: String,
    /// In UTC.
    #[serde(skip)]
    pub made_at: String,
    /// The user of the operating system who made it.
    pub made_by: String,
}

#[derive(Clone, Copy, Debug)]
pub enum Admission<'a> {
    /// SHA-256 of the secret of an invitation.
    Invitation(&'a [u8; 32]),
    /// An open sign-up, with limits a day (UTC), in all and for one network.
    Open { per_day: u32, per_network: u32 },
}

/// Reports that the id or the display name of an owner looks like another one.
fn taken(given: &str, taken: &str) -> ActError {
    Refusal::Conflict.because(format_args!("{}: choose another one", name::Likeness::of(given, taken)))
}

fn read_owner(row: &Row<'_>) -> rusqlite::Result<LeagueOwner> {
    let hash: Option<SecretHash> = row.get("token")?;
    let former = row.get::<_, Option<SecretHash>>("former_token")?.zip(row.get("former_until")?);
    let made_at: Option<String> = row.get("token_at")?;
    let named: Vec<(String, String, String)> = parsed_column(row, "named")?;
    let named = named
        .into_iter()
        .filter_map(|(name, hash, made_at)| Some(NamedToken { name, hash: hex::decode32(&hash)?, made_at }));
    let named = named.collect();
    let token = hash.zip(made_at).map(|(hash, made_at)| OwnerToken { hash, made_at, former, named });
    Ok(read_row!(row as LeagueOwner {
        id, display_name, affiliation, contact, state, network, joined_at, left_at
    } with {
        token,
    }))
}

fn read_invitation(row: &Row<'_>) -> rusqlite::Result<Invitation> {
    Ok(read_row!(row as Invitation {
        id, secret, owner, display_name, affiliation, contact, uses, used, expires_at, made_at, made_by
    }))
}

/// The columns of owners, with their further tokens.
const OWNERS: &str = "SELECT *, (SELECT json_group_array(json_array(name, hash, made_at)) FROM owner_tokens \
                      WHERE owner = owners.id) AS named FROM owners";

pub(super) fn find_owner(db: &Connection, id: &str) -> rusqlite::Result<Option<LeagueOwner>> {
    let mut query = db.prepare_cached(&format!("{OWNERS} WHERE id = ?1"))?;
    query.query_row([id], read_owner).optional()
}

/// The owner with this credential, who has not left.
pub(super) fn owner_by(db: &Connection, credential: &OwnerCredential) -> Result<LeagueOwner, ActError> {
    let found = match credential {
        OwnerCredential::Token(hash) => {
            let sql =
                format!("{OWNERS} WHERE token = ?1 OR id = (SELECT owner FROM owner_tokens WHERE hash = ?2)");
            db.prepare_cached(&sql)?.query_row(params![hash, hex::encode(hash)], read_owner).optional()?
        }
        OwnerCredential::Proxy(id) => find_owner(db, id)?,
    };
    let owner = found.filter(|owner| owner.state != OwnerState::Left).ok_or_else(|| match credential {
        OwnerCredential::Token(_) => ActError::unknown_token(),
        OwnerCredential::Proxy(id) => Refusal::NotOwner.because(format_args!("`{id}` has not signed up")),
    })?;
    if owner.state == OwnerState::Banned {
        let why = "the organiser keeps you and your bots away: ask the organiser why";
        return Err(Refusal::NotAllowed.because(why));
    }
    Ok(owner)
}

/// Checks that an owner could not be taken for another one by its id or this display name.
pub(super) fn check_owner_names(
    db: &Connection,
    id: &str,
    display_name: Option<&str>,
) -> Result<(), ActError> {
    let mut query = db.prepare_cached("SELECT id, display_name FROM owners WHERE id <> ?1")?;
    let mut others = query.query([id])?;
    while let Some(other) = others.next()? {
        let taken: [Option<String>; 2] = [other.get(0)?, other.get(1)?];
        for given in [Some(id), display_name].into_iter().flatten() {
            let looks_like = |taken: &&String| name::skeleton(taken) == name::skeleton(given);
            if let Some(taken) = taken.iter().flatten().find(looks_like) {
                return Err(self::taken(given, taken));
            }
        }
    }
    Ok(())
}

/// Adds an owner with a new id, or one who has left.
pub(super) fn insert_owner(db: &Connection, owner: &LeagueOwner) -> Result<(), ActError> {
    check_owner_names(db, &owner.id, owner.display_name.as_deref())?;
    let LeagueOwner { id, display_name, affiliation, contact, state, token, network, joined_at, .. } = owner;
    let token = token.as_ref();
    let added = db
        .prepare_cached(
            "INSERT INTO owners (id, display_name, affiliation, contact, state, token, token_at, network, joined_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE SET display_name = ?2, affiliation = ?3, \
             contact = ?4, state = ?5, token = ?6, token_at = ?7, network = ?8, left_at = NULL WHERE state = 'left'",
        )?
        .execute(params![
            id,
            display_name,
            affiliation,
            contact,
            state,
            token.map(|token| token.hash),
            token.map(|token| &token.made_at),
            network,
            joined_at,
        ])?;
    if added == 0 {
        return Err(taken(id, id));
    }
    Ok(())
}

/// Erases the profile of an owner, and ends the participation of its bots. People see a number instead of
/// their names; results stay. Programs in the file of the league stay, too. Returns whether there is an owner
/// who has not left.
pub(super) fn remove_owner(db: &Connection, id: &str, at: SystemTime) -> rusqlite::Result<bool> {
    let removed = db.execute(
        "UPDATE owners SET state = 'left', display_name = NULL, affiliation = NULL, contact = NULL, token = NULL, \
         token_at = NULL, former_token = NULL, former_until = NULL, network = iif(network IS NULL, NULL, ''), left_at = ?2 WHERE id = ?1 AND \
         state <> 'left'",
        [id, &utc(at)],
    )?;
    if removed == 0 {
        return Ok(false);
    }
    db.execute("DELETE FROM owner_tokens WHERE owner = ?1", [id])?;
    let sql = "UPDATE bots SET revoked_at = coalesce(revoked_at, ?2), token = NULL, display_name = 'Former ' || id \
               WHERE owner = ?1 AND is_of_file = 0 RETURNING name";
    let mut query = db.prepare(sql)?;
    let bots: Vec<String> = query.query_map([id, &utc(at)], |row| row.get(0))?.collect::<Result<_, _>>()?;
    bots.iter().try_for_each(|bot| follow_bot(db, bot))?;
    Ok(true)
}

/// Keeps an owner and its bots away, or admits them again. Returns whether there is one that this changes.
pub(super) fn ban_owner(db: &Connection, id: &str, is_banned: bool) -> rusqlite::Result<bool> {
    let (sql, of_bots) = match is_banned {
        true => (
            "UPDATE owners SET state = 'banned' WHERE id = ?1 AND state IN ('waiting', 'active')",
            "UPDATE bots SET is_paused = is_paused | 4 WHERE owner = ?1",
        ),
        false => (
            "UPDATE owners SET state = 'active' WHERE id = ?1 AND state = 'banned'",
            "UPDATE bots SET is_paused = is_paused & 3 WHERE owner = ?1",
        ),
    };
    if db.execute(sql, [id])? == 0 {
        return Ok(false);
    }
    db.execute(of_bots, [id])?;
    Ok(true)
}

/// Adds a further token of an owner, or replaces the one of this name. Returns whether there is an owner who has a token.
pub(super) fn name_token(
    db: &Connection,
    owner: &str,
    name: &str,
    hash: &SecretHash,
    at: SystemTime,
) -> rusqlite::Result<bool> {
    let sql = "INSERT OR REPLACE INTO owner_tokens SELECT id, ?2, ?3, ?4 FROM owners WHERE id = ?1 AND token IS NOT NULL";
    let added = db.execute(sql, params![owner, name, hex::encode(hash), utc(at)])?;
    touch(db, owner)?;
    Ok(added > 0)
}

/// Takes back a further token. Returns whether there was one.
pub(super) fn revoke_named_token(db: &Connection, owner: &str, name: &str) -> rusqlite::Result<bool> {
    let removed = db.execute("DELETE FROM owner_tokens WHERE owner = ?1 AND name = ?2", [owner, name])?;
    touch(db, owner)?;
    Ok(removed > 0)
}

/// Lets servers read an owner again.
fn touch(db: &Connection, owner: &str) -> rusqlite::Result<()> {
    db.execute("UPDATE owners SET id = id WHERE id = ?1", [owner]).map(drop)
}

pub(super) fn add_invitation(db: &Connection, invitation: &Invitation) -> rusqlite::Result<()> {
    let Invitation { secret, owner, display_name, affiliation, contact, uses, .. } = invitation;
    let Invitation { expires_at, made_at, made_by, .. } = invitation;
    let sql = "INSERT INTO invitations (secret, owner, display_name, affiliation, contact, uses, expires_at, made_at, made_by) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let values =
        params![secret, owner, display_name, affiliation, contact, uses, expires_at, made_at, made_by];
    db.execute(sql, values).map(drop)
}

fn use_invitation(
    db: &Connection,
    secret: &SecretHash,
    owner: &str,
    now: &str,
) -> Result<Invitation, ActError> {
    let sql = "SELECT * FROM invitations WHERE secret = ?1";
    let found = db.query_row(sql, [secret], read_invitation).optional()?;
    let refused = |why: &str| Refusal::NotAllowed.because(why);
    let invitation = found.ok_or_else(|| {
        refused("there is no such invitation, or it was taken back: ask the organiser for another one")
    })?;
    if let Some(state) = invitation.closed(now) {
        let has = if state == "used" { "been used" } else { state };
        return Err(refused(&format!("the invitation has {has}: ask the organiser for another one")));
    }
    if invitation.owner.as_ref().is_some_and(|own| own != owner) {
        return Err(refused("the invitation is for another id"));
    }
    db.execute("UPDATE invitations SET used = used + 1 WHERE id = ?1", [invitation.id])?;
    Ok(invitation)
}

/// Checks that the limits of a day (UTC), in all and for a network, allow another sign-up without an invitation.
fn check_sign_ups(
    db: &Connection,
    network: Option<&str>,
    [per_day, per_network]: [u32; 2],
    day: SystemTime,
) -> Result<(), ActError> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE network = ?2) FROM owners WHERE network IS NOT NULL AND \
               substr(joined_at, 1, 10) = ?1";
    let counted = db.query_row(sql, params![&utc(day)[..10], network], |row| Ok((row.get(0)?, row.get(1)?)));
    let (today, of_network): (u32, u32) = counted?;
    for (count, limit, whence) in [(of_network, per_network, " from one network"), (today, per_day, "")] {
        if count >= limit {
            return Err(Refusal::TooMany.because(format_args!(
                "{limit} a day may sign up{whence}, and so many have: come back tomorrow"
            )));
        }
    }
    Ok(())
}

impl Invitation {
    /// The reason why it admits no other owner at this time, in UTC: `used` or `expired`; `None` if it does.
    pub fn closed(&self, now: &str) -> Option<&'static str> {
        match self.used >= self.uses {
            true => Some("used"),
            false => Some("expired").filter(|_| self.expires_at.as_str() <= now),
        }
    }
}

impl League {
    /// Returns all owners who have signed up, in the order of their ids.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn owners(&self) -> Result<Vec<LeagueOwner>, StoreError> {
        let sql = format!("{OWNERS} ORDER BY id");
        let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
        let rows = query.query_map([], read_owner).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The owner with this id.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn owner(&self, id: &str) -> Result<Option<LeagueOwner>, StoreError> {
        find_owner(&self.db, id).map_err(failed)
    }

    /// The owner with this credential, who has not left. It may wait for approval.
    ///
    /// # Errors
    /// If there is none, or those of the database.
    pub fn owner_by(&self, credential: &OwnerCredential) -> Result<LeagueOwner, ActError> {
        owner_by(&self.db, credential)
    }

    /// Adds an owner, with an invitation or without one. If bots in the league name this id as their owner already, only an
    /// invitation for this id admits the owner, so that nobody takes over the bots of others.
    ///
    /// # Errors
    /// If it is not admitted, if it could be taken for another one, or those of the database.
    pub fn sign_up(
        &mut self,
        owner: &LeagueOwner,
        admission: Admission<'_>,
        now: SystemTime,
    ) -> Result<(), ActError> {
        self.try_change(|db| {
            check_thawed(db)?;
            let mut owner = owner.clone();
            let is_named = match admission {
                Admission::Invitation(secret) => {
                    let known = use_invitation(db, secret, &owner.id, &utc(now))?;
                    owner.display_name = owner.display_name.or(known.display_name);
                    owner.affiliation = owner.affiliation.or(known.affiliation);
                    owner.contact = owner.contact.or(known.contact);
                    known.owner.is_some()
                }
                Admission::Open { per_day, per_network } => {
                    check_sign_ups(db, owner.network.as_deref(), [per_day, per_network], now)?;
                    false
                }
            };
            let sql = "SELECT id FROM owners WHERE id = ?1 AND NOT (?2 AND state = 'left')";
            if let Some(other) =
                db.query_row(sql, params![owner.id, is_named], |row| row.get::<_, String>(0)).optional()?
            {
                return Err(taken(&owner.id, &other));
            }
            let mut query = db.prepare_cached("SELECT DISTINCT owner FROM bots")?;
            for other in query.query_map([], |row| row.get::<_, String>(0))? {
                let other = other?;
                let is_own = is_named && other == owner.id;
                if !is_own && name::skeleton(&other) == name::skeleton(&owner.id) {
                    return Err(taken(&owner.id, &other));
                }
            }
            insert_owner(db, &owner)?;
            Ok(note(db, &user_of(&owner.id), "sign up", now)?)
        })
    }

    /// Returns all invitations, in the order in which they were made.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn invitations(&self) -> Result<Vec<Invitation>, StoreError> {
        let sql = "SELECT * FROM invitations ORDER BY id";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let rows = query.query_map([], read_invitation).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use referee_files::Folder;

    use referee_game::Chain;

    use super::*;
    use crate::{NewBot, OrganiserAct, OwnerAct};

    fn owner(id: &str, token: u8) -> LeagueOwner {
        LeagueOwner {
            id: id.to_owned(),
            display_name: None,
            affiliation: None,
            contact: None,
            state: OwnerState::Active,
            token: Some(OwnerToken::new([token; 32], at(0))),
            network: Some("192.0.2.1".to_owned()),
            joined_at: utc(at(0)),
            left_at: None,
        }
    }

    const OPEN: Admission<'_> = Admission::Open { per_day: 9, per_network: 9 };

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn invitation(secret: u8, owner: Option<&str>, uses: u32) -> Invitation {
        Invitation {
            id: 0,
            secret: [secret; 32],
            owner: owner.map(str::to_owned),
            display_name: None,
            affiliation: None,
            contact: None,
            uses,
            used: 0,
            expires_at: utc(at(100)),
            made_at: utc(at(0)),
            made_by: "root".to_owned(),
        }
    }

    fn invite(league: &mut League, invitation: &Invitation) {
        league.act("root", OrganiserAct::Invite(std::slice::from_ref(invitation)), at(0)).unwrap();
    }

    #[test]
    fn an_invitation_admits_so_many_owners_until_it_expires() {
        let folder = tempfile::tempdir().unwrap();
        let mut league = League::open(&Folder::open(folder.path()).unwrap()).unwrap();
        invite(&mut league, &invitation(1, None, 2));
        let mut sign_up = |id: &str, token, now| {
            let result = league.sign_up(&owner(id, token), Admission::Invitation(&[1; 32]), at(now));
            result.map_err(|error| Chain(&error).to_string())
        };
        assert_eq!(sign_up("ada", 1, 0), Ok(()));
        assert_eq!(
            sign_up("ben", 2, 100),
            Err("the invitation has expired: ask the organiser for another one".to_owned())
        );
        // A refused sign-up uses nothing up.
        assert_eq!(
            sign_up("Ada", 2, 1),
            Err("`Ada` looks like `ada`, which is taken: choose another one".to_owned())
        );
        assert_eq!(sign_up("ben", 2, 99), Ok(()));
        assert_eq!(
            sign_up("cleo", 3, 99),
            Err("the invitation has been used: ask the organiser for another one".to_owned())
        );
        let mut uninvited = |id: &str, per_day, per_network, now| {
            let result = league.sign_up(&owner(id, 3), Admission::Open { per_day, per_network }, at(now));
            result.map_err(|error| Chain(&error).to_string())
        };
        let refused =
            |whence: &str| Err(format!("2 a day may sign up{whence}, and so many have: come back tomorrow"));
        assert_eq!(uninvited("cleo", 3, 2, 7), refused(" from one network"));
        assert_eq!(uninvited("cleo", 2, 3, 7), refused(""));
        assert_eq!(uninvited("cleo", 1, 1, 86_400), Ok(()));
        let refused = league.sign_up(&owner("dan", 4), Admission::Invitation(&[9; 32]), at(0));
        assert!(refused.unwrap_err().to_string().starts_with("there is no such invitation"));
    }

    #[test]
    fn only_invitation_naming_bots_makes_their_owner() {
        let folder = tempfile::tempdir().unwrap();
        let mut league = League::open(&Folder::open(folder.path()).unwrap()).unwrap();
        let program =
            NewBot { name: "bot of ada", owner: Some("ada"), is_of_file: true, ..NewBot::default() };
        league.set_programs(&[program], at(0)).unwrap();
        for id in ["ada", "A-D-A"] {
            let refused = league.sign_up(&owner(id, 1), OPEN, at(0));
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("`ada`") && refused.contains("choose another one"), "{refused}");
        }
        invite(&mut league, &invitation(1, Some("ada"), 1));
        let other = league.sign_up(&owner("ben", 1), Admission::Invitation(&[1; 32]), at(0));
        assert_eq!(other.unwrap_err().to_string(), "the invitation is for another id");
        league.sign_up(&owner("ada", 1), Admission::Invitation(&[1; 32]), at(0)).unwrap();
    }

    #[test]
    fn former_token_admits_bots_until_its_time_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let mut league = League::open(&Folder::open(folder.path()).unwrap()).unwrap();
        league.sign_up(&owner("ada", 1), OPEN, at(0)).unwrap();
        let by = |token: u8| OwnerCredential::Token([token; 32]);
        let replace = OwnerAct::ReplaceToken { hash: [2; 32] };
        let ada = league.act_as_owner(&by(1), replace, at(100)).unwrap();
        assert_eq!(league.owner_by(&by(2)).unwrap(), ada);
        assert_eq!(ada.tokens(at(3699)), [[2; 32], [1; 32]]);
        assert_eq!(ada.tokens(at(3700)), [[2; 32]]);
        assert_eq!(LeagueOwner { state: OwnerState::Waiting, ..ada }.tokens(at(0)), [[0; 32]; 0]);
        assert!(matches!(league.owner_by(&by(1)), Err(ActError::Refused { kind: Refusal::NotOwner, .. })));
        for act in [OwnerAct::ReplaceToken { hash: [3; 32] }, OwnerAct::Leave] {
            let refused = league.act_as_owner(&by(1), act, at(101));
            assert!(matches!(refused, Err(ActError::Refused { kind: Refusal::NotOwner, .. })), "{refused:?}");
        }
    }
}
