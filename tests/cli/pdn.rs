//! Records are exported as PDN, and PDN is verified.

use crate::common::{Folder, SEED, referee, sample};
use serde_json::json;

/// A directory with the records of some matches.
fn played(matches: &str) -> Folder {
    let folder = Folder::new();
    let (random, greedy) = (sample("python/random_bot.py"), sample("python/greedy_bot.py"));
    let args = ["play", "checkers", &random, &greedy, "-n", matches, "--seed", SEED, "--record"];
    referee(args.into_iter().chain([folder.text("records").as_str()])).with_code(0);
    folder
}

#[test]
fn exported_records_verify_as_a_collection() {
    let folder = played("6");
    let (records, pdn) = (folder.text("records"), folder.text("games.pdn"));
    let printed = referee(["export", &records, "--format", "pdn"]).done().stdout;
    assert_eq!(referee(["export", &records, "--format", "pdn", "-o", &pdn]).done().stdout, "");
    assert_eq!(folder.read("games.pdn"), printed);
    for part in ["[Round \"m6\"]", "[Black \"random\"]", "[GameType \"21,B,8,8,N1,0\"]", "\n1. "] {
        assert!(printed.contains(part), "{part} is missing in:\n{printed}");
    }
    let verified = referee(["verify", &pdn]).done().stdout;
    assert!(verified.starts_with(&format!("{pdn}: ok; 6 games, ")), "{verified}");
    let summary = referee(["verify", &pdn, &records, "--json"]).done().one("summary");
    assert_eq!(
        (&summary["records"], &summary["games"], &summary["differing"]),
        (&json!(6), &json!(6), &json!(0))
    );
}

#[test]
fn an_export_has_the_moves_and_results_of_the_records() {
    let folder = played("2");
    for name in ["m1", "m2"] {
        let record = folder.record(&format!("records/{name}.jsonl"));
        let pdn = referee(["export", &folder.text(&format!("records/{name}.jsonl")), "--format", "pdn"])
            .done()
            .stdout;
        let result = crate::common::the("result", &record);
        let score = match (result["ranks"][0].as_u64(), result["ranks"][1].as_u64()) {
            (Some(1), Some(2)) => "1-0",
            (Some(2), Some(1)) => "0-1",
            _ => "1/2-1/2",
        };
        assert!(pdn.contains(&format!("[Result \"{score}\"]")), "{pdn}");
        let (_, moves) = pdn.split_once("\n\n").unwrap();
        let mut words: Vec<&str> = moves.split_whitespace().filter(|word| !word.ends_with('.')).collect();
        assert_eq!(words.pop(), Some(score));
        let recorded = record.iter().filter_map(|line| line["event"]["move"].as_str());
        let ends = |text: &str| {
            let squares: Vec<String> = text.split(['-', 'x']).map(str::to_owned).collect();
            (squares[0].clone(), squares[squares.len() - 1].clone())
        };
        assert!(recorded.map(ends).eq(words.into_iter().map(ends)), "{pdn}");
    }
}

#[test]
fn an_export_includes_the_moves_of_openings() {
    let folder = Folder::new();
    let bot = sample("python/greedy_bot.py");
    let records = folder.text("records");
    let args = ["play", "checkers", &bot, &bot, "--opening-plies", "5", "--seed", SEED, "--record", &records];
    referee(args).with_code(0);
    let pdn = folder.write("games.pdn", referee(["export", &records, "--format", "pdn"]).done().stdout);
    let record = folder.record("records/m1.jsonl");
    let plies = record.iter().filter(|line| line["event"]["kind"] == "move").count();
    assert_eq!(referee(["verify", &pdn, "--json"]).done().one("collection")["plies"], plies);
}

#[test]
fn an_invalid_record_is_rejected_and_the_others_are_exported() {
    let folder = played("2");
    let forged = folder.read("records/m1.jsonl").replacen("\"took_us\":", "\"took_us\":9", 1);
    folder.write("records/m1.jsonl", forged);
    let ended = referee(["export", &folder.text("records"), "--format", "pdn"]).with_code(1);
    let ended = ended.says(&["m1.jsonl: line ", "changed after it was sealed"]);
    assert!(!ended.stdout.contains("[Round \"m1\"]") && ended.stdout.contains("[Round \"m2\"]"));
}

#[test]
fn a_game_without_pdn_is_rejected() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    let records = folder.text("records");
    referee(["play", "jeex", &bot, &bot, "--set", "turn_limit=4", "--record", &records]).with_code(0);
    referee(["export", &records, "--format", "pdn"])
        .with_code(2)
        .says(&["m1.jsonl: jeex has no PDN notation"]);
}

