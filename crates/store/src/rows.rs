//! The rows of the results, for attempts at matches and entrants, and their encoding.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::SystemTime;

use referee_game::{MAX_SEATS, Seat, SeatSet, Seating};
use referee_match::{Ending, Faults};
use referee_protocol::words::EndedBy;
use referee_results::FinishedMatch;
use referee_stats::sample::MatchMoves;
use referee_stats::schedule::MatchId;
use referee_stats::{Entrant, Lineup, MatchResult, SideAmounts};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, RowIndex, params};
use serde::de::DeserializeOwned;

use crate::error::{StoreError, ValueDefect, damaged};

/// [`MatchRow::ended_by`] of a match that was played to its end but does not count: results that it depended on were
/// lost when the run was killed.
pub const VOID: &str = "void";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrantRow {
    /// Its label.
    pub name: String,
    /// What people see instead of it.
    pub display_name: Option<String>,
    /// Its command line, or tcp:NAME.
    pub source: String,
    /// Path -> SHA-256.
    pub files: BTreeMap<String, String>,
    /// The first round in which it is paired.
    pub joins: u32,
    /// The first round in which it is no longer paired.
    pub leaves: Option<u32>,
    /// The rounds between a withdrawal and a return: the first one missed, and the first one in which it is paired again.
    pub missed: Vec<(u32, u32)>,
    /// The number of its matches that were cut off.
    pub interruptions: u32,
}

/// An attempt at a match.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchRow {
    /// The match id with the attempt.
    pub id: MatchId,
    /// Its set, counted from 1.
    pub set: u32,
    /// The entrants by seat.
    pub lineup: Vec<u16>,
    /// By seat; `None` without a result.
    pub ranks: Option<Vec<u8>>,
    /// Seats that made a fault.
    pub faulted: SeatSet,
    /// Seats that lost by a fault, and their partners.
    pub forfeited: SeatSet,
    /// As in `end`, or `cut_off`, or [`VOID`].
    pub ended_by: String,
    /// As in `end`.
    pub reason: String,
    /// By seat.
    pub scores: Option<Vec<f64>>,
    /// By seat.
    pub amounts: Option<Vec<f64>>,
    /// By seat: code -> count.
    pub faults: Vec<Faults>,
    /// The number of moves.
    pub decisions: u32,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    /// The longest delay of an answer by the referee's own lag, in milliseconds.
    pub lag_ms: u64,
    /// By seat, in milliseconds.
    pub cpu_ms: Vec<Option<u64>>,
    /// Its file in `records`.
    pub record: Option<String>,
    /// SHA-256 of that file before its seal, in hex.
    pub seal: Option<String>,
    /// The start time, in whole seconds.
    pub began_at: Option<SystemTime>,
    /// The worker that played it.
    pub worker: Option<String>,
    /// Its moves. `None` in games with chance.
    pub moves: Option<MatchMoves>,
}

impl MatchRow {
    /// Its result, if it has one that fits the seats.
    pub fn result(&self, seating: Seating) -> Option<MatchResult> {
        let entrants: Vec<Entrant> = self.lineup.iter().copied().map(Entrant).collect();
        let played =
            MatchResult::played(self.set, Lineup::of_seats(seating, &entrants)?, self.ranks.as_ref()?);
        let amounts = self.amounts.as_deref().map(SideAmounts::of_seats);
        Some(MatchResult { amounts, faulted: self.faulted, forfeited: self.forfeited, ..played })
    }

    /// The finished match, given the names of its bots by seat and the path of its record.
    pub fn finished(self, seating: Seating, seats: Vec<String>, record: Option<PathBuf>) -> FinishedMatch {
        let ending = Ending {
            // A match that does not count has no result.
            ended_by: EndedBy::find(&self.ended_by).unwrap_or(EndedBy::Aborted),
            reason: self.reason,
            ranks: self.ranks,
            scores: self.scores,
            amounts: self.amounts,
            fault: None,
        };
        FinishedMatch {
            is_void: self.ended_by == VOID,
            faults: self.faults,
            decisions: self.decisions,
            duration_us: self.duration_us,
            lag_ms: self.lag_ms,
            cpu_ms: self.cpu_ms,
            record,
            worker: self.worker,
            ..FinishedMatch::new(self.id.to_string(), seating, seats, ending)
        }
    }
}

