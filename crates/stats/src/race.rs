//! The best of several versions with an error rate, by racing.
//!
//! **Promise.** If a version B exists that scores at least 1/2 on average against every other version, then with a probability of
//! at least 1 - `alpha` the pick is B or scores at least 1 - s(`within`) against B, s(d) = 1 / (1 + 10^(-d / 400)): it is at
//! most `within` logistic Elo weaker. Where versions have strengths, B is the strongest. If there is no such version (A beats
//! B, B beats C, C beats A), the pick is a version that remained, and nothing is promised. The score is the mean
//! score of a set, between 0 and 1; nothing is presumed of its distribution. Sets must be independent, so each draws its
//! opening at random.
//!
//! **Method.** For every version j a gambler bets that j is not B. The stake is multiplied by 1 + λ (m - x) for each set in which
//! j scores x, where λ ≥ 0 is chosen before the set. If E\[x\] ≥ m, whatever happened before, the stake is a nonnegative
//! supermartingale, which ever exceeds c times its start with a probability of at most 1 / c (J. Ville, *Étude critique de la
//! notion de collectif*, 1939; I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting", *Journal
//! of the Royal Statistical Society* B 86 (2024), 1-27, section 4). So looks after every set, and a choice of the next set by the
//! results so far, cost nothing.
//!
//! * A fifth of the capital is bet against m = 1/2, in all sets of j, and eliminates j: it is not B.
//! * The rest is bet against m = s(`within`), in the sets of j against the *anchor*, the version that would be picked. It
//!   shows that j is not better than the anchor by more than `within`. When the n-th anchor is
//!   chosen, new bets begin with 0.8 · 2 · 3^-n of the capital.
//!
//! A version is *out* once its capital, a weighted sum, has reached 1 / `alpha`. The race ends when all but the anchor are out.
//! If the pick is worse than promised, then B is out; for B the sum over the first bets and the bets against bad
//! anchors is a supermartingale that starts with at most 1. That is the whole error: there is no factor for the number of versions.
//!
//! **Bets and pairs** affect the length of a race, not its error. λ is the growth-optimal bet for the scores that are expected from
//! estimated strengths (a ridge regression of the scores of sets) and for their variance so far. The first sets are a round robin; then the anchor
//! plays those versions of which most is to be feared. A round of sets is fixed by the results of earlier rounds, so a
//! race is a pure function of its results.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::Entrant;
use referee_game::Wrong;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RaceTerms {
    /// The loss of strength that the pick may have compared with the best, in logistic Elo; above 0, at most
    /// [`RaceTerms::MAX_WITHIN`].
    pub within: f64,
    /// The probability that it is weaker, above 0, at most 1/2.
    pub alpha: f64,
    /// The maximum number of sets.
    pub max_sets: u32,
}

impl Default for RaceTerms {
    fn default() -> RaceTerms {
        RaceTerms { within: 20.0, alpha: 0.05, max_sets: 100_000 }
    }
}

impl RaceTerms {
    /// The maximum of `within`, in Elo.
    pub const MAX_WITHIN: f64 = 800.0;

    pub(crate) fn check(&self) -> Result<(), Wrong> {
        let wrong = |key, value, range| Err(Wrong::from(format!("{key} = {value}: expected {range}")));
        if !(self.within > 0.0 && self.within <= RaceTerms::MAX_WITHIN) {
            return wrong("within", self.within, "Elo above 0, at most 800");
        }
        if !(self.alpha > 0.0 && self.alpha <= 0.5) {
            return wrong("alpha", self.alpha, "a probability above 0, at most 0.5");
        }
        Ok(())
    }
}

/// The progress of a version in a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RaceState {
    /// The version would be picked.
    Anchor,
    /// The version may be better than the anchor by more than `within`.
    Open,
    /// The version is not better than the anchor by more than `within`.
    NoBetter,
    /// The version is worse than another one.
    Eliminated,
    Withdrawn,
}

#[derive(Clone, Debug)]
struct Runner {
    /// The stake of the bets that it is not best, which began with 1.
    not_best: f64,
    /// The stake of the bets that it is not better than the anchor by more than `within`.
    no_better: f64,
    state: RaceState,
    /// The number of sets after which it was eliminated.
    eliminated_after: Option<u32>,
    /// The estimated strength: the difference of two is the expected score minus 1/2.
    strength: f64,
}

/// The score of one version against another.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    sets: f64,
    /// The sum of score minus 1/2.
    surplus: f64,
}

