//! A match, its bots and the shell in one thread, under virtual time.

use std::sync::Arc;

use referee_game::chance::Seed;
use referee_game::clock::Tick;
use referee_game::erased::{Rules, Table};
use referee_game::{Seat, Seating, Viewer, hex};
use referee_protocol::bot::Inability;
use referee_protocol::referee::{Clock, FromReferee};
use referee_protocol::words::FaultCode;
use serde_json::{Value, json};

use super::toy;
use crate::{
    Adjudication, Detail, Ending, Event, Header, Leg, Limits, Match, Opening, SeatHeader, Setup, Stamp, Wants,
};

pub(super) const MS: u64 = 1000;

/// The setup of a match: checkers or the toy game with its defaults, no clock, forfeit.
#[derive(Clone)]
pub(super) struct RigSetup {
    rules: &'static dyn Rules,
    seating: Seating,
    options: Value,
    clock: Option<Clock>,
    on_fault: &'static str,
    pub(super) margin_ms: u64,
    pub(super) nonce: bool,
    pub(super) auto_ready: bool,
    pub(super) opening: Opening,
    pub(super) leg: Leg,
    pub(super) wants: Vec<Wants>,
    pub(super) watched: Option<Viewer>,
    pub(super) limits: Limits,
}

impl RigSetup {
    fn of(rules: &'static dyn Rules, seating: Seating) -> RigSetup {
        RigSetup {
            rules,
            seating,
            options: json!({}),
            clock: None,
            on_fault: "forfeit",
            margin_ms: 20,
            nonce: true,
            auto_ready: false,
            opening: Opening::None,
            leg: Leg::Only,
            wants: vec![Wants::default(); seating.seats()],
            watched: None,
            limits: Limits::TODAY,
        }
    }

    /// A game of the list for two.
    pub(super) fn game(id: &str) -> RigSetup {
        RigSetup::of(referee_games::catalog().find(id).unwrap(), Seating::new(2, 2))
    }

    pub(super) fn checkers() -> RigSetup {
        RigSetup::game("checkers")
    }

    /// Checkers from this position.
    pub(super) fn checkers_at(fen: &str) -> RigSetup {
        RigSetup::checkers().set("fen", fen)
    }

    /// Keezenspel with this number of teams of two.
    pub(super) fn keezen(teams: u8) -> RigSetup {
        RigSetup::of(referee_games::catalog().find("keezen").unwrap(), Seating::new(2 * teams, teams))
    }

    /// The toy game with these numbers of seats and sides, in rounds of this plan.
    pub(super) fn toy(seats: u8, sides: u8, plan: &str) -> RigSetup {
        RigSetup::of(toy::RULES, Seating::new(seats, sides)).set("plan", plan)
    }

    /// Sets an option of the game.
    pub(super) fn set(mut self, option: &str, value: impl Into<Value>) -> RigSetup {
        self.options[option] = value.into();
        self
    }

    pub(super) fn clock(mut self, delay_ms: u64, bank_ms: u64, increment_ms: u64) -> RigSetup {
        self.clock = Some(Clock { delay_ms, bank_ms, increment_ms });
        self
    }

    pub(super) fn on_fault(mut self, policy: &'static str) -> RigSetup {
        self.on_fault = policy;
        self
    }

    pub(super) fn opening(mut self, plies: u32) -> RigSetup {
        self.opening = Opening::Random(plies);
        self
    }

    /// Plays these moves first.
    pub(super) fn given(mut self, moves: &[&str]) -> RigSetup {
        self.opening = Opening::Given(moves.iter().map(ToString::to_string).collect());
        self
    }

    pub(super) fn table(&self) -> Box<dyn Table> {
        let options = serde_json::value::to_raw_value(&self.options).unwrap();
        self.rules.open(&options, self.seating).unwrap()
    }

    pub(super) fn setup(&self) -> Setup {
        let (seed, salt) = (Seed([5; 32]), [6; 32]);
        let table = self.table();
        let meta = self.rules.meta();
        let seats = self.seating.all().iter().map(|seat| SeatHeader {
            name: format!("bot{seat}"),
            team: self.seating.side(seat) as u8,
            ready_ms: 5000,
            clock: None,
            hide_legal: false,
            bot: None,
        });
        let header = Header {
            format: Header::FORMAT,
            referee: crate::SERVER.to_owned(),
            r#match: "m1".to_owned(),
            game: meta.id.to_owned(),
            rules: meta.rules_version,
            options: table.options().to_owned(),
            seats: seats.collect(),
            clock: self.clock,
            margin_ms: self.margin_ms,
            on_fault: self.on_fault.parse().unwrap(),
            deal: "d1".to_owned(),
            commitment: hex::encode(&seed.commitment(&salt)),
            nonce: self.nonce,
            auto_ready: self.auto_ready,
            program: None,
            limits: self.limits,
            adjudication: Adjudication::default(),
            opening: self.opening.clone(),
        };
        Setup {
            header: Arc::new(header),
            seating: self.seating,
            seed,
            salt,
            leg: self.leg,
            open_id: None,
            wants: self.wants.clone(),
            rules_failure: None,
            trust_outages: false,
            watched: self.watched,
        }
    }

