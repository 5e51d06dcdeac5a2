//! The record of a match as data of its page, from which the player and this program restore it byte by byte.
//!
//! Most lines of a record differ from others in a few numbers, in lists, and in the text of a move. A line is
//! stored as a template, which has marks instead of these values. The values are in columns, one for each
//! field of each type of line, which compress to half the size of the lines.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Stands for a number.
const NUMBER: char = '\u{1}';
/// Stands for a time, which is stored relative to the one before.
const TIME: char = '\u{2}';
/// Stands for a number that is stored relative to the last one of this field that follows the same number: the requests
/// of a seat are numbered.
const COUNT: char = '\u{3}';
/// Stands for the text of a move.
const MOVE: char = '\u{4}';
/// Stands for a list of numbers: how many, and each of them.
const NUMBERS: char = '\u{5}';
/// Stands for a list of words: a text with spaces between them.
const WORDS: char = '\u{6}';

/// The field with the time of a line, with the number of a request, and with a move.
const FIELDS: [(&str, char); 3] = [("at_us", TIME), ("turn", COUNT), ("move", MOVE)];

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PackedRecord {
    /// The different lines, with marks for the values.
    templates: Vec<String>,
    /// By line: the number of its template.
    lines: Vec<usize>,
    /// By type of line and field: the values.
    numbers: BTreeMap<String, Vec<i64>>,
    texts: BTreeMap<String, Vec<String>>,
}

fn kind(line: &str) -> &str {
    line.strip_prefix("{\"type\":\"").and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

/// The field at the end of a text that precedes a colon.
fn field(text: &str) -> Option<&str> {
    let text = text.strip_suffix('"')?;
    let length = text.bytes().rev().position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))?;
    let (before, field) = text.split_at(text.len() - length);
    (before.ends_with('"') && !field.is_empty()).then_some(field)
}

/// The index of the next colon after a quotation mark.
fn colon(text: &str) -> Option<usize> {
    memchr::memchr_iter(b':', text.as_bytes()).find(|&at| at > 0 && text.as_bytes()[at - 1] == b'"')
}

/// The digits of a number at the beginning of a text.
fn digits(text: &str) -> Option<&str> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit())?;
    let is_number = matches!(end, 1..=15) && (end == 1 || !text.starts_with('0'));
    (is_number && matches!(text.as_bytes()[end], b',' | b'}' | b']')).then_some(&text[..end])
}

/// A list of numbers at the beginning of a text, and the rest.
fn numbers(text: &str) -> Option<(Vec<i64>, &str)> {
    let (mut rest, mut numbers) = (text.strip_prefix('[')?, Vec::new());
    loop {
        let number = digits(rest)?;
        numbers.push(number.parse().ok()?);
        let after = &rest[number.len()..];
        if let Some(after) = after.strip_prefix(']') {
            return Some((numbers, after));
        }
        rest = after.strip_prefix(',')?;
    }
}

/// A list of words at the beginning of a text, with spaces between them, and the rest.
fn words(text: &str) -> Option<(String, &str)> {
    let (list, after) = text.strip_prefix("[\"")?.split_once("\"]")?;
    let is_word = |word: &str| !word.is_empty() && !word.contains([' ', '"', '\\']);
    list.split("\",\"").all(is_word).then(|| (list.replace("\",\"", " "), after))
}

#[derive(Default)]
struct FieldValues {
    numbers: Vec<i64>,
    texts: Vec<String>,
    /// The last number after another number.
    counts: FxHashMap<i64, i64>,
}

/// Takes the values out of lines.
#[derive(Default)]
struct Packer<'a> {
    /// The time of the line before.
    time: i64,
    /// By type of line and field.
    values: FxHashMap<&'a str, FxHashMap<&'a str, FieldValues>>,
}

