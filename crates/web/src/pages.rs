//! The pages. They consist of fixed text; a script fills in what it gets from the API.

use std::sync::LazyLock;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::api::{HubState, PathMatchId};
use crate::ladder::PlayerName;
use referee_report::replay::{BODY, SCRIPT, hash_of, style};

const RUN: &str = include_str!("assets/run.html");
const COMMON_SCRIPT: &str = include_str!("assets/common.js");
const RUN_SCRIPT: &str = include_str!("assets/run.js");
const STYLE: &str = include_str!("assets/pages.css");
const PLAYER: &str = include_str!("assets/player.html");
const PLAYER_SCRIPT: &str = include_str!("assets/player.js");
const JOIN: &str = include_str!("assets/join.html");
const JOIN_SCRIPT: &str = include_str!("assets/join.js");
const MATCH_SCRIPT: &str = include_str!("assets/match.js");

/// The path to the start page from a page beside it, and from one in a folder.
const TOP: &str = "./";
const BELOW: &str = "../";

/// A page and its policy.
struct Page {
    html: String,
    policy: String,
}

impl Page {
    /// A page of these parts. Its links and requests are relative to `root`, the path from the page to the start page, so
    /// that a proxy can serve the pages under any path. The policy allows its scripts, its style and requests to the same
    /// server.
    fn new(root: &str, body: &str, style: &str, scripts: &[&str]) -> Page {
        let hashes: Vec<String> = scripts.iter().map(|script| hash_of(script)).collect();
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; base-uri 'none'; \
             form-action 'none'",
            hashes.join(" "),
            hash_of(style)
        );
        let scripts: String = scripts.iter().map(|script| format!("<script>{script}</script>\n")).collect();
        let html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\" data-root=\"{root}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
             <title>referee</title>\n<style>{style}</style>\n</head>\n<body>\n{body}{scripts}</body>\n</html>\n"
        );
        Page { html, policy }
    }

    /// A page of something that is not there has the status 404: its script says what is missing.
    fn respond(&'static self, is_there: bool) -> Response {
        let status = if is_there { StatusCode::OK } else { StatusCode::NOT_FOUND };
        let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, &*self.policy)];
        (status, headers, &*self.html).into_response()
    }
}

/// The start page: the whole run.
pub(super) async fn run() -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| {
        let style = style() + STYLE;
        Page::new(TOP, RUN, &style, &[COMMON_SCRIPT, RUN_SCRIPT])
    });
    PAGE.respond(true)
}

/// The page of a match, which shows its live board or its replay.
pub(super) async fn of_match(State(hub): HubState, PathMatchId(id): PathMatchId) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| {
        let style = style() + STYLE;
        let body = format!(
            "<nav id=\"above\"><a href=\"../\">All matches</a><span id=\"state\" role=\"status\"></span></nav>\n{BODY}"
        );
        Page::new(BELOW, &body, &style, &[SCRIPT, MATCH_SCRIPT])
    });
    PAGE.respond(hub.entry(&id).is_some())
}

/// The page of a player of a ladder.
pub(super) async fn of_player(State(hub): HubState, PlayerName(name): PlayerName) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| {
        let style = style() + STYLE;
        Page::new(BELOW, PLAYER, &style, &[COMMON_SCRIPT, PLAYER_SCRIPT])
    });
    PAGE.respond(hub.ladder().is_some_and(|ladder| ladder.has_player(&name)))
}

/// How a bot joins a ladder.
pub(super) async fn join(State(hub): HubState) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| {
        let style = style() + STYLE;
        Page::new(TOP, JOIN, &style, &[COMMON_SCRIPT, JOIN_SCRIPT])
    });
    PAGE.respond(hub.ladder().is_some())
}
