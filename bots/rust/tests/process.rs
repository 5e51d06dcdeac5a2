//! The random bot as a process, over pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use referee_bot::serde_json::{Value, json};

/// A running bot; it is waited for, or killed if the test fails first.
struct Bot {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Bot {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_referee-random"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the bot starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Bot { child, input, output }
    }

    fn send(&mut self, message: Value) {
        // One write, as the referee does it.
        self.input.as_mut().expect("open").write_all(format!("{message}\n").as_bytes()).expect("it reads");
    }

    fn ask(&mut self, message: Value) -> Value {
        self.send(message);
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        line.parse().expect("JSON")
    }

    /// Closes its input and returns its status, its output after the last answer, and its stderr.
    fn finish(mut self) -> (Option<i32>, String, String) {
        drop(self.input.take());
        let (mut rest, mut stderr) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).expect("text");
        self.child.stderr.take().expect("piped").read_to_string(&mut stderr).expect("text");
        (self.child.wait().expect("it ends").code(), rest, stderr)
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn turn(turn: u32) -> Value {
    let legal: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    json!({ "type": "turn", "match": "m1", "seat": 0, "turn": turn, "legal": legal, "clock": null })
}

/// The moves of a match of `turns` turns.
fn play(bot: &mut Bot, turns: u32) -> Vec<String> {
    let hello = bot.ask(json!({ "type": "hello", "protocol": 1, "server": "referee/0.1.0", "auth": "none" }));
    assert_eq!(
        (&hello["type"], &hello["name"], &hello["wants"]),
        (&json!("hello"), &json!("random"), &json!(["legal"]))
    );
    let ready = bot.ask(json!({
        "type": "start", "match": "m1", "game": "any", "rules": 1, "options": {}, "seat": 0, "seats": [],
        "clock": null, "deal": null, "commitment": "", "nonce": false,
    }));
    assert_eq!(ready, json!({ "type": "ready", "match": "m1", "seat": 0 }));
    let moves = (0..turns).map(|n| {
        let answer = bot.ask(turn(n));
        let r#move = answer["move"].as_str().expect("a move").to_owned();
        assert_eq!(answer, json!({ "type": "move", "match": "m1", "seat": 0, "turn": n, "move": r#move }));
        r#move
    });
    moves.collect()
}

#[test]
fn the_random_bot_plays_all_legal_moves_and_exits_silently() {
    let mut bot = Bot::start(&[]);
    let mut moves = play(&mut bot, 200);
    moves.sort();
    moves.dedup();
    assert_eq!(moves.len(), 10, "{moves:?}");
    bot.send(json!({ "type": "bye", "reason": "done" }));
    assert_eq!(bot.finish(), (Some(0), String::new(), String::new()));
}

#[test]
fn a_seed_makes_choices_reproducible() {
    let choices = |seed| {
        let mut bot = Bot::start(&["--seed", seed]);
        let moves = play(&mut bot, 20);
        assert_eq!(bot.finish().0, Some(0), "the end of the input is a good end");
        moves
    };
    assert_eq!(choices("7"), choices("7"));
    assert_ne!(choices("7"), choices("8"));
}

#[test]
fn errors_from_the_referee_are_written_to_stderr() {
    let mut bot = Bot::start(&[]);
    bot.send(json!({ "type": "error", "code": "stale", "message": "too late" }));
    bot.ask(json!({ "type": "ping", "id": 1 }));
    let (status, _, stderr) = bot.finish();
    assert_eq!(status, Some(0));
    assert!(stderr.contains("too late"), "{stderr}");
}

#[test]
fn invalid_arguments_print_the_usage() {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_referee-random")).arg("--sed").output().expect("the bot starts");
    assert_eq!((status.code(), stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&stderr).contains("usage:"));
}
