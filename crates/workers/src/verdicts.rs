//! Verdicts on the outcomes of workers, which send each of them again until they know.

use std::collections::BTreeMap;

use crate::carrier::OutcomeVerdict;
use crate::unit::UnitId;

/// The number of outcomes that are known. Repeated ones of earlier sets are judged as new.
const MOST_KNOWN: usize = 10_000;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum OutcomeArrival {
    /// The outcome is to be judged.
    New,
    Judging,
    /// The outcome has arrived before, and was judged.
    Judged(OutcomeVerdict),
}

/// By unit and worker: the verdict on the outcome; `None` while it is judged.
#[derive(Debug, Default)]
pub(super) struct Verdicts(BTreeMap<(UnitId, String), Option<OutcomeVerdict>>);

impl Verdicts {
    pub(super) fn arrive(&mut self, unit: &UnitId, worker: &str) -> OutcomeArrival {
        match self.0.get(&(unit.clone(), worker.to_owned())) {
            Some(Some(verdict)) => OutcomeArrival::Judged(verdict.clone()),
            Some(None) => OutcomeArrival::Judging,
            None => {
                self.insert(unit, worker, None);
                OutcomeArrival::New
            }
        }
    }

    pub(super) fn set(&mut self, unit: &UnitId, worker: &str, verdict: OutcomeVerdict) {
        self.insert(unit, worker, Some(verdict));
    }

    /// Forgets the outcome of a unit that a worker has received: unless one of it is being judged, the next one is new.
    pub(super) fn forget(&mut self, unit: &UnitId, worker: &str) {
        let key = (unit.clone(), worker.to_owned());
        if self.0.get(&key).is_some_and(Option::is_some) {
            self.0.remove(&key);
        }
    }

    /// Forgets outcomes without a verdict, which are judged when they arrive again.
    pub(super) fn forget_unjudged(&mut self) {
        self.0.retain(|_, verdict| verdict.is_some());
    }

    fn insert(&mut self, unit: &UnitId, worker: &str, verdict: Option<OutcomeVerdict>) {
        self.0.insert((unit.clone(), worker.to_owned()), verdict);
        if self.0.len() > MOST_KNOWN {
            self.0.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(set: u32, attempt: u32) -> UnitId {
        UnitId { run: "r".to_owned(), set, attempt }
    }

    #[test]
    fn a_repeated_outcome_has_the_verdict_of_the_first() {
        let mut verdicts = Verdicts::default();
        assert_eq!(verdicts.arrive(&unit(1, 1), "box"), OutcomeArrival::New);
        assert_eq!(verdicts.arrive(&unit(1, 1), "box"), OutcomeArrival::Judging);
        assert_eq!(verdicts.arrive(&unit(1, 1), "other"), OutcomeArrival::New);
        assert_eq!(verdicts.arrive(&unit(1, 2), "box"), OutcomeArrival::New);
        verdicts.set(&unit(1, 1), "box", OutcomeVerdict::Refused("no".to_owned()));
        let refused = OutcomeArrival::Judged(OutcomeVerdict::Refused("no".to_owned()));
        assert_eq!(verdicts.arrive(&unit(1, 1), "box"), refused);
        verdicts.forget_unjudged();
        assert_eq!(verdicts.arrive(&unit(1, 1), "box"), refused);
        assert_eq!(verdicts.arrive(&unit(1, 2), "box"), OutcomeArrival::New);
        verdicts.forget(&unit(1, 2), "box");
        assert_eq!(verdicts.arrive(&unit(1, 2), "box"), OutcomeArrival::Judging);
        // The unit is handed out to the same worker once more.
        verdicts.forget(&unit(1, 1), "box");
        assert_eq!(verdicts.arrive(&unit(1, 1), "box"), OutcomeArrival::New);
    }

    #[test]
    fn outcomes_of_the_earliest_sets_are_forgotten() {
        let mut verdicts = Verdicts::default();
        for set in 1..=MOST_KNOWN as u32 + 1 {
            verdicts.set(&unit(set, 1), "box", OutcomeVerdict::Counted);
        }
        assert_eq!(verdicts.0.len(), MOST_KNOWN);
        assert_eq!(verdicts.arrive(&unit(2, 1), "box"), OutcomeArrival::Judged(OutcomeVerdict::Counted));
        assert_eq!(verdicts.arrive(&unit(1, 1), "box"), OutcomeArrival::New);
    }
}
