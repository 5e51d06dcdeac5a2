//! Standard output of all subcommands.

use std::io::{self, IsTerminal, LineWriter, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::cli::exit::{Exit, Failure};
use crate::cli::signals::is_interrupted;

/// The number of bytes that a ready pipe accepts at once.
const PORTION: usize = 4096;
/// The interval at which a wait for the reader checks whether the process was interrupted.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// The number of checks after which an interrupted process stops waiting for the reader.
const LOOKS: u32 = 10;

static IS_GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Standard output, line-buffered. A write blocks until the reader accepts it, but after an interruption at most for
/// a second.
pub(super) type Stdout = LineWriter<UnbufferedStdout>;

pub(super) fn stdout() -> Stdout {
    LineWriter::new(UnbufferedStdout)
}

/// Returns whether standard output is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns whether standard output is a terminal that shows colours: <https://no-color.org>.
pub(super) fn has_colours() -> bool {
    is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Standard output of a subcommand whose exit code is a verdict: after the first error, output is discarded and the
/// work continues.
pub(super) struct TolerantStdout {
    out: Stdout,
    failed: Option<io::Error>,
}

impl TolerantStdout {
    pub(super) fn new() -> TolerantStdout {
        TolerantStdout { out: stdout(), failed: None }
    }

    /// Ends the subcommand with its verdict. A closed reader does not change it. Another error is reported, and turns
    /// success into [`Exit::CannotRun`].
    ///
    /// # Errors
    /// The first error of standard output, unless the reader closed it.
    pub(super) fn end(mut self, exit: Exit) -> Result<Exit, Failure> {
        // The error is stored in `failed`.
        let _ = self.flush();
        match self.failed {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let exit = if exit == Exit::Done { Exit::CannotRun } else { exit };
                Err(Failure { exit, ..Failure::from(error) })
            }
            _ => Ok(exit),
        }
    }
}

impl Write for TolerantStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
        Ok(())
    }
}

/// Standard output without a buffer.
pub(super) struct UnbufferedStdout;

impl Write for UnbufferedStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let stdout = io::stdout();
        loop {
            wait(&stdout)?;
            match rustix::io::write(&stdout, &bytes[..bytes.len().min(PORTION)]) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                written => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until it is writable.
fn wait(stdout: impl AsFd) -> io::Result<()> {
    let mut looks = 0;
    while !IS_GIVEN_UP.load(Ordering::Relaxed) {
        let mut fds = [PollFd::new(&stdout, PollFlags::OUT)];
        if rustix::io::retry_on_intr(|| poll(&mut fds, Some(&POLL_INTERVAL)))? > 0 {
            return Ok(());
        }
        if is_interrupted() {
            looks += 1;
            IS_GIVEN_UP.store(looks == LOOKS, Ordering::Relaxed);
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "the reader is blocked"))
}
