//! The changes of things as the data of a page.
//!
//! Many follow from moves, whose texts the player knows:
//!
//! - A move names *actors*: the pieces at the places that it names, and those with the texts that it names in the hand of
//!   its seat. A piece at the place to which an actor goes is an actor, too. Their changes are stored step by step.
//! - A hand that a piece leaves closes up. This is not stored.
//!
//! The others follow each other thing by thing, because the changes of a thing resemble each other more than what changes
//! in the same step. Each is stored relative to the one before.

use std::hash::Hash;
use std::ops::Range;

use referee_game::Seat;
use referee_game::scene::{Depth, Names as RowNames};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value;

use super::column::{Column, zigzag};
use super::match_replay::{MatchReplay, ReplayStep};
use super::names::{StepNames, add_words, moves_of};
use super::shown::{SeenBy, ThingState};

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

/// The state of a thing, with numbers for its place and its views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct NumberedState {
    views: u32,
    place: i32,
    look: i32,
    /// 0 if no view shows another look.
    other: i32,
    layer: u8,
    turn: Option<i16>,
}

impl NumberedState {
    /// Its place, if it is a piece.
    fn place_of_piece(&self) -> Option<i32> {
        (Depth::ALL[usize::from(self.layer)] == Depth::Piece).then_some(self.place)
    }
}

/// A change of a thing: its new state, `None` if it was removed, and whether it moved and is marked.
type Changed = (Option<NumberedState>, bool);

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

/// What states refer to by number: points, and the masks of the views that show a thing and its other look.
#[derive(Debug)]
struct Tables {
    places: Numbered<(i16, i16)>,
    views: Numbered<(u32, u32)>,
}

impl Tables {
    fn state(&mut self, &ThingState { x, y, look, layer, turn, views }: &ThingState) -> NumberedState {
        let SeenBy { mask, others, other } = views;
        NumberedState {
            views: self.views.number((mask, others)),
            place: self.places.number((x, y)) as i32,
            look: look as i32,
            other: if others == 0 { 0 } else { other as i32 },
            layer,
            turn,
        }
    }

    fn has_other(&self, state: &NumberedState) -> bool {
        self.views.all[state.views as usize].1 != 0
    }
}

/// Changes, each relative to a state. Columns other than the first one have only the values that differ; those that are
/// empty are left out.
#[derive(Debug, Default, Serialize)]
struct Deltas {
    #[serde(skip_serializing_if = "Column::is_empty")]
    what: Column,
    /// The number of its views.
    #[serde(skip_serializing_if = "Column::is_empty")]
    views: Column,
    /// The difference of the indices, as [`zigzag`].
    #[serde(skip_serializing_if = "Column::is_empty")]
    place: Column,
    /// The same of looks.
    #[serde(skip_serializing_if = "Column::is_empty")]
    look: Column,
    #[serde(skip_serializing_if = "Column::is_empty")]
    other: Column,
    #[serde(skip_serializing_if = "Column::is_empty")]
    layer: Column,
    /// 0 without a rotation, else one more than the [`zigzag`] of the rotation.
    #[serde(skip_serializing_if = "Column::is_empty")]
    turn: Column,
}

