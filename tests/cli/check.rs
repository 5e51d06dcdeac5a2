//! `referee check`: the sample bots pass, and every defect is found in its step.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::referee::game::test_length::long_or;

use crate::common::{Ended, Folder, ROOT, in_java, in_rust, referee, sample};
use serde_json::Value;

/// A hanging bot is detected soon, and a busy machine answers in time.
const LIMITS: [&str; 6] = ["--move-limit", "6s", "--hello-limit", "20s", "--ready-limit", "6s"];

fn check(bot: &str, more: &[&str]) -> Ended {
    referee(["check", bot, "--json"].into_iter().chain(LIMITS).chain(more.iter().copied()))
}

fn check_in(game: &str, bot: &str, more: &[&str]) -> Ended {
    referee(["check", game, bot, "--json"].into_iter().chain(LIMITS).chain(more.iter().copied()))
}

/// The verdicts by step.
fn verdicts(ended: &Ended) -> BTreeMap<String, String> {
    let steps = ended.json().into_iter().filter(|line| line["type"] == "step");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    steps.map(|step| (text(&step["step"]), text(&step["verdict"]))).collect()
}

/// The steps that failed or warned.
fn findings(ended: &Ended) -> Vec<String> {
    let all = verdicts(ended);
    let found = all.iter().filter(|(_, verdict)| *verdict == "failed" || *verdict == "warned");
    found.map(|(step, verdict)| format!("{step} {verdict}")).collect()
}

/// Returns whether a finding counts: a busy machine may be slow, except in long runs, which have it for
/// themselves.
fn counts(finding: &str) -> bool {
    finding != "time warned" || long_or(true, false)
}

/// No answer takes half of it, which is a warning, however busy the machine is.
const PATIENT: [&str; 2] = ["--move-limit", "1m"];

#[track_caller]
fn assert_passes(bot: &str) -> Ended {
    let ended = referee(["check", bot, "--json"].into_iter().chain(PATIENT));
    assert_eq!(findings(&ended), Vec::<String>::new(), "{bot}: {ended:?}");
    assert_eq!(ended.code, Some(0), "{bot}");
    ended
}

#[test]
fn the_sample_bots_in_python_pass() {
    for bot in ["python/random_bot.py", "python/greedy_bot.py"] {
        assert_passes(&sample(bot));
    }
}

#[test]
fn a_bot_passes_in_a_single_game() {
    for game in ["checkers", "chess", "jeex", "keezen", "saxum", "xe_queo"] {
        // With the limits that a user gets.
        let ended = referee(["check", game, &sample("python/random_bot.py"), "--json"]).with_code(0);
        let found: Vec<String> = findings(&ended).into_iter().filter(|step| counts(step)).collect();
        assert_eq!(found, [""; 0], "{game}");
    }
}

#[test]
fn the_sample_bots_in_rust_pass() {
    for (bot, options) in
        [("referee-random", ""), ("referee-alpha-beta", ""), ("referee-monte-carlo", "--time-ms 5")]
    {
        assert_passes(&format!("'{}' {options}", in_rust(bot).display()));
    }
}

#[test]
fn the_sample_bots_in_javascript_pass() {
    if Command::new("node").arg("--version").output().is_ok() {
        for bot in ["random", "groups"] {
            assert_passes(&format!("node '{ROOT}/bots/javascript/bots/{bot}.js'"));
        }
        let many = assert_passes(&format!("node '{ROOT}/bots/javascript/test/vector_bot.js'"));
        assert_eq!(verdicts(&many)["slots"], "passed", "it says 64");
    }
}

#[test]
fn the_sample_bots_in_go_and_c_pass() {
    for bot in ["go/random", "go/claims", "c/random_bot", "c/lookahead_bot"] {
        let bot = PathBuf::from(format!("{ROOT}/target/sdks/{bot}"));
        if bot.exists() {
            assert_passes(&format!("'{}'", bot.display()));
        }
    }
}

#[test]
fn the_sample_bots_in_java_pass() {
    for bot in ["RandomBot", "HomewardBot"] {
        if Path::new(&format!("{ROOT}/bots/java/target/classes/refereebot/samples/{bot}.class")).exists() {
            assert_passes(&in_java(&format!("samples.{bot}")));
        }
    }
}

#[test]
fn the_sample_bot_in_plain_shell_passes() {
    if Command::new("jq").arg("--version").output().is_ok() {
        // jq starts a process per message, which is slow: one game is enough.
        let bot = format!("'{ROOT}/bots/shell/random_bot.sh'");
        let ended = referee(["check", "checkers", &bot, "--json"].into_iter().chain(PATIENT)).with_code(0);
        assert_eq!(findings(&ended), Vec::<String>::new(), "{ended:?}");
    }
}

