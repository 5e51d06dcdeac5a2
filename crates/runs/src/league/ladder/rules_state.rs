//! The state of a ladder's rules, if they are a program.

use referee_engine::runner::MOST_RULES_FAILED;
use referee_stats::Cause;

/// The pause between matches once the rules have failed in match after match, in microseconds.
const PAUSE: u64 = 60_000_000;

/// The state of a ladder's rules. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RulesState {
    /// The number of consecutive matches in which they failed, or had to be asked again.
    failures: u32,
    /// The time of the next match, once the rules have failed in match after match.
    retry_at: Option<u64>,
}

impl RulesState {
    /// Notes how a match has ended, and how often the rules had to be asked again in it. Returns a sentence if they begin to
    /// fail, or work again.
    pub(super) fn ended(&mut self, cause: Option<Cause>, restarts: u32, now: u64) -> Option<&'static str> {
        match cause {
            None if restarts == 0 => {
                let RulesState { retry_at, .. } = std::mem::take(self);
                retry_at.map(|_| "the rules work again")
            }
            None | Some(Cause::RulesFailed) => {
                self.failures += restarts.max(1);
                if self.failures < MOST_RULES_FAILED {
                    return None;
                }
                let is_new = self.retry_at.is_none();
                self.retry_at = Some(now + PAUSE);
                is_new.then_some(
                    "the rules fail in match after match: one match a minute is tried until they work",
                )
            }
            // The failure does not tell whether the rules work.
            Some(_) => None,
        }
    }

    /// Returns whether they have failed in match after match.
    pub(super) fn are_failing(&self) -> bool {
        self.retry_at.is_some()
    }

    /// Returns whether a match may begin while as many are in progress.
    pub(super) fn may_begin(&self, running: usize, now: u64) -> bool {
        self.retry_at.is_none_or(|at| now >= at && running == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_fail_are_tried_once_minute_until_they_work() {
        let mut rules = RulesState::default();
        for _ in 1..MOST_RULES_FAILED {
            assert_eq!(rules.ended(Some(Cause::RulesFailed), 0, 5), None);
        }
        assert_eq!(rules.ended(Some(Cause::Interrupted), 0, 5), None);
        assert!(rules.may_begin(7, 5) && !rules.are_failing());
        assert!(rules.ended(Some(Cause::RulesFailed), 0, 5).is_some() && rules.are_failing());
        assert!(!rules.may_begin(0, 5) && rules.may_begin(0, 5 + PAUSE) && !rules.may_begin(1, 5 + PAUSE));
        assert_eq!(rules.ended(Some(Cause::RulesFailed), 0, 5 + PAUSE), None);
        assert!(!rules.may_begin(0, 6 + PAUSE));
        assert_eq!(rules.ended(None, 0, 6 + 2 * PAUSE), Some("the rules work again"));
        assert!(rules.may_begin(7, 6 + 2 * PAUSE));
        assert_eq!(rules.ended(Some(Cause::RulesFailed), 0, 7 + 2 * PAUSE), None);
        assert!(rules.may_begin(7, 7 + 2 * PAUSE));
    }

    #[test]
    fn rules_that_are_asked_again_in_match_after_match_fail() {
        let mut rules = RulesState::default();
        assert_eq!(rules.ended(None, 9, 5), None);
        assert_eq!(rules.ended(None, 0, 5), None);
        for _ in 0..3 {
            assert_eq!(rules.ended(None, 3, 5), None);
        }
        assert!(rules.ended(None, 3, 5).is_some() && rules.are_failing());
        assert_eq!(rules.ended(None, 0, 6), Some("the rules work again"));
    }
}
