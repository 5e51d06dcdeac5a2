//! What moved from one scene to the next.

use std::collections::HashMap;

use crate::core::Scene;
use crate::core::scene::{Form, Layer, Part, Shape, Tone};

/// The most shapes of one kind whose move is marked: more of them were dealt out or collected.
const MOST_MARKED: usize = 3;

/// For each shape of a scene, the index in the previous one of the shape that it was; `None` if it is new. A shape
/// whose id is new was the nearest shape of its kind that is gone.
pub(super) fn origins(before: &Scene, after: &Scene) -> Vec<Option<usize>> {
    let by_id: HashMap<&str, usize> = before.shapes.iter().map(|shape| &*shape.id).zip(0..).collect();
    let mut origins: Vec<_> = after.shapes.iter().map(|shape| by_id.get(&*shape.id).copied()).collect();
    let mut is_taken = vec![false; before.shapes.len()];
    origins.iter().flatten().for_each(|&origin| is_taken[origin] = true);
    let mut gone: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, shape) in before.shapes.iter().enumerate().filter(|&(index, _)| !is_taken[index]) {
        if let Some(kind) = &shape.kind {
            gone.entry(kind).or_default().push(index);
        }
    }
    let mut pairs = Vec::new();
    for (index, shape) in after.shapes.iter().enumerate().filter(|&(index, _)| origins[index].is_none()) {
        let candidates = shape.kind.as_deref().and_then(|kind| gone.get(kind));
        for &origin in candidates.into_iter().flatten() {
            let Shape { x, y, .. } = before.shapes[origin];
            let (dx, dy) = (i32::from(shape.x - x), i32::from(shape.y - y));
            pairs.push((dx * dx + dy * dy, origin, index));
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

/// The form of the lowest part of a shape, so much larger.
fn outline(shape: &Shape, by: i16) -> Option<Part> {
    match shape.parts.first()?.form {
        Form::Disc(_, _, radius) => Some(Part::disc(radius + by)),
        Form::Rect(_, _, width, height, radius) => {
            Some(Part::rect(width + 2 * by, height + 2 * by, radius + by))
        }
        Form::Polygon(_) | Form::Text(..) => None,
    }
}

/// Adds marks for what moved: where it was and where it is.
pub(super) fn mark(before: &Scene, after: &mut Scene) {
    let mut moved: Vec<(&Shape, Option<&Shape>)> = Vec::new();
    for (shape, origin) in after.shapes.iter().zip(origins(before, after)) {
        let origin = origin.map(|origin| &before.shapes[origin]);
        let is_same = |origin: &Shape| origin.id == shape.id && origin.turn == shape.turn;
        if shape.kind.is_some() && !origin.is_some_and(is_same) {
            moved.push((shape, origin));
        }
    }
    let mut marks = Vec::new();
    for (shape, origin) in &moved {
        if moved.iter().filter(|(other, _)| other.kind == shape.kind).count() > MOST_MARKED {
            continue;
        }
        if let Some(origin) = origin.filter(|origin| (origin.x, origin.y) != (shape.x, shape.y)) {
            let from = Shape::new(Layer::Mark, format!("from-{}", marks.len()), (origin.x, origin.y));
            marks.push(from.with_all(outline(origin, -5).map(|part| part.fill(Tone::Mark))));
        }
        let to = Shape::new(Layer::Mark, format!("to-{}", marks.len()), (shape.x, shape.y));
        marks.push(to.with_all(outline(shape, 5).map(|part| part.line(Tone::Mark, 7))));
    }
    after.shapes.extend(marks);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(shapes: &[(&str, &str, i16)]) -> Scene {
        let mut scene = Scene::new(100, 100);
        for &(id, kind, x) in shapes {
            scene.add(Shape::new(Layer::Piece, id, (x, 50)).kind(kind).with(Part::disc(10)));
        }
        scene
    }

    #[test]
    fn a_new_shape_was_the_nearest_one_of_its_kind_that_is_gone() {
        let before = scene(&[("a1", "a", 10), ("a2", "a", 40), ("b1", "b", 60), ("a3", "a", 90)]);
        let after = scene(&[("a3", "a", 90), ("a4", "a", 50), ("c1", "c", 10)]);
        assert_eq!(origins(&before, &after), [Some(3), Some(1), None]);
    }

    #[test]
    fn a_move_is_marked_where_it_began_and_ended() {
        let before = scene(&[("a1", "a", 20), ("b1", "b", 60)]);
        let mut after = scene(&[("a2", "a", 40), ("b1", "b", 60)]);
        mark(&before, &mut after);
        let marks: Vec<_> = after.shapes[2..].iter().map(|shape| (&*shape.id, shape.x)).collect();
        assert_eq!(marks, [("from-0", 20), ("to-1", 40)]);
    }
}
