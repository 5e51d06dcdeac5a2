//! `referee play` with real processes.

use std::os::unix::fs::PermissionsExt;

use crate::common::{
    Folder, KEEPS_ITS_PID, SEED, WON, assert_gone, files, on_a_terminal, referee, sample, the,
};
use serde_json::{Value, json};

// ---- what is played ----

#[test]
fn copies_of_one_set_have_no_interval() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    let more = ["-n", "40", "--mirror", "--set", "turn_limit=20"];
    let args = [&["play", "checkers", &bot, &bot][..], &more].concat();
    let text = referee(&args).done().stdout;
    assert!(
        text.contains("Elo: unknown from copies of one of the sets; more openings would tell more"),
        "{text}"
    );
    let summary = referee([&args[..], &["--json"]].concat()).done().one("summary");
    let difference = &summary["difference"];
    assert_eq!([&difference["sets"], &difference["copies"], &difference["openings"]], [1, 19, 1]);
    assert_eq!([&difference["elo"], &difference["score"], &difference["superiority"]], [&Value::Null; 3]);
}

#[test]
fn lines_that_transpose_into_one_position_are_one_opening() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    let lines = [
        "1. 9-13 22-18 2. 12-16 24-20 *",
        "1. 12-16 22-18 2. 9-13 24-20 *",
        "1. 9-13 24-20 2. 12-16 22-18 *",
        "1. 12-16 24-20 2. 9-13 22-18 *",
    ];
    let book: String = lines.iter().map(|line| format!("[Event \"a line\"]\n{line}\n\n")).collect();
    let book = folder.write("book.pdn", book);
    let more = ["-n", "16", "--mirror", "--openings", &book, "--set", "turn_limit=20", "--json"];
    let summary = referee([&["play", "checkers", &bot, &bot][..], &more].concat()).done().one("summary");
    let difference = &summary["difference"];
    assert_eq!([&difference["sets"], &difference["copies"], &difference["openings"]], [1, 7, 1]);
    assert_eq!([&difference["elo"], &difference["superiority"]], [&Value::Null; 2]);
}

#[test]
fn a_match_of_two_bots_is_shown_with_boards() {
    let folder = Folder::new();
    let records = folder.text("records");
    let [random, greedy] =
        ["random", "greedy"].map(|bot| sample(&format!("python/{bot}_bot.py")) + " --seed 1");
    let ended = referee(["play", "checkers", &random, &greedy, "--record", &records]).done();
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines[0], "checkers: random - greedy");
    assert!(ended.stdout.contains("  1. random: "), "{}", ended.stdout);
    assert!(ended.stdout.contains("  2. greedy: "), "{}", ended.stdout);
    assert!(ended.stdout.contains("\n29 |"), "{}", ended.stdout);
    assert!(!ended.stdout.contains('\x1b'), "no terminal, no escape codes");
    let [.., result, record] = &lines[..] else { panic!("{}", ended.stdout) };
    assert!(result.starts_with("m1: ") && result.contains(" moves in "), "{result}");
    assert_eq!(*record, format!("record: {records}/m1.jsonl"));
    assert_eq!(files(&folder.path("records")), ["m1.jsonl"]);
    referee(["verify", &records]).done();
}

#[test]
fn bot_command_is_split_like_shell_but_run_without_one() {
    let folder = Folder::new();
    let bot = folder.bot("bot", "print(sys.argv[1:], file=sys.stderr, flush=True)\nplay()");
    let words = format!("{bot} 'two words' \"it's\" $HOME *.py a\\ b ';' '' >x");
    let records = folder.text("records");
    referee(["play", "checkers", &words, &words, "--set", WON, "--record", &records]).done();
    let expected = ["two words", "it's", "$HOME", "*.py", "a b", ";", "", ">x"];
    let record = folder.record("records/m1.jsonl");
    assert_eq!(
        the("bots", &record)["bots"][0]["stderr"],
        "['two words', \"it's\", '$HOME', '*.py', 'a b', ';', '', '>x']\n"
    );
    let command = record[0]["seats"][0]["bot"]["command"].as_array().expect("a list");
    assert_eq!(command[3..], expected.map(Value::from));
}

