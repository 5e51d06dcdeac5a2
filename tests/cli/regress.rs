//! `referee regress`: verdicts as exit codes, faults, repeated sets, and reports.

use std::process::Command;

use crate::common::{Ended, Folder, Referee, SEED, Signal, assert_gone, on_a_terminal, referee, sample};
use serde_json::{Value, json};

const PASSED: i32 = 0;
const FAILED: i32 = 1;
const UNDECIDED: i32 = 3;
const INVALID: i32 = 4;
const COULD_NOT_RUN: i32 = 5;
const INTERRUPTED: i32 = 130;

fn random() -> String {
    sample("python/random_bot.py")
}

fn greedy() -> String {
    sample("python/greedy_bot.py")
}

fn regress(game: &str, new: &str, base: &str, more: &[&str]) -> Ended {
    referee(["regress", game, "--new", new, "--base", base].iter().chain(more))
}

/// A bot that crashes in its first turn.
fn crashes(folder: &Folder) -> String {
    folder.bot("crashes", "play(turn=lambda _: os._exit(7))")
}

#[test]
fn a_stronger_version_passes_early_and_a_weaker_one_fails() {
    let terms = ["--elo0", "0", "--elo1", "100", "--max-sets", "400", "--seed", SEED, "--json"];
    let passed = regress("checkers", &greedy(), &random(), &terms).with_code(PASSED).one("verdict");
    assert_eq!(passed["verdict"], "passed");
    assert!(passed["sets"].as_u64() < Some(200) && passed["llr"].as_f64() > Some(2.94), "{passed}");
    let score = passed["score"]["value"].as_f64();
    assert!(score > Some(0.6) && passed["superiority"].as_f64() > Some(0.9), "{passed}");
    let caution = passed["estimates_caution"].as_str().expect("a caution");
    assert!(caution.contains("few sets differ in score"), "{passed}");
    let failed = regress("checkers", &random(), &greedy(), &terms).with_code(FAILED).one("verdict");
    assert_eq!(failed["verdict"], "failed");
    assert!(failed["llr"].as_f64() < Some(-2.94), "{failed}");
}

#[test]
fn events_are_matches_then_sets_then_the_verdict() {
    let more = ["--max-sets", "3", "--opening-plies", "0", "--json"];
    let ended = regress("checkers", &random(), &greedy(), &more).with_code(UNDECIDED);
    let events = ended.json();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().expect("a type")).collect();
    let set = ["match", "match", "set"];
    assert_eq!(kinds, [&set[..], &set, &set, &["verdict"]].concat());
    assert_eq!([&events[2]["id"], &events[2]["matches"]], [&json!("s1"), &json!(["m1", "m2"])]);
    assert_eq!(events[0]["seats"], json!(["new", "base"]));
    assert_eq!(events[1]["seats"], json!(["base", "new"]));
    // The bots alternate in the first seat from set to set.
    assert_eq!(events[3]["seats"], json!(["base", "new"]));
    let [last, verdict] = [&events[8], &events[9]];
    assert_eq!([&last["llr"], &last["bounds"]], [&verdict["llr"], &verdict["bounds"]]);
    assert_eq!(verdict["reason"], "3 sets did not decide (neither H0 nor H1 is accepted)");
    let scores = verdict["scores"].as_array().expect("counts");
    assert_eq!((scores.len(), scores.iter().filter_map(Value::as_u64).sum::<u64>()), (5, 3));
    let caution = "the estimate may be biased: fewer than 10 sets have few possible scores";
    assert_eq!(verdict["estimates_caution"], caution);
    let text = regress("checkers", &random(), &greedy(), &more[..4]).with_code(UNDECIDED).stdout;
    assert!(text.contains(caution), "{text}");
}

#[test]
fn deterministic_bots_without_openings_are_undecided() {
    let folder = Folder::new();
    // The first seat alternates, so the second set has the matches of the first in reverse order.
    let last = folder.bot("last", "play(turn=lambda t: move(t, t['legal'][-1]))");
    let more = ["--opening-plies", "0", "--set", "turn_limit=20", "--json"];
    let ended = regress("checkers", &last, &folder.plain_bot("first"), &more).with_code(UNDECIDED);
    let verdict = ended.one("verdict");
    assert_eq!([&verdict["counted"], &verdict["repeated"]], [&json!(1), &json!(100)]);
    let reason = "the bots are deterministic and have nothing more to tell: after 1 distinct set of 1 opening, the last 100 \
                  sets are copies; more openings would tell more";
    assert_eq!([&verdict["reason"], &verdict["elo"]], [&json!(reason), &Value::Null]);
    let fates: Vec<Value> = ended.all("set").into_iter().map(|set| set["fate"].clone()).collect();
    assert_eq!(fates[..3], ["counted", "repeated", "repeated"]);
}

