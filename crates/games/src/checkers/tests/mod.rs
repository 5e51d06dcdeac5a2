//! The rules.

mod formats;
mod openings;
mod pdn;

use std::collections::BTreeSet;

use super::moves::MAX_SQUARES;
use super::*;
use referee_game::perft::perft;
use referee_game::test_length::long_or;

const BLACK: Seat = Seat(0);
const WHITE: Seat = Seat(1);
/// Two lone kings in their corners, which can walk about for ever.
const KINGS: &str = "B:WK32:BK1";

fn started(options: &Options) -> Checkers {
    Checkers::start(options, Checkers::META.seatings[0]).unwrap()
}

fn at(fen: &str) -> Checkers {
    started(&Options { fen: fen.parse().unwrap(), ..Options::default() })
}

fn typed_moves(position: &Checkers) -> Vec<Move> {
    let mut moves = Vec::new();
    position.legal_moves(position.board.to_move().seat(), &mut moves);
    moves
}

/// The legal moves, in the order of their bytes, with a space between.
fn moves(fen: &str) -> String {
    let texts: BTreeSet<String> = typed_moves(&at(fen)).iter().map(ToString::to_string).collect();
    texts.into_iter().collect::<Vec<_>>().join(" ")
}

fn play(position: &mut Checkers, moves: &str) {
    for text in moves.split(' ') {
        let mv = text.parse().unwrap();
        assert!(typed_moves(position).contains(&mv), "{text} is not legal in {}", position.board);
        position.play_unchecked(position.board.to_move().seat(), mv, &mut |_| {});
    }
}

/// Plays quiet plies with the two lone kings. They stand as before after every fourth.
fn walk(position: &mut Checkers, plies: usize) {
    for text in ["1-5", "32-28", "5-1", "28-32"].into_iter().cycle().take(plies) {
        play(position, text);
    }
}

fn after(fen: &str, moves: &str) -> String {
    let mut position = at(fen);
    play(&mut position, moves);
    position.board.to_string()
}

fn is_won_by(position: &Checkers, seat: Seat, reason: &str) -> bool {
    let Turn::Over(outcome) = position.turn() else { return false };
    outcome.winner(Checkers::META.seatings[0]) == Some(seat.index()) && outcome.reason == reason
}

#[test]
fn perft_has_the_known_values() {
    for line in include_str!("../perft.txt").lines().filter(|line| !line.starts_with('#')) {
        let (fen, values) = line.split_once(" = ").unwrap();
        let most = long_or(usize::MAX, "99999".len());
        for (depth, leaves) in (1..).zip(values.split(' ').take_while(|leaves| leaves.len() <= most)) {
            assert_eq!(perft(&at(fen), depth).unwrap().to_string(), leaves, "{fen} at depth {depth}");
        }
    }
}

#[test]
fn black_moves_first_and_towards_32_white_towards_1() {
    let mut position = started(&Options::default());
    assert_eq!(position.turn(), Turn::Decide(SeatSet::one(BLACK)));
    assert_eq!(moves(&position.board.to_string()), "10-14 10-15 11-15 11-16 12-16 9-13 9-14");
    play(&mut position, "11-15");
    assert_eq!(position.turn(), Turn::Decide(SeatSet::one(WHITE)));
    assert_eq!(moves(&position.board.to_string()), "21-17 22-17 22-18 23-18 23-19 24-19 24-20");
}

#[test]
fn man_steps_forward_only_and_king_in_all_directions() {
    assert_eq!(moves("B:WK32:B15"), "15-18 15-19");
    assert_eq!(moves("W:W15:BK32"), "15-10 15-11");
    assert_eq!(moves("B:WK32:BK15"), "15-10 15-11 15-18 15-19");
}

#[test]
fn a_king_does_not_fly() {
    assert_eq!(moves("B:WK32:BK1"), "1-5 1-6");
    assert_eq!(moves("B:W10:BK1"), "1-5 1-6");
    assert_eq!(moves("B:W6:BK1"), "1x10");
}

#[test]
fn man_captures_forward_only_and_king_in_all_directions() {
    let around = "10,11,18,19";
    assert_eq!(moves(&format!("B:W{around}:B15")), "15x22 15x24");
    assert_eq!(moves(&format!("W:W15:B{around}")), "15x6 15x8");
    assert_eq!(moves(&format!("B:W{around}:BK15")), "15x22 15x24 15x6 15x8");
}

