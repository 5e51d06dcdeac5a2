//! `referee show` on real records.

use crate::common::{Folder, WON, on_a_terminal, referee};
use crate::records::{changed, line_of, played_over, record, resealed};
use serde_json::json;

#[test]
fn a_match_is_shown_with_boards_and_events() {
    let folder = Folder::new();
    let file = folder.write("m1.jsonl", record());
    let shown = referee(["show", &file]).done().stdout;
    assert!(
        shown.starts_with("m1 checkers: eventful - plain\n 1 |     b     b     b     b | 4\n"),
        "{shown}"
    );
    let marks = [
        "  1. eventful: 10-14\n",
        "  2. plain: ",
        "     fault of eventful: illegal_move",
        "  3. eventful: ",
        "     eventful offers a draw\n",
        "  4. plain: ",
        "     eventful resigns\n",
        "ended: resignation, ranks [2, 1]\n",
    ];
    let mut rest = shown.as_str();
    for mark in marks {
        let at = rest.find(mark).unwrap_or_else(|| panic!("`{mark}` is not where it should be in: {shown}"));
        rest = &rest[at + mark.len()..];
    }
    assert_eq!(rest, "", "that is all");
    // The initial position, and one after each move.
    assert_eq!(
        shown.matches("\n29 |").count(),
        1 + shown.matches(". plain: ").count() + shown.matches(". eventful: ").count()
    );
    assert!(!shown.contains('\x1b'), "no terminal, no escape codes");
}

#[test]
fn match_can_be_shown_as_seat_or_spectator() {
    let folder = Folder::new();
    let file = folder.write("m1.jsonl", record());
    let all = referee(["show", &file, "--view", "all"]).done().stdout;
    // Checkers hides nothing.
    for view in ["public", "0", "1"] {
        assert_eq!(referee(["show", &file, "--view", view]).done().stdout, all, "{view}");
    }
    referee(["show", &file, "--view", "2"]).with_code(2).says(&["--view 2: the seats are 0 to 1"]);
    referee(["show", &file, "--view", "me"])
        .with_code(2)
        .says(&["invalid viewer `me`; expected `all`, `public` or the number of a seat"]);
}

#[test]
fn a_modified_record_is_shown_up_to_the_difference() {
    let folder = Folder::new();
    let line = line_of(record(), "result", "");
    let file = folder.write("m1.jsonl", resealed(&changed(record(), line, "[2,1]", "[1,2]")));
    let ended = referee(["show", &file]).with_code(1);
    assert!(ended.stdout.contains("  4. plain: "), "{}", ended.stdout);
    ended.says(&[&format!("error: {file}: line {line}, match m1, turn 4: recorded `")]);
}

#[test]
fn fallback_moves_and_aborts_are_shown() {
    let folder = Folder::new();
    let file = folder.write("m1.jsonl", played_over());
    let shown = referee(["show", &file]).done().stdout;
    assert!(shown.contains("     fault of illegal: illegal_move"), "{shown}");
    assert!(shown.contains("     the referee plays for illegal\n"), "{shown}");
    assert!(shown.ends_with("ended: turn limit, ranks [1, 1]\n"), "{shown}");

    let records = folder.text("records");
    let mut host = crate::common::Referee::start(["stdio", "--record", &records]);
    host.send(json!({"type": "hello", "protocol": 1, "name": "host"}));
    host.send(json!({"type": "open", "game": "checkers"}));
    host.receive_type("start");
    host.end().done();
    let shown = referee(["show", &format!("{records}/m1.jsonl")]).done().stdout;
    assert!(shown.contains("     broken off: the other end left\n"), "{shown}");
    assert!(shown.ends_with("ended: aborted\n"), "{shown}");
}

#[test]
fn moves_are_bold_on_a_terminal() {
    let folder = Folder::new();
    let file = folder.write("m1.jsonl", record());
    let shown = on_a_terminal(&[], &["show", &file]).end().with_code(0).stdout;
    assert!(shown.contains("\x1b[1m  1. eventful: 10-14\x1b[0m"), "{shown}");
}

