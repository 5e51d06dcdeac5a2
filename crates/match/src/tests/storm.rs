//! Thousands of random matches with all kinds of events, from fixed keys: nothing panics, the messages to every seat are
//! consistent, and records can be replayed.

use referee_game::chance::{RandomKey, RandomStream};
use referee_game::clock::Tick;
use referee_game::test_length::long_or;
use referee_game::{Seat, Uniform};
use referee_protocol::words::{ErrorCode, FaultCode, OnFault};
use serde_json::Value;

use super::rig::{MS, RigSetup, events, messages, types};
use crate::record::{self, RecordLine};
use crate::{AbortReason, Detail, Event, Match, Stamp, Wants};

const POLICIES: [&str; 4] = ["forfeit", "retry=1", "retry=3", "random"];

const GONE: [FaultCode; 5] =
    [FaultCode::NoStart, FaultCode::Disconnected, FaultCode::Exited, FaultCode::Stalled, FaultCode::Protocol];

/// A match with random events.
struct Storm {
    play: Match,
    rng: RandomStream,
    at: u64,
    lag: u64,
    sent: Vec<Vec<u8>>,
    /// One of this number of events is a fault.
    calm: u64,
}

impl Storm {
    fn new(plan: &RigSetup, number: u64) -> Storm {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        let mut rng = RandomKey(key).stream();
        let play = plan.bare();
        let sent = vec![Vec::new(); play.setup().header.seats.len()];
        Storm { play, calm: [2, 8, 40][rng.uniform(3) as usize], rng, at: 0, lag: 0, sent }
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.rng.uniform(one_in) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.uniform(list.len() as u64) as usize]
    }

    fn seat(&mut self) -> Seat {
        Seat(self.rng.uniform(self.sent.len() as u64) as u8)
    }

    fn handle(&mut self, event: Event<'_>) {
        self.play.handle(Stamp { at: Tick(self.at), lag: self.lag }, event);
    }

    fn flush(&mut self) {
        (0..self.sent.len() as u8).map(Seat).for_each(|seat| self.transmit(seat));
    }

    fn transmit(&mut self, seat: Seat) {
        let stamp = Stamp { at: Tick(self.at), lag: self.lag };
        if let Some(transmit) = self.play.poll_transmit(seat, stamp) {
            self.sent[seat.index()].append(transmit.bytes);
        }
    }

    fn pass_time(&mut self) {
        let longest = self.pick(&[0, 0, 1, 1000, 20 * MS, 60 * MS, 400 * MS]);
        let passed = self.rng.uniform(longest + 1);
        self.at += passed;
        if self.chance(6) {
            self.lag += self.rng.uniform(passed + 1);
        }
        let deadline = self.play.next_deadline();
        if let Some(deadline) = deadline.filter(|_| self.chance(25)) {
            self.at = self.at.max((deadline.0 + self.rng.uniform(3)).saturating_sub(1));
        }
        // Input may be timestamped before the last reading of the clock.
        let is_due = deadline.is_some_and(|deadline| deadline.0 <= self.at);
        if is_due && !self.chance(4) || self.chance(20) {
            self.handle(Event::Tick);
        }
    }

    fn answer(&mut self, seat: Seat, turn: u64, text: &str) {
        let sizes = [2, 100, 4096, 4097];
        let info = self.chance(4).then(|| format!("{{{}}}", " ".repeat(self.pick(&sizes) - 2)));
        let offer_draw = self.chance(4);
        self.handle(Event::Answer { seat, turn, text, offer_draw, info: info.as_deref() });
    }

    fn behave(&mut self) {
        let all: Vec<Seat> = (0..self.sent.len() as u8).map(Seat).collect();
        if let Some(&seat) = all.iter().find(|&&seat| self.play.awaits_ready(seat)) {
            let nonce = self.pick(&[None, Some("00ff"), Some("")]);
            return self.handle(Event::Ready { seat, nonce });
        }
        let asked: Vec<Seat> =
            all.into_iter().filter(|&seat| self.play.open_request(seat).is_some()).collect();
        if asked.is_empty() {
            return self.flush();
        }
        let seat = self.pick(&asked);
        let turn = self.play.open_request(seat).unwrap().into();
        if self.chance(30) {
            return self.handle(Event::AcceptDraw { seat, turn });
        }
        let (table, decision) = (self.play.table(), self.play.decision().unwrap());
        let index = self.rng.uniform(table.count(decision, seat) as u64) as usize;
        let text = table.text(decision, seat, index).to_owned();
        self.answer(seat, turn, &text);
    }

    fn misbehave(&mut self) {
        let seat = self.seat();
        let open = self.play.open_request(seat);
        let turn = match open {
            Some(open) if !self.chance(3) => open.into(),
            _ => self.rng.uniform(8),
        };
        match self.rng.uniform(if self.calm > 2 { 14 } else { 12 }) {
            0 | 1 => self.answer(seat, turn, "nonsense"),
            2 => {
                let code = self.pick(&[FaultCode::Malformed, FaultCode::LineTooLong]);
                let turn = Some(turn).filter(|_| self.chance(2));
                self.handle(Event::Broken {
                    seat,
                    turn,
                    code,
                    detail: &Detail::other("\"é\\\n\" is no message"),
                });
            }
            3 => {
                let code = self.pick(ErrorCode::ALL);
                let count = self.pick(&[1, 1, 1, 25]);
                (0..count).for_each(|_| self.handle(Event::Stray { seat, code, message: "no" }));
            }
            4 => self.handle(Event::AcceptDraw { seat, turn }),
            5 => {
                let nonce = self.pick(&[None, Some("00ff"), Some("not hex")]);
                self.handle(Event::Ready { seat, nonce });
            }
            6 => {
                let wants = Wants::default();
                let ready_ms = self.pick(&[100, 5000]);
                self.handle(Event::Restart { seat, ready_ms, wants });
            }
            7 => self.handle(Event::Expire(seat)),
            8 => self.transmit(seat),
            9 => self.answer(seat, turn, "11-15"),
            10 if self.chance(30) => self.handle(Event::Abort(&AbortReason::Interrupted)),
            10 | 11 => {
                self.at += self.pick(&[400, 1300]) * MS;
                self.lag += self.pick(&[0, 0, 25, 700]) * MS;
                self.handle(Event::Tick);
            }
            12 => {
                // The shell may hear of it with a stamp from before its last writing.
                let code = self.pick(&GONE);
                let at = Tick(self.at.saturating_sub(self.pick(&[0, 3])));
                let event = Event::Gone { seat, code, detail: &Detail::other("signal 9") };
                self.play.handle(Stamp { at, lag: self.lag }, event);
            }
            _ => self.handle(Event::Resign(seat)),
        }
    }

    /// Plays to the end, which is forced if necessary.
    fn blow(&mut self) {
        let mut steps = self.rng.uniform(300);
        while self.play.ending().is_none() && steps > 0 {
            steps -= 1;
            self.pass_time();
            if self.chance(self.calm) {
                self.misbehave();
            } else {
                self.behave();
            }
            if !self.chance(5) {
                self.flush();
            }
        }
        if self.play.ending().is_none() {
            self.handle(Event::Abort(&AbortReason::Interrupted));
        }
        self.flush();
    }

    fn assert_sound(&mut self) {
        let ending = self.play.ending().unwrap().clone();
        let seating = self.play.setup().seating;
        if let (Some(ranks), Some(scores)) = (&ending.ranks, &ending.scores) {
            let of_sides: f64 = scores[..seating.sides()].iter().sum();
            assert_eq!(of_sides, seating.sides() as f64 / 2.0);
            assert!(ranks.contains(&1));
            for seat in seating.all().iter() {
                let partner = Seat(seating.side(seat) as u8);
                assert_eq!(ranks[seat.index()], ranks[partner.index()]);
                let ahead = scores.iter().filter(|&&score| score > scores[seat.index()]).count();
                let partners = seating.seats() / seating.sides();
                assert_eq!(usize::from(ranks[seat.index()]), 1 + ahead / partners);
            }
        }
        if OnFault::Random == self.play.setup().header.on_fault {
            assert!(ending.fault.is_none());
        }
        for (seat, sent) in (0..).map(Seat).zip(&self.sent) {
            assert_sound_story(seat, &messages(sent), self.play.setup().wants[seat.index()].event);
        }
        let log = self.play.log().text();
        let times = log.split_inclusive(|&byte| byte == b'\n');
        let times = times.filter_map(|line| serde_json::from_slice::<Value>(line).unwrap()["at_us"].as_u64());
        assert!(times.is_sorted(), "time goes back in the record");
        // Later events have no effect.
        let log = self.play.log().text();
        for _ in 0..20 {
            self.at += 1000 * MS;
            self.misbehave();
        }
        assert_eq!(self.play.log().text(), log);
        assert_eq!(self.play.ending(), Some(&ending));
        assert_eq!(self.play.next_deadline(), None);
        assert!(seating.all().iter().all(|seat| self.play.poll_transmit(seat, Stamp::default()).is_none()));
    }
}

