//! The processes of a tournament's bots: their number, failed starts, and orphans.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::{Ended, Folder, Referee, WON, assert_gone, referee};
use serde_json::{Value, json};

/// Writes a bot that is an executable and returns its table in the tournament file.
fn program(folder: &Folder, name: &str, script: &str) -> String {
    let text = format!("#!/usr/bin/env python3\nfrom testbot import *\n\n{script}\n");
    let path = folder.write(name, text);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a file");
    format!("[[entrants]]\nname = \"{name}\"\ncommand = \"{path}\"\n")
}

/// Plays a tournament of checkers with these settings and entrants.
fn tournament(folder: &Folder, settings: &str, entrants: &[String]) -> Ended {
    let format = "[format]\nkind = \"round_robin\"\n[options]\nfen = \"B:W18:B14\"\n";
    let toml = format!("game = \"checkers\"\n{settings}\n{format}{}", entrants.concat());
    let toml = folder.write("cup.toml", toml);
    referee(["tournament", "run", &toml, "--dir", &folder.text("cup"), "--json"])
}

#[test]
fn bot_with_deleted_program_loses_while_others_play_on() {
    let folder = Folder::new();
    let deleted =
        program(&folder, "deleted", "play(end=lambda _: os.path.exists(__file__) and os.unlink(__file__))");
    let others = ["one", "other"].map(|name| program(&folder, name, "play()"));
    let [one, other] = others;
    let ended = tournament(&folder, "restart = \"always\"", &[deleted, one, other]).with_code(0);
    let matches = ended.all("match");
    assert_eq!(matches.len(), 6);
    let (with, without): (Vec<&Value>, Vec<&Value>) = matches.iter().partition(|played| {
        played["seats"].as_array().is_some_and(|seats| seats.contains(&json!("deleted")))
    });
    assert_eq!((with.len(), without.len()), (4, 2));
    assert!(without.iter().all(|played| played["ended_by"] == "rules"), "{without:?}");
    let lost = with.iter().filter(|played| played["fault"]["code"] == "no_start").count();
    assert_eq!(lost, 3, "the first match is played: {with:?}");
    ended.says(&["the bot `deleted` does not start (no_start: it cannot be started: there is no program"]);
}

#[test]
fn replacing_a_program_costs_its_bot_nothing() {
    let folder = Folder::new();
    let script = "def vanish(_):
    os.rename(__file__, __file__ + '.new')
    left, leave = os.pipe()
    if os.fork() == 0:
        import time
        os.setsid()
        os.write(leave, b'.')
        time.sleep(0.3)
        os.rename(__file__ + '.new', __file__)
        os._exit(0)
    os.read(left, 1)  # until then it belongs to the bot, and ends with it
play(end=vanish)";
    let entrants = [program(&folder, "renewed", script), program(&folder, "plain", "play()")];
    let ended = tournament(&folder, "restart = \"always\"", &entrants).with_code(0);
    let faults: Vec<Value> = ended.all("match").into_iter().map(|played| played["faults"].clone()).collect();
    assert_eq!(faults, [json!([{}, {}]), json!([{}, {}])]);
}

#[test]
fn the_number_of_processes_is_limited() {
    let folder = Folder::new();
    // Each process counts the live ones when it starts.
    let script = "import pathlib
PIDS = pathlib.Path(__file__).parent / 'pids'
with PIDS.open('a') as file:
    file.write(f'{os.getpid()}\\n')
def lives(pid):
    try:
        return open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False
alive = sum(lives(pid) for pid in PIDS.read_text().split())
with (PIDS.parent / 'alive').open('a') as file:
    file.write(f'{alive}\\n')
play()";
    let entrants: Vec<String> = (0..7).map(|n| program(&folder, &format!("bot-{n}"), script)).collect();
    let ended = tournament(&folder, "jobs = 2\nprocesses = 5\nmirror = \"none\"", &entrants).with_code(0);
    let matches = ended.all("match");
    assert_eq!(matches.len(), 21);
    assert!(matches.iter().all(|played| played["faults"] == json!([{}, {}])), "{matches:?}");
    let most = folder.pids("alive").into_iter().max();
    assert!(most.is_some_and(|most| (4..=5).contains(&most)), "{most:?}");
    // Idle processes are reused.
    let starts = folder.pids("pids").len();
    assert!(starts < 2 * 21, "{starts} starts");
}

#[test]
fn a_process_limit_below_the_jobs_is_rejected() {
    let folder = Folder::new();
    let entrants = ["one", "other"].map(|name| program(&folder, name, "play()"));
    let ended = tournament(&folder, "jobs = 2\nprocesses = 3", &entrants).with_code(2);
    ended.says(&["processes: 3 is less than the 4 needed for `jobs` = 2"]);
}

