//! The list of matches of a tournament.

use referee_game::{MatchTags, Meta, SeatSet, Seating, Sheet, notation};
use referee_match::{Faults, InfoTotals};
use referee_results::Roster;
use referee_stats::MatchResult;
use referee_stats::schedule::Schedule;
use referee_stats::standings::Withdrawn;
use referee_store::{About, MatchRow, RulingRow, VOID};
use serde::Serialize;

use super::csv::{counts, line};
use super::text::points;
use crate::ruling::{RulingOnMatch, RulingsByMatch};
use crate::words::ending_in_words;

/// An attempt at a match: an item of the list of matches in all formats.
#[derive(Clone, Debug, Serialize)]
pub struct ListedMatch {
    /// The match id with its attempt: m17.2.
    pub id: String,
    pub set: String,
    /// The round; `None` in formats that are known in advance.
    pub round: Option<u32>,
    /// In UTC: 2026-11-22T18:30:05Z; `None` if not stored.
    pub began_at: Option<String>,
    /// The entrants by seat.
    pub seats: Vec<String>,
    /// The bots by seat, as named in the record: those of a team have their own names.
    pub bots: Vec<String>,
    /// The points of the sides, as `1-0`; or `cut off`, `aborted`, `void`.
    pub result: String,
    /// By seat; `None` without a result.
    pub ranks: Option<Vec<u8>>,
    /// By seat; `None` without a result.
    pub scores: Option<Vec<f64>>,
    /// By seat; omitted without a result, and in games without amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amounts: Option<Vec<f64>>,
    /// The cause of the end; `cut_off` if the run was interrupted, `void` if it does not count.
    pub ended_by: String,
    /// The rule, the fault code, the value of `ended_by`, or why it was aborted.
    pub reason: String,
    /// Whether the result is annulled, because an entrant of the match withdrew too early.
    pub annulled: bool,
    /// The ruling that replaces its result.
    pub ruling: Option<RulingOnMatch>,
    /// The seats that made a fault.
    pub faulted: Vec<u8>,
    /// The seats that lost by a fault, and those of their partners.
    pub forfeited: Vec<u8>,
    /// By seat: code -> count.
    pub faults: Vec<Faults>,
    /// By seat: the sums of what the bot reported in `info`; omitted if no bot reported anything.
    #[serde(skip_serializing_if = "InfoTotals::are_empty")]
    pub totals: Vec<InfoTotals>,
    /// The number of moves.
    pub decisions: u32,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    /// The longest delay of an answer by the referee's own lag, in milliseconds.
    pub lag_ms: u64,
    /// By seat: processor time in milliseconds.
    pub cpu_ms: Vec<Option<u64>>,
    /// The file in `records`.
    pub record: Option<String>,
    /// The worker that played it; `None` if the process of the tournament did.
    pub worker: Option<String>,
    /// The clock, as the option `--clock` gives it; in reports only, and omitted without a readable record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
}

/// The context for listing matches.
#[derive(Debug)]
pub struct MatchList {
    seating: Seating,
    /// The names of the entrants.
    names: Vec<String>,
    bots: Vec<String>,
    roster: Roster,
    /// The round of each set; empty in formats that are known in advance.
    rounds: Vec<u32>,
    /// By entrant: whether the results are annulled.
    annulled: Vec<bool>,
    rulings: RulingsByMatch,
}

impl MatchList {
    /// The context for a schedule; `names` are those of the entrants, `bots` those of each entrant's bots.
    pub fn of(
        schedule: &Schedule,
        names: Vec<String>,
        bots: &[Vec<String>],
        rulings: &[RulingRow],
    ) -> MatchList {
        let plan = schedule.plan();
        let is_known = plan.format.is_known();
        let rounds = schedule.sets().iter().filter(|_| !is_known).map(|set| set.round);
        let is_annulled = |withdrawn: Option<Withdrawn>| withdrawn == Some(Withdrawn::Annulled);
        MatchList {
            seating: plan.seating,
            names,
            bots: bots.concat(),
            roster: Roster::of(bots.iter().map(Vec::len)),
            rounds: rounds.collect(),
            annulled: schedule.withdrawn().into_iter().map(is_annulled).collect(),
            rulings: RulingsByMatch::of(rulings),
        }
    }

