//! The referee's side of starting a bot.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use referee_game::Wrong;
use referee_match::Detail;
use referee_transport::Wire;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use tokio::process::{Child, Command as Spawn};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::environment;
use crate::exec::{DESCRIPTORS, ENGINE, EXEC, LENGTH, not_dumpable};
use crate::keep::KeptFolder;
use crate::sandbox::{Confinement, ConfinementGuard, Mode};
use crate::{Command, Keep, PipeGuard, Process, holders};

/// The time that the system may take to run a program. It takes this long only if it is in trouble, for
/// example with an unreachable network drive.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub enum Launch {
    /// Through this program, which is `referee` or passes its arguments to [`exec`](crate::exec) like `referee` does.
    /// The bot has its own session and only the descriptors 0 to 2. On Linux the kernel kills it when the referee exits.
    Through(PathBuf),
    /// Directly, for programs that embed the library and do not ship `referee`. The bot has its own process group, but
    /// shares the session and its terminal, and may outlive a referee that is killed.
    Directly,
}

impl Launch {
    /// Through the running program.
    ///
    /// # Errors
    /// If the path of the running program is unknown.
    pub fn through_this_program() -> io::Result<Launch> {
        // The path stays valid if the file is replaced.
        let linux = Path::new("/proc/self/exe");
        let program = if linux.exists() { linux.to_owned() } else { std::env::current_exe()? };
        Ok(Launch::Through(program))
    }
}

/// The type of the bots' standard input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Streams {
    /// Faster, but a bot can hold the lock of a pipe: used where the kernel shows which process holds it.
    Pipes,
    /// A bot cannot hold the lock of a socket.
    Sockets,
}

type StartJob = Box<dyn FnOnce(&Starter) + Send>;

/// Starts bots, and kills those that block the referee by holding a pipe.
///
/// One thread starts all bots and lives as long as any of them: for PR_SET_PDEATHSIG(2const) the parent is that thread.
#[derive(Debug)]
pub struct Launcher {
    jobs: mpsc::Sender<StartJob>,
    room: Arc<Semaphore>,
}

/// Held by a process for as long as it lives: keeps the thread that started it alive, and counts towards the limit of
/// processes.
#[derive(Debug)]
pub(super) struct ProcessLease {
    _jobs: mpsc::Sender<StartJob>,
    _place: Option<OwnedSemaphorePermit>,
}

/// The state of the thread that starts bots.
#[derive(Debug)]
pub struct Starter {
    launch: Launch,
    streams: Streams,
    pipe_guard: PipeGuard,
    runtime: Handle,
}

impl Launcher {
    /// Starts the thread, and makes this process non-dumpable. At most `most` processes live at the same time. Call it on
    /// the runtime that waits for their exit.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn open(launch: Launch, most: usize) -> io::Result<Launcher> {
        // A program of the same user must not read the memory of this process, which contains seeds and secrets of other bots.
        not_dumpable()?;
        let streams = if holders::are_visible() { Streams::Pipes } else { Streams::Sockets };
        Launcher::over(streams, launch, most)
    }

    fn over(streams: Streams, launch: Launch, most: usize) -> io::Result<Launcher> {
        let program = match &launch {
            Launch::Through(program) if streams == Streams::Pipes => Some(program.as_path()),
            _ => None,
        };
        let pipe_guard = PipeGuard::open(program)?;
        let starter = Starter { launch, streams, pipe_guard, runtime: Handle::current() };
        let (jobs, to_do) = mpsc::channel::<StartJob>();
        let work = move || to_do.into_iter().for_each(|job| job(&starter));
        thread::Builder::new().name("starter".to_owned()).spawn(work)?;
        Ok(Launcher { jobs, room: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))) })
    }

    /// Runs `work`, which starts a bot, on the thread for that; `work` may set attributes of the thread that the process
    /// inherits. Waits while the limit of processes is reached.
    ///
    /// # Errors
    /// Errors of `work`.
    pub async fn start<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Starter) -> Result<(Process, T), StartError> + Send + 'static,
    ) -> Result<(Process, T), StartError> {
        let (sender, receiver) = oneshot::channel();
        // The semaphore is never closed.
        let lease =
            ProcessLease { _jobs: self.jobs.clone(), _place: self.room.clone().acquire_owned().await.ok() };
        let job: StartJob = Box::new(move |starter| {
            let started = work(starter).map(|(process, wire)| (process.with(lease), wire));
            // If the caller has given up, dropping the process kills it.
            drop(sender.send(started));
        });
        self.jobs.send(job).map_err(|_| STARTER_PANICKED)?;
        receiver.await.map_err(|_| STARTER_PANICKED)?
    }
}

