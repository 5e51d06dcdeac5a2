//! The scenes of a position for several viewers as one: most shapes are the same in all of them, and some look
//! different, such as the back of a card.

use std::sync::Arc;

use crate::Scene;
use crate::scene::Shape;

/// The number of shapes among which [`Scenes::merged`] looks for the one of the first view.
const AHEAD: usize = 16;

/// A shape and the views that show it, as masks: sets of views, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenShape {
    /// The shape.
    pub shape: Arc<Shape>,
    /// The views that show it as it is.
    pub mask: u32,
    /// The views that show another shape at its place.
    pub others: u32,
    /// The shape that the others show.
    pub other: Option<Arc<Shape>>,
}

/// Shapes that change together. Consecutive positions may share a group.
pub type Group = Arc<[SeenShape]>;

/// A line of words: the texts of it, with the masks of the views that have them. `None`: the views have no such line.
pub type WordLine = Vec<(u32, Option<Arc<str>>)>;

/// The scenes of a position for several viewers.
#[derive(Debug)]
pub struct Scenes {
    /// The scene of the first view, without its shapes and words.
    pub scene: Scene,
    /// The shapes of the first view, followed by those that only others show.
    pub groups: Vec<Group>,
    /// The words by line.
    pub lines: Vec<WordLine>,
    /// The number of views.
    views: usize,
}

/// The set of the first views, at most 31 of them.
pub const fn all(views: usize) -> u32 {
    (1 << views) - 1
}

fn is_at_place_of(one: &Shape, other: &Shape) -> bool {
    (one.layer, one.x, one.y, one.turn) == (other.layer, other.x, other.y, other.turn)
}

impl SeenShape {
    /// A shape that these views show.
    pub const fn by(mask: u32, shape: Arc<Shape>) -> SeenShape {
        SeenShape { shape, mask, others: 0, other: None }
    }

    /// Adds the view to those that show the shape or the other one, if this is what it shows at the place of the shape.
    fn is_shown_as(&mut self, shape: &Arc<Shape>, view: u32) -> bool {
        if Arc::ptr_eq(&self.shape, shape) {
            self.mask |= view;
            return true;
        }
        if !is_at_place_of(&self.shape, shape) {
            return false;
        }
        if self.shape.parts == shape.parts {
            self.mask |= view;
            return true;
        }
        let other = self.other.get_or_insert_with(|| shape.clone());
        let is_other = Arc::ptr_eq(other, shape) || other.parts == shape.parts;
        if is_other {
            self.others |= view;
        }
        is_other
    }
}

impl Scenes {
    /// A scene that this many viewers, at most 31, see alike, with further groups.
    pub fn shared(mut scene: Scene, views: usize, groups: Vec<Group>) -> Scenes {
        let words = std::mem::take(&mut scene.words).into_iter();
        let lines = words.map(|line| vec![(all(views), Some(line))]).collect();
        Scenes { scene, groups, lines, views }
    }

    /// The scenes of several viewers, at least one and at most 31.
    pub fn merged(mut scenes: impl Iterator<Item = Scene>) -> Scenes {
        let mut first = scenes.next().unwrap_or_else(|| unreachable!("there is a viewer"));
        let mut shapes: Vec<_> =
            std::mem::take(&mut first.shapes).into_iter().map(|shape| SeenShape::by(1, shape)).collect();
        let (mut merged, own) = (Scenes::shared(first, 1, Vec::new()), shapes.len());
        for scene in scenes {
            merged.add(scene, &mut shapes, own);
        }
        merged.groups.push(shapes.into());
        merged
    }

    /// The mask of all views.
    pub const fn all(&self) -> u32 {
        all(self.views)
    }

    /// The scene of the first view.
    pub fn into_first(self) -> Scene {
        let shapes = self.groups.iter().flat_map(|group| group.iter()).filter(|seen| seen.mask & 1 == 1);
        let shapes = shapes.map(|seen| seen.shape.clone()).collect();
        let of_first = |line: WordLine| line.into_iter().find(|(mask, _)| mask & 1 == 1)?.1;
        Scene { shapes, words: self.lines.into_iter().filter_map(of_first).collect(), ..self.scene }
    }

    /// Adds the scene of the next view. The first `own` shapes are those of the first view.
    fn add(&mut self, scene: Scene, shapes: &mut Vec<SeenShape>, own: usize) {
        let (known, view) = (self.all(), 1 << self.views);
        let mut next = 0;
        for shape in scene.shapes {
            let ahead = (next..own).take(AHEAD);
            match ahead.into_iter().find(|&index| shapes[index].is_shown_as(&shape, view)) {
                Some(index) => next = index + 1,
                None => add_extra(shapes, own, &shape, view),
            }
        }
        let lines = scene.words.len().max(self.lines.len());
        self.lines.resize_with(lines, || vec![(known, None)]);
        let words = scene.words.into_iter().map(Some).chain(std::iter::repeat(None));
        for (line, words) in self.lines.iter_mut().zip(words) {
            match line.iter_mut().find(|(_, other)| *other == words) {
                Some((mask, _)) => *mask |= view,
                None => line.push((view, words)),
            }
        }
        self.views += 1;
    }
}

/// Adds a shape that the first view does not show.
fn add_extra(shapes: &mut Vec<SeenShape>, own: usize, shape: &Arc<Shape>, view: u32) {
    // The id may be that of a shape of the first view.
    let id = format!("{} ", shape.id);
    let is_same =
        |other: &Shape| other.id == id && is_at_place_of(other, shape) && other.parts == shape.parts;
    match shapes[own..].iter_mut().find(|other| is_same(&other.shape)) {
        Some(other) => other.mask |= view,
        None => shapes.push(SeenShape::by(view, Shape { id, ..Shape::clone(shape) }.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Depth, Part};

    fn scene(shapes: &[(&str, i16, i16)], words: &[&str]) -> Scene {
        let mut scene = Scene::new(100, 100);
        for &(id, x, radius) in shapes {
            scene.add(Shape::new(Depth::Piece, id, (x, 50)).with(Part::disc(radius)));
        }
        words.iter().for_each(|&line| scene.say(line));
        scene
    }

    #[test]
    fn views_share_shapes_or_show_others_at_their_places() {
        let scenes = [
            scene(&[("a", 10, 1), ("b", 20, 2), ("c", 30, 3)], &["x", "y"]),
            scene(&[("a", 10, 1), ("back", 20, 9), ("c", 40, 3)], &["x"]),
            scene(&[("back", 20, 9), ("c", 30, 3), ("c", 40, 3)], &["z", "y", "w"]),
        ];
        let merged = Scenes::merged(scenes.iter().cloned());
        let seen = merged.groups[0].iter();
        let seen: Vec<_> = seen.map(|seen| (&*seen.shape.id, seen.mask, seen.others)).collect();
        assert_eq!(seen, [("a", 0b11, 0), ("b", 0b1, 0b110), ("c", 0b101, 0), ("c ", 0b110, 0)]);
        assert_eq!(merged.groups[0][1].other.as_ref().expect("the back").id, "back");
        let text = |text: &str| Some(Arc::from(text));
        assert_eq!(
            merged.lines,
            [
                vec![(0b11, text("x")), (0b100, text("z"))],
                vec![(0b101, text("y")), (0b10, None)],
                vec![(0b11, None), (0b100, text("w"))]
            ]
        );
        assert_eq!(merged.into_first(), scenes[0]);
    }
}
