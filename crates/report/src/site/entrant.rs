//! The page of an entrant.

use maud::{Markup, html};
use referee_game::counted;

use super::list::{pages, table as match_table};
use super::{File, Grid, LabelledValue, Links, ListedMatch, Section, Site, SitePage, facts, footer, table};
use crate::tournament::{
    EntrantDetails, EntrantStanding, Escaped, HeadToHead, elo, estimate, faults, met, points, shade,
    time_use_of, wdl,
};

/// The results of an entrant against or with others.
struct ResultsTable<'a> {
    title: &'static str,
    note: &'static str,
    cells: &'a [Option<HeadToHead>],
}

impl Site<'_> {
    /// The pages of an entrant, which differ in the matches that they list.
    pub(super) fn entrant(&self, standing: &EntrantStanding, details: &EntrantDetails) -> Vec<File> {
        let name = &details.name;
        let matches: Vec<&ListedMatch> =
            self.report.attempts.iter().filter(|listed| listed.seats.contains(name)).collect();
        let stem = format!("entrants/{}", details.number);
        let files = pages(&stem, &matches).map(|(path, matches, others)| {
            let links = Links::from("../", self.report);
            let result = |listed: &ListedMatch| self.result_of(listed, name);
            let list = html! { (others) (match_table(self, matches, &links, result)) (others) };
            let mut sections = vec![Section::new("Matches", "", list)];
            sections.extend(self.results(details, &links));
            sections.extend(self.faults_and_times(details, &links));
            let body = html! {
                (self.way("../", &Markup::default()))
                header {
                    h1 { (Escaped(name)) }
                    p {
                        @if self.report.standings.matches > 0 {
                            "Place " (standing.place) " of " (self.report.details.len())
                        }
                    }
                }
                main {
                    (figures(standing, details))
                    @for section in &sections { (section) }
                }
                (footer())
            };
            let page = SitePage { title: format!("{name}, {}", self.name()), links, plays: false };
            (path, page.text(&body))
        });
        files.collect()
    }

    /// The result of a match as an entrant sees it.
    fn result_of(&self, listed: &ListedMatch, name: &str) -> Markup {
        let text = html! { (Escaped(&listed.result_in_words())) };
        let seat = listed.seats.iter().position(|seat| seat == name);
        let sides = self.report.standings.sides;
        let ranks = listed.ranks.as_deref().unwrap_or_default();
        let of_sides = ranks.get(..sides).unwrap_or_default();
        let own = seat.and_then(|seat| ranks.get(seat));
        let has_others = listed.seats.iter().any(|seat| seat != name);
        let Some(&own) = own.filter(|_| has_others && !of_sides.is_empty()) else { return text };
        let (best, worst) = (of_sides.iter().min(), of_sides.iter().max());
        let (class, word) = match (best == Some(&own), worst == Some(&own)) {
            (true, true) => ("draw", "draw"),
            (true, false) => ("win", "win"),
            (false, true) => ("loss", "loss"),
            (false, false) => ("draw", "middle"),
        };
        html! { span class=(class) { (word) } " " (text) }
    }

    /// The results against each opponent and with each partner.
    fn results(&self, details: &EntrantDetails, links: &Links<'_>) -> impl Iterator<Item = Section> {
        let against = ResultsTable {
            title: "Opponents",
            note: "points of matches; with three sides, the share of them between these two",
            cells: &details.cross,
        };
        let with = ResultsTable { title: "Partners", note: "points of matches", cells: &details.partners };
        [against, with].into_iter().filter_map(|ResultsTable { title, note, cells }| {
            let rows = cells.iter().zip(&self.report.details);
            let rows: Vec<_> = rows.filter_map(|(&cell, other)| Some((cell?, other))).collect();
            let table = html! {
                div class="wide" {
                    table {
                        tbody {
                            @for &(cell, other) in &rows {
                                tr {
                                    td class="text" { (links.entrant(&other.name)) }
                                    td class=(shade(cell)) { (met(Some(cell))) }
                                }
                            }
                        }
                    }
                }
            };
            (!rows.is_empty()).then(|| Section::new(title, note, table))
        })
    }

    fn faults_and_times(&self, details: &EntrantDetails, links: &Links<'_>) -> Vec<Section> {
        let mut sections = Vec::new();
        if !details.faults.is_empty() {
            let items = html! {
                p { (Escaped(&faults(&details.faults))) "; first in " (links.match_ids(&details.faulty)) }
                @for bot in details.team.iter().filter(|bot| !bot.faults.is_empty()) {
                    p { (Escaped(&bot.name)) ": " (Escaped(&faults(&bot.faults))) }
                }
            };
            sections.push(Section::new("Faults", "", items));
        }
        let row = |name: &str, cells: Vec<String>| -> Vec<String> {
            std::iter::once(name.to_owned()).chain(cells).collect()
        };
        let own = row(&details.name, time_use_of(&details.time, &details.faults, details.cpu_ms));
        let of_team =
            details.team.iter().map(|bot| row(&bot.name, time_use_of(&bot.time, &bot.faults, bot.cpu_ms)));
        let grid = Grid {
            title: "Time use",
            headings: ["", "p50", "p99", "max", "time-outs", "answers", "cpu"].map(str::to_owned).to_vec(),
            rows: std::iter::once(own).chain(of_team).collect(),
            text: &[0],
            entrants: None,
            note: "thinking time of an answer, without the referee's own lag".to_owned(),
        };
        sections.push(Section::new(grid.title, &grid.note, table(&grid, links)));
        sections
    }
}

/// The results and ratings of an entrant.
fn figures(standing: &EntrantStanding, details: &EntrantDetails) -> Markup {
    let team: Vec<&str> = details.team.iter().map(|bot| bot.name.as_str()).collect();
    let out = standing.out.map_or(String::new(), |round| format!("in round {round}"));
    let awarded = if standing.awarded == 0.0 { String::new() } else { points(standing.awarded) };
    let of_faults = if details.faults.is_empty() {
        "none".to_owned()
    } else {
        format!("{} in {}", faults(&details.faults), counted(standing.faulted, "match", "matches"))
    };
    facts(&[
        LabelledValue::text("points", &format!("{} of {}", points(standing.points), standing.matches)),
        LabelledValue::text("decided by play", &wdl(standing.by_play)),
        LabelledValue::text("decided by a fault", &wdl(standing.by_fault)),
        LabelledValue::text("awarded", &awarded),
        LabelledValue::text("eliminated", &out),
        LabelledValue::text("Elo", &elo(standing.elo)),
        LabelledValue::text("Glicko-2", &estimate(details.glicko2, 0)),
        LabelledValue::text("team", &team.join(", ")),
        LabelledValue::text("faults", &of_faults),
    ])
}
