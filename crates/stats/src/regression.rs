//! Tests whether a new version is stronger than its base: the rules around [`super::sprt`].
//!
//! `new` is entrant 0, `base` entrant 1; the sets are those of [`super::schedule::Format::Duel`]. The score of a set is
//! the mean over all its comparisons between a side of `new` and a side of `base`.
//!
//! **Faults must not look like strength.** A set in which `base` made a fault is dropped. If `new` made one, it has
//! lost, whatever the result of the match. A base that makes faults in matches that it was winning would lose its wins
//! that way. So H1 is accepted once a second ratio accepts it also, in which the dropped sets count, with `base` as the
//! winner of each match with its fault. If the second one accepts H0 when the first accepts H1, the run has failed
//! ([`Verdict::OnlyWithoutFaults`]).
//!
//! Both kinds of faults count towards the fault rate: matches with a fault over all matches. It is checked when the test
//! would end; the run is invalid if the interval of C. J. Clopper and E. S. Pearson ([`Tally::fault_rate`]) lies above the
//! limit. The run becomes invalid early if it will lie there even without faults in the rest of `max_sets`, or if bots
//! with a fault rate at the limit would make that many faults with a probability below 10⁻⁶ (the bound of H. Chernoff,
//! *Annals of Mathematical Statistics* 23, 1952, 493-507): a base that crashes in every match ends the run after four of
//! them.
//!
//! **A crash of `new`**, reported with [`Regression::add_crash`], fails the run at once.
//!
//! **Sets that both bots play alike**, move for move the same in all matches of the set, are even. While all sets that
//! count are and no match had a fault, the exact binomial bound decides instead of the ratio. Of all distributions with
//! the difference of `elo0`, the one with the most even sets has sets that are even and sets that are lost: in logistic Elo
//! a share of q = 2 s is even, with s the expected score; in normalized Elo q = 1 / (1 + t²), with t the number of
//! deviations by which the mean exceeds 1/2. The test passes after the smallest N with q^N <= alpha: 74 sets for -50
//! normalized Elo and matches in pairs, 20 for -50 logistic Elo. Where H0 is a difference of 0 or more the same with `elo1`
//! and beta fails the test: the new version is not stronger. One set that counts and is not played alike, or any fault,
//! and the sequential test alone decides.
//!
//! **A set with a void match** does not count. Its faults count towards the fault rate.
//!
//! **Copies** of earlier sets count once an opening has given two different sets ([`super::sample`]). If none has, the bots
//! are deterministic, and after `max_repeats` copies in a row the run ends undecided: more sets would show nothing new. The
//! verdict speaks of openings like those that were played if each set that counts has an opening of its own or one that was
//! drawn at random, and else of the openings that were played.
//!
//! **Three sides**: a version with two of them can win with one only. Where the other two sides are then equal, such a set
//! scores at most 3/4, and one with two sides of `base` at least 1/4, so that equal versions score 1/2 in both. No other
//! score of a single set with this mean would have a greater range. [`Regression::possible_scores`] states the limits.
//!
//! **Shards** ([`Shard`]) play every n-th set each, without a verdict. Their sets together count in the order of
//! their numbers up to the one that ends the test, as in one run, so the error rates are those of the sequential
//! test.
//!
//! **Order**: sets count in the order of their numbers, not of their ends. Otherwise those that end fast, such as
//! quick losses, would be overrepresented when the test stops, and a resumed run could decide otherwise.

mod possible;
mod shard;
mod tally;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::sample::{Sample, SetMoves};
use super::sprt::{SetScores, Sprt, TestState};
use super::{Deals, Entrant, MatchResult};
use referee_game::{Seating, Wrong};

pub use possible::PossibleScores;
pub use shard::Shard;
pub use tally::{Fate, JudgedSet, SetsPlayedAlike, Tally};

pub const NEW: Entrant = Entrant(0);

/// The version to compare it with.
pub const BASE: Entrant = Entrant(1);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRules {
    /// The test; `None` to play `max_sets` and measure.
    pub sprt: Option<Sprt>,
    /// The maximum number of sets, from 1, including dropped and repeated ones.
    pub max_sets: u32,
    /// The maximum share of matches with a fault, from 0 to 1.
    pub max_fault_rate: f64,
    /// The maximum number of copies in a row that do not count, from 1.
    pub max_repeats: u32,
}

