//! `referee play` with random openings, played once or from both sides.

mod common;

use common::{Folder, Referee, SEED, Signal, referee, sample, the};
use serde_json::{Value, json};

/// A bot that keeps every message of its matches in a file of its name. It plays the last legal move: in Jeex the first one may be a claim,
/// which ends the match.
const TELLS_ALL: &str = "import pathlib
FILE = pathlib.Path(__file__).with_suffix('.told').open('w')
def told(then):
    def tell(message):
        print(json.dumps(message), file=FILE, flush=True)
        then(message)
    return tell
nothing = lambda _: None
last = lambda t: move(t, t['legal'][-1])
play(start=told(ready), event=told(nothing), turn=told(last), end=told(nothing))";

/// What a bot was told in a match.
fn told(folder: &Folder, bot: &str, match_id: &str) -> Vec<Value> {
    let all = folder.record(&format!("{bot}.told"));
    all.into_iter().filter(|message| message["match"] == match_id).collect()
}

/// The moves of the opening in a record.
fn opening(record: &[Value]) -> Vec<Value> {
    let events = record.iter().filter(|line| line["type"] == "event").map(|line| &line["event"]);
    events.filter(|event| event["opening"] == true).map(|event| event["move"].clone()).collect()
}

fn reveal(record: &[Value]) -> &Value {
    &the("seal", record)["reveal"]
}

#[test]
fn a_bot_sees_the_opening_before_its_first_turn() {
    for game in ["checkers", "jeex"] {
        let folder = Folder::new();
        let (a, b) = (folder.bot("a", TELLS_ALL), folder.bot("b", TELLS_ALL));
        let records = folder.text("records");
        let args =
            ["play", game, &a, &b, "--opening-plies", "6", "--set", "turn_limit=20", "--record", &records];
        referee(args).done();
        referee(["verify", &records]).done();
        let record = folder.record("records/m1.jsonl");
        assert_eq!(record[0]["opening_plies"], 6);
        assert_eq!(opening(&record).len(), 6);
        for (seat, bot) in ["a", "b"].into_iter().enumerate() {
            let told = told(&folder, bot, "m1");
            assert_eq!(told[0]["type"], "start");
            let events = &told[1..7];
            assert!(events.iter().all(|event| event["event"]["opening"] == true), "{events:?}");
            let moves: Vec<Value> = events.iter().map(|event| event["event"]["move"].clone()).collect();
            assert_eq!(moves, opening(&record));
            // Seat 1 has its first turn after the first move of seat 0.
            assert_eq!(told[7 + seat]["type"], "turn");
            assert_eq!(
                [&told[7 + seat]["turn"], &told[7 + seat]["turns_left"]],
                [&json!(0), &json!(14 - seat)]
            );
        }
        let answers = record.iter().filter(|line| line["type"] == "answer").count();
        assert_eq!(the("result", &record)["decisions"], answers, "the opening is nobody's decision");
    }
}

#[test]
fn the_same_seed_gives_the_same_openings_and_each_match_its_own() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let openings = ["one", "two"].map(|name| {
        let records = folder.text(name);
        let args = ["play", "jeex", &bot, &bot, "-n", "3", "--opening-plies", "6", "--seed", SEED];
        referee(args.into_iter().chain(["--record", &records])).done();
        [1, 2, 3].map(|n| opening(&folder.record(&format!("{name}/m{n}.jsonl"))))
    });
    assert_eq!(openings[0], openings[1]);
    assert_ne!(openings[0][0], openings[0][1]);
    assert_ne!(openings[0][1], openings[0][2]);
}

