//! A strict JSON scanner (RFC 8259). It rejects duplicate keys, lone surrogates and deep nesting.

use std::borrow::Cow;
use std::collections::BTreeSet;

use referee_protocol::Text;

use crate::excerpt::excerpt;

/// The maximum nesting depth of messages of bots.
const LEVELS: usize = 127;
/// A number of at most this many characters without an exponent fits into a double.
const PLAIN_NUMBER: usize = 300;
/// The characters of a key that an error quotes.
const QUOTED: usize = 40;

/// A value: strings and plain integers are returned, others are only validated.
#[derive(Debug)]
pub enum Value<'a> {
    Text(Text<'a>),
    /// A number without sign, fraction or exponent, and below 2^64.
    Number(u64),
    Other,
}

#[derive(Debug, thiserror::Error)]
#[error("{flaw} at line 1 column {column}")]
pub struct ScanError {
    flaw: Cow<'static, str>,
    /// Counted from 1.
    column: usize,
    /// The keys and the indices in lists that lead to the value, the innermost first.
    path: Vec<String>,
}

impl ScanError {
    /// The way to the value that is wrong, such as `turn.decide[0].view`; empty for the text itself.
    pub fn path(&self) -> String {
        let path: String = self.path.iter().rev().map(String::as_str).collect();
        path.strip_prefix('.').map(str::to_owned).unwrap_or(path)
    }

    fn in_field(mut self, key: &str) -> ScanError {
        self.path.push(format!(".{}", excerpt(key, QUOTED).escape_debug()));
        self
    }

    fn in_item(mut self, index: usize) -> ScanError {
        self.path.push(format!("[{index}]"));
        self
    }
}

const TOO_SHORT: &str = "the line ends too early";

/// A scanner at a position of a text.
#[derive(Debug)]
pub struct JsonScanner<'a> {
    text: &'a str,
    at: usize,
    /// The current nesting depth.
    levels: usize,
    /// The maximum nesting depth of a text in which all numbers fit into a double; `None` for messages of bots.
    portable: Option<usize>,
}

