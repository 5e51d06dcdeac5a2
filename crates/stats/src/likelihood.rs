//! The likeliest distribution of scores under a hypothesis, and the root finder that it is computed with.
//!
//! With q the observed distribution, a hypothesis fixes one number of the true distribution p, and Σ q ln p is to be as
//! great as the hypothesis allows.
//!
//! * **The mean is s**: one linear constraint, E(a - s) = 0 over the scores a. Then p = q / (1 + θ (a - s)): M. Van den
//!   Bergh, *Comparing the approximations for the generalized log likelihood ratio of a multinomial distribution*,
//!   proposition 1.1, <https://www.cantate.be/Fishtest/comparing_approximations.pdf>.
//! * **The mean is t standard deviations above 1/2**: with b = a - 1/2, σ the deviation and t > 0 (t < 0 is the mirror
//!   image), g(p) = E b - t σ = 0. The function g is convex, and the half-space h(p; s) = E[(1 + t²) b - t/2 (b² / s + (1 +
//!   t²) s)] = 0 touches g = 0 where p has the deviation s and the mean 1/2 + t s. So the problem is one of linear
//!   constraints with a single unknown s, with F(s) the greatest value under h(p; s) = 0, and F'(s) has the sign of ±(E
//!   b - t s). Where q is beyond the hypothesis (g(q) > 0), the set g <= 0 that has the solution is convex, each
//!   half-space h <= 0 contains it, and the solution is the one minimum of F. Else it lies in the union of the
//!   half-spaces h >= 0, and it is the greatest of the maxima of F, of which there can be as many as there are scores
//!   above 1/2.

/// Finds a sign change of `f` between `a` and `b`, given with their values, which have different signs.
///
/// The root stays bracketed from the first step to the last, no step comes nearer to an end of the bracket than the
/// tolerance, and the bracket is at most `tolerance` times the root wide when it ends: that is the check of the result.
///
/// T. R. Chandrupatla, *A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without
/// using derivatives*, Advances in Engineering Software 28 (1997), 145-149.
pub(super) fn root(a: (f64, f64), b: (f64, f64), tolerance: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let ((mut a, mut of_a), (mut b, mut of_b)) = (a, b);
    let mut part: f64 = 0.5;
    let mut steps = 0;
    loop {
        let best = if of_a.abs() < of_b.abs() { a } else { b };
        let (width, least) = ((b - a).abs(), tolerance * best.abs() + f64::MIN_POSITIVE);
        // The width is not a number if a value is not.
        if of_a == 0.0 || of_b == 0.0 || width <= least || width.is_nan() {
            return best;
        }
        let margin = (0.5 * least / width).min(0.5);
        let x = a + part.clamp(margin, 1.0 - margin) * (b - a);
        let of_x = f(x);
        let (c, of_c) = if (of_x < 0.0) == (of_a < 0.0) {
            (a, of_a)
        } else {
            let c = (b, of_b);
            (b, of_b) = (a, of_a);
            c
        };
        (a, of_a) = (x, of_x);
        // Inverse quadratic interpolation where the three points allow it, else the middle, as in every late step.
        let (xi, phi) = ((a - b) / (c - b), (of_a - of_b) / (of_c - of_b));
        steps += 1;
        part = if steps < 60 && phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            of_a / (of_b - of_a) * of_c / (of_b - of_c)
                + (c - a) / (b - a) * of_a / (of_c - of_a) * of_b / (of_c - of_b)
        } else {
            0.5
        };
    }
}

/// The likeliest distribution under a hypothesis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Likeliest {
    /// Σ q ln(p / q), from 0 down; minus infinity where no distribution fits.
    pub(super) value: f64,
    /// The probability of each score.
    pub(super) p: Vec<f64>,
}

