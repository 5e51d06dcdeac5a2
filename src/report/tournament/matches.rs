//! The matches of a tournament, one by one.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::csv::{counts, line};
use crate::core::{SeatSet, Sheet};
use crate::store::{About, MatchRow};

/// An attempt at a match, as `export --format json` prints it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "match")]
pub struct MatchReport<'a> {
    /// The match, with its attempt: m17.2.
    pub id: String,
    /// Its set.
    pub set: String,
    /// The entrants by seat.
    pub seats: Vec<&'a str>,
    /// By seat; none without a result.
    pub ranks: Option<&'a [u8]>,
    /// By seat; none without a result.
    pub scores: Option<&'a [f64]>,
    /// What ended it; `cut_off` where the run was, `void` where it does not count.
    pub ended_by: &'a str,
    /// The rule, the fault's code or the word of `ended_by`.
    pub reason: &'a str,
    /// The seats that made a fault.
    pub faulted: Vec<u8>,
    /// The seats that lost by a fault, and those of their partners.
    pub forfeited: Vec<u8>,
    /// By seat: code -> count.
    pub faults: &'a [BTreeMap<String, u32>],
    /// Moves made.
    pub decisions: u32,
    /// In microseconds.
    pub duration_us: u64,
    /// The longest that the referee kept one answer waiting, in milliseconds.
    pub lag_ms: u64,
    /// By seat: processor time in milliseconds.
    pub cpu_ms: &'a [Option<u64>],
    /// Its file in `records`.
    pub record: Option<&'a str>,
}

impl<'a> MatchReport<'a> {
    /// `names` are those of the entrants.
    pub fn of(row: &'a MatchRow, names: &'a [String]) -> MatchReport<'a> {
        let name = |&entrant: &u16| names.get(usize::from(entrant)).map_or("", String::as_str);
        let seats = |set: SeatSet| set.iter().map(|seat| seat.0).collect();
        MatchReport {
            id: row.id.to_string(),
            set: format!("s{}", row.set),
            seats: row.lineup.iter().map(name).collect(),
            ranks: row.ranks.as_deref(),
            scores: row.scores.as_deref(),
            ended_by: &row.ended_by,
            reason: &row.reason,
            faulted: seats(row.faulted),
            forfeited: seats(row.forfeited),
            faults: &row.faults,
            decisions: row.decisions,
            duration_us: row.duration_us,
            lag_ms: row.lag_ms,
            cpu_ms: &row.cpu_ms,
            record: row.record.as_deref(),
        }
    }
}

/// The headings of [`MatchReport::csv`].
///
/// # Errors
/// None that a writer to memory has.
pub fn match_headings(seats: usize) -> io::Result<Vec<u8>> {
    let columns = ["match", "set", "ended_by", "reason", "decisions", "duration_us", "lag_ms", "record"];
    let by_seat = ["entrant", "rank", "score", "forfeited", "faults", "cpu_ms"];
    let by_seat = (0..seats).flat_map(|seat| by_seat.iter().map(move |name| format!("{name}_{seat}")));
    line(columns.map(str::to_owned).into_iter().chain(by_seat))
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

impl MatchReport<'_> {
    /// A row of CSV.
    ///
    /// # Errors
    /// None that a writer to memory has.
    pub fn csv(&self) -> io::Result<Vec<u8>> {
        let mut row =
            vec![self.id.clone(), self.set.clone(), self.ended_by.to_owned(), self.reason.to_owned()];
        row.extend([self.decisions.to_string(), self.duration_us.to_string()]);
        row.extend([self.lag_ms.to_string(), text(self.record)]);
        for (seat, name) in self.seats.iter().enumerate() {
            row.extend([
                (*name).to_owned(),
                text(self.ranks.and_then(|ranks| ranks.get(seat))),
                text(self.scores.and_then(|scores| scores.get(seat))),
                self.forfeited.contains(&(seat as u8)).to_string(),
                counts(self.faults.get(seat).into_iter().flatten()),
                text(self.cpu_ms.get(seat).copied().flatten()),
            ]);
        }
        line(row)
    }
}

/// The width of lines of moves.
const WIDTH: usize = 80;

/// A match as tags and moves: what PGN is for chess, for any game. The moves are numbered one by one; the ranks by seat
/// end them, or `*` where there is no result.
pub fn movetext(about: &About, row: &MatchRow, sheet: &Sheet) -> String {
    let mut out = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        out.push_str(&format!("[{name} \"{value}\"]\n"));
    };
    tag("Event", &about.name);
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
