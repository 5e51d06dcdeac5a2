//! Lists of matches, which have several pages if they are long.

use maud::{Markup, html};
use referee_game::counted;

use super::{File, Links, ListedMatch, Site, SitePage, minute};
use crate::tournament::Escaped;

/// The maximum number of matches on a page.
const LISTED: usize = 200;

/// The path of a page of a list, from 0.
fn path(stem: &str, page: usize) -> String {
    if page == 0 { format!("{stem}.html") } else { format!("{stem}-{}.html", page + 1) }
}

/// Links to the pages of a list, given the file and the label of each; nothing for one page.
pub(super) fn pager(
    count: usize,
    at: usize,
    file: impl Fn(usize) -> String,
    label: impl Fn(usize) -> String,
) -> Markup {
    html! {
        @if count > 1 {
            nav class="pager" aria-label="Pages of the list" {
                @for other in 0..count {
                    a class="btn" href=(file(other)) aria-current=[(other == at).then_some("page")] { (label(other)) }
                }
            }
        }
    }
}

/// The pages of a list: the path of each, the matches on it, and links to the others.
pub(super) fn pages<'a, T>(stem: &'a str, items: &'a [T]) -> impl Iterator<Item = (String, &'a [T], Markup)> {
    let count = items.len().div_ceil(LISTED).max(1);
    let file = stem.rsplit('/').next().unwrap_or(stem).to_owned();
    (0..count).map(move |at| {
        let items = &items[at * LISTED..items.len().min((at + 1) * LISTED)];
        let others = pager(count, at, |page| path(&file, page), |page| (page + 1).to_string());
        (path(stem, at), items, others)
    })
}

/// The entrants of a match by side.
fn sides(listed: &ListedMatch, sides: usize, links: &Links<'_>) -> Markup {
    let of_side = |side: usize| {
        let mut names: Vec<&String> = listed.seats.iter().skip(side).step_by(sides.max(1)).collect();
        names.dedup();
        names
    };
    html! {
        @for side in 0..sides {
            @if side > 0 { " – " }
            @for (at, name) in of_side(side).into_iter().enumerate() {
                @if at > 0 { " + " }
                (links.entrant(name))
            }
        }
    }
}

/// A table of matches. `result` is the content of the column with the result.
pub(super) fn table(
    site: &Site<'_>,
    matches: &[&ListedMatch],
    links: &Links<'_>,
    result: impl Fn(&ListedMatch) -> Markup,
) -> Markup {
    let has_rounds = !site.report.rounds.is_empty();
    let began = |listed: &ListedMatch| listed.began_at.as_deref().map(minute).unwrap_or_default();
    html! {
        table class="cards no" {
            thead {
                tr {
                    th class="t" { "Entrants" }
                    th { "Result" }
                    th { "Match" }
                    @if has_rounds { th { "Round" } }
                    th class="t" { "Ended by" }
                    th { "Moves" }
                    th class="t" { "Began (UTC)" }
                }
            }
            tbody {
                @for listed in matches {
                    tr {
                        td class="name" { (sides(listed, site.report.standings.sides, links)) }
                        td class="lead num" { (result(listed)) }
                        td class="num" data-l="Match" { (links.match_id(&listed.id)) }
                        @if has_rounds {
                            td class="num" data-l="Round" { @if let Some(round) = listed.round { (round) } }
                        }
                        td class="t" data-l="Ended by" { (Escaped(&listed.ending(site.report.game))) }
                        td class="num" data-l="Moves" { (site.moves(listed)) }
                        td class="t" data-l="Began" { (began(listed)) }
                    }
                }
            }
        }
    }
}

impl Site<'_> {
    /// The pages of the list of all matches.
    pub(super) fn lists(&self) -> impl Iterator<Item = File> {
        let matches: Vec<&ListedMatch> = self.report.attempts.iter().collect();
        let count = counted(matches.len(), "match", "matches");
        let files: Vec<File> = pages("matches", &matches)
            .map(|(path, matches, others)| {
                let title = format!("Matches of {}", self.name());
                let page = SitePage { section: "matches.html", ..self.page(title, self.summary(), "") };
                let result = |listed: &ListedMatch| html! { (Escaped(&listed.result_on_page())) };
                let content = html! {
                    h1 { (count) }
                    p class="lede" { "Each links to its replay. Results are in the order of the entrants." }
                    section aria-label="List" { (table(self, matches, &page.links, result)) (others) }
                };
                (path, page.text(self.name(), &content))
            })
            .collect();
        files.into_iter()
    }
}
