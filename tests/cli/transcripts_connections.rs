//! Replays the golden transcripts in protocol/transcripts/connections: bots that connect, lose their connections and
//! connect again.
//!
//! `UPDATE=1 cargo test --test cli transcripts_connections` updates the messages of the referee.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::common::guest::listening;
use crate::common::{ROOT, TIMEOUT, files};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    about: String,
    args: Vec<String>,
}

/// An event on a connection, which opens when it is first named.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    on: String,
    from: Option<Speaker>,
    line: Option<Box<RawValue>>,
    /// The bot closes the connection.
    #[serde(default)]
    cut: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Speaker {
    Referee,
    Bot,
}

/// The open connections of a dialogue, and their messages.
struct Dialogue {
    address: SocketAddr,
    connections: BTreeMap<String, BufReader<TcpStream>>,
    text: String,
}

impl Dialogue {
    fn connection(&mut self, name: &str) -> &mut BufReader<TcpStream> {
        let address = self.address;
        self.connections.entry(name.to_owned()).or_insert_with(|| {
            let stream = TcpStream::connect(address).expect("the referee listens");
            stream.set_nodelay(true).expect("a socket");
            BufReader::new(stream)
        })
    }

    /// Notes the next line on a connection. Returns whether there was one in this time.
    fn receive(&mut self, name: &str, within: Duration) -> bool {
        let connection = self.connection(name);
        connection.get_ref().set_read_timeout(Some(within)).expect("a socket");
        let mut line = String::new();
        let has_come = connection.read_line(&mut line).is_ok_and(|length| length > 0);
        if has_come {
            writeln!(self.text, r#"{{"on":"{name}","from":"referee","line":{}}}"#, line.trim_end())
                .expect("a string takes all");
        }
        has_come
    }

    /// Notes all lines until there are no more.
    fn receive_all(&mut self) {
        for name in self.connections.keys().cloned().collect::<Vec<_>>() {
            while self.receive(&name, Duration::from_millis(300)) {}
        }
    }

    fn send(&mut self, name: &str, line: &str) {
        self.connection(name).get_mut().write_all(format!("{line}\n").as_bytes()).expect("the referee reads");
    }
}

/// The dialogue with the current referee.
fn replayed(text: &str, is_new: bool) -> String {
    let (first, steps) = text.split_once('\n').expect("a first line");
    let Head { about, args } = serde_json::from_str(first).expect("a first line");
    assert!(about.ends_with('.'));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (referee, address) = listening(&args);
    let mut dialogue = Dialogue { address, connections: BTreeMap::new(), text: format!("{first}\n") };
    for line in steps.lines() {
        let step: Step = serde_json::from_str(line).expect("a step");
        if is_new && step.from == Some(Speaker::Referee) {
            continue;
        }
        let is_open = dialogue.connections.contains_key(&step.on);
        if is_new && !is_open {
            assert!(dialogue.receive(&step.on, TIMEOUT), "its hello");
        }
        match step.from {
            // A difference is reported by the caller.
            Some(Speaker::Referee) if !dialogue.receive(&step.on, TIMEOUT) => break,
            Some(Speaker::Referee) => continue,
            Some(Speaker::Bot) => dialogue.send(&step.on, step.line.expect("a line").get()),
            None => {
                assert!(step.cut);
                dialogue.connections.remove(&step.on).expect("it is open");
            }
        }
        writeln!(dialogue.text, "{line}").expect("a string takes all");
        if is_new {
            dialogue.receive_all();
        }
    }
    referee.wait().with_code(0);
    dialogue.receive_all();
    dialogue.text
}

#[test]
fn the_referee_reproduces_the_transcripts_of_connections_exactly() {
    let is_new = std::env::var_os("UPDATE").is_some();
    let folder = format!("{ROOT}/protocol/transcripts/connections");
    let page = std::fs::read_to_string(format!("{ROOT}/protocol/transcripts/README.md")).expect("the page");
    let names = files(folder.as_ref());
    assert!(!names.is_empty());
    for name in names {
        let path = format!("{folder}/{name}");
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let now = replayed(&text, is_new);
        if is_new {
            std::fs::write(&path, now).expect("it can be written");
        } else {
            assert_eq!(now.lines().collect::<Vec<_>>(), text.lines().collect::<Vec<_>>(), "{name}");
        }
        assert!(page.contains(&format!("(connections/{name})")), "{name} is not on the page");
    }
}
