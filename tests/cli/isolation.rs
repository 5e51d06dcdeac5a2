//! A slow reader, disk or log does not slow any bot.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "readers stop for some real time")]

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::attacks;
use crate::common::guest::Guest;
use crate::common::{Folder, KEEPS_ITS_PID, ROOT, Signal, TIMEOUT, compile, in_rust};
use crate::sandbox;
use ::referee::bot::sandbox::Mode;
use rustix::process::{Pid, kill_process, test_kill_process};
use serde_json::Value;

/// Tests with short clocks run one at a time: a bot without a CPU would be late.
static SHORT_CLOCKS: Mutex<()> = Mutex::new(());

/// The number of matches: this number in a normal run, 2,000 in a long one.
fn matches(normal: u32) -> u32 {
    if std::env::var_os("LONG_TESTS").is_some() { 2_000 } else { normal }
}

/// A bot that answers immediately.
fn honest() -> String {
    format!("'{}'", in_rust("referee-random").display())
}

/// A full pipe: writes block until something is read.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe().expect("a pipe");
    rustix::io::ioctl_fionbio(&writer, true).expect("a pipe");
    while writer.write(&[b'\n'; 4096]).is_ok() {}
    while writer.write(b"\n").is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).expect("a pipe");
    (reader, writer)
}

fn referee(args: &[&str]) -> Command {
    let mut referee = Command::new(env!("CARGO_BIN_EXE_referee"));
    referee.args(args).current_dir(ROOT).stdin(Stdio::null());
    referee
}

fn read_all(mut reader: PipeReader) -> String {
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("UTF-8");
    text
}

/// Waits until a condition holds.
#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < until, "{what} takes too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process exits, and returns its exit code.
#[track_caller]
fn wait(mut child: Child) -> Option<i32> {
    let mut code = None;
    wait_until("the end of the referee", || {
        code = child.try_wait().expect("it is a child");
        code.is_some()
    });
    code.and_then(|status| status.code())
}

/// Plays up to five times, until the results have no fault, and returns the last results. The clock is this delay in ms at
/// first, and twice as long each time: on a busy or virtual machine a bot may wait for a processor for longer than a short
/// clock allows, while the referee works correctly. A referee that blocks would add more than the last one.
fn with_short_clocks(delay: u32, mut play: impl FnMut(u32, &str) -> String) -> String {
    let mut json = String::new();
    for round in 1..=5 {
        let clock = format!("delay={}ms", delay << (round - 1));
        json = play(round, &clock);
        if !has_faults(&json) {
            break;
        }
        eprintln!("{clock} is too short for this machine");
    }
    json
}

/// Whether the processors are used for more than a quarter of a second in which the test does nothing.
fn others_use_processors() -> bool {
    let stat = || std::fs::read_to_string("/proc/stat").expect("counters of the processors");
    let count = stat().lines().filter(|line| line.starts_with("cpu")).count() - 1;
    let idle =
        || stat().split_whitespace().nth(4).and_then(|ticks| ticks.parse().ok()).expect("ticks of 10 ms");
    let before: usize = idle();
    std::thread::sleep(Duration::from_secs(1));
    idle() - before < count * 75
}

fn has_faults(json: &str) -> bool {
    let lines = json.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["type"] == "match").any(|played| !played["fault"].is_null())
}

/// Checks that this number of matches were played without faults.
#[track_caller]
fn assert_no_faults(json: &str, count: u32) {
    let lines: Vec<Value> = json.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let played: Vec<&Value> = lines.iter().filter(|line| line["type"] == "match").collect();
    assert_eq!(played.len(), count as usize);
    let convicted: Vec<&&Value> = played.iter().filter(|played| !played["fault"].is_null()).collect();
    assert!(convicted.is_empty(), "{} of {count}, as {}", convicted.len(), convicted[0]);
    for played in played {
        for faults in played["faults"].as_array().expect("by seat") {
            assert_eq!(faults, &serde_json::json!({}), "{played}");
        }
    }
}

/// Checks that answers hardly ever waited for the referee.
#[track_caller]
fn assert_little_lag(json: &str) {
    let lines = json.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut lags: Vec<u64> = lines.filter_map(|line| line["lag_ms"].as_u64()).collect();
    lags.sort_unstable();
    assert!(lags[lags.len() / 2] < 10, "lag in ms, by match: {lags:?}");
}

