//! Every fault, with the policy `forfeit`.

use referee_game::Seat;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde_json::json;

use super::rig::{MS, Rig, RigSetup, types};
use crate::{AbortReason, Detail, Event};

fn played() -> Rig {
    RigSetup::checkers().clock(1000, 0, 0).play()
}

/// Checks that seat 0 has lost by one fault of this code, and that every connected seat receives that in `end`.
fn assert_lost_by(rig: &mut Rig, code: &str) {
    assert_eq!(rig.why(), ("fault", code));
    assert_eq!(rig.fault(), (0, code));
    assert_eq!(rig.ranks(), [2, 1]);
    assert_eq!(rig.ending().scores, Some(vec![0.0, 1.0]));
    assert_eq!(rig.faults(0), [(code, 1)]);
    assert!(rig.faults(1).is_empty());
    assert_eq!(rig.recorded("fault").len(), 1);
    let end = rig.last(1, "end");
    assert_eq!(
        (&end["reason"], &end["fault"]["seat"], &end["fault"]["code"]),
        (&json!(code), &json!(0), &json!(code))
    );
}

#[test]
fn an_illegal_move_forfeits() {
    for text in ["11-14", "", "11-15 ", "\u{0}", "11x15", &"9".repeat(60_000)] {
        let mut rig = played();
        rig.answer(0, text);
        assert_lost_by(&mut rig, "illegal_move");
        assert_eq!(types(&rig.received(0)), ["turn", "error", "end"]);
    }
}

#[test]
fn an_illegal_move_is_quoted_truncated_in_the_error() {
    let mut rig = played();
    rig.answer(0, &"é".repeat(30_000));
    let error = &rig.received(0)[1];
    assert_eq!((&error["code"], &error["turn"]), (&json!("illegal_move"), &json!(0)));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("éé...") && message.len() < 300, "{message}");
}

#[test]
fn an_ambiguous_short_form_is_illegal() {
    let mut rig = RigSetup::checkers_at("B:W7,15,16,19,23,24,26,30,32:B2,3,5,6,12,13").play();
    rig.answer(0, "2x27");
    assert_eq!(rig.fault(), (0, "illegal_move"));
    assert_eq!(rig.received(0)[1]["legal_forms"], json!(["2x11x18x27", "2x11x20x27"]));
}

#[test]
fn an_unambiguous_short_form_is_accepted() {
    let mut rig = RigSetup::checkers_at("B:W19,27:B15").play();
    rig.answer(0, "15x31");
    assert_eq!(rig.recorded("event")[0]["event"]["move"], "15x24x31");
}

#[test]
fn an_invalid_line_forfeits_the_named_or_open_request() {
    for turn in [None, Some(0)] {
        let mut rig = played();
        rig.broken(0, turn, FaultCode::Malformed);
        assert_lost_by(&mut rig, "malformed");
        assert_eq!(rig.errors(0), ["malformed"]);
        assert_eq!(rig.ending().fault.clone().unwrap().detail.unwrap(), Detail::NotAnObject);
    }
}

#[test]
fn an_overlong_line_forfeits() {
    let mut rig = played();
    rig.broken(0, None, FaultCode::LineTooLong);
    assert_lost_by(&mut rig, "line_too_long");
    assert_eq!(rig.errors(0), ["line_too_long"]);
}

#[test]
fn a_timeout_forfeits() {
    let mut rig = played();
    rig.wait(1021 * MS).tick();
    assert_lost_by(&mut rig, "timeout");
    assert_eq!(rig.errors(0), ["timeout"]);
}

#[test]
fn a_late_invalid_line_is_a_timeout() {
    let mut rig = played();
    rig.wait(1021 * MS).broken(0, None, FaultCode::Malformed);
    assert_lost_by(&mut rig, "timeout");
}

