//! Ends sessions, and reports that to their matches.

use referee_game::seat::Seat;
use referee_match::{AbortReason, Detail, Event, Lost};
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};
use referee_transport::ByteStream;

use crate::driver::bot_fault::BotFault;
use crate::driver::buffered_stream::BufferedStream;
use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::lane::{Lane, Timer};
use crate::driver::matches::Running;
use crate::driver::notice::Notice;
use crate::driver::role::Role;

/// The reason for rejecting a connection that sends nothing where TLS is expected.
const NEEDS_TLS: &str = "this port uses TLS: connect over TLS";

impl<S: ByteStream> Lane<S> {
    pub(super) fn open_requests(&self, key: SessionKey) -> impl Iterator<Item = (MatchKey, Seat)> {
        let seats = self.sessions.get(key).map_or(&[][..], |session| &session.seats);
        seats.iter().copied().filter(|&(key, seat)| self.matches[key].play.open_request(seat).is_some())
    }

    /// Ends a session and notifies its matches. `bye` is sent last.
    pub(super) fn end_session(&mut self, key: SessionKey, now: u64, fault: BotFault, bye: Option<&Detail>) {
        if self.suspend(key, now, &fault, bye) {
            return;
        }
        let BotFault { code, detail } = fault;
        let Some(session) = self.sessions.get_mut(key) else { return };
        if !session.begin_end() {
            return;
        }
        let is_replaced = session.has_played
            && match session.role {
                Role::Process => {
                    [Detail::LEFT, Detail::SaidBye].contains(&detail)
                        || (session.is_silent && code == FaultCode::NoStart)
                }
                Role::Connection { .. } => code == FaultCode::Disconnected,
                Role::Host { .. } => false,
            };
        let (mut waiting, mut lost) = (Vec::new(), Vec::new());
        let is_host = matches!(session.role, Role::Host { .. });
        for (key, seat) in session.seats.clone() {
            if is_host {
                self.notify_match(key, now, Event::Abort(&AbortReason::HostLeft));
                continue;
            }
            let running = &mut self.matches[key];
            running.places[seat.index()] = None;
            if is_replaced && running.play.awaits_ready(seat) {
                waiting.push((key, seat));
                // The next bot of the seat is not known.
                running.discard_journal();
                self.notify_match(key, now, Event::Vacated(seat));
            } else {
                let lost_then = running.lost(seat, now).filter(|_| code == FaultCode::Disconnected);
                let detail = match lost_then {
                    Some(Lost { lost_ms, waited_ms }) => {
                        &Detail::ConnectionLost { detail: Box::new(detail.clone()), lost_ms, waited_ms }
                    }
                    None => &detail,
                };
                let at_fault = self.notify_match(key, now, Event::Gone { seat, code, detail });
                if at_fault.contains(seat) {
                    lost.push((key, seat));
                }
            }
        }
        if is_host {
            // The host may still read after its output has ended.
            self.flush(now);
        }
        let Some(session) = self.sessions.get_mut(key) else { return };
        session.seats.clear();
        session.matches = 0;
        if let Some(reason) = bye {
            session.say(&message::FromReferee::Bye(message::Bye {
                reason: reason.to_string(),
                reconnect: false,
            }));
        }
        session.end(now);
        self.notices.push_back(Notice::Gone { session: key, code, detail, waiting, lost });
    }

    /// Ends the processes that no longer answer: a time limit expired, nothing has arrived since, and they were not ready
    /// for this match in time. Others take their seats.
    pub(super) fn replace_silent(&mut self, key: MatchKey, now: u64) {
        let Running { places, play, clock, .. } = &self.matches[key];
        let at = clock.at(now);
        let overdue = (0..).map(Seat).zip(places).filter(|&(seat, _)| play.is_ready_overdue(seat, at));
        let silent: Vec<SessionKey> = overdue
            .filter_map(|(_, place)| *place)
            .filter(|&session| self.is_silent(session) && self.sessions[session].role == Role::Process)
            .collect();
        for session in silent {
            self.end_session(session, now, BotFault::no_start(Detail::other("it no longer answers")), None);
        }
    }

    /// Ends a session, reporting the reason to the peer: an error, then `bye`.
    pub(crate) fn reject(&mut self, key: SessionKey, code: ErrorCode, detail: Detail, now: u64) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        let lacks_tls = session.stream_mut().is_some_and(BufferedStream::fall_back_to_plain_text);
        let detail = match detail {
            // A client that waits for the referee's `hello`.
            Detail::NoHello { .. } if lacks_tls => Detail::other(format!("{NEEDS_TLS} ({detail})")),
            detail => detail,
        };
        session.refuse(code, detail.to_string(), None, None);
        let code = if code == ErrorCode::Protocol { FaultCode::Protocol } else { FaultCode::NoStart };
        self.end_session(key, now, BotFault { code, detail: detail.clone() }, Some(&detail));
    }

    /// Ends a session that is over; otherwise sets its timer and queues its output.
    pub(super) fn settle_session(&mut self, key: SessionKey, now: u64) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if let Some(stream) = session.stream_mut() {
            stream.date_end(|| self.clock.now());
            if !stream.out.is_empty() {
                self.unflushed.dirty.push(key);
            }
        }
        if session.has_lines() {
            return;
        }
        let session = &self.sessions[key];
        if let Some(fault) = session.over(now, || self.open_requests(key).next().is_some()) {
            return match (session.role, fault.code) {
                (_, FaultCode::Protocol) => self.reject(key, ErrorCode::Protocol, fault.detail, now),
                (Role::Connection { .. }, FaultCode::NoStart) => {
                    self.reject(key, ErrorCode::NoStart, fault.detail, now);
                }
                _ => self.end_session(key, now, fault, None),
            };
        }
        let Some(session) = self.sessions.get_mut(key) else { return };
        let Some(due) = session.deadline().map(|due| if due <= now { now + 1_000_000 } else { due }) else {
            return;
        };
        self.timers.set(&mut session.alarm, due, Timer::Session(key));
    }
}
