//! A strict JSON scanner (RFC 8259) that does not evaluate numbers, so that numbers of any size are valid.

use std::collections::BTreeSet;

use referee_protocol::Text;

/// The maximum nesting depth.
const LEVELS: usize = 127;

/// A value: strings and plain integers are returned, others are only validated.
pub(super) enum Value<'a> {
    Text(Text<'a>),
    /// Without sign, fraction or exponent, and below 2^64.
    Number(u64),
    Other,
}

/// Why a text is not JSON, or a duplicate key.
#[derive(Debug, thiserror::Error)]
#[error("{flaw} at line 1 column {column}")]
pub(super) struct ScanError {
    flaw: ScanFlaw,
    /// Counted from 1.
    column: usize,
}

#[derive(Debug, thiserror::Error)]
enum ScanFlaw {
    #[error("trailing characters")]
    Trailing,
    #[error("the line ends too early")]
    TooShort,
    #[error("expected `{}`", char::from(*.0))]
    Expected(u8),
    #[error("expected a value")]
    NoValue,
    #[error("recursion limit exceeded")]
    TooDeep,
    #[error("duplicate key `{0}`")]
    DuplicateKey(String),
    #[error("a control character in a string")]
    ControlCharacter,
    #[error("an invalid escape")]
    Escape,
    #[error("invalid number")]
    Number,
}

/// A scanner at a position of a text.
pub(super) struct JsonScanner<'a> {
    text: &'a str,
    at: usize,
    /// The current nesting depth.
    levels: usize,
}

impl<'a> JsonScanner<'a> {
    /// Scans a text that is nested at this depth.
    pub(super) fn within(levels: usize, text: &'a str) -> JsonScanner<'a> {
        JsonScanner { text, at: 0, levels }
    }

    /// Scans the whole text as one object, and passes its fields on in order.
    pub(super) fn object(mut self, mut each: impl FnMut(&str, Value<'a>)) -> Result<(), ScanError> {
        self.space();
        self.fields(&mut each)?;
        self.space();
        if self.at < self.text.len() { Err(self.flaw(ScanFlaw::Trailing)) } else { Ok(()) }
    }

    fn flaw(&self, flaw: ScanFlaw) -> ScanError {
        ScanError { flaw, column: self.at + 1 }
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
        Err(self.flaw(if is_over { ScanFlaw::TooShort } else { ScanFlaw::Expected(byte) }))
    }

    fn enter(&mut self) -> Result<(), ScanError> {
        self.levels += 1;
        if self.levels > LEVELS { Err(self.flaw(ScanFlaw::TooDeep)) } else { Ok(()) }
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
                    return Err(self.flaw(ScanFlaw::DuplicateKey(key.to_string())));
                }
                let value = self.value()?;
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
            loop {
                self.value()?;
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
                self.at += word.ok_or_else(|| self.flaw(ScanFlaw::NoValue))?.len();
                Ok(Value::Other)
            }
            None => Err(self.flaw(ScanFlaw::TooShort)),
        }
    }

    fn string(&mut self) -> Result<Text<'a>, ScanError> {
        self.expect(b'"')?;
        let begin = self.at;
        let mut has_escape = false;
        loop {
            match self.peek() {
                None => return Err(self.flaw(ScanFlaw::TooShort)),
                Some(b'"') => break,
                Some(..b' ') => return Err(self.flaw(ScanFlaw::ControlCharacter)),
                Some(b'\\') => {
                    has_escape = true;
                    self.at += 1;
                    if self.peek().is_none() {
                        return Err(self.flaw(ScanFlaw::TooShort));
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
        read.map(Text::from).map_err(|_| self.flaw(ScanFlaw::Escape))
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
            return Err(self.flaw(ScanFlaw::Number));
        }
        Ok(self.text[begin..self.at].parse().map_or(Value::Other, Value::Number))
    }
}
