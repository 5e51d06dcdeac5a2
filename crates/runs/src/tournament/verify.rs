//! Verifies results against records.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use referee_files::{read_regular, unsealed};
use referee_game::{Chain, keys};
use referee_match::record;
use referee_report::tournament::StandingsReport;
use referee_stats::MatchResult;
use referee_stats::schedule::{MatchId, Schedule};
use referee_store::{BadRow, MatchRow, Results, StoreError, VOID};
use serde::Serialize;

use crate::RunError;
use crate::config::KnownGames;
use crate::tournament::audit::{AuditedMatch, Auditor, differences};
use crate::tournament::recover::reveal;
use crate::tournament::stored::StoredTournament;

/// The findings of a tournament's verification.
#[derive(Debug)]
pub struct Audit {
    /// By match; `None` if unknown.
    pub differences: Vec<(Option<MatchId>, String)>,
    /// Computed from the records.
    pub standings: StandingsReport,
    pub summary: AuditSummary,
}

/// The numbers of verified items.
#[derive(Debug, Default, Serialize)]
pub struct AuditSummary {
    /// Attempts at matches in the results.
    pub rows: usize,
    pub records: usize,
    /// Rows that differ, and records without a row.
    pub differing: usize,
    /// Attempts that were taken back with their workers, or paired by results that were.
    pub taken_back: usize,
    /// Records whose verdicts of tables were not recomputed, because the tables are not here.
    pub tables_trusted: usize,
    /// Entrants whose points differ.
    pub points: Vec<PointsByRecords>,
}

/// The points of an entrant by the results and by the records.
#[derive(Debug, Serialize)]
pub struct PointsByRecords {
    pub name: String,
    pub results: f64,
    pub records: f64,
}

/// Verifies all results of the tournament in this directory. `tick` gets how many of how many are verified.
///
/// # Errors
/// If results or records cannot be read at all.
pub fn verify(
    directory: &Path,
    results: &Results,
    games: &KnownGames,
    tick: impl Fn(u64, u64) + Sync,
) -> Result<Audit, RunError> {
    let failed = |why: StoreError| RunError::at(directory, why);
    let db = results;
    let (mut stored, _) = StoredTournament::with_results(directory, db, games, Vec::new())?;
    let StoredTournament { about, rules, config, games: known, .. } = &mut stored;
    match config.terms.of_game(*rules, about.seating, |path| config.resolve(path), keys) {
        Ok((with_tables, _)) => known.replace(with_tables),
        Err(why) => tracing::warn!("{}", Chain(&why)),
    }
    stored.warn_of_changed_game();
    let auditor = Auditor::new(&stored)?;
    // Files are listed first, so that a row stored in the meantime does not seem to lack a record.
    let ListedRecords { files, others } =
        ListedRecords::list(&directory.join("records")).map_err(|why| RunError::at(directory, why))?;
    let of_no_match = |path: PathBuf| (None, format!("{} is the record of no match", path.display()));
    let (mut rows, mut differences) = (Vec::new(), others.into_iter().map(of_no_match).collect::<Vec<_>>());
    db.for_each_row(|row| {
        match row {
            Ok(row) => rows.push(row),
            Err(BadRow { id, defect }) => differences.push((id, Chain(&*defect).to_string())),
        }
        Ok(())
    })
    .map_err(failed)?;
    let bad: BTreeSet<MatchId> = differences.iter().filter_map(|(id, _)| *id).collect();
    let known: BTreeSet<MatchId> = rows.iter().map(|row| row.id).chain(bad.iter().copied()).collect();
    for (id, path) in files.iter().filter(|(id, _)| !known.contains(id)) {
        differences.push((Some(*id), format!("the results have no row for {}", path.display())));
    }
    let checked = check_all(&auditor, &stored, &files, &rows, tick);
    let replayed = db.replayed().map_err(failed)?;
    let counts = |id: MatchId| replayed.get(&id.number).is_none_or(|&last| id.attempt > last);
    let mut counted = Vec::new();
    let mut summary = AuditSummary { rows: rows.len() + bad.len(), ..AuditSummary::default() };
    for (row, RowCheck { found, result, has_record, trusts_tables }) in rows.iter().zip(checked) {
        summary.records += usize::from(has_record);
        summary.tables_trusted += usize::from(trusts_tables);
        differences.extend(found.into_iter().map(|what| (Some(row.id), what)));
        let result = result.filter(|_| row.ended_by != VOID && counts(row.id));
        counted.extend(result.map(|result| (row.id.number, result)));
    }
    counted.extend(lost(&auditor, &stored, &files, &rows));
    let (by_records, refused) = StoredTournament::with_results(directory, db, games, counted)?;
    let find = |number: u32| {
        let of_number = rows.iter().rev().filter(|row| row.id.number == number);
        of_number.map(|row| row.id).next()
    };
    differences.extend(refused.into_iter().map(|refused| (find(refused.number()), refused.to_string())));
    let voided = db.voided_workers().map_err(failed)?;
    let is_of_voided = |row: &&MatchRow| row.worker.as_ref().is_some_and(|worker| voided.contains(worker));
    let taken_back = rows.iter().filter(|row| row.ended_by == VOID);
    let first = taken_back.clone().filter(is_of_voided).map(|row| row.id.number).min();
    let is_paired_by_results = !by_records.schedule.plan().format.is_known();
    let depends = |number: u32| is_paired_by_results && first.is_some_and(|first| first < number);
    let taken_back: BTreeSet<MatchId> =
        taken_back.filter(|row| is_of_voided(row) || depends(row.id.number)).map(|row| row.id).collect();
    summary.taken_back = taken_back.len();
    differences.extend(unexplained(&rows, &by_records.schedule, &taken_back));
    // Groups the differences of a match.
    differences.sort_by_key(|(id, _)| *id);
    let differing: BTreeSet<MatchId> = differences.iter().filter_map(|(id, _)| *id).collect();
    summary.differing = differing.len() + differences.iter().filter(|(id, _)| id.is_none()).count();
    let kept = rows.iter().filter(|row| counts(row.id));
    let kept = kept.filter_map(|row| Some((row.id.number, row.result(by_records.about.seating)?)));
    let (by_results, _) = StoredTournament::with_results(directory, db, games, kept.collect())?;
    summary.points = points(&stored, &by_results.schedule, &by_records.schedule);
    let standings = StandingsReport::of(db, &by_records.schedule).map_err(failed)?;
    Ok(Audit { differences, standings, summary })
}