#[test]
fn argument_that_is_not_regular_file_is_not_read() {
    let folder = Folder::new();
    let pipe = folder.text("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let bot = folder.plain_bot("bot");
    let with_pipe = format!("{bot} '{pipe}' {} /dev/zero", folder.text(""));
    let records = folder.text("records");
    referee(["play", "checkers", &with_pipe, &bot, "--set", WON, "--record", &records]).done();
    let files = folder.record("records/m1.jsonl")[0]["seats"][0]["bot"]["files"].clone();
    let names: Vec<&String> = files.as_object().expect("an object").keys().collect();
    assert_eq!(names.len(), 2, "the interpreter and the script: {names:?}");
    assert!(names.iter().any(|name| name.ends_with("/bot.py")), "{names:?}");
}

#[test]
fn seats_alternate_and_processes_are_reused() {
    let folder = Folder::new();
    let counting = format!(
        "{KEEPS_ITS_PID}
played = []
def end(message):
    played.append(message['match'])
    print(*played, file=sys.stderr, flush=True)
play(end=end)"
    );
    let (a, b) = (folder.bot("a", &counting), folder.bot("b", &counting));
    let records = folder.text("records");
    let args = ["play", "checkers", &a, &b, "-n", "5", "--set", WON, "--json", "--record", &records];
    let ended = referee(args).done();
    let seats: Vec<Value> = ended.all("match").into_iter().map(|line| line["seats"].clone()).collect();
    let (ab, ba) = (json!(["a", "b"]), json!(["b", "a"]));
    assert_eq!(seats, [ab.clone(), ba.clone(), ab.clone(), ba, ab]);
    for bot in ["a", "b"] {
        let pids = folder.pids(&format!("{bot}.pids"));
        assert_eq!(pids.len(), 1, "one process of {bot} plays all matches");
        assert_gone(&pids);
    }
    // Black wins the position, so the bot in seat 0.
    let summary = ended.one("summary");
    assert_eq!([&summary["bots"][0]["wins"], &summary["bots"][1]["wins"]], [3, 2]);
    // Output after an `end` belongs to the record of the next match.
    let said = |n| the("bots", &folder.record(&format!("records/m{n}.jsonl")))["bots"].clone();
    let seen: Vec<Value> = (1..=5).map(|n| said(n)[(n + 1) % 2]["stderr"].clone()).collect();
    let seen = seen.iter().map(|said| said.as_str().expect("text")).collect::<String>();
    assert!(seen.starts_with("m1\nm1 m2\nm1 m2 m3\nm1 m2 m3 m4\n"), "{seen}");
}

#[test]
fn bot_that_exits_after_each_match_is_restarted_without_fault() {
    let folder = Folder::new();
    let once = folder.bot("once", &format!("{KEEPS_ITS_PID}\nplay(end=lambda _: sys.exit(0))"));
    let other = folder.plain_bot("other");
    let records = folder.text("records");
    let args = ["play", "checkers", &once, &other, "-n", "20", "--set", WON, "--json", "--strict"];
    let ended = referee(args.into_iter().chain(["--record", &records])).done();
    assert_eq!(ended.all("match").len(), 20);
    let summary = ended.one("summary");
    assert_eq!(summary["matches"], 20);
    assert_eq!([&summary["bots"][0]["wins"], &summary["bots"][1]["wins"]], [10, 10]);
    assert_eq!([&summary["bots"][0]["faults"], &summary["bots"][1]["faults"]], [&json!({}), &json!({})]);
    assert_gone(&folder.pids("once.pids"));
    assert_eq!(folder.pids("once.pids").len(), 20, "a process for each match");
    referee(["verify", &records]).done();
}

#[test]
fn one_program_can_play_itself_under_two_names() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let ended = referee(["play", "checkers", &bot, &bot, "--set", WON, "--json"]).done();
    assert_eq!(ended.one("match")["seats"], json!(["test bot", "test bot-2"]));
}

/// A bot that says this name.
fn saying(folder: &Folder, name: &str) -> String {
    folder.bot("says", "play(hello=lambda _: say(type='hello', protocol=1, name=sys.argv[1]))")
        + &format!(" '{name}'")
}

