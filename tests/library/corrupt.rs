//! Corrupted databases cause errors, never panics.

use std::error::Error;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use referee::bot::Launch;
use referee::game::Chain;
use referee::game::chance::{RandomStream, Seed, Uniform};
use referee::game::test_length::long_or;
use referee::games::catalog;
use referee::report::tournament::{self, MatchList, StandingsReport, TournamentReport};
use referee::runs::config::KnownGames;
use referee::runs::tournament::{RequestedChange, StoredTournament, Tournament, open_results, verify};
use rusqlite::Connection;

/// A tournament that was killed while it was played.
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tournament/cup");

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Reads everything from the database of a tournament, up to the first error.
fn read_all(dir: &Path) -> Result<(), Box<dyn Error>> {
    let mut all = Ok(());
    let mut each = |read: Result<(), Box<dyn Error>>| all = std::mem::replace(&mut all, Ok(())).and(read);
    let games = KnownGames::new(&catalog(), Launch::Directly);
    let db = open_results(dir)?;
    each((|| {
        let stored = StoredTournament::read(dir, &db, &games)?;
        stored.schedule.missing();
        db.absent()?;
        db.cut_offs()?;
        db.void_for()?;
        db.voids()?;
        tournament::standings_table(&StandingsReport::of(&db, &stored.schedule)?);
        let report = TournamentReport::of(dir, &db, &stored.schedule, &stored.settings(), |_, _| ())?;
        tournament::tables(&report);
        tournament::csv(&report);
        tournament::markdown(&report);
        tournament::html(&report);
        tournament::junit(&report);
        tournament::annotations(&report);
        serde_json::to_string(&report)?;
        Ok(())
    })());
    let names: Vec<String> =
        db.entrants().map(|rows| rows.into_iter().map(|row| row.name).collect()).unwrap_or_default();
    each((|| {
        let stored = StoredTournament::read(dir, &db, &games)?;
        let matches = MatchList::of(&stored.schedule, names, &stored.config.bot_names(), &stored.rulings);
        db.for_each_match(|row| {
            matches.tags(&stored.about, &row);
            let report = matches.report(&row);
            report.csv();
            serde_json::to_string(&report)?;
            Ok(())
        })?;
        Ok(())
    })());
    each((|| {
        serde_json::to_string(&verify(dir, &db, &games, |_, _| ())?.standings)?;
        Ok(())
    })());
    drop(db);
    each((|| {
        Tournament::open(dir, &games, false)?.unsealed()?;
        Ok(())
    })());
    all
}

fn below(random: &mut RandomStream, bound: usize) -> usize {
    random.uniform(bound as u64) as usize
}

/// Corrupts bytes of the file.
fn corrupt_bytes(path: &Path, random: &mut RandomStream) -> String {
    let mut bytes = fs::read(path).unwrap();
    let what = match below(random, 8) {
        0 => {
            bytes.truncate(below(random, bytes.len()));
            format!("truncated to {}", bytes.len())
        }
        1 => {
            let page = below(random, bytes.len() / 4096) * 4096;
            bytes[page..page + 4096].fill(0);
            format!("page at {page} zeroed")
        }
        _ => {
            let mut what = "bytes".to_owned();
            for _ in 0..=below(random, 8) {
                // Most of the file is unused.
                let used: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != 0).collect();
                let at = used[below(random, used.len())];
                bytes[at] = below(random, 256) as u8;
                what += &format!(" {at}={}", bytes[at]);
            }
            what
        }
    };
    fs::write(path, bytes).unwrap();
    what
}

/// Values that SQLite accepts but that are invalid in a tournament.
const VALUES: [&str; 30] = [
    "NULL",
    "-1",
    "0",
    "1",
    "3",
    "7",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "-9223372036854775808",
    "1e308",
    "'text'",
    "''",
    "x'00ff'",
    "'[0,1]'",
    "'[0,9]'",
    "'[0,65535]'",
    "'[1,1,1]'",
    "'[]'",
    "'['",
    "'{}'",
    "'[{\"timeout\":1},{}]'",
    "'[{\"timeout\":-1},{}]'",
    "'[null,null]'",
    "'void'",
    "'m1.jsonl'",
    "'../../secret'",
    "'[255,0]'",
];

const TABLES: [(&str, &[&str]); 4] = [
    ("tournament", &["key", "value"]),
    ("entrants", &["id", "name", "source", "files", "joins", "leaves", "interruptions", "missed"]),
    (
        "matches",
        &["number", "attempt", "\"set\"", "lineup", "ranks", "faulted", "forfeited", "ended_by", "reason"],
    ),
    (
        "details",
        &[
            "number",
            "attempt",
            "scores",
            "faults",
            "decisions",
            "duration_us",
            "lag_ms",
            "cpu_ms",
            "record",
            "totals",
        ],
    ),
];

