//! Delay, bank, increment and margin.

use referee_game::Seat;
use serde_json::json;

use super::rig::{MS, Rig, RigSetup, types};
use crate::Detail;

/// Moves that have no end: the kings walk between their corners.
const KINGS: &str = "B:WK32:BK1";

/// Walks with both kings: seat 0 takes `us` for its answers, seat 1 no time.
fn walk(rig: &mut Rig, us: u64) {
    rig.wait(us).answer(0, "1-5");
    rig.answer(1, "32-28");
    rig.wait(us).answer(0, "5-1");
    rig.answer(1, "28-32");
}

fn timed(delay_ms: u64, bank_ms: u64, increment_ms: u64) -> Rig {
    RigSetup::checkers_at(KINGS).clock(delay_ms, bank_ms, increment_ms).play()
}

#[test]
fn the_limit_is_delay_and_bank() {
    assert_eq!(timed(100, 1000, 7).clock(0), (1000, 1100));
    assert_eq!(timed(0, 1000, 0).clock(0), (1000, 1000));
    assert_eq!(timed(100, 0, 0).clock(0), (0, 100));
}

#[test]
fn the_delay_is_not_deducted() {
    let mut rig = timed(100, 1000, 0);
    walk(&mut rig, 100 * MS);
    assert_eq!(rig.clock(0), (1000, 1100));
}

#[test]
fn time_beyond_the_delay_is_deducted_from_the_bank() {
    let mut rig = timed(100, 1000, 0);
    walk(&mut rig, 130 * MS);
    assert_eq!(rig.clock(0), (940, 1040));
}

#[test]
fn microseconds_are_billed_and_whole_milliseconds_shown() {
    let mut rig = timed(0, 1000, 0);
    walk(&mut rig, 1);
    assert_eq!(rig.clock(0), (999, 999));
}

#[test]
fn the_increment_is_added_after_every_answer_in_time() {
    let mut rig = timed(0, 1000, 50);
    assert_eq!(rig.clock(0), (1000, 1000), "not before the first");
    walk(&mut rig, 0);
    assert_eq!(rig.clock(0), (1100, 1100));
    walk(&mut rig, 70 * MS);
    assert_eq!(rig.clock(0), (1060, 1060));
}

#[test]
fn an_answer_that_empties_the_bank_earns_the_increment() {
    let mut rig = timed(0, 1000, 50);
    rig.wait(1000 * MS).answer(0, "1-5");
    rig.answer(1, "32-28");
    assert_eq!(rig.clock(0), (50, 50));
}

#[test]
fn answer_at_limit_is_in_time_without_margin() {
    let mut plan = RigSetup::checkers_at(KINGS).clock(100, 0, 0);
    plan.margin_ms = 0;
    let mut rig = plan.clone().play();
    rig.wait(100 * MS).answer(0, "1-5");
    assert!(rig.is_asked(1));
    let mut rig = plan.play();
    rig.wait(100 * MS + 1).answer(0, "1-5");
    assert_eq!(rig.fault(), (0, "timeout"));
}

#[test]
fn the_grace_period_ends_after_the_margin() {
    for (took, is_in_time) in [(1100 * MS, true), (1120 * MS, true), (1120 * MS + 1, false)] {
        let mut rig = timed(100, 1000, 0);
        rig.wait(took).answer(0, "1-5");
        assert_eq!(rig.is_asked(1), is_in_time, "after {took} us");
    }
}

#[test]
fn the_grace_period_is_deducted_from_the_bank() {
    let mut rig = timed(100, 1000, 0);
    rig.wait(1115 * MS).answer(0, "1-5");
    rig.answer(1, "32-28");
    assert_eq!(rig.clock(0), (0, 85));
    assert_eq!(rig.deadline(), Some(rig.at + 105 * MS + 1));
}

