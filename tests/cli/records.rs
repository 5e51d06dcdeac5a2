//! `referee verify` on real records, valid and modified.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::common::{Folder, ROOT, SEED, referee, the};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A match with a retried fault, a draw offer and search information, won by resignation.
pub(crate) fn record() -> &'static str {
    static RECORD: OnceLock<String> = OnceLock::new();
    RECORD.get_or_init(|| {
        let folder = Folder::new();
        let eventful = folder.bot(
            "eventful",
            "def turn(t):
    if t['turn'] == 1:
        move(t, '1-32')
    elif t['turn'] == 2:
        move(t, t['legal'][0], offer_draw=True, info={'score': 12})
    elif t['turn'] == 4:
        say(type='resign', match=t['match'])
    else:
        first(t)
play(turn=turn, start=lambda s: ready(s, nonce='00ff'))",
        );
        let plain = folder.plain_bot("plain");
        let records = folder.text("records");
        let args = ["play", "checkers", &eventful, &plain, "--on-fault", "retry=1", "--seed", SEED];
        referee(args.into_iter().chain(["--record", &records])).done();
        folder.read("records/m1.jsonl")
    })
}

/// A record with a fallback move, which depends on chance.
pub(crate) fn played_over() -> &'static str {
    static RECORD: OnceLock<String> = OnceLock::new();
    RECORD.get_or_init(|| {
        let folder = Folder::new();
        let illegal = folder.bot("illegal", "play(turn=lambda t: move(t, '1-32'))");
        let plain = folder.plain_bot("plain");
        let records = folder.text("records");
        let args = ["play", "checkers", &illegal, &plain, "--on-fault", "random", "--set", "turn_limit=3"];
        referee(args.into_iter().chain(["--seed", SEED, "--record", &records])).done();
        folder.read("records/m1.jsonl")
    })
}

/// The number of the line of this type with this text, counted from 1.
#[track_caller]
pub(crate) fn line_of(record: &str, kind: &str, text: &str) -> usize {
    let kind = format!("{{\"type\":\"{kind}\"");
    let found = record.lines().position(|line| line.starts_with(&kind) && line.contains(text));
    1 + found.unwrap_or_else(|| panic!("no {kind} with {text}"))
}

/// The record with `from` replaced by `to` in one line.
#[track_caller]
pub(crate) fn changed(record: &str, line: usize, from: &str, to: &str) -> String {
    let mut lines: Vec<String> = record.lines().map(str::to_owned).collect();
    let new = lines[line - 1].replacen(from, to, 1);
    assert_ne!(lines[line - 1], new, "`{from}` is not in the line");
    lines[line - 1] = new;
    lines.join("\n") + "\n"
}

/// The record with a new seal, as an attacker would produce it.
pub(crate) fn resealed(record: &str) -> String {
    let body = &record[..record.trim_end().rfind('\n').expect("more than a line") + 1];
    let hash: String = Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
    let seal = &record[body.len()..];
    let at = seal.find("\"sha256\":\"").expect("a seal") + "\"sha256\":\"".len();
    format!("{body}{}{hash}{}", &seal[..at], &seal[at + 64..])
}

// ---- verify ----

#[test]
fn a_valid_record_is_ok() {
    let folder = Folder::new();
    let file = folder.write("m1.jsonl", record());
    assert_eq!(referee(["verify", &file]).done().stdout, format!("{file}: ok\n"));
    let ended = referee(["verify", &file, "--json"]).done();
    assert_eq!(ended.one("record"), json!({"type": "record", "file": file, "ok": true, "differences": []}));
    assert_eq!(ended.one("summary"), json!({"type": "summary", "records": 1, "differing": 0}));
}

