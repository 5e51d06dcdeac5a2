//! Secrets of a seat, and the worlds that a bot imagines.

use super::*;
use crate::battery;
use crate::xe_queo::position::other;
use referee_game::chance::{RandomKey, RandomStream};

fn imagined(game: &XeQueo, viewer: Viewer, seat: Seat, rng: &mut RandomStream) -> XeQueo {
    let seen = serde_json::from_str(&battery::view(game, viewer)).unwrap();
    let (options, seating) = (&Options::default(), XeQueo::META.seatings[0]);
    XeQueo::imagine(&Known { options, seating, seat, turns_left: None }, &seen, rng)
}

#[test]
fn only_choices_are_secret() {
    let game = set_up(SCATTERED);
    for seat in [ZERO, ONE] {
        assert!(game.is_secret(seat, "choose red".parse().unwrap()));
        for public in ["ring d4", "move red d4", "accuse red"] {
            assert!(!game.is_secret(seat, public.parse().unwrap()));
        }
    }
}

#[test]
fn moves_do_not_bias_the_sampled_choice_of_the_opponent() {
    let game = formats::of_the_page();
    for seat in [ZERO, ONE] {
        let rng = &mut RandomKey([3; 32]).stream();
        let mut times = [0; 7];
        for _ in 0..7000 {
            let imagined = imagined(&game, Viewer::Seat(seat), seat, rng);
            let own = game.position.choices[seat.index()];
            assert_eq!(imagined.position.choices[seat.index()], own);
            times[imagined.position.choices[other(seat).index()].unwrap() as usize] += 1;
            // Nothing else differs.
            assert_eq!(battery::view(&imagined, Viewer::Public), battery::view(&game, Viewer::Public));
        }
        // The standard deviation is 29.
        assert!(times.iter().all(|times| (880..1120).contains(times)), "{times:?}");
    }
}

#[test]
fn public_state_is_sampled_exactly() {
    let rng = &mut RandomKey([4; 32]).stream();
    let mut game = set_up(SCATTERED);
    let mut check = |game: &XeQueo| {
        for seat in [ZERO, ONE] {
            let imagined = imagined(game, Viewer::Seat(seat), seat, rng);
            assert_eq!(imagined.key(), game.key());
            assert_eq!(imagined.turn(), game.turn());
        }
    };
    for number in 0..7 {
        check(&game);
        play(&mut game, "ring d4");
        check(&game);
        choose(&mut game, ["red", "red"]);
        play(&mut game, if number % 2 == 0 { "accuse red" } else { "accuse blue" });
    }
    check(&game);
    assert!(matches!(game.turn(), Turn::Over(_)));
}

#[test]
fn a_spectators_samples_vary_both_choices() {
    let rng = &mut RandomKey([5; 32]).stream();
    let game = formats::of_the_page();
    let choices: BTreeSet<[Option<Pawn>; 2]> =
        (0..2000).map(|_| imagined(&game, Viewer::Public, ZERO, rng).position.choices).collect();
    assert_eq!(choices.len(), 49);
}
