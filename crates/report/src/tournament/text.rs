//! The cells of tables, the same in all formats.

use std::collections::BTreeMap;

use referee_game::counted;
use referee_match::Faults;
use referee_protocol::words::FaultCode;
use referee_stats::Wdl;
use referee_stats::rating::Estimate;
use referee_stats::schedule::RankBy;
use referee_stats::standings::{TieBreak, Withdrawn};

use super::{
    BotDetails, Conditions, EntrantDetails, EntrantStanding, HeadToHead, RaceReport, RecallGap, SandboxUse,
    StandingsReport, Timed, TournamentReport, minute, options_in_words,
};
use crate::answers::{ReportedTable, reported_tables};
use crate::interval::{Population, origin, plain_zero};
use crate::ruling::PublicRuling;
use crate::words::mean_amount;

/// Headings and rows of cells. The first column is a name, unless `text` states otherwise; the rest are numbers.
pub(crate) struct Grid {
    pub(crate) title: &'static str,
    pub(crate) headings: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Left-aligned columns.
    pub(crate) text: &'static [usize],
    /// The column with the names of entrants, if any.
    pub(crate) entrants: Option<usize>,
    /// An explanation of the columns.
    pub(crate) note: String,
}

impl Grid {
    /// Puts display names before the names of entrants: `Bob the Second (bob)`.
    pub(crate) fn with_display_names(mut self, report: &StandingsReport) -> Grid {
        let Some(column) = self.entrants else { return self };
        let entrants = report.entrants.iter();
        let displayed: BTreeMap<&str, &str> = entrants
            .filter_map(|entrant| Some((entrant.name.as_str(), entrant.display_name.as_deref()?)))
            .collect();
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            if let Some(display) = displayed.get(cell.as_str()) {
                *cell = format!("{display} ({cell})");
            }
        }
        self
    }
}

/// Points, with at most three decimals.
pub(crate) fn points(points: f64) -> String {
    let text = format!("{points:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(crate) fn wdl(wdl: Wdl) -> String {
    format!("{}-{}-{}", wdl.wins, wdl.draws, wdl.losses)
}

/// A figure and its interval; a dash for an entrant without a match.
pub(crate) fn estimate(estimate: Estimate, digits: usize) -> String {
    let Estimate { value, low, high } = estimate;
    if !estimate.is_known() {
        return "-".to_owned();
    }
    format!("{value:.digits$} [{low:.digits$}, {high:.digits$}]")
}

/// Elo with its sign and its interval; a dash for an entrant without a match.
pub(crate) fn elo(estimate: Estimate) -> String {
    let Estimate { value, low, high } = estimate;
    if !estimate.is_known() {
        return "-".to_owned();
    }
    let [value, low, high] = [value, low, high].map(|value| plain_zero(value, 0));
    format!("{value:+.0} [{low:+.0}, {high:+.0}]")
}

/// A time in a readable unit.
pub(crate) fn time(us: u64) -> String {
    let (value, unit) = match us {
        0 => return "under 1 us".to_owned(),
        1..1_000 => return format!("{us} us"),
        1_000..1_000_000 => (us as f64 / 1e3, "ms"),
        _ => (us as f64 / 1e6, "s"),
    };
    let digits = if value < 10.0 { 2 } else { 1 };
    format!("{value:.digits$} {unit}")
}

pub(crate) fn faults(faults: &Faults) -> String {
    if faults.is_empty() { "none".to_owned() } else { crate::table::faults(faults) }
}

/// The treatment of the results of a withdrawn entrant.
pub(crate) fn withdrawn(withdrawn: Option<Withdrawn>) -> &'static str {
    match withdrawn {
        None => "",
        Some(Withdrawn::Counted) => "counted",
        Some(Withdrawn::Annulled) => "annulled",
    }
}

pub(crate) fn tie_break(tie_break: TieBreak) -> &'static str {
    match tie_break {
        TieBreak::DirectEncounter => "direct",
        TieBreak::Buchholz => "Buchholz",
        TieBreak::SonnebornBerger => "S-B",
        TieBreak::Wins => "wins",
    }
}

