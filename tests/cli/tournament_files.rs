//! The files of a tournament: results bound to records, leftovers of kills, directories that move or vanish.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{Folder, Referee, SEED, Signal, referee};
use rusqlite::Connection;
use serde_json::Value;

/// A tournament of three deterministic bots.
fn cup(folder: &Folder, head: &str, format: &str) -> String {
    let mut text = format!(
        "game = 'checkers'\nseed = '{SEED}'\nopening_plies = 4\njobs = 2\n{head}\n[format]\n{format}\n"
    );
    text += "[options]\nturn_limit = 30\n";
    for step in 0..3 {
        let pick =
            format!("lambda t: move(t, t['legal'][(len(t['view']['fen']) + {step}) % len(t['legal'])])");
        folder.bot(&format!("bot{step}"), &format!("play(turn={pick})"));
        text += &format!("[[entrants]]\nname = 'bot{step}'\ncommand = 'python3 bot{step}.py'\n");
    }
    folder.write("cup.toml", text)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { _ = fs::copy(&path, &target).unwrap() }
    }
}

fn change(dir: &Path, sql: &str) {
    Connection::open(dir.join("results.sqlite")).unwrap().execute_batch(sql).unwrap();
}

/// The output of `verify` for a directory: the differences as `m1: ...`, and the summary.
fn verified(dir: &Path, code: i32) -> (Vec<String>, Value, Value) {
    let ended = referee(["tournament", "verify", dir.to_str().unwrap(), "--json"]).with_code(code).says(&[]);
    let difference = |played: &Value| {
        format!("{}: {}", played["match"].as_str().unwrap_or("?"), played["what"].as_str().unwrap())
    };
    let differences = ended.all("difference").iter().map(difference).collect();
    (differences, ended.one("standings"), ended.one("summary"))
}

