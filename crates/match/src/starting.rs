//! The first phase of a match: `start` is sent, and every seat has to be `ready`.

use referee_game::clock::Tick;
use referee_game::hex;
use referee_game::json::{self, key, opening};
use referee_game::seat::Seat;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};

use crate::answers::error_code;
use crate::common::Common;
use crate::detail::{Detail, Fault};
use crate::event::{Event, Stamp};
use crate::match_::{Phase, PhaseFlow};
use crate::player::SeatExit;
use crate::playing::Playing;
use crate::received::{Field, RefusedLine, overdue};
use crate::setup::Leg;

/// The state of a match that has not begun.
#[derive(Debug)]
pub(super) struct Starting {
    seats: Vec<StartingSeat>,
}

#[derive(Debug)]
struct StartingSeat {
    seat: Seat,
    /// Timeout from `start` to `ready`, in microseconds.
    limit: u64,
    /// The time at which `start` was sent.
    started: Option<Tick>,
    readiness: Readiness,
    /// An exit after the seat was ready or had failed to be; it applies when play has begun.
    exit_later: Option<SeatExit>,
}

#[derive(Debug)]
enum Readiness {
    Awaited,
    Ready,
    Failed(SeatExit),
}

impl StartingSeat {
    fn is_awaited(&self) -> bool {
        matches!(self.readiness, Readiness::Awaited)
    }
}

impl Starting {
    /// Writes `start` to every outbox.
    pub(super) fn new(common: &mut Common) -> Starting {
        let seats = common.setup.seating.all();
        seats.iter().for_each(|seat| write_start(common, seat, false));
        let starting = |seat: Seat| StartingSeat {
            seat,
            limit: common.setup.header.seats[seat.index()].ready_ms * 1000,
            started: None,
            readiness: Readiness::Awaited,
            exit_later: None,
        };
        Starting { seats: seats.iter().map(starting).collect() }
    }

    fn seat(&mut self, seat: Seat) -> &mut StartingSeat {
        &mut self.seats[seat.index()]
    }

    /// Returns whether `ready` of this seat is awaited.
    pub(super) fn awaits(&self, seat: Seat) -> bool {
        self.seats[seat.index()].is_awaited()
    }

    /// Returns whether `ready` of this seat is awaited, and its time is up.
    pub(super) fn is_overdue(&self, seat: Seat, at: Tick) -> bool {
        let StartingSeat { started, limit, .. } = self.seats[seat.index()];
        self.awaits(seat) && started.is_some_and(|started| at > started + limit)
    }

    pub(super) fn next_deadline(&self) -> Option<Tick> {
        let awaited = self.seats.iter().filter(|seat| seat.is_awaited());
        // `ready` exactly at the deadline is in time.
        awaited.filter_map(|seat| Some(seat.started? + seat.limit + 1)).min()
    }

    /// Prepares for the writing of a seat's outbox.
    pub(super) fn sent(&mut self, common: &mut Common, stamp: Stamp, seat: Seat) {
        let started = &mut self.seat(seat).started;
        if started.is_none() {
            *started = Some(stamp.at);
            common.log.line(opening!("start"), stamp.at).number(key!("seat"), seat.0).end_line();
        }
    }

    pub(super) fn handle(&mut self, common: &mut Common, stamp: Stamp, event: Event<'_>) -> PhaseFlow {
        let exit = match event {
            Event::Vacated(seat) => {
                if self.awaits(seat) {
                    self.seat(seat).started = None;
                    common.player(seat).outbox.clear();
                }
                None
            }
            Event::Restart { seat, ready_ms, wants } => {
                if self.awaits(seat) {
                    let mut line = common.log.line(opening!("restart"), stamp.at);
                    line.number(key!("seat"), seat.0).number(key!("ready_ms"), ready_ms).end_line();
                    common.setup.wants[seat.index()] = wants;
                    self.seat(seat).limit = ready_ms.saturating_mul(1000);
                    self.seat(seat).started = None;
                    let player = common.player(seat);
                    (player.refused, player.received) = (None, None);
                    player.outbox.clear();
                    write_start(common, seat, false);
                }
                None
            }
            Event::Resumed { seat, wants } => {
                let is_awaited = self.awaits(seat);
                common.resume(seat, wants, !is_awaited);
                None
            }
            Event::Ready { seat, nonce } => self.ready(common, stamp, seat, nonce),
            Event::Answer { seat, turn, .. }
            | Event::AcceptDraw { seat, turn }
            | Event::Unable { seat, turn, .. } => common.early_answer(stamp, seat, turn),
            Event::Broken { seat, code, detail, .. } => {
                common.stray(stamp, seat, None, error_code(code), &detail.to_string())
            }
            Event::Tick => {
                for seat in common.setup.seating.all().iter() {
                    self.expire(common, stamp, seat);
                }
                None
            }
            Event::Expire(seat) => {
                self.expire(common, stamp, seat);
                None
            }
            event => common.handle(stamp, event)?,
        };
        if let Some((seat, exit)) = exit {
            self.exit(common, seat, exit);
        }
        if self.seats.iter().any(StartingSeat::is_awaited) {
            return PhaseFlow::Continue(());
        }
        let ready = Starting { seats: std::mem::take(&mut self.seats) };
        PhaseFlow::Break(ready.begin(common, stamp))
    }

