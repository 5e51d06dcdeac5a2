//! The next round of a Swiss tournament.
//!
//! The rules in order of precedence, with the criteria of the FIDE (Dutch) system that they follow (FIDE Handbook,
//! C.04.3, in force from July 2025):
//!
//! 1. With an odd number of entrants the bye goes to one with the fewest byes (C2). Full points of a round without
//!    play count as a bye.
//! 2. As few rematches as possible; if they are unavoidable, between those who have met least often (C1).
//! 3. As few pairs as possible in which both must have the same seat (C3): an entrant that had a seat two times more
//!    often than the other one, or in its last two rounds, must have the other one.
//! 4. The bye goes to the lowest score group (C5).
//! 5. Entrants of neighbouring score groups: the sum of the squares of the distances in groups is least (C6, C7).
//! 6. The bye goes to one with the fewest rounds without play (C9).
//! 7. As few pairs as possible in which both claim the same seat (C12), and of these as few as possible in which both
//!    had the other seat more often (C13). An entrant that had both equally often claims the one that it did not have
//!    in its last round.
//! 8. As few as possible float (meet another score group) in the direction in which they floated in the round before
//!    (C14, C15), then in the one before that (C16, C17). A round without play counts as a float downwards.
//! 9. Within a score group the upper half meets the lower half in order: 1 against k + 1, 2 against k + 2, ... Among
//!    equals the lowest ranked gets the bye.
//!
//! In a pair, the stronger claim to a seat is granted; between equal claims the seats are those of their last round
//! with different seats, swapped, else the claim of the higher ranked is granted. Without claims the higher ranked
//! gets the first seat on odd boards and the second on even ones. Where every deal is mirrored, all have both seats
//! equally often and there are no claims.
//!
//! Deviations from C.04 that remain:
//!
//! * FIDE pairs bracket by bracket from the top. This minimises every rule over the whole field, as a minimum-cost
//!   matching, so that a lower bracket can change the pairs of a higher one.
//! * Rules 1 to 3 are absolute for FIDE, which has no pairing if they cannot be kept. Here they are broken as little
//!   as possible, so that any number of rounds can be played.
//! * Rule 3 has no exception for entrants with more than half of the points in the last round (C10, C11).
//! * Distances count score groups instead of points, and floats in both directions weigh the same. The score
//!   differences of repeated floaters (C18 to C21) are ignored.
//! * Within a score group, order is optimised as a sum of distances, not by the sequence of transpositions and
//!   exchanges.
//! * A win by a fault, including that of a bot that did not start, counts as a match that was played.

use std::cmp::{Ordering, Reverse};

use super::matching;
use crate::Entrant;

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
    /// The number of rounds with a bye, or with the points of a win in all matches without play.
    pub byes: u32,
    /// The number of rounds without play.
    pub unplayed: u32,
    /// The number of times that it had the first seat, less those of the second, in each round with a
    /// difference.
    pub seats: Vec<i32>,
    /// The opponents, once per round.
    pub met: Vec<Entrant>,
    /// The floats of the last two rounds, the latest first: 1 for down (against a lower score group, or without play), -1 for
    /// up, otherwise 0.
    pub floats: [i8; 2],
}

/// A claim that must be granted.
const ABSOLUTE: i32 = 3;

/// A claim of an entrant that had the other seat more often.
const STRONG: i32 = 2;

impl Card {
    /// An entrant before its first round, after this number of rounds without it.
    pub fn new(entrant: Entrant, unplayed: u32) -> Card {
        Card { entrant, points: 0, byes: 0, unplayed, seats: Vec::new(), met: Vec::new(), floats: [0; 2] }
    }

    /// Adds the float of a round.
    pub fn floated(&mut self, float: i8) {
        self.floats = [float, self.floats[0]];
    }

    /// The number of times that it had the first seat, less those of the second.
    fn surplus(&self) -> i32 {
        self.seats.iter().sum()
    }

    /// The claim to a seat: positive for the first seat, negative for the second, 0 for none.
    fn claim(&self) -> i32 {
        let surplus = self.surplus();
        let Some(last) = self.seats.last().map(|seat| seat.signum()) else { return 0 };
        let is_repeated = self.seats.iter().rev().nth(1).is_some_and(|before| before.signum() == last);
        match surplus {
            _ if surplus.abs() > 1 => -ABSOLUTE * surplus.signum(),
            _ if is_repeated => -ABSOLUTE * last,
            0 => -last,
            _ => -STRONG * surplus,
        }
    }
}

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
            let is_first = has_first_seat(one, other, round.pairs.len());
            let (first, second) = if is_first { (one, other) } else { (other, one) };
            round.pairs.push([first.entrant, second.entrant]);
        }
    }
    round
}

