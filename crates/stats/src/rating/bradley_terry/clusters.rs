//! Sets that share openings: which of them count, and in which clusters their results may be alike.

use std::collections::BTreeMap;
use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;

use super::packed_set::PackedSet;
use crate::Entrant;
use crate::sample::MatchMoves;

/// The sets behind the results of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub sets: u64,
    /// Copies of sets, which do not count.
    pub copies: u64,
    /// Sets with different lineups, moves or places.
    pub distinct_sets: u64,
    /// Different openings or deals.
    pub openings: u64,
}

/// The property that sets of a cluster share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    /// The opening: it may suit an entrant against all opponents.
    Opening,
    /// The opening and the entrants.
    PairingOnOpening,
}

/// Sets with the same opening, lineups and places.
#[derive(Clone, Debug)]
pub(super) struct SetOnOpening {
    opening: u32,
    pairing: u32,
    pub(super) packed: PackedSet,
    pub(super) times: u32,
}

/// Sets by opening, then by pairing; none if each set has an opening of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Clusters(Vec<SetOnOpening>);

impl Clusters {
    /// Returns whether each set has an opening of its own.
    pub(super) fn are_single(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of openings, unless each set has its own.
    pub(super) fn openings(&self) -> usize {
        self.groups(Grouping::Opening).count()
    }

    /// The sets by a common property.
    pub(super) fn groups(&self, by: Grouping) -> impl Iterator<Item = &[SetOnOpening]> {
        self.0.chunk_by(move |one, other| {
            one.opening == other.opening && (by == Grouping::Opening || one.pairing == other.pairing)
        })
    }
}

struct PlayedSet {
    packed: PackedSet,
    lineups: u32,
    pairing: u32,
    opening: u32,
    moves: u64,
}

/// Sets with their moves, and the numbers of their openings, pairings and lineups.
#[derive(Default)]
pub(super) struct SetsOnOpenings {
    sets: Vec<PlayedSet>,
    openings: FxHashMap<u64, u32>,
    pairings: FxHashMap<SmallVec<[Entrant; 4]>, u32>,
    lineups: FxHashMap<PackedSet, u32>,
}

/// The number of a key, in the order in which keys are first met.
fn number<Key: std::hash::Hash + Eq>(numbers: &mut FxHashMap<Key, u32>, key: Key) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(key).or_insert(next)
}

impl SetsOnOpenings {
    /// Adds a set with the moves of its matches, which have one opening.
    pub(super) fn add(&mut self, packed: PackedSet, moves: &[MatchMoves]) {
        let mut entrants: SmallVec<[Entrant; 4]> = SmallVec::new();
        packed.legs().for_each(|(lineup, _)| entrants.extend_from_slice(lineup.seats()));
        entrants.sort_unstable();
        entrants.dedup();
        let pairing = number(&mut self.pairings, entrants);
        let seated = PackedSet::of(packed.legs().map(|(lineup, _)| (lineup, Default::default())));
        let lineups = number(&mut self.lineups, seated);
        let opening = number(&mut self.openings, moves.first().map_or(0, |moves| moves.opening));
        let mut hash = FxHasher::default();
        moves.iter().for_each(|moves| hash.write_u64(moves.all));
        self.sets.push(PlayedSet { packed, lineups, pairing, opening, moves: hash.finish() });
    }

    /// Adds the sets that count to those without moves. Until a pairing has played two different sets on an opening, its
    /// bots are deterministic, and each opening counts once.
    pub(super) fn close(self, by_set: &mut FxHashMap<PackedSet, u32>) -> (Clusters, Origin) {
        let mut is_varied = vec![false; self.pairings.len()];
        let mut first: FxHashMap<(u32, u32), &PlayedSet> = FxHashMap::default();
        for set in &self.sets {
            let first = first.entry((set.lineups, set.opening)).or_insert(set);
            is_varied[set.pairing as usize] |= first.moves != set.moves || first.packed != set.packed;
        }
        let mut on_openings: BTreeMap<(u32, u32, &PackedSet), u32> = BTreeMap::new();
        for set in &self.sets {
            if is_varied[set.pairing as usize] || std::ptr::eq(first[&(set.lineups, set.opening)], set) {
                *on_openings.entry((set.opening, set.pairing, &set.packed)).or_default() += 1;
            }
        }
        let distinct: FxHashSet<(&PackedSet, u32, u64)> =
            self.sets.iter().map(|set| (&set.packed, set.opening, set.moves)).collect();
        let counted = on_openings.values().map(|&times| u64::from(times)).sum::<u64>();
        let mut openings = self.openings.len() as u32;
        let alone = by_set.values().map(|&times| u64::from(times)).sum::<u64>();
        let origin = Origin {
            sets: alone + counted,
            copies: self.sets.len() as u64 - counted,
            distinct_sets: alone + distinct.len() as u64,
            openings: alone + u64::from(openings),
        };
        let mut clusters = Clusters::default();
        if counted > u64::from(openings) {
            // Sets without moves have openings of their own.
            let alone: BTreeMap<&PackedSet, &u32> = by_set.iter().collect();
            for (packed, &times) in alone {
                for _ in 0..times {
                    clusters.0.push(SetOnOpening {
                        opening: openings,
                        pairing: 0,
                        packed: packed.clone(),
                        times: 1,
                    });
                    openings += 1;
                }
            }
            let sets = on_openings.iter().map(|(&(opening, pairing, packed), &times)| SetOnOpening {
                opening,
                pairing,
                packed: packed.clone(),
                times,
            });
            clusters.0.extend(sets);
        }
        for ((_, _, packed), times) in on_openings {
            *by_set.entry(packed.clone()).or_default() += times;
        }
        (clusters, origin)
    }
}