#[test]
fn an_opening_that_was_tampered_with_is_found() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let records = folder.text("records");
    referee(["play", "checkers", &bot, &bot, "--opening-plies", "2", "--seed", SEED, "--record", &records])
        .done();
    let record = folder.read("records/m1.jsonl");
    let first = opening(&folder.record("records/m1.jsonl"))[0].as_str().expect("a move").to_owned();
    let other = if first == "11-15" { "11-16" } else { "11-15" };
    let forged = record.replacen(
        &format!("\"move\":\"{first}\",\"opening\""),
        &format!("\"move\":\"{other}\",\"opening\""),
        1,
    );
    assert_ne!(forged, record);
    let forged = folder.write("forged.jsonl", forged);
    let ended = referee(["verify", &forged]).with_code(1);
    assert!(ended.stdout.contains("but the rules give `{\"type\":\"event\""), "{}", ended.stdout);
    assert!(ended.stdout.contains(&first) && ended.stdout.contains(other), "{}", ended.stdout);
}

#[test]
fn the_opening_is_shown() {
    let folder = Folder::new();
    let [random, greedy] = ["random", "greedy"].map(|bot| sample(&format!("python/{bot}_bot.py")));
    let records = folder.text("records");
    let args = ["play", "checkers", &random, &greedy, "--opening-plies", "2", "--record", &records];
    let played = referee(args).done().stdout;
    let shown = referee(["show", &format!("{records}/m1.jsonl")]).done().stdout;
    for text in [played, shown] {
        assert_eq!(text.matches(" (opening)\n").count(), 2, "{text}");
        assert!(text.contains("  2. greedy_bot: ") && text.contains("  3. random_bot: "), "{text}");
    }
}

#[test]
fn a_set_plays_the_same_opening_from_both_sides() {
    let folder = Folder::new();
    let (a, b) = (folder.bot("a", TELLS_ALL), folder.bot("b", TELLS_ALL));
    let records = folder.text("records");
    let args = ["play", "checkers", &a, &b, "-n", "4", "--mirror", "--opening-plies", "6", "--json"];
    let ended = referee(args.into_iter().chain(["--record", &records])).done();
    referee(["verify", &records]).done();
    let kinds: Vec<Value> = ended.json().into_iter().map(|line| line["type"].clone()).collect();
    assert_eq!(kinds, ["match", "match", "set", "match", "match", "set", "summary"]);

    let all: Vec<Vec<Value>> = (1..=4).map(|n| folder.record(&format!("records/m{n}.jsonl"))).collect();
    let deals: Vec<&Value> = all.iter().map(|record| &record[0]["deal"]).collect();
    assert_eq!(deals, ["s1", "s1", "s2", "s2"]);
    assert_eq!(opening(&all[0]).len(), 6);
    assert_eq!(opening(&all[0]), opening(&all[1]));
    assert_ne!(opening(&all[0]), opening(&all[2]), "each set has its own");
    for legs in all.chunks(2) {
        let names = legs.iter().map(|record| record[0]["seats"].as_array().expect("seats").iter());
        let names: Vec<Vec<&Value>> = names.map(|seats| seats.map(|seat| &seat["name"]).collect()).collect();
        assert_eq!(names, [["a", "b"], ["b", "a"]]);
        assert_eq!([&legs[0][0]["nonce"], &legs[1][0]["nonce"]], [false, false]);
        assert_ne!(legs[0][0]["commitment"], legs[1][0]["commitment"]);
        assert_eq!(reveal(&legs[0])["seed"], reveal(&legs[1])["seed"]);
        assert_ne!(reveal(&legs[0])["salt"], reveal(&legs[1])["salt"]);
    }

    for (match_id, is_last) in [("m1", false), ("m2", true), ("m3", false), ("m4", true)] {
        for bot in ["a", "b"] {
            let told = told(&folder, bot, match_id);
            let [start, .., end] = &told[..] else { panic!("{told:?}") };
            assert_eq!(
                [&start["type"], &start["deal"], &start["nonce"]],
                [&json!("start"), &Value::Null, &json!(false)]
            );
            assert_eq!((&end["type"], end.get("reveal").is_some()), (&json!("end"), is_last), "{end}");
        }
    }
}