    /// The match without a shell: its output is not read.
    pub(super) fn bare(&self) -> Match {
        let setup = self.setup();
        let table = self.rules.open(&setup.header.options, self.seating).unwrap();
        Match::open(setup, table)
    }

    /// Opens the match: `start` has been sent.
    pub(super) fn open(self) -> Rig {
        let seats = self.seating.seats();
        let mut rig = Rig {
            play: self.bare(),
            at: 0,
            lag: 0,
            holds: false,
            sent: vec![Vec::new(); seats],
            read: vec![0; seats],
        };
        rig.flush();
        rig
    }

    /// Opens the match; all seats are ready and have read their messages.
    pub(super) fn play(self) -> Rig {
        let mut rig = self.open();
        let seats = rig.seats();
        rig.holds = true;
        for seat in 0..seats {
            rig.ready(seat);
        }
        rig.read = rig.sent.iter().map(Vec::len).collect();
        rig.holds = false;
        rig.flush();
        rig
    }
}

pub(super) struct Rig {
    pub(super) play: Match,
    /// Microseconds since it was opened.
    pub(super) at: u64,
    pub(super) lag: u64,
    /// Whether the shell leaves the outboxes unread.
    pub(super) holds: bool,
    /// All bytes sent to each seat.
    sent: Vec<Vec<u8>>,
    /// The number of them that it has read.
    read: Vec<usize>,
}

impl Rig {
    pub(super) fn seats(&self) -> u8 {
        self.sent.len() as u8
    }

    fn stamp(&self) -> Stamp {
        Stamp { at: Tick(self.at), lag: self.lag }
    }

