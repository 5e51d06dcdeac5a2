//! Deserialized views.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de};

use super::board::{Board, PAWNS};
use super::cards::{Hand, RANKS, Rank};
use super::position::DEALS;
use referee_game::Seat;

/// A deserialized and validated view, without redundant fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "UncheckedView")]
pub struct Seen {
    /// The seat to move; `None` when the game is over.
    pub to_move: Option<Seat>,
    pub board: Board,
    /// The viewer's own cards; `None` for a spectator.
    pub hand: Option<Hand>,
    /// Other hands that the viewer may see (K8).
    pub hands: BTreeMap<Seat, Hand>,
    /// The number of cards in each hand.
    pub cards: Vec<u8>,
    /// The dealer of this cycle.
    pub dealer: Seat,
    /// The number of the deck cycle, counted from 0.
    pub cycle: u32,
    /// The round within the cycle, 0 to 2.
    pub deal: u8,
    /// Played and handed-in cards of this cycle, in order.
    pub pile: Vec<Rank>,
}

/// The fields of a view before validation.
#[derive(Deserialize)]
struct UncheckedView {
    to_move: Vec<u8>,
    pawns: Vec<[Pawn; PAWNS]>,
    hand: Option<Hand>,
    hands: BTreeMap<u8, Hand>,
    cards: Vec<u8>,
    dealer: u8,
    cycle: u32,
    deal: u8,
    pile: Vec<Rank>,
}

/// The text of a pawn's square; `None` in the base.
struct Pawn(Option<super::Square>);

impl<'de> Deserialize<'de> for Pawn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pawn, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "base" {
            return Ok(Pawn(None));
        }
        text.parse().map(|square| Pawn(Some(square))).map_err(de::Error::custom)
    }
}

impl TryFrom<UncheckedView> for Seen {
    type Error = &'static str;

    fn try_from(view: UncheckedView) -> Result<Seen, &'static str> {
        let UncheckedView { to_move, pawns, hand, hands, cards, dealer, cycle, deal, pile } = view;
        if ![2, 4, 6].contains(&pawns.len()) || cards.len() != pawns.len() {
            return Err("`pawns` and `cards` have an entry for each of 2, 4 or 6 seats");
        }
        let mut board = Board::new(pawns.len() as u8);
        let seat = |seat: u8| Some(Seat(seat)).filter(|_| seat < pawns.len() as u8);
        let to_move = match *to_move {
            [] => None,
            [to_move] => Some(seat(to_move).ok_or("`to_move` is not a seat of the game")?),
            _ => return Err("`to_move` lists one seat or none"),
        };
        let dealer = seat(dealer).ok_or("`dealer` is not a seat of the game")?;
        let hands = hands.into_iter().map(|(owner, hand)| Some((seat(owner)?, hand)));
        let hands: BTreeMap<Seat, Hand> =
            hands.collect::<Option<_>>().ok_or("`hands` has the seats of the game")?;

        for (owner, pawns) in (0..).map(Seat).zip(&pawns) {
            if !pawns.iter().filter_map(|pawn| pawn.0).all(|square| board.set_up(owner, square)) {
                return Err("two pawns stand on one square, or one where its seat cannot go");
            }
        }

        if !hands.iter().all(|(owner, hand)| cards[owner.index()] == hand.len()) {
            return Err("`hands` and `cards` differ");
        }
        let &most = DEALS.get(usize::from(deal)).ok_or("`deal` is 0, 1 or 2")?;
        let dealt: usize = DEALS[..=usize::from(deal)].iter().map(|&cards| usize::from(cards)).sum();
        let known = cards.iter().map(|&cards| usize::from(cards)).sum::<usize>() + pile.len();
        let is_dealt = known == dealt * pawns.len() || known == 0 && deal == 0;
        if cards.iter().any(|&cards| cards > most) || !is_dealt {
            return Err("`cards` and `pile` are not what was dealt up to `deal`");
        }
        let mut shown = [0; RANKS];
        let held = hands.values().chain(&hand).flat_map(|hand| hand.cards());
        pile.iter().chain(held).for_each(|&card| shown[card as usize] += 1);
        if shown.iter().any(|&shown| shown > pawns.len()) {
            return Err("there are as many cards of a rank as seats");
        }
        Ok(Seen { to_move, board, hand, hands, cards, dealer, cycle, deal, pile })
    }
}
