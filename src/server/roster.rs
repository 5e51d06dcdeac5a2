//! Which bots play for which entrant of a tournament.

use std::ops::Range;

use crate::core::Seating;
use crate::tournament::Lineup;

/// The bots of each entrant: one in all seats of a side, or a team with one for each of these seats. The bots of an
/// entrant follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// By entrant its first bot, then how many bots there are.
    first: Vec<usize>,
}

impl Roster {
    /// Entrants with so many bots each.
    pub fn of(sizes: impl IntoIterator<Item = usize>) -> Roster {
        let mut first = vec![0];
        for size in sizes {
            first.push(first[first.len() - 1] + size);
        }
        Roster { first }
    }

    /// Entrants with one bot each.
    pub fn alone(entrants: usize) -> Roster {
        Roster { first: (0..=entrants).collect() }
    }

    /// The bots of an entrant.
    pub fn bots(&self, entrant: usize) -> Range<usize> {
        self.first[entrant]..self.first[entrant + 1]
    }

    /// How many entrants there are.
    pub fn entrants(&self) -> usize {
        self.first.len() - 1
    }

    /// How many bots there are.
    pub fn len(&self) -> usize {
        self.first[self.first.len() - 1]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bots by seat. Those of a team have the seats of its side in order.
    pub fn seated(&self, lineup: &Lineup) -> Vec<usize> {
        let entrants: Vec<u16> = lineup.seats().iter().map(|entrant| entrant.0).collect();
        self.seated_at(lineup.seating(), &entrants)
    }

    /// The same for entrants that may not be of this roster, as a database may name them; then it is no bot of it.
    pub fn seated_at(&self, seating: Seating, entrants: &[u16]) -> Vec<usize> {
        let bot = |(seat, &entrant): (usize, &u16)| {
            let entrant = usize::from(entrant);
            if entrant >= self.entrants() {
                return self.len();
            }
            let bots = self.bots(entrant);
            bots.start + seat / seating.sides() % bots.len().max(1)
        };
        entrants.iter().enumerate().map(bot).collect()
    }

    /// Whose bot it is.
    pub fn entrant_of(&self, bot: usize) -> usize {
        self.first.partition_point(|&first| first <= bot).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::Entrant;

    #[test]
    fn bots_of_a_team_have_the_seats_of_its_side_in_order() {
        let roster = Roster::of([1, 2, 2]);
        let seated = |seating: Seating, sides: &[u16]| {
            let sides: Vec<Entrant> = sides.iter().map(|&side| Entrant(side)).collect();
            roster.seated(&Lineup::of_sides(seating, &sides).unwrap())
        };
        assert_eq!(seated(Seating::new(4, 2), &[1, 0]), [1, 0, 2, 0]);
        assert_eq!(seated(Seating::new(6, 3), &[2, 0, 1]), [3, 0, 1, 4, 0, 2]);
        assert_eq!([0, 1, 2, 3, 4].map(|bot| roster.entrant_of(bot)), [0, 1, 1, 2, 2]);
        assert_eq!(Roster::alone(2), Roster::of([1, 1]));
    }
}
