//! Bots that lose their connection in a match and connect again, over real sockets.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::guest::{Guest, listening};
use crate::common::{Ended, Folder, Referee, SEED, Signal, WON, referee, the};

/// The `hello` of alice, who connects again.
fn hello() -> Value {
    json!({"type": "hello", "protocol": 1, "name": "alice", "token": "one", "reconnect": "a"})
}

fn alice(address: SocketAddr) -> Guest {
    Guest::saying(address, &hello())
}

/// Starts a match between alice and `bot`, with these further arguments.
fn started(game: &str, bot: &str, args: &[&str]) -> (Referee, SocketAddr) {
    listening(&[&["play", game, "tcp:alice", bot, "--token", "alice=one"], args].concat())
}

fn faults(ended: &Ended) -> [Value; 2] {
    let summary = ended.one("summary");
    let bots = summary["bots"].as_array().expect("a list");
    [bots[0]["faults"].clone(), bots[1]["faults"].clone()]
}

#[track_caller]
fn assert_no_faults(ended: &Ended) {
    assert_eq!(faults(ended), [json!({}), json!({})], "{ended:#?}");
}

/// A bot that answers its requests after `seconds`.
fn slow_bot(folder: &Folder, seconds: f64) -> String {
    folder.bot(
        "slow",
        &format!("import time\ndef turn(t):\n    time.sleep({seconds})\n    first(t)\nplay(turn=turn)"),
    )
}

/// Connects again, until the referee has noticed that it may.
fn resumed(address: SocketAddr) -> (Guest, Value) {
    let mut guest = alice(address);
    let start = guest.receive_type("start");
    assert_eq!(start["resumed"], true, "{start}");
    (guest, start)
}

// ---- what a bot gets ----

#[test]
fn match_goes_on_over_new_connection_with_remaining_time() {
    let folder = Folder::new();
    let (plain, records) = (folder.plain_bot("plain"), folder.text("records"));
    let args = ["--set", "turn_limit=6", "--clock", "delay=20s,bank=0s", "--record", &records];
    let (referee_, address) = started("checkers", &plain, &args);
    let mut first = alice(address);
    assert_eq!(first.received[0]["reconnect"], true);
    let start = first.receive_type("start");
    assert_eq!(start.get("resumed"), None);
    first.answer(&start);
    let turn = first.receive_type("turn");
    assert_eq!(turn["clock"]["limit_ms"], 20_000);
    thread::sleep(Duration::from_millis(300));
    drop(first);
    thread::sleep(Duration::from_millis(200));
    let (mut second, mut again) = resumed(address);
    again.as_object_mut().expect("an object").remove("resumed");
    assert_eq!(again, start, "otherwise the same `start`");
    let mut repeated = second.receive();
    let left = repeated["clock"]["limit_ms"].as_u64().expect("a number");
    assert!((15_000..=19_500).contains(&left), "the clock runs on: {left}");
    repeated["clock"]["limit_ms"] = turn["clock"]["limit_ms"].clone();
    assert_eq!(repeated, turn, "otherwise the same request");
    second.answer(&again);
    second.answer(&repeated);
    second.play();
    let ended = referee_.wait().with_code(0);
    assert_no_faults(&ended);
    assert_eq!(ended.one("match")["ended_by"], "turn_limit");
    let record = folder.record("records/m1.jsonl");
    let answer = record.iter().find(|line| line["type"] == "answer").expect("an answer");
    assert!(answer["took_us"].as_u64() >= Some(500_000), "all the time is billed: {answer}");
    let outages = &the("bots", &record)["bots"][0]["outages"];
    let [lost, back] = ["lost_us", "back_us"].map(|key| outages[0][key].as_u64().expect("a time"));
    assert!(back >= lost + 150_000 && outages.as_array().map(Vec::len) == Some(1), "{outages}");
    referee(["verify", &records]).done();
}

#[test]
fn reconnecting_gains_no_time() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let (referee, address) = started("checkers", &plain, &["--clock", "delay=1s,bank=0s"]);
    let mut guest = alice(address);
    guest.play_up_to("turn");
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(250));
        drop(guest);
        guest = resumed(address).0;
        guest.receive_type("turn");
    }
    thread::sleep(Duration::from_millis(400));
    assert_eq!(guest.receive_type("error")["code"], "timeout");
    guest.play();
    let ended = referee.wait().with_code(0);
    assert_eq!(faults(&ended), [json!({"timeout": 1}), json!({})], "{ended:#?}");
}

