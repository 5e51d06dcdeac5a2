//! The circulation of cards, and the end of the game.

use super::*;

fn hands(game: &Keezen) -> String {
    let of =
        |(_, hand): (Seat, Hand)| hand.cards().iter().map(|card| card.name()).collect::<Vec<_>>().join(" ");
    game.position.hands.iter().map(of).collect::<Vec<_>>().join("|")
}

fn dealt(cards: &str) -> Fact {
    let mut hands = Hands::none(cards.split('|').count() as u8);
    for (seat, cards) in (0..).map(Seat).zip(cards.split('|')) {
        *hands.of_mut(seat) = hand(cards);
    }
    Fact::Deal(hands)
}

#[test]
fn deck_has_each_rank_per_seat_in_page_order() {
    for seats in [2, 4, 6] {
        let numbers: Vec<u32> = (0..13 * u32::from(seats)).collect();
        let stock = Stock::shuffled(seats, &numbers);
        let names: Vec<&str> = stock.rest().iter().map(|card| card.name()).collect();
        let ranks = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];
        assert_eq!(names, ranks.map(|rank| vec![rank; seats.into()]).concat());
    }
}

#[test]
fn cards_are_dealt_singly_from_dealers_left_neighbour() {
    let mut game = start(4);
    let facts = shuffle(&mut game, "A K Q J 10 9 8 7 6 5 4 3 2 A K Q J 10 9 8");
    assert_eq!(facts, [dealt("2 6 10 J A|5 9 10 A K|4 8 9 Q K|3 7 8 J Q")]);
    assert_eq!(game.position.undealt().len(), 32);

    let mut game = start(4);
    game.position.dealer = Seat(1);
    let facts = shuffle(&mut game, "A K Q J 10 9 8 7 6 5 4 3 2 A K Q J 10 9 8");
    assert_eq!(facts, [dealt("4 8 9 Q K|3 7 8 J Q|2 6 10 J A|5 9 10 A K")]);
    assert_eq!(game.position.to_move, Some(Seat(2)), "the seat left of the dealer begins");
}

#[test]
fn cycle_is_rounds_of_five_four_four_then_next_dealer() {
    let mut game = start(2);
    // Seat 0 gets the first of each pair.
    let facts = shuffle(&mut game, "K 2 2 3 3 4 4 5 5 6  A K 6 7 7 8 8 9  9 10 10 J J Q Q A");
    assert_eq!(facts, [dealt("2 3 4 5 K|2 3 4 5 6")]);
    assert_eq!(play(&mut game, "K enter"), [handed_in(1, "2 3 4 5 6")]);
    for text in ["2 t0", "3 t2", "5 t5"] {
        assert_eq!((play(&mut game, text), game.position.deal), (vec![], 0));
    }
    assert_eq!(play(&mut game, "4 t10"), [dealt("6 7 8 A|7 8 9 K")]);
    assert_eq!(
        (game.position.dealer, game.position.deal, game.position.to_move),
        (Seat(1), 1, Some(Seat(0)))
    );
    for text in ["8 t6", "K enter", "A enter", "9 t32", "6 t14", "8 t41", "7 t20"] {
        assert_eq!(play(&mut game, text), []);
    }
    assert_eq!(play(&mut game, "7 t49"), [dealt("9 10 J Q|A J Q 10")]);
    assert_eq!((game.position.dealer, game.position.deal, game.cycle), (Seat(1), 2, 0));
    while game.position.to_move.is_some() {
        let first = legal(&game).split(", ").next().unwrap().to_owned();
        play(&mut game, &first);
    }
    assert_eq!((game.position.dealer, game.position.deal, game.cycle), (Seat(0), 0, 1));
    assert_eq!((game.position.pile().len(), game.position.undealt().len()), (0, 0));
    shuffle(&mut game, "");
    assert_eq!(game.position.to_move, Some(Seat(1)), "the seat left of the new dealer");
}

#[test]
fn a_round_without_playable_cards_ends_immediately() {
    let mut game = start(2);
    let facts = shuffle(&mut game, "2 2 3 3 4 4 5 5 6 6  7 7 8 8 9 9 10 10  Q Q A A J J K K");
    let first = [dealt("2 3 4 5 6|2 3 4 5 6"), handed_in(0, "2 3 4 5 6"), handed_in(1, "2 3 4 5 6")];
    let second = [dealt("7 8 9 10|7 8 9 10"), handed_in(0, "7 8 9 10"), handed_in(1, "7 8 9 10")];
    assert_eq!(facts, [&first[..], &second, &[dealt("J Q K A|J Q K A")]].concat());
    assert_eq!(game.turns_left(), Some(5000));
    assert_eq!(game.position.to_move, Some(Seat(0)));
}

