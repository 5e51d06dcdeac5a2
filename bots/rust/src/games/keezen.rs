//! Keezen: a pawn is named by its position: `base`, `t17` on the track, `h0.1` in the home of seat 0.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Misspelled;
use super::text::{json_as_text, number, words};

/// The position as a seat may see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The seat to move; empty when the game is over.
    pub to_move: Vec<u8>,
    /// Number of squares on the track.
    pub track: u8,
    /// The start square of each seat.
    pub starts: Vec<u8>,
    /// The places of each seat's pawns, in the order base, track (by distance travelled), home.
    pub pawns: Vec<[Place; 4]>,
    /// The viewer's cards, sorted; `None` for spectators.
    pub hand: Option<Vec<Card>>,
    /// Other hands that the viewer may see, by seat.
    pub hands: BTreeMap<u8, Vec<Card>>,
    /// Number of cards in each seat's hand.
    pub cards: Vec<u8>,
    pub dealer: u8,
    /// The number of the deck cycle, counted from 0.
    pub cycle: u32,
    /// The deal within the cycle, 0 to 2.
    pub deal: u8,
    /// Cards played and handed in within this cycle, in order.
    pub pile: Vec<Card>,
    /// The seat whose pawns the seat to move plays; `None` when no seat is to move.
    pub playing_for: Option<u8>,
}

words! {
    /// A card without its suit, which has no effect.
    Card("card") {
        Two = "2",
        Three = "3",
        Four = "4",
        Five = "5",
        Six = "6",
        Seven = "7",
        Eight = "8",
        Nine = "9",
        Ten = "10",
        Jack = "J",
        Queen = "Q",
        King = "K",
        Ace = "A",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    Base,
    /// `t17`: a square of the track, 0 to 95.
    Track(u8),
    /// `h0.1`: in the home of a seat, a square from 0 to 3.
    Home {
        seat: u8,
        /// The square within the home.
        square: u8,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Base => f.write_str("base"),
            Place::Track(square) => write!(f, "t{square}"),
            Place::Home { seat, square } => write!(f, "h{seat}.{square}"),
        }
    }
}

impl FromStr for Place {
    type Err = Misspelled;

    fn from_str(text: &str) -> Result<Place, Misspelled> {
        let track = || Some(Place::Track(number(text.strip_prefix('t')?, 0..=95)?));
        let home = || {
            let (seat, square) = text.strip_prefix('h')?.split_once('.')?;
            Some(Place::Home { seat: number(seat, 0..=5)?, square: number(square, 0..=3)? })
        };
        let base = (text == "base").then_some(Place::Base);
        base.or_else(track).or_else(home).ok_or_else(|| Misspelled::new(text, "place of a pawn"))
    }
}

json_as_text! { Place }

/// A move: a card and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `K enter`, `A enter 2`: moves a pawn from its base to its start; a partner's pawn if its seat is given.
    Enter(Card, Option<u8>),
    /// `5 t17`: moves a pawn by the value of the card.
    Step(Card, Place),
    /// `7 t17 4 t30 3`: splits a seven between two pawns, in this order.
    Split([(Place, u8); 2]),
    /// `J t17 t40`: swaps an own pawn with another player's pawn.
    Swap(Place, Place),
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Enter(card, None) => write!(f, "{card} enter"),
            Move::Enter(card, Some(seat)) => write!(f, "{card} enter {seat}"),
            Move::Step(card, pawn) => write!(f, "{card} {pawn}"),
            Move::Split([(first, by), (second, rest)]) => write!(f, "7 {first} {by} {second} {rest}"),
            Move::Swap(own, other) => write!(f, "J {own} {other}"),
        }
    }
}

impl FromStr for Move {
    type Err = Misspelled;

    fn from_str(text: &str) -> Result<Move, Misspelled> {
        let enters = |card: &str| card.parse().ok().filter(|card| matches!(card, Card::Ace | Card::King));
        let steps = |card: &str| card.parse().ok().filter(|card| !matches!(card, Card::Jack | Card::King));
        let pawn = |text: &str| text.parse().ok().filter(|&place| place != Place::Base);
        let on_track = |text| pawn(text).filter(|place| matches!(place, Place::Track(_)));
        let by = |text| number(text, 1..=6);
        let read = || {
            Some(match text.split(' ').collect::<Vec<_>>()[..] {
                [card, "enter"] => Move::Enter(enters(card)?, None),
                [card, "enter", seat] => Move::Enter(enters(card)?, Some(number(seat, 0..=5)?)),
                [card, place] => Move::Step(steps(card)?, pawn(place)?),
                ["7", first, some, second, rest] => {
                    let legs = [(pawn(first)?, by(some)?), (pawn(second)?, by(rest)?)];
                    (legs[0].1 + legs[1].1 == 7).then_some(Move::Split(legs))?
                }
                ["J", own, other] => Move::Swap(on_track(own)?, on_track(other)?),
                _ => return None,
            })
        };
        read().ok_or_else(|| Misspelled::new(text, "move of Keezen"))
    }
}
