//! Tests whether a new version is stronger than its base: the rules around [`super::sprt`].
//!
//! `new` is entrant 0, `base` entrant 1; the sets are those of [`super::schedule::Format::Duel`]. The score of a set is
//! the mean over all its comparisons between a side of `new` and a side of `base`.
//!
//! **Faults must not look like strength.** A set in which `base` made a fault is dropped. If `new` made one, it has
//! lost, whatever the result of the match. Both count towards the fault rate: matches with a fault over all matches.
//! It is checked when the test would end; a rate above the limit makes the run invalid. The run becomes invalid early
//! if the rate will exceed the limit even without faults in the rest of `max_sets`, or if bots with a fault rate at
//! the limit would make that many faults with a probability below 10⁻⁶ (the bound of H. Chernoff, *Annals of
//! Mathematical Statistics* 23, 1952, 493-507): a base that crashes in every match ends the run after four of them.
//!
//! **A crash of `new`**, reported with [`Regression::add_crash`], fails the run at once.
//!
//! **Sets that both bots play alike**, move for move the same in all matches of the set, are even. If all N sets so far
//! are, and N is at least ln(alpha) / ln(2 s) with s the expected score at `elo0` in logistic Elo, the test passes: if
//! the new version was weaker by that much, at least 2 (1/2 - s) of the sets would not be played alike, even if it lost
//! all of those, and N sets in a row would be alike with a probability of alpha at most. That is the exact binomial bound;
//! it holds in logistic Elo whatever the model of the test, for normalized Elo divides by a deviation that such sets do
//! not have. Where H0 is a difference of 0 or more the same with `elo1` and beta fails the test: the new version is not
//! stronger. One set that counts and is not played alike, or any fault, and the sequential test alone decides.
//!
//! **A set with a void match** does not count. Its faults count towards the fault rate.
//!
//! **Repeated sets contain no information.** A set that repeats the moves of an earlier one does not count. After
//! `max_repeats` of them in a row the verdict is undecided.
//!
//! **Shards** ([`Shard`]) play every n-th set each, without a verdict. Their sets together count in the order of
//! their numbers up to the one that ends the test, as in one run, so the error rates are those of the sequential
//! test.
//!
//! **Order**: sets count in the order of their numbers, not of their ends. Otherwise those that end fast, such as
//! quick losses, would be overrepresented when the test stops, and a resumed run could decide otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::sprt::{Decision, SetScores, Sprt, StrengthDifference, logistic_elo};
use super::{Deals, Entrant, MatchResult};
use crate::core::{Misconfigured, Seating};

/// The version under test.
pub const NEW: Entrant = Entrant(0);

/// The version to compare it with.
pub const BASE: Entrant = Entrant(1);

/// A part of the sets of a run: every `of`th, starting with `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// From 1 to `of`.
    pub number: u32,
    /// The number of shards.
    pub of: u32,
}

impl Shard {
    /// Whether a set, counted from 1, belongs to it.
    pub fn has(self, set: u32) -> bool {
        set > 0 && (set - 1) % self.of == self.number - 1
    }

    /// How many of the first `sets` sets belong to it.
    pub fn count(self, sets: u32) -> u32 {
        (sets + self.of - self.number) / self.of
    }

    /// The index of a set among those of the shard, from 1.
    pub fn place(self, set: u32) -> u32 {
        (set - 1) / self.of + 1
    }

