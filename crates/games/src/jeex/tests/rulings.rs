//! The rulings J1 to J4.

use super::super::grid::{BATTLEFIELDS, CENTRE, FIELDS};
use super::*;

#[test]
fn j1_centre_has_14_fields_and_two_battlefields() {
    let names = |set| fields(set).map(Field::name).collect::<Vec<_>>().join(" ");
    assert_eq!(names(FIELDS), "a1 a2 a3 b1 b2 b3 c1 c3 d1 d2 d3 e1 e2 e3");
    assert_eq!(names(BATTLEFIELDS), "b2 d2");
    assert_eq!(names(CENTRE), "c2");
    assert_eq!(Field::named("c2"), None);
    let adjacent = |field: &str, towards: &str| {
        names(Direction::named(towards).unwrap().adjacent(Field::named(field).unwrap().bit()))
    };
    for (field, towards, next) in [
        ("b3", "N", ""),
        ("b3", "NE", ""),
        ("b3", "E", "c3"),
        ("b3", "SE", "d1"),
        ("b3", "S", "b2"),
        ("b3", "SW", "a2"),
        ("b3", "W", "a3"),
        ("b3", "NW", ""),
        ("b2", "E", "d2"),
        ("c1", "N", "c3"),
        ("e2", "E", ""),
        ("e1", "SE", ""),
        ("e1", "S", ""),
        ("a1", "SW", ""),
        ("a2", "E", "b2"),
    ] {
        assert_eq!(adjacent(field, towards), next, "{towards} of {field}");
    }
}

#[test]
fn j2_a_stone_may_point_off_the_board() {
    assert_eq!(moves(&at(&["a2 N"], &["e3 N"]), "place a1").len(), 8);
    assert!(is_legal(&at(&["a2 N"], &["e3 N"]), "place a1 SW"));
    assert!(is_legal(&at(&["a2 N"], &["e3 N"]), "rotate a2 W"));
    assert!(is_legal(&started(&Options::default()), "place a1 SW"));
}

#[test]
fn j3_side_can_always_rotate_and_claim_and_never_pass() {
    let mut position = at(&["a1 W"], &["e3 E"]);
    position.board.supply = [0; 2];
    let rotations = moves(&position, "rotate");
    assert_eq!(rotations.len(), 7);
    assert_eq!(moves(&position, ""), [vec!["claim".to_owned()], rotations].concat());
    for plies in 2..EXAMPLE.len() {
        assert!(is_legal(&after(&EXAMPLE[..plies]), "claim"), "after {plies} plies");
    }
}

#[test]
fn j4_fifty_rotations_in_a_row_draw() {
    let mut position = after(&QUIET);
    rotate(&mut position, 49);
    assert!(is_to_move(&position, BLACK));
    play(&mut position, &["rotate e3 NE"]);
    assert_eq!(position.turn(), Turn::Over(Outcome::draw("quiet_plies")));
}

#[test]
fn j4_a_placement_and_a_capture_reset_the_count() {
    let mut position = after(&["place a1 NE", "place b1 E", "rotate a1 N", "rotate b1 N"]);
    assert_eq!(position.quiet_plies, 2);
    play(&mut position, &["place a2 N"]);
    assert_eq!(position.quiet_plies, 0);
    play(&mut position, &["place b2 N", "rotate a1 E", "rotate b2 NE"]);
    assert_eq!(position.quiet_plies, 2);
    play(&mut position, &["capture a1 b1"]);
    assert_eq!(position.quiet_plies, 0);
}

#[test]
fn j4_draw_plies_zero_disables_the_draw() {
    let mut position = started(&Options { draw_plies: 3, ..Options::default() });
    play(&mut position, &QUIET);
    rotate(&mut position, 3);
    assert_eq!(position.turn(), Turn::Over(Outcome::draw("quiet_plies")));
    let mut position = started(&Options { draw_plies: 0, ..Options::default() });
    play(&mut position, &QUIET);
    rotate(&mut position, 397);
    assert!(is_to_move(&position, BLACK));
    assert_eq!(position.quiet_plies, 397);
}

#[test]
fn j4_the_turn_limit_counts_every_move_and_draws() {
    let mut position = started(&Options { turn_limit: 4, ..Options::default() });
    for left in [4, 3, 2, 1] {
        assert_eq!(position.turns_left(), Some(left));
        let plies = 4 - left as usize;
        play(&mut position, &[[QUIET[0], QUIET[1], "rotate a1 S", "rotate e3 N"][plies]]);
    }
    assert_eq!(position.turns_left(), Some(0));
    assert_eq!(position.turn(), Turn::Over(Outcome::turn_limit()));
    let mut position = started(&Options { turn_limit: 2, ..Options::default() });
    play(&mut position, &QUIET);
    assert_eq!(position.turn(), Turn::Over(Outcome::turn_limit()));
    assert_eq!(started(&Options::default()).turns_left(), Some(400));
}

#[test]
fn j4_the_rules_own_endings_come_before_the_turn_limit() {
    let limited = |moves: &[&str], draw_plies| {
        let turn_limit = moves.len() as u32;
        let mut position = started(&Options { turn_limit, draw_plies });
        play(&mut position, moves);
        position.turn()
    };
    let to_no_stones = ["place a1 N", "place b1 N", "rotate a1 E", "rotate b1 E", "capture a1 b1"];
    assert_eq!(limited(&to_no_stones, 50), Turn::Over(Outcome::draw("no_stones")));
    assert_eq!(limited(&EXAMPLE, 50), Turn::Over(Outcome::win(1, "claim")));
    let to_wrong_claim = [QUIET[0], QUIET[1], "rotate a1 N", "claim"];
    assert_eq!(limited(&to_wrong_claim, 50), Turn::Over(Outcome::win(0, "wrong_claim")));
    assert_eq!(limited(&to_wrong_claim[..3], 1), Turn::Over(Outcome::draw("quiet_plies")));
    assert_eq!(limited(&to_wrong_claim[..3], 2), Turn::Over(Outcome::turn_limit()));
}
