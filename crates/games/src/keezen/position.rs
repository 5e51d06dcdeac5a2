//! The position: pawns, cards, and the course of rounds.

use super::board::Board;
use super::cards::{Hand, Rank, Stock};
use super::fact::Fact;
use super::hands::Hands;
use super::moves::Move;
use super::plays::Plays;
use referee_game::{Seat, Viewer};

/// Cards per seat in each round of a cycle. Together they use up the deck.
pub(super) const DEALS: [u8; 3] = [5, 4, 4];

/// A position without counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub(super) board: Board,
    pub(super) hands: Hands,
    pub(super) stock: Stock,
    /// The dealer of this cycle.
    pub(super) dealer: Seat,
    /// The round within the cycle, 0 to 2.
    pub(super) deal: u8,
    /// The seat to move; `None` before a cycle and when the game is over.
    pub(super) to_move: Option<Seat>,
}

impl Position {
    /// The initial position: the highest seat is about to deal (K9).
    pub(super) const fn start(seats: u8) -> Position {
        Position {
            board: Board::new(seats),
            hands: Hands::none(seats),
            stock: Stock::of(seats),
            dealer: Seat(seats - 1),
            deal: 0,
            to_move: None,
        }
    }

    /// The dealer of this cycle.
    pub const fn dealer(&self) -> Seat {
        self.dealer
    }

    /// The round within the cycle, 0 to 2.
    pub const fn deal(&self) -> u8 {
        self.deal
    }

    pub const fn board(&self) -> &Board {
        &self.board
    }

    pub const fn hands(&self) -> &Hands {
        &self.hands
    }

    /// Played and handed-in cards of this cycle, in order.
    pub fn pile(&self) -> &[Rank] {
        self.stock.pile()
    }

    /// The cards that will be dealt in this cycle, in order.
    pub fn undealt(&self) -> &[Rank] {
        self.stock.rest()
    }

    /// Returns whether the viewer may see the hand of a seat. Partners see each other's from the moment that
    /// one of them has all pawns home (K8).
    pub fn shows(&self, seat: Seat, viewer: Viewer) -> bool {
        let board = &self.board;
        let is_partner = |partner| viewer == Viewer::Seat(partner);
        viewer.shares(seat)
            || board.partner(seat).is_some_and(|partner| {
                is_partner(partner) && [seat, partner].iter().any(|&seat| board.is_home(seat))
            })
    }

    /// Appends all legal moves of a seat. Equal cards give one move.
    pub(super) fn legal_moves(&self, seat: Seat, out: &mut Vec<Move>) {
        let plays = Plays::of(&self.board, seat);
        self.hands.of(seat).ranks().for_each(|card| plays.append(card, out));
    }

    /// Plays a legal move. Afterwards no seat is to move until [`Position::advance`].
    pub(super) fn play(&mut self, seat: Seat, mv: Move) {
        self.hands.of_mut(seat).remove(mv.card());
        self.stock.put(mv.card());
        self.board.play(seat, mv);
        self.to_move = None;
    }

    /// Begins a cycle with these cards.
    pub(super) fn shuffle(&mut self, numbers: &[u32], emit: &mut impl FnMut(Fact)) {
        self.stock = Stock::shuffled(self.board.seats(), numbers);
        self.deal_out(emit);
    }

    fn deal_out(&mut self, emit: &mut impl FnMut(Fact)) {
        for _ in 0..DEALS[self.deal as usize] {
            for places in 1..=self.board.seats() {
                let seat = self.board.left_of(self.dealer, places);
                self.hands.of_mut(seat).take(self.stock.deal());
            }
        }
        emit(Fact::Deal(self.hands));
    }

    /// Determines the next seat to move after this seat (after the dealer if cards have just been dealt). Seats that
    /// cannot play hand in their cards (K7, K9), and new rounds begin when all hands are empty. Returns whether the
    /// cycle is over: then no seat is to move and the next dealer is about to deal.
    pub(super) fn advance(&mut self, mut after: Seat, emit: &mut impl FnMut(Fact)) -> bool {
        loop {
            let mut others = (1..=self.board.seats()).map(|places| self.board.left_of(after, places));
            let Some(seat) = others.find(|&seat| !self.hands.of(seat).is_empty()) else {
                if usize::from(self.deal) + 1 == DEALS.len() {
                    self.deal = 0;
                    self.dealer = self.board.left_of(self.dealer, 1);
                    self.stock = Stock::of(self.board.seats());
                    return true;
                }
                self.deal += 1;
                self.deal_out(emit);
                after = self.dealer;
                continue;
            };
            let hand = self.hands.of(seat);
            let plays = Plays::of(&self.board, seat);
            if hand.ranks().any(|card| plays.include(card)) {
                self.to_move = Some(seat);
                return false;
            }
            hand.cards().iter().for_each(|&card| self.stock.put(card));
            *self.hands.of_mut(seat) = Hand::NONE;
            emit(Fact::HandIn { seat, cards: hand });
            after = seat;
        }
    }
}
