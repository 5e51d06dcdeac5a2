//! The report as HTML: one self-contained file, and the sections that the pages of a site share.

use super::text::{self, Grid};
use super::{Escaped, Links, Met, TournamentReport, plot};

/// The style sheet of reports and sites.
pub(in crate::report) const STYLE: &str = include_str!("report.css");

/// A section with a title and a note.
pub(in crate::report) fn section(title: &str, note: &str, content: &str) -> String {
    let id = title.split(' ').next().unwrap_or_default().to_lowercase();
    let note =
        if note.is_empty() { String::new() } else { format!("<p class=\"note\">{}</p>\n", Escaped(note)) };
    format!("<section id=\"{}\">\n<h2>{}</h2>\n{content}{note}</section>\n", Escaped(&id), Escaped(title))
}

/// A table; `class` may add a class to a cell, given its row and column.
fn table_with(grid: &Grid, links: &Links<'_>, class: impl Fn(usize, usize) -> Option<String>) -> String {
    let text = |column| if grid.text.contains(&column) { " class=\"text\"" } else { "" };
    let mut out = "<div class=\"wide\"><table>\n".to_owned();
    if grid.headings.iter().any(|heading| !heading.is_empty()) {
        out += "<thead><tr>";
        for (column, heading) in grid.headings.iter().enumerate() {
            out += &format!("<th{}>{}</th>", text(column), Escaped(heading));
        }
        out += "</tr></thead>\n";
    }
    out += "<tbody>\n";
    for (row, cells) in grid.rows.iter().enumerate() {
        out += "<tr>";
        for (column, cell) in cells.iter().enumerate() {
            let is_name = grid.entrants == Some(column);
            let class = match class(row, column) {
                Some(class) => format!(" class=\"{class}\""),
                None if is_name => " class=\"text name\"".to_owned(),
                None => text(column).to_owned(),
            };
            let cell = if is_name { links.entrant(cell) } else { Escaped(cell).to_string() };
            out += &format!("<td{class}>{cell}</td>");
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table></div>\n"
}

/// A table.
pub(in crate::report) fn table(grid: &Grid, links: &Links<'_>) -> String {
    table_with(grid, links, |_, _| None)
}

fn plain(grid: &Grid, links: &Links<'_>) -> String {
    section(grid.title, &grid.note, &table(grid, links))
}

/// A table with a row and a column per entrant, shaded by score.
fn square(grid: &Grid, links: &Links<'_>, met: impl Fn(usize, usize) -> Option<Met>) -> String {
    let class = |row: usize, column: usize| Some(shade(met(row, column.checked_sub(2)?)?));
    section(grid.title, &grid.note, &table_with(grid, links, class))
}

/// The class of a cell by its score, in tenths.
pub(in crate::report) fn shade(met: Met) -> String {
    format!("share-{:.0}", met.score / met.matches * 10.0)
}

/// The bracket of a knockout, one column per round.
fn bracket(report: &TournamentReport, links: &Links<'_>) -> String {
    let mut out = "<div class=\"wide\"><div class=\"bracket\">\n".to_owned();
    let last = report.rounds.len();
    for round in &report.rounds {
        let title = match last - round.round as usize {
            0 => "Final".to_owned(),
            1 => "Semi-finals".to_owned(),
            2 => "Quarter-finals".to_owned(),
            _ => format!("Round {}", round.round),
        };
        out += &format!("<div class=\"round\"><h3>{title}</h3>\n<div class=\"pairs\">\n");
        for pair in &round.pairs {
            out += "<div class=\"pair\">";
            for place in 0..2 {
                let is_winner = pair.winner.is_some() && pair.winner == pair.entrants[place];
                let class = if is_winner { " class=\"won\"" } else { "" };
                let name = match &pair.entrants[place] {
                    Some(name) => links.entrant(name),
                    None => format!("<i>{}</i>", pair.name(place)),
                };
                out += &format!("<div{class}><span>{name}</span><span>{}</span></div>", pair.score(place));
            }
            if !pair.matches.is_empty() {
                out += &format!("<p>{}</p>", links.match_ids(&pair.matches));
            }
            out += "</div>\n";
        }
        out += "</div></div>\n";
    }
    section("Bracket", "", &(out + "</div></div>\n"))
}

/// The rounds of a Swiss tournament.
fn rounds(report: &TournamentReport, links: &Links<'_>) -> String {
    let mut out = "<div class=\"wide\"><table>\n".to_owned();
    for round in &report.rounds {
        out += "<tbody>\n";
        for (at, pair) in round.pairs.iter().enumerate() {
            let heading = match at {
                0 => format!("<th rowspan=\"{}\">Round {}</th>", round.pairs.len(), round.round),
                _ => String::new(),
            };
            let name = |place: usize| match &pair.entrants[place] {
                Some(name) => links.entrant(name),
                None => format!("<i>{}</i>", pair.name(place)),
            };
            let score = match pair.matches.is_empty() {
                true => String::new(),
                false => format!("{} – {}", pair.score(0), pair.score(1)),
            };
            out += &format!(
                "<tr>{heading}<td class=\"text\">{}</td><td>{score}</td><td class=\"text\">{}</td>\
                 <td class=\"text\">{}</td></tr>\n",
                name(0),
                name(1),
                links.match_ids(&pair.matches)
            );
        }
        out += "</tbody>\n";
    }
    let note = "points of the matches that the pair played against each other in this round";
    section("Rounds", note, &(out + "</table></div>\n"))
}

/// The maximum number of matches in a self-contained file.
const LISTED: usize = 5000;

/// The faults and interruptions of each entrant, if there were any.
fn faults(report: &TournamentReport, links: &Links<'_>) -> String {
    let grid = text::fault_counts(report);
    let is_clean =
        report.details.iter().all(|details| details.faults.is_empty() && details.interruptions == 0);
    match is_clean {
        true => section(grid.title, "", "<p>No entrant made a fault, and no match was interrupted.</p>\n"),
        false => plain(&grid, links),
    }
}

/// The sections from the standings to the time use.
pub(in crate::report) fn sections(report: &TournamentReport, links: &Links<'_>) -> String {
    let mut out = plain(&text::standings(&report.standings), links);
    if report.is_knockout() {
        out += &bracket(report, links);
    }
    let cross = text::cross(report);
    out += &square(&cross, links, |row, column| report.details[row].cross[column]);
    if let Some(partners) = text::partners(report) {
        out += &square(&partners, links, |row, column| report.details[row].partners[column]);
    }
    if !report.rounds.is_empty() && !report.is_knockout() {
        out += &rounds(report, links);
    }
    let ratings = text::ratings(report);
    let content =
        format!("<div class=\"wide\">{}</div>\n", plot::plot(&report.standings)) + &table(&ratings, links);
    out += &section(ratings.title, &ratings.note, &content);
    out += &faults(report, links);
    out + &plain(&text::time_use(report), links)
}

/// The conditions and the remarks.
pub(in crate::report) fn notes(report: &TournamentReport) -> String {
    let mut out = plain(&text::conditions(report), &Links::none());
    let remarks = text::remarks(report);
    if !remarks.is_empty() {
        let items: String = remarks.iter().map(|line| format!("<li>{}</li>\n", Escaped(line))).collect();
        out += &section("Remarks", "", &format!("<ul>\n{items}</ul>\n"));
    }
    out
}

/// The full report.
pub fn html(report: &TournamentReport) -> String {
    let (name, links) = (Escaped(&report.standings.name), Links::none());
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{name}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{name}</h1>\n<p>{}</p>\n</header>\n<main>\n",
        Escaped(&text::subtitle(&report.standings))
    );
    out += &sections(report, &links);
    out += &plain(&text::matches(report, LISTED), &links);
    out += &notes(report);
    out + &format!("</main>\n<footer>{}</footer>\n</body>\n</html>\n", crate::SERVER)
}
