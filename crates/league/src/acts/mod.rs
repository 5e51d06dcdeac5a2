//! Acts: what the organiser and the owners change. An act is a value. It is decided and applied in one transaction, which
//! names the columns that it changes and notes the act in the log, so it cannot undo what another process decides meanwhile.

mod error;
mod ruling;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension, params};

pub use error::{ActError, Refusal};
pub use ruling::LadderMatches;

use super::bots::{LeagueBot, NewBot, admit, follow_bot, own_names, read_bots};
use super::challenges::{check_new, check_players, insert_challenge, take_back};
use super::events::{EventEffects, check_opponents, check_thawed, ended_by_event, set_in_force};
use super::finals::{FinalsLink, finals_of};
use super::log::{actions_of_day, note};
use super::organisers::{add_organiser, remove_organiser};
use super::owners::{
    FORMER, Invitation, LeagueOwner, OwnerState, add_invitation, ban_owner, check_owner_names, find_owner,
    insert_owner, name_token, owner_by, remove_owner, revoke_named_token,
};
use super::seasons;
use super::submissions::{approve, reject, withdraw};
use super::{League, PAUSED, paused_ladder, utc};
use referee_game::json;
use referee_stats::ladder::Name;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerCredential {
    /// SHA-256 of its token. The token before it admits bots, and nothing else.
    Token([u8; 32]),
    /// The id that a trusted proxy names.
    Proxy(String),
}

