//! Writing the lines of the hot path without a tree in between.

use std::io::Write;

use serde::Serialize;

/// What an object begins with: its type.
macro_rules! opening {
    ($kind:literal) => {
        concat!("{\"type\":\"", $kind, "\"")
    };
}

/// A key with what stands around it. It is a constant, so that its bytes are stored and not copied.
macro_rules! key {
    ($name:literal) => {
        concat!(",\"", $name, "\":")
    };
}

pub(crate) use {key, opening};

/// An object that is being written.
pub struct Object<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Object<'a> {
    /// Begins with an `opening!`.
    #[inline(always)]
    pub fn open(out: &'a mut Vec<u8>, opening: &str) -> Object<'a> {
        out.extend_from_slice(opening.as_bytes());
        Object { out }
    }

    /// An object whose first fields are written already.
    pub fn go_on(out: &'a mut Vec<u8>) -> Object<'a> {
        Object { out }
    }

    #[inline(always)]
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        self.out.extend_from_slice(key.as_bytes());
        self.out
    }

    /// A word that needs no escape.
    pub fn word(&mut self, key: &str, word: &str) -> &mut Self {
        let out = self.key(key);
        out.push(b'"');
        out.extend_from_slice(word.as_bytes());
        out.push(b'"');
        self
    }

    /// A text. Hardly one needs an escape.
    pub fn text(&mut self, key: &str, text: &str) -> &mut Self {
        if text.bytes().all(is_plain) { self.word(key, text) } else { self.value(key, &text) }
    }

    /// A number.
    #[inline(always)]
    pub fn number(&mut self, key: &str, number: impl Into<u64>) -> &mut Self {
        decimal(self.key(key), number.into());
        self
    }

    /// JSON that is already there.
    pub fn raw(&mut self, key: &str, json: &[u8]) -> &mut Self {
        self.key(key).extend_from_slice(json);
        self
    }

    /// Anything else.
    pub fn value(&mut self, key: &str, value: &impl Serialize) -> &mut Self {
        write_value(self.key(key), value);
        self
    }

    /// The fields of another object, of which there is at least one.
    pub fn fields(&mut self, object: &impl Serialize) -> &mut Self {
        let brace = self.out.len();
        write_value(&mut *self.out, object);
        self.out[brace] = b',';
        self.out.pop();
        self
    }

    /// JSON that the caller writes.
    pub fn with(&mut self, key: &str, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        write(self.key(key));
        self
    }

    /// Ends the object and the line.
    pub fn end_line(&mut self) {
        self.out.extend_from_slice(b"}\n");
    }
}

/// Whether a byte of a text stands in JSON as it is.
pub fn is_plain(byte: u8) -> bool {
    !matches!(byte, b'"' | b'\\' | ..b' ')
}

/// Appends a value as JSON.
pub fn write_value(out: impl Write, value: &impl Serialize) {
    serde_json::to_writer(out, value)
        .unwrap_or_else(|error| unreachable!("our own types, into memory: {error}"));
}

/// Appends a message and the line's end.
pub fn write_line(mut out: impl Write, message: &impl Serialize) {
    write_value(&mut out, message);
    out.write_all(b"\n").unwrap_or_else(|error| unreachable!("into memory: {error}"));
}

/// Appends a number.
pub fn decimal(out: &mut Vec<u8>, number: u64) {
    // Most are: seats, turns, what the referee's own lag was.
    if number < 10 {
        return out.push(b'0' + number as u8);
    }
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
