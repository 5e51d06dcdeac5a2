//! `referee play` with openings, random or from a file, played once or from both sides.

use crate::common::{Folder, Referee, SEED, Signal, referee, sample, the};
use serde_json::{Value, json};

/// A bot that writes every message of its matches to a file with its name. It plays the last legal move: in Jeex the
/// first one may be a claim, which ends the match.
const TELLS_ALL: &str = "import pathlib
FILE = pathlib.Path(__file__).with_suffix('.received').open('w')
def received(then):
    def tell(message):
        print(json.dumps(message), file=FILE, flush=True)
        then(message)
    return tell
nothing = lambda _: None
last = lambda t: move(t, t['legal'][-1])
play(start=received(ready), event=received(nothing), turn=received(last), end=received(nothing))";

fn received(folder: &Folder, bot: &str, match_id: &str) -> Vec<Value> {
    let all = folder.record(&format!("{bot}.received"));
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
    for game in ["checkers", "chess", "jeex"] {
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
            let received = received(&folder, bot, "m1");
            assert_eq!(received[0]["type"], "start");
            let events = &received[1..7];
            assert!(events.iter().all(|event| event["event"]["opening"] == true), "{events:?}");
            let moves: Vec<Value> = events.iter().map(|event| event["event"]["move"].clone()).collect();
            assert_eq!(moves, opening(&record));
            // Seat 1 has its first turn after the first move of seat 0.
            assert_eq!(received[7 + seat]["type"], "turn");
            assert_eq!(
                [&received[7 + seat]["turn"], &received[7 + seat]["turns_left"]],
                [&json!(0), &json!(14 - seat)]
            );
        }
        let answers = record.iter().filter(|line| line["type"] == "answer").count();
        assert_eq!(the("result", &record)["decisions"], answers, "openings are not decisions");
    }
}

#[test]
fn a_seed_determines_the_openings_of_all_matches() {
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
fn a_changed_opening_is_detected() {
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
        assert!(text.contains("  2. greedy: ") && text.contains("  3. random: "), "{text}");
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
            let received = received(&folder, bot, match_id);
            let [start, .., end] = &received[..] else { panic!("{received:?}") };
            assert_eq!(
                [&start["type"], &start["deal"], &start["nonce"]],
                [&json!("start"), &Value::Null, &json!(false)]
            );
            assert_eq!((&end["type"], end.get("reveal").is_some()), (&json!("end"), is_last), "{end}");
        }
    }
}

#[test]
fn openings_match_the_specification() {
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

    // The bot in seat 0 wins: both bots once.
    let args = ["play", "checkers", &fair, &fair, "--mirror", "--set", "fen=B:W18:B14", "--json"];
    let ended = referee(args).done();
    assert_eq!(ended.one("set")["scores"], json!([1.0, 1.0]));
    assert_eq!(ended.one("summary")["bots"][1]["sets"], json!({"wins": 0, "draws": 1, "losses": 0}));
}

#[test]
fn output_without_sets_does_not_mention_them() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let records = folder.text("records");
    let ended = referee(["play", "checkers", &bot, &bot, "-n", "2", "--json", "--record", &records]).done();
    assert!(ended.all("set").is_empty() && ended.one("summary")["bots"][0].get("sets").is_none());
    assert!(folder.record("records/m1.jsonl")[0].get("opening_plies").is_none());
}

