//! The parts of a match that a page shows: things, which are shapes over time, and their changes from step to step.

use referee_game::Scene;
use referee_game::scene::{Form, Part, Shape};
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::motion::{moved, origins};
use super::svg::{classes, polygon};

/// The number of shapes of the first view among which the place of a shape of another view is looked for.
const AHEAD: usize = 16;

/// A shape over time. Some views may show another look at its place, such as the back of a card.
#[derive(Debug)]
struct Thing {
    number: u32,
    /// The shape in the first view that shows it.
    shape: Shape,
    /// Masks of views with the looks that they show.
    looks: Vec<(u32, u32)>,
}

impl Thing {
    fn mask(&self) -> u32 {
        self.looks.iter().fold(0, |all, (mask, _)| all | mask)
    }

    fn is_at_place_of(&self, shape: &Shape) -> bool {
        let place = |shape: &Shape| (shape.layer, shape.x, shape.y, shape.turn);
        place(&self.shape) == place(shape)
    }

    fn is_drawn_as(&self, other: &Thing) -> bool {
        self.is_at_place_of(&other.shape) && self.looks == other.looks
    }

    /// Adds views that show this look.
    fn add(&mut self, views: u32, look: u32) {
        match self.looks.iter_mut().find(|(_, known)| *known == look) {
            Some((mask, _)) => *mask |= views,
            None => self.looks.push((views, look)),
        }
    }

