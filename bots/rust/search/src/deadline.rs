//! Time management.

use std::time::{Duration, Instant};

use referee_bot::TurnClock;

/// The bank is spent as if this many decisions remained.
const DECISIONS_TO_COME: u64 = 20;

/// The time at which a search must answer.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    started: Instant,
    allowed: Option<Duration>,
}

impl Deadline {
    /// Creates a deadline from now: the shorter of the bot's own limit and its share of the clock.
    pub fn new(own: Option<Duration>, clock: Option<TurnClock>) -> Deadline {
        let allowed = [own, clock.map(share)].into_iter().flatten().min();
        Deadline { started: now(), allowed }
    }

    /// Returns whether the deadline has passed.
    pub fn is_over(&self) -> bool {
        self.allowed.is_some_and(|allowed| now() - self.started >= allowed)
    }
}

/// The share of a clock for one decision: the delay and part of the bank, less a margin for the round-trip to the
/// referee and for load on the machine.
fn share(clock: TurnClock) -> Duration {
    let delay = clock.limit_ms.saturating_sub(clock.bank_ms);
    let share = delay + clock.limit_ms.min(clock.bank_ms) / DECISIONS_TO_COME;
    Duration::from_millis((share - share / 5).saturating_sub(5))
}

#[expect(clippy::disallowed_methods, reason = "a bot measures its own time")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(bank_ms: u64, limit_ms: u64) -> u64 {
        share(TurnClock { bank_ms, limit_ms }).as_millis() as u64
    }

    #[test]
    fn a_delay_is_used_but_for_a_margin() {
        assert_eq!(ms(0, 50), 35);
        assert_eq!(ms(0, 5000), 3995);
    }

    #[test]
    fn a_bank_lasts_for_many_decisions() {
        let (mut bank, mut decisions) = (60_000, 0);
        while ms(bank, bank) > 100 {
            bank -= ms(bank, bank);
            decisions += 1;
        }
        assert!(decisions > 50, "{decisions}");
    }

    #[test]
    fn next_to_nothing_is_no_time_at_all() {
        for limit in 0..=5 {
            assert_eq!(ms(0, limit), 0);
            assert!(Deadline::new(None, Some(TurnClock { bank_ms: limit, limit_ms: limit })).is_over());
        }
    }

    #[test]
    fn a_bot_without_clock_and_limit_is_never_late() {
        assert!(!Deadline::new(None, None).is_over());
        assert!(Deadline::new(Some(Duration::ZERO), None).is_over());
    }
}
