//! Reports of tournaments: standings, reports in every format, matches.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::common::cup::{EVIL, LOSS, WIN, cells, create, cup, forfeited, output, played, row};
use crate::common::{Folder, browser, referee};
use quick_xml::events::Event;
use referee::game::Seating;
use referee::referee::Faults;
use referee::stats::schedule::MatchId;
use referee::store::MatchRow;
use serde_json::{Value, json};

#[test]
fn standings_separate_wins_by_play_and_by_fault() {
    let text = output(&cup(), &["standings"]);
    assert!(text.starts_with("Cup of <2026>: checkers (rules 1), 2 seats, 5 matches in 3 sets\n"), "{text}");
    assert_eq!(cells(&text, "ada")[..8], ["1", "ada", "4", "4", "4-0-0", "0-0-0", "0", "2"]);
    assert_eq!(cells(&text, "bob")[..7], ["2", "bob", "1", "3", "0-0-2", "1-0-0", "0"]);
    assert_eq!(cells(&text, EVIL)[..7], ["3", EVIL, "0", "3", "0-0-2", "0-0-1", "1"]);
    assert!(text.contains("side 0 has an advantage of "), "{text}");
}

#[test]
fn standings_in_json_have_the_same_numbers() {
    let standings: Value = serde_json::from_str(&output(&cup(), &["standings", "--json"])).unwrap();
    assert_eq!((&standings["matches"], &standings["sets"]), (&json!(5), &json!(3)));
    let bob = &standings["entrants"][1];
    assert_eq!((&bob["name"], &bob["points"], &bob["place"]), (&json!("bob"), &json!(1.0), &json!(2)));
    assert_eq!(bob["by_fault"], json!({ "wins": 1, "draws": 0, "losses": 0 }));
    let elo: Vec<f64> = standings["entrants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entrant| {
            let [low, value, high] =
                ["low", "value", "high"].map(|key| entrant["elo"][key].as_f64().unwrap());
            assert!(low < value && value < high, "{entrant}");
            value
        })
        .collect();
    assert!(elo.is_sorted_by(|one, other| one > other), "{elo:?}");
}

/// Forfeits of one entrant raise the ratings of those that met it.
#[test]
fn ratings_are_shown_with_and_without_matches_that_fault_decided() {
    let folder = Folder::new();
    let mut db = create(&folder, Seating::new(2, 2), "game = 'checkers'", &["ada", "bob"]);
    // Each has won three by play, and Bob has forfeited two.
    for number in 1..=8 {
        let lineup = if matches!(number, 1 | 4 | 5 | 8) { [0, 1] } else { [1, 0] };
        let played = row(number, lineup, if matches!(number, 3 | 4 | 7) { LOSS } else { WIN });
        let is_forfeited = number == 5 || number == 8;
        db.add_matches(&[if is_forfeited { forfeited(played, "no_legal_move") } else { played }]).unwrap();
    }
    let standings: Value = serde_json::from_str(&output(&folder, &["standings", "--json"])).unwrap();
    let ada = &standings["entrants"][0];
    assert!(ada["elo"]["value"].as_f64() > Some(20.0), "{ada}");
    assert!(ada["elo_without_forfeits"]["value"].as_f64().is_some_and(|elo| elo.abs() < 1.0), "{ada}");
    let text = output(&folder, &["report"]);
    assert!(text.contains("Elo without forfeits"), "{text}");
    assert!(!output(&played("python/random_bot.py", "2"), &["report"]).contains("Elo without forfeits"));
}