#[test]
fn limit_that_expires_while_connection_is_lost_is_lost_connection() {
    let folder = Folder::new();
    let (plain, records) = (folder.plain_bot("plain"), folder.text("records"));
    let args = ["--clock", "delay=1500ms,bank=0s", "--record", &records];
    let (referee_, address) = started("checkers", &plain, &args);
    let mut guest = alice(address);
    guest.play_up_to("turn");
    thread::sleep(Duration::from_millis(300));
    drop(guest);
    let ended = referee_.wait().with_code(0);
    assert_eq!(faults(&ended), [json!({"disconnected": 1}), json!({})], "{ended:#?}");
    // It says when the connection was lost, and how long was waited: the rest of the limit.
    let record = folder.record("records/m1.jsonl");
    let detail = &the("fault", &record)["detail"];
    assert_eq!((&detail["kind"], &detail["limit_ms"]), (&json!("no_answer"), &json!(1500)), "{detail}");
    let received = &detail["received"];
    let [lost, waited] = ["lost_ms", "waited_ms"].map(|key| received[key].as_u64().expect("a time"));
    assert_eq!(received["kind"], "connection_lost", "{detail}");
    assert!(lost >= 300 && (500..=1_300).contains(&waited), "{detail}");
    let text = ended.one("match")["fault"]["detail"].as_str().expect("text").to_owned();
    let [lost, waited] = [lost, waited].map(|ms| format!("{:.1} s", ms as f64 / 1000.0));
    let expected = format!(
        "no answer within 1500 ms: the connection was lost {lost} after the start of the match, and no other one replaced it \
         within {waited}"
    );
    assert_eq!(text, expected);
    referee(["verify", &records]).done();
    // People read the same.
    let shown = referee(["show", &folder.text("records/m1.jsonl")]).done().stdout;
    assert!(shown.contains("connection lost") && !shown.contains("late"), "{shown}");
    let page = referee(["show", &folder.text("records/m1.jsonl"), "--html"]).done().stdout;
    assert!(page.contains("lost the connection"), "{page}");
}

#[test]
fn bot_lost_before_ready_has_lost_its_connection() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let (referee, address) = started("checkers", &plain, &["--ready-limit", "700ms"]);
    let mut guest = alice(address);
    guest.receive_type("start");
    drop(guest);
    let ended = referee.wait().with_code(0);
    assert_eq!(faults(&ended), [json!({"disconnected": 1}), json!({})], "{ended:#?}");
    let detail = &ended.one("match")["fault"]["detail"];
    assert!(
        detail
            .as_str()
            .is_some_and(|text| text.starts_with("no `ready` within 700 ms: the connection was lost")),
        "{detail}"
    );
}

#[test]
fn the_view_after_a_reconnection_shows_what_it_showed_before() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    for game in ["xe_queo", "keezen", "saxum"] {
        let (referee, address) = started(game, &plain, &["--seed", SEED, "--clock", "none"]);
        let mut guest = alice(address);
        for _ in 0..4 {
            let turn = guest.play_up_to("turn");
            guest.answer(&turn);
        }
        let turn = guest.play_up_to("turn");
        drop(guest);
        let (mut guest, _) = resumed(address);
        assert_eq!(guest.receive_type("turn"), turn, "{game}");
        guest.send(&json!({"type": "resign", "match": turn["match"]}));
        guest.play();
        assert_no_faults(&referee.wait().with_code(0));
    }
}

#[test]
fn possibly_missed_events_are_repeated_with_numbers() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    for push in [false, true] {
        let mut hello = hello();
        hello["push"] = push.into();
        let (referee, address) = started("checkers", &plain, &["--set", "turn_limit=12", "--clock", "none"]);
        let mut guest = Guest::saying(address, &hello);
        let (mut events, mut unread, mut losses) = (Vec::new(), Vec::new(), 0);
        while let Some(message) = guest.next() {
            match message["type"].as_str() {
                Some("event") => unread.push(message),
                // The connection is lost with everything since the last answer.
                Some("turn") if message["turn"] == losses + 1 && losses < 5 => {
                    losses += 1;
                    unread.clear();
                    drop(guest);
                    guest = Guest::saying(address, &hello);
                }
                Some("turn" | "end") => {
                    for event in unread.drain(..) {
                        let n = event["n"].as_u64().expect("a number") as usize;
                        if n < events.len() {
                            assert_eq!(events[n], event, "it is repeated");
                        } else {
                            assert_eq!(n, events.len(), "none is missing: {event}");
                            events.push(event);
                        }
                    }
                    guest.answer(&message);
                }
                _ => guest.answer(&message),
            }
        }
        assert_no_faults(&referee.wait().with_code(0));
        assert_eq!((events.len(), losses), (12, 5), "push: {push}");
    }
}

