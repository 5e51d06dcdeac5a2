//! The referee's end of a stream, read and written without blocking.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};

use crate::transport::tls::Tls;
use crate::transport::{Lines, Mark, nothing_yet};

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Some bytes, and whether there may be more right now.
    Read {
        /// Whether all that was asked for came.
        is_full: bool,
    },
    /// The end of the stream.
    End,
}

impl Progress {
    fn of((got, is_full): (usize, bool)) -> Progress {
        if got == 0 { Progress::End } else { Progress::Read { is_full } }
    }
}

/// A descriptor; what is done with it, also that it is closed, is marked if it belongs to a process.
struct End {
    fd: OwnedFd,
    is_socket: bool,
    /// Dropped when `fd` has been closed.
    mark: Unmark,
}

struct Unmark(Option<Arc<Mark>>);

impl Drop for Unmark {
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
        End { fd, is_socket: false, mark: Unmark(mark) }
    }

    fn socket(fd: OwnedFd) -> End {
        End { fd, is_socket: true, mark: Unmark(None) }
    }

    fn marked<T>(&self, work: impl FnOnce(&OwnedFd) -> T) -> T {
        let Some(mark) = &self.mark.0 else { return work(&self.fd) };
        mark.begin();
        let done = work(&self.fd);
        mark.end();
        done
    }

    fn read(&self, buffer: &mut [u8]) -> rustix::io::Result<usize> {
        if self.is_socket {
            // It takes a shorter way through the kernel than `read`, as `send` does.
            return Ok(rustix::net::recv(&self.fd, buffer, RecvFlags::empty())?.0);
        }
        self.marked(|fd| rustix::io::read(fd, buffer))
    }

    fn write(&self, bytes: &[u8]) -> rustix::io::Result<usize> {
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

enum Descriptor {
    Polled(AsyncFd<End>),
    /// A regular file: it is always ready.
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
            // It is tried before the reactor is asked, which has nothing to say of what it was never waited for.
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

/// A stream that no thread watches yet: it may go to another one.
pub struct Wire {
    input: End,
    /// None: a socket, which goes both ways.
    output: Option<End>,
    tls: Option<Box<Tls>>,
}

impl Wire {
    /// The descriptor that is read and the one that is written; if the other end is not trusted, with a mark for who
    /// watches over it.
    pub fn pipes(input: OwnedFd, output: OwnedFd, mark: Option<Arc<Mark>>) -> Wire {
        Wire { input: End::pipe(input, mark.clone()), output: Some(End::pipe(output, mark)), tls: None }
    }

    /// A socket, with what keeps it secret, if anything.
    pub fn socket(socket: OwnedFd, tls: Option<Tls>) -> Wire {
        Wire { input: End::socket(socket), output: None, tls: tls.map(Box::new) }
    }
}

/// The referee's end of a stream in both directions, watched by the runtime of its thread.
pub struct Stream {
    input: Descriptor,
    output: Option<Descriptor>,
    tls: Option<Box<Tls>>,
}

impl Stream {
    /// Watches a stream; its descriptors are made non-blocking.
    ///
    /// # Errors
    /// When the system cannot watch them.
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

    /// Watches it no longer.
    pub fn unwatch(self) -> Wire {
        Wire { input: self.input.into_fd(), output: self.output.map(Descriptor::into_fd), tls: self.tls }
    }

    /// Closes it: over TLS with a word, so that the other end can tell it from a connection that was cut off.
    pub fn close(mut self) {
        if let Some(tls) = &mut self.tls {
            tls.say_goodbye();
            // What the kernel does not take now is lost.
            let _ = self.poll_flush(&mut Context::from_waker(Waker::noop()));
        }
    }

    /// Reads once what is there. Pending when nothing is.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, lines: &mut Lines) -> Poll<io::Result<Progress>> {
        if self.tls.is_none() {
            return self.poll_fill(cx, lines);
        }
        // A handshake may have been kept waiting.
        if let Poll::Ready(Err(error)) = self.poll_flush(cx) {
            return Poll::Ready(Err(error));
        }
        let progress = self.poll_fill(cx, lines);
        // An answer of the handshake, or why it failed.
        let _ = self.poll_flush(cx);
        progress
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>, lines: &mut Lines) -> Poll<io::Result<Progress>> {
        match &mut self.input {
            Descriptor::Always(fd) => Poll::Ready(fill(lines, fd, &mut self.tls)),
            Descriptor::Polled(input) => loop {
                let mut guard = ready!(input.poll_read_ready(cx))?;
                match fill(lines, guard.get_inner(), &mut self.tls) {
                    Ok(progress) => {
                        if progress == (Progress::Read { is_full: false }) && self.tls.is_none() {
                            // The kernel gave less than was asked for, so there is no more: that saves a read.
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

    /// Whether a read would find something, or the end. To ask takes no lock of a pipe, as to read does.
    pub fn may_read(&self) -> bool {
        self.input.fd().may_read()
    }

    /// Reads once, whether the stream was reported ready or not.
    ///
    /// # Errors
    /// Those of `read`; `WouldBlock` when nothing is there.
    pub fn try_read(&mut self, lines: &mut Lines) -> io::Result<Progress> {
        fill(lines, self.input.fd(), &mut self.tls)
    }

    /// Writes once. Pending when the kernel takes nothing.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.tls.is_none() {
            return self.output.as_ref().unwrap_or(&self.input).poll_write(cx, bytes);
        }
        ready!(self.poll_flush(cx))?;
        let Some(tls) = &mut self.tls else { return Poll::Ready(Ok(0)) };
        let taken = tls.encrypt(bytes)?;
        if taken == 0 {
            // It takes more when the handshake has gone on.
            return Poll::Pending;
        }
        // What the kernel does not take at once goes out before anything else is taken.
        if let Poll::Ready(Err(error)) = self.poll_flush(cx) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(taken))
    }

    /// Writes what is encrypted already.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(tls) = &mut self.tls else { return Poll::Ready(Ok(())) };
        let output = self.output.as_ref().unwrap_or(&self.input);
        while tls.has_output() {
            let mut write = |bytes: &[u8]| match output.poll_write(cx, bytes) {
                Poll::Ready(written) => written,
                Poll::Pending => Err(nothing_yet()),
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

fn fill(lines: &mut Lines, fd: &End, tls: &mut Option<Box<Tls>>) -> io::Result<Progress> {
    let read = |buffer: &mut [u8]| Ok(fd.read(buffer)?);
    match tls {
        None => lines.fill(read),
        Some(tls) => lines.fill(|buffer| tls.read(buffer, read)),
    }
    .map(Progress::of)
}
