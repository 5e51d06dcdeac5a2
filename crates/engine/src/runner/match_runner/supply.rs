//! Supplies the lanes with bots.

use std::collections::HashSet;

use referee_match::Detail;
use tokio::sync::mpsc::error::SendError;
use tokio::time::Instant;

use super::event_loop::EventLoop;
use super::lanes::LaneThread;
use slotmap::Key;

use crate::driver::BotFault;
use crate::runner::bots::BotKey;
use crate::runner::fixture::Wait;
use crate::runner::lane_messages::{BotArrival, LaneHandle, LaneOrder, ReportEvent};
use crate::sources::{Holder, Lobby};

/// A request of a lane for bots.
pub(super) struct BotRequest {
    pub(super) lane: usize,
    /// The requested bots with the index of their configuration.
    pub(super) bots: Vec<(BotKey, usize)>,
    pub(super) kind: BotRequestKind,
}

/// The kind of a request: requests of the same kind wait for the same connections.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct BotRequestKind {
    /// The configurations of the bots, sorted.
    entrants: Vec<usize>,
    /// Behaviour while one of them is not connected.
    pub(super) wait: Wait,
}

impl BotRequest {
    pub(super) fn new(lane: usize, bots: Vec<(BotKey, usize)>, wait: Wait) -> BotRequest {
        let mut entrants: Vec<usize> = bots.iter().map(|&(_, entrant)| entrant).collect();
        entrants.sort_unstable();
        BotRequest { lane, bots, kind: BotRequestKind { entrants, wait } }
    }
}

/// A bot with fewer connections than a match needs.
pub(super) struct Absent {
    /// The time at which the bot was first missed, in the runner's time.
    pub(super) since: u64,
    /// The number of connections that the match needs.
    pub(super) wanted: usize,
}

impl EventLoop {
    /// Returns the time until which a request waits for bots that are not connected.
    fn waits_until(&self, absent: &[(String, usize)]) -> Option<Instant> {
        let since = absent.iter().filter_map(|(name, _)| Some(self.absent.get(name)?.since)).max()?;
        Some(self.clock.instant(since + self.wait.as_micros() as u64).into())
    }

    /// Notes the bots that have connected again. Returns whether there are any.
    fn note_connected(&mut self) -> bool {
        let Some(lobby) = &self.lobby else { return false };
        let has_come = |(name, absent): &(&String, &Absent)| lobby.connections(name) >= absent.wanted;
        let connected: Vec<String> =
            self.absent.iter().filter(has_come).map(|(name, _)| name.clone()).collect();
        for name in &connected {
            self.absent.remove(name);
            self.set_absent(name, false);
            self.report(ReportEvent::Connected(name.clone()));
        }
        !connected.is_empty()
    }

    /// Tells the schedule whether a bot is connected.
    fn set_absent(&self, name: &str, is_absent: bool) {
        let bots = self.common.bots.all();
        let bots = bots.iter().enumerate();
        let of_name = bots.filter(|(_, entrant)| entrant.source.connects_as() == Some(name));
        self.schedule.set_absent(of_name.map(|(index, _)| index), is_absent);
    }

    /// Notes that bots have fewer connections than a match needs. Returns whether the waiting time of all of them is
    /// over.
    fn note_absent(&mut self, short: &[(String, usize)]) -> bool {
        let now = self.clock.now();
        for (name, wanted) in short {
            if !self.absent.contains_key(name) {
                self.absent.insert(name.clone(), Absent { since: now, wanted: *wanted });
                self.set_absent(name, true);
                self.report(ReportEvent::Waiting(name.clone()));
            }
        }
        let is_over = |absent: &Absent| u128::from(now - absent.since) >= self.wait.as_micros();
        !short.is_empty() && short.iter().all(|(name, _)| self.absent.get(name).is_some_and(is_over))
    }

