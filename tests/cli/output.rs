//! Closed readers and full disks of standard output: exit codes are preserved, and nothing panics.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs::File;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, kill_process};

use crate::common::{Folder, ROOT, SEED, Signal, WON, referee, sample};

/// A subcommand with its exit codes for a closed reader and for a full disk.
struct Case {
    args: Vec<String>,
    gone: i32,
    full: i32,
}

impl Case {
    fn check(&self) {
        let Case { args, gone, full: on_full } = self;
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        // A panic would give exit code 101.
        let output = run(args, writer, full());
        assert_eq!(output.status.code(), Some(*gone), "reader gone: {args:?}");
        let output = run(args, full(), Stdio::piped());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(*on_full), "/dev/full: {args:?}: {stderr}");
        let is_told = stderr.contains("standard output: No space left on device");
        assert!(is_told || ["engine", "imagine", "mcp", "stdio"].contains(&&*args[0]), "{args:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    }
}

/// Puts a submission into the database of a league.
fn hand_in(league: &str) {
    let script = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n\
                  db.execute(\"INSERT INTO submissions (owner, archive, size, state, log, received_at, changed_at) VALUES \
                  ('ada', '00', 1, 'failed', 'no book\\n', '2026-11-22T18:30:05Z', '2026-11-22T18:30:05Z')\")\n\
                  db.commit()";
    let database = std::path::Path::new(league).with_file_name("league.sqlite");
    let ended = Command::new("python3").args(["-c", script]).arg(database).status().expect("python runs");
    assert!(ended.success());
}

/// All subcommands of `referee` or of one of its subcommands.
fn subcommands(of: &[&str]) -> BTreeSet<String> {
    let help = referee([of, &["--help"]].concat()).done().stdout;
    let list = help.split_once("Commands:\n").expect("a list of subcommands").1;
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().expect("a name").to_owned()).collect()
}

fn full() -> File {
    File::options().write(true).open("/dev/full").expect("Linux has it")
}

/// The file of a league of two programs that has not been served yet.
fn league(folder: &Folder, one: &str, two: &str) -> String {
    let program = |name: &str, bot: &str| format!("[[programs]]\nname = '{name}'\ncommand = {bot:?}\n");
    let ladder = "name = 'mine'\n[pages]\nannouncements = 'news'\n[owners]\nlisten = '127.0.0.1:0'\nurl = 'http://localhost/'\n[signup]\nmode = 'invite'\n[sandbox]\nmode = 'basic'\n[[ladders]]\nname = 'checkers'\ngame = 'checkers'\n";
    std::fs::create_dir(folder.path("league")).expect("a directory");
    folder.write("league/league.toml", format!("{ladder}{}{}", program("one", one), program("two", two)))
}

/// A server runs until SIGTERM even if its standard output is closed or full.
fn serve_without_a_reader(folder: &Folder, league: &str, is_full: bool) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let stdout: Stdio = if is_full { full().into() } else { writer.into() };
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    let mut server = command.args(["serve", "--json", league]).stdout(stdout).spawn().expect("it starts");
    let records = folder.path("league/ladders/checkers/records");
    let count = || std::fs::read_dir(&records).map_or(0, Iterator::count);
    let before = count();
    while count() < before + 2 {
        assert!(server.try_wait().expect("a child").is_none(), "it ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&server), Signal::TERM).expect("it runs");
    assert_eq!(server.wait().expect("a child").code(), Some(0));
}

fn run(args: &[String], stdout: impl Into<Stdio>, stderr: impl Into<Stdio>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    let command = command.args(args).current_dir(ROOT).stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    command.spawn().and_then(|child| child.wait_with_output()).expect("it runs")
}

#[test]
fn exit_codes_survive_closed_readers_and_full_disks() {
    let folder = Folder::new();
    // Bots with the same files would pass a regression test at once.
    let (plain, other) = (folder.plain_bot("plain"), folder.bot("other", "play()  # the other one"));
    let illegal = folder.illegal_bot("True");
    let nameless = folder.bot("nameless", "print('{\"type\":\"hello\"}', flush=True); sys.stdin.read()");
    let config = format!(
        "game = 'checkers'\noptions = {{ fen = 'B:W18:B14' }}\nopening_plies = 0\nmirror = 'none'\n[format]\n\
         kind = 'round_robin'\n[[entrants]]\nname = 'one'\ncommand = {plain:?}\n[[entrants]]\nname = 'two'\n\
         command = {other:?}\n"
    );
    let config = folder.write("cup.toml", config);
    let (cup, broken) = (folder.text("cup"), folder.text("broken"));
    for dir in [&cup, &broken] {
        referee(["tournament", "run", &config, "--dir", dir]).with_code(0);
    }
    std::fs::remove_file(folder.path("broken/records/m1.jsonl")).expect("a record");
    let hidden = folder.read("cup.toml").replace("options = { fen = 'B:W18:B14' }", "disguise = 'blue moon'");
    let (hidden_config, hidden) = (folder.write("hidden.toml", hidden), folder.text("hidden"));
    referee(["tournament", "run", &hidden_config, "--dir", &hidden]).with_code(0);
    // Its bot does not pass, so that nothing is played.
    std::fs::create_dir(folder.path("start")).expect("a directory");
    folder.write("start/bot.toml", "name = 'none'\ncommand = 'sh none.sh'\n");
    let agents = "[[agents]]\nname = 'a'\ncommand = 'true'\n[[agents]]\nname = 'b'\ncommand = 'true'\n";
    let workshop =
        folder.write("shop.toml", format!("game = 'checkers'\nrounds = 1\nstart = 'start'\n{agents}"));
    let shop = folder.text("shop");
    referee(["workshop", "run", &workshop, "--dir", &shop]).with_code(2);
    let record = format!("{cup}/records/m1.jsonl");
    let corrupted =
        folder.write("corrupted.jsonl", folder.read("cup/records/m1.jsonl").replace("14x23", "14x24"));

    let mut cases = Vec::new();
    let mut case = |args: &str, gone: i32, full: i32| {
        let args = shlex::split(args).expect("words");
        cases.push(Case { args, gone, full });
    };
    for args in [
        "games",
        "games --json",
        "game check examples/games/connect_four -n 2",
        "rules checkers",
        "spec",
        "spec match",
        "schema",
        "perft checkers -d 3",
        "man",
    ] {
        case(args, 0, 5);
    }
    case("completions bash", 0, 5);
    // 1 on a machine that lacks a layer.
    let checked = referee(["sandbox", "check"]).code.expect("an exit code");
    case("sandbox check", checked, if checked == 0 { 5 } else { checked });
    if checked != 0 {
        case("worker check --time 50ms", checked, checked);
    }
    // The archive is none, so that nothing is played.
    folder.write("bad.tar", "bad");
    let anchors = folder.read("cup.toml").replace("opening_plies = 0\nmirror = 'none'", "opening_plies = 2");
    let missing: Vec<String> = crate::sandbox::missing().iter().map(ToString::to_string).collect();
    let grades =
        "[[grades]]\ngrade = 'F'\nelo = 0\npoints = 0\n[[grades]]\ngrade = 'A'\nelo = 9\npoints = 9\n";
    let anchors = format!("{anchors}[sandbox]\nmode = 'strict'\nallow_missing = {missing:?}\n{grades}");
    let anchors = folder.write("anchors.toml", anchors.replace("round_robin", "grade"));
    case(
        &format!("grade {} --against {anchors} --dir {}", folder.text("bad.tar"), folder.text("grades")),
        1,
        1,
    );
    case("sprt --wdl 400,0,0", 0, 5);
    case("sprt --wdl 0,0,400 --json", 1, 1);
    case("sprt --wdl 10,0,10", 3, 3);
    case(&format!("verify {record}"), 0, 5);
    case(&format!("publish {record} --to {}", folder.text("published")), 0, 5);
    case(&format!("verify {record} {corrupted} --json"), 1, 1);
    let dice = folder.text("dice");
    referee(["play", "saxum", &plain, &plain, "--record", &dice]).done();
    for more in ["", "--json"] {
        case(&format!("luck {dice} --playouts 2 {more}"), 0, 5);
    }
    for more in ["", "--json"] {
        case(&format!("workshop status {shop} {more}"), 0, 5);
        case(&format!("workshop verify {shop} {more}"), 0, 5);
    }
    case(&format!("show {record}"), 0, 5);
    case(&format!("export --format pdn {record}"), 0, 5);
    case(&format!("export --format pdn {record} {corrupted}"), 1, 1);
    for more in ["", "--json"] {
        case(&format!("check checkers {nameless:?} --hello-limit 200ms {more}"), 1, 1);
    }
    case(&format!("debug checkers {illegal:?}"), 1, 1);
    case(&format!("debug checkers {plain:?} --set {WON}"), 0, 5);
    for more in ["", "-n 2", "-n 2 --json"] {
        case(&format!("play checkers {plain:?} {illegal:?} --strict {more}"), 1, 1);
        case(&format!("play checkers {plain:?} {other:?} --set {WON} {more}"), 0, 5);
    }
    let regress = format!("regress checkers --seed {SEED} --max-fault-rate 1");
    let short = format!("--set {WON} --opening-plies 0");
    for more in ["", "--json"] {
        case(&format!("{regress} --new {illegal:?} --base {plain:?} --elo1 400 {more}"), 1, 1);
        case(&format!("{regress} --new {plain:?} --base {other:?} --max-sets 1 {short} {more}"), 3, 3);
    }
    case(&format!("{regress} --new {plain:?} --base {other:?} --fixed 1 {short}"), 0, 5);
    case(&format!("human checkers {plain:?} --set {WON}"), 0, 5);
    // The host has left in these cases; a host that opens matches itself may do so at any time.
    case(&format!("mcp checkers {plain:?}"), 5, 5);
    case("stdio", 0, 0);
    // There is nothing to answer.
    case("engine uci -- python3 tests/fixtures/fake_engine.py uci", 0, 0);
    case("imagine", 0, 0);
    case("stdio checkers -n 1", 1, 1);
    case(&format!("tournament check {config}"), 0, 5);
    referee(["tournament", "rule", "rename", &cup, "one", "The first", "--reason", "asked for it"]).done();
    for more in ["", "--json"] {
        for subcommand in ["status", "standings", "verify", "rulings"] {
            case(&format!("tournament {subcommand} {cup} {more}"), 0, 5);
        }
    }
    case(&format!("tournament verify {broken}"), 1, 1);
    for form in ["table", "json", "csv", "markdown", "junit", "html"] {
        case(&format!("tournament report {cup} --recall {hidden} --format {form}"), 0, 5);
    }
    for form in ["csv", "json", "text", "pdn"] {
        case(&format!("tournament export {cup} --format {form}"), 0, 5);
    }
    let league = league(&folder, &plain, &other);
    for is_full in [false, true] {
        serve_without_a_reader(&folder, &league, is_full);
    }
    case(&format!("tournament watch {cup} --watch 127.0.0.1:0 --json"), 0, 5);
    case(&format!("league check --league {league}"), 0, 5);
    let renamed = ["rename", "--league", &league, "one", "The first", "--reason", "asked for it"];
    referee(["league", "rule"].iter().chain(&renamed)).done();
    referee(["league", "owner", "add", "ada", "--league", &league]).done();
    referee(["league", "invite", "--league", &league]).done();
    // It ends once.
    referee(["league", "season", "end", "autumn", "--league", &league]).done();
    for more in ["", "--json"] {
        for subcommand in [
            "list",
            "standings",
            "matches",
            "verify",
            "workers",
            "rulings",
            "seasons",
            "owners",
            "invitations",
            "submissions",
        ] {
            case(&format!("league {subcommand} --league {league} {more}"), 0, 5);
        }
    }
    case(&format!("league standings --csv --league {league}"), 0, 5);
    hand_in(&league);
    case(&format!("league submission show 1 --league {league}"), 0, 5);
    case(&format!("league log --league {league}"), 0, 5);
    let mut missing = subcommands(&[]);
    for group in ["tournament", "league"] {
        missing.extend(subcommands(&[group]).into_iter().map(|name| format!("{group} {name}")));
    }
    for Case { args, .. } in &cases {
        missing.remove(&args[0]);
        missing.remove(&args[..2.min(args.len())].join(" "));
    }
    // Most of the time is spent waiting for bots.
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    case.check();
                }
            });
        }
    });
    // Subcommands with effects have them before they print.
    let mut number = 0;
    let mut best = vec!["best", "checkers", &plain, &other, "--set", WON, "--opening-plies", "0"];
    best.extend(["--within", "600", "--alpha", "0.4", "--dir"]);
    let judge = folder.bot("judge", "play(turn=lambda t: move(t, t['legal'][0], info={'score': 0}))");
    for args in [
        best,
        vec!["openings", "checkers", "--bot", &judge, "-n", "2", "--balance", "0", "-o"],
        vec!["init", "tournament"],
        vec!["tournament", "run", &config, "--dir"],
        vec!["tournament", "run", "--json", &config, "--dir"],
        vec!["tournament", "resume", &cup],
        vec!["tournament", "resume", "--json", &cup],
        vec!["tournament", "add", &cup, &other, "--name"],
        vec!["tournament", "change", &cup, "--jobs"],
        vec!["tournament", "withdraw", &cup],
        vec!["tournament", "return", &cup],
        vec!["tournament", "rule", "rename", &cup, "one", "--reason", "asked for it"],
        vec!["league", "add", "--league", &league],
        vec!["league", "challenge", "--league", &league, "one", "two"],
        vec!["league", "pause", "--league", &league],
        vec!["league", "resume", "--league", &league],
        vec!["league", "rule", "rename", "--league", &league, "one", "--reason", "asked for it"],
        vec!["league", "revoke", "--league", &league],
        vec!["league", "owner", "add", "--league", &league],
        vec!["league", "organiser", "add", "--league", &league],
        vec!["league", "announce", "--league", &league, "--text", "x"],
        vec!["league", "invite", "--league", &league],
        vec!["league", "backup", "--league", &league],
        vec!["league", "tokens", "--league", &league],
        vec!["league", "finals", "--league", &league, "--season", "autumn", "--write", "--dir"],
    ] {
        missing.remove(&args[..2].join(" "));
        missing.remove(args[0]);
        for (is_full, code) in [(false, 0), (true, 5)] {
            number += 1;
            let mut args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            match args[1].as_str() {
                "checkers" if args[0] == "openings" => args.push(folder.text(&format!("new{number}.fen"))),
                "checkers" | "run" | "tournament" | "init" | "backup" | "tokens" | "finals" => {
                    args.push(folder.text(&format!("new{number}")));
                }
                "rule" | "announce" => args.push(format!("The number {number}")),
                "change" => args.push(number.to_string()),
                "add" | "revoke" if args[0] == "league" => {
                    args.push(if is_full { "carol" } else { "alice" }.to_owned());
                }
                "add" => args.push(format!("new{number}")),
                "owner" | "organiser" => args.push(format!("owner {number}")),
                "pause" | "resume" if args[0] == "league" => args.push("one".to_owned()),
                "withdraw" | "return" => args.push(if is_full { "one" } else { "two" }.to_owned()),
                _ => {}
            }
            let (reader, writer) = std::io::pipe().expect("a pipe");
            drop(reader);
            let stdout: Stdio = if is_full { full().into() } else { writer.into() };
            let output = run(&args, stdout, Stdio::piped());
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
            assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
        }
    }
    missing.remove("serve");
    missing.remove("league season");
    // It needs a league.
    missing.remove("submit");
    // The verdict on a machine that lacks nothing depends on its load.
    missing.remove("worker");
    missing.retain(|name| !name.ends_with("help"));
    assert_eq!(missing, BTreeSet::new(), "subcommands that this test does not run");
}

#[test]
fn a_verdict_survives_closed_standard_output() {
    let folder = Folder::new();
    let corrupted = folder.write("corrupted.jsonl", "{}\n");
    let closed = |args: &[&str]| {
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", "exec \"$0\" \"$@\" >&-", env!("CARGO_BIN_EXE_referee")]).args(args);
        shell.output().expect("it runs").status.code()
    };
    assert_eq!(closed(&["verify", &corrupted]), Some(1));
    assert_eq!(closed(&["games"]), Some(0));
    assert_eq!(
        closed(&[
            "play",
            "checkers",
            &sample("hostile/illegal_move.py"),
            &folder.plain_bot("plain"),
            "--strict"
        ]),
        Some(1)
    );
}
