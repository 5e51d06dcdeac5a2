//! `referee best`: the race, its directory, faults and bad arguments.

use crate::common::guest::{Guest, listening};
use crate::common::{Ended, Folder, Referee, SEED, Signal, referee, sample};
use serde_json::{Value, json};

fn best(game: &str, bots: &[&str], dir: &str, more: &[&str]) -> Ended {
    referee(["best", game].iter().chain(bots).chain(&["--dir", dir, "--seed", SEED]).chain(more))
}

/// A Checkers bot that plays at random, and better with a greater skill: it takes what it can with this probability.
fn skilled(folder: &Folder) -> String {
    let script = "import random
skill = float(sys.argv[1])
def turn(t):
    legal = sorted(t['legal'], key=lambda m: -m.count('x'))
    move(t, legal[0] if random.random() < skill else legal[-1])
play(turn=turn)";
    folder.bot("skilled", &format!("import sys\n{script}"))
}

fn states(standings: &Value) -> Vec<(String, String)> {
    let versions = standings["race"]["versions"].as_array().expect("versions").iter();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    versions.map(|version| (text(&version["name"]), text(&version["state"]))).collect()
}

#[test]
fn race_picks_best_version_and_shows_who_is_out() {
    let folder = Folder::new();
    let (random, greedy) = (sample("python/random_bot.py"), sample("python/greedy_bot.py"));
    let dir = folder.text("race");
    let more = ["--within", "100", "--jobs", "2", "--json", "--set", "turn_limit=60"];
    let ended = best("checkers", &[&random, &greedy, &random], &dir, &more).with_code(0);
    let standings = ended.one("standings");
    assert_eq!(standings["champion"], "greedy_bot");
    assert_eq!(standings["race"]["pick"], "greedy_bot");
    assert_eq!(standings["entrants"][0]["name"], "greedy_bot");
    let out = ended.all("out");
    assert_eq!(out.len(), 2, "{out:?}");
    for line in &out {
        assert_ne!(line["name"], "greedy_bot");
        assert!(line["evidence"].as_f64() >= line["suffices"].as_f64(), "{line}");
        assert!(ended.stderr.contains(&format!(": {} is ", line["name"].as_str().expect("a name"))));
    }
    let matches = ended.all("match").len();
    assert_eq!(Some(matches as u64), standings["matches"].as_u64());
    referee(["tournament", "verify", &dir]).done();
    let text = referee(["tournament", "standings", &dir]).done().stdout;
    assert!(text.contains(", within 100 Elo of the best; a race errs in at most 5%"), "{text}");
    let page = referee(["tournament", "report", &dir, "--format", "html"]).done().stdout;
    assert!(page.contains(">Pick</span>") && !page.contains("Winner"), "{page}");
    let report = referee(["tournament", "report", &dir]).done().stdout;
    assert!(report.contains("race until one is within 100 Elo of the best"), "{report}");
}

#[test]
fn table_of_race_is_ordered_by_what_race_decides() {
    let folder = Folder::new();
    let bot = format!("{} {{skill}}", skilled(&folder));
    let more = ["--matrix", "skill=0.0,0.3,0.6,1.0", "--max-sets", "40", "--set", "turn_limit=40", "--json"];
    let standings = best("checkers", &[&bot], &folder.text("race"), &more).one("standings");
    assert_eq!(standings["rank_by"], "race");
    let states: std::collections::BTreeMap<String, String> = states(&standings).into_iter().collect();
    let rank = |state: &str| {
        ["anchor", "open", "no_better", "eliminated"].iter().position(|of| *of == state).expect("a state")
    };
    let rows = standings["entrants"].as_array().expect("entrants").iter();
    let order: Vec<usize> = rows.map(|row| rank(&states[row["name"].as_str().expect("a name")])).collect();
    assert!(order.is_sorted() && order[0] == 0, "{standings}");
}

#[test]
fn bots_of_race_may_connect_or_be_in_sandbox() {
    let folder = Folder::new();
    let (bot, dir) = (folder.plain_bot("plain"), folder.text("race"));
    let short = ["--max-sets", "2", "--set", "turn_limit=10"];
    let args = [&["best", "checkers", &bot, "tcp:alice", "--dir", &dir][..], &short].concat();
    let (race, address) = listening(&args);
    let alice = Guest::named(address, "alice").play_along();
    let standings = race.wait().with_code(3).one("standings");
    assert_eq!(standings["matches"], 4);
    alice.join().expect("a connected bot");

    let dir = folder.text("confined");
    best("checkers", &[&bot, &bot], &dir, &[&short[..], &["--sandbox", "none"]].concat()).with_code(3);
    let report = referee(["tournament", "report", &dir]).done().stdout;
    assert!(report.lines().any(|line| line.split_whitespace().eq(["sandbox", "none"])), "{report}");
}

