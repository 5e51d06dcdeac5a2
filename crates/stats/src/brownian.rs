//! Brownian motion between two barriers: an approximation of the log-likelihood ratio of a sequential test.
//!
//! D. Siegmund, *Sequential Analysis*, 1985, chapter 3; T. W. Anderson, *A modification of the sequential probability
//! ratio test to reduce the sample size*, Annals of Mathematical Statistics 31 (1960), 165-197.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The standard normal distribution.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Mills's ratio for `x` of at least 0: the probability above `x` over the density.
fn mills(x: f64) -> f64 {
    if x < 6.0 {
        normal_cdf(-x) / normal_density(x)
    } else {
        1.0 / (1..=30).rev().fold(x, |fraction, k| x + f64::from(k) / fraction)
    }
}

/// A Brownian motion that starts at 0 and ends at the first barrier that it reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Motion {
    /// The mean increment per unit of time.
    pub(super) drift: f64,
    /// The variance, above 0.
    pub(super) variance: f64,
    /// Below 0.
    pub(super) lower: f64,
    /// Above 0.
    pub(super) upper: f64,
}

impl Motion {
    /// The probability that it ends at the upper barrier by `time`.
    ///
    /// The series of first passages to the images of the barrier. All terms are at most 1, which requires a drift
    /// towards the barrier; an opposite drift m multiplies the result by exp(2 m upper / variance).
    pub(super) fn up_by(&self, time: f64) -> f64 {
        let Motion { drift, variance, upper, .. } = *self;
        let width = self.width();
        if time <= 0.0 {
            return 0.0;
        }
        if variance * time > 100.0 * width * width {
            return self.up();
        }
        let (speed, deviation) = (drift.abs(), (variance * time).sqrt());
        let rate = speed / variance;
        let reaches = |level: f64| {
            let (before, beyond) = ((level - speed * time) / deviation, (level + speed * time) / deviation);
            normal_cdf(-before) + normal_density(before) * mills(beyond)
        };
        let mut sum = reaches(upper);
        for image in 1..100 {
            let shift = 2.0 * f64::from(image) * width;
            let less = (-rate * (shift - 2.0 * upper)).exp() * reaches(shift - upper);
            sum += (-rate * shift).exp() * reaches(shift + upper) - less;
            if less < 1e-15 {
                break;
            }
        }
        let against = if drift < 0.0 { (-2.0 * rate * upper).exp() } else { 1.0 };
        (against * sum).clamp(0.0, 1.0)
    }

    /// The probability that it ends at the lower barrier by `time`.
    pub(super) fn down_by(&self, time: f64) -> f64 {
        Motion { drift: -self.drift, lower: -self.upper, upper: -self.lower, ..*self }.up_by(time)
    }

    /// The probability that it has not ended at `time` and is at `level` or above: its density by the method of
    /// images, integrated by Simpson's rule.
    pub(super) fn at_least(&self, level: f64, time: f64) -> f64 {
        let Motion { drift, variance, lower, upper } = *self;
        let (width, deviation) = (self.width(), (variance * time).sqrt());
        let from = level.max(lower).max(drift * time - 9.0 * deviation);
        let to = upper.min(drift * time + 9.0 * deviation);
        if from >= to || deviation > 3.0 * width {
            return 0.0;
        }
        let density = |x: f64| {
            let image = |at: f64| {
                let tilt = (drift * x - 0.5 * drift * drift * time) / variance;
                (tilt - 0.5 * (x - at) * (x - at) / (variance * time)).exp()
            };
            let shifts = (-12..=12).map(|image| 2.0 * f64::from(image) * width);
            shifts.map(|shift| image(shift) - image(2.0 * upper + shift)).sum::<f64>()
        };
        // Points are denser at both ends: with a fast drift the density drops to 0 just before a barrier.
        const STEPS: u32 = 200;
        let part = |at: u32| {
            let u = f64::from(at) / f64::from(STEPS);
            let weight = if at.is_multiple_of(2) { 2.0 } else { 4.0 };
            weight * 6.0 * u * (1.0 - u) * density(from + (to - from) * u * u * (3.0 - 2.0 * u))
        };
        // The first and the last point have weight 0.
        let sum: f64 = (1..STEPS).map(part).sum();
        let scale = (to - from) / f64::from(STEPS) / 3.0;
        (sum * scale / (deviation * (2.0 * PI).sqrt())).clamp(0.0, 1.0)
    }