#[test]
fn the_configuration_limits_the_slots_of_a_bot() {
    let folder = Folder::new();
    let script = "import pathlib
running, most = set(), 0
def start(message):
    global most
    running.add(message['match'])
    most = max(most, len(running))
    pathlib.Path(__file__).with_suffix('.most').write_text(f'{most}\\n')
    ready(message)
def end(message):
    running.discard(message['match'])
play(hello=lambda _: say(type='hello', protocol=1, name='greedy', slots=4096), start=start, end=end)";
    let (one, other) = (folder.bot("one", script), folder.bot("other", script));
    let args = ["play", "checkers", &one, &other, "-n", "12", "--set", WON];
    for (slots, most) in [(None, "12\n"), (Some("3"), "3\n")] {
        let more = slots.map(|slots| ["--slots", slots]);
        referee(args.iter().copied().chain(more.into_iter().flatten())).with_code(0);
        assert_eq!(folder.read("one.most"), most);
    }
}

#[test]
fn an_unkillable_orphan_does_not_delay_the_end() {
    // Runs as a user who may change to another one, but may not signal it: the orphan is out of reach.
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || Command::new("setpriv").arg("--version").output().is_err() {
        eprintln!("not tested: this needs root and setpriv");
        return;
    }
    let folder = Folder::new();
    let script = "import pathlib, subprocess
free = subprocess.Popen(['setpriv', '--reuid=65534', '--clear-groups', 'sleep', '300'], start_new_session=True)
pathlib.Path(__file__).with_suffix('.pids').write_text(f'{free.pid}\\n')
import time
while b'sleep' not in open(f'/proc/{free.pid}/cmdline', 'rb').read().split(b'\\0')[0]:
    time.sleep(0.01)
play()";
    let (bot, plain) = (folder.bot("leaves", script), folder.plain_bot("plain"));
    let mut setpriv = Command::new("setpriv");
    setpriv.args(["--bounding-set=-kill", "--inh-caps=-kill", env!("CARGO_BIN_EXE_referee")]);
    let ended = Referee::start_as(setpriv.args([
        "play",
        "checkers",
        &bot,
        &plain,
        "--set",
        WON,
        "--sandbox",
        "none",
    ]))
    .end();
    // It would outlive the wait for the referee.
    let ended = ended.with_code(0).says(&["a process that a bot has left behind cannot be ended", "sleep"]);
    assert!(!ended.stdout.is_empty());
    for process in folder.pids("leaves.pids") {
        let killed = Command::new("kill").args(["-9", &process.to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()), "it was there");
        assert_gone(&[process]);
    }
}

#[test]
fn few_descriptors_reduce_concurrency_without_faults() {
    let folder = Folder::new();
    let entrants: Vec<String> = (0..6).map(|n| program(&folder, &format!("bot-{n}"), "play()")).collect();
    let format = "[format]\nkind = \"round_robin\"\n[options]\nfen = \"B:W18:B14\"\n";
    let settings = "jobs = 8\nrestart = \"always\"\n";
    let toml =
        folder.write("cup.toml", format!("game = \"checkers\"\n{settings}{format}{}", entrants.concat()));
    let dir = folder.text("cup");
    let with_files = |files: u32| {
        let script = format!("ulimit -n {files}; exec '{}' \"$@\"", env!("CARGO_BIN_EXE_referee"));
        let mut sh = Command::new("bash");
        sh.args(["-c", &script, "sh", "tournament", "run", &toml, "--dir", &dir, "--json"]);
        Referee::start_as(&mut sh).end()
    };
    let ended = with_files(68).with_code(0);
    let matches = ended.all("match");
    assert_eq!(matches.len(), 30);
    assert!(matches.iter().all(|played| played["faults"] == json!([{}, {}])), "{matches:?}");
    ended.says(&["using 2 jobs instead of 8, which need up to 136 file descriptors: the limit is 68"]);

    std::fs::remove_dir_all(&dir).expect("a tournament");
    with_files(40).with_code(5).says(&["a match needs up to 52 file descriptors, but the limit is 40"]);
}

/// Runs a script of `sh` as a user whose number of processes can be limited: root's cannot.
fn as_limited_user(script: &str) -> Command {
    let is_root = rustix::process::geteuid().is_root();
    let mut command = Command::new(if is_root { "setpriv" } else { "unshare" });
    if is_root {
        // A user of its own, who may use the files of the test as root does.
        command.args(["--reuid=61234", "--clear-groups", "--inh-caps=+dac_override"]);
        command.arg("--ambient-caps=+dac_override");
    } else {
        // Processes are counted by user and user namespace.
        command.args(["--user", "--map-current-user"]);
    }
    command.args(["sh", "-c", script]);
    command
}

