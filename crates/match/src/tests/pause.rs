//! Suspensions of the referee: the clock stands still.

use serde_json::json;

use super::rig::{MS, Rig, RigSetup};
use crate::Event;

const KINGS: &str = "B:WK32:BK1";

impl Rig {
    /// Reports a pause to the match. Time does not advance: the shell's clock stops during a pause.
    fn pause(&mut self, ms: u64) {
        self.handle(Event::Paused { us: ms * MS });
    }
}

#[test]
fn a_pause_extends_no_deadline_and_is_not_lag() {
    for (delay, bank, increment) in [(1000, 0, 0), (100, 900, 0), (0, 1000, 50)] {
        let mut rig = RigSetup::checkers_at(KINGS).clock(delay, bank, increment).play();
        let deadline = rig.deadline();
        rig.wait(400 * MS).pause(2000);
        assert_eq!(rig.deadline(), deadline);
        rig.wait(600 * MS).answer(0, "1-5");
        let answer = &rig.recorded("answer")[0];
        assert_eq!([&answer["took_us"], &answer["lag_us"]], [&json!(1000 * MS), &json!(0)]);
        rig.pause(2000);
        rig.wait(1020 * MS + 1).tick();
        assert_eq!(rig.fault(), (1, "timeout"), "who is too slow without the pauses loses");
    }
}

#[test]
fn the_example_of_a_pause_is_correct() {
    let mut rig = RigSetup::checkers_at(KINGS).clock(1000, 5000, 0).play();
    rig.wait(500 * MS).pause(2000);
    rig.wait(1000 * MS).answer(0, "1-5");
    rig.answer(1, "32-28");
    assert_eq!(rig.clock(0), (4500, 5500));
    rig.wait(300 * MS).pause(2000);
    rig.answer(0, "5-1");
    rig.answer(1, "28-32");
    assert_eq!(rig.clock(0), (4500, 5500));
    rig.pause(4000);
    rig.wait(5520 * MS + 1).answer(0, "1-5");
    assert_eq!(rig.fault(), (0, "timeout"));
}

#[test]
fn a_pause_suspends_the_ready_timeout() {
    let mut rig = RigSetup::checkers().open();
    rig.wait(4000 * MS).pause(4000);
    rig.wait(1000 * MS).ready(0);
    rig.ready(1);
    assert_eq!(rig.faults(0), []);
}

#[test]
fn every_pause_is_recorded_and_the_result_has_their_sum() {
    let mut rig = RigSetup::checkers_at("B:W23:B10").clock(100, 0, 0).play();
    rig.wait(5 * MS).pause(1500);
    rig.answer(0, "10-14");
    rig.pause(600);
    rig.moves("23-18 14x23");
    let pauses: Vec<_> = rig.recorded("pause").iter().map(|pause| pause["paused_us"].clone()).collect();
    assert_eq!(pauses, [1_500_000, 600_000]);
    assert_eq!(rig.recorded("pause")[0]["at_us"], 5 * MS);
    assert_eq!(rig.recorded("result")[0]["paused_ms"], 2100);
    assert_eq!(rig.play.paused(), 2100 * MS);
}

#[test]
fn a_result_without_pauses_has_no_paused_ms() {
    let mut rig = RigSetup::checkers_at("B:W23:B10").play();
    rig.moves("10-14 23-18 14x23");
    assert!(!String::from_utf8_lossy(&rig.play.log().text()).contains("pause"));
}
