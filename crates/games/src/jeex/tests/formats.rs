//! Formats that are read and written: moves, options, views, the board for a person.

use serde_json::json;

use super::*;
use crate::battery::{drawn, open, view};
use crate::jeex::moves::{NO_DIRECTION, NO_FIELD, NO_MOVE, UNREACHED};
use referee_game::chance::RandomKey;
use referee_game::erased;

fn refusal(options: serde_json::Value) -> String {
    open::<Jeex>(options).map(|_| ()).unwrap_err().to_string()
}

/// The position that a bot imagines from the position's view.
fn imagined(position: &Jeex, seat: Seat) -> Jeex {
    let known = Known {
        options: &Options::default(),
        seating: Jeex::META.seatings[0],
        seat,
        turns_left: position.turns_left(),
    };
    let seen = serde_json::from_str(&view(position, Viewer::Public)).unwrap();
    Jeex::imagine(&known, &seen, &mut RandomKey([0; 32]).stream())
}

fn last_line(position: &Jeex) -> String {
    drawn(position, Viewer::Public).lines().last().map(str::to_owned).unwrap()
}

#[test]
fn moves_survive_a_round_trip_as_text() {
    for text in ["place b3 E", "rotate b3 SE", "capture c3 b3", "capture b2 d2", "capture b3 d1", "claim"] {
        assert_eq!(text.parse::<Move>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "place",
        "place b3",
        "place b3 E ",
        " place b3 E",
        "place  b3 E",
        "place b3 E E",
        "Place b3 E",
        "move b3 E",
        "rotate b3",
        "capture c3",
        "capture c3 b3 a3",
        "claim ",
        "claim b3",
        "Claim",
        "b3 E",
        "pass",
    ] {
        assert_eq!(text.parse::<Move>().unwrap_err().to_string(), NO_MOVE.to_string(), "{text:?}");
    }
    for text in [
        "place c2 E",
        "place b4 E",
        "place f1 E",
        "place B3 E",
        "rotate 3b E",
        "capture c2 b2",
        "capture b2 c2",
    ] {
        assert_eq!(text.parse::<Move>().unwrap_err().to_string(), NO_FIELD.to_string(), "{text}");
    }
    for text in ["place b3 e", "rotate b3 EN", "rotate b3 →", "rotate b3 NORTH", "place b3 b2"] {
        assert_eq!(text.parse::<Move>().unwrap_err().to_string(), NO_DIRECTION.to_string(), "{text}");
    }
    for text in ["capture a1 a1", "capture a1 a3", "capture a2 d2", "capture b1 b3", "capture b3 d2"] {
        assert_eq!(text.parse::<Move>().unwrap_err().to_string(), UNREACHED.to_string(), "{text}");
    }
}

#[test]
fn a_move_is_small() {
    assert_eq!(size_of::<Move>(), 3);
}

#[test]
fn invalid_options_are_rejected() {
    for turn_limit in [0, 1] {
        assert_eq!(
            refusal(json!({ "turn_limit": turn_limit })),
            format!("turn_limit {turn_limit} is too low: the opening alone takes 2 turns")
        );
    }
    assert!(open::<Jeex>(json!({ "turn_limit": 2, "draw_plies": 0 })).is_ok());
    assert!(refusal(json!({ "draw_plies": -1 })).contains("-1"));
    assert!(refusal(json!({ "fen": "" })).contains("`fen`"));
    assert_eq!(open::<Jeex>(json!({})).unwrap().options().get(), r#"{"turn_limit":400,"draw_plies":50}"#);
}

#[test]
fn the_view_after_the_first_move_matches_the_rules_page() {
    let mut table = open::<Jeex>(json!({})).unwrap();
    let decision = table.ask().decide().unwrap();
    let index = table.find(&decision, WHITE, "place b3 E").unwrap();
    table.play(decision, &[index]).unwrap();
    for viewer in [Viewer::Seat(WHITE), Viewer::Seat(BLACK), Viewer::Public, Viewer::Omniscient] {
        let out = table.view(viewer).unwrap();
        let page = r#"{"to_move":[1],"phase":"opening","stones":{"b3":[0,"E"]},"supply":[6,7],"removed":0,"quiet_plies":0}"#;
        assert_eq!(String::from_utf8(out).unwrap(), page);
        assert!(Jeex::META.rules.contains(page));
    }
}

#[test]
fn the_view_shows_the_start_the_play_and_the_end() {
    assert_eq!(
        view(&after(&[]), Viewer::Public),
        r#"{"to_move":[0],"phase":"opening","stones":{},"supply":[7,7],"removed":0,"quiet_plies":0}"#
    );
    let stones = r#"{"b2":[0,"SE"],"b3":[1,"SE"],"c1":[1,"N"],"d1":[0,"NW"]}"#;
    assert_eq!(
        view(&after(&EXAMPLE[..10]), Viewer::Public),
        format!(
            r#"{{"to_move":[0],"phase":"play","stones":{stones},"supply":[4,5],"removed":1,"quiet_plies":1}}"#
        )
    );
    assert_eq!(
        view(&after(&EXAMPLE), Viewer::Public),
        r#"{"to_move":[],"phase":"play","stones":{"b2":[0,"SE"],"b3":[0,"NW"],"c1":[1,"N"]},"supply":[5,5],"removed":1,"quiet_plies":0}"#
    );
}

#[test]
fn claim_leaves_count_in_view_as_it_is() {
    let position = after(&[QUIET[0], QUIET[1], "rotate a1 N", "rotate e3 N", "claim"]);
    assert!(view(&position, Viewer::Public).ends_with(r#""quiet_plies":2}"#));
}

#[test]
fn a_bot_reconstructs_the_position_from_the_view() {
    for plies in 0..EXAMPLE.len() {
        let position = after(&EXAMPLE[..plies]);
        for seat in [WHITE, BLACK] {
            let imagined = imagined(&position, seat);
            assert_eq!(imagined.key(), position.key());
            assert_eq!(imagined.turn(), position.turn());
            assert_eq!(imagined.quiet_plies, position.quiet_plies);
            assert_eq!(imagined.turns_left, position.turns_left);
            assert_eq!(imagined.draw_plies, position.draw_plies);
        }
    }
}

#[test]
fn a_bot_reconstructs_the_end_from_the_view() {
    let mut worn_out = after(&QUIET);
    rotate(&mut worn_out, 50);
    let ends = [
        after(&EXAMPLE),
        after(&["place a1 N", "place e1 N", "claim"]),
        after(&["place a1 N", "place e1 N", "rotate a1 E", "claim"]),
        after(&["place a1 N", "place b1 N", "rotate a1 E", "rotate b1 E", "capture a1 b1"]),
        worn_out,
    ];
    for position in ends {
        let imagined = imagined(&position, WHITE);
        assert_eq!(imagined.key(), position.key());
        assert_eq!(imagined.turn(), position.turn());
    }
}

#[test]
fn an_invalid_view_is_rejected() {
    let read = |stones: &str| {
        let rest = r#""supply":[6,7],"removed":0,"quiet_plies":0"#;
        let text = format!(r#"{{"to_move":[1],"phase":"opening","stones":{stones},{rest}}}"#);
        serde_json::from_str::<Seen>(&text).map_err(|error| error.to_string())
    };
    assert!(read(r#"{"b3":[0,"E"]}"#).is_ok());
    assert!(read(r#"{"c2":[0,"E"]}"#).unwrap_err().contains("not the centre c2"));
    assert!(read(r#"{"b3":[2,"E"]}"#).unwrap_err().contains("seat 0 or 1"));
    assert!(read(r#"{"b3":[0,"UP"]}"#).unwrap_err().contains("`UP`"));
}

#[test]
fn the_text_board_shows_owners_and_directions() {
    let table = {
        let mut table = open::<Jeex>(json!({})).unwrap();
        for (ply, text) in EXAMPLE[..7].iter().enumerate() {
            let seat = [WHITE, BLACK][ply % 2];
            let decision = table.ask().decide().unwrap();
            let index = table.find(&decision, seat, text).unwrap();
            table.play(decision, &[index]).unwrap();
        }
        table
    };
    let page = erased::BoardText(table.as_ref(), Viewer::Public).to_string();
    assert!(Jeex::META.rules.contains(&page), "the rules page shows another board than\n{page}");
    let position = at(&["a1 N", "a2 NE", "a3 E", "b1 SE"], &["c1 S", "c3 SW", "d1 W", "d2 NW"]);
    assert_eq!(
        drawn(&position, Viewer::Public),
        "    a    b    c    d    e
3   W→   .    B↙   .    .   3
2   W↗  [. ]  ()  [B↖]  .   2
1   W↑   W↘   B↓   B←   .   1
    a    b    c    d    e
White: supply 3
Black: supply 3
play: White to move
"
    );
}

#[test]
fn text_board_shows_phase_counts_and_end() {
    assert_eq!(last_line(&after(&[])), "opening: White to move");
    assert_eq!(last_line(&after(&EXAMPLE[..10])), "play: White to move, removed stones: 1, quiet plies: 1");
    assert_eq!(last_line(&after(&EXAMPLE)), "over: claim, Black wins, removed stones: 1");
    assert_eq!(last_line(&after(&["place a1 N", "place e1 N", "claim"])), "over: wrong_claim, Black wins");
    let mut position = after(&QUIET);
    rotate(&mut position, 50);
    assert_eq!(last_line(&position), "over: quiet_plies, quiet plies: 50");
}
