//! Hostile rules programs: what they do harms neither bots nor the referee. The table is in protocol/spec/games.md.

use serde_json::{Value, json};

use crate::common::{Ended, Folder, assert_gone, referee, sample};
use crate::game_programs::{GAME, changed};
use crate::sandbox::missing;

/// Connect Four that does this before it answers to `play` with four discs on the board.
fn hostile(folder: &Folder, does: &str) -> String {
    let does = does.replace('\n', "\n        ");
    let injected = format!(
        "    request = json.loads(line)\n    if request['type'] == 'play' and sum(map(len, request['state']['columns'])) == 4:\n        {does}\n"
    );
    changed(
        folder,
        &[
            ("    request = json.loads(line)\n", &injected),
            ("import sys", "import os\nimport sys\nimport time\nimport socket"),
        ],
    )
}

/// A match of it between two random bots.
fn played(folder: &Folder, game: &str) -> (Ended, Value) {
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    let ended =
        referee(["play", game, &bot, &bot, "--record", &records, "--json", "--clock", "none"]).with_code(0);
    let report = ended.one("match");
    assert_eq!(report["faults"], json!([{}, {}]), "{report}");
    referee(["verify", &records, "--game", game]).done();
    (ended, report)
}

/// The reason why the rules of the match of a folder failed.
fn failure(folder: &Folder) -> String {
    let record = folder.record("records/m1.jsonl");
    let abort = record.iter().find(|line| line["type"] == "abort").expect("an abort");
    abort["reason"]["why"].as_str().expect("a text").to_owned()
}

#[test]
fn rules_that_use_much_memory_fail() {
    let folder = Folder::new();
    let game = hostile(&folder, "kept = [b'x' * (1 << 20) for _ in range(16000)]");
    // To fill the memory takes long on a busy machine.
    let patient = folder.read("game/game.toml").replacen("protocol = 1", "protocol = 1\nlimit_ms = 30000", 1);
    folder.write("game/game.toml", patient);
    let (_, report) = played(&folder, &game);
    assert_eq!(report["cause"], "rules_failed", "{report}");
    let why = failure(&folder);
    assert!(why.contains("MemoryError") || why.contains("memory") || why.contains("killed"), "{why}");
}

#[test]
fn rules_that_start_processes_without_end_leave_none() {
    let folder = Folder::new();
    let does = "for _ in range(500):\n    try:\n        if os.fork() == 0:\n            os.setsid()\n            open(os.devnull).close()\n            time.sleep(600)\n            os._exit(0)\n    except OSError:\n        break";
    let game = hostile(&folder, does);
    let marked =
        folder.read("game/game.py").replace("time.sleep(600)", "os.execvp('sleep', ['sleep', '600.75'])");
    folder.write("game/game.py", marked);
    // To start them takes long on a busy machine.
    let patient = folder.read("game/game.toml").replacen("protocol = 1", "protocol = 1\nlimit_ms = 30000", 1);
    folder.write("game/game.toml", patient);
    let (_, report) = played(&folder, &game);
    assert_eq!(report["ended_by"], "rules", "{report}");
    let left = std::fs::read_dir("/proc").expect("processes").flatten().filter_map(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        let is_it = command.starts_with(b"sleep\x00600.75");
        is_it.then(|| entry.file_name().to_str()?.parse().ok()).flatten()
    });
    let left: Vec<u32> = left.collect();
    if !left.is_empty() {
        // They have been killed, and take a moment to end.
        assert_gone(&left);
    }
}

#[test]
fn rules_reach_no_secrets_network_or_files() {
    if !missing().is_empty() {
        // Without all layers, `basic` may hold only some of it.
        return;
    }
    let folder = Folder::new();
    let secret = folder.write_secret("secret", "hunter2");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let does = format!(
        "told = []\nfor attempt in (lambda: open({secret:?}).read(), lambda: socket.create_connection(('127.0.0.1', {port}), 1), lambda: open('game.py', 'a').write('#')):\n    try:\n        attempt()\n        told.append('could')\n    except OSError as error:\n        told.append(type(error).__name__)\nraise Exception(str(told))"
    );
    let game = hostile(&folder, &does);
    let (_, report) = played(&folder, &game);
    assert_eq!(report["cause"], "rules_failed", "{report}");
    let why = failure(&folder);
    assert!(why.contains("Exception: [") && !why.contains("could"), "{why}");
    assert!(!folder.read("game/game.py").ends_with("##"));
}