#[test]
fn bots_are_called_as_their_hello_says_everywhere() {
    let folder = Folder::new();
    let records = folder.text("records");
    let bots = ["Ada 1.0", "-x"].map(|name| saying(&folder, name));
    let args = ["play", "checkers", &bots[0], &bots[1], "-n", "4", "--jobs", "2", "--mirror", "--set", WON];
    let more = ["--record", records.as_str(), "--json"];
    let ended = referee(args.iter().chain(&more)).done();
    let summary = ended.one("summary");
    // A name that begins like an option is none.
    let names = ["Ada 1.0", "says"];
    assert_eq!([&summary["bots"][0]["bot"], &summary["bots"][1]["bot"]], names);
    for set in ended.all("set") {
        assert_eq!(set["bots"], json!(names));
    }
    for number in 1..=4 {
        let id = format!("m{number}");
        let record = folder.record(&format!("records/{id}.jsonl"));
        let mut in_order = names;
        in_order.rotate_left((number + 1) % 2);
        assert_eq!([&record[0]["seats"][0]["name"], &record[0]["seats"][1]["name"]], in_order, "{id}");
        let line = ended.all("match").into_iter().find(|line| line["id"] == id).expect("its line");
        assert_eq!(line["seats"], json!(in_order), "{id}");
    }
    let shown = referee(["show", &format!("{records}/m1.jsonl")]).done().stdout;
    assert!(shown.starts_with("m1 checkers: Ada 1.0 - says\n"), "{shown}");
    let table = referee(args).done().stdout;
    assert!(table.contains("Ada 1.0") && table.contains("says"), "{table}");
}

#[test]
fn versions_that_say_the_same_name_are_told_apart() {
    let folder = Folder::new();
    let [old, new] = ["old", "new"].map(|name| folder.plain_bot(name));
    let seats = |args: &[&str]| {
        let set = ["--set", WON, "--json"];
        referee(["play", "checkers"].iter().chain(args).chain(&set)).done().one("match")["seats"].clone()
    };
    assert_eq!(seats(&[&old, &new]), json!(["old", "new"]), "by their programs");
    let alike = ["bot", "Bot"].map(|name| saying(&folder, name));
    assert_eq!(seats(&[&alike[0], &alike[1]]), json!(["bot", "Bot-2"]), "by numbers");
    let named = ["--name", "A", "--name", "B"];
    assert_eq!(seats(&[&[old.as_str(), &new], &named[..]].concat()), json!(["A", "B"]));
    let one = ["--name", "old"];
    for (names, what) in [
        (&one[..], "--name: 1 given for 2 bots that the referee starts; expected one for each"),
        (&["--name", "a", "--name", "A"], "--name A: the name looks like `a`, which is another one"),
        (&["--name=-x", "--name", "b"], "--name -x: a name begins with a letter, a digit or `_`"),
    ] {
        let args = [&["play", "checkers", &old, &new], names].concat();
        let refused = referee(args).with_code(2);
        assert!(refused.stderr.contains(what), "{}", refused.stderr);
    }
}

#[test]
fn bot_that_never_says_hello_has_name_of_its_program() {
    let folder = Folder::new();
    let silent = folder.bot("mute", "sys.exit(3)");
    let bot = saying(&folder, "bot");
    let ended = referee(["play", "checkers", &bot, &silent, "--set", WON, "--json"]).with_code(5);
    assert!(ended.stderr.contains("the bot `mute` does not start"), "{}", ended.stderr);
    assert_eq!(ended.one("match")["seats"], json!(["bot", "mute"]));
}

#[test]
fn the_setup_reaches_the_bots_and_the_record() {
    let folder = Folder::new();
    let bot = folder.bot(
        "bot",
        "def start(message):
    print(json.dumps(message), file=sys.stderr, flush=True)
    ready(message)
play(start=start)",
    );
    let records = folder.text("records");
    let seed = folder.write_secret("seed", format!("{SEED}\n"));
    let args = ["play", "checkers", &bot, &bot, "--set", "draw_plies=3", "--set", "turn_limit=9"];
    let terms = ["--clock", "delay=2s,bank=1m,increment=250ms", "--margin", "7ms", "--on-fault", "retry=2"];
    referee(args.iter().chain(&terms).chain(&["--seed-file", &seed, "--record", &records])).done();
    let record = folder.record("records/m1.jsonl");
    let seen = the("bots", &record)["bots"][1]["stderr"].as_str().expect("text").to_owned();
    let start: Value = serde_json::from_str(&seen).expect("the start that the bot saw");
    assert_eq!(start["clock"], json!({"delay_ms": 2000, "bank_ms": 60000, "increment_ms": 250}));
    assert_eq!(start["options"]["draw_plies"], 3);
    assert_eq!(start["options"]["turn_limit"], 9);
    assert_eq!(start["seat"], 1);
    // The value that the specification derives from this run seed.
    let commitment = "34f6c8da9620584c4fe415e490f518f0b6fd3e796223f766ce959bfeb80dd99a";
    assert_eq!(start["commitment"], commitment);
    assert_eq!(record[0]["commitment"], commitment);
    assert_eq!(record[0]["clock"], start["clock"]);
    assert_eq!([&record[0]["margin_ms"], &record[0]["on_fault"]], [&json!(7), &json!("retry=2")]);
    assert_eq!(the("result", &record)["reason"], "quiet_plies");
}

