//! The nine rules, and how the match begins.

use super::*;

#[test]
fn example_game_ends_in_right_claim_by_seat_1() {
    let mut position = after(&EXAMPLE[..11]);
    assert_eq!(stones(&position), [vec!["b2 SE", "b3 NW"], vec!["c1 N"]]);
    assert_eq!(Colour::ALL.map(|colour| position.board.supply(colour)), [5, 5]);
    assert_eq!(position.board.removed(), 1);
    play(&mut position, &EXAMPLE[11..]);
    assert!(is_won_by(&position, BLACK, "claim"));
}

#[test]
fn every_position_of_the_example_game_matches_its_description() {
    // The fields where White may place in its second turn, and the only one where Black then may.
    assert_eq!(places(&after(&EXAMPLE[..2])), "a3 c3");
    let position = after(&EXAMPLE[..3]);
    assert_eq!(places(&position), "c1");
    assert!(is_legal(&position, "capture b2 a3"), "the two stones attack each other");
    assert!(!after(&EXAMPLE[..3]).board.is_jeex_for(Colour::Black));
    assert!(after(&EXAMPLE[..4]).board.is_jeex_for(Colour::Black), "White must get a stone of its own");
    assert!(!after(&EXAMPLE[..5]).board.is_jeex_for(Colour::Black));
    let position = after(&EXAMPLE[..8]);
    assert_eq!(position.board.supply(Colour::Black), 5, "the captured stone has joined it");
    assert_eq!(stones(&position)[1], ["b2 NW", "b3 W", "c1 N"], "the captor points as before");
    let position = after(&EXAMPLE[..10]);
    assert_eq!(position.board.attackers(Colour::Black).count_ones(), 2);
    assert_eq!(position.board.attackers(Colour::White).count_ones(), 1);
}

#[test]
fn white_is_seat_0_and_begins_with_seven_stones() {
    let position = started(&Options::default());
    assert!(is_to_move(&position, WHITE));
    assert_eq!(Colour::ALL.map(|colour| position.board.supply(colour)), [7, 7]);
    assert!(is_to_move(&after(&["place a1 N"]), BLACK));
    assert!(is_to_move(&after(&QUIET), WHITE));
}

#[test]
fn rule_1_white_opens_anywhere_but_does_not_attack_centre() {
    let position = started(&Options::default());
    assert_eq!(places(&position), "a1 a2 a3 b1 b2 b3 c1 c3 d1 d2 d3 e1 e2 e3");
    assert_eq!(typed_moves(&position).len(), 14 * 8 - 8);
    for facing in Direction::ALL {
        let at = beside_centre(facing.back());
        assert!(!is_legal(&position, &format!("place {at} {facing}")));
        assert!(is_legal(&position, &format!("place {at} {}", facing.back())));
    }
    assert!(is_legal(&position, "place a2 E"), "a field lies between it and the centre");
    assert!(moves(&position, "place").len() == typed_moves(&position).len(), "there is nothing else to do");
}

#[test]
fn rule_1_black_opens_where_neither_stone_points_at_other() {
    let position = after(&["place a2 E"]);
    assert_eq!(places(&position), "a1 a3 b1 b3 c1 c3 d1 d2 d3 e1 e2 e3", "a2 is taken, White points at b2");
    for refused in ["place a1 N", "place a3 S", "place b1 NW", "place b3 SW"] {
        assert!(!is_legal(&position, refused), "{refused} points at White's stone");
    }
    for refused in ["place c1 N", "place c3 S", "place d2 W", "place b1 NE"] {
        assert!(!is_legal(&position, refused), "{refused} attacks the centre");
    }
    for legal in ["place a1 S", "place b1 N", "place c1 NW", "place e2 W", "place d2 E"] {
        assert!(is_legal(&position, legal), "{legal}");
    }
    assert_eq!(moves(&position, "claim"), [""; 0], "Jeex is claimed in the phase of play");
}

#[test]
fn rule_1_does_not_apply_after_the_opening() {
    let position = after(&["place b1 E", "place e1 N"]);
    assert!(is_legal(&position, "place c1 N"), "attacks the centre");
    assert!(is_legal(&position, "rotate b1 NE"), "attacks the centre");
    let position = after(&["place b1 E", "place d2 N"]);
    assert!(is_legal(&position, "place c1 NE"), "points at Black's stone");
}

