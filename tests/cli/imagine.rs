//! `referee imagine`: imagined positions, and the SDKs that ask for them.

use std::process::Command;

use ::referee::game::test_length::long_or;

use crate::common::{Folder, ROOT, Referee, SEED, in_java, referee, sample};
use serde_json::{Value, json};

fn imaginer() -> Referee {
    Referee::start(["imagine"])
}

fn ask(imaginer: &mut Referee, request: &Value) -> Value {
    imaginer.send(request);
    imaginer.receive()
}

/// The request for a position, of checkers with one man on each side.
fn two_men() -> Value {
    json!({
        "type": "imagine", "position": 0, "game": "checkers", "seat": 0,
        "view": {
            "to_move": [0], "board": ".........b............w.........", "fen": "B:W23:B10", "quiet_plies": 0
        }
    })
}

/// All games with all numbers of seats.
fn games() -> Vec<(String, u64)> {
    let games = referee(["games", "--json"]).json();
    let of = |game: &Value| {
        let id = game["id"].as_str().expect("an id").to_owned();
        let seats = game["seats"].as_array().expect("a list").clone();
        seats.into_iter().map(move |seats| (id.clone(), seats.as_u64().expect("a number")))
    };
    games.iter().flat_map(of).collect()
}

#[test]
fn the_dialogue_of_the_specification_is_reproduced() {
    let page = std::fs::read_to_string(format!("{ROOT}/protocol/spec/imagine.md")).expect("the page");
    let blocks = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
    let mut imaginer = imaginer();
    let mut answered = 0;
    for pair in lines.chunks(2).filter(|pair| pair.len() == 2) {
        imaginer.send(pair[0]);
        assert_eq!(imaginer.line().as_deref(), Some(pair[1]), "{}", pair[0]);
        answered += 1;
    }
    assert!(answered >= 4, "{answered} requests");
    imaginer.end().done();
}

/// Plays a match through `referee stdio`, and calls `look` for each request.
fn play(game: &str, seats: u64, mut look: impl FnMut(&Value, &Value)) {
    let mut host = Referee::start(["stdio", "--clock", "none", "--seed", SEED]);
    assert_eq!(host.receive()["type"], "hello");
    host.send(json!({"type": "hello", "protocol": 1, "name": "host"}));
    host.send(json!({"type": "open", "game": game, "seats": seats, "auto_ready": true}));
    let start = host.receive_type("start");
    let mut requests = 0;
    loop {
        let message = host.receive();
        if message["type"] == "turn" {
            look(&start, &message);
            requests += 1;
            let legal = message["legal"].as_array().expect("moves");
            let index = requests * 7 % legal.len();
            host.send(json!({
                "type": "move", "match": message["match"], "seat": message["seat"], "turn": message["turn"],
                "move": legal[index]
            }));
        }
        if message["type"] == "end" || requests == 60 {
            return;
        }
    }
}

#[test]
fn imagined_position_has_view_and_moves_of_request() {
    let mut imaginer = imaginer();
    for (game, seats) in games() {
        play(&game, seats, |start, turn| {
            let mut imagine = json!({
                "type": "imagine", "position": 5, "game": game, "rules": start["rules"], "seats": seats,
                "options": start["options"], "seat": turn["seat"], "view": turn["view"], "worlds": 3, "seed": 9
            });
            if !turn["turns_left"].is_null() {
                imagine["turns_left"] = turn["turns_left"].clone();
            }
            let worlds = ask(&mut imaginer, &imagine)["worlds"].as_u64().expect("worlds");
            for world in 0..worlds {
                let explore =
                    json!({"type": "explore", "position": 5, "world": world, "view_of": turn["seat"]});
                let explored = ask(&mut imaginer, &explore);
                assert_eq!(explored["view"], turn["view"], "{game}");
                assert_eq!(explored["turns_left"], turn["turns_left"], "{game}");
                let decisions = explored["decisions"].as_array().expect("a list");
                let own = decisions.iter().find(|decision| decision["seat"] == turn["seat"]);
                assert_eq!(own.expect("it decides")["legal"], turn["legal"], "{game}");
            }
        });
    }
}

