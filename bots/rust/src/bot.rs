//! The [`Bot`] trait.

use referee_protocol::bot::{Hello, Want};
use referee_protocol::{PROTOCOL, referee};
use serde_json::value::RawValue;

use crate::{Answer, End, Event, Turn};

/// The start of a match. Its `options` can be deserialized into any type: `Options::deserialize(start.options)`.
pub type Start<'a> = referee::Start<&'a RawValue>;

/// A bot. Only [`choose`](Bot::choose) is required.
///
/// With more than one slot in [`hello`](Bot::hello), matches run concurrently; every message names its match and
/// seat.
pub trait Bot {
    fn hello(&self) -> Hello {
        hello("bot")
    }

    /// Called at the start of a match, for example to load a model. The referee waits until the ready timeout.
    fn start(&mut self, _start: &Start<'_>) {}

    /// Returns a nonce that is mixed into the random numbers of the match, so that the referee alone cannot choose
    /// them: lower-case hex of at most 64 bytes. Called after [`start`](Bot::start), only if `start.nonce` is true.
    fn nonce(&mut self, _start: &Start<'_>) -> Option<String> {
        None
    }

    /// Called for each event of a match: a move, a roll of dice, a draw offer. Includes the bot's own moves.
    fn event(&mut self, _event: &Event<'_>) {}

    fn choose(&mut self, turn: &Turn<'_>) -> Answer;

    /// Called at the end of a match.
    fn end(&mut self, _end: &End) {}
}

/// Creates a `hello` with this name (1 to 64 of ASCII letters, digits, `. _ -` and space) and default values
/// otherwise.
pub fn hello(name: impl Into<String>) -> Hello {
    Hello {
        protocol: PROTOCOL,
        name: name.into(),
        version: None,
        author: None,
        details: Default::default(),
        token: None,
        games: None,
        slots: None,
        wants: None,
        push: false,
        reconnect: None,
    }
}

/// Creates a bot from its [`choose`](Bot::choose) function. Unless `hello` sets `wants`, the bot asks for no events.
pub fn from_fn<F: FnMut(&Turn<'_>) -> Answer>(mut hello: Hello, choose: F) -> FromFn<F> {
    hello.wants.get_or_insert_with(|| vec![Want::View, Want::Legal]);
    FromFn { hello, choose }
}

#[derive(Clone, Debug)]
pub struct FromFn<F> {
    hello: Hello,
    choose: F,
}

impl<F: FnMut(&Turn<'_>) -> Answer> Bot for FromFn<F> {
    fn hello(&self) -> Hello {
        self.hello.clone()
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Answer {
        (self.choose)(turn)
    }
}
