//! What the referee says.

use referee_protocol::referee::{Hello, Ping};
use referee_protocol::{Head, Text};
use serde::Deserialize;
use serde::de::Error as _;

use crate::{End, Event, Start, Turn};

/// A message of the referee.
pub(crate) enum Message<'a> {
    Hello(Hello),
    Start(Start<'a>),
    Event(Event<'a>),
    Turn(Turn<'a>),
    End(End),
    Ping(Ping),
    Error,
    Bye,
    /// A newer referee may say more.
    Other,
}

impl<'a> Message<'a> {
    pub(crate) fn read(line: &'a str) -> serde_json::Result<Message<'a>> {
        Ok(match &*kind(line)? {
            "turn" => Message::Turn(read(line)?),
            "event" => Message::Event(Event(line)),
            "start" => Message::Start(read(line)?),
            "end" => Message::End(read(line)?),
            "hello" => Message::Hello(read(line)?),
            "ping" => Message::Ping(read(line)?),
            "error" => Message::Error,
            "bye" => Message::Bye,
            _ => Message::Other,
        })
    }
}

/// The type of a message. The referee writes it first, so that a long line need not be read twice.
fn kind(line: &str) -> serde_json::Result<Text<'_>> {
    match line.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"')) {
        Some((kind, _)) if !kind.contains('\\') => Ok(kind.into()),
        // The derived readers take an array of the fields' values as well.
        _ if line.trim_start().starts_with('{') => Ok(read::<Head<'_>>(line)?.kind),
        _ => Err(serde_json::Error::custom("not a JSON object")),
    }
}

fn read<'a, T: Deserialize<'a>>(line: &'a str) -> serde_json::Result<T> {
    serde_json::from_str(line)
}
