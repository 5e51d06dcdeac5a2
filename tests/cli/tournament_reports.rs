//! Reports of tournaments: standings, reports in every format, matches.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use crate::common::{Folder, SEED, referee, sample};
use quick_xml::events::Event;
use referee::core::{Seat, SeatSet, Seating};
use referee::store::{About, EntrantRow, MatchRow, Results};
use referee::tournament::schedule::MatchId;
use serde_json::{Value, json};

/// A name with special characters of all formats.
const EVIL: &str = "<b>\"evil\" & 'co', | ::error::";

/// A tournament, a round robin unless `head` says otherwise, of bots that do not exist.
fn create(folder: &Folder, seating: Seating, head: &str, names: &[&str]) -> Results {
    let format = if head.contains("[format]") { "" } else { "[format]\nkind = 'round_robin'\ncycles = 4" };
    let mut config = format!("{head}\n{format}\n");
    for name in names {
        let name = name.replace('\u{1b}', "\\u001b").replace('\u{7}', "\\u0007").replace('"', "\\\"");
        config += &format!("[[entrants]]\nname = \"{name}\"\ncommand = 'nowhere'\ndirectory = '/nowhere'\n");
    }
    let about = About {
        name: "Cup of <2026>".to_owned(),
        game: head.split('\'').nth(1).unwrap().to_owned(),
        rules: 1,
        seating,
        config,
        openings: None,
        seed: SEED.to_owned(),
    };
    let entrant = |name: &&str| EntrantRow {
        name: (*name).to_owned(),
        source: format!("./{name}"),
        files: BTreeMap::new(),
        joins: 1,
        leaves: None,
        interruptions: 0,
    };
    std::fs::create_dir_all(folder.path("cup")).unwrap();
    let entrants: Vec<EntrantRow> = names.iter().map(entrant).collect();
    Results::create(&folder.path("cup/results.sqlite"), &about, &entrants).unwrap()
}

fn row(number: u32, lineup: [u16; 2], ranks: [u8; 2]) -> MatchRow {
    MatchRow {
        id: MatchId { number, attempt: 1 },
        set: number.div_ceil(2),
        lineup: lineup.to_vec(),
        ranks: Some(ranks.to_vec()),
        faulted: SeatSet::EMPTY,
        forfeited: SeatSet::EMPTY,
        ended_by: "rules".to_owned(),
        reason: "no_pieces".to_owned(),
        scores: Some(ranks.map(|rank| f64::from(2 - rank)).to_vec()),
        faults: vec![BTreeMap::new(), BTreeMap::new()],
        decisions: 40,
        duration_us: 1_500_000,
        lag_ms: 0,
        cpu_ms: vec![Some(120), None],
        record: Some(format!("m{number}.jsonl")),
        seal: None,
        // From 2026-11-22T18:30:00Z on, one per minute.
        began_at: Some(UNIX_EPOCH + Duration::from_secs(1_795_372_200 + 60 * u64::from(number - 1))),
    }
}

/// The second seat lost by this fault.
fn forfeited(row: MatchRow, code: &str) -> MatchRow {
    let of_seat_1 = BTreeMap::from([(code.to_owned(), 1)]);
    MatchRow {
        faulted: SeatSet::one(Seat(1)),
        forfeited: SeatSet::one(Seat(1)),
        ended_by: "fault".to_owned(),
        reason: code.to_owned(),
        faults: vec![BTreeMap::new(), of_seat_1],
        ..row
    }
}

const WIN: [u8; 2] = [1, 2];
const LOSS: [u8; 2] = [2, 1];

