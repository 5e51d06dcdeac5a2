//! The pages. They consist of fixed text and of what other sites show of them; a script fills in data from
//! the API.

use std::sync::{Arc, LazyLock};

use axum::Extension;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use crate::api::{HubState, PathMatchId, refused};
use crate::host::SeenUrl;
use crate::hub::Hub;
use crate::ladder::PlayerName;
use crate::nav::{self, NavBar};
use crate::previews::PICTURE;
use referee_protocol::spec::PAGES;
use referee_report::page::{self, SIGN, prose, split_title};
use referee_report::replay::{BODY, DRAW, SCRIPT, hash_of};

const RUN: &str = include_str!("assets/run.html");
const STANDINGS: &str = include_str!("assets/standings.html");
const MATCHES: &str = include_str!("assets/matches.html");
const LIVE: &str = include_str!("assets/live.html");
pub(super) const COMMON_SCRIPT: &str = include_str!("assets/common.js");
/// Shared by the pages of those who sign in.
pub(super) const SIGNED_SCRIPT: &str = include_str!("assets/signed.js");
const RUN_SCRIPT: &str = include_str!("assets/run.js");
const PLAYER: &str = include_str!("assets/player.html");
const PLAYER_SCRIPT: &str = include_str!("assets/player.js");
const JOIN: &str = include_str!("assets/join.html");
pub(super) const SAMPLE_SCRIPT: &str = include_str!("assets/sample.js");
const JOIN_SCRIPT: &str = include_str!("assets/join.js");
const MATCH_SCRIPT: &str = include_str!("assets/match.js");

/// The path to the start page from a page beside it, and from one in a folder.
pub(super) const TOP: &str = "./";
pub(super) const BELOW: &str = "../";

/// Placeholders in the text of a page.
pub(super) const BAR: &str = "<!--bar-->";
const NEWS: &str = "<!--news-->";
const ABOUT: &str = "<!--about-->";
const TEXT: &str = "<!--text-->";

pub(super) struct Page {
    /// The path to the start page.
    root: &'static str,
    /// The text before the head of a page, between it and the name of the competition, and after that.
    parts: [String; 3],
    policy: String,
}

/// The card that other sites show for a page.
pub(super) struct PageCard {
    pub(super) title: String,
    pub(super) description: String,
    /// The URL of the preview picture.
    pub(super) picture: Option<String>,
}

impl Page {
    /// A page of these parts. Its links and requests are relative to `root`, the path from the page to the start page, so
    /// that a proxy can serve the pages under any path. The policy allows its scripts, its style and requests to the same
    /// server.
    fn new(root: &'static str, body: &str, scripts: &[&str]) -> Page {
        Page::about(Some("run"), root, body, scripts)
    }

    /// A page beside the start page, which follows the run.
    fn of_data(body: &str) -> Page {
        Page::new(TOP, body, &[DRAW, COMMON_SCRIPT, RUN_SCRIPT])
    }

    /// A page like [`Page::new`], whose data is at this path of the API, if others may have it.
    pub(super) fn about(data: Option<&str>, root: &'static str, body: &str, scripts: &[&str]) -> Page {
        let style = page::style();
        let hashes: Vec<String> = scripts.iter().map(|script| hash_of(script)).collect();
        let hashes = if scripts.is_empty() { vec!["'none'".to_owned()] } else { hashes };
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; base-uri 'none'; \
             form-action 'none'",
            hashes.join(" "),
            hash_of(&style)
        );
        let also = data.map_or(String::new(), |data| {
            format!(" What it shows is JSON, too: <a href=\"{root}api/v1/{data}\">api/v1/{data}</a>.")
        });
        let noscript = match scripts {
            [] => String::new(),
            _ => format!("<noscript><p class=\"notice\">This page needs JavaScript.{also}</p></noscript>\n"),
        };
        let link =
            data.map_or(String::new(), |data| format!("<a href=\"{root}api/v1/{data}\">Data as JSON</a>"));
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
        let after = format!(
            "</span></a>{BAR}</div></header>\n\
             <main id=\"main\" class=\"wrap\" tabindex=\"-1\">\n\
             {noscript}{body}</main>\n\
             <footer><div class=\"wrap\"><span>Every result can be verified from its record.</span>\
             {link}<span>Times are UTC</span></div></footer>\n\
             {scripts}</body>\n</html>\n"
        );
        Page { root, parts: [before, between, after], policy }
    }

    /// A page of something that is not there has the status 404: its script says what is missing.
    pub(super) fn respond(
        &self,
        is_there: bool,
        shown: &PageCard,
        name: &str,
        filled: &[(&str, &str)],
    ) -> Response {
        let status = if is_there { StatusCode::OK } else { StatusCode::NOT_FOUND };
        let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, &*self.policy)];
        let [before, between, after] = &self.parts;
        let head = page::head(&shown.title, &shown.description, shown.picture.as_deref()).into_string();
        let name = page::escaped(name);
        let mut html = [before, &head, between, &name, after].map(String::as_str).concat();
        for (mark, text) in filled {
            html = html.replacen(mark, text, 1);
        }
        (status, headers, html).into_response()
    }

    /// A page of a run with the bar of links to the others; `here` is the path of this one, if the bar has it.
    pub(super) async fn of_run(
        &self,
        hub: &Hub,
        SeenUrl(seen): &SeenUrl,
        here: Option<&str>,
        is_there: bool,
        shown: &PageCard,
        text: &str,
    ) -> Response {
        let notices = hub.read_notices().await;
        let bar = hub.ladder().map_or_else(NavBar::default, |ladder| ladder.nav_bar(&notices, seen.as_ref()));
        let (bar, news, about) = (bar.markup(self.root, here), notices.newest(), notices.about());
        let filled = [(BAR, &*bar), (NEWS, &*news), (ABOUT, &*about), (TEXT, text)];
        let name = hub.ladder().and_then(|ladder| ladder.league_of_several()).unwrap_or_else(|| hub.name());
        self.respond(is_there, shown, &name, &filled)
    }
}

