//! Local search for balanced schedules: threshold accepting (G. Dueck and T. Scheuer, "Threshold accepting", Journal of
//! Computational Physics 90 (1990), 161-175).
//!
//! All numbers are integers and the pseudorandom numbers start from a constant, so that the same input gives the same
//! schedule on every machine. The work is bounded by the number of steps, not by time: at most 1,920 per match and 48,000 in
//! one search.

const ROUNDS: usize = 4;

/// The steps of a round with one threshold, per match.
const STEPS: usize = 60;

/// The maximum of these steps for all matches together.
const MAX_STEPS: usize = 1500;

/// The increase of the cost allowed to a step of each part of a round. A round ends with steps that do not raise it.
const THRESHOLDS: [i64; 8] = [6, 4, 2, 2, 0, 0, 0, 0];

pub(super) trait LocalSearch: Clone {
    /// The unit of the thresholds.
    const SCALE: i64;

    fn cost(&self) -> i64;

    /// The number of matches that it can change.
    fn matches(&self) -> usize;

    /// A lower bound of the cost, at which the search ends.
    fn least(&self) -> i64;

    /// Tries a random change, and keeps it if it raises the cost by at most `threshold`.
    fn step(&mut self, random: &mut SplitMix, threshold: i64);
}

/// Returns the best state found. `budget`: the number of steps that the whole schedule may still take.
pub(super) fn improved<S: LocalSearch>(start: S, budget: &mut u32) -> S {
    let (mut best, mut search) = (start.clone(), start);
    let mut random = SplitMix(1);
    let steps = MAX_STEPS.min(STEPS * search.matches());
    for _ in 0..ROUNDS {
        for threshold in THRESHOLDS.map(|threshold| threshold * S::SCALE) {
            for _ in 0..steps {
                if search.cost() <= search.least() || *budget == 0 {
                    return if search.cost() < best.cost() { search } else { best };
                }
                *budget -= 1;
                search.step(&mut random, threshold);
            }
        }
        if search.cost() < best.cost() {
            best = search.clone();
        }
    }
    best
}

/// The least sum of squares of `parts` counts with this total.
pub(super) fn least_squares(total: u64, parts: u64) -> i64 {
    let (each, rest) = (total / parts, total % parts);
    (each * each * (parts - rest) + (each + 1) * (each + 1) * rest) as i64
}

/// The generator SplitMix64 (G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", 2014).
pub(super) struct SplitMix(u64);

impl SplitMix {
    /// A number below `n`, which is at most 2^32.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (((mixed >> 32) * n as u64) >> 32) as usize
    }
}