/// Parts of the configuration, and their replacements.
const CONFIG: [(&str, &str); 18] = [
    ("cycles = 2", "cycles = 0"),
    ("cycles = 2", "cycles = 4294967295"),
    ("cycles = 2", "cycles = 1"),
    ("cycles = 2", ""),
    ("round_robin", "knockout"),
    ("kind = \"round_robin\"\ncycles = 2", "kind = \"swiss\"\nrounds = 3"),
    ("kind = \"round_robin\"\ncycles = 2", "kind = \"swiss\"\nrounds = 300"),
    ("kind = \"round_robin\"\ncycles = 2", "kind = \"knockout\"\nbest_of = 3"),
    ("kind = \"round_robin\"", "kind = \"gauntlet\""),
    ("kind = \"round_robin\"", "kind = \"partners\""),
    ("checkers", "keezen"),
    ("checkers", "no_such_game"),
    ("[[entrants]]", ""),
    ("name = \"bot1\"", ""),
    ("name = \"bot1\"", "name = \"bot0\""),
    ("opening_plies = 4", "opening_plies = 4000000000\nmirror = \"none\""),
    ("turn_limit = 12", "turn_limit = -1"),
    ("clock_factor = 1.0", "clock_factor = -1.0"),
];

fn corrupt_rows(path: &Path, random: &mut RandomStream) -> String {
    let db = Connection::open(path).unwrap();
    let (table, columns) = TABLES[below(random, TABLES.len())];
    // Removes types and constraints.
    db.execute_batch(&format!(
        "CREATE TABLE spoilt AS SELECT * FROM {table}; DROP TABLE {table}; ALTER TABLE spoilt RENAME TO {table}"
    ))
    .unwrap();
    let column = columns[below(random, columns.len())];
    let value = VALUES[below(random, VALUES.len())];
    let row =
        format!("rowid = (SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {})", below(random, 5));
    let sql = match below(random, 12) {
        0 => format!("DELETE FROM {table} WHERE {row}"),
        1 => format!("DELETE FROM {table}"),
        2 => format!("DROP TABLE {table}"),
        3 => format!("INSERT INTO {table} SELECT * FROM {table}"),
        4 => format!("INSERT INTO {table} ({column}) VALUES ({value})"),
        5 => format!("UPDATE {table} SET {column} = {value}"),
        6 => format!("PRAGMA user_version = {}", ["0", "2", "4", "-1"][below(random, 4)]),
        7 | 8 => {
            let (from, to) = CONFIG[below(random, CONFIG.len())];
            format!("UPDATE tournament SET value = replace(value, '{from}', '{to}') WHERE key = 'config'")
        }
        _ => format!("UPDATE {table} SET {column} = {value} WHERE {row}"),
    };
    // A statement that SQLite rejects leaves the table unchanged.
    let _ = db.execute_batch(&sql);
    sql
}

#[test]
fn a_corrupted_database_causes_an_error_and_no_panic() {
    let count = long_or(5_000, 100);
    let place = tempfile::tempdir().unwrap();
    let sound: PathBuf = place.path().join("sound");
    copy(Path::new(FIXTURE), &sound);
    let mut random = Seed([7; 32]).opening_order();
    let mut refused = 0;
    for number in 0..count {
        let dir = place.path().join(format!("cup{number}"));
        copy(&sound, &dir);
        let path = dir.join("results.sqlite");
        let what = match number % 3 {
            0 => corrupt_bytes(&path, &mut random),
            _ => corrupt_rows(&path, &mut random),
        };
        let read = catch_unwind(AssertUnwindSafe(|| read_all(&dir)));
        let read = read.unwrap_or_else(|_| panic!("number {number}: {what}"));
        refused += usize::from(read.is_err());
        fs::remove_dir_all(&dir).unwrap();
    }
    println!("{refused} of {count} were refused");
    // The others are valid in everything that is read, or describe another tournament.
    assert!(refused > count / 3 && refused < count, "{refused} of {count}");
}

#[test]
fn corrupt_json_is_error_that_names_file_table_and_row() {
    let place = tempfile::tempdir().unwrap();
    for (sql, named) in [
        ("INSERT INTO requests VALUES (3, '[\"')", ["table `requests`", "row 3"]),
        ("REPLACE INTO tournament VALUES ('absent', '{}')", ["table `tournament`", "row `absent`"]),
        ("UPDATE entrants SET files = '[' WHERE id = 1", ["table `entrants`", "row 1: `files`"]),
    ] {
        let dir = place.path().join("cup");
        copy(Path::new(FIXTURE), &dir);
        Connection::open(dir.join("results.sqlite")).unwrap().execute_batch(sql).unwrap();
        let db = open_results(&dir).unwrap();
        let asked = db.requests::<RequestedChange>().take();
        let read = db.absent().map(drop).and(db.entrants().map(drop)).and(asked.map(drop));
        let error = Chain(&read.unwrap_err()).to_string();
        assert!(
            error.contains("results.sqlite: ") && named.iter().all(|part| error.contains(part)),
            "{error}"
        );
        fs::remove_dir_all(&dir).unwrap();
    }
}
