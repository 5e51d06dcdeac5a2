//! `referee stdio`. Whole dialogues are in `transcripts.rs`; these tests need many lines, long lines, time, or a
//! misbehaving host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Folder, Referee, SEED, files, referee, the};
use rustix::fs::{OFlags, fcntl_getfl};
use serde_json::{Value, json};

/// A referee whose host has sent `hello`.
fn host(args: &[&str], slots: u64) -> Referee {
    let mut referee = Referee::start([&["stdio"], args].concat());
    assert_eq!(referee.receive()["type"], "hello");
    referee.send(json!({"type": "hello", "protocol": 1, "name": "host", "slots": slots}));
    referee
}

fn open(options: Value) -> Value {
    json!({"type": "open", "game": "checkers", "options": options, "auto_ready": true})
}

fn answer(turn: &Value, text: &Value) -> Value {
    json!({"type": "move", "match": turn["match"], "seat": turn["seat"], "turn": turn["turn"], "move": text})
}

fn ready(start: &Value) -> Value {
    json!({"type": "ready", "match": start["match"], "seat": start["seat"]})
}

/// Black captures White's last piece at once.
fn won() -> Value {
    json!({"fen": "B:W18:B14"})
}

#[test]
fn the_host_has_as_many_concurrent_matches_as_slots() {
    let folder = Folder::new();
    let records = folder.text("records");
    let mut referee = host(&["--clock", "none", "--record", &records], 50);
    for n in 0..50 {
        let mut open = open(json!({"turn_limit": 20}));
        open["id"] = json!(format!("open {n}"));
        referee.send(open);
    }
    referee.send(json!({"type": "open", "game": "checkers", "id": "one more"}));
    let (mut requests, mut ends) = (Vec::new(), BTreeMap::<String, u32>::new());
    let mut seen = BTreeSet::new();
    let mut most = 0;
    while ends.len() < 50 || ends.values().any(|&ends| ends < 2) {
        let message = referee.receive();
        match message["type"].as_str().expect("a type") {
            "start" => {
                seen.insert(message["id"].as_str().expect("the id of its open").to_owned());
            }
            "turn" => requests.push(message),
            "end" => {
                assert_eq!(message["ended_by"], "turn_limit");
                *ends.entry(message["match"].as_str().expect("an id").to_owned()).or_default() += 1;
            }
            "error" => {
                assert_eq!([&message["code"], &message["id"]], ["no_slot", "one more"]);
            }
            _ => {}
        }
        // All matches wait for an answer; then all are answered, the last first, in one write.
        if requests.len() == 50 - ends.len() && seen.len() == 50 {
            most = most.max(requests.len());
            let answers =
                requests.drain(..).rev().map(|turn| answer(&turn, &turn["legal"][0]).to_string() + "\n");
            referee.write(answers.collect::<String>());
        }
    }
    assert_eq!((seen.len(), most), (50, 50));
    referee.end().done();
    assert_eq!(files(&folder.path("records")).len(), 50);
    crate::common::referee(["verify", &records]).done();
}

#[test]
fn all_slots_can_be_reused_in_one_write() {
    let mut referee = host(&["--clock", "none"], 100);
    for _ in 0..2 {
        referee.write((open(won()).to_string() + "\n").repeat(100));
        let turns: Vec<Value> = (0..100).map(|_| referee.receive_type("turn")).collect();
        // All matches end, with no request in between.
        let answers = turns.iter().map(|turn| answer(turn, &json!("14x23")).to_string() + "\n");
        referee.write(answers.collect::<String>());
        for _ in 0..200 {
            assert_eq!(referee.receive_type("end")["ended_by"], "rules");
        }
    }
    referee.end().done();
}

#[test]
fn huge_numbers_are_handled_by_value() {
    let most = (1 << 53) - 1;
    for many in [256, (1 << 32) + 2, most] {
        let mut referee = host(&["--clock", "none"], many);
        referee.send(json!({"type": "open", "game": "checkers", "seats": many}));
        let refused = referee.receive();
        assert_eq!(refused["code"], "bad_setup");
        let why = format!("checkers is played with 2 seats, not {many}");
        assert_eq!(refused["message"], why);
        (0..2).for_each(|_| referee.send(open(won())));
        for _ in 0..2 {
            referee.receive_type("turn");
        }
        referee.end().done();
    }
    for protocol in [(1 << 32) + 1, most] {
        let mut referee = Referee::start(["stdio"]);
        referee.send(json!({"type": "hello", "protocol": protocol, "name": "host"}));
        assert_eq!(referee.receive_type("error")["code"], "unsupported_protocol");
        referee.end().with_code(5).says(&[&format!("protocol {protocol} is not spoken here")]);
    }
}

