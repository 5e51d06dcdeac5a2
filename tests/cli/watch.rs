//! Spectators: what `--watch` serves to browsers and programs.
#![expect(clippy::disallowed_methods, reason = "spectators wait for some real time")]

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::http::{Site, StreamEvent};
use crate::common::{Folder, Referee, SEED, Signal, TIMEOUT, browser, in_rust};

/// A clock that does not run out while bots wait for the test.
pub(crate) const PATIENT: &str = "delay=600s,bank=60s";

/// Bots that take this time for a move, in seconds, and play no later turn than `hold` before the test calls [`go`] or
/// [`go_until`].
pub(crate) fn bots(folder: &Folder, names: &[&str], pause: f64, hold: u32) -> Vec<String> {
    let script = format!(
        "import pathlib, random, time\nrng = random.Random(1)\n\
         def slow(t):\n    time.sleep({pause})\n    \
         go = pathlib.Path(__file__).with_name('go-' + t['match'])\n    \
         while t['turn'] >= (int(go.read_text()) if go.exists() else {hold}):\n        time.sleep(0.02)\n    \
         move(t, rng.choice(t['legal']))\nplay(turn=slow)"
    );
    // Bots with the same files would pass a regression test at once.
    names.iter().map(|name| folder.bot(name, &format!("{script}  # {name}"))).collect()
}

/// Lets the bots play a match to its end.
pub(crate) fn go(folder: &Folder, id: &str) {
    go_until(folder, id, u32::MAX);
}

/// Lets the bots play the turns of a match before this one.
pub(crate) fn go_until(folder: &Folder, id: &str, turn: u32) {
    // The bots see the file when it is complete.
    let file = folder.write(&format!("new-{id}"), turn.to_string());
    std::fs::rename(file, folder.path(&format!("go-{id}"))).expect("the same folder");
}

/// Starts matches between such bots, with a server for spectators.
pub(crate) fn watched(
    folder: &Folder,
    game: &str,
    (pause, hold): (f64, u32),
    more: &[&str],
) -> (Referee, Site) {
    let seats = if game == "keezen" { 4 } else { 2 };
    let bots = bots(folder, &["one", "two", "three", "four"][..seats], pause, hold);
    let args = ["play", game].into_iter().chain(bots.iter().map(String::as_str));
    let args = args.chain(["--seed", SEED, "--clock", PATIENT, "--json", "--watch", "127.0.0.1:0"]);
    let mut referee = Referee::start(args.chain(more.iter().copied()));
    let site = Site::of(&mut referee);
    (referee, site)
}

#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until a match shows so many moves.
#[track_caller]
pub(crate) fn wait_for_moves(site: &Site, id: &str, moves: u64) {
    wait_until("the match goes on", || {
        let found = site.ask("GET", &format!("/api/v1/matches/{id}"), "");
        found.status == 200 && found.json()["moves"].as_u64() >= Some(moves)
    });
}

#[test]
fn a_browser_follows_a_match_to_its_end() {
    for game in ["checkers", "chess", "saxum", "keezen"] {
        let folder = Folder::new();
        let (referee, site) = watched(&folder, game, (0.02, 5), &["--set", "turn_limit=40", "-n", "2"]);
        // All games have the same pages.
        let checks = ["overview", "live", "phone", "hostile", "pages"];
        let checks = &checks[..if game == "checkers" { 5 } else { 3 }];
        browser::run("watch.mjs", &[&[&*site.url("/"), &*folder.text("go-m1")], checks].concat());
        ["m1", "m2"].iter().for_each(|id| go(&folder, id));
        referee.end().with_code(0);
    }
}