#[test]
fn an_export_overwrites_nothing_and_needs_a_notation() {
    let folder = Folder::new();
    let taken = folder.write("taken.pdn", "mine");
    let empty = folder.write("m1.jsonl", "");
    referee(["export", &empty, "--format", "pdn", "-o", &taken])
        .with_code(2)
        .says(&["taken.pdn", "name a new file"]);
    assert_eq!(folder.read("taken.pdn"), "mine");
    referee(["export", &empty]).with_code(2).says(&["--format"]);
}

const WRONG: &str = "[Event \"first\"]
1. 11-15 23-19 2. 8-12

[Event \"second\"]
[GameType \"20\"]
1. 32-28 *

[Event \"third\"]
[Result \"1-0\"]
1. 11-15 0-1
";

#[test]
fn errors_are_reported_with_file_game_ply_and_line() {
    let folder = Folder::new();
    let file = folder.write("wild.pdn", WRONG);
    let output = referee(["verify", &file]).with_code(1).stdout;
    let expected = [
        "game 1, ply 3, line 2: `8-12` is not legal for Black, who may play 10-14, 12-16, 15-18, 7-11, 8-11, 9-13, 9-14",
        "skipped: game 2, line 5: game type 20; 21 is English draughts",
        "game 3, ply 1, line 10: the moves end with 0-1 (White won), but the Result tag says 1-0 (Black won)",
        "2 differ; 3 games, 3 plies, 1 skipped",
    ];
    assert_eq!(output, expected.map(|line| format!("{file}: {line}\n")).concat());
}

#[test]
fn errors_are_reported_as_json_objects() {
    let folder = Folder::new();
    let file = folder.write("wild.pdn", WRONG);
    let ended = referee(["verify", &file, "--json"]).with_code(1);
    let flaws = ended.all("flaw");
    let places: Vec<_> = flaws.iter().map(|flaw| json!([flaw["game"], flaw["ply"], flaw["line"]])).collect();
    assert_eq!(places, [json!([1, 3, 2]), json!([3, 1, 10])]);
    assert!(flaws.iter().all(|flaw| flaw["file"] == json!(file) && flaw["what"].is_string()));
    assert_eq!(ended.one("skipped")["game"], 2);
    let summary = ended.one("summary");
    let counts =
        ["records", "games", "plies", "differing", "skipped", "remarks"].map(|key| summary[key].as_u64());
    assert_eq!(counts, [0, 3, 3, 2, 1, 0].map(Some));
}

#[test]
fn a_collection_is_recognised_by_name_or_contents() {
    let folder = Folder::new();
    for (name, text) in
        [("a.pdn", "{a comment} 1. 11-15"), ("B.PDN", "1. 11-15"), ("c.txt", "[A \"b\"] 11-15")]
    {
        let file = folder.write(name, text);
        assert_eq!(referee(["verify", &file]).done().stdout, format!("{file}: ok; 1 game, 1 ply\n"));
    }
    let file = folder.write("d.txt", "{}");
    assert!(referee(["verify", &file]).with_code(1).stdout.contains("a record begins with"));
    let file = folder.write("e.jsonl", "11-15");
    assert!(referee(["verify", &file]).with_code(1).stdout.contains("a record begins with"));
}

#[test]
fn lines_that_end_with_cr_alone_hide_nothing() {
    let folder = Folder::new();
    let text = "[Event \"a\"]\r; a comment\r1. 11-15 *\r\r[Event \"b\"]\r1. 11-15 23-22 *\r";
    let file = folder.write("mac.pdn", text);
    let output = referee(["verify", &file]).with_code(1).stdout;
    assert!(output.contains("game 2, ply 2, line 6: `23-22` is not legal"), "{output}");
    assert!(output.contains("1 differ; 2 games"), "{output}");
}

#[test]
fn a_collection_without_games_fails() {
    let folder = Folder::new();
    let file = folder.write("a.pdn", "\n");
    let output = referee(["verify", &file]).with_code(1).stdout;
    assert!(output.contains("this PDN file contains no games"), "{output}");
}

#[test]
fn remarks_are_counted_and_rejected_by_strict() {
    let folder = Folder::new();
    let pdn = folder.text("found.pdn");
    std::fs::write(&pdn, "[Event \"a\"]\n1. 11x15 23-19 2. 8x11 *\n[Event \"b\"]\n1. 11-15 *\n").unwrap();
    assert_eq!(referee(["verify", &pdn]).done().stdout, format!("{pdn}: ok; 2 games, 4 plies, 2 remarks\n"));
    let output = referee(["verify", &pdn, "--json"]).done().one("collection");
    assert_eq!((&output["remarks"], &output["ok"]), (&json!(2), &json!(true)));
    let refused = referee(["verify", &pdn, "--strict"]).with_code(1).stdout;
    let flaw = "game 1, ply 1, line 2: `11x15` is a step, which is written with `-`";
    assert!(refused.starts_with(&format!("{pdn}: {flaw}\n{pdn}: 1 differ;")), "{refused}");
}
