//! The scenes of a position for several viewers as one: most shapes are the same in all of them, and some look
//! different, such as the back of a card.

use std::sync::Arc;

use crate::core::Scene;
use crate::core::scene::Shape;

/// The number of shapes among which [`Scenes::add`] looks for the one of the first view.
const AHEAD: usize = 16;

/// The views that show a shape, as masks: sets of views, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The views that show it as it is.
    pub mask: u32,
    /// The views that show another shape at its place.
    pub others: u32,
    /// The shape that the others show.
    pub other: Option<Arc<Shape>>,
}

/// A line of words: the texts of it, with the masks of the views that have them. `None`: the views have no such line.
pub type Line = Vec<(u32, Option<Arc<str>>)>;

/// The scenes of a position for several viewers.
#[derive(Debug, PartialEq, Eq)]
pub struct Scenes {
    /// The scene of the first view, followed by the shapes that only others show.
    pub scene: Scene,
    /// By shape: the views that show it.
    pub seen: Vec<Seen>,
    /// The words by line.
    pub lines: Vec<Line>,
    /// The number of views so far.
    views: u32,
    /// The number of shapes of the first view.
    own: usize,
}

fn is_at_place_of(one: &Shape, other: &Shape) -> bool {
    (one.layer, one.x, one.y, one.turn) == (other.layer, other.x, other.y, other.turn)
}

impl Scenes {
    /// The scene of one viewer.
    pub fn of(scene: Scene) -> Scenes {
        Scenes::shared(scene, 1)
    }

    /// A scene that this many viewers, at most 31, see alike.
    pub fn shared(scene: Scene, views: usize) -> Scenes {
        let all = (1 << views) - 1;
        let lines = scene.words.iter().map(|words| vec![(all, Some(words.clone()))]).collect();
        let seen = vec![Seen { mask: all, ..Seen::default() }; scene.shapes.len()];
        Scenes { seen, lines, own: scene.shapes.len(), scene, views: views as u32 }
    }

    /// Adds a shape to a scene that all viewers saw alike: the views of the mask, among them the first one, show it, and
    /// the others show another shape at its place.
    pub fn add_shape(&mut self, shape: Arc<Shape>, mask: u32, other: &Arc<Shape>) {
        let others = self.all() & !mask;
        self.seen.push(Seen { mask, others, other: (others != 0).then(|| other.clone()) });
        self.scene.add(shape);
        self.own += 1;
    }

    /// The mask of all views.
    pub fn all(&self) -> u32 {
        (1 << self.views) - 1
    }

    /// Adds the scene of the next view.
    pub fn add(&mut self, scene: Scene) {
        let view = 1 << self.views;
        let mut next = 0;
        for shape in scene.shapes {
            let ahead = (next..self.own).take(AHEAD);
            match ahead.into_iter().find(|&index| self.shows(index, &shape, view)) {
                Some(index) => next = index + 1,
                None => self.add_extra(&shape, view),
            }
        }
        let known = self.all();
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

    /// Adds the view to those that show a shape, if this is what it shows at the place of the shape.
    fn shows(&mut self, index: usize, shape: &Arc<Shape>, view: u32) -> bool {
        let (own, seen) = (&self.scene.shapes[index], &mut self.seen[index]);
        if Arc::ptr_eq(own, shape) {
            seen.mask |= view;
            return true;
        }
        if !is_at_place_of(own, shape) {
            return false;
        }
        if own.parts == shape.parts {
            seen.mask |= view;
            return true;
        }
        let other = seen.other.get_or_insert_with(|| shape.clone());
        let is_other = Arc::ptr_eq(other, shape) || other.parts == shape.parts;
        if is_other {
            seen.others |= view;
        }
        is_other
    }

    /// Adds a shape that the first view does not show.
    fn add_extra(&mut self, shape: &Arc<Shape>, view: u32) {
        let own = self.own;
        // The id may be that of a shape of the first view.
        let id = format!("{} ", shape.id);
        let is_same =
            |other: &Arc<Shape>| other.id == id && is_at_place_of(other, shape) && other.parts == shape.parts;
        match self.scene.shapes[own..].iter().position(is_same) {
            Some(index) => self.seen[own + index].mask |= view,
            None => {
                self.scene.add(Shape { id, ..Shape::clone(shape) });
                self.seen.push(Seen { mask: view, ..Seen::default() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::scene::{Depth, Part};

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
        let mut merged = Scenes::of(scene(&[("a", 10, 1), ("b", 20, 2), ("c", 30, 3)], &["x", "y"]));
        merged.add(scene(&[("a", 10, 1), ("back", 20, 9), ("c", 40, 3)], &["x"]));
        merged.add(scene(&[("back", 20, 9), ("c", 30, 3), ("c", 40, 3)], &["z", "y", "w"]));
        let seen = merged.scene.shapes.iter().zip(&merged.seen);
        let seen: Vec<_> = seen.map(|(shape, seen)| (&*shape.id, seen.mask, seen.others)).collect();
        assert_eq!(seen, [("a", 0b11, 0), ("b", 0b1, 0b110), ("c", 0b101, 0), ("c ", 0b110, 0)]);
        assert_eq!(merged.seen[1].other.as_ref().expect("the back").id, "back");
        let text = |text: &str| Some(Arc::from(text));
        assert_eq!(
            merged.lines,
            [
                vec![(0b11, text("x")), (0b100, text("z"))],
                vec![(0b101, text("y")), (0b10, None)],
                vec![(0b11, None), (0b100, text("w"))]
            ]
        );
    }
}
