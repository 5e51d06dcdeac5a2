//! Writes the lines of a record.
//!
//! Thousands of matches may be in progress, and most of the text of a record is the same in all its lines, or in an answer
//! and the event that follows from it. In memory, such a phrase is one control character, which does not occur in JSON text,
//! and the first line is the set-up that the match has. That takes a quarter of the space.

use std::ops::Range;
use std::sync::Arc;

use referee_game::clock::Tick;
use referee_game::json::{Object, key, opening};
use referee_game::seat::Seat;

use crate::setup::Header;

/// The record of a match so far.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The first line. It counts as one byte.
    header: Option<Arc<Header>>,
    lines: Vec<u8>,
    last_answer: Option<LastAnswer>,
}

/// The last answer, and where its move is in the packed lines.
#[derive(Clone, Debug)]
struct LastAnswer {
    at: Tick,
    seat: Seat,
    text: Range<usize>,
}

/// Declares phrases, each as a control character other than tab, line break and carriage return.
macro_rules! phrases {
    ($($(#[$doc:meta])* $name:ident = $character:literal => $text:expr;)*) => {
        $($(#[$doc])* const $name: &str = $character;)*

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
    REQUEST = "\u{1}" => concat!(opening!("request"), key!("at_us"));
    /// Begins the line of an answer.
    ANSWER = "\u{2}" => concat!(opening!("answer"), key!("at_us"));
    /// Begins the line of an event.
    EVENT = "\u{3}" => concat!(opening!("event"), key!("at_us"));
    /// The key of a time.
    AT = "\u{4}" => key!("at_us");
    SEAT = "\u{5}" => key!("seat");
    /// The key of a request's number.
    TURN = "\u{6}" => key!("turn");
    MOVE = "\u{7}" => key!("move");
    /// The key of the time that an answer took.
    TOOK = "\u{8}" => key!("took_us");
    /// The key of the referee's lag.
    LAG = "\u{e}" => key!("lag_us");
    /// The beginning of the event of a move, with the key of the event.
    MOVED = "\u{f}" => concat!(key!("event"), "{\"kind\":\"move\",\"seat\":");
}

/// The beginning of the event of a move as text.
const MOVED_TEXT: &[u8] = PHRASES[MOVED.as_bytes()[0] as usize].as_bytes();

/// Stands for the line of the event with the move of the last answer, without its line break.
const MADE: u8 = 0x10;

/// The length of the longest phrase, or more.
const LONGEST: usize = 32;

/// Initial capacity, in bytes: enough for about 60 decisions.
const FIRST: usize = 3_584;
/// The space below which a line may not fit.
const LINE: usize = 128;

impl Log {
    /// Begins a record with its first line.
    pub(super) fn open(header: Arc<Header>) -> Log {
        Log { header: Some(header), lines: Vec::with_capacity(FIRST), last_answer: None }
    }

    /// Begins a line of this kind. The caller adds fields and ends the line.
    #[inline(always)]
    pub(super) fn line(&mut self, kind: &str, at: Tick) -> Object<'_> {
        self.reserve_line();
        let mut line = Object::open(&mut self.lines, kind);
        line.number(AT, at.0);
        line
    }

    /// Adds the line of a request.
    #[inline(always)]
    pub(super) fn request(&mut self, at: Tick, seat: Seat, turn: u32) {
        self.reserve_line();
        let mut line = Object::open(&mut self.lines, REQUEST);
        line.number("", at.0).number(SEAT, seat.0).number(TURN, turn).end_line();
    }

    /// Begins the line of an answer, with the time that it took and the referee's lag in it. The caller may add fields and
    /// ends the line.
    #[inline(always)]
    pub(super) fn answer(
        &mut self,
        at: Tick,
        seat: Seat,
        turn: u32,
        text: &str,
        took: u64,
        lag: u64,
    ) -> Object<'_> {
        self.reserve_line();
        Object::open(&mut self.lines, ANSWER).number("", at.0).number(SEAT, seat.0).number(TURN, turn);
        let start = self.lines.len() + MOVE.len();
        Object::resume(&mut self.lines).text(MOVE, text);
        self.last_answer = Some(LastAnswer { at, seat, text: start..self.lines.len() });
        let mut line = Object::resume(&mut self.lines);
        line.number(TOOK, took).number(LAG, lag);
        line
    }

    /// Adds the line of an event.
    pub(super) fn event(&mut self, at: Tick, write: impl FnOnce(&mut Vec<u8>)) {
        self.reserve_line();
        let line = self.lines.len();
        Object::open(&mut self.lines, EVENT).number("", at.0);
        let event = self.lines.len();
        Object::resume(&mut self.lines).with(key!("event"), write).end_line();
        if self.is_last_answer(at, event) {
            self.lines.truncate(line);
            self.lines.extend([MADE, b'\n']);
            return;
        }
        if self.lines[event..].starts_with(MOVED_TEXT) {
            self.lines.drain(event..event + MOVED_TEXT.len() - 1);
            self.lines[event] = MOVED.as_bytes()[0];
            // After the digit of the seat.
            let key = event + 2;
            if self.lines[key..].starts_with(key!("move").as_bytes()) {
                self.lines.drain(key..key + key!("move").len() - 1);
                self.lines[key] = MOVE.as_bytes()[0];
            }
        }
    }

    /// Returns whether the event at a position is the move of the last answer.
    fn is_last_answer(&self, at: Tick, event: usize) -> bool {
        let Some(answer) = self.last_answer.as_ref().filter(|answer| answer.at == at) else { return false };
        let (lines, event) = self.lines.split_at(event);
        event
            .strip_prefix(MOVED_TEXT)
            .and_then(|event| event.strip_prefix(&[b'0' + answer.seat.0]))
            .and_then(|event| event.strip_prefix(key!("move").as_bytes()))
            .is_some_and(|event| event.strip_suffix(b"}}\n") == Some(&lines[answer.text.clone()]))
    }

    #[inline(always)]
    fn reserve_line(&mut self) {
        if self.lines.capacity() - self.lines.len() < LINE {
            // By a quarter: by default it would double.
            self.lines.reserve_exact(LINE + self.lines.len() / 4);
        }
    }

    /// The size in memory, in bytes, without the set-up of the match. Positions in the record are counted like this.
    pub fn len(&self) -> usize {
        usize::from(self.header.is_some()) + self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(1024 + 4 * self.len());
        self.write_text(0, &mut text);
        text
    }

    /// Appends the text of the lines from a position on.
    pub fn write_text(&self, from: usize, out: &mut Vec<u8>) {
        let mut from = from;
        if let Some(header) = &self.header {
            if from == 0 {
                write_header(header, out);
            }
            from = from.saturating_sub(1);
        }
        self.unpack(from, self.lines.len(), out);
    }

    /// Appends the text of the line at a position, without its line break. Returns the position of the next line; `None` if
    /// there is no line.
    pub(crate) fn line_at(&self, from: usize, out: &mut Vec<u8>) -> Option<usize> {
        let header = usize::from(self.header.is_some());
        if let Some(header) = self.header.as_ref().filter(|_| from == 0) {
            write_header(header, out);
            out.pop();
            return Some(1);
        }
        let from = from - header;
        let end = from + self.lines[from..].iter().position(|&byte| byte == b'\n')?;
        self.unpack(from, end, out);
        Some(header + end + 1)
    }

    pub(super) fn clear(&mut self) {
        (self.header, self.last_answer) = (None, None);
        self.lines.clear();
    }

    /// Appends the text of packed lines.
    fn unpack(&self, from: usize, to: usize, out: &mut Vec<u8>) {
        for (position, &byte) in (from..).zip(&self.lines[from..to]) {
            match PADDED.get(usize::from(byte)) {
                Some((text, length @ 1..)) => {
                    // A copy of constant length is faster.
                    let end = out.len() + length;
                    out.extend_from_slice(text);
                    out.truncate(end);
                }
                _ if byte == MADE => self.unpack_made(position, out),
                _ => out.push(byte),
            }
        }
    }

    /// Appends the event with the move of the last answer before a position.
    fn unpack_made(&self, position: usize, out: &mut Vec<u8>) {
        let before = &self.lines[..position];
        let answer = before.iter().rposition(|&byte| byte == ANSWER.as_bytes()[0]).unwrap_or(position);
        // After nothing: time, seat, turn, move.
        let mut fields = before[answer..].split(u8::is_ascii_control);
        let (at, seat, text) = (fields.nth(1), fields.next(), fields.nth(1));
        let event = concat!(opening!("event"), key!("at_us")).as_bytes();
        let move_key = key!("move").as_bytes();
        for part in [Some(event), at, Some(MOVED_TEXT), seat, Some(move_key), text, Some(b"}}")] {
            out.extend_from_slice(part.unwrap_or_default());
        }
    }
}

fn write_header(header: &Header, out: &mut Vec<u8>) {
    Object::open(out, opening!("record")).fields(header).end_line();
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

    fn lines(log: &Log) -> Vec<String> {
        let text = String::from_utf8(log.text()).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // The lines are parsed in sequence, and from each line on.
        let (mut next, mut position) = (Vec::new(), Some(0));
        while let Some(from) = position {
            let mut rest = Vec::new();
            log.write_text(from, &mut rest);
            let expected: String = lines[next.len()..].iter().map(|line| format!("{line}\n")).collect();
            assert_eq!(String::from_utf8(rest).unwrap(), expected);
            let mut line = Vec::new();
            position = log.line_at(from, &mut line);
            if position.is_some() {
                next.push(String::from_utf8(line).unwrap());
            }
        }
        assert_eq!(next, lines);
        lines
    }

    fn event(log: &mut Log, at: u64, text: &str) {
        log.event(Tick(at), |out| out.extend_from_slice(text.as_bytes()));
    }

    #[test]
    fn phrases_are_written_as_text_and_take_one_byte() {
        let header = concat!(
            r#""format":2,"referee":"referee/0.1.0","match":"m1","game":"checkers","rules":1,"options":{},"seats":[],"#,
            r#""clock":null,"margin_ms":0,"on_fault":"forfeit","deal":"m1","commitment":"","nonce":true,"auto_ready":false,"#,
            r#""limits":{"strays":20,"move_chars":256,"info_bytes":4096,"info_per_match_bytes":1048576,"nonce_bytes":64,"#,
            r#""fallback_moves":64,"opening_plies":100,"opening_tries":1000}}"#,
        );
        let mut log = Log::open(Arc::new(serde_json::from_str(&format!("{{{header}")).unwrap()));
        log.request(Tick(3), Seat(1), 12);
        log.answer(Tick(7), Seat(1), 12, "1-5", 4, 0).raw(key!("info"), b"{\t}").end_line();
        event(&mut log, 8, r#"{"kind":"move","seat":1,"move":"1-5"}"#);
        event(&mut log, 9, r#"{"kind":"drawn"}"#);
        let others = [
            r#"{"type":"request","at_us":3,"seat":1,"turn":12}"#,
            "{\"type\":\"answer\",\"at_us\":7,\"seat\":1,\"turn\":12,\"move\":\"1-5\",\"took_us\":4,\"lag_us\":0,\"info\":{\t}}",
            r#"{"type":"event","at_us":8,"event":{"kind":"move","seat":1,"move":"1-5"}}"#,
            r#"{"type":"event","at_us":9,"event":{"kind":"drawn"}}"#,
        ];
        let written = lines(&log);
        assert_eq!(written[0], format!(r#"{{"type":"record",{header}"#));
        assert_eq!(written[1..], others);
        assert!(log.len() < 100, "{}", log.len());
        log.clear();
        assert!(log.is_empty() && log.text().is_empty());
    }

    #[test]
    fn the_event_of_the_last_answer_takes_one_byte() {
        let mut log = Log::default();
        let at = 1_000_000;
        let text = |seat, text| format!(r#"{{"kind":"move","seat":{seat},"move":"{text}"}}"#);
        log.answer(Tick(at), Seat(1), 0, "1-5", 4, 0).end_line();
        let mut length = log.len();
        // The time, the seat and the move differ; what follows the move differs.
        for (at, event_text) in [
            (at + 1, text(1, "1-5")),
            (at, text(0, "1-5")),
            (at, text(1, "1-6")),
            (at, text(1, "1-")),
            (at, text(1, "1-55")),
            (at, r#"{"kind":"move","seat":1,"move":"1-5","crowned":true}"#.to_owned()),
        ] {
            event(&mut log, at, &event_text);
            assert!(log.len() > length + 15, "{event_text}");
            length = log.len();
            let expected = format!(r#"{{"type":"event","at_us":{at},"event":{event_text}}}"#);
            assert_eq!(lines(&log).last(), Some(&expected));
        }
        event(&mut log, at, &text(1, "1-5"));
        assert_eq!(log.len(), length + 2);
        let written = lines(&log);
        assert_eq!(written[7], format!(r#"{{"type":"event","at_us":{at},"event":{}}}"#, text(1, "1-5")));
    }

    #[test]
    fn phrases_are_control_characters_that_json_text_does_not_contain() {
        let mut used: Vec<usize> =
            (0..32).filter(|&character: &usize| !PHRASES[character].is_empty()).collect();
        assert!(used.len() > 5 && !used.contains(&usize::from(MADE)));
        used.push(usize::from(MADE));
        assert!(used.into_iter().all(|character| ![0, 9, 10, 13].contains(&character)));
    }
}
