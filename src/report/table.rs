//! Tables and lines of results.

use std::time::Duration;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use referee_protocol::words::EndedBy;

use crate::referee::Faults;
use crate::server::{MatchReport, Summary};

/// A plain table: a line of headings, then the rows; the columns from `numbers` on are set to the right.
pub fn table(headings: &[&str], rows: Vec<Vec<String>>, numbers: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(headings).add_rows(rows);
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

pub(super) fn faults(faults: &Faults) -> String {
    let each: Vec<String> = faults.iter().map(|(code, count)| format!("{count} {code}")).collect();
    if each.is_empty() { "0".to_owned() } else { each.join(", ") }
}

/// The results of a run, a bot a row.
pub fn summary_table(summary: &Summary) -> Table {
    let rows = summary.bots.iter().map(|bot| {
        vec![
            bot.bot.clone(),
            bot.matches.to_string(),
            bot.wins.to_string(),
            bot.draws.to_string(),
            bot.losses.to_string(),
            bot.score.to_string(),
            format!("{:.2} s", Duration::from_millis(bot.cpu_ms).as_secs_f64()),
            faults(&bot.faults),
        ]
    });
    table(&["bot", "matches", "wins", "draws", "losses", "score", "cpu", "faults"], rows.collect(), 1..7)
}

/// The mirrored sets of a run, in one line.
pub fn sets_line(summary: &Summary) -> String {
    let of_bots = summary.bots.iter().filter_map(|bot| Some((&bot.bot, bot.sets?)));
    let each: Vec<String> = of_bots
        .map(|(name, sets)| format!("{name} won {}, drew {}, lost {}", sets.wins, sets.draws, sets.losses))
        .collect();
    format!("sets: {}", each.join("; "))
}

/// How a match ended, in one line.
pub fn result_line(report: &MatchReport) -> String {
    let winners: Vec<&str> = match &report.ranks {
        Some(ranks) if ranks.iter().any(|&rank| rank != 1) => report
            .seats
            .iter()
            .zip(ranks)
            .filter(|&(_, &rank)| rank == 1)
            .map(|(name, _)| name.as_str())
            .collect(),
        _ => Vec::new(),
    };
    let result = match (report.ended_by, winners.is_empty()) {
        (EndedBy::Aborted, _) => "aborted".to_owned(),
        (_, true) => "draw".to_owned(),
        (_, false) => format!("{} wins", winners.join(" and ")),
    };
    let mut why = report.ended_by.to_string();
    if report.reason != why {
        why = format!("{why}: {}", report.reason);
    }
    if let Some(fault) = &report.fault {
        let name = &report.seats[usize::from(fault.seat)];
        why = format!(
            "{why} of {name}{}",
            fault.detail.as_ref().map(|detail| format!(", {detail}")).unwrap_or_default()
        );
    }
    let time = Duration::from_micros(report.duration_us).as_secs_f64();
    format!("{}: {result} ({why}) after {} moves in {time:.3} s", report.id, report.decisions)
}
