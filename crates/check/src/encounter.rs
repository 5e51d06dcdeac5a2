//! A match between bots and random moves, driven by the referee's state machine.

use std::time::Duration;

use referee_engine::driver::route::{Matches, Rejection, Routed, Sender, route};
use referee_engine::driver::{MatchPlan, Run};
use referee_game::chance::{RandomStream, Uniform};
use referee_game::clock::Tick;
use referee_game::erased::{RulesError, Table};
use referee_game::seat::{Seat, SeatSet};
use referee_match::{AbortReason, Detail, Ending, Event, Match, MatchEvent, Received, Stamp};
use referee_protocol::referee as message;
use referee_protocol::words::FaultCode;
use referee_transport::Line;
use tokio::time::Instant;

/// A match with bots in some seats and random moves in the others.
#[derive(Debug)]
pub struct Encounter {
    play: Match,
    bots: SeatSet,
    opened: Instant,
    chooser: RandomStream,
    /// Whether the random players offer a draw with every move.
    pub(super) offers_draws: bool,
    /// The errors in the outboxes of the bots.
    errors: Vec<message::Error>,
    /// Whether the match has ended and the bots were sent `end`.
    has_sent_end: bool,
    /// The time at which each bot was last sent a request or `start`.
    asked: [Option<Instant>; referee_game::MAX_SEATS],
}

impl Encounter {
    /// Opens a match. Seats other than `bots` play random moves, drawn from `chooser`.
    ///
    /// # Errors
    /// When the options or the seating are invalid, or the rules fail.
    pub fn open(
        run: &Run,
        plan: MatchPlan<'_>,
        bots: SeatSet,
        chooser: RandomStream,
    ) -> Result<Encounter, RulesError> {
        let (setup, table) = run.set_up(&run.terms, plan)?;
        let play = Match::open(setup, table);
        let asked = Default::default();
        let opened = Instant::now();
        Ok(Encounter {
            play,
            bots,
            opened,
            chooser,
            offers_draws: false,
            errors: Vec::new(),
            has_sent_end: false,
            asked,
        })
    }

    fn handle(&mut self, event: Event<'_>) {
        let stamp = self.stamp();
        self.play.handle(stamp, event);
        while let Some(event) = self.play.poll_event() {
            if let MatchEvent::Error(error) = event {
                self.errors.push(*error);
            }
        }
    }

    fn stamp(&self) -> Stamp {
        Stamp { at: Tick(self.opened.elapsed().as_micros() as u64), lag: 0 }
    }

    pub fn id(&self) -> &str {
        &self.play.setup().header.r#match
    }

    /// Returns the game in progress.
    pub fn table(&self) -> &dyn Table {
        self.play.table()
    }

    pub fn ending(&self) -> Option<&Ending> {
        self.play.ending()
    }

    pub fn faults(&self, seat: Seat) -> u32 {
        self.play.faults(seat).total()
    }

    /// Takes the errors in the outboxes of the bots.
    pub(super) fn take_errors(&mut self) -> Vec<message::Error> {
        std::mem::take(&mut self.errors)
    }

    /// Takes the pending output for a bot, which is sent at once.
    pub fn take_outbox(&mut self, seat: Seat) -> Vec<u8> {
        let (stamp, has_ended) = (self.stamp(), self.play.ending().is_some());
        let Some(transmit) = self.play.poll_transmit(seat, stamp) else { return Vec::new() };
        self.errors.retain(|error| error.seat != Some(seat.0));
        self.has_sent_end = has_ended;
        if transmit.has_request || self.asked[seat.index()].is_none() {
            self.asked[seat.index()] = Some(Instant::now());
        }
        std::mem::take(transmit.bytes)
    }

    /// Gives a seat that was not ready to a new process of the bot.
    pub(super) fn restart(&mut self, seat: Seat, ready: Duration) {
        let wants = self.play.setup().wants[seat.index()];
        self.handle(Event::Restart { seat, ready_ms: ready.as_millis() as u64, wants });
        self.asked[seat.index()] = None;
    }

    /// The bot continues the match on another connection. The clock has stood still during the outage.
    pub(super) fn resume(&mut self, seat: Seat, outage: Duration) {
        self.opened += outage;
        let wants = self.play.setup().wants[seat.index()];
        self.handle(Event::Resumed { seat, wants });
        self.asked[seat.index()] = None;
    }

    /// The next deadline of the match.
    pub fn deadline(&self) -> Option<Instant> {
        self.play.next_deadline().map(|at| self.opened + Duration::from_micros(at.0))
    }

    /// Handles deadlines that have passed. `received` is what the streams of the bots hold in place of an answer.
    pub fn tick(&mut self, received: impl IntoIterator<Item = (Seat, Received)>) {
        for (seat, received) in received {
            let received = match (received, self.play.refused(seat)) {
                (Received::Nothing, Some(refused)) => Received::Refused(refused),
                (received, _) => received,
            };
            self.handle(Event::Received { seat, received: Some(received) });
        }
        self.handle(Event::Tick);
    }

