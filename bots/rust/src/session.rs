//! A bot's side of the protocol, without any input or output.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

use referee_protocol::Text;
use referee_protocol::bot::{AcceptDraw, FromBot, Hello, Move, Pong, Ready, Resign};
use referee_protocol::referee::Auth;
use serde_json::Value;

use crate::message::Message;
use crate::{Answer, Bot, Error, Pick, Start, Turn};

/// How much of a line that cannot be read is shown, in characters.
const SHOWN: usize = 200;

/// Turns each message of the referee into calls of the bot and at most one message back.
pub(crate) struct Session<B> {
    bot: B,
    name: Option<String>,
    token: Option<String>,
    /// The matches that run, with the bot's seats in them.
    plays: BTreeMap<String, Vec<u8>>,
}

impl<B: Bot> Session<B> {
    /// A bot that introduces itself under another `name`, if there is one, and tells a referee that asks for it the `token`.
    pub(crate) fn new(bot: B, name: Option<String>, token: Option<String>) -> Self {
        Session { bot, name, token, plays: BTreeMap::new() }
    }

    /// Handles a line and appends the answer to `out`, if it asks for one. Breaks after `bye`.
    ///
    /// What cannot be read is passed over: nothing that a bot could mend while it plays, but its author wants to know.
    pub(crate) fn handle(&mut self, line: &str, out: &mut Vec<u8>) -> Result<ControlFlow<()>, Error> {
        match Message::read(line) {
            Ok(Message::Turn(turn)) if self.plays(&turn.r#match, turn.seat) => {
                let answer = self.bot.choose(&turn);
                say(&reply(&turn, &answer)?, out)?;
            }
            Ok(Message::Event(event)) => self.bot.event(&event),
            Ok(Message::Start(start)) => {
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
            Ok(Message::Error) => note("the referee says", line),
            Ok(Message::Bye) => return Ok(ControlFlow::Break(())),
            Ok(Message::Other) => {}
            Err(error) => note(&format!("cannot be read: {error}"), line),
        }
        Ok(ControlFlow::Continue(()))
    }

    fn plays(&self, r#match: &str, seat: u8) -> bool {
        self.plays.get(r#match).is_some_and(|seats| seats.contains(&seat))
    }

    fn hello(&self, auth: Auth) -> Hello {
        let mut hello = self.bot.hello();
        if let Some(name) = &self.name {
            hello.name.clone_from(name);
        }
        // Nobody else gets to know it.
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

/// Tells the bot's author.
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
