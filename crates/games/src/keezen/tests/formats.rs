//! Formats that are read and written: moves, options, views, events, the board for a person.

use serde_json::json;

use super::*;
use crate::battery::{drawn, open, view};
use referee_game::Fact as _;
use referee_game::chance::RandomKey;
use referee_game::erased::{ErasedRules, Rules};

/// A game that agrees with a view of seat 0.
pub(super) fn imagined(view: &str) -> Keezen {
    let seen: Seen = serde_json::from_str(view).unwrap_or_else(|error| panic!("{error}: {view}"));
    let seating = seating(seen.cards.len() as u8);
    let known = Known { options: &Options::default(), seating, seat: Seat(0), turns_left: Some(5000) };
    Keezen::imagine(&known, &seen, &mut RandomKey([0; 32]).stream())
}

const ZERO: Viewer = Viewer::Seat(Seat(0));
const PAGE: &str = r#"{"to_move":[0],"track":64,"starts":[0,16,32,48],"pawns":[["base","base","t53","h0.0"],["base","base","base","t3"],["base","base","t17","h2.2"],["base","base","base","base"]],"hand":["2","5","8","J","A"],"hands":{},"cards":[5,4,4,0],"dealer":0,"cycle":1,"deal":0,"pile":["9","J","2","4","5","6","Q"],"playing_for":0}"#;

#[test]
fn moves_survive_a_round_trip_as_text() {
    for text in [
        "K enter",
        "A enter",
        "K enter 2",
        "A enter 5",
        "A t0",
        "2 h0.1",
        "10 t95",
        "Q t53",
        "4 t17",
        "7 t17",
        "7 h3.0",
        "7 t17 4 t30 3",
        "7 h0.0 1 h0.1 6",
        "J t17 t40",
    ] {
        assert_eq!(text.parse::<Move>().unwrap().to_string(), text);
    }
}

#[test]
fn invalid_moves_are_rejected() {
    for text in [
        "",
        " ",
        "K",
        "K ",
        "K enter ",
        "K enter 6",
        "K enter 02",
        "K enter +2",
        "K enter 2 3",
        "K  enter",
        " K enter",
        "k enter",
        "K t5",
        "K Enter",
        "Q enter",
        "2 enter",
        "A",
        "A t",
        "A t-1",
        "A t+1",
        "A t05",
        "A t96",
        "A t300",
        "A 5",
        "A h0",
        "A h0.4",
        "A h6.0",
        "A h0.00",
        "A h.0",
        "A h0.",
        "A h0.1 ",
        "A base",
        "1 t5",
        "11 t5",
        "02 t5",
        "5 t5 t6",
        "5 t5 3 t6 2",
        "7 t5 3",
        "7 t5 3 t6",
        "7 t5 3 t6 3",
        "7 t5 0 t6 7",
        "7 t5 7 t6 0",
        "7 t5 03 t6 4",
        "7 t5 3 t6 4 ",
        "7 t5 3 t6 4 t7",
        "7 t5  3 t6 4",
        "J t5",
        "J t5 h0.1",
        "J t5 t6 t7",
        "J",
        "pass",
        "t5",
    ] {
        assert!(text.parse::<Move>().is_err(), "{text:?}");
    }
}