#[test]
fn changed_rows_are_listed_and_standings_come_from_records() {
    let folder = Folder::new();
    let config = cup(&folder, "", "kind = 'round_robin'\ncycles = 2");
    referee(["tournament", "run", &config, "--dir", &folder.text("cup"), "--no-fsync"]).done();
    let sound = folder.path("cup");
    let output = referee(["tournament", "verify", &folder.text("cup")]).done().stdout;
    assert!(output.contains("12 results, 12 records, 0 differ"), "{output}");
    let (none, standings, summary) = verified(&sound, 0);
    assert_eq!(none.len(), 0, "{summary}");
    type Act<'a> = &'a dyn Fn(&Path);
    let sql = |text: &'static str| move |dir: &Path| change(dir, text);
    let cases: [(&str, Act<'_>, &[&str]); 13] = [
        (
            "ranks",
            &sql("UPDATE matches SET ranks = '[2,1]' WHERE number = 3"),
            &["m3: ranks: [2,1] in the results, [1,1]"],
        ),
        (
            "faults",
            &sql("UPDATE matches SET forfeited = 1 WHERE number = 2"),
            &["m2: forfeited: [0] in the results, []"],
        ),
        (
            "lineup",
            &sql("UPDATE matches SET lineup = '[2,2]' WHERE number = 2"),
            &["m2: lineup: [2,2] in the results"],
        ),
        (
            "details",
            &sql("UPDATE details SET decisions = 0 WHERE number = 12"),
            &["m12: decisions: 0 in the results, 26"],
        ),
        ("seal", &sql("UPDATE details SET seal = 'ff' WHERE number = 1"), &["m1: the seal of its record is"]),
        ("a row less", &sql("DELETE FROM matches WHERE number = 5"), &["m5: the results have no row for"]),
        (
            "cut off",
            &sql(
                "UPDATE matches SET ranks = NULL, ended_by = 'cut_off' WHERE number = 5; DELETE FROM details WHERE number = 5",
            ),
            &["m5: the results have no result of it, but there is"],
        ),
        (
            "void",
            &sql(
                "UPDATE matches SET ranks = NULL, ended_by = 'void' WHERE number = 5; UPDATE details SET scores = NULL WHERE number = 5",
            ),
            &["m5: it is void in the results"],
        ),
        (
            "no JSON",
            &sql("UPDATE matches SET lineup = '[0' WHERE number = 5"),
            &["m5: its `lineup`: EOF while parsing a list"],
        ),
        (
            "a record less",
            &|dir| fs::remove_file(dir.join("records/m7.jsonl")).unwrap(),
            &["m7: records/m7.jsonl is missing"],
        ),
        (
            "another record",
            &|dir| _ = fs::copy(dir.join("records/m7.jsonl"), dir.join("records/m8.jsonl")).unwrap(),
            &["m8: its record has the match m7, not m8"],
        ),
        (
            "an empty record",
            &|dir| fs::write(dir.join("records/m8.jsonl"), "").unwrap(),
            &["m8: its record differs: line 1"],
        ),
        (
            "an attempt more",
            &sql(
                "INSERT INTO matches VALUES (4, 3, 2, '[0,1]', NULL, 0, 0, 'cut_off', '', NULL, NULL, NULL)",
            ),
            &["m4.3: the results have no attempt 2 before it"],
        ),
    ];
    for (what, act, expected) in cases {
        let dir = folder.path(what);
        copy(&sound, &dir);
        act(&dir);
        let (differences, by_records, summary) = verified(&dir, 1);
        assert_eq!(differences.len(), expected.len(), "{what}: {differences:?}");
        for (difference, expected) in differences.iter().zip(expected) {
            assert!(difference.contains(expected), "{what}: {difference}");
        }
        assert_eq!(summary["differing"], expected.len(), "{what}");
        if !["void", "a record less", "another record", "an empty record"].contains(&what) {
            assert_eq!(by_records, standings, "{what}");
        }
    }
    // Points gained by a change are reported.
    let dir = folder.path("all");
    copy(&sound, &dir);
    change(
        &dir,
        "UPDATE matches SET ranks = iif(lineup LIKE '[0,%', '[1,2]', '[2,1]') WHERE lineup LIKE '%0%'",
    );
    let output = referee(["tournament", "verify", dir.to_str().unwrap()]).with_code(1).says(&[]).stdout;
    assert!(
        output.contains("bot0: 4 points by the records, 8 in the results") && output.contains("8 differ"),
        "{output}"
    );
    // A result that does not name the seal of its record is not bound to it.
    change(&sound, "UPDATE details SET seal = NULL WHERE number = 1");
    let (missing, ..) = verified(&sound, 1);
    assert!(missing.len() == 1 && missing[0].to_string().contains("not missing"), "{missing:?}");
}

#[test]
fn matches_with_records_are_added_after_a_kill() {
    let folder = Folder::new();
    let config = cup(&folder, "", "kind = 'round_robin'\ncycles = 2");
    let (dir, text) = (folder.path("cup"), folder.text("cup"));
    referee(["tournament", "run", &config, "--dir", &text]).done();
    let shown = || referee(["tournament", "standings", &text]).done().stdout;
    let before = shown();
    // As if the process had been killed between writing the records and the results.
    change(&dir, "DELETE FROM matches WHERE number > 9; DELETE FROM details WHERE number > 9");
    fs::write(dir.join("begun"), "m10 0,2\nm11 2,1\nm12 1,2\n").unwrap();
    // As if it had been killed while writing, or after a power failure.
    let cut = fs::read(dir.join("records/m12.jsonl")).unwrap();
    fs::write(dir.join("records/m12.jsonl"), &cut[..cut.len() / 2]).unwrap();
    fs::write(dir.join("records/m12.2.jsonl.part"), &cut[..9]).unwrap();
    let ended = referee(["tournament", "resume", &text, "--json"]).with_code(0);
    let ended = ended.says(&["m12.jsonl is incomplete: renamed to m12.jsonl.invalid"]);
    let ids: Vec<Value> = ended.all("match").iter().map(|played| played["id"].clone()).collect();
    assert_eq!(ids, ["m12.2"], "the others are not played again");
    assert_eq!(shown(), before);
    assert_eq!(verified(&dir, 0).2["records"], 12);
    let (records, others): (Vec<String>, Vec<String>) =
        crate::common::files(&dir.join("records")).into_iter().partition(|name| name.ends_with(".jsonl"));
    assert_eq!((records.len(), others), (12, vec!["m12.jsonl.invalid".to_owned()]), "{records:?}");
    assert_eq!(fs::read(dir.join("records/m12.jsonl.invalid")).unwrap(), cut[..cut.len() / 2]);
    // A record that is not of this tournament is not added.
    fs::copy(dir.join("records/m1.jsonl"), dir.join("records/m13.jsonl")).unwrap();
    referee(["tournament", "resume", &text])
        .with_code(5)
        .says(&["m13.jsonl is not a record of this tournament"]);
}

#[test]
fn corrupt_unsealed_record_is_kept_and_match_replayed() {
    let folder = Folder::new();
    let config = cup(&folder, "", "kind = 'round_robin'\ncycles = 2");
    let (dir, text) = (folder.path("cup"), folder.text("cup"));
    referee(["tournament", "run", &config, "--dir", &text]).done();
    // As if the process had been killed between the two matches of the last set, and the record damaged since.
    let whole = fs::read_to_string(dir.join("records/m11.jsonl")).unwrap();
    let unsealed: String =
        whole.lines().filter(|line| !line.contains("\"seal\"")).map(|line| format!("{line}\n")).collect();
    for (what, record) in [
        ("sound", unsealed.clone()),
        ("corrupt", unsealed.replacen("\"type\":\"answer\"", "\"type\":\"\0\"", 1)),
    ] {
        change(&dir, "DELETE FROM matches WHERE number > 10; DELETE FROM details WHERE number > 10");
        for name in crate::common::files(&dir.join("records")) {
            if name.starts_with("m11") || name.starts_with("m12") {
                fs::remove_file(dir.join("records").join(name)).unwrap();
            }
        }
        fs::write(dir.join("records/m11.unsealed"), &record).unwrap();
        fs::write(dir.join("begun"), "m11 2,1\n").unwrap();
        let ended = referee(["tournament", "resume", &text, "--json"]).with_code(0);
        let ids: Vec<Value> = ended.all("match").iter().map(|played| played["id"].clone()).collect();
        let kept = dir.join("records/m11.unsealed.invalid");
        if what == "sound" {
            assert_eq!(ids, ["m12"]);
            assert!(!kept.exists());
        } else {
            ended.says(&[
                "m11.unsealed is not a record of this tournament",
                "renamed to m11.unsealed.invalid",
            ]);
            assert_eq!(ids.len(), 2, "{ids:?}");
            assert_eq!(fs::read_to_string(&kept).unwrap(), record);
        }
        assert_eq!(verified(&dir, 0).2["records"], 12);
    }
}

#[test]
fn a_killed_tournament_can_be_resumed_at_once() {
    let folder = Folder::new();
    let config = cup(&folder, "", "kind = 'round_robin'\ncycles = 200");
    let dir = folder.text("cup");
    let mut running = Referee::start(["tournament", "run", &config, "--dir", &dir, "--json"]);
    for _ in 0..8 {
        running.receive_type("match");
        // Without waiting for its exit.
        running.signal(Signal::KILL);
        let next = Referee::start(["tournament", "resume", &dir, "--json"]);
        running = next;
    }
    running.receive_type("match");
    referee(["tournament", "resume", &dir])
        .with_code(5)
        .says(&["another process is playing this tournament"]);
}

#[test]
fn a_directory_that_vanishes_ends_the_run_with_an_error() {
    type Act<'a> = &'a dyn Fn(&Path);
    let acts: [(&str, Act<'_>, &str); 4] = [
        ("removed", &|dir| fs::remove_dir_all(dir).unwrap(), "cup"),
        (
            "moved",
            &|dir| fs::rename(dir, dir.with_file_name("elsewhere")).unwrap(),
            "was removed or replaced during the run",
        ),
        (
            "without its records",
            &|dir| fs::rename(dir.join("records"), dir.join("old")).unwrap(),
            "was removed or replaced during the run",
        ),
        (
            "without its results",
            &|dir| fs::remove_file(dir.join("results.sqlite")).unwrap(),
            "was removed or replaced during the run",
        ),
    ];
    for (what, act, why) in acts {
        let folder = Folder::new();
        let config = cup(&folder, "", "kind = 'round_robin'\ncycles = 500");
        let args = ["tournament", "run", &config, "--dir", &folder.text("cup"), "--json"];
        let mut running = Referee::start(args);
        running.receive_type("match");
        // Files created in the meantime can prevent the removal of a directory.
        running.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(20));
        act(&folder.path("cup"));
        running.signal(Signal::CONT);
        let ended = running.end().with_code(5).says(&["error: ", why]);
        assert!(ended.all("standings").is_empty(), "{what}");
    }
}

/// Interrupts a run after a number of matches, as Ctrl-C does.
fn play_some(args: &[&str], matches: usize) {
    let mut running = Referee::start(args);
    for _ in 0..matches {
        running.receive_type("match");
    }
    running.signal(Signal::INT);
    running.end().with_code(130);
}

#[test]
fn a_tournament_can_be_moved_with_its_bots() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("here/bots")).unwrap();
    // Their pauses make the tournament last until the interrupts.
    let plain = |name: &str| {
        let play = "\nimport time\nplay(turn=lambda t: (time.sleep(0.002), first(t)))\n";
        fs::write(folder.path("here/bots").join(name), include_str!("common/testbot.py").to_owned() + play)
    };
    let mut text = format!(
        "game = 'checkers'\nseed = '{SEED}'\nopenings = 'openings.fen'\n[options]\nturn_limit = 30\n[format]\nkind = 'round_robin'\ncycles = 10\n"
    );
    for name in ["one", "two"] {
        plain(&format!("{name}.py")).unwrap();
        text +=
            &format!("[[entrants]]\nname = '{name}'\ncommand = 'python3 {name}.py'\ndirectory = 'bots'\n");
    }
    plain("late.py").unwrap();
    folder.write("here/openings.fen", "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12\n");
    let config = folder.write("here/cup.toml", text);
    play_some(&["tournament", "run", &config, "--dir", &folder.text("here/runs/cup"), "--json"], 4);
    fs::rename(folder.path("here"), folder.path("there")).unwrap();
    let dir = folder.text("there/runs/cup");
    let mut add = Command::new(env!("CARGO_BIN_EXE_referee"));
    add.args(["tournament", "add", "../runs/cup", "python3 late.py"]).current_dir(folder.path("there/bots"));
    assert!(add.output().unwrap().status.success());
    play_some(&["tournament", "resume", &dir, "--json"], 4);
    // A link to the directory does not affect the paths of its bots.
    fs::rename(folder.path("there"), folder.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(folder.path("elsewhere/runs/cup"), folder.path("link")).unwrap();
    let ended = referee(["tournament", "resume", &folder.text("link"), "--json"]).done();
    assert_eq!(ended.one("standings")["matches"], 60);
    let config: String = Connection::open(folder.path("elsewhere/runs/cup/results.sqlite"))
        .unwrap()
        .query_row("SELECT value FROM tournament WHERE key = 'config'", [], |row| row.get(0))
        .unwrap();
    assert!(!config.contains(folder.path("").to_str().unwrap()), "{config}");
    // With the records of matches that were cut off.
    let summary = verified(&folder.path("elsewhere/runs/cup"), 0).2;
    assert!(summary["records"].as_u64().unwrap() >= 60, "{summary}");
}

