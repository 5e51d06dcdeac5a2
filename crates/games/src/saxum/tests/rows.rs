//! Rows.

use super::*;

/// The rows of seat 0 after this field is given and used like that.
fn rows_after(rows: &str, field: [u32; 2], how: &str) -> u32 {
    let mut game = with_points(at(rows), 20);
    roll(&mut game, field);
    play(&mut game, &format!("{how} {} {}", field[0], field[1]));
    assert_eq!(game.position.rows[1], 0);
    game.position.rows[0]
}

#[test]
fn a_line_of_five_own_stones_scores_a_row() {
    assert_eq!(rows_after("..... ..... 00.00 ..... .....", [3, 3], "place"), 1);
    assert_eq!(rows_after("..0.. ..0.. ..... ..0.. ..0..", [3, 3], "place"), 1);
    // On the edges of the board.
    assert_eq!(rows_after(".0000 ..... ..... ..... .....", [1, 1], "place"), 1);
    assert_eq!(rows_after("0.... 0.... 0.... 0.... .....", [5, 1], "place"), 1);
    assert_eq!(rows_after("..... ..... ..... ..... 0000.", [5, 5], "place"), 1);
    assert_eq!(rows_after("..... ....0 ....0 ....0 ....0", [1, 5], "place"), 1);
}

#[test]
fn nothing_else_scores_a_row() {
    // Four; a diagonal; the end of a line and the beginning of the next; a line with an enemy stone.
    assert_eq!(rows_after("..... ..... .0.00 ..... .....", [3, 3], "place"), 0);
    assert_eq!(rows_after("0.... .0... ..... ...0. ....0", [3, 3], "place"), 0);
    assert_eq!(rows_after("..... ..... ...00 00... .....", [3, 3], "place"), 0);
    assert_eq!(rows_after("..... ..... 00.01 ..... .....", [3, 3], "place"), 0);
}

#[test]
fn a_row_gives_no_points() {
    let mut game = at("..... ..... 00.00 ..... .....");
    roll(&mut game, [3, 3]);
    play(&mut game, "place 3 3");
    assert_eq!((game.position.points, game.position.rows), ([0, 0], [1, 0]));
}

#[test]
fn two_lines_at_once_score_three_rows() {
    assert_eq!(rows_after("..0.. ..0.. 00.00 ..0.. ..0..", [3, 3], "place"), 3);
    assert_eq!(rows_after("....0 ....0 ....0 ....0 0000.", [5, 5], "place"), 3);
}

#[test]
fn s7_replacing_counts_as_placing_for_rows() {
    for how in ["pay", "insure"] {
        assert_eq!(rows_after("..... ..... 00100 ..... .....", [3, 3], how), 1);
        assert_eq!(rows_after("..0.. ..0.. 00100 ..0.. ..0..", [3, 3], how), 3);
    }
}

#[test]
fn an_existing_line_does_not_score_again() {
    assert_eq!(rows_after("..... ..... 00000 ..... .....", [2, 3], "place"), 0);
    assert_eq!(rows_after("..... ..... 00000 ..... .....", [3, 3], "score"), 0);
    // The stone crosses a line that stands and completes one of its own.
    assert_eq!(rows_after("00000 0.... 0.... 0.... .....", [5, 1], "place"), 1);
}

#[test]
fn a_restored_line_scores_again() {
    let mut game = at("..... ..... 00.00 ..... .....");
    roll(&mut game, [3, 3]);
    play(&mut game, "place 3 3");
    roll(&mut game, [3, 3]);
    play(&mut game, "insure 3 3");
    assert_eq!(game.position.rows, [1, 0]);
    roll(&mut game, [3, 3]);
    play(&mut game, "insure 3 3");
    assert_eq!(game.position.rows, [2, 0]);
}

#[test]
fn scored_rows_remain_when_their_line_is_broken() {
    let mut game = at("..... ..... 00.00 ..... .....");
    roll(&mut game, [3, 3]);
    play(&mut game, "place 3 3");
    roll(&mut game, [3, 1]);
    play(&mut game, "place 1 3");
    roll(&mut game, [5, 5]);
    play(&mut game, "place 5 5");
    roll(&mut game, [3, 3]);
    play(&mut game, "insure 3 3");
    assert_eq!(game.position.rows, [1, 0]);
}
