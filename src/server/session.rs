//! One stream and who is at its other end.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};

use crate::core::json;
use crate::core::seat::Seat;
use crate::referee::Wants;
use crate::server::arena::{Arena, key};
use crate::server::lane::MatchKey;
use crate::server::wakes::{StreamWaker, Wakes};
use crate::transport::{Lines, Progress, Stream, Wire};

key! {
    /// A session of a lane.
    SessionKey
}

/// The sessions of a lane.
pub(super) type Sessions = Arena<SessionKey, Session>;

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A bot that the referee started: its process will be heard of.
    Process,
    /// A bot that has connected by itself.
    Guest,
    /// One that holds all seats; it opens its matches itself if it may.
    Host {
        /// Whether it may.
        may_open: bool,
    },
}

/// What a bot said of itself.
#[derive(Clone, Debug)]
pub struct BotHello {
    /// For display.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// The games it plays; none: any.
    pub games: Option<Vec<String>>,
    /// Matches that it plays at once.
    pub slots: usize,
    /// What it wants to get.
    pub wants: Wants,
}

/// A session on its way to another lane.
pub struct Moving {
    role: Role,
    /// What its bot said of itself.
    pub hello: BotHello,
    has_played: bool,
    wire: Wire,
    lines: Lines,
    out: VecDeque<u8>,
}

/// How long a stream that has ended may belong to a process that has not: the news come on two ways. Microseconds.
const GRACE: u64 = 100_000;
/// Reads in a row from one stream, so that a busy one does not keep the others waiting.
const READS: usize = 2;
/// Reads in a row from a stream that is looked at for the last time: more than a pipe holds.
const DRAINS: usize = 16;

pub(super) struct Session {
    pub(super) role: Role,
    pub(super) hello: Option<BotHello>,
    /// The seats that it holds.
    pub(super) seats: Vec<(MatchKey, Seat)>,
    /// In how many matches.
    pub(super) matches: u32,
    /// Whether a match has ended on it.
    pub(super) has_played: bool,
    /// None once the session is over.
    pub(super) stream: Option<Stream>,
    pub(super) lines: Lines,
    /// Whether complete lines wait until the lane's owner has done what one of them asked for.
    pub(super) has_lines: bool,
    /// Since the last request: lines and bytes.
    pub(super) chatter: (u32, u32),
    /// When to look at it at the latest; what the alarm was set for.
    pub(super) alarm: Option<u64>,
    /// When the time for `hello` is up.
    pub(super) hello_until: Option<u64>,
    hello_limit: Duration,
    /// When the stream ended, and how.
    closed: Option<(Option<u64>, &'static str)>,
    /// How its process ended.
    pub(super) exited: Option<String>,
    out: VecDeque<u8>,
    /// Since when the other end takes nothing.
    blocked: Option<u64>,
    signal: Arc<StreamWaker>,
    waker: Waker,
}

impl Session {
    /// `now` in microseconds; the other end has `hello_limit` to say `hello`.
    pub(super) fn new(
        key: SessionKey,
        role: Role,
        stream: Stream,
        (now, hello_limit): (u64, Duration),
        wakes: Arc<Wakes>,
    ) -> Session {
        let signal = StreamWaker::new(key, wakes);
        Session {
            role,
            hello: None,
            seats: Vec::new(),
            matches: 0,
            has_played: false,
            stream: Some(stream),
            lines: Lines::new(limits::LINE_FROM_BOT),
            has_lines: false,
            chatter: (0, 0),
            alarm: None,
            hello_until: Some(now + hello_limit.as_micros() as u64),
            hello_limit,
            closed: None,
            exited: None,
            out: VecDeque::new(),
            blocked: None,
            waker: signal.clone().into(),
            signal,
        }
    }

