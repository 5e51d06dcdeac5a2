//! What a thread watches while it waits for the answer of an [`Exchange`](crate::Exchange): other streams, so that it knows
//! later when their data has arrived, and the descriptor that ends its waits.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;

/// The data of the descriptor that ends waits.
const STOP: u64 = u64::MAX;

thread_local! {
    static OF_THREAD: RefCell<Option<WaitWatch>> = const { RefCell::new(None) };
}

/// What a thread watches.
#[derive(Debug)]
pub(crate) struct WaitWatch {
    pub(crate) epoll: OwnedFd,
    /// Closed, it would not be watched.
    _stop: OwnedFd,
    arrivals: Vec<Arrival>,
    /// When the last wait ended, if it was long enough to look at the streams.
    ended: Option<Instant>,
    pub(crate) is_stopped: bool,
}

/// Data arrived on a stream while its thread waited.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The number of the stream.
    pub stream: u64,
    /// When.
    pub at: Instant,
    /// Since when it may have been there: the end of an earlier wait, if it had arrived when the thread began to look; `None` if
    /// there was none.
    pub since: Option<Instant>,
}

/// From now on, the waits of this thread end when this descriptor is readable or closed at its other end.
///
/// # Errors
/// Those of the operating system.
pub fn watch_while_waiting(stop: OwnedFd) -> io::Result<()> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &stop, EventData::new_u64(STOP), EventFlags::IN)?;
    let watch = WaitWatch { epoll, _stop: stop, arrivals: Vec::new(), ended: None, is_stopped: false };
    OF_THREAD.set(Some(watch));
    Ok(())
}

/// Watches a stream from now on, if this thread watches any. Regular files, which are always readable, are not watched.
///
/// # Errors
/// Those of the operating system.
pub(crate) fn watch_stream(stream: impl AsFd, number: u64) -> io::Result<()> {
    OF_THREAD.with_borrow(|watch| {
        let Some(WaitWatch { epoll, .. }) = watch else { return Ok(()) };
        // Edges: each write of the peer is an arrival.
        match epoll::add(epoll, &stream, EventData::new_u64(number), EventFlags::IN | EventFlags::ET) {
            Ok(()) | Err(Errno::PERM) => Ok(()),
            Err(error) => Err(error.into()),
        }
    })
}

/// Moves the arrivals since the last call into a list. Returns when the last wait ended; `None` if there was none.
pub fn take_arrivals(arrivals: &mut Vec<Arrival>) -> Option<Instant> {
    OF_THREAD.with_borrow_mut(|watch| {
        let watch = watch.as_mut()?;
        arrivals.append(&mut watch.arrivals);
        watch.ended.take()
    })
}

/// Does something with what this thread watches, if it does.
pub(crate) fn with_watch<T>(act: impl FnOnce(Option<&mut WaitWatch>) -> T) -> T {
    OF_THREAD.with_borrow_mut(|watch| act(watch.as_mut()))
}

impl WaitWatch {
    /// Notes which streams have become readable.
    pub(crate) fn note(&mut self, at: Instant, is_earlier: bool) -> io::Result<()> {
        let since = if is_earlier { self.ended } else { Some(at) };
        let mut events = Vec::with_capacity(64);
        loop {
            events.clear();
            epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&NO_TIME))?;
            for event in &events {
                match event.data.u64() {
                    STOP => self.is_stopped = true,
                    stream => self.arrivals.push(Arrival { stream, at, since }),
                }
            }
            if events.len() < 64 {
                return Ok(());
            }
        }
    }

    /// A wait in which the streams were watched has ended.
    pub(crate) fn end(&mut self, at: Instant) {
        self.ended = Some(at);
    }
}

const NO_TIME: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
