//! Ends sessions, and reports that to their matches.

use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};

use crate::core::seat::Seat;
use crate::referee::{Abort, Detail, Event};
use crate::server::lane::{Lane, MatchKey, Notice};
use crate::server::session::{Role, SessionKey};

impl Lane {
    /// Ends a session that violates the protocol, reporting the reason.
    pub(super) fn end_for_violation(&mut self, key: SessionKey, now: u64, what: Detail) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.refuse(ErrorCode::Protocol, what.to_string(), None, None);
        }
        self.end_session(key, now, (FaultCode::Protocol, &what), Some(&what));
    }

    /// The open requests of a session.
    pub(super) fn open_requests(&self, key: SessionKey) -> impl Iterator<Item = (MatchKey, Seat)> {
        let seats = self.sessions.get(key).map_or(&[][..], |session| &session.seats);
        seats.iter().copied().filter(|&(key, seat)| self.matches[key].play.open_request(seat).is_some())
    }

    /// Ends a session and tells its matches. `farewell` is sent last.
    pub(super) fn end_session(
        &mut self,
        key: SessionKey,
        now: u64,
        (code, detail): (FaultCode, &Detail),
        farewell: Option<&Detail>,
    ) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        let left_properly = session.has_played
            && match session.role {
                Role::Process => [Detail::LEFT, Detail::SaidBye].contains(detail),
                Role::Connection => code == FaultCode::Disconnected,
                Role::Host { .. } => false,
            };
        let (mut waiting, mut lost) = (Vec::new(), Vec::new());
        let is_host = matches!(session.role, Role::Host { .. });
        for (key, seat) in session.seats.clone() {
            if is_host {
                self.notify_match(key, now, Event::Abort(&Abort::HostLeft));
                continue;
            }
            let running = &mut self.matches[key];
            running.places[seat.index()] = None;
            if left_properly && running.play.awaits_ready(seat) {
                waiting.push((key, seat));
                self.notify_match(key, now, Event::Vacated(seat));
            } else {
                let before = running.play.faults(seat);
                self.notify_match(key, now, Event::Gone { seat, code, detail });
                if self.matches[key].play.faults(seat) != before {
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
        if let Some(reason) = farewell {
            session.say(&message::FromReferee::Bye(message::Bye { reason: reason.to_string() }));
        }
        session.end(now);
        self.notices.push_back(Notice::Gone { session: key, code, detail: detail.clone(), waiting, lost });
    }
}
