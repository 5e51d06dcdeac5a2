//! PDN as it is found and as it is written, and its defects.

use serde_json::value::RawValue;

use super::super::pdn::Pdn;
use super::*;
use referee_game::chance::{RandomStream, Seed};
use referee_game::{Chain, CheckedGame, Flaw, MatchTags, Notation, Sheet, Validity};

fn check(text: impl AsRef<[u8]>) -> Vec<CheckedGame> {
    Pdn.check(text.as_ref()).into_iter().flatten().collect()
}

/// The plies of each game of a collection without flaws.
#[track_caller]
fn plies(text: impl AsRef<[u8]>) -> Vec<usize> {
    let checked = check(text);
    assert!(checked.iter().all(|game| game.verdict == Validity::Sound), "{checked:#?}");
    checked.into_iter().map(|game| game.plies).collect()
}

/// The flaws of a collection.
fn flaws(text: impl AsRef<[u8]>) -> Vec<Flaw> {
    let flaw = |game: CheckedGame| match game.verdict {
        Validity::Sound => None,
        Validity::Skipped(flaw) | Validity::Wrong(flaw) => Some(flaw),
    };
    check(text).into_iter().filter_map(flaw).collect()
}

/// The only flaw, as it is printed.
#[track_caller]
fn flaw(text: impl AsRef<[u8]>) -> String {
    let flaws = flaws(text);
    assert_eq!(flaws.len(), 1, "{flaws:#?}");
    flaws[0].to_string()
}

#[test]
fn an_ordinary_game_is_read() {
    let text =
        "[Event \"a\"]\n[Black \"b\"]\n[White \"w\"]\n[Result \"1-0\"]\n\n1. 11-15 23-19 2. 8-11 22-17 1-0\n";
    assert_eq!(plies(text), [4]);
    assert_eq!(plies(text.repeat(3)), [4, 4, 4]);
}

#[test]
fn an_empty_collection_has_no_games() {
    assert_eq!(check(""), []);
    assert_eq!(check("\u{feff} \r\n {nothing} ; here\n%\n"), []);
}

#[test]
fn tags_may_be_reordered_repeated_or_missing() {
    assert_eq!(plies("[Result \"*\"] [Event \"a\"]\n[ Site \"b\" ][Result \"1-0\"]\n1. 11-15 1-0"), [1]);
    assert_eq!(plies("1. 11-15 23-19 *"), [2]);
    assert_eq!(plies("1. 11-15 1-0 1. 12-16 0-1\n\n1. 9-14"), [1, 1, 1]);
}