#[test]
fn the_end_of_a_match_that_ended_meanwhile_is_delivered() {
    let folder = Folder::new();
    let quits = folder.bot(
        "quits",
        "import time
def turn(t):
    if t['match'] == 'm1':
        time.sleep(0.5)
        say(type='resign', match=t['match'])
    else:
        first(t)
play(turn=turn)",
    );
    let args = ["--set", "turn_limit=4", "-n", "2", "--clock", "delay=9s"];
    let (referee, address) = started("checkers", &quits, &args);
    let mut guest = alice(address);
    let turn = guest.play_up_to("turn");
    guest.answer(&turn);
    drop(guest);
    thread::sleep(Duration::from_millis(1_000));
    let received = alice(address).play();
    let ends: Vec<&Value> =
        received.iter().filter(|message| message["type"] == "end").map(|end| &end["match"]).collect();
    assert_eq!(ends, ["m1", "m2"], "{received:#?}");
    assert!(received.iter().all(|message| message.get("resumed").is_none()), "{received:#?}");
    assert_no_faults(&referee.wait().with_code(0));
}

// ---- in every state ----

/// Plays three matches, and loses the connection at message `at` of alice's, before or after her answer to it. Returns
/// false if this is the third `start`.
fn cut_at(bot: &str, at: usize, answers: bool) -> bool {
    let args = ["--set", "turn_limit=4", "-n", "3", "--clock", "delay=20s"];
    let (referee, address) = started("checkers", bot, &args);
    let mut guest = alice(address);
    let mut message = guest.receive();
    for _ in 0..at {
        guest.answer(&message);
        message = guest.receive();
    }
    let is_last = message["match"] == "m3";
    if answers {
        guest.answer(&message);
    }
    let mut received = guest.received.clone();
    if at.is_multiple_of(2) {
        drop(guest);
    } else {
        guest.reset();
    }
    received.extend(alice(address).play());
    for id in ["m1", "m2", "m3"] {
        let is_end = |message: &Value| message["type"] == "end" && message["match"] == id;
        assert!(received.iter().any(is_end), "no `end` of {id}: {received:#?}");
    }
    let ended = referee.wait().with_code(0);
    assert_no_faults(&ended);
    assert_eq!(ended.all("match").len(), 3);
    !is_last
}

#[test]
fn a_connection_may_be_lost_before_and_after_every_message() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let cuts = |answers| (0..).take_while(|&at| cut_at(&plain, at, answers)).count();
    let counts = thread::scope(|scope| {
        let both = [false, true].map(|answers| scope.spawn(move || cuts(answers)));
        both.map(|cuts| cuts.join().expect("it was played"))
    });
    // In each match `start`, two requests, four events and `end`.
    assert_eq!(counts, [16, 16]);
}

/// Brings alice into a state of a match, in a game and against a bot that leave her in it.
fn in_state(state: &str, folder: &Folder, args: &[&str]) -> (Referee, SocketAddr, Guest) {
    let slow = slow_bot(folder, 1.5);
    let never_ready = folder
        .bot("late", "import time\ndef start(s):\n    time.sleep(1.5)\n    ready(s)\nplay(start=start)");
    let game = if state == "decided" { "xe_queo" } else { "checkers" };
    let bot = if state == "ready" { &never_ready } else { &slow };
    let (referee, address) = started(game, bot, &[&["--clock", "none"], args].concat());
    let mut guest = alice(address);
    let start = guest.receive_type("start");
    if state != "starting" {
        guest.answer(&start);
    }
    if ["asked", "waiting", "decided"].contains(&state) {
        let turn = guest.receive_type("turn");
        if state != "asked" {
            guest.answer(&turn);
        }
    }
    (referee, address, guest)
}

const STATES: [&str; 5] = ["starting", "ready", "asked", "waiting", "decided"];

