//! The bots of each entrant of a tournament.

use std::ops::Range;

use referee_game::Seating;
use referee_stats::Lineup;

/// The bots of each entrant: one bot for all seats of a side, or a team with one bot per seat. The bots of an entrant
/// have consecutive indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// The index of each entrant's first bot, then the number of bots.
    first: Vec<usize>,
}

impl Roster {
    /// Entrants with these numbers of bots.
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

    pub fn bots(&self, entrant: usize) -> Range<usize> {
        self.first[entrant]..self.first[entrant + 1]
    }

    pub fn entrants(&self) -> usize {
        self.first.len() - 1
    }

    pub fn len(&self) -> usize {
        self.first[self.first.len() - 1]
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bots by seat. A team fills the seats of its side in order.
    pub fn seated(&self, lineup: &Lineup) -> Vec<usize> {
        let entrants: Vec<u16> = lineup.seats().iter().map(|entrant| entrant.0).collect();
        self.seated_at(lineup.seating(), &entrants)
    }

    /// The bots by seat of entrants from a database, which may not be in this roster; their bots get the index
    /// [`Roster::len`].
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

    pub fn entrant_of(&self, bot: usize) -> usize {
        self.first.partition_point(|&first| first <= bot).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use referee_stats::Entrant;

    use super::*;

    #[test]
    fn bots_of_team_fill_seats_of_its_side_in_order() {
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
