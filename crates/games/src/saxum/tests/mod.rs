//! The rules.

mod ends;
mod formats;
mod rows;
mod sixes;
mod slow;

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::battery;
use referee_game::perft::{divide, perft};
use referee_game::test_length::long_or;

const ZERO: Seat = Seat(0);
const ONE: Seat = Seat(1);

/// Seat 0 is about to roll. The board is its five rows, `0` and `1` the stones, with a space between.
fn at(rows: &str) -> Saxum {
    let rows: Vec<&str> = rows.split(' ').collect();
    let mut game = start(&Options::default());
    game.position.board = serde_json::from_value(json!(rows)).unwrap();
    game
}

fn start(options: &Options) -> Saxum {
    Saxum::start(options, Saxum::META.seatings[0]).unwrap()
}

/// Seat 0 has these points.
fn with_points(mut game: Saxum, points: u32) -> Saxum {
    game.position.points[0] = points;
    game
}

/// Lays down the requested cards, and tells the consequences.
fn roll<const N: usize>(game: &mut Saxum, dice: [u32; N]) -> Vec<Fact> {
    assert_eq!(game.turn(), Turn::Draw(Draw::Dice { count: N as u8, sides: 6 }));
    let mut facts = Vec::new();
    game.settle(&dice, &mut |fact| facts.push(fact));
    facts
}

/// The legal moves, in the order of their bytes, with a comma between.
fn legal(game: &Saxum) -> String {
    assert_eq!(game.turn(), Turn::Decide(SeatSet::one(game.position.to_move)));
    let mut moves = Vec::new();
    game.legal_moves(game.position.to_move, &mut moves);
    let texts: BTreeSet<String> = moves.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), moves.len(), "a move is listed twice: {moves:?}");
    texts.into_iter().collect::<Vec<_>>().join(", ")
}

/// Plays a legal move, and tells its consequences.
fn play(game: &mut Saxum, text: &str) -> Vec<Fact> {
    let legal = legal(game);
    assert!(legal.split(", ").any(|mv| mv == text), "{text} is not among {legal}");
    let mut facts = Vec::new();
    game.play_unchecked(game.position.to_move, text.parse().unwrap(), &mut |fact| facts.push(fact));
    facts
}

/// The five rows of the board, with a space between.
fn board(game: &Saxum) -> String {
    let rows = (1..=5).map(|row| game.position.board.letters(row).map(char::from));
    rows.map(String::from_iter).collect::<Vec<_>>().join(" ")
}

fn is_won_by(game: &Saxum, seat: Seat, reason: &str) -> bool {
    let Turn::Over(outcome) = game.turn() else { return false };
    outcome.winner(Saxum::META.seatings[0]) == Some(seat.index()) && outcome.reason == reason
}

fn rolled(seat: Seat, dice: [u8; 2]) -> Fact {
    Fact::Roll { seat, dice }
}

const EMPTY: &str = "..... ..... ..... ..... .....";

/// Views, and the leaves behind them at depth 1, 2, ...
fn known_values() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("../perft.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(" = ").unwrap())
}

#[test]
fn perft_has_the_known_values() {
    for (view, values) in known_values() {
        let game = formats::imagined(view);
        assert_eq!(battery::view(&game, Viewer::Public), view);
        let most = long_or(usize::MAX, "999999".len());
        for (depth, leaves) in (1..).zip(values.split(' ').take_while(|leaves| leaves.len() <= most)) {
            assert_eq!(perft(&game, depth).unwrap().to_string(), leaves, "{view} at depth {depth}");
        }
    }
}

#[test]
fn perft_from_the_start_matches_the_rules_page() {
    let (view, values) = known_values().next().unwrap();
    assert_eq!(view, battery::view(&start(&Options::default()), Viewer::Public));
    assert!(Saxum::META.rules.ends_with(&format!("\n{}.\n", values.replace(' ', ", "))));
}

#[test]
fn divide_sums_over_all_rolls() {
    let divided = divide(&start(&Options::default()), 1).unwrap();
    let of = |text: &str| divided.iter().find(|(mv, _)| mv.to_string() == text).map(|&(_, leaves)| leaves);
    // A double; two rolls; five with one six and one with two.
    assert_eq!([of("place 1 1"), of("place 1 2"), of("reroll 1")], [Some(1), Some(2), Some(6)]);
    assert_eq!(divided.len(), 27);
    assert_eq!(divided.iter().map(|(_, leaves)| leaves).sum::<u64>(), 57);
}