impl<'a> JsonScanner<'a> {
    /// Scans a text that is nested at this depth. Numbers of any size are valid, since they are not evaluated.
    pub fn within(levels: usize, text: &'a str) -> JsonScanner<'a> {
        JsonScanner { text, at: 0, levels, portable: None }
    }

    /// Scans a text that all parsers have to read: nested at most this deep, with numbers that fit into a double
    /// (I-JSON, RFC 7493).
    pub fn portable(most_levels: usize, text: &'a str) -> JsonScanner<'a> {
        JsonScanner { portable: Some(most_levels), ..JsonScanner::within(0, text) }
    }

    /// Scans the whole text as one object, and passes its fields on in order.
    ///
    /// # Errors
    /// The first flaw.
    pub fn object(mut self, mut each: impl FnMut(&str, Value<'a>)) -> Result<(), ScanError> {
        self.space();
        self.fields(&mut each)?;
        self.space();
        if self.at < self.text.len() { Err(self.flaw("trailing characters")) } else { Ok(()) }
    }

    fn flaw(&self, flaw: impl Into<Cow<'static, str>>) -> ScanError {
        ScanError { flaw: flaw.into(), column: self.at + 1, path: Vec::new() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), ScanError> {
        self.space();
        if self.take(byte) {
            return Ok(());
        }
        let is_over = self.at == self.text.len();
        Err(match is_over {
            true => self.flaw(TOO_SHORT),
            false => self.flaw(format!("expected `{}`", char::from(byte))),
        })
    }

    fn enter(&mut self) -> Result<(), ScanError> {
        self.levels += 1;
        match self.portable {
            Some(most) if self.levels > most => {
                Err(self.flaw(format!("more than {most} lists and objects inside each other")))
            }
            None if self.levels > LEVELS => Err(self.flaw("recursion limit exceeded")),
            _ => Ok(()),
        }
    }

    fn fields(&mut self, each: &mut dyn FnMut(&str, Value<'a>)) -> Result<(), ScanError> {
        self.expect(b'{')?;
        self.enter()?;
        self.space();
        let mut keys = BTreeSet::new();
        if !self.take(b'}') {
            loop {
                self.space();
                let key = self.string()?;
                self.expect(b':')?;
                if keys.contains(&key) {
                    return Err(self.flaw(format!("duplicate key `{key}`")));
                }
                let value = self.value().map_err(|error| error.in_field(&key))?;
                each(&key, value);
                keys.insert(key);
                self.space();
                if !self.take(b',') {
                    break;
                }
            }
            self.expect(b'}')?;
        }
        self.levels -= 1;
        Ok(())
    }

    fn items(&mut self) -> Result<(), ScanError> {
        self.expect(b'[')?;
        self.enter()?;
        self.space();
        if !self.take(b']') {
            for index in 0.. {
                self.value().map_err(|error| error.in_item(index))?;
                self.space();
                if !self.take(b',') {
                    break;
                }
            }
            self.expect(b']')?;
        }
        self.levels -= 1;
        Ok(())
    }

    fn value(&mut self) -> Result<Value<'a>, ScanError> {
        self.space();
        match self.peek() {
            Some(b'{') => self.fields(&mut |_, _| ()).map(|()| Value::Other),
            Some(b'[') => self.items().map(|()| Value::Other),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => {
                let rest = &self.text[self.at..];
                let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word));
                self.at += word.ok_or_else(|| self.flaw("expected a value"))?.len();
                Ok(Value::Other)
            }
            None => Err(self.flaw(TOO_SHORT)),
        }
    }

    fn string(&mut self) -> Result<Text<'a>, ScanError> {
        self.expect(b'"')?;
        let begin = self.at;
        let mut has_escape = false;
        loop {
            match self.peek() {
                None => return Err(self.flaw(TOO_SHORT)),
                Some(b'"') => break,
                Some(..b' ') => return Err(self.flaw("a control character in a string")),
                Some(b'\\') => {
                    has_escape = true;
                    self.at += 1;
                    if self.peek().is_none() {
                        return Err(self.flaw(TOO_SHORT));
                    }
                    self.at += 1;
                }
                Some(_) => self.at += 1,
            }
        }
        let end = self.at;
        self.at += 1;
        if !has_escape {
            return Ok(self.text[begin..end].into());
        }
        let quoted = &self.text[begin - 1..self.at];
        let read: Result<String, _> = serde_json::from_str(quoted);
        read.map(Text::from).map_err(|_| self.flaw("an invalid escape"))
    }

    fn digits(&mut self) -> usize {
        let begin = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - begin
    }

    fn number(&mut self) -> Result<Value<'a>, ScanError> {
        let begin = self.at;
        self.take(b'-');
        let has_whole = self.take(b'0') || self.digits() > 0;
        let has_fraction = !self.take(b'.') || self.digits() > 0;
        let mut has_exponent = true;
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            has_exponent = self.digits() > 0;
        }
        if !(has_whole && has_fraction && has_exponent) || matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.flaw("invalid number"));
        }
        let number = &self.text[begin..self.at];
        let is_plain = number.len() <= PLAIN_NUMBER && !number.contains(['e', 'E']);
        if self.portable.is_some() && !is_plain && !number.parse().is_ok_and(f64::is_finite) {
            return Err(self.flaw("the number is beyond the range of a double"));
        }
        Ok(number.parse().map_or(Value::Other, Value::Number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(text: &str) -> (String, String) {
        let error = JsonScanner::portable(3, text).object(|_, _| ()).expect_err("a flaw");
        (error.path(), error.to_string())
    }

    #[test]
    fn portable_text_has_what_every_parser_reads() {
        for text in [
            r#"{"a":[1,-2.5e300,{"b":null}],"c":"\ud83d\ude00"}"#,
            &format!(r#"{{"a":{}}}"#, "9".repeat(308)),
        ] {
            assert!(JsonScanner::portable(3, text).object(|_, _| ()).is_ok(), "{text}");
        }
        let number = "the number is beyond the range of a double at line 1 column ";
        assert_eq!(flaw(r#"{"a":[0,{"b":1e400}]}"#), ("a[1].b".to_owned(), format!("{number}19")));
        assert_eq!(flaw(&format!(r#"{{"a":{}}}"#, "9".repeat(400))).1, format!("{number}406"));
        let (path, deep) = flaw(r#"{"a":[[[]]]}"#);
        assert_eq!(path, "a[0][0]");
        assert!(deep.starts_with("more than 3 lists and objects inside each other"), "{deep}");
        assert_eq!(flaw(r#"{"a":{"b":1,"\u0062":2}}"#).0, "a");
        assert!(flaw(r#"{"a":"\ud800"}"#).1.starts_with("an invalid escape"));
    }
}
