//! The report as HTML: one self-contained file, and the sections that the pages of a site share.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use super::text::{self, Grid};
use super::{Escaped, HeadToHead, Links, PairReport, TournamentReport, plot};

/// The style sheet of reports and sites.
pub(crate) const STYLE: &str = include_str!("report.css");

/// A section of a page.
pub(crate) struct Section {
    /// The target of links to it.
    pub(crate) id: String,
    title: String,
    /// A remark below the content; empty without one.
    note: String,
    content: Markup,
}

impl Section {
    /// A section whose id is the first word of its title.
    pub(crate) fn new(title: &str, note: &str, content: Markup) -> Section {
        let id = title.split(' ').next().unwrap_or_default().to_lowercase();
        Section { id, title: title.to_owned(), note: note.to_owned(), content }
    }

    /// The section with another id.
    pub(crate) fn with_id(self, id: &str) -> Section {
        Section { id: id.to_owned(), ..self }
    }

    /// The title without details.
    pub(crate) fn short_title(&self) -> &str {
        self.title.split_once(" with ").map_or(&self.title, |(title, _)| title)
    }
}

impl Render for Section {
    fn render(&self) -> Markup {
        html! {
            section id=(self.id) {
                h2 { (Escaped(&self.title)) }
                (self.content)
                @if !self.note.is_empty() {
                    p class="note" { (Escaped(&self.note)) }
                }
            }
        }
    }
}

