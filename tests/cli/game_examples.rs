//! The games of `examples/games`: each is checked, played by its bot, verified and shown. Python's tests compare them with
//! OpenSpiel.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Folder, ROOT, referee, sample};

const GAMES: &str = "examples/games";

/// A game, and how it looks.
struct Example {
    name: &'static str,
    /// The command line of its bot, in its directory.
    bot: &'static str,
    options: &'static [&'static str],
    reason: &'static str,
    seats: usize,
    /// Text in the listing and the picture of a match.
    shown: [&'static str; 2],
}

const EXAMPLES: [Example; 8] = [
    Example {
        name: "shogi",
        bot: "python3 bot.py",
        options: &["--set", "moves=60"],
        reason: "turn_limit",
        seats: 2,
        shown: ["black (capital letters) holds", ">歩</text>"],
    },
    Example {
        name: "go",
        bot: "python3 bot.py",
        options: &["--set", "size=7"],
        reason: "two_passes",
        seats: 2,
        shown: ["A B C D E F G", "class=\"f-black l-black\""],
    },
    Example {
        name: "hex",
        bot: "node bot.mjs",
        options: &[],
        reason: "connected",
        seats: 2,
        shown: ["a b c d e f g h i j k\n", "<polygon"],
    },
    Example {
        name: "pig",
        bot: "./bot",
        options: &[],
        reason: "goal",
        seats: 3,
        shown: ["points of this turn", "class=\"f-mark\""],
    },
    Example {
        name: "kuhn_poker",
        bot: "python3 bot.py",
        options: &[],
        reason: "hands_played",
        seats: 2,
        shown: ["hand 10 of 10", ">Q</text>"],
    },
    Example {
        name: "goofspiel",
        bot: "python3 bot.py",
        options: &[],
        reason: "all_played",
        seats: 4,
        shown: ["all play for a prize of", ">13</text>"],
    },
    Example {
        name: "blotto",
        bot: "python3 bot.py",
        options: &[],
        reason: "battles_fought",
        seats: 2,
        shown: ["battle 5 of 5", "class=\"f-red\""],
    },
    Example {
        name: "rock_paper_scissors",
        bot: "python3 bot.py",
        options: &[],
        reason: "rounds_played",
        seats: 2,
        shown: ["round 10 of 10", ">paper</text>"],
    },
];

/// A copy of a game, so that builds stay out of the sources.
pub(crate) fn copied(folder: &Folder, name: &str) -> String {
    let directory = folder.path(name);
    std::fs::create_dir(&directory).expect("a directory");
    for entry in std::fs::read_dir(Path::new(ROOT).join(GAMES).join(name)).expect("a directory") {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("a type").is_file()
            && !["pig", "bot"].map(Into::into).contains(&entry.file_name())
        {
            std::fs::copy(entry.path(), directory.join(entry.file_name())).expect("a copy");
        }
    }
    if directory.join("Makefile").exists() {
        let built = Command::new("make").args(["-s", "-C"]).arg(&directory).status();
        assert!(built.expect("make starts").success());
    }
    folder.text(name)
}

