//! The log on standard error. A thread of its own writes it, so that no lane blocks on a slow reader.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum number of bytes that wait to be written. Later entries are dropped and counted.
const MOST: usize = 1024 * 1024;
/// The time to wait for a slow reader at exit.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The log. Dropping it waits until everything has been written, unless the reader is blocked.
pub(super) struct StderrLog(Arc<SharedLog>);

#[derive(Default)]
struct SharedLog {
    state: Mutex<LogState>,
    changed: Condvar,
}

#[derive(Default)]
struct LogState {
    waiting: Vec<u8>,
    dropped: u64,
    is_over: bool,
    is_written: bool,
}

impl SharedLog {
    fn state(&self) -> MutexGuard<'_, LogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StderrLog {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(super) fn open() -> io::Result<StderrLog> {
        let shared = Arc::<SharedLog>::default();
        let log = shared.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || write(&log))?;
        Ok(StderrLog(shared))
    }

    /// Creates an entry, which is passed on as a whole.
    pub(super) fn entry(&self) -> LogEntry {
        LogEntry(self.0.clone())
    }
}

impl Drop for StderrLog {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_over = true;
        self.0.changed.notify_all();
        drop(self.0.changed.wait_timeout_while(state, TIMEOUT, |state| !state.is_written));
    }
}

#[derive(Clone)]
pub(super) struct LogEntry(Arc<SharedLog>);

impl Write for LogEntry {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        let mut state = self.0.state();
        if state.waiting.len() + entry.len() <= MOST {
            state.waiting.extend(entry);
            self.0.changed.notify_all();
        } else {
            state.dropped += 1;
        }
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(log: &SharedLog) {
    loop {
        let is_quiet = |state: &mut LogState| state.waiting.is_empty() && !state.is_over;
        let mut state = log.changed.wait_while(log.state(), is_quiet).unwrap_or_else(PoisonError::into_inner);
        let waiting = std::mem::take(&mut state.waiting);
        let dropped = std::mem::take(&mut state.dropped);
        if waiting.is_empty() {
            state.is_written = true;
            return log.changed.notify_all();
        }
        drop(state);
        // An error means that standard error is closed.
        let _ = io::stderr().write_all(&waiting);
        if dropped > 0 {
            tracing::warn!(dropped, "log entries dropped: the reader is too slow");
        }
    }
}