    /// Reports that a bot is unreachable.
    pub fn lose(&mut self, seat: Seat, code: FaultCode, detail: &Detail) {
        self.handle(Event::Gone { seat, code, detail });
    }

    pub fn abort(&mut self) {
        self.handle(Event::Abort(&AbortReason::Interrupted));
    }

    /// The open request of a bot.
    pub(super) fn open_request(&self, seat: Seat) -> Option<u32> {
        self.play.open_request(seat)
    }

    /// Returns whether the outbox of a bot contains a request.
    pub(super) fn is_asking(&self, seat: Seat) -> bool {
        self.play.is_asking(seat)
    }

    /// Returns whether the match waits for `ready` of a bot.
    pub(super) fn awaits_ready(&self, seat: Seat) -> bool {
        self.play.awaits_ready(seat)
    }

    /// The time since the bot was sent its last request or `start`.
    pub(super) fn asked_for(&self, seat: Seat) -> Duration {
        self.asked[seat.index()].map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// Plays the random players until the match waits only for bots.
    pub fn play_others(&mut self) {
        let mut others = self.play.setup().seating.all();
        self.bots.iter().for_each(|bot| others.remove(bot));
        let mut has_acted = true;
        while std::mem::take(&mut has_acted) && self.play.ending().is_none() {
            for seat in others.iter() {
                let stamp = self.stamp();
                self.play.poll_transmit(seat, stamp);
                if self.play.awaits_ready(seat) {
                    self.handle(Event::Ready { seat, nonce: None });
                    has_acted = true;
                } else if let (Some(turn), Some(decision)) =
                    (self.play.open_request(seat), self.play.decision())
                {
                    let table = self.play.table();
                    let index = self.chooser.uniform(table.count(decision, seat) as u64) as usize;
                    let text = table.text(decision, seat, index).to_owned();
                    let offer_draw = self.offers_draws;
                    self.handle(Event::Answer {
                        seat,
                        turn: turn.into(),
                        text: &text,
                        offer_draw,
                        info: None,
                    });
                    has_acted = true;
                }
            }
        }
    }
}

/// The matches of one bot, with its seat in each, as its lines see them.
struct EncounterMatches<'a, 'e> {
    matches: &'a [(&'e mut Encounter, Seat)],
    /// The seats that have not ended, by index.
    seats: Vec<(usize, Seat)>,
}

impl Matches for EncounterMatches<'_, '_> {
    type Key = usize;

    fn find(&self, id: &str) -> Option<(usize, SeatSet)> {
        let &(index, seat) = self.seats.iter().find(|&&(index, _)| self.matches[index].0.id() == id)?;
        Some((index, SeatSet::one(seat)))
    }

    fn seats(&self) -> &[(usize, Seat)] {
        &self.seats
    }

    fn play(&self, index: usize) -> &Match {
        &self.matches[index].0.play
    }
}

#[derive(Debug)]
pub enum LineOutcome {
    /// No effect: the line was empty or `pong`.
    Nothing,
    /// The match with this index handled it. Errors are written to its outbox.
    ByMatch(usize),
    /// A `bye`: the bot has left its matches.
    Bye,
    /// A line that reached no match.
    Rejected(Rejection<usize>),
}

/// Handles a line of a bot that has greeted and has a seat in each of these matches, as a lane does.
pub fn handle_line(matches: &mut [(&mut Encounter, Seat)], line: Line<'_>) -> LineOutcome {
    let running = (0..).zip(&*matches).filter(|(_, (encounter, _))| !encounter.has_sent_end);
    let seats = running.map(|(index, (_, seat))| (index, *seat)).collect();
    let sender = Sender { has_greeted: true, may_open: false };
    match route(line, sender, &EncounterMatches { matches, seats }) {
        // After its `hello`, and as it may not open matches, only the first is possible.
        Routed::Nothing | Routed::Hello(_) | Routed::NoMessage(..) | Routed::Open(_) => LineOutcome::Nothing,
        Routed::Bye => {
            for (encounter, seat) in matches {
                encounter.lose(*seat, FaultCode::Disconnected, &Detail::SaidBye);
            }
            LineOutcome::Bye
        }
        Routed::Match(index, input) => {
            matches[index].0.handle(input.event());
            LineOutcome::ByMatch(index)
        }
        Routed::Rejected(rejection) => {
            let refused = rejection.refused;
            for (index, (encounter, seat)) in matches.iter_mut().enumerate() {
                if rejection.concerns(index) {
                    encounter.handle(Event::Refused { seat: *seat, refused });
                }
            }
            LineOutcome::Rejected(rejection)
        }
    }
}

/// Finds out what a line means of a bot whose `hello` is awaited, as a lane does.
pub fn read_greeting(line: Line<'_>) -> Routed<'_, usize> {
    let sender = Sender { has_greeted: false, may_open: false };
    route(line, sender, &EncounterMatches { matches: &[], seats: Vec::new() })
}
