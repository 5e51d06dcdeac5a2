//! The bots of a lane.

use std::mem;
use std::time::Duration;

use referee_bots::{Process, Stderr, StderrCut, StderrText};
use referee_game::seat::Seat;
use referee_match::Outage;
use referee_match::record::{BotLine, KeptData};

use crate::driver::{BotFault, MatchKey, SessionKey};

/// Measurements of a bot at the end of a match. The bot's standard error may not have been read yet.
pub(super) struct BotUsage {
    seat: usize,
    pub(super) cpu_ms: Option<u64>,
    said: Vec<StderrCut>,
    kept: Option<KeptData>,
    /// The times without a connection.
    pub(super) outages: Vec<Outage>,
}

impl BotUsage {
    /// Waits until the bot's standard error has been read.
    pub(super) fn complete(self) -> BotLine {
        let BotUsage { seat, cpu_ms, said: cuts, kept, outages } = self;
        let mut said = StderrText::default();
        for cut in cuts {
            said.append(cut.wait());
        }
        let (stderr, stderr_dropped) = said.into_text();
        BotLine { seat: Seat(seat as u8), cpu_ms, stderr, stderr_dropped, outages, kept, private: None }
    }
}

slotmap::new_key_type! {
    pub(super) struct BotKey;

    pub(super) struct PairingKey;
}

pub(super) enum BotState {
    /// Requested from the runner.
    Requested,
    /// The `hello` has not arrived.
    Greeting(SessionKey),
    Ready(SessionKey),
    /// The connection is lost, and its matches wait for another one.
    Lost(SessionKey),
    /// The bot could not be started or did not connect.
    Failed(BotFault),
    /// The bot has left, or has not been requested.
    Absent,
}

/// A bot of a lane: a process or connection, or the slot for one.
pub(super) struct Bot {
    pub(super) spec: usize,
    /// The pairing in which it plays; `None` while it is idle.
    pub(super) pairing: Option<PairingKey>,
    pub(super) state: BotState,
    pub(super) process: Option<Process>,
    /// Seats that wait for its next process or connection.
    pub(super) waiting: Vec<(MatchKey, Seat)>,
    /// Processor time up to the end of its last match.
    pub(super) cpu_before: Duration,
    /// Data kept at the start of its process.
    pub(super) kept: Option<KeptData>,
    /// The standard error of processes that have ended since its last match.
    pub(super) gone: Vec<Stderr>,
}

impl Bot {
    pub(super) fn new(spec: usize) -> Bot {
        Bot {
            spec,
            pairing: None,
            state: BotState::Absent,
            process: None,
            waiting: Vec::new(),
            cpu_before: Duration::ZERO,
            kept: None,
            gone: Vec::new(),
        }
    }

    pub(super) fn session(&self) -> Option<SessionKey> {
        match self.state {
            BotState::Greeting(session) | BotState::Ready(session) | BotState::Lost(session) => Some(session),
            BotState::Requested | BotState::Failed(..) | BotState::Absent => None,
        }
    }

    /// Takes the statistics of the match that has just ended.
    pub(super) fn usage(&mut self, seat: usize, outages: Vec<Outage>) -> BotUsage {
        let process = self.process.as_ref();
        let cpu = process.and_then(Process::cpu);
        let before = cpu.map_or(Duration::ZERO, |cpu| mem::replace(&mut self.cpu_before, cpu));
        let said = self.gone.drain(..).chain(process.map(Process::stderr).cloned());
        let said = said.map(|stderr| stderr.cut()).collect();
        let cpu_ms = cpu.map(|cpu| cpu.saturating_sub(before).as_millis() as u64);
        BotUsage { seat, cpu_ms, said, kept: self.kept.clone(), outages }
    }
}
