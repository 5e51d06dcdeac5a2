//! Random moves before the first turn, and the messages about the deal of a set.

use referee_game::chance::{RandomKey, Seed};
use referee_game::{Seat, Turn, Uniform, Viewer};
use serde_json::{Value, json};

use super::rig::{Rig, RigSetup, events, types};
use crate::{AbortReason, Event, Leg, Limits, Opening, opening};

/// Black takes White's last piece, whatever is drawn.
const WON_AT_ONCE: &str = "B:W18:B14";

/// The key of the rig's matches of checkers without nonces.
fn key() -> RandomKey {
    Seed([5; 32]).match_key("checkers", "d1", &["", ""])
}

fn moves(events: &[&Value]) -> Vec<String> {
    events.iter().map(|event| event["move"].as_str().unwrap().to_owned()).collect()
}

fn recorded(rig: &Rig) -> Vec<String> {
    let lines = rig.recorded("event");
    moves(&lines.iter().map(|line| &line["event"]).collect::<Vec<_>>())
}

/// An independent computation of the opening, and the number of discarded attempts.
fn computed(plan: &RigSetup, plies: usize) -> (Vec<String>, usize) {
    let mut stream = key().opening();
    for thrown_away in 0.. {
        let (mut table, mut made) = (plan.table(), Vec::new());
        while let Turn::Decide(decision) = table.ask()
            && made.len() < plies
        {
            let seat = decision.seats().iter().next().unwrap();
            let index = stream.uniform(table.count(&decision, seat) as u64) as usize;
            made.push(table.text(&decision, seat, index).to_owned());
            table.play(decision, &[index]).unwrap();
        }
        if made.len() == plies && !matches!(table.turn(), Turn::Over(_)) {
            return (made, thrown_away);
        }
    }
    unreachable!()
}

#[test]
fn the_opening_reaches_both_seats_before_their_first_turn() {
    let mut rig = RigSetup::checkers().opening(5).play();
    // After five plies White is to move.
    assert!(rig.received(0).is_empty(), "events wait for the seat's turn");
    let received = rig.received(1);
    assert_eq!(types(&received), ["event", "event", "event", "event", "event", "turn"]);
    for (n, message) in received[..5].iter().enumerate() {
        assert_eq!(message["n"], n);
        let event = &message["event"];
        assert_eq!(
            (&event["kind"], &event["seat"], &event["opening"]),
            (&json!("move"), &json!(n % 2), &json!(true))
        );
    }
    assert_eq!((received[5]["turn"].as_u64(), &received[5]["view"]["to_move"]), (Some(0), &json!([1])));
    rig.step(1);
    let own = rig.received(0);
    assert_eq!(moves(&events(&own))[..5], moves(&events(&received)));
    assert_eq!(events(&own)[5]["opening"], Value::Null, "what a bot plays is no opening");
}

#[test]
fn a_match_knows_the_moves_after_its_opening_by_seat() {
    let mut rig = RigSetup::checkers().opening(5).play();
    rig.step(1);
    rig.step(0);
    let all = recorded(&rig);
    assert_eq!(rig.play.moves(), [format!("\n{}", all[6]), format!("\n{}", all[5])]);
}

#[test]
fn the_opening_follows_from_the_seed_as_published() {
    // Python's hmac gives 24ee591b9efee342 and 0e813716b84fec78: the sixth of seven moves, then the fifth.
    let rig = RigSetup::checkers().opening(2).play();
    assert_eq!(recorded(&rig), ["9-13", "23-19"]);
}

#[test]
fn the_opening_can_be_computed_from_the_reveal() {
    for plies in [1, 6, 30] {
        let rig = RigSetup::checkers().opening(plies).play();
        assert_eq!(recorded(&rig), computed(&RigSetup::checkers(), plies as usize).0);
    }
}

#[test]
fn opening_that_ends_match_is_redrawn_from_same_stream() {
    let again = (1..=20).filter(|&plies| {
        let plan = RigSetup::checkers_at("B:W18,22,31:B1,9,14").set("turn_limit", 60);
        let (opening, thrown_away) = computed(&plan, plies as usize);
        let rig = plan.opening(plies).play();
        assert_eq!(recorded(&rig), opening);
        assert!(!rig.is_over());
        thrown_away > 0
    });
    assert!(again.count() > 5, "the position is one in which openings end matches");
}