impl Starter {
    /// Starts a bot. Its program is running when this returns. `on_exit` receives the exit status.
    ///
    /// # Errors
    /// If the program cannot be started: names it with the reason.
    pub fn start(
        &self,
        command: &Command,
        on_exit: impl FnOnce(Detail) + Send + 'static,
    ) -> Result<(Process, Wire), StartError> {
        let _runtime = self.runtime.enter();
        if command.sandbox.confines_files() {
            // Inside of bubblewrap it is too late to report it.
            command.check_script()?;
        }
        Process::start(command, self, on_exit).map_err(|error| not_started(command, error))
    }

    /// Starts a program that is no bot, with this standard input and output. It is running when this returns.
    ///
    /// # Errors
    /// As [`Starter::start`].
    pub fn run(
        &self,
        command: &Command,
        input: OwnedFd,
        output: OwnedFd,
        on_exit: impl FnOnce(Detail) + Send + 'static,
    ) -> Result<Process, StartError> {
        let _runtime = self.runtime.enter();
        Process::over(command, self, input, output, None, on_exit)
            .map_err(|error| not_started(command, error))
    }

    pub(super) fn streams(&self) -> Streams {
        self.streams
    }

    pub(super) fn pipe_guard(&self) -> &PipeGuard {
        &self.pipe_guard
    }

    /// Starts the program with these descriptors, as the leader of a process group.
    pub(super) fn spawn(&self, command: &Command, stdio: Stdio) -> Result<Spawned, SpawnError> {
        let mut environment = environment::of_bot(std::env::vars_os(), &command.env);
        let Launch::Through(program) = &self.launch else {
            if command.sandbox.mode() != Mode::None {
                return Err(Wrong::new("a sandbox needs a launcher").into());
            }
            if command.is_engine() {
                return Err(Wrong::new(
                    "an engine of another dialect needs a launcher, which is the program of the bridge as well",
                )
                .into());
            }
            let mut spawn = Spawn::new(&command.argv[0]);
            spawn.args(&command.argv[1..]).env_clear().envs(environment).process_group(0);
            let child = stdio.spawn(command, &mut spawn)?;
            return Ok(Spawned { child, ends: Some(spawn), guard: ConfinementGuard::default() });
        };
        let (launched, theirs) = UnixStream::pair()?;
        let Stdio { input, output, errors } = stdio;
        let mut spawn = Spawn::new(program);
        let (confinement, mut guard) = Confinement::of(command, &mut environment)?;
        let json = serde_json::to_string(&confinement).map_err(io::Error::from)?;
        spawn.arg0("referee").arg(EXEC).arg(json).arg("--").args(command.is_engine().then_some(ENGINE));
        spawn.args(&command.argv).env_clear();
        // The referee itself may need these to run.
        spawn.envs(std::env::var_os("LD_LIBRARY_PATH").map(|path| ("LD_LIBRARY_PATH", path)));
        let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
        let stdio = Stdio { input: theirs.into(), output: nowhere.into(), errors };
        let mut child = stdio.spawn(command, &mut spawn)?;
        // Before the program runs: closing a pipe takes its lock, which the program could hold.
        drop(spawn);
        let keep = command.keep.as_ref().filter(|_| confinement.keep.is_some());
        let handed_over =
            hand_over(launched, [input, output], &environment, confinement.bubblewrap.is_some(), keep);
        if handed_over.is_err() {
            // The child has normally exited already.
            let _ = child.start_kill();
        }
        guard.kept = handed_over?.map(Box::new);
        Ok(Spawned { child, ends: None, guard })
    }
}

/// Reasons why a program cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Descriptors, memory or processes are exhausted.
    #[error("{program}")]
    Exhausted {
        program: String,
        #[source]
        error: io::Error,
    },
    #[error(transparent)]
    Wrong(#[from] Wrong),
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> StartError {
        Wrong::from(error).into()
    }
}

const STARTER_PANICKED: Wrong = Wrong::new("the thread that starts bots panicked");

/// Reasons why a program that a command names does not run.
#[derive(Debug, thiserror::Error)]
pub(super) enum SpawnError {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("its sandbox cannot be built")]
    NotConfined,
    #[error(transparent)]
    Wrong(#[from] Wrong),
}

/// Names a program that cannot be started.
fn not_started(command: &Command, error: SpawnError) -> StartError {
    let program = command.argv[0].clone();
    match error {
        SpawnError::System(error)
            if matches!(
                Errno::from_io_error(&error),
                Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN)
            ) =>
        {
            StartError::Exhausted { program, error }
        }
        error => command.check().err().unwrap_or_else(|| Wrong::at(program, error)).into(),
    }
}

pub(super) struct Spawned {
    pub(super) child: Child,
    /// Keeps the bot's ends of its pipes open.
    pub(super) ends: Option<Spawn>,
    pub(super) guard: ConfinementGuard,
}