/// The likeliest with E x = 0, for pairs of q, above 0, and x. Writes it to `p`, and returns the value.
///
/// p = q / (1 + θ x), with θ from Σ q x / (1 + θ x) = 0: a sum that falls between the poles at which a 1 + θ x is 0. It
/// is 0 on the side of θ = 0 given by the sign of Σ q x. The unknown is d = 1 + θ x for the x of the pole on that
/// side, which no rounding can bring to 0: the new probability of that x is q / d, at most 1, so d is from q up to 1.
fn linear(terms: &[(f64, f64)], p: &mut Vec<f64>) -> f64 {
    let mean: f64 = terms.iter().map(|&(q, x)| q * x).sum();
    let sign = if mean > 0.0 { 1.0 } else { -1.0 };
    let pole = terms.iter().fold(0.0f64, |most, &(_, x)| most.max(-sign * x));
    p.clear();
    if mean == 0.0 || pole == 0.0 {
        p.extend(terms.iter().map(|&(q, _)| q));
        return if mean == 0.0 { 0.0 } else { f64::NEG_INFINITY };
    }
    // In units of the pole, which is at -1: 1 + θ x = (1 + y) - d y.
    let scaled = |x: f64| sign * x / pole;
    let least: f64 = terms.iter().filter(|&&(_, x)| scaled(x) == -1.0).map(|&(q, _)| q).sum();
    let constraint = |d: f64| {
        let part = |&(q, x): &(f64, f64)| q * scaled(x) * d / ((1.0 + scaled(x)) - d * scaled(x));
        terms.iter().map(part).sum::<f64>()
    };
    let low = 0.5 * least;
    let d = root((low, constraint(low)), (1.0, mean.abs() / pole), 1e-12, constraint);
    let mut value = 0.0;
    for &(q, x) in terms {
        let by = (1.0 + scaled(x)) - d * scaled(x);
        value -= q * by.ln();
        p.push(q / by);
    }
    value
}

/// The likeliest distribution with a mean of `s`, for `observed` pairs of a score and its probability, above 0.
pub(super) fn with_mean(observed: &[(f64, f64)], s: f64) -> Likeliest {
    let terms: Vec<(f64, f64)> = observed.iter().map(|&(score, q)| (q, score - s)).collect();
    let mut p = Vec::with_capacity(terms.len());
    let value = linear(&terms, &mut p);
    Likeliest { value, p }
}

/// The number of steps in the search for maxima of F. In 20,000 random vectors with |t| up to 4, 24 steps miss the
/// greatest maximum three times, 32 once and 48 never.
const STEPS: i32 = 48;

