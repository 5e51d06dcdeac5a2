//! The bot's side of the protocol as a state machine without I/O.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

use referee_protocol::Text;
use referee_protocol::bot::{AcceptDraw, FromBot, Hello, Move, Pong, Ready, Resign};
use referee_protocol::referee::Auth;
use serde_json::Value;

use crate::message::{Message, Refusal};
use crate::{Answer, Bot, Error, Pick, Start, Turn};

/// Characters of an unreadable line that are shown.
const SHOWN: usize = 200;

/// Handles each message from the referee: calls the bot and writes at most one reply.
#[derive(Debug)]
pub(crate) struct Session<B> {
    bot: B,
    name: Option<String>,
    token: Option<String>,
    /// The matches in progress, with the bot's seats in them.
    plays: BTreeMap<String, Vec<u8>>,
    has_started: bool,
    /// The referee's `error`, if it was the last message.
    refusal: Option<Refusal>,
}

impl<B: Bot> Session<B> {
    /// Creates a session. `name` overrides the bot's name; `token` is sent to a referee that requires one.
    pub(crate) fn new(bot: B, name: Option<String>, token: Option<String>) -> Self {
        Session { bot, name, token, plays: BTreeMap::new(), has_started: false, refusal: None }
    }

    /// Handles a line and appends the reply, if any, to `out`. Breaks after `bye`.
    ///
    /// Unreadable lines are reported on stderr and otherwise ignored.
    pub(crate) fn handle(&mut self, line: &str, out: &mut Vec<u8>) -> Result<ControlFlow<()>, Error> {
        let message = Message::read(line);
        if !matches!(message, Ok(Message::Bye)) {
            self.refusal = None;
        }
        match message {
            Ok(Message::Turn(turn)) if self.plays(&turn.r#match, turn.seat) => {
                let answer = self.bot.choose(&turn);
                say(&reply(&turn, &answer)?, out)?;
            }
            Ok(Message::Event(event)) => self.bot.event(&event),
            Ok(Message::Start(start)) => {
                self.has_started = true;
                self.plays.entry(start.r#match.clone()).or_default().push(start.seat);
                say(&self.ready(&start), out)?;
            }
            Ok(Message::End(end)) if self.plays(&end.r#match, end.seat) => {
                let seats = self.plays.remove(&end.r#match).unwrap_or_default();
                let others: Vec<u8> = seats.into_iter().filter(|&seat| seat != end.seat).collect();
                if !others.is_empty() {
                    self.plays.insert(end.r#match.clone(), others);
                }
                self.bot.end(&end);
            }
            Ok(Message::Turn(_) | Message::End(_)) => note("no such match was started", line),
            Ok(Message::Hello(hello)) => say(&FromBot::Hello(self.hello(hello.auth)), out)?,
            Ok(Message::Ping(ping)) => say(&FromBot::Pong(Pong { id: ping.id }), out)?,
            Ok(Message::Error(refusal)) => {
                note("the referee says", line);
                self.refusal = Some(refusal);
            }
            Ok(Message::Bye) => return Ok(ControlFlow::Break(())),
            Ok(Message::Other) => {}
            Err(error) => note(&format!("cannot be read: {error}"), line),
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns an error if the referee rejected the bot: its last message before `bye` was an `error`, and no match
    /// has started.
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self.refusal {
            Some(Refusal { code, message }) if !self.has_started => Err(Error::Refused { code, message }),
            _ => Ok(()),
        }
    }

    fn plays(&self, r#match: &str, seat: u8) -> bool {
        self.plays.get(r#match).is_some_and(|seats| seats.contains(&seat))
    }

    fn hello(&self, auth: Auth) -> Hello {
        let mut hello = self.bot.hello();
        if let Some(name) = &self.name {
            hello.name.clone_from(name);
        }
        // Send the token only to a referee that requires it.
        hello.token = self.token.clone().or(hello.token).filter(|_| auth == Auth::Token);
        hello
    }

    fn ready<'a>(&mut self, start: &'a Start<'_>) -> FromBot<'a, &'a Value> {
        self.bot.start(start);
        let nonce = if start.nonce { self.bot.nonce(start) } else { None };
        FromBot::Ready(Ready {
            r#match: borrow(&start.r#match),
            seat: Some(start.seat),
            nonce: nonce.map(Text::from),
        })
    }
}

/// Reports a problem on stderr.
fn note(what: &str, line: &str) {
    let shown: String = line.trim_end().chars().take(SHOWN).collect();
    eprintln!("referee_bot: {what}: {shown}");
}

fn reply<'a>(turn: &'a Turn<'_>, answer: &'a Answer) -> Result<FromBot<'a, &'a Value>, Error> {
    let (r#match, seat) = (borrow(&turn.r#match), Some(turn.seat));
    Ok(match answer {
        Answer::Move(choice) => FromBot::Move(Move {
            r#match,
            seat,
            turn: turn.turn.into(),
            r#move: match &choice.pick {
                Pick::Text(text) => borrow(text),
                &Pick::Legal(index) => match turn.legal().get(index) {
                    Some(text) => borrow(text),
                    None => return Err(Error::NoSuchMove { index, legal: turn.legal().len() }),
                },
            },
            offer_draw: choice.offer_draw,
            info: choice.info.as_ref(),
        }),
        Answer::AcceptDraw => FromBot::AcceptDraw(AcceptDraw { r#match, seat, turn: turn.turn.into() }),
        Answer::Resign => FromBot::Resign(Resign { r#match, seat }),
    })
}

fn borrow(text: &str) -> Text<'_> {
    Text(Cow::Borrowed(text))
}

fn say(message: &FromBot<'_, &Value>, out: &mut Vec<u8>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, message)?;
    out.push(b'\n');
    Ok(())
}