/// Characters that end a line for some readers, or control a terminal.
fn acts(c: char) -> bool {
    (c.is_control() && !"\n\t".contains(c)) || "\u{2028}\u{2029}\u{202e}\u{2066}".contains(c)
}

#[test]
fn text_of_bots_is_escaped_on_terminals() {
    let folder = Folder::new();
    let script = r#"BAD = "\x1b]0;x\x07\x1b[2J\r\x7f\x85\x9b31m\u2028\u2029\u202e\u2066"
print(BAD, file=sys.stderr, flush=True)
def raw(t, rest):
    head = '{"type":"move","match":"%s","turn":%d,' % (t['match'], t['turn'])
    os.write(1, (head + rest + '}\n').encode())
def turn(t):
    if t['turn'] == 0:
        raw(t, '"move":' + json.dumps(BAD, ensure_ascii=False))
    elif t['turn'] == 1:
        raw(t, '"move":"%s","info":{\r"a":1e999,"b":"\x85\u2028\x9b"}' % t['legal'][0])
    else:
        raw(t, '"\x9b\u202e":1,"\x9b\u202e":1')
play(turn=turn)"#;
    let (hostile, plain) = (folder.bot("hostile", script), folder.plain_bot("plain"));
    let records = folder.text("records");
    let options = ["--on-fault", "retry=1", "--record", &records];
    let args = ["--log-level", "trace", "play", "checkers", &hostile, &plain];
    let played = referee(args.into_iter().chain(options)).with_code(0);
    let file = format!("{records}/m1.jsonl");
    let record = folder.read("records/m1.jsonl");
    line_of(&record, "result", "\"reason\":\"malformed\"");
    assert!(record.contains("1e999"), "{record}");
    referee(["verify", &file]).done();
    let tampered = folder.write("m2.jsonl", resealed(&changed(&record, 1, "\"plain\"", "\"p\u{9b}\"")));
    let outputs = [
        played,
        referee(["show", &file]).done(),
        referee(["show", &tampered]),
        referee(["verify", &tampered]),
        referee(["verify", &tampered, "--json"]),
        referee(["export", &file, "--format", "pdn"]).done(),
        referee(["check", "checkers", &hostile, "--junit", &folder.text("check.xml")]),
        referee(["check", "checkers", &hostile, "--json"]),
        referee(["play", "checkers", &hostile, &plain, "--json"]),
    ];
    let xml = folder.read("check.xml");
    let texts = outputs.iter().flat_map(|ended| [&ended.stdout, &ended.stderr]).chain([&record, &xml]);
    for text in texts {
        assert!(!text.contains(acts), "{text:?}");
    }
}

#[test]
fn viewing_a_missing_seat_is_a_usage_error() {
    let folder = Folder::new();
    let records = folder.text("records");
    let mut host = crate::common::Referee::start(["stdio", "--record", &records]);
    host.send(json!({"type": "hello", "protocol": 1, "name": "host"}));
    host.send(json!({"type": "open", "game": "keezen", "seats": 2, "auto_ready": true}));
    host.receive_type("start");
    host.end().done();
    let file = format!("{records}/m1.jsonl");
    for seat in ["2", "6", "8", "200", "255"] {
        let says = format!("--view {seat}: the seats are 0 to 1");
        referee(["show", &file, "--view", seat]).with_code(2).says(&[&says]);
    }
}

#[test]
fn show_prints_standard_error_only_to_permitted_viewers() {
    let folder = Folder::new();
    let loud = folder.bot("loud", "print('deep \\x1b[1mthought', file=sys.stderr, flush=True)\nplay()");
    let records = folder.text("records");
    let args = ["play", "checkers", &loud, &folder.plain_bot("plain"), "--set", WON, "--record", &records];
    referee(args).done();
    let record = folder.text("records/m1.jsonl");
    let shown = |more: &[&str]| referee([&["show", &record], more].concat()).done().stdout;
    let said = "\nstandard error of loud:\n  deep \\u{1b}[1mthought\n";
    assert!(shown(&[]).ends_with(said), "{}", shown(&[]));
    assert!(shown(&["--view", "0"]).ends_with(said));
    for view in ["1", "public"] {
        assert!(!shown(&["--view", view]).contains("standard error"), "{view}");
    }
}