    /// The probability that it ends at the upper barrier.
    fn up(&self) -> f64 {
        let Motion { lower, upper, .. } = *self;
        let (slope, width) = (2.0 * self.drift / self.variance, self.width());
        if (slope * width).abs() < 1e-9 {
            -lower / width
        } else if slope > 0.0 {
            (slope * lower).exp_m1() / (-slope * width).exp_m1()
        } else {
            (slope * upper).exp() * (-slope * lower).exp_m1() / (slope * width).exp_m1()
        }
    }

    /// The mean time at which it ends.
    pub(super) fn mean_time(&self) -> f64 {
        let Motion { drift, variance, lower, upper } = *self;
        if (drift * self.width() / variance).abs() < 1e-6 {
            return -lower * upper / variance;
        }
        (self.up() * upper + (1.0 - self.up()) * lower) / drift
    }

    fn width(&self) -> f64 {
        self.upper - self.lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A random walk in steps of `dt` = 1/2000 that jumps up or down by a deviation, computed exactly. Its barriers
    /// are whole numbers of jumps away, so that it does not overshoot.
    fn walk(drift: f64, [below, above]: [i32; 2], steps: usize, level: i32) -> [f64; 3] {
        let dt: f64 = 1.0 / 2000.0;
        let up = 0.5 * (1.0 + drift * dt.sqrt());
        let mut at = vec![0.0; (above - below + 1) as usize];
        at[-below as usize] = 1.0;
        let (mut high, mut low) = (0.0, 0.0);
        for _ in 0..steps {
            let mut next = vec![0.0; at.len()];
            for here in 1..at.len() - 1 {
                next[here + 1] += up * at[here];
                next[here - 1] += (1.0 - up) * at[here];
            }
            high += std::mem::take(&mut next[at.len() - 1]);
            low += std::mem::take(&mut next[0]);
            at = next;
        }
        // Every other position is impossible: half of the probability at the level counts.
        let place = (level - below) as usize;
        [high, low, at[place + 1..].iter().sum::<f64>() + 0.5 * at[place]]
    }

    #[test]
    fn passages_agree_with_a_fine_random_walk() {
        let unit = 2000f64.sqrt().recip();
        for (drift, barriers, steps, level) in [
            (0.0, [-45, 45], 1200, 4),
            (1.5, [-45, 31], 1000, -10),
            (-2.0, [-45, 45], 1600, 0),
            (6.0, [-45, 90], 600, 70),
            (0.3, [-22, 90], 6000, 10),
            (-4.0, [-100, 22], 300, -30),
        ] {
            let [lower, upper] = barriers.map(|jumps| f64::from(jumps) * unit);
            let motion = Motion { drift, variance: 1.0, lower, upper };
            let time = steps as f64 / 2000.0;
            let walked = walk(drift, barriers, steps, level);
            let found =
                [motion.up_by(time), motion.down_by(time), motion.at_least(f64::from(level) * unit, time)];
            for (found, walked) in found.iter().zip(walked) {
                assert!((found - walked).abs() < 2e-3, "{motion:?}: {found}, not {walked}");
            }
        }
    }

    #[test]
    fn all_outcomes_have_a_total_probability_of_one() {
        for drift in [-40.0, -3.0, -1e-12, 0.0, 0.2, 5.0, 1000.0] {
            for (lower, upper, variance) in [(-1.0, 1.0, 1.0), (-0.1, 3.0, 0.01), (-2.9, 2.9, 40.0)] {
                let motion = Motion { drift, variance, lower, upper };
                for time in [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e4, 1e9] {
                    let parts = [motion.up_by(time), motion.down_by(time), motion.at_least(lower, time)];
                    assert!(
                        (parts.iter().sum::<f64>() - 1.0).abs() < 1e-5,
                        "{motion:?} at {time}: {parts:?}"
                    );
                }
                assert!((motion.up() - motion.up_by(1e9)).abs() < 1e-9, "{motion:?}");
            }
        }
        let mean = |drift| Motion { drift, variance: 1.0, lower: -1.0, upper: 2.0 }.mean_time();
        assert!(
            (mean(0.0) - 2.0).abs() < 1e-12
                && (mean(1e-5) - 2.0).abs() < 1e-3
                && (mean(50.0) - 0.04).abs() < 1e-9
        );
    }
}
