//! A stream with its buffers.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use referee_game::json;
use referee_match::Detail;
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_transport::{ByteStream, Lines, ReadProgress, tls_failure};
use slotmap::Key;

use crate::driver::bot_fault::BotFault;
use crate::driver::keys::SessionKey;
use crate::driver::ready_queue::{ReadyQueue, StreamWaker};

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

#[derive(Debug)]
pub(super) struct BufferedStream<S> {
    pub(super) stream: S,
    pub(super) lines: Lines,
    /// Whether the lane learns when the stream becomes readable while the lane waits for rules.
    is_watched: bool,
    /// The times at which input arrived while the lane waited for rules, and for how long it may have waited before.
    pub(super) arrived: Vec<(u64, u64)>,
    /// Whether complete lines wait until the lane's owner has handled the previous one.
    pub(super) has_lines: bool,
    /// Input from the peer since the last request.
    pub(super) since_request: Traffic,
    pub(super) out: VecDeque<u8>,
    /// The time since which the peer has read nothing.
    pub(super) blocked: Option<u64>,
    pub(super) closing: Option<Box<Closing>>,
    signal: Arc<StreamWaker>,
    waker: Waker,
}

#[derive(Debug, Default)]
pub(super) struct Traffic {
    pub(super) lines: u32,
    pub(super) bytes: u32,
}

/// The end of a session, once the lines that have arrived are handled.
#[derive(Debug)]
pub(super) enum Closing {
    /// The stream has ended. The time is noted at the end of a round: the read that saw the end may have blocked.
    Stream {
        since: Option<u64>,
        how: Closed,
    },
    Process(Detail),
}

#[derive(Debug)]
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

impl Closed {
    pub(super) fn fault(&self) -> BotFault {
        match self {
            Closed::Output => BotFault::disconnected(Detail::OutputEnded),
            Closed::Input => BotFault::disconnected(Detail::InputClosed),
            Closed::Tls(error) => BotFault::disconnected(Detail::TlsFailed { error: error.clone() }),
            Closed::Mismatch(why) => BotFault::no_start(Detail::other(*why)),
        }
    }
}

impl<S: ByteStream> BufferedStream<S> {
    pub(super) fn new(key: SessionKey, stream: S, ready_queue: Arc<ReadyQueue>) -> Self {
        let signal = StreamWaker::new(key, ready_queue);
        BufferedStream {
            stream,
            lines: Lines::new(limits::LINE_FROM_BOT),
            is_watched: false,
            arrived: Vec::new(),
            has_lines: false,
            since_request: Traffic::default(),
            out: VecDeque::new(),
            blocked: None,
            closing: None,
            waker: signal.clone().into(),
            signal,
        }
    }

    /// The reason why the peer's bytes cannot be read as messages.
    pub(super) fn mismatch(&self) -> Option<&'static str> {
        self.stream.mismatch(self.lines.pending())
    }

    /// Switches to plain text if the peer has not started a TLS handshake, so that it can read the reason. Returns whether it
    /// did.
    pub(super) fn fall_back_to_plain_text(&mut self) -> bool {
        let has_changed = self.stream.give_up_tls();
        if has_changed {
            self.out.clear();
        }
        has_changed
    }

    /// Notes that the lane handles the readiness of the stream now.
    pub(super) fn take_signal(&self) {
        self.signal.taken();
    }

    /// Reads available input, without blocking. Of a pending connection, the reason of an error may be
    /// that the peer does not use TLS.
    pub(super) fn read(&mut self, is_pending: bool) {
        let mut cx = Context::from_waker(&self.waker);
        for _ in 0..READS {
            if self.has_ended() {
                return;
            }
            match self.stream.poll_read(&mut cx, &mut self.lines) {
                Poll::Pending => return,
                Poll::Ready(Ok(ReadProgress::Read { .. })) => {}
                Poll::Ready(Ok(ReadProgress::End)) => return self.close(Closed::Output),
                Poll::Ready(Err(error)) => {
                    let how = match self.mismatch().filter(|_| is_pending) {
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
        // The end of the stream will be reported.
        matches!(self.stream.try_read(&mut self.lines), Ok(ReadProgress::Read { .. }))
    }

    /// Watches the stream, if this thread watches any while it waits.
    pub(super) fn watch(&mut self, key: SessionKey) {
        if !mem::replace(&mut self.is_watched, true)
            && let Err(error) = self.stream.watch_arrivals(key.data().as_ffi())
        {
            tracing::warn!(%error, "a stream is not watched while rules are asked");
        }
    }

    /// Reads all available input, whether or not the reactor has reported it. Returns false if the stream has ended.
    pub(super) fn drain(&mut self) -> bool {
        let mut is_open = true;
        for _ in 0..DRAINS {
            if !self.stream.may_read() {
                break;
            }
            match self.stream.try_read(&mut self.lines) {
                Ok(ReadProgress::Read { .. }) => continue,
                Ok(ReadProgress::End) => is_open = false,
                Err(error) => is_open = error.kind() == io::ErrorKind::WouldBlock,
            }
            break;
        }
        self.lines.free_buffer();
        is_open
    }

    /// Returns whether nothing more can be read.
    fn has_ended(&self) -> bool {
        match self.closing.as_deref() {
            None | Some(Closing::Process(_) | Closing::Stream { how: Closed::Input, .. }) => false,
            Some(Closing::Stream { .. }) => true,
        }
    }

    pub(super) fn close(&mut self, how: Closed) {
        match self.closing.as_deref_mut() {
            None => self.closing = Some(Box::new(Closing::Stream { since: None, how })),
            // The end of input is more informative than a failed write.
            Some(Closing::Stream { how: earlier @ Closed::Input, .. }) => *earlier = how,
            Some(_) => {}
        }
    }

    /// Notes when the stream has ended.
    pub(super) fn date_end(&mut self, now: impl FnOnce() -> u64) {
        if let Some(Closing::Stream { since: since @ None, .. }) = self.closing.as_deref_mut() {
            *since = Some(now());
        }
    }

    pub(super) fn say(&mut self, message: &message::FromReferee<'_, ()>) {
        json::write_line(&mut self.out, message);
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

    /// Writes as much as the peer accepts.
    pub(super) fn write(&mut self, now: u64) {
        let mut cx = Context::from_waker(&self.waker);
        while !self.out.is_empty() {
            match self.stream.poll_write(&mut cx, self.out.as_slices().0) {
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

    /// Gives back the buffer of output that has been written.
    pub(super) fn return_buffer(&mut self, spare: &mut SpareBuffers) {
        if self.out.is_empty() {
            let buffer = Vec::from(mem::take(&mut self.out));
            if (1..=LARGEST_SPARE).contains(&buffer.capacity()) && spare.0.len() < SPARE {
                spare.0.push(buffer);
            }
        }
    }

    /// Closes the stream. Writes pending output as far as possible, and reads pending input: closing a socket with
    /// unread input would discard the last output.
    pub(super) fn end(mut self, now: u64) {
        self.write(now);
        self.drain();
        self.stream.close();
    }
}
