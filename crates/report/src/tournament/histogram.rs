//! The number of occurrences of each time.

use std::collections::BTreeMap;

/// The number of leading bits of a time that count: a precision of 0.1%.
const BITS: u32 = 11;

/// Times with a precision of 0.1%, in a size that does not grow with their number.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// By the longest time that is counted as the same.
    counts: BTreeMap<u64, u64>,
}

impl Histogram {
    pub(super) fn record(&mut self, time: u64) {
        let ignored = (u64::BITS - time.leading_zeros()).saturating_sub(BITS);
        *self.counts.entry(time | ((1 << ignored) - 1)).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: &Histogram) {
        for (time, count) in &other.counts {
            *self.counts.entry(*time).or_default() += count;
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The longest time; `None` without any.
    pub(super) fn max(&self) -> Option<u64> {
        self.counts.last_key_value().map(|(&time, _)| time)
    }

    /// The time that this share of all times, from 0 to 1, does not exceed; `None` without any.
    pub(super) fn quantile(&self, share: f64) -> Option<u64> {
        let mut missing = (share * self.len() as f64).ceil().max(1.0) as u64;
        let mut reaches = |&(_, count): &(&u64, &u64)| {
            missing = missing.saturating_sub(*count);
            missing == 0
        };
        self.counts.iter().find(|entry| reaches(entry)).map(|(&time, _)| time)
    }
}
