//! The page of an owner as JSON, its token, and leaving.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use referee_game::hex;
use referee_league::{BotEnd, Challenge, League, LeagueBot, LeagueOwner, OwnerAct, OwnerState, OwnerToken};
use referee_stats::ladder::Name;
use referee_store::utc;
use serde::{Deserialize, Serialize};

use super::error::OwnersError;
use super::notices::{BotNotice, notices};
use super::session::{Body, COOKIE_NAME, SignedIn};
use super::signup::{Profile, new_token};
use super::{Owners, OwnersState, json, now};
use crate::ladder::PlayerStanding;

/// An owner with its bots, for itself.
#[derive(Serialize)]
struct OwnerFacts<'a> {
    league: &'a str,
    id: &'a str,
    display_name: Option<&'a str>,
    affiliation: Option<&'a str>,
    contact: Option<&'a str>,
    state: OwnerState,
    joined_at: &'a str,
    token: Option<TokenFacts<'a>>,
    bots: Vec<OwnBot>,
    /// Notices for the owner about its bots that take part.
    notices: Vec<BotNotice>,
    /// Whether the league takes submissions.
    submissions: bool,
    ladders: Vec<LadderFacts<'a>>,
    limits: OwnerQuota,
}

#[derive(Serialize)]
struct TokenFacts<'a> {
    made_at: &'a str,
    /// The first digits of its SHA-256.
    fingerprint: String,
    /// The time until which bots may connect with the former token.
    former_until: Option<&'a str>,
}

#[derive(Serialize)]
struct OwnBot {
    name: String,
    display_name: Option<String>,
    /// Whether the bot connects; otherwise the server starts it.
    connects: bool,
    paused: bool,
    added_at: String,
    /// The end of its participation, in UTC.
    retired_at: Option<String>,
    ended: Option<BotEnd>,
    players: Vec<OwnPlayer>,
}

/// The newest version of a bot on a ladder.
#[derive(Serialize)]
struct OwnPlayer {
    ladder: String,
    #[serde(flatten)]
    standing: PlayerStanding,
}

/// A ladder, where the bots of an owner play.
#[derive(Serialize)]
struct LadderFacts<'a> {
    name: &'a str,
    game: &'static str,
    seats: usize,
    /// The port that bots connect to; `None` if only programs play.
    port: Option<u16>,
    tls: bool,
    watch_port: Option<u16>,
    url: Option<&'a str>,
    /// The players that can be challenged.
    players: Vec<String>,
    display_names: BTreeMap<String, String>,
    /// Challenges of the owner's bots that wait.
    challenges: Vec<WaitingChallenge>,
}

/// A match that was asked for.
#[derive(Serialize)]
struct WaitingChallenge {
    #[serde(flatten)]
    challenge: Challenge,
    /// Whether the owner has asked for the match, and can take it back.
    own: bool,
}

#[derive(Serialize)]
struct OwnerQuota {
    bots: u32,
    challenges_per_day: u32,
    challenges_today: u32,
}

/// The bots of an owner, also those that do not take part any more.
pub(super) fn own_bots(league: &League, owner: &str) -> Result<Vec<LeagueBot>, OwnersError> {
    Ok(league.bots_of(owner)?)
}

/// Returns whether a player is a version of one of these bots.
pub(super) fn is_of(player: &str, bots: &[LeagueBot]) -> bool {
    let name = Name::parse(player).bot;
    bots.iter().any(|bot| bot.name == name)
}

pub(super) async fn show(State(owners): OwnersState, signed_in: SignedIn) -> Result<Response, OwnersError> {
    owners.with(move |owners, league| facts(owners, league, &signed_in.owner)).await
}

