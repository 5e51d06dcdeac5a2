//! Programs of games that fail, die, fall silent or print too much.
#![expect(clippy::disallowed_methods, reason = "tests measure the time until a failure")]

use std::time::{Duration, Instant};

use ::referee::game::chance::{RandomKey, Uniform};
use ::referee::game::test_length::long_or;
use serde_json::{Value, json};

use crate::common::{Folder, Referee, SEED, Signal, kill, referee, sample};
use crate::game_programs::{PUNCTUAL, changed, play};

/// Failures of a program in place of an answer to `play` with four discs on the board, and the referee's
/// message.
const FAILURES: [(&str, &str); 8] = [
    ("sys.exit(3)", "it ended without an answer (status 3)"),
    ("raise Exception('lost my way')", "Exception: lost my way"),
    ("import time; time.sleep(100)", "it did not answer within 1000 ms"),
    ("print('x' * 2000000)", "its answer has more than 1048576 bytes"),
    ("print('{\"state\":')", "EOF while parsing"),
    ("print('{}\\n{}')", "it wrote more than one line"),
    (
        "print(json.dumps({'state': 0, 'turn': {'decide': [{'seat': 0, 'legal': ['a', 'a'], 'view': {}}]}}))",
        "`legal`: `a` is there twice",
    ),
    (
        "print(json.dumps({'state': 0, 'turn': {'over': {'ranks': [1, 1], 'reason': 'bribe'}}}))",
        "`reason`: `bribe` is not among those of the manifest",
    ),
];

