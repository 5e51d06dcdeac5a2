//! Machines on which bots do not start, and decisions that take long: who is to blame, over both carriers.
#![cfg(feature = "nats")]

use serde_json::Value;

use crate::common::{Ended, Folder, Referee, Signal, referee};
use crate::workers::{Coordinator, SHORT, cup, status, wait_until, worker_of};
use crate::workers_nats::Server;

enum Carrier {
    BuiltIn,
    Nats(Server),
}

/// A tournament that is played by workers.
enum Running<'a> {
    BuiltIn(Coordinator),
    Nats(&'a Server, Referee),
}

impl Carrier {
    fn both() -> [Carrier; 2] {
        [Carrier::BuiltIn, Carrier::Nats(Server::start())]
    }

    fn start(&self, args: &[&str]) -> Running<'_> {
        match self {
            Carrier::BuiltIn => Running::BuiltIn(Coordinator::start(args)),
            Carrier::Nats(server) => Running::Nats(server, server.coordinator(args)),
        }
    }
}

impl Running<'_> {
    fn worker(&self, name: &str) -> Referee {
        match self {
            Running::BuiltIn(coordinator) => coordinator.worker(name, &["--slots", "1"]),
            Running::Nats(server, _) => server.worker(name, &[]),
        }
    }

    fn process(&self) -> &Referee {
        match self {
            Running::BuiltIn(Coordinator { process, .. }) | Running::Nats(_, process) => process,
        }
    }

    fn end(self) -> Ended {
        match self {
            Running::BuiltIn(Coordinator { process, .. }) | Running::Nats(_, process) => process.end(),
        }
    }
}

fn stop(workers: impl IntoIterator<Item = Referee>) {
    for worker in workers {
        worker.signal(Signal::TERM);
        let ended = worker.end().with_code(130);
        assert!(!ended.stderr.contains("close_notify"), "{}", ended.stderr);
    }
}

/// Without a sandbox a bot sees which worker plays it.
const IS_BAD: &str = "is_bad = '\\0bad\\0' in open(f'/proc/{os.getppid()}/cmdline').read()\n";

/// A tournament whose bots end at once on the worker `bad`.
fn cup_of_a_bad_machine(folder: &Folder, format: &str) -> String {
    let script =
        format!("{IS_BAD}sys.exit(127) if is_bad and not os.path.exists(__file__ + '.mended') else play()");
    let bots = ["one", "other"].map(|name| folder.bot(name, &script));
    let format = format!("{format}\n[sandbox]\nmode = 'none'");
    cup(folder, &format!("clock = 'none'\n{SHORT}"), &format, &[("one", &bots[0]), ("other", &bots[1])])
}

fn listed(dir: &str) -> Vec<Value> {
    referee(["tournament", "export", dir, "--format", "json"]).done().all("match")
}

#[test]
fn a_machine_on_which_no_bot_starts_spoils_no_result() {
    for carrier in Carrier::both() {
        let folder = Folder::new();
        let config = cup_of_a_bad_machine(&folder, "kind = 'gauntlet'\ncycles = 200");
        let dir = folder.text("cup");
        let running = carrier.start(&["run", &config, "--dir", &dir]);
        let workers = ["bad", "good"].map(|name| running.worker(name));
        let row = wait_until(&dir, "put aside", |status| {
            let workers = status["workers"]["workers"].as_array().cloned().unwrap_or_default();
            workers.iter().any(|worker| worker["name"] == "bad" && worker["state"] == "aside")
        });
        let reason = worker_of(&row, "bad")["reason"].as_str().unwrap();
        assert!(reason.contains("bots do not start on it") && reason.contains("status 127"), "{reason}");
        let ended =
            running.end().with_code(0).says(&["does not start on the worker `bad`", "it is tried again"]);
        let matches = ended.all("match");
        assert_eq!(matches.len(), 400);
        for of in matches {
            assert_eq!(of["ended_by"], "turn_limit", "{of}");
            assert_eq!(of["worker"], "good", "{of}");
        }
        stop(workers);
        referee(["tournament", "verify", &dir]).with_code(0);
    }
}