#[test]
fn first_record_of_set_waits_for_second_match() {
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
fn first_record_of_set_survives_missing_second_match() {
    let folder = Folder::new();
    let fair = folder.plain_bot("fair");
    // Its second process is silent.
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

/// Three openings, of 4, 2 and 0 moves.
const BOOK: &str = "[Event \"Old Faithful\"]\n[Result \"*\"]\n1. 11-15 23-19 2. 8-11 22-17 *\n\n\
                    [Event \"Edinburgh\"]\n1. 9-13 22-18 *\n\n\
                    [Event \"?\"]\n[FEN \"W:W31,32:B1,2\"]\n*\n";

/// The start of each match of a run: the position, then the moves.
fn begun(folder: &Folder, records: &str, matches: usize) -> Vec<Vec<String>> {
    let begun = |n| {
        let record = folder.record(&format!("{records}/m{n}.jsonl"));
        let moves = opening(&record);
        let in_header = record[0]["opening"].as_array().cloned().unwrap_or_default();
        assert_eq!(moves, in_header, "what the first line says is what was played");
        assert!(record[0].get("opening_plies").is_none());
        let start = record[0]["options"]["fen"].clone();
        std::iter::once(start).chain(moves).map(|text| text.as_str().expect("text").to_owned()).collect()
    };
    (1..=matches).map(begun).collect()
}

#[test]
fn openings_of_a_file_are_played_cyclically() {
    let folder = Folder::new();
    let (a, b) = (folder.bot("a", TELLS_ALL), folder.bot("b", TELLS_ALL));
    let (book, records) = (folder.write("book.pdn", BOOK), folder.text("records"));
    let args = ["play", "checkers", &a, &b, "-n", "4", "--set", "turn_limit=20", "--openings", &book];
    referee(args.into_iter().chain(["--json", "--record", &records])).done();
    referee(["verify", &records]).done();
    let begun = begun(&folder, "records", 4);
    let start = "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12";
    assert_eq!(begun[0], [start, "11-15", "23-19", "8-11", "22-17"]);
    assert_eq!(begun[1], [start, "9-13", "22-18"]);
    assert_eq!(begun[2], ["W:W31,32:B1,2"]);
    assert_eq!(begun[3], begun[0]);

    let received = received(&folder, "b", "m1");
    let events: Vec<&Value> = received[1..5].iter().map(|message| &message["event"]).collect();
    assert!(events.iter().all(|event| event["opening"] == true), "{events:?}");
    assert_eq!((&received[6]["type"], &received[6]["turns_left"]), (&json!("turn"), &json!(15)));
}

#[test]
fn set_plays_each_opening_of_file_from_both_sides() {
    let folder = Folder::new();
    let (a, b) = (folder.plain_bot("a"), folder.plain_bot("b"));
    let (book, records) = (folder.write("book.pdn", BOOK), folder.text("records"));
    let args = ["play", "checkers", &a, &b, "-n", "6", "--mirror", "--openings", &book, "--json"];
    referee(args.into_iter().chain(["--record", &records])).done();
    referee(["verify", &records]).done();
    let begun = begun(&folder, "records", 6);
    assert_eq!((&begun[0], &begun[2], &begun[4]), (&begun[1], &begun[3], &begun[5]));
    let lengths: Vec<usize> = begun.iter().map(Vec::len).collect();
    assert_eq!(lengths, [5, 5, 3, 3, 1, 1]);
    let first = |n| folder.record(&format!("records/m{n}.jsonl"))[0]["seats"][0]["name"].clone();
    assert_eq!([1, 2, 3, 4, 5, 6].map(first), ["a", "b", "a", "b", "a", "b"]);
}

#[test]
fn the_random_order_of_a_file_matches_the_specification() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let positions: String = (1..=10).map(|n| format!("B:W31,32:B{n}\n")).collect();
    let (book, records) = (folder.write("positions.fen", positions), folder.text("records"));
    let args = ["play", "checkers", &bot, &bot, "-n", "11", "--openings", &book, "--order", "random"];
    referee(args.into_iter().chain(["--seed", SEED, "--json", "--record", &records])).done();
    let begun = begun(&folder, "records", 11).into_iter().flatten();
    let order: Vec<String> = begun.map(|fen| fen.trim_start_matches("B:W31,32:B").to_owned()).collect();
    assert_eq!(order, ["4", "10", "8", "5", "1", "2", "3", "6", "7", "9", "4"]);
}

#[test]
fn openings_of_jeex_have_one_line_each() {
    let folder = Folder::new();
    let bot = folder.bot("bot", "play(turn=lambda t: move(t, t['legal'][-1]))");
    let book = "# two\nplace b3 E, place b2 NW, place a3 SE, place c1 N\n\nplace b3 E,place b2 NW\n";
    let (book, records) = (folder.write("book.txt", book), folder.text("records"));
    let args = ["play", "jeex", &bot, &bot, "-n", "2", "--set", "turn_limit=10", "--openings", &book];
    referee(args.into_iter().chain(["--record", &records])).done();
    referee(["verify", &records]).done();
    let openings = [1, 2].map(|n| opening(&folder.record(&format!("records/m{n}.jsonl"))));
    assert_eq!(openings[0], ["place b3 E", "place b2 NW", "place a3 SE", "place c1 N"]);
    assert_eq!(openings[1], ["place b3 E", "place b2 NW"]);
}

#[test]
fn a_given_opening_is_shown_exported_and_verified() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let (book, records) = (folder.write("book.pdn", BOOK), folder.text("records"));
    referee(["play", "checkers", &bot, &bot, "--openings", &book, "--record", &records]).done();
    let shown = referee(["show", &format!("{records}/m1.jsonl")]).done().stdout;
    assert_eq!(shown.matches(" (opening)\n").count(), 4, "{shown}");
    let exported = referee(["export", &records, "--format", "pdn"]).done().stdout;
    assert!(exported.contains("\n1. 11-15 23-19 2. 8-11 22-17 "), "{exported}");
    let forged = folder.read("records/m1.jsonl").replacen("22-17\"]", "22-18\"]", 1);
    let forged = folder.write("forged.jsonl", forged);
    let ended = referee(["verify", &forged]).with_code(1);
    assert!(ended.stdout.contains("but the rules give `{\"type\":\"event\""), "{}", ended.stdout);
}

