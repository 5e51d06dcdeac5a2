//! The sign-up of owners.

use std::io;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use referee_game::name::{check_display_name, check_name};
use referee_league::{Admission, LeagueOwner, OwnerState, OwnerToken, PlannedEvent};
use referee_store::utc;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::OwnersError;
use super::session::{Body, COOKIE_NAME, proxied_user};
use super::{OwnersState, SignUp, SignUpMode, json, now};
use crate::limiter::network_of;
use crate::serve::Client;

/// The maximum length of an affiliation or a contact, in characters.
const MOST_TEXT: usize = 200;

/// Facts for an owner before signing up.
#[derive(Serialize)]
struct SignUpFacts<'a> {
    league: &'a str,
    mode: SignUpMode,
    needs_approval: bool,
    /// The id that the proxy names.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// Events at stated times, the next one first.
    events: Vec<PlannedEvent>,
    ladders: Vec<LadderLink<'a>>,
}

#[derive(Serialize)]
pub(super) struct LadderLink<'a> {
    pub(super) name: &'a str,
    pub(super) port: Option<u16>,
    pub(super) url: Option<&'a str>,
}

pub(super) async fn facts(State(owners): OwnersState, parts: Parts) -> Response {
    let options = owners.options();
    let ladders = owners.ladders.iter().map(|ladder| LadderLink {
        name: &ladder.name,
        port: ladder.watch_port,
        url: ladder.watch_url.as_deref(),
    });
    let facts = SignUpFacts {
        league: &options.league_name,
        mode: options.sign_up.mode,
        needs_approval: options.sign_up.needs_approval,
        user: proxied_user(&parts, &options),
        events: owners.events(),
        ladders: ladders.collect(),
    };
    json(StatusCode::OK, &facts)
}

/// A new owner's description of itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignUpBody {
    id: String,
    display_name: Option<String>,
    affiliation: Option<String>,
    contact: Option<String>,
    /// The secret of an invitation.
    invitation: Option<String>,
}

/// An owner's description of itself. An empty text stands for none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Profile {
    pub(super) display_name: Option<String>,
    pub(super) affiliation: Option<String>,
    pub(super) contact: Option<String>,
}

impl Profile {
    /// Removes the space around texts, and checks them.
    pub(super) fn checked(self) -> Result<Profile, OwnersError> {
        let trimmed = |text: Option<String>| text.map(|text| text.trim().to_owned());
        let Profile { display_name, affiliation, contact } = self;
        let [display_name, affiliation, contact] = [display_name, affiliation, contact].map(trimmed);
        if let Some(name) = display_name.as_ref().filter(|name| !name.is_empty()) {
            check_display_name(name).map_err(|why| OwnersError::field("display_name", why))?;
        }
        for (what, text) in [("affiliation", &affiliation), ("contact", &contact)] {
            let is_line =
                |text: &String| text.chars().count() <= MOST_TEXT && !text.chars().any(char::is_control);
            if !text.as_ref().is_none_or(is_line) {
                let why = format!("a line of at most {MOST_TEXT} characters");
                return Err(OwnersError::field(what, why));
            }
        }
        Ok(Profile { display_name, affiliation, contact })
    }
}

/// A token, and the stored part of it.
pub(super) fn new_token() -> io::Result<(String, [u8; 32])> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)?;
    let token = referee_game::hex::encode(&random);
    let hash = Sha256::digest(&token).into();
    Ok((token, hash))
}

#[derive(Serialize)]
struct SignedUp<'a> {
    id: &'a str,
    state: OwnerState,
    /// `None` if a proxy vouches for the owner.
    token: Option<&'a str>,
}

/// Signs up. The token is in the answer and nowhere else.
pub(super) async fn sign_up(
    State(owners): OwnersState,
    parts: Parts,
    Body(SignUpBody { id, display_name, affiliation, contact, invitation }): Body<SignUpBody>,
) -> Result<Response, OwnersError> {
    let SignUp { mode, needs_approval, per_day, per_network } = owners.options().sign_up;
    let user = proxied_user(&parts, &owners.options());
    let network = parts.extensions.get::<Client>();
    let network = network.map_or_else(String::new, |client| network_of(client.address).to_string());
    match mode {
        SignUpMode::Closed => return Err(OwnersError::Closed),
        SignUpMode::Invite if invitation.is_none() => return Err(OwnersError::NeedsInvitation),
        _ => {}
    }
    check_name(&id).map_err(|why| OwnersError::field("id", why))?;
    if let Some(user) = user.as_ref().filter(|user| **user != id) {
        return Err(OwnersError::field("id", format!("your proxy says that you are `{user}`")));
    }
    let is_invited = invitation.is_some();
    let secret = invitation.map(|secret| Sha256::digest(secret.trim()).into());
    let (token, hash) = new_token()?;
    let is_waiting = needs_approval && !is_invited;
    let Profile { display_name, affiliation, contact } =
        Profile { display_name, affiliation, contact }.checked()?;
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let owner = LeagueOwner {
        id,
        display_name: given(display_name),
        affiliation: given(affiliation),
        contact: given(contact),
        state: if is_waiting { OwnerState::Waiting } else { OwnerState::Active },
        token: user.is_none().then(|| OwnerToken::new(hash, now())),
        // Sign-ups with an invitation count for no limit.
        network: (!is_invited).then_some(network),
        joined_at: utc(now()),
        left_at: None,
    };
    let owner = owners
        .with(move |_, league| {
            let open = Admission::Open { per_day, per_network };
            league.sign_up(&owner, secret.as_ref().map_or(open, Admission::Invitation), now())?;
            Ok(owner)
        })
        .await?;
    let token = user.is_none().then_some(&*token);
    let answer = json(StatusCode::CREATED, &SignedUp { id: &owner.id, state: owner.state, token });
    Ok(match token {
        Some(token) => ([(SET_COOKIE, owners.cookie(COOKIE_NAME, token))], answer).into_response(),
        None => answer,
    })
}
