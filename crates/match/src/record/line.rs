//! Reads the lines of a record. The match (`referee`) writes them, the shell adds `bots`, and the seal is the last.
//!
//! This is the only reader of record lines. It rejects unknown lines and details: a new kind of either requires a
//! new format (specification, Versions).

use referee_game::Wrong;
use referee_game::clock::Tick;
use referee_game::seat::Seat;
use referee_protocol::bot::Inability;
use referee_protocol::words::{ErrorCode, FaultCode};
use referee_protocol::{Head, Text};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::record::{Difference, Seal};
use crate::{AbortReason, Detail, Header, Outage};

#[derive(Debug)]
pub struct RecordLine<'a> {
    /// The time of the line; 0 in `record`, `bots` and `seal`.
    pub at_us: Tick,
    /// The contents of the line.
    pub entry: RecordEntry<'a>,
}

/// The contents of a line, by its `type`.
#[derive(Debug)]
pub enum RecordEntry<'a> {
    /// `record`: the setup.
    Record(Box<Header>),
    /// `start` was offered to the kernel.
    Start {
        seat: Seat,
    },
    /// A new process of the bot took over the seat.
    Restart {
        seat: Seat,
        /// The timeout until `ready`, in milliseconds.
        ready_ms: u64,
    },
    Ready {
        seat: Seat,
        nonce: Text<'a>,
    },
    /// The random draws of the game.
    Draw {
        /// The numbers, in order.
        drawn: Vec<u32>,
    },
    /// A request was offered to the kernel.
    Request {
        seat: Seat,
        turn: u32,
    },
    /// An answer to a request.
    Answer(RecordedAnswer<'a>),
    /// An answer that accepts a draw.
    AcceptDraw(Accepted),
    Resign {
        seat: Seat,
    },
    /// An out-of-state message.
    Stray {
        seat: Seat,
        code: ErrorCode,
    },
    Fault(RecordedFault),
    /// The referee decided for a seat.
    Fallback {
        seat: Seat,
        text: Text<'a>,
    },
    /// An event, with all hidden information.
    Event {
        /// The part of a line that replaying the match needs.
        event: RecordedEvent<'a>,
        json: &'a RawValue,
    },
    /// The referee was suspended.
    Pause {
        /// The duration, in microseconds.
        paused_us: u64,
    },
    Abort {
        reason: AbortReason,
    },
    /// The end of the match.
    Result,
    /// Information from the shell.
    Bots(BotsLine),
    Seal(Seal),
}

#[derive(Debug)]
pub struct RecordedAnswer<'a> {
    pub seat: Seat,
    pub turn: u32,
    /// The move as the bot wrote it, legal or not.
    pub text: Text<'a>,
    /// From the request to the answer, in microseconds.
    pub took_us: u64,
    /// The referee's lag during that time, in microseconds.
    pub lag_us: u64,
    pub offer_draw: bool,
    pub unable: Option<Inability>,
    /// The bot's information about its search.
    pub info: Option<&'a RawValue>,
}

/// An answer that accepts a draw.
#[derive(Debug)]
pub struct Accepted {
    pub seat: Seat,
    pub turn: u32,
    /// From the request to the answer, in microseconds.
    pub took_us: u64,
    /// The referee's lag during that time, in microseconds.
    pub lag_us: u64,
}

#[derive(Debug)]
pub struct RecordedFault {
    pub seat: Seat,
    /// The request; `None` if it is not the fault of a request.
    pub turn: Option<u32>,
    pub code: FaultCode,
    /// The parameters, if it has any.
    pub detail: Option<Detail>,
    /// From the request to the fault, in microseconds; `None` if it is not the fault of a request.
    pub took_us: Option<u64>,
    /// The referee's lag during that time, in microseconds.
    pub lag_us: u64,
}

/// The contents of an event of a record.
#[derive(Debug)]
pub enum RecordedEvent<'a> {
    Move(Moved<'a>),
    /// An event that no move caused: a draw was offered, or a seat is out.
    OfReferee,
    OfGame,
}

