//! Reading of JSON.

use std::borrow::Cow;
use std::error::Error;
use std::str::FromStr;

/// Reads the values of a request one after the other, without a copy.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Begins before the first value of a text.
    pub fn new(text: &'a str) -> Reader<'a> {
        Reader { text, at: 0 }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn missing(&self, expected: &str) -> Box<dyn Error> {
        format!("the request has no {expected} at byte {}", self.at).into()
    }

    /// The next byte after white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Box<dyn Error>> {
        if self.peek() != Some(byte) {
            return Err(self.missing(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Whether a list or an object goes on; `is_first` before its first part.
    fn goes_on(&mut self, end: u8, is_first: bool) -> Result<bool, Box<dyn Error>> {
        if self.peek() == Some(end) {
            self.at += 1;
            return Ok(false);
        }
        if !is_first {
            self.take(b',', "comma")?;
        }
        Ok(true)
    }

    /// Reads an object: calls a function for each name, which reads the value.
    ///
    /// # Errors
    /// If there is no object, and those of the function.
    pub fn object(
        &mut self,
        mut field: impl FnMut(&str, &mut Reader<'a>) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        self.take(b'{', "object")?;
        let mut is_first = true;
        while self.goes_on(b'}', is_first)? {
            is_first = false;
            let name = self.string()?;
            self.take(b':', "colon")?;
            field(&name, self)?;
        }
        Ok(())
    }

    /// Reads a list with a function that reads an item.
    ///
    /// # Errors
    /// If there is no list, and those of the function.
    pub fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Reader<'a>) -> Result<T, Box<dyn Error>>,
    ) -> Result<Vec<T>, Box<dyn Error>> {
        self.take(b'[', "list")?;
        let mut items = Vec::new();
        while self.goes_on(b']', items.is_empty())? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Reads a string.
    ///
    /// # Errors
    /// If there is none.
    pub fn string(&mut self) -> Result<Cow<'a, str>, Box<dyn Error>> {
        self.take(b'"', "string")?;
        let from = self.at;
        let end = string_end(self.text.as_bytes(), from).ok_or_else(|| self.missing("end of a string"))?;
        self.at = end.at + 1;
        let (text, has_escapes) = (&self.text[from..end.at], end.has_escapes);
        Ok(if has_escapes { Cow::Owned(unescaped(text)) } else { Cow::Borrowed(text) })
    }

    /// Reads a value of any type as its JSON.
    ///
    /// # Errors
    /// If there is none.
    pub fn json(&mut self) -> Result<&'a str, Box<dyn Error>> {
        Ok(self.measured()?.0)
    }

    /// Reads a list as the JSON between its brackets, and the number of its items.
    ///
    /// # Errors
    /// If there is no list.
    pub fn items(&mut self) -> Result<(&'a str, usize), Box<dyn Error>> {
        let (text, commas) = self.measured()?;
        let items = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let items = items.ok_or_else(|| self.missing("list"))?.trim();
        Ok((items, if items.is_empty() { 0 } else { commas + 1 }))
    }

    /// The JSON of a value, and the number of commas in it but for those in lists and objects in it.
    fn measured(&mut self) -> Result<(&'a str, usize), Box<dyn Error>> {
        self.peek();
        let (bytes, from) = (self.text.as_bytes(), self.at);
        let (mut at, mut depth, mut commas) = (from, 0, 0);
        while let Some(&byte) = bytes.get(at) {
            // Square brackets differ from curly ones by one bit. A table of branches is slower.
            let bracket = byte | 0x20;
            if byte == b'"' {
                let end = string_end(bytes, at + 1).ok_or_else(|| self.missing("end of a string"))?;
                at = end.at;
            } else if bracket == b'{' {
                depth += 1;
            } else if bracket == b'}' && depth > 0 {
                depth -= 1;
            } else if depth == 0 && (bracket == b'}' || byte == b',') {
                break;
            } else if depth == 1 && byte == b',' {
                commas += 1;
            }
            at += 1;
        }
        self.at = at;
        if depth > 0 {
            return Err(self.missing("end of a value"));
        }
        let text = self.text[from..self.at].trim_end();
        if text.is_empty() { Err(self.missing("value")) } else { Ok((text, commas)) }
    }

    /// Reads a value whose JSON a type can be parsed from: a whole number or a truth value.
    ///
    /// # Errors
    /// If it is not such a value.
    pub fn value<T: FromStr>(&mut self) -> Result<T, Box<dyn Error>> {
        let before = self.clone();
        self.json()?.parse().map_err(|_| before.missing(std::any::type_name::<T>()))
    }
}

/// The end of a string.
struct End {
    /// The index of its quotation mark.
    at: usize,
    has_escapes: bool,
}

/// Finds the end of a string from behind the quotation mark at its beginning.
#[inline]
fn string_end(bytes: &[u8], from: usize) -> Option<End> {
    let (mut at, mut has_escapes) = (from, false);
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(End { at, has_escapes }),
            b'\\' => {
                has_escapes = true;
                at += 2;
            }
            _ => at += 1,
        }
        if at - from > 8 {
            at = skip_plain(bytes, at);
        }
    }
}

/// Skips eight bytes at once while no quotation mark and no backslash is among them: states have long strings.
fn skip_plain(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    while let Some(&eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(eight);
        let [quotation_marks, backslashes] = [word ^ (ONES * 0x22), word ^ (ONES * 0x5c)];
        let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
        if has_zero(quotation_marks) | has_zero(backslashes) != 0 {
            break;
        }
        at += 8;
    }
    at
}

/// The text of a string of JSON without its escapes.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut after = escape.chars();
        match after.next() {
            Some('b') => plain.push('\u{8}'),
            Some('f') => plain.push('\u{c}'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some('u') => {
                let unit = |text: &str| u16::from_str_radix(text.get(..4)?, 16).ok();
                let hex = after.as_str();
                let second = hex.get(4..).and_then(|rest| rest.strip_prefix("\\u"));
                let units = [unit(hex), second.and_then(unit)];
                let character = char::decode_utf16(units.into_iter().flatten()).next();
                let character = character.and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
                plain.push(character);
                after =
                    hex.get(if character.len_utf16() == 2 { 10 } else { 4 }..).unwrap_or_default().chars();
            }
            Some(other) => plain.push(other),
            None => {}
        }
        rest = after.as_str();
    }
    plain + rest
}

/// Writes a text as a string of JSON.
pub fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\n' => json.push_str("\\n"),
            ..' ' => json += &format!("\\u{:04x}", u32::from(character)),
            _ => json.push(character),
        }
    }
    json + "\""
}

