//! The fate of a six.

use super::*;

#[test]
fn a_six_must_be_resolved_before_anything_else() {
    let mut game = with_points(at(EMPTY), 6);
    assert_eq!(roll(&mut game, [6, 3]), [rolled(ZERO, [6, 3])]);
    assert_eq!(legal(&game), "reroll 1, turn 1 1, turn 1 2, turn 1 3, turn 1 4, turn 1 5");
    let mut game = with_points(at(EMPTY), 6);
    roll(&mut game, [3, 6]);
    assert_eq!(legal(&game), "reroll 2, turn 2 1, turn 2 2, turn 2 3, turn 2 4, turn 2 5");
}

#[test]
fn a_six_is_rolled_again_alone() {
    let mut game = at(EMPTY);
    roll(&mut game, [6, 3]);
    assert_eq!(play(&mut game, "reroll 1"), []);
    assert_eq!(roll(&mut game, [4]), [rolled(ZERO, [4, 3])]);
    assert_eq!(game.position.points, [0, 0]);
    assert_eq!(legal(&game), "place 3 4, place 4 3");
}

#[test]
fn a_six_is_turned_for_six_points() {
    let mut game = with_points(at(EMPTY), 20);
    roll(&mut game, [3, 6]);
    assert_eq!(play(&mut game, "turn 2 5"), []);
    assert_eq!(game.position.points, [14, 0]);
    assert_eq!(legal(&game), "place 3 5, place 5 3");
}

#[test]
fn a_six_may_be_turned_to_a_double() {
    let mut game = with_points(at(EMPTY), 6);
    roll(&mut game, [3, 6]);
    play(&mut game, "turn 2 3");
    assert_eq!(legal(&game), "place 3 3");
}

#[test]
fn with_less_than_six_points_six_can_only_be_rerolled() {
    let mut game = with_points(at(EMPTY), 5);
    // Neither insurance stones nor the enemy's points pay for it.
    game.position.points[1] = 100;
    roll(&mut game, [6, 3]);
    assert_eq!(legal(&game), "reroll 1");
}

#[test]
fn six_rolled_again_as_six_may_be_rolled_again() {
    let mut game = with_points(at(EMPTY), 6);
    roll(&mut game, [6, 3]);
    for _ in 0..3 {
        play(&mut game, "reroll 1");
        assert_eq!(roll(&mut game, [6]), [rolled(ZERO, [6, 3])]);
        assert_eq!(legal(&game), "reroll 1, turn 1 1, turn 1 2, turn 1 3, turn 1 4, turn 1 5");
    }
    play(&mut game, "turn 1 1");
    assert_eq!(legal(&game), "place 1 3, place 3 1");
}

#[test]
fn two_sixes_may_both_be_turned_for_twelve_points() {
    let mut game = with_points(at(EMPTY), 12);
    roll(&mut game, [6, 6]);
    assert_eq!(
        legal(&game),
        "reroll 1, reroll 2, turn 1 1, turn 1 2, turn 1 3, turn 1 4, turn 1 5, \
         turn 2 1, turn 2 2, turn 2 3, turn 2 4, turn 2 5"
    );
    play(&mut game, "turn 2 4");
    assert_eq!(legal(&game), "reroll 1, turn 1 1, turn 1 2, turn 1 3, turn 1 4, turn 1 5");
    play(&mut game, "turn 1 3");
    assert_eq!(game.position.points, [0, 0]);
    assert_eq!(legal(&game), "place 3 4, place 4 3");
}

#[test]
fn one_of_two_sixes_may_be_rerolled_first() {
    let mut game = with_points(at(EMPTY), 6);
    roll(&mut game, [6, 6]);
    play(&mut game, "reroll 2");
    assert_eq!(roll(&mut game, [5]), [rolled(ZERO, [6, 5])]);
    assert_eq!(legal(&game), "reroll 1, turn 1 1, turn 1 2, turn 1 3, turn 1 4, turn 1 5");
    play(&mut game, "turn 1 5");
    assert_eq!(legal(&game), "place 5 5");
}

#[test]
fn two_sixes_may_both_be_rolled_again_one_after_other() {
    let mut game = at(EMPTY);
    roll(&mut game, [6, 6]);
    assert_eq!(legal(&game), "reroll 1, reroll 2");
    play(&mut game, "reroll 1");
    assert_eq!(roll(&mut game, [6]), [rolled(ZERO, [6, 6])]);
    play(&mut game, "reroll 2");
    assert_eq!(roll(&mut game, [1]), [rolled(ZERO, [6, 1])]);
    play(&mut game, "reroll 1");
    assert_eq!(roll(&mut game, [2]), [rolled(ZERO, [2, 1])]);
    assert_eq!(legal(&game), "place 1 2, place 2 1");
}

#[test]
fn with_points_for_one_six_other_is_only_rerolled() {
    let mut game = with_points(at(EMPTY), 11);
    roll(&mut game, [6, 6]);
    play(&mut game, "turn 1 2");
    assert_eq!(game.position.points, [5, 0]);
    assert_eq!(legal(&game), "reroll 2");
}
