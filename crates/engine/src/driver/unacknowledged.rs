//! Messages that a bot gets again when it connects again.

use referee_transport::ByteStream;
use serde::{Deserialize, Serialize};

use crate::driver::hello::BotHello;
use crate::driver::session::Session;

/// Identifies a bot across its connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotInstance {
    /// The name in its `hello`.
    pub name: String,
    version: Option<String>,
    id: String,
}

/// The `end` messages after the last line of a bot: it may not have received them. It gets them again if it connects
/// again.
#[derive(Clone, Debug)]
pub struct Unacknowledged {
    pub bot: BotInstance,
    pub messages: Vec<u8>,
}

impl BotHello {
    /// The bot, if it connects again after its connection is lost.
    pub fn instance(&self) -> Option<BotInstance> {
        let id = self.reconnect.clone()?;
        Some(BotInstance { name: self.name.clone(), version: self.version.clone(), id })
    }
}

impl<S: ByteStream> Session<S> {
    /// Returns whether the peer may continue on another connection after this one is lost.
    pub(super) fn may_reconnect(&self) -> bool {
        self.hello().is_some_and(|hello| hello.reconnect.is_some())
    }

    pub(super) fn unacknowledged(self) -> Option<Unacknowledged> {
        let bot = self.hello()?.instance()?;
        Some(Unacknowledged { bot, messages: self.unacknowledged })
    }
}
