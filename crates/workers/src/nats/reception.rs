//! The reception of workers' messages.

use std::time::{Duration, Instant};

/// The reception of an end, which sends itself an empty message every now and then, which shows that the process runs and that the broker delivers.
/// Without them no worker counts as lost.
#[derive(Debug)]
pub(super) struct Reception {
    /// The longest pause between two of them.
    most: Duration,
    echoed: Instant,
    since: Option<Instant>,
}

impl Reception {
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    pub(super) fn new(most: Duration) -> Reception {
        Reception { most, echoed: Instant::now(), since: None }
    }

    pub(super) fn echo(&mut self, now: Instant) {
        if self.since.is_none() || now - self.echoed > self.most {
            self.since = Some(now);
        }
        self.echoed = now;
    }

    pub(super) fn lose(&mut self) {
        self.since = None;
    }

    /// The time since which echoes arrive without a gap. `None` without a connection.
    pub(super) fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Returns [`Reception::since`] if the last echo is recent: workers have had the time since then to report.
    pub(super) fn current(&self, now: Instant) -> Option<Instant> {
        self.since.filter(|_| now - self.echoed <= self.most)
    }
}
