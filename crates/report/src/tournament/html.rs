//! The report as HTML: one self-contained file, and the sections that the pages of a site share.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use referee_stats::Wdl;
use referee_stats::schedule::RankBy;
use referee_stats::standings::TieBreak;

use super::text::{self, Grid, sentence_case};
use super::{
    EntrantDetails, EntrantStanding, Escaped, HeadToHead, Links, PairReport, StandingsReport,
    TournamentReport,
};
use crate::page::{self, Scale, halves, interval_bar, lede, ordinal, plus_minus, results_bar};
use crate::words::mean_amount;

/// The maximum number of entrants with a cross table. It would be wider than any screen.
pub(crate) const CROSS: usize = 40;

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
}

impl Render for Section {
    fn render(&self) -> Markup {
        html! {
            section id=(self.id) aria-labelledby={ (self.id) "-title" } {
                div class="head" { h2 id={ (self.id) "-title" } { (Escaped(&self.title)) } }
                (self.content)
                @if !self.note.is_empty() {
                    p class="note" { (Escaped(&self.note)) }
                }
            }
        }
    }
}

/// A heading of a report in text as that of a page, but for abbreviations.
fn heading_on_page(heading: &str) -> String {
    if heading.len() > 3 { sentence_case(heading) } else { heading.to_owned() }
}

/// Figures with the signs of pages, and codes of faults as words.
fn cell_on_page(cell: &str) -> String {
    if cell == "-" {
        return "–".to_owned();
    }
    let text = cell.replace('_', " ").replace("[-", "[−").replace(" -", " −").replace(" us", " µs");
    text.strip_prefix('-').map(|figure| format!("−{figure}")).unwrap_or(text)
}

/// A time in a readable unit.
pub(crate) fn time(us: u64) -> String {
    cell_on_page(&text::time(us))
}