    /// The set at an index, from 1.
    pub fn set(self, place: u32) -> u32 {
        (place - 1) * self.of + self.number
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = Misconfigured;
    fn from_str(text: &str) -> Result<Shard, Misconfigured> {
        let parts =
            text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let shard = parts.map(|(number, of)| Shard { number, of });
        shard.filter(|shard| (1..=shard.of).contains(&shard.number) && shard.of <= 10_000).ok_or_else(|| {
            Misconfigured(format!(
                "invalid shard `{text}`; expected e.g. 2/4: the second of four, at most 10000"
            ))
        })
    }
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRules {
    /// The test; `None` to play `max_sets` and measure.
    pub sprt: Option<Sprt>,
    /// The maximum number of sets, from 1, including dropped and repeated ones.
    pub max_sets: u32,
    /// The maximum share of matches with a fault, from 0 to 1.
    pub max_fault_rate: f64,
    /// The maximum number of repeated sets in a row, from 1.
    pub max_repeats: u32,
}

impl StoppingRules {
    /// With a fault rate of 1% and 100 repeats.
    pub const fn new(sprt: Option<Sprt>, max_sets: u32) -> StoppingRules {
        StoppingRules { sprt, max_sets, max_fault_rate: 0.01, max_repeats: 100 }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// H1 was accepted.
    Passed,
    /// H0 was accepted.
    Failed,
    /// Both play alike, which excludes H0.
    PassedAlike,
    /// Both play alike, which excludes H1.
    FailedAlike,
    /// `new` crashed.
    Crashed,
    /// All sets were played and neither was accepted.
    AtLimit,
    /// The sets repeat moves.
    OnlyRepeats,
    /// All sets of a run of fixed length were played.
    Measured,
    /// Too many faults.
    Invalid,
}

/// The numbers of sets, matches and faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Judged sets.
    pub sets: u32,
    /// Sets that count in the scores.
    pub counted: u32,
    /// Sets dropped because of a fault of `base`.
    pub dropped: u32,
    /// Sets that repeated an earlier one.
    pub repeated: u32,
    /// Sets with a void match.
    pub void: u32,
    /// Counted sets in which both bots played the same moves.
    pub alike: u32,
    /// Matches of the judged sets.
    pub matches: u32,
    /// Matches with a fault of `new`.
    pub faults_of_new: u32,
    /// Matches with a fault of `base`.
    pub faults_of_base: u32,
    /// Matches with a fault of either.
    pub faulty: u32,
}

impl Tally {
    /// The share of matches with a fault.
    pub fn fault_rate(&self) -> f64 {
        f64::from(self.faulty) / f64::from(self.matches.max(1))
    }
}

/// A digest of the moves of a set, equal for sets with the same moves.
pub type Moves = [u8; 32];

/// How a set counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Its score counts.
    Counted,
    /// `base` made a fault in it.
    Dropped,
    /// It repeats the moves of an earlier set.
    Repeated,
    /// One of its matches is void.
    Void,
}

/// A judged set, with the statistics up to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Its number.
    pub set: u32,
    /// How it counts.
    pub fate: Fate,
    /// The score of `new`, from 0 to 1, even if it does not count.
    pub score: f64,
    /// The log-likelihood ratio after it; `None` in a run of fixed length.
    pub llr: Option<f64>,
    /// The estimate from all counted sets; `None` before the first.
    pub difference: Option<StrengthDifference>,
}

/// A complete set.
#[derive(Clone, Debug)]
struct Complete {
    matches: Vec<MatchResult>,
    moves: Option<Moves>,
    is_void: bool,
    is_alike: bool,
}

/// A run in progress.
#[derive(Clone, Debug)]
pub struct Regression {
    terms: StoppingRules,
    legs: u32,
    scores: SetScores,
    tally: Tally,
    seen: BTreeSet<Moves>,
    repeats: u32,
    /// Sets that wait for earlier ones.
    waiting: BTreeMap<u32, Complete>,
    verdict: Option<Verdict>,
}

