//! Reasons why a request of an owner is refused.

use std::io;

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use referee_game::{Chain, Wrong};
use referee_league::{ActError, Refusal};
use referee_store::StoreError;

use crate::api::refused;

/// Reasons why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum OwnersError {
    #[error("sign in: send the token of an owner as `Authorization: Bearer TOKEN`, or sign in on the page")]
    NotSignedIn,
    #[error("a browser signs in with a cookie: requests that change something come from the page itself")]
    NotFromPage,
    #[error("a body is JSON, with `Content-Type: application/json`")]
    NotJson,
    #[error(transparent)]
    Body(Wrong),
    #[error("the body arrives too slowly: all of it within 15 s")]
    SlowBody,
    #[error("`{what}`")]
    Field {
        what: &'static str,
        #[source]
        why: Wrong,
    },
    #[error("there is no {what} `{name}`")]
    NoSuch { what: &'static str, name: String },
    #[error("nobody signs up here: ask the organiser for a token")]
    Closed,
    #[error("signing up needs an invitation: ask the organiser for one")]
    NeedsInvitation,
    #[error("challenges are not allowed in this league")]
    NoChallenges,
    #[error("too many changes: wait for some seconds")]
    TooManyChanges,
    #[error("this league takes no programs: its bots connect")]
    NoSubmissions,
    #[error("you are handing in another program: wait until it has arrived")]
    Uploading,
    #[error("the archive arrives too slowly: some of it every 30 s, and all of it within 15 min")]
    Slow,
    #[error(transparent)]
    Intake(ActError),
    #[error("another archive is written now: try again in a minute")]
    Busy,
    #[error("the database cannot be used")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Act(ActError),
    #[error("the server failed")]
    Panicked,
}

impl OwnersError {
    pub(super) fn field(what: &'static str, why: impl Into<Wrong>) -> OwnersError {
        OwnersError::Field { what, why: why.into() }
    }

    fn status(&self) -> StatusCode {
        match self {
            OwnersError::NotSignedIn => StatusCode::UNAUTHORIZED,
            OwnersError::NotFromPage
            | OwnersError::Closed
            | OwnersError::NeedsInvitation
            | OwnersError::NoChallenges => StatusCode::FORBIDDEN,
            OwnersError::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            OwnersError::Body(_) | OwnersError::Field { .. } => StatusCode::BAD_REQUEST,
            OwnersError::NoSuch { .. } | OwnersError::NoSubmissions => StatusCode::NOT_FOUND,
            OwnersError::Slow | OwnersError::SlowBody => StatusCode::REQUEST_TIMEOUT,
            OwnersError::Intake(error) | OwnersError::Act(error) => status_of_act(error),
            OwnersError::Uploading | OwnersError::TooManyChanges => StatusCode::TOO_MANY_REQUESTS,
            OwnersError::Busy | OwnersError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            OwnersError::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

fn status_of_act(error: &ActError) -> StatusCode {
    match error {
        ActError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        ActError::NoOpponent(_) => StatusCode::NOT_FOUND,
        ActError::BotOfOwner { .. } | ActError::NamedAsOwner(_) => StatusCode::CONFLICT,
        ActError::Refused { kind, .. } => match kind {
            Refusal::NotOwner => StatusCode::UNAUTHORIZED,
            Refusal::NotAllowed => StatusCode::FORBIDDEN,
            Refusal::NotFound => StatusCode::NOT_FOUND,
            Refusal::Invalid => StatusCode::BAD_REQUEST,
            Refusal::Conflict => StatusCode::CONFLICT,
            Refusal::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Refusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::NoSpace => StatusCode::INSUFFICIENT_STORAGE,
            Refusal::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        },
    }
}

impl From<ActError> for OwnersError {
    fn from(error: ActError) -> OwnersError {
        match error {
            ActError::Store(error) => OwnersError::Store(error),
            ActError::NoOpponent(name) => OwnersError::NoSuch { what: "bot", name },
            error => OwnersError::Act(error),
        }
    }
}

impl From<io::Error> for OwnersError {
    fn from(error: io::Error) -> OwnersError {
        OwnersError::Store(error.into())
    }
}

impl IntoResponse for OwnersError {
    fn into_response(self) -> Response {
        let status = self.status();
        if let OwnersError::Intake(ActError::Store(error)) = &self {
            tracing::warn!("a program that an owner hands in: {}", Chain(error));
        }
        if let OwnersError::Store(error) = &self {
            tracing::warn!("a request of an owner: {}", Chain(error));
        }
        let mut response = refused(status, &Chain(&self).to_string());
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE) || matches!(self, OwnersError::TooManyChanges) {
            response.headers_mut().insert(RETRY_AFTER, 10.into());
        }
        response
    }
}