#[test]
fn three_teams_share_points_and_are_listed_during_the_tournament() {
    let folder = Folder::new();
    let mut db = create(&folder, Seating::new(6, 3), "game = 'keezen'\nseats = 6", &["ada", "bob", "eve"]);
    let lineup = vec![0, 1, 2, 0, 1, 2];
    db.add_matches(&[MatchRow {
        lineup,
        ranks: Some(vec![1, 2, 3, 1, 2, 3]),
        scores: Some(vec![1.0, 0.5, 0.0, 1.0, 0.5, 0.0]),
        faults: vec![Faults::default(); 6],
        cpu_ms: vec![None; 6],
        ..row(1, [0, 1], WIN)
    }])
    .unwrap();
    let text = output(&folder, &["report"]);
    for (name, cells_of_name) in [
        ("ada", ["1", "ada", "1", "1", "1-0-0", "0-0-0"]),
        ("bob", ["2", "bob", "0.5", "1", "0-0-1", "0-0-0"]),
        ("eve", ["3", "eve", "0", "1", "0-0-1", "0-0-0"]),
    ] {
        assert_eq!(cells(&text, name)[..6], cells_of_name);
    }
    let cross = text.split_once("Cross table\n").unwrap().1;
    assert_eq!(cells(cross, "bob"), ["2", "bob", "0/0.5", "-", "0.5/0.5"]);
    assert!(text.contains("side 1 has an advantage of ") && text.contains(" Elo over side 2\n"), "{text}");
    drop(db);
}

#[test]
fn every_format_lists_entrants_time_result_and_record_of_matches() {
    let folder = cup();
    let text = output(&folder, &["report"]);
    let list = text.split_once("Matches\n").unwrap().1;
    for (id, row) in [
        ("m1 ", ["m1", "2026-11-22 18:30", "ada - bob", "1-0", "no pieces left", "m1.jsonl"]),
        ("m2 ", ["m2", "2026-11-22 18:31", "bob - ada", "0-1", "no pieces left", "m2.jsonl"]),
        (
            "m4.2 ",
            ["m4.2", "2026-11-22 18:33", &format!("ada - {EVIL}"), "1-0", "no pieces left", "m4.2.jsonl"],
        ),
    ] {
        assert_eq!(cells(list, id)[..6], row);
    }
    assert_eq!(cells(list, "m4 "), ["m4", &format!("ada - {EVIL}"), "cut off", "cut off"]);
    let report: Value = serde_json::from_str(&output(&folder, &["report", "--format", "json"])).unwrap();
    let matches = report["attempts"].as_array().unwrap();
    assert_eq!(matches.len(), 7);
    let of = |listed: &Value| {
        json!([listed["id"], listed["began_at"], listed["seats"], listed["result"], listed["record"]])
    };
    let first = json!(["m1", "2026-11-22T18:30:00Z", ["ada", "bob"], "1-0", "m1.jsonl"]);
    assert_eq!(of(&matches[0]), first);
    let exported: Value =
        serde_json::from_str(output(&folder, &["export", "--format", "json"]).lines().next().unwrap())
            .unwrap();
    assert_eq!((&exported["type"], of(&exported)), (&json!("match"), first));
    let csv = output(&folder, &["export", "--format", "csv"]);
    assert!(csv.contains("\nm1,s1,,2026-11-22T18:30:00Z,1-0,false,,rules,no_pieces,40,"), "{csv}");
    let markdown = output(&folder, &["report", "--format", "markdown"]);
    assert!(markdown.contains("| m1 | 2026-11-22 18:30 | ada - bob | 1-0 | no pieces left |"), "{markdown}");
    let html = elements(&output(&folder, &["report", "--format", "html"]), "td");
    assert!(html.windows(4).any(|row| row == ["m1", "2026-11-22 18:30", "ada - bob", "1-0"]), "{html:?}");
    let xml = output(&folder, &["report", "--format", "junit"]);
    assert!(xml.contains("m1  2026-11-22 18:30  ada - bob  1-0  no pieces left  m1.jsonl"), "{xml}");
}

