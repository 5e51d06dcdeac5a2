//! The rows of the results, for attempts at matches and entrants, and their encoding.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::SystemTime;

use referee_game::{MAX_SEATS, Seat, SeatSet, Seating};
use referee_match::{Ending, Faults, InfoTotals};
use referee_protocol::words::EndedBy;
use referee_results::FinishedMatch;
use referee_stats::sample::MatchMoves;
use referee_stats::schedule::MatchId;
use referee_stats::{Entrant, Lineup, MatchResult, SideAmounts};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, RowIndex, named_params, params};
use serde::de::DeserializeOwned;

use crate::error::{StoreError, damaged};

/// [`MatchRow::ended_by`] of a match that was played to its end but does not count: results that it depended on were
/// lost when the run was killed.
pub const VOID: &str = "void";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrantRow {
    pub name: String,
    /// The name that people see instead of it.
    pub display_name: Option<String>,
    /// The command line, or tcp:NAME.
    pub source: String,
    /// The SHA-256 by path.
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

#[derive(Clone, Debug, PartialEq)]
pub struct MatchRow {
    /// The match id with the attempt.
    pub id: MatchId,
    /// The set, counted from 1.
    pub set: u32,
    /// The entrants by seat.
    pub lineup: Vec<u16>,
    /// By seat; `None` without a result.
    pub ranks: Option<Vec<u8>>,
    pub faulted: SeatSet,
    /// Seats that lost by a fault, and their partners.
    pub forfeited: SeatSet,
    /// The word in `end`, or `cut_off`, or [`VOID`].
    pub ended_by: String,
    /// The text in `end`.
    pub reason: String,
    /// By seat.
    pub scores: Option<Vec<f64>>,
    /// By seat.
    pub amounts: Option<Vec<f64>>,
    /// By seat: code -> count.
    pub faults: Vec<Faults>,
    /// By seat: what the bot reported in `info`. May be empty if no bot reported anything.
    pub totals: Vec<InfoTotals>,
    /// The number of moves.
    pub decisions: u32,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    /// The longest delay of an answer by the referee's own lag, in milliseconds.
    pub lag_ms: u64,
    /// By seat, in milliseconds.
    pub cpu_ms: Vec<Option<u64>>,
    /// The file in `records`.
    pub record: Option<String>,
    /// SHA-256 of that file before its seal, in hex.
    pub seal: Option<String>,
    /// The start time, in whole seconds.
    pub began_at: Option<SystemTime>,
    /// The worker that played it.
    pub worker: Option<String>,
    /// The moves. `None` in games with chance.
    pub moves: Option<MatchMoves>,
}

impl MatchRow {
    /// The result, if it has one that fits the seats.
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
            totals: self.totals,
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

type RowDefect = Box<dyn Error + Send + Sync>;

/// The defect of an invalid row, with its place.
#[derive(Debug)]
pub struct BadRow {
    pub id: Option<MatchId>,
    pub defect: RowDefect,
}

pub(super) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Parses a value of this place.
///
/// # Errors
/// If it is not JSON of this type.
pub fn from_json<T: DeserializeOwned>(place: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| damaged(place, format!("{error}: {text:?}")))
}

/// Defines a module with the columns of a query: their list for SQL, `LIST`, and by name the position of each. Looking names
/// up for each row would take longer than reading the row.
#[macro_export]
macro_rules! columns {
    ($vis:vis $module:ident: $first:ident $(, $column:ident)* $(,)?) => {
        #[expect(non_camel_case_types, non_upper_case_globals, reason = "the names of columns")]
        $vis mod $module {
            enum Position { $first, $($column),* }
            $vis const LIST: &str = concat!("\"", stringify!($first), "\"", $(", \"", stringify!($column), "\""),*);
            $vis const $first: usize = Position::$first as usize;
            $($vis const $column: usize = Position::$column as usize;)*
        }
    };
}

columns!(pub(crate) result: number, attempt, set, lineup, ranks, faulted, forfeited, amounts);

columns!(
    pub(crate) column:
    number, attempt, set, lineup, ranks, faulted, forfeited, ended_by, reason, amounts, opening, moves, scores, faults, totals,
    decisions, duration_us, lag_ms, cpu_ms, record, seal, began_at, worker,
);

/// Reads a struct from a row: fields from the columns of the same names, and those after `with` as given.
#[macro_export]
macro_rules! read_row {
    ($row:ident as $type:ident { $($column:ident),* $(,)? } $(with { $($field:ident $(: $value:expr)?),* $(,)? })?) => {
        $type { $($column: $row.get(stringify!($column))?,)* $($($field $(: $value)?,)*)? }
    };
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
    let sql = "INSERT INTO matches VALUES (:number, :attempt, :set, :lineup, :ranks, :faulted, :forfeited, :ended_by, \
               :reason, :opening, :moves, :amounts)";
    db.prepare_cached(sql)?.execute(named_params! {
        ":number": number,
        ":attempt": attempt,
        ":set": row.set,
        ":lineup": json(&row.lineup),
        ":ranks": row.ranks.as_ref().map(json),
        ":faulted": bits(row.faulted),
        ":forfeited": bits(row.forfeited),
        ":ended_by": row.ended_by,
        ":reason": row.reason,
        ":opening": row.moves.map(|moves| moves.opening.cast_signed()),
        ":moves": row.moves.map(|moves| moves.all.cast_signed()),
        ":amounts": row.amounts.as_ref().map(json),
    })?;
    let began_at = row.began_at.filter(|&at| at >= SystemTime::UNIX_EPOCH);
    let sql = "INSERT INTO details VALUES (:number, :attempt, :scores, :faults, :decisions, :duration_us, :lag_ms, :cpu_ms, \
               :record, :seal, :began_at, :worker, :totals)";
    db.prepare_cached(sql)?.execute(named_params! {
        ":number": number,
        ":attempt": attempt,
        ":scores": row.scores.as_ref().map(json),
        ":faults": json(&row.faults),
        ":decisions": row.decisions,
        ":duration_us": row.duration_us as i64,
        ":lag_ms": row.lag_ms as i64,
        ":cpu_ms": json(&row.cpu_ms),
        ":record": row.record,
        ":seal": row.seal,
        ":began_at": began_at.map(|at| humantime::format_rfc3339_seconds(at).to_string()),
        ":worker": row.worker,
        ":totals": (!InfoTotals::are_empty(&row.totals)).then(|| json(&row.totals)),
    })?;
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
    let entrants = by_seat(row.get_ref(result::lineup)?.as_str()?, seating);
    let ranks = by_seat(row.get_ref(result::ranks)?.as_str()?, seating);
    let (Some(entrants), Some(ranks)) = (entrants, ranks) else { return Ok(None) };
    let lineup = Lineup::of_seats(seating, &entrants.map(Entrant)[..seating.seats()]);
    let set = row.get(result::set)?;
    let [faulted, forfeited] = [seats(row.get(result::faulted)?), seats(row.get(result::forfeited)?)];
    let amounts = match row.get_ref(result::amounts)?.as_str_or_null()?.map(|text| by_seat(text, seating)) {
        Some(None) => return Ok(None),
        amounts => amounts.flatten().map(|amounts| SideAmounts::of_seats(&amounts)),
    };
    let played = |lineup| MatchResult::played(set, lineup, &ranks);
    Ok(lineup.map(|lineup| MatchResult { amounts, faulted, forfeited, ..played(lineup) }))
}

pub(super) fn read_match(row: &Row<'_>, seating: Seating) -> Result<MatchRow, BadRow> {
    let id = match (row.get(column::number), row.get(column::attempt)) {
        (Ok(number), Ok(attempt)) if number > 0 && attempt > 0 => MatchId { number, attempt },
        _ => {
            let [number, attempt] = [column::number, column::attempt].map(|column| shown(row, column));
            let defect = format!("{number} and {attempt} are not the numbers of a match and its attempt");
            return Err(BadRow { id: None, defect: defect.into() });
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
    fn get<T: rusqlite::types::FromSql>(&self, at: usize) -> Result<T, RowDefect> {
        self.row.get(at).map_err(|_| self.wrong(at, &shown(self.row, at)))
    }

    fn wrong(&self, at: usize, value: &str) -> RowDefect {
        format!("its `{}` is {value}", self.name(at)).into()
    }

    fn name(&self, at: usize) -> String {
        self.row.as_ref().column_name(at).map(str::to_owned).unwrap_or_default()
    }

    /// Parses a bit set of seats, and checks that they are seats of the match.
    fn seats(&self, at: usize) -> Result<SeatSet, RowDefect> {
        let bits: u8 = self.get(at)?;
        match u32::from(bits) >> self.seats {
            0 => Ok(seats(bits)),
            _ => {
                let (name, seats) = (self.name(at), self.seats);
                Err(format!("its `{name}` has a seat beyond the {seats} of the match: {bits}").into())
            }
        }
    }

    /// A list with a value for each seat; `None` if the column is null.
    fn list<T: serde::de::DeserializeOwned>(&self, at: usize) -> Result<Option<Vec<T>>, RowDefect> {
        let Some(text) = self.get::<Option<String>>(at)? else { return Ok(None) };
        let (name, seats) = (self.name(at), self.seats);
        match serde_json::from_str::<Vec<T>>(&text) {
            Ok(list) if list.len() == seats => Ok(Some(list)),
            Ok(_) => Err(format!("its `{name}` is not a list of {seats} seats: {text:?}").into()),
            Err(error) => Err(format!("its `{name}`: {error}: {text:?}").into()),
        }
    }

    fn full_list<T: serde::de::DeserializeOwned>(&self, at: usize) -> Result<Vec<T>, RowDefect> {
        self.list(at)?.ok_or_else(|| format!("it has no `{}`", self.name(at)).into())
    }

    /// A number that must not be negative.
    fn count(&self, at: usize) -> Result<u64, RowDefect> {
        let number: i64 = self.get(at)?;
        u64::try_from(number).map_err(|_| self.wrong(at, &number.to_string()))
    }
}

fn read_columns(row: &Row<'_>, id: MatchId, seating: Seating) -> Result<MatchRow, RowDefect> {
    let columns = RowColumns { row, seats: seating.seats() };
    let ranks: Option<Vec<u8>> = columns.list(column::ranks)?;
    let mut read = MatchRow {
        id,
        set: columns.get(column::set)?,
        lineup: columns.full_list(column::lineup)?,
        ranks,
        faulted: columns.seats(column::faulted)?,
        forfeited: columns.seats(column::forfeited)?,
        ended_by: columns.get(column::ended_by)?,
        reason: columns.get(column::reason)?,
        scores: None,
        amounts: columns.list(column::amounts)?,
        faults: Vec::new(),
        totals: Vec::new(),
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
    if columns.get::<Option<String>>(column::faults)?.is_none() {
        // An attempt that was cut off has no details.
        return Ok(read);
    }
    read.scores = columns.list(column::scores)?;
    read.faults = columns.full_list(column::faults)?;
    read.totals = columns.list(column::totals)?.unwrap_or_default();
    read.decisions = columns.get(column::decisions)?;
    read.duration_us = columns.count(column::duration_us)?;
    read.lag_ms = columns.count(column::lag_ms)?;
    read.cpu_ms = columns.full_list(column::cpu_ms)?;
    read.record = columns.get(column::record)?;
    read.seal = columns.get(column::seal)?;
    let began_at: Option<String> = columns.get(column::began_at)?;
    read.worker = columns.get(column::worker)?;
    let [opening, all]: [Option<i64>; 2] = [columns.get(column::opening)?, columns.get(column::moves)?];
    let moves = opening.zip(all).map(|(opening, all)| [opening, all].map(i64::cast_unsigned));
    read.moves = moves.map(|[opening, all]| MatchMoves { opening, all });
    let time = |text: String| {
        humantime::parse_rfc3339(&text).map_err(|error| format!("its `began_at` is {text:?}: {error}"))
    };
    read.began_at = began_at.map(time).transpose()?;
    if read.record.as_deref().is_some_and(|record| record != format!("{id}.jsonl")) {
        return Err(format!("its `record` is {}, not {id}.jsonl", shown(row, column::record)).into());
    }
    Ok(read)
}