    fn changes(&self) -> impl Iterator<Item = Change> {
        self.looks.iter().map(|&(mask, look)| Change {
            mask,
            thing: self.number,
            drawn: Some(Drawn::of(&self.shape, look)),
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Drawn {
    x: i16,
    y: i16,
    look: u32,
    layer: u8,
    /// `None` for a thing that stays upright.
    turn: Option<i16>,
}

impl Drawn {
    fn of(shape: &Shape, look: u32) -> Drawn {
        let &Shape { layer, x, y, turn, .. } = shape;
        Drawn { x, y, look, layer: layer as u8, turn }
    }
}

/// A change of a thing in some views.
#[derive(Debug)]
pub(super) struct Change {
    mask: u32,
    thing: u32,
    /// `None` if these views no longer show it.
    drawn: Option<Drawn>,
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &Change { mask, thing, drawn } = self;
        match drawn {
            Some(Drawn { x, y, look, layer, turn: Some(turn) }) => {
                (mask, thing, x, y, look, layer, turn).serialize(serializer)
            }
            Some(Drawn { x, y, look, layer, turn: None }) => {
                (mask, thing, x, y, look, layer).serialize(serializer)
            }
            None => (mask, thing).serialize(serializer),
        }
    }
}

/// A changed line of words: mask, line, text; `None`: this line and the following ones were removed.
pub(super) type ChangedLine = (u32, usize, Option<String>);

/// The differences from the position before.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The changes, sorted by thing.
    pub(super) things: Vec<Change>,
    /// The things that moved and are marked: mask, number.
    pub(super) moved: Vec<(u32, u32)>,
    pub(super) words: Vec<ChangedLine>,
}

/// The things, words and looks in the views of a match.
#[derive(Debug, Default)]
pub(super) struct ShownScenes {
    /// The number of things so far.
    count: u32,
    /// The things of the latest position, except the ground.
    things: Vec<Thing>,
    /// The words of the latest position, by view.
    words: Vec<Vec<String>>,
    by_parts: FxHashMap<Vec<Part>, u32>,
    /// The looks of shapes, as the player reads them.
    pub(super) looks: Vec<Vec<Value>>,
}

/// A part as the player draws it: the letter of its form, its classes, the width of its line, its measures.
fn part(part: &Part) -> Value {
    let (class, width) = (classes(part), part.line.map_or(0, |(_, width)| width));
    match &part.form {
        Form::Rect(x, y, w, h, r) => json!(["r", class, width, x, y, w, h, r]),
        Form::Disc(x, y, r) => json!(["d", class, width, x, y, r]),
        Form::Polygon(points) => json!(["p", class, width, polygon(points)]),
        Form::Text(x, y, size, text) => json!(["t", class, width, x, y, size, text]),
    }
}

/// A shape as a place of moves: its name for people, where it is, and the outline by which it is pointed at.
#[derive(Debug, Serialize)]
pub struct ShownPlace {
    name: String,
    x: i16,
    y: i16,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<i16>,
    form: Value,
}

impl ShownPlace {
    /// The place of a shape; `None` if it has nothing but text.
    pub fn of(shape: &Shape) -> Option<ShownPlace> {
        let outline = shape.parts.iter().find(|part| !matches!(part.form, Form::Text(..)))?;
        Some(ShownPlace {
            name: shape.id.replace('-', " "),
            x: shape.x,
            y: shape.y,
            turn: shape.turn,
            form: part(&Part { fill: None, line: None, ..outline.clone() }),
        })
    }
}

impl ShownScenes {
    fn look(&mut self, parts: &[Part]) -> u32 {
        if let Some(&look) = self.by_parts.get(parts) {
            return look;
        }
        let look = self.looks.len() as u32;
        self.looks.push(parts.iter().map(part).collect());
        self.by_parts.insert(parts.to_vec(), look);
        look
    }

    fn new_thing(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    /// The shapes of all views, those of the first one at the beginning. They have no numbers yet.
    fn merged(&mut self, scenes: Vec<Vec<Shape>>) -> Vec<Thing> {
        let mut things: Vec<Thing> = Vec::new();
        let own = scenes.first().map_or(0, Vec::len);
        for (view, shapes) in scenes.into_iter().enumerate() {
            let (mask, mut next) = (1 << view, 0);
            for mut shape in shapes {
                let look = self.look(&shape.parts);
                let is_other = |thing: &Thing| thing.mask() & mask == 0 && thing.is_at_place_of(&shape);
                let mut places = (next..own).take(AHEAD).chain(own..things.len());
                if let Some(at) = places.find(|&at| things.get(at).is_some_and(is_other)) {
                    things[at].add(mask, look);
                    next = if at < own { at + 1 } else { next };
                    continue;
                }
                if view > 0 {
                    // The id may be that of a shape of another view.
                    shape.id = format!("{} {view}", shape.id);
                }
                things.push(Thing { number: 0, shape, looks: vec![(mask, look)] });
            }
        }
        things
    }

    /// Shows the next position, given its scene in each view, at most 31.
    pub(super) fn show(&mut self, mut scenes: Vec<Scene>) -> Changes {
        let is_first = self.count == 0;
        let words = scenes.iter_mut().map(|scene| std::mem::take(&mut scene.words)).collect();
        let mut changes = Changes { words: self.say(words), ..Changes::default() };
        if let Some(ground) = scenes.first().and_then(|scene| scene.ground.clone()).filter(|_| is_first) {
            let mask = (1 << scenes.len()) - 1;
            for shape in &*ground {
                let drawn = Drawn::of(shape, self.look(&shape.parts));
                changes.things.push(Change { mask, thing: self.new_thing(), drawn: Some(drawn) });
            }
        }
        let mut things = self.merged(scenes.into_iter().map(|scene| scene.shapes).collect());
        let before = std::mem::take(&mut self.things);
        let (old, new): (Vec<&Shape>, Vec<&Shape>) = (
            before.iter().map(|thing| &thing.shape).collect(),
            things.iter().map(|thing| &thing.shape).collect(),
        );
        let origins = origins(&old, &new);
        let moved = if is_first { Vec::new() } else { moved(&old, &new, &origins) };
        let mut is_gone = vec![true; before.len()];
        for (index, (thing, origin)) in things.iter_mut().zip(origins).enumerate() {
            let origin = origin.map(|origin| {
                is_gone[origin] = false;
                &before[origin]
            });
            thing.number = origin.map_or_else(|| self.new_thing(), |origin| origin.number);
            let has_moved = moved.contains(&index);
            if has_moved {
                changes.moved.push((thing.mask(), thing.number));
            }
            if has_moved || origin.is_none_or(|origin| !origin.is_drawn_as(thing)) {
                let lost = origin.map_or(0, Thing::mask) & !thing.mask();
                changes.things.extend(thing.changes());
                changes.things.extend(removed(thing.number, lost));
            }
        }
        for (thing, _) in before.iter().zip(is_gone).filter(|&(_, is_gone)| is_gone) {
            changes.things.extend(removed(thing.number, thing.mask()));
        }
        changes.things.sort_by_key(|change| change.thing);
        self.things = things;
        changes
    }

    /// Returns the changed lines of words.
    fn say(&mut self, words: Vec<Vec<String>>) -> Vec<ChangedLine> {
        self.words.resize_with(words.len(), Vec::new);
        let lines = words.iter().chain(&self.words).map(Vec::len).max().unwrap_or_default();
        let mut changes: Vec<ChangedLine> = Vec::new();
        for line in 0..lines {
            let first = changes.len();
            for (view, (before, now)) in self.words.iter().zip(&words).enumerate() {
                let (mask, text) = (1 << view, now.get(line));
                if before.get(line) == text {
                    continue;
                }
                match changes[first..].iter_mut().find(|(.., known)| known.as_ref() == text) {
                    Some((known, ..)) => *known |= mask,
                    None => changes.push((mask, line, text.cloned())),
                }
            }
        }
        self.words = words;
        changes
    }
}

/// The change of a thing that these views no longer show.
fn removed(thing: u32, mask: u32) -> Option<Change> {
    (mask != 0).then_some(Change { mask, thing, drawn: None })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use referee_game::DrawOf;
    use referee_game::chance::{RandomKey, Uniform};
    use referee_game::{Game, Scene, Seating, Turn, Viewer};
    use referee_games::keezen::Keezen;
    use referee_games::xe_queo::XeQueo;

    use super::*;

    /// The positions of a match of random moves.
    fn positions<G: Game>(seating: Seating) -> Vec<G> {
        let mut rng = RandomKey([7; 32]).stream();
        let mut position = G::start(&G::Options::default(), seating).expect("the options are valid");
        let (mut positions, mut moves, mut drawn) = (vec![position.clone()], Vec::new(), Vec::new());
        while positions.len() < 300 {
            match position.turn() {
                Turn::Decide(seats) => {
                    for seat in seats.iter() {
                        moves.clear();
                        position.legal_moves(seat, &mut moves);
                        let any = rng.uniform(moves.len() as u64) as usize;
                        position.play_unchecked(seat, moves[any], &mut |_| {});
                    }
                }
                Turn::Draw(draw) => {
                    rng.draw(draw.into(), &mut drawn);
                    draw.settle(&mut position, &drawn, &mut |_| {});
                }
                Turn::Over(_) => break,
            }
            positions.push(position.clone());
        }
        positions
    }

    /// The shapes of a scene in a view.
    fn drawn_in(shown: &mut ShownScenes, scene: &Scene) -> Vec<String> {
        let states = scene.all().map(|shape| format!("{:?}", Drawn::of(shape, shown.look(&shape.parts))));
        let mut states: Vec<_> = states.collect();
        states.sort();
        states
    }

    fn views_show_their_scenes<G: Game>(seats: u8, sides: u8) {
        let seating = Seating::new(seats, sides);
        let viewers = [Viewer::Omniscient, Viewer::Public].into_iter();
        let viewers: Vec<Viewer> = viewers.chain(seating.all().iter().map(Viewer::Seat)).collect();
        let mut shown = ShownScenes::default();
        let mut views = vec![(BTreeMap::new(), Vec::new()); viewers.len()];
        for position in positions::<G>(seating) {
            let changes = shown.show(viewers.iter().map(|&viewer| position.scene(viewer)).collect());
            for (view, (&viewer, (things, lines))) in viewers.iter().zip(&mut views).enumerate() {
                for &Change { thing, drawn, .. } in
                    changes.things.iter().filter(|change| change.mask >> view & 1 == 1)
                {
                    match drawn {
                        Some(drawn) => drop(things.insert(thing, drawn)),
                        None => assert!(things.remove(&thing).is_some(), "it was shown"),
                    }
                }
                for (_, line, text) in changes.words.iter().filter(|(mask, ..)| mask >> view & 1 == 1) {
                    match text {
                        Some(text) if *line < lines.len() => lines[*line] = text.clone(),
                        Some(text) => lines.push(text.clone()),
                        None => lines.truncate(*line),
                    }
                }
                let scene = position.scene(viewer);
                let mut states: Vec<_> = things.values().map(|state| format!("{state:?}")).collect();
                states.sort();
                assert_eq!(states, drawn_in(&mut shown, &scene), "{viewer:?} of {position:?}");
                assert_eq!(*lines, scene.words, "{viewer:?} of {position:?}");
            }
        }
    }

    #[test]
    fn every_view_shows_its_scenes() {
        views_show_their_scenes::<XeQueo>(2, 2);
        views_show_their_scenes::<Keezen>(2, 2);
        views_show_their_scenes::<Keezen>(4, 2);
        views_show_their_scenes::<Keezen>(6, 3);
    }
}
