//! Keezenspel: a move is two to four actions: a card, then its effect. Squares count from the viewer's start.

use referee_game::{Seat, Seating, Viewer};
use referee_games::keezen::{Keezen, Move, Rank, Square};

use super::{Encoding, Word, share};

const CARDS: usize = Rank::ALL.len();
const ENTER: u16 = CARDS as u16;
const ENTER_PARTNER: u16 = ENTER + 1;
const TRACK: u16 = ENTER_PARTNER + 1;
const HOME: u16 = 4;
/// The most cards in a hand.
const HAND: f32 = 5.0;

#[derive(Debug)]
pub(crate) struct KeezenEncoding {
    seats: u8,
    /// The number of track squares.
    track: u16,
    /// The first action that names a pawn in the own home; the partner's home follows.
    homes: u16,
    /// The action of 1 step of a seven; those of 2 to 7 follow.
    steps: u16,
}

impl KeezenEncoding {
    fn start(&self, seat: Seat) -> u16 {
        u16::from(seat.0) * self.track / u16::from(self.seats)
    }

    /// A track square, counted from a seat's start.
    fn counted(&self, seat: Seat, square: u8) -> u16 {
        (u16::from(square) + self.track - self.start(seat)) % self.track
    }

    /// The action that names the pawn on a square.
    fn pawn(&self, seat: Seat, square: Square) -> u16 {
        match square {
            Square::Track(square) => TRACK + self.counted(seat, square),
            Square::Home(owner, square) => {
                self.homes + if owner == seat { 0 } else { HOME } + u16::from(square)
            }
        }
    }
}

/// Counts cards by rank, as shares of the most that there may be.
fn count(cards: &[Rank], most: f32, out: &mut [f32]) {
    cards.iter().for_each(|&card| out[card as usize] += 1.0);
    out[..CARDS].iter_mut().for_each(|count| *count /= most);
}

impl Encoding for KeezenEncoding {
    type Game = Keezen;

    fn new(seating: Seating) -> Self {
        let seats = seating.seats() as u8;
        let track = if seats == 6 { 96 } else { 64 };
        let homes = TRACK + track;
        KeezenEncoding { seats, track, homes, steps: homes + 2 * HOME }
    }

    fn shape(&self) -> Vec<usize> {
        // The pawns of each seat, cards by rank (own, partner's, pile), numbers of cards, dealer, whose pawns are
        // played, the deal, the actions chosen.
        let seats = usize::from(self.seats);
        vec![seats * (usize::from(self.track) + 5) + 3 * CARDS + 3 * seats + 3 + self.actions()]
    }

    fn actions(&self) -> usize {
        usize::from(self.steps) + 7
    }

    fn word(&self, seat: Seat, mv: Move) -> Word {
        let card = mv.card() as u16;
        let pawn = |square| self.pawn(seat, square);
        match mv {
            Move::Enter { partner: None, .. } => Word::of([card, ENTER]),
            Move::Enter { partner: Some(_), .. } => Word::of([card, ENTER_PARTNER]),
            Move::Go { card: Rank::Seven, pawn: square } => Word::of([card, pawn(square), self.steps + 6]),
            Move::Go { pawn: square, .. } => Word::of([card, pawn(square)]),
            Move::Split { first, steps, second } => {
                Word::of([card, pawn(first), self.steps + u16::from(steps) - 1, pawn(second)])
            }
            Move::Swap { own, other } => {
                Word::of([card, pawn(Square::Track(own)), pawn(Square::Track(other))])
            }
        }
    }

    fn write(&self, position: &Keezen, seat: Seat, chosen: &[u16], out: &mut [f32]) {
        let position = position.position();
        let (board, hands) = (position.board(), position.hands());
        let order = || (0..self.seats).map(|turn| Seat((seat.0 + turn) % self.seats));
        let mut rest = out;
        for owner in order() {
            let pawns;
            (pawns, rest) = rest.split_at_mut(usize::from(self.track) + 5);
            for pawn in board.pawns(owner) {
                match pawn {
                    None => pawns[0] += 0.25,
                    Some(Square::Track(square)) => pawns[1 + usize::from(self.counted(seat, square))] = 1.0,
                    Some(Square::Home(_, square)) => {
                        pawns[1 + usize::from(self.track) + usize::from(square)] = 1.0;
                    }
                }
            }
        }
        count(hands.of(seat).cards(), HAND, rest);
        let partner = board.partner(seat).filter(|&partner| position.shows(partner, Viewer::Seat(seat)));
        if let Some(partner) = partner {
            count(hands.of(partner).cards(), HAND, &mut rest[CARDS..]);
        }
        count(position.pile(), f32::from(self.seats), &mut rest[2 * CARDS..]);
        rest = &mut rest[3 * CARDS..];
        let played = board.played_by(seat);
        let seats = usize::from(self.seats);
        for (turn, owner) in order().enumerate() {
            rest[turn] = share(hands.of(owner).len(), 5);
            rest[seats + turn] = f32::from(u8::from(owner == position.dealer()));
            rest[2 * seats + turn] = f32::from(u8::from(owner == played));
        }
        rest = &mut rest[3 * seats..];
        rest[usize::from(position.deal())] = 1.0;
        for &action in chosen {
            rest[3 + usize::from(action)] = 1.0;
        }
    }
}
