//! `referee relay`: connects standard input and output to a socket.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};

/// Relay standard input to a socket, and its output to standard output
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  referee relay /run/user/1000/bot.socket")]
pub(super) struct Args {
    /// The socket that the bot listens on
    socket: PathBuf,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let named = |error| Failure::cannot_run(format!("{}: {error}", args.socket.display()));
    let socket = UnixStream::connect(&args.socket).map_err(named)?;
    let mut from_bot = socket.try_clone().map_err(named)?;
    thread::spawn(move || {
        let mut out = io::stdout().lock();
        let _ = pass_on(&mut from_bot, &mut out);
        // The socket has closed: exit even though standard input is still open.
        std::process::exit(0);
    });
    let _ = pass_on(&mut io::stdin().lock(), &mut &socket);
    let _ = socket.shutdown(Shutdown::Write);
    Ok(Exit::Done)
}

/// Unlike `io::copy`, which splices on Linux: while splice waits for one side, it locks the pipe on the other side,
/// and the referee would block there.
fn pass_on(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut bytes = [0; 1 << 16];
    loop {
        match from.read(&mut bytes)? {
            0 => return Ok(()),
            read => to.write_all(&bytes[..read]).and_then(|()| to.flush())?,
        }
    }
}
