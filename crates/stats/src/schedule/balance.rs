//! The balance of a rotation of partners.

use serde::Serialize;

use super::{Format, Schedule};

/// The least and the greatest of some counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CountRange {
    pub least: u32,
    pub most: u32,
}

impl CountRange {
    fn of(counts: impl Iterator<Item = u32> + Clone) -> CountRange {
        CountRange { least: counts.clone().min().unwrap_or(0), most: counts.max().unwrap_or(0) }
    }
}

/// The balance of a rotation of partners, in matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Balance {
    /// The number of times that two entrants are partners.
    pub partners: CountRange,
    /// The number of times that two entrants are opponents.
    pub opponents: CountRange,
    /// The number of times that an entrant has a side.
    pub sides: CountRange,
    /// The number of times that an entrant has the first, and the second, seat of its side.
    pub seats_of_side: CountRange,
    /// The number of times that an entrant has another one in the next seat.
    pub left_neighbours: CountRange,
}

impl Schedule {
    /// The balance of a rotation of partners; `None` in other formats.
    pub fn balance(&self) -> Option<Balance> {
        if !matches!(self.plan.format, Format::Partners { .. }) {
            return None;
        }
        let (entrants, sides) = (self.plan.entrants.len(), self.plan.seating.sides());
        let grid = |columns: usize| vec![0u32; entrants * columns];
        let (mut partners, mut opponents, mut left) = (grid(entrants), grid(entrants), grid(entrants));
        let (mut of_side, mut of_seat) = (grid(sides), grid(2));
        for set in &self.sets {
            for leg in 0..self.legs as usize {
                let lineup = self.plan.deals.leg(set.first, leg);
                let seats = lineup.seats();
                for (seat, entrant) in seats.iter().map(|entrant| entrant.index()).enumerate() {
                    of_side[entrant * sides + seat % sides] += 1;
                    of_seat[entrant * 2 + seat / sides] += 1;
                    left[entrant * entrants + seats[(seat + 1) % seats.len()].index()] += 1;
                    for (other_seat, other) in seats.iter().enumerate().filter(|&(other, _)| other != seat) {
                        let met =
                            if other_seat % sides == seat % sides { &mut partners } else { &mut opponents };
                        met[entrant * entrants + other.index()] += 1;
                    }
                }
            }
        }
        let others = |counts: &[u32]| {
            let counts = counts.iter().copied().enumerate();
            CountRange::of(counts.filter(|(at, _)| at / entrants != at % entrants).map(|(_, count)| count))
        };
        Some(Balance {
            partners: others(&partners),
            opponents: others(&opponents),
            sides: CountRange::of(of_side.iter().copied()),
            seats_of_side: CountRange::of(of_seat.iter().copied()),
            left_neighbours: others(&left),
        })
    }
}
