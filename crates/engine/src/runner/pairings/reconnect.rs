//! Bots that lose their connection and connect again.

use referee_game::seat::Seat;
use referee_protocol::words::FaultCode;

use super::LanePairings;
use crate::driver::{DetachedSession, MatchKey, SessionKey};
use crate::runner::bots::{Bot, BotKey, BotState, PairingKey};
use crate::runner::lane_messages::LaneEvent;

impl LanePairings {
    /// Ends a session. If its bot may connect again, it is not passed to this lane any more. Returns the bot.
    pub(super) fn forget(&mut self, session: SessionKey) -> Option<BotKey> {
        let key = self.by_session.remove(&session);
        if let (Some(key), Some(unacknowledged)) = (key, self.lane.forget(session)) {
            self.send_event(LaneEvent::BotGone(key, unacknowledged));
        }
        key
    }

    /// Handles the loss of a bot's connection: its matches wait for another one; those of `faulty` do not.
    pub(super) fn lose(&mut self, session: SessionKey, faulty: &[(MatchKey, Seat)]) {
        self.note_loss(FaultCode::Disconnected, faulty);
        // The session may have been replaced since.
        if let Some(&key) = self.by_session.get(&session).filter(|_| !self.lane.is_live(session)) {
            let bot = &mut self.bots[key];
            bot.state = BotState::Lost(session);
            tracing::info!(bot = self.common.bots.get(bot.spec).name, "connection lost");
        }
    }

    /// Continues the matches of a bot on another connection.
    pub(super) fn take_over(&mut self, key: BotKey, moving: Box<DetachedSession>) {
        if self.is_expected(key) {
            return self.welcome(key, moving);
        }
        let Some((session, spec)) = self.bots.get(key).and_then(|bot| Some((bot.session()?, bot.spec)))
        else {
            return self.send_event(LaneEvent::ReturnsConnection(moving));
        };
        if let Err(moving) = self.lane.take_over(session, moving) {
            return self.send_event(LaneEvent::ReturnsConnection(moving));
        }
        // Of the two connections that were counted, one is left.
        self.send_event(LaneEvent::ConnectionEnded(spec));
        if self.lane.is_live(session) {
            self.bots[key].state = BotState::Ready(session);
            tracing::info!(bot = self.common.bots.get(spec).name, "connected again");
            self.continue_pairing_of(key);
        }
    }

    /// Gives up the lost bots of a pairing that have no match to continue.
    pub(super) fn part_from_idle(&mut self, pairing: PairingKey) {
        for key in self.pairings[pairing].bots.clone() {
            if let Some(Bot { state: BotState::Lost(session), .. }) = self.bots.get(key)
                && self.lane.is_idle(*session)
            {
                self.forget(*session);
                self.release(key);
                self.bots[key].state = BotState::Absent;
            }
        }
    }
}