#[test]
fn opening_moves_count_as_turns_but_not_as_decisions() {
    let mut rig = RigSetup::checkers().set("turn_limit", 7).opening(4).play();
    assert_eq!(rig.last(0, "turn")["turns_left"], 3);
    for seat in [0, 1, 0] {
        rig.step(seat);
    }
    assert_eq!(rig.why(), ("turn_limit", "turn_limit"));
    assert_eq!(rig.recorded("result")[0]["decisions"], 3);

    let mut rig = RigSetup::checkers_at("B:WK32:BK1").set("draw_plies", 8).opening(6).play();
    rig.step(0);
    rig.step(1);
    assert_eq!(rig.why(), ("rules", "quiet_plies"));
}

#[test]
fn an_opening_costs_no_time() {
    let mut rig = RigSetup::checkers().clock(0, 1000, 0).opening(6).play();
    assert_eq!(rig.clock(0), (1000, 1000));
}

#[test]
fn nonces_choose_the_opening_and_without_nonces_they_do_not() {
    let played = |nonce: &str, mixed: bool| {
        let mut plan = RigSetup::checkers().opening(6);
        plan.nonce = mixed;
        let mut rig = plan.open();
        for seat in [0, 1] {
            rig.handle(Event::Ready { seat: Seat(seat), nonce: Some(nonce) });
        }
        recorded(&rig)
    };
    assert_ne!(played("", true), played("00", true));
    assert_eq!(played("", false), played("00", false));
    assert_eq!(played("", true), played("", false));
}

#[test]
fn opening_waits_until_all_are_ready_unless_ready_is_off() {
    let mut rig = RigSetup::checkers().opening(2).open();
    rig.ready(1);
    assert!(recorded(&rig).is_empty());
    rig.ready(0);
    assert_eq!(recorded(&rig).len(), 2);

    let mut plan = RigSetup::checkers().opening(2);
    (plan.nonce, plan.auto_ready) = (false, true);
    let mut rig = plan.open();
    assert_eq!(types(&rig.received(0)), ["start", "event", "event", "turn"]);
}

#[test]
fn push_and_spectators_get_the_opening_immediately() {
    let mut plan = RigSetup::checkers().opening(2);
    plan.wants[1].push = true;
    plan.watched = Some(Viewer::Public);
    let mut rig = plan.play();
    assert_eq!(types(&rig.received(1)), ["event", "event"]);
    let news = String::from_utf8(rig.play.news().clone()).unwrap();
    assert_eq!(news.matches("\"opening\":true").count(), 2, "{news}");
}

#[test]
fn fallback_moves_do_not_depend_on_opening() {
    let mut rig = RigSetup::checkers().on_fault("random").opening(6).play();
    let legal = rig.last(0, "turn")["legal"].as_array().unwrap().clone();
    rig.answer(0, "nonsense");
    let index = key().fallback().uniform(legal.len() as u64) as usize;
    assert_eq!(rig.recorded("fallback")[0]["move"], legal[index]);
}

#[test]
fn a_match_without_a_possible_opening_is_aborted() {
    let mut rig = RigSetup::checkers_at(WON_AT_ONCE).opening(1).play();
    assert_eq!(rig.why(), ("aborted", "aborted"));
    assert!(recorded(&rig).is_empty(), "no opening is begun");
    let reason = rig.recorded("abort")[0]["reason"].clone();
    assert_eq!(reason, json!({"kind": "no_opening", "plies": 1, "tries": 1000}));
    assert_eq!(types(&rig.received(0)), ["end"]);
}

#[test]
fn a_resignation_before_an_impossible_opening_ends_the_match_once() {
    let mut rig = RigSetup::checkers_at(WON_AT_ONCE).opening(1).open();
    rig.ready(0);
    rig.resign(0);
    rig.ready(1);
    assert_eq!(types(&rig.received(1)), ["start", "end"]);
    assert_eq!(rig.recorded("result").len(), 1);
}

#[test]
fn an_impossible_opening_is_rejected_at_set_up() {
    let refused = |plan: RigSetup, plies| {
        opening::check(&*plan.table(), &Opening::Random(plies), &Limits::TODAY)
            .map_err(|error| error.to_string())
    };
    assert_eq!(opening::check(&*RigSetup::toy(2, 2, "o").table(), &Opening::None, &Limits::TODAY), Ok(()));
    let what = refused(RigSetup::toy(2, 2, "o"), 6).unwrap_err();
    assert_eq!(what, "toy has no openings");
    assert_eq!(refused(RigSetup::checkers(), 100), Ok(()));
    let what = refused(RigSetup::checkers(), 101).unwrap_err();
    assert_eq!(what, "an opening of 101 plies is too long: it has at most 100");
    assert_eq!(refused(RigSetup::checkers().set("turn_limit", 7), 6), Ok(()));
    let what = refused(RigSetup::checkers().set("turn_limit", 7), 7).unwrap_err();
    assert!(what.starts_with("checkers with these options: no opening of length 7 in 1000 tries"), "{what}");
    assert!(refused(RigSetup::checkers_at(WON_AT_ONCE), 1).is_err());
}