pub(crate) fn tie_break_of(entrant: &EntrantStanding, kind: TieBreak) -> String {
    match kind {
        TieBreak::DirectEncounter => entrant.direct_encounter.map(points).unwrap_or_default(),
        TieBreak::Buchholz => points(entrant.buchholz),
        TieBreak::SonnebornBerger => points(entrant.sonneborn_berger),
        TieBreak::Wins => entrant.by_play.wins.to_string(),
    }
}

/// Game, seats, matches and winner, in one line.
pub(crate) fn subtitle(report: &StandingsReport) -> String {
    let StandingsReport { game, rules, seats, matches, sets, .. } = report;
    let won = report.champion.as_ref().map(|champion| format!(", won by {champion}"));
    let won = won.unwrap_or_default();
    let (matches, sets) = (counted(*matches, "match", "matches"), counted(*sets, "set", "sets"));
    format!("{game} (rules {rules}), {seats} seats, {matches} in {sets}{won}")
}

/// The basis of Elo, in one line; `None` without a result.
fn origin_of_elo(report: &StandingsReport) -> Option<String> {
    let StandingsReport { copies, distinct_sets, openings, population, .. } = *report;
    let mut line = format!("Elo is {}", origin(distinct_sets, openings));
    if population == Population::TheseOpenings {
        line += ", and says nothing of others";
    }
    if copies > 0 {
        line += &format!("; {} not count", counted(copies, "copy of a set does", "copies of sets do"));
    }
    (distinct_sets > 0).then_some(line)
}

/// The advantage of the seats, one line per side.
fn advantages(report: &StandingsReport) -> Vec<String> {
    let lines = report.advantage.iter().enumerate().map(|(side, &advantage)| {
        format!("side {side} has an advantage of {} Elo over side {}", elo(advantage), report.sides - 1)
    });
    lines.collect()
}

/// The void matches, in at most one line.
fn voids(report: &StandingsReport) -> Option<String> {
    let all: u32 = report.void_for.values().sum();
    let causes: Vec<String> =
        report.void_for.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    let all_are = counted(all, "match is void and counts", "matches are void and count");
    (all > 0).then(|| format!("{all_are} for no entrant: {}", causes.join(", ")))
}

/// The matches without a result, in at most one line.
pub(crate) fn unfinished(report: &TournamentReport) -> Option<String> {
    let TournamentReport { unfinished, unfinished_at_most, .. } = *report;
    let at_least = if unfinished < unfinished_at_most { "at least " } else { "" };
    let matches = counted(unfinished, "match has", "matches have");
    (unfinished_at_most > 0).then(|| format!("{at_least}{matches} no result yet"))
}

/// Remarks on the standings, one per line.
pub(super) fn standings_remarks(report: &StandingsReport) -> Vec<String> {
    let rulings = report.rulings.iter().filter(|ruling| ruling.undone_at.is_none()).map(ruling);
    let race = report.race.iter().map(RaceReport::line);
    let order = match report.rank_by {
        RankBy::Share => Some("the points in relation to the matches order the entrants".to_owned()),
        RankBy::Race => {
            Some("the race orders the entrants, which play different numbers of matches".to_owned())
        }
        RankBy::Points | RankBy::Amounts => None,
    };
    let lines = race.chain(order).chain(origin_of_elo(report));
    lines.chain(advantages(report)).chain(voids(report)).chain(rulings).collect()
}

fn ruling(ruling: &PublicRuling) -> String {
    let reason = ruling.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    format!("ruling {}: {}{reason}", ruling.id, ruling.decision)
}

/// Remarks on the numbers, one per line.
pub(crate) fn remarks(report: &TournamentReport) -> Vec<String> {
    let mut lines = standings_remarks(&report.standings);
    lines.extend(remarks_on_attempts(report));
    if let Some(lag) = &report.lag {
        lines.push(format!(
            "the referee's own lag: 99% of answers at most {}, the longest {}",
            time(lag.p99_us),
            time(lag.max_us)
        ));
    }
    lines
}