#[test]
fn seats_without_cards_are_skipped() {
    let mut game = game("t10|t20|t40|t60", "2 3||5|");
    play(&mut game, "2 t10");
    assert_eq!(game.position.to_move, Some(Seat(2)));
    play(&mut game, "5 t40");
    assert_eq!(game.position.to_move, Some(Seat(0)));
    play(&mut game, "3 t12");
    assert!(matches!(game.turn(), Turn::Draw(_)));
}

#[test]
fn a_handed_in_hand_goes_onto_the_pile_sorted() {
    let mut game = game("t10||t40|", "2|9 2 Q||");
    assert_eq!(play(&mut game, "2 t10"), [handed_in(1, "2 9 Q")]);
    let mut game = super::game("t10||t40|", "2 3|9 2 Q|2|");
    play(&mut game, "2 t10");
    assert_eq!(game.position.pile(), [Rank::Two, Rank::Two, Rank::Nine, Rank::Queen]);
    assert_eq!(hands(&game), "3||2|");
}

#[test]
fn equal_cards_give_one_move() {
    let mut game = game("t10|t20", "5 5|2");
    assert_eq!(legal(&game), "5 t10");
    play(&mut game, "5 t10");
    assert_eq!(hands(&game), "5|2");
}

#[test]
fn seat_wins_with_two_seats_in_middle_of_round() {
    let mut game = game("t62 h0.1 h0.2 h0.3|t40", "2 5 8|2 3 K");
    assert_eq!(play(&mut game, "2 t62"), []);
    assert_eq!(winner(&game), Some(0));
    assert_eq!(hands(&game), "5 8|2 3 K", "nothing more is handed in");
    assert_eq!(game.position.to_move, None);
}

#[test]
fn a_team_wins_when_all_pawns_of_both_are_home() {
    let mut first = game("t62 h0.1 h0.2 h0.3||t40|", "2|2|5|");
    play(&mut first, "2 t62");
    assert_eq!(winner(&first), None, "the partner is not home");

    let mut second = game("t62 h0.1 h0.2 h0.3|t50|h2.0 h2.1 h2.2 h2.3|", "2|2|5|");
    play(&mut second, "2 t62");
    assert_eq!(winner(&second), Some(0));

    let mut helped = game("h0.0 h0.1 h0.2 h0.3|t50|t31 h2.1 h2.2 h2.3|", "A|2|5|");
    play(&mut helped, "A t31");
    assert_eq!(winner(&helped), Some(0));
}

#[test]
fn of_three_sides_one_wins_and_the_others_are_equal() {
    let mut game = game("t94 h0.1 h0.2 h0.3|h1.3||h3.0 h3.1 h3.2 h3.3|h4.0|", "2|2|||K|");
    play(&mut game, "2 t94");
    assert_eq!(winner(&game), Some(0));
    let Turn::Over(outcome) = game.turn() else { unreachable!() };
    assert_eq!([0, 1, 2].map(|side| outcome.standing(side)), [0, 1, 1]);
}

#[test]
fn win_with_last_card_of_round_deals_nothing() {
    let mut game = start(2);
    shuffle(&mut game, "A 2 A 3 4 4 2 5 3 6");
    let board = &mut game.position.board;
    *board = super::game("t63 h0.1 h0.2 h0.3|", "").position.board;
    game.position.hands = super::game("|", "A|").position.hands;
    assert_eq!(play(&mut game, "A t63"), []);
    assert_eq!(winner(&game), Some(0));
}

#[test]
fn cards_are_shuffled_only_at_the_beginning_of_a_cycle() {
    let mut game = start(4);
    let mut draws = 0;
    for _ in 0..500 {
        match game.turn() {
            Turn::Draw(draw) => {
                assert_eq!(draw, Draw::Shuffle { len: 52 });
                draws += 1;
                assert_eq!(game.cycle + 1, draws);
                assert_eq!(game.position.dealer, Seat(((draws + 2) % 4) as u8));
                shuffle(&mut game, "");
            }
            Turn::Decide(_) => {
                let last = legal(&game).rsplit(", ").next().unwrap().to_owned();
                play(&mut game, &last);
            }
            Turn::Over(_) => break,
        }
    }
    assert!(draws > 5, "{draws} cycles");
}
