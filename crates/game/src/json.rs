//! Writes JSON lines directly into buffers, without an intermediate tree, for the hot path.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::printable::is_active;

/// The beginning of an object with its `type`.
#[macro_export]
macro_rules! opening {
    ($kind:literal) => {
        concat!("{\"type\":\"", $kind, "\"")
    };
}

/// A key with its separator, quotes and colon, as a constant.
#[macro_export]
macro_rules! key {
    ($name:literal) => {
        concat!(",\"", $name, "\":")
    };
}

#[doc(inline)]
pub use crate::{key, opening};

#[derive(Debug)]
pub struct Object<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Object<'a> {
    /// Begins an object with an `opening!`.
    #[inline(always)]
    pub fn open(out: &'a mut Vec<u8>, opening: &str) -> Object<'a> {
        out.extend_from_slice(opening.as_bytes());
        Object { out }
    }

    /// Continues an object whose first fields have been written.
    pub fn resume(out: &'a mut Vec<u8>) -> Object<'a> {
        Object { out }
    }

    #[inline(always)]
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        self.out.extend_from_slice(key.as_bytes());
        self.out
    }

    /// Writes a string that needs no escaping.
    #[inline]
    pub fn word(&mut self, key: &str, word: &str) -> &mut Self {
        let out = self.key(key);
        out.push(b'"');
        out.extend_from_slice(word.as_bytes());
        out.push(b'"');
        self
    }

    /// Writes a string, escaped where needed.
    pub fn text(&mut self, key: &str, text: &str) -> &mut Self {
        if text.bytes().all(is_plain) { self.word(key, text) } else { self.value(key, &text) }
    }

    #[inline(always)]
    pub fn number(&mut self, key: &str, number: impl Into<u64>) -> &mut Self {
        decimal(self.key(key), number.into());
        self
    }

    /// Writes JSON text as it is.
    #[inline]
    pub fn raw(&mut self, key: &str, json: &[u8]) -> &mut Self {
        self.key(key).extend_from_slice(json);
        self
    }

    /// Writes any serializable value.
    pub fn value(&mut self, key: &str, value: &impl Serialize) -> &mut Self {
        write_value(self.key(key), value);
        self
    }

    /// Writes the fields of another object, which must have at least one field.
    pub fn fields(&mut self, object: &impl Serialize) -> &mut Self {
        let brace = self.out.len();
        write_value(&mut *self.out, object);
        self.out[brace] = b',';
        self.out.pop();
        self
    }

    /// Lets the caller write the value as JSON.
    pub fn with(&mut self, key: &str, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        write(self.key(key));
        self
    }

    /// Writes the closing brace and a line feed.
    #[inline]
    pub fn end_line(&mut self) {
        self.out.extend_from_slice(b"}\n");
    }
}

/// Returns whether a byte needs no escaping. Lead bytes of non-ASCII active characters in UTF-8 do not count
/// as plain.
pub fn is_plain(byte: u8) -> bool {
    !matches!(byte, b'"' | b'\\' | ..b' ' | 0x7f | 0xc2 | 0xd8 | 0xe2)
}

/// Escapes active characters (see [`is_active`]) inside the strings of JSON text, and drops carriage returns between
/// tokens. The result is one line for every reader and safe to print on a terminal.
pub fn escaped(json: &str) -> Cow<'_, str> {
    if json.bytes().all(|byte| byte != b'\r' && byte < 0x7f) || !json.contains(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match c {
            '\r' => {}
            c if is_escaped(c) => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Returns whether a character has to be escaped. In valid JSON, tabs and line breaks occur only between tokens, and DEL is
/// the only ASCII control character in strings.
fn is_escaped(c: char) -> bool {
    c == '\r' || (c >= '\x7f' && is_active(c))
}

/// A serde_json formatter for compact JSON, [`escaped`].
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        out.write_all(escaped(fragment).as_bytes())
    }

    fn write_raw_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        out.write_all(escaped(fragment).as_bytes())
    }
}

/// Appends a value as JSON, [`escaped`].
pub fn write_value(out: impl Write, value: &impl Serialize) {
    value
        .serialize(&mut Serializer::with_formatter(out, Escaping))
        .unwrap_or_else(|error| unreachable!("our own types, into memory: {error}"));
}

/// Returns a value as JSON, [`escaped`].
pub fn text(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    write_value(&mut out, value);
    String::from_utf8(out).unwrap_or_else(|error| unreachable!("JSON is UTF-8: {error}"))
}

/// Appends a message and a line break.
pub fn write_line(mut out: impl Write, message: &impl Serialize) {
    write_value(&mut out, message);
    out.write_all(b"\n").unwrap_or_else(|error| unreachable!("into memory: {error}"));
}

/// Appends a number in decimal.
#[inline]
pub fn decimal(out: &mut Vec<u8>, number: u64) {
    // Fast path: most numbers have one digit (seats, turns, lag).
    if number < 10 {
        return out.push(b'0' + number as u8);
    }
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn every_reader_sees_one_line() {
        let ends = "\r\n\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}";
        let active = "\u{1b}\u{7f}\u{9b}\u{202e}\u{2066}\u{61c}";
        let value = format!("{ends}{active}\u{e9}");
        let mut line = Vec::new();
        Object::open(&mut line, opening!("x")).text(key!("a"), &value).value(key!("b"), &value).end_line();
        let line = String::from_utf8(line).unwrap();
        let body = line.strip_suffix('\n').unwrap();
        assert!(!body.contains(is_active), "{body}");
        let read: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!([&read["a"], &read["b"]], [&*value, &*value]);
    }

    #[test]
    fn raw_json_of_a_bot_becomes_one_equivalent_line() {
        let given = "{\r\"a\u{2028}\":\r[\"\u{85}\",\t1]\r}";
        let raw: Box<RawValue> = serde_json::from_str(given).unwrap();
        let line = text(&raw);
        assert_eq!(line, "{\"a\\u2028\":[\"\\u0085\",\t1]}");
        assert_eq!(escaped(&line), line);
        let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(read(&line), read(given));
    }
}
