//! Lists of matches, which have several pages if they are long.

use maud::{Markup, html};
use referee_game::counted;

use super::{File, Links, ListedMatch, Site, SitePage, footer, minute};
use crate::tournament::Escaped;

/// The maximum number of matches on a page.
const LISTED: usize = 500;

/// The path of a page of a list, from 0.
fn path(stem: &str, page: usize) -> String {
    if page == 0 { format!("{stem}.html") } else { format!("{stem}-{}.html", page + 1) }
}

/// The pages of a list: the path of each, the matches on it, and links to the others.
pub(super) fn pages<'a, T>(stem: &'a str, items: &'a [T]) -> impl Iterator<Item = (String, &'a [T], Markup)> {
    let count = items.len().div_ceil(LISTED).max(1);
    let file = stem.rsplit('/').next().unwrap_or(stem).to_owned();
    (0..count).map(move |at| {
        let items = &items[at * LISTED..items.len().min((at + 1) * LISTED)];
        let others = html! {
            @if count > 1 {
                nav class="others" aria-label="Pages" {
                    "Page "
                    @for other in 0..count {
                        a href=(path(&file, other)) aria-current=[(other == at).then_some("page")] { (other + 1) }
                    }
                }
            }
        };
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
        div class="wide" {
            table class="matches" {
                thead {
                    tr {
                        th class="text" { "match" }
                        @if has_rounds { th { "round" } }
                        th class="text" { "entrants" }
                        th class="text" { "result" }
                        th class="text" { "how" }
                        th { "moves" }
                        th class="text" { "began (UTC)" }
                    }
                }
                tbody {
                    @for listed in matches {
                        tr {
                            td class="text" { (links.match_id(&listed.id)) }
                            @if has_rounds {
                                td { @if let Some(round) = listed.round { (round) } }
                            }
                            td class="text names" { (sides(listed, site.report.standings.sides, links)) }
                            td class="text" { (result(listed)) }
                            td class=(if listed.faulted.is_empty() { "text" } else { "text alarm" }) {
                                (Escaped(&listed.how()))
                            }
                            td { (listed.decisions) }
                            td class="text" { (began(listed)) }
                        }
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
                let links = Links::from("", self.report);
                let result = |listed: &ListedMatch| html! { (Escaped(&listed.result_in_words())) };
                let body = html! {
                    (self.way("", &Markup::default()))
                    header {
                        h1 { "Matches" }
                        p { (count) "; results in the order of the entrants" }
                    }
                    main {
                        (others)
                        (table(self, matches, &links, result))
                        (others)
                    }
                    (footer())
                };
                let page = SitePage { title: format!("Matches of {}", self.name()), links, plays: false };
                (path, page.text(&body))
            })
            .collect();
        files.into_iter()
    }
}
