//! `referee worker` and `--workers-listen`: sets that other processes play.
#![expect(clippy::disallowed_methods, reason = "processes are killed after some real time")]

use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ended, Folder, Referee, SEED, Signal, TIMEOUT, assert_gone, files, kill, referee};
use serde_json::Value;

/// Plays a legal move that depends only on the position.
const PLAYER: &str = "with open(__file__ + '.pids', 'a') as pids:
    print(os.getpid(), file=pids, flush=True)
pick = lambda t: move(t, t['legal'][(len(t['view']['fen']) + STEP) % len(t['legal'])])
play(turn=pick)";

/// A tournament file with these bots.
pub(crate) fn cup(folder: &Folder, head: &str, format: &str, bots: &[(&str, &str)]) -> String {
    let mut text = format!("game = 'checkers'\nseed = '{SEED}'\n{head}\n[format]\n{format}\n");
    for (name, bot) in bots {
        text += &format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n");
    }
    folder.write("cup.toml", text)
}

pub(crate) const SHORT: &str = "opening_plies = 4\noptions = { turn_limit = 30 }";

/// A tournament of deterministic bots.
pub(crate) fn steady_cup(folder: &Folder, bots: usize, format: &str) -> String {
    let names: Vec<String> = (0..bots).map(|step| format!("bot{step}")).collect();
    let commands: Vec<String> = (0..bots)
        .map(|step| folder.bot(&format!("bot{step}"), &PLAYER.replace("STEP", &step.to_string())))
        .collect();
    let bots: Vec<(&str, &str)> =
        names.iter().map(|name| &**name).zip(commands.iter().map(|c| &**c)).collect();
    cup(folder, SHORT, format, &bots)
}

/// A coordinator, and the files of its workers.
pub(crate) struct Coordinator {
    pub(crate) process: Referee,
    pub(crate) address: String,
    token_file: String,
}

impl Coordinator {
    /// Plays a tournament file, or resumes the tournament in a directory.
    pub(crate) fn start(args: &[&str]) -> Coordinator {
        let args = [&["tournament"], args, &["--workers-listen", "127.0.0.1:0", "--json"]].concat();
        let mut process = Referee::start(args);
        let listening = process.receive_type("workers_listening");
        let text = |key: &str| listening[key].as_str().unwrap().to_owned();
        Coordinator { process, address: text("address"), token_file: text("token_file") }
    }

    pub(crate) fn worker(&self, name: &str, options: &[&str]) -> Referee {
        let fixed = ["worker", "--connect", &self.address, "--token-file", &self.token_file, "--name", name];
        let fixed = [&fixed[..], &["--noisy", "false"]].concat();
        Referee::start([&fixed[..], options].concat())
    }
}

/// The standings of a tournament, as JSON.
fn standings(dir: &str) -> Value {
    referee(["tournament", "standings", dir, "--json"]).done().one("standings")
}

pub(crate) fn status(dir: &str) -> Value {
    referee(["tournament", "status", dir, "--json"]).done().one("status")
}

pub(crate) fn worker_of<'a>(status: &'a Value, name: &str) -> &'a Value {
    let mut workers = status["workers"]["workers"].as_array().unwrap().iter();
    workers.find(|worker| worker["name"] == name).unwrap_or_else(|| panic!("{name} in {status}"))
}