#[test]
fn rounds_of_a_swiss_tournament_are_listed_with_byes() {
    let folder = Folder::new();
    let head = "game = 'checkers'\n[format]\nkind = 'swiss'\nrounds = 2";
    let mut db = create(&folder, Seating::new(2, 2), head, &["ada", "bob", "eve"]);
    db.add_matches(&[row(1, [0, 1], WIN), row(2, [1, 0], [1, 1])]).unwrap();
    let report: Value = serde_json::from_str(&output(&folder, &["report", "--format", "json"])).unwrap();
    let first = &report["rounds"][0];
    assert_eq!((&first["round"], &first["pairs"][0]["entrants"]), (&json!(1), &json!(["ada", "bob"])));
    let pair = &first["pairs"][0];
    assert_eq!((&pair["points"], &pair["matches"]), (&json!([1.5, 0.5]), &json!(["m1", "m2"])));
    assert_eq!(
        (&first["pairs"][1]["entrants"], &first["pairs"][1]["is_bye"]),
        (&json!(["eve", null]), &json!(true))
    );
    assert_eq!((&report["attempts"][0]["round"], report["rounds"].as_array().unwrap().len()), (&json!(1), 2));
    let text = output(&folder, &["report"]);
    let rounds = text.split_once("Rounds\n").unwrap().1;
    assert_eq!(cells(rounds, "ada - bob"), ["1", "ada - bob", "1.5 - 0.5", "m1 m2"]);
    assert!(rounds.contains("eve - bye") && !text.contains("Bracket"), "{text}");
}

#[test]
fn a_knockout_is_drawn_as_a_bracket() {
    let folder = Folder::new();
    let head = "game = 'checkers'\n[format]\nkind = 'knockout'\ntie_breaks = 0";
    let mut db = create(&folder, Seating::new(2, 2), head, &["ada", "bob", "eve"]);
    let text = output(&folder, &["report"]);
    let bracket = text.split_once("Bracket\n").unwrap().1.split_once("\n\n").unwrap().0;
    let before = "\
ada  ─┐
      ├─ada  ─┐
bye  ─┘       │
              ├─?
bob  ─┐       │
      ├─?    ─┘
eve  ─┘";
    assert_eq!(bracket, before);
    db.add_matches(&[row(1, [1, 2], WIN), row(2, [2, 1], LOSS)]).unwrap();
    db.add_matches(&[row(3, [0, 1], [1, 1]), row(4, [1, 0], WIN)]).unwrap();
    let text = output(&folder, &["report"]);
    let bracket = text.split_once("Bracket\n").unwrap().1.split_once("\n\n").unwrap().0;
    let after = "\
ada   ─┐
       ├─ada 0.5 ─┐
bye   ─┘          │
                  ├─bob
bob 2 ─┐          │
       ├─bob 1.5 ─┘
eve 0 ─┘";

    assert_eq!(bracket, after);
    assert_eq!(
        cells(text.split_once("Rounds\n").unwrap().1, "ada - bob"),
        ["2", "ada - bob", "0.5 - 1.5", "m3 m4", "bob"]
    );
    let markdown = output(&folder, &["report", "--format", "markdown"]);
    assert!(markdown.contains("    eve 0 ─┘\n"), "{markdown}");
    let html = output(&folder, &["report", "--format", "html"]);
    assert_eq!(elements(&html, "h3"), ["Semi-finals", "Final"]);
    assert!(html.contains("<p class=\"won\"><span>bob</span><span>1½</span></p>"), "{html}");
    let report: Value = serde_json::from_str(&output(&folder, &["report", "--format", "json"])).unwrap();
    assert_eq!(report["rounds"][1]["pairs"][0]["winner"], "bob");
}

#[test]
fn the_winner_of_a_knockout_comes_first_regardless_of_points() {
    let folder = Folder::new();
    let head = "game = 'checkers'\n[format]\nkind = 'knockout'\ntie_breaks = 0";
    let mut db = create(&folder, Seating::new(2, 2), head, &["ada", "bob", EVIL]);
    db.add_matches(&[row(1, [1, 2], WIN)]).unwrap();
    assert!(!output(&folder, &["standings"]).contains("won by"));
    db.add_matches(&[row(2, [2, 1], LOSS)]).unwrap();
    db.add_matches(&[row(3, [0, 1], [1, 1])]).unwrap();
    let standings = |folder: &Folder| -> Value {
        serde_json::from_str(&output(folder, &["standings", "--json"])).unwrap()
    };
    assert_eq!(standings(&folder)["champion"], Value::Null);
    // The final is drawn, so the higher seed wins, who had a bye in the first round.
    db.add_matches(&[row(4, [1, 0], [1, 1])]).unwrap();
    let standings = standings(&folder);
    assert_eq!((&standings["type"], &standings["champion"]), (&json!("standings"), &json!("ada")));
    let rows = standings["entrants"].as_array().unwrap().iter();
    let rows: Vec<Value> =
        rows.map(|row| json!([row["place"], row["name"], row["points"], row["out"]])).collect();
    assert_eq!(json!(rows), json!([[1, "ada", 1.0, null], [2, "bob", 3.0, 2], [3, EVIL, 0.0, 1]]));
    for form in [&["standings"][..], &["report"], &["report", "--format", "markdown"]] {
        let text = output(&folder, form);
        assert!(text.contains("4 matches in 2 sets, won by ada") && text.contains("round 2"), "{text}");
    }
    let html = output(&folder, &["report", "--format", "html"]);
    assert!(
        html.contains("<h1>ada won Cup of &lt;2026&gt;</h1>") && html.contains("out in round 2"),
        "{html}"
    );
    let report = output(&folder, &["report", "--format", "json"]);
    assert_eq!(report.matches("\"type\"").count(), 1, "{report}");
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["champion"], "ada");
}