/// The remarks of pages, which show advantages and lag as figures.
pub(crate) fn page_remarks(report: &TournamentReport) -> Vec<String> {
    let standings = &report.standings;
    let rulings = standings.rulings.iter().filter(|ruling| ruling.undone_at.is_none()).map(ruling);
    let of_standings = origin_of_elo(standings).into_iter().chain(voids(standings)).chain(rulings);
    of_standings.chain(remarks_on_attempts(report)).collect()
}

pub(crate) fn sentence(line: &str) -> String {
    format!("{}.", sentence_case(line))
}

/// The text with a capital letter.
pub(super) fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}", letters.as_str())
}

/// Remarks on attempts without a result, records that are missing and interruptions.
fn remarks_on_attempts(report: &TournamentReport) -> Vec<String> {
    let mut lines = Vec::new();
    let lost = report.void - report.standings.void_for.values().sum::<u32>();
    for (count, one, many, what) in [
        (report.aborted, "attempt was", "attempts were", "aborted"),
        (report.cut_off, "attempt was", "attempts were", "cut off"),
        (lost, "match does", "matches do", "not count: the results on which the pairing was based were lost"),
    ] {
        if count > 0 {
            lines.push(format!("{} {what}", counted(count, one, many)));
        }
    }
    lines.extend(unfinished(report));
    if report.unread > 0 {
        let unread = counted(report.unread, "record", "records");
        lines.push(format!("{unread} could not be read: no times from there"));
    }
    if let Some(paused) = &report.paused {
        let longest = time(paused.longest_us);
        let matches = counted(paused.matches, "match", "matches");
        lines.push(format!("the referee was paused in {matches}, for at most {longest}"));
    }
    if let Some(rules) = &report.rules_restarts {
        let times = counted(rules.restarts, "time", "times");
        let matches = counted(rules.matches, "match", "matches");
        lines.push(format!("the rules failed and were asked again {times} in {matches}"));
    }
    lines
}

/// Places, points, wins, tie-breaks and Elo.
pub(crate) fn standings(report: &StandingsReport) -> Grid {
    let mut headings =
        ["", "entrant", "points", "matches", "by play", "by fault", "faulted"].map(str::to_owned).to_vec();
    let is_awarded = report.entrants.iter().any(|entrant| entrant.awarded > 0.0);
    if is_awarded {
        headings.push("awarded".to_owned());
    }
    let is_knockout = report.race.is_none() && report.entrants.iter().any(|entrant| entrant.out.is_some());
    if is_knockout {
        headings.push("out in".to_owned());
    }
    headings.extend(report.race.iter().map(|_| "race".to_owned()));
    let has_withdrawn = report.entrants.iter().any(|entrant| entrant.withdrawn.is_some());
    if has_withdrawn {
        headings.push("withdrawn".to_owned());
    }
    let has_encounters = report.entrants.iter().any(|entrant| entrant.direct_encounter.is_some());
    let is_shown = |tie_break: &TieBreak| match tie_break {
        TieBreak::DirectEncounter => has_encounters,
        TieBreak::Buchholz | TieBreak::SonnebornBerger => true,
        TieBreak::Wins => false,
    };
    let tie_breaks: Vec<TieBreak> = report.tie_breaks.iter().copied().filter(is_shown).collect();
    headings.extend(tie_breaks.iter().map(|&kind| tie_break(kind).to_owned()));
    let has_amounts = report.entrants.iter().any(|entrant| entrant.amount.is_some());
    if has_amounts {
        headings.push("amount a match [95%]".to_owned());
    }
    headings.push("Elo [95%]".to_owned());
    let rows = report.entrants.iter().map(|entrant| {
        let mut row = vec![
            entrant.place_shown(),
            entrant.name.clone(),
            points(entrant.points),
            entrant.matches.to_string(),
            wdl(entrant.by_play),
            wdl(entrant.by_fault),
            entrant.faulted.to_string(),
        ];
        if is_awarded {
            row.push(points(entrant.awarded));
        }
        if is_knockout {
            row.push(entrant.out.map_or(String::new(), |round| format!("round {round}")));
        }
        row.extend(report.race.iter().map(|race| race.state_of(&entrant.name)));
        if has_withdrawn {
            row.push(withdrawn(entrant.withdrawn).to_owned());
        }
        row.extend(tie_breaks.iter().map(|&kind| tie_break_of(entrant, kind)));
        if has_amounts {
            row.push(entrant.amount.map_or_else(String::new, mean_amount));
        }
        row.push(elo(entrant.elo));
        row
    });
    let mut note =
        "by play and by fault: wins-draws-losses that play or a fault decided; faulted: matches with a \
                    fault of its own"
            .to_owned();
    if is_awarded {
        note += "; awarded: points without play";
    }
    match report.rank_by {
        RankBy::Points | RankBy::Share | RankBy::Race => {}
        RankBy::Amounts => note += "; the mean amount a match orders the entrants",
    }
    if has_encounters {
        note += "; direct: score against the entrants with equal points";
    }
    if has_withdrawn {
        note += "; withdrawn: whether its results are counted, or annulled because it has played fewer than half of \
                 its matches";
    }
    Grid { title: "Standings", headings, rows: rows.collect(), text: &[1], entrants: Some(1), note }
}

