//! Search information of bots (`info`).

use referee_game::Seat;
use serde_json::json;

use super::rig::{Rig, RigSetup, types};
use crate::Event;

const KINGS: &str = "B:WK32:BK1";

fn played() -> Rig {
    RigSetup::checkers_at(KINGS).set("draw_plies", 0).set("turn_limit", 10_000).play()
}

fn answer(rig: &mut Rig, seat: u8, info: &str) {
    let (seat, turn) = (Seat(seat), rig.request(seat));
    let text = rig.legal(seat.0).swap_remove(0);
    rig.handle(Event::Answer { seat, turn: turn.into(), text: &text, offer_draw: false, info: Some(info) });
}

/// An object of this size in bytes.
fn sized(bytes: usize) -> String {
    format!("{{\"text\":\"{}\"}}", "x".repeat(bytes - 11))
}

#[test]
fn info_is_recorded_verbatim_and_sent_to_no_bot() {
    let mut rig = played();
    answer(&mut rig, 0, r#"{ "score" : 1e2,"pv":["1-5"] }"#);
    assert_eq!(rig.recorded("answer")[0]["info"], json!({"score": 100.0, "pv": ["1-5"]}));
    let log = String::from_utf8(rig.play.log().text()).unwrap();
    assert!(log.contains(r#""info":{ "score" : 1e2,"pv":["1-5"] }"#));
    for seat in 0..2 {
        assert!(!String::from_utf8(rig.bytes(seat).to_vec()).unwrap().contains("score"));
    }
}

#[test]
fn info_of_more_than_4_kib_is_dropped() {
    for (bytes, is_kept) in [(4096, true), (4097, false)] {
        let mut rig = played();
        answer(&mut rig, 0, &sized(bytes));
        assert_eq!(rig.recorded("answer")[0].get("info").is_some(), is_kept);
        assert_eq!(rig.errors(0), if is_kept { vec![] } else { vec!["info_dropped"] });
        assert!(rig.is_asked(1) && rig.faults(0).is_empty());
        assert!(rig.recorded("stray").is_empty());
    }
}

#[test]
fn info_that_is_not_object_is_dropped_and_move_stands() {
    for info in ["[]", "1", "\"text\"", "true"] {
        let mut rig = played();
        answer(&mut rig, 0, info);
        assert_eq!(rig.recorded("answer")[0].get("info"), None);
        assert_eq!(rig.errors(0), ["info_dropped"]);
        assert!(rig.is_asked(1) && rig.faults(0).is_empty());
    }
}

#[test]
fn a_seat_has_1_mib_of_info_per_match() {
    let mut rig = played();
    for seat in [0, 1].repeat(256) {
        if seat == 0 {
            answer(&mut rig, 0, &sized(4096));
        } else {
            answer(&mut rig, 1, &sized(5000));
        }
    }
    assert_eq!(types(&rig.received(0)).iter().filter(|&&kind| kind == "error").count(), 0);
    answer(&mut rig, 0, "{}");
    assert_eq!(rig.errors(0), ["info_dropped"]);
    assert_eq!(rig.errors(1).len(), 256);
    answer(&mut rig, 1, "{}");
    assert!(rig.errors(1).is_empty(), "all of its own was dropped before");
}

#[test]
fn info_of_a_refused_answer_is_recorded_too() {
    let mut rig = RigSetup::checkers().on_fault("retry=1").play();
    let turn = rig.request(0);
    rig.handle(Event::Answer {
        seat: Seat(0),
        turn: turn.into(),
        text: "1-1",
        offer_draw: false,
        info: Some("{\"nodes\":1}"),
    });
    assert_eq!(rig.recorded("answer")[0]["info"], json!({"nodes": 1}));
}