/// The likeliest distribution whose mean is `t` standard deviations above 1/2. The scores go up in equal steps from 0 to
/// 1.
pub(super) fn with_t(observed: &[(f64, f64)], t: f64) -> Likeliest {
    if t < 0.0 {
        let mirrored: Vec<(f64, f64)> = observed.iter().rev().map(|&(score, q)| (1.0 - score, q)).collect();
        let mut likeliest = with_t(&mirrored, -t);
        likeliest.p.reverse();
        return likeliest;
    }
    if t == 0.0 {
        return with_mean(observed, 0.5);
    }
    let w = 1.0 + t * t;
    let mut terms = vec![(0.0, 0.0); observed.len()];
    let mut p = Vec::with_capacity(observed.len());
    // F(s), and E b - t s.
    let mut at = |s: f64, p: &mut Vec<f64>| {
        for (term, &(score, q)) in terms.iter_mut().zip(observed) {
            let b = score - 0.5;
            *term = (q, w * b - 0.5 * t * (b * b / s + w * s));
        }
        let value = linear(&terms, p);
        let mean: f64 = observed.iter().zip(&*p).map(|(&(score, _), p)| p * (score - 0.5)).sum();
        // Too small an s has no distribution that fits.
        (value, if value == f64::NEG_INFINITY { 1.0 } else { mean - t * s })
    };
    let moment = |power| observed.iter().map(|&(score, q)| q * (score - 0.5f64).powi(power)).sum::<f64>();
    let (first, second) = (moment(1), moment(2));
    let beyond = first * first * w - t * t * second;
    let mut best = Likeliest { value: f64::NEG_INFINITY, p: Vec::new() };
    if first > 0.0 && beyond >= 0.0 {
        // The half-spaces that leave out q are those of an s between two ends; at both the solution is q itself.
        let high = (first + (beyond / w).sqrt()) / t;
        let low = second / w / high;
        let s = root((low, first - t * low), (high, first - t * high), 1e-9, |s| at(s, &mut p).1);
        best.value = at(s, &mut p).0;
        best.p = p;
        return best;
    }
    // A half-space holds a score above 1/2 from the first of these on; no distribution has a greater s than the second.
    let step = 0.5 / ((observed.len() - 1) / 2) as f64;
    let (low, high) = (step * t / (w + w.sqrt()), 0.5 / w.sqrt());
    let mut before = (low, 1.0);
    for step in 1..=STEPS {
        let is_last = step == STEPS;
        let s = if is_last { high } else { low * (high / low).powf(f64::from(step) / f64::from(STEPS)) };
        let here = (s, if is_last { -1.0 } else { at(s, &mut p).1 });
        if before.1 > 0.0 && here.1 <= 0.0 {
            let s = root(before, here, 1e-9, |s| at(s, &mut p).1);
            let value = at(s, &mut p).0;
            if value > best.value {
                best = Likeliest { value, p: p.clone() };
            }
        }
        before = here;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee_game::Uniform;
    use referee_game::chance::{RandomStream, Seed};
    use referee_game::test_length::long_or;

    // The references take scores less 1/2, with their probabilities.

    /// The greatest Σ q ln(p / q) with a mean of `mean`, by bisection of the multiplier.
    fn slow_with_mean(observed: &[(f64, f64)], mean: f64) -> f64 {
        let terms: Vec<(f64, f64)> = observed.iter().map(|&(b, q)| (q, b - mean)).collect();
        let (mut low, mut high) = (-1.0 / terms[terms.len() - 1].1, -1.0 / terms[0].1);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            let sum: f64 = terms.iter().map(|&(q, x)| q * x / (1.0 + middle * x)).sum();
            if sum > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let theta = 0.5 * (low + high);
        -terms.iter().map(|&(q, x)| q * (1.0 + theta * x).ln()).sum::<f64>()
    }

    /// The greatest Σ q ln(p / q) with a mean of `mean` and a mean square of `square`: its dual is minimised by Newton's
    /// method with halved steps. None where no distribution has them.
    fn with_two_moments(observed: &[(f64, f64)], mean: f64, square: f64) -> Option<f64> {
        // The least square that a mean allows is that of the two scores beside it.
        let above = observed.iter().position(|&(b, _)| b > mean)?;
        let (left, right) = (observed[above.checked_sub(1)?].0, observed[above].0);
        let least = left * left + (mean - left) * (right + left);
        if square <= least * (1.0 + 1e-9) + 1e-15 || square >= 0.25 * (1.0 - 1e-9) {
            return None;
        }
        let terms: Vec<(f64, f64, f64)> =
            observed.iter().map(|&(b, q)| (q, b - mean, b * b - square)).collect();
        let dual = |l: f64, k: f64| -> f64 {
            let each = terms.iter().map(|&(q, x, y)| (q, 1.0 + l * x + k * y));
            -each.map(|(q, z)| if z > 0.0 { q * z.ln() } else { f64::NEG_INFINITY }).sum::<f64>()
        };
        let (mut l, mut k) = (0.0, 0.0);
        let mut value = 0.0;
        let mut has_converged = false;
        for _ in 0..2000 {
            let (mut gl, mut gk, mut ll, mut lk, mut kk) = (0.0, 0.0, 0.0, 0.0, 0.0);
            for &(q, x, y) in &terms {
                let z = 1.0 + l * x + k * y;
                gl -= q * x / z;
                gk -= q * y / z;
                ll += q * x * x / (z * z);
                lk += q * x * y / (z * z);
                kk += q * y * y / (z * z);
            }
            let determinant = ll * kk - lk * lk;
            let (dl, dk) = ((lk * gk - kk * gl) / determinant, (lk * gl - ll * gk) / determinant);
            let decrement = -(gl * dl + gk * dk);
            has_converged = gl.abs() < 1e-6 && gk.abs() < 1e-6 && decrement.abs() < 1e-9;
            if decrement.is_nan() || decrement < 1e-16 {
                break;
            }
            let mut step = 1.0;
            while step > 1e-12 && dual(l + step * dl, k + step * dk) > value - 1e-4 * step * decrement {
                step *= 0.5;
            }
            if step <= 1e-12 {
                break;
            }
            (l, k) = (l + step * dl, k + step * dk);
            value = dual(l, k);
        }
        // A dual that is not minimised is above the value.
        has_converged.then_some(value)
    }

    /// The greatest Σ q ln(p / q) with a mean `t` deviations above 1/2: over all deviations, 300 of them and the best of
    /// these refined.
    fn slow_with_t(observed: &[(f64, f64)], t: f64) -> f64 {
        if t == 0.0 {
            return slow_with_mean(observed, 0.0);
        }
        let value = |logarithm: f64| {
            let deviation = logarithm.exp();
            let (mean, square) = (t * deviation, (1.0 + t * t) * deviation * deviation);
            with_two_moments(observed, mean, square).unwrap_or(f64::NEG_INFINITY)
        };
        let (low, high) = (1e-6f64.ln(), (0.5 / (1.0 + t * t).sqrt()).ln());
        let at = |step: usize| low + (high - low) * step as f64 / 300.0;
        let values: Vec<f64> = (0..=300).map(|step| value(at(step))).collect();
        let mut best = f64::NEG_INFINITY;
        for step in 1..300 {
            if values[step] < values[step - 1] || values[step] < values[step + 1] {
                continue;
            }
            let (mut a, mut b) = (at(step - 1), at(step + 1));
            for _ in 0..60 {
                let (c, d) = (a + 0.382 * (b - a), b - 0.382 * (b - a));
                if value(c) > value(d) {
                    b = d;
                } else {
                    a = c;
                }
            }
            best = best.max(value(0.5 * (a + b)));
        }
        best
    }

    /// Counts of all sizes, skewed in all ways, a part of them 0.
    fn any_counts(legs: u32, stream: &mut RandomStream) -> Vec<u64> {
        let scale = 10f64.powf(1.0 + 5.0 * unit(stream));
        loop {
            let counts: Vec<u64> = (0..=2 * legs)
                .map(|_| {
                    let power = 1 + stream.uniform(6) as i32;
                    if stream.uniform(4) == 0 { 0 } else { (scale * unit(stream).powi(power)) as u64 }
                })
                .collect();
            if counts.iter().any(|&count| count > 0) {
                return counts;
            }
        }
    }

    /// Counts whose first step of Newton's method for a mean of 1/2 ends on a pole: of five, 8 LL + 3 LD = WD.
    fn counts_that_hit_a_pole(legs: u32, stream: &mut RandomStream) -> Vec<u64> {
        let half = i64::from(legs);
        // A single match has none.
        let factor = (half - 1).max(1);
        let mut counts: Vec<i64> = (0..=2 * half).map(|_| factor * stream.uniform(40) as i64).collect();
        let balance: i64 =
            (-half..=half).filter(|&j| j != 1).map(|j| counts[(j + half) as usize] * j * (half - j)).sum();
        counts[(half + 1) as usize] = (-balance / factor).max(0);
        if stream.uniform(2) == 0 {
            counts.reverse();
        }
        if stream.uniform(4) == 0 {
            counts[(half + 1) as usize] += 1;
        }
        counts.into_iter().map(|count| count as u64).collect()
    }

    fn unit(stream: &mut RandomStream) -> f64 {
        stream.uniform(1 << 53) as f64 / (1u64 << 53) as f64
    }

    /// Calls `check` with random vectors of 3 to 13 scores and their random hypotheses: the number of matches of a set,
    /// the distribution, and a difference in Elo, 0 in a third of them. 200,000 with LONG_TESTS, else `short`.
    fn with_random_vectors(name: &str, short: usize, check: impl Fn(usize, u32, &[(f64, f64)], f64)) {
        let mut stream = Seed([7; 32]).match_key("likelihood", name, &["", ""]).stream();
        for run in 0..long_or(200_000, short) {
            let legs = [1, 2, 2, 3, 4, 6][stream.uniform(6) as usize];
            let mut counts = vec![0];
            while counts.iter().all(|&count| count == 0) {
                counts = if run % 2 == 0 {
                    counts_that_hit_a_pole(legs, &mut stream)
                } else {
                    any_counts(legs, &mut stream)
                };
            }
            let counts: Vec<f64> =
                counts.iter().map(|&count| if count == 0 { 1e-3 } else { count as f64 }).collect();
            let (sets, steps) = (counts.iter().sum::<f64>(), (counts.len() - 1) as f64);
            let observed: Vec<(f64, f64)> =
                counts.iter().enumerate().map(|(at, count)| (at as f64 / steps, count / sets)).collect();
            let range = [10.0, 100.0, 400.0, 1000.0][stream.uniform(4) as usize];
            let elo = range * (2.0 * unit(&mut stream) - 1.0);
            check(run, legs, &observed, if run % 3 == 0 { 0.0 } else { elo });
        }
    }

    #[test]
    fn the_likeliest_with_a_mean_agrees_with_bisection() {
        with_random_vectors("mean", 4000, |_, _, observed, elo| {
            let s = 1.0 / (1.0 + 10f64.powf(-elo / 400.0));
            let Likeliest { value, p } = with_mean(observed, s);
            let centred: Vec<(f64, f64)> = observed.iter().map(|&(score, q)| (score - 0.5, q)).collect();
            let slow = slow_with_mean(&centred, s - 0.5);
            assert!(
                (value - slow).abs() < 1e-9 * (1.0 + slow.abs()),
                "{observed:?}, {elo}: {value}, not {slow}"
            );
            let mean: f64 = observed.iter().zip(&p).map(|(&(score, _), p)| score * p).sum();
            assert!(
                (mean - s).abs() < 1e-9 && (p.iter().sum::<f64>() - 1.0).abs() < 1e-9,
                "{observed:?}, {elo}: {p:?}"
            );
        });
    }

    /// Checks that the likeliest distribution fits the hypothesis, and that a slow search finds none that is likelier.
    #[test]
    fn likeliest_with_t_fits_beats_search_over_all_deviations() {
        with_random_vectors("t", 600, |run, legs, observed, elo| {
            let t = elo * f64::from(legs).sqrt() / (800.0 / std::f64::consts::LN_10);
            let Likeliest { value, p } = with_t(observed, t);
            let found = format!("{observed:?}, t = {t}: {value}, {p:?}");
            assert!(p.iter().all(|&p| p > 0.0) && (p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{found}");
            let of_p: f64 = observed.iter().zip(&p).map(|(&(_, q), p)| q * (p / q).ln()).sum();
            assert!((of_p - value).abs() < 1e-9 * (1.0 + value.abs()), "{found}: it has {of_p}");
            let mean: f64 = observed.iter().zip(&p).map(|(&(score, _), p)| score * p).sum();
            let variance: f64 =
                observed.iter().zip(&p).map(|(&(score, _), p)| (score - mean).powi(2) * p).sum();
            assert!((mean - 0.5 - t * variance.sqrt()).abs() < 1e-8, "{found}: {mean}, {variance}");
            let centred: Vec<(f64, f64)> = observed.iter().map(|&(score, q)| (score - 0.5, q)).collect();
            // Slow, so only every tenth vector is searched.
            if run % 10 > 0 {
                return;
            }
            let slow = slow_with_t(&centred, t);
            assert!(value > slow - 1e-8 * (1.0 + slow.abs()), "{found}: the search has {slow}");
        });
    }
}