#[test]
fn the_bot_in_ten_lines_passes() {
    let readme = fs::read_to_string(format!("{ROOT}/README.md")).expect("the README");
    let bot = readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the bot");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mybot.py");
    fs::write(&path, bot).expect("a file");
    let ended = assert_passes(&format!("python3 '{}'", path.display()));
    let verdicts = verdicts(&ended);
    for game in referee(["games", "--json"]).json() {
        let id = game["id"].as_str().expect("an id");
        for step in ["whole matches", "kinds of decisions"] {
            assert_eq!(verdicts[&format!("{id}: {step}")], "passed");
        }
    }
}

#[test]
fn bot_that_needs_list_of_moves_fails_without_it() {
    let folder = Folder::new();
    let listed = folder.plain_bot("listed");
    let knows = folder.bot(
        "knows",
        "play(turn=lambda t: first(t) if 'legal' in t else say(type='resign', match=t['match'], seat=t['seat']))",
    );
    let guesses = folder.bot("guesses", "play(turn=lambda t: move(t, '1-1'))");
    assert_eq!(check_in("checkers", &listed, &["--hide-legal"]).with_code(1).all("step").len(), 3);
    check_in("checkers", &knows, &["--hide-legal"]).with_code(0);
    let told = referee(["check", "checkers", &guesses, "--hide-legal"]).with_code(1);
    assert!(told.stdout.contains("Without `legal`, what the rules accept"), "{}", told.stdout);
}

/// The steps that fail or warn for each hostile bot.
const HOSTILE: [(&str, &[&str]); 40] = [
    ("answers_early", &["first match failed"]),
    ("answers_twice", &["first match failed"]),
    ("array", &["first match failed"]),
    ("big_info", &["first match warned"]),
    ("byte_by_byte", &[]),
    ("closes_stdout", &["first match failed"]),
    ("crash", &["first match failed"]),
    ("crash_at_start", &["start-up failed"]),
    ("crash_in_ready", &["first match failed"]),
    ("deep_nesting", &["first match failed"]),
    ("duplicate_keys", &["first match failed"]),
    ("empty_lines", &["first match failed"]),
    ("exits", &["first match failed"]),
    ("false_claims", &["first match failed"]),
    ("floods_stderr", &[]),
    ("floods_stdout", &["first match failed"]),
    ("future_id", &["first match failed"]),
    ("half_line", &["first match failed"]),
    ("honest", &[]),
    ("ignores_the_end", &["SIGTERM warned", "bye failed", "end of input failed"]),
    ("illegal_move", &["first match failed"]),
    ("invalid_json", &["first match failed"]),
    ("invalid_utf8", &["first match failed"]),
    ("last_move_and_exit", &["first match failed"]),
    ("leaves_child", &["bye failed", "end of input failed"]),
    ("leaves_grandchild", &["bye failed", "end of input failed"]),
    ("long_line", &["first match failed"]),
    ("never_reads", &["first match failed"]),
    ("pongs", &["first match failed"]),
    ("reads_slowly", &["first match failed"]),
    ("resigns", &[]),
    ("silent", &["start-up failed"]),
    ("silent_at_start", &["first match failed"]),
    ("slow", &["first match failed"]),
    ("splices_afar", &["first match failed"]),
    ("splices_stderr", &["end of input failed"]),
    ("splices_stdin", &["first match failed"]),
    ("splices_stdout", &["first match failed"]),
    ("strays", &["first match failed"]),
    ("wrong_id", &["first match failed"]),
];

