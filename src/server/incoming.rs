//! Parses messages strictly: one JSON object per line, without duplicate keys at any depth.

use referee_protocol::bot;
use referee_protocol::words::ErrorCode;
use referee_protocol::{MAX_INTEGER, Text};
use serde_json::value::RawValue;

use crate::core::excerpt::excerpt;
use crate::core::json;
use crate::referee::{Detail, Field, RefusedLine};
use crate::server::json_scanner::{JsonScanner, Value};

/// A message from a bot.
pub(crate) type Incoming<'a> = bot::FromBot<'a, &'a RawValue>;

/// The address of a line: whatever could be read of it, even if the line is not a valid message.
#[derive(Debug, Default)]
pub(crate) struct Address<'a> {
    pub(crate) match_id: Option<Text<'a>>,
    pub(crate) seat: Option<u8>,
    pub(crate) turn: Option<u64>,
    /// The id of an `open`.
    pub(crate) id: Option<Text<'a>>,
}

/// Why a line is not a valid message.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// Not a JSON object of the protocol. It counts as an answer.
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
    pub(crate) fn refusal(self) -> (RefusedLine, String) {
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

/// Parses a line.
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
    let kind = read_address(text, address)
        .map_err(|flaw| Unreadable::Malformed(Detail::Unreadable { error: excerpt(&flaw, 160).into() }))?;
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
    let fields: [(Field, &str, Fits); 9] = [
        (Field::Protocol, "protocol", |value| value.is_u64()),
        (Field::Name, "name", |value| value.is_string()),
        (Field::Version, "version", |value| value.is_string()),
        (Field::Author, "author", |value| value.is_string()),
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
    let mut rest = Plain(line);
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

/// The rest of a line.
struct Plain<'a>(&'a [u8]);

impl<'a> Plain<'a> {
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

    /// An object.
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
fn read_address<'a>(text: &'a str, address: &mut Address<'a>) -> Result<Option<Text<'a>>, String> {
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
            Err(Unreadable::Malformed(what)) => what.to_string(),
            other => panic!("{line}: {other:?}"),
        }
    }

    /// Nested lists with this many levels.
    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn a_plain_move_parses_as_serde_reads_it() {
        for line in MOVES {
            let expected = serde_json::from_str(line).unwrap();
            let message = read(line.as_bytes(), false).1;
            assert!(
                matches!(message, Ok(Incoming::Move(answer)) if shown(&answer) == shown(&expected)),
                "{line}"
            );
        }
    }

    /// The line with each ASCII character removed, replaced by, and preceded by each ASCII character.
    fn misspelt(line: &str) -> impl Iterator<Item = String> {
        let places = line.char_indices().filter(|(_, there)| there.is_ascii());
        places.flat_map(move |(at, _)| {
            let other = move |left_out: usize, there: &str| {
                format!("{}{there}{}", &line[..at], &line[at + left_out..])
            };
            let others = ('\0'..='\x7f')
                .flat_map(move |byte| [0, 1].map(|left_out| other(left_out, &byte.to_string())));
            others.chain([other(1, "")])
        })
    }

    #[test]
    fn the_fast_parser_agrees_with_the_strict_parser() {
        let strictly = |line: &str| {
            let mut address = Address::default();
            let message = read_strictly(line.as_bytes(), false, &mut address);
            (message.ok().map(|message| serde_json::to_string(&message).unwrap()), format!("{address:?}"))
        };
        for line in [
            r#"{"type":"move","match":"m1","seat":255,"turn":3,"move":"11-15"}"#,
            r#"{"type": "move", "turn": 0, "match": "m1", "move": "11-15"}"#,
            r#"{"match":"é","move":"","turn":9007199254740991,"type":"move"}"#,
            r#"{"type":"move","turn":3,"info": {"a":[-1.5e3,"\u00e9\""], "b":{"b":{}},"c":null},"match":"m1","move":"11-15"}"#,
        ] {
            assert!(plain_move(line.as_bytes()).is_some(), "{line}");
            for line in misspelt(line).chain([line.to_owned()]) {
                if let Some(answer) = plain_move(line.as_bytes()) {
                    let (message, address) = strictly(&line);
                    assert_eq!(message, serde_json::to_string(&Incoming::Move(answer)).ok(), "{line}");
                    let addressed = format!("{:?}", read(line.as_bytes(), false).0);
                    assert_eq!(address, addressed, "{line}");
                }
            }
        }
        for field in [
            r#""type":"move""#,
            r#""match":"m1""#,
            r#""seat":1"#,
            r#""turn":3"#,
            r#""move":"11-15""#,
            r#""info":{}"#,
        ] {
            let line = r#"{"type":"move","match":"m1","seat":1,"turn":3,"move":"11-15","info":{}"#;
            let line = format!("{line},{field}}}");
            assert!(plain_move(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn a_field_of_the_wrong_type_is_malformed_and_keeps_the_address() {
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
    fn duplicate_keys_are_rejected_at_any_depth() {
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
            assert!(what.contains("duplicate key `") && what.contains("` at "), "{what}");
        }
    }

    #[test]
    fn nesting_is_limited_at_any_position() {
        for field in ["info", "mood"] {
            let line = |value: String| {
                format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15","{field}":{value}}}"#)
            };
            let list = |levels: usize| line(nested(levels - 1));
            let object = |levels: usize| line(format!(r#"{{"a":{}}}"#, nested(levels - 2)));
            for (deep, too_deep) in [(list(127), list(128)), (object(127), object(128))] {
                assert!(matches!(read(deep.as_bytes(), false).1, Ok(Incoming::Move(_))), "{field}");
                assert!(malformed(&too_deep).contains("recursion limit exceeded"), "{field}");
            }
        }
    }

    #[test]
    fn invalid_json_in_info_is_malformed() {
        for info in [
            r#""\ud800""#,
            r#"{"a":"\ud800"}"#,
            "{\"a\":1e}",
            "-",
            "1.",
            "{]",
            "{\"a\":01}",
            "\"\u{1}\"",
            "nul",
            "",
        ] {
            malformed(&format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15","info":{info}}}"#));
        }
    }

    #[test]
    fn numbers_of_any_size_are_accepted() {
        let digits = "9".repeat(400);
        for number in ["1e999", "-1e999", "1E+400", "-0", "0.5e-999", "18446744073709551616", &digits] {
            for field in [
                format!(r#""info":{number}"#),
                format!(r#""info":{{"score":{number}}}"#),
                format!(r#""info":{{"pv":[[{number}],{{"a":{number}}}]}}"#),
                format!(r#""mood":{number}"#),
                format!(r#""mood":[{number}]"#),
            ] {
                let line = format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15",{field}}}"#);
                let message = read(line.as_bytes(), false).1;
                assert!(matches!(message, Ok(Incoming::Move(_))), "{line}: {message:?}");
            }
            let line = format!(r#"{{"type":"move","match":"m1","turn":{number},"move":"11-15"}}"#);
            if number != "-0" {
                assert!(malformed(&line).starts_with("the line cannot be read: "), "{line}");
            }
            let line = format!(r#"{{"type":"hello","protocol":1,"name":"bot","mood":{number}}}"#);
            assert!(matches!(read(line.as_bytes(), false).1, Ok(Incoming::Hello(_))), "{line}");
        }
    }

    #[test]
    fn the_scanner_agrees_with_serde_except_on_numbers_and_duplicate_keys() {
        let sound = r#"{"a":[1,-2.5e3,true,false,null,"x\u00e9\n"],"b":{"c":{}, "d" : [ ]},"e":0}"#;
        for line in misspelt(sound).chain([sound.to_owned()]) {
            let scanned = JsonScanner::within(0, &line).object(|_, _| ());
            let by_serde = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&line);
            match (&scanned, &by_serde) {
                (Ok(()), Ok(_)) | (Err(_), Err(_)) => {}
                (Err(what), Ok(_)) => assert!(what.contains("duplicate key"), "{line}: {what}"),
                (Ok(()), Err(error)) => {
                    assert!(error.to_string().contains("out of range"), "{line}: {error}");
                }
            }
        }
    }
}
