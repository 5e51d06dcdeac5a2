//! The side of the protocol: matches, turns and answers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use referee_bots::{Dialect, EngineCommand};
use referee_protocol::bot::{self, Inability, Want};
use referee_protocol::referee::{self, Start, Turn};
use referee_protocol::{Head, PROTOCOL, Text};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::game::{Limit, Match};
use crate::gtp::Gtp;
use crate::hub::Hub;
use crate::info::Info;
use crate::trouble::Trouble;
use crate::uci::Uci;
use crate::wire::{Side, Wire};
use crate::xboard::Xboard;

/// The time in which an engine has to introduce itself. It is less than the usual limit for a bot's `hello`.
pub(crate) const GREETING: Duration = Duration::from_secs(8);
/// The time in which it has to stop thinking.
pub(crate) const STOP: Duration = Duration::from_secs(2);
/// The maximum length of the name of a bot, and of its author.
const NAME: usize = 64;
const AUTHOR: usize = 256;

/// The name and version that an engine states.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    pub(crate) name: Option<String>,
    pub(crate) author: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Move {
        text: String,
        offers_draw: bool,
    },
    AcceptDraw,
    Resign,
    /// An answer that names no move.
    Nothing,
}

/// The end of a match for the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchEnd {
    Won,
    Lost,
    Drawn,
    Aborted,
}

/// The side of an engine: one for each dialect.
pub(crate) trait EngineProtocol: std::fmt::Debug {
    /// Introduces both sides, and sets options.
    fn greet(&mut self, wire: &mut Wire) -> Result<Identity, Trouble>;

    /// Prepares for a match. Returns when the engine is ready.
    fn start(&mut self, wire: &mut Wire, game: &Match) -> Result<(), Trouble>;

    fn ask(
        &mut self,
        wire: &mut Wire,
        game: &Match,
        turn: &Turn<'_, &RawValue>,
        limit: Limit,
    ) -> Result<(), Trouble>;

    /// Hears a line of the engine. Returns its answer, if that is one to the last question.
    fn hear(&mut self, wire: &mut Wire, line: &str) -> Result<Option<Answer>, Trouble>;

    /// The engine's own account of the search that ends with its answer.
    fn info(&mut self) -> Option<Info> {
        None
    }

    /// Notes that the answer has been sent.
    fn answered(&mut self, _wire: &mut Wire, _game: &Match) {}

    /// Stops the engine at the end of the match.
    fn end(&mut self, wire: &mut Wire, outcome: MatchEnd) -> Result<(), Trouble>;

    /// The parts of a turn that it needs.
    fn wants(&self) -> Vec<Want> {
        vec![Want::Event]
    }
}

#[derive(Debug)]
pub(crate) struct Session {
    wire: Wire,
    tongue: Box<dyn EngineProtocol>,
    engine: EngineCommand,
    identity: Identity,
    game: Option<Match>,
    out: Vec<u8>,
}