#[test]
fn a_matrix_writes_the_versions() {
    let folder = Folder::new();
    let bot = format!("{} {{skill}}", skilled(&folder));
    let dir = folder.text("race");
    let more = ["--matrix", "skill=0.0,0.5,1.0", "--max-sets", "3", "--set", "turn_limit=20", "--json"];
    let standings = best("checkers", &[&bot], &dir, &more).with_code(3).one("standings");
    let names: Vec<String> = states(&standings).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["skilled-skill-0.0", "skilled-skill-0.5", "skilled-skill-1.0"]);
    assert_eq!(standings["race"]["pick"], Value::Null);
    let more = ["--matrix", "depth=2,4"];
    best("checkers", &[&bot], &folder.text("other"), &more)
        .with_code(2)
        .says(&["--matrix depth: no BOT contains {depth}"]);
}

#[test]
fn an_interrupted_race_is_resumed_where_it_stopped() {
    let folder = Folder::new();
    // Its pauses make the race last until the interrupt.
    let pausing = folder.bot("skilled", "import time\nplay(turn=lambda t: (time.sleep(0.01), first(t)))");
    let bot = format!("{pausing} {{skill}}");
    let terms = ["--matrix", "skill=0.2,0.8,0.9", "--max-sets", "12", "--set", "turn_limit=10", "--json"];
    let sets = |dir: &str| {
        let standings = referee(["tournament", "standings", dir, "--json"]).done().one("standings");
        (standings["matches"].clone(), standings["race"]["sets"].clone())
    };
    let dir = folder.text("race");
    let args = ["best", "checkers", &bot, "--dir", &dir, "--seed", SEED];
    let mut running = Referee::start([&args[..], &terms].concat());
    for _ in 0..4 {
        running.receive_type("match");
    }
    running.signal(Signal::INT);
    running.end().with_code(130);
    let ended = referee(["tournament", "resume", &dir, "--json"]).with_code(3);
    assert_eq!(ended.one("standings")["race"]["sets"], 12);
    assert_eq!(sets(&dir), (json!(24), json!(12)));
    referee(["tournament", "verify", &dir]).done();
}

#[test]
fn a_version_that_crashes_is_out_first() {
    let folder = Folder::new();
    let (random, greedy) = (sample("python/random_bot.py"), sample("python/greedy_bot.py"));
    let crashes = folder.bot("crashes", "play(turn=lambda _: os._exit(7))");
    let more = ["--within", "200", "--set", "turn_limit=20", "--json"];
    let ended = best("checkers", &[&crashes, &random, &greedy], &folder.text("race"), &more).with_code(0);
    let standings = ended.one("standings");
    assert!(["eliminated", "no_better"].contains(&states(&standings)[0].1.as_str()), "{standings}");
    assert_eq!(ended.all("out")[0]["name"], "crashes");
    assert_ne!(standings["race"]["pick"], "crashes");
}

#[test]
fn openings_of_a_race_are_drawn_with_replacement() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    let book = folder.write("book.txt", "place a1 N\nplace a2 E\nplace a3 E\n");
    let dir = folder.text("race");
    let more = ["--openings", &book, "--max-sets", "8", "--set", "turn_limit=10"];
    best("jeex", &[&bot, &bot], &dir, &more);
    let opening =
        |set: usize| folder.record(&format!("race/records/m{}.jsonl", 2 * set - 1))[0]["opening"].to_string();
    let openings: Vec<String> = (1..=8).map(opening).collect();
    // In turn they would repeat after three.
    assert!((1..=5).any(|set| openings[set - 1] != openings[set + 2]), "{openings:?}");
    assert_eq!(opening(1), folder.record("race/records/m2.jsonl")[0]["opening"].to_string());
}

#[test]
fn invalid_arguments_create_no_race() {
    let folder = Folder::new();
    let (bot, dir) = (folder.plain_bot("plain"), folder.text("race"));
    for (more, what) in [
        (&["--within", "0"][..], "within = 0: expected Elo above 0"),
        (&["--alpha", "2"], "alpha = 2: expected a probability"),
        (&["--matrix", "depth"], "`depth` is not KEY=VALUE,VALUE,..."),
        (&["--clock", "soon"], "soon"),
        (&["--openings", "missing.pdn"], "missing.pdn"),
    ] {
        best("checkers", &[&bot, &bot], &dir, more).with_code(2).says(&[what]);
    }
    best("checkers", &[&bot], &dir, &[]).with_code(2).says(&["a race needs from 2"]);
    best("checkers", &[&bot, "tcp:alice"], &dir, &[]).with_code(2).says(&["e.g. --listen 127.0.0.1:4700"]);
    let more = ["--listen", "127.0.0.1:0", "--token", "alice=secret"];
    let refused = best("checkers", &[&bot, "tcp:alice"], &dir, &more).with_code(2);
    assert!(refused.stderr.contains("needs --token-file"), "{}", refused.stderr);
    best("checkers", &[&bot, &bot], &dir, &["--sandbox", "strict", "--sandbox-memory", "1KiB"])
        .with_code(2)
        .says(&["--sandbox-memory"]);
    best("keezen", &[&bot, &bot], &dir, &["--seats", "6"]).with_code(2).says(&["does not support 3 sides"]);
    assert!(!folder.path("race").exists());
}