/// Ada beats Bob and both beat the third, once by a timeout. A match was cut off and replayed, one aborted.
fn cup() -> Folder {
    let folder = Folder::new();
    let head = "game = 'checkers'\n[format]\nkind = 'round_robin'";
    let mut db = create(&folder, Seating::new(2, 2), head, &[EVIL, "ada", "bob"]);
    db.add_matches(&[row(1, [1, 2], WIN)]).unwrap();
    db.add_matches(&[row(2, [2, 1], LOSS)]).unwrap();
    db.add_matches(&[row(3, [0, 1], LOSS)]).unwrap();
    db.cut_off(MatchId { number: 4, attempt: 1 }, 2, &[1, 0]).unwrap();
    db.add_matches(&[MatchRow {
        id: MatchId { number: 4, attempt: 2 },
        record: Some("m4.2.jsonl".to_owned()),
        ..row(4, [1, 0], WIN)
    }])
    .unwrap();
    db.add_matches(&[forfeited(row(5, [2, 0], WIN), "timeout")]).unwrap();
    let aborted = MatchRow {
        ranks: None,
        scores: None,
        record: None,
        ended_by: "aborted".to_owned(),
        ..row(6, [0, 2], WIN)
    };
    db.add_matches(&[aborted]).unwrap();
    folder
}

/// A tournament of two real bots, with records.
fn played(second: &str, matches: &str) -> Folder {
    let folder = Folder::new();
    let head = "game = 'checkers'\nmirror = 'none'";
    let mut db = create(&folder, Seating::new(2, 2), head, &["greedy", "other"]);
    let (first, second) = (sample("python/greedy_bot.py"), sample(second));
    let records = folder.text("cup/records");
    let args = ["play", "checkers", &first, &second, "-n", matches, "--seed", SEED, "--json", "--record"];
    let ended = referee(args.into_iter().chain([records.as_str()])).with_code(0);
    for told in ended.all("match") {
        let list = |key: &str| -> Vec<u64> {
            told[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as u64).collect()
        };
        let number = told["id"].as_str().unwrap()[1..].parse().unwrap();
        let lineup = told["seats"].as_array().unwrap().iter();
        let fault = told["fault"]["seat"].as_u64().map(|seat| SeatSet::one(Seat(seat as u8)));
        db.add_matches(&[MatchRow {
            id: MatchId { number, attempt: 1 },
            set: number,
            lineup: lineup.map(|name| u16::from(name != "greedy_bot")).collect(),
            ranks: Some(list("ranks").into_iter().map(|rank| rank as u8).collect()),
            faulted: fault.unwrap_or_default(),
            forfeited: fault.unwrap_or_default(),
            ended_by: told["ended_by"].as_str().unwrap().to_owned(),
            faults: serde_json::from_value(told["faults"].clone()).unwrap(),
            record: Some(format!("m{number}.jsonl")),
            ..row(number, [0, 1], WIN)
        }])
        .unwrap();
    }
    folder
}

fn told(folder: &Folder, what: &[&str]) -> String {
    let cup = folder.text("cup");
    referee(["tournament", what[0], &cup].into_iter().chain(what[1..].iter().copied())).done().stdout
}

/// The cells of the table row that contains this name.
fn cells<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let row = text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name} in {text}"));
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn standings_separate_wins_by_play_and_by_fault() {
    let text = told(&cup(), &["standings"]);
    assert!(text.starts_with("Cup of <2026>: checkers (rules 1), 2 seats, 5 matches in 3 sets\n"), "{text}");
    assert_eq!(cells(&text, "ada")[..8], ["1", "ada", "4", "4", "4-0-0", "0-0-0", "0", "2"]);
    assert_eq!(cells(&text, "bob")[..7], ["2", "bob", "1", "3", "0-0-2", "1-0-0", "0"]);
    assert_eq!(cells(&text, EVIL)[..7], ["3", EVIL, "0", "3", "0-0-2", "0-0-1", "1"]);
    assert!(text.contains("side 0 has an advantage of "), "{text}");
}

