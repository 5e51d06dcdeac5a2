//! Writes the lines of a record.
//!
//! Thousands of matches may be in progress, and most of the text of a record is the same in all its lines. In memory, such
//! a phrase is one control character, which does not occur in JSON text. That takes a third of the space.

use crate::core::clock::Tick;
use crate::core::json::{Object, key, opening};

/// The record of a match so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log(Vec<u8>);

/// Declares phrases, each as a control character other than tab, line break and carriage return.
macro_rules! phrases {
    ($($(#[$doc:meta])* $name:ident = $character:literal => $text:expr;)*) => {
        $($(#[$doc])* pub(super) const $name: &str = $character;)*

        const PHRASES: [&str; 32] = {
            let mut phrases = [""; 32];
            $(
                assert!(phrases[$name.as_bytes()[0] as usize].is_empty(), "a character has one phrase");
                phrases[$name.as_bytes()[0] as usize] = $text;
            )*
            phrases
        };
    };
}

phrases! {
    /// Begins the line of a request.
    REQUEST = "\u{1}" => opening!("request");
    /// Begins the line of an answer.
    ANSWER = "\u{2}" => opening!("answer");
    /// Begins the line of an event.
    EVENT = "\u{3}" => opening!("event");
    /// The key of a time.
    AT = "\u{4}" => key!("at_us");
    /// The key of a seat.
    SEAT = "\u{5}" => key!("seat");
    /// The key of a request's number.
    TURN = "\u{6}" => key!("turn");
    /// The key of a move.
    MOVE = "\u{7}" => key!("move");
    /// The key of the time that an answer took.
    TOOK = "\u{8}" => key!("took_us");
    /// The key of the referee's lag.
    LAG = "\u{e}" => key!("lag_us");
    /// The beginning of the event of a move, with the key of the event.
    MOVED = "\u{f}" => concat!(key!("event"), "{\"kind\":\"move\",\"seat\":");
}

/// The length of the longest phrase, or more.
const LONGEST: usize = 32;

/// Initial capacity, in bytes: enough for about 60 decisions.
const FIRST: usize = 5_888;
/// With less space than this, a line may not fit.
const LINE: usize = 256;

impl Log {
    /// Begins a record with the fields of its first line.
    pub(super) fn open(header: &impl serde::Serialize) -> Log {
        let mut log = Log(Vec::with_capacity(FIRST));
        Object::open(&mut log.0, opening!("record")).fields(header).end_line();
        log
    }

    /// Begins a line of this kind. The caller adds fields and ends the line.
    #[inline(always)]
    pub(super) fn line(&mut self, kind: &str, at: Tick) -> Object<'_> {
        if self.0.capacity() - self.0.len() < LINE {
            // By a quarter: by default it would double.
            self.0.reserve_exact(LINE + self.0.len() / 4);
        }
        let mut line = Object::open(&mut self.0, kind);
        line.number(AT, at.0);
        line
    }

    /// Adds the line of an event.
    pub(super) fn event(&mut self, at: Tick, write: impl FnOnce(&mut Vec<u8>)) {
        self.line(EVENT, at);
        let start = self.0.len();
        Object::resume(&mut self.0).with(key!("event"), write).end_line();
        let moved = PHRASES[usize::from(MOVED.as_bytes()[0])].as_bytes();
        if self.0[start..].starts_with(moved) {
            self.0.drain(start..start + moved.len() - 1);
            self.0[start] = MOVED.as_bytes()[0];
            // After the digit of the seat.
            let key = start + 2;
            if self.0[key..].starts_with(key!("move").as_bytes()) {
                self.0.drain(key..key + key!("move").len() - 1);
                self.0[key] = MOVE.as_bytes()[0];
            }
        }
    }

    /// Its size in memory, in bytes. Positions in the record are counted like this.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no lines.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lines as text.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(4 * self.len());
        self.write_text(0, &mut text);
        text
    }

    /// Appends the text of the lines from a position on.
    pub fn write_text(&self, from: usize, out: &mut Vec<u8>) {
        write_text(&self.0[from..], out);
    }

    /// Appends the text of the line at a position, without its line break. Returns the position of the next line; `None` if
    /// there is no line.
    pub(crate) fn line_at(&self, from: usize, out: &mut Vec<u8>) -> Option<usize> {
        let rest = &self.0[from..];
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        write_text(&rest[..end], out);
        Some(from + end + 1)
    }

    /// Removes all lines.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

fn write_text(packed: &[u8], out: &mut Vec<u8>) {
    for &byte in packed {
        match PADDED.get(usize::from(byte)) {
            Some((text, length @ 1..)) => {
                // A copy of constant length is faster.
                let end = out.len() + length;
                out.extend_from_slice(text);
                out.truncate(end);
            }
            _ => out.push(byte),
        }
    }
}

/// The phrases, padded to the same length, with their lengths.
static PADDED: [([u8; LONGEST], usize); 32] = {
    let mut padded = [([0; LONGEST], 0); 32];
    let mut character = 0;
    while character < padded.len() {
        let text = PHRASES[character].as_bytes();
        let (prefix, _) = padded[character].0.split_at_mut(text.len());
        prefix.copy_from_slice(text);
        padded[character].1 = text.len();
        character += 1;
    }
    padded
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_written_as_text_and_take_one_byte() {
        let mut log = Log::open(&serde_json::json!({"format": 2}));
        log.line(ANSWER, Tick(7)).number(SEAT, 1u8).text(MOVE, "1-5").raw(key!("info"), b"{\t}").end_line();
        log.event(Tick(8), |out| out.extend(b"{\"kind\":\"move\",\"seat\":1,\"move\":\"1-5\"}"));
        log.event(Tick(9), |out| out.extend(b"{\"kind\":\"drawn\"}"));
        let lines = [
            r#"{"type":"record","format":2}"#,
            "{\"type\":\"answer\",\"at_us\":7,\"seat\":1,\"move\":\"1-5\",\"info\":{\t}}",
            r#"{"type":"event","at_us":8,"event":{"kind":"move","seat":1,"move":"1-5"}}"#,
            r#"{"type":"event","at_us":9,"event":{"kind":"drawn"}}"#,
        ];
        assert_eq!(String::from_utf8(log.text()).unwrap(), lines.map(|line| format!("{line}\n")).concat());
        let mut next = Some(0);
        for line in lines {
            let mut text = Vec::new();
            next = log.line_at(next.unwrap(), &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), line);
        }
        assert_eq!((next, log.line_at(log.len(), &mut Vec::new())), (Some(log.len()), None));
        assert!(log.len() < 130, "{}", log.len());
    }

    #[test]
    fn phrases_are_control_characters_that_json_text_does_not_contain() {
        let used = (0..32).filter(|&character: &usize| !PHRASES[character].is_empty());
        assert!(used.clone().count() > 5);
        assert!(used.into_iter().all(|character| ![0, 9, 10, 13].contains(&character)));
    }
}
