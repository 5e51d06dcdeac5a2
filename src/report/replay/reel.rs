//! A match as the data of the player: the first scene, and what changes from step to step.
//!
//! A `mask` is a set of views, as bits. What several views share is written once.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use referee_protocol::referee::Clock;

use super::motion::{moved, origins, unchanged};
use super::svg::{classes, polygon};
use crate::core::scene::{Depth, Form, Part, Shape};
use crate::core::{Scene, Seat, Viewer};
use crate::record::{Difference, Film, Note, RecordEntry, RecordedAnswer, Step};
use crate::referee::Header;
use crate::report::note::{Kind, Told, result};

/// The maximum length of the text of an `info` on a page, in characters.
const INFO: usize = 200;

/// A match.
#[derive(Debug, Serialize)]
pub struct Reel {
    #[serde(skip)]
    header: Header,
    /// The seed of the match.
    #[serde(skip)]
    seed: String,
    pub(super) r#match: String,
    pub(super) game: &'static str,
    pub(super) seats: Vec<SeatOf>,
    /// The names of the views; the first sees everything.
    pub(super) views: Vec<String>,
    pub(super) size: [i16; 2],
    /// The result in words.
    pub(super) result: String,
    /// What shapes look like, as lists of parts.
    pub(super) looks: Vec<Vec<Value>>,
    pub(super) steps: Vec<ReelStep>,
}

/// A position and what led to it.
#[derive(Debug, Serialize)]
pub(super) struct ReelStep {
    /// The number of moves so far.
    pub(super) n: u32,
    /// Milliseconds since the match was opened; only in replays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) t: Option<u64>,
    /// Changes of things.
    pub(super) c: Vec<Change>,
    /// The things that moved and are marked: mask, number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) m: Vec<(u32, u32)>,
    /// Changed lines of words: mask, line, text; `None`: this line and the following ones are gone.
    pub(super) w: Vec<(u32, usize, Option<String>)>,
    /// What happened: mask, kind, seat, text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) s: Vec<(u32, &'static str, Option<Seat>, String)>,
    /// The time that answers took: seat and milliseconds; only in replays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) k: Vec<(Seat, u64)>,
    /// By seat: milliseconds in the bank; empty without a clock.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) b: Vec<Option<u64>>,
}

/// A change of a thing.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) mask: u32,
    /// Its number.
    pub(super) thing: u32,
    /// `None` if it is gone.
    pub(super) state: Option<ThingState>,
    /// Whether it moved and is marked.
    pub(super) has_moved: bool,
}