#[test]
fn seat_0_begins_and_the_seats_take_turns() {
    let mut game = start(&Options::default());
    assert_eq!(roll(&mut game, [2, 3]), [rolled(ZERO, [2, 3])]);
    assert_eq!(game.turn(), Turn::Decide(SeatSet::one(ZERO)));
    assert_eq!(play(&mut game, "place 2 3"), []);
    assert_eq!(roll(&mut game, [1, 1]), [rolled(ONE, [1, 1])]);
    assert_eq!(game.turn(), Turn::Decide(SeatSet::one(ONE)));
    assert_eq!(play(&mut game, "place 1 1"), []);
    assert_eq!(board(&game), "1.... ..0.. ..... ..... .....");
    assert_eq!(roll(&mut game, [5, 4]), [rolled(ZERO, [5, 4])]);
}

#[test]
fn two_dice_give_two_fields() {
    let mut game = at(EMPTY);
    roll(&mut game, [4, 3]);
    assert_eq!(legal(&game), "place 3 4, place 4 3");
    play(&mut game, "place 4 3");
    assert_eq!(board(&game), "..... ..... ..... ..0.. .....");
}

#[test]
fn a_double_gives_one_field() {
    for (board, mv) in [(".....", "place 2 2"), (".0...", "score 2 2"), (".1...", "insure 2 2")] {
        let mut game = at(&format!("..... {board} ..... ..... ....."));
        roll(&mut game, [2, 2]);
        assert_eq!(legal(&game), mv);
    }
}

#[test]
fn a_stone_that_is_placed_leaves_the_supply() {
    let mut game = at("0.... ..... ..... ..... .....");
    assert_eq!([ZERO, ONE].map(|seat| game.position.board.supply(seat)), [14, 15]);
    roll(&mut game, [2, 2]);
    play(&mut game, "place 2 2");
    assert_eq!([ZERO, ONE].map(|seat| game.position.board.supply(seat)), [13, 15]);
}

#[test]
fn s1_free_field_must_be_taken_beside_own_field() {
    let mut game = at("..... ..0.. ..... ..... .....");
    roll(&mut game, [2, 3]);
    assert_eq!(legal(&game), "place 3 2");
}

#[test]
fn s1_free_field_must_be_taken_beside_enemy_field() {
    let mut game = with_points(at("..... ..1.. ..... ..... ....."), 100);
    roll(&mut game, [2, 3]);
    assert_eq!(legal(&game), "place 3 2");
}

#[test]
fn s2_between_own_and_enemy_field_choice_is_free() {
    let mut game = with_points(at("..... ..0.. .1... ..... ....."), 1);
    roll(&mut game, [2, 3]);
    assert_eq!(legal(&game), "insure 3 2, pay 3 2, score 2 3");
}

#[test]
fn s2_with_enemy_fields_only_one_must_be_replaced() {
    let mut game = with_points(at("..... ..1.. .1... ..... ....."), 1);
    roll(&mut game, [2, 3]);
    assert_eq!(legal(&game), "insure 2 3, insure 3 2, pay 2 3, pay 3 2");
    let mut game = at("..... ..1.. .1... ..... .....");
    roll(&mut game, [2, 3]);
    assert_eq!(legal(&game), "insure 2 3, insure 3 2");
}

#[test]
fn of_two_own_fields_either_is_scored() {
    let mut game = at("..... ..00. .0... ..... .....");
    roll(&mut game, [2, 3]);
    assert_eq!(legal(&game), "score 2 3, score 3 2");
    play(&mut game, "score 2 3");
    assert_eq!(game.position.points, [2, 0]);
}

#[test]
fn a_group_is_connected_orthogonally() {
    // Of the six around the group the stones on 2 2 and 4 5 touch it at a corner alone.
    let rows = "..... .0... ..00. ..010 ..00.";
    let mut game = at(rows);
    roll(&mut game, [4, 3]);
    assert_eq!(legal(&game), "score 3 4, score 4 3");
    play(&mut game, "score 4 3");
    assert_eq!(game.position.points, [5, 0]);
    assert_eq!(board(&game), rows, "scoring puts no stone down");
}

#[test]
fn a_group_does_not_wrap_around_the_edge() {
    let mut game = at("....0 0...0 0.... ..... 1....");
    roll(&mut game, [1, 5]);
    play(&mut game, "score 1 5");
    assert_eq!(game.position.points, [2, 0]);
}

#[test]
fn all_stones_may_be_one_group() {
    let mut game = at("00000 0.0.0 00000 0.0.. 1...1");
    roll(&mut game, [2, 3]);
    play(&mut game, "score 2 3");
    assert_eq!(game.position.points, [15, 0]);
}

#[test]
fn scoring_adds_to_the_points_of_the_player_alone() {
    let mut game = with_points(at("0.... .11.. ..... ..... ....."), 30);
    roll(&mut game, [1, 1]);
    play(&mut game, "score 1 1");
    roll(&mut game, [2, 2]);
    play(&mut game, "score 2 2");
    assert_eq!(game.position.points, [31, 2]);
}

