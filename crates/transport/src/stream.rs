//! The referee's end of a stream, with non-blocking reads and writes.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};

use crate::byte_stream::{ByteStream, ReadProgress};
use crate::tls::{TLS_HANDSHAKE, Tls};
use crate::{Lines, Mark, would_block};

/// The reason for rejecting a connection that uses TLS where plain text is expected.
const TLS: &str = "this port uses plain text, but a TLS handshake arrived: connect without TLS";
/// The reason for rejecting a plain-text connection where TLS is expected.
const PLAIN_TEXT: &str = "this port uses TLS, but plain text arrived: connect over TLS";

/// A file descriptor. Operations on the pipe of a process, including `close`, are recorded in its [`Mark`].
#[derive(Debug)]
pub(super) struct End {
    fd: OwnedFd,
    is_socket: bool,
    /// Dropped after `fd` has been closed.
    mark: UnmarkOnDrop,
}

#[derive(Debug)]
struct UnmarkOnDrop(Option<Arc<Mark>>);

impl Drop for UnmarkOnDrop {
    fn drop(&mut self) {
        if let Some(mark) = &self.0 {
            mark.end();
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some(mark) = &self.mark.0 {
            mark.begin();
        }
    }
}

impl AsFd for End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for End {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl End {
    fn pipe(fd: OwnedFd, mark: Option<Arc<Mark>>) -> End {
        End { fd, is_socket: false, mark: UnmarkOnDrop(mark) }
    }

    fn socket(fd: OwnedFd) -> End {
        End { fd, is_socket: true, mark: UnmarkOnDrop(None) }
    }

    fn marked<T>(&self, work: impl FnOnce(&OwnedFd) -> T) -> T {
        let Some(mark) = &self.mark.0 else { return work(&self.fd) };
        mark.begin();
        let done = work(&self.fd);
        mark.end();
        done
    }

    pub(super) fn read(&self, buffer: &mut [u8]) -> rustix::io::Result<usize> {
        if self.is_socket {
            // `recv` and `send` have a shorter path through the kernel than `read` and `write`.
            return Ok(rustix::net::recv(&self.fd, buffer, RecvFlags::empty())?.0);
        }
        self.marked(|fd| rustix::io::read(fd, buffer))
    }

    pub(super) fn write(&self, bytes: &[u8]) -> rustix::io::Result<usize> {
        if self.is_socket {
            return rustix::net::send(&self.fd, bytes, SendFlags::empty());
        }
        self.marked(|fd| rustix::io::write(fd, bytes))
    }

    fn may_read(&self) -> bool {
        if self.mark.0.is_none() {
            return true;
        }
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        rustix::event::poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

#[derive(Debug)]
enum Descriptor {
    Polled(AsyncFd<End>),
    /// A regular file, which is always ready and which epoll rejects.
    Always(End),
}

impl Descriptor {
    fn new(fd: End, interest: Interest) -> io::Result<Descriptor> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        #[expect(
            deprecated,
            reason = "sound with an OwnedFd inside, whose descriptor never changes; the new name is `unsafe`"
        )]
        match AsyncFd::try_with_interest(fd, interest) {
            Ok(fd) => Ok(Descriptor::Polled(fd)),
            Err(error) => {
                let (fd, error) = error.into_parts();
                if error.raw_os_error() == Some(rustix::io::Errno::PERM.raw_os_error()) {
                    Ok(Descriptor::Always(fd))
                } else {
                    Err(error)
                }
            }
        }
    }

    fn fd(&self) -> &End {
        match self {
            Descriptor::Polled(fd) => fd.get_ref(),
            Descriptor::Always(fd) => fd,
        }
    }

    fn into_fd(self) -> End {
        match self {
            Descriptor::Polled(fd) => fd.into_inner(),
            Descriptor::Always(fd) => fd,
        }
    }

    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Descriptor::Always(fd) => Poll::Ready(Ok(fd.write(bytes)?)),
            // Write first and wait for readiness only on EAGAIN: the reactor has no state for a descriptor
            // that was never waited for.
            Descriptor::Polled(fd) => loop {
                match fd.get_ref().write(bytes) {
                    Ok(written) => return Poll::Ready(Ok(written)),
                    Err(rustix::io::Errno::AGAIN) => ready!(fd.poll_write_ready(cx))?.clear_ready(),
                    Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            },
        }
    }
}

/// A stream that is not registered with a runtime, so it can be sent to another thread.
#[derive(Debug)]
pub struct Wire {
    pub(super) input: End,
    /// `None` if the input is a bidirectional socket.
    pub(super) output: Option<End>,
    tls: Option<Box<Tls>>,
}

impl Wire {
    /// Creates a stream from a pipe to read and a pipe to write, with a mark for the watchdog if the other end is not
    /// trusted.
    pub fn pipes(input: OwnedFd, output: OwnedFd, mark: Option<Arc<Mark>>) -> Wire {
        Wire { input: End::pipe(input, mark.clone()), output: Some(End::pipe(output, mark)), tls: None }
    }

    /// Creates a stream from a socket to read and another socket to write.
    pub fn sockets(input: OwnedFd, output: OwnedFd) -> Wire {
        Wire { input: End::socket(input), output: Some(End::socket(output)), tls: None }
    }

