//! Standard output of every subcommand.

use std::io::{self, IsTerminal, LineWriter, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::cli::signals::is_interrupted;
use crate::cli::{Exit, Failure};

/// A pipe that is ready takes so much at once.
const PORTION: usize = 4096;
/// How long a wait for the reader lasts until it is looked whether the process was interrupted.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// So many looks in vain, and the reader of an interrupted process is given up.
const LOOKS: u32 = 10;

static IS_GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Standard output; a line is written as soon as it is complete. Writing waits for the reader, but after an interruption no
/// longer than a second.
pub(super) type Stdout = LineWriter<Unbuffered>;

/// Standard output.
pub(super) fn stdout() -> Stdout {
    LineWriter::new(Unbuffered)
}

/// Whether a person sees standard output.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Standard output of a subcommand whose exit code is a verdict: after the first error it discards what is written to it,
/// and the work goes on.
pub(super) struct Tolerant {
    out: Stdout,
    failed: Option<io::Error>,
}

impl Tolerant {
    pub(super) fn new() -> Tolerant {
        Tolerant { out: stdout(), failed: None }
    }

    /// Ends the subcommand with its verdict, which a missing reader does not change. Where the output cannot be written
    /// for another reason, that is reported, and a subcommand that would have succeeded could not run.
    ///
    /// # Errors
    /// The first error of standard output, unless the reader closed it.
    pub(super) fn end(mut self, exit: Exit) -> Result<Exit, Failure> {
        // An error is kept.
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

impl Write for Tolerant {
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

/// Standard output as the system has it.
pub(super) struct Unbuffered;

impl Write for Unbuffered {
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

/// Waits until it takes something.
fn wait(stdout: impl AsFd) -> io::Result<()> {
    let mut looks = 0;
    while !IS_GIVEN_UP.load(Ordering::Relaxed) {
        let mut fds = [PollFd::new(&stdout, PollFlags::OUT)];
        if rustix::io::retry_on_intr(|| poll(&mut fds, Some(&LOOK)))? > 0 {
            return Ok(());
        }
        if is_interrupted() {
            looks += 1;
            IS_GIVEN_UP.store(looks == LOOKS, Ordering::Relaxed);
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads it"))
}