#[test]
fn rules_that_fail_abort_the_match_and_convict_no_bot() {
    for (failure, expected) in FAILURES {
        let folder = Folder::new();
        let fails = format!(
            "    request = json.loads(line)\n    if request['type'] == 'play' and sum(map(len, request['state']['columns'])) == 4:\n        {failure}\n        sys.stdout.flush()\n        continue\n"
        );
        // Answers take long on a busy machine.
        let limits = if failure.contains("sleep") { "limit_ms = 1000" } else { "limit_ms = 30000" };
        let changes = [("    request = json.loads(line)\n", fails.as_str()), ("openings = 2", limits)];
        let game = changed(&folder, &changes);
        let ended = play(&folder, &game, &["-n", "2"]).with_code(0);
        for report in ended.all("match") {
            assert_eq!((&report["ended_by"], &report["cause"]), (&json!("aborted"), &json!("rules_failed")));
            assert_eq!((&report["void"], &report["faults"]), (&json!(true), &json!([{}, {}])), "{report}");
            assert_eq!(report["decisions"], 5, "{report}");
        }
        let record = folder.read("records/m1.jsonl");
        let abort = record.lines().find(|line| line.contains(r#""type":"abort""#)).expect("an abort");
        let abort: Value = serde_json::from_str(abort).expect("JSON");
        assert_eq!(
            (&abort["reason"]["kind"], &abort["reason"]["after"]),
            (&json!("rules_failed"), &json!(4))
        );
        let why = abort["reason"]["why"].as_str().expect("a text");
        assert!(why.contains(expected), "{failure}: {why}");
        let verified = referee(["verify", &folder.text("records"), "--game", &game]).done();
        assert!(verified.stdout.contains("2 records, 0 differ"), "{verified:?}");
    }
}

#[test]
fn run_stops_after_ten_failures_of_rules_in_row() {
    let folder = Folder::new();
    let fails = "    request = json.loads(line)\n    if request['type'] == 'play':\n        sys.exit(1)\n";
    let game = changed(&folder, &[("    request = json.loads(line)\n", fails)]);
    let ended = play(&folder, &game, &["-n", "50"]).with_code(5);
    assert!(ended.stderr.contains("the rules failed in 10 matches in a row"), "{ended:?}");
    assert!(
        ended.stderr.contains("m1: the rules failed: python3 game.py: it ended without an answer"),
        "{ended:?}"
    );
    assert!(ended.all("match").len() < 15, "{ended:?}");
}

#[test]
fn rules_that_fail_during_verification_are_no_difference_of_record() {
    for (request, plies) in [("play", "0"), ("play", "2"), ("start", "0")] {
        let folder = Folder::new();
        let fails = format!(
            "    request = json.loads(line)\n    if False and request['type'] == '{request}':\n        sys.exit(1)\n"
        );
        let game = changed(&folder, &[("    request = json.loads(line)\n", &*fails)]);
        play(&folder, &game, &["--opening-plies", plies]).done();
        folder.write("game/game.py", folder.read("game/game.py").replace("if False and ", "if "));
        let verify = ["verify", &folder.text("records"), "--game", &game, "--accept-changed"];
        let failed = referee(verify).with_code(5);
        assert!(failed.stdout.contains("the rules failed: python3 game.py: it ended"), "{failed:?}");
    }
}

#[test]
fn a_match_whose_opening_makes_the_rules_fail_verifies() {
    let folder = Folder::new();
    // Only in some openings: the first one is tried before the run.
    let fails = "    request = json.loads(line)\n    if request['type'] == 'play' and request['state']['columns'] == ['', '', '', '', 'r', '', '']:\n        sys.exit(1)\n";
    let game = changed(&folder, &[("    request = json.loads(line)\n", fails)]);
    let ended = play(&folder, &game, &["--opening-plies", "2", "-n", "30", "--seed", SEED]).with_code(0);
    let aborted = ended.all("match").iter().filter(|report| report["cause"] == "rules_failed").count();
    assert!((1..30).contains(&aborted), "{aborted}");
    let verified = referee(["verify", &folder.text("records"), "--game", &game]).done();
    assert!(verified.stdout.contains("30 records, 0 differ"), "{verified:?}");
}

/// Connect Four whose processes do this at their request of this number.
pub(crate) fn failing_at(folder: &Folder, request: u32, does: &str) -> String {
    let fails = format!(
        "    request = json.loads(line)\n    count += 1\n    if count == {request}:\n        {does}\n"
    );
    let changes = [
        ("    request = json.loads(line)\n", &*fails),
        ("import sys", "import os\nimport sys\nimport time\n\ncount = 0"),
    ];
    changed(folder, &changes)
}

#[test]
fn dying_program_loses_no_match_and_is_counted() {
    let folder = Folder::new();
    let game = failing_at(&folder, 60, "os.kill(os.getpid(), 9)");
    let ended = play(&folder, &game, &["-n", "12", "--jobs", "2"]).with_code(0);
    let mut restarts = 0;
    for report in ended.all("match") {
        assert_eq!((&report["ended_by"], &report["faults"]), (&json!("rules"), &json!([{}, {}])), "{report}");
        let of_match = report["rules_restarts"].as_u64().unwrap_or(0);
        let record = folder.record(&format!("records/{}.jsonl", report["id"].as_str().expect("an id")));
        assert_eq!(record[record.len() - 2]["rules_restarts"].as_u64().unwrap_or(0), of_match);
        restarts += of_match;
    }
    assert!(restarts > 0 && ended.one("summary")["rules_restarts"] == restarts, "{ended:?}");
    let logged = ended.stderr.matches("it ended without an answer (signal 9); another process has answered");
    assert_eq!(logged.count() as u64, restarts, "{ended:?}");
    let verified = referee(["verify", &folder.text("records"), "--game", &game]).with_code(0).stdout;
    assert!(verified.contains("12 records, 0 differ"), "{verified}");
    let bot = sample("python/random_bot.py");
    let text = referee(["play", &game, &bot, &bot, "-n", "12"]).with_code(0).stdout;
    assert!(text.contains("the rules failed and were asked again "), "{text}");
}

#[test]
fn run_stops_after_ten_restarts_of_rules_in_row() {
    let folder = Folder::new();
    let game = failing_at(&folder, 4, "sys.exit(1)");
    let ended = play(&folder, &game, &["-n", "50"]).with_code(5);
    assert!(ended.stderr.contains("the rules had to be asked again 10 times in a row"), "{ended:?}");
    let matches = ended.all("match");
    assert!(matches.len() < 8, "{ended:?}");
    for report in matches {
        assert_eq!(report["faults"], json!([{}, {}]), "{report}");
        assert!(report["ended_by"] == "rules" || report["cause"] == "interrupted", "{report}");
    }
}

#[test]
fn check_fails_program_that_another_process_has_to_replace() {
    let folder = Folder::new();
    let game = failing_at(&folder, 100, "sys.exit('out of cards')");
    let checked = referee(["game", "check", &game, "-n", "20"]).with_code(1).stdout;
    let expected =
        "it ended without an answer (status 1); standard error: out of cards; another process has answered";
    assert!(checked.contains("FAILED  matches") && checked.contains(expected), "{checked}");
}

#[test]
fn check_passes_program_that_is_late_once() {
    let folder = Folder::new();
    let game = failing_at(&folder, 100, "time.sleep(3)");
    let checked = referee(["game", "check", &game, "-n", "20"]).with_code(0);
    let logged = "it did not answer within 1000 ms; another process has answered";
    assert!(checked.stderr.contains(logged), "{checked:?}");
}

#[test]
fn limit_of_answer_does_not_include_start_of_another_process() {
    let folder = Folder::new();
    let slow = "    request = json.loads(line)\n    if request['type'] == 'play':\n        time.sleep(0.4)\n";
    let changes = [
        ("    request = json.loads(line)\n", slow),
        ("import sys", "import sys\nimport time"),
        ("openings = 2", "limit_ms = 200"),
    ];
    let game = changed(&folder, &changes);
    let report = play(&folder, &game, &[]).with_code(0).one("match");
    assert_eq!((&report["cause"], &report["decisions"]), (&json!("rules_failed"), &json!(1)), "{report}");
    let record = folder.read("records/m1.jsonl");
    assert!(record.contains("it did not answer within 200 ms"), "{record}");
}

#[test]
fn program_that_does_not_flush_is_told_after_first_silence() {
    let folder = Folder::new();
    let changes = [
        (", flush=True", ", file=out"),
        // The referee turns off the buffer of `sys.stdout`.
        ("import sys", "import sys\n\nout = open(1, 'w')"),
        ("openings = 2", "start_limit_ms = 3000"),
    ];
    let game = changed(&folder, &changes);
    let begun = Instant::now();
    let failed = play(&folder, &game, &[]);
    assert!(begun.elapsed() < Duration::from_secs(6), "it took {:?}", begun.elapsed());
    let expected =
        "it did not answer within 3000 ms; is stdout flushed? Some programs buffer their input too";
    assert!(failed.code == Some(2) && failed.stderr.contains(expected), "{failed:?}");
}

#[test]
fn line_after_answer_fails_match_at_next_request() {
    let folder = Folder::new();
    let answers = "    request = json.loads(line)\n    if request['type'] == 'play' and sum(map(len, request['state']['columns'])) == 4:\n        print(json.dumps(play(**request)), flush=True)\n        time.sleep(0.3)\n        print(json.dumps(play(**request)), flush=True)\n        continue\n";
    let changes = [("    request = json.loads(line)\n", answers), ("import sys", "import sys\nimport time")];
    let game = changed(&folder, &changes);
    // The second line arrives after the first has been read and while a bot thinks, also on a busy machine.
    let slow = PUNCTUAL.replace("Timer(0.2,", "Timer(1.5,");
    let (bot, records) = (format!("python3 '{}'", folder.write("slow.py", slow)), folder.text("records"));
    let report =
        referee(["play", &game, &bot, &bot, "--record", &records, "--json"]).with_code(0).one("match");
    assert_eq!((&report["cause"], &report["decisions"]), (&json!("rules_failed"), &json!(6)), "{report}");
    let record = folder.read("records/m1.jsonl");
    assert!(record.contains("it wrote more than one line"), "{record}");
}

#[test]
fn answers_may_end_with_a_carriage_return() {
    let folder = Folder::new();
    let game = changed(&folder, &[(", flush=True", ", end='\\r\\n', flush=True")]);
    let ended = play(&folder, &game, &["-n", "2"]).done();
    assert!(ended.all("match").iter().all(|report| report["ended_by"] == "rules"), "{ended:?}");
    let text = folder.read("records/m1.jsonl");
    assert!(!text.contains('\r'), "{text}");
}

#[test]
fn first_and_last_lines_of_standard_error_are_cause() {
    let folder = Folder::new();
    let crash =
        "[print('note', number, file=sys.stderr) for number in range(200)]; sys.exit('the board is lost')";
    let game = failing_at(&folder, 1, crash);
    let failed = play(&folder, &game, &[]);
    for expected in
        ["standard error: note 0\n", "note 7\n... (185 lines)\nnote 193\n", "note 199\nthe board is lost"]
    {
        assert!(failed.stderr.contains(expected), "{expected}: {failed:?}");
    }
}

/// The processes of the rules of a test.
fn processes_of(marker: &str) -> Vec<u32> {
    let is_it = |words: Vec<u8>| words.starts_with(format!("python3\0game.py\0{marker}\0").as_bytes());
    let found = std::fs::read_dir("/proc").expect("processes").flatten().filter_map(|entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        std::fs::read(entry.path().join("cmdline")).is_ok_and(is_it).then_some(process)
    });
    found.collect()
}

/// Returns whether a process has written some answers.
fn has_answered(process: u32) -> bool {
    let io = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    let written = io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok());
    written.is_some_and(|bytes| bytes > 4096)
}

