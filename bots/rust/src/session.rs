//! The bot's side of the protocol as a state machine without I/O.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

use referee_protocol::Text;
use referee_protocol::bot::{AcceptDraw, FromBot, Hello, Move, Pong, Ready, Resign, Unable};
use referee_protocol::referee::{self, Auth};
use serde::Deserialize;
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
    /// Identifies the process; `None` if its matches end with its connection.
    instance: Option<String>,
    /// Whether the matches go on when the connection is lost and the bot connects again.
    pub(crate) reconnects: bool,
    /// Whether there was a message on this connection.
    pub(crate) has_heard: bool,
    /// Whether the referee has sent its last `bye`.
    pub(crate) is_over: bool,
    /// The matches in progress, with the bot's seats in them.
    plays: BTreeMap<String, Vec<Play>>,
    has_started: bool,
    /// The referee's `error`, if it was the last message.
    refusal: Option<Refusal>,
}

/// A seat of the bot in a match.
#[derive(Debug, Default)]
struct Play {
    seat: u8,
    /// The answer to `start`.
    ready: Vec<u8>,
    /// The number of the next event.
    next_event: u32,
    /// The last request with its answer, which the referee may not have received.
    answered: Option<u32>,
    answer: Vec<u8>,
}

#[derive(Deserialize)]
struct Numbered<'a> {
    #[serde(borrow)]
    r#match: Text<'a>,
    seat: u8,
    n: u32,
}

impl<B: Bot> Session<B> {
    /// Creates a session. `name` overrides the bot's name; `token` is sent to a referee that requires one;
    /// `instance` identifies the process across its connections, if it can connect again.
    pub(crate) fn new(bot: B, name: Option<String>, token: Option<String>, instance: Option<String>) -> Self {
        Session {
            bot,
            name,
            token,
            instance,
            reconnects: false,
            has_heard: false,
            is_over: false,
            plays: BTreeMap::new(),
            has_started: false,
            refusal: None,
        }
    }

    /// Handles a line and appends the reply, if any, to `out`. Breaks after `bye`.
    ///
    /// Unreadable lines are reported on stderr and otherwise ignored.
    pub(crate) fn handle(&mut self, line: &str, out: &mut Vec<u8>) -> Result<ControlFlow<()>, Error> {
        let message = Message::read(line);
        self.has_heard = true;
        if !matches!(message, Ok(Message::Bye(_))) {
            self.refusal = None;
        }
        match message {
            Ok(Message::Turn(turn)) if self.play(&turn.r#match, turn.seat).is_some() => {
                self.answer(&turn, out)?;
            }
            Ok(Message::Event(event)) => {
                if !self.is_repeated(line) {
                    self.bot.event(&event);
                }
            }
            Ok(Message::Start(start)) => self.start(&start, out)?,
            Ok(Message::End(end)) if self.play(&end.r#match, end.seat).is_some() => {
                let seats = self.plays.remove(&end.r#match).unwrap_or_default();
                let others: Vec<Play> = seats.into_iter().filter(|play| play.seat != end.seat).collect();
                if !others.is_empty() {
                    self.plays.insert(end.r#match.clone(), others);
                }
                self.bot.end(&end);
            }
            // Repeated after a lost connection.
            Ok(Message::End(_)) if self.reconnects => {}
            Ok(Message::Turn(_) | Message::End(_)) => note("no such match was started", line),
            Ok(Message::Hello(hello)) => say(&FromBot::Hello(self.hello(&hello)), out)?,
            Ok(Message::Ping(ping)) => say(&FromBot::Pong(Pong { id: ping.id }), out)?,
            Ok(Message::Error(refusal)) => {
                note("the referee says", line);
                self.refusal = Some(refusal);
            }
            Ok(Message::Bye(bye)) => {
                // Over TCP the referee keeps no standard error.
                if self.instance.is_some() {
                    note("the referee closes the connection", &bye.reason);
                }
                // Otherwise the connection ends, and the bot connects again.
                if !(bye.reconnect && self.reconnects) {
                    self.is_over = true;
                    return Ok(ControlFlow::Break(()));
                }
            }
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

    fn play(&mut self, r#match: &str, seat: u8) -> Option<&mut Play> {
        self.plays.get_mut(r#match)?.iter_mut().find(|play| play.seat == seat)
    }

    /// Begins a match, or answers the `start` that the referee repeats after a lost connection.
    fn start(&mut self, start: &Start<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.has_started = true;
        if let Some(known) = self.play(&start.r#match, start.seat).filter(|_| start.resumed) {
            out.extend_from_slice(&known.ready);
            return Ok(());
        }
        let mut ready = Vec::new();
        say(&self.ready(start), &mut ready)?;
        out.extend_from_slice(&ready);
        let play = Play { seat: start.seat, ready, ..Play::default() };
        self.plays.entry(start.r#match.clone()).or_default().push(play);
        Ok(())
    }

    /// Answers a request. If the referee repeats it after a lost connection, the answer is the same.
    fn answer(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        if let Some(play) =
            self.play(&turn.r#match, turn.seat).filter(|play| play.answered == Some(turn.turn))
        {
            out.extend_from_slice(&play.answer);
            return Ok(());
        }
        let (answer, before) = (self.bot.choose(turn), out.len());
        say(&reply(turn, &answer)?, out)?;
        if self.reconnects
            && let Some(play) = self.play(&turn.r#match, turn.seat)
        {
            play.answered = Some(turn.turn);
            play.answer.clear();
            play.answer.extend_from_slice(&out[before..]);
        }
        Ok(())
    }

    /// Returns whether the referee repeats an event after a lost connection.
    fn is_repeated(&mut self, line: &str) -> bool {
        if !self.reconnects {
            return false;
        }
        let Ok(Numbered { r#match, seat, n }) = serde_json::from_str(line) else { return false };
        let Some(play) = self.play(&r#match, seat) else { return false };
        let is_repeated = n < play.next_event;
        play.next_event = play.next_event.max(n + 1);
        is_repeated
    }

    fn hello(&mut self, of_referee: &referee::Hello) -> Hello {
        self.reconnects = of_referee.reconnect && self.instance.is_some();
        let mut hello = self.bot.hello();
        if let Some(name) = &self.name {
            hello.name.clone_from(name);
        }
        // Send the token only to a referee that requires it.
        hello.token = self.token.clone().or(hello.token).filter(|_| of_referee.auth == Auth::Token);
        hello.reconnect = self.instance.clone().filter(|_| self.reconnects);
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
        Answer::Unable { because, info } => FromBot::Unable(Unable {
            r#match,
            seat,
            turn: turn.turn.into(),
            because: *because,
            info: info.as_ref(),
        }),
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