#[test]
fn without_a_clock_there_are_no_limits() {
    let folder = Folder::new();
    let bot = folder.bot(
        "bot",
        "def turn(message):
    print(message['clock'], file=sys.stderr, flush=True)
    first(message)
play(turn=turn)",
    );
    let records = folder.text("records");
    referee(["play", "checkers", &bot, &bot, "--set", WON, "--clock", "none", "--record", &records]).done();
    let record = folder.record("records/m1.jsonl");
    assert_eq!(record[0]["clock"], Value::Null);
    assert_eq!(the("bots", &record)["bots"][0]["stderr"], "None\n");
}

#[test]
fn json_lines_of_match_and_summary_are_complete() {
    let folder = Folder::new();
    let (a, b) = (folder.plain_bot("a"), folder.illegal_bot("t['turn'] == 1"));
    let records = folder.text("records");
    let args = ["play", "checkers", &a, &b, "-n", "2", "--json", "--seed", SEED, "--record", &records];
    let ended = referee(args).done();
    let lines = ended.json();
    let types: Vec<&Value> = lines.iter().map(|line| &line["type"]).collect();
    assert_eq!(types, ["match", "match", "summary"]);
    let first = &lines[0];
    for (field, value) in [
        ("id", json!("m1")),
        ("game", json!("checkers")),
        ("seats", json!(["a", "illegal"])),
        ("ranks", json!([1, 2])),
        ("scores", json!([1.0, 0.0])),
        ("ended_by", json!("fault")),
        ("reason", json!("illegal_move")),
        ("fault", json!({"seat": 1, "code": "illegal_move"})),
        ("faults", json!([{}, {"illegal_move": 1}])),
        ("decisions", json!(3)),
        ("record", json!(format!("{records}/m1.jsonl"))),
    ] {
        assert_eq!(first[field], value, "{field}");
    }
    assert!(first["duration_us"].as_u64().expect("a number") > 0);
    assert!(first["lag_ms"].is_u64());
    // Starting a Python interpreter takes some hundredths of a second.
    assert!(
        first["cpu_ms"][0].as_u64().expect("a number") + first["cpu_ms"][1].as_u64().expect("a number") > 0
    );
    assert_eq!(lines[1]["seats"], json!(["illegal", "a"]));
    assert_eq!(lines[1]["ranks"], json!([2, 1]));
    let summary = &lines[2];
    assert_eq!([&summary["matches"], &summary["aborted"]], [2, 0]);
    assert_eq!([&summary["seed"], &summary["interrupted"]], [&json!(SEED), &json!(false)]);
    let cpu_ms = summary["bots"][1]["cpu_ms"].as_u64().expect("a number");
    // The machine decides which layers it has.
    let sandbox = &summary["bots"][1]["sandbox"];
    assert!(sandbox["layers"].is_array(), "{summary}");
    assert_eq!(
        summary["bots"][1],
        json!({"bot": "illegal", "command": b.replace('\'', ""), "matches": 2, "wins": 0, "draws": 0,
            "losses": 2, "score": 0.0, "faults": {"illegal_move": 2}, "cpu_ms": cpu_ms, "sandbox": sandbox})
    );
}

#[test]
fn many_matches_end_with_a_table_and_the_run_seed() {
    let folder = Folder::new();
    let (a, b) = (folder.plain_bot("a"), folder.illegal_bot("t['turn'] == 1"));
    let ended = referee(["play", "checkers", &a, &b, "-n", "4", "--seed", SEED]).done();
    let lines: Vec<Vec<&str>> = ended.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["bot", "matches", "wins", "draws", "losses", "score", "cpu", "faults"]);
    assert_eq!(lines[1][..6], ["a", "4", "4", "0", "0", "4"]);
    assert_eq!(lines[2][..6], ["illegal", "4", "0", "0", "4", "0"]);
    assert_eq!(lines[2][8..], ["4", "illegal_move"]);
    // Two of the matches are copies. 0.025^(1/2) is 16%, which is -290.5 Elo; 1 - 1/2^3 is 87.5%.
    let difference = "Elo of a against illegal: above -290.5 at 95%, likelihood of superiority 87.5%, from 2 distinct sets \
                      on 1 opening or deal";
    assert_eq!(lines[3].join(" "), "illegal in m1: illegal move; the move is `1-32`");
    assert_eq!(lines[4].join(" "), difference);
    assert_eq!(lines[5].join(" "), "2 copies of others do not count: the bots are deterministic");
    assert_eq!(lines[6], ["run", "seed", SEED]);
    assert_eq!(lines.len(), 7);
}

