//! Tables of bots' `info`: the answers of a language model, and what they cost.

use std::time::Duration;

use referee_match::{Faults, InfoTotals};
use referee_protocol::words::FaultCode;
use serde::Serialize;

/// The headings of [`answers`].
const ANSWERS: [&str; 8] =
    ["named", "no legal move", "outages", "refused", "truncated", "empty", "no move", "named by"];
const ANSWERS_NOTE: &str = "named: moves that an answer of the model names, and by which rule; no legal move: \
     faults; refused, truncated, empty, no move: answers that were asked again";

/// The headings of [`usage`].
const USAGE: [&str; 7] =
    ["requests", "from the cache", "tokens in", "of them cached", "tokens out", "cost", "waited"];
const USAGE_NOTE: &str =
    "as the bots report it, over all attempts at matches; cost in US dollars, of known prices only";

/// The rules by which an answer names a move.
const RULES: [&str; 6] = ["exact", "case", "decoration", "notation", "last_named", "unlisted"];

fn named(totals: &InfoTotals) -> impl Iterator<Item = (&'static str, f64)> {
    RULES.into_iter().map(|rule| (rule, totals.of(&format!("resolved_{rule}"))))
}

/// The forms in which its answers named moves, and the other answers.
fn answers(faults: &Faults, totals: &InfoTotals) -> Vec<String> {
    let count = |name: &str| totals.of(name).to_string();
    let rules = named(totals).filter(|&(_, sum)| sum > 0.0);
    let rules: Vec<String> = rules.map(|(rule, sum)| format!("{sum} {}", rule.replace('_', " "))).collect();
    vec![
        named(totals).map(|(_, sum)| sum).sum::<f64>().to_string(),
        faults.of(FaultCode::NoLegalMove).to_string(),
        count("outages"),
        count("rejected_refused"),
        count("rejected_truncated"),
        count("rejected_empty"),
        count("rejected_no_move"),
        rules.join(", "),
    ]
}

fn usage(totals: &InfoTotals) -> Vec<String> {
    let count = |name: &str| totals.of(name).to_string();
    vec![
        count("requests"),
        count("cached"),
        count("tokens_in"),
        count("tokens_cached"),
        count("tokens_out"),
        cost(totals.of("cost_usd")),
        humantime::format_duration(Duration::from_secs((totals.of("latency_ms") / 1e3) as u64)).to_string(),
    ]
}

/// A table of bots' reports.
#[derive(Clone, Debug, Serialize)]
pub struct ReportedTable {
    pub title: &'static str,
    /// The headings; the first one is that of the names.
    pub headings: Vec<&'static str>,
    /// Rows of bots that reported nothing have zeros.
    pub rows: Vec<Vec<String>>,
    /// An explanation of the columns.
    pub note: &'static str,
}

/// The forms in which the answers of these bots named moves, and their cost; empty if no bot reported
/// anything. `heading` is that of their names.
pub fn reported_tables<'a>(
    heading: &'static str,
    bots: impl IntoIterator<Item = (&'a str, &'a Faults, &'a InfoTotals)>,
) -> Vec<ReportedTable> {
    let bots: Vec<_> = bots.into_iter().collect();
    if bots.iter().all(|(.., totals)| totals.is_empty()) {
        return Vec::new();
    }
    let table = |title, headings: &[&'static str], note, cells: fn(&Faults, &InfoTotals) -> Vec<String>| {
        let row = |&(name, faults, totals): &(&str, &Faults, &InfoTotals)| {
            [vec![name.to_owned()], cells(faults, totals)].concat()
        };
        let headings = [&[heading], headings].concat();
        ReportedTable { title, headings, rows: bots.iter().map(row).collect(), note }
    };
    vec![
        table("Answers", &ANSWERS, ANSWERS_NOTE, answers),
        table("Usage", &USAGE, USAGE_NOTE, |_, totals| usage(totals)),
    ]
}

/// US dollars, with as many digits as small sums need.
pub fn cost(dollars: f64) -> String {
    match dollars {
        0.0 => "0".to_owned(),
        ..0.1 => format!("${dollars:.6}"),
        _ => format!("${dollars:.2}"),
    }
}

/// Describes faults and totals in words, for a single bot; `None` if it reported nothing.
pub(crate) fn in_words(faults: &Faults, totals: &InfoTotals) -> Option<String> {
    let pairs = |headings: &[&str], cells: Vec<String>| -> Vec<String> {
        let pairs = headings.iter().zip(cells).filter(|(_, cell)| !matches!(&**cell, "0" | "" | "0s"));
        pairs.map(|(heading, cell)| format!("{heading} {cell}")).collect()
    };
    let words = [pairs(&ANSWERS, answers(faults, totals)), pairs(&USAGE, usage(totals))].concat();
    (!totals.is_empty()).then(|| words.join("; "))
}
