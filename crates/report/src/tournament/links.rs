//! Text in HTML, and links to other pages of a site.

use std::collections::HashMap;
use std::fmt;

use maud::{Markup, Render, html};
use referee_game::printable::is_active;

use super::TournamentReport;

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
    /// The numbers of the entrants by name.
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Links<'a> {
    /// The links of a page that stands alone.
    pub(crate) fn none() -> Links<'a> {
        Links { top: None, numbers: HashMap::new() }
    }

    /// The links of the pages in a directory of a site; `top` is the path from there to that of the site.
    pub(crate) fn from(top: &'static str, report: &'a TournamentReport) -> Links<'a> {
        let numbers = report.details.iter().map(|details| (details.name.as_str(), details.number));
        Links { top: Some(top), numbers: numbers.collect() }
    }

    /// The path to the directory of the site.
    pub(crate) fn top(&self) -> &'static str {
        self.top.unwrap_or_default()
    }

    /// The name of an entrant.
    pub(crate) fn entrant(&self, name: &str) -> Markup {
        html! {
            @match (self.top, self.numbers.get(name)) {
                (Some(top), Some(number)) => { a href={ (top) "entrants/" (number) ".html" } { (Escaped(name)) } }
                _ => { (Escaped(name)) }
            }
        }
    }

    /// The id of a match.
    pub(crate) fn match_id(&self, id: &str) -> Markup {
        html! {
            @match self.top {
                Some(top) => { a href={ (top) "matches/" (Escaped(id)) ".html" } { (Escaped(id)) } }
                None => { (Escaped(id)) }
            }
        }
    }

    /// The ids of matches.
    pub(crate) fn match_ids(&self, ids: &[String]) -> Markup {
        html! {
            @for (at, id) in ids.iter().enumerate() {
                @if at > 0 { " " }
                (self.match_id(id))
            }
        }
    }
}