#[test]
fn every_invalid_opening_of_a_file_is_listed() {
    let folder = Folder::new();
    let bot = "open(sys.argv[1], 'w').write('started')\nplay()";
    let bot = format!("{} '{}'", folder.bot("bot", bot), folder.text("started"));
    let refused = |game: &str, name: &str, text: &str, set: &str, what: &[&str]| {
        let file = folder.write(name, text);
        let args = ["play", game, &bot, &bot, "--set", set, "--openings", &file];
        referee(args).with_code(2).says(what);
    };
    let book = "[Event \"a\"]\n1. 11-15 23-22 *\n[Event \"b\"]\n1. 11-15 *\n\
                [Event \"c\"]\n[FEN \"B:W18:B14\"]\n1. 14x23 1-0\n";
    refused(
        "checkers",
        "book.pdn",
        book,
        "turn_limit=9",
        &[
            "book.pdn: game 1, ply 2, line 2: `23-22` is not legal for White",
            "book.pdn: game 3, ply 1, line 5: the match would be over before its first turn",
        ],
    );
    refused(
        "checkers",
        "book.pdn",
        BOOK,
        "turn_limit=2",
        &["game 1, ply 2, line 1: the match would be over"],
    );
    refused("checkers", "book.pdn", BOOK, "fen=B:W18:B12", &["set `fen` themselves: omit --set fen"]);
    refused(
        "checkers",
        "empty.pdn",
        "",
        "turn_limit=9",
        &["empty.pdn: line 1: the file contains no openings"],
    );
    refused(
        "checkers",
        "x.fen",
        "B:W18:B1\nB:W:B\n",
        "turn_limit=9",
        &["x.fen: line 2: invalid FEN B:W:B: Black is to move but has no piece"],
    );
    refused(
        "checkers",
        "x.txt",
        "11-15",
        "turn_limit=9",
        &["opening files of checkers have the extension .pdn or .fen"],
    );
    refused(
        "jeex",
        "x.txt",
        "place b3 E, place b3 E\nclaim",
        "turn_limit=9",
        &[
            "x.txt: ply 2, line 1: `place b3 E` is not legal for seat 1",
            "x.txt: ply 1, line 2: `claim` is not legal for seat 0",
        ],
    );
    refused("jeex", "many.txt", &"claim\n".repeat(30), "turn_limit=9", &["line 20: ", "\nand 10 more"]);
    refused("saxum", "x.txt", "1", "rows_to_win=7", &["saxum has no openings"]);
    assert!(!folder.path("started").exists(), "no bot was started");
}

#[test]
fn invalid_combinations_of_openings_and_sets_are_rejected() {
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
    refused(
        &["checkers", "--opening-start", "2"],
        &["required arguments were not provided", "--openings <FILE>"],
    );
    refused(&["checkers", "--openings", "x.pdn", "--opening-start", "0"], &["--opening-start", "0"]);
    refused(
        &["checkers", "--order", "random"],
        &["required arguments were not provided", "--openings <FILE>"],
    );
    refused(&["checkers", "--openings", "/missing.pdn"], &["/missing.pdn: No such file"]);
}

/// A collection as it is found: games of 6, 2 and 101 plies, one with an illegal second move, one with an illegal sixth,
/// one of another type, and one with contradictory results.
fn collection() -> String {
    let shuffle = "1. 11-15 23-19 2. 8-11 26-23 3. 4-8 30-26";
    let kings = "[FEN \"B:WK32:BK1\"]\n";
    let long: Vec<&str> = ["1-5", "32-28", "5-1", "28-32"].into_iter().cycle().take(101).collect();
    [
        format!("[Event \"whole\"]\n{shuffle} *"),
        "[Event \"short\"]\n1. 11-15 23-19 *".to_owned(),
        format!("[Event \"long\"]\n{kings}{} *", long.join(" ")),
        "[Event \"illegal\"]\n1. 9-14 23-22 *".to_owned(),
        "[Event \"illegal later\"]\n1. 9-13 22-18 2. 5-9 25-22 3. 1-5 22-1 *".to_owned(),
        "[Event \"10x10\"]\n[GameType \"20\"]\n1. 32-28 *".to_owned(),
        "[Event \"results\"]\n[Result \"1-0\"]\n1. 10-14 22-18 2. 6-10 25-22 0-1".to_owned(),
    ]
    .join("\n\n")
}