#[test]
fn rules_that_never_end_or_grow_without_end_fail() {
    let folder = Folder::new();
    let fixed = "print(json.dumps({'state': request['state'], 'turn': {'decide': [{'seat': 0, 'legal': ['a'], 'view': {}}]}}), flush=True)\ncontinue";
    let game = hostile(&folder, fixed);
    let (_, report) = played(&folder, &game);
    assert_eq!(report["cause"], "rules_failed", "{report}");
    assert!(failure(&folder).contains("the game has not ended after 20000 decisions and draws"));
    let folder = Folder::new();
    let game = hostile(&folder, "request['state']['more'] = 'x' * 70000");
    let (_, report) = played(&folder, &game);
    assert_eq!(report["cause"], "rules_failed", "{report}");
    let why = failure(&folder);
    assert!(why.contains("`state` has ") && why.contains("it has at most 65536"), "{why}");
}

#[test]
fn rules_with_impossible_results_or_seats_fail() {
    let over = |ranks: &str| {
        format!(
            "print(json.dumps({{'state': 0, 'turn': {{'over': {{'ranks': {ranks}, 'reason': 'four'}}}}}}), flush=True)\ncontinue"
        )
    };
    let decide = |seat: u8| {
        format!(
            "print(json.dumps({{'state': 0, 'turn': {{'decide': [{{'seat': {seat}, 'legal': ['a'], 'view': {{}}}}]}}}}), flush=True)\ncontinue"
        )
    };
    let cases = [
        (over("[1]"), "`ranks`: one for each of 2 sides, not 1"),
        (over("[1, 3]"), "`ranks`: each is one more than the number of better sides"),
        (over("[2, 2]"), "`ranks`: each is one more than the number of better sides"),
        (decide(2), "`decide`: there is no seat 2"),
    ];
    for (does, expected) in cases {
        let folder = Folder::new();
        let game = hostile(&folder, &does);
        let (_, report) = played(&folder, &game);
        assert_eq!(report["cause"], "rules_failed", "{report}");
        let why = failure(&folder);
        assert!(why.contains(expected), "{expected}: {why}");
    }
}

/// Output of a program in place of an answer: this view, or these events.
fn prints(view: &str, events: &str) -> String {
    format!(
        "print('{{\"state\":0,\"turn\":{{\"decide\":[{{\"seat\":0,\"legal\":[\"a\"],\"view\":' + {view} + '}}]}},\"events\":[' + {events} + ']}}', flush=True)\ncontinue"
    )
}