impl Deltas {
    /// Adds a change relative to `known`, and returns what the next one may be relative to.
    fn push(&mut self, known: NumberedState, (state, has_moved): Changed, tables: &Tables) -> NumberedState {
        let mut what = if has_moved { what::MOVED } else { 0 };
        let mut now = state.unwrap_or_else(|| {
            what |= what::GONE;
            known
        });
        if !tables.has_other(&now) {
            now.other = known.other;
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

/// The same with the steps in which they happen, each relative to the one before.
#[derive(Debug, Default, Serialize)]
struct TimedDeltas {
    step: Column,
    #[serde(flatten)]
    deltas: Deltas,
}

/// The changes of a match.
#[derive(Debug, Default, Serialize)]
pub(super) struct Changes {
    /// By thing: the number of its changes that follow from nothing else.
    count: Column,
    /// By thing: its first change, relative to that of the thing before.
    first: TimedDeltas,
    /// The other changes, relative to the change before of the same thing.
    more: TimedDeltas,
    /// Changes of actors, relative to their states: of those from hands, of those at places that moves name, and of those
    /// at the places to which others go.
    actors: [Deltas; 3],
    /// The points that indices of places mean, each relative to the one before, as [`zigzag`]. Those of the rows of the
    /// layout come first.
    x: Column,
    y: Column,
    /// What numbers of views mean: the masks of those that show a thing, and of those that show its other look.
    views: Vec<(u32, u32)>,
}

/// Why a thing is an actor.
#[derive(Clone, Copy)]
enum ActorRole {
    /// It was in a hand.
    Hand,
    /// It was at a place that the move names. What is known of the place to which it goes: an empty place that the move
    /// names, or the look of the piece from a hand and how many other places the move names before.
    Named(Option<i32>, Option<(i32, usize)>),
    /// It was at a place to which an actor goes.
    Struck,
}

/// The board between two steps, as the player knows it.
struct KnownBoard<'a> {
    tables: Tables,
    /// By thing.
    states: Vec<Option<NumberedState>>,
    /// By place: the piece there.
    pieces: Vec<Option<u32>>,
    /// The texts of looks.
    texts: Vec<&'a str>,
    /// The places that moves may name.
    named: FxHashMap<String, i32>,
    hands: Vec<(Seat, Range<i32>)>,
    /// The latest place to which a piece from a hand went.
    played: i32,
    /// How far the latest piece went that had the same role.
    distances: FxHashMap<(i32, usize), i32>,
    /// The latest other look of an actor, by column.
    others: [i32; 3],
}

/// The first text of a look.
fn text(look: &[Value]) -> &str {
    let text = look.iter().filter_map(Value::as_array).find(|part| part[0] == "t");
    text.and_then(|part| part.last()?.as_str()).unwrap_or_default()
}

impl<'a> KnownBoard<'a> {
    fn of(replay: &'a MatchReplay) -> KnownBoard<'a> {
        let mut board = KnownBoard {
            tables: Tables { places: Numbered::new(), views: Numbered::new() },
            states: Vec::new(),
            pieces: Vec::new(),
            texts: replay.looks.iter().map(|look| text(look)).collect(),
            named: FxHashMap::default(),
            hands: Vec::new(),
            played: 0,
            distances: FxHashMap::default(),
            others: [0; 3],
        };
        for row in replay.layout.iter().flat_map(|layout| &layout.rows) {
            let places: Vec<i32> =
                row.places.iter().map(|&place| board.tables.places.number(place) as i32).collect();
            match &row.names {
                RowNames::Same(_) => {}
                RowNames::Numbered(name) => {
                    let names = (0..places.len()).map(|index| format!("{name}{index}"));
                    board.named.extend(names.zip(places));
                }
                &RowNames::Hand(seat) => {
                    let first = places.first().copied().unwrap_or_default();
                    board.hands.push((seat, first..first + places.len() as i32));
                }
            }
        }
        if replay.layout.is_none() {
            board.name_places(replay.steps.first());
        }
        board
    }

    /// Without a layout, places have the names that are written on the board.
    fn name_places(&mut self, first: Option<&ReplayStep>) {
        for state in first.into_iter().flat_map(|step| &step.c).filter_map(|change| change.state) {
            let name = self.texts[state.look as usize];
            if state.layer == 0 && !name.is_empty() {
                let place = self.tables.places.number((state.x, state.y)) as i32;
                self.named.entry(name.to_owned()).or_insert(place);
            }
        }
    }

    fn piece_at(&self, place: i32) -> Option<u32> {
        self.pieces.get(place as usize).copied().flatten()
    }

    fn state(&self, thing: u32) -> Option<NumberedState> {
        self.states.get(thing as usize).copied().flatten()
    }

    /// The last piece with this text in the hand of a seat.
    fn in_hand(&self, seat: Seat, text: &str) -> Option<u32> {
        let places =
            self.hands.iter().filter(|hand| hand.0 == seat).flat_map(|(_, places)| places.clone().rev());
        let has_text =
            |&thing: &u32| self.state(thing).is_some_and(|state| self.texts[state.look as usize] == text);
        places.filter_map(|place| self.piece_at(place)).find(has_text)
    }

    /// The actors that the moves of a step name.
    fn actors(&self, step: &ReplayStep) -> Vec<(u32, ActorRole)> {
        let mut actors: Vec<(u32, ActorRole)> = Vec::new();
        for (seat, text) in moves_of(step) {
            let (mut empty, mut card, first) = (None, None, actors.len());
            let mut words = StepNames::new();
            for word in text.split(' ') {
                match self.named.contains_key(word) || self.in_hand(seat, word).is_some() {
                    true => words.push(word),
                    false => add_words(&mut words, word),
                }
            }
            for word in words {
                let (thing, role) = if let Some(&place) = self.named.get(word) {
                    let Some(piece) = self.piece_at(place) else {
                        empty = Some(place);
                        continue;
                    };
                    (piece, ActorRole::Named(None, card.map(|card| (card, actors.len() - first))))
                } else if let Some(piece) = self.in_hand(seat, word) {
                    card = card.or(self.state(piece).map(|state| state.look));
                    (piece, ActorRole::Hand)
                } else {
                    continue;
                };
                if actors.iter().all(|(other, _)| *other != thing) {
                    actors.push((thing, role));
                }
            }
            for (_, role) in &mut actors[first..] {
                if let ActorRole::Named(target, _) = role {
                    *target = empty;
                }
            }
        }
        actors
    }

    /// Makes these changes.
    fn apply(&mut self, changes: &[(u32, Changed)]) {
        let place_of = |state: Option<NumberedState>| state.and_then(|state| state.place_of_piece());
        let mut arrived = Vec::new();
        for &(thing, (state, _)) in changes {
            if self.states.len() <= thing as usize {
                self.states.resize(thing as usize + 1, None);
            }
            let before = std::mem::replace(&mut self.states[thing as usize], state);
            let (from, to) = (place_of(before), place_of(state));
            if from == to {
                continue;
            }
            if let Some(from) = from.filter(|&from| self.piece_at(from) == Some(thing)) {
                self.pieces[from as usize] = None;
            }
            arrived.extend(to.map(|to| (to as usize, thing)));
        }
        for (to, thing) in arrived {
            if self.pieces.len() <= to {
                self.pieces.resize(to + 1, None);
            }
            self.pieces[to] = Some(thing);
        }
    }
}

impl Changes {
    pub(super) fn of(replay: &MatchReplay) -> Changes {
        let (mut changes, mut board) = (Changes::default(), KnownBoard::of(replay));
        // By thing: the steps in which it changes, and how.
        let mut others: Vec<Vec<(u32, Changed)>> = Vec::new();
        for (number, step) in (0..).zip(&replay.steps) {
            let changed = step.c.iter().map(|change| {
                let state = change.state.as_ref().map(|state| board.tables.state(state));
                (change.thing, (state, change.has_moved))
            });
            let changed: Vec<(u32, Changed)> = changed.collect();
            for (thing, change) in changes.without_actors(step, &changed, &mut board) {
                if others.len() <= thing as usize {
                    others.resize(thing as usize + 1, Vec::new());
                }
                others[thing as usize].push((number, change));
            }
            board.apply(&changed);
        }
        let (mut head, mut step_of_head) = (NumberedState::default(), 0);
        for of_thing in others {
            changes.count.push(of_thing.len() as u32);
            let (mut known, mut before) = (head, step_of_head);
            for (index, (step, change)) in of_thing.into_iter().enumerate() {
                let column = if index == 0 { &mut changes.first } else { &mut changes.more };
                column.step.push(step - before);
                known = column.deltas.push(known, change, &board.tables);
                before = step;
                if index == 0 {
                    (head, step_of_head) = (known, step);
                }
            }
        }
        let (mut x, mut y) = (0, 0);
        for place in board.tables.places.all {
            changes.x.push(zigzag(i32::from(place.0) - x));
            changes.y.push(zigzag(i32::from(place.1) - y));
            (x, y) = (place.0.into(), place.1.into());
        }
        changes.views = board.tables.views.all;
        changes
    }

    /// Adds the changes of actors, and returns those that do not follow from moves.
    fn without_actors(
        &mut self,
        step: &ReplayStep,
        changed: &[(u32, Changed)],
        board: &mut KnownBoard<'_>,
    ) -> Vec<(u32, Changed)> {
        let change_of =
            |thing: u32| changed.binary_search_by_key(&thing, |change| change.0).ok().map(|at| changed[at].1);
        let mut actors = board.actors(step);
        let mut next = 0;
        while let Some(&(thing, role)) = actors.get(next) {
            next += 1;
            let state = board.state(thing).unwrap_or_else(|| unreachable!("it is on the board"));
            let change = change_of(thing).unwrap_or((Some(state), false));
            let (column, place) = match role {
                ActorRole::Hand => (0, board.played),
                ActorRole::Named(Some(place), _) => (1, place),
                ActorRole::Named(None, key) => {
                    let distance = key.and_then(|key| board.distances.get(&key)).copied();
                    (1, state.place + distance.unwrap_or(0))
                }
                ActorRole::Struck => (2, state.place),
            };
            let known = NumberedState { place, other: board.others[column], ..state };
            let now = self.actors[column].push(known, change, &board.tables);
            board.others[column] = now.other;
            let Some(now) = change.0 else { continue };
            match role {
                ActorRole::Hand => board.played = now.place,
                ActorRole::Named(None, Some(key)) => {
                    board.distances.insert(key, now.place - state.place);
                }
                ActorRole::Named(..) | ActorRole::Struck => {}
            }
            if now.place != state.place
                && let Some(struck) = board.piece_at(now.place)
                && actors.iter().all(|(actor, _)| *actor != struck)
            {
                actors.push((struck, ActorRole::Struck));
            }
        }
        let is_actor = |thing: u32| actors.iter().any(|(actor, _)| *actor == thing);
        let mut others: Vec<(u32, Changed)> =
            changed.iter().copied().filter(|&(thing, _)| !is_actor(thing)).collect();
        let leaves = |(thing, (now, _)): &(u32, Changed), places: &Range<i32>| {
            let is_in = |state: &NumberedState| places.contains(&state.place);
            board.state(*thing).as_ref().is_some_and(is_in) && !now.as_ref().is_some_and(is_in)
        };
        for (_, places) in &board.hands {
            if !changed.iter().any(|change| leaves(change, places)) {
                continue;
            }
            let pieces = places.clone().filter_map(|place| board.piece_at(place));
            let after = |thing: u32| change_of(thing).map_or_else(|| board.state(thing), |change| change.0);
            let staying =
                pieces.filter(|&thing| after(thing).is_some_and(|state| places.contains(&state.place)));
            for (place, thing) in places.clone().zip(staying).filter(|&(_, thing)| !is_actor(thing)) {
                let closed_up = board.state(thing).map(|state| NumberedState { place, ..state });
                let change = change_of(thing).unwrap_or_else(|| (board.state(thing), false));
                let index = others.iter().position(|(other, _)| *other == thing);
                match (change == (closed_up, false), index) {
                    (true, Some(index)) => {
                        others.remove(index);
                    }
                    (false, None) => others.push((thing, change)),
                    _ => {}
                }
            }
        }
        others
    }
}
