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

#[test]
fn lag_above_the_margin_extends_the_deadline() {
    assert!(round(&mut timed(), 120 + 21, 21));
    assert!(!round(&mut timed(), 120 + 22, 21));
}

#[test]
fn lag_within_the_margin_extends_nothing() {
    assert!(round(&mut timed(), 120, 20));
    assert!(!round(&mut timed(), 121, 20));
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
fn lag_extends_one_deadline_by_at_most_a_second() {
    assert!(round(&mut timed(), 120 + 1000, 5000));
    assert!(!round(&mut timed(), 120 + 1001, 5000));
}

/// A bank that lag has left below zero is not made good, so here the delay alone would be too little.
#[test]
fn lag_extends_the_deadlines_of_a_seat_by_a_second_in_total() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(0, 100, 1000).play();
    assert!(round(&mut rig, 120 + 600, 600));
    // The bank went to -620 ms and got 1000.
    assert_eq!(rig.clock(0), (380, 380));
    assert!(round(&mut rig, 400 + 400, 600), "400 ms are left of the second");
    assert_eq!(rig.clock(0), (580, 580));
    assert!(!round(&mut rig, 600 + 1, 600), "nothing is left");
}

#[test]
fn only_the_used_extension_counts() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(0, 100, 1000).play();
    assert!(round(&mut rig, 100, 5000), "in time without it");
    assert!(round(&mut rig, 1000 + 20 + 1000, 5000), "the whole second is there");
}

#[test]
fn every_seat_has_its_own_second_of_extension() {
    let mut rig = timed();
    assert!(round(&mut rig, 1120, 1000));
    rig.step(0);
    rig.lag += 1000 * MS;
    rig.wait(1120 * MS).step(1);
    assert!(!rig.is_over());
}

#[test]
fn an_extension_before_a_timeout_counts() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(100, 0, 0).on_fault("random").play();
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
fn time_is_billed_in_full_whatever_the_lag_was() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(0, 1000, 0).play();
    assert!(round(&mut rig, 400, 300));
    assert_eq!(rig.clock(0), (600, 600));
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