fn assert_sound_story(seat: Seat, received: &[Value], wants_events: bool) {
    let numbers = |key: &str| received.iter().filter_map(|m| m[key].as_u64()).collect::<Vec<_>>();
    let n = numbers("n");
    assert_eq!(n, (0..n.len() as u64).collect::<Vec<_>>());
    let is_turn = |message: &&Value| message["type"] == "turn";
    let turns: Vec<u64> =
        received.iter().filter(is_turn).map(|turn| turn["turn"].as_u64().unwrap()).collect();
    assert_eq!(turns, (0..turns.len() as u64).collect::<Vec<_>>());
    let kinds = types(received);
    let ends = kinds.iter().filter(|&&kind| kind == "end").count();
    assert!(ends <= 1 && (ends == 0 || kinds.last() == Some(&"end")), "{kinds:?}");
    let out = received.iter().position(|m| m["event"]["kind"] == "out" && m["event"]["seat"] == seat.0);
    let last_turn = received.iter().rposition(|message| is_turn(&message));
    assert!(out.is_none() || out > last_turn, "a seat that is out is asked");
    assert!(wants_events || events(received).is_empty());
}

/// Replays the record, line by line, in a new match.
fn replayed(plan: &RigSetup, log: &[u8]) -> Vec<u8> {
    let mut again = plan.bare();
    let mut lines = log.split_inclusive(|&byte| byte == b'\n');
    let mut read = lines.next().unwrap().len();
    for text in lines {
        let line = RecordLine::read(text).unwrap();
        if again.log().text().len() == read {
            line.repeat(&mut again);
        }
        read += text.len();
    }
    again.log().text()
}

