//! Waiting for storage that cannot be written to for the time being.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use referee_game::Chain;
use tokio::time::Instant;

/// The pause before a write is retried.
const RETRY: Duration = Duration::from_secs(1);

/// Retries writes that fail because the disk is full or the database is locked. All stores of a run share it. The default
/// retries nothing.
#[derive(Clone, Debug, Default)]
pub struct StorageWait(Option<Arc<SharedWait>>);

#[derive(Debug, Default)]
struct SharedWait {
    state: Mutex<RetryState>,
    has_given_up: Condvar,
}

#[derive(Debug, Default)]
struct RetryState {
    /// The number of writes that are being retried.
    waiting: usize,
    has_given_up: bool,
}

impl SharedWait {
    fn lock(&self) -> MutexGuard<'_, RetryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits before a retry. Returns false if there is no retry any more.
    fn pause(&self) -> bool {
        let paused = self.has_given_up.wait_timeout_while(self.lock(), RETRY, |state| !state.has_given_up);
        !paused.unwrap_or_else(PoisonError::into_inner).0.has_given_up
    }
}

impl StorageWait {
    /// Retries until [`StorageWait::give_up`].
    pub fn new() -> StorageWait {
        StorageWait(Some(Arc::default()))
    }

    /// Returns whether a write is being retried, so that no match should begin.
    pub fn is_waiting(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.lock().waiting > 0)
    }

    /// Lets writes fail at once from now on, also those that are being retried.
    pub fn give_up(&self) {
        if let Some(inner) = &self.0 {
            inner.lock().has_given_up = true;
            inner.has_given_up.notify_all();
        }
    }

    /// Writes `what`.
    ///
    /// # Errors
    /// Errors of `write` that a retry does not mend, and all of them after [`StorageWait::give_up`].
    pub fn retry<T, E: WriteError>(
        &self,
        what: &str,
        mut write: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        let result = write();
        let (Some(inner), Err(error)) = (&self.0, &result) else { return result };
        if !is_temporary(error.kind()) {
            return result;
        }
        tracing::error!("{what} cannot be written: {}; no match begins until this succeeds", Chain(error));
        inner.lock().waiting += 1;
        let began = Instant::now();
        let mut result = result;
        while result.as_ref().is_err_and(|error| is_temporary(error.kind())) && inner.pause() {
            result = write();
        }
        inner.lock().waiting -= 1;
        if result.is_ok() {
            tracing::warn!("{what}: written after {} s; matches go on", began.elapsed().as_secs());
        }
        result
    }
}

pub trait WriteError: std::error::Error {
    fn kind(&self) -> io::ErrorKind;
}

impl WriteError for io::Error {
    fn kind(&self) -> io::ErrorKind {
        self.kind()
    }
}

/// Returns whether an error of this kind is that of a full disk or of a lock, whose cause may go away.
pub fn is_temporary(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{QuotaExceeded, ResourceBusy, StorageFull};
    matches!(kind, StorageFull | QuotaExceeded | ResourceBusy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    #[test]
    fn a_full_disk_is_retried_and_other_errors_are_not() {
        let wait = StorageWait::new();
        let mut results = vec![Ok(7), Err(io::ErrorKind::ResourceBusy), Err(io::ErrorKind::StorageFull)];
        let written = wait.retry("it", || {
            assert_eq!(wait.is_waiting(), results.len() < 3);
            results.pop().expect("no more tries").map_err(io::Error::from)
        });
        assert_eq!(written.unwrap(), 7);
        assert!(!wait.is_waiting());
        let denied = wait.retry("it", || Err::<(), io::Error>(io::ErrorKind::PermissionDenied.into()));
        assert_eq!(denied.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn giving_up_ends_the_retries() {
        let wait = StorageWait::new();
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| wait.retry("it", full));
            while !wait.is_waiting() {
                std::thread::yield_now();
            }
            wait.give_up();
            assert_eq!(writing.join().unwrap().unwrap_err().kind(), io::ErrorKind::StorageFull);
        });
        assert!(wait.retry("it", full).is_err());
        assert!(StorageWait::default().retry("it", full).is_err());
    }
}