/// The ratings with their intervals.
pub(crate) fn ratings(report: &TournamentReport) -> Grid {
    let has_forfeits =
        report.standings.entrants.iter().any(|standing| standing.elo_without_forfeits.is_some());
    let rows = report.entrants().map(|(standing, details)| {
        let mut row = vec![standing.name.clone(), elo(standing.elo), estimate(details.weng_lin, 2)];
        if has_forfeits {
            row.insert(2, standing.elo_without_forfeits.map(elo).unwrap_or_default());
        }
        row
    });
    let mut headings = vec!["entrant", "Elo", "Weng-Lin"];
    if has_forfeits {
        headings.insert(2, "Elo without forfeits");
    }
    let raters = report.ratings.iter().map(|rater| {
        format!(
            "{} by {}, +/- 1.96 of its own deviations, which is no 95% interval",
            rater.algorithm, rater.version
        )
    });
    let elo =
        "Elo: Bradley-Terry over all results with a normal distribution of strengths that is fitted to the field, \
               relative to the mean of those who have played; without forfeits: from the matches that no fault has decided"
            .to_owned();
    Grid {
        title: "Ratings: Elo with 95% intervals",
        headings: headings.into_iter().map(str::to_owned).collect(),
        rows: rows.collect(),
        text: &[0],
        entrants: Some(0),
        note: std::iter::once(elo).chain(raters).collect::<Vec<_>>().join("; "),
    }
}

/// The recall gap of each entrant, if the same tournament in disguise is known.
pub(crate) fn recall(report: &TournamentReport) -> Option<Grid> {
    let recall = report.recall.as_ref()?;
    let row = |of: &RecallGap| vec![of.name.clone(), elo(of.plain), elo(of.disguised), elo(of.gap)];
    Some(Grid {
        title: "Recall gap",
        headings: ["entrant", "Elo plain", "Elo disguised", "recall gap"].map(str::to_owned).to_vec(),
        rows: recall.entrants.iter().map(row).collect(),
        text: &[0],
        entrants: Some(0),
        note: "recall gap: Elo under the names of the game, less Elo in its disguise; both count from the mean of the entrants, so \
               that a gap is one against the others; 95% intervals, as the tournaments are independent"
            .to_owned(),
    })
}

/// The result of a pair, as points of matches.
pub(crate) fn met(met: Option<&HeadToHead>) -> String {
    met.map_or(String::new(), |met| format!("{}/{}", points(met.score), points(met.matches)))
}

