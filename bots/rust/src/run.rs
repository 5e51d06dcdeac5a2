//! A bot on a stream.

use std::io::{self, BufRead, Write};

use crate::session::Session;
use crate::{Bot, Error};

/// Plays every match that the referee starts, over stdin and stdout, until its `bye` or the end of the input.
///
/// Nothing else may be written to stdout: use `eprintln!`; the referee keeps stderr with the record of the match.
///
/// # Errors
///
/// See [`Error`]. A panic of the bot is not caught.
pub fn run(bot: impl Bot) -> Result<(), Error> {
    // Stdout is not locked for good: a bot's thread that prints would wait for ever, and nobody would see why.
    run_on(io::stdin().lock(), io::stdout(), bot)
}

/// Like [`run`], over any stream.
///
/// # Errors
///
/// See [`Error`].
pub fn run_on(mut reader: impl BufRead, mut writer: impl Write, bot: impl Bot) -> Result<(), Error> {
    let mut session = Session::new(bot);
    // Both are kept, so that a decision allocates nothing here once they have grown.
    let (mut line, mut out) = (String::new(), Vec::new());
    while reader.read_line(&mut line)? > 0 {
        let text = line.strip_prefix('\u{feff}').unwrap_or(&line);
        if !text.trim_ascii().is_empty() && session.handle(text, &mut out)?.is_break() {
            break;
        }
        line.clear();
        if !out.is_empty() {
            // A whole line in one piece is one system call, on the line-buffered stdout too.
            match writer.write_all(&out).and_then(|()| writer.flush()) {
                // Nobody reads any more: as good as the end of the input.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                written => written?,
            }
            out.clear();
        }
    }
    Ok(())
}
