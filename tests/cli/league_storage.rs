//! Files of a league: a full disk, a locked database, backups.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::guest::Guest;
use crate::common::http::Site;
use crate::common::league::{League, drain, hello, receive_matches};
use crate::common::{Ended, Folder, Referee, Signal, compile, referee};
use crate::watch::wait_until;

/// Serves a league on a disk that is full while the file `league.full` exists. The league is in `league`.
pub(crate) fn serve_on_a_small_disk(league: &League) -> Referee {
    let shim = compile(&league.folder, "disk", &["-shared", "-fPIC", "-ldl"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["serve", &league.file, "--json"]);
    Referee::start_as(command.env("LD_PRELOAD", shim).env("FULL_DISK", league.folder.text("ladders")))
}

pub(crate) fn fill(league: &League) {
    league.folder.write("ladders.full", "");
}

#[test]
fn full_disk_holds_matches_back_and_play_resumes() {
    let league = League::new("jobs = 2\nwatch = \"127.0.0.1:0\"", &[("one", ""), ("two", ""), ("three", "")]);
    let mut server = serve_on_a_small_disk(&league);
    let site = Site::of(&mut server);
    receive_matches(&mut server, 3);
    assert_eq!(site.ask("GET", "/healthz", "").status, 200);
    assert!(site.get("/metrics").body.contains("\nreferee_league_storage_writable 1\n"));
    fill(&league);
    wait_until("the page of its health says so", || {
        let health = site.ask("GET", "/healthz", "");
        health.status == 503 && health.body.starts_with("storage: ")
    });
    assert!(site.get("/metrics").body.contains("\nreferee_league_storage_writable 0\n"));
    let stored = || league.standings(&[])["matches"].as_u64().expect("a number");
    // Matches on their way end.
    let mut before = stored();
    wait_until("no match ends any more", || {
        std::thread::sleep(Duration::from_millis(700));
        std::mem::replace(&mut before, stored()) == before
    });
    std::fs::remove_file(league.folder.path("ladders.full")).expect("it exists");
    wait_until("matches end again", || stored() > before + 3);
    drain(server).says(&["cannot be written: No space left on device", "no match begins", "matches go on"]);
    league.verify();
}

#[test]
fn other_users_cannot_read_the_database_of_a_restored_league() {
    use std::os::unix::fs::PermissionsExt;
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 1);
    let files = ["league.sqlite", "league.sqlite-wal", "league.sqlite-shm"];
    let paths = files.map(|name| league.folder.path(name));
    for path in &paths {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).expect("its file");
    }
    league.run(&["list"]).with_code(0).says(&["league.sqlite: its mode was 644 and is 600 now"]);
    for path in &paths {
        let mode = std::fs::metadata(path).expect("it exists").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
    drain(server);
    std::fs::set_permissions(&paths[0], std::fs::Permissions::from_mode(0o664)).expect("its file");
    let mut server = league.serve();
    receive_matches(&mut server, 1);
    drain(server).says(&["league.sqlite: its mode was 664 and is 600 now"]);
    // Nothing has come between the server and the other programs.
    league.verify();
}

