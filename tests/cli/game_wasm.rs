//! Games whose rules are WebAssembly modules.

#![expect(clippy::disallowed_methods, reason = "a test measures how long an interrupt takes")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::{Folder, ROOT, Referee, Signal, referee, sample};
use crate::game_examples::copied;
use crate::game_programs::{PUNCTUAL, billed_beyond};

const MANIFEST: &str = "protocol = 1\nid = \"line\"\ntitle = \"Line\"\nversion = 1\nwasm = \"line.wasm\"\nseats = 2\nchance = true\nreasons = [\"length\"]\n";

/// The directory of a game whose rules are in C, with changes of the source.
fn in_c(folder: &Folder, changes: &[(&str, &str)]) -> String {
    let source = Path::new(ROOT).join("benches/program/wasm.c");
    let mut source = std::fs::read_to_string(source).expect("a source");
    for (from, to) in changes {
        assert!(source.contains(from), "{from}");
        source = source.replacen(from, to, 1);
    }
    let source = folder.write("line.c", source);
    std::fs::create_dir(folder.path("game")).expect("a directory");
    folder.write("game/game.toml", MANIFEST);
    let mut clang = Command::new("clang");
    clang.args(["--target=wasm32", "-nostdlib", "-O2", "-Wl,--no-entry", "-o"]);
    let built = clang.arg(folder.path("game/line.wasm")).arg(source).output().expect("clang starts");
    assert!(built.status.success(), "{built:?}");
    folder.text("game")
}

#[test]
fn a_module_from_c_is_checked_played_and_verified() {
    let folder = Folder::new();
    let game = in_c(&folder, &[]);
    let checked = referee(["game", "check", &game, "-n", "5"]).done().stdout;
    assert!(checked.contains("ok      purity") && !checked.contains("failed"), "{checked}");
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    let play = ["play", &game, &bot, &bot, "-n", "4", "--jobs", "2", "--record", &records, "--json"];
    for report in referee(play).done().all("match") {
        assert_eq!((&report["reason"], &report["faults"]), (&json!("length"), &json!([{}, {}])), "{report}");
    }
    let verified = referee(["verify", &records, "--game", &game]).done();
    assert!(verified.stdout.contains("4 records, 0 differ"), "{verified:?}");
    let header = &folder.record("records/m1.jsonl")[0];
    let files = header["program"]["files"].as_object().expect("an object");
    assert!(files.contains_key("line.wasm"), "{header}");
}

#[test]
fn a_record_verifies_only_with_the_same_module() {
    let folder = Folder::new();
    let game = copied(&folder, "rock_paper_scissors");
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    referee(["play", &game, &bot, &bot, "--record", &records]).done();
    let mut module = std::fs::read(folder.path("rock_paper_scissors/game.wasm")).expect("a module");
    // An empty custom section.
    module.extend([0, 1, 0]);
    std::fs::write(folder.path("rock_paper_scissors/game.wasm"), module).expect("a module");
    let refused = referee(["verify", &records, "--game", &game]).with_code(2);
    refused.says(&["than those of the record: game.wasm; --accept-changed replays it"]);
}

#[test]
fn modules_that_trap_or_compute_without_end_abort_the_match() {
    let plays = "    if (type[0] == 'p') moves++;\n";
    let cases = [
        ("if (moves == 3) __builtin_trap();", "line.wasm: wasm `unreachable` instruction executed"),
        (
            "for (volatile int forever = 1; moves == 3 && forever;);",
            "it used more than 1000000000 units of fuel",
        ),
        ("while (moves == 3) __builtin_wasm_memory_grow(0, 100);", "it needs more than 256 MiB of memory"),
        ("if (moves == 3) return -1;", "its answer has 4294967295 bytes; it has at most 1048576"),
        ("if (moves == 3) put(\"{\\n\");", "the answer has a line break"),
    ];
    for (does, expected) in cases {
        let folder = Folder::new();
        let game = in_c(&folder, &[(plays, &format!("{plays}    {does}\n"))]);
        let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
        let play = ["play", &game, &bot, &bot, "--record", &records, "--json"];
        let report = referee(play).with_code(0).one("match");
        assert_eq!(report["cause"], "rules_failed", "{report}");
        assert_eq!(report["faults"], json!([{}, {}]), "{report}");
        let record = folder.record("records/m1.jsonl");
        let abort = record.iter().find(|line| line["type"] == "abort").expect("an abort");
        let why = abort["reason"]["why"].as_str().expect("a text");
        assert!(why.contains(expected), "{does}: {why}");
        let verified = referee(["verify", &records, "--game", &game]).done();
        assert!(verified.stdout.contains("m1.jsonl: ok"), "{verified:?}");
    }
}

