//! Interruption: results are printed and recorded, and no process is left. The bots ignore SIGTERM.

use crate::common::{Folder, Referee, Signal, WON, assert_gone, files, on_a_terminal, referee, the};
use serde_json::{Value, json};

const INTERRUPTED: i32 = 130;

/// The start of a bot that ignores SIGTERM and writes its process ids to a file with its name. `hang` creates a file
/// with its name, then hangs.
const DEAF: &str = "import pathlib, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
HERE = pathlib.Path(__file__)
with HERE.with_suffix('.pids').open('a') as file:
    file.write(f'{os.getpid()}\\n')

def hang(*_):
    HERE.with_suffix('.hangs').write_text('yes\\n')
    while True:
        time.sleep(60)
";

fn deaf_bot(folder: &Folder, name: &str, script: &str) -> String {
    folder.bot(name, &format!("{DEAF}\n{script}"))
}

/// Checks that no process of these bots is left, and that all records verify.
fn assert_clean(folder: &Folder, bots: &[&str], records: &str) {
    for bot in bots {
        assert_gone(&folder.pids(&format!("{bot}.pids")));
    }
    if !files(records.as_ref()).is_empty() {
        referee(["verify", records]).done();
    }
}

#[test]
fn a_signal_in_a_match_aborts_and_records_it() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = Folder::new();
        let thinks =
            deaf_bot(&folder, "thinks", "play(turn=lambda t: first(t) if t['turn'] < 2 else hang())");
        let plain = deaf_bot(&folder, "plain", "play()");
        let records = folder.text("records");
        let args = ["play", "checkers", &plain, &thinks, "-n", "3", "--json", "--record", &records];
        let play = Referee::start(args);
        folder.wait_for("thinks.hangs");
        play.signal(signal);
        let ended = play.wait().with_code(INTERRUPTED).says_nothing();
        let played = ended.one("match");
        assert_eq!([&played["id"], &played["ended_by"], &played["reason"]], ["m1", "aborted", "aborted"]);
        assert_eq!([&played["ranks"], &played["faults"]], [&Value::Null, &json!([{}, {}])]);
        let summary = ended.one("summary");
        assert_eq!(
            [&summary["matches"], &summary["aborted"], &summary["interrupted"]],
            [&json!(0), &json!(1), &json!(true)]
        );
        let record = folder.record("records/m1.jsonl");
        assert_eq!(the("abort", &record)["reason"]["kind"], "interrupted");
        assert_eq!(the("result", &record)["ended_by"], "aborted");
        assert_clean(&folder, &["thinks", "plain"], &records);
    }
}

#[test]
fn matches_before_a_signal_count() {
    let folder = Folder::new();
    let script = "matches = 0
def start(message):
    global matches
    matches += 1
    if matches == 4:
        hang()
    ready(message)
play(start=start)";
    let (stops, plain) = (deaf_bot(&folder, "stops", script), deaf_bot(&folder, "plain", "play()"));
    let records = folder.text("records");
    let play =
        Referee::start(["play", "checkers", &stops, &plain, "-n", "9", "--set", WON, "--record", &records]);
    folder.wait_for("stops.hangs");
    play.signal(Signal::INT);
    let ended = play.wait().with_code(INTERRUPTED);
    let lines: Vec<Vec<&str>> = ended.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1][..6], ["stops", "3", "2", "0", "1", "2"], "{}", ended.stdout);
    assert_eq!(lines[2][..6], ["plain", "3", "1", "0", "2", "1"], "{}", ended.stdout);
    assert_eq!(lines[3][..4], ["Elo", "of", "stops", "against"]);
    assert_eq!(lines[4][..5], ["1", "copy", "of", "another", "does"]);
    assert_eq!(lines[5], ["1", "aborted"]);
    assert_eq!(lines[6][..2], ["run", "seed"]);
    assert_eq!(files(&folder.path("records")), ["m1.jsonl", "m2.jsonl", "m3.jsonl", "m4.jsonl"]);
    assert_eq!(the("result", &folder.record("records/m4.jsonl"))["ended_by"], "aborted");
    assert_clean(&folder, &["stops", "plain"], &records);
}

#[test]
fn a_signal_while_bots_start_ends_the_run() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = Folder::new();
        let loads = deaf_bot(&folder, "loads", "hang()");
        let plain = deaf_bot(&folder, "plain", "play()");
        let records = folder.text("records");
        let play = Referee::start(["play", "checkers", &plain, &loads, "--json", "--record", &records]);
        folder.wait_for("loads.hangs");
        folder.wait_for("plain.pids");
        play.signal(signal);
        let ended = play.wait().with_code(INTERRUPTED);
        assert!(ended.all("match").is_empty());
        let summary = ended.one("summary");
        assert_eq!([&summary["matches"], &summary["interrupted"]], [&json!(0), &json!(true)]);
        assert!(files(&folder.path("records")).is_empty());
        assert_clean(&folder, &["loads", "plain"], &records);
    }
}

