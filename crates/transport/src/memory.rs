//! Streams in memory, for tests and fuzzing.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::byte_stream::{ByteStream, ReadProgress};
use crate::{Lines, would_block};

#[derive(Debug)]
struct MemoryState {
    /// Bytes for the referee.
    input: VecDeque<u8>,
    has_input_ended: bool,
    /// Bytes from the referee.
    output: Vec<u8>,
    /// The number of bytes that the peer accepts before it reads. Without a peer, writes fail.
    room: Option<usize>,
    is_closed: bool,
    /// The number under which the referee watches it.
    watched: Option<u64>,
    waker: Option<Waker>,
}

/// The referee's end of a stream in memory.
#[derive(Debug)]
pub struct MemoryStream(Arc<Mutex<MemoryState>>);

/// The other end of a [`MemoryStream`].
#[derive(Debug)]
pub struct MemoryPeer(Arc<Mutex<MemoryState>>);

/// Creates a stream whose peer accepts at most `room` bytes until it reads.
pub fn memory_stream(room: usize) -> (MemoryStream, MemoryPeer) {
    let state = Arc::new(Mutex::new(MemoryState {
        input: VecDeque::new(),
        has_input_ended: false,
        output: Vec::new(),
        room: Some(room),
        is_closed: false,
        watched: None,
        waker: None,
    }));
    (MemoryStream(state.clone()), MemoryPeer(state))
}

fn lock(state: &Mutex<MemoryState>) -> MutexGuard<'_, MemoryState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryState {
    fn fill(&mut self, lines: &mut Lines) -> io::Result<ReadProgress> {
        if self.input.is_empty() && !self.has_input_ended {
            return Err(would_block());
        }
        lines.fill(|buffer| self.input.read(buffer)).map(ReadProgress::of)
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl ByteStream for MemoryStream {
    fn watch_arrivals(&self, number: u64) -> io::Result<()> {
        lock(&self.0).watched = Some(number);
        Ok(())
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, lines: &mut Lines) -> Poll<io::Result<ReadProgress>> {
        let mut state = lock(&self.0);
        match state.fill(lines) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            progress => Poll::Ready(progress),
        }
    }

    fn try_read(&mut self, lines: &mut Lines) -> io::Result<ReadProgress> {
        lock(&self.0).fill(lines)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = lock(&self.0);
        let Some(room) = state.room else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        let taken = bytes.len().min(room - state.output.len());
        if taken == 0 {
            state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.output.extend(&bytes[..taken]);
        Poll::Ready(Ok(taken))
    }

    fn close(self) {}
}

impl Drop for MemoryStream {
    fn drop(&mut self) {
        lock(&self.0).is_closed = true;
    }
}

impl MemoryPeer {
    pub fn send(&self, bytes: &[u8]) {
        let mut state = lock(&self.0);
        state.input.extend(bytes);
        state.wake();
    }

    /// Takes the referee's output.
    pub fn receive(&self) -> Vec<u8> {
        let mut state = lock(&self.0);
        state.wake();
        std::mem::take(&mut state.output)
    }

    /// Sends the end of input; the output of the referee is still accepted.
    pub fn end(&self) {
        let mut state = lock(&self.0);
        state.has_input_ended = true;
        state.wake();
    }

    /// The number under which the referee watches the stream, if it does.
    pub fn watched(&self) -> Option<u64> {
        lock(&self.0).watched
    }

    /// Returns whether the referee has closed its end.
    pub fn is_closed(&self) -> bool {
        lock(&self.0).is_closed
    }
}

impl Drop for MemoryPeer {
    fn drop(&mut self) {
        let mut state = lock(&self.0);
        (state.room, state.has_input_ended) = (None, true);
        state.wake();
    }
}