#[derive(Clone, Debug)]
pub struct Race {
    terms: RaceTerms,
    runners: Vec<Runner>,
    /// By version and opponent.
    scores: Vec<Vec<Score>>,
    anchor: Option<usize>,
    /// The number of anchors so far.
    anchors: i32,
    /// The rounds of the round robin that have been paired.
    rounds: usize,
    sets: u32,
    /// The sum of the squared errors of expected scores.
    errors: f64,
    is_decided: bool,
}

/// The share of the capital that is bet against m = 1/2.
const NOT_BEST: f64 = 0.2;
/// The share of the remaining capital that the next anchor leaves to later ones.
const LATER: f64 = 1.0 / 3.0;
/// The standard deviation of strengths that the estimate presumes, in score.
const SPREAD: f64 = 0.05;
/// The variance of a set's score that is presumed, and the number of sets that this is worth.
const PRIOR: (f64, f64) = (0.08, 10.0);
/// The stake against the anchor from which another one may replace it.
const DOUBT: f64 = 2.0;
/// The share of the sets still needed that another anchor must need at most to replace it.
const GAIN: f64 = 0.8;
/// The minimum number of sets of a round, and the share of all sets that it is at least.
const ROUND: (usize, usize) = (8, 64);

impl Race {
    /// A race of `versions` at the start.
    pub fn new(terms: RaceTerms, versions: usize) -> Race {
        let runner = Runner {
            not_best: 1.0,
            no_better: 1.0,
            state: RaceState::Open,
            eliminated_after: None,
            strength: 0.0,
        };
        Race {
            terms,
            runners: vec![runner; versions],
            scores: vec![vec![Score::default(); versions]; versions],
            anchor: None,
            anchors: 0,
            rounds: 0,
            sets: 0,
            errors: 0.0,
            is_decided: false,
        }
    }

    pub fn terms(&self) -> RaceTerms {
        self.terms
    }

    /// The number of sets that count.
    pub fn sets(&self) -> u32 {
        self.sets
    }

    /// The version that would be picked now; `None` during the round robin.
    pub fn anchor(&self) -> Option<Entrant> {
        self.anchor.map(|anchor| Entrant(anchor as u16))
    }

    /// The version that is picked, once the race is decided.
    pub fn pick(&self) -> Option<Entrant> {
        self.anchor().filter(|_| self.is_decided)
    }

    pub fn state(&self, version: Entrant) -> RaceState {
        self.runners[version.index()].state
    }

    /// Returns whether a version is not picked: it is eliminated, or the race is decided for another one.
    pub fn is_out(&self, version: Entrant) -> bool {
        match self.state(version) {
            RaceState::Eliminated => true,
            RaceState::NoBetter => self.is_decided,
            _ => false,
        }
    }

    /// Returns the number of sets after which a version was eliminated.
    pub fn eliminated_after(&self, version: Entrant) -> Option<u32> {
        self.runners[version.index()].eliminated_after
    }

    /// The evidence that a version need not be picked instead of the anchor, from 0; from 1 / `alpha` on it is out.
    pub fn evidence(&self, version: Entrant) -> f64 {
        self.capital(&self.runners[version.index()], self.anchors)
    }

    /// The order of two versions: the one that would be picked, those that may be better, the one against which less is known
    /// first, those that are not better, those that are eliminated, the last one first, and those that have withdrawn.
    pub fn compare(&self, one: Entrant, other: Entrant) -> Ordering {
        let place = |version: Entrant| match self.state(version) {
            RaceState::Anchor => 0,
            RaceState::Open => 1,
            RaceState::NoBetter => 2,
            RaceState::Eliminated => 3,
            RaceState::Withdrawn => 4,
        };
        let evidence = || self.evidence(one).total_cmp(&self.evidence(other));
        let later = self.eliminated_after(other).cmp(&self.eliminated_after(one));
        place(one).cmp(&place(other)).then(later).then_with(evidence)
    }

    /// Counts a set: the score of the first version, from 0 to 1.
    pub fn add(&mut self, pair: [Entrant; 2], score: f64) {
        let [one, other] = pair.map(Entrant::index);
        self.sets += 1;
        let (variance, limit) = (self.variance(), self.limit());
        let both = [(one, other, score), (other, one, 1.0 - score)];
        let expected = both.map(|(of, against, _)| self.expected(of, against));
        for ((of, against, score), expected) in both.into_iter().zip(expected) {
            let is_anchor = self.anchor == Some(against);
            let runner = &mut self.runners[of];
            runner.not_best *= factor(0.5, expected, variance, score);
            if is_anchor {
                runner.no_better *= factor(limit, expected, variance, score);
            }
            let Score { sets, surplus } = &mut self.scores[of][against];
            *sets += 1.0;
            *surplus += score - 0.5;
        }
        self.errors += (score - expected[0]).powi(2);
        for at in [one, other] {
            self.take_out(at);
        }
    }

