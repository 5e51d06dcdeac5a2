//! How the cells of tables are written, the same in all of them.

use std::collections::BTreeMap;

use super::{EntrantDetails, Met, StandingsReport, TournamentReport};
use crate::tournament::rating::Estimate;
use crate::tournament::standings::{TieBreak, Wdl};

/// A heading and rows of cells. The first column is a name, unless `text` names others; the rest are numbers.
pub(super) struct Grid {
    pub(super) title: &'static str,
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// Columns that are set to the left.
    pub(super) text: &'static [usize],
    /// What explains the columns.
    pub(super) note: String,
}

/// Points: at most three digits after the point.
pub(super) fn points(points: f64) -> String {
    let text = format!("{points:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Wins, draws and losses.
pub(super) fn wdl(wdl: Wdl) -> String {
    format!("{}-{}-{}", wdl.wins, wdl.draws, wdl.losses)
}

/// A figure and its interval; a dash for who played no match.
pub(super) fn estimate(estimate: Estimate, digits: usize) -> String {
    let Estimate { value, low, high } = estimate;
    if !estimate.is_known() {
        return "-".to_owned();
    }
    format!("{value:.digits$} [{low:.digits$}, {high:.digits$}]")
}

/// Elo with its sign and its interval; a dash for who played no match.
pub(super) fn elo(estimate: Estimate) -> String {
    let Estimate { value, low, high } = estimate;
    if !estimate.is_known() {
        return "-".to_owned();
    }
    format!("{value:+.0} [{low:+.0}, {high:+.0}]")
}

/// A time in the unit in which it is read.
pub(super) fn time(us: u64) -> String {
    let (value, unit) = match us {
        0..1_000 => return format!("{us} us"),
        1_000..1_000_000 => (us as f64 / 1e3, "ms"),
        _ => (us as f64 / 1e6, "s"),
    };
    let digits = if value < 10.0 { 2 } else { 1 };
    format!("{value:.digits$} {unit}")
}

/// Counts of faults.
pub(super) fn faults(faults: &BTreeMap<String, u32>) -> String {
    let each: Vec<String> = faults.iter().map(|(code, count)| format!("{count} {code}")).collect();
    if each.is_empty() { "none".to_owned() } else { each.join(", ") }
}

fn tie_break(tie_break: TieBreak) -> &'static str {
    match tie_break {
        TieBreak::Buchholz => "Buchholz",
        TieBreak::SonnebornBerger => "S-B",
        TieBreak::Wins => "wins",
    }
}

/// What was played, in one line.
pub(super) fn subtitle(report: &StandingsReport) -> String {
    let StandingsReport { game, rules, seats, matches, sets, .. } = report;
    let won = report.champion.as_ref().map(|champion| format!(", won by {champion}"));
    let won = won.unwrap_or_default();
    format!("{game} (rules {rules}), {seats} seats, {matches} matches in {sets} sets{won}")
}

/// The advantage of the seats, a line each side.
pub(super) fn advantages(report: &StandingsReport) -> Vec<String> {
    let lines = report.advantage.iter().enumerate().map(|(side, &advantage)| {
        format!("side {side} has an advantage of {} Elo over side {}", elo(advantage), report.sides - 1)
    });
    lines.collect()
}

/// What else a reader must know of the numbers, a line each.
pub(super) fn remarks(report: &TournamentReport) -> Vec<String> {
    let mut lines = advantages(&report.standings);
    for (count, what) in [
        (report.aborted, "attempts were aborted"),
        (report.cut_off, "attempts were cut off"),
        (report.void, "matches do not count: their pair was decided while they ran"),
        (report.unfinished, "matches have no result yet"),
        (report.unread, "records could not be read: their times are missing"),
    ] {
        if count > 0 {
            lines.push(format!("{count} {what}"));
        }
    }
    if let Some(lag) = &report.lag {
        lines.push(format!(
            "the referee's own lag: 99% of answers at most {}, the longest {}",
            time(lag.p99_us),
            time(lag.max_us)
        ));
    }
    lines
}

/// Places, points, wins, tie-breaks and Elo.
pub(super) fn standings(report: &StandingsReport) -> Grid {
    let mut headings =
        ["", "entrant", "points", "matches", "by play", "by fault", "faulted"].map(str::to_owned).to_vec();
    let is_awarded = report.entrants.iter().any(|entrant| entrant.awarded > 0);
    if is_awarded {
        headings.push("awarded".to_owned());
    }
    let is_knockout = report.entrants.iter().any(|entrant| entrant.out.is_some());
    if is_knockout {
        headings.push("out in".to_owned());
    }
    let tie_breaks: Vec<TieBreak> =
        report.tie_breaks.iter().copied().filter(|&tie_break| tie_break != TieBreak::Wins).collect();
    headings.extend(tie_breaks.iter().map(|&kind| tie_break(kind).to_owned()));
    headings.push("Elo [95%]".to_owned());
    let rows = report.entrants.iter().map(|entrant| {
        let mut row = vec![
            entrant.place.to_string(),
            entrant.name.clone(),
            points(entrant.points),
            entrant.matches.to_string(),
            wdl(entrant.by_play),
            wdl(entrant.by_fault),
            entrant.faulted.to_string(),
        ];
        if is_awarded {
            row.push(entrant.awarded.to_string());
        }
        if is_knockout {
            row.push(entrant.out.map_or(String::new(), |round| format!("round {round}")));
        }
        row.extend(tie_breaks.iter().map(|tie_break| match tie_break {
            TieBreak::Buchholz => points(entrant.buchholz),
            TieBreak::SonnebornBerger => points(entrant.sonneborn_berger),
            TieBreak::Wins => entrant.by_play.wins.to_string(),
        }));
        row.push(elo(entrant.elo));
        row
    });
    Grid {
        title: "Standings",
        headings,
        rows: rows.collect(),
        text: &[1],
        note: "by play and by fault: wins-draws-losses that play or a fault decided; faulted: matches with a fault \
               of its own"
            .to_owned(),
    }
}

/// The ratings with their intervals.
pub(super) fn ratings(report: &TournamentReport) -> Grid {
    let rows = report.entrants().map(|(standing, details)| {
        vec![
            standing.name.clone(),
            elo(standing.elo),
            estimate(details.glicko2, 0),
            estimate(details.weng_lin, 2),
        ]
    });
    let raters = report.ratings.iter().map(|rater| {
        let how = match rater.draws {
            0 => "1.96 of its own deviations".to_owned(),
            draws => format!("bootstrap of {draws} draws of sets"),
        };
        format!("{} by {}, intervals: {how}", rater.algorithm, rater.version)
    });
    let elo = "Elo: Bradley-Terry over all results, relative to the mean of those who have played".to_owned();
    Grid {
        title: "Ratings with 95% intervals",
        headings: ["entrant", "Elo", "Glicko-2", "Weng-Lin"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
        text: &[0],
        note: std::iter::once(elo).chain(raters).collect::<Vec<_>>().join("; "),
    }
}

/// What a pair did, as points of matches.
pub(super) fn met(met: Option<Met>) -> String {
    met.map_or(String::new(), |met| format!("{}/{}", points(met.score), points(met.matches)))
}

/// Who scored what against whom.
pub(super) fn cross(report: &TournamentReport) -> Grid {
    let heading = ["", "entrant"].map(str::to_owned);
    let numbers = (1..=report.details.len()).map(|number| number.to_string());
    let rows = report.details.iter().enumerate().map(|(at, details)| {
        let mut row = vec![(at + 1).to_string(), details.name.clone()];
        let cells = details.cross.iter().enumerate();
        row.extend(cells.map(|(other, &cell)| if other == at { "-".to_owned() } else { met(cell) }));
        row
    });
    Grid {
        title: "Cross table",
        headings: heading.into_iter().chain(numbers).collect(),
        rows: rows.collect(),
        text: &[1],
        note: "points of matches against the entrant of that number".to_owned(),
    }
}

/// What went wrong.
pub(super) fn fault_counts(report: &TournamentReport) -> Grid {
    let rows = report.entrants().map(|(standing, details)| {
        vec![
            standing.name.clone(),
            standing.faulted.to_string(),
            standing.by_fault.losses.to_string(),
            faults(&details.faults),
            details.interruptions.to_string(),
        ]
    });
    let headings = ["entrant", "matches with a fault", "lost by fault", "faults", "interruptions"];
    Grid {
        title: "Faults",
        headings: headings.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        text: &[0, 3],
        note: "interruptions: matches that were cut off".to_owned(),
    }
}

fn timed(details: &EntrantDetails) -> Vec<String> {
    let times = match &details.time {
        Some(used) => [used.p50_us, used.p99_us, used.max_us].map(time),
        None => Default::default(),
    };
    let answers = details.time.as_ref().map_or(0, |used| used.answers);
    let counts = [details.time_outs().to_string(), answers.to_string()];
    times.into_iter().chain(counts).chain([time(details.cpu_ms * 1000)]).collect()
}

/// Where the time went.
pub(super) fn time_use(report: &TournamentReport) -> Grid {
    let rows = report
        .details
        .iter()
        .map(|details| std::iter::once(details.name.clone()).chain(timed(details)).collect());
    let headings = ["entrant", "p50", "p99", "max", "time-outs", "answers", "cpu"];
    Grid {
        title: "Time use",
        headings: headings.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        text: &[0],
        note: "thinking time of an answer, without the referee's own lag, from the records".to_owned(),
    }
}

/// How many entrants a cross table of text may have; a larger one is for the HTML report.
const CROSS: usize = 24;

/// Everything, a table after the other, for forms that are text.
pub(super) fn grids(report: &TournamentReport) -> Vec<Grid> {
    let mut grids = vec![standings(&report.standings)];
    if report.details.len() <= CROSS {
        grids.push(cross(report));
    }
    grids.extend([ratings(report), fault_counts(report), time_use(report)]);
    grids
}
