//! The static pages of a tournament, for a web server or to open from disk.
//!
//! | path | contents |
//! |---|---|
//! | `index.html` | the report, and how to verify it |
//! | `matches.html`, `matches-2.html`, ... | the list of matches |
//! | `matches/m1.html` | a match, its replay and its record |
//! | `entrants/1.html`, `entrants/1-2.html`, ... | an entrant and its matches |
//! | `report.css`, `player.css`, `player.js` | what pages share |
//!
//! Links are relative. The policy of every page allows only the scripts and styles of the site; no text of a match or
//! of a bot becomes markup.

mod entrant;
mod list;
mod replay;

pub use replay::Unshown;

use maud::{DOCTYPE, Markup, html};
use referee_game::json;

use super::replay::{BODY, MatchReplay, SCRIPT, style};
use super::tournament::{
    Escaped, Grid, Links, ListedMatch, STYLE, Section, TournamentReport, minute, notes, sections, subtitle,
    table,
};

/// A file of the site: its path and its text.
pub type File = (String, String);

/// The pages of a tournament.
#[derive(Debug)]
pub struct Site<'a> {
    report: &'a TournamentReport,
}

/// What the parts of a page depend on.
struct SitePage<'a> {
    title: String,
    links: Links<'a>,
    /// Whether it has the player.
    plays: bool,
}

/// Allows only the scripts and styles of the site.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'none'";

impl SitePage<'_> {
    /// The page with this body.
    fn text(&self, body: &Markup) -> String {
        let top = self.links.top();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href={ (top) "report.css" };
                    @if self.plays { link rel="stylesheet" href={ (top) "player.css" }; }
                    title { (Escaped(&self.title)) }
                }
                body class=[self.plays.then_some("player")] {
                    (body)
                    @if self.plays { script src={ (top) "player.js" } {} }
                }
            }
        };
        page.into_string()
    }
}

/// The end of every page.
fn footer() -> Markup {
    html! { footer { (referee_match::SERVER) } }
}

/// The maximum length of a fact that shares its row with others, in bytes.
const SHORT: usize = 60;

/// A label and its value.
struct LabelledValue {
    label: &'static str,
    value: Markup,
    /// Whether it has a row of its own.
    is_long: bool,
}

impl LabelledValue {
    fn text(label: &'static str, text: &str) -> LabelledValue {
        LabelledValue { label, value: html! { (Escaped(text)) }, is_long: text.len() > SHORT }
    }

    fn code(label: &'static str, text: &str) -> LabelledValue {
        LabelledValue { label, value: html! { code { (Escaped(text)) } }, is_long: text.len() > SHORT }
    }

    /// A value with links.
    fn links(label: &'static str, value: Markup) -> LabelledValue {
        LabelledValue { label, value, is_long: false }
    }
}

/// A list of facts; those without a value are left out.
fn facts(facts: &[LabelledValue]) -> Markup {
    html! {
        dl class="facts" {
            @for LabelledValue { label, value, is_long } in facts.iter().filter(|fact| !fact.value.0.is_empty()) {
                div class=[is_long.then_some("long")] {
                    dt { (label) }
                    dd { (value) }
                }
            }
        }
    }
}