#[derive(Deserialize)]
struct Moved<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    seat: Option<u8>,
    #[serde(borrow)]
    r#move: Option<Text<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Reply<'a> {
    Hello(bot::Hello),
    Ready(bot::Ready<'a>),
    Move(bot::Move<'a, Info>),
    AcceptDraw(bot::AcceptDraw<'a>),
    Unable(bot::Unable<'a, Info>),
    Resign(bot::Resign<'a>),
    Pong(bot::Pong),
}

impl Session {
    /// Starts the engine, and introduces both sides.
    pub(crate) fn open(engine: &EngineCommand, environment: Option<&[OsString]>) -> Result<Session, Trouble> {
        let mut tongue: Box<dyn EngineProtocol> = match engine.dialect {
            Dialect::Uci | Dialect::Usi => Box::new(Uci::new(engine)),
            Dialect::Xboard => Box::new(Xboard::new(engine)),
            Dialect::Gtp => Box::new(Gtp::new(engine)),
            Dialect::Hub => Box::new(Hub::new(engine)),
        };
        check_budget(engine)?;
        let mut wire = Wire::open(engine, environment)?;
        let identity = tongue.greet(&mut wire)?;
        Ok(Session { wire, tongue, engine: engine.clone(), identity, game: None, out: Vec::new() })
    }

    /// Plays until the referee ends the connection.
    pub(crate) fn play(&mut self) -> Result<(), Trouble> {
        let mut line = String::new();
        let ended = loop {
            let step = match self.wire.next(&mut line) {
                Ok(Side::Referee) => self.hear_referee(&line),
                Ok(Side::Engine) => self.hear_engine(&line),
                Err(trouble) => Err(trouble),
            };
            if let Err(trouble) = step {
                break trouble;
            }
        };
        if matches!(ended, Trouble::Over) {
            self.wire.tell_engine("quit\n");
        }
        Err(ended)
    }

    fn hear_referee(&mut self, line: &str) -> Result<(), Trouble> {
        match &*kind(line)? {
            "hello" => self.say(&Reply::Hello(self.hello())),
            "start" => {
                let start: Start<&RawValue> = serde_json::from_str(line)?;
                check_game(self.engine.dialect, &start.game)?;
                let game = self.game.insert(Match::of(&start)?);
                self.tongue.start(&mut self.wire, game)?;
                let ready = bot::Ready { r#match: start.r#match.into(), seat: None, nonce: None };
                self.say(&Reply::Ready(ready))
            }
            "event" => {
                let event: referee::Event<'_, Moved<'_>> = serde_json::from_str(line)?;
                let Some(game) = &mut self.game else { return Ok(()) };
                if event.event.kind == "move" {
                    let seat = event.event.seat.unwrap_or_default();
                    let hidden = || Trouble::cannot_play(&format!("{} hides moves", game.game));
                    let text = event.event.r#move.ok_or_else(hidden)?.to_string();
                    game.moves.push((seat, text));
                }
                Ok(())
            }
            "turn" => {
                let turn: Turn<'_, &RawValue> = serde_json::from_str(line)?;
                let Some(game) = &mut self.game else { return Ok(()) };
                game.turn = Some(turn.turn);
                let limit = game.limit(self.engine.budget, &turn);
                self.tongue.ask(&mut self.wire, game, &turn, limit)
            }
            "end" => {
                let end: referee::End = serde_json::from_str(line)?;
                let own = end.scores.as_ref().and_then(|scores| scores.get(usize::from(end.seat)));
                let outcome = match own {
                    None => MatchEnd::Aborted,
                    Some(score) if *score > 0.5 => MatchEnd::Won,
                    Some(score) if *score < 0.5 => MatchEnd::Lost,
                    Some(_) => MatchEnd::Drawn,
                };
                self.game = None;
                self.tongue.end(&mut self.wire, outcome)
            }
            "error" => {
                #[derive(Deserialize)]
                struct Refusal {
                    code: String,
                    message: String,
                }
                // A newer referee may have other codes.
                let Refusal { code, message } = serde_json::from_str(line)?;
                crate::report(
                    &format_args!("the referee refuses what the engine does: {code}: {message}"),
                    0,
                );
                Ok(())
            }
            "ping" => {
                let referee::Ping { id } = serde_json::from_str(line)?;
                self.say(&Reply::Pong(bot::Pong { id }))
            }
            "bye" => Err(Trouble::Over),
            _ => Ok(()),
        }
    }

    fn hear_engine(&mut self, line: &str) -> Result<(), Trouble> {
        let Some(answer) = self.tongue.hear(&mut self.wire, line)? else { return Ok(()) };
        let info = self.tongue.info();
        let Some(game) = self.game.as_mut().filter(|game| game.turn.is_some()) else { return Ok(()) };
        let (id, turn) = (Text::from(game.id.clone()), u64::from(game.turn.take().unwrap_or_default()));
        let reply = match answer {
            Answer::Move { text, offers_draw } => Reply::Move(bot::Move {
                r#match: id,
                seat: None,
                turn,
                r#move: text.into(),
                offer_draw: offers_draw,
                info,
            }),
            Answer::AcceptDraw => Reply::AcceptDraw(bot::AcceptDraw { r#match: id, seat: None, turn }),
            Answer::Resign => Reply::Resign(bot::Resign { r#match: id, seat: None }),
            Answer::Nothing => {
                let because = Inability::NoLegalMove;
                Reply::Unable(bot::Unable { r#match: id, seat: None, turn, because, info })
            }
        };
        self.say(&reply)?;
        if let Some(game) = &self.game {
            self.tongue.answered(&mut self.wire, game);
        }
        Ok(())
    }

    fn say(&mut self, reply: &Reply<'_>) -> Result<(), Trouble> {
        self.out.clear();
        serde_json::to_writer(&mut self.out, reply)?;
        self.out.push(b'\n');
        self.wire.tell_referee(&self.out)
    }

    fn hello(&self) -> bot::Hello {
        let program = Path::new(&self.engine.argv[0]).file_name().unwrap_or_default().to_string_lossy();
        let name = self.identity.name.as_deref().unwrap_or(&program);
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._- ".contains(c) { c } else { '_' };
        let name: String = name.trim().chars().map(plain).take(NAME).collect();
        bot::Hello {
            protocol: PROTOCOL,
            name: if name.is_empty() { "engine".to_owned() } else { name },
            version: None,
            author: self.identity.author.as_ref().map(|author| author.chars().take(AUTHOR).collect()),
            details: BTreeMap::new(),
            token: None,
            games: None,
            slots: None,
            wants: Some(self.tongue.wants()),
            push: false,
            reconnect: None,
        }
    }
}

/// Checks that the dialect has the budget.
fn check_budget(engine: &EngineCommand) -> Result<(), Trouble> {
    let EngineCommand { dialect, budget, ponder, .. } = *engine;
    let what = match dialect {
        Dialect::Xboard if budget.nodes.is_some() => "limit of nodes: set depth or movetime",
        Dialect::Gtp if budget.nodes.is_some() || budget.depth.is_some() => {
            "limits of nodes and depth: set movetime, or options of the program"
        }
        Dialect::Gtp if ponder => "command for pondering: set an option of the program",
        Dialect::Hub if ponder => "pondering through this bridge",
        _ => return Ok(()),
    };
    Err(Trouble::option(format!("{} engines have no {what}", dialect.word())))
}

/// Checks that engines of the dialect can know the game. Other games than these write their moves as they like.
fn check_game(dialect: Dialect, game: &str) -> Result<(), Trouble> {
    let spoken: &[Dialect] = match game {
        "chess" => &[Dialect::Uci, Dialect::Xboard],
        "checkers" => &[Dialect::Hub],
        _ => return Ok(()),
    };
    if spoken.contains(&dialect) {
        return Ok(());
    }
    let words: Vec<&str> = spoken.iter().map(|dialect| dialect.word()).collect();
    let (words, own) = (words.join(" or "), dialect.word());
    Err(Trouble::cannot_play(&format!("{game} needs an engine of the dialect {words}, not {own}")))
}

/// The type of a message, which the referee writes first.
fn kind(line: &str) -> Result<Text<'_>, serde_json::Error> {
    match line.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"')) {
        Some((kind, _)) if !kind.contains('\\') => Ok(kind.into()),
        _ => Ok(serde_json::from_str::<Head<'_>>(line)?.kind),
    }
}
