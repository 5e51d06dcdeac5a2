//! One stream and the protocol state of its peer.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use referee_game::json;
use referee_game::seat::Seat;
use referee_match::{Detail, Received, RefusedLine};
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};
use referee_transport::{ByteStream, Lines, ReadProgress, tls_failure};

use crate::driver::arena::Arena;
use crate::driver::hello::BotHello;
use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::ready_queue::{ReadyQueue, StreamWaker};
use crate::driver::role::Role;

/// The sessions of a lane.
pub(super) type Sessions<S> = Arena<SessionKey, Session<S>>;

/// After a stream has ended, how long to wait for the exit of its process, in microseconds: they are reported
/// independently, and a process of a busy machine takes its time to end.
const GRACE: u64 = limits::EXIT_MS * 1000;
/// The maximum number of reads in a row from one stream, so that a busy one does not starve the others.
const READS: usize = 2;
/// The maximum number of reads when a stream is drained: more than a pipe holds.
const DRAINS: usize = 16;

/// The maximum number of spare buffers of a lane, and their maximum size in bytes.
const SPARE: usize = 64;
const LARGEST_SPARE: usize = 64 * 1024;

/// Empty buffers for output. Most sessions have no output most of the time, and need none.
#[derive(Debug, Default)]
pub(super) struct SpareBuffers(Vec<Vec<u8>>);

/// Thousands may be open: what few sessions have is boxed.
#[derive(Debug)]
pub(super) struct Session<S> {
    pub(super) role: Role,
    pub(super) hello: Option<BotHello>,
    /// The token of its `hello`.
    pub(super) token: Option<Box<str>>,
    /// Whether it has greeted and has to be released or ended next. Nothing is read until then.
    pub(super) is_held: bool,
    /// The last line that was rejected before the `hello`.
    pub(super) refused: Option<RefusedLine>,
    /// Whether the first line has been reported as long.
    pub(super) is_long: bool,
    /// The seats that it holds.
    pub(super) seats: Vec<(MatchKey, Seat)>,
    /// The number of its matches.
    pub(super) matches: u32,
    /// Whether a match has ended on it.
    pub(super) has_played: bool,
    /// Whether nothing has arrived since a time limit expired.
    pub(super) is_silent: bool,
    /// `None` once the session has ended, and while it is lost.
    pub(super) stream: Option<S>,
    pub(super) lines: Lines,
    /// Whether the lane learns when the stream becomes readable while the lane waits for rules.
    pub(super) is_watched: bool,
    /// When its input has arrived while the lane waited for rules, and for how long it may have waited before.
    pub(super) arrived: Vec<(u64, u64)>,
    /// Whether complete lines wait until the lane's owner has handled the previous one.
    pub(super) has_lines: bool,
    /// Lines and bytes since the last request.
    pub(super) since_request: (u32, u32),
    /// The time of the session's timer.
    pub(super) alarm: Option<u64>,
    /// The deadline for `hello`.
    pub(super) hello_until: Option<u64>,
    hello_limit_ms: u64,
    /// When the stream ended, and how.
    pub(super) closed: Option<Box<(Option<u64>, Closed)>>,
    /// The stream has ended, and another one may replace it.
    pub(super) lost: Option<Box<Lost>>,
    /// The `end` messages since the last line of the peer. The next connection of the bot gets them again.
    pub(super) unacknowledged: Vec<u8>,
    /// Whether the session is being ended: its last output is written, and nothing else happens to it.
    pub(super) is_ending: bool,
    /// How its process exited.
    pub(super) exited: Option<Box<Detail>>,
    pub(super) out: VecDeque<u8>,
    /// Since when the peer has read nothing.
    pub(super) blocked: Option<u64>,
    signal: Arc<StreamWaker>,
    waker: Waker,
}

impl<S: ByteStream> Session<S> {
    /// `now` in microseconds; the peer has `hello_limit` to send `hello`.
    pub(super) fn new(
        key: SessionKey,
        role: Role,
        stream: S,
        (now, hello_limit): (u64, Duration),
        ready_queue: Arc<ReadyQueue>,
    ) -> Self {
        let signal = StreamWaker::new(key, ready_queue);
        Session {
            role,
            hello: None,
            token: None,
            is_held: false,
            refused: None,
            is_long: false,
            seats: Vec::new(),
            matches: 0,
            has_played: false,
            is_silent: false,
            stream: Some(stream),
            lines: Lines::new(limits::LINE_FROM_BOT),
            is_watched: false,
            arrived: Vec::new(),
            has_lines: false,
            since_request: (0, 0),
            alarm: None,
            hello_until: Some(now + hello_limit.as_micros() as u64),
            hello_limit_ms: hello_limit.as_millis() as u64,
            closed: None,
            lost: None,
            unacknowledged: Vec::new(),
            is_ending: false,
            exited: None,
            out: VecDeque::new(),
            blocked: None,
            waker: signal.clone().into(),
            signal,
        }
    }

