//! Bots that block their pipes to the referee, and concurrent matches on the same lane.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "a held pipe costs real time")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, ROOT, Referee, assert_gone, on_one_processor, the};
use crate::watch::wait_until;
use ::referee::bot::Launch;
use ::referee::driver::{Run, Terms};
use ::referee::game::chance::Seed;
use ::referee::referee::Opening;
use ::referee::runner::{MatchRunner, Openings};
use ::referee::runs::play::{Play, PlayEvent};
use ::referee::sources::{self, BotSpec};
use rustix::process::Signal;
use serde_json::{Value, json};

const REFEREE: &str = env!("CARGO_BIN_EXE_referee");

/// The longest time of an answer of a seat, in microseconds.
fn slowest(record: &[Value]) -> u64 {
    record.iter().filter_map(|line| line["took_us"].as_u64()).max().expect("an answer")
}

#[test]
fn bot_that_blocks_its_pipe_is_ended_alone() {
    let folder = Folder::new();
    let script = format!(
        "sys.path.append('{ROOT}/bots/hostile')
import _splice
def turn(t):
    if t['match'] == 'm4' and t['turn'] == 4:
        # The referee's lane has a processor; who holds the pipe takes another, if there is one.
        os.sched_setaffinity(0, range(os.cpu_count()))
        os.dup2(_splice.into(1), 1)
    first(t)
play(turn=turn)"
    );
    let holder = folder.bot("holder", &script);
    let other = folder.bot("other", "import time\nplay(turn=lambda t: (time.sleep(0.005), first(t)))");
    let records = folder.text("records");
    let args = ["play", "checkers", &holder, &other, "-n", "12", "--jobs", "3", "--set", "turn_limit=40"];
    let args = [&args[..], &["--json", "--clock", "delay=1s", "--record", &records]].concat();
    let ended = on_one_processor(&args).end().done();
    let matches = ended.all("match");
    assert_eq!(matches.len(), 12);
    for played in matches {
        let id = played["id"].as_str().expect("an id");
        let record = folder.record(&format!("records/{id}.jsonl"));
        if id == "m4" {
            let detail = "signal 9: it held its pipe, and the referee had to wait";
            assert_eq!(played["fault"]["code"], "exited");
            assert_eq!(played["fault"]["detail"], detail);
            let kept = json!({"kind": "signal", "signal": 9, "held_pipe": true});
            assert_eq!(the("fault", &record)["detail"], kept);
        } else {
            assert_eq!([&played["ended_by"], &played["faults"]], [&json!("turn_limit"), &json!([{}, {}])]);
            // 150 ms, and an allowance for a busy machine.
            assert!(slowest(&record) < 500_000, "{id}: {} us", slowest(&record));
        }
    }
}

#[test]
fn holder_that_hides_from_referee_is_ended_after_ten_seconds() {
    let folder = Folder::new();
    // The holder is in a session of its own, and what it does is hidden from processes without CAP_SYS_PTRACE.
    let script = format!(
        "sys.path.append('{ROOT}/bots/hostile')
import _splice, pathlib, time
PR_SET_DUMPABLE = 4
def hide():
    os.setsid()
    assert _splice._libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
    # It lets go long after the referee should have ended it.
    alarm = signal.alarm
    signal.alarm = lambda _: alarm(90)
    pathlib.Path(__file__).with_suffix('.pids').write_text(f'{{os.getpid()}}\\n')
def turn(t):
    if t['match'] != 'm2':
        return first(t)
    _splice.out_of(0, prepare=hide)
    # The process takes the first error from the pipe and holds it when the referee writes another one.
    for _ in range(4):
        say(type='nonsense', match='m2')
        time.sleep(0.2)
    time.sleep(60)
play(turn=turn)"
    );
    let (holder, plain) = (folder.bot("holder", &script), folder.plain_bot("plain"));
    let args =
        ["play", "checkers", &holder, &plain, "-n", "3", "--jobs", "1", "--set", "turn_limit=20", "--json"];
    // Root without this capability is as any other user here.
    let mut command = if rustix::process::geteuid().is_root() {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace", REFEREE]);
        setpriv
    } else {
        Command::new(REFEREE)
    };
    let ended = Referee::start_as(command.args(args)).end().done();
    let matches = ended.all("match");
    let details: Vec<&Value> = matches.iter().map(|played| &played["fault"]["detail"]).collect();
    let held = json!("signal 9: it held its pipe, and the referee had to wait");
    assert_eq!(details, [&Value::Null, &held, &Value::Null]);
    assert_gone(&folder.pids("holder.pids"));
}

