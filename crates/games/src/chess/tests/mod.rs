//! The rules.

mod formats;
mod pgn;

use std::collections::BTreeSet;

use super::*;
use referee_game::perft::perft;
use referee_game::test_length::long_or;

fn started(options: &Options) -> Chess {
    Chess::start(options, Chess::META.seatings[0]).unwrap()
}

fn at(fen: &str) -> Chess {
    let fen: Fen = fen.parse().unwrap();
    let variant = if fen.needs_chess960() { Variant::Chess960 } else { Variant::Standard };
    started(&Options { fen, variant, ..Options::default() })
}

fn typed_moves(position: &Chess) -> Vec<Move> {
    let mut moves = Vec::new();
    position.legal_moves(seat(position.board().side_to_move()), &mut moves);
    moves
}

/// The legal moves that begin with this text, in the order of their bytes, with a space between.
fn moves(position: &Chess, start: &str) -> String {
    let texts: BTreeSet<String> = typed_moves(position).iter().map(ToString::to_string).collect();
    texts.into_iter().filter(|text| text.starts_with(start)).collect::<Vec<_>>().join(" ")
}

fn play(position: &mut Chess, moves: &str) {
    for text in moves.split(' ') {
        let mv = text.parse().unwrap();
        position.play(seat(position.board().side_to_move()), mv, &mut |_| {}).unwrap();
    }
}

/// The end of the game: the reason and the winner.
fn end(position: &Chess) -> Option<(&'static str, Option<usize>)> {
    let Turn::Over(outcome) = position.turn() else { return None };
    Some((outcome.reason, outcome.winner(Chess::META.seatings[0])))
}

fn after(fen: &str, moves: &str) -> String {
    let mut position = at(fen);
    play(&mut position, moves);
    position.now.to_string()
}

#[test]
fn perft_has_the_published_values() {
    for line in include_str!("../perft.txt").lines().filter(|line| !line.starts_with('#')) {
        let (fen, values) = line.split_once(" = ").unwrap();
        let most = long_or("9999999999".len(), "999999".len());
        for (depth, leaves) in (1..).zip(values.split(' ').take_while(|leaves| leaves.len() <= most)) {
            assert_eq!(perft(&at(fen), depth).unwrap().to_string(), leaves, "{fen} at depth {depth}");
        }
    }
}