fn is_played_and_shown(name: &str) {
    let Example { bot, options, reason, seats, shown, .. } =
        EXAMPLES.iter().find(|example| example.name == name).expect("an example");
    let folder = Folder::new();
    let game = copied(&folder, name);
    let check = ["game", "check", &game, "-n", "2"];
    let checked = referee([&check, *options].concat()).done().stdout;
    assert!(checked.contains("ok      imagine"), "{checked}");
    let steps = if ["kuhn_poker", "blotto", "go", "shogi"].contains(&name) { 9 } else { 8 };
    assert_eq!(checked.matches("ok      ").count(), steps, "{checked}");
    assert_eq!(checked.contains("ok      secrets"), name == "kuhn_poker", "{checked}");
    assert_eq!(checked.contains("ok      check"), name == "blotto", "{checked}");
    assert_eq!(checked.contains("ok      export"), ["go", "shogi"].contains(&name), "{checked}");

    let bot = format!("sh -c 'cd \"{game}\" && exec {bot}'");
    let records = folder.text("records");
    let bots = vec![&*bot; *seats];
    let more = ["-n", "3", "--record", &records, "--json"];
    let ended = referee([&["play", &*game], &*bots, &more, *options].concat()).done();
    let matches = ended.all("match");
    assert_eq!(matches.len(), 3);
    for report in &matches {
        assert_eq!(report["reason"], *reason, "{report}");
        assert!(
            report["faults"].as_array().expect("a list").iter().all(|faults| *faults == json!({})),
            "{report}"
        );
    }
    let verified = referee(["verify", &records, "--game", &game]).done();
    assert!(verified.stdout.contains("3 records, 0 differ"), "{verified:?}");

    let record = folder.text("records/m1.jsonl");
    let text = referee(["show", &record, "--game", &game]).done().stdout;
    assert!(
        text.contains(shown[0]) && text.contains(&format!("ended: {}", reason.replace('_', " "))),
        "{text}"
    );
    let page = referee(["show", &record, "--game", &game, "--html"]).done().stdout;
    assert!(page.contains("</html>"), "{page}");
    let length = matches[0]["decisions"].as_u64().expect("a number");
    let picture = |turn: u64| {
        referee(["show", &record, "--game", &game, "--svg", "--turn", &turn.to_string()]).done().stdout
    };
    assert!((0..length).any(|turn| picture(turn).contains(shown[1])), "no picture has {}", shown[1]);
}

#[test]
fn hex_in_javascript_is_played_and_shown() {
    is_played_and_shown("hex");
}

#[test]
fn pig_in_c_is_played_and_shown() {
    is_played_and_shown("pig");
}

#[test]
fn kuhn_poker_in_python_is_played_and_shown() {
    is_played_and_shown("kuhn_poker");
}

#[test]
fn goofspiel_in_python_is_played_and_shown() {
    is_played_and_shown("goofspiel");
}

#[test]
fn blotto_in_python_is_played_and_shown() {
    is_played_and_shown("blotto");
}

#[test]
fn go_in_rust_is_played_and_shown() {
    is_played_and_shown("go");
}

#[test]
fn shogi_in_rust_is_played_and_shown() {
    is_played_and_shown("shogi");
}

#[test]
fn the_modules_in_rust_are_built_from_their_sources() {
    let target = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"])
        .output();
    let library = String::from_utf8(target.expect("rustc starts").stdout).expect("a path");
    if !Path::new(library.trim()).is_dir() {
        eprintln!("skipped: the target wasm32-unknown-unknown is not installed");
        return;
    }
    let folder = Folder::new();
    let games = Path::new(ROOT).join(GAMES);
    let mut make = Command::new("make");
    make.args(["-s", "-C"]).arg(&games).arg(format!("INTO={}", folder.text("")));
    let built = make.output().expect("make starts");
    assert!(built.status.success(), "{built:?}");
    for name in ["go", "shogi"] {
        let module = |games: &Path| std::fs::read(games.join(name).join("game.wasm")).expect("a module");
        let (built, expected) = (module(&folder.path("")), module(&games));
        // Other compilers make other bytes.
        let compiler = |module: &[u8]| {
            let text = String::from_utf8_lossy(module);
            text.split_once("processed-by").map(|(_, compiler)| compiler.chars().take(40).collect::<String>())
        };
        assert!(compiler(&built).is_some(), "{name}");
        let is_same = compiler(&built) != compiler(&expected) || built == expected;
        assert!(is_same, "make -C {GAMES} makes another {name}/game.wasm");
    }
}

#[test]
fn rock_paper_scissors_in_assemblyscript_is_played_and_shown() {
    is_played_and_shown("rock_paper_scissors");
}

