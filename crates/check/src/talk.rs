//! The process of a bot and its raw stream.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

use referee_bots::{Command, Launch, Launcher, Process, StartError};
use referee_game::excerpt::excerpt;
use referee_game::json;
use referee_match::{Detail, Received};
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_transport::{ByteStream, Line, Lines, ReadProgress, Stream, Wire};
use rustix::process::Signal;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::delivery::Variation;
use crate::rule::Rule;
use crate::verdict::Violation;

/// Lines per direction that an explanation shows since the last write, and characters of each.
const SHOWN: (usize, usize) = (3, 400);
/// The time to wait for the end of a process after the end of its stream.
const EXIT: Duration = Duration::from_millis(limits::EXIT_MS);
/// The time to wait for a bot to read a ping.
const PING: Duration = Duration::from_millis(100);
/// Maximum reads during one write: prevents a deadlock with a bot that writes before it reads.
const READS: usize = 16;

/// The result of waiting for a bot.
#[derive(Debug)]
pub enum BotOutput {
    /// A line, without its line break.
    Line(Vec<u8>),
    /// A line longer than the limit.
    TooLong,
    /// End of output, and how the process ended, if it did: "status 1", "signal 11".
    Ended(Option<Detail>),
    /// No output before the deadline.
    Timeout,
}

/// The process of a bot and its stream.
#[derive(Debug)]
pub struct Talk {
    process: Process,
    /// Kills the process if it blocks our pipe operations.
    _launcher: Launcher,
    /// `None` once its input has been closed.
    stream: Option<Stream>,
    /// The standard input and output of a bot that connects.
    stdio: Option<Wire>,
    lines: Lines,
    exit: watch::Receiver<Option<Detail>>,
    pub(super) delivery: Variation,
    pings: u64,
    /// The number of requests that it has answered.
    pub(super) answered: u32,
    /// Lines and bytes received since the last write.
    chatter: (u32, usize),
    sent: VecDeque<String>,
    came: VecDeque<String>,
}

