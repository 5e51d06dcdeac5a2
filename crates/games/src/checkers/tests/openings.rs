//! Openings from PDN collections and from positions.

use super::super::openings::FILES;
use super::*;
use referee_game::{Flaw, GivenOpening};

fn read(ending: &str, file: &str) -> Vec<Result<GivenOpening, Flaw>> {
    cut(ending, file, None)
}

fn cut(ending: &str, file: &str, plies: Option<usize>) -> Vec<Result<GivenOpening, Flaw>> {
    let format = FILES.iter().find(|format| format.ending == ending).unwrap();
    (format.read)(file.as_bytes(), plies)
}

fn fen(opening: &GivenOpening) -> &str {
    opening.options["fen"].as_str().unwrap()
}

#[test]
fn each_game_of_a_collection_is_an_opening() {
    let file = "[Event \"Old Faithful\"]\n[Result \"*\"]\n1. 11-15 23-19 2. 8-11 22-17 *\n\n\
                [Event \"?\"]\n[FEN \"B:W7,15,24:B2.\"]\n1. 2x11x18 *";
    let openings: Vec<GivenOpening> = read("pdn", file).into_iter().map(Result::unwrap).collect();
    assert_eq!([openings[0].game, openings[0].line], [1, 1]);
    assert_eq!(openings[0].moves, ["11-15", "23-19", "8-11", "22-17"]);
    assert_eq!(fen(&openings[0]), Board::default().to_string(), "it does not depend on the set-up");
    assert_eq!([openings[1].game, openings[1].line], [2, 5]);
    assert_eq!((fen(&openings[1]), &openings[1].moves[..]), ("B:W7,15,24:B2", &["2x11x18".to_owned()][..]));
}

#[test]
fn errors_in_a_collection_name_game_ply_and_line() {
    let file = "[Event \"a\"]\n1. 11-15 23-22 *\n[Event \"b\"]\n1. 11-15 *\n[GameType \"20\"]\n1. 32-28 *";
    let read = read("pdn", file);
    let flaw = |i: usize| read[i].as_ref().unwrap_err().to_string();
    assert!(flaw(0).starts_with("game 1, ply 2, line 2: `23-22` is not legal for White"), "{}", flaw(0));
    assert!(read[1].is_ok());
    assert!(flaw(2).starts_with("game 3, line 5: game type 20"), "{}", flaw(2));
}

#[test]
fn results_of_openings_are_ignored() {
    let read = read("pdn", "[Result \"1-0\"]\n1. 11-15 0-1\n");
    assert_eq!(read[0].as_ref().unwrap().moves, ["11-15"]);
}

#[test]
fn what_follows_the_cut_of_a_game_may_be_invalid() {
    let ambiguous = "[FEN \"B:W7,15,16,19,23,24,26,30,32:B2,3,5,6,12,13\"] 1. 2x27 32x23 ";
    let file = format!(
        "1. 11-15 23-19 2. 8-11 22-17 *\n1. 11-15 23-19 2. 1-32 *\n1. 11-15 *\n1. 11-15 23-22 *\n1. 11-15 22-18 2. 15x22 \
         c3-d4 *\n{ambiguous}*\n{ambiguous}2. 1-5 *\n[GameType \"20\"] 1. 32-28 19-23 *"
    );
    let read = cut("pdn", &file, Some(2));
    let moves: Vec<Option<Vec<&str>>> = read
        .iter()
        .map(|opening| Some(opening.as_ref().ok()?.moves.iter().map(String::as_str).collect()))
        .collect();
    let two = |moves: [&'static str; 2]| Some(moves.to_vec());
    assert_eq!(
        moves,
        [
            two(["11-15", "23-19"]),
            two(["11-15", "23-19"]),
            Some(vec!["11-15"]),
            None,
            two(["11-15", "22-18"]),
            two(["2x11x18x27", "32x23"]),
            two(["2x11x18x27", "32x23"]),
            None,
        ]
    );
}

#[test]
fn a_position_file_has_one_position_per_line() {
    let file = "# two\nB:W18,24:B1,K10\r\n\nW:B1:W24.\nB:W18\n";
    let read = read("fen", file);
    let [Ok(first), Ok(second), Err(flaw)] = &read[..] else { panic!("{read:?}") };
    assert_eq!((first.line, fen(first)), (2, "B:W18,24:B1,K10"));
    assert_eq!((second.line, fen(second), second.moves.len()), (4, "W:W24:B1", 0));
    assert!(flaw.to_string().starts_with("line 5: a FEN has three parts"), "{flaw}");
}
