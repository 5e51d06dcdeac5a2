//! Shared by the black-box tests: the real binary, bots, temporary directories.

pub(crate) mod browser;
pub(crate) mod cup;
pub(crate) mod guest;
pub(crate) mod http;
pub(crate) mod league;
pub(crate) mod owners;
pub(crate) mod proxy;
pub(crate) mod returning;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

pub(crate) use rustix::process::Signal;
use rustix::process::{Pid, kill_process, test_kill_process};
use serde_json::Value;
use tokio::time::Instant;

/// A timeout that only a hanging process exceeds, even on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(600);

/// The run seed of the specification's examples.
pub(crate) const SEED: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A position of checkers in which Black captures White's last piece at once.
pub(crate) const WON: &str = "fen=B:W18:B14";

/// The start of a bot that writes its process id to a file with its name.
pub(crate) const KEEPS_ITS_PID: &str = "import pathlib
PIDS = pathlib.Path(__file__).with_suffix('.pids')
with PIDS.open('a') as file:
    file.write(f'{os.getpid()}\\n')
";

/// The root of the repository.
pub(crate) const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Lets Cargo build bots that play few matches without optimization, which takes a fraction of the time.
pub(crate) const QUICK_BUILD: [(&str, &str); 1] = [("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")];

/// The command line of a sample bot.
pub(crate) fn sample(bot: &str) -> String {
    format!("python3 '{ROOT}/bots/{bot}'")
}

/// A program in Rust from the workspace, such as a sample bot or an example (`examples/embed`), which Cargo builds
/// with the referee when the whole workspace is tested.
pub(crate) fn in_rust(program: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_referee")).with_file_name(program);
    if !program.exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--no-run", "--workspace", "--all-features"]).current_dir(ROOT);
        // Cargo sets these for the test, and dependencies that read them would be built again.
        let set = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars().filter(|(name, _)| set(name)) {
            cargo.env_remove(name);
        }
        assert!(cargo.status().expect("cargo starts").success());
    }
    program
}

/// A port without a listener, which the system gives neither to a client nor to a listener that asks for any port.
pub(crate) fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let number = || 4 * std::process::id() + GIVEN.fetch_add(1, Ordering::Relaxed);
    // Below those of clients; four for each process.
    let mut ports = std::iter::repeat_with(|| 10_000 + (number() % 22_000) as u16);
    let is_free = |&port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    ports.find(is_free).expect("a free port")
}

/// Compiles a program in C beside this file.
pub(crate) fn compile(folder: &Folder, name: &str, options: &[&str]) -> PathBuf {
    let (source, target) = (format!("{ROOT}/tests/cli/common/{name}.c"), folder.path(name));
    let built = Command::new("gcc").args(["-O2", "-o"]).arg(&target).arg(source).args(options).status();
    assert!(built.expect("gcc runs").success());
    target
}

/// The command line of a bot in Java, which tests/run builds.
pub(crate) fn in_java(class: &str) -> String {
    let classes = ["classes", "test-classes"].map(|folder| format!("{ROOT}/bots/java/target/{folder}:"));
    let path = format!("'{}/usr/share/java/gson.jar'", classes.concat());
    // Optimised for start-up time: most of them are short-lived.
    format!("java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp {path} refereebot.{class}")
}

/// A running referee. If it hangs, it is killed and the test fails.
pub(crate) struct Referee {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    errors: Receiver<String>,
}