fn plans(base: impl Fn() -> RigSetup) -> Vec<RigSetup> {
    let mut plans = Vec::new();
    for policy in POLICIES {
        for clock in [None, Some((50, 1500, 10)), Some((300, 0, 0)), Some((0, 3000, 0))] {
            let mut plan = base().on_fault(policy);
            if let Some((delay, bank, increment)) = clock {
                plan = plan.clock(delay, bank, increment);
            }
            plan.wants[0].push = clock.is_none();
            plan.wants[1].event = policy != "random";
            plan.auto_ready = policy == "retry=3";
            plan.nonce = !plan.auto_ready;
            plans.push(plan);
        }
    }
    plans
}

#[test]
fn every_record_of_a_stormy_match_of_checkers_verifies() {
    let short = || RigSetup::checkers().set("draw_plies", 10).set("turn_limit", 60);
    let endgame = || RigSetup::checkers_at("B:W18,K25,30:B3,K9,12");
    for (number, plan) in
        (0..).zip(plans(short).iter().chain(&plans(endgame)).cycle().take(long_or(2400, 320)))
    {
        let mut storm = Storm::new(plan, number);
        storm.blow();
        storm.assert_sound();
        let mut sealed = storm.play.log().text();
        record::seal(&mut sealed, storm.play.reveal());
        let differences = record::verify(&sealed, &referee_games::catalog());
        assert!(differences.is_empty(), "{differences:?}\n{}", String::from_utf8_lossy(&sealed));
    }
}

#[test]
fn every_record_of_stormy_match_of_toy_game_replays() {
    for (seats, sides) in [(2, 2), (3, 3), (4, 2), (6, 3)] {
        for (rounds, seed) in [("sado", 0), ("a", 1 << 32), ("po", 2 << 32)] {
            let base = || RigSetup::toy(seats, sides, rounds).set("goal", 30).set("turn_limit", 60);
            for (number, plan) in (seed..).zip(plans(base).iter().cycle().take(long_or(200, 16))) {
                let mut storm = Storm::new(plan, number);
                storm.blow();
                storm.assert_sound();
                assert_eq!(
                    String::from_utf8_lossy(&replayed(plan, &storm.play.log().text())),
                    String::from_utf8_lossy(&storm.play.log().text())
                );
            }
        }
    }
}

#[test]
fn the_same_events_give_the_same_bytes() {
    let base = || RigSetup::toy(6, 3, "sado").set("turn_limit", 40);
    for (number, plan) in (0..).zip(plans(base).iter().cycle().take(64)) {
        let [one, other] = [(); 2].map(|()| {
            let mut storm = Storm::new(plan, number);
            storm.blow();
            (storm.play.log().text(), storm.sent)
        });
        assert_eq!(one, other);
    }
}