#[test]
fn each_match_has_a_line_as_it_ends_if_asked() {
    let folder = Folder::new();
    let (a, b) = (folder.plain_bot("a"), folder.illegal_bot("t['turn'] == 1"));
    let config = format!(
        "game = 'checkers'\nmirror = 'none'\n[format]\nkind = 'round_robin'\ncycles = 2\n\
         [[entrants]]\nname = 'a'\ncommand = {a:?}\n[[entrants]]\nname = 'b'\ncommand = {b:?}\n"
    );
    let (config, cup) = (folder.write("cup.toml", config), folder.text("cup"));
    for args in [
        vec!["play", "checkers", &a, &b, "-n", "2"],
        vec!["regress", "checkers", "--new", &a, "--base", &b, "--max-sets", "1"],
        vec!["tournament", "run", &config, "--dir", &cup],
    ] {
        let ended = referee(args.into_iter().chain(["--lines"]));
        for id in ["m1", "m2"] {
            let has_line = |line: &str| line.starts_with(&format!("{id}: ")) && line.contains("illegal move");
            assert!(ended.stderr.lines().any(has_line), "{id}: {ended:#?}");
        }
    }
    referee(["play", "checkers", &a, &b, "--lines", "--json"]).with_code(2);
}

#[test]
fn without_openings_report_is_silent_on_openings_like_these() {
    let folder = Folder::new();
    let a = folder.bot("a", "play(turn=lambda t: move(t, t['legal'][os.getpid() % len(t['legal'])]))");
    let b = folder.bot("b", "play(turn=lambda t: say(type='resign', match=t['match']))");
    let text = referee(["play", "checkers", &b, &a, "-n", "10", "--clock", "none"]).done().stdout;
    assert!(text.contains("on 1 opening or deal") && !text.contains("like these"), "{text}");
    let one = referee(["play", "checkers", &b, &b, "-n", "3", "--clock", "none"]).done().stdout;
    assert!(one.contains("\n1 copy of another does not count: the bots are deterministic\n"), "{one}");
}

#[test]
fn two_bots_are_compared_by_matches_or_mirrored_sets() {
    let folder = Folder::new();
    let (a, b) = (folder.plain_bot("a"), folder.plain_bot("b"));
    let play = |more: &[&str]| referee(["play", "checkers", &a, &b, "--set", WON].iter().chain(more)).done();
    // Black wins the position, so the bot in seat 0: a in 5 of 9 matches, of which two differ.
    let matches = &play(&["-n", "9", "--json"]).one("summary")["difference"];
    assert_eq!(
        [&matches["sets"], &matches["copies"], &matches["counts"]],
        [&json!(2), &json!(7), &json!([1, 0, 1])]
    );
    assert_eq!([&matches["superiority"], &matches["elo"]["value"]], [&json!(0.5), &json!(0.0)]);
    assert!(matches["elo"]["high"].as_f64().expect("a number") > 400.0, "{matches}");
    let one = &play(&["-n", "8", "--mirror", "--json"]).one("summary")["difference"];
    assert_eq!(
        *one,
        json!({"sets": 1, "copies": 3, "distinct_sets": 1, "openings": 1, "counts": [0, 0, 1, 0, 0], "score": null,
            "elo": null, "elo_of_openings_like_these": null, "superiority": null})
    );
    let text = play(&["-n", "8", "--mirror"]).stdout;
    assert!(text.contains("\nsets by score: 0, 0, 1, 0, 0\n"), "{text}");
    let text = play(&["-n", "2", "--mirror"]).stdout;
    assert!(text.contains("\nElo: unknown from fewer than 2 sets\n"), "{text}");
}

#[test]
fn more_than_two_bots_are_not_compared() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let bots = [bot.as_str(); 4];
    let args =
        ["play", "keezen"].into_iter().chain(bots).chain(["-n", "2", "--set", "turn_limit=2", "--json"]);
    let summary = referee(args).done().one("summary");
    assert_eq!(summary.get("difference"), None);
}

