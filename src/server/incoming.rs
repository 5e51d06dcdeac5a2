//! Reading what a stream says, strictly: one JSON object, no key twice at any depth.

use std::fmt;

use referee_protocol::bot;
use referee_protocol::{MAX_INTEGER, Text};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::core::excerpt::excerpt;

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
    let mut top = TopLevel::new(address);
    top.read(text).map_err(in_words)?;
    if let Some(answer) = top.well_formed_move() {
        return Ok(Incoming::Move(answer));
    }
    let kind = top.kind.ok_or_else(|| malformed("the field `type` is missing or no string"))?;
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
    excerpt(&error.to_string(), 160).into_owned()
}

/// A value that matters here, or any other.
enum Value<'a> {
    Text(Text<'a>),
    Number(u64),
    Flag(bool),
    Null,
    Other,
}

/// The fields that matter here.
const KNOWN: [&str; 8] = ["type", "match", "seat", "turn", "move", "id", "offer_draw", "info"];

/// Levels that JSON nests, the outermost object counted. It is what the reader of a line allows; one that begins within
/// the line has to be told how many are left.
const LEVELS: u8 = 127;

/// Reads the outermost object: keeps what addresses the message and what a `move` has, and refuses keys that stand twice.
struct TopLevel<'k, 'a> {
    address: &'k mut Address<'a>,
    kind: Option<Text<'a>>,
    answer: Option<Text<'a>>,
    offer_draw: bool,
    info: Option<&'a RawValue>,
    /// Whether a field of a `move` is of another type than its own.
    is_misfit: bool,
}

impl<'k, 'a> TopLevel<'k, 'a> {
    fn new(address: &'k mut Address<'a>) -> Self {
        TopLevel { address, kind: None, answer: None, offer_draw: false, info: None, is_misfit: false }
    }

    fn read(&mut self, text: &'a str) -> serde_json::Result<()> {
        let mut reader = serde_json::Deserializer::from_str(text);
        self.deserialize(&mut reader)?;
        reader.end()
    }

    /// The message of the hot path, which needs no second look; any other gets one, if only to say what is wrong with it.
    fn well_formed_move(&mut self) -> Option<bot::Move<'a, &'a RawValue>> {
        if self.is_misfit || self.kind.as_ref()? != "move" {
            return None;
        }
        let Address { match_id: Some(id), seat, turn: Some(turn), .. } = &*self.address else { return None };
        let answer = self.answer.take()?;
        let (offer_draw, info) = (self.offer_draw, self.info);
        Some(bot::Move { r#match: id.clone(), seat: *seat, turn: *turn, r#move: answer, offer_draw, info })
    }
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
            let Some(known) = KNOWN.iter().position(|known| key == *known) else {
                map.next_value_seed(Any(LEVELS - 1))?;
                others.push(key);
                continue;
            };
            if seen & 1 << known != 0 {
                return Err(twice(&key));
            }
            seen |= 1 << known;
            let value = if known == 7 {
                self.info = map.next_value()?;
                let text = self.info.map_or("null", RawValue::get);
                let value = Any(LEVELS - 1).deserialize(&mut serde_json::Deserializer::from_str(text));
                value.map_err(|error| A::Error::custom(format_args!("in `info`, {error}")))?
            } else {
                map.next_value_seed(Any(LEVELS - 1))?
            };
            match (known, value) {
                (0, Value::Text(text)) => self.kind = Some(text),
                (1, Value::Text(text)) => self.address.match_id = Some(text),
                (2, Value::Number(seat @ 0..=255)) => self.address.seat = Some(seat as u8),
                (3, Value::Number(turn @ 0..=MAX_INTEGER)) => self.address.turn = Some(turn),
                (4, Value::Text(text)) => self.answer = Some(text),
                (5, Value::Text(text)) => self.address.id = Some(text),
                (6, Value::Flag(offers)) => self.offer_draw = offers,
                (2 | 6, Value::Null) | (5 | 7, _) => {}
                _ => self.is_misfit = true,
            }
        }
        refuse_doubles(&mut others)
    }
}

fn twice<E: Error>(key: &str) -> E {
    E::custom(format_args!("the key `{key}` stands twice"))
}

fn refuse_doubles<E: Error>(keys: &mut [Text<'_>]) -> Result<(), E> {
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(twice(&pair[0])),
        None => Ok(()),
    }
}

/// Reads any value, of so many levels at most.
#[derive(Clone, Copy)]
struct Any(u8);