    /// The mean score of a version that is better by `within`.
    fn limit(&self) -> f64 {
        1.0 / (1.0 + 10f64.powf(-self.terms.within / 400.0))
    }

    /// The score of a set that the strengths let expect.
    fn expected(&self, of: usize, against: usize) -> f64 {
        (0.5 + self.runners[of].strength - self.runners[against].strength).clamp(0.02, 0.98)
    }

    /// The variance of a set's score around the expected one.
    fn variance(&self) -> f64 {
        let (variance, sets) = PRIOR;
        (self.errors + variance * sets) / (f64::from(self.sets) + sets)
    }

    fn capital(&self, runner: &Runner, anchor: i32) -> f64 {
        let share = match anchor {
            0 => 0.0,
            anchor => (1.0 - NOT_BEST) * (1.0 - LATER) * LATER.powi(anchor - 1),
        };
        NOT_BEST * runner.not_best + share * runner.no_better
    }

    /// Takes a version out if the bets suffice. The last version is not eliminated.
    fn take_out(&mut self, at: usize) {
        let enough = self.terms.alpha.recip();
        let runner = &self.runners[at];
        let state = match runner.state {
            RaceState::Eliminated | RaceState::Withdrawn => return,
            _ if NOT_BEST * runner.not_best >= enough && self.remaining().count() > 1 => {
                self.runners[at].eliminated_after = Some(self.sets);
                RaceState::Eliminated
            }
            RaceState::Open if self.capital(runner, self.anchors) >= enough => RaceState::NoBetter,
            _ => return,
        };
        self.runners[at].state = state;
    }

    /// The versions that may be picked.
    fn remaining(&self) -> impl Iterator<Item = usize> {
        let is_out = |state| matches!(state, RaceState::Eliminated | RaceState::Withdrawn);
        (0..self.runners.len()).filter(move |&at| !is_out(self.runners[at].state))
    }

    /// The pairs of the next round, a set each; none if the race is decided. `takes_part`: the versions that have not withdrawn.
    pub fn next_round(&mut self, takes_part: impl Fn(Entrant) -> bool) -> Vec<[Entrant; 2]> {
        for (at, runner) in self.runners.iter_mut().enumerate() {
            runner.state = match (takes_part(Entrant(at as u16)), runner.state) {
                (false, _) => RaceState::Withdrawn,
                (true, RaceState::Withdrawn) if runner.eliminated_after.is_some() => RaceState::Eliminated,
                (true, RaceState::Withdrawn) => RaceState::Open,
                (true, state) => state,
            };
        }
        self.estimate();
        let pairs = loop {
            let Some(pairs) = self.round_robin() else { break self.against_anchor() };
            if !pairs.is_empty() {
                break pairs;
            }
        };
        let has_anchor = self.anchor.is_some_and(|anchor| self.runners[anchor].state == RaceState::Anchor);
        self.is_decided = pairs.is_empty() && has_anchor;
        pairs.into_iter().map(|pair| pair.map(|at| Entrant(at as u16))).collect()
    }

    /// The next round of the round robin (the circle method); `None` after the last. Two versions need none.
    fn round_robin(&mut self) -> Option<Vec<[usize; 2]>> {
        let places = self.runners.len().next_multiple_of(2);
        let round = self.rounds;
        if places == 2 || round + 1 >= places {
            return None;
        }
        self.rounds += 1;
        let turn = |at: usize| (round + at) % (places - 1);
        let pair = |at: usize| [if at == 0 { places - 1 } else { turn(at) }, turn(places - 1 - at)];
        let is_in = |at: &usize| self.remaining().any(|remaining| remaining == *at);
        Some((0..places / 2).map(pair).filter(|pair| pair.iter().all(is_in)).collect())
    }