/// Runs jobs, at most `most` at a time: they mostly wait.
pub(crate) fn side_by_side<J: Sync>(most: usize, jobs: &[J], work: impl Fn(&J) -> Option<String> + Sync) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        // Most of a job is waiting for limits to expire.
        for _ in 0..most {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().expect("no panic").extend(work(job));
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_hostile_bot_fails_at_the_expected_step() {
    let files = fs::read_dir(format!("{ROOT}/bots/hostile")).expect("the folder");
    let names = files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"));
    let bots: BTreeSet<String> = names
        .filter_map(|name| Some(name.strip_suffix(".py")?.to_owned()))
        .filter(|name| !name.starts_with('_'))
        .collect();
    let listed: BTreeSet<String> = HOSTILE.iter().map(|(bot, _)| (*bot).to_owned()).collect();
    assert_eq!(bots, listed, "each hostile bot has a row");
    side_by_side(10, &HOSTILE, |(bot, expected)| {
        let bot_line = sample(&format!("hostile/{bot}.py"));
        // The sandbox hides from some of them the file that the referee waits for.
        // One is slow only in comparison with a limit; the others fail with any.
        let limit = if *bot == "reads_slowly" { "1s" } else { "6s" };
        let options =
            ["--sandbox", "none", "--move-limit", limit, "--hello-limit", "20s", "--ready-limit", "6s"];
        let ended = referee(["check", "checkers", &bot_line, "--json"].into_iter().chain(options));
        let code = i32::from(expected.iter().any(|found| found.ends_with("failed")));
        let mut found = findings(&ended);
        found.retain(|step| counts(step));
        let is_right = found == *expected && ended.code == Some(code);
        (!is_right).then(|| format!("{bot}: {found:?} with exit code {:?}\n{}", ended.code, ended.stdout))
    });
}

/// A correct bot, except for what `flaw` redefines.
fn flawed(folder: &Path, name: &str, flaw: &str) -> String {
    let bot = format!(
        r#"
import json, os, sys, time
HELLO = {{"type": "hello", "protocol": 1, "name": "flawed", "games": ["checkers"]}}
matches = []
def lines():
    while line := sys.stdin.buffer.readline():
        yield line
def look(message):
    pass
def reply(m, answer):
    return answer
{flaw}
for line in lines():
    m = json.loads(line)
    look(m)
    if m["type"] == "hello":
        answer = HELLO
    elif m["type"] == "start":
        matches.append(m["match"])
        answer = {{"type": "ready", "match": m["match"]}}
    elif m["type"] == "turn":
        answer = {{"type": "move", "match": m["match"], "turn": m["turn"], "move": m["legal"][0]}}
    elif m["type"] == "ping":
        answer = {{"type": "pong", "id": m["id"]}}
    else:
        answer = None
    answer = reply(m, answer)
    if answer:
        print(json.dumps(answer), flush=True)
"#
    );
    let path = folder.join(format!("{name}.py"));
    fs::write(&path, bot).expect("a file");
    format!("python3 '{}'", path.display())
}

#[test]
fn banner_before_hello_fails_its_step_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let banner = "print('Welcome to Flawed 1.0', flush=True); print('', 'ready.', flush=True)\n";
    let flaw = format!("{banner}def look(m): assert 'weather' not in m");
    let ended = check(&flawed(folder.path(), "banner", &flaw), &[]).with_code(1);
    let mut found = findings(&ended);
    found.retain(|step| counts(step));
    assert_eq!(found, ["hello failed", "large views failed", "unknown fields failed"]);
    let steps = ended.all("step");
    let hello = steps.iter().find(|step| step["step"] == "hello").expect("the step");
    let wrong = "it prints `Welcome to Flawed 1.0` before its `hello`: print it to standard error";
    assert_eq!(hello["violation"]["wrong"], wrong, "{hello}");
    assert!(steps.iter().any(|step| step["step"] == "SIGTERM" && step["verdict"] == "passed"));
    // Text alone.
    let text = flawed(folder.path(), "text", &format!("{banner}HELLO = None"));
    let ended = referee(["check", "checkers", &text, "--json", "--hello-limit", "2s"]).with_code(1);
    assert_eq!(findings(&ended), ["start-up failed"]);
}

#[test]
fn hint_on_flushing_is_for_bots_without_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let violation = |name: &str, flaw: &str| {
        let ended = check_in("checkers", &flawed(folder.path(), name, flaw), &[]);
        let failed = ended.with_code(1).all("step").into_iter().find(|step| step["verdict"] == "failed");
        failed.expect("a failure")["violation"]["wrong"].as_str().expect("text").to_owned()
    };
    let stops = "def reply(m, answer): return None if m['type'] == 'turn' and m['turn'] == 3 else answer";
    let stops = violation("stops", stops);
    assert!(stops.starts_with("no answer within 6000 ms (it had answered "), "{stops}");
    let never = violation("never", "def reply(m, answer): return None if m['type'] == 'turn' else answer");
    assert!(never.starts_with("no answer within 6000 ms; is stdout flushed?"), "{never}");
}

