//! Invariants of the scene of every position.

use super::secrets::{imagined, seat_and_public};
use super::*;
use referee_game::Scene;
use referee_game::scene::{Form, Part};

/// The extent of a part around the origin of its shape, whatever its rotation: its farthest coordinate.
fn extent(part: &Part) -> i16 {
    let of_rect = |x: i16, y: i16, width: i16, height: i16| {
        [x, y, x + width, y + height].map(i16::abs).into_iter().max().unwrap()
    };
    match &part.form {
        &Form::Rect(x, y, width, height, _) => of_rect(x, y, width, height),
        &Form::Disc(x, y, radius) => x.abs().max(y.abs()) + radius,
        Form::Polygon(points) => points.iter().map(|(x, y)| x.abs().max(y.abs())).max().unwrap(),
        &Form::Text(x, y, size, _) => x.abs().max(y.abs()) + size / 2,
    }
}

fn each_scene<G: Game>(mut look: impl FnMut(Seating, &G, Viewer, Scene)) {
    sample::<G>(
        |_| true,
        |seating, position| {
            viewers(seating).for_each(|viewer| look(seating, position, viewer, position.scene(viewer)));
        },
    );
}

pub(crate) fn scenes_have_unique_ids_and_lie_within_their_bounds<G: Game>() {
    each_scene::<G>(|_, position, _, scene| {
        let (width, height) = (scene.width, scene.height);
        assert!((1..=Scene::MOST_UNITS).contains(&width) && (1..=Scene::MOST_UNITS).contains(&height));
        let ids: BTreeSet<&str> = scene.all().map(|shape| &*shape.id).collect();
        assert_eq!(ids.len(), scene.all().count(), "an id occurs twice in the scene of {position:?}");
        for shape in scene.all() {
            let is_within = (0..=width).contains(&shape.x) && (0..=height).contains(&shape.y);
            assert!(is_within, "{shape:?} is outside of {width}x{height}");
            // Names take the place of these labels.
            for (n, part) in shape.parts.iter().enumerate() {
                let Form::Text(_, _, size, text) = &part.form else { continue };
                let before = n.checked_sub(1).map(|before| &shape.parts[before].form);
                let has_plate = matches!(before, Some(Form::Rect(_, _, width, ..)) if *width >= 7 * size);
                assert!(has_plate || !text.starts_with("seat "), "{shape:?} has no room for a name");
            }
            let largest = shape.parts.iter().map(extent).max();
            assert!(largest.is_some_and(|extent| extent <= width.max(height)), "{shape:?} is too large");
            // Moving shapes are drawn entirely.
            if shape.kind.is_some() {
                let extent = largest.unwrap();
                let inner = |at: i16, size: i16| extent <= at && at + extent <= size;
                assert!(inner(shape.x, width) && inner(shape.y, height), "{shape:?} crosses the edge");
            }
        }
        let words = &scene.words;
        assert!(!words.is_empty() && words.iter().all(|line| !line.is_empty()), "{words:?}");
    });
}

pub(crate) fn scenes_of_a_match_share_size_and_seats<G: Game>() {
    each_scene::<G>(|seating, _, _, scene| {
        let first = G::start(&G::Options::default(), seating).unwrap().scene(Viewer::Public);
        assert_eq!((scene.width, scene.height), (first.width, first.height));
        assert_eq!(scene.seats, first.seats);
        assert_eq!(scene.seats.len(), seating.seats());
        // The board does not change.
        assert_eq!(scene.ground, first.ground);
        let board = |scene: &Scene| {
            let shapes = scene.all().filter(|shape| shape.id == "board");
            shapes.cloned().collect::<Vec<_>>()
        };
        assert_eq!(board(&scene), board(&first));
    });
}

pub(crate) fn scenes_reveal_no_more_than_the_view<G: Imagine>() {
    let mut rng = stream(u8::MAX);
    let (mut differed, mut count) = (false, 0);
    for number in 0..u8::MAX {
        for &seating in G::META.seatings {
            for position in
                playout::<G>(seating, number).iter().filter(|game| is_decision(game.turn())).take(SAMPLE)
            {
                for seat in seating.all().iter() {
                    let imagined = imagined(position, seating, seat, &mut rng);
                    for viewer in seat_and_public(seat) {
                        assert_eq!(
                            position.scene(viewer),
                            imagined.scene(viewer),
                            "{viewer:?} sees {imagined:?}"
                        );
                    }
                    differed |= position.scene(Viewer::Omniscient) != imagined.scene(Viewer::Omniscient);
                }
                count += 1;
            }
        }
        if count >= SCENES {
            break;
        }
    }
    assert!(count >= SCENES, "only {count} positions");
    assert_eq!(differed, G::META.hidden, "the scene of the omniscient viewer shows the secrets");
}

pub(crate) fn moves_have_places_of_the_scene_in_order<G: Game>() {
    sample::<G>(is_decision, |_, position| {
        let Turn::Decide(seats) = position.turn() else { return };
        for seat in seats.iter() {
            let scene = position.scene(Viewer::Seat(seat));
            let ids: BTreeSet<&str> = scene.all().map(|shape| &*shape.id).collect();
            for mv in legal(position, seat) {
                let places = position.places(seat, mv);
                let are_shown = places.iter().all(|place| ids.contains(&**place));
                assert!(are_shown, "{places:?} of {mv} are not all in the scene of {position:?}");
            }
        }
    });
}
