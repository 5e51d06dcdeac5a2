//! Matches as the data of a page: the steps in columns, which compress to less than half the size of rows.
//!
//! The changes of each thing follow each other, as do those of each line, because they resemble each other more than
//! what changes in the same step. Each is stored relative to the one before.

use std::collections::BTreeMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value;

use super::column::{Column, Texts, zigzag};
use super::layout::layout;
use super::names::{self, Names, refer, refer_to_lists};
use super::record::PackedRecord;
use super::reel::{Reel, ReelStep, SeatOf};
use super::shown::{Change, SeenBy, ThingState};
use crate::core::Seat;
use crate::core::scene::Layout;

/// What is different from the change before; bits of [`Deltas::what`].
mod what {
    pub(super) const VIEWS: u32 = 1;
    pub(super) const PLACE: u32 = 2;
    pub(super) const LOOK: u32 = 4;
    pub(super) const FORM: u32 = 8;
    pub(super) const GONE: u32 = 16;
    /// The thing has moved and is marked.
    pub(super) const MOVED: u32 = 32;
    /// The look in other views.
    pub(super) const OTHER: u32 = 64;
}

/// A change that the next one is relative to.
#[derive(Clone, Copy, Default)]
struct Known {
    step: u32,
    /// The index of its views.
    views: u32,
    /// The index of its place.
    place: i32,
    look: i32,
    other: i32,
    layer: u8,
    turn: Option<i16>,
}

/// Different values, numbered consecutively.
#[derive(Debug)]
struct Numbered<T> {
    numbers: FxHashMap<T, u32>,
    all: Vec<T>,
}

impl<T: Copy + Eq + Hash> Numbered<T> {
    fn new() -> Numbered<T> {
        Numbered { numbers: FxHashMap::default(), all: Vec::new() }
    }

    fn number(&mut self, value: T) -> u32 {
        *self.numbers.entry(value).or_insert_with(|| {
            self.all.push(value);
            self.all.len() as u32 - 1
        })
    }
}

/// What changes refer to by number: points, and the masks of the views that show a thing and its other look.
#[derive(Debug)]
struct Tables {
    places: Numbered<(i16, i16)>,
    views: Numbered<(u32, u32)>,
}

impl Tables {
    /// The points of the rows come first.
    fn new(layout: Option<&Layout>) -> Tables {
        let mut tables = Tables { places: Numbered::new(), views: Numbered::new() };
        for &place in layout.iter().flat_map(|layout| &layout.rows).flat_map(|row| &row.places) {
            tables.places.number(place);
        }
        tables
    }
}

/// Changes, each relative to another one. Columns other than the first two have only the values that differ.
#[derive(Debug, Default, Serialize)]
struct Deltas {
    step: Column,
    what: Column,
    /// The number of its views.
    views: Column,
    /// The difference of the indices, as [`zigzag`].
    place: Column,
    /// The same of looks.
    look: Column,
    other: Column,
    layer: Column,
    /// 0 without a rotation, else one more than the [`zigzag`] of the rotation.
    turn: Column,
}

impl Deltas {
    /// Adds a change of this step, relative to `known`, and returns what the next one is relative to.
    fn push(&mut self, known: Known, step: u32, change: &Change, tables: &mut Tables) -> Known {
        let mut now = Known { step, ..known };
        let mut what = if change.has_moved { what::MOVED } else { 0 };
        self.step.push(now.step - known.step);
        if let Some(ThingState { x, y, look, layer, turn, views }) = change.state {
            (now.place, now.look, now.layer, now.turn) =
                (tables.places.number((x, y)) as i32, look as i32, layer, turn);
            let SeenBy { mask, others, other } = views;
            now.views = tables.views.number((mask, others));
            if others != 0 {
                now.other = other as i32;
            }
        } else {
            what |= what::GONE;
        }
        if now.views != known.views {
            what |= what::VIEWS;
            self.views.push(now.views);
        }
        if now.place != known.place {
            what |= what::PLACE;
            self.place.push(zigzag(now.place - known.place));
        }
        if now.look != known.look {
            what |= what::LOOK;
            self.look.push(zigzag(now.look - known.look));
        }
        if now.other != known.other {
            what |= what::OTHER;
            self.other.push(zigzag(now.other - known.other));
        }
        if (now.layer, now.turn) != (known.layer, known.turn) {
            what |= what::FORM;
            self.layer.push(now.layer.into());
            self.turn.push(now.turn.map_or(0, |turn| zigzag(turn.into()) + 1));
        }
        self.what.push(what);
        now
    }
}

