//! The process of a bot.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use referee_game::Wrong;
use referee_match::Detail;
use referee_match::record::KeptData;
use referee_protocol::limits;
use referee_transport::{Mark, Wire};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpid};
use tokio::sync::{OwnedMutexGuard, watch};

use crate::launcher::{ProcessLease, SpawnError, Spawned, Starter, Stdio, Streams};
use crate::lineage::{descendants, first_child};
use crate::sandbox::ConfinementGuard;
use crate::{Command, Stderr};

/// The number of tries, and the time between them, to see whether a namespace has ended.
const REAP_TRIES: u32 = 1000;
const REAP_INTERVAL: Duration = Duration::from_millis(1);

/// The number of processes above which a bot is not measured whole: the lane that reads them plays other matches.
const MOST_MEASURED: usize = 1000;

/// The number by which the kernel shows a pipe.
fn inode(pipe: &OwnedFd) -> io::Result<u64> {
    Ok(rustix::fs::fstat(pipe)?.st_ino)
}

/// A running bot, the leader of its own process group and usually session. Dropping it kills the group.
#[derive(Debug)]
pub struct Process {
    /// The group of the child process: the bot, or bubblewrap, which ends all processes of the bot when it ends.
    group: Pid,
    inner: Pid,
    /// The first process of the namespace of the bot, if it has one.
    first: Option<Pid>,
    has_exited: watch::Receiver<bool>,
    stderr: Stderr,
    /// The pipe guard watches the bot's pipes for as long as this exists.
    mark: Arc<Mark>,
    /// `/proc/PID/stat`, where it exists: kept open because it is read at every match.
    stat: Option<File>,
    /// The list of the children of its first thread, likewise.
    children: Option<File>,
    lease: Option<ProcessLease>,
    guard: ConfinementGuard,
}

impl Process {
    /// Starts a bot. `on_exit` receives the exit status.
    pub(super) fn start(
        command: &Command,
        starter: &Starter,
        on_exit: impl FnOnce(Detail) + Send + 'static,
    ) -> Result<(Process, Wire), SpawnError> {
        let StreamEnds { its_input, its_output, our_input, our_output } =
            StreamEnds::open(starter.streams())?;
        let pipes = match starter.streams() {
            Streams::Pipes => Some([inode(&our_input)?, inode(&our_output)?]),
            Streams::Sockets => None,
        };
        let process = Process::over(command, starter, its_input, its_output, pipes, on_exit)?;
        let wire = match starter.streams() {
            Streams::Pipes => Wire::pipes(our_input, our_output, Some(process.mark.clone())),
            Streams::Sockets => Wire::sockets(our_input, our_output),
        };
        Ok((process, wire))
    }

