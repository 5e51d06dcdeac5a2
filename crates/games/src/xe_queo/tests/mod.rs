//! The rules.

mod formats;
mod rulings;
mod secrets;
mod slow;

use std::collections::BTreeSet;

use super::*;

const ZERO: Seat = Seat(0);
const ONE: Seat = Seat(1);

/// Red, orange, yellow, green, blue, purple and black stand on these squares, and seat 1 is to put the first ring down.
fn set_up(squares: &str) -> XeQueo {
    let mut game = XeQueo::start(&Options::default(), XeQueo::META.seatings[0]).unwrap();
    assert_eq!(game.turn(), Turn::Draw(Draw::Shuffle { len: 49 }));
    let number = |name: &str| {
        let square = Square::named(name).unwrap();
        u32::from(square.rank()) * 7 + u32::from(square.file())
    };
    let mut drawn: Vec<u32> = squares.split(' ').map(number).collect();
    assert_eq!(drawn.len(), 7);
    let others: Vec<u32> = (0..49).filter(|number| !drawn.contains(number)).collect();
    drawn.extend(others);
    game.settle(&drawn, &mut |_| {});
    game
}

/// The pawns stand like this, the ring lies there, the seats have chosen these pawns, and seat 0 is to move.
fn playing(squares: &str, ring: &str, choices: [&str; 2]) -> XeQueo {
    let mut game = set_up(squares);
    game.position.ring = Square::named(ring);
    game.position.choices = choices.map(Pawn::named);
    game.position.to_move = ZERO;
    game
}

/// The only seat that decides.
fn mover(game: &XeQueo) -> Seat {
    match game.turn() {
        Turn::Decide(seats) if seats.len() == 1 => seats.iter().next().unwrap(),
        turn => panic!("{turn:?}"),
    }
}

/// The legal moves of a seat, in the order of their bytes.
fn legal(game: &XeQueo, seat: Seat) -> Vec<String> {
    let mut moves = Vec::new();
    game.legal_moves(seat, &mut moves);
    let texts: BTreeSet<String> = moves.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), moves.len(), "a move is listed twice: {moves:?}");
    texts.into_iter().collect()
}

/// Legal moves of the seat to move that begin with this text, joined by spaces, without it.
fn legal_of(game: &XeQueo, beginning: &str) -> String {
    let legal = legal(game, mover(game));
    legal.iter().filter_map(|mv| mv.strip_prefix(beginning)?.strip_prefix(' ')).collect::<Vec<_>>().join(" ")
}

/// The squares to which the mover may bring a pawn.
fn ends(game: &XeQueo, pawn: &str) -> String {
    legal_of(game, &format!("move {pawn}"))
}

/// Plays a legal move of a seat, and tells its consequences.
fn play_as(game: &mut XeQueo, seat: Seat, text: &str) -> Vec<Fact> {
    let legal = legal(game, seat);
    assert!(legal.iter().any(|mv| mv == text), "{text} is not among {legal:?}");
    let mut facts = Vec::new();
    game.play_unchecked(seat, text.parse().unwrap(), &mut |fact| facts.push(fact));
    facts
}

/// Plays a legal move of the seat to move, and tells its consequences.
fn play(game: &mut XeQueo, text: &str) -> Vec<Fact> {
    play_as(game, mover(game), text)
}

fn choose(game: &mut XeQueo, pawns: [&str; 2]) {
    assert_eq!(game.turn(), Turn::Decide(SeatSet::first(2)));
    for (seat, pawn) in [ZERO, ONE].into_iter().zip(pawns) {
        assert_eq!(play_as(game, seat, &format!("choose {pawn}")), []);
    }
}

fn round(winner: Seat, choices: [&str; 2], reason: Reason) -> Fact {
    Fact::Round(Round { winner, choices: choices.map(|pawn| Pawn::named(pawn).unwrap()), reason })
}

/// A round in which the starting player accuses wrongly, and so gives the ring to the other.
fn lose_a_round(game: &mut XeQueo) {
    let ring = legal_of(game, "ring");
    play(game, &format!("ring {}", &ring[..2]));
    choose(game, ["red", "red"]);
    play(game, "accuse black");
}

/// A round in which the starting player accuses correctly.
fn win_a_round(game: &mut XeQueo) {
    let ring = legal_of(game, "ring");
    play(game, &format!("ring {}", &ring[..2]));
    choose(game, ["red", "red"]);
    play(game, "accuse red");
}

/// Scattered, so that the ring finds many places.
const SCATTERED: &str = "b4 b1 g7 f6 b6 f2 a3";

