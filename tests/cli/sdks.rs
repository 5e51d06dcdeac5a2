//! Every SDK under bots/ passes the shared vectors, over pipes and over TCP, and plays every game.
//!
//! tests/run compiles the SDKs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use ::referee::bot::sandbox::Mode;

use crate::common::{Folder, ROOT, Referee, SEED, TIMEOUT, in_java, referee, sample};
use crate::sandbox::{options, options_without_bubblewrap, programs_without_bubblewrap};
use serde_json::Value;

/// The command lines of an SDK's bots.
struct Sdk {
    /// For a shell in the root of the repository.
    vector: String,
    random: String,
    /// A bot that plays a game well, and the game.
    better: (&'static str, String),
}

fn python() -> Sdk {
    Sdk {
        vector: "cd bots/python && exec python3 -m tests.vector_bot".to_owned(),
        random: sample("python/random_bot.py"),
        better: ("checkers", sample("python/greedy_bot.py")),
    }
}

fn javascript() -> Sdk {
    let bot = |path: &str| format!("node '{ROOT}/bots/javascript/{path}'");
    Sdk {
        vector: bot("test/vector_bot.js"),
        random: bot("bots/random.js"),
        better: ("saxum", bot("bots/groups.js")),
    }
}

fn go() -> Sdk {
    let bot = |name: &str| format!("'{ROOT}/target/sdks/go/{name}'");
    Sdk { vector: bot("vectorbot"), random: bot("random"), better: ("jeex", bot("claims")) }
}

fn c() -> Sdk {
    let bot = |name: &str| format!("'{ROOT}/target/sdks/c/{name}'");
    Sdk { vector: bot("vector_bot"), random: bot("random_bot"), better: ("checkers", bot("lookahead_bot")) }
}

fn java() -> Sdk {
    Sdk {
        vector: in_java("VectorBot"),
        random: in_java("samples.RandomBot"),
        better: ("keezen", in_java("samples.HomewardBot")),
    }
}

/// Built by `cargo test --workspace`.
fn rust() -> Sdk {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_referee")).parent().expect("a folder");
    let bot = |name: &str| format!("'{}'", folder.join(name).display());
    Sdk {
        vector: bot("examples/vector"),
        random: bot("referee-random"),
        better: ("checkers", bot("referee-alpha-beta") + " --depth 2"),
    }
}

macro_rules! sdks {
    ($($sdk:ident)*) => {$(
        mod $sdk {
            #[test]
            fn the_vector_bot_holds_all_talks_over_stdin_and_stdout() {
                super::hold_all_talks(&super::$sdk(), false);
            }

            #[test]
            fn the_vector_bot_holds_all_talks_over_tcp() {
                super::hold_all_talks(&super::$sdk(), true);
            }

            #[test]
            fn the_random_bot_connects_to_a_referee_with_its_token() {
                super::connect(&super::$sdk().random);
            }

            #[test]
            fn the_random_bot_plays_every_game_without_a_fault() {
                super::play_every_game(&super::$sdk().random);
            }

            #[test]
            fn the_random_bot_plays_several_matches_at_once() {
                super::play_at_once(&super::$sdk().random);
            }

            #[test]
            fn the_random_bot_plays_and_passes_check_in_strict() {
                super::play_in_strict(&super::$sdk().random);
            }

            #[test]
            fn the_better_bot_clearly_beats_the_random_bot() {
                super::beat_random(&super::$sdk());
            }

            #[test]
            fn the_random_bot_plays_on_after_restarts_of_a_league() {
                crate::league_restart::stay(&super::$sdk().random);
            }
        }
    )*};
}

sdks! { python javascript rust go c java }

mod reconnect {
    macro_rules! sdks {
        ($($sdk:ident)*) => {$(
            #[test]
            fn $sdk() {
                super::reconnect(&super::$sdk().random);
            }
        )*};
    }