#[test]
fn a_changed_byte_breaks_the_seal() {
    let folder = Folder::new();
    let line = line_of(record(), "bots", "");
    let file = folder.write("m1.jsonl", changed(record(), line, "\"stderr\":\"\"", "\"stderr\":\"x\""));
    let ended = referee(["verify", &file]).with_code(1);
    let last = record().lines().count();
    assert_eq!(
        ended.stdout,
        format!(
            "{file}: line {last}, match m1: the SHA-256 in the seal is not that of the record: it was changed after \
             it was sealed\n"
        )
    );
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_resealed_change_is_detected_by_the_rules() {
    let folder = Folder::new();
    let (record, random) = (record(), played_over());
    let second = line_of(record, "answer", "\"turn\":2");
    let result = line_of(record, "result", "");
    let fallback = line_of(random, "fallback", "");
    let first_move = line_of(random, "event", "");
    for (what, tampered, line, says) in [
        ("a move", changed(record, second, "\"move\":\"", "\"move\":\"3-32"), second + 1, "illegal_move"),
        ("a draw offer", changed(record, second, ",\"offer_draw\":true", ""), second + 2, "draw_offered"),
        ("an answer in time", changed(record, second, "\"took_us\":", "\"took_us\":7"), second, "took_us"),
        ("ranks", changed(record, result, "[2,1]", "[1,2]"), result, "\\\"ranks\\\":[2,1]"),
        ("faults", changed(record, result, "{\"illegal_move\":1}", "{}"), result, "illegal_move"),
        ("decisions", changed(record, result, "\"decisions\":", "\"decisions\":1"), result, "decisions"),
        ("the clock", changed(record, 1, "\"bank_ms\":60000", "\"bank_ms\":-1"), 1, "integer `-1`"),
        ("a game", changed(record, 1, "\"checkers\"", "\"ludo\""), 1, "unknown game `ludo`"),
        ("the rules version", changed(record, 1, "\"rules\":1", "\"rules\":2"), 1, "rules version 2"),
        ("the format", changed(record, 1, "\"format\":2", "\"format\":9"), 1, "record format 9"),
        ("the policy", changed(record, 1, "\"retry=1\"", "\"forfeit\""), second - 1, "result"),
        (
            "a move of the referee",
            changed(random, fallback, "\"move\":\"", "\"move\":\"3-"),
            fallback,
            "fallback",
        ),
        ("an event", changed(random, first_move, "\"seat\":0", "\"seat\":1"), first_move, "the rules give"),
    ] {
        let file = folder.write("tampered.jsonl", resealed(&tampered));
        let ended = referee(["verify", &file, "--json"]).with_code(1);
        let verified = ended.one("record");
        assert_eq!(verified["ok"], false, "{what}");
        let differences = verified["differences"].as_array().expect("a list");
        assert_eq!(differences.len(), 1, "{what}: {verified}");
        assert_eq!(differences[0]["line"], line, "{what}: {verified}");
        assert!(verified.to_string().replace("\\\\", "\\").contains(says), "{what}: {verified}");
        assert_eq!(ended.one("summary")["differing"], 1);
    }
}

#[test]
fn a_missing_or_duplicate_line_is_detected() {
    let folder = Folder::new();
    let lines: Vec<&str> = record().lines().collect();
    for kind in ["ready", "request", "answer", "fault", "event", "resign", "result", "bots"] {
        let at = line_of(record(), kind, "") - 1;
        let twice = [&lines[..=at], &lines[at..]].concat().join("\n") + "\n";
        let file = folder.write("twice.jsonl", resealed(&twice));
        let ended = referee(["verify", &file]).with_code(1);
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
        if kind == "bots" {
            continue; // it is absent where the referee started no process
        }
        let without = [&lines[..at], &lines[at + 1..]].concat().join("\n") + "\n";
        let file = folder.write("without.jsonl", resealed(&without));
        let ended = referee(["verify", &file]).with_code(1);
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    }
}

#[test]
fn a_difference_is_reported_with_match_turn_and_line() {
    let folder = Folder::new();
    let line = line_of(record(), "event", "\"kind\":\"draw_offered\"");
    let file = folder.write("m1.jsonl", resealed(&changed(record(), line, "\"seat\":0", "\"seat\":1")));
    let ended = referee(["verify", &file]).with_code(1);
    let output = format!("{file}: line {line}, match m1, turn 2: recorded `");
    assert!(ended.stdout.starts_with(&output), "{}", ended.stdout);
    assert!(ended.stdout.contains("`, but the rules give `{\"type\":\"event\""), "{}", ended.stdout);
}

#[test]
fn another_seed_contradicts_the_commitment() {
    let folder = Folder::new();
    let seal = line_of(played_over(), "seal", "");
    let seed = the(
        "seal",
        &Vec::from_iter(played_over().lines().map(|l| serde_json::from_str(l).expect("JSON"))),
    )["reveal"]["seed"]
        .as_str()
        .expect("hex")
        .to_owned();
    let file = folder.write("m1.jsonl", changed(played_over(), seal, &seed, &"7".repeat(64)));
    let ended = referee(["verify", &file, "--json"]).with_code(1);
    let differences = ended.one("record")["differences"].clone();
    let first = differences[0]["what"].as_str().expect("text");
    assert_eq!(first, "the revealed seed and salt do not give the commitment of line 1");
    assert!(
        differences[1]["what"].as_str().expect("text").contains("fallback"),
        "its chance is another, too"
    );
}

#[test]
fn an_incomplete_record_is_reported_without_a_panic() {
    let folder = Folder::new();
    let record = record();
    let in_the_middle = &record[..record.len() / 2];
    let without_seal =
        record.lines().filter(|line| !line.contains("\"seal\"")).collect::<Vec<_>>().join("\n") + "\n";
    for (what, text, says) in [
        ("empty", b"".to_vec(), "line 1: a record begins with a line of type `record`"),
        (
            "not JSON",
            b"hello\n".to_vec(),
            "line 1: a record begins with a line of type `record`: not a JSON object",
        ),
        ("not UTF-8", b"\xff\xfe\n".to_vec(), "line 1: a record begins with a line of type `record`"),
        ("another object", b"{\"type\":\"hello\"}\n".to_vec(), "it is of type `hello`"),
        (
            "the header alone",
            record.lines().next().expect("a line").as_bytes().to_vec(),
            "the record is cut off",
        ),
        ("cut off", in_the_middle.as_bytes().to_vec(), "the record is cut off: it does not end with a seal"),
        ("without its seal", without_seal.into_bytes(), "the record is cut off"),
        ("more after the end", (record.to_owned() + "{}\n").into_bytes(), "the record is cut off"),
    ] {
        let file = folder.write("broken.jsonl", &text);
        let ended = referee(["verify", &file]).with_code(1);
        assert!(
            ended.stdout.starts_with(&format!("{file}: line ")) && ended.stdout.contains(says),
            "{what}: {ended:?}"
        );
        assert_eq!(ended.stderr, "", "{what}");
        referee(["show", &file]).with_code(1).says(&[&format!("error: {file}: line ")]);
    }
}

/// Corrupt lines in place of the second answer, and the error.
const CORRUPT: [(&[u8], &str); 8] = [
    (b"", "not a JSON object"),
    (b"garbage", "not a JSON object"),
    (b"{}", "missing field `type`"),
    (b"{\"type\":\"answer\",\"at_us\":1", "EOF while parsing an object"),
    (b"{\"type\":\"answer\",\"at_us\":1,\"turn\":1}", "missing field `seat`"),
    (b"{\"type\":\"novelty\",\"at_us\":1}", "unknown type `novelty`"),
    (b"{\"type\":\"fault\",\"at_us\":1,\"seat\":0,\"code\":\"rude\"}", "unknown code `rude`"),
    (b"{\"type\":\"fallback\",\"at_us\":1,\"seat\":0,\"move\":\"\xff\"}", "invalid utf-8 sequence"),
];

#[test]
fn a_corrupt_line_is_an_error_with_file_and_line() {
    let folder = Folder::new();
    let line = line_of(record(), "answer", "\"turn\":2");
    for (corrupt, says) in CORRUPT {
        let mut lines: Vec<&[u8]> = record().trim_end().split('\n').map(str::as_bytes).collect();
        lines[line - 1] = corrupt;
        let seal = lines.len() - 1;
        let hash = Sha256::digest([lines[..seal].join(&b'\n'), b"\n".to_vec()].concat());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut last = String::from_utf8(lines[seal].to_vec()).unwrap();
        let at = last.len() - "\"}".len() - hash.len();
        last.replace_range(at..at + hash.len(), &hash);
        lines[seal] = last.as_bytes();
        let file = folder.write("corrupt.jsonl", [lines.join(&b'\n'), b"\n".to_vec()].concat());
        let error = format!("{file}: line {line}, match m1, turn 2: no line of a record: ");
        let verified = referee(["verify", &file]).with_code(1).stdout;
        assert!(verified.starts_with(&error) && verified.contains(says), "{says}: {verified}");
        let outcome = folder.text("outcome");
        for command in [
            &["show", &file][..],
            &["show", &file, "--svg", "-o", &outcome],
            &["show", &file, "--html", "-o", &outcome],
            &["export", &file, "--format", "pdn"],
        ] {
            referee(command).with_code(1).says(&[&error, says]);
        }
        assert!(!folder.path("outcome").exists(), "{says}");
    }
}

#[test]
fn several_files_and_directories_are_all_verified() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("many")).expect("a new folder");
    let bad = changed(record(), 1, "\"margin_ms\":20", "\"margin_ms\":21");
    for (name, text) in [("a.jsonl", record()), ("b.jsonl", bad.as_str()), ("notes.txt", "mine")] {
        folder.write(&format!("many/{name}"), text);
    }
    let one = folder.write("one.jsonl", played_over());
    let many = folder.text("many");
    let ended = referee(["verify", &one, &many]).with_code(1);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines[0], format!("{one}: ok"));
    assert_eq!(lines[1], format!("{many}/a.jsonl: ok"));
    assert!(lines[2].starts_with(&format!("{many}/b.jsonl: line ")), "{}", lines[2]);
    assert_eq!(*lines.last().expect("a line"), "3 records, 1 differ");
    let ended = referee(["verify", &one, &many, "--json"]).with_code(1);
    let ok: Vec<Value> = ended.all("record").into_iter().map(|line| line["ok"].clone()).collect();
    assert_eq!(ok, [true, true, false]);
    assert_eq!(ended.one("summary"), json!({"type": "summary", "records": 3, "differing": 1}));
}