/// A table with a row and a column per entrant.
fn square<'a>(
    report: &'a TournamentReport,
    title: &'static str,
    note: &str,
    cells: impl Fn(&'a EntrantDetails) -> &'a [Option<HeadToHead>],
) -> Grid {
    let heading = ["", "entrant"].map(str::to_owned);
    let numbers = (1..=report.details.len()).map(|number| number.to_string());
    let rows = report.details.iter().enumerate().map(|(at, details)| {
        let mut row = vec![(at + 1).to_string(), details.name.clone()];
        let cells = cells(details).iter().enumerate();
        row.extend(cells.map(|(other, cell)| if other == at { "-".to_owned() } else { met(cell.as_ref()) }));
        row
    });
    Grid {
        title,
        headings: heading.into_iter().chain(numbers).collect(),
        rows: rows.collect(),
        text: &[1],
        entrants: Some(1),
        note: note.to_owned(),
    }
}

pub(crate) fn cross(report: &TournamentReport) -> Grid {
    let note = "points of matches against the entrant of that number";
    square(report, "Cross table", note, |details| &details.cross)
}

/// The results of partners; `None` if partners are not drawn.
pub(crate) fn partners(report: &TournamentReport) -> Option<Grid> {
    let note = "points of matches with the entrant of that number as the partner";
    let is_drawn = report.details.iter().any(|details| !details.partners.is_empty());
    is_drawn.then(|| square(report, "Partners", note, |details| &details.partners))
}

/// The sandboxes; with several, each with the number of its seats.
pub(crate) fn sandboxes(report: &TournamentReport) -> String {
    let all = &report.sandboxes;
    let in_words = |one: &SandboxUse| match all.len() {
        1 => one.in_words.clone(),
        _ => format!("{} in {}", one.in_words, counted(one.seats, "seat", "seats")),
    };
    all.iter().map(in_words).collect::<Vec<_>>().join("; ")
}

pub(crate) fn conditions(report: &TournamentReport) -> Grid {
    let Conditions {
        format, deals, on_fault, adjudication, options, openings, seed, began_at, ended_at, ..
    } = &report.conditions;
    let StandingsReport { game, rules, seats, sides, .. } = &report.standings;
    let teams = if seats == sides { String::new() } else { format!(", {sides} teams") };
    let mut rows = vec![
        ("game", format!("{game} (rules {rules}), {seats} seats{teams}")),
        ("options", options_in_words(options)),
        ("format", format.clone()),
        ("deals", deals.clone()),
        ("openings", openings.clone()),
        ("clock", report.conditions.clock_in_words()),
        ("on fault", on_fault.clone()),
    ];
    if !adjudication.is_empty() {
        rows.push(("adjudication", adjudication.clone()));
    }
    if !report.sandboxes.is_empty() {
        rows.push(("sandbox", sandboxes(report)));
    }
    if let (Some(began), Some(ended)) = (began_at, ended_at) {
        rows.push(("played", format!("{} to {} (UTC)", minute(began), minute(ended))));
    }
    let seed = seed.clone().unwrap_or_else(|| "published when all matches have been played".to_owned());
    rows.push(("seed", seed));
    Grid {
        title: "Conditions",
        headings: ["", ""].map(str::to_owned).to_vec(),
        rows: rows.into_iter().map(|(label, text)| vec![label.to_owned(), text]).collect(),
        text: &[0, 1],
        entrants: None,
        note: "the record of each match contains the conditions under which it was played".to_owned(),
    }
}

pub(crate) fn fault_counts(report: &TournamentReport) -> Grid {
    let rows = report.entrants().flat_map(|(standing, details)| {
        let own = vec![
            standing.name.clone(),
            standing.faulted.to_string(),
            standing.by_fault.losses.to_string(),
            faults(&details.faults),
            details.interruptions.to_string(),
        ];
        let of_bot = |bot: &BotDetails| {
            let name = format!("{}: {}", details.name, bot.name);
            vec![name, String::new(), String::new(), faults(&bot.faults), String::new()]
        };
        std::iter::once(own).chain(details.team.iter().map(of_bot)).collect::<Vec<_>>()
    });
    let headings = ["entrant", "matches with a fault", "lost by fault", "faults", "interruptions"];
    Grid {
        title: "Faults",
        headings: headings.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        text: &[0, 3],
        entrants: Some(0),
        note: "interruptions: attempts at matches that were cut off, aborted or void".to_owned(),
    }
}