#[test]
fn rule_2_a_turn_is_one_of_four_actions() {
    let position = at(&["b2 N"], &["b3 S"]);
    let kinds = ["place ", "rotate ", "capture ", "claim"].map(|kind| moves(&position, kind).len());
    assert_eq!(kinds, [8, 7, 1, 1]);
    assert_eq!(kinds.iter().sum::<usize>(), typed_moves(&position).len());
}

#[test]
fn rule_3_stone_is_placed_at_point_or_tail() {
    assert_eq!(places(&at(&["a2 N"], &["e3 N"])), "a1 a3");
    assert_eq!(places(&at(&["a2 NE", "e1 N"], &["d3 W"])), "b3 e2");
    assert_eq!(places(&at(&["a1 SW"], &["e3 N"])), "b2", "the tail alone is on the board");
    assert_eq!(places(&at(&["a1 NW"], &["e3 N"])), "", "neither is");
    assert_eq!(places(&at(&["a2 N", "a3 E"], &["a1 N"])), "b3", "the other fields are taken");
}

#[test]
fn rule_3_takes_stone_from_supply_and_needs_one_there() {
    let mut position = at(&["a2 N"], &["e3 N"]);
    play(&mut position, &["place a3 SW"]);
    assert_eq!(stones(&position)[0], ["a2 N", "a3 SW"]);
    assert_eq!(Colour::ALL.map(|colour| position.board.supply(colour)), [5, 6]);
    let mut position = at(&["a2 N"], &["e3 N"]);
    position.board.supply[0] = 0;
    assert_eq!(places(&position), "");
}

#[test]
fn rule_3_counts_across_the_centre_in_all_directions() {
    for facing in Direction::ALL {
        let (near, far) = (beside_centre(facing.back()), beside_centre(facing));
        for direction in [facing, facing.back()] {
            let position = at(&[&format!("{near} {direction}")], &["a1 SW"]);
            assert!(is_legal(&position, &format!("place {far} N")), "{near} {direction}");
        }
    }
}

#[test]
fn rule_4_own_stone_is_rotated_to_any_other_direction() {
    let mut position = at(&["b2 N"], &["e3 N"]);
    assert_eq!(
        moves(&position, "rotate"),
        ["E", "NE", "NW", "S", "SE", "SW", "W"].map(|direction| format!("rotate b2 {direction}"))
    );
    play(&mut position, &["rotate b2 SW"]);
    assert_eq!(stones(&position), [["b2 SW"], ["e3 N"]]);
    assert_eq!(Colour::ALL.map(|colour| position.board.supply(colour)), [6, 6]);
}

#[test]
fn rule_5_enemy_stone_at_own_point_is_captured() {
    let around = ["a1 N", "a2 N", "a3 N", "b1 N", "b3 N", "c1 W", "c3 W"];
    for (facing, to) in
        [("SW", "a1"), ("W", "a2"), ("NW", "a3"), ("S", "b1"), ("N", "b3"), ("SE", "c1"), ("NE", "c3")]
    {
        let position = at(&[&format!("b2 {facing}")], &around);
        assert_eq!(moves(&position, "capture"), [format!("capture b2 {to}")]);
    }
    let position = at(&["b2 N", "b3 E"], &["b1 N", "e3 W"]);
    assert_eq!(moves(&position, "capture"), [""; 0], "not by the tail, from further off, or of an own stone");
}

#[test]
fn rule_5_counts_across_the_centre_in_all_directions() {
    for facing in Direction::ALL {
        let (near, far) = (beside_centre(facing.back()), beside_centre(facing));
        let mut position = at(&[&format!("{near} {facing}")], &[&format!("{far} {facing}"), "a1 SW"]);
        let capture = format!("capture {near} {far}");
        assert_eq!(moves(&position, "capture"), [capture.as_str()]);
        play(&mut position, &[&capture]);
        assert_eq!(stones(&position)[0], [format!("{far} {facing}")]);
    }
}