/// The bot's ends of its pipes.
pub(super) struct Stdio {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) errors: OwnedFd,
}

impl Stdio {
    fn spawn(self, command: &Command, spawn: &mut Spawn) -> io::Result<Child> {
        if let Some(directory) = &command.directory {
            spawn.current_dir(directory);
        }
        spawn.stdin(self.input).stdout(self.output).stderr(self.errors).spawn()
    }
}

/// Sends a process the bot's standard input, standard output and environment, and waits until it runs the
/// bot's program. `is_inside`: bubblewrap runs it. Returns the directory of its kept data, if it has one.
fn hand_over(
    mut launched: UnixStream,
    stdio: [OwnedFd; DESCRIPTORS],
    environment: &BTreeMap<OsString, OsString>,
    is_inside: bool,
    keep: Option<&Keep>,
) -> Result<Option<KeptFolder>, SpawnError> {
    launched.set_read_timeout(Some(TIMEOUT))?;
    launched.set_write_timeout(Some(TIMEOUT))?;
    let mut bytes = Vec::new();
    for (name, value) in environment {
        bytes.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
    }
    if bytes.iter().filter(|&&byte| byte == 0).count() > environment.len() {
        return Err(Wrong::new("a variable of its environment contains a zero byte").into());
    }
    let length: [u8; LENGTH] = u32::try_from(bytes.len()).map_err(|error| Wrong::of(&error))?.to_ne_bytes();
    let fds = stdio.each_ref().map(AsFd::as_fd);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    let sent = sendmsg(&launched, &[IoSlice::new(&length)], &mut ancillary, SendFlags::empty());
    let sent = sent.map_err(io::Error::from)?;
    drop(stdio);
    let mut number = [0; 4];
    let mut kept = None;
    let started = launched
        .write_all(&length[sent..])
        .and_then(|()| launched.write_all(&bytes))
        .and_then(|()| {
            kept = keep.map(|keep| keep.fill(receive_kept(&launched)?)).transpose()?;
            kept.as_ref().map_or(Ok(()), |_| launched.write_all(&[0]))
        })
        .and_then(|()| launched.read_exact(&mut number));
    started.map_err(|error| match error.kind() {
        // The launched process has ended, before or after it read everything.
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            SpawnError::NotConfined
        }
        _ => error.into(),
    })?;
    // A second one follows if the system does not run the program. Bubblewrap keeps the socket open.
    if i32::from_ne_bytes(number) == 0 && (is_inside || launched.read_exact(&mut number).is_err()) {
        return Ok(kept);
    }
    Err(io::Error::from_raw_os_error(i32::from_ne_bytes(number)).into())
}

/// No other program inherits the received descriptors.
#[cfg(target_os = "linux")]
const CLOSED_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;
/// No flags: other systems have no namespaces, and no such directory.
#[cfg(not(target_os = "linux"))]
const CLOSED_ON_EXEC: RecvFlags = RecvFlags::empty();

/// Receives the directory of a process's kept data, which is not filled yet.
fn receive_kept(launched: &UnixStream) -> io::Result<OwnedFd> {
    let mut number = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(launched, &mut [IoSliceMut::new(&mut number)], &mut ancillary, CLOSED_ON_EXEC)?;
    let mut fds = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    match (fds.next().and_then(|mut fds| fds.next()), i32::from_ne_bytes(number)) {
        _ if got.bytes == 0 => Err(io::ErrorKind::UnexpectedEof.into()),
        (Some(directory), 0) => Ok(directory),
        (_, number) => Err(io::Error::from_raw_os_error(number)),
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use referee_transport::{ByteStream, Line, Lines, ReadProgress, Stream};

    use super::*;

    /// Sends a line to `cat`, then reads the echo and end-of-file.
    fn echo(streams: Streams) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let launcher = Launcher::over(streams, Launch::Directly, 1).unwrap();
            // `head` closes its input after the first line.
            let command: Command = "head -n 1".parse().unwrap();
            let (process, wire) =
                launcher.start(move |starter| starter.start(&command, |_| {})).await.unwrap();
            let (mut stream, mut lines) = (Stream::watch(wire).unwrap(), Lines::new(100));
            poll_fn(|cx| stream.poll_write(cx, b"hello\n")).await.unwrap();
            let mut heard = String::new();
            while poll_fn(|cx| stream.poll_read(cx, &mut lines)).await.unwrap() != ReadProgress::End {
                if let Some(Line::Text(line)) = lines.next_line() {
                    heard.push_str(std::str::from_utf8(line).unwrap());
                }
            }
            drop(stream);
            process.end().await;
            heard
        })
    }

    #[test]
    fn bots_speak_over_sockets_where_pipes_could_be_held() {
        assert_eq!(echo(Streams::Pipes), "hello");
        assert_eq!(echo(Streams::Sockets), "hello");
    }
}