#[derive(Debug, Deserialize)]
pub struct Moved<'a> {
    pub seat: Seat,
    #[serde(rename = "move", borrow)]
    pub text: Text<'a>,
    /// Whether the move belongs to the opening.
    #[serde(default)]
    pub opening: bool,
}

/// The description of a seat's bot in the line `bots`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotLine {
    pub seat: Seat,
    /// Processor time in milliseconds, if it could be measured.
    pub cpu_ms: Option<u64>,
    /// The end of its standard error.
    #[serde(default)]
    pub stderr: String,
    /// The number of bytes that it wrote before.
    #[serde(default)]
    pub stderr_dropped: u64,
    /// The times without a connection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// The data kept from earlier matches when its process started, if it may keep any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptData>,
    /// In a public record: the SHA-256 of the private lines of the seat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<String>,
}

/// Data that a program kept from earlier matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptData {
    /// The size of its archive; 0 if there was nothing yet.
    pub bytes: u64,
    /// SHA-256 of the archive, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Information from the shell about a match.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotsLine {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    /// The bots, by seat.
    pub bots: Vec<BotLine>,
    /// The number of times that the rules had to be asked again.
    #[serde(default)]
    pub rules_restarts: u32,
}

/// The fields of the lines that the match writes.
#[derive(Deserialize)]
struct LineFields<'a> {
    at_us: Tick,
    seat: Option<Seat>,
    turn: Option<u32>,
    ready_ms: Option<u64>,
    #[serde(borrow)]
    nonce: Option<Text<'a>>,
    #[serde(rename = "move", borrow)]
    text: Option<Text<'a>>,
    drawn: Option<Vec<u32>>,
    took_us: Option<u64>,
    #[serde(default)]
    lag_us: u64,
    #[serde(default)]
    offer_draw: bool,
    unable: Option<Inability>,
    #[serde(borrow)]
    info: Option<&'a RawValue>,
    paused_us: Option<u64>,
    #[serde(borrow)]
    code: Option<Text<'a>>,
    #[serde(borrow)]
    detail: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
}

