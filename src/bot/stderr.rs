//! What a bot writes to its standard error: always drained, of which the end is kept.
//!
//! A thread of its own drains it: a bot can hold the lock of its pipe, and then only that thread waits.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use referee_protocol::limits;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// After so many bytes the drain rests, so that a flood costs a lane next to nothing; the bot that floods waits for it.
const BURST: usize = 64 * 1024;
const REST: Duration = Duration::from_millis(5);
const READ: usize = 16 * 1024;
/// How long the drain is waited for when what was said is taken.
const PATIENCE: Duration = Duration::from_millis(20);
const STACK: usize = 64 * 1024;

/// The standard error of a process. It may be taken after the process has ended.
#[derive(Clone)]
pub struct Stderr(Arc<Inner>);

struct Inner {
    pipe: OwnedFd,
    drained: Mutex<Drained>,
    changed: Condvar,
}

#[derive(Default)]
struct Drained {
    kept: Said,
    /// How many bytes have been read.
    bytes: usize,
    is_reading: bool,
    /// Whether somebody waits for what is still in the pipe.
    is_wanted: bool,
    /// Whether somebody waited in vain since the last read.
    is_stuck: bool,
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
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Stderr(Arc::new(Inner { pipe, drained: Mutex::default(), changed: Condvar::new() })))
    }

    fn drained(&self) -> MutexGuard<'_, Drained> {
        self.0.drained.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a thread drain it until the end. The thread also closes `ends`, those of the bot: to close a pipe takes its
    /// lock, too.
    pub(super) fn drain(&self, ends: impl Send + 'static) -> io::Result<()> {
        let stderr = self.clone();
        let work = move || {
            drop(ends);
            stderr.read_all();
        };
        thread::Builder::new().name("stderr".to_owned()).stack_size(STACK).spawn(work).map(drop)
    }

    fn read_all(&self) {
        let mut buffer = Vec::with_capacity(READ);
        let mut burst = 0;
        // Waits; asks without taking the lock of the pipe, as a read would.
        while self.ready(None).is_some() {
            self.drained().is_reading = true;
            buffer.clear();
            let read = rustix::io::read(&self.0.pipe, spare_capacity(&mut buffer));
            let mut drained = self.drained();
            drained.kept.add(&buffer);
            drained.bytes += buffer.len();
            drained.is_reading = false;
            drained.is_stuck = false;
            self.0.changed.notify_all();
            match read {
                Ok(1..) | Err(Errno::AGAIN | Errno::INTR) => {}
                Ok(0) | Err(_) => return,
            }
            burst += buffer.len();
            if burst >= BURST {
                burst = 0;
                let rest = self.0.changed.wait_timeout_while(drained, REST, |drained| !drained.is_wanted);
                drop(rest);
            }
        }
    }

    /// What there is to read: data, the end, or both. None when the time is up.
    fn ready(&self, patience: Option<&Timespec>) -> Option<PollFlags> {
        let mut fds = [PollFd::new(&self.0.pipe, PollFlags::IN)];
        let ready = rustix::io::retry_on_intr(|| poll(&mut fds, patience)).is_ok_and(|ready| ready > 0);
        ready.then(|| fds[0].revents())
    }

    /// Whether something lies in the pipe.
    fn has_data(&self) -> bool {
        self.ready(Some(&Timespec::default())).is_some_and(|ready| ready.contains(PollFlags::IN))
    }

    /// What came since the last call, up to this moment: the drain is waited for while something still lies in the
    /// pipe, so that all that a bot said before its last message is there.
    pub fn take(&self) -> Said {
        let mut drained = self.drained();
        // A pipe holds 64 KiB; who fills it again meanwhile is not waited for.
        let enough = drained.bytes + 2 * BURST;
        let lacks = |drained: &mut Drained| drained.bytes < enough && (drained.is_reading || self.has_data());
        if !drained.is_stuck && lacks(&mut drained) {
            drained.is_wanted = true;
            self.0.changed.notify_all();
            let waited = self.0.changed.wait_timeout_while(drained, PATIENCE, lacks);
            let (after, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            drained = after;
            drained.is_wanted = false;
            drained.is_stuck = waited.timed_out();
        }
        std::mem::take(&mut drained.kept)
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
