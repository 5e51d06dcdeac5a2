//! Messages from the referee.

use referee_protocol::referee::{Hello, Ping};
use referee_protocol::{Head, Text};
use serde::Deserialize;
use serde::de::Error as _;

use crate::{End, Event, Start, Turn};

/// A message from the referee.
pub(crate) enum Message<'a> {
    Hello(Hello),
    Start(Start<'a>),
    Event(Event<'a>),
    Turn(Turn<'a>),
    End(End),
    Ping(Ping),
    Error(Refusal),
    Bye(Bye),
    /// An unknown message, from a newer referee.
    Other,
}

/// Code and text of an `error`. The code is a string: a newer referee may have more codes.
#[derive(Debug, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) message: String,
}

/// The last message of a connection.
#[derive(Debug, Deserialize)]
pub(crate) struct Bye {
    #[serde(default)]
    pub(crate) reason: String,
    /// Whether the bot connects again.
    #[serde(default)]
    pub(crate) reconnect: bool,
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
            "error" => Message::Error(read(line)?),
            "bye" => Message::Bye(read(line)?),
            _ => Message::Other,
        })
    }
}

/// Returns the type of a message. The referee writes it first, so that a long line is not parsed twice.
fn kind(line: &str) -> serde_json::Result<Text<'_>> {
    match line.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"')) {
        Some((kind, _)) if !kind.contains('\\') => Ok(kind.into()),
        // Derived deserializers would also accept an array of the field values.
        _ if line.trim_start().starts_with('{') => Ok(read::<Head<'_>>(line)?.kind),
        _ => Err(serde_json::Error::custom("not a JSON object")),
    }
}

fn read<'a, T: Deserialize<'a>>(line: &'a str) -> serde_json::Result<T> {
    serde_json::from_str(line)
}