#[test]
fn bot_that_starts_nowhere_loses_and_no_machine_is_blamed() {
    for (carrier, names) in [(Carrier::BuiltIn, &["one", "two"][..]), (Carrier::BuiltIn, &["one"])] {
        let folder = Folder::new();
        let bots = [folder.bot("broken", "sys.exit(3)"), folder.bot("plain", "play()")];
        let config = cup(
            &folder,
            SHORT,
            "kind = 'gauntlet'\ncycles = 4",
            &[("broken", &bots[0]), ("plain", &bots[1])],
        );
        let dir = folder.text("cup");
        let running = carrier.start(&["run", &config, "--dir", &dir]);
        let workers: Vec<Referee> = names.iter().map(|name| running.worker(name)).collect();
        let ended = running.end().with_code(0);
        let matches = ended.all("match");
        assert_eq!(matches.len(), 8);
        assert!(matches.iter().all(|of| of["ended_by"] == "fault"), "{matches:?}");
        stop(workers);
        for name in names {
            assert_ne!(worker_of(&status(&dir), name)["state"], "aside");
        }
    }
}

#[test]
fn machine_on_which_no_bot_starts_is_put_aside() {
    let folder = Folder::new();
    let config = cup_of_a_bad_machine(&folder, "kind = 'gauntlet'\ncycles = 4");
    let dir = folder.text("cup");
    let running = Carrier::BuiltIn.start(&["run", &config, "--dir", &dir, "--workers-timeout", "15s"]);
    let bad = running.worker("bad");
    let ended = running.end().with_code(5);
    let ended =
        ended.says(&["no worker is left: `bad`: bots do not start on it", "`referee worker activate`"]);
    assert_eq!(ended.all("match").len(), 0);
    stop([bad]);
    for bot in ["one.py.mended", "other.py.mended"] {
        folder.write(bot, "");
    }
    referee(["worker", "activate", &dir, "bad"]).with_code(0);
    let resumed = Coordinator::start(&["resume", &dir]);
    let bad = resumed.worker("bad", &["--slots", "1"]);
    assert_eq!(resumed.process.end().with_code(0).all("match").len(), 8);
    stop([bad]);
}

#[test]
fn matches_of_worker_are_taken_back_and_played_again() {
    let folder = Folder::new();
    let bots = ["one", "other"].map(|name| folder.bot(name, "play()"));
    let format = "kind = 'gauntlet'\ncycles = 300";
    let config = cup(&folder, SHORT, format, &[("one", &bots[0]), ("other", &bots[1])]);
    let dir = folder.text("cup");
    let running = Carrier::BuiltIn.start(&["run", &config, "--dir", &dir]);
    let void = ["worker", "void", &dir, "first"];
    referee(void).with_code(2).says(&["no worker `first`"]);
    let first = running.worker("first");
    wait_until(&dir, "played", |status| status["played"].as_u64() > Some(20));
    referee(void).with_code(5).says(&["another process is playing this tournament"]);
    running.process().signal(Signal::INT);
    running.end().with_code(130);
    stop([first]);
    let by_first =
        listed(&dir).into_iter().filter(|of| of["worker"] == "first" && of["ranks"].is_array()).count();
    assert!(by_first > 20, "{by_first}");
    let voided = referee([&void[..], &["--json"]].concat()).done().one("voided");
    assert_eq!(voided["matches"].as_array().map(Vec::len), Some(by_first), "{voided}");
    assert_eq!(referee(void).done().stdout, "0 matches of `first` taken back\n");
    assert!(listed(&dir).iter().all(|of| of["ranks"].is_null()));
    let resumed = Coordinator::start(&["resume", &dir]);
    let second = resumed.worker("second", &["--slots", "2", "--until-empty"]);
    let ended = resumed.process.end().with_code(0);
    assert_eq!(ended.all("match").iter().filter(|of| of["worker"] == "second").count(), 600);
    second.end().with_code(0);
    let counting = listed(&dir).into_iter().filter(|of| of["ranks"].is_array());
    assert!(counting.clone().all(|of| of["worker"] == "second") && counting.count() == 600);
    let verified = referee(["tournament", "verify", &dir]).with_code(0).stdout;
    assert!(verified.contains(&format!("{by_first} were taken back with their workers")), "{verified}");
}

