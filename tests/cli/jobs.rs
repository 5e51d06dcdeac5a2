//! Concurrency: jobs, slots, lanes.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use crate::common::guest::{Guest, listening};
use crate::common::{
    Ended, Folder, ROOT, Referee, Signal, TIMEOUT, WON, assert_gone, files, on_one_processor, referee,
};
use ::referee::bot::Launch;
use ::referee::driver::{Run, Terms};
use ::referee::game::chance::Seed;
use ::referee::referee::{Leg, Opening};
use ::referee::results::FinishedMatch;
use ::referee::runner::{Fixture, MatchRunner, Next, Scheduler, Wait};
use ::referee::sources::{self, BotSpec};
use referee::game::Chain;
use serde_json::{Value, json};

/// Checks that each of the matches m1 to mN was reported once, that its record verifies, and that there were no
/// faults.
#[track_caller]
fn assert_all_played(ended: &Ended, count: usize, records: &str) {
    let ids: Vec<Value> = ended.all("match").into_iter().map(|played| played["id"].clone()).collect();
    let distinct: BTreeSet<&str> = ids.iter().filter_map(Value::as_str).collect();
    let all: BTreeSet<String> = (1..=count).map(|number| format!("m{number}")).collect();
    assert_eq!((ids.len(), distinct), (count, all.iter().map(String::as_str).collect()));
    assert_eq!(files(records.as_ref()).len(), count);
    referee(["verify", records]).done();
    let summary = ended.one("summary");
    assert_eq!(summary["matches"], count);
    for bot in summary["bots"].as_array().expect("a list") {
        assert_eq!([&bot["matches"], &bot["faults"]], [&json!(count), &json!({})]);
    }
}

fn slots(count: u32) -> String {
    format!("python3 '{ROOT}/tests/cli/common/slotbot.py' {count}")
}

/// Starts bots with slots that connect.
fn connecting(slots: u32, address: std::net::SocketAddr, name: &str) -> Child {
    let mut bot = Command::new("python3");
    bot.arg(format!("{ROOT}/tests/cli/common/slotbot.py")).args([
        &slots.to_string(),
        &address.to_string(),
        name,
    ]);
    bot.stderr(Stdio::piped()).spawn().expect("python3 runs")
}