    /// A session that comes from another lane: it has introduced itself there.
    pub(super) fn arrive(key: SessionKey, moving: Moving, wakes: Arc<Wakes>) -> io::Result<Session> {
        let Moving { role, hello, has_played, wire, lines, out } = moving;
        let stream = Stream::watch(wire)?;
        let mut session = Session::new(key, role, stream, (0, Duration::ZERO), wakes);
        session.hello = Some(hello);
        session.hello_until = None;
        session.has_played = has_played;
        session.lines = lines;
        session.out = out;
        if session.drain() { Ok(session) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Takes it from its lane. None when it is over or has not introduced itself.
    pub(super) fn depart(self) -> Option<Moving> {
        let Session { role, hello, has_played, stream, lines, out, closed, .. } = self;
        let (hello, stream) = hello.zip(stream).filter(|_| closed.is_none())?;
        Some(Moving { role, hello, has_played, wire: stream.unwatch(), lines, out })
    }

    pub(super) fn say(&mut self, message: &message::FromReferee<'_, ()>) {
        json::write_line(&mut self.out, message);
    }

    pub(super) fn refuse(
        &mut self,
        code: ErrorCode,
        message: String,
        id: Option<String>,
        match_id: Option<String>,
    ) {
        let error = message::Error {
            code,
            message,
            id,
            r#match: match_id,
            seat: None,
            turn: None,
            legal_forms: None,
        };
        self.say(&message::FromReferee::Error(error));
    }

    /// Takes what is to be written; what is left of `bytes` is of no use.
    pub(super) fn queue(&mut self, bytes: &mut Vec<u8>) {
        if self.out.is_empty() {
            // They change places, which is cheaper than a copy.
            *bytes = mem::replace(&mut self.out, mem::take(bytes).into()).into();
        } else {
            self.out.extend(&*bytes);
        }
    }

    /// Reads what is there, without waiting.
    pub(super) fn read(&mut self) {
        self.signal.taken();
        let mut cx = Context::from_waker(&self.waker);
        for _ in 0..READS {
            let Some(stream) =
                self.stream.as_mut().filter(|_| self.closed.is_none_or(|(_, how)| how != ENDED))
            else {
                return;
            };
            match stream.poll_read(&mut cx, &mut self.lines) {
                Poll::Pending => return,
                Poll::Ready(Ok(Progress::Read { .. })) => {}
                Poll::Ready(Ok(Progress::End) | Err(_)) => return self.close(ENDED),
            }
        }
        self.waker.wake_by_ref();
    }

    /// Reads what is there before it is reported. Whether something was.
    pub(super) fn glance(&mut self) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        // How a stream ends is told by the report.
        matches!(stream.try_read(&mut self.lines), Ok(Progress::Read { .. }))
    }

    /// Reads what is there at the last moment, whether it was reported or not. False when the stream has ended.
    pub(super) fn drain(&mut self) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        for _ in 0..DRAINS {
            if !stream.may_read() {
                return true;
            }
            match stream.try_read(&mut self.lines) {
                Ok(Progress::Read { .. }) => {}
                Ok(Progress::End) => return false,
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
        true
    }

    /// Closes the stream. What waits for the other end is written as far as it is taken; what has come from there is
    /// read, since closing a socket with something unread would take away what was written last.
    pub(super) fn end(&mut self, now: u64) {
        self.write(now);
        self.drain();
        if let Some(stream) = self.stream.take() {
            stream.close();
        }
    }

    fn close(&mut self, how: &'static str) {
        // The end of the input says more than a write that failed.
        if self.closed.is_none_or(|(_, how)| how != ENDED) {
            self.closed = Some((self.closed.and_then(|(since, _)| since), how));
        }
    }

    /// Dates the end of the stream when it is first looked at: who held the pipe may have kept the read waiting that
    /// met it.
    pub(super) fn date_end(&mut self, now: impl FnOnce() -> u64) {
        if let Some((since @ None, _)) = &mut self.closed {
            *since = Some(now());
        }
    }

    /// Writes as much as the other end takes.
    pub(super) fn write(&mut self, now: u64) {
        let mut cx = Context::from_waker(&self.waker);
        let Some(stream) = &mut self.stream else { return };
        while !self.out.is_empty() {
            match stream.poll_write(&mut cx, self.out.as_slices().0) {
                Poll::Ready(Ok(written)) => {
                    self.out.drain(..written);
                    self.blocked = None;
                }
                Poll::Ready(Err(_)) => {
                    self.out.clear();
                    return self.close("it closed its input");
                }
                Poll::Pending => {
                    self.blocked.get_or_insert(now);
                    return;
                }
            }
        }
        if self.out.capacity() > 256 * 1024 {
            self.out = VecDeque::new();
        }
    }

    /// Whether something waits to be written.
    pub(super) fn has_output(&self) -> bool {
        !self.out.is_empty()
    }

    /// Counts a line. False when there were too many since the last request.
    pub(super) fn count_line(&mut self, bytes: usize) -> bool {
        // A host may open and abort as many matches as it has slots before anything is asked of it.
        let open = match (self.role, &self.hello) {
            (Role::Host { .. }, Some(hello)) => hello.slots as u32,
            _ => self.matches.max(1),
        };
        self.chatter.0 += 1;
        self.chatter.1 = self.chatter.1.saturating_add(bytes as u32 + 1);
        self.chatter.0 <= limits::LINES_BETWEEN_REQUESTS.saturating_mul(open)
            && self.chatter.1 <= limits::BYTES_BETWEEN_REQUESTS.saturating_mul(open)
    }

    /// When something is due.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.stream.as_ref()?;
        let closed = self.closed.map(|(since, _)| match since {
            Some(since) if self.awaits_exit() => since + GRACE,
            since => since.unwrap_or_default(),
        });
        let stalled = self.blocked.map(|since| since + limits::STALLED_MS * 1000);
        [closed, stalled, self.hello_until].into_iter().flatten().min()
    }

    fn awaits_exit(&self) -> bool {
        self.role == Role::Process && self.exited.is_none()
    }

    /// Why the session is over, if it is. `asked` tells whether a request is open on it.
    pub(super) fn over(&self, now: u64, asked: impl FnOnce() -> bool) -> Option<(FaultCode, String)> {
        self.stream.as_ref()?;
        let waits = limits::PENDING_OUTPUT + limits::PENDING_OUTPUT_PER_MATCH * self.matches as usize;
        if let Some(status) = &self.exited {
            Some((FaultCode::Exited, status.clone()))
        } else if let Some((Some(since), how)) = self.closed
            && (!self.awaits_exit() || now >= since + GRACE)
        {
            Some((FaultCode::Disconnected, how.to_owned()))
        } else if self.hello_until.is_some_and(|until| now >= until) {
            let hint = if self.role == Role::Process { "; is stdout flushed?" } else { "" };
            let limit = self.hello_limit.as_millis();
            Some((FaultCode::NoStart, format!("no `hello` within {limit} ms{hint}")))
        } else if self.blocked.is_some_and(|since| now >= since + limits::STALLED_MS * 1000) && !asked() {
            Some((FaultCode::Stalled, format!("it took nothing for {} ms", limits::STALLED_MS)))
        } else if self.lines.skipped() > limits::SKIPPED {
            Some((FaultCode::Protocol, format!("a line of more than {} bytes", limits::SKIPPED)))
        } else if self.out.len() > waits {
            Some((FaultCode::Stalled, format!("more than {waits} bytes wait for it")))
        } else {
            None
        }
    }
}

const ENDED: &str = "its output ended";
