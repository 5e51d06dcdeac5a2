//! The effects of faults and failed starts in `referee play`.
#![expect(clippy::disallowed_methods, reason = "a test measures what a bot that is never ready costs")]

use crate::common::{Folder, KEEPS_ITS_PID, WON, assert_gone, files, referee, the};
use serde_json::{Value, json};

// ---- faults ----

#[test]
fn a_fault_forfeits_the_match_by_default() {
    let folder = Folder::new();
    let (illegal, plain) = (folder.illegal_bot("t['turn'] == 2"), folder.plain_bot("plain"));
    let ended = referee(["play", "checkers", &plain, &illegal, "--json"]).done();
    let played = ended.one("match");
    assert_eq!([&played["ended_by"], &played["reason"]], ["fault", "illegal_move"]);
    assert_eq!(played["scores"], json!([1.0, 0.0]));
    assert_eq!(played["faults"], json!([{}, {"illegal_move": 1}]));
    let ended = referee(["play", "checkers", &plain, &illegal]).done();
    assert!(
        ended.stdout.contains("m1: plain wins (illegal: illegal move) after 5 moves in "),
        "{}",
        ended.stdout
    );
}

#[test]
fn under_retry_a_rejected_answer_may_be_repeated() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let script = "def turn(t):
    if 'retry' in t:
        print(json.dumps(t['retry']), file=sys.stderr, flush=True)
    move(t, '1-32') if t['turn'] < 2 else first(t)
play(turn=turn)";
    let stubborn = folder.bot("stubborn", script);
    let records = folder.text("records");
    let args = ["play", "checkers", &stubborn, &plain, "--set", WON, "--json", "--on-fault"];
    let ended = referee(args.into_iter().chain(["retry=2", "--record", &records])).done();
    let played = ended.one("match");
    assert_eq!([&played["ended_by"], &played["ranks"]], [&json!("rules"), &json!([1, 2])]);
    assert_eq!(played["faults"], json!([{"illegal_move": 2}, {}]), "what was retried counts all the same");
    let record = folder.record("records/m1.jsonl");
    let seen = the("bots", &record)["bots"][0]["stderr"].as_str().expect("text").to_owned();
    let retries: Vec<Value> = seen.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!([&retries[0]["of"], &retries[1]["of"]], [0, 1]);
    assert_eq!(retries[0]["code"], "illegal_move");
    assert!(retries[0]["message"].as_str().expect("text").contains("`1-32`"), "{retries:?}");

    let ended = referee(args.into_iter().chain(["retry=1"])).done();
    let played = ended.one("match");
    assert_eq!([&played["ended_by"], &played["ranks"]], [&json!("fault"), &json!([2, 1])]);
    assert_eq!(played["faults"], json!([{"illegal_move": 2}, {}]));
}

#[test]
fn under_random_the_referee_moves_for_a_faulty_seat() {
    let folder = Folder::new();
    let (illegal, plain) = (folder.illegal_bot("True"), folder.plain_bot("plain"));
    let records = folder.text("records");
    let args = ["play", "checkers", &illegal, &plain, "-n", "2", "--json", "--on-fault", "random"];
    let ended = referee(args.into_iter().chain(["--record", &records])).done();
    for played in ended.all("match") {
        assert!(["rules", "turn_limit"].contains(&played["ended_by"].as_str().expect("a word")), "{played}");
        assert_eq!(played["fault"], Value::Null);
    }
    let played = &ended.all("match")[0];
    let (faults, decisions) = (&played["faults"][0]["illegal_move"], &played["decisions"]);
    assert!(faults.as_u64() > Some(3), "{played}");
    assert_eq!(faults.as_u64().expect("a number"), decisions.as_u64().expect("a number").div_ceil(2));
    referee(["verify", &records]).done();
}