#[test]
fn quotes_and_backslashes_in_tags_are_read_escaped_or_not() {
    assert_eq!(plies(r#"[Event "The \"Big\" One \\"] 1. 11-15"#), [1]);
    assert_eq!(plies(r#"[Event "The "Big" One"] 1. 11-15"#), [1]);
    assert_eq!(plies("[Event \"a] b [\"] 1. 11-15"), [1]);
}

#[test]
fn comments_nags_and_annotations_are_skipped() {
    assert_eq!(plies("{a} 1. 11-15! {b ( [ ;} $1 $23 23-19?? ; c } 1-0\n 2. 8-11 !? 22-17 1-0"), [4]);
    assert_eq!(plies("1. 11-15* 23-19!* 2. 8-11?! 22-17 *"), [4]);
    assert_eq!(plies("1. 11-15{a}23-19(b)2.8-11$3 22-17"), [4]);
    assert_eq!(plies("1. 11-15 (!) 23-19 (*)"), [2]);
}

#[test]
fn variations_are_skipped_at_any_depth() {
    assert_eq!(plies("1. 11-15 (1. 9-14 22-18 (22-17 {:)} 1-0) ; )\n 2. 1-1) 23-19 *"), [2]);
    let deep = format!("1. 11-15 {}{} 23-19", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(plies(deep), [2]);
}

#[test]
fn escape_lines_are_skipped() {
    assert_eq!(plies("% {\n1. 11-15\n%22-18 1-0\n23-19 *"), [2]);
}

#[test]
fn move_numbers_of_all_kinds_are_skipped() {
    for text in [
        "1. 11-15 23-19 2. 8-11 22-17",
        "1.11-15 23-19 2.8-11 22-17",
        "1 11-15 23-19 2 8-11 22-17",
        "1... 11-15 1. ... 23-19 2 . 8-11 22-17 3.",
        "11-15 23-19 8-11 22-17",
        "1.\n11-15\n23-19\n2.\n8-11\n22-17\n",
        "1. 11-15 {a} 1... 23-19 {b} 2. {c} 2. 8-11 22-17",
    ] {
        assert_eq!(plies(text), [4], "{text}");
    }
}

#[test]
fn squares_without_a_separator_are_not_move_numbers() {
    assert!(flaw("1. 11.15 23.19").contains("`15` is no move"));
    assert!(flaw("11 15 23 19").contains("`15` is no move"));
}

#[test]
fn blanks_around_separators_and_leading_zeros_are_accepted() {
    assert_eq!(plies("1. 11 - 15 22 -18 2. 15 x 22 25X18 3. 08-11 1 - 0"), [5]);
}

#[test]
fn captures_may_list_some_or_all_squares() {
    let fen = "[FEN \"B:W7,15,16,19,23,24,26,30,32:B2,3,5,6,12,13\"] 1. ";
    assert_eq!(plies(format!("{fen}2x11x18x27")), [1]);
    assert_eq!(plies(format!("{fen}2:11:18:27")), [1]);
    assert_eq!(plies(format!("{fen}2x18x27")), [1]);
    let ambiguous = flaw(format!("{fen}2x27"));
    assert_eq!(ambiguous, "game 1, ply 1, line 1: `2x27` is ambiguous: it may be 2x11x18x27, 2x11x20x27");
}

#[test]
fn short_capture_is_unambiguous_if_all_paths_end_equally() {
    // A king goes around, either way.
    let around = "B:W7,8,15,16,32:BK3";
    let circles: Vec<String> = moves(around).split(' ').map(str::to_owned).collect();
    assert_eq!(circles, ["3x10x19x12x3", "3x12x19x10x3"]);
    assert_eq!(plies(format!("[FEN \"{around}\"] 1. 3x3")), [1]);
}

/// The remarks of a collection without flaws.
#[track_caller]
fn remarks(text: impl AsRef<[u8]>) -> Vec<String> {
    plies(&text);
    check(text).iter().flat_map(|game| &game.remarks).map(ToString::to_string).collect()
}

#[test]
fn a_wrong_separator_is_accepted_with_a_remark() {
    assert_eq!(remarks("1. 11-15 22-18 2. 15x22 25x18"), [""; 0]);
    assert_eq!(
        remarks("1. 11x15 22-18\n2. 15-22 25x18"),
        [
            "game 1, ply 1, line 1: `11x15` is a step, which is written with `-`",
            "game 1, ply 3, line 2: `15-22` is a capture, which is written with `x`",
        ]
    );
    // The separator does not make a move legal.
    assert!(flaw("1. 11x16 8-12").contains("ply 2, line 1: `8-12` is not legal"));
    assert!(flaw("1. 11x14").contains("`11x14` is not legal"));
}

#[test]
fn words_after_a_move_give_a_remark() {
    assert_eq!(
        remarks("1. 11-15 23-19Redoversteppedthetimecontrol. 1-0"),
        ["game 1, ply 2, line 1: `Redoversteppedthetimecontrol.` is text outside a comment"]
    );
    // A word with a digit may be meant as a move.
    assert!(flaw("1. 11-15 c3-d4").contains("`c3-d4` is no move"));
    assert!(flaw("Notes on checkers").contains("`Notes` is no move"));
}

#[test]
fn later_moves_disambiguate_a_capture() {
    let fen = "[FEN \"B:W7,15,16,19,23,24,26,30,32:B2,3,5,6,12,13\"] 1. ";
    // Only 2x11x18x27 takes the man on 23, where White's next capture lands.
    let found = remarks(format!("{fen}2x27 32x23 2. 13-17"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("game 1, ply 1, line 1: `2x27` is ambiguous: it may be 2x11x18x27, 2x11x20x27;"),
        "{found:?}"
    );
    let neither = flaw(format!("{fen}2x27 1-5"));
    assert!(neither.contains("ply 2, line 1: `1-5` is not legal"), "{neither}");
    assert!(neither.ends_with("whichever capture was meant at ply 1"), "{neither}");
}

#[test]
fn results_are_read_in_all_forms() {
    for (tag, end) in [
        ("1-0", "1-0"),
        ("1-0", "2-0"),
        ("2-0", "1-0"),
        ("0-2", "0-1"),
        ("1-1", "1/2-1/2"),
        ("1/2-1/2", "1-1"),
        ("0-0", "0-0"),
        ("*", "1-0"),
        ("1-0", "*"),
        ("?", "0-1"),
        ("1-0", ""),
    ] {
        assert_eq!(plies(format!("[Result \"{tag}\"]\n1. 11-15 {end}")), [1], "{tag} and {end}");
    }
}

#[test]
fn results_that_differ_are_a_flaw() {
    assert_eq!(
        flaw("[Result \"1-0\"]\n1. 11-15\n1/2-1/2"),
        "game 1, ply 1, line 3: the moves end with 1/2-1/2, but the Result tag says 1-0 (Black won)"
    );
    assert!(flaw("[Result \"Black\"]\n1. 11-15").contains("line 1: `Black` is no result"));
}

#[test]
fn one_nil_means_that_black_won() {
    let won = "[FEN \"W:W12:BK3\"]\n1... 12-8 2. 3x12";
    assert_eq!(plies(format!("{won} 1-0")), [2]);
    assert_eq!(
        flaw(format!("{won} 0-1")),
        "game 1, ply 2, line 2: White has no move left and lost: that is 1-0 (Black won), not 0-1 (White won)"
    );
}

#[test]
fn fens_are_read_with_and_without_dot_and_blanks() {
    for fen in ["B:W32:B1", "B:W32:B1.", "B:B1:W32.", " B:W 32 : B1 ."] {
        assert_eq!(plies(format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n1. 1-6 32-28 *")), [2], "{fen}");
    }
    assert_eq!(plies("[FEN \"\"]\n1. 11-15"), [1]);
    assert_eq!(plies("[FEN \"W:W32:B1\"]\n1... 32-28 2. 1-6"), [2]);
    assert!(
        flaw("[Event \"a\"]\n[FEN \"B:W32:B32\"]\n1. 11-15")
            .contains("line 2: the FEN names square 32 twice")
    );
}

#[test]
fn crlf_bom_and_names_that_are_not_utf8_are_read() {
    let text = b"\xef\xbb\xbf[Event \"Stra\xdfe\"]\r\n[White \"J\xf6rg\"]\r\n\r\n1. 11-15 {\xe9} 23-19\r\n2. 8-11 1-0\r\n";
    assert_eq!(plies(text), [3]);
    let old_mac = String::from_utf8_lossy(text).replace("\r\n", "\r");
    assert_eq!(plies(old_mac), [3]);
}

#[test]
fn games_without_a_result_end_where_the_next_begins() {
    assert_eq!(plies("[Event \"a\"]\n1. 11-15\n[Event \"b\"]\n1. 11-15 23-19\n"), [1, 2]);
    for empty in ["\n\n", "\r\n\r\n", "\r\r", "\n \t\n", "\n{no moves}\n\n", "\n\n; no moves\n"] {
        assert_eq!(plies(format!("[Event \"a\"]{empty}[Event \"b\"]{empty}")), [0, 0], "{empty:?}");
    }
}

#[test]
fn tag_that_header_has_twice_does_not_begin_game() {
    for between in ["\n", "\r\n", "\r", " ", "", "\n[Site \"s\"]\n", "\n; a comment\n"] {
        let text = format!("[Event \"a\"]{between}[Event \"b\"]\n[Result \"1-0\"]\n\n1. 11-15 1-0\n");
        assert_eq!(plies(text.repeat(2)), [1, 1], "{between:?}");
    }
    // The last one counts.
    assert_eq!(plies("[Event \"a\"]\n[Result \"0-1\"]\n[Result \"1-0\"]\n1. 11-15 1-0"), [1]);
}

#[test]
fn a_line_may_end_with_cr_alone() {
    let text =
        "[Event \"a\"]\n; a comment\n1. 11-15 ; c\n% { escaped\n23-19 *\n\n[Event \"b\"]\n1. 11-15 23-22 *\n";
    let cr = text.replace('\n', "\r");
    assert_eq!(check(&cr), check(text));
    assert_eq!(check(text.replace('\n', "\r\n")), check(text));
    assert!(flaw(cr).starts_with("game 2, ply 2, line 8: `23-22` is not legal"));
    // A tag ends with its line.
    assert!(flaw("[Event \"a\r1. 11-15 *\r").contains("line 1: `[Event \"a` is no tag"));
}

#[test]
fn other_game_types_are_skipped_with_the_reason() {
    let text =
        "[Event \"a\"]\n[GameType \"20,W,10,10,N2,0\"]\n1. 32-28 0-0 1-0 e4 (\n[GameType \"21\"]\n1. 11-15 *";
    let checked = check(text);
    let Validity::Skipped(flaw) = &checked[0].verdict else { panic!("{checked:?}") };
    assert_eq!(flaw.to_string(), "game 1, line 2: game type 20,W,10,10,N2,0; 21 is English draughts");
    assert_eq!(checked[1], CheckedGame { plies: 1, remarks: Vec::new(), verdict: Validity::Sound });
    assert_eq!(checked.len(), 2);
    assert_eq!(plies("[GameType \"21,B,8,8,N1,0\"]\n1. 11-15"), [1]);
}

#[test]
fn games_of_other_types_are_skipped_whatever_their_moves() {
    let sound = "\n[GameType \"21\"]\n1. 11-15 *";
    for moves in
        ["1. c3-d4 *", "1. c3-d4 b6-a5 2. d4xf6 1-0", "1. e4 e5", "Notes 1. 32-28", "{a", "(", "1. 60-54 *"]
    {
        for header in [
            "[GameType \"25\"]",
            "[Event \"a\"]\n[GameType \"25,W,8,8,A0,0\"]",
            "[Site b]\n[GameType \"25\"]",
        ] {
            let checked = check(format!("{header}\n\n{moves}\n{sound}"));
            let Validity::Skipped(flaw) = &checked[0].verdict else {
                panic!("{header} {moves}: {checked:?}")
            };
            assert!(flaw.what.starts_with("game type 25"), "{flaw}");
            assert_eq!((checked.len(), &checked[1].verdict), (2, &Validity::Sound), "{header} {moves}");
        }
    }
}

#[test]
fn a_game_of_another_variant_without_its_type_is_named() {
    for (text, what) in [
        (
            "1. 32-28 19-23 2. 37-32 *",
            "this one has 32 squares and no 37: 10x10 draughts is [GameType \"20\"]",
        ),
        ("1. 34-30 20-25 *", "this one has 32 squares and no 34: 10x10"),
        ("1. 22-18 9-14 *", "; White may: it seems to be a game of another variant, in which White begins"),
        (
            "[FEN \"W:W31-50:B1-20\"] 1. 32-28 *",
            "the FEN names square 50, but this board has squares 1 to 32",
        ),
        ("1. c3-d4 d6-c5 *", "`c3-d4` is no move of English draughts, which is like 11-15"),
    ] {
        assert!(flaw(text).contains(what), "{text}: {}", flaw(text));
    }
    // A plain mistake is not taken for another variant.
    for text in ["1. 11-20 *", "1. 11-15 22-18 2. 11-15 *", "1. 11-15 22-19 *\n\n1. 33-28 *"] {
        let found = flaws(text).remove(0).to_string();
        assert!(!found.contains("it seems"), "{found}");
    }
}

#[test]
fn an_ambiguous_last_move_does_not_hide_the_next_game() {
    let fen = "[FEN \"B:W7,15,16,19,23,24,26,30,32:B2,3,5,6,12,13\"] 1. 2x27 *";
    assert_eq!(check(format!("{fen}\n1. 11-15 *")).len(), 2);
}

#[test]
fn an_illegal_move_ends_the_check_of_its_game_only() {
    let text =
        "[Event \"a\"]\n1. 11-15 23-19\n2. 8-12 22-17 1-0\n[Event \"b\"]\n1. 11-15 11-15 *\n1. 9-14 *\n";
    let found: Vec<String> = flaws(text).iter().map(ToString::to_string).collect();
    let legal = "10-14, 12-16, 15-18, 7-11, 8-11, 9-13, 9-14";
    let white = "21-17, 22-17, 22-18, 23-18, 23-19, 24-19, 24-20";
    assert_eq!(
        found,
        [
            format!("game 1, ply 3, line 3: `8-12` is not legal for Black, who may play {legal}"),
            format!("game 2, ply 2, line 5: `11-15` is not legal for White, who may play {white}"),
        ]
    );
    assert_eq!(check(text).len(), 3);
}

#[test]
fn a_list_of_many_legal_moves_is_shortened() {
    let found = flaw("[FEN \"B:WK32:BK1,K10,K15,K18\"]\n1. 1-9");
    assert!(found.ends_with(" or 2 more"), "{found}");
}

#[test]
fn an_unterminated_token_affects_one_game() {
    for (text, what) in [
        ("1. 11-15 {a\n23-19", "line 2: unterminated comment: missing `}`"),
        ("1. 11-15 ((a)\n23-19", "line 2: unterminated variation: missing `)`"),
        ("1. 11-15 (a { b )\n23-19", "line 2: a variation begins here with a comment that no `}` closes"),
        ("[Site \"b\n1. 11-15", "line 2: `[Site \"b` is no tag"),
        ("[Site b]\n1. 11-15", "line 2: `[Site b]` is no tag"),
        ("1. 11-15 Nc6 23-19", "line 2: `Nc6` is no move"),
    ] {
        let text = format!("[Event \"a\"]\n{text}\n\n[Event \"b\"]\n1. 11-15 *\n");
        assert!(flaw(&text).contains(what), "{}", flaw(&text));
        assert_eq!(check(&text).len(), 2, "{text}");
    }
}

#[test]
fn a_result_without_a_game_is_a_flaw() {
    assert!(flaw("1. 11-15 1-0\n0-1\n").contains("game 2, line 2: a result without a game"));
}

fn sheet(options: &str, moves: &[&str], ranks: Option<[u8; 2]>) -> Sheet {
    Sheet {
        match_id: "m1".to_owned(),
        names: vec!["a \"b\" \\ c\nd".to_owned(), "wei\u{df}".to_owned()],
        options: RawValue::from_string(options.to_owned()).unwrap(),
        moves: moves.iter().map(|&text| text.to_owned()).collect(),
        seats: Vec::new(),
        draws: Vec::new(),
        notes: Vec::new(),
        clocks: Vec::new(),
        ranks: ranks.map(Vec::from),
        ended: "rules (no_moves)".to_owned(),
        tags: MatchTags::default(),
    }
}

fn written(sheet: &Sheet) -> String {
    let mut text = String::new();
    Pdn.write(sheet, &mut text).unwrap();
    text
}

#[test]
fn a_match_is_written_with_all_its_tags() {
    let text = written(&sheet("{}", &["11-15", "22-18", "15x22", "25x18"], Some([1, 2])));
    let expected = r#"[Event "?"]
[Site "?"]
[Date "????.??.??"]
[Round "m1"]
[Black "a \"b\" \\ c d"]
[White "weiß"]
[Result "1-0"]
[GameType "21,B,8,8,N1,0"]
[Termination "rules (no_moves)"]

1. 11-15 22-18 2. 15x22 25x18 1-0

"#;
    assert_eq!(text, expected);
    assert_eq!(plies(text), [4]);
}

#[test]
fn occasion_of_match_is_written_in_seven_tag_roster() {
    let [event, site, date, round] =
        ["Cup", "records/m1.jsonl", "2026.11.22", "2.1"].map(|text| Some(text.to_owned()));
    let tags = MatchTags { event, site, date, round };
    let text = written(&Sheet { tags, ..sheet("{}", &["11-15"], None) });
    let tags = "[Event \"Cup\"]\n[Site \"records/m1.jsonl\"]\n[Date \"2026.11.22\"]\n[Round \"2.1\"]\n";
    assert!(text.starts_with(tags), "{text}");
}

#[test]
fn other_start_positions_and_ambiguous_captures_are_written_in_full() {
    let fen = "B:W7,15,16,19,23,24,26,30,32:B2,3,5,6,12,13";
    let options = format!("{{\"fen\":\"{fen}\"}}");
    let text = written(&sheet(&options, &["2x11x18x27", "32x23"], None));
    assert!(text.contains(&format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n")), "{text}");
    assert!(text.contains("\n1. 2x11x18x27 32x23 *\n"), "{text}");
    assert_eq!(plies(text), [2]);
    let text = written(&sheet(r#"{"fen":"W:W32:B1"}"#, &["32-28", "1-6", "28-24"], Some([1, 1])));
    assert!(text.contains("\n1. 32-28 1-6 2. 28-24 1/2-1/2\n"), "{text}");
    assert_eq!(plies(text), [3]);
}

#[test]
fn a_game_that_white_begins_is_read_with_any_numbers() {
    let fen = "[FEN \"W:W21-32:B1-12\"]\n";
    for moves in [
        "1. 23-19 12-16 2. 19x12 11-15",
        "1... 23-19 2. 12-16 19x12 3. 11-15",
        "1. ... 23-19 2. 12-16 2... 19x12 3. 11-15",
        "1. 23-19 1... 12-16 2. 19x12 2... 11-15",
        "23-19 12-16 19x12 11-15",
    ] {
        assert_eq!(plies(format!("{fen}{moves} *")), [4], "{moves}");
    }
}

#[test]
fn a_match_of_another_game_is_rejected() {
    let refused = |sheet: Sheet| Chain(&Pdn.write(&sheet, &mut String::new()).unwrap_err()).to_string();
    assert!(refused(sheet("{}", &["11-16", "1-5"], None)).contains("`1-5` is not legal"));
    assert!(refused(sheet("{}", &["e4"], None)).contains("`e4`"));
    assert!(refused(sheet("{\"size\":3}", &[], None)).contains("size"));
}

fn rng(label: &str) -> RandomStream {
    Seed([7; 32]).match_key("checkers", label, &[""; 0]).stream()
}

/// Random matches, written one after another.
fn collection(games: usize, rng: &mut RandomStream) -> String {
    let mut text = String::new();
    for _ in 0..games {
        let mut position = started(&Options::default());
        let mut sheet = sheet("{}", &[], None);
        while let Turn::Decide(_) = position.turn() {
            let legal = typed_moves(&position);
            let mv = legal[rng.uniform(legal.len() as u64) as usize];
            sheet.moves.push(mv.to_string());
            position.play_unchecked(position.board.to_move().seat(), mv, &mut |_| {});
        }
        sheet.ranks =
            Some(match position.outcome().and_then(|outcome| outcome.winner(Checkers::META.seatings[0])) {
                Some(0) => vec![1, 2],
                Some(_) => vec![2, 1],
                None => vec![1, 1],
            });
        Pdn.write(&sheet, &mut text).unwrap();
    }
    text
}

#[test]
fn written_games_are_read_without_flaws() {
    let text = collection(300, &mut rng("round trip"));
    assert_eq!(plies(&text).len(), 300);
    assert!(text.lines().all(|line| line.len() <= 80));
}

#[test]
fn wrong_result_of_game_that_ended_by_rule_is_flaw() {
    let mut rng = rng("results");
    let mut tried = 0;
    for _ in 0..100 {
        let game = collection(1, &mut rng);
        for (right, wrong) in [("1-0", "0-1"), ("0-1", "1-0"), ("1-0", "1/2-1/2"), ("0-1", "1/2-1/2")] {
            if let Some(moves) = game.trim_end().strip_suffix(right) {
                let tag = |result| format!("[Result \"{result}\"]");
                let found = flaw(moves.replace(&tag(right), &tag(wrong)) + wrong);
                assert!(found.contains(&format!("has no move left and lost: that is {right}")), "{found}");
                tried += 1;
            }
        }
    }
    assert!(tried > 50, "{tried}");
}

#[test]
fn moves_after_the_end_are_a_flaw() {
    assert_eq!(
        flaw("[FEN \"B:W6:BK1\"]\n1. 1x10 32-28"),
        "game 1, ply 2, line 2: `32-28` comes after the end: White has no move"
    );
}

#[test]
fn arbitrary_bytes_are_read_to_the_end() {
    let mut rng = rng("bytes");
    let alphabet = b"{}()[]\"\\;%$*!?.-x: \r\n0123456789/EventFENResult\xff\0";
    for _ in 0..3000 {
        let len = rng.uniform(200);
        let bytes: Vec<u8> =
            (0..len).map(|_| alphabet[rng.uniform(alphabet.len() as u64) as usize]).collect();
        assert!(check(&bytes).len() <= bytes.len());
    }
}

#[test]
fn mutated_collections_are_read_to_the_end() {
    let mut rng = rng("changes");
    let text = collection(4, &mut rng).into_bytes();
    for _ in 0..1500 {
        let mut text = text.clone();
        for _ in 0..=rng.uniform(8) {
            let at = rng.uniform(text.len() as u64) as usize;
            let to = (at + rng.uniform(40) as usize).min(text.len());
            match rng.uniform(3) {
                0 => text[at] = rng.uniform(256) as u8,
                1 => drop(text.drain(at..to)),
                _ => drop(text.splice(at..at, text[at..to].to_vec())),
            }
        }
        for flaw in flaws(&text) {
            let lines = text.iter().filter(|&&byte| byte == b'\n').count() + 1;
            assert!(flaw.line <= lines && flaw.game > 0, "{flaw}");
        }
    }
}

#[test]
fn hostile_repetitions_take_linear_time() {
    for piece in [
        "{",
        "(",
        "[",
        "[A \"",
        "[A \"\n",
        "[A \"\n{",
        "[A \"\"]\n(",
        "1",
        "1 ",
        "1x",
        "1-1 ",
        "1.",
        "*",
        "\"",
        "\\",
        "%\n",
        "[A",
    ] {
        check(piece.repeat(200_000));
    }
}
