//! Dice and shuffles: their derivation and visibility.

use referee_game::chance::Seed;
use referee_game::{Draw, Seat, Uniform, hex};
use serde_json::{Value, json};

use super::rig::{Rig, RigSetup, events};
use crate::Event;

/// A match whose seats add these nonces.
fn played(plan: RigSetup, nonces: [&str; 2]) -> Rig {
    let mut rig = plan.open();
    for (seat, nonce) in (0..).map(Seat).zip(nonces) {
        rig.handle(Event::Ready { seat, nonce: Some(nonce) });
    }
    rig
}

fn drawn(rig: &Rig) -> Vec<Value> {
    rig.recorded("draw").iter().map(|line| line["drawn"].clone()).collect()
}

#[test]
fn draws_can_be_computed_from_start_and_reveal() {
    let mut rig = played(RigSetup::toy(2, 2, "sdo"), ["00ff", ""]);
    let start = rig.received(1)[0].clone();
    rig.moves("step1 step1");
    rig.resign(0);
    let reveal = rig.last(1, "end")["reveal"].clone();
    let seed = Seed(hex::decode32(reveal["seed"].as_str().unwrap()).unwrap());
    let nonces: Vec<String> = serde_json::from_value(reveal["nonces"].clone()).unwrap();
    let game = start["game"].as_str().unwrap();
    let mut stream = seed.match_key(game, reveal["deal"].as_str().unwrap(), &nonces).stream();
    let expected = [Draw::Shuffle { len: 52 }, Draw::Dice { count: 2, sides: 6 }].repeat(2);
    let expected = expected.into_iter().map(|draw| {
        let mut numbers = Vec::new();
        stream.draw(draw, &mut numbers);
        json!(numbers)
    });
    assert_eq!(drawn(&rig), expected.collect::<Vec<_>>());
}

#[test]
fn every_nonce_changes_the_draws() {
    let nonces = [["", ""], ["00", ""], ["", "00"], ["00", "00"], ["0000", ""]];
    let drawn = nonces.map(|nonces| drawn(&played(RigSetup::toy(2, 2, "so"), nonces)));
    for (i, one) in drawn.iter().enumerate() {
        assert!(!drawn[..i].contains(one));
    }
}

#[test]
fn without_nonces_bots_cannot_change_the_draws() {
    let drawn = [["", ""], ["00", "ff"]].map(|nonces| {
        let mut plan = RigSetup::toy(2, 2, "so");
        plan.nonce = false;
        drawn(&played(plan, nonces))
    });
    assert_eq!(drawn[0], drawn[1]);
}

#[test]
fn with_auto_ready_the_seed_alone_determines_the_deal() {
    let mut plan = RigSetup::toy(2, 2, "so");
    (plan.nonce, plan.auto_ready) = (false, true);
    assert_eq!(drawn(&plan.open()), drawn(&played(RigSetup::toy(2, 2, "so"), ["", ""])));
}

#[test]
fn seats_see_their_part_of_deal_and_record_all() {
    let mut rig = RigSetup::toy(3, 3, "sao").play();
    let all: Vec<u64> = serde_json::from_value(drawn(&rig)[0].clone()).unwrap();
    for seat in 0..3 {
        let received = rig.received(seat);
        let card = all[usize::from(seat)];
        assert_eq!(events(&received), [&json!({"kind": "dealt", "card": card})]);
        assert_eq!(received.last().unwrap()["view"]["card"], card);
    }
    assert_eq!(rig.recorded("event")[0]["event"]["card"], json!(all[..6]));
}

#[test]
fn draws_come_before_the_request_that_needs_them() {
    let mut rig = RigSetup::toy(2, 2, "do").play();
    let received = rig.received(0);
    assert_eq!((&received[0]["event"]["kind"], &received[1]["type"]), (&json!("roll"), &json!("turn")));
    rig.moves("step1 step1");
    assert_eq!(events(&rig.received(0)).last().unwrap()["kind"], "roll");
    assert_eq!(drawn(&rig).len(), 2);
}

#[test]
fn no_draws_before_all_seats_are_ready() {
    let mut rig = RigSetup::toy(2, 2, "so").open();
    rig.ready(0);
    assert!(drawn(&rig).is_empty());
    rig.ready(1);
    assert_eq!(drawn(&rig).len(), 1);
}
