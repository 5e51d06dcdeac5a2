//! The matches of a league.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use referee_game::Seating;
use referee_match::{Ending, Faults, InfoTotals};
use referee_protocol::words::EndedBy;
use referee_results::FinishedMatch;
use referee_stats::ladder::Name;
use referee_stats::sample::MatchMoves;
use referee_store::{MatchKind, match_id};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use serde::Serialize;

use super::log::note;
use super::seasons::CURRENT;
use super::{League, failed};
use referee_game::json;
use referee_store::{StoreError, columns, parsed_column};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeagueMatch {
    /// The number in the id: 17 for m17.
    #[serde(skip)]
    pub number: u32,
    /// The names of the players by seat.
    pub players: Vec<String>,
    /// By seat; `None` without a result.
    pub ranks: Option<Vec<u8>>,
    /// By seat; `None` without a result.
    pub scores: Option<Vec<f64>>,
    /// By seat; omitted without a result, and in games without amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amounts: Option<Vec<f64>>,
    /// The moves. `None` in games with chance, and if a ruling replaces its result.
    #[serde(skip)]
    pub moves: Option<MatchMoves>,
    /// By seat: code -> count.
    pub faults: Vec<Faults>,
    /// By seat: what the bot reported in `info`; omitted if no bot reported anything.
    #[serde(skip_serializing_if = "InfoTotals::are_empty")]
    pub totals: Vec<InfoTotals>,
    /// The word in `end`.
    pub ended_by: EndedBy,
    /// The text in `end`.
    pub reason: String,
    /// Whether the match counts for ratings.
    #[serde(rename = "rated")]
    pub is_rated: bool,
    /// In JSON, whether the match was requested with `referee league challenge`.
    #[serde(rename = "challenge", serialize_with = "is_challenge")]
    pub kind: MatchKind,
    /// The number of the first match of its mirrored set, if it is the second one: it plays the same deal.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "deal")]
    pub deal: Option<u32>,
    /// The number of moves.
    pub decisions: u32,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    pub record: Option<String>,
    /// SHA-256 of the record without its seal, in hex.
    pub seal: Option<String>,
    /// In UTC.
    pub ended_at: String,
    /// The worker that played it; omitted if the server did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Whether the match was taken back; omitted if false.
    #[serde(rename = "void", skip_serializing_if = "std::ops::Not::not")]
    pub is_void: bool,
}

impl LeagueMatch {
    /// Returns whether ratings take it into account.
    pub fn counts(&self) -> bool {
        self.is_rated && !self.is_void
    }

    /// Returns the time at which the match began, given for how long it was paused; `None` if the time of its end is invalid.
    pub fn began_at(&self, paused: Duration) -> Option<SystemTime> {
        let ended = humantime::parse_rfc3339(&self.ended_at).ok()?;
        ended.checked_sub(Duration::from_micros(self.duration_us) + paused)
    }

    pub fn id(&self) -> String {
        match_id(self.number, self.kind)
    }