#[test]
fn kills_of_the_program_at_random_instants_lose_no_match() {
    let kills = long_or(500, 15);
    let folder = Folder::new();
    let marker = format!("kill-{}", std::process::id());
    let game = changed(&folder, &[("python3 game.py", &format!("python3 game.py {marker}"))]);
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    let mut running = Referee::start([
        "play", &game, &bot, &bot, "-n", "100000", "--jobs", "2", "--record", &records, "--json",
    ]);
    let mut rng = RandomKey([8; 32]).stream();
    let (mut killed, mut reports) = (0, Vec::new());
    while killed < kills {
        let ended = std::iter::from_fn(|| running.line_within(Duration::ZERO));
        let ended = ended.map(|line| serde_json::from_str(&line).expect("JSON"));
        reports.extend(ended.filter(|line: &Value| line["type"] == "match"));
        reports.extend([running.receive_type("match"), running.receive_type("match")]);
        std::thread::sleep(Duration::from_micros(rng.uniform(200_000)));
        // A request is asked three times at most, and a new process takes long to start on a busy machine: only one that
        // has answered again is killed.
        let mut processes = processes_of(&marker);
        processes.retain(|&process| has_answered(process));
        if let Some(&process) = processes.get(rng.uniform(processes.len().max(1) as u64) as usize) {
            kill(process, Signal::KILL);
            killed += 1;
        }
    }
    running.signal(Signal::INT);
    reports.extend(running.end().all("match"));
    let (mut played, mut interrupted) = (0, 0);
    for report in reports {
        assert_eq!(report["faults"], json!([{}, {}]), "{report}");
        match report["cause"].as_str() {
            None => played += 1,
            Some("interrupted") => interrupted += 1,
            Some(_) => panic!("{report}"),
        }
    }
    assert!(played > 3 && interrupted <= 2, "{played} played, {interrupted} interrupted");
    let verified = referee(["verify", &records, "--game", &game]).done();
    assert!(verified.stdout.contains(", 0 differ"), "{verified:?}");
}