#[test]
fn worlds_differ_in_what_the_seat_does_not_know() {
    let mut imaginer = imaginer();
    let mut hands = std::collections::BTreeSet::new();
    play("keezen", 2, |_, turn| {
        if !hands.is_empty() {
            return;
        }
        let imagine = json!({
            "type": "imagine", "position": 0, "game": "keezen", "seat": turn["seat"], "view": turn["view"],
            "worlds": 20
        });
        assert_eq!(ask(&mut imaginer, &imagine), json!({"type": "imagined", "worlds": 20}));
        let other = 1 - turn["seat"].as_u64().expect("a seat");
        for world in 0..20 {
            let explore = json!({"type": "explore", "position": 0, "world": world, "view_of": other});
            hands.insert(ask(&mut imaginer, &explore)["view"]["hand"].to_string());
        }
    });
    assert!(hands.len() > 10, "{hands:?}");
}

#[test]
fn simultaneous_choices_may_come_in_any_order() {
    let mut imaginer = imaginer();
    let mut is_done = false;
    play("xe_queo", 2, |_, turn| {
        if is_done || turn["view"]["phase"] != "choose" {
            return;
        }
        is_done = true;
        let imagine = json!({
            "type": "imagine", "position": 0, "game": "xe_queo", "seat": turn["seat"], "view": turn["view"]
        });
        ask(&mut imaginer, &imagine);
        let choice = |seat: u8, at: usize| json!({"seat": seat, "move": turn["legal"][at]});
        let mut after = |moves: Value| {
            ask(&mut imaginer, &json!({"type": "explore", "position": 0, "moves": moves, "view_of": 1}))
        };
        let open = after(json!([choice(1, 3)]));
        assert_eq!(open["decisions"].as_array().map(Vec::len), Some(1), "{open}");
        assert_eq!([&open["decisions"][0]["seat"], &open["view"]["phase"]], [&json!(0), &json!("choose")]);
        let both = after(json!([choice(1, 3), choice(0, 2)]));
        assert_eq!(both, after(json!([choice(0, 2), choice(1, 3)])));
        assert_eq!(both["view"]["phase"], "play");
        let again = after(json!([choice(1, 3), choice(1, 2)]));
        assert_eq!(again["message"], "move 2: seat 1 does not decide here");
        let playouts =
            json!({"type": "playouts", "position": 0, "moves": [choice(1, 3)], "count": 20, "seed": 1});
        let scores = ask(&mut imaginer, &playouts)["scores"].clone();
        let sum: f64 = scores.as_array().expect("scores").iter().filter_map(Value::as_f64).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{scores}");
    });
    assert!(is_done);
}

#[test]
fn the_same_requests_have_the_same_answers() {
    let mut requests = Vec::new();
    play("saxum", 2, |_, turn| {
        if requests.is_empty() {
            let seat = &turn["seat"];
            requests.push(json!({
                "type": "imagine", "position": 1, "game": "saxum", "seat": seat, "view": turn["view"],
                "turns_left": turn["turns_left"]
            }));
            let moves = json!([{"seat": seat, "move": turn["legal"][0]}]);
            for seed in [1, 1, 2] {
                requests.push(json!({
                    "type": "explore", "position": 1, "moves": moves, "seed": seed, "view_of": 0
                }));
                requests.push(json!({
                    "type": "playouts", "position": 1, "moves": moves, "seed": seed, "count": 5
                }));
            }
        }
    });
    let answers = || {
        let mut imaginer = imaginer();
        requests.iter().map(|request| ask(&mut imaginer, request)).collect::<Vec<Value>>()
    };
    let once = answers();
    assert_eq!(once, answers());
    assert_eq!(once[1..3], once[3..5]);
    let dice: std::collections::BTreeSet<String> = (0..20)
        .map(|seed| {
            let mut imaginer = imaginer();
            ask(&mut imaginer, &requests[0]);
            let mut explore = requests[1].clone();
            explore["seed"] = seed.into();
            ask(&mut imaginer, &explore)["view"]["dice"].to_string()
        })
        .collect();
    assert!(dice.len() > 5, "{dice:?}");
}