impl Regression {
    /// Creates a run for two or three sides.
    ///
    /// # Errors
    /// If a value is out of its range, or there are not two or three sides.
    pub fn new(terms: StoppingRules, seating: Seating, deals: Deals) -> Result<Regression, Misconfigured> {
        let fail = |why: String| Err(Misconfigured(why));
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

    /// The numbers of sets, matches and faults.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The verdict; `None` while the run continues.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    /// The rules for its end.
    pub fn terms(&self) -> &StoppingRules {
        &self.terms
    }

    /// The log-likelihood ratio; `None` in a run of fixed length.
    pub fn llr(&self) -> Option<f64> {
        self.terms.sprt.map(|sprt| sprt.llr(&self.scores))
    }

    /// Adds a complete set by its number, from 1; `moves` only if sets can repeat. It is judged once all earlier sets
    /// are; after the verdict no set is. Returns the sets that are judged now.
    pub fn add(&mut self, set: u32, matches: Vec<MatchResult>, moves: Option<Moves>) -> Vec<Judged> {
        self.take_in(set, Complete { matches, moves, is_void: false, is_alike: false })
    }

    /// The same for a set whose matches all have the same moves, seat by seat, and no fault.
    pub fn add_alike(&mut self, set: u32, matches: Vec<MatchResult>, moves: Option<Moves>) -> Vec<Judged> {
        self.take_in(set, Complete { matches, moves, is_void: false, is_alike: true })
    }

    /// Adds a set with a void match. Only its faults count.
    pub fn add_void(&mut self, set: u32, matches: Vec<MatchResult>) -> Vec<Judged> {
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
    pub fn alike(&self) -> Option<Alike> {
        let Tally { counted, alike, faulty, .. } = self.tally;
        let sprt = self.terms.sprt.filter(|_| alike > 0 && alike == counted && faulty == 0)?;
        let error = if sprt.elo0() < 0.0 { sprt.alpha() } else { sprt.beta() };
        let differing = 1.0 - error.powf(f64::from(alike).recip());
        Some(Alike {
            sets: alike,
            confidence: 1.0 - error,
            differing,
            elo: -logistic_elo(0.5 - differing / 2.0),
        })
    }

    /// The verdict from sets that were played alike.
    fn decide_alike(&self) -> Option<Verdict> {
        let sprt = self.terms.sprt?;
        let (verdict, needed) = match (sprt.elo0(), sprt.elo1()) {
            (worst, best) if worst < 0.0 && best <= 0.0 => (Verdict::PassedAlike, -worst),
            (worst, best) if worst >= 0.0 && best > 0.0 => (Verdict::FailedAlike, best),
            // Equality lies between H0 and H1.
            _ => return None,
        };
        self.alike().filter(|alike| alike.elo <= needed).map(|_| verdict)
    }

    fn take_in(&mut self, set: u32, complete: Complete) -> Vec<Judged> {
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

    fn judge(&mut self, &Complete { ref matches, moves, is_void, is_alike }: &Complete) -> Judged {
        self.tally.sets += 1;
        let of_base = self.count_faults(matches);
        let repeats = moves.is_some_and(|moves| !self.seen.insert(moves));
        self.repeats = if repeats { self.repeats + 1 } else { 0 };
        let score = score(matches);
        let fate = if is_void {
            self.tally.void += 1;
            Fate::Void
        } else if of_base > 0 {
            self.tally.dropped += 1;
            Fate::Dropped
        } else if repeats {
            self.tally.repeated += 1;
            Fate::Repeated
        } else {
            self.tally.counted += 1;
            self.tally.alike += u32::from(is_alike);
            self.scores.add(score);
            Fate::Counted
        };
        let llr = self.llr();
        self.verdict = self.decide(llr);
        Judged { set: self.tally.sets, fate, score, llr, difference: self.scores.estimate() }
    }

    fn decide(&self, llr: Option<f64>) -> Option<Verdict> {
        let most = self.terms.max_fault_rate * f64::from(self.terms.max_sets) * f64::from(self.legs);
        if f64::from(self.tally.faulty) > most || self.has_too_many_faults() {
            return Some(Verdict::Invalid);
        }
        let decision = self.terms.sprt.zip(llr).map_or(Decision::Continue, |(sprt, llr)| sprt.decide(llr));
        let is_last = self.tally.sets >= self.terms.max_sets;
        let verdict = match (decision, self.decide_alike()) {
            (_, Some(alike)) => alike,
            (Decision::AcceptH1, _) => Verdict::Passed,
            (Decision::AcceptH0, _) => Verdict::Failed,
            _ if is_last && self.terms.sprt.is_none() => Verdict::Measured,
            _ if is_last => Verdict::AtLimit,
            _ if self.repeats >= self.terms.max_repeats => Verdict::OnlyRepeats,
            _ => return None,
        };
        let is_valid = self.tally.fault_rate() <= self.terms.max_fault_rate;
        Some(if is_valid { verdict } else { Verdict::Invalid })
    }

    /// Whether bots with a fault rate at the limit would hardly have made that many.
    fn has_too_many_faults(&self) -> bool {
        let (rate, limit) = (self.tally.fault_rate(), self.terms.max_fault_rate);
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

/// The bounds from sets that both bots played alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Alike {
    /// The number of sets.
    pub sets: u32,
    /// The confidence of the bounds, from 0 to 1.
    pub confidence: f64,
    /// The maximum share of all sets that may differ.
    pub differing: f64,
    /// The maximum difference either way, if one of the bots wins all of those, in logistic Elo.
    pub elo: f64,
}

/// The score of `new` in a set.
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
        Regression::new(StoppingRules::new(Some(sprt), max_sets), TWO, Deals::Mirrored).unwrap()
    }

    /// The two matches of a set: the ranks of `new` and `base`, and the entrant with a fault in the first.
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
    fn a_fault_of_base_drops_the_set_and_a_fault_of_new_loses() {
        let mut run = run(100_000);
        run.add(1, set(1, WON, Some(BASE)), None);
        assert_eq!((run.scores().sets(), run.tally().dropped), (0, 1));
        // Under the policy `random` it may have won in spite of its fault.
        run.add(2, set(2, WON, Some(NEW)), None);
        assert_eq!(run.scores().counts(), [0, 0, 1, 0, 0]);
        assert_eq!((run.tally().faults_of_new, run.tally().faults_of_base, run.tally().faulty), (1, 1, 2));
    }

    #[test]
    fn a_set_with_a_void_match_counts_only_for_its_faults() {
        let mut run = run(1000);
        run.add(2, set(2, WON, None), None);
        let judged = run.add_void(1, set(1, WON, Some(BASE)));
        assert_eq!(judged.iter().map(|judged| judged.fate).collect::<Vec<_>>(), [Fate::Void, Fate::Counted]);
        assert_eq!((run.scores().sets(), run.tally().void, run.tally().dropped), (1, 1, 0));
        assert_eq!((run.tally().faults_of_base, run.tally().faulty), (1, 1));
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
    fn repeated_sets_do_not_count_and_leave_the_run_undecided() {
        let mut run = run(1000);
        for number in 1..=101 {
            assert_eq!(run.verdict(), None);
            run.add(number, set(number, WON, None), Some([1; 32]));
        }
        assert_eq!((run.tally().counted, run.tally().repeated), (1, 100));
        assert_eq!(run.verdict(), Some(Verdict::OnlyRepeats));
    }

    #[test]
    fn a_fault_rate_above_the_limit_makes_the_run_invalid() {
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
    fn a_base_with_faults_in_every_match_makes_the_run_invalid_after_two_sets() {
        let mut run = run(100_000);
        for number in 1.. {
            let mut legs = set(number, WON, Some(BASE));
            legs[1].faulted = legs[1].lineup.seats_of(BASE);
            run.add(number, legs, None);
            if run.verdict().is_some() {
                break;
            }
        }
        assert_eq!((run.verdict(), run.tally().sets), (Some(Verdict::Invalid), 2));
    }

    #[test]
    fn a_crash_of_new_fails_the_run_at_once_and_counts_as_a_fault() {
        let mut run = run(1000);
        run.add(1, set(1, WON, None), None);
        run.add_crash(&set(2, WON, Some(NEW))[..1]);
        assert_eq!(run.verdict(), Some(Verdict::Crashed));
        assert_eq!((run.tally().sets, run.tally().matches, run.tally().faults_of_new), (1, 3, 1));
        run.add(2, set(2, WON, None), None);
        assert_eq!(run.tally().sets, 1);
    }

    /// The first seat wins both.
    const EVEN: [[u8; 2]; 2] = [[1, 2], [2, 1]];

    /// After how many sets played alike a test in this model ends, and how.
    fn end_of_alike_sets(elo0: f64, elo1: f64, model: EloModel) -> (u32, Verdict) {
        let sprt = Sprt::new(elo0, elo1, 0.05, 0.05, model).unwrap();
        let mut run = Regression::new(StoppingRules::new(Some(sprt), 200), TWO, Deals::Mirrored).unwrap();
        for number in 1.. {
            run.add_alike(number, set(number, EVEN, None), None);
            if let Some(verdict) = run.verdict() {
                return (number, verdict);
            }
        }
        unreachable!()
    }

    #[test]
    fn sets_played_alike_end_the_test_at_the_binomial_bound() {
        use EloModel::Normalized;
        // ln 0.05 / ln(2 / (1 + 10^(50 / 400))) = 19.4, for 10 Elo 102.6, for 20 Elo 50.6.
        assert_eq!(end_of_alike_sets(-50.0, 0.0, Normalized), (20, Verdict::PassedAlike));
        assert_eq!(end_of_alike_sets(-10.0, 0.0, Normalized), (103, Verdict::PassedAlike));
        assert_eq!(end_of_alike_sets(-20.0, -5.0, Normalized), (51, Verdict::PassedAlike));
        assert_eq!(end_of_alike_sets(0.0, 20.0, Normalized), (51, Verdict::FailedAlike));
        assert_eq!(end_of_alike_sets(-5.0, 5.0, Normalized), (200, Verdict::AtLimit));
    }

    #[test]
    fn the_bound_of_sets_played_alike_is_the_exact_binomial_one() {
        let sprt = Sprt::new(-50.0, 0.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        let mut run = Regression::new(StoppingRules::new(Some(sprt), 100), TWO, Deals::Mirrored).unwrap();
        for number in 1..=10 {
            run.add_alike(number, set(number, EVEN, None), None);
        }
        let alike = run.alike().unwrap();
        assert_eq!((alike.sets, alike.confidence), (10, 0.95));
        assert!(((1.0 - alike.differing).powi(10) - 0.05).abs() < 1e-12, "{alike:?}");
        let score = 0.5 - alike.differing / 2.0;
        assert!((score - 1.0 / (1.0 + 10f64.powf(alike.elo / 400.0))).abs() < 1e-12, "{alike:?}");
    }

    #[test]
    fn shards_divide_the_sets_among_them() {
        for (sets, of) in [(10, 3), (9, 3), (2, 4), (7, 1)] {
            let shards: Vec<Shard> =
                (1..=of).map(|number| format!("{number}/{of}").parse().unwrap()).collect();
            for set in 1..=sets {
                let with: Vec<&Shard> = shards.iter().filter(|shard| shard.has(set)).collect();
                assert_eq!((with.len(), with[0].set(with[0].place(set))), (1, set));
            }
            assert_eq!(shards.iter().map(|shard| shard.count(sets)).sum::<u32>(), sets);
        }
        for text in ["0/2", "3/2", "1", "1/0", "a/b", "1/10001"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_set_that_differs_leaves_the_decision_to_the_sequential_test() {
        let sprt = Sprt::new(-50.0, 0.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        for at in [1, 19] {
            let mut run = Regression::new(StoppingRules::new(Some(sprt), 60), TWO, Deals::Mirrored).unwrap();
            for number in 1..=60 {
                if number == at {
                    run.add(number, set(number, EVEN, None), None);
                } else {
                    run.add_alike(number, set(number, EVEN, None), None);
                }
            }
            assert_eq!((run.verdict(), run.alike()), (Some(Verdict::AtLimit), None), "{at}");
        }
    }

    #[test]
    fn a_run_of_fixed_length_is_measured_and_others_end_at_the_limit() {
        let mut fixed = Regression::new(StoppingRules::new(None, 2), TWO, Deals::Mirrored).unwrap();
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
