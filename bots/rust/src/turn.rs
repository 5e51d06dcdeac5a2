//! What a bot decides on.

use std::ops::Deref;

use referee_protocol::{Text, referee};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

/// A request for a move. It derefs to the message, with all its fields.
///
/// It borrows from the line that the referee sent, and nobody has looked into the view yet: a bot that does not need it
/// does not pay for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Turn<'a>(#[serde(borrow)] referee::Turn<'a, &'a RawValue>);

impl<'a> Deref for Turn<'a> {
    type Target = referee::Turn<'a, &'a RawValue>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a> Turn<'a> {
    /// The legal moves, sorted by their bytes: at least one, or none if [`Hello::wants`](crate::Hello) leaves them out.
    pub fn legal(&self) -> &[Text<'a>] {
        self.0.legal.as_deref().unwrap_or_default()
    }

    /// The position, read into a type that names what the bot wants to know of it.
    ///
    /// Its strings may borrow from the message: as [`Text`], which copies only those that JSON had to escape.
    ///
    /// # Errors
    ///
    /// If the view is not of that type, or if [`Hello::wants`](crate::Hello) leaves it out.
    pub fn view<T: Deserialize<'a>>(&self) -> serde_json::Result<T> {
        T::deserialize(self.0.view.ok_or_else(|| serde_json::Error::missing_field("view"))?)
    }
}
