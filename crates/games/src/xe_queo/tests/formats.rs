//! Formats that are read and written: moves, options, views, events, the board for a person.

use super::*;
use crate::battery::{drawn, open, view};
use referee_game::Fact as _;
use referee_game::erased::{ErasedRules, Rules};

const EVERYBODY: [Viewer; 4] = [Viewer::Seat(ZERO), Viewer::Seat(ONE), Viewer::Public, Viewer::Omniscient];

/// The view of the rules page.
pub(super) const PAGE: &str = r#"{"round":2,"phase":"play","to_move":[0],"rings":[1,0],"pawns":{"red":"c4","orange":"b2","yellow":"g7","green":"f6","blue":"b6","purple":"f2","black":"a3"},"ring":"d4","choice":"red","moves":[[0,"red","c4"],[1,"orange","b2"]],"last_round":{"winner":0,"choices":["red","blue"],"reason":"accused"}}"#;

pub(super) fn of_the_page() -> XeQueo {
    let mut game = set_up(SCATTERED);
    play(&mut game, "ring d4");
    choose(&mut game, ["red", "blue"]);
    play(&mut game, "accuse blue");
    play(&mut game, "ring d4");
    choose(&mut game, ["red", "green"]);
    play(&mut game, "move red c4");
    play(&mut game, "move orange b2");
    game
}

#[test]
fn moves_survive_a_round_trip_as_text() {
    let squares = (0..SQUARES).map(|number| Square::numbered(number).to_string());
    let texts = squares.flat_map(|square| {
        let of_pawns = Pawn::ALL.map(|pawn| {
            [format!("move {pawn} {square}"), format!("choose {pawn}"), format!("accuse {pawn}")]
        });
        of_pawns.into_iter().flatten().chain([format!("ring {square}")])
    });
    for text in texts {
        assert_eq!(text.parse::<Move>().unwrap().to_string(), text);
    }
}

#[test]
fn invalid_moves_are_rejected() {
    for text in [
        "",
        " ",
        "ring",
        "ring ",
        "ring d",
        "ring d0",
        "ring d8",
        "ring h4",
        "ring D4",
        "ring d44",
        "ring d4 ",
        "ring  d4",
        " ring d4",
        "Ring d4",
        "ring 4d",
        "ring d\u{664}",
        "choose",
        "choose white",
        "choose Red",
        "choose red ",
        "choose red d4",
        "chooses red",
        "move",
        "move red",
        "move red ",
        "move red  d4",
        "move d4",
        "move d4 red",
        "move c4 d4",
        "move red c4 d4",
        "move red d4 ",
        "accuse",
        "accuse red blue",
        "red d4",
        "red",
        "d4",
        "pass",
    ] {
        assert!(text.parse::<Move>().is_err(), "{text:?}");
    }
}

#[test]
fn there_are_no_options() {
    assert_eq!(ErasedRules::<XeQueo>::RULES.default_options().get(), "{}");
    assert!(open::<XeQueo>(serde_json::json!({ "turn_limit": 100 })).is_err());
}

#[test]
fn the_view_matches_the_rules_page() {
    assert_eq!(view(&of_the_page(), Viewer::Seat(ZERO)), PAGE);
    assert!(XeQueo::META.rules.contains(PAGE));
}

