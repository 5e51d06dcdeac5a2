//! The pages. They consist of fixed text and of what other sites show of them; a script fills in what it gets from the API.

use std::sync::LazyLock;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::api::{HubState, PathMatchId, refused};
use crate::host::SeenUrl;
use crate::hub::Hub;
use crate::ladder::PlayerName;
use crate::previews::PICTURE;
use referee_protocol::spec::PAGES;
use referee_report::page::{self, SIGN};
use referee_report::replay::{BODY, DRAW, SCRIPT, hash_of};

const RUN: &str = include_str!("assets/run.html");
pub(super) const COMMON_SCRIPT: &str = include_str!("assets/common.js");
const RUN_SCRIPT: &str = include_str!("assets/run.js");
const PLAYER: &str = include_str!("assets/player.html");
const PLAYER_SCRIPT: &str = include_str!("assets/player.js");
const JOIN: &str = include_str!("assets/join.html");
const JOIN_SCRIPT: &str = include_str!("assets/join.js");
const MATCH_SCRIPT: &str = include_str!("assets/match.js");

/// The path to the start page from a page beside it, and from one in a folder.
pub(super) const TOP: &str = "./";
const BELOW: &str = "../";

/// A page and its policy.
pub(super) struct Page {
    /// The path to the start page.
    root: &'static str,
    /// What comes before the head of a page, between it and the name of the competition, between that and the list of pages,
    /// and after that.
    parts: [String; 4],
    policy: String,
}

/// What other sites show of a page.
pub(super) struct Shown {
    pub(super) title: String,
    pub(super) description: String,
    /// The URL of its picture.
    pub(super) picture: Option<String>,
}

impl Page {
    /// A page of these parts. Its links and requests are relative to `root`, the path from the page to the start page, so
    /// that a proxy can serve the pages under any path. The policy allows its scripts, its style and requests to the same
    /// server.
    fn new(root: &'static str, body: &str, scripts: &[&str]) -> Page {
        Page::about("run", root, body, scripts)
    }

    /// A page like [`Page::new`], whose data is at this path of the API.
    pub(super) fn about(data: &str, root: &'static str, body: &str, scripts: &[&str]) -> Page {
        let style = page::style();
        let hashes: Vec<String> = scripts.iter().map(|script| hash_of(script)).collect();
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; base-uri 'none'; \
             form-action 'none'",
            hashes.join(" "),
            hash_of(&style)
        );
        let scripts: String = scripts.iter().map(|script| format!("<script>{script}</script>\n")).collect();
        let before = format!(
            "<!DOCTYPE html>\n<html lang=\"en\" data-root=\"{root}\">\n<head>\n<meta charset=\"utf-8\">\n"
        );
        let between = format!(
            "\n<style>{style}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to content</a>\n\
             <header class=\"top\"><div class=\"wrap\"><a class=\"brand\" href=\"{root}\">{SIGN}\
             <span id=\"brand\">"
        );
        let pages = "</span></a><nav aria-label=\"Pages\"><ul id=\"pages\">".to_owned();
        let after = format!(
            "</ul></nav></div></header>\n\
             <main id=\"main\" class=\"wrap\" tabindex=\"-1\">\n\
             <noscript><p class=\"notice\">This page needs JavaScript. What it shows is JSON, too: \
             <a href=\"{root}api/v1/{data}\">api/v1/{data}</a>.</p></noscript>\n{body}</main>\n\
             <footer><div class=\"wrap\"><span>Every result can be verified from its record.</span>\
             <a href=\"{root}api/v1/{data}\">Data as JSON</a><span>Times are UTC</span></div></footer>\n\
             {scripts}</body>\n</html>\n"
        );
        Page { root, parts: [before, between, pages, after], policy }
    }

    /// A page of something that is not there has the status 404: its script says what is missing.
    fn respond(&self, is_there: bool, shown: &Shown, hub: &Hub) -> Response {
        let root = self.root;
        let mut links = format!("<li><a href=\"{root}\">Overview</a></li>");
        if hub.ladder().is_some() {
            links += &format!("<li><a href=\"{root}join\">Join</a></li>");
        }
        self.respond_with(is_there, shown, &hub.name(), &links)
    }

    /// The page with this name of the competition, and these links to other pages, at its top.
    pub(super) fn respond_with(&self, is_there: bool, shown: &Shown, name: &str, links: &str) -> Response {
        let status = if is_there { StatusCode::OK } else { StatusCode::NOT_FOUND };
        let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, &*self.policy)];
        let [before, between, pages, after] = &self.parts;
        let head = page::head(&shown.title, &shown.description, shown.picture.as_deref()).into_string();
        let name = page::escaped(name);
        (status, headers, [before, &*head, between, &name, pages, links, after].concat()).into_response()
    }
}

