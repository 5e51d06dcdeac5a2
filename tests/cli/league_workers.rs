//! A league whose programs play on workers.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::Value;

use crate::common::guest::Guest;
use crate::common::league::{League, drain, hello, receive_matches};
use crate::common::{Folder, Referee, Signal, referee};

pub(crate) const PROGRAMS: [(&str, &str); 4] = [("one", ""), ("two", ""), ("three", ""), ("four", "")];

/// Serves with workers. Returns the address for them.
fn serve(league: &League, address: &str) -> (Referee, String) {
    let mut server = Referee::start(["serve", &league.file, "--json", "--workers-listen", address]);
    let address = server.receive_type("workers_listening")["address"].as_str().expect("text").to_owned();
    (server, address)
}

fn worker(league: &League, address: &str, name: &str) -> Referee {
    let token_file = league.folder.text("workers/workers.token");
    let args = ["worker", "--connect", address, "--token-file", &token_file, "--name", name];
    let cache = league.folder.text("cache");
    Referee::start([&args[..], &["--slots", "1", "--noisy", "false", "--cache", &cache]].concat())
}

/// The server's list of its workers.
fn status(league: &League) -> Value {
    league.run(&["workers", "--json"]).done().one("workers")
}

/// The sets of a worker that count; `None` if the server does not know it yet.
pub(crate) fn sets(league: &League, name: &str) -> Option<u64> {
    let status = status(league);
    let found = status["workers"].as_array()?.iter().find(|worker| worker["name"] == name)?;
    Some(found["sets"].as_u64().expect("a number"))
}

pub(crate) fn ids(matches: &[Value]) -> BTreeSet<String> {
    let ids: BTreeSet<String> =
        matches.iter().map(|of| of["id"].as_str().expect("text").to_owned()).collect();
    assert_eq!(ids.len(), matches.len(), "a match counts twice: {matches:?}");
    ids
}

#[test]
fn no_match_is_lost_when_workers_and_server_die() {
    let league = League::new("", &PROGRAMS);
    let (mut server, address) = serve(&league, "127.0.0.1:0");
    let mut matches = receive_matches(&mut server, 2);
    let workers = ["box", "other"].map(|name| worker(&league, &address, name));
    while ["box", "other"].iter().any(|name| sets(&league, name) < Some(3)) {
        matches.extend(receive_matches(&mut server, 1));
    }
    let [killed, other] = workers;
    killed.signal(Signal::KILL);
    matches.extend(receive_matches(&mut server, 5));
    server.signal(Signal::KILL);
    let ended = server.wait();
    matches.extend(ended.all("match"));
    let (mut server, _) = serve(&league, &address);
    let before = sets(&league, "other").expect("a worker");
    while sets(&league, "other") < Some(before + 3) {
        matches.extend(receive_matches(&mut server, 1));
    }
    matches.extend(drain(server).all("match"));
    other.signal(Signal::TERM);
    other.end().with_code(130);
    let reported = ids(&matches);
    let listed = ids(&league.run(&["matches", "--limit", "100000", "--json"]).done().all("match"));
    assert_eq!(listed.len(), league.verify());
    // When the server was killed, it had stored some that it had not printed.
    assert!(listed.is_superset(&reported), "lost: {:?}", reported.difference(&listed));
    let text = league.run(&["workers"]).done().stdout;
    assert!(text.contains("short:") && text.contains("other"), "{text}");
}

/// A second ladder, with longer matches.
const LONG: &str =
    "[[ladders]]\nname = \"long\"\ngame = \"checkers\"\noptions = { turn_limit = 10 }\nrest = \"0s\"";

/// A league with two ladders of the same four programs, which think this long a move, in seconds.
fn two_ladders(think: f64) -> League {
    let league = League::new(LONG, &PROGRAMS);
    for (name, _) in PROGRAMS {
        let script = format!("import time\nplay(turn=lambda turn: (time.sleep({think}), first(turn)))");
        league.folder.bot(&format!("bot-{name}"), &script);
    }
    league
}

/// The shares of the time of all matches that the matches of the two ladders took.
fn shares(league: &League, which: &str) -> [f64; 2] {
    let time = |ladder: &str| -> f64 {
        let sql = format!("SELECT total(duration_us) FROM matches WHERE ladder = '{ladder}' AND {which}");
        league.query(&sql).parse().expect("a number")
    };
    let times = ["short", "long"].map(time);
    times.map(|time| time / times.iter().sum::<f64>())
}

#[test]
fn ladders_share_time_of_worker_however_long_their_matches_take() {
    // Beginning and verifying a match takes time that the shares do not contain: on a busy machine as long as a short thought.
    let league = two_ladders(0.3);
    let (mut server, address) = serve(&league, "127.0.0.1:0");
    let alone = worker(&league, &address, "box");
    let mut long = 0;
    while long < 6 {
        let played = server.receive_type("match");
        long += u32::from(played["ladder"] == "long" && played["worker"] == "box");
    }
    drain(server);
    alone.signal(Signal::TERM);
    alone.end();
    // Matches of one move against matches of ten: by turns, the shares would be 9% and 91%.
    let shares = shares(&league, "worker = 'box'");
    assert!(shares.iter().all(|&share| share > 0.25), "{shares:?}");
}

