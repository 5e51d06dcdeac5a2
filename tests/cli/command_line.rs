//! The command line: help, usage errors, subcommands that play no matches, logs.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::common::{Folder, ROOT, Referee, SEED, referee};
use serde_json::{Value, json};

const SUBCOMMANDS: &[&str] = &[
    "init",
    "play",
    "regress",
    "best",
    "grade",
    "openings",
    "sprt",
    "human",
    "engine",
    "imagine",
    "mcp",
    "stdio",
    "tournament",
    "serve",
    "league",
    "submit",
    "worker",
    "workshop",
    "check",
    "debug",
    "sandbox",
    "verify",
    "luck",
    "publish",
    "show",
    "export",
    "game",
    "games",
    "rules",
    "spec",
    "schema",
    "perft",
    "completions",
    "man",
];

/// Nested subcommands with their own help.
const NESTED: &[&str] = &[
    "init bot",
    "init game",
    "init tournament",
    "init league",
    "league check",
    "league add",
    "league revoke",
    "league list",
    "league standings",
    "league pause",
    "league resume",
    "league challenge",
    "league workers",
    "league log",
    "league invite",
    "league invitations",
    "league owners",
    "league owner",
    "league owner add",
    "league owner approve",
    "league owner ban",
    "league owner remove",
    "league owner token",
    "league owner unban",
    "league submissions",
    "league submission",
    "league submission show",
    "league submission approve",
    "league submission reject",
    "league rule",
    "league rule award",
    "league rule disqualify",
    "league rule rename",
    "league rule replay",
    "league rule undo",
    "league rule void",
    "league rulings",
    "league season",
    "league season end",
    "league seasons",
    "league finals",
    "league announce",
    "league organiser",
    "league organiser add",
    "league organiser remove",
    "league organiser list",
    "league matches",
    "league backup",
    "league tokens",
    "league verify",
    "game check",
    "regress merge",
    "sandbox check",
    "tournament check",
    "tournament run",
    "tournament resume",
    "tournament status",
    "tournament standings",
    "tournament report",
    "tournament export",
    "tournament add",
    "tournament change",
    "tournament verify",
    "tournament watch",
    "tournament withdraw",
    "tournament return",
    "tournament rule",
    "tournament rule award",
    "tournament rule disqualify",
    "tournament rule rename",
    "tournament rule replay",
    "tournament rule undo",
    "tournament rule void",
    "tournament rulings",
    "worker check",
    "worker drain",
    "worker aside",
    "worker activate",
    "worker void",
    "workshop run",
    "workshop resume",
    "workshop status",
    "workshop verify",
    "workshop ask",
];

// ---- help ----

