//! Games whose results are amounts: what is reported, recorded and verified, what a forfeit costs, and which amounts are refused.

use std::path::Path;

use serde_json::{Value, json};

use crate::ci::unpacked;
use crate::common::{Folder, ROOT, referee, sample};
use crate::game_examples::copied;
use crate::game_programs::changed;
use crate::records::resealed;

/// A bot of Kuhn poker that always bets, and ends before its first move of the match with this number.
fn bettor(folder: &Folder, name: &str, crashes_in: u32) -> String {
    let ends = folder.text(&format!("{name}.ends"));
    let script = format!(
        r#"import json, sys
matches = 0
for line in sys.stdin:
    message = json.loads(line)
    answer = {{key: message[key] for key in ("match", "seat", "turn") if key in message}}
    if message["type"] == "hello":
        answer.update(type="hello", protocol=1, name="{name}", games=["kuhn_poker"])
    elif message["type"] == "start":
        matches += 1
        answer.update(type="ready")
    elif message["type"] == "turn":
        if matches == {crashes_in}:
            sys.exit(1)
        answer.update(type="move", move="bet")
    else:
        if message["type"] == "end":
            open({ends:?}, "a").write(line)
        continue
    print(json.dumps(answer), flush=True)
"#
    );
    format!("python3 '{}'", folder.write(&format!("{name}.py"), script))
}

fn equilibrium() -> String {
    format!("python3 '{ROOT}/examples/games/kuhn_poker/bot.py'")
}

fn amounts(of: &Value) -> Vec<f64> {
    let list = of["amounts"].as_array().unwrap_or_else(|| panic!("amounts: {of}"));
    list.iter().map(|amount| amount.as_f64().expect("a number")).collect()
}

/// The mean of the amounts of sets and half of its interval, with this quantile of Student's distribution.
fn interval(amounts: &[f64], quantile: f64) -> [f64; 2] {
    let sets = amounts.len() as f64;
    let mean = amounts.iter().sum::<f64>() / sets;
    let variance = amounts.iter().map(|amount| (amount - mean).powi(2)).sum::<f64>() / (sets - 1.0);
    [mean, quantile * (variance / sets).sqrt()]
}

fn is_near(of: &Value, expected: f64) -> bool {
    of.as_f64().is_some_and(|value| (value - expected).abs() < 2e-3 * (1.0 + expected.abs()))
}

