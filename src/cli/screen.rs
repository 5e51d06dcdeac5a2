//! Standard output and standard error for people: text of bots and files cannot control the terminal.

use std::io::{self, BufRead, Stderr, Write};

use crate::cli::output::{self, Stdout};
use crate::game::json;
use crate::game::printable::printable_lines;

/// A stream that escapes control characters; see [`printable_lines`]. Each write is a text of its own.
pub(super) struct Screen<W>(pub(super) W);

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(printable_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

pub(super) fn stdout() -> Screen<Stdout> {
    Screen(output::stdout())
}

pub(super) fn stderr() -> Screen<Stderr> {
    Screen(io::stderr())
}

/// Writes a line to standard error.
pub(crate) fn stderr_line(line: impl std::fmt::Display) {
    // If standard error is closed, the line is lost.
    let _ = writeln!(stderr(), "{line}");
}

/// A stream for lines of JSON, which stay valid JSON; see [`json::escaped`].
pub(super) struct OneLine<W>(pub(super) W);

impl<W: Write> Write for OneLine<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(json::escaped(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Asks on the terminal. Only `y` and `yes` are assent.
pub(super) fn confirmed(question: &str) -> io::Result<bool> {
    write!(stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}