#[test]
fn requests_that_cannot_be_answered_are_rejected_with_the_reason() {
    let mut imaginer = imaginer();
    let with = |field: &str, value: Value| {
        let mut request = two_men();
        request[field] = value;
        request
    };
    let view = |field: &str, value: Value| {
        let mut request = two_men();
        request["view"][field] = value;
        request
    };
    let playouts = |count: u64| json!({"type": "playouts", "position": 0, "count": count});
    let mv = json!({"seat": 0, "move": "10-14"});
    for (request, code, message) in [
        (json!("text"), "malformed", "invalid type: string"),
        (json!({"type": "imagine"}), "malformed", "missing field `position`"),
        (json!({"type": "dream"}), "unknown_type", "`dream`; known: imagine, explore, playouts"),
        (json!({"type": "explore", "position": 0}), "unknown_position", "position 0 has not been imagined"),
        (
            json!({"type": "explore", "position": 4_000_000_000_u32}),
            "unknown_position",
            "position 4000000000",
        ),
        (with("game", json!("ludo")), "bad_setup", "unknown game `ludo`"),
        (with("rules", json!(2)), "bad_setup", "checkers has version 1 of its rules here, not 2"),
        (with("seats", json!(3)), "bad_setup", "played with 2 seats, not 3"),
        (with("seat", json!(2)), "bad_setup", "seat 2: the match has 2 seats"),
        (with("options", json!({"turn_limit": -1})), "bad_setup", "options of checkers"),
        (with("worlds", json!(0)), "malformed", "worlds 0: 1 to 256"),
        (with("worlds", json!(257)), "malformed", "worlds 257: 1 to 256"),
        (with("position", json!(64)), "unknown_position", "the numbers are 0 to 63"),
        (with("seed", json!(-1)), "malformed", "invalid value: integer `-1`"),
        (with("view", json!([])), "bad_view", "view of checkers"),
        (view("to_move", json!([1])), "bad_view", "`to_move` contradicts the rest, which gives [0]"),
        (view("fen", json!("B:W23:B23")), "bad_view", "view of checkers"),
        (two_men(), "", ""),
        (
            json!({"type": "explore", "position": 0, "world": 1}),
            "unknown_position",
            "world 1: the position has 1",
        ),
        (json!({"type": "explore", "position": 0, "view_of": 2}), "bad_setup", "seat 2"),
        (
            json!({"type": "explore", "position": 0, "moves": vec![&mv; 1001]}),
            "malformed",
            "1001 moves: at most 1000",
        ),
        (
            json!({"type": "explore", "position": 0, "moves": [mv, mv]}),
            "illegal_move",
            "move 2: seat 0 does not",
        ),
        (
            json!({"type": "explore", "position": 0, "moves": [{"seat": 0, "move": "x".repeat(100)}]}),
            "illegal_move",
            "xxx...` is not a legal move of seat 0",
        ),
        (playouts(0), "malformed", "count 0: 1 to 100000"),
        (playouts(100_001), "malformed", "count 100001: 1 to 100000"),
    ] {
        let answer = ask(&mut imaginer, &request);
        if code.is_empty() {
            assert_eq!(answer["type"], "imagined", "{request}");
            continue;
        }
        assert_eq!(answer["code"], code, "{request}: {answer}");
        assert!(answer["message"].as_str().is_some_and(|text| text.contains(message)), "{request}: {answer}");
    }
    imaginer.end().done();
}

#[test]
fn lines_that_are_no_requests_do_not_end_it() {
    let mut imaginer = imaginer();
    imaginer.write([&b"\n\r\n"[..], &b"[".repeat(100_000), b"\n"].concat());
    assert_eq!(imaginer.receive()["code"], "malformed");
    imaginer.write(b"{\"type\":\"\xff\"}\n");
    assert_eq!(imaginer.receive()["code"], "malformed");
    imaginer.write(b"x".repeat(3_000_000));
    imaginer.write(b"\n");
    assert_eq!(imaginer.receive()["code"], "line_too_long");
    assert_eq!(ask(&mut imaginer, &two_men())["type"], "imagined");
    // A line without its end is no request.
    imaginer.write(two_men().to_string());
    let ended = imaginer.end().done();
    assert_eq!(ended.stdout, "");
}

#[test]
fn many_requests_in_one_write_are_answered_in_order() {
    let mut imaginer = imaginer();
    let explore = |moves: Value| json!({"type": "explore", "position": 0, "moves": moves}).to_string() + "\n";
    let pair = explore(json!([])) + &explore(json!([{"seat": 0, "move": "10-15"}]));
    imaginer.write(two_men().to_string() + "\n" + &pair.repeat(2000));
    assert_eq!(imaginer.receive()["type"], "imagined");
    for _ in 0..2000 {
        assert_eq!(imaginer.receive()["decisions"][0]["seat"], 0);
        assert_eq!(imaginer.receive()["decisions"][0]["seat"], 1);
    }
    imaginer.end().done();
}

