//! The bots of an owner, and challenges.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use referee_game::name::check_name;
use referee_store::{ChallengeError, Challenger, League, LeagueBot, utc};
use serde::{Deserialize, Serialize};

use super::account::{own_bots, user};
use super::error::OwnersError;
use super::session::{ActiveOwner, Body};
use super::{OwnersState, json, now};

/// The maximum number of new bots of an owner a day.
const NEW_BOTS: u32 = 20;

/// The name of a new bot.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewBot {
    name: String,
}

/// Adds a bot, which connects with the token of its owner.
pub(super) async fn add(
    State(owners): OwnersState,
    ActiveOwner(owner): ActiveOwner,
    Body(NewBot { name }): Body<NewBot>,
) -> Result<Response, OwnersError> {
    check_name(&name).map_err(|why| OwnersError::field("name", &why))?;
    let added = owners.with(move |owners, league| {
        let limit = owners.options().bots;
        if league.own_names(&owner.id)?.len() >= limit as usize {
            return Err(OwnersError::TooManyBots { limit });
        }
        // Who was disqualified or revoked does not come back like this.
        if league.bots()?.iter().any(|bot| bot.name == name) {
            return Err(OwnersError::Bot { name, why: "takes part or took part: choose another name" });
        }
        if league.actions_of_day(&user(&owner), "add ", now())? >= NEW_BOTS {
            return Err(OwnersError::TooManyNewBots { limit: NEW_BOTS });
        }
        let bot = LeagueBot {
            name,
            owner: owner.id.clone(),
            token: None,
            command: None,
            directory: None,
            anchor: None,
            ladders: None,
            is_of_file: false,
            is_paused: false,
            added_at: utc(now()),
            revoked_at: None,
            refused: None,
            display_name: None,
            version: None,
        };
        put(league, &bot)?;
        league.log(&user(&owner), &format!("add {}", bot.name), now())?;
        Ok(NewBot { name: bot.name })
    });
    let added = added.await?;
    owners.taken_up().await;
    Ok(json(StatusCode::CREATED, &added))
}

fn put(league: &mut League, bot: &LeagueBot) -> Result<(), OwnersError> {
    league.put_bot(bot).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            OwnersError::Field { what: "name", why: format!("it looks like `{error}`, which is taken") }
        }
        _ => error.into(),
    })
}

/// Pauses, resumes or retires a bot.
pub(super) async fn change(
    State(owners): OwnersState,
    ActiveOwner(owner): ActiveOwner,
    Path((name, change)): Path<(String, String)>,
) -> Result<Response, OwnersError> {
    owners
        .with(move |_, league| {
            let mut own = own_bots(league, &owner.id)?.into_iter();
            let found = own.find(|bot| bot.name == name && bot.revoked_at.is_none());
            let bot =
                found.ok_or_else(|| OwnersError::NoSuch { what: "bot of yours", name: name.clone() })?;
            let bot = match &*change {
                "pause" => LeagueBot { is_paused: true, ..bot },
                "resume" => LeagueBot { is_paused: false, ..bot },
                "retire" if bot.is_of_file => {
                    return Err(OwnersError::Bot { name, why: "is a program of the organiser" });
                }
                "retire" => LeagueBot { token: None, revoked_at: Some(utc(now())), ..bot },
                _ => return Err(OwnersError::NoSuch { what: "change of a bot", name: change }),
            };
            put(league, &bot)?;
            Ok(league.log(&user(&owner), &format!("{change} {name}"), now())?)
        })
        .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A match that an owner asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChallengeBody {
    ladder: String,
    /// One of the owner's, and its opponents.
    bots: Vec<String>,
}

/// Asks for a match.
pub(super) async fn challenge(
    State(owners): OwnersState,
    ActiveOwner(owner): ActiveOwner,
    Body(ChallengeBody { ladder, bots }): Body<ChallengeBody>,
) -> Result<Response, OwnersError> {
    owners
        .with(move |owners, league| {
            let limit = owners.options().challenges;
            if limit == 0 {
                return Err(OwnersError::NoChallenges);
            }
            let of = owners.ladder(&ladder)?;
            let wrong = |why: String| OwnersError::Field { what: "bots", why };
            if bots.len() != of.seats {
                return Err(wrong(format!("a match of {ladder} has {} bots", of.seats)));
            }
            let by = Challenger::Owner { id: &owner.id, per_day: limit };
            let action = league.challenge(&ladder, &bots, by, now()).map_err(|error| match error {
                ChallengeError::NoBot(name) => OwnersError::NoSuch { what: "bot", name },
                ChallengeError::TooMany { limit } => OwnersError::TooManyChallenges { limit },
                ChallengeError::Store(error) => error.into(),
                error => wrong(error.to_string()),
            })?;
            Ok(league.log(&user(&owner), &action, now())?)
        })
        .await?;
    Ok(StatusCode::CREATED.into_response())
}