/// The delay of a short clock, in ms.
const SHORT: u32 = 10;
const QUICK: [&str; 2] = ["--set", "turn_limit=20"];

#[test]
fn a_blocked_reader_does_not_stop_a_watched_match() {
    let folder = Folder::new();
    let bot = |name: &str| folder.bot(name, &format!("{KEEPS_ITS_PID}\nplay()"));
    let (a, b) = (bot("a"), bot("b"));
    let (reader, writer) = full_pipe();
    let args = ["play", "checkers", &a, &b, "--clock", "delay=1s", "--set", "turn_limit=60"];
    let child = referee(&args).stdout(writer).spawn().expect("the referee starts");
    let pids =
        |name: &str| folder.wait_for(name).lines().map(|pid| pid.parse().unwrap()).collect::<Vec<i32>>();
    for name in ["a.pids", "b.pids"] {
        let pid = Pid::from_raw(pids(name)[0]).expect("a process id");
        wait_until("the end of the match", || test_kill_process(pid).is_err());
    }
    let text = read_all(reader);
    assert!(text.contains("turn_limit"), "{text}");
    assert!(text.contains(" 60. "), "{text}");
    assert_eq!(wait(child), Some(0));
}

#[test]
fn an_interrupt_ends_a_match_with_a_blocked_reader() {
    let folder = Folder::new();
    let script = "import pathlib, time
ASKED = pathlib.Path(__file__).with_suffix('.asked')
play(turn=lambda t: (ASKED.write_text('now\\n'), time.sleep(0.05), first(t)))";
    let bot = folder.bot("slow", script);
    let records = folder.text("records");
    let args = ["play", "checkers", &bot, &bot, "--clock", "none", "--record", &records];
    let (_reader, writer) = full_pipe();
    let child = referee(&args).stdout(writer).spawn().expect("the referee starts");
    folder.wait_for("slow.asked");
    kill_process(Pid::from_child(&child), Signal::TERM).expect("it runs");
    assert_eq!(wait(child), Some(130));
    assert!(folder.read("records/m1.jsonl").contains(r#""type":"seal""#));
}

#[test]
fn a_blocked_reader_of_results_does_not_stop_matches() {
    let _alone = SHORT_CLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = matches(200);
    let (n, honest) = (count.to_string(), honest());
    let args = ["play", "checkers", &honest, &honest, "--json", "--jobs", "4", "-n", &n];
    let results = with_short_clocks(SHORT, |_, clock| {
        let (reader, writer) = full_pipe();
        let args = [&args[..], &QUICK, &["--clock", clock]].concat();
        let child = referee(&args).stdout(writer).spawn().expect("the referee starts");
        std::thread::sleep(Duration::from_secs(1));
        let results = read_all(reader);
        assert_eq!(wait(child), Some(0));
        results
    });
    assert_no_faults(&results, count);
}

#[test]
fn a_blocked_log_does_not_stop_connections_and_matches() {
    let folder = Folder::new();
    let other = folder.plain_bot("other");
    let (log, writer) = full_pipe();
    let args = ["--log-level", "debug", "play", "checkers", "tcp:guest", &other, "--json"];
    let args = [&args[..], &["--listen", "127.0.0.1:0", "--set", "turn_limit=10"]].concat();
    let mut child = referee(&args).stdout(Stdio::piped()).stderr(writer).spawn().expect("the referee starts");
    let mut out = std::io::BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).expect("UTF-8");
    let listening: Value = serde_json::from_str(&line).expect("JSON");
    let address = listening["address"].as_str().expect("an address").parse().expect("an address");
    // Each is rejected with a line in the log.
    for _ in 0..20 {
        let mut stranger = TcpStream::connect(address).expect("it listens");
        stranger.write_all(b"{}\n").expect("it reads");
        stranger.read_to_end(&mut Vec::new()).expect("it says why");
    }
    Guest::named(address, "guest").play_up_to("end");
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("UTF-8");
    assert_no_faults(&rest, 1);
    assert_eq!(wait(child), Some(0));
    drop(log);
}

#[test]
fn byte_by_byte_standard_error_does_not_slow_other_bots() {
    let _alone = SHORT_CLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new();
    let count = matches(100);
    let honest = honest();
    let mutters = format!("'{}' {honest}", compile(&folder, "mutters", &[]).display());
    let n = count.to_string();
    let args = ["play", "checkers", &honest, &mutters, "--json", "--jobs", "2", "-n", &n];
    let mut last = 0;
    let results = with_short_clocks(SHORT, |round, clock| {
        last = round;
        let records = folder.text(&format!("records{round}"));
        let more = ["--clock", clock, "--record", &records];
        crate::common::referee([&args[..], &QUICK, &more].concat()).done().stdout
    });
    assert_no_faults(&results, count);
    assert_little_lag(&results);
    // Its output is in its records only.
    let said =
        |record: &[Value], seat: usize| crate::common::the("bots", record)["bots"][seat]["stderr"].clone();
    let records =
        (1..count).step_by(2).map(|number| folder.record(&format!("records{last}/m{number}.jsonl")));
    // The first match may be over before it starts to speak.
    let mut muttered = records.map(|record| {
        assert_eq!(said(&record, 0), "");
        said(&record, 1).as_str().expect("text").starts_with('x')
    });
    assert!(muttered.any(|muttered| muttered));
}

#[test]
fn a_slow_disk_does_not_stop_matches() {
    let _alone = SHORT_CLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new();
    let count = matches(12);
    let shim = compile(&folder, "disk", &["-shared", "-fPIC", "-ldl"]);
    let honest = honest();
    let head = format!(
        "game = 'checkers'\nmirror = 'none'\njobs = 4\noptions = {{ turn_limit = 20 }}\n\
         [format]\nkind = 'gauntlet'\ncycles = {count}\n"
    );
    let entrants = ["a", "b"].map(|name| format!("[[entrants]]\nname = '{name}'\ncommand = \"{honest}\"\n"));
    let rest = head + &entrants.concat();
    let results = with_short_clocks(SHORT, |round, clock| {
        let config = folder.write("cup.toml", format!("clock = '{clock}'\n{rest}"));
        let dir = folder.text(&format!("cup{round}"));
        let mut run = referee(&["tournament", "run", &config, "--dir", &dir, "--json"]);
        let run = run.env("LD_PRELOAD", &shim).env("SLOW_DISK", &dir).output().expect("the referee runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).expect("UTF-8")
    });
    assert_no_faults(&results, count);
    assert_little_lag(&results);
}

#[test]
fn hogs_in_strict_cost_their_opponent_no_fault() {
    let _alone = SHORT_CLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    // Beside both, a bot may wait for a processor for longer than any short clock allows.
    if others_use_processors() {
        eprintln!("not tested: other programs use the processors");
        return;
    }
    let count = if std::env::var_os("LONG_TESTS").is_some() { 1_000 } else { 20 };
    for kind in ["cpu", "memory", "fork"] {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("honest")).expect("a directory");
        let honest = attacks::shared_program(&folder, "honest/referee-random", &in_rust("referee-random"));
        let hog = attacks::attacker(&folder, "hogs", &[kind.to_owned()]);
        let args = ["play", "checkers", &honest, &hog, "--json", "--on-fault", "random"];
        let more = ["--set", "turn_limit=20", "--sandbox-memory=512MiB", "--sandbox-processes=64", "-n"];
        let mut args: Vec<String> = args.into_iter().chain(more).map(str::to_owned).collect();
        args.push(count.to_string());
        args.extend(sandbox::options(Mode::Strict));
        // Faults of the hog do not matter.
        let faults = with_short_clocks(SHORT / 2, |_, clock| {
            let args = [&args[..], &["--clock".to_owned(), clock.to_owned()]].concat();
            let ended = attacks::as_user(&folder, &args).end().with_code(0);
            let summary = ended.one("summary");
            assert_eq!(summary["matches"], count);
            let faults = &summary["bots"][0]["faults"];
            let fault = if *faults == serde_json::json!({}) { &Value::Null } else { faults };
            serde_json::json!({"type": "match", "fault": fault}).to_string()
        });
        assert!(!has_faults(&faults), "{kind}: {faults}");
    }
}