/// The final output of a bot with slots.
fn received(bot: Child) -> Value {
    let output = bot.wait_with_output().expect("it ends");
    serde_json::from_slice(&output.stderr).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn every_match_is_played_once_with_any_number_of_jobs() {
    let folder = Folder::new();
    let (a, b) = (folder.plain_bot("a"), folder.plain_bot("b"));
    for (index, (options, count)) in [
        (&["--jobs", "2", "-n", "31", "--set", WON][..], 31),
        (&["--jobs", "7", "-n", "5", "--set", WON], 5),
        (&["--jobs", "5", "-n", "24", "--mirror", "--opening-plies", "4"], 24),
        (&["--jobs", "3", "-n", "20", "--set", "turn_limit=30"], 20),
    ]
    .into_iter()
    .enumerate()
    {
        let records = folder.text(&format!("records{index}"));
        let args = [&["play", "checkers", &a, &b, "--json", "--record", &records], options].concat();
        let ended = referee(args).done();
        assert_all_played(&ended, count, &records);
        if options.contains(&"--mirror") {
            assert_eq!(ended.all("set").len(), count / 2);
        }
    }
}

#[test]
fn bot_with_slots_answers_concurrent_requests_in_any_order() {
    let folder = Folder::new();
    let records = folder.text("pipes");
    let args = ["play", "checkers", &slots(64), &slots(64), "-n", "200", "--json", "--record", &records];
    let ended = referee(args).done();
    assert_all_played(&ended, 200, &records);
    let records = folder.text("tcp");
    let args = ["play", "checkers", "tcp:alice", "tcp:bob", "-n", "200", "--record", &records];
    let (referee, address) = listening(&args);
    let bots = ["alice", "bob"].map(|name| connecting(64, address, name));
    assert_all_played(&referee.wait().with_code(0), 200, &records);
    for bot in bots.map(received) {
        assert_eq!([&bot["open"], &bot["played"]], [64, 200]);
        // Half of the first requests go to either bot.
        assert!(bot["asked"].as_u64().expect("a number") >= 32, "{bot}");
    }
}

#[test]
fn the_bot_with_fewer_slots_limits_concurrency() {
    let folder = Folder::new();
    let records = folder.text("records");
    let args = ["play", "checkers", "tcp:few", "tcp:many", "-n", "20", "--record", &records];
    let (referee, address) = listening(&args);
    let bots = [connecting(3, address, "few"), connecting(7, address, "many")];
    assert_all_played(&referee.wait().with_code(0), 20, &records);
    for bot in bots.map(received) {
        assert_eq!([&bot["open"], &bot["played"]], [3, 20]);
    }
}

#[test]
fn the_connections_of_a_name_share_the_jobs() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let records = folder.text("records");
    let args = ["play", "checkers", "tcp:alice", &plain, "-n", "30", "--jobs", "3", "--record", &records];
    let (referee, address) = listening(&args);
    let mut guests = [(); 3].map(|()| Guest::named(address, "alice"));
    // All of them play concurrently.
    for guest in &mut guests {
        guest.receive_type("start");
    }
    let guests = guests.map(|mut guest| {
        let start = guest.received.last().cloned().expect("start");
        guest.answer(&start);
        guest.play_along()
    });
    assert_all_played(&referee.wait().with_code(0), 30, &records);
    let played = guests.map(|guest| {
        let received = guest.join().expect("it plays");
        assert_eq!(received.last().expect("messages")["reason"], "the run is over");
        received.iter().filter(|message| message["type"] == "end").count()
    });
    assert_eq!(played.iter().sum::<usize>(), 30);
}

#[test]
fn jobs_without_connections_cost_nothing() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let records = folder.text("records");
    // The waiting time is over long before the last match.
    let args = ["play", "checkers", "tcp:alice", &plain, "-n", "20", "--jobs", "4", "--wait", "500ms"];
    let (referee, address) = listening(&[&args[..], &["--record", &records]].concat());
    let mut alice = Guest::named(address, "alice");
    for _ in 0..20 {
        std::thread::sleep(std::time::Duration::from_millis(60));
        alice.play_up_to("end");
    }
    assert_eq!(alice.rest().last().expect("messages")["reason"], "the run is over");
    assert_all_played(&referee.wait().with_code(0), 20, &records);
}

#[test]
fn a_signal_ends_all_concurrent_matches() {
    let folder = Folder::new();
    // Its eighth match hangs, and so do all concurrent ones.
    let script = "import pathlib
HERE = pathlib.Path(__file__)
with HERE.with_suffix('.pids').open('a') as file:
    file.write(f'{os.getpid()}\\n')
def turn(message):
    if message['match'] == 'm8':
        HERE.with_suffix('.hangs').write_text('yes\\n')
        signal.pause()
    first(message)
play(hello=lambda _: say(type='hello', protocol=1, name='hangs', slots=4), turn=turn)";
    let bot = folder.bot("bot", script);
    let records = folder.text("records");
    let args = ["play", "checkers", &bot, &bot, "-n", "50", "--jobs", "3", "--json", "--record", &records];
    let play = Referee::start(args);
    folder.wait_for("bot.hangs");
    play.signal(Signal::INT);
    let ended = play.wait().with_code(130);
    let summary = ended.one("summary");
    let aborted = ended.all("match").iter().filter(|played| played["ended_by"] == "aborted").count();
    assert!(aborted >= 1, "{ended:?}");
    assert_eq!([&summary["aborted"], &summary["interrupted"]], [&json!(aborted), &json!(true)]);
    assert_eq!(files(records.as_ref()).len(), ended.all("match").len());
    referee(["verify", &records]).done();
    assert_gone(&folder.pids("bot.pids"));
}