#[test]
fn standings_in_json_have_the_same_numbers() {
    let standings: Value = serde_json::from_str(&told(&cup(), &["standings", "--json"])).unwrap();
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

#[test]
fn three_teams_share_points_and_are_listed_during_the_tournament() {
    let folder = Folder::new();
    let mut db = create(&folder, Seating::new(6, 3), "game = 'keezen'\nseats = 6", &["ada", "bob", "eve"]);
    let lineup = vec![0, 1, 2, 0, 1, 2];
    db.add_matches(&[MatchRow {
        lineup,
        ranks: Some(vec![1, 2, 3, 1, 2, 3]),
        scores: Some(vec![1.0, 0.5, 0.0, 1.0, 0.5, 0.0]),
        faults: vec![BTreeMap::new(); 6],
        cpu_ms: vec![None; 6],
        ..row(1, [0, 1], WIN)
    }])
    .unwrap();
    let text = told(&folder, &["report"]);
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
    let text = told(&folder, &["report"]);
    let list = text.split_once("Matches\n").unwrap().1;
    for (id, row) in [
        ("m1 ", ["m1", "2026-11-22 18:30", "ada - bob", "1-0", "rules: no_pieces", "m1.jsonl"]),
        ("m2 ", ["m2", "2026-11-22 18:31", "bob - ada", "0-1", "rules: no_pieces", "m2.jsonl"]),
        (
            "m4.2 ",
            ["m4.2", "2026-11-22 18:33", &format!("ada - {EVIL}"), "1-0", "rules: no_pieces", "m4.2.jsonl"],
        ),
    ] {
        assert_eq!(cells(list, id)[..6], row);
    }
    assert_eq!(cells(list, "m4 "), ["m4", &format!("ada - {EVIL}"), "cut off", "cut_off"]);
    let report: Value = serde_json::from_str(&told(&folder, &["report", "--format", "json"])).unwrap();
    let matches = report["attempts"].as_array().unwrap();
    assert_eq!(matches.len(), 7);
    let of =
        |told: &Value| json!([told["id"], told["began_at"], told["seats"], told["result"], told["record"]]);
    let first = json!(["m1", "2026-11-22T18:30:00Z", ["ada", "bob"], "1-0", "m1.jsonl"]);
    assert_eq!(of(&matches[0]), first);
    let exported: Value =
        serde_json::from_str(told(&folder, &["export", "--format", "json"]).lines().next().unwrap()).unwrap();
    assert_eq!((&exported["type"], of(&exported)), (&json!("match"), first));
    let csv = told(&folder, &["export", "--format", "csv"]);
    assert!(csv.contains("\nm1,s1,,2026-11-22T18:30:00Z,1-0,false,rules,no_pieces,40,"), "{csv}");
    let markdown = told(&folder, &["report", "--format", "markdown"]);
    assert!(markdown.contains("| m1 | 2026-11-22 18:30 | ada - bob | 1-0 | rules: no"), "{markdown}");
    let html = elements(&told(&folder, &["report", "--format", "html"]), "td");
    assert!(html.windows(4).any(|row| row == ["m1", "2026-11-22 18:30", "ada - bob", "1-0"]), "{html:?}");
    let xml = told(&folder, &["report", "--format", "junit"]);
    assert!(xml.contains("m1  2026-11-22 18:30  ada - bob  1-0  rules: no_pieces  m1.jsonl"), "{xml}");
}

#[test]
fn rounds_of_a_swiss_tournament_are_listed_with_byes() {
    let folder = Folder::new();
    let head = "game = 'checkers'\n[format]\nkind = 'swiss'\nrounds = 2";
    let mut db = create(&folder, Seating::new(2, 2), head, &["ada", "bob", "eve"]);
    db.add_matches(&[row(1, [0, 1], WIN), row(2, [1, 0], [1, 1])]).unwrap();
    let report: Value = serde_json::from_str(&told(&folder, &["report", "--format", "json"])).unwrap();
    let first = &report["rounds"][0];
    assert_eq!((&first["round"], &first["pairs"][0]["entrants"]), (&json!(1), &json!(["ada", "bob"])));
    let pair = &first["pairs"][0];
    assert_eq!((&pair["points"], &pair["matches"]), (&json!([1.5, 0.5]), &json!(["m1", "m2"])));
    assert_eq!(
        (&first["pairs"][1]["entrants"], &first["pairs"][1]["is_bye"]),
        (&json!(["eve", null]), &json!(true))
    );
    assert_eq!((&report["attempts"][0]["round"], report["rounds"].as_array().unwrap().len()), (&json!(1), 2));
    let text = told(&folder, &["report"]);
    let rounds = text.split_once("Rounds\n").unwrap().1;
    assert_eq!(cells(rounds, "ada - bob"), ["1", "ada - bob", "1.5 - 0.5", "m1 m2"]);
    assert!(rounds.contains("eve - bye") && !text.contains("Bracket"), "{text}");
}

#[test]
fn a_knockout_is_drawn_as_a_bracket() {
    let folder = Folder::new();
    let head = "game = 'checkers'\n[format]\nkind = 'knockout'\ntie_breaks = 0";
    let mut db = create(&folder, Seating::new(2, 2), head, &["ada", "bob", "eve"]);
    let text = told(&folder, &["report"]);
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
    let text = told(&folder, &["report"]);
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
    let markdown = told(&folder, &["report", "--format", "markdown"]);
    assert!(markdown.contains("    eve 0 ─┘\n"), "{markdown}");
    let html = told(&folder, &["report", "--format", "html"]);
    assert_eq!(elements(&html, "h3"), ["Round 1", "Round 2"]);
    assert!(html.contains("<div class=\"won\"><span>bob</span><span>1.5</span></div>"), "{html}");
    let report: Value = serde_json::from_str(&told(&folder, &["report", "--format", "json"])).unwrap();
    assert_eq!(report["rounds"][1]["pairs"][0]["winner"], "bob");
}

#[test]
fn the_winner_of_a_knockout_comes_first_regardless_of_points() {
    let folder = Folder::new();
    let head = "game = 'checkers'\n[format]\nkind = 'knockout'\ntie_breaks = 0";
    let mut db = create(&folder, Seating::new(2, 2), head, &["ada", "bob", EVIL]);
    db.add_matches(&[row(1, [1, 2], WIN)]).unwrap();
    assert!(!told(&folder, &["standings"]).contains("won by"));
    db.add_matches(&[row(2, [2, 1], LOSS)]).unwrap();
    db.add_matches(&[row(3, [0, 1], [1, 1])]).unwrap();
    let standings =
        |folder: &Folder| -> Value { serde_json::from_str(&told(folder, &["standings", "--json"])).unwrap() };
    assert_eq!(standings(&folder)["champion"], Value::Null);
    // The final is drawn, so the higher seed wins, who had a bye in the first round.
    db.add_matches(&[row(4, [1, 0], [1, 1])]).unwrap();
    let standings = standings(&folder);
    assert_eq!((&standings["type"], &standings["champion"]), (&json!("standings"), &json!("ada")));
    let rows = standings["entrants"].as_array().unwrap().iter();
    let rows: Vec<Value> =
        rows.map(|row| json!([row["place"], row["name"], row["points"], row["out"]])).collect();
    assert_eq!(json!(rows), json!([[1, "ada", 1.0, null], [2, "bob", 3.0, 2], [3, EVIL, 0.0, 1]]));
    for form in [
        &["standings"][..],
        &["report"],
        &["report", "--format", "markdown"],
        &["report", "--format", "html"],
    ] {
        let text = told(&folder, form);
        assert!(text.contains("4 matches in 2 sets, won by ada") && text.contains("round 2"), "{text}");
    }
    let report = told(&folder, &["report", "--format", "json"]);
    assert_eq!(report.matches("\"type\"").count(), 1, "{report}");
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["champion"], "ada");
}