#[test]
fn a_single_match_is_shown_with_any_number_of_jobs() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    for _ in 0..5 {
        let args = ["play", "checkers", &plain, &plain, "--jobs", "4", "--set", "turn_limit=4"];
        let ended = referee(args).done();
        assert!(ended.stdout.contains("Black to move"), "{}", ended.stdout);
    }
}

// ---- a terminal ----

#[test]
fn many_matches_on_a_terminal_have_a_progress_bar() {
    let folder = Folder::new();
    let bot = folder.bot("bot", "import time\nplay(turn=lambda t: (time.sleep(0.1), first(t)))");
    let args = ["play", "checkers", &bot, &bot, "-n", "5", "--set", WON];
    let ended = on_a_terminal(&[], &args).end().with_code(0);
    assert!(ended.stdout.contains("/5 matches"), "{}", ended.stdout);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let [.., table, _, elo, _, seed] = &lines[..] else { panic!("{}", ended.stdout) };
    assert!(table.starts_with(" test bot "), "{table:?}");
    assert!(elo.starts_with("Elo of "), "{elo:?}");
    assert!(seed.starts_with("run seed "), "{seed:?}");
}

#[test]
fn one_match_on_terminal_has_bold_moves_and_no_bar() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let ended = on_a_terminal(&[], &["play", "checkers", &bot, &bot, "--set", WON]).end().with_code(0);
    assert!(!ended.stdout.contains("/1 matches"), "{}", ended.stdout);
    assert!(ended.stdout.contains("\x1b[1m  1. test bot: 14x23\x1b[0m"), "{}", ended.stdout);
}

// ---- chance ----

/// A record without values that depend on the time, the machine or the directory.
fn timeless(record: &[Value]) -> Vec<Value> {
    let mut lines = record.to_vec();
    for line in &mut lines {
        let fields = line.as_object_mut().expect("an object");
        for field in ["at_us", "took_us", "lag_us", "lag_ms", "sha256"] {
            fields.remove(field);
        }
        for bot in fields.get_mut("bots").and_then(Value::as_array_mut).into_iter().flatten() {
            bot.as_object_mut().expect("an object").remove("cpu_ms");
        }
    }
    // The two seats become ready in any order.
    lines[1..5].sort_by_key(ToString::to_string);
    lines
}

#[test]
fn equal_seeds_and_deterministic_bots_give_equal_matches() {
    let folder = Folder::new();
    let illegal = folder.illegal_bot("t['turn'] % 3 == 1");
    let plain = folder.plain_bot("plain");
    let mut plays = Vec::new();
    for (name, seed) in [("one", SEED.to_owned()), ("two", SEED.to_owned()), ("other", "7".repeat(64))] {
        let records = folder.text(name);
        let args = ["play", "checkers", &illegal, &plain, "-n", "4", "--on-fault", "random", "--seed", &seed];
        referee(args.into_iter().chain(["--record", &records])).done();
        let record = |match_| timeless(&folder.record(&format!("{name}/m{match_}.jsonl")));
        plays.push((1..=4).map(record).collect::<Vec<_>>());
    }
    assert_eq!(plays[0], plays[1]);
    for (same, other) in plays[0].iter().zip(&plays[2]) {
        assert_ne!(same[0]["commitment"], other[0]["commitment"]);
        assert_ne!(same, other, "the referee's moves for the faulty seat come from the seed");
    }
}

/// The first number below `n` of the referee's random stream for faulty seats, as specified on the page on chance.
fn first_fallback(seed: &str, game: &str, deal: &str, nonces: &str, n: u64) -> u64 {
    let script = "import hmac, sys
seed, game, deal, nonces, n = sys.argv[1:]
key = hmac.digest(bytes.fromhex(seed), f'referee/1\\n{game}\\n{deal}\\n{nonces}'.encode(), 'sha256')
block = hmac.digest(hmac.digest(key, b'fallback', 'sha256'), bytes(8), 'sha256')
print(int.from_bytes(block[:8], 'big') % int(n))";
    let n = n.to_string();
    let python =
        std::process::Command::new("python3").args(["-c", script, seed, game, deal, nonces, &n]).output();
    let printed = String::from_utf8(python.expect("Python runs").stdout).expect("UTF-8");
    printed.trim().parse().expect("a number")
}