#[test]
fn server_is_read_only_and_checks_its_names() {
    let folder = Folder::new();
    let more = ["--set", "turn_limit=30", "--watch-host", "Cup.example"];
    let (referee, site) = watched(&folder, "checkers", (0.0, 5), &more);
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(site.ask(method, "/api/v1/run", "").status, 405, "{method}");
    }
    for host in ["localhost", "127.0.0.1:1234", "[::1]:80", "cup.example:8080"] {
        assert_eq!(site.ask("GET", "/api/v1/run", &format!("Host: {host}\r\n")).status, 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "", "127.0.0.1.evil.example"] {
        let answer = site.ask("GET", "/api/v1/run", &format!("Host: {host}\r\n"));
        assert_eq!(answer.status, 421, "{host}");
        assert!(answer.body.contains("--watch-host"), "{}", answer.body);
    }
    // Two parts of a request must not contradict each other.
    for (line, fields, status) in [
        ("GET /api/v1/run", "Host: localhost\r\nHost: evil.example\r\n", 400),
        ("GET /api/v1/run", "Host: localhost\r\nHost: localhost\r\n", 400),
        ("GET /api/v1/run", "Host: [::1].evil.example\r\n", 400),
        ("GET /api/v1/run", "Host: [::1\r\n", 400),
        ("GET /api/v1/run", "Host: localhost:evil.example\r\n", 400),
        ("GET http://evil.example/api/v1/run", "Host: localhost\r\n", 421),
        ("GET http://localhost/api/v1/run", "Host: evil.example\r\n", 421),
        ("GET http://cup.example/api/v1/run", "Host: localhost\r\n", 200),
        ("OPTIONS *", "Host: localhost\r\n", 405),
        ("POST /nothing", "Host: localhost\r\n", 405),
        ("GET /matches/nope", "Host: localhost\r\n", 404),
        ("GET /matches/%ff", "Host: localhost\r\n", 404),
        ("GET /players/x", "Host: localhost\r\n", 404),
        ("GET /join", "Host: localhost\r\n", 404),
    ] {
        let (method, target) = line.split_once(' ').expect("a method and a target");
        let answer = site.ask(method, target, fields);
        assert_eq!(answer.status, status, "{line} {fields}");
        assert_eq!(answer.head.contains("\r\nallow: get, head"), status == 405, "{}", answer.head);
    }
    for (accept, is_stream) in [
        ("text/event-stream;q=0", false),
        ("text/event-stream; q=0.0, */*", false),
        ("application/json, text/event-stream;q=0.5", false),
        ("*/*", false),
        ("text/event-streams", false),
    ] {
        let answer = site.ask("GET", "/api/v1/matches/m1/events", &format!("Accept: {accept}\r\n"));
        assert_eq!(answer.head.contains("text/event-stream"), is_stream, "{accept}");
    }
    wait_until("m1 is listed", || site.ask("GET", "/matches/m1", "").status == 200);
    for path in ["/", "/matches/m1"] {
        let head = site.get(path).head;
        assert!(head.contains("content-security-policy: default-src 'none'; script-src 'sha256-"), "{head}");
        assert!(!head.contains("unsafe"), "{head}");
    }
    for path in ["/api/v1/matches/m9", "/api/v1/matches/m9/events", "/nothing", "/api/v1/matches/..%2f..%2fx"]
    {
        let answer = site.ask("GET", path, "");
        assert!(answer.status == 404 && answer.json()["error"].is_string(), "{path}: {}", answer.body);
    }
    // A browser gets a page, which leads to the start page.
    for (path, root) in [("/nothing", "./"), ("/no/thing", "../"), ("/no/thing/", "../../")] {
        let answer = site.ask("GET", path, "Accept: text/html,*/*;q=0.8\r\n");
        let leads = format!("<li><a href=\"{root}\">Overview</a></li>");
        assert!(answer.status == 404 && answer.body.contains("There is no such page"), "{}", answer.body);
        assert!(answer.body.contains(&leads), "{}", answer.body);
    }
    assert!(site.ask("GET", "/api/nothing", "Accept: text/html\r\n").json()["error"].is_string());
    go(&folder, "m1");
    referee.end().with_code(0);
}

/// The moves that a reader of these events knows, in order.
fn moves_of(events: &[StreamEvent]) -> Vec<Value> {
    let mut moves = Vec::new();
    let mut add = |step: &Value| {
        let notes = step["s"].as_array().into_iter().flatten();
        moves.extend(notes.filter(|note| note[1] == "move").map(|note| note[3].clone()));
    };
    for event in events {
        match &*event.kind {
            "snapshot" => event.data["steps"].as_array().expect("steps").iter().for_each(&mut add),
            "step" => add(&event.data["step"]),
            _ => {}
        }
    }
    moves
}