#[test]
fn strict_exits_with_1_after_any_fault() {
    let folder = Folder::new();
    let (illegal, plain) = (folder.illegal_bot("t['turn'] == 2"), folder.plain_bot("plain"));
    let resigns = folder.bot("resigns", "play(turn=lambda t: say(type='resign', match=t['match']))");
    referee(["play", "checkers", &illegal, &plain, "--strict"]).with_code(1);
    // A fault that is retried or played over counts.
    referee(["play", "checkers", &plain, &illegal, "--strict", "--json", "--on-fault", "retry=9"])
        .with_code(1);
    referee(["play", "checkers", &plain, &illegal, "--strict", "-n", "2", "--on-fault", "random"])
        .with_code(1);
    referee(["play", "checkers", &plain, &plain, "--strict"]).done();
    let ended = referee(["play", "checkers", &plain, &resigns, "--strict"]).done();
    assert!(ended.stdout.contains("plain wins (resignation) after 1 move in "), "{}", ended.stdout);
}

#[test]
fn a_bot_that_does_not_flush_gets_a_hint() {
    let folder = Folder::new();
    let lazy = folder.bot("lazy", "play(turn=lambda t: None)");
    let plain = folder.plain_bot("plain");
    let ended = referee(["play", "checkers", &lazy, &plain, "--clock", "delay=200ms"]).done();
    let result = "m1: plain wins (lazy: timed out, no answer within 200 ms; is stdout flushed? Some programs buffer their input too, such as mawk without `-W interactive`) before the first move";
    assert!(ended.stdout.contains(result), "{}", ended.stdout);
}

#[test]
fn debug_output_on_stdout_is_malformed() {
    let folder = Folder::new();
    let chatty = folder.bot("chatty", "play(turn=lambda t: print('thinking', flush=True))");
    let plain = folder.plain_bot("plain");
    let ended = referee(["play", "checkers", &chatty, &plain, "--json"]).done();
    let played = ended.one("match");
    assert_eq!(
        played["fault"],
        json!({"seat": 0, "code": "malformed", "detail": "the line is not a JSON object"})
    );
}

// ---- bots that do not start ----

#[test]
fn a_missing_bot_is_named_before_any_match() {
    let folder = Folder::new();
    let plain = folder.bot("plain", &format!("{KEEPS_ITS_PID}\nplay()"));
    let records = folder.text("records");
    let ended = referee(["play", "checkers", &plain, "./no/such-bot -x", "--json", "--record", &records]);
    let ended = ended
        .with_code(5)
        .says(&["the bot `such-bot` cannot be started: there is no program `./no/such-bot` here"]);
    assert_eq!(ended.one("summary")["matches"], 0);
    assert!(files(&folder.path("records")).is_empty());
    // It may have been killed before it wrote its process id.
    if folder.path("plain.pids").exists() {
        assert_gone(&folder.pids("plain.pids"));
    }
}

#[test]
fn a_file_that_is_not_executable_is_named() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let text = folder.write("notes.txt", "no program");
    referee(["play", "checkers", &text, &plain])
        .with_code(5)
        .says(&["the bot `notes` cannot be started: the file", "notes.txt` here may not be run: `chmod +x`"]);
}

#[test]
fn a_program_missing_from_path_is_named() {
    for command in [
        &["play", "checkers", "mybot.py", "mybot.py"][..],
        &["check", "mybot.py"],
        &["debug", "checkers", "mybot.py"],
    ] {
        referee(command).with_code(5).says(&["there is no program `mybot.py` in the folders of PATH"]);
    }
}

#[test]
fn a_script_without_its_interpreter_is_named() {
    let folder = Folder::new();
    let script = folder.write("script", "print('no first line with #!')\n");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a file");
    referee(["check", &script]).with_code(5).says(&["cannot start the bot: ", "script: Exec format error"]);
}

#[test]
fn bot_that_fails_to_start_is_reported_with_its_stderr() {
    let folder = Folder::new();
    let broken = folder.bot("broken", "import no_such_module");
    let plain = folder.plain_bot("plain");
    for args in [vec![], vec!["--json"], vec!["-n", "3"]] {
        let ended = referee(["play", "checkers", &plain, &broken].into_iter().chain(args));
        ended.with_code(5).says(&[
            "the bot `broken` does not start (exited: status 1): `python3 ",
            "Traceback (most recent call last)",
            "ModuleNotFoundError: No module named 'no_such_module'",
        ]);
    }
}

