//! One round of a lane: it reads all streams that are ready, handles their lines and the timers, then writes.

use referee_protocol::limits;

use crate::core::seat::Seat;
use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::lane::{Lane, Timer};
use crate::driver::matches::Running;
use crate::driver::notice::Notice;
use crate::referee::{AbortReason, Event};
use crate::transport::ByteStream;

/// The maximum number of matches whose requests get the same timestamp.
const BATCH: usize = 64;

impl<S: ByteStream> Lane<S> {
    /// Reads all ready streams, handles the input, then the timers, then writes. All input has the same timestamp, so that
    /// no bot is billed for the lines of another one.
    pub(super) fn serve(&mut self) {
        let has_waiting_lines = self.ready.iter().any(|&key| self.has_waiting_lines(key));
        self.ready_queue.take(&mut self.ready);
        let mut ready = std::mem::take(&mut self.ready);
        let (started, asked) = (self.now(), self.measured);
        let away = self.away.take().map_or(0, |since| started - since);
        // Lines waited for the owner of the lane, and for this round.
        let away = if has_waiting_lines { started - self.measured } else { away };
        // Timers may fire one millisecond late. Anything more is lag, even if a bot blocked the lane. Lag must be
        // known before the input is judged.
        let late = self.timers.overdue(started).min(started - self.measured);
        // What arrives one microsecond before a timer is in time.
        let late = if late > 2_000 { late + 1 } else { 0 };
        self.lag += away.max(late).max(self.clock.take_waited());
        for &key in &ready {
            if let Some(session) = self.sessions.get_mut(key) {
                session.lines.take_buffer(&mut self.read_buffers);
                session.read();
                // The owner of the lane has handled all notices.
                session.has_lines &= session.is_held;
            }
        }
        let stamp = if ready.len() > 1 { self.now() } else { started };
        self.lag += stamp - started;
        self.measured = stamp;
        self.report_pauses(stamp);
        match self.answered.take() {
            Some(key) => {
                self.spin.note_found(started - asked);
                ready.push(key);
            }
            None => self.spin.note_turn(started),
        }
        for key in ready.drain(..) {
            self.handle_lines(key, stamp);
            if let Some(session) = self.sessions.get_mut(key) {
                session.lines.return_buffer(&mut self.read_buffers);
            }
            self.settle_session(key, stamp);
        }
        // Sessions with lines left.
        ready.append(&mut self.ready);
        self.ready = ready;
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

    /// Whether lines of a session wait until the owner of the lane has handled a notice, which it does at once.
    fn has_waiting_lines(&self, key: SessionKey) -> bool {
        self.sessions.get(key).is_some_and(|session| session.has_lines && !session.is_held)
    }

    /// Tells the matches how long the referee was paused, and aborts those that were paused for too long.
    fn report_pauses(&mut self, stamp: u64) {
        let paused = self.clock.paused();
        if paused == self.paused {
            return;
        }
        self.paused = paused;
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
            // An answer may be among lines that wait: the next round decides.
            if !sessions.into_iter().any(|session| self.has_waiting_lines(session)) {
                self.report_received(key, stamp);
                self.notify_match(key, stamp, Event::Tick);
            }
        }
        self.touch(key);
    }

    /// Spins for the answer to the latest request, if no other match has to wait for it.
    pub(super) fn spin(&mut self) -> bool {
        let Some(key) = self.asked.take() else { return false };
        if self.matches.len() != 1 || !self.spin.is_due(self.measured) {
            return false;
        }
        let found = self.sessions.get_mut(key).is_some_and(|session| {
            session.lines.take_buffer(&mut self.read_buffers);
            // The bot may have run as soon as it was written to.
            session.spin() || {
                std::thread::yield_now();
                session.spin()
            }
        });
        if !found {
            self.spin.note_missed();
            return false;
        }
        self.answered = Some(key);
        true
    }

    /// Writes the output of the matches: one write per session. The clocks of requests start when they are written, so many
    /// matches are written in batches.
    pub(super) fn flush(&mut self, stamp: u64) {
        let mut owed_end = std::mem::take(&mut self.owed_end);
        let mut touched = std::mem::take(&mut self.touched);
        for (index, batch) in touched.chunks(BATCH).enumerate() {
            if index > 0 {
                self.write_dirty(stamp);
            }
            let at = self.note_lag();
            let mut has_journaled = false;
            for &key in batch {
                has_journaled |= self.flush_match(key, at);
            }
            if has_journaled {
                self.note_lag();
            }
        }
        self.dirty.append(&mut owed_end);
        self.write_dirty(stamp);
        touched.clear();
        // Matches of sessions that were checked again.
        touched.append(&mut self.touched);
        self.touched = touched;
    }

    /// Counts the time since lag was last accounted for as lag. Returns the current time.
    fn note_lag(&mut self) -> u64 {
        let now = self.now();
        self.lag += now - self.measured;
        self.measured = now;
        now
    }

    /// Writes the sessions with output.
    fn write_dirty(&mut self, stamp: u64) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for key in dirty.drain(..) {
            if let Some(session) = self.sessions.get_mut(key) {
                session.write(stamp);
                session.return_buffer(&mut self.spare_buffers);
                if session.deadline().is_some() {
                    // Rare: a stream that is blocked, closed or new.
                    self.settle_session(key, stamp);
                }
            }
        }
        // Sessions that were checked again; the allocation is reused.
        dirty.append(&mut self.dirty);
        self.dirty = dirty;
    }

    /// Queues the output of a match. Its journal is written before the output. Returns whether there was anything to write.
    fn flush_match(&mut self, key: MatchKey, at: u64) -> bool {
        let Some(running) = self.matches.get_mut(key) else { return false };
        running.is_touched = false;
        let stamp = running.clock.stamp(at, self.lag);
        let receivers = if running.ending.is_some() { &mut self.owed_end } else { &mut self.dirty };
        for (seat, place) in (0..).map(Seat).zip(&running.places) {
            let Some(transmit) = running.play.poll_transmit(seat, stamp) else { continue };
            if let Some(session) = place.and_then(|key| self.sessions.get_mut(key)) {
                if running.ending.is_some() && session.may_reconnect() {
                    session.unacknowledged.extend_from_slice(transmit.bytes);
                }
                if session.lost.is_some() {
                    continue;
                }
                if transmit.has_request {
                    session.since_request = (0, 0);
                    self.asked = *place;
                }
                session.queue(transmit.bytes, &mut self.spare_buffers);
                receivers.extend(*place);
            }
        }
        let has_journaled = running.write_journal();
        if let Some(ending) = running.ending.take() {
            self.finish(key, ending, stamp);
            return has_journaled;
        }
        if std::mem::take(&mut running.has_news) {
            self.notices.push_back(Notice::Moved(key));
        }
        if let Some(deadline) = running.play.next_deadline() {
            let due = running.clock.due(deadline);
            self.timers.set(&mut running.alarm, due, Timer::Match(key));
        }
        has_journaled
    }
}