/// The results of an entrant against another.
#[derive(serde::Deserialize)]
struct HeadToHead {
    matches: f64,
    score: f64,
    wins: u32,
    draws: u32,
    losses: u32,
    match_ids: Vec<String>,
}

#[test]
fn a_report_has_cross_table_ratings_faults_and_aborts() {
    let folder = cup();
    let text = output(&folder, &["report"]);
    for part in ["Standings", "Cross table", "Ratings: Elo with 95% intervals", "Weng-Lin", "Faults"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert!(
        text.contains("skillratings 0.29.2, +/- 1.96 of its own deviations, which is no 95% interval"),
        "{text}"
    );
    assert!(text.contains("\n1 attempt was aborted\n1 attempt was cut off\n1 match has no result"), "{text}");
    let json = output(&folder, &["report", "--format", "json"]);
    assert_eq!(output(&folder, &["report", "--format", "json"]), json, "another report of the same results");
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&report["aborted"], &report["cut_off"], &report["unfinished"]),
        (&json!(1), &json!(1), &json!(1))
    );
    let evil = &report["details"][2];
    assert_eq!((&evil["name"], &evil["interruptions"]), (&json!(EVIL), &json!(2)));
    assert_eq!((&evil["faults"], &evil["faulty"]), (&json!({ "timeout": 1 }), &json!(["m5"])));
    let cross = report["details"][0]["cross"].as_array().unwrap();
    let met = |at: usize| {
        let HeadToHead { matches, score, wins, draws, losses, match_ids } =
            serde_json::from_value(cross[at].clone()).unwrap();
        (matches, score, [wins, draws, losses], match_ids.join(" "))
    };
    assert_eq!(cross[0], Value::Null);
    assert_eq!(met(1), (2.0, 2.0, [2, 0, 0], "m1 m2".to_owned()));
    assert_eq!(met(2), (2.0, 2.0, [2, 0, 0], "m3 m4.2".to_owned()));
    let expected = cross[1]["expected"].as_f64().unwrap();
    assert!((1.0..2.0).contains(&expected), "ada is the stronger one: {expected}");
    let [ada, evil] = [0, 2].map(|at| report["details"][at]["weng_lin"]["value"].as_f64().unwrap());
    assert!(ada > evil);
}

#[test]
fn time_use_and_timeouts_come_from_the_records() {
    let folder = played("hostile/honest.py", "4");
    let report: Value = serde_json::from_str(&output(&folder, &["report", "--format", "json"])).unwrap();
    let records = (1..=4).flat_map(|number| folder.record(&format!("cup/records/m{number}.jsonl")));
    let answers: Vec<Value> = records.filter(|line| line["type"] == "answer").collect();
    let longest =
        answers.iter().map(|line| line["took_us"].as_u64().unwrap() - line["lag_us"].as_u64().unwrap());
    let times: Vec<&Value> =
        report["details"].as_array().unwrap().iter().map(|details| &details["time"]).collect();
    let sum: u64 = times.iter().map(|time| time["answers"].as_u64().unwrap()).sum();
    assert_eq!(sum, answers.len() as u64);
    let max = times.iter().map(|time| time["max_us"].as_u64().unwrap()).max().unwrap();
    let longest = longest.max().unwrap();
    assert!(max.abs_diff(longest) <= longest / 500, "{max} is not {longest}");
    for time in &times {
        let [p50, p99, max] = ["p50_us", "p99_us", "max_us"].map(|key| time[key].as_u64().unwrap());
        assert!(0 < p50 && p50 <= p99 && p99 <= max, "{time}");
    }
    assert!(report["lag"]["max_us"].is_u64() && report["unread"] == 0, "{report}");
    std::fs::remove_file(folder.path("cup/records/m2.jsonl")).unwrap();
    let text = output(&folder, &["report"]);
    assert!(text.contains("\n1 record could not be read: no times from there\n"), "{text}");
}

