//! What a page shows of a match: things, which are shapes over time, and their changes from step to step.

use std::sync::Arc;

use referee_game::Scenes;
use referee_game::scene::{Depth, Form, Part, Shape};
use referee_game::scenes::{Group, SeenShape, WordLine};
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::motion::{moved, origins};
use super::svg::{classes, polygon};

/// The state of a thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ThingState {
    pub(super) x: i16,
    pub(super) y: i16,
    pub(super) look: u32,
    pub(super) layer: u8,
    /// `None` for a thing that stays upright.
    pub(super) turn: Option<i16>,
    pub(super) views: SeenBy,
}

/// The views that show a thing, as masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeenBy {
    /// The views that show its look.
    pub(super) mask: u32,
    /// The views that show the other look.
    pub(super) others: u32,
    pub(super) other: u32,
}

impl SeenBy {
    fn any(self) -> u32 {
        self.mask | self.others
    }
}

/// A change of a thing.
#[derive(Debug)]
pub(super) struct Change {
    /// Its number.
    pub(super) thing: u32,
    /// `None` if it was removed.
    pub(super) state: Option<ThingState>,
    /// The views that no longer show it.
    lost: u32,
    /// Whether it moved and is marked.
    pub(super) has_moved: bool,
}

/// A change as the player reads it: mask, thing and what these views show.
#[derive(Debug)]
pub(super) struct ChangeRow(u32, u32, Option<ThingState>);

impl Serialize for ChangeRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &ChangeRow(mask, thing, state) = self;
        match state {
            Some(ThingState { x, y, look, layer, turn: Some(turn), .. }) => {
                (mask, thing, x, y, look, layer, turn).serialize(serializer)
            }
            Some(ThingState { x, y, look, layer, .. }) => {
                (mask, thing, x, y, look, layer).serialize(serializer)
            }
            None => (mask, thing).serialize(serializer),
        }
    }
}

impl Change {
    fn of(thing: u32, before: Option<SeenBy>, state: Option<ThingState>, has_moved: bool) -> Change {
        let now = state.map_or(0, |state| state.views.any());
        Change { thing, state, lost: before.map_or(0, |before| before.any() & !now), has_moved }
    }

    /// The change as the player reads it.
    pub(super) fn rows(&self) -> impl Iterator<Item = ChangeRow> {
        let &Change { thing, state, lost, .. } = self;
        let views = state.map_or(SeenBy::default(), |state| state.views);
        let other = state.map(|state| ThingState { look: views.other, ..state });
        let rows = [(views.mask, state), (views.others, other), (lost, None)];
        rows.into_iter()
            .filter(|&(mask, _)| mask != 0)
            .map(move |(mask, state)| ChangeRow(mask, thing, state))
    }

    /// The mark of a thing that moved: mask and thing.
    pub(super) fn mark(&self) -> Option<(u32, u32)> {
        self.state.filter(|_| self.has_moved).map(|state| (state.views.any(), self.thing))
    }
}

/// A changed line of words: mask, line, text; `None`: this line and the following ones were removed.
pub(super) type ChangedLine = (u32, usize, Option<Arc<str>>);

/// A shape and what is shown of it.
type KnownShape<'a> = (&'a SeenShape, (u32, ThingState));

/// Shapes, and what is shown of them.
#[derive(Debug, Default)]
struct ShownGroup {
    shapes: Group,
    /// By shape: the number of the thing that it is, and how it is drawn.
    drawn: Vec<(u32, ThingState)>,
}

