//! A process that survives a referee that was killed, and ends the processes that hold its pipes.
//!
//! A killed process closes its descriptors before it is gone. It waits for as long as a process holds the lock of a pipe,
//! and the kernel signals only its own children, when the thread that started them has ended.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::SigSet;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, setsid};

use crate::exec::{EXEC, close_descriptors};
use crate::holders::is_pipe;

/// The first argument after [`EXEC`] of the process that watches.
pub(super) const DEATH_WATCH: &str = "death-watch";
/// The last line to it, if the referee was not killed.
const OVER: &str = "over";

/// The interval of kills, and how many there are at most: 10 s.
const INTERVAL: Duration = Duration::from_millis(20);
const MOST_KILLS: u32 = 500;

/// The guard of a process, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct DeathWatch {
    pipes: mpsc::Sender<Vec<u64>>,
}

impl DeathWatch {
    /// Starts the process, which is this program.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(super) fn open(program: &Path) -> io::Result<DeathWatch> {
        let (pipes, told) = mpsc::channel();
        let program = program.to_owned();
        let work = move || {
            if let Err(error) = keep(&program, told) {
                tracing::debug!(%error, "a bot that holds a pipe will survive a referee that is killed");
            }
        };
        thread::Builder::new().name("death-watch".to_owned()).spawn(work)?;
        Ok(DeathWatch { pipes })
    }

    /// Says which pipes the referee has to bots, by their inodes.
    pub(super) fn tell(&self, pipes: Vec<u64>) {
        // The thread has ended if it could not start the process.
        let _ = self.pipes.send(pipes);
    }
}

/// Keeps a socket to the process that watches. Only this thread has it: the kernel closes those that threads share one
/// after the other, and none after a pipe that is held.
fn keep(program: &Path, told: mpsc::Receiver<Vec<u64>>) -> io::Result<()> {
    // A handler of a signal writes to a descriptor, which this thread has not.
    SigSet::all().thread_block()?;
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_FILES)?;
    close_descriptors("/proc/thread-self/fd");
    let (mut ours, theirs) = UnixStream::pair()?;
    let mut watch = Command::new(program);
    watch.arg0("referee").args([EXEC, DEATH_WATCH, &getpid().to_string()]).env_clear().current_dir("/");
    // The program may need these to run.
    watch.envs(std::env::var_os("LD_LIBRARY_PATH").map(|path| ("LD_LIBRARY_PATH", path)));
    watch.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut watching = watch.spawn()?;
    drop(watch);
    for pipes in told {
        let numbers = pipes.iter().map(u64::to_string).collect::<Vec<_>>();
        writeln!(ours, "{}", numbers.join(" "))?;
    }
    writeln!(ours, "{OVER}")?;
    watching.wait().map(drop)
}

/// Waits until the referee has ended without a word, and kills the processes that have its pipes open until
/// it is gone.
pub(super) fn watch(referee: Option<OsString>) -> ExitCode {
    let referee = referee.and_then(|id| Pid::from_raw(id.to_str()?.parse().ok()?));
    let Some(Ok(referee)) = referee.map(|id| pidfd_open(id, PidfdFlags::empty())) else {
        return ExitCode::FAILURE;
    };
    // No signal of a terminal ends it.
    if setsid().is_err() {
        return ExitCode::FAILURE;
    }
    let mut pipes = Vec::new();
    for line in io::stdin().lines().map_while(Result::ok) {
        if line == OVER {
            return ExitCode::SUCCESS;
        }
        pipes = line.split(' ').filter_map(|number| number.parse().ok()).collect();
    }
    let interval = Timespec { tv_sec: 0, tv_nsec: INTERVAL.subsec_nanos().into() };
    for _ in 0..MOST_KILLS {
        for holder in open_in(&pipes) {
            // The process may have ended.
            let _ = kill_process(holder, Signal::KILL);
        }
        let mut exits = [PollFd::new(&referee, PollFlags::IN)];
        if poll(&mut exits, Some(&interval)) != Ok(0) {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// The processes that have one of these pipes open. A killed process shows none.
fn open_in(pipes: &[u64]) -> impl Iterator<Item = Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| {
        let id = Pid::from_raw(process.file_name().to_str()?.parse().ok()?)?;
        let mut open = fs::read_dir(process.path().join("fd")).ok()?.flatten();
        let has_one = open.any(|fd| fs::read_link(fd.path()).is_ok_and(|target| is_pipe(&target, pipes)));
        has_one.then_some(id)
    })
}