/// The cells after the name in a row of the time use.
pub(crate) fn time_use_of(used: &Option<Timed>, faults: &Faults, cpu_ms: u64) -> Vec<String> {
    let times = match used {
        Some(used) => [used.p50_us, used.p99_us, used.max_us].map(time),
        None => Default::default(),
    };
    let answers = used.as_ref().map_or(0, |used| used.answers);
    let counts = [faults.of(FaultCode::Timeout).to_string(), answers.to_string()];
    times.into_iter().chain(counts).chain([processor_time(cpu_ms)]).collect()
}

/// The sum of processor times; a dash without any, as for bots that connect. Their resolution is 10 ms.
fn processor_time(sum_ms: u64) -> String {
    if sum_ms == 0 { "-".to_owned() } else { time(1000 * sum_ms) }
}

fn timed(name: String, used: &Option<Timed>, faults: &Faults, cpu_ms: u64) -> Vec<String> {
    [name].into_iter().chain(time_use_of(used, faults, cpu_ms)).collect()
}

pub(crate) fn time_use(report: &TournamentReport) -> Grid {
    let rows = report.details.iter().flat_map(|details| {
        let own = timed(details.name.clone(), &details.time, &details.faults, details.cpu_ms);
        let of_bot = |bot: &BotDetails| {
            timed(format!("{}: {}", details.name, bot.name), &bot.time, &bot.faults, bot.cpu_ms)
        };
        std::iter::once(own).chain(details.team.iter().map(of_bot)).collect::<Vec<_>>()
    });
    let headings = ["entrant", "p50", "p99", "max", "time-outs", "answers", "cpu"];
    Grid {
        title: "Time use",
        headings: headings.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        text: &[0],
        entrants: Some(0),
        note: "thinking time of an answer, without the referee's own lag, from the records".to_owned(),
    }
}

/// The answers and the usage that bots reported in `info`; none if none did.
pub(crate) fn reported(report: &TournamentReport) -> Vec<Grid> {
    let of_team = |details: &EntrantDetails| -> Vec<String> {
        details.team.iter().map(|bot| format!("{}: {}", details.name, bot.name)).collect()
    };
    let names: Vec<Vec<String>> = report.details.iter().map(of_team).collect();
    let (mut reported, mut strengths) = (Vec::new(), Vec::new());
    for ((standing, details), names) in report.entrants().zip(&names) {
        reported.push((&*standing.name, &details.faults, &details.totals));
        strengths.push(elo(standing.elo));
        reported
            .extend(names.iter().zip(&details.team).map(|(name, bot)| (&**name, &bot.faults, &bot.totals)));
        strengths.extend(names.iter().map(|_| String::new()));
    }
    let grid = |ReportedTable { title, headings, mut rows, note }| {
        let mut headings: Vec<String> = headings.into_iter().map(str::to_owned).collect();
        let is_of_answers = title == "Answers";
        if is_of_answers {
            headings.insert(1, "Elo".to_owned());
            rows.iter_mut().zip(&strengths).for_each(|(row, elo)| row.insert(1, elo.clone()));
        }
        let text: &[usize] = if is_of_answers { &[0, 9] } else { &[0] };
        Grid { title, headings, rows, text, entrants: Some(0), note: note.to_owned() }
    };
    reported_tables("entrant", reported).into_iter().map(grid).collect()
}

/// The details that bots give in `hello`; `None` if there are none.
pub(crate) fn said(report: &TournamentReport) -> Option<Grid> {
    let rows: Vec<Vec<String>> = report
        .details
        .iter()
        .flat_map(|details| {
            details.said.iter().map(|said| {
                let each: Vec<String> = said.iter().map(|(name, text)| format!("{name}: {text}")).collect();
                vec![details.name.clone(), each.join(", ")]
            })
        })
        .collect();
    (!rows.is_empty()).then(|| Grid {
        title: "Bots",
        headings: ["entrant", "what it says of itself"].map(str::to_owned).to_vec(),
        rows,
        text: &[0, 1],
        entrants: Some(0),
        note: "as in `hello`, from the records".to_owned(),
    })
}

