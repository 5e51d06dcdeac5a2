//! The static pages of a tournament, for a web server or to open from disk.
//!
//! | path | contents |
//! |---|---|
//! | `index.html` | who won or leads and why, the standings, the cross table, the rounds, how to verify it |
//! | `standings-2.html`, ... | further pages of the standings |
//! | `rounds.html` | the rounds or the bracket, if there are too many entrants for the first page |
//! | `matches.html`, `matches-2.html`, ... | the list of matches |
//! | `figures.html` | ratings, faults and time use of all entrants |
//! | `matches/m1.html` | a match, its replay and its record |
//! | `entrants/1.html`, `entrants/1-2.html`, ... | an entrant and its matches |
//! | `style.css`, `player.js`, `search.js` | what pages share |
//! | `card.png`, `matches/m1.png` | pictures for previews, if the URL of the site is known |
//!
//! Links are relative. The policy of every page allows only the scripts and styles of the site; no text of a match or
//! of a bot becomes markup.

mod entrant;
mod list;
mod pictures;
mod replay;
mod search;
mod writer;

use std::collections::BTreeMap;

use pictures::PICTURE;
pub use replay::Unshown;
pub use writer::{SiteError, SiteWriter};

use maud::{DOCTYPE, Markup, html};
use referee_game::{counted, json};

use self::list::pager;
use super::page::{self, NavLink, PublicUrl, facts, halves, plus_minus, results_bar};
use super::replay::{BODY, MatchReplay, SCRIPT};
use super::tournament::{
    CROSS, Escaped, Links, ListedMatch, Section, TournamentReport, encounters, figures, footer, minute,
    notes, opening, standings,
};

/// A file of the site: its path and its text.
pub type File = (String, String);

/// The pages of a tournament.
#[derive(Debug)]
pub struct Site<'a> {
    report: &'a TournamentReport,
    /// The address at which it is published, if known.
    url: Option<&'a PublicUrl>,
    /// By match id: the number of moves of its replay.
    moves: BTreeMap<String, u32>,
}

/// The maximum number of entrants on a page of the standings.
const PLACES: usize = 50;

/// The pages to which all others link: the file, and its name.
const PAGES: [(&str, &str); 4] = [
    ("index.html", "Overview"),
    ("matches.html", "Matches"),
    ("figures.html", "Figures"),
    ("index.html#verify", "How to verify"),
];

/// The properties of a page on which its parts depend.
struct SitePage<'a> {
    title: String,
    /// The description that other sites show.
    description: String,
    links: Links<'a>,
    /// The page of [`PAGES`] to which it belongs.
    section: &'static str,
    scripts: &'static [&'static str],
    /// The URL of the preview picture.
    picture: Option<String>,
}

/// Allows only the scripts and styles of the site.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'none'";

impl SitePage<'_> {
    /// Renders the page with this content on the site called `name`.
    fn text(&self, name: &str, content: &Markup) -> String {
        let top = self.links.top();
        let links = PAGES.map(|(file, name)| NavLink {
            href: format!("{top}{file}"),
            name,
            is_current: file == self.section,
        });
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    (page::head(&self.title, &self.description, self.picture.as_deref()))
                    link rel="stylesheet" href={ (top) "style.css" };
                }
                body {
                    (page::top(name, &format!("{top}index.html"), &links))
                    main id="main" class="wrap" tabindex="-1" { (content) }
                    (footer())
                    @for script in self.scripts { script src={ (top) (script) } {} }
                }
            }
        };
        page.into_string()
    }
}

/// The way from the first page to one below it.
fn crumbs(parts: &[Markup]) -> Markup {
    html! { ol class="crumbs" { @for part in parts { li { (part) } } } }
}

