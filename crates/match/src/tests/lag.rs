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
fn lag_beyond_time_that_answer_took_gives_no_time() {
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
fn longest_lag_is_in_record_and_in_no_message() {
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
