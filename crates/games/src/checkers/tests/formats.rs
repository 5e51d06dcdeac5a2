//! Formats that are read and written: moves, FEN, options, views, the board for a person.

use serde_json::json;

use super::*;
use crate::battery::{drawn, open, view};
use crate::checkers::moves::{NO_MOVE, UNREACHED};
use referee_game::erased::MoveError;

fn refusal(options: serde_json::Value) -> String {
    open::<Checkers>(options).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn moves_survive_a_round_trip_as_text() {
    for text in ["11-15", "1-5", "32-27", "15x24", "15x24x31", "6x13x22x15x6"] {
        assert_eq!(text.parse::<Move>().unwrap().to_string(), text);
    }
    for text in [
        "", "11", "11-", "-15", "11-15-18", "011-15", "+11-15", "11 -15", "11-15 ", "11–15", "0-4", "29-33",
        "11:15", "x", "15xx24", "15x24-28",
    ] {
        assert_eq!(text.parse::<Move>().unwrap_err().to_string(), NO_MOVE.to_string(), "{text}");
    }
    for text in ["11-17", "12-13", "4-5", "11x15", "15x31", "15x24x32", "15-24", "11-11", "11x11"] {
        assert_eq!(text.parse::<Move>().unwrap_err().to_string(), UNREACHED.to_string(), "{text}");
    }
    let circling = "6x13x22x15x6x13x22x15x6x13";
    assert_eq!(circling.split('x').count(), MAX_SQUARES);
    assert_eq!(circling.parse::<Move>().unwrap().to_string(), circling);
    assert_eq!(format!("{circling}x22").parse::<Move>().unwrap_err().to_string(), NO_MOVE.to_string());
}

#[test]
fn the_short_form_names_a_capture_by_its_ends() {
    let mut table = open::<Checkers>(json!({ "fen": "B:W19,27:B15" })).unwrap();
    let decision = table.ask().decide().unwrap();
    assert_eq!(table.find(&decision, BLACK, "15x31"), Ok(0));
    assert_eq!(table.text(&decision, BLACK, 0), "15x24x31");
    for text in ["15-31", "15x24", "15x", "x31", "15x31x", "015x31", "31x15", "15x24x31x"] {
        assert_eq!(table.find(&decision, BLACK, text), Err(MoveError::Illegal), "{text}");
    }
}

#[test]
fn a_step_has_no_short_form() {
    let mut table = open::<Checkers>(json!({})).unwrap();
    let decision = table.ask().decide().unwrap();
    assert_eq!(table.find(&decision, BLACK, "11x15"), Err(MoveError::Illegal));
}

#[test]
fn an_ambiguous_short_form_is_refused_with_its_candidates() {
    let both = |moves: [&str; 2]| Err(MoveError::Ambiguous(moves.map(str::to_owned).to_vec()));
    let mut table =
        open::<Checkers>(json!({ "fen": "B:W7,15,16,19,23,24,26,30,32:B2,3,5,6,12,13" })).unwrap();
    let decision = table.ask().decide().unwrap();
    assert_eq!(table.find(&decision, BLACK, "2x27"), both(["2x11x18x27", "2x11x20x27"]));
    let mut table = open::<Checkers>(json!({ "fen": "B:W9,10,17,18:BK6" })).unwrap();
    let decision = table.ask().decide().unwrap();
    assert_eq!(table.find(&decision, BLACK, "6x6"), both(["6x13x22x15x6", "6x15x22x13x6"]));
}

#[test]
fn a_complete_path_is_not_a_short_form_of_others() {
    let mut table = open::<Checkers>(json!({ "fen": "B:W9,10,17,18,19:BK15" })).unwrap();
    let decision = table.ask().decide().unwrap();
    assert_eq!(table.count(&decision, BLACK), 3);
    let index = table.find(&decision, BLACK, "15x24").unwrap();
    assert_eq!(table.text(&decision, BLACK, index), "15x24");
}

#[test]
fn a_fen_survives_a_round_trip() {
    let fens = [
        "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12",
        "B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29",
        "W:WK27,K23:BK28,12",
        "B:W:B1",
        "W:W31:B",
        "W:W:B",
    ];
    for fen in fens {
        let board: Board = fen.parse().unwrap();
        assert_eq!(board.to_string().parse(), Ok(board), "{fen}");
    }
    assert_eq!("W:WK27,K23:BK28,12".parse::<Board>().unwrap().to_string(), "W:WK23,K27:B12,K28");
    assert_eq!(fens[0].parse(), Ok(Board::default()));
    let full = (1..=32).map(|square| format!("K{square}")).collect::<Vec<_>>().join(",");
    let full = format!("B:W:B{full}");
    assert_eq!(full.parse::<Board>().unwrap().to_string(), full);
}

#[test]
fn a_bot_reads_the_board_as_sets_of_squares() {
    let board: Board = "W:W31,K32:B1,2,K5".parse().unwrap();
    assert_eq!(board.to_move(), Colour::White);
    assert_eq!([board.men(Colour::White), board.kings(Colour::White)], [1 << 30, 1 << 31]);
    assert_eq!([board.men(Colour::Black), board.kings(Colour::Black)], [0b11, 1 << 4]);
}

#[test]
fn fen_may_list_black_first_and_end_in_dot() {
    let board: Board = "B:W31,K32:B1,2".parse().unwrap();
    assert_eq!("B:B2,1:WK32,31".parse(), Ok(board));
    assert_eq!("B:W31,K32:B1,2.".parse(), Ok(board));
    assert!("B:W31,K32:B1,2..".parse::<Board>().unwrap_err().to_string().contains("`2.` is no piece"));
}

/// The forms of Sage, of CheckerBoard, whose older versions drop the letter of a side without pieces, of PDN 3.0 and of
/// web sites.
#[test]
fn fens_are_read_as_public_programs_write_them() {
    for (fen, canonical) in [
        ("W:W06,10:B01,03", "W:W6,10:B1,3"),
        ("B:W018,K024:B01.", "B:W18,K24:B1"),
        ("W:W18,20,23,K25:B02,06,09.", "W:W18,20,23,K25:B2,6,9"),
        ("B:W21-32:B1-12", "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"),
        ("W:W30,K1-3,31-32:BK29-29", "W:WK1,K2,K3,30,31,32:BK29"),
        ("b:wk4,31:bK32,1", "B:WK4,31:B1,K32"),
        ("B:W:B1,2.", "B:W:B1,2"),
        ("B::B1,2.", "B:W:B1,2"),
        ("W:W10,20:.", "W:W10,20:B"),
        ("W:WK1,K2:", "W:WK1,K2:B"),
        ("B:B1,2:", "B:W:B1,2"),
        (" B : W 31, K32 :B1 , 2 . ", "B:W31,K32:B1,2"),
        ("W:W11,20,21,29:B2,3,4,5,10,18,K31:H0:F1", "W:W11,20,21,29:B2,3,4,5,10,18,K31"),
    ] {
        assert_eq!(fen.parse::<Board>().map(|board| board.to_string()), Ok(canonical.to_owned()), "{fen}");
    }
}

#[test]
fn an_invalid_fen_is_rejected_with_the_reason() {
    let check = |fen: &str, expected: &str| {
        let refused = fen.parse::<Board>().unwrap_err().to_string();
        assert!(refused.contains(expected), "{fen}: {refused}");
    };
    for fen in ["", "B", "B:W31", "B:W31:B1:B2", "garbage", "."] {
        check(fen, "a FEN has three parts");
    }
    for (fen, piece) in [
        ("B:W0:B1", "0"),
        ("B:W-1:B1", "-1"),
        ("B:W+1:B1", "+1"),
        ("B:W31,:B1", ""),
        ("B:W32-21:B1", "32-21"),
        ("B:W21-:B1", "21-"),
        ("B:W21-K32:B1", "21-K32"),
        ("B:W1-2-3:B1", "1-2-3"),
        ("B:W99999999999:B1", "99999999999"),
        ("B:WK:B1", "K"),
        ("B:WKK31:B1", "KK31"),
    ] {
        check(fen, &format!("`{piece}` is no piece"));
    }
    for (fen, colour) in [
        ("X:W31:B1", "X"),
        ("BW:W31:B1", "BW"),
        (":W31:B1", ""),
        ("B:31:B1", "31"),
        ("?:W31:B1", "?"),
        ("B::", ""),
    ] {
        check(fen, &format!("`{colour}` is no colour"));
    }
    for fen in ["B:W31:B1:H0:X1", "B:W31:B1:H", "B:W31:B1:F1:H0:B2", "B:W31:H0"] {
        let refused = fen.parse::<Board>().unwrap_err().to_string();
        assert!(refused.contains("three parts") || refused.contains("is no colour"), "{fen}: {refused}");
    }
    for (fen, square) in [("B:W33:B1", 33), ("W:W31-50:B1-20", 50), ("B:W10:BK45", 45)] {
        check(fen, &format!("square {square}, but this board has squares 1 to 32"));
    }
    check("B:W31:W32", "lists the pieces of White twice");
    check("B:W31,31:B1", "names square 31 twice");
    check("B:W15:BK15", "names square 15 twice");
    check("B:W4:B1", "White's man 4 on the row where it is crowned");
    check("B:W5:B29", "the FEN has Black's man 29 on the row where it is crowned: a king there is K29");
}

#[test]
fn invalid_options_are_rejected() {
    assert_eq!(
        refusal(json!({ "fen": "B:W31:B" })),
        "invalid FEN B:W31:B: Black is to move but has no piece"
    );
    assert_eq!(
        refusal(json!({ "fen": "B:W33:B1" })),
        "options of checkers: the FEN names square 33, but this board has squares 1 to 32: it seems to be a position on \
         another board, such as that of 10x10 draughts"
    );
    assert_eq!(
        refusal(json!({ "draw_plies": 0 })),
        "draw_plies 0 needs a turn_limit above 0, otherwise the game might not end"
    );
    assert!(open::<Checkers>(json!({ "draw_plies": 0, "turn_limit": 1 })).is_ok());
    assert!(refusal(json!({ "draw_plies": -1 })).contains("-1"));
    assert!(refusal(json!({ "plies": 1 })).contains("`plies`"));
    assert!(open::<Checkers>(json!({ "fen": "B:W:B1" })).is_ok(), "only the side to move needs a piece");
}

#[test]
fn the_initial_view_matches_the_rules_page() {
    let table = open::<Checkers>(json!({})).unwrap();
    for viewer in [Viewer::Seat(BLACK), Viewer::Seat(WHITE), Viewer::Public, Viewer::Omniscient] {
        let out = table.view(viewer).unwrap();
        let view = String::from_utf8(out).unwrap();
        let page = r#"{"to_move":[0],"board":"bbbbbbbbbbbb........wwwwwwwwwwww","fen":"B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12","quiet_plies":0}"#;
        assert_eq!(view, page);
        assert!(Checkers::META.rules.contains(page));
    }
}

#[test]
fn the_view_shows_kings_the_count_and_the_end() {
    let mut position = at("B:WK32,12:BK1,3,4");
    play(&mut position, "1-5");
    assert_eq!(
        view(&position, Viewer::Public),
        r#"{"to_move":[1],"board":"..bbB......w...................W","fen":"W:W12,K32:B3,4,K5","quiet_plies":1}"#
    );
    let mut position = at("B:W12:B3,4");
    play(&mut position, "4-8");
    assert_eq!(
        view(&position, Viewer::Public),
        r#"{"to_move":[],"board":"..b....b...w....................","fen":"W:W12:B3,8","quiet_plies":1}"#
    );
}

#[test]
fn the_text_board_shows_every_square() {
    let drawn_at = |fen: &str| {
        let table = open::<Checkers>(json!({ "fen": fen })).unwrap();
        referee_game::erased::BoardText(table.as_ref(), Viewer::Public).to_string()
    };
    let start = drawn_at(&Board::default().to_string());
    let (board, last) = start.split_at(start.len() - "Black to move\n".len());
    assert_eq!(last, "Black to move\n");
    assert!(Checkers::META.rules.contains(board), "the rules page shows another board than\n{board}");
    assert_eq!(
        drawn_at("W:W21,K32:B16,K1"),
        " 1 |     B     2     3     4 | 4
 5 |  5     6     7     8    | 8
 9 |     9    10    11    12 | 12
13 | 13    14    15     b    | 16
17 |    17    18    19    20 | 20
21 |  w    22    23    24    | 24
25 |    25    26    27    28 | 28
29 | 29    30    31     W    | 32
White to move
"
    );
}

#[test]
fn the_text_board_shows_the_quiet_plies_and_the_end() {
    let last_line =
        |position: &Checkers| drawn(position, Viewer::Public).lines().last().map(str::to_owned).unwrap();
    let mut position = at("B:W12,K32:B3,4");
    play(&mut position, "4-8");
    assert_eq!(last_line(&position), "White to move, quiet plies: 1");
    assert_eq!(last_line(&at("W:W12:B3,8")), "over: no_moves");
}
