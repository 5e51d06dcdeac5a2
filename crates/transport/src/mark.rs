//! Exposes pipe operations in progress to a watchdog: a bot can block the referee's thread by holding a pipe's lock.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use rustix::process::Pid;

thread_local! {
    static THREAD: i32 = id();
}

/// The thread's id in the operating system.
#[cfg(target_os = "linux")]
fn id() -> i32 {
    rustix::thread::gettid().as_raw_pid()
}

/// Unused: on other systems a bot cannot hold the lock of a pipe.
#[cfg(not(target_os = "linux"))]
fn id() -> i32 {
    1
}

/// Records which operation on the pipes of a process is in progress, and on which thread. A pipe has a kernel lock;
/// the process at one end can hold it and block the other end even in non-blocking mode. At most one thread at a time
/// uses the pipes of a process.
// A single thread allocates all marks and each is written for every line of its bot: the alignment prevents false sharing
// between lanes on different processors.
#[derive(Default)]
#[repr(align(128))]
#[derive(Debug)]
pub struct Mark {
    /// Sequence number of the operation; wraps around.
    operation: AtomicU32,
    /// The thread of the operation in progress; 0: none.
    thread: AtomicI32,
    was_held: AtomicBool,
}

impl Mark {
    pub(super) fn begin(&self) {
        self.operation.store(self.operation.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.thread.store(THREAD.with(|thread| *thread), Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.thread.store(0, Ordering::Relaxed);
    }

    /// The operation in progress and its thread, if any.
    pub fn operation(&self) -> Option<(u32, Pid)> {
        let thread = Pid::from_raw(self.thread.load(Ordering::Relaxed))?;
        Some((self.operation.load(Ordering::Relaxed), thread))
    }

    /// Records that an operation blocked.
    pub fn note_held(&self) {
        self.was_held.store(true, Ordering::Release);
    }

    /// Returns whether an operation has blocked.
    pub fn was_held(&self) -> bool {
        self.was_held.load(Ordering::Acquire)
    }
}