#[test]
fn the_margin_does_not_give_free_time_repeatedly() {
    let mut rig = timed(10, 0, 0);
    rig.wait(30 * MS).answer(0, "1-5");
    rig.answer(1, "32-28");
    assert_eq!(rig.clock(0), (0, 1));
    rig.wait(21 * MS).answer(0, "5-1");
    rig.answer(1, "28-32");
    assert_eq!(rig.clock(0), (0, 1));
    rig.wait(21 * MS + 1).answer(0, "1-5");
    assert_eq!(rig.fault(), (0, "timeout"));
}

#[test]
fn a_bank_below_zero_recovers_by_the_increment() {
    let mut rig = timed(0, 100, 30);
    rig.wait(115 * MS).answer(0, "1-5");
    rig.answer(1, "32-28");
    assert_eq!(rig.clock(0), (15, 15));
}

#[test]
fn a_late_answer_is_a_timeout_without_a_tick() {
    let mut rig = timed(100, 0, 0);
    rig.wait(121 * MS).answer(0, "1-5");
    assert_eq!(rig.why(), ("fault", "timeout"));
    assert_eq!(types(&rig.received(0)), ["turn", "error", "end"]);
    assert_eq!(rig.recorded("answer").len(), 1, "what came too late is recorded too");
}

#[test]
fn silence_is_a_timeout_only_after_the_deadline() {
    let mut rig = timed(100, 0, 0);
    let deadline = rig.at + 120 * MS + 1;
    assert_eq!(rig.deadline(), Some(deadline));
    rig.at = deadline - 1;
    rig.tick();
    assert!(!rig.is_over());
    rig.at = deadline;
    rig.tick();
    assert_eq!(rig.fault(), (0, "timeout"));
    assert_eq!(rig.ranks(), [2, 1]);
}

#[test]
fn a_timeout_by_a_late_answer_says_when_it_came() {
    let mut rig = timed(100, 0, 0);
    rig.lag += 400 * MS;
    rig.wait(2500 * MS).answer(0, "1-5");
    let detail = rig.ending().fault.clone().unwrap().detail.unwrap();
    assert_eq!(detail.to_string(), "answered after 2100 ms, limit 100 ms");
}

#[test]
fn a_timeout_names_the_limit_of_its_request() {
    let mut rig = timed(100, 0, 0);
    rig.wait(1000 * MS).tick();
    let detail = rig.ending().fault.clone().unwrap().detail.unwrap();
    assert_eq!(detail, Detail::NoAnswer { limit_ms: 100, received: None });
    let sentence = detail.to_string();
    assert_eq!(sentence, "no answer within 100 ms");
}

#[test]
fn clock_starts_when_request_is_sent_and_not_before() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(0, 1000, 0).open();
    rig.holds = true;
    rig.ready(0);
    rig.ready(1);
    assert_eq!((rig.deadline(), rig.play.is_asking(Seat(0))), (None, true));
    rig.wait(5000 * MS).tick();
    rig.holds = false;
    rig.flush();
    assert_eq!((rig.deadline(), rig.play.is_asking(Seat(0))), (Some(rig.at + 1020 * MS + 1), false));
    rig.wait(100 * MS).answer(0, "1-5");
    rig.answer(1, "32-28");
    assert_eq!(rig.clock(0), (900, 900));
}

#[test]
fn sending_other_messages_does_not_restart_the_clock() {
    let mut rig = timed(0, 1000, 0);
    rig.wait(600 * MS).ready(0);
    assert_eq!(rig.errors(0), ["out_of_state"]);
    rig.wait(100 * MS).answer(0, "1-5");
    rig.answer(1, "32-28");
    assert_eq!(rig.clock(0), (300, 300));
}

#[test]
fn every_seat_has_its_own_bank() {
    let mut rig = timed(0, 1000, 0);
    rig.wait(300 * MS).answer(0, "1-5");
    assert_eq!(rig.clock(1), (1000, 1000));
    rig.wait(500 * MS).answer(1, "32-28");
    assert_eq!(rig.clock(0), (700, 700));
    rig.answer(0, "5-1");
    assert_eq!(rig.clock(1), (500, 500));
}