/// Defects, and the steps in which they are found.
const FLAWS: [(&str, &str, &[&str]); 22] = [
    ("none", "", &[]),
    (
        "dies_of_unknown_fields",
        "def look(m): assert 'weather' not in m",
        &["unknown fields failed", "large views failed"],
    ),
    (
        "dies_of_unknown_messages",
        "def look(m): assert m['type'] != 'weather'",
        &["joined writes failed", "unknown messages failed"],
    ),
    (
        "takes_a_read_for_a_line",
        "HELLO['wants'] = ['legal']\n\
         def lines():\n    while data := os.read(0, 1 << 21):\n        yield data.split(b'\\n')[0]",
        &["joined writes failed", "large views failed", "match broken off failed", "split writes failed"],
    ),
    (
        "has_a_small_buffer",
        "def lines():\n    while line := sys.stdin.buffer.readline(65536):\n        yield line",
        &["large views failed"],
    ),
    (
        "does_not_bear_cr_lf",
        "def lines():\n    while line := sys.stdin.buffer.readline():\n        assert line.endswith(b'}\\n')\n        yield line",
        &["CRLF warned"],
    ),
    ("dies_of_errors", "def look(m): assert m['type'] != 'error'", &["errors failed", "retry failed"]),
    (
        "answers_a_retry_under_the_old_id",
        "def reply(m, answer):\n    if 'retry' in m: answer['turn'] = m['retry']['of']\n    return answer",
        &["retry failed"],
    ),
    ("dies_of_draw_offers", "def look(m): assert 'draw_offered' not in m", &["draw offers failed"]),
    (
        "accepts_draws",
        "def reply(m, answer):\n    if 'draw_offered' in m:\n        del answer['move']\n        answer['type'] = 'accept_draw'\n    return answer",
        &[],
    ),
    (
        "has_its_own_idea_of_pong",
        "def reply(m, answer):\n    if m['type'] == 'ping': answer['id'] += 1000\n    return answer",
        &["joined writes failed", "ping failed"],
    ),
    (
        "mixes_matches_up",
        "HELLO['slots'] = 4\n\
         def reply(m, answer):\n    if m['type'] == 'turn': answer['match'] = matches[-1]\n    return answer",
        &["slots failed"],
    ),
    ("plays_many_at_once", "HELLO['slots'] = 4", &[]),
    (
        "plays_once",
        "def reply(m, answer):\n    return None if m['type'] == 'start' and len(matches) > 1 else answer",
        &["checkers: whole matches failed", "checkers: kinds of decisions failed", "second match failed"],
    ),
    ("leaves_between_matches", "def look(m):\n    if m['type'] == 'end': sys.exit(0)", &[]),
    (
        "knows_no_captures",
        "def look(m): assert not any('x' in move for move in m.get('legal', []))",
        &["first match failed"],
    ),
    (
        "takes_its_time",
        "def look(m):\n    if m['type'] == 'turn' and matches == ['m1'] and m['turn'] == 1: time.sleep(3.5)",
        &["time warned"],
    ),
    (
        "ends_badly",
        "import atexit\natexit.register(lambda: os._exit(3))",
        &["bye warned", "end of input warned"],
    ),
    (
        "ends_late",
        "import atexit\natexit.register(lambda: time.sleep(3))",
        &["bye warned", "end of input warned"],
    ),
    ("another_protocol", "HELLO['protocol'] = 2", &["hello failed"]),
    ("a_bad_name", "HELLO['name'] = 'naïve'", &["hello failed"]),
    ("a_long_author", "HELLO['author'] = 'ï' * 257", &["hello failed"]),
];

#[test]
fn every_defect_is_found_in_its_step() {
    let folder = tempfile::tempdir().expect("a folder");
    side_by_side(10, &FLAWS, |(name, flaw, expected)| {
        let ended = check(&flawed(folder.path(), name, flaw), &[]);
        let mut found: BTreeSet<String> = findings(&ended).into_iter().collect();
        found.retain(|step| counts(step) || expected.contains(&&**step));
        let missing: Vec<&&str> = expected.iter().filter(|step| !found.contains(**step)).collect();
        // A crash in a whole match may also occur in other steps.
        let is_right = if expected.len() > 1 { missing.is_empty() } else { found.iter().eq(expected.iter()) };
        (!is_right).then(|| format!("{name}: {found:?}\n{}", ended.stdout))
    });
}

#[test]
fn a_failure_shows_input_and_specification() {
    let bot = sample("hostile/illegal_move.py");
    let ended = referee(["check", "checkers", &bot]).with_code(1);
    for part in [
        "first match",
        "FAILED",
        "first match: `1-32` is not legal",
        "  sent  {\"type\":\"turn\"",
        "  came  {\"type\":\"move\",\"match\":\"m1\",\"seat\":0,\"turn\":2,\"move\":\"1-32\"}",
        "  messages.md#move  one of `legal`, byte for byte. Without `legal`, what the rules accept, at most 16,384 bytes.",
        "2 passed, 0 with a warning, 1 failed, 0 skipped",
    ] {
        assert!(ended.stdout.contains(part), "{part} is missing in:\n{}", ended.stdout);
    }
}