#[test]
fn matches_of_a_program_are_exported_in_its_notations() {
    let folder = Folder::new();
    let game = copied(&folder, "go");
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    let options = ["-n", "2", "--set", "size=5", "--set", "komi=0.5", "--record", &records];
    referee([&["play", &game, &bot, &bot], &options[..]].concat()).done();
    let sgf = referee(["export", &records, "--game", &game, "--format", "sgf"]).done().stdout;
    let begins = "(;GM[1]FF[4]CA[UTF-8]AP[referee]SZ[5]KM[0.5]RU[Chinese]PB[random";
    assert_eq!(sgf.matches(begins).count(), 2, "{sgf}");
    let nodes = sgf.matches(";B[").count() + sgf.matches(";W[").count();
    let records_of = |name: &str| folder.record(&format!("records/{name}.jsonl"));
    let lines = ["m1", "m2"].map(records_of).concat();
    let is_move = |line: &&Value| line["type"] == "event" && line["event"]["kind"] == "move";
    assert_eq!(nodes, lines.iter().filter(is_move).count());

    let refused = referee(["export", &records, "--game", &game, "--format", "pgn"]).with_code(2);
    refused.says(&["m1.jsonl: go has no PGN notation; it has sgf"]);
    let exported = folder.text("exported.sgf");
    referee(["export", &records, "--format", "sgf", "-o", &exported]).with_code(1);
    assert!(!folder.path("exported.sgf").exists(), "an empty file is left");
    let written = folder.write("games.sgf", sgf);
    let unchecked = referee(["verify", &written, "--game", &game]).with_code(1);
    assert!(unchecked.stdout.contains("the rules write sgf, but cannot check it"), "{unchecked:?}");
}

#[test]
fn rules_that_fail_to_export_are_named() {
    let folder = Folder::new();
    let game = copied(&folder, "connect_four");
    let manifest = folder.read("connect_four/game.toml");
    let manifest = manifest.replace("openings = 2", "openings = 2\nexport = [\"text\"]");
    folder.write("connect_four/game.toml", manifest);
    let checked = referee(["game", "check", &game, "-n", "1"]).with_code(1).stdout;
    assert!(checked.contains("FAILED  export") && checked.contains("KeyError: 'export'"), "{checked}");
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    referee(["play", &game, &bot, &bot, "--record", &records]).done();
    let failed = referee(["export", &records, "--game", &game, "--format", "text"]).with_code(5);
    failed.says(&["m1.jsonl: the rules failed: "]);
}

#[test]
fn module_of_rock_paper_scissors_is_built_from_its_source() {
    let folder = Folder::new();
    let game = copied(&folder, "rock_paper_scissors");
    let installed = Path::new(ROOT).join(GAMES).join("rock_paper_scissors/node_modules");
    assert!(installed.exists(), "tests/run installs the compiler");
    std::os::unix::fs::symlink(installed, folder.path("rock_paper_scissors/node_modules")).expect("a link");
    let module = folder.path("rock_paper_scissors/game.wasm");
    let expected = std::fs::read(&module).expect("a module");
    std::fs::remove_file(&module).expect("a module");
    let built = Command::new("npm").args(["run", "build", "--silent", "--prefix", &game]).output();
    let built = built.expect("npm starts");
    assert!(built.status.success(), "{built:?}");
    assert!(std::fs::read(&module).expect("a module") == expected, "npm run build makes another game.wasm");
}

#[test]
fn each_example_has_a_test() {
    let entries = std::fs::read_dir(Path::new(ROOT).join(GAMES)).expect("a directory");
    let directories = entries.map(|entry| entry.expect("an entry")).filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        directories.map(|entry| entry.file_name().into_string().expect("a name")).collect();
    names.sort();
    let mut tested: Vec<&str> = EXAMPLES.iter().map(|example| example.name).chain(["connect_four"]).collect();
    tested.sort_unstable();
    assert_eq!(names, tested);
}

