//! The dispersion of scores about their expectation, relative to independent matches without draws.

use super::clusters::{Clusters, Grouping};
use super::field::{averaged_variance, between, odds};
use super::packed_set::PackedSet;
use super::{Fit, linear};
use crate::rating::Z95;
use crate::sprt::student_95;

/// The number of sets with the binomial variance that the prior is worth.
pub(super) const BINOMIAL_SETS: f64 = 3.0;

/// The number of sets with the variance of the whole field that the prior of an entrant is worth.
const FIELD_SETS: f64 = 10.0;

/// The least degrees of freedom from which differences between openings are estimated.
const LEAST_FREEDOM: f64 = 2.0;

/// The variance of the scores of a fit, and how well it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispersion {
    /// The number of results that count as one.
    pub(super) value: f64,
    /// The amount by which intervals are wider than those of the normal distribution.
    pub(super) widening: f64,
    /// Whether the dispersion leaves out differences between openings.
    pub(super) is_of_played_openings: bool,
}

impl Dispersion {
    /// The dispersion before there are results.
    pub(super) const UNKNOWN: Dispersion =
        Dispersion { value: 1.0, widening: 1.0, is_of_played_openings: false };

    /// The dispersion of sets or, if it is greater, that of clusters.
    pub(super) fn of(fit: &Fit<'_>) -> Dispersion {
        let mut found = Dispersion::UNKNOWN;
        let Some(totals) = Totals::of(fit) else { return found };
        found.value = totals.of_sets(fit, BINOMIAL_SETS);
        let clusters = &fit.counts.clusters;
        if clusters.are_single() {
            return found;
        }
        let [of_openings, of_pairings] =
            [Grouping::Opening, Grouping::PairingOnOpening].map(|by| totals.of_clusters(fit, clusters, by));
        found.is_of_played_openings = clusters.openings() < 2 || of_openings.is_none();
        if found.is_of_played_openings {
            return found;
        }
        let by_cluster = of_openings.into_iter().chain(of_pairings);
        let greatest = by_cluster.clone().map(|of| of.value).fold(found.value, f64::max);
        let needed =
            by_cluster.map(|of| of.value * (student_95(of.freedom) / Z95).powi(2)).fold(greatest, f64::max);
        Dispersion { value: greatest, widening: (needed / greatest).sqrt(), ..found }
    }
}

/// The variance of the scores of sets. A prior is worth this number of sets with the binomial variance.
pub(super) fn of_sets(fit: &Fit<'_>, binomial_sets: f64) -> f64 {
    Totals::of(fit).map_or(1.0, |totals| totals.of_sets(fit, binomial_sets))
}

/// The variance of the sums of clusters, with the degrees of freedom of its estimate.
#[derive(Clone, Copy, Debug)]
struct ClusterVariance {
    value: f64,
    freedom: f64,
}

/// Sums over the matches of a fit.
struct Totals {
    /// The variance of independent matches without draws.
    binomial: f64,
    /// The reduction of the variance by draws.
    drawn: f64,
    /// The number of parameters that the results determine, and of those that are strengths: the others follow from the
    /// prior.
    used: f64,
    used_strengths: f64,
    sets: f64,
    legs: f64,
    /// The number of independent differences in the scores of all matches.
    differences: f64,
}

impl Totals {
    /// `None` if there are no results.
    fn of(fit: &Fit<'_>) -> Option<Totals> {
        let (n, entrants) = (fit.theta.len(), fit.counts.entrants);
        let triangle = linear::cholesky(&fit.curvature, n)?;
        let covariance = linear::inverse(&triangle, n);
        let by_prior = |i: usize| fit.share_of_prior(i, &covariance);
        let of_strengths: f64 = (0..entrants).map(by_prior).sum();
        let of_sides: f64 = (entrants..n).map(by_prior).sum();
        let mut totals = Totals {
            binomial: 0.0,
            drawn: 0.0,
            used: (n as f64 - 1.0 - of_strengths - of_sides).max(0.0),
            used_strengths: (entrants as f64 - 1.0 - of_strengths).max(0.0),
            sets: 0.0,
            legs: 0.0,
            differences: 0.0,
        };
        let mut contrast = Vec::new();
        for (packed, &times) in &fit.counts.by_set {
            let times = f64::from(times);
            totals.sets += times;
            for (lineup, places) in packed.legs() {
                totals.legs += times;
                totals.differences += times * (lineup.seating().sides() as f64 - 1.0);
                for (d, e) in super::pairs(&lineup) {
                    fit.contrast(&lineup, d, e, &mut contrast);
                    let odds = odds(&contrast, &fit.theta);
                    let variance = averaged_variance(odds, between(&contrast, &contrast, &covariance, n));
                    for &(_, x) in contrast.iter().filter(|&&(i, _)| i < entrants) {
                        totals.binomial += times * x * x * variance;
                        totals.drawn += if places[d] == places[e] { times * x * x / 4.0 } else { 0.0 };
                    }
                }
            }
        }
        (totals.binomial > 0.0).then_some(totals)
    }

