//! The raw stream of a bot's process.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

use referee_protocol::limits;
use referee_protocol::referee as message;
use rustix::process::Signal;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::bot::{Command, Process, Warden};
use crate::check::manner::Manner;
use crate::check::rule::Rule;
use crate::check::verdict::Complaint;
use crate::core::excerpt::excerpt;
use crate::core::json;
use crate::transport::{Line, Lines, Progress, Stream};

/// How many lines of each direction an explanation shows, since the last write, and how much of each.
const SHOWN: (usize, usize) = (3, 400);
/// How long the end of a process may follow the end of its stream.
const GRACE: Duration = Duration::from_millis(100);
/// Reads during one write: a bot that writes while it is written to must not stand still.
const READS: usize = 16;

/// What came from a bot.
#[derive(Debug)]
pub enum Came {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line that is longer than allowed.
    TooLong,
    /// The end of its output, and how its process ended if it did: "status 1", "signal 11".
    Ended(Option<String>),
    /// Nothing in time.
    Nothing,
}

/// A bot's process and the stream to it.
pub struct Talk {
    process: Process,
    /// Ends it when it keeps us waiting at its pipes.
    _warden: Warden,
    /// None once its input has been closed.
    stream: Option<Stream>,
    lines: Lines,
    /// How it has ended.
    exit: watch::Receiver<Option<String>>,
    pub(super) manner: Manner,
    pings: u64,
    /// Lines and bytes since it was sent anything.
    chatter: (u32, usize),
    sent: VecDeque<String>,
    came: VecDeque<String>,
}

impl Talk {
    /// Starts a bot.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &Command) -> io::Result<Talk> {
        let (tell, exit) = watch::channel(None);
        let on_exit = move |how| {
            tell.send_replace(Some(how));
        };
        let warden = Warden::open()?;
        let (process, wire) = Process::start(command, &warden, on_exit)?;
        Ok(Talk {
            process,
            _warden: warden,
            stream: Some(Stream::watch(wire)?),
            lines: Lines::new(limits::LINE_FROM_BOT),
            exit,
            manner: Manner::Plain,
            pings: 0,
            chatter: (0, 0),
            sent: VecDeque::new(),
            came: VecDeque::new(),
        })
    }

    /// Sends lines. Whether the bot took all of them in time; if it did not, what comes next tells why.
    pub async fn say(&mut self, lines: &[u8], within: Duration) -> bool {
        self.chatter = (0, 0);
        self.sent.clear();
        self.came.clear();
        let pings = &mut self.pings;
        let pieces = self.manner.pieces(lines, || {
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
                                Poll::Ready(Ok(Progress::Read { .. })) => reads += 1,
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

    /// What comes next.
    pub async fn come(&mut self, until: Option<Instant>) -> Came {
        loop {
            match self.lines.next_line() {
                Some(Line::Text(text)) => {
                    let line = text.to_vec();
                    self.chatter = (self.chatter.0 + 1, self.chatter.1 + line.len() + 1);
                    remember(&mut self.came, &String::from_utf8_lossy(&line));
                    return Came::Line(line);
                }
                Some(Line::TooLong) => {
                    remember(&mut self.came, "(a line of more than 65536 bytes)");
                    return Came::TooLong;
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
                Err(_) => return Came::Nothing,
                Ok(Ok(Progress::Read { .. })) => {}
                Ok(Ok(Progress::End) | Err(_)) => return self.end().await,
            }
        }
    }

    async fn end(&mut self) -> Came {
        let how = self.exited(GRACE).await;
        remember(&mut self.came, &format!("({})", ended(how.as_deref())));
        Came::Ended(how)
    }

    /// Sends a ping, which is nothing that an answer follows from. The id that its pong has to bring.
    pub(super) async fn ping(&mut self) -> u64 {
        self.pings += 1;
        let line = format!("{{\"type\":\"ping\",\"id\":{}}}\n", self.pings);
        // Whoever does not take it does not say anything either.
        let _ = timeout(GRACE, self.write(line.as_bytes())).await;
        self.pings
    }

    /// The id of the last ping that was sent.
    pub(super) fn last_ping(&self) -> u64 {
        self.pings
    }

    /// Whether it says more than it may between two requests.
    pub(super) fn is_flooding(&self) -> bool {
        self.chatter.0 > limits::LINES_BETWEEN_REQUESTS
            || self.chatter.1 > limits::BYTES_BETWEEN_REQUESTS as usize
    }

    /// Ends its input.
    pub(super) fn close(&mut self) {
        self.stream = None;
    }

    /// How its process ended, if it does within this time.
    pub(super) async fn exited(&mut self, within: Duration) -> Option<String> {
        let exit = self.exit.wait_for(Option::is_some);
        timeout(within, exit).await.ok()?.ok()?.clone()
    }

    /// Sends it a signal.
    pub(super) fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// What it has written to its standard error since the last call.
    pub fn stderr(&self) -> String {
        self.process.stderr().take().into_text().0
    }

    /// Ends it as the referee does.
    pub async fn finish(mut self) {
        self.close();
        self.process.end().await;
    }

    /// What is wrong, with what was said before it.
    pub(super) fn complain(&self, wrong: impl Into<String>, rule: Rule) -> Complaint {
        let all = |lines: &VecDeque<String>| lines.iter().cloned().collect();
        Complaint { wrong: wrong.into(), sent: all(&self.sent), came: all(&self.came), rule }
    }
}

/// What the referee says first, as a line.
pub fn hello() -> Vec<u8> {
    let mut line = Vec::new();
    let hello = message::Hello {
        protocol: referee_protocol::PROTOCOL,
        server: crate::SERVER.to_owned(),
        auth: message::Auth::None,
        may_open: false,
    };
    json::write_line(&mut line, &message::FromReferee::<()>::Hello(hello));
    line
}

/// The end of a bot in words.
pub(super) fn ended(how: Option<&str>) -> String {
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