    /// Stores the contents of the `hello`.
    pub(super) fn set_hello(&mut self, mut hello: BotHello) {
        self.hello_until = None;
        self.since_request = (0, 0);
        if !self.role.reconnects() {
            (hello.reconnect, hello.wants.repeat) = (None, false);
        }
        self.hello = Some(hello);
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

    /// Queues output, in exchange for an empty buffer. The contents of `bytes` are unspecified afterwards.
    pub(super) fn queue(&mut self, bytes: &mut Vec<u8>, spare: &mut SpareBuffers) {
        if self.out.is_empty() {
            // Exchanging is cheaper than copying.
            self.out = mem::replace(bytes, spare.0.pop().unwrap_or_default()).into();
        } else {
            self.out.extend(&*bytes);
        }
    }

    /// Whether it is a connection whose valid `hello` has not arrived.
    pub(super) fn is_pending(&self) -> bool {
        self.role.is_connection() && self.hello.is_none()
    }

    /// Why what the peer sends cannot be read as messages.
    pub(super) fn mismatch(&self) -> Option<&'static str> {
        self.stream.as_ref()?.mismatch(self.lines.pending())
    }

    /// Switches to plain text if the TLS handshake failed, so that the peer can read the reason.
    pub(super) fn fall_back_to_plain_text(&mut self) {
        if self.stream.as_mut().is_some_and(ByteStream::give_up_tls) {
            self.out.clear();
        }
    }

    /// Reads available input, without blocking.
    pub(super) fn read(&mut self) {
        self.signal.taken();
        if self.is_held {
            return;
        }
        let mut cx = Context::from_waker(&self.waker);
        for _ in 0..READS {
            let Some(stream) = self
                .stream
                .as_mut()
                .filter(|_| self.closed.as_ref().is_none_or(|closed| closed.1 == Closed::Input))
            else {
                return;
            };
            match stream.poll_read(&mut cx, &mut self.lines) {
                Poll::Pending => return,
                Poll::Ready(Ok(ReadProgress::Read { .. })) => {}
                Poll::Ready(Ok(ReadProgress::End)) => return self.close(Closed::Output),
                Poll::Ready(Err(error)) => {
                    let how = match self.mismatch().filter(|_| self.is_pending()) {
                        Some(why) => Closed::Mismatch(why),
                        None => tls_failure(&error).map_or(Closed::Output, Closed::Tls),
                    };
                    return self.close(how);
                }
            }
        }
        self.waker.wake_by_ref();
    }