/// Waits until the status of the tournament is like this.
pub(crate) fn wait_until(dir: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let status = status(dir);
        if is_so(&status) {
            return status;
        }
        assert!(begun.elapsed() < TIMEOUT, "never {what}: {status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Plays the tournament file on this machine.
pub(crate) fn play_here(folder: &Folder, config: &str) -> String {
    let dir = folder.text("here");
    let mut process = Referee::start(["tournament", "run", config, "--dir", &dir, "--json"]);
    process.receive_type("standings");
    process.end().done();
    dir
}

/// The records of a tournament without values that depend on the time.
fn moves(dir: &str) -> Vec<(String, Vec<String>)> {
    let records = Path::new(dir).join("records");
    let of_record = |name: String| {
        let text = std::fs::read_to_string(records.join(&name)).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answers = lines.filter(|line| line["type"] == "answer" || line["type"] == "draw");
        (name, answers.map(|line| format!("{} {}", line["move"], line["drawn"])).collect())
    };
    files(&records).into_iter().map(of_record).collect()
}

#[track_caller]
pub(crate) fn assert_same_results(dir: &str, here: &str) {
    assert_eq!(standings(dir), standings(here));
    assert_eq!(moves(dir), moves(here));
    referee(["tournament", "verify", dir]).with_code(0);
}

#[test]
fn a_worker_plays_a_tournament_as_this_machine_does() {
    let folder = Folder::new();
    let config = steady_cup(&folder, 2, "kind = 'gauntlet'\ncycles = 3");
    let here = play_here(&folder, &config);
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir]);
    let worker = coordinator.worker("box", &["--slots", "2", "--until-empty", "--json"]);
    let ended = coordinator.process.end().done();
    assert_eq!(ended.all("match").len(), 6);
    let ended_worker = worker.end().done();
    assert_eq!(ended_worker.all("took").len(), 3);
    assert_eq!(ended_worker.all("verdict").len(), 3);
    assert_same_results(&dir, &here);
    let status = status(&dir);
    let row = worker_of(&status, "box");
    assert_eq!([&row["sets"], &row["matches"], &row["lost"]], [3, 6, 0].map(Value::from).each_ref());
    assert_eq!(status["workers"]["queued"], 0);
    let text = referee(["tournament", "status", &dir]).done().stdout;
    assert!(text.contains("box") && text.contains("0 sets are queued"), "{text}");
    assert_gone(&folder.pids("bot0.py.pids"));
}

#[test]
fn rounds_are_handed_out_as_they_are_paired() {
    let folder = Folder::new();
    let config = steady_cup(&folder, 4, "kind = 'swiss'\nrounds = 3\nsets = 2");
    let here = play_here(&folder, &config);
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir]);
    let workers = ["one", "other"].map(|name| coordinator.worker(name, &["--slots", "1", "--until-empty"]));
    coordinator.process.end().done();
    for worker in workers {
        worker.end().with_code(0);
    }
    assert_same_results(&dir, &here);
}

#[test]
fn a_race_on_workers_plays_the_same_sets() {
    let folder = Folder::new();
    let config = steady_cup(&folder, 3, "kind = 'race'\nmax_sets = 20");
    let (here, dir) = (folder.text("here"), folder.text("cup"));
    referee(["tournament", "run", &config, "--dir", &here]).with_code(3);
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir]);
    let workers = ["one", "other"].map(|name| coordinator.worker(name, &["--slots", "2", "--until-empty"]));
    coordinator.process.end().with_code(3);
    for worker in workers {
        worker.end().with_code(0);
    }
    assert_same_results(&dir, &here);
}

/// The sets and workers of the test with kills, the time between two kills, and the number of restarts: the whole form
/// with LONG_TESTS.
fn kills() -> (usize, usize, Duration, usize) {
    match std::env::var_os("LONG_TESTS") {
        Some(_) => (1000, 4, Duration::from_secs(2), 5),
        None => (30, 2, Duration::from_millis(700), 1),
    }
}

