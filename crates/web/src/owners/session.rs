//! Authenticates the sender of a request.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use referee_game::Wrong;
use referee_league::{ActError, League, LeagueOwner, OwnerCredential};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use super::error::OwnersError;
use super::{Owners, OwnersOptions, OwnersState};
use crate::guard::{self, RequestOrigin};
use crate::serve::Client;

/// The cookie with the token of an owner.
pub(super) const COOKIE_NAME: &str = "referee_owner";
/// The time for which a browser keeps it, in seconds.
const COOKIE_AGE: u32 = 400 * 24 * 60 * 60;
/// The time that the body of a request may take. Archives have limits of their own.
const BODY: Duration = Duration::from_secs(15);
/// The maximum length of a token, in bytes.
const MOST_TOKEN: usize = 256;

fn hash_of(token: &str) -> Result<[u8; 32], OwnersError> {
    if token.len() > MOST_TOKEN {
        return Err(ActError::unknown_token().into());
    }
    Ok(Sha256::digest(token).into())
}

/// The hash of the token of a request: a program names it, a browser has it in the cookie of this name.
pub(super) fn hash_in(parts: &Parts, options: &OwnersOptions, of: &str) -> Result<[u8; 32], OwnersError> {
    if let Some(given) = parts.headers.get(AUTHORIZATION) {
        let token = given.to_str().ok().and_then(|given| given.strip_prefix("Bearer "));
        return hash_of(token.ok_or(OwnersError::NotSignedIn)?.trim());
    }
    let token = cookie(&parts.headers, of).ok_or(OwnersError::NotSignedIn)?;
    check_origin(parts, options)?;
    hash_of(&token)
}

/// Rejects a change that a browser sends for a page of another site, which it takes for this one.
fn check_origin(parts: &Parts, options: &OwnersOptions) -> Result<(), OwnersError> {
    let is_own = || guard::origin_of(&parts.headers, options.url.as_deref()) == RequestOrigin::Own;
    if guard::is_read(&parts.method) || is_own() { Ok(()) } else { Err(OwnersError::NotFromPage) }
}

/// The token in the cookie with this name.
fn cookie(headers: &HeaderMap, of: &str) -> Option<String> {
    let fields = headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
    let mut cookies =
        fields.flat_map(|field| field.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    let (_, token) = cookies.find(|(name, _)| *name == of)?;
    Some(token.to_owned())
}

/// The id that a trusted proxy names.
pub(super) fn proxied_user(parts: &Parts, options: &OwnersOptions) -> Option<String> {
    let name = options.trusted_user_header.as_ref()?;
    parts.extensions.get::<Client>().filter(|client| client.is_proxied)?;
    let mut fields = parts.headers.get_all(name).iter();
    let (field, None) = (fields.next()?, fields.next()) else { return None };
    field.to_str().ok().filter(|id| !id.is_empty()).map(str::to_owned)
}

impl OwnersOptions {
    fn path(&self) -> &str {
        let url = self.url.as_deref().unwrap_or("/");
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.find('/').map_or("/", |at| &rest[at..])
    }
}

/// The owner who sends a request, whom the organiser may not have approved yet.
pub(super) struct SignedIn {
    /// The owner as of the head of the request. The body may come much later: acts ask for the credential again.
    pub(super) owner: LeagueOwner,
    pub(super) credential: OwnerCredential,
}

pub(super) struct ActiveOwner(pub(super) SignedIn);

impl FromRequestParts<Arc<Owners>> for SignedIn {
    type Rejection = OwnersError;

    async fn from_request_parts(parts: &mut Parts, owners: &Arc<Owners>) -> Result<SignedIn, OwnersError> {
        let options = owners.options();
        let credential = match proxied_user(parts, &options) {
            Some(id) if !parts.headers.contains_key(AUTHORIZATION) => {
                check_origin(parts, &options)?;
                OwnerCredential::Proxy(id)
            }
            _ => OwnerCredential::Token(hash_in(parts, &options, COOKIE_NAME)?),
        };
        let signed_in = owners.with(move |_, league| {
            let owner = league.owner_by(&credential)?;
            Ok(SignedIn { owner, credential })
        });
        let signed_in = signed_in.await?;
        if !guard::is_read(&parts.method) {
            owners.count_change(&signed_in.owner.id)?;
        }
        Ok(signed_in)
    }
}

impl FromRequestParts<Arc<Owners>> for ActiveOwner {
    type Rejection = OwnersError;

    async fn from_request_parts(parts: &mut Parts, owners: &Arc<Owners>) -> Result<ActiveOwner, OwnersError> {
        let signed_in = SignedIn::from_request_parts(parts, owners).await?;
        signed_in.owner.check_approved()?;
        Ok(ActiveOwner(signed_in))
    }
}

/// The body of a request, in JSON.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        // Forms of other sites have other types.
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
        if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
            return Err(OwnersError::NotJson.into_response());
        }
        let body = timeout(BODY, Bytes::from_request(request, state)).await;
        let body = body
            .map_err(|_| OwnersError::SlowBody.into_response())?
            .map_err(|error| crate::api::refused(error.status(), &error.body_text()))?;
        let parsed = serde_json::from_slice(&body);
        parsed.map(Body).map_err(|error| OwnersError::Body(Wrong::at("the body", error)).into_response())
    }
}

/// The body of a request that signs in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionBody {
    pub(super) token: String,
}

pub(super) async fn begin(
    State(owners): OwnersState,
    Body(body): Body<SessionBody>,
) -> Result<Response, OwnersError> {
    let check = |league: &League, hash| Ok(league.owner_by(&OwnerCredential::Token(hash)).map(drop)?);
    owners.sign_in(COOKIE_NAME, body, check).await
}

pub(super) async fn end(State(owners): OwnersState) -> Response {
    owners.sign_out(COOKIE_NAME)
}

impl Owners {
    /// Gives a browser a token in the cookie of this name, if `check` accepts its hash.
    pub(super) async fn sign_in(
        self: &Arc<Self>,
        name: &str,
        SessionBody { token }: SessionBody,
        check: impl FnOnce(&League, [u8; 32]) -> Result<(), OwnersError> + Send + 'static,
    ) -> Result<Response, OwnersError> {
        let hash = hash_of(token.trim())?;
        self.with(move |_, league| check(league, hash)).await?;
        Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, self.cookie(name, token.trim()))]).into_response())
    }

    /// Takes the cookie of this name from a browser.
    pub(super) fn sign_out(&self, name: &str) -> Response {
        (StatusCode::NO_CONTENT, [(SET_COOKIE, self.cookie_for(name, "", 0))]).into_response()
    }

    pub(super) fn cookie(&self, name: &str, token: &str) -> String {
        self.cookie_for(name, token, COOKIE_AGE)
    }

    fn cookie_for(&self, name: &str, token: &str, age: u32) -> String {
        let secure = if self.is_https() { "; Secure" } else { "" };
        let options = self.options();
        let path = options.path();
        format!("{name}={token}; Path={path}; Max-Age={age}; HttpOnly; SameSite=Strict{secure}")
    }
}