#[test]
fn record_of_line_breaks_takes_little_memory() {
    let folder = Folder::new();
    let (first, last) = (record().lines().next().unwrap(), record().lines().last().unwrap());
    let mut text = format!("{first}\n").into_bytes();
    text.resize(text.len() + (128 << 20), b'\n');
    text.extend_from_slice(last.as_bytes());
    let file = folder.write("breaks.jsonl", text);
    let mut shell = std::process::Command::new("sh");
    // 768 MiB: a list of the lines would take 2 GiB.
    shell.args(["-c", "ulimit -v 786432; exec \"$0\" verify \"$1\"", env!("CARGO_BIN_EXE_referee"), &file]);
    let ended = crate::common::Referee::start_as(&mut shell).end().with_code(1);
    assert!(ended.stdout.contains("a record has at most 16777216 lines"), "{}", ended.stdout);
}

/// The memory of `referee verify` for a file, in MiB.
fn memory_to_verify(file: &str) -> u64 {
    let script = "import resource, subprocess, sys
ended = subprocess.run(sys.argv[1:], capture_output=True, text=True)
print(ended.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, ended.stderr)";
    let args = ["-c", script, env!("CARGO_BIN_EXE_referee"), "verify", file];
    let output = std::process::Command::new("python3").args(args).output().expect("python runs");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let (code, rest) = said.split_once(' ').expect("a code");
    let (memory, what) = rest.split_once(' ').expect("a number");
    assert_eq!(code, "2", "{said}");
    assert!(what.contains("decompress it first") || what.contains("too large for the page"), "{said}");
    memory.parse().expect("a number")
}

