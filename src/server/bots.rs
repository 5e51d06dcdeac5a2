//! The bots that are on a lane.

use std::mem;
use std::time::Duration;

use referee_protocol::words::FaultCode;
use serde::Serialize;

use crate::bot::{Cut, Process, Said, Stderr};
use crate::core::seat::Seat;
use crate::referee::Detail;
use crate::server::arena::key;
use crate::server::lane::MatchKey;
use crate::server::session::SessionKey;

/// What a record tells of a bot.
#[derive(Serialize)]
pub(super) struct BotRecord {
    seat: usize,
    cpu_ms: Option<u64>,
    pub(super) stderr: String,
    stderr_dropped: u64,
}

/// What a lane knows of a bot at the end of a match. What the bot has written to standard error may not be read yet.
pub(super) struct BotUsage {
    seat: usize,
    pub(super) cpu_ms: Option<u64>,
    said: Vec<Cut>,
}

impl BotUsage {
    /// Waits for what the bot has written.
    pub(super) fn complete(self) -> BotRecord {
        let mut said = Said::default();
        for cut in self.said {
            said.append(cut.wait());
        }
        let (stderr, stderr_dropped) = said.into_text();
        BotRecord { seat: self.seat, cpu_ms: self.cpu_ms, stderr, stderr_dropped }
    }
}

key! {
    /// A bot of a lane.
    BotKey
}

pub(super) enum State {
    /// The house was asked for it.
    Asked,
    /// It has not introduced itself yet.
    Greeting(SessionKey),
    /// It plays.
    Here(SessionKey),
    /// It did not come.
    Failed(FaultCode, Detail),
    /// It has left after it had come, or nobody has asked for it yet.
    Absent,
}

/// A bot of a lane: a process or connection of an entrant, or the place of one.
pub(super) struct Bot {
    pub(super) entrant: usize,
    pub(super) state: State,
    pub(super) process: Option<Process>,
    /// Seats that wait for its next process or connection.
    pub(super) waiting: Vec<(MatchKey, Seat)>,
    /// Its processor time up to the end of its last match.
    pub(super) cpu_before: Duration,
    /// The standard error of its processes that are gone since its last match.
    pub(super) gone: Vec<Stderr>,
}

impl Bot {
    pub(super) fn new(entrant: usize) -> Bot {
        Bot {
            entrant,
            state: State::Absent,
            process: None,
            waiting: Vec::new(),
            cpu_before: Duration::ZERO,
            gone: Vec::new(),
        }
    }

    pub(super) fn session(&self) -> Option<SessionKey> {
        match self.state {
            State::Greeting(session) | State::Here(session) => Some(session),
            State::Asked | State::Failed(..) | State::Absent => None,
        }
    }

    /// What is known of it for its match that has ended.
    pub(super) fn usage(&mut self, seat: usize) -> BotUsage {
        let process = self.process.as_ref();
        let cpu = process.and_then(Process::cpu);
        let before = cpu.map_or(Duration::ZERO, |cpu| mem::replace(&mut self.cpu_before, cpu));
        let said = self.gone.drain(..).chain(process.map(Process::stderr).cloned());
        let said = said.map(|stderr| stderr.cut()).collect();
        let cpu_ms = cpu.map(|cpu| cpu.saturating_sub(before).as_millis() as u64);
        BotUsage { seat, cpu_ms, said }
    }
}
