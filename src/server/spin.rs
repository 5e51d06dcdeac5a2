//! Whether it pays to look for an answer as soon as its request is written.
//!
//! Where a lane and its bots share a processor, the bot has it when it is written to or when the lane yields, and its
//! answer is there when the lane has it again: to look for it then is cheaper than to wait for the news. Else it is hardly
//! ever there; or others have the processor meanwhile, and who waits for news is sooner back than who yields.

/// Requests that are passed over at most, after looks in vain.
const MOST_SKIPPED: u32 = 255;
/// In microseconds. An answer that took longer was not worth looking for; and so long everything else that a lane waits
/// for may have to wait for its turn.
const LONG: u64 = 1_000;

/// How the looks went so far. Times are in microseconds.
#[derive(Default)]
pub(super) struct Spin {
    /// When everything had its turn.
    turn: u64,
    missed: u32,
    skip: u32,
}

impl Spin {
    /// Whether to look after a request that went out then.
    pub(super) fn is_due(&mut self, asked: u64) -> bool {
        if asked >= self.turn + LONG {
            return false;
        }
        let is_due = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        is_due
    }

    /// Everything has its turn now.
    pub(super) fn note_turn(&mut self, now: u64) {
        self.turn = now;
    }

    /// There was an answer, so long after its request.
    pub(super) fn note_found(&mut self, after: u64) {
        if after > LONG {
            self.note_missed();
        } else {
            self.missed = 0;
        }
    }

    /// There was none.
    pub(super) fn note_missed(&mut self) {
        self.missed = (2 * self.missed + 1).min(MOST_SKIPPED);
        self.skip = self.missed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often one looks at so many requests, each at its time, when that always goes like this.
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
    fn a_look_in_vain_is_not_repeated_soon() {
        let looks = looks([0; 2_600], Spin::note_missed);
        assert!((8..=20).contains(&looks), "{looks}");
    }

    #[test]
    fn a_look_that_took_long_was_in_vain() {
        assert_eq!(looks([0; 2_600], |spin| spin.note_found(1_001)), looks([0; 2_600], Spin::note_missed));
    }

    #[test]
    fn all_others_have_their_turn_after_a_millisecond() {
        assert_eq!(looks((0..5_000).step_by(10), |spin| spin.note_found(10)), 100);
        let mut spin = Spin::default();
        spin.note_turn(4_000);
        assert!(spin.is_due(4_999));
    }
}
