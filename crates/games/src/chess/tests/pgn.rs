//! PGN is written, read and used for openings.

use referee_protocol::referee::Clock;
use serde_json::json;
use serde_json::value::RawValue;

use super::super::openings::FILES;
use super::super::pgn::Pgn;
use super::*;
use referee_game::{Chain, CheckedGame, Flaw, GivenOpening, MatchTags, MoveNote, Sheet, Validity};

fn sheet(options: serde_json::Value, moves: &str, ranks: Option<[u8; 2]>, ended: &str) -> Sheet {
    Sheet {
        match_id: "m1".to_owned(),
        names: vec!["a \"b\"".to_owned(), "wei\u{df}".to_owned()],
        options: RawValue::from_string(options.to_string()).unwrap(),
        moves: moves.split_ascii_whitespace().map(str::to_owned).collect(),
        seats: Vec::new(),
        draws: Vec::new(),
        notes: Vec::new(),
        clocks: Vec::new(),
        ranks: ranks.map(Vec::from),
        ended: ended.to_owned(),
        tags: MatchTags::default(),
    }
}

fn written(sheet: &Sheet) -> String {
    let mut text = String::new();
    Pgn.write(sheet, &mut text).unwrap();
    text
}

fn check(text: impl AsRef<[u8]>) -> Vec<CheckedGame> {
    Pgn.check(text.as_ref()).into_iter().flatten().collect()
}

