//! The examples in `messages.jsonl`, read by the types and by the schemas.
//!
//! Each line holds a `message` and who it is `from`. It is valid, and writing what was read gives it again or, where
//! defaults come in or unknown fields go, gives what it `reads_as`; or the schema has it `refused`, for the reason given.

use std::collections::BTreeSet;

use jsonschema::Validator;
use referee_protocol::bot::FromBot;
use referee_protocol::referee::FromReferee;
use referee_protocol::schemas::{FROM_BOT, FROM_REFEREE};
use referee_protocol::{Head, Text};
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Side {
    Referee,
    Bot,
}

impl Side {
    fn schema(self) -> Value {
        let text = match self {
            Side::Referee => FROM_REFEREE,
            Side::Bot => FROM_BOT,
        };
        serde_json::from_str(text).expect("the schema is JSON")
    }

    fn validator(self) -> Validator {
        let schema = self.schema();
        jsonschema::draft202012::meta::validate(&schema).expect("the schema follows the draft that it names");
        jsonschema::draft202012::new(&schema).expect("the schema is complete")
    }

    /// Writes what the types read from `line`.
    fn read_and_write(self, line: &str) -> serde_json::Result<Value> {
        match self {
            Side::Referee => serde_json::to_value(serde_json::from_str::<FromReferee<'_, Value>>(line)?),
            Side::Bot => serde_json::to_value(serde_json::from_str::<FromBot<'_, Value>>(line)?),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    from: Side,
    message: Value,
    reads_as: Option<Value>,
    refused: Option<String>,
}

fn examples() -> impl Iterator<Item = Example> {
    let lines = include_str!("messages.jsonl").lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
}

#[test]
fn the_schemas_accept_the_valid_examples_and_no_others() {
    let (referee, bot) = (Side::Referee.validator(), Side::Bot.validator());
    for Example { from, message, refused, .. } in examples() {
        let validator = if from == Side::Referee { &referee } else { &bot };
        match (validator.validate(&message), refused) {
            (Ok(()), Some(why)) => panic!("accepted, but {why}: {message}"),
            (Err(error), None) => panic!("refused, because {error}: {message}"),
            _ => {}
        }
    }
}

#[test]
fn the_types_write_what_they_read() {
    for Example { from, message, reads_as, .. } in examples().filter(|example| example.refused.is_none()) {
        let written = from.read_and_write(&message.to_string()).unwrap_or_else(|e| panic!("{e}: {message}"));
        assert_eq!(written, reads_as.unwrap_or(message));
    }
}

#[test]
fn the_head_of_every_valid_example_is_its_type() {
    for Example { message, .. } in examples().filter(|example| example.refused.is_none()) {
        let line = message.to_string();
        let head: Head<'_> = serde_json::from_str(&line).expect("a message");
        assert_eq!(head.kind, Text::from(message["type"].as_str().expect("a type")));
    }
}

#[test]
fn there_is_a_valid_example_of_every_message() {
    for side in [Side::Referee, Side::Bot] {
        let schema = side.schema();
        let messages = schema["oneOf"].as_array().expect("messages").iter();
        let known: BTreeSet<_> =
            messages.map(|message| message["properties"]["type"]["const"].to_string()).collect();
        let valid = examples().filter(|example| example.from == side && example.refused.is_none());
        let shown: BTreeSet<_> = valid.map(|example| example.message["type"].to_string()).collect();
        assert_eq!(known, shown);
    }
}
