//! From `start` to `end`.

use referee_game::chance::Seed;
use referee_game::{Seat, Viewer, hex};
use serde_json::{Value, json};

use super::rig::{MS, RigSetup, events, messages, types};
use crate::{AbortReason, Event, Stamp, Wants};

/// Three plies to the end: Black takes the last piece.
const SHORT: &str = "B:W23:B10";

#[test]
fn start_contains_the_set_up() {
    let mut rig = RigSetup::checkers_at(SHORT).clock(1, 2, 3).open();
    for seat in 0..2 {
        let start = rig.last(seat, "start");
        assert_eq!(start["seat"], seat);
        assert_eq!(start["match"], "m1");
        assert_eq!(start["game"], "checkers");
        assert_eq!(start["rules"], 1);
        assert_eq!(start["options"], json!({"fen": SHORT, "draw_plies": 50, "turn_limit": 0}));
        assert_eq!(start["seats"], json!([{"name": "bot0", "team": 0}, {"name": "bot1", "team": 1}]));
        assert_eq!(start["clock"], json!({"delay_ms": 1, "bank_ms": 2, "increment_ms": 3}));
        assert_eq!(start["deal"], "d1");
        assert_eq!(start["nonce"], true);
        assert_eq!(start["commitment"], hex::encode(&Seed([5; 32]).commitment(&[6; 32])));
        assert_eq!(start.get("id"), None);
    }
}

#[test]
fn without_a_clock_start_and_turn_say_null() {
    let mut rig = RigSetup::checkers().open();
    assert_eq!(rig.last(0, "start")["clock"], Value::Null);
    rig.ready(0);
    rig.ready(1);
    assert_eq!(rig.last(0, "turn")["clock"], Value::Null);
}

#[test]
fn a_match_that_was_opened_on_request_repeats_the_id() {
    let plan = RigSetup::checkers();
    let mut setup = plan.setup();
    setup.open_id = Some("mine".to_owned());
    let table = referee_games::catalog().find("checkers").unwrap();
    let table = table.open(&setup.header.options, setup.seating).unwrap();
    let mut opened = crate::Match::open(setup, table);
    let start = opened.poll_transmit(Seat(1), Stamp::default()).unwrap();
    assert_eq!(messages(start.bytes)[0]["id"], "mine");
}

#[test]
fn the_first_request_goes_to_seat_0_only() {
    for order in [[0, 1], [1, 0]] {
        let mut rig = RigSetup::checkers().open();
        rig.ready(order[0]);
        assert!(!rig.is_asked(0) && !rig.is_asked(1));
        rig.ready(order[1]);
        assert_eq!(types(&rig.received(0)), ["start", "turn"]);
        assert_eq!(types(&rig.received(1)), ["start"]);
        assert_eq!(rig.request(0), 0);
    }
}

#[test]
fn a_turn_is_complete() {
    let mut rig = RigSetup::checkers_at(SHORT).clock(5000, 60_000, 0).play();
    assert_eq!(
        rig.received(0),
        [json!({
            "type": "turn", "match": "m1", "seat": 0, "turn": 0,
            "view": {"to_move": [0], "board": ".........b............w.........", "fen": SHORT, "quiet_plies": 0},
            "legal": ["10-14", "10-15"],
            "clock": {"bank_ms": 60_000, "limit_ms": 65_000},
            "banks_ms": [60_000, 60_000],
        })]
    );
}

#[test]
fn requests_are_numbered_by_seat() {
    let mut rig = RigSetup::checkers().play();
    rig.moves("11-15 22-18 15x22 25x18");
    assert_eq!((rig.request(0), rig.last(0, "turn")["turn"].clone()), (2, json!(2)));
    rig.moves("12-16");
    assert_eq!(rig.request(1), 2);
}

#[test]
fn turns_left_counts_the_turns_of_all_seats() {
    let mut rig = RigSetup::checkers().set("turn_limit", 3).play();
    assert_eq!(rig.last(0, "turn")["turns_left"], 3);
    rig.moves("11-15");
    assert_eq!(rig.last(1, "turn")["turns_left"], 2);
    rig.moves("22-18");
    assert_eq!(rig.last(0, "turn")["turns_left"], 1);
}

#[test]
fn every_seat_gets_every_event_in_order_and_numbered() {
    let mut rig = RigSetup::checkers_at(SHORT).play();
    rig.moves("10-14 23-18 14x23");
    for seat in 0..2 {
        let received = rig.received(seat);
        let moves = [(0, "10-14"), (1, "23-18"), (0, "14x23")];
        let expected = moves.map(|(seat, text)| json!({"kind": "move", "seat": seat, "move": text}));
        assert_eq!(events(&received), expected.each_ref());
        let numbers = received.iter().filter_map(|message| message["n"].as_u64());
        assert_eq!(numbers.collect::<Vec<_>>(), [0, 1, 2]);
    }
}