#[test]
fn a_man_may_capture_a_king() {
    assert_eq!(moves("B:WK18:B15"), "15x22");
}

#[test]
fn a_piece_with_another_right_behind_it_cannot_be_captured() {
    assert_eq!(moves("B:W18,22:B15"), "15-19");
    assert_eq!(moves("B:W18:B15,22"), "15-19 22-25 22-26");
}

#[test]
fn nothing_jumps_over_the_edge_of_the_board() {
    assert_eq!(moves("B:W12,20,28:B8"), "8-11");
    assert_eq!(moves("B:W13:BK17"), "17-14 17-21 17-22");
    assert_eq!(moves("B:W32:BK27"), "27-23 27-24 27-31");
}

#[test]
fn capturing_is_compulsory() {
    assert_eq!(moves("B:W18:B1,15"), "15x22");
}

#[test]
fn a_longer_capture_is_not_compulsory() {
    assert_eq!(moves("B:W7,18,26:B2,15"), "15x22x31 2x11");
}

#[test]
fn capturing_with_a_king_is_not_compulsory() {
    assert_eq!(moves("B:W7,18:B2,K15"), "15x22 2x11");
}

#[test]
fn capture_goes_on_until_piece_can_capture_no_further() {
    assert_eq!(moves("B:W19,27:B15"), "15x24x31");
    assert_eq!(after("B:W19,27:B15", "15x24x31"), "W:W:BK31");
}

#[test]
fn a_capture_goes_on_with_the_same_piece_only() {
    assert_eq!(moves("B:W18,27:B15,24"), "15x22 24x31");
}

#[test]
fn captured_pieces_leave_the_board_kings_too() {
    assert_eq!(after("B:WK19,22:B15", "15x24"), "W:W22:B24");
}

#[test]
fn a_piece_is_never_jumped_twice() {
    // Back on 6, the king stands before the piece that it jumped first.
    assert_eq!(moves("B:W9,10,17,18:BK6"), "6x13x22x15x6 6x15x22x13x6");
}

#[test]
fn a_capture_may_pass_and_end_where_it_began() {
    assert_eq!(after("B:W9,10,17,18:BK6", "6x13x22x15x6"), "W:W:BK6");
    assert_eq!(moves("B:W9,10,17,18,19:BK15"), "15x22x13x6x15x24 15x24 15x6x13x22x15x24");
}

#[test]
fn different_paths_over_the_same_pieces_are_different_moves() {
    let position = at("B:W9,10,17,18:BK6");
    let boards: Vec<Board> = typed_moves(&position)
        .into_iter()
        .map(|mv| {
            let mut next = position.board;
            next.play(mv);
            next
        })
        .collect();
    assert_eq!(boards.len(), 2);
    assert_eq!(boards[0], boards[1]);
}

#[test]
fn the_longest_capture_fits_into_a_move() {
    // All that can be jumped from squares in even rows, and in odd ones.
    for enemies in ["6,7,8,14,15,16,22,23,24", "9,10,11,17,18,19,25,26,27"] {
        let longest = (1..=32)
            .filter(|square| enemies.split(',').all(|enemy| enemy != square.to_string()))
            .flat_map(|square| typed_moves(&at(&format!("B:W{enemies}:BK{square}"))))
            .map(|mv| mv.squares().count())
            .max();
        assert_eq!(longest, Some(MAX_SQUARES));
    }
}

#[test]
fn a_man_is_crowned_on_the_far_row() {
    assert_eq!(after("B:WK1:B28", "28-32"), "W:WK1:BK32");
    assert_eq!(after("W:W5:BK32", "5-1"), "B:WK1:BK32");
    assert_eq!(after("B:W26,K1:B22", "22x31"), "W:WK1:BK31");
    assert_eq!(after("B:WK1:B24", "24-28"), "W:WK1:B28");
}

#[test]
fn a_crowning_ends_the_turn() {
    assert_eq!(moves("B:W26,27:B22"), "22x31");
    assert_eq!(moves("B:W26,27:BK22"), "22x31x24");
}