#[test]
fn the_referee_opens_matches_while_there_are_slots() {
    let folder = Folder::new();
    let records = folder.text("records");
    let args = ["checkers", "--matches", "5", "--set", "fen=B:W18:B14", "--record", &records, "--seed", SEED];
    let mut referee = host(&args, 2);
    let (mut running, mut most, mut deals) = (BTreeSet::new(), 0, Vec::new());
    let bye = loop {
        let message = referee.receive();
        let id = message["match"].clone().to_string();
        match message["type"].as_str().expect("a type") {
            "start" => {
                running.insert(id);
                most = most.max(running.len());
                referee.send(ready(&message));
            }
            "turn" => referee.send(answer(&message, &json!("14x23"))),
            "end" if message["seat"] == 1 => {
                running.remove(&id);
                deals.push(message["reveal"]["deal"].clone());
            }
            "bye" => break message,
            _ => {}
        }
    };
    assert_eq!(bye["reason"], "the run is over");
    assert_eq!(most, 2);
    deals.sort_by_key(ToString::to_string);
    assert_eq!(deals, ["m1", "m2", "m3", "m4", "m5"]);
    // It exits although its input is still open.
    referee.wait().done();
    assert_eq!(files(&folder.path("records")).len(), 5);
    crate::common::referee(["verify", &records]).done();
}

#[test]
fn a_host_that_leaves_early_gives_exit_code_1() {
    let folder = Folder::new();
    let records = folder.text("records");
    let args = ["checkers", "--matches", "3", "--set", "fen=B:W18:B14", "--record", &records];
    let mut referee = host(&args, 1);
    for _ in 0..2 {
        let start = referee.receive_type("start");
        referee.send(ready(&start));
    }
    let turn = referee.receive_type("turn");
    referee.send(answer(&turn, &json!("14x23")));
    assert_eq!(referee.receive_type("end")["ended_by"], "rules");
    referee.receive_type("start");
    referee.send(json!({"type": "bye"}));
    referee.wait().with_code(1);
    let result = |n: u32| the("result", &folder.record(&format!("records/m{n}.jsonl")))["ended_by"].clone();
    assert_eq!([result(1), result(2)], ["rules", "aborted"]);
    crate::common::referee(["verify", &records]).done();
}

#[test]
fn matches_are_aborted_and_recorded_at_the_end_of_input() {
    let folder = Folder::new();
    let records = folder.text("records");
    let mut referee = host(&["--record", &records], 2);
    referee.send(open(json!({})));
    referee.send(json!({"type": "open", "game": "checkers"}));
    let turn = referee.receive_type("turn");
    referee.send(answer(&turn, &json!("11-15")));
    referee.receive_type("turn");
    let ended = referee.end().done();
    let ends = ended.all("end");
    assert_eq!(ends.len(), 4, "every seat gets it: {ended:?}");
    assert!(ends.iter().all(|end| end["ended_by"] == "aborted" && end.get("ranks").is_none()), "{ends:?}");
    for id in ["m1", "m2"] {
        let record = folder.record(&format!("records/{id}.jsonl"));
        assert_eq!(the("result", &record)["ended_by"], "aborted");
    }
    crate::common::referee(["verify", &records]).done();
}

#[test]
fn host_gets_end_of_match_even_if_recording_fails() {
    let folder = Folder::new();
    let records = folder.text("records");
    let mut referee = host(&["--clock", "none", "--record", &records], 1);
    referee.send(open(won()));
    let turn = referee.receive_type("turn");
    std::fs::remove_dir_all(&records).expect("it can be removed");
    referee.send(answer(&turn, &turn["legal"][0]));
    let ended = referee.wait().with_code(5);
    let ended = ended.says(&["the record of m1 cannot be kept"]);
    assert!(ended.all("end").iter().all(|end| end["ended_by"] == "rules"), "{ended:?}");
    assert_eq!((ended.all("end").len(), ended.all("bye").len()), (2, 1), "{ended:?}");
}

#[test]
fn empty_standard_input_is_a_run_without_matches() {
    let ended = referee(["stdio"]).done();
    assert_eq!(ended.one("hello")["may_open"], true);
}

