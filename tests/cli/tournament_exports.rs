//! Exports of tournaments: rows, objects, PDN and text.

use std::collections::BTreeMap;

use crate::common::cup::{EVIL, cup, output, played};
use crate::common::referee;
use serde_json::{Value, json};

#[test]
fn exports_have_a_row_or_object_per_attempt() {
    let folder = cup();
    let text = output(&folder, &["export", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let ids: Vec<&str> = rows.iter().map(|row| row["match"].as_str()).collect();
    assert_eq!(ids, ["m1", "m2", "m3", "m4", "m4.2", "m5", "m6"]);
    assert_eq!((rows[3]["ended_by"].as_str(), rows[3]["rank_0"].as_str()), ("cut_off", ""));
    let lost = &rows[5];
    assert_eq!((lost["entrant_1"].as_str(), lost["rank_1"].as_str()), (EVIL, "2"));
    assert_eq!((lost["faults_1"].as_str(), lost["forfeited_1"].as_str()), ("timeout=1", "true"));
    let text = output(&folder, &["export", "--format", "json"]);
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 7);
    assert_eq!((&objects[5]["seats"], &objects[5]["forfeited"]), (&json!(["bob", EVIL]), &json!([1])));
}

#[test]
fn the_pdn_of_a_tournament_verifies() {
    let folder = played("python/random_bot.py", "4");
    let pdn = folder.text("games.pdn");
    assert_eq!(output(&folder, &["export", "--format", "pdn", "-o", &pdn]), "");
    for number in 1..=4 {
        let tags = format!(
            "[Event \"Cup of <2026>\"]\n[Site \"records/m{number}.jsonl\"]\n[Date \"2026.11.22\"]\n[Round \"{number}\"]\n"
        );
        for text in [folder.read("games.pdn"), output(&folder, &["export", "--format", "text"])] {
            assert!(text.contains(&tags), "{text}");
        }
    }
    let verified = referee(["verify", &pdn]).done().stdout;
    assert!(verified.starts_with(&format!("{pdn}: ok; 4 games, ")), "{verified}");
    let cup = folder.text("cup");
    let args = ["tournament", "export", &cup, "--format", "csv", "-o", &pdn];
    referee(args).with_code(2).says(&["games.pdn", "name a new file, or overwrite it with --force"]);
    referee(args.into_iter().chain(["--force"])).done();
    assert!(folder.read("games.pdn").starts_with("match,set,round,began_at,result,"));
    referee(["tournament", "report", &cup, "--force"]).with_code(2).says(&["--output"]);
}

#[test]
fn a_line_break_in_a_name_forges_no_tag() {
    let folder = played("python/random_bot.py", "2");
    let db = rusqlite::Connection::open(folder.path("cup/results.sqlite")).unwrap();
    let breaks = "Cup\n[Ranks \"1-2\"]\r[Seat0 \"me\"]\u{2028}[Site \"x\"]\u{85}end";
    assert_eq!(db.execute("UPDATE tournament SET value = ?1 WHERE key = 'name'", [breaks]).unwrap(), 1);
    drop(db);
    let tag = "[Event \"Cup [Ranks \\\"1-2\\\"] [Seat0 \\\"me\\\"] [Site \\\"x\\\"] end\"]\n";
    for form in ["text", "pdn"] {
        let text = output(&folder, &["export", "--format", form]);
        assert_eq!(text.matches(tag).count(), 2, "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("[Site ")).count(), 2, "{text}");
    }
}

#[test]
fn unsealed_and_missing_records_are_omitted_from_exports() {
    let folder = played("python/random_bot.py", "4");
    let record = |name: &str| folder.path(&format!("cup/records/{name}"));
    std::fs::rename(record("m1.jsonl"), record("m1.unsealed")).unwrap();
    let cup = folder.text("cup");
    for (form, tag) in [("text", "[Match \"m"), ("pdn", "[Event ")] {
        let ended = referee(["tournament", "export", &cup, "--format", form]).with_code(0);
        assert_eq!(ended.stdout.matches(tag).count(), 3, "{ended:?}");
        assert!(!ended.stdout.contains("[Match \"m1\"]"), "{ended:?}");
        let why = "1 match is left out: their records are sealed when no match of the deal is left to play\n";
        assert_eq!(ended.stderr, why);
    }
    let unread = || {
        let report: Value = serde_json::from_str(&output(&folder, &["report", "--format", "json"])).unwrap();
        report["unread"].clone()
    };
    assert_eq!(unread(), 0);
    std::fs::remove_file(record("m1.unsealed")).unwrap();
    let ended = referee(["tournament", "export", &cup, "--format", "text"]).with_code(0);
    ended.says(&["1 match is left out: their records are missing"]);
    assert_eq!(unread(), 1);
}

#[test]
fn the_text_export_has_the_moves_of_every_match() {
    let folder = played("python/random_bot.py", "2");
    let text = output(&folder, &["export", "--format", "text"]);
    let record = folder.record("cup/records/m2.jsonl");
    let moves = record.iter().filter_map(|line| line["event"]["move"].as_str());
    let numbered: Vec<String> = (1..).zip(moves).map(|(number, text)| format!("{number}. {text}")).collect();
    let (_, second) = text.split_once("[Match \"m2\"]\n").unwrap();
    let words: Vec<&str> = second.split_once("\n\n").unwrap().1.split_whitespace().collect();
    let ranks = &crate::common::the("result", &record)["ranks"];
    assert_eq!(words.join(" "), format!("{} {}-{}", numbered.join(" "), ranks[0], ranks[1]));
    assert!(text.contains("[Seat1 \"random\"]\n") && text.contains("[Termination \"rules ("), "{text}");
}

#[test]
fn an_invalid_record_is_rejected_and_the_others_are_exported() {
    let folder = played("python/random_bot.py", "2");
    let forged = folder.read("cup/records/m1.jsonl").replacen("\"took_us\":", "\"took_us\":9", 1);
    folder.write("cup/records/m1.jsonl", forged);
    let cup = folder.text("cup");
    let ended = referee(["tournament", "export", &cup, "--format", "text"]).with_code(1);
    let ended = ended.says(&["m1.jsonl: line ", "changed after it was sealed"]);
    assert!(!ended.stdout.contains("[Match \"m1\"]") && ended.stdout.contains("[Match \"m2\"]"));
}