/// `tests/fixtures` keeps a tournament in the formats of records and databases as they are, killed in its sixth match.
#[test]
fn a_kept_tournament_can_be_read_verified_and_resumed() {
    let folder = Folder::new();
    folder.bot("bot0", "");
    copy(&Path::new(crate::common::ROOT).join("tests/fixtures/tournament"), &folder.path(""));
    let (dir, text) = (folder.path("cup"), folder.text("cup"));
    let status = referee(["tournament", "status", &text, "--json"]).done().one("status");
    assert_eq!((&status["played"], &status["missing"]), (&4.into(), &8.into()));
    let standings = referee(["tournament", "standings", &text, "--json"]).done().one("standings");
    assert_eq!(standings["matches"], 4);
    let (differences, ..) = verified(&dir, 1);
    assert!(differences.len() == 1 && differences[0].contains("no row for"), "{differences:?}");
    let ended = referee(["tournament", "resume", &text, "--json", "--accept-changed"]).done();
    assert_eq!(ended.one("standings")["matches"], 12);
    let (differences, by_records, _) = verified(&dir, 0);
    assert_eq!((differences.len(), &by_records["matches"]), (0, &12.into()));
    assert_eq!(dates(&text).iter().filter(|date| date.is_string()).count(), 12);
}

/// The dates of matches in a report.
fn dates(dir: &str) -> Vec<Value> {
    let report = referee(["tournament", "report", dir, "--format", "json"]).done().one("report");
    report["attempts"].as_array().unwrap().iter().map(|played| played["began_at"].clone()).collect()
}

