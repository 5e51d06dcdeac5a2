//! Tables for a terminal.

use comfy_table::CellAlignment;

use super::text::{self, Grid};
use super::{StandingsReport, TournamentReport};
use crate::table;

fn drawn(grid: Grid) -> String {
    let headings: Vec<&str> = grid.headings.iter().map(String::as_str).collect();
    let columns = headings.len();
    let mut table = table(&headings, grid.rows, 0..columns);
    for &column in grid.text {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    format!("{table}\n")
}

/// The standings and the advantage of the seats.
pub fn standings_table(report: &StandingsReport) -> String {
    let lines: String = text::standings_remarks(report).iter().map(|line| format!("{line}\n")).collect();
    format!(
        "{}: {}\n\n{}{lines}",
        report.name,
        text::subtitle(report),
        drawn(text::standings(report).with_display_names(report))
    )
}

pub fn tables(report: &TournamentReport) -> String {
    let mut out = format!("{}: {}\n", report.standings.name, text::subtitle(&report.standings));
    for grid in text::grids(report) {
        let grid = grid.with_display_names(&report.standings);
        let (title, note) = (grid.title, grid.note.clone());
        out += &format!("\n{title}\n{}({note})\n", drawn(grid));
        if title == "Rounds"
            && let Some(bracket) = report.bracket()
        {
            out += &format!("\nBracket\n{bracket}");
        }
    }
    out.push('\n');
    text::remarks(report).iter().for_each(|line| out += &format!("{line}\n"));
    out
}
