//! What a bot writes to its standard error: always drained, of which the end is kept.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use referee_protocol::limits;
use rustix::buffer::spare_capacity;
use tokio::net::unix::pipe::Receiver;

/// After so many bytes the drain rests, so that a flood costs a lane next to nothing; the bot that floods waits for it.
const BURST: usize = 64 * 1024;
const REST: Duration = Duration::from_millis(5);
const READ: usize = 16 * 1024;

/// The standard error of a process. It may be read after the process has ended.
#[derive(Clone)]
pub struct Stderr(Arc<Inner>);

struct Inner {
    pipe: Receiver,
    kept: Mutex<Said>,
}

/// What was said, or the end of it.
#[derive(Default)]
pub struct Said {
    end: VecDeque<u8>,
    dropped: u64,
}

impl Said {
    fn add(&mut self, bytes: &[u8]) {
        self.end.extend(bytes);
        let excess = self.end.len().saturating_sub(limits::STDERR);
        self.end.drain(..excess);
        self.dropped += excess as u64;
    }

    /// Adds what was said later.
    pub fn append(&mut self, mut later: Said) {
        if later.dropped > 0 {
            self.dropped += self.end.len() as u64;
            self.end.clear();
        }
        self.add(later.end.make_contiguous());
        self.dropped += later.dropped;
    }

    /// The end as text, and how many bytes before it were not kept.
    pub fn into_text(mut self) -> (String, u64) {
        (String::from_utf8_lossy(self.end.make_contiguous()).into_owned(), self.dropped)
    }
}

impl Stderr {
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Stderr> {
        let pipe = Receiver::from_owned_fd(pipe)?;
        Ok(Stderr(Arc::new(Inner { pipe, kept: Mutex::default() })))
    }

    fn kept(&self) -> MutexGuard<'_, Said> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drains until the end.
    pub(super) async fn drain(self) {
        let mut buffer = vec![0; READ];
        let mut burst = 0;
        while self.0.pipe.readable().await.is_ok() {
            match self.0.pipe.try_read(&mut buffer) {
                Ok(0) => return,
                Ok(got) => {
                    self.kept().add(&buffer[..got]);
                    burst += got;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
            if burst >= BURST {
                burst = 0;
                tokio::time::sleep(REST).await;
            }
        }
    }

    /// What came since the last call, up to this moment: what still lies in the pipe is read first, so that all that a
    /// bot said before its last message is there.
    pub fn take(&self) -> Said {
        let mut buffer = Vec::with_capacity(READ);
        let mut kept = self.kept();
        // A pipe holds 64 KiB; who fills it again meanwhile is not waited for.
        for _ in 0..2 * BURST / READ {
            match rustix::io::read(&self.0.pipe, spare_capacity(&mut buffer)) {
                Ok(1..) => kept.add(&buffer),
                Ok(0) | Err(_) => break,
            }
            buffer.clear();
        }
        std::mem::take(&mut *kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> Said {
        let mut said = Said::default();
        said.add(bytes);
        said
    }

    #[test]
    fn the_end_is_kept_and_what_came_before_is_counted() {
        let mut long = vec![b'a'; limits::STDERR];
        long.extend(b"end");
        let (text, dropped) = said(&long).into_text();
        assert_eq!((text.len(), dropped), (limits::STDERR, 3));
        assert!(text.ends_with("aend"));
    }

    #[test]
    fn what_was_said_later_comes_after() {
        let mut first = said(b"one ");
        first.append(said(b"two"));
        assert_eq!(first.into_text(), ("one two".to_owned(), 0));
    }

    #[test]
    fn nothing_is_kept_from_before_a_gap() {
        let mut first = said(b"one");
        let mut long = vec![b'a'; limits::STDERR];
        long.push(b'b');
        let mut later = said(&long);
        later.end.truncate(2);
        first.append(later);
        assert_eq!(first.into_text(), ("aa".to_owned(), 4));
    }
}
