//! Whether it pays to look for an answer as soon as its request is written.
//!
//! Where a lane and its bots share a processor, the write of a request often hands the processor to the bot, and the
//! answer is there when the write returns: to look for it then is cheaper than to wait for the news. Else it is hardly
//! ever there.

/// Answers found in a row, after which everything else that a lane waits for has its turn.
const MOST_FOUND: u32 = 16;
/// Requests that are passed over at most, after looks in vain.
const MOST_SKIPPED: u32 = 255;

/// How the looks went so far.
#[derive(Default)]
pub(super) struct Glances {
    found: u32,
    missed: u32,
    skip: u32,
}

impl Glances {
    /// Whether to look after this request.
    pub(super) fn is_due(&mut self) -> bool {
        if self.found == MOST_FOUND {
            self.found = 0;
            return false;
        }
        let is_due = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        is_due
    }

    /// Whether there was an answer.
    pub(super) fn note(&mut self, is_found: bool) {
        if is_found {
            self.found += 1;
            self.missed = 0;
        } else {
            self.found = 0;
            self.missed = (2 * self.missed + 1).min(MOST_SKIPPED);
            self.skip = self.missed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_in_vain_is_not_repeated_soon() {
        let mut glances = Glances::default();
        let mut looks = 0;
        for _ in 0..2_600 {
            if glances.is_due() {
                looks += 1;
                glances.note(false);
            }
        }
        assert!((8..=20).contains(&looks), "{looks}");
    }

    #[test]
    fn all_others_have_their_turn_at_every_seventeenth_request() {
        let mut glances = Glances::default();
        let mut is_due = || {
            let is_due = glances.is_due();
            if is_due {
                glances.note(true);
            }
            is_due
        };
        for _ in 0..3 {
            assert!((0..16).all(|_| is_due()));
            assert!(!is_due());
        }
    }
}
