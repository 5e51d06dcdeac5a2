//! Checkpoints of a database in WAL mode, on a thread of their own.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::StoreError;

/// The interval of copying the log into the database.
const APART: Duration = Duration::from_millis(500);

/// The thread that copies the log of a database into it until it is dropped. A checkpoint waits for the disk, writers do not
/// wait for it.
#[derive(Debug)]
pub(super) struct Checkpoints {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Starts for this database, with a connection of their own.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(super) fn start(db: Connection) -> Result<Checkpoints, StoreError> {
        let (stop, stopped) = channel();
        let work = move || {
            while stopped.recv_timeout(APART) == Err(RecvTimeoutError::Timeout) {
                // Without one the log grows, and the next one copies more.
                let done = db.query_row("PRAGMA wal_checkpoint(passive)", [], |_| Ok(()));
                if let Err(error) = done {
                    tracing::debug!(%error, "no checkpoint now");
                }
            }
        };
        let thread = thread::Builder::new().name("checkpoints".to_owned()).spawn(work)?;
        Ok(Checkpoints { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
