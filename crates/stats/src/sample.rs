//! The sets of a comparison of two bots, by opening: which of them count, and what they say of other openings.
//!
//! **Copies**: a set with the moves of an earlier one. If both bots are deterministic given the opening, copies say nothing
//! new, and each opening counts once for each order of the seats. Whether they are is seen in the moves: once an opening has given two different sets,
//! all sets count, also the copies before. Leaving out copies then would leave out the results of some kinds of matches: a
//! quick loss has the same moves each time, a long match has not.
//!
//! **Population**: the scores of sets that are each on an opening of their own are independent, and speak of openings like
//! these. So are those of sets that each draw an opening at random, also where two have drawn the same one by chance. Once the
//! openings of a list are played again, the scores speak of the openings that were played: each is played about as often as
//! the others, so the variance of the mean is at most that of independent sets. Of openings like these there are then
//! fewer observations than sets: the sets on one opening are one cluster ([`Sample::of_openings_like_these`]).

use std::collections::{BTreeMap, BTreeSet};

use super::rating::{Estimate, Z95};
use super::sprt::{SetScores, StrengthDifference, logistic_elo, student_95};

pub type MovesDigest = [u8; 32];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetMoves {
    /// Equal for sets with the same opening.
    pub opening: MovesDigest,
    /// Equal for sets with the same opening and the same seats of the bots.
    pub start: MovesDigest,
    /// Equal for sets with the same moves.
    pub all: MovesDigest,
}

/// The moves of a match, in few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchMoves {
    /// Equal for matches with the same opening.
    pub opening: u64,
    /// Equal for matches with the same moves.
    pub all: u64,
}

impl From<SetMoves> for MatchMoves {
    fn from(SetMoves { opening, all, .. }: SetMoves) -> MatchMoves {
        let [opening, all] = [opening, all].map(|digest| {
            let [first, ..] = digest.as_chunks().0 else { unreachable!("a digest has 32 bytes") };
            u64::from_le_bytes(*first)
        });
        MatchMoves { opening, all }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    sets: f64,
    /// The sum of the scores of the sets.
    score: f64,
}

/// Sets with their openings.
#[derive(Clone, Debug)]
pub struct Sample {
    scores: SetScores,
    /// Copies that do not count.
    copies: SetScores,
    /// By moves, and by score: a fault can change the result without a move.
    distinct: BTreeSet<(MovesDigest, u64)>,
    openings: BTreeMap<MovesDigest, Cluster>,
    starts: BTreeSet<MovesDigest>,
    /// Whether each set draws its opening, independently of others.
    are_drawn: bool,
    /// Whether an opening has given two different sets.
    is_varied: bool,
    copies_in_a_row: u32,
}

impl Sample {
    /// Creates an empty sample of sets of this kind.
    pub fn new(empty: SetScores) -> Sample {
        Sample {
            copies: empty.clone(),
            scores: empty,
            distinct: BTreeSet::new(),
            openings: BTreeMap::new(),
            starts: BTreeSet::new(),
            are_drawn: false,
            is_varied: false,
            copies_in_a_row: 0,
        }
    }

    /// Notes that openings are drawn at random for each set, if `are_drawn`, and not taken from a list in turn.
    #[must_use]
    pub fn with_drawn_openings(self, are_drawn: bool) -> Sample {
        Sample { are_drawn, ..self }
    }

    /// Adds a set with a score from 0 to 1; `moves` only if sets can share openings. Returns whether it counts for now.
    pub fn add(&mut self, score: f64, moves: Option<SetMoves>) -> bool {
        let Some(SetMoves { opening, start, all }) = moves else {
            self.scores.add(score);
            return true;
        };
        let is_copy = !self.distinct.insert((all, score.to_bits()));
        let cluster = self.openings.entry(opening).or_default();
        let is_new_start = self.starts.insert(start);
        self.is_varied |= !is_copy && !is_new_start;
        cluster.sets += 1.0;
        cluster.score += score;
        if is_copy && !self.is_varied {
            self.copies.add(score);
            self.copies_in_a_row += 1;
            return false;
        }
        self.copies_in_a_row = 0;
        self.scores.add(score);
        if self.is_varied {
            self.scores.take_all(&mut self.copies);
        }
        true
    }

    pub fn scores(&self) -> &SetScores {
        &self.scores
    }

    /// The number of copies that do not count.
    pub fn copies(&self) -> u64 {
        self.copies.sets()
    }

    /// The number of copies since the last set that counts.
    pub fn copies_in_a_row(&self) -> u32 {
        self.copies_in_a_row
    }

    /// The number of sets with different moves.
    pub fn distinct_sets(&self) -> u64 {
        if self.openings.is_empty() { self.scores.sets() } else { self.distinct.len() as u64 }
    }

    /// The number of different openings or deals; the start position is one of them.
    pub fn openings(&self) -> u64 {
        if self.openings.is_empty() { self.scores.sets() } else { self.openings.len() as u64 }
    }

    /// Returns whether the scores are valid only for the openings that were played and not of openings like these: sets
    /// that count share openings, other than by chance.
    pub fn is_of_played_openings(&self) -> bool {
        !self.are_drawn && self.openings() < self.scores.sets()
    }

    /// The difference in logistic Elo that is estimated for openings like those that were played, if the scores speak only of these:
    /// `of_played`, with an interval that is wider by as much as the variance between openings demands. `None` if there is
    /// only one opening, or if the scores are valid for openings like these themselves.
    ///
    /// With K openings the variance of the mean score m is K / (K - 1) Σ (n m - x)² / N² over openings with n of the N
    /// sets and a total score of x (K.-Y. Liang, S. L. Zeger, *Biometrika* 73, 1986, 13-22, with the usual correction for
    /// few clusters), and 95% are those of Student's distribution with K - 1 degrees of freedom. It is not taken to be below
    /// that of N independent sets.
    pub fn of_openings_like_these(&self, of_played: &StrengthDifference) -> Option<Estimate> {
        let openings = self.openings.len() as f64;
        if openings < 2.0 || !self.is_of_played_openings() {
            return None;
        }
        let scores = &self.scores;
        let (mean, sets, variance) = (scores.mean(), scores.sets() as f64, scores.variance());
        if scores.is_one_score() {
            // Openings without a difference among them are as many observations.
            let mut one_each = scores.emptied();
            (0..self.openings.len()).for_each(|_| one_each.add(mean));
            return one_each.estimate().map(|difference| difference.elo);
        }
        let squares: f64 = self.openings.values().map(|of| (of.score - of.sets * mean).powi(2)).sum();
        let by_cluster = openings / (openings - 1.0) * squares / (sets * sets);
        let ratio = (by_cluster * sets / variance).max(1.0).sqrt();
        let wider = ratio * student_95(openings - 1.0) / Z95;
        let Estimate { value, low, high } = of_played.score;
        let ends = [value, value + wider * (low - value), value + wider * (high - value)];
        let [value, low, high] = ends.map(|score| logistic_elo(score.clamp(0.0, 1.0)));
        Some(Estimate { value, low, high })
    }
}
