//! What happens in a match.

use referee_protocol::referee;
use serde::Deserialize;

/// Something happened. Nobody has looked into it yet: a bot that does not care does not pay for it.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a>(pub(crate) &'a str);

impl<'a> Event<'a> {
    /// The message, with its `event` read into a type that names what the bot wants to know: a struct with `kind`, or an
    /// enum that is tagged by it.
    ///
    /// # Errors
    ///
    /// If the event is not of that type. There may be kinds of events that the bot does not know.
    pub fn read<T: Deserialize<'a>>(&self) -> serde_json::Result<referee::Event<'a, T>> {
        serde_json::from_str(self.0)
    }
}
