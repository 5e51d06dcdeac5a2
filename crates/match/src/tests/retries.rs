//! The policy `retry=N`.

use referee_game::Seat;
use referee_protocol::words::FaultCode;
use serde_json::{Value, json};

use super::rig::{MS, Rig, RigSetup, types};
use crate::Event;

fn played() -> Rig {
    RigSetup::checkers().clock(100, 1000, 0).on_fault("retry=2").play()
}

#[test]
fn a_rejected_answer_is_retried_under_a_new_id() {
    let mut rig = played();
    let first = rig.last(0, "turn");
    rig.answer(0, "1-1");
    let received = rig.received(0);
    assert_eq!(types(&received), ["error", "turn"]);
    assert_eq!((&received[0]["code"], &received[0]["turn"]), (&json!("illegal_move"), &json!(0)));
    let again = &received[1];
    assert_eq!(again["turn"], 1);
    assert_eq!(again["retry"], json!({"of": 0, "code": "illegal_move", "message": received[0]["message"]}));
    for same in ["match", "seat", "view", "legal", "clock"] {
        assert_eq!(again[same], first[same]);
    }
    assert_eq!(first.get("retry"), None);
    rig.answer(0, "11-15");
    assert!(rig.is_asked(1));
}

#[test]
fn a_malformed_answer_is_retried() {
    let mut rig = played();
    rig.broken(0, None, FaultCode::Malformed);
    assert_eq!(
        rig.last(0, "turn")["retry"],
        json!({"of": 0, "code": "malformed", "message": "the line is not a JSON object"})
    );
}

#[test]
fn every_retry_is_a_fault() {
    let mut rig = played();
    rig.answer(0, "1-1");
    rig.broken(0, None, FaultCode::Malformed);
    assert_eq!(rig.faults(0), [("illegal_move", 1), ("malformed", 1)]);
    rig.answer(0, "11-15");
    assert!(!rig.is_over());
}

#[test]
fn after_n_retries_the_seat_forfeits() {
    let mut rig = played();
    rig.answer(0, "1-1");
    rig.answer(0, "1-1");
    assert_eq!(rig.request(0), 2);
    rig.answer(0, "1-1");
    assert_eq!(rig.fault(), (0, "illegal_move"));
    assert_eq!(rig.faults(0), [("illegal_move", 3)]);
}

#[test]
fn retries_are_counted_over_the_match_and_by_seat() {
    let mut rig = played();
    rig.answer(0, "1-1");
    rig.answer(0, "11-15");
    rig.answer(1, "1-1");
    rig.answer(1, "22-18");
    rig.answer(0, "1-1");
    rig.answer(0, "15x22");
    rig.answer(1, "1-1");
    rig.answer(1, "25x18");
    assert!(!rig.is_over());
    rig.answer(0, "1-1");
    assert_eq!(rig.fault(), (0, "illegal_move"));
}

#[test]
fn an_overlong_line_is_not_retried() {
    let mut rig = played();
    rig.broken(0, None, FaultCode::LineTooLong);
    assert_eq!(rig.fault(), (0, "line_too_long"));
}

#[test]
fn a_timeout_is_not_retried() {
    let mut rig = played();
    rig.wait(1121 * MS).tick();
    assert_eq!(rig.fault(), (0, "timeout"));
    let mut rig = played();
    rig.wait(1121 * MS).answer(0, "1-1");
    assert_eq!(rig.fault(), (0, "timeout"), "a refused answer that comes too late is a timeout");
}

#[test]
fn a_lost_bot_is_not_retried() {
    let mut rig = played();
    rig.gone(0);
    assert_eq!(rig.fault(), (0, "exited"));
}

#[test]
fn the_clock_runs_on_over_retries() {
    let mut rig = played();
    assert_eq!(rig.clock(0), (1000, 1100));
    rig.wait(300 * MS).answer(0, "1-1");
    assert_eq!(rig.clock(0), (1000, 800), "the bank of the first request, the limit that is left");
    let deadline = rig.deadline();
    rig.wait(500 * MS).answer(0, "1-1");
    assert_eq!(rig.clock(0), (1000, 300));
    assert_eq!(rig.deadline(), deadline);
    rig.wait(200 * MS).answer(0, "11-15");
    rig.answer(1, "22-18");
    assert_eq!(rig.clock(0), (100, 200), "900 ms of 1000 were billed");
}

#[test]
fn unsent_retry_times_out_with_first_request() {
    let mut rig = played();
    rig.holds = true;
    rig.answer(0, "1-1");
    assert_eq!(rig.deadline(), Some(1120 * MS + 1));
    rig.wait(1120 * MS + 1).tick();
    assert_eq!(rig.fault(), (0, "timeout"));
}

#[test]
fn retry_within_margin_shows_least_time_and_can_be_answered() {
    let mut rig = played();
    rig.wait(1110 * MS).answer(0, "1-1");
    assert_eq!(rig.clock(0), (1000, 1));
    rig.wait(10 * MS).answer(0, "11-15");
    assert!(rig.is_asked(1));
}

#[test]
fn the_increment_is_added_once_per_decision() {
    let mut rig = RigSetup::checkers().clock(0, 1000, 10).on_fault("retry=2").play();
    rig.answer(0, "1-1");
    rig.answer(0, "1-1");
    rig.answer(0, "11-15");
    rig.answer(1, "22-18");
    assert_eq!(rig.clock(0), (1010, 1010));
}

#[test]
fn an_answer_to_the_refused_request_is_stale() {
    let mut rig = played();
    rig.answer(0, "1-1");
    rig.received(0);
    rig.answer_to(0, 0, "11-15");
    assert_eq!(rig.errors(0), ["stale"]);
    assert_eq!(rig.request(0), 1);
}

#[test]
fn standing_draw_offer_is_shown_again_and_can_be_accepted() {
    let mut rig = played();
    rig.offer(0, "11-15");
    rig.answer(1, "1-1");
    let again = rig.last(1, "turn");
    assert_eq!((&again["draw_offered"], &again["retry"]["of"]), (&json!(true), &json!(0)));
    let turn = rig.request(1);
    rig.handle(Event::AcceptDraw { seat: Seat(1), turn: turn.into() });
    assert_eq!(rig.why(), ("agreement", "agreement"));
}

#[test]
fn a_retry_shows_the_same_number_of_turns_left() {
    let mut rig = RigSetup::checkers().set("turn_limit", 9).on_fault("retry=1").play();
    rig.answer(0, "1-1");
    assert_eq!(rig.last(0, "turn")["turns_left"], 9);
}

#[test]
fn a_retry_leaves_out_what_the_bot_does_not_want() {
    let mut plan = RigSetup::checkers().on_fault("retry=1");
    plan.wants[0].view = false;
    let mut rig = plan.play();
    rig.answer(0, "1-1");
    let again = rig.last(0, "turn");
    assert_eq!((again.get("view"), again["clock"].clone()), (None, Value::Null));
}