/// The positions in an event, each as the number of moves before it.
fn positions_of(event: &StreamEvent) -> Vec<u64> {
    let steps = match &*event.kind {
        "snapshot" => event.data["steps"].as_array().cloned().expect("steps"),
        "step" => vec![event.data["step"].clone()],
        _ => Vec::new(),
    };
    steps.iter().map(|step| step["n"].as_u64().expect("a number")).collect()
}

fn recorded_moves(record: &str) -> Vec<Value> {
    let lines = record.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let events = lines.filter(|line| line["type"] == "event" && line["event"]["kind"] == "move");
    events.map(|line| line["event"]["move"].clone()).collect()
}

#[test]
fn a_hundred_cut_streams_leave_no_gap_and_no_duplicate() {
    let folder = Folder::new();
    let records = folder.text("records");
    let more = ["--set", "turn_limit=60", "--record", &records];
    let (referee, site) = watched(&folder, "checkers", (0.02, 20), &more);
    wait_for_moves(&site, "m1", 1);
    let path = "/api/v1/matches/m1/events";
    let (mut events, mut cuts) = (Vec::<StreamEvent>::new(), 0);
    while events.last().is_none_or(|event| event.kind != "end") {
        let last = events.last().map(|event| event.id.clone());
        let mut stream = site.stream(path, last.as_deref());
        if cuts < 100 {
            // Sometimes nothing has been read when the connection is cut. After 20 moves of each side the bots wait for the test.
            let is_more = moves_of(&events).len() < 40;
            events.extend((&mut stream).take(usize::from(cuts % 3 == 0 && is_more)));
            cuts += 1;
        } else {
            go(&folder, "m1");
            events.extend(stream);
        }
    }
    assert_eq!(events[0].kind, "snapshot");
    assert!(events[1..].iter().all(|event| event.kind != "snapshot"), "no stream started over");
    for pair in events.windows(2) {
        assert_eq!(pair[0].number() + 1, pair[1].number(), "{pair:?}");
    }
    referee.end().with_code(0);
    let record = folder.read("records/m1.jsonl");
    assert_eq!(moves_of(&events), recorded_moves(&record));
}

#[test]
fn polling_gives_the_events_of_the_stream() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "checkers", (0.01, 8), &["--set", "turn_limit=40"]);
    wait_for_moves(&site, "m1", 16);
    let path = "/api/v1/matches/m1/events";
    let streamed: Vec<StreamEvent> = site.stream(path, None).take(1).collect();
    let polled = site.get(path).json();
    assert_eq!(polled["events"].as_array().map(Vec::len), Some(1));
    assert_eq!(polled["events"][0]["event"], "snapshot");
    assert_eq!(
        moves_of(&streamed).len() as u64,
        polled["events"][0]["data"]["steps"].as_array().unwrap().len() as u64 - 1
    );
    let known = streamed[0].id.rsplit_once('-').expect("run and number").0.to_owned();
    let after = site.get(&format!("{path}?after={known}-3")).json();
    assert_eq!(after["events"][0]["id"], format!("{known}-4"));
    assert_eq!(after["events"][0]["event"], "step");
    let other_run = site.get(&format!("{path}?after=00000000-3")).json();
    assert_eq!(other_run["events"][0]["event"], "snapshot", "an id of another run is unknown");
    go(&folder, "m1");
    referee.end().with_code(0);
}

#[test]
fn hundred_streams_do_not_delay_end_of_interrupted_run() {
    let folder = Folder::new();
    // They read on, so that they notice the end at once.
    let bot = folder.bot("bot", "play(turn=lambda t: t['turn'] < 5 and first(t))");
    let mut referee = Referee::start(["play", "checkers", &bot, &bot, "--json", "--watch", "127.0.0.1:0"]);
    let site = Site::of(&mut referee);
    wait_for_moves(&site, "m1", 10);
    let mut streams: Vec<_> = (0..100).map(|_| site.stream("/api/v1/matches/m1/events", None)).collect();
    for stream in &mut streams {
        assert_eq!(stream.next().expect("a snapshot").kind, "snapshot");
    }
    let begun = Instant::now();
    referee.signal(Signal::TERM);
    referee.end().with_code(130);
    let took = begun.elapsed();
    println!("ended after {took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    for stream in &mut streams {
        assert_eq!(stream.last().expect("the end").kind, "end");
    }
}