    /// The relative variance of sums with these products of different matches.
    fn relative(&self, products: f64) -> f64 {
        1.0 + (products - self.drawn) / self.binomial
    }

    fn of_sets(&self, fit: &Fit<'_>, binomial_sets: f64) -> f64 {
        let (n, sets) = (fit.theta.len() as f64, self.sets);
        let mut sums = GroupSums::of(fit);
        for (packed, &times) in &fit.counts.by_set {
            sums.add(packed, 1.0);
            sums.end_group(f64::from(times));
        }
        // The fit goes with the results, so residuals of the legs of a set are less alike than the legs are.
        let hidden = self.used / sets * (1.0 - sets / self.legs);
        let measured = self.relative(sums.products) / (1.0 - hidden).max(0.5);
        // Legs of a set that end alike are a difference in strength rather than a great variance, if there are few sets a
        // parameter.
        let measured = measured - (measured - 1.0).max(0.0) * (n / sets).min(1.0);
        ((sets * measured + binomial_sets) / (sets + binomial_sets)).max(0.05)
    }

    /// The variance of the sums of clusters, as of sets; `None` if there are too few. The degrees of freedom are those of
    /// F. E. Satterthwaite, *Biometrics Bulletin* 2, 1946, 110-114, for clusters whose matches all end alike, less those of
    /// the strengths.
    fn of_clusters(&self, fit: &Fit<'_>, clusters: &Clusters, by: Grouping) -> Option<ClusterVariance> {
        let mut sums = GroupSums::of(fit);
        for group in clusters.groups(by) {
            group.iter().for_each(|set| sums.add(&set.packed, f64::from(set.times)));
            sums.end_group(1.0);
        }
        let differences = sums.differences;
        let free = 1.0 - self.used_strengths / differences;
        let freedom = differences * free * sums.squares.powi(2) / (sums.fourth_powers * sums.parts);
        let hidden = self.used_strengths * (1.0 / differences - 1.0 / self.differences);
        let value = self.relative(sums.products) / (1.0 - hidden);
        (freedom >= LEAST_FREEDOM).then_some(ClusterVariance { value, freedom })
    }
}

/// Sums over groups of sets, by the entrants of each group.
struct GroupSums<'a> {
    fit: &'a Fit<'a>,
    /// By entrant: the sum of residuals in the current group, and their weight.
    of_group: Vec<[f64; 2]>,
    entrants: Vec<usize>,
    contrast: Vec<(usize, f64)>,
    /// In the current group: the sum of the squares of single residuals, and the number of independent differences.
    own: f64,
    compared: f64,
    /// The sum of the products of residuals of different matches of a group.
    products: f64,
    /// The number of independent differences between the sums of groups.
    differences: f64,
    /// The number of entrants in all groups, and the sums of the squares and the fourth powers of their weights.
    parts: f64,
    squares: f64,
    fourth_powers: f64,
}

impl<'a> GroupSums<'a> {
    fn of(fit: &'a Fit<'a>) -> GroupSums<'a> {
        GroupSums {
            fit,
            of_group: vec![[0.0; 2]; fit.counts.entrants],
            entrants: Vec::new(),
            contrast: Vec::new(),
            own: 0.0,
            compared: 0.0,
            products: 0.0,
            differences: 0.0,
            parts: 0.0,
            squares: 0.0,
            fourth_powers: 0.0,
        }
    }

    /// Adds sets to the current group.
    fn add(&mut self, packed: &PackedSet, times: f64) {
        for (lineup, places) in packed.legs() {
            self.compared += times * (lineup.seating().sides() as f64 - 1.0);
            for (d, e) in super::pairs(&lineup) {
                self.fit.contrast(&lineup, d, e, &mut self.contrast);
                let residual = super::score(&places, d, e) - self.fit.expected(&self.contrast);
                for &(i, x) in &self.contrast {
                    let Some([sum, weight]) = self.of_group.get_mut(i) else { continue };
                    if *weight == 0.0 {
                        self.entrants.push(i);
                    }
                    *sum += times * x * residual;
                    *weight += times * x * x;
                    self.own += times * (x * residual).powi(2);
                }
            }
        }
    }

    /// Ends the current group, which occurred this number of times.
    fn end_group(&mut self, times: f64) {
        let entrants = self.entrants.len() as f64;
        let mut products = -self.own;
        for i in self.entrants.drain(..) {
            let [sum, weight] = std::mem::take(&mut self.of_group[i]);
            products += sum * sum;
            self.squares += times * weight.powi(2);
            self.fourth_powers += times * weight.powi(4);
        }
        self.products += times * products;
        self.parts += times * entrants;
        self.differences += times * (entrants - 1.0).max(0.0).min(self.compared);
        (self.own, self.compared) = (0.0, 0.0);
    }
}

