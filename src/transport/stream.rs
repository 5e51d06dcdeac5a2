//! Two descriptors, read and written without blocking.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::task::{Context, Poll, ready};

use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};

use crate::transport::Lines;

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Some bytes.
    Read,
    /// The end of the stream.
    End,
}

enum Descriptor {
    Polled(AsyncFd<OwnedFd>),
    /// A regular file: it is always ready.
    Always(OwnedFd),
}

impl Descriptor {
    fn new(fd: OwnedFd, interest: Interest) -> io::Result<Descriptor> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        #[expect(
            deprecated,
            reason = "sound with OwnedFd, whose descriptor never changes; the new name is `unsafe`"
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
}

/// The referee's ends of a stream in both directions.
pub struct Stream {
    input: Descriptor,
    output: Descriptor,
}

impl Stream {
    /// Takes the descriptor that is read and the one that is written; both are made non-blocking.
    ///
    /// # Errors
    /// When the system cannot watch them.
    pub fn new(input: OwnedFd, output: OwnedFd) -> io::Result<Stream> {
        Ok(Stream {
            input: Descriptor::new(input, Interest::READABLE)?,
            output: Descriptor::new(output, Interest::WRITABLE)?,
        })
    }

    /// Reads once what is there. Pending when nothing is.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, lines: &mut Lines) -> Poll<io::Result<Progress>> {
        let fill =
            |lines: &mut Lines, fd: &OwnedFd| match lines.fill(|buffer| Ok(rustix::io::read(fd, buffer)?)) {
                Ok((0, _)) => Ok((Progress::End, true)),
                Ok((_, is_full)) => Ok((Progress::Read, is_full)),
                Err(error) => Err(error),
            };
        match &mut self.input {
            Descriptor::Always(fd) => Poll::Ready(fill(lines, fd).map(|(progress, _)| progress)),
            Descriptor::Polled(fd) => loop {
                let mut guard = ready!(fd.poll_read_ready(cx))?;
                match fill(lines, guard.get_inner()) {
                    Ok((progress, may_have_more)) => {
                        if !may_have_more {
                            // The kernel gave less than was asked for, so there is no more: that saves a read.
                            guard.clear_ready_matching(Ready::READABLE);
                        }
                        return Poll::Ready(Ok(progress));
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            },
        }
    }

    /// Reads once, whether the stream was reported ready or not.
    ///
    /// # Errors
    /// Those of `read`; `WouldBlock` when nothing is there.
    pub fn try_read(&mut self, lines: &mut Lines) -> io::Result<Progress> {
        let fd = match &self.input {
            Descriptor::Polled(fd) => fd.as_fd(),
            Descriptor::Always(fd) => fd.as_fd(),
        };
        let (got, _) = lines.fill(|buffer| Ok(rustix::io::read(fd, buffer)?))?;
        Ok(if got == 0 { Progress::End } else { Progress::Read })
    }

    /// Writes once. Pending when the kernel takes nothing.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.output {
            Descriptor::Always(fd) => Poll::Ready(Ok(rustix::io::write(fd, bytes)?)),
            Descriptor::Polled(fd) => loop {
                let mut guard = ready!(fd.poll_write_ready(cx))?;
                match rustix::io::write(guard.get_inner(), bytes) {
                    Ok(written) => return Poll::Ready(Ok(written)),
                    Err(rustix::io::Errno::AGAIN) => guard.clear_ready(),
                    Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            },
        }
    }
}