#[test]
fn verify_finds_no_difference_while_matches_end() {
    let league = League::new("jobs = 4", &[("one", ""), ("two", ""), ("three", ""), ("four", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 20);
    for _ in 0..8 {
        league.run(&["verify"]).done();
    }
    drain(server);
}

#[test]
fn a_server_with_a_full_disk_can_be_stopped() {
    let league = League::new("", &[("one", ""), ("two", ""), ("three", "")]);
    let mut server = serve_on_a_small_disk(&league);
    receive_matches(&mut server, 3);
    fill(&league);
    std::thread::sleep(Duration::from_millis(500));
    server.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    server.signal(Signal::TERM);
    let ended: Ended = server.wait();
    ended.says(&["No space left on device"]);
    std::fs::remove_file(league.folder.path("ladders.full")).expect("it exists");
    league.verify();
}

#[test]
fn a_locked_database_is_waited_for() {
    let league = League::new("", &[("one", ""), ("two", ""), ("three", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 3);
    let script = "import sqlite3, sys, time\ndb = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)\n\
                  db.execute('BEGIN EXCLUSIVE')\ntime.sleep(13)\ndb.execute('ROLLBACK')";
    let database = league.folder.text("league.sqlite");
    let locked = Command::new("python3").args(["-c", script, &database]).status().expect("python runs");
    assert!(locked.success());
    receive_matches(&mut server, 3);
    drain(server).says(&["the database of the league cannot be written", "matches go on"]);
    league.verify();
}

#[test]
fn a_backup_goes_on_elsewhere_without_tokens_and_seeds() {
    let league = League::new("listen = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let old = league.add("alice");
    let (mut server, address) = league.listening();
    let alice = Guest::saying(address, &hello("alice", None, &old)).play_along();
    receive_matches(&mut server, 4);
    // Elsewhere.
    let (elsewhere, there) = (Folder::new(), Folder::new());
    let backup = elsewhere.text("backup");
    league.run(&["backup", &backup]).done();
    let copied = Command::new("cp").args(["-a", &format!("{backup}/."), &there.text("")]).status();
    assert!(copied.expect("cp runs").success());
    drain(server);
    alice.join().expect("she plays");
    let restored = League { file: there.text("league.toml"), folder: there };
    let secrets = "SELECT (SELECT count(*) FROM bots WHERE token IS NOT NULL) || '/' || \
                   (SELECT count(*) FROM league WHERE key LIKE 'seed:%')";
    assert_eq!([league.query(secrets), restored.query(secrets)], ["1/1", "0/0"]);
    let before = restored.verify();
    assert!(before >= 4);
    // The files of programs are copied by hand; their commands in the test are absolute.
    let new = restored.add("alice");
    assert_ne!(new, old);
    let (mut server, address) = restored.listening();
    assert_eq!(
        Guest::saying(address, &hello("alice", None, &old)).receive_type("error")["code"],
        "wrong_token"
    );
    let alice = Guest::saying(address, &hello("alice", None, &new)).play_along();
    let mut played = 0;
    let mut is_paired = false;
    while played < 6 || !is_paired {
        played += 1;
        is_paired |=
            server.receive_type("match")["players"].as_array().expect("names").contains(&json!("alice"));
    }
    drain(server);
    alice.join().expect("she plays");
    assert!(restored.verify() >= before + played);
    let listed = referee(["league", "list", "--json", "--league", &restored.file]).done().all("bot");
    assert_eq!(listed.iter().filter(|bot| bot["name"] == "alice" && bot["owner"] == "alice").count(), 1);
}

#[test]
fn a_backup_follows_a_league_and_goes_on_elsewhere() {
    let pages = "listen = \"127.0.0.1:0\"\n[pages]\nrules = \"rules.md\"\nannouncements = \"news\"";
    let league = League::new(pages, &[("one", ""), ("two", "")]);
    league.folder.write("rules.md", "Play fair.");
    std::fs::create_dir(league.folder.path("news")).expect("a directory");
    league.folder.write("news/begin.md", "# It begins");
    league.add("alice");
    let elsewhere = Folder::new();
    let dir = elsewhere.text("backup");
    let back_up = || league.run(&["backup", &dir, "--json"]).done().one("backup");
    let (mut server, _) = league.listening();
    receive_matches(&mut server, 3);
    let first = back_up();
    assert!(first["records"].as_u64() >= Some(3) && first["records"] == first["new"], "{first}");
    receive_matches(&mut server, 2);
    drain(server);
    let second = back_up();
    let count = |backup: &Value, what: &str| backup[what].as_u64().expect("a number");
    assert_eq!(count(&second, "new"), count(&second, "records") - count(&first, "records"), "{second}");
    assert!(count(&second, "new") >= 2 && count(&back_up(), "new") == 0, "{second}");
    let there = Folder::new();
    let copied = Command::new("cp").args(["-a", &format!("{dir}/."), &there.text("")]).status();
    assert!(copied.expect("cp runs").success());
    let restored = League { file: there.text("league.toml"), folder: there };
    let secrets = "SELECT (SELECT count(*) FROM bots WHERE token IS NOT NULL) || '/' || \
                   (SELECT count(*) FROM league WHERE key LIKE 'seed:%')";
    assert_eq!([league.query(secrets), restored.query(secrets)], ["1/1", "0/0"]);
    assert_eq!(restored.folder.read("rules.md"), "Play fair.");
    assert_eq!(restored.folder.read("news/begin.md"), "# It begins");
    let before = restored.verify();
    assert_eq!(before as u64, count(&second, "records"));
    // Not into the league itself, nor over something else, nor over a league that has been played.
    let own = league.folder.text("");
    league.run(&["backup", &own]).with_code(2).says(&["it is the directory of the league itself"]);
    let news = league.folder.text("news");
    league.run(&["backup", &news]).with_code(2).says(&["it has files and is no backup"]);
    let other = League::new("", &[("one", ""), ("two", "")]);
    let mut server = other.serve();
    receive_matches(&mut server, before + 3);
    drain(server);
    other.run(&["backup", &dir]).with_code(2).says(&["matches that the league does not have"]);
    let mut server = restored.serve();
    receive_matches(&mut server, 1);
    drain(server);
    let played = restored.folder.text("");
    league
        .run(&["backup", &played])
        .with_code(2)
        .says(&["this backup has been played: ladder short has a seed"]);
    assert!(restored.verify() > before);
}

#[test]
fn private_lines_are_erased_after_time_and_records_still_verify() {
    let league = League::new("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 3);
    drain(server);
    let record = |id: &str| league.folder.read(&format!("ladders/short/records/{id}.jsonl"));
    let command = league.folder.text("bot-one");
    assert!(record("m1").contains(&command), "{}", record("m1"));
    let elsewhere = Folder::new();
    let dir = elsewhere.text("backup");
    league.run(&["backup", &dir]).done();
    let count = league.verify();
    let text = league.folder.read("league.toml");
    league.folder.write("league.toml", format!("[retention]\nprivate_after = \"soon\"\n{text}"));
    league.run(&["check"]).with_code(2).says(&["[retention] private_after: `soon`", "such as `90d`"]);
    league.folder.write("league.toml", format!("[retention]\nprivate_after = \"1s\"\n{text}"));
    let before = std::fs::metadata(league.folder.path("ladders/short/records/m1.jsonl")).expect("a file");
    let mut server = league.serve();
    let site = Site::of(&mut server);
    wait_until("private lines are erased", || {
        !record("m1").contains(&command) && !record("m3").contains(&command)
    });
    let after = std::fs::metadata(league.folder.path("ladders/short/records/m1.jsonl")).expect("a file");
    assert_eq!(
        before.modified().expect("a time"),
        after.modified().expect("a time"),
        "results are dated by records"
    );
    // It is played and looked at as before.
    receive_matches(&mut server, 2);
    assert!(!site.get("/api/v1/matches/m1/events").json()["events"].as_array().expect("a replay").is_empty());
    assert_eq!(site.get("/api/v1/matches/m1/record").body, record("m1"));
    league.run(&["verify"]).done();
    drain(server);
    assert!(league.verify() >= count + 2);
    let summary = league.run(&["verify", "--json"]).done().one("summary");
    assert!(summary["erased"].as_u64() >= Some(3), "{summary}");
    league.run(&["backup", &dir]).done();
    let copied = std::fs::read_to_string(format!("{dir}/ladders/short/records/m1.jsonl")).expect("a copy");
    assert_eq!(copied, record("m1"), "backups follow");
    referee(["league", "verify", "--league", &format!("{dir}/league.toml")]).done();
}

#[test]
fn a_backup_says_which_records_are_missing() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 2);
    drain(server);
    std::fs::remove_file(league.folder.path("ladders/short/records/m1.jsonl")).expect("it exists");
    let elsewhere = Folder::new();
    league
        .run(&["backup", &elsewhere.text("backup")])
        .with_code(0)
        .says(&["1 record is missing; `referee league verify` lists them"]);
}

#[test]
fn unreadable_stored_number_is_error_that_names_it() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 1);
    drain(server);
    for key in ["last:short", "seed-from:short"] {
        let before = league.query(&format!("SELECT value FROM league WHERE key = '{key}'"));
        league.query(&format!("UPDATE league SET value = 'many' WHERE key = '{key}'"));
        let output = format!("league: `{key}` is `many`, expected a number");
        league.serve().wait().with_code(5).says(&[&output]);
        league.query(&format!("UPDATE league SET value = '{before}' WHERE key = '{key}'"));
    }
    league.verify();
}

#[test]
fn planted_files_beside_the_database_are_rejected_without_blocking() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    league.run(&["list"]).done();
    for ending in ["-journal", "-wal", "-shm"] {
        let path = league.folder.text(&format!("league.sqlite{ending}"));
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
        let what = format!("league.sqlite{ending}: expected a file, found a FIFO");
        for args in
            [["league", "list", "--league", &league.file], ["serve", &league.file, "--log-level", "error"]]
        {
            referee(args).with_code(5).says(&[&what]);
        }
        std::fs::remove_file(path).expect("it is there");
    }
    league.run(&["list"]).done();
}

#[test]
fn file_that_is_record_of_no_match_is_difference() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    let id = receive_matches(&mut server, 1)[0]["id"].as_str().expect("text").to_owned();
    drain(server);
    let records = league.folder.path("ladders/short/records");
    let (kind, number) = id.split_at(1);
    for name in
        ["evil".to_owned(), format!("{kind}0"), format!("{kind}0{number}"), format!("{kind}+{number}")]
    {
        let path = records.join(format!("{name}.jsonl"));
        std::fs::copy(records.join(format!("{id}.jsonl")), &path).expect("a record");
        let found = league.run(&["verify", "--json"]).with_code(1).one("difference");
        assert_eq!(found["match"], name);
        assert!(found["what"].as_str().expect("text").contains("is the record of "), "{found}");
        std::fs::remove_file(path).expect("it is there");
    }
    league.verify();
}