impl Any {
    /// For what is within the value.
    fn below<E: Error>(self) -> Result<Any, E> {
        self.0.checked_sub(1).map(Any).ok_or_else(|| E::custom("recursion limit exceeded"))
    }
}

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
    fn visit_bool<E>(self, flag: bool) -> Result<Value<'a>, E> {
        Ok(Value::Flag(flag))
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
        Ok(Value::Null)
    }
    fn visit_borrowed_str<E>(self, text: &'a str) -> Result<Value<'a>, E> {
        Ok(Value::Text(text.into()))
    }
    fn visit_str<E>(self, text: &str) -> Result<Value<'a>, E> {
        Ok(Value::Text(text.to_owned().into()))
    }
    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<Value<'a>, A::Error> {
        let below = self.below()?;
        while items.next_element_seed(below)?.is_some() {}
        Ok(Value::Other)
    }
    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Value<'a>, A::Error> {
        let below = self.below()?;
        let mut keys = Vec::new();
        while let Some(key) = map.next_key::<Text<'a>>()? {
            map.next_value_seed(below)?;
            keys.push(key);
        }
        refuse_doubles(&mut keys)?;
        Ok(Value::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOVES: [&str; 8] = [
        r#"{"type":"move","match":"m1","turn":3,"move":"11-15"}"#,
        r#"{"type":"move","match":"m1","seat":1,"turn":3,"move":"11-15","offer_draw":true}"#,
        r#"{"info": {"score":-3,"pv":["a","b"],"a":{"text":"\u00e9"},"b":{"text":1.5}} ,"type":"move","match":"m1","turn":3,"move":"11-15"}"#,
        r#"{"type":"move","match":"m1","turn":3,"move":"11-15","offer_draw":false,"info":[{}]}"#,
        r#"{"type":"move","match":"m1","seat":null,"turn":3,"move":"11-15","offer_draw":null,"info":null}"#,
        r#"{"type":"move","match":"\u006d1","turn":9007199254740991,"move":"\"","in\u0066o":"text"}"#,
        r#"{"type":"move","match":"m1","turn":3,"move":"11-15","id":7,"nonce":[],"mood":{"a":"good"}}"#,
        r#"{"type":"move","match":"m1","turn":3,"move":"11-15","id":"mine"}"#,
    ];

    fn shown(answer: &bot::Move<'_, &RawValue>) -> String {
        serde_json::to_string(answer).unwrap()
    }

    fn malformed(line: &str) -> String {
        match read(line.as_bytes(), true).1 {
            Err(Unreadable::Malformed(what)) => what,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// Lists in lists, so many levels.
    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn a_well_formed_move_is_read_once_and_says_what_its_type_says() {
        for line in MOVES {
            let (mut address, expected) = (Address::default(), serde_json::from_str(line).unwrap());
            let mut top = TopLevel::new(&mut address);
            top.read(line).unwrap();
            assert_eq!(top.well_formed_move().as_ref().map(shown), Some(shown(&expected)), "{line}");
            let message = read(line.as_bytes(), false).1;
            assert!(matches!(message, Ok(Incoming::Move(answer)) if shown(&answer) == shown(&expected)));
        }
    }

    #[test]
    fn a_field_of_another_type_is_malformed_and_the_address_is_kept_all_the_same() {
        for field in [
            r#""seat":256"#,
            r#""seat":"0""#,
            r#""turn":9007199254740992"#,
            r#""turn":-1"#,
            r#""turn":3.0"#,
            r#""turn":null"#,
            r#""move":null"#,
            r#""match":1"#,
            r#""offer_draw":1"#,
        ] {
            let name = field.split(':').next().unwrap();
            let others = [r#""match":"m1""#, r#""turn":3"#, r#""move":"11-15""#];
            let others = others.iter().filter(|other| !other.starts_with(name));
            let fields: Vec<&str> = others.copied().chain([field]).collect();
            let line = format!(r#"{{"type":"move",{}}}"#, fields.join(","));
            assert!(malformed(&line).starts_with("the line cannot be read: invalid "), "{line}");
            let address = read(line.as_bytes(), false).0;
            assert_eq!(address.match_id.as_deref(), Some("m1").filter(|_| name != r#""match""#));
            assert_eq!(address.turn, Some(3).filter(|_| name != r#""turn""#));
        }
    }

    #[test]
    fn no_key_stands_twice_at_any_depth() {
        for field in [
            r#""info":{"a":1,"a":2}"#,
            r#""info":{"pv":[[{"b":{}},{"\u0061":1,"b":2,"a":3}]]}"#,
            r#""info":{},"in\u0066o":{}"#,
            r#""offer_draw":true,"offer_draw":true"#,
            r#""mood":{"a":{"a":1,"a":2}}"#,
            r#""mood":1,"mood":1"#,
        ] {
            let line = format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15",{field}}}"#);
            let what = malformed(&line);
            assert!(what.contains("the key `") && what.contains("` stands twice at "), "{what}");
        }
    }

    #[test]
    fn json_nests_so_many_levels_wherever_it_stands() {
        for field in ["info", "mood"] {
            let line = |levels: usize| {
                let value = nested(levels - 1);
                format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15","{field}":{value}}}"#)
            };
            assert!(matches!(read(line(127).as_bytes(), false).1, Ok(Incoming::Move(_))), "{field}");
            assert!(malformed(&line(128)).contains("recursion limit exceeded"), "{field}");
        }
    }

    #[test]
    fn what_is_no_json_in_info_is_malformed() {
        for info in [r#""\ud800""#, "1e999", "{]", "{\"a\":01}", "\"\u{1}\"", "nul", ""] {
            malformed(&format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15","info":{info}}}"#));
        }
    }
}
