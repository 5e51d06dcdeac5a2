//! The rulings, by their ids. K5 is in `splits`, K8 in `hidden`.

use super::*;

#[test]
fn k1_side_has_16_squares_and_home_precedes_start() {
    for (seats, track, starts) in
        [(2, 64, &[0, 32][..]), (4, 64, &[0, 16, 32, 48]), (6, 96, &[0, 16, 32, 48, 64, 80])]
    {
        let board = *start(seats).position.board();
        assert_eq!(board.track(), track);
        assert_eq!(board.all().map(|seat| board.start_of(seat)).collect::<Vec<_>>(), starts);
    }
    let last = |pawns: &str, seat| {
        let mut game = game(pawns, "");
        game.position.to_move = Some(Seat(seat));
        *game.position.hands.of_mut(Seat(seat)) = hand("2");
        let only = legal(&game);
        play(&mut game, &only);
        super::pawns(&game)
    };
    assert_eq!(last("|t31", 1), "|h1.1");
    assert_eq!(last("|t15||", 1), "|h1.1||");
    assert_eq!(last("|||||t79", 5), "|||||h5.1");
    assert_eq!(last("t95|||||", 0), "h0.1|||||");
    assert_eq!(last("t63|", 0), "h0.1|");
    assert_eq!(last("t63|||||", 0), "t65|||||");
    assert_eq!(last("|t63||", 1), "|t1||", "the track is a ring");
}

#[test]
fn k2_start_takes_no_second_own_pawn_and_captures_others() {
    assert_eq!(plays("t0|||", "K"), "");
    assert_eq!(plays("t0|||", "A"), "A t0");
    assert_eq!(after("|t0||", "K enter"), "t0|||");
    assert_eq!(after("||t0|", "A enter"), "t0|||", "the partner's, too");
}

#[test]
fn k3_pawn_back_on_its_start_is_safe_again() {
    let mut game = game("t4|t60||", "4|4 5 J||");
    play(&mut game, "4 t4");
    assert_eq!(pawns(&game), "t0|t60||");
    assert_eq!(legal(&game), "4 t60", "it cannot be passed nor swapped");
}

#[test]
fn k3_pawn_back_past_its_start_may_enter_home() {
    let mut game = game("t1|t20||", "4 3 5|2 3||");
    play(&mut game, "4 t1");
    play(&mut game, "2 t20");
    assert_eq!(pawns(&game), "t61|t22||");
    assert_eq!(legal(&game), "3 t61, 5 t61");
    play(&mut game, "5 t61");
    assert_eq!(pawns(&game), "h0.2|t22||");
}

#[test]
fn k4_jack_swaps_no_safe_pawn_nor_two_own() {
    assert_eq!(plays("t0 t5 h0.0|t16 t20 h1.3|t48|t49", "J"), "J t5 t20, J t5 t48, J t5 t49");
    assert_eq!(plays("t5 t6|||", "J"), "");
    assert_eq!(plays("t0 h0.3|t20||", "J"), "");
    assert_eq!(plays("t5|t16 h1.0||", "J"), "");
}

#[test]
fn k6_king_brings_in_partners_pawn_without_own_base_pawn() {
    assert_eq!(plays("t5 t6 t7 h0.0|||", "K"), "K enter 2");
    assert_eq!(after("t5 t6 t7 h0.0|||", "K enter 2"), "t5 t6 t7 h0.0||t32|");
    assert_eq!(plays("t5 t6 t7|||", "K"), "K enter", "an own pawn is in the base");
    assert_eq!(plays("t0 t6 t7|||", "K"), "", "a blocked start is not an empty base");
    assert_eq!(plays("t5 t6 t7 h0.0||t32|", "K"), "", "the partner's start is taken");
    assert_eq!(plays("t5 t6 t7 h0.0||t1 t2 t3 t4|", "K"), "", "no pawn of the partner's is in the base");
    assert_eq!(plays("t5 t6 t7 h0.0|", "K"), "", "with two seats there is no partner");
    assert_eq!(plays("t5 t6 t7 t8|||||", "K"), "K enter 3");
}

#[test]
fn k6_the_partners_pawn_captures_even_an_own_one() {
    assert_eq!(after("t5 t6 t7 t32|||", "K enter 2"), "t5 t6 t7||t32|");
}

