//! The cards: ranks, hands, and the stock from which they are dealt.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use referee_game::MAX_SEATS;

/// The maximum number of cards in a hand.
pub(super) const HAND: usize = 5;
/// The number of ranks. Each rank has as many cards as there are seats.
pub(super) const RANKS: usize = 13;

/// A card. Suits have no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    #[default]
    Two,
    Three,
    Four,
    Five,
    Six,
    Seven,
    Eight,
    Nine,
    Ten,
    Jack,
    Queen,
    King,
    Ace,
}

impl Rank {
    /// The ranks, in the order of hands.
    pub const ALL: [Rank; RANKS] = [
        Rank::Two,
        Rank::Three,
        Rank::Four,
        Rank::Five,
        Rank::Six,
        Rank::Seven,
        Rank::Eight,
        Rank::Nine,
        Rank::Ten,
        Rank::Jack,
        Rank::Queen,
        Rank::King,
        Rank::Ace,
    ];
    const NAMES: [&str; RANKS] = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];

    /// The name in moves and views.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub fn named(name: &str) -> Option<Rank> {
        Self::NAMES.iter().position(|&known| known == name).map(|at| Self::ALL[at])
    }

    /// The number of squares that one pawn moves forward, 1 to 12; `None` for a four, which moves backward, a jack
    /// and a king.
    pub const fn forward(self) -> Option<u8> {
        match self {
            Rank::Four | Rank::Jack | Rank::King => None,
            Rank::Ace => Some(1),
            Rank::Queen => Some(12),
            number => Some(number as u8 + 2),
        }
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Rank {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Rank {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rank, D::Error> {
        let name = String::deserialize(deserializer)?;
        Rank::named(&name).ok_or_else(|| de::Error::custom("a card is one of 2 to 10, J, Q, K and A"))
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "Vec<Rank>")]
pub struct Hand {
    /// The cards; entries beyond `len` are twos, so that equal hands compare equal.
    cards: [Rank; HAND],
    len: u8,
}

impl Hand {
    pub const NONE: Hand = Hand { cards: [Rank::Two; HAND], len: 0 };

    /// Returns the cards, sorted.
    pub fn cards(&self) -> &[Rank] {
        &self.cards[..self.len as usize]
    }

    pub const fn len(&self) -> u8 {
        self.len
    }

    /// Returns whether the hand is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The distinct ranks in the hand, in order.
    pub(super) fn ranks(&self) -> impl Iterator<Item = Rank> {
        let mut last = None;
        self.cards().iter().copied().filter(move |&card| last.replace(card) != Some(card))
    }

    /// Adds a card. The hand must have fewer than five.
    pub(super) fn take(&mut self, card: Rank) {
        let mut at = self.len as usize;
        self.cards[at] = card;
        self.len += 1;
        while at > 0 && self.cards[at - 1] > self.cards[at] {
            self.cards.swap(at - 1, at);
            at -= 1;
        }
    }

    /// Removes a card, if present.
    pub(super) fn remove(&mut self, card: Rank) {
        if let Some(at) = self.cards().iter().position(|&held| held == card) {
            self.len -= 1;
            for at in at..self.len as usize {
                self.cards[at] = self.cards[at + 1];
            }
            self.cards[self.len as usize] = Rank::default();
        }
    }
}

impl TryFrom<Vec<Rank>> for Hand {
    type Error = &'static str;

    fn try_from(cards: Vec<Rank>) -> Result<Hand, &'static str> {
        let mut hand = Hand::default();
        if cards.len() > HAND {
            return Err("a hand has at most five cards");
        }
        cards.into_iter().for_each(|card| hand.take(card));
        Ok(hand)
    }
}

impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cards().fmt(f)
    }
}

impl Serialize for Hand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.cards().serialize(serializer)
    }
}

/// The cards of a cycle that are not in a hand: the pile of played cards at one end, the undealt cards at the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Stock {
    /// The cards; entries between `pile` and `dealt`, and beyond `all`, are twos, so that equal stocks compare equal.
    cards: [Rank; RANKS * MAX_SEATS],
    /// The number of cards on the pile.
    pile: u8,
    /// The number of dealt cards, including the pile.
    dealt: u8,
    /// The number of cards in the game.
    all: u8,
}

impl Stock {
    /// Creates the stock of a game with this many seats before the first shuffle: without pile and deck.
    pub(super) const fn of(seats: u8) -> Stock {
        let all = RANKS as u8 * seats;
        Stock { cards: [Rank::Two; RANKS * MAX_SEATS], pile: 0, dealt: all, all }
    }

    /// Creates an undealt stock from a shuffle, given as indices in the ordered deck: all aces, all twos, ..., all
    /// kings.
    pub(super) fn shuffled(seats: u8, numbers: &[u32]) -> Stock {
        let mut stock = Stock { dealt: 0, ..Stock::of(seats) };
        for (card, &number) in stock.cards.iter_mut().zip(numbers) {
            *card = Rank::ALL[(usize::from(number as u8 / seats) + RANKS - 1) % RANKS];
        }
        stock
    }

    /// Creates a stock with this pile and these undealt cards, together at most the cards of the game.
    pub(super) fn with(seats: u8, pile: &[Rank], rest: &[Rank]) -> Stock {
        let mut stock = Stock::of(seats);
        pile.iter().for_each(|&card| stock.put(card));
        stock.dealt = stock.all - rest.len() as u8;
        stock.cards[stock.dealt as usize..stock.all as usize].copy_from_slice(rest);
        stock
    }

    /// The number of cards in the game.
    pub(super) const fn all(&self) -> u8 {
        self.all
    }

    /// Played and handed-in cards, in order.
    pub(super) fn pile(&self) -> &[Rank] {
        &self.cards[..self.pile as usize]
    }

    /// The cards still to be dealt, the next one first.
    pub(super) fn rest(&self) -> &[Rank] {
        &self.cards[self.dealt as usize..self.all as usize]
    }

    /// Deals the next card of the deck, which must not be empty.
    pub(super) fn deal(&mut self) -> Rank {
        self.dealt += 1;
        std::mem::take(&mut self.cards[self.dealt as usize - 1])
    }

    /// Puts a dealt card on the pile.
    pub(super) fn put(&mut self, card: Rank) {
        self.cards[self.pile as usize] = card;
        self.pile += 1;
    }
}

impl fmt::Debug for Stock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stock").field("pile", &self.pile()).field("rest", &self.rest()).finish()
    }
}