#[test]
fn starts_that_fail_at_the_process_limit_are_retried() {
    let folder = Folder::new();
    // Uses up all processes of the user from the file `fill` to the file `release`.
    folder.write(
        "hog.py",
        "import os, pathlib, signal, time
HERE = pathlib.Path(__file__).parent
signal.alarm(100)
while not (HERE / 'fill').exists():
    time.sleep(0.01)
children = []
try:
    while True:
        child = os.fork()
        if child == 0:
            signal.alarm(100)
            signal.pause()
        children.append(child)
except BlockingIOError:
    (HERE / 'full').touch()
while not (HERE / 'release').exists():
    time.sleep(0.01)
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
",
    );
    let script = "import pathlib, time
HERE = pathlib.Path(__file__).parent
def turn(t):
    (HERE / 'fill').touch()
    while not (HERE / 'full').exists():
        time.sleep(0.01)
    first(t)
play(turn=turn)";
    let entrants = ["one", "other", "third"].map(|name| program(&folder, name, script));
    let format = "[format]\nkind = \"round_robin\"\n[options]\nfen = \"B:W18:B14\"\n";
    let settings = "jobs = 1\nrestart = \"always\"\n";
    let toml =
        folder.write("cup.toml", format!("game = \"checkers\"\n{settings}{format}{}", entrants.concat()));
    // The hog may have more processes than the referee, so that ended bots leave none free.
    let both = "prlimit --nproc=120 python3 \"$1\" & shift; exec prlimit --nproc=80 \"$@\"";
    let mut command = as_limited_user(both);
    command.args(["sh", &folder.text("hog.py"), env!("CARGO_BIN_EXE_referee"), "--log-level", "debug"]);
    command.args(["tournament", "run", &toml, "--dir", &folder.text("cup"), "--json"]);
    let mut running = Referee::start_as(&mut command);
    let first = running.receive_type("match");
    let second = running.receive_type("match");
    folder.write("release", "");
    let ended = running.end().with_code(0);
    assert_eq!(first["faults"], json!([{}, {}]));
    assert_eq!(second["fault"]["code"], "no_start", "{second}");
    let detail = second["fault"]["detail"].as_str().expect("a detail");
    assert!(detail.contains("Resource temporarily unavailable"), "{detail}");
    let tries = ended.stderr.matches("not started; to be retried").count();
    assert!(tries >= 3, "{tries} retries: {}", ended.stderr);
    let rest = ended.all("match");
    assert_eq!((rest.len(), &rest[3]["faults"]), (4, &json!([{}, {}])));
}

/// A bot that hangs in its third turn, once.
const HANGS_ONCE: &str = "import pathlib, time
HUNG = pathlib.Path(__file__).with_suffix('.hung')
def turn(t):
    if t['turn'] == 2 and not HUNG.exists():
        HUNG.touch()
        time.sleep(60)
    first(t)
play(turn=turn)";

#[test]
fn a_process_that_hangs_once_is_replaced() {
    let folder = Folder::new();
    let (plain, hangs) = (folder.plain_bot("plain"), folder.bot("hangs", HANGS_ONCE));
    let options =
        ["-n", "4", "--clock", "delay=1s", "--ready-limit", "2s", "--set", "turn_limit=12", "--json"];
    let ended = referee([&["play", "checkers", &plain, &hangs], &options[..]].concat()).with_code(0);
    let matches = ended.all("match");
    let codes: Vec<&Value> = matches.iter().filter_map(|played| played["fault"].get("code")).collect();
    assert_eq!((matches.len(), codes), (4, vec![&json!("timeout")]), "{matches:?}");
}

/// A bot that crashes in its third turn, and takes its time to end after its output has ended.
const CRASHES_SLOWLY: &str = "import time
def turn(t):
    if t['turn'] == 2:
        os.close(1)
        time.sleep(0.4)
        os._exit(1)
    first(t)
play(turn=turn)";

#[test]
fn crash_has_one_label_however_long_process_takes_to_end() {
    let folder = Folder::new();
    let (plain, crashes) = (folder.plain_bot("plain"), folder.bot("crashes", CRASHES_SLOWLY));
    for clock in ["delay=10s", "delay=200ms", "none"] {
        let ended = referee(["play", "checkers", &plain, &crashes, "-n", "2", "--clock", clock, "--json"]);
        for played in ended.with_code(0).all("match") {
            let fault = &played["fault"];
            assert_eq!([&fault["code"], &fault["detail"]], ["exited", "status 1"], "{clock}: {played}");
        }
    }
}
