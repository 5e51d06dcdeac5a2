//! Keezen: a pawn is named by where it stands: `base`, `t17` on the track, `h0.1` in the home of seat 0.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Misspelled;
use super::text::{json_as_text, number, words};

/// The position as a seat may see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The seat that plays; none when the game is over.
    pub to_move: Vec<u8>,
    /// How many squares the track has.
    pub track: u8,
    /// The start square of each seat.
    pub starts: Vec<u8>,
    /// Where the pawns of each seat stand: base first, then the track by way, then home.
    pub pawns: Vec<[Place; 4]>,
    /// The viewer's cards, sorted; none for spectators.
    pub hand: Option<Vec<Card>>,
    /// Other hands that the viewer may see, by seat.
    pub hands: BTreeMap<u8, Vec<Card>>,
    /// How many cards each seat holds.
    pub cards: Vec<u8>,
    /// The seat that dealt.
    pub dealer: u8,
    /// Counted from 1.
    pub cycle: u32,
    /// 0 to 2 within the cycle.
    pub deal: u8,
    /// Cards played and handed in within this cycle, in order.
    pub pile: Vec<Card>,
    /// The seat whose pawns the seat to move plays; none when nobody is to move.
    pub playing_for: Option<u8>,
}

words! {
    /// A card; the suit means nothing.
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

/// Where a pawn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// `base`
    Base,
    /// `t17`: a square of the track, 0 to 95.
    Track(u8),
    /// `h0.1`: in the home of a seat, a square from 0 to 3.
    Home {
        /// Whose home.
        seat: u8,
        /// Which square.
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

/// A move: a card and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// `K enter`, `A enter 2`: brings a pawn from its base onto its start; the partner's, where its seat is named.
    Enter(Card, Option<u8>),
    /// `5 t17`: moves a pawn by the worth of the card.
    Step(Card, Place),
    /// `7 t17 4 t30 3`: splits a seven over two pawns, in this order.
    Split([(Place, u8); 2]),
    /// `J t17 t40`: an own pawn changes places with another player's.
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
