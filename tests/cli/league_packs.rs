//! Old records of a league are packed by thousands, and packs are sent.

use std::fs;
use std::process::Command;

use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::common::{Folder, referee};
use crate::watch::wait_until;

const PACK: &str = "ladders/short/records/matches-1-1000.zip";

/// A league whose first match is m991, with this table `[retention]`. Its file begins with the table.
fn at_the_end_of_a_thousand(retention: &str) -> League {
    let league = League::new("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    league.run(&["list"]).done();
    league.query("INSERT INTO league VALUES ('last:short', '990')");
    retain(&league, retention);
    league
}

/// Replaces the table `[retention]`.
fn retain(league: &League, retention: &str) {
    let text = league.folder.read("league.toml");
    let rest = &text[text.find("[sandbox]").expect("a table")..];
    league.folder.write("league.toml", format!("[retention]\n{retention}\n{rest}"));
}

fn has(league: &League, id: &str) -> bool {
    fs::exists(league.folder.path(&format!("ladders/short/records/{id}.jsonl"))).expect("its directory")
}

fn record(league: &League, id: &str) -> String {
    let script =
        "import sys, zipfile\nsys.stdout.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())";
    let read = Command::new("python3")
        .args(["-c", script, &league.folder.text(PACK), &format!("{id}.jsonl")])
        .output();
    String::from_utf8(read.expect("python runs").stdout).expect("UTF-8")
}

#[test]
fn packed_records_are_found_wherever_records_are() {
    let league = at_the_end_of_a_thousand("pack_after = \"1s\"");
    let mut server = league.serve();
    let site = Site::of(&mut server);
    assert_eq!(receive_matches(&mut server, 14)[0]["id"], "m991");
    league.run(&["pause"]).done();
    wait_until("the records are packed", || !has(&league, "m1000"));
    assert!(!has(&league, "m991") && has(&league, "m1001"), "those of the next thousand stay files");
    let m995 = record(&league, "m995");
    assert_eq!(site.get("/api/v1/matches/m995/record").status, 200);
    assert!(
        !site.get("/api/v1/matches/m995/events").json()["events"].as_array().expect("a replay").is_empty()
    );
    league.run(&["verify"]).done();
    drain(server);
    let count = league.verify();
    let records = league.folder.text("ladders/short/records");
    let of = |name: &str| format!("{records}/{name}.jsonl");
    referee(["verify", &of("m995"), &of("m1001")]).done();
    let verified = referee(["verify", &records, "--json"]).done().one("summary");
    assert_eq!(verified["records"].as_u64(), Some(count as u64));
    referee(["show", &of("m995")]).done();
    let there = Folder::new();
    // A pack that was sent elsewhere is verified there.
    fs::copy(format!("{records}/matches-1-1000.zip"), there.path("matches-1-1000.zip")).expect("a copy");
    let pack = there.text("matches-1-1000.zip");
    assert_eq!(referee(["verify", &pack, "--json"]).done().one("summary")["records"], 10);
    let missing = referee(["verify", &there.text("matches-1001-2000.zip")]);
    missing.with_code(2).says(&["matches-1001-2000.zip: No such file"]);
    fs::write(&pack, "PK").expect("it is written");
    referee(["verify", &pack]).with_code(5).says(&["matches-1-1000.zip: invalid Zip archive"]);
    referee(["publish", &records, "--to", &there.text("public")]).done();
    referee(["verify", &there.text("public/m995.jsonl")]).done();
    // A backup is a league with all records.
    let backup = there.text("backup");
    let back_up = || league.run(&["backup", &backup, "--json"]).done().one("backup");
    let (first, second) = (back_up(), back_up());
    assert_eq!([&first["records"], &first["new"]], [&serde_json::json!(count); 2]);
    assert_eq!([&second["records"], &second["new"]], [&serde_json::json!(count), &serde_json::json!(0)]);
    // Private lines in packs are erased.
    let command = league.folder.text("bot-one");
    assert!(m995.contains(&command));
    retain(&league, "pack_after = \"1s\"\nprivate_after = \"1s\"");
    let server = league.serve();
    wait_until("private lines are erased", || !record(&league, "m995").contains(&command));
    drain(server);
    assert!(league.verify() >= count);
    let erased = league.run(&["verify", "--json"]).done().one("summary")["erased"].as_u64();
    assert!(erased >= Some(10), "{erased:?}");
    back_up();
    referee(["league", "verify", "--league", &format!("{backup}/league.toml")]).done();
}

#[test]
fn record_to_be_erased_verifies_after_kill_of_server() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 3);
    drain(server);
    let there = Folder::new();
    let records = league.folder.text("ladders/short/records");
    referee(["publish", &format!("{records}/m2.jsonl"), "--to", &there.text("public")]).done();
    let public = there.read("public/m2.jsonl");
    let seal: serde_json::Value = serde_json::from_str(public.lines().last().expect("a seal")).expect("JSON");
    let set = |seal: &str| league.query(&format!("UPDATE matches SET seal = '{seal}' WHERE number = 2"));
    // The database's digest, before the record is replaced.
    set(seal["sha256"].as_str().expect("a digest"));
    league.verify();
    set(&"0".repeat(64));
    assert!(league.run(&["verify"]).with_code(1).stdout.contains("m2: seal: "));
}

