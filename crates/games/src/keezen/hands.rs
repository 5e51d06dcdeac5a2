//! The cards that the seats hold.

use serde::{Serialize, Serializer};

use super::cards::Hand;
use referee_game::{MAX_SEATS, Seat};

/// The cards in hand, by seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hands {
    hands: [Hand; MAX_SEATS],
    seats: u8,
}

impl Hands {
    pub(super) const fn none(seats: u8) -> Hands {
        Hands { hands: [const { Hand::NONE }; MAX_SEATS], seats }
    }

    pub const fn of(&self, seat: Seat) -> Hand {
        self.hands[seat.index()]
    }

    pub(super) const fn of_mut(&mut self, seat: Seat) -> &mut Hand {
        &mut self.hands[seat.index()]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Seat, Hand)> + Clone {
        (0..self.seats).map(Seat).zip(self.hands)
    }
}

impl Serialize for Hands {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