    /// The finished match; `records` is the folder of the records.
    pub fn finished(self, seating: Seating, records: &Path) -> FinishedMatch {
        let id = self.id();
        let LeagueMatch { ended_by, reason, ranks, scores, amounts, .. } = self;
        let ending = Ending { ended_by, reason, ranks, scores, amounts, fault: None };
        FinishedMatch {
            faults: self.faults,
            totals: self.totals,
            decisions: self.decisions,
            duration_us: self.duration_us,
            record: self.record.map(|name| records.join(name)),
            worker: self.worker,
            ..FinishedMatch::new(id, seating, self.players, ending)
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_challenge<S: serde::Serializer>(kind: &MatchKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(kind.is_challenge())
}

fn deal<S: serde::Serializer>(deal: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
    deal.map(|number| match_id(number, MatchKind::Pairing)).serialize(serializer)
}

/// A filter for the matches of a ladder.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatchFilter<'a> {
    /// The players of whom one must have played; a name without a version stands for all versions.
    pub players: Option<&'a [String]>,
    /// Whether a name without a version stands for the player without a version alone.
    pub is_exact: bool,
    /// Whether one of these players must have made a fault.
    pub is_faulted: bool,
    /// The number that is larger than those of the matches.
    pub before: Option<u32>,
}

impl League {
    /// Adds results of a ladder to the season in progress, with their players if they are new. All or nothing, and on the
    /// disk when it returns. Returns the number of the season.
    ///
    /// # Errors
    /// If a match is stored already, or I/O errors.
    pub fn add_matches(&mut self, ladder: &str, matches: &[LeagueMatch]) -> Result<u32, StoreError> {
        self.change(|db| {
            let season = db.query_row(&format!("SELECT {CURRENT}"), [], |row| row.get(0))?;
            for row in matches {
                insert_match(db, ladder, season, row)?;
            }
            Ok(season)
        })
    }

    /// Takes back the matches that a worker has played. Returns their ladders and ids.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn void_matches_of(
        &mut self,
        worker: &str,
        user: &str,
        at: SystemTime,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let sql = "UPDATE matches SET is_void = 1 WHERE worker = ?1 AND is_void = 0 RETURNING ladder, number, is_challenge";
        self.change(|db| {
            let mut query = db.prepare(sql)?;
            let rows =
                query.query_map([worker], |row| Ok((row.get(0)?, match_id(row.get(1)?, row.get(2)?))))?;
            let voided: Vec<_> = rows.collect::<Result<_, _>>()?;
            if !voided.is_empty() {
                note(db, user, &format!("worker void {worker}"), at)?;
            }
            Ok(voided)
        })
    }

    /// The numbers of the matches of a ladder that were taken back.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn voided(&self, ladder: &str) -> Result<BTreeSet<u32>, StoreError> {
        let sql = "SELECT number FROM matches WHERE ladder = ?1 AND is_void = 1";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let numbers = query.query_map([ladder], |row| row.get(0)).map_err(failed)?;
        numbers.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Passes the matches of a ladder to `each`, in order: those of a season, or all.
    ///
    /// # Errors
    /// If a row is invalid, and those of `each`.
    pub fn for_each_match<E: From<StoreError>>(
        &self,
        ladder: &str,
        season: Option<u32>,
        mut each: impl FnMut(LeagueMatch) -> Result<(), E>,
    ) -> Result<(), E> {
        let of_season = if season.is_some() { "AND season = ?2" } else { "AND ?2 IS NULL" };
        let sql = format!("SELECT {COLUMNS} FROM matches WHERE ladder = ?1 {of_season} ORDER BY number");
        let mut query = self.db.prepare(&sql).map_err(failed)?;
        let mut rows = query.query(params![ladder, season]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(read_match(row).map_err(failed)?)?;
        }
        Ok(())
    }

    /// Passes the numbers of the matches of a ladder and the names of their records to `each`, in order.
    ///
    /// # Errors
    /// Errors of the database, and those of `each`.
    pub fn for_each_record<E: From<StoreError>>(
        &self,
        ladder: &str,
        mut each: impl FnMut(u32, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql =
            "SELECT number, record FROM matches WHERE ladder = ?1 AND record IS NOT NULL ORDER BY number";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let mut rows = query.query([ladder]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let number = row.get(0).map_err(failed)?;
            let name = row.get_ref(1).and_then(|name| Ok(name.as_str()?)).map_err(failed)?;
            each(number, name)?;
        }
        Ok(())
    }

    /// The last matches of a ladder that fit, the newest first.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn last_matches(
        &self,
        ladder: &str,
        filter: MatchFilter<'_>,
        limit: usize,
    ) -> Result<Vec<LeagueMatch>, StoreError> {
        let MatchFilter { players, is_exact, is_faulted, before } = filter;
        let before = before.unwrap_or(u32::MAX);
        let Some(players) = players else {
            let sql = format!(
                "SELECT {COLUMNS} FROM matches WHERE ladder = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3"
            );
            let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
            let rows = query.query_map(params![ladder, before, limit as i64], read_match);
            return rows.and_then(Iterator::collect).map_err(failed);
        };
        // Few seats are faulted: without their index all matches of the players would be read.
        let (index, of_faulted) =
            if is_faulted { ("INDEXED BY faulted_seats", "AND is_faulted = 1") } else { ("", "") };
        let sql = format!(
            "SELECT DISTINCT number FROM seats {index} WHERE ladder = ?1 AND bot = ?2 AND number < ?3 \
             AND (?4 IS NULL OR player = ?4) {of_faulted} ORDER BY number DESC LIMIT ?5"
        );
        let mut query = self.db.prepare_cached(&sql).map_err(failed)?;
        let mut numbers = BTreeSet::new();
        for player in players {
            let Name { bot, version } = Name::parse(player);
            let player = Some(player).filter(|_| is_exact || version.is_some());
            let found = params![ladder, bot, before, player, limit as i64];
            let found = query.query_map(found, |row| row.get::<_, u32>(0)).map_err(failed)?;
            numbers.extend(found.collect::<rusqlite::Result<Vec<u32>>>().map_err(failed)?);
        }
        let rows = numbers.into_iter().rev().take(limit).map(|number| self.find_match(ladder, number));
        rows.filter_map(Result::transpose).collect()
    }

    /// A match of a ladder.
    ///
    /// # Errors
    /// If the row is invalid.
    pub fn find_match(&self, ladder: &str, number: u32) -> Result<Option<LeagueMatch>, StoreError> {
        find_match(&self.db, ladder, number).map_err(failed)
    }

    /// The match with exchanged seats on the same deal, if it is stored. One that was played much later is not found.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn return_match(&self, ladder: &str, of: &LeagueMatch) -> Result<Option<String>, StoreError> {
        if let Some(first) = of.deal {
            return Ok(Some(match_id(first, MatchKind::Pairing)));
        }
        // Lists of matches are read in the order of their numbers: the rows of all seasons are not.
        let sql = "SELECT number, is_challenge FROM matches WHERE ladder = ?1 AND number > ?2 AND number <= ?2 + 1000 \
                   AND deal = ?2 LIMIT 1";
        let id = |row: &Row<'_>| Ok(match_id(row.get(0)?, row.get(1)?));
        self.db.query_row(sql, params![ladder, of.number], id).optional().map_err(failed)
    }

