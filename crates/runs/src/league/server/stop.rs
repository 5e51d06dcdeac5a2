//! Stops a league that is played.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use referee_files::StorageWait;
use tokio::sync::oneshot;

/// Stops one part of a league.
pub(super) struct PartStop {
    drain: Option<oneshot::Sender<()>>,
    /// Aborts the matches in progress that are not journaled.
    interrupt: Option<oneshot::Sender<()>>,
    wait: StorageWait,
}

/// Signals that stop a part of a league.
pub(super) struct StopSignals {
    /// Resolves when no match may begin any more.
    pub(super) drained: oneshot::Receiver<()>,
    /// Resolves when matches in progress are to be aborted.
    pub(super) interrupted: oneshot::Receiver<()>,
}

/// The progress of stopping a league.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Playing,
    Draining,
    Aborted,
}

impl PartStop {
    fn follow(&mut self, stage: Stage) {
        let mut sent = Vec::new();
        if stage >= Stage::Draining {
            sent.extend(self.drain.take());
        }
        if stage >= Stage::Aborted {
            self.wait.give_up();
            sent.extend(self.interrupt.take());
        }
        for signal in sent {
            // The part may be over already.
            let _ = signal.send(());
        }
    }
}

/// Stops a league that is played.
#[derive(Clone, Default)]
pub struct LeagueStop(Arc<Mutex<StopState>>);

#[derive(Default)]
struct StopState {
    stage: Stage,
    parts: Vec<PartStop>,
}

impl std::fmt::Debug for LeagueStop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LeagueStop").field(&self.lock().stage).finish()
    }
}

impl LeagueStop {
    fn lock(&self) -> MutexGuard<'_, StopState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a part whose writes wait in this way. If the league is stopped already, so is the part.
    pub(super) fn part(&self, wait: StorageWait) -> StopSignals {
        let (drain, drained) = oneshot::channel();
        let (interrupt, interrupted) = oneshot::channel();
        let mut part = PartStop { drain: Some(drain), interrupt: Some(interrupt), wait };
        let mut state = self.lock();
        part.follow(state.stage);
        state.parts.push(part);
        StopSignals { drained, interrupted }
    }

    /// Drains the league: no match begins any more, and the league ends with the last match in progress.
    pub fn drain(&self) {
        self.set(Stage::Draining);
    }

    /// Ends the league at once. Matches whose bots connect, and those of workers, go on with the next server; others are
    /// played again.
    pub fn abort(&self) {
        self.set(Stage::Aborted);
    }

    fn set(&self, stage: Stage) {
        let mut state = self.lock();
        state.stage = stage.max(state.stage);
        let stage = state.stage;
        state.parts.iter_mut().for_each(|part| part.follow(stage));
    }

    pub fn is_aborted(&self) -> bool {
        self.lock().stage == Stage::Aborted
    }
}
