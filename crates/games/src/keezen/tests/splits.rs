//! The seven over two pawns.

use super::*;

/// The plays of a seven that move two pawns.
fn splits(pawns: &str) -> Vec<String> {
    let plays = plays(pawns, "7");
    plays.split(", ").filter(|text| text.split(' ').count() == 5).map(str::to_owned).collect()
}

#[test]
fn k5_split_uses_all_seven_in_both_orders() {
    let ways = |one, two| (1..7).map(move |steps| format!("7 {one} {steps} {two} {}", 7 - steps));
    let mut expected: Vec<String> = ways("t20", "t40").chain(ways("t40", "t20")).collect();
    expected.extend(["7 t20".to_owned(), "7 t40".to_owned()]);
    expected.sort();
    assert_eq!(plays("t20 t40|||", "7"), expected.join(", "));
    assert_eq!(after("t20 t40|||", "7 t20 4 t40 3"), "t24 t43|||");
    assert_eq!(after("t20 t40|||", "7 t40 3 t20 4"), "t24 t43|||");
}

#[test]
fn k5_each_leg_captures() {
    assert_eq!(after("t20 t40|t22|t45|", "7 t20 2 t40 5"), "t22 t45|||");
}

#[test]
fn k5_pawn_that_first_leg_captures_makes_no_second() {
    let splits = splits("t10 t13|||");
    assert!(!splits.contains(&"7 t10 3 t13 4".to_owned()), "{splits:?}");
    assert!(splits.contains(&"7 t13 4 t10 3".to_owned()), "{splits:?}");
    assert_eq!(after("t10 t13|||", "7 t13 4 t10 3"), "t13 t17|||");
    assert_eq!(splits.len(), 11);
    assert_eq!(after("t10 t13 t30|||", "7 t10 3 t30 4"), "t13 t34|||", "a third pawn may");
}

#[test]
fn k5_second_leg_may_capture_pawn_of_first() {
    assert_eq!(after("t10 t13|||", "7 t13 2 t10 5"), "t15|||");
}

#[test]
fn k5_second_leg_is_made_on_board_that_results() {
    let made_room = splits("h0.0 t62|||");
    assert!(made_room.contains(&"7 h0.0 3 t62 4".to_owned()), "{made_room:?}");
    assert!(!made_room.contains(&"7 t62 4 h0.0 3".to_owned()), "{made_room:?}");
    assert_eq!(after("h0.0 t62|||", "7 h0.0 3 t62 4"), "h0.2 h0.3|||");

    let closed = splits("t60 t62|||");
    assert!(closed.contains(&"7 t62 3 t60 4".to_owned()), "the first goes deeper: {closed:?}");
    assert!(!closed.contains(&"7 t62 2 t60 5".to_owned()), "the first is in the way: {closed:?}");
    assert!(!closed.contains(&"7 t60 4 t62 3".to_owned()), "the first is in the way: {closed:?}");
}

#[test]
fn k5_neither_leg_passes_what_is_blocked() {
    assert!(
        splits("t14 t30|t16||").iter().all(|text| text.contains("t14 1")),
        "{:?}",
        splits("t14 t30|t16||")
    );
    assert_eq!(splits("t14 t13|t16||"), [""; 0]);
}

#[test]
fn k5_partner_makes_second_leg_after_last_pawn_home() {
    assert_eq!(plays("t62 h0.1 h0.2 h0.3||t40|", "7"), "7 t62 2 t40 5");
    assert_eq!(after("t62 h0.1 h0.2 h0.3||t40|", "7 t62 2 t40 5"), "h0.0 h0.1 h0.2 h0.3||t45|");
    assert_eq!(plays("t62 h0.1 h0.2 h0.3|t40|h2.0|t50", "7"), "", "not with these");
    assert_eq!(plays("t62 h0.1 h0.2 h0.3||h2.0 t31|", "7"), "", "not beyond its home");
    assert_eq!(plays("t50 h0.1 h0.2 h0.3||t40|", "7"), "7 t50", "not before it is home");
    assert_eq!(plays("t62 h0.0 h0.1 h0.2||t40|", "7"), "", "the home is closed");
    assert_eq!(plays("t62 h0.1 h0.2 h0.3|t40", "7"), "", "with two seats there is no partner");
}

#[test]
fn k5_first_leg_within_home_brings_no_pawn_home() {
    assert_eq!(splits("h0.0 h0.1 h0.2 t20||t40|"), ["7 h0.2 1 t20 6", "7 t20 6 h0.2 1"]);
}

#[test]
fn k5_seat_playing_for_partner_splits_over_partners_pawns() {
    let splits = splits("h0.0 h0.1 h0.2 h0.3|t20|t40 t50|");
    assert_eq!(splits.len(), 12);
    let before = "h0.0 h0.1 h0.2 h0.3|t20|t40 t50|";
    assert_eq!(after(before, "7 t50 1 t40 6"), "h0.0 h0.1 h0.2 h0.3|t20|t46 t51|");
}

#[test]
fn both_partners_can_come_home_with_one_seven() {
    let mut game = game("t62 h0.1 h0.2 h0.3||t27 h2.1 h2.2 h2.3|", "7|2||");
    assert_eq!(play(&mut game, "7 t62 2 t27 5"), []);
    assert_eq!(winner(&game), Some(0));
}

#[test]
fn a_seven_may_be_split_within_the_home() {
    assert_eq!(after("h0.0 t58|||", "7 h0.0 1 t58 6"), "h0.0 h0.1|||");
}