#[test]
fn in_every_state_loss_is_no_fault_within_grace_period() {
    let folder = Folder::new();
    thread::scope(|scope| {
        for state in STATES {
            let folder = &folder;
            scope.spawn(move || {
                let (referee, address, guest) = in_state(state, folder, &[]);
                drop(guest);
                thread::sleep(Duration::from_millis(500));
                let (mut guest, start) = resumed(address);
                guest.answer(&start);
                let turn = guest.receive_type("turn");
                guest.answer(&turn);
                guest.send(&json!({"type": "resign", "match": turn["match"]}));
                guest.play();
                let ended = referee.wait().with_code(0);
                assert_eq!(faults(&ended), [json!({}), json!({})], "{state}: {ended:#?}");
            });
        }
    });
}

#[test]
fn in_every_state_there_is_one_fault_after_grace_period() {
    let folder = Folder::new();
    thread::scope(|scope| {
        for state in STATES {
            let folder = &folder;
            scope.spawn(move || {
                let (referee, _, guest) = in_state(state, folder, &["--reconnect", "400ms"]);
                drop(guest);
                let ended = referee.wait().with_code(0);
                assert_eq!(faults(&ended), [json!({"disconnected": 1}), json!({})], "{state}: {ended:#?}");
                let detail = ended.one("match")["fault"]["detail"].as_str().expect("text").to_owned();
                let lost = detail.strip_prefix("its output ended: the connection was lost ").expect("how");
                let says = " s after the start of the match, and no other one replaced it within 0.4 s";
                assert!(lost.ends_with(says), "{state}: {detail}");
            });
        }
    });
}

#[test]
fn a_seat_that_is_out_may_lose_its_connection_too() {
    let folder = Folder::new();
    let (plain, away) = (folder.plain_bot("plain"), folder.text("away"));
    // The run does not wait for a connection after the match, so the match waits while alice is away.
    let waits = folder.bot(
        "waits",
        &format!(
            "import os, time\ndef turn(t):\n    while os.path.exists({away:?}):\n        time.sleep(0.01)\n    \
             first(t)\nplay(turn=turn)"
        ),
    );
    let bots = ["tcp:alice", &waits, &plain, &plain, &plain, &plain];
    // In this deal both alice and the bot that waits have a card to play.
    let args = ["--set", "turn_limit=30", "--clock", "none", "--token", "alice=one", "--seed", SEED];
    let (referee, address) = listening(&[&["play", "keezen"][..], &bots, &args].concat());
    let mut guest = alice(address);
    let turn = guest.play_up_to("turn");
    folder.write("away", "");
    guest.send(&json!({"type": "resign", "match": turn["match"]}));
    drop(guest);
    let mut guest = alice(address);
    guest.receive_type("start");
    fs::remove_file(&away).expect("it exists");
    let received = guest.play();
    assert!(received.iter().any(|message| message["type"] == "end"), "{received:#?}");
    assert!(received.iter().all(|message| message["type"] != "turn"), "{received:#?}");
    let ended = referee.wait().with_code(0);
    assert_eq!(faults(&ended)[0], json!({}), "{ended:#?}");
}

// ---- what replaces a connection, and what does not ----

#[test]
fn seemingly_live_connection_is_replaced_even_at_limit() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let args = ["--set", "turn_limit=4", "--connections", "1", "--clock", "none"];
    let (referee, address) = started("checkers", &plain, &args);
    let mut half_open = alice(address);
    let turn = half_open.play_up_to("turn");
    let (mut guest, start) = resumed(address);
    assert_eq!(guest.receive_type("turn"), turn);
    let bye = half_open.receive();
    assert_eq!([&bye["type"], &bye["reason"]], ["bye", "another connection of the bot replaces this one"]);
    assert_eq!(half_open.next(), None);
    guest.answer(&start);
    guest.answer(&turn);
    guest.play();
    assert_no_faults(&referee.wait().with_code(0));
}

#[test]
fn a_connection_that_waits_for_a_match_is_replaced() {
    let args = ["play", "checkers", "tcp:alice", "tcp:bob", "--set", WON, "--token", "alice=one"];
    let (referee, address) = listening(&[&args[..], &["--token", "bob=two", "--connections", "1"]].concat());
    let mut half_open = alice(address);
    // She waits when the referee has asked for bob.
    thread::sleep(Duration::from_millis(300));
    let second = alice(address).play_along();
    assert_eq!(half_open.receive()["type"], "bye");
    let bob = json!({"type": "hello", "protocol": 1, "name": "bob", "token": "two"});
    Guest::saying(address, &bob).play();
    assert!(second.join().expect("it plays").iter().any(|message| message["type"] == "end"));
    assert_no_faults(&referee.wait().with_code(0));
}

