//! A setting as it was written.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A value with the text that stands for it, which is kept where the setting is written or shown again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    text: String,
    value: T,
}

impl<T> Setting<T> {
    /// Returns this value with the text in which it was written.
    pub fn written(text: &str, value: T) -> Setting<T> {
        Setting { text: text.to_owned(), value }
    }
}

impl<T> Deref for Setting<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> fmt::Display for Setting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<T: FromStr> FromStr for Setting<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Setting<T>, T::Err> {
        Ok(Setting { text: text.to_owned(), value: text.parse()? })
    }
}

impl<T: fmt::Display> From<T> for Setting<T> {
    fn from(value: T) -> Setting<T> {
        Setting { text: value.to_string(), value }
    }
}

impl<T> Serialize for Setting<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Setting<T>, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
