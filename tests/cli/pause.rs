//! Suspensions of the referee: stopped by a signal, as with its machine. No bot loses by them.
#![cfg(target_os = "linux")]

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::guest::{Guest, listening};
use crate::common::{Folder, Referee, SEED, Signal, kill, referee, the};
use serde_json::{Value, json};

/// A delay, a delay with a bank, a bank only.
const CLOCKS: [&str; 3] = ["delay=1s", "delay=100ms,bank=1s", "bank=2s,increment=50ms"];

/// A function for bots that takes 0.6 s of its own running time. It creates a file when it starts.
const THINK: &str = "import pathlib, time
def think():
    here = pathlib.Path(__file__)
    here.with_suffix('.new').write_text(f'{os.getpid()}\\n')
    here.with_suffix('.new').rename(here.with_suffix('.thinks'))
    for _ in range(60):
        time.sleep(0.01)
";

/// A bot over pipes, or over TCP if it gets a port, that thinks about its third request.
const THINKER: &str = "if len(sys.argv) > 1:
    import socket
    connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    os.dup2(connection.fileno(), 0), os.dup2(connection.fileno(), 1)
def answer(turn):
    if turn['turn'] == 2:
        think()
    first(turn)
play(turn=answer, hello=lambda _: say(type='hello', protocol=1, name='thinker'))
";

#[derive(Clone, Copy, Debug)]
struct Case {
    clock: &'static str,
    pause: Duration,
    /// Whether the thinking bot connects over TCP.
    over_tcp: bool,
    /// Whether it is stopped too, as on the same machine.
    stops_bot: bool,
}

fn is_long() -> bool {
    std::env::var_os("LONG_TESTS").is_some()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, clock) in CLOCKS.into_iter().enumerate() {
        for (times, seconds) in [1, 2, 4].into_iter().enumerate() {
            for (over_tcp, stops_bot) in [(false, false), (false, true), (true, false), (true, true)] {
                let number = usize::from(over_tcp) * 2 + usize::from(stops_bot);
                if is_long() || number == (at + times) % 4 {
                    cases.push(Case { clock, pause: Duration::from_secs(seconds), over_tcp, stops_bot });
                }
            }
        }
    }
    cases
}

struct Connected(Child);