#[test]
fn paying_costs_size_of_enemy_group_with_stone() {
    let mut game = with_points(at("..... .111. ..1.. ..... ....1"), 10);
    roll(&mut game, [2, 2]);
    assert_eq!(legal(&game), "insure 2 2, pay 2 2");
    play(&mut game, "pay 2 2");
    assert_eq!(game.position.points, [6, 0]);
    assert_eq!(game.position.insurance, [7, 7]);
    assert_eq!(board(&game), "..... .011. ..1.. ..... ....1");
}

#[test]
fn a_player_with_too_few_points_cannot_pay() {
    let mut game = with_points(at("..... .111. ..1.. ..... ....."), 3);
    roll(&mut game, [2, 2]);
    assert_eq!(legal(&game), "insure 2 2");
}

#[test]
fn an_insurance_stone_may_be_used_even_with_enough_points() {
    let mut game = with_points(at("..... .111. ..1.. ..... ....."), 100);
    roll(&mut game, [2, 2]);
    play(&mut game, "insure 2 2");
    assert_eq!(game.position.points, [100, 0]);
    assert_eq!(game.position.insurance, [6, 7]);
    assert_eq!(board(&game), "..... .011. ..1.. ..... .....");
}

#[test]
fn s3_a_replaced_stone_returns_to_its_owners_supply() {
    for how in ["pay", "insure"] {
        let mut game = with_points(at("..... .1... ..... ..... ....."), 1);
        roll(&mut game, [2, 2]);
        play(&mut game, &format!("{how} 2 2"));
        assert_eq!([ZERO, ONE].map(|seat| game.position.board.supply(seat)), [14, 15]);
    }
}

#[test]
fn s5_placing_scores_no_points() {
    let mut game = at("0.... ..... ..... ..... .....");
    roll(&mut game, [1, 2]);
    play(&mut game, "place 1 2");
    assert_eq!(game.position.points, [0, 0]);
}

#[test]
fn s5_points_never_go_below_zero() {
    let mut game = with_points(at("..... .11.. ..... ..... ....."), 2);
    roll(&mut game, [2, 2]);
    play(&mut game, "pay 2 2");
    assert_eq!(game.position.points, [0, 0]);

    let mut game = with_points(at(EMPTY), 6);
    roll(&mut game, [6, 6]);
    play(&mut game, "turn 1 1");
    assert_eq!(game.position.points, [0, 0]);
    assert_eq!(legal(&game), "reroll 2");
}

/// All stones of seat 0 are on the board.
const ALL_OUT: &str = "10000 00001 00.00 01.0. 0....";

#[test]
fn without_supply_a_player_can_only_score() {
    assert_eq!(at(ALL_OUT).position.board.supply(ZERO), 0);
    // An own and a free field; an own and an enemy one; two own ones.
    for (dice, moves) in [([4, 3], "score 3 4"), ([2, 4], "score 2 4"), ([1, 5], "score 1 5, score 5 1")] {
        let mut game = with_points(at(ALL_OUT), 50);
        roll(&mut game, dice);
        assert_eq!(legal(&game), moves);
    }
}

#[test]
fn s6_a_turn_without_a_possible_action_passes_automatically() {
    // An enemy field; an enemy and a free one; a free one; two.
    for dice in [[1, 1], [2, 5], [5, 5], [5, 4]] {
        let mut game = with_points(at(ALL_OUT), 50);
        let pass = Fact::Pass { seat: ZERO };
        assert_eq!(roll(&mut game, dice), [rolled(ZERO, dice.map(|face| face as u8)), pass], "{dice:?}");
        assert_eq!(game.position.points, [50, 0]);
        assert_eq!(board(&game), ALL_OUT);
        assert_eq!(roll(&mut game, [4, 3]), [rolled(ONE, [4, 3])]);
    }
}

#[test]
fn s6_turn_passes_if_resolved_six_gives_no_action() {
    let mut game = with_points(at(ALL_OUT), 50);
    assert_eq!(roll(&mut game, [6, 5]), [rolled(ZERO, [6, 5])]);
    assert_eq!(play(&mut game, "turn 1 5"), [Fact::Pass { seat: ZERO }]);
    assert_eq!(game.position.points, [44, 0]);
    assert_eq!(game.position.to_move, ONE);

    let mut game = at(ALL_OUT);
    roll(&mut game, [6, 5]);
    assert_eq!(play(&mut game, "reroll 1"), []);
    assert_eq!(roll(&mut game, [5]), [rolled(ZERO, [5, 5]), Fact::Pass { seat: ZERO }]);
    assert_eq!(game.position.to_move, ONE);
}

#[test]
fn a_replaced_stone_can_be_placed_again() {
    let mut game = with_points(at(ALL_OUT), 50);
    roll(&mut game, [1, 1]);
    roll(&mut game, [1, 2]);
    play(&mut game, "insure 1 2");
    assert_eq!(game.position.board.supply(ZERO), 1);
    roll(&mut game, [4, 3]);
    assert_eq!(legal(&game), "place 4 3");
}
