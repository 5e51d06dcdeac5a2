//! A game in a crate of its own: every subcommand plays it through `referee::cli::main`.

use std::ffi::OsStr;
use std::process::Command;

use crate::common::{Ended, Folder, Referee, in_rust, referee, sample};
use serde_json::{Value, json};

fn program(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ended {
    Referee::start_as(Command::new(in_rust("tic-tac-toe")).args(args)).end()
}

/// Records of matches between sample bots.
fn played(folder: &Folder, matches: &str) -> String {
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    program(["play", "tic_tac_toe", &bot, &bot, "-n", matches, "--record", &records]).with_code(0);
    records
}

#[test]
fn records_of_a_custom_game_verify_only_with_the_game() {
    let folder = Folder::new();
    let records = played(&folder, "3");
    assert!(program(["verify", &records]).done().stdout.contains("3 records, 0 differ"));
    let text = folder.read("records/m1.jsonl");
    let (from, to) = text.split_once("\"move\":\"").expect("a move");
    let forged = folder.write("forged.jsonl", format!("{from}\"move\":\"d{to}"));
    program(["verify", &forged]).with_code(1);
    let unknown = referee(["verify", &records]).with_code(1);
    assert!(unknown.stdout.contains("unknown game `tic_tac_toe`"), "{unknown:?}");
}

#[test]
fn a_custom_game_is_listed_and_documented() {
    let listed = program(["games", "--json"]).done().all("game");
    let ids: Vec<&str> = listed.iter().filter_map(|game| game["id"].as_str()).collect();
    assert_eq!(ids, ["checkers", "chess", "jeex", "keezen", "saxum", "tic_tac_toe", "xe_queo"]);
    assert!(program(["rules", "tic_tac_toe"]).done().stdout.starts_with("# Tic-tac-toe"));
}

#[test]
fn custom_game_is_shown_as_text_picture_and_page() {
    let folder = Folder::new();
    played(&folder, "1");
    let record = folder.text("records/m1.jsonl");
    let text = program(["show", &record]).done().stdout;
    assert!(text.contains("  abc\n") && text.contains("ended: "), "{text}");
    let letters = |svg: &str| svg.matches(">x</text>").count() + svg.matches(">o</text>").count();
    for (moves, turn) in [(1, "1"), (4, "4")] {
        let svg = program(["show", &record, "--svg", "--turn", turn]).done().stdout;
        assert_eq!(letters(&svg), moves, "{svg}");
    }
    let page = program(["show", &record, "--html"]).done().stdout;
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{page}");
}

#[test]
fn a_tournament_of_a_custom_game_resumes_and_verifies() {
    let folder = Folder::new();
    let bot = sample("python/random_bot.py");
    let entrant = |name: &str| format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n");
    let head = "game = 'tic_tac_toe'\nopening_plies = 1\n[format]\nkind = 'round_robin'\ncycles = 2\n";
    let config = folder.write("cup.toml", format!("{head}{}{}", entrant("one"), entrant("two")));
    let cup = folder.text("cup");
    program(["tournament", "run", &config, "--dir", &cup]).with_code(0);
    program(["tournament", "resume", &cup]).with_code(0);
    let audit = program(["tournament", "verify", &cup, "--json"]).done();
    assert_eq!(
        (&audit.one("summary")["records"], &audit.one("summary")["differing"]),
        (&4.into(), &0.into())
    );
    let site = folder.text("site");
    program(["tournament", "report", &cup, "--site", &site]).with_code(0);
    assert!(folder.read("site/index.html").contains("tic_tac_toe"));
    assert!(folder.read("site/matches/m1.html").contains("one"));
}

#[test]
fn bots_are_checked_with_a_custom_game() {
    let good = sample("python/random_bot.py");
    let verdict = program(["check", "tic_tac_toe", &good]).with_code(0);
    assert!(verdict.stdout.contains("tic_tac_toe: whole matches"), "{verdict:?}");
    let folder = Folder::new();
    let bad = folder.illegal_bot("True");
    assert!(program(["check", "tic_tac_toe", &bad]).with_code(1).stdout.contains("not legal"));
}

#[test]
fn the_schema_of_a_custom_game_validates_its_requests() {
    let schema = |part: &str| -> Value {
        program(["schema", "tic_tac_toe", part]).done().stdout.parse().expect("JSON")
    };
    let mut host = Referee::start_as(Command::new(in_rust("tic-tac-toe")).arg("stdio"));
    host.send(r#"{"type":"hello","protocol":1,"name":"host"}"#);
    host.send(r#"{"type":"open","game":"tic_tac_toe","auto_ready":true}"#);
    let mut turn = host.receive_type("turn");
    assert!(jsonschema::is_valid(&schema("view"), &turn["view"]), "{turn}");
    assert!(jsonschema::is_valid(&schema("move"), &turn["legal"][0]), "{turn}");
    turn["view"]["board"][0] = "xyz".into();
    assert!(!jsonschema::is_valid(&schema("view"), &turn["view"]), "{turn}");
    assert!(!jsonschema::is_valid(&schema("event"), &json!({"kind": "roll", "seat": 0})));
}

#[test]
fn a_host_opens_matches_of_a_custom_game() {
    let mut host = Referee::start_as(Command::new(in_rust("tic-tac-toe")).arg("stdio"));
    assert_eq!(host.receive()["type"], "hello");
    host.send(r#"{"type":"hello","protocol":1,"name":"host"}"#);
    host.send(r#"{"type":"open","game":"tic_tac_toe","auto_ready":true}"#);
    assert_eq!(host.receive_type("turn")["legal"].as_array().map(Vec::len), Some(9));
}

#[test]
fn a_person_plays_a_custom_game_at_the_terminal() {
    let mut person = Referee::start_as(Command::new(in_rust("tic-tac-toe")).args([
        "human",
        "tic_tac_toe",
        &sample("python/random_bot.py"),
    ]));
    person.write("b2\n\nresign\n\n");
    let ended = person.end();
    // The bot may have marked a square beside it.
    let is_marked = |line: &str| line.starts_with("2 ") && line.chars().nth(3) == Some('x');
    assert!(ended.stdout.lines().any(is_marked), "{ended:?}");
    assert!(ended.stdout.contains("wins (resignation)"), "{ended:?}");
}