#[test]
fn the_help_lists_the_subcommands_and_the_exit_codes() {
    for flag in ["--help", "-h"] {
        let help = referee([flag]).done().stdout;
        for subcommand in SUBCOMMANDS {
            assert!(help.contains(&format!("\n  {subcommand} ")), "{subcommand}: {help}");
        }
        let codes = help.split("Exit codes of every subcommand:\n").nth(1).expect("exit codes");
        let codes: Vec<&str> = codes.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(codes, ["0", "1", "2", "3", "4", "5", "130"]);
    }
    assert_eq!(referee(["--version"]).done().stdout, format!("referee {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_subcommand_has_help_with_valid_examples() {
    for subcommand in SUBCOMMANDS.iter().chain(NESTED) {
        let words = || subcommand.split(' ');
        let help = referee(words().chain(["--help"])).done().stdout;
        assert_eq!(referee(std::iter::once("help").chain(words())).done().stdout, help);
        assert!(help.contains(&format!("Usage: referee {subcommand} ")), "{help}");
        let examples = help.split_once("\nExample").unwrap_or_else(|| panic!("no example: {help}")).1;
        let examples: Vec<&str> = examples.lines().filter(|line| line.starts_with("  referee ")).collect();
        assert!(!examples.is_empty(), "{help}");
        for example in examples {
            let command = example.split(['|', '>']).next().expect("a command");
            let words = shlex::split(command).expect("words");
            // The files and bots of the examples are missing, but their options are valid. Errors in options come at
            // once, while some commands would work for seconds.
            let folder = Folder::new();
            let mut command = Command::new("timeout");
            command.args(["2", env!("CARGO_BIN_EXE_referee")]).args(&words[1..]);
            let output = command.current_dir(folder.path("")).stdin(Stdio::null()).output();
            let stderr = String::from_utf8(output.expect("it runs").stderr).expect("UTF-8");
            assert!(!stderr.contains("Usage:") && !stderr.contains("--help"), "{example}: {stderr}");
        }
    }
}

#[test]
fn bash_completes_subcommands_options_and_values() {
    let complete = |words: &[&str]| {
        let script = r#"source <("$REFEREE" completions bash)
            COMP_WORDS=(referee "$@") COMP_CWORD=$#
            "$(complete -p referee | sed 's/.*-F \([^ ]*\).*/\1/')" referee "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\n' "${COMPREPLY[@]}""#;
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", script, "bash"]).args(words).env("REFEREE", env!("CARGO_BIN_EXE_referee"));
        let output = bash.output().expect("there is a bash");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["ver"]), ["verify"]);
    assert_eq!(complete(&["verify", "--js"]), ["--json"]);
    assert_eq!(complete(&["play", "--log-format", ""]), ["text", "json"]);
    let games = ["checkers", "chess", "jeex", "keezen", "saxum", "xe_queo"];
    for words in
        [&["play", ""][..], &["check", ""], &["regress", ""], &["rules", ""], &["mcp", ""], &["perft", ""]]
    {
        let all = complete(words);
        assert!(games.iter().all(|game| all.contains(&(*game).to_owned())), "{words:?}: {all:?}");
    }
    assert_eq!(complete(&["human", "ch"]), ["checkers", "chess"]);
    let all = complete(&[""]);
    assert!(SUBCOMMANDS.iter().all(|subcommand| all.contains(&(*subcommand).to_owned())), "{all:?}");
}

#[test]
fn every_shell_gets_a_completion_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = referee(["completions", shell]).done().stdout;
        for subcommand in SUBCOMMANDS {
            assert!(script.contains(subcommand), "{shell}: {subcommand}");
        }
    }
}

#[test]
fn man_pages_are_complete_and_groff_accepts_them() {
    let folder = Folder::new();
    referee(["man", &folder.text("share/man1")]).done();
    let all = SUBCOMMANDS.iter().chain(NESTED);
    let mut pages: Vec<String> =
        all.map(|subcommand| format!("referee-{}.1", subcommand.replace(' ', "-"))).collect();
    pages.push("referee.1".to_owned());
    pages.sort();
    assert_eq!(crate::common::files(&folder.path("share/man1")), pages);
    for page in &pages {
        let path = folder.path("share/man1").join(page);
        let output =
            Command::new("groff").args(["-man", "-Tascii", "-rLL=100n", "-P-c", "-ww"]).arg(&path).output();
        let output = output.expect("there is a groff");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{page}");
        let text = String::from_utf8_lossy(&output.stdout);
        // The last line has the version, the date and the title.
        let last: Vec<&str> = text.trim_end().lines().last().expect("a line").split_whitespace().collect();
        let [name, version, date, title] = last[..] else { panic!("{page}: {last:?}") };
        assert_eq!([name, version], ["referee", env!("CARGO_PKG_VERSION")], "{page}");
        assert!(date.len() == 10 && date.starts_with("20") && date.split('-').count() == 3, "{page}: {date}");
        assert_eq!(title, page.replace(".1", "(1)"));
    }
    let mut dated = Command::new(env!("CARGO_BIN_EXE_referee"));
    let dated = dated.arg("man").env("SOURCE_DATE_EPOCH", "86400").output().expect("it starts");
    assert!(String::from_utf8_lossy(&dated.stdout).contains(".TH referee 1 1970-01-02 \"referee "));
    assert_eq!(referee(["man"]).done().stdout, folder.read("share/man1/referee.1"));
    let play = folder.read("share/man1/referee-play.1");
    let examples = play.split_once(".SH EXAMPLES\n.nf\n").expect("examples, line by line").1;
    assert!(examples.starts_with("  referee play checkers "), "{examples}");
}

#[test]
fn man_pages_that_cannot_be_written_give_exit_code_5() {
    let folder = Folder::new();
    let file = folder.write("file", "");
    referee(["man", &file]).with_code(5).says(&[&file]);
}

