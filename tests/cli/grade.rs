//! `referee grade`: bots that were handed in, graded by matches against anchors.

use std::fs;
use std::process::Command;

use crate::common::{Ended, Folder, referee};
use crate::sandbox::missing;
use serde_json::{Value, json};

/// A Checkers bot that makes no fault in this share of matches.
const BOT: &str = "import random, sys
from testbot import *
skill = float(sys.argv[1])
play(turn=lambda t: first(t) if t['turn'] > 2 or random.random() < skill else move(t, '1-32'))
";

/// A file with two anchors, of which the stronger one has so much Elo, and with the best grade from `a` on.
fn anchors(folder: &Folder, format: &str, a: u32) -> String {
    let missing: Vec<String> = missing().iter().map(ToString::to_string).collect();
    let anchor = |name: &str, elo: u32, skill: u32| {
        format!(
            "[[entrants]]\nname = '{name}'\ncommand = 'python3 bot.py {skill}'\nfiles = '{name}'\nelo = {elo}\n"
        )
    };
    let grade = |grade: &str, elo: u32, points: u32| {
        format!("[[grades]]\ngrade = '{grade}'\nelo = {elo}\npoints = {points}\n")
    };
    let text = format!(
        "game = 'checkers'\nopening_plies = 4\njobs = 2\n[options]\nturn_limit = 10\n[format]\nkind = 'grade'\n{format}\n\
         [sandbox]\nmode = 'strict'\nallow_missing = {missing:?}\n{}{}{}{}",
        grade("poor", 0, 0),
        grade("good", a, 100),
        anchor("weak", 0, 1),
        anchor("strong", 400, 1),
    );
    ["weak", "strong"].iter().for_each(|name| write_bot(folder, name));
    folder.write("anchors.toml", text)
}

fn write_bot(folder: &Folder, directory: &str) {
    fs::create_dir_all(folder.path(directory)).expect("a directory");
    fs::copy(folder.path("testbot.py"), folder.path(directory).join("testbot.py")).expect("a copy");
    folder.write(&format!("{directory}/bot.py"), BOT);
}

fn hand_in(folder: &Folder, name: &str, skill: f64, build: &str) {
    write_bot(folder, &format!("bots/{name}"));
    let text = format!("name = 'strong'\ncommand = 'python3 bot.py {skill}'\nbuild = '{build}'\n");
    folder.write(&format!("bots/{name}/bot.toml"), text);
}

fn grades(ended: &Ended) -> Vec<Value> {
    ended.all("grade")
}

#[test]
fn bots_are_graded_once_and_again_when_something_has_changed() {
    let folder = Folder::new();
    let file = anchors(&folder, "within = 90", 400);
    hand_in(&folder, "ada", 1.0, "true");
    hand_in(&folder, "ben", 1.0, "python3 nothing.py");
    let (bots, dir) = (folder.text("bots"), folder.text("grades"));
    let grade = |path: &str, more: &[&str]| {
        referee([&["grade", path, "--against", &file, "--dir", &dir, "--json"][..], more].concat())
    };
    // A bot with the name of an anchor, and one that cannot be built.
    let ended = grade(&bots, &[]).with_code(1);
    let [ada, ben] = &grades(&ended)[..] else { panic!("{ended:?}") };
    assert_eq!(
        (&ada["submission"], &ada["bot"], &ada["is_known"], &ada["is_new"]),
        (&json!("ada"), &json!("graded"), &json!(true), &json!(true))
    );
    let points = |line: &Value, end: &str| line["points"][end].as_f64().expect("points");
    assert!(
        points(ada, "value") > 20.0
            && points(ada, "low") <= points(ada, "value")
            && ada["most_points"] == 100.0,
        "{ada}"
    );
    assert!(ada["matches"].as_u64() >= Some(32) && ada["faults"] == 0, "{ada}");
    assert!(
        ben["refused"].as_str().is_some_and(|log| log.contains("nothing.py")) && ben["grade"].is_null(),
        "{ben}"
    );
    let measured = ada["directory"].as_str().expect("a directory").to_owned();
    referee(["tournament", "verify", &measured]).done();
    let report = referee(["tournament", "report", &measured]).done().stdout;
    assert!(report.contains("the strength of the first entrant by those of the others"), "{report}");

    // Nothing is measured again, and a results.json has the same grade.
    let (ada_alone, out) = (folder.text("bots/ada"), folder.text("results.json"));
    let again = grade(&ada_alone, &["--gradescope", &out]).done().one("grade");
    assert_eq!(
        (&again["is_new"], &again["points"], &again["matches"]),
        (&json!(false), &ada["points"], &ada["matches"])
    );
    let results: Value = serde_json::from_str(&folder.read("results.json")).expect("JSON");
    is_gradescope(&results);
    assert_eq!(results["score"], (points(ada, "value") * 100.0).round() / 100.0);
    assert_eq!(results["extra_data"]["grade"], ada["grade"]);
    referee(["grade", &bots, "--against", &file, "--dir", &dir, "--gradescope", &out]).with_code(2);

    // The archive of the directory is the same bot.
    let archive = folder.text("ada.tar");
    referee(["submit", "--save", &archive, &ada_alone]).done();
    assert_eq!(grade(&archive, &[]).done().one("grade")["directory"], ada["directory"]);
    // So are a zip file and a tar.gz of it, as any system makes them.
    for (format, ending) in [("zip", "zip"), ("gztar", "tar.gz")] {
        let make = format!("import shutil; shutil.make_archive('handed/ada', '{format}', 'bots', 'ada')");
        let made = Command::new("python3").args(["-c", &make]).current_dir(folder.text("")).output();
        assert!(made.expect("python runs").status.success());
        let line = grade(&folder.text(&format!("handed/ada.{ending}")), &[]).done().one("grade");
        assert_eq!((&line["submission"], &line["directory"]), (&json!("ada"), &ada["directory"]));
    }
    let both = grade(&folder.text("handed"), &[]).done().all("grade");
    assert_eq!(both.iter().map(|line| &line["submission"]).collect::<Vec<_>>(), ["ada", "ada"]);
    // Another program of an anchor, and another bot, are other measurements.
    folder.write("weak/bot.py", format!("{BOT}\n"));
    let changed = grade(&ada_alone, &[]).done().one("grade");
    assert!(changed["is_new"] == true && changed["directory"] != ada["directory"], "{changed}");
    hand_in(&folder, "ada", 0.0, "true");
    let weaker = grade(&ada_alone, &[]).done().one("grade");
    assert!(points(&weaker, "value") < 10.0 && weaker["faults"] == weaker["matches"], "{weaker}");
    let table = referee(["grade", &ada_alone, "--against", &file, "--dir", &dir]).done().stdout;
    assert!(
        table
            .lines()
            .nth(1)
            .is_some_and(|row| row.trim_start().starts_with("ada ") && row.contains(" graded ")),
        "{table}"
    );
}

