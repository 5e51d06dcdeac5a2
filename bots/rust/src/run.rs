//! Runs a bot on a stream.

use std::env;
use std::io::{self, BufRead, Write};

use crate::session::Session;
use crate::{Bot, Connection, Error};

/// Plays every match that the referee starts, until its `bye` or the end of its stream: over stdin and stdout, or as
/// configured by the [connection options](Connection::OPTIONS) among the arguments of the process. Other arguments
/// are ignored.
///
/// The bot must not write to stdout itself. Use `eprintln!`: the referee stores stderr with the record of the match.
///
/// # Errors
///
/// See [`Error`]. A panic of the bot is not caught.
pub fn run(bot: impl Bot) -> Result<(), Error> {
    // Arguments that are not UTF-8 are not connection options.
    let args = env::args_os().skip(1).filter_map(|arg| arg.into_string().ok());
    let (connection, _) = Connection::from_args(args)?;
    connection.play(bot)
}

/// Like [`run`], over any stream.
///
/// # Errors
///
/// See [`Error`].
pub fn run_on(reader: impl BufRead, writer: impl Write, bot: impl Bot) -> Result<(), Error> {
    let mut session = Session::new(bot, None, None, None);
    serve(reader, writer, &mut session)?;
    session.finish()
}

pub(crate) fn serve<B: Bot>(
    mut reader: impl BufRead,
    mut writer: impl Write,
    session: &mut Session<B>,
) -> Result<(), Error> {
    // The buffers are reused, so that a decision allocates nothing here after warm-up.
    let (mut line, mut out) = (String::new(), Vec::new());
    while reader.read_line(&mut line)? > 0 {
        let text = line.strip_prefix('\u{feff}').unwrap_or(&line);
        if !text.trim_ascii().is_empty() && session.handle(text, &mut out)?.is_break() {
            break;
        }
        line.clear();
        if !out.is_empty() {
            // Writing the whole line at once takes one system call, also on line-buffered stdout.
            match writer.write_all(&out).and_then(|()| writer.flush()) {
                // The referee has closed its end: treated like the end of input.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                written => written?,
            }
            out.clear();
        }
    }
    Ok(())
}
