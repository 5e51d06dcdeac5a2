//! Is a new version stronger than its base? The rules around the test of [`super::sprt`].
//!
//! `new` is entrant 0, `base` entrant 1; the sets are those of [`super::schedule::Format::Duel`]. The score of a set is
//! the mean over all its comparisons between a side of `new` and a side of `base`.
//!
//! **Faults must not pass for strength.** A set in which `base` made a fault is dropped. Where `new` made one it has
//! lost, whatever came of the match. Both count towards the fault rate: matches with a fault over all matches. It is
//! judged when the test would end; a rate above the limit makes the run invalid. So does, at once, so many faults that
//! the rate will be above the limit even if the rest of `max_sets` is played without one.
//!
//! **Repeated sets tell nothing new.** A set whose moves repeat an earlier one's is not counted. After `max_repeats` of
//! them in a row the verdict is undecided.
//!
//! **Order**: sets count in the order of their numbers, however they ended in time. Else those that end fast, such as
//! quick losses, would count more than they should when the test stops; and a resumed run could decide otherwise.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::sprt::{Decision, Difference, SetScores, Sprt};
use super::{Deals, Entrant, MatchResult};
use crate::core::{Misconfigured, Seating};

/// The one that is tested.
pub const NEW: Entrant = Entrant(0);

/// The one it is compared with.
pub const BASE: Entrant = Entrant(1);

/// What a run is decided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The test; none to play `max_sets` and measure.
    pub sprt: Option<Sprt>,
    /// How many sets at most, from 1; those count that were dropped or repeated, too.
    pub max_sets: u32,
    /// The greatest part of the matches that may have a fault, from 0 to 1.
    pub max_fault_rate: f64,
    /// How many sets in a row may repeat earlier ones, from 1.
    pub max_repeats: u32,
}

impl Terms {
    /// With a fault rate of 1% and 100 repeats.
    pub const fn new(sprt: Option<Sprt>, max_sets: u32) -> Terms {
        Terms { sprt, max_sets, max_fault_rate: 0.01, max_repeats: 100 }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// H1 accepted.
    Passed,
    /// H0 accepted.
    Failed,
    /// All sets are played and neither is accepted.
    AtLimit,
    /// No new sets come: moves repeat.
    OnlyRepeats,
    /// All sets of a run of fixed length are played.
    Measured,
    /// Too many faults.
    Invalid,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Sets that were judged.
    pub sets: u32,
    /// Those of them that count in the scores.
    pub counted: u32,
    /// Those that were dropped because of a fault of `base`.
    pub dropped: u32,
    /// Those that repeated an earlier one.
    pub repeated: u32,
    /// Matches of the sets that were judged.
    pub matches: u32,
    /// Matches with a fault of `new`.
    pub faults_of_new: u32,
    /// Matches with a fault of `base`.
    pub faults_of_base: u32,
    /// Matches with a fault of either.
    pub faulty: u32,
}

impl Tally {
    /// The part of the matches that had a fault.
    pub fn fault_rate(&self) -> f64 {
        f64::from(self.faulty) / f64::from(self.matches.max(1))
    }
}

/// A digest of the moves of a set, equal for sets with the same moves.
pub type Moves = [u8; 32];

/// What became of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Its score counts.
    Counted,
    /// `base` made a fault in it.
    Dropped,
    /// Its moves repeat an earlier set's.
    Repeated,
}

/// A set that was judged, and what all up to it say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Its number.
    pub set: u32,
    /// What became of it.
    pub fate: Fate,
    /// What `new` scored in it, from 0 to 1, whether that counts or not.
    pub score: f64,
    /// The log-likelihood ratio after it; none in a run of fixed length.
    pub llr: Option<f64>,
    /// What all sets that count say of the difference; none before the first.
    pub difference: Option<Difference>,
}

/// A run as it goes on.
#[derive(Clone, Debug)]
pub struct Regression {
    terms: Terms,
    legs: u32,
    scores: SetScores,
    tally: Tally,
    seen: BTreeSet<Moves>,
    repeats: u32,
    /// Sets that wait for earlier ones.
    waiting: BTreeMap<u32, (Vec<MatchResult>, Option<Moves>)>,
    verdict: Option<Verdict>,
}

