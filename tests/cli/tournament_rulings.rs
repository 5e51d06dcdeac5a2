//! `referee tournament rule` and `rulings`: decisions of the organiser, replayed into the standings.

use std::collections::BTreeMap;

use crate::common::{Folder, Referee, SEED, referee};
use serde_json::{Value, json};

/// Three bots that answer at once, in this format.
fn cup(folder: &Folder, game: &str, format: &str) -> String {
    let bot = folder.plain_bot("bot");
    let mut text = format!("{game}\nseed = '{SEED}'\n[format]\n{format}\n");
    for name in ["ann", "bob", "eve"] {
        text += &format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n");
    }
    let (config, dir) = (folder.write("cup.toml", text), folder.text("cup"));
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    dir
}

const CHECKERS: &str = "game = 'checkers'\noptions = { turn_limit = 12 }";

fn standings(dir: &str) -> Value {
    referee(["tournament", "standings", dir, "--json"]).done().one("standings")
}

fn points(standings: &Value) -> BTreeMap<String, f64> {
    let rows = standings["entrants"].as_array().expect("a list").iter();
    rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row["points"].as_f64().unwrap())).collect()
}

/// The exported row of a match.
fn exported(dir: &str, id: &str) -> Value {
    let lines = referee(["tournament", "export", dir, "--format", "json"]).done().all("match");
    lines.into_iter().find(|line| line["id"] == id).expect("the match")
}

/// `verify` finds no difference, and replays the rulings into the same standings.
fn verified(dir: &str) {
    let found = referee(["tournament", "verify", dir, "--json"]).done();
    assert_eq!(found.one("standings")["entrants"], standings(dir)["entrants"]);
}

#[test]
fn rulings_replace_results_and_are_undone() {
    let folder = Folder::new();
    let dir = cup(&folder, CHECKERS, "kind = 'round_robin'");
    let played = points(&standings(&dir));
    // All matches are drawn at the turn limit.
    assert_eq!(played, BTreeMap::from(["ann", "bob", "eve"].map(|name| (name.to_owned(), 2.0))));
    let m1 = exported(&dir, "m1");
    let [first, second] = [0, 1].map(|seat| m1["seats"][seat].as_str().unwrap().to_owned());
    let rule = |args: &[&str]| {
        let mut all = vec!["tournament", "rule", args[0], &dir];
        all.extend(&args[1..]);
        referee(all)
    };
    for (args, says) in [
        (vec!["award", "m1", "nobody", "--reason", "x"], "unknown entrant `nobody`"),
        (vec!["award", "m99", &first, "--reason", "x"], "no match m99"),
        (vec!["void", "seventeen", "--reason", "x"], "invalid match id `seventeen`"),
        (vec!["void", "m1"], "--reason"),
        (vec!["void", "m1", "--reason", " "], "a ruling needs a reason"),
        (vec!["undo", "7", "--reason", "x"], "there is no ruling 7"),
    ] {
        rule(&args).with_code(2).says(&[says]);
    }
    let said = rule(&["award", "m1", &first, "--reason", "a power cut"]).done().stdout;
    assert_eq!(said, format!("m1 is awarded to {first}\n"));
    let ruled = standings(&dir);
    assert_eq!((points(&ruled)[&first], points(&ruled)[&second]), (2.5, 1.5));
    assert_eq!(ruled["rulings"][0]["reason"], "a power cut");
    assert_eq!(exported(&dir, "m1")["ruling"], json!({"id": 1, "outcome": format!("awarded to {first}")}));
    assert_eq!(exported(&dir, "m1")["result"], "1/2-1/2", "what was played stays");
    verified(&dir);
    rule(&["void", "m1", "--reason", "secret of the jury", "--private"]).done();
    assert_eq!(points(&standings(&dir))[&first], 1.5);
    let report = referee(["tournament", "report", &dir, "--format", "markdown"]).done().stdout;
    assert!(report.contains("m1 is void") && report.contains("a power cut"), "{report}");
    assert!(!report.contains("secret of the jury"), "{report}");
    let listed = referee(["tournament", "rulings", &dir, "--json"]).done().all("ruling");
    assert_eq!(
        (&listed[1]["reason"], &listed[1]["is_public"]),
        (&json!("secret of the jury"), &json!(false))
    );
    verified(&dir);
    rule(&["undo", "2", "--reason", "wrong match"]).done();
    assert_eq!(points(&standings(&dir))[&first], 2.5, "the award holds again");
    rule(&["undo", "2", "--reason", "x"]).with_code(2).says(&["ruling 2 was undone by"]);
    rule(&["undo", "1", "--reason", "wrong match"]).done();
    assert_eq!(points(&standings(&dir)), played);
    verified(&dir);
    let table = referee(["tournament", "rulings", &dir]).done().stdout;
    assert!(table.contains("wrong match") && table.contains("(private)"), "{table}");
}