impl Drop for Connected {
    fn drop(&mut self) {
        // It has exited already unless the test has failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a match between a thinking bot and another one.
fn start(folder: &Folder, over_tcp: bool, options: &[&str]) -> (Referee, Option<Connected>) {
    let (thinker, plain) = (folder.bot("thinker", &format!("{THINK}{THINKER}")), folder.plain_bot("plain"));
    let records = folder.text("records");
    let first = if over_tcp { "tcp:thinker" } else { &thinker };
    let mut args = vec!["play", "checkers", first, &plain, "--set", "turn_limit=12", "--seed", SEED];
    args.extend(["--record", &records, "--json"]);
    if over_tcp {
        args.extend(["--listen", "127.0.0.1:0"]);
    }
    let mut referee = Referee::start(args.into_iter().chain(options.iter().copied()));
    let guest = over_tcp.then(|| {
        let listening = referee.receive_type("listening");
        let address = listening["address"].as_str().expect("an address");
        let port = address.rsplit(':').next().expect("a port");
        let mut python = Command::new("python3");
        python.arg(folder.path("thinker.py")).arg(port).stdin(Stdio::null()).stdout(Stdio::null());
        Connected(python.spawn().expect("python starts"))
    });
    (referee, guest)
}

/// Stops the referee and these bots for a while. Returns for how long, which may be longer on a busy machine.
#[expect(clippy::disallowed_methods, reason = "a pause is real time")]
fn pause(referee: &Referee, bots: &[u32], pause: Duration) -> Duration {
    let begun = Instant::now();
    referee.signal(Signal::STOP);
    bots.iter().for_each(|&bot| kill(bot, Signal::STOP));
    thread::sleep(pause);
    bots.iter().for_each(|&bot| kill(bot, Signal::CONT));
    referee.signal(Signal::CONT);
    begun.elapsed()
}

fn number(line: &Value, key: &str) -> u64 {
    line[key].as_u64().unwrap_or_else(|| panic!("{key} in {line}"))
}

fn assert_no_bot_loses_by(case: Case) {
    let folder = Folder::new();
    let (playing, _guest) = start(&folder, case.over_tcp, &["--clock", case.clock]);
    let thinker: u32 = folder.wait_for("thinker.thinks").trim().parse().expect("a process id");
    let stopped = if case.stops_bot { vec![thinker] } else { Vec::new() };
    let longest = pause(&playing, &stopped, case.pause).as_micros() as u64;
    let ended = playing.end().with_code(0);
    let (played, record) = (ended.one("match"), folder.record("records/m1.jsonl"));
    assert_eq!(played["faults"], json!([{}, {}]), "{case:?}: {played}");
    assert_eq!(played["ended_by"], "turn_limit", "{case:?}: {played}");

    // The suspension is detected, and is neither thinking time nor lag.
    let all: Vec<u64> = record.iter().filter_map(|line| line["paused_us"].as_u64()).collect();
    let (paused, shortest) = (all.iter().sum::<u64>(), case.pause.as_micros() as u64);
    assert!(
        (shortest - 500_000..longest + 500_000).contains(&paused),
        "{case:?}: {all:?}, at most {longest}"
    );
    let (report, result) = (number(&played, "paused_ms"), the("result", &record));
    assert_eq!([report, number(result, "paused_ms")], [paused / 1000; 2], "{case:?}");
    assert!(number(&played, "lag_ms") < 500, "{case:?}: {played}");
    let took = |line: &&Value| line["type"] == "answer" && line["turn"] == 2 && line["seat"] == 0;
    let took = number(record.iter().find(took).expect("it answered"), "took_us");
    assert!(took < 1_000_000, "{case:?}: {took}");
    referee(["verify", &folder.text("records/m1.jsonl")]).with_code(0);
}

#[test]
fn a_suspension_of_the_referee_is_not_billed() {
    let cases: Vec<_> =
        cases().into_iter().map(|case| thread::spawn(move || assert_no_bot_loses_by(case))).collect();
    let failed = cases.into_iter().filter_map(|case| case.join().err()).count();
    assert_eq!(failed, 0);
}

#[test]
fn bot_that_is_too_slow_without_suspension_times_out() {
    let folder = Folder::new();
    let (playing, _) = start(&folder, false, &["--clock", "delay=500ms"]);
    folder.wait_for("thinker.thinks");
    // It needs 600 ms of its own time, and is suspended with the referee.
    let thinker: u32 = folder.read("thinker.thinks").trim().parse().expect("a process id");
    pause(&playing, &[thinker], Duration::from_secs(1));
    let ended = playing.end().with_code(0);
    let record = folder.record("records/m1.jsonl");
    assert_eq!(ended.one("match")["fault"]["code"], "timeout");
    let (fault, paused) = (the("fault", &record), number(the("pause", &record), "paused_us"));
    let (took, lag) = (number(fault, "took_us"), number(fault, "lag_us"));
    // A busy machine may wake the referee late, but the suspension is neither thinking time nor lag.
    assert!(took > 520_000 && took - lag < 800_000 && lag < 800_000, "{fault}");
    assert!(paused > 950_000, "{paused}");
    referee(["verify", &folder.text("records/m1.jsonl")]).with_code(0);
}

/// Thinks before this message, and then plays.
fn slow_at(folder: &Folder, what: &str) -> String {
    let script = format!(
        "{THINK}
def late(message, usual):
    think()
    usual(message)
play(hello=lambda m: {hello}, start=lambda m: {ready})
",
        hello = if what == "hello" { "late(m, hello)" } else { "hello(m)" },
        ready = if what == "ready" { "late(m, ready)" } else { "ready(m)" },
    );
    folder.bot(what, &script)
}

#[test]
fn limits_before_the_first_turn_stop_during_a_suspension() {
    let cases = ["hello", "ready"].map(|what| {
        thread::spawn(move || {
            let folder = Folder::new();
            let (slow, plain) = (slow_at(&folder, what), folder.plain_bot("plain"));
            let limits = ["--hello-limit", "3s", "--ready-limit", "3s"];
            let args = ["play", "checkers", &slow, &plain, "--set", "turn_limit=12", "--json"];
            let playing = Referee::start(args.into_iter().chain(limits));
            let bot = folder.wait_for(&format!("{what}.thinks")).trim().parse().expect("a process id");
            pause(&playing, &[bot], Duration::from_secs(4));
            let played = playing.end().with_code(0).one("match");
            assert_eq!(played["ended_by"], "turn_limit", "{what}: {played}");
        })
    });
    assert!(cases.into_iter().all(|case| case.join().is_ok()));
}

#[test]
fn the_wait_for_a_connection_excludes_suspensions() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let args = ["play", "checkers", "tcp:alice", &plain, "--set", "turn_limit=12", "--wait", "3s"];
    let (playing, address) = listening(&args);
    pause(&playing, &[], Duration::from_secs(4));
    Guest::named(address, "alice").play();
    assert_eq!(playing.wait().with_code(0).one("match")["ended_by"], "turn_limit");
}

/// Takes three minutes: only in a long run.
#[test]
fn match_suspended_for_minute_is_replayed_twice_then_void() {
    if !is_long() {
        return;
    }
    let folder = Folder::new();
    let thinker = THINKER.replace("turn['turn'] == 2", "turn['match'] != 'm2' and turn['turn'] == 2");
    let thinker = folder.bot("thinker", &format!("signal.alarm(300)\n{THINK}{thinker}"));
    let (plain, records) = (folder.bot("plain", "signal.alarm(300)\nplay()"), folder.text("records"));
    let args = ["play", "checkers", &thinker, &plain, "--set", "turn_limit=12", "-n", "2"];
    let options = ["--record", &records, "--json", "--clock", "delay=5s"];
    let mut playing = Referee::start(args.into_iter().chain(options));
    for (id, is_void) in [("m1", Value::Null), ("m1.2", Value::Null), ("m1.3", json!(true))] {
        folder.wait_for("thinker.thinks");
        std::fs::remove_file(folder.path("thinker.thinks")).expect("it is there");
        pause(&playing, &[], Duration::from_secs(61));
        let played = playing.receive_type("match");
        let report = ["id", "cause", "void", "faults"].map(|key| played[key].clone());
        assert_eq!(report, [json!(id), json!("paused"), is_void, json!([{}, {}])]);
        let record = format!("records/{id}.jsonl");
        assert!(number(the("result", &folder.record(&record)), "paused_ms") > 60_000);
        referee(["verify", &folder.text(&record)]).with_code(0);
    }
    assert_eq!(playing.receive_type("match")["ended_by"], "turn_limit");
    let summary = playing.receive_type("summary");
    let counts = ["matches", "aborted", "void", "paused"].map(|key| number(&summary, key));
    assert_eq!(counts, [1, 3, 1, 3]);
}
