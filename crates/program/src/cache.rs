//! Answers that were given before: an opening, a replay and a page ask for the same positions again.

use std::collections::HashMap;
use std::mem;

/// The maximum size of a generation, in bytes of requests and answers.
const MOST_BYTES: usize = 8 << 20;

/// Values by request. When the newer generation is full, it becomes the older one, which is dropped.
#[derive(Debug)]
pub(crate) struct AnswerCache<V> {
    newer: HashMap<Box<[u8]>, V>,
    older: HashMap<Box<[u8]>, V>,
    /// The size of the newer generation.
    bytes: usize,
}

impl<V> Default for AnswerCache<V> {
    fn default() -> Self {
        AnswerCache { newer: HashMap::new(), older: HashMap::new(), bytes: 0 }
    }
}

impl<V: Clone> AnswerCache<V> {
    pub(crate) fn get(&self, request: &[u8]) -> Option<V> {
        self.newer.get(request).or_else(|| self.older.get(request)).cloned()
    }

    /// Keeps the value of an answer of this length.
    pub(crate) fn insert(&mut self, request: &[u8], value: V, answer: usize) {
        self.bytes += request.len() + answer;
        if self.bytes > MOST_BYTES {
            self.bytes = request.len() + answer;
            self.older = mem::take(&mut self.newer);
        }
        self.newer.insert(request.into(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_recently_is_kept_and_size_is_bounded() {
        let mut cache = AnswerCache::default();
        let count = 10 * MOST_BYTES as u32 / 1_000_000;
        for number in 0..count {
            cache.insert(&number.to_le_bytes(), number, 1_000_000);
        }
        assert_eq!(cache.get(&(count - 1).to_le_bytes()), Some(count - 1));
        assert_eq!(cache.get(&0u32.to_le_bytes()), None);
        assert!(cache.newer.len() + cache.older.len() <= 2 * MOST_BYTES / 1_000_000);
    }
}
