//! Text in HTML, and links to other pages of a site.

use std::collections::HashMap;
use std::fmt;

use maud::{Markup, Render, html};
use referee_game::printable::is_active;

use super::{HeadToHead, TournamentReport};

/// Text that is escaped for HTML elements and attributes.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        self.0.chars().try_for_each(|c| match c {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            // Not allowed in HTML, even escaped.
            c if is_active(c) => f.write_char('\u{fffd}'),
            c => f.write_char(c),
        })
    }
}

impl Render for Escaped<'_> {
    fn render_to(&self, buffer: &mut String) {
        use fmt::Write;
        // Writing to a string cannot fail.
        let _ = write!(buffer, "{self}");
    }
}

/// The addresses of the pages of entrants and matches.
pub(crate) struct Links<'a> {
    /// The path from the page to the directory of the site; `None` if there are no other pages.
    top: Option<&'static str>,
    /// The numbers and the display names of the entrants, by name.
    entrants: HashMap<&'a str, (usize, &'a str)>,
}

impl<'a> Links<'a> {
    /// The links of a page that stands alone.
    pub(crate) fn none(report: &'a TournamentReport) -> Links<'a> {
        Links { top: None, ..Links::from("", report) }
    }

    /// The links of the pages in a directory of a site; `top` is the path from there to that of the site.
    pub(crate) fn from(top: &'static str, report: &'a TournamentReport) -> Links<'a> {
        let entrants = report.entrants();
        let entrants = entrants.map(|(standing, of)| (of.name.as_str(), (of.number, standing.shown())));
        Links { top: Some(top), entrants: entrants.collect() }
    }

    /// The path to the directory of the site.
    pub(crate) fn top(&self) -> &'static str {
        self.top.unwrap_or_default()
    }

    pub(crate) fn entrant(&self, name: &str) -> Markup {
        html! {
            @match (self.top, self.entrants.get(name)) {
                (Some(top), Some((number, shown))) => {
                    a href={ (top) "entrants/" (number) ".html" } { (Escaped(shown)) }
                }
                (None, Some((_, shown))) => { (Escaped(shown)) }
                _ => { (Escaped(name)) }
            }
        }
    }

    /// A text that leads to a match.
    pub(crate) fn to_match(&self, id: &str, text: &str) -> Markup {
        html! {
            @match self.top {
                Some(top) => { a href={ (top) "matches/" (Escaped(id)) ".html" } { (Escaped(text)) } }
                None => { (Escaped(text)) }
            }
        }
    }

    pub(crate) fn match_id(&self, id: &str) -> Markup {
        self.to_match(id, id)
    }

    /// The first matches of a list.
    pub(crate) fn matches(&self, ids: &[String]) -> Markup {
        html! {
            @for (at, id) in ids.iter().take(LISTED).enumerate() {
                @if at > 0 { " · " }
                (self.match_id(id))
            }
            @if ids.len() > LISTED { " and " (ids.len() - LISTED) " more" }
        }
    }

    /// The link to the matches of two entrants, given their numbers: their match, or the row on the page of
    /// the first one.
    pub(crate) fn encounter(&self, number: usize, other: usize, met: &HeadToHead) -> Option<String> {
        let top = self.top?;
        Some(match &met.match_ids[..] {
            [id] => format!("{top}matches/{}.html", Escaped(id)),
            _ => format!("{top}entrants/{number}.html#with-{other}"),
        })
    }
}

/// The maximum number of matches in a cell.
const LISTED: usize = 8;