#[test]
fn corrupt_record_is_error_in_every_command_of_tournament() {
    let folder = played("hostile/honest.py", "2");
    let cup = folder.text("cup");
    let whole = folder.read("cup/records/m2.jsonl");
    let at = whole.lines().position(|line| line.starts_with("{\"type\":\"answer\"")).unwrap();
    for (corrupt, says) in [
        ("{\"type\":\"novelty\",\"at_us\":1}", "unknown type `novelty`"),
        ("{\"type\":\"answer\",\"at_us\":", "EOF while parsing"),
    ] {
        let mut lines: Vec<&str> = whole.lines().collect();
        lines[at] = corrupt;
        folder.write("cup/records/m2.jsonl", lines.join("\n") + "\n");
        let error = format!("cup/records/m2.jsonl: line {}: no line of a record: ", at + 1);
        let site = folder.text("site");
        for more in [&["--format", "json"][..], &["--format", "junit"], &["--site", &site]] {
            let ended = referee([&["tournament", "report", &cup], more].concat()).with_code(5);
            assert_eq!(ended.stdout, "");
            ended.says(&[&error, says]);
        }
        let ended = referee(["tournament", "verify", &cup]).with_code(1);
        assert!(
            ended.stdout.contains(&format!("line {}", at + 1)) && ended.stdout.contains(says),
            "{ended:?}"
        );
        referee(["tournament", "export", &cup, "--format", "pdn"])
            .with_code(1)
            .says(&["m2.jsonl: line ", says]);
    }
    let cut = whole.lines().filter(|line| !line.starts_with("{\"type\":\"seal\"")).collect::<Vec<_>>();
    folder.write("cup/records/m2.jsonl", cut.join("\n") + "\n");
    let ended = referee(["tournament", "report", &cup]).with_code(5);
    ended.says(&["cup/records/m2.jsonl: the record is cut off: it does not end with a seal"]);
}

