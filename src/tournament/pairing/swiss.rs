//! The next round of a Swiss tournament.
//!
//! The rules in order of precedence:
//!
//! 1. With an odd number of entrants the bye goes to one with the fewest byes.
//! 2. As few rematches as possible; if they are unavoidable, between those who have met least often.
//! 3. No seat surplus beyond one: how much more often an entrant had the first seat than the second. (Where every deal
//!    is mirrored, all are balanced anyhow.)
//! 4. Entrants of neighbouring score groups: the sum of the squares of the distances in groups is least. The bye counts
//!    as an opponent of the lowest group.
//! 5. As few as possible float (meet another score group) in the direction in which they floated in the round before.
//! 6. As many seat surpluses as possible become 0.
//! 7. Within a score group the upper half meets the lower half in order: 1 against k + 1, 2 against k + 2, ...
//!
//! In a pair, the entrant with the smaller seat surplus gets the first seat; if they are equal, the higher ranked
//! gets it on odd boards and the lower ranked on even ones.
//!
//! These are the aims of the FIDE (Dutch) system (FIDE Handbook C.04.3, in force from July 2025: no rematch and no
//! second bye, then seats, score differences of floaters, repeated floats, and transpositions of the lower half),
//! with three differences. FIDE pairs bracket by bracket from the top; this minimises over the whole field, as a
//! minimum-cost matching. FIDE allows a surplus of two, this only of one if possible. FIDE prevents repeated floats
//! for two rounds, this for one.

use std::cmp::Reverse;

use super::matching;
use crate::tournament::Entrant;

/// The maximum number of entrants of a Swiss tournament.
pub const MAX_ENTRANTS: usize = 500;

/// The maximum number of rounds of a Swiss tournament.
pub const MAX_ROUNDS: u32 = 1000;

/// The data of an entrant for pairing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The entrant. Among equal points, a lower index is ranked higher.
    pub entrant: Entrant,
    /// Points so far, in any unit.
    pub points: u64,
    /// The number of byes.
    pub byes: u32,
    /// How much more often it had the first seat than the second.
    pub surplus: i32,
    /// Its opponents, once per round.
    pub met: Vec<Entrant>,
    /// Its float in the previous round: 1 for down (against a lower score group), -1 for up, otherwise 0.
    pub float: i8,
}

/// A round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwissRound {
    /// First seat first, in the order of the boards.
    pub pairs: Vec<[Entrant; 2]>,
    /// The entrant without an opponent.
    pub bye: Option<Entrant>,
}

/// Pairs a round. Cards beyond [`MAX_ENTRANTS`] are ignored.
pub fn pair(mut cards: Vec<Card>) -> SwissRound {
    cards.truncate(MAX_ENTRANTS);
    cards.sort_by_key(|card| (Reverse(card.points), card.entrant));
    let field = ScoreGroups::new(&cards);
    let odd = !cards.len().is_multiple_of(2);
    let vertices = cards.len() + usize::from(odd);
    let mate =
        matching::cheapest(vertices, PairingCost::LIMIT, |a, b| field.cost(a.min(b), a.max(b)).packed());
    let mut round = SwissRound::default();
    for (a, &b) in mate.iter().enumerate().take(cards.len()) {
        if b == cards.len() {
            round.bye = Some(cards[a].entrant);
        } else if a < b {
            let (one, other) = (&cards[a], &cards[b]);
            let is_first = one.surplus < other.surplus
                || (one.surplus == other.surplus && round.pairs.len().is_multiple_of(2));
            let (first, second) = if is_first { (one, other) } else { (other, one) };
            round.pairs.push([first.entrant, second.entrant]);
        }
    }
    round
}

struct ScoreGroups<'a> {
    /// In the order of the ranking.
    cards: &'a [Card],
    /// By card: the number of its score group from the top, its place in the group, and the group's size.
    groups: Vec<(u32, u32, u32)>,
}

/// By the number of the rule.
#[derive(Default)]
struct PairingCost {
    byes: u32,
    rematches: u32,
    surplus: u32,
    distance: u32,
    floats: u32,
    unbalanced: u32,
    order: u32,
}

impl PairingCost {
    /// Each part has room for the sum over all pairs: 250 pairs, 1000 rounds.
    const BITS: [(u32, u32); 7] =
        [(10, 1000), (18, 1000), (18, 1000), (26, 500 * 500), (9, 2), (15, 100), (16, 500)];

    /// All bits together, so more than every cost.
    const LIMIT: i128 = 1 << 112;

    fn packed(&self) -> i128 {
        let parts = [
            self.byes,
            self.rematches,
            self.surplus,
            self.distance,
            self.floats,
            self.unbalanced,
            self.order,
        ];
        let mut packed = 0;
        for ((bits, most), part) in PairingCost::BITS.into_iter().zip(parts) {
            packed = (packed << bits) + i128::from(part.min(most));
        }
        packed
    }
}

impl<'a> ScoreGroups<'a> {
    fn new(cards: &'a [Card]) -> ScoreGroups<'a> {
        let mut groups = Vec::new();
        for (number, group) in cards.chunk_by(|a, b| a.points == b.points).enumerate() {
            groups.extend((0..group.len()).map(|at| (number as u32, at as u32, group.len() as u32)));
        }
        ScoreGroups { cards, groups }
    }

    /// The cost of pairing `a` with `b`, who is ranked lower or, past the last, the bye.
    fn cost(&self, a: usize, b: usize) -> PairingCost {
        let (one, group) = (&self.cards[a], self.groups[a]);
        let Some(other) = self.cards.get(b) else {
            let lowest = self.groups.last().map_or(0, |last| last.0);
            let distance = lowest - group.0;
            let floats = u32::from(distance > 0 && one.float == 1);
            // Among equals the lowest ranked.
            let order = self.cards.len() as u32 - 1 - a as u32;
            return PairingCost {
                byes: one.byes,
                distance: distance * distance,
                floats,
                order,
                ..PairingCost::default()
            };
        };
        let other_group = self.groups[b];
        let distance = other_group.0 - group.0;
        let smaller = one.surplus.min(other.surplus) + 1;
        let greater = one.surplus.max(other.surplus) - 1;
        let beyond = |surplus: i32| surplus.unsigned_abs().saturating_sub(1);
        // The excess of the new surpluses over one, less the unavoidable part.
        let must = beyond(one.surplus).saturating_sub(1) + beyond(other.surplus).saturating_sub(1);
        PairingCost {
            byes: 0,
            rematches: one.met.iter().filter(|&&met| met == other.entrant).count() as u32,
            surplus: (beyond(smaller) + beyond(greater)).saturating_sub(must),
            distance: distance * distance,
            floats: if distance == 0 { 0 } else { u32::from(one.float == 1) + u32::from(other.float == -1) },
            unbalanced: smaller.unsigned_abs() + greater.unsigned_abs(),
            order: if distance == 0 { (other_group.1 - group.1).abs_diff(group.2 / 2) } else { 0 },
        }
    }
}
