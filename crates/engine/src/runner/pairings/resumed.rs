//! Matches of an earlier process: they go on when their bots have connected again.

use std::collections::{HashMap, VecDeque};
use std::mem;

use referee_match::Detail;
use tokio::time::Instant;

use super::{LanePairings, OpenMatch, Pairing, QueuedMatch};
use crate::driver::{BotFault, BotInstance, DetachedSession, MatchKey, Unacknowledged};
use crate::runner::bots::{Bot, BotKey, BotState, PairingKey};
use crate::runner::fixture::Fixture;
use crate::runner::lane_messages::LaneEvent;
use crate::runner::resumed::ResumedMatch;
use crate::runner::run_failure::RunFailure;

/// The bots that matches of an earlier process wait for.
#[derive(Default)]
pub(super) struct ExpectedBots {
    instances: HashMap<BotKey, BotInstance>,
    pub(super) until: Option<Instant>,
}

impl LanePairings {
    /// Waits for the bots of these matches.
    pub(super) fn expect_all(&mut self, resumed: Vec<(Fixture, ResumedMatch)>) {
        self.expected.until = (!resumed.is_empty()).then(|| Instant::now() + self.common.reconnect);
        for (fixture, resumed) in resumed {
            let mut expected = Vec::new();
            let bots = fixture.bots.iter().zip(&resumed.bots).map(|(&spec, instance)| {
                let key = self.bots.insert(Bot::new(spec));
                self.bots[key].state = match instance {
                    Some(instance) => {
                        expected.push((key, instance.clone()));
                        BotState::Requested
                    }
                    None => BotState::Failed(BotFault::disconnected(Detail::OutputEnded)),
                };
                key
            });
            let bots: Vec<BotKey> = bots.collect();
            let specs = fixture.bots.clone();
            let next = QueuedMatch { resumed: Some(Box::new(resumed)), is_noted: true, fixture };
            let next = VecDeque::from([next]);
            let pairing = Pairing { bots, specs, next, noting: 0, running: 0, is_fresh: false };
            let key = self.add_pairing(pairing);
            self.expected.instances.extend(expected.iter().cloned());
            self.send_event(LaneEvent::ExpectsBots(expected));
            self.continue_pairing(key);
        }
    }

    /// Returns whether a match of an earlier process waits for this bot to connect.
    pub(super) fn is_expected(&self, key: BotKey) -> bool {
        self.expected.instances.contains_key(&key)
            && self.bots.get(key).is_some_and(|bot| matches!(bot.state, BotState::Requested))
    }

    /// Takes the connection of an expected bot.
    pub(super) fn welcome(&mut self, key: BotKey, moving: Box<DetachedSession>) {
        let spec = self.bots[key].spec;
        match self.lane.adopt(*moving) {
            Ok(session) => {
                self.bots[key].state = BotState::Ready(session);
                self.by_session.insert(session, key);
                tracing::info!(bot = self.common.bots.get(spec).name, "connected again");
                self.handle_hello(key);
            }
            // The bot is still expected.
            Err(_) => self.send_event(LaneEvent::ConnectionEnded(spec)),
        }
    }

    /// Handles the end of a bot's connection outside a match. The bot is expected again if its match has not continued yet.
    pub(super) fn expect_again(&mut self, key: BotKey) {
        self.bots[key].state = match self.expected.instances.get(&key) {
            Some(instance) => {
                self.send_event(LaneEvent::ExpectsBots(vec![(key, instance.clone())]));
                BotState::Requested
            }
            None => BotState::Absent,
        };
    }

    /// Gives up the expected bots that have not connected: they lose their matches.
    pub(super) fn give_up_expected(&mut self) {
        self.expected.until = None;
        for key in self.expected.instances.keys().copied().collect::<Vec<_>>() {
            if self.is_expected(key) {
                self.release_connections(key);
                self.fail(key, BotFault::disconnected(Detail::OutputEnded));
            }
        }
    }

    /// Tells the runner that the connections of a bot are not for this lane any more.
    fn release_connections(&mut self, key: BotKey) {
        if let Some(bot) = self.expected.instances.remove(&key) {
            let unacknowledged = Unacknowledged { bot, messages: Vec::new() };
            self.send_event(LaneEvent::BotGone(key, unacknowledged));
        }
    }

    /// Continues a match whose bots are there, or have failed.
    pub(super) fn restore(
        &mut self,
        pairing: PairingKey,
        fixture: Fixture,
        resumed: ResumedMatch,
    ) -> Result<(), RunFailure> {
        let bots = self.pairings[pairing].bots.clone();
        let places = bots.iter().map(|&key| {
            self.expected.instances.remove(&key);
            let bot = &mut self.bots[key];
            match bot.session() {
                Some(session) => Ok(session),
                None => match mem::replace(&mut bot.state, BotState::Absent) {
                    BotState::Failed(fault) => Err(fault),
                    _ => Err(BotFault::disconnected(Detail::OutputEnded)),
                },
            }
        });
        let places = places.collect();
        let ResumedMatch { mut play, outages, journal, paused_us, .. } = resumed;
        play.trust_outages(self.common.run.terms.trust_outages);
        tracing::info!("{} goes on after {:.1} s", fixture.id, paused_us as f64 / 1e6);
        let visibility = self.common.live.as_ref().map(|live| live.visibility(self.common.rules, &fixture));
        // The moves to which these belong are no longer known.
        play.infos().clear();
        let key = self.lane.restore(play, outages, paused_us, journal, places);
        self.add_open(
            key,
            OpenMatch { pairing, fixture, bots, lost: Vec::new(), live: None, waits: 0 },
            visibility,
        );
        Ok(())
    }

    /// Leaves a match to another process. Its bots get no `bye`, so that they connect again.
    pub(super) fn leave(&mut self, key: MatchKey) {
        let Some(open) = self.open.remove(&key) else { return };
        let OpenMatch { pairing, bots, .. } = *open;
        self.lane.leave(key);
        self.pairings[pairing].running -= 1;
        bots.into_iter().for_each(|key| self.part(key));
    }

    /// Leaves the matches that have not continued to another process.
    pub(super) fn leave_expected(&mut self) {
        for key in mem::take(&mut self.expected).instances.into_keys() {
            self.part(key);
        }
        let queued = self.pairings.iter_mut().flat_map(|(_, pairing)| &mut pairing.next);
        for resumed in queued.filter_map(|queued| queued.resumed.take()) {
            resumed.journal.close();
        }
    }

    /// Closes the connection of a bot without `bye`, so that it connects again.
    fn part(&mut self, key: BotKey) {
        if let Some(session) = self.bots.get(key).and_then(Bot::session) {
            self.forget(session);
            self.release(key);
            self.bots[key].state = BotState::Absent;
        }
    }
}