    fn ready(
        &mut self,
        common: &mut Common,
        stamp: Stamp,
        seat: Seat,
        nonce: Option<&str>,
    ) -> Option<(Seat, SeatExit)> {
        if !self.awaits(seat) {
            return common.repeated_ready(stamp, seat);
        }
        self.expire(common, stamp, seat);
        if !self.awaits(seat) {
            return None; // The answer is too late; `expire` has reported the fault.
        }
        // Ignore the nonce if the match does not use nonces.
        let nonce = nonce.filter(|_| common.setup.header.nonce).unwrap_or("");
        if hex::decode(nonce).is_none_or(|bytes| bytes.len() as u64 > common.limits.nonce_bytes) {
            let message = "`nonce` is lower-case hex of at most 64 bytes; send `ready` again";
            let refused = RefusedLine { code: ErrorCode::Malformed, field: Some(Field::Nonce) };
            common.reject(seat, None, refused, message.to_owned());
            return None;
        }
        common
            .log
            .line(opening!("ready"), stamp.at)
            .number(key!("seat"), seat.0)
            .word(key!("nonce"), nonce)
            .end_line();
        nonce.clone_into(&mut common.player(seat).nonce);
        self.seat(seat).readiness = Readiness::Ready;
        None
    }

    /// Makes a seat fail whose time for `ready` is up.
    fn expire(&mut self, common: &mut Common, stamp: Stamp, seat: Seat) {
        let is_overdue = self.is_overdue(seat, stamp.at);
        let starting = self.seat(seat);
        let limit = starting.limit;
        if !is_overdue {
            return;
        }
        let received = common.player(seat).received.take();
        let detail = Detail::NotReady { limit_ms: limit / 1000, received };
        let code = overdue(FaultCode::NoStart, received);
        common.count_fault(stamp, seat, code, Some(&detail), None);
        common.send_error(seat, None, ErrorCode::NoStart, detail.to_string(), None);
        let fault = Fault { seat, code, detail: Some(detail) };
        starting.readiness = Readiness::Failed(SeatExit::Fault(fault));
    }

    /// Handles a resignation, or a fault other than a missing `ready`.
    fn exit(&mut self, common: &Common, seat: Seat, exit: SeatExit) {
        let starting = self.seat(seat);
        if starting.is_awaited() {
            starting.readiness = Readiness::Failed(exit);
        } else if !common.plays_on_after(seat, &exit) {
            starting.exit_later.get_or_insert(exit);
        }
    }

    /// Begins play: applies resignations and faults, then plays the opening and sends the first requests.
    pub(super) fn begin(self, common: &mut Common, stamp: Stamp) -> Phase {
        match self.try_begin(common, stamp) {
            PhaseFlow::Continue(playing) => Phase::Playing(playing),
            PhaseFlow::Break(next) => next,
        }
    }

    fn try_begin(self, common: &mut Common, stamp: Stamp) -> PhaseFlow<Playing> {
        let (mut exits, mut later) = (Vec::new(), Vec::new());
        for StartingSeat { seat, readiness, exit_later, .. } in self.seats {
            if let Readiness::Failed(exit) = readiness {
                exits.push((seat, exit));
            }
            later.extend(exit_later.map(|exit| (seat, exit)));
        }
        common.judge(stamp, &exits, 0)?;
        let mut playing = Playing::open(common, stamp)?;
        playing.judge_late(common, stamp, &later)?;
        playing.run(common, stamp)?;
        PhaseFlow::Continue(playing)
    }
}

/// Writes `start`; `resumed` if the bot has connected again.
pub(super) fn write_start(common: &mut Common, seat: Seat, resumed: bool) {
    let header = &common.setup.header;
    let start = message::FromReferee::Start(message::Start {
        r#match: header.r#match.clone(),
        id: common.setup.open_id.clone(),
        game: header.game.clone(),
        rules: header.rules,
        options: &header.options,
        seat: seat.0,
        seats: header
            .seats
            .iter()
            .map(|s| message::SeatInfo { name: s.name.clone(), team: s.team })
            .collect(),
        clock: header.clock_of(seat),
        deal: matches!(common.setup.leg, Leg::Only | Leg::Open).then(|| header.deal.clone()),
        commitment: header.commitment.clone(),
        nonce: header.nonce,
        unlisted: !common.table.meta().lists_moves || header.hides_legal(seat),
        resumed,
    });
    json::write_line(&mut common.players[seat.index()].outbox, &start);
}