/// Changes of things, one thing after the other.
#[derive(Debug, Default, Serialize)]
struct Changes {
    /// By thing: the number of its changes.
    count: Column,
    /// By thing: its first change, relative to that of the thing before.
    first: Deltas,
    /// The other changes, relative to the change before of the same thing.
    more: Deltas,
    /// The points that indices of places mean, each relative to the one before, as [`zigzag`]. Those of the rows of the
    /// layout come first.
    x: Column,
    y: Column,
    /// What numbers of views mean: the masks of those that show a thing, and of those that show its other look.
    views: Vec<(u32, u32)>,
}

impl Changes {
    fn of(steps: &[ReelStep], layout: Option<&Layout>) -> Changes {
        let mut things: Vec<Vec<(u32, &Change)>> = Vec::new();
        for (number, step) in (0..).zip(steps) {
            for change in &step.c {
                let thing = change.thing as usize;
                if things.len() <= thing {
                    things.resize(thing + 1, Vec::new());
                }
                things[thing].push((number, change));
            }
        }
        let (mut changes, mut tables, mut first) =
            (Changes::default(), Tables::new(layout), Known::default());
        for thing in things {
            changes.count.push(thing.len() as u32);
            let mut known = first;
            for (index, (step, change)) in thing.into_iter().enumerate() {
                if index == 0 {
                    first = changes.first.push(known, step, change, &mut tables);
                    known = first;
                } else {
                    known = changes.more.push(known, step, change, &mut tables);
                }
            }
        }
        let (mut x, mut y) = (0, 0);
        for place in tables.places.all {
            changes.x.push(zigzag(i32::from(place.0) - x));
            changes.y.push(zigzag(i32::from(place.1) - y));
            (x, y) = (place.0.into(), place.1.into());
        }
        changes.views = tables.views.all;
        changes
    }
}

/// Changed lines of words, one stream after the other: the changes of a line that the same views see.
#[derive(Debug, Default, Serialize)]
struct Words {
    /// By stream: its line.
    line: Column,
    /// By stream: its views.
    mask: Column,
    /// By stream: the number of its changes.
    count: Column,
    /// The steps, each relative to the one before.
    step: Column,
    /// How many words of the previous text of the stream remain at the start, plus one; 0: this line and the following
    /// ones are gone.
    start: Column,
    /// The same at the end, without the plus.
    end: Column,
    /// What is between them, with references to the names of the step.
    text: Texts,
}

/// The words of a text, all but the first with the space before them.
fn split(text: &str) -> Vec<&str> {
    let spaces = text.match_indices(' ').map(|(at, _)| at).filter(|&at| at > 0);
    let ends = spaces.clone().chain([text.len()]);
    [0].into_iter().chain(spaces).zip(ends).map(|(start, end)| &text[start..end]).collect()
}

/// The changes of a stream: step and text.
type Stream<'a> = Vec<(usize, Option<&'a str>)>;

impl Words {
    fn of(steps: &[ReelStep], names: &[Names<'_>]) -> Words {
        let mut streams: BTreeMap<(usize, u32), Stream<'_>> = BTreeMap::new();
        for (number, step) in steps.iter().enumerate() {
            for (mask, line, text) in &step.w {
                streams.entry((*line, *mask)).or_default().push((number, text.as_deref()));
            }
        }
        let mut words = Words::default();
        for ((line, mask), changes) in streams {
            words.line.push(line as u32);
            words.mask.push(mask);
            words.count.push(changes.len() as u32);
            let (mut before, mut said) = (0, "");
            for (step, text) in changes {
                words.step.push((step - before) as u32);
                words.push(said, text, &names[step]);
                (before, said) = (step, text.unwrap_or_default());
            }
        }
        words
    }

    /// Adds a text that replaces the one before.
    fn push(&mut self, before: &str, text: Option<&str>, names: &[&str]) {
        let Some(text) = text else {
            self.start.push(0);
            return;
        };
        let (before, text) = (split(before), split(text));
        let same =
            |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
        let start = same(&mut before.iter().zip(&text));
        let end = same(&mut before[start..].iter().rev().zip(text[start..].iter().rev()));
        self.start.push(start as u32 + 1);
        self.end.push(end as u32);
        self.text.push(&refer(&text[start..text.len() - end].concat(), names));
    }
}

/// Notes by step.
#[derive(Debug, Default, Serialize)]
struct Notes {
    count: Column,
    mask: Column,
    kind: Column,
    /// 0 without a seat, else one more than the seat.
    seat: Column,
    /// By kind, with references to the names of the step; events also refer to lists of the record. A move that is the
    /// next one of the record is empty.
    text: [Texts; KINDS.len()],
}

/// The time that answers took, by step.
#[derive(Debug, Default, Serialize)]
struct Took {
    count: Column,
    seat: Column,
    ms: Column,
}

/// The steps of a match.
#[derive(Debug, Default, Serialize)]
struct Columns {
    /// Moves, each relative to the step before.
    n: Column,
    c: Changes,
    w: Words,
    s: Notes,
    k: Took,
    /// By step; empty if it is as before.
    b: Vec<Vec<Option<u64>>>,
}

/// The kinds of notes, in the order of the player.
const KINDS: [&str; 5] = ["move", "event", "fault", "fallback", "info"];

impl Columns {
    fn of(reel: &Reel) -> Columns {
        let (steps, names) = (&reel.steps, names::of_steps(reel));
        let mut columns = Columns {
            c: Changes::of(steps, reel.layout.as_deref()),
            w: Words::of(steps, &names),
            ..Columns::default()
        };
        let (mut moves, mut banks): (u32, &[_]) = (0, &[]);
        let played: Vec<&str> = reel.record.iter().flat_map(PackedRecord::moves).collect();
        let mut played = &played[..];
        let mut lists = reel.record.as_ref().map_or(&[][..], PackedRecord::lists);
        for (step, names) in steps.iter().zip(&names) {
            columns.n.push(step.n - moves);
            moves = step.n;
            let used = columns.notes(step, names, &mut played, lists);
            lists = &lists[used..];
            columns.took(step);
            columns.b.push(if step.b == banks { Vec::new() } else { step.b.clone() });
            banks = &step.b;
        }
        columns
    }

