//! A match as the data of the player: the first scene, and what changes from step to step.
//!
//! A `mask` is a set of views, as bits. What several views share is written once.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::{Value, json};

use super::motion::{mark, origins};
use super::svg::{classes, polygon};
use crate::core::scene::{Form, Layer, Part, Shape};
use crate::core::{Scene, Seat, Viewer};
use crate::record::{Difference, Film, Note, Step};
use crate::report::note::{Kind, Told, result};

/// The maximum length of the text of an `info` on a page, in characters.
const INFO: usize = 200;

/// A match.
#[derive(Debug, Serialize)]
pub struct Reel {
    r#match: String,
    game: &'static str,
    seats: Vec<SeatOf>,
    /// The names of the views; the first sees everything.
    views: Vec<String>,
    size: [i16; 2],
    /// The result in words.
    result: String,
    /// What shapes look like, as lists of parts.
    looks: Vec<Vec<Value>>,
    steps: Vec<Value>,
}

#[derive(Debug, Serialize)]
struct SeatOf {
    name: String,
    team: u8,
    /// Its colour.
    tone: &'static str,
}

/// The state of a thing: x, y, look, layer, and its rotation unless it stays upright.
type State = (i16, i16, usize, u8, Option<i16>);

/// What a view shows.
struct Seen {
    viewer: Viewer,
    /// The latest scene, without marks.
    scene: Scene,
    /// The numbers of the things in it, by shape.
    things: Vec<u32>,
    /// What is drawn: things and marks.
    drawn: BTreeMap<u32, State>,
    words: Vec<String>,
}

/// Numbers equal values consecutively.
#[derive(Default)]
struct Numbers<T>(HashMap<T, u32>);

impl<T: Eq + std::hash::Hash> Numbers<T> {
    fn of(&mut self, value: T) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(value).or_insert(next)
    }
}

/// What all views of a match share.
#[derive(Default)]
struct Shared {
    /// Things by id and the step at which they appeared.
    things: Numbers<(String, usize)>,
    looks: HashMap<Vec<Part>, usize>,
    parts: Vec<Vec<Value>>,
}

impl Shared {
    fn look(&mut self, parts: &[Part]) -> usize {
        if let Some(&look) = self.looks.get(parts) {
            return look;
        }
        self.parts.push(parts.iter().map(part).collect());
        self.looks.insert(parts.to_vec(), self.parts.len() - 1);
        self.parts.len() - 1
    }