#[test]
fn an_interrupt_does_not_wait_for_a_module() {
    let folder = Folder::new();
    let plays = "    if (type[0] == 'p') moves++;\n";
    let forever = "for (volatile int forever = 1; moves == 3 && forever;);";
    let game = in_c(&folder, &[(plays, &format!("{plays}    {forever}\n"))]);
    folder.write("game/game.toml", MANIFEST.replace("seats", "limit_ms = 60000\nseats"));
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    let args = ["play", &game, &bot, &bot, "-n", "4", "--jobs", "2", "--record", &records, "--json"];
    let running = Referee::start(args);
    std::thread::sleep(Duration::from_secs(3));
    let begun = Instant::now();
    running.signal(Signal::INT);
    let ended = running.end();
    assert!(begun.elapsed() < Duration::from_secs(8), "it took {:?}", begun.elapsed());
    for report in ended.all("match") {
        assert_eq!(
            (&report["cause"], &report["faults"]),
            (&json!("interrupted"), &json!([{}, {}])),
            "{report}"
        );
    }
}

#[test]
fn computing_module_costs_no_match_of_lane_time() {
    let folder = Folder::new();
    let plays = "    if (type[0] == 'p') moves++;\n";
    let slow = "    for (volatile int spins = 0; type[0] == 'p' && spins < 20000000; spins++);\n";
    let game = in_c(&folder, &[(plays, &format!("{plays}{slow}")), ("moves == 60", "moves == 4")]);
    let punctual = folder.write("punctual.py", PUNCTUAL.replace("connect_four", "line"));
    let (bot, records) = (format!("python3 '{punctual}'"), folder.text("records"));
    let args = ["play", &game, &bot, &bot, "-n", "4", "--jobs", "1", "--record", &records, "--json"];
    for report in referee(args).done().all("match") {
        assert_eq!((&report["reason"], &report["faults"]), (&json!("length"), &json!([{}, {}])), "{report}");
    }
    assert_eq!(billed_beyond(&folder, 4).len(), 16);
}

#[test]
fn a_module_says_why_it_traps_and_is_initialized() {
    let folder = Folder::new();
    let plays = "    if (type[0] == 'p') moves++;\n";
    let more = "static const char *why;\nstatic int is_ready;\n__attribute__((export_name(\"_initialize\"))) void _initialize(void) { is_ready = 1; }\n__attribute__((export_name(\"error\"))) long long error(void) { return (long long)(unsigned long)why << 32 | 17; }\n";
    let traps =
        "if (!is_ready) __builtin_trap(); if (moves == 3) { why = \"the line is lost!\"; __builtin_trap(); }";
    let alloc = "__attribute__((export_name(\"alloc\")))";
    let changes = [(plays, &*format!("{plays}    {traps}\n")), (alloc, &*format!("{more}{alloc}"))];
    let game = in_c(&folder, &changes);
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    let report =
        referee(["play", &game, &bot, &bot, "--record", &records, "--json"]).with_code(0).one("match");
    assert_eq!(report["cause"], "rules_failed", "{report}");
    let record = folder.read("records/m1.jsonl");
    assert!(record.contains("`unreachable` instruction executed: the line is lost!"), "{record}");
}

#[test]
fn a_module_is_played_where_address_space_is_limited() {
    let folder = Folder::new();
    let game = in_c(&folder, &[]);
    let bot = sample("python/random_bot.py");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 4194304; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_referee")]);
    shell.args(["play", &game, &bot, &bot, "--json"]);
    let report = Referee::start_as(&mut shell).end().with_code(0).one("match");
    assert_eq!(report["reason"], "length", "{report}");
}

#[test]
fn files_that_are_no_module_of_rules_are_refused() {
    let folder = Folder::new();
    let game = in_c(&folder, &[]);
    let refusal = || referee(["games", &game]).with_code(2).stderr;
    folder.write("game/line.wasm", "(module)");
    let text = "game/line.wasm: not a valid WebAssembly module: it is text; `wat2wasm` makes a module of it";
    assert!(refusal().contains(text), "{}", refusal());
    std::fs::remove_file(folder.path("game/line.wasm")).expect("a file");
    assert!(refusal().contains("game/line.wasm: "), "{}", refusal());
    for (program, expected) in [
        ("wasm = \"../line.wasm\"", "wasm: `../line.wasm` is not a path below the directory"),
        ("wasm = \"line.wasm\"\ncommand = \"./line\"", "expected either `command` or `wasm`"),
    ] {
        folder.write("game/game.toml", MANIFEST.replace("wasm = \"line.wasm\"", program));
        assert!(refusal().contains(expected), "{}", refusal());
    }
}