#[test]
fn boards_are_behind_by_the_delay_until_the_end() {
    let folder = Folder::new();
    let more = ["--set", "turn_limit=60", "--watch-delay", "7"];
    let (referee, site) = watched(&folder, "checkers", (0.0, 10), &more);
    let mut stream = site_stream(&site, "m1");
    // Both bots play 10 moves, then wait. Moves shown before the stream began are in its snapshot.
    let mut shown = Vec::new();
    while shown.last() != Some(&13) {
        shown.extend(positions_of(&stream.next().expect("an event")));
    }
    assert_eq!(shown, (0..=13).collect::<Vec<_>>());
    thread::sleep(Duration::from_millis(300));
    assert_eq!(site.get("/api/v1/matches/m1").json()["moves"], 13);
    go(&folder, "m1");
    let rest: Vec<StreamEvent> = stream.collect();
    let last = rest.iter().rev().find(|event| event.kind == "step").expect("steps");
    assert_eq!(last.data["step"]["n"], 60, "after the end everything is shown");
    referee.end().with_code(0);
}

/// The stream of a match, once there is one.
fn site_stream(site: &Site, id: &str) -> crate::common::http::Stream {
    let path = format!("/api/v1/matches/{id}/events");
    wait_until("the match begins", || site.ask("GET", &path, "").status == 200);
    site.stream(&path, None)
}

#[test]
fn set_that_shares_dice_is_shown_when_complete() {
    let folder = Folder::new();
    let more = ["--mirror", "-n", "4", "--set", "turn_limit=12"];
    let (referee, site) = watched(&folder, "saxum", (0.0, 2), &more);
    let board = |id: &str| site.ask("GET", &format!("/api/v1/matches/{id}"), "").json()["board"].clone();
    let refused = |id: &str, what: &str| site.ask("GET", &format!("/api/v1/matches/{id}/{what}"), "").status;
    wait_until("m1 begins", || board("m1") == "held");
    assert_eq!(refused("m1", "events"), 409);
    go(&folder, "m1");
    let result = |id: &str| site.ask("GET", &format!("/api/v1/matches/{id}"), "").json()["result"].clone();
    // Lanes and results report to the server independently of each other.
    wait_until("m1 ends and m2 begins", || board("m2") == "held" && result("m1").is_object());
    let first = site.get("/api/v1/matches/m1").json();
    assert_eq!(first["board"], "held", "its dice are those of m2");
    assert!(first["result"]["text"].is_string() && first["faults"].is_null(), "{first}");
    for what in ["events", "record"] {
        assert_eq!((refused("m1", what), refused("m2", what)), (409, 409), "{what}");
    }
    go(&folder, "m2");
    wait_until("the set is complete", || board("m2") == "replay");
    assert_eq!(board("m1"), "replay");
    for id in ["m1", "m2"] {
        assert!(site.get(&format!("/api/v1/matches/{id}/record")).body.contains("\"type\":\"seal\""));
        let events = site.get(&format!("/api/v1/matches/{id}/events")).json();
        assert_eq!(events["events"][1]["event"], "end", "{events}");
    }
    ["m3", "m4"].iter().for_each(|id| go(&folder, id));
    referee.end().with_code(0);
}

#[test]
fn a_match_that_outpaces_the_server_loses_no_move() {
    let folder = Folder::new();
    let fast = in_rust("referee-random").display().to_string();
    let slow = bots(&folder, &["slow"], 0.0, 1);
    let records = folder.text("records");
    // The first match waits until there is a stream; then it is as fast as it can be.
    let args =
        ["play", "keezen", &slow[0], &fast, &fast, &fast, "--seed", SEED, "--json", "--record", &records];
    let args =
        args.into_iter().chain(["--set", "turn_limit=1500", "--clock", PATIENT, "--watch", "127.0.0.1:0"]);
    let mut referee = Referee::start(args);
    let site = Site::of(&mut referee);
    let stream = site_stream(&site, "m1");
    go(&folder, "m1");
    let events: Vec<StreamEvent> = stream.collect();
    referee.end().with_code(0);
    // A stream that opens before the deal starts over with a snapshot after it.
    let start = events.iter().rposition(|event| event.kind == "snapshot").expect("a snapshot");
    let (before, events) = events.split_at(start);
    assert!(moves_of(before).is_empty(), "{before:?}");
    for pair in events.windows(2) {
        assert_eq!(pair[0].number() + 1, pair[1].number(), "{pair:?}");
    }
    let moves = moves_of(events);
    assert_eq!(moves, recorded_moves(&folder.read("records/m1.jsonl")));
    println!("{} moves in {} events", moves.len(), events.len());
}