#[test]
fn a_bot_without_hello_in_time_does_not_start() {
    let folder = Folder::new();
    let silent = folder.bot("silent", &format!("{KEEPS_ITS_PID}\nplay(hello=lambda _: None)"));
    let plain = folder.plain_bot("plain");
    let ended = referee(["play", "checkers", &plain, &silent, "-n", "2", "--hello-limit", "1s"]);
    ended
        .with_code(5)
        .says(&["the bot `silent` does not start (no_start: no `hello` within 1000 ms; is stdout flushed? Some programs buffer their input too, such as mawk without `-W interactive`)"]);
    assert_gone(&folder.pids("silent.pids"));
}

#[test]
fn a_bot_without_ready_in_time_forfeits() {
    let folder = Folder::new();
    let (slow, plain) = (folder.bot("slow", "play(start=lambda _: None)"), folder.plain_bot("plain"));
    let ended = referee(["play", "checkers", &plain, &slow, "--ready-limit", "300ms", "--json"]).done();
    let fault = json!({"seat": 1, "code": "no_start", "detail": "no `ready` within 300 ms; is stdout flushed? Some programs buffer their input too, such as mawk without `-W interactive`"});
    assert_eq!(ended.one("match")["fault"], fault);
}

#[test]
fn a_later_ready_has_a_limit_of_its_own() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let ready = |limits: &[&str]| {
        let records = folder.text(&limits.join(" "));
        let args =
            ["play", "checkers", &plain, &plain, "-n", "2", "--set", "turn_limit=4", "--record", &records];
        referee(args.into_iter().chain(limits.iter().copied())).done();
        ["m1", "m2"].map(|id| {
            let record = folder.record(&format!("{}/{id}.jsonl", limits.join(" ")));
            record[0]["seats"][0]["ready_ms"].as_u64().expect("a number")
        })
    };
    assert_eq!(ready(&["--ready-limit", "50s"]), [50_000, 5_000]);
    assert_eq!(ready(&["--ready-limit", "3s"]), [3_000, 3_000]);
    assert_eq!(ready(&["--ready", "40s,20s"]), [40_000, 20_000]);
    // The time for loading data in every match.
    let slow = "play(start=lambda s: (time.sleep(0.4), say(type='ready', match=s['match'], seat=s['seat'])))";
    let slow = folder.bot("slow", &format!("import time\n{slow}"));
    let args = ["play", "checkers", &slow, &plain, "-n", "2", "--set", "turn_limit=4", "--json"];
    let ended = referee(args.into_iter().chain(["--ready", "30s,100ms"])).done();
    let faults = ended.all("match").into_iter().map(|line| line["fault"]["code"].clone());
    assert_eq!(faults.collect::<Vec<_>>(), [Value::Null, json!("no_start")]);
}

#[test]
fn a_bot_with_another_protocol_does_not_start() {
    let folder = Folder::new();
    let newer = folder.bot("newer", "play(hello=lambda _: say(type='hello', protocol=2, name='newer'))");
    let plain = folder.plain_bot("plain");
    referee(["play", "checkers", &newer, &plain])
        .with_code(5)
        .says(&["the bot `newer` does not start (no_start: protocol 2 is not spoken here, only 1)"]);
}

#[test]
fn bot_that_does_not_play_game_does_not_start() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let chess = folder
        .bot("chess", "play(hello=lambda _: say(type='hello', protocol=1, name='x', games=['chess', 'go']))");
    let ended = referee(["play", "checkers", &plain, &chess, "--json"]);
    let ended = ended.with_code(5);
    let ended = ended
        .says(&["the bot `chess` does not start (no_start: it does not play checkers: it plays chess, go)"]);
    assert_eq!(ended.one("match")["fault"]["code"], "no_start");
}

