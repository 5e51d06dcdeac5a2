//! The lineups and places of a set, in few bytes: a ladder keeps them for most of its sets.

use smallvec::SmallVec;

use crate::{Entrant, Lineup};
use referee_game::{MAX_SEATS, Seating};

/// A leg as the model reads it: its lineup, and the place of each side.
pub(super) type PlayedLeg = (Lineup, [u8; MAX_SEATS]);

/// The lineups and places of the matches of a set, in order.
///
/// Each match has a byte for the number of its seats, one for that of its sides, two for each entrant and one for each
/// place. The two matches of a set for two fit into the value itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PackedSet(SmallVec<[u8; 16]>);

impl PackedSet {
    pub(super) fn of(legs: impl IntoIterator<Item = PlayedLeg>) -> PackedSet {
        let mut packed = PackedSet::default();
        legs.into_iter().for_each(|leg| packed.push(leg));
        packed
    }

    fn push(&mut self, (lineup, places): PlayedLeg) {
        let sides = lineup.seating().sides();
        self.0.extend([lineup.seats().len() as u8, sides as u8]);
        lineup.seats().iter().for_each(|entrant| self.0.extend(entrant.0.to_le_bytes()));
        self.0.extend_from_slice(&places[..sides]);
    }

    pub(super) fn legs(&self) -> impl Iterator<Item = PlayedLeg> {
        let mut left = self.0.as_slice();
        std::iter::from_fn(move || {
            let (&[seats, sides], rest) = left.split_first_chunk()?;
            let (seated, rest) = rest.split_at_checked(2 * usize::from(seats))?;
            let (of_sides, rest) = rest.split_at_checked(usize::from(sides))?;
            left = rest;
            let mut entrants = [Entrant(0); MAX_SEATS];
            for (entrant, &[low, high]) in entrants.iter_mut().zip(seated.as_chunks().0) {
                *entrant = Entrant(u16::from_le_bytes([low, high]));
            }
            let mut places = [0; MAX_SEATS];
            places[..of_sides.len()].copy_from_slice(of_sides);
            let lineup = Lineup::of_seats(Seating::new(seats, sides), &entrants[..usize::from(seats)])?;
            Some((lineup, places))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_set_has_its_matches() {
        for (seats, sides) in [(2, 2), (3, 3), (4, 2), (6, 3), (6, 6)] {
            let seating = Seating::new(seats, sides);
            let entrants: Vec<Entrant> = (0..u16::from(seats)).map(|at| Entrant(at * 300)).collect();
            let lineup = Lineup::of_seats(seating, &entrants).unwrap();
            let places = |first: u8| std::array::from_fn(|side| if side < sides.into() { first } else { 0 });
            let legs = [(lineup, places(1)), (lineup, places(2))];
            let packed = PackedSet::of(legs);
            assert_eq!(packed.legs().collect::<Vec<PlayedLeg>>(), legs);
            assert_eq!(packed.0.spilled(), seats > 2, "{seats} seats");
        }
        assert_eq!(PackedSet::default().legs().count(), 0);
    }
}
