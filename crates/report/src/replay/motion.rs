//! Movements from one scene to the next.

use referee_game::Scene;
use referee_game::scene::{Depth, Form, Part, Shape, Tone};

/// The most shapes of one kind whose move is marked: more of them were dealt out or collected.
const MOST_MARKED: usize = 3;

/// The indices of the shapes of the previous scene with the same ids. Most are the one behind the one before.
fn same_ids(before: &[&Shape], after: &[&Shape]) -> Vec<Option<usize>> {
    let mut next = 0;
    let same = after.iter().map(|&shape| {
        let is_same = |other: &&Shape| other.id == shape.id;
        let (earlier, later) = before.split_at(next);
        let found = later.iter().position(is_same).map(|found| next + found);
        let found = found.or_else(|| earlier.iter().position(is_same));
        next = found.map_or(next, |found| found + 1);
        found
    });
    same.collect()
}

/// For each shape of a scene, the index in the previous one of the shape that it was; `None` if it is new. A shape
/// whose id is new was the nearest removed shape of its kind.
pub(super) fn origins(before: &[&Shape], after: &[&Shape]) -> Vec<Option<usize>> {
    let mut origins = same_ids(before, after);
    let mut is_taken = vec![false; before.len()];
    origins.iter().flatten().for_each(|&origin| is_taken[origin] = true);
    let has_kind = |shape: &Shape| shape.kind.is_some();
    let gone: Vec<_> =
        (0..).zip(before).filter(|(index, shape)| !is_taken[*index] && has_kind(shape)).collect();
    let new = after.iter().enumerate().filter(|(index, shape)| origins[*index].is_none() && has_kind(shape));
    let mut pairs = Vec::new();
    for (index, shape) in new {
        for (origin, other) in gone.iter().filter(|(_, other)| other.kind == shape.kind) {
            let (dx, dy) = (i32::from(shape.x - other.x), i32::from(shape.y - other.y));
            pairs.push((dx * dx + dy * dy, *origin, index));
        }
    }
    pairs.sort_unstable();
    for (_, origin, index) in pairs {
        if !is_taken[origin] && origins[index].is_none() {
            is_taken[origin] = true;
            origins[index] = Some(origin);
        }
    }
    origins
}

/// The form of the lowest part of a shape, larger by this many units.
fn outline(shape: &Shape, by: i16) -> Option<Part> {
    match shape.parts.first()?.form {
        Form::Disc(_, _, radius) => Some(Part::disc(radius + by)),
        Form::Rect(_, _, width, height, radius) => {
            Some(Part::rect(width + 2 * by, height + 2 * by, radius + by))
        }
        Form::Polygon(_) | Form::Text(..) => None,
    }
}

/// The indices of the shapes of a scene that moved and are marked. `origins` are those of `after`.
pub(super) fn moved(before: &[&Shape], after: &[&Shape], origins: &[Option<usize>]) -> Vec<usize> {
    let has_moved = |&index: &usize| {
        let shape = &after[index];
        let is_same = |origin: &Shape| origin.id == shape.id && origin.turn == shape.turn;
        shape.kind.is_some() && !origins[index].is_some_and(|origin| is_same(before[origin]))
    };
    let moved: Vec<usize> = (0..after.len()).filter(has_moved).collect();
    let kind = |index: usize| &after[index].kind;
    let alike = |index: usize| moved.iter().filter(|&&other| kind(other) == kind(index)).count();
    moved.iter().copied().filter(|&index| alike(index) <= MOST_MARKED).collect()
}

fn shapes(scene: &Scene) -> Vec<&Shape> {
    scene.shapes.iter().collect()
}

/// Marks for what moved: where it was and where it is. The player draws the same marks.
pub(super) fn marks(before: &Scene, after: &Scene) -> Vec<Shape> {
    let (before, after) = (shapes(before), shapes(after));
    let origins = origins(&before, &after);
    let mut marks = Vec::new();
    for index in moved(&before, &after, &origins) {
        let shape = after[index];
        let origin = origins[index].map(|origin| before[origin]);
        if let Some(origin) = origin.filter(|origin| (origin.x, origin.y) != (shape.x, shape.y)) {
            let from = Shape::new(Depth::Mark, format!("from-{}", marks.len()), (origin.x, origin.y));
            marks.push(from.with_all(outline(origin, -5).map(|part| part.fill(Tone::Mark))));
        }
        let to = Shape::new(Depth::Mark, format!("to-{}", marks.len()), (shape.x, shape.y));
        marks.push(to.with_all(outline(shape, 5).map(|part| part.line(Tone::Mark, 7))));
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(shapes: &[(&str, &str, i16)]) -> Scene {
        let mut scene = Scene::new(100, 100);
        for &(id, kind, x) in shapes {
            scene.add(Shape::new(Depth::Piece, id, (x, 50)).kind(kind).with(Part::disc(10)));
        }
        scene
    }

    #[test]
    fn new_shape_comes_from_nearest_vanished_one_of_kind() {
        let before = scene(&[("a1", "a", 10), ("a2", "a", 40), ("b1", "b", 60), ("a3", "a", 90)]);
        let after = scene(&[("a3", "a", 90), ("a4", "a", 50), ("c1", "c", 10)]);
        assert_eq!(origins(&shapes(&before), &shapes(&after)), [Some(3), Some(1), None]);
    }

    #[test]
    fn a_move_is_marked_where_it_began_and_ended() {
        let before = scene(&[("a1", "a", 20), ("b1", "b", 60)]);
        let after = scene(&[("a2", "a", 40), ("b1", "b", 60)]);
        let marks = marks(&before, &after);
        let marks: Vec<_> = marks.iter().map(|shape| (&*shape.id, shape.x)).collect();
        assert_eq!(marks, [("from-0", 20), ("to-1", 40)]);
    }
}