/// The start page: the whole run.
pub(super) async fn run(State(hub): HubState, Extension(seen): Extension<SeenUrl>) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of_data(RUN));
    let (title, description) = hub.headline();
    let picture = seen.0.as_ref().map(|url| format!("{url}{PICTURE}"));
    PAGE.of_run(&hub, &seen, Some(nav::OVERVIEW.0), true, &PageCard { title, description, picture }, "").await
}

pub(super) async fn standings(State(hub): HubState, Extension(seen): Extension<SeenUrl>) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of_data(STANDINGS));
    let shown = PageCard {
        title: format!("Standings of {}", hub.name()),
        description: hub.headline().0,
        picture: seen.0.as_ref().map(|url| format!("{url}{PICTURE}")),
    };
    PAGE.of_run(&hub, &seen, Some(nav::STANDINGS.0), true, &shown, "").await
}

/// The matches that have ended, and rulings.
pub(super) async fn matches(State(hub): HubState, Extension(seen): Extension<SeenUrl>) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of_data(MATCHES));
    let (title, description) =
        (format!("Matches of {}", hub.name()), "Results and replays, the newest first.".to_owned());
    let shown = PageCard { title, description, picture: None };
    PAGE.of_run(&hub, &seen, Some(nav::MATCHES.0), true, &shown, "").await
}

pub(super) async fn live(State(hub): HubState, Extension(seen): Extension<SeenUrl>) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of_data(LIVE));
    let (title, description) = (format!("Live: {}", hub.name()), "Boards of matches in progress.".to_owned());
    let shown = PageCard { title, description, picture: None };
    PAGE.of_run(&hub, &seen, Some(nav::LIVE.0), true, &shown, "").await
}

/// The page of a match, which shows its live board or its replay.
pub(super) async fn of_match(
    State(hub): HubState,
    Extension(seen): Extension<SeenUrl>,
    PathMatchId(id): PathMatchId,
) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| {
        let body = format!(
            "<ol class=\"crumbs\"><li><a href=\"../matches\">Matches</a></li><li id=\"id\"></li></ol>\n\
             <h1 id=\"title\"></h1>\n<p id=\"result\" class=\"lede\"></p>\n\
             <p id=\"state\" class=\"row\" role=\"status\"></p>\n<div id=\"ruling\" class=\"notice warn\" hidden></div>\n\
             <div id=\"match\" hidden>\n{BODY}</div>\n\
             <section aria-labelledby=\"about-title\" id=\"about\" hidden><div class=\"head\"><h2 id=\"about-title\">This match</h2></div>\
             <dl class=\"facts\" id=\"facts\"></dl><p class=\"note\" id=\"get\" hidden></p></section>\n"
        );
        Page::new(BELOW, &body, &[SCRIPT, MATCH_SCRIPT])
    });
    let (entry, name) = (hub.entry(&id), hub.name());
    let shown = match &entry {
        Some(entry) => PageCard {
            title: entry.title(),
            description: format!("{}, match {} of {name}", hub.game.title, entry.id),
            // Ids of matches are letters, digits and dots.
            picture: seen.0.as_ref().map(|url| format!("{url}matches/{}/{PICTURE}", entry.id)),
        },
        None => PageCard { title: "Match".to_owned(), description: name, picture: None },
    };
    PAGE.of_run(&hub, &seen, None, entry.is_some(), &shown, "").await
}

