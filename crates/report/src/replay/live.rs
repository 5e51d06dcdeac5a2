//! A match in progress as the data of the player, step by step, as one viewer sees it.

use referee_game::erased::{BoardText, Table};
use referee_game::{Scene, Seat, Viewer};
use referee_match::Faults;
use serde::Serialize;
use serde_json::{Value, json};

use super::late_info::LateNote;
use super::match_replay::{ReplayStep, banks, kind_name, shown_text};
use super::shown::{Changes, ShownScenes};
use crate::note::{EventText, Kind};

/// Turns the positions of a match into steps of the player.
#[derive(Debug)]
pub struct LiveReplay {
    viewer: Viewer,
    shown: ShownScenes,
    /// The number of looks that earlier steps have passed on.
    looks: usize,
    moves: u32,
    faults: Vec<Faults>,
}

/// A step of a match in progress.
#[derive(Debug)]
pub struct LiveFrame {
    /// The number of moves so far.
    pub moves: u32,
    /// The looks of new shapes of the step.
    pub looks: Vec<Value>,
    /// The step as the player reads it.
    pub step: Value,
    pub text: FrameText,
    /// The position after it, as the viewer sees it.
    pub scene: Scene,
}

#[derive(Clone, Debug, Serialize)]
pub struct FrameText {
    /// The number of moves so far.
    pub moves: u32,
    /// The events, one per line.
    pub lines: Vec<String>,
    pub board: String,
}

impl LiveFrame {
    /// Adds the `info` of earlier moves.
    pub fn tell(&mut self, notes: &[LateNote], names: &[(String, u8)]) {
        if notes.is_empty() {
            return;
        }
        self.step["i"] = json!(notes);
        let line = |LateNote(moves, seat, words): &LateNote| {
            let name = names.get(seat.index()).map_or("", |(name, _)| name);
            format!("{name} at move {moves}: {words}")
        };
        self.text.lines.extend(notes.iter().map(line));
    }
}

impl LiveReplay {
    /// Begins after this number of moves.
    pub fn new(viewer: Viewer, moves: u32, faults: Vec<Faults>) -> LiveReplay {
        LiveReplay { viewer, shown: ShownScenes::default(), looks: 0, moves, faults }
    }

    /// The number of moves so far.
    pub fn moves(&self) -> u32 {
        self.moves
    }

    /// Returns whether there is news since the last step.
    pub fn is_news(&self, events: &[u8], faults: &[Faults]) -> bool {
        !events.is_empty() || faults != self.faults
    }

    /// Adds a step: the position after these events, one JSON object per line, as the viewer saw them.
    pub fn step(
        &mut self,
        names: &[(String, u8)],
        table: &dyn Table,
        events: &[u8],
        faults: &[Faults],
        banks_ms: &[Option<u64>],
    ) -> LiveFrame {
        let mut texts = self.new_faults(faults, table.meta().hidden);
        texts.extend(EventText::events(events));
        let before = self.moves;
        self.moves += texts.iter().filter(|text| text.kind == Kind::Move).count() as u32;
        let scene = table.scene(self.viewer);
        let Changes { things, moved, words } = self.shown.show(vec![scene.clone()]);
        let looks = self.shown.looks[self.looks..].iter().map(|parts| json!(parts)).collect();
        self.looks = self.shown.looks.len();
        let notes = texts.iter().map(|event| (1, kind_name(event.kind), event.seat, shown_text(event)));
        let step = json!(ReplayStep {
            n: self.moves,
            c: things,
            m: moved,
            w: words,
            s: notes.collect(),
            b: banks(&self.known_banks(table, banks_ms)),
            ..ReplayStep::default()
        });
        let text = FrameText {
            moves: self.moves,
            lines: sentences(&texts, names, before),
            board: BoardText(table, self.viewer).to_string(),
        };
        LiveFrame { moves: self.moves, looks, step, text, scene }
    }

    /// The banks that the viewer may know: in games with hidden information, the time of an answer depends on the secrets of
    /// the seat.
    fn known_banks(&self, table: &dyn Table, banks_ms: &[Option<u64>]) -> Vec<Option<u64>> {
        let knows = |seat| !table.meta().hidden || self.viewer == Viewer::Seat(seat);
        (0..).map(Seat).zip(banks_ms).map(|(seat, bank)| bank.filter(|_| knows(seat))).collect()
    }

    /// The faults since the last step. They are public only where nothing is hidden.
    fn new_faults(&mut self, faults: &[Faults], is_hidden: bool) -> Vec<EventText> {
        let mut texts = Vec::new();
        for (seat, (now, before)) in (0..).map(Seat).zip(faults.iter().zip(&self.faults)) {
            for (code, count) in now.iter().filter(|_| !is_hidden) {
                let known = before.iter().find(|&(of, _)| of == code).map_or(0, |(_, count)| count);
                let fault = EventText { kind: Kind::Fault, seat: Some(seat), text: code.as_str().to_owned() };
                texts.extend((known..count).map(|_| fault.clone()));
            }
        }
        self.faults = faults.to_vec();
        texts
    }
}

/// The events as sentences; moves are numbered from the first one after `moves`.
fn sentences(texts: &[EventText], names: &[(String, u8)], mut moves: u32) -> Vec<String> {
    let line = |event: &EventText| {
        let name = event.seat.and_then(|seat| names.get(seat.index())).map_or("", |(name, _)| name);
        let sentence = event.sentence(name);
        if event.kind != Kind::Move {
            return sentence;
        }
        moves += 1;
        format!("{moves}. {sentence}")
    };
    texts.iter().map(line).collect()
}