#[test]
fn standard_streams_may_be_files() {
    let folder = Folder::new();
    let resign = |id, seat| json!({"type": "resign", "match": id, "seat": seat});
    let lines = [
        json!({"type": "hello", "protocol": 1, "name": "file"}),
        json!({"type": "open", "game": "checkers"}),
        ready(&json!({"match": "m1", "seat": 0})),
        ready(&json!({"match": "m1", "seat": 1})),
        resign("m1", 1),
        open(won()),
        resign("m2", 0),
        json!({"type": "bye"}),
    ];
    let input = folder.write("input", lines.map(|line| line.to_string() + "\n").concat());
    let output = File::create(folder.path("output")).expect("a new file");
    let status = Command::new(env!("CARGO_BIN_EXE_referee"))
        .arg("stdio")
        .stdin(File::open(input).expect("it is there"))
        .stdout(output)
        .status();
    assert!(status.expect("it runs").success());
    let ends: Vec<Value> = folder.record("output").into_iter().filter(|line| line["type"] == "end").collect();
    let ends = ends.iter().map(|end| json!([end["match"], end["seat"], end["ranks"], end["reason"]]));
    let end = |id, seat, ranks| json!([id, seat, ranks, "resignation"]);
    assert_eq!(
        Vec::from_iter(ends),
        [end("m1", 0, [1, 2]), end("m1", 1, [1, 2]), end("m2", 0, [2, 1]), end("m2", 1, [2, 1])]
    );
}

#[test]
fn the_flags_of_the_streams_are_restored() {
    let (input, mut ours) = std::io::pipe().expect("a pipe");
    let (_theirs, output) = std::io::pipe().expect("a pipe");
    let is_blocking =
        |fd: &dyn std::os::fd::AsFd| !fcntl_getfl(fd).expect("flags").contains(OFlags::NONBLOCK);
    assert!(is_blocking(&input) && is_blocking(&output));
    let mut child = Command::new(env!("CARGO_BIN_EXE_referee"))
        .arg("stdio")
        .stdin(input.try_clone().expect("a second one"))
        .stdout(output.try_clone().expect("a second one"))
        .stderr(Stdio::inherit())
        .spawn()
        .expect("it starts");
    std::io::Write::write_all(&mut ours, b"{\"type\":\"bye\"}\n").expect("it reads");
    assert!(child.wait().expect("it ends").success());
    assert!(is_blocking(&input) && is_blocking(&output), "others share them");
}

#[test]
fn byte_order_mark_carriage_returns_and_empty_lines_are_ignored() {
    let mut referee = Referee::start(["stdio"]);
    referee.write("\u{feff}{\"type\":\"hello\",\"protocol\":1,\"name\":\"x\"}\r\n\r\n\n");
    referee.write(open(won()).to_string() + "\r\n");
    let turn = referee.receive_type("turn");
    referee.write(format!("  {} \r\n", answer(&turn, &json!("14x23"))));
    assert_eq!(referee.receive_type("end")["ranks"], json!([1, 2]));
    referee.end().done();
}

#[test]
fn an_answer_may_arrive_in_pieces() {
    let mut referee = host(&["--clock", "none"], 1);
    referee.send(open(won()));
    let turn = referee.receive_type("turn");
    for byte in (answer(&turn, &json!("14x23")).to_string() + "\n").bytes() {
        referee.write([byte]);
    }
    assert_eq!(referee.receive_type("end")["reason"], "no_pieces");
    referee.end().done();
}

#[test]
fn overlong_line_is_fault_and_its_rest_skipped() {
    let mut referee = host(&["--clock", "none", "--on-fault", "random"], 1);
    referee.send(open(json!({"turn_limit": 2})));
    referee.receive_type("turn");
    referee.write("x".repeat(100_000) + "\n");
    let error = referee.receive_type("error");
    assert_eq!([&error["code"], &error["seat"]], [&json!("line_too_long"), &json!(0)]);
    let turn = referee.receive_type("turn");
    assert_eq!(turn["seat"], 1);
    referee.send(answer(&turn, &turn["legal"][0]));
    assert_eq!(referee.receive_type("end")["ended_by"], "turn_limit");
    referee.end().done();
}

#[test]
fn a_line_that_is_not_utf8_is_malformed() {
    let mut referee = host(&["--clock", "none"], 1);
    referee.send(open(won()));
    referee.receive_type("turn");
    referee.write(b"{\"type\":\"move\",\"match\":\"m1\",\"seat\":0,\"turn\":0,\"move\":\"\xff\"}\n");
    let end = referee.receive_type("end");
    assert_eq!(end["fault"], json!({"seat": 0, "code": "malformed", "detail": "the line is not UTF-8"}));
    referee.end().done();
}