impl Talk {
    /// Starts a bot.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn start(command: &Command, launch: Launch) -> Result<Talk, StartError> {
        let mut talk = Talk::start_apart(command, launch).await?;
        talk.stream = talk.stdio.take().map(Stream::watch).transpose()?;
        Ok(talk)
    }

    /// Starts a bot that connects by itself.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) async fn start_apart(command: &Command, launch: Launch) -> Result<Talk, StartError> {
        let (exited, exit) = watch::channel(None);
        let on_exit = move |how| {
            exited.send_replace(Some(how));
        };
        let launcher = Launcher::open(launch, 1)?;
        let command = command.clone();
        let (process, wire) = launcher.start(move |starter| starter.start(&command, on_exit)).await?;
        Ok(Talk {
            process,
            _launcher: launcher,
            stream: None,
            stdio: Some(wire),
            lines: Lines::new(limits::LINE_FROM_BOT),
            exit,
            delivery: Variation::Plain,
            pings: 0,
            answered: 0,
            chatter: (0, 0),
            sent: VecDeque::new(),
            came: VecDeque::new(),
        })
    }

    /// Sends lines. Returns false on timeout or error; the next received item has the reason.
    pub async fn send(&mut self, lines: &[u8], within: Duration) -> bool {
        self.chatter = (0, 0);
        self.sent.clear();
        self.came.clear();
        let pings = &mut self.pings;
        let pieces = self.delivery.pieces(lines, || {
            *pings += 1;
            format!("{{\"type\":\"ping\",\"id\":{pings}}}\n")
        });
        let all: Vec<u8> = pieces.iter().flat_map(|(bytes, _)| bytes.iter().copied()).collect();
        for line in String::from_utf8_lossy(&all).lines() {
            remember(&mut self.sent, line);
        }
        for (bytes, rest) in pieces {
            if !matches!(timeout(within, self.write(&bytes)).await, Ok(Ok(()))) {
                return false;
            }
            if !rest.is_zero() {
                sleep(rest).await;
            }
        }
        true
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let (lines, mut written, mut reads) = (&mut self.lines, 0, 0);
        poll_fn(|cx| {
            while written < bytes.len() {
                match stream.poll_write(cx, &bytes[written..]) {
                    Poll::Ready(Ok(taken)) => written += taken,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => {
                        while reads < READS {
                            match stream.poll_read(cx, lines) {
                                Poll::Ready(Ok(ReadProgress::Read { .. })) => reads += 1,
                                _ => break,
                            }
                        }
                        return Poll::Pending;
                    }
                }
            }
            Poll::Ready(Ok(()))
        })
        .await
    }

    /// Waits for the next line, the end of output, or the deadline.
    pub async fn receive(&mut self, until: Option<Instant>) -> BotOutput {
        loop {
            match self.lines.next_line() {
                Some(Line::Text(text)) => {
                    let line = text.to_vec();
                    self.chatter = (self.chatter.0 + 1, self.chatter.1 + line.len() + 1);
                    remember(&mut self.came, &String::from_utf8_lossy(&line));
                    return BotOutput::Line(line);
                }
                Some(Line::TooLong) => {
                    remember(&mut self.came, "(a line of more than 65536 bytes)");
                    return BotOutput::TooLong;
                }
                None => {}
            }
            let (Some(stream), lines) = (&mut self.stream, &mut self.lines) else { return self.end().await };
            let read = poll_fn(|cx| stream.poll_read(cx, lines));
            let read = match until {
                Some(until) => timeout_at(until, read).await,
                None => Ok(read.await),
            };
            match read {
                Err(_) => return BotOutput::Timeout,
                Ok(Ok(ReadProgress::Read { .. })) => {}
                Ok(Ok(ReadProgress::End) | Err(_)) => return self.end().await,
            }
        }
    }

    async fn end(&mut self) -> BotOutput {
        let how = self.exited(EXIT).await;
        remember(&mut self.came, &format!("({})", ended(how.as_ref())));
        BotOutput::Ended(how)
    }

    /// Sends a ping. Returns the id that the pong has to repeat.
    pub(super) async fn ping(&mut self) -> u64 {
        self.pings += 1;
        let line = format!("{{\"type\":\"ping\",\"id\":{}}}\n", self.pings);
        // If the bot does not read it, the missing pong is handled by the caller's timeout.
        let _ = timeout(PING, self.write(line.as_bytes())).await;
        self.pings
    }

    /// The id of the last ping that was sent.
    pub(super) fn last_ping(&self) -> u64 {
        self.pings
    }

    /// The lines that have arrived instead of an awaited one, apart from rejected lines.
    pub fn received(&self) -> Received {
        match self.lines.held() as u64 {
            0 if self.answered > 0 => Received::Silence { answered: self.answered },
            0 => Received::Nothing,
            bytes => Received::Unfinished { bytes },
        }
    }

    /// Returns whether the bot exceeds the flood limit between two requests.
    pub(super) fn is_flooding(&self) -> bool {
        self.chatter.0 > limits::LINES_BETWEEN_REQUESTS
            || self.chatter.1 > limits::BYTES_BETWEEN_REQUESTS as usize
    }

    /// Continues on a connection.
    pub(super) fn connect(&mut self, stream: Stream) {
        self.stream = Some(stream);
        self.lines = Lines::new(limits::LINE_FROM_BOT);
    }

    pub(super) fn close(&mut self) {
        self.stream = None;
    }

    /// Waits for the process to end; `None` on timeout.
    pub(super) async fn exited(&mut self, within: Duration) -> Option<Detail> {
        let exit = self.exit.wait_for(Option::is_some);
        timeout(within, exit).await.ok()?.ok()?.clone()
    }

    /// Sends a signal to the process.
    pub(super) fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Returns the bot's standard error since the last call.
    pub fn stderr(&self) -> String {
        self.process.stderr().cut().wait().into_text().0
    }

    /// Ends the process as the referee does.
    pub async fn finish(mut self) {
        self.close();
        self.process.end().await;
    }

    /// Creates a violation with the last messages in both directions.
    pub(super) fn violation(&self, wrong: impl Into<String>, rule: Rule) -> Violation {
        let all = |lines: &VecDeque<String>| lines.iter().cloned().collect();
        let mut came: Vec<String> = all(&self.came);
        // Complete lines that have not been processed do not explain the defect.
        let rest = self.lines.pending().rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        if !rest.is_empty() {
            let unfinished = String::from_utf8_lossy(rest);
            came.push(format!("{} (an unfinished line)", excerpt(&unfinished, SHOWN.1)));
        }
        Violation { wrong: wrong.into(), sent: all(&self.sent), came, rule }
    }
}

/// The referee's `hello` for a process, as a line.
pub fn hello() -> Vec<u8> {
    hello_asking(message::Auth::None)
}

/// The referee's `hello`, as a line. It offers a bot with a token to connect again.
pub(super) fn hello_asking(auth: message::Auth) -> Vec<u8> {
    let mut line = Vec::new();
    let hello = message::Hello {
        protocol: referee_protocol::PROTOCOL,
        server: referee_match::SERVER.to_owned(),
        auth,
        may_open: false,
        reconnect: auth == message::Auth::Token,
    };
    json::write_line(&mut line, &message::FromReferee::<()>::Hello(hello));
    line
}

/// Describes the end of a bot.
pub(super) fn ended(how: Option<&Detail>) -> String {
    match how {
        Some(how) => format!("its process ended: {how}"),
        None => "its output ended".to_owned(),
    }
}

fn remember(list: &mut VecDeque<String>, line: &str) {
    list.push_back(excerpt(line.trim_end(), SHOWN.1).into_owned());
    if list.len() > SHOWN.0 {
        list.pop_front();
    }
}