#[test]
fn the_pawns_are_set_up_on_the_first_squares_drawn() {
    let mut game = XeQueo::start(&Options::default(), XeQueo::META.seatings[0]).unwrap();
    let drawn: Vec<u32> = [0, 6, 7, 24, 48, 1, 42].into_iter().chain(8..24).collect();
    let mut facts = Vec::new();
    game.settle(&drawn, &mut |fact| facts.push(fact));
    let pawns = ["a1", "g1", "a2", "d4", "g7", "b1", "a7"].map(|name| Square::named(name).unwrap());
    let pawns = Pawns::on(pawns);
    assert_eq!(facts, [Fact::Setup { pawns }]);
    assert_eq!(game.position.pawns, Some(pawns));
    let named: Vec<String> = Pawn::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(named, ["red", "orange", "yellow", "green", "blue", "purple", "black"]);
}

#[test]
fn round_is_ring_then_two_choices_at_once_then_turns() {
    let mut game = set_up(SCATTERED);
    assert_eq!((game.position.phase(), mover(&game)), (Phase::Ring, ONE));
    assert_eq!(play(&mut game, "ring d4"), []);
    assert_eq!(game.position.phase(), Phase::Choose);
    for seat in [ZERO, ONE] {
        let all = Pawn::ALL.map(|pawn| format!("choose {pawn}"));
        assert_eq!(legal(&game, seat), BTreeSet::from(all).into_iter().collect::<Vec<_>>());
    }
    choose(&mut game, ["red", "blue"]);
    assert_eq!((game.position.phase(), mover(&game)), (Phase::Play, ZERO));
    assert_eq!(play(&mut game, "move red c4"), []);
    assert_eq!(mover(&game), ONE);
    assert_eq!(play(&mut game, "move orange b2"), []);
    assert_eq!(mover(&game), ZERO);
}

#[test]
fn either_seat_may_move_any_pawn() {
    let game = playing(SCATTERED, "d4", ["red", "blue"]);
    for pawn in Pawn::ALL {
        assert_ne!(ends(&game, pawn.name()), "", "{pawn}");
    }
}

#[test]
fn step_goes_to_adjacent_free_square_nearer_to_ring() {
    let game = playing("b2 a7 b7 c7 e7 f7 g7", "d4", ["red", "blue"]);
    assert_eq!(ends(&game, "red"), "b3 c2 c3");
    let game = playing("b2 b3 c2 a1 e7 f7 g7", "d4", ["red", "blue"]);
    assert_eq!(ends(&game, "red"), "b4 c3 d2", "what is occupied can be jumped over, not entered");
}

#[test]
fn jump_goes_over_adjacent_pawn_to_free_square_behind() {
    // In each of the eight directions, over a pawn next to red on d4, towards a ring three squares away.
    for (over, to, ring) in [
        ("d5", "d6", "d7"),
        ("e5", "f6", "g7"),
        ("e4", "f4", "g4"),
        ("e3", "f2", "g1"),
        ("d3", "d2", "d1"),
        ("c3", "b2", "a1"),
        ("c4", "b4", "a4"),
        ("c5", "b6", "a7"),
    ] {
        let far = ["a2", "a6", "g2", "g6", "b7"];
        let squares = format!("d4 {over} {}", far.join(" "));
        let game = playing(&squares, ring, ["black", "black"]);
        assert!(ends(&game, "red").split(' ').any(|end| end == to), "{over}: {}", ends(&game, "red"));
        assert!(!ends(&game, "red").split(' ').any(|end| end == over), "{over} is occupied");
        // With another pawn behind the first there is no place to land.
        let squares = format!("d4 {over} {to} a2 a6 g2 g6");
        let game = playing(&squares, ring, ["black", "black"]);
        assert!(!ends(&game, "red").split(' ').any(|end| end == to || end == ring), "{over}, {to}");
    }
}

#[test]
fn jump_needs_adjacent_pawn_and_stays_on_board() {
    // Over b4, two squares away; and over g5 next to the edge, which would come out on the other side.
    let game = playing("d4 b4 g5 a1 b1 c1 d1", "a4", ["black", "black"]);
    assert_eq!(ends(&game, "red"), "c3 c4 c5");
    let game = playing("f4 g5 a1 b1 c1 d1 e1", "a7", ["black", "black"]);
    assert_eq!(ends(&game, "red"), "e3 e4 e5 f5");
}

#[test]
fn several_jumps_are_one_move() {
    let game = playing("a1 b1 d1 e2 a7 b7 c7", "g6", ["black", "black"]);
    // Over b1 to c1, over d1 to e1, over e2 to e3.
    assert_eq!(ends(&game, "red"), "a2 b2 c1 e1 e3");
}

#[test]
fn bringing_the_chosen_pawn_to_the_ring_wins_it() {
    let mut game = playing("c4 a7 b7 c7 e7 f7 g7", "d4", ["red", "blue"]);
    assert_eq!(play(&mut game, "move red d4"), [round(ZERO, ["red", "blue"], Reason::Entered)]);
    assert_eq!(game.position.rings, [1, 0]);

    let mut game = playing("c4 a7 b7 c7 e7 f7 g7", "d4", ["blue", "red"]);
    play(&mut game, "move black f6");
    assert_eq!(play(&mut game, "move red d4"), [round(ONE, ["blue", "red"], Reason::Entered)]);
    assert_eq!(game.position.rings, [0, 1]);
}