impl<'a> Packer<'a> {
    /// Adds the values of a line to the columns, and the rest to the template.
    fn take_values(&mut self, line: &'a str, template: &mut String) {
        let (kind, mut rest, mut before) = (kind(line), line, 0);
        let values = self.values.entry(kind).or_default();
        while let Some(at) = colon(rest) {
            let (head, tail) = rest.split_at(at + 1);
            template.push_str(head);
            rest = tail;
            let Some(field) = field(&head[..at]) else { continue };
            let mark = FIELDS.iter().find(|(name, _)| *name == field).map_or(NUMBER, |&(_, mark)| mark);
            if mark == MOVE {
                let text = tail.strip_prefix('"').and_then(|text| text.split_once('"'));
                if let Some((text, after)) = text.filter(|(text, _)| !text.contains('\\')) {
                    template.extend(['"', mark, '"']);
                    values.entry(field).or_default().texts.push(text.to_owned());
                    rest = after;
                }
            } else if let Some((words, after)) = words(tail) {
                template.push(WORDS);
                values.entry(field).or_default().texts.push(words);
                rest = after;
            } else if let Some((numbers, after)) = numbers(tail) {
                template.push(NUMBERS);
                let values = values.entry(field).or_default();
                values.numbers.push(numbers.len() as i64);
                values.numbers.extend(numbers);
                rest = after;
            } else if let Some(digits) = digits(tail)
                && let Ok(number) = digits.parse::<i64>()
            {
                let values = values.entry(field).or_default();
                template.push(mark);
                values.numbers.push(match mark {
                    TIME => number - std::mem::replace(&mut self.time, number),
                    COUNT => number - values.counts.insert(before, number).unwrap_or(0),
                    _ => number,
                });
                before = number;
                rest = &tail[digits.len()..];
            }
        }
        template.push_str(rest);
    }
}

impl PackedRecord {
    /// The packed form; `None` if this is not a record.
    pub(super) fn of(record: &[u8]) -> Option<PackedRecord> {
        let text = std::str::from_utf8(record).ok()?;
        if record.iter().any(|&byte| (NUMBER..=WORDS).contains(&char::from(byte))) {
            return None;
        }
        let (mut templates, mut lines) = (Vec::new(), Vec::new());
        let (mut packer, mut known, mut template) = (Packer::default(), FxHashMap::default(), String::new());
        for line in text.split('\n') {
            template.clear();
            packer.take_values(line, &mut template);
            let number = known.get(&template).copied().unwrap_or_else(|| {
                templates.push(template.clone());
                known.insert(template.clone(), templates.len() - 1);
                templates.len() - 1
            });
            lines.push(number);
        }
        let (mut numbers, mut texts) = (BTreeMap::new(), BTreeMap::new());
        let named = packer.values.into_iter().flat_map(|(kind, values)| {
            values.into_iter().map(move |(field, values)| (format!("{kind} {field}"), values))
        });
        for (name, values) in named {
            if !values.texts.is_empty() {
                texts.insert(name.clone(), values.texts);
            }
            if !values.numbers.is_empty() {
                numbers.insert(name, values.numbers);
            }
        }
        Some(PackedRecord { templates, lines, numbers, texts })
    }

