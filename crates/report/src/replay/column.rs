//! Lists as text. Numbers are characters, from `#` on, so that columns of small numbers compress well; texts have
//! separators after them, which compress better than the punctuation of JSON.

use serde::{Deserialize, Serialize};

/// The first character of columns: the first one after those that JSON escapes, except the backslash.
const ZERO: u32 = '#' as u32;
/// Stands for this number plus the next one.
const MORE: u32 = 1_000_000;
/// The code points that are no characters.
const SURROGATES: std::ops::Range<u32> = 0xd800..0xe000;

/// A list of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Column(String);

impl Column {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, mut number: u32) {
        while number >= MORE {
            self.push_character(MORE);
            number -= MORE;
        }
        self.push_character(number);
    }

    fn push_character(&mut self, number: u32) {
        let code = number + ZERO;
        let code = if code < SURROGATES.start { code } else { code + SURROGATES.len() as u32 };
        self.0.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    /// The numbers. Characters that are not those of numbers stand for others.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        let mut codes = self.0.chars().map(u32::from);
        let mut next = move || {
            let code = codes.next()?;
            let code = if code < SURROGATES.start { code } else { code - SURROGATES.len() as u32 };
            Some(code.saturating_sub(ZERO))
        };
        std::iter::from_fn(move || {
            let mut number = u64::from(next()?);
            let mut latest = number;
            while latest == u64::from(MORE) {
                latest = u64::from(next()?);
                number = number.saturating_add(latest);
            }
            Some(number)
        })
    }
}

/// Ends each text of a list.
pub(super) const SEPARATOR: char = '\u{7f}';

/// A list of texts without [`SEPARATOR`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Texts(String);

impl Texts {
    pub(super) fn push(&mut self, text: &str) {
        debug_assert!(!text.contains(SEPARATOR), "{text:?}");
        self.0.push_str(text);
        self.0.push(SEPARATOR);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator(SEPARATOR)
    }
}

/// A signed number as an unsigned one that is small if the number is near 0.
pub(super) fn zigzag(number: i32) -> u32 {
    (number << 1 ^ number >> 31).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_empty_texts() {
        let mut texts = Texts::default();
        assert_eq!(texts.iter().count(), 0);
        ["", "a b", ""].into_iter().for_each(|text| texts.push(text));
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["", "a b", ""]);
    }

    #[test]
    fn columns_hold_all_numbers() {
        let mut column = Column::default();
        let numbers = [0, 57, 60_000, 1_000_000, 2_500_000];
        numbers.into_iter().for_each(|number| column.push(number));
        let codes: Vec<u32> = column.0.chars().map(u32::from).collect();
        let large = |number: u32| number + ZERO + 0x800;
        let expected =
            [ZERO, ZERO + 57, large(60_000), large(MORE), ZERO, large(MORE), large(MORE), large(500_000)];
        assert_eq!(codes, expected);
        assert_eq!(column.numbers().collect::<Vec<_>>(), numbers.map(u64::from));
    }
}