    /// Adds the notes of a step. `played` and `lists` are the moves and the lists of words in the events of the record
    /// that are still to come. Returns how many lists precede those of the steps after it.
    fn notes(&mut self, step: &ReelStep, names: &[&str], played: &mut &[&str], lists: &[String]) -> usize {
        let mut used = 0;
        self.s.count.push(step.s.len() as u32);
        for (mask, kind, seat, text) in &step.s {
            self.s.mask.push(*mask);
            let kind = KINDS.iter().position(|known| known == kind);
            let kind = kind.unwrap_or_else(|| unreachable!("all kinds are listed"));
            self.s.kind.push(kind as u32);
            self.s.seat.push(seat.map_or(0, |Seat(seat)| u32::from(seat) + 1));
            let mut stored = match KINDS[kind] {
                "event" => {
                    let (stored, of_text) = refer_to_lists(text, lists, names);
                    used = used.max(of_text);
                    stored
                }
                // The names are words of the moves.
                "move" => refer(text, &[]),
                _ => refer(text, names),
            };
            if let Some((next, rest)) = played.split_first()
                && KINDS[kind] == "move"
                && text.starts_with(*next)
            {
                *played = rest;
                if text == *next {
                    stored.clear();
                }
            }
            self.s.text[kind].push(&stored);
        }
        used
    }

    fn took(&mut self, step: &ReelStep) {
        self.k.count.push(step.k.len() as u32);
        for &(Seat(seat), ms) in &step.k {
            self.k.seat.push(seat.into());
            self.k.ms.push(u32::try_from(ms).unwrap_or(u32::MAX));
        }
    }
}

/// What shapes look like. Many differ only in a text, such as the numbers of squares.
#[derive(Debug, Default, Serialize)]
struct Looks {
    /// Different looks without their texts.
    kinds: Vec<Vec<Value>>,
    /// By look: the index of its kind.
    kind: Column,
    /// The texts of all looks.
    text: Vec<String>,
}

impl Looks {
    fn of(all: &[Vec<Value>]) -> Looks {
        let (mut looks, mut numbers) = (Looks::default(), FxHashMap::default());
        for look in all {
            let mut kind = look.clone();
            for part in kind.iter_mut().filter_map(Value::as_array_mut).filter(|part| part[0] == "t") {
                if let Some(Value::String(text)) = part.pop() {
                    looks.text.push(text);
                }
            }
            let next = looks.kinds.len() as u32;
            let number = *numbers.entry(kind).or_insert_with_key(|kind| {
                looks.kinds.push(kind.clone());
                next
            });
            looks.kind.push(number);
        }
        looks
    }
}

/// A match as the data of a page.
#[derive(Debug, Serialize)]
pub(super) struct Packed<'a> {
    r#match: &'a str,
    game: &'static str,
    seats: &'a [SeatOf],
    views: &'a [String],
    size: [i16; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<Value>,
    result: &'a str,
    looks: Looks,
    columns: Columns,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a PackedRecord>,
}

impl<'a> Packed<'a> {
    pub(super) fn of(reel: &'a Reel) -> Packed<'a> {
        Packed {
            r#match: &reel.r#match,
            game: reel.game,
            seats: &reel.seats,
            views: &reel.views,
            size: reel.size,
            layout: reel.layout.as_deref().map(|of| layout(of, |row| row.places.len())),
            result: &reel.result,
            looks: Looks::of(&reel.looks),
            columns: Columns::of(reel),
            record: reel.record.as_ref(),
        }
    }
}