#[test]
fn kills_of_workers_and_of_the_coordinator_change_no_result() {
    let (sets, count, apart, mut restarts) = kills();
    let folder = Folder::new();
    let config = steady_cup(&folder, 2, &format!("kind = 'gauntlet'\ncycles = {sets}"));
    let here = play_here(&folder, &config);
    let dir = folder.text("cup");
    let mut coordinator = Coordinator::start(&["run", &config, "--dir", &dir, "--no-fsync"]);
    let address = coordinator.address.clone();
    let names: Vec<String> = (0..count).map(|number| format!("box{number}")).collect();
    let mut workers: Vec<Referee> =
        names.iter().map(|name| coordinator.worker(name, &["--slots", "1"])).collect();
    let mut played = 0;
    let begun = Instant::now();
    for round in 0.. {
        let most = TIMEOUT + Duration::from_secs(sets as u64);
        assert!(begun.elapsed() < most, "{played} matches only: {}", status(&dir));
        let until = Instant::now() + apart;
        let mut is_over = false;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            match coordinator.process.line_within(left) {
                Some(line) if line.contains("\"type\":\"match\"") => played += 1,
                Some(line) => is_over |= line.contains("\"type\":\"standings\""),
                None => {}
            }
            if is_over || restarts > 0 && played > sets / (restarts + 1) {
                break;
            }
        }
        if is_over {
            break;
        }
        let victim = round % count;
        workers[victim].signal(Signal::KILL);
        workers[victim] = coordinator.worker(&names[victim], &["--slots", "1"]);
        if restarts > 0 && played > sets / (restarts + 1) {
            restarts -= 1;
            coordinator.process.signal(Signal::KILL);
            drop(coordinator);
            let args = ["resume", &dir, "--no-fsync", "--workers-listen", &address, "--json"];
            let mut process = Referee::start([&["tournament"], &args[..]].concat());
            process.receive_type("workers_listening");
            let token_file = format!("{dir}/workers.token");
            coordinator = Coordinator { process, address: address.clone(), token_file };
        }
    }
    let ended = coordinator.process.end();
    if ended.code == Some(5) {
        // On a slow machine a set may have been with four workers that were killed.
        ended.says(&["delivered 4 times without a result", "referee tournament resume"]);
        let mut process =
            Referee::start(["tournament", "resume", &dir, "--workers-listen", &address, "--json"]);
        process.receive_type("workers_listening");
        process.end().with_code(0);
    } else {
        ended.with_code(0);
    }
    assert_eq!(restarts, 0, "the tournament was over too early");
    for worker in workers {
        worker.wait_until_it_handles(Signal::TERM);
        worker.signal(Signal::TERM);
        worker.end().with_code(130);
    }
    assert_same_results(&dir, &here);
    assert_gone(&folder.pids("bot0.py.pids"));
}

#[test]
fn bots_with_files_travel_to_the_worker() {
    let folder = Folder::new();
    for name in ["one", "other"] {
        std::fs::create_dir_all(folder.path(&format!("{name}/src"))).unwrap();
        let script = "import helper\nplay(turn=helper.pick(move))";
        std::fs::write(
            folder.path(&format!("{name}/src/bot.py")),
            format!("from testbot import *\n\n{script}\n"),
        )
        .unwrap();
        std::fs::copy(folder.path("testbot.py"), folder.path(&format!("{name}/src/testbot.py"))).unwrap();
        let helper = "def pick(move):\n    return lambda t: move(t, t['legal'][len(t['view']['fen']) % len(t['legal'])])\n";
        std::fs::write(folder.path(&format!("{name}/src/helper.py")), helper).unwrap();
    }
    let entrant = |name: &str| {
        format!(
            "[[entrants]]\nname = '{name}'\nfiles = '{name}'\ndirectory = '{name}/src'\ncommand = 'python3 bot.py'\n"
        )
    };
    let head =
        format!("game = 'checkers'\nseed = '{SEED}'\n{SHORT}\n[format]\nkind = 'gauntlet'\ncycles = 2\n");
    let config = folder.write("cup.toml", head + &entrant("one") + &entrant("other"));
    let here = play_here(&folder, &config);
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir]);
    wait_until(&dir, "queued", |status| status["workers"]["queued"].as_u64() > Some(0));
    // The files are not where the coordinator has them.
    for name in ["one", "other"] {
        std::fs::rename(folder.path(name), folder.path(&format!("{name}.away"))).unwrap();
    }
    let cache = folder.text("cache");
    let worker = coordinator.worker("box", &["--slots", "2", "--until-empty", "--cache", &cache]);
    coordinator.process.end().done();
    worker.end().with_code(0);
    for name in ["one", "other"] {
        std::fs::rename(folder.path(&format!("{name}.away")), folder.path(name)).unwrap();
    }
    assert_same_results(&dir, &here);
    let kept = files(&folder.path("cache"));
    assert_eq!(
        kept.iter().filter(|name| name.ends_with(".tar")).count(),
        1,
        "equal files, one archive: {kept:?}"
    );
    assert!(files(&folder.path("cache/work")).is_empty(), "unpacked files are removed");
}