#[test]
fn castling_moves_king_and_rook_to_the_usual_squares() {
    let both = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    assert_eq!(moves(&at(both), "e1"), "e1c1 e1d1 e1d2 e1e2 e1f1 e1f2 e1g1");
    assert_eq!(after(both, "e1g1 e8c8"), "2kr3r/8/8/8/8/8/8/R4RK1 w - - 2 2");
    for (fen, castling, result) in [
        ("1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1", "c1b1 c8b8", "2kr2r1/8/8/8/8/8/8/2KR2R1 w - - 2 2"),
        ("4k3/8/8/8/8/8/8/1RK3R1 w GB - 0 1", "c1g1", "4k3/8/8/8/8/8/8/1R3RK1 b - - 1 1"),
        // Only the rook moves, or only the king.
        ("4k3/8/8/8/8/8/8/5RK1 w - - 0 1", "g1g2", "4k3/8/8/8/8/8/6K1/5R2 b - - 1 1"),
        ("4k3/8/8/8/8/8/8/6KR w H - 0 1", "g1h1", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"),
        ("4k3/8/8/8/8/8/8/1RK5 w B - 0 1", "c1b1", "4k3/8/8/8/8/8/8/2KR4 b - - 1 1"),
        ("4k3/8/8/8/8/8/8/3RK3 w D - 0 1", "e1d1", "4k3/8/8/8/8/8/8/2KR4 b - - 1 1"),
    ] {
        assert_eq!(after(fen, castling), result, "{fen}");
    }
}

#[test]
fn king_castles_neither_out_of_nor_through_nor_into_check() {
    for (rook, castling) in [("d8", ""), ("c8", ""), ("b8", "e1c1"), ("e8", "")] {
        let file = usize::from(rook.as_bytes()[0] - b'a');
        let rank = format!("{}r{}", if file > 0 { file.to_string() } else { String::new() }, 7 - file);
        let position = at(&format!("{rank}/8/8/8/8/8/7k/R3K3 w Q - 0 1"));
        assert_eq!(moves(&position, "e1c1"), castling, "rook on {rook}");
    }
    // In Chess960 a rook may shield its king until both have moved.
    assert_eq!(moves(&at("4k3/8/8/8/8/8/8/rR2K3 w B - 0 1"), "e1b1"), "");
}

#[test]
fn mate_and_stalemate_end_the_match() {
    let mut position = at(&Fen::default().to_string());
    play(&mut position, "f2f3 e7e5 g2g4 d8h4");
    assert_eq!(end(&position), Some(("checkmate", Some(1))));
    assert_eq!(end(&at("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")), Some(("stalemate", None)));
    // Mate on the hundredth quiet ply is mate.
    let mut position = at("7k/8/6K1/8/8/8/8/5Q2 w - - 99 80");
    play(&mut position, "f1f8");
    assert_eq!(end(&position), Some(("checkmate", Some(0))));
}

#[test]
fn insufficient_material_draws() {
    for (pieces, is_drawn) in [
        ("8", true),
        ("N7", true),
        ("b7", true),
        ("B1b5", true),
        ("B1B1b3", true),
        ("Bb6", false),
        ("NN6", false),
        ("Nn6", false),
        ("Nb6", false),
        ("P7", false),
        ("R7", false),
        ("q7", false),
    ] {
        let drawn = end(&at(&format!("7k/8/8/8/{pieces}/8/7K/8 w - - 0 1")));
        assert_eq!(drawn, is_drawn.then_some(("insufficient_material", None)), "{pieces}");
    }
}

#[test]
fn the_third_occurrence_of_a_position_draws() {
    let shuffle = "g1f3 g8f6 f3g1 f6g8";
    let mut position = started(&Options::default());
    play(&mut position, shuffle);
    assert_eq!((position.occurrences(), end(&position)), (2, None));
    play(&mut position, shuffle);
    assert_eq!((position.occurrences(), end(&position)), (3, Some(("repetition", None))));

    let never = Options { repetitions: 0, ..Options::default() };
    let mut position = started(&never);
    (0..5).for_each(|_| play(&mut position, shuffle));
    assert_eq!((position.occurrences(), end(&position)), (6, None));
}

#[test]
fn positions_with_other_rights_are_not_the_same() {
    // The loss of castling rights makes the next position a new one.
    let mut position = at("r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1");
    play(&mut position, "h1h2 a8b8 h2h1 b8a8");
    assert_eq!(position.occurrences(), 1);
    play(&mut position, "h1h2 a8b8 h2h1 b8a8");
    assert_eq!(position.occurrences(), 2);
    // A capture en passant is possible only at once ...
    let mut position = at("4k3/8/8/8/p7/8/1P6/4K3 w - - 0 1");
    play(&mut position, "b2b4");
    assert_eq!(position.now.to_string(), "4k3/8/8/8/pP6/8/8/4K3 b - b3 0 1");
    play(&mut position, "e8e7 e1e2 e7e8 e2e1");
    assert_eq!(position.occurrences(), 1);
    // ... and not at all if it would expose the king.
    let mut position = at("4k3/8/8/8/K4p1q/8/4P3/8 w - - 0 1");
    play(&mut position, "e2e4");
    assert_eq!(position.now.to_string(), "4k3/8/8/8/K3Pp1q/8/8/8 b - e3 0 1");
    let mut position = at("8/8/8/8/k4p1Q/8/4P3/4K3 w - - 0 1");
    play(&mut position, "e2e4");
    assert_eq!(position.now.to_string(), "8/8/8/8/k3Pp1Q/8/8/4K3 b - - 0 1");
    play(&mut position, "a4a5 e1e2 a5a4 e2e1");
    assert_eq!(position.occurrences(), 2);
}

#[test]
fn fifty_moves_without_progress_draw() {
    let mut position = at("4k3/8/8/8/8/8/8/R3K3 w - - 98 80");
    play(&mut position, "a1a2");
    assert_eq!(end(&position), None);
    play(&mut position, "e8e7");
    assert_eq!(end(&position), Some(("quiet_plies", None)));

    let options = Options { draw_plies: 4, repetitions: 0, ..Options::default() };
    let mut position = started(&options);
    play(&mut position, "g1f3 g8f6 f3g1 e7e6");
    assert_eq!((position.quiet_plies(), end(&position)), (0, None));
    play(&mut position, "g1f3 f6g8 f3g1 g8f6");
    assert_eq!(end(&position), Some(("quiet_plies", None)));

    let fen = "4k3/8/8/8/8/8/8/R3K3 w - - 250 200".parse().unwrap();
    let mut position = started(&Options { fen, draw_plies: 300, ..Options::default() });
    play(&mut position, "a1a2");
    assert_eq!((position.quiet_plies(), end(&position)), (251, None));
}

#[test]
fn the_turn_limit_draws_last() {
    let mut position = started(&Options { turn_limit: 1, ..Options::default() });
    assert_eq!(position.turns_left(), Some(1));
    play(&mut position, "e2e4");
    assert_eq!(position.turn(), Turn::Over(Outcome::turn_limit()));
    assert_eq!(started(&Options::default()).turns_left(), None);
}

#[test]
fn black_moves_first_if_the_position_says_so() {
    assert_eq!(at("4k3/8/8/8/8/8/8/R3K3 b - - 0 1").turn(), Turn::Decide(SeatSet::one(Seat(1))));
}
