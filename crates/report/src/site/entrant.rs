//! The page of an entrant.

use maud::{Markup, html};
use referee_game::counted;
use referee_match::Faults;

use super::list::{pages, table as match_table};
use super::{
    Escaped, File, Links, ListedMatch, Section, Site, crumbs, facts, halves, plus_minus, results_bar,
};
use crate::page::ordinal;
use crate::tournament::{EntrantDetails, EntrantStanding, Grid, HeadToHead, table, time, time_use_of, wdl};
use crate::words::fault_in_words;

impl Site<'_> {
    /// The pages of an entrant, which differ in the matches that they list.
    pub(super) fn entrant(&self, standing: &EntrantStanding, details: &EntrantDetails) -> Vec<File> {
        let name = &details.name;
        let matches: Vec<&ListedMatch> =
            self.report.attempts.iter().filter(|listed| listed.seats.contains(name)).collect();
        let stem = format!("entrants/{}", details.number);
        let told = self.told(standing);
        let files = pages(&stem, &matches).map(|(path, matches, others)| {
            let page = self.page(format!("{}, {}", standing.shown(), self.name()), told.clone(), "../");
            let links = &page.links;
            let result = |listed: &ListedMatch| self.result_of(listed, name);
            let mut sections = self.encounters(details, links);
            sections.push(Section::new(
                "Matches",
                "",
                html! { (match_table(self, matches, links, result)) (others) },
            ));
            sections.extend(self.faults_and_times(details, links));
            let content = html! {
                (crumbs(&[
                    html! { a href="../index.html" { (Escaped(self.name())) } },
                    html! { (Escaped(name)) },
                ]))
                h1 { (Escaped(standing.shown())) }
                p class="lede" { (Escaped(&told)) }
                section class="card" aria-label="Figures" { (figures(standing, details)) }
                @for section in &sections { (section) }
            };
            (path, page.text(self.name(), &content))
        });
        files.collect()
    }

    /// An entrant in a sentence.
    fn told(&self, standing: &EntrantStanding) -> String {
        if self.report.standings.matches == 0 {
            return "No match has ended yet.".to_owned();
        }
        let results = standing.wdl();
        let faults = match standing.faulted {
            0 => "It made no fault.".to_owned(),
            count => format!("It made faults in {}.", counted(count, "match", "matches")),
        };
        let out = standing.out.map_or(String::new(), |round| format!(" It was eliminated in round {round}."));
        let Some(place) = standing.place.map(ordinal) else {
            return format!("It plays against each of the others: {results}. {faults}");
        };
        let ranked = self.report.standings.entrants.iter().filter(|other| other.place.is_some()).count();
        format!("{place} of {ranked}: {results}.{out} {faults}")
    }

    /// The result of a match as an entrant sees it.
    fn result_of(&self, listed: &ListedMatch, name: &str) -> Markup {
        let text = html! { (Escaped(&listed.result_on_page())) };
        let seat = listed.seats.iter().position(|seat| seat == name);
        let sides = self.report.standings.sides;
        let ranks = listed.ranks.as_deref().unwrap_or_default();
        let of_sides = ranks.get(..sides).unwrap_or_default();
        let own = seat.and_then(|seat| ranks.get(seat));
        let has_others = listed.seats.iter().any(|seat| seat != name);
        let Some(&own) = own.filter(|_| has_others && !of_sides.is_empty()) else { return text };
        let (best, worst) = (of_sides.iter().min(), of_sides.iter().max());
        let (letter, word) = match (best == Some(&own), worst == Some(&own)) {
            (true, true) => ("D", "drawn"),
            (true, false) => ("W", "won"),
            (false, true) => ("L", "lost"),
            (false, false) => ("D", "in the middle"),
        };
        html! {
            span class="form" { i class=(letter) role="img" aria-label=(word) { (letter) } }
            " " span class="muted small" { (text) }
        }
    }

    /// The results against each opponent and with each partner.
    fn encounters(&self, details: &EntrantDetails, links: &Links<'_>) -> Vec<Section> {
        let note = "Against expectation: points more or less than the strengths of all entrants predict. With three sides, \
                    points are shares of matches.";
        let against = ("Head to head", note, &details.cross);
        let with = ("Partners", "Points of the matches with this partner.", &details.partners);
        let sections = [against, with].into_iter().filter_map(|(title, note, cells)| {
            let rows = cells.iter().zip(&self.report.details);
            let rows: Vec<(&HeadToHead, &EntrantDetails)> =
                rows.filter_map(|(cell, other)| Some((cell.as_ref()?, other))).collect();
            let has_expectation = rows.iter().any(|(met, _)| met.expected.is_some());
            let table = html! {
                table class="cards no" {
                    thead {
                        tr {
                            th class="t" { (if has_expectation { "Opponent" } else { "Partner" }) }
                            th { "Points" }
                            th class="t" { "Results" }
                            th { "W / D / L" }
                            @if has_expectation { th { "Against expectation" } }
                            th class="t" { "Matches" }
                        }
                    }
                    tbody {
                        @for (met, other) in &rows {
                            tr id=[has_expectation.then(|| format!("with-{}", other.number))] {
                                td class="name" { (links.entrant(&other.name)) }
                                td class="lead num" {
                                    (halves(met.score)) " " span class="muted small" { "of " (halves(met.matches)) }
                                }
                                td class="bars" { (results_bar(met.wdl)) }
                                td class="num beside" { (wdl(met.wdl)) }
                                @if has_expectation { (against_expectation(met)) }
                                td class="t small" data-l="Matches" { (links.matches(&met.match_ids)) }
                            }
                        }
                    }
                }
            };
            (!rows.is_empty()).then(|| Section::new(title, note, table))
        });
        sections.collect()
    }

    fn faults_and_times(&self, details: &EntrantDetails, links: &Links<'_>) -> Vec<Section> {
        let mut sections = Vec::new();
        if !details.faults.is_empty() {
            let of = |name: Option<&str>, faults: &Faults, ids: &[String]| {
                html! {
                    @for (code, count) in faults.iter() {
                        li class="row" {
                            span class="grow" {
                                @if let Some(name) = name { (Escaped(name)) ": " }
                                b { (fault_in_words(code)) } ", " (counted(count, "time", "times"))
                            }
                            span class="small" { "first in " (links.matches(ids)) }
                        }
                    }
                }
            };
            let list = html! {
                ul class="lines" {
                    @if details.team.is_empty() { (of(None, &details.faults, &details.faulty)) }
                    @for bot in &details.team { (of(Some(&bot.name), &bot.faults, &bot.faulty)) }
                }
            };
            sections.push(Section::new("Faults", "", list));
        }
        if !details.team.is_empty() {
            let rows = details.team.iter().map(|bot| {
                let cells = time_use_of(&bot.time, &bot.faults, bot.cpu_ms);
                std::iter::once(bot.name.clone()).chain(cells).collect()
            });
            let grid = Grid {
                title: "Time use",
                headings: ["Bot", "p50", "p99", "max", "time-outs", "answers", "cpu"]
                    .map(str::to_owned)
                    .to_vec(),
                rows: rows.collect(),
                text: &[0],
                entrants: None,
                note: "Thinking time of an answer, without the referee's own lag.".to_owned(),
            };
            sections.push(Section::new(grid.title, &grid.note, table(&grid, links)));
        }
        sections
    }
}