/// The result of a referee process.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Referee {
    pub(crate) fn start(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Referee {
        Referee::start_as(Command::new(env!("CARGO_BIN_EXE_referee")).args(args))
    }

    /// Starts a wrapper command instead, such as a terminal.
    pub(crate) fn start_as(command: &mut Command) -> Referee {
        let command = command.current_dir(ROOT);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the referee starts");
        let input = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let (tell, output) = channel();
        std::thread::spawn(move || {
            loop {
                let mut line = String::new();
                let got = stdout.read_line(&mut line).expect("standard output is UTF-8");
                if got == 0 || tell.send(line).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().expect("piped");
        let (tell, errors) = channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).expect("standard error is UTF-8");
            // The test may have failed already.
            let _ = tell.send(text);
        });
        Referee { child, input, output, errors }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(pid(self.pid()), signal).expect("it runs");
    }

    /// Waits until this signal does not just end it, as it does while the process starts.
    pub(crate) fn wait_until_it_handles(&self, signal: Signal) {
        let caught = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask");
            u64::from_str_radix(mask.trim(), 16).expect("hex digits")
        };
        let begun = Instant::now();
        while caught() & 1 << (signal.as_raw() - 1) == 0 {
            assert!(begun.elapsed() < TIMEOUT, "it does not handle {signal:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Writes bytes to its standard input.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.input.as_mut().expect("its input is open").write_all(bytes.as_ref()).expect("it reads");
    }

    pub(crate) fn send(&mut self, message: impl ToString) {
        self.write(message.to_string() + "\n");
    }

    /// The next line of its standard output, without the line break; `None` at the end.
    pub(crate) fn line(&mut self) -> Option<String> {
        match self.output.recv_timeout(TIMEOUT) {
            Ok(line) => Some(line.strip_suffix('\n').expect("a whole line").to_owned()),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => self.hangs(),
        }
    }

    /// The next line, if it arrives in time.
    pub(crate) fn line_within(&mut self, time: Duration) -> Option<String> {
        self.output.recv_timeout(time).ok().map(|line| line.trim_end().to_owned())
    }

    pub(crate) fn receive(&mut self) -> Value {
        let line =
            self.line().unwrap_or_else(|| panic!("it ended: {}", self.errors.recv().unwrap_or_default()));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next message of this type; earlier ones are skipped.
    pub(crate) fn receive_type(&mut self, kind: &str) -> Value {
        loop {
            let message = self.receive();
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Closes its standard input.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Waits until it exits. Its standard input stays open.
    pub(crate) fn wait(mut self) -> Ended {
        let mut stdout = String::new();
        loop {
            match self.output.recv_timeout(TIMEOUT) {
                Ok(line) => stdout.push_str(&line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.hangs(),
            }
        }
        let Ok(stderr) = self.errors.recv_timeout(TIMEOUT) else { self.hangs() };
        Ended { code: self.child.wait().expect("it ends").code(), stdout, stderr }
    }

    /// Closes its standard input and waits until it exits.
    pub(crate) fn end(mut self) -> Ended {
        self.close();
        self.wait()
    }

    fn hangs(&mut self) -> ! {
        let _ = self.child.kill();
        let stderr = self.errors.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        panic!("the referee hangs; its standard error: {stderr}")
    }
}

impl Drop for Referee {
    fn drop(&mut self) {
        // Both fail only if it has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the referee with an empty standard input.
pub(crate) fn referee(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ended {
    Referee::start(args).end()
}

/// Starts the referee on one CPU, so that it has one lane.
pub(crate) fn on_one_processor(args: &[&str]) -> Referee {
    let script = "import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.execv(sys.argv[1], sys.argv[1:])";
    let mut python = Command::new("python3");
    Referee::start_as(python.args(["-c", script, env!("CARGO_BIN_EXE_referee")]).args(args))
}

/// Runs the referee on a terminal, whose contents are in `stdout`.
pub(crate) fn on_a_terminal(options: &[&str], args: &[&str]) -> Referee {
    let mut terminal = Command::new("python3");
    terminal.arg(format!("{ROOT}/tests/cli/common/terminal.py")).args(options);
    Referee::start_as(terminal.arg(env!("CARGO_BIN_EXE_referee")).args(args))
}

impl Ended {
    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Checks that it succeeded and printed only results and, on a busy machine, progress and pauses.
    #[track_caller]
    pub(crate) fn done(self) -> Ended {
        self.with_code(0).says_nothing()
    }

    /// Checks that it printed only results and, on a busy machine, progress and pauses.
    #[track_caller]
    pub(crate) fn says_nothing(self) -> Ended {
        // On a machine without the default sandbox there is a note.
        let is_usual = |line: &str| {
            [
                " matches after ",
                " openings after ",
                " sets after ",
                "note: bots run without a sandbox",
                "the referee did not run: ",
            ]
            .iter()
            .any(|known| line.contains(known))
        };
        let said: Vec<&str> = self.stderr.lines().filter(|line| !is_usual(line)).collect();
        assert!(said.is_empty(), "{}", self.stderr);
        self
    }

    /// Checks that its standard error contains these texts and no panic.
    #[track_caller]
    pub(crate) fn says(self, texts: &[&str]) -> Ended {
        for text in texts {
            assert!(self.stderr.contains(text), "`{text}` is not in: {self:#?}");
        }
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// The standard output, one JSON object per line.
    #[track_caller]
    pub(crate) fn json(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The lines of this type on its standard output.
    #[track_caller]
    pub(crate) fn all(&self, kind: &str) -> Vec<Value> {
        self.json().into_iter().filter(|line| line["type"] == kind).collect()
    }

    /// The one line of this type on its standard output.
    #[track_caller]
    pub(crate) fn one(&self, kind: &str) -> Value {
        let mut all = self.all(kind);
        assert_eq!(all.len(), 1, "lines of type `{kind}`: {self:#?}");
        all.remove(0)
    }

    /// The exit code and the verdict of a comparison, except its duration.
    #[track_caller]
    pub(crate) fn judged(&self) -> (Option<i32>, Value) {
        let mut verdict = self.one("verdict");
        assert!(verdict["duration_ms"].take().is_u64(), "{verdict}");
        (self.code, verdict)
    }
}

/// A temporary directory for bots and records.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("testbot.py"), include_str!("testbot.py"))
            .expect("it can be written");
        Folder(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The path as text, for a command line.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("its name is UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), text).expect("the file can be written");
        self.text(name)
    }

    /// Writes a file that other users cannot read.
    pub(crate) fn write_secret(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.write(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("its own file");
        path
    }

    /// Publishes the records of a directory. Returns the directory of the public records.
    pub(crate) fn published(&self, records: &str) -> String {
        let to = self.text("published");
        referee(["publish", &self.text(records), "--to", &to]).done();
        to
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Writes a bot and returns its command line. The script uses `testbot.py`, and no installed packages (`-S`), which it would
    /// take longer to look for than to play a match.
    pub(crate) fn bot(&self, name: &str, script: &str) -> String {
        let path = self.write(&format!("{name}.py"), format!("from testbot import *\n\n{script}\n"));
        format!("python3 -S '{path}'")
    }

    /// A bot that plays the first legal move.
    pub(crate) fn plain_bot(&self, name: &str) -> String {
        self.bot(name, "play()")
    }

    /// A bot that plays an illegal move if this Python expression of the turn `t` is true.
    pub(crate) fn illegal_bot(&self, when: &str) -> String {
        self.bot("illegal", &format!("play(turn=lambda t: move(t, '1-32') if {when} else first(t))"))
    }

    pub(crate) fn record(&self, name: &str) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.read(name).lines().map(parse).collect()
    }

    /// Waits until a file exists and returns its contents.
    pub(crate) fn wait_for(&self, name: &str) -> String {
        for _ in 0..TIMEOUT.as_millis() / 5 {
            match std::fs::read_to_string(self.path(name)) {
                Ok(text) if text.ends_with('\n') => return text,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        panic!("{name} does not come");
    }

    /// The process ids that bots wrote to a file, one per line.
    pub(crate) fn pids(&self, name: &str) -> Vec<u32> {
        self.read(name).lines().map(|line| line.parse().expect("a process id")).collect()
    }
}

/// The one line of this type in a record.
#[track_caller]
pub(crate) fn the<'a>(kind: &str, record: &'a [Value]) -> &'a Value {
    let mut all = record.iter().filter(|line| line["type"] == kind);
    match (all.next(), all.next()) {
        (Some(line), None) => line,
        (first, _) => {
            panic!("{} line of type `{kind}`", if first.is_some() { "more than one" } else { "no" })
        }
    }
}

/// Sends a signal to a process.
pub(crate) fn kill(process: u32, signal: Signal) {
    kill_process(pid(process), signal).expect("it runs");
}

fn pid(pid: u32) -> Pid {
    Pid::from_raw(pid.cast_signed()).expect("a process id")
}

/// Checks that these processes have ended. A killed process may take a moment.
#[track_caller]
pub(crate) fn assert_gone(processes: &[u32]) {
    assert!(!processes.is_empty(), "no process to look for");
    for &process in processes {
        let gone = (0..2000).any(|_| {
            let gone = !lives(process);
            if !gone {
                std::thread::sleep(Duration::from_millis(5));
            }
            gone
        });
        assert!(gone, "process {process} is still there");
    }
}

fn lives(process: u32) -> bool {
    // A killed orphan may remain as a zombie if it is not reaped.
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let is_zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    !is_zombie && test_kill_process(pid(process)).is_ok()
}

/// The files of a directory by name.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}