#[test]
fn pairings_from_taken_back_results_are_played_again() {
    let folder = Folder::new();
    let names = ["one", "two", "three", "four"];
    let bots = names.map(|name| (name, folder.bot(name, "play()")));
    let bots: Vec<(&str, &str)> = bots.iter().map(|(name, bot)| (*name, &**bot)).collect();
    let config = cup(&folder, SHORT, "kind = 'swiss'\nrounds = 40", &bots);
    let dir = folder.text("cup");
    let running = Carrier::BuiltIn.start(&["run", &config, "--dir", &dir]);
    let first = running.worker("first");
    wait_until(&dir, "played", |status| status["played"].as_u64() > Some(6));
    stop([first]);
    let second = running.worker("second");
    running.end().with_code(0);
    stop([second]);
    let by_first = listed(&dir).iter().filter(|of| of["worker"] == "first").count();
    let all = listed(&dir).len();
    assert!(by_first > 6 && by_first < all, "{by_first} of {all}");
    referee(["worker", "void", &dir, "first"]).done();
    referee(["tournament", "resume", &dir]).with_code(0);
    let counting = listed(&dir).into_iter().filter(|of| of["ranks"].is_array());
    assert!(counting.clone().all(|of| of["worker"] != "first") && counting.count() == all);
    referee(["tournament", "verify", &dir]).with_code(0);
}

#[test]
fn a_tournament_of_workers_that_is_resumed_here_says_so() {
    let folder = Folder::new();
    let bots = ["one", "other"].map(|name| folder.bot(name, "play()"));
    let config =
        cup(&folder, SHORT, "kind = 'gauntlet'\ncycles = 300", &[("one", &bots[0]), ("other", &bots[1])]);
    let dir = folder.text("cup");
    let running = Carrier::BuiltIn.start(&["run", &config, "--dir", &dir]);
    let worker = running.worker("box");
    wait_until(&dir, "played", |status| status["played"].as_u64() > Some(2));
    running.process().signal(Signal::INT);
    running.end().with_code(130);
    stop([worker]);
    let here = referee(["tournament", "resume", &dir]).with_code(0);
    here.says(&["1 worker played this tournament before; without --workers-listen"]);
}

#[test]
fn decision_within_its_limit_is_progress_however_long_it_takes() {
    for carrier in Carrier::both() {
        let folder = Folder::new();
        // Saved increments give it more than bank and increment together.
        let thinks = "turns = 0
def pick(t):
    global turns
    turns += 1
    if turns == 5 and not os.path.exists(__file__ + '.thought'):
        open(__file__ + '.thought', 'w').close()
        time.sleep(20)
    return first(t)
play(turn=pick)";
        let thinks = folder.bot("thinks", &format!("import time\n{thinks}"));
        let plain = folder.bot("plain", "play()");
        let head = format!("clock = 'bank=6s,increment=5s'\n{SHORT}");
        let config = cup(&folder, &head, "kind = 'gauntlet'", &[("thinks", &thinks), ("plain", &plain)]);
        let dir = folder.text("cup");
        let running = carrier.start(&["run", &config, "--dir", &dir, "--workers-timeout", "15s"]);
        let worker = running.worker("box");
        let ended = running.end().with_code(0);
        assert!(!ended.stderr.contains("no progress"), "{}", ended.stderr);
        assert!(ended.all("match").iter().all(|of| of["ended_by"] == "turn_limit"), "{}", ended.stdout);
        stop([worker]);
        assert_eq!(worker_of(&status(&dir), "box")["lost"], 0);
    }
}

#[test]
fn a_timeout_below_the_interval_of_progress_is_refused() {
    let folder = Folder::new();
    let plain = folder.bot("plain", "play()");
    let config = cup(&folder, SHORT, "kind = 'gauntlet'", &[("one", &plain), ("two", &plain)]);
    let args = ["tournament", "run", &config, "--workers-listen", "127.0.0.1:0", "--workers-timeout", "10s"];
    referee(args).with_code(2).says(&["`10s` is less than 15s: workers report progress every 10 s"]);
}