#[test]
fn turn_limit_is_at_least_1_and_5000_by_default() {
    assert_eq!(ErasedRules::<Keezen>::RULES.default_options().get(), r#"{"turn_limit":5000}"#);
    let refusal = open::<Keezen>(json!({ "turn_limit": 0 })).map(|_| ()).unwrap_err();
    assert_eq!(refusal.to_string(), "turn_limit is 0; it must be at least 1");
    assert_eq!(open::<Keezen>(json!({ "turn_limit": 1 })).unwrap().turns_left(), Some(1));
    assert!(open::<Keezen>(json!({ "turn_limit": -1 })).is_err());
}

#[test]
fn the_view_and_the_legal_moves_match_the_rules_page() {
    let game = imagined(PAGE);
    assert_eq!(view(&game, ZERO), PAGE);
    assert_eq!(legal(&game), "2 h0.0, 2 t53, 5 t53, 8 t53, A enter, A h0.0, A t53, J t53 t17, J t53 t3");
    let list = legal(&game).replace(", ", r#"",""#);
    assert!(
        Keezen::META
            .rules
            .contains(&format!("```json\n{PAGE}\n```\n\nwith `legal`\n\n```json\n[\"{list}\"]\n"))
    );
}

#[test]
fn a_spectator_sees_no_hand_and_the_record_all_hands() {
    let game = imagined(PAGE);
    let own = r#""hand":["2","5","8","J","A"],"hands":{}"#;
    assert_eq!(view(&game, Viewer::Public), PAGE.replace(own, r#""hand":null,"hands":{}"#));
    let all = serde_json::to_string(&game.position.hands).unwrap();
    assert!(all.starts_with(r#"{"0":["2","5","8","J","A"],"1":["#) && all.ends_with(r#","3":[]}"#), "{all}");
    let expected = PAGE.replace(own, &format!(r#""hand":null,"hands":{all}"#));
    assert_eq!(view(&game, Viewer::Omniscient), expected);
}

#[test]
fn no_seat_moves_before_first_deal_and_at_end() {
    assert_eq!(
        view(&start(2), ZERO),
        r#"{"to_move":[],"track":64,"starts":[0,32],"pawns":[["base","base","base","base"],["base","base","base","base"]],"hand":[],"hands":{},"cards":[0,0],"dealer":1,"cycle":0,"deal":0,"pile":[],"playing_for":null}"#
    );
    let mut game = game("t63 h0.1 h0.2 h0.3|", "A 2|3");
    play(&mut game, "A t63");
    let view = view(&game, ZERO);
    assert!(view.starts_with(r#"{"to_move":[],"#) && view.ends_with(r#""playing_for":null}"#), "{view}");
}

#[test]
fn the_view_shows_whose_pawns_are_played() {
    let game = game("h0.0 h0.1 h0.2 h0.3||t40|", "A|||");
    assert!(view(&game, Viewer::Public).ends_with(r#""playing_for":2}"#));
}

#[test]
fn the_events_match_the_rules_page() {
    let position = imagined(PAGE).position;
    let text = |fact: &Fact, viewer| serde_json::to_string(&fact.as_seen_by(viewer)).unwrap();
    let deal = Fact::Deal(position.hands);
    let page = r#"{"kind":"deal","hand":["2","5","8","J","A"]}"#;
    assert_eq!(text(&deal, ZERO), page);
    assert!(Keezen::META.rules.contains(page));
    assert_eq!(text(&deal, Viewer::Seat(Seat(3))), r#"{"kind":"deal","hand":[]}"#);
    assert_eq!(text(&deal, Viewer::Public), r#"{"kind":"deal","hand":null}"#);
    let all = serde_json::to_string(&position.hands).unwrap();
    assert_eq!(text(&deal, Viewer::Omniscient), format!(r#"{{"kind":"deal","hand":null,"hands":{all}}}"#));

    let page = r#"{"kind":"hand_in","seat":3,"cards":["2","4","5","6","Q"]}"#;
    for viewer in [ZERO, Viewer::Seat(Seat(3)), Viewer::Public, Viewer::Omniscient] {
        assert_eq!(text(&handed_in(3, "Q 2 4 6 5"), viewer), page);
    }
    assert!(Keezen::META.rules.contains(page));
}

#[test]
fn the_text_board_matches_the_rules_page() {
    let page = drawn(&imagined(PAGE), ZERO);
    assert!(Keezen::META.rules.contains(&page), "the rules page shows another board than\n{page}");
}

#[test]
fn the_text_board_shows_the_hands_visible_to_the_viewer() {
    let game = game("h0.0 h0.1 h0.2 h0.3|t2|t40|t5", "2|3 4|5|");
    let is_hand = |line: &&str| line.contains("cards") && line.matches(':').count() == 2;
    let hands = |viewer| drawn(&game, viewer).lines().filter(is_hand).count();
    assert_eq!(hands(Viewer::Public), 0);
    assert_eq!([0, 1, 2, 3].map(|seat| hands(Viewer::Seat(Seat(seat)))), [2, 1, 2, 0]);
    assert_eq!(hands(Viewer::Omniscient), 3);
    assert!(drawn(&game, Viewer::Public).ends_with("\nseat 0 to move with the pawns of seat 2\n"));
    assert!(drawn(&start(6), ZERO).ends_with("\nseat 5 to deal\n"));
    assert_eq!(drawn(&start(6), ZERO).matches("[.]").count(), 6);
}

#[test]
fn the_text_board_shows_the_end() {
    let mut game = game("t63 h0.1 h0.2 h0.3|", "A 2|3");
    play(&mut game, "A t63");
    assert!(drawn(&game, ZERO).ends_with("\nover: home\n"));
}

#[test]
fn an_impossible_view_is_rejected() {
    for (from, to) in [
        (r#""to_move":[0]"#, r#""to_move":[4]"#),
        (r#""to_move":[0]"#, r#""to_move":[0,1]"#),
        (r#","t53","#, r#","t64","#),
        (r#","t53","#, r#","t3","#),
        (r#","t53","#, r#","h0.0","#),
        (r#","t53","#, r#","h1.0","#),
        (r#","t53","#, r#","home","#),
        (r#"["base","base","t53","h0.0"],"#, ""),
        (r#"["base","base","t53","h0.0"]"#, r#"["base","t53","h0.0"]"#),
        (r#""hand":["2","#, r#""hand":["1","#),
        (r#""hand":["2","#, r#""hand":["2","2","#),
        (r#""hands":{}"#, r#""hands":{"1":["2"]}"#),
        (r#""hands":{}"#, r#""hands":{"4":["2","3","4","5"]}"#),
        (r#""cards":[5,4,4,0]"#, r#""cards":[5,4,4]"#),
        (r#""cards":[5,4,4,0]"#, r#""cards":[5,4,4,1]"#),
        (r#""cards":[5,4,4,0]"#, r#""cards":[5,8,0,0]"#),
        (r#""cards":[5,4,4,0]"#, r#""cards":[5,255,255,255]"#),
        (r#""dealer":0"#, r#""dealer":4"#),
        (r#""deal":0"#, r#""deal":1"#),
        (r#""deal":0"#, r#""deal":3"#),
        (r#"["9","J","2","4","5","6","Q"]"#, r#"["9","J","2","4","5","6"]"#),
        (r#"["9","J","2","4","5","6","Q"]"#, r#"["J","J","J","J","5","6","Q"]"#),
    ] {
        let view = PAGE.replacen(from, to, 1);
        assert_ne!(view, PAGE, "{from} is not on the page");
        assert!(serde_json::from_str::<Seen>(&view).is_err(), "{view}");
    }
}

#[test]
fn sampling_accepts_views_that_no_game_produces() {
    for (from, to) in [
        // Of another seat, or of none.
        (r#""hand":["2","5","8","J","A"]"#, r#""hand":["2","5","8","J"]"#),
        (r#""hand":["2","5","8","J","A"]"#, r#""hand":null"#),
        // The seat to move has no cards, or none that it can play.
        (r#""to_move":[0]"#, r#""to_move":[3]"#),
        (r#""to_move":[0]"#, r#""to_move":[]"#),
        (r#""t53","h0.0"]"#, r#""base","h0.3"]"#),
    ] {
        let view = PAGE.replacen(from, to, 1);
        assert_ne!(view, PAGE, "{from} is not on the page");
        let game = imagined(&view);
        assert_eq!(game.position.hands.iter().map(|(_, hand)| hand.len()).collect::<Vec<_>>(), [5, 4, 4, 0]);
    }
}

#[test]
fn a_bot_reads_the_position_by_name() {
    let game = imagined(PAGE);
    let board = game.position().board();
    assert_eq!(board.pawns(Seat(0)).nth(2), Some(Some(Square::Track(53))));
    assert_eq!(board.pawns(Seat(2)).last(), Some(Some(Square::Home(Seat(2), 2))));
    assert_eq!([board.home(Seat(0)), board.home(Seat(1))], [1, 0]);
    assert_eq!((board.partner(Seat(1)), start(2).position.board.partner(Seat(1))), (Some(Seat(3)), None));
    assert_eq!(start(6).position.board.partner(Seat(4)), Some(Seat(1)));
    assert_eq!(game.position().undealt().len(), 52 - 20);
    assert_eq!(game.position().hands().of(Seat(0)), hand("A J 8 5 2"));
}
