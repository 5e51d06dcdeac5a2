//! A self-contained HTML file.

use std::fmt;

use super::text::{self, Grid};
use super::{Met, TournamentReport, plot};
use crate::core::printable::is_active;

/// Text that is escaped for HTML elements and attributes.
pub(in crate::report) struct Escaped<'a>(pub(in crate::report) &'a str);

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

const STYLE: &str = include_str!("report.css");

fn section(title: &str, note: &str, content: &str) -> String {
    let note =
        if note.is_empty() { String::new() } else { format!("<p class=\"note\">{}</p>\n", Escaped(note)) };
    format!("<section>\n<h2>{}</h2>\n{content}{note}</section>\n", Escaped(title))
}

/// A table; `style` may add a style to a cell, given its row and column.
fn table(grid: &Grid, style: impl Fn(usize, usize) -> Option<String>) -> String {
    linked_table(grid, style, |_| None)
}

/// A table in which the first cell of a row may be a link; `link` returns its address.
fn linked_table(
    grid: &Grid,
    style: impl Fn(usize, usize) -> Option<String>,
    link: impl Fn(&str) -> Option<String>,
) -> String {
    let class = |column| if grid.text.contains(&column) { " class=\"text\"" } else { "" };
    let mut out = "<div class=\"wide\"><table>\n<thead><tr>".to_owned();
    for (column, heading) in grid.headings.iter().enumerate() {
        out += &format!("<th{}>{}</th>", class(column), Escaped(heading));
    }
    out += "</tr></thead>\n<tbody>\n";
    for (row, cells) in grid.rows.iter().enumerate() {
        out += "<tr>";
        for (column, cell) in cells.iter().enumerate() {
            let style = style(row, column).map(|style| format!(" style=\"{style}\"")).unwrap_or_default();
            let text = match link(cell).filter(|_| column == 0) {
                Some(address) => format!("<a href=\"{}\">{}</a>", Escaped(&address), Escaped(cell)),
                None => Escaped(cell).to_string(),
            };
            out += &format!("<td{}{style}>{text}</td>", class(column));
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table></div>\n"
}

fn plain(grid: &Grid) -> String {
    section(grid.title, &grid.note, &table(grid, |_, _| None))
}

/// The bracket of a knockout, one column per round.
fn bracket(report: &TournamentReport) -> String {
    let mut out = "<div class=\"wide\"><div class=\"bracket\">\n".to_owned();
    for round in &report.rounds {
        out += &format!("<div class=\"round\"><h3>Round {}</h3>\n<div class=\"pairs\">\n", round.round);
        for pair in &round.pairs {
            out += "<div class=\"pair\">";
            for place in 0..2 {
                let is_winner = pair.winner.is_some() && pair.winner == pair.entrants[place];
                let class = if is_winner { " class=\"won\"" } else { "" };
                let (name, score) = (Escaped(pair.name(place)), pair.score(place));
                out += &format!("<div{class}><span>{name}</span><span>{score}</span></div>");
            }
            out += "</div>\n";
        }
        out += "</div></div>\n";
    }
    section("Bracket", "", &(out + "</div></div>\n"))
}

/// The maximum number of matches on the page.
const LISTED: usize = 5000;

/// The colour of a cell of the cross table: stronger for higher scores.
fn shade(met: Met) -> String {
    format!("--share:{:.0}%", met.score / met.matches * 100.0)
}

/// The full report. `page_of` returns the address of the page of a match, by its id, if it has one.
pub fn html(report: &TournamentReport, page_of: impl Fn(&str) -> Option<String>) -> String {
    let name = Escaped(&report.standings.name);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{name}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{name}</h1>\n<p>{}</p>\n</header>\n<main>\n",
        Escaped(&text::subtitle(&report.standings))
    );
    out += &plain(&text::standings(&report.standings));
    let ratings = text::ratings(report);
    let content = plot::plot(&report.standings) + &table(&ratings, |_, _| None);
    out += &section(ratings.title, &ratings.note, &content);
    let cross = text::cross(report);
    let style = |row: usize, column: usize| Some(shade(report.details[row].cross[column.checked_sub(2)?]?));
    out += &section(cross.title, &cross.note, &table(&cross, style));
    if report.is_knockout() {
        out += &bracket(report);
    }
    if let Some(rounds) = text::rounds(report) {
        out += &plain(&rounds);
    }
    out += &plain(&text::fault_counts(report));
    out += &plain(&text::time_use(report));
    let matches = text::matches(report, LISTED);
    out += &section(matches.title, &matches.note, &linked_table(&matches, |_, _| None, page_of));
    let remarks = text::remarks(report);
    if !remarks.is_empty() {
        let items: String = remarks.iter().map(|line| format!("<li>{}</li>\n", Escaped(line))).collect();
        out += &section("Remarks", "", &format!("<ul>\n{items}</ul>\n"));
    }
    out + &format!("</main>\n<footer>{}</footer>\n</body>\n</html>\n", crate::SERVER)
}
