//! Games whose rules are programs: `examples/games`.
#![expect(clippy::disallowed_methods, reason = "tests measure what slow rules delay")]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ::referee::bot::Launch;
use ::referee::game::chance::{RandomKey, Uniform};
use ::referee::game::{Seat, Turn};
use ::referee::program;
use serde_json::{Value, json};

use crate::common::http::Site;
use crate::common::{Ended, Folder, ROOT, Referee, Signal, TIMEOUT, referee, sample};

/// The directory of the example.
pub(crate) const GAME: &str = "examples/games/connect_four";

fn bot() -> String {
    format!("python3 '{ROOT}/{GAME}/bot.py'")
}

/// Plays matches of random bots, or of these, with records in the folder.
pub(crate) fn play(folder: &Folder, game: &str, more: &[&str]) -> Ended {
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    let common = ["play", game, &bot, &bot, "--record", &records, "--json"];
    referee(common.iter().chain(more))
}

#[test]
fn a_game_in_python_is_played_verified_and_shown() {
    let folder = Folder::new();
    let (bot, random, records) = (bot(), sample("python/random_bot.py"), folder.text("records"));
    let ended = referee(["play", GAME, &bot, &random, "-n", "6", "--record", &records, "--json"]).done();
    let matches = ended.all("match");
    assert_eq!(matches.len(), 6);
    for report in &matches {
        assert_eq!(report["faults"], json!([{}, {}]), "{report}");
        assert!(report["reason"] == "four" || report["reason"] == "full_board", "{report}");
    }
    let verified = referee(["verify", &records, "--game", GAME]).done();
    assert!(verified.stdout.contains("6 records, 0 differ"), "{verified:?}");
    let record = folder.text("records/m1.jsonl");
    let text = referee(["show", &record, "--game", GAME]).done().stdout;
    assert!(text.contains("a b c d e f g\nred to move") && text.contains("ended: four"), "{text}");
    let svg = referee(["show", &record, "--game", GAME, "--svg", "--turn", "3"]).done().stdout;
    let discs = |tone: &str| svg.matches(&format!("<circle class=\"f-{tone}\"")).count();
    assert_eq!([discs("red"), discs("yellow")], [2, 1], "{svg}");
    let page = referee(["show", &record, "--game", GAME, "--html"]).done().stdout;
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{page}");
}

#[test]
fn a_game_in_python_is_listed_and_documented() {
    let listed = referee(["games", GAME, "--json"]).done().one("game");
    assert_eq!(listed["id"], "connect_four");
    assert_eq!((&listed["hidden"], &listed["openings"]), (&json!(false), &json!(true)));
    assert_eq!(listed["options"][0]["default"], 7);
    assert!(referee(["rules", GAME]).done().stdout.starts_with("# Connect Four"));
    let unknown = referee(["play", "connect_four", "a", "b"]).with_code(2);
    assert!(
        unknown.stderr.contains("or the directory of a game that is a program, such as ./connect_four"),
        "{unknown:?}"
    );
    let nothing = referee(["play", "examples/bots/", "a", "b"]).with_code(2);
    assert!(nothing.stderr.contains("examples/bots/: there is no game.toml"), "{nothing:?}");
}

