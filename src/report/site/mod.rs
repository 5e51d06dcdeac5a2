//! The static pages of a tournament, for a web server or to open from disk.
//!
//! | path | contents |
//! |---|---|
//! | `index.html` | the report, and how to verify it |
//! | `matches.html`, `matches-2.html`, ... | the list of matches |
//! | `matches/m1.html` | a match and its replay |
//! | `entrants/1.html`, `entrants/1-2.html`, ... | an entrant and its matches |
//! | `records/m1.jsonl.gz` | the record of a match |
//! | `report.css`, `player.css`, `player.js` | what pages share |
//!
//! Links are relative. The policy of every page allows only the scripts and styles of the site; no text of a match or
//! of a bot becomes markup.

mod entrant;
mod list;
mod replay;

pub use replay::Unshown;

use super::replay::{BODY, Reel, SCRIPT, style};
use super::tournament::{
    Escaped, Grid, Links, ListedMatch, STYLE, TournamentReport, minute, notes, section, sections, subtitle,
    table,
};
use crate::core::json;

/// A file of the site: its path and its text.
pub type File = (String, String);

/// The pages of a tournament.
#[derive(Debug)]
pub struct Site<'a> {
    report: &'a TournamentReport,
}

/// What the parts of a page depend on.
struct Page<'a> {
    title: String,
    links: Links<'a>,
    /// Whether it has the player.
    plays: bool,
}

impl Page<'_> {
    /// The page with this body.
    fn text(&self, body: &str) -> String {
        let (top, title) = (self.links.top(), Escaped(&self.title));
        let player = if self.plays {
            format!("<link rel=\"stylesheet\" href=\"{top}player.css\"/>\n")
        } else {
            String::new()
        };
        let script =
            if self.plays { format!("<script src=\"{top}player.js\"></script>\n") } else { String::new() };
        let class = if self.plays { " class=\"player\"" } else { "" };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'self'; \
             style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n\
             <link rel=\"stylesheet\" href=\"{top}report.css\"/>\n{player}<title>{title}</title>\n\
             </head>\n<body{class}>\n{body}{script}</body>\n</html>\n"
        )
    }
}

/// The end of every page.
fn footer() -> String {
    format!("<footer>{}</footer>\n", crate::SERVER)
}

/// The maximum length of a fact that shares its row with others, in bytes of HTML.
const SHORT: usize = 60;

/// Labels and texts; the texts are HTML. Those that are empty are left out.
fn facts(facts: &[(&str, String)]) -> String {
    let rows = facts.iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| {
        let class = if text.len() > SHORT && !text.contains("<a ") { " class=\"long\"" } else { "" };
        format!("<div{class}><dt>{}</dt><dd>{text}</dd></div>\n", Escaped(label))
    });
    format!("<dl class=\"facts\">\n{}</dl>\n", rows.collect::<String>())
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
    pub fn match_page(&self, index: usize, replay: Result<&Reel, Unshown>) -> File {
        let path = format!("matches/{}.html", self.report.attempts[index].id);
        (path, self.replay(index, replay))
    }

    /// The path of the record of a match.
    pub fn record(told: &ListedMatch) -> String {
        format!("records/{}.jsonl.gz", told.id)
    }

    fn name(&self) -> &str {
        &self.report.standings.name
    }

    /// The links at the top of a page below the first one; `here` is HTML.
    fn way(&self, top: &str, here: &str) -> String {
        format!(
            "<nav class=\"way\" aria-label=\"Site\"><a href=\"{top}index.html\">{}</a> \
             <a href=\"{top}matches.html\">Matches</a> {here}</nav>\n",
            Escaped(self.name())
        )
    }

    fn index(&self) -> String {
        let report = self.report;
        let links = Links::from("", report);
        let page = Page { title: self.name().to_owned(), links, plays: false };
        let links = &page.links;
        let sections = sections(report, links) + &notes(report) + &self.verification();
        let menu: String = sections
            .split("<section id=\"")
            .skip(1)
            .filter_map(|section| {
                let (id, rest) = section.split_once('"')?;
                let title = rest.split_once("<h2>")?.1.split_once("</h2>")?.0;
                let title = title.split_once(" with ").map_or(title, |(title, _)| title);
                Some(format!("<a href=\"#{id}\">{title}</a>\n"))
            })
            .collect();
        let body = format!(
            "<header>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n<nav class=\"menu\" aria-label=\"Sections\">\n\
             <a href=\"matches.html\"><b>Matches</b></a>\n{menu}</nav>\n<main>\n{}{sections}</main>\n{}",
            Escaped(self.name()),
            Escaped(&subtitle(&report.standings)),
            self.summary(links),
            footer()
        );
        page.text(&body)
    }

    /// The leader and the figures of the tournament.
    fn summary(&self, links: &Links<'_>) -> String {
        let TournamentReport { standings, conditions, unfinished_at_most, .. } = self.report;
        let first = standings.entrants.iter().take_while(|entrant| entrant.place == 1);
        let first: Vec<String> = first.map(|entrant| links.entrant(&entrant.name)).collect();
        let is_over = *unfinished_at_most == 0;
        let label = match (is_over, first.len()) {
            (true, 1) => "winner",
            (true, _) => "winners",
            _ => "leading",
        };
        let first = if standings.matches == 0 || first.len() > 3 { String::new() } else { first.join(", ") };
        let dates = match (&conditions.began_at, &conditions.ended_at) {
            (Some(began), Some(ended)) if began[..10] == ended[..10] => began[..10].to_owned(),
            (Some(began), Some(ended)) => format!("{} to {}", &began[..10], &ended[..10]),
            _ => String::new(),
        };
        let played = if is_over {
            standings.matches.to_string()
        } else {
            format!("{}, not over yet", standings.matches)
        };
        facts(&[
            (label, first),
            ("entrants", standings.entrants.len().to_string()),
            ("matches", format!("<a href=\"matches.html\">{played}</a>")),
            ("format", Escaped(&conditions.format).to_string()),
            ("clock", Escaped(&conditions.clock.replace(',', ", ")).to_string()),
            ("played", dates),
        ])
    }

    /// How a visitor verifies matches.
    fn verification(&self) -> String {
        let mut text = "<p>The page of each match offers its record: every answer with its time, every fault, all \
                        dice and cards, and the result. <code>referee verify m1.jsonl.gz</code> replays the match \
                        by the rules and reports every difference. <code>referee show m1.jsonl.gz</code> prints \
                        it.</p>\n<p>Before the first move, the referee commits itself to the seed of a match: the \
                        bots receive SHA-256 of a salt and the seed. The record reveals both, so neither the dice \
                        nor the cards can be chosen afterwards.</p>\n"
            .to_owned();
        if self.report.conditions.seed.is_some() {
            text += "<p>The seeds of all matches derive from the seed of the tournament: the seed of a match is \
                     HMAC-SHA-256 of <code>referee/1/seed</code>, a line feed and the id of its deal, with the \
                     seed of the tournament as the key.</p>\n";
        }
        section("How to verify", "", &text).replacen("id=\"how\"", "id=\"verify\"", 1)
    }
}