impl<'a> Site<'a> {
    /// The site of a tournament. With the URL of its first page, pages name pictures, which other sites show.
    pub fn of(report: &'a TournamentReport, url: Option<&'a PublicUrl>) -> Site<'a> {
        Site { report, url, moves: BTreeMap::new() }
    }

    /// The number of moves of a match, those of the opening included if its replay is known.
    fn moves(&self, listed: &ListedMatch) -> u32 {
        self.moves.get(&listed.id).copied().unwrap_or(listed.decisions)
    }

    /// The files that all pages share.
    pub fn assets(&self) -> Vec<(&'static str, String)> {
        // The elements of the player come with its script, so that they do not take space on each page.
        let mut script = format!(
            "\"use strict\";\ndocument.getElementById(\"player\").outerHTML = {};\n",
            json::text(&BODY)
        );
        script += SCRIPT;
        let mut assets = vec![("style.css", page::style()), ("player.js", script)];
        if self.has_search() {
            assets.push(("search.js", search::script(self.report)));
        }
        assets
    }

    /// The pages except those of matches.
    pub fn pages(&self) -> impl Iterator<Item = File> {
        let entrants = self.report.entrants().flat_map(|(standing, details)| self.entrant(standing, details));
        let first = [("index.html".to_owned(), self.index()), ("figures.html".to_owned(), self.figures())];
        let first = first.into_iter().chain(self.rounds());
        first.chain(self.further_standings()).chain(self.lists()).chain(entrants)
    }

    /// The page of a match, an index into the attempts of the report.
    pub fn match_page(&self, index: usize, replay: Result<&MatchReplay, Unshown>) -> File {
        let path = format!("matches/{}.html", self.report.attempts[index].id);
        (path, self.replay(index, replay))
    }

    fn name(&self) -> &str {
        &self.report.standings.name
    }

    /// Returns whether the standings have several pages, which can be searched.
    fn has_search(&self) -> bool {
        self.report.details.len() > PLACES
    }

    fn page(&self, title: String, description: String, top: &'static str) -> SitePage<'_> {
        let links = Links::from(top, self.report);
        let picture = self.picture_url(PICTURE);
        SitePage { title, description, links, section: "", scripts: &[], picture }
    }

    fn index(&self) -> String {
        let report = self.report;
        let story = &report.standings.story;
        let page = SitePage {
            section: "index.html",
            scripts: if self.has_search() { &["search.js"] } else { &[] },
            ..self.page(story.heading.clone(), self.summary(), "")
        };
        let (links, is_large) = (&page.links, report.details.len() > CROSS);
        let content = html! {
            (opening(report, links))
            (self.standings_page(0, links))
            @if is_large {
                p class="note" {
                    "There is no cross table of " (report.details.len()) " entrants: the page of each lists its results head to \
                     head."
                    @if !report.rounds.is_empty() { " " a href="rounds.html" { "All rounds" } }
                }
            } @else {
                @for section in encounters(report, links) { (section) }
            }
            @for section in notes(report) { (section) }
            (self.verification())
        };
        page.text(self.name(), &content)
    }

    /// The first three in one line.
    fn summary(&self) -> String {
        let entrants = self.report.standings.entrants.iter().take(3);
        let points: Vec<String> =
            entrants.map(|row| format!("{} {}", row.shown(), halves(row.points))).collect();
        let matches = counted(self.report.standings.matches, "match", "matches");
        format!("{} points. {}, {matches}.", points.join(", "), self.report.game.title)
    }

    /// A page of the standings with the way to the others.
    fn standings_page(&self, number: usize, links: &Links<'_>) -> Markup {
        let entrants = self.report.details.len();
        let pages = entrants.div_ceil(PLACES).max(1);
        let (start, end) = (number * PLACES, entrants.min((number + 1) * PLACES));
        let file = |page: usize| {
            if page == 0 { "index.html".to_owned() } else { format!("standings-{}.html", page + 1) }
        };
        let label = |page: usize| format!("{}–{}", page * PLACES + 1, entrants.min((page + 1) * PLACES));
        html! {
            @if self.has_search() { (search::form(start + 1, end, entrants)) }
            (standings(self.report, links, start..end))
            (pager(pages, number, file, label))
        }
    }

    fn further_standings(&self) -> Vec<File> {
        let pages = self.report.details.len().div_ceil(PLACES);
        let page_of = |number: usize| {
            let title = format!("Standings of {}, page {}", self.name(), number + 1);
            let page = SitePage { scripts: &["search.js"], ..self.page(title, self.summary(), "") };
            let content = html! {
                h1 { "Standings of " (self.report.details.len()) " entrants" }
                (self.standings_page(number, &page.links))
            };
            (format!("standings-{}.html", number + 1), page.text(self.name(), &content))
        };
        (1..pages).map(page_of).collect()
    }

    /// The rounds or the bracket of many entrants.
    fn rounds(&self) -> Option<File> {
        if self.report.rounds.is_empty() || self.report.details.len() <= CROSS {
            return None;
        }
        let page = self.page(format!("Rounds of {}", self.name()), self.summary(), "");
        let content = html! {
            h1 { "Rounds" }
            @for section in encounters(self.report, &page.links) { (section) }
        };
        Some(("rounds.html".to_owned(), page.text(self.name(), &content)))
    }

    fn figures(&self) -> String {
        let title = format!("Figures of {}", self.name());
        let page = SitePage { section: "figures.html", ..self.page(title, self.summary(), "") };
        let content = html! {
            h1 { "Figures" }
            p class="lede" { "Ratings, faults and thinking times of all entrants, computed from the records of the matches." }
            @for section in figures(self.report, &page.links) { (section) }
        };
        page.text(self.name(), &content)
    }

    /// Explains to a visitor how to verify matches.
    fn verification(&self) -> Section {
        let text = html! {
            p class="note" {
                "The page of each match offers its record: every answer with its time, every fault, all dice and cards, "
                "and the result. " code { "referee verify m1.jsonl" } " replays the match by the rules and reports "
                "every difference. " code { "referee show m1.jsonl" } " prints it. Both also read the page itself, "
                "and " code { "referee verify matches" } " all pages of a copy of this site."
            }
            p class="note" {
                "Before the first move, the referee commits itself to the seed of a match: the bots receive SHA-256 of a "
                "salt and the seed. The record reveals both, so neither the dice nor the cards can be chosen afterwards."
            }
            @if self.report.conditions.seed.is_some() {
                p class="note" {
                    "The seeds of all matches derive from the seed of the tournament: the seed of a match is HMAC-SHA-256 "
                    "of " code { "referee/1/seed" } ", a line feed and the id of its deal, with the seed of the tournament "
                    "as the key."
                }
            }
        };
        Section::new("How to verify", "", text).with_id("verify")
    }
}
