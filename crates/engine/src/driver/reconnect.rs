//! Sessions that outlive their streams: the bot connects again, and the new stream continues the session.

use std::time::Duration;

use referee_game::seat::Seat;
use referee_match::{Detail, Event, Outage};
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::FaultCode;
use referee_transport::{ByteStream, Stream};

use crate::driver::bot_fault::BotFault;
use crate::driver::buffered_stream::BufferedStream;
use crate::driver::detached_session::DetachedSession;
use crate::driver::hello::BotHello;
use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::lane::{Lane, Timer};
use crate::driver::notice::Notice;
use crate::driver::session::{Session, SessionState};

/// The reason in `bye` for a connection that another one replaces.
pub(crate) const REPLACED: &str = "another connection of the bot replaces this one";

impl<S: ByteStream> Lane<S> {
    /// Sets how long the matches of a lost connection wait for another one.
    pub fn set_reconnect_timeout(&mut self, timeout: Duration) {
        self.reconnect_timeout = timeout.as_micros() as u64;
    }

    /// Returns whether no match is played on a session.
    pub fn is_idle(&self, session: SessionKey) -> bool {
        self.sessions.get(session).is_none_or(|session| session.seats.is_empty())
    }

    /// Closes the stream of a session whose bot may connect again. Returns false if the session ends with its stream.
    pub(super) fn suspend(
        &mut self,
        key: SessionKey,
        now: u64,
        fault: &BotFault,
        bye: Option<&Detail>,
    ) -> bool {
        let BotFault { code, detail } = fault;
        let is_playing = |session: &&Session<S>| matches!(session.state, SessionState::Playing { .. });
        let Some(session) = self.sessions.get(key).filter(is_playing) else { return false };
        let returns =
            session.may_reconnect() && *code == FaultCode::Disconnected && *detail != Detail::SaidBye;
        let is_between_matches =
            |&(key, seat): &(MatchKey, Seat)| session.has_played && self.matches[key].play.awaits_ready(seat);
        let waits = |&(key, seat): &(MatchKey, Seat)| {
            self.matches[key].outages[seat.index()].len() < limits::RECONNECTIONS
        };
        if !returns || session.seats.iter().all(is_between_matches) || !session.seats.iter().any(waits) {
            return false;
        }
        let (waiting, ending): (Vec<_>, Vec<_>) = session.seats.iter().copied().partition(waits);
        let mut faulty = Vec::new();
        for (key, seat) in ending {
            self.matches[key].places[seat.index()] = None;
            if self.notify_match(key, now, Event::Gone { seat, code: *code, detail }).contains(seat) {
                faulty.push((key, seat));
            }
        }
        for &(key, seat) in &waiting {
            let running = &mut self.matches[key];
            let lost_us = running.clock.at(now).0;
            running.outages[seat.index()].push(Outage { lost_us, back_us: None });
        }
        let until = now + self.reconnect_timeout;
        let session = &mut self.sessions[key];
        session.matches = waiting.len() as u32;
        session.seats = waiting;
        if let Some(reason) = bye {
            session.say(&message::FromReferee::Bye(message::Bye {
                reason: reason.to_string(),
                reconnect: false,
            }));
        }
        session.lose(now, until, detail.clone());
        self.timers.set(&mut session.alarm, until, Timer::Session(key));
        for (at, seat) in self.sessions[key].seats.clone() {
            self.journal_seat(at, seat, key);
        }
        self.notices.push_back(Notice::Lost { session: key, faulty });
        true
    }

    /// Continues a lost session on another stream.
    pub(super) fn resume(&mut self, key: SessionKey, mut stream: BufferedStream<S>, hello: BotHello) {
        let now = self.now();
        let Some(session) = self.sessions.get_mut(key) else { return };
        let wants = hello.wants;
        stream.watch(key);
        stream.out.extend(&session.unacknowledged);
        session.state = SessionState::Playing { stream, hello };
        for (at, seat) in session.seats.clone() {
            let running = &mut self.matches[at];
            let back_us = running.clock.at(now).0;
            if let Some(outage) = running.outages[seat.index()].last_mut() {
                outage.back_us = Some(back_us);
            }
            self.notify_match(at, now, Event::Resumed { seat, wants });
            self.journal_seat(at, seat, key);
        }
        self.unflushed.dirty.push(key);
        self.ready.keys.push(key);
    }
}

impl Lane<Stream> {
    /// Continues a session on another connection of its bot. Its own stream is closed if it is open.
    ///
    /// # Errors
    /// Returns the connection if the session has ended.
    pub fn take_over(
        &mut self,
        key: SessionKey,
        mut moving: Box<DetachedSession>,
    ) -> Result<(), Box<DetachedSession>> {
        let now = self.now();
        if self.is_live(key) {
            // Input that has arrived before counts.
            self.sessions[key].drain();
            self.handle_lines(key, now);
            let fault = BotFault::disconnected(Detail::OutputEnded);
            self.end_session(key, now, fault, Some(&Detail::other(REPLACED)));
        }
        let session = self.sessions.get_mut(key);
        if !session.as_ref().is_some_and(|session| matches!(session.state, SessionState::Lost { .. })) {
            moving.resend(
                &session.map(|session| std::mem::take(&mut session.unacknowledged)).unwrap_or_default(),
            );
            return Err(moving);
        }
        let DetachedSession { hello, stream, .. } = *moving;
        match stream.attach(key, self.ready.queue.clone()) {
            Ok(stream) => self.resume(key, stream, hello),
            Err(error) => tracing::info!(%error, name = hello.name, "left"),
        }
        Ok(())
    }
}
