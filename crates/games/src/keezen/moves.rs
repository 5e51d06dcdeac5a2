//! Moves and their text form.

use std::fmt;
use std::str::FromStr;

use super::board::{Square, number, spell_number};
use super::cards::Rank;
use referee_game::{MAX_SEATS, Seat, Wrong};

/// Steps of a seven, forward.
pub(super) const SEVEN: u8 = 7;

/// A card and its effect. Pawns are identified by their places.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// `K enter`, `A enter`, `K enter 2`: moves a pawn from the base to its start.
    Enter {
        /// A king or an ace.
        card: Rank,
        /// The partner, if it is the partner's pawn (K6).
        partner: Option<Seat>,
    },
    /// `5 t17`, `2 h0.1`, `4 t17`: moves a pawn by the value of the card, a four backward.
    Go {
        /// A card that is neither a jack nor a king.
        card: Rank,
        pawn: Square,
    },
    /// `7 t17 4 t30 3`: splits the seven steps between two pawns, in this order (K5).
    Split {
        /// The pawn that moves first.
        first: Square,
        /// The number of steps, 1 to 6.
        steps: u8,
        /// The pawn that moves the remaining steps.
        second: Square,
    },
    /// `J t17 t40`: swaps two pawns (K4).
    Swap {
        /// The track square of the player's pawn.
        own: u8,
        /// The track square of the other pawn.
        other: u8,
    },
}

impl Move {
    pub const fn card(self) -> Rank {
        match self {
            Move::Enter { card, .. } | Move::Go { card, .. } => card,
            Move::Split { .. } => Rank::Seven,
            Move::Swap { .. } => Rank::Jack,
        }
    }
}

impl Move {
    /// Writes the text form, much faster than through a formatter.
    pub(super) fn spell(self, out: &mut impl fmt::Write) -> fmt::Result {
        let (card, places) = match self {
            Move::Enter { card, partner } => {
                out.write_str(card.name())?;
                out.write_str(" enter")?;
                return partner.map_or(Ok(()), |Seat(partner)| {
                    out.write_char(' ')?;
                    spell_number(partner, out)
                });
            }
            Move::Split { first, steps, second } => {
                out.write_str("7 ")?;
                first.spell(out)?;
                out.write_char(' ')?;
                spell_number(steps, out)?;
                out.write_char(' ')?;
                second.spell(out)?;
                out.write_char(' ')?;
                return spell_number(SEVEN - steps, out);
            }
            Move::Go { card, pawn } => (card, [Some(pawn), None]),
            Move::Swap { own, other } => (Rank::Jack, [own, other].map(|square| Some(Square::Track(square)))),
        };
        out.write_str(card.name())?;
        places.into_iter().flatten().try_for_each(|place| {
            out.write_char(' ')?;
            place.spell(out)
        })
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spell(f)
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const NO_MOVE: Wrong = Wrong::new(
    "a move is a card and what it does: `K enter`, `A enter`, `K enter 2` (a pawn of seat 2), `5 t17` or `2 h0.1` (the pawn \
     there), `7 t17 4 t30 3` (two pawns and their steps), `J t17 t40` (the own pawn and the other)",
);

fn read(text: &str) -> Option<Move> {
    let (card, rest) = text.split_once(' ')?;
    let card = Rank::named(card)?;
    let mut words = rest.split(' ');
    let words = [(); 5].map(|()| words.next());
    match (card, words) {
        (Rank::King | Rank::Ace, [Some("enter"), partner, None, ..]) => {
            let partner = match partner {
                Some(seat) => Some(Seat(number(seat, MAX_SEATS as u8)?)),
                None => None,
            };
            Some(Move::Enter { card, partner })
        }
        (Rank::Jack, [Some(own), Some(other), None, ..]) => match (own.parse().ok()?, other.parse().ok()?) {
            (Square::Track(own), Square::Track(other)) => Some(Move::Swap { own, other }),
            _ => None,
        },
        (Rank::Jack | Rank::King, _) => None,
        (_, [Some(pawn), None, ..]) => Some(Move::Go { card, pawn: pawn.parse().ok()? }),
        (Rank::Seven, [Some(first), Some(steps), Some(second), Some(rest), None]) => {
            let steps = number(steps, SEVEN).filter(|&steps| steps > 0)?;
            number(rest, SEVEN).filter(|&rest| steps + rest == SEVEN)?;
            Some(Move::Split { first: first.parse().ok()?, steps, second: second.parse().ok()? })
        }
        _ => None,
    }
}

impl FromStr for Move {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Move, Wrong> {
        read(text).ok_or(NO_MOVE)
    }
}
