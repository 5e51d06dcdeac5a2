//! The Python program in the specification reproduces the dice of a recorded match from its revealed seed.
#![cfg(feature = "shell")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/protocol/spec/chance.md");
const RANDOM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/bots/python/random_bot.py");

/// A random bot that adds a nonce.
const WITH_NONCE: &str = "
import random
from referee_bot import Bot, run

class Nonce(Bot):
    def start(self, start):
        return '00ff'

    def choose(self, turn):
        return random.choice(turn.legal)

run(Nonce(), name='nonce')
";

/// The block of this language on the page about chance.
fn block(kind: &str) -> String {
    let page = fs::read_to_string(PAGE).unwrap();
    let start = format!("```{kind}\n");
    let mut blocks = page.split(&start).skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.next().unwrap_or_else(|| panic!("the page has no block of {kind}"));
    assert_eq!(blocks.next(), None, "the page has a second block of {kind}");
    block.to_owned()
}

fn python(program: &str) -> String {
    let output = Command::new("python3").args(["-c", program]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}\n{program}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The record of a match of Saxum between a bot, a Python script, and a random one.
fn record(bot: &Path) -> Vec<Value> {
    let records = tempfile::tempdir().unwrap();
    let bots = [bot, Path::new(RANDOM)].map(|script| format!("python3 '{}'", script.display()));
    let status = Command::new(env!("CARGO_BIN_EXE_referee"))
        .args(["play", "saxum", &bots[0], &bots[1], "--strict", "--json", "--record"])
        .arg(records.path())
        .env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/bots/python"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    let record = fs::read_to_string(records.path().join("m1.jsonl")).unwrap();
    record.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Asserts that the program, applied to this match, prints the dice of the record.
fn assert_gives_the_dice(record: &[Value], nonces: &str) {
    let drawn = record.iter().filter(|line| line["type"] == "draw");
    let drawn: Vec<String> =
        drawn.flat_map(|line| line["drawn"].as_array().unwrap()).map(ToString::to_string).collect();
    assert!(drawn.len() > 20, "only {} dice were rolled", drawn.len());

    let reveal = &record.last().unwrap()["reveal"];
    let of_match = |key: &str| reveal[key].as_str().unwrap();
    let revealed: Vec<&str> = reveal["nonces"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(revealed.join(","), nonces);
    let mut program = block("python");
    for (example, own) in [
        ("bytes(range(32))", format!("bytes.fromhex(\"{}\")", of_match("seed"))),
        (
            r#"b"referee/1\nsaxum\nm1\n,""#,
            format!(r#"b"referee/1\nsaxum\n{}\n{}""#, of_match("deal"), revealed.join(",")),
        ),
    ] {
        assert_eq!(program.matches(example).count(), 1, "`{example}` is not once in\n{program}");
        program = program.replace(example, &own);
    }
    program.push_str("\ndice = words()\n");
    program.push_str(&format!("print(*[1 + uniform(6, dice) for _ in range({})])\n", drawn.len()));

    let printed = python(&program);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.first(), Some(&drawn[..6].join(" ").as_str()), "the first six, by the program itself");
    assert_eq!(lines.last(), Some(&drawn.join(" ").as_str()), "all");
}

#[test]
fn the_published_program_prints_the_published_output() {
    assert_eq!(python(&block("python")), block("text"));
}

#[test]
fn the_published_program_reproduces_the_dice_of_a_record() {
    assert_gives_the_dice(&record(Path::new(RANDOM)), ",");
}

#[test]
fn the_published_program_handles_nonces() {
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("bot.py");
    fs::write(&bot, WITH_NONCE).unwrap();
    assert_gives_the_dice(&record(&bot), "00ff,");
}