#[test]
fn fallback_moves_derive_from_seed_and_nonces() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let legal = ["10-14", "10-15", "11-15", "11-16", "12-16", "9-13", "9-14"];
    for nonce in ["", "00ff", "c0ffee", "17", "18", "19"] {
        let script =
            format!("play(start=lambda s: ready(s, nonce='{nonce}'), turn=lambda t: move(t, 'nowhere'))");
        let noncing = folder.bot("noncing", &script);
        let records = folder.text(&format!("records{nonce}"));
        let args = ["play", "checkers", &noncing, &plain, "--set", "turn_limit=1", "--on-fault", "random"];
        referee(args.into_iter().chain(["--seed", SEED, "--record", &records])).done();
        let record = folder.record(&format!("records{nonce}/m1.jsonl"));
        let reveal = &the("seal", &record)["reveal"];
        assert_eq!(reveal["nonces"], json!([nonce, ""]));
        let seed = reveal["seed"].as_str().expect("hex");
        let index = first_fallback(seed, "checkers", "m1", &format!("{nonce},"), 7);
        assert_eq!(the("fallback", &record)["move"], legal[index as usize], "nonce {nonce}");
        referee(["verify", &records]).done();
    }
}

// ---- records ----

#[test]
fn a_directory_of_records_is_private() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let records = folder.text("new/records");
    referee(["play", "checkers", &bot, &bot, "--set", WON, "--record", &records]).done();
    let mode = std::fs::metadata(&records).expect("the folder").permissions().mode();
    assert_eq!(mode & 0o7777, 0o700, "{mode:o}");
}

#[test]
fn records_of_another_run_go_to_a_numbered_directory() {
    let folder = Folder::new();
    let bot = folder.bot("bot", &format!("{KEEPS_ITS_PID}\nplay()"));
    std::fs::create_dir(folder.path("records")).expect("a new folder");
    folder.write("records/notes.txt", "mine");
    let records = folder.text("records");
    // The path of a directory may end in a slash.
    for (run, named) in
        ["records", "records-2", "records-3"].into_iter().zip([&records, &format!("{records}/"), &records])
    {
        let output =
            if run == "records" { String::new() } else { format!("earlier run: using {}", folder.text(run)) };
        let ended = referee(["play", "checkers", &bot, &bot, "--set", WON, "--record", named]).with_code(0);
        assert!(ended.stderr.contains(&output), "{run}: {ended:#?}");
        assert!(ended.stdout.contains(&format!("{}/m1.jsonl", folder.text(run))), "{run}: {ended:#?}");
        referee(["verify", &folder.text(run)]).done();
    }
    assert_eq!(files(&folder.path("records")), ["m1.jsonl", "notes.txt"]);
}

#[test]
fn a_records_path_without_a_name_is_rejected_unchanged() {
    let folder = Folder::new();
    let bot = folder.bot("bot", &format!("{KEEPS_ITS_PID}\nplay()"));
    folder.write("m1.jsonl", "kept");
    let records = folder.text("new/..");
    std::fs::create_dir(folder.path("new")).expect("a new folder");
    referee(["play", "checkers", &bot, &bot, "--set", WON, "--record", &records])
        .with_code(2)
        .says(&[&format!("--record {records}: it contains records: name a new or an empty directory")]);
    assert_eq!(folder.read("m1.jsonl"), "kept");
    assert!(!folder.path("bot.pids").exists(), "no bot was started");
}

#[test]
fn a_directory_that_cannot_be_created_is_an_early_error() {
    let folder = Folder::new();
    let bot = folder.bot("bot", &format!("{KEEPS_ITS_PID}\nplay()"));
    folder.write("file", "");
    let below = folder.text("file/records");
    referee(["play", "checkers", &bot, &bot, "--record", &below])
        .with_code(5)
        .says(&[&format!("--record {below}: Not a directory")]);
    let file = folder.text("file");
    referee(["play", "checkers", &bot, &bot, "--record", &file])
        .with_code(2)
        .says(&[&format!("--record {file}: ")]);
    assert!(!folder.path("bot.pids").exists(), "no bot was started");
}

#[test]
fn a_record_that_cannot_be_kept_ends_the_run() {
    let folder = Folder::new();
    // The disk fails in the second match.
    let records = folder.text("records");
    let script = format!(
        "{KEEPS_ITS_PID}
import shutil, time
def start(message):
    if message['match'] == 'm2':
        while not os.path.exists('{records}/m1.jsonl'):
            time.sleep(0.01)
        time.sleep(0.5)  # until the record has been synchronized and the result printed
        shutil.rmtree('{records}')
    ready(message)
play(start=start)"
    );
    let (breaking, plain) = (folder.bot("breaking", &script), folder.plain_bot("plain"));
    let args =
        ["play", "checkers", &breaking, &plain, "-n", "9", "--set", WON, "--json", "--record", &records];
    let ended = referee(args);
    let ended = ended
        .with_code(5)
        .says(&["the record of m2 cannot be kept: ", "m2.jsonl.part: No such file or directory"]);
    assert_eq!(ended.all("match").len(), 1);
    assert_eq!(ended.one("summary")["matches"], 1, "what was played is summarized");
    assert_gone(&folder.pids("breaking.pids"));
}