impl<'a> Site<'a> {
    /// The site of a tournament.
    pub fn of(report: &'a TournamentReport) -> Site<'a> {
        Site { report }
    }

    /// What all pages share.
    pub fn assets() -> [(&'static str, String); 3] {
        // The elements of the player come with its script, so that they do not take space on each page.
        let mut script = format!(
            "\"use strict\";\ndocument.getElementById(\"player\").outerHTML = {};\n",
            json::text(&BODY)
        );
        script += SCRIPT;
        [("report.css", STYLE.to_owned()), ("player.css", style()), ("player.js", script)]
    }

    /// The pages except those of matches.
    pub fn pages(&self) -> impl Iterator<Item = File> {
        let entrants = self.report.entrants().flat_map(|(standing, details)| self.entrant(standing, details));
        std::iter::once(("index.html".to_owned(), self.index())).chain(self.lists()).chain(entrants)
    }

    /// The page of a match, an index into the attempts of the report.
    pub fn match_page(&self, index: usize, replay: Result<&MatchReplay, Unshown>) -> File {
        let path = format!("matches/{}.html", self.report.attempts[index].id);
        (path, self.replay(index, replay))
    }

    fn name(&self) -> &str {
        &self.report.standings.name
    }

    /// The links at the top of a page below the first one, and what follows them.
    fn way(&self, top: &str, here: &Markup) -> Markup {
        html! {
            nav class="way" aria-label="Site" {
                a href={ (top) "index.html" } { (Escaped(self.name())) }
                a href={ (top) "matches.html" } { "Matches" }
                (here)
            }
        }
    }

    fn index(&self) -> String {
        let report = self.report;
        let links = Links::from("", report);
        let page = SitePage { title: self.name().to_owned(), links, plays: false };
        let mut sections = sections(report, &page.links);
        sections.extend(notes(report));
        sections.push(self.verification());
        let body = html! {
            header {
                h1 { (Escaped(self.name())) }
                p { (Escaped(&subtitle(&report.standings))) }
            }
            nav class="menu" aria-label="Sections" {
                a href="matches.html" { b { "Matches" } }
                @for section in &sections {
                    a href={ "#" (section.id) } { (Escaped(section.short_title())) }
                }
            }
            main {
                (self.summary(&page.links))
                @for section in &sections { (section) }
            }
            (footer())
        };
        page.text(&body)
    }

    /// The leader and the figures of the tournament.
    fn summary(&self, links: &Links<'_>) -> Markup {
        let TournamentReport { standings, conditions, unfinished_at_most, .. } = self.report;
        let first = standings.entrants.iter().take_while(|entrant| entrant.place == 1);
        let mut first: Vec<&str> = first.map(|entrant| entrant.name.as_str()).collect();
        let is_over = *unfinished_at_most == 0;
        let label = match (is_over, first.len()) {
            (true, 1) => "winner",
            (true, _) => "winners",
            _ => "leading",
        };
        if standings.matches == 0 || first.len() > 3 {
            first.clear();
        }
        let first = html! {
            @for (at, name) in first.iter().enumerate() {
                @if at > 0 { ", " }
                (links.entrant(name))
            }
        };
        let dates = match (&conditions.began_at, &conditions.ended_at) {
            (Some(began), Some(ended)) if began[..10] == ended[..10] => began[..10].to_owned(),
            (Some(began), Some(ended)) => format!("{} to {}", &began[..10], &ended[..10]),
            _ => String::new(),
        };
        let played = html! {
            a href="matches.html" {
                (standings.matches)
                @if !is_over { ", not over yet" }
            }
        };
        facts(&[
            LabelledValue::links(label, first),
            LabelledValue::text("entrants", &standings.entrants.len().to_string()),
            LabelledValue::links("matches", played),
            LabelledValue::text("format", &conditions.format),
            LabelledValue::text("clock", &conditions.clock.replace(',', ", ")),
            LabelledValue::text("played", &dates),
        ])
    }

    /// How a visitor verifies matches.
    fn verification(&self) -> Section {
        let text = html! {
            p {
                "The page of each match offers its record: every answer with its time, every fault, all dice and cards, "
                "and the result. " code { "referee verify m1.jsonl" } " replays the match by the rules and reports "
                "every difference. " code { "referee show m1.jsonl" } " prints it. Both also read the page itself, "
                "and " code { "referee verify matches" } " all pages of a copy of this site."
            }
            p {
                "Before the first move, the referee commits itself to the seed of a match: the bots receive SHA-256 of a "
                "salt and the seed. The record reveals both, so neither the dice nor the cards can be chosen afterwards."
            }
            @if self.report.conditions.seed.is_some() {
                p {
                    "The seeds of all matches derive from the seed of the tournament: the seed of a match is HMAC-SHA-256 "
                    "of " code { "referee/1/seed" } ", a line feed and the id of its deal, with the seed of the tournament "
                    "as the key."
                }
            }
        };
        Section::new("How to verify", "", text).with_id("verify")
    }
}