#[test]
fn events_wait_for_the_next_turn_or_the_end() {
    let mut rig = RigSetup::checkers_at(SHORT).play();
    rig.moves("10-14");
    assert_eq!(types(&rig.received(0)), ["turn"]);
    assert_eq!(types(&rig.received(1)), ["event", "turn"]);
    rig.moves("23-18");
    assert_eq!(types(&rig.received(0)), ["event", "event", "turn"]);
    rig.moves("14x23");
    assert_eq!(types(&rig.received(0)), ["event", "end"]);
    assert_eq!(types(&rig.received(1)), ["event", "event", "end"]);
}

#[test]
fn a_bot_with_push_gets_events_immediately() {
    let mut plan = RigSetup::checkers_at(SHORT);
    plan.wants[0].push = true;
    let mut rig = plan.play();
    rig.moves("10-14");
    assert_eq!(types(&rig.received(0)), ["turn", "event"]);
    assert_eq!(types(&rig.received(1)), ["event", "turn"]);
    rig.moves("23-18");
    assert_eq!(types(&rig.received(0)), ["event", "turn"]);
}

#[test]
fn only_unwanted_parts_are_omitted() {
    let all = Wants::default();
    for (wants, missing) in
        [(Wants { view: false, ..all }, "view"), (Wants { legal: false, ..all }, "legal"), (all, "")]
    {
        let mut plan = RigSetup::checkers_at(SHORT);
        plan.wants[0] = wants;
        let mut rig = plan.play();
        let turn = rig.last(0, "turn");
        for field in ["view", "legal"] {
            assert_eq!(turn.get(field).is_none(), field == missing, "{field} in {turn}");
        }
        rig.moves("10-14");
        assert_eq!(types(&rig.received(1)), ["event", "turn"], "the other seat wants all");
    }
}

#[test]
fn scenes_come_with_requests_if_host_asked() {
    let mut plan = RigSetup::checkers_at(SHORT);
    plan.wants[0].scenes = true;
    let mut rig = plan.play();
    let scene = rig.last(0, "turn")["scene"].clone();
    assert_eq!((&scene["width"], &scene["height"]), (&json!(860), &json!(860)));
    assert!(scene["text"].as_str().unwrap().contains("Black to move"), "{scene}");
    let pieces = |scene: &serde_json::Value, colour: &str| {
        let is_piece = |part: &&serde_json::Value| part["form"] == "circle" && part["fill"] == colour;
        scene["parts"].as_array().unwrap().iter().filter(is_piece).count()
    };
    let (black, white) = ("#26292d", "#fdfbf5");
    assert_eq!((pieces(&scene, black), pieces(&scene, white)), (1, 1));
    rig.moves("10-14 23-18 14x23");
    let end = rig.last(0, "end")["scene"].clone();
    assert_eq!((pieces(&end, black), pieces(&end, white)), (1, 0), "after the capture");
    assert_eq!(rig.last(1, "end").get("scene"), None, "the other seat has none");
}

#[test]
fn bot_that_wants_no_events_gets_turns_and_end() {
    for push in [false, true] {
        let mut plan = RigSetup::checkers_at(SHORT);
        plan.wants[0] = Wants { event: false, push, ..Wants::default() };
        let mut rig = plan.play();
        rig.moves("10-14 23-18 14x23");
        assert_eq!(types(&rig.received(0)), ["turn", "turn", "end"]);
    }
}

#[test]
fn the_end_tells_every_seat_ranks_scores_and_the_rule() {
    let mut rig = RigSetup::checkers_at(SHORT).play();
    rig.moves("10-14 23-18 14x23");
    for seat in 0..2 {
        let end = rig.last(seat, "end");
        assert_eq!(end["seat"], seat);
        assert_eq!(end["match"], "m1");
        assert_eq!(end["ranks"], json!([1, 2]));
        assert_eq!(end["scores"], json!([1.0, 0.0]));
        assert_eq!(end["ended_by"], "rules");
        assert_eq!(end["reason"], "no_pieces");
        assert_eq!(end.get("fault"), None);
    }
    assert_eq!(rig.play.decisions(), 3);
}

#[test]
fn the_reveal_reproduces_the_commitment_of_the_start() {
    let mut rig = RigSetup::checkers_at(SHORT).open();
    let start = rig.last(1, "start");
    rig.handle(Event::Ready { seat: Seat(0), nonce: Some("00ff") });
    rig.ready(1);
    rig.moves("10-14 23-18 14x23");
    let reveal = &rig.last(1, "end")["reveal"];
    let [seed, salt] = ["seed", "salt"].map(|key| hex::decode32(reveal[key].as_str().unwrap()).unwrap());
    assert_eq!(start["commitment"], hex::encode(&Seed(seed).commitment(&salt)));
    assert_eq!(reveal["deal"], start["deal"]);
    assert_eq!(reveal["nonces"], json!(["00ff", ""]));
}

