//! Repeats a line of the record in a match.

use referee_game::seat::Seat;
use referee_protocol::words::FaultCode;
use serde_json::value::RawValue;

use crate::record::line::{Accepted, RecordEntry, RecordLine, RecordedAnswer, RecordedFault};
use crate::{Detail, Event, Match, Stamp, Wants};

impl RecordLine<'_> {
    /// Repeats the cause of this line in a match, unless a cause that was repeated before covers it.
    pub(crate) fn repeat(&self, play: &mut Match) {
        let seats = play.setup().seating.seats();
        let has = |seat: &Seat| seat.index() < seats;
        if let RecordEntry::Start { seat } | RecordEntry::Request { seat, .. } = &self.entry
            && has(seat)
        {
            // Requests are sent with zero cumulative lag, so that the lag of an answer is its own.
            play.poll_transmit(*seat, Stamp { at: self.at_us, lag: 0 });
            return;
        }
        let stamp = Stamp { at: self.at_us, lag: self.lag_us() };
        if let RecordEntry::Fault(RecordedFault { seat, detail: Some(detail), .. }) = &self.entry
            && let Detail::NoAnswer { received, .. } | Detail::NotReady { received, .. } = detail
            && has(seat)
        {
            play.handle(stamp, Event::Received { seat: *seat, received: *received });
        }
        let of_seats = &play.setup().wants;
        let wants = |seat: Seat| of_seats.get(seat.index()).copied().unwrap_or_default();
        let event = self.event(wants).filter(|_| self.seat().as_ref().is_none_or(has));
        play.handle(stamp, event.unwrap_or(Event::Tick));
        while play.poll_event().is_some() {}
    }

    fn lag_us(&self) -> u64 {
        match self.entry {
            RecordEntry::Answer(RecordedAnswer { lag_us, .. })
            | RecordEntry::AcceptDraw(Accepted { lag_us, .. })
            | RecordEntry::Fault(RecordedFault { lag_us, .. }) => lag_us,
            _ => 0,
        }
    }

    /// The event that caused this line; `None` if the line is a consequence of other lines.
    fn event(&self, wants: impl Fn(Seat) -> Wants) -> Option<Event<'_>> {
        Some(match &self.entry {
            RecordEntry::Abort { reason } => Event::Abort(reason),
            &RecordEntry::Pause { paused_us } => Event::Paused { us: paused_us },
            &RecordEntry::Restart { seat, ready_ms } => Event::Restart { seat, ready_ms, wants: wants(seat) },
            RecordEntry::Ready { seat, nonce } => Event::Ready { seat: *seat, nonce: Some(nonce) },
            &RecordEntry::Answer(RecordedAnswer { seat, turn, unable: Some(because), info, .. }) => {
                Event::Unable { seat, turn: turn.into(), because, info: info.map(RawValue::get) }
            }
            RecordEntry::Answer(RecordedAnswer { seat, turn, text, offer_draw, info, .. }) => Event::Answer {
                seat: *seat,
                turn: u64::from(*turn),
                text,
                offer_draw: *offer_draw,
                info: info.map(RawValue::get),
            },
            &RecordEntry::AcceptDraw(Accepted { seat, turn, .. }) => {
                Event::AcceptDraw { seat, turn: turn.into() }
            }
            &RecordEntry::Resign { seat } => Event::Resign(seat),
            &RecordEntry::Stray { seat, code } => Event::Stray { seat, code, message: "" },
            RecordEntry::Fault(fault) => fault.event()?,
            RecordEntry::Record(_)
            | RecordEntry::Start { .. }
            | RecordEntry::Draw { .. }
            | RecordEntry::Request { .. }
            | RecordEntry::Fallback { .. }
            | RecordEntry::Event { .. }
            | RecordEntry::Result
            | RecordEntry::Bots(_)
            | RecordEntry::Seal(_) => return None,
        })
    }
}

impl RecordedFault {
    /// The event that caused it; `None` if it is a consequence of the lines before it.
    fn event(&self) -> Option<Event<'_>> {
        let seat = self.seat;
        Some(match (self.code, self.detail.as_ref()) {
            (FaultCode::IllegalMove | FaultCode::NoLegalMove | FaultCode::Unavailable, _) => return None,
            (FaultCode::Timeout, _) | (_, Some(Detail::NoAnswer { .. } | Detail::NotReady { .. })) => {
                Event::Expire(seat)
            }
            (code @ (FaultCode::Malformed | FaultCode::LineTooLong), Some(detail)) => {
                Event::Broken { seat, turn: self.turn.map(u64::from), code, detail }
            }
            // A consequence of the `stray` lines before it.
            (_, Some(Detail::Strays { .. })) => return None,
            (code, Some(detail)) => Event::Gone { seat, code, detail },
            (_, None) => return None,
        })
    }
}