/// The rounds of a Swiss tournament or a knockout; `None` in other formats.
pub(crate) fn rounds(report: &TournamentReport) -> Option<Grid> {
    let is_knockout = report.is_knockout();
    let pairs =
        report.rounds.iter().flat_map(|round| round.pairs.iter().map(move |pair| (round.round, pair)));
    let rows = pairs.filter(|(_, pair)| pair.is_known()).map(|(round, pair)| {
        let [one, other] = [0, 1].map(|place| pair.name(place));
        let scores = [0, 1].map(|place| pair.score(place));
        let score = if pair.matches.is_empty() { String::new() } else { scores.join(" - ") };
        let mut row = vec![round.to_string(), format!("{one} - {other}"), score, pair.matches.join(" ")];
        if is_knockout {
            row.push(pair.winner.clone().unwrap_or_default());
        }
        row
    });
    let mut headings = ["round", "pair", "points", "matches"].map(str::to_owned).to_vec();
    if is_knockout {
        headings.push("goes on".to_owned());
    }
    let note = "points: of the matches that they played against each other in this round".to_owned();
    (!report.rounds.is_empty()).then(|| Grid {
        title: "Rounds",
        headings,
        rows: rows.collect(),
        text: &[1, 3, 4],
        entrants: None,
        note,
    })
}

/// The first `most` matches, with opponents, time, result and record.
pub(crate) fn matches(report: &TournamentReport, most: usize) -> Grid {
    let has_rounds = !report.rounds.is_empty();
    let rows = report.attempts.iter().take(most).map(|listed| {
        let mut row = vec![listed.id.clone(), listed.began_at.as_deref().map(minute).unwrap_or_default()];
        if has_rounds {
            row.push(listed.round.map_or(String::new(), |round| round.to_string()));
        }
        row.extend([
            listed.sides(report.standings.sides),
            listed.result_in_words(),
            listed.ending(report.game),
        ]);
        row.push(listed.record.clone().unwrap_or_default());
        row
    });
    let mut headings = ["match", "began (UTC)"].map(str::to_owned).to_vec();
    if has_rounds {
        headings.push("round".to_owned());
    }
    headings.extend(["entrants", "result", "how", "record"].map(str::to_owned));
    let all = report.attempts.len();
    let note = if all > most {
        format!("the first {most} of {all}: `referee tournament export` writes them all")
    } else {
        "in the order of the sides, the first one first; records are in the folder `records`".to_owned()
    };
    let text: &[usize] = if has_rounds { &[0, 1, 3, 4, 5, 6] } else { &[0, 1, 2, 3, 4, 5] };
    Grid { title: "Matches", headings, rows: rows.collect(), text, entrants: None, note }
}

/// The list of matches, one per line.
pub(crate) fn match_lines(report: &TournamentReport) -> String {
    let grid = matches(report, LISTED);
    let line = |row: Vec<String>| {
        row.into_iter().filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("  ") + "\n"
    };
    let lines: String = grid.rows.into_iter().map(line).collect();
    if report.attempts.len() > LISTED { format!("{lines}({})\n", grid.note) } else { lines }
}

/// The maximum number of matches in a list in text.
const LISTED: usize = 200;

/// The maximum number of entrants in a cross table in text; the HTML report has larger ones.
const CROSS: usize = 24;

/// The full report as a sequence of tables, for formats that are text.
pub(crate) fn grids(report: &TournamentReport) -> Vec<Grid> {
    let mut grids = vec![standings(&report.standings)];
    if report.details.len() <= CROSS {
        grids.push(cross(report));
        grids.extend(partners(report));
    }
    grids.extend(rounds(report));
    grids.push(ratings(report));
    grids.extend(recall(report));
    grids.push(fault_counts(report));
    grids.extend(reported(report));
    grids.extend(said(report));
    grids.extend([time_use(report), matches(report, LISTED)]);
    grids.push(conditions(report));
    grids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_zero() {
        assert_eq!([0, 1, 1_500].map(time), ["under 1 us", "1 us", "1.50 ms"]);
        assert_eq!([0, 10].map(processor_time), ["-", "10.0 ms"]);
    }
}
