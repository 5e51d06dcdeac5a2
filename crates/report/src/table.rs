//! Tables and lines of results.

use std::time::Duration;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use referee_game::printable::printable_lines;
use referee_game::{Meta, counted};
use referee_match::{Ending, Faults};
use referee_protocol::words::EndedBy;
use referee_results::FinishedMatch;
use referee_stats::Cause;

use crate::answers::{ReportedTable, reported_tables};
use crate::interval::{interval, origin};
use crate::summary::RunSummary;
use crate::words::{amounts_in_words, ending_in_words, mean_amount};

/// A plain table with control characters escaped: a line of headings, then the rows. The columns from `numbers` on
/// are right-aligned.
pub fn table(headings: &[&str], rows: Vec<Vec<String>>, numbers: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    let rows = rows.iter().map(|row| row.iter().map(|cell| printable_lines(cell).into_owned()));
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

/// The results of a run, one row per bot.
pub fn summary_table(summary: &RunSummary) -> Table {
    let mut headings = ["bot", "matches", "wins", "draws", "losses", "score", "cpu", "faults"].to_vec();
    let of_amounts = summary.amounts.map(|unit| format!("{unit} a match [95%]"));
    headings.splice(6..6, of_amounts.as_deref());
    let rows = summary.bots.iter().map(|bot| {
        let mut row = vec![
            bot.bot.clone(),
            bot.matches.to_string(),
            bot.wdl.wins.to_string(),
            bot.wdl.draws.to_string(),
            bot.wdl.losses.to_string(),
            bot.score.to_string(),
            format!("{:.2} s", Duration::from_millis(bot.cpu_ms).as_secs_f64()),
            faults(&bot.faults),
        ];
        row.splice(6..6, of_amounts.as_ref().map(|_| bot.amount.map_or_else(String::new, mean_amount)));
        row
    });
    table(&headings, rows.collect(), 1..headings.len() - 1)
}

/// The answers and the usage that bots reported in `info`; none if none did.
pub fn answers_tables(summary: &RunSummary) -> Vec<Table> {
    let reported = summary.bots.iter().filter(|bot| !bot.totals.is_empty());
    let tables = reported_tables("bot", reported.map(|bot| (&*bot.bot, &bot.faults, &bot.totals)));
    // The last column of the first one has words.
    let numbers = |table: &ReportedTable| 1..table.headings.len() - usize::from(table.title == "Answers");
    tables.into_iter().map(|of| table(&of.headings, of.rows.clone(), numbers(&of))).collect()
}

/// The mirrored sets of a run, in one line.
pub fn sets_line(summary: &RunSummary) -> String {
    let of_bots = summary.bots.iter().filter_map(|bot| Some((&bot.bot, bot.sets?)));
    let each: Vec<String> = of_bots
        .map(|(name, sets)| format!("{name} won {}, drew {}, lost {}", sets.wins, sets.draws, sets.losses))
        .collect();
    format!("sets: {}", each.join("; "))
}

/// The difference in strength of two bots; `None` for more bots.
pub fn difference_lines(summary: &RunSummary) -> Option<String> {
    let difference = summary.difference.as_ref()?;
    let [one, other] = &summary.bots[..] else { return None };
    let sets = if one.sets.is_some() { "sets" } else { "matches" };
    let text = match (difference.elo, difference.superiority) {
        (Some(elo), Some(superiority)) => format!(
            "Elo of {} against {}: {} at 95%, likelihood of superiority {:.1}%, {}",
            one.bot,
            other.bot,
            interval(elo, 1),
            100.0 * superiority,
            origin(difference.distinct_sets, difference.openings)
        ),
        _ if difference.copies > 0 => {
            format!("Elo: unknown from copies of one of the {sets}; more openings would tell more")
        }
        _ => format!("Elo: unknown from fewer than 2 {sets}"),
    };
    let like_these = difference.elo_of_openings_like_these;
    let like_these =
        like_these.map(|elo| format!("\nElo on openings like these: {} at 95%", interval(elo, 1)));
    let copies = (difference.copies > 0).then(|| {
        let copies = counted(difference.copies, "copy of another does", "copies of others do");
        format!("\n{copies} not count: the bots are deterministic")
    });
    let text = [text, like_these.unwrap_or_default(), copies.unwrap_or_default()].concat();
    let counts: Vec<String> = difference.counts.iter().map(u64::to_string).collect();
    Some(if one.sets.is_some() { format!("{text}\nsets by score: {}", counts.join(", ")) } else { text })
}

/// Describes the result of a match in one line.
pub fn result_line(finished: &FinishedMatch, game: &Meta) -> String {
    let Ending { ended_by, reason, ranks, amounts, fault, .. } = &finished.ending;
    let winners: Vec<&str> = match ranks {
        Some(ranks) if ranks.iter().any(|&rank| rank != 1) => finished
            .seats
            .iter()
            .zip(ranks)
            .filter(|&(_, &rank)| rank == 1)
            .map(|(name, _)| name.as_str())
            .collect(),
        _ => Vec::new(),
    };
    let result = match (ended_by, winners.is_empty()) {
        (EndedBy::Aborted, _) if finished.is_void => "void".to_owned(),
        (EndedBy::Aborted, _) => "aborted".to_owned(),
        (_, true) => "draw".to_owned(),
        (_, false) => {
            let verb = if winners.len() == 1 { "wins" } else { "win" };
            format!("{} {verb}", winners.join(" and "))
        }
    };
    let cause = finished.cause.filter(|&cause| cause != Cause::Interrupted).map(Cause::as_str);
    let reason = cause.unwrap_or(reason);
    let mut why = ending_in_words(Some(game), ended_by.as_str(), reason);
    if let Some(fault) = fault {
        let name = &finished.seats[fault.seat.index()];
        let detail = fault.detail.as_ref().map(|detail| format!(", {detail}")).unwrap_or_default();
        why = format!("{name}: {why}{detail}");
    }
    let why = if why == result { String::new() } else { format!(" ({why})") };
    let when = match finished.decisions {
        // The time since the match was opened is meaningless then: it may include waiting for bots.
        0 => "before the first move".to_owned(),
        moves => {
            let time = Duration::from_micros(finished.duration_us).as_secs_f64();
            format!("after {} in {time:.3} s", counted(moves, "move", "moves"))
        }
    };
    let amounts = amounts.as_deref().map_or_else(String::new, |amounts| {
        format!(" with {}", amounts_in_words(amounts, game.amounts.unwrap_or_default()))
    });
    format!("{}: {result}{amounts}{why} {when}", finished.id)
}