#[test]
fn a_restarted_bot_without_the_game_has_a_fault() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let moody = folder.bot(
        "moody",
        "been = os.path.exists(__file__ + '.been')
open(__file__ + '.been', 'w').close()
games = ['chess'] if been else ['checkers']
play(hello=lambda _: say(type='hello', protocol=1, name='moody', games=games), end=lambda _: sys.exit(0))",
    );
    let ended = referee(["play", "checkers", &plain, &moody, "-n", "2", "--json", "--set", "turn_limit=4"]);
    let ended = ended.with_code(5).says(&["does not play checkers: it plays chess"]);
    let fault = json!({"seat": 0, "code": "no_start", "detail": "it does not play checkers: it plays chess"});
    let matches = ended.all("match");
    assert_eq!((&matches[0]["fault"], &matches[1]["fault"]), (&Value::Null, &fault));
}

/// The detail of a bot's fault, from a verified record.
fn said_of(script: &str, more: &[&str]) -> String {
    let folder = Folder::new();
    let (bot, plain) = (folder.bot("bot", script), folder.plain_bot("plain"));
    let records = folder.text("records");
    let args = ["play", "checkers", &plain, &bot, "--record", &records, "--json", "--clock", "delay=600ms"];
    let ended = referee([&args[..], more].concat()).done();
    referee(["verify", &records]).done();
    let fault = &ended.one("match")["fault"];
    assert_eq!(fault["seat"], 1, "{fault}");
    fault["detail"].as_str().expect("a sentence").to_owned()
}

#[test]
fn a_timeout_tells_what_was_rejected_and_why() {
    let answer = |code: &str, fields: &str, right: &str| {
        let script = format!(
            "play(turn=lambda t: say(**{{'type': 'move', 'match': t['match'], 'turn': t['turn'], \
             'move': t['legal'][0], {fields}}}))"
        );
        let sentence = format!("no answer within 600 ms: the last line was refused ({code}): {right}");
        (script, sentence)
    };
    let of_request = "an answer is a `move` with the `match` and the `turn` of the last request";
    let draw = "`accept_draw` answers a request with `draw_offered`, any other gets a `move`";
    let again = "play(turn=lambda t: move({**t, 'turn': 0}, t['legal'][0]))";
    let stale = "no answer within 600 ms: the last line was refused (stale): the `turn` of an answer is that of the \
                 last request";
    let half = "play(turn=lambda t: os.write(1, b'{\"type\":\"move\"'))";
    let unfinished =
        "no answer within 600 ms, only an unfinished line of 14 bytes; a line ends with a line break";
    let cases = [
        answer("out_of_state", "'turn': 7", of_request),
        answer("unknown_match", "'match': 'm9'", "the `match` of an answer is that of the request"),
        answer("unknown_seat", "'seat': 0", "the `seat` of an answer is that of the request"),
        answer(
            "unknown_type",
            "'type': 'mov'",
            "the `type` of an answer is `move`, `accept_draw`, `unable` or `resign`",
        ),
        answer("no_offer", "'type': 'accept_draw'", draw),
        (again.to_owned(), stale.to_owned()),
        (half.to_owned(), unfinished.to_owned()),
    ];
    std::thread::scope(|scope| {
        for (script, sentence) in &cases {
            scope.spawn(move || assert_eq!(said_of(script, &[]), *sentence, "{script}"));
        }
    });
}

#[test]
fn a_rejected_ready_is_explained() {
    let more = ["--ready-limit", "800ms"];
    let nonce = said_of("play(start=lambda s: ready(s, nonce='XY'))", &more);
    let refused = "no `ready` within 800 ms: the last line was refused";
    assert_eq!(nonce, format!("{refused} (malformed): `nonce` is lower-case hex of at most 64 bytes"));
    let other = said_of("play(start=lambda s: ready({**s, 'match': 'other'}))", &more);
    assert_eq!(other, format!("{refused} (unknown_match): its `match` is that of `start`"));
}