/// A table; `class` may replace the class of a cell, given its row and column.
fn table_with(grid: &Grid, links: &Links<'_>, class: impl Fn(usize, usize) -> Option<String>) -> Markup {
    let is_name = |column| grid.entrants == Some(column);
    let of_column = |column| grid.text.contains(&column).then_some("text");
    let usual = |column| if is_name(column) { Some("text name") } else { of_column(column) };
    let class = |row, column| class(row, column).or_else(|| usual(column).map(str::to_owned));
    html! {
        div class="wide" {
            table {
                @if grid.headings.iter().any(|heading| !heading.is_empty()) {
                    thead {
                        tr {
                            @for (column, heading) in grid.headings.iter().enumerate() {
                                th class=[of_column(column)] { (Escaped(heading)) }
                            }
                        }
                    }
                }
                tbody {
                    @for (row, cells) in grid.rows.iter().enumerate() {
                        tr {
                            @for (column, cell) in cells.iter().enumerate() {
                                td class=[class(row, column)] {
                                    @if is_name(column) { (links.entrant(cell)) } @else { (Escaped(cell)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A table.
pub(crate) fn table(grid: &Grid, links: &Links<'_>) -> Markup {
    table_with(grid, links, |_, _| None)
}

fn plain(grid: &Grid, links: &Links<'_>) -> Section {
    Section::new(grid.title, &grid.note, table(grid, links))
}

/// A table with a row and a column per entrant, shaded by score.
fn square(grid: &Grid, links: &Links<'_>, met: impl Fn(usize, usize) -> Option<HeadToHead>) -> Section {
    let class = |row: usize, column: usize| Some(shade(met(row, column.checked_sub(2)?)?));
    Section::new(grid.title, &grid.note, table_with(grid, links, class))
}

/// The class of a cell by its score, in tenths.
pub(crate) fn shade(met: HeadToHead) -> String {
    format!("share-{:.0}", met.score / met.matches * 10.0)
}

/// The entrant of a pair, or what stands in its place.
fn of_pair(pair: &PairReport, place: usize, links: &Links<'_>) -> Markup {
    html! {
        @match &pair.entrants[place] {
            Some(name) => { (links.entrant(name)) }
            None => { i { (pair.name(place)) } }
        }
    }
}

/// The bracket of a knockout, one column per round.
fn bracket(report: &TournamentReport, links: &Links<'_>) -> Section {
    let last = report.rounds.len();
    let title = |round: u32| match last - round as usize {
        0 => "Final".to_owned(),
        1 => "Semi-finals".to_owned(),
        2 => "Quarter-finals".to_owned(),
        _ => format!("Round {round}"),
    };
    let won = |pair: &PairReport, place: usize| {
        (pair.winner.is_some() && pair.winner == pair.entrants[place]).then_some("won")
    };
    let content = html! {
        div class="wide" {
            div class="bracket" {
                @for round in &report.rounds {
                    div class="round" {
                        h3 { (title(round.round)) }
                        div class="pairs" {
                            @for pair in &round.pairs {
                                div class="pair" {
                                    @for place in 0..2 {
                                        div class=[won(pair, place)] {
                                            span { (of_pair(pair, place, links)) }
                                            span { (pair.score(place)) }
                                        }
                                    }
                                    @if !pair.matches.is_empty() {
                                        p { (links.match_ids(&pair.matches)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    Section::new("Bracket", "", content)
}

/// The rounds of a Swiss tournament.
fn rounds(report: &TournamentReport, links: &Links<'_>) -> Section {
    let content = html! {
        div class="wide" {
            table {
                @for round in &report.rounds {
                    tbody {
                        @for (at, pair) in round.pairs.iter().enumerate() {
                            tr {
                                @if at == 0 {
                                    th rowspan=(round.pairs.len()) { "Round " (round.round) }
                                }
                                td class="text" { (of_pair(pair, 0, links)) }
                                td {
                                    @if !pair.matches.is_empty() { (pair.score(0)) " – " (pair.score(1)) }
                                }
                                td class="text" { (of_pair(pair, 1, links)) }
                                td class="text" { (links.match_ids(&pair.matches)) }
                            }
                        }
                    }
                }
            }
        }
    };
    let note = "points of the matches that the pair played against each other in this round";
    Section::new("Rounds", note, content)
}

/// The maximum number of matches in a self-contained file.
const LISTED: usize = 5000;

/// The faults and interruptions of each entrant, if there were any.
fn faults(report: &TournamentReport, links: &Links<'_>) -> Section {
    let grid = text::fault_counts(report);
    let is_clean =
        report.details.iter().all(|details| details.faults.is_empty() && details.interruptions == 0);
    if is_clean {
        let text = html! { p { "No entrant made a fault, and no match was interrupted." } };
        return Section::new(grid.title, "", text);
    }
    plain(&grid, links)
}

/// The sections from the standings to the time use.
pub(crate) fn sections(report: &TournamentReport, links: &Links<'_>) -> Vec<Section> {
    let mut sections = vec![plain(&text::standings(&report.standings), links)];
    if report.is_knockout() {
        sections.push(bracket(report, links));
    }
    sections.push(square(&text::cross(report), links, |row, column| report.details[row].cross[column]));
    if let Some(partners) = text::partners(report) {
        sections.push(square(&partners, links, |row, column| report.details[row].partners[column]));
    }
    if !report.rounds.is_empty() && !report.is_knockout() {
        sections.push(rounds(report, links));
    }
    let ratings = text::ratings(report);
    let content = html! {
        div class="wide" { (PreEscaped(plot::plot(&report.standings))) }
        (table(&ratings, links))
    };
    sections.push(Section::new(ratings.title, &ratings.note, content));
    sections.extend([faults(report, links), plain(&text::time_use(report), links)]);
    sections
}

/// The conditions and the remarks.
pub(crate) fn notes(report: &TournamentReport) -> Vec<Section> {
    let mut sections = vec![plain(&text::conditions(report), &Links::none())];
    let remarks = text::remarks(report);
    if !remarks.is_empty() {
        let list = html! { ul { @for line in &remarks { li { (Escaped(line)) } } } };
        sections.push(Section::new("Remarks", "", list));
    }
    sections
}

/// The full report.
pub fn html(report: &TournamentReport) -> String {
    let (name, links) = (Escaped(&report.standings.name), Links::none());
    let mut sections = sections(report, &links);
    sections.push(plain(&text::matches(report, LISTED), &links));
    sections.extend(notes(report));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (name) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (name) }
                    p { (Escaped(&text::subtitle(&report.standings))) }
                }
                main { @for section in &sections { (section) } }
                footer { (referee_match::SERVER) }
            }
        }
    };
    page.into_string()
}
