//! Conditions that a thread watches while it waits for the answer of an [`Exchange`](crate::Exchange), or
//! between the parts of a [`LongComputation`]: other streams, so that it knows later when their data has
//! arrived, and the descriptor that ends its waits.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::exchange::now;
use crate::watch_set;

/// The data of the descriptor that ends waits.
const STOP: u64 = u64::MAX;

thread_local! {
    static OF_THREAD: RefCell<Option<WaitWatch>> = const { RefCell::new(None) };
}

#[derive(Debug)]
pub(crate) struct WaitWatch {
    /// Readable when one of the streams is, or the descriptor that ends waits.
    pub(crate) set: OwnedFd,
    /// Ends waits when it is readable or closed at its other end.
    stop: OwnedFd,
    arrivals: Vec<Arrival>,
    /// The end of the last wait, if it was long enough to look at the streams.
    pub(crate) ended: Option<Instant>,
    pub(crate) is_stopped: bool,
}

/// Data arrived on a stream while its thread waited.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub stream: u64,
    pub at: Instant,
    /// The earliest time of its arrival: the end of an earlier wait, if it had arrived when the thread began to look; `None` if
    /// there was none.
    pub since: Option<Instant>,
}

/// Ends the waits of this thread from now on when this descriptor is readable or closed at its other end.
///
/// # Errors
/// Errors of the operating system.
pub fn watch_while_waiting(stop: OwnedFd) -> io::Result<()> {
    let set = watch_set::new()?;
    watch_set::add_level(&set, &stop, STOP)?;
    let watch = WaitWatch { set, stop, arrivals: Vec::new(), ended: None, is_stopped: false };
    OF_THREAD.set(Some(watch));
    Ok(())
}

/// Watches a stream from now on, if this thread watches any. Regular files, which are always readable, are not watched.
///
/// # Errors
/// Errors of the operating system.
pub(crate) fn watch_stream(stream: impl AsFd, number: u64) -> io::Result<()> {
    OF_THREAD.with_borrow(|watch| match watch {
        Some(WaitWatch { set, .. }) => watch_set::add_edges(set, &stream, number),
        None => Ok(()),
    })
}

/// Watches a stream no longer, which goes to another thread or gets another number.
///
/// # Errors
/// Errors of the operating system.
pub(crate) fn unwatch_stream(stream: impl AsFd) -> io::Result<()> {
    OF_THREAD.with_borrow(|watch| match watch {
        Some(WaitWatch { set, .. }) => watch_set::remove(set, &stream),
        None => Ok(()),
    })
}

/// Returns whether the waits of this thread have to end, so that long computations have to end, too.
pub fn is_interrupted() -> bool {
    with_watch(|watch| watch.is_some_and(WaitWatch::is_interrupted))
}

/// Takes the arrivals since the last call, and when the last wait ended; `None` if there was none.
pub fn take_arrivals() -> Option<(Vec<Arrival>, Instant)> {
    OF_THREAD.with_borrow_mut(|watch| {
        let watch = watch.as_mut()?;
        let ended = watch.ended.take()?;
        Some((std::mem::take(&mut watch.arrivals), ended))
    })
}

/// A computation of this thread that looks at the streams that the thread watches, between its parts.
#[derive(Debug, Default)]
pub struct LongComputation {
    looked: Option<Instant>,
}

impl LongComputation {
    /// Notes which streams have become readable since it looked last. Returns whether the computation has to end.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn look(&mut self) -> io::Result<bool> {
        let at = now();
        let since = self.looked.replace(at);
        with_watch(|watch| match watch {
            Some(watch) => {
                watch.note(at, since.or(watch.ended))?;
                watch.end(at);
                Ok(watch.is_stopped)
            }
            None => Ok(false),
        })
    }
}

impl Drop for LongComputation {
    /// A request that arrived since the last look waits no longer than since then.
    fn drop(&mut self) {
        if self.looked.is_some() {
            // The next look reports it if it fails again.
            let _ = self.look();
        }
    }
}

/// Does something with the watch of this thread, if it has one.
pub(crate) fn with_watch<T>(act: impl FnOnce(Option<&mut WaitWatch>) -> T) -> T {
    OF_THREAD.with_borrow_mut(|watch| act(watch.as_mut()))
}

impl WaitWatch {
    fn is_interrupted(&mut self) -> bool {
        let mut stop = [PollFd::new(&self.stop, PollFlags::IN)];
        self.is_stopped |= poll(&mut stop, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
        self.is_stopped
    }

    /// Notes which streams have become readable, since when at the earliest.
    pub(crate) fn note(&mut self, at: Instant, since: Option<Instant>) -> io::Result<()> {
        for number in watch_set::ready(&self.set)? {
            match number {
                STOP => self.is_stopped = true,
                stream => self.arrivals.push(Arrival { stream, at, since }),
            }
        }
        Ok(())
    }

    /// A wait in which the streams were watched has ended.
    pub(crate) fn end(&mut self, at: Instant) {
        self.ended = Some(at);
    }
}
