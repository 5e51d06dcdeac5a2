//! Parses messages strictly: one JSON object per line, without duplicate keys at any depth.

#[cfg(test)]
mod tests;

use referee_game::excerpt::excerpt;
use referee_game::json;
use referee_game::json_scanner::{JsonScanner, ScanError, Value};
use referee_match::{Detail, Field, RefusedLine};
use referee_protocol::bot;
use referee_protocol::words::ErrorCode;
use referee_protocol::{MAX_INTEGER, Text};
use serde_json::value::RawValue;

pub type Incoming<'a> = bot::FromBot<'a, &'a RawValue>;

/// The address of a line: whatever could be read of it, even if the line is not a valid message.
#[derive(Debug, Default)]
pub struct Address<'a> {
    pub match_id: Option<Text<'a>>,
    pub seat: Option<u8>,
    /// The request that an answer names.
    pub turn: Option<u64>,
    /// The id of an `open`.
    pub id: Option<Text<'a>>,
}

/// Reasons why a line is not a valid message.
#[derive(Debug)]
pub enum Unreadable {
    /// A line that is not a JSON object of the protocol. It counts as an answer.
    Malformed(Detail),
    /// A message with an invalid field that is not an answer.
    MalformedAside {
        /// The text for the bot.
        message: String,
        /// The invalid field of `hello`.
        field: Option<Field>,
    },
    /// A type that the protocol does not define.
    UnknownType(String),
    /// `open` or `abort` in a session that may not open matches.
    NotAllowed,
}

impl Unreadable {
    /// The `error` for the line: its code with the invalid field, and its text.
    pub fn refusal(self) -> (RefusedLine, String) {
        match self {
            Unreadable::Malformed(detail) => (ErrorCode::Malformed.into(), detail.to_string()),
            Unreadable::MalformedAside { message, field } => {
                (RefusedLine { code: ErrorCode::Malformed, field }, message)
            }
            Unreadable::UnknownType(kind) => {
                (ErrorCode::UnknownType.into(), format!("unknown message type `{kind}`"))
            }
            Unreadable::NotAllowed => {
                let message = "`open` and `abort` are only allowed if the referee's `hello` says `may_open`";
                (ErrorCode::NotAllowed.into(), message.to_owned())
            }
        }
    }
}

/// Parses a line; only a session that may open matches may send `open` and `abort`.
pub fn read(line: &[u8], may_open: bool) -> (Address<'_>, Result<Incoming<'_>, Unreadable>) {
    let mut address = Address::default();
    let message = read_into(line, may_open, &mut address);
    (address, message)
}

fn read_into<'a>(
    line: &'a [u8],
    may_open: bool,
    address: &mut Address<'a>,
) -> Result<Incoming<'a>, Unreadable> {
    if let Some(answer) = plain_move(line) {
        address.match_id = Some(answer.r#match.clone());
        address.seat = answer.seat;
        address.turn = Some(answer.turn);
        return Ok(Incoming::Move(answer));
    }
    read_strictly(line, may_open, address)
}

fn read_strictly<'a>(
    line: &'a [u8],
    may_open: bool,
    address: &mut Address<'a>,
) -> Result<Incoming<'a>, Unreadable> {
    let text = std::str::from_utf8(line).map_err(|_| Unreadable::Malformed(Detail::NotUtf8))?;
    if !text.trim_start().starts_with('{') {
        return Err(Unreadable::Malformed(Detail::NotAnObject));
    }
    let in_words = |error| Unreadable::Malformed(Detail::Unreadable { error: in_short(&error) });
    let kind = read_address(text, address).map_err(|flaw| {
        Unreadable::Malformed(Detail::Unreadable { error: excerpt(&flaw.to_string(), 160).into() })
    })?;
    let kind = kind.ok_or(Unreadable::Malformed(Detail::NoType))?;
    let aside = |error| {
        let field = if *kind == *"hello" { flaw(text) } else { None };
        let right = field.map(|field| format!("; {field}")).unwrap_or_default();
        let message = format!("`{kind}` cannot be read: {}{right}", in_short(&error));
        Unreadable::MalformedAside { message, field }
    };
    Ok(match &*kind {
        "hello" => Incoming::Hello(serde_json::from_str(text).map_err(aside)?),
        "ready" => Incoming::Ready(serde_json::from_str(text).map_err(in_words)?),
        "move" => Incoming::Move(serde_json::from_str(text).map_err(in_words)?),
        "accept_draw" => Incoming::AcceptDraw(serde_json::from_str(text).map_err(in_words)?),
        "unable" => Incoming::Unable(serde_json::from_str(text).map_err(in_words)?),
        "resign" => Incoming::Resign(serde_json::from_str(text).map_err(in_words)?),
        "open" | "abort" if !may_open => return Err(Unreadable::NotAllowed),
        "open" => Incoming::Open(serde_json::from_str(text).map_err(aside)?),
        "abort" => Incoming::Abort(serde_json::from_str(text).map_err(aside)?),
        "pong" => Incoming::Pong(serde_json::from_str(text).map_err(aside)?),
        "bye" => Incoming::Bye(bot::Bye {}),
        other => return Err(Unreadable::UnknownType(other.chars().take(40).collect())),
    })
}