#[test]
fn the_opening_is_that_of_the_specification() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let records = folder.text("records");
    let args = ["play", "checkers", &bot, &bot, "--mirror", "--opening-plies", "2", "--seed", SEED];
    referee(args.into_iter().chain(["--record", &records])).done();
    for id in ["m1", "m2"] {
        assert_eq!(opening(&folder.record(&format!("records/{id}.jsonl"))), ["9-14", "22-17"]);
    }
}

#[test]
fn sets_are_counted_by_the_scores_of_both_matches() {
    let folder = Folder::new();
    let (fair, quits) =
        (folder.plain_bot("fair"), "play(turn=lambda t: say(type='resign', match=t['match']))");
    let quits = folder.bot("quits", quits);
    let args = ["play", "checkers", &fair, &quits, "-n", "4", "--mirror"];
    let ended = referee(args.into_iter().chain(["--json"])).done();
    let sets = ended.all("set");
    assert_eq!(
        sets[1],
        json!({"type": "set", "id": "s2", "deal": "s2", "matches": ["m3", "m4"], "bots": ["fair", "quits"],
            "scores": [2.0, 0.0]})
    );
    let summary = ended.one("summary");
    assert_eq!(summary["bots"][0]["sets"], json!({"wins": 2, "draws": 0, "losses": 0}));
    assert_eq!(summary["bots"][1]["sets"], json!({"wins": 0, "draws": 0, "losses": 2}));
    let shown = referee(args).done().stdout;
    assert!(shown.contains("\nsets: fair won 2, drew 0, lost 0; quits won 0, drew 0, lost 2\n"), "{shown}");

    // Whoever has seat 0 wins: both bots once.
    let args = ["play", "checkers", &fair, &fair, "--mirror", "--set", "fen=B:W18:B14", "--json"];
    let ended = referee(args).done();
    assert_eq!(ended.one("set")["scores"], json!([1.0, 1.0]));
    assert_eq!(ended.one("summary")["bots"][1]["sets"], json!({"wins": 0, "draws": 1, "losses": 0}));
}

#[test]
fn without_sets_nothing_tells_of_them() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let records = folder.text("records");
    let ended = referee(["play", "checkers", &bot, &bot, "-n", "2", "--json", "--record", &records]).done();
    assert!(ended.all("set").is_empty() && ended.one("summary")["bots"][0].get("sets").is_none());
    assert!(folder.record("records/m1.jsonl")[0].get("opening_plies").is_none());
}

#[test]
fn the_first_record_of_a_set_waits_for_the_second_match_and_is_kept_when_that_is_broken_off() {
    let folder = Folder::new();
    let fair = folder.plain_bot("fair");
    let hangs = "def turn(t):
    if t['match'] == 'm1':
        return first(t)
    open(sys.argv[1], 'w').write('m2\\n')
play(turn=turn)";
    let hangs = format!("{} '{}'", folder.bot("hangs", hangs), folder.text("waits"));
    let records = folder.text("records");
    let args =
        ["play", "checkers", &fair, &hangs, "--mirror", "--opening-plies", "2", "--clock", "none", "--json"];
    let running = Referee::start(args.into_iter().chain(["--record", &records]));
    folder.wait_for("waits");
    assert!(!folder.path("records/m1.jsonl").exists(), "its seal would tell the seed of m2");
    running.signal(Signal::INT);
    let ended = running.end().with_code(130);
    let set = ended.one("set");
    assert_eq!([&set["matches"], &set["scores"]], [&json!(["m1", "m2"]), &Value::Null]);
    assert_eq!(ended.one("summary")["bots"][0]["sets"], json!({"wins": 0, "draws": 0, "losses": 0}));
    referee(["verify", &records]).done();
    let [m1, m2] = ["m1", "m2"].map(|id| folder.record(&format!("records/{id}.jsonl")));
    assert_eq!(reveal(&m1)["seed"], reveal(&m2)["seed"]);
}

