//! The child's side of starting a bot: `referee __exec -- PROGRAM ARGS...` replaces itself with the bot's program.
//!
//! Its standard input is a socket to the launcher, which sends the bot's standard input as a descriptor, and the bot's
//! environment. The socket closes when the program runs. If the program cannot be run, an error number is sent first.

use std::convert::Infallible;
use std::ffi::{CString, OsStr, OsString};
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::bot::command::{find, is_program};

/// The hidden subcommand that replaces itself with a bot.
pub const EXEC: &str = "__exec";

/// The exit code if the bot's program cannot be run.
const FAILED: u8 = 127;

/// The size of the length prefix of the environment, in bytes.
pub(super) const LENGTH: usize = 4;

/// Replaces this process with the program in `args`, the arguments after [`EXEC`]: in a new session, with only the
/// descriptors 0 to 2, and killed when its parent exits. Returns only on failure, after reporting it to the launcher.
///
/// Call it before anything else is opened: it closes all descriptors from 3 on.
pub fn exec(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    close_inherited();
    let mut args = args.into_iter();
    let argv: Vec<OsString> = match args.next() {
        Some(dashes) if dashes == "--" => args.collect(),
        _ => Vec::new(),
    };
    let launcher = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map(UnixStream::from);
    match launcher {
        Ok(mut launcher) if !argv.is_empty() => {
            let Err(error) = become_bot(&launcher, argv);
            let number = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
            // The launcher may be gone.
            let _ = launcher.write_all(&number.to_ne_bytes());
        }
        _ => {
            let what = "starts bots of the referee; it is no command for people";
            // There is no other place to report it.
            let _ = writeln!(io::stderr(), "error: `referee {EXEC}` {what}");
        }
    }
    FAILED.into()
}

fn become_bot(launcher: &UnixStream, argv: Vec<OsString>) -> io::Result<Infallible> {
    let (input, environment) = receive(launcher)?;
    rustix::stdio::dup2_stdin(&input)?;
    drop(input);
    rustix::process::setsid()?;
    die_with_parent(launcher)?;
    let c_string = |text: OsString| CString::new(text.into_vec()).map_err(io::Error::from);
    let path = environment.iter().find_map(|entry| entry.as_bytes().strip_prefix(b"PATH="));
    let program = find(&argv[0], path.map(OsStr::from_bytes), is_program).ok_or(Errno::NOENT)?;
    let program = c_string(program.into_os_string())?;
    let argv = argv.into_iter().map(c_string).collect::<io::Result<Vec<_>>>()?;
    let environment = environment.into_iter().map(c_string).collect::<io::Result<Vec<_>>>()?;
    // Rust programs ignore SIGPIPE, and children inherit ignored signals.
    sigpipe::reset();
    match nix::unistd::execve(&program, &argv, &environment)? {}
}

/// Receives the bot's standard input and its environment.
fn receive(mut launcher: &UnixStream) -> io::Result<(OwnedFd, Vec<OsString>)> {
    let mut length = [0; LENGTH];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got =
        recvmsg(launcher, &mut [IoSliceMut::new(&mut length)], &mut ancillary, RecvFlags::empty())?.bytes;
    let fds = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let input = fds.flatten().next().ok_or(Errno::BADMSG)?;
    launcher.read_exact(&mut length[got..])?;
    let mut environment = vec![0; u32::from_ne_bytes(length) as usize];
    launcher.read_exact(&mut environment)?;
    // Each variable ends with a NUL byte.
    let entries = environment.strip_suffix(b"\0").map(|entries| entries.split(|&byte| byte == 0));
    Ok((input, entries.into_iter().flatten().map(|entry| OsString::from_vec(entry.to_vec())).collect()))
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

/// Other systems do not have this signal.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &UnixStream) -> io::Result<()> {
    Ok(())
}

/// Closes descriptors that a parent of the referee leaked.
fn close_inherited() {
    let open: Vec<RawFd> = match std::fs::read_dir("/dev/fd") {
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
