//! `referee openings`: books of openings that a bot calls balanced.

use std::collections::BTreeSet;

use ::referee::game::test_length::long_or;
use serde_json::{Value, json};

use crate::common::{Folder, ROOT, Referee, SEED, Signal, referee};

/// A bot that plays a legal move in the middle, since the first one may end a match of Jeex and the last one one of Go, and states the
/// score of this Python expression of its turn `t`.
fn judge(folder: &Folder, score: &str) -> String {
    let script =
        format!("play(turn=lambda t: move(t, t['legal'][len(t['legal']) // 2], info={{'score': {score}}}))");
    folder.bot("judge", &script)
}

/// Differs from position to position, by the same amount for both sides.
const VARIED: &str = "sum(map(ord, t['view']['fen'].split()[0].lower())) % 200 - 100";

/// The words of `referee openings` for a book of this size.
fn make<'a>(game: &'a str, bot: &'a str, count: &'a str, file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = ["openings", game, "--bot", bot, "-n", count, "--balance", "40", "--seed", SEED, "-o", file];
    [&words, more].concat()
}

#[test]
fn book_of_chess_is_balanced_and_same_each_time() {
    let folder = Folder::new();
    let bot = judge(&folder, VARIED);
    let (one, two) = (folder.text("one.epd"), folder.text("two.epd"));
    let made = referee(make("chess", &bot, "12", &one, &["--plies", "5", "--json"])).done();
    referee(make("chess", &bot, "12", &two, &["--plies", "5", "--jobs", "2"])).done();
    assert_eq!(folder.read("one.epd"), folder.read("two.epd"));
    let text = folder.read("one.epd");
    let positions: BTreeSet<&str> =
        text.lines().map(|line| line.split_once(" ce ").expect("a score").0).collect();
    assert_eq!((text.lines().count(), positions.len()), (12, 12), "{text}");
    let openings = made.all("opening");
    for (opening, line) in openings.iter().zip(text.lines()) {
        let scores = opening["scores"].as_array().expect("scores");
        assert!(
            scores.iter().all(|score| score.as_f64().is_some_and(|score| score.abs() <= 40.0)),
            "{opening}"
        );
        assert!(
            line.ends_with(&format!(" ce {};", scores[0].as_f64().expect("a number"))),
            "{line} {opening}"
        );
        assert_eq!(opening["moves"].as_array().map(Vec::len), Some(5));
    }
    let summary = made.one("openings");
    let number = |key: &str| summary[key].as_u64().expect("a number");
    assert_eq!(number("tried"), 12 + number("repeated") + number("unbalanced") + number("over"), "{summary}");
    assert!(number("unbalanced") > 0, "{summary}");

    // The book is one that matches begin with.
    let args = ["play", "chess", &bot, &bot, "-n", "2", "--mirror", "--openings", &one, "--max-moves", "2"];
    referee(args).done();
    // It is not overwritten.
    referee(make("chess", &bot, "1", &one, &[])).with_code(2).says(&["one.epd", "File exists"]);
}

#[test]
fn books_of_other_games_have_their_own_formats() {
    let folder = Folder::new();
    let level = judge(&folder, "0");
    let [four, hex, go, shogi] =
        ["connect_four", "hex", "go", "shogi"].map(|game| format!("{ROOT}/examples/games/{game}"));
    // The modules of Go and Shogi take their time to compile.
    let games = [
        ("checkers", "book.pdn"),
        ("chess", "book.pgn"),
        ("jeex", "book.txt"),
        (&four, "four.txt"),
        (&hex, "hex.txt"),
        (&go, "go.txt"),
        (&shogi, "shogi.txt"),
    ];
    for (game, file) in &games[..long_or(7, 5)] {
        let path = folder.text(file);
        let made = referee(make(game, &level, "4", &path, &["--plies", "3", "--json"])).done();
        assert_eq!(made.one("openings")["openings"], 4, "{game}");
        let (bot, kept) = (folder.plain_bot("plain"), file.replace('.', "_"));
        let records = folder.text(&kept);
        let more = ["--openings", &path, "-n", "4", "--record", &records, "--json"];
        let ended = referee([&["play", game, &bot, &bot, "--max-moves", "2"][..], &more].concat()).done();
        assert_eq!(ended.all("match").len(), 4);
        let first: Vec<Value> = folder.record(&format!("{kept}/m1.jsonl"));
        assert_eq!(first[0]["opening"], made.all("opening")[0]["moves"], "{game}");
    }
}

#[test]
fn a_position_is_in_the_book_once() {
    let folder = Folder::new();
    let bot = judge(&folder, "0");
    // Checkers has seven first moves.
    let ended = referee(make(
        "checkers",
        &bot,
        "8",
        &folder.text("book.fen"),
        &["--plies", "1", "--tries", "60", "--json"],
    ));
    let summary = ended.with_code(1).one("openings");
    let expected = json!({"openings": 7, "tried": 60, "repeated": 53, "unbalanced": 0, "over": 0});
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&summary[key], value, "{summary}");
    }
}

#[test]
fn a_bot_that_does_not_judge_is_an_error() {
    let folder = Folder::new();
    let silent = folder.plain_bot("silent");
    referee(make("chess", &silent, "1", &folder.text("a.epd"), &[]))
        .with_code(5)
        .says(&["the bot does not judge"]);
    let faulty = folder.bot("faulty", "play(turn=lambda t: move(t, 'x'))");
    let ended = referee(make("chess", &faulty, "1", &folder.text("b.epd"), &[])).with_code(5);
    ended.says(&["the bot failed", "illegal"]);
    let wrong = referee(make("chess", &silent, "1", &folder.text("a.pdn"), &[])).with_code(2);
    wrong.says(&["have the extension .pgn or .epd or .fen"]);
    referee(make("saxum", &silent, "1", &folder.text("a.txt"), &[]))
        .with_code(2)
        .says(&["saxum has no openings"]);
}

#[test]
fn an_interrupted_book_keeps_what_it_has() {
    let folder = Folder::new();
    let bot = judge(&folder, "0");
    let file = folder.text("book.epd");
    let mut running = Referee::start(make("chess", &bot, "100000", &file, &["--json"]));
    let first = running.receive_type("opening");
    running.signal(Signal::INT);
    let ended = running.end().with_code(130);
    let summary = ended.one("openings");
    let lines = folder.read("book.epd").lines().count() as u64;
    assert!(first["number"] == 1 && summary["openings"].as_u64() == Some(lines) && lines > 0, "{summary}");
}

#[test]
fn a_regression_says_that_a_book_is_short() {
    let folder = Folder::new();
    let (new, base) = (folder.plain_bot("new"), folder.bot("base", "play()  # the other one"));
    let book = folder.write("book.txt", "place b3 E\nplace a1 N\n");
    let args = ["regress", "jeex", "--new", &new, "--base", &base, "--openings", &book, "--clock", "none"];
    let short = ["--set", "turn_limit=4", "--seed", SEED];
    let fixed = referee([&args[..], &short, &["--fixed", "3"]].concat());
    fixed.says(&["note: 2 openings for the 3 sets that the run takes"]);
    let tested = referee([&args[..], &short, &["--max-sets", "2000"]].concat());
    tested.says(&["note: 2 openings for the ", " sets that a test takes on average"]);
    let enough = referee([&args[..], &short, &["--fixed", "2"]].concat());
    assert!(!enough.stderr.contains("note: 2 openings"), "{}", enough.stderr);
}
