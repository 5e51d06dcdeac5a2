//! Formats that are read and written: moves, options, views, events, the board for a person.

use super::*;
use crate::battery::{drawn, open, view};
use referee_game::chance::RandomKey;
use referee_game::erased::{ErasedRules, MoveError, Rules};

/// The game that a bot imagines when it sees this.
pub(super) fn imagined(view: &str) -> Saxum {
    let seen = serde_json::from_str(view).unwrap_or_else(|error| panic!("{error}: {view}"));
    let (options, seating) = (&Options::default(), Saxum::META.seatings[0]);
    let known = Known { options, seating, seat: ZERO, turns_left: Some(2000) };
    Saxum::imagine(&known, &seen, &mut RandomKey([0; 32]).stream())
}

#[test]
fn moves_survive_a_round_trip_as_text() {
    for text in ["reroll 1", "reroll 2", "turn 1 4", "turn 2 1", "turn 2 5"] {
        assert_eq!(text.parse::<Move>().unwrap().to_string(), text);
    }
    for verb in ["place", "score", "pay", "insure"] {
        for (row, column) in (1..=5).flat_map(|row| (1..=5).map(move |column| (row, column))) {
            let text = format!("{verb} {row} {column}");
            assert_eq!(text.parse::<Move>().unwrap().to_string(), text);
        }
    }
}

#[test]
fn invalid_moves_are_rejected() {
    for text in [
        "",
        " ",
        "reroll",
        "reroll ",
        "reroll 0",
        "reroll 3",
        "reroll 01",
        "reroll 1 ",
        "reroll 1 1",
        "reroll  1",
        " reroll 1",
        "Reroll 1",
        "turn",
        "turn 1",
        "turn 1 0",
        "turn 1 6",
        "turn 0 1",
        "turn 3 1",
        "turn 1 4 ",
        "turn 1  4",
        "turn 1,4",
        "place",
        "place 4",
        "place 43",
        "place 4 3 ",
        "place  4 3",
        "place 4  3",
        "place 0 3",
        "place 4 0",
        "place 6 3",
        "place 4 6",
        "place 04 3",
        "place -4 3",
        "place 4\t3",
        "place 4 \u{b9}",
        "pay4 3",
        "insured 4 3",
        "4 3",
        "pass",
    ] {
        assert!(text.parse::<Move>().is_err(), "{text:?}");
    }
}

#[test]
fn a_move_has_no_short_form() {
    let mut table = open::<Saxum>(json!({})).unwrap();
    table.settle(&[2, 2]).unwrap();
    let decision = table.ask().decide().unwrap();
    assert_eq!(table.find(&decision, ZERO, "place 2 2"), Ok(0));
    for text in ["2 2", "place", "place 2", "Place 2 2"] {
        assert_eq!(table.find(&decision, ZERO, text), Err(MoveError::Illegal));
    }
}

#[test]
fn each_option_is_at_least_1() {
    for name in ["turn_limit", "points_to_win", "rows_to_win"] {
        let refusal = open::<Saxum>(json!({ name: 0 })).map(|_| ()).unwrap_err();
        assert_eq!(refusal.to_string(), format!("{name} is 0; it must be at least 1"));
        assert!(open::<Saxum>(json!({ name: 1 })).is_ok());
        assert!(open::<Saxum>(json!({ name: -1 })).is_err());
        assert!(open::<Saxum>(json!({ name: u32::MAX })).is_ok());
    }
}

