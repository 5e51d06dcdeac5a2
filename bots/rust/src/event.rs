//! Events of a match.

use referee_protocol::referee;
use serde::Deserialize;

/// An event, not yet parsed: a bot that ignores events does not pay for parsing them.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a>(pub(crate) &'a str);

impl<'a> Event<'a> {
    /// Parses the message. `T` is the type of its `event`: a struct with `kind` and the fields that the bot needs, or
    /// an enum tagged by `kind`.
    ///
    /// # Errors
    ///
    /// If the event does not fit the type. Bots should expect unknown kinds of events.
    pub fn read<T: Deserialize<'a>>(&self) -> serde_json::Result<referee::Event<'a, T>> {
        serde_json::from_str(self.0)
    }
}