#[test]
fn packing_that_was_interrupted_loses_no_record() {
    let league = at_the_end_of_a_thousand("");
    let mut server = league.serve();
    receive_matches(&mut server, 14);
    league.run(&["pause"]).done();
    drain(server);
    let count = league.verify();
    let records = league.folder.path("ladders/short/records");
    let kept = |name: &str| fs::read(records.join(name)).expect("a file");
    let (m991, m992) = (kept("m991.jsonl"), kept("m992.jsonl"));
    // Killed while a pack was written.
    fs::write(records.join("matches-1-1000.zip.part"), "PK and no more").expect("a file");
    assert_eq!(league.verify(), count);
    retain(&league, "pack_after = \"1s\"");
    let server = league.serve();
    wait_until("the records are packed", || !has(&league, "m1000"));
    drain(server);
    assert!(!fs::exists(records.join("matches-1-1000.zip.part")).expect("its directory"));
    // Killed when the pack had its name, and some files were removed.
    fs::write(records.join("m991.jsonl"), &m991).expect("a file");
    fs::write(records.join("m992.jsonl"), &m992).expect("a file");
    league.query("UPDATE league SET value = '0' WHERE key = 'packed:short'");
    assert!(league.verify() >= count);
    let server = league.serve();
    wait_until("the records are packed again", || !has(&league, "m991") && !has(&league, "m992"));
    drain(server);
    assert!(league.verify() >= count);
    assert_eq!([record(&league, "m991").as_bytes(), record(&league, "m992").as_bytes()], [&*m991, &*m992]);
}

#[test]
fn a_pack_is_sent_until_the_command_succeeds() {
    let send = "pack_after = \"1s\"\nsend = [\"sh\", \"-c\", \"test -e ready && cp $1 sent-$2\", \"sh\", \"{file}\", \"{name}\"]";
    let league = at_the_end_of_a_thousand(send);
    league.run(&["check"]).done();
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 12);
    league.run(&["pause"]).done();
    wait_until("it has failed", || site.get("/metrics").body.contains("\nreferee_league_send_failing 1\n"));
    assert!(site.get("/metrics").body.contains("\nreferee_league_unsent_packs 1\n"));
    let health = site.get("/healthz");
    assert_eq!((health.status, health.body.contains("packs: `[retention] send` has failed")), (200, true));
    league.folder.write("ready", "");
    wait_until("it has succeeded", || {
        site.get("/metrics").body.contains("\nreferee_league_unsent_packs 0\n")
    });
    let health = site.get("/healthz");
    assert!(!health.body.contains("packs:"), "{}", health.body);
    let sent = fs::read(league.folder.path("sent-short-matches-1-1000.zip")).expect("a file");
    assert_eq!(sent, fs::read(league.folder.path(PACK)).expect("the pack stays"));
    drain(server).says(&["matches-1-1000.zip was not sent, and is tried again in 2 s: sh: exit code 1"]);
}

#[test]
fn the_table_for_retention_is_validated() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    for (retention, what) in [
        ("pack_after = \"soon\"", "[retention] pack_after: `soon`"),
        (
            "send = [\"cp\", \"{file}\", \"there\"]",
            "[retention] send: it sends packs, and needs `pack_after`",
        ),
        ("pack_after = \"1d\"\nsend = [\"cp\", \"there\"]", "[retention] send: no argument has {file}"),
        (
            "pack_after = \"1d\"\nsend = [\"cp\", \"{file}\", \"{ladder}\"]",
            "[retention] send: there is no `{ladder}`",
        ),
        ("pack_after = \"1d\"\nsend = []", "[retention] send: there is no program"),
    ] {
        retain(&league, retention);
        league.run(&["check"]).with_code(2).says(&[what]);
        league.serve().wait().with_code(2).says(&[what]);
    }
}
