//! Draw offers and resignation, for two sides.

use referee_game::Seat;
use serde_json::json;

use super::rig::{MS, Rig, RigSetup, events, types};
use crate::Event;

fn played() -> Rig {
    RigSetup::checkers().clock(1000, 0, 0).play()
}

fn accept(rig: &mut Rig, seat: u8) {
    let turn = rig.request(seat);
    rig.handle(Event::AcceptDraw { seat: Seat(seat), turn: turn.into() });
}

#[test]
fn an_offer_is_an_event_and_shown_to_the_opponent() {
    let mut rig = played();
    rig.offer(0, "11-15");
    let received = rig.received(1);
    assert_eq!(types(&received), ["event", "event", "turn"]);
    assert_eq!(events(&received)[0], &json!({"kind": "move", "seat": 0, "move": "11-15"}));
    assert_eq!(events(&received)[1], &json!({"kind": "draw_offered", "seat": 0}));
    assert_eq!(received[2]["draw_offered"], true);
    rig.answer(1, "22-18");
    assert_eq!(events(&rig.received(0))[1], &json!({"kind": "draw_offered", "seat": 0}));
}

#[test]
fn without_an_offer_no_request_mentions_one() {
    let mut rig = played();
    rig.answer(0, "11-15");
    assert_eq!(rig.last(1, "turn").get("draw_offered"), None);
}

#[test]
fn a_draw_that_is_accepted_ends_the_match_by_agreement() {
    let mut rig = played();
    rig.offer(0, "11-15");
    accept(&mut rig, 1);
    assert_eq!(rig.why(), ("agreement", "agreement"));
    assert_eq!(rig.ranks(), [1, 1]);
    assert_eq!(rig.last(0, "end")["scores"], json!([0.5, 0.5]));
    assert_eq!(rig.play.decisions(), 1);
}

#[test]
fn an_offer_lapses_with_the_opponents_move() {
    let mut rig = played();
    rig.offer(0, "11-15");
    rig.moves("22-18 15x22");
    assert_eq!(rig.last(1, "turn").get("draw_offered"), None);
    accept(&mut rig, 1);
    assert_eq!(rig.errors(1), ["no_offer"]);
    assert!(!rig.is_over());
}

#[test]
fn a_seat_cannot_accept_its_own_offer() {
    let mut rig = played();
    rig.offer(0, "11-15");
    rig.answer(1, "22-18");
    assert_eq!(rig.last(0, "turn").get("draw_offered"), None);
    accept(&mut rig, 0);
    assert_eq!(rig.errors(0), ["no_offer"]);
}

#[test]
fn accepting_without_an_offer_leaves_the_request_open() {
    let mut rig = played();
    accept(&mut rig, 0);
    assert_eq!(rig.errors(0), ["no_offer"]);
    assert_eq!(rig.recorded("stray")[0]["code"], "no_offer");
    rig.answer(0, "11-15");
    assert!(rig.is_asked(1));
}

#[test]
fn accepting_while_the_opponent_thinks_is_an_error() {
    let mut rig = played();
    rig.handle(Event::AcceptDraw { seat: Seat(1), turn: 0 });
    assert_eq!(rig.errors(1), ["out_of_state"]);
}

#[test]
fn a_late_acceptance_is_a_timeout() {
    let mut rig = played();
    rig.offer(0, "11-15");
    rig.wait(1021 * MS);
    accept(&mut rig, 1);
    assert_eq!(rig.fault(), (1, "timeout"));
}

#[test]
fn a_counter_offer_replaces_the_offer() {
    let mut rig = played();
    rig.offer(0, "11-15");
    rig.offer(1, "22-18");
    assert_eq!(rig.last(0, "turn")["draw_offered"], true);
    accept(&mut rig, 0);
    assert_eq!(rig.why().0, "agreement");
}

#[test]
fn an_offer_may_be_made_again_with_every_move() {
    let mut rig = played();
    rig.offer(0, "11-15");
    rig.answer(1, "22-18");
    rig.offer(0, "15x22");
    accept(&mut rig, 1);
    assert_eq!(rig.why().0, "agreement");
}

#[test]
fn offer_with_move_that_ends_match_is_ignored() {
    let mut rig = RigSetup::checkers_at("B:W23:B10").play();
    rig.moves("10-14 23-18");
    rig.offer(0, "14x23");
    assert_eq!(rig.why(), ("rules", "no_pieces"));
    assert_eq!(events(&rig.received(1)).last().unwrap()["kind"], "move");
}

#[test]
fn offer_in_game_without_draws_by_agreement_is_ignored() {
    let mut rig = RigSetup::toy(2, 2, "o").play();
    rig.offer(0, "step1");
    let received = rig.received(1);
    assert_eq!(types(&received), ["event", "turn"]);
    assert_eq!(received[1].get("draw_offered"), None);
    accept(&mut rig, 1);
    assert_eq!(rig.errors(1), ["no_offer"]);
}

#[test]
fn offer_to_bot_that_is_gone_lapses_with_referees_move() {
    let mut rig = RigSetup::checkers().on_fault("random").play();
    rig.gone(1);
    rig.offer(0, "11-15");
    assert!(rig.is_asked(0));
    assert_eq!(rig.last(0, "turn").get("draw_offered"), None);
}

#[test]
fn a_bot_may_resign_in_answer_to_a_request() {
    let mut rig = played();
    rig.resign(0);
    assert_eq!(rig.why(), ("resignation", "resignation"));
    assert_eq!(rig.ranks(), [2, 1]);
    assert!(rig.ending().fault.is_none() && rig.faults(0).is_empty());
    assert_eq!(types(&rig.received(1)), ["end"]);
}

#[test]
fn a_bot_may_resign_while_its_opponent_thinks() {
    let mut rig = played();
    rig.resign(1);
    assert_eq!(rig.why(), ("resignation", "resignation"));
    assert_eq!(rig.ranks(), [1, 2]);
    assert_eq!(rig.last(0, "end")["ended_by"], "resignation");
}

#[test]
fn a_bot_may_resign_after_an_unnoticed_timeout() {
    let mut rig = played();
    rig.wait(9000 * MS).resign(0);
    assert_eq!(rig.ranks(), [2, 1]);
}

#[test]
fn a_seat_played_by_the_referee_cannot_resign() {
    let mut rig = RigSetup::checkers().on_fault("random").play();
    rig.gone(1);
    rig.resign(1);
    assert!(!rig.is_over());
    assert!(rig.recorded("resign").is_empty());
}