#[test]
fn metrics_count_matches_decisions_and_faults() {
    let folder = Folder::new();
    let illegal = folder.illegal_bot("t['turn'] == 2");
    let slow = bots(&folder, &["slow"], 0.0, 3);
    go(&folder, "m1");
    let args = ["play", "checkers", &illegal, &slow[0], "-n", "2", "--set", "turn_limit=12", "--json"];
    let args = args.into_iter().chain(["--on-fault", "random", "--clock", PATIENT, "--watch", "127.0.0.1:0"]);
    let mut referee = Referee::start(args);
    let site = Site::of(&mut referee);
    wait_until("m1 ends", || site.get("/metrics").body.contains("referee_matches_total{result=\"yes\"} 1\n"));
    let stream = site_stream(&site, "m2");
    let metrics = site.get("/metrics").body;
    for line in [
        "referee_matches_running 1",
        "referee_decisions_total 12",
        "referee_faults_total{code=\"illegal_move\"} 1",
        "referee_watch_streams 1",
        "referee_answer_seconds_count 12",
        "referee_lag_seconds_count 1",
    ] {
        assert!(metrics.lines().any(|other| other == line), "{line}: {metrics}");
    }
    drop(stream);
    go(&folder, "m2");
    referee.end().with_code(0);
}

#[test]
fn a_spectator_that_never_reads_delays_no_match() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "keezen", (0.0, 10), &["--set", "turn_limit=400"]);
    wait_for_moves(&site, "m1", 20);
    let request =
        "GET /api/v1/matches/m1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    let unread: Vec<_> = (0..20).map(|_| site.send(request)).collect();
    let stream = site_stream(&site, "m1");
    go(&folder, "m1");
    let events: Vec<StreamEvent> = stream.collect();
    assert_eq!(events.last().expect("events").kind, "end");
    let result = referee.end().with_code(0);
    let summary = result.stdout.lines().last().expect("a summary");
    assert!(!summary.contains("timeout"), "{summary}");
    drop(unread);
}

#[test]
fn a_tournament_shows_its_standings_and_replays() {
    let folder = Folder::new();
    let bots = bots(&folder, &["ann", "bob", "cy"], 0.0, 3);
    let mut entrants: Vec<String> =
        bots.iter().map(|bot| format!("[[entrants]]\ncommand = \"{bot}\"\n")).collect();
    entrants[0] += "name = \"ann\"\ndisplay_name = \"Ann of Cleves\"\n";
    let config = format!(
        "game = \"checkers\"\nmirror = \"none\"\nclock = \"{PATIENT}\"\n[format]\nkind = \"round_robin\"\ncycles = 2\n[options]\n\
         turn_limit = 10\n{}",
        entrants.concat()
    );
    let config = folder.write("cup.toml", config);
    (1..6).for_each(|id| go(&folder, &format!("m{id}")));
    let dir = folder.text("cup");
    let args = ["tournament", "run", &config, "--dir", &dir, "--json", "--watch", "127.0.0.1:0"];
    let mut referee = Referee::start(args);
    let site = Site::of(&mut referee);
    wait_until("five matches end", || {
        site.get("/api/v1/matches?state=ended").json()["matches"].as_array().map(Vec::len) == Some(5)
    });
    // The standings follow the matches.
    let mut standings = Value::Null;
    wait_until("all five are counted", || {
        standings = site.get("/api/v1/standings").json();
        let rows = standings["standings"].as_array().expect("rows");
        rows.iter().filter_map(|row| row["matches"].as_u64()).sum::<u64>() == 10
    });
    let rows = standings["standings"].as_array().expect("rows");
    assert_eq!(rows.len(), 3, "{standings}");
    let ann = rows.iter().find(|row| row["name"] == "ann").expect("a row");
    assert_eq!(ann["display_name"], "Ann of Cleves");
    // The overview follows within a second.
    wait_until("all of them are counted", || site.get("/api/v1/run").json()["ended_count"] == 5);
    let run = site.get("/api/v1/run").json();
    assert!(run["next"][0]["display_names"].is_array() || run["running_count"] == 1, "{run}");
    let story = &run["story"];
    assert!(story["leader"].is_null() || story["superiority"].is_number(), "{story}");
    let page = site.get("/api/v1/matches?state=ended&limit=2").json();
    let next = page["next"].as_u64().expect("more");
    let older = site.get(&format!("/api/v1/matches?state=ended&before={next}")).json();
    assert_eq!(older["matches"].as_array().map(Vec::len), Some(3), "{older}");
    assert!(site.get("/api/v1/matches/m1/record").body.ends_with("}\n"));
    go(&folder, "m6");
    referee.end().with_code(0);
}

