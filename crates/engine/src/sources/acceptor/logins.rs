//! Decides on the `hello` of pending connections.

use std::collections::VecDeque;
use std::time::Duration;

use referee_match::Detail;
use referee_protocol::limits;
use referee_protocol::words::ErrorCode;
use tokio::time::Instant;

use crate::driver::SessionKey;
use crate::sources::acceptor::AcceptLoop;
use crate::sources::acceptor::admissions::AdmissionError;
use crate::sources::acceptor::rejection_log::RejectionReason;

/// The maximum number of connections that wait for another one of their name to close.
const MOST_CROWDED: usize = 64;
const RECONNECT: Duration = Duration::from_millis(limits::RECONNECT_MS);
const WRONG_TOKEN_APART: Duration = Duration::from_millis(limits::WRONG_TOKEN_MS);
const WRONG_TOKEN_MOST: Duration = Duration::from_millis(limits::WRONG_TOKEN_MOST_MS);

impl AcceptLoop {
    /// Decides on the `hello` of a pending connection: admits or rejects it, or lets it wait for a turn of its
    /// address.
    pub(super) fn decide(&mut self, session: SessionKey) {
        let now = Instant::now();
        if self.lane.hello(session).is_none() {
            return;
        }
        if self.guests.asks_for_tokens() && !self.pending.asks(session, now) {
            return self.overdue.push_back((now + WRONG_TOKEN_MOST, session));
        }
        match self.admit(session) {
            Ok(()) => {}
            Err((ErrorCode::WrongToken, _)) => self.pending.delay_answer(session, WRONG_TOKEN_APART, now),
            Err(why) => self.hold_or_reject(session, why),
        }
    }

    /// Admits a pending connection.
    fn admit(&mut self, session: SessionKey) -> Result<(), AdmissionError> {
        let Some(hello) = self.lane.hello(session) else { return Ok(()) };
        let (name, version) = (hello.name.clone(), hello.version.clone().unwrap_or_default());
        self.guests.admit(hello, self.lane.token(session))?;
        if let Some(address) = self.pending.address(session) {
            tracing::info!(name, version, %address, "admitted");
        }
        self.pending.remove(session, true, Instant::now());
        match self.lane.release(session) {
            // The channel is closed at the end of the run; then the connection is closed.
            Some(moving) => drop(self.arrivals.send(moving)),
            None => self.guests.left(&name),
        }
        Ok(())
    }

    fn reject(&mut self, session: SessionKey, (code, what): AdmissionError) {
        if let Some((hello, address)) = self.lane.hello(session).zip(self.pending.address(session)) {
            let refusal = RejectionReason::of_login(code, &hello.name, self.guests.has(&hello.name));
            self.refusals.log(address, refusal, Instant::now());
            self.rejected.insert(session);
        }
        let now = self.lane.now();
        self.lane.reject(session, code, Detail::other(what), now);
    }

    /// Rejects a pending connection. If its name has too many connections, it waits for a while: a bot that
    /// reconnects may be faster than the detection that its old connection has ended.
    fn hold_or_reject(&mut self, session: SessionKey, why: AdmissionError) {
        if why.0 == ErrorCode::TooManyConnections && self.crowded.len() < MOST_CROWDED {
            self.crowded.push_back((Instant::now() + RECONNECT, session));
        } else {
            self.reject(session, why);
        }
    }

    /// Admits the connections that waited for one to close.
    pub(super) fn admit_crowded(&mut self) {
        for (until, session) in std::mem::take(&mut self.crowded) {
            if self.admit(session).is_err() {
                self.crowded.push_back((until, session));
            }
        }
    }

    /// Returns the time at which the next waiting connection is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let waiting = [&self.overdue, &self.crowded].into_iter().filter_map(VecDeque::front);
        waiting.map(|&(until, _)| until).chain(self.pending.next_turn()).min()
    }

    /// Decides on connections whose turn has come or whose waiting time is over.
    pub(super) fn answer(&mut self) {
        let now = Instant::now();
        while let Some(peer) = self.pending.due(now) {
            while let Some(session) = self.pending.next_asking(peer) {
                match self.admit(session) {
                    Ok(()) => {}
                    Err(why) if why.0 == ErrorCode::WrongToken => {
                        self.reject(session, why);
                        self.pending.turn_over(peer, WRONG_TOKEN_APART, now);
                        break;
                    }
                    Err(why) => self.hold_or_reject(session, why),
                }
            }
        }
        for waiting in [&mut self.overdue, &mut self.crowded] {
            let up = waiting.iter().take_while(|&&(until, _)| until <= now).count();
            self.up.extend(waiting.drain(..up).map(|(_, session)| session));
        }
        while let Some(session) = self.up.pop_front() {
            if let Err(why) = self.admit(session) {
                self.reject(session, why);
            }
        }
    }
}