#[test]
fn an_unreachable_bot_forfeits_and_gets_no_messages() {
    let gone = [
        FaultCode::Disconnected,
        FaultCode::Exited,
        FaultCode::Stalled,
        FaultCode::Protocol,
        FaultCode::NoStart,
    ];
    let detail = Detail::Signal { signal: 11, held_pipe: false };
    for code in gone {
        let mut rig = played();
        rig.received(0);
        rig.handle(Event::Gone { seat: Seat(0), code, detail: &detail });
        assert_lost_by(&mut rig, code.as_str());
        assert_eq!(rig.ending().fault.clone().unwrap().detail.unwrap(), detail);
        assert!(rig.received(0).is_empty());
    }
}

#[test]
fn a_bot_lost_during_the_opponents_turn_loses_immediately() {
    let mut rig = played();
    rig.moves("11-15");
    rig.gone(0);
    assert_lost_by(&mut rig, "exited");
}

#[test]
fn the_last_move_of_a_lost_bot_counts() {
    let mut rig = RigSetup::checkers_at("B:W14:B10").play();
    rig.holds = true;
    rig.step(0);
    rig.gone(0);
    assert_eq!(rig.why(), ("rules", "no_pieces"));
    let mut rig = played();
    rig.answer(0, "11-15");
    rig.gone(0);
    assert_eq!(rig.recorded("event").len(), 1);
    assert_eq!(rig.fault(), (0, "exited"));
}

#[test]
fn the_21st_stray_is_the_fault_protocol() {
    let mut rig = played();
    rig.received(0);
    for count in 1..=20 {
        rig.handle(Event::Stray { seat: Seat(0), code: ErrorCode::UnknownType, message: "no such message" });
        let error = rig.last(0, "error");
        assert_eq!((&error["code"], &error["message"]), (&json!("unknown_type"), &json!("no such message")));
        assert!(!rig.is_over(), "after {count}");
    }
    assert!(rig.faults(0).is_empty());
    rig.handle(Event::Stray { seat: Seat(0), code: ErrorCode::UnknownType, message: "no such message" });
    assert_lost_by(&mut rig, "protocol");
}

#[test]
fn strays_of_all_kinds_are_counted_together_and_by_seat() {
    let mut rig = played();
    for _ in 0..5 {
        rig.ready(0);
        rig.answer_to(0, 7, "11-15");
        rig.handle(Event::AcceptDraw { seat: Seat(0), turn: 0 });
        rig.handle(Event::Stray { seat: Seat(0), code: ErrorCode::UnknownType, message: "no such message" });
        rig.ready(1);
    }
    assert!(!rig.is_over());
    rig.broken(1, None, FaultCode::Malformed);
    assert!(!rig.is_over(), "seat 1 has six");
    rig.ready(0);
    assert_eq!(rig.fault(), (0, "protocol"));
}

#[test]
fn too_many_strays_while_opponent_thinks_are_fault_too() {
    let mut rig = played();
    for _ in 0..21 {
        rig.ready(1);
    }
    assert_eq!(rig.fault(), (1, "protocol"));
    assert_eq!(rig.ranks(), [1, 2]);
}

#[test]
fn losing_a_bot_twice_is_one_fault() {
    let mut rig = RigSetup::checkers().on_fault("random").play();
    rig.gone(1);
    rig.gone(1);
    assert_eq!(rig.faults(1), [("exited", 1)]);
}

#[test]
fn faults_are_in_result_of_record_by_seat_and_code() {
    let mut rig = RigSetup::checkers().clock(1000, 0, 0).on_fault("random").play();
    rig.answer(0, "11-14");
    rig.wait(2000 * MS).tick();
    rig.answer(0, "11-14");
    rig.handle(Event::Abort(&AbortReason::Interrupted));
    let faults = &rig.recorded("result")[0]["faults"];
    assert_eq!(*faults, json!([{"illegal_move": 2}, {"timeout": 1}]));
    assert_eq!(rig.play.faults(Seat(0)).total(), 2);
}
