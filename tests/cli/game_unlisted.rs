//! Games whose moves cannot be listed: the rules check each move.

use serde_json::{Value, json};

use crate::common::{Folder, ROOT, Referee, in_java, referee, sample};
use crate::game_examples::copied;

/// Answers its moves one after the other, in turn, and repeats its messages in `info`.
const SCRIPTED: &str = r#"import json, sys
moves = json.loads(sys.argv[1])
start = None
for line in sys.stdin:
    message = json.loads(line)
    answer = {key: message[key] for key in ("match", "seat", "turn") if key in message}
    if message["type"] == "hello":
        answer.update(type="hello", protocol=1, name="scripted", games=["blotto"])
    elif message["type"] == "start":
        start = message
        answer.update(type="ready")
    elif message["type"] == "turn":
        said = {"unlisted": start.get("unlisted"), "legal": "legal" in message, "retry": message.get("retry")}
        answer.update(type="move", move=moves[message["turn"] % len(moves)], info=said)
    else:
        continue
    print(json.dumps(answer), flush=True)
"#;

/// A small game: ten coins, three fields, two battles.
const SMALL: [&str; 6] = ["--set", "coins=10", "--set", "fields=3", "--set", "battles=2"];

struct Scripts {
    folder: Folder,
    game: String,
}

impl Scripts {
    fn new() -> Scripts {
        let folder = Folder::new();
        folder.write("scripted.py", SCRIPTED);
        let game = copied(&folder, "blotto");
        Scripts { folder, game }
    }

    fn bot(&self, moves: &[&str]) -> String {
        format!("python3 '{}' '{}'", self.folder.text("scripted.py"), json!(moves))
    }

    /// Plays a match. Returns its report and the lines of its record.
    fn play(&self, bots: [&str; 2], more: &[&str]) -> (Value, Vec<Value>) {
        let records = self.folder.text("records");
        let options = ["--record", &records, "--json", "--clock", "none"];
        let args = [&["play", &*self.game], &bots[..], &SMALL, &options, more].concat();
        let report = referee(args).with_code(0).one("match");
        let verified = referee(["verify", &records, "--game", &self.game]).done();
        assert!(verified.stdout.contains("m1.jsonl: ok"), "{verified:?}");
        (report, self.folder.record("records/m1.jsonl"))
    }
}

#[test]
fn moves_that_nobody_lists_are_checked_by_the_rules() {
    let scripts = Scripts::new();
    let bots = [scripts.bot(&["10 0 0"]), scripts.bot(&["0 5 5"])];
    let (report, record) = scripts.play([&bots[0], &bots[1]], &[]);
    assert_eq!((&report["reason"], &report["ranks"]), (&json!("battles_fought"), &json!([2, 1])), "{report}");
    let infos: Vec<&Value> =
        record.iter().map(|line| &line["info"]).filter(|info| info.is_object()).collect();
    assert_eq!(infos.len(), 4);
    for info in infos {
        assert_eq!(*info, json!({ "unlisted": true, "legal": false, "retry": null }));
    }
}

#[test]
fn the_bot_learns_why_the_rules_refuse_its_move() {
    let scripts = Scripts::new();
    let (wrong, right) = (scripts.bot(&["10 0 1", "10 0 0"]), scripts.bot(&["0 5 5"]));
    let (report, record) = scripts.play([&wrong, &right], &["--on-fault", "retry=5"]);
    assert_eq!(report["faults"], json!([{ "illegal_move": 2 }, {}]), "{report}");
    let retries: Vec<&Value> =
        record.iter().map(|line| &line["info"]["retry"]).filter(|retry| retry.is_object()).collect();
    assert_eq!(retries.len(), 2);
    assert_eq!(retries[0]["message"], "`10 0 1` is not legal: 11 coins; expected 10");

    let scripts = Scripts::new();
    for mv in ["10 0", "a\"b", &*"1 ".repeat(9000)] {
        let wrong = scripts.bot(&[mv]);
        let (report, _) = scripts.play([&wrong, &right], &[]);
        assert_eq!((&report["ended_by"], &report["reason"]), (&json!("fault"), &json!("illegal_move")));
        std::fs::remove_dir_all(scripts.folder.path("records")).expect("a directory");
    }
}

