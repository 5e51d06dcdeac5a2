//! Between `start` and the first turn.

use referee_game::Seat;
use referee_protocol::words::{ErrorCode, FaultCode};

use super::rig::{MS, Rig, RigSetup, types};
use crate::{Event, Wants};

const LIMIT: u64 = 5000 * MS;

fn opened() -> Rig {
    let mut rig = RigSetup::checkers().open();
    rig.received(0);
    rig.received(1);
    rig
}

#[test]
fn bot_that_is_not_ready_at_limit_does_not_start() {
    let mut rig = opened();
    rig.ready(1);
    rig.wait(LIMIT).tick();
    assert!(!rig.is_over(), "at the limit it would be in time");
    rig.wait(1).tick();
    assert_eq!(rig.why(), ("fault", "no_start"));
    assert_eq!(rig.fault(), (0, "no_start"));
    assert_eq!(rig.ranks(), [2, 1]);
    assert_eq!(types(&rig.received(0)), ["error", "end"]);
    assert_eq!(types(&rig.received(1)), ["end"]);
}

#[test]
fn the_ready_limit_is_the_deadline_until_all_are_ready() {
    let mut rig = opened();
    assert_eq!(rig.deadline(), Some(LIMIT + 1));
    rig.ready(0);
    assert_eq!(rig.deadline(), Some(LIMIT + 1));
    rig.ready(1);
    assert_eq!(rig.deadline(), None, "without a clock there is no other");
}

#[test]
fn the_ready_limit_runs_from_the_sending_of_start() {
    let mut rig = RigSetup::checkers().open();
    rig.play = RigSetup::checkers().bare();
    assert_eq!(rig.deadline(), None, "nothing was sent");
    rig.wait(LIMIT).flush();
    assert_eq!(rig.deadline(), Some(2 * LIMIT + 1));
}

#[test]
fn ready_timeout_is_suspended_until_another_process_takes_seat() {
    let mut rig = opened();
    rig.ready(1);
    rig.handle(Event::Vacated(Seat(0)));
    assert_eq!(rig.deadline(), None);
    rig.wait(10 * LIMIT).restart(0, 700, Wants::default());
    rig.wait(700_000).ready(0);
    assert!(rig.is_asked(0));
}

#[test]
fn when_no_bot_starts_it_is_draw_by_lowest_seat() {
    let mut rig = opened();
    rig.wait(LIMIT + 1).tick();
    assert_eq!(rig.why(), ("fault", "no_start"));
    assert_eq!(rig.fault(), (0, "no_start"));
    assert_eq!(rig.ranks(), [1, 1]);
    assert_eq!((rig.faults(0), rig.faults(1)), (vec![("no_start", 1)], vec![("no_start", 1)]));
}

#[test]
fn faults_before_play_apply_after_all_seats_are_ready() {
    let mut rig = opened();
    rig.gone(0);
    assert!(!rig.is_over());
    rig.wait(LIMIT).ready(1);
    assert_eq!(rig.why(), ("fault", "exited"));
    assert_eq!(rig.ranks(), [2, 1]);
}

#[test]
fn two_crashes_before_start_are_draw_in_any_order() {
    for order in [[0, 1], [1, 0]] {
        let mut rig = opened();
        order.into_iter().for_each(|seat| rig.gone(seat));
        assert_eq!(rig.fault(), (0, "exited"));
        assert_eq!(rig.ranks(), [1, 1]);
    }
}

#[test]
fn crash_after_ready_loses_once_other_is_ready() {
    let mut rig = opened();
    rig.ready(0);
    rig.gone(0);
    assert!(!rig.is_over());
    rig.ready(1);
    assert_eq!(rig.fault(), (0, "exited"));
    assert_eq!(rig.ranks(), [2, 1]);
}

#[test]
fn a_refused_ready_may_be_sent_again_until_the_limit() {
    let too_long = "00".repeat(65);
    for nonce in ["AB", "abc", "xy", "é", " ", &too_long] {
        let mut rig = opened();
        rig.handle(Event::Ready { seat: Seat(0), nonce: Some(nonce) });
        assert_eq!(rig.errors(0), ["malformed"], "{nonce}");
        assert!(rig.faults(0).is_empty());
        assert!(rig.play.awaits_ready(Seat(0)));
        rig.wait(LIMIT).ready(0);
        rig.ready(1);
        assert!(rig.is_asked(0), "{nonce}");
    }
}

#[test]
fn a_nonce_has_at_most_64_bytes() {
    let nonce = "0f".repeat(64);
    let mut rig = opened();
    rig.handle(Event::Ready { seat: Seat(0), nonce: Some(&nonce) });
    rig.ready(1);
    assert_eq!(rig.play.reveal().nonces, [nonce, String::new()]);
}

