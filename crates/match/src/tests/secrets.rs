//! Secrecy in Xe Queo!: no message to a seat reveals the other's choice, or whether it has chosen.

use referee_game::Viewer;
use referee_protocol::words::FaultCode;
use serde_json::json;

use super::rig::{MS, Rig, RigSetup, events};

const PAWNS: [&str; 7] = ["red", "orange", "yellow", "green", "blue", "purple", "black"];

fn plan() -> RigSetup {
    RigSetup::game("xe_queo").clock(1000, 0, 0)
}

/// Both seats are asked for their choice.
fn choosing(plan: RigSetup) -> Rig {
    let mut rig = plan.play();
    rig.step(1);
    assert!(rig.is_asked(0) && rig.is_asked(1));
    rig
}

/// The seat whose turn it is makes a move that takes no pawn to the ring.
fn go_on(rig: &mut Rig, ring: &str) {
    let seat = if rig.is_asked(0) { 0 } else { 1 };
    let mut texts = rig.legal(seat).into_iter();
    let text = texts.find(|text| text.starts_with("move") && !text.ends_with(ring)).unwrap();
    rig.answer(seat, &text);
}

/// The messages to seat 1 after each event of a round.
fn told_to_seat_1(plan: &RigSetup, choice: &str, first: u8) -> Vec<Vec<u8>> {
    let mut rig = choosing(plan.clone());
    let ring = rig.received(0).pop().unwrap()["view"]["ring"].as_str().unwrap().to_owned();
    let mut received = Vec::new();
    for seat in [first, 1 - first] {
        let choice = if seat == 0 { choice } else { "red" };
        rig.wait(100 * MS).answer(seat, &format!("choose {choice}"));
        received.push(rig.bytes(1).to_vec());
    }
    for _ in 0..6 {
        go_on(rig.wait(10 * MS), &ring);
        received.push(rig.bytes(1).to_vec());
    }
    received
}

#[test]
fn output_does_not_depend_on_the_other_seats_secret_choice() {
    for push in [false, true] {
        let mut plan = plan();
        plan.wants[1].push = push;
        let expected = told_to_seat_1(&plan, "red", 0);
        assert_eq!(expected[0], choosing(plan.clone()).bytes(1), "seat 0 has chosen, seat 1 hears nothing");
        assert!(expected[7].len() > expected[0].len(), "then it hears of both");
        for choice in PAWNS {
            for first in [0, 1] {
                assert_eq!(told_to_seat_1(&plan, choice, first), expected, "{choice}, seat {first} first");
            }
        }
    }
}

