//! The effect of each card.

use super::*;

#[test]
fn ace_brings_pawn_in_or_moves_one_by_1() {
    assert_eq!(plays("t5|||", "A"), "A enter, A t5");
    assert_eq!(after("t5|||", "A enter"), "t0 t5|||");
    assert_eq!(after("t5|||", "A t5"), "t6|||");
    assert_eq!(plays("t5 t6 t7 h0.0|||", "A"), "A h0.0, A t5, A t6, A t7", "the base is empty");
}

#[test]
fn a_king_brings_a_pawn_in_and_moves_none() {
    assert_eq!(plays("t5|||", "K"), "K enter");
    assert_eq!(after("t5|||", "K enter"), "t0 t5|||");
    assert_eq!(after("|", "K enter"), "t0|");
}

#[test]
fn a_queen_moves_a_pawn_by_12() {
    assert_eq!(plays("t5|||", "Q"), "Q t5");
    assert_eq!(after("t5|||", "Q t5"), "t17|||");
}

#[test]
fn number_cards_move_a_pawn_by_their_number() {
    for steps in [2, 3, 5, 6, 8, 9, 10] {
        let text = format!("{steps} t20");
        assert_eq!(plays("t20|||", &steps.to_string()), text);
        assert_eq!(after("t20|||", &text), format!("t{}|||", 20 + steps));
    }
    assert_eq!(plays("||t20|", "5"), "", "the partner's pawns are not the player's");
}

#[test]
fn a_seven_moves_one_pawn_by_7() {
    assert_eq!(plays("t20|||", "7"), "7 t20");
    assert_eq!(after("t20|||", "7 t20"), "t27|||");
}

#[test]
fn a_four_moves_a_pawn_backward() {
    assert_eq!(plays("t20 t63|||", "4"), "4 t20, 4 t63");
    assert_eq!(after("t20|||", "4 t20"), "t16|||");
    assert_eq!(after("t18|t14||", "4 t18"), "t14|||", "it captures as others do");
}

#[test]
fn a_four_goes_over_and_past_the_own_start() {
    assert_eq!(after("t0|||", "4 t0"), "t60|||");
    assert_eq!(after("t2|||", "4 t2"), "t62|||");
    assert_eq!(after("t4|||", "4 t4"), "t0|||");
}

#[test]
fn a_pawn_in_a_home_does_not_go_back() {
    assert_eq!(plays("h0.0 h0.3|||", "4"), "");
}

#[test]
fn a_jack_swaps_an_own_pawn_with_another_players() {
    assert_eq!(plays("t5 t9|t20|t40|", "J"), "J t5 t20, J t5 t40, J t9 t20, J t9 t40");
    assert_eq!(after("t5 t9|t20|t40|", "J t5 t20"), "t9 t20|t5|t40|");
    assert_eq!(after("t5 t9|t20|t40|", "J t9 t40"), "t5 t40|t20|t9|", "the partner is another player, too");
}

#[test]
fn a_jack_may_bring_pawns_onto_starts() {
    assert_eq!(after("t16|t0||", "J t16 t0"), "t0|t16||");
    assert_eq!(after("t16|t20||", "J t16 t20"), "t20|t16||");
}

#[test]
fn landing_on_any_pawn_sends_it_back() {
    assert_eq!(after("t20|t25||", "5 t20"), "t25|||");
    assert_eq!(after("t20||t25|", "5 t20"), "t25|||");
    assert_eq!(after("t20 t25|||", "5 t20"), "t25|||");
    assert_eq!(after("t20|t24||", "5 t20"), "t25|t24||", "passing one does nothing");
}

#[test]
fn player_must_capture_own_pawn_without_other_move() {
    let mut game = game("t10 t15|t16||", "5|2||");
    assert_eq!(legal(&game), "5 t10");
    assert_eq!(play(&mut game, "5 t10"), []);
    assert_eq!(pawns(&game), "t15|t16||");
    assert_eq!(game.position.to_move, Some(Seat(1)));
}

#[test]
fn pawn_on_its_start_is_neither_captured_nor_passed_forward() {
    assert_eq!(plays("t14|t16||", "2"), "");
    assert_eq!(plays("t14|t16||", "3"), "");
    assert_eq!(plays("t14|t16||", "A"), "A enter, A t14");
    assert_eq!(plays("t14|t16||", "Q"), "");
    assert_eq!(plays("t14||t16|", "2"), "2 t14", "on another's start it is not safe");
    assert_eq!(plays("t14||t16|", "3"), "3 t14");
}

#[test]
fn pawn_on_its_start_is_neither_captured_nor_passed_backward() {
    assert_eq!(plays("t20|t16||", "4"), "");
    assert_eq!(plays("t17|t16||", "4"), "");
    assert_eq!(plays("t19|t16||", "4"), "");
    assert_eq!(plays("t21|t16||", "4"), "4 t21");
    assert_eq!(plays("t16|t15||", "4"), "4 t16", "that one is not on its own");
}

#[test]
fn the_own_start_is_blocked_by_an_own_pawn_too() {
    assert_eq!(plays("t0 t2|||", "4"), "4 t0");
    assert_eq!(plays("t0 t4|||", "4"), "4 t0");
    assert_eq!(plays("t0 t5|||", "4"), "4 t0, 4 t5");
}

#[test]
fn the_home_takes_exact_counts_only() {
    assert_eq!(after("t62|||", "2 t62"), "h0.0|||");
    assert_eq!(after("t62|||", "5 t62"), "h0.3|||");
    assert_eq!(plays("t62|||", "6"), "");
    assert_eq!(plays("t62|||", "Q"), "");
    assert_eq!(after("h0.1|||", "2 h0.1"), "h0.3|||");
    assert_eq!(plays("h0.2|||", "2"), "");
}

#[test]
fn pawns_in_the_home_are_neither_passed_nor_captured() {
    assert_eq!(plays("t62 h0.1|||", "2"), "2 h0.1, 2 t62");
    assert_eq!(plays("t62 h0.1|||", "3"), "");
    assert_eq!(plays("t62 h0.1|||", "5"), "");
    assert_eq!(plays("h0.0 h0.2|||", "2"), "");
    assert_eq!(plays("h0.0 h0.2|||", "A"), "A enter, A h0.0, A h0.2");
    assert_eq!(plays("t62 h0.3|||", "5"), "");
}

#[test]
fn other_homes_are_passed_by() {
    assert_eq!(after("t14|h1.0 h1.1||", "3 t14"), "t17|h1.0 h1.1||");
    assert_eq!(after("t31|h1.0", "2 t31"), "t33|h1.0");
}