#[test]
fn views_differ_only_in_the_choices() {
    let game = of_the_page();
    for (viewer, choice) in [(Viewer::Seat(ONE), r#""green""#), (Viewer::Public, "null")] {
        assert_eq!(view(&game, viewer), PAGE.replace(r#""choice":"red""#, &format!(r#""choice":{choice}"#)));
    }
    let everything = PAGE.replace(r#""choice":"red""#, r#""choice":null"#);
    let everything = everything.replace("\"accused\"}}", r#""accused"},"choices":["red","green"]}"#);
    assert_eq!(view(&game, Viewer::Omniscient), everything);
}

#[test]
fn the_view_of_each_phase() {
    let pawns = r#""pawns":{"red":"b4","orange":"b1","yellow":"g7","green":"f6","blue":"b6","purple":"f2","black":"a3"}"#;
    let mut game = set_up(SCATTERED);
    let check = |game: &XeQueo, phase: &str, last: &str| {
        let expected =
            phase.replace("PAWNS", pawns) + r#","choice":null,"moves":[],"last_round":"# + last + "}";
        for viewer in [Viewer::Seat(ZERO), Viewer::Seat(ONE), Viewer::Public] {
            assert_eq!(view(game, viewer), expected);
        }
    };
    check(&game, r#"{"round":1,"phase":"ring","to_move":[1],"rings":[0,0],PAWNS,"ring":null"#, "null");
    play(&mut game, "ring d4");
    check(&game, r#"{"round":1,"phase":"choose","to_move":[0,1],"rings":[0,0],PAWNS,"ring":"d4""#, "null");
    choose(&mut game, ["red", "red"]);
    play(&mut game, "accuse black");
    let last = r#"{"winner":1,"choices":["red","red"],"reason":"accused_wrongly"}"#;
    check(&game, r#"{"round":2,"phase":"ring","to_move":[0],"rings":[0,1],PAWNS,"ring":null"#, last);
    game.position.rings = [0, 3];
    play(&mut game, "ring d4");
    choose(&mut game, ["red", "red"]);
    play(&mut game, "accuse red");
    let last = r#"{"winner":1,"choices":["red","red"],"reason":"accused"}"#;
    check(&game, r#"{"round":4,"phase":"over","to_move":[],"rings":[0,4],PAWNS,"ring":null"#, last);
}

#[test]
fn the_view_has_no_pawns_before_set_up() {
    let game = XeQueo::start(&Options::default(), XeQueo::META.seatings[0]).unwrap();
    for viewer in EVERYBODY {
        assert!(view(&game, viewer).contains(r#""pawns":null,"ring":null"#));
        assert!(drawn(&game, viewer).ends_with("round 1: the pawns are being set up\n"));
    }
}

#[test]
fn an_impossible_view_is_rejected() {
    assert!(serde_json::from_str::<Seen>(PAGE).is_ok());
    for (from, to) in [
        (r#""phase":"play""#, r#""phase":"ring""#),
        (r#""phase":"play""#, r#""phase":"choose""#),
        (r#""phase":"play""#, r#""phase":"over""#),
        (r#""phase":"play""#, r#""phase":"pause""#),
        (r#""to_move":[0]"#, r#""to_move":[]"#),
        (r#""to_move":[0]"#, r#""to_move":[1]"#),
        (r#""to_move":[0]"#, r#""to_move":[2]"#),
        (r#""to_move":[0]"#, r#""to_move":[0,1]"#),
        (r#""rings":[1,0]"#, r#""rings":[4,0]"#),
        (r#""rings":[1,0]"#, r#""rings":[5,0]"#),
        (r#""rings":[1,0]"#, r#""rings":[1]"#),
        (r#""orange":"b2""#, r#""orange":"c4""#),
        (r#""orange":"b2","#, ""),
        (r#""orange":"b2""#, r#""orange":"h2""#),
        (r#""orange":"b2""#, r#""white":"b2""#),
        (r#""ring":"d4""#, r#""ring":null"#),
        (r#""choice":"red""#, r#""choice":"white""#),
        (r#"[1,"orange","b2"]"#, r#"[0,"orange","b2"]"#),
        (r#"[1,"orange","b2"]"#, r#"[2,"orange","b2"]"#),
        (r#"[1,"orange","b2"]"#, r#"[1,"orange"]"#),
        (r#""winner":0"#, r#""winner":2"#),
        (r#""reason":"accused""#, r#""reason":"guessed""#),
    ] {
        let view = PAGE.replacen(from, to, 1);
        assert_ne!(view, PAGE, "{from} is not on the page");
        assert!(serde_json::from_str::<Seen>(&view).is_err(), "{view}");
    }
    // More moves than a round can have.
    let moves = [r#"[0,"red","c4"],[1,"orange","b2"]"#; 92].join(",");
    let view = PAGE.replace(r#"[0,"red","c4"],[1,"orange","b2"]"#, &moves);
    assert!(serde_json::from_str::<Seen>(&view).is_err());
}

#[test]
fn bot_reads_moves_and_last_round_from_view() {
    let seen: Seen = serde_json::from_str(PAGE).unwrap();
    let square = |name| Square::named(name).unwrap();
    assert_eq!(seen.moves, [(ZERO, Pawn::Red, square("c4")), (ONE, Pawn::Orange, square("b2"))]);
    assert_eq!((seen.phase, seen.choice), (Phase::Play, Some(Pawn::Red)));
    assert_eq!(seen.last_round.unwrap().choices, [Pawn::Red, Pawn::Blue]);
    let pawns = seen.position.pawns.unwrap();
    assert_eq!(pawns.at(square("b2")), Some(Pawn::Orange));
    assert_eq!(pawns.at(square("b1")), None);
    assert_eq!((square("d4").file(), square("d4").rank()), (3, 3));
}

#[test]
fn the_events_match_the_rules_page() {
    let facts = [
        (Fact::Setup { pawns: of_the_page().position.pawns.unwrap() }, "setup"),
        (round(ZERO, ["red", "blue"], Reason::Accused), "round"),
    ];
    for (fact, kind) in facts {
        for viewer in EVERYBODY {
            let text = serde_json::to_string(&fact.as_seen_by(viewer)).unwrap();
            assert!(text.starts_with(&format!(r#"{{"kind":"{kind}""#)));
            assert!(XeQueo::META.rules.contains(&format!("\n{text}\n")), "{text}");
        }
    }
}

#[test]
fn the_text_board_matches_the_rules_page() {
    let page = drawn(&of_the_page(), Viewer::Seat(ZERO));
    assert!(
        XeQueo::META.rules.contains(&format!("```\n{page}```")),
        "the rules page shows another board than\n{page}"
    );
}

#[test]
fn the_text_board_shows_only_visible_choices() {
    let game = of_the_page();
    let last_line = |viewer| drawn(&game, viewer).lines().last().map(str::to_owned).unwrap();
    let [zero, one, public, all] = EVERYBODY.map(last_line);
    assert_eq!(zero, "round 2: seat 0 to move; seat 0 has chosen red");
    assert_eq!(one, "round 2: seat 0 to move; seat 1 has chosen green");
    assert_eq!(public, "round 2: seat 0 to move");
    assert_eq!(all, "round 2: seat 0 to move; seat 0 has chosen red; seat 1 has chosen green");
}

#[test]
fn the_text_board_shows_what_comes_next_in_each_phase() {
    let last_line = |game: &XeQueo| drawn(game, Viewer::Public).lines().last().map(str::to_owned).unwrap();
    let mut game = set_up(SCATTERED);
    assert_eq!(last_line(&game), "round 1: seat 1 puts the ring down");
    play(&mut game, "ring d4");
    assert_eq!(last_line(&game), "round 1: both seats choose a pawn");
    choose(&mut game, ["red", "red"]);
    assert_eq!(last_line(&game), "round 1: seat 0 to move");
    game.position.rings = [3, 0];
    play(&mut game, "accuse red");
    assert_eq!(last_line(&game), "round 4: over: rings");
}