#[test]
fn losing_a_bot_with_many_matches_is_one_fault() {
    let folder = Folder::new();
    // The first process dies in the first request of m3, with eight open matches; the next one survives.
    let script = "import pathlib
mark = pathlib.Path(__file__).with_suffix('.died')
def turn(message):
    if message['match'] == 'm3' and not mark.exists():
        mark.write_text('yes')
        os._exit(9)
    first(message)
play(hello=lambda _: say(type='hello', protocol=1, name='dies', slots=8), turn=turn)";
    let dies = folder.bot("dies", script);
    for policy in ["forfeit", "random"] {
        let records = folder.text(policy);
        let args = ["play", "checkers", &dies, &slots(8), "-n", "20", "--json", "--on-fault", policy];
        let ended = referee(args.into_iter().chain(["--record", &records])).done();
        std::fs::remove_file(folder.path("dies.died")).expect("it died");
        let played = ended.all("match");
        assert_eq!(played.len(), 20);
        let with_fault: Vec<&Value> =
            played.iter().filter(|played| played["faults"] != json!([{}, {}])).collect();
        let ids: BTreeSet<&str> = with_fault.iter().filter_map(|played| played["id"].as_str()).collect();
        assert_eq!(ids, ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"].into(), "{policy}");
        for played in &with_fault {
            let seat = played["seats"].as_array().expect("a list").iter().position(|name| name == "dies");
            let lost = &played["lost"][0];
            assert_eq!(lost["seat"], json!(seat));
            assert_eq!(
                [&lost["code"], &played["faults"][seat.expect("a seat")]["exited"]],
                [&json!("exited"), &json!(1)]
            );
            let counts = lost["counted_in"] == played["id"];
            assert_eq!(lost["matches"].as_array().map(Vec::len), counts.then_some(8));
        }
        let counting = with_fault.iter().filter(|played| played["lost"][0]["matches"].is_array()).count();
        assert_eq!(counting, 1, "{policy}");
        assert_eq!(ended.one("summary")["bots"][0]["faults"], json!({"exited": 1}), "{policy}");
        assert_eq!(ended.one("summary")["matches"], 20);
        assert!(
            played
                .iter()
                .all(|played| ids.contains(played["id"].as_str().expect("text"))
                    || played.get("lost").is_none())
        );
        referee(["verify", &records]).done();
    }
}

#[test]
fn lane_and_its_bots_can_be_pinned_to_one_cpu() {
    let folder = Folder::new();
    let script = "print(*sorted(os.sched_getaffinity(0)), file=sys.stderr, flush=True)\nplay()";
    let (a, b) = (folder.bot("a", script), folder.bot("b", script));
    let records = folder.text("records");
    // Each job has a match, and a bot reports only in its first one.
    let args = ["play", "checkers", &a, &b, "-n", "2", "--jobs", "2", "--set", WON, "--record", &records];
    referee([&args[..], &["--pin"]].concat()).done();
    let mut used = BTreeSet::new();
    for name in files(records.as_ref()) {
        let record = folder.record(&format!("records/{name}"));
        let bots = &crate::common::the("bots", &record)["bots"];
        let of = |seat: usize| bots[seat]["stderr"].as_str().expect("text").trim().to_owned();
        // The second match may have reused the bots of the first one.
        if !of(0).is_empty() {
            assert!(of(0).parse::<u32>().is_ok(), "one processor, not `{}`", of(0));
            assert_eq!(of(0), of(1), "both bots of a match");
            used.insert(of(0));
        }
    }
    assert!(!used.is_empty());
}

#[test]
fn a_flooding_bot_does_not_slow_other_matches() {
    let folder = Folder::new();
    let slowest_tenth = |name: &str, spam: &str, count: usize| -> u64 {
        // The first process floods before each of its answers, slightly beyond the limit.
        let script = format!(
            "import pathlib
try:
    pathlib.Path(__file__).with_suffix('.spams').touch(exist_ok=False)
    SPAM = {spam}
except FileExistsError:
    SPAM = b''
def turn(message):
    os.write(1, SPAM)
    first(message)
play(turn=turn)"
        );
        let (bot, plain) = (folder.bot(name, &script), folder.plain_bot("plain"));
        let records = folder.text(&format!("{name}-records"));
        let args = ["play", "checkers", &bot, &plain, "--jobs", "4", "--set", "turn_limit=40"];
        let number = count.to_string();
        let args = [&args[..], &["-n", &number, "--json", "--record", &records]].concat();
        let ended = on_one_processor(&args).end().with_code(0);
        let honest: Vec<Value> =
            ended.all("match").into_iter().filter(|played| played["faults"] == json!([{}, {}])).collect();
        let mut took: Vec<u64> = honest
            .iter()
            .flat_map(|played| {
                folder.record(&format!("{name}-records/{}.jsonl", played["id"].as_str().expect("text")))
            })
            .filter(|line| line["type"] == "answer")
            .map(|line| line["took_us"].as_u64().expect("a number"))
            .collect();
        took.sort_unstable();
        assert!(took.len() > 300, "{name}: only {} answers in matches without a fault", took.len());
        let spams = !spam.starts_with("b''");
        assert_eq!(honest.len() < count, spams, "{name}: {} of {count} matches", honest.len());
        took[took.len() * 9 / 10]
    };
    let quiet = slowest_tenth("quiet", "b''", 60);
    // A bot that loses its matches at once plays most of them: enough have to remain for the others.
    for (name, spam, count) in [
        ("malformed", r"b'{}\n' * 60", 240),
        ("empty", r"b'\n' * 5000", 240),
        ("long", r"b'x' * 1_000_000 + b'\n'", 240),
        ("deep", r"b'[' * 60_000 + b'\n'", 240),
    ] {
        let loud = slowest_tenth(name, spam, count);
        assert!(loud <= 5 * quiet + 20_000, "{name}: {loud} us instead of {quiet} us");
    }
}

/// A scheduler that returns one match and panics on the second call.
#[derive(Debug)]
struct Broken(Option<Fixture>);

impl Scheduler for Broken {
    fn next(&mut self, _: Option<&[usize]>) -> Next {
        Next::Match(self.0.take().expect("this is what breaks down"))
    }

    fn ended(&mut self, _: &Fixture, _: &FinishedMatch) -> bool {
        false
    }
}

#[test]
fn a_panicking_lane_ends_the_run() {
    let rules = ::referee::games::catalog().find("checkers").expect("a game");
    let seating = rules.meta().seating(None::<u8>).expect("a seating");
    // It has an hour for its `hello`.
    let silent = || sources::parse("sleep 3600").expect("a command");
    let run = Run { seed: Seed([0; 32]), terms: Terms { hello_ms: 3_600_000, ..Terms::default() } };
    let launch = Launch::Through(env!("CARGO_BIN_EXE_referee").into());
    let entrants = BotSpec::of(vec![silent(), silent()]);
    let runner = MatchRunner { jobs: 2, ..MatchRunner::new(run, rules, seating, entrants, launch) };
    let fixture = Fixture {
        id: "m1".to_owned(),
        deal: None,
        leg: Leg::Only,
        options: serde_json::value::to_raw_value(&json!({})).expect("an object").into(),
        opening: Arc::new(Opening::None),
        bots: vec![0, 1],
        wait: Wait::Always,
        secret: None,
    };
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let stopped = runner.play(Broken(Some(fixture)), std::future::pending(), |_| Ok(()));
        sender.send(stopped).expect("the test waits for it");
    });
    let why = receiver.recv_timeout(TIMEOUT).expect("the run ends").why.expect("the run fails");
    assert_eq!(Chain(&why).to_string(), "a lane panicked");
}
