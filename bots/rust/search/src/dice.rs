//! The random number generator of a search.

use referee_game::Uniform;

/// A fast, non-cryptographic source of uniform numbers.
#[derive(Clone, Debug)]
pub struct Dice(fastrand::Rng);

impl Dice {
    /// Creates a deterministic generator from a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(fastrand::Rng::with_seed(seed))
    }

    /// Splits off an independent generator.
    #[must_use]
    pub fn fork(&mut self) -> Dice {
        Dice(self.0.fork())
    }
}

impl Uniform for Dice {
    fn uniform(&mut self, n: u64) -> u64 {
        self.0.u64(..n)
    }
}