#[test]
fn results_that_come_from_records_have_the_same_dates() {
    let folder = Folder::new();
    let (config, text) = (cup(&folder, "mirror = 'none'", "kind = 'round_robin'"), folder.text("cup"));
    let script = format!(
        "import time\n
def turn(t):
    if not os.path.exists('{0}'):
        open('{0}', 'w').write('turn\\n')
        time.sleep(0.5)
    first(t)\n
play(turn=turn)",
        folder.text("begun")
    );
    folder.bot("bot0", &script);
    let run = Referee::start(["tournament", "run", &config, "--dir", &text]);
    // A suspension is part of a match's duration.
    folder.wait_for("begun");
    run.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(2_500));
    run.signal(Signal::CONT);
    run.wait().done();
    let before = dates(&text);
    assert!(before.len() == 3 && before.iter().all(Value::is_string), "{before:?}");
    change(&folder.path("cup"), "DELETE FROM matches; DELETE FROM details");
    referee(["tournament", "resume", &text]).done();
    assert_eq!(dates(&text), before);
}

#[test]
fn planted_files_are_rejected_without_blocking() {
    let folder = Folder::new();
    let fifo = folder.text("fifo.fen");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let plain = folder.plain_bot("plain");
    let cases: [&[&str]; 7] = [
        &["tournament", "check", &fifo],
        &["play", "checkers", &plain, &plain, "--seed-file", &fifo],
        &["play", "checkers", "tcp:a", &plain, "--listen", "127.0.0.1:0", "--token-file", &fifo],
        &["play", "checkers", &plain, &plain, "--openings", &fifo],
        &["play", "checkers", &plain, &plain, "--record", &fifo],
        &["verify", &fifo],
        &["check", "checkers", &plain, "--junit", &fifo],
    ];
    for args in cases {
        let ended = referee(args).says(&["fifo.fen"]);
        assert!(matches!(ended.code, Some(2 | 5)), "{ended:#?}");
    }
    let secret = folder.write("readable", SEED);
    referee(["play", "checkers", &plain, &plain, "--seed-file", &secret])
        .with_code(2)
        .says(&["other users can read it (mode 0644): run `chmod 600 ", "readable"]);
    // Obstacles in the directory of a tournament.
    let config = cup(&folder, "", "kind = 'round_robin'");
    for name in ["begun", "results.sqlite", "results.part", "results.part-journal", "records"] {
        let dir = folder.path(&format!("with-{name}"));
        fs::create_dir(&dir).unwrap();
        fs::rename(&fifo, dir.join(name)).unwrap();
        let ended = referee(["tournament", "run", &config, "--dir", dir.to_str().unwrap()]);
        assert!(matches!(ended.code, Some(2 | 5)), "{ended:#?}");
        ended.says(&["found a FIFO", name]);
        fs::rename(dir.join(name), &fifo).unwrap();
    }
    let dir = folder.text("cup");
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    for name in ["results.sqlite-journal", "results.sqlite-wal", "results.sqlite-shm"] {
        fs::rename(&fifo, folder.path("cup").join(name)).unwrap();
        for command in ["standings", "status", "verify", "report", "resume"] {
            let ended = referee(["tournament", command, &dir]);
            assert_eq!(ended.code, Some(5), "{command}: {ended:#?}");
            ended.says(&["found a FIFO", name]);
        }
        fs::rename(folder.path("cup").join(name), &fifo).unwrap();
    }
}