/// Checks the fields and types that the specification of Gradescope's autograders has, as `JSONTestRunner` of the package
/// `gradescope-utils` writes them.
fn is_gradescope(results: &Value) {
    let fields = |value: &Value, known: &[&str]| {
        value
            .as_object()
            .expect("an object")
            .keys()
            .for_each(|key| assert!(known.contains(&&**key), "{key}"));
    };
    let top = ["score", "output", "output_format", "stdout_visibility", "tests", "leaderboard", "extra_data"];
    fields(results, &top);
    assert!(results["score"].is_number() && results["output"].is_string());
    for test in results["tests"].as_array().expect("tests") {
        fields(test, &["name", "score", "max_score", "status", "output"]);
        assert!(
            test["score"].is_number() && test["max_score"].is_number() && test["name"].is_string(),
            "{test}"
        );
        assert!(["passed", "failed"].contains(&test["status"].as_str().expect("a status")));
    }
    for entry in results["leaderboard"].as_array().expect("a leaderboard") {
        fields(entry, &["name", "value", "order"]);
    }
}

#[test]
fn grade_that_is_not_known_within_tolerance_is_undecided() {
    let folder = Folder::new();
    let file = anchors(&folder, "max_sets = 1", 400);
    hand_in(&folder, "ada", 1.0, "true");
    let grade = |file: &str, more: &[&str]| {
        let dir = folder.text("grades");
        referee([&["grade", &folder.text("bots/ada"), "--against", file, "--dir", &dir][..], more].concat())
    };
    let ended = grade(&file, &[]).with_code(3);
    assert!(ended.stdout.contains("ada: not known within the tolerance after 1 set"), "{ended:?}");
    // Other thresholds in the same range grade without matches; a wider range is measured.
    let wider = anchors(&folder, "max_sets = 1", 500);
    let wider = grade(&wider, &["--json"]).with_code(3).one("grade");
    assert_eq!((&wider["is_new"], &wider["sets"]), (&json!(true), &json!(1)));

    // Anchors that fail say nothing of the bot.
    folder.write("weak/bot.py", "raise SystemExit(1)");
    folder.write("strong/bot.py", "raise SystemExit(1)");
    let broken = folder.read("anchors.toml").replace("max_sets = 1\n", "");
    let ended = grade(&folder.write("broken.toml", broken), &[]).with_code(4);
    assert!(ended.stdout.contains("ada: 8 sets with a fault of an anchor do not count"), "{ended:?}");

    grade(&file, &["--sandbox", "basic"]).with_code(2).says(&["graded in the sandbox `strict`, not `basic`"]);
    let text = folder.read("anchors.toml");
    let wrong = |from: &str, to: &str| folder.write("wrong.toml", text.replace(from, to));
    grade(&wrong("opening_plies = 4", ""), &[]).with_code(2).says(&["needs `opening_plies` or `openings`"]);
    grade(&wrong("elo = 0\n[[entrants]]", "[[entrants]]"), &[])
        .with_code(2)
        .says(&["needs the strength of each"]);
    grade(&wrong("points = 100", "points = 0"), &[]).with_code(2).says(&["the lowest first"]);
    grade(&wrong("kind = 'grade'\nmax_sets = 1", "kind = 'gauntlet'"), &[])
        .with_code(2)
        .says(&["kind = \"grade\""]);
    let empty = folder.text("empty");
    fs::create_dir(&empty).expect("a directory");
    referee(["grade", &empty, "--against", &file]).with_code(2).says(&["has neither a bot.toml nor"]);
}