#[test]
fn a_worker_without_the_token_is_not_admitted() {
    let folder = Folder::new();
    let config = steady_cup(&folder, 2, "kind = 'gauntlet'");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &folder.text("cup")]);
    let right = std::fs::read_to_string(&coordinator.token_file).unwrap();
    let (_, certificate) = right.split_once('\n').unwrap();
    let wrong = folder.write_secret("wrong", format!("worker=guess\n{certificate}"));
    let with = |file: &str| {
        let args = [
            "worker",
            "--connect",
            &coordinator.address,
            "--token-file",
            file,
            "--until-empty",
            "--noisy",
            "false",
        ];
        referee(args)
    };
    with(&wrong).with_code(5).says(&["the token `worker` is unknown or wrong"]);
    let open = folder.write("open", &right);
    with(&open).with_code(2).says(&["other users can read it", "chmod 600"]);
    let without = folder.write_secret("without", "# nothing\n");
    with(&without).with_code(2).says(&["it has 0 lines, not one line NAME=TOKEN"]);
}

#[test]
fn set_that_kills_its_workers_is_given_up_and_named() {
    let folder = Folder::new();
    let bomb = folder.bot("bomb", "os.kill(os.getppid(), 9)");
    let good = ["one", "other"].map(|name| folder.plain_bot(name));
    let bots = [("one", &*good[0]), ("bomb", &*bomb), ("other", &*good[1])];
    // A sandbox would not let a bot kill its worker.
    let format = "kind = 'round_robin'\n[sandbox]\nmode = 'none'";
    let config = cup(&folder, SHORT, format, &bots);
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir]);
    let ended = std::thread::scope(|scope| {
        let Coordinator { process, address, token_file } = coordinator;
        let playing = scope.spawn(move || process.end());
        while !playing.is_finished() {
            let mut worker = Command::new(env!("CARGO_BIN_EXE_referee"));
            worker.args(["worker", "--connect", &address, "--token-file", &token_file, "--name", "box"]);
            worker.args(["--slots", "1", "--noisy", "false"]).stderr(Stdio::null());
            let mut worker = worker.spawn().unwrap();
            while worker.try_wait().unwrap().is_none() && !playing.is_finished() {
                std::thread::sleep(Duration::from_millis(20));
            }
            // It may have ended by itself.
            let _ = worker.kill();
            worker.wait().unwrap();
        }
        playing.join().unwrap()
    });
    let ended: Ended = ended.with_code(5);
    let ended = ended.says(&["delivered 4 times without a result", "referee tournament resume"]);
    // The set without the bot was played.
    assert_eq!(ended.all("match").len(), 2);
    let row = status(&dir);
    assert_eq!(worker_of(&row, "box")["lost"], 8, "two sets, four times each: {row}");
}

#[test]
fn a_set_without_progress_moves_to_another_worker() {
    let folder = Folder::new();
    // Hangs in the first process, whose worker lives on.
    let hangs = "first_of_all = not os.path.exists(__file__ + '.hung')
def pick(t):
    if first_of_all:
        open(__file__ + '.hung', 'w').write('1\\n')
        time.sleep(1000)
    return first(t)
play(turn=pick)";
    let hangs = folder.bot("hangs", &format!("import time\n{hangs}"));
    let plain = folder.plain_bot("plain");
    let head = format!("clock = 'none'\n{SHORT}");
    let config = cup(&folder, &head, "kind = 'gauntlet'", &[("hangs", &hangs), ("plain", &plain)]);
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir, "--workers-timeout", "15s"]);
    let stuck = coordinator.worker("stuck", &["--slots", "1"]);
    folder.wait_for("hangs.py.hung");
    let other = coordinator.worker("other", &["--slots", "1", "--until-empty"]);
    let ended = coordinator.process.end().with_code(0).says(&["s1 makes no progress", "s1.2"]);
    assert_eq!(ended.all("match").len(), 2);
    other.end().with_code(0);
    stuck.signal(Signal::TERM);
    stuck.end();
    let row = status(&dir);
    assert_eq!(worker_of(&row, "stuck")["lost"], 1, "{row}");
    assert_eq!(worker_of(&row, "other")["sets"], 1, "{row}");
}