impl Change {
    /// The changes of a step, and the things that moved.
    pub(super) fn all(changes: impl IntoIterator<Item = (Changed, u32)>) -> (Vec<Change>, Vec<(u32, u32)>) {
        let of = |((thing, state, has_moved), mask)| Change { mask, thing, state, has_moved };
        let changes: Vec<Change> = changes.into_iter().map(of).collect();
        let moved = changes.iter().filter(|change| change.has_moved);
        let moved = moved.map(|change| (change.mask, change.thing)).collect();
        (changes, moved)
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &Change { mask, thing, state, .. } = self;
        match state {
            Some((x, y, look, layer, Some(turn))) => {
                (mask, thing, x, y, look, layer, turn).serialize(serializer)
            }
            Some((x, y, look, layer, None)) => (mask, thing, x, y, look, layer).serialize(serializer),
            None => (mask, thing).serialize(serializer),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct SeatOf {
    name: String,
    team: u8,
    /// Its colour.
    tone: &'static str,
}

/// The state of a thing: x, y, look, layer, and its rotation unless it stays upright.
pub(super) type ThingState = (i16, i16, usize, u8, Option<i16>);
/// A changed thing: its number, its state, whether it moved and is marked.
pub(super) type Changed = (u32, Option<ThingState>, bool);

/// What a view shows.
#[derive(Debug)]
pub(super) struct ShownView {
    viewer: Viewer,
    /// Whether it does not show the ground yet.
    is_new: bool,
    /// The latest scene.
    scene: Scene,
    /// By shape: the number of the thing that it is, and how it is drawn.
    drawn: Vec<(u32, ThingState)>,
    words: Vec<Arc<str>>,
}

/// What all views of a match share.
#[derive(Debug, Default)]
pub(super) struct SharedShapes {
    /// The number of things so far.
    things: u32,
    /// The things that appeared in this step, by id.
    new: (usize, FxHashMap<String, u32>),
    looks: FxHashMap<Vec<Part>, usize>,
    /// The looks as the player reads them.
    pub(super) parts: Vec<Vec<Value>>,
}

impl SharedShapes {
    /// The thing that appears in a step with this id.
    fn thing(&mut self, step: usize, id: &str) -> u32 {
        let (latest, new) = &mut self.new;
        if *latest != step {
            *latest = step;
            new.clear();
        }
        if let Some(&thing) = new.get(id) {
            return thing;
        }
        let thing = self.things;
        self.things += 1;
        new.insert(id.to_owned(), thing);
        thing
    }

    fn look(&mut self, parts: &[Part]) -> usize {
        if let Some(&look) = self.looks.get(parts) {
            return look;
        }
        self.parts.push(parts.iter().map(part).collect());
        self.looks.insert(parts.to_vec(), self.parts.len() - 1);
        self.parts.len() - 1
    }

    fn state(&mut self, shape: &Shape) -> ThingState {
        let layer = Depth::ALL.iter().position(|&layer| layer == shape.layer).unwrap_or_default();
        (shape.x, shape.y, self.look(&shape.parts), layer as u8, shape.turn)
    }
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

/// Whether two shapes are drawn alike, whatever their ids.
fn looks_alike(one: &Arc<Shape>, other: &Arc<Shape>) -> bool {
    if Arc::ptr_eq(one, other) {
        return true;
    }
    let Shape { id: _, kind: _, layer, x, y, turn, parts } = &**one;
    (layer, x, y, turn) == (&other.layer, &other.x, &other.y, &other.turn) && *parts == other.parts
}

impl ShownView {
    pub(super) fn new(viewer: Viewer) -> ShownView {
        ShownView { viewer, is_new: true, scene: Scene::new(1, 1), drawn: Vec::new(), words: Vec::new() }
    }

    /// Shows the next scene. Returns the changed things. Most shapes are as before, and cost a comparison.
    pub(super) fn show(&mut self, step: usize, scene: Scene, shared: &mut SharedShapes) -> Vec<Changed> {
        let mut changes = Vec::with_capacity(scene.shapes.len());
        if self.is_new {
            self.is_new = false;
            for shape in scene.ground.iter().flat_map(|ground| ground.iter()) {
                let thing = shared.thing(step, &shape.id);
                changes.push((thing, Some(shared.state(shape)), false));
            }
        }
        let unchanged = unchanged(&self.scene.shapes, &scene.shapes);
        let mut is_gone = vec![true; self.drawn.len()];
        unchanged.iter().flatten().for_each(|&origin| is_gone[origin] = false);
        let earlier: Vec<usize> = (0..is_gone.len()).filter(|&index| is_gone[index]).collect();
        let later: Vec<usize> = (0..unchanged.len()).filter(|&index| unchanged[index].is_none()).collect();
        let of = |scene: &Scene, indices: &[usize]| -> Vec<_> {
            indices.iter().map(|&index| scene.shapes[index].clone()).collect()
        };
        let (before, after) = (of(&self.scene, &earlier), of(&scene, &later));
        let origins = origins(&before, &after);
        let moved = if step > 0 { moved(&before, &after, &origins) } else { Vec::new() };
        let nothing = (0, ThingState::default());
        let mut drawn: Vec<_> =
            unchanged.iter().map(|origin| origin.map_or(nothing, |origin| self.drawn[origin])).collect();
        for (index, (shape, &origin)) in after.iter().zip(&origins).enumerate() {
            let has_moved = moved.contains(&index);
            let now = if let Some(origin) = origin {
                let (thing, state) = self.drawn[earlier[origin]];
                is_gone[earlier[origin]] = false;
                let now = if looks_alike(&before[origin], shape) { state } else { shared.state(shape) };
                if now != state || has_moved {
                    changes.push((thing, Some(now), has_moved));
                }
                (thing, now)
            } else {
                let thing = shared.thing(step, &shape.id);
                let state = shared.state(shape);
                changes.push((thing, Some(state), has_moved));
                (thing, state)
            };
            drawn[later[index]] = now;
        }
        let gone = self.drawn.iter().zip(is_gone).filter(|&(_, is_gone)| is_gone);
        changes.extend(gone.map(|(&(thing, _), _)| (thing, None, false)));
        (self.scene, self.drawn) = (scene, drawn);
        changes
    }

    /// Returns the changed lines of words; `None` if they are gone.
    pub(super) fn say(&mut self, words: Vec<Arc<str>>) -> Vec<(usize, Option<Arc<str>>)> {
        let count = words.len().max(self.words.len());
        let changes = (0..count).filter(|&line| words.get(line) != self.words.get(line));
        let changes = changes.map(|line| (line, words.get(line).cloned())).collect();
        self.words = words;
        changes
    }
}

/// The kind of a note as the player reads it.
pub(super) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Move => "move",
        Kind::Fault => "fault",
        Kind::Fallback => "fallback",
        Kind::Event => "event",
    }
}

/// The values, sorted, with the mask of the views that share them.
fn by_views<T: Ord>(of_views: Vec<Vec<T>>) -> Vec<(T, u32)> {
    let mut all: Vec<(T, u32)> = Vec::with_capacity(of_views.iter().map(Vec::len).sum());
    for (view, values) in of_views.into_iter().enumerate() {
        all.extend(values.into_iter().map(|value| (value, 1 << view)));
    }
    all.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    all.dedup_by(|(value, mask), (kept, masks)| {
        let is_same = value == kept;
        if is_same {
            *masks |= *mask;
        }
        is_same
    });
    all
}

/// The `info` of an answer in words: what is conventional in it.
fn info(info: &RawValue) -> Option<String> {
    // A number that is out of range is valid JSON.
    let info: Value = serde_json::from_str(info.get()).ok()?;
    let words = ["score", "depth", "nodes", "text"].into_iter().filter_map(|key| match &info[key] {
        Value::String(text) => Some(text.clone()),
        value @ (Value::Number(_) | Value::Bool(_)) => Some(format!("{key} {value}")),
        _ => None,
    });
    let words: String = words.collect::<Vec<_>>().join(", ").chars().take(INFO).collect();
    Some(words).filter(|words| !words.is_empty())
}

/// What happened in a step: kind, seat and text, with the views that know it.
fn notes(step: &Step<'_, '_>, viewers: &[Viewer]) -> Vec<(u32, &'static str, Option<Seat>, String)> {
    let told = Told::of_views(step, viewers);
    let mut notes = Vec::new();
    for (index, note) in step.notes.iter().enumerate() {
        if let Note::Line(line) = note
            && let RecordEntry::Answer(RecordedAnswer { seat, info: Some(given), .. }) = &line.entry
            && let Some(info) = info(given)
        {
            let knows = |viewer: &Viewer| viewer.shares(*seat);
            let knowing = viewers.iter().zip(0..).filter(|(viewer, _)| knows(viewer));
            let mask = knowing.fold(0, |mask, (_, view)| mask | 1_u32 << view);
            notes.push((mask, "info", Some(*seat), info));
        }
        let told = told.iter().map(|of_view| {
            of_view[index].iter().map(|told| (kind_name(told.kind), told.seat, told.text.clone())).collect()
        });
        for ((kind, seat, text), mask) in by_views(told.collect()) {
            notes.push((mask, kind, seat, text));
        }
    }
    notes
}

/// The time that the answers of a step took: seat and milliseconds.
fn took(step: &Step<'_, '_>) -> Vec<(Seat, u64)> {
    let answers = step.notes.iter().filter_map(|note| match note {
        Note::Line(line) => match line.entry {
            RecordEntry::Answer(RecordedAnswer { seat, took_us, .. }) => Some((seat, took_us / 1000)),
            _ => None,
        },
        Note::Told(_) => None,
    });
    answers.collect()
}

/// The banks, unless there is no clock.
pub(super) fn banks(banks_ms: &[Option<u64>]) -> Vec<Option<u64>> {
    if banks_ms.iter().any(Option::is_some) { banks_ms.to_vec() } else { Vec::new() }
}

/// A clock in words: `delay=5s, bank=60s`.
fn clock_in_words(clock: Clock) -> String {
    let parts = [("delay", clock.delay_ms), ("bank", clock.bank_ms), ("increment", clock.increment_ms)];
    let parts = parts.into_iter().filter(|&(_, ms)| ms > 0).map(|(name, ms)| match ms % 1000 {
        0 => format!("{name}={}s", ms / 1000),
        _ => format!("{name}={ms}ms"),
    });
    parts.collect::<Vec<_>>().join(", ")
}

impl Reel {
    /// Replays a record.
    ///
    /// # Errors
    /// When the record is not valid.
    pub fn of(mut film: Film<'_>) -> Result<Reel, Difference> {
        let (header, seating) = (film.setup().header.clone(), film.setup().seating);
        let mut shared = SharedShapes::default();
        let mut steps = Vec::new();
        let (mut views, mut viewers, mut meta, mut first) = (Vec::new(), Vec::new(), None, None);
        while let Some(step) = film.step()? {
            if views.is_empty() {
                let all = [Viewer::Omniscient, Viewer::Public];
                let all = all.into_iter().chain(seating.all().iter().map(Viewer::Seat));
                // Without hidden information, everyone sees the same.
                let count = if step.table.meta().hidden { usize::MAX } else { 1 };
                viewers.extend(all.take(count));
                views.extend(viewers.iter().copied().map(ShownView::new));
                meta = Some(step.table.meta());
            }
            let number = steps.len();
            let (mut changes, mut words) = (Vec::new(), Vec::new());
            for view in &mut views {
                let mut scene = step.table.scene(view.viewer);
                words.push(view.say(std::mem::take(&mut scene.words)));
                changes.push(view.show(number, scene, &mut shared));
            }
            first.get_or_insert_with(|| views[0].scene.clone());
            let (c, m) = Change::all(by_views(changes));
            let words = by_views(words).into_iter();
            steps.push(ReelStep {
                n: step.moves,
                t: Some(step.at_us / 1000),
                c,
                m,
                w: words
                    .map(|((line, words), mask)| (mask, line, words.map(|words| words.to_string())))
                    .collect(),
                s: notes(&step, &viewers),
                k: took(&step),
                b: banks(step.banks_ms),
            });
        }
        let (meta, first) = meta.zip(first).unwrap_or_else(|| unreachable!("a match has a first position"));
        let seats = header.seats.iter().zip(&first.seats);
        let of_seat = |(seat, name): (Seat, &String)| format!("Seat {seat}: {name}");
        let names = header.seats.iter().map(|seat| &seat.name);
        let of_seats = (0..).map(Seat).zip(names).map(of_seat);
        let all = ["Everything".to_owned(), "Spectator".to_owned()].into_iter().chain(of_seats);
        Ok(Reel {
            game: meta.title,
            seats: seats
                .map(|(seat, tone)| SeatOf { name: seat.name.clone(), team: seat.team, tone: tone.name() })
                .collect(),
            views: all.take(views.len()).collect(),
            size: [first.width, first.height],
            seed: film.setup().seed.to_hex(),
            result: film.ending().map(|ending| result(ending, &header)).unwrap_or_default(),
            looks: shared.parts,
            r#match: header.r#match.clone(),
            header,
            steps,
        })
    }

    /// The clock in words.
    pub fn clock(&self) -> String {
        self.header.clock.map_or_else(|| "none".to_owned(), clock_in_words)
    }

    /// The options of the game.
    pub fn options(&self) -> &RawValue {
        &self.header.options
    }

    /// The seed of the match, as hex digits.
    pub fn seed(&self) -> &str {
        &self.seed
    }
}
