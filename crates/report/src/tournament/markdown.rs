//! GitHub-flavoured Markdown.

use super::TournamentReport;
use super::text;
use crate::github::escaped;

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// The full report, as a job summary.
pub fn markdown(report: &TournamentReport) -> String {
    let standings = &report.standings;
    let mut out = format!("## {}\n\n{}\n", escaped(&standings.name), escaped(&text::subtitle(standings)));
    for grid in text::grids(report) {
        let grid = grid.with_display_names(standings);
        out += &format!("\n### {}\n\n", grid.title);
        out += &row(grid.headings.iter().map(|heading| escaped(heading)));
        let align = |column| if grid.text.contains(&column) { "---" } else { "---:" };
        out += &row((0..grid.headings.len()).map(|column| align(column).to_owned()));
        for cells in &grid.rows {
            out += &row(cells.iter().map(|cell| escaped(cell)));
        }
        out += &format!("\n<sub>{}</sub>\n", escaped(&grid.note));
        if grid.title == "Rounds"
            && let Some(bracket) = report.bracket()
        {
            let lines = bracket.lines().map(|line| format!("    {line}\n"));
            out += &format!("\n### Bracket\n\n{}", lines.collect::<String>());
        }
    }
    let remarks = text::remarks(report);
    if !remarks.is_empty() {
        out.push('\n');
        remarks.iter().for_each(|line| out += &format!("- {}\n", escaped(line)));
    }
    out
}