#[test]
fn a_wrong_token_another_name_and_another_connection_replace_nothing() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let args = ["--set", "turn_limit=4", "--clock", "none", "--token", "bob=two"];
    let args = [&["play", "checkers", "tcp:alice", &plain, "--token", "alice=one"], &args[..]].concat();
    let (referee, address) = listening(&args);
    let mut guest = alice(address);
    let turn = guest.play_up_to("turn");
    let mut wrong = hello();
    wrong["token"] = "two".into();
    let received = Guest::saying(address, &wrong).rest();
    assert_eq!(received[0]["code"], "wrong_token", "{received:?}");
    let mut other = hello();
    other["reconnect"] = "b".into();
    let other = Guest::saying(address, &other);
    let mut version = hello();
    version["version"] = "2".into();
    let version = Guest::saying(address, &version);
    thread::sleep(Duration::from_millis(300));
    guest.answer(&turn);
    let received = guest.play();
    assert!(received.iter().any(|message| message["type"] == "end"));
    for idle in [other, version] {
        let received: Vec<Value> = idle.rest();
        assert!(received.iter().all(|message| message["type"] != "start"), "{received:?}");
    }
    assert_no_faults(&referee.wait().with_code(0));
}

#[test]
fn the_sixth_loss_in_a_match_is_a_fault_immediately() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let (referee, address) = started("checkers", &plain, &["--clock", "none"]);
    let mut guest = alice(address);
    guest.play_up_to("turn");
    for _ in 0..5 {
        drop(guest);
        guest = resumed(address).0;
        guest.receive_type("turn");
    }
    drop(guest);
    let ended = referee.wait().with_code(0);
    assert_eq!(faults(&ended), [json!({"disconnected": 1}), json!({})], "{ended:#?}");
}

#[test]
fn bot_that_says_bye_is_disconnected_immediately() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    for (accepts, says_bye) in [(false, false), (true, true)] {
        let (referee, address) = started("checkers", &plain, &["--clock", "none"]);
        let mut hello = hello();
        if !accepts {
            hello.as_object_mut().expect("an object").remove("reconnect");
        }
        let mut guest = Guest::saying(address, &hello);
        guest.play_up_to("turn");
        if says_bye {
            guest.send(&json!({"type": "bye"}));
        }
        drop(guest);
        let ended = referee.wait().with_code(0);
        assert_eq!(faults(&ended), [json!({"disconnected": 1}), json!({})], "{ended:#?}");
    }
}

#[test]
fn reconnecting_is_offered_only_with_tokens_and_a_grace_period() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    for args in [&[][..], &["--token", "alice=one", "--reconnect", "0s"]] {
        let (referee, address) = listening(&[&["play", "checkers", "tcp:alice", &plain], args].concat());
        let mut guest = alice(address);
        assert_eq!(guest.received[0].get("reconnect"), None);
        guest.play_up_to("turn");
        drop(guest);
        let ended = referee.wait().with_code(0);
        assert_eq!(faults(&ended), [json!({"disconnected": 1}), json!({})], "{ended:#?}");
    }
}

#[test]
fn an_invalid_reconnect_is_rejected() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let (referee, address) = started("checkers", &plain, &["--set", WON]);
    for invalid in [json!(""), json!("x".repeat(65))] {
        let mut said = hello();
        said["reconnect"] = invalid;
        let mut guest = Guest::saying(address, &said);
        let error = guest.receive_type("error");
        assert!(error["message"].as_str().expect("text").contains("1 to 64 characters"), "{error}");
    }
    alice(address).play();
    assert_no_faults(&referee.wait().with_code(0));
}

#[test]
fn all_matches_of_a_connection_go_on() {
    let folder = Folder::new();
    let hello_ = "def hello(_):\n    say(type='hello', protocol=1, name='many', slots=4)\n";
    let many = folder.bot("many", &format!("{hello_}play(hello=hello)"));
    let args = ["--set", "turn_limit=10", "-n", "8", "--clock", "none"];
    let (referee, address) = started("checkers", &many, &args);
    let mut said = hello();
    said["slots"] = 4.into();
    let mut guest = Guest::saying(address, &said);
    for _ in 0..5 {
        for _ in 0..12 {
            let message = guest.receive();
            guest.answer(&message);
        }
        drop(guest);
        guest = Guest::saying(address, &said);
    }
    guest.play();
    let ended = referee.wait().with_code(0);
    assert_eq!(ended.all("match").len(), 8);
    assert_no_faults(&ended);
}

