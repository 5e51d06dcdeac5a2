//! A bot's side of the protocol, without any input or output.

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;

use referee_protocol::bot::{AcceptDraw, FromBot, Move, Pong, Ready, Resign};
use referee_protocol::referee::Ping;
use referee_protocol::{Head, Text};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::Value;

use crate::{Answer, Bot, End, Error, Event, Pick, Start, Turn};

/// How much of a line that cannot be read is shown, in characters.
const SHOWN: usize = 200;

/// Turns each message of the referee into calls of the bot and at most one message back.
pub(crate) struct Session<B> {
    bot: B,
}

impl<B: Bot> Session<B> {
    pub(crate) fn new(bot: B) -> Self {
        Session { bot }
    }

    /// Handles a line and appends the answer to `out`, if it asks for one. Breaks after `bye`.
    pub(crate) fn handle(&mut self, line: &str, out: &mut Vec<u8>) -> Result<ControlFlow<()>, Error> {
        match &*kind(line)? {
            "turn" => {
                let turn = read(line)?;
                let answer = self.bot.choose(&turn);
                say(&reply(&turn, &answer)?, out)?;
            }
            "event" => self.bot.event(&read::<Event<'_>>(line)?),
            "start" => {
                let start: Start<'_> = read(line)?;
                self.bot.start(&start);
                let nonce = if start.nonce { self.bot.nonce(&start) } else { None };
                let ready = Ready {
                    r#match: borrow(&start.r#match),
                    seat: Some(start.seat),
                    nonce: nonce.map(Text::from),
                };
                say(&FromBot::Ready(ready), out)?;
            }
            "end" => self.bot.end(&read::<End>(line)?),
            "hello" => say(&FromBot::Hello(self.bot.hello()), out)?,
            "ping" => say(&FromBot::Pong(Pong { id: read::<Ping>(line)?.id }), out)?,
            // Nothing that a bot could mend while it plays, but its author wants to know.
            "error" => eprintln!("referee_bot: the referee says: {}", line.trim_end()),
            "bye" => return Ok(ControlFlow::Break(())),
            // A newer referee may say more.
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The type of a message. The referee writes it first, so that a long line need not be read twice.
fn kind(line: &str) -> Result<Text<'_>, Error> {
    match line.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"')) {
        Some((kind, _)) if !kind.contains('\\') => Ok(kind.into()),
        _ => Ok(read::<Head<'_>>(line)?.kind),
    }
}

fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, Error> {
    // The derived readers take an array of the fields' values as well.
    let message = if line.trim_start().starts_with('{') {
        serde_json::from_str(line)
    } else {
        Err(serde_json::Error::custom("not a JSON object"))
    };
    message.map_err(|source| Error::Malformed { line: line.chars().take(SHOWN).collect(), source })
}

fn reply<'a>(turn: &'a Turn<'_>, answer: &'a Answer) -> Result<FromBot<'a, &'a Value>, Error> {
    let (r#match, seat) = (borrow(&turn.r#match), Some(turn.seat));
    Ok(match answer {
        Answer::Move(choice) => FromBot::Move(Move {
            r#match,
            seat,
            turn: turn.turn,
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
        Answer::AcceptDraw => FromBot::AcceptDraw(AcceptDraw { r#match, seat, turn: turn.turn }),
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