#[test]
fn matches_of_kuhn_poker_report_and_record_amounts() {
    let folder = Folder::new();
    let (game, records) = (copied(&folder, "kuhn_poker"), folder.text("records"));
    let (bettor, equilibrium) = (bettor(&folder, "bettor", 0), equilibrium());
    let options = ["-n", "20", "--record", &records, "--json"];
    let ended = referee([&["play", &*game, &bettor, &equilibrium], &options[..]].concat()).done();
    let (mut of_bettor, mut recorded) = (Vec::new(), Vec::new());
    for report in ended.all("match") {
        let amounts = amounts(&report);
        assert!(amounts[0] == -amounts[1] && amounts[0].abs() <= 20.0, "{report}");
        let first = if amounts[0] == 0.0 { json!([1, 1]) } else { json!([1, 2]) };
        assert!(report["ranks"] == first || amounts[0] < 0.0 && report["ranks"] == json!([2, 1]), "{report}");
        let record = folder.record(&format!("records/{}.jsonl", report["id"].as_str().expect("an id")));
        let result = record.iter().find(|line| line["type"] == "result").expect("a result");
        assert_eq!(result["amounts"], report["amounts"], "{result}");
        recorded.push(result["amounts"].clone());
        let seat = report["seats"].as_array().expect("seats").iter().position(|name| name == "bettor");
        of_bettor.push(amounts[seat.expect("a seat")]);
    }
    let told = folder.read("bettor.ends");
    let told: Vec<Value> = told.lines().map(|end| serde_json::from_str(end).expect("JSON")).collect();
    assert_eq!(told.iter().map(|end| end["amounts"].clone()).collect::<Vec<_>>(), recorded);
    let summary = ended.one("summary");
    assert_eq!(summary["amounts"], "chips");
    let found = &summary["bots"][0]["amount"];
    let [mean, half] = interval(&of_bettor, 2.093);
    assert_eq!(found["sets"], 20, "{found}");
    assert!(is_near(&found["mean"], mean), "{found}: {mean}");
    assert!(is_near(&found["low"], mean - half) && is_near(&found["high"], mean + half), "{found}: {half}");
    referee(["verify", &records, "--game", &game]).done();
    let record = folder.text("records/m1.jsonl");
    let shown = referee(["show", &record, "--game", &game]).done().stdout;
    assert!(shown.contains(", amounts ["), "{shown}");
    let page = folder.text("page.html");
    referee(["show", &record, "--game", &game, "--html", "-o", &page]).done();
    let data = unpacked(&page);
    assert!(data.contains(r#""amounts":[""#) && data.contains(r#" chips"]"#), "{data}");
    let text = referee(["play", &game, &bettor, &equilibrium, "-n", "12"]).done().stdout;
    assert!(text.contains("chips a match [95%]"), "{text}");
    let single = referee(["play", &game, &bettor, &equilibrium]).done().stdout;
    assert!(single.contains(" with ") && single.contains(" chips ("), "{single}");
}

#[test]
fn amount_of_mirrored_set_is_mean_of_its_matches() {
    let folder = Folder::new();
    let game = copied(&folder, "kuhn_poker");
    let (bettor, equilibrium) = (bettor(&folder, "bettor", 0), equilibrium());
    let options = ["-n", "24", "--mirror", "--json"];
    let ended = referee([&["play", &*game, &bettor, &equilibrium], &options[..]].concat()).done();
    let matches = ended.all("match");
    let mut of_sets = Vec::new();
    for (set, pair) in ended.all("set").iter().zip(matches.chunks(2)) {
        let [first, second] = [&pair[0], &pair[1]].map(amounts);
        let mean = (first[0] + second[1]) / 2.0;
        assert_eq!(amounts(set), [mean, -mean], "{set}");
        of_sets.push(mean);
    }
    let found = &ended.one("summary")["bots"][0]["amount"];
    let [mean, half] = interval(&of_sets, 2.201);
    assert!(found["sets"] == 12 && is_near(&found["mean"], mean), "{found}: {mean}");
    assert!(is_near(&found["low"], mean - half) && is_near(&found["high"], mean + half), "{found}: {half}");
    let few = referee(["play", &game, &bettor, &equilibrium, "-n", "9", "--json"]).done().one("summary");
    assert!(few["bots"][0]["amount"]["mean"].is_f64(), "{few}");
    assert_eq!(few["bots"][0]["amount"]["low"], Value::Null, "{few}");
}

#[test]
fn bot_that_forfeits_gets_least_and_opponent_most() {
    let folder = Folder::new();
    let (game, records) = (copied(&folder, "kuhn_poker"), folder.text("records"));
    let crashing = bettor(&folder, "crashing", 1);
    let options = ["--set", "hands=7", "--record", &records, "--json"];
    let ended = referee([&["play", &*game, &equilibrium(), &crashing], &options[..]].concat()).done();
    let report = ended.one("match");
    assert_eq!((&report["reason"], amounts(&report)), (&json!("exited"), vec![14.0, -14.0]), "{report}");
    let resigning = format!(
        "python3 '{}'",
        folder.write("resigning.py", folder.read("crashing.py").replace("sys.exit(1)", "answer.pop('turn'); answer.update(type='resign'); print(json.dumps(answer), flush=True); continue"))
    );
    let report = referee(["play", &game, &resigning, &equilibrium(), "--json"]).done().one("match");
    assert_eq!((&report["reason"], amounts(&report)), (&json!("resignation"), vec![-20.0, 20.0]), "{report}");
    referee(["verify", &records, "--game", &game]).done();
}

/// Three players name a number one after the other, and each gets its number.
const THREE: &str = r#"from referee_game import Decide, Game, Over, run

class Numbers(Game):
    def start(self, options, seats):
        return []
    def amounts(self, options, seats):
        return -5, 9.5
    def turn(self, state):
        if len(state) == 3:
            return Over([1, 1, 1], "turn_limit", [int(move) for move in state])
        return Decide(len(state), ["1", "2"])
    def play(self, state, moves):
        return state + list(moves.values())
    def view(self, state, viewer):
        return {"moves": state}

run(Numbers())
"#;

#[test]
fn sides_that_are_left_get_what_the_rules_give_them() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("numbers")).expect("a directory");
    let sdk = std::fs::read_to_string(Path::new(ROOT).join("bots/python/referee_game/__init__.py"));
    folder.write("numbers/referee_game.py", sdk.expect("the SDK"));
    folder.write("numbers/game.py", THREE);
    let manifest = "protocol = 1\nid = \"numbers\"\ntitle = \"Numbers\"\nversion = 1\ncommand = \"python3 game.py\"\nseats = 3\nreasons = [\"told\"]\namounts = \"points\"\n";
    folder.write("numbers/game.toml", manifest);
    let (game, random) = (folder.text("numbers"), sample("python/random_bot.py"));
    let silent = folder.bot("silent", "import sys; sys.exit(1)");
    let report = referee(["play", &game, &random, &silent, &random, "--json"]).with_code(5).one("match");
    let found = amounts(&report);
    assert_eq!(found[1], -5.0, "{report}");
    assert!([found[0], found[2]].iter().all(|of| [1.0, 2.0].contains(of)), "{report}");
    let report = referee(["play", &game, &random, &silent, &silent, "--json"]).with_code(5).one("match");
    assert_eq!(amounts(&report), [9.5, -5.0, -5.0], "{report}");
    let report = referee(["play", &game, &silent, &silent, &silent, "--json"]).with_code(5).one("match");
    assert_eq!(amounts(&report), [-5.0; 3], "{report}");
}

