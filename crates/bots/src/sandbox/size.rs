//! Sizes of memory and files.

use std::fmt;
use std::str::FromStr;

use referee_game::Wrong;
use serde::{Deserialize, Serialize};

const UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)];

/// A number of bytes, written as `512MiB`, `2GiB` or `65536`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Size(u64);

impl Size {
    pub const fn mebibytes(count: u64) -> Size {
        Size(count << 20)
    }

    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for Size {
    type Err = Wrong;
    fn from_str(text: &str) -> Result<Size, Wrong> {
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let unit = UNITS.iter().find(|(unit, _)| *unit == text[digits.len()..].trim());
        let bytes = digits.parse::<u64>().ok().zip(unit).and_then(|(count, unit)| count.checked_mul(unit.1));
        bytes.map(Size).ok_or_else(|| format!("invalid size `{text}`; expected e.g. 512MiB or 2GiB").into())
    }
}

impl TryFrom<String> for Size {
    type Error = Wrong;
    fn try_from(text: String) -> Result<Size, Wrong> {
        text.parse()
    }
}

impl From<Size> for String {
    fn from(size: Size) -> String {
        size.to_string()
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, bytes) =
            UNITS.iter().find(|(_, bytes)| self.0.is_multiple_of(*bytes) && self.0 > 0).unwrap_or(&UNITS[3]);
        write!(f, "{}{unit}", self.0 / bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_reads_as_it_is_written() {
        for text in ["512MiB", "2GiB", "1KiB", "1000", "0"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
        assert_eq!("1024MiB".parse::<Size>().unwrap().to_string(), "1GiB");
    }

    #[test]
    fn an_unclear_size_is_rejected() {
        for text in ["", "MiB", "5MB", "-1", "1.5GiB", "99999999999GiB"] {
            let refused = text.parse::<Size>().unwrap_err().to_string();
            assert!(refused.starts_with(&format!("invalid size `{text}`; ")), "{refused}");
        }
    }
}