#[test]
fn a_king_stays_a_king() {
    assert_eq!(after("B:WK1:BK28", "28-32"), "W:WK1:BK32");
    assert_eq!(after("B:WK1:BK32", "32-28"), "W:WK1:BK28");
}

#[test]
fn the_side_to_move_loses_without_a_piece() {
    let mut position = at("B:W15:B11");
    play(&mut position, "11x18");
    assert!(is_won_by(&position, BLACK, "no_pieces"));
}

#[test]
fn the_side_to_move_loses_without_a_legal_move() {
    let mut position = at("B:W12:B3,4");
    play(&mut position, "4-8");
    assert!(is_won_by(&position, BLACK, "no_moves"));
}

#[test]
fn a_start_position_without_legal_moves_ends_the_game() {
    assert!(is_won_by(&at("W:W12:B3,8"), BLACK, "no_moves"));
    assert!(is_won_by(&at("B:W25,30:B21"), WHITE, "no_moves"));
}

#[test]
fn fifty_plies_without_capture_and_crowning_draw() {
    let mut position = at(KINGS);
    walk(&mut position, 49);
    assert_eq!(position.turn(), Turn::Decide(SeatSet::one(WHITE)));
    play(&mut position, "32-28");
    assert_eq!(position.turn(), Turn::Over(Outcome::draw("quiet_plies")));
}

#[test]
fn c1_repeating_a_position_does_not_end_the_game() {
    let mut position = at(KINGS);
    let key = position.key();
    walk(&mut position, 48);
    assert_eq!(position.key(), key, "for the thirteenth time");
    assert!(matches!(position.turn(), Turn::Decide(_)));
}

#[test]
fn c2_the_match_handles_draws_by_agreement() {
    const { assert!(Checkers::META.draws_by_agreement) };
}

#[test]
fn step_by_man_does_not_reset_quiet_plies() {
    let mut position = at("B:WK32:B1");
    play(&mut position, "1-5 32-28 5-9");
    assert_eq!(position.quiet_plies, 3);
}

#[test]
fn a_capture_and_a_crowning_reset_the_quiet_plies() {
    let mut position = at("B:WK1,K4:B19,27");
    play(&mut position, "19-23 1-5");
    assert_eq!(position.quiet_plies, 2);
    play(&mut position, "27-31");
    assert_eq!(position.quiet_plies, 0);
    let mut position = at("B:WK32,6:BK1,3");
    play(&mut position, "1x10");
    assert_eq!(position.quiet_plies, 0);
    play(&mut position, "32-28");
    assert_eq!(position.quiet_plies, 1);
}

#[test]
fn king_on_far_row_does_not_reset_quiet_plies() {
    let mut position = at("B:WK1:BK28");
    play(&mut position, "28-32");
    assert_eq!(position.quiet_plies, 1);
}

#[test]
fn no_legal_move_is_tested_before_the_draw() {
    let fen = "B:W12:B3,4".parse().unwrap();
    let mut position = started(&Options { fen, draw_plies: 1, turn_limit: 1 });
    play(&mut position, "4-8");
    assert!(is_won_by(&position, BLACK, "no_moves"));
}

#[test]
fn draw_plies_zero_disables_the_draw() {
    let fen = KINGS.parse().unwrap();
    let mut position = started(&Options { fen, draw_plies: 0, turn_limit: 100 });
    walk(&mut position, 99);
    assert!(matches!(position.turn(), Turn::Decide(_)));
    assert_eq!(position.quiet_plies, 99);
}

#[test]
fn the_turn_limit_draws_after_the_rules_own_endings() {
    let fen = KINGS.parse().unwrap();
    let mut position = started(&Options { fen, turn_limit: 2, ..Options::default() });
    assert_eq!(position.turns_left(), Some(2));
    walk(&mut position, 1);
    assert_eq!(position.turns_left(), Some(1));
    play(&mut position, "32-28");
    assert_eq!(position.turn(), Turn::Over(Outcome::turn_limit()));

    let mut position = started(&Options { fen, draw_plies: 2, turn_limit: 2 });
    walk(&mut position, 2);
    assert_eq!(position.turn(), Turn::Over(Outcome::draw("quiet_plies")));
}

#[test]
fn without_turn_limit_there_are_no_turns_left() {
    assert_eq!(started(&Options::default()).turns_left(), None);
}