#[test]
fn the_default_options_match_the_rules_page() {
    let defaults = ErasedRules::<Saxum>::RULES.default_options();
    assert_eq!(defaults.get(), r#"{"turn_limit":2000,"points_to_win":177,"rows_to_win":7}"#);
}

#[test]
fn unreachable_goals_do_not_overflow() {
    let mut game = start(&Options { points_to_win: u32::MAX, rows_to_win: u32::MAX, turn_limit: u32::MAX });
    game.position.board = at("0000. 0.... 0.... 0.... 0....").position.board;
    game.position.points = [u32::MAX - 1; 2];
    game.position.rows = [u32::MAX - 1; 2];
    let mut scoring = game.clone();
    roll(&mut scoring, [1, 1]);
    play(&mut scoring, "score 1 1");
    assert!(is_won_by(&scoring, ZERO, "points"));
    roll(&mut game, [1, 5]);
    assert_eq!(legal(&game), "place 1 5");
    play(&mut game, "place 1 5");
    assert!(is_won_by(&game, ZERO, "rows"));
}

const PAGE: &str = r#"{"to_move":[0],"phase":"six","dice":[6,3],"board":[".....","..01.",".....",".....","....."],"points":[0,0],"rows":[0,0],"insurance":[7,7],"supply":[14,14]}"#;

#[test]
fn the_view_matches_the_rules_page() {
    let mut game = at("..... ..01. ..... ..... .....");
    roll(&mut game, [6, 3]);
    for viewer in [Viewer::Seat(ZERO), Viewer::Seat(ONE), Viewer::Public, Viewer::Omniscient] {
        assert_eq!(serde_json::to_string(&game.view(viewer)).unwrap(), PAGE);
    }
    assert!(Saxum::META.rules.contains(PAGE));
}

#[test]
fn the_view_shows_a_field_to_be_chosen() {
    let mut game = with_points(at("00000 000.. .1... ..... ....1"), 5);
    game.position.rows = [1, 3];
    game.position.insurance = [2, 7];
    roll(&mut game, [1, 2]);
    assert_eq!(
        view(&game, Viewer::Public),
        r#"{"to_move":[0],"phase":"field","dice":[1,2],"board":["00000","000..",".1...",".....","....1"],"points":[5,0],"rows":[1,3],"insurance":[2,7],"supply":[7,13]}"#
    );
}

#[test]
fn view_shows_no_dice_before_roll_and_after_end() {
    assert_eq!(
        view(&start(&Options::default()), Viewer::Public),
        r#"{"to_move":[0],"phase":"field","dice":null,"board":[".....",".....",".....",".....","....."],"points":[0,0],"rows":[0,0],"insurance":[7,7],"supply":[15,15]}"#
    );
    let mut game = with_points(at("..... .0... ..... ..... ....."), 176);
    roll(&mut game, [2, 2]);
    play(&mut game, "score 2 2");
    assert_eq!(
        view(&game, Viewer::Public),
        r#"{"to_move":[],"phase":"field","dice":null,"board":[".....",".0...",".....",".....","....."],"points":[177,0],"rows":[0,0],"insurance":[7,7],"supply":[14,15]}"#
    );
}

#[test]
fn view_shows_0_for_die_that_is_being_rolled_again() {
    let mut game = at(EMPTY);
    roll(&mut game, [6, 3]);
    play(&mut game, "reroll 1");
    assert!(view(&game, Viewer::Public).starts_with(r#"{"to_move":[0],"phase":"six","dice":[0,3],"#));
}

#[test]
fn every_position_is_reconstructed_from_its_view() {
    let check = |game: &Saxum| {
        let imagined = imagined(&view(game, Viewer::Public));
        assert_eq!(imagined.key(), game.key());
        assert_eq!(imagined.turn(), game.turn());
    };
    let mut game = with_points(at("..... .11.. ..... ..... ....."), 8);
    check(&game);
    roll(&mut game, [6, 2]);
    check(&game);
    play(&mut game, "reroll 1");
    check(&game);
    roll(&mut game, [2]);
    check(&game);
    play(&mut game, "pay 2 2");
    check(&game);
}

#[test]
fn an_impossible_view_is_rejected() {
    for (from, to) in [
        (r#""to_move":[0]"#, r#""to_move":[2]"#),
        (r#""to_move":[0]"#, r#""to_move":[0,1]"#),
        (r#""dice":[6,3]"#, r#""dice":[7,3]"#),
        (r#""dice":[6,3]"#, r#""dice":[6]"#),
        (r#""..01.""#, r#""..012""#),
        (r#""..01.""#, r#""..01""#),
        (r#""..01.""#, r#""..01..""#),
        (r#""insurance":[7,7]"#, r#""insurance":[8,7]"#),
        (r#"[".....","..01.",".....",".....","....."]"#, r#"["00000","00000","00000","0....","....."]"#),
    ] {
        let view = PAGE.replacen(from, to, 1);
        assert_ne!(view, PAGE, "{from} is not on the page");
        assert!(serde_json::from_str::<Seen>(&view).is_err(), "{view}");
    }
}

#[test]
fn a_bot_reads_the_board_by_field() {
    let board = at("..... ..01. ..... ..... .....").position.board;
    let field = |row, column| Field::at(row, column).unwrap();
    assert_eq!(board.owner(field(2, 3)), Some(ZERO));
    assert_eq!(board.owner(field(2, 4)), Some(ONE));
    assert_eq!(board.owner(field(3, 2)), None);
    assert_eq!([board.group(field(2, 3)), board.group(field(3, 2))], [1, 0]);
    assert_eq!(board.stones(ONE), 1 << 8);
    assert_eq!((field(4, 3).row(), field(4, 3).column()), (4, 3));
    assert_eq!([Field::at(0, 1), Field::at(1, 6)], [None, None]);
}

#[test]
fn the_events_match_the_rules_page() {
    let page = [
        (rolled(ZERO, [6, 3]), r#"{"kind":"roll","seat":0,"dice":[6,3]}"#),
        (Fact::Pass { seat: ZERO }, r#"{"kind":"pass","seat":0}"#),
    ];
    for (fact, text) in page {
        for viewer in [Viewer::Seat(ZERO), Viewer::Seat(ONE), Viewer::Public, Viewer::Omniscient] {
            use referee_game::Fact;
            assert_eq!(serde_json::to_string(&fact.as_seen_by(viewer)).unwrap(), text);
        }
        assert!(Saxum::META.rules.contains(text));
    }
}

#[test]
fn text_board_shows_rolled_fields_and_players_state() {
    let mut game = at("..... ..0.. .1... ..... .....");
    game.position.to_move = ONE;
    game.position.points = [0, 12];
    roll(&mut game, [2, 3]);
    let page = drawn(&game, Viewer::Public);
    assert!(Saxum::META.rules.contains(&page), "the rules page shows another board than\n{page}");
}

#[test]
fn text_board_shows_six_pending_roll_and_end() {
    let last_line = |game: &Saxum| drawn(game, Viewer::Public).lines().last().map(str::to_owned).unwrap();
    let mut game = at("..... .1... ..... ..... .....");
    game.position.insurance[0] = 1;
    assert_eq!(last_line(&game), "seat 0 to roll");
    roll(&mut game, [6, 2]);
    assert_eq!(last_line(&game), "seat 0 to move, dice 6 2");
    assert!(!drawn(&game, Viewer::Public).contains('['), "a six gives no field");
    play(&mut game, "reroll 1");
    assert_eq!(last_line(&game), "seat 0 to roll");
    roll(&mut game, [2]);
    assert!(drawn(&game, Viewer::Public).contains("2 |  . [1] .  .  ."), "a double gives one field");
    play(&mut game, "insure 2 2");
    assert_eq!(last_line(&game), "over: insurance");
}