    sdks! { python javascript rust go c java }
}

/// Plays in a sandbox of the layers that this machine has, and in one without bubblewrap. The bots can read their SDK.
fn play_in_strict(bot: &str) {
    let folder = Folder::new();
    let path = std::env::var("PATH").expect("a path");
    let programs = programs_without_bubblewrap(&folder);
    let without = options_without_bubblewrap(Mode::Strict, &programs);
    for (path, count, options) in [(&path, "100", options(Mode::Strict)), (&programs, "10", without)] {
        let play = ["play", "checkers", bot, bot, "-n", count, "--set", "turn_limit=20", "--strict"];
        for args in [&play[..], &["check", "checkers", bot]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
            command.env("PATH", path).args(args).args(&options);
            command.args(["--sandbox-read".to_owned(), format!("{ROOT}/bots")]);
            Referee::start_as(&mut command).end().with_code(0);
        }
    }
}

/// A bot and the stream to it.
struct Bot {
    process: Child,
    connection: Option<TcpStream>,
    lines: Receiver<String>,
    stderr: Option<std::thread::JoinHandle<String>>,
}

impl Bot {
    fn start(command: &str, talk: &Value, over_tcp: bool) -> Bot {
        let listener = over_tcp.then(|| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("{command} \"$@\""), "bot"]).current_dir(ROOT);
        for arg in talk["args"].as_array().into_iter().flatten() {
            shell.arg(arg.as_str().expect("text"));
        }
        for (name, value) in talk["env"].as_object().into_iter().flatten() {
            shell.env(name, value.as_str().expect("text"));
        }
        if let Some(listener) = &listener {
            shell.args(["--connect", &listener.local_addr().expect("an address").to_string()]);
        }
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = shell.spawn().expect("bash");
        let stderr = process.stderr.take().expect("piped");
        let stderr = std::thread::spawn(|| std::io::read_to_string(stderr).expect("UTF-8"));
        let connection = listener.map(|listener| accept(&listener, &mut process));
        let reader: Box<dyn Read + Send> = match &connection {
            Some(connection) => Box::new(connection.try_clone().expect("a second handle")),
            None => Box::new(process.stdout.take().expect("piped")),
        };
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(reader).lines() {
                if tell.send(line.expect("UTF-8")).is_err() {
                    return;
                }
            }
        });
        Bot { process, connection, lines, stderr: Some(stderr) }
    }

    fn send(&mut self, text: &str) {
        let said = match &mut self.connection {
            Some(connection) => connection.write_all(text.as_bytes()),
            None => self.process.stdin.as_mut().expect("piped").write_all(text.as_bytes()),
        };
        said.expect("the bot reads; did tests/run build it?");
    }

    /// The bot's next message; none at the end of its output.
    fn message(&self) -> Option<Value> {
        match self.lines.recv_timeout(TIMEOUT) {
            Ok(line) => Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing comes"),
        }
    }

    /// Closes its input and waits for its exit.
    fn end(mut self, talk: &Value) {
        self.process.stdin = None;
        if let Some(connection) = &self.connection {
            // It may have closed the connection itself.
            let _ = connection.shutdown(Shutdown::Write);
        }
        assert_eq!(self.message(), None, "{}: after the last step", talk["name"]);
        let status = self.process.wait().expect("it ends");
        let stderr = self.stderr.take().expect("it ends once").join().expect("standard error is read");
        match talk["refused"].as_array() {
            None => assert_eq!(status.code(), Some(0), "{}: {stderr}", talk["name"]),
            Some(reasons) => {
                assert!(status.code().is_some_and(|code| code != 0), "{}: {status}", talk["name"]);
                for reason in reasons {
                    assert!(stderr.contains(reason.as_str().expect("a text")), "{}: {stderr}", talk["name"]);
                }
            }
        }
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        // Both fail only if it has exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The connection of a bot, unless it exits before.
fn accept(listener: &TcpListener, bot: &mut Child) -> TcpStream {
    listener.set_nonblocking(true).expect("a listener");
    for _ in 0..TIMEOUT.as_millis() / 5 {
        if let Ok((connection, _)) = listener.accept() {
            connection.set_nonblocking(false).expect("a connection");
            return connection;
        }
        let status = bot.try_wait().expect("a child");
        assert!(status.is_none(), "the bot does not connect: {status:?}; did tests/run build it?");
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the bot does not connect")
}

fn hold_all_talks(sdk: &Sdk, over_tcp: bool) {
    let talks = std::fs::read_to_string(format!("{ROOT}/bots/vectors/talks.jsonl")).expect("the vectors");
    for talk in talks.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
        let mut bot = Bot::start(&sdk.vector, &talk, over_tcp);
        for step in talk["steps"].as_array().expect("steps") {
            match (&step["in"], &step["out"]) {
                (Value::String(text), _) => {
                    bot.send(text);
                    // So that the parts of a line are read separately.
                    std::thread::sleep(Duration::from_millis(if text.ends_with('\n') { 0 } else { 30 }));
                }
                (Value::Object(_), _) => bot.send(&format!("{}\n", step["in"])),
                (_, expected) => assert_eq!(bot.message().as_ref(), Some(expected), "{}", talk["name"]),
            }
        }
        bot.end(&talk);
    }
}

fn play_every_game(bot: &str) {
    let games = referee(["games", "--json"]).json();
    assert!(games.len() >= 3, "{games:?}");
    for game in &games {
        let id = game["id"].as_str().expect("an id");
        for seats in game["seats"].as_array().expect("a list") {
            let seats = seats.as_u64().expect("a number");
            let bots = (0..seats).map(|seed| format!("{bot} --seed {seed}"));
            let args = ["play", id, "-n", "2", "--strict"].map(str::to_owned);
            referee(args.into_iter().chain(bots)).with_code(0);
        }
    }
}

fn play_at_once(bot: &str) {
    let bots = [1, 2].map(|seed| format!("{bot} --slots 3 --seed {seed}"));
    let mut child = Command::new("bash");
    child.args(["-c", &format!("exec {}", bots[0])]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().expect("it starts");
    let hello = "{\"type\":\"hello\",\"protocol\":1,\"server\":\"referee/0\",\"auth\":\"none\"}\n";
    child.stdin.take().expect("piped").write_all(hello.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("its hello");
    assert_eq!(answer["slots"], 3, "{answer}");
    referee(["play", "checkers", &bots[0], &bots[1], "-n", "6", "--strict"]).with_code(0);
}

/// The same bot over TCP, twice: each connection has its own name and token.
fn connect(random: &str) {
    let folder = crate::common::Folder::new();
    let tokens = folder.write_secret("tokens", "one=first secret\ntwo=second secret\n");
    let args = ["play", "checkers", "tcp:one", "tcp:two", "-n", "2", "--strict", "--token-file", &tokens];
    let (referee, address) = crate::common::guest::listening(&args);
    let bots = [("one", "first secret"), ("two", "second secret")].map(|(name, token)| {
        let mut shell = Command::new("bash");
        let command = format!("exec {random} --connect {address} --name {name}");
        shell.args(["-c", &command]).current_dir(ROOT).env("REFEREE_TOKEN", token);
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("bash")
    });
    let summary = referee.wait().with_code(0).one("summary");
    assert_eq!([&summary["matches"], &summary["aborted"]], [2, 0]);
    for bot in bots {
        let said = bot.wait_with_output().expect("it ends");
        let log = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success() && log.contains("closes the connection: the run is over\n"), "{log}");
    }
}

/// Plays through a proxy that cuts its connection five times in the first match.
fn reconnect(random: &str) {
    let folder = crate::common::Folder::new();
    let (tokens, records) = (folder.write_secret("tokens", "one=first secret\n"), folder.text("records"));
    let plain = folder.plain_bot("plain");
    let args = ["play", "checkers", "tcp:one", &plain, "-n", "2", "--set", "turn_limit=60"];
    let more = ["--token-file", &tokens, "--record", &records, "--clock", "delay=30s"];
    let (referee, address) = crate::common::guest::listening(&[&args[..], &more].concat());
    // After `start`; in the middle of the events before a turn; after a turn; and so on.
    let proxy = crate::common::proxy::cutting(address, &[2, 6, 9, 15, 12]);
    let mut shell = Command::new("bash");
    let command = format!("exec {random} --connect {proxy} --name one");
    shell.args(["-c", &command]).current_dir(ROOT).env("REFEREE_TOKEN", "first secret");
    let bot = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("bash");
    let ended = referee.wait().with_code(0);
    let bots = &ended.one("summary")["bots"];
    assert_eq!([&bots[0]["faults"], &bots[1]["faults"]], [&serde_json::json!({}); 2], "{ended:#?}");
    let said = bot.wait_with_output().expect("it ends");
    let log = String::from_utf8_lossy(&said.stderr);
    for (text, times) in [("connection to the referee is lost", 5), ("connected again after", 5), ("\n", 11)]
    {
        assert_eq!(log.matches(text).count(), times, "{text}: {log}");
    }
    assert!(said.status.success(), "{log}");
    // Between two matches it is no loss for a match.
    let record = folder.record("records/m1.jsonl");
    let outages = &crate::common::the("bots", &record)["bots"][0]["outages"];
    assert!(outages.as_array().map(Vec::len) >= Some(2), "{outages}");
}

fn beat_random(sdk: &Sdk) {
    let (game, better) = &sdk.better;
    // The alpha-beta bot does not play at random.
    let seed = if better.contains("alpha-beta") { "" } else { " --seed 1" };
    let bots = [format!("{better}{seed}"), format!("{} --seed 2", sample("python/random_bot.py"))];
    let args = ["play", game, &bots[0], &bots[1], "-n", "40", "--strict", "--json", "--seed", SEED];
    let summary = referee(args).with_code(0).one("summary");
    let score = summary["bots"][0]["score"].as_f64().expect("a number");
    assert!(score >= 30.0, "{score} of 40 in {game}");
}

#[test]
fn the_shell_bot_plays_every_game_and_sends_its_token() {
    let bot = format!("'{ROOT}/bots/shell/random_bot.sh'");
    for game in referee(["games", "--json"]).json() {
        // jq starts a process per turn, which is slow: one short match with the fewest seats.
        let [id, seats] = [&game["id"], &game["seats"][0]];
        let bots = vec![bot.clone(); seats.as_u64().expect("a number") as usize];
        let options = game["options"].as_array().expect("a list");
        let is_limited = options.iter().any(|option| option["name"] == "turn_limit");
        let limit: &[&str] = if is_limited { &["--set", "turn_limit=40"] } else { &[] };
        let args = ["play", id.as_str().expect("an id"), "--strict"].into_iter().chain(limit.iter().copied());
        referee(args.map(str::to_owned).chain(bots)).with_code(0);
    }
    let connect = format!(
        r#"run() {{ exec 3<>"/dev/tcp/${{2/://}}"; exec {bot} <&3 >&3; }}; export REFEREE_TOKEN=secret; run"#
    );
    let bot_command = format!("exec {bot}");
    let mut bot = Bot::start(&connect, &Value::Null, true);
    bot.send("{\"type\":\"hello\",\"protocol\":1,\"server\":\"fake\",\"auth\":\"token\"}\n");
    assert_eq!(bot.message().map(|message| message["token"].clone()), Some("secret".into()));
    bot.end(&Value::Null);
    let mut bot = Bot::start(&bot_command, &Value::Null, false);
    bot.send("{\"type\":\"error\",\"code\":\"wrong_token\",\"message\":\"no\"}\n{\"type\":\"bye\",\"reason\":\"no\"}\n");
    bot.end(&serde_json::json!({ "name": "refused", "refused": ["wrong_token"] }));
}

#[test]
fn the_bot_of_one_jq_program_plays_a_match() {
    let readme = std::fs::read_to_string(format!("{ROOT}/bots/shell/README.md")).expect("the README");
    let (_, program) = readme.split_once("```sh\njq ").expect("a program");
    let (program, _) = program.split_once("```").expect("its end");
    let bot = format!("jq {program}");
    referee(["play", "checkers", &bot, &bot, "--strict"]).with_code(0);
}

/// The mean number of turns that self_play.py decides together.
#[track_caller]
fn together(output: &std::process::Output) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let figure = text.trim_end().rsplit_once(", ").and_then(|(_, rest)| rest.strip_suffix(" together"));
    figure.and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

fn self_play(args: &[&str]) -> Child {
    let mut python = Command::new("python3");
    python.arg(format!("{ROOT}/bots/python/self_play.py")).args(args);
    python.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("python3 starts")
}

#[test]
fn python_plays_64_matches_against_itself_in_batches() {
    for game in ["checkers", "saxum"] {
        let referee = env!("CARGO_BIN_EXE_referee");
        let bot = self_play(&["--referee", referee, "--game", game, "--matches", "100", "--seed", "1"]);
        let output = bot.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.starts_with(&format!("100 matches of {game}; score of seat 0: {{")), "{text}");
        assert!(together(&output) > 16.0, "{text}");
    }
}

#[test]
fn python_plays_64_matches_against_itself_over_tcp() {
    let args = ["play", "saxum", "tcp:a", "tcp:b", "-n", "128", "--jobs", "1", "--strict"];
    let (referee, address) = crate::common::guest::listening(&args);
    let bots = ["a", "b"].map(|name| self_play(&["--connect", &address.to_string(), "--name", name]));
    let summary = referee.wait().with_code(0).one("summary");
    assert_eq!([&summary["matches"], &summary["aborted"]], [128, 0]);
    for bot in bots {
        // Of 64 matches, each side has the turn in half.
        let output = bot.wait_with_output().expect("it ends");
        assert!(together(&output) > 8.0, "{output:?}");
    }
}