#[test]
fn random_bots_resign_where_moves_are_not_listed() {
    let scripts = Scripts::new();
    let other = scripts.bot(&["10 0 0"]);
    let go = format!("'{ROOT}/target/sdks/go/random'");
    let c = format!("'{ROOT}/target/sdks/c/random_bot'");
    let shell = format!("sh '{ROOT}/bots/shell/random_bot.sh'");
    let javascript = format!("node '{ROOT}/bots/javascript/bots/random.js'");
    for bot in [sample("python/random_bot.py"), javascript, in_java("samples.RandomBot"), go, c, shell] {
        let (report, _) = scripts.play([&bot, &other], &[]);
        assert_eq!(
            (&report["ended_by"], &report["faults"]),
            (&json!("resignation"), &json!([{}, {}])),
            "{bot}: {report}"
        );
        std::fs::remove_dir_all(scripts.folder.path("records")).expect("a directory");
    }
}

#[test]
fn what_needs_a_list_of_moves_is_refused() {
    let scripts = Scripts::new();
    let bot = scripts.bot(&["10 0 0"]);
    let refused = referee(["play", &scripts.game, &bot, &bot, "--on-fault", "random"]).with_code(2);
    let expected = "the fault policy `random` needs lists of legal moves, which blotto does not have";
    assert!(refused.stderr.contains(expected), "{refused:?}");
    let refused = referee(["check", &scripts.game, &bot]).with_code(2);
    assert!(refused.stderr.contains("blotto does not list its moves"), "{refused:?}");
    referee(["perft", &scripts.game]).with_code(2);
    let listed = referee(["games", &scripts.game, "--json"]).done().one("game");
    assert_eq!(listed["lists_moves"], false);
    assert!(referee(["games", &scripts.game]).done().stdout.contains("moves that are not listed"));
}

#[test]
fn a_forged_record_with_another_policy_is_a_difference() {
    let scripts = Scripts::new();
    let bots = [scripts.bot(&["10 0 0"]), scripts.bot(&["0 5 5"])];
    scripts.play([&bots[0], &bots[1]], &[]);
    let text = scripts.folder.read("records/m1.jsonl");
    let forged = text.replace(r#""on_fault":"forfeit""#, r#""on_fault":"random""#);
    assert_ne!(forged, text);
    let forged = scripts.folder.write("forged.jsonl", forged);
    let differs = referee(["verify", &forged, "--game", &scripts.game]).with_code(1);
    assert!(differs.stdout.contains("the fault policy `random`"), "{differs:?}");
}

#[test]
fn rules_that_fail_to_check_a_move_abort_the_match() {
    let scripts = Scripts::new();
    let source = scripts.folder.read("blotto/game.py");
    let fails = source.replace(
        "        words = move.split(\" \")\n        if not",
        "        raise KeyError(move)\n        if not",
    );
    assert_ne!(fails, source);
    scripts.folder.write("blotto/game.py", fails);
    let bot = scripts.bot(&["10 0 0"]);
    let (report, record) = scripts.play([&bot, &bot], &[]);
    assert_eq!((&report["cause"], &report["faults"]), (&json!("rules_failed"), &json!([{}, {}])), "{report}");
    let abort = record.iter().find(|line| line["type"] == "abort").expect("an abort");
    assert!(abort["reason"]["why"].as_str().is_some_and(|why| why.contains("KeyError: '10 0 0'")), "{abort}");
}

#[test]
fn a_person_types_a_move_that_nobody_can_list() {
    let scripts = Scripts::new();
    let opponent = scripts.bot(&["0 5 5"]);
    let mut human = Referee::start([&["human", &*scripts.game, &*opponent], &SMALL[..]].concat());
    human.write("moves\n10 0 0\ny\n0 10 0\ny\n");
    let ended = human.end();
    assert!(ended.stdout.contains("Nobody can list the moves"), "{ended:?}");
    assert!(ended.stdout.contains("scripted wins (battles fought)"), "{ended:?}");
}