    fn state(&mut self, shape: &Shape) -> State {
        let layer = Layer::ALL.iter().position(|&layer| layer == shape.layer).unwrap_or_default();
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

impl Seen {
    fn new(viewer: Viewer) -> Seen {
        let (scene, things) = (Scene::new(1, 1), Vec::new());
        Seen { viewer, scene, things, drawn: BTreeMap::new(), words: Vec::new() }
    }

    /// Shows the next scene. Returns the changed things with their new states; `None` if they are gone.
    fn show(&mut self, step: usize, scene: Scene, shared: &mut Shared) -> Vec<(u32, Option<State>)> {
        let origins = origins(&self.scene, &scene);
        let mut marked = scene.clone();
        if step > 0 {
            mark(&self.scene, &mut marked);
        }
        let mut drawn = BTreeMap::new();
        let mut things = Vec::with_capacity(origins.len());
        for (index, shape) in marked.shapes.iter().enumerate() {
            let thing = match origins.get(index) {
                Some(Some(origin)) => self.things[*origin],
                Some(None) => shared.things.of((shape.id.clone(), step)),
                // Marks appear anew in each step.
                None => shared.things.of((shape.id.clone(), usize::MAX)),
            };
            if index < origins.len() {
                things.push(thing);
            }
            drawn.insert(thing, shared.state(shape));
        }
        let gone = self.drawn.keys().filter(|thing| !drawn.contains_key(thing)).map(|&thing| (thing, None));
        let changed = drawn.iter().filter(|&(thing, state)| self.drawn.get(thing) != Some(state));
        let changes = gone.chain(changed.map(|(&thing, &state)| (thing, Some(state)))).collect();
        (self.scene, self.things, self.drawn) = (scene, things, drawn);
        changes
    }

    /// Returns the changed lines of words; `None` if they are gone.
    fn say(&mut self, words: Vec<String>) -> Vec<(usize, Option<String>)> {
        let count = words.len().max(self.words.len());
        let changes = (0..count).filter(|&line| words.get(line) != self.words.get(line));
        let changes = changes.map(|line| (line, words.get(line).cloned())).collect();
        self.words = words;
        changes
    }
}

/// The values with the views that share them, as `[mask, ...]`.
fn by_views<T: Ord>(of_views: Vec<Vec<T>>) -> BTreeMap<T, u32> {
    let mut masks = BTreeMap::new();
    for (view, values) in of_views.into_iter().enumerate() {
        for value in values {
            *masks.entry(value).or_default() |= 1 << view;
        }
    }
    masks
}

/// The `info` of an answer in words: what is conventional in it.
fn info(line: &crate::record::Line<'_>) -> Option<String> {
    let info: Value = serde_json::from_str(line.info?.get()).ok()?;
    let words = ["score", "depth", "nodes", "text"].into_iter().filter_map(|key| match &info[key] {
        Value::String(text) => Some(text.clone()),
        value @ (Value::Number(_) | Value::Bool(_)) => Some(format!("{key} {value}")),
        _ => None,
    });
    let words: String = words.collect::<Vec<_>>().join(", ").chars().take(INFO).collect();
    Some(words).filter(|words| !words.is_empty())
}

/// What happened in a step: kind, seat and text, with the views that know it.
fn notes(step: &Step<'_, '_>, viewers: &[Viewer]) -> Vec<Value> {
    let told: Vec<_> = viewers.iter().map(|&viewer| Told::of_step(step, viewer)).collect();
    let mut notes = Vec::new();
    for (index, note) in step.notes.iter().enumerate() {
        if let Note::Line(line) = note
            && let (Some(seat), Some(info)) = (line.seat, info(line))
        {
            let knows = |viewer: &Viewer| viewer.shares(seat);
            let knowing = viewers.iter().zip(0..).filter(|(viewer, _)| knows(viewer));
            let mask = knowing.fold(0, |mask, (_, view)| mask | 1_u32 << view);
            notes.push(json!([mask, "info", seat, info]));
        }
        let told = told.iter().map(|of_view| {
            let kind = |kind| match kind {
                Kind::Move => "move",
                Kind::Fault => "fault",
                Kind::Fallback => "fallback",
                Kind::Event => "event",
            };
            of_view[index].iter().map(|told| (kind(told.kind), told.seat, told.text.clone())).collect()
        });
        for ((kind, seat, text), mask) in by_views(told.collect()) {
            notes.push(json!([mask, kind, seat, text]));
        }
    }
    notes
}

/// The time that the answers of a step took: seat and milliseconds.
fn took(step: &Step<'_, '_>) -> Vec<(Seat, u64)> {
    let lines = step.notes.iter().filter_map(|note| match note {
        Note::Line(line) if line.kind == "answer" => Some((line.seat?, line.took_us? / 1000)),
        _ => None,
    });
    lines.collect()
}

impl Reel {
    /// Replays a record.
    ///
    /// # Errors
    /// When the record is not valid.
    pub fn of(record: &[u8]) -> Result<Reel, Difference> {
        let mut film = Film::open(record)?;
        let (header, seating) = (film.setup().header.clone(), film.setup().seating);
        let mut shared = Shared::default();
        let mut steps = Vec::new();
        let (mut views, mut viewers, mut meta, mut first) = (Vec::new(), Vec::new(), None, None);
        while let Some(step) = film.step()? {
            if views.is_empty() {
                let all = [Viewer::Omniscient, Viewer::Public];
                let all = all.into_iter().chain(seating.all().iter().map(Viewer::Seat));
                // Without hidden information, everyone sees the same.
                let count = if step.table.meta().hidden { usize::MAX } else { 1 };
                viewers.extend(all.take(count));
                views.extend(viewers.iter().copied().map(Seen::new));
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
            let changes = by_views(changes).into_iter().map(|((thing, state), mask)| match state {
                Some((x, y, look, layer, Some(turn))) => json!([mask, thing, x, y, look, layer, turn]),
                Some((x, y, look, layer, None)) => json!([mask, thing, x, y, look, layer]),
                None => json!([mask, thing]),
            });
            let words = by_views(words).into_iter().map(|((line, words), mask)| json!([mask, line, words]));
            let mut data = json!({
                "n": step.moves,
                "t": step.at_us / 1000,
                "c": changes.collect::<Vec<_>>(),
                "w": words.collect::<Vec<_>>(),
            });
            let notes = notes(&step, &viewers);
            if !notes.is_empty() {
                data["s"] = notes.into();
            }
            let took = took(&step);
            if !took.is_empty() {
                data["k"] = json!(took);
            }
            if step.banks_ms.iter().any(Option::is_some) {
                data["b"] = json!(step.banks_ms);
            }
            steps.push(data);
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
            result: film.ending().map(|ending| result(ending, &header)).unwrap_or_default(),
            looks: shared.parts,
            r#match: header.r#match,
            steps,
        })
    }
}
