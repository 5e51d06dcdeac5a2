//! The page of an entrant.

use super::list::{pages, table as match_table};
use super::{File, Grid, Links, ListedMatch, Page, Site, facts, footer, section, table};
use crate::core::counted;
use crate::report::tournament::{
    EntrantDetails, EntrantStanding, Escaped, Met, elo, estimate, faults, met, points, shade, time_use_of,
    wdl,
};

/// The results of an entrant against or with others.
struct Results<'a> {
    title: &'static str,
    note: &'static str,
    cells: &'a [Option<Met>],
}

impl Site<'_> {
    /// The pages of an entrant, which differ in the matches that they list.
    pub(super) fn entrant(&self, standing: &EntrantStanding, details: &EntrantDetails) -> Vec<File> {
        let name = &details.name;
        let matches: Vec<&ListedMatch> =
            self.report.attempts.iter().filter(|told| told.seats.contains(name)).collect();
        let stem = format!("entrants/{}", details.number);
        let files = pages(&stem, &matches).map(|(path, matches, others)| {
            let links = Links::from("../", self.report);
            let result = |told: &ListedMatch| self.result_of(told, name);
            let list = others.clone() + &match_table(self, matches, &links, result) + &others;
            let mut sections = section("Matches", "", &list);
            sections += &self.results(details, &links);
            sections += &self.faults_and_times(details, &links);
            let page = Page { title: format!("{name}, {}", self.name()), links, plays: false };
            let place = match self.report.standings.matches {
                0 => String::new(),
                _ => format!("Place {} of {}", standing.place, self.report.details.len()),
            };
            let body = format!(
                "{}<header>\n<h1>{}</h1>\n<p>{place}</p>\n</header>\n<main>\n{}{sections}</main>\n{}",
                self.way("../", ""),
                Escaped(name),
                self.figures(standing, details),
                footer()
            );
            (path, page.text(&body))
        });
        files.collect()
    }

    fn figures(&self, standing: &EntrantStanding, details: &EntrantDetails) -> String {
        let text = |text: String| Escaped(&text).to_string();
        let team: Vec<&str> = details.team.iter().map(|bot| bot.name.as_str()).collect();
        let out = standing.out.map_or(String::new(), |round| format!("in round {round}"));
        let awarded = if standing.awarded == 0 { String::new() } else { standing.awarded.to_string() };
        facts(&[
            ("points", format!("{} of {}", points(standing.points), standing.matches)),
            ("decided by play", wdl(standing.by_play)),
            ("decided by a fault", wdl(standing.by_fault)),
            ("awarded", awarded),
            ("eliminated", out),
            ("Elo", text(elo(standing.elo))),
            ("Glicko-2", text(estimate(details.glicko2, 0))),
            ("team", text(team.join(", "))),
            (
                "faults",
                match details.faults.is_empty() {
                    true => "none".to_owned(),
                    false => {
                        let matches = counted(standing.faulted, "match", "matches");
                        text(format!("{} in {matches}", faults(&details.faults)))
                    }
                },
            ),
        ])
    }

    /// The result of a match as an entrant sees it.
    fn result_of(&self, told: &ListedMatch, name: &str) -> String {
        let text = Escaped(&told.result_in_words()).to_string();
        let seat = told.seats.iter().position(|seat| seat == name);
        let sides = self.report.standings.sides;
        let ranks = told.ranks.as_deref().unwrap_or_default();
        let of_sides = ranks.get(..sides).unwrap_or_default();
        let own = seat.and_then(|seat| ranks.get(seat));
        let has_others = told.seats.iter().any(|seat| seat != name);
        let Some(&own) = own.filter(|_| has_others && !of_sides.is_empty()) else { return text };
        let (best, worst) = (of_sides.iter().min(), of_sides.iter().max());
        let (class, word) = match (best == Some(&own), worst == Some(&own)) {
            (true, true) => ("draw", "draw"),
            (true, false) => ("win", "win"),
            (false, true) => ("loss", "loss"),
            (false, false) => ("draw", "middle"),
        };
        format!("<span class=\"{class}\">{word}</span> {text}")
    }

    /// The results against each opponent and with each partner.
    fn results(&self, details: &EntrantDetails, links: &Links<'_>) -> String {
        let against = Results {
            title: "Opponents",
            note: "points of matches; with three sides, the share of them between these two",
            cells: &details.cross,
        };
        let with = Results { title: "Partners", note: "points of matches", cells: &details.partners };
        let tables = [against, with].into_iter().filter_map(|Results { title, note, cells }| {
            let rows = cells.iter().zip(&self.report.details);
            let rows = rows.filter_map(|(&cell, other)| Some((cell?, other)));
            let rows: String = rows
                .map(|(cell, other)| {
                    format!(
                        "<tr><td class=\"text\">{}</td><td class=\"{}\">{}</td></tr>\n",
                        links.entrant(&other.name),
                        shade(cell),
                        met(Some(cell))
                    )
                })
                .collect();
            let table = format!("<div class=\"wide\"><table>\n<tbody>\n{rows}</tbody>\n</table></div>\n");
            (!rows.is_empty()).then(|| section(title, note, &table))
        });
        tables.collect()
    }

    fn faults_and_times(&self, details: &EntrantDetails, links: &Links<'_>) -> String {
        let mut sections = String::new();
        if !details.faults.is_empty() {
            let mut items = format!(
                "<p>{}; first in {}</p>\n",
                Escaped(&faults(&details.faults)),
                links.match_ids(&details.faulty)
            );
            for bot in details.team.iter().filter(|bot| !bot.faults.is_empty()) {
                let name = Escaped(&bot.name);
                items += &format!("<p>{name}: {}</p>\n", Escaped(&faults(&bot.faults)));
            }
            sections += &section("Faults", "", &items);
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
        sections + &section(grid.title, &grid.note, &table(&grid, links))
    }
}
