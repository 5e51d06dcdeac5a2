//! The ends of a game.

use super::*;

#[test]
fn s5_points_are_added_first_and_then_compared_with_177() {
    let mut game = with_points(at("..... .00.. ..... ..... ....."), 175);
    roll(&mut game, [2, 2]);
    play(&mut game, "score 2 2");
    assert!(is_won_by(&game, ZERO, "points"));

    let mut game = with_points(at("..... .00.. ..... ..... ....."), 174);
    roll(&mut game, [2, 2]);
    play(&mut game, "score 2 2");
    assert!(matches!(game.turn(), Turn::Draw(_)), "176 points are not enough");
}

#[test]
fn more_than_177_points_win() {
    let mut game = with_points(at("..... .00.. .0... .0... ....."), 176);
    roll(&mut game, [2, 2]);
    play(&mut game, "score 2 2");
    assert_eq!(game.position.points, [180, 0]);
    assert!(is_won_by(&game, ZERO, "points"));
}

#[test]
fn points_win_for_seat_1_too() {
    let mut game = at(".0... .1... ..... ..... .....");
    game.position.points[1] = 176;
    roll(&mut game, [3, 3]);
    play(&mut game, "place 3 3");
    roll(&mut game, [2, 2]);
    play(&mut game, "score 2 2");
    assert!(is_won_by(&game, ONE, "points"));
}

#[test]
fn seven_rows_win() {
    let mut game = at("..... ..... 00.00 ..... .....");
    game.position.rows = [5, 6];
    roll(&mut game, [3, 3]);
    play(&mut game, "place 3 3");
    assert!(matches!(game.turn(), Turn::Draw(_)), "six rows are not enough");

    let mut game = at("..... ..... 00.00 ..... .....");
    game.position.rows = [6, 0];
    roll(&mut game, [3, 3]);
    play(&mut game, "place 3 3");
    assert!(is_won_by(&game, ZERO, "rows"));
}

#[test]
fn more_than_seven_rows_win() {
    let mut game = at("..0.. ..0.. 00.00 ..0.. ..0..");
    game.position.rows = [6, 0];
    roll(&mut game, [3, 3]);
    play(&mut game, "place 3 3");
    assert_eq!(game.position.rows, [9, 0]);
    assert!(is_won_by(&game, ZERO, "rows"));
}

#[test]
fn s4_handing_in_the_seventh_insurance_stone_loses() {
    let mut game = at("..... .1... ..... ..... .....");
    game.position.insurance = [2, 7];
    roll(&mut game, [2, 2]);
    play(&mut game, "insure 2 2");
    assert!(matches!(game.turn(), Turn::Draw(_)), "the sixth does not");

    let mut game = at("..... .1... ..... ..... .....");
    game.position.insurance = [1, 7];
    roll(&mut game, [2, 2]);
    play(&mut game, "insure 2 2");
    assert!(is_won_by(&game, ONE, "insurance"));
}

#[test]
fn s4_seven_insurance_stones_in_row_lose_with_seventh() {
    let mut game = at("..... .1... ..... ..... .....");
    for _ in 0..6 {
        roll(&mut game, [2, 2]);
        play(&mut game, "insure 2 2");
        roll(&mut game, [2, 2]);
        play(&mut game, "insure 2 2");
    }
    assert_eq!(game.position.insurance, [1, 1]);
    roll(&mut game, [2, 2]);
    play(&mut game, "insure 2 2");
    assert!(is_won_by(&game, ONE, "insurance"));
}

#[test]
fn s4_seventh_insurance_stone_places_nothing_and_scores_no_row() {
    let mut game = at("..0.. ..0.. 00100 ..0.. ..0..");
    game.position.insurance = [1, 7];
    game.position.rows = [6, 0];
    roll(&mut game, [3, 3]);
    assert_eq!(play(&mut game, "insure 3 3"), []);
    assert!(is_won_by(&game, ONE, "insurance"));
    assert_eq!(game.position.rows, [6, 0]);
    assert_eq!(board(&game), "..0.. ..0.. 00100 ..0.. ..0..");
}

#[test]
fn the_seventh_insurance_stone_may_be_kept_by_paying_points() {
    let mut game = with_points(at("..... .1... ..... ..... ....."), 1);
    game.position.insurance = [1, 7];
    roll(&mut game, [2, 2]);
    play(&mut game, "pay 2 2");
    assert!(matches!(game.turn(), Turn::Draw(_)));
}

#[test]
fn s8_turn_is_one_roll_with_all_that_follows_it() {
    let mut game = with_points(at(EMPTY), 6);
    game.turns_left = 10;
    roll(&mut game, [6, 6]);
    play(&mut game, "turn 1 1");
    play(&mut game, "reroll 2");
    roll(&mut game, [6]);
    play(&mut game, "reroll 2");
    roll(&mut game, [1]);
    assert_eq!(game.turns_left(), Some(10), "it is still the same turn");
    play(&mut game, "place 1 1");
    assert_eq!(game.turns_left(), Some(9));
}

#[test]
fn s8_a_pass_is_a_turn() {
    let mut game = at(ALL_OUT);
    game.turns_left = 2;
    roll(&mut game, [1, 1]);
    assert_eq!(game.turns_left(), Some(1));
    roll(&mut game, [4, 3]);
    play(&mut game, "place 4 3");
    assert_eq!(game.turn(), Turn::Over(Outcome::turn_limit()));
}

#[test]
fn s8_a_pass_can_reach_the_turn_limit() {
    let mut game = at(ALL_OUT);
    game.turns_left = 1;
    assert_eq!(roll(&mut game, [1, 1]), [rolled(ZERO, [1, 1]), Fact::Pass { seat: ZERO }]);
    assert_eq!(game.turn(), Turn::Over(Outcome::turn_limit()));
}

#[test]
fn s8_the_rules_own_endings_come_before_the_turn_limit() {
    let mut game = with_points(at("..... .0... ..... ..... ....."), 176);
    game.turns_left = 1;
    roll(&mut game, [2, 2]);
    play(&mut game, "score 2 2");
    assert_eq!(game.turns_left(), Some(0));
    assert!(is_won_by(&game, ZERO, "points"));
}

#[test]
fn s8_the_turn_limit_counts_the_turns_of_both_seats() {
    let mut game = start(&Options { turn_limit: 3, ..Options::default() });
    for face in 1..=3 {
        assert_eq!(game.turns_left(), Some(4 - face));
        roll(&mut game, [face; 2]);
        play(&mut game, &format!("place {face} {face}"));
    }
    assert_eq!(game.turn(), Turn::Over(Outcome::turn_limit()));
}

#[test]
fn the_options_set_the_goals() {
    let mut game = start(&Options { points_to_win: 1, ..Options::default() });
    for mv in ["place 2 2", "place 3 3"] {
        let face = u32::from(mv.as_bytes()[6] - b'0');
        roll(&mut game, [face; 2]);
        play(&mut game, mv);
    }
    roll(&mut game, [2, 2]);
    play(&mut game, "score 2 2");
    assert!(is_won_by(&game, ZERO, "points"));

    let mut game = start(&Options { rows_to_win: 1, ..Options::default() });
    game.position.board = at("..... ..... 00.00 ..... .....").position.board;
    roll(&mut game, [3, 3]);
    play(&mut game, "place 3 3");
    assert!(is_won_by(&game, ZERO, "rows"));
}