#[test]
fn a_report_has_cross_table_ratings_faults_and_aborts() {
    let folder = cup();
    let text = told(&folder, &["report"]);
    for part in ["Standings", "Cross table", "Ratings with 95% intervals", "Glicko-2", "Weng-Lin", "Faults"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert!(text.contains("skillratings 0.29.2, intervals: 1.96 of its own deviations"), "{text}");
    assert!(text.contains("\n1 attempt was aborted\n1 attempt was cut off\n1 match has no result"), "{text}");
    let json = told(&folder, &["report", "--format", "json"]);
    assert_eq!(told(&folder, &["report", "--format", "json"]), json, "another report of the same results");
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&report["aborted"], &report["cut_off"], &report["unfinished"]),
        (&json!(1), &json!(1), &json!(1))
    );
    let evil = &report["details"][2];
    assert_eq!((&evil["name"], &evil["interruptions"]), (&json!(EVIL), &json!(2)));
    assert_eq!((&evil["faults"], &evil["faulty"]), (&json!({ "timeout": 1 }), &json!(["m5"])));
    let met = |score, matches| json!({ "matches": matches, "score": score });
    assert_eq!(report["details"][0]["cross"], json!([null, met(2.0, 2.0), met(2.0, 2.0)]));
    for rating in ["glicko2", "weng_lin"] {
        let [ada, evil] = [0, 2].map(|at| report["details"][at][rating]["value"].as_f64().unwrap());
        assert!(ada > evil, "{rating}");
    }
}

