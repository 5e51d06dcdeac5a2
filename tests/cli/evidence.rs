//! The evidence for a fault in the output of `play`, `tournament run` and `regress`: the move, the line, the
//! end of standard error.

use crate::common::{Folder, SEED, referee};
use serde_json::{Value, json};

/// A bot with a different fault in each match: an illegal move, a malformed line, a crash.
fn faulty(folder: &Folder) -> String {
    folder.bot(
        "faulty",
        "def turn(t):
    if t['match'] == 'm1':
        return move(t, '1-32' + 'x' * 99)
    if t['match'] == 'm2':
        return os.write(1, b'thinking \\x1b[2J \\xff\\n')
    print('one\\ntwo\\x1b[2J', file=sys.stderr)
    raise ValueError('no book')
play(turn=turn)",
    )
}

/// The output about its faults, in a run in which it has this name.
fn shown(name: &str) -> String {
    let cut = format!("1-32{}...", "x".repeat(76));
    format!(
        "  {name} in m1: illegal move; the move is `{cut}`
  {name} in m2: malformed message; the line is not UTF-8; the line is `thinking \\u{{1b}}[2J \u{fffd}`
  {name} in m3: program ended; status 1; its standard error ends with:
    one
    two\\u{{1b}}[2J
    Traceback (most recent call last):
"
    )
}

#[test]
fn the_summary_of_play_shows_the_causes_of_faults() {
    let folder = Folder::new();
    let (plain, faulty) = (folder.plain_bot("plain"), faulty(&folder));
    let records = folder.text("records");
    for more in [&[][..], &["--record", &records]] {
        let ended = referee([&["play", "checkers", &plain, &faulty, "-n", "3"], more].concat()).done();
        assert!(ended.stdout.contains(&shown("faulty")), "{}", ended.stdout);
        assert!(ended.stdout.contains("    ValueError: no book\n"), "{}", ended.stdout);
    }
}

#[test]
fn single_match_shows_rejected_move_and_json_has_all_evidence() {
    let folder = Folder::new();
    let (plain, faulty) = (folder.plain_bot("plain"), faulty(&folder));
    let ended = referee(["play", "checkers", &plain, &faulty]).done();
    assert!(ended.stdout.contains("\n  faulty in m1: illegal move; the move is `1-32xx"), "{}", ended.stdout);
    let ended = referee(["play", "checkers", &plain, &faulty, "-n", "3", "--json"]).done();
    let matches = ended.all("match");
    let evidence: Vec<&Value> = matches.iter().map(|played| &played["evidence"][0]).collect();
    let cut = format!("1-32{}...", "x".repeat(76));
    assert_eq!(*evidence[0], json!({"seat": 1, "code": "illegal_move", "move": cut}));
    let line = "thinking \u{1b}[2J \u{fffd}";
    let malformed = json!({"seat": 0, "code": "malformed", "detail": "the line is not UTF-8", "line": line});
    assert_eq!(*evidence[1], malformed);
    assert_eq!([&evidence[2]["code"], &evidence[2]["detail"]], ["exited", "status 1"]);
    let stderr = evidence[2]["stderr"].as_str().expect("text");
    assert!(stderr.starts_with("one\ntwo") && stderr.ends_with("\nValueError: no book"), "{stderr}");
    let ended = referee(["play", "checkers", &plain, &plain, "--json"]).done();
    assert_eq!(ended.one("match").get("evidence"), None);
}

#[test]
fn other_bots_are_not_told_what_a_faulty_bot_wrote() {
    let folder = Folder::new();
    let faulty = folder.bot("faulty", "play(turn=lambda t: os.write(1, b'my secret\\n'))");
    let other =
        folder.bot("other", "play(end=lambda e: open(__file__ + '.received', 'w').write(json.dumps(e)))");
    let records = folder.text("records");
    let ended = referee(["play", "checkers", &faulty, &other, "--record", &records]).done();
    assert!(ended.stdout.contains("the line is `my secret`"), "{}", ended.stdout);
    let received = folder.read("other.py.received");
    assert!(received.contains("the line is not a JSON object") && !received.contains("secret"), "{received}");
    assert!(!folder.read("records/m1.jsonl").contains("secret"));
}

#[test]
fn a_tournament_ends_with_what_led_to_faults() {
    let folder = Folder::new();
    let bots = [("faulty", faulty(&folder)), ("plain", folder.plain_bot("plain"))];
    let mut config =
        format!("game = 'checkers'\nseed = '{SEED}'\n[format]\nkind = 'round_robin'\ncycles = 3\n");
    for (name, bot) in bots {
        config += &format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n");
    }
    let ended =
        referee(["tournament", "run", &folder.write("cup.toml", config), "--dir", &folder.text("cup")])
            .done();
    assert!(ended.stdout.contains(&shown("faulty")), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("    ValueError: no book\n"), "{}", ended.stdout);
}

#[test]
fn every_report_of_regress_shows_the_causes_of_faults() {
    let folder = Folder::new();
    let (plain, faulty) = (folder.plain_bot("plain"), faulty(&folder));
    let (junit, summary) = (folder.text("junit.xml"), folder.write("summary.md", ""));
    let args =
        ["regress", "checkers", "--new", &faulty, "--base", &plain, "--seed", SEED, "--max-fault-rate", "1"];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(args).args(["--junit", &junit, "--github"]).env("GITHUB_STEP_SUMMARY", &summary);
    let ended = crate::common::Referee::start_as(&mut command).end();
    let lines = shown("new");
    assert!(
        ended.stdout.contains(&lines) && ended.stdout.ends_with("    ValueError: no book\n"),
        "{ended:?}"
    );
    let junit = folder.read("junit.xml");
    assert!(junit.contains("ValueError: no book"), "{junit}");
    let summary = folder.read("summary.md");
    assert!(
        summary.contains("\n      new in m3: program ended; status 1; its standard error ends with:\n"),
        "{summary}"
    );
}

#[test]
fn a_person_sees_why_the_bot_crashed() {
    let folder = Folder::new();
    let ended = referee(["human", "checkers", &faulty_at_once(&folder)]);
    assert!(
        ended.stdout.contains("\n  test bot in m1: program ended; status 1; its standard error ends with:\n"),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("\n    ValueError: no book\n"), "{ended:?}");
}

/// A bot that crashes at the start of its match.
fn faulty_at_once(folder: &Folder) -> String {
    folder.bot("crashes", "def start(s):\n    raise ValueError('no book')\nplay(start=start)")
}

#[test]
fn one_match_and_one_set_are_counted_in_the_singular() {
    let folder = Folder::new();
    let (plain, crashes) = (folder.plain_bot("plain"), faulty_at_once(&folder));
    let ended = referee(["regress", "checkers", "--new", &crashes, "--base", &plain]).with_code(1);
    assert!(ended.stdout.contains("1 exited, in 1 of 1 match\n"), "{}", ended.stdout);
    let mut config = "game = 'checkers'\nmirror = 'none'\n[format]\nkind = 'round_robin'\n".to_owned();
    for (name, bot) in [("one", &plain), ("two", &crashes)] {
        config += &format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n");
    }
    let dir = folder.text("cup");
    let ended = referee(["tournament", "run", &folder.write("cup.toml", config), "--dir", &dir]).done();
    assert!(ended.stdout.contains(" 2 seats, 1 match in 1 set\n"), "{}", ended.stdout);
    let xml = referee(["tournament", "report", &dir, "--format", "junit"]).done().stdout;
    assert!(xml.contains("1 exited in 1 match, 1 lost by fault: m1"), "{xml}");
}