#[test]
fn k6_ace_brings_in_partners_pawn_once_own_are_home() {
    assert_eq!(plays("t5 t6 t7 h0.0||t40|", "A"), "A h0.0, A t5, A t6, A t7");
    assert_eq!(plays("h0.0 h0.1 h0.2 h0.3||t40|", "A"), "A enter 2, A t40");
    assert_eq!(after("h0.0 h0.1 h0.2 h0.3||t40|", "A enter 2"), "h0.0 h0.1 h0.2 h0.3||t32 t40|");
    assert_eq!(plays("h0.0 h0.1 h0.2 h0.3||t40|", "K"), "K enter 2");
}

#[test]
fn a_player_whose_pawns_are_home_plays_with_its_partners() {
    let plays = |card: &str| plays("h0.0 h0.1 h0.2 h0.3|t20|t40 h2.1|t50", card);
    assert_eq!(plays("2"), "2 h2.1, 2 t40");
    assert_eq!(plays("4"), "4 t40");
    assert_eq!(plays("Q"), "Q t40");
    assert_eq!(plays("J"), "J t40 t20, J t40 t50");
    assert_eq!(after("h0.0 h0.1 h0.2 h0.3||t31|", "A t31"), "h0.0 h0.1 h0.2 h0.3||h2.0|");
    assert_eq!(after("h0.0 h0.1 h0.2 h0.3|t42|t40|", "2 t40"), "h0.0 h0.1 h0.2 h0.3||t42|");
}

#[test]
fn k7_moves_within_the_home_are_plays() {
    let mut game = game("h0.0|||", "2 5|2||");
    assert_eq!(legal(&game), "2 h0.0");
    assert_eq!(play(&mut game, "2 h0.0"), [handed_in(1, "2"), handed_in(0, "5")]);
}

#[test]
fn k7_seat_without_playable_card_hands_in_its_hand() {
    let mut game = game("t10|t30 t31|t32|", "5|3 5 6 8 Q|2 3|");
    assert_eq!(play(&mut game, "5 t10"), [handed_in(1, "3 5 6 8 Q")]);
    assert_eq!(game.position.to_move, Some(Seat(2)));
    let pile: Vec<&str> = game.position.pile().iter().map(|card| card.name()).collect();
    assert_eq!(pile, ["5", "3", "5", "6", "8", "Q"]);
}

#[test]
fn k9_seat_0_begins_and_the_highest_seat_deals_first() {
    for seats in [2, 4, 6] {
        let mut game = start(seats);
        assert_eq!(game.position.dealer, Seat(seats - 1));
        shuffle(&mut game, &"A ".repeat(seats.into()));
        assert_eq!(game.position.to_move, Some(Seat(0)));
    }
}

#[test]
fn k10_limit_counts_cards_played_and_not_hands_handed_in() {
    let mut game = game("t10|||", "5 5|2 3|2|3");
    game.turns_left = 2;
    assert_eq!(play(&mut game, "5 t10"), [handed_in(1, "2 3"), handed_in(2, "2"), handed_in(3, "3")]);
    assert_eq!(game.turns_left(), Some(1));
    assert_eq!(play(&mut game, "5 t15"), []);
    assert_eq!(game.turn(), Turn::Over(Outcome::turn_limit()));
}

#[test]
fn k10_at_limit_nothing_more_is_handed_in_or_dealt() {
    let mut game = game("t10|||", "5|2 3|2|3");
    game.turns_left = 1;
    assert_eq!(play(&mut game, "5 t10"), []);
    assert_eq!(game.turn(), Turn::Over(Outcome::turn_limit()));
}

#[test]
fn k10_a_win_comes_before_the_limit() {
    let mut game = game("t63 h0.1 h0.2 h0.3|", "A|2");
    game.turns_left = 1;
    play(&mut game, "A t63");
    assert_eq!(winner(&game), Some(0));
}

#[test]
fn k11_own_pawns_are_passed_on_track_not_in_home() {
    assert_eq!(after("t20 t22|||", "3 t20"), "t22 t23|||");
    assert_eq!(after("t20 t18|||", "4 t20"), "t16 t18|||");
    assert_eq!(plays("t63 h0.0|||", "2"), "2 h0.0");
    assert_eq!(plays("t2 t0|||", "4"), "4 t0", "on its start it is not passed");
}
