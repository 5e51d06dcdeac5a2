//! The bots of an owner, and challenges.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use referee_game::name::check_name;
use referee_league::OwnerAct;
use serde::{Deserialize, Serialize};

use super::error::OwnersError;
use super::session::{ActiveOwner, Body, SignedIn};
use super::{OwnersState, json, now};

/// The maximum number of new bots of an owner a day.
const NEW_BOTS: u32 = 20;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewBotBody {
    name: String,
}

/// Adds a bot, which connects with the token of its owner.
pub(super) async fn add(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { credential, .. }): ActiveOwner,
    Body(NewBotBody { name }): Body<NewBotBody>,
) -> Result<Response, OwnersError> {
    check_name(&name).map_err(|why| OwnersError::field("name", why))?;
    let added = owners.with(move |owners, league| {
        let act = OwnerAct::AddBot { name: &name, limit: owners.options().bots, per_day: NEW_BOTS };
        league.act_as_owner(&credential, act, now())?;
        Ok(NewBotBody { name })
    });
    let added = added.await?;
    owners.taken_up().await;
    Ok(json(StatusCode::CREATED, &added))
}

pub(super) async fn change(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { credential, .. }): ActiveOwner,
    Path((name, change)): Path<(String, String)>,
) -> Result<Response, OwnersError> {
    owners
        .with(move |_, league| {
            let act = match &*change {
                "pause" => OwnerAct::Pause { bot: &name },
                "resume" => OwnerAct::Resume { bot: &name },
                _ => return Err(OwnersError::NoSuch { what: "change of a bot", name: change }),
            };
            Ok(league.act_as_owner(&credential, act, now())?)
        })
        .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Ends the participation of a bot. The body has its name, so that nobody retires one by mistake.
pub(super) async fn retire(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { credential, .. }): ActiveOwner,
    Path(name): Path<String>,
    Body(NewBotBody { name: said }): Body<NewBotBody>,
) -> Result<Response, OwnersError> {
    if said != name {
        return Err(OwnersError::field("name", "to retire a bot, send its name"));
    }
    owners
        .with(move |_, league| {
            Ok(league.act_as_owner(&credential, OwnerAct::Retire { bot: &name }, now())?)
        })
        .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A match that an owner asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChallengeBody {
    ladder: String,
    /// The bot of the owner, and its opponents.
    bots: Vec<String>,
}

pub(super) async fn challenge(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { credential, .. }): ActiveOwner,
    Body(ChallengeBody { ladder, bots }): Body<ChallengeBody>,
) -> Result<Response, OwnersError> {
    owners
        .with(move |owners, league| {
            let limit = owners.options().challenges;
            if limit == 0 {
                return Err(OwnersError::NoChallenges);
            }
            let of = owners.ladder(&ladder)?;
            if bots.len() != of.seats {
                let why = format!("a match of {ladder} has {} bots", of.seats);
                return Err(OwnersError::field("bots", why));
            }
            let act = OwnerAct::Challenge { ladder: &ladder, players: &bots, per_day: limit };
            Ok(league.act_as_owner(&credential, act, now())?)
        })
        .await?;
    Ok(StatusCode::CREATED.into_response())
}

/// Takes back a challenge that waits.
pub(super) async fn take_back(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { credential, .. }): ActiveOwner,
    Path(id): Path<String>,
) -> Result<Response, OwnersError> {
    let number = id.parse().map_err(|_| OwnersError::NoSuch { what: "challenge of yours", name: id })?;
    owners.act(credential, OwnerAct::TakeBackChallenge(number)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
