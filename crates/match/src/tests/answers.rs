//! Answers without an open request: late, duplicate, early.

use referee_game::Seat;
use referee_protocol::MAX_INTEGER;
use referee_protocol::words::FaultCode;

use super::rig::{Rig, RigSetup};
use crate::Event;

fn played() -> Rig {
    let mut rig = RigSetup::checkers().play();
    rig.moves("11-15 22-18 15x22 25x18");
    rig.received(0);
    rig.received(1);
    rig
}

/// Seat 0 got this error and nothing changed: it still has to answer request 2.
fn assert_only_told(rig: &mut Rig, code: &str, strays: usize) {
    assert_eq!(rig.errors(0), [code]);
    assert_eq!(rig.request(0), 2);
    assert!(rig.received(1).is_empty());
    assert!(rig.faults(0).is_empty());
    assert_eq!(rig.recorded("stray").len(), strays);
    assert_eq!(rig.play.decisions(), 4);
}

#[test]
fn answer_to_earlier_request_is_stale_and_no_more() {
    let mut rig = played();
    for turn in [0, 1] {
        rig.answer_to(0, turn, "12-16");
        assert_only_told(&mut rig, "stale", 0);
    }
    rig.handle(Event::AcceptDraw { seat: Seat(0), turn: 1 });
    assert_only_told(&mut rig, "stale", 0);
    rig.broken(0, Some(1), FaultCode::Malformed);
    assert_only_told(&mut rig, "stale", 0);
}

#[test]
fn any_number_of_stale_answers_is_no_fault() {
    let mut rig = played();
    for _ in 0..100 {
        rig.answer_to(0, 0, "12-16");
    }
    assert!(!rig.is_over());
}

#[test]
fn the_error_names_the_closed_and_the_open_request() {
    let mut rig = played();
    rig.answer_to(0, 1, "12-16");
    let error = rig.last(0, "error");
    assert_eq!(error["turn"], 1);
    assert_eq!(error["message"], "request 1 is closed; request 2 waits for an answer");
    rig.answer_to(1, 1, "25x18");
    assert_eq!(rig.last(1, "error")["message"], "request 1 is closed");
}

#[test]
fn a_second_answer_to_a_request_is_stale() {
    let mut rig = played();
    rig.answer(0, "12-16");
    rig.received(0);
    rig.answer_to(0, 2, "12-16");
    assert_eq!(rig.errors(0), ["stale"]);
    assert!(rig.is_asked(1));
}

#[test]
fn a_late_answer_is_never_taken_for_the_next_request() {
    let mut rig = RigSetup::checkers_at("B:WK32:BK1").clock(100, 0, 0).on_fault("random").play();
    rig.wait(200_000).tick();
    rig.step(1);
    rig.received(0);
    let before = rig.play.decisions();
    rig.answer_to(0, 0, "1-5");
    assert_eq!(rig.errors(0), ["stale"]);
    assert_eq!((rig.play.decisions(), rig.request(0)), (before, 1));
}

#[test]
fn an_answer_to_a_future_request_is_out_of_state() {
    for turn in [3, 4, 1 << 32, MAX_INTEGER] {
        let mut rig = played();
        rig.answer_to(0, turn, "12-16");
        assert_only_told(&mut rig, "out_of_state", 1);
        rig.broken(0, Some(turn), FaultCode::Malformed);
        assert_only_told(&mut rig, "out_of_state", 2);
    }
}

#[test]
fn an_answer_to_an_unsent_request_is_out_of_state() {
    let mut rig = RigSetup::checkers().clock(1000, 0, 0).play();
    rig.holds = true;
    rig.answer(0, "11-15");
    rig.answer_to(1, 0, "22-18");
    assert!(!rig.is_asked(1) && rig.play.is_asking(Seat(1)));
    assert_eq!(rig.recorded("stray").len(), 1);
    assert_eq!(rig.play.decisions(), 1);
    rig.holds = false;
    rig.flush();
    assert_eq!(rig.errors(1), ["out_of_state"]);
    rig.answer(1, "22-18");
    assert!(rig.is_asked(0));
}

#[test]
fn a_seat_without_a_request_cannot_answer() {
    let mut rig = played();
    rig.answer_to(1, 2, "24-19");
    assert_eq!(rig.errors(1), ["out_of_state"]);
    rig.broken(1, None, FaultCode::Malformed);
    assert_eq!(rig.errors(1), ["malformed"]);
    assert_eq!(rig.recorded("stray").len(), 2, "a line that answers nothing is out of its state");
    assert!(rig.faults(1).is_empty());
}

#[test]
fn an_answer_is_matched_to_its_own_request() {
    let mut rig = played();
    rig.answer_to(0, 0, "nonsense");
    rig.answer_to(0, 9, "nonsense");
    rig.answer(0, "12-16");
    assert!(rig.is_asked(1));
    assert!(rig.faults(0).is_empty());
}