#[test]
fn a_record_with_another_amount_does_not_verify() {
    let folder = Folder::new();
    let (game, records) = (copied(&folder, "kuhn_poker"), folder.text("records"));
    let (bettor, equilibrium) = (bettor(&folder, "bettor", 0), equilibrium());
    let ended = referee(["play", &game, &bettor, &equilibrium, "--record", &records, "--json"]).done();
    let text = folder.read("records/m1.jsonl");
    let recorded = format!("\"amounts\":{}", ended.one("match")["amounts"]);
    assert!(text.contains(&recorded), "{text}");
    folder.write("records/m1.jsonl", resealed(&text.replace(&recorded, "\"amounts\":[19.0,-19.0]")));
    let verified = referee(["verify", &folder.text("records/m1.jsonl"), "--game", &game]).with_code(1).stdout;
    assert!(verified.contains("19.0"), "{verified}");
}

#[test]
fn amounts_that_contradict_manifest_or_range_are_failures_of_rules() {
    let start = "return position({\"columns\": [\"\"] * columns, \"rows\": rows})";
    let over = "{\"ranks\": [1, 2] if seat == 1 else [2, 1], \"reason\": \"four\"}";
    let drawn = "{\"ranks\": [1, 1], \"reason\": \"full_board\"}";
    let with = |folder: &Folder, unit: &str, range: &str, amounts: &str| {
        let range =
            format!("return {{**position({{\"columns\": [\"\"] * columns, \"rows\": rows}}){range}}}");
        let ends = [over, drawn].map(|over| over.replace('}', &format!("{amounts}}}")));
        changed(
            folder,
            &[(start, &range), (over, &ends[0]), (drawn, &ends[1]), ("draws_by_agreement = true\n", unit)],
        )
    };
    let (unit, range) = ("amounts = \"discs\"\n", ", \"amounts\": {\"least\": -4, \"most\": 4}");
    let amounts = |list: &str| format!(", \"amounts\": {list}");
    let of_end = [
        ("[1]".to_owned(), "`amounts`: one for each of 2 sides, not 1"),
        ("[4, -4.5]".to_owned(), "`amounts`: -4.5; expected -4 to 4, as in the answer to `start`"),
        ("[1e13, 0]".to_owned(), "`amounts`: 10000000000000; expected -1000000000000 to 1000000000000"),
        ("[float('nan'), 0]".to_owned(), "expected value"),
        ("['1', 0]".to_owned(), "invalid type: string"),
    ];
    let of_end = of_end.map(|(list, expected)| (unit, range, amounts(&list), expected));
    let more = [
        (unit, range, String::new(), "`amounts`: missing, but the manifest has their unit"),
        ("", "", amounts("[1, -1]"), "`amounts`: the manifest has no `amounts`"),
    ];
    for (unit, range, amounts, expected) in of_end.into_iter().chain(more) {
        let folder = Folder::new();
        let game = with(&folder, unit, range, &amounts);
        let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
        let options = ["--set", "columns=4", "--set", "rows=9", "-n", "6", "--record", &records, "--json"];
        let ended = referee([&["play", &*game, &bot, &bot], &options[..]].concat());
        let reports = ended.all("match");
        let failed = reports.iter().find(|report| report["cause"] == "rules_failed");
        let failed = failed.unwrap_or_else(|| panic!("{expected}: {reports:?}"));
        assert_eq!(failed["amounts"], Value::Null, "{failed}");
        let record = folder.record(&format!("records/{}.jsonl", failed["id"].as_str().expect("an id")));
        let abort = record.iter().find(|line| line["type"] == "abort").expect("an abort").to_string();
        assert!(abort.contains(expected), "{expected}: {abort}");
    }
    let of_start = [
        (unit, "", "`amounts`: missing, but the manifest has their unit"),
        ("", range, "`amounts`: the manifest has no `amounts`"),
        (unit, ", \"amounts\": {\"least\": 4, \"most\": 4}", "`least` is 4 and `most` 4"),
        (unit, ", \"amounts\": {\"least\": 0}", "missing field `most`"),
        (unit, ", \"amounts\": {\"least\": -2e12, \"most\": 4}", "-2000000000000; expected"),
    ];
    for (unit, range, expected) in of_start {
        let folder = Folder::new();
        let game = with(&folder, unit, range, "");
        let bot = sample("python/random_bot.py");
        let refused = referee(["play", &game, &bot, &bot, "--json"]);
        assert!(format!("{refused:?}").contains(expected), "{expected}: {refused:?}");
        assert_ne!(refused.code, Some(0), "{refused:?}");
    }
}