/// Returns whether the higher ranked of two gets the first seat on a board, counted from 0.
fn has_first_seat(one: &Card, other: &Card, board: usize) -> bool {
    let (a, b) = (one.claim(), other.claim());
    if a.signum() != b.signum() {
        return a > b;
    }
    if a == 0 {
        return board.is_multiple_of(2);
    }
    let strength = |card: &Card| (card.claim().abs(), card.surplus().abs());
    match strength(one).cmp(&strength(other)) {
        Ordering::Greater => a > 0,
        Ordering::Less => b < 0,
        Ordering::Equal => {
            let mut rounds = one.seats.iter().rev().zip(other.seats.iter().rev());
            let differing = rounds.find(|(one, other)| one.signum() != other.signum());
            differing.map_or(a > 0, |(seat, _)| *seat < 0)
        }
    }
}

struct ScoreGroups<'a> {
    /// In the order of the ranking.
    cards: &'a [Card],
    /// By card: the number of its score group from the top, its place in the group, and the group's size.
    groups: Vec<(u32, u32, u32)>,
    fewest_byes: u32,
    fewest_unplayed: u32,
    fewest_meetings: u32,
}

/// In the order of precedence.
#[derive(Default)]
struct PairingCost {
    byes: u32,
    rematches: u32,
    absolute_claims: u32,
    bye_group: u32,
    distance: u32,
    unplayed: u32,
    claims: u32,
    strong_claims: u32,
    floats: u32,
    earlier_floats: u32,
    order: u32,
}

impl PairingCost {
    /// The bits and the maximum of each part. The bits have room for the sum over 250 pairs; the distances of 500
    /// entrants have a sum of squares below 2^25.
    const BITS: [(u32, u32); 11] = [
        (1, 1),
        (14, 63),
        (8, 1),
        (9, 500),
        (25, 500 * 500),
        (5, 31),
        (8, 1),
        (8, 1),
        (9, 2),
        (9, 2),
        (16, 500),
    ];

    /// The sum of all bits, so more than every cost.
    const LIMIT: i128 = 1 << 112;

    fn packed(&self) -> i128 {
        let parts = [
            self.byes,
            self.rematches,
            self.absolute_claims,
            self.bye_group,
            self.distance,
            self.unplayed,
            self.claims,
            self.strong_claims,
            self.floats,
            self.earlier_floats,
            self.order,
        ];
        let mut packed = 0;
        for ((bits, most), part) in PairingCost::BITS.into_iter().zip(parts) {
            packed = (packed << bits) + i128::from(part.min(most));
        }
        packed
    }
}

/// The number of times that a card's entrant has met another one.
fn meetings(one: &Card, other: &Card) -> u32 {
    one.met.iter().filter(|&&met| met == other.entrant).count() as u32
}

impl<'a> ScoreGroups<'a> {
    fn new(cards: &'a [Card]) -> ScoreGroups<'a> {
        let mut groups = Vec::new();
        for (number, group) in cards.chunk_by(|a, b| a.points == b.points).enumerate() {
            groups.extend((0..group.len()).map(|at| (number as u32, at as u32, group.len() as u32)));
        }
        let pairs = cards.iter().enumerate().flat_map(|(at, one)| cards[..at].iter().map(move |b| (one, b)));
        let fewest = |counts: &mut dyn Iterator<Item = u32>| counts.min().unwrap_or(0);
        ScoreGroups {
            cards,
            groups,
            fewest_byes: fewest(&mut cards.iter().map(|card| card.byes)),
            fewest_unplayed: fewest(&mut cards.iter().map(|card| card.unplayed)),
            fewest_meetings: fewest(&mut pairs.map(|(one, other)| meetings(one, other))),
        }
    }

    /// The cost of pairing `a` with `b`, who is ranked lower or, past the last, the bye.
    fn cost(&self, a: usize, b: usize) -> PairingCost {
        let (one, group) = (&self.cards[a], self.groups[a]);
        let Some(other) = self.cards.get(b) else {
            let lowest = self.groups.last().map_or(0, |last| last.0);
            return PairingCost {
                byes: u32::from(one.byes > self.fewest_byes),
                bye_group: lowest - group.0,
                unplayed: one.unplayed - self.fewest_unplayed,
                floats: u32::from(one.floats[0] == 1),
                earlier_floats: u32::from(one.floats[1] == 1),
                order: self.cards.len() as u32 - 1 - a as u32,
                ..PairingCost::default()
            };
        };
        let other_group = self.groups[b];
        let distance = other_group.0 - group.0;
        let (claim, other_claim) = (one.claim(), other.claim());
        let refused =
            if claim.signum() == other_claim.signum() { claim.abs().min(other_claim.abs()) } else { 0 };
        let floats = |round: usize| {
            let repeated = [one.floats[round] == 1, other.floats[round] == -1];
            if distance == 0 { 0 } else { repeated.into_iter().map(u32::from).sum() }
        };
        PairingCost {
            rematches: meetings(one, other) - self.fewest_meetings,
            absolute_claims: u32::from(refused == ABSOLUTE),
            distance: distance * distance,
            claims: u32::from(refused > 0),
            strong_claims: u32::from(refused >= STRONG),
            floats: floats(0),
            earlier_floats: floats(1),
            order: if distance == 0 { (other_group.1 - group.1).abs_diff(group.2 / 2) } else { 0 },
            ..PairingCost::default()
        }
    }
}
