//! Adaptive spinning: decides whether to poll for the answer right after a request was written.
//!
//! If a lane and its bots share a processor, the bot runs when it is written to or when the lane yields, and its
//! answer is available when the lane runs again: polling at once is then cheaper than waiting for the reactor.
//! Otherwise the answer is hardly ever available; or other threads run in between, and a thread that waits resumes
//! sooner than one that yields.

use crate::driver::keys::SessionKey;

/// The maximum number of requests without a poll after polls that found nothing.
const MOST_SKIPPED: u32 = 255;
/// In microseconds. An answer that took longer was not worth polling for. The lane polls its other streams at least
/// this often.
const LONG: u64 = 1_000;

/// The object of polling, and the success of recent polls. Times are in microseconds.
#[derive(Debug, Default)]
pub(super) struct Spin {
    /// The session that was last sent a request.
    pub(super) asked: Option<SessionKey>,
    /// The session whose answer was found by polling.
    pub(super) answered: Option<SessionKey>,
    /// The time at which all streams were last polled.
    turn: u64,
    missed: u32,
    skip: u32,
}

impl Spin {
    /// Returns whether to poll after a request that was sent at `asked`.
    pub(super) fn is_due(&mut self, asked: u64) -> bool {
        if asked >= self.turn + LONG {
            return false;
        }
        let is_due = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        is_due
    }

    /// Notes that all streams are polled now.
    pub(super) fn note_turn(&mut self, now: u64) {
        self.turn = now;
    }

    /// A poll found the answer, this long after its request.
    pub(super) fn note_found(&mut self, after: u64) {
        if after > LONG {
            self.note_missed();
        } else {
            self.missed = 0;
        }
    }

    pub(super) fn note_missed(&mut self) {
        self.missed = (2 * self.missed + 1).min(MOST_SKIPPED);
        self.skip = self.missed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the polls after requests at these times, if `note` is the result of each poll.
    fn looks(requests: impl IntoIterator<Item = u64>, note: impl Fn(&mut Spin)) -> usize {
        let mut spin = Spin::default();
        let mut look = |asked| {
            let is_due = spin.is_due(asked);
            if is_due {
                note(&mut spin);
            }
            is_due
        };
        requests.into_iter().filter(|&asked| look(asked)).count()
    }

    #[test]
    fn an_unsuccessful_poll_is_not_repeated_soon() {
        let looks = looks([0; 2_600], Spin::note_missed);
        assert!((8..=20).contains(&looks), "{looks}");
    }

    #[test]
    fn a_slow_poll_counts_as_unsuccessful() {
        assert_eq!(looks([0; 2_600], |spin| spin.note_found(1_001)), looks([0; 2_600], Spin::note_missed));
    }

    #[test]
    fn all_streams_are_polled_at_least_every_millisecond() {
        assert_eq!(looks((0..5_000).step_by(10), |spin| spin.note_found(10)), 100);
        let mut spin = Spin::default();
        spin.note_turn(4_000);
        assert!(spin.is_due(4_999));
    }
}