#[test]
fn time_use_and_timeouts_come_from_the_records() {
    let folder = played("hostile/honest.py", "4");
    let report: Value = serde_json::from_str(&told(&folder, &["report", "--format", "json"])).unwrap();
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
    let text = told(&folder, &["report"]);
    assert!(text.contains("\n1 record could not be read: no times from there\n"), "{text}");
}

#[test]
fn the_csv_of_a_report_has_one_row_per_entrant() {
    let text = told(&cup(), &["report", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!((rows[2]["entrant"].as_str(), rows[2]["faults"].as_str()), (EVIL, "timeout=1"));
    assert_eq!((rows[0]["play_wins"].as_str(), rows[1]["fault_wins"].as_str()), ("4", "1"));
    assert_eq!(rows[2]["time_outs"], "1");
}

#[test]
fn in_junit_only_entrants_with_faults_fail() {
    let xml = told(&cup(), &["report", "--format", "junit"]);
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
        let report: Value = serde_json::from_str(&told(&folder, &["report", "--format", "json"])).unwrap();
        assert_eq!((&report["cut_off"], &report["unfinished"]), (&json!(1), &json!(unfinished)));
        let xml = told(&folder, &["report", "--format", "junit"]);
        assert_eq!(xml.contains(" no result yet"), unfinished > 0, "{xml}");
    }
}

#[test]
fn status_counts_future_rounds() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (format, told, numbers) in [
        ("kind = 'swiss'\nrounds = 5", "0 matches played, 40 missing", [40, 40]),
        ("kind = 'knockout'\nbest_of = 3", "0 matches played, at least 28 missing", [28, 84]),
    ] {
        let folder = Folder::new();
        drop(create(&folder, Seating::new(2, 2), &format!("game = 'checkers'\n[format]\n{format}"), &names));
        let dir = folder.text("cup");
        let text = referee(["tournament", "status", &dir]).done().stdout;
        assert!(text.contains(told), "{text}");
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

/// The text of all elements with a name, in order; fails if the document is not well-formed.
fn elements(document: &str, name: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(document);
    let mut texts = Vec::new();
    let mut is_in = false;
    loop {
        match reader.read_event().unwrap() {
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
    let html = told(&cup(), &["report", "--format", "html"]);
    assert_eq!(elements(&html, "h1"), ["Cup of <2026>"]);
    let cells = elements(&html, "td");
    let ada = cells.iter().position(|cell| cell == "ada").unwrap();
    assert_eq!(cells[ada - 1..ada + 5], ["1", "ada", "4", "4", "4-0-0", "0-0-0"]);
    assert!(cells.iter().any(|cell| cell == EVIL));
    let dots = elements(&html, "circle").len() + html.matches("<circle ").count();
    assert_eq!(dots, 3, "a dot an entrant");
    assert!(!html.contains("<b>"), "a name became an element");
    for outside in ["<script", "http:", "https:", "src=", "href=", "url(", "@import"] {
        assert!(!html.contains(outside), "{outside} in the report");
    }
}

/// The path of a browser; `tests/run` installs one.
fn browser() -> Option<&'static str> {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let starts = |name: &&&str| Command::new(name).arg("--version").output().is_ok();
    browsers.iter().find(starts).copied()
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
    let Some(browser) = browser() else {
        eprintln!("skipped: there is no chromium here");
        return;
    };
    let folder = cup();
    let page = folder.text("report.html");
    assert_eq!(told(&folder, &["report", "--format", "html", "-o", &page]), "");
    let page = Path::new(&page);
    let dom = browse(browser, &folder, &["--dump-dom"], page);
    assert!(dom.contains("<td class=\"text\">ada</td>"), "{dom}");
    assert!(dom.contains("&lt;b&gt;\"evil\" &amp; 'co', | ::error::</td>"), "{dom}");
    assert_eq!(dom.matches("<section>").count(), 7, "{dom}");
    let picture = folder.text("report.png");
    browse(browser, &folder, &["--window-size=1200,1500", &format!("--screenshot={picture}")], page);
    let size = std::fs::metadata(&picture).unwrap().len();
    assert!(size > 20_000, "an empty page: {size} bytes");
}

#[test]
fn a_site_links_each_match_to_its_page() {
    let folder = played("python/random_bot.py", "4");
    let record = |name: &str| folder.path(&format!("cup/records/{name}"));
    std::fs::rename(record("m1.jsonl"), record("m1.unsealed")).unwrap();
    let site = folder.text("site");
    assert_eq!(told(&folder, &["report", "--site", &site]), "");
    let index = folder.read("site/index.html");
    let linked: Vec<&str> =
        index.split("<a href=\"").skip(1).map(|link| &link[..link.find('"').unwrap()]).collect();
    assert_eq!(linked, ["matches/m2.html", "matches/m3.html", "matches/m4.html"], "m1 is not sealed");
    for page in linked {
        assert!(folder.read(&format!("site/{page}")).contains("\"game\":\"Checkers\""), "{page}");
    }
    // It can be written again, and a damaged record has no page.
    std::fs::write(record("m3.jsonl"), "{}").unwrap();
    let args = ["tournament", "report", &folder.text("cup"), "--site", &site];
    referee(args).with_code(1).says(&["m3.jsonl: line 1: "]);
    assert!(!folder.read("site/index.html").contains("m3.html"));
    referee(args.into_iter().chain(["--format", "json"])).with_code(2).says(&["--site"]);
}

#[test]
fn exports_have_a_row_or_object_per_attempt() {
    let folder = cup();
    let text = told(&folder, &["export", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let ids: Vec<&str> = rows.iter().map(|row| row["match"].as_str()).collect();
    assert_eq!(ids, ["m1", "m2", "m3", "m4", "m4.2", "m5", "m6"]);
    assert_eq!((rows[3]["ended_by"].as_str(), rows[3]["rank_0"].as_str()), ("cut_off", ""));
    let lost = &rows[5];
    assert_eq!((lost["entrant_1"].as_str(), lost["rank_1"].as_str()), (EVIL, "2"));
    assert_eq!((lost["faults_1"].as_str(), lost["forfeited_1"].as_str()), ("timeout=1", "true"));
    let text = told(&folder, &["export", "--format", "json"]);
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 7);
    assert_eq!((&objects[5]["seats"], &objects[5]["forfeited"]), (&json!(["bob", EVIL]), &json!([1])));
}

#[test]
fn the_pdn_of_a_tournament_verifies() {
    let folder = played("python/random_bot.py", "4");
    let pdn = folder.text("games.pdn");
    assert_eq!(told(&folder, &["export", "--format", "pdn", "-o", &pdn]), "");
    for number in 1..=4 {
        let tags = format!(
            "[Event \"Cup of <2026>\"]\n[Site \"records/m{number}.jsonl\"]\n[Date \"2026.11.22\"]\n[Round \"{number}\"]\n"
        );
        for text in [folder.read("games.pdn"), told(&folder, &["export", "--format", "text"])] {
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
        let report: Value = serde_json::from_str(&told(&folder, &["report", "--format", "json"])).unwrap();
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
    let text = told(&folder, &["export", "--format", "text"]);
    let record = folder.record("cup/records/m2.jsonl");
    let moves = record.iter().filter_map(|line| line["event"]["move"].as_str());
    let numbered: Vec<String> = (1..).zip(moves).map(|(number, text)| format!("{number}. {text}")).collect();
    let (_, second) = text.split_once("[Match \"m2\"]\n").unwrap();
    let words: Vec<&str> = second.split_once("\n\n").unwrap().1.split_whitespace().collect();
    let ranks = &crate::common::the("result", &record)["ranks"];
    assert_eq!(words.join(" "), format!("{} {}-{}", numbered.join(" "), ranks[0], ranks[1]));
    assert!(text.contains("[Seat1 \"random_bot\"]\n") && text.contains("[Termination \"rules ("), "{text}");
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
    let told = |subcommand: &str| referee(["tournament", subcommand, &cup]).with_code(0).stdout;
    let texts = [told("status"), told("standings"), report("table"), report("csv"), export("csv")];
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