#[test]
fn a_flooding_host_is_disconnected() {
    let mut referee = host(&["--clock", "none"], 1);
    referee.send(open(json!({})));
    referee.receive_type("turn");
    referee.write("{\"type\":\"pong\",\"id\":1}\n".repeat(65));
    assert_eq!(referee.receive_type("error")["code"], "protocol");
    let ended = referee.wait().done();
    assert_eq!(ended.all("bye").len(), 1, "{ended:?}");
    assert_eq!(ended.all("end").len(), 2, "{ended:?}");
}

#[test]
fn too_many_out_of_state_messages_are_a_protocol_fault() {
    let mut referee = host(&["--clock", "none"], 1);
    referee.send(open(json!({})));
    let turn = referee.receive_type("turn");
    for _ in 0..20 {
        referee.send(json!({"type": "ready", "match": "m1", "seat": 0}));
        assert_eq!(referee.receive_type("error")["code"], "out_of_state");
    }
    referee.send(answer(&turn, &turn["legal"][0]));
    referee.receive_type("turn");
    referee.send(json!({"type": "ready", "match": "m1", "seat": 0}));
    let end = referee.receive_type("end");
    assert_eq!([&end["fault"]["seat"], &end["fault"]["code"]], [&json!(0), &json!("protocol")]);
    referee.end().done();
}

#[test]
fn info_is_recorded_up_to_its_maximum_size() {
    let folder = Folder::new();
    let records = folder.text("records");
    let mut referee = host(&["--record", &records], 1);
    referee.send(open(json!({"turn_limit": 2})));
    let turn = referee.receive_type("turn");
    let mut with_info = answer(&turn, &turn["legal"][0]);
    with_info["info"] = json!({"score": -7, "text": "ä \"quoted\""});
    referee.send(with_info);
    let turn = referee.receive_type("turn");
    let mut with_info = answer(&turn, &turn["legal"][0]);
    with_info["info"] = json!({"pv": "x".repeat(4096)});
    referee.send(with_info);
    assert_eq!(referee.receive_type("error")["code"], "info_dropped");
    assert_eq!(referee.receive_type("end")["ended_by"], "turn_limit");
    referee.end().done();
    let record = folder.record("records/m1.jsonl");
    let answers: Vec<&Value> = record.iter().filter(|line| line["type"] == "answer").collect();
    assert_eq!(answers[0]["info"], json!({"score": -7, "text": "ä \"quoted\""}));
    assert_eq!(answers[1].get("info"), None);
    assert_eq!(the("result", &record)["faults"], json!([{}, {}]));
    crate::common::referee(["verify", &records]).done();
}

#[test]
fn thinking_is_deducted_from_bank_and_retries_show_rest() {
    let folder = Folder::new();
    let records = folder.text("records");
    let args = ["--clock", "bank=100s,increment=3s", "--on-fault", "retry=1", "--record", &records];
    let mut referee = host(&args, 1);
    referee.send(open(json!({})));
    let first = referee.receive_type("turn");
    assert_eq!(first["clock"], json!({"bank_ms": 100_000, "limit_ms": 100_000}));
    std::thread::sleep(Duration::from_millis(200));
    referee.send(answer(&first, &json!("1-32")));
    let second = referee.receive_type("turn");
    assert_eq!(second["retry"]["of"], 0);
    assert_eq!(second["clock"]["bank_ms"], 100_000, "it is that of the first request");
    assert!(second["clock"]["limit_ms"].as_u64() <= Some(99_800), "{}", second["clock"]);
    std::thread::sleep(Duration::from_millis(200));
    referee.send(answer(&second, &second["legal"][0]));
    let other = referee.receive_type("turn");
    assert_eq!(other["clock"], first["clock"], "the other seat pays nothing");
    referee.send(answer(&other, &other["legal"][0]));
    let third = referee.receive_type("turn");
    let bank = third["clock"]["bank_ms"].as_u64().expect("a number");
    referee.send(json!({"type": "abort", "match": "m1"}));
    referee.end().done();
    // The last answer took the time of both requests. The referee's own lag with each is not billed.
    let record = folder.record("records/m1.jsonl");
    let answers = record.iter().filter(|line| line["type"] == "answer" && line["seat"] == 0);
    let [took, lag] = ["took_us", "lag_us"]
        .map(|key| answers.clone().map(|line| line[key].as_u64().expect("a number")).collect::<Vec<u64>>());
    assert!(took[1] >= 400_000, "{took:?}");
    let left = |lag: u64| (103_000_000 - (took[1] - lag)) / 1000;
    assert!(
        (left(0)..=left(lag.iter().sum())).contains(&bank),
        "{bank} ms after {took:?} us with a lag of {lag:?} us"
    );
    crate::common::referee(["verify", &records]).done();
}

