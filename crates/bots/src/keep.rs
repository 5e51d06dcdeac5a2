//! Data that a program keeps from one process to the next.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use referee_match::record::KeptData;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::sandbox::Size;

/// The directory of a program's kept data, in its sandbox.
pub(crate) const DIRECTORY: &str = "/keep";
/// The environment variable with its path.
pub(crate) const VARIABLE: &str = "KEEP";

/// The time for which a process waits until the data of the one before it are stored. That one has 3 s to
/// end.
const TURN: Duration = Duration::from_secs(20);

/// Stores the kept data of a program while none of its processes runs.
pub trait KeptStore: fmt::Debug + Send + Sync {
    /// Fills the directory of a new process, which is empty. Returns its content.
    ///
    /// # Errors
    /// I/O errors; the process is not started then.
    fn fill(&self, directory: BorrowedFd<'_>) -> io::Result<KeptData>;

    /// Takes over the directory of a process that has ended. It may be hostile.
    fn store(&self, directory: BorrowedFd<'_>);
}

/// A directory that outlives the processes of a program. Each process gets it in the memory of its sandbox,
/// which bounds it; one at a time can change the stored data.
#[derive(Clone, Debug)]
pub struct Keep {
    size: Size,
    store: Arc<dyn KeptStore>,
    turn: Arc<Mutex<()>>,
}

impl PartialEq for Keep {
    fn eq(&self, other: &Keep) -> bool {
        Arc::ptr_eq(&self.turn, &other.turn)
    }
}

impl Keep {
    /// A directory of this size.
    pub fn new(size: Size, store: Arc<dyn KeptStore>) -> Keep {
        Keep { size, store, turn: Arc::default() }
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// Waits for the process that may change the stored data. `None` if it does not end: the next one only
    /// reads it.
    pub async fn turn(&self) -> Option<OwnedMutexGuard<()>> {
        tokio::time::timeout(TURN, self.turn.clone().lock_owned()).await.ok()
    }

    /// Fills the directory of a new process.
    pub(crate) fn fill(&self, directory: OwnedFd) -> io::Result<KeptFolder> {
        let data = self.store.fill(directory.as_fd())?;
        Ok(KeptFolder { store: self.store.clone(), directory, data, turn: None })
    }
}

/// The directory of a process, which exists until this is dropped.
#[derive(Debug)]
pub(crate) struct KeptFolder {
    store: Arc<dyn KeptStore>,
    directory: OwnedFd,
    pub(crate) data: KeptData,
    /// Held if its process may change the stored data.
    pub(crate) turn: Option<OwnedMutexGuard<()>>,
}

impl KeptFolder {
    /// Stores the data of the process, if it is its turn. All processes of its sandbox have ended.
    pub(crate) async fn store(self) {
        if self.turn.is_none() {
            return;
        }
        let stored = tokio::task::spawn_blocking(move || self.store.store(self.directory.as_fd()));
        if stored.await.is_err() {
            tracing::error!("storing what a program keeps panicked");
        }
    }
}