#[test]
fn mirrored_set_with_dice_is_replayed_on_new_deal() {
    let folder = Folder::new();
    let dir = cup(&folder, "game = 'saxum'\nmirror = 'rotations'", "kind = 'round_robin'");
    let before = exported(&dir, "m3");
    let said = referee(["tournament", "rule", "replay", &dir, "m3", "--reason", "the network was down"])
        .done()
        .stdout;
    assert_eq!(said, "m3 and m4 are played again, on another deal\n");
    let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
    assert_eq!((&status["missing"], &status["is_over"]), (&json!(2), &json!(false)));
    verified(&dir);
    let played = referee(["tournament", "resume", &dir, "--json"]).done().all("match");
    let ids: Vec<&str> = played.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["m3.2", "m4.2"]);
    let seed = |id: &str| {
        let record = folder.record(&format!("cup/records/{id}.jsonl"));
        let deal = record[0]["deal"].as_str().unwrap().to_owned();
        (deal, record.last().unwrap()["reveal"]["seed"].as_str().unwrap().to_owned())
    };
    let [old, new, other_leg] = ["m3", "m3.2", "m4.2"].map(seed);
    assert_eq!((old.0.as_str(), new.0.as_str()), ("s2", "s2.2"));
    assert!(old.1 != new.1 && new == other_leg, "the dice of the old deal are public");
    assert_eq!(exported(&dir, "m3")["ruling"], json!({"id": 1, "outcome": "replayed"}));
    assert_eq!(exported(&dir, "m3")["ranks"], before["ranks"]);
    assert_eq!(exported(&dir, "m3.2")["ruling"], Value::Null);
    assert_eq!(standings(&dir)["matches"], 6);
    verified(&dir);
    referee(["tournament", "rule", "undo", &dir, "1", "--reason", "x"])
        .with_code(2)
        .says(&["m3 has been played again"]);
    referee(["tournament", "rule", "replay", &dir, "m4", "--reason", "again"]).done();
    let again = referee(["tournament", "resume", &dir, "--json"]).done().all("match");
    assert_eq!(again.iter().map(|line| &line["id"]).collect::<Vec<_>>(), ["m3.3", "m4.3"]);
    assert_eq!(seed("m3.3").0, "s2.3");
    verified(&dir);
}

#[test]
fn disqualified_entrant_leaves_and_comes_back_when_that_is_undone() {
    let folder = Folder::new();
    let dir = cup(&folder, CHECKERS, "kind = 'round_robin'");
    let before = points(&standings(&dir));
    let disqualify = ["tournament", "rule", "disqualify", &dir, "eve", "--reason", "copied program"];
    let said = referee(disqualify.iter().copied().chain(["--from-match", "m1"]));
    let m1 = exported(&dir, "m1");
    if m1["seats"].as_array().unwrap().contains(&json!("eve")) {
        said.done();
    } else {
        said.with_code(2).says(&["`eve` does not play m1"]);
    }
    let said = referee(disqualify.iter().copied().chain(["--from-start"])).done().stdout;
    assert_eq!(said, "eve is disqualified: its results are annulled\n");
    let ruled = standings(&dir);
    assert_eq!((points(&ruled)["ann"], points(&ruled)["bob"], points(&ruled)["eve"]), (1.0, 1.0, 0.0));
    verified(&dir);
    referee(["tournament", "return", &dir, "eve"]).with_code(2).says(&["`eve` is disqualified: undo ruling"]);
    let rulings = referee(["tournament", "rulings", &dir, "--json"]).done().all("ruling");
    for ruling in rulings.iter().rev() {
        let id = ruling["id"].to_string();
        referee(["tournament", "rule", "undo", &dir, &id, "--reason", "a mistake"]).done();
    }
    assert_eq!(points(&standings(&dir)), before);
    verified(&dir);
}

