//! Logs pending connections that were closed to make room.

use std::collections::HashMap;
use std::net::IpAddr;

use tokio::time::Instant;

use crate::sources::acceptor::log_interval::LogInterval;

/// Pending connections that were closed to make room, since the last log line.
#[derive(Default)]
pub(super) struct EvictionLog {
    by_address: HashMap<IpAddr, u64>,
    all: u64,
    logged: LogInterval,
}

/// The maximum number of addresses that are counted individually.
const MOST_COUNTED: usize = 1024;

impl EvictionLog {
    pub(super) fn note(&mut self, peer: IpAddr) {
        self.all += 1;
        if self.by_address.len() < MOST_COUNTED || self.by_address.contains_key(&peer) {
            *self.by_address.entry(peer).or_default() += 1;
        }
    }

    /// Logs the first eviction at once, and later ones as a sum at intervals.
    pub(super) fn log(&mut self, now: Instant) {
        if self.all > 0 && self.logged.begin(now) {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        let most = self.by_address.drain().max_by_key(|&(_, count)| count);
        if let Some((address, count)) = most {
            let all = std::mem::take(&mut self.all);
            tracing::warn!(
                "{all} connections without `hello` were closed to make room for others, {count} of them from {address}"
            );
        }
    }
}
