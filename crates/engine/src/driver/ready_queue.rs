//! The queue of ready streams, so that a lane polls only these.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

use crate::driver::keys::SessionKey;

/// The ready streams, and the waker of the lane's task.
#[derive(Debug, Default)]
pub(super) struct ReadyQueue(Mutex<ReadySessions>);

#[derive(Debug, Default)]
struct ReadySessions {
    ready: Vec<SessionKey>,
    task: Option<Waker>,
}

impl ReadyQueue {
    fn lock(&self) -> std::sync::MutexGuard<'_, ReadySessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn attach(&self, waker: &Waker) {
        let mut inner = self.lock();
        if inner.task.as_ref().is_none_or(|task| !task.will_wake(waker)) {
            inner.task = Some(waker.clone());
        }
    }

    /// Moves the ready streams to the end of `into`.
    pub(super) fn take(&self, into: &mut Vec<SessionKey>) {
        into.append(&mut self.lock().ready);
    }
}

/// The sessions that the next round reads.
#[derive(Debug, Default)]
pub(super) struct ReadySet {
    /// Streams that have become readable.
    pub(super) queue: Arc<ReadyQueue>,
    /// Sessions that the lane adds: new ones, and at the start of a round, those with lines left from the
    /// previous one.
    pub(super) keys: Vec<SessionKey>,
}

impl ReadySet {
    pub(super) fn take(&mut self) -> Vec<SessionKey> {
        self.queue.take(&mut self.keys);
        std::mem::take(&mut self.keys)
    }
}

#[derive(Debug)]
pub(super) struct StreamWaker {
    session: SessionKey,
    queued: AtomicBool,
    ready_queue: Arc<ReadyQueue>,
}

impl StreamWaker {
    pub(super) fn new(session: SessionKey, ready_queue: Arc<ReadyQueue>) -> Arc<StreamWaker> {
        Arc::new(StreamWaker { session, queued: AtomicBool::new(false), ready_queue })
    }

    /// Notes that the lane polls the stream now; from here on it can be queued again.
    pub(super) fn taken(&self) {
        self.queued.store(false, Ordering::Release);
    }
}

impl Wake for StreamWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            let mut inner = self.ready_queue.lock();
            inner.ready.push(self.session);
            if let Some(task) = &inner.task {
                task.wake_by_ref();
            }
        }
    }
}