#[test]
fn random_openings_speak_of_openings_like_these_despite_repeats() {
    let more = ["--opening-plies", "1", "--fixed", "12", "--set", "turn_limit=20", "--seed", SEED, "--json"];
    let verdict = regress("checkers", &random(), &greedy(), &more).done().one("verdict");
    // Black has seven moves.
    assert!(verdict["openings"].as_u64() <= Some(7), "{verdict}");
    assert_eq!([&verdict["counted"], &verdict["population"]], [&json!(12), &json!("openings_like_these")]);
    assert_eq!(verdict["elo_of_openings_like_these"], Value::Null);
}

/// Jeex bots that play a fixed first move, then random ones, and a book of ten lines. In three of them the new version
/// loses by its first decision, which is this Python statement: these losses have the same moves each time, other matches
/// have not.
fn loses_at_once_in_three_of_ten_openings(statement: &str, seed: u32, more: &[&str]) -> Ended {
    const SCRIPT: &str = "import random
opening, decisions = [], []
def start(message):
    opening.clear()
    decisions.clear()
    ready(message)
def event(message):
    if message['event'].get('opening'):
        opening.append(message['event']['move'])
def turn(t):
    decisions.append(t)
    if len(decisions) > 1:
        move(t, random.choice(t['legal']))
    elif opening[0] in LOST:
        STATEMENT
    else:
        move(t, t['legal'][-1])
";
    let folder = Folder::new();
    let script = SCRIPT.replace("STATEMENT", statement);
    let bot = |name: &str, lost: &str| {
        folder.bot(name, &format!("{script}LOST = {lost}\nplay(start=start, event=event, turn=turn)"))
    };
    let new = bot("new", "('place a1 N', 'place b1 N', 'place b3 E')");
    let stones = ["a1 N", "a2 E", "a3 E", "b1 N", "b2 N", "b3 E", "c3 N", "b2 W", "b1 E", "a3 S"];
    let book = folder.write("book.txt", stones.map(|stone| format!("place {stone}\n")).concat());
    let seed = format!("{seed:064x}");
    let all = ["--openings", &book, "--clock", "none", "--jobs", "2", "--seed", &seed, "--json"];
    regress("jeex", &new, &bot("base", "()"), &[&all, more].concat())
}

fn quick_losses_count_each_time(statement: &str, more: &[&str]) {
    let seeds = if std::env::var_os("LONG_TESTS").is_some() { 12 } else { 2 };
    for seed in 1..=seeds {
        let ended = loses_at_once_in_three_of_ten_openings(statement, seed, more);
        let verdict = ended.with_code(FAILED).one("verdict");
        let reason = verdict["reason"].as_str().expect("a reason");
        assert!(
            reason.starts_with("weaker on the 10 openings played (an equal version fails in 5%"),
            "{reason}"
        );
        assert_eq!([&verdict["openings"], &verdict["repeated"]], [&json!(10), &json!(0)], "{verdict}");
        assert!(verdict["distinct_sets"].as_u64() < verdict["counted"].as_u64(), "{verdict}");
        assert!(verdict["elo"]["value"].as_f64() < Some(0.0), "{verdict}");
        // Ten openings say little of others: an end may be unlimited.
        let end = |name: &str, key: &str, unlimited: f64| verdict[name][key].as_f64().unwrap_or(unlimited);
        let low = |name: &str| end(name, "low", f64::NEG_INFINITY);
        let high = |name: &str| end(name, "high", f64::INFINITY);
        let of_others = "elo_of_openings_like_these";
        assert!(low(of_others) < low("elo") && high(of_others) > high("elo"), "{verdict}");
    }
}

#[test]
fn resignations_with_the_same_moves_count_each_time() {
    quick_losses_count_each_time("say(type='resign', match=t['match'], seat=t['seat'], turn=t['turn'])", &[]);
}

#[test]
fn illegal_moves_after_the_same_moves_count_each_time() {
    quick_losses_count_each_time("move(t, 'nonsense')", &["--max-fault-rate", "0.5"]);
}