    /// Returns whether a match is stored.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn has_match(&self, ladder: &str, number: u32) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM matches WHERE ladder = ?1 AND number = ?2";
        let found = self.db.query_row(sql, params![ladder, number], |_| Ok(())).optional();
        found.map(|row| row.is_some()).map_err(failed)
    }

    /// The numbers of the matches of a ladder, in ascending order.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn numbers(&self, ladder: &str) -> Result<Vec<u32>, StoreError> {
        // By the index of seasons, which is small.
        let sql = "SELECT number FROM matches INDEXED BY matches_of_season WHERE ladder = ?1";
        let mut query = self.db.prepare(sql).map_err(failed)?;
        let numbers = query.query_map([ladder], |row| row.get(0)).map_err(failed)?;
        let mut numbers = numbers.collect::<rusqlite::Result<Vec<u32>>>().map_err(failed)?;
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The number of the last match of a ladder; 0 without a match.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn last_number(&self, ladder: &str) -> Result<u32, StoreError> {
        let sql = "SELECT coalesce(max(number), 0) FROM matches WHERE ladder = ?1";
        self.db.query_row(sql, [ladder], |row| row.get(0)).map_err(failed)
    }

    /// The names of all ladders on which matches have been played.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn ladders(&self) -> Result<Vec<String>, StoreError> {
        let mut query = self.db.prepare("SELECT DISTINCT ladder FROM matches").map_err(failed)?;
        let rows = query.query_map([], |row| row.get(0));
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// The number of matches on all ladders.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn match_count(&self) -> Result<u64, StoreError> {
        let count: i64 =
            self.db.query_row("SELECT count(*) FROM matches", [], |row| row.get(0)).map_err(failed)?;
        Ok(count.unsigned_abs())
    }
}

pub(super) fn find_match(
    db: &Connection,
    ladder: &str,
    number: u32,
) -> rusqlite::Result<Option<LeagueMatch>> {
    let sql = format!("SELECT {COLUMNS} FROM matches WHERE ladder = ?1 AND number = ?2");
    db.prepare_cached(&sql)?.query_row(params![ladder, number], read_match).optional()
}

columns!(
    pub(crate) column:
    number, players, ranks, scores, faults, ended_by, reason, is_rated, decisions, duration_us, record, seal, ended_at, is_challenge,
    deal, worker, is_void, amounts, opening, moves, totals,
);

pub(super) use column::LIST as COLUMNS;

fn read_ended_by(row: &Row<'_>) -> rusqlite::Result<EndedBy> {
    let text: String = row.get(column::ended_by)?;
    EndedBy::find(&text).ok_or_else(|| {
        let unknown = format!("{text:?} ends no match").into();
        rusqlite::Error::FromSqlConversionFailure(column::ended_by, rusqlite::types::Type::Text, unknown)
    })
}

fn read_moves(row: &Row<'_>) -> rusqlite::Result<Option<MatchMoves>> {
    let [opening, all]: [Option<i64>; 2] = [row.get(column::opening)?, row.get(column::moves)?];
    let digests = opening.zip(all).map(|(opening, all)| [opening, all].map(i64::cast_unsigned));
    Ok(digests.map(|[opening, all]| MatchMoves { opening, all }))
}

