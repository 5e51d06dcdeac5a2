//! The sandbox of the programs of a league.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::common::league::{League, drain, receive_matches};
use crate::common::{Folder, Referee, Signal, WON, referee, the};
use crate::league_workers::sets;
use crate::sandbox::{looking_bot, missing, own_bot};
use ::referee::bot::sandbox::Layer;

/// A league whose file has this table. Its program `looks` reports which of these files it can read.
fn league(sandbox: &str, own: &str, secrets: &[&str]) -> League {
    let folder = Folder::new();
    let plain = own_bot(&folder, "plain", "play()");
    let places: Vec<String> = secrets.iter().map(|name| folder.text(name)).collect();
    let looks = looking_bot(&folder, &places);
    let fen = WON.strip_prefix("fen=").expect("a position");
    let text = format!(
        "{sandbox}\n[[ladders]]\nname = 'short'\ngame = 'checkers'\noptions = {{ fen = {fen:?} }}\nrest = '0s'\n\
         [[programs]]\nname = 'plain'\ncommand = {plain:?}\n\
         [[programs]]\nname = 'looks'\ncommand = {looks:?}\n{own}\n"
    );
    let file = folder.write("league.toml", text);
    League { folder, file }
}

/// The table of the default sandbox, without the layers that this machine lacks.
fn strict() -> String {
    let missing: Vec<&str> = missing().into_iter().map(Layer::as_str).collect();
    format!("[sandbox]\nmode = 'strict'\nallow_missing = {missing:?}")
}

/// The record of a match, and the seat of the program that looks.
fn record(league: &League, id: &Value) -> (Vec<Value>, usize) {
    let id = id.as_str().expect("an id");
    let record = league.folder.record(&format!("ladders/short/records/{id}.jsonl"));
    let seats = the("record", &record)["seats"].as_array().expect("a list").clone();
    let seat = seats.iter().position(|seat| seat["name"] == "looks").expect("it plays");
    (record, seat)
}

/// Everything in the directory of a league that a program must not see, and the file itself.
const SECRETS: [&str; 4] = ["league.toml", "league.sqlite", "workers/workers.token", "workers/workers.key"];

#[test]
fn program_of_league_does_not_see_directory_of_league() {
    let league = league(&strict(), "", &SECRETS);
    let args = ["serve", &league.file, "--json", "--workers-listen", "127.0.0.1:0"];
    let mut server = Referee::start(args);
    let played = receive_matches(&mut server, 1);
    drain(server);
    let (record, seat) = record(&league, &played[0]["id"]);
    assert_eq!(the("record", &record)["seats"][seat]["bot"]["sandbox"]["mode"], "strict");
    let said = the("bots", &record)["bots"][seat]["stderr"].as_str().expect("text").to_owned();
    assert!(said.contains("missed ") && !said.contains("read "), "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("missed ")).count(), SECRETS.len(), "{said}");
}

#[test]
fn programs_on_workers_have_the_sandbox_of_the_league() {
    let league = league(&strict(), "", &SECRETS);
    let mut server = Referee::start(["serve", &league.file, "--json", "--workers-listen", "127.0.0.1:0"]);
    let address = server.receive_type("workers_listening")["address"].as_str().expect("text").to_owned();
    let (tokens, cache) = (league.folder.text("workers/workers.token"), league.folder.text("cache"));
    let worker = Referee::start([
        "worker",
        "--connect",
        &address,
        "--token-file",
        &tokens,
        "--name",
        "box",
        "--slots",
        "1",
        "--noisy",
        "false",
        "--cache",
        &cache,
    ]);
    let mut played = receive_matches(&mut server, 1);
    while sets(&league, "box") < Some(2) {
        played.extend(receive_matches(&mut server, 1));
    }
    drain(server);
    worker.signal(Signal::TERM);
    worker.end();
    // The matches of the worker and those of the server.
    for played in played {
        let (record, seat) = record(&league, &played["id"]);
        let seats = &the("record", &record)["seats"];
        assert_eq!([0, 1].map(|seat| &seats[seat]["bot"]["sandbox"]["mode"]), ["strict", "strict"]);
        let said = the("bots", &record)["bots"][seat]["stderr"].as_str().expect("text").to_owned();
        assert!(!said.contains("read "), "{said}");
    }
}

#[test]
fn league_without_table_is_strict_and_needs_all_layers() {
    let league = league("", "", &[]);
    if missing().is_empty() {
        league.run(&["check"]).done();
        return;
    }
    let what = "the sandbox `strict` is not available";
    for args in [vec!["serve", &league.file], vec!["league", "check", "--league", &league.file]] {
        referee(args).with_code(5).says(&["program plain: ", what, "allow_missing"]);
    }
}

#[test]
fn program_of_league_may_have_sandbox_of_its_own() {
    let league = league(&strict(), "sandbox = { mode = 'none' }", &["league.sqlite"]);
    let mut server = Referee::start(["serve", &league.file, "--json"]);
    let played = receive_matches(&mut server, 1);
    drain(server);
    let (record, seat) = record(&league, &played[0]["id"]);
    let seats = &the("record", &record)["seats"];
    assert_eq!(seats[1 - seat]["bot"]["sandbox"]["mode"], "strict");
    let said = the("bots", &record)["bots"][seat]["stderr"].as_str().expect("text").to_owned();
    assert!(said.starts_with("read "), "{said}");
}