/// Points more or less than expected, as a cell.
fn against_expectation(met: &HeadToHead) -> Markup {
    let more = met.score - met.expected.unwrap_or(met.score);
    let rounded = (10.0 * more).round() / 10.0;
    let (class, text) = match rounded {
        _ if rounded > 0.0 => ("num up", format!("+{rounded:.1}")),
        _ if rounded < 0.0 => ("num down", format!("−{:.1}", -rounded)),
        _ => ("num", "0.0".to_owned()),
    };
    html! { td class=(class) data-l="Against expectation" { (text) } }
}

/// The results and ratings of an entrant.
fn figures(standing: &EntrantStanding, details: &EntrantDetails) -> Markup {
    let with = |value: Markup, small: String| html! { (value) @if !small.is_empty() { small { (Escaped(&small)) } } };
    let by_fault = format!("{} by a fault", standing.by_fault);
    let team: Vec<&str> = details.team.iter().map(|bot| bot.name.as_str()).collect();
    let faults: Vec<String> =
        details.faults.iter().map(|(code, count)| format!("{count} {}", fault_in_words(code))).collect();
    let median = details.time.as_ref().map_or(String::new(), |used| time(used.p50_us));
    let longest = details
        .time
        .as_ref()
        .map_or(String::new(), |used| format!("99%: {}, longest {}", time(used.p99_us), time(used.max_us)));
    let awarded = if standing.awarded > 0.0 {
        format!("{} without play", halves(standing.awarded))
    } else {
        String::new()
    };
    facts(&[
        ("Points", with(html! { (halves(standing.points)) " of " (standing.possible) }, awarded)),
        ("Elo", plus_minus(standing.elo)),
        ("Decided by play", with(html! { (wdl(standing.by_play)) }, by_fault)),
        ("Faults", with(html! { (standing.faulted) }, faults.join(", "))),
        ("A move", with(html! { (median) }, longest)),
        ("Team", html! { (Escaped(&team.join(", "))) }),
    ])
}
