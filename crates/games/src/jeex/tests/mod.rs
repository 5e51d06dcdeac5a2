//! Helpers of the tests: positions, and moves as texts.

mod formats;
mod model;
mod rules;
mod rulings;

use std::collections::BTreeSet;

use super::grid::fields;
use super::*;

const WHITE: Seat = Seat(0);
const BLACK: Seat = Seat(1);
/// The example game of the rules page.
const EXAMPLE: [&str; 12] = [
    "place b3 E",
    "place b2 NW",
    "place a3 SE",
    "place c1 N",
    "rotate b3 SE",
    "place c3 W",
    "place d1 NW",
    "capture c3 b3",
    "capture a3 b2",
    "rotate b3 SE",
    "capture d1 b3",
    "claim",
];
/// An opening after which both sides rotate without attacking.
const QUIET: [&str; 2] = ["place a1 W", "place e3 E"];

fn started(options: &Options) -> Jeex {
    Jeex::start(options, Jeex::META.seatings[0]).unwrap()
}

/// The position after these moves from the start.
fn after(moves: &[&str]) -> Jeex {
    let mut position = started(&Options::default());
    play(&mut position, moves);
    position
}

/// White to move in a position of the phase of play, all other stones in supply. A stone is like `b3 SE`.
fn at(white: &[&str], black: &[&str]) -> Jeex {
    let mut position = started(&Options::default());
    position.board.phase = Phase::Play;
    for (colour, stones) in [(Colour::White, white), (Colour::Black, black)] {
        for stone in stones {
            let (field, direction) = stone.split_once(' ').unwrap();
            let (field, direction) = (Field::named(field).unwrap(), Direction::named(direction).unwrap());
            position.board.put(field, colour, direction);
            position.board.supply[colour as usize] -= 1;
        }
    }
    position
}

fn typed_moves(position: &Jeex) -> Vec<Move> {
    let mut moves = Vec::new();
    position.legal_moves(position.board.to_move().seat(), &mut moves);
    moves
}

/// The legal moves that begin like this, in the order of their bytes.
fn moves(position: &Jeex, beginning: &str) -> Vec<String> {
    let texts: BTreeSet<String> = typed_moves(position).iter().map(ToString::to_string).collect();
    texts.into_iter().filter(|text| text.starts_with(beginning)).collect()
}

fn is_legal(position: &Jeex, text: &str) -> bool {
    typed_moves(position).contains(&text.parse().unwrap())
}

/// The fields where a stone can be placed, with a space between.
fn places(position: &Jeex) -> String {
    let fields: BTreeSet<Field> = typed_moves(position)
        .into_iter()
        .filter_map(|mv| if let Move::Place { at, .. } = mv { Some(at) } else { None })
        .collect();
    fields.into_iter().map(Field::name).collect::<Vec<_>>().join(" ")
}

fn play(position: &mut Jeex, moves: &[&str]) {
    for text in moves {
        assert!(matches!(position.turn(), Turn::Decide(_)), "{text} comes too late: {position:?}");
        assert!(is_legal(position, text), "{text} is not legal: {position:?}");
        position.play_unchecked(position.board.to_move().seat(), text.parse().unwrap(), &mut |_| {});
    }
}

/// Plays plies that rotate the stones of [`QUIET`]; White is to move.
fn rotate(position: &mut Jeex, plies: usize) {
    for text in ["rotate a1 S", "rotate e3 N", "rotate a1 W", "rotate e3 E"].into_iter().cycle().take(plies) {
        play(position, &[text]);
    }
}

/// The stones like `b3 SE`, White's before Black's.
fn stones(position: &Jeex) -> [Vec<String>; 2] {
    Colour::ALL.map(|colour| {
        let own = position.board.stones().filter(|(_, (owner, _))| *owner == colour);
        own.map(|(at, (_, direction))| format!("{at} {direction}")).collect()
    })
}

fn is_won_by(position: &Jeex, seat: Seat, reason: &str) -> bool {
    let Turn::Over(outcome) = position.turn() else { return false };
    outcome.winner(Jeex::META.seatings[0]) == Some(seat.index()) && outcome.reason == reason
}

fn is_to_move(position: &Jeex, seat: Seat) -> bool {
    position.turn() == Turn::Decide(SeatSet::one(seat))
}

/// The field next to the centre in a direction.
fn beside_centre(direction: Direction) -> Field {
    fields(direction.back().towards_centre()).next().unwrap()
}