impl StoppingRules {
    /// Sets the rules, with a fault rate of 1% and 100 repeats.
    pub const fn new(sprt: Option<Sprt>, max_sets: u32) -> StoppingRules {
        StoppingRules { sprt, max_sets, max_fault_rate: 0.01, max_repeats: 100 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The test accepted H1.
    Passed,
    /// The test accepted H0.
    Failed,
    /// H1 was accepted without the sets that a fault of `base` decided, H0 with them.
    OnlyWithoutFaults,
    /// The bots play alike, which excludes H0.
    PassedAlike,
    /// The bots play alike, which excludes H1.
    FailedAlike,
    Crashed,
    /// The limit of sets was reached, and neither hypothesis was accepted.
    AtLimit,
    /// The bots are deterministic, and all their openings have been played.
    OnlyRepeats,
    /// The sets of a run of fixed length were played.
    Measured,
    /// Too many faults.
    Invalid,
}

#[derive(Clone, Debug)]
struct Complete {
    matches: Vec<MatchResult>,
    moves: Option<SetMoves>,
    is_void: bool,
    is_alike: bool,
}

#[derive(Clone, Debug)]
pub struct Regression {
    terms: StoppingRules,
    legs: u32,
    sample: Sample,
    /// The sets with a fault of `base`, as [`Regression::with_dropped`] counts them.
    dropped: SetScores,
    tally: Tally,
    /// The sums of the possible scores of the sets that count and of copies which do not; `None` if they are not limited.
    possible: Option<[PossibleScores; 2]>,
    /// Sets played alike that are copies which do not count.
    alike_copies: u32,
    /// Sets that wait for earlier ones.
    waiting: BTreeMap<u32, Complete>,
    verdict: Option<Verdict>,
}

impl Regression {
    /// Creates a run for two or three sides.
    ///
    /// # Errors
    /// If a value is out of its range, or there are not two or three sides.
    pub fn new(terms: StoppingRules, seating: Seating, deals: Deals) -> Result<Regression, Wrong> {
        let fail = |why: String| Err(Wrong::from(why));
        let sides = seating.sides();
        if sides != 2 && sides != 3 {
            return fail(format!("a comparison of two bots needs 2 or 3 sides, not {sides}"));
        }
        if !(0.0..=1.0).contains(&terms.max_fault_rate) {
            return fail(format!("a fault rate of {} is not from 0 to 1", terms.max_fault_rate));
        }
        if terms.max_sets == 0 || terms.max_repeats == 0 {
            return fail("at least one set and one repeat are needed".to_owned());
        }
        let legs = deals.legs(seating) as u32;
        let empty = SetScores::new(legs, sides as u32 - 1);
        Ok(Regression {
            terms,
            legs,
            sample: Sample::new(empty.clone()),
            dropped: empty,
            tally: Tally::default(),
            possible: (sides == 3).then_some([PossibleScores::NONE; 2]),
            alike_copies: 0,
            waiting: BTreeMap::new(),
            verdict: None,
        })
    }

    /// Draws openings at random for each set, if `are_drawn`, instead of taking them from a list in turn.
    #[must_use]
    pub fn with_drawn_openings(self, are_drawn: bool) -> Regression {
        Regression { sample: self.sample.with_drawn_openings(are_drawn), ..self }
    }

    pub fn scores(&self) -> &SetScores {
        self.sample.scores()
    }

    /// The scores that count, and the sets with a fault of `base` as if it had won each match with one; `None` if no set was
    /// dropped.
    pub fn with_dropped(&self) -> Option<SetScores> {
        (self.tally.dropped > 0).then(|| {
            let mut all = self.scores().clone();
            all.take_all(&mut self.dropped.clone());
            all
        })
    }

    /// Returns the sets by opening.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    /// The limits of the mean score of the sets that count, if they are not 0 and 1.
    pub fn possible_scores(&self) -> Option<PossibleScores> {
        let sets = f64::from(self.tally.counted);
        let [sum, _] = self.possible.filter(|_| sets > 0.0)?;
        Some(PossibleScores { least: sum.least / sets, most: sum.most / sets })
    }

    /// The numbers of sets, matches and faults.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The verdict; `None` while the run continues.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    pub fn terms(&self) -> &StoppingRules {
        &self.terms
    }

    /// The log-likelihood ratio; `None` in a run of fixed length.
    pub fn llr(&self) -> Option<f64> {
        self.terms.sprt.map(|sprt| sprt.llr(self.scores()))
    }

    /// Adds a complete set by its number, from 1; `moves` only if sets can repeat. It is judged once all earlier sets
    /// are; after the verdict no set is. Returns the sets that are judged now.
    pub fn add(&mut self, set: u32, matches: Vec<MatchResult>, moves: Option<SetMoves>) -> Vec<JudgedSet> {
        self.take_in(set, Complete { matches, moves, is_void: false, is_alike: false })
    }

    /// Adds a set as [`Regression::add`] does, whose matches all have the same moves, seat by seat, and no fault.
    pub fn add_alike(
        &mut self,
        set: u32,
        matches: Vec<MatchResult>,
        moves: Option<SetMoves>,
    ) -> Vec<JudgedSet> {
        self.take_in(set, Complete { matches, moves, is_void: false, is_alike: true })
    }

    /// Adds a set with a void match. Only its faults count.
    pub fn add_void(&mut self, set: u32, matches: Vec<MatchResult>) -> Vec<JudgedSet> {
        self.take_in(set, Complete { matches, moves: None, is_void: true, is_alike: false })
    }

    /// Adds the matches of a set in the last of which `new` crashed: the run has failed. Their faults count.
    pub fn add_crash(&mut self, matches: &[MatchResult]) {
        if self.verdict.is_none() {
            self.count_faults(matches);
            self.verdict = Some(Verdict::Crashed);
        }
    }

    /// The bounds if all sets were played alike and without faults; `None` without a test, or if a set differs.
    pub fn alike(&self) -> Option<SetsPlayedAlike> {
        let Tally { counted, alike, faulty, .. } = self.tally;
        let sprt = self.terms.sprt.filter(|_| alike > 0 && alike == counted && faulty == 0)?;
        let (_, needed, error) =
            Regression::alike_verdict(&sprt).unwrap_or((Verdict::AtLimit, 0.0, sprt.alpha()));
        let even = error.powf(f64::from(alike).recip());
        let needed_sets = (needed > 0.0).then(|| error.ln() / sprt.most_even(self.scores(), needed).ln());
        Some(SetsPlayedAlike {
            sets: alike,
            confidence: 1.0 - error,
            differing: 1.0 - even,
            elo: sprt.least_elo(self.scores(), even),
            elo_model: sprt.model(),
            needed_sets: needed_sets.map(|sets| sets.ceil() as u32),
        })
    }

    /// The verdict to which sets that are played alike lead, the difference that they have to exclude, and the
    /// probability of an error; `None` if equality lies between H0 and H1.
    fn alike_verdict(sprt: &Sprt) -> Option<(Verdict, f64, f64)> {
        match (sprt.elo0(), sprt.elo1()) {
            (worst, best) if worst < 0.0 && best <= 0.0 => Some((Verdict::PassedAlike, -worst, sprt.alpha())),
            (worst, best) if worst >= 0.0 && best > 0.0 => Some((Verdict::FailedAlike, best, sprt.beta())),
            _ => None,
        }
    }

    fn take_in(&mut self, set: u32, complete: Complete) -> Vec<JudgedSet> {
        self.waiting.insert(set, complete);
        let mut judged = Vec::new();
        while self.verdict.is_none()
            && let Some(complete) = self.waiting.remove(&(self.tally.sets + 1))
        {
            judged.push(self.judge(&complete));
        }
        judged
    }

    /// Counts matches and their faults. Returns the number of matches with a fault of `base`.
    fn count_faults(&mut self, matches: &[MatchResult]) -> u32 {
        self.tally.matches += matches.len() as u32;
        let with_fault = |of: Entrant| matches.iter().filter(|result| result.is_fault_of(of)).count() as u32;
        let (of_new, of_base) = (with_fault(NEW), with_fault(BASE));
        self.tally.faults_of_new += of_new;
        self.tally.faults_of_base += of_base;
        let is_faulty = |result: &&MatchResult| result.is_fault_of(NEW) || result.is_fault_of(BASE);
        self.tally.faulty += matches.iter().filter(is_faulty).count() as u32;
        of_base
    }

    fn judge(&mut self, &Complete { ref matches, moves, is_void, is_alike }: &Complete) -> JudgedSet {
        self.tally.sets += 1;
        let of_base = self.count_faults(matches);
        let score = score(matches, false);
        let fate = if is_void {
            self.tally.void += 1;
            Fate::Void
        } else if of_base > 0 {
            self.tally.dropped += 1;
            self.dropped.add(self::score(matches, true));
            Fate::Dropped
        } else {
            let counts = self.sample.add(score, moves);
            let alike = if counts { &mut self.tally.alike } else { &mut self.alike_copies };
            *alike += u32::from(is_alike);
            self.possible = self.possible.zip(PossibleScores::of(matches)).map(|(mut sums, set)| {
                sums[usize::from(!counts)].add(set);
                sums
            });
            if self.sample.copies() == 0 {
                self.tally.alike += std::mem::take(&mut self.alike_copies);
                if let Some([counted, copies]) = &mut self.possible {
                    counted.add(std::mem::replace(copies, PossibleScores::NONE));
                }
            }
            self.tally.counted = self.scores().sets() as u32;
            self.tally.repeated = self.sample.copies() as u32;
            self.tally.distinct_sets = self.sample.distinct_sets() as u32;
            self.tally.openings = self.sample.openings() as u32;
            if counts { Fate::Counted } else { Fate::Repeated }
        };
        let llr = self.llr();
        self.verdict = self.decide(llr);
        let Tally { sets, distinct_sets, openings, .. } = self.tally;
        let difference = self.scores().estimate().filter(|_| distinct_sets > 1);
        JudgedSet { set: sets, fate, score, llr, difference, distinct_sets, openings }
    }

    fn decide(&self, llr: Option<f64>) -> Option<Verdict> {
        let all_sets = Tally { matches: self.terms.max_sets.saturating_mul(self.legs), ..self.tally };
        if all_sets.exceeds(self.terms.max_fault_rate) || self.has_too_many_faults() {
            return Some(Verdict::Invalid);
        }
        let alike = self.alike().zip(self.terms.sprt.as_ref().and_then(Regression::alike_verdict));
        let decided = match alike {
            Some((alike, (verdict, ..))) => {
                alike.needed_sets.filter(|&needed| alike.sets >= needed).map(|_| verdict)
            }
            None => self.terms.sprt.zip(llr).and_then(|(sprt, llr)| match sprt.decide(llr) {
                TestState::AcceptH1 => {
                    let with_dropped = self.with_dropped().map(|scores| sprt.decide(sprt.llr(&scores)));
                    match with_dropped.unwrap_or(TestState::AcceptH1) {
                        TestState::AcceptH1 => Some(Verdict::Passed),
                        TestState::AcceptH0 => Some(Verdict::OnlyWithoutFaults),
                        TestState::Continue => None,
                    }
                }
                TestState::AcceptH0 => Some(Verdict::Failed),
                TestState::Continue => None,
            }),
        };
        let is_last = self.tally.sets >= self.terms.max_sets;
        let verdict = match decided {
            Some(verdict) => verdict,
            _ if is_last && self.terms.sprt.is_none() => Verdict::Measured,
            _ if is_last => Verdict::AtLimit,
            _ if self.sample.copies_in_a_row() >= self.terms.max_repeats => Verdict::OnlyRepeats,
            _ => return None,
        };
        Some(if self.tally.exceeds(self.terms.max_fault_rate) { Verdict::Invalid } else { verdict })
    }

    /// Returns whether bots with a fault rate at the limit would hardly have made that many.
    fn has_too_many_faults(&self) -> bool {
        let rate = f64::from(self.tally.faulty) / f64::from(self.tally.matches.max(1));
        let limit = self.terms.max_fault_rate;
        if rate <= limit {
            return false;
        }
        let part = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
        let divergence = part(rate, limit) + part(1.0 - rate, 1.0 - limit);
        f64::from(self.tally.matches) * divergence >= -TOO_UNLIKELY.ln()
    }
}

/// The probability at which bots with a fault rate at the limit may be judged to exceed it.
const TOO_UNLIKELY: f64 = 1e-6;

/// The score of `new` in a set. `base_wins`: whether `base` wins the matches with a fault of its own.
fn score(matches: &[MatchResult], base_wins: bool) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for result in matches {
        let is_new = |side: usize| result.lineup.side(side).any(|entrant| entrant == NEW);
        for (side, other) in result.comparisons().filter(|&(side, _)| is_new(side)) {
            let is_lost = result.is_faulted(side) || base_wins && result.is_faulted(other);
            sum += if is_lost { 0.0 } else { result.against(side, other) };
            count += 1;
        }
    }
    sum / f64::from(count.max(1))
}
