//! What a bot writes to its standard error: always drained, of which the end is kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use referee_protocol::limits;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;

/// After so many bytes the drain rests, so that a flood costs a lane next to nothing; the bot that floods waits for it.
const BURST: usize = 64 * 1024;
const REST: Duration = Duration::from_millis(5);

#[derive(Clone, Default)]
pub(super) struct Tail(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    end: VecDeque<u8>,
    dropped: u64,
}

impl Tail {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drains until the end.
    pub(super) async fn drain(self, mut stderr: ChildStderr) {
        let mut buffer = vec![0; 16 * 1024];
        let mut burst = 0;
        while let Ok(got @ 1..) = stderr.read(&mut buffer).await {
            self.keep(&buffer[..got]);
            burst += got;
            if burst >= BURST {
                burst = 0;
                tokio::time::sleep(REST).await;
            }
        }
    }

    fn keep(&self, bytes: &[u8]) {
        let mut inner = self.lock();
        inner.end.extend(bytes);
        let excess = inner.end.len().saturating_sub(limits::STDERR);
        inner.end.drain(..excess);
        inner.dropped += excess as u64;
    }

    /// What came since the last call, and how many bytes before it were not kept.
    pub(super) fn take(&self) -> (String, u64) {
        let Inner { end, dropped } = std::mem::take(&mut *self.lock());
        (String::from_utf8_lossy(&Vec::from(end)).into_owned(), dropped)
    }
}