#[test]
fn a_small_file_cannot_take_much_memory() {
    let folder = Folder::new();
    // 400 MiB in 0.4 MB, and a record of 400 MB in a page of less than 3 kB.
    let write = "import base64, gzip, sys, zlib
with open(sys.argv[1], 'wb') as file:
    file.write(gzip.compress(bytes(1 << 20)) * 400)
record = '{\"templates\":[\"%s\"],\"lines\":[0%s],\"numbers\":{},\"texts\":{}}' % ('x' * 1000, ',0' * 400000)
page = base64.b64encode(zlib.compress(('{\"matches\":[{\"record\":%s}]}' % record).encode(), 9))
head = b'<!DOCTYPE html><script type=\"text/plain\" id=\"data\">'
open(sys.argv[2], 'wb').write(head + page + b'</script>')";
    let (packed, page) = (folder.text("bomb.jsonl.gz"), folder.text("bomb.html"));
    let written = std::process::Command::new("python3").args(["-c", write, &packed, &page]).status();
    assert!(written.expect("python runs").success());
    assert!(std::fs::metadata(&packed).unwrap().len() < 1_000_000);
    assert!(std::fs::metadata(&page).unwrap().len() < 3_000);
    for file in [packed, page] {
        let memory = memory_to_verify(&file);
        assert!(memory < 300, "{memory} MiB for {file}");
    }
}

