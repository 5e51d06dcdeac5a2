//! Valid records, and all kinds of invalid ones.

mod damage;
mod forgery;
mod formats;
mod public;
mod resume;

use std::sync::Arc;

use referee_game::chance::Seed;
use referee_game::clock::Tick;
use referee_game::{Chain, Seat, Seating, hex};
use referee_protocol::limits;
use referee_protocol::referee::Clock;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde_json::json;

use crate::record::{self, Difference, Playback, RecordEntry, Replay, Seal, add_bots, seal};
use crate::{
    AbortReason, Adjudication, Detail, Event, Header, Leg, Limits, Match, Opening, SeatHeader, Setup, Stamp,
    Wants,
};

/// A match of checkers that is being recorded. Every step takes 10 ms.
struct MatchRecorder {
    play: Match,
    at: u64,
}

/// Verifies a record as a whole and step by step.
fn verify(record: &[u8]) -> Vec<Difference> {
    let differences = record::verify(record, &referee_games::catalog());
    let playback = Playback::verified(record, &referee_games::catalog()).and_then(|mut playback| {
        while playback.step()?.is_some() {}
        Ok(())
    });
    let text = |difference: &Difference| Chain(&difference).to_string();
    assert_eq!(playback.err().as_ref().map(text), differences.first().map(text));
    differences
}

impl MatchRecorder {
    /// A match in which both are ready.
    fn play(on_fault: &str) -> MatchRecorder {
        let mut recorder = MatchRecorder::open(on_fault);
        recorder.handle(Event::Ready { seat: Seat(0), nonce: Some("00ff") });
        recorder.handle(Event::Ready { seat: Seat(1), nonce: None });
        recorder
    }

    fn open(on_fault: &str) -> MatchRecorder {
        MatchRecorder::open_with(on_fault, Opening::None)
    }

    fn open_with(on_fault: &str, opening: Opening) -> MatchRecorder {
        let rules = referee_games::catalog().find("checkers").unwrap();
        let seating = Seating::new(2, 2);
        let options = serde_json::value::to_raw_value(&json!({ "turn_limit": 6 })).unwrap();
        let table = rules.open(&options, seating).unwrap();
        let (seed, salt) = (Seed([1; 32]), [2; 32]);
        let seat = |team| SeatHeader {
            name: format!("bot{team}"),
            team,
            ready_ms: 5000,
            clock: None,
            hide_legal: false,
            bot: None,
        };
        let header = Header {
            format: Header::FORMAT,
            referee: crate::SERVER.to_owned(),
            r#match: "m1".to_owned(),
            game: "checkers".to_owned(),
            rules: 1,
            options: table.options().to_owned(),
            seats: vec![seat(0), seat(1)],
            clock: Some(Clock { delay_ms: 100, bank_ms: 1000, increment_ms: 10 }),
            margin_ms: 20,
            on_fault: on_fault.parse().unwrap(),
            deal: "d1".to_owned(),
            commitment: hex::encode(&seed.commitment(&salt)),
            nonce: true,
            auto_ready: false,
            program: None,
            limits: Limits::TODAY,
            adjudication: Adjudication::default(),
            opening,
        };
        let wants = vec![Wants::default(); 2];
        let header = Arc::new(header);
        let setup = Setup {
            header,
            seating,
            seed,
            salt,
            leg: Leg::Only,
            open_id: None,
            wants,
            trust_outages: false,
            watched: None,
            rules_failure: None,
        };
        let mut recorder = MatchRecorder { play: Match::open(setup, table), at: 0 };
        recorder.flush();
        recorder
    }

    fn handle(&mut self, event: Event<'_>) {
        self.at += 10_000;
        self.play.handle(Stamp { at: Tick(self.at), lag: self.at / 10 }, event);
        self.flush();
    }

    fn flush(&mut self) {
        for seat in [Seat(0), Seat(1)] {
            self.play.poll_transmit(seat, Stamp { at: Tick(self.at), lag: self.at / 10 });
        }
    }

