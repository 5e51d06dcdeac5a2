//! Formats that are read and written: moves, FEN, options, views, the board for a person.

use serde_json::json;

use super::*;
use crate::battery::{drawn, open, view};

fn refusal(options: serde_json::Value) -> String {
    open::<Chess>(options).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn moves_survive_a_round_trip_as_text() {
    for text in ["e2e4", "e7e8q", "e7e8n", "a1h8"] {
        assert_eq!(text.parse::<Move>().unwrap().to_string(), text);
    }
    for text in [
        "", "e2", "e2e", "e2e9", "i2e4", "e2e4x", "e7e8k", "e7e8p", "e7e8Q", "e7e8qq", "e2-e4", "E2E4",
        "e2é", "O-O",
    ] {
        assert!(text.parse::<Move>().is_err(), "{text}");
    }
}

#[test]
fn fens_are_read_as_programs_write_them() {
    for (fen, canonical) in [
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        ),
        (" r3k2r/8/8/8/8/8/8/R3K2R  w  HAha - 3 0 ", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 1"),
        // A pawn that nothing can capture en passant.
        (
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        ),
        // The inner rook castles, or the outer one.
        ("1r1rk3/8/8/8/8/8/8/R1R1KR1R w CFd - 0 1", "1r1rk3/8/8/8/8/8/8/R1R1KR1R w FCd - 0 1"),
        ("1r1rk3/8/8/8/8/8/8/R1R1KR1R w KQq - 0 1", "1r1rk3/8/8/8/8/8/8/R1R1KR1R w KQq - 0 1"),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 250 70000", "4k3/8/8/8/8/8/8/R3K3 w - - 250 65535"),
    ] {
        let read: Fen = fen.parse().unwrap();
        assert_eq!(read.to_string(), canonical, "{fen}");
        assert_eq!(canonical.parse::<Fen>().unwrap().to_string(), canonical);
    }
}

#[test]
fn an_invalid_fen_is_rejected_with_the_reason() {
    let lone = |rest: &str| format!("4k3/8/8/8/8/8/8/4K2R {rest}");
    let of = |pieces: &str| format!("{pieces} w - - 0 1");
    for (fen, error) in [
        (String::new(), "a FEN has four to six fields, like rnbq"),
        (lone("w K"), "a FEN has four to six fields, like rnbq"),
        (lone("w K - 0 1 2"), "a FEN has four to six fields, like rnbq"),
        (of("4k3/8/8/8/8/8/4K3"), "the FEN has 7 ranks: "),
        (of("4k3/9/8/8/8/8/8/4K3"), "`9` is no rank: "),
        (of("4k3/8/8/8/8/8/8/4K4"), "`4K4` is no rank: "),
        (of("4k3/8/8/8/ppppppppp/8/8/4K3"), "`ppppppppp` is no rank: "),
        (of("4k3/8/8/8/7x/8/8/4K3"), "`7x` is no rank: "),
        (of("8/8/8/8/8/8/8/4K3"), "the FEN is no position of chess: "),
        (of("4kk2/8/8/8/8/8/8/4K3"), "the FEN is no position of chess: "),
        (of("P3k3/8/8/8/8/8/8/4K3"), "the FEN is no position of chess: "),
        (of("4k3/8/8/8/8/8/8/4R1K1"), "the FEN is no position of chess: "),
        (of("8/8/8/8/8/6Q1/8/Kk6"), "the FEN is no position of chess: "),
        (lone("x K - 0 1"), "`x` is no side: "),
        (lone("w KK - 0 1"), "the castling rights `KK` do not fit: "),
        (lone("w Q - 0 1"), "the castling rights `Q` do not fit: "),
        (lone("w k - 0 1"), "the castling rights `k` do not fit: "),
        (lone("w G - 0 1"), "the castling rights `G` do not fit: "),
        (lone("w K e9 0 1"), "the en passant square `e9` does not fit: "),
        (lone("w K e6 0 1"), "the en passant square `e6` does not fit: "),
        (lone("w K - -1 1"), "`-1` is no number of plies or moves"),
        (lone("w K - 0 one"), "`one` is no number of plies or moves"),
    ] {
        let refused = fen.parse::<Fen>().unwrap_err().to_string();
        assert!(refused.contains(error), "{fen}: {refused}");
    }
}

#[test]
fn a_number_is_a_start_position_of_chess960() {
    for (number, fen) in [
        (518, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
        (0, "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1"),
        (959, "rkrnnqbb/pppppppp/8/8/8/8/PPPPPPPP/RKRNNQBB w KQkq - 0 1"),
    ] {
        let table = open::<Chess>(json!({ "variant": "chess960", "fen": number })).unwrap();
        assert!(String::from_utf8(table.view(Viewer::Public).unwrap()).unwrap().contains(fen), "{number}");
    }
}

#[test]
fn invalid_options_are_rejected() {
    for (options, error) in [
        (
            json!({ "fen": 960 }),
            "options of chess: 960 is no start position of Chess960: they have the numbers 0 to 959",
        ),
        (
            json!({ "fen": 0 }),
            "the castling rights of the FEN bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1 exist in Chess960 only: set variant to chess960",
        ),
        (
            json!({ "repetitions": 1 }),
            "repetitions 1 would end every game at its start: set 2 or more, or 0 for no limit",
        ),
        (
            json!({ "draw_plies": 0 }),
            "draw_plies 0 needs a turn_limit above 0, otherwise the game might not end",
        ),
    ] {
        assert_eq!(refusal(options), error);
    }
    assert!(refusal(json!({ "variant": "atomic" })).contains("`atomic`"));
    assert!(
        refusal(json!({ "fen": [] }))
            .contains("expected a FEN, or the number of a start position of Chess960")
    );
}

#[test]
fn the_initial_view_and_board_match_the_rules_page() {
    let position = started(&Options::default());
    let view = view(&position, Viewer::Public);
    assert!(Chess::META.rules.contains(&view), "the rules page shows another view than\n{view}");
    let board = drawn(&position, Viewer::Public);
    let (board, last) = board.split_at(board.len() - "White to move\n".len());
    assert_eq!(last, "White to move\n");
    assert!(Chess::META.rules.contains(board), "the rules page shows another board than\n{board}");
}

#[test]
fn the_view_shows_checks_occurrences_and_what_can_be_repeated() {
    let mut position = started(&Options::default());
    play(&mut position, "e2e4 e7e5 g1f3 g8f6 f3g1 f6g8");
    assert_eq!(
        view(&position, Viewer::Public),
        "{\"to_move\":[0],\"board\":\"rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR\",\
         \"fen\":\"rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 4 4\",\"checks\":[],\"occurrences\":2,\
         \"since\":{\"fen\":\"rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\",\
         \"moves\":[\"g1f3\",\"g8f6\",\"f3g1\",\"f6g8\"]}}"
    );
    let mated = at("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3");
    let view = view(&mated, Viewer::Public);
    assert!(view.starts_with("{\"to_move\":[],") && view.contains("\"checks\":[\"h4\"]"), "{view}");
}

#[test]
fn a_view_whose_line_is_impossible_is_rejected() {
    let seen = |moves: serde_json::Value| {
        let since = json!({ "fen": Fen::default().to_string(), "moves": moves });
        serde_json::from_value::<Seen>(json!({ "since": since }))
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(seen(json!(["g1f3", "g8f6"])), Ok(()));
    let refused = |moves| seen(moves).unwrap_err();
    assert!(refused(json!(["g1g3"])).starts_with("`g1g3` is not legal in rnbqkbnr/"));
    assert!(refused(json!(["e2e4"])).starts_with("`e2e4` is a move after which nothing can be repeated"));
    assert!(refused(json!(["0000"])).starts_with("a move is two squares"));
}

#[test]
fn the_text_board_shows_the_counters_and_the_end() {
    let last_line =
        |position: &Chess| drawn(position, Viewer::Public).lines().last().map(str::to_owned).unwrap();
    let mut position = started(&Options::default());
    play(&mut position, "g1f3 g8f6 f3g1 f6g8");
    assert_eq!(last_line(&position), "White to move, quiet plies: 4, occurrences: 2");
    assert_eq!(last_line(&at("4k3/8/8/8/8/8/8/4R1K1 b - - 0 1")), "Black to move, in check");
    assert_eq!(last_line(&at("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")), "over: stalemate");
}
