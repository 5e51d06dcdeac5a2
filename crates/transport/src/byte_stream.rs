//! The stream of bytes that a lane requires.

use std::fmt::Debug;
use std::io;
use std::task::{Context, Poll};

use crate::Lines;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadProgress {
    /// Bytes were read.
    Read {
        /// Whether the read filled the buffer, so that more may be available.
        is_full: bool,
    },
    End,
}

impl ReadProgress {
    pub(super) fn of((got, is_full): (usize, bool)) -> ReadProgress {
        if got == 0 { ReadProgress::End } else { ReadProgress::Read { is_full } }
    }
}

/// A bidirectional stream of bytes whose reads and writes do not block. Reads append to a line buffer, so that bytes are
/// copied once.
pub trait ByteStream: Debug {
    /// Reads once. Pending when no data is available; then the waker is notified when there is.
    fn poll_read(&mut self, cx: &mut Context<'_>, lines: &mut Lines) -> Poll<io::Result<ReadProgress>>;

    /// Reads once, whether or not readiness has been reported.
    ///
    /// # Errors
    /// Errors of `read`; `WouldBlock` when no data is available.
    fn try_read(&mut self, lines: &mut Lines) -> io::Result<ReadProgress>;

    /// Returns whether a read would return data or the end of the stream, if that is cheaper to find out than
    /// by reading.
    fn may_read(&self) -> bool {
        true
    }

    /// Writes once. Pending when no bytes are accepted; then the waker is notified when some are.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Watches the stream under this number: see [`watch_while_waiting`](crate::watch_while_waiting).
    ///
    /// # Errors
    /// Errors of the operating system.
    fn watch_arrivals(&self, _number: u64) -> io::Result<()> {
        Ok(())
    }

    fn close(self);

    /// Returns whether a read is cheap: it is not if it would start a TLS handshake.
    fn is_cheap_to_read(&self) -> bool {
        true
    }

    /// The reason why the bytes that the peer has sent so far cannot be read as messages: it uses TLS and the
    /// referee does not, or the reverse. `received` are those that have arrived as plain text.
    fn mismatch(&self, _received: &[u8]) -> Option<&'static str> {
        None
    }

    /// Falls back to plain text if the peer has not started a TLS handshake, so that it can read an error message.
    /// Discards pending output. Returns whether it did.
    fn give_up_tls(&mut self) -> bool {
        false
    }
}