#[test]
fn later_rounds_of_a_swiss_tournament_are_paired_by_rulings() {
    let folder = Folder::new();
    let dir = cup(&folder, CHECKERS, "kind = 'swiss'\nrounds = 3");
    let m1 = exported(&dir, "m1");
    let loser = m1["seats"][0].as_str().unwrap();
    referee(["tournament", "rule", "replay", &dir, "m1", "--reason", "x"])
        .with_code(2)
        .says(&["m1 is of round 1, and round 3 is paired"]);
    let before = points(&standings(&dir))[loser];
    referee(["tournament", "rule", "award", &dir, "m1", loser, "--reason", "a power cut"]).done();
    assert_eq!(points(&standings(&dir))[loser], before + 0.5);
    verified(&dir);
    let disqualify = ["tournament", "rule", "disqualify", &dir, loser, "--from-start", "--reason", "copied"];
    let said = referee(disqualify).done().stdout;
    assert!(said.contains("its opponents win"), "{said}");
    assert_eq!(points(&standings(&dir))[loser] % 1.0, 0.0, "only byes are left");
    verified(&dir);
}

#[test]
fn a_running_tournament_takes_rulings() {
    let folder = Folder::new();
    let slow = folder.bot("slow", "import time\nplay(turn=lambda t: (time.sleep(0.02), first(t)))");
    let mut text = format!("{CHECKERS}\nseed = '{SEED}'\n[format]\nkind = 'round_robin'\ncycles = 2\n");
    for name in ["ann", "bob", "eve"] {
        text += &format!("[[entrants]]\nname = '{name}'\ncommand = \"{slow}\"\n");
    }
    let (config, dir) = (folder.write("cup.toml", text), folder.text("cup"));
    let mut run = Referee::start(["tournament", "run", &config, "--dir", &dir, "--json"]);
    run.receive_type("match");
    let said =
        referee(["tournament", "rule", "void", &dir, "m1", "--reason", "the network was down"]).done().stdout;
    assert!(said.starts_with("m1 is void\n") && said.contains("have ended"), "{said}");
    let ended = run.wait().with_code(0);
    assert_eq!(ended.all("match").len(), 12 - 1, "one was received before");
    assert_eq!(standings(&dir)["matches"], 11);
    verified(&dir);
}

#[test]
fn display_names_imitate_nobody_and_are_renamed_by_rulings() {
    let folder = Folder::new();
    let dir = cup(&folder, CHECKERS, "kind = 'round_robin'");
    let rename = |name: &str, display: &str| {
        referee(["tournament", "rule", "rename", &dir, name, display, "--reason", "asked for it"])
    };
    rename("bob", "Ann").with_code(2).says(&["the name looks like `ann`"]);
    rename("bob", "a\u{202e}b").with_code(2).says(&["a display name has 1 to 64 characters"]);
    assert_eq!(rename("bob", "Bob the Second").done().stdout, "bob is shown as Bob the Second\n");
    rename("eve", "bobthesecond").with_code(2).says(&["the name looks like `bob`"]);
    let of = |name: &str| {
        let standings = standings(&dir);
        let rows = standings["entrants"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap()["display_name"].clone()
    };
    assert_eq!((of("bob"), of("ann")), (json!("Bob the Second"), Value::Null));
    let table = referee(["tournament", "standings", &dir]).done().stdout;
    assert!(table.contains("Bob the Second"), "{table}");
    referee(["tournament", "rule", "undo", &dir, "1", "--reason", "not any more"]).done();
    assert_eq!(of("bob"), Value::Null);
    verified(&dir);
}