/// The start page: the whole run.
pub(super) async fn run(State(hub): HubState, Extension(SeenUrl(url)): Extension<SeenUrl>) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::new(TOP, RUN, &[DRAW, COMMON_SCRIPT, RUN_SCRIPT]));
    let (title, description) = hub.headline();
    let picture = url.map(|url| format!("{url}{PICTURE}"));
    PAGE.respond(true, &Shown { title, description, picture }, &hub)
}

/// The page of a match, which shows its live board or its replay.
pub(super) async fn of_match(
    State(hub): HubState,
    Extension(SeenUrl(url)): Extension<SeenUrl>,
    PathMatchId(id): PathMatchId,
) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| {
        let body = format!(
            "<ol class=\"crumbs\"><li><a href=\"../\">All matches</a></li><li id=\"id\"></li></ol>\n\
             <h1 id=\"title\"></h1>\n<p id=\"result\" class=\"lede\"></p>\n\
             <p id=\"state\" class=\"row\" role=\"status\"></p>\n<div id=\"ruling\" class=\"notice warn\" hidden></div>\n\
             <div id=\"match\" hidden>\n{BODY}</div>\n"
        );
        Page::new(BELOW, &body, &[SCRIPT, MATCH_SCRIPT])
    });
    let (entry, name) = (hub.entry(&id), hub.name());
    let shown = match &entry {
        Some(entry) => Shown {
            title: entry.title(),
            description: format!("{}, match {} of {name}", hub.game().title, entry.id),
            // Ids of matches are letters, digits and dots.
            picture: url.map(|url| format!("{url}matches/{}/{PICTURE}", entry.id)),
        },
        None => Shown { title: "Match".to_owned(), description: name, picture: None },
    };
    PAGE.respond(entry.is_some(), &shown, &hub)
}

/// The page of a player of a ladder.
pub(super) async fn of_player(State(hub): HubState, PlayerName(name): PlayerName) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::new(BELOW, PLAYER, &[COMMON_SCRIPT, PLAYER_SCRIPT]));
    let (is_there, run) = (hub.ladder().is_some_and(|ladder| ladder.has_player(&name)), hub.name());
    let title = if is_there { hub.shown(&name) } else { "Player".to_owned() };
    let description = format!("Its rating, results and matches in {run}.");
    PAGE.respond(is_there, &Shown { title, description, picture: None }, &hub)
}

/// How a bot joins a ladder.
pub(super) async fn join(State(hub): HubState) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::new(TOP, JOIN, &[COMMON_SCRIPT, JOIN_SCRIPT]));
    let (title, description) = (format!("Join {}", hub.name()), "How a bot joins.".to_owned());
    PAGE.respond(hub.ladder().is_some(), &Shown { title, description, picture: None }, &hub)
}

/// Markdown as plain text.
fn markdown(text: &'static str) -> Response {
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

/// The rules of the game.
pub(super) async fn rules(State(hub): HubState) -> Response {
    markdown(hub.game().rules)
}

/// A page of the specification of the protocol.
pub(super) async fn protocol(PlayerName(name): PlayerName) -> Response {
    let found = PAGES.iter().find(|page| name.strip_suffix(".md").unwrap_or(&name) == page.name);
    found.map_or_else(
        || {
            let names: Vec<&str> = PAGES.iter().map(|page| page.name).collect();
            refused(StatusCode::NOT_FOUND, &format!("there is no such page; pages: {}", names.join(", ")))
        },
        |page| markdown(page.text),
    )
}