fn facts(owners: &Owners, league: &League, owner: &LeagueOwner) -> Result<Response, OwnersError> {
    let bots = own_bots(league, &owner.id)?;
    let names: Vec<String> = bots.iter().map(|bot| bot.name.clone()).collect();
    let ended = league.ended_bots(Some(&owner.id))?;
    let of_bot = |bot: &LeagueBot| OwnBot {
        name: bot.name.clone(),
        display_name: bot.display_name.clone(),
        connects: bot.command.is_none(),
        paused: bot.is_paused,
        added_at: bot.added_at.clone(),
        retired_at: bot.revoked_at.clone(),
        ended: ended.get(&bot.name).copied(),
        players: Vec::new(),
    };
    let mut own: Vec<OwnBot> = bots.iter().map(of_bot).collect();
    let mut ladders = Vec::new();
    for ladder in &owners.ladders {
        for standing in ladder.view.newest(&names) {
            let bot = Name::parse(&standing.player.name).bot;
            if let Some(own) = own.iter_mut().find(|own| own.name == bot) {
                own.players.push(OwnPlayer { ladder: ladder.name.clone(), standing });
            }
        }
        let entry = ladder.view.ladder();
        let waiting = league
            .challenges(&ladder.name)?
            .into_iter()
            .filter(|challenge| challenge.players.iter().any(|player| is_of(player, &bots)));
        let waiting = waiting.map(|challenge| WaitingChallenge {
            own: challenge.asked_by.as_ref() == Some(&owner.id),
            challenge,
        });
        ladders.push(LadderFacts {
            name: &ladder.name,
            game: entry.game,
            seats: ladder.seats,
            port: entry.port,
            tls: entry.tls,
            watch_port: ladder.watch_port,
            url: ladder.watch_url.as_deref(),
            players: entry.online,
            display_names: entry.display_names,
            challenges: waiting.collect(),
        });
    }
    let token = owner.token.as_ref().map(|OwnerToken { hash, made_at, former, .. }| TokenFacts {
        made_at,
        fingerprint: hex::encode(&hash[..4]),
        former_until: former.as_ref().map(|(_, until)| &**until).filter(|until| **until > *utc(now())),
    });
    let options = owners.options();
    let facts = OwnerFacts {
        league: &options.league_name,
        id: &owner.id,
        display_name: owner.display_name.as_deref(),
        affiliation: owner.affiliation.as_deref(),
        contact: owner.contact.as_deref(),
        state: owner.state,
        joined_at: &owner.joined_at,
        token,
        bots: own,
        notices: notices(&owners.ladders, league, &bots, now())?,
        submissions: owners.intake.is_some(),
        ladders,
        limits: OwnerQuota {
            bots: options.bots,
            challenges_per_day: options.challenges,
            challenges_today: league.actions_of_day(&user(owner), "challenge", now())?,
        },
    };
    Ok(json(StatusCode::OK, &facts))
}

/// An owner in the log of changes.
pub(super) fn user(owner: &LeagueOwner) -> String {
    format!("owner {}", owner.id)
}

/// Changes the profile of an owner.
pub(super) async fn change(
    State(owners): OwnersState,
    SignedIn { credential, .. }: SignedIn,
    Body(profile): Body<Profile>,
) -> Result<Response, OwnersError> {
    let Profile { display_name, affiliation, contact } = profile.checked()?;
    owners
        .with(move |owners, league| {
            let act = OwnerAct::ChangeProfile {
                display_name: display_name.as_deref(),
                affiliation: affiliation.as_deref(),
                contact: contact.as_deref(),
            };
            let owner = league.act_as_owner(&credential, act, now())?;
            facts(owners, league, &owner)
        })
        .await
}

#[derive(Serialize)]
struct NewToken {
    token: String,
    former_until: Option<String>,
}

/// Makes a new token. Bots may connect with the one before it for an hour, so that no connection is lost.
pub(super) async fn rotate(
    State(owners): OwnersState,
    SignedIn { credential, .. }: SignedIn,
) -> Result<Response, OwnersError> {
    let (token, hash) = new_token()?;
    let owner = owners.act(credential, OwnerAct::ReplaceToken { hash }).await?;
    owners.taken_up().await;
    let former_until = owner.token.and_then(|token| token.former).map(|(_, until)| until);
    let cookie = [(SET_COOKIE, owners.cookie(COOKIE_NAME, &token))];
    Ok((cookie, json(StatusCode::OK, &NewToken { token, former_until })).into_response())
}

/// The body of a request to leave: the id, so that nobody leaves by mistake.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeaveBody {
    id: String,
}

/// Leaves the league: its profile is erased, its bots play no longer, results stay.
pub(super) async fn leave(
    State(owners): OwnersState,
    SignedIn { owner, credential }: SignedIn,
    Body(LeaveBody { id }): Body<LeaveBody>,
) -> Result<Response, OwnersError> {
    if id != owner.id {
        return Err(OwnersError::field("id", "to leave, send your id"));
    }
    owners.act(credential, OwnerAct::Leave).await?;
    Ok(owners.sign_out(COOKIE_NAME))
}
