//! The rules.

mod cards;
mod formats;
mod hidden;
mod rounds;
mod rulings;
mod slow;
mod splits;

use std::collections::BTreeSet;

use super::cards::{RANKS, Stock};
use super::*;

fn seating(seats: u8) -> Seating {
    *Keezen::META.seatings.iter().find(|seating| seating.seats() == usize::from(seats)).unwrap()
}

fn start(seats: u8) -> Keezen {
    Keezen::start(&Options::default(), seating(seats)).unwrap()
}

/// A position in the last round of a cycle, so that nothing is dealt when it ends; seat 0 is to move. Pawns and cards
/// by seat with `|` between; pawns that are not named are in the base.
fn game(pawns: &str, hands: &str) -> Keezen {
    let pawns: Vec<&str> = pawns.split('|').collect();
    let mut game = start(pawns.len() as u8);
    let position = &mut game.position;
    for (seat, pawns) in (0..).map(Seat).zip(pawns) {
        for square in pawns.split_whitespace() {
            assert!(position.board.set_up(seat, square.parse().unwrap()), "{square} for seat {seat}");
        }
    }
    for (seat, cards) in (0..).map(Seat).zip(hands.split('|')) {
        *position.hands.of_mut(seat) = hand(cards);
    }
    position.stock = Stock::with(position.board.seats(), &[], &[]);
    position.deal = 2;
    position.to_move = Some(Seat(0));
    game
}

fn hand(cards: &str) -> Hand {
    let cards: Vec<Rank> = cards.split_whitespace().map(|card| Rank::named(card).unwrap()).collect();
    cards.try_into().unwrap()
}

/// The legal moves, in the order of their bytes, with a comma between.
fn legal(game: &Keezen) -> String {
    let Some(seat) = game.position.to_move else { return String::new() };
    let mut moves = Vec::new();
    game.legal_moves(seat, &mut moves);
    let texts: BTreeSet<String> = moves.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), moves.len(), "a move is listed twice: {moves:?}");
    texts.into_iter().collect::<Vec<_>>().join(", ")
}

/// Legal plays of seat 0 with one card; empty if it has to hand it in.
fn plays(pawns: &str, card: &str) -> String {
    legal(&game(pawns, card))
}

/// Plays a legal move, and tells its consequences.
fn play(game: &mut Keezen, text: &str) -> Vec<Fact> {
    let legal = legal(game);
    assert!(legal.split(", ").any(|mv| mv == text), "{text} is not among {legal}");
    let mut facts = Vec::new();
    game.play_unchecked(game.position.to_move.unwrap(), text.parse().unwrap(), &mut |fact| facts.push(fact));
    facts
}

/// The pawns that are not in a base, as [`game`] reads them.
fn pawns(game: &Keezen) -> String {
    let board = &game.position.board;
    let of =
        |seat| board.pawns(seat).flatten().map(|square| square.to_string()).collect::<Vec<_>>().join(" ");
    board.all().map(of).collect::<Vec<_>>().join("|")
}

/// The pawns after seat 0 has made this move.
fn after(before: &str, text: &str) -> String {
    let mut game = game(before, text.split(' ').next().unwrap());
    play(&mut game, text);
    pawns(&game)
}

/// The numbers of these cards in the ordered deck, then those of all others in its order.
fn numbers(seats: u8, cards: &str) -> Vec<u32> {
    let order = "A 2 3 4 5 6 7 8 9 10 J Q K";
    let deck = order.split(' ').flat_map(|card| std::iter::repeat_n(card, seats.into()));
    let mut deck: Vec<(u32, &str)> = (0..).zip(deck).collect();
    assert_eq!(deck.len(), RANKS * usize::from(seats));
    let first = cards.split_whitespace().map(|card| {
        let at = deck.iter().position(|&(_, other)| other == card).expect("enough of each");
        deck.remove(at).0
    });
    let mut numbers: Vec<u32> = first.collect();
    numbers.extend(deck.iter().map(|&(number, _)| number));
    numbers
}

/// Shuffles so that these cards come first.
fn shuffle(game: &mut Keezen, cards: &str) -> Vec<Fact> {
    let seats = game.position.board.seats();
    assert_eq!(game.turn(), Turn::Draw(Draw::Shuffle { len: 13 * u16::from(seats) }));
    let mut facts = Vec::new();
    game.settle(&numbers(seats, cards), &mut |fact| facts.push(fact));
    facts
}

fn handed_in(seat: u8, cards: &str) -> Fact {
    Fact::HandIn { seat: Seat(seat), cards: hand(cards) }
}

fn winner(game: &Keezen) -> Option<usize> {
    let Turn::Over(outcome) = game.turn() else { return None };
    assert_eq!(outcome.reason, "home");
    outcome.winner(seating(game.position.board.seats()))
}
