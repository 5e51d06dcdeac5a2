//! What the referee is doing with a pipe, told to who watches that it does not wait there.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use rustix::process::Pid;

thread_local! {
    static THREAD: i32 = id();
}

/// The system's number of this thread.
#[cfg(target_os = "linux")]
fn id() -> i32 {
    rustix::thread::gettid().as_raw_pid()
}

/// Nobody asks for it: elsewhere the kernel does not let a bot hold a pipe.
#[cfg(not(target_os = "linux"))]
fn id() -> i32 {
    1
}

/// Tells of the pipes of a process whether the referee is at work on one of them: a pipe has a lock, and who holds it
/// keeps the other end waiting even where that asked not to wait. One thread works on them at a time.
// All marks are made by one thread, and each is written for every line of its bot: on a cache line of its own, or lanes
// on other processors would wait for it.
#[derive(Default)]
#[repr(align(128))]
pub struct Mark {
    /// Which operation this is, counted round.
    operation: AtomicU32,
    /// The thread that is at it; 0: none is.
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

    /// The operation that goes on, if one does, and the thread that is at it.
    pub fn operation(&self) -> Option<(u32, Pid)> {
        let thread = Pid::from_raw(self.thread.load(Ordering::Relaxed))?;
        Some((self.operation.load(Ordering::Relaxed), thread))
    }

    /// Notes that the referee had to wait.
    pub fn note_held(&self) {
        self.was_held.store(true, Ordering::Release);
    }

    /// Whether the referee had to wait.
    pub fn was_held(&self) -> bool {
        self.was_held.load(Ordering::Acquire)
    }
}