#[test]
fn a_spectator_sees_no_choices_until_the_round_ends() {
    let seen = |choice: &str| {
        let mut plan = plan();
        plan.watched = Some(Viewer::Public);
        let mut rig = choosing(plan);
        let ring = rig.received(0).pop().unwrap()["view"]["ring"].as_str().unwrap().to_owned();
        rig.answer(0, &format!("choose {choice}"));
        rig.answer(1, "choose red");
        (0..6).for_each(|_| go_on(&mut rig, &ring));
        let until_now = String::from_utf8(std::mem::take(rig.play.news())).unwrap();
        let seat = if rig.is_asked(0) { 0 } else { 1 };
        rig.answer(seat, "accuse black");
        (until_now, String::from_utf8(std::mem::take(rig.play.news())).unwrap())
    };
    let (expected, _) = seen("red");
    assert!(expected.contains(r#"{"kind":"move","seat":0,"move":null}"#));
    for choice in PAWNS {
        let (before, after) = seen(choice);
        assert_eq!(before, expected);
        assert!(after.contains(&format!(r#""choices":["{choice}","red"]"#)), "{after}");
    }
}

#[test]
fn the_choices_are_revealed_at_the_end_of_the_round() {
    let mut rig = choosing(plan());
    rig.answer(0, "choose red");
    rig.answer(1, "choose blue");
    rig.received(0);
    rig.received(1);
    rig.answer(0, "accuse blue");
    let round = json!({"kind": "round", "winner": 0, "choices": ["red", "blue"], "reason": "accused"});
    assert_eq!(events(&rig.received(1)).last(), Some(&&round));
    rig.step(1);
    assert!(events(&rig.received(0)).contains(&&round));
}

#[test]
fn a_rejected_entry_is_reported_only_to_the_mover() {
    // X3. Seat 0 tries to bring every pawn to the ring, the one that it has chosen last; no move is possible from afar.
    let received = |attempts: &[&str]| {
        let mut rig = choosing(plan().on_fault("retry=7"));
        let ring = rig.received(0).pop().unwrap()["view"]["ring"].as_str().unwrap().to_owned();
        rig.answer(0, "choose red");
        rig.answer(1, "choose blue");
        for pawn in attempts {
            rig.answer(0, &format!("move {pawn} {ring}"));
            assert_eq!(rig.errors(0).pop().as_deref(), Some("illegal_move"));
        }
        go_on(&mut rig, &ring);
        rig.bytes(1).to_vec()
    };
    assert_eq!(received(&PAWNS), received(&[]));
}

/// An act of a seat in place of choosing, and its judgment.
type Action = (&'static str, fn(&mut Rig, u8));

const DEEDS: [Action; 4] = [
    ("illegal_move", |rig, seat| rig.answer(seat, "choose white")),
    ("malformed", |rig, seat| rig.broken(seat, None, FaultCode::Malformed)),
    ("exited", Rig::gone),
    ("resignation", Rig::resign),
];

#[test]
fn fault_of_one_is_judged_when_other_has_chosen() {
    for (word, action) in DEEDS {
        let mut rig = choosing(plan());
        let before = rig.bytes(1).to_vec();
        action(&mut rig, 0);
        rig.wait(500 * MS).tick();
        assert!(!rig.is_over(), "{word}");
        assert_eq!(rig.bytes(1), before, "{word}: seat 1 still thinks and hears nothing");
        rig.answer(1, "choose red");
        assert_eq!((rig.why().1, rig.ranks()), (word, &[2, 1][..]));
    }
}

#[test]
fn time_out_of_one_is_judged_when_other_has_chosen() {
    let mut rig = plan().play();
    // The request of seat 1 leaves later, and so its time ends later.
    rig.holds = true;
    rig.step(1);
    rig.send(0);
    rig.wait(500 * MS).send(1);
    rig.holds = false;
    let before = rig.bytes(1).to_vec();
    rig.wait(520 * MS + 1).tick();
    assert_eq!(rig.faults(0), [("timeout", 1)]);
    assert!(!rig.is_over());
    assert_eq!(rig.bytes(1), before);
    rig.wait(400 * MS).answer(1, "choose red");
    assert_eq!((rig.fault(), rig.ranks()), ((0, "timeout"), &[2, 1][..]));
}

#[test]
fn two_faults_in_one_decision_are_draw_in_any_order() {
    for (of_zero, zero) in DEEDS {
        for (of_one, one) in DEEDS {
            let [in_order, reversed] = [false, true].map(|is_reversed| {
                let mut rig = choosing(plan());
                if is_reversed {
                    one(&mut rig, 1);
                    zero(&mut rig, 0);
                } else {
                    zero(&mut rig, 0);
                    one(&mut rig, 1);
                }
                assert_eq!(rig.ranks(), [1, 1], "{of_zero}, {of_one}");
                // A fault stands before a resignation, and the lower seat's before the other's.
                assert_eq!(rig.why().1, if of_zero == "resignation" { of_one } else { of_zero });
                let sent = [0, 1].map(|seat| rig.bytes(seat).to_vec());
                (rig.ending().clone(), sent)
            });
            assert_eq!(in_order, reversed, "{of_zero}, {of_one}");
        }
    }
}

#[test]
fn two_time_outs_in_one_decision_are_a_draw() {
    let mut rig = choosing(plan());
    rig.wait(1020 * MS + 1).tick();
    assert_eq!((rig.fault(), rig.ranks()), ((0, "timeout"), &[1, 1][..]));
}