// ---- tournaments, tests and leagues ----

/// Plays, and loses the connection once in each match, with its second request. Returns the number of losses.
fn careless(address: SocketAddr, name: &str, token: &str) -> JoinHandle<usize> {
    let hello = json!({"type": "hello", "protocol": 1, "name": name, "token": token, "reconnect": "a"});
    thread::spawn(move || {
        let mut guest = Guest::saying(address, &hello);
        let mut lost_in = BTreeSet::new();
        while let Some(message) = guest.next() {
            if message["turn"] == 1 && lost_in.insert(message["match"].to_string()) {
                drop(guest);
                guest = Guest::saying(address, &hello);
            } else {
                guest.answer(&message);
            }
        }
        lost_in.len()
    })
}

#[test]
fn a_tournament_goes_on_with_a_bot_that_connects_again() {
    let folder = Folder::new();
    folder.write_secret("tokens", "alice=one\n");
    let plain = folder.plain_bot("plain");
    let config = format!(
        "game = 'checkers'\nseed = '{SEED}'\n[options]\nturn_limit = 8\n[format]\nkind = 'round_robin'\n\
         [listen]\naddress = '127.0.0.1:0'\ntoken_file = 'tokens'\nreconnect = '30s'\n\
         [[entrants]]\nname = 'alice'\ntcp = 'alice'\n[[entrants]]\nname = 'plain'\ncommand = {plain:?}\n"
    );
    let (config, dir) = (folder.write("cup.toml", config), folder.text("cup"));
    let mut run = Referee::start(["tournament", "run", &config, "--dir", &dir, "--json"]);
    let address =
        run.receive_type("listening")["address"].as_str().expect("text").parse().expect("an address");
    let alice = careless(address, "alice", "one");
    run.wait().with_code(0);
    let standings = referee(["tournament", "standings", &dir, "--json"]).done().one("standings");
    for row in standings["entrants"].as_array().expect("a list") {
        assert_eq!(row["faulted"], 0, "{row}");
    }
    assert_eq!(Some(alice.join().expect("it plays") as u64), standings["entrants"][0]["matches"].as_u64());
    referee(["tournament", "verify", &dir]).done();
}

#[test]
fn a_strength_test_goes_on_with_bots_that_connect_again() {
    let args = ["regress", "checkers", "--new", "tcp:alice", "--base", "tcp:bob", "--max-sets", "3"];
    let more = ["--set", "turn_limit=20", "--token", "alice=one", "--token", "bob=two"];
    let (referee, address) = listening(&[&args[..], &more].concat());
    let bots = [careless(address, "alice", "one"), careless(address, "bob", "two")];
    let ended = referee.wait();
    let losses = bots.map(|bot| bot.join().expect("it plays"));
    assert_eq!(losses, [6, 6], "{ended:#?}");
    let faults: Vec<Value> = ended.all("match").iter().map(|line| line["faults"].clone()).collect();
    assert!(!faults.is_empty() && faults.iter().all(|faults| *faults == json!([{}, {}])), "{ended:#?}");
}

#[test]
fn a_league_goes_on_with_a_bot_that_connects_again() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let config = format!(
        "[sandbox]\nmode = 'basic'\n[[ladders]]\nname = 'short'\ngame = 'checkers'\noptions = {{ turn_limit = 8 }}\n\
         listen = '127.0.0.1:0'\nreconnect = '30s'\nconnections = 1\n\
         [[programs]]\nname = 'plain'\ncommand = {plain:?}\nanchor = 0\n"
    );
    let file = folder.write("league.toml", config);
    let added = referee(["league", "add", "alice", "--json", "--league", &file]).done().one("added");
    let token = added["token"].as_str().expect("a token");
    let mut server = Referee::start(["serve", &file, "--json"]);
    let address =
        server.receive_type("listening")["address"].as_str().expect("text").parse().expect("an address");
    let alice = careless(address, "alice", token);
    for _ in 0..4 {
        let played = server.receive_type("match");
        assert_eq!(played["ended_by"], "turn_limit", "{played}");
    }
    server.signal(Signal::TERM);
    server.wait().with_code(0);
    assert!(alice.join().expect("it plays") >= 4);
    referee(["league", "verify", "--league", &file]).done();
}
