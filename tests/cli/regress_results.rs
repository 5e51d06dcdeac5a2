//! `referee regress` with a results file: resuming, shards and `referee regress merge`.

use std::fs;
use std::io::Write;

use crate::common::{Ended, Folder, Referee, SEED, Signal, referee};
use serde_json::{Value, json};

const FAILED: i32 = 1;
const USAGE: i32 = 2;
const UNDECIDED: i32 = 3;

/// Two deterministic bots that play differently.
struct Bots {
    folder: Folder,
    new: String,
    base: String,
}

impl Bots {
    fn new() -> Bots {
        let folder = Folder::new();
        let new = folder.bot("last", "play(turn=lambda t: move(t, t['legal'][-1]))");
        let base = folder.plain_bot("first");
        Bots { folder, new, base }
    }

    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let terms = ["--elo0", "-60", "--elo1", "60", "--max-sets", "40", "--seed", SEED, "--json"];
        let bots = ["regress", "checkers", "--new", &self.new, "--base", &self.base];
        [&bots[..], &terms, more].concat()
    }

    fn regress(&self, more: &[&str]) -> Ended {
        referee(self.args(more))
    }
}

#[test]
fn a_killed_run_resumes_to_the_same_verdict() {
    let bots = Bots::new();
    let whole = bots.regress(&[]);
    let results = bots.folder.text("results.jsonl");
    let kept = ["--results", &results];

    let mut run = Referee::start(bots.args(&kept));
    (0..4).for_each(|_| drop(run.receive_type("set")));
    run.signal(Signal::KILL);
    run.wait();
    let lines = bots.folder.read("results.jsonl").lines().count();
    assert!(lines > 4, "{lines}");
    let cut_off = "{\"type\":\"set\",\"se";
    let mut file = fs::OpenOptions::new().append(true).open(&results).expect("the results");
    file.write_all(cut_off.as_bytes()).expect("half a line");

    bots.regress(&kept).with_code(USAGE).says(&["the file exists", "--resume"]);
    let resumed = bots.regress(&[&kept[..], &["--resume", "--jobs", "2"]].concat());
    assert_eq!(resumed.judged(), whole.judged());
    let played = resumed.all("set").len();
    assert!(played > 0 && played < whole.all("set").len(), "{played}");

    // Complete sets are not replayed.
    let again = bots.regress(&[&kept[..], &["--resume"]].concat());
    assert_eq!(again.judged(), whole.judged());
    assert!(again.all("match").is_empty());
}

#[test]
fn resume_rejects_other_options_and_uses_the_stored_seed() {
    let bots = Bots::new();
    let results = bots.folder.text("results.jsonl");
    let args = ["regress", "checkers", "--new", &bots.new, "--base", &bots.base, "--max-sets", "2", "--json"];
    let begin = |more: &[&str]| referee([&args[..], &["--results", &results, "--resume"], more].concat());
    // A missing file is created.
    let first = begin(&[]).with_code(UNDECIDED).one("verdict");
    for (more, what) in [
        (&["--elo0", "-40"][..], "test {"),
        (&["--set", "turn_limit=30"], "options {\"turn_limit\":30}, not {}"),
        (&["--opening-plies", "2"], "openings \"2 random moves\", not \"6 random moves\""),
        (&["--clock", "none"], "clock null"),
        (&["--seed", SEED], "another seed"),
    ] {
        begin(more).with_code(USAGE).says(&["--resume: this run has", what]);
    }
    assert_eq!(begin(&["--jobs", "2"]).with_code(UNDECIDED).one("verdict")["seed"], first["seed"]);
    bots.folder.write("results.jsonl", "{}\n");
    begin(&[]).with_code(USAGE).says(&["not a results file"]);
}

#[test]
fn shards_together_give_the_verdict_of_one_run() {
    let bots = Bots::new();
    let whole = bots.regress(&[]);
    let files = ["1", "2", "3"].map(|shard| bots.folder.text(&format!("{shard}.jsonl")));
    for (number, file) in files.iter().enumerate() {
        let shard = format!("{}/3", number + 1);
        let verdict = bots.regress(&["--shard", &shard, "--results", file]).done().one("verdict");
        let sets = if number == 0 { 14 } else { 13 };
        assert_eq!(
            [&verdict["verdict"], &verdict["sets"], &verdict["llr"]],
            [&json!("measured"), &json!(sets), &Value::Null]
        );
        assert!(
            verdict["reason"].as_str().is_some_and(|reason| reason.contains("regress merge")),
            "{verdict}"
        );
    }
    let merge = |files: &[&String]| {
        referee(["regress", "merge", "--json"].into_iter().chain(files.iter().map(|file| file.as_str())))
    };
    let [one, two, three] = &files;
    let merged = merge(&[three, one, two]);
    assert_eq!(merged.judged(), whole.judged());

    merge(&[one, three]).with_code(USAGE).says(&["one file per shard, of 3 shards"]);
    merge(&[one, two, two]).with_code(USAGE).says(&["one file per shard, of 3 shards"]);
    // The second set of the second shard is missing; the shard can be resumed.
    let lines: Vec<String> = bots.folder.read("2.jsonl").lines().map(str::to_owned).collect();
    bots.folder.write("2.jsonl", lines[..2].join("\n") + "\n");
    let verdict = merge(&[one, two, three]).with_code(UNDECIDED).one("verdict");
    assert_eq!(verdict["reason"], "set 5 of shard 2/3 is missing; --resume plays it");
    bots.regress(&["--shard", "2/3", "--results", two, "--resume"]).done();
    assert_eq!(merge(&[one, two, three]).judged(), whole.judged());
    // From another run.
    let text = bots.folder.read("2.jsonl").replace(SEED, &SEED.replace('0', "1"));
    bots.folder.write("2.jsonl", text);
    merge(&[one, two, three]).with_code(USAGE).says(&["another seed"]);
}