#[test]
fn games_with_openings_start_with_shared_random_moves_by_default() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    for (game, plies) in [("checkers", 6), ("chess", 8), ("jeex", 4)] {
        let records = folder.text(game);
        let more = ["--fixed", "2", "--record", &records, "--json"];
        let verdict = regress(game, &bot, &bot, &more).with_code(PASSED).one("verdict");
        assert_eq!([&verdict["verdict"], &verdict["repeated"]], [&json!("measured"), &json!(0)]);
        referee(["verify", &records]).done();
        let opening = |name: &str| -> Vec<Value> {
            let record = folder.record(&format!("{game}/{name}.jsonl"));
            let events = record.iter().map(|line| &line["event"]);
            events.filter(|event| event["opening"] == true).map(|event| event["move"].clone()).collect()
        };
        assert_eq!(opening("m1").len(), plies);
        assert_eq!(opening("m1"), opening("m2"));
        assert_ne!(opening("m1"), opening("m3"));
    }
}

#[test]
fn a_crashing_base_makes_the_run_invalid() {
    let folder = Folder::new();
    let ended = regress("checkers", &random(), &crashes(&folder), &[]).with_code(INVALID);
    let reason = "invalid: 4 of 4 matches had a fault (40% to 100% at 95%), where at most 1% of all may: `new` in 0, \
                  `base` in 4; a higher --max-fault-rate tolerates the faults of the base";
    assert!(ended.stdout.starts_with(reason), "{}", ended.stdout);
    let line = |name: &str| ended.stdout.lines().find(|line| line.starts_with(name)).expect("a line");
    assert!(line("sets ").contains(" 0 counted, 2 dropped"), "{}", ended.stdout);
    assert!(line("faults of base").ends_with("4 exited, in 4 of 4 matches"), "{}", ended.stdout);
    assert!(line("faults of new").ends_with(" none"), "{}", ended.stdout);
}