impl Regression {
    /// A run in a seating with two or three sides.
    ///
    /// # Errors
    /// When a term is out of its range, or there are not two or three sides.
    pub fn new(terms: Terms, seating: Seating, deals: Deals) -> Result<Regression, Misconfigured> {
        let fail = |why: String| Err(Misconfigured(why));
        let sides = seating.sides();
        if sides != 2 && sides != 3 {
            return fail(format!("a comparison of two bots is for 2 or 3 sides, not {sides}"));
        }
        if !(0.0..=1.0).contains(&terms.max_fault_rate) {
            return fail(format!("a fault rate of {} is not from 0 to 1", terms.max_fault_rate));
        }
        if terms.max_sets == 0 || terms.max_repeats == 0 {
            return fail("at least one set and one repeat are needed".to_owned());
        }
        let legs = deals.legs(seating) as u32;
        Ok(Regression {
            terms,
            legs,
            scores: SetScores::new(legs, sides as u32 - 1),
            tally: Tally::default(),
            seen: BTreeSet::new(),
            repeats: 0,
            waiting: BTreeMap::new(),
            verdict: None,
        })
    }

    /// The scores that count.
    pub fn scores(&self) -> &SetScores {
        &self.scores
    }

    /// What happened so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// How the run ended; none as long as sets are to be played.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    /// What it is decided by.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The log-likelihood ratio; none in a run of fixed length.
    pub fn llr(&self) -> Option<f64> {
        self.terms.sprt.map(|sprt| sprt.llr(&self.scores))
    }

    /// Takes in a complete set by its number, from 1; `moves` only where sets can repeat. It is judged when all before
    /// it are; after the verdict no set is. Returns those that are judged now.
    pub fn add(&mut self, set: u32, matches: Vec<MatchResult>, moves: Option<Moves>) -> Vec<Judged> {
        self.waiting.insert(set, (matches, moves));
        let mut judged = Vec::new();
        while self.verdict.is_none()
            && let Some((matches, moves)) = self.waiting.remove(&(self.tally.sets + 1))
        {
            judged.push(self.judge(&matches, moves));
        }
        judged
    }

    fn judge(&mut self, matches: &[MatchResult], moves: Option<Moves>) -> Judged {
        self.tally.sets += 1;
        self.tally.matches += matches.len() as u32;
        let with_fault = |of: Entrant| matches.iter().filter(|result| result.is_fault_of(of)).count() as u32;
        let (of_new, of_base) = (with_fault(NEW), with_fault(BASE));
        self.tally.faults_of_new += of_new;
        self.tally.faults_of_base += of_base;
        let is_faulty = |result: &&MatchResult| result.is_fault_of(NEW) || result.is_fault_of(BASE);
        self.tally.faulty += matches.iter().filter(is_faulty).count() as u32;
        let repeats = moves.is_some_and(|moves| !self.seen.insert(moves));
        self.repeats = if repeats { self.repeats + 1 } else { 0 };
        let score = score(matches);
        let fate = if of_base > 0 {
            self.tally.dropped += 1;
            Fate::Dropped
        } else if repeats {
            self.tally.repeated += 1;
            Fate::Repeated
        } else {
            self.tally.counted += 1;
            self.scores.add(score);
            Fate::Counted
        };
        let llr = self.llr();
        self.verdict = self.decide(llr);
        Judged { set: self.tally.sets, fate, score, llr, difference: self.scores.estimate() }
    }

    fn decide(&self, llr: Option<f64>) -> Option<Verdict> {
        let most = self.terms.max_fault_rate * f64::from(self.terms.max_sets) * f64::from(self.legs);
        if f64::from(self.tally.faulty) > most {
            return Some(Verdict::Invalid);
        }
        let decision = self.terms.sprt.zip(llr).map_or(Decision::Continue, |(sprt, llr)| sprt.decide(llr));
        let is_last = self.tally.sets >= self.terms.max_sets;
        let verdict = match decision {
            Decision::AcceptH1 => Verdict::Passed,
            Decision::AcceptH0 => Verdict::Failed,
            Decision::Continue if is_last && self.terms.sprt.is_none() => Verdict::Measured,
            Decision::Continue if is_last => Verdict::AtLimit,
            Decision::Continue if self.repeats >= self.terms.max_repeats => Verdict::OnlyRepeats,
            Decision::Continue => return None,
        };
        let is_valid = self.tally.fault_rate() <= self.terms.max_fault_rate;
        Some(if is_valid { verdict } else { Verdict::Invalid })
    }
}