    /// Creates a stream from one socket, optionally with TLS.
    pub fn socket(socket: OwnedFd, tls: Option<Tls>) -> Wire {
        Wire { input: End::socket(socket), output: None, tls: tls.map(Box::new) }
    }
}

/// The referee's end of a bidirectional stream, registered with the runtime of its thread.
#[derive(Debug)]
pub struct Stream {
    input: Descriptor,
    output: Option<Descriptor>,
    tls: Option<Box<Tls>>,
}

impl Stream {
    /// Makes the descriptors non-blocking and registers them with the current runtime.
    ///
    /// # Errors
    /// When the reactor cannot register them.
    pub fn watch(Wire { input, output, tls }: Wire) -> io::Result<Stream> {
        let interest = match output {
            Some(_) => Interest::READABLE,
            None => Interest::READABLE | Interest::WRITABLE,
        };
        Ok(Stream {
            input: Descriptor::new(input, interest)?,
            output: output.map(|output| Descriptor::new(output, Interest::WRITABLE)).transpose()?,
            tls,
        })
    }

    /// Deregisters the stream from its runtime and its thread.
    pub fn unwatch(self) -> Wire {
        // On an error the thread has not watched it.
        let _ = crate::watch::unwatch_stream(self.input.fd());
        Wire { input: self.input.into_fd(), output: self.output.map(Descriptor::into_fd), tls: self.tls }
    }

    fn received_plain_text(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.received_plain_text())
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>, lines: &mut Lines) -> Poll<io::Result<ReadProgress>> {
        match &mut self.input {
            Descriptor::Always(fd) => Poll::Ready(fill(lines, fd, &mut self.tls)),
            Descriptor::Polled(input) => loop {
                let mut guard = ready!(input.poll_read_ready(cx))?;
                match fill(lines, guard.get_inner(), &mut self.tls) {
                    Ok(progress) => {
                        if progress == (ReadProgress::Read { is_full: false }) && self.tls.is_none() {
                            // A short read means that the buffer is drained: saves the read that returns EAGAIN.
                            guard.clear_ready_matching(Ready::READABLE);
                        }
                        return Poll::Ready(Ok(progress));
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        guard.clear_ready_matching(Ready::READABLE);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            },
        }
    }

    /// Writes pending encrypted bytes.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(tls) = &mut self.tls else { return Poll::Ready(Ok(())) };
        let output = self.output.as_ref().unwrap_or(&self.input);
        while tls.has_output() {
            let mut write = |bytes: &[u8]| match output.poll_write(cx, bytes) {
                Poll::Ready(written) => written,
                Poll::Pending => Err(would_block()),
            };
            match tls.write(&mut write) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl ByteStream for Stream {
    fn watch_arrivals(&self, number: u64) -> io::Result<()> {
        crate::watch::watch_stream(self.input.fd(), number)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, lines: &mut Lines) -> Poll<io::Result<ReadProgress>> {
        if self.tls.is_none() {
            return self.poll_fill(cx, lines);
        }
        // Handshake output may be pending.
        if let Poll::Ready(Err(error)) = self.poll_flush(cx) {
            return Poll::Ready(Err(error));
        }
        let progress = self.poll_fill(cx, lines);
        if self.received_plain_text() {
            return progress;
        }
        // Send the handshake response or the alert that explains its failure.
        let _ = self.poll_flush(cx);
        progress
    }

    fn try_read(&mut self, lines: &mut Lines) -> io::Result<ReadProgress> {
        fill(lines, self.input.fd(), &mut self.tls)
    }

    // Unlike a read, the check does not take the lock of the pipe.
    fn may_read(&self) -> bool {
        self.input.fd().may_read()
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.tls.is_none() {
            return self.output.as_ref().unwrap_or(&self.input).poll_write(cx, bytes);
        }
        ready!(self.poll_flush(cx))?;
        let Some(tls) = &mut self.tls else { return Poll::Ready(Ok(0)) };
        let taken = tls.encrypt(bytes)?;
        if taken == 0 {
            // The session accepts more once the handshake has made progress.
            return Poll::Pending;
        }
        // Encrypted output that the kernel does not take now is flushed before the next write.
        if let Poll::Ready(Err(error)) = self.poll_flush(cx) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(taken))
    }

    // Over TLS, sends `close_notify`, so that the other end can distinguish an orderly close from a lost connection.
    fn close(mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            // Best effort: bytes that the kernel does not take now are lost.
            let _ = self.poll_flush(&mut Context::from_waker(Waker::noop()));
        }
    }

    fn is_cheap_to_read(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| tls.has_begun())
    }

    fn mismatch(&self, received: &[u8]) -> Option<&'static str> {
        if self.received_plain_text() {
            Some(PLAIN_TEXT)
        } else {
            Some(TLS).filter(|_| self.tls.is_none() && received.first() == Some(&TLS_HANDSHAKE))
        }
    }

    fn give_up_tls(&mut self) -> bool {
        self.tls.take_if(|tls| !tls.has_received() || tls.received_plain_text()).is_some()
    }
}

fn fill(lines: &mut Lines, fd: &End, tls: &mut Option<Box<Tls>>) -> io::Result<ReadProgress> {
    let read = |buffer: &mut [u8]| Ok(fd.read(buffer)?);
    match tls {
        None => lines.fill(read),
        Some(tls) => lines.fill(|buffer| tls.read(buffer, read)),
    }
    .map(ReadProgress::of)
}