#[test]
fn a_record_contains_the_end_of_standard_error() {
    let folder = Folder::new();
    let script = "import fcntl, struct, termios
def turn(t):
    for n in range(10_000):
        os.write(2, b'line %05d\\n' % n)
    while struct.unpack('i', fcntl.ioctl(2, termios.FIONREAD, bytes(4)))[0]:
        pass  # until all of it has been read
    first(t)
play(turn=turn)";
    let (chatty, plain) = (folder.bot("chatty", script), folder.plain_bot("plain"));
    let records = folder.text("records");
    referee(["play", "checkers", &chatty, &plain, "--set", WON, "--record", &records]).done();
    let bots = the("bots", &folder.record("records/m1.jsonl"))["bots"].clone();
    let kept = bots[0]["stderr"].as_str().expect("text");
    assert_eq!(kept.len(), 64 * 1024);
    assert!(kept.ends_with("line 09998\nline 09999\n"), "its end is kept");
    assert_eq!(bots[0]["stderr_dropped"], 11 * 10_000 - 64 * 1024);
    assert_eq!([&bots[1]["stderr"], &bots[1]["stderr_dropped"]], [&json!(""), &json!(0)]);
}

#[test]
fn a_record_contains_the_traceback_of_a_crash() {
    let folder = Folder::new();
    let crashing = folder.bot("crashing", "play(turn=lambda t: first(t) if t['turn'] < 2 else {}['gone'])");
    let plain = folder.plain_bot("plain");
    let records = folder.text("records");
    let args = ["play", "checkers", &plain, &crashing, "-n", "2", "--json", "--record", &records];
    let ended = referee(args).done();
    for (played, seat) in ended.all("match").iter().zip([1, 0]) {
        assert_eq!(played["fault"], json!({"seat": seat, "code": "exited", "detail": "status 1"}));
        let record = folder.record(&format!("records/{}.jsonl", played["id"].as_str().expect("an id")));
        let stderr = the("bots", &record)["bots"][seat]["stderr"].as_str().expect("text").to_owned();
        assert!(stderr.ends_with("KeyError: 'gone'\n"), "{stderr:?}");
    }
    referee(["verify", &records]).done();
}

// ---- ending ----

#[test]
fn a_bot_that_ignores_its_end_is_killed_without_delay() {
    let folder = Folder::new();
    let script = format!(
        "{KEEPS_ITS_PID}
import time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
play()
time.sleep(60)"
    );
    let (deaf, plain) = (folder.bot("deaf", &script), folder.plain_bot("plain"));
    let ended = referee(["play", "checkers", &deaf, &plain, "--set", WON, "--json", "--strict"]).done();
    assert_eq!(ended.one("match")["ended_by"], "rules");
    assert_gone(&folder.pids("deaf.pids"));
}

#[test]
fn processes_in_a_bots_group_are_ended_with_it() {
    let folder = Folder::new();
    let records = folder.text("records");
    let (leaves, plain) = (sample("hostile/leaves_child.py"), folder.plain_bot("plain"));
    referee(["play", "checkers", &leaves, &plain, "--set", WON, "--record", &records, "--strict"]).done();
    let stderr = the("bots", &folder.record("records/m1.jsonl"))["bots"][0]["stderr"].clone();
    let left = stderr.as_str().and_then(|text| text.strip_prefix("left ")).expect("its id").trim();
    assert_gone(&[left.parse().expect("a number")]);
}

#[test]
fn results_without_a_reader_are_no_error() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let records = folder.text("records");
    let command = "\"$0\" \"$@\" | true; exit \"${PIPESTATUS[0]}\"";
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", command, env!("CARGO_BIN_EXE_referee"), "play", "checkers", &plain, &plain]);
    shell.args(["-n", "3", "--json", "--set", WON, "--record", &records]);
    crate::common::Referee::start_as(&mut shell).end().done();
    assert_eq!(
        files(&folder.path("records")),
        ["m1.jsonl", "m2.jsonl", "m3.jsonl"],
        "all is played and kept"
    );
}