/// What the views of a match show.
#[derive(Debug, Default)]
pub(super) struct ShownScenes {
    /// Whether the ground is shown.
    has_ground: bool,
    /// The number of things so far.
    things: u32,
    /// The shapes of the latest position.
    groups: Vec<ShownGroup>,
    lines: Vec<WordLine>,
    by_parts: FxHashMap<Vec<Part>, u32>,
    /// What shapes look like, as the player reads it.
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

/// Whether two shapes look the same, wherever they are.
fn looks_alike(one: &Arc<Shape>, other: &Arc<Shape>) -> bool {
    Arc::ptr_eq(one, other) || one.parts == other.parts
}

/// Whether the same views show the same shapes.
fn is_same(before: &SeenShape, seen: &SeenShape) -> bool {
    Arc::ptr_eq(&before.shape, &seen.shape)
        && (before.mask, before.others) == (seen.mask, seen.others)
        && before.other.as_ref().map(Arc::as_ptr) == seen.other.as_ref().map(Arc::as_ptr)
}

/// The state of a thing with this shape.
fn drawn(shape: &Shape, look: u32, views: SeenBy) -> ThingState {
    let layer = Depth::ALL.iter().position(|&layer| layer == shape.layer).unwrap_or_default();
    ThingState { x: shape.x, y: shape.y, look, layer: layer as u8, turn: shape.turn, views }
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

    fn state(&mut self, shape: &Shape, views: SeenBy) -> ThingState {
        drawn(shape, self.look(&shape.parts), views)
    }

    fn new_thing(&mut self) -> u32 {
        self.things += 1;
        self.things - 1
    }

    /// The views that show a shape. `origin` is the shape that it was.
    fn seen_by(&mut self, seen: &SeenShape, origin: Option<KnownShape<'_>>) -> SeenBy {
        let other = seen.other.as_ref().map_or(0, |other| {
            let is_known =
                |before: &SeenShape| before.other.as_ref().is_some_and(|of| looks_alike(of, other));
            match origin.filter(|(before, _)| is_known(before)) {
                Some((_, (_, state))) => state.views.other,
                None => self.look(&other.parts),
            }
        });
        SeenBy { mask: seen.mask, others: seen.others, other }
    }

    /// Shows the ground.
    fn show_ground(&mut self, ground: &[Shape], all: u32, changes: &mut Vec<Change>) {
        let views = SeenBy { mask: all, ..SeenBy::default() };
        for shape in ground {
            let state = self.state(shape, views);
            changes.push(Change::of(self.new_thing(), None, Some(state), false));
        }
    }

    /// Replaces the groups that are not as before. Returns their indices and what they were.
    fn replace(&mut self, groups: &[Group]) -> Vec<(usize, ShownGroup)> {
        self.groups.resize_with(self.groups.len().max(groups.len()), ShownGroup::default);
        let mut changed = Vec::with_capacity(groups.len());
        for (index, before) in self.groups.iter_mut().enumerate() {
            if groups.get(index).is_some_and(|shapes| Arc::ptr_eq(&before.shapes, shapes)) {
                continue;
            }
            let shapes = groups.get(index).cloned().unwrap_or_default();
            let drawn = vec![(0, ThingState::default()); shapes.len()];
            changed.push((index, std::mem::replace(before, ShownGroup { shapes, drawn })));
        }
        changed
    }

    /// Shows the next position. Groups of shapes that are as before cost nothing.
    pub(super) fn show(&mut self, scenes: Scenes) -> (Vec<Change>, Vec<ChangedLine>) {
        let all = scenes.all();
        let Scenes { scene, groups, lines, .. } = scenes;
        let mut changes = Vec::with_capacity(16);
        let is_first = !self.has_ground;
        if is_first {
            self.has_ground = true;
            self.show_ground(scene.ground.as_deref().unwrap_or_default(), all, &mut changes);
        }
        // The shapes that were not at the same place of their group, and those that are not.
        let changed = self.replace(&groups);
        let (mut known, mut new): (Vec<KnownShape<'_>>, Vec<_>) =
            (Vec::with_capacity(32), Vec::with_capacity(32));
        for (index, group) in &changed {
            let shapes = groups.get(*index).map_or(&[][..], |shapes| shapes);
            for place in 0..shapes.len().max(group.shapes.len()) {
                match (group.shapes.get(place), shapes.get(place)) {
                    (Some(before), Some(seen)) if is_same(before, seen) => {
                        self.groups[*index].drawn[place] = group.drawn[place];
                    }
                    (before, seen) => {
                        known.extend(before.map(|before| (before, group.drawn[place])));
                        new.extend(seen.map(|seen| (*index, place, seen)));
                    }
                }
            }
        }
        let before: Vec<&Shape> = known.iter().map(|(seen, _)| &*seen.shape).collect();
        let after: Vec<&Shape> = new.iter().map(|(.., seen)| &*seen.shape).collect();
        let origins = origins(&before, &after);
        let moved = if is_first { Vec::new() } else { moved(&before, &after, &origins) };
        let mut is_gone = vec![true; known.len()];
        for (index, ((group, place, seen), origin)) in new.into_iter().zip(origins).enumerate() {
            let origin = origin.map(|origin| {
                is_gone[origin] = false;
                known[origin]
            });
            let views = self.seen_by(seen, origin);
            let (thing, state) = match origin {
                Some((before, (thing, state))) if looks_alike(&before.shape, &seen.shape) => {
                    (thing, drawn(&seen.shape, state.look, views))
                }
                Some((_, (thing, _))) => (thing, self.state(&seen.shape, views)),
                None => (self.new_thing(), self.state(&seen.shape, views)),
            };
            let has_moved = moved.contains(&index);
            if has_moved || origin.is_none_or(|(_, (_, before))| before != state) {
                let before = origin.map(|(_, (_, before))| before.views);
                changes.push(Change::of(thing, before, Some(state), has_moved));
            }
            self.groups[group].drawn[place] = (thing, state);
        }
        let gone = known.iter().zip(is_gone).filter(|&(_, is_gone)| is_gone);
        let gone = gone.map(|(&(_, (thing, before)), _)| Change::of(thing, Some(before.views), None, false));
        changes.extend(gone);
        changes.sort_unstable_by_key(|change| change.thing);
        (changes, self.say(lines, all))
    }

    /// Returns the changed lines of words, given the mask of all views.
    fn say(&mut self, lines: Vec<WordLine>, all: u32) -> Vec<ChangedLine> {
        let mut changes = Vec::new();
        let none = vec![(all, None)];
        for line in 0..lines.len().max(self.lines.len()) {
            let before = self.lines.get(line).unwrap_or(&none);
            for (mask, text) in lines.get(line).unwrap_or(&none) {
                let is_same = |(of, before): &(u32, _)| of & mask == 0 || before == text;
                if !before.iter().all(is_same) {
                    changes.push((*mask, line, text.clone()));
                }
            }
        }
        self.lines = lines;
        changes
    }
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

    /// What a view shows of a scene.
    fn drawn_in(shown: &mut ShownScenes, scene: &Scene) -> Vec<String> {
        let states = scene.all().map(|shape| format!("{:?}", shown.state(shape, SeenBy::default())));
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
            let (changes, said) = shown.show(position.scenes(&viewers));
            for (view, (&viewer, (things, lines))) in viewers.iter().zip(&mut views).enumerate() {
                for ChangeRow(mask, thing, state) in changes.iter().flat_map(Change::rows) {
                    let has_view = mask >> view & 1 == 1;
                    match state.map(|state| ThingState { views: SeenBy::default(), ..state }) {
                        _ if !has_view => {}
                        Some(state) => drop(things.insert(thing, state)),
                        None => assert!(things.remove(&thing).is_some(), "it was shown"),
                    }
                }
                for (_, line, text) in said.iter().filter(|(mask, ..)| mask >> view & 1 == 1) {
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
