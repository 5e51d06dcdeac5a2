//! The clock of a lane, and the times of its rounds.

use crate::driver::clock::{LaneClock, SHORTEST_WAIT};
use crate::driver::lane::Timer;
use crate::driver::timers::Timers;

/// The clock of a lane, and the times of its latest round, in microseconds.
#[derive(Debug)]
pub(super) struct RoundClock {
    pub(super) lane: LaneClock,
    /// The time for which the input of this round may have waited. Pauses of the referee are not lag.
    pub(super) lag: u64,
    /// The last poll of the streams: the start of the latest round.
    pub(super) polled: u64,
    /// The last write of output.
    pub(super) written: u64,
    /// The earliest time at which lines that wait for the lane's owner can have arrived.
    arrived: u64,
    /// The time since which the lane has had nothing to do. `None` while its owner has control.
    asleep: Option<u64>,
    /// The accumulated pause that the matches account for.
    paused: u64,
}

impl RoundClock {
    pub(super) fn new(lane: LaneClock) -> RoundClock {
        RoundClock { lane, lag: 0, polled: 0, written: 0, arrived: 0, asleep: None, paused: 0 }
    }

    pub(super) fn now(&self) -> u64 {
        self.lane.now()
    }

    /// Notes that the lane has nothing to do.
    pub(super) fn sleep(&mut self) {
        self.asleep = Some(self.written);
        self.lane.sleep(self.written);
    }

    /// Begins a round. Returns the current time, and measures the lag of the input that is handled next: for how long at most
    /// it may have waited. If the lane slept, that is the time since something woke it up, and the bots of other input have used
    /// the time. Otherwise, it is the time since the streams were last polled.
    pub(super) fn begin(&mut self, timers: &Timers<Timer>, has_waiting_lines: bool) -> u64 {
        let (started, lag) = match self.asleep.take() {
            Some(asleep) => {
                let (started, woken) = self.lane.wake(asleep);
                let is_short = started - asleep < SHORTEST_WAIT;
                // Input that arrived while the lane was busy ends its sleep at once.
                let was_busy = is_short && asleep.saturating_sub(self.polled) >= SHORTEST_WAIT;
                (started, if was_busy { started - self.polled } else { woken })
            }
            None => {
                let started = self.now();
                (started, started - self.polled)
            }
        };
        // The thread may have been blocked by something else. Timers may fire one millisecond late.
        let late = timers.overdue(started).min(started - self.polled);
        // Input that arrives one microsecond before a timer is in time.
        self.lag = if late > lag + 2 * SHORTEST_WAIT { late + 1 } else { lag };
        if has_waiting_lines {
            self.lag = self.lag.max(started - self.arrived);
        } else {
            self.arrived = started - self.lag.min(started);
        }
        self.polled = started;
        started
    }

    /// The accumulated pause, if it has grown since the last call.
    pub(super) fn new_pause(&mut self) -> Option<u64> {
        let paused = self.lane.paused();
        (std::mem::replace(&mut self.paused, paused) != paused).then_some(paused)
    }
}
