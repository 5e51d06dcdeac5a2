//! The lobby and bots that connect again.

use std::mem;

use tokio::time::Instant;

use crate::driver::{BotInstance, DetachedSession, REPLACED, Unacknowledged};
use crate::sources::lobby::{BotPlace, Holder, Lobby};

impl Lobby {
    /// Takes the connections for lanes that hold the ones that they replace.
    pub(crate) fn take_returning(&mut self) -> Vec<(Holder, DetachedSession)> {
        mem::take(&mut self.returning)
    }

    /// Reserves the connection of this bot for a lane, also one that waits already.
    pub(crate) fn expect(&mut self, bot: BotInstance, holder: Holder) {
        if let Some(&BotPlace::Waiting(session)) = self.places.get(&bot)
            && let Some(name) = self.lane.hello(session).map(|hello| self.name_of(hello))
        {
            if let Some(waiting) = self.waiting.get_mut(&name) {
                waiting.retain(|waiting| *waiting != session);
            }
            match self.lane.release(session) {
                Some(moving) => self.returning.push((holder, moving)),
                None => self.left(&name),
            }
        }
        self.place(bot, BotPlace::Held(holder));
    }

    /// Notes where a bot is that may connect again.
    pub(super) fn place(&mut self, bot: BotInstance, place: BotPlace) {
        self.guests.note(&bot, true);
        self.places.insert(bot, place);
    }

    /// Forgets where a bot is: its next connection replaces no other.
    pub(super) fn clear_place(&mut self, bot: &BotInstance) {
        self.guests.note(bot, false);
        self.places.remove(bot);
    }

    /// Takes back a bot from a lane that has no connection of it any more, and does not wait for one.
    pub(crate) fn bot_gone(&mut self, unacknowledged: Unacknowledged, holder: &Holder) {
        if matches!(self.places.get(&unacknowledged.bot), Some(BotPlace::Held(held)) if held == holder) {
            self.keep_unacknowledged(unacknowledged);
        }
    }

    /// Keeps the messages of a bot without a connection and a match. If it connects again in time, it gets these messages
    /// again.
    pub(super) fn keep_unacknowledged(&mut self, unacknowledged: Unacknowledged) {
        let now = Instant::now();
        self.places.retain(|_, place| !matches!(place, BotPlace::Away(until, _) if *until <= now));
        self.clear_place(&unacknowledged.bot);
        if !unacknowledged.messages.is_empty() {
            let until = now + self.guests.reconnect();
            self.places.insert(unacknowledged.bot, BotPlace::Away(until, unacknowledged.messages));
        }
    }

    /// Closes the waiting connection of a bot that has another one. Returns its messages that the
    /// bot has not acknowledged.
    pub(super) fn replace(&mut self, bot: &BotInstance, name: &str) -> Vec<u8> {
        let place = self.places.remove(bot);
        self.guests.note(bot, false);
        match place {
            Some(BotPlace::Waiting(session)) => {
                if let Some(waiting) = self.waiting.get_mut(name) {
                    waiting.retain(|waiting| *waiting != session);
                }
                self.lane.dismiss(session, REPLACED);
                let forgotten = self.lane.forget(session);
                self.left(name);
                forgotten.map(|unacknowledged| unacknowledged.messages).unwrap_or_default()
            }
            Some(BotPlace::Away(_, messages)) => messages,
            Some(BotPlace::Held(_)) | None => Vec::new(),
        }
    }
}