#[test]
fn games_of_collection_are_cut_and_unusable_ones_named() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let (games, records) = (folder.write("games.pdn", collection()), folder.text("records"));
    let args = ["play", "checkers", &bot, &bot, "-n", "5", "--set", "turn_limit=20", "--openings", &games];
    // Whole games cannot all be used, which the error tells with the remedy.
    referee(args).with_code(2).says(&[
        "game 3, line 7: an opening of 101 plies is too long: it has at most 100",
        "game 4, ply 2, line 12: `23-22` is not legal for White",
        "game 5, ply 6, line 15: `22-1` is not legal for White",
        "game 6, line 18: game type 20; 21 is English draughts",
        "`--opening-plies N` cuts the games of a collection, and leaves out those that are invalid",
    ]);
    let cut = args.into_iter().chain(["--opening-plies", "4", "--record", &records]);
    referee(cut).with_code(0).says(&[
        "--openings: 3 openings are left out, 4 remain:\n",
        "games.pdn: game 2, line 4: it has 2 plies, not 4\n",
        "games.pdn: game 4, ply 2, line 12: `23-22` is not legal for White",
        "games.pdn: game 6, line 18: game type 20; 21 is English draughts",
    ]);
    referee(["verify", &records]).done();
    let moves: Vec<String> = begun(&folder, "records", 5).iter().map(|begun| begun[1..].join(" ")).collect();
    assert_eq!(
        moves,
        [
            "11-15 23-19 8-11 26-23",
            "1-5 32-28 5-1 28-32",
            "9-13 22-18 5-9 25-22",
            "10-14 22-18 6-10 25-22",
            "11-15 23-19 8-11 26-23",
        ]
    );
    let none = args.into_iter().chain(["--opening-plies", "19"]);
    let ended = referee(none).with_code(0).says(&["6 openings are left out, 1 remain:"]);
    assert!(!ended.stderr.contains("game 3,"), "{}", ended.stderr);
}

#[test]
fn a_run_goes_on_in_a_file_of_openings() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let positions: String = (1..=10).map(|n| format!("B:W31,32:B{n}\n")).collect();
    let book = folder.write("positions.fen", positions);
    let order = |records: &str, matches: usize, extra: &[&str]| {
        let (count, path) = (matches.to_string(), folder.text(records));
        let args = ["play", "checkers", &bot, &bot, "-n", &count, "--openings", &book, "--seed", SEED];
        referee(args.into_iter().chain(extra.iter().copied()).chain(["--record", &path])).done();
        let begun = begun(&folder, records, matches).into_iter().flatten();
        begun.map(|fen| fen.trim_start_matches("B:W31,32:B").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(order("a", 3, &["--opening-start", "9"]), ["9", "10", "1"]);
    // 4 10 8 5 1 2 3 6 7 9, as the specification says.
    assert_eq!(order("b", 3, &["--order", "random", "--opening-start", "4"]), ["5", "1", "2"]);
    assert_eq!(order("c", 2, &["--opening-start", "20"]), ["10", "1"]);
}

#[test]
fn positions_have_no_moves_to_cut() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let book = folder.write("positions.fen", "B:W31,32:B1\n");
    referee(["play", "checkers", &bot, &bot, "--openings", &book, "--opening-plies", "4"])
        .with_code(2)
        .says(&["positions.fen: line 1: it has 0 plies, not 4"]);
    referee(["play", "checkers", &bot, &bot, "--openings", &book, "--opening-plies", "0"]).done();
}

#[test]
fn with_chance_each_match_of_a_set_has_new_processes() {
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
fn mirrored_chance_needs_trust_for_bots_that_connect() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let args = ["play", "saxum", "tcp:alice", &bot, "--mirror", "--listen", "127.0.0.1:0"];
    referee(args).with_code(2).says(&[
        "saxum has chance",
        "the referee cannot restart `tcp:alice`",
        "--trust-bots",
    ]);
    let args = args.into_iter().chain(["--trust-bots", "--wait", "1ms"]);
    referee(args).with_code(5).says(&["no bot connected as `alice`"]);
}
