//! A round of a lane: it reads all streams that are ready, handles their lines and the timers, then writes.

use std::time::Instant;

use referee_game::seat::SeatSet;
use referee_match::{AbortReason, Event};
use referee_protocol::limits;
use referee_transport::{Arrival, ByteStream, take_arrivals};
use slotmap::KeyData;

use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::lane::{Lane, Timer};
use crate::driver::matches::Running;
use crate::driver::session::{Session, SessionState};

/// The interval of looks for the exit of a process whose stream has ended, in microseconds.
const EXIT_INTERVAL: u64 = 5_000;

impl<S: ByteStream> Lane<S> {
    /// Reads all ready streams, handles the input, then the timers, then writes. All input has the same timestamp, so that
    /// no bot is billed for the lines of another one.
    pub(super) fn serve(&mut self) {
        // Lines wait for the owner of the lane, and for this round.
        let has_waiting_lines = self.ready.keys.iter().any(|&key| self.has_waiting_lines(key));
        self.note_arrivals();
        let started = self.clock.begin(&self.timers, has_waiting_lines);
        let mut ready = self.ready.take();
        let asked = self.clock.written;
        for &key in &ready {
            if let Some(session) = self.sessions.get_mut(key) {
                session.read(key, &mut self.read_buffers);
            }
        }
        let stamp = if ready.len() > 1 { self.now() } else { started };
        self.clock.lag += stamp - started;
        self.report_pauses(stamp);
        match self.spin.answered.take() {
            Some(key) => {
                self.spin.note_found(started - asked);
                ready.push(key);
            }
            None => self.spin.note_turn(started),
        }
        for key in ready.drain(..) {
            self.handle_lines(key, stamp);
            if let Some(stream) = self.sessions.get_mut(key).and_then(Session::stream_mut) {
                stream.lines.return_buffer(&mut self.read_buffers);
            }
            self.settle_session(key, stamp);
        }
        // Sessions with lines left.
        ready.append(&mut self.ready.keys);
        self.ready.keys = ready;
        while let Some(due) = self.timers.pop(stamp) {
            match due {
                Timer::Session(key) => {
                    if let Some(session) = self.sessions.get_mut(key) {
                        session.alarm = None;
                    }
                    self.settle_session(key, stamp);
                }
                Timer::Match(key) => self.expire(key, stamp),
            }
        }
        self.flush(stamp);
    }

    /// Notes the arrival of input while the lane waited for rules. Later input has waited since then at most.
    fn note_arrivals(&mut self) {
        let Some((arrivals, ended)) = take_arrivals() else { return };
        let now = self.now();
        let lane_time = |at: Instant| now.saturating_sub(at.elapsed().as_micros() as u64);
        for Arrival { stream, at, since } in arrivals {
            let key = SessionKey::from(KeyData::from_ffi(stream));
            let Some(session) = self.sessions.get_mut(key) else { continue };
            let (SessionState::Greeting { stream, .. } | SessionState::Playing { stream, .. }) =
                &mut session.state
            else {
                continue;
            };
            let at = lane_time(at);
            let waited = at.saturating_sub(since.map_or(self.clock.polled, lane_time));
            stream.arrived.push((at, waited));
            if stream.arrived.len() == 1 {
                // The runtime has not looked at it yet.
                session.drain();
                self.ready.keys.push(key);
            }
        }
        self.clock.polled = self.clock.polled.max(lane_time(ended));
    }

    /// Returns whether lines of a session wait until the owner of the lane has handled a notice, which it
    /// does at once.
    fn has_waiting_lines(&self, key: SessionKey) -> bool {
        self.sessions.get(key).is_some_and(Session::has_lines)
    }

    /// Tells the matches how long the referee was paused, and aborts those that were paused for too long.
    fn report_pauses(&mut self, stamp: u64) {
        let Some(paused) = self.clock.new_pause() else { return };
        for key in self.running() {
            let running = &mut self.matches[key];
            let us = paused - std::mem::replace(&mut running.paused, paused);
            if us > 0 {
                self.notify_match(key, stamp, Event::Paused { us });
            }
            let Running { play, forgiven, .. } = &self.matches[key];
            if play.has_clock() && play.paused() - forgiven > limits::PAUSED_MS * 1000 {
                self.notify_match(
                    key,
                    stamp,
                    Event::Abort(&AbortReason::Paused { most_ms: limits::PAUSED_MS }),
                );
            }
        }
    }

    /// Handles the deadline of a match. Input that has arrived by now is read first.
    fn expire(&mut self, key: MatchKey, stamp: u64) {
        let Some(running) = self.matches.get_mut(key) else { return };
        running.alarm = None;
        let clock = running.clock;
        if running.play.next_deadline().is_some_and(|at| clock.due(at) <= stamp) {
            let sessions: Vec<SessionKey> = running.places.iter().flatten().copied().collect();
            for &session in &sessions {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.drain();
                }
                self.handle_lines(session, stamp);
            }
            if self.has_exiting_bot(key, stamp) {
                // The exit of the bot is about to be reported, and is not a missed limit.
                let running = &mut self.matches[key];
                return self.timers.set(&mut running.alarm, stamp + EXIT_INTERVAL, Timer::Match(key));
            }
            // An answer may be among lines that wait: the next round decides.
            if !sessions.iter().any(|&session| self.has_waiting_lines(session)) {
                self.replace_silent(key, stamp);
                self.report_received(key, stamp);
                let late = self.notify_match(key, stamp, Event::Tick);
                self.note_silence(key, late);
            }
        }
        self.touch(key);
    }

    /// Ends the sessions of a match whose process has exited. Returns whether there is one whose exit is awaited.
    fn has_exiting_bot(&mut self, key: MatchKey, now: u64) -> bool {
        let places = self.matches[key].places.clone();
        places.into_iter().flatten().fold(false, |found, key| {
            if self.sessions.get(key).is_some_and(Session::is_exiting) {
                self.settle_session(key, now);
            }
            found || self.sessions.get(key).is_some_and(Session::is_exiting)
        })
    }

    /// Notes that the bots of these seats of a match let a time limit expire.
    fn note_silence(&mut self, key: MatchKey, late: SeatSet) {
        let Some(running) = self.matches.get(key) else { return };
        for seat in late.iter() {
            if let Some(session) = running.places[seat.index()].and_then(|key| self.sessions.get_mut(key)) {
                session.is_silent = true;
            }
        }
    }

    /// Spins for the answer to the latest request, if no other match has to wait for it.
    pub(super) fn spin(&mut self) -> bool {
        let Some(key) = self.spin.asked.take() else { return false };
        if self.matches.len() != 1 || !self.spin.is_due(self.clock.written) {
            return false;
        }
        let found = self.sessions.get_mut(key).and_then(Session::stream_mut).is_some_and(|stream| {
            stream.lines.take_buffer(&mut self.read_buffers);
            // The bot may have run as soon as it was written to.
            stream.spin() || {
                std::thread::yield_now();
                stream.spin()
            }
        });
        if !found {
            self.spin.note_missed();
            return false;
        }
        self.spin.answered = Some(key);
        true
    }
}
