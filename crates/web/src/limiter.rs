//! Limits how often spectators are served, so that none of them takes the processor from the run or from the others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The time between two requests of one address in the long run, and how many may come at once.
const OF_ADDRESS: Rate = Rate { interval: Duration::from_millis(5), burst: 400 };
/// The limit for all addresses together.
const OF_ALL: Rate = Rate { interval: Duration::from_millis(1), burst: 1000 };
/// The limit for connections.
const OF_CONNECTIONS: Rate = Rate { interval: Duration::from_millis(2), burst: 512 };
/// The number of addresses from which the idle ones are dropped.
const MOST_ADDRESSES: usize = 4096;

/// A limit on the frequency of requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) interval: Duration,
    pub(super) burst: u32,
}

/// A queue of events at a limited rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The time at which the next event would be due if all happened at the interval of the rate.
    due: Instant,
}

impl Pace {
    pub(super) fn begin(now: Instant) -> Pace {
        Pace { due: now }
    }

    /// Takes the next event, and returns the time at which it may happen.
    pub(super) fn next(&mut self, rate: Rate, now: Instant) -> Instant {
        let credit = rate.interval * rate.burst;
        let at = self.due.checked_sub(credit).map_or(now, |earliest| earliest.max(now));
        self.due = self.due.max(now) + rate.interval;
        at
    }
}

#[derive(Debug)]
struct Paces {
    all: Pace,
    connections: Pace,
    by_address: HashMap<IpAddr, Pace>,
}

/// Delays requests and connections beyond the limits.
#[derive(Debug)]
pub(super) struct RequestLimiter(Mutex<Paces>);

impl RequestLimiter {
    pub(super) fn new() -> RequestLimiter {
        let begin = Pace { due: Instant::now() };
        RequestLimiter(Mutex::new(Paces { all: begin, connections: begin, by_address: HashMap::new() }))
    }

    fn with<T>(&self, take: impl FnOnce(&mut Paces, Instant) -> T) -> T {
        take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), Instant::now())
    }

    /// Waits until a request of this address, see [`network_of`], may be answered.
    pub(super) async fn request(&self, address: IpAddr) {
        let at = self.with(|paces, now| {
            if paces.by_address.len() >= MOST_ADDRESSES {
                paces.by_address.retain(|_, pace| pace.due > now);
            }
            paces.by_address.entry(address).or_insert(Pace { due: now }).next(OF_ADDRESS, now)
        });
        sleep_until(at).await;
        sleep_until(self.with(|paces, now| paces.all.next(OF_ALL, now))).await;
    }

    /// Waits until another connection may be accepted.
    pub(super) async fn connection(&self) {
        sleep_until(self.with(|paces, now| paces.connections.next(OF_CONNECTIONS, now))).await;
    }
}

/// The address to which a limit applies: hosts with IPv6 have whole networks of 64 bits.
pub(super) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(of_host) => Ipv6Addr::from_bits(of_host.to_bits() >> 64 << 64).into(),
        of_host @ IpAddr::V4(_) => of_host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_of_an_address_are_delayed_and_others_are_not() {
        let limiter = RequestLimiter::new();
        let [greedy, other] = [[127, 0, 0, 1], [127, 0, 0, 2]].map(IpAddr::from);
        let begun = Instant::now();
        for _ in 0..400 + 200 {
            limiter.request(greedy).await;
        }
        let took = begun.elapsed();
        assert!((Duration::from_millis(980)..Duration::from_millis(1200)).contains(&took), "{took:?}");
        let begun = Instant::now();
        limiter.request(other).await;
        assert!(begun.elapsed() < Duration::from_millis(10));
    }
}
