//! Answers that are kept, so that they are computed once however many spectators ask.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use tokio::time::Instant;

use crate::board::BoardForm;

/// The time for which an answer is kept at least. Computing one takes at most a tenth of the time.
pub(super) const ANSWER_APART: Duration = Duration::from_secs(1);
/// The maximum number of answers that are kept.
const MOST_ANSWERS: usize = 256;
/// The maximum size of the replays that are kept, in bytes.
const MOST_REPLAY_BYTES: usize = 32 * 1024 * 1024;

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers that change with the run, by path and parameters.
#[derive(Debug, Default)]
pub(super) struct RecentAnswers {
    answers: Mutex<HashMap<String, (Instant, Bytes)>>,
    /// The lock of computing: one answer that blocks is computed at a time, and requests for the same one get it from the
    /// list.
    pub(super) computing: tokio::sync::Mutex<()>,
}

impl RecentAnswers {
    /// The answer of this key, which is computed if there is none or if it is old.
    pub(super) fn get(&self, key: &str, compute: impl FnOnce() -> String) -> Bytes {
        if let Some(answer) = self.kept(key) {
            return answer;
        }
        let began = Instant::now();
        let answer = Bytes::from(compute());
        self.keep(key, answer.clone(), began);
        answer
    }

    /// The answer of this key, unless there is none or it is old.
    pub(super) fn kept(&self, key: &str) -> Option<Bytes> {
        let answers = lock(&self.answers);
        let (until, answer) = answers.get(key)?;
        (Instant::now() < *until).then(|| answer.clone())
    }

    /// Keeps an answer whose computation began at this time.
    pub(super) fn keep(&self, key: &str, answer: Bytes, began: Instant) {
        let until = Instant::now() + ANSWER_APART.max(9 * began.elapsed());
        let mut answers = lock(&self.answers);
        if answers.len() >= MOST_ANSWERS {
            answers.clear();
        }
        answers.insert(key.to_owned(), (until, answer));
    }
}

/// A match id and the form of the replay.
type ReplayKey = (String, BoardForm);

/// Replays of matches that have ended; the most recently used last.
#[derive(Debug, Default)]
pub(super) struct RecentReplays {
    replays: Mutex<VecDeque<(ReplayKey, Bytes)>>,
    /// The lock of computing: one replay is computed at a time, and requests for the same one get it from the list.
    pub(super) computing: tokio::sync::Mutex<()>,
}

impl RecentReplays {
    pub(super) fn get(&self, key: &ReplayKey) -> Option<Bytes> {
        let mut replays = lock(&self.replays);
        let at = replays.iter().position(|(own, _)| own == key)?;
        let found = replays.remove(at)?;
        let replay = found.1.clone();
        replays.push_back(found);
        Some(replay)
    }

    pub(super) fn clear(&self) {
        lock(&self.replays).clear();
    }

    pub(super) fn add(&self, key: ReplayKey, replay: Bytes) {
        let mut replays = lock(&self.replays);
        replays.push_back((key, replay));
        let mut bytes: usize = replays.iter().map(|(_, replay)| replay.len()).sum();
        while bytes > MOST_REPLAY_BYTES
            && let Some((_, oldest)) = replays.pop_front()
        {
            bytes -= oldest.len();
        }
    }
}