    fn round(&self, row: &MatchRow) -> Option<u32> {
        self.rounds.get((row.set as usize).checked_sub(1)?).copied()
    }

    /// The list item of a match.
    pub fn report(&self, row: &MatchRow) -> ListedMatch {
        let name = |&entrant: &u16| self.names.get(usize::from(entrant)).cloned().unwrap_or_default();
        let bot = |bot: usize| self.bots.get(bot).cloned().unwrap_or_default();
        let seats = |set: SeatSet| set.iter().map(|seat| seat.0).collect();
        let result = row.result(self.seating);
        let is_annulled = |entrant: &u16| self.annulled.get(usize::from(*entrant)) == Some(&true);
        ListedMatch {
            id: row.id.to_string(),
            set: format!("s{}", row.set),
            round: self.round(row),
            began_at: row.began_at.map(|at| humantime::format_rfc3339_seconds(at).to_string()),
            seats: row.lineup.iter().map(name).collect(),
            bots: self.roster.seated_at(self.seating, &row.lineup).into_iter().map(bot).collect(),
            result: match (result, row.ended_by.as_str()) {
                (Some(result), _) => score(&result),
                (None, VOID) => "void".to_owned(),
                (None, "cut_off") => "cut off".to_owned(),
                (None, _) => "aborted".to_owned(),
            },
            ranks: row.ranks.clone(),
            scores: row.scores.clone(),
            amounts: row.amounts.clone(),
            ended_by: row.ended_by.clone(),
            reason: row.reason.clone(),
            annulled: result.is_some() && row.lineup.iter().any(is_annulled),
            ruling: self.rulings.on(row.id).cloned(),
            faulted: seats(row.faulted),
            forfeited: seats(row.forfeited),
            faults: row.faults.clone(),
            totals: row.totals.clone(),
            decisions: row.decisions,
            duration_us: row.duration_us,
            lag_ms: row.lag_ms,
            cpu_ms: row.cpu_ms.clone(),
            record: row.record.clone(),
            worker: row.worker.clone(),
            clock: None,
        }
    }

    /// The tags of a match. The site is the record; the round is the round and the number of the match in a Swiss
    /// tournament or a knockout, otherwise the number.
    pub fn tags(&self, about: &About, row: &MatchRow) -> MatchTags {
        let number = row.id.to_string().trim_start_matches('m').to_owned();
        let day = |at| humantime::format_rfc3339_seconds(at).to_string()[..10].replace('-', ".");
        MatchTags {
            event: Some(about.name.clone()),
            site: row.record.as_ref().map(|record| format!("records/{record}")),
            date: row.began_at.map(day),
            round: Some(self.round(row).map_or(number.clone(), |round| format!("{round}.{number}"))),
        }
    }
}

/// The points of the sides: `1-0`, `1/2-1/2`; with three sides `1-0.5-0`.
fn score(result: &MatchResult) -> String {
    let sides = result.lineup.seating().sides();
    let of_side = |side: usize| -> f64 {
        let others = (0..sides).filter(|&other| other != side);
        let points: f64 = others.map(|other| result.against(side, other)).sum();
        points / (sides - 1).max(1) as f64
    };
    let text = |side| match of_side(side) {
        0.5 if sides == 2 => "1/2".to_owned(),
        score => points(score),
    };
    (0..sides).map(text).collect::<Vec<_>>().join("-")
}