#[test]
fn a_given_opening_is_played_and_recorded() {
    let mut rig = RigSetup::checkers().given(&["11-15", "23-18", "15-19"]).play();
    assert_eq!(recorded(&rig), ["11-15", "23-18", "15-19"]);
    assert_eq!(rig.recorded("record")[0]["opening"], json!(["11-15", "23-18", "15-19"]));
    assert!(rig.recorded("record")[0].get("opening_plies").is_none());
    let received = rig.received(1);
    assert_eq!(types(&received), ["event", "event", "event", "turn"]);
    assert!(events(&received).iter().all(|event| event["opening"] == true), "{received:?}");
}

#[test]
fn a_given_opening_is_independent_of_chance() {
    let mut plan = RigSetup::checkers().on_fault("random").given(&["11-15", "23-18"]);
    plan.nonce = false;
    let mut rig = plan.play();
    let legal = rig.last(0, "turn")["legal"].as_array().unwrap().clone();
    rig.answer(0, "nonsense");
    let index = key().fallback().uniform(legal.len() as u64) as usize;
    assert_eq!(rig.recorded("fallback")[0]["move"], legal[index]);
}

#[test]
fn an_invalid_given_opening_is_rejected_with_its_ply() {
    let refused = |plan: RigSetup, moves: &[&str]| {
        let plan = plan.given(moves);
        opening::check(&*plan.table(), &plan.opening, &Limits::TODAY).map_err(|error| error.to_string())
    };
    assert_eq!(refused(RigSetup::checkers(), &[]), Ok(()));
    assert_eq!(refused(RigSetup::checkers(), &["11-15", "22-18", "15x22"]), Ok(()));
    let what = refused(RigSetup::checkers(), &["11-15", "11-16"]).unwrap_err();
    assert_eq!(what, "ply 2: `11-16` is not legal for seat 1");
    let ambiguous = "B:W7,15,16,19,23,24,26,30,32:B2,3,5,6,12,13";
    let what = refused(RigSetup::checkers_at(ambiguous), &["2x27"]).unwrap_err();
    assert_eq!(what, "ply 1: `2x27` may be 2x11x18x27, 2x11x20x27");
    let what = refused(RigSetup::checkers_at(WON_AT_ONCE), &["14x23", "1-5"]).unwrap_err();
    assert_eq!(what, "ply 1: the match would be over before its first turn");
    let what = refused(RigSetup::checkers_at("B:W5,9:B1"), &[]);
    assert_eq!(what, Ok(()), "Black can move");
    let blocked = "B:W5,6,9,10:B1";
    assert_eq!(
        refused(RigSetup::checkers_at(blocked), &[]).unwrap_err(),
        "the match would be over before its first turn"
    );
    let what = refused(RigSetup::toy(2, 2, "o"), &["x"]).unwrap_err();
    assert_eq!(what, "toy has no openings");
    let long = ["1-5"; 101];
    let what = refused(RigSetup::checkers(), &long).unwrap_err();
    assert_eq!(what, "an opening of 101 plies is too long: it has at most 100");
}

#[test]
fn deal_of_set_is_revealed_after_its_last_match() {
    for (leg, deal, is_revealed) in
        [(Leg::Only, json!("d1"), true), (Leg::Earlier, Value::Null, false), (Leg::Last, Value::Null, true)]
    {
        let mut plan = RigSetup::checkers().opening(2);
        plan.leg = leg;
        let mut rig = plan.open();
        let start = rig.received(0)[0].clone();
        assert!(start.as_object().unwrap().contains_key("deal"));
        assert_eq!(start["deal"], deal, "{leg:?}");
        rig.ready(0);
        rig.ready(1);
        rig.resign(0);
        let end = rig.last(0, "end");
        assert_eq!(end.get("reveal").is_some(), is_revealed, "{leg:?}");
        assert_eq!(rig.play.reveal().deal, "d1", "the record's seal gets it all the same");
    }
}

#[test]
fn an_aborted_last_match_does_not_reveal_the_deal() {
    for (leg, is_revealed) in [(Leg::Only, true), (Leg::Last, false)] {
        let mut plan = RigSetup::checkers();
        plan.leg = leg;
        let mut rig = plan.open();
        rig.ready(0);
        rig.handle(Event::Abort(&AbortReason::Interrupted));
        assert_eq!(rig.last(0, "end").get("reveal").is_some(), is_revealed, "{leg:?}");
    }
}
