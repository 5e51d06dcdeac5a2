//! Keezenspel among three teams, one of which is out.

use referee_game::chance::{RandomKey, RandomStream, Uniform};
use referee_game::{Seat, Viewer};
use serde_json::Value;

use super::rig::{Rig, RigSetup, events};

fn asked(rig: &Rig) -> u8 {
    (0..6).find(|&seat| rig.is_asked(seat)).expect("a seat is asked")
}

/// Plays at random, this number of decisions or to the end.
fn play_on(rig: &mut Rig, moves: usize, rng: &mut RandomStream) {
    for _ in 0..moves {
        if rig.is_over() {
            return;
        }
        let seat = Seat(asked(rig));
        let (table, decision) = (rig.play.table(), rig.play.decision().unwrap());
        let index = rng.uniform(table.count(decision, seat) as u64) as usize;
        let text = table.text(decision, seat, index).to_owned();
        rig.answer(seat.0, &text);
    }
}

/// The side whose pawns are all home.
fn home(rig: &Rig) -> Option<u8> {
    let view = rig.play.table().view(Viewer::Omniscient).unwrap();
    let view: Value = serde_json::from_slice(&view).unwrap();
    let is_home = |seat: u8| {
        let pawns = view["pawns"][usize::from(seat)].as_array().unwrap();
        pawns.iter().all(|pawn| pawn.as_str().unwrap().starts_with('h'))
    };
    (0..3).find(|&side| is_home(side) && is_home(side + 3))
}

fn of_kind<'a>(events: &[&'a Value], kind: &str) -> Vec<&'a Value> {
    events.iter().copied().filter(|event| event["kind"] == kind).collect()
}

#[test]
fn the_referee_plays_for_a_side_that_forfeits() {
    let (mut won_by_others, mut won_by_the_side_that_is_out) = (0, 0);
    for number in 0..16 {
        let rng = &mut RandomKey([number; 32]).stream();
        let mut rig = RigSetup::keezen(3).play();
        play_on(&mut rig, 30, rng);
        let seat = asked(&rig);
        let (side, partner) = (seat % 3, (seat + 3) % 6);
        (0..6).for_each(|seat| drop(rig.received(seat)));
        rig.answer(seat, "nonsense");
        play_on(&mut rig, usize::MAX, rng);

        assert_eq!(rig.faults(seat), [("illegal_move", 1)]);
        assert_eq!(rig.why(), ("rules", "home"));
        let by_referee = rig.recorded("fallback");
        assert!(by_referee.len() > 10, "it is played on: {}", by_referee.len());
        assert!(by_referee.iter().all(|line| line["seat"] == seat || line["seat"] == partner));

        let winner = home(&rig).unwrap();
        let expected = (0..6u8).map(|seat| match seat % 3 {
            out if out == side => 3,
            other if other == winner || winner == side => 1,
            _ => 2,
        });
        assert_eq!(rig.ranks(), expected.collect::<Vec<u8>>());
        *(if winner == side { &mut won_by_the_side_that_is_out } else { &mut won_by_others }) += 1;

        for who in [seat, partner] {
            let received = rig.received(who);
            assert!(received.iter().all(|message| message["type"] != "turn"), "seat {who} is asked no more");
            let events = events(&received);
            assert_eq!(of_kind(&events, "out").len(), 2);
            let deals = of_kind(&events, "deal");
            assert!(!deals.is_empty() && deals.iter().all(|deal| deal["hand"].is_array()), "{deals:?}");
            assert!(!of_kind(&events, "hand_in").is_empty());
        }
    }
    assert!(won_by_others > 2 && won_by_the_side_that_is_out > 0, "too few endings were seen");
}

#[test]
fn when_two_of_three_sides_are_out_third_wins() {
    let mut rig = RigSetup::keezen(3).play();
    play_on(&mut rig, 10, &mut RandomKey([0; 32]).stream());
    rig.resign(4);
    assert!(!rig.is_over());
    rig.resign(3);
    assert_eq!(rig.why(), ("resignation", "resignation"));
    assert_eq!(rig.ranks(), [2, 2, 1, 2, 2, 1]);
}

#[test]
fn resigning_in_play_ranks_ahead_of_resigning_before_play() {
    let mut rig = RigSetup::keezen(3).open();
    rig.ready(1);
    rig.resign(1);
    [0, 2, 3, 4, 5].into_iter().for_each(|seat| rig.ready(seat));
    assert_eq!(asked(&rig), 0);
    rig.resign(0);
    assert_eq!(rig.why(), ("resignation", "resignation"));
    assert_eq!(rig.ranks(), [2, 3, 1, 2, 3, 1]);
}

#[test]
fn fault_ends_it_although_partner_resigned_in_same_decision() {
    for (resigns, fails) in [(0, 2), (2, 0)] {
        let mut rig = RigSetup::keezen(2).open();
        rig.resign(resigns);
        rig.gone(fails);
        [1, 3].into_iter().for_each(|seat| rig.ready(seat));
        assert_eq!(rig.why(), ("fault", "exited"));
        assert_eq!(rig.fault(), (fails, "exited"));
        assert_eq!(rig.ranks(), [2, 1, 2, 1]);
    }
}

#[test]
fn no_seat_sees_the_cards_of_another() {
    let mut rig = RigSetup::keezen(3).play();
    play_on(&mut rig, usize::MAX, &mut RandomKey([0; 32]).stream());
    let recorded = rig.recorded("event");
    let deals: Vec<&Value> =
        recorded.iter().map(|line| &line["event"]).filter(|event| event["kind"] == "deal").collect();
    assert!(deals.len() > 5);
    for seat in 0..6 {
        let received = super::rig::messages(rig.bytes(seat));
        let events = events(&received);
        let dealt = of_kind(&events, "deal");
        assert_eq!(dealt.len(), deals.len());
        for (event, deal) in dealt.iter().zip(&deals) {
            let own = serde_json::json!({ "kind": "deal", "hand": deal["hands"][seat.to_string()] });
            assert_eq!(**event, own);
        }
    }
}
