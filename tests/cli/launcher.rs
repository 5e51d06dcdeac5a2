//! The environment of bots: sessions, descriptors, variables, and their end when the referee is killed.
#![cfg(target_os = "linux")]

use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::common::{Folder, ROOT, Referee, Signal, TIMEOUT, WON, assert_gone, on_a_terminal};
use ::referee::bot::{Launch, Launcher};
use referee::game::Chain;
use serde_json::{Value, json};

const REFEREE: &str = env!("CARGO_BIN_EXE_referee");

/// A bot that writes its environment to a file with its name before it plays.
const LOOKS_AROUND: &str = "import pathlib

def error_of(action):
    try:
        action()
        return None
    except OSError as error:
        return os.strerror(error.errno)

def signals(field):
    line = next(l for l in open('/proc/self/status') if l.startswith(field))
    return int(line.split()[1], 16)

def descriptors():
    # The one that the list is read with is closed when the others are looked at.
    fds = [int(fd) for fd in os.listdir('/proc/self/fd')]
    return sorted(fd for fd in fds if error_of(lambda: os.fstat(fd)) is None)

facts = {
    'descriptors': descriptors(),
    'leads_its_session': os.getsid(0) == os.getpid() == os.getpgid(0),
    'terminal': error_of(lambda: os.open('/dev/tty', os.O_RDWR)),
    'foreground': error_of(lambda: os.tcsetpgrp(0, os.getpgid(0))),
    'blocked': signals('SigBlk:'),
}
pathlib.Path(__file__).with_suffix('.facts').write_text(json.dumps(facts) + '\\n')
play()";

fn facts(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.wait_for(&format!("{name}.facts"))).expect("JSON")
}

#[test]
fn bots_run_in_their_own_sessions_with_three_descriptors() {
    let folder = Folder::new();
    let bot = folder.bot("curious", LOOKS_AROUND);
    let plain = folder.plain_bot("plain");
    let toml = format!(
        "game = \"checkers\"\n[format]\nkind = \"round_robin\"\n[options]\nfen = \"B:W18:B14\"
[[entrants]]\ncommand = \"\"\"{bot}\"\"\"\n[[entrants]]\ncommand = \"\"\"{plain}\"\"\"\n"
    );
    let (toml, dir) = (folder.write("cup.toml", toml), folder.text("cup"));
    let commands: [&[&str]; 5] = [
        &["play", "checkers", &bot, &plain, "--set", WON],
        &["debug", "checkers", &bot, "--set", WON],
        &["check", "checkers", &bot],
        &["regress", "checkers", "--new", &bot, "--base", &plain, "--fixed", "2"],
        &["tournament", "run", &toml, "--dir", &dir],
    ];
    for command in commands {
        let _ = std::fs::remove_file(folder.path("curious.facts"));
        // Descriptors leaked by the parent reach the referee, but no bot.
        let script = format!("exec 7</dev/null 12</dev/null; exec '{REFEREE}' \"$@\"");
        let mut sh = Command::new("bash");
        let ended = Referee::start_as(sh.args(["-c", &script, "referee"]).args(command)).end();
        assert!(folder.path("curious.facts").exists(), "{command:?}: {ended:#?}");
        let facts = facts(&folder, "curious");
        assert_eq!(facts["descriptors"], json!([0, 1, 2]), "{command:?}");
        assert_eq!(facts["leads_its_session"], true, "{command:?}");
        assert_eq!(facts["blocked"], 0, "{command:?}");
    }
}

#[test]
fn a_bot_has_no_terminal_even_if_the_referee_has() {
    let folder = Folder::new();
    let bot = folder.bot("curious", LOOKS_AROUND);
    on_a_terminal(&[], &["play", "checkers", &bot, &bot, "--set", WON]).end().with_code(0);
    let facts = facts(&folder, "curious");
    assert_eq!(facts["terminal"], "No such device or address");
    assert_eq!(facts["foreground"], "Operation not permitted");
}

#[test]
fn ctrl_c_ends_a_referee_whose_bot_ignores_it() {
    let folder = Folder::new();
    let script = "import pathlib
for name in ['SIGINT', 'SIGTTIN', 'SIGTTOU']:
    signal.signal(getattr(signal, name), signal.SIG_IGN)
taken = []
for path in ['/dev/tty', *('/dev/pts/' + name for name in os.listdir('/dev/pts'))]:
    try:
        os.tcsetpgrp(os.open(path, os.O_RDWR), os.getpgid(0))
        taken.append(path)
    except OSError:
        pass
pathlib.Path(__file__).with_suffix('.taken').write_text(f'{taken}\\n')
play(turn=lambda _: signal.pause())";
    let (bot, plain) = (folder.bot("greedy", script), folder.plain_bot("plain"));
    // The match is displayed once the other bot has moved.
    let keys = ["--after", "1. plain", "--type", "\\x03"];
    on_a_terminal(&keys, &["play", "checkers", &plain, &bot, "--clock", "none"]).wait().with_code(130);
    assert_eq!(folder.read("greedy.taken"), "[]\n");
}

/// A bot that first writes the output of a shell command.
fn told_by_a_shell(folder: &Folder, tells: &str) -> String {
    let plain = folder.plain_bot("plain");
    let script = folder.write("output.sh", format!("{tells} > '{}'\nexec {plain}\n", folder.text("output")));
    format!("sh '{script}'")
}