#[test]
fn ladders_with_the_same_programs_play_all_the_time() {
    let league = two_ladders(0.1);
    let mut server = league.serve();
    let mut long = 0;
    while long < 6 {
        long += u32::from(server.receive_type("match")["ladder"] == "long");
    }
    drain(server);
    let shares = shares(&league, "true");
    assert!(shares.iter().all(|&share| share > 0.4), "{shares:?}");
}

#[test]
fn taken_back_matches_of_worker_are_not_rated() {
    let league = League::new("", &PROGRAMS);
    let (mut server, address) = serve(&league, "127.0.0.1:0");
    let alone = worker(&league, &address, "box");
    while sets(&league, "box") < Some(2) {
        server.receive_type("match");
    }
    let directory = league.folder.text("");
    let void = ["worker", "void", directory.trim_end_matches('/'), "box"];
    referee(void).with_code(5).says(&["another process plays this league: end it first"]);
    drain(server);
    alone.signal(Signal::TERM);
    alone.end();
    let rated = || -> u64 {
        let rows = league.standings(&[]);
        rows["standings"]
            .as_array()
            .expect("rows")
            .iter()
            .map(|row| row["matches"].as_u64().expect("a number"))
            .sum()
    };
    let listed = || league.run(&["matches", "--json", "--limit", "1000"]).done().all("match");
    let (before, by_box) = (rated(), listed().iter().filter(|of| of["worker"] == "box").count());
    assert!(by_box >= 4, "{by_box}");
    let voided = referee([&void[..], &["--json"]].concat()).done().one("voided");
    assert_eq!(voided["matches"].as_array().map(Vec::len), Some(by_box), "{voided}");
    // Two players in each.
    assert_eq!(rated(), before - 2 * by_box as u64);
    assert!(listed().iter().all(|of| (of["void"] == true) == (of["worker"] == "box")), "{:?}", listed());
    league.verify();
}

#[test]
fn matches_are_played_here_while_there_are_no_workers() {
    let league = League::new("", &PROGRAMS);
    let (mut server, address) = serve(&league, "127.0.0.1:0");
    receive_matches(&mut server, 2);
    let alone = worker(&league, &address, "box");
    while sets(&league, "box") < Some(2) {
        server.receive_type("match");
    }
    alone.signal(Signal::KILL);
    let played = sets(&league, "box").expect("a worker");
    // The matches of the worker are played here 20 s later.
    receive_matches(&mut server, 20);
    assert!(sets(&league, "box") <= Some(played + 2), "{}", status(&league));
    drain(server);
    league.verify();
}

#[test]
fn matches_of_bots_that_connect_stay_here() {
    let league = League::new("listen = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let token = league.add("alice");
    let (mut server, address) = serve(&league, "127.0.0.1:0");
    let bots: SocketAddr =
        server.receive_type("listening")["address"].as_str().expect("text").parse().expect("an address");
    let alone = worker(&league, &address, "box");
    let alice = Guest::saying(bots, &hello("alice", None, &token)).play_along();
    let (mut of_alice, mut others) = (0, 0);
    // The server plays alone until it knows the worker.
    while of_alice < 3 || others < 3 || sets(&league, "box") < Some(1) {
        let ended = server.receive_type("match");
        let is_of_alice = ended["players"].as_array().expect("players").contains(&"alice".into());
        *(if is_of_alice { &mut of_alice } else { &mut others }) += 1;
    }
    drain(server);
    alice.join().expect("it plays");
    alone.signal(Signal::TERM);
    alone.end();
    league.verify();
}

#[test]
fn files_of_program_travel_and_section_of_file_is_used() {
    let league = League::new("", &[]);
    for name in ["one", "two"] {
        let folder = league.folder.path(name);
        std::fs::create_dir(&folder).expect("a directory");
        std::fs::copy(league.folder.path("testbot.py"), folder.join("testbot.py")).expect("a copy");
        std::fs::write(folder.join("bot.py"), format!("# {name}\nfrom testbot import *\n\nplay()\n"))
            .expect("a file");
    }
    let programs = ["one", "two"]
        .map(|name| format!("[[programs]]\nname = '{name}'\nfiles = '{name}'\ncommand = 'python3 bot.py'\n"));
    let section = "[workers]\nlisten = '127.0.0.1:0'\ntimeout = '1m'\n";
    let text = league.folder.read("league.toml") + &programs.concat() + section;
    league.folder.write("league.toml", text);
    league.run(&["check"]).done();
    let mut server = league.serve();
    let address = server.receive_type("workers_listening")["address"].as_str().expect("text").to_owned();
    let alone = worker(&league, &address, "box");
    while sets(&league, "box") < Some(2) {
        server.receive_type("match");
    }
    drain(server);
    alone.signal(Signal::TERM);
    alone.end();
    let tars = std::fs::read_dir(league.folder.path("workers/bots")).expect("archives").count();
    assert_eq!(tars, 2, "an archive for each bot");
    league.verify();
    let both = league.folder.read("league.toml").replace("timeout", "nats = 'nats://host'\ntimeout");
    let other = Folder::new();
    let file = other.write("league.toml", both.replace("files = '", "directory = '"));
    crate::common::referee(["league", "check", "--league", &file])
        .with_code(2)
        .says(&["[workers]: either `listen` or `nats`, not both"]);
}
