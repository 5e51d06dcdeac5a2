//! Parsing helpers shared by the games.

use std::fmt;

/// A text that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelled {
    text: String,
    what: &'static str,
}

impl Misspelled {
    pub(super) fn new(text: &str, what: &'static str) -> Misspelled {
        Misspelled { text: text.to_owned(), what }
    }
}

impl fmt::Display for Misspelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no {}", self.text, self.what)
    }
}

impl std::error::Error for Misspelled {}

/// A number from `range`, without sign or leading zero.
pub(super) fn number(text: &str, range: std::ops::RangeInclusive<u8>) -> Option<u8> {
    let is_plain = text == "0" || text.starts_with(|first: char| matches!(first, '1'..='9'));
    text.parse().ok().filter(|number| is_plain && range.contains(number))
}

/// Parses a file letter (from `a`) and a rank digit (from `1`). Returns both counted from 0, each below `side`.
pub(super) fn square(text: &str, side: u8) -> Option<(u8, u8)> {
    let &[file, rank] = text.as_bytes() else { return None };
    let (file, rank) = (file.checked_sub(b'a')?, rank.checked_sub(b'1')?);
    (file < side && rank < side).then_some((file, rank))
}

/// Implements JSON serialization as a string with `Display` and `FromStr`.
macro_rules! json_as_text {
    ($($name:ty)*) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::Text::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

/// Defines an enum whose values are words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident($what:literal) { $($(#[$of:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$of])* #[doc = concat!("`", $word, "`")] $value,)*
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$value,)*];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::games::Misspelled;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|value| value.as_str() == text);
                found.ok_or_else(|| $crate::games::Misspelled::new(text, $what))
            }
        }

        $crate::games::text::json_as_text! { $name }
    };
}

pub(super) use {json_as_text, words};