#[test]
fn options_of_a_game_in_python_are_checked() {
    let folder = Folder::new();
    let refusal = |option: &str| play(&folder, GAME, &["--set", option]).with_code(2).stderr;
    assert!(refusal("columns=3").contains("options of connect_four: columns: 3; expected 4 to 9"));
    assert!(refusal("columns=\"x\"").contains("`columns` is \"x\"; expected a number"));
    assert!(refusal("size=3").contains("unknown option `size`; expected `columns`, `rows`"));
    let mirrored = ["--mirror", "--opening-plies", "3", "-n", "4", "--set", "columns=5"];
    let ended = play(&folder, GAME, &mirrored).done();
    assert_eq!(ended.all("match").len(), 4);
    let record = folder.read("records/m1.jsonl");
    assert!(record.contains(r#""options":{"columns":5,"rows":6}"#), "{record}");
    assert_eq!(record.matches(r#""opening":true}"#).count(), 3, "{record}");
    referee(["verify", &folder.text("records"), "--game", GAME]).done();
}

/// A copy of the example in a folder, with changes to its program.
pub(crate) fn changed(folder: &Folder, changes: &[(&str, &str)]) -> String {
    let directory = folder.path("game");
    std::fs::create_dir(&directory).expect("a directory");
    for file in ["game.toml", "rules.md", "schema.json", "game.py"] {
        let mut text = std::fs::read_to_string(Path::new(ROOT).join(GAME).join(file)).expect("a file");
        for (from, to) in changes {
            text = text.replace(from, to);
        }
        folder.write(&format!("game/{file}"), text);
    }
    folder.text("game")
}

#[test]
fn a_record_verifies_only_with_the_same_files() {
    let folder = Folder::new();
    play(&folder, GAME, &[]).done();
    let record = folder.text("records/m1.jsonl");
    let other = changed(&folder, &[("It remembers", "it remembers")]);
    let refused = referee(["verify", &record, "--game", &other]).with_code(2);
    let expected = "the rules of connect_four have other files than those of the record: game.py";
    refused.says(&[expected, "; --accept-changed replays it with the files as they are now"]);
    referee(["show", &record, "--game", &other]).with_code(2).says(&[expected, "--accept-changed"]);
    let accepted =
        |command: &str| referee([command, &record, "--game", &other, "--accept-changed"]).with_code(0);
    let said = "replayed with changed files of the rules: game.py";
    let verified = accepted("verify").stdout;
    assert!(
        verified.contains(&format!("m1.jsonl: {said}\n")) && verified.contains("m1.jsonl: ok\n"),
        "{verified}"
    );
    let shown = accepted("show");
    assert!(shown.stdout.contains(&format!("\n{said}\n")) && shown.stderr.contains(said), "{shown:?}");
    let line =
        referee(["verify", &record, "--game", &other, "--accept-changed", "--json"]).done().one("record");
    assert_eq!(line["changed_files"], serde_json::json!(["game.py"]), "{line}");
    let without = referee(["verify", &record]).with_code(2);
    assert!(without.stderr.contains("its directory is given with --game DIR"), "{without:?}");
    let text = folder.read("records/m1.jsonl");
    let (from, to) = text.split_once("\"move\":\"").expect("a move");
    let forged = folder.write("forged.jsonl", format!("{from}\"move\":\"x{to}"));
    referee(["verify", &forged, "--game", GAME]).with_code(1);
}

/// Connect Four of seven columns and six rows on two bit boards, independent of the program: bit `7 * column + row`.
#[derive(Clone, Copy, Default)]
struct BitBoard {
    discs: [u64; 2],
    heights: [u32; 7],
    moves: usize,
}

impl BitBoard {
    fn legal(&self) -> Vec<String> {
        let free = (0..7).filter(|&column| self.heights[column] < 6);
        free.map(|column| char::from(b'a' + column as u8).to_string()).collect()
    }

    fn play(&mut self, mv: &str) {
        let column = usize::from(mv.as_bytes()[0] - b'a');
        self.discs[self.moves % 2] |= 1 << (7 * column as u32 + self.heights[column]);
        self.heights[column] += 1;
        self.moves += 1;
    }

    /// The standings of the seats and the reason, if the game is over.
    fn result(&self) -> Option<([u8; 2], &'static str)> {
        let last = (self.moves + 1) % 2;
        let has_four = [1, 6, 7, 8].into_iter().any(|step| {
            let pairs = self.discs[last] & (self.discs[last] >> step);
            pairs & (pairs >> (2 * step)) != 0
        });
        match (has_four, self.moves) {
            (true, _) => Some((if last == 0 { [0, 1] } else { [1, 0] }, "four")),
            (false, 42) => Some(([0, 0], "full_board")),
            (false, _) => None,
        }
    }
}

#[test]
fn random_games_agree_with_an_independent_implementation() {
    let launch = Launch::Through(env!("CARGO_BIN_EXE_referee").into());
    let rules = program::load(&Path::new(ROOT).join(GAME), &launch).expect("the example");
    let mut rng = RandomKey([4; 32]).stream();
    let mut reasons = Vec::new();
    for _ in 0..300 {
        let mut table = rules.open(&rules.default_options(), rules.meta().seatings[0]).expect("it opens");
        let mut board = BitBoard::default();
        loop {
            match table.ask() {
                Turn::Decide(decision) => {
                    let seat = Seat((board.moves % 2) as u8);
                    assert_eq!(board.result(), None);
                    assert!(decision.seats().iter().eq([seat]));
                    let texts =
                        (0..table.count(&decision, seat)).map(|index| table.text(&decision, seat, index));
                    assert_eq!(texts.collect::<Vec<_>>(), board.legal());
                    assert_eq!(table.turns_left(), Some(42 - board.moves as u32));
                    let index = rng.uniform(board.legal().len() as u64) as usize;
                    board.play(table.text(&decision, seat, index));
                    table.play(decision, &[index]).expect("the program answers");
                }
                Turn::Over(outcome) => {
                    let standing = [0, 1]
                        .map(|side| outcome.standing(side) - outcome.standing(0).min(outcome.standing(1)));
                    assert_eq!(Some((standing, outcome.reason)), board.result());
                    reasons.push(outcome.reason);
                    break;
                }
                Turn::Draw(_) => unreachable!("there is no chance"),
            }
        }
    }
    assert!(reasons.contains(&"four") && reasons.len() == 300);
}

#[test]
fn a_slow_scene_delays_no_match_and_no_other_page() {
    // Much longer than any page takes, also on a busy machine.
    const SCENE: Duration = Duration::from_secs(5);
    let folder = Folder::new();
    let slow = "    request = json.loads(line)\n    if request['type'] == 'show':\n        time.sleep(5)\n";
    let changes = [
        ("    request = json.loads(line)\n", slow),
        ("import sys", "import sys\nimport time"),
        ("openings = 2", "limit_ms = 30000"),
    ];
    let game = changed(&folder, &changes);
    let bot = sample("python/random_bot.py");
    let begun = Instant::now();
    let args = ["play", &game, &bot, &bot, "-n", "40", "--json", "--watch", "127.0.0.1:0"];
    let mut referee = Referee::start(args);
    let site = Site::of(&mut referee);
    let (mut pages, mut matches, mut decisions) = (Vec::new(), 0, 0);
    while matches < 40 {
        assert!(begun.elapsed() < TIMEOUT, "{matches} matches");
        for page in ["/api/v1/run", "/", "/api/v1/matches/m1"] {
            let asked = Instant::now();
            site.ask("GET", page, "");
            pages.push(asked.elapsed());
        }
        while let Some(line) = referee.line_within(Duration::from_millis(20)) {
            let line: Value = serde_json::from_str(&line).expect("JSON");
            if line["type"] == "match" {
                matches += 1;
                decisions += line["decisions"].as_u64().expect("a number");
            }
        }
    }
    let took = begun.elapsed();
    // One or another waits for the processor on a busy machine; scenes are drawn all the time.
    pages.sort();
    let slow = pages[pages.len() * 9 / 10];
    assert!(slow < SCENE / 2, "one of ten pages took {slow:?} and longer");
    assert!(took < SCENE * decisions as u32 / 10, "{decisions} decisions took {took:?}");
    referee.signal(Signal::INT);
    referee.end();
}

#[test]
fn the_time_that_rules_take_is_billed_to_no_bot() {
    let folder = Folder::new();
    let slow = "    request = json.loads(line)\n    if request['type'] == 'play':\n        time.sleep(0.2)\n";
    let changes = [
        ("    request = json.loads(line)\n", slow),
        ("import sys", "import sys\nimport time"),
        ("default = 7", "default = 4"),
        ("default = 6", "default = 4"),
    ];
    let game = changed(&folder, &changes);
    let clock = ["-n", "3", "--jobs", "3", "--clock", "bank=150ms,increment=50ms"];
    let ended = play(&folder, &game, &clock).done();
    for report in ended.all("match") {
        assert_eq!((&report["ended_by"], &report["faults"]), (&json!("rules"), &json!([{}, {}])), "{report}");
    }
}

#[test]
fn two_directories_with_one_id_are_refused() {
    let folder = Folder::new();
    play(&folder, GAME, &[]).done();
    let other = changed(&folder, &[]);
    let record = folder.text("records/m1.jsonl");
    let refused = referee(["verify", &record, "--game", GAME, "--game", &other]).with_code(2);
    assert!(refused.stderr.contains("id: `connect_four` is another game"), "{refused:?}");
    referee(["verify", &record, "--game", GAME, "--game", GAME]).done();
}

#[test]
fn game_whose_files_are_no_files_is_refused_without_blocking() {
    let folder = Folder::new();
    let game = changed(&folder, &[]);
    let page = folder.path("game/rules.md");
    std::fs::remove_file(&page).expect("a file");
    assert!(Command::new("mkfifo").arg(&page).status().expect("it runs").success());
    referee(["games", &game]).with_code(2).says(&["rules.md is a FIFO, not a file"]);
}

#[test]
fn no_link_leads_out_of_the_directory_of_a_game() {
    let folder = Folder::new();
    let game = changed(&folder, &[]);
    let secret = folder.write_secret("secret", "the secret");
    let refuse = |args: &[&str], link: &str| {
        let refused = referee(args.iter().copied().chain([&*game])).with_code(2);
        let says = format!("`{link}`: it links to {secret}, which is outside the directory");
        assert!(refused.stderr.contains(&says), "{refused:?}");
        assert!(!(refused.stderr + &refused.stdout).contains("the secret"));
    };
    let replace = |name: &str| {
        let path = folder.path(&format!("game/{name}"));
        let before = std::fs::read(&path).ok();
        let _ = std::fs::remove_file(&path);
        symlink(&secret, &path).expect("a link");
        (path, before)
    };
    for name in ["rules.md", "schema.json", "game.toml", "game.py"] {
        let (path, before) = replace(name);
        refuse(&["rules"], name);
        refuse(&["games"], name);
        std::fs::remove_file(&path).expect("a file");
        std::fs::write(&path, before.expect("a file")).expect("a file");
    }
    // With the default of `files`, everything counts; so does a directory that `files` names.
    let manifest = folder.read("game/game.toml");
    let (listed, rest) = manifest.split_once("files = [").expect("files");
    let (_, rest) = rest.split_once(']').expect("a list");
    let (path, _) = replace("data");
    folder.write("game/game.toml", format!("{listed}{rest}"));
    refuse(&["rules"], "data");
    folder.write("game/game.toml", format!("{listed}files = ['game.py', 'data']{rest}"));
    refuse(&["rules"], "data");
    // A link within the directory stands for its target.
    std::fs::remove_file(&path).expect("a link");
    symlink("game.py", &path).expect("a link");
    referee(["rules", &game]).done();
}

#[test]
fn game_that_does_not_start_is_error_of_game() {
    let folder = Folder::new();
    let game = changed(&folder, &[("import json", "import nothing_like_it")]);
    let failed = play(&folder, &game, &[]);
    assert!(failed.stderr.contains("No module named 'nothing_like_it'"), "{failed:?}");
    assert!(failed.code.is_some_and(|code| code != 0), "{failed:?}");
    for (from, to, expected) in [
        ("id = \"connect_four\"", "id = \"checkers\"", "id: `checkers` is a game of the referee"),
        ("seats = 2", "seats = 9", "seats: 9 in 9 sides; expected 2 to 6"),
        ("python3 game.py", "./no_such_program", "there is no program `./no_such_program`"),
        ("[\"game.py\"]", "[\"../game.py\"]", "files: `../game.py` is not a path below the directory"),
        (
            "python3 game.py",
            "python3 ../x/game.py",
            "command: `../x/game.py` is not a path below the directory",
        ),
        (
            "python3 game.py",
            "python3 /etc/passwd",
            "command: `/etc/passwd` is not a path below the directory",
        ),
        ("[\"game.py\"]", "[]", "files: expected at least one, such as the program"),
        ("python3 game.py\"", "true\"\nversions = 1", "versions"),
    ] {
        let folder = Folder::new();
        let game = changed(&folder, &[(from, to)]);
        let refused = referee(["games", &game]).with_code(2);
        assert!(refused.stderr.contains("game.toml") && refused.stderr.contains(expected), "{refused:?}");
    }
}

#[test]
fn leftovers_records_and_results_do_not_identify_rules() {
    let folder = Folder::new();
    let game = changed(&folder, &[("files = [\"game.py\"]\n", "")]);
    let records = folder.text("game/matches");
    let bot = format!("python3 '{ROOT}/{GAME}/bot.py'");
    referee(["play", &game, &bot, &bot, "--clock", "none", "--record", &records]).done();
    let files: serde_json::Value =
        serde_json::from_str(folder.read("game/matches/m1.jsonl").lines().next().expect("a line"))
            .expect("JSON");
    let files: Vec<&String> = files["program"]["files"].as_object().expect("files").keys().collect();
    assert_eq!(files, ["game.py", "game.toml", "schema.json"]);
    folder.write("game/rules.md", "# Connect Four.\n");
    for other in ["README", "game.py~", "#game.py#", "game.py.orig", "run.jsonl", "matches.html", ".hidden"] {
        folder.write(&format!("game/{other}"), "x");
    }
    std::fs::create_dir(folder.path("game/cup")).expect("a directory");
    folder.write("game/cup/results.sqlite", "x");
    folder.write("game/cup/token", "x");
    referee(["verify", &records, "--game", &game]).done();
    folder.write("game/more.py", "");
    let what = "the rules of connect_four have other files than those of the record: more.py";
    referee(["verify", &records, "--game", &game]).with_code(2).says(&[what]);
}

#[test]
fn process_that_starts_later_plays_files_that_match_began_with() {
    let folder = Folder::new();
    // Each process of the rules ends after a few answers.
    let ends = "    request = json.loads(line)\n    left = globals().get('left', 12) - 1\n    if left < 0:\n        raise SystemExit\n";
    let game = changed(&folder, &[("    request = json.loads(line)\n", ends)]);
    let path = folder.text("game/game.py");
    let script = format!(
        "def turn(t):\n    open({path:?}, 'w').write('raise SystemExit(1)')\n    move(t, t['legal'][0])\nplay(turn=turn)"
    );
    let spoils = folder.bot("spoils", &script);
    let records = folder.text("records");
    // The log has a line for each process that ended.
    let args = ["play", &game, &spoils, &spoils, "--clock", "none", "--json", "--record", &records];
    let ended = referee(args).with_code(0);
    let reports = ended.all("match");
    assert_eq!(
        [&reports[0]["ended_by"], &reports[0]["faults"]],
        [&serde_json::json!("rules"), &serde_json::json!([{}, {}])]
    );
    assert!(!folder.read("game/game.py").contains("json"), "the files were not changed");
}

#[test]
fn check_of_example_passes_and_describes_its_matches() {
    let checked = referee(["game", "check", GAME, "-n", "20", "--json"]).done();
    let steps: Vec<String> =
        checked.all("step").iter().map(|step| format!("{} {}", step["name"], step["ok"])).collect();
    let names = ["manifest", "start", "matches", "schema", "moves", "show", "imagine", "purity"];
    assert_eq!(steps, names.map(|name| format!("\"{name}\" true")));
    let figures = checked.one("figures");
    assert_eq!(figures["matches"], 20);
    let [length, branching] = ["length", "branching"].map(|name| figures[name].as_f64().expect("a number"));
    assert!((7.0..42.0).contains(&length) && (5.0..=7.0).contains(&branching), "{figures}");
    let text = referee(["game", "check", GAME, "-n", "2"]).done().stdout;
    assert!(text.contains("ok      manifest  Connect Four, version 1\n"), "{text}");
}

#[test]
fn check_shows_request_and_answer_that_are_wrong() {
    let changed_to = |from: &str, to: &str| {
        let folder = Folder::new();
        let game = changed(&folder, &[(from, to), ("import sys", "import os\nimport sys")]);
        let failed = referee(["game", "check", &game, "-n", "5"]).with_code(1);
        failed.stdout.lines().skip_while(|line| line.starts_with("ok ")).collect::<Vec<_>>().join("\n")
    };
    let impure =
        changed_to("\"turns_left\": left}", "\"turns_left\": left + int(os.times().elapsed * 100) % 1000}");
    assert!(impure.starts_with("FAILED  purity") && impure.contains("and later {"), "{impure}");
    assert!(impure.contains("see `referee spec games#requests-and-answers`"), "{impure}");
    let empty = changed_to("if len(discs) < rows]", "if len(discs) < 1]");
    assert!(empty.starts_with("FAILED  matches") && empty.contains("`legal`: it has no move"), "{empty}");
    assert!(empty.contains("the request was {\"type\":\"play\""), "{empty}");
    let clap = "\"turns_left\": left, \"events\": [{\"all\": {\"kind\": \"clap\"}}] * (left == 40)}";
    let unknown = changed_to("\"turns_left\": left}", clap);
    assert!(unknown.starts_with("FAILED  schema") && unknown.contains("the schema of `Event`"), "{unknown}");
    let tall = changed_to("\"view\": state}", "\"view\": {\"columns\": columns, \"rows\": 99}}");
    assert!(
        tall.starts_with("FAILED  schema") && tall.contains("the schema of `View` says: /rows"),
        "{tall}"
    );
    // No random match plays it.
    let first = "    if column == 0 and not any(state[\"columns\"]):\n        sys.exit(\"stuck\")\n";
    let stuck =
        changed_to("    state[\"columns\"][column]", &format!("{first}    state[\"columns\"][column]"));
    assert!(stuck.starts_with("FAILED  moves"), "{stuck}");
    let colour = changed_to("\"fill\": \"blue\"", "\"fill\": \"navy\"");
    assert!(colour.starts_with("FAILED  show") && colour.contains("there is no colour `navy`"), "{colour}");
    let crash = changed_to("columns, rows = options[\"columns\"], options[\"rows\"]", "sys.exit(1)");
    assert!(crash.starts_with("FAILED  start"), "{crash}");
    let manifest = changed_to("seats = 2", "seats = 1");
    assert!(
        manifest.starts_with("FAILED  manifest") && manifest.contains("seats: 1 in 1 sides"),
        "{manifest}"
    );
}

#[test]
fn bots_and_moves_of_python_game_are_checked_and_counted() {
    let divided = referee(["perft", GAME, "--depth", "4", "--divide", "--json"]).done();
    let leaves: Vec<Value> = divided.all("perft").iter().map(|line| line["leaves"].clone()).collect();
    assert_eq!(leaves, [343; 7]);
    let checked = referee(["check", GAME, &bot()]).done().stdout;
    assert!(checked.contains("connect_four"), "{checked}");
    let shown = referee(["debug", GAME, &bot()]).done().stdout;
    assert!(shown.contains("\"columns\":"), "{shown}");
}

/// Answers each request 200 ms after it has received it, in as many matches at once as it is asked for. Says how long each answer took
/// by its own clock.
pub(crate) const PUNCTUAL: &str = r#"import json, sys, threading, time
lock = threading.Lock()
def send(message):
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()
def answer(of, move, received):
    send(dict(of, type="move", move=move, info=dict(ms=(time.monotonic() - received) * 1000)))
for line in sys.stdin:
    received = time.monotonic()
    message = json.loads(line)
    of = {key: message[key] for key in ("match", "seat", "turn") if key in message}
    if message["type"] == "hello":
        send(dict(type="hello", protocol=1, name="punctual", games=["connect_four"], slots=6))
    elif message["type"] == "start":
        send(dict(of, type="ready"))
    elif message["type"] == "turn":
        threading.Timer(0.2, answer, [of, message["legal"][0], received]).start()
"#;

#[test]
fn slow_rules_cost_no_match_of_lane_time() {
    let folder = Folder::new();
    let slow = "    request = json.loads(line)\n    if request['type'] == 'play':\n        time.sleep(0.6)\n";
    let changes = [
        ("    request = json.loads(line)\n", slow),
        ("import sys", "import sys\nimport time"),
        ("default = 7", "default = 4"),
        ("default = 6", "default = 4"),
    ];
    let game = changed(&folder, &changes);
    let (bot, records) =
        (format!("python3 '{}'", folder.write("punctual.py", PUNCTUAL)), folder.text("records"));
    let args = ["play", &game, &bot, &bot, "-n", "6", "--jobs", "1", "--record", &records, "--json"];
    for report in referee(args).done().all("match") {
        assert_eq!((&report["ended_by"], &report["faults"]), (&json!("rules"), &json!([{}, {}])), "{report}");
    }
    let beyond = billed_beyond(&folder, 6);
    assert!(beyond.len() > 40, "{beyond:?}");
}

/// The times in ms that answers of a punctual bot were billed beyond those which it says they took, sorted. Most are close.
pub(crate) fn billed_beyond(folder: &Folder, matches: u32) -> Vec<i64> {
    let mut beyond = Vec::new();
    for number in 1..=matches {
        let record = folder.record(&format!("records/m{number}.jsonl"));
        for line in record.iter().filter(|line| line["type"] == "answer") {
            let number = |value: &Value| value.as_f64().expect("a number");
            let billed = (number(&line["took_us"]) - number(&line["lag_us"])) / 1000.0;
            beyond.push((billed - number(&line["info"]["ms"])) as i64);
        }
    }
    beyond.sort_unstable();
    // The system may wake a bot late, and the lane that reads its answer: by much less than the rules take, and not often.
    let [gained, lost] = [1, 3].map(|quarters| beyond[beyond.len() * quarters / 4]);
    assert!(gained > -100 && lost < 200, "{beyond:?}");
    beyond
}

#[test]
fn an_interrupt_does_not_wait_for_rules() {
    let folder = Folder::new();
    let slow = "    request = json.loads(line)\n    if request['type'] == 'play':\n        time.sleep(30)\n";
    let changes = [
        ("    request = json.loads(line)\n", slow),
        ("import sys", "import sys\nimport time"),
        ("openings = 2", "limit_ms = 60000"),
    ];
    let game = changed(&folder, &changes);
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    let running = Referee::start(["play", &game, &bot, &bot, "--record", &records, "--json"]);
    std::thread::sleep(Duration::from_secs(3));
    let begun = Instant::now();
    running.signal(Signal::INT);
    let ended = running.end();
    assert!(begun.elapsed() < Duration::from_secs(8), "it took {:?}", begun.elapsed());
    let report = ended.one("match");
    assert_eq!((&report["cause"], &report["faults"]), (&json!("interrupted"), &json!([{}, {}])), "{report}");
    let verified = referee(["verify", &records, "--game", &game]).done();
    assert!(verified.stdout.contains("m1.jsonl: ok"), "{verified:?}");
}

#[test]
fn program_that_orders_keys_of_its_events_at_random_verifies() {
    let folder = Folder::new();
    // As the maps of Lua: the order differs between processes.
    let shuffled = "def shuffled(value):\n    if isinstance(value, list):\n        return [shuffled(part) for part in value]\n    if not isinstance(value, dict):\n        return value\n    keys = list(value)\n    random.shuffle(keys)\n    return {key: shuffled(value[key]) for key in keys}\n\n\nfor line in sys.stdin:";
    let events = "    if request['type'] == 'play':\n        answer['events'] = [{'all': {'kind': 'played', 'a': 1, 'b': {'c': 2, 'd': 3, 'e': 4}}}]\n    print(json.dumps(shuffled(answer), ";
    let changes = [
        ("import sys", "import random\nimport sys"),
        ("for line in sys.stdin:", shuffled),
        ("    print(json.dumps(answer, ", events),
        ("schema = \"schema.json\"\n", ""),
    ];
    let game = changed(&folder, &changes);
    play(&folder, &game, &["-n", "3"]).done();
    let verified = referee(["verify", &folder.text("records"), "--game", &game]).done();
    assert!(verified.stdout.contains("3 records, 0 differ"), "{verified:?}");
    let checked = referee(["game", "check", &game, "-n", "2"]).done().stdout;
    assert!(checked.contains("ok      purity"), "{checked}");
    // Another value is still a difference, as is a key that is there twice.
    let text = folder.read("records/m1.jsonl");
    for (from, to) in [("\"c\":2", "\"c\":7"), ("\"c\":2", "\"c\":2,\"c\":2")] {
        assert!(text.contains(from), "{text}");
        let forged = folder.write("forged.jsonl", text.replacen(from, to, 1));
        referee(["verify", &forged, "--game", &game]).with_code(1);
    }
}

#[test]
fn the_check_takes_options() {
    let checked =
        referee(["game", "check", GAME, "-n", "3", "--set", "columns=4", "--set", "rows=4"]).done().stdout;
    assert!(checked.contains(r#"1 seating with the options {"columns":4,"rows":4}"#), "{checked}");
    assert!(checked.contains("ok      purity") && checked.contains(" legal moves, scores"), "{checked}");
    let refused = referee(["game", "check", GAME, "--set", "columns=3"]).with_code(1).stdout;
    assert!(
        refused.contains("FAILED  start") && refused.contains("columns: 3; expected 4 to 9"),
        "{refused}"
    );
}