#[test]
fn file_that_is_record_of_no_match_is_difference() {
    let folder = Folder::new();
    let config = cup(&folder, "", "kind = 'round_robin'");
    referee(["tournament", "run", &config, "--dir", &folder.text("cup"), "--no-fsync"]).done();
    let records = folder.path("cup/records");
    for name in ["m0.jsonl", "m01.jsonl", "m1.1.jsonl", "m+1.jsonl", "evil.jsonl", "evil.unsealed"] {
        fs::copy(records.join("m1.jsonl"), records.join(name)).unwrap();
        let (differences, _, summary) = verified(&folder.path("cup"), 1);
        let what = format!("?: {} is the record of no match", records.join(name).display());
        assert_eq!((differences, &summary["differing"]), (vec![what], &1.into()));
        fs::remove_file(records.join(name)).unwrap();
    }
    verified(&folder.path("cup"), 0);
}

#[test]
fn a_directory_that_others_can_write_to_causes_a_warning() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    fs::create_dir(folder.path("open")).unwrap();
    fs::set_permissions(folder.path("open"), fs::Permissions::from_mode(0o777)).unwrap();
    referee(["play", "checkers", &plain, &plain, "--record", &folder.text("open")])
        .with_code(0)
        .says(&["other users can write to the directory ", "chmod go-w"]);
}