    /// Handles an event, then sends the output.
    pub(super) fn handle(&mut self, event: Event<'_>) {
        self.play.handle(self.stamp(), event);
        if !self.holds {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        for seat in 0..self.seats() {
            self.send(seat);
        }
    }

    /// Sends to one seat, as the shell does.
    pub(super) fn send(&mut self, seat: u8) {
        let stamp = self.stamp();
        if let Some(transmit) = self.play.poll_transmit(Seat(seat), stamp) {
            self.sent[usize::from(seat)].append(transmit.bytes);
        }
    }

    pub(super) fn wait(&mut self, us: u64) -> &mut Rig {
        self.at += us;
        self
    }

    pub(super) fn tick(&mut self) {
        self.handle(Event::Tick);
    }

    pub(super) fn ready(&mut self, seat: u8) {
        self.handle(Event::Ready { seat: Seat(seat), nonce: None });
    }

    /// The request that a seat has to answer.
    pub(super) fn request(&self, seat: u8) -> u32 {
        self.play.open_request(Seat(seat)).unwrap_or_else(|| panic!("seat {seat} is not asked"))
    }

    /// Returns whether a seat has an open request.
    pub(super) fn is_asked(&self, seat: u8) -> bool {
        self.play.open_request(Seat(seat)).is_some()
    }

    /// Answers the open request.
    pub(super) fn answer(&mut self, seat: u8, text: &str) {
        let turn = self.request(seat);
        self.answer_to(seat, turn.into(), text);
    }

    pub(super) fn answer_to(&mut self, seat: u8, turn: u64, text: &str) {
        self.handle(Event::Answer { seat: Seat(seat), turn, text, offer_draw: false, info: None });
    }

    /// Answers the open request and offers a draw.
    pub(super) fn offer(&mut self, seat: u8, text: &str) {
        let turn = self.request(seat);
        self.handle(Event::Answer {
            seat: Seat(seat),
            turn: turn.into(),
            text,
            offer_draw: true,
            info: None,
        });
    }

    /// Answers requests of any seat with these moves in turn.
    pub(super) fn moves(&mut self, texts: &str) {
        for text in texts.split(' ') {
            let seat = (0..self.seats()).find(|&seat| self.is_asked(seat)).unwrap();
            self.answer(seat, text);
        }
    }

    /// Answers with the first of the legal moves, by their bytes.
    pub(super) fn step(&mut self, seat: u8) {
        let text = self.legal(seat).swap_remove(0);
        self.answer(seat, &text);
    }

    /// The legal moves of a seat that decides, by their bytes.
    pub(super) fn legal(&self, seat: u8) -> Vec<String> {
        let (table, decision, seat) = (self.play.table(), self.play.decision().unwrap(), Seat(seat));
        let count = table.count(decision, seat);
        (0..count).map(|index| table.text(decision, seat, index).to_owned()).collect()
    }

    pub(super) fn broken(&mut self, seat: u8, turn: Option<u64>, code: FaultCode) {
        self.handle(Event::Broken { seat: Seat(seat), turn, code, detail: &Detail::NotAnObject });
    }

    pub(super) fn gone(&mut self, seat: u8) {
        self.handle(Event::Gone {
            seat: Seat(seat),
            code: FaultCode::Exited,
            detail: &Detail::Status { status: 1, held_pipe: false },
        });
    }

    pub(super) fn restart(&mut self, seat: u8, ready_ms: u64, wants: Wants) {
        self.handle(Event::Restart { seat: Seat(seat), ready_ms, wants });
    }

    pub(super) fn unable(&mut self, seat: u8, because: Inability) {
        let turn = self.request(seat);
        self.handle(Event::Unable { seat: Seat(seat), turn: turn.into(), because, info: None });
    }

    pub(super) fn resign(&mut self, seat: u8) {
        self.handle(Event::Resign(Seat(seat)));
    }

    /// All bytes sent to each seat.
    pub(super) fn bytes(&self, seat: u8) -> &[u8] {
        &self.sent[usize::from(seat)]
    }

    /// The unread messages of a seat. Each must be valid.
    pub(super) fn received(&mut self, seat: u8) -> Vec<Value> {
        let index = usize::from(seat);
        let news = &self.sent[index][self.read[index]..];
        self.read[index] = self.sent[index].len();
        messages(news)
    }

    /// The last message to a seat, which must be of this type. Marks all as read.
    pub(super) fn last(&mut self, seat: u8, kind: &str) -> Value {
        let last = self.received(seat).pop().unwrap_or_else(|| panic!("seat {seat} received nothing"));
        assert_eq!(last["type"], kind, "{last}");
        last
    }

    /// The codes of the unread errors of a seat.
    pub(super) fn errors(&mut self, seat: u8) -> Vec<String> {
        let codes = self.received(seat).into_iter().filter(|message| message["type"] == "error");
        codes.map(|error| error["code"].as_str().unwrap().to_owned()).collect()
    }

    /// The clock of the last request of a seat: bank and limit.
    pub(super) fn clock(&mut self, seat: u8) -> (u64, u64) {
        let clock = &self.last(seat, "turn")["clock"];
        (clock["bank_ms"].as_u64().unwrap(), clock["limit_ms"].as_u64().unwrap())
    }

    pub(super) fn deadline(&self) -> Option<u64> {
        self.play.next_deadline().map(|at| at.0)
    }

    pub(super) fn is_over(&self) -> bool {
        self.play.ending().is_some()
    }

    pub(super) fn ending(&self) -> &Ending {
        self.play.ending().unwrap_or_else(|| panic!("the match runs"))
    }

    pub(super) fn ranks(&self) -> &[u8] {
        self.ending().ranks.as_deref().unwrap()
    }

    /// How and why it ended: two words of the protocol.
    pub(super) fn why(&self) -> (&str, &str) {
        (self.ending().ended_by.as_str(), &self.ending().reason)
    }

    /// The fault that ended it: seat and code.
    pub(super) fn fault(&self) -> (u8, &str) {
        let fault = self.ending().fault.as_ref().unwrap();
        (fault.seat.0, fault.code.as_str())
    }

    /// The faults of a seat so far, with their counts.
    pub(super) fn faults(&self, seat: u8) -> Vec<(&str, u32)> {
        self.play.faults(Seat(seat)).iter().map(|(code, count)| (code.as_str(), count)).collect()
    }

    /// The lines of this kind in the record so far.
    pub(super) fn recorded(&self, kind: &str) -> Vec<Value> {
        let log = self.play.log().text();
        let lines = log.split_inclusive(|&byte| byte == b'\n');
        lines
            .map(|line| serde_json::from_slice::<Value>(line).unwrap())
            .filter(|line| line["type"] == kind)
            .collect()
    }
}

/// Parses the messages to a seat: whole lines, `type` first, all valid.
pub(super) fn messages(bytes: &[u8]) -> Vec<Value> {
    let read = |line: &[u8]| {
        assert!(line.starts_with(b"{\"type\":\"") && line.ends_with(b"}\n"), "{line:?}");
        serde_json::from_slice::<FromReferee<'_, Value>>(line).unwrap();
        serde_json::from_slice(line).unwrap()
    };
    bytes.split_inclusive(|&byte| byte == b'\n').map(read).collect()
}

pub(super) fn types(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["type"].as_str().unwrap()).collect()
}

/// The events among messages.
pub(super) fn events(messages: &[Value]) -> Vec<&Value> {
    messages.iter().filter(|message| message["type"] == "event").map(|message| &message["event"]).collect()
}