    /// Reads input that the reactor has not reported yet. Returns whether there was some.
    pub(super) fn spin(&mut self) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        // The end of the stream will be reported.
        matches!(stream.try_read(&mut self.lines), Ok(ReadProgress::Read { .. }))
    }

    /// Continues on another stream. What was noted of the arrival of input belongs to the lost one.
    pub(super) fn replace_stream(&mut self, key: SessionKey, stream: S) {
        self.stream = Some(stream);
        self.lost = None;
        self.arrived.clear();
        self.is_watched = false;
        self.watch(key);
    }

    /// Watches the stream, if this thread watches any while it waits.
    pub(super) fn watch(&mut self, key: SessionKey) {
        if let Some(stream) = self.stream.as_ref().filter(|_| !self.is_watched) {
            self.is_watched = true;
            if let Err(error) = stream.watch_arrivals(Sessions::<S>::number(key)) {
                tracing::warn!(%error, "a stream is not watched while rules are asked");
            }
        }
    }

    /// Reads all available input, whether or not the reactor has reported it. Returns false if the stream has ended.
    pub(super) fn drain(&mut self) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        let mut is_open = true;
        for _ in 0..DRAINS {
            if !stream.may_read() {
                break;
            }
            match stream.try_read(&mut self.lines) {
                Ok(ReadProgress::Read { .. }) => continue,
                Ok(ReadProgress::End) => is_open = false,
                Err(error) => is_open = error.kind() == io::ErrorKind::WouldBlock,
            }
            break;
        }
        self.lines.free_buffer();
        if !is_open && self.role == Role::Process {
            self.close(Closed::Output);
        }
        is_open
    }

    /// Closes the stream. Writes pending output as far as possible, and reads pending input: closing a socket with
    /// unread input would discard the last output.
    pub(super) fn end(&mut self, now: u64) {
        self.write(now);
        self.drain();
        if let Some(stream) = self.stream.take() {
            stream.close();
        }
    }

    fn close(&mut self, how: Closed) {
        // The end of input is more informative than a failed write.
        if self.closed.as_ref().is_none_or(|closed| closed.1 == Closed::Input) {
            let since = self.closed.take().and_then(|closed| closed.0);
            self.closed = Some(Box::new((since, how)));
        }
    }

    /// Timestamps end-of-input lazily: the read that saw it may have blocked.
    pub(super) fn date_end(&mut self, now: impl FnOnce() -> u64) {
        if let Some((since @ None, _)) = self.closed.as_deref_mut() {
            *since = Some(now());
        }
    }

    /// Writes as much as the peer accepts.
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
                    return self.close(Closed::Input);
                }
                Poll::Pending => {
                    self.blocked.get_or_insert(now);
                    return;
                }
            }
        }
    }

    /// Returns the buffer of output that has been written.
    pub(super) fn return_buffer(&mut self, spare: &mut SpareBuffers) {
        if self.out.is_empty() {
            let buffer = Vec::from(mem::take(&mut self.out));
            if (1..=LARGEST_SPARE).contains(&buffer.capacity()) && spare.0.len() < SPARE {
                spare.0.push(buffer);
            }
        }
    }

    /// Whether output is pending.
    pub(super) fn has_output(&self) -> bool {
        !self.out.is_empty()
    }

    /// Counts a line. Returns false if there were too many since the last request.
    pub(super) fn count_line(&mut self, bytes: usize) -> bool {
        // A host may open and abort as many matches as it has slots before it receives a request.
        let open = match (self.role, &self.hello) {
            (Role::Host { .. }, Some(hello)) => hello.slots as u32,
            _ => self.matches.max(1),
        };
        self.since_request.0 += 1;
        self.since_request.1 = self.since_request.1.saturating_add(bytes as u32 + 1);
        self.since_request.0 <= limits::LINES_BETWEEN_REQUESTS.saturating_mul(open)
            && self.since_request.1 <= limits::BYTES_BETWEEN_REQUESTS.saturating_mul(open)
    }

    /// When the session has to be checked.
    pub(super) fn deadline(&self) -> Option<u64> {
        if let Some(lost) = &self.lost {
            return Some(lost.until);
        }
        self.stream.as_ref()?;
        let closed = self.closed.as_ref().map(|closed| match closed.0 {
            Some(since) if self.awaits_exit() => since + GRACE,
            since => since.unwrap_or_default(),
        });
        let stalled = self.blocked.map(|since| since + limits::STALLED_MS * 1000);
        [closed, stalled, self.hello_until].into_iter().flatten().min()
    }

    /// What arrived in place of the expected message, given the line that was rejected last.
    pub(super) fn received(&self, refused: Option<RefusedLine>) -> Option<Received> {
        self.stream.as_ref()?;
        let held = self.lines.held() as u64;
        // With several matches, the lines may be for others.
        let nothing = (self.since_request.0 == 0 && self.matches <= 1).then_some(Received::Nothing);
        let unfinished = (held > 0).then_some(Received::Unfinished { bytes: held });
        unfinished.or(refused.map(Received::Refused)).or(nothing)
    }

    /// Whether the stream of a process has ended: how the process exits decides what happens next.
    pub(super) fn is_exiting(&self) -> bool {
        self.role == Role::Process && (self.closed.is_some() || self.exited.is_some())
    }

    fn awaits_exit(&self) -> bool {
        self.role == Role::Process && self.exited.is_none()
    }

    /// Why the session has ended, if it has. `asked` states whether it has an open request.
    pub(super) fn over(&self, now: u64, asked: impl FnOnce() -> bool) -> Option<(FaultCode, Detail)> {
        if let Some(lost) = &self.lost {
            return (now >= lost.until).then(|| (FaultCode::Disconnected, lost.detail.clone()));
        }
        self.stream.as_ref()?;
        let waits = limits::PENDING_OUTPUT + limits::PENDING_OUTPUT_PER_MATCH * self.matches as usize;
        if let Some(status) = &self.exited {
            Some((FaultCode::Exited, (**status).clone()))
        } else if let Some(&(Some(since), ref how)) = self.closed.as_deref()
            && (!self.awaits_exit() || now >= since + GRACE)
        {
            Some(match how {
                Closed::Output => (FaultCode::Disconnected, Detail::OutputEnded),
                Closed::Input => (FaultCode::Disconnected, Detail::InputClosed),
                Closed::Tls(error) => (FaultCode::Disconnected, Detail::TlsFailed { error: error.clone() }),
                Closed::Mismatch(why) => (FaultCode::NoStart, Detail::other(*why)),
            })
        } else if self.hello_until.is_some_and(|until| now >= until) && !self.is_exiting() {
            let limit_ms = self.hello_limit_ms;
            Some((FaultCode::NoStart, Detail::NoHello { limit_ms, received: self.received(self.refused) }))
        } else if self.blocked.is_some_and(|since| now >= since + limits::STALLED_MS * 1000) && !asked() {
            Some((FaultCode::Stalled, Detail::TookNothing { limit_ms: limits::STALLED_MS }))
        } else if self.lines.skipped() > limits::SKIPPED {
            Some((FaultCode::Protocol, Detail::EndlessLine { most_bytes: limits::SKIPPED as u64 }))
        } else if self.out.len() > waits {
            Some((FaultCode::Stalled, Detail::OutputWaits { most_bytes: waits as u64 }))
        } else {
            None
        }
    }
}

/// A stream that has ended, and that another one may replace.
#[derive(Debug)]
pub(super) struct Lost {
    /// When the wait ends.
    pub(super) until: u64,
    /// How the stream ended.
    pub(super) detail: Detail,
}

/// How a stream ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Closed {
    /// The output of the bot was closed.
    Output,
    /// The input of the bot was closed.
    Input,
    /// The TLS connection failed.
    Tls(String),
    /// The peer does not use TLS and the referee does.
    Mismatch(&'static str),
}