#[test]
fn killed_referee_does_not_wait_for_blocking_bot() {
    let folder = Folder::new();
    // A child of the bot holds the pipe, which the kernel does not end with it.
    let script = format!(
        "sys.path.append('{ROOT}/bots/hostile')
import _splice, pathlib, time
def note():
    pathlib.Path(__file__).with_suffix('.pids').write_text(f'{{os.getpid()}}\\n')
def turn(t):
    _splice.out_of(0, prepare=note)
    # It takes the error from the pipe.
    say(type='nonsense', match=t['match'])
    time.sleep(60)
play(turn=turn)"
    );
    let (holder, plain) = (folder.bot("holder", &script), folder.plain_bot("plain"));
    let referee =
        Referee::start(["play", "checkers", holder.as_str(), plain.as_str(), "--clock", "delay=100s"]);
    let pid = folder.wait_for("holder.pids").trim().to_owned();
    let holds =
        || std::fs::read_to_string(format!("/proc/{pid}/wchan")).is_ok_and(|place| place.contains("sock"));
    let is_held = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        holds()
    });
    assert!(is_held, "{:?}", std::fs::read_to_string(format!("/proc/{pid}/wchan")));
    let killed = Instant::now();
    referee.signal(Signal::KILL);
    referee.wait();
    // It lets go after 60 s by itself.
    assert!(killed.elapsed() < Duration::from_secs(30), "{:?}", killed.elapsed());
    assert_gone(&[pid.parse().expect("a number")]);
}

/// The handler of a signal tells by a descriptor: a thread that has descriptors of its own must not get one.
#[test]
fn a_thread_with_descriptors_of_its_own_takes_no_signal() {
    let folder = Folder::new();
    let bot = folder.bot("waits", "import time\nplay(turn=lambda t: time.sleep(60))");
    let referee = Referee::start(["play", "checkers", &bot, &bot, "--clock", "delay=100s"]);
    let threads = format!("/proc/{}/task", referee.pid());
    let open = |thread: &str| std::fs::read_dir(format!("{thread}/fd")).map_or(0, Iterator::count);
    let of_watch = || {
        let threads = std::fs::read_dir(&threads).into_iter().flatten().flatten();
        let mut threads = threads.map(|thread| thread.path().to_string_lossy().into_owned());
        threads.find(|thread| {
            let name = std::fs::read_to_string(format!("{thread}/comm")).unwrap_or_default();
            name.trim() == "death-watch" && open(thread) < open(&format!("/proc/{}", referee.pid()))
        })
    };
    wait_until("the thread has its own descriptors", || of_watch().is_some());
    let status = std::fs::read_to_string(format!("{}/status", of_watch().expect("it"))).expect("it runs");
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).expect("a mask");
    let blocked = u64::from_str_radix(blocked.trim(), 16).expect("hex digits");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::CHILD] {
        assert!(blocked & 1 << (signal.as_raw() - 1) != 0, "{signal:?} is not blocked: {status}");
    }
    referee.signal(Signal::INT);
    referee.end().with_code(130);
}

/// A child that moves data between a pipe and a socket, as a bridge does, and blocks.
fn bridge() -> Child {
    let script = format!(
        "import sys
sys.path.append('{ROOT}/bots/hostile')
import _splice
_splice.copy(_splice.socketpair()[0], 1)"
    );
    Command::new("python3").args(["-c", &script]).stdout(Stdio::piped()).spawn().expect("it starts")
}

#[test]
fn children_of_an_embedding_program_are_never_killed() {
    let folder = Folder::new();
    // The blocking process is in its own session, which signals to the bot's group do not reach.
    let script = format!(
        "sys.path.append('{ROOT}/bots/hostile')
import _splice
import time
spliced = False
def turn(t):
    global spliced
    if t['match'] == 'm2' and t['turn'] >= 2:
        if not spliced:
            os.dup2(_splice.into(1, prepare=os.setsid), 1)
            spliced = True
        line = json.dumps({{'type': 'move', 'match': t['match'], 'seat': t['seat'], 'turn': t['turn'], 'move': t['legal'][0]}})
        # One of the bytes meets a referee that is slower than the process that copies them.
        for byte in line.encode() + b'\\n':
            os.write(1, bytes([byte]))
            time.sleep(0.005)
    else:
        first(t)
play(turn=turn)"
    );
    let bots = [folder.bot("holder", &script), folder.plain_bot("plain")];
    let bots = bots.map(|bot| sources::parse(&bot).expect("a command"));
    let rules = ::referee::games::catalog().find("checkers").expect("a game");
    let options = serde_json::value::to_raw_value(&json!({"turn_limit": 20})).expect("an object");
    let play = Play {
        runner: MatchRunner::new(
            Run { seed: Seed([0; 32]), terms: Terms::default() },
            rules,
            rules.meta().seating(None::<u8>).expect("a seating"),
            BotSpec::of(bots.to_vec()),
            Launch::Through(env!("CARGO_BIN_EXE_referee").into()),
        ),
        matches: 3,
        openings: Openings::same(options, Opening::None),
        mirror: None,
        trust_bots: false,
        max_cost: None,
    };
    let mut children = vec![bridge()];
    let mut faults = Vec::new();
    play.run(std::future::pending(), |step| {
        if let PlayEvent::Ended(finished) = step {
            children.push(bridge());
            let fault = finished.ending.fault.as_ref();
            faults.push(fault.and_then(|fault| fault.detail.as_ref().map(ToString::to_string)));
        }
    });
    let held = Some("signal 9: it held its pipe, and the referee had to wait".to_owned());
    assert_eq!(faults, [None, held, None]);
    for mut child in children {
        assert!(child.try_wait().expect("a child").is_none(), "it was killed");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
}