    fn answer(&mut self, seat: u8, text: &str) {
        let turn = self.play.open_request(Seat(seat)).unwrap();
        let info = Some(r#"{"depth":3}"#).filter(|_| seat == 0);
        self.handle(Event::Answer { seat: Seat(seat), turn: turn.into(), text, offer_draw: seat == 1, info });
    }

    fn sealed(self) -> Vec<u8> {
        assert!(self.play.ending().is_some());
        let mut record = self.play.log().text();
        seal(&mut record, self.play.reveal());
        record
    }
}

/// Ends by the turn limit, after retries, strays, offers and info.
fn eventful() -> Vec<u8> {
    let mut recorder = MatchRecorder::play("retry=2");
    recorder.answer(0, "11-15");
    recorder.answer(1, "1-1");
    recorder.handle(Event::Stray { seat: Seat(0), code: ErrorCode::UnknownType, message: "no" });
    recorder.answer(1, "22-18");
    recorder.handle(Event::Broken {
        seat: Seat(0),
        turn: None,
        code: FaultCode::Malformed,
        detail: &Detail::NotAnObject,
    });
    recorder.answer(0, "15x22");
    recorder.answer(1, "25x18");
    recorder.answer(0, "12-16");
    recorder.answer(1, "29-25");
    recorder.sealed()
}

/// Begins with an opening; ends by a resignation.
fn opened(opening: Opening) -> Vec<u8> {
    let mut recorder = MatchRecorder::open_with("forfeit", opening);
    recorder.handle(Event::Ready { seat: Seat(1), nonce: None });
    recorder.handle(Event::Ready { seat: Seat(0), nonce: Some("00ff") });
    recorder.handle(Event::Resign(Seat(1)));
    recorder.sealed()
}

/// Ends by a timeout.
fn timed_out() -> Vec<u8> {
    let mut recorder = MatchRecorder::play("forfeit");
    recorder.answer(0, "11-15");
    recorder.at += 1_400_000;
    recorder.handle(Event::Tick);
    recorder.sealed()
}

/// The referee plays for seat 1.
fn played_on() -> Vec<u8> {
    let mut recorder = MatchRecorder::play("random");
    recorder.handle(Event::Gone {
        seat: Seat(1),
        code: FaultCode::Exited,
        detail: &Detail::Signal { signal: 9, held_pipe: false },
    });
    recorder.answer(0, "11-15");
    recorder.answer(0, "1-1");
    recorder.handle(Event::Abort(&AbortReason::Interrupted));
    recorder.sealed()
}

/// Another process takes seat 0, and is not ready in time.
fn restarted() -> Vec<u8> {
    let mut recorder = MatchRecorder::open("forfeit");
    recorder.handle(Event::Restart { seat: Seat(0), ready_ms: 700, wants: Wants::default() });
    recorder.handle(Event::Ready { seat: Seat(1), nonce: None });
    recorder.at += 1_000_000;
    recorder.handle(Event::Tick);
    recorder.sealed()
}

fn lines(record: &[u8]) -> Vec<String> {
    String::from_utf8(record.to_vec()).unwrap().lines().map(str::to_owned).collect()
}

/// Lines with a new seal, as an attacker who knows the format would write them.
fn resealed(mut lines: Vec<String>) -> Vec<u8> {
    let old: Seal = serde_json::from_str(&lines.pop().unwrap()).unwrap();
    let mut record = lines.iter().flat_map(|line| [line, "\n"]).collect::<String>().into_bytes();
    seal(&mut record, old.reveal.unwrap());
    record
}

/// The number of the first line of this kind that says this, counted from 1.
fn line_of(record: &[u8], kind: &str, says: &str) -> usize {
    let kind = format!("{{\"type\":\"{kind}\"");
    let found = lines(record).iter().position(|line| line.starts_with(&kind) && line.contains(says));
    1 + found.unwrap_or_else(|| panic!("no {kind} with {says}"))
}

/// Replaces the content of the first line of this kind, and seals the record anew. Returns that line's number
/// too.
fn forged(record: &[u8], kind: &str, says: &str, instead: &str) -> (Vec<u8>, usize) {
    let number = line_of(record, kind, says);
    let mut lines = lines(record);
    lines[number - 1] = lines[number - 1].replace(says, instead);
    (resealed(lines), number)
}

fn difference(record: &[u8]) -> Difference {
    let mut differences = verify(record);
    assert_eq!(differences.len(), 1, "{differences:?}");
    differences.pop().unwrap()
}

#[test]
fn a_fresh_record_verifies() {
    for record in [eventful(), timed_out(), played_on(), restarted()] {
        assert!(verify(&record).is_empty());
        assert_eq!(resealed(lines(&record)), record);
    }
}

#[test]
fn an_overlong_move_is_recorded_truncated() {
    let mut recorder = MatchRecorder::play("retry=4");
    let whole = "\u{1}\u{e9}".repeat(limits::MOVE / 2);
    for rest in ["", "1", "....", &"x".repeat(limits::LINE_FROM_BOT / 2)] {
        recorder.answer(0, &format!("{whole}{rest}"));
    }
    recorder.answer(0, "11-15");
    recorder.handle(Event::Resign(Seat(1)));
    let record = recorder.sealed();
    let cut = format!("{whole}...");
    let moves = record::lines(&record).filter_map(|line| match line.unwrap().entry {
        RecordEntry::Answer(answer) => Some(answer.text.into_owned()),
        _ => None,
    });
    assert_eq!(moves.collect::<Vec<_>>(), [&*whole, &cut, &cut, &cut, "11-15"]);
    assert!(verify(&record).is_empty());
}

#[test]
fn the_seal_covers_the_bots_line() {
    let mut record = eventful();
    let reveal = serde_json::from_str::<Seal>(lines(&record).last().unwrap()).unwrap().reveal.unwrap();
    record.truncate(record.len() - lines(&record).last().unwrap().len() - 1);
    add_bots(&mut record, &json!([{ "seat": 0, "cpu_ms": 5 }, { "seat": 1, "cpu_ms": 6 }]), 0);
    seal(&mut record, reveal);
    assert!(verify(&record).is_empty());
    let text = String::from_utf8(record).unwrap().replace("\"cpu_ms\":5", "\"cpu_ms\":4");
    assert!(Chain(&difference(text.as_bytes()).what).to_string().contains("changed after it was sealed"));
}

#[test]
fn a_bots_line_of_another_form_is_refused() {
    let of_seat =
        |seat: u8| format!("{{\"seat\":{seat},\"cpu_ms\":null,\"stderr\":\"\",\"stderr_dropped\":0}}");
    let both = format!("{},{}", of_seat(0), of_seat(1));
    let verified = |bots: &str, more: &str| {
        let mut lines = lines(&eventful());
        lines.insert(lines.len() - 1, format!("{{\"type\":\"bots\",\"bots\":[{bots}]{more}}}"));
        verify(&resealed(lines))
    };
    assert!(verified(&both, "").is_empty());
    let outage = both.replacen(":0}", ":0,\"outages\":[{\"lost_us\":5,\"back_us\":null}]}", 1);
    assert!(verified(&outage, "").is_empty());
    for bots in [
        of_seat(0),
        format!("{both},{}", of_seat(2)),
        format!("{},{}", of_seat(1), of_seat(0)),
        both.replacen("null", "\"5\"", 1),
        both.replacen("null", "-1", 1),
        both.replacen(":0}", ":true}", 1),
        both.replacen(":\"\"", ":[]", 1),
        both.replacen(":0}", ":0,\"note\":1}", 1),
        outage.replacen("null", "\"soon\"", 1),
        outage.replacen("null", "null,\"why\":1", 1),
    ] {
        assert!(!verified(&bots, "").is_empty(), "{bots}");
    }
    assert!(!verified(&both, ",\"more\":1").is_empty());
}

#[test]
fn a_seal_with_other_fields_is_refused() {
    let text = String::from_utf8(eventful()).unwrap();
    let (begin, seal) = text.trim_end().rsplit_once('\n').unwrap();
    for forged in [
        seal.replacen("\"seal\",", "\"seal\",\"note\":\"signed\",", 1),
        seal.replacen("\"deal\":", "\"more\":1,\"deal\":", 1),
        seal.replacen("{\"seed\":", "{ \"seed\":", 1),
        seal.replacen(",\"sha256\":", ",\"sha256\":\"\",\"sha256\":", 1),
    ] {
        assert_ne!(forged, seal);
        assert!(!verify(format!("{begin}\n{forged}\n").as_bytes()).is_empty(), "{forged}");
    }
}

#[test]
fn the_bots_line_comes_only_after_the_result() {
    let mut lines = lines(&eventful());
    lines.insert(4, r#"{"type":"bots","bots":[]}"#.to_owned());
    assert_eq!(difference(&resealed(lines)).line, 5);
}

#[test]
fn a_record_is_replayed_line_by_line() {
    let record = eventful();
    let mut replay = Replay::open(&record, &referee_games::catalog(), None).unwrap();
    assert!(replay.match_().ending().is_none());
    let mut times = Vec::new();
    while let Some(line) = replay.step().unwrap() {
        times.push(format!("\"at_us\":{},", line.at_us.0));
    }
    let lines = lines(&record);
    assert_eq!(times.len(), lines.len() - 2, "all but the set-up and the seal");
    assert!(times.iter().zip(&lines[1..]).all(|(time, line)| line.contains(time)));
    assert!(replay.match_().ending().is_some());
}
