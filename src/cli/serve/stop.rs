//! Stops the ladders when a signal arrives.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::cli::screen::stderr_line;
use crate::cli::service::Service;
use crate::files::StorageWait;

/// Stops a ladder.
pub(super) struct LadderStop {
    /// Starts no new match.
    drain: Option<oneshot::Sender<()>>,
    /// Aborts the matches in progress that are not journaled.
    interrupt: Option<oneshot::Sender<()>>,
    wait: StorageWait,
}

impl LadderStop {
    /// A way to stop a ladder whose writes wait in this way, and what resolves when it drains and when it is aborted.
    pub(super) fn new(wait: StorageWait) -> (LadderStop, oneshot::Receiver<()>, oneshot::Receiver<()>) {
        let (drain, drained) = oneshot::channel();
        let (interrupt, interrupted) = oneshot::channel();
        (LadderStop { drain: Some(drain), interrupt: Some(interrupt), wait }, drained, interrupted)
    }

    /// Handles as many signals.
    fn signal(&mut self, signals: u32) {
        let mut sent = Vec::new();
        if signals >= 1 {
            sent.extend(self.drain.take());
        }
        if signals >= 2 {
            self.wait.give_up();
            sent.extend(self.interrupt.take());
        }
        for signal in sent {
            // The ladder may be over already.
            let _ = signal.send(());
        }
    }
}

/// Stops all ladders. The first signal drains them, the second one stops them at once.
#[derive(Clone)]
pub(super) struct LadderStops {
    service: Arc<Service>,
    is_aborted: Arc<AtomicBool>,
    ladders: Arc<Mutex<Ladders>>,
}

#[derive(Default)]
struct Ladders {
    /// The number of signals so far.
    signals: u32,
    stops: Vec<LadderStop>,
}

impl LadderStops {
    pub(super) fn new(service: Arc<Service>) -> LadderStops {
        LadderStops { service, is_aborted: Arc::default(), ladders: Arc::default() }
    }

    fn ladders(&self) -> MutexGuard<'_, Ladders> {
        self.ladders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a ladder. Signals that have arrived already take effect at once.
    pub(super) fn add(&self, mut stop: LadderStop) {
        let mut ladders = self.ladders();
        stop.signal(ladders.signals);
        ladders.stops.push(stop);
    }

    /// Handles a signal.
    pub(super) fn signal(&self, number: u32) {
        if number == 1 {
            self.service.stopping();
            stderr_line("stopping: the matches in progress end first; a second signal stops at once");
        } else {
            self.is_aborted.store(true, Ordering::Relaxed);
        }
        let mut ladders = self.ladders();
        ladders.signals = number;
        ladders.stops.iter_mut().for_each(|stop| stop.signal(number));
    }

    /// Whether matches were aborted.
    pub(super) fn is_aborted(&self) -> bool {
        self.is_aborted.load(Ordering::Relaxed)
    }
}