#[test]
fn the_first_record_of_a_set_is_kept_when_the_second_match_does_not_come() {
    let folder = Folder::new();
    let fair = folder.plain_bot("fair");
    // Its second process says nothing.
    let once = format!(
        "import pathlib
been = pathlib.Path({:?})
if been.exists():
    sys.exit(3)
been.touch()
play(end=lambda _: sys.exit(0))",
        folder.text("been")
    );
    let once = folder.bot("once", &once);
    let records = folder.text("records");
    let args = ["play", "checkers", &fair, &once, "--mirror", "--json", "--record", &records];
    let ended = referee(args).says(&["the bot `once` does not start"]);
    assert_eq!(ended.one("set")["matches"].as_array().map(Vec::len), Some(ended.all("match").len()));
    referee(["verify", &records]).with_code(0);
    assert!(!reveal(&folder.record("records/m1.jsonl")).is_null());
}

#[test]
fn openings_and_sets_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let refused = |options: &[&str], what: &[&str]| {
        let args = ["play", options[0], &bot, &bot].into_iter().chain(options[1..].iter().copied());
        referee(args).with_code(2).says(what);
    };
    refused(&["checkers", "-n", "3", "--mirror"], &["-n 3", "a multiple of 2"]);
    refused(&["checkers", "--trust-bots"], &["--mirror"]);
    refused(&["saxum", "--opening-plies", "6"], &["--opening-plies 6", "saxum has no openings"]);
    refused(&["checkers", "--opening-plies", "101"], &["101", "0..=100"]);
    refused(
        &["jeex", "--opening-plies", "8", "--set", "turn_limit=8"],
        &["--opening-plies 8", "no opening of length 8", "shorter"],
    );
}

#[test]
fn where_there_is_chance_each_match_of_a_set_has_new_processes_on_the_same_dice() {
    let folder = Folder::new();
    let script = "import pathlib
with pathlib.Path(__file__).with_suffix('.pids').open('a') as pids:
    print(os.getpid(), file=pids)
play()";
    let (a, b) = (folder.bot("a", script), folder.bot("b", script));
    let records = folder.text("records");
    let args = ["play", "saxum", &a, &b, "-n", "4", "--mirror", "--set", "turn_limit=20", "--json"];
    let ended = referee(args.into_iter().chain(["--record", &records])).done();
    referee(["verify", &records]).done();
    assert_eq!(ended.one("summary")["trust_bots"], false);
    let mut pids = folder.pids("a.pids");
    pids.dedup();
    assert_eq!(pids.len(), 4, "a process for each match");
    let [m1, m2, m3] = ["m1", "m2", "m3"].map(|id| folder.record(&format!("records/{id}.jsonl")));
    assert_eq!(reveal(&m1)["seed"], reveal(&m2)["seed"]);
    assert_ne!(reveal(&m1)["seed"], reveal(&m3)["seed"]);
    let first_roll = |record: &[Value]| record.iter().find(|line| line["type"] == "draw").cloned();
    assert_eq!(
        first_roll(&m1).map(|roll| roll["drawn"].clone()),
        first_roll(&m2).map(|roll| roll["drawn"].clone())
    );

    let args = ["play", "saxum", &a, &b, "--mirror", "--trust-bots", "--set", "turn_limit=20", "--json"];
    assert_eq!(referee(args).done().one("summary")["trust_bots"], true);
    assert_eq!(folder.pids("a.pids").len(), 5, "trusted, one process plays both");
}

#[test]
fn a_bot_that_connects_plays_mirrored_deals_with_chance_only_when_it_is_trusted() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let args = ["play", "saxum", "tcp:alice", &bot, "--mirror", "--listen", "127.0.0.1:0"];
    referee(args).with_code(2).says(&[
        "saxum has chance",
        "`tcp:alice` cannot be started anew",
        "--trust-bots",
    ]);
    let args = args.into_iter().chain(["--trust-bots", "--wait", "1ms"]);
    referee(args).with_code(5).says(&["nobody connected as `alice`"]);
}
