//! A request for a decision.

use std::ops::Deref;

use referee_protocol::{Text, referee};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

/// A request for a move. Dereferences to the message with all its fields.
///
/// Borrows from the line that the referee sent. The view is not yet parsed: a bot that does not need it does not pay
/// for parsing it.
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
    /// The legal moves, sorted bytewise. Empty only if [`Hello::wants`](crate::Hello) excludes them.
    pub fn legal(&self) -> &[Text<'a>] {
        self.0.legal.as_deref().unwrap_or_default()
    }

    /// Deserializes the position into a type with the fields that the bot needs.
    ///
    /// Its strings can borrow from the message as [`Text`], which copies only strings with JSON escapes.
    ///
    /// # Errors
    ///
    /// If the view does not fit the type, or if [`Hello::wants`](crate::Hello) excludes it.
    pub fn view<T: Deserialize<'a>>(&self) -> serde_json::Result<T> {
        T::deserialize(self.0.view.ok_or_else(|| serde_json::Error::missing_field("view"))?)
    }
}