#[test]
fn a_rejected_hello_is_explained_without_its_token() {
    let not_started = |hello: &str| {
        let folder = Folder::new();
        let bot = folder.bot("bot", &format!("play(hello=lambda _: os.write(1, ({hello}).encode()))"));
        let args = ["play", "checkers", &folder.plain_bot("plain"), &bot, "--hello-limit", "2s"];
        let stderr = referee(args).with_code(5).stderr;
        assert!(!stderr.contains("4242"), "{stderr}");
        stderr.split_once("(no_start: ").expect("the reason").1.to_owned()
    };
    let refused = "no `hello` within 2000 ms: the last line was refused (malformed): ";
    let name = "`name` has 1 to 64 characters: ASCII letters, digits, `.`, `_`, `-` and space";
    let first = "the first line is `hello`, a JSON object with `protocol` and `name`";
    let unfinished =
        "no `hello` within 2000 ms, only an unfinished line of 16 bytes; a line ends with a line break";
    let message = |fields: &str| format!("json.dumps(dict(type='hello', {fields})) + '\\n'");
    let cases = [
        (message("protocol=1, name='a/b'"), format!("{refused}{name}")),
        (message("name='a'"), format!("{refused}`protocol` is the integer 1")),
        (message("protocol='1', name='a'"), format!("{refused}`protocol` is the integer 1")),
        (message("protocol=1, name='a', token=4242"), format!("{refused}`token` is a string")),
        ("'Loading...\\n'".to_owned(), format!("{refused}{first}")),
        ("'{\"type\":\"hello\"}'".to_owned(), unfinished.to_owned()),
    ];
    std::thread::scope(|scope| {
        for (hello, sentence) in &cases {
            scope.spawn(move || {
                let said = not_started(hello);
                assert!(said.starts_with(&**sentence), "{hello}: {said}");
            });
        }
    });
}

#[test]
fn script_that_system_cannot_run_is_named_with_reason() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let script = |name: &str, first_line: &str| {
        let path = folder.write(name, format!("{first_line}\nprint()\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a file");
        path
    };
    for (name, first_line, says) in [
        (
            "windows.py",
            "#!/usr/bin/env python3\r",
            ["Windows line ending", "`python3\\r`", "sed -i 's/\\r$//' "],
        ),
        ("direct.py", "#!/usr/bin/python3\r", ["Windows line ending", "`/usr/bin/python3\\r`", "direct.py"]),
        ("missing.py", "#!/usr/bin/pythn -u", ["missing.py", "`/usr/bin/pythn`", "does not exist"]),
    ] {
        let bot = script(name, first_line);
        referee(["play", "checkers", &bot, &plain]).with_code(5).says(&says);
    }
}

#[test]
fn timeout_after_earlier_answers_does_not_suggest_flushing() {
    let folder = Folder::new();
    let hangs = "import time\nplay(turn=lambda t: first(t) if t['turn'] < 3 else time.sleep(30))";
    let (plain, hangs) = (folder.plain_bot("plain"), folder.bot("hangs", hangs));
    let ended = referee(["play", "checkers", &plain, &hangs, "--clock", "delay=300ms", "--json"]);
    let detail = ended.with_code(0).one("match")["fault"]["detail"].clone();
    assert_eq!(detail, "no answer within 300 ms (it had answered 3 requests)");
}