#[test]
fn lines_after_an_invalid_one_are_not_reported_as_unfinished() {
    let folder = Folder::new();
    let bot = folder
        .bot("flood", "play(turn=lambda t: os.write(1, b'{\"type\":\"pong\",\"id\":1}\\n' * 99 + b'{\"ty'))");
    let ended = check_in("checkers", &bot, &[]).with_code(1);
    let steps = ended.all("step");
    let came = steps
        .iter()
        .map(|step| &step["violation"]["came"])
        .find(|came| came.is_array())
        .expect("a violation");
    assert_eq!(
        came.as_array().and_then(|came| came.last()),
        Some(&"{\"ty (an unfinished line)".into()),
        "{came}"
    );
}

#[test]
fn a_bot_that_leaves_between_matches_with_bye_passes() {
    let folder = Folder::new();
    for (name, end) in [("exits", "(say(type='bye'), sys.exit(0))"), ("waits", "say(type='bye')")] {
        let bot = folder.bot(name, &format!("play(end=lambda _: {end})"));
        referee(["check", "checkers", &bot, "--json"]).with_code(0);
    }
    let early = folder.bot("early", "play(hello=lambda m: (say(type='pong', id=1), hello(m)))");
    let ended = referee(["check", "checkers", &early, "--json"]).with_code(0);
    assert_eq!(findings(&ended), [""; 0], "`pong` has no effect");
}

#[test]
fn the_standard_error_of_a_bot_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let bot =
        flawed(folder.path(), "talks", "print('loading the book', file=sys.stderr, flush=True)\nsys.exit(4)");
    let ended = referee(["check", &bot]).with_code(1);
    assert!(ended.stdout.contains("stderr  loading the book"), "{}", ended.stdout);
    assert!(ended.stdout.contains("its process ended: status 4"), "{}", ended.stdout);
}

#[test]
fn check_that_passes_ends_with_its_counts_whatever_bot_logs() {
    let folder = Folder::new();
    let bot = folder.bot("logs", "play(error=lambda e: print(e['message'], file=sys.stderr, flush=True))");
    let ended = referee(["check", "checkers", &bot]).with_code(0);
    assert!(!ended.stdout.contains("errors:") && !ended.stdout.contains("stderr"), "{}", ended.stdout);
    let json = check_in("checkers", &bot, &[]).with_code(0).all("step");
    assert!(json.iter().any(|step| step["stderr"].as_str().is_some_and(|text| text.contains("it rains"))));
}

#[test]
fn junit_has_a_case_per_step_with_failures() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.xml");
    let bot = sample("hostile/ignores_the_end.py");
    let ended = check_in("checkers", &bot, &["--junit", path.to_str().expect("UTF-8")]).with_code(1);
    let report = fs::read_to_string(&path).expect("the report");
    assert_eq!(report.matches("<testcase ").count(), verdicts(&ended).len(), "{report}");
    assert!(report.contains(r#"failures="2""#) && report.contains(r#"skipped="1""#), "{report}");
    assert!(report.contains("2000 ms after the end of its input"), "{report}");
    let summary = ended.one("summary");
    assert_eq!(
        (&summary["failed"], &summary["skipped"], &summary["warned"]),
        (&2.into(), &1.into(), &1.into())
    );
}

#[test]
fn bot_that_cannot_be_checked_gives_its_own_exit_code() {
    referee(["check", "./no-such-bot"]).with_code(5);
    referee(["check", "ludo", "python3 bot.py"]).with_code(2).says(&["unknown game `ludo`"]);
    referee(["check", "python3 'bot.py"]).with_code(2);
    referee(["check", "true", "--move-limit", "0s"]).with_code(2);
}

#[test]
fn first_and_last_lines_of_error_are_shown() {
    let folder = Folder::new();
    let script = "def fail(t):\n    [print('line', n, file=sys.stderr) for n in range(1, 41)]\n    os._exit(1)\nplay(turn=fail)";
    let ended = referee(["check", "checkers", &folder.bot("fails", script)]).with_code(1);
    let lines: Vec<&str> =
        ended.stdout.lines().filter_map(|line| line.trim().strip_prefix("stderr  ")).collect();
    let first = lines.iter().position(|line| *line == "line 1").expect("the first line");
    assert_eq!(lines[first + 4..first + 7], ["line 5", "... 25 lines left out", "line 31"]);
    assert_eq!(lines[first + 15], "line 40");
}
