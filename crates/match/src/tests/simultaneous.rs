//! Simultaneous decisions, which are sealed.

use referee_game::Seat;
use referee_protocol::bot::Inability;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde_json::{Value, json};

use super::rig::{MS, Rig, RigSetup, events, types};
use crate::Event;

fn plan() -> RigSetup {
    RigSetup::toy(2, 2, "ao").clock(1000, 0, 0)
}

#[test]
fn all_seats_are_asked_at_once() {
    let mut rig = plan().play();
    for seat in 0..2 {
        let turn = rig.last(seat, "turn");
        assert_eq!((&turn["turn"], &turn["legal"]), (&json!(0), &json!(["bid1", "bid2", "bid3"])));
    }
}

#[test]
fn an_answer_is_held_until_all_are_in() {
    let mut rig = plan().play();
    rig.received(0);
    rig.received(1);
    rig.answer(1, "bid2");
    assert!(rig.received(0).is_empty() && rig.received(1).is_empty());
    assert_eq!(rig.play.decisions(), 0);
    rig.answer(0, "bid3");
    assert_eq!(rig.play.decisions(), 2);
    assert_eq!(types(&rig.received(0)), ["event", "event", "event", "turn"]);
}

#[test]
fn banks_do_not_tell_who_has_answered() {
    let mut rig = RigSetup::toy(2, 2, "ao").clock(0, 1000, 0).on_fault("retry=2").play();
    rig.wait(300 * MS).answer(1, "bid2");
    rig.wait(100 * MS).answer(0, "no bid");
    let again = rig.last(0, "turn");
    assert_eq!((&again["retry"]["of"], &again["banks_ms"]), (&json!(0), &json!([1000, 1000])));
    rig.answer(0, "bid3");
    assert_eq!(rig.last(0, "turn")["banks_ms"], json!([600, 700]));
}

#[test]
fn moves_are_told_in_seat_order_and_secrets_privately() {
    let mut rig = plan().play();
    rig.answer(1, "bid2");
    rig.answer(0, "bid3");
    rig.answer(0, "step1");
    let mv = |seat: u8, text: Value| json!({"kind": "move", "seat": seat, "move": text});
    let seen = [(json!("bid3"), Value::Null), (Value::Null, json!("bid2"))];
    for (seat, own) in [(0, 3), (1, 2)] {
        let received = rig.received(seat);
        let (first, second) = seen[usize::from(seat)].clone();
        let bids = json!({"kind": "bids", "own": own});
        assert_eq!(events(&received)[..3], [&mv(0, first), &mv(1, second), &bids]);
    }
    let all = rig.recorded("event");
    assert_eq!((&all[0]["event"]["move"], &all[1]["event"]["move"]), (&json!("bid3"), &json!("bid2")));
    assert_eq!(rig.play.moves(), ["\nbid3\nstep1", "\nbid2"]);
}

type Action = fn(&mut Rig);

/// All messages to seat 1 after this action of seat 0, early or late.
fn told_to_seat_1(plan: RigSetup, action: Action) -> Vec<u8> {
    let mut rig = plan.play();
    action(rig.wait(10 * MS));
    rig.wait(10 * MS).flush();
    assert!(!rig.is_over());
    rig.bytes(1).to_vec()
}

#[test]
fn a_pending_seat_learns_nothing_about_other_answers() {
    let deeds: [Action; 13] = [
        |rig| rig.answer(0, "bid1"),
        |rig| rig.answer(0, "bid2"),
        |rig| rig.answer(0, "bid3"),
        |rig| rig.offer(0, "bid3"),
        |rig| rig.answer(0, "nonsense"),
        |rig| rig.broken(0, None, FaultCode::Malformed),
        |rig| rig.broken(0, None, FaultCode::LineTooLong),
        |rig| rig.gone(0),
        |rig| rig.resign(0),
        |rig| rig.unable(0, Inability::Unavailable),
        |rig| (0..21).for_each(|_| rig.ready(0)),
        |rig| rig.answer_to(0, 9, "bid1"),
        |rig| {
            rig.answer(0, "bid1");
            rig.gone(0);
        },
    ];
    for policy in ["forfeit", "retry=1", "random"] {
        for push in [false, true] {
            let mut plan = plan().on_fault(policy);
            plan.wants[1].push = push;
            let alone = told_to_seat_1(plan.clone(), |_| {});
            for action in deeds {
                assert_eq!(told_to_seat_1(plan.clone(), action), alone);
            }
        }
    }
}