/// Repeats its messages in `info`.
const SPY: &str = r#"import json, sys
for line in sys.stdin:
    message = json.loads(line)
    answer = {key: message[key] for key in ("match", "seat", "turn") if key in message}
    if message["type"] == "hello":
        answer.update(type="hello", protocol=1, name="spy", games=["kuhn_poker"])
    elif message["type"] == "start":
        answer.update(type="ready")
    elif message["type"] == "turn":
        answer.update(type="move", move="bet", info={"line": line})
    else:
        continue
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn bots_of_kuhn_poker_see_no_hidden_card() {
    let folder = Folder::new();
    let game = copied(&folder, "kuhn_poker");
    let spy = format!("python3 '{}'", folder.write("spy.py", SPY));
    let records = folder.text("records");
    referee(["play", &game, &spy, &spy, "--set", "hands=6", "--record", &records]).done();
    let record = folder.read("records/m1.jsonl");
    let mut turns = 0;
    for line in record.lines().filter(|line| line.contains(r#""info""#)) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let received = line["info"]["line"].as_str().expect("a text");
        let turn: Value = serde_json::from_str(received).expect("JSON");
        turns += 1;
        assert_eq!(turn["view"].get("cards"), None, "{turn}");
        assert!(turn["view"]["card"].is_string(), "{turn}");
        for event in turn["events"].as_array().into_iter().flatten() {
            // Both bets: the cards of the hand before are shown.
            let may_have_both = event["kind"] == "hand";
            assert!(may_have_both || event.get("cards").is_none(), "{event}");
            assert!(event["kind"] != "dealt" || event["card"] == turn["view"]["card"], "{turn}");
        }
    }
    assert_eq!(turns, 12);
    let watched = referee(["show", &folder.text("records/m1.jsonl"), "--game", &game, "--view", "public"])
        .done()
        .stdout;
    assert!(watched.contains("cards: ? ?") && !watched.contains("cards: J"), "{watched}");
    let seen =
        referee(["show", &folder.text("records/m1.jsonl"), "--game", &game, "--view", "1"]).done().stdout;
    assert!(seen.contains("cards: ? ") && !seen.contains("cards: ? ?"), "{seen}");
}

#[test]
fn copies_of_the_sdks_are_current() {
    for (sdk, copy) in [
        ("bots/python/referee_game/__init__.py", "kuhn_poker/referee_game.py"),
        ("bots/python/referee_game/__init__.py", "goofspiel/referee_game.py"),
        ("bots/python/referee_game/__init__.py", "blotto/referee_game.py"),
        ("bots/javascript/src/game.js", "hex/referee_game.mjs"),
    ] {
        let (sdk, copy) = (Path::new(ROOT).join(sdk), Path::new(ROOT).join(GAMES).join(copy));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::copy(&sdk, &copy).expect("a copy");
        }
        let hint = "UPDATE=1 cargo test --test cli game_examples:: copies it anew";
        assert!(std::fs::read(sdk).ok() == std::fs::read(&copy).ok(), "{}: {hint}", copy.display());
    }
}

#[test]
fn the_commands_of_the_page_work() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("examples/games")).expect("a directory");
    for name in ["hex", "goofspiel", "pig"] {
        let game = copied(&folder, name);
        std::fs::rename(game, folder.path("examples/games").join(name)).expect("the same file system");
    }
    std::os::unix::fs::symlink(format!("{ROOT}/bots"), folder.path("bots")).expect("a link");
    let page = std::fs::read_to_string(Path::new(ROOT).join(GAMES).join("README.md")).expect("the page");
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let script: String = blocks.map(|(block, _)| block).collect();
    assert!(script.contains("referee game check"), "{script}");
    let built = Path::new(env!("CARGO_BIN_EXE_referee")).parent().expect("a folder");
    let path = format!("{}:{}", built.display(), std::env::var("PATH").expect("PATH"));
    let mut sh = Command::new("sh");
    sh.args(["-euc", &script]).current_dir(folder.path("")).env("PATH", path);
    let output = sh.output().expect("sh starts");
    assert!(output.status.success(), "{output:?}");
}