/// A tournament of two entrants that are slow, and its directory.
fn cup_of_two(folder: &Folder, game: &str, more: &str) -> [String; 2] {
    let bots = bots(folder, &["ann", "bob"], 0.0, 1);
    let entrants: Vec<String> =
        bots.iter().map(|bot| format!("[[entrants]]\ncommand = \"{bot}\"\n")).collect();
    let config = format!(
        "game = \"{game}\"\njobs = 1\nclock = \"{PATIENT}\"\n{more}\n[format]\nkind = \"round_robin\"\ncycles = 4\n[options]\n\
         turn_limit = 10\n{}",
        entrants.concat()
    );
    [folder.write("cup.toml", config), folder.text("cup")]
}

/// Plays a tournament, and interrupts it when this match has begun and `count` matches have ended.
fn interrupted(folder: &Folder, [config, dir]: &[String; 2], (begun, count): (&str, usize)) {
    let args = ["tournament", "run", config, "--dir", dir, "--json", "--watch", "127.0.0.1:0"];
    let mut referee = Referee::start(args);
    let site = Site::of(&mut referee);
    (1..=count).for_each(|id| go(folder, &format!("m{id}")));
    wait_until("the match begins", || site.ask("GET", &format!("/api/v1/matches/{begun}"), "").status == 200);
    wait_until("the others end", || {
        site.get("/api/v1/matches?state=ended").json()["matches"].as_array().map(Vec::len) == Some(count)
    });
    referee.signal(Signal::TERM);
    referee.end().with_code(130);
}

#[test]
fn a_resumed_tournament_lists_the_matches_that_were_played_before() {
    let folder = Folder::new();
    let cup = cup_of_two(&folder, "checkers", "mirror = \"none\"");
    interrupted(&folder, &cup, ("m3", 2));
    let mut referee = Referee::start(["tournament", "resume", &cup[1], "--json", "--watch", "127.0.0.1:0"]);
    let site = Site::of(&mut referee);
    let listed = site.get("/api/v1/matches?state=ended").json();
    let ids: Vec<&Value> =
        listed["matches"].as_array().expect("a list").iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["m3", "m2", "m1"], "{listed}");
    assert_eq!(listed["matches"][0]["result"]["text"], "aborted", "it was interrupted");
    assert_eq!(listed["matches"][2]["number"], 1);
    for id in ["m1", "m2"] {
        let found = site.get(&format!("/api/v1/matches/{id}")).json();
        assert_eq!(found["board"], "replay", "{found}");
        assert!(found["result"]["text"].is_string() && found["moves"] == 10, "{found}");
        let events = site.get(&format!("/api/v1/matches/{id}/events")).json();
        let record = site.get(&format!("/api/v1/matches/{id}/record")).body;
        assert_eq!(events["events"][1]["data"]["result"], found["result"]["text"], "{events}");
        assert_eq!(moves_of_json(&events["events"][0]), recorded_moves(&record));
    }
    assert_eq!(site.get("/api/v1/bots").json()["bots"][0]["matches"], 2);
    browser::run("watch.mjs", &[&site.url("/"), &folder.text("go-none"), "earlier"]);
    ["m3.2", "m4"].iter().for_each(|id| go(&folder, id));
    referee.end().with_code(0);
}