#[test]
fn a_set_is_not_moved_because_the_coordinator_was_suspended() {
    let folder = Folder::new();
    let waits = "def pick(t):
    open(__file__ + '.waits', 'w').write('1\\n')
    while not os.path.exists(__file__ + '.go'):
        time.sleep(0.01)
    return first(t)
play(turn=pick)";
    let waits = folder.bot("waits", &format!("import time\n{waits}"));
    let plain = folder.plain_bot("plain");
    let head = format!("clock = 'none'\n{SHORT}");
    let config = cup(&folder, &head, "kind = 'gauntlet'", &[("waits", &waits), ("plain", &plain)]);
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir, "--workers-timeout", "15s"]);
    let worker = coordinator.worker("box", &["--slots", "1", "--until-empty"]);
    folder.wait_for("waits.py.waits");
    coordinator.process.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(16));
    coordinator.process.signal(Signal::CONT);
    // It looks for sets without progress in this time.
    std::thread::sleep(Duration::from_secs(1));
    folder.write("waits.py.go", "");
    let ended = coordinator.process.end().with_code(0);
    assert!(!ended.stderr.contains("no progress"), "{}", ended.stderr);
    worker.end().with_code(0);
    let row = status(&dir);
    assert_eq!(worker_of(&row, "box")["lost"], 0, "{row}");
}

#[test]
fn drained_worker_ends_and_one_put_aside_gets_no_sets() {
    let folder = Folder::new();
    let config = steady_cup(&folder, 2, "kind = 'gauntlet'\ncycles = 4");
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir]);
    referee(["worker", "aside", &dir, "box"])
        .with_code(2)
        .says(&["no worker `box`; known: none has connected"]);
    // It cannot play anything yet: the program of one bot is missing.
    let script = folder.read("bot0.py");
    std::fs::remove_file(folder.path("bot0.py")).unwrap();
    let unable = coordinator.worker("unable", &["--slots", "1"]);
    let row = wait_until(&dir, "put aside", |status| status["workers"]["workers"][0]["state"] == "aside");
    let reason = worker_of(&row, "unable")["reason"].as_str().unwrap();
    assert!(reason.contains("cannot play s1") && reason.contains("bot0.py is missing"), "{reason}");
    referee(["worker", "drain", &dir, "unable"]).with_code(0).says(&["gets no further sets and ends"]);
    unable.end().with_code(0).says(&["the coordinator drains this worker"]);
    // It may have held another set, which it could have played with the program.
    folder.write("bot0.py", script);
    let other = coordinator.worker("other", &["--slots", "1", "--until-empty"]);
    coordinator.process.end().with_code(0);
    other.end().with_code(0);
    let row = status(&dir);
    assert_eq!(worker_of(&row, "other")["sets"], 4, "{row}");
}