#[test]
fn unreadable_views_and_events_are_failures_of_rules() {
    let event = |field: &str| format!("'{{\"all\":{{\"kind\":\"told\",{field}}}}}'");
    let (good, view, told) = ("'{}'", "turn.decide[0].view.x", "events[0].all.x");
    let cases = [
        (prints(r#"'{"x":1e400}'"#, "''"), format!("`{view}`: the number is beyond the range of a double")),
        (prints(r#"'{"x":"\\ud800"}'"#, "''"), format!("`{view}`: an invalid escape")),
        (prints(r#"'{"x":1,"\\u0078":2}'"#, "''"), "`turn.decide[0].view`: duplicate key `x`".to_owned()),
        (
            prints(r#"'{"x":' * 5000 + '1' + '}' * 5000"#, "''"),
            "more than 64 lists and objects inside each other".to_owned(),
        ),
        (
            prints("'{\"x\":\"' + 'x' * 200000 + '\"}'", "''"),
            "seat 0: `view` has 200008 bytes; it has at most 131072".to_owned(),
        ),
        (
            prints(good, &event(r#""x":-1e999"#)),
            format!("`{told}`: the number is beyond the range of a double"),
        ),
        (prints(good, &event(r#""x":"\\udc00!""#)), format!("`{told}`: an invalid escape")),
        (prints(good, &event(r#""x":1,"x":1"#)), "`events[0].all`: duplicate key `x`".to_owned()),
        (
            prints(good, &format!("{}.replace('y', 'y' * 70000)", event(r#""x":"y""#))),
            "`events`: an event has 70022 bytes; it has at most 65536".to_owned(),
        ),
        (
            prints(good, &format!("','.join([{}.replace('y', 'y' * 10000)] * 60)", event(r#""x":"y""#))),
            "the events between two decisions have more than 512 KiB".to_owned(),
        ),
    ];
    for (does, expected) in cases {
        let folder = Folder::new();
        let game = hostile(&folder, &does);
        let (_, report) = played(&folder, &game);
        assert_eq!(report["cause"], "rules_failed", "{report}");
        let why = failure(&folder);
        assert!(why.contains(&expected), "{expected}: {why}");
    }
}

#[test]
fn texts_of_rules_for_bots_have_no_odd_line_breaks() {
    let folder = Folder::new();
    let told = "{'all': {'kind': 'told', 'x': 'a\\u2028b'}}";
    let game = changed(
        &folder,
        &[
            ("\"view\": state}", "\"view\": {**state, 'x': 'a\\u2028b'}}"),
            ("\"turns_left\": left}", &format!("\"turns_left\": left, 'events': [{told}] * (left < 42)}}")),
            ("json.dumps(answer", "json.dumps(answer, ensure_ascii=False"),
            ("import sys", "import sys\nsys.stdout.reconfigure(encoding='utf-8')"),
        ],
    );
    let (_, report) = played(&folder, &game);
    assert_eq!(report["ended_by"], "rules", "{report}");
    let record = folder.read("records/m1.jsonl");
    assert!(record.contains(r#""x":"a\u2028b""#) && !record.contains('\u{2028}'), "{record}");
}

#[test]
fn match_with_endless_events_ends_before_its_record_grows() {
    let folder = Folder::new();
    let does = "more = [{'all': {'kind': 'told', 'x': 'y' * 60000}}] * 8\nprint(json.dumps({'state': request['state'], 'turn': {'decide': [{'seat': 0, 'legal': ['a'], 'view': {}}]}, 'events': more}), flush=True)\ncontinue";
    let game = hostile(&folder, does);
    let (_, report) = played(&folder, &game);
    assert_eq!(report["cause"], "rules_failed", "{report}");
    let why = failure(&folder);
    assert!(why.contains("the events, draws and moves of the match have more than 16 MiB"), "{why}");
    let size = std::fs::metadata(folder.path("records/m1.jsonl")).expect("a record").len();
    assert!((10 << 20..17 << 20).contains(&size), "{size}");
}

/// A game with a hidden card for each of two seats, which guess whose is higher.
const CARDS: &str = r#"
import json, sys

def position(state, events=()):
    cards, guesses = state["cards"], state["guesses"]
    if len(cards) < 2:
        turn = {"draw": {"pick": 5}}
    elif len(guesses) < 2:
        seat = len(guesses)
        turn = {"decide": [{"seat": seat, "legal": ["higher", "lower"], "view": view(state, seat), "secret": True}]}
    else:
        right = [(guesses[seat] == "higher") == (cards[seat] > cards[1 - seat]) for seat in (0, 1)]
        turn = {"over": {"ranks": [1, 1] if right[0] == right[1] else [1, 2] if right[0] else [2, 1], "reason": "guessed"}}
    return {"state": state, "turn": turn, "events": list(events)}

def view(state, viewer):
    return {"card": state["cards"][viewer], "guesses": len(state["guesses"])LEAK}

def start(**_):
    return position({"cards": [], "guesses": []})

def play(state, moves, **_):
    state["guesses"].append(moves[0]["move"])
    return position(state)

def settle(state, drawn, **_):
    seat = len(state["cards"])
    state["cards"].append(drawn[0])
    dealt = {"kind": "dealt", "seat": seat}
    own = {**dealt, "card": drawn[0]}
    return position(state, [{"all": own, "public": dealt, "seats": {str(seat): own}}])

def show(state, viewer, **_):
    if viewer in (0, 1) and len(state["cards"]) == 2:
        return {"view": view(state, viewer)}
    return {"view": state if viewer == "all" else {"guesses": len(state["guesses"])}}

def imagine(seat, view, random, **_):
    cards = [random[0] % 5, random[0] % 5]
    cards[seat] = view["card"]
    return position({"cards": cards, "guesses": ["higher"] * IMAGINED})

for line in sys.stdin:
    request = json.loads(line)
    answer = globals()[request["type"]](**{key: value for key, value in request.items() if key != "type"})
    print(json.dumps(answer), flush=True)
"#;

const CARDS_MANIFEST: &str = r#"
protocol = 1
id = "cards"
title = "Cards"
version = 1
command = "python3 game.py"
seats = 2
hidden = true
chance = true
imagine = true
reasons = ["guessed"]
"#;

/// Checks the game of cards with these changes.
fn check(leak: &str, imagined: &str) -> Ended {
    check_program(&CARDS.replace("LEAK", leak).replace("IMAGINED", imagined))
}

fn check_program(program: &str) -> Ended {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("game")).expect("a directory");
    folder.write("game/game.toml", CARDS_MANIFEST);
    folder.write("game/game.py", program);
    referee(["game", "check", &folder.text("game"), "-n", "20"])
}

#[test]
fn the_check_finds_views_that_leak() {
    let good = check("", "view['guesses']").done().stdout;
    assert!(good.contains("ok      secrets") && good.contains("ok      imagine"), "{good}");
    let leaks = check(", \"sum\": sum(state[\"cards\"])", "view['guesses']").with_code(1).stdout;
    assert!(
        leaks.contains("FAILED  secrets") && leaks.contains("although its events are the same"),
        "{leaks}"
    );
    assert!(leaks.contains("seat 1 sees the `view` ") && leaks.contains("after the draw ["), "{leaks}");
    let secret = check(", \"others\": state[\"guesses\"]", "view['guesses']").with_code(1).stdout;
    assert!(secret.contains("FAILED  secrets") && secret.contains("after the move `"), "{secret}");
}

#[test]
fn the_check_finds_texts_scenes_and_turn_limits_that_leak() {
    let cards = CARDS.replace("LEAK", "").replace("IMAGINED", "view['guesses']");
    let shown = r#"    return {"view": state if viewer == "all" else {"guesses": len(state["guesses"])}}"#;
    let leaking = |from: &str, to: &str| {
        assert!(cards.contains(from), "{from}");
        check_program(&cards.replace(from, to)).with_code(1).stdout
    };
    let public = |more: &str| {
        leaking(shown, &format!("    secret = sum(state['cards'])\n    return {{'view': {{}}, {more}}}"))
    };
    let text = public("'text': f'the sum is {secret}'");
    assert!(text.contains("FAILED  secrets   seat 1 sees the `text` the sum is "), "{text}");
    let shape = "{'id': 'a', 'at': [secret, 0], 'parts': []}";
    let scene =
        public(&format!("'scene': {{'width': 1000, 'height': 1000, 'shapes': [{shape}], 'words': ['x']}}"));
    assert!(scene.contains("FAILED  secrets   seat 1 sees a `scene` with the shape "), "{scene}");
    let words = public(
        "'text': 'x', 'scene': {'width': 1000, 'height': 1000, 'shapes': [], 'words': ['x', str(secret)]}",
    );
    assert!(words.contains("FAILED  secrets") && words.contains("a `scene` with the words "), "{words}");
    let limit =
        leaking(r#""events": list(events)}"#, r#""events": list(events), "turns_left": 1 + sum(cards)}"#);
    assert!(limit.contains("FAILED  secrets   seat 1 sees the `turns_left` Some("), "{limit}");
}

#[test]
fn the_check_finds_a_secret_that_only_spectators_get() {
    let cards = CARDS.replace("LEAK", "").replace("IMAGINED", "view['guesses']");
    let shown = r#"    return {"view": state if viewer == "all" else"#;
    let tells = "    if viewer == 'public': return {'view': {}, 'text': str(state['cards'])}\n";
    let public = check_program(&cards.replace(shown, &format!("{tells}{shown}"))).with_code(1).stdout;
    assert!(public.contains("FAILED  secrets   the public sees the `text` ["), "{public}");
    // The board names the cards only after the first guess, while the opponent thinks.
    let later = "    if state['guesses']: return {'view': {}, 'text': str(state['cards'])}\n";
    let late = check_program(&cards.replace("    if viewer in", &format!("{later}    if viewer in")));
    let late = late.with_code(1).stdout;
    assert!(late.contains("FAILED  secrets") && late.contains("], the move `"), "{late}");
}

#[test]
fn the_check_finds_imagined_positions_that_disagree_with_the_view() {
    let wrong = check("", "0").with_code(1).stdout;
    assert!(wrong.contains("FAILED  imagine") && wrong.contains("seat 1"), "{wrong}");
}

#[test]
fn search_bots_imagine_positions_of_a_game_in_python() {
    let mut server = crate::common::Referee::start(["imagine", "--game", GAME]);
    let view = json!({"columns": ["rrr", "yyy", "", "", "", "", ""], "rows": 6});
    server.send(json!({"type": "imagine", "position": 0, "game": "connect_four", "seat": 0, "view": view}));
    assert_eq!(server.receive(), json!({"type": "imagined", "worlds": 1}));
    server.send(json!({"type": "explore", "position": 0, "moves": [{"seat": 0, "move": "a"}]}));
    assert_eq!(server.receive()["over"]["reason"], "four");
    server.send(json!({"type": "playouts", "position": 0, "moves": [{"seat": 0, "move": "a"}], "count": 3}));
    assert_eq!(server.receive(), json!({"type": "played", "scores": [1.0, 0.0]}));
    server.end().done();
}