#[test]
fn the_turn_limit_ends_the_match_as_a_draw() {
    let mut rig = RigSetup::checkers().set("turn_limit", 2).play();
    rig.moves("11-15 22-18");
    assert_eq!(rig.why(), ("turn_limit", "turn_limit"));
    assert_eq!(rig.last(1, "end")["scores"], json!([0.5, 0.5]));
}

#[test]
fn the_rules_own_endings_come_before_the_turn_limit() {
    let mut rig = RigSetup::checkers_at(SHORT).set("turn_limit", 3).play();
    rig.moves("10-14 23-18 14x23");
    assert_eq!(rig.why(), ("rules", "no_pieces"));
}

#[test]
fn a_draw_by_the_rules_ranks_both_first() {
    let mut rig = RigSetup::checkers_at("B:WK32:BK1").set("draw_plies", 2).play();
    rig.moves("1-5 32-28");
    assert_eq!(rig.why(), ("rules", "quiet_plies"));
    assert_eq!(rig.ranks(), [1, 1]);
}

#[test]
fn a_match_decided_at_the_start_ends_without_requests() {
    // Black's man cannot move.
    let mut rig = RigSetup::checkers_at("B:W29,30:B25").open();
    rig.ready(0);
    assert!(!rig.is_over());
    rig.ready(1);
    assert_eq!(rig.why(), ("rules", "no_moves"));
    assert_eq!(types(&rig.received(0)), ["start", "end"]);
}

#[test]
fn with_auto_ready_the_first_request_follows_start() {
    let mut plan = RigSetup::checkers();
    (plan.auto_ready, plan.nonce) = (true, false);
    let mut rig = plan.open();
    assert_eq!(types(&rig.received(0)), ["start", "turn"]);
    assert_eq!(rig.last(1, "start")["nonce"], false);
    assert!(!rig.play.awaits_ready(Seat(0)));
    rig.moves("11-15");
    assert!(rig.is_asked(1));
}

#[test]
fn events_after_the_end_have_no_effect() {
    let mut rig = RigSetup::checkers_at(SHORT).clock(1000, 0, 0).play();
    rig.moves("10-14 23-18 14x23");
    let (log, ending) = (rig.play.log().text(), rig.ending().clone());
    for seat in [Seat(0), Seat(1)] {
        rig.received(seat.0);
        rig.wait(5000 * MS).tick();
        rig.restart(seat.0, 5000, Wants::default());
        rig.handle(Event::Ready { seat, nonce: None });
        rig.answer_to(seat.0, 0, "10-14");
        rig.answer_to(seat.0, 99, "10-14");
        rig.handle(Event::AcceptDraw { seat, turn: 0 });
        rig.resign(seat.0);
        rig.broken(seat.0, None, referee_protocol::words::FaultCode::Malformed);
        rig.gone(seat.0);
        rig.handle(Event::Expire(seat));
        rig.handle(Event::Abort(&AbortReason::Interrupted));
        assert!(rig.received(seat.0).is_empty());
        assert!(rig.faults(seat.0).is_empty());
    }
    assert_eq!((rig.play.log().text(), rig.ending()), (log, &ending));
    assert_eq!(rig.deadline(), None);
}

#[test]
fn an_aborted_match_has_no_result() {
    for is_ready in [false, true] {
        let plan = RigSetup::checkers();
        let mut rig = if is_ready { plan.play() } else { plan.open() };
        rig.handle(Event::Abort(&AbortReason::Interrupted));
        assert_eq!(rig.ending().ended_by.as_str(), "aborted");
        assert_eq!((&rig.ending().ranks, &rig.ending().scores), (&None, &None));
        for seat in 0..2 {
            let end = rig.last(seat, "end");
            assert_eq!((end.get("ranks"), end.get("scores"), end.get("fault")), (None, None, None));
            assert_ne!(end.get("reveal"), None);
        }
        assert_eq!(rig.recorded("abort")[0]["reason"], json!({"kind": "interrupted"}));
    }
}

#[test]
fn the_reason_of_an_abort_is_aborted() {
    let mut rig = RigSetup::checkers().play();
    rig.handle(Event::Abort(&AbortReason::Interrupted));
    assert_eq!(rig.why(), ("aborted", "aborted"));
}

#[test]
fn spectators_see_only_what_their_viewer_may_see() {
    let mut plan = RigSetup::toy(2, 2, "ao");
    plan.watched = Some(Viewer::Public);
    let mut rig = plan.play();
    rig.moves("bid3 bid1 step2");
    let news = String::from_utf8(rig.play.news().clone()).unwrap();
    let expected = [
        r#"{"kind":"move","seat":0,"move":null}"#,
        r#"{"kind":"move","seat":1,"move":null}"#,
        r#"{"kind":"bids","own":null}"#,
        r#"{"kind":"move","seat":0,"move":"step2"}"#,
    ];
    assert_eq!(news.lines().collect::<Vec<_>>(), expected);
    assert!(RigSetup::toy(2, 2, "ao").play().play.news().is_empty());
}