#[test]
fn a_seat_that_answered_learns_nothing_until_all_have() {
    let deeds: [Action; 4] = [
        |rig| rig.answer_to(0, 9, "bid1"),
        |rig| rig.answer(0, "nonsense"),
        |rig| (0..20).for_each(|_| rig.ready(0)),
        |rig| rig.wait(1000 * MS).tick(),
    ];
    let received = |action: Action| {
        let mut rig = plan().on_fault("retry=1").play();
        rig.answer(1, "bid1");
        action(&mut rig);
        assert!(rig.is_asked(0));
        rig.bytes(1).to_vec()
    };
    for action in deeds {
        assert_eq!(received(action), received(|_| {}));
    }
}

#[test]
fn the_order_in_which_answers_come_makes_no_difference() {
    let answers: [&[(u8, &str)]; 4] = [
        &[(0, "bid1"), (1, "bid3")],
        &[(0, "nonsense"), (1, "bid3")],
        &[(0, "bid1"), (1, "nonsense")],
        &[(0, "nonsense"), (1, "nonsense")],
    ];
    for policy in ["forfeit", "random"] {
        for answers in answers {
            let transcripts = [false, true].map(|is_reversed| {
                let mut rig = plan().on_fault(policy).play();
                let mut answers = answers.to_vec();
                if is_reversed {
                    answers.reverse();
                }
                for (seat, text) in answers {
                    rig.answer(seat, text);
                }
                [0, 1].map(|seat| rig.bytes(seat).to_vec())
            });
            assert_eq!(transcripts[0], transcripts[1], "{answers:?}, {policy}");
        }
    }
}

#[test]
fn a_fault_is_judged_when_all_answers_are_in() {
    let mut rig = plan().play();
    rig.answer(0, "nonsense");
    assert!(!rig.is_over());
    assert_eq!(rig.errors(0), ["illegal_move"], "the bot itself gets the error at once");
    rig.answer(1, "bid1");
    assert_eq!(rig.fault(), (0, "illegal_move"));
    assert_eq!(rig.ranks(), [2, 1]);
    assert_eq!(rig.play.decisions(), 0, "no move was made");
}

#[test]
fn fault_is_judged_when_limits_of_all_others_have_passed() {
    let mut rig = plan().play();
    rig.gone(1);
    rig.wait(1020 * MS).tick();
    assert!(!rig.is_over());
    rig.wait(1).tick();
    assert_eq!(rig.fault(), (0, "timeout"));
    assert_eq!(rig.ranks(), [1, 1], "both failed in the same decision");
    assert_eq!((rig.faults(0), rig.faults(1)), (vec![("timeout", 1)], vec![("exited", 1)]));
}

#[test]
fn two_faults_in_one_decision_draw() {
    for order in [[0, 1], [1, 0]] {
        let mut rig = plan().play();
        rig.answer(order[0], "nonsense");
        rig.gone(order[1]);
        assert_eq!(rig.fault().0, 0);
        assert_eq!(rig.ending().scores, Some(vec![0.5, 0.5]));
    }
}

#[test]
fn a_fault_with_a_partners_resignation_ends_the_match() {
    for (policy, why) in [("forfeit", ("fault", "illegal_move")), ("random", ("resignation", "resignation"))]
    {
        let mut rig = RigSetup::toy(4, 2, "a").on_fault(policy).play();
        rig.resign(0);
        rig.answer(2, "nonsense");
        rig.answer(1, "bid1");
        rig.answer(3, "bid1");
        assert_eq!(rig.why(), why);
        assert_eq!(rig.ending().fault.as_ref().map(|fault| fault.seat.0), (policy == "forfeit").then_some(2));
        assert_eq!(rig.ranks(), [2, 1, 2, 1]);
    }
}

#[test]
fn two_resignations_in_one_decision_are_a_draw() {
    let mut rig = plan().play();
    rig.resign(1);
    assert!(!rig.is_over());
    rig.resign(0);
    assert_eq!(rig.why(), ("resignation", "resignation"));
    assert_eq!(rig.ranks(), [1, 1]);
}

#[test]
fn fault_and_resignation_in_one_decision_are_draw_by_fault() {
    for order in [[0, 1], [1, 0]] {
        let mut rig = plan().play();
        for seat in order {
            if seat == 0 { rig.resign(0) } else { rig.gone(1) }
        }
        assert_eq!(rig.why(), ("fault", "exited"));
        assert_eq!(rig.fault().0, 1);
        assert_eq!(rig.ranks(), [1, 1]);
    }
}