/// The headings of [`ListedMatch::csv`].
pub fn match_headings(seats: usize) -> String {
    let columns = [
        "match",
        "set",
        "round",
        "began_at",
        "result",
        "annulled",
        "ruling",
        "ended_by",
        "reason",
        "decisions",
        "duration_us",
        "lag_ms",
        "record",
        "worker",
    ];
    let by_seat = ["entrant", "bot", "rank", "score", "amount", "forfeited", "faults", "cpu_ms"];
    let by_seat = (0..seats).flat_map(|seat| by_seat.iter().map(move |name| format!("{name}_{seat}")));
    line(columns.map(str::to_owned).into_iter().chain(by_seat))
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

impl ListedMatch {
    /// The opponents: `ada - bob`; partners that are different entrants as `ada + bob - eve + dan`.
    pub(super) fn sides(&self, sides: usize) -> String {
        let of_side = |side: usize| -> String {
            let mut names: Vec<&str> =
                self.seats.iter().skip(side).step_by(sides.max(1)).map(String::as_str).collect();
            names.dedup();
            names.join(" + ")
        };
        (0..sides).map(of_side).collect::<Vec<_>>().join(" - ")
    }

    /// The result, whether it is annulled, and the ruling that replaces it.
    pub(crate) fn result_in_words(&self) -> String {
        self.told(&self.result)
    }

    /// Returns the result in words with the signs of pages: `½–½`.
    pub(crate) fn result_on_page(&self) -> String {
        self.told(&self.result.replace("1/2", "½").replace('-', "–"))
    }

    fn told(&self, result: &str) -> String {
        let ruling =
            self.ruling.as_ref().map(|ruling| format!(", {} by ruling {}", ruling.outcome, ruling.id));
        let annulled = if self.annulled { ", annulled" } else { "" };
        format!("{result}{annulled}{}", ruling.unwrap_or_default())
    }

    /// The cause of the end, in a few words: `no pieces left`.
    pub(crate) fn ending(&self, game: &Meta) -> String {
        ending_in_words(Some(game), &self.ended_by, &self.reason)
    }

    pub fn csv(&self) -> String {
        let mut row = vec![self.id.clone(), self.set.clone(), text(self.round), text(self.began_at.as_ref())];
        row.extend([self.result.clone(), self.annulled.to_string()]);
        row.push(self.ruling.as_ref().map_or(String::new(), |ruling| ruling.outcome.clone()));
        row.extend([self.ended_by.clone(), self.reason.clone(), self.decisions.to_string()]);
        row.extend([self.duration_us.to_string(), self.lag_ms.to_string(), text(self.record.as_ref())]);
        row.push(text(self.worker.as_ref()));
        for (seat, name) in self.seats.iter().enumerate() {
            row.extend([
                name.clone(),
                text(self.bots.get(seat)),
                text(self.ranks.as_ref().and_then(|ranks| ranks.get(seat))),
                text(self.scores.as_ref().and_then(|scores| scores.get(seat))),
                text(self.amounts.as_ref().and_then(|amounts| amounts.get(seat))),
                self.forfeited.contains(&(seat as u8)).to_string(),
                counts(self.faults.get(seat)),
                text(self.cpu_ms.get(seat).copied().flatten()),
            ]);
        }
        line(row)
    }
}

/// The width of lines of moves.
const WIDTH: usize = 80;

/// A match as tags and moves, as PGN for chess, for any game. The moves are numbered individually; at the end are the
/// ranks by seat, or `*` without a result.
pub fn movetext(about: &About, row: &MatchRow, sheet: &Sheet) -> String {
    let mut out = String::new();
    let mut tag = |name: &str, value: &str| notation::tag(&mut out, name, value);
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
    tag("Event", &about.name);
    tag("Site", &known(&sheet.tags.site));
    tag("Date", &known(&sheet.tags.date));
    tag("Round", &known(&sheet.tags.round));
    tag("Game", &about.game);
    tag("Rules", &about.rules.to_string());
    tag("Match", &sheet.match_id);
    tag("Set", &format!("s{}", row.set));
    for (seat, name) in sheet.names.iter().enumerate() {
        tag(&format!("Seat{seat}"), name);
    }
    let ranks = sheet.ranks.as_ref().map(|ranks| {
        let ranks: Vec<String> = ranks.iter().map(u8::to_string).collect();
        ranks.join("-")
    });
    let ranks = ranks.as_deref().unwrap_or("*");
    tag("Ranks", ranks);
    if let Some(amounts) = &row.amounts {
        let amounts: Vec<String> = amounts.iter().map(f64::to_string).collect();
        tag("Amounts", &amounts.join(" "));
    }
    tag("Options", sheet.options.get());
    tag("Termination", &sheet.ended);
    let moves = sheet.moves.iter().enumerate().map(|(at, text)| format!("{}. {text}", at + 1));
    let mut width = 0;
    for word in moves.chain([ranks.to_owned()]) {
        let is_next = width + word.len() + 1 > WIDTH || width == 0;
        out.push(if is_next { '\n' } else { ' ' });
        width = if is_next { word.len() } else { width + 1 + word.len() };
        out.push_str(&word);
    }
    out + "\n\n"
}