    /// Starts a program with this standard input and output. If they are pipes that the program must not hold, `pipes` has
    /// their numbers.
    pub(super) fn over(
        command: &Command,
        starter: &Starter,
        input: OwnedFd,
        output: OwnedFd,
        pipes: Option<[u64; 2]>,
        on_exit: impl FnOnce(Detail) + Send + 'static,
    ) -> Result<Process, SpawnError> {
        let (our_errors, its_errors) = io::pipe()?;
        let stderr = Stderr::new(our_errors.into())?;
        let stdio = Stdio { input, output, errors: its_errors.into() };
        let mark = Arc::<Mark>::default();
        let spawned = starter.spawn(command, stdio).map_err(|error| match error {
            SpawnError::NotConfined => match stderr.first_line() {
                Some(said) => Wrong::from(format!("its sandbox cannot be built: {said}")).into(),
                None => error,
            },
            error => error,
        });
        let Spawned { mut child, ends, guard } = spawned?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group = group.ok_or(Wrong::new("the process has no id"))?;
        if let Some(pipes) = pipes {
            starter.pipe_guard().watch(group, pipes, &mark);
        }
        // Bubblewrap has a child that is the first process of the namespace, and the bot is the first child of that.
        let first = if guard.is_wrapped { first_child(group) } else { None };
        let inner = first.and_then(first_child).unwrap_or(group);
        let open = |file: &str| File::open(format!("/proc/{inner}/{file}")).ok();
        let (stat, children) = (open("stat"), open(&format!("task/{inner}/children")));
        let (exited, has_exited) = watch::channel(false);
        let lease = None;
        let process = Process { group, inner, first, has_exited, stderr, mark, stat, children, lease, guard };
        process.stderr.drain(ends)?;
        let mark = process.mark.clone();
        let &ConfinementGuard { is_wrapped, memory, file, .. } = &process.guard;
        let cgroup = process.guard.cgroup.clone();
        tokio::spawn(async move {
            let how = match child.wait().await {
                Ok(_) if cgroup.as_ref().is_some_and(|cgroup| cgroup.has_run_out_of_memory()) => {
                    Detail::MemoryLimit { most_bytes: memory }
                }
                Ok(status) => match (describe(status, is_wrapped, mark.was_held()), file) {
                    (Detail::Signal { signal, .. }, Some(most_bytes)) if signal == Signal::XFSZ.as_raw() => {
                        Detail::FileLimit { most_bytes }
                    }
                    (how, _) => how,
                },
                Err(error) => Detail::other(format!("its end was not seen: {error}")),
            };
            if let Some(first) = first {
                reap(first).await;
            }
            exited.send_replace(true);
            on_exit(how);
        });
        Ok(process)
    }

    /// Keeps this until the process exits.
    pub(super) fn with(mut self, lease: ProcessLease) -> Process {
        self.lease = Some(lease);
        self
    }

    /// Stores the content of its kept directory, unless the process of this turn is still running.
    pub fn keep_in_turn(&mut self, turn: Option<OwnedMutexGuard<()>>) {
        if let Some(kept) = &mut self.guard.kept {
            kept.turn = turn;
        }
    }

    /// The data kept at its start, if it keeps anything.
    pub fn kept(&self) -> Option<&KeptData> {
        self.guard.kept.as_ref().map(|kept| &kept.data)
    }

    pub fn stderr(&self) -> &Stderr {
        &self.stderr
    }