/// The page of a player of a ladder.
pub(super) async fn of_player(
    State(hub): HubState,
    Extension(seen): Extension<SeenUrl>,
    PlayerName(name): PlayerName,
) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::new(BELOW, PLAYER, &[COMMON_SCRIPT, PLAYER_SCRIPT]));
    let (asked, run) = (name.clone(), hub.name());
    let is_there = match hub.ladder().map(Arc::clone) {
        Some(ladder) => {
            tokio::task::spawn_blocking(move || ladder.has_player(&asked)).await.unwrap_or_default()
        }
        None => false,
    };
    let title = if is_there { hub.shown(&name) } else { "Player".to_owned() };
    let description = format!("Its rating, results and matches in {run}.");
    let shown = PageCard { title, description, picture: None };
    PAGE.of_run(&hub, &seen, None, is_there, &shown, "").await
}

/// The page for people who follow a link to nowhere, as deep as the path; `None` for a program, which gets JSON.
fn page_of_nowhere(uri: &Uri, headers: &HeaderMap) -> Option<(&'static Page, PageCard)> {
    /// The path to the start page, by the number of folders of a page.
    const ROOTS: [&str; 4] = [TOP, BELOW, "../../", "../../../"];
    const BODY: &str = "<h1>There is no such page</h1>\n<p class=\"lede\">The address may be wrong, or the page was here once.</p>\n";
    static PAGES: LazyLock<[Page; ROOTS.len()]> =
        LazyLock::new(|| ROOTS.map(|root| Page::about(None, root, BODY, &[])));
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (path, is_for_people) = (uri.path(), accepted.contains("text/html"));
    let depth = path.matches('/').count() - usize::from(path.starts_with('/'));
    let page = PAGES.get(depth).filter(|_| is_for_people && !path.starts_with("/api/"))?;
    let (title, description) = ("There is no such page".to_owned(), String::new());
    Some((page, PageCard { title, description, picture: None }))
}

/// Serves all other paths of spectators.
pub(super) async fn missing_of_run(
    State(hub): HubState,
    Extension(seen): Extension<SeenUrl>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    match page_of_nowhere(&uri, &headers) {
        Some((page, card)) => page.of_run(&hub, &seen, None, false, &card, "").await,
        None => no_such_path(),
    }
}

/// Serves all other paths of owners, and of a match that a person plays.
pub(super) async fn missing(uri: Uri, headers: HeaderMap) -> Response {
    match page_of_nowhere(&uri, &headers) {
        Some((page, card)) => {
            let link = format!(
                "<nav aria-label=\"Pages\"><ul id=\"pages\"><li><a href=\"{}\">{}</a></li></ul></nav>",
                page.root,
                nav::OVERVIEW.1
            );
            page.respond(false, &card, "referee", &[(BAR, &link)])
        }
        None => no_such_path(),
    }
}

fn no_such_path() -> Response {
    refused(StatusCode::NOT_FOUND, "there is no such path")
}

/// The page that explains how a bot joins a ladder.
pub(super) async fn join(State(hub): HubState, Extension(seen): Extension<SeenUrl>) -> Response {
    static PAGE: LazyLock<Page> =
        LazyLock::new(|| Page::new(TOP, JOIN, &[COMMON_SCRIPT, SAMPLE_SCRIPT, JOIN_SCRIPT]));
    let (title, description) = (format!("Join {}", hub.name()), "How a bot joins.".to_owned());
    let shown = PageCard { title, description, picture: None };
    PAGE.of_run(&hub, &seen, Some(nav::JOIN.0), hub.ladder().is_some(), &shown, "").await
}