#[test]
fn run_without_active_workers_ends_and_says_why() {
    let folder = Folder::new();
    let bots = ["one", "other"].map(|name| folder.plain_bot(name));
    let head = format!("clock = 'none'\n{SHORT}\n");
    let format = "kind = 'gauntlet'\n[workers]\nlisten = '127.0.0.1:0'\ntimeout = '15s'";
    let config = cup(&folder, &head, format, &[("one", &bots[0]), ("other", &bots[1])]);
    let dir = folder.text("cup");
    let mut process = Referee::start(["tournament", "run", &config, "--dir", &dir, "--json"]);
    let address = process.receive_type("workers_listening")["address"].as_str().unwrap().to_owned();
    let coordinator = Coordinator { process, address, token_file: format!("{dir}/workers.token") };
    std::fs::remove_file(folder.path("one.py")).unwrap();
    let unable = coordinator.worker("unable", &["--slots", "1"]);
    // A run is stuck before a worker joins, too.
    wait_until(&dir, "put aside", |status| status["workers"]["workers"][0]["state"] == "aside");
    let row = status(&dir);
    assert_eq!(row["workers"]["is_stuck"], true, "{row}");
    let text = referee(["tournament", "status", &dir]).done().stdout;
    assert!(text.contains("no worker is active: all that are connected are aside"), "{text}");
    let what =
        ["no worker is left: `unable`: it cannot play s1", "one.py is missing", "referee worker activate"];
    coordinator.process.end().with_code(5).says(&what);
    unable.signal(Signal::TERM);
    unable.end();
}

#[test]
fn worker_with_unusually_failing_bots_is_put_aside() {
    let folder = Folder::new();
    // Without a sandbox a bot sees which worker plays it.
    let bot = "import time
is_bad = '\\0bad\\0' in open(f'/proc/{os.getppid()}/cmdline').read()
turns = 0
def pick(t):
    global turns
    turns += 1
    if is_bad and turns == 1:
        time.sleep(3)
    return move(t, '1-32') if is_bad else first(t)
play(turn=pick)";
    let bots = ["one", "other"].map(|name| folder.bot(name, bot));
    let head = format!("clock = 'delay=2s'\n{SHORT}");
    let format = "kind = 'gauntlet'\ncycles = 5000\n[sandbox]\nmode = 'none'";
    let config = cup(&folder, &head, format, &[("one", &bots[0]), ("other", &bots[1])]);
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir, "--no-fsync"]);
    let good = coordinator.worker("good", &["--slots", "1"]);
    wait_until(&dir, "played", |status| status["played"].as_u64() > Some(24));
    let bad = coordinator.worker("bad", &["--slots", "1"]);
    let row = wait_until(&dir, "put aside", |status| {
        let workers = status["workers"]["workers"].as_array().unwrap();
        workers.iter().any(|worker| worker["state"] == "aside")
    });
    let reason = worker_of(&row, "bad")["reason"].as_str().unwrap();
    let named = reason.contains("bots made a fault in") && reason.contains("timeouts in m");
    assert!(named, "{reason}");
    assert_eq!(worker_of(&row, "good")["state"], "active");
    kill(coordinator.process.pid(), Signal::INT);
    coordinator.process.end().with_code(130);
    for worker in [good, bad] {
        worker.signal(Signal::TERM);
        worker.end().with_code(130);
    }
}

#[test]
fn bots_that_connect_by_themselves_play_on_no_worker() {
    let folder = Folder::new();
    let text = format!(
        "game = 'checkers'\nseed = '{SEED}'\n[format]\nkind = 'gauntlet'\n[listen]\naddress = '127.0.0.1:0'\n\
         [[entrants]]\ntcp = 'alice'\n[[entrants]]\ntcp = 'bob'\n"
    );
    let config = folder.write("cup.toml", text);
    let args =
        ["tournament", "run", &config, "--dir", &folder.text("cup"), "--workers-listen", "127.0.0.1:0"];
    referee(args)
        .with_code(2)
        .says(&["`alice` connects by itself: workers only play bots that have a command"]);
}

#[test]
fn interrupted_worker_leaves_no_bot_and_returns_sets() {
    let folder = Folder::new();
    let config = steady_cup(&folder, 2, "kind = 'gauntlet'\ncycles = 200");
    let dir = folder.text("cup");
    let coordinator = Coordinator::start(&["run", &config, "--dir", &dir, "--no-fsync"]);
    let worker = coordinator.worker("box", &["--slots", "2"]);
    wait_until(&dir, "played", |status| status["played"].as_u64() > Some(2));
    let row = status(&dir);
    assert!(!row["workers"]["out"].as_array().unwrap().is_empty(), "{row}");
    worker.signal(Signal::INT);
    worker.end().with_code(130);
    assert_gone(&folder.pids("bot0.py.pids"));
    let row = wait_until(&dir, "returned", |status| {
        status["workers"]["out"].as_array().unwrap().is_empty()
            && !worker_of(status, "box")["is_connected"].as_bool().unwrap()
    });
    assert_eq!(worker_of(&row, "box")["lost"], 0, "{row}");
    kill(coordinator.process.pid(), Signal::INT);
    coordinator.process.end().with_code(130).says(&["referee tournament resume"]);
}