#[derive(Clone, Copy, Debug)]
pub enum OwnerAct<'a> {
    /// Changes what is given. An empty text removes it.
    ChangeProfile {
        /// See [`LeagueOwner::display_name`].
        display_name: Option<&'a str>,
        /// See [`LeagueOwner::affiliation`].
        affiliation: Option<&'a str>,
        /// See [`LeagueOwner::contact`].
        contact: Option<&'a str>,
    },
    /// Replaces the token. Bots may connect with the one before it for another hour, so that no connection is lost.
    ReplaceToken {
        /// The SHA-256 of the new token.
        hash: [u8; 32],
    },
    /// Leaves the league: its profile is erased, its bots play no longer, results stay.
    Leave,
    /// Adds a bot, which connects with the token of the owner.
    AddBot {
        name: &'a str,
        /// The maximum number of bots of the owner that take part.
        limit: u32,
        /// The maximum number of new bots of the owner a day.
        per_day: u32,
    },
    /// Begins no match of a bot.
    Pause { bot: &'a str },
    /// Begins matches of a bot again, unless the organiser has paused it.
    Resume { bot: &'a str },
    /// Ends the participation of a bot.
    Retire { bot: &'a str },
    /// Asks for a match.
    Challenge {
        ladder: &'a str,
        /// The players, one for each seat; one of them is the owner's.
        players: &'a [String],
        /// The maximum number of challenges of the owner a day.
        per_day: u32,
    },
    /// Takes back the challenge with this number, for which the owner has asked.
    TakeBackChallenge(i64),
    /// Takes back the submission with this number, which does not play yet.
    WithdrawSubmission(u32),
}

#[derive(Clone, Copy, Debug)]
pub enum OrganiserAct<'a> {
    /// Adds a bot or a program that does not take part.
    AddBot(&'a NewBot<'a>),
    /// Ends the participation of a bot.
    Revoke {
        bot: &'a str,
    },
    /// Begins no match of a part of the league, or begins matches again.
    Pause {
        part: LeaguePart<'a>,
        is_paused: bool,
    },
    /// Lets the pages of a ladder lead to its finals, or no longer.
    LinkFinals {
        ladder: &'a str,
        finals: Option<&'a FinalsLink>,
    },
    /// Adds an organiser, who signs in on the page `/organiser`, or replaces the token of one.
    AddOrganiser {
        name: &'a str,
        /// The SHA-256 of the token.
        hash: [u8; 32],
    },
    /// Lets an organiser sign in no longer.
    RemoveOrganiser {
        name: &'a str,
    },
    /// Adds an owner with a new id, or one who has left.
    AddOwner(&'a LeagueOwner),
    /// Lets an owner take part.
    ApproveOwner {
        owner: &'a str,
    },
    /// Keeps an owner and its bots away, or admits them again.
    BanOwner {
        owner: &'a str,
        is_banned: bool,
    },
    /// Adds a further token of an owner, or replaces the one of this name.
    NameToken {
        owner: &'a str,
        name: &'a str,
        /// The SHA-256 of the token.
        hash: [u8; 32],
    },
    /// Takes back a further token.
    RevokeToken {
        owner: &'a str,
        name: &'a str,
    },
    /// Removes an owner, as if it left.
    RemoveOwner {
        owner: &'a str,
    },
    /// Replaces the token of an owner.
    ReplaceToken {
        owner: &'a str,
        /// SHA-256 of the new token.
        hash: [u8; 32],
        /// Whether the former token is invalid at once.
        is_at_once: bool,
    },
    /// Replaces the tokens of owners and of bots that have tokens of their own, by name, at once.
    ReplaceTokens {
        owners: &'a [(String, [u8; 32])],
        bots: &'a [(String, [u8; 32])],
    },
    /// Asks for a match.
    Challenge {
        ladder: &'a str,
        /// The players, one for each seat.
        players: &'a [String],
    },
    Invite(&'a [Invitation]),
    /// Takes back the invitation with this number.
    RevokeInvitation(u32),
    /// Lets the bot of the submission with this number play, which waits for it.
    ApproveSubmission(u32),
    /// Refuses a submission that waits for approval.
    RejectSubmission {
        id: u32,
        /// The reason, which is added to the log of the submission.
        reason: &'a str,
    },
    /// Ends the season in progress on all ladders. Results that are stored later belong to the next one.
    EndSeason {
        name: &'a str,
        /// Whether players start the next season from their ratings.
        keeps_ratings: bool,
    },
    /// Ends the season at the time of an event in the file, once: it is noted as done also if no season can end.
    EndSeasonAtEvent {
        name: &'a str,
        /// Whether players start the next season from their ratings.
        keeps_ratings: bool,
    },
    /// Puts the effects of events in the file into force.
    PutIntoForce {
        /// `None`: in the league as a whole.
        ladder: Option<&'a str>,
        new: &'a EventEffects,
        before: &'a EventEffects,
    },
}

/// Parts of a league that the organiser pauses.
#[derive(Clone, Copy, Debug)]
pub enum LeaguePart<'a> {
    League,
    Ladder(&'a str),
    Bot(&'a str),
}

pub(super) fn user_of(owner: &str) -> String {
    format!("owner {owner}")
}

impl League {
    /// Applies an act of the organiser, a user of the operating system.
    ///
    /// # Errors
    /// If the state of the league does not allow it, or those of the database. Then nothing changes.
    pub fn act(&mut self, user: &str, act: OrganiserAct<'_>, at: SystemTime) -> Result<(), ActError> {
        self.try_change(|db| {
            let action = act.apply(db, user, at)?;
            Ok(note(db, user, &action, at)?)
        })
    }

    /// Applies an act of an owner. Returns the owner after it.
    ///
    /// # Errors
    /// If the owner is not admitted now, if the state of the league does not allow the act, or those of the database. Then
    /// nothing changes.
    pub fn act_as_owner(
        &mut self,
        credential: &OwnerCredential,
        act: OwnerAct<'_>,
        at: SystemTime,
    ) -> Result<LeagueOwner, ActError> {
        self.try_change(|db| {
            let owner = owner_by(db, credential)?;
            if !act.is_on_oneself() {
                owner.check_approved()?;
            }
            let action = act.apply(db, &owner, at)?;
            note(db, &user_of(&owner.id), &action, at)?;
            Ok(find_owner(db, &owner.id)?.unwrap_or(owner))
        })
    }
}

impl OwnerAct<'_> {
    /// Returns whether it changes nothing but the owner, so that an owner who waits for approval may do it.
    fn is_on_oneself(self) -> bool {
        matches!(self, OwnerAct::ChangeProfile { .. } | OwnerAct::ReplaceToken { .. } | OwnerAct::Leave)
    }

    /// Returns the entry for the log.
    fn apply(self, db: &Connection, owner: &LeagueOwner, at: SystemTime) -> Result<String, ActError> {
        let id = &*owner.id;
        let not_own = |bot: &str| Refusal::NotFound.because(format_args!("there is no bot of yours `{bot}`"));
        Ok(match self {
            OwnerAct::ChangeProfile { display_name, affiliation, contact } => {
                check_owner_names(db, id, display_name.filter(|name| !name.is_empty()))?;
                db.execute(
                    "UPDATE owners SET display_name = iif(?2 IS NULL, display_name, nullif(?2, '')), \
                     affiliation = iif(?3 IS NULL, affiliation, nullif(?3, '')), \
                     contact = iif(?4 IS NULL, contact, nullif(?4, '')) WHERE id = ?1",
                    params![id, display_name, affiliation, contact],
                )?;
                "change the profile".to_owned()
            }
            OwnerAct::ReplaceToken { hash } => {
                if owner.token.is_none() {
                    return Err(Refusal::Conflict.because("your proxy signs you in: you have no token"));
                }
                replace_token(db, id, &hash, false, at)?;
                "new token".to_owned()
            }
            OwnerAct::Leave => {
                remove_owner(db, id, at)?;
                "leave".to_owned()
            }
            OwnerAct::AddBot { name, limit, per_day } => {
                check_thawed(db)?;
                if own_names(db, id)?.len() >= limit as usize {
                    let why = format_args!("you have {limit} bots, and no more are allowed: retire one");
                    return Err(Refusal::TooMany.because(why));
                }
                // A bot that was disqualified or revoked does not come back like this.
                if read_bots(db)?.iter().any(|bot| bot.name == name) {
                    let why = format_args!("`{name}` takes part or took part: choose another name");
                    return Err(Refusal::Conflict.because(why));
                }
                if actions_of_day(db, &user_of(id), "add ", at)? >= per_day {
                    return Err(Refusal::TooMany.because(format_args!(
                        "{per_day} new bots a day are allowed, and you have added so many today"
                    )));
                }
                admit(db, &NewBot { name, owner: Some(id), ..NewBot::default() }, at)?;
                format!("add {name}")
            }
            OwnerAct::Pause { bot } => {
                let sql = "UPDATE bots SET is_paused = max(is_paused, 1) WHERE name = ?1 AND owner = ?2 AND revoked_at IS NULL";
                if db.execute(sql, [bot, id])? == 0 {
                    return Err(not_own(bot));
                }
                format!("pause {bot}")
            }
            OwnerAct::Resume { bot } => {
                let sql = "UPDATE bots SET is_paused = is_paused & 2 WHERE name = ?1 AND owner = ?2 AND revoked_at IS NULL \
                           RETURNING is_paused";
                match db.query_row(sql, [bot, id], |row| row.get(0)).optional()? {
                    None => return Err(not_own(bot)),
                    Some(true) => {
                        return Err(Refusal::Conflict.because(format_args!(
                            "the organiser has paused `{bot}`: ask the organiser to resume it"
                        )));
                    }
                    Some(false) => format!("resume {bot}"),
                }
            }
            OwnerAct::Retire { bot } => {
                let sql = "UPDATE bots SET token = NULL, revoked_at = ?3 WHERE name = ?1 AND owner = ?2 AND revoked_at IS NULL \
                           RETURNING is_of_file";
                match db.query_row(sql, [bot, id, &utc(at)], |row| row.get(0)).optional()? {
                    None => return Err(not_own(bot)),
                    Some(true) => {
                        let why = format_args!("`{bot}` is a program of the organiser");
                        return Err(Refusal::Conflict.because(why));
                    }
                    Some(false) => follow_bot(db, bot)?,
                }
                format!("retire {bot}")
            }
            OwnerAct::Challenge { ladder, players, per_day } => {
                let owners = check_players(db, ladder, players)?;
                if !owners.iter().any(|owner| owner == id) {
                    return Err(Refusal::Invalid.because("one of them is yours"));
                }
                check_new(db, ladder, players)?;
                let bots: Vec<String> = players.iter().map(|player| Name::parse(player).bot).collect();
                check_opponents(db, ladder, id, &bots)?;
                if actions_of_day(db, &user_of(id), "challenge", at)? >= per_day {
                    return Err(Refusal::TooMany.because(format_args!(
                        "{per_day} challenges a day are allowed, and you have made so many today"
                    )));
                }
                insert_challenge(db, ladder, players, Some(id), at)?
            }
            OwnerAct::TakeBackChallenge(number) => take_back(db, number, id)?,
            OwnerAct::WithdrawSubmission(number) => {
                withdraw(db, number, id, at)?;
                format!("withdraw {number}")
            }
        })
    }
}

impl OrganiserAct<'_> {
    /// Returns the entry for the log.
    fn apply(self, db: &Connection, user: &str, at: SystemTime) -> Result<String, ActError> {
        let conflict = |why: fmt::Arguments<'_>| Err(Refusal::Conflict.because(why));
        let no_owner = |id: &str| {
            Refusal::Conflict
                .because(format_args!("there is no owner `{id}`; `referee league owners` lists them"))
        };
        Ok(match self {
            OrganiserAct::AddBot(bot) => {
                let before = read_bots(db)?.into_iter().find(|other| other.name == bot.name);
                if before.as_ref().is_some_and(LeagueBot::is_admitted) {
                    let name = bot.name;
                    return conflict(format_args!(
                        "`{name}` takes part already; `referee league revoke {name}`, then `add` gives it a new token"
                    ));
                }
                // An owner who has signed up reads the private lines of its bots.
                let has_signed_up = |id: &str| find_owner(db, id).map(|found| found.is_some());
                let name = bot.name.to_owned();
                match before {
                    Some(LeagueBot { owner, .. }) if bot.owner != Some(&owner) && has_signed_up(&owner)? => {
                        return Err(ActError::BotOfOwner { bot: name, owner });
                    }
                    None if bot.owner.is_none() && has_signed_up(&name)? => {
                        return Err(ActError::NamedAsOwner(name));
                    }
                    _ => {}
                }
                admit(db, bot, at)?;
                let sql = "UPDATE bots SET is_paused = is_paused & 4 WHERE name = ?1 RETURNING owner";
                let owner: String = db.query_row(sql, [bot.name], |row| row.get(0))?;
                format!("add {} --owner {owner}", bot.name)
            }
            OrganiserAct::Revoke { bot } => {
                end_participation(db, bot, at)?;
                db.execute("UPDATE bots SET token = NULL WHERE name = ?1", [bot])?;
                format!("revoke {bot}")
            }
            OrganiserAct::Pause { part, is_paused } => {
                let set = |key: &str| {
                    let sql = "INSERT OR REPLACE INTO league VALUES (?1, ?2)";
                    db.execute(sql, [key, if is_paused { "1" } else { "0" }])
                };
                let word = if is_paused { "pause" } else { "resume" };
                match part {
                    LeaguePart::League => {
                        set(PAUSED)?;
                        word.to_owned()
                    }
                    LeaguePart::Ladder(name) => {
                        set(&paused_ladder(name))?;
                        format!("{word} --ladder {name}")
                    }
                    LeaguePart::Bot(bot) => {
                        let sql = "UPDATE bots SET is_paused = (is_paused & 4) | ?2 WHERE name = ?1 AND revoked_at IS NULL";
                        if db.execute(sql, params![bot, if is_paused { 2 } else { 0 }])? == 0 {
                            return Err(ActError::no_bot(bot));
                        }
                        format!("{word} {bot}")
                    }
                }
            }
            OrganiserAct::LinkFinals { ladder, finals: Some(finals) } => {
                let sql = "INSERT OR REPLACE INTO league VALUES (?1, ?2)";
                db.execute(sql, [finals_of(ladder), json::text(finals)])?;
                format!("finals {ladder} --url {}", finals.url)
            }
            OrganiserAct::LinkFinals { ladder, finals: None } => {
                db.execute("DELETE FROM league WHERE key = ?1", [finals_of(ladder)])?;
                format!("finals {ladder} --unlink")
            }
            OrganiserAct::AddOrganiser { name, hash } => {
                add_organiser(db, name, &hash)?;
                format!("organiser add {name}")
            }
            OrganiserAct::RemoveOrganiser { name } => {
                remove_organiser(db, name)?;
                format!("organiser remove {name}")
            }
            OrganiserAct::AddOwner(owner) => {
                let sql = "SELECT 1 FROM owners WHERE id = ?1 AND state <> ?2";
                if db.query_row(sql, params![owner.id, OwnerState::Left], |_| Ok(())).optional()?.is_some() {
                    let id = &owner.id;
                    return conflict(format_args!(
                        "`{id}` is there already; `referee league owner token {id}` makes a new token"
                    ));
                }
                insert_owner(db, owner)?;
                format!("owner add {}", owner.id)
            }
            OrganiserAct::ApproveOwner { owner } => {
                let sql =
                    "UPDATE owners SET state = 'active' WHERE id = ?1 AND state IN ('waiting', 'active')";
                if db.execute(sql, [owner])? == 0 {
                    return Err(no_owner(owner));
                }
                format!("owner approve {owner}")
            }
            OrganiserAct::BanOwner { owner, is_banned } => {
                if !ban_owner(db, owner, is_banned)? {
                    return Err(no_owner(owner));
                }
                format!("owner {} {owner}", if is_banned { "ban" } else { "unban" })
            }
            OrganiserAct::NameToken { owner, name, hash } => {
                if !name_token(db, owner, name, &hash, at)? {
                    return Err(no_owner(owner));
                }
                format!("owner token {owner} --name {name}")
            }
            OrganiserAct::RevokeToken { owner, name } => {
                if !revoke_named_token(db, owner, name)? {
                    return Err(Refusal::Conflict.because(format_args!(
                        "`{owner}` has no token `{name}`; `referee league owners --json` lists them"
                    )));
                }
                format!("owner token {owner} --revoke {name}")
            }
            OrganiserAct::RemoveOwner { owner } => {
                if !remove_owner(db, owner, at)? {
                    return Err(no_owner(owner));
                }
                format!("owner remove {owner}")
            }
            OrganiserAct::ReplaceToken { owner, hash, is_at_once } => {
                if !replace_token(db, owner, &hash, is_at_once, at)? {
                    return Err(no_owner(owner));
                }
                format!("owner token {owner}{}", if is_at_once { " --at-once" } else { "" })
            }
            OrganiserAct::ReplaceTokens { owners, bots } => {
                for (owner, hash) in owners {
                    replace_token(db, owner, hash, true, at)?;
                }
                for (bot, hash) in bots {
                    let sql = "UPDATE bots SET token = ?2 WHERE name = ?1 AND command IS NULL AND revoked_at IS NULL";
                    db.execute(sql, params![bot, hash])?;
                }
                format!("tokens: {} owners, {} bots", owners.len(), bots.len())
            }
            OrganiserAct::Challenge { ladder, players } => {
                check_players(db, ladder, players)?;
                insert_challenge(db, ladder, players, None, at)?
            }
            OrganiserAct::Invite(invitations) => {
                invitations.iter().try_for_each(|invitation| add_invitation(db, invitation))?;
                match invitations {
                    [Invitation { owner: Some(owner), uses, .. }] => {
                        format!("invite --uses {uses} --owner {owner}")
                    }
                    [Invitation { uses, .. }] => format!("invite --uses {uses}"),
                    many => format!("invite --from: {} owners", many.len()),
                }
            }
            OrganiserAct::RevokeInvitation(id) => {
                if db.execute("DELETE FROM invitations WHERE id = ?1", [id])? == 0 {
                    return conflict(format_args!(
                        "there is no invitation {id}; `referee league invitations` lists them"
                    ));
                }
                format!("invitations --revoke {id}")
            }
            OrganiserAct::ApproveSubmission(id) => {
                approve(db, id)?;
                format!("submission approve {id}")
            }
            OrganiserAct::RejectSubmission { id, reason } => {
                reject(db, id, reason, at)?;
                format!("submission reject {id} --reason {reason}")
            }
            OrganiserAct::EndSeason { name, keeps_ratings } => {
                seasons::end(db, name, at, keeps_ratings, user)?;
                format!("season end {name}")
            }
            OrganiserAct::EndSeasonAtEvent { name, keeps_ratings } => {
                let sql = "INSERT OR REPLACE INTO league VALUES (?1, ?2)";
                db.execute(sql, [ended_by_event(name), utc(at)])?;
                match seasons::end(db, name, at, keeps_ratings, user) {
                    Ok(()) => format!("event: season end {name}"),
                    Err(ActError::Refused { why, .. }) => format!("event: season {name} does not end: {why}"),
                    Err(error) => return Err(error),
                }
            }
            OrganiserAct::PutIntoForce { ladder, new, before } => set_in_force(db, ladder, new, before)?,
        })
    }
}

/// Replaces the token of an owner. Returns whether there is one who has not left.
fn replace_token(
    db: &Connection,
    owner: &str,
    hash: &[u8; 32],
    is_at_once: bool,
    at: SystemTime,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE owners SET former_token = iif(?3, NULL, token), former_until = iif(?3 OR token IS NULL, NULL, ?4), \
               token = ?2, token_at = ?5 WHERE id = ?1 AND state <> 'left'";
    db.execute(sql, params![owner, hash, is_at_once, utc(at + FORMER), utc(at)]).map(|count| count > 0)
}

/// Ends the participation of a bot that is no program of the file.
fn end_participation(db: &Connection, bot: &str, at: SystemTime) -> Result<(), ActError> {
    let sql = "UPDATE bots SET revoked_at = ?2 WHERE name = ?1 AND revoked_at IS NULL RETURNING is_of_file";
    match db.query_row(sql, [bot, &utc(at)], |row| row.get(0)).optional()? {
        None => Err(ActError::no_bot(bot)),
        Some(true) => Err(Refusal::Conflict.because(format_args!(
            "`{bot}` is a program in the file of the league: remove it there, and rule on its matches"
        ))),
        Some(false) => Ok(follow_bot(db, bot)?),
    }
}