#[test]
fn a_bot_gets_the_documented_environment() {
    let folder = Folder::new();
    // A shell adds variables of its own, which are not in the initial environment.
    let bot = told_by_a_shell(&folder, "tr '\\0' '\\n' < /proc/$$/environ");
    let toml = format!(
        "game = \"checkers\"\n[format]\nkind = \"round_robin\"\n[options]\nfen = \"B:W18:B14\"
[[entrants]]\ncommand = \"\"\"{bot}\"\"\"\nenv = {{ THREADS = \"1\", LANG = \"xx\" }}\n[[entrants]]\ncommand = \"\"\"{}\"\"\"\n",
        folder.plain_bot("other")
    );
    let (toml, dir) = (folder.write("cup.toml", toml), folder.text("cup"));
    let path = std::env::var("PATH").expect("a path");
    let mut referee = Command::new(REFEREE);
    referee.env_clear().env("PATH", &path).env("PYTHONHASHSEED", "7").env("LC_NAME", "C");
    referee.env("LANG", "C").env("SECRET", "x").env("GITHUB_TOKEN", "x").env("SSH_AUTH_SOCK", "x");
    Referee::start_as(referee.args(["tournament", "run", &toml, "--dir", &dir])).end().with_code(0);
    let expected = format!("LANG=xx\nLC_NAME=C\nPATH={path}\nPYTHONHASHSEED=7\nTHREADS=1\n");
    assert_eq!(folder.read("output"), expected);
}

#[test]
fn a_bot_does_not_inherit_ignored_sigpipe() {
    let folder = Folder::new();
    let bot = told_by_a_shell(&folder, "grep SigIgn: /proc/$$/status");
    crate::common::referee(["play", "checkers", &bot, &bot, "--set", WON]).done();
    let output = folder.read("output");
    let ignored = output.split_whitespace().last().and_then(|mask| u64::from_str_radix(mask, 16).ok());
    let broken_pipe = 1 << (Signal::PIPE.as_raw() - 1);
    assert_eq!(ignored.expect("a mask") & broken_pipe, 0, "{output}");
}

#[test]
fn no_bot_outlives_a_killed_referee() {
    let folder = Folder::new();
    let deaf = "import pathlib, time
for name in ['SIGTERM', 'SIGHUP', 'SIGINT']:
    signal.signal(getattr(signal, name), signal.SIG_IGN)
def hang(*_):
    pathlib.Path(__file__).with_suffix('.pids').write_text(f'{os.getpid()}\\n')
    while True:
        time.sleep(60)
play(turn=hang, start=lambda s: ready(s) if s['seat'] == 0 else hang())";
    let (one, other) = (folder.bot("one", deaf), folder.bot("other", deaf));
    let play = Referee::start(["play", "checkers", &one, &other, "--clock", "none"]);
    folder.wait_for("other.pids");
    play.signal(Signal::KILL);
    assert_gone(&folder.pids("other.pids"));
    play.wait();
    if folder.path("one.pids").exists() {
        assert_gone(&folder.pids("one.pids"));
    }
}

#[test]
fn a_bot_outlives_the_thread_that_started_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let handle = runtime.handle().clone();
    let asks = move || {
        handle.block_on(async {
            let launcher = Launcher::open(Launch::Through(REFEREE.into()), 1).expect("a launcher");
            let command = "sleep 100".parse().expect("a command");
            let (ended, has_ended) = tokio::sync::oneshot::channel();
            let on_exit = |how| drop(ended.send(how));
            let started = launcher.start(move |starter| starter.start(&command, on_exit)).await;
            (started.expect("it starts"), has_ended)
        })
    };
    let ((process, wire), has_ended) = thread::spawn(asks).join().expect("no panic");
    runtime.block_on(async {
        let exit = tokio::time::timeout(Duration::from_millis(300), has_ended);
        assert!(exit.await.is_err(), "it has ended");
        drop(wire);
        process.end().await;
    });
}

#[test]
fn an_embedding_program_can_start_bots() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let launcher = Launcher::open(Launch::Directly, 2).expect("a launcher");
        let command = "sh -c 'exit 7'".parse().expect("a command");
        let (ended, has_ended) = tokio::sync::oneshot::channel();
        let on_exit = |how| drop(ended.send(how));
        let started = launcher.start(move |starter| starter.start(&command, on_exit)).await;
        let _process = started.expect("it starts");
        let how = tokio::time::timeout(TIMEOUT, has_ended).await.expect("in time").expect("its exit status");
        assert_eq!(how.to_string(), "status 7");
        let missing = "./no-such-bot".parse().expect("a command");
        let started = launcher.start(move |starter| starter.start(&missing, |_| {})).await;
        let error = Chain(&started.expect_err("it does not start")).to_string();
        assert_eq!(error, "there is no program `./no-such-bot` here");
    });
}

#[test]
fn the_launcher_explains_itself_when_called_by_hand() {
    let ended = Command::new(REFEREE).args(["__exec", "--", "true"]).current_dir(ROOT).output();
    let ended = ended.expect("it starts");
    assert_eq!(ended.status.code(), Some(127));
}

/// As in a container entered from outside: the leader of the referee's session is not in its PID namespace.
#[test]
fn orphans_are_ended_if_session_is_outside_pid_namespace() {
    let unshare = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    let is_allowed =
        Command::new("unshare").args(unshare).arg("true").status().is_ok_and(|end| end.success());
    if !is_allowed {
        eprintln!("skipped: PID namespaces are not permitted here");
        return;
    }
    let folder = Folder::new();
    let script = "import subprocess
subprocess.Popen(['sleep', '1000'], start_new_session=True, stdout=2)
sys.exit(3)";
    let (bot, plain) = (folder.bot("leaver", script), folder.plain_bot("plain"));
    // Looks in the namespace for processes that the bot has started.
    let script = "\"$@\"; code=$?; grep -qsx sleep /proc/[0-9]*/comm && exit 99; exit $code";
    let mut referee = Command::new("unshare");
    referee.args(unshare).args(["sh", "-c", script, "sh", REFEREE, "play", "checkers", &bot, &plain]);
    Referee::start_as(&mut referee).end().with_code(5);
}
