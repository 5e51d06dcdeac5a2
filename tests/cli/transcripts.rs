//! Replays the golden transcripts in protocol/transcripts, and the dialogue in the specification, against the real
//! referee.
//!
//! `UPDATE=1 cargo test --test transcripts` updates the messages of the referee.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crate::common::{Folder, ROOT, Referee, SEED, files, referee, the};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The first line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    about: String,
    args: Vec<String>,
}

/// A line from one of the two.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    from: Speaker,
    line: Option<Box<RawValue>>,
    text: Option<String>,
}

#[derive(PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Speaker {
    Referee,
    Bot,
}

struct Transcript {
    name: String,
    text: String,
}

fn transcripts() -> Vec<Transcript> {
    let folder = format!("{ROOT}/protocol/transcripts");
    let mut names = files(folder.as_ref());
    names.retain(|name| name.ends_with(".jsonl"));
    let read = |name| {
        let text = std::fs::read_to_string(format!("{folder}/{name}")).expect("it can be read");
        Transcript { name, text }
    };
    names.into_iter().map(read).collect()
}

impl Transcript {
    fn head(&self) -> Head {
        let line = self.text.lines().next().expect("a first line");
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{}, line 1: {error}", self.name))
    }

    fn said(&self) -> impl Iterator<Item = (&str, Said)> {
        self.text.lines().enumerate().skip(1).map(|(at, line)| {
            let said = serde_json::from_str(line);
            (line, said.unwrap_or_else(|error| panic!("{}, line {}: {error}", self.name, at + 1)))
        })
    }