/// The value of `key` in a JSON object that begins with it and has a plain string there.
fn tag<'a>(object: &'a [u8], key: &str) -> Option<&'a str> {
    let rest = object.strip_prefix(b"{\"")?.strip_prefix(key.as_bytes())?.strip_prefix(b"\":\"")?;
    let end = rest.iter().position(|&byte| byte == b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Returns the `type` of a line.
fn kind(text: &[u8]) -> Result<Text<'_>, Wrong> {
    match tag(text, "type") {
        Some(kind) => Ok(kind.into()),
        None if text.first() != Some(&b'{') => Err("not a JSON object".into()),
        // A replay rejects other orders of the fields.
        None => Ok(parse::<Head<'_>>(text)?.kind),
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, Wrong> {
    // To check the encoding once is faster than to check it for each key and text.
    parse_text(std::str::from_utf8(text).map_err(|error| Wrong::of(&error))?)
}

fn parse_text<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Wrong> {
    Ok(serde_json::from_str(text)?)
}

/// Parses a line that must be of this kind.
fn read_as<'a, T: Deserialize<'a>>(expected: &str, text: &'a [u8]) -> Result<T, Wrong> {
    match kind(text)? {
        found if found != *expected => Err(format!("it is of type `{found}`").into()),
        _ => parse(text),
    }
}

/// A line that is wrong for this reason.
pub(super) fn not_a_line(why: Wrong) -> Wrong {
    Wrong::at("no line of a record", why)
}

/// Parses the first line of a record, of any format.
pub(super) fn read_header(text: &[u8]) -> Result<Header, Wrong> {
    read_as("record", text).map_err(|error| Wrong::at("a record begins with a line of type `record`", error))
}

/// Checks that this program reads the format of the record.
pub(super) fn check_format(header: &Header) -> Result<(), Wrong> {
    match header.format {
        Header::FORMAT => Ok(()),
        format => Err(format!("record format {format}; this program reads {}", Header::FORMAT).into()),
    }
}

/// Parses the last line of a record.
pub(super) fn read_seal(text: &[u8]) -> Result<Seal, Wrong> {
    read_as("seal", text)
}

impl<'a> RecordLine<'a> {
    /// Parses a line.
    ///
    /// # Errors
    /// When it is not a line of a record, or its kind is unknown.
    pub fn read(text: &'a [u8]) -> Result<RecordLine<'a>, Wrong> {
        let kind = kind(text)?;
        let entry = match &*kind {
            "record" => return RecordLine::first(text),
            "bots" => RecordEntry::Bots(parse(text)?),
            "seal" => RecordEntry::Seal(read_seal(text)?),
            kind => {
                let fields: LineFields<'_> = parse(text)?;
                let at_us = fields.at_us;
                return Ok(RecordLine { at_us, entry: fields.entry(kind)? });
            }
        };
        Ok(RecordLine { at_us: Tick::default(), entry })
    }

    fn first(text: &[u8]) -> Result<RecordLine<'a>, Wrong> {
        let header = read_header(text)?;
        check_format(&header)?;
        Ok(RecordLine { at_us: Tick::default(), entry: RecordEntry::Record(Box::new(header)) })
    }

    /// The seat that the line is about; `None` for moves and other events.
    pub fn seat(&self) -> Option<Seat> {
        match self.entry {
            RecordEntry::Start { seat }
            | RecordEntry::Restart { seat, .. }
            | RecordEntry::Ready { seat, .. }
            | RecordEntry::Request { seat, .. }
            | RecordEntry::Answer(RecordedAnswer { seat, .. })
            | RecordEntry::AcceptDraw(Accepted { seat, .. })
            | RecordEntry::Resign { seat }
            | RecordEntry::Stray { seat, .. }
            | RecordEntry::Fault(RecordedFault { seat, .. })
            | RecordEntry::Fallback { seat, .. } => Some(seat),
            RecordEntry::Record(_)
            | RecordEntry::Draw { .. }
            | RecordEntry::Event { .. }
            | RecordEntry::Pause { .. }
            | RecordEntry::Abort { .. }
            | RecordEntry::Result
            | RecordEntry::Bots(_)
            | RecordEntry::Seal(_) => None,
        }
    }

    /// The request that the line is about.
    pub fn turn(&self) -> Option<u32> {
        match self.entry {
            RecordEntry::Request { turn, .. }
            | RecordEntry::Answer(RecordedAnswer { turn, .. })
            | RecordEntry::AcceptDraw(Accepted { turn, .. }) => Some(turn),
            RecordEntry::Fault(RecordedFault { turn, .. }) => turn,
            _ => None,
        }
    }
}

/// Reads the value of a field.
fn value<T: DeserializeOwned>(json: &RawValue) -> Result<T, Wrong> {
    Ok(serde_json::from_str(json.get())?)
}

/// A field that a kind of line must have.
fn need<T>(field: Option<T>, name: &'static str) -> Result<T, Wrong> {
    field.ok_or_else(|| format!("missing field `{name}`").into())
}

impl<'a> LineFields<'a> {
    fn seat(&self) -> Result<Seat, Wrong> {
        need(self.seat, "seat")
    }

    fn turn(&self) -> Result<u32, Wrong> {
        need(self.turn, "turn")
    }

    fn took_us(&self) -> Result<u64, Wrong> {
        need(self.took_us, "took_us")
    }

    /// The code among these, by its text.
    fn code<T: Copy>(&self, all: &[T], text: impl Fn(T) -> &'static str) -> Result<T, Wrong> {
        let code = need(self.code.as_ref(), "code")?;
        let found = all.iter().copied().find(|&known| *code == *text(known));
        found.ok_or_else(|| format!("unknown code `{code}`").into())
    }

    fn entry(self, kind: &str) -> Result<RecordEntry<'a>, Wrong> {
        Ok(match kind {
            "start" => RecordEntry::Start { seat: self.seat()? },
            "restart" => {
                RecordEntry::Restart { seat: self.seat()?, ready_ms: need(self.ready_ms, "ready_ms")? }
            }
            "ready" => RecordEntry::Ready { seat: self.seat()?, nonce: need(self.nonce, "nonce")? },
            "draw" => RecordEntry::Draw { drawn: need(self.drawn, "drawn")? },
            "request" => RecordEntry::Request { seat: self.seat()?, turn: self.turn()? },
            "answer" => RecordEntry::Answer(RecordedAnswer {
                seat: self.seat()?,
                turn: self.turn()?,
                took_us: self.took_us()?,
                lag_us: self.lag_us,
                offer_draw: self.offer_draw,
                unable: self.unable,
                info: self.info,
                text: need(self.text, "move")?,
            }),
            "accept_draw" => RecordEntry::AcceptDraw(Accepted {
                seat: self.seat()?,
                turn: self.turn()?,
                took_us: self.took_us()?,
                lag_us: self.lag_us,
            }),
            "resign" => RecordEntry::Resign { seat: self.seat()? },
            "stray" => {
                RecordEntry::Stray { seat: self.seat()?, code: self.code(ErrorCode::ALL, ErrorCode::as_str)? }
            }
            "fault" => RecordEntry::Fault(RecordedFault {
                seat: self.seat()?,
                turn: self.turn,
                code: self.code(FaultCode::ALL, FaultCode::as_str)?,
                detail: self.detail.map(value).transpose()?,
                took_us: self.took_us,
                lag_us: self.lag_us,
            }),
            "fallback" => RecordEntry::Fallback { seat: self.seat()?, text: need(self.text, "move")? },
            "event" => {
                let json = need(self.event, "event")?;
                RecordEntry::Event { event: RecordedEvent::read(json)?, json }
            }
            "pause" => RecordEntry::Pause { paused_us: need(self.paused_us, "paused_us")? },
            "abort" => RecordEntry::Abort { reason: value(need(self.reason, "reason")?)? },
            "result" => RecordEntry::Result,
            _ => return Err(format!("unknown type `{kind}`").into()),
        })
    }
}

impl<'a> RecordedEvent<'a> {
    fn read(event: &'a RawValue) -> Result<RecordedEvent<'a>, Wrong> {
        Ok(match tag(event.get().as_bytes(), "kind") {
            Some("move") => RecordedEvent::Move(parse_text(event.get())?),
            Some("draw_offered" | "out") => RecordedEvent::OfReferee,
            _ => RecordedEvent::OfGame,
        })
    }
}

/// Reads the lines of a record, with or without its seal, without replaying them. The first line must be a `record`
/// line. The first invalid line is the last item.
pub fn lines(record: &[u8]) -> impl Iterator<Item = Result<RecordLine<'_>, Difference>> {
    lines_except(record, &[])
}

/// Reads the lines of a record without those of these types, which are not even checked.
pub(super) fn lines_except<'a>(
    record: &'a [u8],
    others: &'static [&'static str],
) -> impl Iterator<Item = Result<RecordLine<'a>, Difference>> {
    let texts = record.strip_suffix(b"\n").unwrap_or(record).split(|&byte| byte == b'\n');
    let is_other = |text: &[u8]| tag(text, "type").is_some_and(|kind| others.contains(&kind));
    let mut is_valid = true;
    let texts = texts.zip(1..).filter(move |&(text, line)| line == 1 || !is_other(text));
    texts.map_while(move |(text, line)| {
        if !is_valid {
            return None;
        }
        let read = match line {
            1 => RecordLine::first(text),
            _ => RecordLine::read(text),
        };
        is_valid = read.is_ok();
        let what = |error| if line == 1 { error } else { not_a_line(error) };
        Some(read.map_err(|error| Difference::at(line, what(error))))
    })
}