#[test]
fn a_bot_that_is_never_ready_costs_the_limit_once() {
    let folder = Folder::new();
    let (plain, records) = (folder.plain_bot("plain"), folder.text("records"));
    let never = folder.bot("never", "play(start=lambda s: None)");
    let begun = std::time::Instant::now();
    let args = ["-n", "5", "--ready-limit", "3s,2s", "--record", &records, "--json"];
    let ended = referee(["play", "checkers", &never, &plain].into_iter().chain(args)).with_code(0);
    let took = begun.elapsed().as_secs_f64();
    assert!((3.0..9.0).contains(&took), "3 s and not 2 s for each of four more: {took}");
    let details: Vec<String> = ended
        .all("match")
        .iter()
        .map(|played| played["fault"]["detail"].as_str().expect("text").to_owned())
        .collect();
    assert!(details[0].starts_with("no `ready` within 3000 ms"), "{details:?}");
    let later = "it was not ready for its first match within 3000 ms, and has sent nothing since";
    assert!(details.len() == 5 && details[1..].iter().all(|detail| detail == later), "{details:?}");
    referee(["verify", &records]).done();
    // One that says something again plays.
    let late = folder.bot(
        "late",
        "import threading\ndef start(s):\n    if s['match'] == 'm1':\n        threading.Timer(2, lambda: say(type='pong')).start()\n    else:\n        ready(s)\nplay(start=start)",
    );
    let slow = folder
        .bot("slow", "import time\ndef start(s):\n    ready(s)\n    time.sleep(2.5)\nplay(start=start)");
    let args = ["-n", "3", "--ready-limit", "1s,5s", "--set", "turn_limit=4", "--clock", "none", "--json"];
    let ended = referee(["play", "checkers", &late, &slow].into_iter().chain(args)).with_code(0);
    let matches = ended.all("match");
    assert_eq!(matches[0]["fault"]["code"], "no_start", "{matches:?}");
    // It says something while the second match waits for its opponent.
    assert_eq!(matches[1]["fault"]["detail"], later.replace("3000", "1000"), "{matches:?}");
    assert_eq!(matches[2]["ended_by"], "turn_limit", "{matches:?}");
}

/// A bot that has no move, for this reason.
fn unable(folder: &Folder, because: &str) -> String {
    let script = format!(
        "play(turn=lambda turn: say(type='unable', match=turn['match'], turn=turn['turn'], because='{because}', \
         info={{'text': 'asked in vain'}}))"
    );
    folder.bot(because, &script)
}

#[test]
fn claim_of_no_legal_move_has_fault_of_its_own() {
    let folder = Folder::new();
    let (bot, other, records) =
        (unable(&folder, "no_legal_move"), folder.plain_bot("plain"), folder.text("records"));
    let play = ["play", "checkers", &bot, &other, "--record", &records, "--json", "--on-fault", "retry=3"];
    let report = referee(play).done().one("match");
    assert_eq!(report["faults"], json!([{"no_legal_move": 1}, {}]), "{report}");
    assert_eq!(report["reason"], "no_legal_move", "{report}");
    let record = folder.read("records/m1.jsonl");
    assert!(record.contains(r#""unable":"no_legal_move","info":{"text": "asked in vain"}"#), "{record}");
    referee(["verify", &records]).done();
    // The referee moves for it.
    let random =
        ["play", "checkers", &bot, &other, "--on-fault", "random", "--json", "--set", "turn_limit=4"];
    let report = referee(random).done().one("match");
    assert_eq!(
        (&report["faults"][0]["no_legal_move"], &report["ended_by"]),
        (&json!(2), &json!("turn_limit"))
    );
}

#[test]
fn outage_is_no_loss_where_bots_are_trusted() {
    let folder = Folder::new();
    let (bot, other, records) =
        (unable(&folder, "unavailable"), folder.plain_bot("plain"), folder.text("records"));
    let play = ["play", "checkers", &bot, &other, "--json", "-n"];
    let lost = referee([&play[..], &["9"]].concat()).done();
    assert_eq!(lost.all("match").len(), 9);
    assert!(lost.all("match").iter().all(|of| of["reason"] == "unavailable"), "{lost:?}");
    // The tenth in a row ends the run, while others go on.
    let trusted = referee([&play[..], &["1000", "--trust-outages", "--record", &records]].concat());
    let trusted = trusted.with_code(5).says(&["could not be reached in 10 matches in a row"]);
    let matches = trusted.all("match");
    let is_void =
        |of: &Value| of["cause"] == "unavailable" && of["ranks"].is_null() && of["faults"] == json!([{}, {}]);
    assert!(matches.len() < 3000 && matches[..10].iter().all(is_void), "{matches:?}");
    referee(["verify", &records]).done();
}