    /// The CPU time of the process, of its descendants and of the children that they have waited for, each in steps of 10 ms.
    /// None if the process has exited, and on systems without `/proc`. With a control group, of all its processes. Without
    /// one and without a namespace, a process whose parent has exited does not count.
    pub fn cpu(&self) -> Option<Duration> {
        if let Some(cgroup) = &self.guard.cgroup {
            return cgroup.cpu();
        }
        let mut buffer = [0; 1024];
        let len = self.stat.as_ref()?.read_at(&mut buffer, 0).ok()?;
        let bot = Stat::parse(&buffer[..len])?;
        let mut ticks = bot.own + bot.waited;
        let is_empty = |list: &File| list.read_at(&mut [0], 0).is_ok_and(|len| len == 0);
        // Most bots are single processes: looking at all threads takes ten system calls.
        if self.first.is_some() || bot.threads > 1 || !self.children.as_ref().is_some_and(is_empty) {
            let of = |process: Pid| Stat::parse(&std::fs::read(format!("/proc/{process}/stat")).ok()?);
            // Orphans of the bot become children of the first process, which waits for them.
            ticks += self.first.and_then(of).map_or(0, |first| first.waited);
            let below = descendants(self.first.unwrap_or(self.inner), MOST_MEASURED);
            let below = below.into_iter().filter(|process| *process != self.inner).filter_map(of);
            ticks += below.map(|process| process.own + process.waited).sum::<u64>();
        }
        Some(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()))
    }

    /// Ends the process after its stream has been closed: SIGTERM after 2 s, SIGKILL after 1 s more. Its kept
    /// data are stored then.
    pub async fn end(mut self) {
        for (timeout_ms, signal) in
            [(limits::END_OF_INPUT_MS, Signal::TERM), (limits::SIGTERM_MS, Signal::KILL)]
        {
            let exit = self.has_exited.wait_for(|&has_exited| has_exited);
            if tokio::time::timeout(Duration::from_millis(timeout_ms), exit).await.is_ok() {
                break;
            }
            tracing::debug!(group = %self.group, ?signal, "the bot did not end");
            self.signal(signal);
        }
        // A killed process normally exits at once.
        let exit = self.has_exited.wait_for(|&has_exited| has_exited);
        if tokio::time::timeout(Duration::from_secs(5), exit).await.is_err() {
            tracing::warn!(group = %self.group, "the bot cannot be killed");
        } else if let Some(kept) = self.guard.kept.take() {
            kept.store().await;
        }
        // Dropping it kills the rest of its process group.
    }

    /// Sends a signal to its process group.
    pub fn signal(&self, signal: Signal) {
        // Bubblewrap passes no signal on.
        let group = if signal == Signal::KILL { self.group } else { self.inner };
        if let Err(error) = kill_process_group(group, signal)
            && error != rustix::io::Errno::SRCH
        {
            tracing::warn!(group = %self.group, %error, "signal not sent");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Fields of `/proc/PID/stat`, proc_pid_stat(5).
struct Stat {
    /// The CPU time of the process, in ticks of the clock.
    own: u64,
    /// The CPU time of the children that it has waited for, in the same unit.
    waited: u64,
    threads: u64,
}

impl Stat {
    fn parse(stat: &[u8]) -> Option<Stat> {
        // The second field is the program's name in parentheses, which may contain any character.
        let after_name = stat.iter().rposition(|&byte| byte == b')')? + 1;
        let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
        let mut next = |skipped| fields.nth(skipped)?.parse::<u64>().ok();
        // Fields 14 to 17 are utime, stime, cutime and cstime, 20 is num_threads.
        Some(Stat { own: next(11)? + next(0)?, waited: next(0)? + next(0)?, threads: next(2)? })
    }
}

/// Waits for the first process of a namespace, whose parent was bubblewrap. It is ending.
async fn reap(first: Pid) {
    for _ in 0..REAP_TRIES {
        match waitpid(Some(first), WaitOptions::NOHANG) {
            Ok(None) => tokio::time::sleep(REAP_INTERVAL).await,
            // Unless this process is a subreaper, another one is the parent.
            Ok(Some(_)) | Err(_) => return,
        }
    }
}

/// The ends of the bot's standard input and output.
struct StreamEnds {
    its_input: OwnedFd,
    its_output: OwnedFd,
    /// Reads the bot's output.
    our_input: OwnedFd,
    /// Writes the bot's input.
    our_output: OwnedFd,
}

impl StreamEnds {
    fn open(streams: Streams) -> io::Result<StreamEnds> {
        Ok(match streams {
            Streams::Pipes => {
                let ((its_input, our_output), (our_input, its_output)) = (io::pipe()?, io::pipe()?);
                StreamEnds {
                    its_input: its_input.into(),
                    its_output: its_output.into(),
                    our_input: our_input.into(),
                    our_output: our_output.into(),
                }
            }
            Streams::Sockets => {
                let (its_input, our_output) = UnixStream::pair()?;
                let (our_input, its_output) = UnixStream::pair()?;
                StreamEnds {
                    its_input: its_input.into(),
                    its_output: its_output.into(),
                    our_input: our_input.into(),
                    our_output: our_output.into(),
                }
            }
        })
    }
}

/// The detail of an exit. `is_wrapped`: bubblewrap reports a signal as a status above 128. `held_pipe`: the pipe guard
/// killed it.
fn describe(status: ExitStatus, is_wrapped: bool, held_pipe: bool) -> Detail {
    match (status.code(), status.signal()) {
        (Some(status @ 129..=192), _) if is_wrapped => Detail::Signal { signal: status - 128, held_pipe },
        (Some(status), _) => Detail::Status { status, held_pipe },
        (None, Some(signal)) => Detail::Signal { signal, held_pipe },
        (None, None) => Detail::other(status.to_string()),
    }
}