#[test]
fn with_recover_a_crashing_version_loses() {
    let folder = Folder::new();
    let more = ["--elo0", "0", "--elo1", "100", "--max-fault-rate", "1", "--recover"];
    let ended = regress("checkers", &crashes(&folder), &random(), &more).with_code(FAILED);
    assert!(
        ended.stdout.starts_with("failed: not stronger (a version 100 normalized Elo stronger fails in 5%)"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_crash_of_the_new_version_fails_the_run() {
    let folder = Folder::new();
    let script = "matches = []
def start(message):
    matches.append(message)
    ready(message)
play(start=start, turn=lambda t: os._exit(7) if len(matches) > 4 else first(t))";
    let junit = folder.text("junit.xml");
    let more = ["--set", "turn_limit=20", "--junit", &junit, "--json"];
    let ended = regress("checkers", &folder.bot("new", script), &folder.plain_bot("base"), &more);
    let verdict = ended.with_code(FAILED).one("verdict");
    assert_eq!(verdict["verdict"], "failed");
    let reason = verdict["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("the new version crashed in m5: exited"), "{reason}");
    assert_eq!([&verdict["sets"], &verdict["matches"]], [&json!(2), &json!(5)]);
    assert_eq!([&verdict["faults_of_new"], &verdict["faults"]["new"]["exited"]], [&json!(1), &json!(1)]);
    assert!(folder.read("junit.xml").contains("failures=\"1\""));
}

#[test]
fn identical_bots_pass_early_in_every_kind_of_game() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    // With a seed: about one run in a hundred draws an opening twice, and needs a set more.
    let more = ["--set", "turn_limit=20", "--seed", SEED, "--json"];
    let verdict = regress("checkers", &bot, &bot, &more).with_code(PASSED).one("verdict");
    assert_eq!([&verdict["sets"], &verdict["alike"]], [&json!(74), &json!(74)]);
    assert_eq!(verdict["played_alike"]["needed_sets"], 74);
    assert_eq!(
        verdict["reason"],
        "plays move for move the same as the base (in all 74 sets; with 95% confidence at most 4.0% of sets differ, which \
         is at most 49.9 normalized Elo)"
    );
    // Sets of two matches, and of three.
    for (game, more, sets) in [
        ("saxum", &["--set", "turn_limit=20"][..], 6),
        ("xe_queo", &[], 6),
        ("keezen", &["--set", "turn_limit=30", "--seats", "6"], 5),
    ] {
        let more = [&["--elo0", "-200", "--trust-bots", "--seed", SEED][..], more].concat();
        let text = regress(game, &bot, &bot, &more).with_code(PASSED).stdout;
        let expected = format!("passed: plays move for move the same as the base (in all {sets} sets;");
        assert!(text.starts_with(&expected), "{text}");
    }
}

#[test]
fn identical_bots_fail_early_with_gain() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    let more = ["--gain", "--elo1", "100", "--set", "turn_limit=20", "--seed", SEED];
    let text = regress("checkers", &bot, &bot, &more).with_code(FAILED).stdout;
    let expected = "failed: not stronger, plays move for move the same as the base (in all 20 sets;";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_differing_set_leaves_the_decision_to_the_sequential_test() {
    let folder = Folder::new();
    let script = "matches = []
def start(message):
    matches.append(message)
    ready(message)
play(start=start, turn=lambda t: move(t, t['legal'][-1 if len(matches) == 9 else 0]))";
    let more = ["--max-sets", "25", "--set", "turn_limit=20", "--json", "--seed", SEED];
    let ended = regress("checkers", &folder.bot("new", script), &folder.plain_bot("base"), &more);
    let verdict = ended.with_code(UNDECIDED).one("verdict");
    assert_eq!([&verdict["counted"], &verdict["alike"]], [&json!(25), &json!(24)]);
    assert_eq!(verdict["played_alike"], Value::Null);
}

#[test]
fn the_time_limit_ends_a_run_undecided() {
    let folder = Folder::new();
    let slow = folder.bot("slow", "import time\nplay(turn=lambda t: (time.sleep(0.05), first(t)))");
    let more = ["--max-time", "1s", "--set", "turn_limit=20"];
    let ended = regress("checkers", &slow, &slow, &more).with_code(UNDECIDED);
    assert!(ended.stdout.starts_with("undecided: the time is over (--max-time 1s, "), "{}", ended.stdout);
}

#[test]
fn a_bot_that_does_not_start_gives_could_not_run() {
    let folder = Folder::new();
    for bot in [sample("hostile/crash_at_start.py"), "./there-is-no-such-bot".to_owned()] {
        let file = folder.text("junit.xml");
        let ended = regress("checkers", &random(), &bot, &["--json", "--junit", &file]);
        let ended = ended.with_code(COULD_NOT_RUN).says(&["the bot `base`"]);
        assert_eq!(ended.one("verdict")["verdict"], "could not run");
        assert!(folder.read("junit.xml").contains("errors=\"1\""));
    }
}

#[test]
fn a_failed_restart_is_a_fault() {
    let folder = Folder::new();
    let script = "starts = open(__file__ + '.starts', 'a+')
starts.write('.')
starts.flush()
starts.seek(0)
if len(starts.read()) == 3:
    os._exit(7)
play()";
    let more = ["--fixed", "3", "--max-fault-rate", "1", "--set", "turn_limit=20", "--json"];
    let ended = regress("saxum", &folder.plain_bot("plain"), &folder.bot("base", script), &more);
    let verdict = ended.with_code(PASSED).one("verdict");
    assert_eq!([&verdict["counted"], &verdict["dropped"]], [&json!(2), &json!(1)], "{verdict}");
    assert_eq!([&verdict["faults_of_base"], &verdict["faults_of_new"]], [&json!(1), &json!(0)]);
}

#[test]
fn a_signal_ends_a_run_without_a_verdict() {
    let folder = Folder::new();
    let pids = "open(__file__ + '.pids', 'a').write(f'{os.getpid()}\\n')";
    let bot = folder.bot("bot", &format!("{pids}\nplay()"));
    let args = ["regress", "checkers", "--new", &bot, "--base", &bot, "--elo0", "-1", "--json"];
    let mut run = Referee::start(args);
    run.receive_type("set");
    run.signal(Signal::INT);
    let verdict = run.wait().with_code(INTERRUPTED).one("verdict");
    assert_eq!(verdict["verdict"], "interrupted");
    assert_gone(&folder.pids("bot.py.pids"));
}

#[test]
fn a_seed_determines_the_verdict_with_any_number_of_jobs() {
    let folder = Folder::new();
    let last = folder.bot("last", "play(turn=lambda t: move(t, t['legal'][-1]))");
    let terms = ["--elo0", "-60", "--elo1", "60", "--max-sets", "60", "--seed", SEED, "--json"];
    let [one, two] = ["1", "2"].map(|jobs| {
        let more = [&terms[..], &["--jobs", jobs]].concat();
        let ended = regress("checkers", &last, &folder.plain_bot("first"), &more);
        (ended.all("set"), ended.judged())
    });
    assert_eq!(one, two);
    assert!(one.0.len() > 5, "{:?}", one.1);
}

#[test]
fn three_sides_play_all_rotations_with_fresh_processes() {
    let folder = Folder::new();
    let script = "open(__file__ + '.pids', 'a').write(f'{os.getpid()}\\n')\nplay()";
    let (new, base) = (folder.bot("new", script), folder.bot("base", script));
    let more = ["--seats", "6", "--fixed", "2", "--set", "turn_limit=30", "--json"];
    let ended = regress("keezen", &new, &base, &more).with_code(PASSED);
    let seats: Vec<Value> = ended.all("match").into_iter().map(|played| played["seats"].clone()).collect();
    let [n, b] = ["new", "base"];
    assert_eq!(seats[..3], [[n, b, b, n, b, b], [b, b, n, b, b, n], [b, n, b, b, n, b]].map(|s| json!(s)));
    assert_eq!(seats[3], json!([b, n, n, b, n, n]));
    let sets = ended.all("set");
    assert!(sets.iter().all(|set| set["matches"].as_array().is_some_and(|all| all.len() == 3)), "{sets:?}");
    // The version with two of the three sides can win with one of them.
    let verdict = ended.one("verdict");
    assert_eq!(verdict["possible_scores"], json!({"least": 0.125, "most": 0.875}));
    assert!(verdict["score"]["high"].as_f64().is_none_or(|high| high <= 0.875), "{verdict}");
    // Two seats in each match of the first set and four of the second: no process plays two.
    assert_eq!(folder.pids("new.py.pids").len(), 3 * 2 + 3 * 4);
}

#[test]
fn chance_needs_trust_for_bots_that_connect() {
    let more = ["--listen", "127.0.0.1:0", "--token", "a=b"];
    let ended = regress("saxum", "tcp:a", &random(), &more).with_code(2);
    ended.says(&["the referee cannot restart `tcp:a`", "--trust-bots"]);
}

#[test]
fn invalid_arguments_are_rejected_without_side_effects() {
    let folder = Folder::new();
    let (records, junit) = (folder.text("records"), folder.text("junit.xml"));
    let kept = ["--record", &records, "--junit", &junit];
    for (more, what) in [
        (&["--elo0", "5", "--elo1", "5"][..], "elo0 must be below elo1"),
        (&["--alpha", "0.7"], "alpha = 0.7"),
        (&["--max-fault-rate", "2"], "fault rate of 2"),
        (&["--seats", "3"], "--seats"),
        (&["--fixed", "10", "--elo1", "5"], "cannot be used with"),
        (&["--fixed", "10", "--gain"], "cannot be used with"),
        (&["--github"], "GITHUB_STEP_SUMMARY is not set"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        let bots = ["--new", &random(), "--base", &random()];
        command.args(["regress", "checkers"]).args(bots).args(kept).args(more);
        Referee::start_as(command.env_remove("GITHUB_STEP_SUMMARY")).end().with_code(2).says(&[what]);
    }
    assert!(!folder.path("records").exists() && !folder.path("junit.xml").exists());
}

#[test]
fn the_verdict_goes_to_junit_and_github() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    let (junit, summary) = (folder.text("junit.xml"), folder.write("summary.md", "before\n"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["regress", "checkers", "--new", &bot, "--base", &bot]);
    command.args(["--max-sets", "2", "--junit", &junit, "--github"]).env("GITHUB_STEP_SUMMARY", &summary);
    let ended = Referee::start_as(&mut command).end().with_code(UNDECIDED);
    assert!(ended.stderr.starts_with("::warning title=referee regress checkers::undecided: "), "{ended:#?}");
    let summary = folder.read("summary.md");
    assert!(
        summary.starts_with("before\n### ") && summary.contains("| sets | 2 of at most 2: "),
        "{summary}"
    );
    let junit = folder.read("junit.xml");
    for part in ["tests=\"1\"", "failures=\"1\"", "<failure message=\"undecided: ", "<system-out>undecided: "]
    {
        assert!(junit.contains(part), "{part} is not in {junit}");
    }
}

#[test]
fn a_terminal_shows_the_progress_of_the_test() {
    let folder = Folder::new();
    // The display is drawn at intervals, so the run takes a while.
    let bot = folder.bot("slow", "import time\nplay(turn=lambda t: (time.sleep(0.01), first(t)))");
    let args = ["regress", "checkers", "--new", &bot, "--base", &bot, "--max-sets", "8"];
    let args = [&args[..], &["--set", "turn_limit=20"]].concat();
    let shown = on_a_terminal(&[], &args).end().with_code(UNDECIDED).stdout;
    assert!(shown.contains(" of at most 8 sets, ") && shown.contains(", LLR "), "{shown}");
    assert!(shown.contains(" (-2.94 to 2.94), Elo "), "{shown}");
}