#[test]
fn the_module_in_python_passes_its_tests() {
    let script = "-W error -m unittest discover -s bots/python/tests -t bots/python -p test_imagine.py";
    let mut python = Command::new("python3");
    python.args(script.split(' ')).current_dir(ROOT).env("REFEREE", env!("CARGO_BIN_EXE_referee"));
    let output = python.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Plays every game with a bot of an SDK that compares each request with what the program answers. tests/run builds it.
#[track_caller]
fn agrees_with_every_request(bot: &str) {
    let bot = format!("env REFEREE='{}' {bot}", env!("CARGO_BIN_EXE_referee"));
    let random = sample("python/random_bot.py") + " --seed 1";
    for (game, seats) in games().into_iter().filter(|(_, seats)| *seats < 6) {
        let mut args = vec!["play", &game, &bot];
        args.extend((1..seats).map(|_| random.as_str()));
        if game != "xe_queo" {
            args.extend(long_or(&[][..], &["--set", "turn_limit=40"][..]));
        }
        referee(args.into_iter().chain(["--clock", "none", "--strict", "--seed", SEED])).with_code(0);
    }
    // A game whose rules are a program.
    let game = format!("{ROOT}/examples/games/kuhn_poker");
    let bot = bot.replacen("env ", &format!("env IMAGINE_GAME='{game}' "), 1);
    referee(["play", &*game, &bot, &random, "--clock", "none", "--strict", "--seed", SEED]).with_code(0);
}

#[test]
fn the_module_in_javascript_agrees_with_every_request() {
    agrees_with_every_request(&format!("node '{ROOT}/bots/javascript/test/imagine_bot.js'"));
}

#[test]
fn the_module_in_go_agrees_with_every_request() {
    agrees_with_every_request(&format!("'{ROOT}/target/sdks/go/imaginebot'"));
}

#[test]
fn the_module_in_java_agrees_with_every_request() {
    agrees_with_every_request(&in_java("ImagineBot"));
}

#[test]
fn the_module_in_c_agrees_with_every_request() {
    agrees_with_every_request(&format!("'{ROOT}/target/sdks/c/imagine_bot'"));
}

#[test]
fn the_search_bots_of_all_sdks_leave_no_process_behind() {
    let folder = Folder::new();
    let python = format!(
        "import sys\nsys.path.insert(0, '{ROOT}/bots/python')\nfrom referee_bot import run\n\
         from referee_bot.imagine import Imaginer\nimaginer = Imaginer()\n\
         def choose(turn):\n    imaginer.imagine(turn)\n    return turn.legal[0]\n\
         run(choose, name='imagine')\n"
    );
    let bots = [
        format!("python3 -W error '{}'", folder.write("bot.py", python)),
        format!("node '{ROOT}/bots/javascript/test/imagine_bot.js'"),
        format!("'{ROOT}/target/sdks/go/imaginebot'"),
        in_java("ImagineBot"),
        format!("'{ROOT}/target/sdks/c/imagine_bot'"),
    ];
    for bot in bots {
        let bot = format!("env REFEREE='{}' {bot}", env!("CARGO_BIN_EXE_referee"));
        let ended = referee(["check", "checkers", &bot, "--json"]).with_code(0);
        let failed = ended.all("step").into_iter().filter(|step| step["verdict"] == "failed");
        assert_eq!(failed.count(), 0, "{bot}: {ended:#?}");
    }
}

#[test]
fn a_child_that_ends_by_itself_is_not_left_behind() {
    let folder = Folder::new();
    let script = |seconds: &str| {
        format!(
            "import subprocess\nsubprocess.Popen(['sh', '-c', 'cat; sleep {seconds}'], stdin=subprocess.PIPE)\nplay()"
        )
    };
    let ended = referee(["check", "checkers", &folder.bot("short", &script("0.3"))]);
    ended.with_code(0);
    let left = referee(["check", "checkers", &folder.bot("long", &script("60"))]).with_code(1);
    assert!(left.stdout.contains("it ended and left"), "{left:#?}");
}

#[test]
fn the_transcript_is_reproduced() {
    let path = format!("{ROOT}/protocol/transcripts/imagine/every_game.jsonl");
    let text = std::fs::read_to_string(&path).expect("the transcript");
    let mut lines = text.lines();
    let head: Value = serde_json::from_str(lines.next().expect("a first line")).expect("JSON");
    let args: Vec<&str> = head["args"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let mut imaginer = Referee::start(args);
    let mut now = format!("{}\n", text.lines().next().unwrap_or_default());
    for line in lines {
        let said: Value = serde_json::from_str(line).expect("JSON");
        if said["from"] == "bot" {
            // Byte for byte: errors name columns.
            let raw = line.strip_prefix(r#"{"from":"bot","line":"#).and_then(|rest| rest.strip_suffix('}'));
            let request = raw.or(said["text"].as_str()).expect("line or text");
            imaginer.send(request);
            let answer = imaginer.line().expect("an answer");
            now += &format!("{line}\n{{\"from\":\"referee\",\"line\":{answer}}}\n");
        }
    }
    imaginer.end().done();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, now).expect("it can be written");
    } else {
        assert!(now == text, "UPDATE=1 cargo test --test cli imagine renews the transcript:\n{now}");
    }
}

#[test]
fn pythons_monte_carlo_bot_plays_game_that_is_program() {
    let game = format!("{ROOT}/examples/games/connect_four");
    let (program, bot) = (env!("CARGO_BIN_EXE_referee"), sample("python/monte_carlo_bot.py"));
    let (playouts, matches, least) = long_or((80, "6", 5.0), (40, "4", 3.5));
    let bot = format!("env REFEREE='{program}' {bot} --playouts {playouts} --seed 1 --game '{game}'");
    let random = sample("python/random_bot.py") + " --seed 1";
    let args = [
        "play", &*game, &bot, &random, "-n", matches, "--clock", "none", "--strict", "--json", "--seed", SEED,
    ];
    let summary = referee(args).with_code(0).one("summary");
    assert!(summary["bots"][0]["score"].as_f64().is_some_and(|score| score >= least), "{summary}");
}

/// Plays matches of Python's Monte-Carlo bot with this number of playouts per decision, or 200 matches with the second
/// number with LONG_TESTS. Without a clock, its choices are reproducible.
#[track_caller]
fn beats_random(game: &str, [short, long]: [u32; 2], matches: u32) {
    let (playouts, matches, share) =
        if std::env::var_os("LONG_TESTS").is_some() { (long, 200, 0.95) } else { (short, matches, 0.8) };
    let (program, bot) = (env!("CARGO_BIN_EXE_referee"), sample("python/monte_carlo_bot.py"));
    let bot = format!("env REFEREE='{program}' {bot} --playouts {playouts} --seed 1");
    let (random, matches) = (sample("python/random_bot.py") + " --seed 1", matches.to_string());
    let args = ["play", game, &bot, &random, "-n", &matches, "--clock", "none", "--strict", "--json"];
    let summary =
        referee(args.into_iter().chain(["--jobs", "1", "--seed", SEED])).with_code(0).one("summary");
    let [score, of] =
        [&summary["bots"][0]["score"], &summary["matches"]].map(|n| n.as_f64().expect("a number"));
    assert!(score >= share * of, "{score} of {of} in {game}");
}

macro_rules! monte_carlo {
    ($($game:ident: $short:literal or $long:literal playouts, $matches:literal matches;)*) => {
        mod pythons_monte_carlo_bot_beats_the_random_bot_in {
            $(
                #[test]
                fn $game() {
                    super::beats_random(stringify!($game), [$short, $long], $matches);
                }
            )*
        }

        #[test]
        fn the_monte_carlo_bot_is_tested_in_every_game() {
            let tested = [$(stringify!($game)),*];
            assert!(games().iter().all(|(game, _)| tested.contains(&game.as_str())));
        }
    };
}

// A playout takes the program without optimizations about 1 ms in Keezenspel, where the bot scores 92% with 100 playouts in
// 1000 matches, 96% with 200 and 98% with 400 in 200 matches. In Saxum, it scores 92% with 100 playouts, 95% with 400 and
// 97% with 1000, each in 400 matches or more.
monte_carlo! {
    checkers: 30 or 100 playouts, 10 matches;
    chess: 6 or 60 playouts, 1 matches;
    jeex: 100 or 100 playouts, 10 matches;
    keezen: 25 or 200 playouts, 5 matches;
    saxum: 30 or 1000 playouts, 10 matches;
    xe_queo: 400 or 400 playouts, 5 matches;
}