/// A round robin of two bots and one that forfeits its second match with each process.
fn tournament(folder: &Folder, head: &str) -> (String, String) {
    copied(folder, "kuhn_poker");
    let mut file = format!(
        "game = './kuhn_poker'\n{head}\n[format]\nkind = 'round_robin'\ncycles = 6\n[options]\nhands = 3\n"
    );
    for (name, command) in [
        ("bettor", bettor(folder, "bettor", 0)),
        ("crashing", bettor(folder, "crashing", 2)),
        ("equilibrium", equilibrium()),
    ] {
        file += &format!("[[entrants]]\nname = \"{name}\"\ncommand = \"{command}\"\n");
    }
    (folder.write("cup.toml", file), folder.text("cup"))
}

#[test]
fn a_tournament_shows_mean_amounts_and_can_rank_by_them() {
    let folder = Folder::new();
    let (file, dir) = tournament(&folder, "rank_by = 'amounts'");
    referee(["tournament", "run", &file, "--dir", &dir, "--json"]).done();
    referee(["tournament", "verify", &dir]).done();
    let matches = referee(["tournament", "export", &dir, "--format", "json"]).done().stdout;
    let matches: Vec<Value> = matches.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(matches.len(), 18);
    let standings = referee(["tournament", "standings", &dir, "--json"]).done().one("standings");
    assert_eq!(standings["rank_by"], "amounts");
    let mut means = Vec::new();
    for entrant in standings["entrants"].as_array().expect("a list") {
        let of = |played: &Value| -> Option<f64> {
            let seat = played["seats"].as_array()?.iter().position(|name| *name == entrant["name"])?;
            Some(amounts(played)[seat])
        };
        let of_entrant: Vec<f64> = matches.iter().filter_map(of).collect();
        let [mean, half] = interval(&of_entrant, 2.201);
        let found = &entrant["amount"];
        assert_eq!(found["sets"], 12, "{entrant}");
        assert!(is_near(&found["mean"], mean), "{found}: {mean}");
        assert!(is_near(&found["low"], mean - half) && is_near(&found["high"], mean + half), "{found}");
        means.push(mean);
    }
    assert!(means.is_sorted_by(|one, other| one >= other), "{means:?}");
    assert_eq!(standings["entrants"][2]["name"], "crashing", "{standings}");
    assert!(
        matches.iter().any(|played| played["reason"] == "exited" && played["amounts"] != json!([0.0, 0.0]))
    );
    let table = referee(["tournament", "standings", &dir]).done().stdout;
    assert!(table.contains("amount a match [95%]"), "{table}");
    let csv = referee(["tournament", "report", &dir, "--format", "csv"]).done().stdout;
    assert!(csv.starts_with("place,") && csv.contains("amount,amount_low,amount_high"), "{csv}");
    let site = folder.text("site");
    referee(["tournament", "report", &dir, "--site", &site]).done();
    assert!(folder.read("site/index.html").contains("chips a match"), "the front page");
    assert!(folder.read("site/matches/m1.html").contains("chips"), "the page of a match");
    let database = rusqlite::Connection::open(folder.path("cup/results.sqlite")).expect("the results");
    database.execute("UPDATE matches SET amounts = '[5.0,-5.0]' WHERE number = 1", []).expect("a change");
    drop(database);
    let verified = referee(["tournament", "verify", &dir]).with_code(1).stdout;
    assert!(verified.contains("amounts"), "{verified}");
}

#[test]
fn only_known_formats_with_amounts_rank_by_amounts() {
    let folder = Folder::new();
    let (file, _) = tournament(&folder, "rank_by = 'amounts'");
    let text = folder.read("cup.toml");
    let check = |text: String| {
        folder.write("cup.toml", text);
        referee(["tournament", "check", &file]).with_code(2).stderr
    };
    let swiss = text.replace("kind = 'round_robin'\ncycles = 6", "kind = 'swiss'\nrounds = 2");
    assert!(check(swiss).contains("a Swiss tournament pairs by points, so it cannot rank by amounts"));
    let manifest = folder.read("kuhn_poker/game.toml").replace("amounts = \"chips\"\n", "");
    folder.write("kuhn_poker/game.toml", manifest);
    let refused = check(text);
    assert!(refused.contains("rank_by: `kuhn_poker` has no amounts; expected \"points\""), "{refused}");
}