#[test]
fn messages_that_a_host_does_not_want_are_omitted() {
    let mut referee = Referee::start(["stdio"]);
    referee.send(json!({"type": "hello", "protocol": 1, "name": "host", "wants": []}));
    referee.send(open(json!({"turn_limit": 3})));
    for text in ["11-15", "23-19", "8-11"] {
        let turn = referee.receive_type("turn");
        assert_eq!([turn.get("view"), turn.get("legal")], [None, None]);
        referee.send(answer(&turn, &json!(text)));
    }
    let end = referee.receive();
    assert_eq!([&end["type"], &end["ended_by"]], ["end", "turn_limit"], "no event came before it");
    referee.end().done();
}

#[test]
fn the_run_seed_determines_all_randomness() {
    let starts = |args: &[&str]| -> Vec<String> {
        let mut referee = host(args, 3);
        (0..3).for_each(|_| referee.send(open(json!({}))));
        let commitment = |_| referee.receive_type("start")["commitment"].to_string();
        let all: Vec<String> = (0..6).map(commitment).collect();
        referee.end();
        all
    };
    let (one, two) = (starts(&["--seed", SEED]), starts(&["--seed", SEED]));
    assert_eq!(one, two);
    assert_eq!(one.iter().collect::<BTreeSet<_>>().len(), 3, "each match has its own");
    let (three, four) = (starts(&[]), starts(&[]));
    assert_eq!([&one, &three, &four].iter().copied().flatten().collect::<BTreeSet<_>>().len(), 9);
}

#[test]
fn the_commitment_matches_the_revealed_seed() {
    use sha2::Digest;
    let mut referee = host(&[], 1);
    let mut opening = open(json!({}));
    opening["seed"] = json!("7".repeat(64));
    referee.send(opening);
    let commitment = referee.receive_type("start")["commitment"].clone();
    referee.send(json!({"type": "abort", "match": "m1"}));
    let reveal = referee.receive_type("end")["reveal"].clone();
    assert_eq!(reveal["seed"], "7".repeat(64));
    let bytes = |field: &str| {
        let digits = reveal[field].as_str().expect("hex");
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex"))
    };
    let both: Vec<u8> = bytes("salt").chain(bytes("seed")).collect();
    let hash: String = sha2::Sha256::digest(both).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(commitment, hash);
    referee.end().done();
}

#[test]
fn host_that_stops_reading_ends_run_without_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_referee"))
        .args(["stdio", "--clock", "none"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("piped");
    let hello = json!({"type": "hello", "protocol": 1, "name": "host"}).to_string();
    // The referee may have closed its end already.
    let _ = std::io::Write::write_all(&mut input, format!("{hello}\n{}\n", open(json!({}))).as_bytes());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_silent_host_is_disconnected_with_the_reason() {
    let silent = Referee::start(["stdio", "--hello-limit", "200ms"]).wait().with_code(5);
    assert!(silent.stderr.contains("no `hello` within 200 ms"), "{}", silent.stderr);
}

#[test]
fn a_host_may_leave_without_reading_what_was_sent() {
    let mut referee = Command::new(env!("CARGO_BIN_EXE_referee"))
        .args(["stdio", "--clock", "none"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = referee.stdin.take().unwrap();
    let hello = json!({"type": "hello", "protocol": 1, "name": "host", "slots": 64});
    writeln!(input, "{hello}").unwrap();
    // Their first messages are more than a pipe holds.
    for _ in 0..60 {
        let open = json!({"type": "open", "game": "keezen", "seats": 6, "auto_ready": true});
        writeln!(input, "{open}").unwrap();
    }
    drop(input);
    let status = referee.wait().unwrap();
    let ended = referee.wait_with_output().unwrap();
    assert!(status.success(), "{status}: {}", String::from_utf8_lossy(&ended.stderr));
    assert!(ended.stdout.starts_with(b"{\"type\":\"hello\""));
}

#[test]
fn a_host_may_leave_after_any_line() {
    let lines = [
        json!({"type": "move", "match": "x", "seat": 0, "turn": 0, "move": "a"}),
        json!({"type": "abort", "match": "m1"}),
        json!({"type": "abort", "match": "m60"}),
    ];
    let hello = json!({"type": "hello", "protocol": 1, "name": "host", "slots": 64});
    // In all they have a few bytes more than the referee reads at once.
    let open = r#"{"type": "open", "game": "keezen", "seats": 6, "auto_ready": true}"#;
    for line in lines.iter().cycle().take(9) {
        let mut referee = Referee::start(["stdio", "--clock", "none"]);
        referee.write(format!("{hello}\n{}{line}\n", format!("{open}\n").repeat(60)));
        referee.end().with_code(0);
    }
}