/// A table. On a phone a row becomes a card.
pub(crate) fn table(grid: &Grid, links: &Links<'_>) -> Markup {
    let name = grid.entrants.unwrap_or(0);
    let is_text = |column| grid.text.contains(&column);
    // The other text columns have names.
    let shown = |column: usize, cell: &str| match is_text(column) && grid.headings[column] != "faults" {
        true => cell.to_owned(),
        false => cell_on_page(cell),
    };
    html! {
        table class="cards no" {
            thead {
                tr {
                    @for (column, heading) in grid.headings.iter().enumerate() {
                        th class=[is_text(column).then_some("t")] { (Escaped(&heading_on_page(heading))) }
                    }
                }
            }
            tbody {
                @for cells in &grid.rows {
                    tr {
                        @for (column, cell) in cells.iter().enumerate() {
                            @if column == name {
                                td class="name" {
                                    @if grid.entrants.is_some() { (links.entrant(cell)) } @else { (Escaped(cell)) }
                                }
                            } @else {
                                td class=(if is_text(column) { "t" } else { "num" })
                                    data-l=(Escaped(&heading_on_page(&grid.headings[column]))) { (Escaped(&shown(column, cell))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn plain(grid: &Grid, links: &Links<'_>) -> Section {
    Section::new(grid.title, &grid.note, table(grid, links))
}

/// Wins, draws and losses in a cell: `12 / 2 / 0`.
pub(crate) fn wdl(Wdl { wins, draws, losses }: Wdl) -> String {
    format!("{wins} / {draws} / {losses}")
}

/// Remarks on an entrant, below its name.
fn remarks_on(standing: &EntrantStanding, details: &EntrantDetails) -> String {
    let mut remarks = Vec::new();
    if !details.team.is_empty() {
        let bots: Vec<&str> = details.team.iter().map(|bot| bot.name.as_str()).collect();
        remarks.push(bots.join(" + "));
    }
    if let Some(round) = standing.out {
        remarks.push(format!("out in round {round}"));
    }
    if standing.withdrawn.is_some() {
        remarks.push(format!("withdrawn, results {}", text::withdrawn(standing.withdrawn)));
    }
    if standing.awarded > 0.0 {
        remarks.push(format!("{} awarded without play", halves(standing.awarded)));
    }
    remarks.join(" · ")
}

/// The tie-breaks that order entrants with equal points.
fn tie_breaks(report: &TournamentReport) -> Vec<TieBreak> {
    let standings = &report.standings;
    let has_ties = standings.entrants.windows(2).any(|pair| pair[0].points == pair[1].points);
    let has_encounters = standings.entrants.iter().any(|entrant| entrant.direct_encounter.is_some());
    let is_shown = |kind: &TieBreak| match kind {
        TieBreak::DirectEncounter => has_encounters,
        TieBreak::Buchholz | TieBreak::SonnebornBerger => true,
        TieBreak::Wins => false,
    };
    let shown = standings.tie_breaks.iter().copied().filter(is_shown);
    if has_ties { shown.take(1).collect() } else { Vec::new() }
}

/// The standings of the entrants in a range, on the scale of these.
pub(crate) fn standings(
    report: &TournamentReport,
    links: &Links<'_>,
    shown: std::ops::Range<usize>,
) -> Section {
    let breaks = tie_breaks(report);
    let rows: Vec<_> = report.entrants().skip(shown.start).take(shown.len()).collect();
    let has_amounts = report.standings.entrants.iter().any(|standing| standing.amount.is_some());
    let unit = report.game.amounts.unwrap_or_default();
    let scale = Scale::of(rows.iter().map(|(standing, _)| standing.elo));
    let content = html! {
        table class="cards" id="rows" {
            thead {
                tr {
                    th { "#" }
                    th class="t" { "Entrant" }
                    th { "Points" }
                    th class="t" { "Results" }
                    th { "W / D / L" }
                    th class="t" { "95% interval" }
                    th { "Elo" }
                    @if has_amounts { th { (Escaped(unit)) " a match" } }
                    @for &kind in &breaks { th { (sentence_case(text::tie_break(kind))) } }
                    th { "Faults" }
                }
            }
            tbody {
                @for (standing, details) in rows {
                    tr {
                        td { (standing.place_shown()) }
                        td class="name" {
                            (links.entrant(&standing.name))
                            @let remarks = remarks_on(standing, details);
                            @if !remarks.is_empty() { small { (Escaped(&remarks)) } }
                        }
                        td class="lead num" {
                            (halves(standing.points)) " " span class="muted small" { "of " (standing.possible) }
                        }
                        td class="bars" { (results_bar(standing.wdl())) }
                        td class="num beside" { (wdl(standing.wdl())) }
                        td class="bar" { (interval_bar(standing.elo, scale)) }
                        td class="num beside" { (plus_minus(standing.elo)) }
                        @if has_amounts {
                            td class="num" data-l=(Escaped(unit)) {
                                @if let Some(amount) = standing.amount { (mean_amount(amount)) }
                            }
                        }
                        @for &kind in &breaks {
                            td class="num" data-l=(sentence_case(text::tie_break(kind))) { (text::tie_break_of(standing, kind)) }
                        }
                        td class="num" data-l="Faults" { @if standing.faulted > 0 { (standing.faulted) } }
                    }
                }
            }
        }
    };
    let mut note = Vec::new();
    let rank_by = report.standings.rank_by;
    match rank_by {
        RankBy::Share => note.push("The points in relation to the matches order the entrants.".to_owned()),
        RankBy::Race => {
            note.push("The race orders the entrants, which play different numbers of matches.".to_owned());
        }
        RankBy::Points | RankBy::Amounts => {}
    }
    if has_amounts {
        let order = if rank_by == RankBy::Amounts { ", and orders the entrants" } else { "" };
        note.push(format!("The amount is the mean with its 95% interval{order}."));
    }
    if let Some(&kind) = breaks.first() {
        let order = match kind {
            TieBreak::DirectEncounter => "the score against the others with equal points",
            TieBreak::Buchholz => "Buchholz, the points of the opponents",
            TieBreak::SonnebornBerger => "Sonneborn-Berger, the points of beaten opponents",
            TieBreak::Wins => "matches won by play",
        };
        let equal = if rank_by == RankBy::Share { "Equal shares" } else { "Equal points" };
        note.push(format!("{equal} are ordered by {order}."));
    }
    note.push(
        "Elo is relative to the mean of the field. Dots are estimates, bars 95% intervals: entrants whose bars overlap may be \
         equally strong. Faults: matches with a fault."
            .to_owned(),
    );
    Section::new("Standings", &note.join(" "), content)
}

/// The class and the letter of a result: won, drawn or lost.
pub(crate) fn letter(met: &HeadToHead) -> &'static str {
    match met.score.total_cmp(&(met.matches / 2.0)) {
        std::cmp::Ordering::Greater => "W",
        std::cmp::Ordering::Equal => "D",
        std::cmp::Ordering::Less => "L",
    }
}

/// A table with a row and a column per entrant. A cell leads to its match, or to the matches of the two.
fn square(
    report: &TournamentReport,
    title: &str,
    note: &str,
    links: &Links<'_>,
    met: impl Fn(usize, usize) -> Option<HeadToHead>,
) -> Section {
    let entrants: Vec<&EntrantDetails> = report.details.iter().collect();
    let cell = |row: usize, column: usize| {
        let (of, other) = (entrants[row], entrants[column]);
        let Some(met) = met(row, column) else { return html! { span class="self" { "·" } } };
        let label =
            format!("{} {} of {} against {}", of.name, halves(met.score), halves(met.matches), other.name);
        let (class, score) = (letter(&met), halves(met.score));
        html! {
            @match links.encounter(of.number, other.number, &met) {
                Some(href) => { a class=(class) href=(href) aria-label=(Escaped(&label)) { (score) } }
                None => { span class=(class) { (score) } }
            }
        }
    };
    let content = html! {
        div class="scroll" tabindex="0" role="group" aria-label=(title) {
            table class="cross" {
                thead {
                    tr {
                        th class="name" { "Entrant" }
                        @for (column, details) in entrants.iter().enumerate() {
                            th { abbr title=(Escaped(&details.name)) { (column + 1) } }
                        }
                        th { "Points" }
                    }
                }
                tbody {
                    @for (row, (standing, details)) in report.entrants().enumerate() {
                        tr {
                            th class="name" scope="row" { (row + 1) ". " (links.entrant(&details.name)) }
                            @for column in 0..entrants.len() { td { (cell(row, column)) } }
                            td { span { (halves(standing.points)) } }
                        }
                    }
                }
            }
        }
    };
    Section::new(title, note, content)
}

/// The entrant of a pair, or the text in its place.
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
    let won = |pair: &PairReport, place: usize| {
        (pair.winner.is_some() && pair.winner == pair.entrants[place]).then_some("won")
    };
    let content = html! {
        div class="scroll" tabindex="0" role="group" aria-label="Bracket" {
            div class="bracket stack" {
                @for round in &report.rounds {
                    div class="stage" {
                        h3 { (round.title) }
                        ol {
                            @for pair in &round.pairs {
                                li {
                                    div class="pair" {
                                        @for place in 0..2 {
                                            p class=[won(pair, place)] {
                                                span { (of_pair(pair, place, links)) }
                                                span { (pair.in_halves(place)) }
                                            }
                                        }
                                        @if !pair.matches.is_empty() {
                                            p class="more" { span { (links.matches(&pair.matches)) } }
                                        }
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

/// The rounds of a Swiss tournament, the last one open.
fn rounds(report: &TournamentReport, links: &Links<'_>) -> Section {
    let last = report.rounds.len();
    let is_ahead = |pair: &PairReport, place: usize| pair.points[place] > pair.points[1 - place];
    let content = html! {
        @for (at, round) in report.rounds.iter().enumerate() {
            details open[at + 1 == last] {
                summary { (round.title) }
                ul class="lines" {
                    @for pair in &round.pairs {
                        li class="row" {
                            span class="grow" {
                                @for place in 0..2 {
                                    @if place > 0 { " – " }
                                    @if is_ahead(pair, place) {
                                        b { (of_pair(pair, place, links)) }
                                    } @else {
                                        (of_pair(pair, place, links))
                                    }
                                }
                            }
                            @if !pair.matches.is_empty() {
                                span class="num" { b { (pair.in_halves(0)) " : " (pair.in_halves(1)) } }
                                span class="small" { (links.matches(&pair.matches)) }
                            }
                        }
                    }
                }
            }
        }
    };
    let note = "Points of the matches that the pair played against each other in this round.";
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

/// The cross table, the table of partners, and the bracket or the rounds.
pub(crate) fn encounters(report: &TournamentReport, links: &Links<'_>) -> Vec<Section> {
    let mut sections = Vec::new();
    if report.is_knockout() {
        sections.push(bracket(report, links));
    }
    if report.details.len() <= CROSS {
        let note = "Points against the entrant of that column; a cell leads to the matches. Green: won, grey: even, red: \
                    lost.";
        let met = |row: usize, column: usize| report.details[row].cross[column].clone();
        sections.push(square(report, "Cross table", note, links, met));
        if report.details.iter().any(|details| !details.partners.is_empty()) {
            let note = "Points with the entrant of that column as the partner.";
            let met = |row: usize, column: usize| report.details[row].partners.get(column).cloned().flatten();
            sections.push(square(report, "Partners", note, links, met));
        }
    }
    if !report.rounds.is_empty() && !report.is_knockout() {
        sections.push(rounds(report, links));
    }
    sections
}

/// Ratings, faults and time use.
pub(crate) fn figures(report: &TournamentReport, links: &Links<'_>) -> Vec<Section> {
    let mut sections = vec![plain(&text::ratings(report), links).with_id("ratings")];
    sections.extend(text::recall(report).map(|grid| plain(&grid, links)));
    sections.push(faults(report, links));
    sections.extend(text::reported(report).iter().chain(&text::said(report)).map(|grid| plain(grid, links)));
    sections.push(plain(&text::time_use(report), links).with_id("time"));
    sections
}

/// The conditions of the tournament, with remarks.
pub(crate) fn notes(report: &TournamentReport) -> Vec<Section> {
    let standings = &report.standings;
    let mut facts: Vec<(&str, Markup)> = vec![("Matches", html! { (standings.matches) })];
    for row in text::conditions(report).rows {
        let [label, value] = &row[..] else { continue };
        let label = match &**label {
            "options" => "Options",
            "deals" => "Deals",
            "openings" => "Openings",
            "clock" => "Clock",
            "on fault" => "On a fault",
            "sandbox" => "Sandbox",
            "seed" => "Seed",
            _ => continue,
        };
        facts.push((label, html! { (Escaped(value)) }));
    }
    for (side, &advantage) in
        standings.advantage.iter().enumerate().filter(|(_, advantage)| advantage.is_known())
    {
        let label = if side == 0 { "First move" } else { "Second side" };
        let is_clear = advantage.low > 0.0 || advantage.high < 0.0;
        let small = if is_clear { "Elo" } else { "Elo; no clear advantage" };
        facts.push((label, html! { (plus_minus(advantage)) small { (small) } }));
    }
    let faulted: u32 = standings.entrants.iter().map(|standing| standing.faulted).sum();
    facts.push(("Matches with a fault", html! { (faulted) }));
    if let Some(lag) = &report.lag {
        let longest = format!("99% of answers; longest {}", time(lag.max_us));
        facts.push(("Lag of the referee", html! { (time(lag.p99_us)) small { (longest) } }));
    }
    let about = Section::new(
        "About",
        "The record of each match contains the conditions under which it was played.",
        page::facts(&facts),
    );
    let remarks: Vec<String> = text::page_remarks(report).iter().map(|line| text::sentence(line)).collect();
    if remarks.is_empty() {
        return vec![about];
    }
    let list = html! { ul class="lines" { @for line in &remarks { li { (Escaped(line)) } } } };
    vec![about, Section::new("Remarks", "", list)]
}

/// The status line above the heading: what is played, and when.
pub(crate) fn status(report: &TournamentReport) -> String {
    let conditions = &report.conditions;
    let dates = match (&conditions.began_at, &conditions.ended_at) {
        (Some(began), Some(ended)) if began[..10] == ended[..10] => began[..10].to_owned(),
        (Some(began), Some(ended)) => format!("{} to {}", &began[..10], &ended[..10]),
        _ => String::new(),
    };
    let entrants = referee_game::counted(report.details.len(), "entrant", "entrants");
    let parts = [report.game.title.to_owned(), conditions.format.clone(), entrants, dates];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The status line, the heading, why, and the first three.
pub(crate) fn opening(report: &TournamentReport, links: &Links<'_>) -> Markup {
    let story = &report.standings.story;
    html! {
        p class="eyebrow" { (Escaped(&status(report))) }
        h1 { (Escaped(&story.heading)) }
        (lede(story, |id, text| links.to_match(id, text)))
        @if report.standings.matches > 0 { (podium(report, links)) }
    }
}

/// The first three with their points.
fn podium(report: &TournamentReport, links: &Links<'_>) -> Markup {
    let is_over = report.unfinished_at_most == 0;
    let StandingsReport { entrants, race, .. } = &report.standings;
    // The entrant that a gauntlet is about has no place.
    let hero = entrants.iter().find(|standing| standing.place.is_none());
    let place = |standing: &EntrantStanding| match (standing.place, hero, race) {
        (Some(1), Some(hero), _) if is_over => format!("Best against {}", hero.shown()),
        (Some(1), _, Some(race)) if race.pick.is_some() => "Pick".to_owned(),
        (Some(1), None, None) if is_over => "Winner".to_owned(),
        (place, ..) => place.map(ordinal).unwrap_or_default(),
    };
    html! {
        ol class="podium" {
            @for (standing, details) in report.entrants().filter(|(standing, _)| standing.place.is_some()).take(3) {
                li class=[(standing.place == Some(1)).then_some("first")] {
                    span class="place" { (Escaped(&place(standing))) }
                    span class="name plain" { (links.entrant(&standing.name)) }
                    @let remarks = remarks_on(standing, details);
                    @if !remarks.is_empty() { span class="muted small" { (Escaped(&remarks)) } }
                    p class="figure" {
                        b { (halves(standing.points)) }
                        span class="muted" { "of " (standing.possible) " points" }
                    }
                    (results_bar(standing.wdl()))
                    p class="small muted" { (standing.wdl()) }
                }
            }
        }
    }
}

pub fn html(report: &TournamentReport) -> String {
    let links = Links::none(report);
    let mut sections = vec![standings(report, &links, 0..report.details.len())];
    sections.extend(encounters(report, &links));
    sections.extend(figures(report, &links));
    sections.push(plain(&text::matches(report, LISTED), &links));
    sections.extend(notes(report));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (Escaped(&report.standings.name)) }
                style { (PreEscaped(page::style())) }
            }
            body {
                header class="top" { div class="wrap" { span class="brand" { (Escaped(&report.standings.name)) } } }
                main class="wrap" {
                    (opening(report, &links))
                    @for section in &sections { (section) }
                }
                (footer())
            }
        }
    };
    page.into_string()
}

pub(crate) fn footer() -> Markup {
    html! {
        footer {
            div class="wrap" {
                span { "Every result can be verified from its record." }
                span { "Times are UTC" }
                span { (referee_match::SERVER) }
            }
        }
    }
}