/// The page on which a visitor begins a match against a program of a ladder.
pub(super) async fn play(
    State(hub): HubState,
    Extension(seen): Extension<SeenUrl>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::new(TOP, TEXT, &[include_str!("assets/play.js")]));
    let Some((ladder, _)) = hub.visitors() else {
        return missing_of_run(State(hub), Extension(seen), uri, headers).await;
    };
    let option = |value: &str, text: &str| {
        format!("<option value=\"{}\">{}</option>", page::escaped(value), page::escaped(text))
    };
    let programs = ladder.programs();
    let bots: String = programs.iter().map(|(name, shown)| option(name, shown)).collect();
    let seats = (0..ladder.seating.seats()).map(|seat| option(&seat.to_string(), &format!("Seat {seat}")));
    let seats: String = seats.collect();
    let form = format!(
        "<form class=\"fields\" id=\"play\"><div class=\"grow\"><label for=\"bot\">Bot</label><select id=\"bot\">{bots}\
         </select></div><div><label for=\"seat\">Your seat</label><select id=\"seat\"><option value=\"\">Any</option>{seats}\
         </select></div><button class=\"main\" id=\"begin\" type=\"submit\">Play</button></form>\n\
         <p class=\"notice warn\" id=\"refused\" role=\"alert\" hidden></p>\n"
    );
    let form = if programs.is_empty() { "<p>No program is there now.</p>\n" } else { &*form };
    let text = format!(
        "<h1>Play against a bot</h1>\n<p class=\"lede\">A match between you and a program of this ladder. It is not rated, \
         and nothing of it is kept.</p>\n{form}<p class=\"note\">The match ends when its page has been closed for a minute.</p>\n"
    );
    let (title, description) = (format!("Play {}", hub.name()), "A match against a bot.".to_owned());
    let shown = PageCard { title, description, picture: None };
    PAGE.of_run(&hub, &seen, Some(nav::PLAY.0), true, &shown, &text).await
}

/// A page whose text is filled in, with this path to the start page: [`TOP`] or [`BELOW`].
pub(super) fn text_page(root: &'static str) -> &'static Page {
    static BY_ROOT: LazyLock<[Page; 2]> =
        LazyLock::new(|| [TOP, BELOW].map(|root| Page::new(root, TEXT, &[])));
    &BY_ROOT[usize::from(root == BELOW)]
}

/// Answers with all announcements of a league.
pub(super) async fn announcements(State(hub): HubState, Extension(seen): Extension<SeenUrl>) -> Response {
    let notices = hub.read_notices().await;
    let is_there = !notices.announcements.is_empty();
    let text = if is_there { notices.all() } else { "<p>There are no announcements.</p>".to_owned() };
    let text = format!("<h1>Announcements</h1>\n{text}");
    let (title, description) =
        (format!("Announcements of {}", hub.name()), "What the organiser says.".to_owned());
    let shown = PageCard { title, description, picture: None };
    text_page(TOP).of_run(&hub, &seen, Some(nav::ANNOUNCEMENTS.0), is_there, &shown, &text).await
}

pub(super) async fn rules(State(hub): HubState, Extension(seen): Extension<SeenUrl>) -> Response {
    let notices = hub.read_notices().await;
    let (heading, text) = split_title(notices.rules.as_deref().unwrap_or("There are no rules."));
    let heading = page::escaped(heading.unwrap_or("Rules"));
    let text = format!(
        "<h1>{heading}</h1>\n<div class=\"prose\">{}<p><a href=\"{}\">Rules of the game</a></p></div>",
        prose(text, 2),
        nav::GAME_RULES.0
    );
    let (title, description) = (format!("Rules of {}", hub.name()), "What holds in this league.".to_owned());
    let shown = PageCard { title, description, picture: None };
    text_page(TOP).of_run(&hub, &seen, Some(nav::RULES.0), notices.rules.is_some(), &shown, &text).await
}

/// A text of the program, Markdown.
async fn manual(hub: &Hub, seen: &SeenUrl, here: Option<&str>, text: &str) -> Response {
    let (heading, text) = split_title(text);
    let heading = heading.unwrap_or("Manual");
    let text = format!("<h1>{}</h1>\n<div class=\"prose\">{}</div>", page::escaped(heading), prose(text, 2));
    let description = "For those who write a bot.".to_owned();
    let shown = PageCard { title: heading.to_owned(), description, picture: None };
    text_page(BELOW).of_run(hub, seen, here, true, &shown, &text).await
}

pub(super) async fn game_rules(State(hub): HubState, Extension(seen): Extension<SeenUrl>) -> Response {
    manual(&hub, &seen, Some(nav::GAME_RULES.0), hub.game.rules).await
}

/// A page of the specification of the protocol.
pub(super) async fn protocol(
    State(hub): HubState,
    Extension(seen): Extension<SeenUrl>,
    PlayerName(name): PlayerName,
) -> Response {
    let found = PAGES.iter().find(|page| name.strip_suffix(".md").unwrap_or(&name) == page.name);
    let Some(page) = found else {
        let names: Vec<&str> = PAGES.iter().map(|page| page.name).collect();
        return refused(
            StatusCode::NOT_FOUND,
            &format!("there is no such page; pages: {}", names.join(", ")),
        );
    };
    manual(&hub, &seen, None, page.text).await
}
