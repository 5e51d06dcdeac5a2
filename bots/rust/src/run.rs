//! A bot on a stream.

use std::env;
use std::io::{self, BufRead, Write};

use crate::session::Session;
use crate::{Bot, Connection, Error};

/// Plays every match that the referee starts, until its `bye` or the end of its stream: over stdin and stdout, or as the
/// [options](Connection::OPTIONS) say that stand among the arguments of the process. The others are the bot's own.
///
/// Nothing else may be written to stdout: use `eprintln!`; the referee keeps stderr with the record of the match.
///
/// # Errors
///
/// See [`Error`]. A panic of the bot is not caught.
pub fn run(bot: impl Bot) -> Result<(), Error> {
    // An argument that is no text is none of ours.
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
    serve(reader, writer, Session::new(bot, None, None))
}

pub(crate) fn serve<B: Bot>(
    mut reader: impl BufRead,
    mut writer: impl Write,
    mut session: Session<B>,
) -> Result<(), Error> {
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