#[test]
fn a_regression_test_on_workers_has_the_same_verdict() {
    let folder = Folder::new();
    let [new, base] =
        [1, 2].map(|step| folder.bot(&format!("bot{step}"), &PLAYER.replace("STEP", &step.to_string())));
    let args =
        ["regress", "checkers", "--new", &new, "--base", &base, "--opening-plies", "4", "--fixed", "6"];
    let args = [&args[..], &["--set", "turn_limit=30", "--seed", SEED, "--json"]].concat();
    let here = referee(&args);
    let results = folder.text("results");
    let with = ["--workers-listen", "127.0.0.1:0", "--results", &results];
    let mut process = Referee::start([&args[..], &with].concat());
    let listening = process.receive_type("workers_listening");
    let (address, token_file) =
        (listening["address"].as_str().unwrap(), listening["token_file"].as_str().unwrap());
    let coordinator = Coordinator { process, address: address.to_owned(), token_file: token_file.to_owned() };
    let worker = coordinator.worker("box", &["--slots", "2", "--until-empty"]);
    let ended = coordinator.process.end().with_code(here.code.unwrap());
    worker.end().with_code(0);
    let verdict = |ended: &Ended| {
        let mut verdict = ended.one("verdict");
        verdict.as_object_mut().unwrap().retain(|key, _| !key.contains("time") && !key.contains("_ms"));
        verdict
    };
    assert_eq!(verdict(&ended), verdict(&here));
    let beside = files(Path::new(&folder.text(".")));
    assert!(!beside.iter().any(|name| name.starts_with("workers.")), "secrets are elsewhere: {beside:?}");
}

/// A proxy to a coordinator that cuts every connection after this time.
fn flaky(coordinator: &str, lives: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, coordinator) = (listener.local_addr().unwrap().to_string(), coordinator.to_owned());
    std::thread::spawn(move || {
        for worker in listener.incoming() {
            let worker = worker.unwrap();
            // At the end of the run the coordinator is gone.
            let Ok(other) = TcpStream::connect(&coordinator) else { return };
            for (from, to) in [(&worker, &other), (&other, &worker)] {
                let [mut from, mut to] = [from, to].map(|stream| stream.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            }
            std::thread::spawn(move || {
                std::thread::sleep(lives);
                // It may have ended by itself.
                let _ = (worker.shutdown(Shutdown::Both), other.shutdown(Shutdown::Both));
            });
        }
    });
    address
}

#[test]
fn a_worker_whose_connection_breaks_brings_its_results_back() {
    let folder = Folder::new();
    let config = steady_cup(&folder, 2, "kind = 'gauntlet'\ncycles = 30");
    let here = play_here(&folder, &config);
    let dir = folder.text("cup");
    let direct = Coordinator::start(&["run", &config, "--dir", &dir]);
    let address = flaky(&direct.address, Duration::from_millis(300));
    let coordinator = Coordinator { address, ..direct };
    let worker = coordinator.worker("box", &["--slots", "2", "--until-empty", "--json"]);
    coordinator.process.end().with_code(0);
    // It may not have received that the run is over.
    worker.signal(Signal::TERM);
    let ended = worker.end();
    assert!(matches!(ended.code, Some(0 | 130)), "{ended:?}");
    assert!(ended.all("disconnected").len() > 1, "{}", ended.stdout);
    assert_same_results(&dir, &here);
    let row = status(&dir);
    assert_eq!(worker_of(&row, "box")["sets"], 30, "{row}");
}