    /// The dialogue with the current referee. At the end, its messages are read until it is silent.
    fn replayed(&self, is_new: bool) -> String {
        let Head { about, args } = self.head();
        assert!(about.ends_with('.') && args[0] == "stdio", "{}", self.name);
        let mut referee = Referee::start(&args);
        let mut now = self.text.lines().next().expect("a first line").to_owned() + "\n";
        let note = |now: &mut String, line: &str| {
            writeln!(now, r#"{{"from":"referee","line":{line}}}"#).expect("a string takes all");
        };
        if is_new {
            note(&mut now, &referee.line().expect("its hello"));
        }
        for (line, said) in self.said() {
            match said.from {
                Speaker::Referee if is_new => {}
                Speaker::Referee => match referee.line() {
                    Some(line) => note(&mut now, &line),
                    // The difference is reported below.
                    None => break,
                },
                Speaker::Bot => {
                    now.push_str(line);
                    now.push('\n');
                    referee
                        .send(said.line.map(|raw| raw.get().to_owned()).or(said.text).expect("line or text"));
                    if is_new {
                        while let Some(line) = referee.line_within(Duration::from_millis(300)) {
                            note(&mut now, &line);
                        }
                    }
                }
            }
        }
        let ended = referee.end();
        // For a host, another protocol version is an error of the whole run.
        let is_refused = self.name == "another_protocol.jsonl";
        assert_eq!(ended.stderr.is_empty(), !is_refused, "{}: {}", self.name, ended.stderr);
        ended.stdout.lines().for_each(|line| note(&mut now, line));
        now
    }
}

#[test]
fn the_referee_reproduces_the_transcripts_exactly() {
    let is_new = std::env::var_os("UPDATE").is_some();
    let mut differing = String::new();
    let transcripts = transcripts();
    assert!(transcripts.len() >= 20, "only {} transcripts", transcripts.len());
    let replayed: Vec<String> = std::thread::scope(|scope| {
        let replay = |transcript| scope.spawn(move || Transcript::replayed(transcript, is_new));
        let replays: Vec<_> = transcripts.iter().map(replay).collect();
        replays.into_iter().map(|replay| replay.join().expect("it is a dialogue")).collect()
    });
    for (transcript, now) in transcripts.iter().zip(replayed) {
        if is_new {
            std::fs::write(format!("{ROOT}/protocol/transcripts/{}", transcript.name), now)
                .expect("it can be written");
            continue;
        }
        let (mut was, mut is) = (transcript.text.lines(), now.lines());
        for at in 1.. {
            match (was.next(), is.next()) {
                (None, None) => break,
                (was, is) if was == is => {}
                (was, is) => {
                    let [was, is] = [was, is].map(|line| line.unwrap_or("nothing"));
                    writeln!(differing, "{}, line {at}\n    was {was}\n    is  {is}", transcript.name)
                        .expect("a string takes all");
                    break;
                }
            }
        }
    }
    assert!(differing.is_empty(), "{differing}\nUPDATE=1 writes the transcripts anew");
}

#[test]
fn the_page_on_transcripts_lists_all_of_them() {
    let page = std::fs::read_to_string(format!("{ROOT}/protocol/transcripts/README.md")).expect("the page");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| [")).collect();
    let name = |transcript: &Transcript| transcript.name.replace(".jsonl", "");
    let row = |t: &Transcript| format!("| [{}]({}) | {} |", name(t), t.name, t.head().about);
    assert_eq!(rows, transcripts().iter().map(row).collect::<Vec<_>>());
}

#[test]
fn the_transcripts_cover_messages_endings_and_errors() {
    let mut shown: [BTreeSet<String>; 3] = Default::default();
    for transcript in transcripts() {
        for said in transcript.said().map(|(_, said)| said).filter(|said| said.from == Speaker::Referee) {
            let line: Value = serde_json::from_str(said.line.expect("a line").get()).expect("JSON");
            let word = |field: &str| line[field].as_str().map(str::to_owned);
            shown[0].extend(word("type"));
            shown[1].extend(word("ended_by"));
            shown[2].extend(word("code"));
        }
    }
    let [types, endings, codes] = shown;
    assert_eq!(Vec::from_iter(&types), ["bye", "end", "error", "event", "hello", "start", "turn"]);
    let all = ["aborted", "agreement", "fault", "resignation", "rules", "turn_limit"];
    assert_eq!(Vec::from_iter(&endings), all);
    // Except `line_too_long` and `protocol`, which need long lines or many.
    let all = "bad_setup illegal_move info_dropped malformed no_offer no_slot no_start not_allowed out_of_state stale \
               timeout unknown_match unknown_seat unknown_type unsupported_protocol";
    assert_eq!(Vec::from_iter(&codes), Vec::from_iter(all.split(' ')));
}

#[test]
fn in_keezen_each_seat_sees_only_its_own_cards() {
    let mut matches = 0;
    for transcript in transcripts().iter().filter(|transcript| transcript.name.starts_with("keezen")) {
        let said = transcript.said().map(|(_, said)| said).filter(|said| said.from == Speaker::Referee);
        let lines: Vec<Value> = said
            .map(|said| serde_json::from_str(said.line.expect("a line").get()).expect("JSON"))
            .filter(|line: &Value| line["match"] == "m1")
            .collect();
        let seats = lines.iter().filter(|line| line["type"] == "start").count();
        for seat in 0..seats {
            let own: Vec<&Value> = lines.iter().filter(|line| line["seat"] == seat).collect();
            let of_type = |kind: &'static str| own.iter().filter(move |line| line["type"] == kind);
            assert_eq!(own[0]["type"], "start", "{}, seat {seat}", transcript.name);
            assert_eq!(own[own.len() - 1]["reason"], "home");
            for (n, event) in of_type("event").enumerate() {
                assert_eq!(event["n"], n);
                assert!(event["event"]["kind"] != "deal" || event["event"]["hands"].is_null());
            }
            for (n, turn) in of_type("turn").enumerate() {
                assert_eq!((&turn["turn"], &turn["view"]["to_move"][0]), (&n.into(), &seat.into()));
                // A seat that sees another hand sees its partner's, and one of them has finished (K8).
                let is_home = |seat: usize| {
                    let pawns = turn["view"]["pawns"][seat].as_array().expect("pawns");
                    pawns.iter().all(|pawn| pawn.as_str().is_some_and(|pawn| pawn.starts_with('h')))
                };
                let partner = Some((seat + seats / 2) % seats).filter(|_| seats > 2);
                let shown = partner.filter(|&partner| is_home(partner) || is_home(seat));
                let hands = turn["view"]["hands"].as_object().expect("hands");
                let shown: Vec<String> = shown.iter().map(usize::to_string).collect();
                assert_eq!(hands.keys().collect::<Vec<_>>(), shown.iter().collect::<Vec<_>>());
            }
        }
        matches += 1;
    }
    assert_eq!(matches, 3);
}

/// The lines in the blocks of this kind in a page, up to the heading `until`.
fn fences(page: &str, kind: &str, until: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("{ROOT}/{page}")).expect("the page can be read");
    let text = text.split(until).next().expect("a part");
    let fence = format!("```{kind}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.flat_map(|block| block.split("```").next().expect("a part").lines().map(str::to_owned)).collect()
}

#[test]
fn the_dialogue_in_the_specification_is_accurate() {
    let lines = fences("protocol/spec/README.md", "json", "### What goes wrong first");
    let (from_bot, from_referee): (Vec<String>, Vec<String>) = lines.into_iter().partition(|line| {
        line.starts_with(r#"{"type":"ready"#)
            || line.starts_with(r#"{"type":"move"#)
            || line.contains("my bot")
    });
    assert_eq!([from_bot.len(), from_referee.len()], [4, 9]);
    let folder = Folder::new();
    let received = folder.text("received");
    let my_bot = format!(
        "#!/usr/bin/env python3
import sys
answers = iter({from_bot:?})
with open({received:?}, 'w') as received:
    for line in sys.stdin:
        received.write(line)
        if any(line.startswith('{{\"type\":\"' + kind) for kind in ('hello', 'start', 'turn')):
            print(next(answers), flush=True)
"
    );
    let other_bot = "#!/usr/bin/env python3
from testbot import *
play(turn=lambda t: move(t, '23-18'))
";
    let bots = [("my_bot", my_bot.as_str()), ("other_bot", other_bot)].map(|(name, script)| {
        let path = folder.write(name, script);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
        path
    });
    let records = folder.text("records");
    let args = ["play", "checkers", &bots[0], &bots[1], "--set", "fen=B:W23:B10", "--seed", SEED];
    let more = ["--name", "my_bot", "--name", "other_bot", "--record", &records];
    referee(args.into_iter().chain(more)).done();
    assert_eq!(folder.read("received").lines().collect::<Vec<_>>(), from_referee);
    // The page on records continues with this match.
    let record = folder.record("records/m1.jsonl");
    let page = fences("protocol/spec/records.md", "record", "## The lines");
    let page: Vec<Value> = page.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(the("seal", &record)["reveal"], the("seal", &page)["reveal"]);
    assert_eq!(the("result", &record)["ranks"], the("result", &page)["ranks"]);
    assert_eq!(record.len(), page.len());
}

#[test]
fn an_independent_reader_in_python_agrees() {
    let output = std::process::Command::new("python3")
        .arg(format!("{ROOT}/protocol/transcripts/replay.py"))
        .arg(env!("CARGO_BIN_EXE_referee"))
        .output()
        .expect("python3 starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(&format!("{} transcripts, 0 differ", transcripts().len())), "{text}");
}
