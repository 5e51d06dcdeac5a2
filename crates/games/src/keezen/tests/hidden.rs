//! Hidden information: from whom, and the inferences of a seat.

use std::collections::BTreeMap;

use super::*;
use crate::battery::view;
use referee_game::Fact as _;
use referee_game::chance::{RandomKey, RandomStream};

fn stream(number: u8) -> RandomStream {
    RandomKey([number; 32]).stream()
}

fn sees(game: &Keezen, viewer: u8) -> Vec<u8> {
    let viewer = Viewer::Seat(Seat(viewer));
    let seats = game.position.board.all().filter(|&seat| game.position.shows(seat, viewer));
    seats.map(|seat| seat.0).collect()
}

#[test]
fn k8_partners_see_hands_once_one_is_all_home() {
    let mut game = game("t62 h0.1 h0.2 h0.3|t20|t40|t60", "2 5|3|K 7|4");
    assert_eq!([0, 1, 2, 3].map(|seat| sees(&game, seat)), [[0], [1], [2], [3]]);
    let hidden = |game: &Keezen, seat| view(game, Viewer::Seat(Seat(seat))).contains(r#""hands":{},"#);
    assert!((0..4).all(|seat| hidden(&game, seat)));
    play(&mut game, "2 t62");
    assert_eq!([0, 1, 2, 3].map(|seat| sees(&game, seat)), [vec![0, 2], vec![1], vec![0, 2], vec![3]]);
    assert!(view(&game, Viewer::Seat(Seat(0))).contains(r#""hand":["5"],"hands":{"2":["7","K"]},"#));
    assert!(view(&game, Viewer::Seat(Seat(2))).contains(r#""hand":["7","K"],"hands":{"0":["5"]},"#));
    assert!(hidden(&game, 1) && hidden(&game, 3));
    assert!(view(&game, Viewer::Public).contains(r#""hand":null,"hands":{},"#));
}

#[test]
fn k8_applies_to_teams_only() {
    let home = |seat: u8| (0..4).map(|square| format!("h{seat}.{square} ")).collect::<String>();
    let six = game(&format!("t1||{}|||", home(2)), "2|2|2|2|2|2");
    assert_eq!([2, 5, 0, 3].map(|seat| sees(&six, seat)), [vec![2, 5], vec![2, 5], vec![0], vec![3]]);
    let two = game(&format!("{}|t40", home(0)), "2|2");
    assert_eq!([0, 1].map(|seat| sees(&two, seat)), [[0], [1]]);
}

#[test]
fn k8_an_empty_hand_is_shown() {
    let game = game("h0.0 h0.1 h0.2 h0.3||t40|", "2|||");
    assert!(view(&game, Viewer::Seat(Seat(0))).contains(r#""hands":{"2":[]},"#));
}

/// Positions of random play in which a seat decides, some from a start at which pawns are nearly home.
fn positions(seats: u8, rng: &mut RandomStream) -> Vec<Keezen> {
    let (mut passed, mut drawn) = (Vec::new(), Vec::new());
    for late in [false, true] {
        let mut game = start(seats);
        if late {
            let sides = seating(seats).sides();
            for seat in (0..seats).map(Seat) {
                let home = if seats > 2 && seat.index() < sides { 4 } else { 2 };
                for square in 4 - home..4 {
                    assert!(game.position.board.set_up(seat, Square::Home(seat, square)));
                }
            }
        }
        for _ in 0..400 {
            match game.turn() {
                Turn::Over(_) => break,
                Turn::Draw(draw) => {
                    rng.draw(draw, &mut drawn);
                    game.settle(&drawn, &mut |_| {});
                }
                Turn::Decide(_) => {
                    passed.push(game.clone());
                    let mv = pick(&moves(&game), rng);
                    game.play_unchecked(game.position.to_move.unwrap(), mv, &mut |_| {});
                }
            }
        }
    }
    passed
}

fn moves(game: &Keezen) -> Vec<Move> {
    let mut moves = Vec::new();
    game.legal_moves(game.position.to_move.unwrap(), &mut moves);
    moves
}

fn pick<T: Copy>(list: &[T], rng: &mut RandomStream) -> T {
    list[rng.uniform(list.len() as u64) as usize]
}

/// The same game with all cards that the viewer does not see shuffled among their holders and the deck. The seat to move
/// still has a play.
fn other_world(game: &Keezen, viewer: Viewer, rng: &mut RandomStream) -> Keezen {
    let position = &game.position;
    let hidden: Vec<Seat> = position.board.all().filter(|&seat| !position.shows(seat, viewer)).collect();
    let held: Vec<Hand> = hidden.iter().map(|&seat| position.hands.of(seat)).collect();
    let mut unseen: Vec<Rank> = held.iter().flat_map(|hand| hand.cards()).copied().collect();
    unseen.extend(position.stock.rest());
    loop {
        rng.shuffle(&mut unseen);
        let mut other = game.clone();
        let mut cards = unseen.iter().copied();
        for (&seat, hand) in hidden.iter().zip(&held) {
            let cards: Vec<Rank> = cards.by_ref().take(hand.len().into()).collect();
            *other.position.hands.of_mut(seat) = cards.try_into().unwrap();
        }
        let rest: Vec<Rank> = cards.collect();
        other.position.stock = Stock::with(position.board.seats(), position.stock.pile(), &rest);
        if !moves(&other).is_empty() {
            return other;
        }
    }
}

/// Plays, and the events for the viewer.
fn heard(game: &mut Keezen, mv: Move, viewer: Viewer) -> Vec<String> {
    let mut facts = Vec::new();
    game.play_unchecked(game.position.to_move.unwrap(), mv, &mut |fact| {
        facts.push(serde_json::to_string(&fact.as_seen_by(viewer)).unwrap());
    });
    facts
}

#[test]
fn a_viewer_cannot_distinguish_worlds_that_differ_in_hidden_cards() {
    let mut rng = stream(1);
    let (mut differed, mut equal_facts, mut dealt_alike) = (0, 0, 0);
    for seats in [2, 4, 6] {
        for game in positions(seats, &mut rng) {
            let viewers = game.position.board.all().map(Viewer::Seat).chain([Viewer::Public]);
            for viewer in viewers {
                let mut other = other_world(&game, viewer, &mut rng);
                assert_eq!(view(&game, viewer), view(&other, viewer), "{viewer:?}");
                assert_eq!((game.turn(), game.turns_left()), (other.turn(), other.turns_left()));
                let mover = game.position.to_move.unwrap();
                if viewer == Viewer::Seat(mover) {
                    assert_eq!(legal(&game), legal(&other));
                }
                differed += usize::from(view(&game, Viewer::Omniscient) != view(&other, Viewer::Omniscient));

                // The same move in both tells the same, until a seat hands in or gets new cards that the viewer sees.
                let mut one = game.clone();
                let Some(&mv) = moves(&one).iter().find(|mv| moves(&other).contains(mv)) else { continue };
                let facts = [heard(&mut one, mv, viewer), heard(&mut other, mv, viewer)];
                let [first, second] = [&one, &other].map(|game| view(game, viewer));
                if facts[0] == facts[1] && one.position.to_move == other.position.to_move {
                    assert_eq!(first, second, "{viewer:?} sees more than its events show");
                    equal_facts += 1;
                    dealt_alike += usize::from(facts[0].iter().any(|fact| fact.contains("deal")));
                }
            }
        }
    }
    let counts = [differed, equal_facts, dealt_alike];
    assert!(counts.iter().zip([5000, 3000, 5]).all(|(&count, enough)| count >= enough), "{counts:?}");
}

#[test]
fn a_shuffle_reveals_only_the_viewers_own_cards() {
    let mut rng = stream(2);
    for seats in [2, 4, 6] {
        for viewer in (0..seats).map(|seat| Viewer::Seat(Seat(seat))).chain([Viewer::Public]) {
            let mut alike = 0;
            for _ in 0..50 {
                let mut drawn = Vec::new();
                rng.draw(Draw::Shuffle { len: 13 * u16::from(seats) }, &mut drawn);
                // The viewer's cards stay, the others change places.
                let is_own = |at: usize| viewer == Viewer::Seat(Seat((at % usize::from(seats)) as u8));
                let mut others: Vec<u32> =
                    (0..drawn.len()).filter(|&at| !is_own(at)).map(|at| drawn[at]).collect();
                rng.shuffle(&mut others);
                let mut others = others.into_iter();
                let redrawn: Vec<u32> = (0..drawn.len())
                    .map(|at| if is_own(at) { drawn[at] } else { others.next().unwrap() })
                    .collect();
                let [one, other] = [drawn, redrawn].map(|drawn| {
                    let (mut game, mut facts) = (start(seats), Vec::new());
                    game.settle(&drawn, &mut |fact| {
                        facts.push(serde_json::to_string(&fact.as_seen_by(viewer)).unwrap());
                    });
                    (facts, game.position.to_move, view(&game, viewer))
                });
                assert_eq!(one.0[0], other.0[0], "the first deal");
                // After it, hands that are handed in show what they were.
                if (&one.0, one.1) == (&other.0, other.1) {
                    assert_eq!(one.2, other.2);
                    alike += 1;
                }
            }
            assert!(alike > 0, "{viewer:?} among {seats}");
        }
    }
}

fn imagined(game: &Keezen, seat: u8, rng: &mut RandomStream) -> Keezen {
    let seen: Seen = serde_json::from_str(&view(game, Viewer::Seat(Seat(seat)))).unwrap();
    let seating = seating(game.position.board.seats());
    let known =
        Known { options: &Options::default(), seating, seat: Seat(seat), turns_left: Some(game.turns_left) };
    Keezen::imagine(&known, &seen, rng)
}

#[test]
fn sampled_positions_give_same_view_and_contain_whole_deck() {
    let mut rng = stream(3);
    for seats in [2, 4, 6] {
        for game in positions(seats, &mut rng) {
            for seat in 0..seats {
                let imagined = imagined(&game, seat, &mut rng);
                let viewer = Viewer::Seat(Seat(seat));
                assert_eq!(view(&imagined, viewer), view(&game, viewer));
                assert_eq!(imagined.turn(), game.turn());
                assert!(!moves(&imagined).is_empty());
                let position = &imagined.position;
                let mut counts = [0; RANKS];
                let held = position.hands.iter().flat_map(|(_, hand)| hand.cards().to_vec());
                let others = position.pile().iter().chain(position.undealt()).copied();
                held.chain(others).for_each(|card| counts[card as usize] += 1);
                assert_eq!(counts, [seats; RANKS]);
            }
        }
    }
}

#[test]
fn a_visible_partners_hand_is_kept_in_samples() {
    let mut rng = stream(4);
    let game = positions(4, &mut rng).into_iter().rfind(|game| sees(game, 2).len() == 2).unwrap();
    for _ in 0..20 {
        assert_eq!(imagined(&game, 2, &mut rng).position.hands.of(Seat(0)), game.position.hands.of(Seat(0)));
    }
}

/// The frequency of each value of each of these outcomes in 20000 imagined positions, in percent.
fn frequencies<const N: usize>(
    game: &Keezen,
    seat: u8,
    outcomes: [&dyn Fn(&Position) -> String; N],
) -> [BTreeMap<String, f64>; N] {
    let mut rng = stream(5);
    let mut frequencies = [(); N].map(|()| BTreeMap::new());
    for _ in 0..20_000 {
        let imagined = imagined(game, seat, &mut rng);
        for (frequencies, outcome) in frequencies.iter_mut().zip(outcomes) {
            *frequencies.entry(outcome(&imagined.position)).or_default() += 100.0 / 20_000.0;
        }
    }
    frequencies
}

fn assert_near(found: &BTreeMap<String, f64>, expected: &[(&str, f64)]) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.iter().map(|(key, _)| key).collect::<Vec<_>>());
    for (key, percent) in expected {
        // More than four standard deviations.
        assert!((found[*key] - percent).abs() < 1.5, "{key}: {} where {percent} were expected", found[*key]);
    }
}

/// Two seats in the second round: these cards in hand, the rest of 18 on the pile but for eight that are undealt.
fn second_round(pawns: &str, hands: &str, undealt: &str) -> Keezen {
    let mut game = game(pawns, hands);
    let mut left = [2; RANKS];
    let rest: Vec<Rank> = undealt.split(' ').map(|card| Rank::named(card).unwrap()).collect();
    let held = game.position.hands.iter().flat_map(|(_, hand)| hand.cards().to_vec());
    held.chain(rest.iter().copied()).for_each(|card| left[card as usize] -= 1);
    let pile: Vec<Rank> =
        Rank::ALL.into_iter().flat_map(|card| std::iter::repeat_n(card, left[card as usize])).collect();
    game.position.stock = Stock::with(2, &pile, &rest);
    game.position.deal = 1;
    game
}

#[test]
fn unseen_cards_are_sampled_uniformly() {
    let game = second_round("t5|t40", "2|3", "3 5 5 6 6 8 8 9");
    let hand = |position: &Position| position.hands.of(Seat(1)).cards()[0].to_string();
    let ninths = |count: f64| count * 100.0 / 9.0;
    let expected =
        [("3", ninths(2.0)), ("5", ninths(2.0)), ("6", ninths(2.0)), ("8", ninths(2.0)), ("9", ninths(1.0))];
    let first = |position: &Position| position.undealt()[0].to_string();
    let last = |position: &Position| position.undealt()[7].to_string();
    let same = |position: &Position| (position.undealt()[0] == position.undealt()[1]).to_string();
    let [hand, first, last, same] = frequencies(&game, 0, [&hand, &first, &last, &same]);
    assert_near(&hand, &expected);
    assert_near(&first, &expected);
    assert_near(&last, &expected);
    assert_near(&same, &[("false", 800.0 / 9.0), ("true", 100.0 / 9.0)]);
}

#[test]
fn the_seat_to_move_is_sampled_uniformly_among_playable_hands() {
    let mut game = second_round("t5|", "2|A 3", "3 5 5 6 6 8 8 K");
    game.position.to_move = Some(Seat(1));
    let hand = |position: &Position| {
        let cards = position.hands.of(Seat(1));
        cards.cards().iter().filter(|&&card| card >= Rank::King).map(Rank::to_string).collect::<String>()
    };
    // Of 45 hands of two out of ten cards 17 have a king or an ace.
    let of_17 = |count: f64| count * 100.0 / 17.0;
    let [hand] = frequencies(&game, 0, [&hand]);
    assert_near(&hand, &[("A", of_17(8.0)), ("K", of_17(8.0)), ("KA", of_17(1.0))]);
}
