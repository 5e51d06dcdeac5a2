//! Requests and answers over a stream, for a thread that waits for them.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::Wire;

/// Reads at most this many bytes at once, as many as a pipe holds.
const READ: usize = 64 * 1024;

/// A stream on which each request, a line, gets an answer, a line.
#[derive(Debug)]
pub struct Exchange {
    wire: Wire,
    buffer: Vec<u8>,
}

/// Why there is no answer. The stream is of no further use.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// The time is up.
    #[error("it did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// The stream ended.
    #[error("its output ended")]
    Ended,
    /// The answer is too long.
    #[error("its answer has more than {0} bytes")]
    TooLong(usize),
    /// There is more than one line.
    #[error("it wrote more than one line")]
    Unasked,
    /// The operating system's error.
    #[error("{0}")]
    Failed(#[from] io::Error),
}

#[expect(clippy::disallowed_methods, reason = "no clock of a match: the timeout of a program")]
fn now() -> Instant {
    Instant::now()
}

impl From<Errno> for NoAnswer {
    fn from(error: Errno) -> Self {
        NoAnswer::Failed(error.into())
    }
}

impl Exchange {
    /// Makes the descriptors of a stream without TLS non-blocking.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn new(wire: Wire) -> io::Result<Exchange> {
        rustix::io::ioctl_fionbio(&wire.input, true)?;
        if let Some(output) = &wire.output {
            rustix::io::ioctl_fionbio(output, true)?;
        }
        Ok(Exchange { wire, buffer: Vec::new() })
    }

    /// Writes a request and waits for its answer, both lines without their line breaks. Reads while it writes, so that
    /// neither end waits for the other.
    ///
    /// # Errors
    /// If there is no answer of at most `most` bytes within the limit, or more than the answer.
    pub fn ask(&mut self, request: &[u8], most: usize, limit: Duration) -> Result<Vec<u8>, NoAnswer> {
        let deadline = now() + limit;
        let line = [request, b"\n"].concat();
        let mut unwritten = &line[..];
        let mut answer = Vec::new();
        self.buffer.resize(READ, 0);
        loop {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return Err(NoAnswer::Late(limit));
            }
            let output = self.wire.output.as_ref().unwrap_or(&self.wire.input);
            let mut fds = [PollFd::new(&self.wire.input, PollFlags::IN), PollFd::new(output, PollFlags::OUT)];
            let polled = if unwritten.is_empty() { 1 } else { 2 };
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            match poll(&mut fds[..polled], Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [readable, writable] = [0, 1].map(|index| !fds[index].revents().is_empty());
            if writable && !unwritten.is_empty() {
                match output.write(unwritten) {
                    Ok(written) => unwritten = &unwritten[written..],
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(Errno::PIPE | Errno::CONNRESET) => return Err(NoAnswer::Ended),
                    Err(error) => return Err(error.into()),
                }
            }
            if !readable {
                continue;
            }
            match self.wire.input.read(&mut self.buffer) {
                Ok(0) => return Err(NoAnswer::Ended),
                Ok(read) => answer.extend_from_slice(&self.buffer[..read]),
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(Errno::CONNRESET) => return Err(NoAnswer::Ended),
                Err(error) => return Err(error.into()),
            }
            match answer.iter().position(|&byte| byte == b'\n') {
                // An answer to what it has not read yet is one to something else.
                Some(end) if end + 1 < answer.len() || !unwritten.is_empty() => {
                    return Err(NoAnswer::Unasked);
                }
                Some(end) if end <= most => {
                    answer.truncate(end);
                    return Ok(answer);
                }
                None if answer.len() <= most => {}
                Some(_) | None => return Err(NoAnswer::TooLong(most)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    /// An exchange with a peer that runs in a thread of its own.
    fn with(peer: impl FnOnce(BufReader<UnixStream>) + Send + 'static) -> Exchange {
        let (ours, theirs) = UnixStream::pair().unwrap();
        thread::spawn(move || peer(BufReader::new(theirs)));
        Exchange::new(Wire::socket(ours.into(), None)).unwrap()
    }

    #[test]
    fn a_peer_that_writes_before_it_has_read_everything_causes_no_deadlock() {
        const LONG: usize = 1 << 20;
        let mut exchange = with(|mut peer| {
            for _ in 0..2 {
                let line = vec![b'b'; LONG];
                // Half of the request is unread when the answer begins to fill the buffers.
                let mut read = 0;
                while read < LONG / 2 {
                    let length = peer.fill_buf().unwrap().len();
                    peer.consume(length);
                    read += length;
                }
                let mut out = peer.get_ref().try_clone().unwrap();
                let writer = thread::spawn(move || out.write_all(&line).unwrap());
                let mut rest = Vec::new();
                peer.read_until(b'\n', &mut rest).unwrap();
                writer.join().unwrap();
                peer.get_ref().write_all(b"\n").unwrap();
            }
        });
        for _ in 0..2 {
            assert_eq!(exchange.ask(&vec![b'a'; LONG], LONG, LIMIT).unwrap(), vec![b'b'; LONG]);
        }
    }

    #[test]
    fn a_flood_silence_and_the_end_are_told_apart() {
        let read = |peer: &mut BufReader<UnixStream>| peer.read_line(&mut String::new()).unwrap();
        let mut flood = with(move |mut peer| {
            read(&mut peer);
            while peer.get_ref().write_all(&[b'x'; 1000]).is_ok() {}
        });
        assert!(matches!(flood.ask(b"1", 5000, LIMIT), Err(NoAnswer::TooLong(5000))));
        let mut two = with(move |mut peer| {
            read(&mut peer);
            peer.get_ref().write_all(b"2\n3\n").unwrap();
            read(&mut peer);
        });
        assert!(matches!(two.ask(b"1", 5000, LIMIT), Err(NoAnswer::Unasked)));
        let mut silent = with(move |mut peer| {
            read(&mut peer);
            read(&mut peer);
        });
        let short = Duration::from_millis(50);
        assert!(matches!(silent.ask(b"1", 5000, short), Err(NoAnswer::Late(_))));
        let mut gone = with(move |mut peer| {
            read(&mut peer);
        });
        assert!(matches!(gone.ask(b"1", 5000, LIMIT), Err(NoAnswer::Ended)));
    }
}