#[test]
fn entering_with_pawn_that_both_have_chosen_loses_ring() {
    let mut game = playing("c4 a7 b7 c7 e7 f7 g7", "d4", ["red", "red"]);
    assert_eq!(play(&mut game, "move red d4"), [round(ONE, ["red", "red"], Reason::EnteredRival)]);
    assert_eq!(game.position.rings, [0, 1]);
}

#[test]
fn right_accusation_wins_ring_and_wrong_one_loses_it() {
    let game = playing(SCATTERED, "d4", ["red", "blue"]);
    let mut right = game.clone();
    assert_eq!(play(&mut right, "accuse blue"), [round(ZERO, ["red", "blue"], Reason::Accused)]);
    assert_eq!(right.position.rings, [1, 0]);
    for wrong in Pawn::ALL.into_iter().filter(|pawn| pawn.name() != "blue") {
        let mut game = game.clone();
        let facts = play(&mut game, &format!("accuse {wrong}"));
        assert_eq!(facts, [round(ONE, ["red", "blue"], Reason::AccusedWrongly)]);
        assert_eq!(game.position.rings, [0, 1]);
    }
}

#[test]
fn loser_puts_next_ring_down_and_winner_begins() {
    let mut game = set_up(SCATTERED);
    win_a_round(&mut game);
    assert_eq!((game.position.phase(), mover(&game)), (Phase::Ring, ONE));
    play(&mut game, "ring d4");
    choose(&mut game, ["red", "red"]);
    assert_eq!(mover(&game), ZERO);
    play(&mut game, "accuse black");
    assert_eq!((game.position.phase(), mover(&game)), (Phase::Ring, ZERO));
    play(&mut game, "ring d4");
    choose(&mut game, ["red", "red"]);
    assert_eq!(mover(&game), ONE);
}

#[test]
fn the_pawns_stay_and_both_seats_choose_again() {
    let mut game = set_up(SCATTERED);
    play(&mut game, "ring d4");
    choose(&mut game, ["red", "blue"]);
    play(&mut game, "move red c4");
    let pawns = game.position.pawns;
    play(&mut game, "accuse red");
    assert_eq!(game.position.pawns, pawns);
    assert_eq!((game.position.ring, game.position.choices), (None, [None, None]));
    assert!(game.log.moved().is_empty());
}

#[test]
fn four_rings_win_the_game() {
    let mut game = set_up(SCATTERED);
    (0..3).for_each(|_| win_a_round(&mut game));
    lose_a_round(&mut game);
    assert_eq!((game.position.rings, mover(&game)), ([3, 1], ZERO));
    lose_a_round(&mut game);
    assert_eq!(game.position.rings, [4, 1]);
    let Turn::Over(outcome) = game.turn() else { panic!("it goes on: {game:?}") };
    assert_eq!((outcome.winner(XeQueo::META.seatings[0]), outcome.reason), (Some(0), "rings"));
}

#[test]
fn a_game_has_at_most_seven_rounds() {
    let mut game = set_up(SCATTERED);
    for number in 1..=7 {
        assert_eq!(game.round(), number);
        if number % 2 == 0 { lose_a_round(&mut game) } else { win_a_round(&mut game) }
    }
    assert!(matches!(game.turn(), Turn::Over(_)));
    assert_eq!(game.round(), 7);
}

#[test]
fn pawn_has_at_most_26_moves_in_27_distances() {
    let squares: Vec<Square> = (0..SQUARES).map(Square::numbered).collect();
    for &ring in &squares {
        let distances: BTreeSet<u8> = squares.iter().map(|square| square.distance(ring)).collect();
        assert!(distances.len() <= log::MOVES_OF_A_PAWN + 1, "{ring}: {distances:?}");
    }
}

#[test]
fn a_long_round_is_kept_completely() {
    // Always the move that brings its pawn the least nearer.
    let mut game = playing("g7 g6 f7 f6 g5 e7 f5", "a1", ["red", "red"]);
    let mut moves = 0;
    loop {
        let mut legal = Vec::new();
        game.legal_moves(mover(&game), &mut legal);
        let (pawns, ring) = (game.position.pawns.unwrap(), game.position.ring.unwrap());
        let gain = |mv: &Move| match *mv {
            Move::Move(pawn, to) if to != ring => Some(pawns.square(pawn).distance(ring) - to.distance(ring)),
            _ => None,
        };
        let Some(mv) = legal.into_iter().filter(|mv| gain(mv).is_some()).min_by_key(gain) else { break };
        game.play_unchecked(mover(&game), mv, &mut |_| {});
        moves += 1;
    }
    assert!(moves > 50, "{moves} moves are few");
    assert_eq!(game.log.moved().len(), moves);
}