/// The first field of a `hello` that is missing or has the wrong type.
fn flaw(hello: &str) -> Option<Field> {
    type Fits = fn(&serde_json::Value) -> bool;
    let strings: Fits = |value| value.as_array().is_some_and(|list| list.iter().all(|item| item.is_string()));
    let fields: [(Field, &str, Fits); 10] = [
        (Field::Protocol, "protocol", |value| value.is_u64()),
        (Field::Name, "name", |value| value.is_string()),
        (Field::Version, "version", |value| value.is_string()),
        (Field::Author, "author", |value| value.is_string()),
        (Field::Details, "details", |value| {
            value.as_object().is_some_and(|details| details.values().all(|text| text.is_string()))
        }),
        (Field::Token, "token", |value| value.is_string()),
        (Field::Games, "games", strings),
        (Field::Slots, "slots", |value| value.is_u64()),
        (Field::Wants, "wants", |value| serde_json::from_value::<Vec<bot::Want>>(value.clone()).is_ok()),
        (Field::Push, "push", |value| value.is_boolean()),
    ];
    let hello: serde_json::Value = serde_json::from_str(hello).ok()?;
    let wrong = |&&(field, name, fits): &&(Field, &str, Fits)| {
        let is_required = matches!(field, Field::Protocol | Field::Name);
        if hello[name].is_null() { is_required } else { !fits(&hello[name]) }
    };
    fields.iter().find(wrong).map(|&(field, ..)| field)
}

/// The error with long quotations truncated: it may be shown to others.
fn in_short(error: &serde_json::Error) -> String {
    excerpt(&error.to_string(), 160).into_owned()
}

/// Parses a `move` in the most common form: no rare fields, no escapes outside `info`, and no white space except one
/// space after a comma or colon. This is the hot path. All other lines go to the strict parser, which gives the same
/// result.
fn plain_move(line: &[u8]) -> Option<bot::Move<'_, &RawValue>> {
    let mut rest = RestOfLine(line);
    let (mut kind, mut id, mut seat, mut turn, mut answer, mut info) = (None, None, None, None, None, None);
    rest.take(b"{")?;
    loop {
        let is_again = if rest.take(b"\"type\":").is_some() {
            kind.replace(rest.string()?).is_some()
        } else if rest.take(b"\"match\":").is_some() {
            id.replace(rest.string()?).is_some()
        } else if rest.take(b"\"seat\":").is_some() {
            seat.replace(u8::try_from(rest.number()?).ok()?).is_some()
        } else if rest.take(b"\"turn\":").is_some() {
            turn.replace(rest.number()?).is_some()
        } else if rest.take(b"\"move\":").is_some() {
            answer.replace(rest.string()?).is_some()
        } else {
            rest.take(b"\"info\":")?;
            info.replace(rest.object()?).is_some()
        };
        if is_again {
            return None;
        }
        if rest.take(b",").is_none() {
            break;
        }
        rest.take(b" ");
    }
    let is_whole = rest.0 == b"}" && kind == Some("move") && turn? <= MAX_INTEGER;
    is_whole.then_some(bot::Move {
        r#match: id?.into(),
        seat,
        turn: turn?,
        r#move: answer?.into(),
        offer_draw: false,
        info,
    })
}

struct RestOfLine<'a>(&'a [u8]);

impl<'a> RestOfLine<'a> {
    #[inline(always)]
    fn take(&mut self, bytes: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(bytes)?;
        Some(())
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.take(b" ");
        self.take(b"\"")?;
        let end = self.0.iter().position(|byte| !json::is_plain(*byte))?;
        let (string, rest) = self.0.split_at(end);
        self.0 = rest;
        self.take(b"\"")?;
        std::str::from_utf8(string).ok()
    }

    /// A number without sign, fraction or exponent, with at most 16 digits.
    fn number(&mut self) -> Option<u64> {
        self.take(b" ");
        let end = self.0.iter().position(|byte| !byte.is_ascii_digit())?;
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        let is_plain = match digits {
            [] | [b'0', _, ..] => false,
            _ => digits.len() <= 16,
        };
        is_plain.then(|| digits.iter().fold(0, |number, digit| 10 * number + u64::from(digit - b'0')))
    }

    fn object(&mut self) -> Option<&'a RawValue> {
        self.take(b" ");
        self.0.first().filter(|&&byte| byte == b'{')?;
        let mut values = serde_json::Deserializer::from_slice(self.0).into_iter::<&RawValue>();
        let object = values.next()?.ok()?;
        self.0 = &self.0[values.byte_offset()..];
        let text = object.get();
        // Serde's raw values do not check for duplicate keys, lone surrogates or nesting depth.
        JsonScanner::within(1, text).object(|_, _| ()).ok()?;
        Some(object)
    }
}

/// Validates the whole line, stores its address, and returns its type.
fn read_address<'a>(text: &'a str, address: &mut Address<'a>) -> Result<Option<Text<'a>>, ScanError> {
    let mut kind = None;
    JsonScanner::within(0, text).object(|key, value| match (key, value) {
        ("type", Value::Text(text)) => kind = Some(text),
        ("match", Value::Text(text)) => address.match_id = Some(text),
        ("seat", Value::Number(seat @ 0..=255)) => address.seat = Some(seat as u8),
        ("turn", Value::Number(turn @ 0..=MAX_INTEGER)) => address.turn = Some(turn),
        ("id", Value::Text(text)) => address.id = Some(text),
        _ => {}
    })?;
    Ok(kind)
}