#[test]
fn without_arguments_the_first_steps_are_shown() {
    let shown = referee([] as [&str; 0]).with_code(2).stdout;
    let folder = Folder::new();
    let built = std::path::Path::new(env!("CARGO_BIN_EXE_referee")).parent().expect("a folder");
    let path = format!("{}:{}", built.display(), std::env::var("PATH").expect("PATH"));
    // Its steps run as they are printed, up to the one that needs a person.
    let steps: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    let command = |line: &&str| line.split("   ").next().map(str::to_owned).filter(|step| !step.is_empty());
    let steps: Vec<String> = steps.iter().filter_map(command).collect();
    assert!(steps.len() >= 7 && steps[5].starts_with("referee human "), "{shown}");
    let script = format!("set -eu\n{}\n", steps[..5].join("\n"));
    let output =
        Command::new("sh").args(["-c", &script]).env("PATH", path).current_dir(folder.path("")).output();
    let output = output.expect("sh starts");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(folder.read("mybot/match.html").contains("</html>"));
}

// ---- usage errors ----

fn play<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["play", "checkers", "a", "b"], args].concat()
}

#[test]
fn every_usage_error_names_the_problem_and_the_remedy() {
    let folder = Folder::new();
    let (long_seed, other_seed) = ("7".repeat(65), "A".repeat(64));
    let seed_file = folder.write_secret("seed", "0011\n");
    let missing = folder.text("missing");
    let in_the_file = format!("--seed-file {seed_file}: a seed has 64 lower-case hex digits");
    let not_there = format!("--seed-file {missing}: No such file or directory");
    let cases: Vec<(Vec<&str>, Vec<&str>)> = vec![
        (
            vec!["turnament"],
            vec!["unrecognized subcommand 'turnament'", "similar subcommand exists: 'tournament'"],
        ),
        (vec!["games", "--seed"], vec!["unexpected argument '--seed' found"]),
        (vec!["play"], vec!["required arguments were not provided", "<GAME>", "<BOT>..."]),
        (vec!["play", "checkers"], vec!["required arguments were not provided", "<BOT>..."]),
        (vec!["play", "chekers", "a", "b"], vec!["unknown game `chekers`; available: checkers"]),
        (
            vec!["play", "ludo", "a", "b"],
            vec![
                "xe_queo, and any that you add",
                "the directory of a game that is a program, such as ./ludo",
            ],
        ),
        (
            vec!["check", "--game", "checkers", "a"],
            vec!["tip: the game is an argument, not an option: 'referee check checkers ...'"],
        ),
        (
            vec!["play", "a", "b", "--game", "jeex"],
            vec!["tip: the game is an argument, not an option: 'referee play jeex ...'"],
        ),
        (vec!["play", "checkers", "a"], vec!["1 bot: checkers needs 2 bots"]),
        (vec!["play", "checkers", "a", "b", "c"], vec!["3 bots: checkers needs 2 bots"]),
        (vec!["play", "checkers", "a", "'b"], vec!["`'b` cannot be split into words: a quote is not closed"]),
        (vec!["play", "checkers", "a", " "], vec!["an empty command line starts no bot"]),
        (play(&["-n", "0"]), vec!["'0' for '--matches <N>': 0 is not in 1..=10000000"]),
        (play(&["-n", "many"]), vec!["'many' for '--matches <N>'"]),
        (play(&["--set", "fen"]), vec!["`fen` is not KEY=VALUE"]),
        (
            play(&["--set", "fan=1"]),
            vec!["unknown field `fan`, expected one of `fen`, `draw_plies`, `turn_limit`"],
        ),
        (play(&["--set", "fen=B"]), vec!["options of checkers: a FEN has three parts like B:W31,K32:B1,2"]),
        (play(&["--set", "draw_plies=-1"]), vec!["options of checkers: invalid value: integer `-1`"]),
        (play(&["--set", "draw_plies=x"]), vec!["options of checkers: invalid type: string \"x\""]),
        (play(&["--set", "draw_plies=0"]), vec!["draw_plies 0 needs a turn_limit above 0"]),
        (play(&["--set", "turn_limit=1", "--set", "turn_limit=2"]), vec!["--set turn_limit is given twice"]),
        (play(&["--clock", "5s"]), vec!["`5s` is not KEY=TIME or `none`"]),
        (
            play(&["--clock", "dealy=5s"]),
            vec!["unknown part `dealy` of a clock; available: delay, bank, increment, tc"],
        ),
        (play(&["--clock", "delay=5"]), vec!["invalid duration `5`; expected e.g. 500ms, 5s or 2m"]),
        (play(&["--clock", "delay=1s,delay=2s"]), vec!["`delay` is given twice"]),
        (play(&["--clock", "increment=1s"]), vec!["a clock with neither delay nor bank leaves no time"]),
        (play(&["--clock", "bank=25h"]), vec!["`25h` is more than a day"]),
        (play(&["--clock"]), vec!["a value is required for '--clock <CLOCK>'"]),
        (play(&["--margin", "1us"]), vec!["`1us` is not a whole number of milliseconds"]),
        (play(&["--hello-limit", "soon"]), vec!["invalid duration `soon`; expected e.g. 500ms, 5s or 2m"]),
        (play(&["--ready-limit=-1s"]), vec!["invalid duration `-1s`; expected e.g. 500ms, 5s or 2m"]),
        (play(&["--ready=60s,x"]), vec!["invalid duration `x`; expected e.g. 500ms, 5s or 2m"]),
        (
            play(&["--on-fault", "retry"]),
            vec!["invalid fault policy `retry`; expected `forfeit`, `random` or `retry=N`"],
        ),
        (play(&["--on-fault", "retry=0"]), vec!["invalid fault policy `retry=0`"]),
        (play(&["--seed", "0011"]), vec!["a seed has 64 lower-case hex digits, but this has 4 characters"]),
        (play(&["--seed", &long_seed]), vec!["64 lower-case hex digits, but this has 65 characters"]),
        (play(&["--seed", &other_seed]), vec!["a seed has 64 lower-case hex digits"]),
        (
            play(&["--seed", SEED, "--seed-file", "x"]),
            vec!["'--seed <HEX>' cannot be used with '--seed-file <FILE>'"],
        ),
        (play(&["--seed-file", &seed_file]), vec![&in_the_file]),
        (play(&["--seed-file", &missing]), vec![&not_there]),
        (play(&["--log-level", "loud"]), vec!["'loud' for '--log-level <LEVEL>'", "\"debug\""]),
        (
            play(&["--log-format", "xml"]),
            vec!["'xml' for '--log-format <FORMAT>'", "[possible values: text, json]"],
        ),
        (vec!["stdio", "checkers"], vec!["required arguments were not provided", "--matches <N>"]),
        (vec!["stdio", "--matches", "3"], vec!["required arguments were not provided", "<GAME>"]),
        (vec!["stdio", "--seats", "2"], vec!["required arguments were not provided", "<GAME>"]),
        (vec!["stdio", "ludo", "-n", "1"], vec!["unknown game `ludo`; available: checkers"]),
        (
            vec!["stdio", "checkers", "-n", "1", "--seats", "3"],
            vec!["checkers is played with 2 seats, not 3"],
        ),
        (vec!["stdio", "checkers", "-n", "1", "--set", "fan=1"], vec!["unknown field `fan`"]),
        (vec!["stdio", "--set", "turn_limit=9"], vec!["--set needs GAME on the command line"]),
        (vec!["verify"], vec!["required arguments were not provided", "<FILE>..."]),
        (vec!["verify", "--jsn", "x"], vec!["unexpected argument '--jsn' found", "'--json'"]),
        (vec!["show"], vec!["required arguments were not provided", "<FILE>"]),
        (vec!["show", "x", "--view", "300"], vec!["invalid viewer `300`; expected `all`, `public`"]),
        (vec!["rules"], vec!["required arguments were not provided", "<GAME>"]),
        (vec!["rules", "go"], vec!["unknown game `go`; available: checkers"]),
        (
            vec!["spec", "clock"],
            vec!["unknown page `clock`; available: README, connections, match, messages, clocks,"],
        ),
        (
            vec!["spec", "clocks#lags"],
            vec!["unknown section `lags` of `clocks`; `referee spec clocks` prints the page"],
        ),
        (
            vec!["schema", "from_me"],
            vec![
                "unknown game `from_me`; available: checkers",
                "or a set of messages: from_referee, from_bot",
            ],
        ),
        (
            vec!["schema", "checkers", "board"],
            vec!["'board' for '[PART]'", "[possible values: view, event, move"],
        ),
        (
            vec!["schema", "from_bot", "view"],
            vec!["`view` is part of a game; `from_bot` is a set of messages"],
        ),
        (vec!["perft"], vec!["required arguments were not provided", "<GAME>"]),
        (vec!["completions", "csh"], vec!["'csh' for '<SHELL>'", "[possible values: bash, elvish, fish"]),
        (vec!["perft", "go"], vec!["unknown game `go`; available: checkers"]),
        (vec!["perft", "checkers", "--depth", "0"], vec!["0 is not in 1..=100"]),
        (
            vec!["perft", "checkers", "--set", "fen=B:W1:B32"],
            vec!["the FEN has White's man 1 on the row where it is crowned"],
        ),
        (vec!["perft", "checkers", "--divide", "--set", "fen=?"], vec!["options of checkers"]),
    ];
    for (args, says) in cases {
        let ended = referee(&args).with_code(2).says(&says);
        assert!(ended.stderr.starts_with("error: "), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{args:?}");
    }
}

// ---- games, rules, schema ----

#[test]
fn games_lists_each_game_with_its_options() {
    let listed = referee(["games"]).done().stdout;
    assert!(listed.starts_with("checkers: Checkers, rules version 1, 2 seats\n"), "{listed}");
    for option in ["--set fen=", "--set draw_plies=", "--set turn_limit="] {
        assert!(listed.contains(option), "{listed}");
    }
    assert!(listed.contains("chance, simultaneous choices\n  no options\n"), "{listed}");
    let games = referee(["games", "--json"]).done().json();
    let game = games.iter().find(|game| game["id"] == "checkers").expect("checkers");
    assert_eq!(game["type"], "game");
    assert_eq!(
        [&game["seats"], &game["hidden"], &game["chance"]],
        [&json!([2]), &json!(false), &json!(false)]
    );
    assert_eq!([&game["simultaneous"], &game["draws_by_agreement"]], [false, true]);
    let defaults: Vec<[&Value; 2]> = game["options"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|option| [&option["name"], &option["default"]])
        .collect();
    let initial = json!("B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12");
    assert_eq!(
        defaults,
        [[&json!("fen"), &initial], [&json!("draw_plies"), &json!(50)], [&json!("turn_limit"), &json!(0)],]
    );
}

#[test]
fn rules_prints_the_page_of_the_game() {
    let page =
        std::fs::read_to_string(format!("{ROOT}/crates/games/src/checkers/rules.md")).expect("the page");
    assert_eq!(referee(["rules", "checkers"]).done().stdout, page);
}

#[test]
fn the_short_rules_leave_out_what_players_do_not_need() {
    for game in referee(["games", "--json"]).json() {
        let id = game["id"].as_str().expect("an id");
        let [page, short] =
            [vec!["rules", id], vec!["rules", id, "--short"]].map(|args| referee(args).done().stdout);
        assert!(2 * short.len() < 3 * page.len() / 2, "{id}: {} of {} bytes", short.len(), page.len());
        for part in ["# ", "\n## Rules\n", "\n## Moves\n", "\n## View\n"] {
            assert!(short.contains(part), "{id}: {short}");
        }
        for part in ["## Options", "## Openings", "## Known values", "```", "\n\n\n"] {
            assert!(!short.contains(part), "{id}: {short}");
        }
    }
    // About a quarter in tokens.
    assert!(referee(["rules", "checkers", "--short"]).done().stdout.len() < 2600);
}

#[test]
fn spec_prints_the_list_a_page_or_a_section() {
    let list = referee(["spec"]).done().stdout;
    assert!(list.starts_with("README       The referee protocol"), "{list}");
    for line in list.lines() {
        let name = line.split_whitespace().next().expect("a name");
        let page = std::fs::read_to_string(format!("{ROOT}/protocol/spec/{name}.md")).expect("the page");
        assert_eq!(referee(["spec", name]).done().stdout, page);
    }
    let cited = referee(["spec", "faults.md#limits"]).done().stdout;
    assert!(cited.starts_with("## Limits\n") && !cited[2..].contains("\n## "), "{cited}");
}

#[test]
fn schema_prints_the_published_schemas() {
    let both = referee(["schema"]).done().stdout;
    let both: Value = serde_json::from_str(&both).expect("JSON");
    for speaker in ["from_referee", "from_bot"] {
        let kept =
            std::fs::read_to_string(format!("{ROOT}/protocol/schemas/{speaker}.json")).expect("the schema");
        let kept: Value = serde_json::from_str(&kept).expect("JSON");
        let printed = referee(["schema", speaker]).done().stdout;
        assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON"), kept);
        assert_eq!(both[speaker], kept);
        assert_eq!(kept["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}

#[test]
fn schema_of_a_game_validates_the_part_that_is_named() {
    let schema = |args: &[&str]| -> Value {
        serde_json::from_str(&referee([&["schema", "saxum"], args].concat()).done().stdout).expect("JSON")
    };
    let is_valid = |part: &str, value: Value| jsonschema::is_valid(&schema(&[part]), &value);
    assert!(is_valid("move", json!("place 4 3")) && !is_valid("move", json!("place 4 6")));
    assert!(
        is_valid("options", json!({ "rows_to_win": 3 })) && !is_valid("options", json!({ "rows_to_win": 0 }))
    );
    let rolled = |dice: Value| json!({ "kind": "roll", "seat": 0, "dice": dice });
    assert!(is_valid("event", rolled(json!([6, 3]))) && !is_valid("event", rolled(json!([7, 3]))));
    assert!(!is_valid("view", json!({ "to_move": [0] })));
    let whole = schema(&[]);
    let kept =
        std::fs::read_to_string(format!("{ROOT}/protocol/schemas/games/saxum.json")).expect("the schema");
    assert_eq!(whole, serde_json::from_str::<Value>(&kept).expect("JSON"));
    assert_eq!(whole["title"], "Saxum, rules version 1");
}

// ---- perft ----

/// Positions and their known values, from the rules page.
fn known_values() -> Vec<(Option<String>, Vec<u64>)> {
    let page =
        std::fs::read_to_string(format!("{ROOT}/crates/games/src/checkers/rules.md")).expect("the page");
    let table =
        page.split("## Known values").nth(1).expect("a table").split("\n## ").next().expect("its section");
    let rows = table.lines().filter(|line| line.starts_with('|') && line.contains(", "));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let fen = cells[0].strip_prefix('`').and_then(|cell| cell.strip_suffix('`')).map(str::to_owned);
        let numbers = cells[1].split('(').next().expect("numbers").split(", ");
        (fen, numbers.map(|number| number.trim().parse().expect("a number")).collect())
    };
    rows.map(row).collect()
}

#[test]
fn perft_gives_the_known_counts() {
    let positions = known_values();
    assert!(positions.len() >= 5, "only {} positions", positions.len());
    for (fen, values) in positions {
        let set = fen.map_or_else(|| "draw_plies=50".to_owned(), |fen| format!("fen={fen}"));
        let ended = referee(["perft", "checkers", "--depth", "6", "--json", "--set", &set]).done();
        let leaves: Vec<u64> =
            ended.all("perft").iter().map(|line| line["leaves"].as_u64().expect("a number")).collect();
        assert_eq!(leaves, values[..6], "{set}");
        let depths: Vec<u64> =
            ended.all("perft").iter().map(|line| line["depth"].as_u64().expect("a number")).collect();
        assert_eq!(depths, [1, 2, 3, 4, 5, 6]);

        let table = referee(["perft", "checkers", "-d", "6", "--set", &set]).done().stdout;
        let leaves: Vec<u64> = table
            .lines()
            .map(|line| {
                line.split_whitespace().nth(1).and_then(|leaves| leaves.parse().ok()).expect("leaves")
            })
            .collect();
        assert_eq!(leaves, values[..6], "{set}");

        let ended = referee(["perft", "checkers", "-d", "6", "--divide", "--json", "--set", &set]).done();
        assert_eq!(ended.one("summary"), json!({"type": "summary", "depth": 6, "leaves": values[5]}));
        let branches = ended.all("perft");
        assert_eq!(branches.len() as u64, values[0]);
        assert_eq!(
            branches.iter().map(|line| line["leaves"].as_u64().expect("a number")).sum::<u64>(),
            values[5]
        );
    }
}

#[test]
fn perft_divides_by_first_move() {
    let divided = referee(["perft", "checkers", "-d", "3", "--divide"]).done().stdout;
    let expected = "10-14 40\n10-15 40\n11-15 40\n11-16 47\n12-16 47\n9-13 48\n9-14 40\n302 at depth 3\n";
    assert_eq!(divided, expected);
}

#[test]
fn perft_stops_at_the_end_of_the_game() {
    let ended = referee(["perft", "checkers", "-d", "3", "--json", "--set", "fen=B:W18:B14"]).done();
    let leaves: Vec<Value> = ended.all("perft").into_iter().map(|line| line["leaves"].clone()).collect();
    assert_eq!(leaves, [1, 0, 0]);
}

// ---- streams ----

#[test]
fn output_without_a_reader_is_no_error() {
    for args in [
        vec!["--help"],
        vec!["play", "--help"],
        vec!["games"],
        vec!["games", "--json"],
        vec!["rules", "checkers"],
        vec!["spec"],
        vec!["schema"],
        vec!["perft", "checkers"],
        vec!["perft", "checkers", "--divide"],
        vec!["completions", "bash"],
        vec!["man"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_referee"))
            .args(&args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_gives_exit_code_5() {
    for args in [
        vec!["games"],
        vec!["rules", "checkers"],
        vec!["spec"],
        vec!["schema"],
        vec!["perft", "checkers"],
        vec!["completions", "bash"],
        vec!["man"],
    ] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let output =
            Command::new(env!("CARGO_BIN_EXE_referee")).args(&args).stdout(full).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.starts_with("error: standard output: No space left on device"), "{args:?}: {stderr}");
        assert_eq!(output.status.code(), Some(5), "{args:?}");
    }
}

#[test]
fn logs_go_to_standard_error_as_text_or_json() {
    let hello = referee(["stdio"]).done().stdout;
    let quiet = referee(["stdio", "--log-level", "off"]).done();
    assert_eq!(quiet.stdout, hello);

    let ended = referee(["--log-level", "info", "stdio"]).with_code(0);
    assert_eq!(ended.stdout, hello, "standard output stays the protocol's");
    assert!(
        ended.stderr.contains(" INFO referee::cli::stdio: played matches=0 aborted=0\n"),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains('\x1b'), "no terminal, no escape codes");

    let ended = referee(["stdio", "--log-format", "json", "--log-level", "trace"]).with_code(0);
    assert_eq!(ended.stdout, hello);
    let lines: Vec<Value> =
        ended.stderr.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect();
    let played = lines.iter().find(|line| line["fields"]["message"] == "played").expect("what was played");
    assert_eq!([&played["level"], &played["fields"]["matches"]], [&json!("INFO"), &json!(0)]);
}

#[test]
fn a_disconnecting_bot_is_logged() {
    let folder = Folder::new();
    let (crashing, plain) =
        (folder.bot("crashing", "play(turn=lambda t: sys.exit(3))"), folder.plain_bot("plain"));
    let args = ["play", "checkers", &plain, &crashing, "--log-level", "debug", "--log-format", "json"];
    let ended = Referee::start(args).end().with_code(0);
    let lines: Vec<Value> =
        ended.stderr.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect();
    let gone = lines.iter().find(|line| line["fields"]["message"] == "gone").expect("that it is gone");
    assert_eq!([&gone["fields"]["bot"], &gone["fields"]["detail"]], ["crashing", "status 3"]);
}

#[test]
fn file_in_missing_folder_is_named_with_its_option() {
    let folder = Folder::new();
    let (bot, record) = (folder.plain_bot("bot"), folder.write("m1.jsonl", crate::records::record()));
    let file = folder.text("missing/file");
    let cases: [(&str, &[&str]); 5] = [
        ("--junit", &["check", &bot, "--junit", &file]),
        ("--junit", &["regress", "checkers", "--new", &bot, "--base", &bot, "--junit", &file]),
        ("--results", &["regress", "checkers", "--new", &bot, "--base", &bot, "--results", &file]),
        ("-o", &["show", &record, "--html", "-o", &file]),
        ("-o", &["export", &record, "--format", "pdn", "-o", &file, "--force"]),
    ];
    for (option, args) in cases {
        let folder = folder.text("missing");
        let what = format!("{option} {file}: there is no folder {folder}: make it first");
        referee(args.iter().copied()).with_code(2).says(&[&what]);
    }
}

#[test]
fn records_of_game_that_is_program_are_read_by_export() {
    let folder = Folder::new();
    let (bot, records) = (folder.plain_bot("bot"), folder.text("records"));
    let game = format!("{ROOT}/examples/games/goofspiel");
    referee(["play", &game, &bot, &bot, "--set", "cards=2", "--record", &records]).done();
    let what = "goofspiel has no PDN notation";
    referee(["export", &records, "--format", "pdn", "--game", &game]).with_code(2).says(&[what]);
}
