//! Clocks when the referee itself is late.

use serde_json::json;

use super::rig::{MS, Rig, RigSetup};

const KINGS: &str = "B:WK32:BK1";

/// Each answer has 100 ms; 20 ms more are forgiven.
fn timed() -> Rig {
    RigSetup::checkers_at(KINGS).clock(100, 0, 0).play()
}

/// Both answer; seat 0 took `took` and the referee was late by `lag` of that, in milliseconds.
fn round(rig: &mut Rig, took: u64, lag: u64) -> bool {
    rig.lag += lag * MS;
    rig.wait(took * MS).step(0);
    let is_in_time = !rig.is_over();
    if is_in_time {
        rig.step(1);
    }
    is_in_time
}

/// The same, played when lag was billed.
fn timed_in_the_past() -> Rig {
    let mut setup = RigSetup::checkers_at(KINGS).clock(100, 0, 0);
    setup.limits.lag_ms = Some(1_000);
    setup.play()
}

#[test]
fn lag_extends_the_deadline_without_a_cap() {
    for lag in [1, 20, 21, 1_000, 5_000] {
        assert!(round(&mut timed(), 120 + lag, lag), "{lag} ms");
        assert!(!round(&mut timed(), 121 + lag, lag), "{lag} ms");
    }
}

#[test]
fn lag_is_not_billed() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(0, 1000, 0).play();
    assert!(round(&mut rig, 768, 548));
    assert_eq!(rig.clock(0), (780, 780));
    assert!(round(&mut rig, 30_000, 30_000));
    assert_eq!(rig.clock(0), (780, 780));
}

#[test]
fn lag_beyond_the_time_that_an_answer_took_gives_no_time() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(0, 1000, 0).play();
    assert!(round(&mut rig, 100, 5_000));
    assert_eq!(rig.clock(0), (1000, 1000));
}

#[test]
fn a_request_never_has_a_limit_of_0() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(0, 100, 0).play();
    assert!(round(&mut rig, 115, 0), "within the margin");
    assert_eq!(rig.clock(0), (0, 1));
    assert!(round(&mut rig, 21, 0));
    assert!(!round(&mut rig, 22, 0));
}

#[test]
fn lag_before_the_request_extends_nothing() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(100, 0, 0).open();
    rig.lag = 800 * MS;
    rig.ready(0);
    rig.ready(1);
    assert!(!round(&mut rig, 121, 0));
}

#[test]
fn in_the_past_lag_above_the_margin_extended_one_deadline_by_at_most_a_second() {
    for (took, lag, is_in_time) in [
        (120, 20, true),
        (121, 20, false),
        (120 + 21, 21, true),
        (120 + 22, 21, false),
        (120 + 1000, 5000, true),
        (120 + 1001, 5000, false),
    ] {
        assert_eq!(round(&mut timed_in_the_past(), took, lag), is_in_time, "{took}, {lag}");
    }
}

/// A bank that lag has left below zero was not made good, so here the delay alone would be too little.
#[test]
fn in_the_past_lag_was_billed_and_extended_the_deadlines_of_a_seat_by_a_second_in_total() {
    let mut setup = RigSetup::checkers_at(KINGS).clock(0, 100, 1000);
    setup.limits.lag_ms = Some(1_000);
    let mut rig = setup.play();
    assert!(round(&mut rig, 120 + 600, 600));
    // The bank went to -620 ms and got 1000.
    assert_eq!(rig.clock(0), (380, 380));
    assert!(round(&mut rig, 400 + 400, 600), "400 ms are left of the second");
    assert_eq!(rig.clock(0), (580, 580));
    assert!(!round(&mut rig, 600 + 1, 600), "nothing is left");
}

#[test]
fn in_the_past_an_extension_before_a_timeout_counted() {
    let mut setup = RigSetup::checkers_at(KINGS).clock(100, 0, 0).on_fault("random");
    setup.limits.lag_ms = Some(1_000);
    let mut rig = setup.play();
    rig.lag += 1000 * MS;
    rig.wait(1120 * MS).tick();
    assert!(rig.is_asked(0), "the deadline was moved");
    rig.wait(1).tick();
    assert_eq!(rig.faults(0), [("timeout", 1)]);
    rig.step(1);
    rig.lag += 1000 * MS;
    rig.wait(120 * MS + 1).tick();
    assert_eq!(rig.faults(0), [("timeout", 2)]);
}

#[test]
fn a_tick_updates_the_extended_deadline() {
    let mut rig = timed();
    let deadline = rig.at + 120 * MS + 1;
    assert_eq!(rig.deadline(), Some(deadline));
    rig.lag += 50 * MS;
    rig.wait(120 * MS + 1).tick();
    assert!(!rig.is_over());
    assert_eq!(rig.deadline(), Some(deadline + 50 * MS));
    rig.wait(50 * MS).tick();
    assert_eq!(rig.fault(), (0, "timeout"));
}

#[test]
fn the_longest_lag_is_in_the_result_of_the_record_and_in_no_message() {
    let transcripts = [0, 30].map(|lag| {
        let mut rig = RigSetup::checkers_at("B:W23:B10").clock(100, 0, 0).play();
        rig.lag += lag * MS;
        rig.wait(50 * MS).answer(0, "10-14");
        rig.lag += lag / 2 * MS;
        rig.moves("23-18 14x23");
        assert_eq!(rig.recorded("result")[0]["lag_ms"], json!(lag));
        assert_eq!(rig.recorded("answer")[0]["lag_us"], json!(lag * MS));
        assert_eq!(rig.play.worst_lag(), lag * MS);
        [0, 1].map(|seat| rig.bytes(seat).to_vec())
    });
    assert_eq!(transcripts[0], transcripts[1]);
}
