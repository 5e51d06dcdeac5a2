//! Lists of matches, which have several pages if they are long.

use super::{File, Links, ListedMatch, Page, Site, footer, minute};
use crate::core::counted;
use crate::report::tournament::Escaped;

/// The maximum number of matches on a page.
const LISTED: usize = 500;

/// The path of a page of a list, from 0.
fn path(stem: &str, page: usize) -> String {
    if page == 0 { format!("{stem}.html") } else { format!("{stem}-{}.html", page + 1) }
}

/// The pages of a list: the path of each, the matches on it, and links to the others.
pub(super) fn pages<'a, T>(stem: &'a str, items: &'a [T]) -> impl Iterator<Item = (String, &'a [T], String)> {
    let count = items.len().div_ceil(LISTED).max(1);
    let file = stem.rsplit('/').next().unwrap_or(stem).to_owned();
    (0..count).map(move |at| {
        let items = &items[at * LISTED..items.len().min((at + 1) * LISTED)];
        let others = (0..count).filter(|_| count > 1).map(|other| {
            let current = if other == at { " aria-current=\"page\"" } else { "" };
            format!("<a href=\"{}\"{current}>{}</a> ", path(&file, other), other + 1)
        });
        let others = others.collect::<String>();
        let others = if count > 1 {
            format!("<nav class=\"others\" aria-label=\"Pages\">Page {others}</nav>\n")
        } else {
            others
        };
        (path(stem, at), items, others)
    })
}

/// The entrants of a match by side.
fn sides(told: &ListedMatch, sides: usize, links: &Links<'_>) -> String {
    let of_side = |side: usize| -> String {
        let mut names: Vec<&String> = told.seats.iter().skip(side).step_by(sides.max(1)).collect();
        names.dedup();
        names.into_iter().map(|name| links.entrant(name)).collect::<Vec<_>>().join(" + ")
    };
    (0..sides).map(of_side).collect::<Vec<_>>().join(" – ")
}

/// A table of matches. `result` is the heading and the cell, as HTML, of the column with the result.
pub(super) fn table(
    site: &Site<'_>,
    matches: &[&ListedMatch],
    links: &Links<'_>,
    result: impl Fn(&ListedMatch) -> String,
) -> String {
    let has_rounds = !site.report.rounds.is_empty();
    let round = if has_rounds { "<th>round</th>" } else { "" };
    let mut out = format!(
        "<div class=\"wide\"><table class=\"matches\">\n<thead><tr><th class=\"text\">match</th>{round}\
         <th class=\"text\">entrants</th><th class=\"text\">result</th><th class=\"text\">how</th><th>moves</th>\
         <th class=\"text\">began (UTC)</th></tr></thead>\n<tbody>\n"
    );
    for told in matches {
        let round = told.round.map_or(String::new(), |round| round.to_string());
        let round = if has_rounds { format!("<td>{round}</td>") } else { String::new() };
        let class = if told.faulted.is_empty() { "text" } else { "text alarm" };
        out += &format!(
            "<tr><td class=\"text\">{}</td>{round}<td class=\"text names\">{}</td><td class=\"text\">{}</td>\
             <td class=\"{class}\">{}</td><td>{}</td><td class=\"text\">{}</td></tr>\n",
            links.match_id(&told.id),
            sides(told, site.report.standings.sides, links),
            result(told),
            Escaped(&told.how()),
            told.decisions,
            told.began_at.as_deref().map(minute).unwrap_or_default()
        );
    }
    out + "</tbody>\n</table></div>\n"
}

impl Site<'_> {
    /// The pages of the list of all matches.
    pub(super) fn lists(&self) -> impl Iterator<Item = File> {
        let matches: Vec<&ListedMatch> = self.report.attempts.iter().collect();
        let count = counted(matches.len(), "match", "matches");
        let files: Vec<File> = pages("matches", &matches)
            .map(|(path, matches, others)| {
                let links = Links::from("", self.report);
                let table = table(self, matches, &links, |told| Escaped(&told.result_in_words()).to_string());
                let page = Page { title: format!("Matches of {}", self.name()), links, plays: false };
                let body = format!(
                    "{}<header>\n<h1>Matches</h1>\n<p>{count}; results in the order of the entrants</p>\n\
                     </header>\n<main>\n{others}{table}{others}</main>\n{}",
                    self.way("", ""),
                    footer()
                );
                (path, page.text(&body))
            })
            .collect();
        files.into_iter()
    }
}