/// The moves of a snapshot that was polled.
fn moves_of_json(event: &Value) -> Vec<Value> {
    let text = |key: &str| event[key].as_str().expect("text").to_owned();
    moves_of(&[StreamEvent { id: text("id"), kind: text("event"), data: event["data"].clone() }])
}

#[test]
fn an_earlier_match_whose_deal_is_incomplete_stays_hidden() {
    let folder = Folder::new();
    let cup = cup_of_two(&folder, "saxum", "mirror = \"rotations\"");
    interrupted(&folder, &cup, ("m2", 1));
    let mut referee = Referee::start(["tournament", "resume", &cup[1], "--json", "--watch", "127.0.0.1:0"]);
    let site = Site::of(&mut referee);
    let board = |id: &str| site.get(&format!("/api/v1/matches/{id}")).json()["board"].clone();
    assert_eq!(board("m1"), "held");
    for what in ["events", "record"] {
        assert_eq!(site.ask("GET", &format!("/api/v1/matches/m1/{what}"), "").status, 409, "{what}");
    }
    go(&folder, "m2.2");
    wait_until("the set is complete", || board("m1") == "replay");
    assert!(site.get("/api/v1/matches/m1/record").body.contains("\"type\":\"seal\""));
    (3..=8).for_each(|id| go(&folder, &format!("m{id}")));
    referee.end().with_code(0);
}

#[test]
fn first_match_of_set_has_replay_before_seal() {
    let folder = Folder::new();
    let records = folder.text("records");
    let more = ["--mirror", "-n", "2", "--set", "turn_limit=12", "--record", &records];
    let (referee, site) = watched(&folder, "checkers", (0.0, 2), &more);
    go(&folder, "m1");
    let board = |id: &str| site.ask("GET", &format!("/api/v1/matches/{id}"), "").json()["board"].clone();
    wait_until("m1 ends and m2 begins", || board("m1") == "replay" && board("m2") == "live");
    assert!(!folder.path("records/m1.jsonl").exists());
    let before = site.get("/api/v1/matches/m1/record").body;
    let events = site.get("/api/v1/matches/m1/events").json();
    assert_eq!(moves_of_json(&events["events"][0]), recorded_moves(&before));
    go(&folder, "m2");
    referee.end().with_code(0);
    folder.published("records");
    assert_eq!(folder.read("published/m1.jsonl"), before);
}

#[test]
fn spectators_watch_a_regression_test() {
    let folder = Folder::new();
    let [new, base] = [0, 1].map(|at| bots(&folder, &["new", "base"], 0.0, 3).swap_remove(at));
    let args = ["regress", "checkers", "--new", &new, "--base", &base, "--max-sets", "1", "--jobs", "1"];
    let more =
        ["--opening-plies", "2", "--seed", SEED, "--clock", PATIENT, "--json", "--watch", "127.0.0.1:0"];
    let mut referee = Referee::start(args.into_iter().chain(more));
    let site = Site::of(&mut referee);
    // After the opening, each bot plays three moves, then waits.
    wait_for_moves(&site, "m1", 6);
    thread::sleep(Duration::from_millis(300));
    let running = site.get("/api/v1/matches/m1").json();
    assert_eq!(running["moves"], 6, "those of the opening do not count, as in the result");
    assert_eq!((&running["board"], &running["seats"][0]["name"]), (&json!("live"), &json!("new")));
    let mut stream = site.stream("/api/v1/matches/m1/events", None);
    assert_eq!(stream.next().expect("an event").kind, "snapshot");
    go(&folder, "m1");
    assert_eq!(stream.last().expect("events").kind, "end");
    let result = |id: &str| site.ask("GET", &format!("/api/v1/matches/{id}"), "").json()["result"].clone();
    wait_until("m1 has a result", || result("m1").is_object());
    assert_eq!(site.get("/api/v1/matches/m1").json()["board"], "replay");
    wait_until("the standings count it", || {
        let standings = site.get("/api/v1/standings").json();
        standings["standings"].as_array().expect("rows").iter().all(|row| row["matches"] == 1)
    });
    go(&folder, "m2");
    let ended = referee.end().with_code(3);
    assert_eq!(ended.all("set").len(), 1);
}
