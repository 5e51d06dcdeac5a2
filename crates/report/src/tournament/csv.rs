//! CSV with one row per entrant, the best first.

use referee_game::printable::printable;
use referee_match::Faults;
use referee_protocol::words::FaultCode;
use referee_stats::amounts::MeanAmount;

use super::{TournamentReport, text};

/// The names of the columns.
const COLUMNS: [&str; 37] = [
    "place",
    "entrant",
    "points",
    "matches",
    "awarded",
    "withdrawn",
    "play_wins",
    "play_draws",
    "play_losses",
    "fault_wins",
    "fault_draws",
    "fault_losses",
    "faulted",
    "direct_encounter",
    "buchholz",
    "sonneborn_berger",
    "amount",
    "amount_low",
    "amount_high",
    "elo",
    "elo_low",
    "elo_high",
    "weng_lin",
    "weng_lin_low",
    "weng_lin_high",
    "faults",
    "time_outs",
    "interruptions",
    "cpu_ms",
    "answers",
    "p50_us",
    "p99_us",
    "max_us",
    "totals",
    "source",
    "game",
    "tournament",
];

/// A line of CSV, with control characters escaped.
pub fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells = cells.into_iter().map(|cell| match printable(&cell) {
        cell if cell.contains([',', '"']) => format!("\"{}\"", cell.replace('"', "\"\"")),
        cell => cell.into_owned(),
    });
    cells.collect::<Vec<_>>().join(",") + "\n"
}

/// Counts of faults in a cell.
pub(super) fn counts(faults: Option<&Faults>) -> String {
    let each: Vec<String> =
        faults.into_iter().flat_map(Faults::iter).map(|(code, count)| format!("{code}={count}")).collect();
    each.join(" ")
}

/// The data with one row per entrant.
pub fn csv(report: &TournamentReport) -> String {
    let mut out = line(COLUMNS.map(str::to_owned));
    for (standing, details) in report.entrants() {
        let mut row = vec![
            standing.place_shown(),
            standing.name.clone(),
            standing.points.to_string(),
            standing.matches.to_string(),
            standing.awarded.to_string(),
            text::withdrawn(standing.withdrawn).to_owned(),
        ];
        for wdl in [standing.by_play, standing.by_fault] {
            row.extend([wdl.wins, wdl.draws, wdl.losses].map(|count| count.to_string()));
        }
        row.push(standing.faulted.to_string());
        row.push(standing.direct_encounter.map(|score| score.to_string()).unwrap_or_default());
        row.extend([standing.buchholz, standing.sonneborn_berger].map(|sum| sum.to_string()));
        let amount = standing.amount.map(|MeanAmount { mean, low, high, .. }| [Some(mean), low, high]);
        let known = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        row.extend(amount.unwrap_or_default().map(known));
        for rating in [standing.elo, details.weng_lin] {
            let known = |value: f64| if rating.is_known() { format!("{value:.3}") } else { String::new() };
            row.extend([rating.value, rating.low, rating.high].map(known));
        }
        row.push(counts(Some(&details.faults)));
        row.push(details.faults.of(FaultCode::Timeout).to_string());
        row.extend([details.interruptions.to_string(), details.cpu_ms.to_string()]);
        row.extend(match &details.time {
            Some(time) => [time.answers, time.p50_us, time.p99_us, time.max_us].map(|n| n.to_string()),
            None => Default::default(),
        });
        row.push(serde_json::to_string(&details.totals).unwrap_or_default());
        row.extend([&details.source, &report.standings.game, &report.standings.name].map(String::clone));
        out.push_str(&line(row));
    }
    out
}