impl Fit<'_> {
    /// By entrant: the variance of its scores in sets relative to that in the whole field. Where strong entrants draw and
    /// weak ones do not, it is smaller for strong ones.
    pub(super) fn entrant_dispersions(&self) -> Vec<f64> {
        #[derive(Clone, Copy, Default)]
        struct Sums {
            squares: f64,
            binomial: f64,
            sets: f64,
        }
        let mut of_entrants = vec![Sums::default(); self.counts.entrants];
        // By entrant of a set: the sum of its residuals; `None` if it is not in the set.
        let mut of_set = vec![None; self.counts.entrants];
        let mut contrast = Vec::new();
        for (packed, &times) in &self.counts.by_set {
            let times = f64::from(times);
            for (lineup, places) in packed.legs() {
                for (d, e) in super::pairs(&lineup) {
                    self.contrast(&lineup, d, e, &mut contrast);
                    let p = self.expected(&contrast);
                    for &(i, x) in contrast.iter().filter(|&&(i, _)| i < self.counts.entrants) {
                        *of_set[i].get_or_insert(0.0) += x * (super::score(&places, d, e) - p);
                        of_entrants[i].binomial += times * x * x * p * (1.0 - p);
                    }
                }
            }
            for (sums, residual) in of_entrants.iter_mut().zip(&mut of_set) {
                let Some(residual) = residual.take() else { continue };
                sums.squares += times * residual * residual;
                sums.sets += times;
            }
        }
        let of_all = |of: fn(&Sums) -> f64| of_entrants.iter().map(of).sum::<f64>();
        let field = of_all(|sums| sums.squares) / of_all(|sums| sums.binomial);
        let relative = |sums: &Sums| {
            let own = sums.squares / sums.binomial / field;
            let own = if own.is_finite() { own } else { 1.0 };
            (sums.sets * own + FIELD_SETS) / (sums.sets + FIELD_SETS)
        };
        of_entrants.iter().map(relative).collect()
    }

    /// By side except the last: the variance of the scores of its seats in a set, relative to that of independent matches.
    /// It is not that of entrants: chance that favours a seat in both matches of a mirrored set favours no entrant, and an
    /// opening that favours a seat does so in all sets.
    pub(super) fn side_dispersions(&self) -> Vec<f64> {
        let sets = self.counts.by_set.iter();
        let of_sets = self.side_variances(sets.map(|(set, &times)| (std::iter::once((set, 1)), times)));
        let clusters = &self.counts.clusters;
        let freedom = clusters.openings() as f64 - 1.0;
        if clusters.are_single() || freedom < LEAST_FREEDOM {
            return of_sets;
        }
        let groups = clusters.groups(Grouping::Opening);
        let of_openings =
            self.side_variances(groups.map(|group| (group.iter().map(|set| (&set.packed, set.times)), 1)));
        let wider = (freedom + 1.0) / freedom * (student_95(freedom) / Z95).powi(2);
        of_sets.into_iter().zip(of_openings).map(|(set, opening)| set.max(wider * opening)).collect()
    }

    /// By side except the last: the variance of its sums in groups of sets, which occurred this number of times, relative to
    /// that of independent matches.
    fn side_variances<'s, Group: Iterator<Item = (&'s PackedSet, u32)>>(
        &self,
        groups: impl Iterator<Item = (Group, u32)>,
    ) -> Vec<f64> {
        let entrants = self.counts.entrants;
        let sides = self.theta.len() - entrants;
        let (mut found, mut binomial) = (vec![BINOMIAL_SETS / 4.0; sides], vec![BINOMIAL_SETS / 4.0; sides]);
        let mut contrast = Vec::new();
        for (group, groups) in groups {
            let mut of_group = vec![0.0; sides];
            for (packed, times) in group {
                for (lineup, places) in packed.legs() {
                    for (d, e) in super::pairs(&lineup) {
                        self.contrast(&lineup, d, e, &mut contrast);
                        let p = self.expected(&contrast);
                        for &(i, x) in contrast.iter().filter(|&&(i, _)| i >= entrants) {
                            of_group[i - entrants] +=
                                f64::from(times) * x * (super::score(&places, d, e) - p);
                            binomial[i - entrants] += f64::from(groups * times) * x * x * p * (1.0 - p);
                        }
                    }
                }
            }
            found.iter_mut().zip(of_group).for_each(|(sum, x)| *sum += f64::from(groups) * x * x);
        }
        found.iter().zip(binomial).map(|(found, binomial)| found / binomial).collect()
    }
}