pub(super) fn read_match(row: &Row<'_>) -> rusqlite::Result<LeagueMatch> {
    Ok(LeagueMatch {
        number: row.get(column::number)?,
        players: parsed_column(row, column::players)?,
        ranks: parsed_column(row, column::ranks)?,
        scores: parsed_column(row, column::scores)?,
        faults: parsed_column(row, column::faults)?,
        ended_by: read_ended_by(row)?,
        reason: row.get(column::reason)?,
        is_rated: row.get(column::is_rated)?,
        decisions: row.get(column::decisions)?,
        duration_us: row.get::<_, i64>(column::duration_us)?.unsigned_abs(),
        record: row.get(column::record)?,
        seal: row.get(column::seal)?,
        ended_at: row.get(column::ended_at)?,
        kind: row.get(column::is_challenge)?,
        deal: row.get(column::deal)?,
        worker: row.get(column::worker)?,
        is_void: row.get(column::is_void)?,
        amounts: parsed_column(row, column::amounts)?,
        moves: read_moves(row)?,
        totals: parsed_column::<Option<_>>(row, column::totals)?.unwrap_or_default(),
    })
}

fn insert_match(db: &Connection, ladder: &str, season: u32, row: &LeagueMatch) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT INTO matches (ladder, season, {COLUMNS}) VALUES (:ladder, :season, :number, :players, :ranks, :scores, :faults, \
         :ended_by, :reason, :is_rated, :decisions, :duration_us, :record, :seal, :ended_at, :is_challenge, :deal, :worker, \
         :is_void, :amounts, :opening, :moves, :totals)"
    );
    db.prepare_cached(&sql)?.execute(named_params! {
        ":ladder": ladder,
        ":season": season,
        ":number": row.number,
        ":players": json::text(&row.players),
        ":ranks": row.ranks.as_ref().map(json::text),
        ":scores": row.scores.as_ref().map(json::text),
        ":faults": json::text(&row.faults),
        ":ended_by": row.ended_by.as_str(),
        ":reason": row.reason,
        ":is_rated": row.is_rated,
        ":decisions": row.decisions,
        ":duration_us": row.duration_us as i64,
        ":record": row.record,
        ":seal": row.seal,
        ":ended_at": row.ended_at,
        ":is_challenge": row.kind,
        ":deal": row.deal,
        ":worker": row.worker,
        ":is_void": row.is_void,
        ":amounts": row.amounts.as_ref().map(json::text),
        ":opening": row.moves.map(|moves| moves.opening.cast_signed()),
        ":moves": row.moves.map(|moves| moves.all.cast_signed()),
        ":totals": (!InfoTotals::are_empty(&row.totals)).then(|| json::text(&row.totals)),
    })?;
    let sql = "INSERT INTO players (ladder, id, name, joined_at, last_seen) \
               SELECT ?1, (SELECT count(*) FROM players WHERE ladder = ?1), ?2, ?3, ?3 WHERE true \
               ON CONFLICT (ladder, name) DO UPDATE SET last_seen = ?3";
    for name in &row.players {
        db.prepare_cached(sql)?.execute(params![ladder, name, row.ended_at])?;
    }
    let sql =
        "INSERT INTO seats (ladder, bot, number, seat, player, is_faulted) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    for (seat, player) in row.players.iter().enumerate() {
        let is_faulted = row.faults.get(seat).is_some_and(|faults| !faults.is_empty());
        let bot = Name::parse(player).bot;
        db.prepare_cached(sql)?.execute(params![ladder, bot, row.number, seat as i64, player, is_faulted])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use referee_files::Folder;

    use super::*;

    fn row(number: u32, player: &str) -> LeagueMatch {
        LeagueMatch {
            number,
            players: vec![player.to_owned(), "other".to_owned()],
            ranks: Some(vec![1, 2]),
            scores: None,
            amounts: None,
            moves: None,
            faults: vec![Faults::default(); 2],
            totals: Vec::new(),
            ended_by: EndedBy::Rules,
            reason: "no_pieces".to_owned(),
            is_rated: true,
            kind: MatchKind::Pairing,
            deal: None,
            decisions: 1,
            duration_us: 1,
            record: None,
            seal: None,
            ended_at: "2026-11-28T10:00:00Z".to_owned(),
            worker: None,
            is_void: false,
        }
    }

    #[test]
    fn player_without_version_has_its_last_matches() {
        let place = tempfile::tempdir().unwrap();
        let mut league = League::open(&Folder::open(place.path()).unwrap()).unwrap();
        let rows: Vec<LeagueMatch> =
            (1..=9).map(|number| row(number, if number <= 3 { "bot" } else { "bot@2" })).collect();
        league.add_matches("short", &rows).unwrap();
        let last = |player: &str, is_exact: bool| {
            let players = &[player.to_owned()];
            let filter = MatchFilter { players: Some(players), is_exact, ..MatchFilter::default() };
            let rows = league.last_matches("short", filter, 2).unwrap();
            rows.iter().map(|row| row.number).collect::<Vec<_>>()
        };
        assert_eq!([last("bot", true), last("bot", false)], [[3, 2], [9, 8]]);
        assert_eq!([last("bot@2", true), last("bot@2", false)], [[9, 8]; 2]);
    }
}