#[test]
fn rule_6_the_captor_slides_on_and_keeps_its_direction() {
    let mut position = at(&["d1 N"], &["d2 W", "a1 SW"]);
    play(&mut position, &["capture d1 d2"]);
    assert_eq!(stones(&position), [["d2 N"], ["a1 SW"]]);
    let mut position = at(&["d3 E"], &["e3 W", "a1 SW"]);
    play(&mut position, &["capture d3 e3"]);
    assert_eq!(stones(&position)[0], ["e3 E"], "it points off the board");
}

#[test]
fn rule_7_captured_stone_joins_supply_of_captor() {
    let mut position = at(&["c3 W"], &["b3 N", "a1 SW"]);
    play(&mut position, &["capture c3 b3"]);
    assert_eq!(Colour::ALL.map(|colour| position.board.supply(colour)), [7, 5]);
    assert_eq!(position.board.removed(), 0);
}

#[test]
fn rule_7_stone_captured_on_battlefield_leaves_game() {
    for battlefield in ["b2", "d2"] {
        let from = battlefield.replace('2', "3");
        let mut position = at(&[&format!("{from} S")], &[&format!("{battlefield} N"), "a1 SW"]);
        play(&mut position, &[&format!("capture {from} {battlefield}")]);
        assert_eq!(Colour::ALL.map(|colour| position.board.supply(colour)), [6, 5]);
        assert_eq!(position.board.removed(), 1);
    }
}

#[test]
fn rule_7_a_supply_can_grow_above_seven() {
    let mut position = after(&[
        "place a1 N",
        "place b1 N",
        "rotate a1 E",
        "place b2 N",
        "capture a1 b1",
        "rotate b2 SE",
        "rotate b1 W",
        "place c1 N",
        "rotate b1 E",
        "rotate b2 W",
        "capture b1 c1",
    ]);
    assert_eq!(Colour::ALL.map(|colour| position.board.supply(colour)), [8, 4]);
    assert_eq!(stones(&position), [["c1 E"], ["b2 W"]]);
    play(&mut position, &["rotate b2 N", "place b1 NW"]);
    assert_eq!(position.board.supply(Colour::White), 7);
}

#[test]
fn rule_8_a_right_claim_wins() {
    for facing in Direction::ALL {
        let near = beside_centre(facing.back());
        let mut position = at(&[&format!("{near} {facing}")], &["a1 N"]);
        play(&mut position, &["claim"]);
        assert!(is_won_by(&position, WHITE, "claim"), "{near} {facing}");
    }
}

#[test]
fn rule_8_a_wrong_claim_loses() {
    let claims = [
        (at(&["b3 E"], &["e1 N"]), "the centre is not attacked"),
        (at(&["b3 SE"], &["d2 W"]), "both attack it"),
        (at(&["b3 E"], &["d2 W"]), "the opponent alone attacks it"),
        (at(&["a2 E"], &["e1 N"]), "a field lies between the stone and the centre"),
        (at(&["b2 W"], &["e1 N"]), "the tail does not attack it"),
    ];
    for (mut position, why) in claims {
        play(&mut position, &["claim"]);
        assert!(is_won_by(&position, BLACK, "wrong_claim"), "{why}");
    }
    let mut position = after(&["place a1 N", "place e1 N", "rotate a1 S", "claim"]);
    assert!(is_won_by(&position, WHITE, "wrong_claim"));
    position = after(&["place a1 N", "place e1 N", "claim"]);
    assert!(is_won_by(&position, BLACK, "wrong_claim"));
}

#[test]
fn rule_9_a_side_without_stones_on_the_board_draws() {
    let position = after(&["place a1 N", "place b1 N", "rotate a1 E", "rotate b1 E", "capture a1 b1"]);
    assert_eq!(stones(&position), [vec!["b1 E"], vec![]]);
    assert_eq!(position.turn(), Turn::Over(Outcome::draw("no_stones")));
    assert!(is_to_move(&after(&["place a1 N"]), BLACK), "in the opening a side has none yet");
}

#[test]
fn draws_are_not_agreed_on() {
    const { assert!(!Jeex::META.draws_by_agreement) };
}