#[test]
fn without_a_clock_there_is_no_limit() {
    let mut rig = RigSetup::checkers_at(KINGS).play();
    assert_eq!(rig.deadline(), None);
    rig.wait(u64::MAX / 2).tick();
    rig.answer(0, "1-5");
    assert!(rig.is_asked(1));
}

#[test]
fn answer_times_are_recorded_in_microseconds() {
    let mut rig = timed(0, 1000, 0);
    rig.wait(1234).answer(0, "1-5");
    let answer = &rig.recorded("answer")[0];
    assert_eq!((answer["at_us"].as_u64(), answer["took_us"].as_u64()), (Some(1234), Some(1234)));
    let request = &rig.recorded("request")[1];
    assert_eq!((request["seat"].as_u64(), request["at_us"].as_u64()), (Some(1), Some(1234)));
}

#[test]
fn a_timeout_bills_at_most_the_limit() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(100, 1000, 50).on_fault("random").play();
    rig.wait(9000 * MS).tick();
    rig.answer(1, "32-28");
    assert_eq!(rig.clock(0), (0, 100));
    assert_eq!(rig.faults(0), [("timeout", 1)]);
}

#[test]
fn record_timestamps_never_decrease() {
    let mut rig = timed(0, 1000, 0);
    rig.wait(5 * MS).answer(0, "1-5");
    rig.at -= 3 * MS;
    rig.gone(1);
    assert_eq!(rig.recorded("fault")[0]["at_us"], 5 * MS);
}

/// Plays the kings' walk. In each round: what the request shows as bank and limit, and what the answer takes, in
/// microseconds.
fn assert_example(mut rig: Rig, rounds: &[(u64, u64, u64)]) -> Rig {
    for (number, &(bank, limit, took)) in rounds.iter().enumerate() {
        assert_eq!(rig.clock(0), (bank, limit), "request {number}");
        rig.wait(took).answer(0, ["1-5", "5-1"][number % 2]);
        if !rig.is_over() {
            rig.answer(1, ["32-28", "28-32"][number % 2]);
        }
    }
    rig
}

#[test]
fn the_example_of_delay_bank_and_increment_is_correct() {
    let rounds =
        [(5000, 6000, 700_000), (5500, 6500, 3_000_000), (4000, 5000, 5_015_400), (484, 1484, 1_504_700)];
    let rig = assert_example(timed(1000, 5000, 500), &rounds);
    assert_eq!(rig.fault(), (0, "timeout"));
}

#[test]
fn example_of_fixed_time_and_margin_is_correct() {
    let rounds = [(0, 1000, 1_015_000), (0, 985, 990_000), (0, 985, 1_004_000), (0, 981, 1_002_000)];
    let rig = assert_example(timed(1000, 0, 0), &rounds);
    assert_eq!(rig.fault(), (0, "timeout"));
}

#[test]
fn the_example_of_a_retry_is_correct() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(0, 10_000, 100).on_fault("retry=2").play();
    assert_eq!(rig.clock(0), (10_000, 10_000));
    rig.wait(3_000_000).answer(0, "1-1");
    assert_eq!(rig.clock(0), (10_000, 7000));
    rig.wait(1_200_500).answer(0, "1-1");
    assert_eq!(rig.clock(0), (10_000, 5799));
    rig.wait(799_500).answer(0, "1-5");
    rig.answer(1, "32-28");
    assert_eq!(rig.clock(0), (5100, 5100));
}

#[test]
fn a_turn_has_the_banks_of_all_seats() {
    let mut rig = timed(100, 1000, 7);
    assert_eq!(rig.last(0, "turn")["banks_ms"], json!([1000, 1000]));
    rig.wait(350 * MS).answer(0, "1-5");
    assert_eq!(rig.last(1, "turn")["banks_ms"], json!([757, 1000]));
    let mut rig = RigSetup::checkers_at(KINGS).play();
    assert_eq!(rig.last(0, "turn").get("banks_ms"), None, "without a clock");
}
