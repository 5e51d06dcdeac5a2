//! Rulings on gaps in the rules, by id.

use super::*;

#[test]
fn x1_jump_that_lands_on_ring_ends_move() {
    // Red comes over b4 to c4 and over d4 to e4, where the ring lies; over e5 it would go on to e6.
    let squares = "a4 b4 d4 e5 a7 g7 g1";
    assert_eq!(ends(&playing(squares, "e4", ["red", "blue"]), "red"), "b3 b5 c4 e4");
    assert_eq!(ends(&playing(squares, "e4", ["black", "blue"]), "red"), "b3 b5 c4");
}

#[test]
fn x1_nothing_jumps_over_the_ring() {
    // The squares behind it, c5 and e3 and e5, are as far from it as the pawn; over it and over e6 would be d7.
    let game = playing("c3 e6 a7 b7 c7 f7 g7", "d4", ["black", "blue"]);
    assert_eq!(ends(&game, "red"), "c4 d3");
}

#[test]
fn x2_jump_may_lead_away_if_move_ends_nearer() {
    // Over e1 to f1, which is farther away than d1, then over f2 to f3.
    let game = playing("d1 e1 f2 a7 b7 g7 g6", "d7", ["black", "black"]);
    assert_eq!(ends(&game, "red"), "c2 d2 e2 f3");
}

#[test]
fn x2_jumps_in_a_circle_come_to_an_end() {
    let game = playing("d1 e1 f2 e3 d2 g7 a7", "d7", ["black", "black"]);
    assert_eq!(ends(&game, "red"), "c2 d3 e2 f3");
}

#[test]
fn x2_a_step_and_jumps_do_not_mix() {
    // A step to d2 or c2, then a jump over d3.
    let game = playing("d1 d3 a7 b7 c7 f7 g7", "d6", ["black", "black"]);
    assert_eq!(ends(&game, "red"), "c2 d2 e2");
    // A jump over d2 to d3, then a step to d4.
    let game = playing("d1 d2 a7 b7 c7 f7 g7", "d6", ["black", "black"]);
    assert_eq!(ends(&game, "red"), "c2 d3 e2");
}

#[test]
fn x3_only_the_own_choice_may_end_on_the_ring() {
    // By a step, and by a jump over the pawn that may step there.
    let squares = "c4 b4 a7 b7 c7 f7 g7";
    let by_choice = |choice, other| {
        let game = playing(squares, "d4", [choice, other]);
        ["red", "orange"].map(|pawn| ends(&game, pawn).split(' ').any(|end| end == "d4"))
    };
    assert_eq!(by_choice("red", "orange"), [true, false]);
    assert_eq!(by_choice("orange", "red"), [false, true]);
    assert_eq!(by_choice("black", "red"), [false, false]);
}

#[test]
fn x4_a_seat_without_moves_must_accuse() {
    // The corner is full, and the chosen pawn on b3 does not reach the ring.
    let game = playing("a2 b1 b2 c1 a3 b3 c2", "a1", ["purple", "red"]);
    let all = Pawn::ALL.map(|pawn| format!("accuse {pawn}"));
    assert_eq!(legal(&game, ZERO), BTreeSet::from(all).into_iter().collect::<Vec<_>>());
}

#[test]
fn x4_any_colour_may_be_accused_at_any_time() {
    let mut game = playing(SCATTERED, "d4", ["red", "red"]);
    assert_ne!(ends(&game, "red"), "");
    assert_eq!(play(&mut game, "accuse red"), [round(ZERO, ["red", "red"], Reason::Accused)]);
}

#[test]
fn x5_seat_1_puts_the_first_ring_down() {
    let mut game = set_up(SCATTERED);
    assert_eq!(game.turn(), Turn::Decide(SeatSet::one(ONE)));
    play(&mut game, "ring d4");
    choose(&mut game, ["red", "red"]);
    assert_eq!(game.turn(), Turn::Decide(SeatSet::one(ZERO)));
}

#[test]
fn x6_the_distance_is_the_straight_one() {
    // Red on c7 is at 1 and 3 from d4: 10. b6 is at 2 and 2, 8: as far by steps along files and ranks. d7 is at 3, 9: as far
    // by steps of a king.
    let game = playing("c7 a1 b1 c1 e1 f1 g1", "d4", ["red", "blue"]);
    assert_eq!(ends(&game, "red"), "b6 c6 d6 d7");
    let square = |name| Square::named(name).unwrap();
    assert_eq!(square("c7").distance(square("d4")), 10);
    assert_eq!(square("a1").distance(square("g7")), 72);
}

#[test]
fn x6_a_diagonal_neighbour_is_farther_than_an_orthogonal_one() {
    let game = playing("c3 a7 b7 c7 e7 f7 g7", "d4", ["red", "blue"]);
    assert_eq!(ends(&game, "red"), "c4 d3 d4");
    // Nothing is nearer than next to the ring but the ring itself.
    let game = playing("c4 a7 b7 c7 e7 f7 g7", "d4", ["red", "blue"]);
    assert_eq!(ends(&game, "red"), "d4");
}

#[test]
fn x7_ring_never_goes_beside_pawn() {
    let mut game = set_up("b2 e2 b5 e5 g7 g2 g5");
    assert_eq!(legal_of(&game, "ring"), "a7 b7 c7 d7 e7");
    play(&mut game, "ring a7");
    choose(&mut game, ["red", "green"]);
    play(&mut game, "move red b3");
    play(&mut game, "move blue f7");
    play(&mut game, "accuse green");
    assert_eq!(game.round(), 2);
    // Red has left rank 1 alone, blue is next to e7 now.
    assert_eq!(legal_of(&game, "ring"), "a1 a7 b1 b7 c1 c7 d7");
}

#[test]
fn x7_there_is_always_a_place_for_the_ring() {
    // Seven kings that leave as little as can be: nine are needed for a board of 7x7.
    for squares in
        ["b2 b5 d7 e2 e5 g4 g7", "b2 d2 f2 b4 d4 f4 d6", "d2 b4 d4 f4 d6 b6 f6", "a1 b1 c1 d1 e1 f1 g1"]
    {
        assert_ne!(legal_of(&set_up(squares), "ring"), "", "{squares}");
    }
}
