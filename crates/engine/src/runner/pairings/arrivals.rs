//! The bots of a lane: how they arrive, are rejected and leave.

use std::mem;
use std::time::Duration;

use referee_match::Detail;
use referee_transport::Stream;

use super::LanePairings;
use crate::driver::{BotFault, Role, SessionKey};
use crate::runner::bots::{BotKey, BotState};
use crate::runner::fixture::Wait;
use crate::runner::lane_messages::{BotArrival, LaneEvent};

impl LanePairings {
    pub(super) fn request_bots(&mut self, missing: Vec<(BotKey, usize)>, wait: Wait) {
        if missing.is_empty() {
            return;
        }
        for &(key, _) in &missing {
            self.bots[key].state = BotState::Requested;
        }
        self.send_event(LaneEvent::NeedsBots(missing, wait));
    }

    /// Handles a requested bot that has arrived or is not available.
    pub(super) fn handle_arrival(&mut self, key: BotKey, come: Result<BotArrival, BotFault>) {
        // The bot may not be needed any more when the lane is stopping.
        let is_wanted = self.bots.get(key).is_some_and(|bot| matches!(bot.state, BotState::Requested));
        let come = match come {
            Ok(come) if is_wanted => come,
            Ok(BotArrival::Process(process, ..)) => return self.send_event(LaneEvent::EndProcess(process)),
            Ok(BotArrival::Connection(moving)) => {
                return self.send_event(LaneEvent::ReturnsConnection(moving));
            }
            Err(_) if !is_wanted => return,
            Err(fault) => return self.fail(key, fault),
        };
        let bot = &mut self.bots[key];
        bot.cpu_before = Duration::ZERO;
        match come {
            BotArrival::Process(process, wire, sender) => {
                bot.kept = process.kept().cloned();
                bot.process = Some(process);
                let stream = match Stream::watch(wire) {
                    Ok(stream) => stream,
                    Err(error) => {
                        let detail = Detail::NoStream { error: error.to_string() };
                        return self.fail(key, BotFault::no_start(detail));
                    }
                };
                let hello = Duration::from_millis(self.common.run.terms.hello_ms);
                let session = self.lane.add(Role::Process, stream, hello);
                // If the process has exited already, the channel is closed, and the end of the stream is detected.
                let _ = sender.send(session);
                bot.state = BotState::Greeting(session);
                self.by_session.insert(session, key);
            }
            BotArrival::Connection(moving) => {
                let unacknowledged = moving.unacknowledged();
                match self.lane.adopt(*moving) {
                    Ok(session) => {
                        bot.state = BotState::Ready(session);
                        self.by_session.insert(session, key);
                        self.handle_hello(key);
                    }
                    // The bot disconnected without a match, which is not a fault; another one may connect.
                    Err(error) => {
                        let spec = bot.spec;
                        tracing::debug!(bot = self.common.bots.get(spec).name, %error, "gone");
                        if let Some(unacknowledged) = unacknowledged {
                            self.send_event(LaneEvent::BotGone(key, unacknowledged));
                        }
                        self.send_event(LaneEvent::ConnectionEnded(spec));
                        let wait = self.wait_for(key);
                        self.request_bots(vec![(key, spec)], wait);
                    }
                }
            }
        }
    }

    /// Behaviour of a match while this bot is not connected. A match that has begun waits.
    fn wait_for(&self, key: BotKey) -> Wait {
        let bot = &self.bots[key];
        let next = bot.pairing.and_then(|pairing| self.pairings[pairing].next.front());
        match next.filter(|_| bot.waiting.is_empty()) {
            Some(next) => next.fixture.wait,
            None => Wait::Always,
        }
    }

    /// Handles the `hello` of a bot.
    pub(super) fn handle_hello(&mut self, key: BotKey) {
        let bot = &mut self.bots[key];
        let Some(session) = bot.session() else { return };
        bot.state = BotState::Ready(session);
        let id = self.common.rules.meta().id;
        let games = self.lane.hello(session).and_then(|hello| hello.games.as_ref());
        if let Some(games) = games.filter(|games| !games.iter().any(|game| game == id)) {
            let detail = Detail::OtherGames { game: id.to_owned(), plays: games.clone() };
            self.reject(key, session);
            return self.fail(key, BotFault::no_start(detail));
        }
        let ready_ms = self.common.run.terms.first_ready_ms;
        for (game, seat) in mem::take(&mut bot.waiting) {
            self.lane.seat(game, seat, Ok(session), ready_ms);
        }
        self.continue_pairing_of(key);
    }

    /// Dismisses a bot that does not play the game.
    fn reject(&mut self, key: BotKey, session: SessionKey) {
        self.lane.dismiss(session, "the bot does not play this game");
        self.forget(session);
        self.release(key);
    }

    /// Gives back the process or connection of a bot to the runner.
    pub(super) fn release(&mut self, key: BotKey) {
        let bot = &mut self.bots[key];
        match bot.process.take() {
            Some(process) => {
                bot.gone.push(process.stderr().clone());
                self.send_event(LaneEvent::EndProcess(process));
            }
            None => {
                let spec = bot.spec;
                self.send_event(LaneEvent::ConnectionEnded(spec));
            }
        }
    }

    pub(super) fn fail(&mut self, key: BotKey, fault: BotFault) {
        let bot = &mut self.bots[key];
        bot.state = BotState::Failed(fault.clone());
        for (game, seat) in mem::take(&mut bot.waiting) {
            self.lane.seat(game, seat, Err(fault.clone()), 0);
        }
        self.continue_pairing_of(key);
    }

    pub(super) fn retire(&mut self, key: BotKey, reason: &str) {
        let Some(bot) = self.bots.remove(key) else { return };
        let session = bot.session();
        match (bot.process, session) {
            (Some(process), session) => {
                if let Some(session) = session {
                    self.lane.dismiss(session, reason);
                    self.forget(session);
                }
                self.send_event(LaneEvent::EndProcess(process));
            }
            (None, Some(session)) => match self.lane.release(session) {
                Some(moving) => {
                    self.by_session.remove(&session);
                    self.send_event(LaneEvent::ReturnsConnection(Box::new(moving)));
                }
                None => {
                    self.forget(session);
                    self.send_event(LaneEvent::ConnectionEnded(bot.spec));
                }
            },
            (None, None) => {}
        }
    }
}