    /// The record, of this many bytes at most; `None` if it is longer or the data is damaged.
    pub(super) fn restore(&self, most: usize) -> Option<Vec<u8>> {
        let mut numbers: FxHashMap<&str, _> =
            self.numbers.iter().map(|(name, column)| (name.as_str(), column.iter().copied())).collect();
        let mut texts: FxHashMap<&str, _> =
            self.texts.iter().map(|(name, texts)| (name.as_str(), texts.iter())).collect();
        let (mut text, mut time, mut counts) = (String::new(), 0_i64, FxHashMap::default());
        for (index, &number) in self.lines.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            let template = self.templates.get(number)?;
            let (kind, mut rest, mut before) = (kind(template), template.as_str(), 0);
            while let Some(at) = rest.find(|c| (NUMBER..=WORDS).contains(&c)) {
                let (head, tail) = rest.split_at(at);
                let mark = tail.chars().next()?;
                text.push_str(head);
                rest = &tail[1..];
                let head = if mark == MOVE { head.strip_suffix('"')? } else { head };
                let name = format!("{kind} {}", field(head.strip_suffix(':')?)?);
                if mark == MOVE {
                    text.push_str(texts.get_mut(&*name)?.next()?);
                    continue;
                }
                if mark == WORDS {
                    let words = texts.get_mut(&*name)?.next()?.replace(' ', "\",\"");
                    text.extend(["[\"", &words, "\"]"]);
                    continue;
                }
                let values = numbers.get_mut(&*name)?;
                let value = values.next()?;
                if mark == NUMBERS {
                    text.push('[');
                    for (at, number) in values.take(usize::try_from(value).ok()?).enumerate() {
                        text.push_str(if at == 0 { "" } else { "," });
                        text.push_str(&number.to_string());
                    }
                    text.push(']');
                    continue;
                }
                let number = match mark {
                    TIME => time.checked_add(value)?,
                    COUNT => {
                        let last: &mut i64 = counts.entry((name, before)).or_default();
                        *last = last.checked_add(value)?;
                        *last
                    }
                    _ => value,
                };
                if mark == TIME {
                    time = number;
                }
                text.push_str(&number.to_string());
                before = number;
            }
            text.push_str(rest);
            if text.len() > most {
                return None;
            }
        }
        Some(text.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(record: &str) -> PackedRecord {
        let packed = PackedRecord::of(record.as_bytes()).expect("a record");
        let read: PackedRecord = serde_json::from_str(&referee_game::json::text(&packed)).expect("its JSON");
        assert_eq!(read.restore(record.len()).expect("not damaged"), record.as_bytes());
        assert_eq!(read.restore(record.len() - 1), None, "too long");
        packed
    }

    #[test]
    fn lines_that_differ_in_values_share_a_template() {
        let packed = restored(
            "{\"type\":\"request\",\"at_us\":100,\"seat\":0,\"turn\":0}\n\
             {\"type\":\"answer\",\"at_us\":150,\"seat\":0,\"turn\":0,\"move\":\"8 t16\",\"took_us\":50}\n\
             {\"type\":\"request\",\"at_us\":160,\"seat\":1,\"turn\":0}\n\
             {\"type\":\"answer\",\"at_us\":3000160,\"seat\":1,\"turn\":7,\"move\":\"K\",\"took_us\":3000000}\n\
             {\"type\":\"request\",\"at_us\":3000170,\"seat\":0,\"turn\":1}\n",
        );
        assert_eq!(packed.templates.len(), 3, "{packed:?}");
        assert_eq!(packed.texts["answer move"], ["8 t16", "K"]);
        assert_eq!(packed.numbers["request at_us"], [100, 10, 10]);
        assert_eq!(packed.numbers["request turn"], [0, 0, 1]);
    }

    #[test]
    fn unusual_lines_are_restored() {
        for record in [
            "x",
            "\n\n",
            "{\"type\":\"draw\",\"drawn\":[1,0,25],\"x\":[],\"y\":[1,-1],\"z\":[007],\"w\":[1,2}",
            "{\"hand\":[\"3\",\"10\"],\"0\":[\"a b\",\"c\"],\"x\":[\"a\\\"\"],\"y\":[\"\"],\"z\":[\"a\",1,\"b\"]}",
            "{\"type\":\"answer\",\"at_us\":5,\"at_us\":4,\"at_us\":99999999999999999999,\"turn\":007}",
            "{\"type\":\"e\",\"info\":\"\\\"turn\\\":5,\\\"move\\\":\\\"a\\\"\",\"n\":-5,\"x\":1.5,\"y\":1e5,\"Z\":3}",
            "{\"x\":abc\":5,\"y\":1}",
            "{\"type\":\"\",\"move\":\"\\\"\",\"move\":null,\"move\":\"",
            "{\"move\":\"\u{7f}\",\"move\":\"\",\"x\":[\"\u{7f}\"]}",
            "{\"a\":1}\n{\"type\":\"a\",\"at_us\":1}\r\n{\"turn\":9999999999}\n\u{1f600}\":1,",
        ] {
            restored(record);
        }
        assert_eq!(PackedRecord::of(b"\x01"), None);
        assert_eq!(PackedRecord::of(b"\xff"), None);
    }
}
