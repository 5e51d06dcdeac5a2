//! Reading what a stream says, strictly: one JSON object, no key twice at any depth.

use std::fmt;

use referee_protocol::bot;
use referee_protocol::{MAX_INTEGER, Text};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A message from a bot.
pub(crate) type Incoming<'a> = bot::FromBot<'a, &'a RawValue>;

/// What could be read of a line, whether it is a message or not.
#[derive(Debug, Default)]
pub(crate) struct Address<'a> {
    pub(crate) match_id: Option<Text<'a>>,
    pub(crate) seat: Option<u8>,
    pub(crate) turn: Option<u64>,
    /// The id of an `open`.
    pub(crate) id: Option<Text<'a>>,
}

/// Why a line is no message.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// Not a JSON object of the protocol. It stands in place of an answer.
    Malformed(String),
    /// A message of the protocol that is no answer, with a field that does not fit.
    MalformedAside(String),
    /// A type that the protocol does not have.
    UnknownType(String),
    /// `open` or `abort` where they are not allowed.
    NotAllowed,
}

/// Reads a line.
pub(crate) fn read(line: &[u8], may_open: bool) -> (Address<'_>, Result<Incoming<'_>, Unreadable>) {
    let mut address = Address::default();
    let message = read_into(line, may_open, &mut address);
    (address, message)
}

fn read_into<'a>(
    line: &'a [u8],
    may_open: bool,
    address: &mut Address<'a>,
) -> Result<Incoming<'a>, Unreadable> {
    let malformed = |what: &str| Unreadable::Malformed(what.to_owned());
    let text = std::str::from_utf8(line).map_err(|_| malformed("the line is not UTF-8"))?;
    if !text.trim_start().starts_with('{') {
        return Err(malformed("the line is not a JSON object"));
    }
    let in_words = |error| Unreadable::Malformed(format!("the line cannot be read: {}", in_short(&error)));
    let mut top = TopLevel { address, kind: None, answer: None, is_plain: true };
    let mut reader = serde_json::Deserializer::from_str(text);
    (&mut top).deserialize(&mut reader).map_err(in_words)?;
    reader.end().map_err(in_words)?;
    let TopLevel { address, kind, answer, is_plain } = top;
    let kind = kind.ok_or_else(|| malformed("the field `type` is missing or no string"))?;
    // The message of the hot path, read already; whatever is unusual about it is read again below.
    if is_plain
        && kind == "move"
        && let Address { match_id: Some(id), seat, turn: Some(turn), .. } = address
        && let Some(answer) = answer
    {
        let (id, seat, turn) = (id.clone(), *seat, *turn);
        return Ok(Incoming::Move(bot::Move {
            r#match: id,
            seat,
            turn,
            r#move: answer,
            offer_draw: false,
            info: None,
        }));
    }
    let aside = |error| Unreadable::MalformedAside(format!("`{kind}` cannot be read: {}", in_short(&error)));
    Ok(match &*kind {
        "hello" => Incoming::Hello(serde_json::from_str(text).map_err(aside)?),
        "ready" => Incoming::Ready(serde_json::from_str(text).map_err(in_words)?),
        "move" => Incoming::Move(serde_json::from_str(text).map_err(in_words)?),
        "accept_draw" => Incoming::AcceptDraw(serde_json::from_str(text).map_err(in_words)?),
        "resign" => Incoming::Resign(serde_json::from_str(text).map_err(in_words)?),
        "open" | "abort" if !may_open => return Err(Unreadable::NotAllowed),
        "open" => Incoming::Open(serde_json::from_str(text).map_err(aside)?),
        "abort" => Incoming::Abort(serde_json::from_str(text).map_err(aside)?),
        "pong" => Incoming::Pong(serde_json::from_str(text).map_err(aside)?),
        "bye" => Incoming::Bye(bot::Bye {}),
        other => return Err(Unreadable::UnknownType(other.chars().take(40).collect())),
    })
}

/// The error without most of what it quotes: others get to read it.
fn in_short(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let mut shown: String = text.chars().take(160).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

/// A value that matters here, or any other.
enum Value<'a> {
    Text(Text<'a>),
    Number(u64),
    Other,
}

/// Reads the outermost object: keeps what addresses the message, and refuses keys that stand twice.
struct TopLevel<'k, 'a> {
    address: &'k mut Address<'a>,
    kind: Option<Text<'a>>,
    answer: Option<Text<'a>>,
    /// Whether there is nothing but the fields of an ordinary answer, each of its type.
    is_plain: bool,
}

impl<'a> DeserializeSeed<'a> for &mut TopLevel<'_, 'a> {
    type Value = ();
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for &mut TopLevel<'_, 'a> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        // A key that is known needs no list to be found twice.
        let mut seen = 0u8;
        let mut others = Vec::new();
        while let Some(key) = map.next_key::<Text<'a>>()? {
            let Some(known) =
                ["type", "match", "seat", "turn", "move", "id"].iter().position(|known| key == *known)
            else {
                self.is_plain = false;
                map.next_value_seed(Any)?;
                others.push(key);
                continue;
            };
            if seen & 1 << known != 0 {
                return Err(twice(&key));
            }
            seen |= 1 << known;
            match (known, map.next_value_seed(Any)?) {
                (0, Value::Text(text)) => self.kind = Some(text),
                (1, Value::Text(text)) => self.address.match_id = Some(text),
                (2, Value::Number(seat @ 0..=255)) => self.address.seat = Some(seat as u8),
                (3, Value::Number(turn @ 0..=MAX_INTEGER)) => self.address.turn = Some(turn),
                (4, Value::Text(text)) => self.answer = Some(text),
                (5, Value::Text(text)) => (self.address.id, self.is_plain) = (Some(text), false),
                _ => self.is_plain = false,
            }
        }
        refuse_doubles(&mut others)
    }
}

fn twice<E: serde::de::Error>(key: &str) -> E {
    E::custom(format_args!("the key `{key}` stands twice"))
}

fn refuse_doubles<E: serde::de::Error>(keys: &mut [Text<'_>]) -> Result<(), E> {
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(twice(&pair[0])),
        None => Ok(()),
    }
}

/// Reads any value.
struct Any;

impl<'a> DeserializeSeed<'a> for Any {
    type Value = Value<'a>;
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Value<'a>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Any {
    type Value = Value<'a>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, _: bool) -> Result<Value<'a>, E> {
        Ok(Value::Other)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Value<'a>, E> {
        Ok(Value::Other)
    }
    fn visit_u64<E>(self, number: u64) -> Result<Value<'a>, E> {
        Ok(Value::Number(number))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Value<'a>, E> {
        Ok(Value::Other)
    }
    fn visit_unit<E>(self) -> Result<Value<'a>, E> {
        Ok(Value::Other)
    }
    fn visit_borrowed_str<E>(self, text: &'a str) -> Result<Value<'a>, E> {
        Ok(Value::Text(text.into()))
    }
    fn visit_str<E>(self, text: &str) -> Result<Value<'a>, E> {
        Ok(Value::Text(text.to_owned().into()))
    }
    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<Value<'a>, A::Error> {
        while items.next_element_seed(Any)?.is_some() {}
        Ok(Value::Other)
    }
    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Value<'a>, A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = map.next_key::<Text<'a>>()? {
            map.next_value_seed(Any)?;
            keys.push(key);
        }
        refuse_doubles(&mut keys)?;
        Ok(Value::Other)
    }
}
