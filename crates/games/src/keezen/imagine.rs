//! Samples positions that are consistent with a seat's knowledge.

use super::cards::{Hand, RANKS, Rank, Stock};
use super::hands::Hands;
use super::plays::Plays;
use super::position::Position;
use super::seen::Seen;
use referee_game::{Seat, Uniform};

/// Samples a position consistent with the view of a seat. The unseen cards are distributed uniformly over hands and
/// deck, under the condition that the seat to move can play a card; otherwise it would have handed in its hand (K7).
pub(super) fn position(viewer: Seat, seen: &Seen, rng: &mut impl Uniform) -> Position {
    let Seen { to_move, board, dealer, deal, .. } = *seen;
    let mut unseen = unseen_cards(viewer, seen);
    let can_play = |plays: &Plays<'_>, cards: &[Rank]| cards.iter().any(|&card| plays.include(card));
    // If the seat to move holds no unseen cards or none of them is playable, the view is inconsistent, and any
    // distribution is acceptable.
    let must_play = to_move
        .filter(|&seat| known_hand(viewer, seen, seat).is_none() && seen.cards[seat.index()] > 0)
        .map(|seat| (seat, Plays::of(&board, seat)))
        .filter(|(_, plays)| can_play(plays, &unseen));
    loop {
        rng.shuffle(&mut unseen);
        let mut rest = &unseen[..];
        let mut hands = Hands::none(board.seats());
        for (seat, &count) in board.all().zip(&seen.cards) {
            *hands.of_mut(seat) = known_hand(viewer, seen, seat).unwrap_or_else(|| {
                let (cards, others) = rest.split_at(count.into());
                rest = others;
                let mut hand = Hand::NONE;
                cards.iter().for_each(|&card| hand.take(card));
                hand
            });
        }
        if must_play.as_ref().is_none_or(|(seat, plays)| can_play(plays, hands.of(*seat).cards())) {
            let stock = Stock::with(board.seats(), &seen.pile, rest);
            return Position { board, hands, stock, dealer, deal, to_move };
        }
    }
}

/// A hand visible to the viewer.
fn known_hand(viewer: Seat, seen: &Seen, seat: Seat) -> Option<Hand> {
    let hand = seen.hands.get(&seat).copied().or(seen.hand.filter(|_| seat == viewer));
    // A hand of another size means that the view belongs to another seat.
    hand.filter(|hand| hand.len() == seen.cards[seat.index()])
}

/// The cards that the viewer does not see, in hands and deck.
fn unseen_cards(viewer: Seat, seen: &Seen) -> Vec<Rank> {
    let seats = seen.board.seats();
    let mut left = [seats; RANKS];
    let mut see = |cards: &[Rank]| cards.iter().for_each(|&card| left[card as usize] -= 1);
    see(&seen.pile);
    for hand in seen.board.all().filter_map(|seat| known_hand(viewer, seen, seat)) {
        see(hand.cards());
    }
    let mut unseen = Vec::with_capacity(left.iter().map(|&count| usize::from(count)).sum());
    for card in Rank::ALL {
        unseen.extend(std::iter::repeat_n(card, left[card as usize].into()));
    }
    unseen
}