#[test]
fn the_csv_of_a_report_has_one_row_per_entrant() {
    let text = output(&cup(), &["report", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!((rows[2]["entrant"].as_str(), rows[2]["faults"].as_str()), (EVIL, "timeout=1"));
    assert_eq!((rows[0]["play_wins"].as_str(), rows[1]["fault_wins"].as_str()), ("4", "1"));
    assert_eq!(rows[2]["time_outs"], "1");
}

#[test]
fn in_junit_only_entrants_with_faults_fail() {
    let xml = output(&cup(), &["report", "--format", "junit"]);
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    let cases: Vec<(&str, bool)> = report.test_suites[0]
        .test_cases
        .iter()
        .map(|case| {
            let is_success = matches!(case.status, quick_junit::TestCaseStatus::Success { .. });
            (case.name.as_str(), is_success)
        })
        .collect();
    assert_eq!(cases, [("ada", true), ("bob", true), (EVIL, false), ("matches", false)]);
    assert!(xml.contains("1 timeout in 3 matches, 1 lost by fault: m5"), "{xml}");
}

#[test]
fn unplayed_matches_have_no_result_unless_unnecessary() {
    // Of the best of 5 the third set is needed; the others may not be.
    for (best_of, unfinished) in [(3, 0), (5, 2)] {
        let folder = Folder::new();
        let head = format!("game = 'checkers'\n[format]\nkind = 'knockout'\nbest_of = {best_of}");
        let mut db = create(&folder, Seating::new(2, 2), &head, &["ada", "bob"]);
        for (number, lineup, ranks) in
            [(1, [0, 1], WIN), (2, [1, 0], LOSS), (3, [1, 0], LOSS), (4, [0, 1], WIN)]
        {
            db.add_matches(&[row(number, lineup, ranks)]).unwrap();
        }
        db.cut_off(MatchId { number: 5, attempt: 1 }, 3, &[0, 1]).unwrap();
        let report: Value = serde_json::from_str(&output(&folder, &["report", "--format", "json"])).unwrap();
        assert_eq!((&report["cut_off"], &report["unfinished"]), (&json!(1), &json!(unfinished)));
        let xml = output(&folder, &["report", "--format", "junit"]);
        assert_eq!(xml.contains(" no result yet"), unfinished > 0, "{xml}");
    }
}

#[test]
fn status_counts_future_rounds() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (format, title, numbers) in [
        ("kind = 'swiss'\nrounds = 5", "0 matches played, 40 missing", [40, 40]),
        ("kind = 'knockout'\nbest_of = 3", "0 matches played, at least 28 missing", [28, 84]),
    ] {
        let folder = Folder::new();
        drop(create(&folder, Seating::new(2, 2), &format!("game = 'checkers'\n[format]\n{format}"), &names));
        let dir = folder.text("cup");
        let text = referee(["tournament", "status", &dir]).done().stdout;
        assert!(text.contains(title), "{text}");
        let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
        assert_eq!(["missing", "missing_at_most"].map(|key| status[key].as_u64().unwrap()), numbers);
    }
}

#[test]
fn github_gets_a_summary_and_annotations() {
    let folder = cup();
    let summary = folder.write("summary.md", "before\n");
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.args(["tournament", "report", &folder.text("cup"), "--format", "json", "--github"]);
        command
    };
    let output = run().env("GITHUB_STEP_SUMMARY", &summary).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "annotations in the report");
    let annotations = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = annotations.lines().collect();
    let title = "Faults of <b>\"evil\" & 'co'%2C | %3A%3Aerror%3A%3A";
    assert_eq!(lines[0], format!("::error title={title}::1 timeout in 3 matches, 1 lost by fault: m5"));
    assert_eq!(lines[1], "::warning title=Cup of <2026>::1 match has no result yet");
    let text = folder.read("summary.md");
    assert!(text.starts_with("before\n## Cup of &lt;2026&gt;\n"), "{text}");
    assert!(text.contains("| 1 | ada | 4 | 4 | 4-0-0 | 0-0-0 | 0 |"), "{text}");
    assert!(!text.contains("<b>"), "{text}");
    let columns = |line: &&str| line.replace("\\|", "").matches('|').count();
    let table: Vec<&str> = text.lines().skip_while(|line| !line.starts_with('|')).collect();
    let table = table.split(|line| !line.starts_with('|')).next().unwrap();
    assert!(table.len() == 5 && table.iter().all(|line| columns(line) == columns(&table[0])), "{table:?}");
    let output = run().env_remove("GITHUB_STEP_SUMMARY").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("$GITHUB_STEP_SUMMARY is not set"));
}

/// The text of all elements with a name, in order; fails if the document is not well-formed. In HTML, `meta` has no end.
fn elements(document: &str, name: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(document);
    reader.config_mut().check_end_names = false;
    let mut texts = Vec::new();
    let mut open = Vec::new();
    let mut is_in = false;
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Start(start) if start.name().as_ref() != b"meta" => {
                open.push(start.name().as_ref().to_vec());
            }
            Event::End(end) => assert_eq!(open.pop().as_deref(), Some(end.name().as_ref())),
            Event::Eof => assert!(open.is_empty(), "{open:?}"),
            _ => {}
        }
        match event {
            Event::Start(start) if start.name().as_ref() == name.as_bytes() => {
                texts.push(String::new());
                is_in = true;
            }
            Event::End(end) if end.name().as_ref() == name.as_bytes() => is_in = false,
            Event::Text(text) if is_in => texts.last_mut().unwrap().push_str(&text.decode().unwrap()),
            Event::GeneralRef(entity) if is_in => {
                let text = match entity.decode().unwrap().as_ref() {
                    "lt" => "<",
                    "gt" => ">",
                    "amp" => "&",
                    "quot" => "\"",
                    "#39" => "'",
                    other => panic!("&{other};"),
                };
                texts.last_mut().unwrap().push_str(text);
            }
            Event::Eof => return texts,
            _ => {}
        }
    }
}

