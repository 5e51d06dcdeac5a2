//! The child's side of starting a bot: `referee __exec CONFINEMENT -- PROGRAM ARGS...` replaces itself with the bot's
//! program, confined by its sandbox.
//!
//! Its standard input is a socket to the launcher, which sends the bot's standard input and output as descriptors, and
//! the bot's environment. The answer is an error number, which is 0 right before the program runs; then the socket
//! closes. With bubblewrap this program runs twice: outside, where it becomes `bwrap`, and inside. A [`BuiltinProgram`] is
//! a function of this program: it runs in the sandbox, where the file of this program is not visible.

use std::convert::Infallible;
use std::ffi::{CString, OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::command::{find, is_program};
#[cfg(target_os = "linux")]
use crate::death_watch::{self, DEATH_WATCH};
use crate::keep;
use crate::sandbox::{self, Confinement};

/// The hidden subcommand that replaces itself with a bot.
pub const EXEC: &str = "__exec";

/// The name of the program that is the bridge to an engine, by which a launcher starts it.
pub const ENGINE: &str = "__engine";

/// The exit code if the bot's program cannot be run.
const FAILED: u8 = 127;

/// The size of the length prefix of the environment, in bytes.
pub(super) const LENGTH: usize = 4;

/// The number of descriptors that are sent.
pub(super) const DESCRIPTORS: usize = 2;

/// Replaces this process with the program in `args`, the arguments after [`EXEC`]: in a new session, with only the
/// descriptors 0 to 2, and killed when its parent exits. Returns only on failure, after reporting it to the launcher.
///
/// Call it before anything else is opened: it closes all descriptors from 3 on.
pub fn exec(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    exec_with(args, &[])
}

/// A program that is part of this one: its name, by which a [`Command`](crate::Command) starts it, and its function, which
/// gets its arguments and the environment as `NAME=VALUE`, and returns the exit code.
pub type BuiltinProgram = (&'static str, fn(&[OsString], &[OsString]) -> ExitCode);

/// Like [`exec`], for a program that has programs as parts. Their functions run here, confined.
pub fn exec_with(args: impl IntoIterator<Item = OsString>, builtins: &[BuiltinProgram]) -> ExitCode {
    // A parent of the referee may have leaked some.
    close_descriptors("/dev/fd");
    let mut args = args.into_iter().peekable();
    #[cfg(target_os = "linux")]
    if args.next_if(|first| first == DEATH_WATCH).is_some() {
        return death_watch::watch(args.next());
    }
    let confinement =
        args.next().and_then(|json| serde_json::from_slice::<Confinement>(json.as_bytes()).ok());
    let argv: Vec<OsString> = match args.next() {
        Some(dashes) if dashes == "--" => args.collect(),
        _ => Vec::new(),
    };
    let launcher = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map(UnixStream::from);
    match (launcher, confinement) {
        (Ok(mut launcher), Some(confinement)) if !argv.is_empty() => {
            let ended = match &confinement.bubblewrap {
                Some(program) => {
                    become_bubblewrap(&launcher, program, &confinement, argv).map(|never| match never {})
                }
                None => become_bot(&mut launcher, &confinement, argv, builtins),
            };
            let error = match ended {
                Ok(code) => return code,
                Err(error) => error,
            };
            let number = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
            // The launcher may have exited.
            let _ = launcher.write_all(&number.to_ne_bytes());
            // The text names what a number cannot. Standard error may be closed.
            let _ = writeln!(io::stderr(), "cannot start the bot: {error}");
        }
        _ => {
            let what = "starts bots of the referee; it is no command for people";
            // No other place can take the report.
            let _ = writeln!(io::stderr(), "error: `referee {EXEC}` {what}");
        }
    }
    FAILED.into()
}

/// Becomes `bwrap`, which runs this program again in new namespaces.
fn become_bubblewrap(
    launcher: &UnixStream,
    program: &Path,
    confinement: &Confinement,
    argv: Vec<OsString>,
) -> io::Result<Infallible> {
    rustix::process::setsid()?;
    die_with_parent(launcher)?;
    if let Some(cgroup) = &confinement.cgroup {
        std::fs::write(cgroup.join("cgroup.procs"), "0")?;
    }
    let mut inside = confinement.inside();
    // Root without the capability to mount: a filter of system calls protects them as well.
    inside.keeps_metadata = sandbox::protect_devices().is_err();
    // The file of this program is not among those inside, but its descriptor is inherited.
    let flags = rustix::fs::OFlags::PATH;
    let this = rustix::fs::open("/proc/self/exe", flags, rustix::fs::Mode::empty())?;
    let this = format!("/proc/self/fd/{}", this.into_raw_fd());
    let inside = serde_json::to_string(&inside)?;
    let command = [this.into(), EXEC.into(), inside.into(), "--".into()].into_iter().chain(argv);
    let arguments = sandbox::arguments(confinement, command);
    let arguments = std::iter::once("bwrap".into()).chain(arguments);
    let arguments = arguments.map(c_string).collect::<io::Result<Vec<_>>>()?;
    sigpipe::reset();
    match nix::unistd::execv(&c_string(program.into())?, &arguments)? {}
}

fn c_string(text: OsString) -> io::Result<CString> {
    CString::new(text.into_vec()).map_err(io::Error::from)
}

fn become_bot(
    launcher: &mut UnixStream,
    confinement: &Confinement,
    argv: Vec<OsString>,
    builtins: &[BuiltinProgram],
) -> io::Result<ExitCode> {
    let ([input, output], environment) = receive(launcher)?;
    rustix::stdio::dup2_stdin(&input)?;
    rustix::stdio::dup2_stdout(&output)?;
    drop((input, output));
    rustix::process::setsid()?;
    die_with_parent(launcher)?;
    if let Some(cgroup) = &confinement.cgroup {
        std::fs::write(cgroup.join("cgroup.procs"), "0")?;
    }
    if confinement.keep.is_some() {
        hand_out_kept(launcher)?;
    }
    if let Some((_, run)) = builtins.iter().find(|(name, _)| argv[0] == *name) {
        sandbox::confine(confinement)?;
        // This process stays as the parent of programs, which must not reach its memory, and files of the host through
        // `/proc`.
        not_dumpable()?;
        launcher.write_all(&0i32.to_ne_bytes())?;
        // `execve` closes the descriptor in the same way.
        launcher.shutdown(Shutdown::Both)?;
        return Ok(run(&argv[1..], &environment));
    }
    let path = environment.iter().find_map(|entry| entry.as_bytes().strip_prefix(b"PATH="));
    let program = find(&argv[0], path.map(OsStr::from_bytes), is_program).ok_or(Errno::NOENT)?;
    let program = c_string(program.into_os_string())?;
    let argv = argv.into_iter().map(c_string).collect::<io::Result<Vec<_>>>()?;
    let environment = environment.into_iter().map(c_string).collect::<io::Result<Vec<_>>>()?;
    // Rust programs ignore SIGPIPE, and children inherit ignored signals.
    sigpipe::reset();
    sandbox::confine(confinement)?;
    launcher.write_all(&0i32.to_ne_bytes())?;
    match nix::unistd::execve(&program, &argv, &environment).map_err(io::Error::from)? {}
}

/// Sends the directory that outlives this process, and waits until it is filled.
fn hand_out_kept(launcher: &mut UnixStream) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = [rustix::fs::open(keep::DIRECTORY, flags, Mode::empty())?];
    let fds = directory.each_ref().map(AsFd::as_fd);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(&*launcher, &[IoSlice::new(&0i32.to_ne_bytes())], &mut ancillary, SendFlags::empty())?;
    launcher.read_exact(&mut [0])
}

/// Receives the bot's standard input and output, and its environment.
fn receive(launcher: &mut UnixStream) -> io::Result<([OwnedFd; DESCRIPTORS], Vec<OsString>)> {
    let mut length = [0; LENGTH];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got =
        recvmsg(&mut *launcher, &mut [IoSliceMut::new(&mut length)], &mut ancillary, RecvFlags::empty())?
            .bytes;
    let fds = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let fds = fds.flatten().collect::<Vec<_>>().try_into().map_err(|_| Errno::BADMSG)?;
    launcher.read_exact(&mut length[got..])?;
    let mut environment = vec![0; u32::from_ne_bytes(length) as usize];
    launcher.read_exact(&mut environment)?;
    // A variable ends with a NUL byte.
    let entries = environment.strip_suffix(b"\0").map(|entries| entries.split(|&byte| byte == 0));
    Ok((fds, entries.into_iter().flatten().map(|entry| OsString::from_vec(entry.to_vec())).collect()))
}

/// Keeps other processes of the same user from this process: from its memory, and from its program and descriptors in
/// `/proc`. A program that it starts is not concerned.
///
/// # Errors
/// None are known.
#[cfg(target_os = "linux")]
pub(super) fn not_dumpable() -> io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Does nothing: other systems do not have this attribute.
#[cfg(not(target_os = "linux"))]
pub(super) fn not_dumpable() -> io::Result<()> {
    Ok(())
}

/// Asks the kernel to kill this process when its parent exits.
///
/// # Errors
/// If the parent has exited already: no signal would be sent.
#[cfg(target_os = "linux")]
fn die_with_parent(launcher: &UnixStream) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Signal, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL))?;
    // A process that exits closes its descriptors before its children get their signal.
    let mut fds = [PollFd::new(launcher, PollFlags::empty())];
    poll(&mut fds, Some(&Timespec::default()))?;
    if fds[0].revents().contains(PollFlags::HUP) { Err(Errno::CHILD.into()) } else { Ok(()) }
}

/// Does nothing: other systems do not have this signal.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &UnixStream) -> io::Result<()> {
    Ok(())
}

/// Closes all descriptors from 3 on, which this folder lists.
pub(super) fn close_descriptors(folder: &str) {
    let open: Vec<RawFd> = match std::fs::read_dir(folder) {
        Ok(fds) => fds.filter_map(|fd| fd.ok()?.file_name().to_str()?.parse().ok()).collect(),
        Err(_) => (3..most_files()).collect(),
    };
    for fd in open.into_iter().filter(|&fd| fd > rustix::stdio::stderr().as_fd().as_raw_fd()) {
        // The descriptor that listed the folder is closed already.
        let _ = nix::unistd::close(fd);
    }
}

/// The upper bound of descriptor numbers, exclusive.
fn most_files() -> RawFd {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|limit| RawFd::try_from(limit).ok()).unwrap_or(1 << 20)
}