    /// Supplies lanes with bots: the oldest request first, and all bots of a request at once, so that no two lanes
    /// wait for bots that the other one holds.
    pub(super) fn supply(&mut self) {
        (self.is_supply_due, self.wait_ends) = (false, None);
        let (some_came, common) = (self.note_connected(), self.common.clone());
        // Once a request waits, so do later ones of its kind. There can be thousands.
        let mut waiting = HashSet::new();
        for need in std::mem::take(&mut self.needs) {
            if waiting.contains(&need.kind) {
                self.needs.push(need);
                continue;
            }
            let absent = self.short(&need.bots, Lobby::connections);
            let is_given_up = self.note_absent(&absent);
            let goes_back = match need.kind.wait {
                Wait::Always => false,
                Wait::AsLastResort => some_came,
                Wait::Never => true,
            };
            if goes_back && !absent.is_empty() {
                let bots = need.bots.into_iter().map(|(key, _)| key).collect();
                self.send(need.lane, LaneOrder::PutBack(bots));
                continue;
            }
            if !is_given_up && !self.short(&need.bots, Lobby::waiting).is_empty() {
                self.wait_ends = self.wait_ends.into_iter().chain(self.waits_until(&absent)).min();
                waiting.insert(need.kind.clone());
                self.needs.push(need);
                continue;
            }
            let mut busy = Vec::new();
            for (key, entrant) in need.bots {
                let source = &common.bots.get(entrant).source;
                let Some(name) = source.connects_as() else {
                    let LaneThread { orders, cpu, .. } = &self.lanes[need.lane];
                    let lane = LaneHandle { number: need.lane, orders: orders.clone() };
                    self.starts.start(lane, *cpu, key, entrant, source.clone());
                    continue;
                };
                let holder = Holder { lane: need.lane, bot: key.data() };
                let come = match self.lobby.as_mut().and_then(|lobby| lobby.take(name, Some(holder))) {
                    Some(moving) => Ok(BotArrival::Connection(Box::new(moving))),
                    None if absent.iter().all(|(of, _)| of != name) => {
                        busy.push((key, entrant));
                        continue;
                    }
                    None => Err(BotFault::no_start(self.not_connected(name))),
                };
                self.send(need.lane, LaneOrder::BotArrived(key, come));
            }
            if !busy.is_empty() {
                self.needs.push(BotRequest::new(need.lane, busy, Wait::Always));
            }
        }
    }

    /// The names of these bots that have fewer connections than needed, with the number needed.
    pub(super) fn short(
        &self,
        bots: &[(BotKey, usize)],
        has: impl Fn(&Lobby, &str) -> usize,
    ) -> Vec<(String, usize)> {
        let Some(lobby) = &self.lobby else { return Vec::new() };
        let bots: Vec<_> = bots.iter().map(|&(_, entrant)| self.common.bots.get(entrant)).collect();
        let names: Vec<&str> = bots.iter().filter_map(|entrant| entrant.source.connects_as()).collect();
        let wanted = |name: &str| names.iter().filter(|other| **other == name).count();
        let missing = names.iter().filter(|name| wanted(name) > has(lobby, name));
        missing.map(|name| ((*name).to_owned(), wanted(name))).collect()
    }

    fn not_connected(&self, name: &str) -> Detail {
        let elsewhere = self.lobby.as_ref().map_or(0, |lobby| lobby.connections(name)) as u64;
        Detail::NotConnected { name: name.to_owned(), waited_ms: self.wait.as_millis() as u64, elsewhere }
    }

    /// Sends an order. If the lane is done, a process ends with the dropped order, and a connection goes back to the
    /// lobby.
    pub(super) fn send(&mut self, lane: usize, order: LaneOrder) {
        if let Err(SendError(
            LaneOrder::BotArrived(_, Ok(BotArrival::Connection(moving))) | LaneOrder::TakeOver(_, moving),
        )) = self.lanes[lane].orders.send(order)
            && let Some(lobby) = &mut self.lobby
        {
            lobby.put_back(*moving);
        }
    }

    /// Passes connections on to the lanes that hold the ones that they replace.
    pub(super) fn pass_on(&mut self) {
        let returning = self.lobby.as_mut().map(Lobby::take_returning).unwrap_or_default();
        for (Holder { lane, bot }, moving) in returning {
            self.send(lane, LaneOrder::TakeOver(bot.into(), Box::new(moving)));
        }
    }
}