#[test]
fn the_html_report_is_well_formed_and_self_contained() {
    let html = output(&cup(), &["report", "--format", "html"]);
    assert_eq!(elements(&html, "h1"), ["ada leads, 3 points ahead of bob"]);
    let cells = elements(&html, "td");
    let ada = cells.iter().position(|cell| cell == "ada").unwrap();
    assert_eq!(cells[ada - 1..ada + 4], ["1", "ada", "4 of 4", "", "4 / 0 / 0"]);
    assert!(cells.iter().any(|cell| cell == EVIL));
    assert_eq!(html.matches("<circle ").count(), 3, "a dot an entrant");
    assert!(!html.contains("<b>\""), "a name became an element");
    for outside in ["<script", "http:", "https:", "src=", "href=", "url(", "@import"] {
        assert!(!html.contains(outside), "{outside} in the report");
    }
}

fn browse(browser: &str, folder: &Folder, options: &[&str], page: &Path) -> String {
    let profile = format!("--user-data-dir={}", folder.text("profile"));
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", &profile])
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_browser_shows_the_html_report() {
    let browser = browser::path();
    let folder = cup();
    let page = folder.text("report.html");
    assert_eq!(output(&folder, &["report", "--format", "html", "-o", &page]), "");
    let page = Path::new(&page);
    let dom = browse(&browser, &folder, &["--dump-dom"], page);
    assert!(dom.contains("<td class=\"name\">ada</td>"), "{dom}");
    assert!(dom.contains("&lt;b&gt;\"evil\" &amp; 'co', | ::error::</td>"), "{dom}");
    assert_eq!(dom.matches("<section id=").count(), 8, "{dom}");
    let picture = folder.text("report.png");
    browse(&browser, &folder, &["--window-size=1200,1500", &format!("--screenshot={picture}")], page);
    let size = std::fs::metadata(&picture).unwrap().len();
    assert!(size > 20_000, "an empty page: {size} bytes");
}

#[test]
fn only_tournament_directories_are_read() {
    let folder = Folder::new();
    let here = folder.text(".");
    for what in [["standings"].as_slice(), &["report"], &["export", "--format", "csv"]] {
        let args = ["tournament", what[0], &here].into_iter().chain(what[1..].iter().copied());
        referee(args).with_code(2).says(&["is not the directory of a tournament", "results.sqlite"]);
    }
    assert!(!folder.path("results.sqlite").exists());
}

#[test]
fn control_characters_in_names_are_escaped_in_every_text() {
    let folder = Folder::new();
    let names = ["esc\u{1b}]0;title\u{7}", "plain"];
    let mut db = create(&folder, Seating::new(2, 2), "game = 'checkers'", &names);
    db.add_matches(&[row(1, [0, 1], [1, 2])]).unwrap();
    drop(db);
    let cup = folder.text("cup");
    let report = |form: &str| referee(["tournament", "report", &cup, "--format", form]).with_code(0).stdout;
    let export = |form: &str| referee(["tournament", "export", &cup, "--format", form]).with_code(0).stdout;
    let output = |subcommand: &str| referee(["tournament", subcommand, &cup]).with_code(0).stdout;
    let texts = [output("status"), output("standings"), report("table"), report("csv"), export("csv")];
    for text in texts {
        assert!(text.contains("esc\\u{1b}]0;title\\u{7}"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text}");
    }
    for text in [report("markdown"), report("html"), report("junit"), report("json"), export("json")] {
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text}");
    }
    let file = folder.text("report.csv");
    referee(["tournament", "report", &cup, "--format", "csv", "-o", &file]).with_code(0);
    assert!(!folder.read("report.csv").contains('\u{1b}'));
    let left = referee(["tournament", "withdraw", &cup, names[0]]).with_code(0).stdout;
    assert!(left.starts_with("esc\\u{1b}]0;title\\u{7} has withdrawn: "), "{left}");
}