/// Adds a number: faster than `format!`, which counts in answers that each move needs.
pub fn push_number(text: &mut String, number: i64) {
    if number < 0 {
        text.push('-');
    }
    push_digits(text, number.unsigned_abs());
}

fn push_digits(text: &mut String, number: u64) {
    if number > 9 {
        push_digits(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

#[cfg(test)]
mod tests {
    use super::{Reader, push_number, quoted};

    #[test]
    fn values_are_read_once_and_in_order() {
        let text = "{ \"a\" : [1, -2 ,3] ,\"b\\n\":{\"c\":\"]}\\\"\"}, \"d\": true}";
        let (mut numbers, mut other) = (Vec::new(), Vec::new());
        let read = Reader::new(text).object(|name, value| {
            match name {
                "a" => numbers = value.list(Reader::value::<i64>)?,
                "d" => assert!(value.value::<bool>()?),
                _ => other.push(format!("{name}={}", value.json()?)),
            }
            Ok(())
        });
        assert!(read.is_ok(), "{read:?}");
        assert_eq!(numbers, [1, -2, 3]);
        assert_eq!(other, ["b\n={\"c\":\"]}\\\"\"}"]);
    }

    #[test]
    fn items_are_counted_without_those_in_items() {
        for (list, items, count) in [
            ("[]", "", 0),
            (" [ \"a,]\" ] ", "\"a,]\"", 1),
            ("[[1,2],{\"a\":[3,4]}]", "[1,2],{\"a\":[3,4]}", 2),
        ] {
            assert_eq!(Reader::new(list).items().expect("a list"), (items, count));
        }
        assert!(Reader::new("{}").items().is_err());
    }

    #[test]
    fn escapes_are_those_of_json() {
        for (json, text) in [
            (r#""a\\b\/\"\t""#, "a\\b/\"\t"),
            (r#""\u00e9\ud83d\ude00x""#, "é😀x"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\u12""#, "\u{fffd}"),
        ] {
            assert_eq!(Reader::new(json).string().expect("a string"), text);
        }
        for text in ["", "a\"b\\c\n\u{1}é😀"] {
            assert_eq!(Reader::new(&quoted(text)).string().expect("a string"), text);
        }
    }

    #[test]
    fn numbers_are_added_as_they_are_displayed() {
        for number in [0, 7, -10, 4096, i64::MAX, i64::MIN] {
            let mut text = String::new();
            push_number(&mut text, number);
            assert_eq!(text, number.to_string());
        }
    }

    #[test]
    fn broken_requests_are_refused() {
        for text in [
            "",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":\"",
            "{\"a\":\"\\",
            "{\"a\":[1,",
            "[",
            "1",
            "{1}",
        ] {
            let read = Reader::new(text).object(|_, value| value.json().map(|_| ()));
            assert!(read.is_err(), "{text}");
        }
        let error = Reader::new(" x").value::<u8>().expect_err("no number");
        assert_eq!(error.to_string(), "the request has no u8 at byte 0");
    }
}