#[test]
fn a_signal_between_two_matches_ends_the_run() {
    let folder = Folder::new();
    // It exits after a match, and its next process starts slowly.
    let script = "if len(HERE.with_suffix('.pids').read_text().split()) == 2:
    hang()
play(end=lambda _: os._exit(0))";
    let (leaves, plain) = (deaf_bot(&folder, "leaves", script), deaf_bot(&folder, "plain", "play()"));
    let records = folder.text("records");
    let args = ["play", "checkers", &leaves, &plain, "-n", "3", "--set", WON, "--json", "--record", &records];
    let play = Referee::start(args);
    folder.wait_for("leaves.hangs");
    play.signal(Signal::INT);
    let ended = play.wait().with_code(INTERRUPTED);
    let summary = ended.one("summary");
    assert_eq!([&summary["matches"], &summary["interrupted"]], [&json!(1), &json!(true)]);
    assert_eq!(summary["bots"][0]["faults"], json!({}), "leaving between matches is no fault");
    // The second match may have been announced before the exit was noticed.
    let aborted: Vec<Value> = ended.all("match").into_iter().skip(1).collect();
    assert!(aborted.iter().all(|played| played["ended_by"] == "aborted"), "{aborted:?}");
    assert_eq!(files(&folder.path("records")).len(), 1 + aborted.len());
    assert_clean(&folder, &["leaves", "plain"], &records);
}

#[test]
fn a_second_signal_has_no_effect() {
    let folder = Folder::new();
    let thinks = deaf_bot(&folder, "thinks", "play(turn=hang)");
    let plain = deaf_bot(&folder, "plain", "play()");
    let records = folder.text("records");
    let play = Referee::start(["play", "checkers", &thinks, &plain, "--json", "--record", &records]);
    folder.wait_for("thinks.hangs");
    play.signal(Signal::INT);
    std::thread::sleep(std::time::Duration::from_millis(300));
    play.signal(Signal::INT);
    play.signal(Signal::TERM);
    let ended = play.wait().with_code(INTERRUPTED);
    assert_eq!(ended.one("summary")["interrupted"], true);
    assert_clean(&folder, &["thinks", "plain"], &records);
}

#[test]
fn ctrl_c_on_a_terminal_does_not_reach_the_bots() {
    let folder = Folder::new();
    // A bot that receives Ctrl-C would print a traceback and have a fault.
    let thinks = deaf_bot(&folder, "thinks", "play(turn=lambda t: first(t) if t['turn'] < 1 else hang())");
    let plain = deaf_bot(&folder, "plain", "play()");
    let records = folder.text("records");
    let keys = ["--after", "  3. plain", "--type", "\\x03"];
    let play = ["play", "checkers", &plain, &thinks, "--record", &records];
    let ended = on_a_terminal(&keys, &play).end().with_code(INTERRUPTED);
    assert!(ended.stdout.contains("m1: aborted after 3 moves"), "{}", ended.stdout);
    let record = folder.record("records/m1.jsonl");
    assert_eq!(
        [&the("abort", &record)["reason"]["kind"], &the("result", &record)["faults"]],
        [&json!("interrupted"), &json!([{}, {}])]
    );
    assert_eq!(the("bots", &record)["bots"][1]["stderr"], "");
    assert_clean(&folder, &["thinks", "plain"], &records);
}

#[test]
fn a_host_is_told_of_aborted_matches() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = Folder::new();
        let records = folder.text("records");
        let mut host = Referee::start(["stdio", "--record", &records]);
        host.send(json!({"type": "hello", "protocol": 1, "name": "host", "slots": 2}));
        host.send(json!({"type": "open", "game": "checkers", "auto_ready": true}));
        host.send(json!({"type": "open", "game": "checkers"}));
        while host.receive_type("start")["match"] != "m2" {}
        host.signal(signal);
        // Its input stays open.
        let ended = host.wait().with_code(INTERRUPTED);
        let ends = ended.all("end");
        assert_eq!(ends.len(), 4, "{ended:?}");
        assert!(ends.iter().all(|end| end["ended_by"] == "aborted"), "{ends:?}");
        assert_eq!(ended.one("bye")["reason"], "the run is over");
        assert_eq!(files(&folder.path("records")), ["m1.jsonl", "m2.jsonl"]);
        referee(["verify", &records]).done();
    }
}

#[test]
fn an_idle_host_is_dismissed() {
    let mut host = Referee::start(["stdio"]);
    assert_eq!(host.receive()["type"], "hello");
    host.signal(Signal::INT);
    let ended = host.wait().with_code(INTERRUPTED);
    assert_eq!(ended.one("bye")["reason"], "the run is over");
}

/// As `nohup referee ...`, and for SIGINT as in `sh -c 'referee ... &'`.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let folder = Folder::new();
    let waits = "def turn(t):
    if t['turn'] == 0:
        HERE.with_suffix('.hangs').write_text('yes\\n')
        while not HERE.with_suffix('.go').exists():
            time.sleep(0.01)
    first(t)
play(turn=turn)";
    let (waits, plain) = (deaf_bot(&folder, "waits", waits), folder.plain_bot("plain"));
    let script = "trap '' HUP INT; exec \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_referee"), "play", "checkers", &waits, &plain]);
    let play = Referee::start_as(command.args(["--clock", "none", "--set", WON, "--json"]));
    folder.wait_for("waits.hangs");
    play.signal(Signal::HUP);
    play.signal(Signal::INT);
    folder.write("waits.go", "");
    let ended = play.end().with_code(0);
    assert_eq!(ended.one("match")["ended_by"], "rules");
}
