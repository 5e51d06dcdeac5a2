//! A league: bots that come and go, restarts, and the commands that manage it.
#![expect(clippy::disallowed_methods, reason = "a test measures how long matches wait")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::guest::Guest;
use crate::common::http::Site;
use crate::common::league::{League, drain, hello, receive_matches};
use crate::common::{Folder, ROOT, Referee, Signal, referee};
use crate::league_restart::Setting;
use crate::watch::wait_until;

#[test]
fn programs_play_until_server_is_stopped_and_go_on_later() {
    let league = League::new("jobs = 2", &[("one", "anchor = 1000"), ("two", ""), ("three", "")]);
    let mut server = league.serve();
    let matches = receive_matches(&mut server, 12);
    let players = |played: &Value| -> BTreeSet<String> {
        played["players"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    assert!(matches.iter().all(|played| played["ladder"] == "short" && players(played).len() == 2));
    let all: BTreeSet<String> = matches.iter().flat_map(players).collect();
    assert_eq!(Vec::from_iter(&all), ["one", "three", "two"]);
    // Standings are available meanwhile.
    assert!(league.standings(&[])["matches"].as_u64() >= Some(12));
    let ended = drain(server);
    let count = league.verify();
    assert_eq!(count, 12 + ended.all("match").len(), "nothing is lost");
    let standings = league.standings(&[]);
    let anchor =
        standings["standings"].as_array().unwrap().iter().find(|row| row["player"] == "one").unwrap();
    assert_eq!([&anchor["rating"]["value"], &anchor["anchor"]], [&json!(1000.0), &json!(true)]);
    let table = league.run(&["standings"]).done().stdout;
    let marked = |name: &str, mark: &str| {
        table.lines().any(|line| line.contains(&format!(" {name} ")) && line.contains(mark))
    };
    assert!(marked("one", " = ") && marked("two", " ? "), "an anchor and a provisional rating: {table}");
    let mut server = league.serve();
    let next = receive_matches(&mut server, 3);
    let ids: BTreeSet<&str> =
        matches.iter().chain(&next).map(|played| played["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 15, "numbers go on");
    drain(server);
    assert!(league.verify() >= count + 3);
}

#[test]
fn programs_far_above_their_anchor_are_rated_where_they_are() {
    let names = ["anchor", "one", "two", "three", "four", "five"];
    let programs = names.map(|name| (name, if name == "anchor" { "anchor = 0" } else { "" }));
    let league = League::new("jobs = 4", &programs);
    // The player that moves first wins, or resigns: in 98.25% of the matches, as 700 Elo say, it is the
    // anchor that loses.
    let script = "import hashlib
starts = {}
def begin(start):
    starts[start['match']] = [seat['name'] for seat in start['seats']]
    ready(start)
def decide(turn):
    first_one, other = starts.pop(turn['match'])
    chance = 0.0175 if first_one == 'anchor' else 0.9825 if other == 'anchor' else 0.5
    drawn = int(hashlib.sha256(turn['match'].encode()).hexdigest()[:8], 16) / 2 ** 32
    first(turn) if drawn < chance else say(type='resign', match=turn['match'], seat=turn['seat'])
play(start=begin, turn=decide)";
    names.iter().for_each(|name| drop(league.folder.bot(&format!("bot-{name}"), script)));
    let mut server = league.serve();
    receive_matches(&mut server, 600);
    drain(server);
    let standings = league.standings(&[]);
    let rows = standings["standings"].as_array().unwrap().iter().filter(|row| row["anchor"] == false);
    let off = rows.map(|row| {
        let [low, high] = ["low", "high"].map(|end| row["rating"][end].as_f64().expect("a rating"));
        ((low + high) / 2.0 - 700.0).abs() / ((high - low) / 2.0)
    });
    let off: Vec<f64> = off.collect();
    assert!(off.len() == 5 && off.iter().all(|&off| off < 2.0), "margins off: {off:?} {standings}");
}

#[test]
fn ladder_for_three_plays_as_long_as_for_two() {
    let threes = format!(
        "[[ladders]]\nname = 'threes'\ngame = '{ROOT}/examples/games/goofspiel'\nseats = 3\noptions = {{ cards = 5 }}\n\
         rest = '0s'"
    );
    let league = League::new(&threes, &[("one", ""), ("two", ""), ("three", ""), ("four", "")]);
    let mut server = league.serve();
    // Before 20 matches of three, two would have to wait 10 s after each of 19.
    let begun = Instant::now();
    let (mut twos, mut threes) = (0, 0);
    while threes < 20 {
        match server.receive_type("match")["players"].as_array().unwrap().len() {
            2 => twos += 1,
            _ => threes += 1,
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{threes} of three, {twos} of two");
    }
    drain(server);
}

#[test]
fn bots_that_connect_are_paired_while_they_stay() {
    let league = League::new("listen = \"127.0.0.1:0\"", &[("anchor", "anchor = 0")]);
    let tokens = [league.add("alice"), league.add("bob")];
    let (mut server, address) = league.listening();
    let alice = Guest::saying(address, &hello("alice", Some("1.0"), &tokens[0])).play_along();
    let first = receive_matches(&mut server, 2);
    assert!(first.iter().all(|played| {
        let players = played["players"].as_array().unwrap();
        players.contains(&json!("alice@1.0")) && players.contains(&json!("anchor"))
    }));
    let mut bob = Guest::saying(address, &hello("bob", None, &tokens[1]));
    bob.play_up_to("end");
    // He leaves between two matches, which is no fault.
    drop(bob);
    // A bot that is added while the server runs may connect at once.
    let token = league.add("carol");
    let mut carol = loop {
        let mut carol = Guest::connect(address);
        carol.receive();
        carol.send(&hello("carol", Some("7"), &token));
        if carol.receive()["type"] == "start" {
            break carol;
        }
    };
    let start = carol.received.last().unwrap().clone();
    carol.answer(&start);
    carol.play_up_to("end");
    let carol = carol.play_along();
    league.run(&["revoke", "carol"]).done();
    let farewell = carol.join().expect("she plays").pop().expect("a message");
    assert_eq!([&farewell["type"], &farewell["reason"]], ["bye", "its token does not admit it any more"]);
    // A bot that has not said `hello` yet may be one that can connect again.
    let mut pending = Guest::connect(address);
    pending.receive();
    let ended = drain(server);
    assert_eq!(pending.receive_type("bye")["reconnect"], true);
    let farewell = alice.join().expect("she plays").pop().expect("a message");
    assert_eq!(
        [&farewell["type"], &farewell["reason"]],
        ["bye", "the league is closed for now: connect again later"]
    );
    assert!(ended.stderr.contains("admitted") && ended.stderr.contains("name=\"alice\""), "{}", ended.stderr);
    league.verify();
    let standings = league.standings(&[]);
    let rows = standings["standings"].as_array().unwrap();
    let names: BTreeSet<&str> = rows.iter().map(|row| row["player"].as_str().unwrap()).collect();
    assert!(names.is_superset(&["alice@1.0", "anchor", "bob", "carol@7"].into()), "{names:?}");
    assert!(rows.iter().filter(|row| row["player"] != "bob").all(|row| row["faulted"] == 0), "{rows:?}");
}

#[test]
fn program_with_other_files_is_another_player() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let play = || {
        let mut server = league.serve();
        let played = receive_matches(&mut server, 2).pop().unwrap();
        drain(server);
        played["players"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let names = |args: &[&str]| -> BTreeSet<String> {
        let standings = league.standings(args)["standings"].clone();
        standings.as_array().unwrap().iter().map(|row| row["player"].as_str().unwrap().to_owned()).collect()
    };
    let first: BTreeSet<String> = play();
    assert_eq!(first, ["one", "two"].map(str::to_owned).into());
    let text = league.folder.read("bot-one.py");
    league.folder.write("bot-one.py", format!("{text}# It plays better now.\n"));
    let changed = play();
    let version = changed.iter().find(|name| name.starts_with("one@")).expect("a new player").clone();
    assert_eq!(version.len(), "one@".len() + 8, "{changed:?}");
    assert_eq!(names(&[]), changed, "of each bot the newest version");
    assert_eq!(names(&["--all"]), &changed | &first);
    // With its first files it is the first player again.
    league.folder.write("bot-one.py", text);
    assert_eq!(play(), first);
    league.verify();
}

#[test]
fn unparsable_stored_command_is_refused_and_others_play_on() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 1);
    let command = league.folder.plain_bot("bot-three");
    league.run(&["pause"]).done();
    league.run(&["add", "three", "--command", &command]).done();
    league.query("UPDATE bots SET command = 'python3 \"bot' WHERE name = 'three'");
    league.run(&["resume"]).done();
    let refused = || {
        let listed = league.run(&["list", "--json"]).done().all("bot");
        let three = listed.into_iter().find(|bot| bot["name"] == "three").expect("it is listed");
        three["refused"].as_str().map(str::to_owned)
    };
    wait_until("the command is refused", || refused().is_some());
    let why = "`python3 \"bot` cannot be split into words: a quote is not closed";
    assert_eq!(refused().as_deref(), Some(why));
    assert!(league.run(&["list"]).done().stdout.contains("refused: `python3"));
    receive_matches(&mut server, 2);
    // Another command takes its place.
    league.run(&["add", "three", "--command", &command]).done();
    assert_eq!(refused(), None);
    let plays = |ended: &Value| ended["players"].as_array().unwrap().contains(&json!("three"));
    while !plays(&server.receive_type("match")) {}
    drain(server).says(&[&format!("short: the command of three is refused: {why}")]);
}

#[test]
fn flooding_bot_is_excluded_with_reason() {
    let setting = Setting::new("60s", "jobs = 2");
    let token = setting.league.add("alice");
    let mut server = setting.serve();
    let _bots = ["bob", "carol"].map(|name| setting.bot(name, 0, usize::MAX));
    for _ in 0..3 {
        let mut alice = Guest::saying(setting.address, &hello("alice", None, &token));
        let start = alice.receive_type("start");
        alice.answer(&start);
        alice.receive_type("turn");
        alice.write("{\"type\":\"pong\",\"id\":1}\n".repeat(100));
        while alice.next().is_some() {}
    }
    let is_hers = |ended: &Value| ended["players"].as_array().unwrap().contains(&json!("alice"));
    let mut hers = 0;
    while hers < 3 {
        let ended = server.receive_type("match");
        if is_hers(&ended) {
            hers += 1;
            assert!(ended["faults"].as_array().unwrap().contains(&json!({"protocol": 1})), "{ended}");
        }
    }
    let alice = Guest::saying(setting.address, &hello("alice", None, &token));
    assert!(receive_matches(&mut server, 4).iter().all(|ended| !is_hers(ended)));
    drop(alice);
    drain(server).says(&[
        "alice is excluded for 1m: its last matches ended by its faults, the last one by `protocol`",
    ]);
}

#[test]
fn new_versions_of_a_bot_are_limited_a_day() {
    let league = League::new("listen = \"127.0.0.1:0\"\nversions_per_day = 1", &[("anchor", "")]);
    let token = league.add("alice");
    let (server, address) = league.listening();
    // The first version is the bot itself.
    for version in ["1", "2"] {
        Guest::saying(address, &hello("alice", Some(version), &token)).play_up_to("end");
    }
    let farewell = Guest::saying(address, &hello("alice", Some("3"), &token)).receive_type("bye");
    assert_eq!(farewell["reason"], "new versions of `alice` today: 1 of 1; try again tomorrow (UTC)");
    drain(server);
    let standings = league.standings(&[]);
    let rows = standings["standings"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["player"] != "alice@3"), "{rows:?}");
}

#[test]
fn player_idle_for_thirty_days_is_hidden_with_rating() {
    let league = League::new("", &[("one", "anchor = 0"), ("two", ""), ("three", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 6);
    drain(server);
    let all = league.standings(&["--all"]);
    assert_eq!(league.standings(&[])["standings"].as_array().map(Vec::len), Some(3));
    league.query("UPDATE matches SET ended_at = '2026-01-02T03:04:05Z'");
    assert_eq!(league.standings(&[])["standings"], json!([]));
    let hidden = league.standings(&["--all"]);
    let ratings = |standings: &Value| -> Vec<Value> {
        let rows = standings["standings"].as_array().unwrap().iter();
        rows.map(|row| json!([row["player"], row["rating"]])).collect()
    };
    assert_eq!(ratings(&hidden), ratings(&all));
    assert!(hidden["standings"].as_array().unwrap().iter().all(|row| row["inactive"] == true), "{hidden}");
}

#[test]
fn a_wrong_token_is_rejected_and_tokens_are_not_stored() {
    let league = League::new("listen = \"127.0.0.1:0\"", &[]);
    let token = league.add("alice");
    let (server, address) = league.listening();
    let mut guest = Guest::saying(address, &hello("alice", None, "wrong"));
    let error = guest.receive_type("error");
    assert_eq!(error["code"], "wrong_token");
    drain(server);
    for name in ["league.sqlite", "league.sqlite-wal"] {
        let bytes = std::fs::read(league.folder.path(name)).unwrap_or_default();
        assert!(!bytes.windows(token.len()).any(|window| window == token.as_bytes()), "{name}");
    }
    let listed = league.run(&["list", "--json"]).done();
    assert!(!listed.stdout.contains(&token));
    assert_eq!(listed.one("bot")["name"], "alice");
}

#[test]
fn names_that_look_alike_are_refused() {
    let league = League::new("", &[("program", "")]);
    league.add("alice");
    for name in ["Alice", "alice.", "a-lice", "a1ice"] {
        league.run(&["add", name]).with_code(2).says(&["looks like `alice`"]);
    }
    for (name, other) in [("modern", "rnodern"), ("wave", "VVave")] {
        league.add(name);
        league.run(&["add", other]).with_code(2).says(&[&format!("looks like `{name}`")]);
    }
    let file = ["--league", &league.file];
    for name in [".", "..", "-x", "--help"] {
        let ended = referee([&["league", "add"], &file[..], &["--", name]].concat());
        ended.with_code(2).says(&["a name begins with a letter, a digit or `_`"]);
    }
    league.run(&["add", "alice"]).with_code(2).says(&["`alice` takes part already", "revoke alice"]);
    league.run(&["add", "program"]).with_code(2).says(&["is a program in"]);
    league.run(&["add", "x@y"]).with_code(2).says(&["a name has 1 to 64 characters"]);
    league.run(&["revoke", "bob"]).with_code(2).says(&["no bot called `bob` takes part"]);
    league.run(&["revoke", "alice"]).done();
    league.run(&["add", "Alice"]).with_code(2).says(&["looks like `alice`"]);
    league.run(&["add", "alice"]).done();
}

#[test]
fn a_league_can_be_paused_and_a_bot_too() {
    let league = League::new("", &[("one", ""), ("two", ""), ("three", "")]);
    league.run(&["pause"]).done();
    league.run(&["pause", "three"]).done();
    let mut server = league.serve();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(league.standings(&[])["matches"], 0);
    league.run(&["resume"]).done();
    for played in receive_matches(&mut server, 4) {
        assert!(!played["players"].as_array().unwrap().contains(&json!("three")), "{played}");
    }
    league.run(&["resume", "three"]).done();
    while !server.receive_type("match")["players"].as_array().unwrap().contains(&json!("three")) {}
    drain(server);
}

#[test]
fn quota_ends_matches_of_owner_for_day() {
    let league = League::new("quota = 3", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 3);
    std::thread::sleep(Duration::from_secs(1));
    let ended = drain(server).says(&["the owner of one has used up the quota of 3 matches today"]);
    assert_eq!(ended.all("match").len(), 0);
    // Also after a restart.
    let server = league.serve();
    std::thread::sleep(Duration::from_secs(1));
    drain(server);
    assert_eq!(league.verify(), 3);
}

#[test]
fn a_program_joins_while_the_league_runs() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 1);
    let command = league.folder.plain_bot("late");
    league.run(&["add", "late", "--command", &command, "--anchor", "-50"]).done();
    while !server.receive_type("match")["players"].as_array().unwrap().contains(&json!("late")) {}
    league.run(&["add", "none", "--command", "/no/such/program"]).with_code(2).says(&["--command: "]);
    drain(server);
    league.verify();
}

#[test]
fn a_challenge_is_played_and_not_rated() {
    let league = League::new("", &[("one", "owner = \"me\""), ("two", "owner = \"me\""), ("three", "")]);
    league.run(&["challenge", "one", "two"]).done();
    let mut server = league.serve();
    let challenge = loop {
        let played = server.receive_type("match");
        if played["challenge"] == true {
            break played;
        }
        let players = played["players"].as_array().unwrap();
        assert!(players.contains(&json!("three")), "bots of the same owner do not meet: {played}");
    };
    assert_eq!(challenge["rated"], false);
    assert!(challenge["id"].as_str().unwrap().starts_with('c'));
    drain(server);
    league.verify();
    let matches =
        league.run(&["matches", "--player", "two", "--limit", "1000", "--json"]).done().all("match");
    assert_eq!(matches.iter().filter(|played| played["challenge"] == true).count(), 1);
    league.run(&["challenge", "one", "nobody"]).with_code(2).says(&["no bot called `nobody`"]);
    league.run(&["challenge", "one", "two", "three"]).with_code(2).says(&["checkers has 2 seats"]);
}

#[test]
fn challenges_between_owners_are_rated_if_the_league_says_so() {
    let programs = [("one", "owner = \"me\""), ("two", "owner = \"me\""), ("three", ""), ("four", "")];
    let league = League::new("rated_challenges = true", &programs);
    league.run(&["challenge", "one", "two"]).done();
    league.run(&["challenge", "one", "three"]).done();
    let mut server = league.serve();
    let mut challenges = Vec::new();
    while challenges.len() < 2 {
        challenges.extend(Some(server.receive_type("match")).filter(|played| played["challenge"] == true));
    }
    drain(server);
    for (played, letter, is_rated) in [(&challenges[0], 'c', false), (&challenges[1], 'r', true)] {
        assert!(played["id"].as_str().unwrap().starts_with(letter), "{played}");
        assert_eq!(played["rated"], is_rated, "{played}");
    }
    league.verify();
}

#[test]
fn a_pairing_is_a_mirrored_set_of_two_matches() {
    let programs = [("one", ""), ("two", ""), ("three", "")];
    let mut league = League::new("opening_plies = 4", &programs);
    let text = league.folder.read("league.toml").replace("\"0s\"", "\"100ms\"");
    let fen = text.lines().find(|line| line.starts_with("options")).unwrap().to_owned();
    league.file = league.folder.write("league.toml", text.replace(&fen, "options = { turn_limit = 6 }"));
    let mut server = league.serve();
    let mut ended = receive_matches(&mut server, 8);
    ended.extend(drain(server).all("match"));
    league.verify();
    let of_record = |id: &str| -> (Value, Vec<Value>) {
        let record = league.folder.record(&format!("ladders/short/records/{id}.jsonl"));
        let moves = record.iter().map(|line| &line["event"]).filter(|event| event["opening"] == true);
        (record[0]["deal"].clone(), moves.map(|event| event["move"].clone()).collect())
    };
    let mut sets = 0;
    for second in ended.iter().filter(|ended| ended["deal"].is_string()) {
        let first = ended.iter().find(|ended| ended["id"] == second["deal"]).expect("it ended before");
        assert_eq!(first["deal"], Value::Null, "{first}");
        let mut players = first["players"].as_array().unwrap().clone();
        players.reverse();
        assert_eq!(second["players"], json!(players), "with exchanged seats");
        let [one, other] = [first, second].map(|ended| of_record(ended["id"].as_str().unwrap()));
        assert_eq!(one, other, "the same deal and opening");
        assert_eq!((&one.0, one.1.len()), (&first["id"], 4));
        sets += 1;
    }
    assert!(sets >= 3, "{ended:?}");
    let listed = league.run(&["matches"]).done().stdout;
    assert!(listed.contains("with m"), "{listed}");
}

#[test]
fn copies_of_matches_between_deterministic_bots_count_once() {
    let league = League::new("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 8);
    wait_until("the page says that there are copies", || {
        let story = site.get("/api/v1/run").json()["story"].to_string();
        story.contains(" matches were copies of earlier ones and do not count for ratings.")
    });
    drain(server);
    league.verify();
    let standings = league.standings(&[]);
    // Each of both has begun in one match that counts.
    assert_eq!(standings["copies"], standings["matches"].as_u64().unwrap() - 2, "{standings}");
    assert_eq!(league.standings(&["--from-records"])["copies"], standings["copies"]);
    let table = league.run(&["standings"]).done().stdout;
    assert!(table.contains(" matches are copies of earlier ones and do not count for ratings"), "{table}");
}

#[test]
fn games_with_three_sides_have_weng_lin_ratings() {
    let programs = ["a", "b", "c", "d", "e", "f"].map(|name| (name, ""));
    let mut league = League::new("", &programs);
    let text = league.folder.read("league.toml");
    let fen = text.lines().find(|line| line.starts_with("options")).unwrap().to_owned();
    let text = text.replace("checkers", "keezen").replace("\"0s\"", "\"60s\"");
    let text = text.replace(&fen, "seats = 6\noptions = { turn_limit = 300 }");
    league.file = league.folder.write("league.toml", text);
    let mut server = league.serve();
    let played = server.receive_type("match");
    drain(server);
    league.verify();
    let standings = |args: &[&str]| league.standings(args)["standings"].clone();
    assert_eq!(standings(&[]), standings(&["--from-records"]));
    let rows = standings(&[]);
    let rating = |seat: usize| {
        let own = rows.as_array().unwrap().iter().find(|row| row["player"] == played["players"][seat]);
        own.unwrap()["weng_lin"]["rating"].as_f64().unwrap()
    };
    for (seat, other) in (0..6).flat_map(|seat| (0..6).map(move |other| (seat, other))) {
        let ranks = [seat, other].map(|seat| played["ranks"][seat].as_u64().unwrap());
        assert!(ranks[0] >= ranks[1] || rating(seat) > rating(other), "{played} {rows}");
    }
    assert!(league.run(&["standings"]).done().stdout.contains("Weng-Lin"));
}

#[test]
fn program_that_does_not_start_is_excluded_without_rating_change() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let broken = league.folder.bot("broken", "sys.exit(3)");
    league.run(&["add", "broken", "--command", &broken]).done();
    let mut server = league.serve();
    let mut with_broken = 0;
    for played in receive_matches(&mut server, 12) {
        if played["players"].as_array().unwrap().contains(&json!("broken")) {
            with_broken += 1;
            assert_eq!(played["rated"], false);
        }
    }
    assert_eq!(with_broken, 1, "it is excluded for a minute");
    drain(server).says(&["broken is excluded for 1m: it does not start", "the bot `broken` does not start"]);
}

#[test]
fn a_second_signal_stops_at_once_and_loses_no_result() {
    let league = League::new("", &[("one", "")]);
    let hangs = league.folder.bot("hangs", "import time\nplay(start=lambda m: time.sleep(600))");
    league.run(&["add", "hangs", "--command", &hangs]).done();
    let server = league.serve();
    for _ in 0..1000 {
        let begun = std::fs::read_to_string(league.folder.path("ladders/short/begun")).unwrap_or_default();
        if !begun.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    server.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    server.signal(Signal::TERM);
    let ended = server.wait().with_code(130);
    assert_eq!(ended.one("match")["ended_by"], "aborted");
    league.verify();
}

#[test]
fn a_second_server_is_refused() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 1);
    referee(["serve", &league.file]).with_code(5).says(&["another process plays this league"]);
    drain(server);
}

#[test]
fn errors_of_the_file_name_the_ladder_and_the_key() {
    let folder = Folder::new();
    for (text, what) in [
        ("", "missing field `ladders`"),
        ("ladders = []", "`ladders`: there is none"),
        ("[[ladders]]\nname = \"a/b\"\ngame = \"checkers\"", "ladder a/b: the name of a ladder has"),
        ("[[ladders]]\nname = \"a\"\ngame = \"ludo\"", "ladder a: "),
        (
            "[[ladders]]\nname = \"a\"\ngame = \"checkers\"\nclock = \"5\"",
            "4 | clock = \"5\"\n  |         ^^^\n`5` is not KEY=TIME",
        ),
        ("[[ladders]]\nname = \"a\"\ngame = \"checkers\"\njobs = 0", "ladder a: jobs: 0 is not from 1"),
        (
            "[[ladders]]\nname = \"a\"\ngame = \"checkers\"\ntls_cert = \"x\"",
            "ladder a: tls_cert needs tls_key",
        ),
        ("[[ladders]]\nname = \"a\"\ngame = \"checkers\"\nlisen = \"x\"", "did you mean `listen`?"),
        (
            "[[ladders]]\nname = \"a\"\ngame = \"checkers\"\nhelo_limit = \"5s\"",
            "4 | helo_limit = \"5s\"\n  | ^^^^^^^^^^\nunknown field `helo_limit`, expected one of `name`, `game`, `seats`, `options`, \
             `opening_plies`, `clock`, `margin`, `on_fault`, `resign`, `draw`, `max_moves`, `syzygy`, `hello_limit`, \
             `ready_limit`, `jobs`, ",
        ),
        (
            "[[ladders]]\nname = \"a\"\ngame = \"checkers\"\nhelo_limit = \"5s\"",
            "did you mean `hello_limit`?",
        ),
        (
            "ladders = [{ name = \"a\", game = \"checkers\", trust_outages = true }]",
            "unknown field `trust_outages`, expected one of",
        ),
        (
            "[[ladders]]\nname = \"a\"\ngame = \"checkers\"\nterms = {}",
            "unknown field `terms`, expected one of",
        ),
        ("[[ladders]]\nname = \"a\"\n\"{terms}\" = { clock = \"none\" }", "3 | \"{terms}\" = {"),
        ("[[ladders]]\nmax_moves = 0", "2 | max_moves = 0\n  |             ^\n"),
        ("[[ladders]]\nname = \"a\"\ngame = \"checkers\"\noptions = { x = 1 }", "ladder a: "),
        (
            "[[ladders]]\nname = \"a\"\ngame = \"checkers\"\n[[programs]]\nname = \"x\"\ncommand = \"y\"\nladders = [\"b\"]",
            "program x: there is no ladder `b`",
        ),
    ] {
        let file = folder.write("league.toml", text);
        for command in [vec!["serve", &file], vec!["league", "check", "--league", &file]] {
            referee(command).with_code(2).says(&[what]);
        }
    }
    let missing = folder.text("none.toml");
    referee(["serve", &missing]).with_code(2).says(&["`referee init league DIR` writes one"]);
}

#[test]
fn a_new_league_can_be_served_at_once() {
    let folder = Folder::new();
    let mine = folder.text("mine");
    let ended = referee(["init", "league", &mine]).done();
    assert!(ended.stdout.contains("referee serve league.toml"), "{}", ended.stdout);
    let file = folder.text("mine/league.toml");
    let checked = referee(["league", "check", "--league", &file]).done();
    assert_eq!(checked.stdout, "mine\ncheckers: checkers, bots connect to 127.0.0.1:4700\n2 programs\n");
    // Other ports, because tests run concurrently.
    let text = folder.read("mine/league.toml").replace(":4700", ":0").replace(":8080", ":0");
    folder.write("mine/league.toml", text);
    let mut server = Referee::start(["serve", &file, "--json"]);
    assert_eq!(server.receive_type("match")["ladder"], "checkers");
    drain(server);
    referee(["league", "verify", "--league", &file]).done();
    referee(["init", "league", &mine]).with_code(2).says(&["is not empty"]);
}

/// The number of times that the server is killed.
fn kills() -> usize {
    if std::env::var_os("LONG_TESTS").is_some() { 200 } else { 20 }
}

#[test]
fn no_result_is_lost_or_doubled_when_server_dies() {
    let programs = [("one", "anchor = 0"), ("two", ""), ("three", ""), ("four", "")];
    let league = League::new("jobs = 4", &programs);
    let mut reported = BTreeSet::new();
    let mut chance: u64 = 88_172_645_463_325_252;
    for round in 0..kills() {
        let mut server = league.serve();
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        // Some are killed while they start, most while matches begin and end.
        let matches = (chance % 8) as usize;
        for played in receive_matches(&mut server, matches) {
            let id = played["id"].as_str().unwrap().to_owned();
            assert!(reported.insert(id.clone()), "{id} is played twice");
        }
        std::thread::sleep(Duration::from_micros(chance / 8 % 30_000));
        server.signal(Signal::KILL);
        for played in server.wait().all("match") {
            reported.insert(played["id"].as_str().unwrap().to_owned());
        }
        if round % 10 == 9 {
            println!("{} kills, {} matches reported", round + 1, reported.len());
        }
    }
    // The last start completes the results.
    let mut server = league.serve();
    receive_matches(&mut server, 1);
    drain(server);
    let count = league.verify();
    let stored = league.run(&["matches", "--limit", "100000", "--json"]).done().all("match");
    assert_eq!(stored.len(), count);
    let ids: BTreeSet<String> =
        stored.iter().map(|played| played["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), count, "no result is stored twice");
    assert!(ids.is_superset(&reported), "lost: {:?}", reported.difference(&ids));
    println!("{} kills: {count} results, all with records that verify", kills());
}

/// Bots that crash, flood, cheat, hang on to their streams and do not end, with the fault that is theirs.
const HOSTILE: [(&str, &str); 6] = [
    ("crash", "exited"),
    ("floods_stdout", "protocol"),
    ("illegal_move", "illegal_move"),
    ("long_line", "line_too_long"),
    ("closes_stdout", "disconnected"),
    ("splices_stdin", "exited"),
];

#[test]
fn hostile_programs_harm_none_across_kills_of_server() {
    // Players that never answer take all of their time: several in a row would seem to be a server that
    // hangs.
    let league = League::new("jobs = 3\nclock = \"delay=2s,bank=3s\"", &[("one", "anchor = 0"), ("two", "")]);
    for (script, _) in HOSTILE {
        // They misbehave in their first turn: matches are short.
        let command = format!("python3 {ROOT}/bots/hostile/{script}.py 0");
        league.run(&["add", script, "--command", &command]).done();
    }
    let mut seen = BTreeSet::new();
    let mut check = |played: &Value| {
        let (players, faults) = (played["players"].as_array().unwrap(), played["faults"].as_array().unwrap());
        for (player, faults) in players.iter().zip(faults) {
            let own = HOSTILE.iter().find(|(script, _)| player == script).map(|(_, fault)| *fault);
            let found = faults.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>();
            assert!(found.iter().all(|&fault| Some(fault) == own), "{player}: {played}");
            seen.extend(found.iter().map(|&fault| fault.to_owned()));
        }
    };
    for round in 0..kills() / 4 {
        let mut server = league.serve();
        receive_matches(&mut server, 2 + round % 5).iter().for_each(&mut check);
        server.signal(Signal::KILL);
        server.wait().all("match").iter().for_each(&mut check);
    }
    let mut server = league.serve();
    let honest =
        |played: &Value| HOSTILE.iter().all(|(script, _)| !played["players"].to_string().contains(script));
    while !honest(&server.receive_type("match")) {}
    drain(server);
    let count = league.verify();
    let stored = league.run(&["matches", "--limit", "100000", "--json"]).done().all("match");
    assert_eq!(stored.len(), count);
    assert!(seen.len() >= 3, "{seen:?}");
}

#[test]
fn challenges_count_for_no_quota() {
    let league = League::new("quota = 2", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 2);
    league.run(&["challenge", "one", "two"]).done();
    // Of players whose owners have used up their quotas.
    assert_eq!(server.receive_type("match")["challenge"], true);
    drain(server);
    assert_eq!(league.query("SELECT count(*) FROM challenges"), "0");
}