#[test]
fn bot_lost_after_its_answer_is_out_after_moves() {
    let mut rig = plan().play();
    rig.answer(0, "bid3");
    rig.gone(0);
    assert!(!rig.is_over());
    rig.answer(1, "bid1");
    assert_eq!(rig.play.decisions(), 2);
    assert_eq!(rig.fault(), (0, "exited"));
    assert_eq!(types(&rig.received(1)), ["turn", "event", "event", "event", "end"]);
}

#[test]
fn the_last_answer_of_a_lost_bot_can_win() {
    for leave in [Rig::gone, Rig::resign] {
        let mut rig = plan().set("goal", 3).play();
        rig.answer(0, "bid3");
        leave(&mut rig, 0);
        rig.answer(1, "bid1");
        assert_eq!(rig.why(), ("rules", "goal"));
        assert_eq!(rig.ranks(), [1, 2]);
    }
}

#[test]
fn too_many_strays_after_answer_are_judged_after_moves() {
    let mut rig = plan().play();
    rig.answer(0, "bid3");
    for _ in 0..21 {
        rig.handle(Event::Stray { seat: Seat(0), code: ErrorCode::UnknownType, message: "no such message" });
    }
    assert_eq!(rig.faults(0), [("protocol", 1)]);
    rig.answer(1, "bid1");
    assert_eq!(rig.fault(), (0, "protocol"));
    assert_eq!(rig.play.decisions(), 2);
}

#[test]
fn a_retry_is_put_at_once() {
    let mut rig = plan().on_fault("retry=1").play();
    rig.answer(0, "nonsense");
    assert_eq!(rig.last(0, "turn")["retry"]["of"], 0);
    rig.answer(0, "bid3");
    assert_eq!(types(&rig.received(1)), ["turn"]);
    rig.answer(1, "bid1");
    assert_eq!(rig.play.decisions(), 2);
}

#[test]
fn a_second_answer_is_stale_and_the_first_stands() {
    let mut rig = plan().play();
    rig.answer(0, "bid3");
    rig.answer_to(0, 0, "bid1");
    rig.broken(0, Some(0), FaultCode::Malformed);
    assert_eq!(rig.errors(0), ["stale", "stale"]);
    rig.answer(1, "bid1");
    assert_eq!(rig.recorded("event")[0]["event"]["move"], "bid3");
    assert!(rig.faults(0).is_empty() && rig.recorded("stray").is_empty());
}

#[test]
fn every_clock_runs_from_own_sending_to_own_answer() {
    let mut rig = RigSetup::toy(2, 2, "a").clock(0, 1000, 0).open();
    rig.holds = true;
    rig.ready(0);
    rig.ready(1);
    rig.send(0);
    rig.wait(500 * MS).send(1);
    assert_eq!(rig.deadline(), Some(1020 * MS + 1));
    rig.wait(100 * MS).answer(0, "bid1");
    assert_eq!(rig.deadline(), Some(1520 * MS + 1));
    rig.wait(300 * MS).answer(1, "bid1");
    rig.holds = false;
    rig.flush();
    assert_eq!((rig.clock(0), rig.clock(1)), ((400, 400), (600, 600)));
}

#[test]
fn fallback_moves_wait_for_the_other_answers() {
    let mut rig = plan().on_fault("random").play();
    rig.wait(500 * MS).answer(0, "nonsense");
    assert!(rig.recorded("fallback").is_empty());
    rig.answer(1, "bid1");
    assert_eq!(rig.recorded("fallback").len(), 1);
    assert!(rig.is_asked(0), "it plays on");
}

#[test]
fn decision_of_several_seats_is_one_turn_of_limit() {
    let mut rig = RigSetup::toy(3, 3, "a").set("turn_limit", 2).play();
    assert_eq!(rig.last(2, "turn")["turns_left"], 2);
    rig.moves("bid1 bid1 bid1");
    assert_eq!(rig.last(2, "turn")["turns_left"], 1);
    rig.moves("bid1 bid2 bid1");
    assert_eq!(rig.why(), ("turn_limit", "turn_limit"));
    assert_eq!(rig.ranks(), [1, 1, 1]);
}

#[test]
fn an_exit_of_an_idle_seat_applies_after_the_decision() {
    // Seat 2 has no decision.
    for leave in [Rig::gone, Rig::resign] {
        let mut rig = RigSetup::toy(3, 3, "po").play();
        assert!(!rig.is_asked(2));
        rig.answer(0, "bid1");
        let before = rig.bytes(1).to_vec();
        leave(&mut rig, 2);
        assert_eq!(rig.bytes(1), before);
        rig.answer(1, "bid1");
        assert_eq!(events(&rig.received(0)).last().unwrap()["kind"], "out");
    }
}