/// What `new` scored in a set.
fn score(matches: &[MatchResult]) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for result in matches {
        let is_new = |side: usize| result.lineup.side(side).any(|entrant| entrant == NEW);
        for (side, other) in result.comparisons().filter(|&(side, _)| is_new(side)) {
            sum += if result.is_faulted(side) { 0.0 } else { result.against(side, other) };
            count += 1;
        }
    }
    sum / f64::from(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Seat, SeatSet};
    use crate::tournament::Lineup;
    use crate::tournament::sprt::EloModel;

    const TWO: Seating = Seating::new(2, 2);

    fn run(max_sets: u32) -> Regression {
        let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Logistic).unwrap();
        Regression::new(Terms::new(Some(sprt), max_sets), TWO, Deals::Mirrored).unwrap()
    }

    /// The two matches of a set: what `new` is ranked and `base`, and who makes a fault in the first.
    fn set(number: u32, ranks: [[u8; 2]; 2], at_fault: Option<Entrant>) -> Vec<MatchResult> {
        let first = Lineup::of_sides(TWO, &[NEW, BASE]).unwrap();
        let mut legs = vec![
            MatchResult::played(number, first, &ranks[0]),
            MatchResult::played(number, Deals::Mirrored.leg(first, 1), &[ranks[1][1], ranks[1][0]]),
        ];
        legs[0].faulted = at_fault.map_or(SeatSet::EMPTY, |entrant| first.seats_of(entrant));
        legs
    }

    const WON: [[u8; 2]; 2] = [[1, 2], [1, 2]];

    #[test]
    fn a_set_with_a_fault_of_base_is_dropped_and_a_fault_of_new_loses() {
        let mut run = run(100_000);
        run.add(1, set(1, WON, Some(BASE)), None);
        assert_eq!((run.scores().sets(), run.tally().dropped), (0, 1));
        // Under the policy `random` it may have won in spite of its fault.
        run.add(2, set(2, WON, Some(NEW)), None);
        assert_eq!(run.scores().counts(), [0, 0, 1, 0, 0]);
        assert_eq!((run.tally().faults_of_new, run.tally().faults_of_base, run.tally().faulty), (1, 1, 2));
    }

    #[test]
    fn sets_count_in_the_order_of_their_numbers() {
        let mut run = run(1000);
        run.add(2, set(2, WON, None), None);
        assert_eq!(run.tally().sets, 0);
        run.add(1, set(1, WON, None), None);
        assert_eq!(run.tally().sets, 2);
    }

    #[test]
    fn a_set_that_repeats_another_is_not_counted_and_nothing_new_leaves_it_undecided() {
        let mut run = run(1000);
        for number in 1..=101 {
            assert_eq!(run.verdict(), None);
            run.add(number, set(number, WON, None), Some([1; 32]));
        }
        assert_eq!((run.tally().counted, run.tally().repeated), (1, 100));
        assert_eq!(run.verdict(), Some(Verdict::OnlyRepeats));
    }

    #[test]
    fn more_faults_than_the_rate_make_the_run_invalid() {
        // 10 sets of 2 matches: one fault in 20 is 5%.
        let mut early = run(10);
        early.add(1, set(1, WON, Some(BASE)), None);
        assert_eq!(early.verdict(), Some(Verdict::Invalid));
        // 3 in 200 matches would be fine for 1000 sets, but not when the test ends after 100.
        let mut late = run(1000);
        for number in 1.. {
            let at_fault = Some(NEW).filter(|_| number <= 3);
            late.add(
                number,
                set(number, if number % 3 == 0 { [[1, 2], [2, 1]] } else { WON }, at_fault),
                None,
            );
            if late.verdict().is_some() {
                assert!(late.tally().matches < 300, "{:?}", late.tally());
                break;
            }
        }
        assert_eq!(late.verdict(), Some(Verdict::Invalid));
    }

    #[test]
    fn a_run_of_fixed_length_is_measured_and_one_without_decision_ends_at_the_limit() {
        let mut fixed = Regression::new(Terms::new(None, 2), TWO, Deals::Mirrored).unwrap();
        let mut tested = run(2);
        for number in 1..=2 {
            fixed.add(number, set(number, WON, None), None);
            tested.add(number, set(number, [[1, 2], [2, 1]], None), None);
        }
        assert_eq!(fixed.verdict(), Some(Verdict::Measured));
        assert_eq!(tested.verdict(), Some(Verdict::AtLimit));
    }

    #[test]
    fn with_three_teams_only_comparisons_between_new_and_base_count() {
        let seating = Seating::new(6, 3);
        let first = Lineup::of_sides(seating, &[NEW, BASE, BASE]).unwrap();
        let results: Vec<MatchResult> = (0..3)
            .map(|leg| {
                // `new` is second, between the two of `base`.
                let lineup = Deals::Mirrored.leg(first, leg);
                let own = (0..3).find(|&side| lineup.side(side).any(|e| e == NEW)).unwrap();
                let mut ranks = [0; 3];
                for behind in 0..3 {
                    ranks[(own + behind) % 3] = [2, 1, 3][behind];
                }
                MatchResult::played(1, lineup, &ranks)
            })
            .collect();
        assert_eq!(score(&results), 0.5);
        let mut with_fault = results;
        with_fault[0].faulted = SeatSet::one(Seat(0));
        assert_eq!(score(&with_fault), 1.0 / 3.0);
    }
}