/// An invalid row.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("results: {}{defect}", .id.map(|id| format!("{id}: ")).unwrap_or_default())]
pub struct BadRow {
    /// The attempt, if it can be read.
    pub id: Option<MatchId>,
    /// What is wrong with it.
    pub defect: RowDefect,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RowDefect {
    #[error("{number} and {attempt} are not the numbers of a match and its attempt")]
    NoId {
        /// The value of its `number`.
        number: String,
        /// The value of its `attempt`.
        attempt: String,
    },
    #[error("its `{column}` is {value}")]
    Value { column: &'static str, value: String },
    #[error("its `{column}` has a seat beyond the {seats} of the match: {bits}")]
    Seats {
        column: &'static str,
        /// The number of seats of the match.
        seats: usize,
        /// The set.
        bits: u8,
    },
    #[error("its `{column}`: {error}: {text:?}")]
    Json {
        column: &'static str,
        /// The error of the parser.
        error: String,
        /// The value.
        text: String,
    },
    #[error("its `{column}` is not a list of {seats} seats: {text:?}")]
    Length {
        column: &'static str,
        /// The number of seats of the match.
        seats: usize,
        /// The value.
        text: String,
    },
    #[error("it has no `{0}`")]
    Missing(&'static str),
    #[error("its `began_at` is {text:?}: {error}")]
    Time {
        /// The value.
        text: String,
        /// The error of the parser.
        error: humantime::TimestampError,
    },
    #[error("its `record` is {value}, not {id}.jsonl")]
    OtherRecord {
        value: String,
        /// The attempt.
        id: MatchId,
    },
}

pub(super) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Parses a value of this place.
///
/// # Errors
/// If it is not JSON of this type.
pub fn from_json<T: DeserializeOwned>(place: &str, text: &str) -> Result<T, StoreError> {
    let wrong = |error| damaged(place, ValueDefect::Json { error, text: text.to_owned() });
    serde_json::from_str(text).map_err(wrong)
}

/// The value of a column with JSON. A column without a value is read as `null`.
///
/// # Errors
/// If it is not JSON of this type.
pub fn parsed_column<T: DeserializeOwned>(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<T> {
    let at = column.idx(row.as_ref())?;
    let text: Option<String> = row.get(at)?;
    serde_json::from_str(text.as_deref().unwrap_or("null"))
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(at, Type::Text, Box::new(error)))
}

fn seats(bits: u8) -> SeatSet {
    (0..8).map(Seat).filter(|seat| bits & (1 << seat.0) != 0).collect()
}

fn bits(seats: SeatSet) -> u8 {
    seats.iter().map(|seat| 1 << seat.0).sum()
}

pub(super) fn insert_match(db: &Connection, row: &MatchRow) -> rusqlite::Result<()> {
    let MatchId { number, attempt } = row.id;
    db.prepare_cached("INSERT INTO matches VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")?
        .execute(params![
            number,
            attempt,
            row.set,
            json(&row.lineup),
            row.ranks.as_ref().map(json),
            bits(row.faulted),
            bits(row.forfeited),
            row.ended_by,
            row.reason,
            row.moves.map(|moves| moves.opening.cast_signed()),
            row.moves.map(|moves| moves.all.cast_signed()),
            row.amounts.as_ref().map(json),
        ])?;
    db.prepare_cached("INSERT INTO details VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")?
        .execute(params![
            number,
            attempt,
            row.scores.as_ref().map(json),
            json(&row.faults),
            row.decisions,
            row.duration_us as i64,
            row.lag_ms as i64,
            json(&row.cpu_ms),
            row.record,
            row.seal,
            row.began_at
                .filter(|&at| at >= SystemTime::UNIX_EPOCH)
                .map(|at| humantime::format_rfc3339_seconds(at).to_string()),
            row.worker,
        ])?;
    if row.ranks.is_none() {
        count_interruptions(db, row.lineup.iter().map(|&entrant| entrant.into()))?;
    }
    Ok(())
}

pub(super) fn insert_entrant(db: &Connection, entrant: &EntrantRow) -> rusqlite::Result<()> {
    let sql = "INSERT INTO entrants SELECT count(*), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM entrants";
    let EntrantRow { name, display_name, source, files, joins, leaves, missed, interruptions } = entrant;
    let missed = json(missed);
    let values = params![name, source, json(files), joins, leaves, interruptions, missed, display_name];
    db.execute(sql, values).map(drop)
}

pub(super) fn count_interruptions(
    db: &Connection,
    lineup: impl Iterator<Item = i64>,
) -> rusqlite::Result<()> {
    let distinct: BTreeSet<i64> = lineup.collect();
    for entrant in distinct {
        db.execute("UPDATE entrants SET interruptions = interruptions + 1 WHERE id = ?1", [entrant])?;
    }
    Ok(())
}

/// Parses a list by seat, `[0,1]`, without allocating: there may be millions.
pub(super) fn by_seat<T: Copy + Default + FromStr>(text: &str, seating: Seating) -> Option<[T; MAX_SEATS]> {
    let mut numbers = text.strip_prefix('[')?.strip_suffix(']')?.split(',');
    let mut list = [T::default(); MAX_SEATS];
    for place in &mut list[..seating.seats()] {
        *place = numbers.next()?.trim_ascii().parse().ok()?;
    }
    numbers.next().is_none().then_some(list)
}

pub(super) fn read_result(row: &Row<'_>, seating: Seating) -> rusqlite::Result<Option<MatchResult>> {
    let entrants = by_seat(row.get_ref(2)?.as_str()?, seating);
    let ranks = by_seat(row.get_ref(3)?.as_str()?, seating);
    let (Some(entrants), Some(ranks)) = (entrants, ranks) else { return Ok(None) };
    let lineup = Lineup::of_seats(seating, &entrants.map(Entrant)[..seating.seats()]);
    let (set, faulted, forfeited) = (row.get(1)?, seats(row.get(4)?), seats(row.get(5)?));
    let amounts = match row.get_ref(7)?.as_str_or_null()?.map(|text| by_seat(text, seating)) {
        Some(None) => return Ok(None),
        amounts => amounts.flatten().map(|amounts| SideAmounts::of_seats(&amounts)),
    };
    let played = |lineup| MatchResult::played(set, lineup, &ranks);
    Ok(lineup.map(|lineup| MatchResult { amounts, faulted, forfeited, ..played(lineup) }))
}

pub(super) fn read_match(row: &Row<'_>, seating: Seating) -> Result<MatchRow, BadRow> {
    let id = match (row.get(0), row.get(1)) {
        (Ok(number), Ok(attempt)) if number > 0 && attempt > 0 => MatchId { number, attempt },
        _ => {
            let [number, attempt] = [0, 1].map(|column| shown(row, column));
            return Err(BadRow { id: None, defect: RowDefect::NoId { number, attempt } });
        }
    };
    read_columns(row, id, seating).map_err(|defect| BadRow { id: Some(id), defect })
}

/// A value of the database, for error messages.
fn shown(row: &Row<'_>, column: usize) -> String {
    use rusqlite::types::ValueRef;
    match row.get_ref(column) {
        Ok(ValueRef::Null) => "NULL".to_owned(),
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(ValueRef::Real(number)) => number.to_string(),
        Ok(ValueRef::Text(text)) => format!("{:?}", String::from_utf8_lossy(text)),
        Ok(ValueRef::Blob(_)) => "a blob".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// The columns that [`Results::for_each_row`](super::Results::for_each_row) selects.
struct RowColumns<'a, 'row> {
    row: &'a Row<'row>,
    seats: usize,
}

impl RowColumns<'_, '_> {
    fn get<T: rusqlite::types::FromSql>(&self, at: usize, column: &'static str) -> Result<T, RowDefect> {
        self.row.get(at).map_err(|_| RowDefect::Value { column, value: shown(self.row, at) })
    }

    /// Parses a bit set of seats, and checks that they are seats of the match.
    fn seats(&self, at: usize, column: &'static str) -> Result<SeatSet, RowDefect> {
        let bits: u8 = self.get(at, column)?;
        match u32::from(bits) >> self.seats {
            0 => Ok(seats(bits)),
            _ => Err(RowDefect::Seats { column, seats: self.seats, bits }),
        }
    }

    /// A list with a value for each seat; `None` if the column is null.
    fn list<T: serde::de::DeserializeOwned>(
        &self,
        at: usize,
        column: &'static str,
    ) -> Result<Option<Vec<T>>, RowDefect> {
        let Some(text) = self.get::<Option<String>>(at, column)? else { return Ok(None) };
        match serde_json::from_str::<Vec<T>>(&text) {
            Ok(list) if list.len() == self.seats => Ok(Some(list)),
            Ok(_) => Err(RowDefect::Length { column, seats: self.seats, text }),
            Err(error) => Err(RowDefect::Json { column, error: error.to_string(), text }),
        }
    }

    fn full_list<T: serde::de::DeserializeOwned>(
        &self,
        at: usize,
        column: &'static str,
    ) -> Result<Vec<T>, RowDefect> {
        self.list(at, column)?.ok_or(RowDefect::Missing(column))
    }

    /// A number that must not be negative.
    fn count(&self, at: usize, column: &'static str) -> Result<u64, RowDefect> {
        let number: i64 = self.get(at, column)?;
        u64::try_from(number).map_err(|_| RowDefect::Value { column, value: number.to_string() })
    }
}

fn read_columns(row: &Row<'_>, id: MatchId, seating: Seating) -> Result<MatchRow, RowDefect> {
    let columns = RowColumns { row, seats: seating.seats() };
    let ranks: Option<Vec<u8>> = columns.list(4, "ranks")?;
    let mut read = MatchRow {
        id,
        set: columns.get(2, "set")?,
        lineup: columns.full_list(3, "lineup")?,
        ranks,
        faulted: columns.seats(5, "faulted")?,
        forfeited: columns.seats(6, "forfeited")?,
        ended_by: columns.get(7, "ended_by")?,
        reason: columns.get(8, "reason")?,
        scores: None,
        amounts: columns.list(22, "amounts")?,
        faults: Vec::new(),
        decisions: 0,
        duration_us: 0,
        lag_ms: 0,
        cpu_ms: Vec::new(),
        record: None,
        seal: None,
        began_at: None,
        worker: None,
        moves: None,
    };
    if columns.get::<Option<i64>>(17, "number")?.is_none() {
        // An attempt that was cut off has no details.
        return Ok(read);
    }
    read.scores = columns.list(9, "scores")?;
    read.faults = columns.full_list(10, "faults")?;
    read.decisions = columns.get(11, "decisions")?;
    read.duration_us = columns.count(12, "duration_us")?;
    read.lag_ms = columns.count(13, "lag_ms")?;
    read.cpu_ms = columns.full_list(14, "cpu_ms")?;
    read.record = columns.get(15, "record")?;
    read.seal = columns.get(16, "seal")?;
    let began_at: Option<String> = columns.get(18, "began_at")?;
    read.worker = columns.get(19, "worker")?;
    let [opening, all]: [Option<i64>; 2] = [columns.get(20, "opening")?, columns.get(21, "moves")?];
    let moves = opening.zip(all).map(|(opening, all)| [opening, all].map(i64::cast_unsigned));
    read.moves = moves.map(|[opening, all]| MatchMoves { opening, all });
    let time =
        |text: String| humantime::parse_rfc3339(&text).map_err(|error| RowDefect::Time { text, error });
    read.began_at = began_at.map(time).transpose()?;
    if read.record.as_deref().is_some_and(|record| record != format!("{id}.jsonl")) {
        return Err(RowDefect::OtherRecord { value: shown(row, 15), id });
    }
    Ok(read)
}