/// The records in a directory, sealed or not.
#[derive(Default)]
struct ListedRecords {
    files: BTreeMap<MatchId, PathBuf>,
    /// Files whose names are not ids of matches, sorted.
    others: Vec<PathBuf>,
}

impl ListedRecords {
    fn list(folder: &Path) -> io::Result<ListedRecords> {
        let mut found = ListedRecords::default();
        let entries = match folder.read_dir() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            let Some("jsonl" | "unsealed") = ending else { continue };
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let Ok(id) = stem.parse::<MatchId>() else {
                found.others.push(path);
                continue;
            };
            if found.files.get(&id).is_none_or(|_| ending == Some("jsonl")) {
                found.files.insert(id, path);
            }
        }
        found.others.sort();
        Ok(found)
    }
}

/// The result of verifying a row.
#[derive(Clone, Default)]
struct RowCheck {
    found: Vec<String>,
    /// Computed from the record.
    result: Option<MatchResult>,
    has_record: bool,
    /// Whether it is believed what tables of endgames said, which are not here.
    trusts_tables: bool,
}

/// Verifies rows, on all CPUs.
fn check_all(
    auditor: &Auditor<'_>,
    stored: &StoredTournament,
    files: &BTreeMap<MatchId, PathBuf>,
    rows: &[MatchRow],
    tick: impl Fn(u64, u64) + Sync,
) -> Vec<RowCheck> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let all = Mutex::new(vec![RowCheck::default(); rows.len()]);
    let work = || {
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let at = rows.partition_point(|other| other.id < row.id);
            let checked = check(auditor, stored, row, files.get(&row.id).map(PathBuf::as_path));
            all.lock().unwrap_or_else(PoisonError::into_inner)[at] = checked;
            tick(done.fetch_add(1, Ordering::Relaxed) as u64 + 1, rows.len() as u64);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads.min(rows.len()) {
            scope.spawn(work);
        }
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Verifies a row against its record.
fn check(auditor: &Auditor<'_>, stored: &StoredTournament, row: &MatchRow, file: Option<&Path>) -> RowCheck {
    let wrong = |what: String| RowCheck { found: vec![what], ..RowCheck::default() };
    let Some(path) = file else {
        return match (&row.record, &row.ranks) {
            (Some(record), _) => wrong(format!("records/{record} is missing")),
            (None, Some(_)) => wrong("it has a result without a record".to_owned()),
            // The match was cut off when the referee was killed.
            (None, None) => RowCheck::default(),
        };
    };
    let mut record = match read_regular(path) {
        Ok(record) => record,
        Err(error) => return wrong(format!("{}: {error}", path.display())),
    };
    if let Err(error) = seal_if_needed(auditor, stored, row.id, path, &mut record) {
        return wrong(Chain(&error).to_string());
    }
    let (mut found, recorded) = match auditor.recorded(row.id, &record) {
        Ok(recorded) => (Vec::new(), Some(recorded)),
        Err(why) => (why.lines(), None),
    };
    let result = recorded.as_ref().and_then(|recorded| recorded.result);
    if row.record.is_none() {
        let what = format!("the results have no result of it, but there is {}", path.display());
        found.push(what);
    } else if let Some(AuditedMatch { row: mut by_record, .. }) = recorded {
        if row.ended_by == VOID {
            (by_record.faulted, by_record.forfeited) = (row.faulted, row.forfeited);
            (by_record.ranks, by_record.scores, by_record.amounts) = (None, None, None);
            by_record.ended_by = VOID.to_owned();
        }
        found.extend(differences(row, &by_record));
    }
    RowCheck { found, result, has_record: true, trusts_tables: auditor.trusts_tables(&record) }
}

/// The results of records whose rows are missing or invalid, unless another attempt has a result.
fn lost(
    auditor: &Auditor<'_>,
    stored: &StoredTournament,
    files: &BTreeMap<MatchId, PathBuf>,
    rows: &[MatchRow],
) -> Vec<(u32, MatchResult)> {
    let known: BTreeSet<MatchId> = rows.iter().map(|row| row.id).collect();
    let has_result: BTreeSet<u32> =
        rows.iter().filter(|row| row.ranks.is_some()).map(|row| row.id.number).collect();
    let of = |(&id, path): (&MatchId, &PathBuf)| {
        if known.contains(&id) || has_result.contains(&id.number) {
            return None;
        }
        let mut record = read_regular(path).ok()?;
        seal_if_needed(auditor, stored, id, path, &mut record).ok()?;
        Some((id.number, auditor.recorded(id, &record).ok()?.result?))
    };
    files.iter().filter_map(of).collect()
}

/// Adds the seal to an unsealed record.
fn seal_if_needed(
    auditor: &Auditor<'_>,
    stored: &StoredTournament,
    id: MatchId,
    path: &Path,
    record: &mut Vec<u8>,
) -> Result<(), RunError> {
    if path.extension() == unsealed(path).extension() {
        let seats = stored.about.seating.seats();
        record::seal(record, reveal(&stored.seed()?, &id.to_string(), &auditor.deal(id), seats));
    }
    Ok(())
}

/// Missing attempts, and void ones that the schedule could play.
fn unexplained(
    rows: &[MatchRow],
    by_records: &Schedule,
    taken_back: &BTreeSet<MatchId>,
) -> Vec<(Option<MatchId>, String)> {
    let mut found = Vec::new();
    let mut lineups: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
    for due in by_records.due() {
        lineups.insert(due.id.number, due.lineup.seats().iter().map(|entrant| entrant.0).collect());
    }
    for row in rows.iter().filter(|row| row.ranks.is_some()) {
        lineups.insert(row.id.number, row.lineup.clone());
    }
    let mut attempts: BTreeMap<u32, u32> = BTreeMap::new();
    for row in rows {
        let MatchId { number, attempt } = row.id;
        let before = attempts.insert(number, attempt).unwrap_or_default();
        if attempt != before + 1 {
            found.push((Some(row.id), format!("the results have no attempt {} before it", before + 1)));
        }
        if row.ended_by == VOID && !taken_back.contains(&row.id) && lineups.get(&number) == Some(&row.lineup)
        {
            let what = "it is void in the results, but the schedule could play it".to_owned();
            found.push((Some(row.id), what));
        }
    }
    found
}

/// The entrants whose points differ.
fn points(stored: &StoredTournament, by_results: &Schedule, by_records: &Schedule) -> Vec<PointsByRecords> {
    let of = |schedule: &Schedule| -> BTreeMap<usize, f64> {
        schedule.standings().rows.iter().map(|row| (row.entrant.index(), row.points)).collect()
    };
    let (results, records) = (of(by_results), of(by_records));
    let name = |index: usize| stored.entrants[index].name.clone();
    let differing = records.iter().filter(|(index, points)| results.get(index) != Some(points));
    differing
        .map(|(&index, &records)| PointsByRecords { name: name(index), results: results[&index], records })
        .collect()
}
