//! A bot, as its author writes it.

use referee_protocol::bot::{Hello, Want};
use referee_protocol::{PROTOCOL, referee};
use serde_json::value::RawValue;

use crate::{Answer, End, Event, Turn};

/// A match begins. Its `options` can be read into any type: `Options::deserialize(start.options)`.
pub type Start<'a> = referee::Start<&'a RawValue>;

/// Something that plays. Only [`choose`](Bot::choose) must be written.
///
/// With more than one slot in [`hello`](Bot::hello), matches overlap; every message names its match and seat.
pub trait Bot {
    /// How the bot introduces itself.
    fn hello(&self) -> Hello {
        hello("bot")
    }

    /// Prepares for a match: the place to load a model. The referee waits, but not for ever.
    fn start(&mut self, _start: &Start<'_>) {}

    /// What to mix into the chance of the match, as lower-case hex of at most 64 bytes, so that the referee alone cannot
    /// choose the dice. Asked after [`start`](Bot::start), and only if `start.nonce` says that it counts.
    fn nonce(&mut self, _start: &Start<'_>) -> Option<String> {
        None
    }

    /// Something happened in a match: a move, a throw of dice, a draw offer. A bot's own moves come back too.
    fn event(&mut self, _event: &Event<'_>) {}

    /// Decides on a turn.
    fn choose(&mut self, turn: &Turn<'_>) -> Answer;

    /// A match is over.
    fn end(&mut self, _end: &End) {}
}

/// A `hello` with this name, 1 to 64 of ASCII letters, digits, `. _ -` and space, and nothing else said.
pub fn hello(name: impl Into<String>) -> Hello {
    Hello {
        protocol: PROTOCOL,
        name: name.into(),
        version: None,
        author: None,
        token: None,
        games: None,
        slots: None,
        wants: None,
        push: false,
    }
}

/// A bot that is nothing but its [`choose`](Bot::choose). Unless its `hello` says what it wants, it wants no events, for it
/// would never see them.
pub fn from_fn<F: FnMut(&Turn<'_>) -> Answer>(mut hello: Hello, choose: F) -> FromFn<F> {
    hello.wants.get_or_insert_with(|| vec![Want::View, Want::Legal]);
    FromFn { hello, choose }
}

/// See [`from_fn`].
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