#[test]
fn refused_ready_that_is_not_sent_again_is_no_start() {
    let mut rig = opened();
    rig.handle(Event::Ready { seat: Seat(0), nonce: Some("not hex") });
    rig.ready(1);
    rig.wait(LIMIT + 1).tick();
    assert_eq!(rig.fault(), (0, "no_start"));
    assert_eq!(rig.faults(0), [("no_start", 1)]);
}

#[test]
fn unused_nonces_are_ignored() {
    let mut plan = RigSetup::checkers();
    plan.nonce = false;
    let mut rig = plan.open();
    rig.handle(Event::Ready { seat: Seat(0), nonce: Some("not hex") });
    rig.handle(Event::Ready { seat: Seat(1), nonce: Some("00ff") });
    assert!(rig.is_asked(0));
    assert_eq!(rig.play.reveal().nonces, ["", ""]);
}

#[test]
fn an_invalid_line_before_the_first_turn_is_a_stray() {
    let mut rig = opened();
    rig.broken(0, None, FaultCode::Malformed);
    rig.broken(0, Some(0), FaultCode::LineTooLong);
    assert_eq!(rig.errors(0), ["malformed", "line_too_long"]);
    assert_eq!(rig.recorded("stray").len(), 2);
    assert!(rig.faults(0).is_empty());
    rig.ready(0);
    rig.ready(1);
    assert!(rig.is_asked(0));
}

#[test]
fn a_second_ready_is_out_of_state() {
    let mut rig = opened();
    rig.ready(0);
    rig.ready(0);
    assert_eq!(rig.errors(0), ["out_of_state"]);
    rig.ready(1);
    rig.ready(1);
    assert_eq!(rig.errors(1), ["out_of_state"]);
    assert_eq!(rig.recorded("stray").len(), 2);
}

#[test]
fn an_answer_before_the_first_request_is_out_of_state() {
    let mut rig = opened();
    rig.answer_to(0, 0, "11-15");
    assert_eq!(rig.errors(0), ["out_of_state"]);
    rig.ready(0);
    rig.ready(1);
    assert_eq!(rig.request(0), 0, "it did not count as an answer");
}

#[test]
fn a_resignation_before_the_start_counts_when_all_are_ready() {
    for is_ready in [false, true] {
        let mut rig = opened();
        if is_ready {
            rig.ready(1);
        }
        rig.resign(1);
        assert!(!rig.is_over());
        rig.ready(0);
        assert_eq!(rig.why(), ("resignation", "resignation"));
        assert_eq!(rig.ranks(), [1, 2]);
    }
}

#[test]
fn too_many_strays_before_the_start_are_a_fault() {
    let mut rig = opened();
    rig.ready(1);
    for _ in 0..21 {
        rig.handle(Event::Stray { seat: Seat(0), code: ErrorCode::UnknownType, message: "no such message" });
    }
    assert_eq!(rig.fault(), (0, "protocol"));
}

#[test]
fn a_restarted_process_gets_start_and_its_own_timeout() {
    let mut rig = opened();
    rig.wait(LIMIT - 1).restart(0, 9000, Wants::default());
    assert_eq!(types(&rig.received(0)), ["start"]);
    rig.ready(1);
    rig.wait(9000 * MS).tick();
    assert!(!rig.is_over());
    rig.ready(0);
    assert!(rig.is_asked(0));
    assert_eq!(rig.recorded("restart")[0]["ready_ms"], 9000);
}

#[test]
fn a_restarted_process_has_its_own_wants() {
    let mut rig = opened();
    rig.restart(0, 5000, Wants { view: false, ..Wants::default() });
    rig.ready(0);
    rig.ready(1);
    assert_eq!(rig.last(0, "turn").get("view"), None);
}

#[test]
fn a_restarted_process_gets_no_messages_of_its_predecessor() {
    let mut rig = opened();
    rig.holds = true;
    rig.broken(0, None, FaultCode::Malformed);
    rig.restart(0, 5000, Wants::default());
    rig.holds = false;
    rig.flush();
    assert_eq!(types(&rig.received(0)), ["start"]);
}

#[test]
fn a_ready_seat_cannot_be_restarted() {
    let mut rig = opened();
    rig.ready(0);
    rig.restart(0, 5000, Wants::default());
    rig.ready(1);
    rig.restart(1, 5000, Wants::default());
    assert_eq!(types(&rig.received(0)), ["turn"]);
    assert!(rig.received(1).is_empty());
    assert!(rig.recorded("restart").is_empty());
}

#[test]
fn a_late_ready_is_no_start_without_a_tick() {
    let mut rig = opened();
    rig.ready(1);
    rig.wait(LIMIT + 1).ready(0);
    assert_eq!(rig.fault(), (0, "no_start"));
    assert_eq!(types(&rig.received(0)), ["error", "end"], "one error for it");
    assert!(rig.recorded("stray").is_empty());
}
