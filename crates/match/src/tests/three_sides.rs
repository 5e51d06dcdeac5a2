//! Three sides: elimination, continuation and ranks.

use referee_game::Seat;
use serde_json::json;

use super::rig::{MS, Rig, RigSetup, events, types};
use crate::Event;

fn three(plan: &str) -> RigSetup {
    RigSetup::toy(3, 3, plan).clock(1000, 0, 0)
}

/// Three teams of two: seats 0 and 3, 1 and 4, 2 and 5.
fn teams(plan: &str) -> RigSetup {
    RigSetup::toy(6, 3, plan).clock(1000, 0, 0)
}

/// The seats of the `out` events that this seat has received, with the reasons.
fn outs(rig: &mut Rig, seat: u8) -> Vec<(u64, String)> {
    let received = rig.received(seat);
    let outs = events(&received).into_iter().filter(|event| event["kind"] == "out");
    outs.map(|event| (event["seat"].as_u64().unwrap(), event["reason"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn side_that_forfeits_is_out_and_others_play_on() {
    let mut rig = three("o").play();
    rig.answer(0, "nonsense");
    assert!(!rig.is_over());
    assert_eq!(rig.recorded("fallback").len(), 1, "the referee moves for it");
    assert_eq!(outs(&mut rig, 1), [(0, "illegal_move".to_owned())]);
    rig.moves("step1 step1");
    assert!(rig.is_asked(1), "seat 0 was played on");
    assert_eq!(rig.recorded("fallback").len(), 2);
}

#[test]
fn a_seat_that_is_out_gets_events_but_no_requests() {
    let mut rig = three("o").set("turn_limit", 7).play();
    rig.answer(0, "nonsense");
    while !rig.is_over() {
        rig.moves("step1");
    }
    let received = rig.received(0);
    let kinds = types(&received);
    assert_eq!(kinds.iter().filter(|&&kind| kind == "turn").count(), 1);
    assert_eq!(kinds.last(), Some(&"end"));
    let events = events(&received);
    assert_eq!(events[0], &json!({"kind": "out", "seat": 0, "reason": "illegal_move"}));
    assert_eq!(events.iter().filter(|event| event["kind"] == "move").count(), 7);
}

#[test]
fn both_seats_of_team_leave_and_request_is_void() {
    let mut rig = teams("a").play();
    rig.answer(3, "bid1");
    rig.gone(0);
    for seat in [1, 2, 4, 5] {
        rig.answer(seat, "bid1");
    }
    assert_eq!(outs(&mut rig, 1), [(0, "exited".to_owned()), (3, "exited".to_owned())]);
    assert!(!rig.is_asked(3) && rig.is_asked(1));

    let mut rig = teams("o").play();
    rig.resign(3);
    assert_eq!(rig.request(1), 0, "the request of seat 0 was void, and the referee moved");
    rig.received(0);
    rig.answer_to(0, 0, "step1");
    assert_eq!(rig.errors(0), ["stale"]);
    assert!(rig.recorded("stray").is_empty() && rig.faults(0).is_empty());
}

#[test]
fn events_come_cause_before_effect() {
    let mut rig = three("ad").play();
    rig.answer(1, "nonsense");
    rig.answer(2, "bid1");
    rig.answer(0, "bid1");
    let received = rig.received(2);
    let kinds: Vec<&str> = events(&received).iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["out", "move", "move", "move", "bids", "roll"]);
}

#[test]
fn the_clock_of_a_void_request_stands_still() {
    let mut rig = teams("a").play();
    for seat in [1, 2, 3, 4, 5] {
        rig.answer(seat, "bid1");
    }
    assert_eq!(rig.deadline(), Some(1020 * MS + 1));
    rig.resign(0);
    rig.wait(5 * MS);
    assert_eq!(rig.deadline(), Some(rig.at + 1015 * MS + 1), "of the next decision");
    assert!(rig.faults(0).is_empty());
}

#[test]
fn side_that_is_out_ranks_last_behind_draw_of_others() {
    let mut rig = three("o").set("turn_limit", 4).play();
    rig.resign(1);
    while !rig.is_over() {
        rig.moves("step1");
    }
    assert_eq!(rig.why(), ("turn_limit", "turn_limit"));
    assert_eq!(rig.ranks(), [1, 3, 1]);
    assert_eq!(rig.ending().scores, Some(vec![0.75, 0.0, 0.75]));
    assert!(rig.ending().fault.is_none());
}

#[test]
fn a_win_among_those_that_are_left_ranks_all_three() {
    let mut rig = three("o").set("goal", 3).play();
    rig.resign(0);
    let referee = rig.recorded("fallback")[0]["move"].clone();
    assert_ne!(referee, "step3", "or it would have reached the goal");
    rig.answer(1, "step3");
    assert_eq!(rig.why(), ("rules", "goal"));
    assert_eq!(rig.ranks(), [3, 1, 2]);
    assert_eq!(rig.ending().scores, Some(vec![0.0, 1.0, 0.5]));
}

#[test]
fn when_side_that_is_out_reaches_goal_others_are_equal() {
    let mut rig = three("o").set("goal", 1).play();
    rig.resign(0);
    assert_eq!(rig.why(), ("rules", "goal"));
    assert_eq!(rig.ranks(), [3, 1, 1]);
    assert_eq!(rig.ending().scores, Some(vec![0.0, 0.75, 0.75]));
}

#[test]
fn last_side_wins_and_later_exits_rank_ahead() {
    let mut rig = three("o").play();
    rig.answer(0, "nonsense");
    rig.moves("step1 step1");
    rig.answer(1, "nonsense");
    assert_eq!(rig.why(), ("fault", "illegal_move"));
    assert_eq!(rig.fault(), (1, "illegal_move"));
    assert_eq!(rig.ranks(), [3, 2, 1]);
    assert_eq!(rig.ending().scores, Some(vec![0.0, 0.5, 1.0]));
    for seat in 0..3 {
        assert_eq!(rig.last(seat, "end")["ranks"], json!([3, 2, 1]));
    }
}

#[test]
fn resignations_of_two_sides_end_it_by_resignation() {
    let mut rig = three("o").play();
    rig.resign(2);
    assert!(!rig.is_over());
    rig.answer(0, "step1");
    rig.resign(1);
    assert_eq!(rig.why(), ("resignation", "resignation"));
    assert_eq!(rig.ranks(), [1, 2, 3]);
}

#[test]
fn the_exit_that_leaves_one_side_ends_the_match() {
    let mut rig = three("o").play();
    rig.gone(2);
    rig.answer(0, "step1");
    rig.resign(1);
    assert_eq!(rig.why(), ("resignation", "resignation"));
    assert!(rig.ending().fault.is_none(), "the earlier fault did not end it");

    let mut rig = three("o").play();
    rig.resign(2);
    rig.answer(0, "step1");
    rig.gone(1);
    assert_eq!(rig.why(), ("fault", "exited"));
    assert_eq!(rig.fault(), (1, "exited"));
}

#[test]
fn exits_in_the_same_decision_rank_equal() {
    let mut rig = three("o").play();
    rig.resign(2);
    rig.resign(1);
    assert_eq!(rig.ranks(), [1, 2, 2]);
    assert_eq!(rig.ending().scores, Some(vec![1.0, 0.25, 0.25]));

    let mut rig = three("a").play();
    rig.answer(0, "bid1");
    rig.answer(1, "nonsense");
    rig.wait(1021 * MS).tick();
    assert_eq!(rig.fault(), (1, "illegal_move"));
    assert_eq!(rig.ranks(), [1, 2, 2]);
    assert_eq!(rig.play.decisions(), 0);
}

#[test]
fn when_all_fail_in_same_decision_they_draw() {
    for order in [[0, 1, 2], [2, 1, 0]] {
        let mut rig = three("a").play();
        order.into_iter().for_each(|seat| rig.answer(seat, "nonsense"));
        assert_eq!(rig.fault(), (0, "illegal_move"));
        assert_eq!(rig.ranks(), [1, 1, 1]);
        assert_eq!(rig.ending().scores, Some(vec![0.5, 0.5, 0.5]));
    }
}

#[test]
fn last_two_failing_together_rank_ahead_of_earlier_exit() {
    let mut rig = three("a").play();
    rig.answer(0, "nonsense");
    rig.moves("bid1 bid1");
    rig.answer(2, "nonsense");
    rig.answer(1, "nonsense");
    assert_eq!(rig.fault(), (1, "illegal_move"));
    assert_eq!(rig.ranks(), [3, 1, 1]);
}

/// Seat 2 has left after its answer to the first request; the others have yet to give theirs.
fn left_by_the_last() -> Rig {
    let mut rig = three("a").play();
    rig.answer(2, "bid1");
    rig.gone(2);
    rig
}

#[test]
fn exit_after_answer_is_later_than_one_instead_of_it() {
    let mut rig = left_by_the_last();
    rig.answer(0, "nonsense");
    rig.answer(1, "bid1");
    assert_eq!(rig.fault(), (2, "exited"));
    assert_eq!(rig.ranks(), [3, 1, 2]);
}

#[test]
fn exit_after_answer_is_earlier_than_one_in_next_decision() {
    let mut rig = left_by_the_last();
    rig.moves("bid1 bid1");
    assert!(!rig.is_over());
    rig.answer(0, "nonsense");
    rig.answer(1, "bid1");
    assert_eq!(rig.fault(), (0, "illegal_move"));
    assert_eq!(rig.ranks(), [2, 1, 3]);
}

#[test]
fn bot_that_did_not_start_ranks_behind_first_failure() {
    let mut rig = three("o").open();
    rig.ready(0);
    rig.ready(1);
    rig.wait(5001 * MS).tick();
    assert_eq!(outs(&mut rig, 0), [(2, "no_start".to_owned())]);
    rig.answer(0, "nonsense");
    assert_eq!(rig.ranks(), [2, 1, 3]);
}

#[test]
fn when_all_leave_after_their_answers_policy_forfeit_has_result() {
    let mut rig = three("a").play();
    rig.answer(1, "bid1");
    rig.gone(1);
    rig.answer(2, "bid1");
    rig.gone(2);
    rig.gone(0);
    assert_eq!(rig.why(), ("fault", "exited"));
    assert_eq!(rig.fault(), (1, "exited"));
    assert_eq!(rig.ranks(), [3, 1, 1]);
}

#[test]
fn side_that_does_not_start_is_out_with_partner() {
    let mut rig = teams("o").open();
    for seat in 1..6 {
        rig.ready(seat);
    }
    rig.wait(5001 * MS).tick();
    assert_eq!(outs(&mut rig, 1), [(0, "no_start".to_owned()), (3, "no_start".to_owned())]);
    rig.moves("step1 step1 step1 step1");
    assert!(rig.is_asked(1) && rig.recorded("fallback").len() == 3);
}

#[test]
fn faults_of_a_seat_that_is_out_have_no_effect() {
    let mut rig = three("o").play();
    rig.resign(0);
    rig.received(0);
    rig.answer_to(0, 0, "step1");
    rig.answer_to(0, 1, "step1");
    assert_eq!(rig.errors(0), ["stale", "out_of_state"]);
    for _ in 0..20 {
        rig.ready(0);
    }
    assert_eq!(rig.faults(0), [("protocol", 1)]);
    rig.gone(0);
    assert_eq!(rig.faults(0), [("exited", 1), ("protocol", 1)]);
    assert!(rig.is_asked(1));
    assert_eq!(outs(&mut rig, 1).len(), 1);
}

#[test]
fn a_second_resignation_is_out_of_state() {
    let mut rig = teams("o").play();
    rig.resign(0);
    for seat in [0, 3] {
        rig.received(seat);
        rig.resign(seat);
        assert_eq!(rig.errors(seat), ["out_of_state"]);
    }
    assert_eq!(rig.recorded("resign").len(), 1);
}

#[test]
fn with_the_policy_random_faults_eliminate_no_side() {
    let mut rig = three("o").set("turn_limit", 6).on_fault("random").play();
    rig.gone(2);
    rig.answer(0, "nonsense");
    assert!(outs(&mut rig, 1).is_empty());
    rig.moves("step1 step1 step1");
    assert_eq!(rig.why(), ("turn_limit", "turn_limit"));
    assert_eq!(rig.ranks(), [1, 1, 1]);
}

#[test]
fn with_the_policy_random_a_resignation_eliminates_the_side() {
    let mut rig = three("o").set("turn_limit", 6).on_fault("random").play();
    rig.resign(2);
    assert_eq!(outs(&mut rig, 2), []);
    while !rig.is_over() {
        rig.moves("step1");
    }
    assert_eq!(rig.ranks(), [1, 1, 3]);
}

#[test]
fn two_teams_of_two_share_what_one_of_them_does() {
    let mut rig = RigSetup::toy(4, 2, "o").play();
    rig.answer(0, "step1");
    rig.handle(Event::Resign(Seat(2)));
    assert_eq!(rig.ranks(), [2, 1, 2, 1]);
    assert_eq!(rig.last(3, "end")["scores"], json!([0.0, 1.0, 0.0, 1.0]));
}
