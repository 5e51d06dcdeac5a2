//! The streams of a bridge: the referee's and those of the engine, read in one thread as they come.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use referee_bots::EngineCommand;
use referee_game::Wrong;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::session::GREETING;
use crate::trouble::{Trouble, last_line};

/// The maximum length of a line, in bytes: that of the referee's.
const LONGEST: usize = 1 << 20;
/// The bytes read at once.
const PORTION: usize = 1 << 16;
/// The time in which an engine has to end, after `quit` or after it has closed its output.
const END: Duration = Duration::from_millis(500);
/// The characters of a line that an error repeats.
const SHOWN: usize = 200;

/// The present, for the limits of engines.
#[expect(
    clippy::disallowed_methods,
    reason = "no clock of a match: the time that an engine takes to start and to stop"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Referee,
    Engine,
}

#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    portion: Vec<u8>,
    /// The start of the next line, and the position up to which no terminator was found.
    start: usize,
    searched: usize,
    has_ended: bool,
}

impl Lines {
    fn fill(&mut self, stream: BorrowedFd<'_>) -> Result<(), Trouble> {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        if self.bytes.len() > LONGEST {
            let what = format!("the engine writes a line of more than {LONGEST} bytes");
            return Err(Wrong::from(what).into());
        }
        self.portion.resize(PORTION, 0);
        let read = match rustix::io::retry_on_intr(|| rustix::io::read(stream, &mut self.portion[..])) {
            Ok(read) => read,
            Err(Errno::CONNRESET) => 0,
            Err(error) => return Err(io::Error::from(error).into()),
        };
        self.bytes.extend_from_slice(&self.portion[..read]);
        self.has_ended = read == 0;
        Ok(())
    }

    /// Takes the next complete line, without its terminator.
    fn next(&mut self, line: &mut String) -> bool {
        let Some(length) = self.bytes[self.searched..].iter().position(|&byte| byte == b'\n') else {
            self.searched = self.bytes.len();
            return false;
        };
        let end = self.searched + length;
        let text = &self.bytes[self.start..end];
        line.clear();
        line.push_str(&String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text)));
        (self.start, self.searched) = (end + 1, end + 1);
        true
    }
}

/// The referee and the engine.
#[derive(Debug)]
pub(crate) struct Wire {
    engine: Child,
    to_engine: Option<ChildStdin>,
    from_engine: ChildStdout,
    engine_lines: Lines,
    referee_lines: Lines,
    /// The last line of the engine, for errors.
    last: String,
}

impl Wire {
    /// Starts the engine, in the process group of the bridge.
    pub(crate) fn open(engine: &EngineCommand, environment: Option<&[OsString]>) -> Result<Wire, Trouble> {
        let mut command = Command::new(&engine.argv[0]);
        command.args(&engine.argv[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(environment) = environment {
            let entries = environment.iter().filter_map(|entry| {
                let at = entry.as_bytes().iter().position(|&byte| byte == b'=')?;
                let (name, value) = entry.as_bytes().split_at(at);
                Some((std::ffi::OsStr::from_bytes(name), std::ffi::OsStr::from_bytes(&value[1..])))
            });
            command.env_clear().envs(entries);
        }
        let named =
            |error: io::Error| Wrong::at(format!("the engine `{}` cannot be started", engine.argv[0]), error);
        let mut child = command.spawn().map_err(named)?;
        let (Some(to_engine), Some(from_engine)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(named(io::ErrorKind::BrokenPipe.into()).into());
        };
        Ok(Wire {
            engine: child,
            to_engine: Some(to_engine),
            from_engine,
            engine_lines: Lines::default(),
            referee_lines: Lines::default(),
            last: String::new(),
        })
    }

    /// Waits for the next line of either side.
    pub(crate) fn next(&mut self, line: &mut String) -> Result<Side, Trouble> {
        loop {
            if self.referee_lines.next(line) {
                return Ok(Side::Referee);
            }
            if self.take_engine_line(line) {
                return Ok(Side::Engine);
            }
            let referee = rustix::stdio::stdin();
            let mut fds = [
                PollFd::new(&referee, PollFlags::IN),
                PollFd::from_borrowed_fd(self.from_engine.as_fd(), PollFlags::IN),
            ];
            rustix::io::retry_on_intr(|| poll(&mut fds, None)).map_err(io::Error::from)?;
            let [has_referee, has_engine] = fds.map(|fd| !fd.revents().is_empty());
            if has_referee {
                self.referee_lines.fill(referee)?;
                if self.referee_lines.has_ended {
                    return Err(Trouble::Over);
                }
            }
            if has_engine {
                self.read_engine()?;
            }
        }
    }

    /// Waits for the next line of the engine; `false` if there is none until then.
    pub(crate) fn engine_line(
        &mut self,
        line: &mut String,
        deadline: Option<Instant>,
    ) -> Result<bool, Trouble> {
        while !self.take_engine_line(line) {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            let timeout = left.and_then(|left| Timespec::try_from(left).ok());
            let mut fds = [PollFd::from_borrowed_fd(self.from_engine.as_fd(), PollFlags::IN)];
            let ready = rustix::io::retry_on_intr(|| poll(&mut fds, timeout.as_ref()));
            if ready.map_err(io::Error::from)? > 0 {
                self.read_engine()?;
            }
        }
        Ok(true)
    }

    /// Reports that the engine does not answer the first command of its dialect.
    pub(crate) fn silent(&self, asked: &str, expected: &str, dialect: &str) -> Trouble {
        let (seconds, last) = (GREETING.as_secs(), last_line(&self.last()));
        let what = format!("the engine does not answer `{asked}` with `{expected}` within {seconds} s");
        Wrong::from(format!("{what}: does it speak {dialect}?{last}")).into()
    }

    fn take_engine_line(&mut self, line: &mut String) -> bool {
        let is_there = self.engine_lines.next(line);
        if is_there && !line.is_empty() {
            self.last.clear();
            self.last.extend(line.chars().take(SHOWN));
        }
        is_there
    }

    fn read_engine(&mut self) -> Result<(), Trouble> {
        self.engine_lines.fill(self.from_engine.as_fd())?;
        if !self.engine_lines.has_ended {
            return Ok(());
        }
        Err(match self.wait(END) {
            Some(status) => Trouble::Ended { status, last: self.last() },
            None => {
                let last = last_line(&self.last());
                Wrong::from(format!("the engine has closed its standard output{last}")).into()
            }
        })
    }

    /// The last line of the engine.
    pub(crate) fn last(&self) -> String {
        self.last.clone()
    }

    /// Writes lines to the engine. One that has ended is noticed when it is read.
    pub(crate) fn tell_engine(&mut self, lines: &str) {
        if let Some(engine) = &mut self.to_engine {
            let _ = engine.write_all(lines.as_bytes());
        }
    }

    /// Writes a message to the referee.
    pub(crate) fn tell_referee(&mut self, mut bytes: &[u8]) -> Result<(), Trouble> {
        while !bytes.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(Trouble::Over),
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
        Ok(())
    }

    /// The engine's exit status, if it ends within this time.
    fn wait(&mut self, most: Duration) -> Option<std::process::ExitStatus> {
        let deadline = now() + most;
        loop {
            match self.engine.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                _ => return None,
            }
        }
    }
}

impl Drop for Wire {
    /// Ends the engine with the bridge.
    fn drop(&mut self) {
        self.to_engine = None;
        if self.wait(END).is_none() {
            // The engine may have ended just now.
            let _ = self.engine.kill();
            let _ = self.engine.wait();
        }
    }
}
