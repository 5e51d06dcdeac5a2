//! Where the chance of a search comes from.

use referee::core::Uniform;

/// A source of uniform numbers that is fast, and good enough to try things out.
#[derive(Clone, Debug)]
pub struct Dice(fastrand::Rng);

impl Dice {
    /// The dice of a seed: always the same.
    pub fn new(seed: u64) -> Dice {
        Dice(fastrand::Rng::with_seed(seed))
    }

    /// Dice of their own, which these give away.
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