/// A new version that crashes in its match of this number, counted from 0, while the file `crash` exists.
fn crashing_in(bots: &Bots, number: u32) -> String {
    let script = format!(
        "matches = []
def start(message):
    matches.append(message)
    ready(message)
def turn(t):
    if len(matches) > {number} and os.path.exists(os.path.dirname(os.path.abspath(__file__)) + '/crash'):
        print('out of luck', file=sys.stderr, flush=True)
        os._exit(7)
    move(t, t['legal'][-1])
play(start=start, turn=turn)"
    );
    bots.folder.bot("last", &script)
}

/// Plays two shards, of which only the second crashes. Returns their files.
fn two_shards(bots: &Bots, more: &[&str]) -> [String; 2] {
    let files = ["1", "2"].map(|shard| bots.folder.text(&format!("{shard}.jsonl")));
    for (shard, file) in ["1/2", "2/2"].into_iter().zip(&files) {
        if shard == "2/2" {
            bots.folder.write("crash", "");
        }
        let ended = bots.regress(&[&["--shard", shard, "--results", file][..], more].concat());
        ended.with_code(if shard == "1/2" { 0 } else { FAILED });
    }
    fs::remove_file(bots.folder.path("crash")).expect("the file");
    files
}

#[test]
fn a_crash_in_one_shard_fails_the_run() {
    let bots = Bots::new();
    crashing_in(&bots, 0);
    let records = bots.folder.text("records");
    let files = two_shards(&bots, &["--record", &records]);
    let junit = bots.folder.text("junit.xml");
    let args = ["regress", "merge", &files[0], &files[1], "--junit", &junit];
    let text = referee(args).with_code(FAILED).stdout;
    assert!(text.starts_with("failed: the new version crashed in m3: exited"), "{text}");
    assert!(bots.folder.read("junit.xml").contains("failures=\"1\""));
    // The shards share a directory for records, so the second has one of its own.
    let record = bots.folder.text("records-2/m3.jsonl");
    assert!(text.contains(&format!("record of the crash        {record}\n")), "{text}");
    referee(["show", &record]).done();
    // The output of the bot is part of the results.
    assert!(text.ends_with("its standard error ends with:\n    out of luck\n"), "{text}");
    let resumed = bots.regress(&["--shard", "2/2", "--results", &files[1], "--resume"]).with_code(FAILED);
    assert!(resumed.all("match").is_empty(), "{resumed:?}");
}

#[test]
fn crash_after_decision_does_not_change_merged_verdict() {
    let bots = Bots::new();
    crashing_in(&bots, 39);
    let whole = bots.regress(&[]);
    let verdict = whole.one("verdict");
    assert!(verdict["sets"].as_u64() < Some(40), "{verdict}");
    // The crash is in set 40, the last one of the second shard.
    let files = two_shards(&bots, &[]);
    assert!(bots.folder.read("2.jsonl").contains("\"type\":\"crash\",\"set\":40"));
    let merged = referee(["regress", "merge", "--json", &files[0], &files[1]]);
    assert_eq!(merged.judged(), whole.judged());
}

#[test]
fn shards_need_one_seed_and_a_number_of_sets() {
    let bots = Bots::new();
    let args = ["regress", "checkers", "--new", &bots.new, "--base", &bots.base];
    let file = bots.folder.text("1.jsonl");
    for (more, what) in [
        (&["--max-sets", "10", "--shard", "1/2", "--results", &file][..], "--seed"),
        (&["--seed", SEED, "--shard", "1/2", "--results", &file], "--max-sets"),
        (&["--seed", SEED, "--max-sets", "10", "--shard", "1/2"], "--results"),
        (&["--seed", SEED, "--max-sets", "10", "--shard", "3/2", "--results", &file], "invalid shard `3/2`"),
    ] {
        referee([&args[..], more].concat()).with_code(USAGE).says(&[what]);
    }
    assert!(!bots.folder.path("1.jsonl").exists());
}