    /// A round of the anchor against the open versions, those with the greatest upper bound first.
    fn against_anchor(&mut self) -> Vec<[usize; 2]> {
        let needed = |race: &Race, at: usize| race.sets_needed(at);
        let best = self.remaining().min_by(|&one, &other| needed(self, one).total_cmp(&needed(self, other)));
        let Some(best) = best else { return Vec::new() };
        let stays = self.anchor.filter(|&anchor| {
            let is_in = self.remaining().any(|at| at == anchor);
            let is_doubted =
                self.runners[anchor].not_best >= DOUBT && needed(self, best) < GAIN * needed(self, anchor);
            is_in && !is_doubted
        });
        let anchor = stays.unwrap_or_else(|| self.begin_anchor(best));
        let (variance, scores) = (self.variance(), &self.scores[anchor]);
        let bound = |at: usize| self.runners[at].strength + (variance / (scores[at].sets + 5.0)).sqrt();
        let mut open: Vec<usize> =
            self.remaining().filter(|&at| self.runners[at].state == RaceState::Open).collect();
        open.sort_by(|&one, &other| bound(other).total_cmp(&bound(one)));
        let (least, share) = ROUND;
        let size = least.max(self.sets as usize / share);
        open.truncate(size);
        let times = size.div_ceil(open.len().max(1));
        let pair = |time: usize, at: usize| if time.is_multiple_of(2) { [anchor, at] } else { [at, anchor] };
        (0..times).flat_map(|time| open.iter().map(move |&at| pair(time, at))).collect()
    }

    fn begin_anchor(&mut self, anchor: usize) -> usize {
        self.anchor = Some(anchor);
        self.anchors += 1;
        for runner in &mut self.runners {
            runner.no_better = 1.0;
            if matches!(runner.state, RaceState::Anchor | RaceState::NoBetter) {
                runner.state = RaceState::Open;
            }
        }
        self.runners[anchor].state = RaceState::Anchor;
        anchor
    }

    /// About how many sets decide the race with this anchor.
    fn sets_needed(&self, anchor: usize) -> f64 {
        let (is_anchor, variance, slack) = (self.anchor == Some(anchor), self.variance(), self.limit() - 0.5);
        let number = self.anchors + i32::from(!is_anchor);
        let others = self.remaining().filter(|&at| at != anchor);
        let others = others.map(|at| &self.runners[at]);
        let open = others.filter(|runner| !(is_anchor && runner.state == RaceState::NoBetter));
        open.map(|runner| {
            let no_better = if is_anchor { runner.no_better } else { 1.0 };
            let capital = self.capital(&Runner { no_better, ..runner.clone() }, number);
            let edge = (slack - runner.strength + self.runners[anchor].strength).max(0.1 * slack);
            // The approximate gain per set of the growth-optimal bet.
            let gain = edge * edge / (2.0 * (variance + edge * edge));
            (self.terms.alpha * capital).recip().ln().max(0.0) / gain
        })
        .sum()
    }

    /// Estimates the strengths by Gauss-Seidel steps from the last estimate.
    fn estimate(&mut self) {
        let ridge = self.variance() / (SPREAD * SPREAD);
        for _ in 0..4 {
            for at in 0..self.runners.len() {
                let (mut sum, mut weight) = (0.0, ridge);
                for (score, other) in self.scores[at].iter().zip(&self.runners) {
                    sum += score.surplus + score.sets * other.strength;
                    weight += score.sets;
                }
                self.runners[at].strength = sum / weight;
            }
        }
    }
}

/// The factor of the stake that bets on a mean score below `mean`, for a set with this expected and this real score.
fn factor(mean: f64, expected: f64, variance: f64, score: f64) -> f64 {
    let edge = (mean - expected).max(0.0);
    let bet = (edge / (variance + edge * edge)).min(0.9 / (1.0 - mean));
    1.0 + bet * (mean - score)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reason why a stake is a nonnegative supermartingale, whatever is expected: the factor is positive
    /// and falls evenly from score to score, and is 1 at the limit.
    #[test]
    fn no_bet_gains_while_mean_is_not_below_limit() {
        let grid = || (0..=20).map(|part| f64::from(part) / 20.0);
        for (limit, expected, variance) in grid().flat_map(|limit| {
            grid().flat_map(move |expected| [1e-4, 0.01, 0.25].map(|variance| (limit, expected, variance)))
        }) {
            let at = |score| factor(limit, expected, variance, score);
            let slope = at(1.0) - at(0.0);
            assert!(at(1.0) > 0.0 && slope <= 0.0, "{limit} {expected} {variance}");
            for score in grid() {
                assert!((at(score) - 1.0 - slope * (score - limit)).abs() < 1e-9);
            }
        }
    }
}