/// The flaw of the only game.
fn flaw(text: &str) -> String {
    match &check(text)[..] {
        [CheckedGame { verdict: Validity::Wrong(flaw), .. }] => flaw.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The plies of valid games and the number of their remarks.
fn sound(text: impl AsRef<[u8]>) -> Vec<(usize, usize)> {
    let games = check(text).into_iter();
    games
        .map(|game| {
            assert_eq!(game.verdict, Validity::Sound);
            (game.plies, game.remarks.len())
        })
        .collect()
}

fn read(ending: &str, file: &str, plies: Option<usize>) -> Vec<Result<GivenOpening, Flaw>> {
    let format = FILES.iter().find(|format| format.ending == ending).unwrap();
    (format.read)(file.as_bytes(), plies)
}

#[test]
fn a_match_is_written_with_all_its_tags_and_comments() {
    let notes = [
        MoveNote::default(),
        MoveNote { took_us: Some(1_200_000), info: None },
        MoveNote {
            took_us: Some(2_000),
            info: Some(RawValue::from_string(r#"{"score":34,"depth":18}"#.to_owned()).unwrap()),
        },
        MoveNote {
            took_us: Some(5_000),
            info: Some(
                RawValue::from_string(r#"{"score":-75,"score_side":0,"depth":3}"#.to_owned()).unwrap(),
            ),
        },
    ];
    let mated = sheet(json!({}), "f2f3 e7e5 g2g4 d8h4", Some([2, 1]), "rules (checkmate)");
    let text = written(&Sheet { notes: notes.to_vec(), ..mated });
    let expected = r#"[Event "?"]
[Site "?"]
[Date "????.??.??"]
[Round "m1"]
[White "a \"b\""]
[Black "weiß"]
[Result "0-1"]
[PlyCount "4"]
[Termination "normal"]

1. f3 e5 {1.200s} 2. g4 {+0.34/18 0.002s} 2... Qh4# {+0.75/3 0.005s} 0-1

"#;
    assert_eq!(text, expected);
    assert_eq!(sound(text), [(4, 0)]);
}

#[test]
fn clocks_are_written_in_seconds() {
    let clock = |delay_ms, bank_ms, increment_ms| Some(Clock { delay_ms, bank_ms, increment_ms });
    for (clocks, expected) in [
        ([clock(0, 10_000, 100); 2], "[TimeControl \"10+0.1\"]\n"),
        ([clock(0, 60_000, 0); 2], "[TimeControl \"60\"]\n"),
        ([clock(1_500, 0, 0); 2], "[TimeControl \"1.5/move\"]\n"),
        ([None; 2], "[TimeControl \"-\"]\n"),
        ([clock(5_000, 60_000, 0); 2], ""),
        ([clock(0, 60_000, 0), None], "[WhiteTimeControl \"60\"]\n[BlackTimeControl \"-\"]\n"),
    ] {
        let text = written(&Sheet { clocks: clocks.to_vec(), ..sheet(json!({}), "f2f3", None, "aborted") });
        let expected = format!("[Termination \"unterminated\"]\n{expected}\n1. f3");
        assert!(text.contains(&expected), "{text}");
        assert_eq!(sound(&text), [(1, 0)]);
    }
}

#[test]
fn a_mate_is_written_in_moves() {
    let note = |info: &str| {
        let info = Some(RawValue::from_string(info.to_owned()).unwrap());
        MoveNote { took_us: Some(1_000), info }
    };
    let notes = vec![
        note(r#"{"score":-29999,"mate":-1,"depth":2}"#),
        note(r#"{"score":-29999,"score_side":0,"mate":-1,"depth":2}"#),
    ];
    let text = written(&Sheet { notes, ..sheet(json!({}), "f2f3 e7e5", None, "aborted (aborted)") });
    assert!(text.contains("1. f3 {-M1/2 0.001s} 1... e5 {+M1/2 0.001s}"), "{text}");
}

#[test]
fn castling_is_written_in_san_from_both_variants() {
    let standard = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let chess960 = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1";
    for (variant, fen, moves) in [
        ("standard", standard, "e1g1 e8c8"),
        ("chess960", standard, "e1h1 e8a8"),
        ("chess960", chess960, "e1g1 e8b8"),
    ] {
        let text =
            written(&sheet(json!({ "variant": variant, "fen": fen }), moves, None, "aborted (aborted)"));
        assert!(text.contains("\n1. O-O O-O-O {aborted (aborted)} *\n"), "{text}");
        assert_eq!(text.contains("[Variant \"Chess960\"]"), variant == "chess960");
        assert!(
            text.contains("[SetUp \"1\"]\n[FEN \"") && text.contains("[Termination \"unterminated\"]"),
            "{text}"
        );
        assert_eq!(sound(&text), [(2, 0)]);
        let opening = read("pgn", &text, None).remove(0).unwrap();
        assert_eq!(opening.moves.join(" "), moves);
        assert_eq!(opening.options["variant"], variant);
    }
}

#[test]
fn the_numbers_of_moves_follow_the_position() {
    let fen = "4k3/8/8/8/8/8/8/R3K3 b - - 0 30";
    let text = written(&sheet(json!({ "fen": fen }), "e8e7 a1a7", Some([1, 1]), "fault (timeout)"));
    assert!(text.contains("\n30... Ke7 31. Ra7+ {fault (timeout)} 1/2-1/2\n"), "{text}");
    assert!(text.contains("[Termination \"time forfeit\"]"), "{text}");
}

#[test]
fn the_end_of_a_match_has_the_usual_word() {
    for (ended, word) in [
        ("rules (stalemate)", "normal"),
        ("fault (timeout)", "time forfeit"),
        ("fault (illegal_move)", "illegal move"),
        ("fault (malformed)", "rules infraction"),
        ("fault (exited)", "abandoned"),
        ("adjudication (tablebases)", "adjudication"),
        ("aborted (interrupted)", "unterminated"),
    ] {
        let text = written(&sheet(json!({}), "f2f3", None, ended));
        assert!(text.contains(&format!("[Termination \"{word}\"]")), "{ended}: {text}");
    }
}

#[test]
fn a_match_of_another_game_is_rejected() {
    let refused = |moves, options| {
        Chain(&Pgn.write(&sheet(options, moves, None, ""), &mut String::new()).unwrap_err()).to_string()
    };
    assert!(refused("e2e5", json!({})).starts_with("`e2e5` is not legal in rnbqkbnr/"));
    assert!(refused("11-15", json!({})).starts_with("`11-15`: a move is two squares"));
    assert!(refused("", json!({ "size": 3 })).contains("size"));
}

#[test]
fn the_notations_of_other_programs_are_read() {
    for (moves, remarks) in [
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-O Nf6", 0),
        ("1.e4 e5 2.Nf3 Nc6 3.Bb5 a6 4.O-O Nf6 *", 0),
        ("e4 e5 Nf3 Nc6 Bb5 a6 O-O Nf6", 0),
        (
            "1. e4! e5?! $1 2. Nf3 {a [comment} 2... Nc6 (2... d6 3. d4 (3. Bc4) {)}) 3. Bb5 ; rest\n% line\n3... a6 4. O-O Nf6",
            0,
        ),
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. 0-0 Nf6", 1),
        ("1. e2-e4 e7e5 2. Ng1-f3 b8c6 3. Bf1b5 a7a6 4. e1g1 Ng8f6", 8),
        ("1. e4 e5 2. Ngf3 Nxc6 3. Bb5+ a6 4. O-O+ Nf6", 4),
    ] {
        assert_eq!(sound(moves), [(8, remarks)], "{moves}");
    }
    let promotes = "[FEN \"7k/P7/8/8/8/8/8/K7 w - - 0 1\"]\n";
    for (text, remarks) in [("a8=Q+", 0), ("a8Q+", 1), ("a8=Q", 1), ("a7a8q", 1)] {
        assert_eq!(sound(format!("{promotes}1. {text} *")), [(1, remarks)], "{text}");
    }
    let en_passant = "[FEN \"4k3/8/8/Pp6/8/8/8/4K3 w - b6 0 1\"]\n";
    assert_eq!(sound(format!("{en_passant}1. axb6 e.p. *")), [(1, 0)]);
    assert_eq!(sound(format!("{en_passant}1. axb6e.p. *")), [(1, 1)]);
}

#[test]
fn games_are_separated_by_results_tags_and_events() {
    let file = "\u{feff}[Event \"a\"]\r\n\r\n1. e4 1-0\r\n[Event \"b \"c\" d\"]\r1. d4 \r[Event \"c\"]\n[Event \"d\"]\n\n*\n1. c4 *";
    assert_eq!(sound(file), [(1, 0), (1, 0), (0, 0), (0, 0), (1, 0)]);
    assert_eq!(check(""), []);
    assert!(flaw("1-0").contains("game 1, line 1: a result without a game"));
}

#[test]
fn errors_name_game_ply_and_line() {
    for (text, error) in [
        (
            "1. e4 e5\n2. Nf4 *",
            "game 1, ply 3, line 2: `Nf4` is no legal move of White, or an ambiguous one: Ba6, Bb5, Bc4, Bd3, Be2, Ke2, \
             Na3, Nc3 or 21 more",
        ),
        ("1. f3 e5 2. g4 Qh4# 3. a3 *", "game 1, ply 5, line 1: `a3` comes after the end: White has no move"),
        ("[Result \"2-0\"]\n1. e4 *", "game 1, line 1: `2-0` is no result: one is 1-0, 0-1, 1/2-1/2 or *"),
        (
            "[Result \"1-0\"]\n1. e4 0-1",
            "game 1, ply 1, line 2: the moves end with 0-1, but the Result tag says 1-0",
        ),
        (
            "1. f3 e5 2. g4 Qh4# 1-0",
            "game 1, ply 4, line 1: the game ends with checkmate: that is 0-1, not 1-0",
        ),
        (
            "[FEN \"7k/8/6K1/8/8/8/8/5Q2 w - - 0 1\"]\n1. Qf7 1-0",
            "game 1, ply 1, line 2: the game ends with stalemate: that is 1/2-1/2, not 1-0",
        ),
        ("1. e4 {a", "game 1, ply 1, line 1: unterminated comment: missing `}`"),
        ("1. e4 (a", "game 1, ply 1, line 1: unterminated variation: missing `)`"),
    ] {
        assert_eq!(flaw(text), error, "{text}");
    }
    assert!(flaw("[FEN \"x\"]\n*").starts_with("game 1, line 1: a FEN has four to six fields"));
    assert!(flaw("[Event x]\n1. e4 *").starts_with("game 1, line 1: `[Event x]` is no tag"));
}

#[test]
fn an_error_affects_only_its_own_game() {
    let file = "[Event \"a\"]\n1. e4 {open\n[Event \"b\"]\n1. e4 e4 e5 1-0\n1. d4 *\n[Variant \"Atomic\"]\n1. Qa8 1-0\n1. x\n[Event \"d\"]\n1. c4 *";
    let verdicts: Vec<&str> = check(file)
        .iter()
        .map(|game| match game.verdict {
            Validity::Sound => "sound",
            Validity::Skipped(_) => "skipped",
            Validity::Wrong(_) => "wrong",
        })
        .collect();
    assert_eq!(verdicts, ["wrong", "wrong", "sound", "skipped", "sound"]);
}

#[test]
fn each_game_of_a_collection_is_an_opening() {
    let file = "[Event \"a\"]\n1. e4 e5 2. Nf3 1-0\n[Variant \"Fischerandom\"]\n[FEN \"1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1\"]\n1. O-O *\n\
                [Variant \"Crazyhouse\"]\n*\n[Event \"d\"]\n1. e4 Nf9 *";
    let [Ok(first), Ok(second), Err(skipped), Err(wrong)] = &read("pgn", file, None)[..] else { panic!() };
    assert_eq!((first.game, first.line, first.moves.join(" ")), (1, 1, "e2e4 e7e5 g1f3".to_owned()));
    assert_eq!(first.options["variant"], "standard");
    assert_eq!((second.game, second.line, second.moves.join(" ")), (2, 3, "e1g1".to_owned()));
    assert_eq!(second.options["fen"], "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w KQkq - 0 1");
    assert!(skipped.to_string().starts_with("game 3, line 6: variant Crazyhouse"), "{skipped}");
    assert!(wrong.to_string().starts_with("game 4, ply 2, line 9: `Nf9` is no legal move"), "{wrong}");

    let cut = read("pgn", file, Some(1));
    let moves: Vec<Option<String>> =
        cut.iter().map(|read| Some(read.as_ref().ok()?.moves.join(" "))).collect();
    assert_eq!(moves, [Some("e2e4".to_owned()), Some("e1g1".to_owned()), None, Some("e2e4".to_owned())]);
}

#[test]
fn files_of_positions_have_one_per_line() {
    let file = "# two\n8/8/8/8/8/8/4P3/4K2k w - - bm e4; id \"a 1\";\r\n\n8/8/8/8/8/8/4P3/4K2k b - - 3 40 id \"b\";\n8/8 w\n";
    let [Ok(first), Ok(second), Err(flaw)] = &read("epd", file, None)[..] else { panic!() };
    assert_eq!((first.line, &first.options["fen"]), (2, &json!("8/8/8/8/8/8/4P3/4K2k w - - 0 1")));
    assert_eq!((second.line, &second.options["fen"]), (4, &json!("8/8/8/8/8/8/4P3/4K2k b - - 3 40")));
    assert!(flaw.to_string().starts_with("line 5: a FEN has four to six fields"), "{flaw}");
    let [Ok(first)] = &read("fen", "8/8/8/8/8/8/4P3/4K2k w - - 0 1", None)[..] else { panic!() };
    assert_eq!(first.options["fen"], "8/8/8/8/8/8/4P3/4K2k w - - 0 1");
}