#[test]
fn missing_files_and_empty_directories_are_usage_errors() {
    let folder = Folder::new();
    let (missing, empty) = (folder.text("missing.jsonl"), folder.text(""));
    let empty = empty.trim_end_matches('/');
    referee(["verify", &missing]).with_code(2).says(&[&format!("{missing}: No such file or directory")]);
    referee(["show", &missing]).with_code(2).says(&[&format!("{missing}: No such file or directory")]);
    let holds_none = format!("{empty} contains no records (*.jsonl, *.html, *.pdn, *.pgn)");
    referee(["verify", empty]).with_code(2).says(&[holds_none.replace("//", "/").as_str()]);
}

#[test]
fn the_record_in_the_specification_is_valid() {
    let page =
        std::fs::read_to_string(format!("{ROOT}/protocol/spec/records.md")).expect("the page can be read");
    let record =
        page.split("```record\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a record");
    let folder = Folder::new();
    let file = folder.write("m1.jsonl", record);
    referee(["verify", &file]).done();
}

// ---- show ----

#[test]
fn a_reader_that_closes_early_is_no_error() {
    let folder = Folder::new();
    let file = folder.write("m1.jsonl", record());
    for args in [["show", &file], ["verify", &file]] {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", "\"$0\" \"$@\" | head -c 1 >/dev/null; exit \"${PIPESTATUS[0]}\""]);
        shell.arg(env!("CARGO_BIN_EXE_referee")).args(args);
        crate::common::Referee::start_as(&mut shell).end().done();
    }
}

#[test]
fn another_field_in_the_line_of_the_bots_is_refused() {
    let folder = Folder::new();
    let line = line_of(record(), "bots", "");
    let odd = resealed(&changed(record(), line, "\"type\":\"bots\",", "\"type\":\"bots\",\"seat\":200,"));
    let file = folder.write("m1.jsonl", odd);
    for command in ["verify", "show"] {
        let ended = referee([command, &file]).with_code(1);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains("line 31") && said.contains("unknown field `seat`"), "{said}");
    }
}

// ---- text of bots ----

/// `tests/fixtures/records` keeps records in the format as it is, of every game, fault and kind of line. Real matches wrote
/// them.
#[test]
fn kept_records_verify_and_export() {
    let folder = std::path::Path::new(ROOT).join("tests/fixtures/records");
    let text = folder.to_str().expect("a path");
    let count = crate::common::files(&folder).len();
    let summary = referee(["verify", text]).done().stdout;
    assert!(summary.contains(&format!("{count} records, 0 differ")), "{summary}");
    referee(["export", &format!("{text}/checkers.jsonl"), "--format", "pdn"]).done();
    referee(["export", &format!("{text}/chess.jsonl"), "--format", "pgn"]).done();
    let (mut games, mut faults, mut kinds) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for name in crate::common::files(&folder) {
        for line in std::fs::read_to_string(folder.join(name)).expect("a record").lines() {
            let line: Value = serde_json::from_str(line).expect("a line");
            let word = |key: &str| line[key].as_str().expect("a word").to_owned();
            match &*word("type") {
                "record" => drop(games.insert(word("game"))),
                "fault" => drop(faults.insert(word("code"))),
                _ => {}
            }
            kinds.insert(word("type"));
        }
    }
    let listed = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    assert_eq!(listed(&games), "checkers chess jeex keezen saxum xe_queo");
    assert_eq!(
        listed(&faults),
        "disconnected exited illegal_move line_too_long malformed no_start protocol stalled timeout"
    );
    assert_eq!(
        listed(&kinds),
        "abort accept_draw answer bots draw event fallback fault pause ready record request resign restart result seal \
         start stray"
    );
}
