//! The policy `random`, and the moves that the referee makes for faulty seats.

use referee_game::chance::{RandomKey, Seed};
use referee_game::{Draw, Seat, Uniform};
use referee_protocol::words::{ErrorCode, FaultCode};

use super::rig::{MS, Rig, RigSetup, types};
use crate::Event;

/// The key of the rig's matches without nonces.
fn key(game: &str, seats: usize) -> RandomKey {
    Seed([5; 32]).match_key(game, "d1", &vec![""; seats])
}

fn played() -> Rig {
    RigSetup::checkers().clock(1000, 0, 0).on_fault("random").play()
}

/// The fallback moves, in order.
fn fallbacks(rig: &Rig) -> Vec<String> {
    rig.recorded("fallback").iter().map(|line| line["move"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn referee_moves_for_faulty_answer_and_match_goes_on() {
    type FaultyAction = fn(&mut Rig);
    let misdeeds: [(&str, FaultyAction); 5] = [
        ("illegal_move", |rig| rig.answer(0, "1-1")),
        ("malformed", |rig| rig.broken(0, None, FaultCode::Malformed)),
        ("line_too_long", |rig| rig.broken(0, None, FaultCode::LineTooLong)),
        ("timeout", |rig| rig.wait(1021 * MS).tick()),
        ("protocol", |rig| (0..21).for_each(|_| rig.ready(0))),
    ];
    for (code, misbehave) in misdeeds {
        let mut rig = played();
        misbehave(&mut rig);
        assert_eq!(rig.faults(0), [(code, 1)]);
        assert_eq!(fallbacks(&rig).len(), 1);
        assert_eq!(types(&rig.received(1)), ["event", "turn"], "{code}");
        rig.step(1);
        assert!(rig.is_asked(0), "{code}: the bot plays on");
    }
}

#[test]
fn fallback_moves_are_drawn_from_the_published_stream() {
    let mut rig = played();
    let mut stream = key("checkers", 2).fallback();
    let mut expected = Vec::new();
    for _ in 0..12 {
        for seat in [0, 1] {
            if rig.is_over() {
                break;
            }
            let mut legal = rig.legal(seat);
            expected.push(legal.swap_remove(stream.uniform(legal.len() as u64) as usize));
            rig.answer(seat, "1-1");
        }
    }
    assert!(expected.len() > 10);
    assert_eq!(fallbacks(&rig), expected);
}

#[test]
fn a_single_legal_move_consumes_a_number() {
    let mut rig = RigSetup::checkers_at("B:W6,23,24,32:BK1,12").on_fault("random").play();
    assert_eq!(rig.legal(0).len(), 1);
    rig.answer(0, "1-1");
    let mut legal = rig.legal(1);
    let mut stream = key("checkers", 2).fallback();
    stream.uniform(1);
    let expected = legal.swap_remove(stream.uniform(legal.len() as u64) as usize);
    rig.answer(1, "1-1");
    assert_eq!(fallbacks(&rig), ["1x10", &expected]);
}

#[test]
fn fallback_moves_do_not_affect_the_dice() {
    let rolls = [false, true].map(|is_faulty| {
        let mut rig = RigSetup::toy(2, 2, "do").on_fault("random").play();
        for _ in 0..4 {
            rig.answer(0, if is_faulty { "nonsense" } else { "step1" });
            rig.answer(1, "step1");
        }
        rig.recorded("draw").iter().map(|line| line["drawn"].clone()).collect::<Vec<_>>()
    });
    assert_eq!(rolls[0], rolls[1]);
    let mut stream = key("toy", 2).stream();
    let mut dice = Vec::new();
    for roll in &rolls[0] {
        stream.draw(Draw::Dice { count: 2, sides: 6 }, &mut dice);
        assert_eq!(*roll, serde_json::json!(dice));
    }
}

#[test]
fn fallback_moves_are_made_in_seat_order() {
    let mut stream = key("toy", 3).fallback();
    let expected = [(); 3].map(|()| ["bid1", "bid2", "bid3"][stream.uniform(3) as usize]);
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut rig = RigSetup::toy(3, 3, "a").on_fault("random").play();
        order.into_iter().for_each(|seat| rig.answer(seat, "nonsense"));
        assert_eq!(fallbacks(&rig), expected);
    }
}

#[test]
fn lost_bot_is_one_fault_and_is_replaced_to_end() {
    let mut rig = played();
    rig.gone(1);
    assert!(rig.is_asked(0));
    while !rig.is_over() {
        rig.step(0);
    }
    assert_eq!(rig.faults(1), [("exited", 1)]);
    assert!(rig.faults(0).is_empty());
    assert_eq!(rig.ending().ended_by.as_str(), "rules");
    assert!(rig.ending().fault.is_none());
}

#[test]
fn a_bot_lost_at_its_own_turn_is_replaced() {
    let mut rig = played();
    rig.gone(0);
    assert_eq!(rig.faults(0), [("exited", 1)]);
    rig.step(1);
    assert!(rig.is_asked(1), "the referee has moved for seat 0 again");
}

#[test]
fn when_no_live_bot_remains_the_match_is_aborted() {
    for first in [0, 1] {
        let mut rig = played();
        rig.gone(first);
        assert!(!rig.is_over());
        rig.gone(1 - first);
        assert_eq!(rig.ending().ended_by.as_str(), "aborted");
        assert_eq!(rig.ending().ranks, None);
    }
}

#[test]
fn bot_that_does_not_start_is_replaced_and_gets_end() {
    let mut rig = RigSetup::checkers().on_fault("random").open();
    rig.ready(0);
    rig.wait(5001 * MS).tick();
    assert_eq!(rig.faults(1), [("no_start", 1)]);
    while !rig.is_over() {
        rig.step(0);
    }
    let received = rig.received(1);
    let kinds = types(&received);
    assert!(!kinds.contains(&"turn"));
    assert_eq!(kinds.last(), Some(&"end"));
}

#[test]
fn a_bot_that_did_not_start_has_nothing_to_resign() {
    let mut rig = RigSetup::checkers().on_fault("random").open();
    rig.ready(0);
    rig.wait(5001 * MS).tick();
    rig.received(1);
    rig.resign(1);
    rig.ready(1);
    assert_eq!(rig.errors(1), ["out_of_state", "out_of_state"]);
    assert!(!rig.is_over());
}

#[test]
fn the_match_is_aborted_when_no_bot_starts() {
    let mut rig = RigSetup::checkers().on_fault("random").open();
    rig.wait(5001 * MS).tick();
    assert_eq!(rig.ending().ended_by.as_str(), "aborted");
}

#[test]
fn a_resignation_is_no_fault_and_ends_the_match() {
    let mut rig = played();
    rig.resign(0);
    assert_eq!(rig.why(), ("resignation", "resignation"));
    assert_eq!(rig.ranks(), [2, 1]);
}

#[test]
fn strays_without_a_request_are_counted_and_cost_no_move() {
    let mut rig = played();
    for _ in 0..42 {
        rig.handle(Event::Stray { seat: Seat(1), code: ErrorCode::UnknownType, message: "no such message" });
    }
    assert_eq!(rig.faults(1), [("protocol", 1)], "one fault a match");
    rig.step(0);
    assert!(rig.is_asked(1));
    assert!(fallbacks(&rig).is_empty());
}

#[test]
fn a_draw_offer_with_a_refused_move_is_void() {
    let mut rig = played();
    rig.offer(0, "1-1");
    assert_eq!(rig.last(1, "turn").get("draw_offered"), None);
}

/// More would delay the lines of other matches.
#[test]
fn at_most_64_moves_are_made_before_yielding() {
    let mut rig = RigSetup::toy(3, 3, "o").set("goal", 250).set("turn_limit", 300).on_fault("random").play();
    // Seat 0 loses its side, the others are gone: the referee plays all of them.
    rig.resign(0);
    rig.gone(1);
    let before = rig.play.decisions();
    rig.gone(2);
    for _ in 0..3 {
        assert!(!rig.is_over());
        assert_eq!(rig.deadline(), Some(rig.at), "there is more to do at once");
        rig.wait(5);
        rig.handle(Event::Expire(Seat(0)));
        rig.ready(0);
        rig.wait(5).tick();
    }
    assert_eq!(rig.play.decisions() - before, 4 * 64);
    rig.tick();
    assert_eq!(rig.why().0, "turn_limit");
}

#[test]
fn at_most_64_simultaneous_moves_are_made_before_yielding() {
    let mut rig = RigSetup::toy(6, 3, "a").set("goal", 255).set("turn_limit", 40).on_fault("random").play();
    rig.resign(0);
    for seat in 1..6 {
        rig.gone(seat);
    }
    let made = rig.play.decisions();
    assert!(!rig.is_over() && made > 48 && made <= 64, "{made}");
    rig.tick();
    assert!(rig.play.decisions() - made <= 64);
}
