//! What holds for the scene of every position.

use super::secrets::{imagined, seat_and_public};
use super::*;
use referee_game::scene::{Depth, Form, Part};
use referee_game::{Scene, Scenes};

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
            let largest = shape.parts.iter().map(extent).max();
            assert!(largest.is_some_and(|extent| extent <= width.max(height)), "{shape:?} is too large");
            // What moves is drawn entirely.
            if shape.kind.is_some() {
                let extent = largest.unwrap();
                let inner = |at: i16, size: i16| extent <= at && at + extent <= size;
                assert!(inner(shape.x, width) && inner(shape.y, height), "{shape:?} crosses the edge");
            }
        }
        let lines = scene.lines();
        assert!(!scene.words.is_empty() && lines.iter().all(|line| !line.is_empty()), "{lines:?}");
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
        assert_eq!(scene.layout, first.layout);
        let board = |scene: &Scene| {
            let shapes = scene.all().filter(|shape| shape.id == "board");
            shapes.cloned().collect::<Vec<_>>()
        };
        assert_eq!(board(&scene), board(&first));
    });
}

pub(crate) fn layouts_have_distinct_places_and_lists_of_all_pieces<G: Game>() {
    each_scene::<G>(|_, position, _, scene| {
        let Some(layout) = &scene.layout else { return };
        let places: Vec<_> = layout.rows.iter().flat_map(|row| &row.places).collect();
        assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), places.len(), "rows share a place");
        let on_rows = scene.shapes.iter().filter(|shape| shape.layer == Depth::Piece);
        let on_rows: Vec<_> =
            on_rows.map(|shape| (shape.x, shape.y)).filter(|at| places.contains(&at)).collect();
        assert_eq!(
            on_rows.iter().collect::<BTreeSet<_>>().len(),
            on_rows.len(),
            "two pieces at one place of {position:?}"
        );
        assert!(layout.lists.is_sorted_by(|list, next| list.line < next.line));
        assert!(layout.lists.iter().all(|list| list.line < scene.words.len() + layout.lists.len()));
        for list in &layout.lists {
            assert!(list.rows.iter().all(|&(row, from)| from < layout.rows[row].places.len()), "{list:?}");
        }
    });
}

pub(crate) fn scenes_for_several_viewers_are_those_of_each<G: Game>() {
    sample::<G>(
        |_| true,
        |seating, position| {
            let viewers: Vec<Viewer> = viewers(seating).collect();
            let merged = Scenes::merged(viewers.iter().map(|&viewer| position.scene(viewer)));
            let scenes = position.scenes(&viewers);
            let shapes = |scenes: &Scenes| scenes.groups.concat();
            assert_eq!(shapes(&scenes), shapes(&merged), "{position:?}");
            assert_eq!((scenes.scene, scenes.lines), (merged.scene, merged.lines), "{position:?}");
        },
    );
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
